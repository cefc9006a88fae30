"""Edits: what a branch changes in what came in from outside, as a script.

A script is a JSON list. Each edit names the tick whose intake it is about, and does one thing:

* ``{"tick": 40, "send": "door_opened", "args": {"door": "north"}}``  something more comes in, after all else
* ``{"tick": 41, "drop": "door_opened"}``  the recorded input of that name does not come in
* ``{"tick": 41, "change": "door_opened", "args": {"door": "south"}}``  it comes in with other arguments
* ``{"tick": 52, "drop": 3}``  the recorded result of call 3 never comes
* ``{"tick": 52, "change": 3, "value": 7}``, or ``"error": "it rained"``  another result comes
* ``{"tick": 60, "answer": 9, "value": null}``  a result for a call that the recording has none for

If a tick has several inputs of a name, the first is meant that no edit of the script has taken yet. A value that JSON
has no word for is written as in recordings, under a tag; so is an error that is to be of a certain class; an error that
is a text is raised as a ``RunFault``.

An edit that finds nothing to change is an error: it was meant for something. Scripts are untrusted: bounded in length
and depth, every key is known, and only ``EditError`` comes out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentrt.errors import EditError, RecordingError, RunFault, did_you_mean
from agentrt.record.recording import RecordedInput
from agentrt.record.values import Codecs

__all__ = ["Edit", "apply_edits", "load_edits", "parse_edits"]

_MOST_BYTES = 4 * 1024 * 1024
_MOST_EDITS = 10_000
_AT_THE_END = sys.maxsize
_DOES = ("send", "drop", "change", "answer")
_EXAMPLE = 'An edit is for example {"tick": 40, "send": "door_opened", "args": {"door": "north"}}.'


class Edit(NamedTuple):
    """One change.

    Attributes:
        tick: the tick whose intake it is about.
        does: ``"send"``, ``"drop"``, ``"change"`` or ``"answer"``.
        what: the name of an input, or the number of a call.
        args: of an input.
        value: what the call returns.
        error: what it raises, or None.
        pointer: where it stands in its script.
    """

    tick: int
    does: str
    what: str | int
    args: dict[str, Any] | None = None
    value: Any = None
    error: BaseException | None = None
    pointer: str = ""


def load_edits(path: Path | str, *, codecs: Codecs | None = None) -> tuple[Edit, ...]:
    """Read a script.

    Args:
        path: of a JSON file.
        codecs: read values of one's own types.

    Raises:
        EditError: there is none, or something is wrong with it.
    """
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise EditError(f"the script cannot be read: {error.strerror or error}", "Check its name.", file=file) from None
    if len(raw) > _MOST_BYTES:
        raise EditError(f"the script is longer than {_MOST_BYTES} bytes", "Split the experiment.", file=file)
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise EditError(f"the script is no JSON: {error}", _EXAMPLE, file=file) from None
    return parse_edits(data, codecs=codecs, file=file)


def parse_edits(data: Any, *, codecs: Codecs | None = None, file: str = "") -> tuple[Edit, ...]:
    """Make edits of what a JSON file contained.

    Args:
        data: a list of dicts.
        codecs: read values of one's own types.
        file: for errors.

    Raises:
        EditError: something is wrong with it.
    """
    if not isinstance(data, list) or len(data) > _MOST_EDITS:
        raise EditError(f"a script is a list of at most {_MOST_EDITS} edits", _EXAMPLE, file=file)
    return tuple(_Reader(codecs or Codecs(), file, f"/{index}").edit(one) for index, one in enumerate(data))


class _Reader:
    """Reads one edit."""

    def __init__(self, codecs: Codecs, file: str, pointer: str) -> None:
        self._codecs = codecs
        self._file = file
        self._pointer = pointer

    def fail(self, problem: str, remedy: str = _EXAMPLE) -> EditError:
        return EditError(problem, remedy, file=self._file, pointer=self._pointer)

    def edit(self, data: Any) -> Edit:
        if not isinstance(data, dict):
            raise self.fail(f"this is a {type(data).__name__} and no edit")
        tick, does = data.get("tick"), [key for key in _DOES if key in data]
        if type(tick) is not int or tick < 1:
            raise self.fail("it has no 'tick', a whole number from 1")
        if len(does) != 1:
            raise self.fail(f"it does {' and '.join(does) or 'nothing'}, and not one of {', '.join(_DOES)}")
        what = data[does[0]]
        is_call = type(what) is int and does[0] != "send"
        if not is_call and (type(what) is not str or does[0] == "answer"):
            raise self.fail(f"'{does[0]}' takes the name of an input, or the number of a call")
        self._require_keys(data, does[0], is_call=is_call)
        if not is_call:
            args = data.get("args", {})
            if not isinstance(args, dict):
                raise self.fail("'args' are an object: names and values")
            return Edit(tick, does[0], what, args=args, pointer=self._pointer)
        error = None
        if "error" in data:
            error = RunFault(data["error"]) if isinstance(data["error"], str) else self._value(data["error"])
            if not isinstance(error, BaseException):
                raise self.fail("'error' is a text, or an error as a recording writes it")
        return Edit(tick, does[0], what, value=self._value(data.get("value")), error=error, pointer=self._pointer)

    def _require_keys(self, data: dict[str, Any], does: str, *, is_call: bool) -> None:
        others = () if does == "drop" else ("value", "error") if is_call else ("args",)
        known = ("tick", does, *others)
        for key in data:
            if key not in known:
                raise self.fail(f"it has a key {key!r} that does not belong there.{did_you_mean(str(key), known)}")
        if does != "drop" and is_call and ("value" in data) == ("error" in data):
            raise self.fail("the result of a call is a 'value' or an 'error'")
        if does == "change" and not is_call and "args" not in data:
            raise self.fail("the 'args' are missing with which it comes in instead")

    def _value(self, data: Any) -> Any:
        try:
            return self._codecs.read(json.dumps(data), self._file)
        except RecordingError as error:
            raise self.fail(str(error).rstrip("."), "Write it as a recording does.") from None


def apply_edits(
    inputs: Iterable[RecordedInput], edits: Sequence[Edit], *, at: int, file: str = ""
) -> list[RecordedInput]:
    """What comes in instead.

    Args:
        inputs: what was recorded after the branch.
        edits: what is changed.
        at: the last tick before the branch.
        file: for errors.

    Returns:
        What comes in, in ascending order of tick and place.

    Raises:
        EditError: an edit is about a tick that is over, or finds nothing to change.
    """
    left: list[RecordedInput | None] = list(inputs)
    coming: list[RecordedInput] = []
    for edit in edits:
        if edit.tick <= at:
            raise EditError(
                f"tick {edit.tick} is before the branch, which begins after tick {at}",
                "Branch earlier, or edit a later tick.",
                file=file,
                pointer=edit.pointer,
            )
        found = _APPLY[edit.does](edit, left, file)
        if found is not None:
            coming.append(found)
    coming = [*(one for one in left if one is not None), *coming]
    return sorted(coming, key=lambda one: (one.tick, one.place))  # a stable order: what is sent comes as scripted


def _send(edit: Edit, _left: list[RecordedInput | None], _file: str) -> RecordedInput:
    return RecordedInput(edit.tick, _AT_THE_END, "sent", -1, str(edit.what), edit.args or {}, None, None)


def _answer(edit: Edit, _left: list[RecordedInput | None], _file: str) -> RecordedInput:
    return RecordedInput(edit.tick, _AT_THE_END, "answered", int(edit.what), "", {}, edit.value, edit.error)


def _drop(edit: Edit, left: list[RecordedInput | None], file: str) -> None:
    _take(edit, left, file)


def _change(edit: Edit, left: list[RecordedInput | None], file: str) -> RecordedInput:
    one = _take(edit, left, file)
    if one.kind == "sent":
        return one._replace(args=edit.args or {})
    return one._replace(value=edit.value, error=edit.error)


def _take(edit: Edit, left: list[RecordedInput | None], file: str) -> RecordedInput:
    """The recorded input that an edit is about; it is taken out."""
    for index, one in enumerate(left):
        if one is None or one.tick != edit.tick:
            continue
        if (one.kind == "sent" and one.name == edit.what) or (one.kind == "answered" and one.number == edit.what):
            left[index] = None
            return one
    what = f"the input {edit.what!r}" if isinstance(edit.what, str) else f"the result of call {edit.what}"
    there = [one for one in left if one is not None and one.tick == edit.tick]
    told = ", ".join(repr(one.name) if one.kind == "sent" else f"call {one.number}" for one in there[:10])
    raise EditError(
        f"there is nothing to {edit.does}: {what} does not come in in tick {edit.tick}",
        f"In that tick comes in: {told or 'nothing'}.{_elsewhere(edit, left)}",
        file=file,
        pointer=edit.pointer,
    )


def _elsewhere(edit: Edit, left: list[RecordedInput | None]) -> str:
    """Where after the branch something of that name or number does come in."""
    ticks = [one.tick for one in left if one is not None and edit.what in (one.name, one.number)]
    return f" It comes in in tick {', '.join(map(str, ticks[:5]))}." if ticks else ""


_APPLY: dict[str, Callable[[Edit, list[RecordedInput | None], str], RecordedInput | None]] = {
    "send": _send,
    "answer": _answer,
    "drop": _drop,
    "change": _change,
}
