"""The gameplay of an agent: its strategies, and one call for everything that can be asked for. ``agent.gameplay``.

``await agent.gameplay.collect("diamond", 7)``: for each dependency that a loaded strategy provides there is a call of
that name, and one for each strategy by its own name (``agent.gameplay.mine_ore(...)``), so that any node of the
dependency map can be the entry point. A request runs beside the agent's plan (as ``agent.perform`` does). In a plan a
dependency is an activity like any other: ``step("gameplay:collect", item="log")``.

It is the door, and owns nothing but the parts behind it, none of which knows it.

* *Settings are checked when they are set.* One that nobody reads, because its name has a slip, or that is read as
  something else, because it is a text, would change what the agent does without a word. So there is no other attribute
  that could be set.
* A call may not have the name of anything that is here already; the catalog is told these names.

*Triggers* are what an agent looks out for while it does something else, declared once for the agent: a signal of the
entity (``attacked``), or a question that is asked now and then (is it hungry?), and what to have solved when it comes
up. No strategy needs to know of it: whatever is being solved at that moment is interrupted (``solve``); if nothing is,
it is solved as a request of its own.

* Of several requests, one is interrupted: the last one that began of those that hold control flags, since it drives the
  body; if none holds any, the last one that began. The others go on, and share the body by control flags as always.
* The same trigger does not come up again before it was dealt with, and not for a while after that: as long as it says,
  and longer each time that it could not be dealt with, so that what cannot be helped does not keep the agent from all
  else.
* A trigger whose dependency is met already does not come up.
* It looks out as long as its agent lives, and not longer: then there is no listener and no timer of it.

An *opportunity* is a trigger for what lies by the way, which is collected when it pays. It says what could be had at
this moment, and what detour that would be. Whether it is taken follows from what is being solved: for every branch that
can still come true, of every strategy that runs, what is left of it is priced without and with what could be had now.
What that saves, times the probability of the branch, has to be more than the detour, with what the interruption itself
costs: a strategy that would begin again loses what it has done. Its priority is lower, so that it never keeps the agent
from what is urgent. With nothing being solved, or without look-ahead, nothing is taken.

* *Looking is cheap.* Strategies are asked from the innermost to the outermost, each in the world that those below it
  leave. What is left without anything is priced once for all that could be had. With something it is priced only if
  that can matter: a dependency of its class and ``guard_key`` was priced for what is left, or what it says of the world
  meets one that is expected. Where both worlds are the same again, nobody further out is asked.
* *Looking is bounded.* Once strategies were asked ``LOOK_ASKS`` times in one look, no further need is priced. What was
  found by then is the least that something saves: a look that was cut short never takes what does not pay.

Rejected: a check of settings that tells construction from use by what is assigned already. It breaks with each field.
Going on with a look in a later tick. Whoever moves on has passed by then what lay by the way.

Source: prismarine-gameplay: "Plugins"; "Interrupting Tasks": being attacked, heavy damage, potion effects, hunger;
"Planning Ahead Using Probability": "collect resources it doesn't need, while they're readily available".
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from agentrt.activity.plan.tree import Unit, is_under
from agentrt.errors import ArgumentError, DefinitionError, NotRunningError, did_you_mean
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import running
from agentrt.strategy.ask import (
    Accuracy,
    Calls,
    Catalog,
    Dependency,
    Estimator,
    Foreseen,
    ForesightCounts,
    GameplayOwner,
    Interruptible,
    Interruption,
    Need,
    Order,
    Outcome,
    Params,
    Provider,
    Scenario,
    State,
    Strategy,
    forecast_need,
    is_as_assumed,
    near,
    required,
)
from agentrt.strategy.solve import Attempt, Incident, Request, RequestTable, Solving, await_request, carrier_of
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.arguments import Fields
    from agentrt.kernel.kernel import Timer
    from agentrt.kernel.signals import Connection
    from agentrt.strategy.ask import TaskNode

R = TypeVar("R")


# --- triggers and opportunities ---------------------------------------------------------------------------------------

_MOST_TIMES: Final = 6  # doublings of a second that it waits after a failure: about a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Something that an agent looks out for. Say either ``on`` or ``when``.

    Raises:
        DefinitionError: it says neither when it comes up, or both; a time is negative, or no time; or something else of
            it is nothing of its kind.

    Source: prismarine-gameplay: "Interrupting Tasks".
    """

    name: str  # in trees and for ``interrupted``
    # what to have solved; or a function of the value that came with it, which gives that, or None for nothing
    solve: Dependency[Any] | Callable[[Any], Dependency[Any] | None]
    on: str = ""  # a signal of the entity; its value is the value
    when: Callable[[Any], Any] | None = None  # asked of the agent now and then; a true answer is the value
    every: float = 1.0  # how often, in game seconds
    priority: int = 0  # a higher one interrupts what is done about a lower one
    again_after: float = 0.0  # how long after it was dealt with it may come up again, in game seconds

    def __post_init__(self) -> None:
        subject = f"the trigger {repr_of(self.name, 200)}"
        for name, (is_right, wanted) in _KINDS.items():
            value = getattr(self, name)
            if not is_right(value):
                raise DefinitionError(subject, f"its {name!r} is {repr_of(value, 200)}.", f"Give it {wanted}.")
        if bool(self.on) == (self.when is not None):
            raise DefinitionError(subject, "nobody can tell when it comes up.", "Give it either 'on' or 'when'.")
        if not self.every > 0 or not self.again_after >= 0:
            told = f"'every' is {self.every!r}, 'again_after' {self.again_after!r}."
            raise DefinitionError(subject, told, "Write game seconds.")


def _is_plain(value: object) -> bool:
    return callable(value) and not inspect.iscoroutinefunction(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


_KINDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {  # of the fields of a trigger, in words, too
    "name": (lambda value: isinstance(value, str) and bool(value), "a word"),
    "on": (lambda value: isinstance(value, str), "the name of a signal of the entity"),
    "when": (lambda value: value is None or _is_plain(value), "a plain function of the agent"),
    "solve": (lambda one: isinstance(one, Dependency) or _is_plain(one), "a dependency, or a function that gives one"),
    "every": (_is_number, "game seconds"),
    "again_after": (_is_number, "game seconds"),
    "priority": (_is_number, "a number"),
}


class _Watch:
    """One trigger of one agent."""

    __slots__ = ("_again_at", "_connection", "_failures", "_state", "_timer", "_triggers", "is_busy", "trigger")

    def __init__(self, triggers: Triggers, trigger: Trigger) -> None:
        self.trigger: Trigger = trigger
        self.is_busy: bool = False  # whether it came up, and was not dealt with yet
        self._triggers = triggers
        self._state: State = triggers.table.state
        self._connection: Connection | None = None
        self._timer: Timer | None = None
        self._again_at = 0  # the tick
        self._failures = 0  # since it was last dealt with

    def begin(self) -> None:
        if self.trigger.on:
            self._connection = self._state.agent.signal(self.trigger.on).connect(self._emitted)
        else:
            self._look_later()

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._timer is not None:
            self._timer.cancel()
        self._connection = self._timer = None

    def _look_later(self) -> None:
        kernel = self._state.kernel
        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.trigger.every)), self._look)

    def _look(self) -> None:
        self._look_later()  # first: a function that takes its own trigger away cancels this one
        if not self.is_busy and self._state.tick >= self._again_at:
            when, agent = self.trigger.when, self._state.agent
            assert when is not None
            # Whether it is true is found out in there: it is of any type, and may raise when it is asked.
            value = self._state.contained(f"trigger {self.trigger.name}", "when", None, lambda: when(agent) or None)
            if value is not None:
                self._come_up(value)

    def _emitted(self, value: Any) -> None:
        state = self._state
        if running.kernel is state.agent.kernel:
            self._come_up(value)
        else:
            state.agent.post(self._come_up, value)

    def _come_up(self, value: Any) -> None:
        trigger, state = self.trigger, self._state
        is_watching = self._connection is not None or self._timer is not None  # what was posted may come after the end
        if self.is_busy or not is_watching or state.tick < self._again_at:
            return
        wanted = state.contained(f"trigger {trigger.name}", "solve", None, self._wanted, value)
        if wanted is not None and not self._triggers.table.estimator.is_met(wanted):
            self.is_busy = True  # before: where nobody can be interrupted any more it is over at once
            interruption = Interruption(trigger.name, value)
            self._triggers.interrupt(Incident(interruption, wanted, trigger.priority, self._dealt_with))

    def _wanted(self, value: object) -> Dependency[Any] | None:
        solve = self.trigger.solve
        wanted = solve if isinstance(solve, Dependency) else solve(value)
        if wanted is not None:
            required(f"trigger {self.trigger.name}: solve", wanted)
        return wanted

    def _dealt_with(self, outcome: Outcome) -> None:
        self.is_busy = False
        wait = self.trigger.again_after
        if outcome is Outcome.FAILED:
            wait = max(wait, 2.0 ** min(self._failures, _MOST_TIMES))
            self._failures += 1
        else:
            self._failures = 0
        if self._state.agent.kernel is not None:
            self._again_at = self._state.tick + self._state.kernel.clock.ticks(wait)


class Triggers:
    """The triggers of one agent."""

    __slots__ = ("_is_live", "_watches", "table")

    def __init__(self, table: RequestTable) -> None:
        self.table: RequestTable = table
        table.left_over = self.interrupt
        self._is_live = False
        self._watches: dict[str, _Watch] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What the agent looks out for, in the order of adding."""
        return tuple(self._watches)

    @property
    def busy(self) -> tuple[str, ...]:
        """What came up, and was not dealt with yet."""
        return tuple(name for name, watch in self._watches.items() if watch.is_busy)

    def add(self, trigger: Trigger) -> Callable[[], None]:
        """Look out for something more; returns how to end that. What came up already is dealt with."""
        given: object = trigger
        if not isinstance(given, Trigger):
            raise DefinitionError(f"the trigger {repr_of(given, 200)}", "it is none.", "Write Trigger(name=..., ...).")
        subject, signals = f"the trigger {trigger.name!r}", self._signals()
        meant = " or ".join(map(repr, near(trigger.on, signals) if trigger.on and trigger.on not in signals else ()))
        if meant:
            instead = f"Did you mean {meant}? If it is right, make the signal first: agent.signal({trigger.on!r})."
            raise DefinitionError(subject, f"nothing of the entity is called {trigger.on!r}.", instead)
        if trigger.name in self._watches:
            raise DefinitionError(subject, "the agent has one of that name.", "Remove it, or call it otherwise.")
        self._watches[trigger.name] = watch = _Watch(self, trigger)
        if self._is_live:
            watch.begin()

        def remove() -> None:
            if self._watches.get(trigger.name) is watch:
                del self._watches[trigger.name]
                watch.end()

        return remove

    def _signals(self) -> list[str]:
        """The names of the signals that the entity has by now."""
        names = getattr(self.table.state.agent.entity, "signal_names", ())  # which an entity need not have
        return [*names, "destroyed"] if isinstance(names, tuple) else ["destroyed"]

    def begin(self) -> None:
        if not self._is_live:
            self._is_live = True
            for watch in self._watches.values():
                watch.begin()

    def end(self) -> None:
        self._is_live = False
        for watch in self._watches.values():
            watch.end()

    # --- who is interrupted -------------------------------------------------------------------------------------------

    def interrupt(self, incident: Incident) -> None:
        """Something came up: interrupt what is being solved, or have it solved by itself."""
        solving = self._whom(incident)
        if solving is not None:
            solving.interruptions.add(incident)
            return
        table, state = self.table, self.table.state
        try:
            if incident.wanted is None:
                incident.over(Outcome.DONE, state)  # there is nobody to hear of it
                return
            request: Request[Any] = Request(
                Solving(table, table.estimator, incident.wanted, priority=incident.priority)
            )
        except NotRunningError:
            incident.over(Outcome.CANCELLED, state)
        else:
            request.then(lambda over: incident.over(over.outcome, state))

    def _whom(self, incident: Incident) -> Solving | None:
        """Whose request is interrupted: who drives the body, else the last one that began; None for nobody."""
        # What is done about something that came up gives way to something more urgent only.
        lower = [one for one in self.table.running if one.floor is None or one.floor < incident.priority]
        running = [one for one in lower if not one.unit.frame.execution.is_unwinding(one.unit.frame)]
        held = [hold.owner for hold in self.table.state.agent.flags.holds().values()]
        units = [owner for owner in held if isinstance(owner, Unit)]
        driving = [one for one in running if any(is_under(unit.frame, one.unit.frame) for unit in units)]
        return next(reversed(driving or running), None)

    def __repr__(self) -> str:
        return f"<Triggers: {', '.join(self._watches) or 'none'}>"


LOOK_ASKS: Final = 256  # times that strategies are asked in one look; what was begun is asked to its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Opportunity:
    """What could be had by the way.

    Raises:
        DefinitionError: a time is negative, or no time.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
    """

    name: str  # in trees and for ``interrupted``
    # asked of the agent now and then: what could be had, each a dependency and the detour in game seconds
    find: Callable[[Any], Iterable[tuple[Dependency[Any], float]]]
    every: float = 1.0  # how often, in game seconds
    priority: int = -1  # below what triggers have by default
    again_after: float = 0.0  # how long after it was taken it may be taken again, in game seconds


class Found(NamedTuple):
    """What is taken."""

    wanted: Dependency[Any]
    saved: float  # how many game seconds later that saves, times how likely it is
    costs: float  # what it costs now, in game seconds


def lookout(table: RequestTable, opportunity: Opportunity) -> Trigger:
    def when(agent: Any) -> Found | None:
        if table.state.lookahead <= 0 or not table.running:
            return None
        detours: dict[Dependency[Any], float] = {}
        for wanted, detour in opportunity.find(agent):
            detours[wanted] = min(detour, detours.get(wanted, inf))
        lost = _lost(table)
        found = [Found(wanted, saves, detours[wanted] + lost) for wanted, saves in saved(table, detours).items()]
        paying = [one for one in found if one.saved > one.costs]
        return max(paying, key=lambda one: one.saved - one.costs, default=None)

    return Trigger(
        name=opportunity.name,
        when=when,
        solve=lambda found: found.wanted,
        every=opportunity.every,
        priority=opportunity.priority,
        again_after=opportunity.again_after,
    )


def _lost(table: RequestTable) -> float:
    """What is lost if what runs is interrupted, in game seconds."""
    state, solving = table.state, table.running[-1]
    began = [one.node.began for one in solving.stack if one.interruption is Interruptible.TREE]
    innermost = solving.stack[-1] if solving.stack else None
    # One that has something solved comes to a breakpoint by itself: it is not unwound for this.
    if innermost is not None and not innermost.is_solving and innermost.interruption is Interruptible.RESTART:
        began.append(innermost.node.began)
    return (state.tick - min(began)) / state.kernel.clock.ticks_per_second if began else 0.0


def saved(
    table: RequestTable, wanted: Iterable[Dependency[Any]], most: int = LOOK_ASKS
) -> dict[Dependency[Any], float]:
    """How many game seconds it saves later to have a dependency met now, times how likely it is.

    For each, the sum over what is being solved; infinity if something could not be done without it. After ``most`` asks
    no further need is priced.
    """
    totals = dict.fromkeys(wanted, 0.0)
    for solving in reversed(table.running):  # who began last is who would be interrupted, and a look may be cut short
        look, open_ = _Look(solving, totals, most), list(totals)
        with solving.estimator.deciding():
            try:
                for attempt in reversed(solving.stack):
                    if any(left for _, left in attempt.shares()):
                        open_ = [one for one in open_ if look.may_save_more(attempt, one)]
            except _CutShort:
                break
        most = look.limit - solving.estimator.asked
    return totals


class _CutShort(Exception):
    """So many were asked that nobody else is."""


class _Look:
    """What having something would save in one request; it raises ``_CutShort`` after so many asks."""

    __slots__ = ("_depth", "_estimator", "_over", "_solving", "_totals", "limit")

    def __init__(self, solving: Solving, totals: dict[Dependency[Any], float], most: int) -> None:
        self._solving = solving
        self._estimator = solving.estimator
        self._depth = solving.state.lookahead
        self.limit = solving.estimator.asked + most
        self._totals = totals  # by dependency, what having it saves; counted up
        self._over: dict[tuple[Attempt, Scenario], Scenario] = {}  # the world that an attempt leaves, by that before

    def may_save_more(self, attempt: Attempt, wanted: Dependency[Any]) -> bool:
        """Count up what having something saves to an attempt; False if those above it cannot save anything by it."""
        estimator, real = self._estimator, self._estimator.world
        before = self._goes_on(attempt, real)
        chain = attempt.chain()
        with estimator.deciding(chain):
            without, priced = self._costs(attempt, before)
        if estimator.need_of(wanted) not in priced and not self._meets(attempt, wanted, before):
            return True
        self._require_more()
        behind = self._goes_on(attempt, estimator.after(wanted, real, self._depth))
        if self._is_same(before, behind):
            return False
        with estimator.deciding(chain):
            having, _ = self._costs(attempt, behind)
        shares = [branch.probability for branch, _ in attempt.shares()]
        for share, most, least in zip(shares, without, having, strict=True):
            if least < most:
                self._totals[wanted] += inf if most == inf else share / sum(shares) * (most - least)
        return True

    def _require_more(self) -> None:
        if self._estimator.asked >= self.limit:
            raise _CutShort

    # --- worlds -------------------------------------------------------------------------------------------------------

    def _goes_on(self, attempt: Attempt, world: Scenario) -> Scenario:
        """The world in which an attempt goes on: what it has solved at this moment has been met by then."""
        below = next((one for one in self._solving.stack if one.above is attempt), None)
        if below is None:
            return world
        key = (below, world)
        if key not in self._over:
            self._over[key] = self._is_over(below, world)
        return self._over[key]

    def _is_over(self, attempt: Attempt, world: Scenario) -> Scenario:
        world = self._goes_on(attempt, world)
        branch, left = attempt.left()
        with self._estimator.deciding(attempt.chain()):
            for need in left:
                self._require_more()
                world = self._estimator.after(need, world, self._depth)
            return self._estimator.outcome(attempt.wanted, branch, (), world, self._depth)

    def _is_same(self, one: Scenario, other: Scenario) -> bool:
        """Whether everything is the same in two worlds; what is assumed is never the same as what is."""
        if one is other or one.state is None or other.state is None:
            return one is other
        layer = self._solving.state.layer
        is_one = is_as_assumed(one.state, layer(other.state)) is not None
        return is_one and is_as_assumed(other.state, layer(one.state)) is not None

    def _meets(self, attempt: Attempt, wanted: Dependency[Any], world: Scenario) -> bool:
        """Whether what a dependency says of the world meets something else that is expected of an attempt."""
        if not type(wanted).has_effect():
            return True  # whoever provides it may say so
        estimator = self._estimator
        behind = estimator.layered(world, wanted, "assume", wanted.assume)
        needs = {need: None for _, left in attempt.shares() for need in left}
        if attempt.forecast is not None:
            needs.update((one.wanted, None) for _, one in attempt.forecast.walk() if not one.is_met)
        return any(not estimator.is_met(need, world) and estimator.is_met(need, behind) for need in needs)

    # --- prices -------------------------------------------------------------------------------------------------------

    def _costs(self, attempt: Attempt, world: Scenario) -> tuple[list[float], set[Need]]:
        """What is left costs, branch by branch; and what was priced for that."""
        priced: set[Need] = set()
        costs = [self._cost(left, world, priced) for _, left in attempt.shares()]
        return costs, priced

    def _cost(self, needs: Iterable[Dependency[Any]], world: Scenario, priced: set[Need]) -> float:
        estimator, depth = self._estimator, self._depth
        total = 0.0
        for need in needs:
            self._require_more()
            cost = estimator.cost(need, world, depth)
            priced.add(estimator.need_of(need))
            for entries in world.table(need, depth).values():
                for kept in entries:
                    priced.update(kept.needs)
            if cost == inf:
                return inf
            total += cost
            world = estimator.after(need, world, depth)
        return total


# --- the door ---------------------------------------------------------------------------------------------------------


def _setting(name: str, kind: tuple[Callable[[Any], bool], str], doc: str) -> Any:
    """One that may be set: a field of the state, which is checked when it is set."""
    takes, what = kind

    def read(gameplay: Gameplay) -> Any:
        return getattr(gameplay._state, name)

    def write(gameplay: Gameplay, value: object) -> None:
        if not takes(value):
            raise ArgumentError("gameplay", name, f"takes {what}, not {repr_of(value)}.")
        was = read(gameplay)
        setattr(gameplay._state, name, value)
        # Of all settings this one alone changes what was kept: nobody who was asked has read that it would matter.
        if name == "corrects" and value != was:
            gameplay.changed()

    return property(read, write, doc=doc)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_COUNT: Final = (_is_count, "a whole number, 0 or more")
_SWITCH: Final = (lambda value: isinstance(value, bool), "True or False")
_ORDER: Final = (lambda value: isinstance(value, Order), "Order.CHEAPEST or another Order")
_SETTINGS: Final = ("lookahead", "most_asks", "prepare_asks", "takes_options", "corrects", "order")


class Gameplay:
    """The strategies of one agent, and what they are asked for. ``agent.gameplay``.

    Source: prismarine-gameplay: "Plugins".
    """

    __slots__ = ("_state", "_table", "agent", "catalog", "changes", "triggers")

    _state: State
    _table: RequestTable
    agent: GameplayOwner  # whose it is
    catalog: Catalog  # the strategies that it has
    changes: Signal  # emitted whenever something changed that estimates rest on
    triggers: Triggers  # what the agent looks out for

    lookahead: int = _setting(
        "lookahead", _COUNT, "How many levels of needs are looked ahead; 0 takes constants, and foresees nothing."
    )
    most_asks: int = _setting(
        "most_asks", _COUNT, "How often strategies are asked for one decision; after that it looks ahead no further."
    )
    prepare_asks: int = _setting(
        "prepare_asks", _COUNT, "How often they are asked in a tick, for each request, for later decisions; 0 for none."
    )
    takes_options: bool = _setting("takes_options", _SWITCH, "Whether optional dependencies are considered.")
    corrects: bool = _setting("corrects", _SWITCH, "Whether what strategies say is corrected by what they took before.")
    order: Order = _setting("order", _ORDER, "In which dependencies are solved that do not depend on each other.")

    def __init__(self, agent: GameplayOwner) -> None:
        state = State(agent)
        table = RequestTable(state)
        parts = {"_state": state, "agent": agent, "catalog": state.catalog, "changes": state.changes, "_table": table}
        for name, part in {**parts, "triggers": Triggers(table)}.items():
            setattr(self, name, part)
        state.catalog.reserved = frozenset(object.__dir__(self))

    def __setattr__(self, name: str, value: object) -> None:
        # Its parts are set once, by it or by whoever copies it.
        if name not in _SETTINGS and (name not in Gameplay.__slots__ or hasattr(self, name)):
            near = did_you_mean(name, _SETTINGS)
            raise ArgumentError("gameplay", name, f"is no setting.{near} There are {', '.join(_SETTINGS)}.")
        object.__setattr__(self, name, value)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def running(self) -> tuple[Solving, ...]:
        """The requests that are being solved, the first first; an estimate that looks at them reads "requests"."""
        return self._table.running

    @property
    def finished(self) -> tuple[TaskNode, ...]:
        """The task trees of the last ones that are over, the oldest first."""
        return self._table.finished

    @property
    def estimator(self) -> Estimator:
        """Who asks for costs, under the global parameters."""
        return self._table.estimator

    @property
    def foreseen(self) -> ForesightCounts:
        """How far what was foreseen came true."""
        return self._state.foreseen

    def accuracy(self) -> tuple[Accuracy, ...]:
        """What strategies said that they cost, beside what they took; of each that was completed."""
        return tuple(record.accuracy(spec.name) for spec, record in self._state.records.items())

    # --- strategies ---------------------------------------------------------------------------------------------------

    def add_strategy(self, *strategies: type[Strategy]) -> Callable[[], None]:
        """Load strategies. They are considered from the next decision on, by those that were loaded before, too.

        Gives a function that takes them away again. One that runs then runs to its end.

        Raises:
            DefinitionError: one is no strategy, its name is taken, or the agent knows actions that do what it provides
                with other arguments; then none is loaded.

        Source: prismarine-gameplay: "Plugins", `addStrategy`.
        """
        added: list[type[Strategy]] = []

        def remove() -> None:
            while added:
                self.catalog.remove(added.pop())
            self._catalog_changed()

        try:
            for cls in strategies:
                spec = self.catalog.add(cls).spec
                added.append(cls)
                for wanted in spec.provides:
                    carrier_of(spec, wanted)  # a class is made: now, and not amid a tick in which it is first needed
            self._catalog_changed()
        except BaseException:
            remove()
            raise
        return remove

    def _catalog_changed(self) -> None:
        self._table.fit(self.catalog.dependencies)
        self.changed("strategies")

    def reloaded(self) -> bool:
        """Strategies that read otherwise now are considered as they are; one that runs goes on. Whether any does."""
        if not self.catalog.renew():
            return False
        for provider in self.catalog.providers:
            for wanted in provider.spec.provides:
                carrier_of(provider.spec, wanted)
        self._catalog_changed()
        return True

    def add_trigger(self, trigger: Trigger) -> Callable[[], None]:
        """Look out for something, as long as the agent lives; what is being solved is interrupted when it comes up.

        Gives a function that ends it. ``DefinitionError`` if there is a trigger of that name.

        Source: prismarine-gameplay: "Interrupting Tasks".
        """
        return self.triggers.add(trigger)

    def add_opportunity(self, opportunity: Opportunity) -> Callable[[], None]:
        """Look out for what lies by the way while something is being solved, and take it when that pays.

        Gives a function that ends it. ``DefinitionError`` if there is a trigger of that name.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        return self.triggers.add(lookout(self._table, opportunity))

    # --- parameters and topics ----------------------------------------------------------------------------------------

    @property
    def params(self) -> Params:
        """The global parameters of requests that have none of their own."""
        return self._table.estimator.params

    def set_params(self, declared: type[Fields] | None = None, /, **values: Any) -> None:
        """Set the global parameters, all of them; requests that run go on with what they began with.

        What is ``declared``, a subclass of ``ActionArgs``, has their types and defaults; without it any names are
        right. A wrong value is an ``ArgumentError``.

        Source: prismarine-gameplay: "Global Parameters".
        """
        self._table.estimator = Estimator(self._state, Params(declared, values))

    def using(self, **changes: Any) -> Calls:
        """The calls, with other global parameters: ``agent.gameplay.using(xray=True).find("ore")``."""
        return self._calls(Estimator(self._state, self.params.using(changes)))

    def changed(self, *topics: str) -> None:
        """Topics changed, those of the ``reads`` of strategies; none for everything: what rests on them is asked anew.

        Raises:
            ArgumentError: nobody reads a topic, and somebody reads one that is called nearly so.
        """
        self._state.topics.changes(topics)
        self._table.changed(*topics)

    def add_topics(self, *topics: str) -> None:
        """Make words known as topics: they are right as they are, however near they come to others."""
        self._state.topics.add(topics)

    # --- asking -------------------------------------------------------------------------------------------------------

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency now: 0 if it is met, infinity if nobody can provide it."""
        required("gameplay.cost", wanted)
        return self._table.estimator.cost(wanted)

    def offers(self, wanted: Dependency[Any]) -> list[tuple[str, float, str]]:
        """What each strategy says to a dependency, the cheapest first: name, game seconds, why it cannot."""
        required("gameplay.offers", wanted)
        return [(one.provider.spec.name, one.cost, one.reason) for one in self._table.estimator.offers(wanted)]

    def forecast(self, wanted: Dependency[Any]) -> Foreseen:
        """The likeliest path if a dependency is asked for now, as far as the agent looks ahead.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        required("gameplay.forecast", wanted)
        estimator = self._table.estimator
        with estimator.deciding():
            return forecast_need(estimator, wanted, estimator.world, self._state.lookahead)

    # --- requests -----------------------------------------------------------------------------------------------------

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency, beside the agent's plan. Await it in any coroutine that the runtime steps.

        Returns:
            An awaitable for what the strategy that provided it returned. It raises ``DependencyFailedError`` if it
            could not be solved, ``ActivityAbortedError`` if the agent ended.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
        """
        return self._request(wanted, None, self._table.estimator)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"gameplay.{name} cannot be deleted.")

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_") or name in Gameplay.__slots__:
            raise AttributeError(name)
        call: Callable[..., Awaitable[Any]] = getattr(self._calls(self._table.estimator), name)
        return call

    def __dir__(self) -> Iterable[str]:
        return [*object.__dir__(self), *dir(self._calls(self._table.estimator))]

    def _calls(self, estimator: Estimator) -> Calls:
        def solve(wanted: Dependency[Any], provider: Provider | None) -> Awaitable[Any]:
            return self._request(wanted, provider, estimator)

        return Calls(self.catalog, self.agent.name, solve)

    def _request(self, wanted: Dependency[Any], provider: Provider | None, estimator: Estimator) -> Awaitable[Any]:
        self.agent.require_life(type(wanted).activity)  # here, and not when it is awaited
        return await_request(self._table, wanted, estimator, provider)

    def begin(self, wanted: Dependency[R], /, **params: Any) -> Request[R]:
        """Begin to solve a dependency, beside the agent's plan, without waiting for it. From any thread.

        The ``params`` are other values for some global parameters.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
            ArgumentError: a parameter is unknown or of the wrong type.
        """
        required("gameplay.begin", wanted)
        estimator = Estimator(self._state, self.params.using(params)) if params else self._table.estimator
        return Request(Solving(self._table, estimator, wanted))

    def __repr__(self) -> str:
        return f"<Gameplay of {self.agent.name!r}: {len(self.catalog.providers)} strategies>"
