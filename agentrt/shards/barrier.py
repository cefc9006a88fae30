"""The barrier: what brings the shards of a world together between two windows.

It opens a window in all shards, waits until all have run it, and makes of what they tell what the next window brings
each of them. Rules:

* What a barrier gives depends on what the shards told and on nothing else: they are gone through by their numbers,
  messages are sorted, and who answered first is not to be seen. So the run is the same wherever the shards live.
* It has the *directory*: in which shard each agent is, or will be when the next window opens. Messages to agents are
  led by it.
* It checks what must not change: an agent is in one shard, a shard has as many as it should, and the messages that were
  sent are those that were taken, that found nobody, and that are under way (``Tally``). What does not agree is a
  ``ShardError`` at this barrier; nothing goes on after that.
* A place that is lost is started anew, and its shards come back by their journals; the others wait. One that is lost
  again and again at the same barrier is an error.
* What is sent from outside is a message as those of the shards, of source -1, due in the first tick of the next window.
* What a window brings is written down before anybody is told (``_Journal``). So whoever opens the folder after this
  process has died finds each shard before or after that window, and goes on from there.

A run is fixed by world, seed, parameters, number of shards and window. Its ``digest`` is made of those of the shards.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from agentrt.errors import DefinitionError, ShardError, ShardLostError, WrongStateError
from agentrt.shards.places import LocalShards, ShardAnswer, ShardPlace, ShardRequest, Tenancy
from agentrt.shards.shard import Inbound, Outbound, Row, ShardedWorld, Tally, copied, in_order, no_shard
from agentrt.words import counted, few, repr_of
from agentrt.worlds import checked_params

if TYPE_CHECKING:
    from agentrt.inspect.sessions import Source
    from agentrt.shards.overview import Watcher
    from agentrt.worlds import Value

_MOST_LOSSES = 5  # of one place at one barrier
_OUTSIDE = -1  # the source of a message that no shard has sent
_WAIT_SECONDS = 0.02  # how often somebody who looks on is asked whether to go on
_MASK = (1 << 64) - 1


class Shards:
    """All shards of a world. Also a context manager.

    Args:
        world: the world.
        shards: into how many it is cut.
        seed: of all that is random.
        params: values for its parameters, by name.
        places: where the shards live, dealt out in turn; one place here by default.
        folder: where the journals of the shards are, and that of the barrier; made if it is not there. One that has
            journals goes on with them. None writes nothing down, and a lost place ends the run.
        app: where the world is found by another process, as ``module:name``; empty for one that is installed, or that
            of the project.
        durability: what is written down survives the end of the ``"process"``, or also that of the ``"power"``: then
            every barrier waits for the disk, once for who leads and once for each shard.

    Raises:
        ShardError: the folder is that of another run, or is used; a shard cannot come back.
        DefinitionError: a place is given twice, or the durability is neither.
        ParameterError: the world does not take the parameters.
    """

    def __init__(
        self,
        world: ShardedWorld,
        shards: int,
        *,
        seed: int = 0,
        params: Mapping[str, object] | None = None,
        places: Sequence[ShardPlace] = (),
        folder: str | Path | None = None,
        app: str = "",
        durability: Literal["process", "power"] = "process",
    ) -> None:
        checked = checked_params(world, {**(params or {}), "shards": shards})
        own = {name: value for name, value in checked.items() if name not in ("shard", "shards")}
        self.world: ShardedWorld = world
        self.shards: int = shards
        self.windows: int = 0  # how many are over
        self.losses: int = 0  # how often a place was lost, and came back
        self._places: tuple[ShardPlace, ...] = tuple(places) or (LocalShards(),)
        if len({id(place) for place in self._places}) < len(self._places):
            raise DefinitionError(
                "Shards", "a place is given twice.", "Make one for each: [PipeShards(), PipeShards()]."
            )
        if durability not in ("process", "power"):
            problem = f"its durability is {repr_of(durability, 80)}."
            raise DefinitionError("Shards", problem, "Choose 'process' or 'power'.")
        journals = "" if folder is None else str(Path(folder).resolve())
        self._tenancy: Tenancy = {
            "world": world.name,
            "app": app,
            "shards": shards,
            "seed": seed,
            "params": own,
            "journals": journals,
            "durability": durability,
        }
        self._homes: dict[str, int] = {}  # the directory
        self._watchers: list[Watcher] = []
        self._is_broken = self._is_closed = False  # broken: a window was not run to its end
        self._turn = threading.RLock()  # of who does something with the shards: one thread at a time
        self._lock = threading.Lock()  # for what is sent, from any thread
        self._inbox: list[Row] = []  # what was sent from outside, for the next window
        self._sent = Tally()  # of all that was
        self._counts = [0] * shards  # how many agents are, or will be, in each
        self._journal = None if folder is None else _Journal(Path(journals), self._tenancy, world.window)
        try:
            for place in self._places:
                place.start(world, self._tenancy)
            self._reports: list[Outbound] = self._open()
        except BaseException:
            self.close()
            raise

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """The last tick that all have run."""
        return self.windows * self.world.window

    @property
    def agents(self) -> int:
        """How many agents there are in all shards, and on their way."""
        return len(self._homes)

    def where(self, name: str) -> int | None:
        """In which shard an agent is, or will be when the next window opens; None if it is nowhere."""
        return self._homes.get(name)

    @property
    def digests(self) -> list[str]:
        """The digest of each shard's run so far."""
        return [report["digest"] for report in self._reports]

    @property
    def digest(self) -> str:
        """A hash of all runs so far: equal for equal runs, wherever the shards live."""
        return blake2b(":".join(self.digests).encode(), digest_size=16).hexdigest()

    @property
    def moving(self) -> int:
        """How many agents move at this barrier."""
        return sum(len(report["leaving"]) for report in self._reports)

    @property
    def messages(self) -> dict[str, int]:
        """How many messages there were so far: sent, taken, dead (they found nobody), and under way."""
        names = ("sent", "taken", "dead", "waiting")
        told = {name: sum(report["tallies"][at][0] for report in self._reports) for at, name in enumerate(names)}
        return {**told, "sent": told["sent"] + self._sent.count}

    def measure(self) -> list[dict[str, Value]]:
        """What the world measures of each shard."""
        with self._alone("measure"), self._halfway():
            asked = {shard: _request("measure", shard, self.windows) for shard in range(self.shards)}
            return [answer.get("measures", {}) for answer in self._round(asked)]

    # --- looking ------------------------------------------------------------------------------------------------------

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Have somebody look on from now on; gives back what ends that, which may be called twice."""
        self._watchers.append(watcher)

        def leave() -> None:
            self._watchers = [one for one in self._watchers if one is not watcher]

        return leave

    def see(self, looks: Mapping[int, str]) -> dict[int, str]:
        """What there is to see of some shards, as they stand at this barrier; see ``eye``."""
        with self._alone("see"), self._halfway():
            asked = {shard: _request("look", shard, self.windows, look=look) for shard, look in looks.items()}
            return {answer["shard"]: answer.get("sight", "") for answer in self._round(asked)}

    def source(self, title: str, *, controls: bool) -> Source:
        """What an inspector of these shards shows; ``Inspector(shards)`` asks for it."""
        from agentrt.shards.overview import Overview  # a run that nobody looks at loads nothing of an inspector

        return Overview(self, title, controls=controls)

    # --- windows ------------------------------------------------------------------------------------------------------

    def run(self, windows: int = 1) -> None:
        """Run some windows more.

        Raises:
            ShardError: a shard broke a rule, or what must not change has changed.
            ShardLostError: a place is lost, and cannot come back.
            WrongStateError: a window runs, in another thread.
        """
        for _ in range(windows):
            while not self._attempt():
                time.sleep(_WAIT_SECONDS)

    async def arun(self, windows: int = 1) -> None:
        """As ``run``, in an event loop (asyncio or trio), which goes on meanwhile: each window is run in a thread.

        Who is cancelled waits for the end of the window that runs.
        """
        import anyio  # which a run without an event loop does not need
        import anyio.to_thread

        for _ in range(windows):
            while not await anyio.to_thread.run_sync(self._attempt):  # noqa: ASYNC110 - who looks on sets no event
                await anyio.sleep(_WAIT_SECONDS)

    def _attempt(self) -> bool:
        """Run a window, unless somebody who looks on wants all to wait."""
        with self._alone("run"):
            watchers = tuple(self._watchers)
            are_ready = [watcher.is_ready() for watcher in watchers]  # each is asked: it has others to serve
            if not all(are_ready):
                return False
            for watcher in watchers:
                watcher.opens()
            with self._halfway():
                self._run_window()
            for watcher in tuple(self._watchers):
                watcher.look()
            return True

    def _run_window(self) -> None:
        inbounds = self._route()
        if self._journal is not None:
            self._journal.put(self.windows, inbounds, self._sent.as_json())
        self._reports = self._run(dict(enumerate(inbounds)))
        self.windows += 1
        self._absorb()

    def send(self, name: str, /, *, to: int | str, **args: object) -> None:
        """Send a message from outside; it comes in in the first tick of the next window. Safe from any thread.

        As soon as a window has been run that began after that, it is written down, and comes in once, whoever dies.

        Args:
            name: of the input (``runtime.on_input``) that takes it there.
            to: a shard, by number; or an agent, by name, wherever it is by then. Its input is told: ``to=NAME``.
            args: what it says, as plain data.

        Raises:
            ShardError: there is no such shard.
            DefinitionError: what it says is no plain data.
        """
        if not isinstance(to, str) and (problem := no_shard(to, self.shards)):
            raise self._error(None, problem)
        row: Row = [to, name, copied(args, f"the message {name!r}")]
        with self._lock:
            self._inbox.append(row)

    def _sent_messages(self) -> list[Row]:
        """What was sent since the last window was opened, numbered."""
        with self._lock:
            rows, self._inbox = self._inbox, []
        messages: list[Row] = []
        for row in rows:
            messages.append([self.tick + 1, _OUTSIDE, self._sent.count, *row])
            self._sent.add(*messages[-1][1:3])
        return messages

    @contextlib.contextmanager
    def _alone(self, method: str) -> Iterator[None]:
        """A block in which nobody else does anything with the shards, and all of them are whole."""
        with self._taking_turn(method):
            if self._is_closed:
                raise self._error(None, "these shards are closed. Do it before that, or open them anew: Shards(...)")
            if self._is_broken:
                remedy = "It goes on from its folder, if it has one: Shards(..., folder=...)"
                raise self._error(
                    None, f"an earlier call has failed within a window, so nothing more is run here. {remedy}"
                )
            yield

    @contextlib.contextmanager
    def _halfway(self) -> Iterator[None]:
        """A block that is left whole or broken: whatever ends it halfway leaves answers that nobody fetched."""
        self._is_broken = True
        yield
        self._is_broken = False

    @contextlib.contextmanager
    def _taking_turn(self, method: str) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            raise WrongStateError(f"Shards.{method}", "a window runs", "Await shards.arun() first.")
        try:
            yield
        finally:
            self._turn.release()

    def _open(self) -> list[Outbound]:
        """Open all shards, and finish the window that was under way if there was one."""
        last = None if self._journal is None else self._journal.last()
        number = 0 if last is None else last[0]
        asked = {shard: _request("open", shard, number) for shard in range(self.shards)}
        found = {answer["shard"]: _report(answer) for answer in self._round(asked)}
        self._require_near(found, number, is_begun=last is not None)
        self._reports = list(found.values())
        if last is not None:
            number, inbounds, sent = last
            self._sent = Tally.read(sent)
            behind = {shard: inbounds[shard] for shard, report in found.items() if report["windows"] == number}
            for shard, inbound in behind.items():
                for name in (*found[shard]["came"], *(row[1] for row in inbound["arrivals"])):
                    self._settle(name, shard)
            ran = self._run(behind)
            self._reports = [{report["shard"]: report for report in (*found.values(), *ran)}[s] for s in found]
            number += 1
        self.windows = number
        self._absorb()
        return self._reports

    def _require_near(self, found: Mapping[int, Outbound], number: int, *, is_begun: bool) -> None:
        """A shard stands before the window that was written down last, or after it; fewer were refused there."""
        for shard, report in found.items():
            written = number + is_begun
            if report["windows"] > written:
                has = f"its journal has {counted(report['windows'], 'window')}, and that of the barrier {written}"
                raise self._error(
                    shard, f"{has}. Put back the barrier.sqlite of this folder, or begin the run anew in another one"
                )

    def _run(self, inbounds: Mapping[int, Inbound]) -> list[Outbound]:
        """Run a window in some shards."""
        asked = {shard: _request("window", shard, one["number"], one) for shard, one in inbounds.items()}
        return [_report(answer) for answer in self._round(asked)]

    def _route(self) -> list[Inbound]:
        """What the next window brings to each shard."""
        inbounds: list[Inbound] = [
            {"number": self.windows, "halo": [], "arrivals": [], "messages": [], "dead": []} for _ in range(self.shards)
        ]
        for report in self._reports:
            source = report["shard"]
            for to, shown in report["halo"]:
                inbounds[to]["halo"].append([source, shown])
            for to, name, random, state in report["leaving"]:
                inbounds[to]["arrivals"].append([source, name, random, state])
            for message in report["messages"]:
                self._lead(message, source, inbounds)
        for message in self._sent_messages():
            self._lead(message, 0, inbounds)
        for inbound in inbounds:
            inbound["messages"].sort(key=in_order)
        return inbounds

    def _lead(self, message: Row, source: int, inbounds: list[Inbound]) -> None:
        """Lead a message to where it goes; one to nobody is buried where it comes from."""
        to = message[3] if isinstance(message[3], int) else self._homes.get(message[3])
        if to is None:
            inbounds[source]["dead"].append(message)
        else:
            inbounds[to]["messages"].append(message)

    # --- what must not change -----------------------------------------------------------------------------------------

    def _absorb(self) -> None:
        """Bring the directory up to this barrier, and check what all of them told."""
        for report in self._reports:
            self._require_time(report)
            for name in self._gone(report):
                self._homes.pop(name)
                self._counts[report["shard"]] -= 1
        for report in self._reports:
            for name in report["came"]:
                self._settle(name, report["shard"])
            here = self._counts[report["shard"]]
            if here != report["count"]:
                raise self._error(
                    report["shard"], f"it has {counted(report['count'], 'agent')}, and should have {here}"
                )
        for report in self._reports:
            for to, name, *_ in report["leaving"]:
                if name in self._homes:
                    raise self._error(
                        report["shard"], f"{name!r} leaves it, and is in shard {self._homes[name]} as well"
                    )
                self._settle(name, to)
        self._require_sums()

    def _require_time(self, report: Outbound) -> None:
        if (report["windows"], report["tick"]) != (self.windows, self.tick):
            stands = f"it stands at tick {report['tick']}, after {counted(report['windows'], 'window')}"
            raise self._error(report["shard"], f"{stands}; the others are at {self.tick}, after {self.windows}")

    def _gone(self, report: Outbound) -> list[str]:
        """Whose names are not those of agents of a shard any more."""
        shard = report["shard"]
        if report["is_whole"]:  # a shard that came back tells who is there
            there = set(report["came"])
            return [name for name, home in self._homes.items() if home == shard and name not in there]
        for name in report["went"]:
            if self._homes.get(name) != shard:
                raise self._error(shard, f"{name!r} is gone, and was not there")
        return report["went"]

    def _settle(self, name: str, shard: int) -> None:
        home = self._homes.get(name)
        if home is None:
            self._homes[name] = shard
            self._counts[shard] += 1
        elif home != shard:
            raise self._error(shard, f"{name!r} is there, and in shard {home} as well. Names are for the whole world")

    def _require_sums(self) -> None:
        """What was sent was taken, found nobody or is under way; who left has come or is on the way."""
        moving = Tally()
        for report in self._reports:
            for _, name, *_ in report["leaving"]:
                moving.add(name, self.windows)
        sums = [self._sent.as_json(), *([0, 0] for _ in range(5))]
        for report in self._reports:
            for tally, (count, total) in zip(sums, report["tallies"], strict=True):
                tally[0] += count
                tally[1] += total
        sent, taken, dead, waiting, left, came = sums
        for at, what in enumerate(("number", "marks")):
            if (sent[at] - taken[at] - dead[at] - waiting[at]) & _MASK:
                told = f"{sent[0]} sent, {taken[0]} taken, {dead[0]} found nobody, {waiting[0]} under way"
                raise self._error(None, f"messages were lost or doubled, by their {what}: {told}")
            if (left[at] - came[at] - moving.as_json()[at]) & _MASK:
                told = f"{left[0]} left, {came[0]} came, {moving.count} are on their way"
                raise self._error(None, f"agents were lost or doubled, by their {what}: {told}")

    def _error(self, shard: int | None, problem: str) -> ShardError:
        return ShardError(shard, problem, tick=self.tick)

    # --- places -------------------------------------------------------------------------------------------------------

    def _round(self, asked: Mapping[int, ShardRequest]) -> list[ShardAnswer]:
        """Ask all places what is for their shards, wait until all have answered; the answers, by their numbers."""
        groups = [(place, self._of(place, asked)) for place in self._places]
        for place, requests in groups:
            place.ask(requests)
        told = [answer for place, requests in groups for answer in self._answers(place, requests)]
        return sorted(told, key=lambda answer: answer["shard"])

    def _of(self, place: ShardPlace, asked: Mapping[int, ShardRequest]) -> list[ShardRequest]:
        """What of it is for a place: the shards are dealt out in turn."""
        return [asked[shard] for shard in sorted(asked) if self._places[shard % len(self._places)] is place]

    def _answers(self, place: ShardPlace, requests: list[ShardRequest]) -> list[ShardAnswer]:
        for losses in itertools.count(1):
            try:
                return place.answers() if losses == 1 else self._again(place, requests)
            except ShardLostError as error:
                if self._journal is None:
                    error.add_note("Nothing was written down, so it cannot come back: give Shards(folder=...).")
                    raise
                self.losses += 1
                for watcher in tuple(self._watchers):
                    watcher.lost(self._here(place))
                if losses == _MOST_LOSSES:
                    shards = few([str(one["shard"]) for one in requests], 10)
                    problem = f"its place was lost {losses} times at this barrier, with shards {shards}; the last time"
                    raise ShardLostError(error.shard, f"{problem}: {error.problem}", tick=self.tick) from None
        raise AssertionError  # it counts for ever

    def _again(self, place: ShardPlace, requests: list[ShardRequest]) -> list[ShardAnswer]:
        """Start a place anew, have all of its shards come back, and ask again what was not done."""
        place.start(self.world, self._tenancy)
        place.ask([_request("open", shard, self.windows) for shard in self._here(place)])
        opened = {answer["shard"]: answer for answer in place.answers()}
        left = [one for one in requests if not _is_done(one, opened[one["shard"]])]
        place.ask(left)
        again = {answer["shard"]: answer for answer in place.answers()}
        return [again.get(one["shard"], opened[one["shard"]]) for one in requests]

    def _here(self, place: ShardPlace) -> list[int]:
        """Which shards live in a place."""
        return [shard for shard in range(self.shards) if self._places[shard % len(self._places)] is place]

    def close(self) -> None:
        """Close all places; what was written down can go on later. Calling it twice does nothing.

        Raises:
            WrongStateError: a window runs, in another thread.
        """
        with self._taking_turn("close"):
            self._is_closed = True
            for place in self._places:
                place.close()
            if self._journal is not None:
                self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Shards: {self.shards} of {self.world.name!r}, tick {self.tick}, {counted(self.agents, 'agent')}>"


def _request(ask: str, shard: int, windows: int, inbound: Inbound | None = None, look: str = "") -> ShardRequest:
    return {"ask": ask, "shard": shard, "windows": windows, "inbound": inbound, "look": look}


def _report(answer: ShardAnswer) -> Outbound:
    report = answer.get("report")
    assert report is not None, "it was not asked for"
    return report


def _is_done(request: ShardRequest, opened: ShardAnswer) -> bool:
    """Whether a shard that has come back did already what it is asked for."""
    if request["inbound"] is not None:
        return _report(opened)["windows"] > request["windows"]
    return request["ask"] == "open"


class _Journal:
    """What the barrier writes down: which run it is, and what the last window brings to each shard.

    A file of SQLite, locked as long as somebody has it: two who lead the same shards would each bring half of it.

    Raises:
        ShardError: it cannot be used, or is of another run.
    """

    def __init__(self, folder: Path, tenancy: Tenancy, window: int) -> None:
        self._path = folder / "barrier.sqlite"
        self._is_power = tenancy["durability"] == "power"
        told = {name: value for name, value in tenancy.items() if name != "durability"}  # it is no part of the run
        run = json.dumps({**told, "journals": "", "app": "", "window": window}, sort_keys=True)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # One thread at a time uses it: who runs windows in an event loop has a thread for each.
            self._connection = sqlite3.connect(self._path, isolation_level=None, timeout=0.0, check_same_thread=False)
            self._begin(run)
        except (sqlite3.Error, OSError) as error:
            raise ShardError(
                None, f"{self._path} cannot be used, or another process leads these shards: {error}"
            ) from None

    def _begin(self, run: str) -> None:
        execute = self._connection.execute
        try:
            execute("PRAGMA locking_mode=EXCLUSIVE")
            execute("PRAGMA journal_mode=WAL")
            # A window has to be on the disk before a shard is told of it, or a shard could be further than who leads.
            execute(f"PRAGMA synchronous={'FULL' if self._is_power else 'NORMAL'}")
            execute(f"PRAGMA fullfsync={int(self._is_power)}")
            execute("BEGIN EXCLUSIVE")
            execute("CREATE TABLE IF NOT EXISTS runs (run TEXT)")
            execute("CREATE TABLE IF NOT EXISTS windows (number INTEGER PRIMARY KEY, inbounds TEXT, sent TEXT)")
            found = execute("SELECT run FROM runs").fetchone()
            if found is None:
                execute("INSERT INTO runs VALUES (?)", (run,))
            elif found[0] != run:
                problem = f"{self._path} is of another run: {repr_of(found[0], 400)}, and not {run}"
                raise ShardError(None, f"{problem}. Choose another folder")
            execute("COMMIT")
        except BaseException:
            self._connection.close()
            raise

    def last(self) -> tuple[int, list[Inbound], list[int]] | None:
        """The last window that was opened: its number, what it brings, and how much was sent from outside so far."""
        query = "SELECT number, inbounds, sent FROM windows ORDER BY number DESC"
        row = self._connection.execute(query).fetchone()
        try:
            return None if row is None else (row[0], json.loads(row[1]), json.loads(row[2]))
        except (ValueError, TypeError) as error:
            remedy = "Put the file back, or begin the run anew in another folder"
            raise ShardError(None, f"{self._path} cannot be used: its window is broken: {error}. {remedy}") from None

    def put(self, number: int, inbounds: list[Inbound], sent: list[int]) -> None:
        """Write a window down, before anybody is told; the ones before are over everywhere."""
        execute = self._connection.execute
        execute("BEGIN")
        execute("DELETE FROM windows")
        execute("INSERT INTO windows VALUES (?, ?, ?)", (number, json.dumps(inbounds), json.dumps(sent)))
        execute("COMMIT")

    def close(self) -> None:
        self._connection.close()
