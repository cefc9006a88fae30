"""Waits: who waits for whom, and a circle of those, which nobody in it can end.

Strategies await requests, actions await performances, of their own agent or of another, and each may hold control flags
that another waits for. When each of a circle of them waits for the next, all stand still for ever, and nobody hears
why. So whoever begins to wait looks along the waits: if they lead back to it, the youngest performance of the circle
fails, with a reason that names the circle, and the others go on. The last wait is what closes a circle; so only circles
through who has just begun to wait are looked for, and again when what came up was dealt with.

A wait is that the coroutine of an action awaits the end of a performance (``Extras.awaits``), or that an action waits
for control flags that somebody holds who does not give way, or for its place in the line. Only the innermost action of
an execution waits; those above wait for it, and not for what it awaits in a strand of its own.

Nothing counts that something else may still end: an execution that is being unwound, one that stands still because
something came up or because it was told to pause, one with a deadline (``move_on_after``, ``fail_after``) anywhere on
the way up, and one behind a shield, by which its author says that it is to come to its end. Somebody from outside might
still cancel one, or something better come up in a plan; but nobody can count on that. A deadline of an event loop's own
(``asyncio.timeout``) is not known here: use ``fail_after`` around a wait that may go round in a circle.

Rejected: a bound on how long anybody waits. It would have to be longer than the longest honest wait.

Source: ours; prismarine-gameplay: "Task Failure".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentrt.activity.plan.spawned import Performance
from agentrt.activity.states import RUNNING

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Stack, Unit


class Wait(NamedTuple):
    """An execution waits for another one."""

    execution: Stack
    target: Stack  # for whose end it waits
    how: str  # in words, such as "awaits"


def waits_of(execution: Stack, back_to: Stack | None = None) -> list[Wait]:
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
    held, before = execution.planner.flags.blockers(unit)
    found: dict[Stack, Wait] = {}
    for owners, only, how in ((held, None, "of"), (before, back_to, "after")):
        if owners is held or only is not None:
            for owner in owners:
                place = getattr(owner, "frame", None)  # others than actions hold flags; for what they wait nobody knows
                target = None if place is None else place.execution
                if target is not None and target is not execution and target not in found and only in (None, target):
                    found[target] = Wait(execution, target, f"waits for the control flag {flags} {how}")
    return list(found.values())


def _innermost(execution: Stack) -> Unit | None:
    """The action that acts in it at this moment."""
    unit = execution.root.active
    while unit is not None and unit.state == RUNNING:
        below = unit.running_child()
        if below is None:
            return unit
        unit = below.active
    return None


def _may_end(execution: Stack, unit: Unit) -> bool:
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


def circle_through(execution: Stack) -> list[Wait]:
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


def wait_in_words(execution: Stack) -> str:
    """For whom an execution waits, in words; empty if it does not."""
    return "; ".join(f"{wait.how} {wait.target.title}" for wait in waits_of(execution))


def look_for_circle(execution: Stack) -> None:
    """An execution begins to wait: if that closes a circle, break it when the ready queue comes to it."""
    if _is_awaited(execution):
        execution.planner.kernel.call_soon(_break_circle, execution)


def _is_awaited(execution: Stack) -> bool:
    """Whether anybody may wait for an execution: quick, since of many who want the same nobody waits for the last."""
    flags = execution.planner.flags
    if isinstance(execution, Performance) and execution.awaiters:
        return True
    holders = [getattr(hold.owner, "frame", None) for hold in flags.holds().values()]
    if any(holder is not None and holder.execution is execution for holder in holders):
        return True
    unit = _innermost(execution)
    return unit is not None and flags.is_before_others(unit)


def _break_circle(execution: Stack) -> None:
    circle = circle_through(execution)
    performances = [wait.execution for wait in circle if isinstance(wait.execution, Performance)]
    if not performances:
        return
    victim = max(performances, key=lambda one: one.age)
    index = next(index for index, wait in enumerate(circle) if wait.execution is victim)
    circle = [*circle[index:], *circle[:index]]
    told = f"{circle[0].execution.title} {circle[0].how} {circle[0].target.title}"
    for wait in circle[1:]:
        told += f", which {wait.how} {wait.target.title}"
    victim.end_deadlock(f"a deadlock: {told}")
