"""Belongings: what an agent has from packs besides actions: components, observers, task groups, strategies.

What it should have follows from its live injections alone; ``settle`` compares that with what it has, and takes or
gives back the difference. So it does not matter in which order injections came and went in between, and what two of
them name stays until both are revoked. It is called at once while the agent is in no runtime, and at the intake, with
the actions, while it is in one.

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

Source: Stonehearth, AI: "Injecting actions", Observers; "Personal task groups".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.activity.tasks.group import TaskGroup
from agentrt.errors import ENDS_PROGRAM, AgentRTError, AuthorError, ComponentError, DefinitionError, InvalidPackError
from agentrt.packs.loader import Pack
from agentrt.packs.task_groups import GroupEntry
from agentrt.words import error_words, repr_of

if TYPE_CHECKING:
    from agentrt.activity.tasks.group import Extension
    from agentrt.agent.injection import Content, GivenComponent, GivenGroup, GivenObserver, Injectable, Learner
    from agentrt.kernel.strand import Strand
    from agentrt.strategy.declare import Strategy

__all__ = ["ai_of", "entry_of", "packs_of", "words_for", "Observers", "Belongings"]

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


@dataclass(eq=False, slots=True)
class _Observer:
    """One of them."""

    _owner: Observers
    alias: str
    strand: Strand | None = None  # None once it has ended

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """Its strand ended."""
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
        """Those that have not ended, in the order in which they began."""
        return [one.strand for one in self._begun.values() if one.strand is not None]

    @property
    def running(self) -> tuple[str, ...]:
        """The aliases of those that have not ended, likewise."""
        return tuple(alias for alias, one in self._begun.items() if one.strand is not None)

    @property
    def is_stopping(self) -> bool:
        """Whether one that was told to stop has not ended."""
        return any(strand.stop_reason is not None for strand in self.strands)

    def keep(self, wanted: Mapping[str, GivenObserver], reason: str) -> None:
        """Stop all but the wanted ones."""
        for alias, one in tuple(self._begun.items()):
            if alias not in wanted:
                if one.strand is None:
                    del self._begun[alias]
                else:
                    one.strand.stop(reason)

    def begin(self, wanted: Mapping[str, GivenObserver]) -> None:
        """Begin the wanted ones that were not begun; their first steps come in this tick, in order."""
        kernel = self._agent.kernel
        if kernel is None or self._then is not None:
            return
        for alias, given in wanted.items():
            if alias not in self._begun:
                self._begun[alias] = one = _Observer(self, alias)
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
        """One of them ended; called by it."""
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            planner = self._agent.planner
            assert planner is not None  # it has been in a runtime
            planner.report(f"observers/{one.alias}", "observe", error)
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
        groups = (*self._wanted("groups").values(), *content.groups)
        known = {given.alias for given in groups if not isinstance(given.kind, GroupEntry)}
        for given in content.groups:
            if isinstance(given.kind, GroupEntry) and given.kind.extends not in known:
                text = (
                    f"'{given.alias}' extends the task group '{given.kind.extends}', which this agent has not. "
                    f"Inject a pack that lists that group first, or list it in this pack as well."
                )
                raise InvalidPackError([(given.place.pointer, text)], file=given.place.file)

    # --- taking and giving back ---------------------------------------------------------------------------------------

    def take_groups(self) -> None:
        """Make the groups that it should have and has not, and extend them."""
        # Somebody may have destroyed a group that it should have: it gets another one.
        self.groups = {alias: group for alias, group in self.groups.items() if not group.is_gone}
        self._extensions = {alias: pair for alias, pair in self._extensions.items() if not pair[0].is_gone}
        wanted: dict[str, GivenGroup] = self._wanted("groups")
        for alias, given in wanted.items():
            if not isinstance(given.kind, GroupEntry) and alias not in self.groups:
                group = TaskGroup(given.kind, name=alias, owner=self._agent)
                group.add(self._agent)
                self.groups[alias] = group
        for alias, given in wanted.items():
            if isinstance(given.kind, GroupEntry) and alias not in self._extensions:
                base = self.groups.get(given.kind.extends)
                if base is not None:
                    try:
                        self._extensions[alias] = base, base.extend(given.kind.tasks)
                    except AuthorError as error:
                        place = given.kind
                        raise InvalidPackError([(place.pointer, error.text)], file=place.file) from error

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
                    self._components[alias] = _Held(None, False)
                    continue
                there = entity.get(type(made))
                if there is None:
                    entity.add(made, *getattr(made, "also_as", ()))
                    self._components[alias] = _Held(made, True)
                    continue
                self._close(alias, made)  # a factory tells what it makes by making it
            shared = any(held.component is there and held.is_ours for held in self._components.values())
            self._components[alias] = _Held(there, shared)
        return errors

    def _make(self, given: GivenComponent) -> Any:
        place = given.place
        try:
            made = given.make(self._agent.entity, **copy.deepcopy(dict(given.settings)))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            words = f"making it raised {error_words(error)}."
            raise ComponentError(given.alias, words, file=place.file, pointer=place.pointer) from error
        if made is None:
            raise ComponentError(given.alias, "the factory returned None.", file=place.file, pointer=place.pointer)
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
        entity = agent.entity
        for alias in reversed(gone):
            held = self._components.pop(alias)
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
