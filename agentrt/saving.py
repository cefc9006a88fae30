"""Saving: plain JSON values of what a game keeps, and how they are read when nobody vouches for them.

``write`` and ``Reader.read`` are each other's inverse. What JSON says as it is stays as it is: texts, whole numbers,
numbers, true, false, null, and lists of them. Every object is one of three, so that what a game encodes is never taken
for a mapping of its own::

    {"map": {"key": value}}    {"tuple": [value]}    {"encoded": what encode gave}

A saved game may come from a stranger: whatever stands in it, a ``RebuildError`` with its place comes out, and nothing
deeper than ``MAX_DEPTH`` is followed.

Source: seed 001, "Persistence".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from agentrt.errors import AgentRTError, DefinitionError, RebuildError
from agentrt.packs.alias import pointer_to, shown
from agentrt.words import repr_of, words_of

__all__ = ["MAX_DEPTH", "Decode", "Encode", "Lost", "Reader", "entry_of", "option_of", "write"]

MAX_DEPTH = 64

Encode = Callable[[Any], Any]
"""Makes plain JSON of a value of the game's own."""

Decode = Callable[[Any], Any]
"""Finds again what was encoded, or raises ``LookupError``."""

Lost = Callable[[RebuildError], object]
"""Told of what cannot be rebuilt."""

T = TypeVar("T")

_WORDS: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a whole number",
}


def write(value: Any, encode: Encode | None, where: str, depth: int = 1) -> Any:
    """Make plain JSON of a value.

    Args:
        value: any value.
        encode: makes plain JSON of what JSON cannot say.
        where: what the error calls the value.
        depth: how deep it lies.

    Raises:
        DefinitionError: there is no ``encode`` and one is needed, or what it gave is not plain JSON.
    """
    if depth > MAX_DEPTH:
        raise DefinitionError(where, f"it is nested deeper than {MAX_DEPTH} levels.", "Save what it was made from.")
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [write(one, encode, where, depth + 1) for one in value]
    if kind is tuple:
        return {"tuple": [write(one, encode, where, depth + 1) for one in value]}
    if kind is dict and all(type(key) is str for key in value):
        return {"map": {key: write(one, encode, where, depth + 1) for key, one in value.items()}}
    if encode is None:
        raise DefinitionError(
            where,
            f"it is {repr_of(value)}, a {kind.__name__}, which JSON cannot say.",
            "Give an 'encode' that makes plain JSON of it, such as its id, and to the restoring call a 'decode'.",
        )
    encoded = encode(value)
    if not _is_plain(encoded, depth):
        raise DefinitionError(
            where, f"encode made {repr_of(encoded)} of it, which JSON cannot say.", "Give plain JSON."
        )
    return {"encoded": encoded}


def _is_plain(value: Any, depth: int) -> bool:
    if value is None or type(value) in (bool, int, str):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if depth > MAX_DEPTH:
        return False
    if type(value) is list:
        return all(_is_plain(one, depth + 1) for one in value)
    return type(value) is dict and all(type(key) is str and _is_plain(one, depth + 1) for key, one in value.items())


def entry_of(entry: Any, key: str, kind: type[T], pointer: str) -> T:
    """What stands under a key of a saved object.

    Args:
        entry: the object.
        key: the key.
        kind: of which type it is.
        pointer: the place of the object.

    Raises:
        RebuildError: it is not there or of another type.
    """
    found = option_of(entry, key, kind, pointer)
    if found is None:
        raise RebuildError("the saved game", f"'{key}' is missing.", pointer=pointer)
    return found


def option_of(entry: Any, key: str, kind: type[T], pointer: str) -> T | None:
    """What stands under a key of a saved object that may be left out.

    Args:
        entry: the object.
        key: the key.
        kind: of which type it is.
        pointer: the place of the object.

    Returns:
        What stands there; None if nothing does.

    Raises:
        RebuildError: it is of another type.
    """
    if not isinstance(entry, dict):
        raise RebuildError("the saved game", f"this is {shown(entry)}, and not an object.", pointer=pointer)
    value: Any = entry.get(key)
    if value is not None and not _is(value, kind):
        words = f"this is {shown(value)}, and not {_WORDS[kind]}."
        raise RebuildError("the saved game", words, pointer=pointer + pointer_to((key,)))
    found: T | None = value
    return found


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


class Reader:
    """Reads what was saved, and hears of what cannot be rebuilt.

    Args:
        saved: plain JSON values.
        lost: told of each fault; without it, the first is raised.
    """

    __slots__ = ("_lost", "_saved")

    def __init__(self, saved: Any, lost: Lost | None) -> None:
        self._saved = saved
        self._lost = lost

    def entries(self) -> Iterator[tuple[str, Any]]:
        """The entries of a saved list, each with its place.

        Raises:
            RebuildError: it is no list.
        """
        if not isinstance(self._saved, list):
            raise RebuildError("the saved game", f"this is {shown(self._saved)}, and not a list.")
        for index, entry in enumerate(self._saved):
            yield f"/{index}", entry

    def items(self) -> Iterator[tuple[str, str, Any]]:
        """The entries of a saved object: each one's place, its name and what stands there.

        Raises:
            RebuildError: it is no object.
        """
        if not isinstance(self._saved, dict):
            raise RebuildError("the saved game", f"this is {shown(self._saved)}, and not an object.")
        for name, entry in self._saved.items():
            yield pointer_to((str(name),)), str(name), entry

    @contextmanager
    def guard(self, pointer: str, subject: str) -> Iterator[None]:
        """Make of whatever goes wrong in a block one error with its place, and tell or raise it.

        Args:
            pointer: the place.
            subject: what cannot be rebuilt then.
        """
        try:
            yield
        except AgentRTError as error:
            if isinstance(error, RebuildError):
                fault = error
            else:
                fault = RebuildError(subject, error.text, pointer=pointer)
                fault.__cause__ = error
            if self._lost is None:
                raise fault from fault.__cause__
            self._lost(fault)

    def args(self, args: dict[str, Any], decode: Decode | None, pointer: str) -> dict[str, Any]:
        """Read saved arguments.

        Args:
            args: them.
            decode: finds again what was encoded.
            pointer: their place.

        Raises:
            RebuildError: one cannot be read.
        """
        return self._args(args, decode, pointer, 1)

    def _args(self, args: dict[str, Any], decode: Decode | None, pointer: str, depth: int) -> dict[str, Any]:
        places = ((str(name), value, pointer + pointer_to((str(name),))) for name, value in args.items())
        return {name: self.read(value, decode, place, depth) for name, value, place in places}

    def read(self, value: Any, decode: Decode | None, pointer: str, depth: int = 1) -> Any:
        """Read a value that ``write`` wrote.

        Args:
            value: plain JSON.
            decode: finds again what was encoded.
            pointer: its place.
            depth: how deep it lies.

        Raises:
            RebuildError: it is not what ``write`` writes, or what it stands for is gone.
        """
        if depth > MAX_DEPTH:
            raise RebuildError("the saved game", f"it is nested deeper than {MAX_DEPTH} levels.", pointer=pointer)
        if isinstance(value, list):
            return [self.read(one, decode, f"{pointer}/{index}", depth + 1) for index, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        kind, inner = next(iter(value.items()), ("", None)) if len(value) == 1 else ("", None)
        if kind == "map" and isinstance(inner, dict):
            return self._args(inner, decode, pointer + "/map", depth + 1)
        if kind == "tuple" and isinstance(inner, list):
            return tuple(self.read(inner, decode, pointer + "/tuple", depth))
        if kind == "encoded":
            return _decoded(inner, decode, pointer)
        raise RebuildError("the saved game", "this object is none of map, tuple and encoded.", pointer=pointer)


def _decoded(value: Any, decode: Decode | None, pointer: str) -> Any:
    if decode is None:
        raise RebuildError("an encoded value", "there is no 'decode' that finds it again. Give one.", pointer=pointer)
    try:
        return decode(value)
    except LookupError as error:
        raise RebuildError("an encoded value", f"it is gone: {words_of(error)}", pointer=pointer) from error
