"""Taking a snapshot: what an agent is doing now, asked of its parts.

Snapshots stand below agents, which take them of themselves; what is read of one is named in ``SeenAgent``.
Nothing is changed by it, nothing of an author's is called that could be avoided, and nothing is made: a gameplay that
nobody asked for is not there. What an author's own object does all the same, when it is asked for its name, its text or
its view, is caught where it happens, and the view says so.

*The plan* is gone down once, and paths are made on the way: asking each place for its own would go up the whole plan
again. What a unit waits for is read off its strand, and why it is not possible off its state. Two things cannot be
known for nothing: arguments and the author's own debugging data are whatever an author put there, so their words come
from their ``name`` or their ``str()``; one that raises is called by its type.

Source: ours; Stonehearth, AI, the AI inspector, "Debugging methods".
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.activity.author.arguments import NO_ARGS
from agentrt.activity.author.utility import SUNK_COST_SECONDS
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.plan.tree import Unit, begin_rest, boosted, comes_too_late
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
from agentrt.activity.status import running_branch, status_of
from agentrt.activity.tasks.group import TaskFrame, TaskUnit
from agentrt.body.driver import TARGETS, Body
from agentrt.body.flags import FlagLedger
from agentrt.body.views import ModelView, Outline
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.strand import Strand, frames_of, waiting_state
from agentrt.snapshot.offered import MadeOf, Offering, values_of
from agentrt.snapshot.views import (
    AgentSnapshot,
    AgentSummary,
    DriverView,
    FlagView,
    FrameView,
    InjectionView,
    TaskPlace,
    UnitView,
    models_doing,
)
from agentrt.words import error_words, plain, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.author.seat import Progress
    from agentrt.activity.plan.tree import Execution, Extras, Frame, Planner
    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.body.driver import Driver
    from agentrt.errors import AgentKilled
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.views import GameplayView


class _SeenAttachment(Protocol):
    driver: Driver
    every: int


class _SeenInjection(Protocol):
    source: str
    actions: tuple[type[Action], ...]

    @property
    def teaches(self) -> tuple[str, ...]: ...


class SeenAgent(Body, Offering, Protocol):
    """An agent, as a snapshot sees it: a body, and all else that is read of one."""

    planner: Planner | None  # it is kept when the agent has ended; None before it was in a runtime
    is_ending: bool  # whether it was told to end

    @property
    def error(self) -> AgentKilled | None:
        """Why it was killed."""

    @property
    def gameplay_if_made(self) -> Gameplay | None:
        """If anybody ever asked for it: looking makes none."""

    @property
    def is_alive(self) -> bool:
        """Whether it is in a runtime and has not ended."""
        ...

    @property
    def status_text(self) -> str:
        """What it does, for its players."""
        ...

    @property
    def attachments(self) -> Sequence[_SeenAttachment]:
        """Its drivers, in the order of a tick."""
        ...

    @property
    def running_observers(self) -> tuple[str, ...]:
        """The aliases of its observers that have not ended."""
        ...

    @property
    def task_groups(self) -> tuple[TaskGroup, ...]:
        """The task groups that it is in."""
        ...

    @property
    def injections(self) -> Sequence[_SeenInjection]:
        """What it was taught and was not revoked."""
        ...


_LONGEST = 100  # characters of an argument in words
_LONGEST_NAME = 60  # of all arguments of a task in its name
_MOST = 6  # elements of an argument that are named
_DEEPEST = 2  # lists within lists

_NO_ARGS: tuple[tuple[str, str], ...] = ()
_NO_RESTARTS: dict[str, Any] = {}


def _frame_view(frame: Frame, path: str, made_of: MadeOf) -> FrameView:
    """The view of a place of a plan and all below it."""
    begin_rest(frame)
    state = frame.state
    return FrameView(
        frame.activity,
        path,
        FRAME_NAMES[state],
        tuple([_unit_view(frame, unit, f"{path}/{unit.spec.label}", made_of) for unit in frame.units]),
        _NO_ARGS if frame.args is None or frame.args is NO_ARGS else _args(frame.args),
        0 if state == IDLE else frame.since,
        _limit(frame.parent.extras, frame.index)
        if state == THINKING and frame.index and frame.parent is not None
        else 0,
        frame.is_bound,
        *((frame.unasked, frame.why_unasked()) if frame.is_choosy and isinstance(frame, TaskFrame) else (0, "")),
    )


def _unit_view(frame: Frame, unit: Unit, path: str, made_of: MadeOf) -> UnitView:
    spec, state, utility = unit.spec, unit.state, unit.utility
    if state == IDLE:
        return _idle_view(frame, unit, path)
    is_elected = unit is frame.active
    with_boost = boosted(frame) if is_elected else utility
    boost, boost_at = 0.0, 0
    if is_elected and state == RUNNING and with_boost == utility and spec.boost:
        boost, boost_at = spec.boost, unit.since + frame.planner.kernel.clock.ticks(SUNK_COST_SECONDS)
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
        unit.since,
        _again(unit, extras) if state < STARTED else 0,
        _limit(extras, 0),
        "" if extras is None else _told(extras.progress),
        _reason(frame, unit, extras) if state < STARTED else "",
        _waits(unit, extras) if state != READY else "",
        spec.flags,
        task,
        {} if extras is None or not extras.kept_debug else plain(extras.kept_debug),
        () if state == IMPOSSIBLE or (extras is None and spec.steps is None) else _steps(unit, path, made_of),
        **_restarts(extras),
        **_asked(extras),
        made_of=made_of.of(spec.cls.made_of, None if extras is None else extras.kept_debug) if spec.cls.made_of else {},
    )


def _asked(extras: Extras | None) -> dict[str, Any]:
    """What there is to say of a unit that asked a mind."""
    if extras is None or isinstance(extras.progress, str):
        return {}
    return {"asked": extras.progress.asked, "queued": extras.progress.queued}


def _told(progress: str | Progress) -> str:
    return progress if isinstance(progress, str) else progress.words()


def _idle_view(frame: Frame, unit: Unit, path: str) -> UnitView:
    """The same of one that is idle, as most are: of it there is little to tell, and nothing to ask."""
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
        debug={} if extras is None or not extras.kept_debug else plain(extras.kept_debug),
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


def _steps(unit: Unit, path: str, made_of: MadeOf) -> tuple[FrameView, ...]:
    """The activities below a unit: the steps of a compound, those too that have not thought, then spawned frames."""
    views = []
    steps = unit.spec.steps
    if steps is not None and isinstance(unit, CompoundUnit):
        made, frames = len(unit.frames), unit.frames
        for index, step in enumerate(steps):
            where = f"{path}/{step.label}"
            if index < made and frames[index].state != IDLE:
                views.append(_frame_view(frames[index], where, made_of))
            else:
                views.append(FrameView(step.activity, where, "idle", (), is_fixed=step.is_used))
    if unit.extras is not None and unit.extras.spawned:
        views += [_frame_view(frame, frame.path(), made_of) for frame in unit.extras.frames()]
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
    if unit.spec.is_filter and not unit.spec.has_filter:
        return "it is out by hand: disabled, or another one is forced"
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
    due = 0 if extras is None or extras.backoff is None else extras.backoff.due
    if not due and isinstance(unit, CompoundUnit) and unit.backoff is not None:
        due = unit.backoff.due
    return due


def _limit(extras: Extras | None, step: int) -> int:
    """The last tick in which a unit, number 0, or a step of it is in time: the limit is at the next one's beginning."""
    timer = None if extras is None or extras.timeouts is None else extras.timeouts.get(step)
    waiting = 0 if timer is None else timer.waiting
    return waiting - 1 if isinstance(waiting, int) and waiting else 0


def places_of(agent: SeenAgent) -> dict[str, str]:
    """Where each action that thinks waits in its author's code, by its path: the name of the file, and the line.

    It is no part of a snapshot: which line that is says nothing of the run, and differs between two editions of it.
    """
    places: dict[str, str] = {}
    planner = agent.planner
    frames = [] if planner is None else [one.root for one in (planner.execution, *planner.performances)]
    while frames:
        for unit in frames.pop().units:
            if unit.state == THINKING and isinstance(unit.code, (Strand, Unit)):
                places[unit.path()] = _line_of(unit.code.coro)
            if isinstance(unit, CompoundUnit):
                frames.extend(unit.frames)
            if unit.extras is not None and unit.extras.spawned:
                frames.extend(unit.extras.frames())
    return places


_MACHINERY = frozenset({"agentrt", "anyio", "asyncio", "trio"})


def _line_of(coro: object) -> str:
    """The innermost line of its author's at which a coroutine waits; empty if there is none."""
    line = ""
    for frame in frames_of(coro):
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _MACHINERY:
            line = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"  # noqa: PTH119 - may be no path
    return line


def _may_answer(extras: Extras) -> str:
    """What was opened while thinking and may still answer, in words."""
    found = Counter(one.words for one in extras.while_thinking or ())
    frames = sum(not one.frame.is_hopeless for one in extras.spawned)
    if frames:
        found["an activity that it spawned", "activities that it spawned"] = frames
    return " and ".join(one if count == 1 else f"{count} {many}" for (one, many), count in found.items())


def _waits(unit: Unit, extras: Extras | None) -> str:
    if extras is not None:
        if extras.awaits_flags:
            return f"for the control flags {' '.join(unit.spec.flags)}"
        if extras.suspension is not None and extras.suspension.waiter is not None:
            return "to be resumed"
        if extras.execute is not None:
            return ""  # what it executes is below it, and says so itself
    strand = unit.code
    if unit.state == THINKING and strand is not None and unit.leaving() is not None:
        return "until its thinking before has ended"
    if unit.state == THINKING and strand is None and extras is not None and extras.may_answer:
        return f"for {_may_answer(extras)}"
    if not isinstance(strand, (Strand, Unit)):
        return ""
    state = strand.state if isinstance(strand, Strand) else waiting_state(strand, strand.kernel)
    if state == "sleeping":
        return f"until tick {strand.waiting}"
    return {"parked": "for something to happen", "foreign": "for something outside"}.get(state, "")


def _args(args: Any) -> tuple[tuple[str, str], ...]:
    values = args if isinstance(args, dict) else vars(args)
    return tuple([(name, _words(value)) for name, value in values.items()])


def _words(value: object, depth: int = 0) -> str:
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
    if isinstance(value, (dict, set, frozenset)) and kind in (dict, set, frozenset):  # no subclass's own length
        return f"{len(value)} {'entries' if kind is dict else 'elements'}"
    text = str(plain(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def snapshot_agent(agent: SeenAgent) -> AgentSnapshot:
    """Take a snapshot of an agent."""
    planner = agent.planner
    execution = None if planner is None else planner.execution
    performances = () if planner is None else planner.performances
    status_key, status_args = status_of(planner)
    flags = FlagLedger() if agent.flags_if_made is None else agent.flags_if_made  # looking makes none
    values = values_of(agent)
    made_of = MadeOf(values)
    clock = None if planner is None else planner.kernel.clock  # it is kept when the agent is removed or killed
    return AgentSnapshot(
        name=agent.name,
        kind=_kind(agent),
        number=agent.number,
        tick=0 if clock is None else clock.tick,
        ticks_per_second=0 if clock is None else clock.ticks_per_second,
        is_alive=agent.is_alive,
        is_ending=agent.is_ending,
        error="" if agent.error is None else words_of(agent.error),
        status_text=agent.status_text,
        status_key=status_key,
        status_args=plain(status_args),
        running=_running(execution)[0],
        plan=None if execution is None else _frame_view(execution.root, execution.root.path(), made_of),
        again=0 if execution is None else execution.due,
        performances=tuple(_frame_view(one.root, one.root.path(), made_of) for one in performances),
        drivers=tuple(_driver_view(attachment) for attachment in agent.attachments),
        flags=tuple(FlagView(flag, hold.name, hold.since) for flag, hold in flags.holds().items()),
        waiting=tuple(flags.waiting()),
        refusals=tuple(flags.refusals()),
        aborts=0 if execution is None else execution.seldom.aborts,
        abort_reason="" if execution is None else execution.seldom.reason,
        observers=agent.running_observers,
        groups=tuple(group.name for group in agent.task_groups),
        injections=tuple(InjectionView(one.source, len(one.actions), one.teaches) for one in agent.injections),
        strategies=_strategies(agent),
        values=values,
    )


def summarize(agent: SeenAgent) -> AgentSummary:
    """An agent in one line, without a snapshot: for long lists."""
    execution = None if agent.planner is None else agent.planner.execution
    running, doing, utility = _running(execution)
    attachments, gameplay = agent.attachments, _gameplay(agent)
    models: tuple[str, ...] = ("plan",) if execution is not None and execution.root.units else ()
    if gameplay is not None:
        models += ("strategies",)
        doing = doing or " + ".join(one.stack[-1].provider.spec.label for one in gameplay.running if one.stack)
    if attachments:
        models += tuple(dict.fromkeys(_model(one.driver) or one.driver.name for one in attachments))
        doing = doing or models_doing([(one.driver.rank, _looked_at(one.driver)[0]) for one in attachments])
    return AgentSummary(
        name=agent.name,
        number=agent.number,
        kind=_kind(agent),
        status=agent.status_text,
        running=running,
        doing=doing,
        models=models,
        aborts=0 if execution is None else execution.seldom.aborts,
        waiting=agent.flags_if_made is not None and bool(agent.flags_if_made.waiting()),
        alive=agent.is_alive,
        utility=utility,
        groups=tuple([group.name for group in agent.task_groups]),
    )


def outlines(agent: SeenAgent) -> dict[str, Outline]:
    """The trees that drive an agent, whole, by the names of its drivers; models without a tree are left out."""
    found: dict[str, Outline] = {}
    for attachment in agent.attachments:
        outline = getattr(attachment.driver, "outline", None)
        made = outline() if callable(outline) else None
        if isinstance(made, Outline):
            found[attachment.driver.name] = made
    return found


def _kind(agent: SeenAgent) -> str:
    kind = getattr(agent.entity, "kind", "")
    return kind if isinstance(kind, str) else ""


def _running(execution: Execution | None) -> tuple[str, str, float | None]:
    """The path, the name and the utility of the innermost unit that runs; empty if none does."""
    innermost = None
    for unit in () if execution is None else running_branch(execution.root):
        innermost = unit
    if innermost is None:
        return "", "", None
    return innermost.path(), innermost.spec.name, boosted(innermost.frame)


# --- other models -----------------------------------------------------------------------------------------------------


def _driver_view(attachment: _SeenAttachment) -> DriverView:
    driver = attachment.driver
    view, lines = _looked_at(driver)
    return DriverView(
        name=driver.name,
        rank=driver.rank,
        every=attachment.every,
        precedence=driver.precedence,
        state=view,
        lines=lines,
        model=_model(driver),
        active=view.active() if isinstance(view, ModelView) else (),
        outline=view.outline_id if isinstance(view, ModelView) else "",
    )


def _looked_at(driver: Driver) -> tuple[object, tuple[str, ...]]:
    view = None
    try:
        view = driver.view()
        return view, tuple(view.lines())
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # whoever looks must not be stopped by a driver that cannot be looked at
        return view, (f"its view raised {error_words(error)}",)


def _model(driver: Driver) -> str:
    """What a model is called; empty for one of somebody's own."""
    kind = getattr(type(driver), "view_type", None)
    if not isinstance(kind, type) or not issubclass(kind, ModelView):
        return ""
    return "targets" if kind.model == "goals" and driver.rank == TARGETS else kind.model


# --- strategies -------------------------------------------------------------------------------------------------------


def _gameplay(agent: SeenAgent) -> Gameplay | None:
    """Its gameplay, if it has one that can be asked for something."""
    gameplay = agent.gameplay_if_made
    is_empty = gameplay is None or not (gameplay.catalog.providers or gameplay.running or gameplay.finished)
    return None if is_empty else gameplay


def _strategies(agent: SeenAgent) -> GameplayView | None:
    gameplay = _gameplay(agent)
    if gameplay is None:
        return None
    from agentrt.strategy.views import view_of  # who has no strategies does not load them

    return view_of(gameplay)
