"""The menu of a thought: activities of the agent, with what their arguments may be.

A menu is a closed list. An answer names an activity of it and values for its arguments; a JSON schema says which, is
given to the model, and the answer is checked against it. An argument that takes something of the game (an entity, a
place) is offered by names, and the answer's name is looked up here, where it stands for that and for nothing else. So
nothing that a model says is taken for more than a choice among what was offered.

Source: ours, minds.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from agentrt.activity.author.arguments import REQUIRED, ActionArgs
from agentrt.errors import DefinitionError
from agentrt.minds.asked import MisfitError
from agentrt.minds.prompt import rendered
from agentrt.words import called, first_line, repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action

MOST_OPTIONS: Final = 24
_MOST_CHOICES: Final = 50
_MOST_TEXT: Final = 300  # characters of a text that an answer gives
_MOST_LIST: Final = 20
_MOST_NAME: Final = 80  # characters of a choice
_MOST_SAMPLES: Final = 16  # of one activity


class Option:
    """Something on a menu: an activity, what it is about, and what its arguments may be.

    Args:
        activity: its name, or a declared one.
        about: what it is, for the model; by default what its action says about itself.
        choices: for an argument, what it may be: values, things of the game (offered by their names), or a mapping from
            names to things. Arguments without choices take a plain value of their type. Of several of one name the
            second is offered as ``Ann (2)``.
    """

    __slots__ = ("about", "activity", "choices")

    def __init__(self, activity: object, about: str = "", /, **choices: object) -> None:
        self.activity: str = str(getattr(activity, "name", activity))
        self.about: str = about
        self.choices: dict[str, dict[str, Any]] = {name: _named(name, of) for name, of in choices.items()}

    def only(self, samples: Sequence[Mapping[str, Any]]) -> Option:
        """The same with those choices that some arguments have."""
        made = Option(self.activity, self.about)
        made.choices = {
            name: {key: value for key, value in of.items() if any(one[name] is value for one in samples)}
            for name, of in self.choices.items()
        }
        return made

    def __repr__(self) -> str:
        inner = "".join(f", {name}={list(of)}" for name, of in self.choices.items())
        return f"Option({self.activity!r}{inner})"


def _named(argument: str, choices: object) -> dict[str, Any]:
    if isinstance(choices, Mapping):
        pairs = [(str(name), value) for name, value in choices.items()]
    elif isinstance(choices, Collection) and not isinstance(choices, (str, bytes)):
        pairs = [(one if isinstance(one, str) else _name_of(one), one) for one in choices]
    else:
        problem = f"the choices of '{argument}' are {repr_of(choices, 80)}."
        raise DefinitionError("Option", problem, "Write a list, or a mapping from names to what they stand for.")
    found: dict[str, Any] = {}
    for told, value in pairs[:_MOST_CHOICES]:
        name = first = rendered(told)[:_MOST_NAME] or "?"  # players name things, too, and may call them as they like
        number = 1
        while name in found:
            number += 1
            name = f"{first} ({number})"
        found[name] = value
    return found


def _name_of(value: object) -> str:
    if isinstance(value, (bool, int, float)) or value is None:
        return str(value)
    return called(value)


class Choice(NamedTuple):
    """What was chosen."""

    activity: str
    args: dict[str, Any]  # ready to be performed with: things, and not their names
    why: str  # in the model's words
    said: Mapping[str, Any] = {}  # the answer as it came

    def words(self) -> str:
        """In a few words, for people."""
        inner = ", ".join(f"{name}={called(value)}" for name, value in self.args.items())
        return f"{self.activity}({inner})" + (f": {self.why}" if self.why else "")


class Menu:
    """What a thought may choose."""

    __slots__ = ("_args", "_known", "options")

    def __init__(self, subject: str, options: Iterable[Option], known: Mapping[str, type[Action]]) -> None:
        # only what the agent can perform at all, each once, and no more than a model can keep in mind
        found = {one.activity: one for one in options if one.activity in known}
        self.options: tuple[Option, ...] = tuple(found.values())[:MOST_OPTIONS]
        self._known = known
        self._args = {one.activity: _args_schema(subject, one, known[one.activity].Args) for one in self.options}

    def schema(self, most: int = 1) -> dict[str, Any]:
        """The JSON schema of an answer: one choice, or a list of them."""
        forms = [form for form in self._args.values() if form["properties"]]
        choice = {
            "type": "object",
            "properties": {
                "activity": {"type": "string", "enum": list(self._args)},
                "args": {"anyOf": [*forms, {"type": "object"}]} if forms else {"type": "object"},
                "why": {"type": "string", "maxLength": _MOST_TEXT, "description": "Why, in a few words."},
            },
            "required": ["activity", "args", "why"],
            "additionalProperties": False,
        }
        if most == 1:
            return choice
        steps = {"type": "array", "items": choice, "minItems": 1, "maxItems": most}
        return {
            "type": "object",
            "properties": {"steps": steps},
            "required": ["steps"],
            "additionalProperties": False,
        }

    def lines(self) -> str:
        """The menu as a prompt has it."""
        return "\n".join(f"- {one.activity}({self._called(one)})" + (f": {about}" if about else "")
                         for one in self.options for about in (self._about(one),))  # fmt: skip

    def _about(self, option: Option) -> str:
        return option.about or first_line(self._known[option.activity].__doc__)

    def plain(self) -> tuple[dict[str, Any], ...]:
        """The same as plain values, for scripted models."""
        return tuple(
            {
                "activity": one.activity,
                "about": self._about(one),
                "args": {
                    name: list(one.choices[name]) if name in one.choices else form.get("enum", form.get("type", ""))
                    for name, form in self._args[one.activity]["properties"].items()
                },
            }
            for one in self.options
        )

    def samples(self, option: Option) -> list[dict[str, Any]]:
        """Arguments by which to find out whether an activity could run now: each choice, alone and with the others.

        None if somebody has to make up an argument, or if there are more than can be tried.
        """
        form = self._args[option.activity]
        if any(name not in option.choices for name in form["required"]):
            return []
        if math.prod(map(len, option.choices.values())) > _MOST_SAMPLES:
            return []
        return [
            dict(zip(option.choices, one, strict=True)) for one in product(*map(dict.values, option.choices.values()))
        ]

    def choose(self, answer: object) -> Choice:
        """What an answer chooses.

        Raises:
            MisfitError: nothing of the menu.
        """
        if not isinstance(answer, Mapping):
            raise MisfitError("the answer is no object", "it is no object")
        activity = answer.get("activity")
        if not isinstance(activity, str) or activity not in self._args:
            problem = f"activity is {repr_of(activity, 60)}, and not one of {', '.join(self._args)}"
            raise MisfitError(problem, "its activity is not on the menu")
        args = answer.get("args")
        given: dict[str, Any] = dict(args) if isinstance(args, Mapping) else {}
        check_answer(self._args[activity], given, f"args of {activity}")
        option = next(one for one in self.options if one.activity == activity)
        made = {name: option.choices[name][value] if name in option.choices else value for name, value in given.items()}
        return Choice(activity, made, str(answer.get("why") or "")[:_MOST_TEXT], dict(answer))

    def _called(self, option: Option) -> str:
        form = self._args[option.activity]
        told = []
        for name, one in form["properties"].items():
            values = one.get("enum")
            kind = "one of " + ", ".join(map(str, values)) if values else _kind(one)
            told.append(f"{name}: {kind}" + ("" if name in form["required"] else ", may be left out"))
        return "; ".join(told)


def _kind(form: Mapping[str, Any]) -> str:
    kind = form.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def check_answer(schema: Mapping[str, Any], value: object, what: str) -> dict[str, Any]:
    """A plain value that fits a schema of ours, of an object; ``MisfitError`` says what is wrong with another one."""
    from jsonschema import Draft202012Validator

    if not isinstance(value, dict):
        raise MisfitError(f"{what} is no object", f"{what} is no object")
    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    if error is not None:
        place = "".join(f"/{one}" for one in error.absolute_path)
        raise MisfitError(f"{what}{place}: {error.message[:_MOST_TEXT]}", f"{what}{place} {_broken(error.validator)}")
    return value


def _broken(rule: object) -> str:
    """What is wrong by a rule of a schema, without what broke it."""
    return _RULES.get(str(rule), f"does not keep to '{rule}'")


_RULES: Final = {
    "enum": "is none of what was offered", "type": "is of another type", "required": "lacks something",
    "additionalProperties": "has what nobody asked for",
}  # fmt: skip


def load_validator() -> None:
    """Load what checks answers: that takes longer than a tick should."""
    check_answer({"type": "object"}, {}, "nothing")


def _args_schema(subject: str, option: Option, kind: type[ActionArgs]) -> dict[str, Any]:
    forms: dict[str, tuple[dict[str, Any] | None, bool]] = _forms(kind)  # type: ignore[arg-type]  # classes can be hashed
    unknown = next((name for name in option.choices if name not in forms), None)
    if unknown is not None:
        problem = f"the menu has choices for '{unknown}', which {option.activity} does not take."
        raise DefinitionError(subject, problem, f"It takes {kind.describe()}.")
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, (form, is_required) in forms.items():
        if name in option.choices:
            properties[name] = {"type": "string", "enum": list(option.choices[name])}
        elif form is not None:
            properties[name] = form
        elif not is_required:
            continue  # its default it is
        else:
            problem = f"nobody says what '{name}' of {option.activity} may be: it is no plain value."
            raise DefinitionError(subject, problem, f"Write Option({option.activity!r}, {name}=[...]).")
        if is_required:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@lru_cache(maxsize=1024)
def _forms(kind: type[ActionArgs]) -> dict[str, tuple[dict[str, Any] | None, bool]]:
    """For each argument a JSON schema, or None if it takes no plain value; and whether it has to be given."""
    return {name: (_form(hint), default is REQUIRED) for name, (hint, default) in kind.declared().items()}


_KINDS: Final[dict[Any, dict[str, Any]]] = {
    bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    str: {"type": "string", "maxLength": _MOST_TEXT}, type(None): {"type": "null"}, None: {"type": "null"},
}  # fmt: skip


def _form(hint: object) -> dict[str, Any] | None:
    """The JSON schema of a type; None if its values are not plain."""
    if hint in _KINDS:
        return _KINDS[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        return _form(inner[0])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        forms = [_form(one) for one in inner]
        return None if None in forms else {"anyOf": forms}
    if (hint is list or origin in (list, Sequence)) and len(inner) == 1:
        item = _form(inner[0])
        return None if item is None else {"type": "array", "items": item, "maxItems": _MOST_LIST}
    return None
