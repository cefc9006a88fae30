"""Aborts and cancellations inside of strategies: how far up they go, and that nothing is left wherever they come."""

from __future__ import annotations

import pytest
from wants import Bearer, Build, Have, Know, Reach

from agentrt import LOOK, MOVE, TOP, Action, Agent, CancelScope, CompoundAction, step
from agentrt.errors import ActivityAbortedError, DependencyFailedError
from agentrt.strategy import Dependency, strategy
from agentrt.testing import exhaust


class Dig(Action):
    """Aborts after a while, if it is told to."""

    does = "dig"
    utility = 1.0
    flags = {LOOK}

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)
        if ctx.entity.bag.get("rotten"):
            ctx.abort("the shovel broke")


class DigTwice(CompoundAction):
    does = "dig_twice"
    utility = 1.0
    steps = [step("dig"), step("dig")]


class Wait(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        while True:
            await ctx.sleep(10)


# --- aborts -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Plugins: The rest of the agent, and other agents, go on all the time")
@pytest.mark.states(
    "003: Ours: An abort below a strategy is its failure, not one of the agent",
    source="design section 6",
)
def test_abort_in_a_strategy_is_its_failure(game, way):
    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(2)
        ctx.abort("no more")

    agent = game.add(way("Bad", Know, run=run), way("Good", Know, cost=5, gives="good"), actions=[Wait])
    assert game.solve(agent, Know("x")).value == "good"
    assert game.tree(agent)[1] == "   Bad - failed: no more"
    assert agent.snapshot().aborts == 0
    assert agent.snapshot().running == "agentrt:top/Wait"


@pytest.mark.states(
    "003: Goals: It lies above the low-level work: what to do with each part of the body stays in actions",
)
@pytest.mark.parametrize("activity", ["dig", "dig_twice"])
def test_abort_of_what_a_strategy_executes_is_an_error_that_it_hears(game, way, activity):
    async def run(self, ctx, wanted):
        try:
            await ctx.execute(activity)
        except ActivityAbortedError as error:
            game.note("heard", error.reason)
        ctx.entity.bag.clear()
        await ctx.execute(activity)
        return "dug"

    agent = game.add(way("Farm", Build, run=run, flags={MOVE}), actions=[Dig, DigTwice, Wait])
    agent.entity.bag["rotten"] = 1
    assert game.solve(agent, Build()).value == "dug"
    assert game.log == [(3, "heard", "the shovel broke")]
    outcomes = [line.partition(" - ")[2] for line in game.tree(agent)[2:]]
    assert outcomes == ["failed: the shovel broke", "done"]
    assert agent.snapshot().running == "agentrt:top/Wait"


@pytest.mark.states("003: Task Failure: It fails for whatever reason: a pickaxe that breaks, a mob that attacks ...")
def test_abort_of_what_a_strategy_executes_is_its_failure_if_it_does_not_hear(game, way):
    async def run(self, ctx, wanted):
        await ctx.execute("dig")

    agent = game.add(
        way("Parent", Build, needs=[Know("how")]),
        way("Farm", Know, run=run),
        way("Read", Know, cost=5),
        actions=[Dig, Wait],
    )
    agent.entity.bag["rotten"] = 1
    assert game.solve(agent, Build()).error is None
    assert game.tree(agent)[3].startswith("         Farm - failed: ")
    assert "'dig' was aborted: the shovel broke" in game.tree(agent)[3]
    assert game.tree(agent)[-1] == "         Read - done"


@pytest.mark.states("003: Task Failure: It tells its parent ...")
@pytest.mark.states("003: Ours: An abort below a strategy is its failure, not one of the agent ...")
def test_abort_below_two_strategies_unwinds_the_inner_one_only(game, way):
    async def run(self, ctx, wanted):
        game.note("inner")
        try:
            await ctx.execute("dig")
        finally:
            game.note("inner ends")

    agent = game.add(way("Outer", Build, needs=[Know("how")], ticks=2), way("Inner", Know, run=run), actions=[Dig])
    agent.entity.bag["rotten"] = 1
    wish = game.solve(agent, Build())
    assert isinstance(wish.error, DependencyFailedError)
    assert game.log == [(1, "Outer", "run"), (1, "inner"), (3, "inner ends"), (3, "Outer", "ends")]


def test_performing_from_a_strategy_an_activity_that_aborts(game, way):
    """``agent.perform`` is beside; whoever awaits it hears of it, whatever catches below him."""

    async def run(self, ctx, wanted):
        try:
            await ctx.agent.perform("dig")
        except ActivityAbortedError as error:
            return error.reason

    agent = game.add(way("Farm", Build, run=run), actions=[Dig])
    agent.entity.bag["rotten"] = 1
    assert game.solve(agent, Build()).value == "the shovel broke"


def test_a_request_from_a_strategy_is_one_beside(game, way):
    async def run(self, ctx, wanted):
        try:
            return await ctx.agent.gameplay.know("how")
        except DependencyFailedError as failure:
            return failure.reason

    agent = game.add(way("Ask", Build, run=run), way("Know0", Know, fails="nobody told"))
    assert game.solve(agent, Build()).value == "Know0 failed (nobody told)"
    assert [root.label for root in agent.gameplay.finished] == ["Know [how]", "Build [house]"]


@pytest.mark.states("003: Plugins: The rest of the agent, and other agents, go on all the time ...")
def test_aborting_ten_times_does_not_kill_the_agent(game, way):
    async def run(self, ctx, wanted):
        ctx.abort("no")

    agent = game.add(*[way(f"Bad{number}", Know, run=run, cost=number) for number in range(15)], actions=[Wait])
    assert isinstance(game.solve(agent, Know("x")).error, DependencyFailedError)
    assert agent.snapshot().is_alive
    assert agent.snapshot().aborts == 0


class Follow(Dependency[None]):
    """To be near somebody."""

    whom: Bearer


@pytest.mark.states("003: Task Failure: It fails for whatever reason: a pickaxe that breaks, a mob that attacks ...")
def test_what_is_for_somebody_who_is_gone_fails_at_once(game, way):
    other = Bearer("other")
    agent = game.add(way("Run", Follow), way("Call", Follow, cost=9))
    other.destroy()
    wish = game.solve(agent, Follow(other))
    assert isinstance(wish.error, DependencyFailedError)
    assert game.log == []


def test_a_strategy_that_runs_for_somebody_who_goes_is_left_alone_as_every_action(game, way):
    """It may be the one that makes him go; the next one is not begun."""
    other = Bearer("other")
    agent = game.add(way("Run", Follow, ticks=5, fails="lost"), way("Call", Follow, cost=9))
    wish = game.wish(agent.gameplay.follow(other))
    game.tick(3)
    other.destroy()
    game.tick(8)
    assert wish.error.reason.startswith("Run failed (lost); Call failed (")
    assert game.log == [(1, "Run", "run"), (6, "Run", "ends")]


# --- cancellation -----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Ours: Whoever awaits a request may go away, and an agent may end, at any time: everything is unwound, inner "
    "first",
    source="design section 6",
)
@pytest.mark.parametrize("after", range(1, 8))
def test_whoever_awaits_a_request_may_go_away_at_any_time(game, way, after):
    agent = game.add(
        way("Chop", needs=[Know("how"), Reach("tree")], ticks=2, flags={MOVE}),
        way("Read", Know, ticks=2),
        way("Walk", Reach, ticks=2, flags={LOOK}),
    )
    wish = game.wish(agent.gameplay.have("log"))
    game.tick(after)
    wish.cancel()
    game.tick(3)
    assert agent.gameplay.running == ()
    runs = [who for _, who, what in game.log if what == "run"]
    assert sorted(runs) == sorted(who for _, who, what in game.log if what == "ends")
    assert agent.flags.holds() == {}


def test_a_request_that_nobody_awaits_any_more_before_it_began_is_none(game, way):
    agent = game.add(way("Walk", Reach))
    request = agent.gameplay.begin(Reach("hill"))
    request.cancel("never mind")
    game.tick(3)
    assert game.log == []
    assert request.is_done


@pytest.mark.states("003: Ours: Whoever awaits a request may go away, and an agent may end, at any time ...")
def test_a_clean_up_that_takes_time_is_waited_for(game, way):
    async def run(self, ctx, wanted):
        try:
            await ctx.sleep(100)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(4)
            game.note("clean")

    agent = game.add(way("Chop", needs=[Reach("tree")]), way("Walk", Reach, run=run, flags={MOVE}))
    wish = game.wish(agent.gameplay.have("log"))
    game.tick(3)
    wish.cancel()
    game.tick(2)
    assert not wish.is_over
    assert list(agent.flags.holds()) == ["MOVE"]
    game.tick(4)
    assert wish.is_over
    assert game.log == [(1, "Chop", "run"), (8, "clean"), (8, "Chop", "ends")]


def miners(runtime):
    """Two agents: one solves in its plan and beside it, the other one notes ticks."""

    @strategy(Have, cost=3, flags={MOVE}, patience=5)
    async def chop(ctx, wanted):
        await ctx.solve(Reach("tree"))
        await ctx.execute("dig")
        ctx.entity.put(wanted.item, wanted.count)

    @strategy(Have, cost=9)
    async def buy(ctx, wanted):
        await ctx.solve_all([Know("price"), Reach("market")])
        ctx.entity.put(wanted.item, wanted.count)

    @strategy(Reach, cost=1)
    async def walk(ctx, wanted):
        await ctx.sleep_ticks(1)
        if wanted.place == "tree":
            ctx.fail("there is no tree")

    @strategy(Know, cost=1)
    async def read(ctx, wanted):
        try:
            await ctx.sleep_ticks(1)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(1)

    class Work(CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("want:have", item="log"), step("want:know", what="more")]

    one = Agent(Bearer(), name="one", actions=[Work, Dig])
    one.gameplay.add_strategy(chop, buy, walk, read)
    two = Agent(Bearer(), name="two", actions=[Wait])
    runtime.add(one)
    runtime.add(two)


@pytest.mark.states("003: Plugins: The rest of the agent, and other agents, go on all the time ...")
@pytest.mark.states(
    "003: Ours: A fault at any await leaves nothing behind, and does not touch other agents",
    source="design section 7",
)
@pytest.mark.slow
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_faults_at_every_await_leave_nothing_behind(host):
    report = exhaust(miners, ticks=12, host=host, faults=("cancel", "raise", "delay", "remove"), are_apart=True)
    report.check()
    assert report.runs > 40
