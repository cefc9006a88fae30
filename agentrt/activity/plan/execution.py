"""An execution: one root activity that is thought, run and thought again, and the stack of what runs in it.

``runs`` is that stack: the leaf units whose ``run`` is under way, outermost first. It has more than one entry only
while an action executes an activity from within its ``run``.

Unwinding, the one way in which anything that runs is stopped before its end (preemption, abort, removal):

1. a *target* frame is named; if an unwinding is under way already, the frame nearer to the root wins;
2. the strands on the stack under the target are stopped, innermost first, each awaited to its end; an executed frame is
   stopped (its ``stop`` hooks) before the strand that executes it, which is told even behind a shield;
3. the target goes on: it stops its old unit, hooks inner first, and starts the new one, or the whole plan is stopped.

All of that happens in one tick, unless a strand shields its clean-up or waits for its host in it.

How far up an abort goes: it unwinds the whole plan, unless somebody on the way up *catches* it (``catcher_of``): a
frame that was spawned by who wants to hear of it. Then only that frame is unwound, in the same way (``give_up``), and
who awaits it gets ``ActivityAbortedError``. Strategies are run like this, so that one that fails is a failure of its
parent's and not of the agent's plan. A strand that awaits a frame behind a shield is not woken by being stopped, and
nothing goes on in a frame of a plan that unwinds; so it gets that error as well (``Spawned.lost``), and goes on in its
clean-up.

Rejected: an exception that is thrown up the stack of strands. What is to be unwound are frames with their hooks, flags
and listeners, the inner first, and there is one machine that does it.

Source: Stonehearth, AI: "Executing plans", `abort`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentrt.activity.author.control import Abort
from agentrt.activity.plan.tree import (
    Catcher,
    Frame,
    PlanHome,
    Unit,
    end_asides,
    relearn_asides,
    renew,
    stop_run,
    take_up,
    unwound,
)
from agentrt.activity.states import IDLE
from agentrt.errors import ENDS_PROGRAM, ActivityAbortedError
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import KEEP
from agentrt.native import mypyc_attr
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.body.flags import Holder


MAX_ABORTS = 10
"""After how many aborts in a row, without a completed run that took time, the planner gives up.

Each costs a tick, so that at twenty ticks a second it has half a second to come right by itself.
"""

MAX_SWITCHES = 16
"""How many preemptions one agent may have in one tick."""

MAX_EXECUTED = 4
"""How many activities one plan may execute in one tick: so many times the steps that a strand may take."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Execution:
    """The root frame of an agent's plan, and what runs in it."""

    __slots__ = (
        "_abort",
        "_counts",
        "_ending",
        "_executed",
        "_executed_tick",
        "_given_up",
        "_is_killed",
        "_switch_tick",
        "_switches",
        "abort_reason",
        "aborts",
        "asides",
        "holder",
        "is_aborting",
        "is_stopped",
        "kills",
        "planner",
        "renewing",
        "root",
        "runs",
        "stale",
        "stepper",
        "target",
        "waiting",
    )

    coro = None  # as an entry of the agenda it stands for no author's code

    def __init__(self, planner: PlanHome, activity: str, holder: Holder | None = None) -> None:
        self.planner: PlanHome = planner
        self.holder: Holder | None = holder
        self.root: Frame = Frame(self, self, None, activity, 0, is_bound=False)  # the frame of the root activity
        self.runs: tuple[Unit, ...] = ()  # the units whose ``run`` is under way, outermost first
        self.aborts: int = 0  # how many aborts there were in a row
        self.abort_reason: str = ""  # the last one's reason
        self.kills: int = 0  # how many times in a row the planner gave up
        self.is_stopped: bool = False  # whether it was told to stop for good
        self.is_aborting: bool = False  # whether all of it is being unwound, by an abort or for good
        self.renewing: str = ""  # why thinking stops at this moment that may be kept, since it will begin again
        self.asides: tuple[Frame, ...] = ()  # the places of the plan that are idle where some keep thinking
        self.stale: tuple[Frame, ...] = ()  # those of them that were there when the last plan ended
        self._abort: tuple[str, Unit | None] | None = None  # the reason of the abort that goes on, and who asked for it
        self._counts = True  # whether that is a failure of the plan
        self._ending = False  # whether it is unwound for good
        self._is_killed = False  # whether its planner gave up and is to be restarted
        # executed frames that nobody waits for any more, and what to call when they are unwound
        self._given_up: dict[Frame, Callable[[], None]] | None = None
        self._switch_tick = 0
        self._switches = 0
        self._executed_tick = 0
        self._executed = 0
        self.target: Frame | None = None  # the frame under which everything that runs is being stopped
        self.stepper: Execution = self  # it is its own entry of the agenda, while it pauses
        self.waiting: object = 0  # until which tick it pauses

    @property
    def title(self) -> str:
        """What people call it."""
        return f"the plan of {self.planner.name!r}"

    # --- the cycle ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Think about the root activity."""
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

    @property
    def name(self) -> str:
        """What it is as an entry of the agenda, for people."""
        return self.title

    def strand(self) -> None:
        """None: it stands for no author's code."""

    def send(self, _value: None) -> object:
        """Its pause is over: think again."""
        kernel = self.planner.kernel
        if self.due > kernel.clock.tick:
            return KEEP  # it was taken back in the very tick in which it was due, and pauses anew
        self.waiting = 0
        if self.is_stopped:
            return KEEP
        try:
            if self._is_killed:
                self._is_killed = False
                if self.planner.trace.on:
                    self.planner.record(self.root.path(), TraceEvent.RESTARTED, (("kills", self.kills),))
            self.begin()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            kernel.report(f"{self.title} could not be thought", error)
        return KEEP

    def frame_ready(self, frame: Frame) -> None:
        """The root has an elected unit: start and run it."""
        if frame.start():
            frame.run()

    # Nothing else concerns it: the root never waits in the ready state, competes with nobody, and nobody above it could
    # choose other arguments. Whoever becomes ready later is elected then.

    def frame_unready(self, frame: Frame) -> None:
        """Nothing to it, as what follows: it waits until something is ready."""

    def frame_answered(self, frame: Frame) -> None:
        """See above."""

    def frame_rejected(self, frame: Frame) -> None:
        """No more than that there is no answer."""
        self.frame_answered(frame)

    def frame_utility(self, frame: Frame) -> None:
        """See above."""

    def frame_finished(self, frame: Frame) -> None:
        """The plan ran to its end: stop it, and think again."""
        if self.is_aborting:
            return  # a hook asked for that in the very moment
        assert frame.active is not None
        took = self.planner.kernel.clock.tick - frame.active.since
        renew(frame)
        if self.planner.trace.on:
            self.planner.record(frame.path(), TraceEvent.COMPLETE, (("ticks", took),))
        if took:
            # A plan that takes no time proves nothing: it may alternate with one that aborts, for ever.
            self.aborts = self.kills = 0
            self.begin()
        else:
            self._later()

    def _later(self) -> None:
        """Think again in the next tick: a plan that takes no time must not be repeated within one."""
        if not self.waiting and not self.is_stopped:
            kernel = self.planner.kernel
            kernel.agenda.add(kernel.clock.tick + 1, self)

    def _pause_no_more(self) -> None:
        """It is told to end."""
        kernel = self.planner.kernel
        kernel.agenda.leave(self, kernel.clock.tick, kernel.live)
        self.waiting = 0

    def relearn(self) -> None:
        """The agent learned or forgot actions: have the frames of the plan take it up."""
        self._relearn(self.root)
        if self.asides:
            relearn_asides(self.asides)

    def _relearn(self, frame: Frame) -> None:
        lost = take_up(frame)
        if lost is not None:
            self.replan(f"the agent forgot the action '{lost.spec.name}' that it was running", lost)
        for unit in frame.units:
            for child in unit.children():
                self._relearn(child)

    # --- the stack ----------------------------------------------------------------------------------------------------

    def run_ended(self, unit: Unit, error: BaseException | None) -> None:
        """A unit's ``run`` ended, by itself or because it was stopped."""
        if self.runs[-1] is unit:
            self.runs = self.runs[:-1]
        else:
            self.runs = tuple([one for one in self.runs if one is not unit])
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
            self.planner.report(unit.path(), "run", error)  # control flow too: to reject is for those who think
            self.abort(f"run raised {error_words(error)}", unit)

    # --- unwinding ----------------------------------------------------------------------------------------------------

    def is_unwinding(self, frame: Frame) -> bool:
        """Whether a frame is being unwound: it is the target, or lies under the unit that is to be stopped there.

        What thinks under another unit of the target goes on.
        """
        target = self.target
        if target is None or self.is_aborting:
            return self.is_aborting
        node = frame
        while node.depth > target.depth + 1:
            assert node.parent is not None
            node = node.parent.frame
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
        if self._given_up is None:
            self._given_up = {}
        self._given_up[frame] = then
        self.unwind(frame, "the executing action gave up")

    def _stop_innermost(self, reason: str) -> None:
        target = self.target
        if target is None:
            return
        if self.runs and is_under(self.runs[-1].frame, target):
            unit = self.runs[-1]
            if unit.extras is not None and unit.extras.execute is not None:
                self._stop_executed(unit.extras.execute)
            stop_run(unit, reason)
        else:
            # Nobody to wait for. Not on the caller's stack: it may be in the middle of starting the very plan.
            self.planner.kernel.call_soon(self._unwound)

    def _stop_executed(self, frame: Frame) -> None:
        frame.stop()
        then = None if self._given_up is None else self._given_up.pop(frame, None)
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
        elif self._given_up is not None and target in self._given_up:
            self._stop_executed(target)
        else:
            unwound(target, was_running=True)

    def may_switch(self) -> bool:
        """Whether one more preemption may happen in this tick; counts it."""
        tick = self.planner.kernel.clock.tick
        if tick != self._switch_tick:
            self._switch_tick = tick
            self._switches = 0
        self._switches += 1
        return self._switches <= MAX_SWITCHES

    def may_execute(self) -> bool:
        """Whether one more activity may be executed in this tick; counts it.

        The guard of the kernel counts what happens in a whole tick, and has the more patience the more strands there
        are; each of these costs as much as many steps.
        """
        kernel = self.planner.kernel
        if kernel.clock.tick != self._executed_tick:
            self._executed_tick = kernel.clock.tick
            self._executed = 0
        self._executed += 1
        return self._executed <= MAX_EXECUTED * kernel.livelock_steps

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

    def deadlocked(self, reason: str, unit: Unit) -> None:
        """A control flag can be had only from who waits for this plan: give all of its own back, think again."""
        self.replan(reason, unit if catcher_of(unit) is None else outermost_holder(unit))

    def _begin_abort(self, reason: str, unit: Unit | None, *, counts: bool) -> None:
        if self.is_aborting:
            return
        self._abort = (reason, unit)
        self.is_aborting = True
        self._counts = counts
        if self.planner.trace.on:
            path = self.root.path() if unit is None else unit.path()
            self.planner.record(path, TraceEvent.ABORT, (("reason", reason),))
        self.unwind(self.root, reason)

    def end(self, reason: str) -> None:
        """Unwind the whole plan for good; the planner is told when it is done."""
        if self.is_stopped:
            return
        self.is_stopped = self.is_aborting = True
        self._ending = True
        self._pause_no_more()
        self.unwind(self.root, reason)

    def _stopped(self) -> None:
        self.root.stop()
        end_asides(self.asides)
        abort, self._abort = self._abort, None
        self.is_aborting = False  # only now: what its hooks abort while it is stopped is part of this
        if self._ending:
            self._ending = False
            self.planner.ended()
            return
        assert abort is not None
        if not self._counts:
            self._later()
            return
        self.aborts += 1
        self.abort_reason = abort[0]
        if self.aborts >= MAX_ABORTS:
            self.is_stopped = True
            self.kills += 1
            self.planner.kill(self.aborts, *abort)
        else:
            self._later()

    def restart(self, seconds: float) -> None:
        """The planner gave up, but its agent is not to: think again, after a while."""
        self.is_stopped = False
        self.aborts = 0
        self._is_killed = True
        self._pause_no_more()  # what was left of the plan that was killed
        kernel = self.planner.kernel
        kernel.agenda.add(kernel.clock.tick + max(1, kernel.clock.ticks(seconds)), self)

    def __repr__(self) -> str:
        return f"<Execution of {self.root.activity}: {len(self.runs)} running, {self.aborts} aborts in a row>"


def aborted(frame: Frame, reason: str, path: str) -> ActivityAbortedError:
    """The error of who awaits a frame that was unwound."""
    planner = frame.planner
    return ActivityAbortedError(frame.activity, reason, agent=planner.name, path=path, tick=planner.kernel.clock.tick)


def catcher_of(unit: Unit | None) -> Catcher | None:
    """Who hears of an abort of a unit instead of the whole plan: the nearest above it; None if nobody does."""
    frame = None if unit is None else unit.frame
    while frame is not None:
        if frame.catcher is not None:
            return frame.catcher
        frame = None if frame.parent is None else frame.parent.frame
    return None


def outermost_holder(unit: Unit) -> Unit:
    """Who has to give way so that all control flags that are held for a unit come free: the outermost holder of one."""
    owners = [hold.owner for hold in unit.frame.planner.flags.holds().values()]
    found, above = unit, unit.frame.parent
    while above is not None:
        if any(owner is above for owner in owners):
            found = above
        above = above.frame.parent
    return found


def is_under(frame: Frame, target: Frame) -> bool:
    """Whether a frame is the target or lies below it."""
    node = frame
    while node.depth > target.depth:
        assert node.parent is not None
        node = node.parent.frame
    return node is target
