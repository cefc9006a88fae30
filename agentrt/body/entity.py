"""Entities: what agents act for and act on.

An entity is a name, a kind and a bag of components, looked up by type. A component can be registered under the
protocols that it fulfills as well, so that an action asks for what it needs (``entity[Mover]``) and not for a class of
one game.

The runtime is blind to the user's own types: any object can be an agent's entity or an action's argument. What it looks
for is one attribute, ``destroyed``, a signal that is emitted when the thing goes; arguments that have it are protected,
and an agent ends with its entity. Whether a thing is gone already says its ``is_destroyed``, if it has a truth value
there, and else its signal: what was destroyed once is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.signals import Signal

C = TypeVar("C")
E = TypeVar("E")

# The class of the entity for which agents, actions and contexts are written: ``Context[Guest]``. A type checker takes
# ``Any`` where an author leaves it out; that such a variable may have a default Python itself knows from 3.13 on.
if TYPE_CHECKING:
    from typing_extensions import TypeVar as WithDefault

    E_co = WithDefault("E_co", covariant=True, default=Any)
    E_contra = WithDefault("E_contra", contravariant=True, default=Any)
else:
    E_co = TypeVar("E_co", covariant=True)
    E_contra = TypeVar("E_contra", contravariant=True)


def destroyed_signal(thing: object) -> Signal | None:
    """The signal that is emitted when a thing is destroyed; None for what has none, and so is no entity."""
    found = thing.destroyed if type(thing) is Entity else attribute_of(thing, "destroyed")
    return found if isinstance(found, Signal) else None


def is_gone(thing: object) -> bool:
    """Whether a thing was destroyed: anything; what has no ``destroyed`` signal is never gone."""
    destroyed = destroyed_signal(thing)
    if destroyed is None:
        return False
    told = thing.is_destroyed if type(thing) is Entity else attribute_of(thing, "is_destroyed")
    return told if isinstance(told, bool) else destroyed.was_emitted


def attribute_of(thing: object, name: str) -> object:
    """An attribute of what may be anybody's; None if it has none, or if asking for it raises."""
    try:
        return getattr(thing, name, None)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a property of the author's, say, that does not work for this one: it does not tell
        return None


class NamedSignals:
    """Signals of one entity by their names, made when they are first asked for."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[str], Signal]) -> None:
        self._find = find

    def __getitem__(self, name: str) -> Signal:
        """The signal of a name; the same one each time."""
        return self._find(name)


class Entity:
    """A thing in the world, with components.

    Args:
        kind: what it is, for people and for filters; such as ``"wolf"``.
        components: registered under their own types.
        name: what to call it; the kind and the id by default.
        id: a number or text that is the same in every equal run, if the world gives one.
        ai_packs: the packs that its agent takes when it is made: aliases, or packs written in place.
    """

    __slots__ = (
        "__weakref__", "_components", "_signals", "ai_packs", "destroyed", "id", "is_destroyed", "kind", "name",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        *components: object,
        name: str | None = None,
        id: int | str | None = None,  # noqa: A002 - the field's name for it
        ai_packs: Iterable[Any] = (),
    ) -> None:
        self.kind: str = kind
        self.id: int | str | None = id
        self.ai_packs: tuple[Any, ...] = (ai_packs,) if isinstance(ai_packs, str) else tuple(ai_packs)
        self.name: str = name if name is not None else kind if id is None else f"{kind} {id}"
        self.destroyed: Signal = Signal()  # emitted once, with the entity, when it is destroyed
        self.is_destroyed: bool = False
        self._components: dict[type, Any] = {}
        self._signals: dict[str, Signal] | None = None
        for component in components:
            self.add(component)

    def add(self, component: C, *also_as: type) -> C:
        """Give it a component; one of the same type is replaced.

        Args:
            component: anything.
            also_as: protocols or base classes to find it under, besides its own type.

        Returns:
            The component.
        """
        if isinstance(component, type):
            raise TypeError(f"{self.name!r}: the class {component.__name__} was given. Give an object of it")
        self._components[type(component)] = component
        for kind in also_as:
            self._components[kind] = component
        return component

    def remove(self, kind: type) -> None:
        """Take a component away under all types that it was registered for; nothing happens if it has none of one."""
        component = self._components.get(kind)
        if component is not None:
            self._components = {key: other for key, other in self._components.items() if other is not component}

    def get(self, kind: type[C]) -> C | None:
        """Its component of a type, or of one that it was registered under; None if it has none."""
        return self._components.get(kind)

    def __getitem__(self, kind: type[C]) -> C:
        """Its component of a type.

        Raises:
            LookupError: it has none; the text names those it has.
        """
        try:
            component: C = self._components[kind]
        except KeyError:
            has = ", ".join(sorted({key.__name__ for key in self._components})) or "none"
            raise LookupError(f"{self.name!r} has no component {kind.__name__}; it has: {has}") from None
        return component

    def __contains__(self, kind: type) -> bool:
        return kind in self._components

    def components(self) -> Iterator[object]:
        """Its components, each once, in the order in which they were added."""
        return iter({id(component): component for component in self._components.values()}.values())

    def signal(self, name: str) -> Signal:
        """Its signal of a name, such as ``"ready_to_pose"``, the same each time; ``"destroyed"`` it always has."""
        if name == "destroyed":
            return self.destroyed
        if self._signals is None:
            self._signals = {}
        found = self._signals.get(name)
        if found is None:
            found = self._signals[name] = Signal()
        return found

    @property
    def signal_names(self) -> tuple[str, ...]:
        """The names of the signals that were asked for up to now, in that order."""
        return tuple(self._signals or ())

    def destroy(self) -> None:
        """Destroy it: whoever listens is told. A second call does nothing."""
        if not self.is_destroyed:
            self.is_destroyed = True
            self.destroyed.emit(self)

    def __repr__(self) -> str:
        return f"<Entity {self.name!r}{', destroyed' if self.is_destroyed else ''}>"
