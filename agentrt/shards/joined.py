"""What several shards show, put together: one list of agents, one log, one drawing, one set of figures.

* *The list* has the shards one after the other. Each is a group: its head says how many of its agents are looked for,
  and order is within it. So each shard arranges its own agents, and is asked only for those rows that are on somebody's
  screen, however many there are.
* *The drawing* has the drawing of each shard in its place (``Shard.corner``), and a frame around each. Images are left
  out: they are stretched over the whole of a drawing, which each shard's is not any more.
* *Times* of a tick are those of the shard that took longest: all others wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from agentrt.drawing import Drawing
from agentrt.errors import DataFault
from agentrt.inspect.live import times_summary
from agentrt.inspect.protocol import AgentsQuery
from agentrt.inspect.sessions import Message

LABEL: Final = "shard "
_FRAME: Final = "#d5462f"  # seen on any ground
_ABOVE: Final = 1_000  # the layer of frames
_NOTHING: Final = ("", "", "", False)  # a cell that no shard draws
_FIRST_LETTER: Final = 0x100  # letters of a joined ground are numbered from here on


def label_of(shard: int) -> str:
    """What the group of a shard is called."""
    return f"{LABEL}{shard}"


class JoinedList:
    """The list of agents, as one client looks at it: what each shard told last of its part."""

    def __init__(self, shards: int) -> None:
        self._parts: list[Message | None] = [None] * shards

    def take(self, shard: int, message: Message) -> None:
        """A shard told of its part."""
        self._parts[shard] = message

    def lengths(self, query: AgentsQuery) -> Iterator[tuple[int, int]]:
        """Of each shard: where its rows begin, behind its head, and how many there are."""
        at = 0
        for shard, part in enumerate(self._parts):
            length = 0 if part is None or label_of(shard) in query.folded else part["length"]
            yield at + 1, length
            at += 1 + length

    def asked(self, query: AgentsQuery) -> list[dict[str, Any]]:
        """What each shard is to be asked for, as clients write it."""
        asked: list[dict[str, Any]] = []
        for begin, _ in self.lengths(query):
            passed = max(0, query.offset - begin)
            limit = max(0, min(query.limit, query.offset + query.limit - begin))
            own = {**query._asdict(), "states": sorted(query.states), "folded": [], "group": ""}
            asked.append({**own, "offset": passed, "limit": limit})
        return asked

    def message(self, query: AgentsQuery) -> Message | None:
        """The rows that are on the screen; None as long as a shard did not tell."""
        parts = [part for part in self._parts if part is not None]
        if len(parts) < len(self._parts):
            return None
        *_, (begin, last) = self.lengths(query)
        return {
            **parts[0],
            "total": sum(part["total"] for part in parts),
            "matching": sum(part["matching"] for part in parts),
            "length": begin + last,
            "offset": query.offset,
            "problem": next((part["problem"] for part in parts if part["problem"]), ""),
            "groups": [label_of(shard) for shard in range(len(parts))],
            "rows": list(self._rows(parts, query)),
            "every": max(part["every"] for part in parts),
        }

    def _rows(self, parts: Sequence[Message], query: AgentsQuery) -> Iterator[Message]:
        """The rows from the first one on, up to one that its shard has not told of yet."""
        first, end = query.offset, query.offset + query.limit
        for (begin, length), (shard, part) in zip(self.lengths(query), enumerate(parts), strict=True):
            if first <= begin - 1 < end:
                is_folded = label_of(shard) in query.folded
                yield {"group": label_of(shard), "count": part["matching"], "folded": is_folded}
            for at in range(max(first, begin), min(end, begin + length)):
                place = at - begin - part["offset"]
                if not 0 <= place < len(part["rows"]):
                    return
                yield {**part["rows"][place], "shard": shard}


def joined_records(messages: Sequence[Message]) -> tuple[list[Any], int]:
    """What several shards have in their logs, by ticks, and how many records are missing."""
    records = [record for message in messages for record in message["records"]]
    return sorted(records, key=lambda record: record[0]), sum(message["missed"] for message in messages)


def joined_times(states: Sequence[Message]) -> Message:
    """How long ticks took."""
    worst: dict[int, list[float]] = {}
    for state in states:
        past = state["history"]
        for tick, whole, think in zip(past["tick"], past["tick_ms"], past["think_ms"], strict=True):
            row = worst.setdefault(tick, [0.0, 0.0])
            row[:] = max(row[0], whole), max(row[1], think)
    ticks = sorted(worst)
    found = {name: [worst[tick][at] for tick in ticks] for at, name in enumerate(("tick_ms", "think_ms"))}
    return {**{name: times_summary(values) for name, values in found.items()}, "history": {"tick": ticks, **found}}


# --- the drawing ------------------------------------------------------------------------------------------------------


Part: TypeAlias = "tuple[float, float, dict[str, Any]]"
"""Where the upper left of a shard's drawing lies, and the drawing, as JSON values: all of it is read once, when it is
whole, since a world may have thousands of marks."""


def joined_drawing(parts: Mapping[int, Part]) -> Drawing | None:
    """The drawing of the world, of those of its shards; None if there is none.

    Raises:
        DataFault: together they are too large, or one with tiles does not lie on whole cells.
    """
    if not parts:
        return None
    whole: dict[str, Any] = {
        "width": max(x + part["width"] for x, _, part in parts.values()),
        "height": max(y + part["height"] for _, y, part in parts.values()),
        "marks": {},
    }
    marks = whole["marks"]
    for shard, (x, y, part) in parts.items():
        for key, mark in part["marks"].items():
            marks[key if key not in marks else f"{key}@{shard}"] = _moved(mark, x, y)
        for end, mark in _frame(shard, x, y, part).items():
            marks[f"{label_of(shard)} {end}"] = mark
    if any("tiles" in part for _, _, part in parts.values()):
        whole["tiles"] = _ground(parts, whole["width"], whole["height"])
    return Drawing.from_json(whole)


def _moved(mark: Message, x: float, y: float) -> Message:
    if not x and not y:
        return mark
    moved = {**mark, "x": mark["x"] + x, "y": mark["y"] + y}
    if "to" in mark:
        moved["to"] = [[left + x, top + y] for left, top in mark["to"]]
    return moved


def _frame(shard: int, x: float, y: float, part: Message) -> dict[str, Message]:
    left, top, right, bottom = x - 0.5, y - 0.5, x + part["width"] - 0.5, y + part["height"] - 0.5
    around = [[right, top], [right, bottom], [left, bottom], [left, top]]
    return {
        "frame": {"x": left, "y": top, "color": _FRAME, "layer": _ABOVE, "to": around},
        "name": {"x": (left + right) / 2, "y": top, "label": label_of(shard), "layer": _ABOVE},
    }


def _ground(parts: Mapping[int, Part], width: float, height: float) -> Message:
    """The tiles of all, with letters of their own: each shard has its own palette."""
    if not all(float(side).is_integer() for x, y, _ in parts.values() for side in (x, y)):
        raise DataFault(
            "a shard's corner lies between cells. Give whole numbers, as its drawing has tiles.", pointer=""
        )
    letters: dict[tuple[Any, ...], str] = {_NOTHING: chr(_FIRST_LETTER)}
    rows = [[letters[_NOTHING]] * int(width) for _ in range(int(height))]
    for x, y, part in parts.values():
        if "tiles" not in part:
            continue
        known = {
            key: letters.setdefault(tuple(look), chr(_FIRST_LETTER + len(letters)))
            for key, look in part["tiles"]["palette"].items()
        }
        for down, row in enumerate(part["tiles"]["rows"]):
            rows[int(y) + down][int(x) : int(x) + len(row)] = [known[one] for one in row]
    return {"rows": ["".join(row) for row in rows], "palette": {letter: list(look) for look, letter in letters.items()}}
