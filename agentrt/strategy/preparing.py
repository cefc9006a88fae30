"""Preparing: the decisions that come next are made in advance, in ticks in which nothing is decided.

First those of the likeliest branch of the attempt that runs, each in the world that the ones before leave, and the one
that whoever is above has to make when that attempt is over; then the same for the second and the third branch. When the
world turns out to be one of those (``worlds``), what was found out in it is taken over, and the decision asks nobody.

That is bounded by ``gameplay.prepare_asks`` for a tick, in whole asks: what the last one took more is taken off the
next tick. It takes part in the think budget of the runtime with what others leave of it. There is no strand: a timer,
which is there only while there is something to prepare, and gone with the request.

Rejected: keeping prepared decisions themselves. A memo that holds in the real world serves every decision that looks at
the same things, and it cannot say anything that asking would not have said.

Source: seed 003, "Planning Ahead Using Probability": "the second or third most likely events".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM
from agentrt.strategy.assuming import after, outcome
from agentrt.strategy.worlds import World, is_as_assumed, take_over

if TYPE_CHECKING:
    from agentrt.kernel.calls import Timer
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.outlooks import Outlook

__all__ = ["Preparing"]

_OVER: Final = object()
_MOST_BRANCHES: Final = 3
_MOST_PREPARED: Final = 16  # worlds


class Preparing:
    """What is prepared for one request.

    Args:
        gameplay: the agent's.
        estimator: who asks for costs.
        outlooks: gives what is expected of the attempts that run, the outermost first.
    """

    __slots__ = ("_credit", "_epoch", "_estimator", "_gameplay", "_outlooks", "_stamp", "_timer", "_work", "_worlds")

    def __init__(self, gameplay: Gameplay, estimator: Estimator, outlooks: Callable[[], Sequence[Outlook]]) -> None:
        self._gameplay = gameplay
        self._estimator = estimator
        self._outlooks = outlooks
        self._worlds: list[World] = []  # in which something was decided in advance
        self._work: Iterator[None] | None = None
        self._timer: Timer | None = None
        self._credit = 0  # of asks; negative if the last one took more than there was
        self._stamp = -1  # as of when the work was laid out
        self._epoch = 0  # of the estimator: what was prepared before a failure is worth nothing

    def lay_out(self) -> None:
        """What is next is otherwise: prepare that from the next tick on."""
        self._work = None
        self.arm()

    def arm(self) -> None:
        """Go on in the next tick, if there is anything to prepare."""
        if self._timer is None and self._gameplay.prepare_asks > 0 and self._outlooks():
            self._timer = self._gameplay.kernel.call_later(1, self._prepare)

    def close(self) -> None:
        """The request is over."""
        self._worlds = []
        self._work = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be prepared."""
        return self._timer is None

    def _prepare(self) -> None:
        """Ask as much as a tick allows, and go on in the next one."""
        self._timer = None
        if self._work is None or self._stamp != self._gameplay.stamp:
            self._stamp = self._gameplay.stamp
            self._work = self._steps()
        self._credit = min(self._credit, 0) + self._gameplay.prepare_asks
        while self._credit > 0:
            before = self._estimator.asked
            if self._is_over(self._work):
                return  # all is prepared, until something happens
            spent = self._estimator.asked - before
            self._credit -= spent
            if spent and not self._gameplay.spare(spent):
                break
        self.arm()

    def _is_over(self, work: Iterator[None]) -> bool:
        """Go on by one step; a hook that raises ends it, and is no harm to who will decide."""
        try:
            return next(work, _OVER) is _OVER
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._gameplay.fault("preparing", "estimate", error)
            return True

    def _steps(self) -> Iterator[None]:
        for rank in range(_MOST_BRANCHES):
            yield from self._branch(rank)

    def _branch(self, rank: int) -> Iterator[None]:
        """Decide in advance what comes if one of the branches of the innermost attempt comes true."""
        estimator, depth = self._estimator, self._gameplay.lookahead
        outlooks = tuple(self._outlooks())
        world = estimator.world
        for index in range(len(outlooks) - 1, -1, -1):
            outlook = outlooks[index]
            is_innermost = index == len(outlooks) - 1
            branch, left = outlook.left(rank if is_innermost else 0)
            if is_innermost and rank and branch is None:
                return
            chain = outlook.attempt.chain()
            for need in left:
                yield from self._decide(need, chain, world)
                world = after(estimator, need, world, depth)
            if left and not is_innermost:
                return
            if outlook.attempt.above is None:
                return
            world = outcome(estimator, outlook.attempt.wanted, branch, (), world, depth)
            yield

    def _decide(
        self, need: Dependency[Any], chain: Sequence[tuple[Provider, Dependency[Any]]], world: World
    ) -> Iterator[None]:
        if self._estimator.is_met(need, world):
            return
        is_kept = False
        for provider in self._gameplay.catalog.of(type(need)):
            is_kept = self._estimator.price(provider, need, chain, None, world)[1] or is_kept
            yield
        if is_kept:
            self._gameplay.foreseen.prepared += 1
            if world.state is not None and world not in self._worlds:
                self._worlds = [*self._worlds, world][-_MOST_PREPARED:]

    def take_over(self) -> None:
        """If the world is one that was assumed, what was found out in it holds."""
        gameplay, estimator = self._gameplay, self._estimator
        if self._epoch != estimator.epoch:
            self._epoch = estimator.epoch
            self._worlds = []
        if not self._worlds:
            return
        real = gameplay.layer(None)
        kept: list[World] = []
        taken = 0
        for world in self._worlds:
            fields = None if world.state is None else is_as_assumed(world.state, real)
            if fields is None:
                kept.append(world)
            else:
                taken += take_over(world, estimator.world, fields, gameplay.versions, gameplay.stamp)
        gameplay.foreseen.taken += taken > 0
        self._worlds = kept
