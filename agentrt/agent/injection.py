"""Injections: what an agent is taught, resolved and checked before anything changes.

``resolve`` turns what somebody injects (action classes, strategies, packs, aliases of packs, contents of packs) into
``Content``: action classes, and what else packs hold, each checked for being what its kind says. Whatever is wrong is
an error of ``inject``, with alias, file and pointer, and nothing has happened yet. What the agent then does with it
stands in ``learning`` for actions and in ``belongings`` for all else.

An ``Injection`` is the receipt: as long as one that names a thing lives, the agent has it. Nothing is counted; who
wants to know what an agent has looks through its live injections, so that a count can never disagree with them.

The agent itself is seen from here, and from the two modules above, as a ``Learner``: what is needed of who is taught.

Source: Stonehearth, AI: "Injecting actions".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from agentrt.activity.author.action import Action
from agentrt.activity.tasks.declare import TaskGroupAction
from agentrt.activity.tasks.group import Member
from agentrt.errors import ComponentError, DefinitionError
from agentrt.packs.closure import closure_of
from agentrt.packs.loader import Pack, Reference, load_pack
from agentrt.packs.registry import task_group_of
from agentrt.packs.task_groups import GroupEntry
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.packs.registry import Registry
    from agentrt.strategy.declare import Strategy
    from agentrt.strategy.gameplay import Gameplay

__all__ = [
    "Content",
    "GivenComponent",
    "GivenGroup",
    "GivenObserver",
    "Injectable",
    "Injection",
    "Learner",
    "resolve",
    "strategy_of",
]

Injectable: TypeAlias = "type[Action] | type[Strategy] | Pack | str | Mapping[str, Any]"
"""What an agent can learn: an action class, a strategy, a pack, a pack's alias, or a pack's content as a mapping."""

Loaded: TypeAlias = "type[Action] | type[Strategy] | Pack | str"
"""The same, with contents of packs made packs."""

Observe = Callable[[Any], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class GivenComponent:
    """A component that a pack gives."""

    alias: str
    make: Callable[..., Any]  # a class or any other factory: of the entity, and of the settings by name
    settings: Mapping[str, Any]  # what the pack says
    place: Reference  # where it says so


@dataclass(frozen=True, slots=True)
class GivenObserver:
    """An observer that a pack gives."""

    alias: str
    observe: Observe  # a coroutine function that takes the agent


@dataclass(frozen=True, slots=True)
class GivenGroup:
    """A personal task group that a pack gives, or more tasks for one that the agent has."""

    alias: str  # its alias, and the group's name
    kind: type[TaskGroupAction] | GroupEntry  # the class of the group, or what extends the group of another name
    place: Reference  # where the pack names it


@dataclass(frozen=True, slots=True)
class Content:
    """What an injection teaches, resolved and checked."""

    actions: tuple[type[Action], ...] = ()  # action classes, each once, in the order in which they are named
    components: tuple[GivenComponent, ...] = ()
    observers: tuple[GivenObserver, ...] = ()
    groups: tuple[GivenGroup, ...] = ()  # personal task groups, likewise; extensions come after groups
    strategies: tuple[type[Strategy], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but actions."""
        return not (self.components or self.observers or self.groups or self.strategies)


class Learner(Member, Protocol):
    """An agent, as what it was taught sees it."""

    entity: Any

    @property
    def kernel(self) -> Kernel | None:
        """Who keeps its time; None while it is in no runtime, where whatever it is taught counts at once."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether it is in a runtime and has not ended."""
        ...

    @property
    def injections(self) -> tuple[Injection, ...]:
        """What it was taught and was not revoked, in that order."""
        ...

    @property
    def gameplay(self) -> Gameplay:
        """Its strategies; made when it is first asked for."""
        ...

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call a function at the next intake, if it is in a runtime."""

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """What a pack brought raised: report it."""


class Teacher(Protocol):
    """Who made an injection: the knowledge of an agent."""

    def forget(self, injection: Injection) -> None:
        """It was revoked."""


class Injection:
    """What one ``Agent.inject`` taught."""

    __slots__ = ("_teacher", "actions", "agent", "bearer", "content", "is_live", "source", "what")

    def __init__(
        self,
        agent: Learner,
        content: Content,
        source: str,
        what: tuple[Loaded, ...] | None,
        bearer: object,
        teacher: Teacher,
    ) -> None:
        self._teacher = teacher
        self.agent: Learner = agent  # who learned it
        self.actions: tuple[type[Action], ...] = content.actions
        self.source: str = source  # where it came from, in words
        self.is_live: bool = True  # whether it was not revoked
        self.content: Content | None = None if content.is_plain else content  # what else it taught
        self.what: tuple[Loaded, ...] | None = (
            what  # as ``agentrt.rebuild`` saves it; None for what it has from the start
        )
        self.bearer: object = bearer  # the thing that bears the AI (a piece of equipment, a buff), if one does

    def revoke(self) -> None:
        """Take it back; what nothing else taught is forgotten. A second call does nothing."""
        if self.is_live:
            self.is_live = False
            self._teacher.forget(self)

    @property
    def teaches(self) -> tuple[str, ...]:
        """What it taught besides actions, by name: components, observers, task groups, strategies."""
        content = self.content
        if content is None:
            return ()
        given: tuple[GivenComponent | GivenObserver | GivenGroup, ...]
        given = (*content.components, *content.observers, *content.groups)
        return (*(one.alias for one in given), *(one.spec.name for one in content.strategies))

    def __repr__(self) -> str:
        strategies = 0 if self.content is None else len(self.content.strategies)
        held = f"{len(self.actions)} actions" + (f" and {strategies} strategies" if strategies else "")
        return f"<Injection of {held}{'' if self.is_live else ', revoked'}: {self.source}>"


def named(what: tuple[Injectable, ...]) -> tuple[Loaded, ...]:
    """Load what is given as the content of a pack, so that nothing that its owner does later changes it."""
    for one in what:
        if isinstance(one, type) and not issubclass(one, Action) and not _is_strategy(one):
            raise DefinitionError(one.__qualname__, "it is not an action.", "Derive it from agentrt.Action.")
    return tuple(one if isinstance(one, (type, Pack, str)) else load_pack(one) for one in what)


def resolve(what: tuple[Loaded, ...], registry: Callable[[], Registry]) -> Content:
    """Find and check all that is injected; the registry is asked for if one is needed."""
    actions: dict[type[Action], None] = {}
    components: dict[str, GivenComponent] = {}
    observers: dict[str, GivenObserver] = {}
    groups: dict[str, GivenGroup] = {}
    strategies: dict[type[Strategy], None] = {}
    for one in what:
        if isinstance(one, type):
            (actions if issubclass(one, Action) else strategies).setdefault(one)  # type: ignore[arg-type]
            continue
        table = registry()
        closure = closure_of([one], table)
        places = closure.places
        for alias in closure.components:
            if alias not in components or alias in closure.settings:
                components[alias] = _component(alias, table, closure.settings.get(alias, {}), places[alias])
        for alias in closure.observers:
            observers.setdefault(alias, _observer(alias, table))
        for alias in closure.task_groups:
            place = places[alias]
            kind = task_group_of(alias, table, file=place.file, pointer=place.pointer)
            groups.setdefault(alias, GivenGroup(alias, kind, place))
        for alias in closure.actions:
            actions.setdefault(_action(alias, table))
        for alias in closure.strategies:
            strategies.setdefault(strategy_of(alias, table))
    groups_first = sorted(groups.values(), key=lambda group: isinstance(group.kind, GroupEntry))
    return Content(
        actions=_shared(tuple(actions)),
        components=tuple(components.values()),
        observers=tuple(observers.values()),
        groups=tuple(groups_first),
        strategies=tuple(strategies),
    )


@lru_cache(1024)
def _shared(actions: tuple[type[Action], ...]) -> tuple[type[Action], ...]:
    """Action classes, as one tuple for all agents that are taught the same."""
    return actions


def _action(alias: str, registry: Registry) -> type[Action]:
    found = registry.get(alias)
    if not (isinstance(found, type) and issubclass(found, Action)):
        raise DefinitionError(alias, f"it names {repr_of(found)}.", "Register a class derived from agentrt.Action.")
    return found


def _is_strategy(found: object) -> TypeGuard[type[Strategy]]:
    from agentrt.strategy.declare import Strategy  # most agents have none

    return isinstance(found, type) and issubclass(found, Strategy)


def strategy_of(alias: str, registry: Registry) -> type[Strategy]:
    """The strategy that an alias names."""
    found = registry.get(alias)
    if not _is_strategy(found):
        remedy = "Register a class derived from agentrt.strategy.Strategy."
        raise DefinitionError(alias, f"it names {repr_of(found)}.", remedy)
    return found


def _observer(alias: str, registry: Registry) -> GivenObserver:
    found = registry.get(alias)
    remedy = "Register a coroutine function: async def observe(agent)."
    if not inspect.iscoroutinefunction(found):
        raise DefinitionError(alias, f"it names {repr_of(found)}, which is no coroutine function.", remedy)
    try:
        inspect.signature(found).bind("agent")
    except TypeError as error:
        raise DefinitionError(alias, f"it cannot be called with an agent: {words_of(error)}.", remedy) from error
    return GivenObserver(alias, found)


def _component(alias: str, registry: Registry, settings: Mapping[str, Any], place: Reference) -> GivenComponent:
    found = registry.get(alias)
    if not callable(found):
        remedy = "Register a class, or a factory(entity, **settings)."
        raise DefinitionError(alias, f"it names {repr_of(found)}, which cannot be called.", remedy)
    try:
        inspect.signature(found).bind("entity", **settings)
    except TypeError as error:
        raise ComponentError(
            alias, f"it does not take what it is given: {words_of(error)}.", file=place.file, pointer=place.pointer
        ) from error
    except ValueError:
        pass  # some built-in ones cannot be asked what they take
    return GivenComponent(alias, found, settings, place)
