"""Placeholders: how a step of a compound action refers to what is known only when it runs.

``ENTITY``, ``ARGS.field``, ``PREV.field``, ``BACK(n).field``, ``OUT["name"].field``, ``CURRENT.field``, ``CALL(fn,
...)``, ``NOT(...)``; attributes, items and method calls on any of them; any of them inside lists, tuples, the values
of dicts, dataclasses and records. In a set or as the key of a dict there can be none: what it will be equal to is not
known. A placeholder has a hash all the same, so that the compound in which that is written can say where.

A placeholder is an expression tree, which the module ``binding`` compiles when the compound is defined.

Element 0 of the results is the compound's own think output: ``BACK(k)`` in step *k* reaches it.

Source: seed 001, "Step declarations".
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

from agentrt.activity.fields import inner_values

__all__ = ["ARGS", "BACK", "CALL", "CURRENT", "ENTITY", "NOT", "OUT", "PREV", "Placeholder", "has_placeholder"]


_LOOKUPS: Final = frozenset({"CONTAINS_OP", "BINARY_SUBSCR", "BINARY_OP"})  # the last one from Python 3.14 on


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

    def __hash__(self) -> int:
        # To be found in a set by the compound. But ``PREV.kind in KINDS`` and ``TABLE[PREV.kind]`` ask for it as well,
        # and would be told that it is not there, which is no answer. What is asked stands in the caller's bytecode.
        caller = sys._getframe(1)
        if dis.opname[caller.f_code.co_code[caller.f_lasti]] in _LOOKUPS:
            raise self._too_early("looked up")
        return object.__hash__(self)

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
    __slots__ = ("_args", "_fn", "_kwargs")

    def __init__(self, fn: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self._fn = fn
        self._args = args
        self._kwargs = kwargs

    def __repr__(self) -> str:
        inner = [getattr(self._fn, "__qualname__", repr(self._fn)), *(repr(arg) for arg in self._args)]
        inner += [f"{key}={value!r}" for key, value in self._kwargs.items()]
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


def CALL(fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Any:  # noqa: N802 - the seed's name for it
    """The result of a function, called when the step is bound.

    Args:
        fn: a plain function.
        args: placeholders or values.
        kwargs: placeholders or values, by keyword.

    Returns:
        A placeholder.

    Raises:
        TypeError: it is not a plain function.
    """
    given: object = fn
    if isinstance(given, Placeholder) or not callable(given) or inspect.iscoroutinefunction(fn):
        raise TypeError(f"CALL({fn!r}): it takes a plain function and its arguments: CALL(fn, PREV.x)")
    return _Call(fn, args, kwargs)


def NOT(inner: object) -> Any:  # noqa: N802 - the seed's name for it
    """The opposite of a placeholder.

    Args:
        inner: a placeholder or a value.

    Returns:
        A placeholder.
    """
    return _Not(inner)


def has_placeholder(value: object) -> bool:
    """Whether a value is a placeholder, or something with one in it: a list, tuple, dict, set, dataclass or record.

    Args:
        value: anything.
    """
    left: list[object] = [value]
    seen: dict[int, object] = {}  # what lies in a cycle is looked at once
    while left:
        one = left.pop()
        if isinstance(one, Placeholder):
            return True
        if id(one) not in seen:
            seen[id(one)] = one
            left.extend(inner_values(one))
    return False
