"""A goal selector: which of its goals run, by priority and control flags, and what becomes of each.

A full tick has four steps, each a pass over the goals in the order in which they were added:

1. a running goal is stopped if one of its flags is disabled, or if it cannot continue;
2. the flags of goals that do not run are unlocked;
3. a goal that does not run, has no disabled flag, and could replace everybody who has locked one of its flags, is
   asked whether it can be used; if so, it locks its flags, those who had them are stopped, and it starts;
4. every running goal is ticked.

Step 2 comes after step 1, so that what a stopped goal had is free in the same tick, and before step 3, so that a goal
which is replaced there keeps its other flags until the next full tick. Priority counts in step 3 alone. A partial tick
is step 4 alone, for the goals that ask to be ticked every time. ``drive`` decides which of the two it is; with
``full_ticks`` it is never a partial one, for a body that makes one move in each tick and would be a tick late.

The seed's prose and its flowchart differ, and the flowchart counts: a goal that does *not* ask for every tick is ticked
in full ticks alone; a tick is partial if the number of ticks before it plus the body's number is odd, but the first one
never is; and a goal that was stopped in step 3 keeps what it had locked besides, as said.

Passes run over a tuple that is replaced when a goal is added or removed, so callbacks may do both: a goal that is added
during a pass is looked at from the next pass on, one that is removed not any more. A flag that a callback disables or
enables counts for all goals that the pass has yet to come to, so there is one list of them, which is changed in place.

*A goal in its selector* is a ``WrappedGoal``; the wrapper is what stands in the map of locked flags and holds flags in
the ledger. It is small, because every agent has one for each of its goals: what is seldom needed lies in ``Notes``.
``Lifecycle`` moves the goals of one selector from state to state, and nobody else does while it drives a body:

* A goal that was started is stopped exactly once, whatever happens in between, and be it ``start`` that raised. (A
  ``start`` that is a coroutine, and is cancelled before its first step, did nothing; there is no ``stop`` for it.)
* A callback that is a coroutine runs as a routine. While that of ``start`` or ``tick`` runs, the goal is BUSY: not
  ticked. ``run`` begins when ``start`` is over, and when it returns the goal is over.
* A goal that is stopped has its routines cancelled first; when all of them have ended ``stop`` is called, which may be
  a coroutine in its turn. Only then does the goal give back its control flags. Without coroutines all of this is at
  once.
* A goal that raises is reported, stopped if it runs, and disabled.
* Every callback may do anything, such as removing its goal or ending the agent; so the state is looked at again after
  each.

*Control flags* are its business, too: a goal that begins takes them, one that ended gives them back. Which goal of the
selector replaces which is decided by the selector's own map of locked flags, as the seed says. The ledger is asked
about what holds *between* models:

1. A goal whose flags somebody else keeps is refused before it is asked ``can_use``; who refused it is remembered by
   the ledger, and told to the trace when it changes.
2. Once it can be used, its flags are claimed before anybody is stopped. Goals that it replaces count as its own; their
   flags pass on to it with nobody in between.
3. If others have to give way first, and take their time, or if one that it replaces cleans up, the goal is *pending*.
   It begins as soon as it has its flags, if it can still be used.
4. A pending goal is asked anew in each full tick; one that cannot be used any more is withdrawn. Whoever could replace
   it if it ran may take its place.

While a goal cleans up without a successor, its flags go to other goals of its selector only if no other model waits.

``strangers`` keeps all of this from costing anything: the flags that others hold or wait for. Usually there is none,
and no goal is asked about. What it said is worth nothing as soon as the ledger's version is another one.

*Why a goal does not run* is found out by looking, and nothing of an author's is called for it: an idle goal whose flags
are free was asked in the last full tick, and did not say yes. A refusal that the ledger remembers counts as long as
whoever stood in the way then stands there still.

Rejected: keeping running goals in a list of their own (one more order to keep right, for a loop that is cheap); sorting
goals by priority (the seed keeps the order of adding); calling ``stop`` first and cancelling the routines afterwards
(``stop`` would put away what their ``finally`` blocks still use); ticking a goal whose last tick has not returned.

Source: Minecraft, goal selectors; coroutines, and the ledger between models, are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from agentrt.body.driver import GOALS, LoneBody, Routine, give, note, number_in, take, tick_of
from agentrt.body.flags import chain_of
from agentrt.errors import ENDS_PROGRAM, DefinitionError, InternalError, NotRunningError, WrongStateError
from agentrt.goals.goal import NOBODY, Goal, in_order, is_placed, put
from agentrt.goals.views import GoalSelectorView, GoalView
from agentrt.kernel.trace import TraceEvent
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.body.driver import Body
    from agentrt.body.flags import FlagLedger, Holder, Refusal
    from agentrt.kernel.strand import Strand

T = TypeVar("T")

# The numbers are chosen so that the two facts that decide most are one comparison each:
# state >= PENDING: the goal is entitled to its entries in the selector's map of locked flags;
# state >= BUSY: it is running, in the words of the seed (``WrappedGoal.isRunning``).
IDLE = 0  # not running: asked in each full tick whether it can be used, if its flags are free
ENDING = 1  # told to stop: its coroutines clean up, or its ``stop`` is being called; it holds its flags until then
DISABLED = 2  # one of its callbacks raised: it is not asked any more
ABSENT = 3  # removed, or its selector drives nobody
REMOVED = 4  # in no selector any more: its goal may be in another one, with another wrapper
PENDING = 5  # chosen: it begins when its flags are free and whom it replaces has cleaned up
BUSY = 6  # running; a coroutine of its ``start`` or ``tick`` has not returned, so it is not ticked
RUNNING = 7  # running

STATE_NAMES: tuple[str, ...] = ("idle", "ending", "disabled", "absent", "removed", "pending", "busy", "running")

STATE_TABLE: Mapping[int, tuple[int, ...]] = {
    IDLE: (PENDING, DISABLED, ABSENT),
    PENDING: (IDLE, RUNNING, DISABLED, ABSENT),
    RUNNING: (BUSY, ENDING),
    BUSY: (RUNNING, ENDING),
    ENDING: (IDLE, DISABLED, ABSENT),
    DISABLED: (IDLE, ABSENT),  # idle again when the selector joins a body
    ABSENT: (IDLE, REMOVED),
    REMOVED: (),
}


@dataclass(slots=True, eq=False)
class Notes:
    """What is remembered about a goal for which more is to be said than its state."""

    number: int = 1  # which of the goals of its name it is, from 1
    # The state in which it will be when it has ended. Of several the greatest counts: who raised is not asked again
    # though it was stopped for another reason, and who was removed is gone though it raised.
    fate: int = IDLE
    refused: tuple[str, str] | None = None  # the flag and the holder of the last refusal that the trace was told of
    has_other_flags: bool = False  # whether its class has others by now, which count when it has ended
    awaits_flags: bool = False  # whether it is pending because the ledger is to grant it its flags
    starting: Coroutine[Any, Any, Any] | None = None  # the coroutine of its ``start``, until that takes its first step
    routines: tuple[Routine, ...] = ()  # its coroutines that have not ended, as they began


class WrappedGoal:
    """A goal of a selector. Made by ``GoalSelector.add_goal``.

    Source: Minecraft, goal selectors: "WrappedGoals".
    """

    __slots__ = ("flags", "goal", "priority", "since", "state")

    def __init__(self, goal: Goal, priority: float) -> None:
        self.goal: Goal = goal
        self.priority: float = priority  # the lower the number, the sooner it replaces others
        # In the order in which they are taken. Kept here, since every pass looks at them; a goal cannot be given others
        # while it is in a selector.
        self.flags: tuple[str, ...] = goal.control_flags
        self.state: int = IDLE  # changed by the selector alone
        self.since: int = 0  # the tick in which it started last; 0 before

    @property
    def _life(self) -> Lifecycle | None:
        """That of its selector, which the goal knows; None for a goal that is in no selector, or was removed."""
        return None if self.state == REMOVED else self.goal._place  # type: ignore[return-value]  # see ``add_goal``

    @property
    def selector(self) -> GoalSelector | None:
        """The selector that it is in; None after it was removed."""
        life = self._life
        return None if life is None else life.selector

    @property
    def body(self) -> Body:
        """Whom its selector drives; raises if it was removed."""
        life = self._life
        if life is None:
            raise WrongStateError(
                "WrappedGoal.body", "the goal is in no selector", "Add it again: selector.add_goal(1, goal)."
            )
        return life.body

    @property
    def name(self) -> str:
        """The goal's name; of two with one name the second is called ``Name#2``."""
        life = self._life
        number = 1 if life is None else life.number_of(self)
        return self.goal.name if number == 1 else f"{self.goal.name}#{number}"

    @property
    def is_running(self) -> bool:
        """Whether it was started and not told to stop."""
        return self.state >= BUSY

    @property
    def requires_update_every_tick(self) -> bool:
        """Whether it is ticked in partial ticks too. A goal that raises here is disabled."""
        try:
            answer: object = self.goal.requires_update_every_tick
            # Written out in both, and True or False is no call: they are asked in each tick.
            return answer if answer is False or answer is True else bool(answer() if callable(answer) else answer)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._fail("requires_update_every_tick", error)
            return False

    def can_be_replaced_by(self, other: WrappedGoal) -> bool:
        """Whether another goal, which is to begin, may take its place.

        Source: Minecraft, goal selectors, flowchart, "WrappedGoal.canBeReplacedBy".
        """
        return other.priority < self.priority and self.is_interruptible

    # --- the holder of control flags ----------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger of control flags calls it: its path."""
        life = self._life
        return self.name if life is None else f"{life.selector.name}/{self.name}"

    @property
    def runs_for(self) -> Holder | None:
        """For whom its selector drives the body: an action that ticks it, say."""
        life = self._life
        return None if life is None else life.body.holder

    @property
    def precedence(self) -> int:
        """Of its claims for control flags: its selector's."""
        life = self._life
        return 0 if life is None else life.selector.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether another goal may take its place. A goal that raises here is disabled, and may be replaced."""
        try:
            answer: object = self.goal.is_interruptible
            return answer if answer is True or answer is False else bool(answer() if callable(answer) else answer)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._fail("is_interruptible", error)
            return True

    def give_way(self, flag: str, claimant: str) -> None:
        """Stop now, for another model of higher precedence."""
        life = self._life
        if life is not None:
            life.stop(self, f"{claimant} takes the control flag {flag}")

    def flags_granted(self) -> None:
        """The ledger has given it the flags that it waited for."""
        life = self._life
        if life is not None:
            life.granted(self)

    def _fail(self, question: str, error: BaseException) -> None:
        life = self._life
        assert life is not None  # it is asked by its selector, and by the ledger while it holds a flag
        life.fail(self, question, error)

    def __repr__(self) -> str:
        return f"<WrappedGoal {self.name}: priority {self.priority}, {STATE_NAMES[self.state]}>"


_NOBODY: Final[frozenset[WrappedGoal]] = frozenset()  # each call would make another one, of 216 bytes


def move(wrapped: WrappedGoal, state: int) -> None:
    """Have a goal go over to another state. One that cannot follow the present one is an error, and changes nothing."""
    if state not in STATE_TABLE[wrapped.state]:
        raise InternalError(f"a goal went from {STATE_NAMES[wrapped.state]} to {STATE_NAMES[state]}.")
    wrapped.state = state


@dataclass(slots=True, eq=False)
class GoalsSeldom:
    """What most selectors never need."""

    # Ordered sets, of which one is taken out at once: a selector may have thousands of goals that end together.
    routines: dict[Routine, None] | None = None  # those that have not ended, as they began
    ending: dict[WrappedGoal, None] | None = None  # whose coroutines clean up
    removed: set[WrappedGoal] | None = None  # who was removed, and has not ended yet
    then: Callable[[], object] | None = None  # to be called when nobody cleans up any more
    barred: frozenset[WrappedGoal] = _NOBODY  # who is out by somebody's hand, and did not raise
    # The names of goals that somebody's hand has put out and has forced; of goals that come later, too.
    steered: tuple[frozenset[str], frozenset[str]] | None = None
    precedence: int = 0  # of its goals' claims for control flags
    ledger: FlagLedger | None = None  # of the selector's own; None for that of whom it drives


_NOTHING_SELDOM: Final = GoalsSeldom()  # of all who never needed any; nobody writes into it, see ``Lifecycle.more``


class Lifecycle:
    """The goals of one selector, as they begin, fail, stop and end, and the control flags that they have meanwhile."""

    __slots__ = (
        "disabled", "foreign", "given", "is_busy", "known_ledger", "locked", "notes", "pending", "running", "seldom",
        "selector", "version",
    )  # fmt: skip

    def __init__(self, selector: GoalSelector) -> None:
        self.selector: GoalSelector = selector
        self.given: Body | None = None  # the body, if it is known
        self.running: int = 0  # how many goals run, so that the passes over those can be left out
        self.notes: dict[WrappedGoal, Notes] | None = None
        self.seldom: GoalsSeldom = _NOTHING_SELDOM  # what most never need
        self.is_busy: bool = False  # one of its goals is being called
        # Control flags that are disabled; replaced: a pass, which may change it, asks for it anew with each goal.
        self.disabled: tuple[str, ...] = ()
        self.locked: dict[str, WrappedGoal] | None = None  # as the seed has it; an entry may outlive its goal's run
        self.pending: tuple[WrappedGoal, ...] = ()  # in the order in which they were chosen
        self.known_ledger: FlagLedger | None = None  # None while nobody took a flag of whom the selector drives
        self.foreign: Collection[str] | None = None  # what ``strangers`` said
        self.version: int = -1  # of the ledger, when it said that

    # --- what is remembered -------------------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom they drive. A selector that was given nobody has a lone body."""
        body = self.given
        if body is None:
            body = self.given = LoneBody()
        return body

    def more(self) -> GoalsSeldom:
        """Room for what most never need, to write into."""
        if self.seldom is _NOTHING_SELDOM:
            self.seldom = GoalsSeldom()
        return self.seldom

    def holder_of(self, goal: Goal) -> WrappedGoal:
        """The goal as a holder of control flags; one that was removed is, too, while it cleans up."""
        mine: tuple[WrappedGoal, ...] = (*self.selector.available_goals, *(self.seldom.removed or ()))
        return next(one for one in mine if one.goal is goal)

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
        return self._answer(wrapped, "can_use", lambda goal: bool(goal.can_use())) is True

    def _answer(self, wrapped: WrappedGoal, hook: str, call: Callable[[Goal], T]) -> T | None:
        """What a callback returns; None if it raised, and then the goal is out. Meanwhile it may not ask for a tick.

        It is looked up here, too: that runs an author's code if it is a property.
        """
        before, self.is_busy = self.is_busy, True
        try:
            return call(wrapped.goal)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(wrapped, hook, error)
            return None
        finally:
            self.is_busy = before

    # --- the beginning ------------------------------------------------------------------------------------------------

    def begin(self, wrapped: WrappedGoal) -> None:
        """Start a goal that is pending, and has all it needs."""
        move(wrapped, RUNNING)
        wrapped.since = tick_of(self.body)
        self.running += 1
        note(self.body, wrapped.flag_name, TraceEvent.START, (("priority", wrapped.priority),))
        self.spawn(wrapped, "start", self._answer(wrapped, "start", lambda goal: goal.start()))
        if wrapped.state == RUNNING:  # and not if it raised
            self._run(wrapped)

    def _run(self, wrapped: WrappedGoal) -> None:
        """Its start is over: begin its coroutine, if it has one."""
        if type(wrapped.goal).run is not Goal.run:
            self.spawn(wrapped, "run", self._answer(wrapped, "run", lambda goal: goal.run()))

    def spawn(self, wrapped: WrappedGoal, hook: str, result: object) -> None:
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
        seldom = self.more()
        if seldom.routines is None:
            seldom.routines = {}
        seldom.routines[routine] = None
        notes = self.note_of(wrapped)
        notes.routines = (*notes.routines, routine)

    def _routine_ended(self, wrapped: WrappedGoal, routine: Routine) -> None:
        assert self.seldom.routines is not None
        del self.seldom.routines[routine]
        notes = self.note_of(wrapped)
        notes.routines = tuple(other for other in notes.routines if other is not routine)
        hook = routine.hook
        if wrapped.state == ENDING:
            if routine.error is not None:
                self._disable(wrapped, hook)
            if hook == "stop":
                self._end(wrapped, IDLE)
            elif not notes.routines:
                self._finish(wrapped, IDLE)
        elif routine.error is not None:
            self._disable(wrapped, hook)
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
        self._disable(wrapped, hook)

    def _disable(self, wrapped: WrappedGoal, hook: str) -> None:
        """A callback raised, and that is reported already."""
        if wrapped.state not in (DISABLED, ABSENT, REMOVED):
            note(self.body, wrapped.flag_name, TraceEvent.DISABLED, (("hook", hook),))
        if wrapped.state == ENDING:
            notes = self.note_of(wrapped)
            notes.fate = max(notes.fate, DISABLED)
        elif wrapped.state == IDLE:
            move(wrapped, DISABLED)
        else:
            self.stop(wrapped, f"its {hook} raised", DISABLED)

    def stop(self, wrapped: WrappedGoal, reason: str, fate: int = IDLE) -> None:
        """Stop a goal if it runs; withdraw it if it is pending; otherwise do nothing."""
        if wrapped.state < BUSY:
            if wrapped.state == PENDING:
                self.withdraw(wrapped, fate)
            return
        move(wrapped, ENDING)  # first of all: whatever is called from here on may want to stop it, too
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
        seldom = self.more()
        if seldom.ending is None:
            seldom.ending = {}
        seldom.ending[wrapped] = None

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
        notes = None if self.notes is None else self.notes.get(wrapped)
        if notes is not None:
            fate, notes.fate = max(notes.fate, fate), IDLE
        move(wrapped, fate)
        if self.seldom.ending:
            self.seldom.ending.pop(wrapped, None)
        # In this order: the ledger knows a goal by its path, of which ``forget`` takes half; and whoever waits for the
        # end of all may have the selector join another body, whose ledger is another one.
        self.give_back(wrapped)
        if notes is not None and notes.has_other_flags:
            notes.has_other_flags = False
            wrapped.flags = wrapped.goal.control_flags
        if fate == ABSENT:
            self.forget(wrapped)
        self.settle()

    def settle(self) -> None:
        """Call whoever waits for the end of all."""
        seldom = self.seldom
        then = seldom.then
        if then is not None and not seldom.ending:
            seldom.then = None
            then()

    # --- leaving the selector -----------------------------------------------------------------------------------------

    def dismiss(self, wrapped: WrappedGoal, reason: str) -> None:
        """Make a goal absent, now or when it has cleaned up."""
        if wrapped.state == ENDING:
            self.note_of(wrapped).fate = ABSENT
        elif wrapped.state in (IDLE, DISABLED):
            move(wrapped, ABSENT)
        else:
            self.stop(wrapped, reason, ABSENT)

    def bar(self, chosen: frozenset[WrappedGoal]) -> None:
        """Who is out by somebody's hand from now on, like those that raised; who was so before is asked again."""
        before = self.seldom.barred
        barred = frozenset(one for one in chosen if one in before or not self._is_out(one))
        if barred != before:
            self.more().barred = barred
        for wrapped in self.selector.available_goals:
            if wrapped in barred and wrapped not in before:
                if wrapped.state == ENDING:
                    self.note_of(wrapped).fate = max(self.note_of(wrapped).fate, DISABLED)
                elif wrapped.state == IDLE:
                    move(wrapped, DISABLED)
                else:
                    self.stop(wrapped, "it is out by hand", DISABLED)
            elif wrapped in before and wrapped not in barred:
                if wrapped.state == DISABLED:
                    move(wrapped, IDLE)
                elif wrapped.state == ENDING and self.note_of(wrapped).fate == DISABLED:
                    self.note_of(wrapped).fate = IDLE

    def _is_out(self, wrapped: WrappedGoal) -> bool:
        """Whether it raised, or will be out for that when it has ended; or it is in no body."""
        fate = IDLE if self.notes is None or wrapped not in self.notes else self.notes[wrapped].fate
        return wrapped.state in (DISABLED, ABSENT, REMOVED) or (wrapped.state == ENDING and fate != IDLE)

    def renew(self, wrapped: WrappedGoal) -> None:
        """The class of a goal reads otherwise: stop it if it runs, and take it in again if it was out.

        It has the control flags of its class from then on; while it cleans up, from its end on.
        """
        self.stop(wrapped, "its code was read again")
        if wrapped.state == DISABLED and wrapped not in self.seldom.barred:
            move(wrapped, IDLE)
        if wrapped.state == ENDING and wrapped not in self.seldom.barred:
            notes = self.note_of(wrapped)
            notes.fate = IDLE if notes.fate == DISABLED else notes.fate
        if wrapped.state != ENDING:
            wrapped.flags = wrapped.goal.control_flags
        elif wrapped.flags != wrapped.goal.control_flags:
            self.note_of(wrapped).has_other_flags = True

    def forget(self, wrapped: WrappedGoal) -> None:
        """A goal became absent: if it was removed, nothing of it is left here."""
        removed = self.seldom.removed
        if removed and wrapped in removed:
            removed.remove(wrapped)
            move(wrapped, REMOVED)
            put(wrapped.goal, None)
            wrapped.goal.entity = NOBODY
            if self.notes:
                self.notes.pop(wrapped, None)

    # --- their control flags ------------------------------------------------------------------------------------------

    @property
    def ledger(self) -> FlagLedger:
        if self.known_ledger is None:
            self.known_ledger = self.body.flags
        return self.known_ledger

    # --- may it? ------------------------------------------------------------------------------------------------------

    def strangers(self) -> Collection[str] | None:
        """The flags that others hold or wait for, and those that own goals wait for; None if there are none."""
        ledger = self.known_ledger
        if ledger is None:
            ledger = self.known_ledger = self.body.flags_if_made
            if ledger is None:
                return None
        if ledger.version != self.version:
            self.version = ledger.version
            flags = [flag for flag, hold in ledger.holds().items() if not self._is_own(hold.owner)]
            for waiting in ledger.waiting():
                flags.extend(waiting.flags)
            self.foreign = flags or None
        return self.foreign

    def _is_own(self, owner: Holder) -> bool:
        """Whether somebody is a goal of this selector, or whom it drives the body for."""
        if isinstance(owner, WrappedGoal) and owner.selector is self.selector:
            return True
        return any(link is owner for link in chain_of(self.body.holder))

    def may_be_asked(self, wrapped: WrappedGoal, strangers: Collection[str] | None) -> bool:
        """Whether a goal's flags are not disabled, and everybody who holds one of them can be replaced by it."""
        flags = wrapped.flags
        locked = self.locked or {}
        for flag in flags:
            holder = locked.get(flag)
            if flag in self.disabled or not (holder is None or holder is wrapped or holder.can_be_replaced_by(wrapped)):
                return False
        is_theirs = strangers is not None and any(flag in strangers for flag in flags)
        # ``gives_way`` first: it is quick, and ``obstacle`` remembers a refusal, which is to be told.
        if is_theirs and not self.ledger.gives_way(flags, wrapped):
            refusal = self.ledger.obstacle(flags, wrapped, tick_of(self.body), shared_with=self._shares(wrapped))
            if refusal is not None:
                self._refused(wrapped, refusal)
                return False
        return True

    def _shares(self, wrapped: WrappedGoal) -> tuple[Holder, ...]:
        """Whose flags pass on to a goal that begins: the goals that it replaces, and what is performed for those."""
        flags = wrapped.flags
        shares: list[Holder] = []
        if self.locked:
            shares += [self.locked[flag] for flag in flags if flag in self.locked]
        shares += [other for other in self.pending if other.can_be_replaced_by(wrapped)]
        ending = self.seldom.ending
        if ending and not self._others_wait():
            shares += ending
        for flag in flags:
            hold = self.ledger.holder(flag)
            if hold is not None and any(link is one for link in chain_of(hold.owner.runs_for) for one in shares):
                shares.append(hold.owner)
        return tuple(shares)

    def _others_wait(self) -> bool:
        own = sum(self.note_of(wrapped).awaits_flags for wrapped in self.pending)
        return len(self.ledger.waiting()) > own

    def _refused(self, wrapped: WrappedGoal, refusal: Refusal) -> None:
        """Tell the trace of a refusal, unless it is the same as the last one."""
        notes = self.note_of(wrapped)
        why = (refusal.flag, refusal.holder)
        if notes.refused != why:
            notes.refused = why
            detail = (("flag", refusal.flag), ("holder", refusal.holder), ("reason", refusal.reason))
            note(self.body, wrapped.flag_name, TraceEvent.REFUSED, detail)

    # --- taking its flags ---------------------------------------------------------------------------------------------

    def choose(self, wrapped: WrappedGoal) -> None:
        """A goal that is idle can be used: begin it, now or when its flags are free."""
        move(wrapped, PENDING)
        self._come_in(wrapped)

    def _claim(self, wrapped: WrappedGoal) -> bool:
        """Claim a goal's flags; returns whether it has them. If not, it waits for them or was withdrawn."""
        flags = wrapped.flags
        shares = self._shares(wrapped)
        tick = tick_of(self.body)
        ledger = self.ledger
        refusal = ledger.claim(flags, wrapped, tick, shared_with=shares, wait=True)
        if wrapped.state != PENDING:
            ledger.release(wrapped)  # somebody who gave way removed it
            return False
        if refusal is None:
            if self.notes and wrapped in self.notes:
                self.notes[wrapped].refused = None
            return True
        self._refused(wrapped, refusal)
        if ledger.obstacle(flags, wrapped, tick, shared_with=shares) is not None:
            self.withdraw(wrapped)
            return False
        self.note_of(wrapped).awaits_flags = True
        self._wait(wrapped)
        return False

    def _wait(self, wrapped: WrappedGoal) -> None:
        if wrapped not in self.pending:
            self.pending = (*self.pending, wrapped)

    def _take_over(self, wrapped: WrappedGoal) -> None:
        """A goal that is pending has its flags, or shares them with whom it replaces: stop those, and begin it."""
        self._unlist(wrapped)
        replaced = []
        flags = wrapped.flags
        before: dict[str, WrappedGoal] = {}
        if flags:
            locked = self.locked
            if locked is None:
                locked = self.locked = {}
            for flag in flags:
                holder = locked.get(flag)
                if holder is not None:
                    before[flag] = holder
                locked[flag] = wrapped  # for all flags before the first is stopped: they pass on by this map
                if holder is not None and holder is not wrapped and holder.state >= PENDING:
                    replaced.append(holder)
        for other in self.pending:
            if other.can_be_replaced_by(wrapped) and any(flag in flags for flag in other.flags):
                replaced.append(other)
        for holder in replaced:
            self.stop(holder, f"replaced by {wrapped.flag_name}")
            if wrapped.state != PENDING:  # who was stopped removed it, or has the whole selector leave
                self._unlock_newcomer(wrapped, before)
                return
        if self._in_its_way(wrapped):
            self._wait(wrapped)
        else:
            self.begin(wrapped)

    def _unlock_newcomer(self, wrapped: WrappedGoal, before: dict[str, WrappedGoal]) -> None:
        """A goal does not begin after all: it locks nothing, and those lock again what they had who still run."""
        locked = self.locked
        if locked is not None and wrapped.state < PENDING:
            for flag in wrapped.flags:
                holder = before.get(flag)
                if locked.get(flag) is wrapped:
                    del locked[flag]
                if holder is not None and holder.state >= PENDING and flag not in locked:
                    locked[flag] = holder

    # --- pending ------------------------------------------------------------------------------------------------------

    def granted(self, wrapped: WrappedGoal) -> None:
        """The ledger has given a pending goal the flags that it waited for. It goes on in the same tick."""
        self.note_of(wrapped).awaits_flags = False
        kernel = self.body.kernel
        if kernel is None:
            self._proceed(wrapped)
        else:
            kernel.call_soon(self._proceed, wrapped)  # not on the stack of whoever released them

    def _proceed(self, wrapped: WrappedGoal) -> None:
        """Begin a pending goal if nothing is in its way any more, and it can still be used."""
        if wrapped.state != PENDING or self.note_of(wrapped).awaits_flags or self._in_its_way(wrapped):
            return
        if self.may_be_asked(wrapped, None) and self.can_use(wrapped):
            self._come_in(wrapped)
        else:
            self.withdraw(wrapped)

    def _come_in(self, wrapped: WrappedGoal) -> None:
        """A pending goal can be used: begin it if it has its flags, which may have been somebody else's meanwhile."""
        if wrapped.state == PENDING and (not wrapped.flags or self._claim(wrapped)):
            self._take_over(wrapped)

    def _in_its_way(self, wrapped: WrappedGoal) -> bool:
        """Whether a goal of this selector, whose flags it needs, still cleans up."""
        flags = wrapped.flags
        return any(flag in flags for other in self.seldom.ending or () for flag in other.flags)

    def ask_again(self, wrapped: WrappedGoal, strangers: Collection[str] | None) -> None:
        """A full tick comes to a goal that is pending: it stays so only if it can still be used."""
        if not (self.may_be_asked(wrapped, strangers) and self.can_use(wrapped)):
            self.withdraw(wrapped)
        elif not self.note_of(wrapped).awaits_flags and not self._in_its_way(wrapped):
            self._come_in(wrapped)

    def withdraw(self, wrapped: WrappedGoal, fate: int = IDLE) -> None:
        """A goal that is pending does not begin after all."""
        if wrapped.state == PENDING:
            move(wrapped, fate)
            self._unlist(wrapped)
            self._unlock_newcomer(wrapped, {})
            self.give_back(wrapped)

    def _unlist(self, wrapped: WrappedGoal) -> None:
        if wrapped in self.pending:
            self.pending = tuple(other for other in self.pending if other is not wrapped)
            self.note_of(wrapped).awaits_flags = False

    def give_back(self, wrapped: WrappedGoal) -> None:
        """A goal does not need its flags any more: its successor has them, or else whoever is next in the ledger."""
        flags = wrapped.flags
        if flags:
            ledger = self.ledger
            if self.locked:
                for flag in flags:
                    heir = self.locked.get(flag)
                    if heir is not None and heir is not wrapped and heir.state == PENDING:
                        ledger.hand_over((flag,), heir, tick_of(self.body), holders=(wrapped,))
            ledger.release(wrapped)
        for other in self.pending:
            self._proceed(other)

    def unlock(self) -> None:
        """Step 2: forget the entries of the goals that do not run."""
        locked = self.locked
        if locked:
            for holder in locked.values():
                if holder.state < PENDING:
                    self.locked = {flag: one for flag, one in locked.items() if one.state >= PENDING}
                    return


_NOTHING: dict[str, WrappedGoal] = {}


class GoalSelector:
    """Decides which of its goals drive a body. A driver: ``agent.attach(selector)``; or tick it by hand.

    Args:
        body: whom it drives; None until it joins one (``agent.attach``), or to be used by hand, without an agent.
        name: begins the paths of its goals; each driver of an agent has another name.
        rank: where it stands in a tick: ``GOALS``, or ``TARGETS`` for one that chooses targets for the others.
        precedence: of its goals' claims for control flags against other models; the higher one wins.
        flags: a ledger of its own, so that its goals share no flags with other models; None for the body's.
        full_ticks: whether each ``drive`` is a full tick; by default full and partial ticks take turns, as in the seed.

    Source: Minecraft, goal selectors.
    """

    __slots__ = (
        "_goals", "_is_given", "_life", "full_ticks", "is_away", "name", "rank", "ticks",
    )  # fmt: skip

    view_type: ClassVar[type[GoalSelectorView]] = GoalSelectorView  # what ``view`` returns

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
        self.name: str = name
        self.rank: int = rank
        self.full_ticks: bool = full_ticks
        self.ticks: int = 0  # how often ``drive`` was called; 0 again after it left a body
        self.is_away: bool = False  # whether it left its body, or is leaving it; then no goal begins
        self._life: Lifecycle = Lifecycle(self)
        self.precedence = precedence
        self._goals: tuple[WrappedGoal, ...] = ()
        if flags is not None:
            self._life.more().ledger = self._life.known_ledger = flags
        self._is_given = False  # else the body is one that it made for itself, to be used by hand
        if body is not None:
            self.join(body)

    @property
    def precedence(self) -> int:
        """Of its goals' claims for control flags against other models: the higher one wins."""
        return self._life.seldom.precedence

    @precedence.setter
    def precedence(self, precedence: int) -> None:
        if precedence != self.precedence:  # that of most is 0, for which no room is needed
            self._life.more().precedence = precedence

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

        Source: Minecraft, goal selectors: "Priorities", "Adding and Removing Goals", "WrappedGoals".
        """
        _require_goal(goal, priority)
        if is_placed(goal):
            raise WrongStateError(
                "GoalSelector.add_goal",
                f"{repr_of(goal)} is in a selector",
                "A goal belongs to one body: make another one.",
            )
        wrapped = WrappedGoal(goal, number_in(priority, "GoalSelector.add_goal", "its priority"))
        life = self._life
        name = goal.name
        taken = {life.number_of(other) for other in self._goals if other.goal.name == name}
        put(goal, life)
        if life.given is not None:
            goal.entity = life.given.entity
        if taken:
            life.note_of(wrapped).number = next(n for n in range(1, len(taken) + 2) if n not in taken)
        if self.is_away:
            move(wrapped, ABSENT)
        self._goals = (*self._goals, wrapped)
        if life.seldom.steered is not None:  # else what is forced would have a rival that nobody has put out
            self.steer(*life.seldom.steered)
        return wrapped

    def remove_goal(self, goal: Goal) -> None:
        """Remove the very goal that was added, stopping it if it runs. Nothing happens if it is not here.

        Source: Minecraft, goal selectors: "Adding and Removing Goals".
        """
        wrapped = self.find(goal)
        if wrapped is not None:
            self._remove([wrapped])

    def remove_all_goals(self, predicate: Callable[[Goal], bool] | None = None) -> None:
        """Remove the goals of which a predicate says so, or all, stopping those that run."""
        self._remove([one for one in self._goals if predicate is None or predicate(one.goal)])

    def _remove(self, chosen: list[WrappedGoal]) -> None:
        """Stop goals, which may remove or add some, then take them out: one pass over all, were they thousands."""
        life = self._life
        seldom = life.more()
        removed = seldom.removed
        if removed is None:
            removed = seldom.removed = set()
        gone = {one for one in chosen if one not in removed}  # a set is asked, and never gone through
        removed |= gone
        for wrapped in chosen:
            if wrapped in gone:
                life.dismiss(wrapped, "it was removed")
        self._goals = tuple(other for other in self._goals if other not in gone)
        for wrapped in chosen:
            if wrapped in gone and wrapped.state == ABSENT:
                life.forget(wrapped)
        if life.seldom.steered is not None:  # the rivals of one that was forced are out no longer
            self.steer(*life.seldom.steered)

    def find(self, goal: Goal) -> WrappedGoal | None:
        """The very goal that was added, with its priority and its state; None if it is not here."""
        return next((wrapped for wrapped in self._goals if wrapped.goal is goal), None)

    @property
    def available_goals(self) -> tuple[WrappedGoal, ...]:
        """All of its goals, in the order in which they were added."""
        return self._goals

    @property
    def running_goals(self) -> tuple[WrappedGoal, ...]:
        """Those that run, in the order in which they were added."""
        return tuple(wrapped for wrapped in self._goals if wrapped.state >= BUSY)

    # --- control flags ------------------------------------------------------------------------------------------------

    @property
    def ledger(self) -> FlagLedger:
        """The ledger of control flags that its goals take their flags from."""
        return self._life.ledger

    @property
    def disabled_flags(self) -> tuple[str, ...]:
        """The control flags that are disabled."""
        return self._life.disabled

    @property
    def locked_flags(self) -> dict[str, WrappedGoal]:
        """Which goal has locked which flag, as a copy.

        An entry may name a goal that was stopped or removed, until the next full tick.

        Source: Minecraft, goal selectors, flowchart, "GoalSelector.lockedFlags".
        """
        return dict(self._life.locked or {})

    def disable_control_flag(self, flag: str) -> None:
        """Run no goal that uses a flag: in the next full tick those that run are stopped, and none is started.

        Source: Minecraft, goal selectors: "Flags".
        """
        life = self._life
        if flag not in life.disabled:
            life.disabled = in_order({*life.disabled, flag}, "GoalSelector.disable_control_flag")

    def enable_control_flag(self, flag: str) -> None:
        """Allow goals that use a flag again. Nothing is restarted by that alone.

        Source: Minecraft, goal selectors: "Flags".
        """
        life = self._life
        life.disabled = tuple([other for other in life.disabled if other != flag])

    def set_control_flag(self, flag: str, enabled: bool) -> None:
        """Allow goals that use a flag, or run none of them."""
        if enabled:
            self.enable_control_flag(flag)
        else:
            self.disable_control_flag(flag)

    # --- a tick -------------------------------------------------------------------------------------------------------

    def drive(self) -> None:
        """One tick of its body: a full one the first time, and then whenever ticks before and body number are even.

        With ``full_ticks`` it is always a full one.

        Source: Minecraft, goal selectors: "Operation", flowchart, "Mob.serverAiStep".
        """
        before = self.ticks
        self.ticks = before + 1  # before anybody is called, who may have it leave: that begins to count anew
        life = self._life
        if before and not self.full_ticks and (before + (life.given or life.body).number) & 1:
            if life.running:
                self.tick_running_goals()
        else:
            self.tick()

    def ai_step(self) -> None:
        """One tick of its body, under the seed's name: ``drive``."""
        self.drive()

    def tick(self) -> None:
        """One full tick: stop, unlock, start, tick. ``WrongStateError`` if one of its own goals asks for it.

        Source: Minecraft, goal selectors: "Operation", flowchart, "GoalSelector.tick".
        """
        life = self._life
        if life.is_busy:
            self._refuse("tick")
        life.is_busy = True
        try:
            if life.running:
                self._stop_those_that_cannot_continue()
            if life.locked:
                life.unlock()
            self._start_those_that_can_be_used()
            if life.running:
                self._tick_those_that_run(True)
        finally:
            life.is_busy = False

    def _stop_those_that_cannot_continue(self) -> None:
        """Step 1."""
        life = self._life
        for wrapped in self._goals:
            if wrapped.state >= BUSY:
                if life.disabled and any(flag in life.disabled for flag in wrapped.flags):
                    life.stop(wrapped, "a control flag of it is disabled")
                    continue
                try:
                    if wrapped.goal.can_continue_to_use():  # what is true may be an author's own, and raise
                        continue
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    self._life.fail(wrapped, "can_continue_to_use", error)
                else:
                    life.stop(wrapped, "it cannot continue")

    def _start_those_that_can_be_used(self) -> None:  # noqa: C901 - a call less for each goal is what the target is made of
        """Step 3. The loop over the flags is ``Lifecycle.may_be_asked`` written out, for when there is nobody else."""
        life = self._life
        ledger = life.known_ledger
        is_known = ledger is not None and ledger.version == life.version
        strangers = life.foreign if is_known else life.strangers()
        for wrapped in self._goals:
            if wrapped.state:  # not IDLE
                if wrapped.state == PENDING:
                    life.ask_again(wrapped, strangers)
                continue
            flags = wrapped.flags
            if life.disabled and any(flag in life.disabled for flag in flags):
                continue
            locked = life.locked or _NOTHING
            if strangers is not None:
                if not life.may_be_asked(wrapped, strangers) or wrapped.state:
                    continue
                locked = _NOTHING
            for flag in flags:
                if flag in locked:
                    holder = locked[flag]
                    # Whoever is asked whether it can be interrupted may remove this one.
                    if wrapped.priority >= holder.priority or not holder.is_interruptible or wrapped.state:
                        break
            else:
                try:
                    if not wrapped.goal.can_use() or wrapped.state != IDLE:
                        continue
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    self._life.fail(wrapped, "can_use", error)
                else:
                    life.choose(wrapped)

    def tick_running_goals(self, tick_all: bool = False) -> None:
        """Tick the goals that run: in a partial tick those that ask for every tick, else all (``tick_all``).

        ``WrongStateError`` if one of its own goals asks for it.

        Source: Minecraft, goal selectors: "Operation", flowchart, "GoalSelector.tickRunningGoals".
        """
        life = self._life
        if life.is_busy:
            self._refuse("tick_running_goals")
        life.is_busy = True
        try:
            self._tick_those_that_run(tick_all)
        finally:
            life.is_busy = False

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
                    self._life.fail(wrapped, "tick", error)
                else:
                    if result is not None:
                        self._life.spawn(wrapped, "tick", result)

    # --- the driver ---------------------------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom it drives. One that was given none, and joined none yet, has a lone body."""
        return self._life.body

    def reloaded(self, classes: frozenset[type], trees: frozenset[object]) -> bool:
        """Goals read otherwise now: those of them that run are stopped, those that were out are asked again."""
        del trees
        touched = [one for one in self._goals if not classes.isdisjoint(type(one.goal).__mro__)]
        for wrapped in touched:
            self._life.renew(wrapped)
        return bool(touched)

    def steer(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        """Say which goals are out by somebody's hand, and which have their flags for themselves, by their names.

        A goal that is forced is the only one of those that use one of its flags that is asked; whether it can be used
        it still says itself. It replaces what was said before, and holds for goals that are added later, too.
        """
        goals = self._goals
        steered = (disabled, forced) if disabled or forced else None
        if steered != self._life.seldom.steered:
            self._life.more().steered = steered
        mine = frozenset(one for one in goals if one.name in forced or one.goal.name in forced)
        taken = frozenset(flag for one in mine for flag in one.flags)
        self._life.bar(
            frozenset(
                one
                for one in goals
                if one.name in disabled
                or one.goal.name in disabled
                or (one not in mine and not taken.isdisjoint(one.flags))
            )
        )

    def strands(self) -> list[Strand]:
        """The strands of its coroutines that have not ended, in the order in which they began."""
        return [routine.strand for routine in self._life.seldom.routines or ()]

    def join(self, body: Body) -> None:
        """Begin to drive a body; all goals are idle, also disabled ones. ``WrongStateError`` if it has not left one."""
        if self._life.seldom.ending or any(wrapped.state >= PENDING for wrapped in self._goals):
            raise WrongStateError("GoalSelector.join", "its goals run", "Let it leave first: selector.leave(...).")
        give(self, body, "GoalSelector.join")
        self._life.locked = None
        if self._life.seldom is not _NOTHING_SELDOM:
            self._life.seldom.barred, self._life.seldom.steered = _NOBODY, None
        self.is_away = False
        for wrapped in self._goals:
            wrapped.state = IDLE

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop all goals, for good or until it joins a body again; see ``Driver``."""
        self.is_away = True
        self.ticks = 0
        goals = self._goals
        # Those that do not run first, so that no pending one begins while the others give back their flags.
        for wrapped in goals:
            if wrapped.state < BUSY:
                self._life.dismiss(wrapped, reason)
        for wrapped in goals:
            self._life.dismiss(wrapped, reason)
        self._life.locked = None

        def left() -> None:
            take(self, self._life.given)
            then()

        self._life.more().then = left
        self._life.settle()

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will as soon as that one lives; a body of its own counts while it acts.

        ``body.driver.give`` and ``take`` set it, and nobody else does.
        """
        life = self._life
        return life.given if self._is_given or life.running or life.seldom.ending or life.pending else None

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        self._is_given = body is not None
        self._life.given = body
        own = self._life.seldom.ledger
        self._life.known_ledger = own if body is None or own is not None else body.flags_if_made
        self._life.version = -1  # another ledger may have the same number
        entity = NOBODY if body is None else body.entity
        for wrapped in self._goals:
            wrapped.goal.entity = entity

    def view(self) -> GoalSelectorView:
        """What it is doing, as plain values."""
        return _view_of(self)

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


# --- why a goal does not run ------------------------------------------------------------------------------------------


def _view_of(selector: GoalSelector) -> GoalSelectorView:
    life = selector._life
    # Not ``life.ledger``: a selector that drives nobody yet would be given a body by being looked at.
    ledger = life.known_ledger
    refusals = {} if ledger is None else {one.claimant: one for one in ledger.refusals() if _stands(one, ledger)}
    goals = tuple(_goal(one, life, refusals.get(one.flag_name)) for one in selector.available_goals)
    locked = tuple((flag, one.name) for flag, one in selector.locked_flags.items())
    return GoalSelectorView(selector.name, selector.ticks, goals, locked, selector.disabled_flags)


def _stands(refusal: Refusal, ledger: FlagLedger) -> bool:
    """Whether whoever was in the way of a claim has not moved since."""
    hold = ledger.holder(refusal.flag)
    if hold is not None and hold.name == refusal.holder and hold.since <= refusal.tick:
        return True
    return any(
        one.claimant == refusal.holder and refusal.flag in one.flags and one.since <= refusal.tick
        for one in ledger.waiting()
    )


def _goal(wrapped: WrappedGoal, life: Lifecycle, refusal: Refusal | None) -> GoalView:
    state = wrapped.state
    since = wrapped.since if state >= BUSY or state == ENDING else 0
    reason = "" if state >= BUSY else _reason(wrapped, life, refusal)
    name, path = wrapped.name, wrapped.flag_name
    return GoalView(name, path, wrapped.priority, wrapped.flags, STATE_NAMES[state], since, reason)


def _reason(wrapped: WrappedGoal, life: Lifecycle, refusal: Refusal | None) -> str:
    state = wrapped.state
    if state == DISABLED and wrapped in life.seldom.barred:
        return "it is out by hand: disabled, or another one is forced"
    if state != IDLE:
        return _STATES[state] if refusal is None or state != PENDING else f"it waits: {_refused(refusal)}"
    for flag in wrapped.flags:
        if flag in life.disabled:
            return f"the control flag {flag} is disabled"
    for flag in wrapped.flags:
        holder = None if life.locked is None else life.locked.get(flag)
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
    REMOVED: "it was removed",
    PENDING: "it was chosen, and begins when whom it replaces has cleaned up",
}
