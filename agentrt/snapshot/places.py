"""Views of the places of a plan: what is true of a frame and its units now, without calling anything of an author's.

The tree is gone down once, and paths are made on the way: asking each place for its own would go up the whole plan
again. What a unit waits for is read off its strand, and why it is not possible off its state.

Two things cannot be known for nothing: arguments and the author's own debugging data are whatever an author put there,
so their words come from their ``name`` or their ``str()``; one that raises is called by its type.

Source: seed 001, the AI inspector; "Debugging methods".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity.compound import CompoundUnit
from agentrt.activity.election import boosted, comes_too_late
from agentrt.activity.fields import NO_ARGS
from agentrt.activity.states import (
    FRAME_NAMES,
    IDLE,
    IMPOSSIBLE,
    READY,
    RUNNING,
    STARTED,
    SWITCHING,
    THINKING,
    UNIT_NAMES,
)
from agentrt.activity.task_frame import TaskFrame
from agentrt.activity.task_units import TaskUnit
from agentrt.kernel.strand import Strand
from agentrt.snapshot.plan_views import FrameView, TaskPlace, UnitView
from agentrt.words import plain

if TYPE_CHECKING:
    from agentrt.activity.extras import Extras
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["frame_view"]

_LONGEST = 100  # characters of an argument in words
_LONGEST_NAME = 60  # of all arguments of a task in its name
_MOST = 6  # elements of an argument that are named
_DEEPEST = 2  # lists within lists

_NO_ARGS: tuple[tuple[str, str], ...] = ()
_NO_RESTARTS: dict[str, Any] = {}


def frame_view(frame: Frame, path: str) -> FrameView:
    """The view of a place of a plan and all below it.

    Args:
        frame: the place.
        path: its path.
    """
    state = frame.state
    return FrameView(
        frame.activity,
        path,
        FRAME_NAMES[state],
        tuple([_unit_view(frame, unit, f"{path}/{unit.spec.label}") for unit in frame.units]),
        _NO_ARGS if frame.args is None or frame.args is NO_ARGS else _args(frame.args),
        0 if state == IDLE else frame.since,
        _step_limit(frame) if state == THINKING else 0,
        frame.is_bound,
        *_unasked(frame),
    )


def _unasked(frame: Frame) -> tuple[int, str]:
    """How many tasks were not asked, and why."""
    return (frame.unasked, frame.why_unasked()) if frame.is_choosy and isinstance(frame, TaskFrame) else (0, "")


def _unit_view(frame: Frame, unit: Unit, path: str) -> UnitView:
    spec, state, utility = unit.spec, unit.state, unit.utility
    if state == IDLE:
        return _idle_view(frame, unit, path)
    is_elected = unit is frame.active
    with_boost = boosted(frame) if is_elected else utility
    boost, boost_at = 0.0, 0
    if is_elected and state == RUNNING and with_boost == utility and spec.boost:
        boost, boost_at = spec.boost, unit.since + frame.planner.sunk_ticks
    extras = unit.extras
    task = _task(unit) if spec.kind == "task" else None
    return UnitView(
        spec.label,
        spec.name if task is None else _task_name(spec.name, task),
        path,
        spec.kind,
        UNIT_NAMES[state],
        utility,
        with_boost,
        is_elected,
        spec.low,
        spec.high,
        boost,
        boost_at,
        spec.weight,
        _since(frame, unit, extras),
        _again(unit, extras) if state < STARTED else 0,
        0 if extras is None or extras.timeout is None else _limit(extras.timeout.waiting),
        "" if extras is None else extras.progress,
        _reason(frame, unit, extras) if state < STARTED else "",
        _waits(unit, extras) if state != READY else "",
        spec.flags,
        task,
        {} if extras is None or not extras.debug else plain(extras.debug),
        () if state == IMPOSSIBLE or (extras is None and spec.steps is None) else _steps(unit, path),
        **_restarts(extras),
    )


def _idle_view(frame: Frame, unit: Unit, path: str) -> UnitView:
    spec, utility = unit.spec, unit.utility
    extras = unit.extras
    task = _task(unit) if spec.kind == "task" else None
    return UnitView(
        spec.label,
        spec.name if task is None else _task_name(spec.name, task),
        path,
        spec.kind,
        "idle",
        utility,
        utility,
        False,
        spec.low,
        spec.high,
        weight=spec.weight,
        reason=extras.reason if extras is not None and spec.has_filter and frame.state == THINKING else "",
        flags=spec.flags,
        task=task,
        debug={} if extras is None or not extras.debug else plain(extras.debug),
        **_restarts(extras),
    )


def _restarts(extras: Extras | None) -> dict[str, Any]:
    """How often its thinking was stopped before it had an answer."""
    if extras is None or not extras.cuts:
        return _NO_RESTARTS
    return {"restarts": extras.cuts, "restart_reason": extras.cut_reason, "restarts_since": extras.cut_since}


def _task(unit: Unit) -> TaskPlace | None:
    if not isinstance(unit, TaskUnit):
        return None
    task = unit.task
    return TaskPlace(task.group.name, task.number, _args(task.args) if task.args else _NO_ARGS)


def _task_name(name: str, task: TaskPlace) -> str:
    """A task by its number, its activity and what tells it from the others."""
    if not task.args:
        return name
    about = ", ".join([f"{key}: {words}" for key, words in task.args])
    return f"{name} ({about if len(about) <= _LONGEST_NAME else f'{about[:_LONGEST_NAME]}...'})"


def _steps(unit: Unit, path: str) -> tuple[FrameView, ...]:
    """The activities below a unit: the steps of a compound, those too that have not thought, then spawned frames."""
    views = []
    steps = unit.spec.steps
    if steps is not None and isinstance(unit, CompoundUnit):
        made, frames = len(unit.frames), unit.frames
        for index, step in enumerate(steps):
            where = f"{path}/{step.label}"
            if index < made and frames[index].state != IDLE:
                views.append(frame_view(frames[index], where))
            else:
                views.append(FrameView(step.activity, where, "idle", (), is_fixed=step.is_used))
    if unit.extras is not None and unit.extras.spawned:
        views += [frame_view(frame, frame.path()) for frame in unit.extras.frames()]
    return tuple(views)


# --- in words ---------------------------------------------------------------------------------------------------------


def _reason(frame: Frame, unit: Unit, extras: Extras | None) -> str:
    """Why a unit is not possible now, or cannot be ready, or does not take over."""
    state = unit.state
    if state == READY:
        active = frame.active
        if active is None or active is unit or unit.utility <= active.utility:
            return ""
        return _why_it_stays(frame, unit)
    if state != IMPOSSIBLE:
        is_full = state == THINKING and isinstance(unit, TaskUnit) and not unit.task.has_room()
        return "all its places are taken" if is_full else ""
    if unit.rejection is not None:
        return f"rejected: {unit.rejection}"
    if extras is not None and extras.reason:
        return extras.reason
    return "it only forbids or allows" if unit.spec.is_filter else "it ended thinking without an output"


def _why_it_stays(frame: Frame, unit: Unit) -> str:
    """Why a ready unit with a higher utility than the elected one does not take its place."""
    if unit.utility <= boosted(frame) or frame.state == SWITCHING:
        return ""
    if comes_too_late(frame, unit):
        return "later steps were planned for what the elected one expects"
    return "" if unit.is_settled() else "a step of it has just changed"


def _again(unit: Unit, extras: Extras | None) -> int:
    """The tick in which a unit is asked again by itself."""
    due = 0 if extras is None else extras.backoff.due
    if not due and isinstance(unit, CompoundUnit):
        due = unit.backoff.due
    return due


def _since(frame: Frame, unit: Unit, extras: Extras | None) -> int:
    """The tick in which it began to run, or to think: with all others of its place, by itself, or before the plan."""
    if unit.state >= RUNNING:
        return unit.since
    kept = 0 if extras is None else extras.kept_since
    return kept or max(unit.since, frame.since)


def _limit(waiting: object) -> int:
    """The last tick that is in time: a limit is drawn at the beginning of the next one."""
    return waiting - 1 if isinstance(waiting, int) and waiting else 0


def _step_limit(frame: Frame) -> int:
    parent = frame.parent
    if parent is None or parent.extras is None or not parent.extras.step_timeouts:
        return 0
    timer = parent.extras.step_timeouts.get(frame.index)
    return 0 if timer is None else _limit(timer.waiting)


def _waits(unit: Unit, extras: Extras | None) -> str:
    """What a unit waits for."""
    if extras is not None:
        if extras.awaits_flags:
            return f"for the control flags {' '.join(unit.spec.flags)}"
        if extras.suspension is not None:
            return "to be resumed"
        if extras.execute is not None:
            return ""  # what it executes is below it, and says so itself
    strand = unit.running if unit.state >= RUNNING else unit.thinking
    if unit.state == THINKING and strand is not None and unit.leaving is not None and not unit.leaving.is_done:
        return "until its thinking before has ended"
    if unit.state == THINKING and strand is None and extras is not None and extras.may_answer:
        return f"for {extras.waits()}"
    if not isinstance(strand, Strand):
        return ""
    state = strand.state
    if state == "sleeping":
        return f"until tick {strand.waiting}"
    return {"parked": "for something to happen", "foreign": "for something outside"}.get(state, "")


def _args(args: Any) -> tuple[tuple[str, str], ...]:
    values = args if isinstance(args, dict) else vars(args)
    return tuple([(name, _words(value)) for name, value in values.items()])


def _words(value: Any, depth: int = 0) -> str:
    """An argument in words; a thing of the world by its name."""
    kind = type(value)
    if kind is float or kind is bool:
        return str(value)
    if isinstance(value, (list, tuple)):
        if depth > _DEEPEST:
            return "(...)"
        own: Any = list if isinstance(value, list) else tuple  # whatever a subclass makes of these
        count = own.__len__(value)
        named = ", ".join([_words(one, depth + 1) for one in own.__getitem__(value, slice(_MOST))])
        return f"({named})" if count <= _MOST else f"({named}, ... {count} of them)"
    if kind is dict:
        return f"{len(value)} entries"
    if kind is set or kind is frozenset:
        return f"{len(value)} elements"
    text = str(plain(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
