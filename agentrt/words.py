"""Words for anything: the one place where text is made of what an author gave.

An error, a reason, an argument, a name: whatever comes from outside of the library may have a ``__str__`` that raises,
gives no text, or gives twenty megabytes of it; an ``int`` of ten thousand digits has none at all. Who formats such a
thing in the middle of its own bookkeeping is left with half of it. So:

* Text of what an author gave is made here and nowhere else, and no function here raises, whatever it is given.
* What comes out is bounded, and can be written as UTF-8 (a lone surrogate is escaped: no file takes it) and as JSON.
* It is the same in every run: an address in a text that Python makes of an object (``<Wolf object at 0x7f...>``) is
  left out, and sets are put in order.
* Books are closed before anything is formatted. Making words runs an author's code, which may do anything.

A request of the user to end the program (``KeyboardInterrupt``) is passed on: it came while the text was made, and is
no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, TypeVar

T = TypeVar("T")

LONGEST: Final = 4000
"""How long a text may be that an author gave and nobody bounded, in characters."""

MOST_LEVELS: Final = 64
"""How many lists and dicts may lie in each other in what is saved."""

UNREADABLE: Final = 10**600
"""A whole number that JSON can say, and not every Python reads: it may be set to take no more than 640 digits."""

_MANY_BITS = 4096  # beyond some thousand digits Python refuses to write a number, and nobody would read it
_DEEPEST = 8  # containers within containers
_MOST_PARTS = 2000  # of a container, with all that it contains

_CONTAINERS = frozenset((list, tuple, set, frozenset, dict, bytes, bytearray))

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def words_of(value: object, longest: int = LONGEST) -> str:
    """What ``str(value)`` says, bounded in characters, with the mark that says that there were more."""
    return _made(str, value, longest)


def repr_of(value: object, longest: int = LONGEST) -> str:
    """What ``repr(value)`` says, bounded likewise."""
    return _made(repr, value, longest)


def error_words(error: BaseException, longest: int = LONGEST) -> str:
    """An error in one line: its type, and what it says, bounded likewise."""
    return f"{type_name(error)}: {words_of(error, longest)}"


def type_name(value: object) -> str:
    return type.__dict__["__name__"].__get__(type(value))  # type: ignore[no-any-return]  # a metaclass may have its own


def class_name(cls: type) -> str:
    """A class in errors: its module, and its name there."""
    return f"{cls.__module__}.{cls.__qualname__}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, such as ``3 files``; ``many`` where that is not ``one`` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def first_line(text: str | None) -> str:
    """The first line of what an author says about something; empty if he says nothing."""
    return (text or "").strip().partition("\n")[0].strip()


def few(names: Sequence[str], most: int) -> str:
    """Some names in words, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def seconds(value: float) -> str:
    """A time for people: "2.5 s", "3230 s"."""
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"


def printable(text: str) -> str:
    """A text in which nothing controls a terminal: what is neither printable nor a space is escaped.

    Escape sequences, C1 controls, marks that turn the direction of writing, lone surrogates: whoever writes a file may
    have put any of them into a name. Lines are for the caller to break; a line break is escaped too.
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text])


def printable_lines(text: str) -> str:
    """A text of several lines in which nothing else controls a terminal: each line as ``printable`` has it."""
    return text if text.isprintable() else "\n".join([printable(line) for line in text.split("\n")])


def masked(text: str) -> str:
    """A text of the same length in which nothing controls a terminal: a sign stands for each character that might.

    For screens, where each character has its place (and, in a styled text, its style). Line feeds stay.
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text])


def plain(value: Any) -> Any:
    """A value as JSON knows it: containers are gone through, sets in order, and what has a name stands under it.

    Of a large container there are the first parts; what lies too deep, in a circle, say, is left out.
    """
    kind = type(value)
    if value is None or kind is bool or (kind is str and len(value) <= LONGEST and value.isascii()):
        return value
    if kind is float and isfinite(value):
        return value
    try:
        return _plain(value, _DEEPEST, _Room(_MOST_PARTS))
    except KeyboardInterrupt:
        raise
    except BaseException:  # whoever looks must not be stopped by what cannot be looked at
        return f"a {type_name(value)}"


class _Room:
    """How many parts of a container may still be shown."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def first(self, parts: Iterable[T]) -> Iterator[T]:
        """As many parts as there is room for."""
        for part in parts:
            if self.left <= 0:
                return
            self.left -= 1
            yield part


def _plain(value: object, depth: int, room: _Room) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):  # a member of an enumeration, too, whose own text differs from Python to Python
        return _fit(str.__str__(value), LONGEST)
    if isinstance(value, int):
        number = int.__int__(value)
        return number if number.bit_length() <= _MANY_BITS else words_of(number)
    if isinstance(value, float):
        number_ = float.__float__(value)
        return number_ if isfinite(number_) else str(number_)  # JSON has no word for it
    if isinstance(value, Mapping):
        items = room.first(value.items()) if depth else ()
        return {words_of(key): _plain(one, depth - 1, room) for key, one in items}
    if isinstance(value, (list, tuple)):
        return [_plain(one, depth - 1, room) for one in room.first(value)] if depth else []
    if isinstance(value, (set, frozenset)):  # their own order is another one with each hash seed
        if len(value) > room.left:
            return f"{len(value)} elements"  # the first of them would be others in each run
        return sorted((_plain(one, depth - 1, room) for one in room.first(value)), key=_place) if depth else []
    return called(value)


def called(value: object) -> str:
    """What to call a thing: its name, if it has one, else what it says of itself."""
    try:
        name = getattr(value, "name", None)
        if isinstance(name, str):
            return words_of(name)
        kind: Any = type(value)
        if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
            return f"a {type_name(value)}"
        return _fit(_ADDRESS.sub("", str(value)), LONGEST)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"a {type_name(value)}"


def _place(value: object) -> tuple[str, Any]:
    """Where a plain value stands among others of any kind."""
    return type(value).__name__, value if isinstance(value, (str, int, float)) else str(value)


def _made(make: Callable[[object], str], value: object, longest: int) -> str:
    kind = type(value)
    if kind is int and value.bit_length() > _MANY_BITS:  # type: ignore[attr-defined]
        return f"<a number of {value.bit_length()} bits>"  # type: ignore[attr-defined]
    if kind in _CONTAINERS and len(value) > longest:  # type: ignore[arg-type]
        return f"<a {kind.__name__} of {len(value)}>"  # type: ignore[arg-type]  # its text would be longer than that
    try:
        text = make(value)
        if kind is not str and " at 0x" in text:
            text = _ADDRESS.sub("", text)
        return _fit(text, longest)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return f"<{type_name(value)}: its text cannot be made ({type_name(problem)})>"


def _fit(text: str, longest: int) -> str:
    if len(text) > longest or type(text) is not str:
        text = str.__getitem__(text, slice(longest + 1))  # of a subclass, too, whatever it overrides
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= longest else f"{text[: max(0, longest - 3)]}..."


def unplain(value: object, place: str = "", *, depth: int = 0) -> str:
    """What is not plain JSON in a value, in words with its place; empty if all is.

    Args:
        value: which is to come back from JSON as it is: of no subclass, finite, with texts as keys.
        place: where it stands, as a JSON pointer.
        depth: in how many lists and dicts it lies.
    """
    kind = type(value)
    if isinstance(value, int) and abs(value) >= UNREADABLE:
        return f"at {place or '/'} there is a whole number of more than 600 digits, which not every Python reads"
    if value is None or kind in (bool, int, str) or (kind is float and isfinite(value)):  # type: ignore[arg-type]
        return ""
    if depth > MOST_LEVELS:
        return f"at {place or '/'} it is nested deeper than {MOST_LEVELS} levels"
    if isinstance(value, dict) and kind is dict:
        for key, one in value.items():
            if type(key) is not str:
                return f"at {place or '/'} there is the key {repr_of(key, 80)}, which JSON would make a text of"
            if problem := unplain(one, f"{place}/{key}", depth=depth + 1):
                return problem
        return ""
    if isinstance(value, list) and kind is list:
        problems = (unplain(one, f"{place}/{index}", depth=depth + 1) for index, one in enumerate(value))
        return next(filter(None, problems), "")
    return f"at {place or '/'} there is {repr_of(value, 80)}, a {type_name(value)}, which JSON cannot say"
