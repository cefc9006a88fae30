"""Agents that are driven by several models at once: memory of an idle one, and a tick of ten thousand.

Each agent has eight known actions that think, a goal selector with eight goals none of which can be used, and a
behavior tree of seven deciders below its root, of which the last, which always accepts, is active; three of the others
are kept off by a check of flags, three by their Decide. In
``mixed_ten_thousand`` the next hundredth of the plans is stirred in each tick, as in ``ten_thousand``; selectors and
trees of all agents are ticked in every tick, full and partial ones in turn. One unit is one tick; the target is the
length of a tick at 20 Hz.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agentrt import JUMP, LOOK, MOVE, Agent, Runtime
from agentrt.behavior import Behavior, BehaviorTree, Check, decider, group
from agentrt.goals import Goal, GoalSelector
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.idle_memory import EIGHT, Idler
from benchmarks.rows.ten_thousand import ACTIONS, stirred

__all__ = ["MIXED_MEMORY", "MIXED_TEN_THOUSAND"]


class Reflex(Goal):
    """One of the eight goals."""

    __slots__ = ()

    def can_use(self) -> bool:
        return self.entity.is_in_danger  # type: ignore[no-any-return]


GOALS: list[type[Goal]] = [
    type(f"Reflex{number}", (Reflex,), {"__slots__": (), "flags": (flag,)})
    for number, flag in enumerate((MOVE, LOOK, JUMP, MOVE, LOOK, JUMP, MOVE, LOOK))
]


def _is_in_danger(memory: Any) -> bool:
    return memory.agent.is_in_danger  # type: ignore[no-any-return]


class Rest(Behavior):
    """What the last decider does."""

    def tick(self, at: Any) -> None:
        pass


class Act(Behavior):
    """What the others would do."""

    def tick(self, at: Any) -> None:
        pass


TREE = BehaviorTree(
    group("ROOT")[
        decider("FLEE", Act, stimuli=Check(all_set=1)),
        decider("GUARD", Act, decision=Check(all_set=1)),
        decider("FIGHT", Act, decide=_is_in_danger),
        decider("EAT", Act, decide=_is_in_danger),
        decider("DRINK", Act, decide=_is_in_danger),
        decider("PLAY", Act, stimuli=Check(all_set=2)),
        decider("REST", Rest),
    ]
)
TREE.initialize_tree_data()


def _agent(idler: Idler, actions: list[Any]) -> Agent:
    goals = GoalSelector()
    for number, goal in enumerate(GOALS):
        goals.add_goal(number, goal())
    return Agent(idler, actions=actions, drivers=(goals, TREE.memory()))


@contextmanager
def memory(size: Size) -> Iterator[Work]:
    """Idle agents under one runtime."""
    runtime = Runtime(host="plain")
    runtime.add(_agent(Idler(), EIGHT))  # what all agents share is made with the first of them
    runtime.step()
    runtime.step()

    def work() -> int:
        for _ in range(size.count):
            runtime.add(_agent(Idler(), EIGHT))
        runtime.step()
        runtime.step()
        return size.count

    yield work
    runtime.close()


def ten_thousand(size: Size) -> AbstractContextManager[Work]:
    """Agents under one runtime, stirred in turn."""
    return stirred(size, lambda idler: _agent(idler, ACTIONS))


MIXED_MEMORY = Row(
    name="mixed_memory",
    what="memory of one idle agent with 8 actions thinking, 8 goals and 7 deciders",
    gauge="bytes",
    ours=Side("agentrt", memory),
    at_most=10 * 1024,
    size=Size(2000),
    quick=Size(20),
    most_repeats=3,
)

MIXED_TEN_THOUSAND = Row(
    name="mixed_ten_thousand",
    what="one tick of 10,000 agents with 8 actions, 8 goals and 7 deciders, 1 % of their plans awake",
    gauge="seconds",
    ours=Side("agentrt", ten_thousand),
    at_most=0.050,
    size=Size(10_000, 40),
    quick=Size(200, 5),
    most_repeats=3,
)
