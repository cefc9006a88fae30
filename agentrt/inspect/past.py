"""The past of a live run, for clients: who goes back sees its last ticks while the world runs on.

The ring of ``agentrt.record.ring`` keeps the ticks, on the runtime's thread. Who goes back is served here, on a thread
of its own, as if the ring were a recording: it is written into a file of the system's folder for such things when the
first client goes back, goes on to be written while any is there, and is read as any recording is (``recorded``).

* **A session belongs to one thread at a time.** The runtime's thread hands it over when its client goes back
  (``enter``), and takes it again when it is put into ``leave``. What a client in the past asks of the runtime is
  refused: it goes back to now first. Breakpoints are the exception, since they are set on what one sees: they are
  passed on.
* The ring moves on under who stands in it. Whoever asks for a tick that is not kept any more, or stands at one when it
  is dropped, is told so, and is at the oldest one from then on.
* The ring is on while somebody looks or a breakpoint is set, and a while longer, so that a page that is loaded anew
  finds its past; always if the author asked for it.
* Saving writes a file of its own, one at a time, on whatever thread asks; it is handed out and taken away again.

What was composed for a breakpoint that is hit, the last things that its agent did, is made on the runtime's thread,
out of the ring's memory.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agentrt.errors import ENDS_PROGRAM, InspectorError, RecordingError
from agentrt.inspect.protocol import Command
from agentrt.inspect.recorded import RecordedScene, RecordedSource
from agentrt.inspect.sessions import Message, Session
from agentrt.inspect.thoughts import unread
from agentrt.kernel.trace import Kept, TraceEvent
from agentrt.record.recording import Recording
from agentrt.record.ring import RING_BYTES, RING_TICKS, RingFile, RingRecorder, save_ring
from agentrt.runtime.runtime import Runtime
from agentrt.words import words_of

_LINGER_SECONDS = 10.0  # real ones, for which a ring goes on when nobody looks any more
_JUST_NOW_SECONDS = 5  # of game time
JUST_NOW_ROWS = 80
NOT_DONE = frozenset(  # kinds of records that tell of thinking, and not of what was chosen and done
    event.value
    for event in (TraceEvent.THINK, TraceEvent.READY, TraceEvent.UNREADY, TraceEvent.STOP_THINKING, TraceEvent.UTILITY)
)
_CATCH_UP_SECONDS = 0.1
_ROUND_SECONDS = 0.025
_STOP_SECONDS = 5.0

_OLDEST = 0  # where one is who wants to be at the oldest tick, whichever that is

_NO_PAST = "this inspector keeps no past: it was made with past=0"
_NOTHING_YET = "there is no past yet: it begins with the next tick"


def no_past() -> InspectorError:
    return InspectorError(_NO_PAST, "Leave that away, or say how many ticks: Inspector(runtime, past=2000).")


class Saved(NamedTuple):
    """A recording of the last ticks, to be handed out."""

    name: str  # for a file
    data: bytes


class Past(RecordedSource):
    """The past of one runtime.

    Args:
        runtime: whose.
        title: what files that are saved call it.
        ticks: how many are kept; 0 for none; None for the usual number, while somebody looks.
        clock: gives real seconds, from any start.
    """

    def __init__(
        self, runtime: Runtime, title: str, ticks: int | None, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__("", title, clock=clock)
        self.leave: deque[Session] = deque()  # whose clients want to see now again; the runtime's thread takes them
        self.wishes: deque[tuple[Session, Command]] = deque()  # for the runtime's thread
        self.live: Message = {}  # the last state of the runtime, which that thread puts here
        self._runtime = runtime
        self._most = RING_TICKS if ticks is None else ticks
        self._is_always_on = bool(ticks)
        self._ring: RingRecorder | None = None
        self._is_attached = False
        self._idle_since: float | None = None
        self._is_saving = threading.Lock()
        self._due = 0.0
        self._at_end: list[Session] = []  # who has come to the end by playing
        self._file: RingFile | None = None
        self._recording: Recording | None = None
        self._scene: RecordedScene | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0  # of files, so that each has a name of its own

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    @property
    def ring(self) -> RingRecorder | None:
        """What is kept; None while nothing is."""
        return self._ring

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Who is in the past."""
        return tuple(self._open)

    def keep_if_needed(self, *, is_looked_at: bool) -> None:
        """Begin or end to keep what happens."""
        if not self._is_attached:
            return
        if is_looked_at or self._is_always_on:
            self._idle_since = None
            if self._ring is None and self._most:
                self._ring = RingRecorder(self._runtime, self._most, RING_BYTES, clock=self._clock, hears=False)
        elif self._ring is not None:
            now = self._clock()
            if self._idle_since is None:
                self._idle_since = now
            elif now - self._idle_since >= _LINGER_SECONDS:
                self._forget()

    def hear(self, records: list[Kept], data: bytes) -> None:
        """What was heard of the trace since the last time, and the same packed."""
        if self._ring is not None:
            self._ring.hear(records, data)

    def end_tick(self, watched: frozenset[str]) -> None:
        """A tick is over; the views of those who are watched come first."""
        if self._ring is not None:
            self._ring.watched = watched
            self._ring.end_tick()

    def reach(self) -> Message | None:
        """What of the past can be gone to; None if there is none."""
        ring = self._ring
        if ring is None or ring.last_tick < ring.first_tick:
            return None
        return {"first": ring.first_tick, "last": ring.last_tick, "ticks": ring.keep_ticks, "bytes": ring.max_bytes}

    def enter(self, session: Session, command: Command) -> bool:
        """A client goes back; whether it may. From then on its session is not the runtime's thread's any more."""
        if not self._most:
            session.refuse(_NO_PAST, "not_a_recording")
        elif self.reach() is None:
            session.refuse(_NOTHING_YET, "not_a_recording")
        else:
            session.forget()
            session.commands.appendleft(command)
            session.at = 0
            self.open(session)
            if not session.is_open:  # it has gone meanwhile, and nobody would take it out
                self.close(session)
            self._start()
            return True
        return False

    def just_now(self, agent: str, path: str, reason: str, tick: int) -> Message | None:
        """What an agent did before a breakpoint was hit in it; None if nothing is kept."""
        ring = self._ring
        if ring is None:
            return None
        first = max(ring.first_tick, tick - round(_JUST_NOW_SECONDS * self._runtime.clock.ticks_per_second))
        return told_just_now(agent, path, reason, tick, first, ring.lately(agent, first, JUST_NOW_ROWS, NOT_DONE))

    # --- beginning and end --------------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Begin to keep, if the author asked for it."""
        self._is_attached = True
        self.keep_if_needed(is_looked_at=False)

    def detach(self) -> None:
        """Forget all of it, and keep nothing more."""
        self._is_attached = False
        self._forget()

    def _forget(self) -> None:
        self._is_stopping = True
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(_STOP_SECONDS)
        if self._ring is not None:
            self._ring.close()
            self._ring = None
        self._idle_since = None
        self.leave.extend(self._open)
        self._open.clear()

    def _start(self) -> None:
        if self._thread is None:
            self._is_stopping = False
            self._thread = threading.Thread(target=self._run, name="agentrt inspector: past", daemon=True)
            self._thread.start()

    # --- on the thread of the past ------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._is_stopping:
                self._wake.wait(_ROUND_SECONDS if self._open else None)
                self._wake.clear()
                if self._open and not self._is_stopping:
                    self.serve_past()
        finally:
            self._close_file()

    def serve_past(self) -> None:
        """Tell those who are in the past what they look at."""
        try:
            self._catch_up()
            if self._recording is not None and self._scene is not None:
                self._serve(self._recording, self._scene)
            while self._at_end:  # when they were told where that is
                self._give_back(self._at_end.pop())
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whatever it is: nobody stays in a past that cannot be shown
            self._report(error)
            for session in self.sessions:
                session.commands.clear()  # else what led here would lead here again
                session.refuse(f"the past cannot be shown: {words_of(error)}", "failed")
                self._give_back(session)
            self._close_file()

    def _catch_up(self) -> None:
        """Write and open what is kept."""
        now = self._clock()
        if now < self._due and self._recording is not None:
            return
        self._due = now + _CATCH_UP_SECONDS
        ring = self._ring
        if ring is None:
            raise RecordingError(self._title, "nothing is kept any longer")
        if self._file is not None and not self._file.catch_up():
            self._close_file()
        if self._file is None:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="agentrt-past-", ignore_cleanup_errors=True)
            self._count += 1
            self._file = RingFile(Path(self._folder.name) / f"past-{self._count}.sqlite", ring)
            self._recording = Recording.open(self._file.path)
            self._scene = RecordedScene(self._recording, clock=self._clock)
            for session in self.sessions:
                session.forget()

    def _close_file(self) -> None:
        recording, self._recording, self._scene = self._recording, None, None
        file, self._file = self._file, None
        if recording is not None:
            recording.close()
        if file is not None:
            file.discard()
        if self._is_stopping and self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _look(self, recording: Recording) -> bool:
        ring = self._ring
        first = recording.first_tick if ring is None else max(ring.first_tick, recording.first_tick)
        last = recording.last_tick
        self._known = min(first, last), last
        self._hello = {"ticks_per_second": self._runtime.clock.ticks_per_second}
        return False  # its clients are told by their state

    def _serve(self, recording: Recording, scene: RecordedScene) -> None:
        self._look(recording)
        super()._serve(recording, scene)

    def _compose(self, scene: RecordedScene, session: Session, now: float) -> list[Message]:
        if session not in self._open:  # it was given back just now
            return []
        position, first = session.position, self._known[0]
        was_playing = position.is_playing
        if not was_playing and 0 < position.tick < first:
            session.notify(_gone(position.tick, first))
            position.go(_OLDEST)
        messages = super()._compose(scene, session, now)
        if was_playing and not position.is_playing:  # it has been played up to now
            self._at_end.append(session)
        return messages

    def _state(self, session: Session, tick: int, agents: int, *, is_drawn: bool) -> Message:
        state = super()._state(session, tick, agents, is_drawn=is_drawn)
        live, reach = self.live, self.reach() or {}
        state["past"] = {**reach, "first": self._known[0], "last": self._known[1]}
        state["live"] = {name: live.get(name) for name in ("tick", "paused", "reason")}
        state["breakpoints"] = live.get("breakpoints", [])
        return state

    def _obey(self, session: Session, command: Command, now: float) -> None:
        do, fields = command
        if session not in self._open:
            self.wishes.append((session, command))  # it has gone, and meant what it will be
        elif do == "live":
            self._give_back(session)
        elif do == "at":
            tick, first = fields["tick"], self._known[0]
            if 0 < tick < first:
                session.notify(_gone(tick, first))
                tick = _OLDEST
            session.at = self._within(tick)
            session.position.go(tick)
        elif do in ("break", "unbreak"):
            self.wishes.append((session, command))
        else:
            super()._obey(session, command, now)

    def _thought(self, scene: RecordedScene, session: Session, number: int) -> Message:
        return unread(number, "The past of a run holds no prompts and no answers: look at it now, or record the run.")

    def _give_back(self, session: Session) -> None:
        self._open.pop(session, None)
        session.position.go(0)
        session.forget()
        session.hurry()
        self.leave.append(session)

    # --- saving, on any thread ----------------------------------------------------------------------------------------

    def save(self, ticks: int | None) -> Saved:
        """Make a recording of the last so many ticks; None for all that are kept.

        Raises:
            InspectorError: there is no past, or another one is being saved.
            RecordingError: the file cannot be written.
        """
        with self._written(ticks) as (path, kept):
            return Saved(f"{_file_name(self._title)}-{kept.start}-{kept.stop - 1}.sqlite", path.read_bytes())

    def recorded(self) -> contextlib.AbstractContextManager[tuple[str, str]] | None:
        return self._lent() if self._most else None

    @contextlib.contextmanager
    def _lent(self) -> Iterator[tuple[str, str]]:
        with self._written(None) as (path, _):
            yield str(path), self._title

    @contextlib.contextmanager
    def _written(self, ticks: int | None) -> Iterator[tuple[Path, range]]:
        """A recording of the last so many ticks, for as long as it is looked at, and which ticks it has."""
        ring = self._ring
        if not self._most:
            raise no_past()
        if ring is None or ring.last_tick < ring.first_tick:
            raise InspectorError(_NOTHING_YET, "Let it run, and look at it meanwhile.")
        if not self._is_saving.acquire(blocking=False):
            raise InspectorError("another recording is being saved", "Try again when that is done.")
        try:
            with tempfile.TemporaryDirectory(prefix="agentrt-past-", ignore_cleanup_errors=True) as folder:
                path = Path(folder) / "saved.sqlite"
                yield path, save_ring(ring, path, ticks or ring.keep_ticks, {"title": self._title})
        except OSError as error:
            raise RecordingError(self._title, f"it cannot be written: {error}") from None
        finally:
            self._is_saving.release()


def told_just_now(agent: str, path: str, reason: str, tick: int, first: int, records: list[Kept]) -> Message:
    """What an agent did from a tick on, as clients are told when a breakpoint was hit in it."""
    rows: list[list[Any]] = [[*one[:4], dict(one[4])] for one in records]
    return {
        "is": "just_now", "agent": agent, "path": path, "reason": reason, "tick": tick, "first": first, "records": rows,
    }  # fmt: skip


def _gone(tick: int, first: int) -> Message:
    text = f"tick {tick} is not kept any more: the past reaches back to tick {first}, which is shown instead"
    return {"is": "error", "message": text, "code": "gone"}


def _file_name(title: str) -> str:
    """A title as a part of a file's name: letters and digits of ASCII, and little of it."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in title[:60])
    return "-".join(part for part in plain.split("-") if part) or "run"
