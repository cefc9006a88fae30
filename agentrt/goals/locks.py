"""The selector's part in the ledger of control flags: which goal has locked which flag, who waits, who may begin.

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

``strangers`` is what keeps all of this from costing anything: the flags that others hold or wait for. Usually there is
none, and no goal is asked about. What it said is kept together with the ledger's version, and is worth nothing as soon
as that is another one.

Source: design section 3, "Control flags"; seed 000, "Flags".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from agentrt.body.driver import note, tick_of
from agentrt.goals.wrapped import IDLE, PENDING, Lifecycle, WrappedGoal, move
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.body.flags import FlagLedger, Holder, Refusal

__all__ = ["Locks"]


class Locks:
    """The control flags of one selector's goals."""

    __slots__ = ("disabled", "foreign", "known_ledger", "life", "locked", "pending", "version")

    def __init__(self, life: Lifecycle) -> None:
        self.life: Lifecycle = life
        life.sharing = self
        self.disabled: list[str] = []  # changed in place: a pass looks at this very list
        self.locked: dict[str, WrappedGoal] | None = None  # as the seed has it; an entry may outlive its goal's run
        self.pending: list[WrappedGoal] | None = None  # in the order in which they were chosen
        self.known_ledger: FlagLedger | None = None  # None before it is known whom the selector drives
        self.foreign: Collection[str] | None = None  # what ``strangers`` said
        self.version: int = -1  # of the ledger, when it said that

    @property
    def ledger(self) -> FlagLedger:
        """Where the goals take their flags from."""
        if self.known_ledger is None:
            self.known_ledger = self.life.body.flags
        return self.known_ledger

    def start_anew(self) -> None:
        """The selector joins a body: nobody has locked anything, and nothing is known of others."""
        self.locked = None
        self.version = -1

    # --- may it? ------------------------------------------------------------------------------------------------------

    def strangers(self) -> Collection[str] | None:
        """The flags that others hold or wait for, and those that own goals wait for; None if there are none."""
        ledger = self.ledger
        if ledger.version != self.version:
            self.version = ledger.version
            flags = [flag for flag, hold in ledger.holds().items() if not self._is_own(hold.owner)]
            for waiting in ledger.waiting():
                flags.extend(waiting.flags)
            self.foreign = flags or None
        return self.foreign

    def _is_own(self, owner: Holder) -> bool:
        """Whether somebody is a goal of this selector, or whom it drives the body for."""
        if isinstance(owner, WrappedGoal) and owner.selector is self.life.selector:
            return True
        link = self.life.body.holder
        while link is not None and link is not owner:
            link = link.runs_for
        return link is not None

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
            refusal = self.ledger.obstacle(flags, wrapped, tick_of(self.life.body), shared_with=self._shares(wrapped))
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
        if self.pending:
            shares += [other for other in self.pending if other.can_be_replaced_by(wrapped)]
        if self.life.ending and not self._others_wait():
            shares += self.life.ending
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
        own = sum(self.life.note_of(wrapped).awaits_flags for wrapped in self.pending or ())
        return len(self.ledger.waiting()) > own

    def _refused(self, wrapped: WrappedGoal, refusal: Refusal) -> None:
        """Tell the trace of a refusal, unless it is the same as the last one."""
        notes = self.life.note_of(wrapped)
        why = (refusal.flag, refusal.holder)
        if notes.refused != why:
            notes.refused = why
            detail = (("flag", refusal.flag), ("holder", refusal.holder), ("reason", refusal.reason))
            note(self.life.body, wrapped.flag_name, Event.REFUSED, detail)

    # --- taking its flags ---------------------------------------------------------------------------------------------

    def choose(self, wrapped: WrappedGoal) -> None:
        """A goal that is idle can be used: begin it, now or when its flags are free."""
        move(wrapped, PENDING)
        self._come_in(wrapped)

    def _claim(self, wrapped: WrappedGoal) -> bool:
        """Claim a goal's flags.

        Returns:
            Whether it has them; if not, it waits for them or was withdrawn.
        """
        flags = wrapped.flags
        shares = self._shares(wrapped)
        tick = tick_of(self.life.body)
        ledger = self.ledger
        refusal = ledger.claim(flags, wrapped, tick, shared_with=shares, wait=True)
        if wrapped.state != PENDING:
            ledger.release(wrapped)  # somebody who gave way removed it
            return False
        if refusal is None:
            if self.life.notes and wrapped in self.life.notes:
                self.life.notes[wrapped].refused = None
            return True
        self._refused(wrapped, refusal)
        if ledger.obstacle(flags, wrapped, tick, shared_with=shares) is not None:
            self.withdraw(wrapped)
            return False
        self.life.note_of(wrapped).awaits_flags = True
        self._wait(wrapped)
        return False

    def _wait(self, wrapped: WrappedGoal) -> None:
        if self.pending is None:
            self.pending = []
        if wrapped not in self.pending:
            self.pending.append(wrapped)

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
        for other in self.pending or ():
            if other.can_be_replaced_by(wrapped) and any(flag in flags for flag in other.flags):
                replaced.append(other)
        for holder in replaced:
            self.life.stop(holder, f"replaced by {wrapped.flag_name}")
            if wrapped.state != PENDING:  # who was stopped removed it, or has the whole selector leave
                self._unlock_newcomer(wrapped, before)
                return
        if self._in_its_way(wrapped):
            self._wait(wrapped)
        else:
            self.life.begin(wrapped)

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
        self.life.note_of(wrapped).awaits_flags = False
        kernel = self.life.body.kernel
        if kernel is None:
            self._proceed(wrapped)
        else:
            kernel.call_soon(self._proceed, wrapped)  # not on the stack of whoever released them

    def _proceed(self, wrapped: WrappedGoal) -> None:
        """Begin a pending goal if nothing is in its way any more, and it can still be used."""
        if wrapped.state != PENDING or self.life.note_of(wrapped).awaits_flags or self._in_its_way(wrapped):
            return
        if self.may_be_asked(wrapped, None) and self.life.can_use(wrapped):
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
        return any(flag in flags for other in self.life.ending or () for flag in other.flags)

    def ask_again(self, wrapped: WrappedGoal, strangers: Collection[str] | None) -> None:
        """A full tick comes to a goal that is pending: it stays so only if it can still be used."""
        if not (self.may_be_asked(wrapped, strangers) and self.life.can_use(wrapped)):
            self.withdraw(wrapped)
        elif not self.life.note_of(wrapped).awaits_flags and not self._in_its_way(wrapped):
            self._come_in(wrapped)

    def withdraw(self, wrapped: WrappedGoal, fate: int = IDLE) -> None:
        """A goal that is pending does not begin after all."""
        if wrapped.state == PENDING:
            move(wrapped, fate)
            self._unlist(wrapped)
            self._unlock_newcomer(wrapped, {})
            self.give_back(wrapped)

    def _unlist(self, wrapped: WrappedGoal) -> None:
        if self.pending and wrapped in self.pending:
            self.pending = [other for other in self.pending if other is not wrapped]
            self.life.note_of(wrapped).awaits_flags = False

    def give_back(self, wrapped: WrappedGoal) -> None:
        """A goal does not need its flags any more: its successor has them, or else whoever is next in the ledger."""
        flags = wrapped.flags
        if flags:
            ledger = self.ledger
            if self.locked:
                for flag in flags:
                    heir = self.locked.get(flag)
                    if heir is not None and heir is not wrapped and heir.state == PENDING:
                        ledger.hand_over((flag,), heir, tick_of(self.life.body), holders=(wrapped,))
            ledger.release(wrapped)
        for other in self.pending or ():
            self._proceed(other)

    def unlock(self) -> None:
        """Step 2: forget the entries of the goals that do not run."""
        locked = self.locked
        if locked:
            for holder in locked.values():
                if holder.state < PENDING:
                    self.locked = {flag: one for flag, one in locked.items() if one.state >= PENDING}
                    return
