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

Strategies are loaded into the agent's gameplay; one that code had loaded, too, stays there when packs let go of it.

A component that the entity had already is left alone, now and later. One that names protocols in ``also_as`` is found
under them as well, as with ``Entity.add``. What packs extend is the agent's own group of that
name: an extension without its group is an error of ``inject``; one whose group was revoked waits until it is back.

Source: seed 001, "Injecting actions", "Personal task groups".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.task_group import TaskGroup
from agentrt.errors import ENDS_PROGRAM, AgentRTError, AuthorError, ComponentError, DefinitionError, InvalidPackError
from agentrt.observers import Observers
from agentrt.packs.task_groups import GroupEntry
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.task_book import Extension
    from agentrt.agent import Agent
    from agentrt.injection import Content, GivenComponent, GivenGroup, GivenObserver
    from agentrt.strategy.strategy import Strategy

__all__ = ["Belongings"]


class _Held:
    """A component that an alias stands for, or None if it could not be made, which is not tried again.

    ``is_ours``: a pack put it there; so it goes with the last that names it.
    """

    __slots__ = ("component", "is_ours")

    def __init__(self, component: Any, is_ours: bool) -> None:
        self.component: Any = component
        self.is_ours: bool = is_ours


class Belongings:
    """What one agent has from packs besides actions.

    Args:
        agent: whose they are.

    Attributes:
        groups: its personal task groups by name.
        observers: its observers.
    """

    __slots__ = ("_agent", "_components", "_extensions", "_strategies", "groups", "observers")

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._components: dict[str, _Held] = {}
        self._extensions: dict[str, tuple[TaskGroup, Extension]] = {}
        self._strategies: dict[type[Strategy], Callable[[], None]] = {}
        self.groups: dict[str, TaskGroup] = {}
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
        """Find out whether an injection can be taken, before anything changes.

        Args:
            content: what it teaches.

        Raises:
            DefinitionError: the entity cannot hold components, or a strategy does not fit those that there are.
            InvalidPackError: a task group is extended that the agent has not.
        """
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
        """Make the groups that it should have and has not, and extend them.

        Raises:
            InvalidPackError: an extension does not fit its group.
        """
        self._forget_destroyed()
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

    def _forget_destroyed(self) -> None:
        """Somebody may have destroyed a group that it should have: it gets another one."""
        self.groups = {alias: group for alias, group in self.groups.items() if not group.is_gone}
        self._extensions = {alias: pair for alias, pair in self._extensions.items() if not pair[0].is_gone}

    def settle(self) -> None:
        """Take what it should have and has not, give back what it has and should not.

        Raises:
            ComponentError: a component cannot be made.
            InvalidPackError: an extension does not fit its group.
        """
        self.give_back_groups()
        observers: dict[str, GivenObserver] = self._wanted("observers")
        self.observers.keep(observers, "the observer was revoked")
        runtime = self._agent.runtime
        components: dict[str, GivenComponent] = self._wanted("components")
        if runtime is None:
            self.drop_components()
        elif any(alias not in components for alias in self._components):
            # When the queue comes to it, thinking that this intake stops is in the queue: drop behind that.
            runtime.kernel.call_soon(runtime.kernel.call_soon, self.drop_components)
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
        runtime, planner = self._agent.runtime, self._agent.planner
        is_unwinding = planner is not None and planner.execution.is_aborting
        if runtime is not None and (is_unwinding or self.observers.is_stopping):
            runtime.post(self.drop_components)
            return
        entity = self._agent.entity
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
