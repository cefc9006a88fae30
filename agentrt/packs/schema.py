"""The schemas of documents, and what they say to the author of a document that breaks one.

The rules for packs stand in ``pack.schema.json``, which ``agentrt packs schema`` prints and editors can use; those for
task groups in ``task_groups.schema.json``. This module applies them with the `jsonschema` package and turns each
finding into a sentence of ours: the package says what a value fails, an author needs to know what to write. ``Rules``
has one function for each keyword that its schema uses; a test keeps the two in step. Those for packs stand here, those
for task groups in ``task_groups``.

All problems of a document are found, then ordered by where they stand in it, then worded; only the first
``MOST_TOLD`` are, because wording looks for near names, and because nobody reads the hundredth.

`jsonschema` is imported when the first pack is checked. Deciding between "alias" and "pack in place" with ``anyOf``
was rejected: its findings come as trees of branches that have to be guessed at. The schema lets keywords for strings
and for objects stand side by side instead, and each finding is plain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, Protocol

from agentrt.errors import InvalidPackError, did_you_mean
from agentrt.packs.alias import KIND_OF_KEY, LONGEST_ALIAS, is_alias, kind_of, pointer_to, shown
from agentrt.packs.document import Document, Path, Problem, lines_of

MOST_TOLD = 50

_KEY_OF_KIND = {kind: key for key, kind in KIND_OF_KEY.items()}

_FILES = {"ai_pack": "pack.schema.json", "task_groups": "task_groups.schema.json"}
KINDS_OF_DOCUMENTS = tuple(_FILES)  # the first is that of packs


class Finding(Protocol):
    """What a value fails: a ``ValidationError`` of the package."""

    instance: Any  # the value
    validator: str  # the keyword of the schema
    validator_value: Sequence[str]  # what stands under it; not only texts, but where it is read
    schema: Mapping[str, Any]
    absolute_path: Iterable[str | int]
    absolute_schema_path: Collection[str | int]


class Rules(NamedTuple):
    """What a kind of document has to be."""

    kind: str  # which schema it is checked against
    what: str  # what errors call such a document
    sentences: Mapping[str, Callable[[Finding, Path], str]]  # by keyword of the schema: about a value that breaks it
    object_at: Callable[[Path], str]  # what an object at a place is called


@cache
def schema_text(kind: str = "ai_pack") -> str:
    """The JSON Schema of a kind of document, as it stands in its file."""
    from importlib.resources import files  # slow to import, and only needed here

    return (files("agentrt.packs") / _FILES[kind]).read_text(encoding="utf-8")


def schema(kind: str = "ai_pack") -> dict[str, Any]:
    """The JSON Schema of a kind of document, as a new dict."""
    loaded: dict[str, Any] = json.loads(schema_text(kind))
    return loaded


def check(document: Document, rules: Rules, more: Iterable[Problem] = ()) -> None:
    """Check a document against its schema; ``InvalidPackError`` has all of its problems and ``more``, in its order."""
    problems: list[tuple[Path, Callable[[], str]]] = [
        (problem.path, partial(str, problem.text)) for problem in (*document.problems, *more)
    ]
    lacking: set[Path] = set()
    try:
        for error in _validator(rules.kind).iter_errors(document.value):
            problems.extend(_problems_of(error, rules, lacking))
    except RecursionError:  # the caller was close to the limit of its own stack already
        problems.append(((), lambda: "is nested too deep to be checked here."))
    if not problems:
        return
    order = _order_in(document.value)
    # A key that is repeated in an object which a later one replaced has no place: it comes first, behind the whole.
    problems.sort(key=lambda found: (order.get(found[0], 0), found[0] not in order))
    lines = lines_of(document.text)
    raise InvalidPackError(
        [(pointer_to(path), word()) for path, word in problems[:MOST_TOLD]],
        lines=[lines.get(path, 0) for path, _ in problems[:MOST_TOLD]],
        file=document.file,
        omitted=max(0, len(problems) - MOST_TOLD),
        what=rules.what,
    )


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(kind))


def _order_in(value: object) -> dict[Path, int]:
    """Where each path of a document stands in it."""
    order: dict[Path, int] = {}
    stack: list[tuple[Path, object]] = [((), value)]
    while stack:
        path, item = stack.pop()
        order[path] = len(order)
        if isinstance(item, dict):
            stack.extend(((*path, key), child) for key, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend(((*path, index), item[index]) for index in reversed(range(len(item))))
    return order


# --- from findings to sentences ---------------------------------------------------------------------------------------


def _problems_of(error: Finding, rules: Rules, lacking: set[Path]) -> Iterator[tuple[Path, Callable[[], str]]]:
    """Split a finding into problems. One finding may name several keys of an object."""
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = tuple(error.schema["properties"])
        for key in error.instance:
            if key not in known and not key.startswith("_"):
                yield (*path, key), partial(_unknown_key, rules.object_at(path), key, known)
        return
    if error.validator == "required":
        if path in lacking:
            return  # there is one such finding for each missing key, and one sentence for all of them
        lacking.add(path)
    if "propertyNames" in error.absolute_schema_path:
        path = (*path, error.instance)
    yield path, partial(rules.sentences[error.validator], error, path)


def _unknown_key(what: str, key: str, known: tuple[str, ...]) -> str:
    told = [one for one in known if one != "$schema"]  # which is for editors
    return (
        f"{what} has no key {shown(key)}.{did_you_mean(key, known)} The keys are {', '.join(told)}; "
        f"keys that start with '_' are ignored."
    )


def _wrong_type(error: Finding, path: Path) -> str:
    value = shown(error.instance)
    if not path:
        return f'a pack is a JSON object, and this is {value}. Write {{ "actions": [...] }}.'
    *_, parent, last = ("", *path)
    if last == "$schema":
        return wrong_schema(error)
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


def wrong_schema(error: Finding) -> str:
    """What is said of a ``$schema`` that is no text."""
    return f"'$schema' is the way to a schema for your editor, and this is {shown(error.instance)}. Write a text."


def _wrong_pattern(error: Finding, path: Path) -> str:
    key = str(path[-2])
    kind = KIND_OF_KEY[key]
    text = error.instance
    found = kind_of(text) if is_alias(text) else ""
    if found:
        return f"{shown(text)} is of the kind '{found}', and this is '{key}'. Move it to '{_KEY_OF_KIND[found]}'."
    return f"{shown(text)} is not an alias. Write \"mod:{kind}:name\", with letters, digits, '_', '.' and '-'."


def _wrong_enum(error: Finding, _path: Path) -> str:
    value = error.instance
    near = did_you_mean(value, error.validator_value) if isinstance(value, str) else ""
    return f'this is "append" or "override", and not {shown(value)}.{near}'


_SENTENCES: dict[str, Callable[[Finding, Path], str]] = {
    "type": _wrong_type,
    "pattern": _wrong_pattern,
    "maxLength": lambda _error, _path: f"an alias has at most {LONGEST_ALIAS} characters.",
    "const": lambda error, _path: f"'type' is \"ai_pack\" or left out, and this is {shown(error.instance)}.",
    "enum": _wrong_enum,
}

PACK = Rules("ai_pack", "pack", _SENTENCES, lambda path: "'mixintypes'" if path[-1:] == ("mixintypes",) else "a pack")
