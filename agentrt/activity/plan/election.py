"""The election between the actions of an activity, and how the elected one takes the place of another.

The highest utility wins; equals are drawn by weight from the agent's own stream. Once the elected unit has run for
half a second of game time, its boost counts. While it runs, only units whose utility could exceed its own go on
thinking (``adjust``).

To *switch*, the old unit unwinds first: the strands under it end, innermost first, then its ``stop`` hooks run, and
only then is the new one started; all of that in one tick, unless a clean-up takes longer. Who is best is asked again
after the unwinding (``unwound``), since the better one may have withdrawn meanwhile. An agent may switch only so often
within one tick: two actions that overtake each other by their own doing wait for the next tick then, and the trace has
a storm.

A unit that is elected and *refuses* to be started is out for now, the next best takes its place, and it thinks again
after a delay, or as soon as the lease is free because of which it refused.

Source: seed 001, "Comparing plans", "Utility"; design decision on refusals at start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.author.expected import has_changes
from agentrt.activity.author.utility import DECIMALS, draw
from agentrt.activity.plan.extras import keep_place, line_up, restore_place
from agentrt.activity.plan.keeping import outdone
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, SWITCHING, THINKING
from agentrt.body.leases import refusal_of
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Frame, Unit

__all__ = ["adjust", "best_ready", "boosted", "comes_too_late", "refuse", "switch", "try_again", "unwound"]

_NOBODY = 2.0  # a bar that no utility can exceed: the greatest is 1


def best_ready(frame: Frame, *, is_patient: bool = False) -> Unit | None:
    """The ready unit with the highest utility; equals are drawn by weight.

    A plan of which a step has changed in this moment does not count: it says in the same tick whether it is ready
    still. In a plan that was started, an action does not count for a step that others come after if it, or the one
    that was elected, expects a changed entity: those were planned for what the elected one expects.

    Args:
        is_patient: whether to wait for such a plan if it is better than all others.

    Returns:
        The unit, or None if none is ready.
    """
    best: Unit | None = None
    equals: list[Unit] | None = None
    top = unsettled = -1.0
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    for unit in frame.units:
        if unit.state != READY:
            continue
        utility = unit.utility
        if utility < top or (is_planned and _changes_too_much(frame, unit)):
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
    return draw(equals, [unit.spec.weight for unit in equals], frame.planner.random)


def comes_too_late(frame: Frame, unit: Unit) -> bool:
    """Whether a unit does not count, because the steps after it were planned for another state of the entity."""
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    return is_planned and _changes_too_much(frame, unit)


def _changes_too_much(frame: Frame, unit: Unit) -> bool:
    """Whether the steps after it would find another state of the entity than that for which they were planned."""
    return _changes(frame, unit) or (frame.active is not None and _changes(frame, frame.active))


def _has_steps_after(frame: Frame) -> bool:
    """Whether steps of the plan come after it, beside it or further up."""
    node = frame
    while node.index and node.parent is not None:
        steps = node.parent.spec.steps
        if steps is not None and node.index < len(steps):
            return True
        node = node.parent.frame
    return False


def _changes(frame: Frame, unit: Unit) -> bool:
    layer = unit.expected()
    return layer is not None and layer is not frame.expected and has_changes(layer, frame.expected)


def boosted(frame: Frame) -> float:
    """The utility of the elected unit, with its boost once it has run for a while.

    Args:
        frame: the activity; it has an elected unit.
    """
    active = frame.active
    assert active is not None
    if active.state == RUNNING:
        planner = frame.planner
        if planner.kernel.clock.tick - active.since >= planner.sunk_ticks:
            return round(active.utility + active.spec.boost, DECIMALS)
    return active.utility


def adjust(frame: Frame) -> None:
    """While a unit is started: let think who could beat it, and nobody else but who keeps its thinking.

    Args:
        frame: the activity; it has an elected unit.
    """
    active = frame.active
    assert active is not None
    bar = _NOBODY if frame.is_bound or frame.state == FINISHED else active.utility
    idle: list[Unit] | None = None
    keeps = frame.execution.keeps
    for unit in frame.units:
        if unit is active:
            continue
        state = unit.state
        if unit.spec.high > bar:
            if state == IDLE:
                if idle is None:
                    idle = []
                idle.append(unit)
        elif state == READY and not keeps:
            unit.end_thinking()  # as most do
        elif (state == READY or state == THINKING) and not (unit.spec.keeps and frame.keeps):
            outdone(frame, unit)
    if idle is not None:
        frame.begin_late(idle)
    if frame.is_choosy:
        frame.look_further()


def try_again(frame: Frame, unit: Unit, number: int) -> None:
    """Have a unit think again that refused to be started.

    Args:
        number: in which round it was refused.
    """
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
        frame.begin_again(unit)


def _take_places(unit: Unit) -> bool:
    """Take the places of the tasks that a plan is to do, before anything is interrupted for it.

    Of several agents that would all drop what they do for the one place of a task, only one does.
    """
    if not unit.take_place():
        return False
    return all(child.active is None or _take_places(child.active) for child in unit.children())


def _give_up_places(frame: Frame) -> None:
    """Somebody else than the one that took places was elected, here or below: nobody else needs them."""
    for unit in frame.units:
        if unit is not frame.active:
            _leave_places(unit)
        else:
            for child in unit.children():
                _give_up_places(child)


def _leave_places(unit: Unit) -> None:
    if unit.state == READY or unit.state == THINKING:
        unit.leave_place()
        for child in unit.children():
            for below in child.units:
                _leave_places(below)


def switch(frame: Frame, best: Unit) -> None:
    """A better unit takes over: the old one unwinds first.

    Args:
        best: the better one, as of now.
    """
    active = frame.active
    assert active is not None
    if not frame.execution.may_switch():
        _wait_for_the_next_tick(frame)
        return
    # Before anything is interrupted: what would be refused at its start would have stopped the other one for nothing.
    if not _take_places(best):
        return  # a task below it has no room for one more: it is not ready any more
    if frame.planner.trace.on:
        active.note(Event.PREEMPT, by=best.spec.label, utility=best.utility, against=boosted(frame))
    was_running = frame.state == RUNNING
    frame.move(SWITCHING)
    if was_running:
        frame.execution.unwind(frame, f"preempted by {best.spec.name}", was_running)
    else:
        # A later step of a plan that runs: nothing of it has run, so there is nobody to wait for.
        unwound(frame, was_running)


def unwound(frame: Frame, was_running: bool) -> None:
    """The old unit's strands have ended: stop it, and let the best take its place.

    Args:
        was_running: whether the old unit ran; then the new one does.
    """
    active = frame.active
    assert active is not None
    active.stop()  # before anybody is elected: its hooks may take back what made the other one better
    best = best_ready(frame, is_patient=True)
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


def _wait_for_the_next_tick(frame: Frame) -> None:
    """Compare the units again in the next tick: if they overtook each other without end, time would stop for all."""
    if frame.planner.trace.on:
        frame.note(Event.STORM, reason="too many preemptions in one tick")
    frame.planner.kernel.call_later(1, frame.look_again)


def refuse(unit: Unit, reason: str) -> None:
    """An elected unit cannot be started now: stop it again, and have it think again a little later."""
    watched = unit.frame.planner.trace.on
    if watched:
        unit.note(Event.REFUSED, reason=reason)
    place = keep_place(unit)  # else each refusal would put it at the end of the line for what it waits for
    unit.stop_think()
    unit.stop(IMPOSSIBLE)
    restore_place(unit, place)
    extras = unit.own_extras()
    extras.reason = f"it refused to be started: {reason}"
    backoff = extras.backoff
    frame = unit.frame
    kernel = frame.planner.kernel
    refusal = refusal_of(kernel)
    if refusal is not None:
        line_up(unit, refusal)
        if unit.spec.steps is None and not unit.spec.has_think:
            return  # it chooses nothing, and can only wait for its turn
    if watched and backoff.is_storm:
        unit.note(Event.STORM, delay=backoff.delay)
    backoff.wait(kernel, try_again, frame, unit, frame.round)
