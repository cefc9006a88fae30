"""The closure of packs: everything that they and the packs they require hold.

The walk goes depth first along ``ai_packs``. A pack is listed after all that it requires, and once, however many ways
lead to it; what it names is listed where it is first named. So the order depends on what is written in the packs and
on nothing else. A circle is an error that prints it, with the reference that closes it.

The walk keeps its own stack: a chain of packs may be longer than Python's.

Two doors lead in. ``closure_of`` is for whoever injects: the first fault is raised, with the others as its notes.
``survey`` is for whoever reports: faults are collected, and the walk goes on without what is broken.

A component that several packs name keeps its place and takes the settings of the last pack that gives some: a pack
comes after those it requires, so it overrules them.

Source: Stonehearth, AI: "Injecting actions" (references to other packs are traversed recursively).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agentrt.errors import DataFault, PackCycleError, UnknownAliasError
from agentrt.packs.alias import kind_of
from agentrt.packs.loader import Pack, Reference
from agentrt.packs.registry import Registry

__all__ = ["Closure", "closure_of", "survey"]

MOST_FAULTS = 50
_LISTED = ("actions", "observers", "components", "task_groups", "strategies")


@dataclass(frozen=True, slots=True)
class Closure:
    """What a character knows that takes these packs."""

    packs: tuple[str, ...] = ()  # names of all packs, each after those that it requires
    actions: tuple[str, ...] = ()  # aliases of actions, each once, in the order in which they are first named
    observers: tuple[str, ...] = ()  # aliases of observers, likewise
    components: tuple[str, ...] = ()  # aliases of components, likewise
    task_groups: tuple[str, ...] = ()  # aliases of personal task groups, likewise
    strategies: tuple[str, ...] = ()  # aliases of strategies, likewise
    # for components that were given settings, these
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    # for each alias that is listed, the reference that counts: the one that gave a component its settings, else
    # the first
    places: Mapping[str, Reference] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    unresolved: tuple[Reference, ...] = ()  # references to what nobody registered, the first one to each alias
    # packs that are broken or require each other in a circle, the first ``MOST_FAULTS`` of them; the closure is
    # what is left without them
    faults: tuple[DataFault, ...] = ()

    def resolved(self) -> tuple[str, ...]:
        """All aliases that are registered: components first, then observers, task groups, strategies and actions.

        In this order they can be injected: what watches and acts may need what the components hold.
        """
        missing = {reference.alias for reference in self.unresolved}
        everything = (*self.components, *self.observers, *self.task_groups, *self.strategies, *self.actions)
        return tuple(alias for alias in everything if alias not in missing)


def closure_of(packs: Iterable[Pack | str], registry: Registry, *, allow_unresolved: bool = False) -> Closure:
    """Find everything that packs hold and require.

    Args:
        allow_unresolved: whether references that nobody registered are left out; otherwise they are an error.

    Raises:
        UnknownAliasError: a reference names what nobody registered.
        InvalidPackError: a required pack is not a pack.
        PackCycleError: packs require each other in a circle.
    """
    found = survey(packs, registry)
    faults: list[DataFault] = list(found.faults)
    if not allow_unresolved:
        faults.extend(unknown(reference, registry) for reference in found.unresolved)
    if faults:
        for other in faults[1:]:
            faults[0].add_note(str(other))
        raise faults[0]
    return found


def survey(packs: Iterable[Pack | str], registry: Registry) -> Closure:
    """Find everything that packs hold and require, and everything that is wrong with it.

    Returns:
        The closure, with all faults and unresolved references in it.
    """
    return _Walk(registry).run(packs)


def unknown(reference: Reference, registry: Registry) -> UnknownAliasError:
    """The error that an unresolved reference is, with its place and the nearest names."""
    known = registry.aliases(kind_of(reference.alias))
    return UnknownAliasError(reference.alias, known, file=reference.file, pointer=reference.pointer)


class _Walk:
    """One walk. ``_path`` holds the names of the packs that are open, outermost first; ``_done`` those that are not."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._path: dict[str, None] = {}
        self._done: dict[str, bool] = {}  # False: it could not be loaded
        self._listed: dict[str, dict[str, None]] = {key: {} for key in _LISTED}
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._places: dict[str, Reference] = {}
        self._unresolved: dict[str, Reference] = {}
        self._faults: dict[tuple[str, str], DataFault] = {}  # by requiring pack and required name

    def run(self, packs: Iterable[Pack | str]) -> Closure:
        for number, item in enumerate(packs, start=1):
            root = Reference(item) if isinstance(item, str) else item
            self._descend(root, f"(pack {number} from code)")
        return Closure(
            packs=tuple(name for name, loaded in self._done.items() if loaded),
            **{key: tuple(listed) for key, listed in self._listed.items()},
            settings=MappingProxyType(self._settings),
            places=MappingProxyType(self._places),
            unresolved=tuple(self._unresolved.values()),
            faults=tuple(self._faults.values()),
        )

    def _descend(self, root: Reference | Pack, label: str) -> None:
        stack: list[tuple[str, Pack, Iterator[Reference | Pack]]] = []
        upcoming: Reference | Pack | None = root
        while True:
            if upcoming is not None:
                opened = self._open(upcoming, label)
                if opened is not None:
                    name, pack = opened
                    self._path[name] = None
                    stack.append((name, pack, iter(pack.ai_packs)))
            if not stack:
                return
            name, pack, required = stack[-1]
            upcoming = next(required, None)
            if upcoming is None:
                stack.pop()
                del self._path[name]
                self._done[name] = True
                self._list(pack)

    def _open(self, item: Reference | Pack, label: str) -> tuple[str, Pack] | None:
        """Load what is required next, unless it is known, missing, broken, or open already."""
        if isinstance(item, Pack):
            name = item.name if item.alias or item.file else f"{label}{'#' if item.pointer else ''}{item.pointer}"
            return None if name in self._done else (name, item)
        name = item.alias
        if name in self._done:
            return None
        inner = next(reversed(self._path), "")
        if name in self._path:
            names = list(self._path)
            circle = [*names[names.index(name) :], name]
            self._fault(inner, name, PackCycleError(circle, file=item.file, pointer=item.pointer))
            return None
        if name not in self._registry:
            self._unresolved.setdefault(name, item)
            return None
        try:
            return name, self._registry.pack(name, file=item.file, pointer=item.pointer)
        except DataFault as fault:
            if inner:
                fault.add_note(f"{inner} requires it.")
            self._fault(inner, name, fault)
            self._done[name] = False
            return None

    def _fault(self, inner: str, name: str, fault: DataFault) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.setdefault((inner, name), fault)

    def _list(self, pack: Pack) -> None:
        for key, listed in self._listed.items():
            references: tuple[Reference, ...] = getattr(pack, key)
            for reference in references:
                listed.setdefault(reference.alias)
                self._places.setdefault(reference.alias, reference)
                if reference.settings is not None:
                    self._settings[reference.alias] = reference.settings
                    self._places[reference.alias] = reference
                if reference.alias not in self._registry:
                    self._unresolved.setdefault(reference.alias, reference)
