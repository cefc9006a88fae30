"""Documents: bytes that nobody vouches for, read into plain JSON values.

A pack may come from a stranger. This module stands between the bytes and everything else, and its rules are:

* Only ``InvalidPackError`` comes out, whatever goes in.
* Work is linear in the size of the input, and the size is bounded: ``MAX_BYTES`` of text, ``MAX_DEPTH`` levels,
  ``MAX_ENTRIES`` values. The bounds are tested on the text, before it is parsed, because the parser itself recurses.
* JSON is taken strictly: UTF-8 without a byte order mark, no duplicate keys, no NaN and no infinity. Python's parser
  is lenient in all of these; a pack that means two things is worse than one that is refused.
* What comes out shares nothing with what went in: an inline pack (a mapping from code, or a part of another
  document) is checked against the same bounds and copied.

Duplicate keys are only visible to the parser's hook, which does not know where it is; the hook remembers the object and
the walk over the finished document finds its place. They are reported beside the other problems of the document.
A regular expression with the usual ``"(...)*"`` for strings was rejected for the scan: on a string that never ends
it is tried again from every quotation mark, which is quadratic. Here a string may end at the end of the text.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from agentrt.body.entity import attribute_of
from agentrt.errors import InvalidPackError
from agentrt.packs.alias import shown

if TYPE_CHECKING:  # `import agentrt` comes by here, and it is slow to import
    from importlib.resources.abc import Traversable

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_ENTRIES = 10_000

# A string, one character of structure, or any other value, of a text that is JSON.
_PIECE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++')

# A string (which may end at the end of the text), or one character of structure.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\[\s\S]?)*+"?|[\[\]{},]')

_TOO_LARGE = f"is larger than {MAX_BYTES >> 20} MiB. A pack lists names; split it into packs that require each other."
_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels. Give the inner packs aliases of their own."
_TOO_MANY = f"holds more than {MAX_ENTRIES} values. Split it into packs that require each other."


Path = tuple[str | int, ...]  # a place in a document: keys and indices from the top


class Problem(NamedTuple):
    """One problem of a document: where it is, and what to write instead."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document: plain JSON values, and the problems found while parsing it."""

    value: Any  # within the bounds
    file: str  # what errors call the place it came from; empty for a mapping from code
    problems: tuple[Problem, ...] = ()
    text: str = field(default="", repr=False)  # as it was read; empty for a mapping


class Readable(Protocol):
    """What is read like a file; its text is what errors call it."""

    def is_file(self) -> bool: ...

    def is_dir(self) -> bool: ...

    def open(self, mode: Literal["rb"], /) -> IO[bytes]: ...


def is_document(thing: object) -> bool:
    """Whether anything can be read as a document: a file, a resource or a mapping; or was."""
    if isinstance(thing, type):  # ``Path`` itself, say
        return False
    return isinstance(thing, (Document, Mapping, os.PathLike)) or callable(attribute_of(thing, "is_file"))


def read(source: Traversable | Readable) -> Document:
    """Read a file, of the file system or of a package, into a document."""
    file = str(source)
    if not source.is_file():
        what = "is a folder" if source.is_dir() else "does not exist, or is not a regular file"
        raise _refused(f"{what}. Name a JSON file.", file)
    try:
        with _opened(source) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refused(f"cannot be read: {error.strerror or error}.", file) from error
    return parse(data, file)


def _opened(source: Traversable | Readable) -> IO[bytes]:
    if not isinstance(source, os.PathLike):
        return source.open("rb")
    from agentrt.folders import open_file  # ``import agentrt`` comes by here, and reads no file

    return open_file(os.fspath(source))


def parse(data: bytes, file: str = "") -> Document:
    text = _decode(data, file)
    _check_bounds(text, file)
    repeated: list[tuple[dict[str, Any], str]] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _value in pairs:
                if key in seen:
                    repeated.append((made, key))
                seen.add(key)
        return made

    try:
        value = json.loads(
            text, object_pairs_hook=object_of, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded_int
        )
    except json.JSONDecodeError as error:
        raise _refused(f"is not JSON: {error.msg}, in column {error.colno}.", file, error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _refused(f"is not a document that can be taken: {error}.", file) from error
    return Document(value, file, tuple(_places_of(value, repeated)), text)


def lines_of(text: str) -> dict[Path, int]:
    """The line in which each key and each item of a document stands, from 1; of a key that is repeated the first one.

    Args:
        text: the document, which was parsed; for an empty text there are none.
    """
    lines: dict[Path, int] = {}
    path: list[str | int | None] = []  # where the scan is; None where the next string is a key
    line, counted = 1, 0
    for match in _PIECE.finditer(text):
        piece, start = match[0], match.start()
        line += text.count("\n", counted, start)
        counted = start
        if piece in ("]", "}"):
            path.pop()
        elif piece == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif piece != ":":
            if path and path[-1] is None:
                path[-1] = json.loads(piece)
            lines.setdefault(tuple(path), line)  # type: ignore[arg-type]  # a key is known by now
            if piece in ("[", "{"):
                path.append(0 if piece == "[" else None)
    return lines


def copy_inline(value: Mapping[str, object], file: str = "") -> Document:
    """Copy a mapping that stands in for a document, within the same bounds."""
    return Document(_Copier(file).copy(value, 1), file)


class _Copier:
    """Copies values level by level; the count of entries is shared by the whole document."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._entries = 0
        self._bytes = 0

    def copy(self, value: object, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _refused(_TOO_DEEP, self._file)
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise _refused(_TOO_MANY, self._file)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, Mapping):
            return {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value]
        text = f"holds a {type(value).__name__}, which JSON cannot say. Use dicts, lists and strings."
        raise _refused(text, self._file)

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise _refused(f"has a key that is a {type(key).__name__}. Keys are strings.", self._file)
        return self._text(key)

    def _text(self, text: str) -> str:
        self._bytes += len(text)
        if self._bytes > MAX_BYTES:
            raise _refused(_TOO_LARGE, self._file)
        return str(text)

    def _number(self, number: float) -> float:
        if isinstance(number, int):
            if number.bit_length() > 64:
                raise _refused("holds a number of more than 64 bits.", self._file)
            return int(number)
        if not math.isfinite(number):
            raise _refused(f"holds {number}, which JSON cannot say.", self._file)
        return float(number)


def _refused(text: str, file: str, line: int = 0) -> InvalidPackError:
    return InvalidPackError([("", text)], file=file, lines=[line])


def _decode(data: bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise _refused(_TOO_LARGE, file)
    if data.startswith(b"\xef\xbb\xbf"):
        raise _refused("starts with a byte order mark. Save it as UTF-8 without one.", file)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise _refused("is written in UTF-16 or UTF-32, or is not text. Save it as UTF-8.", file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(f"is not UTF-8: byte {error.start} cannot stand there. Save it as UTF-8.", file) from error


def _check_bounds(text: str, file: str) -> None:
    depth = entries = 0
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark in ("[", "{"):
            depth += 1
            entries += 1
            if depth > MAX_DEPTH:
                raise _refused(_TOO_DEEP, file)
        elif mark in ("]", "}"):
            depth -= 1
        elif mark == ",":
            entries += 1
        if entries > MAX_ENTRIES:
            raise _refused(_TOO_MANY, file)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text) if len(text) <= 64 else math.inf
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


def _bounded_int(text: str) -> int:
    if len(text) > 20:  # no number of 64 bits is longer; reading a long one takes the square of its length
        raise ValueError(f"the number {text[:40]} is out of range")
    return int(text)


def _places_of(value: object, repeated: list[tuple[dict[str, Any], str]]) -> list[Problem]:
    """Find where the objects with duplicate keys stand. An object that a later duplicate replaced has no place."""
    if not repeated:
        return []
    wanted = {id(made) for made, _key in repeated}  # identity alone; nothing is ordered by it
    found: dict[int, Path] = {}
    stack: list[tuple[Any, Path]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            if id(item) in wanted:
                found[id(item)] = path
            stack.extend((child, (*path, key)) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend((child, (*path, index)) for index, child in enumerate(item))
    places = dict.fromkeys((*found.get(id(made), ()), key) for made, key in repeated)
    return [
        Problem(path, f"the key {shown(path[-1])} stands here more than once. Keep one of them.") for path in places
    ]
