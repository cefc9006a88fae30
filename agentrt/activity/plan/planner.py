"""The planner of one agent: what it knows, and what all frames and units of it share.

It learns and forgets action classes (reference counts are the pack's business), checks them against each other, makes
units for them, and stands between the plan and the floor above: faults, records and calls to the outside go through
it.

All actions that perform the same activity must take the same arguments; what a compound reads of a step's think
output must be declared by every known action of that step. Both are checked when an action is learned, the earliest
moment at which they can be known.

Source: seed 001, "Overview of the AI system", "Injecting actions".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from agentrt.activity.author.arguments import NO_ARGS, ActionArgs
from agentrt.activity.author.expected import Current, StateReader
from agentrt.activity.author.utility import SUNK_COST_SECONDS
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.plan.execution import Execution
from agentrt.activity.plan.spawned import SpawnedFrame
from agentrt.activity.plan.tree import Unit
from agentrt.activity.tasks.units import GroupUnit, TaskFrame, TaskUnit
from agentrt.body.flags import FlagLedger
from agentrt.errors import ENDS_PROGRAM, ActivityRecursionError, ArgumentError
from agentrt.kernel.agenda import ControlFlow
from agentrt.kernel.strand import meant
from agentrt.kernel.trace import Detail, Event, TraceRecord
from agentrt.words import error_words, type_name

if TYPE_CHECKING:
    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.context import Context
    from agentrt.activity.author.expected import CurrentFields
    from agentrt.activity.plan.search import SearchWork
    from agentrt.activity.plan.spawned import Performance
    from agentrt.activity.plan.tree import Frame
    from agentrt.activity.tasks.declare import GroupSpec
    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.body.budget import Share
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.rng import Stream
    from agentrt.kernel.signals import Signal
    from agentrt.kernel.strand import Strand
    from agentrt.kernel.trace import TraceHub

__all__ = ["MAX_DEPTH", "MAX_FRAMES", "Planner", "PlannerOwner"]

MAX_DEPTH = 64
"""How deep activities may nest."""

MAX_FRAMES = 4096
"""At how many places one agent may think and run at a time: activities that branch and recur grow faster than deep."""


_UNITS: Final[Mapping[str, Callable[[Frame, Any], Unit]]] = {
    "leaf": Unit,
    "compound": CompoundUnit,
    "group": GroupUnit,
    "task": TaskUnit,
}

_NO_GROUPS: Final[Mapping[str, tuple[GroupSpec, ...]]] = {}


class PlannerOwner(Protocol):
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
        ...

    def signal(self, name: str) -> Signal:
        """A signal of the entity."""
        ...

    def logger(self, path: str) -> Any:
        """A logger bound to the agent and a path."""

    def call(self, fn: Any, args: tuple[Any, ...]) -> Awaitable[Any]:
        """Call something outside."""
        ...

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake; from any thread."""


class Planner:
    """What the frames and units of one agent share.

    Args:
        flags: the agent's ledger of control flags.
        read: how to read the entity's state for CURRENT.
    """

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
        self.groups: Mapping[str, tuple[GroupSpec, ...]] = _NO_GROUPS
        self.version: int = 0  # changes whenever one of these does
        self._group_places: list[GroupUnit] | None = None
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
        """Replace what the agent knows. Frames that think take it up at once, others when they think the next time.

        Args:
            known: activity to actions; made by ``index_actions``, shared between agents that know the same.
        """
        self.known = known
        self.version += 1
        self._relearn()

    def _relearn(self) -> None:
        for execution in (self.execution, *self.performances):
            execution.relearn()

    def learn_groups(self, groups: Iterable[TaskGroup]) -> None:
        """Replace the task groups that the agent is in.

        Args:
            groups: in the order in which it joined them.
        """
        found: dict[str, tuple[GroupSpec, ...]] = {}
        for group in groups:
            activity = group.spec.activity
            found[activity] = (*found.get(activity, ()), group.spec)
        if found != self.groups:  # who tells of a change may be the second to do so
            self.groups = found or _NO_GROUPS
            self.version += 1
            self._relearn()

    def performers(self, frame: Frame) -> tuple[ActionSpec, ...]:
        """The actions that could perform an activity at a place of the plan.

        Those that were chosen for it; under a task group its tasks; elsewhere what the agent knows, and then the groups
        that it is in.
        """
        if frame.chosen is not None:
            return frame.chosen
        if isinstance(frame, TaskFrame):
            return frame.performers()
        known = self.known.get(frame.activity, ())
        groups = self.groups.get(frame.activity)
        return known if groups is None else (*known, *groups)

    def group_places(self) -> list[GroupUnit]:
        """Where in the plan task groups are considered or run, in the order in which they began to."""
        if self._group_places is None:
            self._group_places = []
        return self._group_places

    def look_for_tasks(self, group: TaskGroup) -> None:
        """A task of a group has room again: have the places where it is considered look whether to ask it.

        Args:
            group: a group that the agent is in.
        """
        if self._group_places and not self.execution.is_stopped:
            for unit in self._group_places:
                if unit.group is group and unit.frames:
                    unit.frames[0].look_further()

    def take_up_tasks(self, group: TaskGroup) -> None:
        """Tasks of a group came or went: have the places where it is considered take it up.

        Args:
            group: a group that the agent is in.
        """
        if self._group_places and not self.execution.is_stopped:
            for unit in tuple(self._group_places):
                if unit.group is group:
                    unit.take_up_tasks()

    def make_unit(self, frame: Frame, spec: ActionSpec) -> Unit | None:
        """A unit for an action at a place of the plan.

        Returns:
            The unit; None if the action's class raised when it was to be made, which is reported.
        """
        try:
            return _UNITS[spec.kind](frame, cast("Any", spec))  # each kind of spec has a unit of its own
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.report(f"{frame.path()}/{spec.label}", "__init__", error)
            return None

    def build_args(self, spec: ActionSpec, activity: str, values: Any) -> Any:
        """The checked arguments of an activity.

        Args:
            spec: one of the actions that perform it; they all declare the same.

        Raises:
            ArgumentError: they do not fit.
        """
        kind = spec.cls.Args
        return NO_ARGS if kind is ActionArgs and not values else kind.build(activity, values)

    @property
    def has_places_left(self) -> bool:
        """Whether many more places may think before there are too many."""
        return self.busy_frames < MAX_FRAMES * 3 // 4

    def admit(self, frame: Frame) -> None:
        """A place of the plan is about to think; there must be an end to how deep and how wide a plan grows.

        Raises:
            ActivityRecursionError: there are too many.
        """
        if frame.depth > MAX_DEPTH:
            raise ActivityRecursionError(frame.depth, agent=self.name, path=frame.activity, tick=self.kernel.clock.tick)
        if self.busy_frames >= MAX_FRAMES:
            raise ActivityRecursionError(
                frame.depth, agent=self.name, path=frame.activity, tick=self.kernel.clock.tick, places=MAX_FRAMES
            )
        self.busy_frames += 1

    def dismiss(self, thinking: Strand) -> None:
        """Stop thinking that nobody waits for any more.

        Args:
            thinking: its strand, which may have to clean up.
        """
        self.kernel.strays.take(thinking)
        thinking.stop("thinking stopped")

    def layer(self, below: Current | None) -> Current:
        """A new layer of CURRENT.

        Args:
            below: what it builds on; None for the entity as it is.
        """
        return Current(below, self.entity, self.read, self.agent.expected)

    def spawn(self, unit: Unit, activity: str, args: dict[str, Any], handle: Context | None = None) -> SpawnedFrame:
        """A frame that a unit manages by itself; see ``Context.spawn`` and ``Context.execute``.

        Args:
            handle: the context through which its author asked for it; None for ``execute``.
        """
        return SpawnedFrame(unit, activity, args, handle=handle)

    def undeclared(self, unit: Unit, fields: Mapping[str, Any]) -> Any:
        """An action without a declared output gave one.

        Raises:
            ArgumentError: always.
        """
        raise ArgumentError(
            unit.spec.activity,
            next(iter(fields)),
            f"is given to set_think_output by {unit.spec.subject}, which declares no Output. "
            f"Add a nested class Output(ThinkOutput) with it.",
        )

    # --- the floor above ----------------------------------------------------------------------------------------------

    def record(self, path: str, event: Event, detail: Detail) -> None:
        """Put a record into the trace; ask ``trace.on`` first.

        Args:
            detail: pairs of name and plain value.
        """
        self.trace.emit(TraceRecord(self.kernel.clock.tick, self.name, path, event, detail))

    def fault(self, unit: Unit | None, hook: str, error: BaseException) -> None:
        """A hook raised. Logged the first time; the plan goes on as far as it can.

        Args:
            unit: the action, or None for the planner itself.
        """
        if isinstance(error, ControlFlow):
            error.send_on()  # it was contained in the middle of what the hook is for
        else:
            self.report(self.execution.root.path() if unit is None else unit.path(), hook, error)

    def report(self, path: str, hook: str, error: BaseException) -> None:
        """As ``fault``, for a place that has no unit."""
        error = meant(error)
        if self.trace.on:
            words = error_words(error)
            self.record(path, Event.FAULT, (("hook", hook), ("error", words)))
        if self._reported is None:
            self._reported = set()
        key = (path, hook)
        is_new = key not in self._reported
        self._reported.add(key)
        self.agent.planner_fault(f"{hook} raised {type_name(error)}", path, error, is_new)

    def kill(self, aborts: int, reason: str, unit: Unit | None) -> None:
        """The planner gives up.

        Args:
            aborts: how many aborts in a row there were.
        """
        path = self.execution.root.path() if unit is None else unit.path()
        if self.trace.on:
            self.record(path, Event.KILLED, (("aborts", aborts), ("reason", reason)))
        self.agent.planner_killed(aborts, reason, path)
