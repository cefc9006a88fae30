"""Strategies that raise, hang, lie about their cost, break in a hook: a clear failure or the next choice, never a stuck agent.

Beside the agent stands another one that notes each tick: it must not miss one.
"""

from __future__ import annotations

import math

import pytest
from wants import Build, Have, Know, Reach

from agentrt import TOP, Action, CancelScope
from agentrt.errors import DependencyFailedError
from agentrt.kernel.traps import Waiter, next_tick, park, suspend_on


class Teapot(BaseException):
    """Neither an error nor control flow."""


@pytest.fixture
def beside(game):
    """An agent beside, that notes each tick; and the claim that it did."""
    ticks = []

    class Count(Action):
        does = TOP
        utility = 1.0

        async def run(self, ctx, args):
            while True:
                ticks.append(ctx.clock.tick)
                await ctx.next_tick()

    game.add(name="beside", actions=[Count])
    yield ticks
    assert ticks == list(range(1, game.sim.now + 1))


@pytest.fixture
def tried_next(game, way, beside):
    """Put a strategy before one that works; the reason for which it failed."""

    def play(bad, ticks=400, actions=()):
        agent = game.add(bad, way("Good", Know, cost=100, gives="good"), actions=actions)
        wish = game.solve(agent, Know("x"), ticks)
        assert wish.error is None
        assert wish.value == "good"
        first = agent.gameplay.finished[-1].children[0]
        assert first.outcome == "failed"
        return first.reason

    return play


# --- raising ----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Plugins: Errors are handled properly: whatever a strategy raises is its failure, and the next one is tried",
)
@pytest.mark.states("003: Task Failure: It fails for whatever reason: a pickaxe that breaks, a mob that attacks")
@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize(
    "error", [ValueError("oops"), AssertionError("no"), RecursionError("deep"), MemoryError("full"), Teapot("short")]
)
def test_what_raises_has_failed(game, way, tried_next, error, after):
    async def run(self, ctx, wanted):
        for _ in range(after):
            await next_tick()
        raise error

    reason = tried_next(way("Bad", Know, run=run))
    assert type(error).__name__ in reason
    assert str(error) in reason
    assert [(hook, type(error).__name__ in told) for _, hook, told in game.faults()] == [("run", True)]


@pytest.mark.states("003: Plugins: Errors are handled properly: whatever a strategy raises is its failure, and the ...")
@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration, GeneratorExit])
def test_what_ends_generators_ends_no_more_than_the_strategy(game, way, tried_next, error):
    async def run(self, ctx, wanted):
        await next_tick()
        raise error

    reason = tried_next(way("Bad", Know, run=run))
    assert error.__name__ in reason or "StopIteration" in reason
    game.faults()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_does_and_the_agent_can_go_on(game, way, error):
    async def run(self, ctx, wanted):
        await next_tick()
        raise error

    agent = game.add(way("Bad", Know, run=run), way("Good", Know, cost=100, gives="good"))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(1)
    with pytest.raises(error):
        game.tick(1)
    game.tick(5)
    assert wish.value == "good"
    game.faults()


def test_a_failure_that_another_strategy_raised_is_not_taken_for_its_own(game, way, tried_next):
    """Whoever raises the error of a dependency that he did not ask for has failed like with any error."""

    async def run(self, ctx, wanted):
        raise DependencyFailedError(Reach("moon"), "because", label="Reach [moon]")

    assert tried_next(way("Bad", Know, run=run)) == "Reach [moon] could not be solved"


def test_what_is_only_meant_for_hooks_is_a_failure_in_run(game, way, tried_next):
    async def run(self, ctx, wanted):
        ctx.ask.cannot("no tool")

    assert tried_next(way("Bad", Know, run=run)) == "no tool"


def test_reject_in_run_is_a_failure(game, way, tried_next):
    async def run(self, ctx, wanted):
        ctx.reject("not this one")

    assert tried_next(way("Bad", Know, run=run)) == "not this one"
    game.faults()


@pytest.mark.states("003: Plugins: Errors are handled properly: whatever a strategy raises is its failure, and the ...")
def test_raising_while_it_cleans_up_is_a_failure(game, way, tried_next):
    async def run(self, ctx, wanted):
        try:
            ctx.fail("first")
        finally:
            raise RuntimeError("second")

    assert tried_next(way("Bad", Know, run=run)) == "it raised RuntimeError: second"
    game.faults()


def test_swallowing_the_failure_is_success(game, way):
    async def run(self, ctx, wanted):
        try:
            ctx.fail("first")
        except BaseException:
            return "nevertheless"

    agent = game.add(way("Bad", Know, run=run))
    assert game.solve(agent, Know("x")).value == "nevertheless"


def test_a_strategy_that_cannot_be_made_fails(game, way, tried_next):
    made = []

    def init(self):
        made.append(1)
        if len(made) > 1:  # the first is the one that is asked
            raise RuntimeError("no memory")

    assert tried_next(way("Bad", Know, __init__=init)) == "run raised RuntimeError: no memory"
    game.faults()


# --- hanging ----------------------------------------------------------------------------------------------------------


def hanging(kind):
    async def parked(self, ctx, wanted):
        await park()

    async def sleeping(self, ctx, wanted):
        while True:
            await ctx.sleep(1000)

    async def busy(self, ctx, wanted):
        while True:
            await next_tick()

    async def shielded(self, ctx, wanted):
        with CancelScope(shield=True):
            await ctx.sleep(40)
        await park()

    async def stubborn(self, ctx, wanted):
        for _ in range(3):
            try:
                await park()
            except BaseException:
                pass
        return "never mind"

    async def below(self, ctx, wanted):
        await ctx.execute("want:for_ever")

    return locals()[kind]


@pytest.mark.states("003: Plugins: One that hangs has failed after a while")
@pytest.mark.states("003: Heuristic Based Task Selection, 1: It does not get stuck, nor execute what makes no sense")
@pytest.mark.parametrize("kind", ["parked", "sleeping", "busy", "shielded"])
def test_what_hangs_has_failed_after_its_patience(game, way, tried_next, kind):
    reason = tried_next(way("Bad", Know, run=hanging(kind), patience=10), 1000)
    assert reason == "it ran for more than 10 s by itself; it seems to hang"
    assert game.sim.now == (801 + 1 if kind == "shielded" else 201 + 1)


def test_what_swallows_being_cancelled_counts_with_what_it_returned(game, way, beside):
    """It has come to its end by itself: late, but with success."""
    agent = game.add(way("Bad", Know, run=hanging("stubborn"), patience=10), way("Good", Know, cost=100, gives="good"))
    wish = game.solve(agent, Know("x"))
    assert (wish.value, wish.until) == ("never mind", 201)


@pytest.mark.parametrize(("cost", "seconds"), [(1.0, 60), (8.0, 80)])
def test_patience_is_ten_times_the_cost_and_a_minute_at_least(game, way, tried_next, cost, seconds):
    reason = tried_next(way("Bad", Know, run=hanging("parked"), cost=cost), 3000)
    assert reason == f"it ran for more than {seconds} s by itself; it seems to hang"
    assert game.sim.now == seconds * 20 + 2


@pytest.mark.states("003: Pauseable/Cancelable Tasks, 1: A child may take any time if it is interrupted, and that ...")
def test_the_time_of_what_it_has_solved_does_not_count(game, way, beside):
    agent = game.add(
        way("Long", Build, needs=[Reach("a"), Reach("b")], ticks=30, patience=2),
        way("Walk", Reach, ticks=300, patience=100),
    )
    assert game.solve(agent, Build(), 1000).error is None


def test_the_time_of_its_own_is_summed_up(game, way, beside):
    async def run(self, ctx, wanted):
        for _ in range(3):
            await ctx.sleep_ticks(15)
            await ctx.solve(Reach("there"))

    agent = game.add(way("Long", Build, run=run, patience=2), way("Walk", Reach, ticks=50))
    wish = game.solve(agent, Build(), 1000)
    assert wish.error.reason == "Long failed (it ran for more than 2 s by itself; it seems to hang)"
    assert game.sim.now == 1 + 15 + 50 + 15 + 50 + 10


def test_the_time_of_what_it_executes_is_not_its_own(game, way):
    class Long(Action):
        does = "want:long"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep(20)

    async def run(self, ctx, wanted):
        await ctx.execute("want:long")
        return "done"

    agent = game.add(way("Patient", Know, run=run, patience=10), actions=[Long])
    assert game.solve(agent, Know("x"), 500).value == "done"


@pytest.mark.states("003: Plugins: One that hangs has failed after a while ...")
def test_a_livelock_without_time_is_cut(game, way, tried_next):
    async def run(self, ctx, wanted):
        while True:
            waiter = Waiter()
            game.kernel.call_soon(waiter.notify)
            await suspend_on(waiter)

    reason = tried_next(way("Bad", Know, run=run))
    assert "Livelock" in reason
    game.faults()


def test_restarting_for_ever_is_bounded_and_lets_time_pass(game, way, beside):
    runs = []

    async def run(self, ctx, wanted):
        runs.append(game.sim.now)
        ctx.restart()

    agent = game.add(way("Bad", Know, run=run))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(30)
    assert runs == list(range(1, 31))
    wish.cancel()
    game.tick(2)
    assert agent.gameplay.running == ()


# --- lying ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Heuristic Based Task Selection, 2: What is no cost counts as cannot, and is reported")
@pytest.mark.parametrize("cost", [math.nan, -1, -math.inf, 1e12, "cheap", [1], 1j, True - 2])
def test_what_is_no_cost_is_cannot_and_is_told(game, way, beside, cost):
    agent = game.add(way("Liar", Know, cost=lambda ask, _: cost), way("Good", Know, cost=5))
    assert game.solve(agent, Know("x")).error is None
    assert agent.gameplay.finished[-1].offers == (
        ("Good", 5.0, ""),
        ("Liar", None, f"its estimate is {cost!r}, which is no cost"),
    )
    assert {hook for _, hook, _ in game.faults()} == {"estimate"}


@pytest.mark.states("003: Global Dependency Lists: Strategies that report that they cannot are skipped ...")
@pytest.mark.parametrize("cost", [math.inf, None])
def test_infinity_and_nothing_are_cannot(game, way, cost):
    agent = game.add(way("Unable", Know, cost=lambda ask, _: cost), way("Good", Know, cost=5))
    assert game.solve(agent, Know("x")).error is None


@pytest.mark.states("003: Heuristic Based Task Selection, 2: What is no cost counts as cannot, and is reported ...")
def test_an_estimate_that_raises_is_cannot_and_the_failure_says_so(game, way, beside):
    agent = game.add(way("Bad", Know, cost=lambda ask, _: 1 / 0))
    assert (
        game.solve(agent, Know("x")).error.reason == "Bad cannot (estimate raised ZeroDivisionError: division by zero)"
    )
    game.faults()


def test_cheap_but_unable_loses_only_the_time(game, way, beside):
    agent = game.add(way("Liar", cost=0.001, ticks=3, fails="no"), way("Good", cost=50, ticks=2))
    wish = game.solve(agent, Have("log"))
    assert (wish.value, wish.until) == (1, 6)


def test_foreseeing_what_makes_no_sense_is_cannot(game, way, beside):
    agent = game.add(
        way("Odd", Know, cost=None, foresee=lambda self, ask, wanted: ["no branch"]),
        way("None", Know, cost=None, foresee=lambda self, ask, wanted: None),
        way("Good", Know, cost=5),
    )
    assert game.solve(agent, Know("x")).error is None
    assert [cost for _, cost, _ in agent.gameplay.finished[-1].offers] == [5.0, None, None]
    game.faults()


# --- changing what it should not --------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Ours: A strategy does one thing at a time, and nobody else does things for it",
    source="design section 6",
)
@pytest.mark.parametrize("what", ["solve", "solve_if_worth", "execute"])
def test_nobody_else_may_do_things_for_a_strategy(game, way, beside, what):
    async def run(self, ctx, wanted):
        given = (
            (Reach("b"), [Reach("c")])
            if what == "solve_if_worth"
            else ("want:reach",)
            if what == "execute"
            else (Reach("b"),)
        )
        other = game.wish(getattr(ctx, what)(*given))
        await ctx.solve(Reach("a"))
        game.note("other", type(other.error).__name__)

    agent = game.add(way("Two", Build, run=run), way("Walk", Reach, ticks=5))
    assert game.solve(agent, Build()).error is None
    assert [what for _, who, what in game.log if who == "other"] == ["WrongStateError"]
    assert game.steps("a", "try") == [(1, "try", "Build [house]", "Two"), (1, "try", "Reach [a]", "Walk")]


@pytest.mark.states("003: Ours: A strategy does one thing at a time, and nobody else does things for it ...")
def test_a_context_that_outlives_its_strategy_solves_nothing(game, way, beside):
    kept = []

    async def run(self, ctx, wanted):
        kept.append(ctx)

    agent = game.add(way("Leak", Build, run=run), way("Walk", Reach))
    game.solve(agent, Build())
    wish = game.wish(kept[0].solve(Reach("moon")))
    game.tick(3)
    assert type(wish.error).__name__ == "WrongStateError"


def test_the_parent_goes_away_while_a_child_runs(game, way, beside):
    """Its own scope gives it a deadline: what is below it is unwound, and it goes on."""

    async def run(self, ctx, wanted):
        with CancelScope(0.5) as scope:
            await ctx.solve(Reach("far"))
        game.note("late", scope.cancelled_caught)
        return await ctx.solve(Know("else"))

    agent = game.add(way("Parent", Build, run=run), way("Walk", Reach, ticks=100), way("Ask", Know, gives="other"))
    assert game.solve(agent, Build()).value == "other"
    assert (11, "Walk", "ends") in game.log
    assert (11, "late", True) in game.log
    assert game.tree(agent)[2:4] == ["      Reach [far] - cancelled", "         Walk - cancelled"]


@pytest.mark.parametrize("hook", ["is_met", "guard_key", "label", "met_value", "assume"])
def test_a_dependency_whose_hook_raises_leaves_nothing_behind(game, way, beside, hook):
    def raises(self, *args):
        raise RuntimeError("broken")

    broken = type("Broken", (Reach,), {"__slots__": (), hook: raises})
    agent = game.add(
        way("Try", broken),
        way("Parent", Build, needs=lambda wanted: [broken("x")]),
        way("Else", Build, cost=9, gives=1),
    )
    wish = game.solve(agent, Build())
    assert wish.error is None
    wish = game.solve(agent, broken("x"))
    assert wish.is_over
    game.faults()
