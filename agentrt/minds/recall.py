"""What a character remembers: a bounded stream of plain values, and recalling what matters now.

Each entry has the tick, a text, who said it, a kind and an importance from 0 to 1. What is recalled is scored as in the
paper below: how recent it is (halved in each ``half_life`` of game time), how important, and how near to the words that
are asked for; each from 0 to 1, and added by weights. Words are compared by SQLite's full-text search (FTS5, BM25, with
stems), in memory; or by vectors, if there is a function that makes them. Scores are rounded before they are compared,
so that the order is the same on every machine; of equals the newer comes first.

If it is full, the least important goes, of equals the oldest.

Source: Park et al., "Generative Agents: Interactive Simulacra of Human Behavior" (UIST 2023), section 4.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from weakref import finalize

from agentrt.errors import DataFault, DefinitionError
from agentrt.minds.asked import tokens_of
from agentrt.minds.prompt import Said, rendered
from agentrt.words import error_words, repr_of

if TYPE_CHECKING:
    import sqlite3

_MOST_TEXT: Final = 1_000
_DECIMALS: Final = 6
_WORDS: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 40

# Makes a vector of a text; the same for the same text, and without looking outside of the game.
Embed = Callable[[str], Sequence[float]]


class Remembered(NamedTuple):
    """One thing that is remembered."""

    tick: int
    text: str
    importance: float = 0.3  # from 0 to 1
    by: str = ""  # who said it; empty if nobody did
    kind: str = "seen"  # seen, said, done or thought

    def line(self) -> Any:
        """As a prompt is to have it: words of somebody are quoted."""
        return Said(self.by, self.text) if self.by else self.text


class MemoryStream:
    """A bounded stream of what a character remembers. A component of its entity.

    Args:
        capacity: how many entries it holds.
        half_life: in how many game seconds what is remembered is half as recent.
        weights: of how recent, how important and how near to the words an entry is.
        embed: makes vectors of texts, by which nearness is told instead of words.
    """

    def __init__(
        self,
        capacity: int = 200,
        *,
        half_life: float = 3600.0,
        weights: tuple[float, float, float] = (1.0, 1.0, 1.0),
        embed: Embed | None = None,
    ) -> None:
        if type(capacity) is not int or capacity < 1:
            raise DefinitionError(
                "MemoryStream", f"capacity is {repr_of(capacity, 80)}.", "Write a whole number from 1 on."
            )
        if not half_life > 0:
            raise DefinitionError(
                "MemoryStream", f"half_life is {repr_of(half_life, 80)}.", "Write game seconds above 0."
            )
        given: object = weights
        if not (isinstance(given, tuple) and len(given) == 3 and all(_is_weight(one) for one in given)):
            raise DefinitionError(
                "MemoryStream", f"weights are {repr_of(weights, 80)}.", "Write three numbers from 0 on."
            )
        self.capacity: int = capacity
        self.half_life: float = half_life
        self.weights: tuple[float, float, float] = weights
        self.embed: Embed | None = embed
        self.since_reflection: float = 0.0  # how much importance came in since it was reflected upon
        self._entries: dict[int, Remembered] = {}  # by number, the oldest first
        self._vectors: dict[int, Sequence[float]] = {}
        self._count = 0
        self._index: sqlite3.Connection | None = None
        self._indexed = 0  # up to which number the index has them

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Remembered, ...]:
        """All that is remembered, the oldest first."""
        return tuple(self._entries.values())

    def note(self, tick: int, text: str, *, importance: float = 0.3, by: str = "", kind: str = "seen") -> Remembered:
        """Remember something.

        Args:
            tick: when it happened; ``ctx.clock.tick``.
            text: what, in words; bounded.
            importance: from 0 to 1.
            by: who said it.
            kind: seen, said, done or thought.
        """
        worth = min(max(float(importance), 0.0), 1.0)
        told = str(text)[:_MOST_TEXT].encode("utf-8", "replace").decode("utf-8")  # half a pair cannot be looked for
        made = Remembered(int(tick), told, 0.0 if math.isnan(worth) else worth, str(by), str(kind))
        self._count += 1
        self._entries[self._count] = made
        self.since_reflection += made.importance
        if len(self._entries) > self.capacity:
            self._forget(min(self._entries, key=lambda number: (self._entries[number].importance, number)))
        return made

    def recall(
        self, tick: int, words: str = "", *, most: int = 8, ticks_per_second: int = 20, kind: str = ""
    ) -> list[Remembered]:
        """What matters now, the most first.

        Args:
            tick: now.
            words: what it is about; empty for nothing in particular.
            most: how many at most.
            ticks_per_second: of the runtime.
            kind: only of this kind.
        """
        near = self._near(words) if words else {}
        recent, important, relevant = self.weights
        half = self.half_life * ticks_per_second

        def score(number: int) -> float:
            one = self._entries[number]
            age = max(tick - one.tick, 0)
            total: float = recent * 0.5 ** (age / half) + important * one.importance + relevant * near.get(number, 0.0)
            return round(total, _DECIMALS)

        numbers = [number for number, one in self._entries.items() if not kind or one.kind == kind]
        return [self._entries[number] for number in sorted(numbers, key=lambda one: (-score(one), -one))[:most]]

    def told(self, tick: int, words: str = "", *, tokens: int = 400, ticks_per_second: int = 20) -> list[Any]:
        """What matters now, for a prompt: so much as fits into a number of tokens, a byte being one at most.

        Returns:
            Texts, and ``Said`` for what somebody said: a value for ``sees``.
        """
        found: list[Any] = []
        for one in self.recall(tick, words, most=self.capacity, ticks_per_second=ticks_per_second):
            line = one.line()
            tokens -= tokens_of(rendered(line)) + 3
            if tokens < 0:
                break
            found.append(line)
        return found

    def reflected(self) -> None:
        """It was reflected upon: what came in so far does not ask for it any more."""
        self.since_reflection = 0.0

    # --- saved and loaded ---------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "capacity": self.capacity,
            "half_life": self.half_life,
            "weights": list(self.weights),
            "since_reflection": round(self.since_reflection, _DECIMALS),
            "entries": [[*one] for one in self._entries.values()],
        }

    @classmethod
    def load(cls, saved: object, *, embed: Embed | None = None) -> Self:
        """What ``save`` gave, from a file say.

        Raises:
            DataFault: it is not that; with its place.
        """
        try:
            if not isinstance(saved, dict):
                raise TypeError("it is no object")
            first, second, third = saved["weights"]
            made = cls(
                saved["capacity"], half_life=float(saved["half_life"]), weights=(first, second, third), embed=embed
            )
            since, entries = float(saved["since_reflection"]), list(saved["entries"])
            if not 0 <= since < math.inf:
                raise ValueError("since_reflection is no number")
        except (KeyError, TypeError, ValueError, DefinitionError) as error:
            raise DataFault(f"this is no saved memory: {error_words(error)}") from None
        for index, entry in enumerate(entries):
            try:
                tick, text, importance, by, kind = entry
                made.note(tick, text, importance=importance, by=by, kind=kind)
            except (TypeError, ValueError) as error:
                told = f"this is no saved memory: {error_words(error)}"
                raise DataFault(told, pointer=f"/entries/{index}") from None
        made.since_reflection = since
        return made

    # --- how near something is ----------------------------------------------------------------------------------------

    def _near(self, words: str) -> dict[int, float]:
        """How near entries are to words, from 0 to 1, by number."""
        return self._by_words(words) if self.embed is None else self._by_vectors(words, self.embed)

    def _by_vectors(self, words: str, embed: Embed) -> dict[int, float]:
        wanted = embed(words)
        for number, one in self._entries.items():
            if number not in self._vectors:
                self._vectors[number] = embed(one.text)
        return {number: max(0.0, _cosine(wanted, self._vectors[number])) for number in self._entries}

    def _by_words(self, words: str) -> dict[int, float]:
        asked = list(dict.fromkeys(_WORDS.findall(words.lower())))[:_MOST_WORDS]
        if not asked or not self._entries:
            return {}
        index = self._up_to_date()
        query = " OR ".join(f'"{one}"' for one in asked)
        rows = index.execute("SELECT rowid, bm25(entry) FROM entry WHERE entry MATCH ?", (query,)).fetchall()
        best = max((-rank for _, rank in rows), default=0.0)
        return {number: round(-rank / best, _DECIMALS) for number, rank in rows} if best > 0 else {}

    def _up_to_date(self) -> sqlite3.Connection:
        import sqlite3

        if self._index is None:
            self._index = sqlite3.connect(":memory:", check_same_thread=False)
            finalize(self, self._index.close)  # from Python 3.13 on one that is only forgotten is warned of
            self._index.execute("CREATE VIRTUAL TABLE entry USING fts5(text, tokenize = 'porter unicode61')")
        new = [(number, one.text) for number, one in self._entries.items() if number > self._indexed]
        self._index.executemany("INSERT INTO entry (rowid, text) VALUES (?, ?)", new)
        self._indexed = self._count
        return self._index

    def _forget(self, number: int) -> None:
        del self._entries[number]
        self._vectors.pop(number, None)
        if self._index is not None and number <= self._indexed:
            self._index.execute("DELETE FROM entry WHERE rowid = ?", (number,))

    def __repr__(self) -> str:
        return f"<MemoryStream: {len(self)} of {self.capacity} entries>"


def _is_weight(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < math.inf


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    length = math.sqrt(math.fsum(a * a for a in one)) * math.sqrt(math.fsum(b * b for b in other))
    return round(product / length, _DECIMALS) if length else 0.0
