"""Documents of task groups: JSON that declares groups as data, and what an alias of a task group stands for.

A document maps aliases to groups. Each entry is one of three:

* a *group*: its metadata and its tasks, from which a ``TaskGroupAction`` class is made, once, for all who use it;
* a *reference*, an object without keys of its own: a group that is registered elsewhere under that alias;
* an *extension*: ``extends`` names a group, ``tasks`` are added to it.

An alias of the kind ``task_groups`` may be registered to a class, to a file or to a mapping; a document that is
registered under an alias has an entry of that name. Whoever extends a group that is not there decides what that means:
see ``agentrt.agent.belongings`` for packs and ``agentrt.town`` for towns.

Source: seed 001, "Town task groups", "Personal task groups".
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agentrt.activity.tasks.declare import (
    TaskDeclaration,
    TaskGroupAction,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.errors import DefinitionError, InvalidPackError, ManifestError, did_you_mean
from agentrt.packs import schema
from agentrt.packs.alias import pointer_to
from agentrt.packs.document import copy_inline, read
from agentrt.packs.group_schema import TASK_GROUPS, sense

if TYPE_CHECKING:
    from agentrt.packs.loader import PackSource
    from agentrt.packs.registry import Registry

__all__ = [
    "GroupEntry",
    "TaskGroupsDocument",
    "declarations_of",
    "is_document",
    "load_task_groups",
    "looks_like",
    "task_group_of",
]

_METADATA = ("does", "utility", "name", "sunk_cost_boost", "weight", "scheduler_priority", "status_text_key")


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """One entry of a document of task groups."""

    alias: str
    file: str  # the file that it stands in; empty for one from code
    pointer: str  # its place there
    # the attributes of the class that is made of it
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    tasks: tuple[TaskDeclaration, ...] = ()  # what its tasks may do
    extends: str = ""  # the alias of the group that it adds its tasks to; empty for others

    @property
    def is_reference(self) -> bool:
        """Whether it stands for a group that is registered elsewhere."""
        return not self.metadata and not self.extends

    def make_class(self) -> type[TaskGroupAction]:
        """Make the class that it describes.

        Raises:
            InvalidPackError: it does not make a task group.
        """
        words = self.alias.rpartition(":")[2].replace(".", "_").replace("-", "_").split("_")
        name = "".join(word[:1].upper() + word[1:] for word in words) or "Group"
        try:
            return type(
                name, (TaskGroupAction,), {"name": self.alias, **self.metadata, "tasks": self.tasks, "__doc__": None}
            )
        except DefinitionError as error:
            raise InvalidPackError([(self.pointer, error.text)], file=self.file) from error


@dataclass(frozen=True, slots=True)
class TaskGroupsDocument:
    """A document of task groups, checked and frozen."""

    file: str = ""  # the file that it was read from; for a registered mapping its alias; empty for others from code
    # its entries, by alias, in the order of the document
    groups: Mapping[str, GroupEntry] = field(default_factory=lambda: MappingProxyType({}), hash=False)


def is_document(thing: object) -> bool:
    """Whether a registered thing can be read as a document: a file, a resource or a mapping."""
    return isinstance(thing, (Mapping, os.PathLike)) or (
        not isinstance(thing, type) and callable(getattr(thing, "is_file", None))
    )


def looks_like(value: object) -> bool:
    """Whether a JSON value means to be a document of task groups, and not a pack."""
    return isinstance(value, dict) and (
        value.get("type") == "task_groups" or isinstance(value.get("task_groups"), dict)
    )


def load_task_groups(source: PackSource, *, file: str = "") -> TaskGroupsDocument:
    """Load a document of task groups.

    Args:
        source: a ``Path`` or a resource of a package, which is read as JSON; or the document as a mapping.
        file: for a mapping, what errors call it.

    Returns:
        The document; nothing that ``source`` does later changes it.

    Raises:
        InvalidPackError: it cannot be read or is no such document; with all of its problems.
        ManifestError: ``source`` is neither a file nor a mapping.
    """
    if not is_document(source):
        raise ManifestError(
            file or "load_task_groups",
            f"task groups are loaded from a Path, a resource or a mapping, and this is a {type(source).__name__}.",
            "Write pathlib.Path(...) around the name of a file.",
        )
    document = copy_inline(source, file) if isinstance(source, Mapping) else read(source)
    schema.check(document, TASK_GROUPS, sense(document.value))
    entries = {
        alias: _entry(alias, group, document.file)
        for alias, group in document.value["task_groups"].items()
        if not alias.startswith("_")
    }
    return TaskGroupsDocument(document.file, MappingProxyType(entries))


def _entry(alias: str, group: dict[str, Any], file: str) -> GroupEntry:
    metadata = {key: group[key] for key in _METADATA if key in group}
    return GroupEntry(
        alias,
        file,
        pointer_to(("task_groups", alias)),
        MappingProxyType(metadata),
        tuple(declarations_of(group.get("tasks", ()))),
        group.get("extends", ""),
    )


def declarations_of(tasks: Iterable[Mapping[str, Any]]) -> Iterator[TaskDeclaration]:
    """Make declarations of what a document says of tasks.

    Args:
        tasks: each with ``activity`` and ``utility``, and perhaps ``multiple``, ``permanent`` and ``args``.

    Raises:
        DefinitionError: they are not well formed; a checked document is.
    """
    for task in tasks:
        pair = task["utility"]
        utility = (pair[0], pair[1]) if isinstance(pair, list) else pair
        if task.get("permanent", False):
            yield declare_permanent_task(task["activity"], task.get("args", {}), utility)
        elif task.get("multiple", False):
            yield declare_multiple_tasks(task["activity"], utility)
        else:
            yield declare_task(task["activity"], utility)


def task_group_of(
    alias: str, registry: Registry, *, file: str = "", pointer: str = ""
) -> type[TaskGroupAction] | GroupEntry:
    """What an alias of a task group stands for.

    Args:
        file: the file that names it, for the error.
        pointer: the place in that file, for the error.

    Returns:
        The class of the group; or the entry of an extension.

    Raises:
        UnknownAliasError: nobody registered it.
        DefinitionError: it names something else than a task group.
        InvalidPackError: the document that it names is none, or holds no such group.
    """
    thing = registry.get(alias, file=file, pointer=pointer)
    if isinstance(thing, type) and issubclass(thing, TaskGroupAction):
        return thing
    if not is_document(thing):
        raise DefinitionError(
            alias, f"it names {thing!r}.", "Register a class derived from agentrt.TaskGroupAction, or a JSON document."
        )
    document = registry.task_groups(alias)
    entry = document.groups.get(alias)
    if entry is None:
        text = (
            f"it is registered as '{alias}', but declares no group of that name."
            f"{did_you_mean(alias, document.groups)} It declares: {', '.join(document.groups) or 'none'}."
        )
        raise InvalidPackError([("/task_groups", text)], file=document.file)
    if entry.is_reference:
        text = f"the group is registered elsewhere, it says, but '{alias}' is registered to this very document."
        raise InvalidPackError([(entry.pointer, f"{text} Declare the group here.")], file=document.file)
    return entry if entry.extends else registry.group_class(entry)
