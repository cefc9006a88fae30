"""Strategies: what authors write to provide dependencies, and what they are given while that runs.

A strategy says which dependencies it provides, what it would cost, and what it would need, and is run as a coroutine in
which it may have further dependencies solved. It is a class, or made of a coroutine function by ``@strategy(...)``;
what it declares is read once, when it is defined. Rules:

* What a strategy costs is always a number of *game seconds* that is to be expected, so that strategies whose authors
  never met can be compared. There are three ways to say it, from the roughest to the finest; the finest counts::

      cost = 30.0                        a constant
      def foresee(self, ask, wanted)     what may come of it: branches with probabilities, needs and effects
      def estimate(self, ask, wanted)    any computation; None, or ask.cannot(why), for "cannot"

* ``estimate`` and ``foresee`` are asked often, of one shared instance, and must not change anything; ``run`` has an
  instance of its own, so that an author may keep things on ``self``.
* ``run`` gets a ``StrategyContext``: all that an action can, and having dependencies solved. What is solved runs below
  the strategy in the plan of its agent, one thing at a time: awaiting a second one while the first is being solved is a
  ``WrongStateError``, as with ``execute``.
* A parent has a say in who is tried (``rank``), and it is checked: what it picks is something that it was offered, or
  nobody would ever be tried and nobody be told why.
* For each dependency and each strategy that is loaded there is a *generated call* (``Calls``) with its signature and
  its text. They are made when they are asked for, so that what was loaded a moment ago has its call.

A context is a handle over a *seat*: the attempt that runs the strategy. So nothing here knows how anything is solved.
Strategies, offers, calls and the context are in one module because authors' signatures go round: a strategy is run with
a context, which has others solved, of which offers name the strategies.

Source: prismarine-gameplay: "Plugins", "Global Dependency Lists", "Orderless Dependencies", "Optional Dependencies",
"Hierarchy".
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeVar, final

from agentrt.activity.author.action import ActionSpec, default_hook
from agentrt.activity.author.context import Context
from agentrt.activity.author.control import Abort, Flow, is_on_own_stack, require_own_stack
from agentrt.body.slips import check_class
from agentrt.errors import ArgumentError, DefinitionError, UnknownDependencyError
from agentrt.kernel.fork import Fork
from agentrt.kernel.traps import at_once
from agentrt.strategy.dependency import Ask, Branch, Dependency, Params, check_topics, required, snake_case, words
from agentrt.strategy.tree import Outcome, TaskNode
from agentrt.words import class_name, repr_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit

R = TypeVar("R")

_HOOKS = {  # with what they are called
    "run": ("ctx", "wanted"),
    "estimate": ("ask", "wanted"),
    "foresee": ("ask", "wanted"),
    "interrupted": ("ctx", "interruption"),
}
_STRANGE = {  # words that authors bring along, and what they are here
    "does": "provides", "execute": "run", "on_interrupt": "interrupted", "on_run": "run", "priority": "cost",
    "solve": "run", "timeout": "patience", "utility": "cost",
}  # fmt: skip
LONGEST_COST = 1e9  # game seconds; more is a mistake


class Interruption(NamedTuple):
    """Something that came up."""

    name: str
    value: Any = None  # what was said with it


class Interruptible(StrEnum):
    """What a strategy supports when something comes up while it is the one that runs.

    Source: prismarine-gameplay: "Pauseable/Cancelable Tasks".
    """

    PAUSE = "pause"  # it stands still at the await where it is, and goes on there afterwards
    RESTART = "restart"  # it is cancelled, and run again from its beginning afterwards
    WAIT = "wait"  # neither: what came up waits until it is completed, with all that is solved below it
    TREE = "tree"  # whatever runs below it is cancelled too, and it is run again from its own beginning afterwards


@final
class Fail(Flow):
    """The strategy cannot provide what it was run for: the next one is tried."""

    method = "fail"


@final
class BeginAgain(Flow):
    """The strategy begins again."""

    method = "restart"


class Strategy:
    """A way to provide one or several dependencies. Subclass it.

    Its hooks are given the dependency that is wanted; and before it, to look at the world as it is or is assumed, an
    ``Ask``, or to act in it, a ``StrategyContext``: ``await ctx.solve(Find("log"))``, and all that an action can.

    Source: prismarine-gameplay: "Plugins".
    """

    # the class of dependencies that it provides, or several; a class without any is a base class
    provides: ClassVar[type[Dependency[Any]] | Collection[type[Dependency[Any]]]] = ()
    name: ClassVar[str] = ""  # for tools and the generated call: that of its class in lower case with underscores
    cost: ClassVar[float | None] = None  # what it is expected to take, in game seconds, if it says nothing finer
    # the topics that ``estimate`` and ``foresee`` look at (see ``agent.gameplay.changed``), so that what they said is
    # kept until one of them changes; None if that is not known: then it is asked in each decision
    reads: ClassVar[Collection[str] | None] = None
    interruption: ClassVar[Interruptible] = Interruptible.RESTART  # what it supports when something comes up
    flags: ClassVar[Collection[str]] = ()  # that it holds while it runs, shared with what it has solved
    # after how many game seconds of its own (without those of what it has solved, and of interruptions) it counts as
    # hanging, is cancelled and fails; what it shields is waited for. None for ten times what it said that it costs, and
    # at least a minute
    patience: ClassVar[float | None] = None
    injects: ClassVar[Collection[str]] = ()  # the lists of other strategies that it joins: ``("Smelt.fuels",)``
    status_text_key: ClassVar[str | None] = None  # under which the game finds words for what the agent does

    spec: ClassVar[StrategySpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class(cls, class_name(cls), _STRANGE)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)
        if cls.provides:
            cls.spec = StrategySpec(cls)

    @default_hook
    def estimate(self, ask: Ask, wanted: Any) -> float | None:
        """What it would cost now, with all that it would need: the expected game seconds, or None if it cannot do it.

        The ask tells of the world, and of the costs of further dependencies: ``ask.cost(Find("log"))``.
        """
        if hasattr(type(self).foresee, "is_default_hook"):
            return type(self).cost
        return ask.expected(self.foresee(ask, wanted))

    @default_hook
    def foresee(self, ask: Ask, wanted: Any) -> Iterable[Branch]:
        """What may come of it, as branches; none if it cannot do it.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        return ()

    async def run(self, ctx: StrategyContext, wanted: Any) -> Any:
        """Do it: provide what is wanted, and return what solving that gives. Whatever it raises is a failure."""

    @default_hook
    def interrupted(self, ctx: StrategyContext, interruption: Interruption) -> None:
        """Something came up while it, or something below it, was run; it has been dealt with. Look at the world again.

        The strategy that was interrupted is told first, then those above it. Raise ``ctx.fail(why)`` if there is no
        sense in going on, ``ctx.restart()`` to begin again.

        Source: prismarine-gameplay: "Interrupting Tasks": a message to all parent tasks.
        """


class StrategySpec:
    """What a class of strategies declares, checked."""

    __slots__ = ("asks", "carriers", "cls", "foresees", "hears", "label", "name", "provides", "subject")

    def __init__(self, cls: type[Strategy]) -> None:
        self.cls: type[Strategy] = cls
        self.subject: str = class_name(cls)  # its module and name, for errors
        self.name: str = cls.name  # what the generated call is called
        self.label: str = words(cls.__name__)  # what trees call it, in words
        given: Any = cls.provides
        # the classes of dependencies
        self.provides: tuple[type[Dependency[Any]], ...] = tuple(given) if isinstance(given, Collection) else (given,)
        self.foresees: bool = not hasattr(cls.foresee, "is_default_hook")  # whether it has the hook ``foresee``
        # whether it has ``estimate`` or ``foresee``; else its constant counts
        self.asks: bool = self.foresees or not hasattr(cls.estimate, "is_default_hook")
        self.hears: bool = not hasattr(cls.interrupted, "is_default_hook")  # whether it has the hook ``interrupted``
        # what the planner runs for each of the dependencies; made when it is first needed
        self.carriers: dict[type[Dependency[Any]], ActionSpec] = {}
        for what, instead in self._mistakes():
            raise DefinitionError(self.subject, what, instead)

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        """What is wrong, and what to write instead."""
        cls = self.cls
        declared: tuple[object, ...] = self.provides
        for one in declared:
            if not (isinstance(one, type) and issubclass(one, Dependency)):
                yield f"it provides {one!r}.", "Name classes of dependencies: provides = Collect."
            elif not one.activity:
                yield f"it provides {one.__name__}, which is a base class.", "Name its subclasses."
        named: object = self.name
        if not (isinstance(named, str) and named.isidentifier()):
            yield f"its name is {repr_of(named)}.", "Write one such as 'mine_ore'."
        if cls.run is Strategy.run:
            yield "it has no 'run'.", "Write: async def run(self, ctx, wanted)."
        if not self.asks and cls.cost is None:
            yield "nothing says what it costs.", "Give it a 'cost' in game seconds, 'foresee' or 'estimate'."
        for name, parameters in _HOOKS.items():
            self._check_hook(name, parameters)
        for what, given in (("cost", cls.cost), ("patience", cls.patience)):
            seconds: object = given
            if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= LONGEST_COST):
                yield f"its {what} is {seconds!r}.", "Write game seconds, 0 or more."
        for what, names in (("reads", cls.reads), ("flags", cls.flags), ("injects", cls.injects)):
            check_topics(self.subject, what, names)
        supported: object = cls.interruption
        if not isinstance(supported, Interruptible):
            yield f"its interruption is {supported!r}.", "Write Interruptible.PAUSE or another."

    def _check_hook(self, name: str, parameters: tuple[str, ...]) -> None:
        hook = getattr(self.cls, name)
        function, own = getattr(hook, "function", hook), ("self",)[: not hasattr(hook, "function")]
        if inspect.iscoroutinefunction(inspect.unwrap(function)) is not (name == "run"):
            word = "an 'async def'" if name == "run" else "a plain 'def', not 'async def'"
            raise DefinitionError(self.subject, f"{name} has the wrong kind.", f"Make it {word}.")
        try:
            inspect.signature(function).bind(*own, *parameters)
        except TypeError as error:
            instead = f"Write {name}({', '.join((*own, *parameters))})."
            raise DefinitionError(self.subject, f"{name} cannot be called: {error}.", instead) from error


Runs = Callable[..., Coroutine[Any, Any, Any]]


def strategy(
    *provides: type[Dependency[Any]],
    name: str | None = None,
    cost: float | None = None,
    estimate: Callable[[Ask, Any], float | None] | None = None,
    foresee: Callable[[Ask, Any], Iterable[Branch]] | None = None,
    reads: Collection[str] | None = None,
    interruption: Interruptible = Interruptible.RESTART,
    flags: Collection[str] = (),
    patience: float | None = None,
    injects: Collection[str] = (),
    status_text_key: str | None = None,
) -> Callable[[Runs], type[Strategy]]:
    """Make a strategy of a coroutine function ``run(ctx, wanted)``; a decorator.

    Args:
        provides: what it provides.
        name: what tools and the generated call use; None for the name of the function.
        estimate, foresee: functions of (ask, wanted).
        cost, reads, interruption, flags, patience, injects, status_text_key: as for ``Strategy``.

    Returns:
        The decorator, which gives the class of the strategy.

    Raises:
        DefinitionError: as for a class.

    Source: prismarine-gameplay: "Plugins".
    """

    def decorate(run: Runs) -> type[Strategy]:
        namespace: dict[str, Any] = {"name": run.__name__ if name is None else name, "run": _method(run)}
        namespace.update(provides=provides, cost=cost, reads=reads, interruption=interruption, patience=patience)
        namespace.update(flags=tuple(flags), injects=tuple(injects), status_text_key=status_text_key)
        namespace.update(__doc__=run.__doc__, __module__=run.__module__, __qualname__=run.__qualname__)
        if estimate is not None:
            namespace["estimate"] = _method(estimate)
        if foresee is not None:
            namespace["foresee"] = _method(foresee)
        title = "".join(part.capitalize() for part in str(namespace["name"]).split("_"))
        return type(title, (Strategy,), namespace)

    return decorate


def _method(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A function as a method of a strategy that keeps nothing on itself."""

    def method(_: Strategy, context: Any, wanted: Any) -> Any:
        return function(context, wanted)

    method.function = function  # type: ignore[attr-defined]
    return method


# --- who provides, and what they say ----------------------------------------------------------------------------------


class Provider:
    """A strategy that an agent has."""

    __slots__ = ("holds", "number", "oracle", "spec")

    def __init__(self, spec: StrategySpec, number: int) -> None:
        self.spec: StrategySpec = spec
        self.number: int = number  # its place in the order of loading
        self.oracle: Strategy = spec.cls()  # the instance that is asked what it would cost
        self.holds: int = 0  # how many times it was loaded

    def __repr__(self) -> str:
        return f"<Provider {self.spec.name} #{self.number}>"


class Offer(NamedTuple):
    """What a strategy said when it was asked to provide a dependency."""

    provider: Provider
    cost: float  # the expected game seconds; infinity if it cannot
    reason: str = ""  # why it cannot; empty if it can
    said: float | None = None  # the game seconds that it said, before that was corrected; None if nothing was
    circle: str = ""  # the circle of needs because of which it cannot, in words; empty if there is none


Rank = Callable[[Sequence[Offer]], Iterable[Offer]]
"""How a parent has a say: from the offers of those that can, the cheapest first, to those that it will have tried."""


def check_rank(method: str, rank: object) -> None:
    """Raise ``ArgumentError`` if a parent's say is no function, or one that waits."""
    if rank is not None and (not callable(rank) or inspect.iscoroutinefunction(rank)):
        meant = "Write a plain function: rank=lambda offers: offers[:2]."
        raise ArgumentError(method, "rank", f"takes a function of the offers, not {repr_of(rank)}. {meant}")


def ranked(rank: Rank, offers: Sequence[Offer], failed: Collection[Provider]) -> list[Offer]:
    """What a parent says to offers, of those that can and of those that cannot.

    Those that are to be tried come first, in the parent's order, then all others, which cannot or were left out. It may
    have kept offers of those that failed: they are passed over. What is no offer is an ``ArgumentError``.
    """
    able = {offer.provider: offer for offer in offers if offer.cost < inf}
    asked = {*failed, *(offer.provider for offer in offers)}
    picked = _several(rank(tuple(able.values())))
    chosen: dict[Provider, Offer] = {}
    for one in picked:
        if not isinstance(one, Offer) or one.provider not in asked:
            wrong = f"gave {repr_of(one, 200)}, which is none of the offers."
            instead = "of those that it was given: rank=lambda offers: [one for one in offers if one.cost < 20]."
            raise ArgumentError("ctx.solve", "rank", f"{wrong} Let it return a list {instead}")
        if one.provider in able:
            chosen[one.provider] = able[one.provider]
    left = [offer for offer in offers if offer.provider not in chosen]
    return [*chosen.values(), *(one._replace(cost=inf, reason=one.reason or "it was left out") for one in left)]


def _several(given: object) -> list[Any]:
    """What an author's function gave as several; what is none is one that is no offer."""
    if inspect.iscoroutine(given):
        given.close()
        return [given]
    if isinstance(given, (str, bytes, Offer)) or not isinstance(given, Iterable):
        return [repr_of(given, 200) if isinstance(given, Offer) else given]
    return list(given)


# --- the generated calls ----------------------------------------------------------------------------------------------


class _Listing(Protocol):
    """What is loaded, as the generated calls see it: a ``Catalog``."""

    dependencies: tuple[type[Dependency[Any]], ...]
    providers: tuple[Provider, ...]

    def named(self, name: str) -> Provider | None: ...


class Calls:
    """The generated calls, for one place: the agent, a strategy that runs, or other global parameters."""

    __slots__ = ("_listing", "_name", "_solve")

    def __init__(self, listing: _Listing, name: str, solve: Callable[[Any, Provider | None], Awaitable[Any]]) -> None:
        self._listing = listing  # what is loaded
        self._name = name  # the agent's, for errors
        self._solve = solve  # solves a dependency from that place, by one strategy or by anybody

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency; typed, where the generated calls are known at run time only. Await what that gives."""
        return self._solve(wanted, None)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)
        for wanted in self._listing.dependencies:
            if wanted.call == name:
                return self._made(name, wanted, None)
        provider = self._listing.named(name)
        if provider is None:
            raise UnknownDependencyError(name, self._name, dir(self))
        only = provider.spec.provides[0] if len(provider.spec.provides) == 1 else None
        return self._made(name, only, provider)

    def _made(
        self, name: str, kind: type[Dependency[Any]] | None, provider: Provider | None
    ) -> Callable[..., Awaitable[Any]]:
        def call(*args: Any, **values: Any) -> Awaitable[Any]:
            provides = (kind,) if provider is None else provider.spec.provides
            if len(args) == 1 and not values and type(args[0]) in provides:
                return self._solve(args[0], provider)
            if kind is None:
                names = " or ".join(one.__qualname__ for one in provides if one is not None)
                raise ArgumentError(name, "wanted", f"is missing: give it a {names}, since it provides several.")
            return self._solve(kind(*args, **values), provider)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = inspect.getdoc(kind if provider is None else provider.spec.cls)
        if kind is not None:
            call.__signature__ = kind.call_signature()  # type: ignore[attr-defined]
        return call

    def __dir__(self) -> list[str]:
        names = [wanted.call for wanted in self._listing.dependencies]
        return [*names, *(one.spec.name for one in self._listing.providers if one.spec.name not in names)]


# --- what a strategy is given -----------------------------------------------------------------------------------------


class Order(StrEnum):
    """In which order several dependencies are solved that do not depend on each other.

    Source: prismarine-gameplay: "Orderless Dependencies".
    """

    GIVEN = "given"
    CHEAPEST = "cheapest"  # first, as it looks natural
    DEAREST = "dearest"  # first, to have it out of the way
    EXCEPTIONAL = "exceptional"  # as CHEAPEST, but one that costs three times as much as all others comes first


class _AttemptSeat(Protocol):
    """What a context is a handle of: the ``Attempt`` that runs its strategy, which explains these."""

    node: TaskNode
    outcome: Outcome
    interruptions: int
    is_hearing: bool

    @property
    def order(self) -> Order: ...

    def ask(self) -> Ask: ...

    def cost(self, wanted: Dependency[Any]) -> float: ...

    def next_of(self, wanted: Sequence[Dependency[Any]], order: Order) -> int: ...

    def supplies(self, wanted: Sequence[Dependency[Any]], confidence: float) -> dict[str, float]: ...

    async def rest(self) -> None: ...

    async def solve(
        self, wanted: Dependency[R], among: str | Iterable[type[Strategy]] | None, rank: Rank | None
    ) -> R: ...

    async def solve_if_worth(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]], limit: float) -> bool: ...

    async def perform(self, activity: str, args: Mapping[str, Any]) -> Any: ...

    def give_up(self, flow: Flow) -> None: ...

    def beside(self, coro: Coroutine[Any, Any, Any]) -> Any: ...


class StrategyContext(Context):
    """What a strategy gets as the first argument of ``run`` and ``interrupted``."""

    __slots__ = ("_attempt",)

    def __init__(self, unit: Unit, attempt: _AttemptSeat) -> None:
        super().__init__(unit)
        self._attempt = attempt

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def gameplay(self) -> Calls:
        """The generated calls, for dependencies of this strategy: ``await ctx.gameplay.find("log")``."""

        def solve(wanted: Dependency[Any], provider: Provider | None) -> Awaitable[Any]:
            return self.solve(wanted, among=None if provider is None else (provider.spec.cls,))

        return Calls(self.agent.gameplay.catalog, self.agent.name, solve)

    @property
    def params(self) -> Params:
        """The global parameters of the request."""
        return self.ask.params

    @property
    def interruptions(self) -> int:
        """How many times something came up while it, or one below it, ran: if more, the world may be otherwise."""
        return self._attempt.interruptions

    @property
    def node(self) -> TaskNode:
        """Its node in the task tree."""
        return self._attempt.node

    @property
    def ask(self) -> Ask:
        """The world and what things would cost, as ``estimate`` sees them."""
        return self._attempt.ask()

    def _fork(self, method: str, waits: tuple[Awaitable[Any], ...]) -> Fork:
        return Fork(self._home.kernel, method, waits, self._attempt.beside)  # they stand still when it does

    # --- solving ------------------------------------------------------------------------------------------------------

    async def solve(
        self, wanted: Dependency[R], *, among: str | Iterable[type[Strategy]] | None = None, rank: Rank | None = None
    ) -> R:
        """Have a dependency solved, and get what the strategy that provided it returned.

        Args:
            wanted: the dependency.
            among: who may provide it: the name of an injection list, such as ``"Smelt.fuels"``, or classes of
                strategies; None for all that provide it.
            rank: picks from the offers of those that can, the cheapest first, and orders them.

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
        return await self._attempt.solve(wanted, among, rank)

    async def solve_all(self, wanted: Iterable[Dependency[Any]], order: Order | None = None) -> list[Any]:
        """Have several dependencies solved that do not depend on each other; gives what each gave, in the order given.

        They are solved in an ``order``, by default that of the agent's gameplay; costs are asked anew after each.
        ``DependencyFailedError`` if one of them could not be solved.

        Source: prismarine-gameplay: "Orderless Dependencies".
        """
        await at_once(is_dear=True)
        left = list(enumerate(wanted))
        required("ctx.solve_all", *(one for _, one in left))
        order = self._attempt.order if order is None else order
        found: dict[int, Any] = {}
        while left:
            index, chosen = left.pop(self._attempt.next_of([one for _, one in left], order))
            found[index] = await self.solve(chosen)
        return [found[index] for index in sorted(found)]

    async def solve_if_worth(
        self, wanted: Dependency[Any], then: Sequence[Dependency[Any]], *, limit: float = inf
    ) -> bool:
        """Have an optional dependency solved, if what is to be done anyway is cheaper with it; whether it holds now.

        It is priced twice, without and with it, where "with" counts what the dependency itself costs, and "without"
        that nobody provides it. If solving it fails, nothing is lost but the time.

        Args:
            wanted: the optional dependency.
            then: what is to be done anyway; that may be what this strategy itself is run for.
            limit: the most that it may cost by itself, in game seconds.

        Source: prismarine-gameplay: "Optional Dependencies".
        """
        await at_once(is_dear=True)
        required("ctx.solve_if_worth", wanted)
        given: object = then
        if not isinstance(given, Sequence):
            raise ArgumentError("ctx.solve_if_worth", "then", "takes a list of dependencies. Write [Build()].")
        required("ctx.solve_if_worth", *then)
        self._own("solve_if_worth")
        await self._attempt.rest()
        return await self._attempt.solve_if_worth(wanted, then, limit)

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency now: 0 if it is met, infinity if nobody can provide it."""
        required("ctx.cost", wanted)
        return self._attempt.cost(wanted)

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up: the least amounts that are enough, by name, such as ``{"wooden_pickaxe": 2.4}``.

        Args:
            wanted: for these dependencies, one after the other; none for what this strategy and those above it will
                still use in the request, as they foresee it.
            confidence: how certain it has to be that it is enough, from 0 to less than 1.

        Raises:
            ArgumentError: the confidence is out of its range.

        Source: prismarine-gameplay: "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
        """
        return self._attempt.supplies(wanted, confidence)

    async def execute(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
        """Think and run a plain activity of the agent, anew if something of it was taken; gives the think output.

        Raises:
            WrongStateError: the strategy does not run, or has something else done at this moment.
            ActivityImpossibleError: no action can perform it now.
            ActivityAbortedError: it was aborted.
            ArgumentError: the arguments do not fit.
        """
        await at_once(is_dear=True)
        self._own("execute")
        await self._attempt.rest()
        return await self._attempt.perform(activity, {**(args or {}), **more})

    # --- giving up ----------------------------------------------------------------------------------------------------

    def fail(self, reason: str) -> NoReturn:
        """The strategy cannot provide what it was run for; the next one is tried.

        In its own ``run`` and ``interrupted`` it raises ``Fail``: let it pass. From anywhere else (a callback, another
        strand, another thread) it returns, and the strategy fails all the same, if it still runs.

        The reason, in words, is shown in trees and errors.

        Source: prismarine-gameplay: "Task Failure".
        """
        self._ask_for(Fail(reason, self._tell))

    def restart(self, reason: str = "") -> NoReturn:
        """The strategy is unwound, and in the next tick the choice is made anew: begins again, if it still is the best.

        It raises ``BeginAgain`` where ``fail`` would raise, and returns elsewhere.

        Source: prismarine-gameplay: "Pauseable/Cancelable Tasks".
        """
        self._ask_for(BeginAgain(reason, self._tell))

    def _ask_for(self, flow: Flow) -> NoReturn:
        if self._attempt.is_hearing and is_on_own_stack(self._seat):
            raise flow
        super()._ask_for(flow)

    def _obey(self, flow: Flow) -> None:
        if isinstance(flow, Abort):
            super()._obey(flow)
        elif self._attempt.outcome is Outcome.RUNNING:
            self._attempt.give_up(flow)

    def _own(self, method: str) -> None:
        self._running(method)
        require_own_stack(self._seat, method)

    def __repr__(self) -> str:
        return f"<StrategyContext of {self._attempt!r}>"
