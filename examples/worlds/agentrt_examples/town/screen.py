"""The live view in a terminal: the map, who does what, and what was said last. It only looks.

The town runs on asyncio at its own pace (``runtime.run``), with a model or without, and is drawn ten times a second.
What people say may be anybody's words, and a terminal obeys what it is shown: so all of it goes through one door.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from rich.console import Group
from rich.layout import Layout
from rich.live import Live
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agentrt.drawing import glyphs
from agentrt.words import masked
from agentrt_examples.town.drafter import KNOWS
from agentrt_examples.town.game import TownGame
from agentrt_examples.town.hours import TICKS_PER_SECOND
from agentrt_examples.town.report import describe

__all__ = ["run_live", "view"]

_DRAWS_PER_SECOND: Final = 10
_BARS: Final = " \u2581\u2582\u2584\u2586\u2588"  # from nothing to a full block
_SHOWN: Final = ("lines said", "wolves came", "bites", "parties planned", "guests", "parties held", "quarrels", "ideas")
_LAST: Final = 9  # events that are shown


def run_live(game: TownGame, speed: float) -> None:
    """Show a town until its user quits with Ctrl-C.

    Args:
        game: which; nobody has driven it.
        speed: game seconds for each real second.
    """
    with contextlib.suppress(KeyboardInterrupt), Live(view(game), screen=True, auto_refresh=False) as live:
        every = max(1, round(TICKS_PER_SECOND * speed / _DRAWS_PER_SECOND))

        def draw() -> None:
            if game.runtime.tick % every == 0:
                live.update(view(game), refresh=True)

        game.runtime.after_tick(draw)
        asyncio.run(game.runtime.run(speed=speed))


def view(game: TownGame) -> Layout:
    """What there is to see now."""
    layout = Layout()
    below = Layout(name="below")
    below.split_row(Layout(_map(game), size=game.town.ground.width + 2), Layout(_people(game)))
    layout.split_column(Layout(_head(game), size=1), below, Layout(_events(game), size=_LAST + 1))
    return layout


def _plain(text: str) -> str:
    return masked(text)


def _head(game: TownGame) -> Text:
    mind = game.mind.snapshot()
    rests = f", which rests up to tick {mind.rests_until}" if mind.rests_until else ""
    asked = f"{', '.join(mind.models)}{rests}: {mind.running} under way, {mind.calls} calls"
    return Text(_plain(f" {describe(game)}   {asked}  Ctrl-C ends it"), style="bold", no_wrap=True, overflow="crop")


def _map(game: TownGame) -> Group:
    lines = []
    for row in glyphs(game.drafter.draw()):
        line = Text(no_wrap=True, overflow="crop")
        for glyph in row:
            style = Style(color=glyph.color or None, bgcolor=glyph.ground or None, bold=glyph.bold)
            line.append(_plain(glyph.sign), style)
        lines.append(line)
    return Group(*lines)


def _people(game: TownGame) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("", "food", "rest", "talk", "mood", "does"):
        table.add_column(title, no_wrap=True)
    newest = game.town.newest
    for name, person in game.town.people.items():
        knows = newest is not None and newest.name in person.knows
        needs = (_bar(person.hunger), _bar(person.rest), _bar(person.company))
        who = Text(name, style=KNOWS if knows else "")
        table.add_row(who, *needs, f"{person.mood:+}", Text(_plain(person.doing)))
    return table


def _bar(need: float) -> str:
    return _BARS[min(len(_BARS) - 1, int(need * len(_BARS)))] * 2


def _events(game: TownGame) -> Group:
    newest = game.town.newest
    news = "" if newest is None else f" known by those in yellow: {newest.text}"
    last = [event for event in game.town.events if event.kind in _SHOWN][-_LAST:]
    lines = [Text(_plain(news), style=KNOWS, no_wrap=True)]
    lines += [Text(_plain(f" {event.who} {event.text}"), no_wrap=True, overflow="ellipsis") for event in last]
    return Group(*lines)
