"""Snapshots: what an agent or a runtime is doing, as frozen, plain data. Tools and terminal views read only this.

Taking one changes nothing and keeps nothing alive but numbers and words. Paths are stable ids: the same place of a
plan has the same path in every equal run.

Source: seed 001, the AI inspector: activities in brackets, actions beneath them, the running branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.activity.election import boosted
from agentrt.activity.search import running_branch
from agentrt.activity.states import FRAME_NAMES, IDLE, IMPOSSIBLE, THINKING, UNIT_NAMES
from agentrt.activity.task_units import TaskUnit
from agentrt.body.flags import Refusal, Waiting
from agentrt.status import SILENT, plain, status_of

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit
    from agentrt.agent import Agent
    from agentrt.attachments import Attachment

__all__ = [
    "AgentSnapshot",
    "DriverView",
    "FlagView",
    "FrameView",
    "RuntimeSnapshot",
    "UnitView",
    "explain",
    "snapshot_agent",
]


@dataclass(frozen=True, slots=True)
class UnitView:
    """An action at one place of a plan.

    Attributes:
        action: the name of its class.
        name: what it calls itself.
        state: idle, thinking, ready, impossible, started, running or finished.
        utility: within its activity.
        boosted: with the sunk-cost boost, if it is the elected one.
        is_elected: whether it is.
        progress: what it says about itself, for debugging.
        reason: why it is not possible now: what it rejected, what raised, that it found nothing, that a task has no
            place left; else empty.
        debug: what its author put into ``ctx.get_debug_info_datastore()``, as plain values; entities by their names.
        frames: the activities below it.
    """

    action: str
    name: str
    state: str
    utility: float
    boosted: float
    is_elected: bool
    progress: str
    reason: str
    debug: dict[str, Any]
    frames: tuple[FrameView, ...]


@dataclass(frozen=True, slots=True)
class FrameView:
    """An activity at one place of a plan.

    Attributes:
        activity: what is performed.
        path: its place.
        state: idle, thinking, ready, started, running, finished or switching.
        units: the actions that could perform it.
    """

    activity: str
    path: str
    state: str
    units: tuple[UnitView, ...]


class FlagView(NamedTuple):
    """Who holds a control flag.

    Attributes:
        flag: which.
        holder: who, by name.
        since: the tick in which it took it.
    """

    flag: str
    holder: str
    since: int


@dataclass(frozen=True, slots=True)
class DriverView:
    """What another model does with the agent.

    Attributes:
        name: the driver's.
        rank: where it stands in a tick: 0 selection tree, 1 target selector, 2 goal selector, 3 behavior tree.
        every: in each so many-th tick it drives.
        precedence: of its claims for control flags.
        state: what it is doing, as the model shows it: plain values.
        lines: the same in words.
    """

    name: str
    rank: int
    every: int
    precedence: int
    state: Any
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """What an agent is doing.

    Attributes:
        name: the agent's.
        tick: when.
        is_alive: whether it has not ended.
        status_text: what it does, for players: the text of the innermost running action that has one, translated.
        status_key: the key of that text; empty if no action has one.
        status_args: what the text is filled with, as plain values; entities by their names.
        running: the path of what it runs, down to the leaf; empty while it only thinks.
        plan: its plan tree; None outside a runtime.
        performances: what is performed beside the plan, as plan trees.
        drivers: what the other models do that drive it, in the order of a tick.
        flags: the control flags that are held, by whom and since when.
        waiting: who waits for control flags, in the order in which they are served.
        refusals: who was refused a control flag, and why.
        aborts: how many aborts there were in a row.
        abort_reason: the last one's reason.
    """

    name: str
    tick: int
    is_alive: bool
    status_text: str
    status_key: str
    status_args: dict[str, Any]
    running: str
    plan: FrameView | None
    performances: tuple[FrameView, ...]
    drivers: tuple[DriverView, ...]
    flags: tuple[FlagView, ...]
    waiting: tuple[Waiting, ...]
    refusals: tuple[Refusal, ...]
    aborts: int
    abort_reason: str

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RuntimeSnapshot:
    """What goes on in a runtime.

    Attributes:
        tick: when.
        seconds: the same in game seconds.
        late_ticks: how many ticks were left out because the machine could not keep up.
        strands: how many coroutines live.
        waits: how long tasks were available before somebody started them; the figures of ``WaitTimes``.
        search_waits: how long search work waited for its part of the think budget; likewise.
        think_budget: units of search work in each tick; None for any number.
        think_used: how many of this tick were used.
        think_waiting: how many requests wait.
        agents: each agent, in the order in which they were added.
    """

    tick: int
    seconds: float
    late_ticks: int
    strands: int
    waits: dict[str, Any]
    search_waits: dict[str, Any]
    think_budget: int | None
    think_used: int
    think_waiting: int
    agents: tuple[AgentSnapshot, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return asdict(self)


def snapshot_agent(agent: Agent) -> AgentSnapshot:
    """Take a snapshot of an agent.

    Args:
        agent: the agent.
    """
    planner, runtime = agent.planner, agent.runtime
    root = None if planner is None else planner.execution.root
    running = ""
    if root is not None:
        for unit in running_branch(root):
            running = unit.path()
    status = SILENT if planner is None else status_of(planner.execution)
    return AgentSnapshot(
        name=agent.name,
        tick=0 if runtime is None else runtime.tick,
        is_alive=agent.is_alive,
        status_text=agent.status_text,
        status_key=status.key,
        status_args=plain(status.args),
        running=running,
        plan=None if root is None else _frame(root),
        performances=() if planner is None else tuple(_frame(one.root) for one in planner.performances),
        drivers=tuple(_driver(attachment) for attachment in agent.attachments),
        flags=tuple(FlagView(flag, hold.name, hold.since) for flag, hold in agent.flags.holds().items()),
        waiting=tuple(agent.flags.waiting()),
        refusals=tuple(agent.flags.refusals()),
        aborts=0 if planner is None else planner.execution.aborts,
        abort_reason="" if planner is None else planner.execution.abort_reason,
    )


def _driver(attachment: Attachment) -> DriverView:
    driver = attachment.driver
    view: Any = None
    try:
        view = driver.view()
        lines = tuple(view.lines())
    except Exception as error:  # whoever looks must not be stopped by a driver that cannot be looked at
        lines = (f"its view raised {type(error).__name__}: {error}",)
    return DriverView(driver.name, driver.rank, attachment.every, driver.precedence, view, lines)


def _frame(frame: Frame) -> FrameView:
    return FrameView(
        activity=frame.activity,
        path=frame.path(),
        state=FRAME_NAMES[frame.state],
        units=tuple(_unit(frame, unit) for unit in frame.units),
    )


def _unit(frame: Frame, unit: Unit) -> UnitView:
    is_elected = unit is frame.active
    return UnitView(
        action=unit.spec.label,
        name=unit.spec.name,
        state=UNIT_NAMES[unit.state],
        utility=unit.utility,
        boosted=boosted(frame) if is_elected else unit.utility,
        is_elected=is_elected,
        progress="" if unit.extras is None else unit.extras.progress,
        reason=_reason(unit),
        debug={} if unit.extras is None else plain(unit.extras.debug),
        frames=tuple(_frame(child) for child in unit.children()),
    )


def _reason(unit: Unit) -> str:
    """Why a unit is not possible now, or cannot be ready."""
    told = "" if unit.extras is None else unit.extras.reason
    if unit.state == IDLE and unit.spec.has_filter and unit.frame.state == THINKING:
        return told  # it forbids the whole activity
    if isinstance(unit, TaskUnit) and unit.state == THINKING and not unit.task.has_room():
        return "all its places are taken"
    if unit.state != IMPOSSIBLE:
        return ""
    if unit.rejection is not None:
        return f"rejected: {unit.rejection}"
    if told:
        return told
    return "it only forbids or allows" if unit.spec.is_filter else "it ended thinking without an output"


# --- in words ---------------------------------------------------------------------------------------------------------


def explain(snapshot: AgentSnapshot) -> str:
    """Why an agent does what it does, and why not something else.

    Args:
        snapshot: what it is doing.

    Returns:
        Several lines of text.
    """
    lines = [f"{snapshot.name} at tick {snapshot.tick}: " + (snapshot.running or "runs nothing")]
    if snapshot.plan is not None:
        lines.extend(_explain_frame(snapshot.plan, 1))
    for frame in snapshot.performances:
        lines.append("  performed beside the plan:")
        lines.extend(_explain_frame(frame, 2))
    for driver in snapshot.drivers:
        lines.append(f"  {driver.name}:")
        lines.extend(f"    {line}" for line in driver.lines)
    for flag, holder, since in snapshot.flags:
        lines.append(f"  {flag} is held by {holder} since tick {since}")
    for claim in snapshot.waiting:
        lines.append(f"  {claim.claimant} waits for {' and '.join(claim.flags)} since tick {claim.since}")
    lines.extend(f"  {refusal.text()}" for refusal in snapshot.refusals)
    if snapshot.aborts:
        lines.append(f"  {snapshot.aborts} aborts in a row; the last: {snapshot.abort_reason}")
    return "\n".join(lines)


def _explain_frame(frame: FrameView, level: int) -> Iterator[str]:
    indent = "  " * level
    # No author's activity has a space in its name; see GroupSpec.
    nobody = "no task is started" if frame.activity.startswith("tasks of ") else "no known action performs it"
    yield f"{indent}<{frame.activity}> {frame.state}" + ("" if frame.units else f": {nobody}")
    elected = next((unit for unit in frame.units if unit.is_elected), None)
    for unit in frame.units:
        yield f"{indent}  {'* ' if unit.is_elected else '  '}{unit.name}: {_why(unit, elected, frame.state)}"
        if unit.is_elected or unit.state == "thinking":
            for child in unit.frames:
                if child.state != "idle":
                    yield from _explain_frame(child, level + 3)


def _why(unit: UnitView, elected: UnitView | None, state: str) -> str:
    words = f": {unit.reason}" if unit.reason else ""
    words += f" ({unit.progress})" if unit.progress else ""
    if unit.is_elected:
        boost = f" + {unit.boosted - unit.utility:g} sunk cost" if unit.boosted > unit.utility else ""
        return f"{unit.state}, utility {unit.utility:g}{boost}{words}"
    if unit.state == "ready" and elected is not None:
        if unit.utility > elected.boosted:
            when = "takes over when the other has stopped" if state == "switching" else "does not take over now"
            return f"ready, utility {unit.utility:g}: it {when}{words}"
        return f"ready, but its utility {unit.utility:g} does not beat {elected.boosted:g}{words}"
    if unit.state == "idle" and elected is not None and not unit.reason:
        return f"not thinking: it could not beat {elected.utility:g}{words}"
    if unit.state == "thinking":
        return f"not ready yet{words}"
    if unit.state == "impossible":
        return f"not possible now{words}"
    return f"{unit.state}{words}"
