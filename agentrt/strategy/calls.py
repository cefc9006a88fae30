"""The generated calls: one for each dependency and one for each strategy, by their names.

They are made from what is loaded when they are asked for, so that a strategy that was loaded a moment ago has its call,
and they have the signature and the text of what they stand for.

Source: seed 003, "Plugins": the generated function call; "Hierarchy": any node can be an entry point.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from agentrt.errors import ArgumentError, UnknownDependencyError

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Calls"]

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
