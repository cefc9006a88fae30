"""The log: the one place that writes to structlog, and the one bridge from the trace to it.

Three things come out here, all with ``agent``, ``path`` and ``tick``:

* what failed (a hook that raised, a planner that gave up), once, where it happens, with its traceback;
* what an author writes: ``ctx.get_log()``;
* what happens, record by record, for a runtime or an agent whose ``log_level`` was set.

Quiet by default: without any configuration only warnings and worse come out, on standard error, through the standard
library's ``logging`` under the name ``agentrt``; and nothing of the trace does. A program that configured structlog
gets the events in its own way. ``runtime.log_level = "info"`` opens the bridge for all agents, ``agent.log_level =
"debug"`` for one; ``"off"`` closes even the failures of one. While no level is set the bridge does not listen, and
costs nothing.

What a record is worth (a level says from which on they are passed):

* ``info``     what an agent does and what becomes of it: start, run, finish, stop, preempt, abort, complete...
* ``debug``    how it comes to that: think, ready, reject, elect, utilities, variables, stimuli...
* ``warning``  what somebody should look at: a storm of rejections, a hook that is out because it raised
* no level     failures: they are logged where they happen, and are not told twice

A log is read on a terminal, which obeys control characters, and what is logged may come from anybody: a name, a path,
the text of an error. So ``_quieted`` stands before all other processors, also those of a program that configured
structlog: texts go on with what does not print escaped, and so does the traceback of an error that says such a thing.

Rejected: a logger that every record goes to, filtered by structlog (a record nobody wants would be composed, bound and
thrown away); the tick bound once (a logger that is kept would tell an old one).
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import partial
from typing import Any, Final, Protocol

from agentrt.kernel.trace import TraceEvent, TraceHub, TraceRecord
from agentrt.words import error_words, printable, printable_lines

LEVELS: dict[str, int] = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50, "off": 100}
"""The levels by name, as the standard library counts them."""

_OTHER_NAMES = {"warn": "warning", "exception": "error", "fatal": "critical", "err": "error"}

_EVENTS: dict[str, tuple[TraceEvent, ...]] = {  # by level; all others are what agents do, and worth an info
    "debug": (
        TraceEvent.THINK,
        TraceEvent.READY,
        TraceEvent.UNREADY,
        TraceEvent.REJECT,
        TraceEvent.STOP_THINKING,
        TraceEvent.BLOCKED,
        TraceEvent.ELECT,
        TraceEvent.UTILITY,
        TraceEvent.PROGRESS,
        TraceEvent.REFUSED,
        TraceEvent.FULL,
        TraceEvent.IGNORED,
        TraceEvent.LATE,
        TraceEvent.TIMEOUT,
        TraceEvent.RECONSIDER,
        TraceEvent.VARIABLE,
        TraceEvent.STIMULUS,
        TraceEvent.FORECAST,
    ),
    "warning": (TraceEvent.STORM, TraceEvent.DISABLED),
    "": (TraceEvent.FAULT, TraceEvent.KILLED, TraceEvent.RESTARTED),  # they are logged where they happen
}
LEVEL_OF = dict.fromkeys(TraceEvent, "info") | {event: level for level, events in _EVENTS.items() for event in events}


def threshold_of(level: str | None) -> int:
    """From which number on things are logged: the number of a level, or 0 for None, which is all."""
    if level is None:
        return 0
    if level not in LEVELS:
        raise ValueError(f"log_level is {level!r}: choose one of {', '.join(LEVELS)}, or None")
    return LEVELS[level]


def get_logger(**bound: Any) -> Any:
    """A logger, every event of which carries some values, such as the agent's name."""
    import logging  # not at the top: importing agentrt must stay quick

    import structlog

    if structlog.is_configured():
        # As structlog.get_logger makes it, with one more processor.
        processors = [_quieted, *structlog.get_config()["processors"]]
        return structlog.wrap_logger(None, processors, logger_factory_args=("agentrt",), **bound)
    return structlog.wrap_logger(
        logging.getLogger("agentrt"),
        processors=[
            structlog.stdlib.filter_by_level,
            _quieted,
            structlog.processors.format_exc_info,
            partial(_rendered, structlog.processors.KeyValueRenderer(key_order=_KEYS, drop_missing=True)),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    ).bind(**bound)


_KEYS: Final = ("event", "agent", "path", "tick")  # those that come first in a line


def _rendered(render: Callable[..., str], logger: object, method: str, event: MutableMapping[str, Any]) -> str:
    """An event as a line, and a traceback below it as Python shows one; the last processor of structlog."""
    traceback = event.pop("exception", "")
    line = render(logger, method, event)
    return f"{line}\n{traceback}" if traceback else line


def _quieted(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape what does not print in the names and texts of an event; a processor of structlog."""
    for name, value in tuple(event.items()):
        if isinstance(value, str):
            told: Any = printable_lines(value)
        elif name == "exc_info":
            told = _quiet_error(event, value)
        elif isinstance(value, BaseException):
            told = printable_lines(error_words(value))
        elif name == "positional_args":  # of the standard library's way to fill in a text
            told = tuple([printable_lines(one) if isinstance(one, str) else one for one in value])
        else:
            told = value
        if not name.isprintable():
            del event[name]
            name = printable(name)
        if told is not value:
            event[name] = told
    return event


def _quiet_error(event: MutableMapping[str, Any], given: object) -> object:
    """What was given as ``exc_info``; if it would say what does not print, None, and the event has it as a text."""
    import sys
    import traceback

    error = given[1] if isinstance(given, tuple) else sys.exception() if given is True else given
    if not isinstance(error, BaseException):
        return given
    text = "".join(traceback.format_exception(error)).rstrip("\n")
    quiet = printable_lines(text)
    if quiet == text:
        return given
    event["exception"] = quiet
    return None


# --- a logger of a place ----------------------------------------------------------------------------------------------


class Speaker(Protocol):
    """Whose log it is: an agent, or a runtime."""

    def log_state(self) -> tuple[int, int | None]:
        """From which level on things are logged, and the tick; None outside a runtime."""
        ...


class Log:
    """A logger of structlog that asks, whenever something is logged, for the level that counts and for the tick.

    It has all methods of such a logger: ``info("began", line=7)``, ``bind(...)``, ``exception(...)``.
    """

    __slots__ = ("_bound", "_speaker")

    def __init__(self, speaker: Speaker, bound: dict[str, Any]) -> None:
        self._speaker = speaker
        self._bound = bound

    def bind(self, **more: Any) -> Log:
        """The same logger with more values."""
        return Log(self._speaker, {**self._bound, **more})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        threshold, tick = self._speaker.log_state()
        level = LEVELS.get(_OTHER_NAMES.get(name, name))
        if level is not None and level < threshold:
            return _say_nothing
        return getattr(get_logger(**self._bound, **({} if tick is None else {"tick": tick})), name)

    def __repr__(self) -> str:
        return f"<Log: {', '.join(f'{name}={value!r}' for name, value in self._bound.items()) or 'of nobody'}>"


def _say_nothing(*_args: Any, **_values: Any) -> None:
    """What is below the level goes nowhere."""


# --- the bridge -------------------------------------------------------------------------------------------------------


class LogBridge:
    """Hands the records of one runtime's trace to the log, as far as somebody wants them."""

    __slots__ = ("_close", "_level", "_of_agents", "_threshold", "_trace")

    def __init__(self, trace: TraceHub) -> None:
        self._trace = trace
        self._level: str | None = None
        self._threshold: int = LEVELS["off"]
        self._of_agents: dict[str, int] = {}
        self._close: Callable[[], None] | None = None

    @property
    def level(self) -> str | None:
        """The level for all who have none of their own; None passes no record, and fails as loudly as ever."""
        return self._level

    @level.setter
    def level(self, level: str | None) -> None:
        self._threshold = LEVELS["off"] if level is None else threshold_of(level)
        self._level = level
        self._listen()

    def set_agent(self, name: str, level: str | None) -> None:
        """Give an agent a level of its own, or with None that of all others again."""
        if level is not None:
            self._of_agents[name] = threshold_of(level)
        elif self._of_agents.pop(name, None) is None:
            return
        self._listen()

    def _listen(self) -> None:
        is_wanted = min((self._threshold, *self._of_agents.values())) < LEVELS["off"]
        if is_wanted and self._close is None:
            self._close = self._trace.listen(self._take)
        elif not is_wanted and self._close is not None:
            self._close()
            self._close = None

    def _take(self, record: TraceRecord) -> None:
        level = LEVEL_OF[record.event]
        if not level or LEVELS[level] < self._of_agents.get(record.agent, self._threshold):
            return
        place = {"agent": record.agent, "path": record.path}
        values: dict[str, Any] = {name: value for name, value in place.items() if value}
        values["tick"] = record.tick
        for name, value in record.detail:
            values[f"{name}_" if name in values or name == "event" else name] = value
        getattr(get_logger(), level)(record.event.value, **values)
