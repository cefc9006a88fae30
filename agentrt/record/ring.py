"""The past of a run that goes on: its last ticks in memory, and recordings that are written of them when asked for.

A ``Recorder`` writes a run down, whole, while it goes on. A ``RingRecorder`` only keeps what happened lately, for
somebody who may want to go back: nothing is written, packed or hashed until then. Rules:

* It never changes the run, and it is no journal: what comes in from outside is not kept, so that a program can still
  begin to record. What is written of it can be looked at in any of its ticks and cannot be replayed, and says so.
* It is bounded twice, in ticks and in bytes; the oldest ticks go first. Bytes are those of packed records and of packed
  views. Beside them it remembers the last view of a few hundred agents, to tell what changed.
* Records cost next to nothing to keep: those of a tick are ``bytes`` of ``marshal``, which are made sooner than their
  sizes are added up, take a fifth of their memory, and are nothing that the garbage collector has to look at. Who keeps
  records besides, as the inspector does, hands them over as such (``hear``), so that they are made once.
* Views and drawings are dear, so that they get a small share of the time that ticks take, and a larger one of the rest
  between them: with a game's pause after each tick it is enough for all, and a world that runs at full speed is seen
  less often. The time of ticks is that of the processor, for this thread: what else keeps the machine busy earns
  nothing. Nor does the work of another world between two ticks: it is no rest. To ask for that time is a call of the
  system: of ticks that follow upon each other without a rest some are measured, and the others are taken to be as long.
  Who is looked at comes first. A view that is older than what happened since says so (``unseen_since``), so nobody
  takes it for what it is not.
* A patch needs the views before it. So views of ticks that are dropped are folded into a *base*, with which every
  file begins that is written.

One thread keeps, others may write: what they share is copied under a lock, for as long as it takes to copy a list.
"""

from __future__ import annotations

import json
import marshal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Kept, TraceEvent, TraceRecord
from agentrt.record.lines import LineWriter, pack, unpack
from agentrt.record.recorder import LEAST_BYTES, origin_of
from agentrt.record.storage import Store
from agentrt.record.views import UNSEEN, DrawingWriter, ViewWriter
from agentrt.snapshot import outlines

if sys.platform == "linux":
    import resource

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime

RING_TICKS = 2000
RING_BYTES = 64 * 1024 * 1024

_FOR_VIEWS, _FOR_DRAWINGS = (0.02, 0.12), (0.005, 0.06)  # shares of the time of ticks, and of the rest between them
_SAVED, _MOST_OWED = 0.02, 0.2  # seconds that can be saved up, and owed
_SHORT_REST, _UNMEASURED_SECONDS = 0.001, 0.008  # a tick after less than both is taken to be as the one measured last
_MOST_LAST_VIEWS = 256
_SEGMENT_TICKS = 64  # of a file: it is read from somewhere in its middle
_A_TICK = 600  # bytes, beside its records and views

_EVENTS = {event.value: event for event in TraceEvent}

_AGENT = itemgetter(1)


class KeptTick(NamedTuple):
    """One tick of a ring."""

    tick: int
    amount: int  # of records
    parts: tuple[bytes, ...]  # the records, packed; they never leave this process
    came: list[str]  # agents
    gone: list[str]
    trees: list[tuple[str, str, bytes]]  # agent, driver, and the mark of its outline
    views: list[tuple[str | None, bool, bytes]]  # as a ``Store`` takes them, packed; None: the world's drawing
    size: int

    @property
    def records(self) -> list[Kept]:
        """What happened in it."""
        return list(chain.from_iterable(map(unpacked, self.parts)))


@dataclass(slots=True)
class _Base:
    """What stood when the oldest tick that is kept began."""

    agents: dict[str, int] = field(default_factory=dict)  # since which tick
    trees: dict[tuple[str, str], tuple[int, bytes]] = field(default_factory=dict)
    views: dict[str | None, list[tuple[int, bool, bytes]]] = field(default_factory=dict)
    size: int = 0

    def fold(self, kept: KeptTick) -> None:
        for name in kept.gone:
            self.agents.pop(name, None)
            self._forget(name)
            self.trees = {key: tree for key, tree in self.trees.items() if key[0] != name}
        self.agents.update(dict.fromkeys(kept.came, kept.tick))
        self.trees.update({(name, driver): (kept.tick, mark) for name, driver, mark in kept.trees})
        for whose, is_whole, data in kept.views:
            if is_whole:
                self._forget(whose)
            self.views.setdefault(whose, []).append((kept.tick, is_whole, data))
            self.size += len(data)

    def _forget(self, whose: str | None) -> None:
        self.size -= sum(len(data) for _, _, data in self.views.pop(whose, ()))

    def copy(self) -> _Base:
        views = {whose: list(rows) for whose, rows in self.views.items()}
        return _Base(dict(self.agents), dict(self.trees), views, self.size)


def _pauses() -> int:
    """How often this thread has waited for something; who is only kept from the processor by others does not rest."""
    pauses = time.perf_counter_ns()  # where nobody tells: it may be rest
    if sys.platform == "linux":
        pauses = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    return pauses


class Allowance:
    """Shares of the time that passes, which may be spent on what can wait; a little can be saved up."""

    __slots__ = ("_clock", "_left", "_of_busy", "_of_idle")

    def __init__(self, shares: tuple[float, float], clock: Callable[[], float]) -> None:
        self._of_busy, self._of_idle = shares
        self._clock = clock
        self._left = _SAVED

    def earn(self, busy: float, idle: float) -> None:
        """So many seconds were spent in ticks, and rested between them."""
        self._left = min(_SAVED, self._left + self._of_busy * busy + self._of_idle * idle)

    def allows(self) -> bool:
        return self._left > 0

    def pay(self, begin: float) -> None:
        """Pay for what was done since ``begin``; what took very long is not paid for ever."""
        self._left = max(-_MOST_OWED, self._left - (self._clock() - begin))


class RingRecorder:
    """The last ticks of a runtime, from when it is made on; ``end_tick`` is to be called after each.

    Args:
        runtime: whose.
        keep_ticks: how many at most.
        max_bytes: how many bytes they may take, about.
        clock: gives real seconds, from any start.
        working: gives those in which the processor worked for this thread; by default the system's. With a clock of
            one's own and none of these, nothing works between ticks.
        hears: whether it listens to the trace. If not, who made it hands it what it has heard (``hear``), before the
            tick is kept: so whoever keeps records anyway has them made once.
    """

    def __init__(
        self,
        runtime: Runtime,
        keep_ticks: int = RING_TICKS,
        max_bytes: int = RING_BYTES,
        *,
        clock: Callable[[], float] = time.perf_counter,
        working: Callable[[], float] | None = None,
        hears: bool = True,
    ) -> None:
        self.keep_ticks: int = keep_ticks
        self.max_bytes: int = max_bytes
        self.watched: frozenset[str] = frozenset()  # agents whose views come before those of others
        self._runtime = runtime
        self._clock = clock
        self._lock = threading.Lock()
        self._header = origin_of(runtime)
        self._ticks: deque[KeptTick] = deque()
        self._size = 0
        self._base = _Base({agent.name: runtime.tick for agent in runtime.agents})
        self._there = set(self._base.agents)
        self._outlines: dict[bytes, bytes] = {}  # packed, by their marks: agents of a kind share them
        self._pending: list[Kept] = []  # what it has heard itself
        self._parts: list[bytes] = []  # of the tick that is to be kept next, the records, packed
        self._amount = 0  # how many those are
        self._names: dict[str, None] = {}  # whose
        self._waiting: dict[str, None] = dict.fromkeys(self._base.agents)  # who is to be looked at, the longest first
        self._unseen: set[str] = set()  # of those, whose last view says that it is old
        self._views = ViewWriter(runtime.find, most_kept=_MOST_LAST_VIEWS)
        self._drawings = DrawingWriter(runtime.draw)
        if working is None:
            working = time.thread_time if clock is time.perf_counter else clock
        self._working = working
        self._for_views = Allowance(_FOR_VIEWS, working)
        self._for_drawings = Allowance(_FOR_DRAWINGS, working)
        self._begun = self._ended = working()  # the tick that runs, and the one that was measured last
        self._busy = 0.0  # what that one took
        self._is_measured = True  # the tick that runs
        self._rest_since = self._measured_at = clock()
        self._rest = 0.0  # before the tick that runs
        self._paused = 0  # what ``_pauses`` said at its end
        self._close_hooks = [runtime.kernel.before_tick(self._begin)]
        if hears:
            self._close_hooks.append(runtime.trace.keep(self._pending.append))

    # --- what is kept -------------------------------------------------------------------------------------------------

    @property
    def first_tick(self) -> int:
        """The oldest tick that is kept; the next one to come if there is none."""
        ticks = self._ticks
        try:
            return ticks[0].tick
        except IndexError:
            return self._runtime.tick + 1

    @property
    def last_tick(self) -> int:
        """The newest tick that is kept; the one before the first if there is none."""
        ticks = self._ticks
        try:
            return ticks[-1].tick
        except IndexError:
            return self._runtime.tick

    @property
    def size(self) -> int:
        """Of what is kept, in bytes, about."""
        return self._size + self._base.size

    def since(self, tick: int) -> tuple[list[KeptTick], _Base]:
        """What is kept from a tick on, and what stood before that."""
        with self._lock:
            ticks, base = list(self._ticks), self._base.copy()
        while ticks and ticks[0].tick < tick:
            base.fold(ticks.pop(0))
        return ticks, base

    def after(self, tick: int) -> list[KeptTick] | None:
        """What is kept after a tick; None if some of that was dropped."""
        with self._lock:
            ticks = self._ticks
            missing = 0 if not ticks else ticks[-1].tick - tick
            if missing > len(ticks):
                return None
            return [ticks[index] for index in range(len(ticks) - missing, len(ticks))]

    def lately(self, agent: str, first: int, most: int, without: Container[str] = ()) -> list[Kept]:
        """The newest records of an agent from a tick on, in order, but for some kinds; on the thread that keeps."""
        found: list[Kept] = []
        for kept in reversed(self._ticks):
            if kept.tick < first or len(found) >= most:
                break
            found += [one for one in reversed(kept.records) if one[1] == agent and one[3] not in without]
        return found[:most][::-1]

    def header(self) -> dict[str, Any]:
        """What a file that is written of it says about itself."""
        seed = self._header["seed"]
        return {**self._header, "seed": seed if type(seed) in (int, str) else str(seed), "host": self._runtime.host}

    def outline(self, mark: bytes) -> object:
        return unpack(self._outlines[mark], "the ring")

    # --- a tick -------------------------------------------------------------------------------------------------------

    def hear(self, records: list[Kept], data: bytes) -> None:
        """Take what was heard of the tick that is to be kept next, and the same packed; if it does not listen."""
        if self._close_hooks:
            self._parts.append(data)
            self._amount += len(records)
            self._names.update(dict.fromkeys(map(_AGENT, records)))

    def end_tick(self) -> None:
        """Keep the tick that has just ended. What fails in here ends the ring, is reported, and reaches nobody."""
        if not self._close_hooks:
            return
        try:
            self._keep(self._runtime.tick)
        except BaseException as error:
            self.close()
            if isinstance(error, ENDS_PROGRAM):
                raise
            self._runtime.trace.report("the last ticks of the run are not kept any longer", error)

    @property
    def is_open(self) -> bool:
        """Whether it keeps what happens."""
        return bool(self._close_hooks)

    def _begin(self) -> None:
        now, was_measured = self._clock(), self._is_measured
        rest = now - self._rest_since
        is_due = rest >= _SHORT_REST or now - self._measured_at >= _UNMEASURED_SECONDS
        self._is_measured = is_due or self._working is self._clock
        self._rest = 0.0
        if self._is_measured:
            self._begun = self._working()
            if self._working is self._clock:
                self._rest = max(0.0, rest)
            elif was_measured and _pauses() != self._paused:  # else it is not known how it rested: hardly
                self._rest = max(0.0, rest - (self._begun - self._ended))

    def _keep(self, tick: int) -> None:
        if self._is_measured:
            self._busy = self._working() - self._begun
        for allowance in (self._for_views, self._for_drawings):
            allowance.earn(self._busy, self._rest)
        if self._pending:
            self.hear(self._pending, packed(self._pending))
            self._pending.clear()  # the list stays: its ``append`` is what listens to the trace
        parts, amount, names = self._parts, self._amount, self._names
        self._parts, self._amount, self._names = [], 0, {}
        size = _A_TICK + sum(map(len, parts))
        came, gone = self._comings(names)
        trees: list[tuple[str, str, bytes]] = []
        views = [*self._look(tick, names, trees), *self._draw(tick)]
        size += sum(len(data) for _, _, data in views)
        with self._lock:
            if self._ticks and tick != self._ticks[-1].tick + 1:  # nobody told of the ticks between: no row of them
                self._restart(tick)
            self._ticks.append(KeptTick(tick, amount, tuple(parts), came, gone, trees, views, size))
            self._size += size
            while len(self._ticks) > self.keep_ticks or (self.size > self.max_bytes and len(self._ticks) > 1):
                dropped = self._ticks.popleft()
                self._size -= dropped.size
                self._base.fold(dropped)
        if self._is_measured:
            self._begun = self._ended = self._working()
            self._paused, self._measured_at = _pauses(), self._clock()
        self._rest_since = self._clock()

    def _restart(self, tick: int) -> None:
        while self._ticks:
            dropped = self._ticks.popleft()
            self._size -= dropped.size
            self._base.fold(dropped)

    def _comings(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Who came and who went; both have a record of it."""
        came: list[str] = []
        gone: list[str] = []
        for name in names:
            is_there = self._runtime.find(name) is not None
            if is_there and name not in self._there:
                self._there.add(name)
                came.append(name)
            elif not is_there and name in self._there:
                self._there.remove(name)
                gone.append(name)
        return came, gone

    # --- views --------------------------------------------------------------------------------------------------------

    def _look(
        self, tick: int, names: Iterable[str], trees: list[tuple[str, str, bytes]]
    ) -> list[tuple[str | None, bool, bytes]]:
        """Look at who has changed, as far as there is time for that, those first who have waited longest."""
        allowance, waiting, found = self._for_views, self._waiting, list[tuple[str | None, bool, bytes]]()
        due = self._views.due(tick, names)
        waiting.update(due)
        first = [name for name in self.watched if name in waiting]
        for name in (*first, *waiting) if allowance.allows() else ():
            if name not in waiting:
                continue
            if not allowance.allows():
                break
            begin = self._working()
            del waiting[name]
            self._unseen.discard(name)
            written = self._views.look_at(tick, name)
            if written is not None:
                found.append((name, written[0], pack(written[1])))
                if written[0]:
                    self._note_trees(name, trees)
            allowance.pay(begin)
        for name in due:  # only these can be news: who waits already has said so
            if name in waiting and name in self._there and name not in self._unseen:
                self._unseen.add(name)
                if self._views.mark_unseen(name, tick):
                    found.append((name, False, pack({"~": {UNSEEN: {"=": tick}}})))
        return found

    def _note_trees(self, name: str, trees: list[tuple[str, str, bytes]]) -> None:
        agent: Agent | None = self._runtime.find(name)
        if agent is not None and agent.attachments:
            for driver, outline in outlines(agent).items():
                data = outline.as_json()
                mark = blake2b(json.dumps(data).encode(), digest_size=16).digest()
                if mark not in self._outlines:
                    self._outlines[mark] = pack(data)
                trees.append((name, driver, mark))

    def _draw(self, tick: int) -> list[tuple[str | None, bool, bytes]]:
        allowance = self._for_drawings
        if self._runtime.drawing is None or not allowance.allows():
            return []
        begin = self._working()
        drawn = self._drawings.look(tick)
        found: list[tuple[str | None, bool, bytes]] = [] if drawn is None else [(None, drawn[0], pack(drawn[1]))]
        allowance.pay(begin)
        return found

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Listen no longer; what is kept can still be written. Calling it twice does nothing."""
        for close in self._close_hooks:
            close()
        self._close_hooks.clear()
        self._pending.clear()
        self._parts.clear()

    def __repr__(self) -> str:
        return f"<RingRecorder: ticks {self.first_tick} to {self.last_tick}, {self.size} bytes>"


def packed(records: list[Kept]) -> bytes:
    """Records as few bytes, which never leave this process."""
    try:
        return marshal.dumps(records)
    except ValueError:  # a text of a class of somebody's own, in a path or a name
        exact = str.__str__
        return marshal.dumps([
            (tick, exact(agent), exact(path), event, tuple([(exact(name), value) for name, value in detail]))
            for tick, agent, path, event, detail in records
        ])  # fmt: skip


def unpacked(data: bytes) -> list[Kept]:
    """What ``packed`` packed."""
    found: list[Kept] = marshal.loads(data)  # noqa: S302 - this process has packed it
    return found


class RingFile:
    """A recording that is written of a ring: of what it keeps from a tick on, and later of what it keeps since.

    Args:
        path: where to; there must be nothing yet.
        ring: what is written.
        first: the first tick; an older one than is kept means the oldest.
        meta: more plain data for the header.

    Raises:
        RecordingError: the file cannot be made.
    """

    def __init__(self, path: Path, ring: RingRecorder, first: int = 0, meta: dict[str, Any] | None = None) -> None:
        ticks, base = ring.since(first)
        self._ring = ring
        self._store = Store(path, ring.keep_ticks, max(ring.max_bytes, LEAST_BYTES), commit_every=1_000_000)
        self._lines = LineWriter(_SEGMENT_TICKS, ring.max_bytes // 16)
        self.path: Path = path
        self.last_tick: int = (ticks[0].tick if ticks else ring.last_tick + 1) - 1  # that is written
        try:
            header = {**(meta or {}), "world": "", "views": "past", "drawings": "past", **ring.header()}
            for key, value in {**header, "started": self.last_tick, "past": True}.items():
                self._store.put(key, value)
            self._write_base(base)
            self._write(ticks)
        except BaseException:
            self._store.discard()
            raise

    def catch_up(self) -> bool:
        """Write what was kept since; False if some of that is dropped already, so that another file has to be begun."""
        ticks = self._ring.after(self.last_tick)
        if ticks is None:
            return False
        if ticks:
            self._write(ticks)
        return True

    def _write_base(self, base: _Base) -> None:
        for name, since in base.agents.items():
            self._store.agent_comes(name, since)
        for (name, driver), (tick, mark) in base.trees.items():
            self._store.put_outline(name, driver, tick, self._ring.outline(mark))
        for whose, rows in base.views.items():
            for tick, is_whole, data in rows:
                self._store.put_packed_view(whose, tick, is_whole, data)

    def _write(self, ticks: list[KeptTick]) -> None:
        store, lines = self._store, self._lines
        for kept in ticks:
            tick = kept.tick
            if kept.amount:
                records = [
                    TraceRecord(at, who, path, _EVENTS[event], pairs) for at, who, path, event, pairs in kept.records
                ]
                store.put_trace(tick, lines.pack(tick, records))
            for name in kept.gone:
                store.agent_goes(name, tick)
            for name in kept.came:
                store.agent_comes(name, tick)
            for name, driver, mark in kept.trees:
                store.put_outline(name, driver, tick, self._ring.outline(mark))
            for whose, is_whole, data in kept.views:
                store.put_packed_view(whose, tick, is_whole, data)
            store.end_tick(tick, kept.amount, lines.digest())
            self.last_tick = tick
        store.commit()

    def close(self, why: str) -> None:
        """End it, and leave one whole file behind."""
        self._store.close(why)

    def discard(self) -> None:
        """Close it, and take the file away."""
        self._store.discard()


def save_ring(ring: RingRecorder, path: Path, ticks: int, meta: dict[str, Any] | None = None) -> range:
    """Write the last so many ticks of a ring into a file of their own.

    Returns:
        Which ticks that are; none if nothing is kept yet.

    Raises:
        RecordingError: the file cannot be made.
    """
    first = max(ring.first_tick, ring.last_tick - ticks + 1)
    written = RingFile(path, ring, first, meta)
    written.close("the run went on")
    return range(first, written.last_tick + 1)
