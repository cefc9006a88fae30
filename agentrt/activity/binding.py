"""Binding: how the placeholders of a compound action become the arguments of its steps.

A placeholder is compiled once, when the compound is defined, into a function of one argument, the *scope* of a thinking
compound (``Scope``), so that binding a step is a few calls. What cannot resolve is an error at that moment: too far
back, an unknown step name, an argument that the compound does not declare. Whether a step's output has a field is
checked when the agent learns the actions that perform it (``Compiler.uses``). What a step reads is known then, too
(``Compiler.reads``): when it rejects its arguments, those are to blame from whom they came.

Source: seed 001, "Step declarations".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from agentrt.activity.fields import Fields
from agentrt.activity.placeholders import (
    ARGS,
    ENTITY,
    Placeholder,
    _Attribute,
    _Back,
    _Call,
    _Invoke,
    _Item,
    _Named,
    _Not,
    has_placeholder,
)
from agentrt.errors import PlaceholderError, did_you_mean
from agentrt.words import repr_of

__all__ = ["ARGUMENTS", "Compiler", "Resolver", "Scope"]

ARGUMENTS: Final = -1
"""Stands for the compound's own arguments among the elements that are read."""


class Scope(Protocol):
    """What placeholders are resolved against: a compound that thinks, at its place, with the results so far."""

    frame: Any
    results: list[Any]

    def current_here(self) -> Any:
        """The expected state of the entity at the step being bound."""


Resolver = Callable[[Any], Any]

_DEEPEST: Final = 50  # lists within lists; what lies deeper lies in itself


class Compiler:
    """Turns placeholders of one compound action into functions.

    Args:
        subject: the compound's name, for errors.
        names: step names to step numbers, from 1.
        args: the fields that the compound declares, or None if they are not known.

    Attributes:
        uses: for each step number that is referred to, the output fields that are read, in order; "" for the whole.
        reads: the elements that were read since somebody cleared it, and ``ARGUMENTS`` for the compound's arguments.
    """

    def __init__(self, subject: str, names: Mapping[str, int], args: Sequence[str] | None) -> None:
        self.subject = subject
        self.names = names
        self.args = args
        self.uses: dict[int, list[str]] = {}
        self.reads: set[int] = set()
        self._step = 0  # where a placeholder stands; the output stands behind the last step
        self._place = 0  # what errors call that place
        self._field = ""
        self._depth = 0  # how many containers a placeholder lies in

    def compile(self, step: int, field: str, value: object) -> tuple[Resolver | None, object]:
        """Compile one argument of a step.

        Args:
            step: the step's number, from 1.
            field: the argument's name.
            value: a value, or something with placeholders in it.

        Returns:
            A function of a scope and None, or None and the constant value.

        Raises:
            PlaceholderError: it cannot resolve.
        """
        self._step, self._field, self._place = step, field, step
        if not has_placeholder(value):
            return None, value
        return self._resolver(value), None

    def compile_output(self, steps: int, field: str, value: object) -> tuple[Resolver | None, object]:
        """Compile one field of the compound's own output.

        Args:
            steps: how many steps there are.
            field: the field's name.
            value: a value, or something with placeholders in it.

        Returns:
            As ``compile`` does.

        Raises:
            PlaceholderError: it cannot resolve.
        """
        self._step, self._field, self._place = steps + 1, field, 0
        return (self._resolver(value), None) if has_placeholder(value) else (None, value)

    def _fail(self, problem: str, remedy: str) -> PlaceholderError:
        return PlaceholderError(self.subject, self._place, self._field, problem, remedy)

    def _element(self, number: int, field: str = "") -> None:
        self.reads.add(number)
        used = self.uses.setdefault(number, [])
        if field not in used:
            used.append(field)

    def _resolver(self, value: object) -> Resolver:
        if isinstance(value, Placeholder):
            return self._placeholder(value)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._fail("a placeholder lies in something that contains itself.", "Write it without the circle.")
        try:
            return self._container(value)
        finally:
            self._depth -= 1

    def _container(self, value: Any) -> Resolver:
        if isinstance(value, dict):
            for key in value:
                self._refuse(key, f"is, or is in, the key {key!r} of a dict", "Write CALL(dict, [(key, value), ...]).")
            pairs = [(key, self._resolver(item)) for key, item in value.items()]
            return lambda scope: {key: resolve(scope) for key, resolve in pairs}
        if isinstance(value, (list, tuple)):
            parts = [self._resolver(item) for item in value]
            kind = getattr(type(value), "_make", type(value))  # a named tuple does not take a list
            return lambda scope: kind([resolve(scope) for resolve in parts])
        if isinstance(value, (set, frozenset)):
            kind = type(value)
            for one in value:
                self._refuse(one, f"is in a {kind.__name__}", f"Write CALL({kind.__name__}, [...]), or a list.")
        elif isinstance(value, Fields):
            fields = [(name, self._resolver(inner)) for name, inner in value.__dict__.items()]
            return lambda scope: type(value).open({name: resolve(scope) for name, resolve in fields})
        elif dataclasses.is_dataclass(value) and has_placeholder(value):
            return self._dataclass(value)
        return lambda scope: value

    def _refuse(self, value: object, where: str, remedy: str) -> None:
        """What is hashed has to be known."""
        if has_placeholder(value):
            raise self._fail(f"a placeholder {where}, and what it will be equal to is not known yet.", remedy)

    def _dataclass(self, value: Any) -> Resolver:
        """A copy with what its fields will be, those too that its ``__init__`` does not take.

        ``__init__`` and ``__post_init__`` are not called again: they may have taken what is not kept (``InitVar``).
        """
        kind = type(value)
        kept = [
            (field.name, getattr(value, field.name))
            for field in dataclasses.fields(value)
            if hasattr(value, field.name)
        ]
        fields = [(name, self._resolver(inner)) if has_placeholder(inner) else (name, None) for name, inner in kept]
        put = object.__setattr__  # a frozen one has another

        def resolve(scope: Any) -> Any:
            made = object.__new__(kind)
            if hasattr(value, "__dict__"):
                made.__dict__.update(value.__dict__)
            for (name, inner), (_, resolver) in zip(kept, fields, strict=True):
                put(made, name, inner if resolver is None else resolver(scope))
            return made

        return resolve

    def _placeholder(self, value: Placeholder) -> Resolver:
        if isinstance(value, _Attribute):
            return self._attribute(value)
        if isinstance(value, _Item):
            base, key = self._resolver(value._base), self._resolver(value._key)
            return lambda scope: base(scope)[key(scope)]
        if isinstance(value, _Invoke):
            base = self._resolver(value._base)
            parts = [self._resolver(arg) for arg in value._args]
            named = [(name, self._resolver(arg)) for name, arg in value._kwargs.items()]
            return lambda scope: base(scope)(
                *[part(scope) for part in parts], **{name: part(scope) for name, part in named}
            )
        if isinstance(value, _Call):
            fn, args = value._fn, [self._resolver(arg) for arg in value._args]
            if not value._kwargs:
                return lambda scope: fn(*[arg(scope) for arg in args])
            more = [(name, self._resolver(arg)) for name, arg in value._kwargs.items()]
            return lambda scope: fn(*[arg(scope) for arg in args], **{name: arg(scope) for name, arg in more})
        if isinstance(value, _Not):
            inner = self._resolver(value._inner)
            return lambda scope: not inner(scope)
        if isinstance(value, (_Back, _Named)):
            number = self._number(value)
            self._element(number)
            return lambda scope: scope.results[number]
        return self._root(value)

    def _root(self, value: Placeholder) -> Resolver:
        if value is ENTITY:
            return lambda scope: scope.frame.planner.entity
        if value is ARGS:
            self.reads.add(ARGUMENTS)
            return lambda scope: scope.frame.args
        self.reads.update(range(self._step))  # whoever came before may have changed it
        return lambda scope: scope.current_here()

    def _attribute(self, value: _Attribute) -> Resolver:
        base, name = value._base, value._name
        if isinstance(base, (_Back, _Named)):
            number = self._number(base)
            self._element(number, name)
            return lambda scope: getattr(scope.results[number], name)
        if base is ARGS:
            if self.args is not None and name not in self.args:
                raise self._fail(
                    f"{repr_of(value)} is not an argument of this action.{did_you_mean(name, self.args)}",
                    f"Declare it in Args; declared: {', '.join(self.args) or 'none'}.",
                )
            self.reads.add(ARGUMENTS)
            return lambda scope: getattr(scope.frame.args, name)
        inner = self._resolver(base)
        return lambda scope: getattr(inner(scope), name)

    def _number(self, value: _Back | _Named) -> int:
        if isinstance(value, _Named):
            number = self.names.get(value._step)
            if number is None:
                raise self._fail(
                    f"{repr_of(value)} names no step.{did_you_mean(str(value._step), self.names)}",
                    f"Give the step a name: step(..., name={value._step!r}).",
                )
            if number >= self._step:
                raise self._fail(
                    f"{repr_of(value)} is step {number}, which has not thought yet.", "Refer only to earlier steps."
                )
            return number
        number = self._step - value._steps
        if number < 0:
            raise self._fail(
                f"{repr_of(value)} reaches {-number} before the beginning.",
                f"BACK({self._step}) is this action's own think output; nothing lies before it.",
            )
        return number
