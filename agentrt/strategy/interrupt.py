"""Interruptions: what comes up while something is being solved is dealt with in between.

Whoever is interrupted need not look for what may come up: that is done here, for all strategies. There are two places
at which an interruption can be dealt with:

* *a breakpoint*: the request is between two attempts (before each decision, after each attempt, around each activity
  that a strategy executes). It is dealt with right there, by the strand of whoever needed the dependency.
* *amid an attempt*: then the innermost attempt says what it supports. PAUSE: its coroutine stands still
  (``Pausable``), and a strand of its own deals with the interruption below the attempt's place in the plan, so that the
  two share control flags and are unwound together, the inner first. RESTART: the attempt is unwound, by the machine
  that preemption uses, which brings the request to a breakpoint; then it is run again. TREE: the same, for the
  outermost attempt that says so. WAIT: nothing happens until that attempt is over, with all that is solved below it;
  then there is a breakpoint.

One that runs a frame which it has spawned by itself (``ctx.spawn``) is left alone until it comes to a breakpoint.

An attempt that has not begun yet (it waits for its control flags, say) has nothing to lose, and begins anew whatever it
supports. Afterwards all attempts hear of it (``interrupted``), the inner first, and each may give up or begin again.

What is dealt with can be interrupted in turn, by what has a higher priority. Each such *level* sees only the attempts
that were begun in it. What could not be dealt with to the end, because the request or a part of it was unwound, is not
lost: it waits for the next breakpoint, or goes back to the agent when the request is over.

A request that is told to pause is interrupted like by anything else, but stands still until it is told to resume; what
comes up meanwhile is dealt with then, too.

It works on the request that it belongs to as an attempt sees it (``Requesting``).

Rejected: throwing an exception into the strategies. Each would have to know what may come up, and to pass it on.

Source: seed 003, "Interrupting Tasks", "Pauseable/Cancelable Tasks".
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.plan.waits import look_for_circle
from agentrt.errors import ENDS_PROGRAM, DependencyFailedError
from agentrt.kernel.signals import Signal
from agentrt.kernel.trace import Event
from agentrt.strategy.attempt import await_end, is_lost, stop_if_lost, waiting_above
from agentrt.strategy.declare import Interruptible, Interruption
from agentrt.strategy.dependency import label_of
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.strategy.attempt import Attempt, Requesting
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.state import State

__all__ = ["PAUSE", "Incident", "Interruptions"]


PAUSE: Final = "pause"
"""The name of the interruption when a request was told to pause."""


class Incident:
    """Something that came up, and what is to be done about it.

    Args:
        wanted: what to have solved because of it; None for nothing.
        priority: a higher one interrupts what is done about a lower one.
        then: called when it was dealt with, with how that ended: DONE, FAILED, or CANCELLED if nobody will any more.
    """

    __slots__ = ("interruption", "priority", "then", "wanted")

    def __init__(
        self,
        interruption: Interruption,
        wanted: Dependency[Any] | None = None,
        priority: int = 0,
        then: Callable[[Outcome], object] | None = None,
    ) -> None:
        self.interruption: Interruption = interruption
        self.wanted: Dependency[Any] | None = wanted
        self.priority: int = priority
        self.then: Callable[[Outcome], object] | None = then

    def over(self, outcome: Outcome, state: State) -> None:
        """It was dealt with, or never will be. That the author's function raises is nobody else's failure.

        Args:
            state: of the agent's gameplay, to which that is reported.
        """
        if self.then is not None:
            try:
                self.then(outcome)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                state.fault(f"interruption {self.interruption.name}", "then", error)

    def __repr__(self) -> str:
        return f"<Incident {self.interruption.name}, priority {self.priority}>"


class _Level:
    """Where incidents are being dealt with."""

    __slots__ = ("current", "mark")

    def __init__(self, mark: int) -> None:
        self.mark: int = mark  # how many attempts there were on the stack when it began; those after it belong to it
        # what is being dealt with; None while it looks for the next one, or stands still
        self.current: Incident | None = None


class Interruptions:
    """What came up during one request."""

    __slots__ = ("_changed", "_is_looking", "_levels", "_solving", "is_paused", "pending")

    def __init__(self, solving: Requesting) -> None:
        self.pending: list[Incident] = []  # what was not dealt with yet, in the order in which it will be
        self.is_paused: bool = False  # whether the request is to stand still
        self._solving = solving
        self._levels: list[_Level] = []
        self._changed: Signal | None = None
        self._is_looking = False

    @property
    def handled(self) -> tuple[Interruption, ...]:
        """What is being dealt with, the first one first; each was interrupted by the next."""
        return tuple(level.current.interruption for level in self._levels if level.current is not None)

    # --- what comes up ------------------------------------------------------------------------------------------------

    def add(self, incident: Incident) -> None:
        """Something came up. Nothing is interrupted on the caller's stack."""
        insort(self.pending, incident, key=_rank)
        self._look_soon()

    def pause(self) -> None:
        """Stand still as soon as the attempts allow it."""
        self.is_paused = True
        self._look_soon()

    def resume(self) -> None:
        """Go on."""
        self.is_paused = False
        self._tell_waiting()

    def take_rest(self) -> list[Incident]:
        """The request is over: what nobody dealt with."""
        rest, self.pending = self.pending, []
        return rest

    def _look_soon(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self._solving.state.kernel.call_soon(self._look)

    def _look(self) -> None:
        """Have the attempts make room for what is due, in the ready queue's turn."""
        self._is_looking = False
        if self._levels and self._levels[-1].current is None:
            self._tell_waiting()
        elif self._is_due():
            attempts = [one for one in self._attempts() if one.has_begun]
            innermost = self._solving.stack[-1] if self._attempts() else None
            if innermost is None or _is_covered(attempts):
                return  # a breakpoint will come
            whole = _outermost_tree(attempts)
            if whole is not None:
                whole.begin_again()
            else:
                innermost.interrupt()

    def _tell_waiting(self) -> None:
        if self._changed is not None:
            self._changed.emit()

    def _attempts(self) -> list[Attempt]:
        """The attempts of the innermost level, the outermost first."""
        return self._solving.stack[self._levels[-1].mark if self._levels else 0 :]

    def floor(self) -> int | None:
        """What has to be exceeded to be dealt with now; None for nothing."""
        current = self._levels[-1].current if self._levels else None
        return self._solving.floor if current is None else current.priority

    def _is_due(self) -> bool:
        floor = self.floor()
        if self.pending and (floor is None or self.pending[0].priority > floor):
            return True
        return self.is_paused and not self._levels

    # --- dealing with it ----------------------------------------------------------------------------------------------

    async def breakpoint(
        self, unit: Unit, node: TaskNode, above: Attempt | None, interrupted: Attempt | None = None
    ) -> bool:
        """Deal with what is due, if there is anything; but nothing is begun in a plan that unwinds.

        Args:
            unit: below which action of the plan.
            node: below which node of the task tree.
            above: the innermost attempt that goes on.
            interrupted: one that was unwound for it.

        Raises:
            ActivityAbortedError: it is called behind a shield, and unwound.
        """
        if not (self.pending or self.is_paused) or not self._is_due():
            return False
        stop_if_lost(unit)
        attempts = self._attempts()
        if _is_covered(attempts):
            return False
        whole = _outermost_tree(attempts)
        if whole is not None:
            whole.begin_again()
            await await_end(unit)  # it is unwound, and this with it
        how = Interruptible.WAIT if interrupted is None else interrupted.provider.spec.cls.interruption
        await self.deal(unit, node, above if interrupted is None else interrupted, how)
        return True

    async def deal(self, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible) -> None:
        """Deal with all that is due.

        Args:
            unit: below which action of the plan.
            node: below which node of the task tree.
            how: what the interrupted one supports, for the trace.
        """
        floor = self.floor()
        level = _Level(len(self._solving.stack))
        self._levels.append(level)
        was, node.outcome = node.outcome, Outcome.PAUSED
        top = self._solving.stack[-1] if self._solving.stack else None
        if top is not None:
            top.time.stop()
        try:
            while self._is_next(floor) or (self.is_paused and len(self._levels) == 1):
                if self._is_next(floor):
                    await self._deal_with(level, self.pending.pop(0), unit, node, told, how)
                else:
                    await self._stand_still(level, unit, node, told, how)
        finally:
            self._levels.remove(level)
            if node.outcome is Outcome.PAUSED:
                node.outcome = was
            if top is not None:
                top.time.go()
            if unit.extras is not None and unit.extras.awaits is not None:
                look_for_circle(unit.frame.execution)  # it was no wait as long as something was done meanwhile

    def _is_next(self, floor: int | None) -> bool:
        return bool(self.pending) and (floor is None or self.pending[0].priority > floor)

    async def _deal_with(
        self, level: _Level, incident: Incident, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible
    ) -> None:
        solving, wanted = self._solving, incident.wanted
        place = TaskNode(NodeKind.INTERRUPTION, incident.interruption.name, node)
        place.begin(solving.state.tick)
        self._note(unit, Event.INTERRUPTED, incident.interruption, how=how.value)
        level.current = incident
        try:
            if wanted is not None:
                below = TaskNode(NodeKind.DEPENDENCY, label_of(wanted), place, wanted)
                await solving.solve(unit, wanted, None, node=below)
        except DependencyFailedError as failure:
            place.end(Outcome.FAILED, solving.state.tick, failure.reason)
        except BaseException as error:
            if not isinstance(error, Exception) or is_lost(unit):  # it is unwound, and to be dealt with later
                place.end(Outcome.CANCELLED, solving.state.tick)
                insort(self.pending, incident, key=_rank)
                raise
            # Nothing that goes wrong here is the fault of whoever was interrupted.
            place.end(Outcome.FAILED, solving.state.tick, error_words(error))
            solving.state.fault(f"interruption {incident.interruption.name}", "solve", error)
        else:
            place.end(Outcome.DONE, solving.state.tick)
        finally:
            level.current = None
        self._note(unit, Event.RESUMED, incident.interruption, outcome=place.outcome.value)
        incident.over(place.outcome, solving.state)
        await self._tell(unit, told, incident.interruption)

    async def _stand_still(
        self, level: _Level, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible
    ) -> None:
        """The request was told to pause."""
        interruption = Interruption(PAUSE)
        tick = self._solving.state.tick
        place = TaskNode(NodeKind.INTERRUPTION, PAUSE, node)
        place.begin(tick)
        self._note(unit, Event.INTERRUPTED, interruption, how=how.value)
        changed = self._changed = Signal()
        extras = unit.own_extras()
        was, extras.unwinding = extras.unwinding, extras.unwinding or changed.emit  # a shield keeps the rest away
        try:
            while self.is_paused:
                if self.pending:
                    await self._deal_with(level, self.pending.pop(0), unit, place, told, how)
                else:
                    await changed.wait()
                    stop_if_lost(unit)
        except BaseException:
            place.end(Outcome.CANCELLED, self._solving.state.tick)
            raise
        finally:
            self._changed = None
            extras.unwinding = was
        place.end(Outcome.DONE, self._solving.state.tick)
        self._note(unit, Event.RESUMED, interruption, outcome=place.outcome.value)
        await self._tell(unit, told, interruption)

    async def _tell(self, unit: Unit, told: Attempt | None, interruption: Interruption) -> None:
        """Tell all attempts of it, the inner first; if one of them gives up, that unwinds whoever waits here.

        Those of other requests, too, that await this one: for them it is the same whether they had it solved by
        themselves or through the gameplay.
        """
        is_unwound = False
        while told is not None:
            is_unwound |= told.hear(interruption)
            told = told.above
        for one in list(waiting_above(self._solving.unit)):
            is_unwound |= one.hear(interruption) and one.frame.execution is unit.frame.execution
        if is_unwound:
            await await_end(unit)

    def _note(self, unit: Unit, event: Event, interruption: Interruption, **detail: Any) -> None:
        planner = unit.frame.planner
        if planner.trace.on:
            planner.record(unit.path(), event, (("by", interruption.name), *detail.items()))

    def __repr__(self) -> str:
        return f"<Interruptions: {len(self.pending)} pending, {len(self._levels)} levels>"


def _rank(incident: Incident) -> int:
    return -incident.priority


def _is_covered(attempts: list[Attempt]) -> bool:
    """Whether one of the attempts, which have begun, has all below it completed first."""
    return any(one.interruption is Interruptible.WAIT for one in attempts)


def _outermost_tree(attempts: list[Attempt]) -> Attempt | None:
    return next((one for one in attempts if one.interruption is Interruptible.TREE), None)
