"""The seat of an action: what an author's side asks of the plan that it runs in, and what of that plan it may hold.

An author writes actions and is given a ``Context``. What stands behind that is a machine (``activity.plan``) which the
author's side does not import, so that it can be read, and rebuilt, without it. It asks for what is declared here:

* ``Seat``  the action at one place of one agent's plan; a context belongs to one
* ``ActivityPlace``  the activity that it could perform there, with others that could
* ``SeatHome``  what all places of one agent's plan share: its kernel, its trace, its agent
* ``Possessions``  what few seats have, and is made when they first want it

A seat does what it is told and says so to the activity; it decides nothing. Everything is asked on the thread that
steps the agent, but for ``SeatHome.kernel.is_here`` and ``ActingAgent.post``, by which a context finds out that it is
called elsewhere and hands the call over.

What an author may hold of the plan stands here too, since a seat gives it: ``Node``, which looks at one place,
``ChildUtilities`` of a compound, and ``SpawnedFrame``, by which an action thinks and runs another activity.

Rejected: a context that is handed the unit itself. It was, and forty modules of authors and machine could only be
understood together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from agentrt.activity.states import FRAME_NAMES, UNIT_NAMES
from agentrt.body.budget import Asker
from agentrt.body.flags import Holder
from agentrt.errors import did_you_mean
from agentrt.kernel.traps import Waiter, suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.answering import Declared
    from agentrt.activity.author.expected import Current, CurrentFields, StateReader
    from agentrt.body.budget import SearchWork
    from agentrt.body.flags import FlagLedger
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.rng import Stream
    from agentrt.kernel.signals import Signal
    from agentrt.kernel.trace import TraceEvent, TraceHub


class ActingAgent(Asker, Protocol):
    """The agent whose plan it is."""

    @property
    def search(self) -> SearchWork | None:
        """The search work of its runtime; None when it is in none any more."""

    def signal(self, name: str) -> Signal: ...

    def logger(self, path: str) -> Any:
        """A logger bound to the agent and a path."""

    @property
    def random(self) -> Stream:
        """The agent's stream of random numbers."""
        ...

    def call(self, fn: Callable[..., object], args: tuple[Any, ...]) -> Awaitable[Any]: ...

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call a function at the next intake; from any thread."""


class PlannerOwner(ActingAgent, Protocol):
    """The agent, as its planner sees it."""

    name: str
    entity: Any

    @property
    def expected(self) -> type[CurrentFields] | None:
        """The fields of CURRENT with their types; None for any field."""

    @property
    def precedence(self) -> int:
        """Of the plan's claims for control flags."""
        ...

    @property
    def flags(self) -> FlagLedger: ...

    @property
    def read_state(self) -> StateReader:
        """How CURRENT reads the state of the entity."""
        ...

    def report(self, path: str, hook: str, error: BaseException) -> None:
        """Code of an author raised at a place of the plan: tell of it, and log it the first time."""

    def planner_killed(self, aborts: int, reason: str, path: str) -> None:
        """The planner gave up."""

    def planner_idles(self, path: str, times: int) -> None:
        """So many plans in a row ended in the tick in which they began: say so once for each place."""


class SeatHome(Protocol):
    """What all places of one agent's plan share."""

    kernel: Kernel  # steps all of it
    trace: TraceHub  # where records go

    @property
    def agent(self) -> ActingAgent: ...

    @property
    def entity(self) -> Any:
        """The entity that acts."""

    def layer(self, below: Current | None) -> Current:
        """A new layer of CURRENT, on top of another or of the entity as it is."""
        ...


class Opened(Protocol):
    """What an action opened and may close: a listener, a timer."""

    @property
    def words(self) -> tuple[str, str]:
        """What people call one of them, and several."""
        ...

    def close(self) -> None:
        """End it. A second call does nothing."""


class Progress(Protocol):
    """What an action says about itself that changes by itself: what it has asked for, and how that stands."""

    @property
    def asked(self) -> int:
        """The tick in which it asked; 0 if it does not wait any more."""
        ...

    @property
    def queued(self) -> int:
        """Its place in the queue of whom it asked, from 1; 0 if it waits for something else."""
        ...

    def words(self) -> str:
        """How it stands now, for debugging tools."""
        ...


class Suspension:
    """The waits of ``suspend``, and what resumes them: one resume for one wait."""

    __slots__ = ("_is_late", "_kept", "waiter")

    def __init__(self) -> None:
        self.waiter: Waiter | None = None  # the wait, while it lasts
        self._kept: tuple[Any] | None = None  # what the next one returns at once, because ``resume`` came before it
        self._is_late = False  # whether the last one was given up: its resume may still come

    async def wait(self) -> Any:
        if self._kept is not None:
            (value,), self._kept = self._kept, None
            return value
        self._is_late = False
        self.waiter = waiter = Waiter()
        try:
            return await suspend_on(waiter)
        finally:
            if self.waiter is waiter:
                self.waiter = None
                self._is_late = not waiter.was_notified

    def resume(self, value: object) -> bool:
        """End the wait, or the next one before it begins; says whether there is one to end."""
        if self.waiter is not None:
            return self.waiter.notify(value)
        if self._is_late or self._kept is not None:
            self._is_late = False
            return False
        self._kept = (value,)
        return True


class Possessions(Protocol):
    """What few seats have."""

    candidates: Iterator[Mapping[str, Any]] | None  # the choices that are left of ``ctx.candidates``
    cuts: int  # how often its thinking was stopped before it had an answer, since it had one
    status: tuple[str, dict[str, Any]] | None  # what ``set_status_text_key`` said
    progress: str | Progress  # what ``set_debug_progress`` said
    suspension: Suspension | None  # its waits for ``resume``; None while there was neither

    @property
    def debug(self) -> dict[str, Any]:
        """The author's own debugging data."""
        ...

    def keep(self, opened: Opened, *, is_thinking: bool) -> None:
        """Close something when the action stops thinking, or when it stops."""

    def let_go(self, opened: Opened) -> None:
        """Something was closed before that."""

    def protect(self, value: object) -> None:
        """Watch an entity, or those that a value holds."""

    def unprotect(self, value: object) -> None:
        """Watch it no more."""


class Seat(Holder, Protocol):
    """An action at one place of a plan. A holder of control flags: what acts in its name shares its own."""

    utility: float  # within its activity, without any boost
    state: int  # one of the constants of ``activity.states``
    output: object  # while it is ready or later

    @property
    def spec(self) -> Declared: ...

    @property
    def frame(self) -> ActivityPlace:
        """The activity that it could perform."""
        ...

    @property
    def context(self) -> object:
        """The context of its thinking or run at present; None before the first call of a hook."""

    @property
    def extras(self) -> Possessions | None:
        """What it has of what few seats have; None for nothing."""

    @property
    def code(self) -> object:
        """What goes on of its ``think`` or ``run``: a strand, itself while that waits without one, or None."""

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        ...

    def note(self, event: TraceEvent, **detail: object) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""

    def own_extras(self) -> Possessions:
        """The same as ``extras``, made if need be."""
        ...

    def own_current(self) -> Current: ...

    # --- what is told to it on its author's stack ---------------------------------------------------------------------

    def set_output(self, output: object) -> None:
        """It is ready."""

    def clear_output(self) -> None:
        """It is not ready any more."""

    def set_utility(self, utility: float) -> None:
        """It is so good now."""

    def spawn(self, activity: str, args: dict[str, Any], handle: object) -> SpawnedFrame:
        """A frame of its own below it; ``handle`` is the context through which it was asked for."""
        ...

    # --- what ends it -------------------------------------------------------------------------------------------------

    def reject(self, reason: str) -> None:
        """Its arguments are not valid any more, while it thinks or is ready."""

    def abort(self, reason: str) -> None:
        """The plan cannot go on because of it."""

    def disable(self, hook: str, error: BaseException) -> None:
        """A hook raised while it thinks or is ready."""

    def callback_raised(self, error: BaseException) -> None:
        """A function of its author's raised that was called by something that it opened."""

    def fault(self, hook: str, error: BaseException) -> None:
        """Code of its author's raised, and nobody is there to whom it could be raised: report it."""

    def is_unwinding(self) -> bool:
        """Whether it is on its way out."""
        ...


class ActivityPlace(Protocol):
    """One activity at one place of a plan, with the actions that could perform it."""

    activity: str  # its name
    index: int  # its number among the steps of its compound, from 1; 0 elsewhere
    state: int  # one of the constants of ``activity.states``
    expected: Current | None  # the expected state of the entity before it; None while nobody touched it
    round_open: bool  # whether immediate answers are awaited

    @property
    def planner(self) -> SeatHome:
        """What it shares with all places of the plan."""
        ...

    @property
    def parent(self) -> Seat | None:
        """The action that it is a part of; None at the root."""

    @property
    def active(self) -> Seat | None:
        """The action that is elected."""

    @property
    def args(self) -> Any:
        """What it was called with."""

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        ...


class Node:
    """One place of a plan: an activity, or an action that could perform it.

    Going up, activities and actions take turns; above the root activity there is nothing. It is read-only and holds no
    state of its own, so that it always tells what is true at this moment.

    Source: Stonehearth, AI: "AI contexts", `get_parent_node`.
    """

    __slots__ = ("_frame", "_seat")

    def __init__(self, frame: ActivityPlace, seat: Seat | None = None) -> None:
        self._frame: ActivityPlace = frame
        self._seat: Seat | None = seat  # None for the activity itself

    @property
    def name(self) -> str:
        """The activity, or what the action calls itself."""
        return self._frame.activity if self._seat is None else self._seat.spec.name

    @property
    def kind(self) -> str:
        """``activity``; for an action ``leaf``, ``compound``, ``group`` or ``task``."""
        return "activity" if self._seat is None else self._seat.spec.kind

    @property
    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        return self._frame.path() if self._seat is None else self._seat.path()

    @property
    def state(self) -> str:
        """Its state in a word, as in snapshots."""
        return FRAME_NAMES[self._frame.state] if self._seat is None else UNIT_NAMES[self._seat.state]

    @property
    def utility(self) -> float:
        """That of the action; for an activity, that of its elected action, or 0 while none is elected."""
        seat = self._frame.active if self._seat is None else self._seat
        return 0.0 if seat is None else seat.utility

    def get_parent_node(self) -> Node | None:
        """The node above it: of an action, its activity; of an activity, the action that it is a part of.

        Returns:
            The node; None above the root activity.

        Source: Stonehearth, AI: `get_parent_node`.
        """
        if self._seat is not None:
            return Node(self._frame)
        parent = self._frame.parent
        return None if parent is None else Node(parent.frame, parent)

    def __repr__(self) -> str:
        return f"<Node {self.path}: {self.kind}, {self.state}, utility {self.utility:g}>"


class ChildUtilities:
    """The utilities of a compound's steps, by activity name or by number from 1.

    A step without an elected action has utility 0. ``child_utilities[step]`` raises ``LookupError`` if there is no such
    step: a misspelt one would count as 0 for ever, and nobody would notice. ``get`` asks without obligation.
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: Sequence[ActivityPlace]) -> None:
        self._frames = frames

    def get(self, step: str | int, default: float = 0.0) -> float:
        """The utility of a step.

        Args:
            step: the activity (the first step that performs it), or the step's number from 1.
            default: what to return when there is no such step, or nothing is elected in it.
        """
        frame = self._find(step)
        return default if frame is None or frame.active is None else frame.active.utility

    def __getitem__(self, step: str | int) -> float:
        if (frame := self._find(step)) is not None:
            return 0.0 if frame.active is None else frame.active.utility
        activities = [frame.activity for frame in self._frames]
        hint = did_you_mean(step, activities) if isinstance(step, str) else ""
        raise LookupError(f"child_utilities[{repr_of(step, 80)}] names no step.{hint} It has: {self._known()}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)  # what Python asks of anything
        raise AttributeError(f"child_utilities.{name}: ask for a step by its activity, {self._known()}")

    def _find(self, step: object) -> ActivityPlace | None:
        for frame in self._frames:
            if step == frame.activity or (step == frame.index and not isinstance(step, bool)):  # True is 1 to Python
                return frame
        return None

    def _known(self) -> str:
        return ", ".join(f"{frame.activity!r} ({frame.index})" for frame in self._frames) or "no step that has thought"


class SpawnedFrame(ABC):
    """An execution frame that an action manages by itself. Made by ``ctx.spawn``.

    What may be called depends on its state::

                           idle       thinking       ready     started, running     finished
        start_thinking     works      error          error     error                error
        ready              error      waits          returns   error                error
        run                error      waits, runs    runs      error                error
        stop               ignored    works          works     unwinds              works

    Source: Stonehearth, AI: "AI contexts", `spawn`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def activity(self) -> str:
        """What it performs."""

    @property
    @abstractmethod
    def path(self) -> str:
        """Its place in the plan."""

    @property
    @abstractmethod
    def state(self) -> str:
        """Its state in a word: idle, thinking, ready, started, running, finished or switching."""

    @property
    @abstractmethod
    def elected(self) -> Node | None:
        """The action that is elected, or None."""

    @property
    @abstractmethod
    def is_impossible(self) -> bool:
        """Whether it thinks, and no action of it can become ready."""

    @property
    @abstractmethod
    def utility(self) -> float:
        """The utility of the elected action, without any boost; 0 while there is none."""

    @property
    @abstractmethod
    def think_output(self) -> Any:
        """The think output of the elected action; None while there is none."""

    @property
    @abstractmethod
    def changed(self) -> Signal:
        """Emitted when it becomes ready, or with another output, is not ready any more, cannot become so, or stopped.

        For a ``think`` that listens instead of waiting: ``ctx.listen(frame.changed, ...)``.
        """

    @abstractmethod
    def start_thinking(self) -> None:
        """Have all actions of the activity think.

        Raises:
            WrongStateError: it thinks already, or its action neither thinks nor runs any more.
            ArgumentError: the arguments do not fit.
            ActivityRecursionError: the plan is nested too deep.
        """

    @abstractmethod
    async def ready(self) -> Any:
        """Wait until an action of the activity is ready.

        Returns:
            Its think output.

        Raises:
            WrongStateError: it does not think, or was stopped meanwhile.
            ActivityImpossibleError: no action can become ready.
        """

    @abstractmethod
    async def run(self) -> Any:
        """Start the best action of the activity as soon as one is ready, and run it to its end.

        It is not stopped yet then: its ``stop`` hooks come with ``stop``, or when the action that spawned it stops.

        Returns:
            The think output of the action that performed it; None if ``stop`` ended it before.

        Raises:
            WrongStateError: it does not think, or its action does not run, or runs another one.
            ActivityImpossibleError: no action can become ready.
        """

    @abstractmethod
    async def execute(self) -> Any:
        """Think, run and stop in one go; what ``ctx.execute`` does.

        Returns:
            The think output of the action that performed it.

        Raises:
            WrongStateError: its action does not run, or executes something at this moment.
            ActivityImpossibleError: no action can become ready.
            ActivityAbortedError: it is awaited behind a shield, while the plan is unwound.
            ArgumentError: the arguments do not fit.
        """

    @abstractmethod
    def stop(self) -> None:
        """End it, whatever it does: thinking ends, what runs is unwound, what has run is stopped."""
