"""The schema of packs, and what it says to the author of a pack that breaks it.

The rules stand in ``pack.schema.json``, which ``agentrt packs schema`` prints and editors can use. This module applies
them with the `jsonschema` package and turns each finding into a sentence of ours: the package says what a value fails,
an author needs to know what to write. ``_SENTENCES`` has one function for each keyword that the schema uses; a test
keeps the two in step.

All problems of a document are found, then ordered by where they stand in it, then worded; only the first
``MOST_TOLD`` are, because wording looks for near names, and because nobody reads the hundredth.

`jsonschema` is imported when the first pack is checked. Deciding between "alias" and "pack in place" with ``anyOf``
was rejected: its findings come as trees of branches that have to be guessed at. The schema lets keywords for strings
and for objects stand side by side instead, and each finding is plain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from agentrt.errors import InvalidPackError, did_you_mean
from agentrt.packs.alias import KIND_OF_KEY, LONGEST_ALIAS, is_alias, kind_of, pointer_to, shown
from agentrt.packs.document import Document

__all__ = ["MOST_TOLD", "check", "schema", "schema_text"]

MOST_TOLD = 50

_KEY_OF_KIND = {kind: key for key, kind in KIND_OF_KEY.items()}
_Path = tuple[str | int, ...]


@cache
def schema_text() -> str:
    """The JSON Schema of packs, as it stands in its file."""
    from importlib.resources import files  # slow to import, and only needed here

    return (files("agentrt.packs") / "pack.schema.json").read_text(encoding="utf-8")


def schema() -> dict[str, Any]:
    """The JSON Schema of packs, as a new dict."""
    loaded: dict[str, Any] = json.loads(schema_text())
    return loaded


def check(document: Document) -> None:
    """Check a document against the schema.

    Args:
        document: the document, with the problems that were found while it was parsed.

    Raises:
        InvalidPackError: with all problems of the document, in its order.
    """
    problems: list[tuple[_Path, Callable[[], str]]] = [
        (problem.path, lambda text=problem.text: text)  # type: ignore[misc]
        for problem in document.problems
    ]
    try:
        for error in _validator().iter_errors(document.value):
            problems.extend(_problems_of(error))
    except RecursionError:  # the caller was close to the limit of its own stack already
        problems.append(((), lambda: "is nested too deep to be checked here."))
    if not problems:
        return
    order = _Order(document.value)
    problems.sort(key=lambda found: order.of(found[0]))
    raise InvalidPackError(
        [(pointer_to(path), word()) for path, word in problems[:MOST_TOLD]],
        file=document.file,
        omitted=max(0, len(problems) - MOST_TOLD),
    )


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


class _Order:
    """Where a path stands in a document: the position of each of its keys among its siblings."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._positions: dict[_Path, dict[str, int]] = {}

    def of(self, path: _Path) -> tuple[int, ...]:
        position: list[int] = []
        item = self._value
        for depth, part in enumerate(path):
            if isinstance(item, dict):
                siblings = self._positions.get(path[:depth])
                if siblings is None:
                    siblings = self._positions[path[:depth]] = {key: index for index, key in enumerate(item)}
                position.append(siblings.get(str(part), -1))
                item = item.get(part)
            elif isinstance(item, list) and isinstance(part, int):
                position.append(part)
                item = item[part]
        return tuple(position)


# --- from findings to sentences ---------------------------------------------------------------------------------------


def _problems_of(error: Any) -> Iterator[tuple[_Path, Callable[[], str]]]:
    """Split a finding into problems. One finding may name several keys of an object."""
    path: _Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = tuple(error.schema["properties"])
        for key in error.instance:
            if key not in known and not key.startswith("_"):
                yield (*path, key), _bind(_unknown_key, key, known, path)
        return
    if "propertyNames" in error.absolute_schema_path:
        path = (*path, error.instance)
    yield path, _bind(_SENTENCES[error.validator], error, path)


def _bind(function: Callable[..., str], *args: Any) -> Callable[[], str]:
    return lambda: function(*args)


def _unknown_key(key: str, known: tuple[str, ...], path: _Path) -> str:
    place = "'mixintypes'" if path and path[-1] == "mixintypes" else "a pack"
    return (
        f"{place} has no key {shown(key)}.{did_you_mean(key, known)} The keys are {', '.join(known)}; "
        f"keys that start with '_' are ignored."
    )


def _wrong_type(error: Any, path: _Path) -> str:
    value = shown(error.instance)
    if not path:
        return f'a pack is a JSON object, and this is {value}. Write {{ "actions": [...] }}.'
    *_, parent, last = ("", *path)
    if isinstance(last, str) and parent == "components":
        return f"the settings of a component are a JSON object, and this is {value}. Write {{}} for none."
    if parent == "ai_packs":
        return f"a required pack is an alias or a pack written in place, and this is {value}."
    if isinstance(last, int):
        return f'this is a list of aliases, and {value} is none. Write "mod:{KIND_OF_KEY[str(parent)]}:name".'
    if last == "mixintypes":
        return f'\'mixintypes\' is a JSON object, and this is {value}. Write {{ "actions": "override" }}.'
    either = " or an object from alias to settings" if last == "components" else ""
    return f"'{last}' is a list of aliases{either}, and this is {value}. Put square brackets around it."


def _wrong_pattern(error: Any, path: _Path) -> str:
    key = str(path[-2])
    kind = KIND_OF_KEY[key]
    text = error.instance
    found = kind_of(text) if is_alias(text) else ""
    if found:
        return f"{shown(text)} is of the kind '{found}', and this is '{key}'. Move it to '{_KEY_OF_KIND[found]}'."
    return f"{shown(text)} is not an alias. Write \"mod:{kind}:name\", with letters, digits, '_', '.' and '-'."


def _too_long(_error: Any, _path: _Path) -> str:
    return f"an alias has at most {LONGEST_ALIAS} characters."


def _wrong_const(error: Any, _path: _Path) -> str:
    return f"'type' is \"ai_pack\" or left out, and this is {shown(error.instance)}."


def _wrong_enum(error: Any, _path: _Path) -> str:
    value = error.instance
    near = did_you_mean(value, error.validator_value) if isinstance(value, str) else ""
    return f'this is "append" or "override", and not {shown(value)}.{near}'


_SENTENCES: dict[str, Callable[[Any, _Path], str]] = {
    "type": _wrong_type,
    "pattern": _wrong_pattern,
    "maxLength": _too_long,
    "const": _wrong_const,
    "enum": _wrong_enum,
}
