"""Forms: what an input takes, read from the signature of the function that takes it.

Nothing of the function is run to find that out: annotations that are texts are looked at as texts, and never evaluated.
What cannot be read is a field of any type, in which JSON is written.

``checked`` brings what somebody typed, or sent, into the types of a form. What is wrong is an ``EditError`` whose
pointer names the field, so that a page can say it beside that one.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from agentrt.errors import ENDS_PROGRAM, EditError, did_you_mean
from agentrt.words import plain, repr_of, words_of

MOST_FIELDS: Final = 32
MOST_CHOICES: Final = 64
_LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 10_000
_LARGEST: Final = 2**53

ANY: Final = "any"
_KINDS: Final[dict[object, str]] = {bool: "bool", int: "int", float: "float", str: "text", list: "list", dict: "object"}
_BY_NAME: Final = {"bool": "bool", "int": "int", "float": "float", "str": "text", "list": "list", "dict": "object"}
_WORDS: Final = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "text": "a text",
    "list": "a list",
    "object": "an object",
    ANY: "a value",
}


class Field(NamedTuple):
    """One argument of an input."""

    name: str
    kind: str  # bool, int, float, text, list, object or any
    is_required: bool
    default: object = None  # a plain value; None where there is none
    choices: tuple[object, ...] = ()  # the only values, if it says so
    may_be_none: bool = False


class Form(NamedTuple):
    """What an input takes."""

    name: str
    fields: tuple[Field, ...]
    takes_more: bool = False  # whether others than these are taken, too
    problem: str = ""  # why it cannot be told what it takes; empty if it can
    about: str = ""  # the first line of what its author says about it


def form_of(name: str, function: Callable[..., object]) -> Form:
    """The form of an input."""
    try:
        parameters = inspect.signature(function).parameters.values()
        about = words_of((inspect.getdoc(function) or "").partition("\n")[0], 300)
        fields: list[Field] = []
        takes_more = False
        for one in parameters:
            if one.kind is inspect.Parameter.VAR_KEYWORD:
                takes_more = True
            elif one.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
                fields.append(_field(one))
        return Form(name, tuple(fields[:MOST_FIELDS]), takes_more or len(fields) > MOST_FIELDS, about=about)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # a callable of somebody's own
        return Form(name, (), takes_more=True, problem=f"its signature cannot be read: {words_of(error, 200)}")


def _field(parameter: inspect.Parameter) -> Field:
    kind, choices, may_be_none = _type(parameter.annotation)
    default: object = parameter.default
    is_required = default is inspect.Parameter.empty
    if is_required or not _is_plain(default, 0):
        default = None
    if kind == ANY and not choices and default is not None:
        kind = _KINDS.get(type(default), ANY)  # who gives a default says of what type it is
    may_be_none = may_be_none or (not is_required and default is None)
    return Field(words_of(parameter.name, _LONGEST_NAME), kind, is_required, default, choices, may_be_none)


def _is_plain(value: object, depth: int) -> bool:
    if value is None or type(value) in (bool, str):
        return True
    if type(value) in (int, float):
        return bool(plain(value) == value)
    if depth > 4 or type(value) not in (list, dict):
        return False
    ones: list[object] = list(value.values()) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
    return len(ones) <= MOST_CHOICES and all(_is_plain(one, depth + 1) for one in ones)


_Type = tuple[str, tuple[object, ...], bool]


def _type(annotation: object) -> _Type:
    """The kind, the choices, and whether it may be none."""
    if type(annotation) is str:
        return _written(annotation)
    kind = _KINDS.get(annotation) if isinstance(annotation, type) else None
    if kind is not None:
        return kind, (), False
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        others = [one for one in args if one is not NoneType]
        if len(others) == 1:
            kind, choices, _ = _type(others[0])
            return kind, choices, len(others) < len(args)
        return ANY, (), len(others) < len(args)
    if origin is Literal:
        return _choices(args)
    return (_KINDS.get(origin, ANY) if isinstance(origin, type) else ANY), (), False


def _choices(values: tuple[object, ...]) -> _Type:
    choices = tuple(one for one in values if type(one) in (str, int, bool))[:MOST_CHOICES]
    kinds = {_KINDS[type(one)] for one in choices}
    return (kinds.pop() if len(kinds) == 1 else ANY), choices, None in values


def _written(text: str) -> _Type:
    """The same of an annotation that was left a text, as ``from __future__ import annotations`` has them all."""
    parts = [one.strip() for one in text[:_LONGEST_NAME].strip("'\" ").split("|")]
    others = [one for one in parts if one != "None"]
    if len(others) != 1:
        return ANY, (), "None" in parts
    head, _, inner = others[0].partition("[")
    name = head.rpartition(".")[2].strip()
    if name == "Optional" and inner.endswith("]"):
        kind, choices, _ = _written(inner[:-1])
        return kind, choices, True
    if name == "Literal" and inner.endswith("]"):
        try:
            values: object = ast.literal_eval(f"({inner[:-1]},)")
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return ANY, (), False
        kind, choices, may_be_none = _choices(values if isinstance(values, tuple) else ())
        return kind, choices, may_be_none or "None" in parts
    return _BY_NAME.get(name, ANY), (), "None" in parts


# --- what somebody gives ----------------------------------------------------------------------------------------------


def checked(form: Form, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an input, as it takes them.

    Raises:
        EditError: one is missing, unknown or of another type; ``pointer`` names it.
    """
    known = {field.name: field for field in form.fields}
    for name in given:
        if name not in known and not form.takes_more:
            there = f"It takes {', '.join(known)}." if known else "It takes nothing."
            raise EditError(
                f"{form.name} does not take {repr_of(name, 80)}",
                f"{did_you_mean(name, known)} {there}".strip(),
                pointer=_pointer(name),
            )
    found: dict[str, Any] = {}
    for field in form.fields:
        if field.name in given:
            found[field.name] = _value(field, given[field.name])
        elif field.is_required:
            raise EditError(f"'{field.name}' is missing", f"Give {_WORDS[field.kind]}.", pointer=_pointer(field.name))
    return {**given, **found}


def _pointer(name: str) -> str:
    return f"/args/{name.replace('~', '~0').replace('/', '~1')[:_LONGEST_NAME]}"


def _value(field: Field, value: object) -> object:
    fits = {
        "bool": type(value) is bool,
        "int": type(value) is int and abs(value) <= _LARGEST,
        "float": type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e300,  # type: ignore[arg-type]
        "text": type(value) is str and len(value) <= _LONGEST_TEXT,
        "list": type(value) is list,
        "object": type(value) is dict,
        ANY: True,
    }
    if value is None and (field.may_be_none or field.kind == ANY):
        return value
    if not fits[field.kind]:
        raise EditError(
            f"'{field.name}' is {_WORDS[field.kind]}, and not {repr_of(value, 80)}",
            f"Give {_WORDS[field.kind]}.",
            pointer=_pointer(field.name),
        )
    if field.choices and not any(type(one) is type(value) and one == value for one in field.choices):
        raise EditError(
            f"'{field.name}' is {repr_of(value, 80)}",
            f"Choose one of {', '.join(repr_of(one, 60) for one in field.choices)}.",
            pointer=_pointer(field.name),
        )
    return float(value) if field.kind == "float" and type(value) is int else value
