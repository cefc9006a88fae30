"""Breakpoints of a runtime that lives: "stop at the end of the tick in which this happens".

Nothing of a plan or a tree knows that there are any. Rules:

* *What starts* is matched against records of the trace. The last part of a record's path tells what it is:

  * ``action``    an action runs: the name of its class, as paths show it (``Eat``; ``Eat#2`` is an ``Eat``, too);
  * ``activity``  an activity is performed: any action runs for it (``colony:eat``);
  * ``strategy``  a strategy is tried, for whatever it is needed: as task trees call it (``Mine Ore``) or by its name
    (``mine_ore``);
  * ``decider``   a decider of a behavior tree or a leaf of a selection tree becomes active, by its name or by that of
    its behavior;
  * ``goal``      a goal of a selector starts;
  * ``agent``     an agent is added, or anything of the above starts in it.

* *What is so* is looked at when a tick is over:

  * ``condition`` an expression over an agent's values comes true (``agentrt.expressions``: ``hunger > 0.8``). It is hit
    when it becomes true, and again only after it was not;
  * ``aborts``    a plan is aborted;
  * ``waits``     nothing begins or ends in an agent for longer than so many game seconds;
  * ``late``      a tick came too late.

* All but ``agent`` and ``late`` may be bound to one agent. One that is disabled is kept, and matches nothing.
* Each keeps how often it was hit, where, and what was so then.
* Looking is bounded: in each tick so many agents and so much real time, and it goes on with the next agents in the next
  tick. An expression that has no value is told at its breakpoint, and stops nothing. Without a condition nobody is
  looked at.
* Values of one tick may be seen a tick later if there are many agents: a breakpoint is no part of the run.

They may be kept in a file (``BreakpointFile``), a JSON object that people can read, write and compare. It is read when
the inspector begins, and written, as a whole or not at all, when a client changes something. Hits belong to a run and
are not in it. It is untrusted like every file: bounded, every key known, and only ``DataFault`` comes out.
``breakpoints.schema.json`` tells editors the same; a test keeps the two in step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM, DataFault, ExpressionError, did_you_mean
from agentrt.expressions import Expression, NamedValues, Value
from agentrt.inspect.protocol import BREAK_KINDS, NAMELESS
from agentrt.inspect.sessions import Message
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.spans import FOLDED
from agentrt.snapshot import snapshot_agent
from agentrt.snapshot.offered import ValueGroup, offered, values_by_name, values_of
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime

MOST_BREAKPOINTS: Final = 64
MOST_LOOKED_AT: Final = 200  # agents, in one tick
_LOOK_SECONDS: Final = 0.003  # of real time in one tick
_LONGEST_WAIT: Final = 1e6  # game seconds
_MOST_WAITING: Final = 5000  # agents that wait, looked at in one tick
_MOST_SHOWN: Final = 8  # values of one hit
_LONGEST_SHOWN: Final = 120
_MOST_BYTES: Final = 256 * 1024
_LONGEST_NAME: Final = 500
_STARTS: Final = frozenset(
    (TraceEvent.ADDED, TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY, TraceEvent.ABORT)
)
_GONE: Final = frozenset((TraceEvent.REMOVED, TraceEvent.KILLED))
MATCHED: Final = _STARTS | _GONE | FOLDED  # what ``heard`` does anything with

Refusal = tuple[str, str]
"""Why nothing comes of what a client asked for: in words, and for programs."""


@dataclass(slots=True)
class Breakpoint:
    """One breakpoint."""

    id: int
    kind: str  # one of ``BREAK_KINDS``
    name: str  # what starts; of a condition the expression, of ``waits`` the seconds
    agent: str  # in which agent; empty for any
    enabled: bool = True
    hits: int = 0  # how often it was hit
    last: str = ""  # what was hit last, as a line; empty if nothing was
    place: tuple[str, ...] = ("", "")  # its agent and its path, so that a page can go there
    was: list[tuple[str, str]] = field(default_factory=list)  # what was so then: names and values, as words
    error: str = ""  # why it could not be looked at, the last time

    def matches(self, record: TraceRecord) -> bool:
        if self.kind == "agent":
            return record.agent == self.name and record.event is not TraceEvent.ABORT
        if self.agent and record.agent != self.agent:
            return False
        detail = dict(record.detail)
        above, _, last = record.path.rpartition("/")
        if record.event is TraceEvent.ABORT:
            return self.kind == "aborts"
        if record.event is TraceEvent.RUN:
            if self.kind == "action":
                return self.name in (last, last.partition("#")[0])
            return self.kind == "activity" and above.rpartition("/")[2].partition("#")[0] == self.name
        if record.event is TraceEvent.ACTIVATE:
            return self.kind == "decider" and self.name in (last, detail.get("behavior"))
        if record.event is TraceEvent.TRY:
            label = str(detail.get("by"))
            return self.kind == "strategy" and self.name in (label, label.lower().replace(" ", "_"))
        # The start of a goal says more about it; that of an action says nothing.
        return record.event is TraceEvent.START and self.kind == "goal" and last == self.name and bool(detail)

    def words(self) -> str:
        of_whom = f" of {self.agent}" if self.agent else ""
        if self.kind == "waits":
            return f"waits longer than {self.name} s{of_whom}"
        if self.kind == "late":
            return "late tick"
        return f"{self.kind} {self.name}".strip() + of_whom


def problem_of(kind: str, name: str) -> str:
    """What is wrong with a breakpoint, before it is set; empty if nothing is."""
    if kind == "condition":
        try:
            Expression(name)
        except ExpressionError as error:
            return f"column {error.column}: {error.problem}"
    elif kind == "waits":
        try:
            seconds = float(name)
        except ValueError:
            seconds = -1.0
        if not 0 < seconds <= _LONGEST_WAIT:
            return f"it waits longer than a number of game seconds, and not {repr_of(name, 40)}: write for example 5"
    elif kind in NAMELESS and name:
        return f"{kind} takes no name"
    elif kind not in NAMELESS and not name:
        return "the name of what starts is missing"
    return ""


# --- a runtime --------------------------------------------------------------------------------------------------------


class Breakpoints:
    """The breakpoints of one runtime. Used on the runtime's thread alone.

    Args:
        file: where they are kept, if anywhere.
    """

    def __init__(self, file: BreakpointFile | None = None) -> None:
        self._points: dict[tuple[str, str, str], Breakpoint] = {}  # in the order in which they were set
        self._file = file
        self._count = 0
        self._reason = ""  # of the first one that was hit since ``take`` was asked, in words; empty if none was
        self.place: tuple[str, str] = ("", "")  # the agent and the path of that one
        self.are_armed: bool = False  # whether any of them is enabled
        self._starts: tuple[Breakpoint, ...] = ()  # those that are enabled, by how they are looked at
        self._conditions: tuple[tuple[Breakpoint, Expression], ...] = ()
        self._waits: tuple[tuple[Breakpoint, float], ...] = ()
        self._lates: tuple[Breakpoint, ...] = ()
        self._true: dict[int, set[str]] = {}  # of which agents a condition was true when it was looked at last
        self._next = 0  # the agent with which looking goes on
        self._busy: dict[str, int] = {}  # when something began or ended in each agent, the longest ago first
        self._late_ticks = -1  # how many there were; -1: nobody has looked yet

    def __len__(self) -> int:
        return len(self._points)

    # --- setting ------------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Set what the file has; ``DataFault`` if it is wrong."""
        for kind, name, agent, is_enabled in () if self._file is None else self._file.read():
            self.add(kind, name, agent)
            self._points[kind, name, agent].enabled = is_enabled
        self._sort()

    def add(self, kind: str, name: str, agent: str) -> bool:
        """Set one, unless there is the same; False if there are too many."""
        wanted = (kind, name, agent)
        if wanted not in self._points:
            if len(self._points) >= MOST_BREAKPOINTS:
                return False
            self._count += 1
            self._points[wanted] = Breakpoint(self._count, kind, name, agent)
            self._sort()
        return True

    def remove(self, number: int) -> bool:
        found = [key for key, point in self._points.items() if point.id == number]
        if found:
            del self._points[found[0]]
            self._sort()
        return bool(found)

    def arm(self, number: int, *, is_on: bool) -> bool:
        """Enable or disable one; False if there is none of that number."""
        found = next((point for point in self._points.values() if point.id == number), None)
        if found is not None:
            found.enabled = is_on
            self._sort()
        return found is not None

    def clear(self) -> None:
        """Forget all; the file stays as it is."""
        self._points.clear()
        self._sort()

    def obey(self, do: str, fields: dict[str, Any], runtime: Runtime) -> Refusal | None:
        """Do what a client asked for; why not, if not."""
        if do == "break":
            kind, name = fields["kind"], fields["name"].strip()
            agent = "" if kind in ("agent", "late") else fields["agent"]
            if problem := problem_of(kind, name):
                return problem, "bad_breakpoint"
            if not self.add(kind, name, agent):
                return "there are too many breakpoints; remove one", "too_many"
            self._begin(runtime)
        elif not (self.arm(fields["id"], is_on=fields["on"]) if do == "arm" else self.remove(fields["id"])):
            return f"there is no breakpoint {fields['id']}", "unknown_breakpoint"
        if self._file is None:
            return None
        try:
            self._file.write(self._points.values())
        except OSError as error:
            return f"{self._file.path} cannot be written: {error.strerror or error}", "not_kept"
        return None

    def _sort(self) -> None:
        """Something was set, enabled or taken away."""
        points = [point for point in self._points.values() if point.enabled]
        self.are_armed = bool(points)
        self._starts = tuple(one for one in points if one.kind not in ("condition", "waits", "late"))
        self._conditions = tuple((one, Expression(one.name)) for one in points if one.kind == "condition")
        self._waits = tuple((one, float(one.name)) for one in points if one.kind == "waits")
        self._lates = tuple(one for one in points if one.kind == "late")
        armed = {one.id for one, _ in self._conditions}
        self._true = {number: names for number, names in self._true.items() if number in armed}
        if not self._waits:
            self._busy.clear()
        if not self._lates:
            self._late_ticks = -1

    # --- what starts --------------------------------------------------------------------------------------------------

    def heard(self, record: TraceRecord) -> None:
        event = record.event
        if self._waits:
            if event in _GONE:
                self._busy.pop(record.agent, None)
            elif record.agent and (event in FOLDED or event is TraceEvent.ADDED):
                self._busy.pop(record.agent, None)  # those that were busy last stand last
                self._busy[record.agent] = record.tick
        if event not in _STARTS:
            return
        for point in self._starts:
            if point.matches(record):
                shown = [(key, words_of(value, _LONGEST_SHOWN)) for key, value in record.detail[:_MOST_SHOWN]]
                self._hit(point, record.tick, record.agent, record.path, shown)

    def _hit(self, point: Breakpoint, tick: int, agent: str, path: str, was: list[tuple[str, str]]) -> None:
        point.hits += 1
        where = " ".join(one for one in (agent, path) if one)
        point.last = f"tick {tick} {where}".strip()
        point.place = (agent, path)
        point.was = was
        self.place = self.place if self._reason else (agent, path)
        self._reason = self._reason or f"breakpoint: {point.words()}" + (f" ({where})" if where else "")

    def take(self) -> str:
        """The reason to stop, once."""
        reason, self._reason = self._reason, ""
        return reason

    # --- what is so, at the end of a tick -----------------------------------------------------------------------------

    def look(self, runtime: Runtime, clock: Callable[[], float]) -> None:
        """A tick is over."""
        if self._conditions:
            self._look_at_values(runtime, clock)
        if self._waits:
            self._look_for_waiting(runtime)
        if self._lates:
            before, self._late_ticks = self._late_ticks, runtime.late_ticks
            if 0 <= before < self._late_ticks:
                for point in self._lates:
                    late = f"{runtime.lateness:.3g} s"
                    self._hit(point, runtime.tick, "", "", [("behind", late), ("late ticks", str(self._late_ticks))])

    def _begin(self, runtime: Runtime) -> None:
        """One was set just now: what it counts from is now."""
        if self._waits:
            for agent in runtime.agents:
                self._busy.setdefault(agent.name, runtime.tick)
        if self._lates and self._late_ticks < 0:
            self._late_ticks = runtime.late_ticks

    def _look_for_waiting(self, runtime: Runtime) -> None:
        tick, rate = runtime.tick, runtime.clock.ticks_per_second
        if not self._busy:  # they come from a file
            self._begin(runtime)
        bounds = [(point, int(seconds * rate)) for point, seconds in self._waits]
        least = min(bound for _, bound in bounds)
        for name, since in islice(self._busy.items(), _MOST_WAITING):
            waited = tick - since
            if waited <= least:
                break  # those that follow were busy later
            for point, bound in bounds:
                if waited == bound + 1 and point.agent in ("", name):  # in this tick, and not in each that follows
                    agent = runtime.find(name)
                    path = "" if agent is None else snapshot_agent(agent).running
                    was = [("waits", f"{waited / rate:.3g} s"), ("since tick", str(since))]
                    self._hit(point, tick, name, path, was)

    def _look_at_values(self, runtime: Runtime, clock: Callable[[], float]) -> None:
        for agent in self._in_turn(runtime, clock):
            mine = [one for one in self._conditions if one[0].agent in ("", agent.name)]
            if not mine:
                continue
            try:
                values = _Values(agent)
                for point, expression in mine:
                    self._look_at(point, expression, agent.name, values, runtime.tick)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:  # an agent that cannot be shown keeps nobody from the rest
                for point, _ in mine:
                    point.error = f"{agent.name}: {error_words(error, 200)}"

    def _in_turn(self, runtime: Runtime, clock: Callable[[], float]) -> Iterator[Agent]:
        """Agents, from the one on with which the last tick ended, until this one has had enough."""
        begin = clock()
        if all(point.agent for point, _ in self._conditions):
            names = dict.fromkeys(point.agent for point, _ in self._conditions)
            agents = tuple(agent for name in names if (agent := runtime.find(name)) is not None)
        else:
            agents = runtime.agents
        if len(agents) < sum(map(len, self._true.values())):  # some may have gone
            there = {agent.name for agent in agents}
            for known in self._true.values():
                known &= there
        first = self._next if self._next < len(agents) else 0
        looked_at = 0
        for agent in islice(chain(agents[first:], agents[:first]), MOST_LOOKED_AT):
            yield agent
            looked_at += 1
            if clock() - begin > _LOOK_SECONDS:
                break
        self._next = (first + looked_at) % len(agents) if agents else 0

    def _look_at(self, point: Breakpoint, expression: Expression, name: str, values: _Values, tick: int) -> None:
        known = self._true.setdefault(point.id, set())
        try:
            value = expression.value(values.naming(expression.names))
        except ExpressionError as error:
            known.discard(name)
            if point.agent or not point.hits:  # of many, some may have no such value
                point.error = f"{name}, column {error.column}: {error.problem}"
            return
        if type(value) is not bool:
            point.error = f"it comes to {words_of(value, 40)}, and not to true or false: write for example hunger > 0.8"
            return
        point.error = ""
        if not value:
            known.discard(name)
        elif name not in known:
            known.add(name)
            self._hit(point, tick, name, "", values.shown(expression.names))

    def as_json(self) -> list[Message]:
        """All of them as plain values, in the order in which they were set."""
        return [asdict(point) for point in self._points.values()]


class _Values:
    """The values of one agent at one moment: at first those that cost little, and all if a name is not among them."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        groups = [ValueGroup(name, "agent", values) for name, values in values_of(agent).items()]
        self._named = NamedValues(values_by_name(groups))
        self._has_all = False

    def naming(self, names: Iterable[str]) -> NamedValues:
        if not self._has_all and not all(self._named.find(name) is not None for name in names):
            self._has_all = True
            self._named = NamedValues(values_by_name(offered(snapshot_agent(self._agent).as_json())))
        return self._named

    def shown(self, names: Iterable[str]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for name in islice(names, _MOST_SHOWN):
            key = self._named.find(name)
            value: Value = None if key is None else self._named.values[key]
            found.append((name, f"{value:.4g}" if type(value) is float else words_of(value, _LONGEST_SHOWN)))
        return found


# --- a file -----------------------------------------------------------------------------------------------------------

_VALUE_KEYS: Final = {"condition": "when", "waits": "seconds"}  # what stands in place of the name
_EXAMPLE: Final = 'Write for example {"kind": "condition", "when": "hunger > 0.8", "agent": "Ann"}.'


def breakpoints_schema() -> str:
    """The JSON Schema of files of breakpoints, for editors."""
    return (Path(__file__).parent / "breakpoints.schema.json").read_text(encoding="utf-8")


class BreakpointFile:
    """A file of breakpoints.

    Args:
        path: where it is; there need be none yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)

    def read(self) -> list[tuple[str, str, str, bool]]:
        """What it has: kind, name, agent, and whether it is enabled; nothing if there is no file.

        Raises:
            DataFault: it cannot be read, or something is wrong with it.
        """
        try:
            with self.path.open("rb") as file:
                raw = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._wrong("", f"it cannot be read: {error.strerror or error}. Check its name.") from None
        if len(raw) > _MOST_BYTES:
            raise self._wrong("", f"it is longer than {_MOST_BYTES} bytes. Keep fewer breakpoints.")
        try:
            data: object = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise self._wrong("", f"it is no JSON: {words_of(error, 200)}. Correct it there.") from None
        if not isinstance(data, dict) or not isinstance(data.get("breakpoints"), list):
            raise self._wrong("", 'it has no list of breakpoints. Write {"breakpoints": []}.')
        for key in data:
            if key not in ("$schema", "breakpoints"):
                near = did_you_mean(str(key), ("breakpoints",))
                raise self._wrong("", f"it has a key {repr_of(key, 80)} that does not belong there.{near}")
        rows: list[Any] = data["breakpoints"]
        if len(rows) > MOST_BREAKPOINTS:
            raise self._wrong("/breakpoints", f"there are more than {MOST_BREAKPOINTS}. Remove some.")
        return [self._read(f"/breakpoints/{index}", row) for index, row in enumerate(rows)]

    def _wrong(self, pointer: str, text: str) -> DataFault:
        return DataFault(text, file=str(self.path), pointer=pointer)

    def _read(self, pointer: str, row: object) -> tuple[str, str, str, bool]:
        if not isinstance(row, dict):
            raise self._wrong(pointer, f"a breakpoint is an object. {_EXAMPLE}")
        kind = row.get("kind")
        if not isinstance(kind, str) or kind not in BREAK_KINDS:
            near = did_you_mean(kind, BREAK_KINDS) if isinstance(kind, str) else ""
            raise self._wrong(
                f"{pointer}/kind", f"'kind' is {repr_of(kind, 80)}, and not one of {', '.join(BREAK_KINDS)}.{near}"
            )
        own = "" if kind in NAMELESS else _VALUE_KEYS.get(kind, "name")
        known = tuple(key for key in ("kind", own, "" if kind in ("agent", "late") else "agent", "enabled") if key)
        for key in row:
            if key not in known:
                near = did_you_mean(str(key), known)
                raise self._wrong(pointer, f"it has a key {repr_of(key, 80)} that does not belong there.{near}")
        value = row.get(own, "") if own else ""
        if own == "seconds" and type(value) in (int, float):
            value = f"{value:g}"
        agent, is_enabled = row.get("agent", ""), row.get("enabled", True)
        if type(is_enabled) is not bool:
            raise self._wrong(f"{pointer}/enabled", "'enabled' is true or false. Leave it out for true.")
        for key, text in ((own, value), ("agent", agent)):
            if not isinstance(text, str) or len(text) > _LONGEST_NAME:
                words = "a number" if key == "seconds" else f"a text of at most {_LONGEST_NAME} characters"
                raise self._wrong(f"{pointer}/{key}", f"'{key}' is {words}. {_EXAMPLE}")
        if problem := problem_of(kind, value):
            raise self._wrong(f"{pointer}/{own}" if own else pointer, f"{problem}. {_EXAMPLE}")
        return kind, value, agent, is_enabled

    def write(self, points: Iterable[Breakpoint]) -> None:
        """Keep breakpoints, a line for each; ``OSError`` if that is not possible, and the file is as it was."""
        lines = [f"    {json.dumps(_row(point), ensure_ascii=False)}" for point in points]
        text = '{\n  "breakpoints": [\n' + ",\n".join(lines) + "\n  ]\n}\n" if lines else '{\n  "breakpoints": []\n}\n'
        raw = text.encode("utf-8", "backslashreplace")  # half a character, which is no text, stands escaped as in JSON
        part = self.path.with_name(f"{self.path.name}.part")
        try:
            part.write_bytes(raw)
            part.replace(self.path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


def _row(point: Breakpoint) -> dict[str, object]:
    row: dict[str, object] = {"kind": point.kind}
    if point.kind not in NAMELESS:
        own = _VALUE_KEYS.get(point.kind, "name")
        row[own] = float(point.name) if own == "seconds" else point.name
    if point.agent:
        row["agent"] = point.agent
    if not point.enabled:
        row["enabled"] = False
    return row
