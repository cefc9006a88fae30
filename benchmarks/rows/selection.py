"""Evaluate a selection tree of twelve leaves, beside an if-chain by hand.

One unit is one update of one agent. In the first row no variable has changed since the last one, which is how it is in
nearly every tick; the limit is an agent that looks at a mark that says so. In the second row a variable changes before
every update, so that each evaluates the tree, and three of four change the behavior: its destructor and the
constructor of the next are called. The limit does the same with attributes and an if-chain written for this very tree.

The third row evaluates the tree with sets of variables that nobody had before, so that no result is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentrt.body.driver import LoneBody
from agentrt.selection import LeafBehavior, SelectionLibrary, SelectionTree
from benchmarks.harness import Row, Side, Size, Work

__all__ = ["SELECTION_CHANGED", "SELECTION_FRESH", "SELECTION_UNCHANGED"]

_VARIABLES = ("alarm", "seen", "heard", "near", "hurt", "armed", "loaded", "alone", "night", "tired", "hungry", "bored")
_NODES = """
<Priority name="Root">
  <Priority name="Combat" condition="alarm and seen">
    <Leaf name="Flee" condition="hurt and !armed"/>
    <Leaf name="Reload" condition="armed and !loaded"/>
    <Leaf name="Shoot" condition="armed and !near"/>
    <Leaf name="Strike" condition="near"/>
  </Priority>
  <Priority name="Alert" condition="alarm or heard">
    <Leaf name="Hide" condition="alone and hurt"/>
    <Leaf name="Search" condition="heard != seen"/>
    <Leaf name="Guard" condition="alarm"/>
  </Priority>
  <Priority name="Calm">
    <Leaf name="Sleep" condition="tired and night"/>
    <Leaf name="Eat" condition="hungry"/>
    <Leaf name="Play" condition="bored and !night"/>
    <Leaf name="Rest" condition="tired"/>
    <Leaf name="Idle"/>
  </Priority>
</Priority>
"""


class Counting(LeafBehavior):
    """Counts how often it begins and ends."""

    changes = 0

    def constructor(self, ai: Any) -> None:
        self.changes += 1

    def destructor(self, ai: Any) -> None:
        self.changes += 1


class ByHand:
    """The same agent, by hand."""

    __slots__ = ("behavior", "behaviors", "stale", *_VARIABLES)

    def __init__(self, behaviors: dict[str, Counting]) -> None:
        for name in _VARIABLES:
            setattr(self, name, False)
        self.behaviors = behaviors
        self.behavior: Counting | None = None
        self.stale = True

    def drive(self) -> None:
        if self.stale:
            self.stale = False
            behavior = self.behaviors[self.select()]
            if behavior is not self.behavior:
                if self.behavior is not None:
                    self.behavior.destructor(self)
                self.behavior = behavior
                behavior.constructor(self)

    def select(self: Any) -> str:  # noqa: C901 - that is how it looks by hand
        if self.alarm and self.seen:
            if self.hurt and not self.armed:
                return "Flee"
            if self.armed and not self.loaded:
                return "Reload"
            if self.armed and not self.near:
                return "Shoot"
            if self.near:
                return "Strike"
        if self.alarm or self.heard:
            if self.alone and self.hurt:
                return "Hide"
            if self.heard != self.seen:
                return "Search"
            if self.alarm:
                return "Guard"
        if self.tired and self.night:
            return "Sleep"
        if self.hungry:
            return "Eat"
        if self.bored and not self.night:
            return "Play"
        return "Rest" if self.tired else "Idle"


def tree() -> SelectionTree:
    """The tree."""
    declared = "".join(f'<Variable name="{name}"/>' for name in _VARIABLES)
    text = f"<SelectionTree><Variables>{declared}</Variables>{_NODES}</SelectionTree>"
    return SelectionLibrary.from_texts({"Bench.xml": text})["Bench"]


def _behaviors() -> dict[str, Counting]:
    return {name: Counting() for name in tree().behaviors}


@contextmanager
def unchanged(size: Size) -> Iterator[Work]:
    """Agents to whom nothing happens."""
    made, behaviors = tree(), _behaviors()
    states = [made.state(behaviors, body=LoneBody()) for _ in range(size.count)]
    yield _driving(states, size)
    assert sum(one.changes for one in behaviors.values()) == size.count


@contextmanager
def unchanged_by_hand(size: Size) -> Iterator[Work]:
    """The same by hand."""
    behaviors = _behaviors()
    yield _driving([ByHand(behaviors) for _ in range(size.count)], size)
    assert sum(one.changes for one in behaviors.values()) == size.count


def _driving(agents: list[Any], size: Size) -> Work:
    for agent in agents:
        agent.drive()

    def work() -> int:
        for _ in range(size.rounds):
            for agent in agents:
                agent.drive()
        return size.count * size.rounds

    return work


@contextmanager
def changed(size: Size) -> Iterator[Work]:
    """A variable changes before every update; three of four times the behavior changes, too."""
    made, behaviors = tree(), _behaviors()
    states = [made.state(behaviors, body=LoneBody()) for _ in range(size.count)]
    for state in states:
        state.drive()

    def work() -> int:
        for number in range(size.rounds):
            name, value = ("hungry", "bored")[number % 2], number % 4 < 2
            for state in states:
                state.set_variable(name, value)
                state.drive()
        return size.count * size.rounds

    yield work


@contextmanager
def changed_by_hand(size: Size) -> Iterator[Work]:
    """The same by hand."""
    behaviors = _behaviors()
    agents = [ByHand(behaviors) for _ in range(size.count)]
    for agent in agents:
        agent.drive()

    def work() -> int:
        for number in range(size.rounds):
            name, value = ("hungry", "bored")[number % 2], number % 4 < 2
            for agent in agents:
                if getattr(agent, name) is not value:
                    setattr(agent, name, value)
                    agent.stale = True
                agent.drive()
        return size.count * size.rounds

    yield work


@contextmanager
def fresh(size: Size) -> Iterator[Work]:
    """Every set of variables is a new one."""
    program = tree().program

    def work() -> int:
        for _ in range(size.rounds):
            for bits in range(size.count):
                program.walk(bits)
        return size.count * size.rounds

    yield work


@contextmanager
def fresh_by_hand(size: Size) -> Iterator[Work]:
    """The same by hand, for agents that have these variables."""
    agents = []
    for bits in range(size.count):
        agent = ByHand({})
        for number, name in enumerate(_VARIABLES):
            setattr(agent, name, bool(bits >> number & 1))
        agents.append(agent)

    def work() -> int:
        for _ in range(size.rounds):
            for agent in agents:
                agent.select()
        return size.count * size.rounds

    yield work


SELECTION_UNCHANGED = Row(
    name="selection_unchanged",
    what="update 1,000 agents on a selection tree whose variables have not changed",
    gauge="seconds",
    ours=Side("agentrt", unchanged),
    limit=Side("a mark", unchanged_by_hand),
    at_most_times=2,
    size=Size(1000, 200),
    quick=Size(50, 4),
)

SELECTION_CHANGED = Row(
    name="selection_changed",
    what="set a variable and update, with destructor and constructor three times of four",
    gauge="seconds",
    ours=Side("agentrt", changed),
    limit=Side("an if-chain", changed_by_hand),
    at_most_times=8,
    size=Size(1000, 40),
    quick=Size(50, 4),
)

SELECTION_FRESH = Row(
    name="selection_fresh",
    what="evaluate a tree of twelve leaves for variables that were never seen before",
    gauge="seconds",
    ours=Side("agentrt", fresh),
    limit=Side("an if-chain", fresh_by_hand),
    at_most_times=12,
    size=Size(4096, 20),
    quick=Size(50, 4),
)
