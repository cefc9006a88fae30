"""Documents of task groups: JSON that declares groups as data, checked, with a sentence for each mistake.

A document maps aliases to groups. Each entry is one of three:

* a *group*: its metadata and its tasks, from which a ``TaskGroupAction`` class is made, once, for all who use it;
* a *reference*, an object without keys of its own: a group that is registered elsewhere under that alias;
* an *extension*: ``extends`` names a group, ``tasks`` are added to it.

A document is read in two steps whose problems come in one error, because whoever corrects one wants to know of all.
``task_groups.schema.json`` says which keys there are and what stands under them; each of its refusals has a sentence
here that says what to write instead. ``sense`` finds what is well formed and still means nothing: a range that falls,
a task that is both multiple and permanent, an extension that also wants to be a group.

What an alias of a task group stands for says the ``registry``. Whoever extends a group that is not there decides what
that means: ``agentrt.agent.knowledge`` for packs, ``agentrt.tasks`` for towns.

Source: Stonehearth, AI: "Town task groups", "Personal task groups".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from agentrt.errors import DefinitionError, FilePlace, InvalidPackError, ManifestError
from agentrt.packs.alias import LONGEST_ALIAS, is_alias, kind_of, pointer_to, shown
from agentrt.packs.document import Document, Path, Problem, copy_inline, is_document, lines_of, read
from agentrt.packs.schema import Finding, Rules, check, wrong_schema

if TYPE_CHECKING:
    from agentrt.packs.loader import PackSource

_METADATA = ("does", "utility", "name", "sunk_cost_boost", "weight", "scheduler_priority", "status_text_key")


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """One entry of a document of task groups."""

    alias: str
    file: str  # empty for one from code
    pointer: str  # its place there
    line: int  # the line of that place, from 1; 0 for one from code
    metadata: Mapping[str, Any] = field(hash=False)  # attributes of the class that is made of it
    tasks: tuple[TaskDeclaration, ...]  # what its tasks may do
    extends: str  # the alias of the group that it adds its tasks to; empty for others

    @property
    def place(self) -> FilePlace:
        """Where it is written, for whoever tells what is wrong with it."""
        return {"file": self.file, "pointer": self.pointer, "line": self.line}

    @property
    def is_reference(self) -> bool:
        """Whether it stands for a group that is registered elsewhere."""
        return not self.metadata and not self.extends

    def make_class(self) -> type[TaskGroupAction]:
        """Make the class that it describes; ``InvalidPackError`` if that is no task group."""
        words = re.split("[_.-]", self.alias.rpartition(":")[2])
        name = "".join(word[:1].upper() + word[1:] for word in words) or "Group"
        fields = {"name": self.alias, **self.metadata, "tasks": self.tasks, "__doc__": None}
        try:
            return type(name, (TaskGroupAction,), fields)
        except DefinitionError as error:
            raise InvalidPackError([(self.pointer, error.text)], file=self.file, lines=[self.line]) from error


@dataclass(frozen=True, slots=True)
class TaskGroupsDocument:
    """A document of task groups, checked and frozen."""

    file: str  # the file that it was read from; for a registered mapping its alias; empty for others from code
    groups: Mapping[str, GroupEntry] = field(hash=False)  # by alias, in the order of the document


def looks_like(value: object) -> bool:
    """Whether a JSON value means to be a document of task groups, and not a pack."""
    return isinstance(value, dict) and (
        value.get("type") == "task_groups" or isinstance(value.get("task_groups"), dict)
    )


def load_task_groups(source: PackSource, *, file: str = "") -> TaskGroupsDocument:
    """Load a document of task groups: a file, a resource or a mapping, which errors call ``file``.

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
    if isinstance(source, Document):
        document = source
    else:
        document = copy_inline(source, file) if isinstance(source, Mapping) else read(source)
    check(document, TASK_GROUPS, sense(document.value))
    lines = lines_of(document.text)
    entries = {
        alias: _entry(alias, group, document.file, lines.get(("task_groups", alias), 0))
        for alias, group in document.value["task_groups"].items()
        if not alias.startswith("_")
    }
    return TaskGroupsDocument(document.file, MappingProxyType(entries))


def _entry(alias: str, group: dict[str, Any], file: str, line: int) -> GroupEntry:
    metadata = MappingProxyType({key: group[key] for key in _METADATA if key in group})
    tasks = tuple(declarations_of(group.get("tasks", ())))
    pointer = pointer_to(("task_groups", alias))
    return GroupEntry(alias, file, pointer, line, metadata, tasks, group.get("extends", ""))


def declarations_of(tasks: Iterable[Mapping[str, Any]]) -> Iterator[TaskDeclaration]:
    """Make declarations of what a document says of tasks, which was checked."""
    for task in tasks:
        pair = task["utility"]
        utility = (pair[0], pair[1]) if isinstance(pair, list) else pair
        if task.get("permanent", False):
            yield declare_permanent_task(task["activity"], task.get("args", {}), utility)
        elif task.get("multiple", False):
            yield declare_multiple_tasks(task["activity"], utility)
        else:
            yield declare_task(task["activity"], utility)


# --- what means nothing -----------------------------------------------------------------------------------------------


_EXAMPLE = 'Write { "task_groups": { "mod:task_groups:name": {} } }.'


def sense(value: object) -> Iterator[Problem]:
    """Find what is well formed in a document and means nothing; whatever is not well formed is passed over."""
    groups = value.get("task_groups") if isinstance(value, dict) else None
    for alias, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(group, dict) and not alias.startswith("_"):
            yield from _sense_of_group(group, ("task_groups", alias))


def _sense_of_group(group: dict[str, Any], path: Path) -> Iterator[Problem]:
    yield from _sense_of_utility(group, path)
    if "extends" in group:
        for key in _METADATA:
            if key in group:
                text = f"an extension has 'extends' and 'tasks', and no {shown(key)}: that is the group's own."
                yield Problem((*path, key), text)
        if group["extends"] == path[-1]:
            yield Problem((*path, "extends"), "a group cannot extend itself. Give the extension an alias of its own.")
    seen: set[str] = set()
    tasks = group.get("tasks")
    for index, task in enumerate(tasks if isinstance(tasks, list) else ()):
        if isinstance(task, dict):
            yield from _sense_of_task(task, (*path, "tasks", index), seen)


def _sense_of_task(task: dict[str, Any], path: Path, seen: set[str]) -> Iterator[Problem]:
    yield from _sense_of_utility(task, path)
    activity = task.get("activity")
    if isinstance(activity, str):
        if activity in seen:
            text = f"the activity {shown(activity)} is declared twice. Keep one of the two."
            yield Problem((*path, "activity"), text)
        seen.add(activity)
    if task.get("permanent") is True and task.get("multiple") is True:
        yield Problem((*path, "multiple"), "a task is multiple or permanent, and not both. Leave one of them out.")
    if "args" in task and task.get("permanent") is not True:
        text = "only a permanent task has arguments here; the others get them when they are created."
        yield Problem((*path, "args"), text)


def _sense_of_utility(item: dict[str, Any], path: Path) -> Iterator[Problem]:
    pair = item.get("utility")
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(end, int | float) for end in pair):
        return
    if pair[0] > pair[1]:
        yield Problem((*path, "utility"), f"the range falls from {pair[0]} to {pair[1]}. Write [low, high].")


# --- sentences --------------------------------------------------------------------------------------------------------


def _wrong_type(error: Finding, path: Path) -> str:
    value = shown(error.instance)
    last = path[-1] if path else ""
    if path == ("$schema",):
        return wrong_schema(error)
    if not path or path == ("task_groups",):
        return f"task groups are a JSON object, and this is {value}. {_EXAMPLE}"
    if len(path) == 2:
        return f"a task group is a JSON object, and this is {value}. Write {{}} for one that is registered elsewhere."
    if last == "tasks":
        return f"'tasks' is a list, and this is {value}. Put square brackets around it."
    if "utility" in path:
        return f"a utility is a number from 0 to 1, or a pair of them, and this is {value}. Write [0.2, 0.6]."
    if isinstance(last, int):
        return f'a task is a JSON object, and this is {value}. Write {{ "activity": "mod:verb", "utility": 0.5 }}.'
    if last in ("multiple", "permanent"):
        return f"'{last}' is true or false, and this is {value}."
    if last == "args":
        return f"'args' is an object from argument to value, and this is {value}."
    if last in ("sunk_cost_boost", "weight", "scheduler_priority"):
        return f"'{last}' is a number, and this is {value}."
    return f"'{last}' is a text, and this is {value}."


def _wrong_pattern(error: Finding, path: Path) -> str:
    text = error.instance
    if path[-1] in ("does", "activity"):
        return f"{shown(text)} is no activity. Write \"mod:verb\", without spaces and '/'."
    found = kind_of(text) if is_alias(text) else ""
    if found:
        return f"{shown(text)} is of the kind '{found}', and this names a task group. Write \"mod:task_groups:name\"."
    rule = "Write \"mod:task_groups:name\", with letters, digits, '_', '.' and '-'."
    return f"{shown(text)} is not the alias of a task group. {rule}"


def _out_of_range(error: Finding, path: Path) -> str:
    if "utility" in path:
        return f"a utility is from 0 to 1, and this is {shown(error.instance)}."
    return f"'{path[-1]}' is not negative, and this is {shown(error.instance)}."


def _missing(error: Finding, path: Path) -> str:
    missing = " and ".join(f"'{name}'" for name in error.validator_value if name not in error.instance)
    if not path:
        return f"{missing} is missing. {_EXAMPLE}"
    if len(path) == 2 and "extends" not in error.instance:
        return f"this group lacks {missing}. An object without keys refers to a group that is registered elsewhere."
    return f"this {'extension' if len(path) == 2 else 'task'} lacks {missing}."


def _wrong_length(error: Finding, _path: Path) -> str:
    return f"a range is a pair [low, high], and this list has the length {len(error.instance)}."


_SENTENCES: dict[str, Callable[[Finding, Path], str]] = {
    "type": _wrong_type,
    "pattern": _wrong_pattern,
    "maxLength": lambda _error, _path: f"a name has at most {LONGEST_ALIAS} characters.",
    "const": lambda error, _: f"'type' is \"task_groups\" or left out, and this is {shown(error.instance)}.",
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "minItems": _wrong_length,
    "maxItems": _wrong_length,
    "required": _missing,
}

# By how deep it lies: between these are the object under "task_groups", whose keys are free, and lists.
_OBJECTS = ("a document of task groups", "", "a task group", "", "a task")
TASK_GROUPS = Rules("task_groups", "document of task groups", _SENTENCES, lambda path: _OBJECTS[len(path)])
