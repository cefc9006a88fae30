"""The gameplay of an agent: its strategies, and one call for everything that can be asked for.

``await agent.gameplay.collect("diamond", 7)``: for each dependency that a loaded strategy provides there is a call of
that name, and one for each strategy by its own name (``agent.gameplay.mine_ore(...)``), so that any node of the
dependency map can be the entry point. The calls are made when a strategy is loaded, with the signature and the text of
what they stand for.

A request runs beside the agent's plan (as ``agent.perform`` does). In a plan a dependency is an activity like any
other: ``step("gameplay:collect", item="log")``.

Source: seed 003, "Plugins"; design section 6, "one generated call per dependency".

The settings of an agent's gameplay: what may be set, and to what.

A setting that nobody reads, because its name has a slip, or one that is read as something else, because it is a text,
would change what the agent does without a word. So each is checked when it is set.

Who has a gameplay: the agent, as strategies see it.

Strategies stand below the agent, which composes them with its other drivers; what they need of it is named here, and
no more. Tests that need no runtime give them something smaller.

Source: design section 1, the floors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from agentrt.activity.author.expected import Current
from agentrt.activity.plan.tree import Unit
from agentrt.errors import ArgumentError, did_you_mean
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import at_once
from agentrt.strategy.catalog import Calls, Catalog, Provider
from agentrt.strategy.context import Order, StrategyContext
from agentrt.strategy.declare import Params, Topics, required
from agentrt.strategy.estimate import Estimator
from agentrt.strategy.lookahead import Foreseen, Looking, forecast_need
from agentrt.strategy.requests import Request, Solvers, await_request
from agentrt.strategy.solve import Postponed
from agentrt.strategy.triggers import Opportunity, Trigger, Triggers, lookout
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.author.arguments import Fields
    from agentrt.activity.author.expected import CurrentFields, StateReader
    from agentrt.activity.plan.planner import Planner
    from agentrt.activity.plan.search import SearchWork
    from agentrt.body.flags import FlagLedger
    from agentrt.kernel.kernel import Kernel
    from agentrt.strategy.declare import Dependency, Strategy
    from agentrt.strategy.solve import Solving
    from agentrt.strategy.tree import TaskNode

__all__ = ["check_setting", "GameplayOwner", "MOST_FINISHED", "Gameplay"]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_order(value: object) -> bool:
    return isinstance(value, Order)


_COUNT: Final = "a whole number, 0 or more"
_SWITCH: Final = "True or False"
_SETTINGS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "lookahead": (_is_count, _COUNT),
    "most_asks": (_is_count, _COUNT),
    "prepare_asks": (_is_count, _COUNT),
    "takes_options": (_is_switch, _SWITCH),
    "corrects": (_is_switch, _SWITCH),
    "order": (_is_order, "Order.CHEAPEST or another Order"),
}


def check_setting(name: str, value: object, *, is_known: bool) -> None:
    """Check what somebody sets on ``agent.gameplay``.

    Args:
        is_known: whether there is such an attribute.

    Raises:
        ArgumentError: there is no such setting, or it takes something else.
    """
    setting = _SETTINGS.get(name)
    if setting is not None and not setting[0](value):
        raise ArgumentError("gameplay", name, f"takes {setting[1]}, not {repr_of(value)}.")
    if not is_known:
        near = did_you_mean(name, _SETTINGS)
        raise ArgumentError("gameplay", name, f"is no setting.{near} There are {', '.join(_SETTINGS)}.")


class GameplayOwner(Protocol):
    """The agent, as its gameplay sees it."""

    name: str
    entity: Any
    expected: type[CurrentFields] | None
    planner: Planner | None
    flags: FlagLedger

    @property
    def kernel(self) -> Kernel | None:
        """Who keeps its time; None while it is in no runtime."""
        ...

    @property
    def search(self) -> SearchWork | None:
        """The think budget that it shares with all others; None outside a runtime."""
        ...

    @property
    def read_state(self) -> StateReader:
        """How to read a field of the entity's state."""
        ...

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A hook of a strategy raised: report it once."""

    def require_life(self, activity: str) -> Planner:
        """Its planner; raises if it is in no runtime."""
        ...

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake of its runtime; from any thread."""

    def signal(self, name: str) -> Signal:
        """A signal of the entity."""
        ...

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, until the function that ``connect`` is given is called; from any thread."""

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have its plan know how to perform the activity of a dependency; returns how to undo that."""
        ...


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
