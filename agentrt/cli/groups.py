"""What all commands have in common: how they are grouped, how they speak, how they fail, how they say that they go on.

What a command says may come from anybody: a file, a name in a recording, an argument that was pasted, an error of a
world. It is shown on a terminal, which obeys what it is shown. So there is one door, and nobody else writes:

* ``tell`` for a line, ``tell_text`` for several, ``tell_json`` and ``JsonOut`` for JSON. What does not print is
  escaped, lines stay lines, and what the terminal's encoding has no sign for is escaped too: nobody's text ends a
  command.
* While a command runs, standard error is an ``_Escaping`` stream. What others write there passes the same door:
  warnings, log lines, what the interpreter says of a thread or a task. On a terminal it has one line that is rewritten
  in place, for progress, which is taken away before anything else is said on either stream.
* Errors of click's repeat the argument, and a traceback the text of whatever was raised: ``Group.main`` shows both.

An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option. Any other error is a
traceback and exit code 1.

Rejected: escaping where a text is put together (each new command would have to think of it, and one would not);
standard output as such a stream, too (a world may draw on it, in colors of its own).
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

import click

from agentrt.errors import AgentRTError, ProjectError
from agentrt.installed import called
from agentrt.packs.registry import Registry
from agentrt.words import error_words, printable, printable_lines, type_name, words_of
from agentrt.worlds import World, load_world, project_world

Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")

HOSTS = ("plain", "asyncio", "trio")  # what an option can say that a runtime is to run on; the first is the default


# --- the door ---------------------------------------------------------------------------------------------------------


def tell(line: str, *, err: bool = False) -> None:
    """Say one line; a line break in it is escaped, like all that does not print. What is no result goes to ``err``."""
    tell_text(printable(line) + "\n", err=err)


def tell_text(text: str, *, err: bool = False) -> None:
    """Say something of several lines, all of it, with its line breaks."""
    _wipe()
    stream = sys.stderr if err else _out()
    click.echo(_shown(text, stream), nl=False, file=stream)


def tell_json(value: object) -> None:
    """Say plain data, as JSON in several lines."""
    _wipe()
    click.echo(_json_shown(json.dumps(value, indent=2)), file=_out())


_outer: list[TextIO] = []  # standard output, while what others print there goes elsewhere


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """What others print meanwhile is no result: it goes to standard error."""
    _outer.append(_out())
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _outer.pop()


def _out() -> TextIO:
    """Where results go."""
    return _outer[-1] if _outer else sys.stdout


def no_more_results() -> None:
    """What others print when the program ends is none either."""
    atexit.register(setattr, sys, "stdout", sys.stderr)


def end_at_once(code: int) -> NoReturn:
    """End the program from any thread, whatever the others do."""
    with contextlib.suppress(Exception):
        for stream in (_out(), sys.stderr):
            stream.flush()
    os._exit(code)


class JsonOut(io.TextIOBase):
    """Standard output, for who writes JSON piece by piece."""

    def write(self, text: str, /) -> int:
        _wipe()
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
        self._drawn = 0  # how many columns the line that is rewritten takes; 0 if there is none

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.wipe()
        self._stream.write(_shown(text, self._stream))
        return len(text)

    def draw(self, line: str) -> None:
        """Show a line in place of the one that was drawn before; as much of it as the terminal has room for."""
        try:
            width = os.get_terminal_size(self.fileno()).columns
        except (OSError, ValueError):
            width = 0
        shown = _shown(printable(line), self._stream)[: (width or 80) - 1]  # a terminal may not know its size
        self._stream.write(f"\r{shown.ljust(self._drawn)}")
        self._stream.flush()
        self._drawn = len(shown)

    def wipe(self) -> None:
        """Take away the line that was drawn."""
        if self._drawn:
            self._stream.write(f"\r{' ' * self._drawn}\r")
            self._stream.flush()
            self._drawn = 0

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


def _wipe() -> None:
    if isinstance(sys.stderr, _Escaping):
        sys.stderr.wipe()


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
        if prog_name is None and Path(sys.argv[0]).stem == "agentrt":
            prog_name = called()
        with contextlib.redirect_stderr(_Escaping(sys.stderr)):
            try:
                code = super().main(args, prog_name, standalone_mode=False, **rest)
            except BaseException as error:
                _end(error)
            finally:
                _wipe()
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentRTError as error:
            raise _Failure(told_error(error)) from None


def told_error(error: AgentRTError) -> str:
    """What is told of an error: its text, and its notes below."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


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


# --- the project ------------------------------------------------------------------------------------------------------

_APP = "agentrt.app"  # under which click's context keeps what --app says


def app_option(command: Command) -> Command:
    """Give a command the option ``--app``, which ``own_world`` and its like go by."""
    return click.option(
        "--app", metavar="MODULE:NAME", expose_value=False, is_eager=True,
        callback=lambda ctx, _option, value: ctx.meta.setdefault(_APP, value or ""),
        help="The world of your project, if not the one that its pyproject.toml names.",
    )(command)  # fmt: skip


def given_app() -> str:
    return str(click.get_current_context().meta.get(_APP, ""))


def given_option(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """What an option ``--set NAME=VALUE`` says that may be repeated: texts by name."""
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"'{text}' is not NAME=VALUE, as in wolves=4.")
        if name in given:
            raise click.BadParameter(f"'{name}' is set twice.")
        given[name] = value
    return given


def own_world(place: Path | None = None) -> World | None:
    """The world of the project where the command was given, or of ``--app``; None if there is none.

    What its modules print when they are imported is no result.
    """
    with aside():
        return project_world(given_app(), place)


def world_called(name: str) -> World:
    """A world by its name, of the project or installed."""
    return load_world(name, given_app())


def known_registry() -> Registry:
    """What packs can name here; what a package is broken in is told on standard error.

    In a project that is what its world says, or what the installed packages offer; elsewhere the worlds to look at are
    known as well that agentrt brings.
    """
    return registry_for(own_world())


def registry_for(own: World | None) -> Registry:
    """What packs can name in a project with this world, or without one."""
    with aside():
        registry = _registry_of(own)
        if registry is None:
            registry = Registry.discover(strict=False, examples=own is None)
    for error in registry.broken:
        tell_text(f"Passed over: {error}\n", err=True)
    return registry


def _registry_of(own: World | None) -> Registry | None:
    try:
        registry: object = getattr(own, "registry", None)
    except (AgentRTError, KeyboardInterrupt):
        raise
    except BaseException as error:  # of theirs
        raise _no_registry(own, f"raised {error_words(error)}") from error
    if registry is not None and not isinstance(registry, Registry):
        raise _no_registry(own, f"is a {type_name(registry)}")
    return registry


def _no_registry(own: World | None, what: str) -> ProjectError:
    name = None if own is None else own.name
    remedy = "Give it an agentrt.Registry, or None; a SimpleWorld makes one of its manifests=[...]."
    return ProjectError(f"the world '{name}'", f"its registry {what}.", remedy)


_PATIENCE = 1.0  # real seconds before anything is said: what is quick needs no words
_REWRITTEN = 0.2  # real seconds between two states of the line on a terminal
_REPEATED = 5.0  # and between two lines elsewhere


def progress_printer(unit: str = "tick") -> Callable[[int, int, str], None]:
    """Makes what says on standard error how far something has come, in units, however often it is called.

    On a terminal that is one line, which is rewritten; elsewhere it is a line every few seconds.
    """
    due = time.monotonic() + _PATIENCE
    first: tuple[float, int] | None = None  # the first call, before which things are made

    def progress(tick: int, ticks: int, text: str) -> None:
        nonlocal due, first
        now = time.monotonic()
        since, begin = first = first or (now, tick)
        if now < due or tick > ticks:  # a replay may run a tick more
            return
        line = f"{unit} {tick}/{ticks}, {100 * tick // max(ticks, 1)} %"
        if begin < tick < ticks:
            line += f", {_duration((now - since) / (tick - begin) * (ticks - tick))} left"
        line += f"  {text}" if text else ""
        if isinstance(sys.stderr, _Escaping) and sys.stderr.isatty():
            sys.stderr.draw(line)
            due = now + _REWRITTEN
        else:
            tell(line, err=True)
            due = now + _REPEATED

    return progress


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
