"""Topics: the words by which what was found out is tied to what changes.

``reads = {"stock"}`` and ``agent.gameplay.changed("stock")`` meet by a word, and nobody declares it. A slip in one of
them would make no error, but estimates that hold for ever. So each word is looked at when it is first used, and refused
if nothing is called so and something that is known is called nearly so:

* who reads it (``reads`` of strategies and dependencies, ``ask.reads``): beside the fields of CURRENT, what has
  changed before, and what the library itself tells of;
* who changes it (``changed``): beside what anybody reads.

*Nearly* is one letter too many, missing, exchanged or swapped, and two in a long word. Words that differ in digits only
are meant as they are. A word that is right, however near it comes to another, is made known by ``add_topics``.

Source: seed 003, "Heuristic Based Task Selection", question 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from agentrt.errors import ArgumentError, DefinitionError
from agentrt.words import repr_of

__all__ = ["Topics", "check_topics", "near"]

_OWN: Final = ("strategies", "requests", "accuracy")  # what the library tells of by itself
_LONG: Final = 8  # letters from which on two may be wrong


def check_topics(subject: str, what: str, topics: object) -> None:
    """Check what was declared as topics: words, several of them.

    Args:
        subject: whose, for the error.
        what: what they are declared as.
        topics: what was declared.

    Raises:
        DefinitionError: it is something else.
    """
    if isinstance(topics, str):
        raise DefinitionError(subject, f"its {what} are one text.", f"Write a tuple: ({topics!r},).")
    is_several = isinstance(topics, Collection) and not isinstance(topics, (bytes, bytearray))
    wrong = [topics] if not is_several else [one for one in topics if not isinstance(one, str) or not one]  # type: ignore[attr-defined]
    if topics is not None and wrong:
        raise DefinitionError(subject, f"its {what} have {repr_of(wrong[0], 200)}.", "Write words: {'stock', 'place'}.")


def near(word: str, known: Iterable[str]) -> list[str]:
    """Which known words somebody may have meant who wrote another one; none that differs in digits only.

    Args:
        word: what was written.
        known: what could have been.
    """
    found = dict.fromkeys(one for one in known if one != word and _bare(one) != _bare(word) and _is_slip(word, one))
    return list(found)


def _bare(word: str) -> str:
    return "".join(letter for letter in word if not letter.isdigit())


def _is_slip(word: str, other: str) -> bool:
    most = 2 if min(len(word), len(other)) >= _LONG else 1
    if abs(len(word) - len(other)) > most or min(len(word), len(other)) < 3:
        return False
    above: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        above, before, row = row, above, [i]
        for j, there in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1] <= most


class Topics:
    """The words that one agent's gameplay knows.

    Args:
        fields: gives the names of the fields of its entity.
    """

    __slots__ = ("_changed", "_fields", "_read", "_said")

    def __init__(self, fields: Callable[[], Iterable[str]]) -> None:
        self._fields = fields
        self._said: set[str] = set(_OWN)
        self._read: dict[str, None] = {}
        self._changed: dict[str, None] = {}

    def add(self, topics: Iterable[str]) -> None:
        """Take words as they are.

        Args:
            topics: them.
        """
        for topic in topics:
            _require("gameplay.add_topics", topic)
            self._said.add(topic)

    def is_read(self, topics: Iterable[str]) -> str:
        """Somebody reads topics.

        Args:
            topics: them.

        Returns:
            What is wrong with one of them, and what may be meant; empty if nothing is.
        """
        for topic in topics:
            given: object = topic
            if not isinstance(given, str):
                return f"{repr_of(given, 200)} is no word."
            if topic not in self._read:
                known = self._said | self._changed.keys()
                if topic not in known:
                    fields = list(self._fields())
                    meant = [] if topic in fields else near(topic, [*fields, *sorted(known)])
                    if meant:
                        return f"the topic {topic!r} is nothing that changes. {_meant(topic, meant)}"
                self._read[topic] = None
        return ""

    def changes(self, topics: Iterable[str]) -> None:
        """Topics changed.

        Args:
            topics: them.

        Raises:
            ArgumentError: one is no word, or nobody reads it and somebody reads one that is called nearly so.
        """
        for topic in topics:
            _require("gameplay.changed", topic)
            if topic not in self._changed:
                meant = [] if topic in self._read or topic in self._said else near(topic, self._read)
                if meant:
                    raise ArgumentError(
                        "gameplay.changed", repr(topic), f"is a topic that nobody reads. {_meant(topic, meant)}"
                    )
                self._changed[topic] = None


def _require(method: str, topic: object) -> None:
    if not isinstance(topic, str) or not topic:
        raise ArgumentError(method, "topics", f"takes words, not {repr_of(topic, 200)}. Write 'stock', 'place'.")


def _meant(topic: str, meant: list[str]) -> str:
    words = " or ".join(repr(one) for one in meant[:3])
    return f"Did you mean {words}? If it is right as it is, say so first: agent.gameplay.add_topics({topic!r})."
