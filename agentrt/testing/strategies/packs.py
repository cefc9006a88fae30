"""Packs at random: the content of a pack, what it requires, and a registry in which all of it is known.

A case has one content on top and a few registered packs below it, each of which requires only packs before it, so that
there is no circle. All aliases are of one mod, ``mod``. What an alias names is made when the registry is: an action, a
component that keeps its settings, an observer that waits for ever, a task group with one task, a strategy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from agentrt.activity.tasks.declare import TaskGroupAction, declare_task
from agentrt.kernel.traps import park
from agentrt.packs.registry import Manifest, Registry
from agentrt.strategy.declare import Strategy
from agentrt.strategy.dependency import Dependency
from agentrt.testing.strategies.schedules import Brief
from agentrt.testing.stubs import stub_action

__all__ = ["PackCase", "packs"]

_NAMES = ("a", "b", "c", "d")
_KEYS = ("actions", "observers", "task_groups", "strategies")
_MIXINTYPES = ("append", "override")


@dataclass(frozen=True, repr=False)
class PackCase(Brief):
    """A pack, and what it needs."""

    content: dict[str, Any]  # the pack, as JSON values
    required: dict[str, dict[str, Any]] = field(default_factory=dict)  # the packs that it may require, by their aliases

    def registry(self) -> Registry:
        """A new registry that knows everything that the case names."""
        things: dict[str, object] = {alias.removeprefix("mod:"): pack for alias, pack in self.required.items()}
        for name in _NAMES:
            things[f"actions:{name}"] = stub_action(f"mod:{name}", label=f"Act_{name}")
            things[f"components:{name}"] = _component(name)
            things[f"observers:{name}"] = _observer(name)
            things[f"task_groups:{name}"] = _group(name)
            things[f"strategies:{name}"] = _strategy(name)
        return Registry([Manifest("mod", things)])

    def named(self, kind: str) -> list[str]:
        """The aliases of a kind (``"actions"``...) that the pack and what it requires name, each once."""
        found: dict[str, None] = {}
        open_packs: list[Any] = [self.content]
        while open_packs:
            pack = open_packs.pop(0)
            content = self.required[pack] if isinstance(pack, str) else pack
            found.update(dict.fromkeys(alias for alias in content.get(kind, ()) if not alias.startswith("_")))
            open_packs += content.get("ai_packs", ())
        return list(found)


def packs(*, max_required: int = 2) -> st.SearchStrategy[PackCase]:
    """Packs that are valid, with so many registered packs at most that they may require."""

    @st.composite
    def cases(draw: st.DrawFn) -> PackCase:
        required: dict[str, dict[str, Any]] = {}
        for number in range(draw(st.integers(0, max_required))):
            required[f"mod:ai_pack:p{number}"] = draw(_contents(tuple(required), depth=1))
        return PackCase(draw(_contents(tuple(required), depth=2)), required)

    return cases()


@cache
def _contents(known: tuple[str, ...], depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """The content of a pack that can require known ones, and have others in place, so deep."""
    optional: dict[str, st.SearchStrategy[Any]] = {key: _aliases(key) for key in _KEYS}
    settings = st.fixed_dictionaries({}, optional={"size": st.integers(0, 3)})
    optional["components"] = st.one_of(
        _aliases("components"),
        st.dictionaries(st.sampled_from([f"mod:components:{name}" for name in _NAMES]), settings, max_size=2),
    )
    below = [st.sampled_from(known)] if known else []
    inline = [_contents(known, depth - 1)] if depth else []
    if below or inline:
        optional["ai_packs"] = st.lists(st.one_of(*below, *inline), max_size=2)
    optional["mixintypes"] = st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_MIXINTYPES), max_size=1)
    optional["type"] = st.just("ai_pack")
    optional["_comment"] = st.just("left alone")
    return st.fixed_dictionaries({}, optional=optional)


def _aliases(kind: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([f"mod:{kind}:{name}" for name in _NAMES]), unique=True, max_size=3)


# --- what the aliases name --------------------------------------------------------------------------------------------


def _component(name: str) -> type:
    class Component:
        def __init__(self, entity: object, **settings: object) -> None:
            self.settings: dict[str, object] = settings

    Component.__qualname__ = Component.__name__ = f"Component_{name}"
    return Component


def _observer(name: str) -> Any:
    async def observe(_agent: object) -> None:
        await park()

    observe.__qualname__ = observe.__name__ = f"observe_{name}"
    return observe


def _group(name: str) -> type[TaskGroupAction]:
    body = {"does": "mod:work", "utility": (0.0, 0.5), "tasks": [declare_task(f"mod:{name}", 0.5)]}
    return type(f"Group_{name}", (TaskGroupAction,), body)


class _Provided(Dependency[None], activity="mod:provided"):
    """What the strategies of such packs provide."""


def _strategy(name: str) -> type[Strategy]:
    async def run(_strategy: Strategy, _ctx: object, _wanted: object) -> None:
        return None

    body = {"provides": _Provided, "name": f"provide_{name}", "cost": 1.0, "run": run}
    return type(f"Provide_{name}", (Strategy,), body)
