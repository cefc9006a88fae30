"""What is said to the author of a task-groups document: the rules of ``schema``, and those that no schema can say.

``task_groups.schema.json`` says which keys there are and what stands under them. ``sense`` finds what is well formed
and still means nothing: a range that falls, a task that is both multiple and permanent, an extension that also wants to
be a group. Both kinds of problems come in one error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agentrt.errors import did_you_mean
from agentrt.packs.alias import LONGEST_ALIAS, is_alias, kind_of, shown
from agentrt.packs.document import Problem
from agentrt.packs.schema import Path, Rules

__all__ = ["TASK_GROUPS", "sense"]

_METADATA = ("does", "utility", "name", "sunk_cost_boost", "weight", "scheduler_priority", "status_text_key")

_EXAMPLE = 'Write { "task_groups": { "mod:task_groups:name": {} } }.'


def sense(value: Any) -> Iterator[Problem]:
    """Find what is well formed in a document and means nothing.

    Args:
        value: the document; whatever is not well formed in it is passed over.
    """
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
    pair: Any = item.get("utility")
    is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, int | float) for end in pair)
    if is_pair and pair[0] > pair[1]:
        yield Problem((*path, "utility"), f"the range falls from {pair[0]} to {pair[1]}. Write [low, high].")


# --- sentences --------------------------------------------------------------------------------------------------------


def _unknown_key(key: str, known: tuple[str, ...], path: Path) -> str:
    place = ("a document of task groups", "", "a task group", "", "a task")[len(path)]
    return (
        f"{place} has no key {shown(key)}.{did_you_mean(key, known)} The keys are {', '.join(known)}; "
        f"keys that start with '_' are ignored."
    )


def _wrong_type(error: Any, path: Path) -> str:
    value = shown(error.instance)
    last = path[-1] if path else ""
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


def _wrong_pattern(error: Any, path: Path) -> str:
    text = error.instance
    if path[-1] in ("does", "activity"):
        return f"{shown(text)} is no activity. Write \"mod:verb\", without spaces and '/'."
    found = kind_of(text) if is_alias(text) else ""
    if found:
        return f"{shown(text)} is of the kind '{found}', and this names a task group. Write \"mod:task_groups:name\"."
    rule = "Write \"mod:task_groups:name\", with letters, digits, '_', '.' and '-'."
    return f"{shown(text)} is not the alias of a task group. {rule}"


def _too_long(_error: Any, _path: Path) -> str:
    return f"a name has at most {LONGEST_ALIAS} characters."


def _wrong_const(error: Any, _path: Path) -> str:
    return f"'type' is \"task_groups\" or left out, and this is {shown(error.instance)}."


def _out_of_range(error: Any, path: Path) -> str:
    if "utility" in path:
        return f"a utility is from 0 to 1, and this is {shown(error.instance)}."
    return f"'{path[-1]}' is not negative, and this is {shown(error.instance)}."


def _wrong_length(error: Any, _path: Path) -> str:
    return f"a range is a pair [low, high], and this list has the length {len(error.instance)}."


def _missing(error: Any, path: Path) -> str:
    missing = " and ".join(f"'{name}'" for name in error.validator_value if name not in error.instance)
    if not path:
        return f"{missing} is missing. {_EXAMPLE}"
    if len(path) == 2 and "extends" not in error.instance:
        return f"this group lacks {missing}. An object without keys refers to a group that is registered elsewhere."
    return f"this {'extension' if len(path) == 2 else 'task'} lacks {missing}."


_SENTENCES: dict[str, Callable[[Any, Path], str]] = {
    "type": _wrong_type,
    "pattern": _wrong_pattern,
    "maxLength": _too_long,
    "const": _wrong_const,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "minItems": _wrong_length,
    "maxItems": _wrong_length,
    "required": _missing,
}

TASK_GROUPS = Rules("task_groups", "document of task groups", _SENTENCES, _unknown_key)
"""The rules for documents of task groups."""
