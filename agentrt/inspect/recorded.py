"""A source that is a recording: every client looks at a tick of its own, and has it played at its own speed.

It lives on a thread of its own, which alone opens and reads the file, so that neither the server nor anybody's runtime
waits for a disk. Nothing runs here: an agent at a tick is the view that was recorded, its words are made of that view,
and moving about (``at``, ``step``, ``play``, ``pause``, ``speed``) is allowed to all who look. A recording that is
still being written grows under them: its last tick is asked for again and again.

A file that turns out to be broken in the middle is an error message to the client that looks there, and the rest can
still be looked at. What is read for one message is bounded, whatever lies in the file:

* a list reads the views of one page only; one that needs all of them is read by and by, as ``crowd`` tells;
* a log reads the newest records up to the tick, in windows that grow until there are enough or too much was read;
  what is played goes on from there;
* a time line is folded from the first tick on, so much in each round, and kept while somebody looks at that agent. So a
  long recording's line appears little by little, and nobody else waits for it.

One module reads this one, the inspector's door: it is a room because of its thread, as ``live`` is because of another.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentrt.errors import ENDS_PROGRAM, AgentRTError, InspectorError, RecordingError
from agentrt.inspect.begun import began_before_first
from agentrt.inspect.branches import OF_A_PAST, Branches, inputs_message
from agentrt.inspect.crowd import RecordedCrowd
from agentrt.inspect.drawn import drawing_messages
from agentrt.inspect.handling import RecordedHands
from agentrt.inspect.naming import LineNames
from agentrt.inspect.pins import RecordedPins
from agentrt.inspect.protocol import (
    Command,
    EventsQuery,
    TimelineQuery,
    agent_message,
    events_message,
    fits,
    hello,
    kept,
    reloads_message,
    span_rows,
    timeline_message,
)
from agentrt.inspect.sessions import Message, Session, Source
from agentrt.inspect.thoughts import RecordedThoughts, unread
from agentrt.kernel.trace import Kept
from agentrt.record.recording import Recording
from agentrt.record.replay import recorded_models
from agentrt.record.spans import FOLDED, SpanBuilder
from agentrt.runtime.intake import Reloaded
from agentrt.words import repr_of, words_of

_ROWS = 300  # of a log
_WINDOWS = (20, 200, 2000)  # how many ticks back it is read for these
_FAR = 400  # ticks; what is played further than this in one go is read anew
_PATIENCE = 0.05  # real seconds after which a window grows no more
_LINE_TICKS = 200  # read for a time line in one go
_LINE_SECONDS = 0.03  # spent on it in one round
_KEPT_SPANS = 20_000
_FOLDED = sorted(FOLDED)


class RecordedScene:
    """What one recording holds at a tick, for all clients; its clock gives real seconds, from any start."""

    def __init__(
        self,
        recording: Recording,
        clock: Callable[[], float] = time.perf_counter,
        branches: Branches | None = None,
    ) -> None:
        self._recording = recording
        self.branches: Branches | None = branches
        self._clock = clock
        self.pins: RecordedPins = RecordedPins(recording, clock)
        self._hands = RecordedHands(recording, clock)
        self.thoughts: RecordedThoughts = RecordedThoughts(recording, clock)
        # time lines, and the first tick that was not read for them
        self._lines: dict[str, tuple[SpanBuilder, int]] = {}
        self._names_of: dict[str, LineNames] = {}
        self.crowd: RecordedCrowd = RecordedCrowd(recording, clock)
        self._is_drawn = False
        self._reloads: tuple[int, list[Reloaded]] = (-1, [])  # what was edited, up to which tick

    def keep(self, agents: list[str]) -> None:
        self._lines = {name: line for name, line in self._lines.items() if name in agents}
        self._names_of = {name: known for name, known in self._names_of.items() if name in agents}

    def compose(self, session: Session, tick: int, last: int, now: float) -> Iterator[Message]:
        """What a client is told now, besides the state; the recording reaches up to ``last``."""
        watch = session.watch
        if self._reloads[0] != last:
            self._reloads = last, []  # what is broken there is told once, and the rest is shown
            self._reloads = last, self._recording.reloads()
        reloads = self._reloads[1]
        if reloads and session.is_news("reloads", reloads):
            yield reloads_message(reloads)
        yield from self.crowd.agents(session, tick, now)
        if watch.agent is not None and session.is_news("agent", (tick, watch.agent)):
            yield self._agent(session, tick, watch.agent)
        if watch.events is not None:
            yield from self._events(session, tick, watch.events)
        if watch.timeline is not None:
            yield from self._timeline(session, tick, last, watch.timeline)
        if watch.drawing and session.is_news("drawn", tick):
            yield from self._drawing(session, tick)
        yield from self.pins.messages(session, tick, last)
        yield from self._hands.messages(session, last)
        yield from self.thoughts.messages(session, tick, now)
        yield from self.crowd.messages(session, tick, last)
        if watch.branches and self.branches is not None:
            yield from self._branches(session, tick, last, self.branches)

    # --- what if ------------------------------------------------------------------------------------------------------

    def _branches(self, session: Session, tick: int, last: int, branches: Branches) -> Iterator[Message]:
        rows = branches.rows()
        if session.is_news("branches", rows):
            yield {"is": "branches", "rows": rows}
        try:
            if session.is_news("inputs", (tick, last)):
                yield inputs_message(self._recording, tick)
            yield from self._compared(session, rows, branches)
        except RecordingError as error:  # of all that is looked at, only this is broken; said once
            if session.is_news("broken branch", words_of(error)):
                yield {"is": "error", "message": words_of(error), "code": "failed"}

    def _compared(self, session: Session, rows: list[Message], branches: Branches) -> Iterator[Message]:
        """The branch that the client looks at, beside the recording."""
        watch = session.watch
        row = next((row for row in rows if row["id"] == watch.branch), None)
        if row is None:
            return
        state, is_whole = row["state"], (watch.branch, watch.agent, row["last"], True)
        if session.is_news("branch", (watch.branch, state)) and (told := branches.report(watch.branch)) is not None:
            yield told
        # The lines are read little by little, so they are asked for until all of them were told.
        if not watch.agent or session.told.get("sides") == is_whole:
            return
        lines = branches.lines(watch.branch, watch.agent, self._recording)
        if lines is not None and session.is_news("sides", (watch.branch, watch.agent, lines["read"], lines["whole"])):
            yield lines

    # --- the world ----------------------------------------------------------------------------------------------------

    def is_drawn(self) -> bool:
        """Whether the world is drawn at all."""
        self._is_drawn = self._is_drawn or self._recording.has_drawings  # one that grows may be, from some tick on
        return self._is_drawn

    def _drawing(self, session: Session, tick: int) -> Iterator[Message]:
        try:
            yield from drawing_messages(session, tick, self._recording.drawing(tick))
        except RecordingError as error:  # of all that is looked at, only this is broken
            yield from drawing_messages(session, tick, None, words_of(error))

    # --- agents -------------------------------------------------------------------------------------------------------

    def _agent(self, session: Session, tick: int, name: str) -> Message:
        view = self._recording.view(name, tick) if name in self.crowd.names(tick) else None
        if view is None:
            is_unseen = name in self.crowd.names(tick)  # it is there, and nobody looked at it so far
            return {**agent_message(name, tick, None, "", {}), **({"unseen": True} if is_unseen else {})}
        known = (name, [(driver.get("name"), driver.get("outline")) for driver in view.get("drivers", ())])
        trees = self._recording.outlines(name, tick) if session.is_news("outlines", known) else {}
        return agent_message(name, tick, view, self._recording.explain(name, tick), trees)

    # --- events -------------------------------------------------------------------------------------------------------

    def _events(self, session: Session, tick: int, query: EventsQuery) -> Iterator[Message]:
        """The log up to a tick: what is new since it was told last, if that is not far, or the newest records."""
        told, is_new = session.cursor, session.wants_reset
        if tick == told and not is_new:
            return
        is_new = is_new or not told < tick <= told + _FAR
        records = self._newest(tick, query) if is_new else self._matching(told + 1, tick, query)
        session.cursor, session.wants_reset = tick, False
        missed = max(0, len(records) - _ROWS)
        session.missed += missed
        if is_new or records:
            yield events_message(records[-_ROWS:], missed, is_new=is_new)

    def _newest(self, tick: int, query: EventsQuery) -> list[Kept]:
        begin = self._clock()
        records: deque[Kept] = deque(maxlen=_ROWS)
        for window in _WINDOWS:
            records.clear()
            records.extend(self._matching(tick - window, tick, query))
            if len(records) == _ROWS or tick - window <= 0 or self._clock() - begin > _PATIENCE:
                break
        return list(records)

    def _matching(self, first: int, last: int, query: EventsQuery) -> list[Kept]:
        events = None if query.events is None else sorted(query.events)
        records = self._recording.records(first, last, agent=query.agent, events=events)
        return [one for one in map(kept, records) if fits(one, query)]

    # --- the time line ------------------------------------------------------------------------------------------------

    def _begun_line(self, name: str) -> tuple[SpanBuilder, int]:
        """A time line, with what ran already before the first tick that is there."""
        builder, first = SpanBuilder(_KEPT_SPANS), self._recording.first_tick
        for record in began_before_first(self._recording, name):
            builder.feed(record)
        return builder, first

    def _timeline(self, session: Session, tick: int, last: int, query: TimelineQuery) -> Iterator[Message]:
        builder, unread = self._lines.get(query.agent) or self._begun_line(query.agent)
        until = last if query.last is None else min(query.last, last)
        begin = self._clock()
        while unread <= until and self._clock() - begin < _LINE_SECONDS:
            to = min(unread + _LINE_TICKS - 1, until)
            for record in self._recording.records(unread, to, agent=query.agent, events=_FOLDED):
                builder.feed(record)
            unread = to + 1
        self._lines[query.agent] = builder, unread
        if session.is_news("timeline", (query, unread, tick, until)):
            names = self._names_of.setdefault(query.agent, LineNames(self._clock))
            spans = builder.spans(query.agent, query.first, until)
            named, is_whole = names.name(self._recording, query.agent, spans, _LINE_SECONDS)
            if not is_whole:  # the other names are told in a later round
                session.told.pop("timeline", None)
            yield timeline_message(query, until, tick, span_rows(named))


_ROUND_SECONDS = 0.025
_BUSY_SECONDS = 0.002  # the same while there is more to read than one round takes: others have their turn
_GROWS_SECONDS = 0.5  # how often it is asked whether the recording has grown
_STOP_SECONDS = 5.0

_NO_TIMES = {"last": 0.0, "mean": 0.0, "worst": 0.0}


class RecordedSource(Source):
    """A recording, for clients; by default it is called by the name of its file."""

    def __init__(
        self,
        path: str,
        title: str,
        *,
        clock: Callable[[], float] = time.perf_counter,
        controls: bool = False,
        branches: str | None = None,
        app: str = "",
    ) -> None:
        super().__init__(clock)
        self._path = path
        self._controls = controls
        self._branches = Branches(path, branches, app, controls=controls)
        self._title = title or Path(path).name
        self._hello: Message = {}
        self._wake = threading.Event()
        self._is_ready = threading.Event()
        self._is_stopping = False
        self._error: AgentRTError | None = None
        self._thread: threading.Thread | None = None
        self._asked = 0.0
        self._known = (0, 0)  # the first and the last tick, as clients know them

    # --- on the caller's thread ---------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Open the recording, on the thread that will read it; raises what that thread meets with."""
        self._is_stopping, self._error = False, None
        self._is_ready.clear()
        self._thread = threading.Thread(target=self._run, name="agentrt inspector: recording", daemon=True)
        self._thread.start()
        try:
            self._is_ready.wait()
            if self._error is not None:
                raise self._error
        except BaseException:  # also if somebody interrupts the waiting: no thread is left behind
            self.detach()
            raise

    def detach(self) -> None:
        self._is_stopping = True
        self._open.clear()
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(_STOP_SECONDS)

    # --- on the thread that reads -------------------------------------------------------------------------------------

    def _run(self) -> None:
        with contextlib.ExitStack() as stack:
            try:
                recording = stack.enter_context(Recording.open(self._path))
                scene = RecordedScene(recording, branches=self._branches)
                stack.callback(self._branches.close)
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
                self._is_ready.set()  # whatever comes: the caller waits for it
            while not self._is_stopping:
                pause = _BUSY_SECONDS if scene.crowd.is_busy else _ROUND_SECONDS
                self._wake.wait(pause if self._open else None)
                self._wake.clear()
                self._serve(recording, scene)

    def _look(self, recording: Recording) -> bool:
        reach = recording.first_tick, recording.last_tick
        if reach == self._known and self._hello:
            return False
        self._known = reach
        if recording.is_past:  # with controls, too: no other reason helps who wants one
            self._branches.refusal = OF_A_PAST
        rate, reasons = recording.meta["ticks_per_second"], recording.unreplayable
        self._hello = hello(
            "recording", self._title, rate, controls=True, tick=reach[0], reach=reach, unreplayable=reasons,
            what_if=self._branches.refusal, models=recorded_models(recording.meta),
        )  # fmt: skip
        return True

    def _serve(self, recording: Recording, scene: RecordedScene) -> None:
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
                self._report(error)
        scene.keep([query.agent for session in sessions if (query := session.watch.timeline) is not None])
        for session in sessions:
            while session.commands:
                command = session.commands.popleft()
                if command.do == "thought":
                    session.notify(self._thought(scene, session, command.fields["id"]))
                else:
                    self._obey(session, command, now)
                session.hurry()
            if session in self._open and session.is_due(now):
                session.post(self._compose(scene, session, now), now)
        scene.pins.read((pin for session in sessions for pin in session.watch.pins), self._known[1])
        scene.crowd.read(sessions, self._known[1])

    def _compose(self, scene: RecordedScene, session: Session, now: float) -> list[Message]:
        first, last = self._known
        position = session.position
        session.at = tick = position.now(now, first, last, float(self._hello["ticks_per_second"]))
        messages: list[Message] = []
        try:
            state = self._state(session, tick, len(scene.crowd.names(tick)), is_drawn=scene.is_drawn())
            if session.is_news("state", state):
                messages.append(state)
            messages += list(scene.compose(session, tick, last, now))  # all of it or nothing
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._report(error)
            session.forget()
            words = words_of(error)
            said = words if isinstance(error, AgentRTError) else f"it could not be shown: {words}"
            messages.append({"is": "error", "message": said, "code": "failed"})
        return messages

    def _report(self, error: BaseException) -> None:
        if not isinstance(error, AgentRTError):  # else the file is broken, and its client is told so
            self._failed("the inspector failed to show something of a recording", error)

    def _state(self, session: Session, tick: int, agents: int, *, is_drawn: bool) -> Message:
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
            "drawn": is_drawn,
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
        elif do in ("branch", "unbranch"):
            self._branch(session, do, fields)
        else:
            session.refuse("nothing runs in a recording, so nothing can be stopped", "not_live")

    def _thought(self, scene: RecordedScene, session: Session, number: int) -> Message:
        """What was asked and answered in a thought, for who may read it."""
        try:
            return scene.thoughts.text(number, session.at, session) if self._controls else unread(number)
        except AgentRTError as error:  # of all that is looked at, only this is broken
            return unread(number, words_of(error))

    def _branch(self, session: Session, do: str, fields: dict[str, Any]) -> None:
        branches = self._branches
        try:
            if branches.refusal:
                session.refuse(branches.refusal, "read_only")
            elif do == "unbranch":
                branches.drop(fields["id"])
            else:
                number = branches.start(fields["at"], fields["ticks"], fields["edits"], self._known)
                session.notify({"is": "branched", "id": number})
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._report(error)
            session.refuse(words_of(error), "bad_branch")

    def _within(self, tick: int) -> int:
        first, last = self._known
        return max(first, min(tick, last))

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        return [self._hello]

    def recorded(self) -> contextlib.AbstractContextManager[tuple[str, str]] | None:
        return contextlib.nullcontext((self._path, self._title))

    def open(self, session: Session) -> None:
        super().open(session)
        self._wake.set()
