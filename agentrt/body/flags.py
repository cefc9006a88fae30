"""Control flags: which parts of a body are in use, in one ledger for each agent.

A goal, a behavior or an action that declares flags takes them from the agent's ledger when it begins and gives them
back when it ends, so that two models never drive the same legs. This is the rule by which models meet; what happens
*within* a model (goals that replace each other, plans that switch) is that model's own business. Models, snapshots and
tools share four words with the ledger: a ``Holder`` has flags, a ``Hold`` says since when, a ``Refusal`` why somebody
has not, a ``Waiting`` who stands in the line. A ``FlagClaim`` is the ledger's own: nobody else sees one.

1. A claim takes all of its flags or none. A flag has one holder.
2. Who runs *for* a holder (``runs_for``, link by link) shares its flags: the steps of a plan with the plan, what a goal
   performs with the goal, a behavior tree with the action that ticks it.
3. First come, first served: a holder of the same or a higher *precedence* keeps what it has. A tie takes nothing away.
4. A claim of higher precedence has the holders in its way give way, if they can be interrupted. That may take a while
   (a plan unwinds, a coroutine cleans up); the flags are kept for the claim until then.
5. Whoever is refused may wait, and has its flags as soon as they are all free. Waiting claims are served by
   precedence, then in order of arrival; nobody of the same or a lower precedence overtakes one that waits.
6. A claim that could be served only by somebody who waits for it in turn, directly or through others, be it for flags
   or for its place in the line, is a deadlock: it is refused, and told so. Who gives way waits for nobody any more.

One claimant has one claim: a new one takes the place of the old one, at the end of the line. A claim that does not wait
has nobody give way for nothing: only if all who are in its way would. A refusal is remembered until the next claim of
that claimant; it is never silent.

Whoever is told something (``give_way``, ``flags_granted``) may claim, release and wait in its turn, on the same stack.
So what was looked up before such a call is looked up again after it.

Rejected: fixed ranks of the models (a reflex is one game's goal and another game's action), and taking flags away at
once (two models would drive the same legs while the old one cleans up).

Source: ours; Minecraft, goal selectors: "Flags".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol


class Holder(Protocol):
    """Who can hold control flags: a goal of a selector, a decider of a behavior tree, a unit of a plan."""

    @property
    def flag_name(self) -> str:
        """What to call it, for people."""
        ...

    @property
    def runs_for(self) -> Holder | None:
        """For whom it runs, so that flags are shared; None for nobody."""
        ...

    @property
    def precedence(self) -> int:
        """Whose claims win: the higher one; 0 unless somebody says otherwise."""
        ...

    @property
    def is_interruptible(self) -> bool:
        """Whether it gives way to a claim of higher precedence."""
        ...

    def give_way(self, flag: str, claimant: str) -> None:
        """End, for a claim of higher precedence; release when that is done, now or later."""

    def flags_granted(self) -> None:
        """A claim that waited has its flags now. Called on the stack of whoever released them."""


def chain_of(holder: Holder | None) -> Iterator[Holder]:
    """A holder and for whom it runs, link by link."""
    while holder is not None:
        yield holder
        holder = holder.runs_for


class Hold(NamedTuple):
    """Who holds a flag."""

    owner: Holder  # who claimed it
    name: str  # the owner's name, for people
    since: int  # the tick of the claim


class Refusal(NamedTuple):
    """Why a claim failed."""

    flag: str  # that stood in the way
    claimant: str  # who wanted it, by name
    holder: str  # who held it, by name
    tick: int  # when
    reason: str  # why the holder kept it, in words
    is_final: bool = False  # whether waiting is no use, because the holder waits for the claimant in turn

    def text(self) -> str:
        """The refusal in one line."""
        return f"{self.claimant} was refused {self.flag} in tick {self.tick}: held by {self.holder}, {self.reason}"


class Waiting(NamedTuple):
    """A claim that waits."""

    claimant: str  # who, by name
    flags: tuple[str, ...]
    since: int  # the tick of the claim
    precedence: int  # of the claimant


@dataclass(slots=True, eq=False)
class FlagClaim:
    """One claim, while the ledger decides about it or it waits."""

    flags: tuple[str, ...]
    owner: Holder
    tick: int
    shared: tuple[object, ...]  # others whose flags count as free
    is_told: bool = False  # whether the owner is to be told when it is served, because its call of ``claim`` is over

    def is_for(self, owner: object) -> bool:
        """Whether the claimant is an owner, or runs for it."""
        link: Holder | None = self.owner  # not by ``chain_of``: a generator costs more than most chains are long
        while link is not None:
            if link is owner:
                return True
            link = link.runs_for
        return False

    def shares_with(self, owner: object) -> bool:
        """Whether an owner's flags count as free: the claimant runs for it, or it goes for the claimant."""
        return self.is_for(owner) or any(owner is other for other in self.shared)


MOVE = "MOVE"
LOOK = "LOOK"
JUMP = "JUMP"
TARGET = "TARGET"

_NOTHING: Final[dict[str, Hold]] = {}  # what is held of a body of which nothing was ever held; never changed


class FlagLedger:
    """Who holds which control flag of one agent."""

    __slots__ = ("_claims", "_holds", "_refusals", "_waiting", "_yielding", "version")

    def __init__(self) -> None:
        self.version: int = 0  # changes with every hold and every waiting claim: who looks often need not look twice
        self._holds: dict[str, Hold] = _NOTHING
        self._refusals: dict[str, Refusal] | None = None
        self._waiting: tuple[
            FlagClaim, ...
        ] = ()  # by precedence, then by arrival; replaced, so a pass goes on over its own
        # The same by claimant, of whom each has one. Keyed by identity and never iterated: no order depends on it.
        self._claims: dict[int, FlagClaim] | None = None
        self._yielding: list[Holder] | None = None  # who was asked to give way

    # --- claiming -----------------------------------------------------------------------------------------------------

    def claim(
        self,
        flags: Collection[str],
        owner: Holder,
        tick: int,
        *,
        shared_with: Iterable[object] = (),
        wait: bool = False,
    ) -> Refusal | None:
        """Take flags, all or none.

        Args:
            flags: what to take, in a fixed order.
            owner: who holds them from now on.
            tick: now.
            shared_with: others of the same model whose flags count as free, because they go for the claimant.
            wait: whether the claim waits when it is refused; ``owner.flags_granted()`` is called when it is served.

        Returns:
            None if it was granted, else what stood in the way.
        """
        if self._claims and self._withdraw(owner):
            self._serve()  # those whom the old claim stood before
        claim = FlagClaim(tuple(flags), owner, tick, tuple(shared_with))
        if not self._waiting and not self._blocking(claim):  # the usual case
            self._grant(claim)
            return None
        refusal = kept = self._kept(claim)
        if refusal is None:
            for flag, hold in self._blocking(claim):
                refusal = Refusal(flag, owner.flag_name, hold.name, tick, "which is giving way")
                break
            else:
                self._grant(claim)
                return None
        self._enqueue(claim)  # before anybody is asked to give way, who may release at once: served is who stands here
        deadlock = self._deadlock(claim)
        if deadlock is not None:
            self._withdraw(owner)
            self._remember(deadlock)
            return deadlock
        if wait or kept is None:
            self._have_others_give_way(claim)
        if self._claim_of(owner) is not claim and self._has(claim):  # those who were asked gave way at once
            return None
        self._remember(refusal)
        if wait:
            claim.is_told = True
        elif self._withdraw(owner):
            self._serve()  # those whom the claim stood before
        return refusal

    def gives_way(self, flags: Collection[str], owner: Holder) -> bool:
        """Whether nobody waits, and all holders of some flags give way: quick, for whoever asks in each tick."""
        holds = [hold for flag in flags if (hold := self._holds.get(flag)) is not None]
        return not self._waiting and all(self._gives_way(hold, owner) for hold in holds)

    def obstacle(
        self, flags: Collection[str], owner: Holder, tick: int, *, shared_with: Iterable[object] = ()
    ) -> Refusal | None:
        """What a claim would have to wait for without any hope: somebody who will not give way. Changes no hold.

        A refusal is remembered, as if it had been claimed. The arguments are those of ``claim``.

        Returns:
            None if the flags are free, or their holders give way, else who would keep them.
        """
        refusal = self._kept(FlagClaim(tuple(flags), owner, tick, tuple(shared_with)))
        if refusal is not None:
            self._remember(refusal)
        return refusal

    def hand_over(self, flags: Collection[str], owner: Holder, tick: int, *, holders: Iterable[object]) -> None:
        """Give flags that are free, or held by others of the same model, to one of it, with nobody else in between.

        What else those hold stays theirs until they release it.

        Args:
            flags, owner, tick: as for ``claim``.
            holders: who of the same model may hold them until now.
        """
        own = tuple(holders)
        self.version += 1
        held = self._own_holds()
        for flag in flags:
            hold = held.get(flag)
            if hold is None or hold.owner is owner or any(hold.owner is other for other in own):
                held[flag] = Hold(owner, owner.flag_name, tick)
        self._forget_refusal(owner.flag_name)
        if self._waiting:
            self._handed_over(owner)

    def release(self, owner: object) -> None:
        """Give back all that an owner holds, and withdraw its claim if it waits; who waits for it is served."""
        if self._claims:
            self._withdraw(owner)
        lost = [flag for flag, hold in self._holds.items() if hold.owner is owner]
        self.version += 1
        if self._yielding:
            self._yielding = [other for other in self._yielding if other is not owner]
        for flag in lost:
            del self._holds[flag]
        self._serve()

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def is_free(self) -> bool:
        """Whether nobody holds or awaits anything, so that nobody need ask."""
        return not self._holds and not self._waiting

    def holder(self, flag: str) -> Hold | None:
        """Who holds a flag, or None."""
        return self._holds.get(flag)

    def holds(self) -> dict[str, Hold]:
        """All that is held, by flag, in the order of claiming."""
        return dict(self._holds)

    def is_waiting(self, owner: object) -> bool:
        """Whether a claim of an owner waits."""
        return self._claim_of(owner) is not None

    def waiting(self) -> list[Waiting]:
        """The claims that wait, in the order in which they are served."""
        return [
            Waiting(claim.owner.flag_name, claim.flags, claim.tick, claim.owner.precedence) for claim in self._waiting
        ]

    def refusals(self) -> list[Refusal]:
        """The last refusal of each claimant that has not succeeded since."""
        return list((self._refusals or {}).values())

    def forget_refusals(self, name: str) -> None:
        """A model of that name is gone: what it was refused is of no interest any more."""
        if self._refusals:
            for claimant in [one for one in self._refusals if one.startswith(f"{name}/")]:
                del self._refusals[claimant]

    # --- the rule -----------------------------------------------------------------------------------------------------

    def _blocking(self, claim: FlagClaim) -> list[tuple[str, Hold]]:
        """The holds in the way of a claim."""
        found = []
        for flag in claim.flags:
            hold = self._holds.get(flag)
            if hold is not None and not claim.shares_with(hold.owner):
                found.append((flag, hold))
        return found

    def _ahead(self, claim: FlagClaim) -> Iterator[tuple[str, FlagClaim]]:
        """The claims that wait for one of the same flags, and must be served before; with that flag."""
        for other in self._waiting:
            if other is claim or (other.owner is claim.owner and set(claim.flags) <= set(other.flags)):
                return  # its own place, or that of a claim that waits for as much
            if other.owner.precedence >= claim.owner.precedence and not claim.shares_with(other.owner):
                for flag in claim.flags:
                    if flag in other.flags:
                        hold = self._holds.get(flag)
                        if hold is None or not claim.shares_with(hold.owner):  # what one shares, one has
                            yield flag, other
                            break

    def _kept(self, claim: FlagClaim) -> Refusal | None:
        """Who keeps a flag from a claim and will not give way, if there is somebody."""
        name = claim.owner.flag_name
        for flag, hold in self._blocking(claim):
            if not self._gives_way(hold, claim.owner):
                return Refusal(flag, name, hold.name, claim.tick, self._why(hold, claim.owner))
        for flag, other in self._ahead(claim):
            words = f"which has waited for it since tick {other.tick}"
            return Refusal(flag, name, other.owner.flag_name, claim.tick, words)
        return None

    @staticmethod
    def _gives_way(hold: Hold, owner: Holder) -> bool:
        holder = hold.owner
        return holder.precedence < owner.precedence and holder.is_interruptible

    @staticmethod
    def _why(hold: Hold, owner: Holder) -> str:
        held, wanted = hold.owner.precedence, owner.precedence
        if held >= wanted:
            return f"which came first, in tick {hold.since}, with precedence {held} against {wanted}"
        return "which cannot be interrupted"

    def _have_others_give_way(self, claim: FlagClaim) -> None:
        try:
            self._ask(claim, self._blocking(claim))
        except BaseException:
            if self._withdraw(claim.owner):  # it would never learn that it was served
                self._serve()
            raise

    def _ask(self, claim: FlagClaim, blocking: list[tuple[str, Hold]]) -> None:
        """Have holders in the way of a claim that waits give way, each once."""
        asked: list[Holder] = []
        for flag, hold in blocking:
            owner = hold.owner
            # Who gave way just before may have taken others along: a hold that is not the same one is nobody's to ask.
            if self._gives_way(hold, claim.owner) and self._holds.get(flag) is hold and not _is_one(owner, asked):
                asked.append(owner)
                if self._yielding is None:
                    self._yielding = []
                if not _is_one(owner, self._yielding):
                    self._yielding.append(owner)
                owner.give_way(flag, claim.owner.flag_name)

    def _has(self, claim: FlagClaim) -> bool:
        """Whether the owner of a claim has, or shares, all of its flags."""
        holds = [self._holds.get(flag) for flag in claim.flags]
        return all(hold is not None and claim.shares_with(hold.owner) for hold in holds)

    def _grant(self, claim: FlagClaim) -> None:
        owner = claim.owner
        self.version += 1
        held = self._own_holds()
        for flag in claim.flags:
            if flag not in held:  # what it shares stays with its holder, who hands it over or gives it back
                held[flag] = Hold(owner, owner.flag_name, claim.tick)
        self._forget_refusal(owner.flag_name)

    def _own_holds(self) -> dict[str, Hold]:
        """What is held, to be changed."""
        if self._holds is _NOTHING:
            self._holds = {}
        return self._holds

    def _serve(self) -> None:
        """Somebody released something: grant what can be granted, in order."""
        while True:  # each time from the front: who is told may claim, release and wait in its turn
            claim = next((one for one in self._waiting if not self._blocking(one) and not any(self._ahead(one))), None)
            if claim is None:
                return
            self._take_out(claim)
            self._grant(claim)
            if claim.is_told:
                claim.owner.flags_granted()

    def _take_out(self, claim: FlagClaim) -> None:
        """A claim stands in the line no more."""
        assert self._claims is not None
        del self._claims[id(claim.owner)]
        index = self._waiting.index(claim)
        self._waiting = self._waiting[:index] + self._waiting[index + 1 :]

    def _enqueue(self, claim: FlagClaim) -> None:
        index = len(self._waiting)
        # From behind: most claims are of one precedence, and stand at the end.
        while index and self._waiting[index - 1].owner.precedence < claim.owner.precedence:
            index -= 1
        self._waiting = (*self._waiting[:index], claim, *self._waiting[index:])
        if self._claims is None:
            self._claims = {}
        self._claims[id(claim.owner)] = claim
        self.version += 1

    def _withdraw(self, owner: object) -> bool:
        """Take the claim of an owner out of the line; returns whether there was one."""
        claim = self._claim_of(owner)
        if claim is None:
            return False
        self._take_out(claim)
        self.version += 1
        return True

    def _claim_of(self, owner: object) -> FlagClaim | None:
        """The claim of an owner that waits; None if none does."""
        return self._claims.get(id(owner)) if self._claims else None

    def is_before_others(self, owner: object) -> bool:
        """Whether a claim of an owner waits, and others wait behind it."""
        claim = self._claim_of(owner)
        return claim is not None and self._waiting[-1] is not claim

    def blockers(self, owner: object) -> tuple[list[Holder], list[Holder]]:
        """Without whom an owner goes on waiting for flags.

        Whoever stands before it in the line waits for its own flags in turn; so these are looked for, too, in one walk.

        Returns:
            Those that hold a flag, for which it waits itself or somebody before it, and do not give way; and those
            before it. Both are empty if its claim does not wait.
        """
        claim = self._claim_of(owner)
        if claim is None:
            return [], []
        own = {id(one) for one in (*claim.shared, *chain_of(claim.owner))}
        flags, before = set(claim.flags), []
        for other in self._waiting[self._waiting.index(claim) :: -1]:
            if id(other.owner) not in own and not flags.isdisjoint(other.flags):
                flags.update(other.flags)
                before.append(other.owner)
        own.update(id(one) for one in self._yielding or ())
        holds = [hold for flag, hold in self._holds.items() if flag in flags and id(hold.owner) not in own]
        return [hold.owner for hold in holds if not self._gives_way(hold, claim.owner)], before

    def _handed_over(self, owner: Holder) -> None:
        """An owner was given flags by its own: see to those whom that concerns, itself among them."""
        for claim in self._waiting:
            if self._claim_of(claim.owner) is not claim:
                continue  # somebody who gave way took it back
            if claim.owner is not owner:
                self._ask(claim, [pair for pair in self._blocking(claim) if pair[1].owner is owner])
            elif self._has(claim):
                self._withdraw(owner)  # what it waits for it has now
        self._serve()

    def _deadlock(self, claim: FlagClaim) -> Refusal | None:
        """Who is in the way of a claim, which stands in the line already, and waits for it in turn."""
        if not self._may_be_awaited(claim):
            return None
        blocking = self._blocking(claim)
        ending = [*(self._yielding or ()), *(hold.owner for _, hold in blocking if self._gives_way(hold, claim.owner))]
        needed = self._needed(ending)
        seen: set[int] = set()  # shared by all that follows: what did not lead to the claim once never does
        name, words = claim.owner.flag_name, "which waits for the claimant in turn: a deadlock"
        for flag, hold in blocking:
            if self._awaits(hold.owner, claim, needed, seen):
                return Refusal(flag, name, hold.name, claim.tick, words, is_final=True)
        for flag, other in self._ahead(claim):
            if self._awaits(other.owner, claim, needed, seen):
                return Refusal(flag, name, other.owner.flag_name, claim.tick, words, is_final=True)
        return None

    def _may_be_awaited(self, claim: FlagClaim) -> bool:
        """Whether anybody may wait for a claimant: quick, since of many who want the same nobody waits for the last.

        Whoever is waited for holds something, or stands in the line before somebody, itself or by those it runs for.
        """
        if len(self._waiting) < 2:
            return False  # it is the only one
        if self._waiting[-1] is not claim:
            return True
        for link in chain_of(claim.owner):
            other = self._claim_of(link)
            if (other is not None and other is not claim) or any(hold.owner is link for hold in self._holds.values()):
                return True
        return False

    def _awaits(self, owner: Holder, claim: FlagClaim, needed: Mapping[int, list[FlagClaim]], seen: set[int]) -> bool:
        """Whether an owner waits for a claim, directly or through others, except for those that are ending."""
        following = [owner]
        for one in following:  # which grows meanwhile
            for found in needed.get(id(one), ()):
                if found is claim:
                    return True
                if id(found) not in seen:
                    seen.add(id(found))
                    following += [ahead.owner for _, ahead in self._ahead(found)]
                    following += [hold.owner for _, hold in self._blocking(found)]
        return False

    def _needed(self, ending: list[Holder]) -> Mapping[int, list[FlagClaim]]:
        """By owner the claims without which it does not end: its own, and of those that run for it."""
        found: dict[int, list[FlagClaim]] = {}
        for claim in self._waiting:
            if not any(claim.is_for(owner) for owner in ending):
                for link in chain_of(claim.owner):
                    found.setdefault(id(link), []).append(claim)
        return found

    def _remember(self, refusal: Refusal) -> None:
        if self._refusals is None:
            self._refusals = {}
        self._refusals[refusal.claimant] = refusal

    def _forget_refusal(self, name: str) -> None:
        if self._refusals:
            self._refusals.pop(name, None)


def _is_one(owner: Holder, others: list[Holder]) -> bool:
    return any(owner is other for other in others)
