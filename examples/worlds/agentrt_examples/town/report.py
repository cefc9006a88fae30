"""What a run of the town came to: a row for each of its people, and what happened in the town.

``ThoughtTable`` listens to the trace and reads nothing else; what people did, their own books say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentrt.kernel import TraceEvent, TraceHub, TraceRecord
from agentrt.testing import TraceDigest
from agentrt.worlds import Progress, Value, Watch, WorldReport, drive, nobody, told_params
from agentrt_examples.town.game import TownGame
from agentrt_examples.town.hours import DAY, HOUR, told
from agentrt_examples.town.people import Person

__all__ = ["ThoughtTable", "describe", "measured", "run_headless"]

_COLUMNS: Final = (
    "who", "job", "meals", "slept h", "work", "lines", "rumors", "parties", "asked", "answered", "outpaced", "failed",
)  # fmt: skip
_BECAME: Final = ("asked", "answered", "outpaced", "failed")
_PROGRESS_EVERY: Final = 100
_NOTES_A_LINE: Final = 5
_HOURS: Final = 24


class ThoughtTable:
    """Counts what became of thoughts.

    Args:
        hub: whose records to count.

    Attributes:
        counts: by the name of who thought, and by what became of it.
        close: stops counting.
    """

    def __init__(self, hub: TraceHub) -> None:
        self.counts: dict[str, dict[str, int]] = {}
        self.close = hub.listen(self._count)

    def _count(self, record: TraceRecord) -> None:
        if record.event is TraceEvent.THOUGHT:
            became = str(dict(record.detail)["became"])
            of = self.counts.setdefault(record.agent, {})
            of[became] = of.get(became, 0) + 1

    def of(self, name: str) -> tuple[int, ...]:
        """What became of somebody's thoughts: asked, answered, outpaced, failed."""
        found = self.counts.get(name, {})
        return tuple(found.get(became, 0) for became in _BECAME)


_DONE: Final = (
    "lines said", "news begun", "news passed on", "quarrels", "made up", "parties planned", "parties held",
    "parties failed", "guests", "escapes", "wolves left", "bread made",
)  # fmt: skip


def measured(game: TownGame) -> dict[str, int | float | str]:
    """What can be said of a run in numbers: what people did, how they are, and what was thought.

    Args:
        game: which.
    """
    town, mind = game.town, game.mind.snapshot()
    people = list(town.people.values())
    likings = [worth for person in people for worth in person.liking.values()]
    return {
        "people": len(people),
        **{kind.replace(" ", "_"): town.counts.get(kind, 0) for kind in _DONE},
        "meals": sum(person.meals for person in people),
        "worked": sum(person.worked for person in people),
        "slept_hours": sum(person.slept for person in people) / HOUR,
        "bites": sum(person.bites for person in people),
        "rumors": len(town.rumors),
        "known": sum(len(person.knows) for person in people),
        "mood": sum(person.mood for person in people) / len(people),
        "hunger": sum(person.hunger for person in people) / len(people),
        "liking": sum(likings) / len(likings) if likings else 0.0,
        "bread": town.stock["bread"],
        "calls": mind.calls,
        "tokens": mind.tokens,
    }


def run_headless(
    game: TownGame,
    *,
    ticks: int,
    seed: int,
    progress: Progress,
    watch: Watch = nobody,
    params: Mapping[str, Value] | None = None,
) -> WorldReport:
    """Run a town without a terminal.

    Args:
        game: the town, which nobody has driven.
        ticks: how many ticks.
        seed: what it was made with.
        progress: called every hundred ticks.
        watch: called with the runtime before the first tick.
        params: what else, for the title.

    Returns:
        What it came to.
    """
    runtime = game.runtime
    watch(runtime)
    digest = TraceDigest(runtime.trace)
    table = ThoughtTable(runtime.trace)

    def after_tick() -> None:
        if runtime.tick % _PROGRESS_EVERY == 0:
            progress(runtime.tick, ticks, describe(game))
        if runtime.tick == ticks:
            digest.close()
            table.close()
            runtime.stop()

    runtime.after_tick(after_tick)
    if game.is_scripted:
        drive(runtime, game.host, lambda: runtime.tick >= ticks)
    else:
        import asyncio

        asyncio.run(runtime.run())  # a model lives in real time: at full speed its answers would come days later
    return WorldReport(
        digest=digest.hexdigest(),
        title=f"town: {ticks} ticks, seed {seed}, {game.host} host{told_params(params)}",
        columns=_COLUMNS,
        rows=tuple(_row(person, table) for person in game.town.people.values()),
        notes=tuple(_notes(game)),
    )


def _row(person: Person, table: ThoughtTable) -> tuple[str | int | float, ...]:
    slept = round(person.slept * _HOURS / DAY, 1)
    return (
        person.name, person.who.job, person.meals, slept, person.worked, person.lines, len(person.knows),
        person.parties, *table.of(person.name),
    )  # fmt: skip


def _notes(game: TownGame) -> Iterator[str]:
    town = game.town
    words = [f"{kind} {count}" for kind, count in sorted(town.counts.items())]
    for first in range(0, len(words), _NOTES_A_LINE):
        yield ", ".join(words[first : first + _NOTES_A_LINE])
    yield "news:"
    for rumor in town.rumors.values():
        knowing = sum(rumor.name in person.knows for person in town.people.values())
        yield f"  {told(rumor.tick)}: {rumor.text} - known by {knowing}"
    yield "parties:"
    for party in town.parties:
        asked = f"{len(party.invited)} invited, {len(party.guests)} wanted to come"
        came = ", ".join(party.came) or "nobody"
        yield f"  {party.host} at the {party.place}, {told(party.tick)}: {asked}, there: {came}"
    stock = [f"{kind} {town.stock[kind]} (made {town.made[kind]}, used {town.used[kind]})" for kind in town.stock]
    yield f"in store: {', '.join(stock)}"
    mind = game.mind.snapshot()
    yield (
        f"mind: {', '.join(mind.models)}: {mind.calls} calls, {mind.hits} answers from the cache, "
        f"{mind.tokens} tokens, {mind.tokens_left} left"
    )


def describe(game: TownGame) -> str:
    """The state of a town in a few words."""
    town = game.town
    asleep = sum(person.is_asleep for person in town.people.values())
    talking = len(town.talks.open)
    return f"{told(town.tick)}: {asleep} asleep, {talking} talk, {len(town.wolves)} wolves, {len(town.rumors)} rumors"
