"""Snapshots: what an agent is doing, as frozen, plain data. Tools, terminal views and tests read only this.

Taking one changes nothing and keeps nothing alive but numbers and words. Paths are stable ids: the same place of a
plan has the same path in every equal run.

Source: seed 001, the AI inspector: activities in brackets, actions beneath them, the running branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agentrt.activity.election import boosted
from agentrt.activity.states import FRAME_NAMES, STARTED, UNIT_NAMES
from agentrt.body.flags import Refusal

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit
    from agentrt.agent import Agent

__all__ = ["AgentSnapshot", "FrameView", "UnitView", "explain", "snapshot_agent"]


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
        frames: the activities below it.
    """

    action: str
    name: str
    state: str
    utility: float
    boosted: float
    is_elected: bool
    progress: str
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


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """What an agent is doing.

    Attributes:
        name: the agent's.
        tick: when.
        is_alive: whether it has not ended.
        status_text: what it does, for players.
        running: the path of what it runs, down to the leaf; empty while it only thinks.
        plan: its plan tree; None outside a runtime.
        flags: held control flags, with the name of the holder.
        refusals: who was refused a control flag, and why.
        aborts: how many aborts there were in a row.
        abort_reason: the last one's reason.
    """

    name: str
    tick: int
    is_alive: bool
    status_text: str
    running: str
    plan: FrameView | None
    flags: tuple[tuple[str, str], ...]
    refusals: tuple[Refusal, ...]
    aborts: int
    abort_reason: str

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return asdict(self)


def snapshot_agent(agent: Agent) -> AgentSnapshot:
    """Take a snapshot of an agent.

    Args:
        agent: the agent.
    """
    planner = agent.planner
    root = None if planner is None else planner.execution.root
    running, status = "", ""
    if root is not None:
        for unit in _running(root):
            running = unit.path()
            status = _status(unit) or status
    return AgentSnapshot(
        name=agent.name,
        tick=0 if agent.runtime is None else agent.runtime.tick,
        is_alive=agent.is_alive,
        status_text=status,
        running=running,
        plan=None if root is None else _frame(root),
        flags=tuple((flag, hold.name) for flag, hold in agent.flags.holds().items()),
        refusals=tuple(agent.flags.refusals()),
        aborts=0 if planner is None else planner.execution.aborts,
        abort_reason="" if planner is None else planner.execution.abort_reason,
    )


def _running(frame: Frame) -> Iterator[Unit]:
    """The units of the running branch, outermost first."""
    node: Frame | None = frame
    while node is not None and node.active is not None and node.active.state >= STARTED:
        unit = node.active
        yield unit
        node = unit.running_child()


def _status(unit: Unit) -> str:
    extras = unit.extras
    if extras is not None and extras.status is not None:
        key, args = extras.status
        return f"{key} ({', '.join(f'{name}: {value}' for name, value in args.items())})" if args else key
    return unit.spec.cls.status_text_key or ""


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
        action=unit.spec.cls.__name__,
        name=unit.spec.name,
        state=UNIT_NAMES[unit.state],
        utility=unit.utility,
        boosted=boosted(frame) if is_elected else unit.utility,
        is_elected=is_elected,
        progress="" if unit.extras is None else unit.extras.progress,
        frames=tuple(_frame(child) for child in unit.children()),
    )


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
    for refusal in snapshot.refusals:
        lines.append(
            f"  {refusal.claimant} was refused {refusal.flag} in tick {refusal.tick}: held by {refusal.holder}"
        )
    if snapshot.aborts:
        lines.append(f"  {snapshot.aborts} aborts in a row; the last: {snapshot.abort_reason}")
    return "\n".join(lines)


def _explain_frame(frame: FrameView, level: int) -> Iterator[str]:
    indent = "  " * level
    yield f"{indent}<{frame.activity}> {frame.state}" + ("" if frame.units else ": no known action performs it")
    elected = next((unit for unit in frame.units if unit.is_elected), None)
    for unit in frame.units:
        yield f"{indent}  {'* ' if unit.is_elected else '  '}{unit.name}: {_why(unit, elected)}"
        if unit.is_elected or unit.state == "thinking":
            for child in unit.frames:
                if child.state != "idle":
                    yield from _explain_frame(child, level + 3)


def _why(unit: UnitView, elected: UnitView | None) -> str:
    words = f" ({unit.progress})" if unit.progress else ""
    if unit.is_elected:
        boost = f" + {unit.boosted - unit.utility:g} sunk cost" if unit.boosted > unit.utility else ""
        return f"{unit.state}, utility {unit.utility:g}{boost}{words}"
    if unit.state == "ready" and elected is not None:
        return f"ready, but its utility {unit.utility:g} does not beat {elected.boosted:g}{words}"
    if unit.state == "idle" and elected is not None:
        return f"not thinking: it could not beat {elected.utility:g}{words}"
    if unit.state == "thinking":
        return f"not ready yet{words}"
    if unit.state == "impossible":
        return f"not possible now{words}"
    return f"{unit.state}{words}"
