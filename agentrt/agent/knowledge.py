"""Knowledge: what one agent knows, and how it learns and forgets.

It learns actions, and whatever else packs hold, by injections; each can be revoked, and a thing is known as long as
one injection holds it. Nothing is counted; who wants to know what an agent has looks through its live injections, so
that a count can never disagree with them. While the agent is in no runtime that takes effect at once, else at the next
intake; never in the middle of a tick.

``resolve`` turns what somebody injects (action classes, strategies, packs, aliases of packs, contents of packs) into
``Content``: action classes, and what else packs hold, each checked for being what its kind says. Whatever is wrong is
an error of ``teach``, with alias, file and pointer, and nothing has happened yet. An ``Injection`` is the receipt.
Nobody is given the injection of what an agent is made with. If that is action classes alone, as mostly, the injection
is made when somebody looks.

Task groups are found by name as soon as the agent is in them: personal ones when ``teach`` returns, others when
``TaskGroup.add`` does. The planner is told, and never asks: ``equip`` gives a new one all that there is, and each
change is posted to it. The agent itself is seen from here as a ``Learner``: what is needed of who is taught.

*Belongings* are what an agent has from packs besides actions: components, observers, task groups, strategies; they are
made with the first injection that holds any of it, since most agents know actions alone. What it should have follows
from its live injections alone; ``settle`` compares that with what it has, and takes or gives back the difference. So it
does not matter in which order injections came and went in between, and what two of them name stays until both are
revoked. It is called at once while the agent is in no runtime, and at the intake, with the actions, while it is in one.

Things are taken in the order components, observers, task groups, strategies, actions, because what watches and acts may
need what components hold, and are given back in the opposite order. Two steps have a time of their own:

* A group is there as soon as ``inject`` returns, so that tasks can be created in it; it is destroyed when ``settle``
  finds it unwanted.
* A component goes when whoever could use it has stopped: in the same tick, or, while a plan is being unwound or an
  observer still cleans up, at the first intake after that.

A component that the entity had already is left alone, now and later; one that names protocols in ``also_as`` is found
under them as well. A strategy that code had loaded, too, stays when packs let go of it. What packs extend is the
agent's own group of that name: an extension without its group is an error of ``inject``; one whose group was revoked
waits until it is back.

*Observers* are coroutines that watch the agent's world, each a strand of its own from the intake after its injection
until nothing that names it is injected any more, or its agent ends. Each is cancelled then, and the agent counts as
ended only when all of them have ended. One that returns is not begun again; one that raises is reported under
``observers/<alias>`` and takes nobody with it; one that is wanted again while it cleans up begins anew when it has
ended, so that there are never two of one alias. In another runtime all of them begin from the start.

*Where packs come from* is asked of two kinds of things: an agent takes the packs that its entity lists as its own
(``packs_of``), and it can be taught what a thing bears that it wears (``ai_of``).

*The index* of actions by activity is shared by agents who know the same. All actions of one activity take the same
arguments. What a compound gives a step must fit them, as far as it is known before anything runs; what it reads of a
step's think output must be declared by every known action of that step. All of it is checked when actions are learned,
the earliest moment at which it can be known.

It is one module, since what is taught, the receipt for it and what is had because of it are one thing in three states.

Source: Stonehearth, AI: "Injecting actions", Observers; "Personal task groups"; "Tasks".
"""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    get_origin,
    get_type_hints,
)

from agentrt.activity.author.action import Action, Numbers
from agentrt.activity.author.arguments import misfit
from agentrt.activity.tasks.declare import TaskGroupAction
from agentrt.activity.tasks.group import Member, TaskGroup
from agentrt.agent.logs import get_logger
from agentrt.errors import (
    ENDS_PROGRAM,
    AgentRTError,
    ArgumentError,
    AuthorError,
    ComponentError,
    DefinitionError,
    InvalidPackError,
    PlaceholderError,
    UnknownTaskGroupError,
    WrongStateError,
    did_you_mean,
)
from agentrt.kernel.trace import TraceEvent
from agentrt.words import class_name, error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.answering import Declared
    from agentrt.activity.plan.tree import Planner
    from agentrt.activity.tasks.group import Extension
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand
    from agentrt.packs.loader import Pack, Reference
    from agentrt.packs.registry import Registry
    from agentrt.packs.task_groups import GroupEntry
    from agentrt.strategy.ask import Dependency, Strategy
    from agentrt.strategy.gameplay import Gameplay


T = TypeVar("T")

Injectable: TypeAlias = "type[Action] | type[Strategy] | Pack | str | Mapping[str, Any]"
"""What an agent can learn: an action class, a strategy, a pack, a pack's alias, or a pack's content as a mapping."""

Loaded: TypeAlias = "type[Action] | type[Strategy] | Pack | str"
"""The same, with contents of packs made packs."""

Observe = Callable[[Any], Coroutine[Any, Any, Any]]

_OWN: Final = "its own"


class GivenComponent(NamedTuple):
    """A component that a pack gives."""

    alias: str
    make: Callable[..., Any]  # a class or any other factory: of the entity, and of the settings by name
    settings: Mapping[str, Any]  # what the pack says
    place: Reference  # where it says so


class GivenObserver(NamedTuple):
    """An observer that a pack gives."""

    alias: str
    observe: Observe  # a coroutine function that takes the agent


class GivenGroup(NamedTuple):
    """A personal task group that a pack gives, or more tasks for one that the agent has."""

    alias: str  # its alias, and the group's name
    kind: type[TaskGroupAction] | GroupEntry  # the class of the group, or what extends the group of another name
    place: Reference  # where the pack names it


class Content(NamedTuple):
    """What an injection teaches, resolved and checked."""

    actions: tuple[type[Action], ...] = ()  # action classes, each once, in the order in which they are named
    components: tuple[GivenComponent, ...] = ()
    observers: tuple[GivenObserver, ...] = ()
    groups: tuple[GivenGroup, ...] = ()  # personal task groups, likewise; extensions come after groups
    strategies: tuple[type[Strategy], ...] = ()

    @property
    def is_plain(self) -> bool:
        return not (self.components or self.observers or self.groups or self.strategies)


class Renewed(NamedTuple):
    """What was read again while agents know it; see ``agentrt.reload``."""

    classes: frozenset[type]  # those that read otherwise now, and are the same objects
    functions: frozenset[Callable[..., Any]]  # likewise
    removed: frozenset[type]  # classes that nobody has any more
    files: frozenset[str]  # packs, and documents of task groups
    has_packs: bool  # whether any alias may stand for something else

    def touches(self, cls: type) -> bool:
        """Whether a class reads otherwise, or derives from one that does."""
        return not self.classes.isdisjoint(cls.__mro__)


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


@dataclass(eq=False, repr=False, slots=True)
class Injection:
    """What one ``Agent.inject`` taught."""

    agent: Learner  # who learned it
    actions: tuple[type[Action], ...]
    source: str  # where it came from, in words
    content: Content | None  # what else it taught
    what: tuple[Loaded, ...] | None  # as ``agentrt.rebuild`` saves it; None for what it has from the start
    bearer: object  # the thing that bears the AI (a piece of equipment, a buff), if one does
    _knowledge: Knowledge  # whose it is
    loaded: tuple[Loaded, ...] = ()  # what all of that was resolved from
    is_live: bool = True  # whether it was not revoked

    def whole(self) -> Content:
        """All that it gives, whether that is more than actions or not."""
        return self.content or Content(self.actions)

    def revoke(self) -> None:
        """Take it back; what nothing else taught is forgotten. A second call does nothing."""
        if self.is_live:
            self.is_live = False
            self._knowledge.forget(self)

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


def listed(what: str, given: Sequence[T]) -> Sequence[T]:
    """The actions or packs that an agent begins with, unless one was given where a list of them belongs.

    Raises:
        DefinitionError: it was. A text would be taken for a list of its letters.
    """
    one: object = given
    if isinstance(one, (str, type, Mapping)) or not isinstance(one, Iterable):
        said = one.__name__ if isinstance(one, type) else repr_of(one, 80)
        raise DefinitionError("Agent", f"{what} is {said}.", f"Write a list: {what}=[...].")
    return given


def named(what: tuple[Injectable, ...]) -> tuple[Loaded, ...]:
    """Load what is given as the content of a pack, so that nothing that its owner does later changes it."""
    for one in what:
        if isinstance(one, Action):
            raise DefinitionError(
                class_name(type(one)), "an object of it was given.", f"Give the class: {type(one).__name__}."
            )
        kind: object = None if isinstance(one, type) else get_origin(one)
        if isinstance(kind, type) and issubclass(kind, Action):
            raise DefinitionError(class_name(kind), f"{one} was given.", f"Give the class itself: {kind.__name__}.")
        if isinstance(one, type) and not issubclass(one, Action) and not _is_strategy(one):
            raise DefinitionError(one.__qualname__, "it is not an action.", "Derive it from agentrt.Action.")
    return tuple(one if isinstance(one, (type, str)) else _loaded(one) for one in what)


def _loaded(one: Pack | Mapping[str, Any]) -> Pack:
    from agentrt.packs.loader import Pack, load_pack  # most agents have none

    return one if isinstance(one, Pack) else load_pack(one)


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
        from agentrt.packs.closure import closure_of  # most agents have none
        from agentrt.packs.registry import task_group_of

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
            kind = task_group_of(alias, table, **place.place)
            groups.setdefault(alias, GivenGroup(alias, kind, place))
        for alias in closure.actions:
            actions.setdefault(_action(alias, table))
        for alias in closure.strategies:
            strategies.setdefault(strategy_of(alias, table))
    groups_first = sorted(groups.values(), key=lambda group: not isinstance(group.kind, type))
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
    from agentrt.strategy.ask import Strategy  # most agents have none

    return isinstance(found, type) and issubclass(found, Strategy)


def strategy_of(alias: str, registry: Registry) -> type[Strategy]:
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


def _hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of what a factory takes; none if they cannot be looked up."""
    try:
        return get_type_hints(inspect.getattr_static(factory, "__init__") if isinstance(factory, type) else factory)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # an annotation may name what is known to a type checker alone, and do anything
        return {}


def _component(alias: str, registry: Registry, settings: Mapping[str, Any], place: Reference) -> GivenComponent:
    found = registry.get(alias)
    if not callable(found):
        remedy = "Register a class, or a factory(entity, **settings)."
        raise DefinitionError(alias, f"it names {repr_of(found)}, which cannot be called.", remedy)
    try:
        inspect.signature(found).bind("entity", **settings)
    except TypeError as error:
        problem = f"it does not take what it is given: {words_of(error)}."
        raise ComponentError(alias, problem, **place.place) from error
    except ValueError:
        pass  # some built-in ones cannot be asked what they take
    for name, hint in _hints_of(found).items() if settings else ():
        wanted = misfit(hint, settings[name]) if name in settings else ""
        if wanted:
            problem = f"its setting '{name}' is {repr_of(settings[name], 80)}, and takes {wanted}."
            raise ComponentError(alias, problem, **place.place)
    return GivenComponent(alias, found, settings, place)


# --- where packs come from --------------------------------------------------------------------------------------------

_KEY = "ai_packs"


def entry_of(thing: object, name: str) -> Any:
    """What a mapping has under a key, or another object as an attribute; None if nothing."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def words_for(bearer: object) -> str:
    """What to call a bearer: its ``name``, or the name of its type."""
    name = entry_of(bearer, "name")
    return name if isinstance(name, str) and name else type(bearer).__name__.lower()


def packs_of(entity: object) -> tuple[Injectable, ...]:
    """The packs that an entity lists under ``ai_packs``, or under any key of its data that ends with ``:ai_packs``."""
    found: list[Injectable] = []
    own = getattr(entity, _KEY, None)
    if own:
        found.extend(_listed(own, f"{words_for(entity)}.{_KEY}"))
    data = getattr(entity, "entity_data", None)
    if isinstance(data, Mapping):
        for key, value in data.items():
            if isinstance(key, str) and (key == _KEY or key.endswith(f":{_KEY}")):
                found.extend(_listed(value, f"{words_for(entity)}.entity_data[{key!r}]"))
    return tuple(found)


def _listed(value: Any, where: str) -> Iterator[Injectable]:
    if isinstance(value, Mapping) and set(value) == {"packs"}:
        value = value["packs"]
    if isinstance(value, (str, Mapping)) or not isinstance(value, (list, tuple)):
        raise DefinitionError(
            where, f"it is {repr_of(value)}.", "Write a list of packs: their aliases, or packs written in place."
        )
    for one in value:
        yield _pack(one, where, "it lists")


def _pack(one: object, where: str, says: str) -> Injectable:
    from agentrt.packs.loader import Pack  # most agents have none

    if not isinstance(one, (str, Mapping, Pack)):
        raise DefinitionError(where, f"{says} {repr_of(one)}.", "Write the alias of a pack, or a pack in place.")
    return one


def ai_of(bearer: object) -> tuple[Injectable, ...]:
    """The packs that a bearer of AI has, itself or on its components: a collar's equipment piece may bear it."""
    found: list[Injectable] = []
    for thing in (bearer, *_components(bearer)):
        given = entry_of(thing, "injected_ai")
        if given is not None:
            packs = given if isinstance(given, (list, tuple)) else (given,)
            found += [_pack(pack, words_for(bearer), "its injected_ai is") for pack in packs]
    if not found:
        raise DefinitionError(
            words_for(bearer),
            f"this {type(bearer).__name__} bears no AI.",
            "Give it 'injected_ai', as an attribute, a key or on a component: a pack in place, or the alias of one.",
        )
    return tuple(found)


def _components(bearer: object) -> Iterator[object]:
    """The components of an entity, or of the mapping that describes one, in their order."""
    components = entry_of(bearer, "components")
    if callable(components):
        components = components()
    if isinstance(components, Mapping):
        yield from components.values()
    elif isinstance(components, Iterator):
        yield from components


# --- what it has besides actions --------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Observer:
    """One of them."""

    _owner: Observers
    alias: str
    observe: Observe
    strand: Strand | None = None  # None once it has ended

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        self.strand = None
        self._owner.ended(self, strand, error)


class Observers:
    """The observers of one agent."""

    __slots__ = ("_agent", "_begun", "_settled", "_then")

    def __init__(self, agent: Learner, settled: Callable[[], object]) -> None:
        self._agent = agent
        self._settled = settled  # called when one that was told to stop has ended
        self._begun: dict[str, _Observer] = {}
        self._then: Callable[[], object] | None = None  # while the agent ends

    @property
    def strands(self) -> list[Strand]:
        return [one.strand for one in self._begun.values() if one.strand is not None]

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(alias for alias, one in self._begun.items() if one.strand is not None)

    @property
    def is_stopping(self) -> bool:
        """Whether one that was told to stop has not ended."""
        return any(strand.stop_reason is not None for strand in self.strands)

    def keep(self, wanted: Mapping[str, GivenObserver], reason: str) -> None:
        for alias, one in tuple(self._begun.items()):
            if alias not in wanted:
                if one.strand is None:
                    del self._begun[alias]
                else:
                    one.strand.stop(reason)

    def renew(self, wanted: Mapping[str, GivenObserver], functions: frozenset[Callable[..., Any]]) -> None:
        """Stop those whose function is another one now, or reads otherwise: they begin anew."""
        fine = {
            alias: given
            for alias, given in wanted.items()
            if alias in self._begun and given.observe is self._begun[alias].observe and given.observe not in functions
        }
        self.keep(fine, "the observer was read again")

    def begin(self, wanted: Mapping[str, GivenObserver]) -> None:
        """Begin the wanted ones that were not begun; their first steps come in this tick, in order."""
        kernel = self._agent.kernel
        if kernel is None or self._then is not None:
            return
        for alias, given in wanted.items():
            if alias not in self._begun:
                self._begun[alias] = one = _Observer(self, alias, given.observe)
                name = f"{self._agent.name}: observers/{alias}"
                one.strand = kernel.spawn(given.observe(self._agent), name, one)

    def reset(self) -> None:
        """The agent joins a runtime: all begin from the start."""
        self._begun = {}
        self._then = None

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """The agent ends: stop them all; ``then`` is called when none is left, at once if there is none."""
        self._then = then
        strands = self.strands
        for strand in strands:
            strand.stop(reason)
        if not strands:
            then()

    def ended(self, one: _Observer, strand: Strand, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            self._agent.fault(f"observers/{one.alias}", "observe", error)
        if strand.stop_reason is not None and self._begun.get(one.alias) is one:
            del self._begun[one.alias]
        then = self._then
        if then is None:
            if strand.stop_reason is not None:
                self._settled()
        elif not self.strands:
            then()

    def __repr__(self) -> str:
        return f"<Observers: {', '.join(self._begun) or 'none'}>"


class _Held(NamedTuple):
    """What an alias of a component stands for."""

    component: object  # None if it could not be made, which is not tried again
    is_ours: bool  # a pack put it there; so it goes with the last that names it
    given: GivenComponent  # by which it came


class Belongings:
    """What one agent has from packs besides actions."""

    __slots__ = ("_agent", "_components", "_extensions", "_strategies", "groups", "observers")

    def __init__(self, agent: Learner) -> None:
        self._agent = agent
        self._components: dict[str, _Held] = {}
        self._extensions: dict[str, tuple[TaskGroup, Extension]] = {}
        self._strategies: dict[type[Strategy], Callable[[], None]] = {}
        self.groups: dict[str, TaskGroup] = {}  # its personal task groups by name
        self.observers: Observers = Observers(agent, self.settle_quietly)

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """What packs added to its groups, in that order."""
        return tuple(extension for _, extension in self._extensions.values())

    # --- what it should have ------------------------------------------------------------------------------------------

    def _wanted(self, kind: str) -> dict[str, Any]:
        """What the live injections name, by alias, in the order in which it is first named."""
        wanted: dict[str, Any] = {}
        for injection in self._agent.injections:
            if injection.content is not None:
                for given in getattr(injection.content, kind):
                    wanted.setdefault(given.alias, given)
        return wanted

    def _wanted_strategies(self) -> tuple[type[Strategy], ...]:
        """The strategies that the live injections name, each once, in the order in which they are first named."""
        contents = [injection.content for injection in self._agent.injections if injection.content is not None]
        return tuple(dict.fromkeys(strategy for content in contents for strategy in content.strategies))

    def check(self, content: Content) -> None:
        """Find out whether an injection can be taken, before anything changes."""
        if content.strategies:
            wanted = (*self._wanted_strategies(), *content.strategies)
            self._agent.gameplay.catalog.check(wanted, without=tuple(self._strategies))
        entity = self._agent.entity
        if content.components:
            missing = [name for name in ("add", "get", "remove") if not callable(getattr(entity, name, None))]
            if missing:
                raise DefinitionError(
                    content.components[0].alias,
                    f"the entity, a {type(entity).__name__}, holds no components: it has no method '{missing[0]}'.",
                    "Use agentrt.Entity, or give it the methods add(component), get(type) and remove(type).",
                )
        _check_extended(content.groups, (*self._wanted("groups").values(), *content.groups))

    # --- taking and giving back ---------------------------------------------------------------------------------------

    def take_groups(self) -> None:
        """Make the groups that it should have and has not, and extend them."""
        # Somebody may have destroyed a group that it should have: it gets another one.
        self.groups = {alias: group for alias, group in self.groups.items() if not group.is_gone}
        self._extensions = {alias: pair for alias, pair in self._extensions.items() if not pair[0].is_gone}
        wanted: dict[str, GivenGroup] = self._wanted("groups")
        for alias, given in wanted.items():
            if isinstance(given.kind, type) and alias not in self.groups:
                group = TaskGroup(given.kind, name=alias, owner=self._agent)
                group.add(self._agent)
                self.groups[alias] = group
        for alias, given in wanted.items():
            if not isinstance(given.kind, type) and alias not in self._extensions:
                base = self.groups.get(given.kind.extends)
                if base is not None:
                    try:
                        self._extensions[alias] = base, base.extend(given.kind.tasks)
                    except AuthorError as error:
                        place = given.kind
                        problem = [(place.pointer, error.text)]
                        raise InvalidPackError(problem, file=place.file, lines=[place.line]) from error

    def settle(self) -> None:
        """Take what it should have and has not, give back what it has and should not."""
        self.give_back_groups()
        observers: dict[str, GivenObserver] = self._wanted("observers")
        self.observers.keep(observers, "the observer was revoked")
        kernel = self._agent.kernel
        components: dict[str, GivenComponent] = self._wanted("components")
        if kernel is None:
            self.drop_components()
        elif any(alias not in components for alias in self._components):
            # When the queue comes to it, thinking that this intake stops is in the queue: drop behind that.
            kernel.call_soon(kernel.call_soon, self.drop_components)
        errors = self._take_components(components)
        if self._agent.is_alive:
            self.observers.begin(observers)
        self.take_groups()
        self._settle_strategies()
        if errors:
            for other in errors[1:]:
                errors[0].add_note(str(other))
            raise errors[0]

    def _settle_strategies(self) -> None:
        wanted = self._wanted_strategies()
        for strategy in [one for one in self._strategies if one not in wanted]:
            self._strategies.pop(strategy)()
        for strategy in wanted:
            if strategy not in self._strategies:
                self._strategies[strategy] = self._agent.gameplay.add_strategy(strategy)

    def renew(self, renewed: Renewed) -> None:
        """What is still wanted was read again: let go of what has to be made anew; ``settle`` does that.

        A component stays, with its state, unless its settings are others or something else makes it; a group stays,
        with the tasks that it still declares; an observer begins anew if its function reads otherwise.
        """
        components: dict[str, GivenComponent] = self._wanted("components")
        for alias, held in tuple(self._components.items()):
            given = components.get(alias)
            if given is not None and (held.given.make, held.given.settings) != (given.make, given.settings):
                self._give_back_component(alias)
        self.observers.renew(self._wanted("observers"), renewed.functions)
        groups: dict[str, GivenGroup] = self._wanted("groups")
        for alias, group in self.groups.items():
            kind = groups[alias].kind if alias in groups else None
            if isinstance(kind, type) and kind is not group.action:
                group.redeclare(kind)
        for alias, (_, extension) in tuple(self._extensions.items()):
            kind = groups[alias].kind if alias in groups else None
            if not isinstance(kind, type) and kind is not None and kind.tasks != extension.declarations:
                del self._extensions[alias]
                extension.revoke()

    def settle_quietly(self) -> None:
        """The same, where nobody could be told of an error: it is recorded and logged."""
        try:
            self.settle()
        except AgentRTError as error:
            self._agent.fault("packs", "inject", error)

    def give_back_groups(self) -> None:
        """Destroy the groups that it should not have, and take back what extended the others."""
        wanted: dict[str, GivenGroup] = self._wanted("groups")
        for alias, (group, extension) in tuple(self._extensions.items())[::-1]:
            if alias not in wanted or group.name not in wanted:
                del self._extensions[alias]
                extension.revoke()
        for alias in tuple(self.groups)[::-1]:
            if alias not in wanted:
                self.groups.pop(alias).destroy()

    def _take_components(self, wanted: Mapping[str, GivenComponent]) -> list[ComponentError]:
        entity = self._agent.entity
        errors: list[ComponentError] = []
        for alias, given in wanted.items():
            if alias in self._components:
                continue
            there = entity.get(given.make) if isinstance(given.make, type) else None
            if there is None:
                try:
                    made = self._make(given)
                except ComponentError as error:
                    errors.append(error)
                    self._components[alias] = _Held(None, False, given)
                    continue
                there = entity.get(type(made))
                if there is None:
                    entity.add(made, *getattr(made, "also_as", ()))
                    self._components[alias] = _Held(made, True, given)
                    continue
                self._close(alias, made)  # a factory tells what it makes by making it
            shared = any(held.component is there and held.is_ours for held in self._components.values())
            self._components[alias] = _Held(there, shared, given)
        return errors

    def _make(self, given: GivenComponent) -> Any:
        place = given.place
        try:
            made = given.make(self._agent.entity, **copy.deepcopy(dict(given.settings)))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            words = f"making it raised {error_words(error)}."
            raise ComponentError(given.alias, words, **place.place) from error
        if made is None:
            raise ComponentError(given.alias, "the factory returned None.", **place.place)
        return made

    def drop_components(self) -> None:
        """Remove the components that nothing names any more, unless somebody who might use them is still stopping."""
        wanted = self._wanted("components")
        gone = [alias for alias in self._components if alias not in wanted]
        if not gone:
            return
        agent = self._agent
        is_unwinding = agent.planner is not None and agent.planner.execution.is_aborting
        if agent.kernel is not None and (is_unwinding or self.observers.is_stopping):
            agent.post(self.drop_components)
            return
        for alias in reversed(gone):
            self._give_back_component(alias)

    def _give_back_component(self, alias: str) -> None:
        held, entity = self._components.pop(alias), self._agent.entity
        component = held.component
        if held.is_ours and not any(other.component is component for other in self._components.values()):
            if entity.get(type(component)) is component:
                entity.remove(type(component))
            self._close(alias, component)

    def _close(self, alias: str, component: Any) -> None:
        close = getattr(component, "close", None)
        if callable(close):
            try:
                close()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._agent.fault(f"components/{alias}", "close", error)

    def __repr__(self) -> str:
        return f"<Belongings: {len(self._components)} components, {len(self.groups)} task groups, {self.observers!r}>"


# --- what it knows ----------------------------------------------------------------------------------------------------


def known_here() -> Registry:
    """The registry of what is installed; what a package is broken in is logged, once."""
    from agentrt.packs.registry import default_registry  # most agents need none

    registry = default_registry()
    for error in registry.take_untold():
        get_logger().error("a package is passed over", exc_info=error)
    return registry


_UNTOUCHED: Final = (None, None)  # nothing of it was changed by hand


class Knowledge:
    """What one agent knows."""

    __slots__ = ("_agent", "_by_hand", "_given", "_injections", "_registry", "belongings", "groups")

    def __init__(self, agent: Learner, registry: Registry | None, given: tuple[type[Action], ...] = ()) -> None:
        self._agent = agent
        self._registry = registry  # where aliases are looked up; None for what the installed packages offer
        self._given = given  # what it was made with, until there is an injection of that
        self._injections: tuple[Injection, ...] = ()
        self.groups: tuple[TaskGroup, ...] = ()  # personal and shared ones, in the order in which they were joined
        self.belongings: Belongings | None = None  # made with the first injection that holds more than actions
        # its actions whose numbers were changed, and which of them are out, if there are any
        self._by_hand: tuple[Tuned | None, Barred | None] = _UNTOUCHED

    def in_short(self) -> Knowledge | tuple[type[Action], ...]:
        """The actions that the agent was made with, if that is all; by them this can be made again. Else this."""
        is_more = self._injections or self.groups or self.belongings or self._by_hand != _UNTOUCHED
        return self if is_more or self._registry is not None or not self._given else self._given

    @property
    def own_registry(self) -> Registry | None:
        """Where aliases are looked up, if it was told."""
        return self._registry

    @property
    def registry(self) -> Registry:
        return known_here() if self._registry is None else self._registry

    # --- injections ---------------------------------------------------------------------------------------------------

    @property
    def injections(self) -> tuple[Injection, ...]:
        if self._given:
            self._injections = (Injection(self._agent, self._given, _OWN, None, None, None, self, self._given),)
            self._given = ()
        return self._injections

    def start_with(self, packs: tuple[Injectable, ...], own: tuple[Injectable, ...]) -> None:
        """An agent is made: it knows what its entity names, and what it is given."""
        if packs:
            self.teach(packs, "entity data", is_saved=False)
        elif all(isinstance(one, type) and issubclass(one, Action) for one in own):
            self._given = resolve(named(own), lambda: self.registry).actions
            index_actions(self._given)  # what does not fit is an error
            return
        if own:
            self.teach(own, _OWN, is_saved=False)

    def teach(
        self, what: tuple[Injectable, ...], source: str, *, is_saved: bool = True, bearer: object = None
    ) -> Injection:
        """Learn something. See ``Agent.inject``."""
        loaded = named(what)
        content = resolve(loaded, lambda: self.registry)
        # What does not fit is an error before all changes.
        known = index_actions([*self.actions, *content.actions, *_solvers_of(content)])
        for group in self.groups:
            check_group(known, group.spec)
        more, saved = None if content.is_plain else content, loaded if is_saved else None
        injection = Injection(self._agent, content.actions, source, more, saved, bearer, self, loaded)
        if content.is_plain:
            self._add(injection)
        else:
            self._take(injection, content)
        self._agent.post(self._take_up, TraceEvent.INJECTED, injection)
        return injection

    def _take(self, injection: Injection, content: Content) -> None:
        """Take an injection that holds more than actions, or raise and be as before."""
        if self.belongings is None:
            self.belongings = Belongings(self._agent)
        belongings = self.belongings
        belongings.check(content)
        self._add(injection)
        try:
            if self._agent.kernel is None:
                belongings.settle()
            else:
                # Posted before the groups are joined, which post as well: members may need the components.
                self._agent.post(belongings.settle_quietly)
                belongings.take_groups()
        except AgentRTError:
            self._let_go(injection)
            injection.is_live = False
            belongings.give_back_groups()
            if self._agent.kernel is None:
                belongings.settle_quietly()
            raise

    def _add(self, injection: Injection) -> None:
        self._injections = (*self.injections, injection)

    def _let_go(self, injection: Injection) -> None:
        self._injections = tuple([one for one in self.injections if one is not injection])

    def forget(self, injection: Injection) -> None:
        """An injection was revoked; called by it."""
        self._let_go(injection)
        if injection.content is not None:
            assert self.belongings is not None
            if self._agent.kernel is None:
                self.belongings.settle_quietly()
            else:
                self._agent.post(self.belongings.settle_quietly)
        self._agent.post(self._take_up, TraceEvent.REVOKED, injection)

    def _take_up(self, event: TraceEvent, injection: Injection) -> None:
        planner = self._agent.planner
        if planner is not None and not planner.execution.is_stopped:
            content = injection.content
            if planner.trace.on:
                detail: tuple[tuple[str, str | int], ...] = (
                    ("source", injection.source),
                    ("actions", len(injection.actions)),
                )
                if content is not None:
                    kinds = ("components", "observers", "groups", "strategies")
                    detail += tuple((kind, len(getattr(content, kind))) for kind in kinds if getattr(content, kind))
                planner.record("", event, detail)
            planner.learn(self._known())
            if content is not None and content.groups:
                planner.learn_groups(self._group_specs())

    @property
    def actions(self) -> tuple[type[Action], ...]:
        """The actions, each once, in the order in which they were learned."""
        if self._given:
            return self._given
        injections = self.injections
        if len(injections) == 1:
            return injections[0].actions
        return tuple(dict.fromkeys(action for injection in injections for action in injection.actions))

    # --- what was read again ------------------------------------------------------------------------------------------

    def pack_files(self) -> set[str]:
        """The real paths of files of packs that were injected as such."""
        packs = [one for injection in self._injections for one in injection.loaded if not isinstance(one, (type, str))]
        return {os.path.realpath(one.file) for one in packs if one.file}

    def relearn(self, renewed: Renewed) -> Callable[[], bool] | None:
        """Check what it knows against what was read again; nothing changes yet.

        Returns:
            What has it take that up, as if each injection were revoked and given anew at one moment, and says whether
            anything changed; None if there is nothing. It is called at an intake.

        Raises:
            DefinitionError: actions do not fit each other any more.
            DataFault: a pack is broken, or names what is not there.
        """
        if self._given:
            given = tuple([one for one in self._given if one not in renewed.removed])
            index_actions(given)
            if given == self._given and not any(map(renewed.touches, given)):
                return None
            return lambda: self._take_up_given(given)
        changes: list[tuple[Injection, tuple[Loaded, ...], Content]] = []
        for injection in self._injections:
            loaded = tuple([_again(one, renewed) for one in injection.loaded if one not in renewed.removed])
            content = before = injection.whole()
            if renewed.has_packs or loaded != injection.loaded:
                content = resolve(loaded, lambda: self.registry)
            if (
                loaded != injection.loaded
                or content != before
                or any(map(renewed.touches, (*content.actions, *content.strategies)))
                or any(given.observe in renewed.functions for given in content.observers)
            ):
                changes.append((injection, loaded, content))
        if not changes:
            return None
        fresh = {injection: content for injection, _, content in changes}
        contents = [fresh.get(one) or one.whole() for one in self._injections]
        known = [action for content in contents for action in (*content.actions, *_solvers_of(content))]
        index = index_actions(known)
        for group in self.groups:
            check_group(index, group.spec)
        groups = [given for content in contents for given in content.groups]
        _check_extended(groups, groups)
        return lambda: self._take_up_again(changes, renewed)

    def _take_up_given(self, given: tuple[type[Action], ...]) -> bool:
        if self._given:
            self._given = given
        else:  # somebody looked at the injections since, and may hold this one
            own = self._injections[0]
            own.actions = own.loaded = given
        self._learn()
        return True

    def _take_up_again(self, changes: list[tuple[Injection, tuple[Loaded, ...], Content]], renewed: Renewed) -> bool:
        for injection, loaded, content in changes:
            injection.loaded = loaded
            if injection.what is not None:
                injection.what = loaded
            injection.actions = content.actions
            injection.content = None if content.is_plain else content
        if self.belongings is None and any(one.content is not None for one, _, _ in changes):
            self.belongings = Belongings(self._agent)
        if self.belongings is not None:
            self.belongings.renew(renewed)
            self.belongings.settle_quietly()
        self._learn()
        return True

    def _learn(self) -> None:
        planner = self._agent.planner
        if planner is not None and not planner.execution.is_stopped:
            planner.learn(self._known())
        self.take_up_groups()

    # --- numbers that were changed ------------------------------------------------------------------------------------

    def _known(self) -> Known:
        """Its actions by activity, with the numbers that count for it."""
        known = index_actions(self.actions)
        tuned, barred = self._by_hand
        known = known if tuned is None else tuned.of(known)
        return known if barred is None else barred.of(known)

    def _group_specs(self) -> dict[str, tuple[Declared, ...]]:
        """The groups that it is in, but for those whose activity somebody's hand has given to an action."""
        _, barred = self._by_hand
        found: dict[str, tuple[Declared, ...]] = {}
        for activity, spec in [(group.spec.activity, group.spec) for group in self.groups]:
            if barred is None or not barred.is_forced(activity):
                found[activity] = (*found.get(activity, ()), spec)
        return found

    def steer(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        """Which actions are out by hand, by their names; see ``Agent.steer``."""
        tuned, before = self._by_hand
        if before is None and not disabled and not forced:
            return
        self._by_hand = tuned, Barred(disabled, forced) if disabled or forced else None
        self._learn()

    def tune(self, which: str | type[Action], numbers: Numbers) -> int:
        """Change numbers of actions, for this agent alone. See ``Agent.tune``."""
        known, barred = self._by_hand
        tuned = known or Tuned()
        others = tuned.tune(index_actions(self.actions), which, numbers)
        if others:
            self._by_hand = tuned, barred
            planner = self._agent.planner
            if planner is not None and not planner.execution.is_stopped:
                planner.retune(self._known(), others)
        return len(others)

    # --- task groups --------------------------------------------------------------------------------------------------

    def group(self, name: str) -> TaskGroup:
        groups = {group.name: group for group in self.groups}
        if name not in groups:
            remedy = "Inject a pack that names it under 'task_groups', or add the agent to it."
            raise UnknownTaskGroupError(name, f"the agent {self._agent.name!r}", list(groups), remedy)
        return groups[name]

    def join_group(self, group: TaskGroup) -> None:
        """Become a member of a task group, whose activity no known action may take arguments for."""
        check_group(index_actions(self.actions), group.spec)
        if any(other.name == group.name for other in self.groups):
            raise WrongStateError(
                "group.add", f"{self._agent.name!r} is in another group called {group.name}", "Give it another name."
            )
        self.groups += (group,)
        self._agent.post(self.take_up_groups)

    def leave_group(self, group: TaskGroup) -> None:
        """Be a member of a task group no more."""
        if group in self.groups:
            self.groups = tuple([one for one in self.groups if one is not group])
            self._agent.post(self.take_up_groups)

    def take_up_groups(self) -> None:
        """Tell the planner of the groups, at an intake."""
        planner = self._agent.planner
        if planner is not None and not planner.execution.is_stopped:
            planner.learn_groups(self._group_specs())

    # --- the life of the agent ----------------------------------------------------------------------------------------

    def enter(self, tick: int) -> None:
        """The agent is about to join a runtime: its groups begin to act, unless another member had them do so."""
        for group in self.groups:
            if group.runtime is None:
                group.begins_to_act(tick)

    def equip(self, planner: Planner) -> None:
        """Give a new planner all that there is; nobody thinks yet."""
        planner.learn(self._known())
        if self.groups:
            planner.learn_groups(self._group_specs())
        if self.belongings is not None:
            self.belongings.observers.reset()

    def begin(self) -> None:
        """The agent begins to live: so do its observers; what was told to its groups since it was added counts."""
        self.settle()
        for group in self.groups:
            group.publish()
        self.take_up_groups()

    def settle(self) -> None:
        """Take up at once what waits for an intake; when the agent has left, that never comes."""
        if self.belongings is not None:
            self.belongings.settle_quietly()

    def end_observers(self, reason: str, then: Callable[[], object]) -> None:
        """Stop the observers; ``then`` is called when none is left, at once if there is none."""
        if self.belongings is None:
            then()
        else:
            self.belongings.observers.leave(reason, then)

    def leave_shared_groups(self) -> None:
        """Leave the groups that the agent shares with others; its own ones stay, with their tasks."""
        for group in self.groups:
            if group.owner is not self._agent:
                group.remove(self._agent)

    def __repr__(self) -> str:
        return f"<Knowledge of {self._agent.name!r}: {len(self.actions)} actions, {len(self.groups)} task groups>"


def _again(one: Loaded, renewed: Renewed) -> Loaded:
    """A pack, read again if its file changed; whatever else is injected is what it was."""
    if isinstance(one, (type, str)) or not one.file or os.path.realpath(one.file) not in renewed.files:
        return one
    from pathlib import Path  # slow to import

    from agentrt.packs.loader import load_pack

    return load_pack(Path(one.file), alias=one.alias)


def _check_extended(wanted: Iterable[GivenGroup], groups: Iterable[GivenGroup]) -> None:
    """Whether what extends a group finds that one among those that an agent has then."""
    known = {given.alias for given in groups if isinstance(given.kind, type)}
    for given in wanted:
        if not isinstance(given.kind, type) and given.kind.extends not in known:
            text = (
                f"'{given.alias}' extends the task group '{given.kind.extends}', which this agent has not. "
                f"Inject a pack that lists that group first, or list it in this pack as well."
            )
            place = given.place
            raise InvalidPackError([(place.pointer, text)], file=place.file, lines=[place.line])


def _solvers_of(content: Content) -> list[type[Action]]:
    """The actions by which a plan has solved what strategies provide."""
    if not content.strategies:
        return []
    from agentrt.strategy.solve import solver_of  # most agents have none

    return [solver_of(wanted) for strategy in content.strategies for wanted in _provided(strategy)]


def _provided(strategy: type[Strategy]) -> tuple[type[Dependency[Any]], ...]:
    spec = getattr(strategy, "spec", None)  # a base class has none, which is told later
    return () if spec is None else spec.provides


# --- the index of actions ---------------------------------------------------------------------------------------------

Known: TypeAlias = "Mapping[str, tuple[ActionSpec, ...]]"
"""Activity to the actions that perform it, in the order in which they were learned."""


class Tuned:
    """Actions of one agent whose numbers are others than their classes declare.

    Units are told apart by their specs, so each has one spec until its numbers change again.
    """

    __slots__ = ("_numbers", "_specs")

    def __init__(self) -> None:
        self._numbers: dict[ActionSpec, Numbers] = {}  # by what the class declares
        self._specs: dict[ActionSpec, ActionSpec] = {}  # what stands for it

    def of(self, known: Known) -> Known:
        specs = self._specs
        return {activity: tuple([specs.get(one, one) for one in ones]) for activity, ones in known.items()}

    def tune(self, known: Known, which: str | type[Action], numbers: Numbers) -> dict[Declared, Declared]:
        """Change numbers of what is called so, or is of a class; what stood for each, and what does now."""
        found = [one for ones in known.values() for one in ones if which in (one.cls, one.label, one.name)]
        merged: dict[ActionSpec, Numbers] = {}
        for spec in found:
            before = self._numbers.get(spec, Numbers())
            given = {name: value for name, value in numbers._asdict().items() if value is not None}
            merged[spec] = before._replace(**given)
        made: dict[ActionSpec, ActionSpec] = {}
        others: dict[Declared, Declared] = {}
        for spec, one in merged.items():  # it raises before anything is changed
            others[self._specs.get(spec, spec)] = made[spec] = spec.with_numbers(one)
        self._numbers.update(merged)
        self._specs.update(made)
        return others


class Barred:
    """Actions of one agent that are out by somebody's hand: they stand in their places, and are impossible.

    An action that is forced has its activity for itself: all others that perform it are out, also such as are learned
    later. Whether it can be performed it still says itself.
    """

    __slots__ = ("_activities", "_disabled", "_forced", "_specs")

    def __init__(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        self._disabled = disabled
        self._forced = forced
        self._activities: set[str] = set()  # those of which an action is forced
        self._specs: dict[ActionSpec, ActionSpec] = {}  # what stands for each: the same one each time

    def is_forced(self, activity: str) -> bool:
        return activity in self._activities

    def of(self, known: Known) -> Known:
        found: dict[str, tuple[ActionSpec, ...]] = {}
        self._activities = set()
        for activity, specs in known.items():
            is_forced = any(_is_called(one, self._forced) for one in specs)
            if is_forced:
                self._activities.add(activity)
            found[activity] = tuple([
                self._out(one)
                if _is_called(one, self._disabled) or (is_forced and not _is_called(one, self._forced))
                else one
                for one in specs
            ])  # fmt: skip
        return found

    def _out(self, spec: ActionSpec) -> ActionSpec:
        found = self._specs.get(spec)
        if found is None:
            found = self._specs[spec] = spec.barred()
        return found


def _is_called(spec: ActionSpec, names: frozenset[str]) -> bool:
    return spec.label in names or spec.name in names


_MOST_INDEXES = 1024

_indexes: dict[tuple[type[Action], ...], Known] = {}
_relabels: dict[tuple[ActionSpec, str], ActionSpec] = {}


def forget_indexes(classes: Iterable[type]) -> None:
    """Classes were read again: what was made of them is made anew."""
    changed = frozenset(classes)
    for key in [key for key in _indexes if not changed.isdisjoint(base for cls in key for base in cls.__mro__)]:
        del _indexes[key]
    for spec, label in [key for key in _relabels if key[0].cls.__dict__.get("spec") is not key[0]]:
        del _relabels[spec, label]


def index_actions(actions: Iterable[type[Action]]) -> Known:
    """Sort actions by activity and check them against each other. Agents that know the same share one index.

    Raises:
        DefinitionError: actions of one activity take different arguments.
        PlaceholderError: a step is given arguments that its activity does not take, or a compound reads a field that an
            action of the step does not give.
    """
    key = tuple(dict.fromkeys(actions))
    found = _indexes.get(key)
    if found is None:
        index: dict[str, list[ActionSpec]] = {}
        for cls in key:
            spec = getattr(cls, "spec", None)
            if spec is None:
                raise DefinitionError(class_name(cls), "it has no 'does'.", "Name the activity that it performs.")
            if spec.kind not in ("leaf", "compound"):
                raise DefinitionError(
                    spec.subject,
                    f"it is a {spec.kind}, and nothing to be known as an action.",
                    "Make a TaskGroup of a task group action and add the agent to it, or name it in a pack under "
                    "'task_groups'.",
                )
            index.setdefault(spec.activity, []).append(spec)
        found = {activity: _told_apart(specs) for activity, specs in index.items()}
        for specs in found.values():
            _check_args(specs)
        for specs in found.values():
            for spec in specs:
                _check_calls(spec, found)
                _check_outputs(spec, found)
        if len(_indexes) >= _MOST_INDEXES:
            _indexes.clear()  # classes that are made at run time must not be kept for ever
        _indexes[key] = found
    return found


@lru_cache(_MOST_INDEXES)
def asked_for(actions: tuple[type[Action], ...]) -> tuple[tuple[str, str], ...]:
    """Who of actions asks for which activity in a step: the class in words, and the activity."""
    specs = [spec for cls in actions if (spec := getattr(cls, "spec", None)) is not None]
    return tuple((spec.subject, step.activity) for spec in specs for step in spec.steps or ())


def _told_apart(specs: list[ActionSpec]) -> tuple[ActionSpec, ...]:
    """Two classes of one name perform one activity: give the later one a label of its own, since paths are ids."""
    labels: dict[str, int] = {}
    apart: list[ActionSpec] = []
    for spec in specs:
        number = labels[spec.label] = labels.get(spec.label, 0) + 1
        apart.append(spec if number == 1 else _relabeled(spec, f"{spec.label}#{number}"))
    return tuple(apart)


def _relabeled(spec: ActionSpec, label: str) -> ActionSpec:
    """The same with another label; the same object each time, so that who learns more does not lose what it runs."""
    found = _relabels.get((spec, label))
    if found is None:
        if len(_relabels) >= _MOST_INDEXES:
            _relabels.clear()
        found = _relabels[spec, label] = copy.copy(spec)
        found.label = label
    return found


def _check_args(specs: tuple[ActionSpec, ...]) -> None:
    first = specs[0]
    for other in specs[1:]:
        if other.cls.Args.signature() != first.cls.Args.signature():
            raise DefinitionError(
                other.subject,
                f"it performs '{first.activity}' with the arguments {other.cls.Args.describe()}, but {first.subject} "
                f"with {first.cls.Args.describe()}.",
                "All actions of one activity take the same arguments: share one Args class.",
            )


def _check_calls(spec: ActionSpec, index: Known) -> None:
    """What a compound gives its steps, as far as it is known now."""
    for number, step in enumerate(spec.steps or (), 1):
        performers = index.get(step.activity)
        if not performers:
            continue
        try:
            performers[0].cls.Args.check_call(step.activity, step.constants, step.bound)
        except ArgumentError as error:
            raise PlaceholderError(
                spec.subject,
                number,
                error.argument,
                f"the activity does not take it: {error.text}",
                "Correct the step.",
            ) from error


def _check_outputs(spec: ActionSpec, index: Known) -> None:
    for number, fields in spec.uses.items():
        if number == 0 or spec.steps is None:
            continue
        step = spec.steps[number - 1]
        for performer in index.get(step.activity, ()):
            given = performer.output_fields()
            for field in fields:
                if field and field not in given:
                    raise PlaceholderError(
                        spec.subject,
                        number,
                        field,
                        f"a later step reads it, but {performer.subject}, which performs '{step.activity}', gives no "
                        f"such output.{did_you_mean(field, given)}",
                        f"Declare it in its Output; it gives: {', '.join(given) or 'nothing'}.",
                    )


def check_group(index: Known, spec: ActionSpec) -> None:
    """A task group takes no arguments: nor may the actions that perform the same activity.

    Raises:
        DefinitionError: they take some.
    """
    _check_args((spec, *index.get(spec.activity, ())))
