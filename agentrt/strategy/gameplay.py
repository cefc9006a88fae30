"""The gameplay of an agent: its strategies, and one call for everything that can be asked for.

``await agent.gameplay.collect("diamond", 7)``: for each dependency that a loaded strategy provides there is a call of
that name, and one for each strategy by its own name (``agent.gameplay.mine_ore(...)``), so that any node of the
dependency map can be the entry point. The calls are made when a strategy is loaded, with the signature and the text of
what they stand for.

A request runs beside the agent's plan (as ``agent.perform`` does). In a plan a dependency is an activity like any
other: ``step("gameplay:collect", item="log")``.

Source: seed 003, "Plugins"; design section 6, "one generated call per dependency".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agentrt.activity.current import Current
from agentrt.activity.unit import Unit
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import at_once
from agentrt.strategy.calls import Calls
from agentrt.strategy.catalog import Catalog, Provider
from agentrt.strategy.context import Order, StrategyContext
from agentrt.strategy.dependency import required
from agentrt.strategy.entry import Solvers
from agentrt.strategy.estimating import Estimator
from agentrt.strategy.forecast import Foreseen, forecast_need
from agentrt.strategy.looking import Looking
from agentrt.strategy.opportunities import Opportunity, lookout
from agentrt.strategy.params import Params
from agentrt.strategy.postponing import Postponed
from agentrt.strategy.requests import Request, await_request
from agentrt.strategy.settings import check_setting
from agentrt.strategy.topics import Topics
from agentrt.strategy.triggers import Trigger, Triggers

if TYPE_CHECKING:
    from agentrt.activity.fields import Fields
    from agentrt.kernel.kernel import Kernel
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.owner import GameplayOwner
    from agentrt.strategy.solving import Solving
    from agentrt.strategy.strategy import Strategy
    from agentrt.strategy.tree import TaskNode

__all__ = ["MOST_FINISHED", "Gameplay"]

MOST_FINISHED: Final = 8
"""How many task trees of requests that are over are kept."""

R = TypeVar("R")


class Gameplay(Looking):
    """The strategies of one agent, and what they are asked for. ``agent.gameplay``.

    Args:
        agent: whose.

    Attributes:
        agent: as given.
        catalog: the strategies that it has.
        takes_options: whether optional dependencies are considered.
        order: in which order dependencies are solved that do not depend on each other.
        changes: emitted whenever something changed that estimates rest on.
        running: the requests that are being solved, in the order in which they began; who looks at them in an estimate
            reads the topic "requests".
        finished: the task trees of the last ones that are over, the oldest first.
        triggers: what the agent looks out for.
        solvers: what its plan knows to have solved.
        postponed: what its plan does not try again for a while.
        topics: the words of ``changed`` and ``reads`` that are known.

    Source: seed 003, "Plugins".
    """

    def __init__(self, agent: GameplayOwner) -> None:
        super().__init__(agent)
        self.catalog: Catalog = Catalog()
        self.takes_options: bool = True
        self.order: Order = Order.CHEAPEST
        self.changes: Signal = Signal()
        self.running: tuple[Solving, ...] = ()
        self.finished: tuple[TaskNode, ...] = ()
        self._estimator: Estimator = Estimator(self, Params())
        self.solvers: Solvers = Solvers(agent)
        self.triggers: Triggers = Triggers(self)
        self._count = 0  # of the requests that began
        self.postponed: Postponed = Postponed()
        self.topics: Topics = Topics(self._field_names)
        self.catalog.reserved = frozenset(object.__dir__(self))
        self.catalog.topics = self.topics

    def __setattr__(self, name: str, value: object) -> None:
        known = self.__dict__
        check_setting(name, value, is_known="topics" not in known or name in known)
        is_other = name == "corrects" and known.get(name, value) != value
        super().__setattr__(name, value)
        if is_other:
            self.changed()  # nobody who was asked before has read that it would matter

    # --- strategies ---------------------------------------------------------------------------------------------------

    def add_strategy(self, *strategies: type[Strategy]) -> Callable[[], None]:
        """Load strategies. They are considered from the next decision on, by those that were loaded before, too.

        Args:
            strategies: their classes.

        Returns:
            A function that takes them away again. One that runs then runs to its end.

        Raises:
            DefinitionError: one is no strategy, its name is taken, or the agent knows actions that do what it provides
                with other arguments; then none is loaded.

        Source: seed 003, "Plugins", `addStrategy`.
        """
        added: list[type[Strategy]] = []
        try:
            for cls in strategies:
                self.catalog.add(cls)
                added.append(cls)
            self._catalog_changed()
        except BaseException:
            for cls in added:
                self.catalog.remove(cls)
            self._catalog_changed()
            raise

        def remove() -> None:
            while added:
                self.catalog.remove(added.pop())
            self._catalog_changed()

        return remove

    def _catalog_changed(self) -> None:
        self.solvers.fit(self.catalog.dependencies)
        self.changed("strategies")

    def add_trigger(self, trigger: Trigger) -> Callable[[], None]:
        """Look out for something, as long as the agent lives; what is being solved is interrupted when it comes up.

        Args:
            trigger: what for.

        Returns:
            A function that ends it.

        Raises:
            DefinitionError: there is a trigger of that name.

        Source: seed 003, "Interrupting Tasks".
        """
        return self.triggers.add(trigger)

    def add_opportunity(self, opportunity: Opportunity) -> Callable[[], None]:
        """Look out for what lies by the way while something is being solved, and take it when that pays.

        Args:
            opportunity: what could be had.

        Returns:
            A function that ends it.

        Raises:
            DefinitionError: there is a trigger of that name.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        return self.triggers.add(lookout(self, opportunity))

    # --- parameters and topics ----------------------------------------------------------------------------------------

    @property
    def params(self) -> Params:
        """The global parameters of requests that have none of their own."""
        return self._estimator.params

    def set_params(self, declared: type[Fields] | None = None, /, **values: Any) -> None:
        """Set the global parameters, all of them; requests that run go on with what they began with.

        Args:
            declared: their types and defaults, a subclass of ``ActionArgs``; None for any names.
            values: by name.

        Raises:
            ArgumentError: a value is missing, unknown or of the wrong type.

        Source: seed 003, "Global Parameters".
        """
        self._estimator = Estimator(self, Params(declared, values))

    def using(self, **changes: Any) -> Calls:
        """The calls, with other values for some global parameters: ``agent.gameplay.using(xray=True).find("ore")``.

        Args:
            changes: by name.

        Raises:
            ArgumentError: a value is unknown or of the wrong type.
        """
        estimator = Estimator(self, self.params.using(changes))
        return Calls(self, lambda wanted, provider: self._request(wanted, provider, estimator))

    def changed(self, *topics: str) -> None:
        """Something changed that estimates rest on: what was found out by reading it is asked anew.

        Args:
            topics: what, as in the ``reads`` of strategies; none for everything.

        Raises:
            ArgumentError: nobody reads a topic, and somebody reads one that is called nearly so.
        """
        if topics:
            self.topics.changes(topics)
            self.count_change(*topics)
        else:
            self._estimator.forget()
            for solving in self.running:
                solving.estimator.forget()
        for solving in self.running:
            solving.foresight.stir()
        self.changes.emit()

    def add_topics(self, *topics: str) -> None:
        """Make words known as topics: they are right as they are, however near they come to others.

        Args:
            topics: the words.

        Raises:
            ArgumentError: one is no word.
        """
        self.topics.add(topics)

    def _field_names(self) -> list[str]:
        """The names of the fields of the entity, as far as they are known."""
        entity, expected = self.agent.entity, self.agent.expected
        names = dict.fromkeys(() if expected is None else expected.field_names())
        names.update(dict.fromkeys(getattr(entity, "__dict__", ())))
        names.update((one, None) for one in dir(type(entity)) if isinstance(getattr(type(entity), one, None), property))
        return [one for one in names if not one.startswith("_")]

    # --- asking -------------------------------------------------------------------------------------------------------

    def cost(self, wanted: Dependency[Any]) -> float:
        """What a dependency would cost now.

        Args:
            wanted: the dependency.

        Returns:
            The expected game seconds: 0 if it is met, infinity if nobody can provide it.
        """
        required("gameplay.cost", wanted)
        return self._estimator.cost(wanted)

    def offers(self, wanted: Dependency[Any]) -> list[tuple[str, float, str]]:
        """What each strategy says to a dependency, the cheapest first: name, game seconds, why it cannot.

        Args:
            wanted: the dependency.
        """
        required("gameplay.offers", wanted)
        return [(one.provider.spec.name, one.cost, one.reason) for one in self._estimator.offers(wanted)]

    def forecast(self, wanted: Dependency[Any]) -> Foreseen:
        """What is expected if a dependency is asked for now: the likeliest path, as far as the agent looks ahead.

        Args:
            wanted: the dependency.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        required("gameplay.forecast", wanted)
        with self._estimator.deciding():
            return forecast_need(self._estimator, wanted, self._estimator.world, self.lookahead)

    # --- requests -----------------------------------------------------------------------------------------------------

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency, beside the agent's plan. Await it in any coroutine that the runtime steps.

        Args:
            wanted: the dependency.

        Returns:
            An awaitable for what the strategy that provided it returned. It raises ``DependencyFailedError`` if it
            could not be solved, ``ActivityAbortedError`` if the agent ended.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
        """
        return self._request(wanted, None, self._estimator)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Calls(self, lambda wanted, provider: self._request(wanted, provider, self._estimator)), name)  # type: ignore[no-any-return]

    def __dir__(self) -> Iterable[str]:
        return [*object.__dir__(self), *dir(Calls(self, self._unplaced))]

    async def _unplaced(self, wanted: Any, provider: Provider | None) -> Any:
        return await self._request(wanted, provider, self._estimator)

    def calls(self, ctx: StrategyContext) -> Calls:
        """The calls for a strategy that runs.

        Args:
            ctx: its context.
        """

        def solve(wanted: Any, provider: Provider | None) -> Awaitable[Any]:
            return ctx.solve(wanted, among=None if provider is None else (provider.spec.cls,))

        return Calls(self, solve)

    def _request(self, wanted: Dependency[Any], provider: Provider | None, estimator: Estimator) -> Awaitable[Any]:
        self.agent.require_life(type(wanted).activity)
        return self._solve(wanted, provider, estimator)

    async def _solve(self, wanted: Dependency[Any], provider: Provider | None, estimator: Estimator) -> Any:
        await at_once(is_dear=True)
        return await await_request(Request(self, wanted, estimator, provider))

    def begin(self, wanted: Dependency[R], /, **params: Any) -> Request[R]:
        """Begin to solve a dependency, beside the agent's plan, without waiting for it. From any thread.

        Args:
            wanted: the dependency.
            params: other values for some global parameters.

        Returns:
            The request: pause it, resume it, cancel it, await it.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
            ArgumentError: a parameter is unknown or of the wrong type.
        """
        required("gameplay.begin", wanted)
        estimator = Estimator(self, self.params.using(params)) if params else self._estimator
        return Request(self, wanted, estimator)

    def began(self, solving: Solving) -> None:
        """A request begins to be solved.

        Args:
            solving: it.
        """
        self._count += 1
        solving.root.number = self._count
        self.running = (*self.running, solving)
        self.changed("requests")

    def ended(self, solving: Solving) -> None:
        """A request is over; its tree is kept for a while, to be looked at.

        Args:
            solving: it.
        """
        solving.foresight.close()
        self.running = tuple(one for one in self.running if one is not solving)
        self.finished = (*self.finished, solving.root)[-MOST_FINISHED:]
        self.changed("requests")
        for incident in solving.interruptions.take_rest():
            self.triggers.interrupt(incident)  # it still has to be dealt with

    # --- what its parts need ------------------------------------------------------------------------------------------

    @property
    def estimator(self) -> Estimator:
        """Who asks for costs, under the global parameters."""
        return self._estimator

    @property
    def kernel(self) -> Kernel:
        """Who keeps the time; the agent is part of a runtime."""
        kernel = self.agent.kernel
        assert kernel is not None
        return kernel

    @property
    def tick(self) -> int:
        """The tick that it is; 0 while the agent is in no runtime."""
        kernel = self.agent.kernel
        return 0 if kernel is None else kernel.clock.tick

    def held_by(self) -> list[Unit]:
        """The actions that hold control flags of the agent."""
        owners = [hold.owner for hold in self.agent.flags.holds().values()]
        return [owner for owner in owners if isinstance(owner, Unit)]

    def layer(self, below: Current | None) -> Current:
        """A new layer of CURRENT.

        Args:
            below: what it builds on; None for the entity as it is.
        """
        return Current(below, self.agent.entity, self.agent.read_state, self.agent.expected)

    def fault(self, place: str, hook: str, error: BaseException) -> None:
        """A hook of a strategy or a dependency raised: report it once.

        Args:
            place: which one.
            hook: the hook.
            error: what it raised.
        """
        self.agent.fault(f"gameplay/{place}", hook, error)

    def __repr__(self) -> str:
        return f"<Gameplay of {self.agent.name!r}: {len(self.catalog.providers)} strategies>"
