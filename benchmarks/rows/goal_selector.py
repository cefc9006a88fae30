"""A full tick of a goal selector with five goals.

One unit is one full tick: a running goal that can go on, four goals that are asked and cannot be used, one tick. The
five are those of a pig: floating, panic, breeding, strolling (which runs) and looking at a player.

The limit is a selector by hand: the flowchart of the seed in forty lines, with flags that can be disabled and goals
that replace each other, but no coroutines, no other models on the same body, no goal that may raise, nobody who adds or
removes goals meanwhile, and no trace. Its goals do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt.body.driver import LoneBody
from agentrt.goals import JUMP, LOOK, MOVE, Goal, GoalSelector
from benchmarks.harness import Row, Side, Size, Work

__all__ = ["GOAL_SELECTOR", "MinimalSelector"]

PIG: tuple[tuple[str, int, tuple[str, ...], bool], ...] = (
    ("Float", 0, (JUMP,), False),
    ("Panic", 1, (MOVE,), False),
    ("Breed", 3, (MOVE, LOOK), False),
    ("Stroll", 6, (MOVE,), True),
    ("LookAtPlayer", 7, (LOOK,), False),
)


class OurGoal(Goal):
    """One of the five."""

    __slots__ = ("is_wanted", "ticks")

    def __init__(self, is_wanted: bool) -> None:
        self.is_wanted = is_wanted
        self.ticks = 0

    def can_use(self) -> bool:
        return self.is_wanted

    def can_continue_to_use(self) -> bool:
        return self.is_wanted

    def tick(self) -> None:
        self.ticks += 1


OURS: list[type[OurGoal]] = [type(name, (OurGoal,), {"__slots__": (), "flags": flags}) for name, _, flags, _ in PIG]


class MinimalGoal:
    """One of the five, by hand."""

    __slots__ = ("flags", "is_interruptible", "is_running", "is_wanted", "priority", "ticks")

    def __init__(self, priority: int, flags: tuple[str, ...], is_wanted: bool) -> None:
        self.priority = priority
        self.flags = flags
        self.is_wanted = is_wanted
        self.is_interruptible = True
        self.is_running = False
        self.ticks = 0

    def can_use(self) -> bool:
        return self.is_wanted

    def can_continue_to_use(self) -> bool:
        return self.is_wanted

    def start(self) -> None:
        pass

    def tick(self) -> None:
        self.ticks += 1

    def stop(self) -> None:
        pass


class MinimalSelector:
    """The flowchart, by hand."""

    def __init__(self, goals: list[MinimalGoal]) -> None:
        self.goals = goals
        self.locked: dict[str, MinimalGoal] = {}
        self.disabled: set[str] = set()

    def tick(self) -> None:  # noqa: C901 - one function, as one would write it for speed
        disabled, locked = self.disabled, self.locked
        for goal in self.goals:
            if goal.is_running and (not disabled.isdisjoint(goal.flags) or not goal.can_continue_to_use()):
                goal.is_running = False
                goal.stop()
        for flag, goal in list(locked.items()):
            if not goal.is_running:
                del locked[flag]
        for goal in self.goals:
            if not goal.is_running and disabled.isdisjoint(goal.flags):
                for flag in goal.flags:
                    holder = locked.get(flag)
                    if holder is not None and not (holder.is_interruptible and goal.priority < holder.priority):
                        break
                else:
                    if goal.can_use():
                        for flag in goal.flags:
                            holder = locked.get(flag)
                            if holder is not None and holder.is_running:
                                holder.is_running = False
                                holder.stop()
                            locked[flag] = goal
                        goal.is_running = True
                        goal.start()
        for goal in self.goals:
            if goal.is_running:
                goal.tick()


def _work(ticks: list[Callable[[], Any]], size: Size) -> Work:
    for tick in ticks:
        tick()  # strolling begins

    def work() -> int:
        for _ in range(size.rounds):
            for tick in ticks:
                tick()
        return size.count * size.rounds

    return work


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Selectors on bodies of their own."""
    selectors = [GoalSelector(LoneBody()) for _ in range(size.count)]
    strolls: list[OurGoal] = []
    for selector in selectors:
        goals = [kind(goal[3]) for kind, goal in zip(OURS, PIG, strict=True)]
        for goal, (_, priority, _, _) in zip(goals, PIG, strict=True):
            selector.add_goal(priority, goal)
        strolls.append(goals[3])
    yield _work([selector.tick for selector in selectors], size)
    assert all(stroll.ticks > size.rounds for stroll in strolls)


@contextmanager
def by_hand(size: Size) -> Iterator[Work]:
    """The same by hand."""
    selectors = [MinimalSelector([MinimalGoal(*goal[1:]) for goal in PIG]) for _ in range(size.count)]
    yield _work([selector.tick for selector in selectors], size)
    assert all(selector.goals[3].ticks > size.rounds for selector in selectors)


GOAL_SELECTOR = Row(
    name="goal_selector",
    what="goals: full tick, 5 goals, one of them running",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("selector by hand", by_hand),
    at_most_times=1.5,
    size=Size(200, 50),
    quick=Size(5, 5),
)
