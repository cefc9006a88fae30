"""The recorder: writes down a run while it goes on.

It hears of three things: what comes in (it is the runtime's journal), what happens (it listens to the trace), and the
end of each tick, when it writes all of it. While a tick runs it only collects. Rules:

* It never changes the run. Whatever fails (a full disk, a locked file, a bug of ours) ends the recording, is reported
  once in the log, and reaches nobody in the run. What was committed stays and can be read.
* In a recording that begins before the first tick, what is in the inbox then belongs to how the world was made, and is
  not written: whoever makes the world again puts it there again.
* When the runtime is closed, the recording ends before: the ticks of the clean-up are no part of the run.
* A run that is resumed goes on in its file (see ``resume``), as if nothing had been. What is written depends on much
  that no file has: which lines a segment knows, which view was the last whole one, whose turn is next. So a recorder is
  there from the first tick that is repeated on, and does all that it did then; only its store *retraces*: it takes what
  it is given for what is in the file already. At the last tick of the file it takes up what that has (numbers of
  agents, trees and segments), and begins to write.
* All that no file has begins anew at an epoch. So a recorder can retrace from an epoch on: of what was before it needs
  the digest alone.

Rejected: taking the rest out of the file as well, and retracing nothing (it is not all in there, and each part would be
a second way to come to it).

Its file is a ``Store`` (see there), which keeps it small.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from agentrt.errors import ENDS_PROGRAM, RecordingError, WrongStateError
from agentrt.installed import library_version
from agentrt.kernel.trace import TraceRecord
from agentrt.record.lines import SEGMENT_TICKS, LineWriter
from agentrt.record.schema import DURABILITIES, SCHEMA, Durability, is_number, name_in
from agentrt.record.storage import InputRow, Store
from agentrt.record.values import Codecs
from agentrt.record.views import DrawingWriter, ViewWriter
from agentrt.snapshot import outlines
from agentrt.words import error_words, repr_of, words_of
from agentrt.worlds import Value, are_params

if TYPE_CHECKING:
    from agentrt.agent.agent import Restart
    from agentrt.runtime.intake import Codec, Reloaded
    from agentrt.runtime.runtime import Runtime


class Retraced(NamedTuple):
    """A file that a run is repeated of, for the recorder that goes on with it."""

    connection: sqlite3.Connection  # which keeps all others from writing it
    started: int  # the tick after which it begins
    last: int  # its last tick
    # If the run is repeated from an epoch on:
    digest: bytes = b""  # of all before
    records: Sequence[TraceRecord] = ()  # what told that the world was rebuilt
    restarts: Mapping[int, Restart | None] = {}  # which policy held, from which tick on, before


Views = Literal["changed", "none"] | int
"""Which views of agents are kept: each that changed, none, or at most one of an agent in so many ticks.

And which drawings of the world, likewise.
"""

LIMITS = ("keep_ticks", "max_bytes", "commit_every", "durability")
"""What of a recorder's arguments stands in the header, for who goes on with the file."""

OWN_KEYS = (
    "schema", "agentrt", "python", "host", "world", "params", "seed", "ticks_per_second", "started", "views",
    "drawings", "created", "ended", "kept_from", "between", "unkept", "restart", "past", "run", "resumed", "models",
    "prices", "epoch", *LIMITS,
)  # fmt: skip

_MOST_RESUMED = 1000  # of which the header tells; the newest ones
LEAST_BYTES = 1024 * 1024  # a file smaller than that has no room for a few ticks and their views


class Recorder:
    """Writes one run into one file. Made by ``Runtime.record``, which tells its arguments; also a context manager.

    Raises:
        RecordingError: the file cannot be made.
        WrongStateError: a tick runs, or somebody else keeps this runtime's inputs.
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        runtime: Runtime,
        path: str | Path,
        *,
        world: str = "",
        params: Mapping[str, Value] | None = None,
        views: Views = "changed",
        drawings: Views = "changed",
        keep_ticks: int | None = None,
        max_bytes: int | None = None,
        commit_every: int = 1,
        durability: Durability = "process",
        codecs: Sequence[Codec] = (),
        meta: dict[str, Any] | None = None,
        retraced: Retraced | None = None,
    ) -> None:
        kernel = runtime.kernel
        kernel.require_between_ticks("runtime.record")
        if runtime.intake.journal is not None:
            raise WrongStateError("runtime.record", "its inputs are kept already", "Close that recorder first.")
        limits: dict[str, Any] = dict(zip(LIMITS, (keep_ticks, max_bytes, commit_every, durability), strict=True))
        check_limits(limits)
        every, draws_every = every_of("views", views), every_of("drawings", drawings)
        _check_header(kernel.seed, world, params, meta)
        self.path: Path = Path(path)
        # the tick after which the recording begins
        self.started: int = kernel.tick if retraced is None else retraced.started
        # how many ticks were written; when it ended by a failure, how many are in the file
        self.ticks: int = kernel.tick - self.started
        self.stopped: str = ""  # why nothing more is written; empty while it goes on
        self.has_failed: bool = False  # whether that is because nothing more can be written
        self._runtime = runtime
        self._kernel = kernel
        self._codecs = Codecs(codecs)
        # Nothing has run since the world was made, or made again: what is in the inbox belongs to how that is done.
        self._is_whole = kernel.tick in (runtime.start_tick, kernel.rebuilt)
        self._made = len(kernel.inbox) if self._is_whole else 0  # how much of the first intake makes the world
        self._pending: list[TraceRecord] = []
        self._inputs: list[InputRow] = []
        self._posted: deque[tuple[int, str]] = deque()  # filled from any thread
        self._lock = threading.Lock()
        self._host, self._epoch = "", -1  # as the header says them
        self._commit_hooks: list[Callable[[int], object]] = []
        self._coming_restart: Restart | None = runtime.restart  # as the next tick begins
        self._restart: Restart | None = None  # as a replay knows it: it was written, or the world itself said it
        self._restarts: dict[int, dict[str, float] | None] = {}  # from which tick on which policy held
        self._has_between = self._has_unkept = False
        self._rebuilt = 0  # how many records between the last tick and the next tell how the world was rebuilt
        self._foreign_waits = kernel.host.foreign_waits
        self._lines = _line_writer(keep_ticks, max_bytes)
        self._views = ViewWriter(runtime.find, every, self._kernel.clock.ticks_per_second) if every else None
        self._drawings = DrawingWriter(runtime.draw, draws_every) if draws_every else None
        connection, committed = (None, 0) if retraced is None else (retraced.connection, retraced.last - self.started)
        self._store = Store(self.path, **limits, connection=connection, committed=committed)
        header = {"world": world, "params": dict(params or {}), "views": views, "drawings": drawings, **limits}
        self._begin({**(meta or {}), **header}, retraced)
        # Last of all: had anything above failed, nobody would take these away again.
        self._close_hooks = (kernel.trace.listen(self._pending.append), kernel.after_tick(self._publish))
        runtime.intake.journal = self
        runtime.recorder = self

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return not self.stopped

    @property
    def committed_tick(self) -> int:
        """The last tick that is in the file, whatever happens: what came in up to then, and what became of it, stays.

        An input is taken by the next tick that begins, so that one that was sent while ``runtime.tick`` was 40, between
        two ticks or within one, is kept as soon as this is 41.
        """
        return self.started + self._store.committed

    @property
    def digest(self) -> str:
        """The digest of all records up to the end of the last tick, in hex."""
        return self._lines.digest().hex()

    def on_commit(self, fn: Callable[[int], object]) -> Callable[[], None]:
        """Call a plain function with ``committed_tick`` after each commit; returns a function that ends it.

        It is called between two ticks, by whoever drives the runtime, and must not change the run. If it raises it is
        dropped, and that is logged.
        """
        self._commit_hooks.append(fn)

        def close() -> None:
            if fn in self._commit_hooks:
                self._commit_hooks.remove(fn)

        return close

    def _begin(self, meta: dict[str, Any], retraced: Retraced | None) -> None:
        if retraced is not None and self.ticks:
            self._begin_at_epoch(retraced)
            return
        try:
            meta.update(origin_of(self._runtime))
            for key, value in meta.items():
                self._store.put(key, value)
            if self.started and self.started == self._kernel.rebuilt:
                self._store.put_save(self.started, self._runtime.epochs.last, self.started)
            for agent in self._runtime.agents:
                self._store.agent_comes(agent.name, self.started)
            self._look([agent.name for agent in self._runtime.agents])
            self._draw_world(self.started)
            self._store.commit()
        except BaseException as error:
            self._store.discard()
            if isinstance(error, (sqlite3.Error, OSError)):
                raise RecordingError(str(self.path), f"it cannot be written: {error}") from None
            raise

    def _begin_at_epoch(self, file: Retraced) -> None:
        """Retrace a file from an epoch on, which the run has just begun with."""
        self._pending.extend(file.records)
        self._lines.begin_after(file.digest)
        self._restart = self._coming_restart
        self._restarts = {tick: _plain_restart(one) for tick, one in file.restarts.items()}
        self._begin_epoch()

    # --- what comes in (the journal) ----------------------------------------------------------------------------------

    def sent(self, name: str, args: dict[str, Any]) -> None:
        """An input is taken; see ``Journal``."""
        is_making = self._kernel.tick == self.started + 1 and self._kernel.taking < self._made
        if not is_making:  # what was there before the recording began belongs to how the world is made
            self._take("sent", -1, name, args)

    def answered(self, number: int, what: str, value: object, error: BaseException | None) -> None:
        """The result of a call to the outside is taken; see ``Journal``."""
        self._take("answered" if error is None else "failed", number, what, value if error is None else error)

    def posted(self, what: str) -> None:
        """A function was posted from outside, which cannot be kept; see ``Journal``. Safe from any thread."""
        tick = self._kernel.tick
        is_making = self._is_whole and tick == self.started  # before the first tick it belongs to that
        if self.is_open and not is_making:
            self._posted.append((tick + 1, what))

    def reloaded(self, report: Reloaded, digests: dict[str, str]) -> None:
        """Files were edited; see ``Journal``. An edit that changed nothing is of another kind: a replay goes on."""
        what = {"files": digests, "error": report.error}
        for name in ("changed", "kinds", "removed", "agents", "notes"):
            what[name] = list(getattr(report, name))
        self._take("reloaded" if report.changes_code else "edited", -1, ", ".join(report.files), what)

    def rebuilt(self, save: str) -> None:
        """The world was rebuilt; see ``Journal``. What is written from here on needs nothing of what was before."""
        with self._lock:
            if not self.is_open:
                return
            try:
                self._begin_epoch()
                self._write_epoch(save)
            except BaseException as error:
                self._fail(error)
                if isinstance(error, ENDS_PROGRAM):
                    raise

    def _begin_epoch(self) -> None:
        self._rebuilt = len(self._pending)
        self._lines.begin_epoch()
        if self._views is not None:
            self._views.forget()
        if self._drawings is not None:
            self._drawings.forget()

    def _write_epoch(self, save: str) -> None:
        """Who is there since, and the save. What is in the file already stays as it is."""
        tick, store = self._kernel.tick, self._store
        there = {agent.name: None for agent in self._runtime.agents}
        for name in [name for name in store.names if name not in there]:
            store.agent_goes(name, tick)
        for name in there:
            if not store.knows(name):
                store.agent_comes(name, tick)
        store.put_save(tick, save, self.started)

    def restarting(self, restart: Restart | None) -> None:
        """Who drives, or somebody between two ticks, says what becomes of who gives up; see ``Journal``."""
        self._coming_restart = restart

    def closing(self, reason: str) -> None:
        """The runtime is about to be closed; see ``Journal``."""
        self.close(reason)

    def _take(self, kind: str, number: int, name: str, value: object) -> None:
        if not self.is_open or self._runtime.intake.journal is not self:
            return  # a call that was made before it was closed, or before the world was over, still knows it
        try:
            text, problem = self._codecs.write(value)  # now: the run may change what was handed in
            tick = self._kernel.tick
            self._inputs.append((tick, self._kernel.taking, len(self._inputs), kind, number, name_in(name), text))
            if problem:
                self._unkept(f"{name} ({kind} in tick {tick}): {problem}")
        except BaseException as error:
            self._fail(error)
            if isinstance(error, ENDS_PROGRAM):
                raise

    def _unkept(self, text: str) -> None:
        """A value could not be kept: say it, the first time."""
        if self._has_unkept:
            return
        self._has_unkept = True
        self._store.put("unkept", text)
        self._report(
            f"a value could not be recorded, so that a replay ends there: {text}. "
            f"Hand a codec for its type to runtime.record(codecs=[...])",
            None,
        )

    # --- a tick -------------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        with self._lock:  # it may be closed from another thread meanwhile
            if not self.is_open:
                return
            before = self._store.committed
            try:
                self._write_tick(self._kernel.tick)
            except BaseException as error:
                self._fail(error)  # half of a tick is none
                if isinstance(error, ENDS_PROGRAM):
                    raise
        if self._store.committed != before:
            self._tell_commit()  # out here: who is told may close it

    def _tell_commit(self) -> None:
        tick = self.committed_tick
        for tell in tuple(self._commit_hooks):
            try:
                tell(tick)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._commit_hooks.remove(tell)
                self._report("who is told of commits failed, and is told of no more", error)

    def _write_tick(self, tick: int) -> None:
        store = self._store
        records = self._pending.copy()  # the list stays: its ``append`` is what listens to the trace
        self._pending.clear()
        self._put_how()
        if self._restart != self._coming_restart or not self._restarts:
            self._restarts[tick] = _plain_restart(self._coming_restart)
            store.put("restart", self._restarts)
        self._restart = self._coming_restart = self._runtime.restart  # what the world said meanwhile it says again
        # What came in since this tick's intake belongs to the next one, as does what is still to come in before that.
        while self._posted and self._posted[0][0] <= tick:
            taken, what = self._posted.popleft()
            self._inputs.append((taken, -1, len(self._inputs), "posted", -1, name_in(what), "null"))
        if self._inputs:
            store.put_inputs(self._inputs)
            self._inputs.clear()
        if self._kernel.host.foreign_waits != self._foreign_waits:
            self._foreign_waits = self._kernel.host.foreign_waits
            self._put_between(tick)
        if records:
            self._write_records(tick, records)
        elif self._views is not None:
            self._look(())
        self._draw_world(tick)
        store.end_tick(tick, len(records), self._lines.digest())
        self.ticks += 1

    def _put_how(self) -> None:
        """What of the header is known only while it runs."""
        host, epoch = self._runtime.host, self._runtime.epochs.every
        if self._host != host:
            self._host = host
            self._store.put("host", host)
        if self._epoch != epoch:
            self._epoch = epoch
            self._store.put("epoch", epoch)

    def _write_records(self, tick: int, records: list[TraceRecord]) -> None:
        store = self._store
        packed = self._lines.pack(tick, records)
        store.put_trace(tick, packed)
        if packed.between > self._rebuilt and not (self._is_whole and tick == self.started + 1):
            self._put_between(tick)
        self._rebuilt = 0
        names = list(dict.fromkeys([record[1] for record in records]))
        for name in names:  # whoever comes or goes has a record of it
            is_there = self._runtime.find(name) is not None
            if is_there and not store.knows(name):
                store.agent_comes(name, tick)
            elif not is_there and store.knows(name):
                store.agent_goes(name, tick)
        self._look(names)  # after that: a view belongs to an agent that the file knows

    def _put_between(self, tick: int) -> None:
        """Something happened that no input tells, and that a replay cannot repeat: note when it did first."""
        if not self._has_between:
            self._has_between = True
            self._store.put("between", tick)

    def _look(self, names: Sequence[str]) -> None:
        if self._views is None:
            return
        tick, store = self._kernel.tick, self._store
        for name, is_whole, data in self._views.look(tick, names):
            store.put_view(name, tick, is_whole, data)
            if is_whole:
                self._draw(name, tick)

    def _draw_world(self, tick: int) -> None:
        if self._drawings is not None:
            written = self._drawings.look(tick)
            if written is not None:
                self._store.put_view(None, tick, *written)

    def _draw(self, name: str, tick: int) -> None:
        """Write the trees of an agent; they are looked at with each of its whole views."""
        agent = self._runtime.find(name)
        if agent is not None and agent.attachments:
            for driver, outline in outlines(agent).items():
                self._store.put_outline(name, driver, tick, outline.as_json())

    # --- a run that is resumed ----------------------------------------------------------------------------------------

    def go_on(self, meta: dict[str, Any]) -> None:
        """The run was repeated up to the last tick of the file, whose header this is: write from here on.

        Raises:
            RecordingError: it cannot be written.
        """
        entry = {**origin_of(self._runtime), "tick": self._kernel.tick}
        with self._lock:
            try:
                segment = self._store.go_on()
                if segment is not None:
                    self._lines.segment = segment
                if self._kernel.tick == self._kernel.rebuilt != self.started:
                    # It is written with the next tick, which is not in the file; or it is there, if that was closed.
                    self._write_epoch(self._runtime.epochs.last)
                self._has_between, self._has_unkept = "between" in meta, "unkept" in meta
                self._store.put("ended", "")
                self._store.put("durability", self._store.durability)  # whoever resumes it may choose another one
                self._store.put("epoch", self._runtime.epochs.every)  # an older agentrt did not note it
                told = [{key: entry[key] for key in ("tick", "agentrt", "python", "host")}]
                self._store.put("resumed", [*(meta.get("resumed") or ()), *told][-_MOST_RESUMED:])
            except (sqlite3.Error, OSError) as error:
                self._fail(error)
                raise RecordingError(str(self.path), f"it cannot be written: {error}") from None

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self, reason: str = "closed") -> None:
        """Write the rest, and end it; between two ticks, or from another thread. Calling it twice does nothing.

        Args:
            reason: why, in words; it stands in the header.
        """
        with self._lock:
            if not self.is_open:
                return
            self._let_go(words_of(reason) or "closed")
            before = self._store.committed
            try:
                self._store.close(self.stopped)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.ticks = self._store.committed
                self._report(f"the recording {self.path} could not be ended properly", error)
        if self._store.committed != before:
            self._tell_commit()

    def _fail(self, error: BaseException) -> None:
        """Nothing more can be written."""
        if not self.is_open:
            return
        self._let_go(error_words(error))
        self.has_failed = True
        self.ticks = self._store.committed
        try:
            self._store.give_up()
        except ENDS_PROGRAM:
            raise
        except BaseException as second:
            error.add_note(f"and when it was closed: {error_words(second)}")
        self._report(f"the recording {self.path} ends here; what was written can be read", error)

    def _let_go(self, why: str) -> None:
        self.stopped = why
        for close in self._close_hooks:
            close()
        if self._runtime.intake.journal is self:
            self._runtime.intake.journal = None
        if self._runtime.recorder is self:
            self._runtime.recorder = None

    def _report(self, text: str, error: BaseException | None) -> None:
        """Into the log, and never into the trace: watching does not change the run."""
        self._kernel.trace.report(text, error or RecordingError(str(self.path), text))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_rest: object) -> None:
        self.close("closed" if error is None else error_words(error))

    def __repr__(self) -> str:
        state = "open" if self.is_open else f"stopped: {self.stopped}"
        return f"<Recorder: {self.path}, {self.ticks} ticks, {state}>"


def _line_writer(keep_ticks: int | None, max_bytes: int | None) -> LineWriter:
    # What is dropped goes by whole segments: they are short enough that little more is kept than was asked for.
    segment_ticks = SEGMENT_TICKS if keep_ticks is None else min(SEGMENT_TICKS, max(keep_ticks // 4, 16))
    return LineWriter(segment_ticks, None if max_bytes is None else max_bytes // 16)


def _plain_restart(restart: Restart | None) -> dict[str, float] | None:
    return None if restart is None else asdict(restart)


def check_limits(limits: dict[str, Any]) -> None:
    """Look at the arguments of a recorder that stand in the header."""
    for name, least in (("keep_ticks", 1), ("max_bytes", LEAST_BYTES)):
        value = limits[name]
        if value is not None and not is_number(value, least):
            raise ValueError(f"{name} is {value!r}: it takes a whole number of at least {least}, or None")
    if not is_number(limits["commit_every"], 1):
        raise ValueError(f"commit_every is {limits['commit_every']!r}: it takes a whole number of at least 1")
    if limits["durability"] not in DURABILITIES:
        raise ValueError(f"durability is {limits['durability']!r}: choose one of {', '.join(DURABILITIES)}")


def _check_header(seed: object, world: object, params: object, meta: dict[str, Any] | None) -> None:
    """Look at what the header is to hold, before there is a file."""
    own = [key for key in meta or {} if key in OWN_KEYS]
    if own:
        raise ValueError(f"meta has {own[0]!r}, which the recorder writes itself: choose another key")
    if type(seed) not in (int, str):
        raise ValueError(f"the runtime's seed is {seed!r}: a recording keeps a whole number or a text")
    if not isinstance(world, str):
        raise ValueError(f"world is {world!r}: it takes the name of a world, or an empty text")
    if not (params is None or are_params(params)):
        raise ValueError(f"params is {repr_of(params, 200)}: it takes numbers, flags and texts by name, or None")
    try:
        json.dumps(meta, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"meta is no plain data: {error}") from None


def every_of(option: str, value: object) -> int:
    """In how many ticks there is one view at most; 0 for none at all."""
    if value in ("changed", "none"):
        return int(value == "changed")
    if not is_number(value, 1):
        raise ValueError(f"{option} is {value!r}: it takes 'changed', 'none', or a whole number of ticks")
    return int(value)


def origin_of(runtime: Runtime) -> dict[str, Any]:
    """Where and when it was recorded, and what a replay needs to know."""
    outside = () if runtime.mind is None else runtime.mind.outside
    prices = {} if runtime.mind is None else runtime.mind.prices
    return {
        "schema": SCHEMA,
        "agentrt": library_version(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "host": runtime.host,
        "run": runtime.calls.run,
        "seed": runtime.kernel.seed,
        "ticks_per_second": runtime.kernel.clock.ticks_per_second,
        "started": runtime.kernel.tick,
        **({"models": list(outside)} if outside else {}),
        **({"prices": prices} if prices else {}),  # for who looks at it: what was used is in the trace
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ended": "",
    }
