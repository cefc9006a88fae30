"""What a selector is doing, as frozen, plain data, for snapshots and for tools.

Source: ours.
"""

from __future__ import annotations

from typing import ClassVar

from agentrt.body.codec import View, view
from agentrt.body.views import ModelView


@view()
class GoalView(View):
    """A goal of a selector."""

    name: str  # within the selector
    path: str  # its place, as in the trace: the selector's name and its own
    priority: float  # the lower the number, the sooner it replaces others
    flags: tuple[str, ...]  # the control flags that it uses
    state: str  # idle, pending, running, busy (a coroutine of its start or tick has not returned), ending or disabled
    since: int = 0  # the tick in which it started; 0 unless it runs or ends
    reason: str = ""  # why it does not run, in words; empty if it does

    @property
    def is_running(self) -> bool:
        """Whether it was started and not told to stop."""
        return self.state in ("running", "busy")

    def line(self) -> str:
        """The goal in one line of text."""
        since = f", since tick {self.since}" if self.since else ""
        return f"{self.name}: {self.state}, priority {self.priority}, {' '.join(self.flags) or 'no flags'}{since}"


@view()
class GoalSelectorView(ModelView):
    """A goal selector."""

    model: ClassVar[str] = "goals"

    name: str
    ticks: int  # how often it was driven
    goals: tuple[GoalView, ...]  # in the order in which they were added
    locked: tuple[tuple[str, str], ...]  # pairs of a flag and the name of the goal that has locked it
    disabled: tuple[str, ...]  # the control flags that are disabled

    def active(self) -> tuple[str, ...]:
        """The paths of the goals that run."""
        return tuple(goal.path for goal in self.goals if goal.is_running)

    def doing(self) -> str:
        """The names of the goals that run."""
        return " + ".join(goal.name for goal in self.goals if goal.is_running)

    def lines(self) -> list[str]:
        """What it does, in words: a line for each goal that is not idle, and one for the disabled flags."""
        lines = [goal.line() for goal in self.goals if goal.state != "idle"]
        if self.disabled:
            lines.append(f"disabled: {' '.join(self.disabled)}")
        return lines or ["no goal runs"]

    def reasons(self) -> list[str]:
        """Why the other goals do not run: a line for each."""
        return [f"{goal.name} does not run: {goal.reason}" for goal in self.goals if goal.reason]
