"""What a selector is doing, as frozen, plain data, for snapshots and for tools; and why its other goals do not run.

Why a goal does not run is found out by looking, and nothing of an author's is called for it: a goal that is idle though
its flags are free is asked in each full tick, and does not say yes. The ledger remembers the last refusal of each
claimant until that one succeeds; here it counts as long as whoever stood in the way then stands there still.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getattr_static
from typing import TYPE_CHECKING, ClassVar

from agentrt.body.codec import View, view
from agentrt.body.views import ModelView
from agentrt.goals.wrapped import ABSENT, BUSY, DISABLED, ENDING, IDLE, PENDING, STATE_NAMES

if TYPE_CHECKING:
    from agentrt.body.flags import FlagLedger, Refusal
    from agentrt.goals.wrapped import WrappedGoal

__all__ = ["GoalSelectorView", "GoalView", "view_of"]


@view
class GoalView(View):
    """A goal of a selector.

    Attributes:
        name: its name within the selector.
        path: its place, as in the trace: the selector's name and its own.
        priority: the lower the number, the sooner it replaces others.
        flags: the control flags that it uses.
        state: idle, pending, running, busy (a coroutine of its start or tick has not returned), ending or disabled.
        since: the tick in which it started; 0 unless it runs or ends.
        reason: why it does not run, in words; empty if it does.
    """

    name: str
    path: str
    priority: float
    flags: tuple[str, ...]
    state: str
    since: int = 0
    reason: str = ""

    @property
    def is_running(self) -> bool:
        """Whether it was started and not told to stop."""
        return self.state in ("running", "busy")

    def line(self) -> str:
        """The goal in one line of text."""
        since = f", since tick {self.since}" if self.since else ""
        return f"{self.name}: {self.state}, priority {self.priority}, {' '.join(self.flags) or 'no flags'}{since}"


@view
class GoalSelectorView(ModelView):
    """A goal selector.

    Attributes:
        name: its name.
        ticks: how often it was driven.
        goals: in the order in which they were added.
        locked: pairs of a flag and the name of the goal that has locked it.
        disabled: the control flags that are disabled.
    """

    model: ClassVar[str] = "goals"

    name: str
    ticks: int
    goals: tuple[GoalView, ...]
    locked: tuple[tuple[str, str], ...]
    disabled: tuple[str, ...]

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


# --- why a goal does not run ------------------------------------------------------------------------------------------


def view_of(
    name: str,
    ticks: int,
    goals: tuple[WrappedGoal, ...],
    locked: Mapping[str, WrappedGoal],
    disabled: tuple[str, ...],
    ledger: FlagLedger | None,
) -> GoalSelectorView:
    """The view of a selector.

    Args:
        name: of the selector.
        ledger: None if it drives nobody yet, and so has none.
    """
    refusals = {} if ledger is None else {one.claimant: one for one in ledger.refusals() if _stands(one, ledger)}
    views = tuple(_goal(one, name, locked, disabled, refusals) for one in goals)
    names = tuple((flag, one.name) for flag, one in locked.items())
    return GoalSelectorView(name, ticks, views, names, disabled)


def _stands(refusal: Refusal, ledger: FlagLedger) -> bool:
    """Whether whoever was in the way of a claim has not moved since."""
    hold = ledger.holder(refusal.flag)
    if hold is not None and hold.name == refusal.holder and hold.since <= refusal.tick:
        return True
    return any(
        one.claimant == refusal.holder and refusal.flag in one.flags and one.since <= refusal.tick
        for one in ledger.waiting()
    )


def _goal(
    wrapped: WrappedGoal,
    selector: str,
    locked: Mapping[str, WrappedGoal],
    disabled: tuple[str, ...],
    refusals: Mapping[str, Refusal],
) -> GoalView:
    name, state = wrapped.name, wrapped.state
    path = f"{selector}/{name}"
    since = wrapped.since if state >= BUSY or state == ENDING else 0
    reason = "" if state >= BUSY else _reason(wrapped, locked, disabled, refusals.get(path))
    return GoalView(name, path, wrapped.priority, wrapped.flags, STATE_NAMES[state], since, reason)


def _reason(
    wrapped: WrappedGoal, locked: Mapping[str, WrappedGoal], disabled: tuple[str, ...], refusal: Refusal | None
) -> str:
    state = wrapped.state
    if state != IDLE:
        return _STATES[state] if refusal is None or state != PENDING else f"it waits: {_refused(refusal)}"
    for flag in wrapped.flags:
        if flag in disabled:
            return f"the control flag {flag} is disabled"
    for flag in wrapped.flags:
        holder = locked.get(flag)
        if holder is None or holder is wrapped:
            continue
        if wrapped.priority >= holder.priority:
            return f"{flag} is locked by {holder.name}, priority {holder.priority} against {wrapped.priority}"
        if getattr_static(holder.goal, "is_interruptible", True) is False:
            return f"{flag} is locked by {holder.name}, which cannot be interrupted"
    return "its can_use does not say yes" if refusal is None else _refused(refusal)


def _refused(refusal: Refusal) -> str:
    return f"{refusal.flag} is held by {refusal.holder}, {refusal.reason}"


_STATES: Mapping[int, str] = {
    ENDING: "it was told to stop, and cleans up",
    DISABLED: "one of its callbacks raised",
    ABSENT: "its selector drives nobody",
    PENDING: "it was chosen, and begins when whom it replaces has cleaned up",
}
