"""A goal selector: which of its goals run, by priority and control flags.

A full tick has four steps, each a pass over the goals in the order in which they were added:

1. a running goal is stopped if one of its flags is disabled, or if it cannot continue;
2. the flags of goals that do not run are unlocked;
3. a goal that does not run, has no disabled flag, and could replace everybody who has locked one of its flags, is
   asked whether it can be used; if so, it locks its flags, those who had them are stopped, and it starts;
4. every running goal is ticked.

A partial tick is step 4 alone, for the goals that ask to be ticked every time. ``drive`` decides which of the two it
is; with ``full_ticks`` it is never a partial one, for a body that makes one move in each tick and would be a tick late.
The priority counts in step 3 alone; the order of the passes is the order of adding, always.

The seed's prose and its flowchart differ in three places, where the flowchart counts: a goal that does *not* ask for
every tick is ticked in full ticks alone; a tick is partial if the number of ticks before it plus the body's number is
odd, but the first one never is; and a goal that was stopped in step 3 keeps what it had locked besides until step 2 of
the next full tick.

Passes run over a tuple that is replaced when a goal is added or removed, so callbacks may do both: a goal that is added
during a pass is looked at from the next pass on, one that is removed not any more. A flag that a callback disables or
enables counts for all goals that the pass has yet to come to, so there is one list of them, which is changed in place.

A selector is ticked once at a time: a tick that one of its goals asks for is refused, as in the other models.

``life`` has what becomes of one goal, ``sharing`` how flags are shared with other models.

Rejected: keeping running goals in a list of their own (one more order to keep right, for a loop that is cheap), and
sorting goals by priority (the seed is explicit that the order of adding is kept).

Source: seed 000.

What becomes of one goal: it begins, its coroutines end, it fails, it stops. The lower half of a selector.

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

How a selector shares one body with other models: its goals and the ledger of control flags.

Which goal of the selector replaces which is decided by the selector's own map of locked flags, as the seed says. The
ledger is asked about what holds *between* models:

1. A goal whose flags somebody else keeps is refused before it is asked ``can_use``; who refused it is remembered by
   the ledger, and told to the trace when it changes.
2. Once it can be used, its flags are claimed before anybody is stopped. Goals that it replaces count as its own; their
   flags pass on to it with nobody in between.
3. If others have to give way first, and take their time, the goal is *pending*. It has stopped nobody yet; it begins as
   soon as it has its flags, if it can still be used.
4. A goal that replaces one whose coroutines clean up is pending, too, until that one has ended.
5. A pending goal is asked anew in each full tick; one that cannot be used any more is withdrawn. Whoever could replace
   it if it ran may take its place.

While a goal cleans up without a successor, its flags go to other goals of its selector only if no other model waits.

``_strangers`` is what keeps all of this from costing anything: the flags that others hold or wait for. Usually there is
none, and no goal is asked about.

Source: design section 3, "Control flags"; seed 000, "Flags".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine
from typing import Any, ClassVar

from agentrt.body.driver import GOALS, Body, LoneBody, Routine, give, note, number_in, take, tick_of
from agentrt.body.flags import FlagLedger, Holder, Refusal
from agentrt.errors import ENDS_PROGRAM, DefinitionError, NotRunningError, WrongStateError
from agentrt.goals.goal import NOBODY, Goal, in_order
from agentrt.goals.views import GoalSelectorView, view_of
from agentrt.goals.wrapped import ABSENT, BUSY, DISABLED, ENDING, IDLE, PENDING, RUNNING, Notes, WrappedGoal
from agentrt.kernel.strand import Strand
from agentrt.kernel.trace import Event
from agentrt.words import repr_of

__all__ = ["GoalLife", "FlagSharing", "GoalSelector"]


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


class FlagSharing(GoalLife):
    """A selector's goals and the ledger. The base class of ``GoalSelector``.

    Attributes:
        precedence: of the claims of its goals; the higher one wins, a tie takes nothing away.
        is_away: whether it left its body, or is leaving it; then no goal begins.
    """

    __slots__ = ("_disabled", "_foreign", "_ledger", "_locked", "_pending", "_version", "is_away", "precedence")

    def __init__(self, name: str, precedence: int) -> None:
        super().__init__(name)
        self.precedence: int = precedence
        self.is_away: bool = False
        self._ledger: FlagLedger | None = None
        self._disabled: list[str] = []  # changed in place: a pass looks at this very list
        self._locked: dict[str, WrappedGoal] | None = None  # as the seed has it; an entry may outlive its goal's run
        self._pending: list[WrappedGoal] | None = None  # in the order in which they were chosen
        self._foreign: Collection[str] | None = None  # what ``_strangers`` said
        self._version: int = -1  # of the ledger, when it said that

    @abstractmethod
    def can_use(self, wrapped: WrappedGoal) -> bool:
        """Ask a goal whether it can be used."""

    @property
    def ledger(self) -> FlagLedger:
        """The ledger of control flags that its goals take their flags from."""
        if self._ledger is None:
            self._ledger = self.body.flags
        return self._ledger

    @property
    def disabled_flags(self) -> tuple[str, ...]:
        """The control flags that are disabled."""
        return tuple(self._disabled)

    @property
    def locked_flags(self) -> dict[str, WrappedGoal]:
        """Which goal has locked which flag, as a copy.

        An entry may name a goal that was stopped or removed, until the next full tick.

        Source: seed 000, flowchart, "GoalSelector.lockedFlags".
        """
        return dict(self._locked or {})

    # --- may it? ------------------------------------------------------------------------------------------------------

    def _strangers(self) -> Collection[str] | None:
        """The flags that others hold or wait for, and those that own goals wait for; None if there are none."""
        ledger = self.ledger
        if ledger.version != self._version:
            self._version = ledger.version
            flags = [flag for flag, hold in ledger.holds().items() if not self._is_own(hold.owner)]
            for waiting in ledger.waiting():
                flags.extend(waiting.flags)
            self._foreign = flags or None
        return self._foreign

    def _is_own(self, owner: Holder) -> bool:
        """Whether somebody is a goal of this selector, or whom it drives the body for."""
        if isinstance(owner, WrappedGoal) and owner.goal._selector is self:
            return True
        link = self.body.holder
        while link is not None and link is not owner:
            link = link.runs_for
        return link is not None

    def _may_be_asked(self, wrapped: WrappedGoal, strangers: Collection[str] | None) -> bool:
        """Whether a goal's flags are not disabled, and everybody who holds one of them can be replaced by it."""
        flags = wrapped.goal._flags
        locked = self._locked or {}
        for flag in flags:
            holder = locked.get(flag)
            if flag in self._disabled or not (
                holder is None or holder is wrapped or holder.can_be_replaced_by(wrapped)
            ):
                return False
        is_theirs = strangers is not None and any(flag in strangers for flag in flags)
        if is_theirs and not self.ledger.gives_way(flags, wrapped):
            refusal = self.ledger.obstacle(flags, wrapped, tick_of(self.body), shared_with=self._shares(wrapped))
            if refusal is not None:
                self._refused(wrapped, refusal)
                return False
        return True

    def _shares(self, wrapped: WrappedGoal) -> tuple[Holder, ...]:
        """Whose flags pass on to a goal that begins: the goals that it replaces, and what is performed for those."""
        flags = wrapped.goal._flags
        shares: list[Holder] = []
        if self._locked:
            shares += [self._locked[flag] for flag in flags if flag in self._locked]
        if self._pending:
            shares += [other for other in self._pending if other.can_be_replaced_by(wrapped)]
        if self._ending and not self._others_wait():
            shares += self._ending
        for flag in flags:
            hold = self.ledger.holder(flag)
            link = None if hold is None else hold.owner.runs_for
            while hold is not None and link is not None:
                if any(link is one for one in shares):
                    shares.append(hold.owner)
                    break
                link = link.runs_for
        return tuple(shares)

    def _others_wait(self) -> bool:
        """Whether another model waits for flags."""
        own = sum(self._note_of(wrapped).awaits_flags for wrapped in self._pending or ())
        return len(self.ledger.waiting()) > own

    def _refused(self, wrapped: WrappedGoal, refusal: Refusal) -> None:
        """Tell the trace of a refusal, unless it is the same as the last one."""
        notes = self._note_of(wrapped)
        why = (refusal.flag, refusal.holder)
        if notes.refused != why:
            notes.refused = why
            detail = (("flag", refusal.flag), ("holder", refusal.holder), ("reason", refusal.reason))
            note(self.body, wrapped.flag_name, Event.REFUSED, detail)

    # --- taking its flags ---------------------------------------------------------------------------------------------

    def _choose(self, wrapped: WrappedGoal) -> None:
        """A goal that is idle can be used: begin it, now or when its flags are free."""
        wrapped.move(PENDING)
        self._come_in(wrapped)

    def _claim(self, wrapped: WrappedGoal) -> bool:
        """Claim a goal's flags.

        Returns:
            Whether it has them; if not, it waits for them or was withdrawn.
        """
        flags = wrapped.goal._flags
        shares = self._shares(wrapped)
        tick = tick_of(self.body)
        ledger = self.ledger
        refusal = ledger.claim(flags, wrapped, tick, shared_with=shares, wait=True)
        if wrapped.state != PENDING:
            ledger.release(wrapped)  # somebody who gave way removed it
            return False
        if refusal is None:
            if self._notes and wrapped in self._notes:
                self._notes[wrapped].refused = None
            return True
        self._refused(wrapped, refusal)
        if ledger.obstacle(flags, wrapped, tick, shared_with=shares) is not None:
            self.withdraw(wrapped)
            return False
        self._note_of(wrapped).awaits_flags = True
        self._wait(wrapped)
        return False

    def _wait(self, wrapped: WrappedGoal) -> None:
        if self._pending is None:
            self._pending = []
        if wrapped not in self._pending:
            self._pending.append(wrapped)

    def _take_over(self, wrapped: WrappedGoal) -> None:
        """A goal that is pending has its flags, or shares them with whom it replaces: stop those, and begin it."""
        self._unlist(wrapped)
        replaced = []
        flags = wrapped.goal._flags
        before: dict[str, WrappedGoal] = {}
        if flags:
            locked = self._locked
            if locked is None:
                locked = self._locked = {}
            for flag in flags:
                holder = locked.get(flag)
                if holder is not None:
                    before[flag] = holder
                locked[flag] = wrapped  # for all flags before the first is stopped: they pass on by this map
                if holder is not None and holder is not wrapped and holder.state >= PENDING:
                    replaced.append(holder)
        for other in self._pending or ():
            if other.can_be_replaced_by(wrapped) and any(flag in flags for flag in other.goal._flags):
                replaced.append(other)
        for holder in replaced:
            self._stop(holder, f"replaced by {wrapped.flag_name}")
            if wrapped.state != PENDING:  # who was stopped removed it, or has the whole selector leave
                self._unlock_newcomer(wrapped, before)
                return
        if self._in_its_way(wrapped):
            self._wait(wrapped)
        else:
            self._begin(wrapped)

    def _unlock_newcomer(self, wrapped: WrappedGoal, before: dict[str, WrappedGoal]) -> None:
        """A goal does not begin after all: it locks nothing, and those lock again what they had who still run."""
        locked = self._locked
        if locked is not None and wrapped.state < PENDING:
            for flag in wrapped.goal._flags:
                holder = before.get(flag)
                if locked.get(flag) is wrapped:
                    del locked[flag]
                if holder is not None and holder.state >= PENDING and flag not in locked:
                    locked[flag] = holder

    # --- pending ------------------------------------------------------------------------------------------------------

    def flags_granted(self, wrapped: WrappedGoal) -> None:
        """The ledger has given a pending goal the flags that it waited for. It goes on in the same tick.

        Args:
            wrapped: the goal.
        """
        self._note_of(wrapped).awaits_flags = False
        kernel = self.body.kernel
        if kernel is None:
            self._proceed(wrapped)
        else:
            kernel.call_soon(self._proceed, wrapped)  # not on the stack of whoever released them

    def _proceed(self, wrapped: WrappedGoal) -> None:
        """Begin a pending goal if nothing is in its way any more, and it can still be used."""
        if wrapped.state != PENDING or self._note_of(wrapped).awaits_flags or self._in_its_way(wrapped):
            return
        if self._may_be_asked(wrapped, None) and self.can_use(wrapped):
            self._come_in(wrapped)
        else:
            self.withdraw(wrapped)

    def _come_in(self, wrapped: WrappedGoal) -> None:
        """A pending goal can be used: begin it if it has its flags, which may have been somebody else's meanwhile."""
        if wrapped.state == PENDING and (not wrapped.goal._flags or self._claim(wrapped)):
            self._take_over(wrapped)

    def _in_its_way(self, wrapped: WrappedGoal) -> bool:
        """Whether a goal of this selector, whose flags it needs, still cleans up."""
        flags = wrapped.goal._flags
        return any(flag in flags for other in self._ending or () for flag in other.goal._flags)

    def _ask_again(self, wrapped: WrappedGoal, strangers: Collection[str] | None) -> None:
        """A full tick comes to a goal that is pending: it stays so only if it can still be used."""
        if not (self._may_be_asked(wrapped, strangers) and self.can_use(wrapped)):
            self.withdraw(wrapped)
        elif not self._note_of(wrapped).awaits_flags and not self._in_its_way(wrapped):
            self._come_in(wrapped)

    def withdraw(self, wrapped: WrappedGoal, fate: int = IDLE) -> None:
        """A goal that is pending does not begin after all.

        Args:
            wrapped: the goal; nothing happens if it is not pending.
            fate: its state from now on.
        """
        if wrapped.state == PENDING:
            wrapped.move(fate)
            self._unlist(wrapped)
            self._unlock_newcomer(wrapped, {})
            self._give_back(wrapped)

    def _unlist(self, wrapped: WrappedGoal) -> None:
        if self._pending and wrapped in self._pending:
            self._pending = [other for other in self._pending if other is not wrapped]
            self._note_of(wrapped).awaits_flags = False

    def _give_back(self, wrapped: WrappedGoal) -> None:
        """A goal does not need its flags any more: its successor has them, or else whoever is next in the ledger."""
        flags = wrapped.goal._flags
        if flags:
            ledger = self.ledger
            if self._locked:
                for flag in flags:
                    heir = self._locked.get(flag)
                    if heir is not None and heir is not wrapped and heir.state == PENDING:
                        ledger.hand_over((flag,), heir, tick_of(self.body), holders=(wrapped,))
            ledger.release(wrapped)
        for other in self._pending or ():
            self._proceed(other)

    def stop_goal(self, wrapped: WrappedGoal, reason: str) -> None:
        """Stop a goal if it runs, or withdraw it if it is pending.

        Args:
            wrapped: the goal.
            reason: why, in words.
        """
        if wrapped.state >= PENDING:
            self._stop(wrapped, reason)

    def _unlock(self) -> None:
        """Step 2: forget the entries of the goals that do not run."""
        locked = self._locked
        if locked:
            for holder in locked.values():
                if holder.state < PENDING:
                    self._locked = {flag: one for flag, one in locked.items() if one.state >= PENDING}
                    return


_NOTHING: dict[str, WrappedGoal] = {}


class GoalSelector(FlagSharing):
    """Decides which of its goals drive a body. A driver: ``agent.attach(selector)``; or tick it by hand.

    Args:
        body: whom it drives; None until it joins one (``agent.attach``), or to be used by hand, without an agent.
        name: begins the paths of its goals; each driver of an agent has another name.
        rank: where it stands in a tick: ``GOALS``, or ``TARGETS`` for one that chooses targets for the others.
        precedence: of its goals' claims for control flags against other models; the higher one wins.
        flags: a ledger of its own, so that its goals share no flags with other models; None for the body's.
        full_ticks: whether each ``drive`` is a full tick; by default full and partial ticks take turns, as in the seed.

    Attributes:
        name: as given.
        rank: as given.
        precedence: as given.
        full_ticks: as given.
        ticks: how often ``drive`` was called; 0 again after it left a body.

    Source: seed 000.
    """

    __slots__ = ("_goals", "_is_given", "_own_ledger", "full_ticks", "rank", "ticks")

    def __init__(
        self,
        body: Body | None = None,
        *,
        name: str = "goals",
        rank: int = GOALS,
        precedence: int = 0,
        flags: FlagLedger | None = None,
        full_ticks: bool = False,
    ) -> None:
        number_in(precedence, "GoalSelector", "precedence")
        super().__init__(name, precedence)
        self.rank: int = rank
        self.full_ticks: bool = full_ticks
        self.ticks: int = 0
        self._goals: tuple[WrappedGoal, ...] = ()
        self._own_ledger: FlagLedger | None = flags
        self._ledger = flags
        self._is_given = False  # else the body is one that it made for itself, to be used by hand
        if body is not None:
            self.join(body)

    # --- its goals ----------------------------------------------------------------------------------------------------

    def add_goal(self, priority: int, goal: Goal) -> WrappedGoal:
        """Add a goal; it comes after all others in every pass.

        Args:
            priority: a number; the lower it is, the sooner the goal replaces others that use the same flags.
            goal: the goal; it is in no selector yet.

        Returns:
            The goal with its priority and its state.

        Raises:
            DefinitionError: the priority is no number, or the goal is none.
            WrongStateError: the goal is in a selector, or was removed from one and still cleans up.

        Source: seed 000, "Priorities", "Adding and Removing Goals", "WrappedGoals".
        """
        _require_goal(goal, priority)
        if goal._selector is not None:
            raise WrongStateError(
                "GoalSelector.add_goal",
                f"{repr_of(goal)} is in a selector",
                "A goal belongs to one body: make another one.",
            )
        wrapped = WrappedGoal(goal, number_in(priority, "GoalSelector.add_goal", "its priority"))
        name = goal.name
        taken = {self.number_of(other) for other in self._goals if other.goal.name == name}
        goal._selector = self
        if self._body is not None:
            goal.entity = self._body.entity
        if taken:
            self._note_of(wrapped).number = next(n for n in range(1, len(taken) + 2) if n not in taken)
        if self.is_away:
            wrapped.move(ABSENT)
        self._goals = (*self._goals, wrapped)
        return wrapped

    def remove_goal(self, goal: Goal) -> None:
        """Remove a goal, stopping it if it runs. Nothing happens if it is not here.

        Args:
            goal: the very goal that was added.

        Source: seed 000, "Adding and Removing Goals".
        """
        wrapped = self.find(goal)
        if wrapped is not None:
            self._remove([wrapped])

    def remove_all_goals(self, predicate: Callable[[Goal], bool] | None = None) -> None:
        """Remove goals, stopping those that run.

        Args:
            predicate: says of a goal whether it is removed; without it, all are.
        """
        self._remove([one for one in self._goals if predicate is None or predicate(one.goal)])

    def _remove(self, chosen: list[WrappedGoal]) -> None:
        """Stop goals, then take them out, in one pass over all: who removes thousands does not wait for their square.

        What is stopped may remove some of them itself, or add others.
        """
        removed = self._removed
        if removed is None:
            removed = self._removed = set()
        gone = {one for one in chosen if one not in removed}  # a set is asked, and never gone through
        removed |= gone
        for wrapped in chosen:
            if wrapped in gone:
                self._dismiss(wrapped, "it was removed")
        self._goals = tuple(other for other in self._goals if other not in gone)
        for wrapped in chosen:
            if wrapped in gone and wrapped.state == ABSENT:
                self._forget(wrapped)

    def find(self, goal: Goal) -> WrappedGoal | None:
        """A goal with its priority and its state; None if it is not here.

        Args:
            goal: the very goal that was added.
        """
        for wrapped in self._goals:
            if wrapped.goal is goal:
                return wrapped
        return None

    def holder_of(self, goal: Goal) -> WrappedGoal | None:
        """Who holds control flags for a goal: as ``find``, also while a goal that was removed still cleans up.

        Args:
            goal: the very goal that was added.
        """
        return self.find(goal) or next((one for one in self._ending or () if one.goal is goal), None)

    @property
    def available_goals(self) -> tuple[WrappedGoal, ...]:
        """All of its goals, in the order in which they were added."""
        return self._goals

    @property
    def running_goals(self) -> tuple[WrappedGoal, ...]:
        """Those that run, in the order in which they were added."""
        return tuple(wrapped for wrapped in self._goals if wrapped.state >= BUSY)

    def _dismiss(self, wrapped: WrappedGoal, reason: str) -> None:
        """Make a goal absent, now or when it has cleaned up."""
        if wrapped.state >= BUSY:
            self._stop(wrapped, reason, ABSENT)
        elif wrapped.state == PENDING:
            self.withdraw(wrapped, ABSENT)
        elif wrapped.state == ENDING:
            self._note_of(wrapped).fate = ABSENT
        elif wrapped.state != ABSENT:
            wrapped.move(ABSENT)

    def _forget(self, wrapped: WrappedGoal) -> None:
        removed = self._removed
        if removed and wrapped in removed:
            removed.remove(wrapped)
            wrapped.goal._selector = None
            wrapped.goal.entity = NOBODY
            if self._notes:
                self._notes.pop(wrapped, None)

    # --- control flags ------------------------------------------------------------------------------------------------

    def disable_control_flag(self, flag: str) -> None:
        """Run no goal that uses a flag: in the next full tick those that run are stopped, and none is started.

        Args:
            flag: the flag, such as ``MOVE``.

        Source: seed 000, "Flags".
        """
        if flag not in self._disabled:
            self._disabled[:] = in_order({*self._disabled, flag}, "GoalSelector.disable_control_flag")

    def enable_control_flag(self, flag: str) -> None:
        """Allow goals that use a flag again. Nothing is restarted by that alone.

        Args:
            flag: the flag.

        Source: seed 000, "Flags".
        """
        self._disabled[:] = [other for other in self._disabled if other != flag]

    def set_control_flag(self, flag: str, enabled: bool) -> None:
        """Enable or disable a flag.

        Args:
            flag: the flag.
            enabled: whether goals that use it may run.
        """
        if enabled:
            self.enable_control_flag(flag)
        else:
            self.disable_control_flag(flag)

    # --- a tick -------------------------------------------------------------------------------------------------------

    def drive(self) -> None:
        """One tick of its body: a full one the first time, and then whenever ticks before and body number are even.

        With ``full_ticks`` it is always a full one.

        Source: seed 000, "Operation", flowchart, "Mob.serverAiStep".
        """
        before = self.ticks
        self.ticks = before + 1
        if before and not self.full_ticks and (before + (self._body or self.body).number) & 1:
            if self._running:
                self.tick_running_goals()
        else:
            self.tick()

    def ai_step(self) -> None:
        """One tick of its body, under the seed's name: ``drive``."""
        self.drive()

    def tick(self) -> None:
        """One full tick: stop, unlock, start, tick.

        Raises:
            WrongStateError: one of its own goals asks for it.

        Source: seed 000, "Operation", flowchart, "GoalSelector.tick".
        """
        if self._is_busy:
            self._refuse("tick")
        self._is_busy = True
        try:
            if self._running:
                self._stop_those_that_cannot_continue()
            if self._locked:
                self._unlock()
            self._start_those_that_can_be_used()
            if self._running:
                self._tick_those_that_run(True)
        finally:
            self._is_busy = False

    def _stop_those_that_cannot_continue(self) -> None:
        """Step 1."""
        disabled = self._disabled
        for wrapped in self._goals:
            if wrapped.state >= BUSY:
                goal = wrapped.goal
                if disabled and any(flag in disabled for flag in goal._flags):
                    self._stop(wrapped, "a control flag of it is disabled")
                    continue
                try:
                    if goal.can_continue_to_use():  # what is true may be an author's own, and raise
                        continue
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    self.fail(wrapped, "can_continue_to_use", error)
                else:
                    self._stop(wrapped, "it cannot continue")

    def _start_those_that_can_be_used(self) -> None:  # noqa: C901 - a call less for each goal is what the target is made of
        """Step 3. The loop over the flags is ``_may_be_asked`` written out, for when there is nobody else."""
        ledger = self._ledger
        is_known = ledger is not None and ledger.version == self._version
        strangers = self._foreign if is_known else self._strangers()
        disabled = self._disabled
        for wrapped in self._goals:
            if wrapped.state:  # not IDLE
                if wrapped.state == PENDING:
                    self._ask_again(wrapped, strangers)
                continue
            goal = wrapped.goal
            if disabled and any(flag in disabled for flag in goal._flags):
                continue
            locked = self._locked or _NOTHING
            if strangers is not None:
                if not self._may_be_asked(wrapped, strangers) or wrapped.state:
                    continue
                locked = _NOTHING
            for flag in goal._flags:
                if flag in locked:
                    holder = locked[flag]
                    # Whoever is asked whether it can be interrupted may remove this one.
                    if wrapped.priority >= holder.priority or not holder.is_interruptible or wrapped.state:
                        break
            else:
                try:
                    if not goal.can_use() or wrapped.state != IDLE:
                        continue
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    self.fail(wrapped, "can_use", error)
                else:
                    self._choose(wrapped)

    def can_use(self, wrapped: WrappedGoal) -> bool:
        """Ask a goal whether it can be used. One that raises cannot.

        Args:
            wrapped: the goal.
        """
        before, self._is_busy = self._is_busy, True
        try:
            return bool(wrapped.goal.can_use())
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(wrapped, "can_use", error)
            return False
        finally:
            self._is_busy = before

    def tick_running_goals(self, tick_all: bool = False) -> None:
        """Tick the goals that run; without an argument, a partial tick.

        Args:
            tick_all: whether those are ticked, too, that do not ask for every tick.

        Raises:
            WrongStateError: one of its own goals asks for it.

        Source: seed 000, "Operation", flowchart, "GoalSelector.tickRunningGoals".
        """
        if self._is_busy:
            self._refuse("tick_running_goals")
        self._is_busy = True
        try:
            self._tick_those_that_run(tick_all)
        finally:
            self._is_busy = False

    def _refuse(self, method: str) -> None:
        raise WrongStateError(
            f"GoalSelector.{method}",
            "it calls one of its goals",
            "A goal does not tick its own selector. What is to be decided anew is decided in the next full tick.",
        )

    def _tick_those_that_run(self, tick_all: bool) -> None:
        """Step 4."""
        for wrapped in self._goals:
            if wrapped.state == RUNNING and (tick_all or wrapped.requires_update_every_tick):
                try:
                    result = wrapped.goal.tick()
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    self.fail(wrapped, "tick", error)
                else:
                    if result is not None:
                        self.spawn(wrapped, "tick", result)

    # --- the driver ---------------------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body. All goals are idle, those too that were disabled.

        Args:
            body: whom.

        Raises:
            WrongStateError: it drives one, or has not left it yet.
        """
        if self._ending or any(wrapped.state >= PENDING for wrapped in self._goals):
            raise WrongStateError("GoalSelector.join", "its goals run", "Let it leave first: selector.leave(...).")
        give(self, body, "GoalSelector.join")
        self._version = -1
        self._locked = None
        self.is_away: bool = False
        for wrapped in self._goals:
            wrapped.state = IDLE

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop all goals, for good or until it joins a body again.

        Args:
            reason: why, in words.
            then: called when the last one has cleaned up; at once if none has to.
        """
        self.is_away = True
        self.ticks = 0
        goals = self._goals
        for wrapped in goals:
            if wrapped.state < BUSY:
                self._dismiss(wrapped, reason)
        for wrapped in goals:
            self._dismiss(wrapped, reason)
        self._locked = None

        def left() -> None:
            take(self, self._body)
            then()

        self._then = left
        self._settle()

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will drive as soon as that one lives. A body of its own counts while it acts.

        Set by ``agentrt.body.driver.give`` and ``take`` alone.
        """
        return self._body if self._is_given or self._running or self._ending or self._pending else None

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        self._is_given = body is not None
        self._body = body
        self._ledger = self._own_ledger if body is None or self._own_ledger is not None else body.flags
        self._version = -1
        entity = NOBODY if body is None else body.entity
        for wrapped in self._goals:
            wrapped.goal.entity = entity

    def view(self) -> GoalSelectorView:
        """What it is doing, as plain values."""
        return view_of(self)

    def __repr__(self) -> str:
        running = ", ".join(wrapped.name for wrapped in self.running_goals)
        return f"<GoalSelector {self.name!r}: {len(self._goals)} goals, running: {running or 'none'}>"


def _require_goal(goal: object, priority: object) -> None:
    """Tell an author who slipped what was meant."""
    if isinstance(goal, Goal):
        return
    method, what = "GoalSelector.add_goal", repr_of(goal, 80)
    if isinstance(priority, Goal):
        remedy = f"Write add_goal({what}, goal): the priority comes first."
        raise DefinitionError(method, "the goal stands in the place of the priority.", remedy)
    if isinstance(goal, type) and issubclass(goal, Goal):
        raise DefinitionError(
            method, f"{goal.__name__} is a class, and a goal is an object of one body.", f"Write {goal.__name__}()."
        )
    raise DefinitionError(method, f"{what} is no goal.", "Derive a class from Goal, and add an object of it.")
