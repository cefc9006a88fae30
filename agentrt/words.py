"""Words for anything: the one place where text is made of what an author gave.

An error, a reason, an argument, a name: whatever comes from outside of the library may have a ``__str__`` that raises,
gives no text, or gives twenty megabytes of it; an ``int`` of ten thousand digits has none at all. Who formats such a
thing in the middle of its own bookkeeping is left with half of it. So:

* Text of what an author gave is made here and nowhere else, and no function here raises, whatever it is given.
* A text is bounded, and can be written as UTF-8 (a lone surrogate is escaped: no file takes it).
* Books are closed before anything is formatted. Making words runs an author's code, which may do anything.

A request of the user to end the program (``KeyboardInterrupt``) is passed on: it came while the text was made, and is
no part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["LONGEST", "error_words", "masked", "printable", "printable_lines", "repr_of", "type_name", "words_of"]

LONGEST: Final = 4000
"""How long a text may be that an author gave and nobody bounded, in characters."""

_MANY_BITS = 4096  # beyond some thousand digits Python refuses to write a number, and nobody would read it


def words_of(value: object, longest: int = LONGEST) -> str:
    """What ``str(value)`` says, bounded.

    Args:
        value: anything.
        longest: how many characters at most, with the mark that says that there were more.
    """
    return _made(str, value, longest)


def repr_of(value: object, longest: int = LONGEST) -> str:
    """What ``repr(value)`` says, bounded.

    Args:
        value: anything.
        longest: how many characters at most, with the mark that says that there were more.
    """
    return _made(repr, value, longest)


def error_words(error: BaseException, longest: int = LONGEST) -> str:
    """An error in one line: its type, and what it says.

    Args:
        error: any.
        longest: how many characters at most for what it says.
    """
    return f"{type_name(error)}: {words_of(error, longest)}"


def type_name(value: object) -> str:
    """The name of a value's type.

    Args:
        value: anything.
    """
    return type.__dict__["__name__"].__get__(type(value))  # type: ignore[no-any-return]  # a metaclass may have its own


def printable(text: str) -> str:
    """A text in which nothing controls a terminal: what is neither printable nor a space is escaped.

    Escape sequences, C1 controls, marks that turn the direction of writing, lone surrogates: whoever writes a file may
    have put any of them into a name. Lines are for the caller to break; a line break is escaped too.

    Args:
        text: from a file, a recording, or whoever gave it.
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text])


def printable_lines(text: str) -> str:
    """A text of several lines in which nothing else controls a terminal: each line as ``printable`` has it.

    Args:
        text: from anywhere, its lines broken by line feeds.
    """
    return text if text.isprintable() else "\n".join([printable(line) for line in text.split("\n")])


def masked(text: str) -> str:
    """A text of the same length in which nothing controls a terminal: a sign stands for each character that might.

    For screens, where each character has its place (and, in a styled text, its style). Line feeds stay.

    Args:
        text: from anywhere.
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text])


def _made(make: Callable[[object], str], value: object, longest: int) -> str:
    kind = type(value)
    if kind is int and value.bit_length() > _MANY_BITS:  # type: ignore[attr-defined]
        return f"<a number of {value.bit_length()} bits>"  # type: ignore[attr-defined]
    try:
        text = str.__getitem__(make(value), slice(longest + 1))  # of a subclass of str too, whatever it overrides
        if not text.isascii():
            text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return f"<{type_name(value)}: its text cannot be made ({type_name(problem)})>"
    return text if len(text) <= longest else f"{text[: max(0, longest - 3)]}..."
