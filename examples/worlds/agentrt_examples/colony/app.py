"""The live view: a Textual application that steps a colony and shows it.

The application owns the loop: a timer steps the runtime (``runtime.step``, on the plain host) as many ticks
as the speed says, another one draws. Rejected: ``await runtime.run()`` in a worker of the application;
pausing and single steps would then have to reach into its pace, and a slow terminal would make the world skip
ticks instead of slowing it down.

Keys change only what is shown and how fast; they never reach into the world. So a live run passes through the
same states as a headless one with the same seed.

Terminals: two columns from 80 columns on, cells of double width from 150 on; narrower ones get one column,
lower ones lose the events, then the reasons.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from agentrt import Agent, Entity
from agentrt.words import masked
from agentrt_examples.colony.colony import TICKS_PER_SECOND, Colony
from agentrt_examples.colony.picture import Picture
from agentrt_examples.colony.views import agents_panel, counts_line, events_panel, why_panel

__all__ = ["SPEEDS", "ColonyApp", "MapView"]

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

_DRAWS_PER_SECOND = 10
_DOUBLE_FROM = 150
_TWO_COLUMNS_FROM = 80
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
        self._picture = picture
        self._lines: list[list[Segment]] = []
        self.selected: Entity | None = None

    def redraw(self, width: int) -> None:
        """Draw it anew, as far as it changed.

        Args:
            width: how many columns a cell takes, 1 or 2.
        """
        before, self._lines = self._lines, self._picture.lines(self.selected, width)
        if len(before) != len(self._lines):
            self.refresh()
            return
        changed = [y for y, line in enumerate(self._lines) if line != before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.content_size.width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        """One line of it.

        Args:
            y: the number of the line, from the top.
        """
        if y >= len(self._lines):
            return Strip.blank(self.content_size.width)
        return Strip(self._lines[y]).adjust_cell_length(self.content_size.width)


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
    """

    TITLE = "agentrt colony"
    CSS = """
    Screen { background: #0d1117; color: #c9d1d9; }
    #head { height: 1; background: #161b22; }
    #foot { height: 1; background: #161b22; color: #7d8590; }
    #main { height: 1fr; }
    #left { width: 42; height: 1fr; }
    #right { width: 1fr; height: 1fr; }
    .panel { border: round #30363d; border-title-color: #58a6ff; }
    #map { width: 42; height: 27; }
    #events { height: 1fr; }
    #agents { height: 1fr; min-height: 3; }
    #why { height: 18; }
    .double #left { width: 82; }
    .double #map { width: 82; }
    .narrow #main { layout: vertical; }
    .narrow #left { height: 27; }
    .narrow #events { display: none; }
    .narrow #why { display: none; }
    .low #events { display: none; }
    .low #why { display: none; }
    .low #map { height: 1fr; }
    .low.narrow #left { height: 2fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "pause"),
        Binding("s,full_stop", "step", "step"),
        Binding("plus,equals_sign", "faster", "faster"),
        Binding("minus", "slower", "slower"),
        Binding("down,j", "select(1)", "next"),
        Binding("up,k", "select(-1)", "previous"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, seed: int = 7, speed: float = 1.0, *, paused: bool = False) -> None:
        super().__init__()
        self._seed = seed
        self._carry = 0.0
        self._shown: dict[str, Text] = {}
        self.colony = Colony(seed=seed, host="plain")
        self.picture = Picture(self.colony)
        self.map = MapView(self.picture)
        self.is_paused = paused
        self.speed = min(SPEEDS, key=lambda known: abs(known - speed))
        self.selected: Agent | None = self.colony.population.agents[0]

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
        yield Static(" space pause  s step  +/- speed  \u2191\u2193 select  q quit", id="foot")

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
        width, height = event.size.width, event.size.height
        self.screen.set_class(width >= _DOUBLE_FROM, "double")
        self.screen.set_class(width < _TWO_COLUMNS_FROM, "narrow")
        self.screen.set_class(height < 32, "low")
        self.call_after_refresh(self.draw)

    # --- time ---------------------------------------------------------------------------------------------------------

    def _pace(self) -> None:
        if not self.is_paused:
            self._carry += self.speed
            while self._carry >= 1.0:
                self._carry -= 1.0
                self.colony.runtime.step()

    def action_pause(self) -> None:
        """Stop or go on."""
        self.is_paused = not self.is_paused
        self.draw()

    def action_step(self) -> None:
        """Let one tick pass, and stop."""
        self.is_paused = True
        self.colony.runtime.step()
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

    def _draw_live(self) -> None:
        if not self.is_paused:
            self.draw()

    def draw(self) -> None:
        """Draw all panels."""
        agents = self.colony.population.agents
        if self.selected not in agents:
            self.selected = agents[0] if agents else None
        self._show("head", self._head())
        entity = None if self.selected is None else self.selected.entity
        double = self.screen.has_class("double")
        self.map.selected = entity
        self.map.redraw(2 if double else 1)
        events = self._visible("events")
        if events is not None:
            width, height = events.content_size
            self._show("events", events_panel(list(self.colony.town.chronicle.entries), width, height))
        table = self._visible("agents")
        if table is not None:
            width, height = table.content_size
            self._show("agents", agents_panel(agents, self.selected, width, height))
        why = self._visible("why")
        if why is not None:
            width, height = why.content_size
            self._show("why", why_panel(self.selected, width, height))

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
        text.append_text(counts_line(self.colony))
        return text
