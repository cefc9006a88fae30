"""A goal in a selector: its priority, the state that it is in, and what becomes of it from start to stop.

``WrappedGoal`` is what a selector knows about one of its goals. The wrapper, not the goal, is what stands in the map of
locked flags and in the ledger of control flags, where it is the *holder*. It is small, because every agent has one for
each of its goals: what is seldom needed lies in ``Notes``, which are made for those goals alone that need them.
``Lifecycle`` moves the goals of one selector from state to state, and nobody else does while the selector drives a
body. Two facts decide most of what a selector does, so the numbers of the states are chosen to make each of them one
comparison:

* ``state >= PENDING``: the goal is entitled to its entries in the selector's map of locked flags;
* ``state >= BUSY``: it is running, in the words of the seed (``WrappedGoal.isRunning``).

Rules:

* ``start`` is called in the state RUNNING and ``stop`` in the state ENDING, and there is no way around the one after
  the other: whatever happens in between, a goal that was started is stopped exactly once. (A ``start`` that is a
  coroutine, and is cancelled before its first step, did nothing; there is no ``stop`` for it.)
* A callback that is a coroutine runs as a routine. While that of ``start`` or ``tick`` runs, the goal is BUSY: not
  ticked. ``run`` begins when ``start`` is over, and when it returns the goal is over.
* A goal that is stopped has its routines cancelled first; when all of them have ended ``stop`` is called, which may be
  a coroutine in its turn. Only then does the goal give back its control flags. A goal without coroutines does all of
  this at once.
* A goal that raises is reported, stopped if it runs, and disabled. Its ``stop`` is called even when it was ``start``
  that raised.
* Every callback may do anything, such as removing its goal or ending the agent; so the state is looked at again after
  each.

What has to be done about control flags on the way is asked of ``Sharing``, which ``selector`` has.

Rejected: calling ``stop`` first and cancelling the routines afterwards (``stop`` would put away what their ``finally``
blocks still use), and ticking a goal whose last tick has not returned (two of them at a time).

Source: Minecraft, goal selectors: "WrappedGoals", "Operation"; coroutines are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.body.driver import LoneBody, Routine, note, tick_of
from agentrt.errors import ENDS_PROGRAM, InternalError, NotRunningError, WrongStateError
from agentrt.goals.goal import NOBODY, Goal, put
from agentrt.kernel.trace import TraceEvent

if TYPE_CHECKING:
    from agentrt.body.driver import Body
    from agentrt.body.flags import Holder

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
    "Lifecycle",
    "Notes",
    "Selector",
    "Sharing",
    "WrappedGoal",
    "move",
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
        # The state in which it will be when it has ended. Of several the greatest counts: who raised is not asked again
        # though it was stopped for another reason, and who was removed is gone though it raised.
        self.fate: int = IDLE
        # the flag and the holder of the last refusal that the trace was told of
        self.refused: tuple[str, str] | None = None
        self.awaits_flags: bool = False  # whether it is pending because the ledger is to grant it its flags
        # the coroutine of its ``start`` until that takes its first step
        self.starting: Coroutine[Any, Any, Any] | None = None
        self.routines: tuple[Routine, ...] = ()  # its coroutines that have not ended, as they began


class Selector(Protocol):
    """What a goal in it sees of a goal selector."""

    name: str
    precedence: int

    @property
    def body(self) -> Body:
        """Whom it drives."""
        ...

    @property
    def available_goals(self) -> tuple[WrappedGoal, ...]:
        """All of its goals, in the order in which they were added."""
        ...

    @property
    def running_goals(self) -> tuple[WrappedGoal, ...]:
        """Those that run, in the order in which they were added."""
        ...

    def add_goal(self, priority: int, goal: Goal) -> WrappedGoal:
        """Add a goal."""
        ...

    def remove_goal(self, goal: Goal) -> None:
        """Remove a goal, stopping it if it runs."""

    def find(self, goal: Goal) -> WrappedGoal | None:
        """A goal with its priority and its state; None if it is not here."""
        ...

    def disable_control_flag(self, flag: str) -> None:
        """Run no goal that uses a flag."""

    def enable_control_flag(self, flag: str) -> None:
        """Allow goals that use a flag again."""


class WrappedGoal:
    """A goal of a selector. Made by ``GoalSelector.add_goal``.

    Args:
        goal: the goal.
        priority: the lower the number, the sooner it replaces others.
        life: has it begin and end; None for a goal that is in no selector.

    Attributes:
        goal: as given.
        priority: as given.
        flags: the control flags that it uses, in the order in which they are taken.
        state: one of ``agentrt.goals.wrapped``; changed by the selector alone.
        since: the tick in which it started last; 0 before.

    Source: Minecraft, goal selectors: "WrappedGoals".
    """

    __slots__ = ("_life", "flags", "goal", "priority", "since", "state")

    def __init__(self, goal: Goal, priority: float, life: Lifecycle | None = None) -> None:
        self.goal: Goal = goal
        self.priority: float = priority
        # Kept here, since every pass looks at them; a goal cannot be given others while it is in a selector.
        self.flags: tuple[str, ...] = goal.control_flags
        self.state: int = IDLE
        self.since: int = 0
        self._life: Lifecycle | None = life  # None again after it was removed

    @property
    def selector(self) -> Selector | None:
        """The selector that it is in; None after it was removed."""
        return None if self._life is None else self._life.selector

    @property
    def body(self) -> Body:
        """Whom its selector drives.

        Raises:
            WrongStateError: it was removed.
        """
        if self._life is None:
            raise WrongStateError(
                "WrappedGoal.body", "the goal is in no selector", "Add it again: selector.add_goal(1, goal)."
            )
        return self._life.body

    @property
    def name(self) -> str:
        """The goal's name; of two with one name the second is called ``Name#2``."""
        number = 1 if self._life is None else self._life.number_of(self)
        return self.goal.name if number == 1 else f"{self.goal.name}#{number}"

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

        Source: Minecraft, goal selectors, flowchart, "WrappedGoal.canBeReplacedBy".
        """
        return other.priority < self.priority and self.is_interruptible

    # --- the holder of control flags ----------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger of control flags calls it: its path."""
        return self.name if self._life is None else f"{self._life.selector.name}/{self.name}"

    @property
    def runs_for(self) -> Holder | None:
        """For whom its selector drives the body: an action that ticks it, say."""
        return None if self._life is None else self._life.body.holder

    @property
    def precedence(self) -> int:
        """Of its claims for control flags: its selector's."""
        return 0 if self._life is None else self._life.selector.precedence

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
        if self._life is not None:
            self._life.stop(self, f"{claimant} takes the control flag {flag}")

    def flags_granted(self) -> None:
        """The ledger has given it the flags that it waited for."""
        if self._life is not None:
            self._life.sharing.granted(self)

    def _fail(self, question: str, error: BaseException) -> None:
        assert self._life is not None  # it is asked by its selector, and by the ledger while it holds a flag
        self._life.fail(self, question, error)

    def __repr__(self) -> str:
        state = "removed" if self.state == ABSENT and self.selector is None else STATE_NAMES[self.state]
        return f"<WrappedGoal {self.name}: priority {self.priority}, {state}>"


def move(wrapped: WrappedGoal, state: int) -> None:
    """Have a goal go over to another state.

    Raises:
        InternalError: it cannot follow the present one; nothing was changed.
    """
    if state not in STATE_TABLE[wrapped.state]:
        raise InternalError(f"a goal went from {STATE_NAMES[wrapped.state]} to {STATE_NAMES[state]}.")
    wrapped.state = state


class Sharing(Protocol):
    """Who sees to the control flags of a selector's goals: ``selector`` has it."""

    def withdraw(self, wrapped: WrappedGoal, fate: int = IDLE) -> None:
        """A goal that is pending does not begin after all."""

    def give_back(self, wrapped: WrappedGoal) -> None:
        """A goal does not need its control flags any more."""

    def granted(self, wrapped: WrappedGoal) -> None:
        """The ledger has given a pending goal the flags that it waited for."""


class Lifecycle:
    """The goals of one selector, as they begin, fail, stop and end. What several of them share is here, too."""

    __slots__ = (
        "ending",
        "given",
        "is_busy",
        "notes",
        "removed",
        "routines",
        "running",
        "selector",
        "sharing",
        "then",
    )

    sharing: Sharing  # set by that one

    def __init__(self, selector: Selector) -> None:
        self.selector: Selector = selector
        self.given: Body | None = None  # the body, if it is known
        self.running: int = 0  # how many goals run, so that the passes over those can be left out
        self.notes: dict[WrappedGoal, Notes] | None = None
        # Ordered sets, of which one is taken out at once: a selector may have thousands of goals that end together.
        self.routines: dict[Routine, None] | None = None  # those that have not ended, as they began
        self.ending: dict[WrappedGoal, None] | None = None  # whose coroutines clean up
        self.removed: set[WrappedGoal] | None = None  # who was removed, and has not ended yet
        self.is_busy: bool = False  # one of its goals is being called
        self.then: Callable[[], object] | None = None  # to be called when nobody cleans up any more

    # --- what is remembered -------------------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom they drive. A selector that was given nobody has a lone body."""
        body = self.given
        if body is None:
            body = self.given = LoneBody()
        return body

    def number_of(self, wrapped: WrappedGoal) -> int:
        """Which of the goals of its name a goal is, from 1."""
        notes = None if self.notes is None else self.notes.get(wrapped)
        return 1 if notes is None else notes.number

    def note_of(self, wrapped: WrappedGoal) -> Notes:
        """The notes on a goal, made if there are none."""
        if self.notes is None:
            self.notes = {}
        notes = self.notes.get(wrapped)
        if notes is None:
            notes = self.notes[wrapped] = Notes()
        return notes

    # --- a question ---------------------------------------------------------------------------------------------------

    def can_use(self, wrapped: WrappedGoal) -> bool:
        """Ask a goal whether it can be used. One that raises cannot."""
        before, self.is_busy = self.is_busy, True
        try:
            return bool(wrapped.goal.can_use())
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(wrapped, "can_use", error)
            return False
        finally:
            self.is_busy = before

    # --- the beginning ------------------------------------------------------------------------------------------------

    def begin(self, wrapped: WrappedGoal) -> None:
        """Start a goal that is pending, and has all it needs."""
        move(wrapped, RUNNING)
        wrapped.since = tick_of(self.body)
        self.running += 1
        note(self.body, wrapped.flag_name, TraceEvent.START, (("priority", wrapped.priority),))
        busy, self.is_busy = self.is_busy, True  # it may begin outside of a tick, and must not ask for one
        try:
            result = wrapped.goal.start()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(wrapped, "start", error)
            return
        finally:
            self.is_busy = busy
        if result is not None:
            self.spawn(wrapped, "start", result)
        if wrapped.state == RUNNING:
            self._run(wrapped)

    def _run(self, wrapped: WrappedGoal) -> None:
        """Its start is over: begin its coroutine, if it has one."""
        goal = wrapped.goal
        if type(goal).run is not Goal.run:
            try:
                coro = goal.run()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.fail(wrapped, "run", error)
            else:
                self.spawn(wrapped, "run", coro)

    def spawn(self, wrapped: WrappedGoal, hook: str, result: object) -> None:
        """Have what a callback returned run as a routine, if it is a coroutine."""
        if not isinstance(result, Coroutine):
            return
        if wrapped.state != RUNNING:
            result.close()  # the callback was a plain one that stopped the goal before it returned this
            return
        coro: Coroutine[Any, Any, Any] = result
        if hook == "start":
            self.note_of(wrapped).starting = result
            coro = self._starting(wrapped, result)
        try:
            self._routine(wrapped, hook, coro)
        except NotRunningError as error:
            self.fail(wrapped, hook, error)
            return
        if hook != "run":
            move(wrapped, BUSY)

    async def _starting(self, wrapped: WrappedGoal, coro: Coroutine[Any, Any, Any]) -> None:
        """The start of a goal; what is never stepped was never started, and needs no stop."""
        self.note_of(wrapped).starting = None
        await coro

    def _routine(self, wrapped: WrappedGoal, hook: str, coro: Coroutine[Any, Any, Any]) -> None:
        routine = Routine(self.body, wrapped.flag_name, hook, coro, partial(self._routine_ended, wrapped))
        if self.routines is None:
            self.routines = {}
        self.routines[routine] = None
        notes = self.note_of(wrapped)
        notes.routines = (*notes.routines, routine)

    def _routine_ended(self, wrapped: WrappedGoal, routine: Routine) -> None:
        """One of a goal's coroutines has ended."""
        assert self.routines is not None
        del self.routines[routine]
        notes = self.note_of(wrapped)
        notes.routines = tuple(other for other in notes.routines if other is not routine)
        hook = routine.hook
        if wrapped.state == ENDING:
            if routine.error is not None:
                self._note_failure(wrapped, hook)
                notes.fate = max(notes.fate, DISABLED)
            if hook == "stop":
                self._end(wrapped, IDLE)
            elif not notes.routines:
                self._finish(wrapped, IDLE)
        elif routine.error is not None:
            self._note_failure(wrapped, hook)
            self.stop(wrapped, f"its {hook} raised", DISABLED)
        elif hook == "run":
            self.stop(wrapped, "its run is over")
        elif routine.strand.error is not None:  # by the selector, or by the host: what it awaited there was cancelled
            self.stop(wrapped, f"its {hook} was cancelled")
        else:
            move(wrapped, RUNNING)
            if hook == "start":
                self._run(wrapped)

    # --- the end ------------------------------------------------------------------------------------------------------

    def fail(self, wrapped: WrappedGoal, hook: str, error: BaseException) -> None:
        """A callback raised: report it, stop the goal if it runs, and do not ask it again."""
        self.body.fault(wrapped.flag_name, hook, error)
        self._note_failure(wrapped, hook)
        if wrapped.state >= BUSY:
            self.stop(wrapped, f"its {hook} raised", DISABLED)
        elif wrapped.state == PENDING:
            self.sharing.withdraw(wrapped, DISABLED)
        elif wrapped.state == ENDING:
            notes = self.note_of(wrapped)
            notes.fate = max(notes.fate, DISABLED)
        elif wrapped.state == IDLE:
            move(wrapped, DISABLED)

    def _note_failure(self, wrapped: WrappedGoal, hook: str) -> None:
        if wrapped.state not in (DISABLED, ABSENT):
            note(self.body, wrapped.flag_name, TraceEvent.DISABLED, (("hook", hook),))

    def stop(self, wrapped: WrappedGoal, reason: str, fate: int = IDLE) -> None:
        """Stop a goal if it runs; withdraw it if it is pending."""
        if wrapped.state < BUSY:
            if wrapped.state == PENDING:
                self.sharing.withdraw(wrapped, fate)
            return
        move(wrapped, ENDING)
        self.running -= 1
        note(self.body, wrapped.flag_name, TraceEvent.STOP, (("reason", reason),))
        notes = None if self.notes is None else self.notes.get(wrapped)
        if notes is not None and notes.routines:
            self._clean_up(wrapped, fate)
            for routine in notes.routines:
                routine.stop(reason)
        else:
            self._finish(wrapped, fate)

    def _clean_up(self, wrapped: WrappedGoal, fate: int) -> None:
        """A goal takes time to end."""
        notes = self.note_of(wrapped)
        notes.fate = max(notes.fate, fate)
        if self.ending is None:
            self.ending = {}
        self.ending[wrapped] = None

    def _finish(self, wrapped: WrappedGoal, fate: int) -> None:
        """Its coroutines have ended: call ``stop``, unless its start was cancelled before its first step."""
        notes = None if self.notes is None else self.notes.get(wrapped)
        if notes is not None and notes.starting is not None:
            notes.starting.close()
            notes.starting = None
            self._end(wrapped, fate)
            return
        busy, self.is_busy = self.is_busy, True
        try:
            result = wrapped.goal.stop()
            if isinstance(result, Coroutine):
                self._routine(wrapped, "stop", result)
                self._clean_up(wrapped, fate)
                return
        except ENDS_PROGRAM:
            self._end(wrapped, fate)
            raise
        except BaseException as error:
            self.fail(wrapped, "stop", error)
        finally:
            self.is_busy = busy
        self._end(wrapped, fate)

    def _end(self, wrapped: WrappedGoal, fate: int) -> None:
        """It has ended: nothing of it is left."""
        notes = None if self.notes is None else self.notes.get(wrapped)
        if notes is not None:
            fate, notes.fate = max(notes.fate, fate), IDLE
        move(wrapped, fate)
        if self.ending:
            self.ending.pop(wrapped, None)
        # In this order: the ledger knows a goal by its path, of which ``forget`` takes half; and whoever waits for the
        # end of all may have the selector join another body, whose ledger is another one.
        self.sharing.give_back(wrapped)
        if fate == ABSENT:
            self.forget(wrapped)
        self.settle()

    def settle(self) -> None:
        """Call whoever waits for the end of all."""
        then = self.then
        if then is not None and not self.ending:
            self.then = None
            then()

    # --- leaving the selector -----------------------------------------------------------------------------------------

    def dismiss(self, wrapped: WrappedGoal, reason: str) -> None:
        """Make a goal absent, now or when it has cleaned up."""
        if wrapped.state >= BUSY:
            self.stop(wrapped, reason, ABSENT)
        elif wrapped.state == PENDING:
            self.sharing.withdraw(wrapped, ABSENT)
        elif wrapped.state == ENDING:
            self.note_of(wrapped).fate = ABSENT
        elif wrapped.state != ABSENT:
            move(wrapped, ABSENT)

    def forget(self, wrapped: WrappedGoal) -> None:
        """A goal became absent: if it was removed, nothing of it is left here."""
        removed = self.removed
        if removed and wrapped in removed:
            removed.remove(wrapped)
            put(wrapped.goal, None)
            wrapped.goal.entity = NOBODY
            wrapped._life = None
            if self.notes:
                self.notes.pop(wrapped, None)
