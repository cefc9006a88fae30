"""Worlds: what ``agentrt demo`` can run, and how they are found.

A world is a thing to look at: a whole little game that somebody wrote on top of agentrt. A package offers it through
the entry-point group ``agentrt.worlds``; the entry point's name is the name that the command takes. The library knows
no world by itself. Its own colony comes in by the same road.

A world runs in two ways: live in a terminal, until its user quits; or headless for a number of ticks, which gives a
``WorldReport``. The report's digest is a hash of the run: the same ticks and seed give the same digest on every host
and every version of Python. And it can be *made*: then whoever asked drives it, such as a replay or the inspector.

Whoever wants to look at a run from its first tick on (a recorder, the inspector) hands in a function that is called
with the runtime before anything is driven.

An object is a world if it has what ``World`` lists; it need not inherit from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from agentrt.errors import ManifestError, UnknownWorldError
from agentrt.packs.registry import load_entry_point, origin_of
from agentrt.words import type_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agentrt.runtime.runtime import Runtime

__all__ = ["Progress", "Watch", "World", "WorldReport", "find_worlds", "load_world", "nobody", "table_lines"]

ENTRY_POINT_GROUP = "agentrt.worlds"

# Called now and then while a world runs headless: the tick, the number of ticks, and a few words.
Progress: TypeAlias = Callable[[int, int, str], None]
# Called with a world's runtime when it is made and nothing has been driven.
Watch: TypeAlias = "Callable[[Runtime], object]"


def nobody(runtime: Runtime) -> None:
    """Watch nothing."""


class WorldReport(NamedTuple):
    """What a headless run came to."""

    digest: str  # a hash of the whole run, in hexadecimal digits
    title: str  # a line above the table
    columns: tuple[str, ...]  # the headings of the table
    rows: tuple[tuple[str | int | float, ...], ...]  # its rows; numbers are set to the right
    notes: tuple[str, ...] = ()  # lines below the table


@runtime_checkable
class World(Protocol):
    """What an entry point of the group ``agentrt.worlds`` names."""

    @property
    def name(self) -> str:
        """The name of the world."""
        ...

    @property
    def summary(self) -> str:
        """What there is to see, in a line."""
        ...

    def make(self, *, seed: int, host: str) -> Runtime:
        """Make it, with all that is in it at first, and leave it to the caller to drive it.

        Equal arguments make equal worlds: this is what a replay begins with.
        """
        ...

    def run_headless(
        self, *, ticks: int, seed: int, host: str, progress: Progress, watch: Watch = nobody
    ) -> WorldReport:
        """Run without a terminal, for some ticks; the world starts the event loop of its host."""
        ...

    def run_live(self, *, seed: int, speed: float, watch: Watch = nobody) -> None:
        """Run in the terminal until its user quits, so many game seconds in each real second.

        Raises:
            MissingExtraError: what draws there is not installed.
        """
        ...


def find_worlds() -> dict[str, EntryPoint]:
    """The worlds that are installed, by name, in alphabetical order; none of them is imported."""
    worlds: dict[str, EntryPoint] = {}
    for point in _points():
        worlds.setdefault(point.name, point)  # if there are more, that is an error for who wants this one
    return worlds


def _points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value))


def load_world(name: str) -> World:
    """Import a world; a ``ManifestError`` if it cannot be imported, is no world, or two packages offer it."""
    points = [point for point in _points() if point.name == name]
    if not points:
        raise UnknownWorldError(name, tuple(find_worlds()))
    values = list(dict.fromkeys(point.value for point in points))
    if len(values) > 1:
        problem = f"two packages offer it: {values[0]} and {values[1]}."
        raise ManifestError(f"the world '{name}'", problem, "Uninstall one of them.")
    world = load_entry_point(points[0])
    if not isinstance(world, World):
        raise ManifestError(
            origin_of(points[0]),
            f"it is a {type_name(world)} without what a world has.",
            "A world has name, summary, make, run_headless and run_live; see agentrt.worlds.World.",
        )
    return world


def table_lines(report: WorldReport) -> Iterable[str]:
    """Write a report for people: the title, the table, the notes."""
    rows = [report.columns, *(tuple(_cell(cell) for cell in row) for row in report.rows)]
    columns = range(len(report.columns))
    widths = [max(len(row[column]) for row in rows) for column in columns]
    marks = [
        ">" if report.rows and all(isinstance(row[column], int | float) for row in report.rows) else "<"
        for column in columns
    ]
    yield report.title
    for row in rows:
        yield "  ".join(f"{row[column]:{marks[column]}{widths[column]}}" for column in columns).rstrip()
        if row is report.columns:
            yield "  ".join("-" * width for width in widths)
    yield from report.notes


def _cell(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
