"""The live view: a Textual application that steps a colony and shows it.

The application owns the loop: a timer steps the runtime (``runtime.step``, on the plain host) as many ticks
as the speed says, another one draws. Rejected: ``await runtime.run()`` in a worker of the application;
pausing and single steps would then have to reach into its pace, and a slow terminal would make the world skip
ticks instead of slowing it down.

Keys change only what is shown and how fast; they never reach into the world. So a live run passes through the
same states as a headless one with the same seed.

Terminals: the overview shows all four panels from 80 columns and 32 lines on; a smaller terminal gets the map and
the list of agents, side by side or one above the other. Each panel has a key, and then has the window for itself: so
whatever is hidden is one key away, and the foot of the screen names that key. A panel says at its lower edge how much
of it is cut. Where the map is cut, it follows the selected agent. Rejected: scrolling in each panel, which takes keys
and a focus, and a line for tabs, which costs one of 24 lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from agentrt import Agent, Entity
from agentrt.words import masked
from agentrt.worlds import Value
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.colony import TICKS_PER_SECOND, Colony
from agentrt_examples.colony.picture import Picture
from agentrt_examples.colony.saving import found
from agentrt_examples.colony.views import agents_panel, counts_line, events_panel, why_panel

__all__ = ["SPEEDS", "ColonyApp", "MapView"]

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

_DRAWS_PER_SECOND = 10
_BORDER = 2
_DOUBLE_FROM = 150  # columns from which on a cell takes two of them
_TWO_COLUMNS_FROM = 80
_ALL_FROM = 32  # lines from which on two columns have room for all panels
_PANELS = {"map": "m", "agents": "a", "why": "w", "events": "e"}  # what there is to see, and the key of each
_KEYS = ("space pause", "s step", "+/- speed", "\u2191\u2193 who", "q quit")
_SKY = {
    "day": "\N{BLACK SUN WITH RAYS}",
    "dusk": "\N{WHITE SUN WITH RAYS}",
    "night": "\N{LAST QUARTER MOON}",
    "dawn": "\N{WHITE SUN WITH RAYS}",
}


class MapView(Widget):
    """The map. It draws line by line, which costs a third of what one text of a thousand colors costs.

    Args:
        picture: what it shows.

    Attributes:
        selected: who is highlighted.
    """

    def __init__(self, picture: Picture) -> None:
        super().__init__(id="map", classes="panel")
        self.picture = picture
        self._lines: list[Strip] = []
        self.selected: Entity | None = None

    def redraw(self, width: int) -> None:
        """Draw it anew, as far as it changed, around the selected one if not all of it fits.

        Args:
            width: how many columns a cell takes, 1 or 2.
        """
        lines = [Strip(line) for line in self.picture.lines(self.selected, width)]
        columns, rows = self.content_size
        selected = self.selected
        column, row = (0, 0) if selected is None or selected.is_destroyed else selected[Position].location
        left = _first(lines[0].cell_length, columns, column * width)
        top = _first(len(lines), rows, row)
        cut = (len(lines) - rows, "rows hidden"), ((lines[0].cell_length - columns) // width, "columns hidden")
        self.border_subtitle = _cut(*cut)
        before, self._lines = self._lines, [line.crop(left, left + columns) for line in lines[top : top + rows]]
        if len(before) != len(self._lines):
            self.refresh()
            return
        changed = [y for y, line in enumerate(self._lines) if line != before[y]]
        if changed:
            self.refresh(*(Region(0, y, columns, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        """One line of it.

        Args:
            y: the number of the line, from the top.
        """
        if y >= len(self._lines):
            return Strip.blank(self.content_size.width, self.rich_style)
        return self._lines[y].adjust_cell_length(self.content_size.width, self.rich_style)


def _first(size: int, room: int, wanted: int) -> int:
    """The first of so many lines to show where not all have room, so that the wanted one is in the middle."""
    return min(max(0, wanted - room // 2), max(0, size - room))


def _cut(*parts: tuple[int, str]) -> str:
    """What a panel says of that which it has no room for."""
    return ", ".join(f"{count} {what}" for count, what in parts if count > 0)


class ColonyApp(App[None]):
    """Shows a colony.

    Args:
        seed: of all that is random.
        speed: game seconds for each real second; the nearest of ``SPEEDS`` is taken.
        paused: whether it begins paused.

    Attributes:
        colony: what is shown.
        is_paused: whether time stands still.
        speed: game seconds for each real second.
        selected: whose reasons are shown.
        alone: the panel that has the window for itself: map, agents, why or events; empty for the overview.
    """

    TITLE = "agentrt colony"
    CSS = """
    Screen { background: #0d1117; color: #c9d1d9; }
    #head { height: 1; background: #161b22; }
    #foot { height: auto; background: #161b22; color: #7d8590; }
    #main { height: 1fr; }
    #left { width: 42; height: 1fr; }
    #right { width: 1fr; height: 1fr; }
    .panel { border: round #30363d; border-title-color: #58a6ff; border-subtitle-color: #e8c468; }
    #map { width: 42; height: 27; }
    #events { height: 1fr; }
    #agents { height: 1fr; min-height: 3; }
    #why { height: 18; }
    .double #left { width: 82; }
    .double #map { width: 82; }
    .narrow #main { layout: vertical; }
    .narrow #left { height: 27; }
    .narrow #map { max-width: 100%; }
    .low #map { height: 1fr; }
    .low.narrow #left { width: 1fr; height: 3fr; }
    .low.narrow #right { height: 2fr; }
    .alone #left, .alone #right { width: 1fr; height: 1fr; }
    .alone #map, .alone #events, .alone #agents, .alone #why { width: 1fr; height: 1fr; }
    .alone.narrow #left { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "pause"),
        Binding("s,full_stop", "step", "step"),
        Binding("plus,equals_sign", "faster", "faster"),
        Binding("minus", "slower", "slower"),
        Binding("down,j", "select(1)", "next"),
        Binding("up,k", "select(-1)", "previous"),
        *(Binding(key, f"look('{name}')", name) for name, key in _PANELS.items()),
        Binding("escape", "look('')", "overview"),
        Binding("tab", "turn(1)", "next panel", priority=True),  # the screen would look for what can have a focus
        Binding("shift+tab", "turn(-1)", "previous panel", priority=True),
        Binding("q", "quit", "quit"),
    ]

    def __init__(
        self,
        seed: int = 7,
        speed: float = 1.0,
        *,
        paused: bool = False,
        params: Mapping[str, Value] | None = None,
    ) -> None:
        super().__init__()
        self._seed = seed
        self._carry = 0.0
        self._shown: dict[str, Text] = {}
        self.colony = found(seed, "plain", params)
        self.picture = Picture(self.colony.cartographer)
        self.map = MapView(self.picture)
        self.is_paused = paused
        self.speed = min(SPEEDS, key=lambda known: abs(known - speed))
        self.selected: Agent | None = self.colony.population.agents[0]
        self.alone = ""

    def compose(self) -> ComposeResult:
        """The panels."""
        yield Static(id="head")
        with Horizontal(id="main"):
            with Vertical(id="left"):
                self.map.border_title = "the colony"
                yield self.map
                yield self._panel("events", "what happened")
            with Vertical(id="right"):
                yield self._panel("agents", "who does what")
                yield self._panel("why", "why")
        yield Static(id="foot")

    def _panel(self, name: str, title: str) -> Static:
        panel = Static(id=name, classes="panel")
        panel.border_title = title
        return panel

    def on_mount(self) -> None:
        """Start the clock and the drawing."""
        self.set_interval(1 / TICKS_PER_SECOND, self._pace)
        self.set_interval(1 / _DRAWS_PER_SECOND, self._draw_live)
        self.draw()

    def on_unmount(self) -> None:
        """Take the colony down."""
        self.colony.runtime.close()

    def on_resize(self, event: Resize) -> None:
        """Arrange the panels for another size.

        Args:
            event: the size.
        """
        self._arrange(event.size)

    def _arrange(self, size: Size) -> None:
        """Show what there is room for, or the one panel that was asked for."""
        is_narrow, is_low = size.width < _TWO_COLUMNS_FROM, size.height < _ALL_FROM
        shown = {self.alone} if self.alone else {"map", "agents"} if is_narrow or is_low else set(_PANELS)
        for name in _PANELS:
            self.query_one(f"#{name}").display = name in shown
        self.query_one("#left").display = not shown.isdisjoint(("map", "events"))
        self.query_one("#right").display = not shown.isdisjoint(("agents", "why"))
        for name, holds in (("narrow", is_narrow), ("low", is_low), ("alone", bool(self.alone))):
            self.screen.set_class(holds, name)
        is_double = size.width >= (2 * self.colony.town.ground.width + _BORDER if self.alone else _DOUBLE_FROM)
        self.screen.set_class(is_double, "double")
        self._show("foot", self._foot(size.width, [name for name in _PANELS if name not in shown]))
        self.call_after_refresh(self.draw)

    def _foot(self, width: int, hidden: Sequence[str]) -> Text:
        """The keys, in as many lines as they take: first of all, those of what is hidden."""
        pieces = [f"{_PANELS[name]} {name}" for name in hidden]
        if pieces:
            pieces[0] = f"hidden: {pieces[0]}"
        else:
            pieces = [f"{'/'.join(_PANELS.values())} one panel alone"]
        if self.alone:
            pieces.append("esc overview")
        lines = [""]
        for piece in (*pieces, *_KEYS):
            if lines[-1] and len(lines[-1]) + len(piece) + 2 > width:
                lines.append("")
            lines[-1] += f"{'  ' if lines[-1] else ' '}{piece}"
        return Text("\n".join(lines), no_wrap=True, end="")

    # --- time ---------------------------------------------------------------------------------------------------------

    def _pace(self) -> None:
        if not self.is_paused:
            self._carry += self.speed
            while self._carry >= 1.0:
                self._carry -= 1.0
                self._step()

    def _step(self) -> None:
        runtime = self.colony.runtime
        runtime.step()
        if runtime.game is not self.colony and isinstance(runtime.game, Colony):  # it was rebuilt: an epoch
            self.colony = runtime.game
            self.picture = self.map.picture = Picture(self.colony.cartographer)
            self.selected = None if self.selected is None else runtime.find(self.selected.name)

    def action_pause(self) -> None:
        """Stop or go on."""
        self.is_paused = not self.is_paused
        self.draw()

    def action_step(self) -> None:
        """Let one tick pass, and stop."""
        self.is_paused = True
        self._step()
        self.draw()

    def action_faster(self) -> None:
        """Let time pass faster."""
        self.speed = SPEEDS[min(len(SPEEDS) - 1, SPEEDS.index(self.speed) + 1)]
        self.draw()

    def action_slower(self) -> None:
        """Let time pass slower."""
        self.speed = SPEEDS[max(0, SPEEDS.index(self.speed) - 1)]
        self.draw()

    # --- looking ------------------------------------------------------------------------------------------------------

    def action_select(self, by: int) -> None:
        """Select another agent.

        Args:
            by: how many lines down.
        """
        agents = self.colony.population.agents
        if agents:
            index = agents.index(self.selected) + by if self.selected in agents else 0
            self.selected = agents[index % len(agents)]
        self.draw()

    def action_look(self, name: str) -> None:
        """Give a panel the window for itself, or go back to the overview.

        Args:
            name: the panel; the overview if it is empty or that panel is alone already.
        """
        self.alone = "" if name == self.alone else name
        self._arrange(self.size)

    def action_turn(self, by: int) -> None:
        """Go on to the next of the overview and the panels.

        Args:
            by: 1 for the next, -1 for the one before.
        """
        views = ["", *_PANELS]
        self.action_look(views[(views.index(self.alone) + by) % len(views)])

    def _draw_live(self) -> None:
        if not self.is_paused:
            self.draw()

    def draw(self) -> None:
        """Draw all panels."""
        if not self.screen_stack or not self.query("#head"):
            return  # a timer ends later than the panels
        agents = self.colony.population.agents
        if self.selected not in agents:
            self.selected = agents[0] if agents else None
        self._show("head", self._head())
        if self.map.display:
            self.map.selected = None if self.selected is None else self.selected.entity
            self.map.redraw(2 if self.screen.has_class("double") else 1)
        panel = self._visible("events")
        if panel is not None:
            entries = list(self.colony.town.chronicle.entries)
            text, more = events_panel(entries, *panel.content_size)
            panel.border_subtitle = _cut((more, "earlier"))
            self._show("events", text)
        panel = self._visible("agents")
        if panel is not None:
            text, above, below = agents_panel(agents, self.selected, *panel.content_size)
            panel.border_subtitle = _cut((above, "more above"), (below, "more below"))
            self._show("agents", text)
        panel = self._visible("why")
        if panel is not None:
            text, more = why_panel(self.selected, *panel.content_size)
            panel.border_subtitle = _cut((more, "more lines"))
            self._show("why", text)

    def _show(self, name: str, text: Text) -> None:
        """The one door to the screen: a terminal obeys what it is shown, and names may be anybody's."""
        text.plain = masked(text.plain)
        if self._shown.get(name) != text:
            self._shown[name] = text
            self.query_one(f"#{name}", Static).update(text)

    def _visible(self, name: str) -> Static | None:
        panel = self.query_one(f"#{name}", Static)
        return panel if panel.display and panel.content_size.width > 0 else None

    def _head(self) -> Text:
        daylight = self.colony.town.daylight
        text = Text(no_wrap=True, overflow="crop", end="")
        text.append(" agentrt colony ", "bold #0d1117 on #58a6ff")
        text.append(f"  {_SKY[daylight.phase]} day {daylight.day}, {daylight.phase} ", "bold")
        text.append(f" tick {self.colony.runtime.tick}  seed {self._seed} ")
        if self.is_paused:
            text.append(" paused ", "bold #0d1117 on #e8c468")
        else:
            text.append(f" {self.speed:g}x ", "#7ee787")
        text.append_text(counts_line(self.colony, self.size.width - text.cell_len))
        return text
