"""The catalog: which strategies an agent has, by the dependencies that they provide.

For each class of dependencies there is one list, open to everybody: a strategy joins the lists of what it provides, and
whoever needs the dependency considers all that are in the list at that moment. Order is the order of loading, which
breaks ties of cost. What is loaded several times (by two packs, say) is one entry as long as one of them holds it.

Injection lists are the narrower kind of the seed: a strategy names lists of its own (``Smelt.fuels``), others join them
by that name (``injects``), and the owner has a say in who is tried and in which order. A list that nobody has joined is
empty; joining a list whose owner is not loaded has no effect until it is.

Source: seed 003, "Hard Dependencies": "Injection Based Task Selection", "Global Dependency Lists".

The generated calls: one for each dependency and one for each strategy, by their names.

They are made from what is loaded when they are asked for, so that a strategy that was loaded a moment ago has its call,
and they have the signature and the text of what they stand for.

Source: seed 003, "Plugins": the generated function call; "Hierarchy": any node can be an entry point.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, UnknownDependencyError, did_you_mean
from agentrt.strategy.declare import near
from agentrt.words import error_words, repr_of

if TYPE_CHECKING:
    from agentrt.strategy.declare import Dependency, Strategy, StrategySpec, Topics
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Calls", "Catalog", "Provider"]

R = TypeVar("R")


class Calls:
    """The generated calls, for one place: the agent, a strategy that runs, or other global parameters.

    Args:
        gameplay: whose.
        solve: solves a dependency from that place, by one strategy or by anybody.
    """

    __slots__ = ("_gameplay", "_solve")

    def __init__(self, gameplay: Gameplay, solve: Callable[[Any, Provider | None], Awaitable[Any]]) -> None:
        self._gameplay: Gameplay = gameplay
        self._solve: Callable[[Any, Provider | None], Awaitable[Any]] = solve

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency; typed, where the generated calls are known at run time only.

        Args:
            wanted: the dependency.

        Returns:
            An awaitable for what the strategy that provided it returned. It raises ``DependencyFailedError``.
        """
        return self._solve(wanted, None)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)
        for wanted in self._gameplay.catalog.dependencies:
            if wanted.call == name:
                return self._made(name, wanted, None)
        provider = self._gameplay.catalog.named(name)
        if provider is None:
            raise UnknownDependencyError(name, self._gameplay.agent.name, dir(self))
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
        catalog = self._gameplay.catalog
        names = [wanted.call for wanted in catalog.dependencies]
        return [*names, *(one.spec.name for one in catalog.providers if one.spec.name not in names)]


class Provider:
    """A strategy that an agent has.

    Args:
        number: its place in the order of loading.
    """

    __slots__ = ("holds", "number", "oracle", "spec")

    def __init__(self, spec: StrategySpec, number: int) -> None:
        self.spec: StrategySpec = spec
        self.number: int = number
        self.oracle: Strategy = spec.cls()  # the instance that is asked what it would cost
        self.holds: int = 0  # how many times it was loaded

    def __repr__(self) -> str:
        return f"<Provider {self.spec.name} #{self.number}>"


class Catalog:
    """The strategies of one agent."""

    __slots__ = ("_by_dependency", "_by_name", "_counter", "_lists", "_providers", "reserved", "topics", "version")

    def __init__(self) -> None:
        self.version: int = 0  # changes whenever a strategy comes or goes
        # names that no call may have, since the gameplay has something else of that name
        self.reserved: frozenset[str] = frozenset()
        # the words that are known, besides what strategies read; None if nobody minds
        self.topics: Topics | None = None
        self._providers: dict[type[Strategy], Provider] = {}
        self._by_dependency: dict[type[Dependency[Any]], tuple[Provider, ...]] = {}
        self._by_name: dict[str, Provider] = {}
        self._lists: dict[str, tuple[Provider, ...]] = {}
        self._counter = 0

    def add(self, cls: type[Strategy]) -> Provider:
        """Load a strategy, or hold it once more.

        Raises:
            DefinitionError: another one of its name is loaded, a name is reserved, or it cannot be made.
        """
        provider = self._providers.get(cls)
        if provider is None:
            spec = self._checked(cls)
            self._counter += 1
            try:
                provider = Provider(spec, self._counter)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                raise DefinitionError(
                    spec.subject, f"it cannot be made: {error_words(error)}.", "Give it no arguments."
                ) from error
            self._providers[cls] = provider
            self._changed()
        provider.holds += 1
        return provider

    def check(self, strategies: Iterable[type[Strategy]], without: Collection[type[Strategy]] = ()) -> None:
        """Find out whether strategies can be loaded; nothing changes.

        Args:
            without: strategies that will have been let go of once before.

        Raises:
            DefinitionError: as for ``add``.
        """
        trial = Catalog()
        trial.reserved, trial.topics = self.reserved, self.topics
        trial._providers = {cls: one for cls, one in self._providers.items() if cls not in without or one.holds > 1}
        trial._changed()
        for cls in strategies:
            if cls not in trial._providers:
                trial.add(cls)

    def _checked(self, cls: type[Strategy]) -> StrategySpec:
        spec: StrategySpec | None = getattr(cls, "spec", None)
        if spec is None or spec.cls is not cls:
            subject = f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"
            raise DefinitionError(subject, "it is no strategy.", "Subclass Strategy and say what it 'provides'.")
        other = self._by_name.get(spec.name)
        if other is not None:
            raise DefinitionError(
                spec.subject, f"{other.spec.subject} is called {spec.name!r}, too.", "Give it a 'name' of its own."
            )
        for name in (spec.name, *(wanted.call for wanted in spec.provides)):
            if name in self.reserved:
                raise DefinitionError(
                    spec.subject,
                    f"its call would be 'agent.gameplay.{name}', which is something else.",
                    "Give it another name; or another activity, of which the last word is the call.",
                )
        for wanted in spec.provides:
            known = (*self._by_dependency, *spec.provides)
            namesake = next((one for one in known if one.call == wanted.call and one is not wanted), None)
            if namesake is not None:
                raise DefinitionError(
                    spec.subject,
                    f"{wanted.__qualname__} and {namesake.__qualname__} are both called {wanted.call!r}.",
                    "Give one of them another activity: class Collect(Dependency, activity='mine:collect').",
                )
        if self.topics is not None:
            for reads in (cls.reads, *(wanted.reads for wanted in spec.provides)):
                wrong = self.topics.is_read(reads or ())
                if wrong:
                    raise DefinitionError(spec.subject, f"of what it reads, {wrong}", "Write the word that is changed.")
        return spec

    def remove(self, cls: type[Strategy]) -> None:
        """Let go of a strategy once; when nobody holds it any more, it is not considered from then on."""
        provider = self._providers.get(cls)
        if provider is not None:
            provider.holds -= 1
            if provider.holds <= 0:
                del self._providers[cls]
                self._changed()

    def _changed(self) -> None:
        self.version += 1
        lists: dict[type[Dependency[Any]], list[Provider]] = {}
        joined: dict[str, list[Provider]] = {}
        for provider in self._providers.values():
            for wanted in provider.spec.provides:
                lists.setdefault(wanted, []).append(provider)
            for name in provider.spec.cls.injects:
                joined.setdefault(name, []).append(provider)
        self._by_dependency = {wanted: tuple(found) for wanted, found in lists.items()}
        self._by_name = {provider.spec.name: provider for provider in self._providers.values()}
        self._lists = {name: tuple(found) for name, found in joined.items()}

    # --- looking up ---------------------------------------------------------------------------------------------------

    @property
    def providers(self) -> tuple[Provider, ...]:
        """All of them, in the order of loading."""
        return tuple(self._providers.values())

    @property
    def dependencies(self) -> tuple[type[Dependency[Any]], ...]:
        """The classes of dependencies that anybody provides, in the order in which they were first loaded."""
        return tuple(self._by_dependency)

    def of(self, wanted: type[Dependency[Any]]) -> tuple[Provider, ...]:
        """Who provides a dependency, in the order of loading."""
        return self._by_dependency.get(wanted, ())

    def named(self, name: str) -> Provider | None:
        """The strategy of a name; None if there is none."""
        return self._by_name.get(name)

    def provider(self, cls: type[Strategy]) -> Provider | None:
        """The entry of a strategy; None if it is not loaded."""
        return self._providers.get(cls)

    def joined(self, name: str, method: str = "joined") -> tuple[Provider, ...]:
        """Who joined a list, in the order of loading.

        Args:
            name: of the list, such as ``"Smelt.fuels"``. One that nobody has joined is empty.
            method: what was called, for the error.

        Raises:
            ArgumentError: nobody has joined it, and somebody has joined one that is called nearly so.
        """
        found = self._lists.get(name)
        if found is None:
            meant = near(name, self._lists)
            if meant:
                known = " or ".join(repr(one) for one in meant)
                raise ArgumentError(method, "among", f"{name!r} is a list that nobody joins. Did you mean {known}?")
        return found or ()

    def chosen(self, among: Iterable[type[Strategy]], wanted: type[Dependency[Any]], method: str) -> list[Provider]:
        """Who of some strategies is loaded; those that are not may be so later.

        Args:
            method: what was called, for the error.

        Raises:
            ArgumentError: it is something else than classes of strategies that provide it.
        """
        given: object = among
        if isinstance(given, type) or not isinstance(given, Iterable):
            raise ArgumentError(
                method, "among", f"takes a list of strategies, not {repr_of(given, 200)}. Write [Mine]."
            )
        found: list[Provider] = []
        for cls in among:
            one: object = cls
            spec: StrategySpec | None = getattr(one, "spec", None) if isinstance(one, type) else None
            if spec is None or spec.cls is not cls:
                meant = ""
                if isinstance(one, str):
                    named = self._by_name.get(one)
                    known = did_you_mean(one, self._by_name)
                    meant = known if named is None else f" Write the class: {named.spec.cls.__name__}."
                raise ArgumentError(method, "among", f"has {repr_of(one, 200)}, which is no strategy.{meant}")
            if wanted not in spec.provides:
                provides = ", ".join(one.__qualname__ for one in spec.provides)
                raise ArgumentError(
                    method, "among", f"has {cls.__qualname__}, which provides {provides} and not {wanted.__qualname__}."
                )
            if cls in self._providers:
                found.append(self._providers[cls])
        return found
