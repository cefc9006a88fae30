"""Choosing again: whom a compound asks for something else when a step rejects what it was given.

A step's arguments come from the outputs of earlier steps, directly or by way of a step between; which is known since
the compound was defined (``CompiledStep.reads``). So when all actions of a step reject, those choosers are asked, the
nearest first, whether they have another choice, and nobody else: their hook ``on_reject``, then what is left of their
``ctx.candidates``. Whoever sets another output has the steps after it think again, at once.

A chooser that has no choice left rejects what *it* was given. Who is asked then? Those from whom it got that, and also
those who had a part in the rejections of its choices; that is what ``Search.blame`` keeps. With it the search is
backjumping by conflicts: it finds the first combination of choices that no step rejects, in the order of a nested
loop, but does not try what cannot help.

Two marks stand among the numbers of elements: ``ARGUMENTS``, if the compound's own arguments are to blame, and
``OUTSIDE``, if it was a step of the compound around that rejected. When nobody inside can help, the first has the
compound around asked; the second makes the compound reject in its turn.

If nobody has another choice, the compound thinks again from its own beginning (``think_again``), after a delay that
doubles while that repeats. Each repeat asks the world anew, so that what is taken now can be free then; if a lease was
to blame, it waits in line for that, too. A repeat that goes on and on is a storm, which the trace tells; so is a
chooser with choices without end: after ``MOST_CHOICES`` in one tick the compound goes on in the next one.

Source: seed 001, `reject`; design section 4, "Reject". The order: Prosser, "Hybrid algorithms for the constraint
satisfaction problem" (1993), conflict-directed backjumping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.steps import ARGUMENTS
from agentrt.activity.plan import hooks
from agentrt.activity.plan.extras import keep_place, line_up, offer_next, restore_place
from agentrt.activity.states import IMPOSSIBLE, READY, THINKING
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.plan.compound import CompoundUnit
    from agentrt.activity.plan.tree import Frame, Unit
    from agentrt.kernel.kernel import Timer

__all__ = ["MOST_CHOICES", "Search", "choose_again", "rejected", "think_again"]

MOST_CHOICES: Final = 64
"""How many other choices one compound asks for in one tick."""

OUTSIDE: Final = ARGUMENTS - 1
"""Stands for the compound around among those who are to blame."""


class Search:
    """What a compound remembers of the rejections in it. Made with the first one."""

    __slots__ = ("_asked", "_step", "_tick", "_timer", "blame")

    def __init__(self) -> None:
        # for each element that was asked: who else had a part in the rejection of its choices
        self.blame: dict[int, set[int]] = {}
        self._tick = 0
        self._asked = 0  # how many other choices were asked for in that tick
        self._timer: Timer | None = None
        self._step = 0  # which step's rejection waits for the next tick

    @property
    def is_waiting(self) -> bool:
        """Whether it goes on in the next tick."""
        return self._timer is not None

    def forget(self, number: int) -> None:
        """Elements think from the beginning: what became of their choices before does not count."""
        for element in [element for element in self.blame if element >= number]:
            del self.blame[element]
        if self._step >= number:
            self._stop_waiting()

    def cancel(self) -> None:
        """The compound does not think any more."""
        self.blame.clear()
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def may_ask(self, tick: int) -> bool:
        """Whether one more choice may be asked for in a tick; counts it."""
        if tick != self._tick:
            self._tick = tick
            self._asked = 0
        self._asked += 1
        return self._asked <= MOST_CHOICES

    def put_off(self, unit: CompoundUnit, frame: Frame) -> None:
        """Go on in the next tick."""
        if self._timer is not None:
            return
        if unit.frame.planner.trace.on:
            unit.note(Event.STORM, step=frame.activity, reason="too many choices in one tick")

        self._step = frame.index
        self._timer = unit.frame.planner.kernel.call_later(1, self._go_on, unit, frame)

    def _go_on(self, unit: CompoundUnit, frame: Frame) -> None:
        self._timer = None
        if unit.state == THINKING and frame.active is None and not frame.may_change():
            unit.frame_rejected(frame)


def choose_again(unit: CompoundUnit, frame: Frame) -> bool:
    """All actions of a step rejected their arguments: find somebody who has another choice.

    Returns:
        Whether somebody has, or the search goes on; if not, the compound has to think again.
    """
    steps = unit.spec.steps
    assert steps is not None
    reads = steps[frame.index - 1].reads
    search = unit.search
    if search is None:
        if not reads:
            return False
        search = unit.search = Search()
    conflict = set(reads)
    conflict |= search.blame.pop(frame.index, conflict)
    if not conflict:
        return False
    if not search.may_ask(frame.planner.kernel.clock.tick):
        search.put_off(unit, frame)
        return True
    reason = _reason(frame)
    left = _ask(unit, search, conflict, frame.activity, reason)
    if left is None:
        return True
    if OUTSIDE in left:
        unit.reject(f"what it gave was rejected, and it has nothing else: {reason}")
        return True
    return ARGUMENTS in left and _ask_outside(unit)


def _reason(frame: Frame) -> str:
    """What the actions of a step said, each word once."""
    told = dict.fromkeys(unit.rejection for unit in frame.units if unit.rejection)
    return "; ".join(one for one in told if one) or f"{frame.activity} is not possible with that"


def _ask(unit: CompoundUnit, search: Search, conflict: set[int], step: str, reason: str) -> set[int] | None:
    """Ask who is to blame, the nearest first.

    Returns:
        None if one of them has something else, or is out itself; else which marks are left.
    """
    steps = unit.spec.steps
    assert steps is not None
    while True:
        number = max(conflict, default=OUTSIDE)
        if number < 0:
            return conflict
        conflict.discard(number)
        # If it has something else now, but runs out of choices later, these may have been the reason.
        search.blame.setdefault(number, set()).update(conflict)
        if number:
            frame = unit.frames[number - 1]
            if frame.state != READY or frame.active is None or _has_other(frame.active, step, reason):
                return None
            conflict |= set(steps[number - 1].reads)
        else:
            if _offers(unit, step, reason):
                return None
            conflict.add(ARGUMENTS)
        conflict |= search.blame.pop(number)


def _has_other(unit: Unit, step: str, reason: str) -> bool:
    """Whether the elected action of a step gives something else than what was rejected, or is out now."""
    if unit.state != READY or unit.is_fresh or not unit.is_settled():
        return True  # it is changing at this moment, and will be asked again if that does not help
    if unit.spec.steps is None:
        return _offers(unit, step, reason)
    compound: Any = unit
    return _has_other_inside(compound, step, reason) or unit.state != READY or not unit.is_settled()


def _has_other_inside(unit: CompoundUnit, step: str, reason: str) -> bool:
    """The same for a compound: those are asked whose outputs it is made of, and its own action."""
    search = unit.search
    if search is None:
        search = unit.search = Search()
    conflict = {*unit.spec.output_reads, 0, OUTSIDE}
    return _ask(unit, search, conflict, step, reason) is None


def _offers(unit: Unit, step: str, reason: str) -> bool:
    """Ask one action: its hook, then its candidates.

    Returns:
        Whether it set another output, took its output back, or is out now.
    """
    spec, extras = unit.spec, unit.extras
    choices = None if extras is None else extras.candidates
    if not spec.has_on_reject and choices is None:
        return False
    if unit.frame.planner.trace.on:
        unit.note(Event.RECONSIDER, step=step, reason=reason)
    before = unit.state
    if spec.has_on_reject and (hooks.on_reject(unit, reason) or unit.state != before or _has_news(unit)):
        return True
    if extras is None or extras.candidates is None:
        return False
    if offer_next(unit, extras.candidates):
        return True
    if spec.steps is None:
        unit.reject(f"no candidate is left: {reason}")
        return True
    return False  # a compound thinks again, after a delay, and so offers them all again


def _has_news(unit: Unit) -> bool:
    """Whether its author set an output that nobody has looked at yet."""
    if unit.spec.steps is None:
        return unit.is_fresh
    compound: Any = unit
    return bool(compound.is_due)


def _ask_outside(unit: CompoundUnit) -> bool:
    """Nobody inside can help, and the compound's own arguments are to blame: those come from the compound around."""
    frame = unit.frame
    if any(other is not unit and other.state != IMPOSSIBLE for other in frame.units):
        return False  # another action may do it with these arguments
    outer: Any = frame.parent
    if not frame.index or outer.state != THINKING:
        return False  # it is no step of a compound
    if not choose_again(outer, frame):
        return False
    if outer.search.is_waiting:
        outer.frame_answered(frame)
    return True


def rejected(unit: CompoundUnit, frame: Frame) -> None:
    """All actions of a step rejected their arguments."""
    backoff = unit.backoff
    if unit.state == THINKING and not backoff.is_waiting:
        if choose_again(unit, frame):
            if unit.search is not None and unit.search.is_waiting:
                unit.frame_answered(frame)
            return
        planner = unit.frame.planner
        if planner.trace.on and backoff.is_storm:
            unit.note(Event.STORM, step=frame.activity, delay=backoff.delay)
        for one in frame.units:
            if one.extras is not None and one.extras.refusal is not None:
                line_up(unit, one.extras.refusal)
                break
        backoff.wait(planner.kernel, think_again, unit)
    unit.frame_answered(frame)


def think_again(unit: CompoundUnit) -> None:
    """Have a compound think again from its beginning, if it thinks still."""
    if unit.state != THINKING:
        return
    delay, extras = unit.backoff.delay, unit.extras
    limit = None
    if extras is not None:
        limit, extras.timeout = extras.timeout, None  # it goes on: there is no more time than before
    place = keep_place(unit)
    unit.end_thinking()
    restore_place(unit, place)
    if extras is not None:
        extras.timeout = limit
    unit.frame.begin_again(unit)
    if unit.state == THINKING:
        unit.backoff.delay = delay
