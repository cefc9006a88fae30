"""Task groups: activities that are scheduled from outside of the agents that perform them; and a town's book of them.

For authors: a ``TaskGroupAction`` declares the tasks of a group (``declare_task`` and its like), a ``TaskGroup`` has
members and ``Task`` objects.

``TaskGroups`` is made of documents of task groups (see ``agentrt.packs.task_groups``): a file, a mapping, or an alias
that is registered to one of them or to a class. It keeps one ``TaskGroup`` for each name, for as long as the town is.

* An entry without keys stands for the group that is registered under its alias.
* An extension adds its tasks to the group of that name in the book; the group is declared before it, in the same
  document or in an earlier one.
* Agents are put into groups by name, as the description of a job lists them. Each ``add`` is taken back by one
  ``remove``: who has two jobs that share a group stays in it until both have ended.

A ``Job`` is what an agent got with its job: the AI of its abilities, and its places in groups; ``end`` takes both back.

Ad hoc groups need no book: make a ``TaskGroup``, and destroy it when it is done.

Source: Stonehearth, AI: "Town task groups", "Injecting actions" (jobs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agentrt.activity.tasks.declare import (
    TaskDeclaration,
    TaskGroupAction,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.activity.tasks.group import Task, TaskGroup, TaskState
from agentrt.activity.tasks.views import TaskGroupView, TaskView
from agentrt.agent.knowledge import entry_of, known_here, words_for
from agentrt.errors import AuthorError, DefinitionError, InvalidPackError, UnknownTaskGroupError
from agentrt.packs.document import is_document
from agentrt.packs.registry import Registry, task_group_of
from agentrt.packs.task_groups import GroupEntry, TaskGroupsDocument, load_task_groups

if TYPE_CHECKING:
    from pathlib import Path

    from agentrt.activity.tasks.group import Extension
    from agentrt.agent.agent import Agent
    from agentrt.agent.knowledge import Injection

__all__ = [
    "Job",
    "Task",
    "TaskDeclaration",
    "TaskGroup",
    "TaskGroupAction",
    "TaskGroupView",
    "TaskGroups",
    "TaskState",
    "TaskView",
    "declare_multiple_tasks",
    "declare_permanent_task",
    "declare_task",
]


@dataclass(eq=False, slots=True)
class Job:
    """What an agent has with its job. Made by ``TaskGroups.employ``."""

    _book: TaskGroups
    agent: Agent  # who has it
    title: str  # what to call it
    injection: Injection | None  # the AI of its abilities; None if it has none
    groups: tuple[str, ...]  # the names of its task groups
    is_over: bool = False  # whether it ended

    def end(self) -> None:
        """The agent loses the job: it leaves the groups and forgets the abilities. A second call does nothing."""
        if not self.is_over:
            self.is_over = True
            self._book.remove(self.agent, self.groups)
            if self.injection is not None:
                self.injection.revoke()

    def __repr__(self) -> str:
        return f"<Job {self.title!r} of {self.agent.name!r}{', over' if self.is_over else ''}>"


class TaskGroups:
    """The task groups of a town.

    Args:
        sources: taken in order, as by ``load``.
        registry: where aliases are looked up; by default what the installed packages offer.

    Raises:
        DataFault: as for ``load``.

    Source: Stonehearth, AI: "Town task groups".
    """

    __slots__ = ("_groups", "_places", "_registry", "extensions")

    def __init__(self, *sources: Path | Mapping[str, Any] | str | TaskGroup, registry: Registry | None = None) -> None:
        self._registry = registry
        self._groups: dict[str, TaskGroup] = {}
        self.extensions: tuple[Extension, ...] = ()  # what its documents added to groups, in that order
        self._places: WeakKeyDictionary[Agent, dict[str, int]] = WeakKeyDictionary()  # how often each was added
        for source in sources:
            self.load(source)

    # --- what there is ------------------------------------------------------------------------------------------------

    def load(self, source: Path | Mapping[str, Any] | str | TaskGroup) -> None:
        """Add groups, and extend those that there are. Either all of it is taken or nothing.

        Args:
            source: a document of task groups, as a file or as a mapping; an alias that is registered to one, or to a
                class; or a group that was made elsewhere.

        Raises:
            InvalidPackError: a document is not valid, declares a group again, or extends one that is not there.
            UnknownAliasError: nobody registered an alias.
            DefinitionError: an alias names no task group.
        """
        if isinstance(source, TaskGroup):
            self._put({source.name: source}, (), "")
            return
        table = known_here() if self._registry is None else self._registry
        if isinstance(source, str):
            thing = table.get(source)
            if not is_document(thing):
                kind = task_group_of(source, table)
                assert isinstance(kind, type)  # an entry stands in a document
                self._put({source: TaskGroup(kind, name=source)}, (), "")
                return
            document = table.task_groups(source)
        else:
            document = load_task_groups(source)
        self._load(document, table)

    def _load(self, document: TaskGroupsDocument, table: Registry) -> None:
        new: dict[str, TaskGroup] = {}
        extensions: list[GroupEntry] = []
        for alias, entry in document.groups.items():
            if entry.extends:
                if entry.extends not in new and entry.extends not in self._groups:
                    raise _refused(entry, f"it extends '{entry.extends}', which is not declared before it.")
                extensions.append(entry)
                continue
            if alias in self._groups:
                raise _refused(entry, "there is a group of that name already. Extend it under another alias.")
            if entry.is_reference:
                kind = task_group_of(alias, table, **entry.place)
                if isinstance(kind, GroupEntry):
                    raise _refused(entry, "what is registered elsewhere extends a group, and is none.")
            else:
                kind = table.group_class(entry)
            new[alias] = TaskGroup(kind, name=alias)
        self._put(new, extensions, document.file)

    def _put(self, new: Mapping[str, TaskGroup], extensions: Iterable[GroupEntry], file: str) -> None:
        for name in new:
            if name in self._groups:
                problem = "there is a group of that name in this book already."
                raise DefinitionError(name, problem, "Give it another name.")
        made: list[Extension] = []
        for entry in extensions:
            group = new.get(entry.extends) or self._groups[entry.extends]
            try:
                made.append(group.extend(entry.tasks))
            except AuthorError as error:
                for extension in reversed(made):
                    extension.revoke()
                raise InvalidPackError([(entry.pointer, error.text)], file=file, lines=[entry.line]) from error
        self._groups.update(new)
        self.extensions += tuple(made)

    def get_task_group(self, name: str) -> TaskGroup:
        """The group of an alias; ``UnknownTaskGroupError`` if there is none."""
        group = self._groups.get(name)
        if group is None:
            remedy = "Declare it in a document of task groups that the book loads, or correct the name."
            raise UnknownTaskGroupError(name, "the book of task groups", list(self._groups), remedy)
        return group

    def __iter__(self) -> Iterator[TaskGroup]:
        return iter(tuple(self._groups.values()))

    def __len__(self) -> int:
        return len(self._groups)

    def __contains__(self, name: object) -> bool:
        return name in self._groups

    # --- who is in them -----------------------------------------------------------------------------------------------

    def add(self, agent: Agent, names: Iterable[str]) -> None:
        """Put an agent into groups; it considers their tasks from the next intake on.

        Args:
            agent: the agent.
            names: the groups' names, as the description of a job lists them under ``task_groups``.

        Raises:
            UnknownTaskGroupError: there is no such group.
            WrongStateError, DefinitionError: as for ``TaskGroup.add``. Whatever the error, it was put into none.
        """
        groups = [self.get_task_group(name) for name in _names(names)]
        added: list[str] = []
        try:
            for group in groups:
                is_new = agent not in group.members  # it may have left its runtime, and the group with it
                group.add(agent)
                places = self._places.setdefault(agent, {})
                places[group.name] = 1 if is_new else places.get(group.name, 0) + 1
                added.append(group.name)
        except AuthorError:
            self.remove(agent, added)
            raise

    def put_back(self, agent: Agent, name: str) -> None:
        """Put an agent back into a group, as ``agentrt.rebuild`` saved it; the next ``add`` counts as the first.

        So it does not matter whether its job is given back before or after. Nothing happens for a member. Errors are
        those of ``add``.
        """
        group = self.get_task_group(name)
        if agent not in group.members:
            group.add(agent)
            self._places.setdefault(agent, {})[name] = 0

    def remove(self, agent: Agent, names: Iterable[str] | None = None) -> None:
        """Take an agent out of groups, as often as it was put into them; a group that it is not in is passed over.

        Without names it is taken out of all, however often it was added.
        """
        places = self._places.get(agent, {})
        for name in tuple(places) if names is None else _names(names):
            count = 0 if names is None else places.get(name, 0) - 1
            if count > 0:
                places[name] = count
            elif places.pop(name, None) is not None:
                self._groups[name].remove(agent)

    def employ(self, agent: Agent, description: object, *, source: str | None = None) -> Job:
        """Give an agent a job: it learns the abilities and joins the task groups that the description names.

        Args:
            agent: the agent.
            description: an object or a mapping that may have ``abilities``, a bearer of AI (see ``Agent.inject_from``)
                or the alias of a pack, and ``task_groups``, a list of names of groups of this book.
            source: what to call the job; the description's name by default.

        Returns:
            The job; call its ``end`` when the agent loses it.

        Raises:
            UnknownTaskGroupError: there is no such group.
            DefinitionError: the abilities bear no AI, or do not fit the agent.
            DataFault: their pack is not valid.

        Source: Stonehearth, AI: "Injecting actions", "abilities"; "Town task groups".
        """
        title = words_for(description) if source is None else source
        names = _names(entry_of(description, "task_groups") or ())
        for name in names:
            self.get_task_group(name)
        abilities = entry_of(description, "abilities")
        injection = None
        if abilities is not None:
            inject = agent.inject if isinstance(abilities, str) else agent.inject_from
            injection = inject(abilities, source=title)
        try:
            self.add(agent, names)
        except AuthorError:
            if injection is not None:
                injection.revoke()
            raise
        return Job(self, agent, title, injection, names)

    def destroy(self) -> None:
        """Destroy all groups, with their tasks; the book is empty then."""
        groups, self._groups = self._groups, {}
        self.extensions = ()
        self._places.clear()
        for group in reversed(groups.values()):
            group.destroy()

    def __repr__(self) -> str:
        return f"<TaskGroups: {', '.join(self._groups) or 'none'}>"


def _names(names: Any) -> tuple[str, ...]:
    is_list = isinstance(names, Iterable) and not isinstance(names, (str, Mapping))
    names = tuple(names) if is_list else names
    if not is_list or not all(isinstance(name, str) for name in names):
        raise DefinitionError("task_groups", f"this is {names!r}.", "Write a list of names of task groups.")
    return tuple(dict.fromkeys(names))


def _refused(entry: GroupEntry, text: str) -> InvalidPackError:
    return InvalidPackError([(entry.pointer, text)], file=entry.file, lines=[entry.line])
