"""The context of a strategy: all that an action can, and having dependencies solved.

What is solved runs below the strategy in the plan of its agent, one thing at a time: awaiting a second one while the
first is being solved is a ``WrongStateError``, as with ``execute``.

Source: seed 003, "Plugins", "Orderless Dependencies", "Optional Dependencies".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from agentrt.activity.author.context import Context
from agentrt.activity.author.control import Abort, Flow, is_on_own_stack, require_own_stack
from agentrt.activity.plan.spawned import Spawned
from agentrt.errors import ActivityAbortedError, ArgumentError, DependencyFailedError
from agentrt.kernel.traps import at_once, next_tick
from agentrt.strategy.declare import Fail, Restart, label_of, required
from agentrt.strategy.estimate import Ask, check_rank
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode, seconds
from agentrt.strategy.worlds import enough
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.catalog import Calls, Provider
    from agentrt.strategy.declare import Dependency, Params, Strategy
    from agentrt.strategy.estimate import Chain
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.solve import Rank

__all__ = ["Order", "StrategyContext"]

R = TypeVar("R")

_EXCEPTIONAL = 3.0  # times what all others cost together


class Order(StrEnum):
    """In which order several dependencies are solved that do not depend on each other.

    Source: seed 003, "Orderless Dependencies".
    """

    GIVEN = "given"
    CHEAPEST = "cheapest"
    """The cheapest first, as it looks natural."""
    DEAREST = "dearest"
    """The dearest first, to have it out of the way."""
    EXCEPTIONAL = "exceptional"
    """The cheapest first; but one that costs three times as much as all others together comes before them."""


class StrategyContext(Context):
    """What a strategy gets as the first argument of ``run`` and ``interrupted``.

    Args:
        unit: its place in the plan.
        attempt: its attempt.
    """

    __slots__ = ("_attempt", "_carrier")

    def __init__(self, unit: Unit, attempt: Attempt) -> None:
        super().__init__(unit)
        self._attempt: Attempt = attempt
        self._carrier: Unit = unit  # its place in the plan; whoever solves for it asks more of that than a context does

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def gameplay(self) -> Calls:
        """The generated calls, for dependencies of this strategy: ``await ctx.gameplay.find("log")``."""
        return self._gameplay.calls(self)

    @property
    def params(self) -> Params:
        """The global parameters of the request."""
        return self._attempt.solving.estimator.params

    @property
    def interruptions(self) -> int:
        """How many times something came up while this strategy, or one below it, ran. Compare to see whether the world
        may be otherwise.
        """  # noqa: D205
        return self._attempt.interruptions

    @property
    def node(self) -> TaskNode:
        """Its node in the task tree."""
        return self._attempt.node

    @property
    def ask(self) -> Ask:
        """The world and what things would cost, as ``estimate`` sees them."""
        estimator = self._attempt.solving.estimator
        return Ask(estimator, estimator.world, self._gameplay.lookahead)

    @property
    def _gameplay(self) -> Gameplay:
        return self._attempt.solving.gameplay

    # --- solving ------------------------------------------------------------------------------------------------------

    async def solve(
        self,
        wanted: Dependency[R],
        *,
        among: str | Iterable[type[Strategy]] | None = None,
        rank: Rank | None = None,
    ) -> R:
        """Have a dependency solved.

        Args:
            wanted: the dependency.
            among: who may provide it: the name of an injection list, such as ``"Smelt.fuels"``, or classes of
                strategies; None for all that provide it.
            rank: picks from the offers of those that can, the cheapest first, and orders them.

        Returns:
            What the strategy that provided it returned.

        Raises:
            DependencyFailedError: it could not be solved.
            ActivityAbortedError: it is awaited behind a shield, while the strategy is unwound.
            WrongStateError: the strategy does not run, or has something else solved at this moment.
        """
        await at_once(is_dear=True)  # it may be met already, or refused
        required("ctx.solve", wanted)
        check_rank("ctx.solve", rank)
        self._own("solve")
        await self._attempt.rest()
        solving = self._attempt.solving
        found: R = await solving.solve(
            self._carrier, wanted, self._attempt, among=self._among(among, wanted), rank=rank
        )
        return found

    def _among(self, among: str | Iterable[type[Strategy]] | None, wanted: Dependency[Any]) -> list[Provider] | None:
        if among is None:
            return None
        catalog = self._gameplay.catalog
        if isinstance(among, str):
            return [one for one in catalog.joined(among, "ctx.solve") if type(wanted) in one.spec.provides]
        return catalog.chosen(among, type(wanted), "ctx.solve")

    async def solve_all(self, wanted: Iterable[Dependency[Any]], order: Order | None = None) -> list[Any]:
        """Have several dependencies solved that do not depend on each other.

        Args:
            wanted: the dependencies.
            order: in which order; None for that of the agent's gameplay. Costs are asked anew after each.

        Returns:
            What solving each of them gave, in the order in which they were given.

        Raises:
            DependencyFailedError: one of them could not be solved.

        Source: seed 003, "Orderless Dependencies".
        """
        await at_once(is_dear=True)
        order = self._gameplay.order if order is None else order
        left = list(enumerate(wanted))
        required("ctx.solve_all", *(one for _, one in left))
        found: dict[int, Any] = {}
        while left:
            chosen = self._next_of(left, order)
            left.remove(chosen)
            found[chosen[0]] = await self.solve(chosen[1])
        return [found[index] for index in sorted(found)]

    def _next_of(self, left: Sequence[tuple[int, Dependency[Any]]], order: Order) -> tuple[int, Dependency[Any]]:
        if order is Order.GIVEN or len(left) == 1:
            return left[0]
        costs = self._prices(*((wanted,) for _, wanted in left))
        dearest = max(range(len(left)), key=lambda index: (costs[index], -index))
        if order is Order.DEAREST:
            return left[dearest]
        others = sum(cost for index, cost in enumerate(costs) if index != dearest)
        if order is Order.EXCEPTIONAL and costs[dearest] < inf and costs[dearest] > _EXCEPTIONAL * others:
            return left[dearest]
        return left[min(range(len(left)), key=lambda index: (costs[index], index))]

    async def solve_if_worth(
        self, wanted: Dependency[Any], then: Sequence[Dependency[Any]], *, limit: float = inf
    ) -> bool:
        """Have an optional dependency solved, if what is to be done anyway is cheaper with it.

        It is priced twice, without and with it, where "with" counts what the dependency itself costs, and "without"
        that nobody provides it. If solving it fails, nothing is lost but the time.

        Args:
            wanted: the optional dependency.
            then: what is to be done anyway; that may be what this strategy itself is run for.
            limit: the most that it may cost by itself, in game seconds.

        Returns:
            Whether it holds now.

        Source: seed 003, "Optional Dependencies".
        """
        await at_once(is_dear=True)
        required("ctx.solve_if_worth", wanted)
        given: object = then
        if not isinstance(given, Sequence):
            raise ArgumentError("ctx.solve_if_worth", "then", "takes a list of dependencies. Write [Build()].")
        required("ctx.solve_if_worth", *then)
        self._own("solve_if_worth")
        await self._attempt.rest()
        if not self._gameplay.takes_options:
            return False
        if self.ask.is_met(wanted):
            return True
        chain = [who for who in self._attempt.chain() if who[1] not in then]
        own, having = self._prices((wanted,), (wanted, *then), chain=chain)
        # What is done anyway may count on the option by itself: without it means that nobody provides it.
        nobody = [(provider, wanted) for provider in self._gameplay.catalog.of(type(wanted))]
        without = self._prices(then, chain=[*chain, *nobody])[0]
        node = TaskNode(NodeKind.OPTION, f"Option {label_of(wanted)}", self._attempt.node, wanted)
        node.cost = own
        if own > limit or having >= without:
            gain = f"{seconds(having)} with it, {seconds(without)} without"
            reason = f"{seconds(own)} is too dear" if own > limit else gain
            node.end(Outcome.SKIPPED, self._gameplay.tick, reason)
            return False
        solving = self._attempt.solving
        try:
            await solving.solve(self._carrier, wanted, self._attempt, node=node)
        except DependencyFailedError:
            return False
        return True

    def cost(self, wanted: Dependency[Any]) -> float:
        """What a dependency would cost now.

        Args:
            wanted: the dependency.

        Returns:
            The expected game seconds: 0 if it is met, infinity if nobody can provide it.
        """
        required("ctx.cost", wanted)
        return self._prices((wanted,))[0]

    def _prices(self, *needs: Sequence[Dependency[Any]], chain: Chain | None = None) -> list[float]:
        """What several lists of needs would cost below this strategy, where nobody who runs is asked for the same."""
        with self._attempt.solving.estimator.deciding(self._attempt.chain() if chain is None else chain):
            ask = self.ask
            return [ask.total(one) for one in needs]

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up: for dependencies, or for all that is still to come in the request.

        Args:
            wanted: the dependencies, one after the other; none for what this strategy and those above it will still
                use, as they foresee it.
            confidence: how certain it has to be that it is enough, from 0 to less than 1.

        Returns:
            The least amounts that are enough, by name, such as ``{"wooden_pickaxe": 2.4}``; without those of which
            nothing is needed.

        Raises:
            ArgumentError: the confidence is out of its range.

        Source: seed 003, "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
        """
        solving = self._attempt.solving
        if wanted:
            with solving.estimator.deciding(self._attempt.chain()):
                return self.ask.supplies(*wanted, confidence=confidence)
        return enough(solving.foresight.supplies(self._attempt), confidence)

    async def execute(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
        """Think and run a plain activity of the agent; when something of it was taken, it is begun again.

        Args:
            activity: what to perform.
            args: its arguments.
            more: its arguments, by name.

        Returns:
            The think output of the action that performed it.

        Raises:
            WrongStateError: the strategy does not run, or has something else done at this moment.
            ActivityImpossibleError: no action can perform it now.
            ActivityAbortedError: it was aborted.
            ArgumentError: the arguments do not fit.
        """
        await at_once(is_dear=True)
        self._own("execute")
        attempt = self._attempt
        await attempt.rest()
        node = TaskNode(NodeKind.ACTIVITY, activity, attempt.node)
        node.begin(self._gameplay.tick)
        try:
            output, was_interrupted = None, True
            while was_interrupted:
                frame = Spawned(self._carrier, activity, {**(args or {}), **more}, catches=True)
                attempt.executed = frame
                attempt.time.stop()
                try:
                    output = await frame.execute()
                    was_interrupted = attempt.executed is None
                except ActivityAbortedError:
                    if not frame.was_taken:
                        raise
                    await next_tick()
                finally:
                    attempt.time.go()
                    attempt.executed = None
                await attempt.solving.interruptions.breakpoint(self._carrier, attempt.node, attempt)
        except BaseException as error:
            is_failure = isinstance(error, Exception)
            outcome = Outcome.FAILED if is_failure else Outcome.CANCELLED
            reason = words_of(getattr(error, "reason", error)) if is_failure else ""
            node.end(outcome, self._gameplay.tick, reason)
            raise
        node.end(Outcome.DONE, self._gameplay.tick)
        return output

    # --- giving up ----------------------------------------------------------------------------------------------------

    def fail(self, reason: str) -> NoReturn:
        """The strategy cannot provide what it was run for; the next one is tried.

        In its own ``run`` and ``interrupted`` it raises. From anywhere else (a callback, another strand, another
        thread) it returns, and the strategy fails all the same; if it does not run any more, nothing happens.

        Args:
            reason: why, in words; shown in trees and errors.

        Raises:
            Fail: the strategy itself calls it; let it pass. For anybody else, in any thread, it returns.

        Source: seed 003, "Task Failure".
        """
        self._ask_for(Fail(reason, self._tell))

    def restart(self, reason: str = "") -> NoReturn:
        """The strategy is unwound, and in the next tick the choice is made anew: begins again, if it still is the best.

        From anywhere else than its own ``run`` and ``interrupted`` it returns, as ``fail`` does.

        Args:
            reason: why, in words.

        Raises:
            Restart: the strategy itself calls it; let it pass. For anybody else, in any thread, it returns.

        Source: seed 003, "Pauseable/Cancelable Tasks".
        """
        self._ask_for(Restart(reason, self._tell))

    def _ask_for(self, flow: Flow) -> NoReturn:
        if self._attempt.is_hearing and is_on_own_stack(self._carrier):
            raise flow
        super()._ask_for(flow)

    def _obey(self, flow: Flow) -> None:
        if isinstance(flow, Abort):
            super()._obey(flow)
        elif self._attempt.outcome is Outcome.RUNNING:
            self._attempt.give_up(flow)

    def _own(self, method: str) -> None:
        self._running(method)
        require_own_stack(self._carrier, method)

    def __repr__(self) -> str:
        return f"<StrategyContext of {self._attempt!r}>"
