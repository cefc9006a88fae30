"""What a strategy has done behind a shield while it is unwound: it is told, nothing hangs, and what was decided holds.

Who is cancelled, restarted or made to give up has its frames unwound. Behind a shield it does not hear of it by being
cancelled; so what it awaits there ends with an error, and it goes on in its clean-up.
"""

from __future__ import annotations

import pytest
from players import Player
from wants import Bearer, Build, Have, Know, Reach

from agentrt import Action, Agent, CancelScope, sleep_ticks
from agentrt.errors import ActivityAbortedError
from agentrt.strategy import Interruptible, Interruption, Trigger
from agentrt.strategy.solve import Incident

PAUSE, RESTART, WAIT, TREE = Interruptible.PAUSE, Interruptible.RESTART, Interruptible.WAIT, Interruptible.TREE


class Long(Action):
    does = "long"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(20)


async def do(ctx, what):
    if what == "execute":
        await ctx.execute("long")
    else:
        await ctx.solve(Have("plank"))


def worker(what, where="work"):
    """A run that does something behind a shield: in its work, or in its clean-up."""

    async def run(self, ctx, wanted):
        if where == "work":
            with CancelScope(shield=True):
                await do(ctx, what)
            return
        try:
            await ctx.sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await do(ctx, what)

    return run


# --- the request ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cancelled", "removed", "closed"])
@pytest.mark.parametrize("where", ["work", "cleanup"])
@pytest.mark.parametrize("what", ["execute", "solve"])
def test_it_is_unwound_at_once(game, way, what, where, how):
    agent = game.add(
        way("Main", Know, run=worker(what, where)),
        way("Saw", Have, cost=1, ticks=20),
        way("Buy", Have, cost=2, ticks=20),
        actions=[Long],
    )
    request = agent.gameplay.begin(Know("x"))
    game.tick(5)
    game.log.clear()
    if how == "cancelled":
        request.cancel()
    elif how == "removed":
        game.sim.runtime.remove(agent)
    else:
        game.close()
    game.tick(1)
    assert request.outcome == "cancelled"
    assert agent.gameplay.running == ()
    assert "Buy" not in {one[1] for one in game.log}  # nothing more is begun
    assert game.log == ([(game.log[0][0], "Saw", "ends")] if (what, where) == ("solve", "work") else [])


def test_the_error_says_what_was_unwound_and_the_clean_up_goes_on(game, way):
    async def run(self, ctx, wanted):
        try:
            await ctx.sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                try:
                    await ctx.solve(Have("plank"))
                except ActivityAbortedError as error:
                    game.note(error.activity, error.reason)
                await ctx.sleep_ticks(2)
            game.note("clean")

    agent = game.add(way("Main", Know, run=run), way("Saw", Have))
    request = agent.gameplay.begin(Know("x"))
    game.tick(5)
    request.cancel("never mind")
    game.tick(4)
    assert game.log == [(6, "want:have", "never mind"), (8, "clean")]
    assert request.is_done


def test_one_that_stands_still_behind_a_shield_can_be_cancelled(game, way):
    """The pause is between two attempts, so the strand that is told to pause is the one behind the shield."""
    agent = game.add(
        way("Main", Know, run=worker("solve"), interruption=PAUSE), way("Saw", ticks=3, interruption=WAIT, fails="no")
    )
    request = agent.gameplay.begin(Know("x"))
    game.tick(2)
    request.pause()
    game.tick(5)
    assert request.is_paused
    request.cancel()
    game.tick(1)
    assert request.outcome == "cancelled"


def test_one_that_waits_for_what_is_dealt_with_can_be_cancelled(game, way):
    """It stands still behind its shield. When it is let go, it asks for more, which waits for what is dealt with."""

    async def run(self, ctx, wanted):
        with CancelScope(shield=True):
            await ctx.sleep_ticks(4)
            game.note("Main", "asks")
            await ctx.solve(Have("plank"))

    agent = game.add(way("Main", Know, run=run, interruption=PAUSE), way("Saw"), way("Go", Reach, ticks=50))
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    request = agent.gameplay.begin(Know("x"))
    game.tick(2)
    agent.entity.signal("howl").emit(1)
    game.tick(6)
    request.cancel()
    game.tick(3)
    assert request.outcome == "cancelled"
    assert [one.tick for one in game.sim.trace if one.event == "interrupted"] == [3]  # and no more after that
    assert game.log[:4] == [(3, "Go", "run"), (9, "Go", "ends"), (9, "Main", "asks"), (9, "Go", "run")]
    agent.gameplay.running[-1].unit.frame.execution.end("enough")  # what came up is dealt with by itself
    game.tick(1)


def test_what_is_dealt_with_behind_a_shield_is_not_lost_with_it(game, way):
    agent = game.add(
        way("Main", Know, run=worker("solve"), interruption=PAUSE),
        way("Saw", ticks=3, interruption=WAIT),
        way("Go", Reach, ticks=5),
    )
    outcomes = []
    request = agent.gameplay.begin(Know("x"))
    game.tick(2)
    agent.gameplay.running[-1].interruptions.add(Incident(Interruption("howl"), Reach("home"), then=outcomes.append))
    game.tick(4)
    assert agent.gameplay.running[-1].interruptions.handled == (Interruption("howl"),)
    request.cancel()
    game.tick(1)
    assert request.outcome == "cancelled"
    game.tick(8)
    assert outcomes == ["done"]


# --- it begins again, or gives up ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", [RESTART, WAIT])
@pytest.mark.parametrize("what", ["execute", "solve"])
def test_a_whole_tree_begins_again(game, way, what, inner):
    agent = game.add(
        way("Outer", Know, run=worker(what), interruption=TREE),
        way("Inner", ticks=6, interruption=inner),
        way("Go", Reach, ticks=3),
        actions=[Long],
    )
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    request = agent.gameplay.begin(Know("x"))
    game.tick(3)
    agent.entity.signal("howl").emit(1)
    game.tick(40)
    assert request.outcome == "done"
    outer = request.tree.children
    assert [(one.label, one.outcome, one.reason) for one in outer] == [
        ("Outer", "cancelled", "it begins again"),
        ("Outer", "done", ""),
    ]
    assert [one[1:] for one in game.log].count(("Go", "run")) == 1


@pytest.mark.parametrize("decides", ["fail", "restart"])
def test_what_it_decides_when_it_hears_of_an_interruption_holds(game, way, decides):
    heard = []

    def hear(self, ctx, interruption):
        heard.append(game.sim.now)
        if len(heard) == 1:
            getattr(ctx, decides)("heard")

    agent = game.add(
        way("Outer", Know, run=worker("solve"), interrupted=hear, interruption=PAUSE),
        way("Inner", ticks=6, interruption=RESTART),
        way("Go", Reach, ticks=3),
    )
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    request = agent.gameplay.begin(Know("x"))
    game.tick(3)
    agent.entity.signal("howl").emit(1)
    game.tick(30)
    assert heard == [7]
    if decides == "fail":
        assert request.error.reason == "Outer failed (heard)"
    else:
        assert request.outcome == "done"
    assert [one[1:] for one in game.log].count(("Inner", "run")) == (1 if decides == "fail" else 2)


def test_a_request_that_is_told_to_begin_again_does(game, way):
    agent = game.add(way("Outer", Build, run=worker("solve")), way("Inner", ticks=6))
    request = agent.gameplay.begin(Build())
    game.tick(3)
    request.restart()
    game.tick(12)
    assert request.outcome == "done"
    assert game.log == [(1, "Inner", "run"), (4, "Inner", "ends"), (4, "Inner", "run"), (10, "Inner", "ends")]


# --- on every host ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
@pytest.mark.parametrize("what", ["execute", "solve"])
def test_it_is_unwound_on_every_host(ways, host, what):
    play = Player(host)
    runtime = play.runtime()
    agent = Agent(Bearer(), name="a", actions=[Long])
    agent.gameplay.add_strategy(
        ways(None, "Main", Know, run=worker(what, "cleanup"), quiet=True),
        ways(None, "Outer", Build, run=worker(what), interruption=TREE, quiet=True),
        ways(None, "Saw", ticks=6, interruption=WAIT, quiet=True),
        ways(None, "Go", Reach, ticks=3, quiet=True),
    )
    runtime.add(agent)
    requests = []

    async def world():
        requests.extend((agent.gameplay.begin(Know("x")), agent.gameplay.begin(Build())))
        await sleep_ticks(3)
        agent.gameplay.running[1].interruptions.add(Incident(Interruption("howl"), Reach("home")))
        requests[0].cancel()

    runtime.spawn(world)
    play.ticks(runtime, 40)
    play.check()
    assert [one.outcome for one in requests] == ["cancelled", "done"]
    assert agent.gameplay.running == ()
