"""What a selector is doing, as frozen, plain data, for snapshots and for tools.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GoalSelectorView", "GoalView"]


@dataclass(frozen=True, slots=True)
class GoalView:
    """A goal of a selector.

    Attributes:
        name: its name within the selector.
        priority: the lower the number, the sooner it replaces others.
        flags: the control flags that it uses.
        state: idle, pending, running, busy (a coroutine of its start or tick has not returned), ending or disabled.
    """

    name: str
    priority: int
    flags: tuple[str, ...]
    state: str

    @property
    def is_running(self) -> bool:
        """Whether it was started and not told to stop."""
        return self.state in ("running", "busy")

    def line(self) -> str:
        """The goal in one line of text."""
        return f"{self.name}: {self.state}, priority {self.priority}, {' '.join(self.flags) or 'no flags'}"


@dataclass(frozen=True, slots=True)
class GoalSelectorView:
    """A goal selector.

    Attributes:
        name: its name.
        ticks: how often it was driven.
        goals: in the order in which they were added.
        locked: pairs of a flag and the name of the goal that has locked it.
        disabled: the control flags that are disabled.
    """

    name: str
    ticks: int
    goals: tuple[GoalView, ...]
    locked: tuple[tuple[str, str], ...]
    disabled: tuple[str, ...]

    def lines(self) -> list[str]:
        """What it does, in words: a line for each goal that is not idle, and one for the disabled flags."""
        lines = [goal.line() for goal in self.goals if goal.state != "idle"]
        if self.disabled:
            lines.append(f"disabled: {' '.join(self.disabled)}")
        return lines or ["no goal runs"]
