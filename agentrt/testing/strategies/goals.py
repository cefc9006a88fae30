"""Goals at random: a selector of goals that can be used as their case says, and that write down what is called.

A case holds what can change while it is played: ``wants``, the names of the goals that can be used now. At first all
are wanted. All selectors of one case read the same ``wants``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from agentrt.body.flags import JUMP, LOOK, MOVE
from agentrt.goals.goal import Goal
from agentrt.goals.selector import GoalSelector
from agentrt.testing.strategies.schedules import Brief

__all__ = ["GoalCase", "GoalSpec", "goal_selectors"]

_FLAGS = (MOVE, LOOK, JUMP)


@dataclass(frozen=True, repr=False)
class GoalSpec(Brief):
    """One goal of a case."""

    name: str
    priority: int  # the lower, the sooner it replaces others
    flags: tuple[str, ...] = ()  # the control flags that it needs
    is_interruptible: bool = True  # whether it gives way
    every_tick: bool = False  # whether it is ticked in partial ticks, too


@dataclass
class GoalCase:
    """Goals, and which of them can be used."""

    specs: tuple[GoalSpec, ...]  # the goals, in the order in which they are added
    wants: set[str] = field(default_factory=set, repr=False)  # the names of those that can be used now
    calls: list[tuple[str, str]] = field(default_factory=list, repr=False)  # names, and ``start``, ``tick`` or ``stop``

    def __post_init__(self) -> None:
        self.wants = {spec.name for spec in self.specs}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the goals."""
        return tuple(spec.name for spec in self.specs)

    def selector(self, name: str = "goals") -> GoalSelector:
        """A selector with these goals, made anew, whose name begins their paths; attach it to an agent."""
        made = GoalSelector(name=name)
        for spec in self.specs:
            made.add_goal(spec.priority, _StubGoal(self, spec))
        return made


class _StubGoal(Goal):
    """A goal of a case."""

    def __init__(self, case: GoalCase, spec: GoalSpec) -> None:
        self.name = spec.name
        self.is_interruptible = spec.is_interruptible
        self.requires_update_every_tick = spec.every_tick
        self.set_flags(spec.flags)
        self._case = case

    def can_use(self) -> bool:
        return self.name in self._case.wants

    def start(self) -> Any:
        self._case.calls.append((self.name, "start"))

    def tick(self) -> Any:
        self._case.calls.append((self.name, "tick"))

    def stop(self) -> Any:
        self._case.calls.append((self.name, "stop"))


def goal_selectors(*, max_goals: int = 5) -> st.SearchStrategy[GoalCase]:
    """Selectors of so many goals at most."""
    flags = st.lists(st.sampled_from(_FLAGS), unique=True, max_size=2).map(tuple)
    # Drawn as stubborn, since a failure is shrunk to what is False.
    is_interruptible = st.booleans().map(lambda is_stubborn: not is_stubborn)
    one = st.tuples(st.integers(0, 3), flags, is_interruptible, st.booleans())
    goals = st.lists(one, min_size=1, max_size=max_goals)
    return goals.map(lambda drawn: GoalCase(tuple(GoalSpec(f"G{number}", *one) for number, one in enumerate(drawn))))
