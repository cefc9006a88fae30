"""Values in a recording: what came in from outside, as JSON, and back.

A recording keeps what a world was sent and what the outside answered. It is opened by somebody else, on another
machine, so what stands in it may say *which* of a few known kinds a value is, and never how to make one: no pickle, no
name of a module, no code.

* Plain values are JSON as it is. What JSON does not have (infinite numbers, bytes, tuples, sets, dicts with other keys
  than texts) stands under a tag: ``{"$": "tuple", "v": [...]}``. A set is written in the order of its texts, so that
  equal runs give equal files; how a set is walked through is nobody's promise, here as in the run.
* Errors: those of Python's own that are ``Exception``s, and all of agentrt, by the name of their class and their
  fields.
* Values of other types need a ``Codec``: a name, and two functions that make a plain value of one and one of a plain
  value. The program that records and the one that reads have it; the file has the name.
* What cannot be kept is written as such, with its type: an ``Unkept``. A replay that comes to it stops and says so.

Subclasses do not count as what they derive from: a named tuple that comes back as a tuple would be another value.

Both ways are bounded: in depth, and in the length of the text.
"""

from __future__ import annotations

import base64
import builtins
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agentrt import errors
from agentrt.errors import ENDS_PROGRAM, AgentRTError, RecordingError
from agentrt.runtime.intake import Codec
from agentrt.words import error_words, words_of

_DEEPEST = 48
_LONGEST = 16 * 1024 * 1024  # characters
_LONGEST_ERROR = 65536
_PLAIN = (bool, int, str)

_AGENTRT_ERRORS: dict[str, type[AgentRTError]] = {
    name: found for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, AgentRTError)
}
_PYTHON_ERRORS: dict[str, type[Exception]] = {
    name: found for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, Exception)
}


class Unkept(NamedTuple):
    """What stands where a value could not be kept."""

    type_name: str  # of the value
    reason: str  # why not


class _NotKept(Exception):
    """A value, or a part of it, cannot be written."""

    def __init__(self, part: object, reason: str) -> None:
        super().__init__(f"{type(part).__qualname__}: {reason}")


class Codecs:
    """Writes and reads values.

    Raises:
        ValueError: two have the same name or type, or a name is empty.
    """

    def __init__(self, codecs: Sequence[Codec] = ()) -> None:
        self._by_type: dict[type[Any], Codec] = {}
        self._by_name: dict[str, Codec] = {}
        for codec in codecs:
            if not codec.name or codec.name in self._by_name or codec.type in self._by_type:
                raise ValueError(f"the codec {codec.name!r} of {codec.type!r}: names and types are given once")
            self._by_type[codec.type] = codec
            self._by_name[codec.name] = codec

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, value: object) -> tuple[str, str]:
        """A value as JSON text, and why it could not be kept; an empty string if it could."""
        try:
            text = _dump(self._plain(value, 0))
            if len(text) <= _LONGEST:
                return text, ""
            reason = f"it is longer than {_LONGEST} characters"
        except _NotKept as problem:
            reason = words_of(problem)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # what an author's encode raised, or a number of too many digits
            reason = f"writing it raised {error_words(error)}"
        name = _clipped(type(value).__qualname__)
        return _dump({"$": "unkept", "type": name, "reason": _clipped(reason)}), reason

    def _plain(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if value is None or kind in _PLAIN:
            return value
        if depth >= _DEEPEST:
            raise _NotKept(value, f"it lies deeper than {_DEEPEST} levels")
        depth += 1
        codec = self._by_type.get(kind)
        if codec is not None:
            return {"$": "codec", "name": codec.name, "v": self._plain(codec.encode(value), depth)}
        if kind is float:
            return value if value - value == 0 else {"$": "float", "v": repr(value)}
        if kind is dict:
            return self._plain_dict(value, depth)
        if kind in (list, tuple, set, frozenset):
            parts = [self._plain(one, depth) for one in value]
            if kind is list:
                return parts
            return {"$": kind.__name__, "v": parts if kind is tuple else sorted(parts, key=_dump)}
        if kind in (bytes, bytearray):
            return {"$": kind.__name__, "v": base64.b64encode(value).decode()}
        if isinstance(value, BaseException):
            return self._plain_error(value, depth)
        raise _NotKept(value, "it is no plain value, and there is no codec for its type")

    def _plain_dict(self, value: dict[Any, Any], depth: int) -> Any:
        if "$" not in value and all(type(key) is str for key in value):
            return {key: self._plain(one, depth) for key, one in value.items()}
        pairs = [[self._plain(key, depth), self._plain(one, depth)] for key, one in value.items()]
        return {"$": "dict", "v": pairs}

    def _plain_error(self, error: BaseException, depth: int) -> Any:
        name = type(error).__name__
        if _AGENTRT_ERRORS.get(name) is type(error):
            fields = {key: self._plain(one, depth) for key, one in vars(error).items() if key[:1] != "_"}
            return {"$": "error", "name": name, "text": words_of(error, _LONGEST_ERROR), "fields": fields}
        if _PYTHON_ERRORS.get(name) is not type(error):
            raise _NotKept(error, "it is no error of Python's own, and there is no codec for its type")
        args: tuple[Any, ...] = error.args
        if isinstance(error, OSError) and error.filename is not None:
            args = (*args, error.filename)  # which args leave out
        return {"$": "raised", "name": name, "v": [self._plain(one, depth) for one in args]}

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, text: str, where: str) -> Any:
        """What ``write`` wrote, from a file that anybody may have made: ``RecordingError`` if it is no such text."""
        if len(text) > _LONGEST:
            raise RecordingError(where, f"a value is longer than {_LONGEST} characters")
        try:
            return self._value(json.loads(text), 0)
        except RecordingError:
            raise
        except _NotKept as problem:
            raise RecordingError(where, f"a value cannot be read: {words_of(problem)}") from None
        except ENDS_PROGRAM:
            raise
        # JSON that is none or too deep, keys that are missing, arguments that an error does not take, a codec's own.
        except BaseException as error:
            raise RecordingError(where, f"a value cannot be read: {error_words(error)}") from None

    def _value(self, data: Any, depth: int) -> Any:
        if depth > 2 * _DEEPEST:
            raise _NotKept(data, "it lies too deep")
        depth += 1
        if isinstance(data, list):
            return [self._value(one, depth) for one in data]
        if not isinstance(data, dict):
            return data
        tag = data.get("$")
        if tag is None:
            return {key: self._value(one, depth) for key, one in data.items()}
        if tag == "unkept":
            return Unkept(_clipped(str(data["type"])), _clipped(str(data["reason"])))
        read = _TAGS.get(tag)
        if read is None:
            raise _NotKept(data, f"nobody knows the tag {tag!r}")
        return read(self, data, depth)

    def _read_codec(self, data: dict[str, Any], depth: int) -> Any:
        codec = self._by_name.get(data["name"])
        if codec is None:
            name = _clipped(str(data["name"]))
            raise _NotKept(data, f"it needs the codec {name!r}: hand it in, codecs=[Codec({name!r}, ...)]")
        return codec.decode(self._value(data["v"], depth))

    def _read_float(self, data: dict[str, Any], _depth: int) -> Any:
        return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[data["v"]]

    def _read_many(self, data: dict[str, Any], depth: int) -> Any:
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[data["$"]](self._list(data, depth))

    def _list(self, data: dict[str, Any], depth: int) -> list[Any]:
        return [self._value(one, depth) for one in data["v"]]

    def _read_bytes(self, data: dict[str, Any], _depth: int) -> Any:
        raw = base64.b64decode(data["v"], validate=True)
        return raw if data["$"] == "bytes" else bytearray(raw)

    def _read_dict(self, data: dict[str, Any], depth: int) -> Any:
        return {self._value(key, depth): self._value(one, depth) for key, one in data["v"]}

    def _read_error(self, data: dict[str, Any], depth: int) -> Any:
        """An error of agentrt: its text was composed when it was made, so its construction is not repeated."""
        kind = _AGENTRT_ERRORS[data["name"]]
        error = kind.__new__(kind)
        Exception.__init__(error, str(data["text"]))
        for key, one in data["fields"].items():
            if key.isidentifier() and not key.startswith("_"):
                error.__dict__[key] = self._value(one, depth)
        return error

    def _read_raised(self, data: dict[str, Any], depth: int) -> Any:
        return _PYTHON_ERRORS[data["name"]](*self._list(data, depth))


_TAGS: dict[Any, Callable[[Codecs, dict[str, Any], int], Any]] = {
    "codec": Codecs._read_codec,
    "float": Codecs._read_float,
    "tuple": Codecs._read_many,
    "set": Codecs._read_many,
    "frozenset": Codecs._read_many,
    "bytes": Codecs._read_bytes,
    "bytearray": Codecs._read_bytes,
    "dict": Codecs._read_dict,
    "error": Codecs._read_error,
    "raised": Codecs._read_raised,
}


def _dump(plain: object) -> str:
    return json.dumps(plain, separators=(",", ":"))


def _clipped(text: str) -> str:
    return text if len(text) <= 300 else text[:299] + "…"
