"""What a page and an inspector say to each other: JSON texts over a WebSocket.

A client is hostile until it is shown otherwise. So this module knows the shape of every message, and nothing that it
lets through is larger, deeper or of another type than what is written here:

* a message is one JSON object of at most 64 KiB, with a ``do`` that is known;
* a field that is not known is passed over, so that a newer page can talk to an older inspector; a field of the wrong
  type or size refuses the message as a whole;
* a watch replaces the one before it: a client's wishes are one value and never a history.

``read`` gives a ``Command`` or a ``Denial``; it never raises. What both a runtime and a recording tell is composed
here; ``write`` makes JSON of it. JSON has no word for infinity, and an author's debug value may be anything: what it
cannot hold is written as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agentrt.installed import library_version
from agentrt.kernel.trace import Kept, TraceEvent, TraceRecord
from agentrt.record.spans import Span
from agentrt.runtime.intake import Reloaded
from agentrt.snapshot.offered import offered

PROTOCOL = 1
LONGEST_MESSAGE = 64 * 1024  # bytes

_LONGEST_TEXT = 500  # characters
_MOST_ROWS = 200
_MOST_SPANS = 3000
_MOST_NAMED = 100  # agents, of those that took an edit up
_LONGEST_ERROR = 4000  # characters, of what is wrong with an edit
_MOST_PINS = 24
_MOST_TICKS = 100_000  # in one step
_LARGEST_TICK = 2**53  # what a number of JavaScript can hold
_DEEPEST = 200  # containers within containers; a plan has four for each of its levels
BREAK_KINDS = (
    "action", "activity", "strategy", "decider", "goal", "agent", "condition", "aborts", "waits", "late",
)  # fmt: skip
NAMELESS = ("aborts", "late")
_SLOWEST, _FASTEST = 0.01, 1000.0


STATES = ("running", "thinking", "waiting", "aborted", "late", "idle", "ended")
GROUPS = ("", "kind", "doing", "state", "tasks", "value")
SORTS = ("", "name", "kind", "doing", "state", "utility", "think", "aborts", "value")


class AgentsQuery(NamedTuple):
    """Which agents a client looks at, and how they are arranged; see ``agentrt.inspect.listing``."""

    filter: str = ""  # a part of the name or of the kind, whatever its case
    kind: str = ""  # the kind of the entity; empty for any
    running: str = ""  # a part of what it runs or of its status text, whatever its case
    offset: int = 0  # how many rows of the arranged list are passed over; the heads of groups are rows, too
    limit: int = 100  # how many rows it wants
    states: frozenset[str] = frozenset()  # those of ``STATES`` of which one is enough; empty for any
    doing: str | None = None  # exactly what it does; empty for nothing, None for anything
    group: str = ""  # one of ``GROUPS``: by what; empty for no groups
    sort: str = ""  # one of ``SORTS``: by what; empty as they came
    down: bool = False  # whether the greatest comes first
    value: str = ""  # an expression over the values of each agent, to show, sort and group by; empty for none
    folded: frozenset[str] = frozenset()  # the groups of which only the head is shown


class CrowdQuery(NamedTuple):
    """Which part of the crowd a client looks at as a whole; see ``agentrt.inspect.crowd``."""

    kind: str = ""  # the kind of the entity; empty for any
    heat: bool = False  # the map of who thinks how long about what, too


class EventsQuery(NamedTuple):
    """Which records of the trace a client looks at."""

    agent: str | None = None  # of this agent only; None for all
    events: frozenset[str] | None = None  # of these kinds only; None for all
    text: str = ""  # a part of the line, whatever its case


class TimelineQuery(NamedTuple):
    """Which part of an agent's time line a client looks at."""

    agent: str
    first: int = 0  # the first tick
    last: int | None = None  # the last one; None for now


class Pin(NamedTuple):
    """An expression over the values of an agent that a client has pinned."""

    agent: str
    text: str  # the expression; see ``agentrt.expressions``


class WatchQuery(NamedTuple):
    """What one client looks at; what it does not look at is not composed."""

    agents: AgentsQuery | None = None  # a part of the list of agents
    agent: str | None = None  # one agent, in full
    events: EventsQuery | None = None  # a log of events
    timeline: TimelineQuery | None = None  # a time line
    drawing: bool = False  # what the world looks like
    pins: tuple[Pin, ...] = ()  # expressions, with their lines over time
    branches: bool = False  # the branches of a recording, and what came in after the tick
    branch: int = 0  # one of them, by its number, with the time lines of ``agent``; 0 for none
    hands: bool = False  # what can be changed by hand of ``agent``, and the inputs that the world takes
    editing: bool = False  # which files may be edited, and where what drives ``agent`` is written
    crowd: CrowdQuery | None = None  # how many do what over time
    thoughts: bool = False  # how it stands with the runtime's mind


class Command(NamedTuple):
    """What a client asks for."""

    # watch, pause, resume, play, step, speed, break, arm, unbreak, hand, thought, at, live, branch or unbranch
    do: str
    fields: dict[str, Any]  # what belongs to it, each field checked and with its default filled in


class Denial(NamedTuple):
    """Why nothing comes of what a client sent."""

    message: str
    code: str  # for programs: ``bad_message``, ``unknown_command`` or ``busy``


class _Wrong(ValueError):
    """A field is not what it has to be; turned into a ``Denial`` by ``read``."""


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if type(value) is not str or len(value) > _LONGEST_TEXT:
        raise _Wrong(f"'{name}' has to be a text of at most {_LONGEST_TEXT} characters")
    return value


def _name(name: str, value: object) -> str:
    if not (text := _text(name, value)):
        raise _Wrong(f"'{name}' is missing")
    return text


def _name_or_none(name: str, value: object) -> str | None:
    return _text(name, value) or None


def _text_or_none(name: str, value: object) -> str | None:
    return None if value is None else _text(name, value)


def _texts(name: str, value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    if type(value) is not list or len(value) > _MOST_ROWS:
        raise _Wrong(f"'{name}' has to be a list of at most {_MOST_ROWS} texts")
    return frozenset(_text(name, one) for one in value)


def _one_of(words: Sequence[str]) -> Callable[[str, Any], str]:
    def check(name: str, value: object) -> str:
        if value is None:
            return ""
        if type(value) is not str or value not in words:
            raise _Wrong(f"'{name}' has to be one of {', '.join(word for word in words if word)}")
        return value

    return check


def _states(name: str, value: object) -> frozenset[str]:
    wanted = _texts(name, value)
    if not wanted <= frozenset(STATES):
        raise _Wrong(f"'{name}' has to be a list of {', '.join(STATES)}")
    return wanted


def _whole(least: int, most: int, default: int | None = None) -> Callable[[str, Any], int]:
    def check(name: str, value: object) -> int:
        if value is None and default is not None:
            return default
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not least <= value <= most:
            raise _Wrong(f"'{name}' has to be a whole number from {least} to {most}")
        return value

    return check


_tick = _whole(0, _LARGEST_TICK, 0)


def _tick_or_none(name: str, value: object) -> int | None:
    return None if value is None else _tick(name, value)


_some_ticks = _whole(1, _MOST_TICKS)


def _ticks_or_none(name: str, value: object) -> int | None:
    return None if value is None else _some_ticks(name, value)


def _objects(name: str, value: object) -> list[Any]:
    """Their contents are looked at by whoever takes them."""
    if type(value) is not list or len(value) > _MOST_ROWS or not all(type(one) is dict for one in value):
        raise _Wrong(f"'{name}' has to be a list of at most {_MOST_ROWS} objects")
    return value


def _speed(name: str, value: Any) -> float:
    if type(value) not in (int, float) or not _SLOWEST <= value <= _FASTEST:
        raise _Wrong(f"'{name}' has to be a number from {_SLOWEST:g} to {_FASTEST:g}")
    return float(value)


def _kind(name: str, value: object) -> str:
    if value not in BREAK_KINDS:
        raise _Wrong(f"'{name}' has to be one of {', '.join(BREAK_KINDS)}")
    return str(value)


def _object(name: str, value: object) -> dict[str, Any]:
    """Its contents are looked at by whoever takes it."""
    if type(value) is not dict:
        raise _Wrong(f"'{name}' has to be an object")
    return value


def _flag(name: str, value: object) -> bool:
    if value is not None and type(value) is not bool:
        raise _Wrong(f"'{name}' has to be true or false")
    return bool(value)


def _events(name: str, value: object) -> frozenset[str] | None:
    if value is None:
        return None
    if type(value) is not list or len(value) > len(TraceEvent):
        raise _Wrong(f"'{name}' has to be a list of kinds of events")
    return frozenset(_text(name, one) for one in value)


_Fields = Mapping[str, Callable[[str, Any], Any]]


def _part(make: Callable[..., Any], fields: _Fields) -> Callable[[str, Any], Any]:
    def check(name: str, value: object) -> Any:
        if value is None:
            return None
        if type(value) is not dict:
            raise _Wrong(f"'{name}' has to be an object or null")
        return make(**{field: check(f"{name}.{field}", value.get(field)) for field, check in fields.items()})

    return check


def _pins(name: str, value: object) -> tuple[Pin, ...]:
    if value is None:
        return ()
    if type(value) is not list or len(value) > _MOST_PINS:
        raise _Wrong(f"'{name}' has to be a list of at most {_MOST_PINS} pins")
    check = _part(Pin, {"agent": _name, "text": _name})
    if None in value:
        raise _Wrong(f"'{name}' has to be a list of objects")
    return tuple(dict.fromkeys(check(name, one) for one in value))


_AGENTS: _Fields = {
    "filter": _text,
    "kind": _text,
    "running": _text,
    "offset": _whole(0, 10_000_000, 0),
    "limit": _whole(0, _MOST_ROWS, 100),
    "states": _states,
    "doing": _text_or_none,
    "group": _one_of(GROUPS),
    "sort": _one_of(SORTS),
    "down": _flag,
    "value": _text,
    "folded": _texts,
}
_WATCH: _Fields = {
    "agents": _part(AgentsQuery, _AGENTS),
    "agent": _name_or_none,
    "events": _part(EventsQuery, {"agent": _name_or_none, "events": _events, "text": _text}),
    "timeline": _part(TimelineQuery, {"agent": _name, "first": _tick, "last": _tick_or_none}),
    "drawing": _flag,
    "pins": _pins,
    "branches": _flag,
    "branch": _whole(0, _LARGEST_TICK, 0),
    "hands": _flag,
    "editing": _flag,
    "crowd": _part(CrowdQuery, {"kind": _text, "heat": _flag}),
    "thoughts": _flag,
}

_COMMANDS: Mapping[str, _Fields] = {
    "watch": _WATCH,
    "pause": {},
    "resume": {},
    "play": {},
    "step": {"ticks": _whole(-_MOST_TICKS, _MOST_TICKS, 1)},
    "speed": {"speed": _speed},
    # what starts by its name; of a condition the expression, of ``waits`` the seconds; ``aborts``, ``late``: nothing
    "break": {"kind": _kind, "name": _text, "agent": _text},
    "arm": {"id": _whole(0, _LARGEST_TICK), "on": _flag},
    "unbreak": {"id": _whole(0, _LARGEST_TICK)},
    # change what lives: an edit as ``agentrt.record.hands`` reads it; the answer bears the same number
    "hand": {"id": _whole(0, _LARGEST_TICK, 0), "edit": _object},
    "thought": {"id": _whole(1, _LARGEST_TICK)},  # read what was asked and answered, by the number of the thought
    "at": {"tick": _whole(0, _LARGEST_TICK)},  # of a recording, or of the past of a run; 0: the oldest that is kept
    "live": {},  # back from the past of a run
    # run a recording on otherwise, after a tick, for some ticks (null: to its end); end it, or let go of it
    "branch": {"at": _whole(0, _LARGEST_TICK), "ticks": _ticks_or_none, "edits": _objects},
    "unbranch": {"id": _whole(0, _LARGEST_TICK)},
}


def read_pins(text: str) -> tuple[Pin, ...] | Denial:
    """Read the expressions whose lines a client wants to have in a file; an empty text has none."""
    try:
        return _pins("pins", json.loads(text, parse_constant=_no_constant) if text else None)
    except _Wrong as wrong:
        return Denial(str(wrong), "bad_message")
    except (ValueError, RecursionError):
        return Denial("'pins' is no JSON", "bad_message")


def _no_constant(name: str) -> None:
    raise _Wrong(f"{name} is no JSON")


def read(text: str) -> Command | Denial:
    """Read what a client sent: what it asks for, or why it was not understood."""
    if len(text) > LONGEST_MESSAGE:
        return Denial(f"a message has at most {LONGEST_MESSAGE} bytes", "bad_message")
    try:
        message = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return Denial("the message is nested too deeply", "bad_message")
    except ValueError:
        return Denial("the message is no JSON", "bad_message")
    if type(message) is not dict:
        return Denial("the message is no JSON object", "bad_message")
    do = message.get("do")
    fields = _COMMANDS.get(do) if type(do) is str else None
    if fields is None:
        return Denial(f"'do' has to be one of {', '.join(_COMMANDS)}", "unknown_command")
    try:
        checked = {name: check(name, message.get(name)) for name, check in fields.items()}
        if do == "break" and checked["kind"] not in NAMELESS:
            _name("name", checked["name"])
    except _Wrong as wrong:
        return Denial(f"{do}: {wrong}", "bad_message")
    return Command(str(do), {"watch": WatchQuery(**checked)} if do == "watch" else checked)


# --- what both kinds of sources tell ----------------------------------------------------------------------------------


def kept(record: TraceRecord) -> Kept:
    tick, agent, path, event, detail = record
    return tick, agent, path, event._value_, detail


def record_of(one: Kept) -> TraceRecord:
    tick, agent, path, event, detail = one
    return TraceRecord(tick, agent, path, TraceEvent(event), detail)


def fits(one: Kept, query: EventsQuery) -> bool:
    """Whether a record is one that a client looks for."""
    if query.agent is not None and one[1] != query.agent:
        return False
    if query.events is not None and one[3] not in query.events:
        return False
    return not query.text or query.text.casefold() in record_of(one).line().casefold()


def events_message(records: Sequence[Kept], missed: int, *, is_new: bool) -> dict[str, Any]:
    """Records of the trace, and how many the client will never be told of; all that it was told before goes if new."""
    rows = [[*one[:4], dict(one[4])] for one in records]
    return {"is": "events", "reset": is_new, "records": rows, "missed": missed}


def hello(
    source: str,
    title: str,
    ticks_per_second: float,
    *,
    controls: bool,
    tick: int,
    reach: tuple[int, int],
    unreplayable: Sequence[str] = (),
    what_if: str | None = None,
    editing: str | None = None,
    models: Sequence[str] = (),
) -> dict[str, Any]:
    """What a client is told first.

    ``what_if``, of a recording: why no branch of it can be run; empty if one can. ``editing``, of a run: why no file
    of it can be edited; empty if one can. ``models``, of a recording: those outside by which its agents thought.
    """
    told = {"what_if": what_if, "editing": editing}
    told = {name: why for name, why in told.items() if why is not None}
    return {
        **told,
        "is": "hello",
        "protocol": PROTOCOL,
        "agentrt": library_version(),
        "source": source,
        "title": title,
        "controls": controls,
        "ticks_per_second": ticks_per_second,
        "tick": tick,
        "first_tick": reach[0],
        "last_tick": reach[1],
        "unreplayable": list(unreplayable),
        **({"models": [name[:200] for name in models[:20]]} if models else {}),
    }


def agent_message(
    name: str, tick: int, snapshot: dict[str, Any] | None, explained: str, outlines: dict[str, Any]
) -> dict[str, Any]:
    """One agent in full, or that it is not there; its trees where they are news; all its values in groups."""
    return {
        "is": "agent",
        "name": name,
        "tick": tick,
        "snapshot": snapshot,
        "explain": explained,
        "outlines": outlines,
        "values": [] if snapshot is None else [list(group) for group in offered(snapshot)],
    }


def span_rows(spans: Sequence[Span], most: int = _MOST_SPANS) -> list[list[Any]]:
    """The newest spans of a time line, as they are sent."""
    return [[one.lane, one.depth, one.path, one.name, one.begin, one.end, one.outcome] for one in spans[-most:]]


def timeline_message(query: TimelineQuery, last: int, now: int, rows: list[list[Any]]) -> dict[str, Any]:
    """The spans of an agent, and up to which tick."""
    return {"is": "timeline", "agent": query.agent, "first": query.first, "last": last, "now": now, "spans": rows}


def reloads_message(reloads: Sequence[Reloaded]) -> dict[str, Any]:
    """What came of the edits of the code, the oldest first. ``took`` counts agents; the first ones are named."""
    rows = [
        {
            **one._asdict(),
            "agents": one.agents[:_MOST_NAMED],
            "took": len(one.agents),
            "error": one.error[:_LONGEST_ERROR],
        }
        for one in reloads
    ]
    return {"is": "reloads", "rows": rows}


# --- writing ----------------------------------------------------------------------------------------------------------


def write(message: Mapping[str, Any]) -> str:
    """Make JSON of a message of ours; what JSON cannot hold is written as text."""
    try:
        return json.dumps(message, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):  # an author's value: infinity, a number of 5,000 digits, a circle
        return json.dumps(_plain(message, 0), allow_nan=False, separators=(",", ":"))


def _plain(value: object, depth: int) -> Any:
    if value is None or type(value) in (bool, str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, int):
        return int(value) if abs(value) < _LARGEST_TICK else "a large number"
    if depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, depth + 1) for one in value]
    return str(value)
