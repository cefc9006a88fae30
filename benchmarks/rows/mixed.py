"""Agents that are driven by several models at once: memory of an idle one, and a tick of ten thousand.

Each agent has eight known actions that think, a goal selector with eight goals none of which can be used, and a
behavior tree of seven deciders below its root, of which the last, which always accepts, is active; three of the others
are kept off by a check of flags, three by their Decide. In
``mixed_ten_thousand`` the next hundredth of the plans is stirred in each tick, as in ``ten_thousand``; selectors and
trees of all agents are ticked in every tick, full and partial ones in turn. One unit is one tick. The peer are the same
agents with nobody awake: what is above it is planning.

The limit is the same by hand: the agents of ``by_hand`` with the selector of ``goal_selector`` and a loop over a table
of guards for the tree, ticked in turn as ours are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agentrt import JUMP, LOOK, MOVE, Agent, Runtime
from agentrt.behavior import Behavior, BehaviorTree, Check, decider, group
from agentrt.goals import Goal, GoalSelector
from benchmarks import wheel
from benchmarks.harness import Peer, Row, Side, Size, Work
from benchmarks.rows.by_hand import BareAgent, stirred_by_hand
from benchmarks.rows.goal_selector import MinimalGoal, MinimalSelector
from benchmarks.rows.idle_memory import EIGHT, Idler
from benchmarks.rows.ten_thousand import ACTIONS, SETTLED, share, stirred

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
    return stirred(size, lambda idler: _agent(idler, ACTIONS), share(size))


def nobody_awake(size: Size) -> AbstractContextManager[Work]:
    """The same agents; no plan of theirs is stirred."""
    return stirred(size, lambda idler: _agent(idler, ACTIONS), 0)


class BareModels:
    """Eight goals and a table of seven guards, by hand."""

    __slots__ = ("flags", "is_full", "rests", "selector")

    def __init__(self) -> None:
        self.selector = MinimalSelector(
            [MinimalGoal(number, tuple(goal.flags), False) for number, goal in enumerate(GOALS)]
        )
        self.flags = 0
        self.is_full = False
        self.rests = 0


def _rest(agent: BareAgent) -> None:
    agent.models.rests += 1


def _act(agent: BareAgent) -> None:
    """What the others would do."""


GUARDS = (
    (lambda agent: agent.models.flags & 1, _act),
    (lambda agent: agent.models.flags & 1, _act),
    (lambda agent: agent.is_in_danger, _act),
    (lambda agent: agent.is_in_danger, _act),
    (lambda agent: agent.is_in_danger, _act),
    (lambda agent: agent.models.flags & 2, _act),
    (lambda agent: True, _rest),
)


def _drive(agent: BareAgent) -> None:
    models = agent.models
    models.is_full = not models.is_full
    if models.is_full:
        models.selector.tick()
    else:
        for goal in models.selector.goals:
            if goal.is_running:
                goal.tick()
    for guard, action in GUARDS:
        if guard(agent):
            action(agent)
            break


def ten_thousand_by_hand(size: Size) -> AbstractContextManager[Work]:
    """The same by hand."""
    return stirred_by_hand(size, share(size), 1, SETTLED, _drive, BareModels)


@contextmanager
def memory_by_hand(size: Size) -> Iterator[Work]:
    """The same by hand."""
    ticks = wheel.Wheel()
    idle: list[BareAgent] = []

    def work() -> int:
        idle.extend(BareAgent(ticks, BareModels()) for _ in range(size.count))
        for agent in idle:
            _drive(agent)
        return size.count

    yield work
    for agent in idle:
        agent.close()


MIXED_MEMORY = Row(
    name="mixed_memory",
    what="memory of one idle agent with 8 actions thinking, 8 goals and 7 deciders",
    gauge="bytes",
    ours=Side("agentrt", memory),
    limit=Side("agents by hand", memory_by_hand),
    at_most_times=1.31,
    size=Size(2000),
    quick=Size(20),
    most_repeats=3,
)

MIXED_TEN_THOUSAND = Row(
    name="mixed_ten_thousand",
    what="one tick of 10,000 agents with 8 actions, 8 goals and 7 deciders, 1 % of their plans awake",
    gauge="seconds",
    ours=Side("agentrt", ten_thousand),
    limit=Side("agents by hand", ten_thousand_by_hand),
    at_most_times=0.88,
    peers=(Peer(Side("nobody awake", nobody_awake)),),
    size=Size(10_000, 40),
    quick=Size(200, 5),
    most_repeats=3,
)
