"""What an inspector shows of a world in shards: all of them, from where they are led.

Everything here that is not for the server's thread happens on the thread that runs the windows, and only while all
shards stand at the barrier: a window is over (``look``), or the next one waits to be opened (``is_ready``).

* A client is told of the whole world: the list of agents, the drawing, how it does. What is of one agent, or of a log,
  is asked of the shard that has it at that moment; one that moves is found where it goes as soon as it is there.
* Of all clients together each shard is asked in one request, ten times in a second at most; after each window while a
  breakpoint is set.
* A pause, a step (of a window) and a breakpoint hold all shards: one that is hit in the midst of a window lets that
  window end, and says where and in which tick it was.
* Who looks changes nothing of the run, so nothing is changed by hand: what a barrier brings to a shard is written down
  as one input, from which a shard that is lost comes back, and a change by hand is none of it.
* While a shard is lost, clients are told that it comes back; then they are told of everything anew.
* What fails in here is logged, told to the clients, and stops no window.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.drawing import Drawing
from agentrt.errors import ENDS_PROGRAM, DataFault, InspectorError, ShardError
from agentrt.inspect.breakpoints import MOST_BREAKPOINTS, Breakpoint, problem_of
from agentrt.inspect.drawn import drawing_messages
from agentrt.inspect.protocol import Command, WatchQuery, agent_message, hello
from agentrt.inspect.sessions import Message, Session, Source
from agentrt.shards.joined import JoinedList, Part, joined_drawing, joined_records, joined_times, label_of
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.shards.shard import ShardedWorld

_LOOK_SECONDS: Final = 0.1
_SHARE: Final = 4  # of the time of who runs the windows, looking gets one of so many parts
_AT_FULL_SPEED: Final = 1000.0  # what clients are told of a run that waits for nothing

_FAILED: Final = "the inspector failed to show the shards"
_READ_ONLY: Final = "this inspector only shows: it was made without controls"
_NO_HANDS: Final = (
    "Shards take nothing by hand: what a barrier brings is written down as one input, by which a lost shard comes "
    "back, and a change by hand is none of it. Replay one shard, and change that: agentrt inspect shard-0.sqlite."
)
_NO_CROWD: Final = "All agents at once are counted within one shard: agentrt inspect shard-0.sqlite."
_NO_PINS: Final = "Values over time are kept within one shard: agentrt inspect shard-0.sqlite."
_NO_PAST: Final = "shards keep no past: record them (folder=...), and look at one: agentrt inspect shard-0.sqlite"
_NO_EDITS: Final = "Files are edited while one runtime runs: agentrt dev --controls, in the folder of its project."


class Watcher(Protocol):
    """Who looks at the shards of a world from where they are led; it changes nothing of the run."""

    def look(self) -> None:
        """A window is over, and all stand at the barrier."""
        ...

    def is_ready(self) -> bool:
        """Whether the next window may be opened; asked again and again, and all stand meanwhile."""
        ...

    def opens(self) -> None:
        """It is opened now."""
        ...

    def lost(self, shards: Sequence[int]) -> None:
        """Some shards were lost, and come back by their journals; all others wait for them."""
        ...


class Led(Protocol):
    """The shards of a world, as far as who looks at them knows them: what they are is a floor above, in ``barrier``."""

    world: ShardedWorld
    shards: int

    @property
    def tick(self) -> int: ...

    @property
    def agents(self) -> int: ...

    @property
    def moving(self) -> int: ...

    def where(self, name: str) -> int | None: ...

    def watch(self, watcher: Watcher) -> Callable[[], None]: ...

    def see(self, looks: Mapping[int, str]) -> dict[int, str]: ...


class _Looker:
    """What is known of one client."""

    def __init__(self, name: str, shards: int) -> None:
        self.name: str = name
        self.agents: JoinedList = JoinedList(shards)


class Overview(Source):
    """All shards of a world, for clients, who may pause, step and set breakpoints if it has ``controls``."""

    def __init__(
        self,
        shards: Led,
        title: str,
        *,
        controls: bool,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(clock)
        self._shards = shards
        self._title = title
        self._controls = controls
        self._leave: Callable[[], object] = bool  # does nothing
        self._lookers: dict[Session, _Looker] = {}
        self._count = 0  # of clients so far
        self._is_watched = False  # whether the shards listen for somebody
        self._points: dict[int, Breakpoint] = {}
        self._reason = ""  # why it is paused; empty if it is not
        self._steps = 0  # windows that run all the same
        self._speed = _AT_FULL_SPEED
        self._rate = 0.0  # ticks a second; 0 until a shard was asked
        self._opened = clock()  # when the last window was
        self._due = 0.0
        self._states: dict[int, Message] = {}
        self._parts: dict[int, Part] = {}
        self._last_state: Message = {}

    # --- where the windows are run ------------------------------------------------------------------------------------

    def attach(self) -> None:
        self._leave = self._shards.watch(self)
        self._see(self._clock())

    def detach(self) -> None:
        self._leave()
        self._open.clear()
        self._points.clear()
        self._reason = ""
        with contextlib.suppress(ShardError):  # the run has failed, and whoever ran it was told
            self._guarded(lambda: self._see(self._clock()))  # nobody looks: they listen to nothing any more

    def pause(self, reason: str = "paused by the inspector") -> None:
        self._reason, self._steps = self._reason or reason, 0

    def look(self) -> None:
        """See ``Watcher``."""
        self._guarded(lambda: self._serve(is_new=True))

    def is_ready(self) -> bool:
        """See ``Watcher``."""
        self._guarded(self._serve)  # what was asked for meanwhile
        return not self._must_wait()

    def opens(self) -> None:
        """See ``Watcher``."""
        self._steps = max(0, self._steps - 1)
        self._opened = self._clock()

    def _must_wait(self) -> bool:
        """Whether it is paused, or too early at the speed that was chosen."""
        if self._reason:
            return not self._steps
        seconds = self._shards.world.window / self._rate / self._speed if self._rate else 0.0
        return self._speed < _AT_FULL_SPEED and self._clock() < self._opened + seconds

    def lost(self, shards: Sequence[int]) -> None:
        """See ``Watcher``."""
        names = " and ".join(label_of(shard) for shard in shards)
        reason = f"{names}: lost, and coming back by {'its journal' if len(shards) == 1 else 'their journals'}"
        self._due = 0.0
        self._lookers.clear()  # the shards are to tell everything anew
        for session in tuple(self._open):
            session.forget()
            session.post([{**self._last_state, "paused": True, "reason": reason}], self._clock())

    def _guarded(self, do: Callable[[], None]) -> None:
        """Whoever looks must not stop the game; a shard that cannot go on is told where it is run."""
        try:
            do()
        except (*ENDS_PROGRAM, ShardError):
            raise
        except BaseException as error:
            self._failed(_FAILED, error, tick=self._shards.tick)
            for session in tuple(self._open):
                session.refuse(f"it could not be shown: {words_of(error)}", "failed")

    def _serve(self, *, is_new: bool = False) -> None:
        """Do what clients ask for, and show them what is new."""
        for session in tuple(self._open):
            while session.commands and session in self._open:
                self._obey(session, session.commands.popleft())
                session.hurry()
                self._due = 0.0
        now = self._clock()
        has_points = is_new and any(point.enabled for point in self._points.values())
        is_asked = bool(self._open) and now >= self._due
        if is_asked or has_points or (self._is_watched and not self._open and not self._points):
            self._see(now)
            self._due = max(now + _LOOK_SECONDS, now + _SHARE * (self._clock() - now))

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obey(self, session: Session, command: Command) -> None:
        do, fields = command
        if do == "watch":
            session.look_at(fields["watch"])
        elif do == "at" or (do == "step" and fields["ticks"] < 1):
            session.refuse(_NO_PAST, "no_past")
        elif do in ("branch", "unbranch"):
            session.refuse("branches are run of recordings: record the shards, and look at one", "not_a_recording")
        elif do != "live" and not self._controls:
            session.refuse(_READ_ONLY, "read_only")
        elif do in ("break", "arm", "unbreak"):
            self._set(session, do, fields)
        elif do == "hand":
            session.notify({"is": "hand", "id": fields["id"], "ok": False, "message": _NO_HANDS, "field": ""})
        elif do == "thought":
            session.refuse("what minds think is read within one shard", "not_here")
        else:
            self._control(do, fields)

    def _control(self, do: str, fields: Mapping[str, Any]) -> None:
        if do == "pause":
            self.pause()
        elif do in ("resume", "play"):
            self._reason, self._steps = "", 0
        elif do == "step":
            if not self._reason:
                self.pause("stepping")
            self._steps += fields["ticks"]
        elif do == "speed":
            self._speed = fields["speed"]

    def _set(self, session: Session, do: str, fields: Mapping[str, Any]) -> None:
        if do != "break":
            point = self._points.get(fields["id"])
            if point is None:
                session.refuse(f"there is no breakpoint {fields['id']}", "unknown_breakpoint")
            elif do == "arm":
                point.enabled = fields["on"]
            else:
                del self._points[point.id]
            return
        kind, name = fields["kind"], fields["name"].strip()
        agent = "" if kind in ("agent", "late") else fields["agent"]
        if any((one.kind, one.name, one.agent) == (kind, name, agent) for one in self._points.values()):
            return
        if problem := problem_of(kind, name):
            session.refuse(problem, "bad_breakpoint")
        elif len(self._points) >= MOST_BREAKPOINTS:
            session.refuse("there are too many breakpoints; remove one", "too_many")
        else:
            number = max(self._points, default=0) + 1
            self._points[number] = Breakpoint(number, kind, name, agent)

    # --- asking the shards --------------------------------------------------------------------------------------------

    def _see(self, now: float) -> None:
        """Ask all shards what there is to see, and tell the clients whose turn it is."""
        sessions = tuple(self._open)
        for session in [one for one in self._lookers if one not in self._open]:
            del self._lookers[session]
        for session in sessions:
            if session not in self._lookers:
                self._count += 1
                self._lookers[session] = _Looker(str(self._count), self._shards.shards)
        due = [session for session in sessions if session.is_due(now)]
        draws = any(session.watch.drawing for session in due)
        sights = self._ask(sessions, due, draws=draws)
        self._is_watched = bool(sessions or self._points)
        self._absorb(sights, draws=draws)
        drawn = self._drawing(draws=draws)
        for session in due:
            name = self._lookers[session].name
            told = [(shard, one) for shard, sight in sights.items() for one in sight["clients"].get(name, ())]
            session.post(self._compose(session, told, drawn), now)

    def _ask(self, sessions: Sequence[Session], due: Sequence[Session], *, draws: bool) -> dict[int, Message]:
        """Ask all shards, in one request each; who reads slowly is named, and nothing is asked for him."""
        points = [[one.kind, one.name, one.agent, one.enabled] for one in self._points.values()]
        clients: list[dict[str, Message | None]] = [{} for _ in range(self._shards.shards)]
        for session in sessions:
            looker = self._lookers[session]
            watches: Sequence[Message | None] = [None] * len(clients)
            if session in due:
                watches = self._watches(session.watch, looker)
            for asked, watch in zip(clients, watches, strict=True):
                asked[looker.name] = watch
        looks = {
            shard: json.dumps({"clients": asked, "draws": draws, "breakpoints": points})
            for shard, asked in enumerate(clients)
        }
        told = self._shards.see(looks)
        return {shard: json.loads(told[shard]) for shard in sorted(told)}

    def _watches(self, watch: WatchQuery, looker: _Looker) -> list[Message]:
        """What each shard is asked for a client."""
        home = None if watch.agent is None else self._shards.where(watch.agent)
        line = watch.timeline and self._shards.where(watch.timeline.agent)
        log = watch.events
        of_log = None if log is None or log.agent is None else self._shards.where(log.agent)
        lists = None if watch.agents is None else looker.agents.asked(watch.agents)
        found: list[Message] = []
        for shard in range(self._shards.shards):
            asked: Message = {"agents": None if lists is None else lists[shard]}
            if home == shard:
                asked["agent"] = watch.agent
            if watch.timeline is not None and line == shard:
                asked["timeline"] = watch.timeline._asdict()
            if log is not None and (log.agent is None or of_log == shard):
                asked["events"] = {**log._asdict(), "events": None if log.events is None else sorted(log.events)}
            found.append(asked)
        return found

    def _absorb(self, sights: Mapping[int, Message], *, draws: bool) -> None:
        """Take what is of the whole world; a breakpoint that was hit holds it."""
        for shard, sight in sights.items():
            if sight["problem"]:
                raise InspectorError(f"{label_of(shard)} could not be shown: {sight['problem']}", "The run goes on.")
            self._states[shard] = sight["state"]
            self._rate = sight["rate"]
            if draws:
                self._parts.pop(shard, None)
                if sight["drawing"] is not None:
                    self._parts[shard] = (*sight["corner"], sight["drawing"])
        hits = [(*sight["hit"], shard) for shard, sight in sights.items() if sight["hit"]]
        if hits:
            tick, reason, shard = min(hits)
            self._reason, self._steps = f"{reason}, in {label_of(shard)} at tick {tick}", 0
        self._count_hits()
        self._last_state = self._state()

    def _count_hits(self) -> None:
        """Bring the breakpoints up to what the shards told of theirs."""
        rows = [(row, shard) for shard, state in self._states.items() for row in state["breakpoints"]]
        for point in self._points.values():
            key = (point.kind, point.name, point.agent)
            mine = [(row, shard) for row, shard in rows if (row["kind"], row["name"], row["agent"]) == key]
            point.hits = sum(row["hits"] for row, _ in mine)
            point.error = next((row["error"] for row, _ in mine if row["error"]), "")
            hit = [(int(row["last"].split()[1]), shard, row) for row, shard in mine if row["last"]]
            if hit:
                _, shard, row = max(hit, key=lambda one: one[:2])
                point.last, point.was = f"{row['last']}, {label_of(shard)}", [(key, value) for key, value in row["was"]]
                point.place = tuple(row["place"])

    def _state(self) -> Message:
        states = [self._states[shard] for shard in sorted(self._states)]
        tick = self._shards.tick
        return {
            "is": "state",
            "tick": tick,
            "seconds": states[0]["seconds"] if states else 0.0,
            "paused": bool(self._reason),
            "reason": self._reason,
            "speed": self._speed,
            "late_ticks": sum(state["late_ticks"] for state in states),
            "strands": sum(state["strands"] for state in states),
            "agents": self._shards.agents,
            "drawn": any(state["drawn"] for state in states),
            "mind": False,
            "past": None,
            "waiting": [],
            **joined_times(states),
            "breakpoints": [asdict(point) for point in self._points.values()],
            "dropped": 0,
            "moving": self._shards.moving,
            "search": {"budget": None, "used": sum(state["search"]["used"] for state in states), "waiting": 0},
        }

    # --- telling the clients ------------------------------------------------------------------------------------------

    def _drawing(self, *, draws: bool) -> tuple[Drawing | None, str]:
        """What the world looks like; or why it cannot be drawn."""
        try:
            return (joined_drawing(self._parts) if draws else None), ""
        except DataFault as fault:
            return None, f"the drawings of the shards do not make one: {fault}"

    def _compose(
        self, session: Session, told: list[tuple[int, Message]], drawn: tuple[Drawing | None, str]
    ) -> list[Message]:
        """What a client is told, of what the shards have for it."""
        watch, tick = session.watch, self._shards.tick
        state = {**self._last_state, "dropped": session.held_back}
        messages = [state] if session.is_news("state", state) else []
        looker = self._lookers[session]
        for shard, message in told:
            if message["is"] == "agents":
                looker.agents.take(shard, message)
            elif message["is"] == "agent":
                messages.append(self._with_home(message, shard))
            elif message["is"] != "events":
                messages.append(message)
        if watch.agents is not None:
            listed = looker.agents.message(watch.agents)
            if listed is not None and session.is_news("agents", listed):
                messages.append(listed)
        if watch.agent is not None:
            home = self._shards.where(watch.agent)
            if session.is_news("agent", (watch.agent, home)) and home is None:
                messages.append(agent_message(watch.agent, tick, None, "", {}))
        if watch.events is not None:
            of = None if watch.events.agent is None else self._shards.where(watch.events.agent)
            is_new = session.is_news("log", (watch.events, of))
            records, missed = joined_records([message for _, message in told if message["is"] == "events"])
            if is_new or records or missed:
                messages.append({"is": "events", "reset": is_new, "records": records, "missed": missed})
        if watch.drawing:
            messages += drawing_messages(session, tick, *drawn)
        return messages

    def _with_home(self, message: Message, shard: int) -> Message:
        """An agent, and where it is; one that moves is nowhere until the next window opens."""
        where = f"on its way to {label_of(shard)}" if message["snapshot"] is None else label_of(shard)
        return {**message, "where": where}

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        tick = self._shards.tick  # made of two numbers: it can be read from any thread
        first = hello(
            "live", self._title, self._rate, controls=self._controls, tick=tick, reach=(0, tick), editing=_NO_EDITS
        )
        withheld = {"control": _NO_HANDS, "crowd": _NO_CROWD, "pins": _NO_PINS}
        return [{**first, "shards": self._shards.shards, "withheld": withheld}, self._last_state]

    def save(self, ticks: int | None) -> tuple[str, bytes]:
        raise InspectorError(_NO_PAST, "Shards(..., folder=...) writes all of it down.")

    def edit(self, body: bytes) -> tuple[int, Message]:
        return 409, {"is": "refusal", "code": "not_live", "message": _NO_EDITS}
