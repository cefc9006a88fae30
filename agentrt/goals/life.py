"""What becomes of one goal: it begins, its coroutines end, it fails, it stops. The lower half of a selector.

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

Every callback may do anything, such as removing its goal or ending the agent; so the state is looked at again after
each.

Rejected: calling ``stop`` first and cancelling the routines afterwards (``stop`` would put away what their ``finally``
blocks still use), and ticking a goal whose last tick has not returned (two of them at a time).

Source: seed 000, "Operation"; coroutines are ours (design section 5, "Goals").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from agentrt.body.driver import Body, LoneBody, Routine, note, tick_of
from agentrt.errors import ENDS_PROGRAM, NotRunningError
from agentrt.goals.goal import Goal
from agentrt.goals.states import ABSENT, BUSY, DISABLED, ENDING, IDLE, PENDING, RUNNING
from agentrt.goals.views import GoalSelectorView
from agentrt.goals.wrapped import Notes, WrappedGoal
from agentrt.kernel.strand import Strand
from agentrt.kernel.trace import Event

__all__ = ["GoalLife"]


class GoalLife(ABC):
    """The life of each goal of a selector. The base class of ``GoalSelector``.

    Attributes:
        name: of the selector.
        view_type: what ``view`` returns.
    """

    __slots__ = ("_body", "_ending", "_is_busy", "_notes", "_removed", "_routines", "_running", "_then", "name")

    view_type: ClassVar[type[GoalSelectorView]] = GoalSelectorView

    def __init__(self, name: str) -> None:
        self.name: str = name
        self._body: Body | None = None
        self._running: int = 0  # how many goals run, so that the passes over those can be left out
        self._notes: dict[WrappedGoal, Notes] | None = None
        # Ordered sets, of which one is taken out at once: a selector may have thousands of goals that end together.
        self._routines: dict[Routine, None] | None = None  # those that have not ended, as they began
        self._ending: dict[WrappedGoal, None] | None = None  # whose coroutines clean up
        self._removed: set[WrappedGoal] | None = None  # who was removed, and has not ended yet
        self._is_busy: bool = False  # one of its goals is being called
        self._then: Callable[[], object] | None = None  # to be called when nobody cleans up any more

    @abstractmethod
    def withdraw(self, wrapped: WrappedGoal, fate: int = IDLE) -> None:
        """A goal that is pending does not begin after all."""

    @abstractmethod
    def _give_back(self, wrapped: WrappedGoal) -> None:
        """A goal does not need its control flags any more."""

    @abstractmethod
    def _forget(self, wrapped: WrappedGoal) -> None:
        """A goal became absent."""

    # --- what is remembered -------------------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom it drives. One that was given none, and joined none yet, has a lone body."""
        body = self._body
        if body is None:
            body = self._body = LoneBody()
        return body

    def strands(self) -> list[Strand]:
        """The strands of its coroutines that have not ended, in the order in which they began."""
        return [routine.strand for routine in self._routines or ()]

    def number_of(self, wrapped: WrappedGoal) -> int:
        """Which of the goals of its name a goal is, from 1.

        Args:
            wrapped: the goal.
        """
        notes = None if self._notes is None else self._notes.get(wrapped)
        return 1 if notes is None else notes.number

    def _note_of(self, wrapped: WrappedGoal) -> Notes:
        """The notes on a goal, made if there are none."""
        if self._notes is None:
            self._notes = {}
        notes = self._notes.get(wrapped)
        if notes is None:
            notes = self._notes[wrapped] = Notes()
        return notes

    # --- the beginning ------------------------------------------------------------------------------------------------

    def _begin(self, wrapped: WrappedGoal) -> None:
        """Start a goal that is pending, and has all it needs."""
        wrapped.move(RUNNING)
        wrapped.since = tick_of(self.body)
        self._running += 1
        note(self.body, wrapped.flag_name, Event.START, (("priority", wrapped.priority),))
        busy, self._is_busy = self._is_busy, True  # it may begin outside of a tick, and must not ask for one
        try:
            result = wrapped.goal.start()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(wrapped, "start", error)
            return
        finally:
            self._is_busy = busy
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
        """Have what a callback returned run as a routine, if it is a coroutine.

        Args:
            wrapped: the goal.
            hook: the callback: ``start``, ``tick`` or ``run``.
            result: what it returned.
        """
        if not isinstance(result, Coroutine):
            return
        if wrapped.state != RUNNING:
            result.close()  # the callback was a plain one that stopped the goal before it returned this
            return
        coro: Coroutine[Any, Any, Any] = result
        if hook == "start":
            self._note_of(wrapped).starting = result
            coro = self._starting(wrapped, result)
        try:
            self._routine(wrapped, hook, coro)
        except NotRunningError as error:
            self.fail(wrapped, hook, error)
            return
        if hook != "run":
            wrapped.move(BUSY)

    async def _starting(self, wrapped: WrappedGoal, coro: Coroutine[Any, Any, Any]) -> None:
        """The start of a goal; what is never stepped was never started, and needs no stop."""
        self._note_of(wrapped).starting = None
        await coro

    def _routine(self, wrapped: WrappedGoal, hook: str, coro: Coroutine[Any, Any, Any]) -> None:
        routine = Routine(self.body, wrapped.flag_name, hook, coro, wrapped.routine_ended)
        if self._routines is None:
            self._routines = {}
        self._routines[routine] = None
        notes = self._note_of(wrapped)
        notes.routines = (*notes.routines, routine)

    def routine_ended(self, wrapped: WrappedGoal, routine: Routine) -> None:
        """One of a goal's coroutines has ended.

        Args:
            wrapped: the goal.
            routine: that one.
        """
        assert self._routines is not None
        del self._routines[routine]
        notes = self._note_of(wrapped)
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
            self._stop(wrapped, f"its {hook} raised", DISABLED)
        elif hook == "run":
            self._stop(wrapped, "its run is over")
        elif routine.strand.error is not None:  # by the selector, or by the host: what it awaited there was cancelled
            self._stop(wrapped, f"its {hook} was cancelled")
        else:
            wrapped.move(RUNNING)
            if hook == "start":
                self._run(wrapped)

    # --- the end ------------------------------------------------------------------------------------------------------

    def fail(self, wrapped: WrappedGoal, hook: str, error: BaseException) -> None:
        """A callback raised: report it, stop the goal if it runs, and do not ask it again.

        Args:
            wrapped: the goal.
            hook: the callback.
            error: what it raised.
        """
        self.body.fault(wrapped.flag_name, hook, error)
        self._note_failure(wrapped, hook)
        if wrapped.state >= BUSY:
            self._stop(wrapped, f"its {hook} raised", DISABLED)
        elif wrapped.state == PENDING:
            self.withdraw(wrapped, DISABLED)
        elif wrapped.state == ENDING:
            notes = self._note_of(wrapped)
            notes.fate = max(notes.fate, DISABLED)
        elif wrapped.state == IDLE:
            wrapped.move(DISABLED)

    def _note_failure(self, wrapped: WrappedGoal, hook: str) -> None:
        if wrapped.state not in (DISABLED, ABSENT):
            note(self.body, wrapped.flag_name, Event.DISABLED, (("hook", hook),))

    def _stop(self, wrapped: WrappedGoal, reason: str, fate: int = IDLE) -> None:
        """Stop a goal if it runs; withdraw it if it is pending."""
        if wrapped.state < BUSY:
            if wrapped.state == PENDING:
                self.withdraw(wrapped, fate)
            return
        wrapped.move(ENDING)
        self._running -= 1
        note(self.body, wrapped.flag_name, Event.STOP, (("reason", reason),))
        notes = None if self._notes is None else self._notes.get(wrapped)
        if notes is not None and notes.routines:
            self._clean_up(wrapped, fate)
            for routine in notes.routines:
                routine.stop(reason)
        else:
            self._finish(wrapped, fate)

    def _clean_up(self, wrapped: WrappedGoal, fate: int) -> None:
        """A goal takes time to end."""
        notes = self._note_of(wrapped)
        notes.fate = max(notes.fate, fate)
        if self._ending is None:
            self._ending = {}
        self._ending[wrapped] = None

    def _finish(self, wrapped: WrappedGoal, fate: int) -> None:
        """Its coroutines have ended: call ``stop``, unless its start was cancelled before its first step."""
        notes = None if self._notes is None else self._notes.get(wrapped)
        if notes is not None and notes.starting is not None:
            notes.starting.close()
            notes.starting = None
            self._end(wrapped, fate)
            return
        busy, self._is_busy = self._is_busy, True
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
            self._is_busy = busy
        self._end(wrapped, fate)

    def _end(self, wrapped: WrappedGoal, fate: int) -> None:
        """It has ended: nothing of it is left."""
        notes = None if self._notes is None else self._notes.get(wrapped)
        if notes is not None:
            fate, notes.fate = max(notes.fate, fate), IDLE
        wrapped.move(fate)
        if self._ending:
            self._ending.pop(wrapped, None)
        self._give_back(wrapped)
        if fate == ABSENT:
            self._forget(wrapped)
        self._settle()

    def _settle(self) -> None:
        """Call whoever waits for the end of all."""
        then = self._then
        if then is not None and not self._ending:
            self._then = None
            then()
