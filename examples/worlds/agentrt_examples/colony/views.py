"""The panels of the live view, as rich texts: who does what, why, what happened. Only looks, never changes anything.

What an agent does comes from its snapshot and from nothing else: the running branch says what, and at each
activity of that branch the rivals and their utilities say why; what the other models do, and who has which control
flag, comes from ``models``. The panels know their width and height, leave out what does not fit, and say how much
that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from agentrt import Agent
from agentrt.snapshot import FrameView, UnitView
from agentrt.tasks import TaskGroupView
from agentrt_examples.colony.bodies import FULL, Health, Needs, Traits
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.cartographer import COLORS, sign_of
from agentrt_examples.colony.chronicle import Entry
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.models import (
    doing,
    driver_lines,
    flag_lines,
    models_of,
    reason_lines,
    running_units,
)

__all__ = ["agents_panel", "counts_line", "events_panel", "why_panel"]

_DIM = "#7d8590"
_REFUSED = "#ffa657"
_BARS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"

_EVENT_COLORS = {
    "crops harvested": "#e8c468",
    "meals cooked": "#ffb870",
    "meals eaten": "#ffcf9e",
    "wounds healed": "#7ee787",
    "pictures painted": "#d2a8ff",
    "bites": "#ff7b72",
    "knocked down": "#ff7b72",
    "critters caught": "#ff7b72",
    "shots fired": "#79c0ff",
    "wolves shot": "#79c0ff",
    "wolves slain": "#79c0ff",
    "parties formed": "#d2a8ff",
    "wolves driven off": "#79c0ff",
    "wolves arrived": "#ff7b72",
    "eggs laid": "#a5d6a7",
    "eggs hatched": "#a5d6a7",
    "eggs robbed": "#ff7b72",
    "growls": "#e8c468",
    "wolves bitten": "#a5d6a7",
    "drakes arrived": "#a5d6a7",
}

_CONSOLE = Console()  # who wraps a text asks for one, and looks only at its width

# What is told in the live view; the rest would drown it.
_TOLD = frozenset(_EVENT_COLORS) | {"goods sold", "nights slept", "raw food eaten", "critters born"}


def agents_panel(agents: Sequence[Agent], selected: Agent | None, width: int, height: int) -> tuple[Text, int, int]:
    """Who does what: a line for each agent, with the selected one in view.

    Args:
        agents: all of them.
        selected: who is marked.
        width: columns.
        height: lines.

    Returns:
        The text, and how many agents there are above and below those that it shows.
    """
    text = Text(no_wrap=True, overflow="crop", end="")
    text.append(_fit("  who        \N{BLACK HEART SUIT}fr  by   does", width - 5) + " util", _DIM)
    index = next((number for number, agent in enumerate(agents) if agent is selected), 0)
    room = max(1, height - 1)
    first = min(max(0, index - room // 2), max(0, len(agents) - room))
    for agent in agents[first : first + room]:
        text.append("\n")
        text.append_text(_agent_line(agent, agent is selected, width))
    return text, first, max(0, len(agents) - first - room)


def _agent_line(agent: Agent, marked: bool, width: int) -> Text:
    entity = agent.entity
    snapshot = agent.snapshot()
    top = next(running_units(snapshot), None)
    line = Text(no_wrap=True, end="")
    line.append(f"{sign_of(entity)} ", f"bold {COLORS[entity.kind]}")
    line.append(_fit(entity.name, 10) + " ", "bold" if entity.kind == "hearthling" else "")
    line.append_text(_bars(agent))
    line.append(" " + _fit(models_of(snapshot), 4), "#79c0ff")
    line.append(" " + _fit(doing(snapshot), max(4, width - 28)))
    line.append(f" {top[1].boosted:.2f}".replace("0.", ".") if top is not None else "    ", _DIM)
    if marked:
        line.stylize("on #1f3a5f")
    return line


def _bars(agent: Agent) -> Text:
    entity = agent.entity
    health, needs = entity[Health], entity[Needs]
    text = Text(end="")
    shares = [health.points * 100 // health.most]
    if entity.kind != "turret":
        shares += [needs.satiety * 100 // FULL]
    if entity.kind == "hearthling":
        shares += [needs.rest * 100 // FULL]
    for share in shares:
        color = "#7ee787" if share >= 60 else "#e8c468" if share >= 30 else "#ff7b72"
        text.append(_BARS[min(7, share * 8 // 100)], color)
    text.append(" " * (4 - len(shares)))
    return text


def why_panel(agent: Agent | None, width: int, height: int) -> tuple[Text, int]:
    """Why somebody does what it does: at each activity of its running branch, the rivals and their utilities.

    A long line goes on in the next one if there is room for all of them, and else is cut.

    Args:
        agent: who; None for nobody.
        width: columns.
        height: lines.

    Returns:
        The text, and how many lines did not fit below it.
    """
    text = Text(no_wrap=True, overflow="crop", end="")
    if agent is None:
        return text, 0
    snapshot = agent.snapshot()
    lines = [_who_line(agent)]
    branch = list(running_units(snapshot))
    if not branch and not snapshot.drivers:
        lines.append(Text("thinks, and runs nothing", _DIM))
    for depth, (frame, elected) in enumerate(branch):
        lines.append(_rivals(frame, elected, depth, width))
    lines.extend(Text(line, "#a5d6a7") for line in driver_lines(snapshot))
    lines.extend(Text(line, _REFUSED if "refused" in line else _DIM) for line in flag_lines(snapshot))
    lines.extend(_group_line(group.snapshot(), agent.name) for group in agent.task_groups)
    lines.extend(Text(line, _DIM) for line in reason_lines(snapshot))
    thoughts = agent.entity.get(Traits)
    if thoughts is not None and thoughts.thoughts:
        lines.append(Text("thinks of: " + "; ".join(reversed(thoughts.thoughts)), _DIM))
    if snapshot.aborts:
        lines.append(Text(f"{snapshot.aborts} aborts: {snapshot.abort_reason}", "#ff7b72"))
    wrapped = [part for line in lines for part in _wrapped(line, width)]
    if len(wrapped) <= height:
        lines = wrapped
    for number, line in enumerate(lines[:height]):
        if number:
            text.append("\n")
        line.truncate(width, overflow="ellipsis")
        text.append_text(line)
    return text, max(0, len(lines) - height)


def _wrapped(line: Text, width: int) -> Iterator[Text]:
    for number, part in enumerate(line.wrap(_CONSOLE, max(1, width - 4), overflow="fold", no_wrap=False)):
        part.rstrip()
        yield Text.assemble("    ", part, end="") if number else part


def _group_line(group: TaskGroupView, name: str) -> Text:
    """A task group: what is to be done in it, and what this one does."""
    line = Text(end="")
    line.append(group.name.rpartition(":")[2].replace("_", " "), "#d2a8ff")
    tasks = [task for task in group.tasks if task.state == "started"]
    for task in tasks[:4]:
        mine = name in task.workers
        words = ", ".join(words for _, words in task.args) or task.annotation
        line.append(f"  {task.activity.rpartition(':')[2]}", "bold" if mine else "")
        line.append(f" {words}" if words and not task.annotation.startswith("while") else "", _DIM)
        if task.workers and not mine:
            line.append(f" ({len(task.workers)})", _DIM)
    if not tasks:
        line.append("  nothing to do", _DIM)
    return line


def _who_line(agent: Agent) -> Text:
    entity = agent.entity
    health, needs = entity[Health], entity[Needs]
    line = Text(end="")
    line.append(entity.name, "bold")
    ill = ", ".join(entity[Buffs].until)
    if ill:
        line.append(f" {ill}", "#ff7b72")
    line.append(f"  health {health.points}/{health.most}", _DIM)
    if entity.kind != "turret":
        line.append(f"  food {needs.satiety * 100 // FULL}%  rest {needs.rest * 100 // FULL}%", _DIM)
    return line


def _rivals(frame: FrameView, elected: UnitView, depth: int, width: int) -> Text:
    line = Text(end="")
    indent = "  " * min(depth, 5)
    line.append(f"{indent}{elected.name} {elected.utility:.2f}", "bold #e6edf3")
    if elected.boosted > elected.utility:
        line.append(f"+{elected.boosted - elected.utility:.2f}", "#7ee787")
    if elected.progress:
        line.append(f" ({elected.progress})", _DIM)
    others = sorted((unit for unit in frame.units if unit is not elected), key=lambda unit: -unit.utility)
    ready = [f"{unit.name} {unit.utility:.2f}" for unit in others if unit.state == "ready"]
    waiting = [unit.name for unit in others if unit.state == "thinking"]
    if ready:
        line.append("  over " + ", ".join(ready), "#79c0ff")
    if waiting and line.cell_len < width - 12:
        line.append("  not ready: " + ", ".join(waiting), _DIM)
    return line


def events_panel(entries: Sequence[Entry], width: int, height: int) -> tuple[Text, int]:
    """What happened last, the newest at the bottom.

    Args:
        entries: of the chronicle, oldest first.
        width: columns.
        height: lines.

    Returns:
        The text, and how many earlier entries did not fit above it.
    """
    told = [entry for entry in entries if entry.kind in _TOLD]
    earlier = max(0, len(told) - height)
    text = Text(no_wrap=True, overflow="crop", end="")
    for number, entry in enumerate(told[earlier:]):
        if number:
            text.append("\n")
        text.append(f"{entry.tick:>6} ", _DIM)
        text.append(_fit(f"{entry.who} {entry.text}", width - 7).rstrip(), _EVENT_COLORS.get(entry.kind, ""))
    return text, earlier


def counts_line(colony: Colony, width: int) -> Text:
    """What was achieved so far, in one line; an ellipsis for what does not fit.

    Args:
        colony: which.
        width: columns.
    """
    counts = colony.town.chronicle.counts
    shown = (
        ("harvested", "crops harvested"), ("cooked", "meals cooked"), ("eaten", "meals eaten"),
        ("healed", "wounds healed"), ("painted", "pictures painted"), ("driven off", "wolves driven off"),
        ("shot", "wolves shot"),
    )  # fmt: skip
    text = Text(no_wrap=True, overflow="crop", end="")
    for label, kind in shown:
        count = f" {counts[kind]}"
        if text.cell_len + len(count) + len(label) + 4 > width:
            text.append(" \N{HORIZONTAL ELLIPSIS}", _DIM)
            break
        text.append(count, "bold")
        text.append(f" {label} ", _DIM)
    return text


def _fit(words: str, width: int) -> str:
    if len(words) > width:
        words = words[: max(0, width - 1)] + "\N{HORIZONTAL ELLIPSIS}"
    return words.ljust(width)
