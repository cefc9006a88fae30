"""What a selector knows about one of its goals: the priority, and whether it runs.

The wrapper, not the goal, is what stands in the map of locked flags and in the ledger of control flags, where it is the
*holder*. It is small, because every agent has one for each of its goals: what is seldom needed lies in ``Notes``,
which the selector makes for those goals alone that need them.

Source: seed 000, "WrappedGoals".

In which states a goal of a selector can be, and which may follow which.

Two facts decide most of what a selector does, so the numbers are chosen to make each of them one comparison:

* ``state >= PENDING``: the goal is entitled to its entries in the selector's map of locked flags;
* ``state >= BUSY``: it is running, in the words of the seed (``WrappedGoal.isRunning``).

From ``start`` to ``stop`` is the way ``RUNNING``, ``ENDING``; there is no other way in or out, so the two are paired.

Source: seed 000, "WrappedGoals"; the states of coroutine goals are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM, InternalError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from agentrt.body.driver import Routine
    from agentrt.body.flags import Holder
    from agentrt.goals.goal import Goal
    from agentrt.goals.selector import GoalSelector

__all__ = [
    "ABSENT",
    "BUSY",
    "DISABLED",
    "ENDING",
    "IDLE",
    "PENDING",
    "RUNNING",
    "STATE_NAMES",
    "STATE_TABLE",
    "Notes",
    "WrappedGoal",
]

IDLE = 0  # not running: asked in each full tick whether it can be used, if its flags are free
ENDING = 1  # told to stop: its coroutines clean up, or its ``stop`` is being called; it holds its flags until then
DISABLED = 2  # one of its callbacks raised: it is not asked any more
ABSENT = 3  # removed, or its selector drives nobody
PENDING = 4  # chosen: it begins when its flags are free and whom it replaces has cleaned up
BUSY = 5  # running; a coroutine of its ``start`` or ``tick`` has not returned, so it is not ticked
RUNNING = 6  # running

STATE_NAMES: tuple[str, ...] = ("idle", "ending", "disabled", "absent", "pending", "busy", "running")

STATE_TABLE: Mapping[int, tuple[int, ...]] = {
    IDLE: (PENDING, DISABLED, ABSENT),
    PENDING: (IDLE, RUNNING, DISABLED, ABSENT),
    RUNNING: (BUSY, ENDING),
    BUSY: (RUNNING, ENDING),
    ENDING: (IDLE, DISABLED, ABSENT),
    DISABLED: (IDLE, ABSENT),  # idle again when the selector joins a body
    ABSENT: (IDLE,),
}


class Notes:
    """What is remembered about a goal for which more is to be said than its state."""

    __slots__ = ("awaits_flags", "fate", "number", "refused", "routines", "starting")

    def __init__(self) -> None:
        self.number: int = 1  # which of the goals of its name it is, from 1
        self.fate: int = IDLE  # the state in which it will be when it has ended
        # the flag and the holder of the last refusal that the trace was told of
        self.refused: tuple[str, str] | None = None
        self.awaits_flags: bool = False  # whether it is pending because the ledger is to grant it its flags
        # the coroutine of its ``start`` until that takes its first step
        self.starting: Coroutine[Any, Any, Any] | None = None
        self.routines: tuple[Routine, ...] = ()  # its coroutines that have not ended, as they began


class WrappedGoal:
    """A goal of a selector. Made by ``GoalSelector.add_goal``.

    Args:
        goal: the goal.
        priority: the lower the number, the sooner it replaces others.

    Attributes:
        goal: as given.
        priority: as given.
        state: one of ``agentrt.goals.wrapped``; changed by the selector alone.
        since: the tick in which it started last; 0 before.

    Source: seed 000, "WrappedGoals".
    """

    __slots__ = ("goal", "priority", "since", "state")

    def __init__(self, goal: Goal, priority: float) -> None:
        self.goal: Goal = goal
        self.priority: float = priority
        self.state: int = IDLE
        self.since: int = 0

    @property
    def selector(self) -> GoalSelector | None:
        """The selector that it is in; None after it was removed."""
        return self.goal._selector

    @property
    def name(self) -> str:
        """The goal's name; of two with one name the second is called ``Name#2``."""
        selector = self.goal._selector
        number = 1 if selector is None else selector.number_of(self)
        return self.goal.name if number == 1 else f"{self.goal.name}#{number}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The control flags that it uses, in the order in which they are taken."""
        return self.goal._flags

    @property
    def is_running(self) -> bool:
        """Whether it was started and not told to stop."""
        return self.state >= BUSY

    @property
    def requires_update_every_tick(self) -> bool:
        """Whether it is ticked in partial ticks too. A goal that raises here is disabled."""
        try:
            answer: Any = self.goal.requires_update_every_tick
            return answer if answer is False or answer is True else bool(answer() if callable(answer) else answer)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._fail("requires_update_every_tick", error)
            return False

    def can_be_replaced_by(self, other: WrappedGoal) -> bool:
        """Whether another goal may take its place.

        Args:
            other: a goal that is to begin.

        Source: seed 000, flowchart, "WrappedGoal.canBeReplacedBy".
        """
        return other.priority < self.priority and self.is_interruptible

    def move(self, state: int) -> None:
        """Go over to another state.

        Args:
            state: the new one.

        Raises:
            InternalError: it cannot follow the present one; nothing was changed.
        """
        if state not in STATE_TABLE[self.state]:
            raise InternalError(f"a goal went from {STATE_NAMES[self.state]} to {STATE_NAMES[state]}.")
        self.state = state

    def routine_ended(self, routine: Routine) -> None:
        """One of its coroutines has ended.

        Args:
            routine: that one.
        """
        selector = self.goal._selector
        assert selector is not None  # a goal stays in its selector until all of its coroutines have ended
        selector.routine_ended(self, routine)

    # --- the holder of control flags ----------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger of control flags calls it: its path."""
        selector = self.goal._selector
        return self.name if selector is None else f"{selector.name}/{self.name}"

    @property
    def runs_for(self) -> Holder | None:
        """For whom its selector drives the body: an action that ticks it, say."""
        selector = self.goal._selector
        return None if selector is None else selector.body.holder

    @property
    def precedence(self) -> int:
        """Of its claims for control flags: its selector's."""
        selector = self.goal._selector
        return 0 if selector is None else selector.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether another goal may take its place. A goal that raises here is disabled, and may be replaced."""
        try:
            answer: Any = self.goal.is_interruptible
            return answer if answer is True or answer is False else bool(answer() if callable(answer) else answer)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._fail("is_interruptible", error)
            return True

    def give_way(self, flag: str, claimant: str) -> None:
        """Stop now, for another model of higher precedence.

        Args:
            flag: what that one needs.
            claimant: who it is.
        """
        selector = self.goal._selector
        if selector is not None:
            selector.stop_goal(self, f"{claimant} takes the control flag {flag}")

    def flags_granted(self) -> None:
        """The ledger has given it the flags that it waited for."""
        selector = self.goal._selector
        if selector is not None:
            selector.flags_granted(self)

    def _fail(self, question: str, error: BaseException) -> None:
        selector = self.goal._selector
        assert selector is not None  # it is asked by its selector, and by the ledger while it holds a flag
        selector.fail(self, question, error)

    def __repr__(self) -> str:
        state = "removed" if self.state == ABSENT and self.selector is None else STATE_NAMES[self.state]
        return f"<WrappedGoal {self.name}: priority {self.priority}, {state}>"
