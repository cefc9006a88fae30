"""What the tick-driven models have in common: whom they drive, and how they are driven.

A *body* is who is driven, as a model sees it: an agent, or a ``LoneBody`` for a model that is used by itself. A
*driver* is one model at work on one body: a goal selector, the memory of a behavior tree, the state of a selection
tree. Rules:

* ``drive`` is called once in each tick of its cadence, in the phase before the strands; it never waits.
* What a callback raises is reported once through ``body.fault``, with its path, and goes no further than the node that
  it belongs to: that one is out for this body, and nothing else changes.
* Each callback that is a coroutine runs as a *routine*, a strand of its own, which ends with what it belongs to.
* A driver keeps the state of one body, so it is *given to* one at a time: by ``agent.attach``, before that one lives,
  or by ``join``; and taken back when it has left. ``give`` is the one place that says so, for all models and for
  drivers of others' making: the mark is the attribute ``given_to`` of the driver. A class whose ``__slots__`` have no
  room for it takes no part.

Rejected: a table of all drivers beside them, which costs every idle agent some hundred bytes for each.

Source: ours; section 3, "Body".
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Protocol, TypeVar, runtime_checkable

from agentrt.body.entity import attribute_of
from agentrt.body.flags import FlagLedger, Holder
from agentrt.errors import ENDS_PROGRAM, DefinitionError, NotRunningError, WrongStateError
from agentrt.kernel.trace import Detail, TraceEvent
from agentrt.words import error_words, printable, repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

SELECTION = 0
TARGETS = 1
GOALS = 2
BEHAVIOR = 3
"""The ranks of the models: the order in which those of one agent are driven in a tick."""


NAMELESS: Final = "body"
"""What a lone body is called that nobody named."""

_LONGEST_NAME: Final = 80


P = ParamSpec("P")  # the arguments of an activity
O_co = TypeVar("O_co", covariant=True)  # what it gives


@runtime_checkable
class DeclaredActivity(Protocol[P, O_co]):
    """An activity that is declared (``agentrt.Activity``), as models see it that know nothing of a planner."""

    @property
    def name(self) -> str: ...

    def check(self, args: Mapping[str, Any]) -> None:
        """Raise ``ArgumentError`` if it does not take these arguments."""

    if TYPE_CHECKING:

        def _called(self, *args: P.args, **more: P.kwargs) -> O_co: ...


def activity_name(activity: object, args: Mapping[str, Any]) -> Any:
    """The name of an activity that is asked for; the arguments of one that is declared are checked."""
    if isinstance(activity, str) or not isinstance(activity, DeclaredActivity):
        return activity  # who performs it says what is wrong with anything else
    activity.check(args)
    return activity.name


class Body(Protocol):
    """Who is driven: an agent, or a lone body."""

    @property
    def name(self) -> str:
        """What traces and tools call it."""
        ...

    @property
    def entity(self) -> Any:
        """Any object; the models are blind to its type."""
        ...

    @property
    def number(self) -> int:
        """A number that is the same in every equal run: its entity's, or that of its arrival."""
        ...

    @property
    def flags(self) -> FlagLedger: ...

    @property
    def flags_if_made(self) -> FlagLedger | None:
        """The same, for who only looks; None while nobody ever took a flag of it."""
        ...

    @property
    def holder(self) -> Holder | None:
        """For whom all of it acts: the action that ticks a behavior tree, say; None for nobody. See ``runs_for``."""
        ...

    @property
    def kernel(self) -> Kernel | None:
        """Who steps its coroutines and keeps its time; None while it is in no runtime."""
        ...

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A callback of an author raised. Reported the first time."""

    def perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None, /) -> Awaitable[Any]:
        """Perform an activity of its planner, beside its own plan, for a holder, whose control flags it shares."""
        ...


class Driver(Protocol):
    """One model at work on one body.

    An attribute ``given_to`` is set on it: the body to which it was given, or None. See ``give``.
    """

    @property
    def name(self) -> str:
        """Begins the paths of its nodes, such as ``goals``; each driver of an agent has another one."""
        ...

    @property
    def rank(self) -> int:
        """Where it stands in a tick."""
        ...

    @property
    def precedence(self) -> int:
        """Of its claims for control flags; see ``agentrt.body.flags``."""
        ...

    @precedence.setter
    def precedence(self, precedence: int) -> None: ...

    def join(self, body: Body) -> None:
        """Begin to drive a body, which has a kernel. Nothing is decided before the first ``drive``."""

    def drive(self) -> None:
        """Decide and act, once."""

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop all that runs, for good or until it joins a body again.

        Args:
            reason: why, in words.
            then: called when the last routine has ended; at once if there is none.
        """

    def strands(self) -> list[Strand]:
        """The strands of its routines that have not ended, in the order in which they began."""
        ...

    def view(self) -> Any:
        """What it is doing, as a frozen dataclass of plain values, for snapshots."""
        ...


class LoneBody:
    """A body for a model that is used by itself, without an agent.

    Args:
        entity: any object.
        name: what traces call it.
        number: decides in which ticks a goal selector ticks in full.
        kernel: steps coroutines and keeps the time; without one, callbacks are plain functions and the tick is 0.
        report: told of the first failure of each callback: path, callback and error. By default it is a warning.
    """

    __slots__ = ("_report", "_reported", "entity", "flags", "holder", "kernel", "name", "number")

    def __init__(
        self,
        entity: Any = None,
        name: str = NAMELESS,
        number: int = 0,
        kernel: Kernel | None = None,
        report: Callable[[str, str, BaseException], object] | None = None,
    ) -> None:
        self.entity: Any = entity
        self.name: str = name
        self.number: int = number
        self.kernel: Kernel | None = kernel
        self.flags: FlagLedger = FlagLedger()
        self.holder: Holder | None = None  # it acts for nobody
        self._report = report or self._warn
        self._reported: set[tuple[str, str]] = set()

    @property
    def flags_if_made(self) -> FlagLedger:
        """Its ledger of control flags, for who only looks: that of a lone body is there from the start."""
        return self.flags

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """Report what a callback raised at a place, the first time."""
        if (path, hook) not in self._reported:
            self._reported.add((path, hook))
            self._report(path, hook, error)

    def _warn(self, path: str, hook: str, error: BaseException) -> None:
        name = called(self)
        whose = "" if name == NAMELESS else f"{name}: "
        warnings.warn(f"{whose}{path}: {hook} raised {error_words(error)}", RuntimeWarning, stacklevel=4)

    def perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None, /) -> Awaitable[Any]:
        """A lone body has no planner: it always raises ``NotRunningError``."""
        raise NotRunningError(
            f"a body without an agent cannot perform {activity!r}. Attach the model to an agent: agent.attach(...)."
        )


def called(body: Body) -> str:
    """What to call a body in a log: its name; for a lone one that nobody named, what its entity is called."""
    if body.name != NAMELESS:
        return printable(words_of(body.name, _LONGEST_NAME))
    name = attribute_of(body.entity, "name")
    return printable(words_of(name, _LONGEST_NAME)) if isinstance(name, str) and name else NAMELESS


# --- whose it is ------------------------------------------------------------------------------------------------------

_GIVEN_TO: Final = "given_to"
_GREATEST: Final = 2**63 - 1  # what a snapshot can be read back with, see ``body.codec``


def given_to(driver: object) -> object | None:
    """The body to which a driver was given; None if it is nobody's."""
    return attribute_of(driver, _GIVEN_TO)


def give(driver: object, body: Body, method: str) -> None:
    """Give a driver to a body, of which a method of the driver's was called. What it is told already is no error.

    Raises:
        WrongStateError: it is another one's.
        DefinitionError: what is to be driven is no body.
    """
    if not (hasattr(body, "flags_if_made") and hasattr(body, "fault")):  # asking for ``flags`` would make them
        raise DefinitionError(
            method,
            f"{repr_of(body, 80)} is no body that could be driven.",
            "Attach the model to an agent, agent.attach(...), or write LoneBody(entity).",
        )
    now = given_to(driver)
    if now is not None and now is not body:
        raise WrongStateError(
            method,
            f"it drives {words_of(getattr(now, 'name', now), 80)}",
            "What it remembers is of one body. Make another one, or have it leave first: attachment.detach(), or "
            "driver.leave(...), and wait until it has left.",
        )
    _mark(driver, body)


def take(driver: object, body: object) -> None:
    """A driver has left a body, or never came to drive it: it may be given to another one, if it was that one's."""
    if given_to(driver) is body:
        _mark(driver, None)


def _mark(driver: object, body: Body | None) -> None:
    try:
        setattr(driver, _GIVEN_TO, body)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a driver of somebody else's making that has no room for it
        return


def number_in(value: object, subject: str, name: str) -> int | float:
    """A number of an author by which things are put in order; NaN and what is endless have no place in one."""
    number: object = value
    if not isinstance(value, (int, float)) and hasattr(type(value), "__index__"):
        try:  # the whole numbers of other libraries
            number = operator.index(value)  # type: ignore[arg-type]
        except ENDS_PROGRAM:
            raise
        except BaseException:
            number = None
    if isinstance(number, (int, float)) and not isinstance(number, bool) and -_GREATEST <= number <= _GREATEST:
        return number
    raise DefinitionError(subject, f"{name} is {repr_of(value, 80)}.", "Write a number, such as 1.")


def require_seconds(value: object, subject: str, name: str) -> float:
    """Game seconds of an author that pass, or last: a number that is neither negative nor endless."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _GREATEST:
        return value
    what = f"a {type_name(value)}, {repr_of(value, 80)}" if not isinstance(value, (int, float)) else repr_of(value, 80)
    raise DefinitionError(subject, f"{name} is {what}.", "Write seconds: a number, 0 or more. Time never goes back.")


def tick_of(body: Body) -> int:
    """The tick that it is for a body; 0 while no kernel keeps its time."""
    kernel = body.kernel
    return 0 if kernel is None else kernel.clock.tick


def note(body: Body, path: str, event: TraceEvent, detail: Detail = ()) -> None:
    """Put a record into the trace, if anybody listens."""
    kernel = body.kernel
    if kernel is not None and kernel.trace.on:
        kernel.trace.tell(kernel.clock.tick, body.name, path, event, detail)


class Routine:
    """One coroutine of a goal or a behavior, in a strand of its own. Its first step comes in the same tick."""

    __slots__ = ("_body", "_ended", "_path", "error", "hook", "strand", "value")

    def __init__(
        self,
        body: Body,
        path: str,
        hook: str,
        coro: Coroutine[Any, Any, Any],
        ended: Callable[[Routine], object],
    ) -> None:
        kernel = body.kernel
        if kernel is None:
            coro.close()
            raise NotRunningError(
                f"{path}: {hook} is a coroutine, and nothing is there to step it. Attach the model to an agent of a "
                f"runtime, or give the lone body a kernel."
            )
        self._body = body
        self._path = path
        self._ended = ended  # called once, when it has ended, for whatever reason
        self.hook: str = hook
        self.value: Any = None  # what it returned; None until then, or if it did not return
        # what it raised, other than its cancellation, which ``body.fault`` was told of
        self.error: BaseException | None = None
        self.strand: Strand = kernel.spawn(coro, f"{body.name}: {path}", self)

    def whereabouts(self) -> tuple[str, str]:
        return self._body.name, self._path

    def stop(self, reason: str) -> None:
        """Cancel it; its clean-up runs when its turn comes. A second call does nothing."""
        self.strand.stop(reason)

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        self.value = result
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            self.error = error
            self._body.fault(self._path, self.hook, error)
        self._ended(self)
