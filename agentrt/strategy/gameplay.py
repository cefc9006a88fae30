"""The gameplay of an agent: its strategies, and one call for everything that can be asked for. ``agent.gameplay``.

``await agent.gameplay.collect("diamond", 7)``: for each dependency that a loaded strategy provides there is a call of
that name, and one for each strategy by its own name (``agent.gameplay.mine_ore(...)``), so that any node of the
dependency map can be the entry point. A request runs beside the agent's plan (as ``agent.perform`` does). In a plan a
dependency is an activity like any other: ``step("gameplay:collect", item="log")``.

It is the door, and owns nothing but the parts behind it, none of which knows it.

* *Settings are checked when they are set.* One that nobody reads, because its name has a slip, or that is read as
  something else, because it is a text, would change what the agent does without a word. So there is no other attribute
  that could be set.
* A call may not have the name of anything that is here already; the catalog is told these names.

Rejected: a check of settings that tells construction from use by what is assigned already. It breaks with each field.

Source: prismarine-gameplay: "Plugins".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agentrt.errors import ArgumentError, did_you_mean
from agentrt.kernel.signals import Signal
from agentrt.strategy.ask import (
    Accuracy,
    Calls,
    Catalog,
    Dependency,
    Estimator,
    Foreseen,
    ForesightCounts,
    GameplayOwner,
    Order,
    Params,
    Provider,
    State,
    Strategy,
    forecast_need,
    required,
)
from agentrt.strategy.requests import Request, Solvers, await_request
from agentrt.strategy.solve import RequestTable, Solving, carrier_of
from agentrt.strategy.triggers import Opportunity, Trigger, Triggers, lookout
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.arguments import Fields
    from agentrt.strategy.ask import TaskNode

R = TypeVar("R")


def _setting(name: str, kind: tuple[Callable[[Any], bool], str], doc: str) -> Any:
    """One that may be set: a field of the state, which is checked when it is set."""
    takes, what = kind

    def read(gameplay: Gameplay) -> Any:
        return getattr(gameplay._state, name)

    def write(gameplay: Gameplay, value: object) -> None:
        if not takes(value):
            raise ArgumentError("gameplay", name, f"takes {what}, not {repr_of(value)}.")
        was = read(gameplay)
        setattr(gameplay._state, name, value)
        # Of all settings this one alone changes what was kept: nobody who was asked has read that it would matter.
        if name == "corrects" and value != was:
            gameplay.changed()

    return property(read, write, doc=doc)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_COUNT: Final = (_is_count, "a whole number, 0 or more")
_SWITCH: Final = (lambda value: isinstance(value, bool), "True or False")
_ORDER: Final = (lambda value: isinstance(value, Order), "Order.CHEAPEST or another Order")
_SETTINGS: Final = ("lookahead", "most_asks", "prepare_asks", "takes_options", "corrects", "order")


class Gameplay:
    """The strategies of one agent, and what they are asked for. ``agent.gameplay``.

    Source: prismarine-gameplay: "Plugins".
    """

    __slots__ = ("_state", "_table", "agent", "catalog", "changes", "solvers", "triggers")

    _state: State
    _table: RequestTable
    agent: GameplayOwner  # whose it is
    catalog: Catalog  # the strategies that it has
    changes: Signal  # emitted whenever something changed that estimates rest on
    solvers: Solvers  # what its plan knows to have solved
    triggers: Triggers  # what the agent looks out for

    lookahead: int = _setting(
        "lookahead", _COUNT, "How many levels of needs are looked ahead; 0 takes constants, and foresees nothing."
    )
    most_asks: int = _setting(
        "most_asks", _COUNT, "How often strategies are asked for one decision; after that it looks ahead no further."
    )
    prepare_asks: int = _setting(
        "prepare_asks", _COUNT, "How often they are asked in a tick, for each request, for later decisions; 0 for none."
    )
    takes_options: bool = _setting("takes_options", _SWITCH, "Whether optional dependencies are considered.")
    corrects: bool = _setting("corrects", _SWITCH, "Whether what strategies say is corrected by what they took before.")
    order: Order = _setting("order", _ORDER, "In which dependencies are solved that do not depend on each other.")

    def __init__(self, agent: GameplayOwner) -> None:
        state = State(agent)
        table = RequestTable(state)
        parts = {"_state": state, "_table": table, "agent": agent, "catalog": state.catalog, "changes": state.changes}
        for name, part in {**parts, "solvers": Solvers(table), "triggers": Triggers(table)}.items():
            setattr(self, name, part)
        state.catalog.reserved = frozenset(object.__dir__(self))

    def __setattr__(self, name: str, value: object) -> None:
        # Its parts are set once, by it or by whoever copies it.
        if name not in _SETTINGS and (name not in Gameplay.__slots__ or hasattr(self, name)):
            near = did_you_mean(name, _SETTINGS)
            raise ArgumentError("gameplay", name, f"is no setting.{near} There are {', '.join(_SETTINGS)}.")
        object.__setattr__(self, name, value)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def running(self) -> tuple[Solving, ...]:
        """The requests that are being solved, the first first; an estimate that looks at them reads "requests"."""
        return self._table.running

    @property
    def finished(self) -> tuple[TaskNode, ...]:
        """The task trees of the last ones that are over, the oldest first."""
        return self._table.finished

    @property
    def estimator(self) -> Estimator:
        """Who asks for costs, under the global parameters."""
        return self._table.estimator

    @property
    def foreseen(self) -> ForesightCounts:
        """How far what was foreseen came true."""
        return self._state.foreseen

    def accuracy(self) -> tuple[Accuracy, ...]:
        """What strategies said that they cost, beside what they took; of each that was completed."""
        return tuple(record.accuracy(spec.name) for spec, record in self._state.records.items())

    # --- strategies ---------------------------------------------------------------------------------------------------

    def add_strategy(self, *strategies: type[Strategy]) -> Callable[[], None]:
        """Load strategies. They are considered from the next decision on, by those that were loaded before, too.

        Gives a function that takes them away again. One that runs then runs to its end.

        Raises:
            DefinitionError: one is no strategy, its name is taken, or the agent knows actions that do what it provides
                with other arguments; then none is loaded.

        Source: prismarine-gameplay: "Plugins", `addStrategy`.
        """
        added: list[type[Strategy]] = []

        def remove() -> None:
            while added:
                self.catalog.remove(added.pop())
            self._catalog_changed()

        try:
            for cls in strategies:
                spec = self.catalog.add(cls).spec
                added.append(cls)
                for wanted in spec.provides:
                    carrier_of(spec, wanted)  # a class is made: now, and not amid a tick in which it is first needed
            self._catalog_changed()
        except BaseException:
            remove()
            raise
        return remove

    def _catalog_changed(self) -> None:
        self.solvers.fit(self.catalog.dependencies)
        self.changed("strategies")

    def add_trigger(self, trigger: Trigger) -> Callable[[], None]:
        """Look out for something, as long as the agent lives; what is being solved is interrupted when it comes up.

        Gives a function that ends it. ``DefinitionError`` if there is a trigger of that name.

        Source: prismarine-gameplay: "Interrupting Tasks".
        """
        return self.triggers.add(trigger)

    def add_opportunity(self, opportunity: Opportunity) -> Callable[[], None]:
        """Look out for what lies by the way while something is being solved, and take it when that pays.

        Gives a function that ends it. ``DefinitionError`` if there is a trigger of that name.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        return self.triggers.add(lookout(self._table, opportunity))

    # --- parameters and topics ----------------------------------------------------------------------------------------

    @property
    def params(self) -> Params:
        """The global parameters of requests that have none of their own."""
        return self._table.estimator.params

    def set_params(self, declared: type[Fields] | None = None, /, **values: Any) -> None:
        """Set the global parameters, all of them; requests that run go on with what they began with.

        What is ``declared``, a subclass of ``ActionArgs``, has their types and defaults; without it any names are
        right. A wrong value is an ``ArgumentError``.

        Source: prismarine-gameplay: "Global Parameters".
        """
        self._table.estimator = Estimator(self._state, Params(declared, values))

    def using(self, **changes: Any) -> Calls:
        """The calls, with other global parameters: ``agent.gameplay.using(xray=True).find("ore")``."""
        return self._calls(Estimator(self._state, self.params.using(changes)))

    def changed(self, *topics: str) -> None:
        """Topics changed, those of the ``reads`` of strategies; none for everything: what rests on them is asked anew.

        Raises:
            ArgumentError: nobody reads a topic, and somebody reads one that is called nearly so.
        """
        self._state.topics.changes(topics)
        self._table.changed(*topics)

    def add_topics(self, *topics: str) -> None:
        """Make words known as topics: they are right as they are, however near they come to others."""
        self._state.topics.add(topics)

    # --- asking -------------------------------------------------------------------------------------------------------

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency now: 0 if it is met, infinity if nobody can provide it."""
        required("gameplay.cost", wanted)
        return self._table.estimator.cost(wanted)

    def offers(self, wanted: Dependency[Any]) -> list[tuple[str, float, str]]:
        """What each strategy says to a dependency, the cheapest first: name, game seconds, why it cannot."""
        required("gameplay.offers", wanted)
        return [(one.provider.spec.name, one.cost, one.reason) for one in self._table.estimator.offers(wanted)]

    def forecast(self, wanted: Dependency[Any]) -> Foreseen:
        """The likeliest path if a dependency is asked for now, as far as the agent looks ahead.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        required("gameplay.forecast", wanted)
        estimator = self._table.estimator
        with estimator.deciding():
            return forecast_need(estimator, wanted, estimator.world, self._state.lookahead)

    # --- requests -----------------------------------------------------------------------------------------------------

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency, beside the agent's plan. Await it in any coroutine that the runtime steps.

        Returns:
            An awaitable for what the strategy that provided it returned. It raises ``DependencyFailedError`` if it
            could not be solved, ``ActivityAbortedError`` if the agent ended.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
        """
        return self._request(wanted, None, self._table.estimator)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"gameplay.{name} cannot be deleted.")

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_") or name in Gameplay.__slots__:
            raise AttributeError(name)
        call: Callable[..., Awaitable[Any]] = getattr(self._calls(self._table.estimator), name)
        return call

    def __dir__(self) -> Iterable[str]:
        return [*object.__dir__(self), *dir(self._calls(self._table.estimator))]

    def _calls(self, estimator: Estimator) -> Calls:
        def solve(wanted: Dependency[Any], provider: Provider | None) -> Awaitable[Any]:
            return self._request(wanted, provider, estimator)

        return Calls(self.catalog, self.agent.name, solve)

    def _request(self, wanted: Dependency[Any], provider: Provider | None, estimator: Estimator) -> Awaitable[Any]:
        self.agent.require_life(type(wanted).activity)  # here, and not when it is awaited
        return await_request(self._table, wanted, estimator, provider)

    def begin(self, wanted: Dependency[R], /, **params: Any) -> Request[R]:
        """Begin to solve a dependency, beside the agent's plan, without waiting for it. From any thread.

        The ``params`` are other values for some global parameters.

        Raises:
            NotRunningError: the agent is in no runtime, or ends.
            ArgumentError: a parameter is unknown or of the wrong type.
        """
        required("gameplay.begin", wanted)
        estimator = Estimator(self._state, self.params.using(params)) if params else self._table.estimator
        return Request(Solving(self._table, estimator, wanted))

    def __repr__(self) -> str:
        return f"<Gameplay of {self.agent.name!r}: {len(self.catalog.providers)} strategies>"
