"""The think budget: so many units of search work in each tick, dealt out fairly; and how long was waited for it.

``SearchWork`` is the work of one runtime, which ``ctx.work(units)`` asks before it is done. Without a budget it costs
nothing. With one, it is granted at once while this tick's units last and nobody waits; else the strand sleeps until its
claim is served. The weight of an agent is the product of ``scheduler_priority`` along the branch that it runs at that
moment, so that an idle agent may look for work with more force than a busy one. The budget's tick begins with the first
that asks in it, or with a timer while somebody waits; the timer is there only then, so that a budget that nobody
exceeds costs nothing between the asks. A wait that is cancelled takes its claim back, and with it what it was granted
in the same tick.

``ThinkBudget`` is pure bookkeeping: it knows no clock and wakes nobody. Whoever drives it says when a tick begins and
when the others have had their turn, and is told which claims were served.

* While nobody waits, whoever asks takes what it needs from the *room* of the tick, first come, first served.
* Once somebody waits, the room is dealt out whole between the waiting ``Share``s, by weight; what a share is dealt is
  its *credit*. It serves the share's claims in order, and what the share asks for later in the same tick, at once.
* Credit that nobody uses goes back when the others have had their turn, and is dealt out again: no unit is kept from
  somebody who waits. Credit that is too little for a share's first claim stays with it, over as many ticks as it takes.
* So no more than one tick's budget is dealt in a tick, and all of it while somebody waits.

Dealing is weighted round robin with deficits: each share is owed its part of each deal, in small fractions; whole units
are paid, the rest is owed on; units that are left over go to those who are owed most, and among equals to who has
waited longest. A share is never owed more than a unit for what lies behind, so none can hoard and none starves.

A ``WaitTimes`` says how long something was waited for, for good, and forgets the single numbers: it keeps how many
there were, their sum, the longest, and a table of buckets. Up to 63 ticks a bucket is one number, so that quantiles are
exact there; above that each power of two is cut into 32 buckets, so that a quantile is too high by one part in 32 at
most. However much is added, and however long it took, there are at most 960 buckets. Ticks are the unit because they
are the same in every equal run; who wants seconds multiplies.

Rejected: serving single claims by turns. Whoever asks for one unit at a time, as a good search does, would get as
many as everybody else, whatever its weight.

Source: Stonehearth, AI: `scheduler_priority`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.kernel.traps import Waiter, at_once, suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel, Timer

_EXACT = 64  # up to here each number of ticks has its own bucket
_PARTS = 32  # into how many buckets a power of two is cut beyond that
_SHIFT = 6  # _EXACT is two to this power
_MOST = 2**34 - 1  # what is longer falls into the last bucket: 27 years at 20 ticks a second


class WaitTimes:
    """How long something took to come, counted in ticks."""

    __slots__ = ("_buckets", "count", "longest", "total")

    def __init__(self) -> None:
        self.count: int = 0  # how many waits were added
        self.total: int = 0  # their sum, in ticks
        self.longest: int = 0  # the longest of them, in ticks; 0 while there is none
        self._buckets: dict[int, int] = {}

    def add(self, ticks: int) -> None:
        """Note one wait of some ticks; 0 for at once.

        Raises:
            ValueError: the number is negative.
        """
        if ticks < 0:
            raise ValueError(f"a wait of {ticks} ticks: it cannot be negative")
        self.count += 1
        self.total += ticks
        if ticks > self.longest:
            self.longest = ticks
        index = _bucket(ticks)
        self._buckets[index] = self._buckets.get(index, 0) + 1

    @property
    def mean(self) -> float:
        """The average in ticks; 0 while there is none."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, q: float) -> int:
        """The shortest time within which a share of the waits was over.

        Args:
            q: the share, from 0 to 1; 0.5 is the median, 0.99 leaves out the worst hundredth.

        Returns:
            Ticks, exact up to 63 and at most one part in 32 too high above that; 0 while there is none.

        Raises:
            ValueError: the share is not from 0 to 1.
        """
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"quantile({q!r}): it takes a share from 0 to 1")
        rank = max(1, math.ceil(q * self.count))
        for index in sorted(self._buckets):
            rank -= self._buckets[index]
            if rank <= 0:
                return min(_upper(index), self.longest)
        return 0

    def as_json(self) -> dict[str, Any]:
        """The same as plain values: the figures, and the buckets as pairs of their longest wait and their count."""
        return {
            "count": self.count,
            "total": self.total,
            "mean": round(self.mean, 3),
            "p50": self.quantile(0.5),
            "p90": self.quantile(0.9),
            "p99": self.quantile(0.99),
            "longest": self.longest,
            "buckets": [[min(_upper(index), self.longest), self._buckets[index]] for index in sorted(self._buckets)],
        }

    def __repr__(self) -> str:
        return f"<WaitTimes: {self.count} waits, {self.mean:.1f} ticks on average, {self.longest} the longest>"


def _bucket(ticks: int) -> int:
    if ticks < _EXACT:
        return ticks
    ticks = min(ticks, _MOST)
    shift = ticks.bit_length() - _SHIFT
    return _EXACT + (shift - 1) * _PARTS + (ticks >> shift) - _PARTS


def _upper(index: int) -> int:
    """The longest wait that falls into a bucket; the last one takes whatever is longer."""
    if index < _EXACT:
        return index
    if index == _LAST:
        return 1 << 64
    shift, part = divmod(index - _EXACT, _PARTS)
    return ((part + _PARTS + 1) << (shift + 1)) - 1


_LAST = _bucket(_MOST)

_UNIT = 1 << 32  # one unit of work, in the fractions in which shares are owed


@dataclass(slots=True, eq=False)
class Claim:
    """Work that somebody waits for."""

    share: Share  # whose it is
    units: int
    tag: Any  # whatever the driver wants to find again when it is served
    is_served: bool = False
    fresh: int = 0  # how many of its units were dealt in the tick in which it was served; 0 once that tick is over

    def __repr__(self) -> str:
        return f"<Claim of {self.units} units: {'served' if self.is_served else 'waits'}>"


@dataclass(slots=True, eq=False)
class Share:
    """The place of one searcher in a budget."""

    weigh: Callable[[], float]  # its weight at this moment, 0 or more; asked at each deal
    line: deque[Claim] = field(default_factory=deque)  # its claims that wait, in order
    credit: int = 0  # units that it was dealt and has not used
    kept: int = 0  # how many of them come from ticks before
    owed: int = 0  # of units that were dealt, in fractions of a unit; negative if it had too much

    def __repr__(self) -> str:
        return f"<Share: {len(self.line)} claims wait, {self.credit} units of credit>"


class ThinkBudget:
    """Units of search work, so many in each tick: at least 1, or it is a ``ValueError``."""

    __slots__ = ("_holding", "_served", "_waiting", "granted", "room", "units")

    def __init__(self, units: int) -> None:
        number: object = units
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(
                f"a budget of {repr_of(units)} units: a whole number, at least 1 in each tick, or nothing is found"
            )
        self.units: int = units
        self.room: int = units  # how many of this tick were not dealt
        self.granted: int = 0  # how many were granted since the beginning
        self._waiting: dict[Share, None] = {}  # those with claims, in the order in which they began to wait
        self._holding: list[Share] = []  # those without, which have credit left
        self._served: list[Claim] = []  # in this tick

    @property
    def used(self) -> int:
        """How many units of this tick were used, or laid by for a claim that is larger than they are."""
        return self.units - self.room - sum(share.credit for share in self._holding)

    @property
    def waiting(self) -> int:
        return sum(len(share.line) for share in self._waiting)

    @property
    def is_idle(self) -> bool:
        return not self._waiting

    @property
    def has_spare(self) -> bool:
        """Whether somebody waits although units are left: ``settle`` when the others have had their turn."""
        return bool(self._waiting) and (self.room > 0 or bool(self._holding))

    # --- asking -------------------------------------------------------------------------------------------------------

    def take(self, share: Share, units: int) -> bool:
        """Take units if they are there at once; returns whether they are granted. If not, nothing was taken."""
        if share.line:
            return False
        lacking = units - share.credit
        if lacking > 0:
            if self._waiting or lacking > self.room:
                return False
            self.room -= lacking
            share.credit = units
        share.credit -= units
        self.granted += units
        return True

    def ask(self, share: Share, units: int, tag: object = None) -> Claim | None:
        """Ask for units, of which there may be more than one tick has.

        Returns:
            None if they are granted; else the claim, which waits.
        """
        if self.take(share, units):
            return None
        if not share.line:
            if not self._waiting:
                share.credit += self.room
                self.room = 0
            self._waiting[share] = None
            if share in self._holding:
                self._holding.remove(share)
        claim = Claim(share, units, tag)
        share.line.append(claim)
        return claim

    def withdraw(self, claim: Claim) -> list[Claim]:
        """Take a claim back, once; one that was served gives back what it was dealt in this tick.

        Returns:
            Claims of the same share that are served now.
        """
        share = claim.share
        served: list[Claim] = []
        if not claim.is_served:
            share.line.remove(claim)
            self._serve(share, served)
        elif claim.fresh:
            share.credit += claim.fresh
            self.granted -= claim.fresh
            claim.fresh = 0
            if share.line:
                self._serve(share, served)
            elif share not in self._holding:
                self._holding.append(share)
        return served

    # --- dealing ------------------------------------------------------------------------------------------------------

    def next_tick(self) -> list[Claim]:
        """A tick begins: what was not used is lost, the rest as in ``settle``; returns the claims that are served."""
        for share in self._holding:
            share.credit = share.kept = 0
        self._holding.clear()
        for claim in self._served:
            claim.fresh = 0
        self._served.clear()
        for share in self._waiting:
            share.kept = share.credit
        self.room = self.units
        return self.settle()

    def settle(self) -> list[Claim]:
        """Deal out whatever is left of the tick between those who wait; returns the claims that are served."""
        if not self._waiting:
            return []
        units = self.room
        self.room = 0
        for share in self._holding:
            units += share.credit
            share.credit = 0
        self._holding.clear()
        self._deal(units)
        served: list[Claim] = []
        for share in tuple(self._waiting):
            self._serve(share, served)
        return served

    def _deal(self, units: int) -> None:
        """Give each waiting share its part of some units as credit."""
        weights = [max(1, round(share.weigh() * _UNIT)) for share in self._waiting]
        total = sum(weights)
        for share, weight in zip(self._waiting, weights, strict=True):
            share.owed += max(1, units * weight * _UNIT // total)
        # Sorting is stable: among equals, who has waited longest is first.
        ranked = sorted(self._waiting, key=_most_owed)
        left = units
        for share in ranked:
            whole = min(left, max(0, share.owed // _UNIT))
            left -= whole
            share.credit += whole
            share.owed -= whole * _UNIT
        for share in sorted(ranked, key=_most_owed)[:left] if left else ():
            share.credit += 1
            share.owed -= _UNIT
        for share in ranked:
            share.owed = min(share.owed, _UNIT - 1)

    def _serve(self, share: Share, served: list[Claim]) -> None:
        """Grant claims of a share, in order, as far as its credit goes."""
        line = share.line
        while line and line[0].units <= share.credit:
            claim = line.popleft()
            share.credit -= claim.units
            claim.fresh = max(0, claim.units - share.kept)
            share.kept = max(0, share.kept - claim.units)
            self.granted += claim.units
            claim.is_served = True
            served.append(claim)
            self._served.append(claim)
        if not line:
            del self._waiting[share]
            share.credit -= share.kept  # it was laid by for a claim that is gone; its tick is over
            share.kept = 0
            share.owed = min(share.owed, 0)
            if share.credit:
                self._holding.append(share)

    def __repr__(self) -> str:
        return f"<ThinkBudget: {self.used} of {self.units} units used, {self.waiting} claims wait>"


def _most_owed(share: Share) -> int:
    return -share.owed


class Asker(Protocol):
    """An agent, as one that asks for work."""

    @property
    def share(self) -> Share | None:
        """Its place in the budget; None until it asked for work."""

    @share.setter
    def share(self, share: Share | None) -> None: ...

    def search_weight(self) -> float:
        """Its weight at this moment, 0 or more."""
        ...


class SearchWork:
    """The search work of one runtime: so many ``units`` in a tick, for all agents together; None for any number.

    Raises:
        ValueError: the number of units is less than 1.
    """

    __slots__ = ("_is_settling", "_kernel", "_tick", "_timer", "budget", "waits")

    def __init__(self, kernel: Kernel, units: int | None) -> None:
        # the units of this tick and who waits for them; None if there is no limit
        self.budget: ThinkBudget | None = None if units is None else ThinkBudget(units)
        self.waits: WaitTimes = WaitTimes()  # how long the work that was asked for had to wait; empty without a limit
        self._kernel = kernel
        self._tick = kernel.clock.tick
        self._timer: Timer | None = None  # to the next tick, while somebody waits
        self._is_settling = False

    @property
    def used(self) -> int:
        """How many units were used in this tick; 0 without a limit."""
        if self.budget is None or self._tick != self._kernel.clock.tick:
            return 0
        return self.budget.used

    def ask(self, agent: Asker, units: object) -> Awaitable[None]:
        """Take units for an agent; see ``Context.work``. What is returned ends when they are granted.

        Raises:
            ValueError: the number is negative or not whole.
        """
        if not isinstance(units, int) or units < 0:
            raise ValueError(f"ctx.work({repr_of(units)}): it takes a whole number of units, 0 or more")
        budget = self.budget
        if budget is None or units == 0:
            return at_once()
        share = agent.share
        if share is not None and self._tick == self._kernel.clock.tick and budget.take(share, units):
            self.waits.add(0)
            return at_once()
        return self._take(budget, agent, units)

    def spare(self, agent: Asker, units: int) -> bool:
        """Take units that nobody waits for, for work that can wait; whether there are as many."""
        budget = self.budget
        if budget is None or units == 0:
            return True
        if self._tick != self._kernel.clock.tick:
            self._next_tick(budget)
        return budget.take(_share(agent), units)

    async def _take(self, budget: ThinkBudget, agent: Asker, units: int) -> None:
        await at_once()
        since = self._kernel.clock.tick
        if self._tick != since:
            self._next_tick(budget)
        waiter = Waiter()
        claim = budget.ask(_share(agent), units, waiter)
        if claim is not None:
            self._arrange(budget)
            try:
                await suspend_on(waiter)
            except BaseException:
                self._wake(budget.withdraw(claim))
                self._arrange(budget)
                raise
        self.waits.add(self._kernel.clock.tick - since)

    # --- when things happen -------------------------------------------------------------------------------------------

    def _next_tick(self, budget: ThinkBudget) -> None:
        self._tick = self._kernel.clock.tick
        self._wake(budget.next_tick())
        self._arrange(budget)

    def _tick_has_come(self) -> None:
        self._timer = None
        assert self.budget is not None
        if self._tick != self._kernel.clock.tick:
            self._next_tick(self.budget)
        else:
            self._arrange(self.budget)

    def _settle(self) -> None:
        self._is_settling = False
        assert self.budget is not None
        if self._tick == self._kernel.clock.tick:  # else the next tick has dealt already, or is about to
            self._wake(self.budget.settle())
        self._arrange(self.budget)

    def _arrange(self, budget: ThinkBudget) -> None:
        """See to it that whoever waits is looked after: in this tick if units are left, and in the next one."""
        if budget.is_idle:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            return
        if self._timer is None:
            self._timer = self._kernel.call_later(1, self._tick_has_come)
        if not self._is_settling and budget.has_spare:
            self._is_settling = True
            self._kernel.call_soon(self._settle)

    def _wake(self, served: list[Claim]) -> None:
        for claim in served:
            claim.tag.notify()

    def __repr__(self) -> str:
        return f"<SearchWork: {self.budget!r}>" if self.budget is not None else "<SearchWork: no limit>"


def _share(agent: Asker) -> Share:
    """An agent's place in the budget, made with the first that it asks for."""
    if agent.share is None:
        agent.share = Share(agent.search_weight)
    return agent.share
