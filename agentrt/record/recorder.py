"""The recorder: writes down a run while it goes on.

It hears of three things: what comes in (it is the runtime's journal), what happens (it listens to the trace), and the
end of each tick, when it writes all of it. While a tick runs it only collects.

Rules:

* It never changes the run. Whatever fails (a full disk, a locked file, a bug of ours) ends the recording, is reported
  once in the log, and reaches nobody in the run. What was committed stays and can be read.
* What is written survives the end of the process, however it comes, up to the last tick that was committed.
* A recording that begins before the first tick is *whole*: it can be replayed. What is in the inbox then belongs to how
  the world was made and is not written: whoever makes the world again puts it there again. One that begins later can be
  looked at.
* When the runtime is closed, the recording ends before: the ticks of the clean-up are no part of the run.

Source: design section 7, "Journal and replay".
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentrt.errors import ENDS_PROGRAM, RecordingError, WrongStateError
from agentrt.installed import library_version
from agentrt.kernel.trace import TraceRecord
from agentrt.record.lines import SEGMENT_TICKS, LineWriter
from agentrt.record.schema import SCHEMA, name_in
from agentrt.record.store import InputRow, Store
from agentrt.record.values import Codec, Codecs
from agentrt.record.views import ViewWriter
from agentrt.words import error_words, words_of

if TYPE_CHECKING:
    from agentrt.runtime import Runtime

__all__ = ["OWN_KEYS", "Recorder", "Views"]

Views = Literal["changed", "none"] | int
"""Which views of agents are kept: each that changed, none, or at most one of an agent in so many ticks."""

OWN_KEYS = (
    "schema", "agentrt", "python", "host", "world", "seed", "ticks_per_second", "started", "views", "created", "ended",
    "kept_from", "between", "unkept",
)  # fmt: skip

LEAST_BYTES = 1024 * 1024  # a file smaller than that has no room for a few ticks and their views


class Recorder:
    """Writes one run into one file. Made by ``Runtime.record``; also a context manager.

    Args:
        runtime: whose run; between two ticks.
        path: where to; there must be nothing yet.
        world: the name of the world that a replay makes; empty if whoever replays has to bring it.
        views: which views of agents are kept.
        keep_ticks: how many ticks of trace and views are kept at least; None for all.
        max_bytes: how large the file may become; None for any size.
        commit_every: after how many ticks it commits.
        codecs: for values of one's own types that come in.
        meta: more plain data for the header.

    Raises:
        RecordingError: the file cannot be made.
        WrongStateError: a tick runs, or somebody else keeps this runtime's inputs.
        ValueError: an argument is out of its range.

    Attributes:
        path: as given.
        started: the tick after which the recording begins.
        ticks: how many ticks were written; when it ended by a failure, how many are in the file.
        stopped: why nothing more is written; empty while it goes on.
    """

    def __init__(
        self,
        runtime: Runtime,
        path: str | Path,
        *,
        world: str = "",
        views: Views = "changed",
        keep_ticks: int | None = None,
        max_bytes: int | None = None,
        commit_every: int = 1,
        codecs: Sequence[Codec] = (),
        meta: dict[str, Any] | None = None,
    ) -> None:
        runtime.kernel.require_between_ticks("runtime.record")
        if runtime.journal is not None:
            raise WrongStateError("runtime.record", "its inputs are kept already", "Close that recorder first.")
        every = _check(views, keep_ticks, max_bytes, commit_every, meta)
        _check_header(runtime.kernel.seed, world, meta)
        self.path: Path = Path(path)
        self.started: int = runtime.tick
        self.ticks: int = 0
        self.stopped: str = ""
        self._runtime = runtime
        self._kernel = runtime.kernel
        self._codecs = Codecs(codecs)
        self._made = len(self._kernel.inbox) if runtime.tick == 0 else 0
        self._pending: list[TraceRecord] = []
        self._inputs: list[InputRow] = []
        self._posted: deque[tuple[int, str]] = deque()  # filled from any thread
        self._lock = threading.Lock()
        self._host = ""
        self._has_between = self._has_unkept = False
        self._foreign_waits = runtime.kernel.host.foreign_waits
        segment_ticks = SEGMENT_TICKS if keep_ticks is None else min(SEGMENT_TICKS, max(keep_ticks // 4, 16))
        self._lines = LineWriter(segment_ticks, None if max_bytes is None else max_bytes // 16)
        self._views: ViewWriter | None = None
        if every:
            self._views = ViewWriter(runtime.find, every)
        self._store = Store(self.path, keep_ticks, max_bytes, commit_every)
        self._begin({**(meta or {}), "world": world, "views": views})
        self._close_hooks = (runtime.trace.listen(self._pending.append), runtime.after_tick(self._publish))
        runtime.journal = self

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return not self.stopped

    def _begin(self, meta: dict[str, Any]) -> None:
        try:
            meta.update(_origin(self._runtime))
            for key, value in meta.items():
                self._store.put(key, value)
            for agent in self._runtime.agents:
                self._store.agent_comes(agent.name, self.started)
            self._look([agent.name for agent in self._runtime.agents])
            self._store.commit()
        except (sqlite3.Error, OSError) as error:
            self._store.discard()
            raise RecordingError(str(self.path), f"it cannot be written: {error}") from None
        except BaseException:
            self._store.discard()
            raise

    # --- what comes in (the journal) ----------------------------------------------------------------------------------

    def sent(self, name: str, args: dict[str, Any]) -> None:
        """An input is taken.

        Args:
            name: of the input.
            args: plain values.
        """
        if not self._is_making():
            self._take("sent", -1, name, args)

    def answered(self, number: int, what: str, value: Any, error: BaseException | None) -> None:
        """The result of a call to the outside is taken.

        Args:
            number: which call of this runtime, from 0.
            what: the name of the function that was called.
            value: what it returned.
            error: what it raised, or None.
        """
        self._take("answered" if error is None else "failed", number, what, value if error is None else error)

    def posted(self, what: str) -> None:
        """A function was posted from outside, which cannot be kept. Safe from any thread.

        Args:
            what: its name.
        """
        tick = self._kernel.tick
        if tick > 0 and self.is_open:  # before the first tick it belongs to how the world is made
            self._posted.append((tick + 1, what))

    def closing(self, reason: str) -> None:
        """The runtime is about to be closed.

        Args:
            reason: why, in words.
        """
        self.close(reason)

    def _is_making(self) -> bool:
        """Whether what is taken was there before the recording began, in a world that was just made."""
        return self._kernel.tick == 1 and self._kernel.taking < self._made

    def _take(self, kind: str, number: int, name: str, value: Any) -> None:
        if not self.is_open:
            return  # a call that was made before it was closed still knows it
        try:
            text, problem = self._codecs.write(value)
            kernel = self._kernel
            place = kernel.taking
            self._inputs.append((kernel.tick, place, len(self._inputs), kind, number, name_in(name), text))
            if problem:
                self._unkept(f"{name} ({kind} in tick {kernel.tick}): {problem}")
        except ENDS_PROGRAM as error:
            self._fail(error)
            raise
        except BaseException as error:
            self._fail(error)

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
        with self._lock:
            if not self.is_open:
                return
            try:
                self._write_tick(self._kernel.tick)
            except ENDS_PROGRAM as error:
                self._fail(error)  # half of a tick is none
                raise
            except BaseException as error:
                self._fail(error)

    def _write_tick(self, tick: int) -> None:
        store = self._store
        records = self._pending.copy()
        self._pending.clear()
        if self._host != self._runtime.host:
            self._host = self._runtime.host
            store.put("host", self._host)
        while self._posted:
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
        store.end_tick(tick, len(records), self._lines.digest())
        self.ticks += 1

    def _write_records(self, tick: int, records: list[TraceRecord]) -> None:
        store = self._store
        packed = self._lines.pack(tick, records)
        store.put_trace(tick, packed)
        if packed.between and tick > 1:
            self._put_between(tick)
        names = list(dict.fromkeys([record[1] for record in records]))
        find = self._runtime.find
        for name in names:
            if store.knows(name):
                if find(name) is None:
                    store.agent_goes(name, tick)
            elif find(name) is not None:
                store.agent_comes(name, tick)
        self._look(names)

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

    def _draw(self, name: str, tick: int) -> None:
        """Write the trees of an agent; they are looked at with each of its whole views."""
        from agentrt.snapshot import outlines

        agent = self._runtime.find(name)
        if agent is not None and agent.attachments:
            for driver, outline in outlines(agent).items():
                self._store.put_outline(name, driver, tick, outline.as_json())

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
            try:
                self._store.close(self.stopped)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.ticks = self._store.committed
                self._report(f"the recording {self.path} could not be ended properly", error)

    def _fail(self, error: BaseException) -> None:
        """Nothing more can be written."""
        if not self.is_open:
            return
        self._let_go(error_words(error))
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
        if self._runtime.journal is self:
            self._runtime.journal = None

    def _report(self, text: str, error: BaseException | None) -> None:
        """Into the log, and never into the trace: watching does not change the run."""
        self._kernel.trace.report(text, error or RecordingError(str(self.path), text))

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_rest: object) -> None:
        self.close("closed" if error is None else error_words(error))

    def __repr__(self) -> str:
        state = "open" if self.is_open else f"stopped: {self.stopped}"
        return f"<Recorder: {self.path}, {self.ticks} ticks, {state}>"


def _check(
    views: object, keep_ticks: object, max_bytes: object, commit_every: object, meta: dict[str, Any] | None
) -> int:
    """Look at the options.

    Returns:
        At most one view of an agent in so many ticks; 0 for none.
    """
    for name, value, least in (("keep_ticks", keep_ticks, 1), ("max_bytes", max_bytes, LEAST_BYTES)):
        if value is not None and not _is_number(value, least):
            raise ValueError(f"{name} is {value!r}: it takes a whole number of at least {least}, or None")
    if not _is_number(commit_every, 1):
        raise ValueError(f"commit_every is {commit_every!r}: it takes a whole number of at least 1")
    own = [key for key in meta or {} if key in OWN_KEYS]
    if own:
        raise ValueError(f"meta has {own[0]!r}, which the recorder writes itself: choose another key")
    if views in ("changed", "none"):
        return int(views == "changed")
    if not _is_number(views, 1):
        raise ValueError(f"views is {views!r}: it takes 'changed', 'none', or a whole number of ticks")
    return int(views)  # type: ignore[call-overload, no-any-return]


def _check_header(seed: object, world: object, meta: object) -> None:
    """Look at what the header is to hold, before there is a file."""
    if type(seed) not in (int, str):
        raise ValueError(f"the runtime's seed is {seed!r}: a recording keeps a whole number or a text")
    if not isinstance(world, str):
        raise ValueError(f"world is {world!r}: it takes the name of a world, or an empty text")
    try:
        json.dumps(meta, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"meta is no plain data: {error}") from None


def _is_number(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _origin(runtime: Runtime) -> dict[str, Any]:
    """Where and when it was recorded, and what a replay needs to know."""
    return {
        "schema": SCHEMA,
        "agentrt": library_version(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "host": runtime.host,
        "seed": runtime.kernel.seed,
        "ticks_per_second": runtime.clock.ticks_per_second,
        "started": runtime.tick,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ended": "",
    }
