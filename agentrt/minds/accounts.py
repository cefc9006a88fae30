"""Budgets: how many tokens and calls may be used, in the whole run or in any stretch of game time.

*What a call may use is reserved before it is made*, at its upper bound, and settled when it is over; so what is used
never passes a budget, whatever is asked at once. A call that was cancelled counts as reserved: what its server made of
it nobody knows. What was used counts until its time is over, from the end of the call on: in any hour, and not only in
those that begin at a full one.

Rejected: limits that are looked at after a call, as libraries for models have them: with eight calls in flight eight
pass.

Source: ours, minds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from agentrt.errors import DefinitionError
from agentrt.words import counted, repr_of

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock


_MOST = 1 << 53  # in what was saved: JSON of others makes a float of a larger number


@dataclass(frozen=True)
class Budget:
    """How much may be used; None for any number.

    Args:
        tokens: tokens that are read and written.
        calls: calls that are made, those asked again counted anew.
        per: in how many game seconds: ``3600`` for an hour; None for the whole run.
    """

    tokens: int | None = None
    calls: int | None = None
    per: float | None = None

    def __post_init__(self) -> None:
        for name in ("tokens", "calls"):
            value: object = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise DefinitionError("Budget", f"{name} is {repr_of(value, 80)}.", "Write a whole number, or None.")
        per: object = self.per
        if per is not None and (
            isinstance(per, bool) or not isinstance(per, (int, float)) or not 0 < per < float("inf")
        ):
            raise DefinitionError("Budget", f"per is {repr_of(self.per, 80)}.", "Write game seconds above 0, or None.")


class Spending:
    """One call in the books of one budget."""

    __slots__ = ("counts_until", "tokens")

    def __init__(self, tokens: int) -> None:
        self.tokens: int = tokens  # reserved, then used
        self.counts_until: int = 0  # the tick from which on it does not count; 0 while it is reserved


class Account:
    """What is used of one budget."""

    __slots__ = ("_calls", "_over", "_tokens", "_window", "budget", "total_calls", "total_tokens")

    def __init__(self, budget: Budget, clock: Clock) -> None:
        self.budget: Budget = budget
        self.total_tokens: int = 0  # used since it was opened, whether it counts any more or not
        self.total_calls: int = 0
        self._tokens = 0  # reserved, or used within the window
        self._calls = 0
        self._window = 0 if budget.per is None else max(1, clock.ticks(budget.per))
        self._over: deque[Spending] = deque()  # what is settled and counts, the oldest first

    def could_ever(self, tokens: int) -> bool:
        """Whether a call of so many tokens fits when nothing else is used."""
        limit, calls = self.budget.tokens, self.budget.calls
        return (limit is None or tokens <= limit) and (calls is None or calls >= 1)

    def room_at(self, tokens: int, tick: int) -> int:
        """From which tick on there is room for a call of so many tokens; 0 for now, -1 while nobody knows."""
        self._forget(tick)
        if self._fits(tokens, self._tokens, self._calls):
            return 0
        used, calls = self._tokens, self._calls
        for spending in self._over if self._window else ():
            used, calls = used - spending.tokens, calls - 1
            if self._fits(tokens, used, calls):
                return spending.counts_until
        return -1

    def reserve(self, tokens: int) -> Spending:
        """A call begins, which can use so many tokens."""
        self._tokens += tokens
        self._calls += 1
        self.total_calls += 1
        return Spending(tokens)

    def settle(self, spending: Spending, tokens: int, tick: int) -> None:
        """It is over, and has used so many."""
        self._tokens += tokens - spending.tokens
        self.total_tokens += tokens
        spending.tokens = tokens
        if self._window:
            spending.counts_until = tick + self._window
            self._over.append(spending)

    def save(self, tick: int) -> list[Any]:
        """What is used, as plain JSON. What is reserved is used, as by calls that are cancelled now."""
        over = [[one.tokens, one.counts_until] for one in self._over]
        used = sum(one.tokens for one in self._over) if self._window else self.total_tokens
        reserved = self._tokens - used
        if self._window:
            over += [[0 if number else reserved, tick + self._window] for number in range(self._calls - len(over))]
        return [self.total_tokens + reserved, self.total_calls, over]

    def restore(self, saved: Sequence[Any]) -> None:
        """Take up what another one of the same budget has saved.

        Raises:
            ValueError, TypeError: it is nothing of that kind.
        """
        tokens, calls, over = saved
        if not all(type(one) is int and 0 <= one < _MOST for one in (tokens, calls, *chain.from_iterable(over))):
            raise ValueError("in the books of a budget there is what is no number of tokens, calls or ticks")
        self.total_tokens, self.total_calls = tokens, calls
        self._over.clear()
        for used, counts_until in over if self._window else ():
            self._over.append(Spending(used))
            self._over[-1].counts_until = counts_until
        self._tokens = sum(one.tokens for one in self._over) if self._window else tokens
        self._calls = len(self._over) if self._window else calls

    def left(self, tick: int) -> tuple[int | None, int | None]:
        """How many tokens and calls are left now; None for any number."""
        self._forget(tick)
        budget = self.budget
        tokens = None if budget.tokens is None else budget.tokens - self._tokens
        return tokens, None if budget.calls is None else budget.calls - self._calls

    def _fits(self, tokens: int, used: int, calls: int) -> bool:
        budget = self.budget
        has_tokens = budget.tokens is None or used + tokens <= budget.tokens
        return has_tokens and (budget.calls is None or calls < budget.calls)

    def _forget(self, tick: int) -> None:
        while self._over and self._over[0].counts_until <= tick:
            gone = self._over.popleft()
            self._tokens -= gone.tokens
            self._calls -= 1


def too_much(tokens: int, budget: Budget) -> str:
    """Why a call can never be made, for people."""
    if budget.calls == 0:
        return "its budget allows no call"
    return f"it may use up to {counted(tokens, 'token')}, and its whole budget is {budget.tokens}"


def used_up(account: Account, of_all: Account, when: int, tokens: int, tick: int) -> str:
    """What is not left of a budget, for people, and when there is more."""
    left = account.left(tick)
    what = "calls" if left[1] is not None and left[1] < 1 else "tokens"
    whose = "" if account is of_all else " of its own"
    told = f"no {what}{whose} left"
    if what == "tokens":
        told += f": it may use up to {tokens}, and {left[0]} are left"
    return f"{told}, more from tick {when} on" if when > 0 else told


def check_budgets(budget: object, each: object, purposes: object) -> None:
    """Refuse what is no budget."""
    named = purposes.items() if isinstance(purposes, Mapping) else [("purposes", purposes)]
    for name, given in [("budget", budget), ("each", each), *named]:
        if not isinstance(given, Budget):
            problem = f"{name} is {repr_of(given, 80)}."
            raise DefinitionError("Mind", problem, "Write Budget(tokens=..., calls=..., per=...).")
