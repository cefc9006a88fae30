"""Where shards live: what a place has to offer, what every place does, and the place that is this very process.

A *place* has one or more shards of one world. It is handed requests, plain data, and answers them in order; between the
two whoever asked may ask other places, so that they work at the same time. What differs between places is how requests
come there. What is done with them is the same everywhere (``Tenants``), so a shard cannot tell where it lives.

With a folder for journals each shard is recorded there, and committed at every barrier. A place that is started anew
finds the journals, and each shard comes back by its own, as any recorded run is resumed: what came in comes in again,
up to the last barrier that was written down, from the beginning or the last epoch (see ``agentrt.runtime.epochs``). A
shard whose journal cannot be repeated is an error, and is never begun anew.

Rules:

* A window is opened once: a request with the number of another one than the next is an error.
* An answer can be asked for again (``open``) as long as the next window is not open.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Required, TypedDict

from agentrt.errors import DataFault, RecordingError, ShardError
from agentrt.kernel.trace import TraceDigest
from agentrt.record.resume import resume
from agentrt.record.schema import STILL_WRITTEN
from agentrt.shards.shard import WINDOW_INPUT, Inbound, Outbound, ShardedWorld
from agentrt.words import counted, words_of
from agentrt.worlds import Value, measure_world

if TYPE_CHECKING:
    from agentrt.runtime.intake import RunRecorder
    from agentrt.runtime.runtime import Runtime
    from agentrt.shards.eye import Eye
    from agentrt.shards.shard import Shard


class ShardRequest(TypedDict):
    """What a place is asked to do with one of its shards.

    * ``open``: make it, or have it come back by its journal; the answer is a ``report``.
    * ``window``: open a window with what comes in, and run it; the answer is a ``report``.
    * ``measure``: measure it.
    * ``look``: say what there is to see of it; see ``eye``.
    """

    ask: str
    shard: int
    windows: int  # how many it has run, or must have run by its journal
    inbound: Inbound | None  # for a window
    look: str  # what somebody looks at; empty for all else


class ShardAnswer(TypedDict, total=False):
    """What a place answers for one of its shards: which one it is, and what was asked for."""

    shard: Required[int]
    report: Outbound  # what it tells at its barrier
    measures: dict[str, Value]  # what the world measures of it
    sight: str  # what there is to see of it


class Tenancy(TypedDict):
    """What all shards of a run have in common, as plain data."""

    world: str  # its name
    app: str  # where another process finds it, as ``module:name``; empty for one that is installed, or of the project
    shards: int
    seed: int
    params: dict[str, Value]  # that were given, checked
    journals: str  # the folder of what the shards write down; empty for nothing
    durability: Literal["process", "power"]  # what these survive


class ShardPlace(Protocol):
    """A place where shards can live."""

    def start(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        """Begin, or begin anew after it was lost; it has no shards before it is asked to open some."""
        ...

    def ask(self, requests: Sequence[ShardRequest]) -> None:
        """Hand over what is to be done; returns at once where somebody else does it."""
        ...

    def answers(self) -> list[ShardAnswer]:
        """The answers to what was asked last, in that order.

        Raises:
            ShardLostError: the place is gone, with all that is not written down.
            ShardError: a shard cannot go on.
        """
        ...

    def close(self) -> None:
        """End it. Calling it twice does nothing."""
        ...


class Tenants:
    """The shards of one place, as requests reach them."""

    def __init__(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        self._world = world
        self._tenancy = tenancy
        self._shards: dict[int, _Tenant] = {}

    def answer(self, request: ShardRequest) -> ShardAnswer:
        """Do what is asked."""
        number, inbound = request["shard"], request["inbound"]
        if request["ask"] == "open" and number not in self._shards:
            self._shards[number] = _Tenant(self._world, self._tenancy, number, request["windows"])
        tenant = self._shards[number]
        if inbound is not None:
            return {"shard": number, "report": tenant.run_window(inbound)}
        if request["ask"] == "look":
            return {"shard": number, "sight": tenant.look(request["look"])}
        if request["ask"] == "measure":
            return {"shard": number, "measures": measure_world(self._world, tenant.runtime)}
        return {"shard": number, "report": tenant.open()}

    def close(self) -> None:
        """Close all shards; what they write down can go on later."""
        for tenant in self._shards.values():
            tenant.close()
        self._shards.clear()


class _Tenant:
    """One shard with its recorder."""

    def __init__(self, world: ShardedWorld, tenancy: Tenancy, number: int, windows: int) -> None:
        self._world = world
        self._number = number
        self._durability: Literal["process", "power"] = tenancy["durability"]
        self._params = {**tenancy["params"], "shards": tenancy["shards"], "shard": number}
        self._known: set[str] = set()  # whose names were told
        self._recorder: RunRecorder | None = None
        self._digest = ""  # if nothing is recorded
        self._eye: Eye | None = None  # once somebody has looked
        journal = Path(tenancy["journals"]) / f"shard-{number}.sqlite" if tenancy["journals"] else None
        if journal is not None and windows == 0:
            _discard_unbegun(journal)
        if journal is not None and journal.exists():
            self._come_back(journal)
        else:
            self._make(seed=tenancy["seed"], host="plain")
            if journal is None:
                self._hash()
            else:
                self._recorder = self._record(journal)
        if self._shard.windows < windows:
            problem = f"its journal has {counted(self._shard.windows, 'window')}, and {windows} were run"
            self.close()  # nobody else knows it, and its journal is open
            raise ShardError(number, f"{problem}. Put the journal back, or begin the run anew in another folder")

    def _make(self, *, seed: int, host: str, **_: object) -> Runtime:
        self._shard: Shard
        self.runtime: Runtime
        defaults = {name: one.default for name, one in self._world.parameters.items()}
        self._shard, self.runtime = self._world.shard(seed=seed, host=host, params={**defaults, **self._params})
        return self.runtime

    def _hash(self) -> None:
        """Hash its trace up to its last tick, as a recorder does: what comes after it belongs to the next one."""
        digest = TraceDigest(self.runtime.trace)

        def mark() -> None:
            self._digest = digest.hexdigest()

        mark()
        self.runtime.after_tick(mark)

    def _record(self, journal: Path) -> RunRecorder:
        """Write it down; a barrier is the only place to which it has to come back."""
        return self.runtime.record(
            journal,
            world=self._world.name,
            params=self._params,
            views="none",
            drawings="none",
            commit_every=self._world.window,
            durability=self._durability,
        )

    def open(self) -> Outbound:
        """What it tells at its barrier, with all names."""
        self._known = set()
        return self._report()

    def run_window(self, inbound: Inbound) -> Outbound:
        """Open the next window, and run it."""
        if inbound["number"] != self._shard.windows:
            problem = f"it was asked for window {inbound['number']}, and the next one is {self._shard.windows}"
            raise ShardError(self._number, problem, tick=self.runtime.tick)
        self.runtime.send(WINDOW_INPUT, **inbound)
        for _ in range(self._world.window):
            self.runtime.step()
        if self._recorder is not None and not self._recorder.is_open:  # without it, it could not come back
            problem = f"its journal ends here: {self._recorder.stopped}"
            raise ShardError(self._number, problem, tick=self.runtime.tick)
        return self._report()

    def look(self, look: str) -> str:
        """What there is to see of it."""
        if self._eye is None:
            from agentrt.shards.eye import Eye  # a shard that nobody looks at loads nothing of an inspector

            self._eye = Eye(self._shard, self.runtime)
        return self._eye.look(look)

    def _report(self) -> Outbound:
        digest = self._digest if self._recorder is None else self._recorder.digest
        outbound = self._shard.report(digest, self._known)
        self._known.difference_update(outbound["went"])
        self._known.update(outbound["came"])
        return outbound

    def close(self) -> None:
        if not self.runtime.kernel.in_tick:
            self.runtime.close("its shards are closed")

    def _come_back(self, journal: Path) -> None:
        """Run again what the journal says, from the last epoch that it has, and go on in it."""
        try:
            self._resume(journal)
        except DataFault as error:
            problem = error.problem if isinstance(error, RecordingError) else words_of(error)
            remedy = "Put back the journal, or the code that wrote it; or begin the run anew in another folder"
            if problem == STILL_WRITTEN:
                remedy = "End that process, then run it again"
            raise ShardError(self._number, f"its journal, {journal.name}: {problem}. {remedy}") from None
        self._recorder = self.runtime.recorder
        while self.runtime.tick % self._world.window:  # it ended within a window, whose input it has
            self.runtime.step()

    def _resume(self, journal: Path) -> None:
        """Whoever was led by somebody who was killed finishes the window that he is in before he hears of it."""
        last = time.monotonic() + _PATIENCE
        while True:
            try:
                resume(journal, self._make, durability=self._durability).__enter__()  # ``close`` ends it
                return
            except RecordingError as error:
                if error.problem != STILL_WRITTEN or time.monotonic() > last:
                    raise
            time.sleep(0.05)


_PATIENCE = 30.0  # real seconds: a window is much shorter


def _discard_unbegun(journal: Path) -> None:
    """Take away a journal that has not even a beginning: whoever made it died in that moment.

    Its tables and its header are written in one transaction, so such a file has no page. Any other one that is no
    recording is somebody's, or is damaged, and stays.
    """
    pages = None
    if journal.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(journal)) as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if pages == 0:
        for ending in ("", "-wal", "-shm"):  # what SQLite leaves beside it
            Path(f"{journal}{ending}").unlink(missing_ok=True)


class LocalShards:
    """Shards that live here, in this process, one after the other: no faster than without, and nothing is started."""

    def __init__(self) -> None:
        self._tenants: Tenants | None = None
        self._asked: list[ShardRequest] = []

    def start(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        """See ``ShardPlace``."""
        self.close()
        self._tenants = Tenants(world, tenancy)

    def ask(self, requests: Sequence[ShardRequest]) -> None:
        """See ``ShardPlace``; what is asked is done when the answers are fetched, so that others are asked first."""
        self._asked = list(requests)

    def answers(self) -> list[ShardAnswer]:
        """See ``ShardPlace``."""
        assert self._tenants is not None, "it was not started"
        asked, self._asked = self._asked, []
        return [self._tenants.answer(request) for request in asked]

    def close(self) -> None:
        """See ``ShardPlace``."""
        if self._tenants is not None:
            self._tenants.close()
            self._tenants = None
