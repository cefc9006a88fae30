"""Typed arguments and think outputs: what an activity is called with, and what thinking found out.

A class that lists annotated fields, in the manner of a dataclass, is compiled once, when it is defined, into a table of
(name, default, accepted types). Making one checks each value against that table; there is no other check at run time.

What is checked: classes, unions, ``None``, ``Literal``, ``type[...]``, and the outer class of a generic (``list[int]`` is
checked as a list, since looking at every item would cost more than it finds). ``int`` is accepted for ``float``. A protocol
that cannot be checked at run time, a type variable and ``Any`` accept anything.

Rejected: pydantic and msgspec (good, but nothing below the agent imports a third party, and both convert where an
argument should be refused); dataclasses (they neither check nor take unknown names with a sentence that helps).
"""

from __future__ import annotations

import collections.abc
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

from agentrt.errors import ArgumentError, DefinitionError, did_you_mean

__all__ = ["REQUIRED", "ActionArgs", "Fields", "ThinkOutput"]


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Any = _Required()


class _Accept:
    """Which values a field accepts."""

    __slots__ = ("classes", "text", "values")

    def __init__(self, classes: tuple[type, ...] | None, values: tuple[Any, ...], text: str) -> None:
        self.classes = classes  # None accepts anything
        self.values = values
        self.text = text

    def takes(self, value: Any) -> bool:
        classes = self.classes
        return classes is None or isinstance(value, classes) or (bool(self.values) and value in self.values)


_ANYTHING = _Accept(None, (), "anything")


def _compile(hint: Any) -> _Accept:
    if hint is Any or hint is object or isinstance(hint, (typing.TypeVar, str, typing.ForwardRef)):
        return _ANYTHING
    if hint is None or hint is type(None):
        return _Accept((type(None),), (), "None")
    origin = get_origin(hint)
    if origin in (typing.Annotated, typing.Final, typing.ClassVar):
        return _compile(get_args(hint)[0])
    if origin is Literal:
        return _Accept((), get_args(hint), " or ".join(repr(value) for value in get_args(hint)))
    if origin is Union or origin is types.UnionType:
        return _union([_compile(part) for part in get_args(hint)])
    if origin is not None:
        hint = origin
    if hint is collections.abc.Callable:
        return _Accept((collections.abc.Callable,), (), "a callable")  # type: ignore[arg-type]
    if not isinstance(hint, type):
        return _ANYTHING
    if getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False):
        return _ANYTHING
    classes = (float, int) if hint is float else (hint,)
    return _Accept(classes, (), hint.__name__)


def _union(parts: list[_Accept]) -> _Accept:
    classes: tuple[type, ...] = ()
    values: tuple[Any, ...] = ()
    for part in parts:
        if part.classes is None:
            return _ANYTHING
        classes += part.classes
        values += part.values
    return _Accept(classes, values, " or ".join(part.text for part in parts))


@typing.dataclass_transform(kw_only_default=True)
class Fields:
    """A record with named, typed fields. Subclass ``ActionArgs`` or ``ThinkOutput`` instead.

    Args:
        values: one for each field without a default, by name.

    Raises:
        ArgumentError: a value is missing, unknown or of the wrong type.
    """

    __slots__ = ("__dict__",)

    _fields: ClassVar[dict[str, tuple[Any, _Accept]]] = {}
    _unresolved: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            for name, (default, _) in getattr(base, "_fields", {}).items():
                fields[name] = default
        for name in cls.__dict__.get("__annotations__", {}) or {}:
            if name.startswith("_"):
                raise DefinitionError(
                    cls.__qualname__, f"the field '{name}' starts with an underscore.", "Name it without one."
                )
            fields[name] = cls.__dict__.get(name, REQUIRED)
            if name in cls.__dict__ and name in cls.__dict__.get("__annotations__", {}):
                # A class attribute would be found on instances and hide what is missing.
                delattr(cls, name)
        cls._fields = {name: (default, _ANYTHING) for name, default in fields.items()}
        cls._unresolved = bool(fields) and not cls._resolve()

    @classmethod
    def _resolve(cls) -> bool:
        """Look the annotations up; False while a name in them is not defined yet."""
        try:
            hints = typing.get_type_hints(cls, vars(sys.modules[cls.__module__]))
        except NameError:
            return False
        cls._fields = {
            name: (default, _compile(hints.get(name, Any))) for name, (default, _) in cls._fields.items()
        }
        cls._unresolved = False
        return True

    def __init__(self, **values: Any) -> None:
        self._fill("", values)

    @classmethod
    def build(cls, activity: str, values: Mapping[str, Any]) -> Fields:
        """Make one, naming the activity in errors.

        Args:
            activity: what the values are for.
            values: by field name.

        Returns:
            The record.

        Raises:
            ArgumentError: a value is missing, unknown or of the wrong type.
        """
        made = cls.__new__(cls)
        made._fill(activity, values)
        return made

    @classmethod
    def open(cls, values: Mapping[str, Any]) -> Fields:
        """Make one with any fields, unchecked: for outputs whose types are those of what they were taken from.

        Args:
            values: by field name.
        """
        made = cls.__new__(cls)
        made.__dict__.update(values)
        return made

    def _fill(self, activity: str, values: Mapping[str, Any]) -> None:
        cls = type(self)
        if cls._unresolved:
            # A name that only the type checker knows stays unknown: its field accepts anything.
            cls._resolve()
        place = self.__dict__
        found = 0
        for name, (default, accept) in cls._fields.items():
            if name in values:
                found += 1
                value = values[name]
                if not accept.takes(value):
                    raise ArgumentError(
                        activity or cls.__qualname__,
                        name,
                        f"takes {accept.text}, not {type(value).__name__} {value!r}.",
                    )
            elif default is REQUIRED:
                raise ArgumentError(
                    activity or cls.__qualname__,
                    name,
                    f"is missing. Give it, or declare a default for it in {cls.__qualname__}.",
                )
            else:
                value = default
            place[name] = value
        if found != len(values):
            unknown = next(name for name in values if name not in cls._fields)
            raise ArgumentError(
                activity or cls.__qualname__,
                unknown,
                f"is not declared.{did_you_mean(unknown, cls._fields)} Declared: {', '.join(cls._fields) or 'none'}.",
            )

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of the declared fields, in order."""
        return tuple(cls._fields)

    @classmethod
    def signature(cls) -> tuple[tuple[str, str, bool], ...]:
        """Name, accepted types and whether it has a default, for each field; to compare declarations."""
        if cls._unresolved:
            cls._resolve()
        return tuple((name, accept.text, default is REQUIRED) for name, (default, accept) in cls._fields.items())

    @classmethod
    def describe(cls) -> str:
        """The declaration in words, for errors."""
        return f"({', '.join(f'{name}: {text}' for name, text, _ in cls.signature())})"

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def keys(self) -> collections.abc.KeysView[str]:
        """The names of the fields; makes ``**args`` work."""
        return self.__dict__.keys()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({inner})"

    if typing.TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class ActionArgs(Fields):
    """The arguments of an activity. Nest a subclass named ``Args`` in an action.

    Source: seed 001, "Leaf action example", `args`.
    """

    __slots__ = ()


class ThinkOutput(Fields):
    """What thinking found out. Nest a subclass named ``Output`` in an action.

    Source: seed 001, "Leaf action example", `think_output`.
    """

    __slots__ = ()


NO_ARGS = ActionArgs()
