"""What a strategy finds when it is asked: the world as it is or as it is assumed, and what else would cost.

An ``Ask`` belongs to one question and is not kept. It never changes anything.

Source: seed 003, "Planning Ahead Using Probability", assuming the most likely state of the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from agentrt.errors import ArgumentError
from agentrt.strategy import assuming
from agentrt.strategy.dependency import required
from agentrt.strategy.supplies import amounts_of, enough
from agentrt.strategy.worlds import World
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.params import Params
    from agentrt.strategy.strategy import Branch, Expect

__all__ = ["Ask", "Cannot"]


@final
class Cannot(BaseException):
    """What ``ask.cannot`` raises. Control flow; let it pass."""

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


class Ask:
    """What ``estimate``, ``foresee``, ``is_met`` get as their first argument.

    Args:
        estimator: who asks.
        world: the world as it is assumed.
        depth: how many levels further it may be looked ahead.
        wanted: the dependency that it is about; None outside ``estimate`` and ``foresee``.

    Attributes:
        world, depth, wanted: as given.
    """

    __slots__ = ("_estimator", "_state", "depth", "wanted", "world")

    def __init__(self, estimator: Estimator, world: World, depth: int, wanted: Dependency[Any] | None = None) -> None:
        self._estimator: Estimator = estimator
        self.world: World = world
        self.depth: int = depth
        self.wanted: Dependency[Any] | None = wanted
        self._state: Current | None = None

    # --- the world ----------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Any:
        """The agent."""
        return self._estimator.gameplay.agent

    @property
    def entity(self) -> Any:
        """The entity, as it is."""
        return self._estimator.gameplay.agent.entity

    @property
    def params(self) -> Params:
        """The global parameters."""
        return self._estimator.params

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._estimator.gameplay.kernel.clock

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the seed's name for it
        """The state that the entity has, or is assumed to have. What is written to it is lost."""
        if self._state is None:
            self._state = self._estimator.gameplay.layer(self.world.state)
        return self._state

    @property
    def is_assumed(self) -> bool:
        """Whether the world is not as it is, but as look-ahead assumes it."""
        return self.world.state is not None

    def reads(self, *topics: str) -> None:
        """What is said depends on topics, besides those that are declared.

        Args:
            topics: their names; see ``agent.gameplay.changed``.

        Raises:
            ArgumentError: nothing is called so that changes, and something is called nearly so.
        """
        wrong = self._estimator.gameplay.topics.is_read(topics)
        if wrong:
            raise ArgumentError("ask.reads", "topics", f"are not right: {wrong}")
        self._estimator.read(topics)

    # --- costs --------------------------------------------------------------------------------------------------------

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be provided now.

        Args:
            reason: why, in words; shown in trees and errors.

        Raises:
            Cannot: always; let it pass.
        """
        raise Cannot(reason)

    def is_met(self, wanted: Dependency[Any]) -> bool:
        """Whether a dependency holds.

        Args:
            wanted: the dependency.
        """
        return self._estimator.is_met(wanted, self.world)

    def cost(self, wanted: Dependency[Any]) -> float:
        """What a dependency would cost.

        Args:
            wanted: the dependency.

        Returns:
            The expected game seconds: 0 if it is met, infinity if nobody can provide it.
        """
        required("ask.cost", wanted)
        choice = self._estimator.choose(wanted, self.world, self.depth)
        if choice.cost == inf:
            self._estimator.lacks(wanted, choice.circle)
        return choice.cost

    def can(self, wanted: Dependency[Any]) -> bool:
        """Whether anybody can provide a dependency, or it is met.

        Args:
            wanted: the dependency.
        """
        return self.cost(wanted) < inf

    def total(self, needs: Iterable[Dependency[Any]]) -> float:
        """What several dependencies would cost, one after the other, each in the world that the ones before it leave.

        Args:
            needs: the dependencies, in order.

        Returns:
            The expected game seconds; infinity if one of them cannot be provided.
        """
        total, world = 0.0, self.world
        last: Dependency[Any] | None = None
        with self._estimator.deciding():
            for need in needs:
                required("ask.total", need)
                if last is not None:
                    world = assuming.after(self._estimator, last, world, self.depth)
                choice = self._estimator.choose(need, world, self.depth)
                if choice.cost == inf:
                    self._estimator.lacks(need, choice.circle)
                    return inf
                total += choice.cost
                last = need
        return total

    def option(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]]) -> float:
        """What something would cost with or without an optional dependency before it, whichever is less.

        Args:
            wanted: the optional dependency.
            then: what is to be done anyway.

        Returns:
            The expected game seconds of the cheaper way.

        Source: seed 003, "Optional Dependencies": calculated twice, the smaller is selected.
        """
        with self._estimator.deciding():
            return min(self.total(then), self.total((wanted, *then)))

    def expected(self, branches: Iterable[Branch]) -> float:
        """The expected cost of what may come of a strategy.

        It is the mean over the branches of their own costs and those of their needs. A branch that fails, or that needs
        what nobody can provide, costs its own, and what the next best strategy would cost; with nobody else it counts
        as tried again until it succeeds.

        Args:
            branches: what it foresees.

        Returns:
            The expected game seconds; infinity if no branch can succeed.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        found = assuming.checked(branches)
        total = shares = lost = succeeds = 0.0
        with self._estimator.deciding():
            self._estimator.foresees(found)
            for branch in found:
                if branch.probability > 0:
                    shares += branch.probability
                    needs = self.total(branch.needs)
                    total += branch.probability * (branch.cost + (needs if needs < inf else 0.0))
                    if branch.fails or needs == inf:
                        lost += branch.probability
                    else:
                        succeeds += branch.probability
            if not succeeds:
                return inf
            if lost and self.wanted is not None:
                instead = self.cost(self.wanted)  # whoever asks is in a circle there: this is what all others cost
                if instead < inf:
                    return (total + lost * instead) / shares
        return total / succeeds

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up for dependencies, one after the other.

        Args:
            wanted: the dependencies.
            confidence: how certain it has to be that it is enough, from 0 to less than 1.

        Returns:
            The least amounts that are enough, by name; without those of which nothing is needed.

        Raises:
            ArgumentError: the confidence is out of its range.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        with self._estimator.deciding():
            return enough(amounts_of(self._estimator, wanted, self.world, self.depth), confidence)

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: World | None = None) -> World:
        """The world in which a dependency has been met.

        Args:
            need: the dependency.
            world: the world before; None for that of this question.

        Returns:
            The same world, if it is met, or if nobody says what holds then.
        """
        return assuming.after(self._estimator, need, world or self.world, self.depth)

    def when(self, expect: Expect, world: World | None = None) -> World:
        """The world in which fields of CURRENT have other values.

        Args:
            expect: the fields, or a function that writes them.
            world: the world before; None for that of this question.

        Raises:
            ExpectedStateError: there is no such field, or it takes another type.
        """
        before = world or self.world
        layer = self._estimator.gameplay.layer(before.state)
        assuming.write_expected(layer, expect)
        return World(layer)

    def within(self, world: World) -> Ask:
        """The same questions in another world: ``ask.within(ask.after(Collect("axe"))).cost(Collect("log"))``.

        Args:
            world: the world, as ``after`` or ``when`` made it.
        """
        return Ask(self._estimator, world, self.depth, self.wanted)
