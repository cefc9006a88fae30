"""Units and frames: the plan tree of an agent, which is one machine of two parts.

A *frame* performs one activity at one place of a plan; its *units* are the actions that could. A compound's unit has
frames of its own below it, for its steps. The two stand in one long module since neither has a meaning without the
other: a unit never decides (it tells its frame what became of it, and does what the frame says), and a frame never
calls an author. What is chosen, and what takes over from what, is the module ``election``; what only few units have,
``extras``; units with steps, ``compound``; what runs a tree and unwinds it, ``execution``.

*A round.* ``Frame.begin`` has all actions of the activity think at once. Their immediate answers make one round: it is
over when each of them has made its first step, and each compound among them has an answer or waits for something; that
is when ``pending``, the number of answers that are out, is 0. Then the best ready unit is elected; equals are drawn by
weight. Whoever becomes ready later is compared with the elected one in the same tick (``look_again``); a tie changes
nothing. Whoever asked for the activity (``FrameOwner``: a compound, an execution, what ``ctx.spawn`` made) is told that
it is ready, that it is not any more, that there is no answer, and that it ran to its end.

*How code is stepped.* If none of a round's thinks can suspend, and no author's code is on the stack, they are asked
where the frame stands, by one generator (``first_steps``). Else they are a batch of the ready queue, the frame's
marker (``close_round``) comes behind it, and a strand is made for who suspends. In the same way a ``run`` that cannot
suspend is stepped where its unit stands (``_run_at_once``), and any other by a strand. A plan needs no strand: its
execution is an entry of the agenda itself, while it pauses.

*What is made late.* A context with the first hook, extras when something is to be put there, the path when somebody
asks for it. An output is the dict that its author gave until somebody looks at it (``Unit.given``): of those that are
ready only the elected one ever is.

*While a unit runs*, only those think on that could beat it; the others are idle until its utility falls or it ends. A
frame whose output is read by later steps keeps its unit once it is started: those steps were bound to that output.

Rules that everybody here relies on:

* Hooks are called by the functions at the top, and what they raise goes no further. What comes of it depends on the
  hook: in ``think`` and ``should_start_thinking`` it concerns the unit; in ``start`` and ``run`` it unwinds the plan;
  in ``stop`` and ``stop_thinking`` it is reported, and the unwinding goes on. A rejection in ``start`` is a refusal:
  the next best takes the place. While a plain hook is called, ``kernel.acting`` is its unit: so the context knows on
  whose stack it is called. (The kernel knows whose strand it steps.)
* Nothing that an author's code calls (``set_think_output``, ``set_utility``) changes the plan on the author's stack: it
  is noted, and the frame looks at it when the ready queue comes to that.
* ``start`` pairs with ``stop``, the begin of thinking with ``stop_thinking``, whatever is raised in between.
* Declared control flags are held from the moment in which the action begins to run until it stops; what runs below
  shares them. While somebody else holds one, the action waits in the state of running, with nothing of its own begun,
  and a better one may take its place, as always. If somebody of higher precedence needs one, the plan gives way, which
  is no failure, and is thought again in the next tick.
* An action that declares ``think_timeout`` and is not ready by then is not possible until its branch is thought again,
  also if a compound thinks again by itself meanwhile. A step that declares one has rejected its arguments then. What
  becomes ready in the very tick in which the time is over is in time: the limit is drawn at the beginning of the next.

Rejected: aborting the plan when a flag is not free. It would be thought and aborted in every tick until it is, and ten
of those kill the planner.

Source: Stonehearth, AI: "Making plans", "Comparing plans", "Leaf action example", `reject`. Limits and flags are ours.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from agentrt.activity import states
from agentrt.activity.author.arguments import NO_ARGS, take
from agentrt.activity.author.context import Context, late
from agentrt.activity.author.control import Abort, Reject, ends_thinking
from agentrt.activity.author.expected import Current
from agentrt.activity.author.seat import SeatHome
from agentrt.activity.author.utility import DECIMALS, fraction
from agentrt.activity.plan.election import (
    adjust,
    begin_anew,
    best_ready,
    boosted,
    bring_back,
    learn,
    note_cut,
    refuse,
    set_aside,
    switch,
    try_again,
)
from agentrt.activity.plan.extras import Extras, Protection, offer, protect_arguments
from agentrt.activity.plan.stepping import first_steps, outlast_and_think
from agentrt.activity.states import (
    FINISHED,
    FRAME_MASKS,
    IDLE,
    IMPOSSIBLE,
    READY,
    RUNNING,
    STARTED,
    THINKING,
    UNIT_MASKS,
)
from agentrt.body.leases import refusal_of
from agentrt.errors import ENDS_PROGRAM, ActivityRecursionError
from agentrt.kernel.kernel import Batch
from agentrt.kernel.strand import Strand
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import running
from agentrt.native import mypyc_attr
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action, ActionSpec
    from agentrt.activity.author.seat import Opened, SpawnedFrame
    from agentrt.body.flags import FlagLedger, Holder
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.trace import Detail

__all__ = [
    "MAX_DEPTH",
    "MAX_FRAMES",
    "Catcher",
    "Frame",
    "FrameOwner",
    "GroupPlace",
    "PlanHome",
    "Stack",
    "Unit",
    "call_compose_utility",
    "call_on_reject",
    "call_start",
    "limit_unit",
]


MAX_DEPTH = 64
"""How deep activities may nest."""

MAX_FRAMES = 4096
"""At how many places one agent may think and run at a time: activities that branch and recur grow faster than deep."""


def _refuse_place(frame: Frame) -> NoReturn:
    planner, places = frame.planner, None if frame.depth > MAX_DEPTH else MAX_FRAMES
    tick = planner.kernel.clock.tick
    raise ActivityRecursionError(frame.depth, agent=planner.name, path=frame.activity, tick=tick, places=places)


# --- hooks ------------------------------------------------------------------------------------------------------------


def _call(unit: Unit, hook: str, told: Callable[[Unit, BaseException], None]) -> bool:
    """Call a plain hook; whether it returned. Else ``told`` says what becomes of the unit."""
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            getattr(unit.action, hook)(unit.context or unit.make_context(), unit.frame.args)
        finally:
            kernel.acting = outer  # before anybody is told: that is not done on the author's stack
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        told(unit, error)
        return False
    return True


def _stop_thinking_raised(unit: Unit, error: BaseException) -> None:
    if isinstance(error, Abort):
        unit.abort(error.reason)
    elif not isinstance(error, Reject):  # it does not think any more
        unit.fault("stop_thinking", error)


def _stop_raised(unit: Unit, error: BaseException) -> None:
    if not isinstance(error, (Abort, Reject)):  # it is being stopped already
        unit.fault("stop", error)


def _start_raised(unit: Unit, error: BaseException) -> None:
    if isinstance(error, Reject):
        refuse(unit, error.reason)
    elif isinstance(error, Abort):
        unit.abort(error.reason)
    else:
        unit.fault("start", error)
        unit.abort(f"start raised {error_words(error)}")


def call_start(unit: Unit) -> bool:
    """Call ``start``; whether it is started. If not, it was stopped again, or the plan is being aborted."""
    unit.frame.planner.kernel.refused = None  # what it is refused from now on is why it rejects
    if _call(unit, "start", _start_raised):
        return True
    if unit.state == STARTED:
        unit.stop_think()  # the plan unwinds: ``stop`` follows, and ``stop_thinking`` has to come before it
    return False


def _forbids(unit: Unit) -> str:
    """Why an action keeps its activity from being considered; empty if it lets it be.

    One that raises keeps it out: a filter is there to keep something from happening, and does not know now.
    """
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            allows = bool(unit.action.should_start_thinking(unit.context or unit.make_context(), unit.frame.args))
        finally:
            kernel.acting = outer
    except Reject:
        allows = False
    except Abort as abort:
        unit.abort(abort.reason)
        allows = False
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.fault("should_start_thinking", error)
        return f"should_start_thinking raised {error_words(error)}, which keeps the activity out"
    return "" if allows else "it forbids the activity"


def _is_blocked(frame: Frame) -> bool:
    """Whether a filter among the actions forbids the activity."""
    for unit in frame.units:
        if not unit.spec.has_filter:
            continue
        if unit.state == IDLE:  # else its thinking goes on, and this is asked of that
            unit.retire()  # it may have been asked before, for a thinking that was then forbidden
        if reason := _forbids(unit):
            unit.own_extras().reason = reason
            if frame.planner.trace.on:
                unit.note(TraceEvent.BLOCKED)
            return True
    return False


def _call_think(unit: Unit) -> Coroutine[Any, Any, Any] | None:
    """The coroutine of ``think``, or None if it could not be made; the unit is disabled then."""
    if unit.extras is not None:
        unit.extras.asked_anew()
    try:
        return unit.action.think(unit.context or unit.make_context(), unit.frame.args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.disable("think", error)
        return None


def _call_run(unit: Unit) -> Coroutine[Any, Any, Any] | None:
    """The coroutine of ``run``, or None if it could not be made; the plan is being aborted then."""
    try:
        return unit.action.run(unit.context or unit.make_context(), unit.frame.args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.fault("run", error)
        unit.abort(f"run raised {error_words(error)}")
        return None


def call_on_reject(unit: Unit, reason: str) -> bool:
    """Call ``on_reject``; whether it is out now, or the plan is being aborted."""
    context = unit.context or unit.make_context()
    return ends_thinking(unit, "on_reject", unit.action.on_reject, context, unit.frame.args, reason)


def call_compose_utility(unit: Unit, own: float, *more: Any) -> float | None:
    """``compose_utility`` of a compound or a task group, given its own part and what ``more`` there is.

    None if it raised, or gave no number, so that what is declared has to do.
    """
    compose: Any = unit.action
    try:
        return round(fraction(compose.compose_utility(unit.frame.planner.entity, own, *more)), DECIMALS)
    except Abort as abort:
        unit.abort(abort.reason)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.fault("compose_utility", error)
    return None


def limit_unit(unit: Unit, seconds: float) -> None:
    """An action that declares a limit begins to think."""
    extras = unit.own_extras()
    if extras.timeout is None:  # a compound that thinks again by itself keeps the limit that it had
        kernel = unit.frame.planner.kernel
        extras.timeout = kernel.call_later(kernel.clock.ticks(seconds) + 1, _unit_expired, unit, seconds)


def _unit_expired(unit: Unit, seconds: float) -> None:
    if unit.state == THINKING:
        unit.withdraw(IMPOSSIBLE)
        if unit.frame.planner.trace.on:
            unit.note(TraceEvent.TIMEOUT, seconds=seconds)
        unit.own_extras().reason = f"it was not ready within {seconds:g} seconds"
        unit.stop_think()
        unit.frame.look_again()


# --- code that cannot suspend -----------------------------------------------------------------------------------------


def _think_at_once(frame: Frame, asked: list[Unit]) -> bool:
    """Ask units where the frame stands, and close the round; False, and nothing is done, if that is not possible.

    It is if none of their thinks can suspend, none still cleans up after another, and no author's code is on the stack,
    which would else be in the middle of what it does while others are asked.
    """
    kernel = frame.planner.kernel
    if not kernel.is_nobodys:
        return False
    for unit in asked:
        if unit.spec.think_code is None or (unit.leaving is not None and not unit.leaving.is_done):
            return False
        unit.leaving = None
    number = frame.round
    before, kernel.current = kernel.current, kernel.inline
    try:
        # ``types.coroutine`` says that it gives an awaitable; it gives the generator.
        steps: Any = first_steps(frame, asked, kernel)
        if kernel.host.steps_inline:
            for _ in steps:
                pass
        else:
            kernel.host.as_task(kernel.inline, list, steps)
        kernel.inline.coro = kernel.acting = None
        # Behind all of them, where ``call_soon`` would have put it: what steps draw comes after what the others draw.
        for unit in asked:
            if unit.spec.steps is not None:
                unit.own_ready()
    except BaseException:
        # What ``on_fault`` raised, or an interruption of the program: the others go on when the kernel does.
        for unit in asked:
            kernel.call_soon(unit.own_ready)
        Batch(kernel, asked).launch(frame.close_round, number)
        raise
    finally:
        kernel.current = before
        kernel.inline.coro = kernel.acting = None
    frame.close_round(number)
    return True


def record_of(spec: ActionSpec, output: object) -> Any:
    """What an author set as a think output: the record, made of its fields if it is not yet."""
    if type(output) is not dict:
        return output
    assert spec.output_type is not None
    return take(spec.output_type, output)


def _run_at_once(unit: Unit, coro: Coroutine[Any, Any, Any], execution: Stack, kernel: Kernel) -> None:
    """Step a ``run`` that cannot suspend to its end; no author's code is on the stack."""
    inline = kernel.inline
    before, kernel.current = kernel.current, inline
    kernel.acting = unit
    kernel.refused = None
    inline.owner = unit
    inline.coro = coro
    error: BaseException | None = None
    try:
        if kernel.host.steps_inline:
            coro.send(None)
        else:
            kernel.host.as_task(inline, coro.send, None)
    except StopIteration:
        error = inline.ended(None)
    except BaseException as raised:
        error = inline.ended(raised)
    kernel.acting = None
    try:
        execution.run_ended(unit, error)
        if isinstance(error, ENDS_PROGRAM):
            raise error
    finally:
        kernel.current = before


class FrameOwner(Protocol):
    """Who asked for the activity, and what it is told."""

    def frame_ready(self, frame: Frame) -> None:
        """A unit is elected, or its output changed, or another one took its place; nothing was started yet."""

    def frame_unready(self, frame: Frame) -> None:
        """The elected unit withdrew and no other is ready."""

    def frame_answered(self, frame: Frame) -> None:
        """No unit is ready: the round of immediate answers is over, or one that might have become ready gave up."""

    def frame_finished(self, frame: Frame) -> None:
        """The elected unit ran to its end."""

    def frame_rejected(self, frame: Frame) -> None:
        """No unit is ready, and all rejected their arguments; to most no more than that there is no answer."""

    def frame_utility(self, frame: Frame) -> None:
        """The utility of the elected unit changed."""


class Catcher(Protocol):
    """Who hears of an abort below it, instead of the whole plan: a spawned frame."""

    def caught(self, reason: str, unit: Unit | None, *, is_failure: bool) -> None:
        """Something below it aborted, or was taken from the agent: unwind it, and tell who awaits it."""

    def awaits_others(self, *, is_waiting: bool) -> None:
        """The action that it runs begins to await a performance, or has awaited it."""


class Stack(Protocol):
    """What a frame is run on: the plan of an agent, or a performance beside it; an ``Execution``."""

    holder: Holder | None  # for whom it is performed, so that control flags are shared
    target: Frame | None  # under which everything that runs is being stopped
    is_aborting: bool  # whether all of it is being unwound
    keeps: bool  # whether there ever was a place where somebody keeps thinking over the end of a plan
    renewing: str  # why thinking stops at this moment that may be kept, because it will begin again; empty if not
    asides: list[Frame]  # the places that are idle where some keep thinking
    stale: list[Frame]  # those of them that were there when the last plan ended
    root: Frame
    runs: list[Unit]  # whose ``run`` is under way, outermost first

    @property
    def planner(self) -> PlanHome:
        """What it shares with whatever else its agent performs."""
        ...

    @property
    def title(self) -> str:
        """What people call it."""
        ...

    def is_unwinding(self, frame: Frame) -> bool:
        """Whether a frame is being unwound."""
        ...

    def may_switch(self) -> bool:
        """Whether one more preemption may happen in this tick; counts it."""
        ...

    def unwind(self, target: Frame, reason: str) -> None:
        """Stop what runs under a frame, and call ``unwound`` then."""

    def give_up(self, frame: Frame, then: Callable[[], None]) -> None:
        """Unwind a frame for which nobody waits any more."""

    def abort(self, reason: str, unit: Unit | None) -> None:
        """Unwind all of it, and think again."""

    def replan(self, reason: str, unit: Unit) -> None:
        """The same for what was taken from the agent, which is no failure."""

    def deadlocked(self, reason: str, unit: Unit) -> None:
        """A control flag can be had only from who waits for this."""

    def run_ended(self, unit: Unit, error: BaseException | None) -> None:
        """A ``run`` ended, by itself or because it was stopped."""

    def may_execute(self) -> bool:
        """Whether one more activity may be executed in this tick; counts it."""
        ...


class PlanHome(SeatHome, Protocol):
    """What all places of one agent's plan share, as the plan sees it; the ``Planner``."""

    name: str  # the agent's
    flags: FlagLedger
    version: int  # of what the agent knows
    busy_frames: int  # at how many places it thinks or runs
    sunk_ticks: int  # after how many ticks the sunk-cost boost sets in
    precedence: int  # of the plan's claims for control flags
    known: Mapping[str, tuple[ActionSpec, ...]]  # activity to what performs it
    groups: Mapping[str, tuple[ActionSpec, ...]]  # the same for task groups

    @property
    def execution(self) -> Stack:
        """The plan itself."""
        ...

    @property
    def has_places_left(self) -> bool:
        """Whether many more places may think before there are too many."""
        ...

    def group_places(self) -> list[GroupPlace]:
        """Where in the plan task groups are considered or run."""
        ...

    def performers(self, activity: str) -> tuple[ActionSpec, ...]:
        """The actions that could perform an activity."""
        ...

    def make_unit(self, frame: Frame, spec: ActionSpec) -> Unit | None:
        """A unit for an action at a place; None if its class raised."""

    def spawn(self, unit: Unit, activity: str, args: dict[str, Any], handle: object) -> SpawnedFrame:
        """A frame that a unit manages by itself."""
        ...

    def dismiss(self, thinking: Strand) -> None:
        """Stop thinking that nobody waits for any more."""

    def look_for_circle(self, execution: Stack) -> None:
        """An execution begins to wait: if that closes a circle of waits, break it."""

    def record(self, path: str, event: TraceEvent, detail: Detail) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""

    def fault(self, unit: Unit | None, hook: str, error: BaseException) -> None:
        """A hook raised, of an action or of the planner itself."""

    def report(self, path: str, hook: str, error: BaseException) -> None:
        """The same for a place that has no unit."""

    def kill(self, aborts: int, reason: str, unit: Unit | None) -> None:
        """The planner gives up, after so many aborts in a row."""

    def ended(self) -> None:
        """The plan was told to end, and has."""


class GroupPlace(Protocol):
    """A place of the plan where a task group is considered or run."""

    @property
    def group(self) -> object:
        """Which group."""

    def look_further(self) -> None:
        """A task of it has room again: see whether to ask it."""

    def take_up_tasks(self) -> None:
        """Tasks of it came or went."""


# Not every Python counts them; to one that does not, anybody may have kept a context.
_references: Callable[[object], int] = getattr(sys, "getrefcount", lambda _value: 1 << 30)
_kept = types.SimpleNamespace(context=object())
_ALONE: Final = _references(_kept.context)  # of something that one attribute refers to, and nobody else


class Unit:
    """A leaf action at one place of a plan."""

    __slots__ = (
        "action",
        "context",
        "current",
        "extras",
        "frame",
        "is_fresh",
        "leaving",
        "output",
        "rejection",
        "running",
        "since",
        "spec",
        "state",
        "thinking",
        "utility",
    )

    def __init__(self, frame: Frame, spec: ActionSpec) -> None:
        self.frame: Frame = frame  # the activity at that place
        self.spec: ActionSpec = spec  # what the action declares
        self.action: Action = spec.cls()  # its own instance of the action
        self.state: int = IDLE  # one of the constants of the module ``states``
        self.utility: float = spec.low  # within its activity, without any boost
        self.output: Any = None  # while it is ready or later; a dict of its fields until somebody looks at it
        self.context: Context | None = None  # what the hooks of one thinking and one run are called with
        self.current: Current | None = None  # its own layer of CURRENT, or None while it has not touched it
        # the strand of ``think``, if there is one; while it waits for its first step the list of those that are asked:
        # who is stopped before its turn puts None here, and is passed over
        self.thinking: Strand | list[Unit] | None = None
        self.leaving: Strand | None = None  # of a ``think`` that was stopped: while it cleans up, the next one waits
        self.running: Strand | None = None  # the strand of ``run``, if there is one
        self.since: int = 0  # the tick in which it began to run, or to think by itself; else the frame's counts
        self.is_fresh: bool = False  # whether the output was set since it was elected, or since its owner was told
        self.rejection: str | None = None  # why it said that the arguments are to blame; None if it did not
        self.extras: Extras | None = None  # what only few units have: listeners, protections, debug words

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        if not UNIT_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, state)
        self.state = state

    def whereabouts(self) -> tuple[str, str]:
        """The agent and the path, for the watch."""
        return self.frame.planner.name, self.path()

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        return f"{self.frame.path()}/{self.spec.label}"

    def children(self) -> Iterable[Frame]:
        """The frames below it: spawned ones; in a compound, the steps too."""
        return () if self.extras is None else self.extras.frames()

    def running_child(self) -> Frame | None:
        """The frame below it that runs, if there is one."""
        return None if self.extras is None else self.extras.execute

    def expected(self) -> Current | None:
        """The state that the entity is expected to have after it ran; None while nobody touched it."""
        return self.current if self.current is not None else self.frame.expected

    def given(self) -> Any:
        """Its think output. Of those that are ready only who is elected is ever asked."""
        output = self.output = record_of(self.spec, self.output)
        return output

    def make_context(self) -> Context:
        """Make its context. It is kept: making one for each call would cost more than the call."""
        context = self.context = Context(self)
        return context

    def own_extras(self) -> Extras:
        """Its extras, made when they are first asked for."""
        extras = self.extras
        if extras is None:
            extras = self.extras = Extras()
        return extras

    def is_settled(self) -> bool:
        """Whether it can be started as it is: a ready compound cannot while nobody has looked at a changed step."""
        return True

    def round_is_over(self) -> None:
        """Nobody waits for its immediate answer any more."""

    def own_ready(self) -> None:
        """A compound whose own think has an output since has its steps think."""

    def may_change(self) -> bool:
        """Whether its thinking goes on, so that it may become ready, or ready with another output."""
        is_asked = self.state == THINKING or self.state == READY
        return is_asked and (self.thinking is not None or (self.extras is not None and self.extras.may_answer))

    def own_current(self) -> Current:
        """Its own layer of CURRENT, made when it is first asked for."""
        current = self.current
        if current is None:
            current = self.current = self.frame.planner.layer(self.frame.expected)
        return current

    def note(self, event: TraceEvent, **detail: Any) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""
        self.frame.planner.record(self.path(), event, tuple(detail.items()))

    # --- what its context asks of it ----------------------------------------------------------------------------------

    def let_go(self, opened: Opened) -> None:
        """Something that its author opened was closed before it stops."""
        self.own_extras().let_go(self, opened)

    def offer(self, choices: Iterable[Mapping[str, Any]]) -> bool:
        """It is ready with the first of several choices, if there is one. Called on the author's stack."""
        return offer(self, choices)

    def protect(self, value: object) -> None:
        """Watch an entity, or those that a value holds."""
        self.own_extras().protect(self, value)

    def unprotect(self, value: object) -> None:
        """Watch it no more."""
        self.own_extras().unprotect(self, value)

    def spawn(self, activity: str, args: dict[str, Any], handle: object) -> SpawnedFrame:
        """A frame below it that its author manages; ``handle`` is the context through which it was asked for."""
        return self.frame.planner.spawn(self, activity, args, handle)

    def abort(self, reason: str) -> None:
        """The plan cannot go on because of it."""
        self.frame.execution.abort(reason, self)

    def fault(self, hook: str, error: BaseException) -> None:
        """Code of its author's raised: report it."""
        self.frame.planner.fault(self, hook, error)

    def is_unwinding(self) -> bool:
        """Whether it is on its way out."""
        return self.frame.execution.is_unwinding(self.frame)

    # --- its control flags --------------------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger calls it."""
        return self.spec.name

    @property
    def runs_for(self) -> Holder | None:
        """The unit above it; at the root, for whom the plan is performed."""
        above = self.frame.parent
        return self.frame.execution.holder if above is None else above

    @property
    def precedence(self) -> int:
        """Of its claims: that of the agent's plan, or of whom the plan is performed for."""
        execution = self.frame.execution
        return execution.planner.precedence if execution.holder is None else execution.holder.precedence

    @property
    def is_interruptible(self) -> bool:
        """True: every plan can be unwound."""
        return True

    def give_way(self, flag: str, claimant: str) -> None:
        """Somebody of higher precedence needs a flag: unwind the plan and think again."""
        self.frame.execution.replan(f"{claimant} takes the control flag {flag}", self)

    def claim_flags(self) -> bool:
        """Take its flags; whether it has them. If not, ``begin_run`` comes when it has, or the plan is unwound."""
        frame = self.frame
        planner = frame.planner
        tick = planner.kernel.clock.tick
        refusal = planner.flags.claim(self.spec.flags, self, tick, wait=True)
        if refusal is None:
            return True
        if planner.trace.on:
            self.note(TraceEvent.REFUSED, flag=refusal.flag, holder=refusal.holder, reason=refusal.reason)
        self.own_extras().awaits_flags = True
        if refusal.is_final:
            frame.execution.deadlocked(f"{refusal.holder} waits for the plan and holds {refusal.flag}", self)
        else:
            planner.look_for_circle(frame.execution)
        return False

    def flags_granted(self) -> None:
        """A claim that waited has its flags now."""
        self.frame.planner.kernel.call_soon(self._flags_came)  # not on the stack of whoever released them

    def _flags_came(self) -> None:
        extras = self.own_extras()
        # It may have been stopped meanwhile, and even wait again.
        if extras.awaits_flags and not self.frame.planner.flags.is_waiting(self):
            extras.awaits_flags = False
            extras.was_kept_waiting = True
            self.begin_run()

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, asked: list[Unit]) -> None:
        """Start thinking. If it has a ``think``, ``asked`` takes it, and its answer comes when its turn does."""
        spec = self.spec
        self.utility = spec.low
        self.current = None
        self.rejection = None
        if spec.has_think:
            # What ``move`` does; groups and tasks, which have a ``move`` of their own, have no ``think``.
            if self.state != IDLE:
                raise states.illegal(self.path(), states.UNIT_NAMES, self.state, THINKING)
            self.state = THINKING
            self.thinking = asked
            asked.append(self)
            if spec.think_timeout is not None:
                limit_unit(self, spec.think_timeout)
            if self.frame.planner.trace.on:
                self.note(TraceEvent.THINK)
            return
        if spec.is_filter:
            self.move(THINKING)
            self.move(IMPOSSIBLE)
            return
        self.move(READY)
        self.output = self.frame.args
        if self.frame.planner.trace.on:
            self.note(TraceEvent.READY, utility=self.utility)

    def strand_name(self) -> str:
        """What to call a strand of it."""
        return self.spec.name

    def open(self, batch: Batch) -> Coroutine[Any, Any, Any] | None:
        """Its turn in a batch has come: the coroutine of ``think``, if it still is to think."""
        if self.thinking is not batch.members:
            return None
        self.thinking = None
        if self.leaving is not None:
            return self._think_after(self.leaving)
        return _call_think(self)

    def _think_after(self, leaving: Strand) -> Coroutine[Any, Any, Any] | None:
        """One instance thinks once at a time: if the think before still cleans up, behind a shield say, wait for it."""
        if leaving.is_done:
            self.leaving = None
            return _call_think(self)
        # Where each think is a strand from the beginning it is asked before its turn comes: it looks once more then.
        return outlast_and_think(self, leaving, _call_think)

    def on_strand_made(self, strand: Strand) -> None:
        """The coroutine of ``think`` suspended, or opened a scope."""
        if self.state == THINKING or self.state == READY:
            self.thinking = strand
        else:
            self._dismiss(strand)  # it was stopped while it made its first step

    def _dismiss(self, strand: Strand) -> None:
        # One that has not made its first step has nothing to clean up, and is there on some hosts only.
        is_begun = getattr(strand.coro, "cr_suspended", True) or getattr(strand.coro, "cr_running", True)
        if is_begun and (self.leaving is None or self.leaving.is_done):  # else it has not begun to think itself
            self.leaving = strand
        self.frame.planner.dismiss(strand)

    def set_output(self, output: object) -> None:
        """The author's think has an output. Called on the author's stack."""
        frame = self.frame
        watched = frame.planner.trace.on
        if frame.round_open and not watched:  # most answers: nothing looks at them before the round is over
            if self.state == THINKING:
                self.state = READY
            self.output = output
            self.is_fresh = True
            return
        is_open = frame.round_open
        # Until the round is over nobody but the thread that steps this looks at what is changed here. After that it
        # mostly is that thread still, which is seen here without the two calls that ``is_handed_over`` is made of.
        if not is_open and running.kernel is not frame.planner.kernel and self.is_handed_over(output):
            return
        if self.state == THINKING:
            self.state = READY  # what ``move`` does; compounds do not come here
        self.output = output
        self.is_fresh = True
        if watched:
            self.note(TraceEvent.READY, utility=self.utility)
        if not is_open:
            frame.look_again()

    def is_handed_over(self, output: object) -> bool:
        """Whether an output was set in another thread; then the next intake takes it."""
        planner = self.frame.planner
        if planner.kernel.is_here:
            return False
        planner.agent.post(self._take_output, self.context, output)
        return True

    def _take_output(self, context: Context, output: object) -> None:
        if self.context is context and (self.state == THINKING or self.state == READY):
            self.set_output(output)
        else:
            late(self, "set_think_output")

    def clear_output(self) -> None:
        """The author's think takes its output back. Called on the author's stack."""
        if self.state == READY:
            self.withdraw(THINKING)

    def withdraw(self, state: int) -> None:
        """It is not ready any more, but goes on thinking, or cannot be run."""
        was_ready = self.state == READY
        self.move(state)
        self.output = None
        if state == IMPOSSIBLE and self.extras is not None:
            self.extras.cuts = 0  # it has an answer
        if was_ready:
            if self.frame.planner.trace.on:
                self.note(TraceEvent.UNREADY)
            self.frame.look_again()

    def set_utility(self, utility: float) -> None:
        """The author's think or run changed the utility. Called on the author's stack."""
        if utility != self.utility:
            self.utility = utility
            if self.frame.planner.trace.on:
                self.note(TraceEvent.UTILITY, utility=utility)
            if self.state != THINKING:
                self.frame.look_again()

    def end_thinking(self, why: str = "") -> None:
        """Stop thinking, and be idle unless it is started; ``why`` there is no answer, if tools are to tell that."""
        state = self.state
        frame = self.frame
        if state == READY or state == THINKING:
            if state == THINKING:
                note_cut(self, why)
            if self.spec.steps is None:
                self.state = IDLE  # what ``move`` does; groups and tasks, which have one of their own, have steps
            else:
                self.move(IDLE)
            self.output = None
        elif state == IMPOSSIBLE:
            self.move(IDLE)
            self.retire()
            if self.extras is not None:
                self.extras.backoff.cancel()  # of one that refused to be started
                self.extras.leave_line()
            return
        # After the change of state: what the hook says through its context is ignored then.
        if self.thinking is not None or self.extras is not None or self.spec.must_stop_think or frame.planner.trace.on:
            self.stop_think()
        if _references(self.context) > _ALONE:  # what ``retire`` does
            self.context = None

    def stop_think(self) -> None:
        """Let go of its thinking, whatever its state."""
        thinking = self.thinking
        if thinking is not None:
            self.thinking = None
            if isinstance(thinking, Strand):
                self._dismiss(thinking)
        planner = self.frame.planner
        if self.extras is not None:
            self.extras.thinking_stopped(is_started=self.state >= STARTED)
        if planner.trace.on:
            self.note(TraceEvent.STOP_THINKING)
        if self.spec.has_stop_thinking:
            _call(self, "stop_thinking", _stop_thinking_raised)

    def retire(self) -> None:
        """A thinking, or the run after it, is over, and so is its context: if anybody kept it, the next has its own.

        One that nobody kept is used again: nobody can tell, and making one costs more than a call of it.
        """
        if _references(self.context) > _ALONE:
            self.context = None

    def something_closed(self) -> None:
        """Something that was opened while thinking is closed: perhaps nothing is left that could answer."""
        if self.state == THINKING and self.thinking is None:
            # Not at once: who closes it may be about to answer.
            self.frame.planner.kernel.call_soon(self._look_for_an_answer, self.context)

    def _look_for_an_answer(self, context: Context) -> None:
        if self.context is context and self.thinking is None and self.spec.has_think:
            self.think_ended(None)

    def disable(self, hook: str, error: BaseException) -> None:
        """A hook raised while thinking: out until the branch thinks again, reported once."""
        planner = self.frame.planner
        if self.state == THINKING or self.state == READY:
            self.withdraw(IMPOSSIBLE)
            if planner.trace.on:
                self.note(TraceEvent.DISABLED, hook=hook)
            planner.fault(self, hook, error)
            self.own_extras().reason = f"{hook} raised {error_words(error)}"
            self.stop_think()
            self.frame.look_again()
        else:
            planner.fault(self, hook, error)  # it is out already, and the error is one all the same

    def lose(self, entity: str) -> None:
        """An entity that it needs was destroyed: its arguments are not valid any more."""
        self.reject(f"the entity {entity} was destroyed")

    def callback_raised(self, error: BaseException) -> None:
        """A function that the author connected with ``ctx.listen`` raised."""
        if self.state == THINKING or self.state == READY:
            self.disable("a callback", error)
        else:
            self.frame.planner.fault(self, "a callback", error)
            if self.state >= STARTED:
                self.frame.execution.abort(f"a callback raised {error_words(error)}", self)

    def reject(self, reason: str) -> None:
        """The arguments are not valid any more."""
        if self.state == THINKING or self.state == READY:
            self.withdraw(IMPOSSIBLE)
            self.rejection = reason
            refusal = refusal_of(self.frame.planner.kernel)
            if refusal is not None:
                self.own_extras().refusal = refusal
            if self.frame.planner.trace.on:
                self.note(TraceEvent.REJECT, reason=reason)
            self.stop_think()
            self.frame.look_again()

    def turn_has_come(self) -> None:
        """It waited in line for a lease, and it is its turn: think again, if it only waits for that."""
        if self.state == IMPOSSIBLE:
            self.own_extras().backoff.cancel()
            try_again(self.frame, self, self.frame.round)

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """It was elected: start, then stop thinking; whether it is started, as ``call_start`` says."""
        if self.state != READY:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, STARTED)
        self.state = STARTED
        if self.frame.planner.trace.on:
            self.note(TraceEvent.START)
        if self.spec.has_start and not call_start(self):
            return False
        self._started()
        return True

    def _started(self) -> None:
        # Not before ``start``: what it listens to while it thinks holds until it has taken over.
        if self.extras is None and self.thinking is None and not self.spec.has_stop_thinking:
            if self.frame.planner.trace.on:
                self.note(TraceEvent.STOP_THINKING)
            return
        self.stop_think()
        if self.extras is not None:
            self.extras.backoff.reset()

    def take_place(self) -> bool:
        """Whether there is room for it. Asked before anything is interrupted for it; only tasks have so much room."""
        return True

    def leave_place(self) -> None:
        """It is not to be started after all."""

    def run(self) -> None:
        """Run; the owner of the frame is told when it is done."""
        if self.state != STARTED:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, RUNNING)
        self.state = RUNNING
        planner = self.frame.planner
        self.since = planner.kernel.clock.tick
        if planner.trace.on:
            self.note(TraceEvent.RUN)
        if not self.spec.flags or self.claim_flags():
            self.begin_run()

    def begin_run(self) -> None:
        """Run, now that it has its control flags."""
        spec = self.spec
        if not spec.has_run:
            self.finish()
            return
        execution = self.frame.execution
        kernel = execution.planner.kernel
        if (coro := _call_run(self)) is not None:
            execution.runs.append(self)
            code = spec.run_code
            if code is not None and kernel.is_nobodys and getattr(coro, "cr_code", None) is code:
                _run_at_once(self, coro, execution, kernel)
            else:
                self.running = kernel.spawn(coro, spec.name, self)

    def finish(self) -> None:
        """It ran to its end."""
        frame = self.frame
        planner = frame.planner
        if self.state != RUNNING or frame.state != RUNNING:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, FINISHED)
        self.state = FINISHED
        if self.spec.flags:
            planner.flags.release(self)
        if planner.trace.on:
            self.note(TraceEvent.FINISH)
        frame.state = FINISHED
        if len(frame.units) > 1 or frame.is_choosy:
            adjust(frame)  # before the owner is told, who may stop this very frame and have it think anew
        frame.owner.frame_finished(frame)

    def stop(self, state: int = IDLE) -> None:
        """Call ``stop`` and be idle again, or what else is said. Its strands have ended before."""
        self.move(state)  # first: what its own ``stop`` does through its context comes too late to mean anything
        planner = self.frame.planner
        if self.extras is not None:
            self.extras.stopped()
        if planner.trace.on:
            self.note(TraceEvent.STOP)
        if self.spec.has_stop:
            _call(self, "stop", _stop_raised)
        if self.spec.flags:
            planner.flags.release(self)  # after the hook: one that is cut off may still move the body in it
        self.output = None
        self.current = None
        if _references(self.context) > _ALONE:  # what ``retire`` does
            self.context = None

    def on_strand_end(self, strand: Strand | None, result: object, error: BaseException | None) -> None:
        """A strand of it ended, or a ``think`` in its first step."""
        if strand is not None and strand is self.running:
            self.running = None
            self.frame.execution.run_ended(self, error)
        elif strand is self.thinking:
            self.thinking = None
            if error is not None or self.state != READY:
                self.think_ended(error)

    def think_ended(self, error: BaseException | None) -> None:
        """Its ``think`` ended, by itself or with an error."""
        if error is None:
            if self.state == THINKING and (self.extras is None or not self.extras.may_answer):
                self.withdraw(IMPOSSIBLE)
                self.stop_think()
                self.frame.look_again()
        elif isinstance(error, Reject):
            self.reject(error.reason)
        elif isinstance(error, Abort):
            self.frame.execution.abort(error.reason, self)
        else:
            self.disable("think", error)

    def __repr__(self) -> str:
        return f"<Unit {self.path()}: {states.UNIT_NAMES[self.state]}, utility {self.utility}>"


@mypyc_attr(allow_interpreted_subclasses=True)
class Frame:
    """One activity at one place of a plan."""

    __slots__ = (
        "_is_looking",
        "_path",
        "active",
        "activity",
        "args",
        "aside",
        "depth",
        "execution",
        "expected",
        "has_filter",
        "index",
        "is_bound",
        "keeps",
        "owner",
        "parent",
        "pending",
        "planner",
        "protection",
        "round",
        "round_open",
        "since",
        "state",
        "units",
        "version",
    )

    is_choosy: bool = False  # whether it asks some of those that could, and more when there is reason to

    def __init__(
        self, execution: Stack, owner: FrameOwner, parent: Unit | None, activity: str, index: int, *, is_bound: bool
    ) -> None:
        self.execution: Stack = execution  # the stack that it is run on
        self.planner: PlanHome = execution.planner  # what all frames of the agent share
        self.owner: FrameOwner = owner  # who asked for the activity
        self.parent: Unit | None = parent  # the unit that it is a step of, or None at the root
        self.activity: str = activity  # what is to be performed
        self.index: int = index  # its number among the steps of its compound, from 1; 0 elsewhere
        self.is_bound: bool = is_bound  # whether later steps read its output
        self.depth: int = 0 if parent is None else parent.frame.depth + 1  # how many frames lie above it
        self.state: int = IDLE  # one of the constants of the module ``states``
        self.units: list[Unit] = []  # the actions that could, in the order in which the agent learned them
        self.active: Unit | None = None  # the elected unit
        self.args: Any = None  # what the activity was called with
        self.expected: Current | None = None  # the expected state of the entity before it; None while nobody touched it
        self.version: int = -1
        self.round_open: bool = False  # whether immediate answers are awaited
        self.pending: int = 0
        self.round: int = 0  # how often it began to think
        self.since: int = 0  # the tick in which it began to think
        self.has_filter: bool = False  # whether an action of it may forbid the activity; ``election.learn`` sees
        self.keeps: bool = False  # whether some of its actions keep their thinking over the end of a plan
        self.aside: list[Unit] | None = None  # those of its units that go on thinking while it is idle; None for none
        self._is_looking = False
        self._path: str | None = None  # it stays the same for life, and records need it all the time
        self.protection: Protection | None = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        if not FRAME_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, state)
        self.state = state

    @property
    def catcher(self) -> Catcher | None:
        """Who is told of an abort below it, instead of the whole plan."""
        return None

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        path = self._path
        if path is None:
            path = self._path = self._place()
        return path

    def _place(self) -> str:
        parent = self.parent
        if parent is None:
            return self.activity
        steps = parent.spec.steps
        label = self.activity if steps is None or not self.index else steps[self.index - 1].label
        return f"{parent.path()}/{label}"

    def note(self, event: TraceEvent, **detail: Any) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""
        self.planner.record(self.path(), event, tuple(detail.items()))

    def performers(self) -> Sequence[ActionSpec]:
        """The actions that could perform it here, in the order in which they are asked."""
        return self.planner.performers(self.activity)

    @property
    def is_running(self) -> bool:
        """Whether its elected unit was started."""
        return self.state >= STARTED

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, args: Any, expected: Current | None, *, at_once: bool = True) -> None:
        """Have all actions of the activity think; those that cannot suspend before this returns, if ``at_once``.

        Raises:
            ArgumentError: the arguments do not fit the activity.
            ActivityRecursionError: the plan is nested too deep.
        """
        planner = self.planner
        if self.version != planner.version:
            learn(self)
        units = self.units
        if units:
            spec = units[0].spec  # they all declare the same
            args = NO_ARGS if spec.takes_none and not args else spec.cls.Args.build(self.activity, args)
        # Before anything of it is changed: who is refused here has nothing to take back.
        if self.depth > MAX_DEPTH or planner.busy_frames >= MAX_FRAMES:
            _refuse_place(self)
        planner.busy_frames += 1
        if self.state != IDLE:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, THINKING)
        self.state = THINKING
        if self.keeps:
            units = bring_back(self, args, expected)
        self.args = args
        self.expected = expected
        self.since = planner.kernel.clock.tick
        self.round += 1  # calls that were put off carry the number, and find out by it that they come too late
        self.round_open = True
        self.pending = 1  # the marker's own: a compound that answers on this stack must not end the round alone
        if self.has_filter and _is_blocked(self):
            self._drop()
            self.close_answer()
            return
        if args is not NO_ARGS and not (units and units[0].spec.takes_plain):
            self.protection = protect_arguments(self)
            if self.protection is not None and self.protection.missing is not None:
                self.round_open = False
                self._drop()
                self.owner.frame_rejected(self)
                return
        self._ask_all(units, at_once=at_once)

    def _ask_all(self, units: Iterable[Unit], *, at_once: bool) -> None:
        planner = self.planner
        asked: list[Unit] = []
        watched = planner.trace.on
        number = self.round
        try:
            for unit in units:
                if watched or not unit.spec.is_plain or unit.state != IDLE:
                    unit.begin(asked)
                    if self.round != number or self.state == IDLE:
                        return  # what a step's think did has stopped this place, or begun it anew
                else:  # what ``begin`` does; most are asked so
                    unit.utility = unit.spec.low
                    unit.current = unit.rejection = None
                    unit.state = THINKING
                    unit.thinking = asked
                    asked.append(unit)
        except BaseException:  # an interruption of the program, in a step of a compound
            planner.kernel.call_soon(self._begin_once_more, number)
            raise
        if not asked:
            self.close_answer()
        elif not at_once or not _think_at_once(self, asked):
            # Behind the first steps of all: equals that answer in them are drawn, and not elected by who came first.
            Batch(planner.kernel, asked).launch(self.close_round, self.round)

    def _begin_once_more(self, number: int) -> None:
        """It was interrupted while it asked: ask them all again."""
        if self.round == number and self.state != IDLE:
            begin_anew(self)

    def _drop(self) -> None:
        """Nobody is asked: those who were set aside and taken up are not, either."""
        if self.keeps:
            for unit in self.units:
                if unit.state != IDLE:
                    unit.end_thinking()

    def close_round(self, number: int) -> None:
        """All that were asked in a round have made their first step."""
        if number == self.round and self.round_open:
            self.close_answer()

    def close_answer(self) -> None:
        """One of the immediate answers is in."""
        self.pending -= 1
        if self.pending == 0 and self.round_open:
            self.round_open = False
            execution = self.execution
            is_calm = execution.target is None and not execution.is_aborting  # as mostly: nobody need go up the tree
            if (is_calm or not execution.is_unwinding(self)) and not self.elect():
                self._nobody()

    def open_answer(self) -> bool:
        """A compound asks whether its answer belongs to the round; if so, the round waits for it."""
        if self.round_open:
            self.pending += 1
        return self.round_open

    # --- election -----------------------------------------------------------------------------------------------------

    def elect(self) -> bool:
        """Elect the best ready unit, if there is one, and tell the owner."""
        best = best_ready(self, is_patient=True)
        if best is None:
            return False
        if self.state == THINKING and not self.planner.trace.on:  # what ``elected`` does
            self.state = READY
            self.active = best
            best.is_fresh = False
        else:
            self.elected(best)
        self.owner.frame_ready(self)
        return True

    def elected(self, unit: Unit) -> None:
        """Note which unit is the best of those that are ready."""
        if self.state != READY:
            self.move(READY)
        self.active = unit
        unit.is_fresh = False
        if self.planner.trace.on:
            candidates = [one for one in self.units if one.state == READY and one.is_settled()]
            told = ", ".join(f"{one.spec.label} {one.utility:g}" for one in candidates)
            self.note(TraceEvent.ELECT, action=unit.spec.label, utility=unit.utility, ready=told)

    def look_again(self) -> None:
        """Something changed: compare the units once more when the ready queue comes to it."""
        if not self._is_looking and not self.round_open and self.state != IDLE:
            self._is_looking = True
            self.planner.kernel.call_soon(self._look)

    def _look(self) -> None:
        self._is_looking = False
        state = self.state
        if self.round_open or self.execution.is_unwinding(self):
            return
        if state == THINKING:
            if not self.elect():
                self._nobody()
        elif state == READY:
            self._look_ready()
        elif state == STARTED or state == RUNNING:
            self._look_running()

    def _look_ready(self) -> None:
        active = self.active
        assert active is not None
        best = best_ready(self)
        if best is None:
            self.move(THINKING)
            self.active = None
            self.owner.frame_unready(self)
            self._nobody()
        elif active.state != READY or best.utility > active.utility:
            self.elected(best)
            self.owner.frame_ready(self)
        elif active.is_fresh:
            active.is_fresh = False
            self.owner.frame_ready(self)
        else:
            self.owner.frame_utility(self)

    def _look_running(self) -> None:
        active = self.active
        assert active is not None
        self.owner.frame_utility(self)
        if self.is_bound:
            return
        best = best_ready(self)
        if best is not None and best.utility > boosted(self):
            switch(self, best)
        else:
            adjust(self)

    def begin_late(self, units: list[Unit]) -> None:
        """Have units think outside of a round."""
        kernel = self.planner.kernel
        asked: list[Unit] = []
        number = self.round
        for unit in units:
            if self.round != number or self.state == IDLE:
                return  # as in ``_ask_all``
            unit.since = kernel.clock.tick
            unit.begin(asked)
            if self.protection is not None and self.protection.missing is not None:
                unit.lose(self.protection.missing)  # the argument went while it did not think
        if asked:
            Batch(kernel, asked).launch()
        self.look_again()

    def look_further(self) -> None:
        """What there was to beat may be less: who asks only some looks whether more are to be asked."""

    def _nobody(self) -> None:
        """No unit is ready. If none is left, and one of them said that the arguments are to blame, others may help."""
        if (
            self.state == THINKING
            and self.units
            and all(unit.state == IMPOSSIBLE for unit in self.units)
            and any(unit.rejection is not None for unit in self.units)
        ):
            self.owner.frame_rejected(self)
        else:
            self.owner.frame_answered(self)

    def may_change(self) -> bool:
        """Whether a unit is ready or may become so by itself; else there is nothing to wait for."""
        return any(unit.state == READY or unit.may_change() for unit in self.units)

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing in it can become ready any more: who waits for it waits in vain."""
        return self.state == THINKING and not self.round_open and not self.may_change()

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Start the elected unit, or on a refusal the next best.

        Returns:
            Whether one is started; if not, the caller's unit is refused, or the plan is being aborted.
        """
        while True:
            active = self.active
            assert active is not None
            if active.state == READY and (active.spec.steps is None or active.is_settled()):
                if self.state != READY:
                    raise states.illegal(self.path(), states.FRAME_NAMES, self.state, STARTED)
                self.state = STARTED
                if active.start():
                    if len(self.units) > 1 or self.is_choosy:
                        adjust(self)  # only now: while it could still refuse, the others are who would take its place
                    return not self.execution.is_aborting  # the hooks of those who lost may abort
                if self.execution.is_aborting:
                    return False
                self.move(READY)
            # Else it withdrew, or a step of it did; the look at that is still in the ready queue.
            best = None if self.is_bound else best_ready(self)
            if best is None:
                self.move(THINKING)
                self.active = None
                return False
            self.elected(best)

    def run(self) -> None:
        """Run the elected unit; the owner is told when it is finished."""
        if self.state != STARTED:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, RUNNING)
        self.state = RUNNING
        assert self.active is not None
        self.active.run()

    def stop(self) -> None:
        """Stop whatever it is doing; strands of ``run`` have ended before. It can begin again afterwards."""
        if self.state == IDLE:
            return
        self.round_open = False
        units = set_aside(self) if self.keeps and self.execution.renewing else self.units
        if self.protection is not None and self.aside is None:
            self.protection.release()
            self.protection = None
        for unit in units:
            state = unit.state
            if state >= STARTED:
                unit.stop()
            elif state != IDLE:
                unit.end_thinking()
        self.active = None
        self.state = IDLE  # which every state may become
        self.planner.busy_frames -= 1
        if self.aside is None:
            self.args = None
            self.expected = None
        if self.version != self.planner.version:
            learn(self)  # what ``take_up`` could not let go of, since it ran

    def __repr__(self) -> str:
        return f"<Frame {self.path()}: {states.FRAME_NAMES[self.state]}>"
