"""Worlds, as they are and as look-ahead assumes them, and what was found out in each: the memo of estimates.

A ``World`` is CURRENT with a layer of assumptions; the one without is the world as it is. In each stand *tables*, one
for a dependency at a depth of look-ahead, and in a table stands what each provider said, who is chosen, and the world
in which the dependency has been met. So a world that follows from another by meeting a need is made once, and what was
found out in it is found again.

Each entry (``Kept``) remembers the topics that were read for it, with their versions, and it holds while none of them
has another. Whoever did not say what he reads is believed during one decision only. It also remembers which needs were
priced for it, and who was left out there because he is being run or asked for the same: it is found again wherever that
makes no difference, so that circles, of which there are many, do not empty the memo.

*Taking over.* When the world turns out as it was assumed (every field that is written in the layer has that value in
reality), what was found out in the assumed world holds in the real one. Its topics have changed meanwhile, or nothing
would have come true; so a topic that has the name of a field that was assumed stands for that field, and is as good as
its value. All other topics must be unchanged.

Rejected: comparing whole states to find out whether an estimate still holds. It costs more than asking anew.

Source: seed 003, "Heuristic Based Task Selection", question 3; "Planning Ahead Using Probability".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.current import Current, expected_fields
from agentrt.activity.expected import ExpectedStorage
from agentrt.errors import ENDS_PROGRAM

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.strategy import Branch

__all__ = ["MOST_TABLES", "Context", "Kept", "Level", "Need", "Table", "Topics", "World", "is_as_assumed", "take_over"]

MOST_TABLES: Final = 1024
"""How many tables a world keeps; then it begins with none."""

_MOST_CONTEXTS: Final = 8

Topics = tuple[tuple[str, int], ...]
"""What was read, with the versions."""


Need = tuple[type, object]
"""A class of dependencies, and its ``guard_key``."""


Context = frozenset[tuple[Need, "Provider"]]
"""Who is being asked or run for what, as far as it matters."""


class Kept:
    """Something that was found out, and when it holds.

    Args:
        value: it.
        topics: what was read for it; None if that is not known.
        needs: what was priced for it.
        context: who of those who provide one of these needs was being asked or run for it, so that he was left out.
        decision: the number of the decision in which it was found out.
        stamp: how many changes there had been.

    Attributes:
        value, topics, needs, context, decision, stamp: as given.
    """

    __slots__ = ("context", "decision", "needs", "stamp", "topics", "value")

    def __init__(
        self, value: Any, topics: Topics | None, needs: Set[Need], context: Context, decision: int, stamp: int
    ) -> None:
        self.value: Any = value
        self.topics: Topics | None = topics
        self.needs: Set[Need] = needs
        self.context: Context = context
        self.decision: int = decision
        self.stamp: int = stamp

    def holds(self, decision: int, stamp: int, versions: Mapping[str, int]) -> bool:
        """Whether it still holds, in its context.

        Args:
            decision: the number of the present decision.
            stamp: how many changes there were up to now.
            versions: of the topics.
        """
        if self.decision == decision:
            return True
        topics = self.topics
        if topics is None:
            return False
        if self.stamp != stamp:
            for topic, version in topics:
                if versions.get(topic, 0) != version:
                    return False
            self.stamp = stamp
        return True

    def fits(self, running: Mapping[Need, Mapping[Provider, int]]) -> bool:
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
    """What was found out about one dependency at one depth: by provider, and by what it is.

    Attributes:
        kept: the entries, one for each context, the latest last.
    """

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: dict[object, list[Kept]] = {}

    def add(self, key: object, kept: Kept) -> None:
        """Keep something.

        Args:
            key: what it is.
            kept: it.
        """
        entries = self.kept.setdefault(key, [])
        if len(entries) >= _MOST_CONTEXTS:
            del entries[0]
        entries.append(kept)


class World:
    """The world as it is, or as look-ahead assumes it.

    Args:
        state: a layer of CURRENT with what is assumed; None for the world as it is.

    Attributes:
        state: as given.
        tables: what was found out in it.
    """

    __slots__ = ("state", "tables")

    def __init__(self, state: Current | None = None) -> None:
        self.state: Current | None = state
        self.tables: dict[tuple[Dependency[Any], int], Table] = {}

    def table(self, wanted: Dependency[Any], depth: int) -> Table:
        """The table of a dependency; made if there is none.

        Args:
            wanted: the dependency.
            depth: how many levels are looked ahead.
        """
        key = (wanted, depth)
        found = self.tables.get(key)
        if found is None:
            if len(self.tables) >= MOST_TABLES:
                self.tables.clear()
            found = self.tables[key] = Table()
        return found

    def forget(self) -> None:
        """Nothing holds any more."""
        self.tables.clear()


class Level:
    """One level of asking: a provider for a dependency, or the choice between providers.

    Attributes:
        topics: what was read; None once somebody did not say what he reads.
        needs: what was priced.
        branches: what the provider foresees.
        lack: the last need of the provider that turned out to be impossible.
        circle: if that is since it needs itself, the needs from it down to what is needed again.
    """

    __slots__ = ("branches", "circle", "lack", "needs", "topics")

    def __init__(self) -> None:
        self.topics: dict[str, int] | None = {}
        self.needs: set[Need] = set()
        self.branches: tuple[Branch, ...] = ()
        self.lack: Dependency[Any] | None = None
        self.circle: tuple[Dependency[Any], ...] = ()


def is_as_assumed(state: Current, real: Current) -> Collection[str] | None:
    """Whether the world is as it was assumed.

    Args:
        state: the assumption.
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


def take_over(source: World, into: World, fields: Collection[str], versions: Mapping[str, int], stamp: int) -> int:
    """Let what was found out in an assumed world hold in another one.

    Args:
        source: the world that was assumed.
        into: the world as it is.
        fields: those that were assumed, and are so.
        versions: of the topics.
        stamp: how many changes there were up to now.

    Returns:
        How many entries hold.
    """
    count = 0
    for (wanted, depth), table in source.tables.items():
        target = into.table(wanted, depth)
        for key, entries in table.kept.items():
            for kept in entries:
                topics = _as_of_now(kept.topics, fields, versions)
                if topics is not None and not isinstance(kept.value, World):  # its layers would hide what changes
                    target.add(key, Kept(kept.value, topics, kept.needs, kept.context, -1, stamp))
                    count += 1
    return count


def _as_of_now(topics: Topics | None, fields: Collection[str], versions: Mapping[str, int]) -> Topics | None:
    if topics is None:
        return None
    now: list[tuple[str, int]] = []
    for topic, version in topics:
        present = versions.get(topic, 0)
        if present != version and topic not in fields:
            return None
        now.append((topic, present))
    return tuple(now)
