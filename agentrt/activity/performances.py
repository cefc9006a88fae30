"""Activities that are performed once, because code asked for them: below an action, or beside the plan.

``Spawned`` is what ``ctx.spawn`` and ``ctx.execute`` make: a frame below the unit that asked, so that snapshots show
it, limits count it, what the agent learns or forgets reaches it, and a preemption or an abort unwinds it before the
unit, the inner first. Any number of them may think at a time; one at most runs, awaited by the ``run`` of the unit,
since one agent does one thing. What may be called when stands in a table at ``author.seat.SpawnedFrame``. ``stop`` is
done at once if the unit's own ``think`` or ``run`` calls it, and else when the ready queue comes to it: who calls it
may be in the middle of the very frame. ``run`` never starts anything on its caller's stack either. If nothing in the
frame can become ready any more, who waits for it gets an error instead of waiting for ever.

A ``Performance`` is what a goal, a behavior, an observer or a coroutine of the world awaits with ``agent.perform``: an
execution of its own beside the plan, with preemption, task groups and everything else; but it is done once, and what
goes wrong is an error of who awaits it:

* nobody can perform it now: ``ActivityImpossibleError``;
* an action aborts, or raises while it runs: ``ActivityAbortedError``, after everything was stopped;
* it needs a control flag of somebody who waits for whom it is performed for, a deadlock, or is the youngest of a circle
  of waits: ``ActivityAbortedError``;
* the awaiting coroutine is cancelled: the performance is unwound, inner first, before the cancellation goes on;
* the agent ends: ``ActivityAbortedError``.

It shares the body with the plan through the ledger of control flags. Performed for a goal or a behavior, it shares the
flags of that one, and its claims have that one's precedence.

*Circles of waits.* Strategies await requests, actions await performances, of their own agent or of another, and each
may hold control flags that another waits for. When each of a circle of them waits for the next, all stand still for
ever, and nobody hears why. So whoever begins to wait looks along the waits: if they lead back to it, the youngest
performance of the circle fails, with a reason that names the circle, and the others go on. The last wait closes a
circle; so only those through who has just begun to wait are looked for, and again when what came up was dealt with. A
wait is that the coroutine of an action awaits the end of a performance (``Extras.awaits``), or that an action waits for
control flags that somebody holds who does not give way, or for its place in the line. Only the innermost action of an
execution waits; those above wait for it, and not for what it awaits in a strand of its own. Nothing counts that
something else may still end: an execution that is being unwound, one that stands still because something came up or
it was told to pause, one with a deadline (``move_on_after``, ``fail_after``) on the way up, and one behind a shield.
A deadline of an event loop's own (``asyncio.timeout``) is not known here: use ``fail_after`` around a wait that may
go round in a circle. Rejected: a bound on how long anybody waits, longer than the longest honest wait.

In both cases who performs it may be chosen beforehand; several of one activity are told apart by labels, for paths.

Source: Stonehearth, AI: "AI contexts", `spawn`, `execute`; prismarine-gameplay: "Task Failure".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.activity.author.context import ignored
from agentrt.activity.author.control import is_stepped, require_own_stack
from agentrt.activity.author.seat import Node, SpawnedFrame
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.plan.tree import Below, Execution, Frame, FrameOwner, Planner, Unit, catcher_of
from agentrt.activity.states import FINISHED, FRAME_NAMES, IDLE, READY, RUNNING, STARTED, THINKING, UNIT_NAMES
from agentrt.body.flags import chain_of
from agentrt.errors import (
    ENDS_PROGRAM,
    ActivityAbortedError,
    ActivityImpossibleError,
    ActivityRecursionError,
    WrongStateError,
)
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Strand, current_strand, kill, livelocked, outlast
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import Waiter, at_once, suspend_on

if TYPE_CHECKING:
    from agentrt.activity.author.answering import Declared
    from agentrt.body.flags import Holder, Refusal


def _strand_of(waiter: Waiter) -> Strand | None:
    strand = waiter.strand
    return strand if isinstance(strand, Strand) else None


def _impossible(frame: Frame, path: str) -> ActivityImpossibleError:
    """The error of who waits for a frame in which nothing can become ready any more."""
    planner = frame.planner
    known = (*planner.known, *planner.groups)
    return ActivityImpossibleError(frame.activity, known, agent=planner.name, path=path, tick=planner.kernel.clock.tick)


def aborted(frame: Frame, reason: str, path: str) -> ActivityAbortedError:
    """The error of who awaits a frame that was unwound."""
    planner = frame.planner
    return ActivityAbortedError(frame.activity, reason, agent=planner.name, path=path, tick=planner.kernel.clock.tick)


def _apart(name: str, taken: set[str]) -> str:
    """A name that nobody has: with a number behind it, if the plain one is taken."""
    if name not in taken:
        return name
    return next(found for number in count(2) if (found := f"{name}#{number}") not in taken)


class AskedPlace(Frame):
    """A frame that code asked for: for the one action that was ``chosen``, or for whatever the agent knows."""

    __slots__ = ("_catcher", "_chosen", "label")

    def __init__(
        self,
        execution: Execution,
        owner: FrameOwner,
        unit: Unit | None,
        activity: str,
        chosen: Declared | None,
        catcher: Below | None = None,
    ) -> None:
        super().__init__(execution, owner, unit, activity, 0, is_bound=False)
        self.label: str = activity  # what paths call it
        self._chosen = chosen
        self._catcher = catcher

    def performers(self) -> Sequence[Declared]:
        return super().performers() if self._chosen is None else (self._chosen,)

    @property
    def catcher(self) -> Below | None:
        return self._catcher

    def path(self) -> str:
        return self.label if self.parent is None else f"{self.parent.path()}/{self.label}"


class Spawned(SpawnedFrame):
    """A spawned frame, as the plan runs it."""

    __slots__ = (
        "_args", "_caught", "_changed", "_done", "_error", "_handle", "_output", "_unit", "frame", "was_taken",
    )  # fmt: skip

    def __init__(
        self,
        unit: Unit,
        activity: str,
        args: dict[str, Any],
        chosen: Declared | None = None,
        *,
        catches: bool = False,
        handle: object = None,
    ) -> None:
        # the place in the plan
        self.frame: AskedPlace = AskedPlace(
            unit.frame.execution, self, unit, activity, chosen, self if catches else None
        )
        # whether something below it was taken from the agent, a control flag say: no failure, it may be run again
        self.was_taken: bool = False
        self._caught: ActivityAbortedError | None = None  # what unwound it, if it hears of that instead of the plan
        self._handle = handle  # the context through which its author asked for it; None for one of ours
        self._unit = unit  # whose it is
        self._args = args
        self._changed: Signal | None = None  # for who waits until it is ready
        self._done: Waiter | None = None  # of who runs it; while there is one, it is to run as soon as it is ready
        self._error: Exception | None = None
        self._output: Any = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def activity(self) -> str:
        return self.frame.activity

    @property
    def path(self) -> str:
        return self.frame.path()

    @property
    def state(self) -> str:
        return FRAME_NAMES[self.frame.state]

    @property
    def elected(self) -> Node | None:
        active = self.frame.active
        return None if active is None else Node(self.frame, active)

    @property
    def is_impossible(self) -> bool:
        return self.frame.state == THINKING and self.frame.is_hopeless

    @property
    def utility(self) -> float:
        active = self.frame.active
        return 0.0 if active is None else active.utility

    @property
    def think_output(self) -> Any:
        active = self.frame.active
        return None if active is None else active.given()

    @property
    def changed(self) -> Signal:
        """Emitted when it becomes ready, has another output, is not ready any more, cannot become so, or stopped."""
        if self._changed is None:
            self._changed = Signal()
        return self._changed

    # --- what can be done ---------------------------------------------------------------------------------------------

    def start_thinking(self) -> None:
        frame, unit = self.frame, self._unit
        self._require_handle("SpawnedFrame.start_thinking")
        if frame.state != IDLE:
            raise self._wrong("start_thinking", "Call stop first.")
        if unit.state not in (THINKING, READY, STARTED, RUNNING):
            raise WrongStateError(
                "SpawnedFrame.start_thinking",
                f"its action is {UNIT_NAMES[unit.state]}",
                "Call it in 'think', 'start' or 'run'.",
            )
        extras = unit.own_extras()
        self._take_label()
        extras.spawned += (self,)
        # While the action runs, the entity is what it is: what is expected of it after that has not happened yet.
        expected = unit.expected() if unit.state in (THINKING, READY) else None
        try:
            frame.begin(dict(self._args), expected, at_once=False)
        except BaseException:
            extras.spawned = tuple(one for one in extras.spawned if one is not self)
            raise

    def _take_label(self) -> None:
        unit, frame = self._unit, self.frame
        taken = {step.label for step in unit.spec.steps or ()}
        taken.update(child.label for child in unit.own_extras().frames() if isinstance(child, AskedPlace))
        frame.label = _apart(frame.activity, taken)

    async def ready(self) -> Any:
        await at_once()
        frame = self.frame
        self._require_handle("SpawnedFrame.ready")
        while True:
            if frame.state not in (THINKING, READY):
                raise self._wrong("ready", "Call start_thinking first.")
            active = frame.active
            if active is not None and active.state == READY and active.is_settled():
                return active.given()
            if frame.is_hopeless:
                raise _impossible(frame, self._unit.path())
            await self.changed.wait()

    async def run(self) -> Any:
        await at_once()
        frame, extras = self.frame, self._unit.own_extras()
        self._require_run("SpawnedFrame.run")
        if frame.state not in (THINKING, READY):
            raise self._wrong("run", "Call start_thinking first, and run it once.")
        self._done = waiter = Waiter()
        self._error = self._output = self._caught = None
        extras.execute = frame  # what unwinds the plan meanwhile finds it there, and stops it before its caller
        frame.planner.kernel.call_soon(self._go)
        try:
            await suspend_on(waiter)
        except GeneratorExit:
            raise  # nobody steps this coroutine any more
        except BaseException:
            if STARTED <= frame.state != FINISHED:
                await self._give_up()
            raise
        finally:
            self._done = None
            extras.execute = None
        if self._error is not None:
            raise self._error
        return self._output

    async def execute(self) -> Any:
        await at_once(is_dear=True)
        self._require_run("execute")
        self.start_thinking()
        try:
            return await self.run()
        finally:
            if self.frame.state in (THINKING, READY, FINISHED):
                self.end()

    def stop(self) -> None:
        frame, unit = self.frame, self._unit
        kernel = frame.planner.kernel
        if not kernel.is_here:
            frame.planner.agent.post(self.stop)
        elif frame.state == IDLE:
            ignored(unit, "SpawnedFrame.stop")
        elif frame.state not in (THINKING, READY, FINISHED):
            frame.execution.give_up(frame, self.end)
        elif is_stepped(unit):
            self.end()
        else:
            kernel.call_soon(self._end_round, frame.round)

    def _end_round(self, number: int) -> None:
        if self.frame.round == number:
            if self.frame.state in (THINKING, READY, FINISHED):
                self.end()
            elif self.frame.state != IDLE:
                self.stop()

    def end(self) -> None:
        """Stop the frame on the caller's stack. Its strands of ``run`` have ended before."""
        self.frame.stop()
        extras = self._unit.extras
        if extras is not None and self in extras.spawned:
            extras.spawned = tuple(one for one in extras.spawned if one is not self)
            self._unit.something_closed()
        self._tell()
        self._finish(self._caught)

    def caught(self, reason: str, unit: Unit | None, *, is_failure: bool) -> None:
        """Something below it aborted, or was taken: unwind it, and tell who awaits it. Called by the execution."""
        frame, planner = self.frame, self.frame.planner
        if self._caught is not None or frame.state == IDLE or frame.execution.is_unwinding(frame):
            return
        path = frame.path() if unit is None else unit.path()
        self.was_taken = not is_failure
        self._caught = aborted(frame, reason, path)
        if planner.trace.on:
            planner.record(path, TraceEvent.ABORT, (("reason", reason),))
        if frame.state in (THINKING, READY, FINISHED):
            planner.kernel.call_soon(self._end_round, frame.round)
        else:
            frame.execution.give_up(frame, self.end)

    def awaits_others(self, *, is_waiting: bool) -> None:
        """The action that it runs begins to await a performance, or has; of interest to who counts its time."""

    def lost(self) -> None:
        strand = None if self._done is None else _strand_of(self._done)
        # Who is cancelled hears of it by that; and whoever is not stopped goes on waiting.
        reason = None if strand is None else strand.root.stop_reason
        if strand is not None and reason is not None and strand.pending() is None and strand.is_shielded:
            self._finish(aborted(self.frame, reason, self.path))

    def _require_run(self, method: str) -> None:
        unit = self._unit
        self._require_handle(method)
        if unit.state != RUNNING:
            raise WrongStateError(method, f"its action is {UNIT_NAMES[unit.state]}", "It works only in 'run'.")
        executed = unit.own_extras().execute
        if executed is not None:
            raise WrongStateError(
                method, f"the action executes {executed.activity!r}", "Await one activity before the next."
            )
        if self._handle is not None:
            require_own_stack(unit, method)

    def _require_handle(self, method: str) -> None:
        handle, unit = self._handle, self._unit
        if handle is None:
            return
        if unit.context is not handle:
            raise WrongStateError(method, "the thinking or run that spawned it is over", "Spawn another one.")
        if not unit.frame.planner.kernel.is_here:
            raise WrongStateError(method, "another thread steps its action", "Post it: runtime.post(frame.stop).")

    def _wrong(self, method: str, remedy: str) -> WrongStateError:
        return WrongStateError(f"SpawnedFrame.{method}", f"it is {self.state}", remedy)

    # --- what its frame tells -----------------------------------------------------------------------------------------

    def frame_ready(self, frame: Frame) -> None:
        """It is ready: whoever waits for that goes on, or it is run."""
        if self._done is None or self._done.was_notified:
            self._tell()  # also if it is over for who awaited it, though he has not gone on yet: he may stand still
        elif frame.start():
            frame.run()
        elif not frame.execution.is_aborting:
            self.frame_answered(frame)

    def frame_unready(self, frame: Frame) -> None:
        """It is not ready any more; whoever waits for that waits on."""
        self._tell()

    def frame_answered(self, frame: Frame) -> None:
        """Nothing is ready: go on waiting only while somebody may become so."""
        if frame.is_hopeless:
            self._tell()
            self._unit.something_closed()
            if self._done is not None:
                self._finish(_impossible(frame, self._unit.path()))

    def frame_rejected(self, frame: Frame) -> None:
        """No more than that there is no answer."""
        self.frame_answered(frame)

    def frame_utility(self, frame: Frame) -> None:
        """Nothing to it."""

    def frame_finished(self, frame: Frame) -> None:
        assert frame.active is not None
        self._output = frame.active.given()
        self._finish(None)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _go(self) -> None:
        """``run`` was called, a moment ago."""
        frame = self.frame
        if self._done is not None and not self._done.was_notified:
            strand = _strand_of(self._done)
            if strand is not None and not frame.execution.may_execute():
                kill(strand, livelocked(strand))
            elif frame.execution.is_unwinding(frame):
                self.lost()
            elif frame.state == READY:
                self.frame_ready(frame)
            elif frame.state == THINKING and not frame.round_open:
                self.frame_answered(frame)

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed.emit()

    def _finish(self, error: Exception | None) -> None:
        """``run`` is over, if somebody still awaits it."""
        waiter = self._done
        if waiter is not None and not waiter.was_notified:
            self._error = error
            waiter.notify()

    async def _give_up(self) -> None:
        """The caller was cancelled by a scope of its own: unwind the frame before the caller goes on."""
        self.frame.execution.give_up(self.frame, self.end)
        await outlast(lambda: self.frame.state == IDLE, self._wait)

    async def _wait(self) -> None:
        self._done = Waiter()
        await suspend_on(self._done)

    def __repr__(self) -> str:
        return f"<SpawnedFrame {self.path}: {self.state}>"


_ages = count()  # only which of two is the younger is ever asked; so it may go on from one runtime to the next

MAX_NESTED = 64
"""How many performances may be within one another, each awaited by an action of the one before."""


class Performance(Execution):
    """One activity that is performed beside the plan. Made by ``perform``."""

    __slots__ = ("_args", "age", "asker", "awaiters", "error", "output", "waiter")

    def __init__(
        self,
        planner: Planner,
        activity: str,
        args: Mapping[str, Any],
        holder: Holder | None,
        chosen: Declared | None = None,
    ) -> None:
        super().__init__(planner, activity, holder)
        place = AskedPlace(self, self, None, activity, chosen)
        # Its path says for whom it is performed, and tells it from others that go on.
        plain = f"{'performed' if holder is None else holder.flag_name}/{activity}"
        place.label = _apart(plain, {other.root.path() for other in planner.performances})
        self.root: Frame = place
        self._args = dict(args)
        self.asker: Unit | None = None  # the action that awaits it; None if it is somebody else
        self.awaiters: list[Unit] = []  # the actions of which ``run`` awaits its end at this moment
        self.age: int = next(_ages)  # how many there were before it
        self.output: Any = None  # the think output of the action that performed it, when it is over
        self.error: BaseException | None = None  # why it was not performed, when it is over
        self.waiter: Waiter = Waiter()  # who awaits its end

    # --- the cycle ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Think about the activity, for the first time or after it gave way to somebody."""
        if not self.is_stopped and self.root.state == IDLE:
            try:
                self.root.begin(self._args, None)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.root.stop()
                self._over(error)

    def frame_ready(self, frame: Frame) -> None:
        """An action is ready: run it. If it refuses to be started, and nobody else is left, nobody can perform it."""
        if frame.start():
            frame.run()
        elif not self.is_aborting:
            self.frame_answered(frame)

    def frame_answered(self, frame: Frame) -> None:
        if frame.is_hopeless:
            self.planner.kernel.call_soon(self._give_up_hope, frame.round)

    def _give_up_hope(self, number: int) -> None:
        frame = self.root
        if frame.round == number and frame.is_hopeless and not self.is_aborting:
            frame.stop()
            self._over(_impossible(frame, frame.path()))

    def frame_finished(self, frame: Frame) -> None:
        if self.is_aborting:
            return
        assert frame.active is not None
        output = frame.active.given()
        took = self.planner.kernel.clock.tick - frame.active.since
        frame.stop()
        if self.planner.trace.on:
            self.planner.record(frame.path(), TraceEvent.COMPLETE, (("ticks", took),))
        self.output = output
        self._over(None)

    @property
    def name(self) -> str:
        return f"{self.root.activity!r} of {self.planner.name!r}"

    def end_deadlock(self, reason: str) -> None:
        """It is the youngest of a circle of those that wait for each other: it fails, so that the others go on."""
        self.end(reason)

    # --- the end ------------------------------------------------------------------------------------------------------

    def end(self, reason: str, then: Callable[[], object] | None = None) -> None:
        """Unwind it for good; who awaits it is told when that is done, and a function is called."""
        if then is not None:
            self.more().then = then
        if self.is_stopped:
            return
        self.is_stopped: bool = True
        self._pause_no_more()
        self._begin_abort(reason, None, counts=True)

    def _stopped(self) -> None:
        self.root.stop()
        seldom = self.more()
        abort, seldom.abort = seldom.abort, None
        self.is_aborting = False
        assert abort is not None
        if self.is_stopped or abort[2]:
            path = self.root.path() if abort[1] is None else abort[1].path()
            self._over(aborted(self.root, abort[0], path))
        else:
            self._later()

    def call_off(self) -> None:
        """Nobody awaits it any more: unwind it, if there is anything to unwind."""
        if self.root.state != IDLE or self.is_aborting:
            self.end("whoever performed it was cancelled")
            return
        self.is_stopped = True
        self._pause_no_more()

    async def wait(self) -> None:
        self.waiter = Waiter()
        await suspend_on(self.waiter)

    def _over(self, error: BaseException | None) -> None:
        self.is_stopped = True
        self.error = error
        if not self.waiter.was_notified:
            self.waiter.notify()
        if self.seldom.then is not None:
            self.seldom.then()


@contextmanager
def awaiting(performance: Performance | None) -> Iterator[None]:
    """A stretch in which the coroutine of an action awaits the end of a performance; None if that has not begun."""
    strand = current_strand()
    unit = strand.owner
    if not isinstance(unit, Unit) or unit.running is not strand:
        yield  # who awaits it in a strand of its own may do something else meanwhile
        return
    catcher = unit.frame.catcher
    if catcher is not None:
        catcher.awaits_others(is_waiting=True)
    if performance is not None:
        performance.awaiters.append(unit)
        unit.own_extras().awaits = performance
        look_for_circle(unit.frame.execution)
    try:
        yield
    finally:
        if catcher is not None:
            catcher.awaits_others(is_waiting=False)
        if performance is not None:
            performance.awaiters.remove(unit)
            unit.own_extras().awaits = None


async def perform(
    planner: Planner,
    activity: str,
    args: Mapping[str, Any],
    holder: Holder | None = None,
    chosen: Declared | None = None,
) -> Any:
    """Perform an activity once, beside the plan; what comes of it is the think output of the action that performed it.

    Raises:
        ActivityImpossibleError: no action can perform it now.
        ActivityAbortedError: it was aborted, or the agent ended.
        ArgumentError: the arguments do not fit.
        ActivityRecursionError: actions that await one another's performances are nested too deep.
        NotRunningError: no runtime steps the coroutine in which it is awaited.
    """
    await at_once(is_dear=True)  # what follows may raise
    owner = current_strand().root.owner  # raises before anything is begun that nobody would end
    performance = Performance(planner, activity, args, holder, chosen)
    performance.asker = owner if isinstance(owner, Unit) else None
    nesting = _nesting(performance)
    if nesting > MAX_NESTED:
        raise ActivityRecursionError(nesting, agent=planner.name, path=activity, tick=planner.kernel.clock.tick)
    # In the books before it begins, since what the agent learns, and its end, reach it through them.
    planner.performances = (*planner.performances, performance)
    try:
        planner.kernel.call_soon(performance.begin)  # nothing is started on the stack of who asks for it
        with awaiting(performance):
            await suspend_on(performance.waiter)
    except GeneratorExit:
        raise  # nobody steps this coroutine any more
    except BaseException:
        performance.call_off()
        await outlast(lambda: performance.is_over, performance.wait)
        raise
    finally:
        planner.performances = tuple(one for one in planner.performances if one is not performance)
    if performance.error is not None:
        raise performance.error
    return performance.output


def _nesting(performance: Performance) -> int:
    """How many performances it is within, with itself."""
    found, asker = 1, performance.asker
    while asker is not None:
        execution = asker.frame.execution
        found, asker = found + 1, execution.asker if isinstance(execution, Performance) else None
    return found


# --- who waits for whom, and a circle of those ------------------------------------------------------------------------


class Wait(NamedTuple):
    """An execution waits for another one."""

    execution: Execution
    target: Execution  # for whose end it waits
    how: str  # in words, such as "awaits"


def waits_of(execution: Execution, back_to: Execution | None = None) -> list[Wait]:
    """For whom an execution waits, so that it cannot go on by itself.

    Of those that stand before it in a line for control flags nobody is named but who is looked for (``back_to``): they
    wait for the holders in turn, which are.
    """
    unit = _innermost(execution)
    extras = None if unit is None else unit.extras
    if unit is None or extras is None or not (extras.awaits_flags or extras.awaits) or _may_end(execution, unit):
        return []
    awaited = extras.awaits
    if isinstance(awaited, Performance):
        return [] if awaited.is_over else [Wait(execution, awaited, "awaits")]
    flags = " and ".join(unit.spec.flags)
    held, before = execution.planner.agent.flags.blockers(unit)
    found: dict[Execution, Wait] = {}
    for owners, only, how in ((held, None, "of"), (before, back_to, "after")):
        if owners is held or only is not None:
            for owner in owners:
                place = getattr(owner, "frame", None)  # others than actions hold flags; for what they wait nobody knows
                target = None if place is None else place.execution
                if target is not None and target is not execution and target not in found and only in (None, target):
                    found[target] = Wait(execution, target, f"waits for the control flag {flags} {how}")
    return list(found.values())


def _innermost(execution: Execution) -> Unit | None:
    """The action that acts in it at this moment."""
    unit = execution.root.active
    while unit is not None and unit.state == RUNNING:
        below = unit.running_child()
        if below is None:
            return unit
        unit = below.active
    return None


def _may_end(execution: Execution, unit: Unit) -> bool:
    """Whether something else may end its wait."""
    if execution.is_unwinding(unit.frame) or (unit.extras is not None and unit.extras.unwinding is not None):
        return True
    for one in execution.runs:
        scope = None if one.running is None else one.running.scope
        while scope is not None:
            if scope.has_deadline or scope.cancel_called or scope.shield:
                return True
            scope = scope.outer
    return False


def circle_through(execution: Execution) -> list[Wait]:
    """The waits that lead from an execution back to it; none if they do not."""
    path: list[Wait] = []
    seen = {execution}
    branches = [iter(waits_of(execution, execution))]
    while branches:
        wait = next(branches[-1], None)
        if wait is None:
            branches.pop()
            if path:
                path.pop()
        elif wait.target is execution:
            return [*path, wait]
        elif wait.target not in seen:
            seen.add(wait.target)
            path.append(wait)
            branches.append(iter(waits_of(wait.target, execution)))
    return []


def wait_in_words(execution: Execution) -> str:
    """For whom an execution waits, in words; empty if it does not."""
    return "; ".join(f"{wait.how} {wait.target.name}" for wait in waits_of(execution))


def look_for_circle(execution: Execution) -> None:
    """An execution begins to wait: if that closes a circle, break it when the ready queue comes to it."""
    if _is_awaited(execution):
        execution.planner.kernel.call_soon(_break_circle, execution)


def _is_awaited(execution: Execution) -> bool:
    """Whether anybody may wait for an execution: quick, since of many who want the same nobody waits for the last."""
    flags = execution.planner.agent.flags
    if isinstance(execution, Performance) and execution.awaiters:
        return True
    holders = [getattr(hold.owner, "frame", None) for hold in flags.holds().values()]
    if any(holder is not None and holder.execution is execution for holder in holders):
        return True
    unit = _innermost(execution)
    return unit is not None and flags.is_before_others(unit)


def flags_refused(unit: Unit, refusal: Refusal) -> None:
    """A unit begins to wait for control flags: if that closes a circle of waits, break it.

    If a flag can be had only from who waits for this very plan, the plan gives all of its own back, and is thought
    again. For whom something else than a plan is performed would keep its flags, and has to be told.
    """
    execution = unit.frame.execution
    reason = f"{refusal.holder} waits for the plan and holds {refusal.flag}"
    if not refusal.is_final:
        look_for_circle(execution)
    elif execution.seldom.holder is not None:
        execution.abort(reason, unit)
    else:
        owners = [hold.owner for hold in execution.planner.agent.flags.holds().values()]
        holders = [one for one in chain_of(unit) if isinstance(one, Unit) and any(one is owner for owner in owners)]
        execution.replan(reason, unit if catcher_of(unit) is None else [unit, *holders][-1])


def _break_circle(execution: Execution) -> None:
    circle = circle_through(execution)
    performances = [wait.execution for wait in circle if isinstance(wait.execution, Performance)]
    if not performances:
        return
    victim = max(performances, key=lambda one: one.age)
    index = [wait.execution for wait in circle].index(victim)
    circle = [*circle[index:], *circle[:index]]
    told = f"{circle[0].execution.name} {circle[0].how} {circle[0].target.name}"
    for wait in circle[1:]:
        told += f", which {wait.how} {wait.target.name}"
    victim.end_deadlock(f"a deadlock: {told}")


# --- what a planner is handed (``PlanParts``) -------------------------------------------------------------------------


class UnitMaker(ABC):
    """A spec that says itself what its units are: of a task group, of a task. Those of all others are known here."""

    __slots__ = ()

    @abstractmethod
    def make_unit(self, frame: Frame) -> Unit:
        """A unit of it at a place of the plan."""


def make_unit(frame: Frame, spec: Declared) -> Unit:
    """A unit for an action at a place of the plan."""
    if isinstance(spec, UnitMaker):
        return spec.make_unit(frame)
    return Unit(frame, spec) if spec.steps is None else CompoundUnit(frame, spec)


def spawn(unit: Unit, activity: str, args: dict[str, Any], handle: object) -> Spawned:
    """A frame that a unit manages by itself; ``handle`` is the context through which its author asked."""
    return Spawned(unit, activity, args, handle=handle)
