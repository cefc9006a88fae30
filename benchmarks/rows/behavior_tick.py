"""One tick of a behavior tree: five guarded children, the last one running.

One unit is one tick of one agent in which nothing changes: four guards refuse, the behavior of the fifth child ticks.
The limit is what one would write by hand: a loop over a table of pairs of a guard and an action, which keeps nothing,
and starts and stops nothing. py_trees is a selector without memory over sequences of a guard and an action, which is
how it is written there; it visits the running sequence's guard again, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt.behavior import BehaviorTree, decider, group
from benchmarks.harness import Peer, Row, Side, Size, Work

__all__ = ["BEHAVIOR_TICK"]

CHILDREN = 5


class Creature:
    """What the guards look at."""

    __slots__ = ("fears", "ticks")

    def __init__(self) -> None:
        self.fears = [0.0] * CHILDREN
        self.fears[-1] = 1.0
        self.ticks = 0


def _decide(number: int) -> Callable[[Any], float]:
    def decide(memory: Any) -> float:
        fear: float = memory.agent.fears[number]
        return fear

    return decide


def act(at: Any) -> bool:
    at.memory.agent.ticks += 1
    return True


TREE = BehaviorTree(group("ROOT")[tuple(decider(f"D{n}", act, decide=_decide(n)) for n in range(CHILDREN))])


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Memories of one tree."""
    creatures = [Creature() for _ in range(size.count)]
    memories = [TREE.memory(creature) for creature in creatures]
    for memory in memories:
        memory.tick(0.05)

    def work() -> int:
        for _ in range(size.rounds):
            for memory in memories:
                memory.tick(0.05)
        return size.count * size.rounds

    yield work
    assert all(creature.ticks == size.rounds + 1 for creature in creatures)


def _guard(number: int) -> Callable[[Creature], float]:
    def guard(creature: Creature) -> float:
        return creature.fears[number]

    return guard


def _act_by_hand(creature: Creature) -> bool:
    creature.ticks += 1
    return True


TABLE = [(_guard(number), _act_by_hand) for number in range(CHILDREN)]


def _tick_by_hand(creature: Creature) -> bool:
    for guard, action in TABLE:
        if guard(creature) > 0.0:
            return action(creature)
    return False


@contextmanager
def table_loop(size: Size) -> Iterator[Work]:
    """A loop over a table."""
    creatures = [Creature() for _ in range(size.count)]

    def work() -> int:
        for _ in range(size.rounds):
            for creature in creatures:
                _tick_by_hand(creature)
        return size.count * size.rounds

    yield work
    assert all(creature.ticks == size.rounds for creature in creatures)


@contextmanager
def py_trees_selectors(size: Size) -> Iterator[Work]:
    """py_trees, a tree for each agent."""
    import py_trees

    running, success, failure = (
        py_trees.common.Status.RUNNING,
        py_trees.common.Status.SUCCESS,
        py_trees.common.Status.FAILURE,
    )

    class Guard(py_trees.behaviour.Behaviour):  # codespell:ignore behaviour
        def __init__(self, creature: Creature, number: int) -> None:
            super().__init__(f"guard {number}")
            self.creature = creature
            self.number = number

        def update(self) -> Any:
            return success if self.creature.fears[self.number] > 0.0 else failure

    class Act(py_trees.behaviour.Behaviour):  # codespell:ignore behaviour
        def __init__(self, creature: Creature, number: int) -> None:
            super().__init__(f"act {number}")
            self.creature = creature

        def update(self) -> Any:
            self.creature.ticks += 1
            return running

    def tree_of(creature: Creature) -> Any:
        root = py_trees.composites.Selector("ROOT", memory=False)
        for number in range(CHILDREN):
            pair = py_trees.composites.Sequence(f"D{number}", memory=False)
            pair.add_children([Guard(creature, number), Act(creature, number)])
            root.add_child(pair)
        return root

    creatures = [Creature() for _ in range(size.count)]
    roots = [tree_of(creature) for creature in creatures]

    def work() -> int:
        for _ in range(size.rounds):
            for root in roots:
                root.tick_once()
        return size.count * size.rounds

    yield work
    assert all(creature.ticks == size.rounds for creature in creatures)


BEHAVIOR_TICK = Row(
    name="behavior_tick",
    what="tick a behavior tree of five guarded children, the last one running",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("table loop", table_loop),
    at_most_times=2,
    peers=(Peer(Side("py_trees", py_trees_selectors), at_least=80),),
    size=Size(1000, 20),
    quick=Size(50, 2),
)
