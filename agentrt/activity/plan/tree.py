"""Units and frames: the plan tree of an agent, who is elected in it, what runs it. One machine, so one module.

A *frame* performs one activity at one place of a plan; its *units* are the actions that could. A compound's unit has
frames of its own below it, for its steps. A unit never decides (it tells its frame what became of it, and does what the
frame says), and a frame never calls an author. An *execution* owns the root frame; the *planner* is what all places of
one agent share. Units with steps are in ``compound``; frames that authors ask for, and what is performed beside the
plan, in ``activity.performances``. A turn of a plan, from left to right::

    begin ──> ask all ──> answers: a round ──> elect ──> start ──> run ──> finished ──> stop, or set aside ──> idle
                 │                              ▲  ▲        │                                        (and begin)
      it waits   ▼       later answers          │  │        └─ refused: the next best takes its place
              strand ──> look again ────────────┘  │
                                                   └─ a better one is ready: switch ──> unwind the old one ──> start

Its parts: hooks and how they are called; code that cannot suspend; what others are to a plan; ``Planner``; ``Unit``;
``Frame``; the candidates of a place (knowing, keeping, electing, switching, refusing); what few have; ``Execution``.

*A round.* ``Frame.begin`` has all actions of the activity think at once. Their immediate answers make one round: it is
over when each of them has made its first step, and each compound among them has an answer or waits for something; that
is when ``pending``, the number of answers that are out, is 0. Then the best ready unit is elected. Whoever becomes
ready later is compared with the elected one in the same tick (``look_again``); a tie changes nothing. Whoever asked for
the activity (``FrameOwner``: a compound, an execution, what ``ctx.spawn`` made) is told that it is ready, that it is
not any more, that there is no answer, and that it ran to its end.

*How code is stepped.* If none of a round's thinks can suspend, and no author's code is on the stack, they are asked
where the frame stands, by one coroutine (``_first_steps``). Else they are a batch of the ready queue, and the frame's
marker (``close_round``) comes behind it; who suspends then waits as itself, without a strand until somebody needs it
(``Thinker``). In the same way a ``run`` that cannot suspend is stepped where its unit stands (``_run_at_once``), and
any other by a strand. A plan needs no strand: its execution is an entry of the agenda itself, while it pauses. A
*light* place, as most are, has only leaves that think and of which nothing rare is declared: while nobody watches, its
units are asked one by one (``_light_steps``), compared and let go of by loops that do not ask for what cannot be.

*What is made late.* A context with the first hook, extras when something is to be put there, the path when somebody
asks for it. An output is the dict that its author gave until somebody looks at it (``Unit.given``): of those that are
ready only the elected one ever is.

*Election.* The highest utility wins; equals are drawn by weight from the agent's own stream. Once the elected unit has
run for half a second of game time, its boost counts. While it runs, only units whose utility could exceed its own go on
thinking (``adjust``); the others are idle until its utility falls or it ends. A frame whose output is read by later
steps keeps its unit once it is started: those steps were bound to that output. To *switch*, the old unit unwinds first:
the strands under it end, innermost first, then its ``stop`` hooks run, and only then is the new one started; all in one
tick, unless a clean-up takes longer. Who is best is asked again after the unwinding (``unwound``), since the better one
may have withdrawn meanwhile. An agent may switch only so often within one tick: two actions that overtake each other by
their own doing wait for the next, and the trace has a storm. A unit that *refuses* to be started is out for now, the
next best takes its place, and it thinks again after a delay, or as soon as the lease is free because of which it
refused.

*Kept thoughts.* Who has answered is asked anew with each plan. A thought of one second beside an action that ends every
half second would never be finished if that were so for all; so a thought that waits when a plan has run to its end goes
on (``goes_on``), unless it has a layer of CURRENT of its own, or its action ``asks`` for a fresh one with each plan. So
does one whose answer came in the very tick in which the plan ended, so that nobody has looked at it: periods of which
one is a multiple of the other are common. (Of a compound: the step that answered last in that tick, and those behind
it.) Who asks to be asked "when changed" keeps its answers, too, and thinks on beside what it cannot beat. At a place
that goes on, such a unit simply thinks on. Where the place itself is stopped, because a plan has run to its end or the
compound around it could not beat what was elected (``Execution.renewing``), the unit is *set aside*: it stays in its
state, with its arguments and their protection, though the place is idle and looks at nothing that it says. When the
place thinks again it is brought back if what it was asked is still true: equal arguments, nothing in CURRENT that a
step before has written, the same actions known there; else it begins anew. Nothing is kept over an abort, an
interruption of the plan that it is a part of, and the end of the agent; below a frame of ``ctx.spawn`` or
``ctx.execute``; in what is performed beside the plan; and when a compound takes it back by itself, because a step
before it has something else or rejected: the tree around it is not the same then. What was aside when a plan ended and
is not taken up until the next one ends is stopped (``PlanSeldom.stale``). Kept in sync: a place with units set aside is
idle, is in ``PlanSeldom.asides``, and has its ``args``, ``expected`` and ``protection``; an idle place has none of
these otherwise. Thinking that was stopped before it had an answer is counted, with the reason and since when, until it
has one (``note_cut``): nobody starves in silence.

*Unwinding*, the one way in which anything that runs is stopped before its end (preemption, abort, removal). A *target*
frame is named; if an unwinding is under way already, the frame nearer to the root wins. The strands on the stack under
it (``Execution.runs``) are stopped, innermost first, each awaited to its end; an executed frame is stopped, with its
``stop`` hooks, before the strand that executes it. Then the target goes on: it stops its old unit, hooks inner first,
and starts the new one, or the whole plan is stopped and thought again in the next tick. An abort unwinds the whole
plan, unless somebody on the way up *catches* it (``catcher_of``): who spawned that frame and wants to hear of it. Then
only that frame is unwound (``give_up``), and who awaits it gets ``ActivityAbortedError``. Strategies are run like this.
Rejected: an exception that is thrown up the stack of strands. What is to be unwound are frames with their hooks, flags
and listeners, and there is one machine that does it.

What is called in each round takes no arguments by name alone: the interpreter makes such a call the slow way.

Rules that everybody here relies on:

* What hooks raise goes no further than the functions at the top, and ``control``. In ``think`` and
  ``should_start_thinking`` it concerns the unit; in ``start`` and ``run`` it unwinds the plan; in ``stop`` and
  ``stop_thinking`` it is reported, and the unwinding goes on. A rejection in ``start`` is a refusal. While a plain hook
  is called, ``Inline.acting`` is its unit: so the context knows on whose stack it is called.
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

What only few units have is made when first needed, so that the many cost nothing for it. ``Extras`` owns it, and one
rule says when each thing ends:

* listeners and timers that were opened while thinking, when thinking stops; later ones, when the action stops. While
  one of the former is open, or a spawned frame thinks, a think that has returned may still be answered for;
* a protection, as long as the unit thinks, or is started and does not run yet;
* spawned frames, when the thinking of an action that is not elected stops, or the action does;
* limits, candidates and a place in line, with the thinking that they are for.

*Protected entities.* Those among the arguments of an activity are protected by themselves, others by
``ctx.protect_argument``. The loss of one is a rejection while an action thinks or is ready, and aborts the plan while
it is started and does not run yet. An action that runs is left alone: it may be the one that destroys it. What is gone
already is lost when it is to be protected; an argument that went while an action did not think, when it begins to.

*Asking again.* Rejected arguments and refused starts are asked again after a delay (``Backoff``); a no that repeats
more than a few times is a storm, which the trace tells. Who said no because somebody else has a lease also waits in
line for it (``line_up``), and thinks again at once when it is its turn. It keeps its place however often it is asked in
vain, also while it stops thinking only to think again (``keep_place``, ``restore_place``): so those who wait for one
thing get it in the order in which they came.

Rejected: aborting the plan when a flag is not free. It would be thought and aborted in every tick until it is, and ten
of those kill the planner. Electing and what few units have in modules of their own: each called the other two, and who
read one had to know all three.

Source: Stonehearth, AI: "Making plans", "Comparing plans", "Executing plans", "Utility", "Leaf action example",
`reject`, `protect_argument`. Limits, flags, refusing at start and keeping are ours.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from agentrt.activity import states
from agentrt.activity.author.action import ANSWERS, WAITS
from agentrt.activity.author.answering import FRESH, NO_NEWS, AnsweringSeat, Declared, moved
from agentrt.activity.author.arguments import NO_ARGS, are_equal, entities_in, entities_of, first_gone, name_of, take
from agentrt.activity.author.context import Context
from agentrt.activity.author.control import Abort, Reject, forbids
from agentrt.activity.author.expected import Current, has_changes
from agentrt.activity.author.utility import DECIMALS, SUNK_COST_SECONDS, draw
from agentrt.activity.backoff import Backoff
from agentrt.activity.states import (
    FINISHED,
    FRAME_MASKS,
    IDLE,
    IMPOSSIBLE,
    READY,
    RUNNING,
    STARTED,
    SWITCHING,
    THINKING,
    UNIT_MASKS,
)
from agentrt.body.entity import destroyed_signal
from agentrt.body.leases import refusal_of
from agentrt.errors import ENDS_PROGRAM, ActivityAbortedError, ActivityRecursionError
from agentrt.kernel.inline import Inline
from agentrt.kernel.kernel import Batch, ControlFlow
from agentrt.kernel.signals import BoundCall
from agentrt.kernel.strand import Strand, after
from agentrt.kernel.thinker import ABSENT
from agentrt.kernel.trace import Detail, TraceEvent
from agentrt.kernel.traps import KEEP, running
from agentrt.native import mypyc_attr
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.author.seat import Opened, PlannerOwner, Progress, SpawnedFrame, Suspension
    from agentrt.body.flags import Holder, Refusal
    from agentrt.body.leases import LeaseRefusal, Place
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel, Timer
    from agentrt.kernel.signals import Connection
    from agentrt.kernel.trace import TraceHub
    from agentrt.kernel.traps import Stepper


MAX_DEPTH = 64  # how deep activities may nest
MAX_FRAMES = 4096  # at how many places one agent may think and run at a time: what branches and recurs grows fast
MAX_ABORTS = 10  # after how many aborts in a row, a tick each, without a completed run that took time, it gives up
MAX_AT_ONCE = 20  # after how many plans in a row that end in the tick in which they began somebody is told
MAX_SWITCHES = 16  # how many preemptions one agent may have in one tick
MAX_EXECUTED = 4  # how many activities a plan may execute in a tick: so many times the steps that a strand may take

_DISMISSED: Final = "thinking stopped"  # the reason of the cancellation of who thinks, and is not to any more


def _refuse_place(frame: Frame) -> NoReturn:
    planner, places = frame.planner, None if frame.depth > MAX_DEPTH else MAX_FRAMES
    tick = planner.clock.tick
    raise ActivityRecursionError(frame.depth, agent=planner.name, path=frame.activity, tick=tick, places=places)


# --- hooks ------------------------------------------------------------------------------------------------------------


def _call(unit: Unit, hook: str) -> bool:
    """Call a plain hook; whether it returned."""
    inline = unit.frame.planner.inline
    outer, inline.acting = inline.acting, unit
    try:
        try:
            getattr(unit.action, hook)(unit.context or unit.make_context(), unit.frame.args)
        finally:
            inline.acting = outer  # before anybody is told: that is not done on the author's stack
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        _raised(unit, hook, error)
        return False
    return True


def _raised(unit: Unit, hook: str, error: BaseException) -> None:
    """What becomes of a unit whose ``start``, ``stop`` or ``stop_thinking`` raised."""
    if isinstance(error, Abort):
        if hook != "stop":  # it is being stopped already
            unit.abort(error.reason)
    elif isinstance(error, Reject):
        if hook == "start":  # else it does not think any more
            refuse(unit, error.reason)
    else:
        unit.fault(hook, error)
        if hook == "start":
            unit.abort(f"start raised {error_words(error)}")


def call_start(unit: Unit) -> bool:
    """Call ``start``; whether it is started. If not, it was stopped again, or the plan is being aborted."""
    unit.frame.planner.inline.refused = None  # what it is refused from now on is why it rejects
    if _call(unit, "start"):
        return True
    if unit.state == STARTED:
        unit.stop_think()  # the plan unwinds: ``stop`` follows, and ``stop_thinking`` has to come before it
    return False


def _is_blocked(frame: Frame) -> bool:
    """Whether a filter among the actions forbids the activity."""
    for unit in frame.units:
        if not unit.spec.has_filter:
            continue
        if unit.state == IDLE:  # else its thinking goes on, and this is asked of that
            unit.retire()  # it may have been asked before, for a thinking that was then forbidden
        if reason := forbids(unit, unit.action, unit.context or unit.make_context()):
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


def _is_begun(thinking: Strand) -> bool:
    """Whether a ``think`` has made its first step. On some hosts it has a strand before."""
    coro = thinking.coro
    return bool(getattr(coro, "cr_suspended", True) or getattr(coro, "cr_running", True))


def limit(unit: Unit, step: int, seconds: float, expired: Callable[..., object], *args: Any) -> None:
    """What declares a limit begins to think: an action, which is number 0 here, or a step of it."""
    extras, kernel = unit.own_extras(), unit.frame.planner.kernel
    if extras.timeouts is None:
        extras.timeouts = {}
    if step not in extras.timeouts:  # a compound that thinks again by itself keeps the limit that it had
        extras.timeouts[step] = kernel.call_later(kernel.clock.ticks(seconds) + 1, expired, *args, seconds)


def unit_expired(unit: Unit, seconds: float) -> None:
    """An action was not ready in time."""
    if unit.state == THINKING:
        unit.withdraw(IMPOSSIBLE)
        if unit.frame.planner.trace.on:
            unit.note(TraceEvent.TIMEOUT, seconds=seconds)
        unit.own_extras().reason = f"it was not ready within {seconds:g} seconds"
        unit.stop_think()
        unit.frame.look_again()


# --- code that cannot suspend -----------------------------------------------------------------------------------------


def _think_at_once(frame: Frame, asked: Sequence[Unit]) -> bool:
    """Ask units where the frame stands, and close the round; False, and nothing is done, if that is not possible.

    It is if none of their thinks can suspend, none of those before still cleans up, and no author's code is on the
    stack: that would be in the middle of what it does. Those of a light place, all of them, have not begun yet.
    """
    kernel = frame.planner.kernel
    before = kernel.current
    inline = frame.planner.inline
    if before is None or before.coro is not None or inline.acting is not None:
        return False
    is_light, is_plain = asked is frame.units, frame.manner.is_plain
    if not is_light and any(
        unit.spec.think_code is None or (unit.stepper is not ABSENT and unit.leaving() is not None) for unit in asked
    ):
        return False
    number = frame.round
    is_task = not kernel.host.steps_inline
    steps = _light_steps(frame, asked, inline, is_task) if is_light else _first_steps(frame, asked, inline, is_task)
    kernel.current = inline
    try:
        if is_task:
            kernel.host.as_task(inline, list, steps.__await__())
        else:
            for _ in steps.__await__():
                pass
        if not is_plain:
            inline.coro = inline.acting = None
            # Behind all of them, where ``call_soon`` would have put it: what steps draw comes after what others draw.
            for unit in asked:
                if unit.spec.steps is not None:
                    unit.own_ready()
    except BaseException:
        # What ``on_fault`` raised, or an interruption of the program: the others go on when the kernel does.
        for unit in asked:
            kernel.call_soon(unit.own_ready)
        if is_light:
            asked = [unit for unit in asked if _is_next(frame, unit, number)]
            _begin_light(asked, frame.since)
        Batch(kernel, asked).launch(frame.close_round, number)
        raise
    finally:
        kernel.current = before
        inline.coro = inline.acting = None
    if number == frame.round and frame.round_open:  # as ``Frame.close_round``
        frame.close_answer()
    return True


def _is_next(frame: Frame, unit: Unit, number: int) -> bool:
    """Whether a unit of a light place is still to be asked in a round, though something has happened there since."""
    is_begun = unit.state == THINKING and isinstance(unit.code, list)  # by ``begin_rest``; who asks begins it again
    if is_begun:
        unit.code = None
    return frame.round == number and frame.round_open and unit in frame.units and (is_begun or unit.state == IDLE)


def begin_rest(frame: Frame) -> None:
    """Whoever looks at a light place in the middle of its round is to find all asked: have the others begin."""
    rest = [unit for unit in frame.units if unit.state == IDLE] if frame.round_open and frame.manner.is_light else ()
    if rest:
        _begin_light(rest, frame.since)
        frame.units = (*frame.units,)  # others, for who asks them one by one at this moment


def _begin_light(units: Sequence[Unit], since: int) -> None:
    """What ``Unit.begin`` does, for those of a light place that nobody watches."""
    for unit in units:
        unit.utility = unit.spec.low
        unit.since = since
        unit.current = None
        unit.state = THINKING
        unit.code = units


async def _light_steps(frame: Frame, asked: Sequence[Unit], inline: Inline, is_task: bool) -> None:
    """As ``_first_steps``, of a light place that nobody watches: each begins when its turn comes.

    Who of them is the best is noted on the way, unless there are equals: those are drawn when the round is closed.
    """
    args, since, number = frame.args, frame.since, frame.round
    error: BaseException | None = None
    best: Unit | None = None
    top = -1.0
    for unit in asked:
        if frame.units is not asked and not _is_next(frame, unit, number):
            continue  # who was asked before it had the place stopped, or the agent forget it
        unit.utility = unit.spec.low
        unit.since = since
        unit.current = None
        unit.state = THINKING
        inline.acting = inline.owner = unit
        inline.refused = None
        context = unit.context or unit.make_context()
        if unit.extras is None:
            unit.news = context
        else:
            unit.extras.asked_anew()
        try:
            coro: Coroutine[Any, Any, Any] | None = unit.action.think(context, args)
            if type(coro) is not _COROUTINE or coro.cr_code is not unit.spec.think_code:
                _is_another(frame, unit, coro)
                continue
            inline.coro = coro
            await coro
        except BaseException as raised:
            error = inline.ended(raised)
        else:
            if is_task or inline.made is not None:
                error = inline.ended(None)
        if error is not None or unit.state != READY:
            unit.think_was_stepped(error)
            error = None
        elif unit.utility > top:
            best, top = unit, unit.utility
        elif unit.utility == top:
            best = None
    if frame.others == _ALL and frame.units is asked:
        frame.active = best


def _is_another(frame: Frame, unit: Unit, coro: Coroutine[Any, Any, Any] | None) -> None:
    """Somebody gave a class or an instance another ``think``, of whatever kind: a coroutine gets a strand."""
    begin_rest(frame)
    unit.news = NO_NEWS
    frame.others = _SOME
    frame.manner = frame.manner.unknown()
    if coro is not None:
        unit.code = frame.planner.kernel.spawn(coro, unit.spec.name, unit)


async def _first_steps(frame: Frame, asked: Sequence[Unit], inline: Inline, is_task: bool) -> None:
    """Make the first step of each, which is its last one.

    A coroutine, though it never waits: to await another one costs less than half of what any other way costs in which
    that can be stepped to its end.
    """
    is_watched = frame.planner.trace.on
    args = frame.args
    error: BaseException | None = None
    for unit in asked:
        if unit.code is not asked:
            continue  # it was told to stop by one of those before it
        unit.code = None
        inline.acting = inline.owner = unit
        inline.refused = None
        context = unit.context or unit.make_context()
        if unit.extras is not None:
            unit.extras.asked_anew()
        elif unit.spec.steps is None and not is_watched:
            unit.news = context
        try:
            coro: Coroutine[Any, Any, Any] | None = unit.action.think(context, args)
            if type(coro) is not _COROUTINE or coro.cr_code is not unit.spec.think_code:
                _is_another(frame, unit, coro)
                continue
            inline.coro = coro
            await coro
        except BaseException as raised:
            error = inline.ended(raised)
        else:
            if is_task or inline.made is not None:  # it may have opened a scope, and was given a strand for that
                error = inline.ended(None)
        if error is not None or unit.state != READY:  # to one that has its answer the end of its think is no news
            unit.think_was_stepped(error)
            error = None


def _run_at_once(unit: Unit, coro: Coroutine[Any, Any, Any], execution: Execution, kernel: Kernel) -> None:
    """Step a ``run`` that cannot suspend to its end; no author's code is on the stack."""
    inline = execution.planner.inline
    before, kernel.current = kernel.current, inline
    inline.acting = unit
    inline.refused = None
    inline.owner = unit
    inline.coro = coro
    error: BaseException | None = None
    try:
        if kernel.host.steps_inline:
            for _ in coro.__await__():  # as in ``_first_steps``
                pass
            if inline.made is not None:
                error = inline.ended(None)
        else:
            kernel.host.as_task(inline, list, coro.__await__())
            error = inline.ended(None)
    except BaseException as raised:
        error = inline.ended(raised)
    inline.coro = inline.acting = None
    try:
        execution.run_ended(unit, error)
        if error is not None and isinstance(error, ENDS_PROGRAM):
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


class Below(Protocol):
    """An activity that an action spawned. Who catches hears of an abort below it, instead of the whole plan."""

    @property
    def frame(self) -> Frame: ...

    def end(self) -> None:
        """Stop it on the caller's stack."""

    def lost(self) -> None:
        """Its plan is unwound, and it will never be over: tell who awaits it, if nothing else does."""

    def caught(self, reason: str, unit: Unit | None, *, is_failure: bool) -> None:
        """Something below it aborted, or was taken from the agent: unwind it, and tell who awaits it."""

    def awaits_others(self, *, is_waiting: bool) -> None:
        """The action that it runs begins to await a performance, or has awaited it."""


class PlanParts(Protocol):
    """What is put into a plan and cannot be known here; the module ``performances``."""

    def make_unit(self, frame: Frame, spec: Declared) -> Unit:
        """A unit for an action at a place."""
        ...

    def spawn(self, unit: Unit, activity: str, args: dict[str, Any], handle: object) -> SpawnedFrame:
        """A frame that a unit manages by itself; ``handle`` is the context through which its author asked."""
        ...

    def flags_refused(self, unit: Unit, refusal: Refusal) -> None:
        """A unit begins to wait for control flags: if that closes a circle of waits, break it."""


NO_GROUPS: Final[Mapping[str, tuple[Declared, ...]]] = {}


@mypyc_attr(allow_interpreted_subclasses=True)
class Planner:
    """What all places of one agent's plan share, and what is performed beside it.

    It holds what the agent knows, counts the places that are busy, and stands between the plan and the floor above:
    faults, records and calls to the outside go through it. Who taught what, and how long that counts, is the agent's
    business.
    """

    __slots__ = (
        "agent", "busy_frames", "clock", "entity", "execution", "group_places", "groups", "inline", "kernel", "known",
        "looks", "parts", "performances", "trace", "version",
    )  # fmt: skip

    def __init__(self, kernel: Kernel, agent: PlannerOwner, top: str, parts: PlanParts) -> None:
        self.kernel: Kernel = kernel
        # what is asked of the kernel all the time
        self.clock: Clock = kernel.clock
        self.inline: Inline = kernel.inline
        self.trace: TraceHub = kernel.trace
        self.agent: PlannerOwner = agent
        self.entity: Any = agent.entity
        self.parts: PlanParts = parts
        # activity to the actions that perform it, in the order in which they were learned
        self.known: Mapping[str, tuple[Declared, ...]] = {}
        # activity to the task groups that perform it, in the order in which the agent joined them
        self.groups: Mapping[str, tuple[Declared, ...]] = NO_GROUPS
        self.version: int = 0  # changes whenever one of these does
        # where in the plan task groups are considered or run, in the order in which they began to
        self.group_places: tuple[Unit, ...] = ()
        self.looks: int = 0  # how many of them are on the ready queue to be looked at, since something changed there
        self.busy_frames: int = 0  # at how many places of the plan it thinks or runs
        # what is performed beside the plan, in the order in which it began
        self.performances: tuple[Execution, ...] = ()
        self.execution: Execution = Execution(self, top)  # the root of the plan

    @property
    def name(self) -> str:
        return self.agent.name

    # --- knowing ------------------------------------------------------------------------------------------------------

    def learn(self, known: Mapping[str, tuple[Declared, ...]]) -> None:
        """Replace what the agent knows. Frames that think take it up at once, others when they think the next time."""
        self.known = known
        self.version += 1
        self._relearn()

    def _relearn(self) -> None:
        for execution in (self.execution, *self.performances):
            execution.relearn()

    def retune(self, known: Mapping[str, tuple[Declared, ...]], others: Mapping[Declared, Declared]) -> None:
        """As ``learn``, where some of what is known has only other numbers: who thinks or runs goes on by them.

        Whoever has placed itself within its range stands at the same place of the new one.
        """
        units = [unit for execution in (self.execution, *self.performances) for unit in execution.units()]
        changed = [(unit, unit.retune(others[unit.spec])) for unit in units if unit.spec in others]
        self.learn(known)  # the units have the new ones already, so that all of them are kept
        for unit, utility in changed:
            if unit.state in (IDLE, IMPOSSIBLE, FINISHED):
                unit.utility = utility
            else:
                unit.set_utility(utility)

    def learn_groups(self, groups: Mapping[str, tuple[Declared, ...]]) -> None:
        """Replace the task groups that the agent is in."""
        if groups != self.groups:  # who tells of a change may be the second to do so
            self.groups = groups or NO_GROUPS
            self.version += 1
            self._relearn()

    def performers(self, activity: str) -> tuple[Declared, ...]:
        """The actions that could perform an activity: what the agent knows, and then the groups that it is in."""
        known = self.known.get(activity, ())
        groups = self.groups.get(activity)
        return known if groups is None else (*known, *groups)

    def dismiss(self, thinking: Strand) -> None:
        """Stop thinking that nobody waits for any more; it may have to clean up."""
        self.kernel.strays.take(thinking)
        thinking.stop(_DISMISSED)

    def layer(self, below: Current | None) -> Current:
        return Current(below, self.entity, self.agent.read_state, self.agent.expected)

    # --- the floor above ----------------------------------------------------------------------------------------------

    def record(self, path: str, event: TraceEvent, detail: Detail) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""
        self.trace.tell(self.clock.tick, self.agent.name, path, event, detail)

    def fault(self, unit: Unit | None, hook: str, error: BaseException) -> None:
        """A hook raised, of an action or of the planner itself; the plan goes on as it can."""
        if isinstance(error, ControlFlow):
            error.send_on()  # it was contained in the middle of what the hook is for
        else:
            self.agent.report(self.execution.root.path() if unit is None else unit.path(), hook, error)


# Python 3.11 looks up a member of an enumeration by calling a function, and most records are of these.
_THINK: Final = TraceEvent.THINK
_READY: Final = TraceEvent.READY
_UTILITY: Final = TraceEvent.UTILITY
_STOP_THINKING: Final = TraceEvent.STOP_THINKING
_ELECT: Final = TraceEvent.ELECT
_START: Final = TraceEvent.START
_RUN: Final = TraceEvent.RUN
_FINISH: Final = TraceEvent.FINISH
_STOP: Final = TraceEvent.STOP

_COROUTINE: Final = types.CoroutineType

# Not every Python counts them; to one that does not, anybody may have kept a context.
_references: Final[Callable[[object], int]] = getattr(sys, "getrefcount", lambda _value: 1 << 30)
_kept = types.SimpleNamespace(context=object())
_ALONE: Final = _references(_kept.context)  # of something that one attribute refers to, and nobody else


@mypyc_attr(allow_interpreted_subclasses=True)
class Unit(AnsweringSeat):
    """A leaf action at one place of a plan."""

    __slots__ = (
        "action", "code", "current", "extras", "frame", "since",
    )  # fmt: skip

    def __init__(self, frame: Frame, spec: Declared) -> None:
        AnsweringSeat.__init__(self, spec, IDLE)
        self.frame: Frame = frame  # the activity at that place
        self.action: Action = spec.cls()  # its own instance of the action
        self.current: Current | None = None  # its own layer of CURRENT, or None while it has not touched it
        # what of its code goes on. Of ``think`` it is itself while it waits so, or a strand; before its first step it
        # is the list of those that are asked: who is stopped before its turn puts None here, and is passed over. Of
        # ``run`` it is a strand
        self.code: Unit | Strand | Sequence[Unit] | None = None
        self.since: int = 0  # the tick in which it began to think, or to run
        self.extras: Extras | None = None  # what only few units have: listeners, protections, debug words

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        if not UNIT_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, state)
        self.state: int = state

    @property
    def kernel(self) -> Kernel:
        return self.frame.planner.kernel

    @property
    def rejection(self) -> str | None:
        """Why it says that the arguments are to blame; None if it does not."""
        return self.output if self.state == IMPOSSIBLE else None

    @property
    def running(self) -> Strand | None:
        """The strand of its ``run``, if there is one."""
        code = self.code
        return code if self.state == RUNNING and isinstance(code, Strand) else None

    def whereabouts(self) -> tuple[str, str]:
        return self.frame.planner.name, self.path()

    def path(self) -> str:
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
        state = self.state
        if state == IMPOSSIBLE or state < READY:
            return None
        output = self.output
        if output is None:
            output = self.frame.args
        elif type(output) is dict:
            assert self.spec.output_type is not None
            output = take(self.spec.output_type, output)
        self.output: Any = output
        return output

    def make_context(self) -> Context:
        """Make its context. It is kept: making one for each call would cost more than the call."""
        context = Context(self)
        self.context: Any = context
        return context

    def own_extras(self) -> Extras:
        extras = self.extras
        if extras is None:
            extras = self.extras = Extras(self)
            if self.news is not FRESH:
                self.news = NO_NEWS
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
        return is_asked and (self.code is not None or (self.extras is not None and self.extras.may_answer))

    def only_waits(self) -> bool:
        """Whether its thinking has begun and goes on, and nothing came of it yet."""
        if self.state != THINKING:
            return False
        thinking = self.code
        if isinstance(thinking, Strand):
            return _is_begun(thinking)
        return thinking is self or (thinking is None and self.may_change())

    def is_news(self) -> bool:
        """Whether nobody has looked yet at its answer: neither its place, nor whoever that has told of it."""
        frame = self.frame
        above = frame.parent
        return self.news is FRESH or (self is frame.active and above is not None and above.is_news_of(frame.index))

    def is_news_of(self, step: int) -> bool:
        """Whether it is ready by an answer of that step, or of one before it, at which nobody has looked yet."""
        return False

    def is_own_news(self) -> bool:
        """Whether nobody has looked yet at what its own think answered."""
        return self.is_news()

    def asks_current(self) -> bool:
        """Whether its thinking asked CURRENT for anything."""
        return self.current is not None

    def own_current(self) -> Current:
        """Its own layer of CURRENT, made when it is first asked for."""
        current = self.current
        if current is None:
            current = self.current = self.frame.planner.layer(self.frame.expected)
        return current

    def note(self, event: TraceEvent, **detail: Any) -> None:
        self.tell(event, tuple(detail.items()))

    def tell(self, event: TraceEvent, detail: Detail = ()) -> None:
        """As ``note``, for what happens all the time: ``planner.record`` of ``path``, written out."""
        frame = self.frame
        planner = frame.planner
        path = f"{frame._path or frame.path()}/{self.spec.label}"
        planner.trace.tell(planner.clock.tick, planner.agent.name, path, event, detail)

    # --- what its context asks of it ----------------------------------------------------------------------------------

    def spawn(self, activity: str, args: dict[str, Any], handle: object) -> SpawnedFrame:
        return self.frame.planner.parts.spawn(self, activity, args, handle)

    def abort(self, reason: str) -> None:
        self.frame.execution.abort(reason, self)

    def fault(self, hook: str, error: BaseException) -> None:
        self.frame.planner.fault(self, hook, error)

    def is_unwinding(self) -> bool:
        return self.frame.execution.is_unwinding(self.frame)

    # --- its control flags --------------------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        return self.spec.name

    @property
    def runs_for(self) -> Holder | None:
        above = self.frame.parent
        return self.frame.execution.seldom.holder if above is None else above

    @property
    def precedence(self) -> int:
        """Of its claims: that of the agent's plan, or of whom the plan is performed for."""
        execution = self.frame.execution
        return (execution.seldom.holder or execution.planner.agent).precedence

    @property
    def is_interruptible(self) -> bool:
        return True

    def give_way(self, flag: str, claimant: str) -> None:
        self.frame.execution.replan(f"{claimant} takes the control flag {flag}", self)

    def claim_flags(self) -> bool:
        """Take its flags; whether it has them. If not, ``begin_run`` comes when it has, or the plan is unwound."""
        frame = self.frame
        planner = frame.planner
        tick = planner.clock.tick
        refusal = planner.agent.flags.claim(self.spec.flags, self, tick, wait=True)
        if refusal is None:
            return True
        if planner.trace.on:
            self.note(TraceEvent.REFUSED, flag=refusal.flag, holder=refusal.holder, reason=refusal.reason)
        self.own_extras().awaits_flags = True
        planner.parts.flags_refused(self, refusal)
        return False

    def flags_granted(self) -> None:
        self.frame.planner.kernel.call_soon(self._flags_came)  # not on the stack of whoever released them

    def _flags_came(self) -> None:
        extras = self.own_extras()
        # It may have been stopped meanwhile, and even wait again.
        if extras.awaits_flags and not self.frame.planner.agent.flags.is_waiting(self):
            extras.awaits_flags = False
            extras.was_kept_waiting = True
            self.begin_run()

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, asked: list[Unit]) -> None:
        """Start thinking. If it has a ``think``, ``asked`` takes it, and its answer comes when its turn does."""
        spec = self.spec
        self.utility: float = spec.low
        self.since = self.frame.planner.clock.tick
        self.current = None
        if spec.has_think:
            # What ``move`` does; groups and tasks, which have a ``move`` of their own, have no ``think``.
            if self.state != IDLE:
                raise states.illegal(self.path(), states.UNIT_NAMES, self.state, THINKING)
            self.state = THINKING
            self.code = asked
            asked.append(self)
            if spec.think_timeout is not None:
                limit(self, 0, spec.think_timeout, unit_expired, self)
            if self.frame.planner.trace.on:
                self.tell(_THINK)
            return
        if spec.is_filter:
            self.move(THINKING)
            self.move(IMPOSSIBLE)
            return
        self.move(READY)
        if self.frame.planner.trace.on:
            self.tell(_READY, (("utility", self.utility),))

    def strand_name(self) -> str:
        return self.spec.name

    def open(self, asked: object) -> Coroutine[Any, Any, Any] | None:
        """Its turn among those that are asked has come: the coroutine of ``think``, if it still is to think."""
        if self.code is not asked:
            return None
        self.code = None
        leaving = None if self.stepper is ABSENT else self.leaving()
        if leaving is None:
            return _call_think(self)
        # One instance thinks once at a time: if the think before still cleans up, behind a shield say, wait for it.
        # Where each think is a strand from the beginning it is asked before its turn comes: it looks once more then.
        return after(leaving, partial(_call_think, self))

    def waits(self, coro: Coroutine[Any, Any, Any]) -> bool:
        if self.stepper is not ABSENT or self.code is not None or (self.state != THINKING and self.state != READY):
            return False  # its entry is not free, or it was stopped while it made its first step
        self.stepper: Stepper = coro
        self.code = self
        return True

    def think_was_stepped(self, error: BaseException | None) -> None:
        """That has ended without an answer, or with an error."""
        kernel = self.frame.planner.kernel
        kernel.inline.coro = kernel.inline.acting = None
        if self.news is not FRESH:
            self.news = NO_NEWS
        try:
            if self.code is None:
                self.think_ended(error)
            elif error is not None:  # by its own doing it was stopped, and thinks anew
                self.fault("think", error)
        except ENDS_PROGRAM:
            raise
        except BaseException as fault:
            kernel.report_owner(self.spec.name, fault)
        if isinstance(error, ENDS_PROGRAM):
            raise error

    def on_strand_made(self, strand: Strand) -> None:
        if self.state == THINKING or self.state == READY:
            self.code = strand
        else:
            self._dismiss(strand)  # it was stopped while it made its first step

    def _dismiss(self, strand: Strand) -> None:
        # One that has not made its first step has nothing to clean up.
        if _is_begun(strand) and self.leaving() is None:  # else it has not begun to think itself
            self.stepper = strand
        self.frame.planner.dismiss(strand)

    def _leave(self) -> None:
        kernel = self.frame.planner.kernel
        if kernel.current is self:  # by its own doing: it does not wait
            self._dismiss(self.strand())
        else:
            kernel.strays.take(self.leave(_DISMISSED))

    def hear_output(self, context: object, output: object) -> bool:
        state = self.state
        frame = self.frame
        if self.context is not context or (state != THINKING and state != READY):
            return False
        if running.kernel is not frame.planner.kernel:
            return False  # another thread, mostly
        extras = self.extras
        if extras is not None:
            extras.candidates = None
            extras.cuts = 0
        self.set_output(output)
        return True

    def hear_utility(self, context: object, utility: float) -> bool:
        if self.context is context and self.state == THINKING and self.spec.steps is None:
            if utility != self.utility:
                self.utility = utility  # all that it means to a leaf that has no answer yet
                if self.frame.planner.trace.on:
                    self.tell(_UTILITY, (("utility", utility),))
            return True
        return False

    def set_output(self, output: object) -> None:
        frame = self.frame
        if self.state == THINKING:
            self.state = READY  # what ``move`` does; compounds do not come here
        self.output = output
        if self.news is NO_NEWS or self.news is FRESH:
            self.news: object = NO_NEWS if frame.round_open else FRESH
        if frame.planner.trace.on:
            self.tell(_READY, (("utility", self.utility),))
        if self.news is FRESH:
            if not frame.is_looking:
                frame.look_again()
        elif frame.manner.is_light and frame.planner.inline.owner is not self:
            frame.others = _SOME

    def clear_output(self) -> None:
        if self.state == READY:
            self.withdraw(THINKING)

    def withdraw(self, state: int) -> None:
        """It is not ready any more, but goes on thinking, or cannot be run."""
        was_ready = self.state == READY
        self.move(state)
        self.output = None
        self.news = NO_NEWS
        if state == IMPOSSIBLE and self.extras is not None:
            self.extras.cuts = 0  # it has an answer
        if was_ready:
            if self.frame.planner.trace.on:
                self.note(TraceEvent.UNREADY)
            self.frame.others = _SOME
            self.frame.look_again()

    def retune(self, spec: Declared) -> float:
        """Go by other numbers from now on; where the utility stands within them, which is not set yet."""
        before = self.spec
        self.spec: Declared = spec
        return moved(self.utility, before, spec)

    def set_utility(self, utility: float) -> None:
        if utility != self.utility:
            self.utility = utility
            if self.frame.planner.trace.on:
                self.tell(_UTILITY, (("utility", utility),))
            if self.state != THINKING:
                if self.frame.round_open and self.frame.planner.inline.owner is not self:
                    self.frame.others = _SOME
                self.frame.look_again()

    def end_thinking(self, why: str = "") -> None:
        """Stop thinking, and be idle unless it is started; ``why`` there is no answer, if tools are to tell that."""
        state = self.state
        if state == READY or state == THINKING:
            if state == THINKING:
                note_cut(self, why)
            if self.spec.steps is None:
                self.state = IDLE  # what ``move`` does; groups and tasks, which have one of their own, have steps
            else:
                self.move(IDLE)
            if self.news is not FRESH:
                self.news = NO_NEWS
            self.output = None
        elif state == IMPOSSIBLE:
            self.move(IDLE)
            self.output = None
            self.retire()
            if self.extras is not None:
                self.extras.cancel_backoff()  # of one that refused to be started
                self.extras.leave_line()
            return
        # After the change of state: what the hook says through its context is ignored then.
        if self.code is not None or self.extras is not None or self.spec.must_stop_think:
            self.stop_think()
        elif self.frame.planner.trace.on:
            self.tell(_STOP_THINKING)
        if _references(self.context) > _ALONE:  # what ``retire`` does
            self.context = None

    def stop_think(self) -> None:
        """Let go of its thinking, whatever its state."""
        thinking = self.code
        if thinking is not None:
            self.code = None
            if isinstance(thinking, Strand):
                self._dismiss(thinking)
            elif thinking is self:
                self._leave()
        planner = self.frame.planner
        if self.extras is not None:
            self.extras.thinking_stopped(is_started=self.state >= STARTED)
        if planner.trace.on:
            self.tell(_STOP_THINKING)
        if self.spec.has_stop_thinking:
            _call(self, "stop_thinking")

    def retire(self) -> None:
        """A thinking, or the run after it, is over, and so is its context: if anybody kept it, the next has its own.

        One that nobody kept is used again: nobody can tell, and making one costs more than a call of it.
        """
        if _references(self.context) > _ALONE:
            self.context = None

    def something_closed(self) -> None:
        """Something that was opened while thinking is closed: perhaps nothing is left that could answer."""
        if self.state == THINKING and self.code is None:
            # Not at once: who closes it may be about to answer.
            self.frame.planner.kernel.call_soon(self._look_for_an_answer, self.context)

    def _look_for_an_answer(self, context: Context) -> None:
        if self.context is context and self.code is None and self.spec.has_think:
            self.think_ended(None)

    def disable(self, hook: str, error: BaseException) -> None:
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
        if self.state == THINKING or self.state == READY:
            self.disable("a callback", error)
        else:
            self.frame.planner.fault(self, "a callback", error)
            if self.state >= STARTED:
                self.frame.execution.abort(f"a callback raised {error_words(error)}", self)

    def reject(self, reason: str) -> None:
        if self.state == THINKING or self.state == READY:
            self.withdraw(IMPOSSIBLE)
            self.output = reason
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
            self.own_extras().cancel_backoff()
            try_again(self.frame, self, self.frame.round)

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Ready and elected: start, then stop thinking; whether it is started, as ``call_start`` says."""
        self.state = STARTED
        spec = self.spec
        watched = self.frame.planner.trace.on
        if watched:
            self.tell(_START)
        if spec.has_start:
            if not call_start(self):
                return False
            watched = self.frame.planner.trace.on
        if watched or self.extras is not None or self.code is not None or spec.has_stop_thinking:
            self._started()
        return True

    def _started(self) -> None:
        # Not before ``start``: what it listens to while it thinks holds until it has taken over.
        self.stop_think()
        if self.extras is not None and self.extras.backoff is not None:
            self.extras.backoff.reset()

    def take_places(self) -> bool:
        """Take the places of the tasks that it is to do, before anything is interrupted for it; whether there is room.

        Of several agents that would all drop what they do for the one place of a task, only one does.
        """
        return all(child.active is None or child.active.take_places() for child in self.children())

    def leave_places(self) -> None:
        """It is not to be started after all."""
        if self.state == READY or self.state == THINKING:
            for child in self.children():
                for below in child.units:
                    below.leave_places()

    def run(self) -> None:
        """Started: run; the owner of the frame is told when it is done."""
        self.state = RUNNING
        planner = self.frame.planner
        self.since = planner.clock.tick
        if planner.trace.on:
            self.tell(_RUN)
        if not self.spec.flags or self.claim_flags():
            self.begin_run()

    def begin_run(self) -> None:
        spec = self.spec
        if not spec.has_run:
            self.finish()
            return
        execution = self.frame.execution
        kernel = execution.planner.kernel
        try:
            # None where somebody has replaced it.
            coro: Coroutine[Any, Any, Any] | None = self.action.run(
                self.context or self.make_context(), self.frame.args
            )
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fault("run", error)
            self.abort(f"run raised {error_words(error)}")
            return
        if coro is None:
            return
        execution.runs += (self,)
        code = spec.run_code
        if code is not None and type(coro) is _COROUTINE and coro.cr_code is code:
            before, inline = kernel.current, execution.planner.inline
            if before is not None and before.coro is None and inline.acting is None:  # as in ``_think_at_once``
                _run_at_once(self, coro, execution, kernel)
                return
        self.code = kernel.spawn(coro, spec.name, self)

    def finish(self) -> None:
        frame = self.frame
        planner = frame.planner
        if self.state != RUNNING or frame.state != RUNNING:
            raise states.illegal(self.path(), states.UNIT_NAMES, self.state, FINISHED)
        self.state = FINISHED
        if self.spec.flags:
            planner.agent.flags.release(self)
        if planner.trace.on:
            self.tell(_FINISH)
        frame.state = FINISHED
        if (len(frame.units) > 1 and frame.others != _NONE) or frame.is_choosy:
            # Before the owner is told, who may stop this very frame and have it think anew.
            if frame.others == _ALL and frame.manner.is_light and not planner.trace.on:
                dismiss_losers(frame)
            else:
                adjust(frame)
        frame.owner.frame_finished(frame)

    def stop(self, state: int = IDLE) -> None:
        """Call ``stop`` and be idle again, or what else is said. Its strands have ended before."""
        # First: what its own ``stop`` does through its context comes too late to mean anything.
        if state == IDLE and self.state >= STARTED and self.spec.steps is None:
            self.state = IDLE  # what ``move`` does, as in ``end_thinking``
        else:
            self.move(state)
        planner = self.frame.planner
        if self.extras is not None:
            self.extras.stopped()
        if planner.trace.on:
            self.tell(_STOP)
        if self.spec.has_stop:
            _call(self, "stop")
        if self.spec.flags:
            planner.agent.flags.release(self)  # after the hook: one that is cut off may still move the body in it
        self.output = None
        self.current = None
        if _references(self.context) > _ALONE:  # what ``retire`` does
            self.context = None

    def on_strand_end(self, strand: Strand, result: object, error: BaseException | None) -> None:
        """A strand of it ended."""
        if strand is self.code:
            self.code = None
            if self.state == RUNNING:
                self.frame.execution.run_ended(self, error)
            elif error is not None or self.state != READY:
                self.think_ended(error)

    def thought_ended(self, error: BaseException | None) -> None:
        code = self.code
        if code is None or code is self:  # else it was stopped by its own doing, and thinks anew
            self.code = None
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


# Which of the units of a place are not idle, as far as that is known without looking.
_NONE: Final = 0  # none but the elected one
_SOME: Final = 1  # nobody knows
# all, since all were asked in this round and none has stopped since; and in a light place's round nothing has happened
# but that each of them answered or did not, by its own think, when it was asked
_ALL: Final = 2


@dataclass(slots=True, eq=False)
class Manner:
    """What a place goes by that follows from who could perform its activity: ``learn`` sees. Equal ones are shared."""

    has_filter: bool  # whether an action of it may forbid the activity
    is_plain: bool  # whether its actions are leaves, and none that thinks can suspend
    is_light: bool  # whether each of its actions is ``Declared.is_plain``
    takes_none: bool  # whether it takes no arguments
    keeps: bool  # whether actions of it may go on thinking over the end of a plan
    least_high: float  # the least of what its actions declare as their greatest utility

    def unknown(self) -> Manner:
        """As this one, where an action does something else than its class has declared."""
        return _manner(self.has_filter, False, False, self.takes_none, self.keeps, self.least_high)


# There are few: what differs most is a number that classes declare. An old one that is forgotten is made again.
_manner: Final = lru_cache(maxsize=1024)(Manner)
_UNKNOWN: Final = Manner(False, False, False, False, False, 0.0)  # of a place that has not learned anything


@mypyc_attr(allow_interpreted_subclasses=True)
class Frame:
    """One activity at one place of a plan."""

    __slots__ = (
        "_path", "active", "activity", "args", "aside", "depth", "execution", "expected", "index",
        "is_bound", "is_choosy", "is_looking", "manner", "others", "owner", "parent", "pending", "planner",
        "protection", "round", "round_open", "since", "state", "units", "version",
    )  # fmt: skip

    def __init__(
        self, execution: Execution, owner: FrameOwner, parent: Unit | None, activity: str, index: int, *, is_bound: bool
    ) -> None:
        self.execution: Execution = execution  # the stack that it is run on
        self.planner: Planner = execution.planner  # what all frames of the agent share
        self.owner: FrameOwner = owner  # who asked for the activity
        self.parent: Unit | None = parent  # the unit that it is a step of, or None at the root
        self.activity: str = activity  # what is to be performed
        self.index: int = index  # its number among the steps of its compound, from 1; 0 elsewhere
        self.is_bound: bool = is_bound  # whether later steps read its output
        self.depth: int = 0 if parent is None else parent.frame.depth + 1  # how many frames lie above it
        self.state: int = IDLE  # one of the constants of the module ``states``
        self.units: tuple[Unit, ...] = ()  # the actions that could, in the order in which the agent learned them
        self.active: Unit | None = None  # the elected unit; at the end of a light place's round, who is to be
        self.args: Any = None  # what the activity was called with
        self.expected: Current | None = None  # the expected state of the entity before it; None while nobody touched it
        self.version: int = -1
        self.round_open: bool = False  # whether immediate answers are awaited
        self.pending: int = 0
        self.round: int = 0  # how often it began to think
        self.since: int = 0  # the tick in which it began to think
        self.manner: Manner = _UNKNOWN  # what follows from who they are
        self.others: int = _SOME  # which units but the elected one are not idle
        self.is_choosy: bool = False  # whether it asks some of those that could, and more when there is reason to
        self.aside: list[Unit] | None = None  # those of its units that go on thinking while it is idle; None for none
        self.is_looking: bool = False  # whether it is on the ready queue to compare its units once more
        self._path: str | None = None  # it stays the same for life, and records need it all the time
        self.protection: Protection | None = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        if not FRAME_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, state)
        self.state = state

    @property
    def catcher(self) -> Below | None:
        """Who is told of an abort below it, instead of the whole plan."""
        return None

    def path(self) -> str:
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
        self.planner.record(self.path(), event, tuple(detail.items()))

    def performers(self) -> Sequence[Declared]:
        """The actions that could perform it here, in the order in which they are asked."""
        return self.planner.performers(self.activity)

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, args: Any, expected: Current | None, at_once: bool = True) -> None:
        """Have all actions of the activity think; those that cannot suspend before this returns, if ``at_once``.

        Raises:
            ArgumentError: the arguments do not fit the activity.
            ActivityRecursionError: the plan is nested too deep.
        """
        planner = self.planner
        if self.version != planner.version:
            learn(self)
        units = self.units
        manner = self.manner
        if manner.takes_none and not args:
            args = NO_ARGS
        elif units:
            args = units[0].spec.cls.Args.build(self.activity, args)  # they all declare the same
        # Before anything of it is changed: who is refused here has nothing to take back.
        if self.depth > MAX_DEPTH or planner.busy_frames >= MAX_FRAMES:
            _refuse_place(self)
        planner.busy_frames += 1
        if self.state != IDLE:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, THINKING)
        self.state = THINKING
        if self.aside is not None:
            units = bring_back(self, args, expected)
        self.args = args
        self.expected = expected
        self.since = planner.clock.tick
        self.round += 1  # calls that were put off carry the number, and find out by it that they come too late
        self.round_open = True
        self.others = _SOME if self.is_choosy else _ALL
        self.pending = 1  # the marker's own: a compound that answers on this stack must not end the round alone
        if manner.has_filter and _is_blocked(self):
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
        if not (at_once and manner.is_light and units is self.units) or planner.trace.on:
            self._ask_all(units, at_once)
        elif not manner.is_plain or not _think_at_once(self, units):
            _begin_light(units, self.since)
            Batch(planner.kernel, units).launch(self.close_round, self.round)

    def _ask_all(self, units: Iterable[Unit], at_once: bool) -> None:
        asked: list[Unit] = []
        number = self.round
        try:
            if not self._begin_all(units, asked):
                return
        except BaseException:  # an interruption of the program, in a step of a compound
            self.planner.kernel.call_soon(self._begin_once_more, number)
            raise
        if not asked:
            self.close_answer()
        elif not at_once or not _think_at_once(self, asked):
            # Behind the first steps of all: equals that answer in them are drawn, and not elected by who came first.
            Batch(self.planner.kernel, asked).launch(self.close_round, number)

    def _begin_all(self, units: Iterable[Unit], asked: list[Unit]) -> bool:
        """Have units begin to think; False if what a step's think did has stopped this place, or begun it anew."""
        number = self.round
        for unit in units:
            if self.round != number or self.state == IDLE:
                break
            unit.begin(asked)
            if self.protection is not None and self.protection.missing is not None:
                unit.lose(self.protection.missing)  # the argument went while it did not think
        return self.round == number and self.state != IDLE

    def _begin_once_more(self, number: int) -> None:
        """It was interrupted while it asked: ask them all again."""
        if self.round == number and self.state != IDLE:
            begin_anew(self)

    def _drop(self) -> None:
        """Nobody is asked: those who were set aside and taken up are not, either."""
        if self.manner.keeps:
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
            best, self.active = self.active, None  # of a light place it is noted
            execution = self.execution
            is_calm = execution.target is None and not execution.is_aborting  # as mostly: nobody need go up the tree
            if is_calm or not execution.is_unwinding(self):
                self.elect(best or self._best())

    def open_answer(self) -> bool:
        """A compound asks whether its answer belongs to the round; if so, the round waits for it."""
        if self.round_open:
            self.pending += 1
        return self.round_open

    # --- election -----------------------------------------------------------------------------------------------------

    def _best(self) -> Unit | None:
        """Who is the best of those that are ready, while nobody is elected."""
        manner = self.manner
        return best_leaf(self) if manner.is_light or manner.is_plain else best_ready(self, True)

    def elect(self, best: Unit | None) -> None:
        """Elect who is the best of those that are ready while nobody is elected, and tell the owner."""
        if best is None:
            self._nobody()
            return
        if self.state != THINKING:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, READY)
        self.state = READY  # what ``elected`` does
        self.active = best
        best.news = NO_NEWS
        if self.planner.trace.on:
            self.note_elected(best)
        self.owner.frame_ready(self)

    def elected(self, unit: Unit) -> None:
        """Note which unit is the best of those that are ready."""
        if self.state != READY:
            self.move(READY)
        self.active = unit
        unit.news = NO_NEWS
        if self.planner.trace.on:
            self.note_elected(unit)

    def note_elected(self, unit: Unit) -> None:
        """Put an election into the trace, with all that could be elected."""
        label, utility = unit.spec.label, unit.utility
        if len(self.units) == 1:  # as mostly, in a plan that is deep
            ready = f"{label} {utility:g}"
        else:
            ready = ", ".join([
                f"{one.spec.label} {one.utility:g}"
                for one in self.units
                # The one that was elected is settled: it would not have been, and going through its plan is dear.
                if one is unit or (one.state == READY and (not one.spec.steps or one.is_settled()))
            ])  # fmt: skip
        if self.is_choosy:  # by ``note``: a frame of tasks adds who was not asked
            self.note(_ELECT, action=label, utility=utility, ready=ready)
            return
        planner = self.planner
        path = self._path or self.path()
        detail = (("action", label), ("utility", utility), ("ready", ready))
        planner.trace.tell(planner.clock.tick, planner.agent.name, path, _ELECT, detail)

    def look_again(self) -> None:
        """Something changed: compare the units once more when the ready queue comes to it."""
        if not self.is_looking and not self.round_open and self.state != IDLE:
            self.is_looking = True
            self.planner.looks += 1
            self.planner.kernel.call_soon(self._look)

    def _look(self) -> None:
        self.is_looking = False
        self.planner.looks -= 1
        self.compare()

    def compare(self) -> None:
        """Compare the units once more, and tell the owner what came of it."""
        state = self.state
        if self.round_open or self.execution.is_unwinding(self):
            return
        if state == THINKING:
            self.elect(self._best())
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
        elif active.news is FRESH:
            active.news = NO_NEWS
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
        asked: list[Unit] = []
        self.others = _SOME
        if not self._begin_all(units, asked):
            return
        if asked:
            Batch(self.planner.kernel, asked).launch()
        self.look_again()

    def look_further(self) -> None:
        """What there was to beat may be less: who asks only some looks whether more are to be asked."""

    def _nobody(self) -> None:
        """No unit is ready. If none is left, and one of them said that the arguments are to blame, others may help."""
        is_out = self.state == THINKING and all(unit.state == IMPOSSIBLE for unit in self.units)
        if is_out and any(unit.output is not None for unit in self.units):  # their ``rejection``
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
                    if (
                        # else all were asked, and all could beat it
                        self.others != _ALL or self.is_bound or self.manner.least_high <= active.utility
                    ) and (len(self.units) > 1 or self.is_choosy):
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
        if self.round_open:
            self.round_open = False
            self.units = (*self.units,)  # others, for who asks them one by one at this moment
        kept: list[Unit] | None = None
        active = self.active
        if self.others == _NONE and active is not None and active.state >= STARTED:
            active.stop()
        else:
            why = self.execution.renewing if self.manner.keeps and self.version == self.planner.version else ""
            for unit in self.units:
                state = unit.state
                if state >= STARTED:
                    unit.stop()
                elif state != IDLE:
                    if why and goes_on(unit, why):
                        kept = [unit] if kept is None else [*kept, unit]
                    else:
                        unit.end_thinking()
        if kept is not None:
            set_aside(self, kept)
        elif self.protection is not None:
            self.protection.release()
            self.protection = None
        self.active = None
        self.state = IDLE  # which every state may become
        self.planner.busy_frames -= 1
        if kept is None:
            self.args = None
            self.expected = None
        if self.version != self.planner.version:
            learn(self)  # what ``take_up`` could not let go of, since it ran

    def __repr__(self) -> str:
        return f"<Frame {self.path()}: {states.FRAME_NAMES[self.state]}>"


# --- the candidates of a place ----------------------------------------------------------------------------------------


def learn(frame: Frame) -> None:
    """Make units for actions that the agent has learned since, and let go of idle ones that it forgot."""
    planner = frame.planner
    frame.version = planner.version
    specs = frame.performers()
    kept = {unit.spec: unit for unit in frame.units}
    units = [kept.pop(spec, None) or make_unit(frame, spec) for spec in specs]
    frame.units = tuple([unit for unit in units if unit is not None])
    if frame.execution.seldom.asides:
        for unit in kept.values():
            end_asides(tuple(asides_below(unit)))
    frame.manner = _manner(
        any(spec.has_filter for spec in specs),
        all(spec.steps is None and not (spec.has_think and spec.think_code is None) for spec in specs),
        all(spec.is_plain for spec in specs),
        bool(specs) and specs[0].takes_none,  # they all declare the same
        keeps_thinking(frame),
        min([spec.high for spec in specs], default=0.0),
    )
    frame.others = _SOME


def make_unit(frame: Frame, spec: Declared) -> Unit | None:
    """A unit for an action at a place of the plan; None if its class raised, which is reported."""
    try:
        return frame.planner.parts.make_unit(frame, spec)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        frame.planner.agent.report(f"{frame.path()}/{spec.label}", "__init__", error)
        return None


def take_up(frame: Frame) -> Unit | None:
    """The agent's knowledge changed: let units of forgotten actions go, and have those of new ones think.

    Returns:
        The elected unit, if it is started and was forgotten: the plan around it has to be unwound.
    """
    if frame.state == IDLE or frame.version == frame.planner.version:
        return None
    before, had_filter = frame.units, frame.manner.has_filter
    learn(frame)
    now, known = set(frame.units), set(before)  # a task group may have thousands
    gone = [unit for unit in before if unit not in now]
    lost = None
    for unit in gone:
        if unit.state >= STARTED:
            lost = None if unit.state == FINISHED else unit
            frame.units = (*frame.units, unit)  # until the plan is unwound; then it learns again
            frame.version = -1
        elif unit.state != IDLE:
            unit.end_thinking()
    if frame.state in (THINKING, READY):
        if had_filter or frame.manner.has_filter or not before:
            begin_anew(frame)  # while nobody performed it, nobody could say whether its arguments fit
        else:
            frame.begin_late([unit for unit in frame.units if unit not in known])
    elif frame.active is not None and lost is None:  # else the plan is unwound, and the same may be known anew by then
        adjust(frame)
    return lost


def begin_anew(frame: Frame) -> None:
    """A filter came or went: have a place think from the beginning.

    If what it was given does not fit those who can perform it now, what it is for is not possible.
    """
    args, expected, was_ready = dict(frame.args), frame.expected, frame.state == READY  # ``stop`` forgets them
    try:
        frame.stop()
        if was_ready:
            frame.owner.frame_unready(frame)
        frame.begin(args, expected)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit, execution = frame.parent, frame.execution
        place = f"step {frame.index} ({frame.activity})" if frame.index else f"the activity {frame.activity}"
        if unit is not None and unit.state in (THINKING, READY):
            unit.disable(place, error)
        else:
            frame.planner.fault(unit, place, error)
            execution.abort(f"{place} raised {error_words(error)}", unit)


ENDED: Final = "a plan ended"
_OUTDONE: Final = "another action was elected that it could not beat"
_DONE: Final = "another action has done that step"


def keeps_thinking(frame: Frame) -> bool:
    """Whether a place has actions that keep their thinking, and will be there when the next plan is thought."""
    if not any(unit.spec.keeps for unit in frame.units):
        if frame.aside is not None:
            end_asides([frame])
        return False
    node = frame
    while node.parent is not None and node.index:  # what is spawned has no index, and is made anew each time
        node = node.parent.frame
    return node is frame.planner.execution.root


def goes_on(unit: Unit, why: str) -> bool:
    """Whether the thinking of a unit goes on though that of others stops for a reason that lets it be kept."""
    keeps = unit.spec.keeps
    if keeps == ANSWERS:
        return unit.state == THINKING or unit.state == READY
    return (
        keeps == WAITS
        and why != _OUTDONE
        and not unit.asks_current()  # else it thinks of a world that may not come to be
        and (unit.is_own_news() if unit.state == READY else unit.only_waits())
    )


def set_aside(frame: Frame, kept: list[Unit]) -> None:
    """Its place is stopped: some of its units go on thinking."""
    for unit in kept:
        unit.round_is_over()
    frame.aside = kept
    seldom = frame.execution.more()
    seldom.asides = (*seldom.asides, frame)


def outdone(frame: Frame, unit: Unit) -> None:
    """A unit cannot beat what is elected: it stops thinking; below it some may keep theirs."""
    execution = frame.execution
    if frame.state == FINISHED:
        execution.renewing = _DONE if frame.index else ENDED
    else:
        execution.renewing = _OUTDONE
    try:
        unit.end_thinking()
    finally:
        execution.renewing = ""


def bring_back(frame: Frame, args: Any, expected: Current | None) -> tuple[Unit, ...]:
    """A place thinks again: who was set aside goes on, if what it was asked is still true; the others are returned."""
    kept = _bring_back(frame)
    is_same = not (has_changes(frame.expected, None) or has_changes(expected, None)) and are_equal(frame.args, args)
    for unit in kept:
        if unit.state != IDLE and (not is_same or unit.state == IMPOSSIBLE):  # idle: it was to think again by itself
            unit.end_thinking("its arguments are others now")
    return tuple([unit for unit in frame.units if unit.state == IDLE])


def _bring_back(frame: Frame) -> list[Unit]:
    """Who was set aside at a place, which is not in the books of those any more."""
    seldom = frame.execution.more()
    kept, frame.aside = frame.aside or [], None
    seldom.asides = tuple([one for one in seldom.asides if one is not frame])
    seldom.stale = tuple([one for one in seldom.stale if one is not frame])
    if frame.protection is not None:
        frame.protection.release()
        frame.protection = None
    return kept


def asides_below(unit: Unit) -> Iterator[Frame]:
    """The places below a unit where somebody was set aside."""
    for frame in unit.children():
        if frame.aside is not None:
            yield frame
        for below in frame.units:
            yield from asides_below(below)


def end_asides(frames: Iterable[Frame]) -> None:
    """Stop what was set aside and not taken up."""
    for frame in frames:
        for unit in _bring_back(frame):
            if unit.state != IDLE:  # else it was to think again by itself, and has stopped for that
                unit.end_thinking("its place in the plan was not come to again")
        frame.args = frame.expected = None


def note_cut(unit: Unit, why: str) -> None:
    """The thinking of a unit is stopped before it had an answer; ``why``, if who stops it knows a reason."""
    extras, execution = unit.own_extras(), unit.frame.execution
    if not extras.cuts:
        extras.cut_since = unit.since
    extras.cuts += 1
    if why:
        extras.cut_reason = why
    elif execution.renewing:
        extras.cut_reason = execution.renewing
    elif execution.is_aborting:
        extras.cut_reason = "the plan was aborted"
    else:
        extras.cut_reason = ENDED if execution.root.state == FINISHED else "the plan around it was thought again"


_NOBODY: Final = 2.0  # a bar that no utility can exceed: the greatest is 1


def best_ready(frame: Frame, is_patient: bool = False) -> Unit | None:
    """The ready unit with the highest utility, or None; equals are drawn by weight.

    A plan of which a step has changed in this moment does not count: it says in the same tick whether it is ready
    still. If ``is_patient``, such a plan is waited for when it is better than all others. In a plan that was started,
    an action does not count for a step that others come after if it, or the one that was elected, expects a changed
    entity: those were planned for what the elected one expects.
    """
    best: Unit | None = None
    equals: list[Unit] | None = None
    top = unsettled = -1.0
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    active = frame.active
    for unit in frame.units:
        if unit.state != READY:
            continue
        if unit is not active:
            unit.news = NO_NEWS
        utility = unit.utility
        if utility < top:
            continue
        if is_planned and _changes_too_much(frame, unit):
            continue
        if unit.spec.steps is not None and not unit.is_settled():
            unsettled = max(unsettled, utility)
        elif utility > top:
            best, top, equals = unit, utility, None
        elif equals is not None:
            equals.append(unit)
        elif best is not None:
            equals = [best, unit]
    if is_patient and unsettled > top:
        return None
    if equals is None:
        return best
    return draw(equals, [unit.spec.weight for unit in equals], frame.planner.agent.random)


def best_leaf(frame: Frame) -> Unit | None:
    """As ``best_ready``, of leaves of which none is elected."""
    best: Unit | None = None
    equals: list[Unit] | None = None
    top = -1.0
    for unit in frame.units:
        if unit.state == READY:
            unit.news = NO_NEWS
            utility = unit.utility
            if utility > top:
                best, top, equals = unit, utility, None
            elif utility == top:
                assert best is not None
                equals = [best, unit] if equals is None else [*equals, unit]
    if equals is None:
        return best
    return draw(equals, [unit.spec.weight for unit in equals], frame.planner.agent.random)


def comes_too_late(frame: Frame, unit: Unit) -> bool:
    """Whether a unit does not count, because the steps after it were planned for another state of the entity."""
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    return is_planned and _changes_too_much(frame, unit)


def _changes_too_much(frame: Frame, unit: Unit) -> bool:
    """Whether the steps after it would find another state of the entity than that for which they were planned."""
    before = frame.expected
    layers = [one.expected() for one in (unit, frame.active) if one is not None]
    return any(layer is not before and has_changes(layer, before) for layer in layers)


def _has_steps_after(frame: Frame) -> bool:
    """Whether steps of the plan come after it, beside it or further up."""
    node = frame
    while node.index and node.parent is not None:
        steps = node.parent.spec.steps
        if steps is not None and node.index < len(steps):
            return True
        node = node.parent.frame
    return False


def boosted(frame: Frame) -> float:
    """The utility of the elected unit, with its boost once it has run for a while."""
    active = frame.active
    assert active is not None
    if active.state == RUNNING:
        clock = frame.planner.clock
        if clock.tick - active.since >= clock.ticks(SUNK_COST_SECONDS):
            return round(active.utility + active.spec.boost, DECIMALS)
    return active.utility


def adjust(frame: Frame) -> None:
    """While a unit is started: let think who could beat it, and nobody else but who keeps its thinking."""
    active = frame.active
    assert active is not None
    is_over = frame.state == FINISHED
    bar = _NOBODY if frame.is_bound or is_over else active.utility
    idle: list[Unit] = []
    why = "" if not frame.manner.keeps else ENDED if is_over else _OUTDONE
    watched = frame.planner.trace.on
    frame.others = _NONE  # until one is found, or begun by what is called here
    for unit in frame.units:
        state = unit.state
        spec = unit.spec
        if state == READY or state == THINKING:
            if spec.high > bar:
                frame.others = _SOME
            elif (
                state == READY and spec.is_plain
                and not (unit.news is FRESH or watched or unit.extras is not None or unit.code is not None)
            ):  # fmt: skip
                unit.state = IDLE  # what ``end_thinking`` does; most are stopped so
                unit.output = None
                if _references(unit.context) > _ALONE:
                    unit.context = None
            elif why and goes_on(unit, why):
                frame.others = _SOME
            else:
                outdone(frame, unit)
        elif state == IDLE:
            if spec.high > bar:
                idle.append(unit)
        elif unit is not active:
            frame.others = _SOME
    if idle:
        frame.begin_late(idle)
    if frame.is_choosy:
        frame.others = _SOME
        frame.look_further()


def dismiss_losers(frame: Frame) -> None:
    """As ``adjust``, at a light place of which the elected one has run to its end."""
    frame.others = _NONE
    active = frame.active
    for unit in frame.units:
        if unit.state == READY and unit.news is NO_NEWS and unit.extras is None and unit.code is None:
            unit.state = IDLE  # what ``end_thinking`` does
            unit.output = None
            if _references(unit.context) > _ALONE:
                unit.context = None
        elif unit.state == IMPOSSIBLE:
            frame.others = _SOME
        elif unit is not active:
            adjust(frame)
            return


def try_again(frame: Frame, unit: Unit, number: int) -> None:
    """Have a unit think again that refused to be started, in the round of that number."""
    if number != frame.round or unit.state != IMPOSSIBLE or unit not in frame.units or frame.state in (IDLE, FINISHED):
        return
    place = keep_place(unit)
    unit.end_thinking()
    restore_place(unit, place)
    if frame.active is not None and frame.state != READY:
        adjust(frame)
        if unit.state == IDLE and place is not None:
            place.close()  # it could not beat what runs, and is not asked
    else:
        frame.begin_late([unit])


def _give_up_places(frame: Frame) -> None:
    """Somebody else than the one that took places was elected, here or below: nobody else needs them."""
    for unit in frame.units:
        if unit is not frame.active:
            unit.leave_places()
        else:
            for child in unit.children():
                _give_up_places(child)


def switch(frame: Frame, best: Unit) -> None:
    """A better unit takes over: the old one unwinds first."""
    active = frame.active
    assert active is not None
    if not frame.execution.may_switch():
        # Compare them again in the next tick: if they overtook each other without end, time would stop for all.
        if frame.planner.trace.on:
            frame.note(TraceEvent.STORM, reason="too many preemptions in one tick")
        frame.planner.kernel.call_later(1, frame.look_again)
        return
    # Before anything is interrupted: what would be refused at its start would have stopped the other one for nothing.
    if not best.take_places():
        return  # a task below it has no room for one more: it is not ready any more
    if frame.planner.trace.on:
        active.note(TraceEvent.PREEMPT, by=best.spec.label, utility=best.utility, against=boosted(frame))
    was_running = frame.state == RUNNING
    frame.move(SWITCHING)
    if was_running:
        frame.execution.unwind(frame, f"preempted by {best.spec.name}")
    else:
        # A later step of a plan that runs: nothing of it has run, so there is nobody to wait for.
        unwound(frame, was_running=False)


def unwound(frame: Frame, *, was_running: bool) -> None:
    """The old unit's strands have ended: stop it, and let the best take its place; it runs if the old one ran."""
    active = frame.active
    assert active is not None
    frame.others = _SOME
    active.stop()  # before anybody is elected: its hooks may take back what made the other one better
    best = best_ready(frame, True)
    if best is None:
        # The better one withdrew meanwhile.
        frame.move(THINKING)
        frame.active = None
        _give_up_places(frame)
    else:
        frame.elected(best)
        _give_up_places(frame)
        if frame.start():
            frame.owner.frame_utility(frame)
            if was_running:
                frame.run()
            return
        if frame.execution.is_aborting:
            return
    # Nothing is elected any more: who is idle thinks again, the old unit among them.
    frame.begin_late([unit for unit in frame.units if unit.state == IDLE])


def refuse(unit: Unit, reason: str) -> None:
    """An elected unit cannot be started now: stop it again, and have it think again a little later."""
    watched = unit.frame.planner.trace.on
    if watched:
        unit.note(TraceEvent.REFUSED, reason=reason)
    place = keep_place(unit)  # else each refusal would put it at the end of the line for what it waits for
    unit.stop_think()
    unit.stop(IMPOSSIBLE)
    restore_place(unit, place)
    extras = unit.own_extras()
    extras.reason = f"it refused to be started: {reason}"
    backoff = extras.backoff
    if backoff is None:
        backoff = extras.backoff = Backoff()
    frame = unit.frame
    kernel = frame.planner.kernel
    refusal = refusal_of(kernel)
    if refusal is not None:
        line_up(unit, refusal)
        if unit.spec.steps is None and not unit.spec.has_think:
            return  # it chooses nothing, and can only wait for its turn
    if watched and backoff.is_storm:
        unit.note(TraceEvent.STORM, delay=backoff.delay)
    backoff.wait(kernel, try_again, frame, unit, frame.round)


# --- what only few units have -----------------------------------------------------------------------------------------


class Protection:
    """The watch over the arguments of one activity."""

    __slots__ = ("_connections", "missing")

    def __init__(self, frame: Frame, entities: list[Any]) -> None:
        gone = first_gone(entities)
        # the name of an argument's entity that was destroyed, before or meanwhile; None while all are there
        self.missing: str | None = None if gone is None else name_of(gone)
        self._connections: list[Connection] = [] if gone is not None else [watch(frame, one, None) for one in entities]

    def release(self) -> None:
        for connection in self._connections:
            connection.close()


def protect_arguments(frame: Frame) -> Protection | None:
    """Watch the entities among the arguments of an activity; None if there is nothing to be watched."""
    found = entities_of(frame.args)
    if found is None:
        return None
    protection = Protection(frame, found)
    if protection.missing is not None and frame.planner.trace.on:
        frame.note(TraceEvent.REJECT, reason=f"the entity {protection.missing} is destroyed")
    return protection


def meant(frame: Frame, value: object) -> Collection[Any]:
    """The entities that an author means who protects something: it is or holds them, or names an argument."""
    args = frame.args
    if isinstance(value, str) and args is not None and value in args:
        value = args[value]
    return entities_in(value)


def watch(frame: Frame, entity: object, only: Unit | None) -> Connection:
    destroyed = destroyed_signal(entity)
    assert destroyed is not None
    return BoundCall(destroyed, lost, frame, entity, only)


def lost(frame: Frame, entity: object, only: Unit | None) -> None:
    """A protected entity was destroyed: of one unit, or of the arguments, which concerns all units."""
    name = name_of(entity)
    if only is None and frame.protection is not None and frame.protection.missing is None:
        frame.protection.missing = name
        begin_rest(frame)  # they are to hear of it
    for unit in frame.units:
        if only is not None and unit is not only:
            continue
        if unit.extras is not None and any(kept is entity for kept in unit.extras.exempt):
            continue
        if unit.state in (THINKING, READY):
            unit.lose(name)
        elif unit.state == STARTED:
            frame.execution.abort(f"the entity {name} was destroyed", unit)


@dataclass(slots=True, eq=False, repr=False)
class Extras:
    """The rare possessions of one unit. Hardly any has more than a few of them, so each is made with its first use."""

    unit: Unit  # whose they are
    progress: str | Progress = ""  # what ``set_debug_progress`` said
    reason: str = ""  # why it is not possible now, unless it rejected or just found nothing; empty otherwise
    status: tuple[str, dict[str, Any]] | None = None  # the status text key and its arguments, if the action set one
    kept_debug: dict[str, Any] | None = None  # the author's own debugging data; None until he asks for it
    suspension: Suspension | None = None  # its waits for ``resume``
    execute: Frame | None = None  # the spawned frame whose end ``run`` awaits at this moment
    spawned: tuple[Below, ...] = ()  # whose frames think or run
    candidates: Iterator[Mapping[str, Any]] | None = None  # the choices that are left of ``ctx.candidates``
    timeouts: dict[int, Timer] | None = None  # the limits of its thinking, number 0, and of its steps that think
    cuts: int = 0  # how often its thinking was stopped before it had an answer, since it had one
    cut_reason: str = ""  # why, the last time
    cut_since: int = 0  # the tick in which the first of these thoughts began
    awaits_flags: bool = False  # whether it runs, but waits for its control flags
    was_kept_waiting: bool = False  # whether it runs now, and had to wait for them
    awaits: object | None = None  # the performance of which ``run`` awaits the end at this moment
    unwinding: Callable[[], object] | None = None  # called when ``run`` is told to stop, by whoever has it stand still
    place: Place | None = None  # its place in the line for a lease, while it waits in one
    refusal: LeaseRefusal | None = None  # the lease because of which it rejected its arguments, until it is asked anew
    backoff: Backoff | None = None  # for when it refuses to be started; None until it does
    while_thinking: list[Opened] | None = None
    _while_running: list[Opened] | None = None
    _protected: tuple[tuple[Any, Connection], ...] = ()
    exempt: tuple[Any, ...] = ()  # entities from which protection was taken

    @property
    def debug(self) -> dict[str, Any]:
        """The author's own debugging data."""
        kept = self.kept_debug
        if kept is None:
            kept = self.kept_debug = {}
        return kept

    def asked_anew(self) -> None:
        """Its think begins. Only now: until it is asked again, tools tell why it was not ready."""
        self.reason = ""
        self.refusal = None

    def keep(self, opened: Opened, *, is_thinking: bool) -> None:
        kept = self.while_thinking if is_thinking else self._while_running
        if kept is not None:
            kept.append(opened)
        elif is_thinking:
            self.while_thinking = [opened]
        else:
            self._while_running = [opened]

    def let_go(self, opened: Opened) -> None:
        for kept in (self.while_thinking, self._while_running):
            if kept is not None and opened in kept:
                kept.remove(opened)
                self.unit.something_closed()

    def protect(self, value: object) -> None:
        """Watch an entity, those that a value holds, or those of a named argument; what is gone is lost at once."""
        unit = self.unit
        entities = meant(unit.frame, value)
        for entity in entities:
            self.exempt = tuple([kept for kept in self.exempt if kept is not entity])
        gone = first_gone(entities)
        if gone is not None:
            lost(unit.frame, gone, unit)
            return
        for entity in entities:
            if not any(kept is entity for kept, _ in self._protected):
                self._protected = (*self._protected, (entity, watch(unit.frame, entity, unit)))

    def unprotect(self, value: object) -> None:
        for entity in meant(self.unit.frame, value):
            self.exempt = (*self.exempt, entity)
            for kept, connection in self._protected:
                if kept is entity:
                    connection.close()
            self._protected = tuple([one for one in self._protected if one[0] is not entity])

    def frames(self) -> tuple[Frame, ...]:
        return tuple(one.frame for one in self.spawned)

    # --- the end ------------------------------------------------------------------------------------------------------

    @property
    def may_answer(self) -> bool:
        """Whether something that was opened while thinking may still make the action ready, or take that back."""
        return bool(self.while_thinking) or any(not one.frame.is_hopeless for one in self.spawned)

    def thinking_stopped(self, *, is_started: bool) -> None:
        """Close what was opened while thinking; and unless the unit was elected, its protections and frames."""
        opened, self.while_thinking = self.while_thinking, None
        _close(opened)
        self.candidates = None
        self.leave_line()
        for timeout in (self.timeouts or {}).values():
            timeout.cancel()
        self.timeouts = None
        if not is_started:
            for one in self.spawned[::-1]:
                one.end()
            self._unprotect_all()
            self.status = None

    def cancel_backoff(self) -> None:
        """It is not asked again by itself."""
        if self.backoff is not None:
            self.backoff.cancel()

    def leave_line(self) -> None:
        """Give up its place in the line for a lease, if it has one."""
        if self.place is not None:
            self.place.close()
            self.place = None

    def stopped(self) -> None:
        self.thinking_stopped(is_started=False)
        opened, self._while_running = self._while_running, None
        _close(opened)
        self.suspension = None
        self.progress = ""
        self.awaits_flags = self.was_kept_waiting = False
        self.unwinding = None

    def _unprotect_all(self) -> None:
        for _, connection in self._protected:
            connection.close()
        self._protected = self.exempt = ()


def _close(opened: list[Opened] | None) -> None:
    """Close what was kept, and is not any more: nothing may still answer, and nobody is told that it may not."""
    for one in opened or ():
        one.close()


def line_up(unit: Unit, refusal: LeaseRefusal) -> None:
    """Have a unit wait in line for what it could not have; if it does already, it keeps its place."""
    extras = unit.own_extras()
    place = extras.place
    if place is not None:
        if place.is_open and place.thing is refusal.thing and place.owner is refusal.owner:
            return
        place.close()
    extras.place = refusal.book.line_up(refusal.thing, refusal.owner, unit.turn_has_come)


def keep_place(unit: Unit) -> Place | None:
    """Take a unit's place in line from it, so that it does not lose it while it stops thinking, to think again."""
    if unit.extras is None:
        return None
    place, unit.extras.place = unit.extras.place, None
    return place


def restore_place(unit: Unit, place: Place | None) -> None:
    if place is not None:
        unit.own_extras().place = place


# --- what runs a tree, and unwinds it ---------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class PlanSeldom:
    """What most plans never need."""

    holder: Holder | None = None  # for whom it is performed; None for nobody, and for an agent's plan
    # until a plan runs to its end that takes time: how many aborts in a row, why the last one, how many times in a row
    # the planner gave up; and whether it gave up and is to think again
    aborts: int = 0
    reason: str = ""
    kills: int = 0
    is_restarted: bool = False
    asides: tuple[Frame, ...] = ()  # the places of the plan that are idle where some keep thinking
    stale: tuple[Frame, ...] = ()  # those of them that were there when the last plan ended
    # of the abort that goes on the reason, who asked for it, and whether it is a failure of the plan
    abort: tuple[str, Unit | None, bool] | None = None
    then: Callable[[], object] | None = None  # called when it has ended for good
    # executed frames that nobody waits for any more, and what to call when they are unwound
    given_up: dict[Frame, Callable[[], None]] | None = None
    used: tuple[int, int, int] = (0, 0, 0)  # a tick, and how many preemptions and executed activities there were in it
    # how many plans in a row, tick after tick, ended in the tick in which they began; and the tick of the last one
    in_no_time: tuple[int, int] = (0, 0)


_NOTHING_SELDOM: Final = PlanSeldom()  # of all that never needed any; nobody writes into it, see ``Execution.more``


@mypyc_attr(allow_interpreted_subclasses=True)
class Execution:
    """The root frame of an agent's plan, and what runs in it."""

    __slots__ = (
        "is_aborting", "is_stopped", "planner", "renewing", "root", "runs", "seldom", "target", "waiting",
    )  # fmt: skip

    coro = None  # as an entry of the agenda it stands for no author's code

    def __init__(self, planner: Planner, activity: str, holder: Holder | None = None) -> None:
        self.planner: Planner = planner
        self.root: Frame = Frame(self, self, None, activity, 0, is_bound=False)  # the frame of the root activity
        self.runs: tuple[Unit, ...] = ()  # the units whose ``run`` is under way, outermost first
        self.is_stopped: bool = False  # whether it was told to stop for good
        self.is_aborting: bool = False  # whether all of it is being unwound, by an abort or for good
        self.renewing: str = ""  # why thinking stops at this moment that may be kept, since it will begin again
        self.seldom: PlanSeldom = _NOTHING_SELDOM  # what most never need
        self.target: Frame | None = None  # the frame under which everything that runs is being stopped
        self.waiting: object = 0  # until which tick it pauses
        if holder is not None:
            self.more().holder = holder

    @property
    def stepper(self) -> Execution:
        """Itself: it is its own entry of the agenda, while it pauses."""
        return self

    def more(self) -> PlanSeldom:
        """Room for what most never need, to write into."""
        if self.seldom is _NOTHING_SELDOM:
            self.seldom = PlanSeldom()
        return self.seldom

    @property
    def name(self) -> str:
        return f"the plan of {self.planner.name!r}"

    # --- the cycle ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        if not self.is_stopped and self.root.state == IDLE:
            try:
                self.root.begin({}, None)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.planner.fault(None, "begin", error)
                self.abort(error_words(error), None)

    @property
    def due(self) -> int:
        """The tick in which it thinks again after a pause; 0 while it does not pause."""
        return self.waiting if isinstance(self.waiting, int) else 0

    def strand(self) -> None:
        """None: it stands for no author's code."""

    def send(self, _value: None) -> object:
        waiting = self.waiting
        if isinstance(waiting, int) and waiting > self.planner.clock.tick:
            return KEEP  # it was taken back in the very tick in which it was due, and pauses anew
        self.waiting = 0
        if self.is_stopped:
            return KEEP
        try:
            if self.seldom.is_restarted:
                self.seldom.is_restarted = False
                if self.planner.trace.on:
                    self.planner.record(self.root.path(), TraceEvent.RESTARTED, (("kills", self.seldom.kills),))
            self.begin()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.planner.kernel.report(f"{self.name} could not be thought", error)
        return KEEP

    def frame_ready(self, frame: Frame) -> None:
        if frame.start():
            frame.run()

    # Nothing else concerns it: the root never waits in the ready state, competes with nobody, and nobody above it could
    # choose other arguments. Whoever becomes ready later is elected then.

    def frame_unready(self, frame: Frame) -> None:
        """Nothing to it, as what follows: it waits until something is ready."""

    def frame_answered(self, frame: Frame) -> None:
        """See above."""

    def frame_rejected(self, frame: Frame) -> None:
        self.frame_answered(frame)

    def frame_utility(self, frame: Frame) -> None:
        """See above."""

    def frame_finished(self, frame: Frame) -> None:
        if self.is_aborting:
            return  # a hook asked for that in the very moment
        active = frame.active
        assert active is not None
        planner = self.planner
        tick = planner.clock.tick
        took = tick - active.since
        seldom = self.seldom
        if not took:
            if seldom is _NOTHING_SELDOM:
                seldom = self.more()
            times, ended_in = seldom.in_no_time
            times = times + 1 if tick == ended_in + 1 else 1
            seldom.in_no_time = times, tick
            if times == MAX_AT_ONCE:  # once is fine; in every tick its author forgot to wait for something
                planner.agent.planner_idles(active.path(), times)
        if seldom.stale:
            end_asides(seldom.stale)
        self.renewing = ENDED
        try:
            frame.stop()
        finally:
            self.renewing = ""
        seldom = self.seldom  # looked up now: what stopped may have made it
        if seldom.stale or seldom.asides:
            seldom.stale = seldom.asides
        if planner.trace.on:
            planner.record(frame.path(), TraceEvent.COMPLETE, (("ticks", took),))
        if took:
            # A plan that takes no time proves nothing: it may alternate with one that aborts, for ever.
            if seldom.aborts or seldom.kills:
                seldom.aborts, seldom.kills, seldom.reason = 0, 0, ""
            self.begin()
        else:
            self._later()  # it must not be repeated within one tick

    def _later(self) -> None:
        """Think again in the next tick."""
        if not self.waiting and not self.is_stopped:
            kernel = self.planner.kernel
            kernel.agenda.add(self.planner.clock.tick + 1, self)

    def _pause_no_more(self) -> None:
        """It is told to end."""
        kernel = self.planner.kernel
        kernel.agenda.leave(self, kernel.clock.tick, kernel.live)
        self.waiting = 0

    def units(self) -> Iterator[Unit]:
        """All units that stand in the plan, idle ones and those that were set aside included."""
        frames = [self.root, *self.seldom.asides]
        seen: set[Frame] = set()
        while frames:
            frame = frames.pop()
            if frame not in seen:
                seen.add(frame)
                for unit in frame.units:
                    yield unit
                    frames += unit.children()

    def relearn(self) -> None:
        """The agent learned or forgot actions: have the frames of the plan take it up."""
        self._relearn(self.root)
        for frame in self.seldom.asides:
            if tuple(unit.spec for unit in frame.units) != tuple(frame.performers()):
                end_asides([frame])  # others are known there now

    def _relearn(self, frame: Frame) -> None:
        lost = take_up(frame)
        if lost is not None:
            self.replan(f"the agent forgot the action '{lost.spec.name}' that it was running", lost)
        for unit in frame.units:
            for child in unit.children():
                self._relearn(child)

    # --- the stack ----------------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good, and everything of it is stopped."""
        return self.is_stopped and not self.is_aborting and self.root.state == IDLE

    def run_ended(self, unit: Unit, error: BaseException | None) -> None:
        """A unit's ``run`` ended, by itself or because it was stopped."""
        runs = self.runs
        if runs[-1] is unit:
            self.runs = runs[:-1] if len(runs) > 1 else ()
        else:
            self.runs = tuple([one for one in runs if one is not unit])
        if self.target is not None and is_under(unit.frame, self.target):
            # What it awaited behind a shield was unwound, too: nothing that it could have helped.
            harmless = (Abort, ActivityAbortedError, self.planner.kernel.host.cancelled_type)
            if error is not None and not isinstance(error, harmless):
                self.planner.fault(unit, "run", error)
            self._stop_innermost("the plan unwinds")
        elif error is None:
            unit.finish()
        elif isinstance(error, Abort):
            self.abort(error.reason, unit)
        elif isinstance(error, self.planner.kernel.host.cancelled_type):
            self.abort("cancelled from outside", unit)
        else:
            self.planner.agent.report(unit.path(), "run", error)  # control flow too: to reject is for those who think
            self.abort(f"run raised {error_words(error)}", unit)

    # --- unwinding ----------------------------------------------------------------------------------------------------

    def is_unwinding(self, frame: Frame) -> bool:
        """Whether a frame is being unwound: it is the target, or lies under the unit that is to be stopped there.

        What thinks under another unit of the target goes on.
        """
        target = self.target
        if target is None or self.is_aborting:
            return self.is_aborting
        node = _above(frame, target.depth + 1)
        return node is target or (node.parent is not None and node.parent is target.active)

    def unwind(self, target: Frame, reason: str) -> None:
        """Stop what runs under a frame; the frame's ``unwound`` is called then."""
        if self.target is None or target.depth < self.target.depth:
            self.target = target
            innermost = self.runs[-1] if self.runs else None
            if innermost is None or innermost.extras is None or innermost.extras.execute is None:
                self._stop_innermost(reason)
            else:
                # Not on the caller's stack: it may be in the middle of starting what is executed.
                self.planner.kernel.call_soon(self._stop_innermost, reason)

    def give_up(self, frame: Frame, then: Callable[[], None]) -> None:
        """Unwind an executed frame because nobody waits for it any more."""
        seldom = self.more()
        if seldom.given_up is None:
            seldom.given_up = {}
        seldom.given_up[frame] = then
        self.unwind(frame, "the executing action gave up")

    def _stop_innermost(self, reason: str) -> None:
        target = self.target
        if target is None:
            return
        if self.runs and is_under(self.runs[-1].frame, target):
            unit = self.runs[-1]
            extras = unit.extras
            if extras is not None and extras.execute is not None:
                self._stop_executed(extras.execute)
            running = unit.running
            if running is not None:
                running.stop(reason)
            if extras is not None:
                if extras.unwinding is not None:
                    extras.unwinding()
                for one in extras.spawned:
                    if one.frame is extras.execute:
                        one.lost()  # behind a shield ``run`` would wait for it for ever
        else:
            # Nobody to wait for. Not on the caller's stack: it may be in the middle of starting the very plan.
            self.planner.kernel.call_soon(self._unwound)

    def _stop_executed(self, frame: Frame) -> None:
        frame.stop()
        then = None if self.seldom.given_up is None else self.seldom.given_up.pop(frame, None)
        if then is not None:
            then()

    def _unwound(self) -> None:
        target = self.target
        if target is None:
            return  # a call that was overtaken by another unwinding
        if self.runs and is_under(self.runs[-1].frame, target):
            self._stop_innermost("the plan unwinds")  # it is being stopped, or began to run after it was looked for
            return
        self.target = None  # before who comes next is started, which must not take itself for unwinding
        if target is self.root and self.is_aborting:
            self._stopped()
        elif self.seldom.given_up is not None and target in self.seldom.given_up:
            self._stop_executed(target)
        else:
            unwound(target, was_running=True)

    def may_switch(self) -> bool:
        """Whether one more preemption may happen in this tick; counts it."""
        return self._counted(1, 0)[1] <= MAX_SWITCHES

    def may_execute(self) -> bool:
        """Whether one more activity may be executed in this tick; counts it.

        The guard of the kernel counts what happens in a whole tick, and has the more patience the more strands there
        are; each of these costs as much as many steps.
        """
        return self._counted(0, 1)[2] <= MAX_EXECUTED * self.planner.kernel.livelock_steps

    def _counted(self, switches: int, executed: int) -> tuple[int, int, int]:
        seldom, tick = self.more(), self.planner.clock.tick
        used = seldom.used if seldom.used[0] == tick else (tick, 0, 0)
        seldom.used = (tick, used[1] + switches, used[2] + executed)
        return seldom.used

    # --- abort and the end --------------------------------------------------------------------------------------------

    def abort(self, reason: str, unit: Unit | None, *, is_failure: bool = True) -> None:
        """Unwind the whole plan and think again, in the next tick; or what somebody above it takes the blame for."""
        catcher = catcher_of(unit)
        if catcher is None:
            self._begin_abort(reason, unit, counts=is_failure)
        else:
            catcher.caught(reason, unit, is_failure=is_failure)

    def replan(self, reason: str, unit: Unit) -> None:
        """As ``abort``, for what somebody took from the agent: it does not count as its failure."""
        self.abort(reason, unit, is_failure=False)

    def _begin_abort(self, reason: str, unit: Unit | None, *, counts: bool) -> None:
        if self.is_aborting:
            return
        self.more().abort = (reason, unit, counts)
        self.is_aborting = True
        if self.planner.trace.on:
            path = self.root.path() if unit is None else unit.path()
            self.planner.record(path, TraceEvent.ABORT, (("reason", reason),))
        self.unwind(self.root, reason)

    def end(self, reason: str, then: Callable[[], object] | None = None) -> None:
        """Unwind the whole plan for good, and call a function when it has ended."""
        if then is not None:
            self.more().then = then  # it may be on its way already
        if self.is_stopped:
            return
        self.is_stopped = self.is_aborting = True
        self._pause_no_more()
        self.unwind(self.root, reason)

    def _stopped(self) -> None:
        self.root.stop()
        end_asides(self.seldom.asides)
        seldom = self.more()
        abort, seldom.abort = seldom.abort, None
        self.is_aborting = False  # only now: what its hooks abort while it is stopped is part of this
        if seldom.then is not None:
            seldom.then()
            return
        assert abort is not None
        reason, unit, counts = abort
        if not counts:
            self._later()
            return
        seldom.aborts += 1
        seldom.reason = reason
        if seldom.aborts >= MAX_ABORTS:
            self.is_stopped = True
            seldom.kills += 1
            path = self.root.path() if unit is None else unit.path()
            self.planner.agent.planner_killed(seldom.aborts, reason, path)
        else:
            self._later()

    def restart(self, seconds: float) -> None:
        """The planner gave up, but its agent is not to: think again, after a while."""
        self.is_stopped = False
        seldom = self.more()
        seldom.aborts = 0
        seldom.is_restarted = True
        self._pause_no_more()  # what was left of the plan that was killed
        kernel = self.planner.kernel
        kernel.agenda.add(kernel.clock.tick + max(1, kernel.clock.ticks(seconds)), self)

    def __repr__(self) -> str:
        aborts = self.seldom.aborts
        return f"<Execution of {self.root.activity}: {len(self.runs)} running, {aborts} aborts in a row>"


def catcher_of(unit: Unit | None) -> Below | None:
    """Who hears of an abort of a unit instead of the whole plan: the nearest above it; None if nobody does."""
    frame = None if unit is None else unit.frame
    while frame is not None:
        if frame.catcher is not None:
            return frame.catcher
        frame = None if frame.parent is None else frame.parent.frame
    return None


def _above(frame: Frame, depth: int) -> Frame:
    """A frame, or the one above it at a depth."""
    while frame.depth > depth:
        assert frame.parent is not None
        frame = frame.parent.frame
    return frame


def is_under(frame: Frame, target: Frame) -> bool:
    """Whether a frame is the target or lies below it."""
    return _above(frame, target.depth) is target
