"""A source that lives: the hub between a runtime and the clients that look at it.

Two threads meet here, and one rule keeps them apart: **everything that touches the runtime happens on its own thread**,
at the end of a tick (``after_tick``) or while it stands before its closed gate (``gate.attend``). The server's thread
only puts commands into the queue of a session, and is handed messages. So nobody takes a lock, a tick never waits for a
client, and what is composed is what stood there between two ticks.

* While nobody looks and no breakpoint is set, nothing listens to the trace, and a tick costs one look at a dict.
* Who looks from then on is told what happens from then on: the history begins anew.
* It composes at most ten times a second of real time for each client, and only what that one watches. However much
  that is, it takes a tenth of the time of the runtime's thread at most; beyond it clients are told less often.
* Clients may pause, step, and set breakpoints only if the inspector was made with ``controls``.
* What fails in here is logged, told to the client, and never reaches the runtime.
* When it is detached it takes back what it did to the gate: a pause of its own, its speed, and its breakpoints. Else
  a program whose inspector ended would stand still for ever.

A runtime that nobody drives gives no occasion to compose: clients see what stood there when the inspector began.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM
from agentrt.inspect.breakpoints import Breakpoints
from agentrt.inspect.composing import Round, compose
from agentrt.inspect.history import History
from agentrt.inspect.protocol import PROTOCOL, Command
from agentrt.inspect.sessions import Message, Session
from agentrt.inspect.timelines import Timelines
from agentrt.inspect.timing import TickTimes
from agentrt.installed import library_version
from agentrt.kernel.trace import TraceRecord
from agentrt.logs import get_logger
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.runtime import Runtime

__all__ = ["LiveSource"]

_SHARE = 10  # of the time of the game's thread, composing gets one of so many parts

_NO_WAY_BACK = "there is no way back in a run that lives; make a recording"
_READ_ONLY = "this inspector only shows: it was made without controls"


class LiveSource:
    """A runtime, for clients.

    Args:
        runtime: what is shown.
        title: what it is called.
        controls: whether clients may pause, step and set breakpoints.
        clock: gives real seconds, from any start.
    """

    def __init__(
        self, runtime: Runtime, title: str, *, controls: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._runtime = runtime
        self._title = title
        self._controls = controls
        self._clock = clock
        self._open: dict[Session, None] = {}  # changed by the server's thread, one step at a time
        self._history = History()
        self._times = TickTimes(clock)
        self._timelines = Timelines(self._history)
        self._breakpoints = Breakpoints()
        self._hooks: list[Callable[[], None]] = []  # what ends being called each tick
        self._ears: list[Callable[[], None]] = []  # what ends listening
        self._pause = ""  # the reason of a pause that is ours
        self._speed: float | None = None  # as it was before a client changed it
        self._rest_until = 0.0
        self._has_failed = False
        self._last_state = self._state()

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Begin to be called by the runtime."""
        if not self._hooks:
            self._hooks = [
                self._runtime.after_tick(self._published),
                self._runtime.gate.attend(self._serve),
            ]

    def detach(self) -> None:
        """Leave the runtime as if nobody had looked at it."""
        for close in self._hooks:
            close()
        self._hooks.clear()
        self._open.clear()
        self._breakpoints.clear()
        self._listen_if_needed()
        gate = self._runtime.gate
        if self._speed is not None:
            gate.speed = self._speed
        if self._pause and gate.is_closed and gate.reason == self._pause:
            gate.resume()

    def pause(self, reason: str = "paused by the inspector") -> None:
        """Pause the runtime.

        Args:
            reason: why, in words.
        """
        gate = self._runtime.gate
        if gate.is_closed and gate.reason != self._pause:
            reason = gate.reason  # the pause is somebody else's, and stays so; only what was left of steps is forgotten
        else:
            self._pause = reason
        gate.pause(reason)

    def _published(self) -> None:
        """A tick was published."""
        if self._ears:
            self._times.end(self._runtime.tick)
            self._history.trim()
            reason = self._breakpoints.take()
            if reason:
                self.pause(reason)
                for session in tuple(self._open):
                    session.hurry()
        if self._open or self._ears:
            self._serve()

    def _serve(self) -> None:
        """Do what clients asked for, and tell them what is new."""
        try:
            self._listen_if_needed()
            sessions = tuple(self._open)
            for session in sessions:
                while session.commands:
                    self._obey(session, session.commands.popleft())
                    session.hurry()
            now = self._clock()
            if now >= self._rest_until:
                due = [session for session in sessions if session.is_due(now)]
                if due:
                    self._compose(sessions, due, now)
                    self._rest_until = now + _SHARE * (self._clock() - now)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whoever looks must not stop the game
            self._failed(error)

    def _compose(self, sessions: tuple[Session, ...], due: list[Session], now: float) -> None:
        watched = (session.watch.timeline for session in sessions)
        round_ = Round(self._runtime, self._history, self._timelines, now)
        lines = [query.agent for query in watched if query is not None]
        self._timelines.keep(lines, lambda name: round_.see(name).snapshot)
        state = self._last_state = self._state()
        for session in due:
            try:
                messages = compose(round_, session)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(error)
                session.forget()
                messages = [{"is": "error", "message": f"it could not be shown: {words_of(error)}", "code": "failed"}]
            mine = {**state, "dropped": session.held_back + session.missed}
            if session.told.get("state") != mine:
                session.told["state"] = mine
                messages.insert(0, mine)
            session.post(messages, now)

    def _failed(self, error: BaseException) -> None:
        if not self._has_failed:
            self._has_failed = True
            get_logger(tick=self._runtime.tick).error("the inspector failed to show something", exc_info=error)

    def _state(self) -> Message:
        runtime, gate = self._runtime, self._runtime.gate
        budget = runtime.search.budget
        return {
            "is": "state",
            "tick": runtime.tick,
            "seconds": runtime.clock.now,
            "paused": gate.is_closed,
            "reason": gate.reason,
            "speed": gate.speed,
            "late_ticks": runtime.late_ticks,
            "strands": runtime.kernel.live,
            "agents": len(runtime.agents),
            **self._times.as_json(),
            "breakpoints": self._breakpoints.as_json(),
            "dropped": 0,
            "search": {
                "budget": None if budget is None else budget.units,
                "used": runtime.search.used,
                "waiting": 0 if budget is None else budget.waiting,
            },
        }

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen_if_needed(self) -> None:
        is_needed = bool(self._open or len(self._breakpoints))
        if is_needed and not self._ears:
            self._ears = [
                self._runtime.trace.listen(self._heard),
                self._runtime.every_tick(self._times.begin),
            ]
        elif not is_needed and self._ears:
            for close in self._ears:
                close()
            self._ears.clear()
            self._history.clear()
            self._timelines.clear()
            self._times = TickTimes(self._clock)

    def _heard(self, record: TraceRecord) -> None:
        self._times.heard(record, is_in_tick=self._runtime.kernel.in_tick)
        self._history.heard(record)
        if len(self._breakpoints):
            self._breakpoints.heard(record)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obey(self, session: Session, command: Command) -> None:
        do, fields = command
        if do == "watch":
            session.look_at(fields["watch"])
            return
        if do == "at":
            session.refuse(_NO_WAY_BACK, "not_a_recording")
            return
        if not self._controls:
            session.refuse(_READ_ONLY, "read_only")
            return
        gate = self._runtime.gate
        if do == "pause":
            if not gate.is_closed:
                self.pause()
        elif do in ("resume", "play"):
            gate.resume()
        elif do == "step" and fields["ticks"] < 1:
            session.refuse(_NO_WAY_BACK, "not_a_recording")
        elif do == "step":
            if not gate.is_closed:
                self.pause()
            gate.step(fields["ticks"])
        elif do == "speed":
            if self._speed is None:
                self._speed = gate.speed
            gate.speed = fields["speed"]
        else:
            self._change_breakpoints(session, do, fields)

    def _change_breakpoints(self, session: Session, do: str, fields: dict[str, Any]) -> None:
        if do == "break":
            if self._breakpoints.add(fields["kind"], fields["name"], fields["agent"]) is None:
                session.refuse("there are too many breakpoints; remove one", "too_many")
        elif not self._breakpoints.remove(fields["id"]):
            session.refuse(f"there is no breakpoint {fields['id']}", "unknown_breakpoint")

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        """What every client is told first: a hello, and the state, as far as it is known."""
        tick = self._runtime.tick  # a number: it can be read from any thread
        hello: Message = {
            "is": "hello",
            "protocol": PROTOCOL,
            "agentrt": library_version(),
            "source": "live",
            "title": self._title,
            "controls": self._controls,
            "ticks_per_second": self._runtime.clock.ticks_per_second,
            "tick": tick,
            "first_tick": 0,
            "last_tick": tick,
            "unreplayable": [],
        }
        return [hello, self._last_state]

    def open(self, session: Session) -> None:
        """A client has come.

        Args:
            session: its session.
        """
        self._open[session] = None

    def close(self, session: Session) -> None:
        """A client has gone.

        Args:
            session: its session.
        """
        self._open.pop(session, None)
