"""Scenarios: the world as it is and as look-ahead assumes it, and what was found out in each: the memo of estimates.

A ``Scenario`` is CURRENT with a layer of assumptions; the one without is the world as it is. In each stand *tables*,
one for what can be asked for at a depth of look-ahead, and in a table stands what each provider said, who is chosen,
and the scenario in which it has been met. So a scenario that follows from another by meeting a need is made once, and
what was found out in it is found again. This module knows nothing of strategies: who is asked for what are keys to it.

* *When an entry holds.* It remembers the topics that were read for it, with their versions, and holds while none of
  them has another. Whoever did not say what he reads is believed during one decision only.
* *Where it is found again.* It remembers which needs were priced for it, and who was left out there because he is being
  run or asked for the same: it is found again wherever that makes no difference, so that circles, of which there are
  many, do not empty the memo.
* *Taking over.* When the world turns out as it was assumed (every field that is written in the layer has that value in
  reality), what was found out in the scenario holds in the real one. Its topics have changed meanwhile, or nothing
  would have come true; so a topic that has the name of a field that was assumed stands for that field, and is as good
  as its value. All other topics must be unchanged.

Rejected: comparing whole states to find out whether an estimate still holds. It costs more than asking anew.

Source: seed 003, "Heuristic Based Task Selection", question 3; "Planning Ahead Using Probability".
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Set
from typing import Any, Final, Generic, TypeVar

from agentrt.activity.author.expected import Current, ExpectedStorage, expected_fields
from agentrt.errors import ENDS_PROGRAM

__all__ = ["MOST_TABLES", "Kept", "LeftOut", "Need", "Scenario", "Table", "Versions", "is_as_assumed", "take_over"]

MOST_TABLES: Final = 1024
"""How many tables a scenario keeps; then it begins with none."""

_MOST_CONTEXTS: Final = 8  # of one thing, each with others left out; a ring of providers makes one for each of them

T_co = TypeVar("T_co", covariant=True)

Versions = tuple[tuple[str, int], ...]
"""The topics that were read, with the number of changes that each had had."""

Need = tuple[type, object]
"""A class of dependencies, and its ``guard_key``."""

LeftOut = frozenset[tuple[Need, object]]
"""Who is being asked or run for what, as far as it matters."""


class Kept(Generic[T_co]):
    """Something that was found out, and when it holds.

    Args:
        topics: what was read for it; None if that is not known.
        context: who of those who provide one of these needs was being asked or run for it, so that he was left out.
        decision: the number of the decision in which it was found out.
        stamp: how many changes there had been.
    """

    __slots__ = ("context", "decision", "needs", "stamp", "topics", "value")

    def __init__(
        self, value: T_co, topics: Versions | None, needs: Set[Need], context: LeftOut, decision: int, stamp: int
    ) -> None:
        self.value: T_co = value
        self.topics: Versions | None = topics
        self.needs: Set[Need] = needs
        self.context: LeftOut = context
        self.decision: int = decision
        self.stamp: int = stamp

    def holds(self, decision: int, stamp: int, versions: Mapping[str, int]) -> bool:
        """Whether it still holds, in its context.

        Args:
            decision: the number of the present decision.
            stamp: how many changes there were up to now.
        """
        if self.decision == decision:
            return True  # nothing changes within a decision, and nobody is asked twice in it
        topics = self.topics
        if topics is None:
            return False
        if self.stamp != stamp:
            for topic, version in topics:
                if versions.get(topic, 0) != version:
                    return False
            self.stamp = stamp  # the next time there is nothing to compare, as long as nothing changes at all
        return True

    def fits(self, running: Mapping[Need, Mapping[Any, int]]) -> bool:
        """Whether it was found out in a context that makes no difference.

        Args:
            running: who is being asked or run for what.
        """
        needs, context = self.needs, self.context
        if not needs or not running:
            return not context
        met = 0
        for need in running:
            if need in needs:
                for provider in running[need]:
                    if (need, provider) not in context:
                        return False
                    met += 1
        return met == len(context)


class Table:
    """What was found out about one dependency at one depth: by provider, and by what it is."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: dict[object, list[Kept[Any]]] = {}  # the entries, one for each context, the latest last

    def add(self, key: object, kept: Kept[Any]) -> None:
        """Keep something."""
        entries = self.kept.setdefault(key, [])
        if len(entries) >= _MOST_CONTEXTS:
            del entries[0]  # the oldest: what is asked now is asked from where the last ones were
        entries.append(kept)


class Scenario:
    """The world as it is, or as look-ahead assumes it.

    Args:
        state: a layer of CURRENT with what is assumed; None for the world as it is.
    """

    __slots__ = ("state", "tables")

    def __init__(self, state: Current | None = None) -> None:
        self.state: Current | None = state
        self.tables: dict[tuple[Hashable, int], Table] = {}  # what was found out in it

    def table(self, wanted: Hashable, depth: int) -> Table:
        """The table of what can be asked for; made if there is none.

        Args:
            depth: how many levels are looked ahead.
        """
        key = (wanted, depth)
        found = self.tables.get(key)
        if found is None:
            if len(self.tables) >= MOST_TABLES:
                self.tables.clear()  # all: to count uses would cost something with every look
            found = self.tables[key] = Table()
        return found

    def forget(self) -> None:
        """Nothing holds any more."""
        self.tables.clear()


def is_as_assumed(state: Current, real: Current) -> Collection[str] | None:
    """Whether the world is as it was assumed.

    Args:
        real: a layer on the world as it is.

    Returns:
        The names of the fields that were assumed; None if one of them has another value.
    """
    assumed = expected_fields(state)
    for name, value in assumed.items():
        try:
            found = getattr(real, name)
            if isinstance(value, ExpectedStorage) and isinstance(found, ExpectedStorage):
                value, found = dict(value.items), dict(found.items)
            if not bool(value == found):
                return None
        except ENDS_PROGRAM:
            raise
        except BaseException:  # an author's type that cannot be compared: nobody knows
            return None
    return assumed.keys()


def take_over(
    source: Scenario, into: Scenario, fields: Collection[str], versions: Mapping[str, int], stamp: int
) -> int:
    """Let what was found out in one scenario hold in another one.

    Args:
        fields: those that were assumed, and are so.
        stamp: how many changes there were up to now.
    """
    count = 0
    for (wanted, depth), table in source.tables.items():
        target = into.table(wanted, depth)
        for key, entries in table.kept.items():
            for kept in entries:
                topics = _as_of_now(kept.topics, fields, versions)
                if topics is not None and not isinstance(kept.value, Scenario):  # its layers would hide what changes
                    target.add(key, Kept(kept.value, topics, kept.needs, kept.context, -1, stamp))
                    count += 1
    return count


def _as_of_now(topics: Versions | None, fields: Collection[str], versions: Mapping[str, int]) -> Versions | None:
    if topics is None:
        return None
    now: list[tuple[str, int]] = []
    for topic, version in topics:
        present = versions.get(topic, 0)
        if present != version and topic not in fields:
            return None
        now.append((topic, present))
    return tuple(now)
