"""Placeholders: how a step of a compound action refers to what is known only when it runs.

``ENTITY``, ``ARGS.field``, ``PREV.field``, ``BACK(n).field``, ``OUT["name"].field``, ``CURRENT.field``, ``CALL(fn,
...)``, ``NOT(...)``; attributes, items and method calls on any of them; any of them inside lists, tuples and dicts.

A placeholder is an expression tree. It is compiled once, when the compound is defined, into a function of one
argument, the *scope* of a thinking compound (``Scope``), so that binding a step is a few calls. What cannot resolve
is an error at that moment: too far back, an unknown step name, an argument that the compound does not declare.
Whether a step's output has a field is checked when the agent learns the actions that perform it (``Compiler.uses``).

Element 0 of the results is the compound's own think output: ``BACK(k)`` in step *k* reaches it.

Source: seed 001, "Step declarations".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from agentrt.errors import PlaceholderError, did_you_mean

__all__ = ["ARGS", "BACK", "CALL", "CURRENT", "ENTITY", "NOT", "OUT", "PREV", "Compiler", "Placeholder", "Scope"]


class Scope(Protocol):
    """What placeholders are resolved against: a compound that thinks, at its place, with the results so far."""

    frame: Any
    results: list[Any]

    def current_here(self) -> Any:
        """The expected state of the entity at the step being bound."""


Resolver = Callable[[Any], Any]


class Placeholder:
    """A value that is known only when a compound thinks. Attributes, items and calls of it are placeholders too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Attribute(self, name)

    def __getitem__(self, key: object) -> Placeholder:
        return _Item(self, key)

    def __call__(self, *args: object, **kwargs: object) -> Placeholder:
        """A method call, made when it is known."""
        return _Invoke(self, args, kwargs)

    def _too_early(self, verb: str, remedy: str = "Use CALL(fn, ...).") -> TypeError:
        return TypeError(f"{self!r} is known only when the action thinks, so it cannot be {verb} here. {remedy}")

    def __bool__(self) -> bool:
        raise self._too_early("tested", "Use NOT(...) or CALL(fn, ...).")

    def __iter__(self) -> Any:
        raise self._too_early("iterated")

    def __eq__(self, other: object) -> bool:
        raise self._too_early("compared")

    def __ne__(self, other: object) -> bool:
        raise self._too_early("compared")

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __format__(self, spec: str) -> str:
        raise self._too_early("put into a text")


class _Attribute(Placeholder):
    __slots__ = ("_base", "_name")

    def __init__(self, base: Placeholder, name: str) -> None:
        self._base = base
        self._name = name

    def __repr__(self) -> str:
        return f"{self._base!r}.{self._name}"


class _Item(Placeholder):
    __slots__ = ("_base", "_key")

    def __init__(self, base: Placeholder, key: object) -> None:
        self._base = base
        self._key = key

    def __repr__(self) -> str:
        return f"{self._base!r}[{self._key!r}]"


class _Invoke(Placeholder):
    __slots__ = ("_args", "_base", "_kwargs")

    def __init__(self, base: Placeholder, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self._base = base
        self._args = args
        self._kwargs = kwargs

    def __repr__(self) -> str:
        inner = [repr(arg) for arg in self._args] + [f"{key}={value!r}" for key, value in self._kwargs.items()]
        return f"{self._base!r}({', '.join(inner)})"


class _Root(Placeholder):
    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


class _Back(Placeholder):
    __slots__ = ("_steps",)

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def __repr__(self) -> str:
        return "PREV" if self._steps == 1 else f"BACK({self._steps})"


class _Named(Placeholder):
    __slots__ = ("_step",)

    def __init__(self, step: str) -> None:
        self._step = step

    def __repr__(self) -> str:
        return f"OUT[{self._step!r}]"


class _Call(Placeholder):
    __slots__ = ("_args", "_fn")

    def __init__(self, fn: Callable[..., Any], args: tuple[object, ...]) -> None:
        self._fn = fn
        self._args = args

    def __repr__(self) -> str:
        inner = [getattr(self._fn, "__qualname__", repr(self._fn)), *(repr(arg) for arg in self._args)]
        return f"CALL({', '.join(inner)})"


class _Not(Placeholder):
    __slots__ = ("_inner",)

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __repr__(self) -> str:
        return f"NOT({self._inner!r})"


class _Outputs:
    """``OUT["name"]``: the think output of the step with that name."""

    __slots__ = ()

    def __getitem__(self, step: str) -> Placeholder:
        return _Named(step)

    def __repr__(self) -> str:
        return "OUT"


ENTITY: Any = _Root("ENTITY")
"""The entity that runs the action."""

ARGS: Any = _Root("ARGS")
"""The arguments of the compound action: ``ARGS.field``."""

CURRENT: Any = _Root("CURRENT")
"""The expected state of the entity at that step: ``CURRENT.location``."""

PREV: Any = _Back(1)
"""The think output of the step before: ``PREV.field``."""

OUT = _Outputs()
"""The think output of a step that was given a name: ``OUT["name"].field``."""


def BACK(steps: int) -> Any:  # noqa: N802 - the seed's name for it
    """The think output of an earlier step.

    Args:
        steps: how many steps back; 1 is the step before.

    Returns:
        A placeholder.

    Raises:
        ValueError: it is not a whole number of at least 1.
    """
    given: object = steps
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"BACK({steps!r}): it takes a whole number of steps, from 1")
    return _Back(steps)


def CALL(fn: Callable[..., Any], *args: object) -> Any:  # noqa: N802 - the seed's name for it
    """The result of a function, called when the step is bound.

    Args:
        fn: a plain function.
        args: placeholders or values.

    Returns:
        A placeholder.

    Raises:
        TypeError: it is not a plain function.
    """
    given: object = fn
    if isinstance(given, Placeholder) or not callable(given) or inspect.iscoroutinefunction(fn):
        raise TypeError(f"CALL({fn!r}): it takes a plain function and its arguments: CALL(fn, PREV.x)")
    return _Call(fn, args)


def NOT(inner: object) -> Any:  # noqa: N802 - the seed's name for it
    """The opposite of a placeholder.

    Args:
        inner: a placeholder or a value.

    Returns:
        A placeholder.
    """
    return _Not(inner)


class Compiler:
    """Turns placeholders of one compound action into functions.

    Args:
        subject: the compound's name, for errors.
        names: step names to step numbers, from 1.
        args: the fields that the compound declares, or None if they are not known.

    Attributes:
        uses: for each step number that is referred to, the output fields that are read, in order; "" for the whole.
    """

    def __init__(self, subject: str, names: Mapping[str, int], args: Sequence[str] | None) -> None:
        self.subject = subject
        self.names = names
        self.args = args
        self.uses: dict[int, list[str]] = {}
        self._step = 0  # where a placeholder stands; the output stands behind the last step
        self._place = 0  # what errors call that place
        self._field = ""

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
        if not _has_placeholder(value):
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
        return (self._resolver(value), None) if _has_placeholder(value) else (None, value)

    def _fail(self, problem: str, remedy: str) -> PlaceholderError:
        return PlaceholderError(self.subject, self._place, self._field, problem, remedy)

    def _element(self, number: int, field: str = "") -> None:
        used = self.uses.setdefault(number, [])
        if field not in used:
            used.append(field)

    def _resolver(self, value: object) -> Resolver:
        if isinstance(value, Placeholder):
            return self._placeholder(value)
        if isinstance(value, dict):
            pairs = [(key, self._resolver(item)) for key, item in value.items()]
            return lambda scope: {key: resolve(scope) for key, resolve in pairs}
        if isinstance(value, (list, tuple)):
            parts = [self._resolver(item) for item in value]
            kind = getattr(type(value), "_make", type(value))  # a named tuple does not take a list
            return lambda scope: kind([resolve(scope) for resolve in parts])
        return lambda scope: value

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
            return lambda scope: fn(*[arg(scope) for arg in args])
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
            return lambda scope: scope.frame.args
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
                    f"{value!r} is not an argument of this action.{did_you_mean(name, self.args)}",
                    f"Declare it in Args; declared: {', '.join(self.args) or 'none'}.",
                )
            return lambda scope: getattr(scope.frame.args, name)
        inner = self._resolver(base)
        return lambda scope: getattr(inner(scope), name)

    def _number(self, value: _Back | _Named) -> int:
        if isinstance(value, _Named):
            number = self.names.get(value._step)
            if number is None:
                raise self._fail(
                    f"{value!r} names no step.{did_you_mean(str(value._step), self.names)}",
                    f"Give the step a name: step(..., name={value._step!r}).",
                )
            if number >= self._step:
                raise self._fail(
                    f"{value!r} is step {number}, which has not thought yet.", "Refer only to earlier steps."
                )
            return number
        number = self._step - value._steps
        if number < 0:
            raise self._fail(
                f"{value!r} reaches {-number} before the beginning.",
                f"BACK({self._step}) is this action's own think output; nothing lies before it.",
            )
        return number


def _has_placeholder(value: object) -> bool:
    if isinstance(value, Placeholder):
        return True
    if isinstance(value, dict):
        return any(_has_placeholder(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_placeholder(item) for item in value)
    return False
