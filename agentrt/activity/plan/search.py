"""An agent's part of the search work of a runtime.

``ctx.work(units)`` is asked before the work is done. Without a budget it costs nothing. With one, it is granted at once
while this tick's units last and nobody waits; else the strand sleeps until the budget (``body.budget``, which decides
all of that) serves its claim. The weight of an agent is the product of ``scheduler_priority`` along the branch that it
runs at that moment, so that an idle agent may look for work with more force than a busy one. The budget's tick begins
with the first that asks in it, or with a timer while somebody waits; the timer is there only then, so that a budget
that nobody exceeds costs nothing between the asks. What an agent was dealt and did not use is dealt again when
everybody who was ready had a turn. A wait that is cancelled takes its claim back, and with it what it was granted in
the same tick.

Source: Stonehearth, AI: `scheduler_priority`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING, Protocol

from agentrt.activity.states import STARTED
from agentrt.body.budget import Claim, Share, ThinkBudget, WaitTimes
from agentrt.kernel.traps import Waiter, at_once, suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Frame, Stack, Unit
    from agentrt.kernel.kernel import Kernel


_MOST = 1e6  # priorities multiply along a branch; weights beyond this say no more than "all of it"


def running_branch(frame: Frame) -> Iterator[Unit]:
    """The units that are started, from the root of a plan down to its leaf."""
    node: Frame | None = frame
    while node is not None and node.active is not None and node.active.state >= STARTED:
        unit = node.active
        yield unit
        node = unit.running_child()


class Asker(Protocol):
    """The planner of an agent, as one that asks for work."""

    share: Share | None  # its place in the budget; None until it asked for work

    @property
    def execution(self) -> Stack:
        """The plan, whose running branch has the priorities."""
        ...


class SearchWork:
    """The search work of one runtime: so many ``units`` in a tick, for all agents together; None for any number.

    Raises:
        ValueError: the number of units is less than 1.
    """

    __slots__ = ("_is_settling", "_kernel", "_tick", "_timer_set", "budget", "waits")

    def __init__(self, kernel: Kernel, units: int | None) -> None:
        # the units of this tick and who waits for them; None if there is no limit
        self.budget: ThinkBudget | None = None if units is None else ThinkBudget(units)
        self.waits: WaitTimes = WaitTimes()  # how long the work that was asked for had to wait; empty without a limit
        self._kernel = kernel
        self._tick = kernel.clock.tick
        self._timer_set = False
        self._is_settling = False

    @property
    def used(self) -> int:
        """How many units were used in this tick; 0 without a limit."""
        if self.budget is None or self._tick != self._kernel.clock.tick:
            return 0
        return self.budget.used

    def ask(self, planner: Asker, units: int) -> Awaitable[None]:
        """Take units for an agent; see ``Context.work``. What is returned ends when they are granted.

        Raises:
            ValueError: the number is negative or not whole.
        """
        number: object = units
        if not isinstance(number, int) or number < 0:
            raise ValueError(f"ctx.work({repr_of(units)}): it takes a whole number of units, 0 or more")
        budget = self.budget
        if budget is None or units == 0:
            return at_once()
        share = planner.share
        if share is not None and self._tick == self._kernel.clock.tick and budget.take(share, units):
            self.waits.add(0)
            return at_once()
        return self._take(budget, planner, units)

    def spare(self, planner: Asker, units: int) -> bool:
        """Take units that nobody waits for, for work that can wait; whether there are as many."""
        budget = self.budget
        if budget is None or units == 0:
            return True
        if self._tick != self._kernel.clock.tick:
            self._next_tick(budget)
        return budget.take(_share(planner), units)

    async def _take(self, budget: ThinkBudget, planner: Asker, units: int) -> None:
        await at_once()
        since = self._kernel.clock.tick
        if self._tick != since:
            self._next_tick(budget)
        waiter = Waiter()
        claim = budget.ask(_share(planner), units, waiter)
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

    def _timer(self) -> None:
        self._timer_set = False
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
            return
        if not self._timer_set:
            self._timer_set = True
            self._kernel.call_later(1, self._timer)
        if not self._is_settling and budget.has_spare:
            self._is_settling = True
            self._kernel.call_soon(self._settle)

    def _wake(self, served: list[Claim]) -> None:
        for claim in served:
            claim.tag.notify()

    def __repr__(self) -> str:
        return f"<SearchWork: {self.budget!r}>" if self.budget is not None else "<SearchWork: no limit>"


def _share(planner: Asker) -> Share:
    """An agent's place in the budget, made with the first that it asks for. What it runs multiplies it."""

    def weight() -> float:
        found = 1.0
        for unit in running_branch(planner.execution.root):
            found *= unit.spec.scheduler_priority
        return min(found, _MOST)

    if planner.share is None:
        planner.share = Share(weight)
    return planner.share
