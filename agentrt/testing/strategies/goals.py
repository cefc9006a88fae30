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
    """One goal of a case.

    Attributes:
        name: its name.
        priority: the lower, the sooner it replaces others.
        flags: the control flags that it needs.
        is_interruptible: whether it gives way.
        every_tick: whether it is ticked in partial ticks, too.
    """

    name: str
    priority: int
    flags: tuple[str, ...] = ()
    is_interruptible: bool = True
    every_tick: bool = False


@dataclass
class GoalCase:
    """Goals, and which of them can be used.

    Attributes:
        specs: the goals, in the order in which they are added.
        wants: the names of those that can be used now.
        calls: what was called: the name of a goal and ``start``, ``tick`` or ``stop``.
    """

    specs: tuple[GoalSpec, ...]
    wants: set[str] = field(default_factory=set, repr=False)
    calls: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.wants = {spec.name for spec in self.specs}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the goals."""
        return tuple(spec.name for spec in self.specs)

    def selector(self, name: str = "goals") -> GoalSelector:
        """A selector with these goals, made anew; attach it to an agent.

        Args:
            name: begins the paths of its goals.
        """
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
    """Selectors of goals.

    Args:
        max_goals: how many goals there are at most.
    """
    one = st.tuples(
        st.integers(0, 3), st.lists(st.sampled_from(_FLAGS), unique=True, max_size=2), st.booleans(), st.booleans()
    )
    return st.lists(one, min_size=1, max_size=max_goals).map(
        lambda drawn: GoalCase(
            tuple(
                GoalSpec(f"G{number}", priority, tuple(flags), not is_stubborn, every_tick)
                for number, (priority, flags, is_stubborn, every_tick) in enumerate(drawn)
            )
        )
    )
