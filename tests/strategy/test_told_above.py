"""Whoever awaits what is interrupted is told of it, however it was asked for."""

import pytest
from wants import Build, Have, Know, Reach

from agentrt import Action
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Interruptible, Interruption
from agentrt.strategy.solve import Incident


class Step(Action):
    does = "game:step"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.agent.gameplay.solve(Know("x"))


async def by_context(ctx):
    await ctx.solve(Know("x"))


async def by_gameplay(ctx):
    await ctx.agent.gameplay.solve(Know("x"))


async def by_other_params(ctx):
    await ctx.agent.gameplay.using(hurry=True).know("x")


async def by_a_handle(ctx):
    await ctx.agent.gameplay.begin(Know("x"))


async def by_a_plain_action(ctx):
    await ctx.execute("game:step")


async def by_a_performance(ctx):
    await ctx.agent.perform("game:step")


async def by_the_plan(ctx):
    await ctx.execute("want:know", what="x")


WAYS = [by_context, by_gameplay, by_other_params, by_a_handle, by_a_plain_action, by_a_performance, by_the_plan]


def play(game, way, ask, says=None):
    def hears(label):
        def interrupted(self, ctx, interruption):
            game.note(label, "hears", interruption.name, ctx.interruptions)
            if label == "Middle" and says is not None:
                says(ctx)

        return interrupted

    async def middle(self, ctx, wanted):
        game.note("Middle", "run")
        try:
            await ask(ctx)
        finally:
            game.note("Middle", "ends")

    agent = game.add(
        way("Outer", Build, needs=[Have("plank")], interrupted=hears("Outer"), quiet=True),
        way("Middle", Have, run=middle, interrupted=hears("Middle")),
        way("Inner", Know, ticks=6, interruption=Interruptible.PAUSE, interrupted=hears("Inner"), quiet=True),
        way("Flee", Reach, ticks=2),
        actions=[Step],
    )
    wish = game.wish(agent.gameplay.build())
    game.tick(3)
    agent.gameplay.running[-1].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(10)
    return agent, wish


@pytest.mark.states(
    "003: Hard Dependencies: All who wait for what was interrupted are told, in other requests too",
    source="Pauseable/Cancelable Tasks",
)
@pytest.mark.parametrize("ask", WAYS)
def test_all_on_the_way_up_hear_of_it_the_inner_first(game, way, ask):
    play(game, way, ask)
    heard = [one for one in game.log if one[2] == "hears"]
    assert heard == [(6, who, "hears", "attack", 1) for who in ("Inner", "Middle", "Outer")]
    game.faults()


@pytest.mark.parametrize("ask", WAYS)
def test_one_of_them_may_give_up(game, way, ask):
    _, wish = play(game, way, ask, lambda ctx: ctx.fail("the world is another one"))
    assert isinstance(wish.error, DependencyFailedError)
    assert wish.until == 6
    assert "Middle failed: the world is another one" in str(wish.error.story).replace(" - ", " ").replace(
        " in 0.25 s (expected 1 s)", ""
    )
    assert [one[1:3] for one in game.log].count(("Outer", "hears")) == 1


@pytest.mark.parametrize("ask", WAYS)
def test_one_of_them_may_begin_again(game, way, ask):
    play(game, way, ask, lambda ctx: ctx.restart())
    assert [one[0] for one in game.log if one[1:] == ("Middle", "run")] == [1, 7]
    game.faults()


def test_whoever_does_not_await_it_is_not_told(game, way):
    kept = []

    async def ask(ctx):
        kept.append(ctx.agent.gameplay.begin(Know("x")))
        await ctx.sleep_ticks(20)

    play(game, way, ask)
    assert [one[1] for one in game.log if one[2] == "hears"] == ["Inner"]


@pytest.mark.states("003: Hard Dependencies: All who wait for what was interrupted are told, in other requests too ...")
def test_across_agents(game, way):
    heard = []

    async def ask(self, ctx, wanted):
        await other.gameplay.know("x")

    def interrupted(self, ctx, interruption):
        heard.append((game.sim.now, ctx.agent.name, interruption.name))

    one = game.add(way("Ask", Build, run=ask, interrupted=interrupted), name="one")
    other = game.add(
        way("Inner", Know, ticks=6, interruption=Interruptible.PAUSE, interrupted=interrupted),
        way("Flee", Reach, ticks=2),
        name="other",
    )
    game.wish(one.gameplay.build())
    game.tick(3)
    other.gameplay.running[-1].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(10)
    assert heard == [(6, "other", "attack"), (6, "one", "attack")]
