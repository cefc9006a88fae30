"""The live view: the map as the player knows it, how it is, what it does and why. Only looks, never changes anything.

Left is the map (``chart``), right how the player is and what was achieved, below what it does and why (``reasons``).
The screen is a renderable of rich that takes whatever room it is given: it is drawn anew for each frame, for 80 columns
and 24 rows or more. From 110 columns on plan and reasons stand side by side. Where rows are scarce, achievements flow
as a text, those that were achieved last first; where there are enough, each has its own place.

Everything is cut to its panel here, a line for each thing, so nothing ever wraps or scrolls. Rejected: an application
of textual, as the colony has one. Here no keys are handled, and the loop belongs to the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.box import ROUNDED
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from agentrt import Agent
from agentrt.drawing import Glyph
from agentrt.words import masked
from examples.crafter.chart import cells
from examples.crafter.eyes import DAY
from examples.crafter.player import Player
from examples.crafter.reasons import plan_lines, why_lines
from examples.crafter.rules import ACHIEVEMENTS, BARS
from examples.crafter.story import words

__all__ = ["Screen"]

_DIM: Final = "#7d8590"
_HEAD: Final = "bold #58a6ff"
_GOOD, _FAIR, _POOR = "#7ee787", "#e8c468", "#ff7b72"
_MOST: Final = 9  # of a bar
_BORDER: Final = 2
_LOW: Final = 11  # rows for plan and reasons, at least
_ROOM: Final = 24  # rows of a panel from which on nothing is squeezed
_SIDE: Final = 40  # columns of the right panel
_SIDE_WIDE: Final = 52
_FIRST: Final = 3  # lines of a plan that are never left out: the status, the models, what is asked for
_BESIDE: Final = 110  # columns from which on plan and reasons stand side by side
_TOOLS: Final = ("pickaxe", "sword")
_NIGHT: Final = 0.5  # how light it is when the game begins to draw noise


@dataclass(slots=True)
class Screen:
    """What a terminal shows of an episode.

    Args:
        player: the body.
        agent: its mind.
        achieved: the achievements so far, and their steps; whoever plays keeps it up to date.
        title: what stands above the map.
        did: what the player does in this step.
    """

    player: Player
    agent: Agent
    achieved: Mapping[str, int]
    title: str = ""
    did: str = "noop"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it as large as there is room."""
        width, height = options.max_width, options.height or options.max_height
        low = max(min(_LOW, height // 2), height * 2 // 5)
        side = min(_SIDE_WIDE if width >= _BESIDE else _SIDE, width // 2)
        top = Layout(name="top", size=height - low)
        top.split_row(
            Layout(self._map(width - side - _BORDER, height - low - _BORDER)),
            Layout(self._state(side - _BORDER, height - low - _BORDER), size=side),
        )
        below = Layout(name="below", size=low)
        below.split_row(*(Layout(panel) for panel in self._mind(width, low - _BORDER)))
        whole = Layout()
        whole.split_column(top, below)
        yield whole

    # --- the map ------------------------------------------------------------------------------------------------------

    def _map(self, width: int, rows: int) -> Panel:
        picture = _Picture(cells(self.player, max(1, width // 2), max(1, rows)))
        return _panel(picture, self.title, foot="what it knows")

    # --- how it is ----------------------------------------------------------------------------------------------------

    def _state(self, width: int, rows: int) -> Panel:
        player = self.player
        lines = [self._clock(), *self._bars(rows >= _ROOM), *self._bag(width)]
        if rows >= _ROOM:
            lines = [lines[0], Text(), *lines[1:], Text()]
        lines.append(Text(f"achieved {len(self.achieved)} of {len(ACHIEVEMENTS)}", _HEAD, end=""))
        left = rows - len(lines)
        lines.extend(self._table(width) if left >= (len(ACHIEVEMENTS) + 1) // 2 else self._flow(width, left))
        return _panel(_cut(lines, width), "asleep" if player.is_asleep else "awake", foot="Ctrl-C ends it")

    def _clock(self) -> Text:
        step, light = self.player.step, self.player.light
        line = Text(f"step {step}", "bold", end="", no_wrap=True)
        line.append(f"  day {step // DAY + 1}, ", _DIM)
        line.append("night" if light < _NIGHT else "day", "#79c0ff" if light < _NIGHT else "#e8c468")
        line.append(f", light {100 * light:.0f} %", _DIM)
        return line

    def _bars(self, is_long: bool) -> list[Text]:
        each = [_bar(bar, self.player.inventory.get(bar, 0)) for bar in BARS]
        if is_long:
            return each
        return [Text("  ", end="").join(each[:2]), Text("  ", end="").join(each[2:])]

    def _bag(self, width: int) -> list[Text]:
        """What it carries: how much of each material, and which tools."""
        carried = {item: count for item, count in self.player.inventory.items() if item not in BARS and count}
        pieces = []
        for item, count in carried.items():
            if not item.endswith(_TOOLS):
                pieces.append(Text.assemble((f"{count}", "bold"), f" {item}", end=""))
        for tool in _TOOLS:
            kinds = " ".join(item.removesuffix(f"_{tool}") for item in carried if item.endswith(tool))
            if kinds:
                pieces.append(Text.assemble((tool, "bold"), f": {kinds}", end=""))
        return _wrapped(pieces or [Text("carries nothing", _DIM, end="")], width, 3)

    def _table(self, width: int) -> list[Text]:
        """All achievements in two columns, those that were achieved first of all."""
        missing = [(name, 0) for name in ACHIEVEMENTS if name not in self.achieved]
        entries = [*self.achieved.items(), *missing]
        half = (len(entries) + 1) // 2
        lines = []
        for first, second in zip(entries[:half], entries[half:], strict=True):
            line = Text(end="", no_wrap=True)
            for name, step in (first, second):
                line.append(f"{step or '':>5} ", _DIM)
                line.append(words(name).ljust(max(0, width // 2 - 6)), _GOOD if step else _DIM)
            lines.append(line)
        return lines

    def _flow(self, width: int, rows: int) -> list[Text]:
        """Achievements as a text: what was achieved, the last first, then what is missing."""
        pieces = []
        for name, step in reversed(list(self.achieved.items())):
            pieces.append(Text.assemble((words(name), _GOOD), (f" {step}", _DIM), end=""))
        missing = [Text(words(name), _DIM, end="") for name in ACHIEVEMENTS if name not in self.achieved]
        if missing:
            missing[0] = Text.assemble(("missing: ", _FAIR), missing[0], end="")
        return _wrapped([*pieces, *missing], width, rows)

    # --- what it does, and why ----------------------------------------------------------------------------------------

    def _mind(self, width: int, rows: int) -> Sequence[Panel]:
        snapshot = self.agent.snapshot()
        is_wide = width >= _BESIDE
        plan, why = plan_lines(snapshot, self.did), why_lines(snapshot, apart=is_wide)
        for_plan = rows if is_wide else max(rows * 2 // 3, rows - len(why))
        if len(plan) > for_plan:
            plan = plan_lines(snapshot, self.did, is_short=True)
            plan = plan[:_FIRST] + plan[_FIRST:][-max(1, for_plan - _FIRST) :]
        if is_wide:
            half = width // 2 - _BORDER
            return _panel(_cut(plan, half), "what it does"), _panel(_cut(why, half), "why")
        return (_panel(_cut([*plan, *why], width - _BORDER), "what it does, and why"),)


class _Picture:
    """Cells as they are drawn. Segments, because a text of so many colors takes five times as long.

    Args:
        rows: of cells.
    """

    def __init__(self, rows: Sequence[Sequence[Glyph]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self._rows:
            for style, run in groupby(row, _style):
                yield Segment("".join(f"{glyph.sign} " for glyph in run), style)
            yield Segment.line()


def _cut(lines: Sequence[Text], width: int) -> Text:
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    whole = Text("\n", end="").join(lines)
    whole.plain = masked(whole.plain)  # a terminal obeys what it is shown, and a reason may be anybody's
    whole.no_wrap = True
    return whole


def _panel(inner: RenderableType, title: str, foot: str = "") -> Panel:
    return Panel(
        inner,
        box=ROUNDED,
        title=Text(masked(title), _HEAD),
        title_align="left",
        subtitle=Text(masked(foot), _DIM) if foot else None,
        subtitle_align="right",
        border_style="#30363d",
        padding=0,
    )


def _bar(name: str, count: int) -> Text:
    color = _GOOD if count > 5 else _FAIR if count > 2 else _POOR
    line = Text(f"{name:<7}", end="")
    line.append("\N{FULL BLOCK}" * count, color)
    line.append("\N{LIGHT SHADE}" * (_MOST - count), "#30363d")
    line.append(f" {count}", color)
    return line


def _wrapped(pieces: Sequence[Text], width: int, rows: int) -> list[Text]:
    """Pieces one after the other with commas, as many as fit; none is broken."""
    lines: list[Text] = []
    for piece in pieces:
        if lines and lines[-1].cell_len + 2 + piece.cell_len < width:
            lines[-1] = Text.assemble(lines[-1], ", ", piece, end="")
            continue
        if len(lines) >= rows:
            break
        lines.append(piece)
    return lines


_STYLES: Final[dict[Glyph, Style]] = {}


def _style(glyph: Glyph) -> Style:
    """The style of a cell. Making one takes long, and there are few."""
    look = Glyph("", *glyph[1:])
    style = _STYLES.get(look)
    if style is None:
        style = _STYLES[look] = Style(color=glyph.color, bgcolor=glyph.ground, bold=glyph.bold)
    return style
