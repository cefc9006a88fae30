"""A source that is a recording: every client looks at a tick of its own, and has it played at its own speed.

It lives on a thread of its own, which alone opens and reads the file, so that neither the server nor anybody's runtime
waits for a disk. Nothing runs here: an agent at a tick is the view that was recorded, its words are made of that view,
and moving about (``at``, ``step``, ``play``, ``pause``, ``speed``) is allowed to all who look. A recording that is
still being written grows under them: its last tick is asked for again and again.

What is read for one message is bounded, whatever lies in the file; see ``reading``. A file that turns out to be broken
in the middle is an error message to the client that looks there, and the rest can still be looked at.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from agentrt.errors import ENDS_PROGRAM, AgentRTError, InspectorError
from agentrt.inspect.protocol import PROTOCOL, Command
from agentrt.inspect.reading import Reader
from agentrt.inspect.sessions import Message, Session
from agentrt.installed import library_version
from agentrt.logs import get_logger
from agentrt.record.recording import Recording
from agentrt.words import repr_of, words_of

__all__ = ["RecordedSource"]

_ROUND_SECONDS = 0.025
_GROWS_SECONDS = 0.5  # how often it is asked whether the recording has grown
_STOP_SECONDS = 5.0

_NO_TIMES = {"last": 0.0, "mean": 0.0, "worst": 0.0}


class RecordedSource:
    """A recording, for clients.

    Args:
        path: of the file.
        title: what it is called; by default the name of the file.
        clock: gives real seconds, from any start.
    """

    def __init__(self, path: str, title: str, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._path = path
        self._title = title or Path(path).name
        self._clock = clock
        self._open: dict[Session, None] = {}  # changed by the server's thread, one step at a time
        self._hello: Message = {}
        self._wake = threading.Event()
        self._is_ready = threading.Event()
        self._is_stopping = False
        self._error: AgentRTError | None = None
        self._thread: threading.Thread | None = None
        self._asked = 0.0
        self._has_failed = False
        self._known = (0, 0)  # the first and the last tick, as clients know them

    # --- on the caller's thread ---------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Open the recording, on the thread that will read it.

        Raises:
            RecordingError: it cannot be read.
        """
        self._is_stopping, self._error = False, None
        self._is_ready.clear()
        self._thread = threading.Thread(target=self._run, name="agentrt inspector: recording", daemon=True)
        self._thread.start()
        try:
            error = self._opened()
        except BaseException:  # interrupted meanwhile
            self.detach()
            raise
        if error is not None:
            self.detach()
            raise error

    def _opened(self) -> AgentRTError | None:
        self._is_ready.wait()
        return self._error

    def detach(self) -> None:
        """Close the recording."""
        self._is_stopping = True
        self._open.clear()
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(_STOP_SECONDS)

    # --- on the thread that reads -------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            recording = Recording.open(self._path)
        except AgentRTError as error:
            self._error = error
            self._is_ready.set()
            return
        with recording:
            try:
                reader = Reader(recording)
                self._look(recording)
            except AgentRTError as error:
                self._error = error
                return
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._error = InspectorError(f"{self._path} cannot be shown: {repr_of(error)}", "Record it anew.")
                return
            finally:
                self._is_ready.set()
            while not self._is_stopping:
                self._wake.wait(_ROUND_SECONDS if self._open else None)
                self._wake.clear()
                self._serve(recording, reader)

    def _look(self, recording: Recording) -> bool:
        """See how far the recording reaches.

        Returns:
            Whether it has grown.
        """
        reach = recording.first_tick, recording.last_tick
        if reach == self._known and self._hello:
            return False
        self._known = reach
        self._hello = {
            "is": "hello",
            "protocol": PROTOCOL,
            "agentrt": library_version(),
            "source": "recording",
            "title": self._title,
            "controls": True,
            "ticks_per_second": recording.meta.get("ticks_per_second", 20),
            "tick": reach[0],
            "first_tick": reach[0],
            "last_tick": reach[1],
            "unreplayable": list(recording.unreplayable),
        }
        return True

    def _serve(self, recording: Recording, reader: Reader) -> None:
        now = self._clock()
        sessions = tuple(self._open)
        if now >= self._asked:
            self._asked = now + _GROWS_SECONDS
            try:
                if self._look(recording):
                    for session in sessions:
                        session.notify({**self._hello, "tick": session.at})
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(error)
        watched = (session.watch.timeline for session in sessions)
        reader.keep([query.agent for query in watched if query is not None])
        for session in sessions:
            while session.commands:
                self._obey(session, session.commands.popleft(), now)
                session.hurry()
            if session.is_due(now):
                session.post(self._compose(reader, session, now), now)

    def _compose(self, reader: Reader, session: Session, now: float) -> list[Message]:
        first, last = self._known
        position = session.position
        session.at = tick = position.now(now, first, last, float(self._hello["ticks_per_second"]))
        messages: list[Message] = []
        try:
            state = self._state(session, tick, reader.count(tick))
            if session.told.get("state") != state:
                session.told["state"] = state
                messages.append(state)
            messages += reader.compose(session, tick, last, now)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._failed(error)
            session.forget()
            words = words_of(error)
            said = words if isinstance(error, AgentRTError) else f"it could not be shown: {words}"
            messages.append({"is": "error", "message": said, "code": "failed"})
        return messages

    def _failed(self, error: BaseException) -> None:
        if not isinstance(error, AgentRTError) and not self._has_failed:
            self._has_failed = True
            get_logger().error("the inspector failed to show something of a recording", exc_info=error)

    def _state(self, session: Session, tick: int, agents: int) -> Message:
        return {
            "is": "state",
            "tick": tick,
            "seconds": round(tick / float(self._hello["ticks_per_second"]), 6),
            "paused": not session.position.is_playing,
            "reason": "",
            "speed": session.position.speed,
            "late_ticks": 0,
            "strands": 0,
            "agents": agents,
            "tick_ms": _NO_TIMES,
            "think_ms": _NO_TIMES,
            "history": {"tick": [], "tick_ms": [], "think_ms": []},
            "breakpoints": [],
            "dropped": session.held_back + session.missed,
            "search": {"budget": None, "used": 0, "waiting": 0},
        }

    def _obey(self, session: Session, command: Command, now: float) -> None:
        do, fields = command
        position = session.position
        if do == "watch":
            session.look_at(fields["watch"])
        elif do == "at":
            session.at = self._within(fields["tick"])
            position.go(fields["tick"])  # what lies beyond the end follows a recording that grows
        elif do == "step":
            session.at = self._within(session.at + fields["ticks"])  # now: several may come in one round
            position.go(session.at)
        elif do in ("play", "resume"):
            position.play(now, self._known[0] if session.at >= self._known[1] else session.at)
        elif do == "pause":
            position.go(session.at)
        elif do == "speed":
            position.change_speed(now, session.at, fields["speed"])
        else:
            session.refuse("nothing runs in a recording, so nothing can be stopped", "not_live")

    def _within(self, tick: int) -> int:
        first, last = self._known
        return max(first, min(tick, last))

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        """What every client is told first: a hello."""
        return [self._hello]

    def open(self, session: Session) -> None:
        """A client has come.

        Args:
            session: its session.
        """
        self._open[session] = None
        self._wake.set()

    def close(self, session: Session) -> None:
        """A client has gone.

        Args:
            session: its session.
        """
        self._open.pop(session, None)
