"""What all commands have in common: how they are grouped, how they speak, how they fail, how they say that they go on.

What a command says may come from anybody: a file, a name in a recording, an argument that was pasted, an error of a
world. It is shown on a terminal, which obeys what it is shown. So there is one door, and nobody else writes:

* ``tell`` for a line, ``tell_text`` for several, ``tell_json`` and ``JsonOut`` for JSON. What does not print is
  escaped, lines stay lines, and what the terminal's encoding has no sign for is escaped too: nobody's text ends a
  command.
* While a command runs, standard error is an ``_Escaping`` stream. What others write there passes the same door:
  warnings, log lines, what the interpreter says of a thread or a task.
* Errors of click's repeat the argument, and a traceback the text of whatever was raised: ``Group.main`` shows both.

An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option. Any other error is a
traceback and exit code 1.

Rejected: escaping where a text is put together (each new command would have to think of it, and one would not);
standard output as such a stream, too (a world may draw on it, in colors of its own).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

import click

from agentrt.errors import AgentRTError
from agentrt.packs.registry import Registry
from agentrt.words import printable, printable_lines, words_of

HOSTS = ("plain", "asyncio", "trio")  # what an option can say that a runtime is to run on; the first is the default


# --- the door ---------------------------------------------------------------------------------------------------------


def tell(line: str, *, err: bool = False) -> None:
    """Say one line; a line break in it is escaped, like all that does not print. What is no result goes to ``err``."""
    tell_text(printable(line) + "\n", err=err)


def tell_text(text: str, *, err: bool = False) -> None:
    """Say something of several lines, all of it, with its line breaks."""
    click.echo(_shown(text, sys.stderr if err else sys.stdout), nl=False, err=err)


def tell_json(value: object) -> None:
    """Say plain data, as JSON in several lines."""
    click.echo(_json_shown(json.dumps(value, indent=2)))


class JsonOut(io.TextIOBase):
    """Standard output, for who writes JSON piece by piece."""

    def write(self, text: str, /) -> int:
        click.echo(_json_shown(text), nl=False)
        return len(text)


def _json_shown(text: str) -> str:
    """JSON in ASCII, as ``json.dumps`` makes it, has one character left that is no sign."""
    return text.replace("\x7f", "\\u007f")


def _shown(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return printable_lines(text).encode(encoding, "backslashreplace").decode(encoding)


class _Escaping(io.TextIOBase):
    """A stream for people: whatever is written to it goes on with what does not print escaped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write(_shown(text, self._stream))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the stream behind it open: it is somebody else's."""


class _Shown(io.StringIO):
    """Looks like a terminal to click, which would else take the half of an escape sequence out of an error."""

    def isatty(self) -> bool:
        return True


# --- groups -----------------------------------------------------------------------------------------------------------


class _Failure(click.ClickException):
    exit_code = 2


class Group(click.Group):
    """A group whose commands tell what went wrong through the door."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, standalone_mode: bool = True, **rest: Any
    ) -> Any:
        """Run the program; standalone, it ends the process, and else it returns and raises."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **rest)
        with contextlib.redirect_stderr(_Escaping(sys.stderr)):
            try:
                code = super().main(args, prog_name, standalone_mode=False, **rest)
            except BaseException as error:
                _end(error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentRTError as error:
            notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
            raise _Failure(f"{error}{notes}") from None


def _end(error: BaseException) -> NoReturn:
    """Tell what ended the program, and end it."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            raise error
        tell_text(f"{words_of(error.code)}\n", err=True)
    elif isinstance(error, click.ClickException):
        shown = _Shown()
        error.show(shown)
        tell_text(shown.getvalue(), err=True)
        sys.exit(error.exit_code)
    elif isinstance(error, click.Abort):
        tell("Aborted!", err=True)
    else:
        tell_text("".join(traceback.format_exception(error)), err=True)
    sys.exit(1)


def known_registry() -> Registry:
    """What the installed packages offer; what one of them is broken in is told on standard error."""
    registry = Registry.discover(strict=False)
    for error in registry.broken:
        tell_text(f"Passed over: {error}\n", err=True)
    return registry


def progress_printer(after: float = 0.0) -> Callable[[int, int, str], None]:
    """Makes what prints a line on standard error at each twentieth of the way, however often it is called.

    Not before so many real seconds have passed: what is quick needs no words.
    """
    told = -1
    begin = time.monotonic() + after

    def progress(tick: int, ticks: int, text: str) -> None:
        nonlocal told
        step = tick * 20 // max(ticks, 1)
        if step > told and time.monotonic() >= begin:
            told = step
            tell(f"tick {tick}/{ticks}{'  ' if text else ''}{text}", err=True)

    return progress
