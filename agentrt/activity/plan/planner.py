"""The planner of one agent: what its plan and whatever is performed beside it share.

It holds what the agent knows (``known`` by its own actions, ``groups`` by the task groups that it is in; ``version``
counts the changes, and a frame that has another one looks again), makes the units, counts the places that are busy, and
stands between the plan and the floor above: faults, records and calls to the outside go through it. Who taught what,
and how long that counts, is the agent's business (``agent.learning``).

Of task groups it knows that they are actions, that their specs make their own units (``UnitMaker``), and where in the
plan they are considered (``GroupPlace``), so that a change of a group finds those whom it concerns.

Source: Stonehearth, AI: "Overview of the AI system", "Injecting actions".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.activity.author.expected import Current, StateReader
from agentrt.activity.author.seat import ActingAgent
from agentrt.activity.author.utility import SUNK_COST_SECONDS
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.plan.execution import Execution
from agentrt.activity.plan.spawned import Spawned
from agentrt.activity.plan.tree import MAX_FRAMES, GroupPlace, Unit
from agentrt.activity.plan.waits import look_for_circle
from agentrt.body.flags import FlagLedger
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.kernel import ControlFlow
from agentrt.kernel.strand import meant
from agentrt.kernel.trace import Detail, TraceEvent, TraceRecord
from agentrt.kernel.traps import at_once
from agentrt.words import error_words, type_name

if TYPE_CHECKING:
    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.expected import CurrentFields
    from agentrt.activity.plan.search import SearchWork
    from agentrt.activity.plan.spawned import Performance
    from agentrt.activity.plan.tree import Frame, Stack
    from agentrt.body.budget import Share
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.rng import Stream
    from agentrt.kernel.strand import Strand
    from agentrt.kernel.trace import TraceHub


_NO_GROUPS: Final[Mapping[str, tuple[ActionSpec, ...]]] = {}


class UnitMaker(ABC):
    """A spec that says itself what its units are: of a task group, of a task. Those of all others are known here."""

    __slots__ = ()

    @abstractmethod
    def make_unit(self, frame: Frame) -> Unit:
        """A unit of it at a place of the plan."""


class Joined(Protocol):
    """A task group that the agent is in."""

    @property
    def spec(self) -> ActionSpec:
        """The action that it is to the agent."""
        ...


class PlannerOwner(ActingAgent, Protocol):
    """The agent, as its planner sees it."""

    name: str
    entity: Any
    expected: type[CurrentFields] | None

    @property
    def random(self) -> Stream:
        """The agent's stream of random numbers."""
        ...

    def planner_fault(self, text: str, path: str, error: BaseException, is_new: bool = True) -> None:
        """A hook raised; new the first time for each action and hook."""

    def planner_killed(self, aborts: int, reason: str, path: str) -> None:
        """The planner gave up."""

    def planner_ended(self) -> None:
        """The planner was told to end, and has."""

    @property
    def search(self) -> SearchWork | None:
        """The search work of its runtime; None when it is in none any more."""


class Planner:
    """What the frames and units of one agent share. ``read`` is how CURRENT reads the state of the entity."""

    __slots__ = (
        "_group_places",
        "_reported",
        "agent",
        "busy_frames",
        "entity",
        "execution",
        "flags",
        "groups",
        "kernel",
        "known",
        "name",
        "performances",
        "precedence",
        "read",
        "share",
        "sunk_ticks",
        "trace",
        "version",
    )

    def __init__(self, kernel: Kernel, agent: PlannerOwner, flags: FlagLedger, top: str, read: StateReader) -> None:
        self.kernel: Kernel = kernel
        self.trace: TraceHub = kernel.trace
        self.agent: PlannerOwner = agent
        self.name: str = agent.name
        self.entity: Any = agent.entity
        self.flags: FlagLedger = flags
        self.read: StateReader = read
        # activity to the actions that perform it, in the order in which they were learned
        self.known: Mapping[str, tuple[ActionSpec, ...]] = {}
        # activity to the task groups that perform it, in the order in which the agent joined them
        self.groups: Mapping[str, tuple[ActionSpec, ...]] = _NO_GROUPS
        self.version: int = 0  # changes whenever one of these does
        self._group_places: list[GroupPlace] | None = None
        self.busy_frames: int = 0  # at how many places of the plan it thinks or runs
        self.sunk_ticks: int = kernel.clock.ticks(SUNK_COST_SECONDS)  # after how many ticks the sunk-cost boost sets in
        self.precedence: int = 0  # of the plan's claims for control flags
        # what is performed beside the plan, in the order in which it began
        self.performances: tuple[Performance, ...] = ()
        self.share: Share | None = None  # its place in the think budget; None until it asked for work
        self._reported: set[tuple[str, str]] | None = None
        self.execution: Execution = Execution(self, top)  # the root of the plan

    @property
    def random(self) -> Stream:
        """The agent's stream of random numbers."""
        return self.agent.random

    # --- knowing ------------------------------------------------------------------------------------------------------

    def learn(self, known: Mapping[str, tuple[ActionSpec, ...]]) -> None:
        """Replace what the agent knows. Frames that think take it up at once, others when they think the next time."""
        self.known = known
        self.version += 1
        self._relearn()

    def _relearn(self) -> None:
        for execution in (self.execution, *self.performances):
            execution.relearn()

    def learn_groups(self, groups: Iterable[Joined]) -> None:
        """Replace the task groups that the agent is in; they come in the order in which it joined them."""
        found: dict[str, tuple[ActionSpec, ...]] = {}
        for group in groups:
            activity = group.spec.activity
            found[activity] = (*found.get(activity, ()), group.spec)
        if found != self.groups:  # who tells of a change may be the second to do so
            self.groups = found or _NO_GROUPS
            self.version += 1
            self._relearn()

    def performers(self, activity: str) -> tuple[ActionSpec, ...]:
        """The actions that could perform an activity: what the agent knows, and then the groups that it is in."""
        known = self.known.get(activity, ())
        groups = self.groups.get(activity)
        return known if groups is None else (*known, *groups)

    def group_places(self) -> list[GroupPlace]:
        """Where in the plan task groups are considered or run, in the order in which they began to."""
        if self._group_places is None:
            self._group_places = []
        return self._group_places

    def look_for_tasks(self, group: object) -> None:
        """A task of a group has room again: have the places where it is considered look whether to ask it."""
        if self._group_places and not self.execution.is_stopped:
            for place in self._group_places:
                if place.group is group:
                    place.look_further()

    def take_up_tasks(self, group: object) -> None:
        """Tasks of a group came or went: have the places where it is considered take it up."""
        if self._group_places and not self.execution.is_stopped:
            for place in tuple(self._group_places):
                if place.group is group:
                    place.take_up_tasks()

    def make_unit(self, frame: Frame, spec: ActionSpec) -> Unit | None:
        """A unit for an action at a place of the plan; None if its class raised, which is reported."""
        try:
            if isinstance(spec, UnitMaker):
                return spec.make_unit(frame)
            return Unit(frame, spec) if spec.steps is None else CompoundUnit(frame, spec)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.report(f"{frame.path()}/{spec.label}", "__init__", error)
            return None

    @property
    def has_places_left(self) -> bool:
        """Whether many more places may think before there are too many."""
        return self.busy_frames < MAX_FRAMES * 3 // 4

    def dismiss(self, thinking: Strand) -> None:
        """Stop thinking that nobody waits for any more; it may have to clean up."""
        self.kernel.strays.take(thinking)
        thinking.stop("thinking stopped")

    def layer(self, below: Current | None) -> Current:
        """A new layer of CURRENT, on top of another or of the entity as it is."""
        return Current(below, self.entity, self.read, self.agent.expected)

    def spawn(self, unit: Unit, activity: str, args: dict[str, Any], handle: object = None) -> Spawned:
        """A frame that a unit manages by itself; ``handle`` is the context through which its author asked."""
        return Spawned(unit, activity, args, handle=handle)

    def look_for_circle(self, execution: Stack) -> None:
        """An execution begins to wait: if that closes a circle of waits, break it."""
        look_for_circle(execution)

    def work(self, units: int) -> Awaitable[None]:
        """Take units of search work; see ``Context.work``. An agent that is in no runtime any more has no limit."""
        search = self.agent.search
        return at_once() if search is None else search.ask(self, units)

    # --- the floor above ----------------------------------------------------------------------------------------------

    def record(self, path: str, event: TraceEvent, detail: Detail) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""
        self.trace.emit(TraceRecord(self.kernel.clock.tick, self.name, path, event, detail))

    def fault(self, unit: Unit | None, hook: str, error: BaseException) -> None:
        """A hook raised, of an action or of the planner itself. Logged the first time; the plan goes on as it can."""
        if isinstance(error, ControlFlow):
            error.send_on()  # it was contained in the middle of what the hook is for
        else:
            self.report(self.execution.root.path() if unit is None else unit.path(), hook, error)

    def report(self, path: str, hook: str, error: BaseException) -> None:
        """As ``fault``, for a place that has no unit."""
        error = meant(error)
        if self.trace.on:
            words = error_words(error)
            self.record(path, TraceEvent.FAULT, (("hook", hook), ("error", words)))
        if self._reported is None:
            self._reported = set()
        key = (path, hook)
        is_new = key not in self._reported
        self._reported.add(key)
        self.agent.planner_fault(f"{hook} raised {type_name(error)}", path, error, is_new)

    def kill(self, aborts: int, reason: str, unit: Unit | None) -> None:
        """The planner gives up, after so many aborts in a row."""
        path = self.execution.root.path() if unit is None else unit.path()
        if self.trace.on:
            self.record(path, TraceEvent.KILLED, (("aborts", aborts), ("reason", reason)))
        self.agent.planner_killed(aborts, reason, path)

    def ended(self) -> None:
        """Its plan was told to end, and has."""
        self.agent.planner_ended()
