"""Kept thoughts: thinking that goes on over the end of plans that it did not win, and a count of what was cut off.

By default every action is asked anew with each plan: when one has run to its end, all thinking stops and begins again,
and an action that cannot beat what is elected stops thinking until that is over. So a thought of one second beside an
action that ends every half second is never finished. Two things are done about it:

* Nobody starves in silence. Thinking that was stopped before it had an answer is counted, with the reason and since
  when, until it has one (``note_cut``); snapshots and explanations tell.
* An action that declares ``asks = "when changed"`` keeps its thinking, be it ready or not, in both cases.

How it is kept: at a place that goes on, it simply thinks on. Where the place itself is stopped, because a plan has run
to its end or the compound around it could not beat what was elected (``Execution.renewing``), the unit is *set aside*
(``set_aside``): it stays in its state, at its place, with its arguments and their protection, though the place is idle
and looks at nothing that it says. When the place thinks again it is taken up (``take_up``), if
it is still true what it was asked: equal arguments, nothing in CURRENT that a step before has written, and the same
actions known for that place. Else it stops, and begins anew. One that is not possible any more (it said so, an argument
is gone, its time is over) is asked anew in any case.

Not kept, since the tree around it is not the same: over an abort, an interruption of the plan that it is a part of, and
the end of the agent; below a frame of ``ctx.spawn`` or ``ctx.execute``, and in what is performed beside the plan; when
the compound around it takes it back by itself, because a step before it has something else or rejected. What was aside
when a plan ended and is not taken up until the next one ends is stopped then (``Execution.stale``).

Kept in sync: a place with units set aside is idle, is in ``Execution.asides``, and has its ``args``, ``expected`` and
``protection``; an idle place has none of these otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.expected import has_changes
from agentrt.activity.states import FINISHED, IDLE, READY, THINKING
from agentrt.errors import ENDS_PROGRAM

if TYPE_CHECKING:
    from agentrt.activity.author.expected import Current
    from agentrt.activity.plan.tree import Frame, Unit

__all__ = [
    "ENDED",
    "end_asides",
    "keeps_thinking",
    "note_cut",
    "outdone",
    "relearn_asides",
    "renew",
    "set_aside",
    "take_up",
]

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
    execution = frame.planner.execution
    if node is not execution.root:
        return False
    execution.keeps = True
    return True


def renew(frame: Frame) -> None:
    """A plan has run to its end: stop it, but for those who keep their thinking."""
    execution = frame.execution
    if execution.stale:
        end_asides(execution.stale.copy())
    execution.renewing = ENDED
    try:
        frame.stop()
    finally:
        execution.renewing = ""
    execution.stale = execution.asides.copy()


def set_aside(frame: Frame) -> list[Unit]:
    """A plan has run to its end: set those units of a place aside that keep their thinking.

    Args:
        frame: the place, which is being stopped.

    Returns:
        The others, which are to be stopped.
    """
    kept = [unit for unit in frame.units if unit.spec.keeps and unit.state in (THINKING, READY)]
    if not kept or frame.version != frame.planner.version:
        return frame.units
    for unit in kept:
        unit.own_extras().kept_since = _since(unit)
        unit.round_is_over()
    frame.aside = kept
    frame.execution.asides.append(frame)
    return [unit for unit in frame.units if unit not in kept]


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


def take_up(frame: Frame, args: Any, expected: Current | None) -> list[Unit]:
    """A place thinks again: its units go on that were set aside, if what they were asked is still true.

    Args:
        frame: the place; its arguments are still those of before.
        args: what it is called with now.
        expected: the expected state of the entity now.
    """
    if frame.aside is None:
        return frame.units
    kept = _bring_back(frame)
    is_same = _is_untouched(frame.expected) and _is_untouched(expected) and _are_equal(frame.args, args)
    for unit in kept:
        if not is_same or unit.state not in (THINKING, READY):
            unit.end_thinking("its arguments are others now")
    return [unit for unit in frame.units if unit.state == IDLE]


def _bring_back(frame: Frame) -> list[Unit]:
    """Who was set aside at a place, which is not in the books of those any more."""
    execution = frame.execution
    kept, frame.aside = frame.aside or [], None
    execution.asides.remove(frame)
    if frame in execution.stale:
        execution.stale.remove(frame)
    if frame.protection is not None:
        frame.protection.release()
        frame.protection = None
    return kept


def end_asides(frames: list[Frame]) -> None:
    """Stop what was set aside and not taken up."""
    for frame in frames:
        for unit in _bring_back(frame):
            unit.end_thinking("its place in the plan was not come to again")
        frame.args = frame.expected = None


def relearn_asides(frames: list[Frame]) -> None:
    """The agent learned or forgot actions: stop what was set aside where others are known now."""
    for frame in frames:
        if tuple(unit.spec for unit in frame.units) != tuple(frame.performers()):
            end_asides([frame])


def note_cut(unit: Unit, why: str) -> None:
    """The thinking of a unit is stopped before it had an answer.

    Args:
        why: the reason in words, if who stops it knows one.
    """
    extras, execution = unit.own_extras(), unit.frame.execution
    if not extras.cuts:
        extras.cut_since = _since(unit)
    extras.cuts += 1
    if why:
        extras.cut_reason = why
    elif execution.renewing:
        extras.cut_reason = execution.renewing
    elif execution.is_aborting:
        extras.cut_reason = "the plan was aborted"
    else:
        extras.cut_reason = ENDED if execution.root.state == FINISHED else "the plan around it was thought again"


def _since(unit: Unit) -> int:
    """The tick in which its thinking began: with all others of its place, or by itself after them."""
    kept = 0 if unit.extras is None else unit.extras.kept_since
    return kept or max(unit.since, unit.frame.since)


def _is_untouched(expected: Current | None) -> bool:
    return expected is None or not has_changes(expected, None)


def _are_equal(before: Any, now: Any) -> bool:
    if before is now:
        return True
    try:
        return bool(before == now)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # values of the author's that cannot be compared: nobody knows, so it is asked anew
        return False
