"""From thinking to the first run of a plan of three steps.

The domain is gtpyhop's own first example: Alice travels from her home to the park. She could go on foot if it
were at most two miles; it is eight, so she calls a taxi, rides it and pays the driver, who must not cost more
than she has. gtpyhop finds that plan; agentrt finds it, too, and has then started all of it and run its first
step. One unit is one plan. Every agent has made the journey once before, as gtpyhop has made the plan many
times before.

gtpyhop 2 keeps a structured log that no level of verbosity turns off, and that costs about as much as the
planning. It is turned off here for as long as it is measured, so that it is a planner and not a log that is
beaten.

The limit is the same by hand: a bare coroutine waits for the wish, searches depth first (methods are asked in order,
operators change a copy of the state, what a step binds is handed on in it), and runs the first step, which waits for
the taxi. Nothing can be stopped, and nothing thought over. gtpyhop is a peer that makes the plan and runs nothing.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from agentrt import ARGS, PREV, Action, ActionArgs, Agent, CompoundAction, Signal, ThinkOutput, step
from benchmarks.harness import Peer, Row, Side, Size, Work
from benchmarks.rows.think_cycle import Host, plain
from benchmarks.rows.think_cycle_others import BareSignal

__all__ = ["METHODS", "OPERATORS", "PLAN", "THREE_STEPS", "State", "Task", "ours"]

_MILES = {("home_a", "park"): 8, ("home_b", "park"): 2, ("station", "home_a"): 1, ("station", "home_b"): 7}


def _distance(x: str, y: str) -> int:
    return _MILES.get((x, y)) or _MILES[y, x]


def _fare(miles: int) -> float:
    return 1.5 + 0.5 * miles


@dataclass(slots=True)
class Person:
    """Who travels."""

    location: str = "home_a"
    cash: float = 20
    wants_to_leave: Signal = field(default_factory=Signal)
    taxi_came: Signal = field(default_factory=Signal)
    taxis_called: int = 0


class GoOut(CompoundAction):
    """Wait for the wish, then travel."""

    does = "agentrt:top"
    utility = 0.5
    steps = (step("bench:travel", to="park"),)

    async def think(self, ctx: Any, args: Any) -> None:
        await ctx.entity.wants_to_leave.wait()
        ctx.set_think_output()


class TravelByFoot(CompoundAction):
    """Only when it is near."""

    does = "bench:travel"
    utility = 0.9
    steps = (step("bench:walk", to=ARGS.to),)

    class Args(ActionArgs):
        to: str

    async def think(self, ctx: Any, args: Any) -> None:
        if _distance(ctx.entity.location, args.to) <= 2:
            ctx.set_think_output()


class TravelByTaxi(CompoundAction):
    """Only when there is money for it."""

    does = "bench:travel"
    utility = 0.5
    steps = (
        step("bench:call_taxi"),
        step("bench:ride_taxi", taxi=PREV.taxi, to=ARGS.to),
        step("bench:pay_driver", fare=PREV.fare),
    )

    class Args(ActionArgs):
        to: str

    async def think(self, ctx: Any, args: Any) -> None:
        if ctx.entity.cash >= _fare(_distance(ctx.entity.location, args.to)):
            ctx.set_think_output()


class Walk(Action):
    """Never elected here: it is too far."""

    does = "bench:walk"
    utility = 0.5

    class Args(ActionArgs):
        to: str


class CallTaxi(Action):
    """The first step; when it runs, the measurement is over."""

    does = "bench:call_taxi"
    utility = 0.5

    class Output(ThinkOutput):
        taxi: str

    async def think(self, ctx: Any, args: Any) -> None:
        ctx.CURRENT.location = "taxi1"
        ctx.set_think_output(taxi="taxi1")

    async def run(self, ctx: Any, args: Any) -> None:
        ctx.entity.taxis_called += 1
        await ctx.entity.taxi_came.wait()


class RideTaxi(Action):
    """The second step."""

    does = "bench:ride_taxi"
    utility = 0.5

    class Args(ActionArgs):
        taxi: str
        to: str

    class Output(ThinkOutput):
        fare: float

    async def think(self, ctx: Any, args: Any) -> None:
        if ctx.CURRENT.location == args.taxi:
            ctx.CURRENT.location = args.to
            ctx.set_think_output(fare=_fare(_distance(ctx.entity.location, args.to)))


class PayDriver(Action):
    """The third step."""

    does = "bench:pay_driver"
    utility = 0.5

    class Args(ActionArgs):
        fare: float

    async def think(self, ctx: Any, args: Any) -> None:
        if ctx.entity.cash >= args.fare:
            ctx.set_think_output()


@contextmanager
def ours(size: Size, host: Host = plain) -> Iterator[Work]:
    """Agents that all want to leave in the same tick."""
    people = [Person() for _ in range(size.count)]

    def leave() -> None:
        for person in people:
            person.wants_to_leave.emit()

    def arrive() -> None:
        for person in people:
            person.taxi_came.emit()

    with host() as (runtime, tick):

        def work() -> int:
            runtime.post(leave)
            tick()
            return size.count

        for person in people:
            runtime.add(Agent(person, actions=[GoOut, TravelByFoot, TravelByTaxi, Walk, CallTaxi, RideTaxi, PayDriver]))
        tick()
        work()
        runtime.post(arrive)
        tick()
        yield work
        expected = 2 if size.rounds else 1  # without rounds only what is prepared is counted
        assert all(person.taxis_called == expected for person in people), "somebody has no plan"


# --- the limit ----------------------------------------------------------------------------------------------

State = dict[str, Any]
Task = tuple[str, ...]


def _on_foot(state: State, to: str) -> list[Task] | None:
    return [("walk", to)] if _distance(state["location"], to) <= 2 else None


def _by_taxi(state: State, to: str) -> list[Task] | None:
    if state["cash"] < _fare(_distance(state["location"], to)):
        return None
    return [("call_taxi",), ("ride_taxi", to), ("pay_driver",)]


def _walk(state: State, to: str) -> bool:
    state["location"] = to
    return True


def _call_taxi(state: State) -> bool:
    state["taxi"] = "taxi1"
    return True


def _ride_taxi(state: State, to: str) -> bool:
    state["fare"] = _fare(_distance(state["location"], to))
    state["location"] = to
    return bool(state["taxi"])


def _pay_driver(state: State) -> bool:
    state["cash"] -= state["fare"]
    return bool(state["cash"] >= 0)


METHODS: dict[str, tuple[Callable[..., list[Task] | None], ...]] = {"travel": (_on_foot, _by_taxi)}
OPERATORS: dict[str, Callable[..., bool]] = {
    "walk": _walk,
    "call_taxi": _call_taxi,
    "ride_taxi": _ride_taxi,
    "pay_driver": _pay_driver,
}

PLAN: list[Task] = [("call_taxi",), ("ride_taxi", "park"), ("pay_driver",)]


def _search(state: State, tasks: list[Task], plan: list[Task]) -> list[Task] | None:
    if not tasks:
        return plan
    task, rest = tasks[0], tasks[1:]
    operator = OPERATORS.get(task[0])
    if operator is not None:
        after = state.copy()
        return _search(after, rest, [*plan, task]) if operator(after, *task[1:]) else None
    for method in METHODS[task[0]]:
        subtasks = method(state, *task[1:])
        if subtasks is not None:
            found = _search(state, subtasks + rest, plan)
            if found is not None:
                return found
    return None


class BarePerson:
    """Who travels, by hand."""

    __slots__ = ("plan", "state", "taxi_came", "taxis_called", "wants_to_leave")

    def __init__(self) -> None:
        self.state: State = {"location": "home_a", "cash": 20.0}
        self.wants_to_leave = BareSignal()
        self.taxi_came = BareSignal()
        self.plan: list[Task] | None = None
        self.taxis_called = 0
        journey = self.go_out()
        journey.send(None).waiting.append(journey)

    async def go_out(self) -> None:
        await self.wants_to_leave.wait()
        self.plan = _search(self.state, [("travel", "park")], [])
        if self.plan is not None:
            await getattr(self, self.plan[0][0])()

    async def call_taxi(self) -> None:
        self.taxis_called += 1
        await self.taxi_came.wait()


@contextmanager
def by_hand(size: Size) -> Iterator[Work]:
    """A depth-first search, written for what it searches and nothing else, and the first step of what it finds."""
    people = [BarePerson() for _ in range(size.count)]

    def work() -> int:
        for person in people:
            person.wants_to_leave.emit()
        return size.count

    yield work
    expected = (PLAN, 1) if size.rounds else (None, 0)
    assert all((person.plan, person.taxis_called) == expected for person in people), "somebody has no plan"
    assert all(person.state == {"location": "home_a", "cash": 20.0} for person in people), "a search changed the world"
    for person in people:
        person.taxi_came.emit()


# --- the peer -----------------------------------------------------------------------------------------------


@contextmanager
def gtpyhop_travel(size: Size) -> Iterator[Work]:
    """gtpyhop's planner on its own example."""
    with redirect_stdout(io.StringIO()):
        import gtpyhop
        from gtpyhop import main as planner
        from gtpyhop.examples import simple_htn

        gtpyhop.set_current_domain(simple_htn.the_domain)
        gtpyhop.set_verbose_level(0)
    state = simple_htn.state0.copy()
    task = ("travel", "alice", "park")
    expected = [("call_taxi", "alice", "home_a"), ("ride_taxi", "alice", "park"), ("pay_driver", "alice", "park")]
    log = planner._log_if_available

    def work() -> int:
        for _ in range(size.count):
            plan = gtpyhop.find_plan(state, [task])
        assert plan == expected
        return size.count

    planner._log_if_available = lambda *_args, **_context: None
    try:
        yield work
    finally:
        planner._log_if_available = log


THREE_STEPS = Row(
    name="three_steps",
    what="from thinking to the first run of a plan of three steps with bound arguments",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("search by hand", by_hand),
    peers=(Peer(Side("gtpyhop", gtpyhop_travel), at_least=2.5),),
    size=Size(2000),
    quick=Size(20),
)
