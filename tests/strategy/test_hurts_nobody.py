"""What hooks raise, whatever it is, and what comes late through a context: it concerns its own strategy, and nobody else."""

import asyncio
import threading

import pytest
from wants import Build, Have, Know, Reach

from agentrt.errors import DependencyFailedError, WrongStateError
from agentrt.strategy import Branch, Dependency, Interruptible, Interruption, Opportunity, Trigger
from agentrt.strategy.solve import Incident


class Silent(Exception):
    def __str__(self):
        raise ValueError("no text")

    __repr__ = __str__


class Huge(Exception):
    def __str__(self):
        return "x" * 10**6


RAISED = [Silent, Huge, asyncio.CancelledError, GeneratorExit, BaseException, StopIteration, RecursionError]


@pytest.fixture(params=RAISED, ids=lambda kind: kind.__name__)
def raising(request):
    """Raises, whatever it is called with, besides itself."""

    def raises(*_):
        raise request.param

    return raises


def plays_on(game, agent, wanted, *, is_solved=True, ticks=60):
    """It is over, and whoever else is asked of the agent, and of another one, gets it."""
    other = game.add(*[one.spec.cls for one in agent.gameplay.catalog.providers], name="other")
    wish = game.solve(agent, wanted, ticks=ticks)
    assert (wish.error is None) is is_solved, wish.error
    assert is_solved or isinstance(wish.error, DependencyFailedError)
    for one in (agent, other):
        assert game.solve(one, Reach("hill")).error is None
    game.faults()
    return wish


@pytest.mark.parametrize("hook", ["estimate", "foresee"])
def test_costs(game, way, hook, raising):
    agent = game.add(way("Bad", Know, **{hook: raising}), way("Good", Know, cost=2.0), way("Walk", Reach))
    agent.gameplay.cost(Know("x"))
    plays_on(game, agent, Know("x"))


def test_what_is_no_cost_at_all(game, way):
    class Odd(float):
        def __le__(self, other):
            raise asyncio.CancelledError

        __ge__ = __le__

    given = [10**6000, -(10**6000), Odd(1), float("nan"), "x" * 10**6, b"1", [], Silent()]
    for count, cost in enumerate(given):
        bad = way("Bad", Know, cost=lambda ask, wanted, cost=cost: cost)
        agent = game.add(bad, way("Good", Know, cost=2.0), way("Walk", Reach), name=f"a{count}")
        assert game.solve(agent, Know("x")).error is None
        game.faults()


@pytest.mark.parametrize("hook", ["is_met", "met_value", "label", "assume"])
def test_dependencies(game, way, hook, raising):
    kind = type("Odd", (Dependency,), {hook: raising, "__annotations__": {}}, activity="want:odd")
    agent = game.add(
        way("Do", kind, foresee=lambda self, ask, wanted: [Branch(cost=1.0, needs=(Know("x"),))]),
        way("Learn", Know),
        way("Walk", Reach),
        way("Top", Build, foresee=lambda self, ask, wanted: [Branch(needs=(kind(), Know("y")))], needs=[kind()]),
    )
    agent.gameplay.forecast(Build()).render()
    plays_on(game, agent, Build(), is_solved=hook != "is_met")
    agent.explain()


def test_a_guard_key_ends_its_own_request_at_worst(game, way, raising):
    kind = type("Odd", (Dependency,), {"guard_key": raising, "__annotations__": {}}, activity="want:odd")
    agent = game.add(way("Do", kind, cost=lambda ask, wanted: 1.0), way("Walk", Reach))
    wish = game.solve(agent, kind())
    assert wish.error is not None
    assert game.solve(agent, Reach("hill")).error is None
    game.faults()


def test_a_value_that_cannot_be_printed(game, way):
    class Item:
        def __str__(self):
            raise asyncio.CancelledError

        __repr__ = __str__

    class Odd(Dependency[None], activity="want:odd"):
        item: Item

    agent = game.add(way("Do", Odd, fails="because"), way("Walk", Reach))
    wish = plays_on(game, agent, Odd(Item()), is_solved=False)
    assert "Odd <its label cannot be made: CancelledError> could not be solved" in str(wish.error)


@pytest.mark.parametrize("hook", ["run", "constructor"])
def test_what_runs(game, way, hook, raising):
    made = []

    async def run(self, ctx, wanted):
        raising()

    def init(self):
        made.append(1)
        if len(made) > 1:
            raising()

    bad = way("Bad", Know, run=run) if hook == "run" else way("Bad", Know, __init__=init)
    agent = game.add(bad, way("Good", Know, cost=2.0), way("Walk", Reach))
    wish = game.solve(agent, Know("x"))
    assert wish.error is None
    assert game.solve(agent, Reach("hill")).error is None
    game.faults()


@pytest.mark.parametrize("how", [Interruptible.PAUSE, Interruptible.RESTART])
def test_whoever_is_told_of_an_interruption(game, way, how, raising):
    bad = way("Bad", Know, ticks=5, interruption=how, interrupted=raising)
    above = way("Above", Build, needs=[Know("x")], interrupted=raising)
    agent = game.add(bad, above, way("Good", Know, cost=2.0), way("Walk", Reach), way("Other", Build, cost=3.0))
    wish = game.wish(agent.gameplay.build())
    game.tick(2)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home"), then=raising))
    game.tick(20)
    assert (wish.is_over, wish.error) == (True, None)
    game.faults()


def test_triggers_and_opportunities(game, way, raising):
    agent = game.add(way("Good", Know, ticks=30), way("Walk", Reach))
    agent.gameplay.add_trigger(Trigger(name="when", when=raising, every=0.1, solve=Reach("home")))
    agent.gameplay.add_trigger(Trigger(name="solve", on="howl", solve=raising))
    agent.gameplay.add_opportunity(Opportunity(name="bush", find=raising, every=0.1))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(5)
    agent.signal("howl").emit(1)
    game.tick(40)
    assert (wish.is_over, wish.error) == (True, None)
    game.faults()


def test_rank_and_expectations(game, way, raising):
    async def run(self, ctx, wanted):
        return await ctx.solve(Know("x"), rank=raising)

    dreams = way("Dream", Build, foresee=lambda self, ask, wanted: [Branch(cost=2.0, expect=raising)])
    agent = game.add(way("Bad", Build, run=run), way("Good", Know), way("Walk", Reach), dreams)
    wish = game.solve(agent, Build())
    assert wish.error is None
    assert game.solve(agent, Reach("hill")).error is None
    game.faults()


# --- late, and from elsewhere -------------------------------------------------------------------------------------------


def keeper(kept, ticks=20):
    async def run(self, ctx, wanted):
        kept.append(ctx)
        await ctx.sleep_ticks(ticks)
        return "done"

    return run


ELSEWHERE = {
    "posted": lambda game, call: game.sim.runtime.post(call),
    "listener": lambda game, call: (
        game.agents[0].signal("odd").connect(lambda _: call()),
        game.agents[0].signal("odd").emit(1),
    ),
    "strand": lambda game, call: game.kernel.spawn(calling(call), "other", None),
    "outside": lambda game, call: call(),
    "thread": lambda game, call: in_thread(call),
}


async def calling(call):
    call()


def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize("where", ELSEWHERE)
def test_fail_from_elsewhere_is_the_strategys_failure_and_not_the_callers(game, way, where):
    kept, returned = [], []
    agent = game.add(way("Bad", Know, run=keeper(kept)), way("Good", Know, cost=2.0))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(3)
    ELSEWHERE[where](game, lambda: (kept[0].fail("gone"), returned.append(1)))
    game.tick(3)
    assert (returned, wish.is_over, wish.error) == ([1], True, None)
    assert game.tree(agent)[1] == "   Bad - failed: gone"


@pytest.mark.parametrize("where", ELSEWHERE)
def test_restart_from_elsewhere(game, way, where):
    kept = []
    agent = game.add(way("Bad", Know, run=keeper(kept)))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(3)
    ELSEWHERE[where](game, lambda: kept[0].restart())
    game.tick(3)
    assert len(kept) == 2
    game.tick(30)
    assert (wish.is_over, wish.error) == (True, None)


@pytest.mark.parametrize("where", ELSEWHERE)
@pytest.mark.parametrize("call", ["fail", "restart"])
def test_what_comes_too_late_is_ignored_and_traced(game, way, where, call):
    kept = []
    agent = game.add(way("Bad", Know, run=keeper(kept, 1)))
    assert game.solve(agent, Know("x")).value == "done"
    wish = game.wish(agent.gameplay.know("y"))
    game.tick(1)
    ELSEWHERE[where](game, lambda: getattr(kept[0], call)("late"))
    game.tick(3)
    assert (wish.value, len(kept)) == ("done", 2)
    assert [dict(one.detail)["method"] for one in game.sim.trace if one.event.value == "late"] == [call]


def test_awaiting_through_a_context_that_is_over_is_an_error_of_the_caller(game, way):
    kept, caught = [], []

    async def late(self, ctx, wanted):
        for call in (
            lambda old: old.solve(Know("z")),
            lambda old: old.solve_all([Know("z")]),
            lambda old: old.solve_if_worth(Know("z"), [Have("log")]),
            lambda old: old.execute("want:know", what="z"),
            lambda old: old.gameplay.know("z"),
        ):
            try:
                await call(kept[0])
            except WrongStateError:
                caught.append(1)

    agent = game.add(way("A", Know, run=keeper(kept, 1)), way("Late", Build, run=late))
    assert game.solve(agent, Know("x")).error is None
    assert game.solve(agent, Build()).error is None
    assert len(caught) == 5
    assert kept[0].cost(Know("q")) >= 0
    assert kept[0].supplies() == {}
