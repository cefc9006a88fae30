"""Who carries out the runs of an ensemble: this process, processes beside it, or actors of Ray. The same rows from all.

``carry_out`` is one run, wherever that is: make the world, step it, hash its trace, measure it. What goes wrong in it is
its result. A *worker* is a place where one run at a time is carried out by another process, and which can be killed. The
loop, ``carry_out_all``, knows nothing else of workers, so all kinds of them behave alike:

* A run that lasts longer than its limit is given up: its worker is killed and replaced. A hang inside of a tick answers
  to nothing else.
* A worker that dies (out of memory, a crash in C) is replaced, and its run is tried once more: it may have been hit by
  something else. One that dies again has its worker's death as its error.
* No other run is concerned. This is why a pool is many executors of one process each: when a process of a
  ``ProcessPoolExecutor`` dies, that whole executor is broken, nobody knows which run it was, and all begin again.
* A worker whose leader died ends, even in the middle of a run that hangs: else ``kill -9`` would leave it behind.

In this process there is no limit: nobody could end what hangs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from agentrt.ensembles.design import Run
from agentrt.ensembles.subject import Subject
from agentrt.errors import EnsembleError, MissingExtraError
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.words import error_words, printable, seconds
from agentrt.worlds import make_world, measure_world

if TYPE_CHECKING:
    from types import ModuleType

_FAULTS = (TraceEvent.FAULT, TraceEvent.KILLED)
_TRIES = 2  # of a run whose worker dies
_DEATHS_IN_RAY = frozenset(("ActorDiedError", "ActorUnavailableError", "OutOfMemoryError", "WorkerCrashedError"))
_STARTS = 3  # workers in a row that may die before they are ready


class Outcome(NamedTuple):
    """What a run came to."""

    digest: str
    faults: int
    measures: dict[str, int | float | str]
    error: str
    seconds: float


# --- one run ----------------------------------------------------------------------------------------------------------


def carry_out(subject: Subject, run: Run) -> Outcome:
    """One run, on the plain host. Whatever is raised in it is its error; only Ctrl-C passes."""
    begun = time.perf_counter()
    try:
        digest, faults, measures = _run(subject, run)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a world may end the program, and ends its run
        return Outcome("", 0, {}, printable(error_words(error)), time.perf_counter() - begun)
    return Outcome(digest, faults, measures, "", time.perf_counter() - begun)


def _run(subject: Subject, run: Run) -> tuple[str, int, dict[str, int | float | str]]:
    world, faults = subject.world(), 0

    def count(record: TraceRecord) -> None:
        nonlocal faults
        faults += record.event in _FAULTS

    runtime = make_world(world, seed=run.seed, host="plain", params=run.params)
    runtime.log_level = "off"  # two hundred runs would say two hundred times what one of them says alone
    try:
        runtime.trace.listen(count)
        digest = TraceDigest(runtime.trace)
        while runtime.tick < run.ticks:
            if not runtime.step():
                remedy = "Let it run: nobody opens the gate of a run that nobody watches."
                raise EnsembleError(f"the world '{world.name}'", f"it stands still in tick {runtime.tick}", remedy)
        digest.close()  # how it is taken down is no part of the run
        return digest.hexdigest(), faults, measure_world(world, runtime)
    finally:
        runtime.close()


def prepare(subject: Subject) -> str:
    """Import the world, which is no part of the time of any run, and say which code it is made of."""
    subject.world()
    return subject.code()


# --- workers ----------------------------------------------------------------------------------------------------------


class Worker(Protocol):
    """A place where one run at a time is carried out, in another process."""

    ready: Future[str]  # the version of the code there, when the world is imported

    def begin(self, run: Run) -> Future[Outcome]:
        """Have a run carried out."""
        ...

    def end(self) -> None:
        """Let go of it, whatever it does."""
        ...


Hire: TypeAlias = Callable[[Subject], Worker]


class ProcessWorker:
    """A process on this machine, of a ``ProcessPoolExecutor`` of its own; it is spawned, and not forked."""

    def __init__(self, subject: Subject) -> None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        self._subject = subject
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_follow_leader)
        self._process: Future[int] = self._pool.submit(os.getpid)
        self.ready = self._pool.submit(prepare, subject)

    def begin(self, run: Run) -> Future[Outcome]:
        return self._pool.submit(carry_out, self._subject, run)

    def end(self) -> None:
        if self._process.done() and self._process.exception() is None:
            try:
                os.kill(self._process.result(), getattr(signal, "SIGKILL", signal.SIGTERM))
            except OSError:  # it has died by itself
                pass
        self._pool.shutdown(cancel_futures=True)


def _follow_leader() -> None:
    """What a process does before all else: it ends with its leader, and leaves Ctrl-C and results to it."""
    import threading
    from multiprocessing import parent_process

    with contextlib.suppress(OSError):  # what worlds print is no result; a process may have no such streams
        os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leader = parent_process()

    def follow() -> None:
        if leader is not None:
            leader.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Cluster:
    """Actors of Ray: on this machine alone (``"local"``, on loopback, for as long as it is open), or of a cluster.

    Args:
        address: ``"local"``, or where the cluster is, as ``ray.init`` takes it.
        workers: how many runs at the same time; on this machine it is as large as that.

    Raises:
        MissingExtraError: the extra ``ray`` is not installed.
        EnsembleError: there is no cluster at that address.

    Source: Ray, actors.
    """

    def __init__(self, address: str, workers: int) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for telling anybody
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a warning of a default to come
        try:
            import ray
        except ModuleNotFoundError as error:
            raise MissingExtraError("ray", error.name or "ray") from error
        options: dict[str, Any] = {"address": address}
        if address == "local":
            options |= {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            ray.init(log_to_driver=False, logging_level="error", **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            remedy = "Say --ray local for one on this machine, or where one runs, as in --ray 10.0.0.1:6379."
            raise EnsembleError(f"the cluster '{address}'", error_words(error), remedy) from error
        self._ray: ModuleType = ray

    def hire(self, subject: Subject) -> Worker:
        """An actor, as a worker."""
        return _Actor(self._ray, subject)

    @property
    def size(self) -> int:
        """How many runs at the same time it has room for."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        self._ray.shutdown()


class _Actor:
    def __init__(self, ray: ModuleType, subject: Subject) -> None:
        self._ray = ray
        self._hands = ray.remote(num_cpus=1, max_restarts=0)(_Hands).remote(subject)
        self.ready: Future[str] = self._hands.prepare.remote().future()

    def begin(self, run: Run) -> Future[Outcome]:
        future: Future[Outcome] = self._hands.carry_out.remote(run).future()
        return future

    def end(self) -> None:
        self._ray.kill(self._hands)


class _Hands:
    """What runs in an actor's process."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def prepare(self) -> str:
        return prepare(self._subject)

    def carry_out(self, run: Run) -> Outcome:
        return carry_out(self._subject, run)


# --- many runs --------------------------------------------------------------------------------------------------------


class _Place:
    """A worker and what it is at."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.run: Run | None = None  # under way
        self.future: Future[Any] = worker.ready  # what it is at: coming up, or the run
        self.until: float | None = None  # when the run is given up, on the monotonic clock

    def begin(self, run: Run, time_limit: float | None) -> None:
        self.run, self.future = run, self.worker.begin(run)
        self.until = None if time_limit is None else time.monotonic() + time_limit


Take: TypeAlias = Callable[[Run, Outcome], object]


class _Crew:
    """Workers, and the runs that are still to be done."""

    def __init__(self, hire: Hire, subject: Subject, runs: Iterable[Run], time_limit: float | None, take: Take) -> None:
        self._hire = hire
        self._subject = subject
        self._waiting = deque(runs)
        self._time_limit = time_limit
        self._take = take
        self._places: list[_Place] = []
        self._deaths: dict[Run, int] = {}
        self._false_starts = 0

    def work(self, workers: int) -> None:
        """Carry all of them out."""
        try:
            for _ in range(min(workers, len(self._waiting))):
                self._places.append(_Place(self._hire(self._subject)))
            while self._places:
                self._wait()
                for place in list(self._places):
                    if place.future.done():
                        self._settle(place)
                    elif place.until is not None and time.monotonic() >= place.until and place.run is not None:
                        what = f"it did not end within {seconds(self._time_limit or 0)} of real time"
                        self._take(place.run, Outcome("", 0, {}, what, self._time_limit or 0.0))
                        self._replace(place)
        finally:
            for place in self._places:
                place.worker.end()

    def _wait(self) -> None:
        ends = [place.until for place in self._places if place.until is not None]
        timeout = max(0.0, min(ends) - time.monotonic()) if ends else None
        wait([place.future for place in self._places], timeout, FIRST_COMPLETED)

    def _settle(self, place: _Place) -> None:
        """Take what a worker has done, and give it the next run."""
        error = place.future.exception()
        if error is not None and not _is_death(error):
            raise error
        if error is not None:
            self._mourn(place)
            return
        if place.run is None:
            self._false_starts = 0
            self._require_same(place.future.result())
        else:
            self._take(place.run, place.future.result())
        if self._waiting:
            place.begin(self._waiting.popleft(), self._time_limit)
        else:
            self._dismiss(place)

    def _mourn(self, place: _Place) -> None:
        """A worker has died: while it came up, or of its run."""
        if place.run is None:
            self._false_starts += 1
            if self._false_starts >= _STARTS:
                remedy = 'In a program of yours, call sweep below: if __name__ == "__main__":'
                raise EnsembleError("the workers", "they end before they have begun", remedy)
        else:
            deaths = self._deaths[place.run] = self._deaths.get(place.run, 0) + 1
            if deaths < _TRIES:
                self._waiting.appendleft(place.run)
            else:
                self._take(place.run, Outcome("", 0, {}, f"its process died, {deaths} times", 0.0))
        self._replace(place)

    def _require_same(self, code: str) -> None:
        if code != self._subject.code():
            problem = f"the code of the world is {code} there, and {self._subject.code()} here"
            raise EnsembleError("the workers", problem, "Install the same on all machines; edit nothing meanwhile.")

    def _replace(self, place: _Place) -> None:
        self._dismiss(place)
        if self._waiting:
            self._places.append(_Place(self._hire(self._subject)))

    def _dismiss(self, place: _Place) -> None:
        self._places.remove(place)
        place.worker.end()


def _is_death(error: BaseException) -> bool:
    """Whether a future says that its worker is gone; Ray's errors are known by their names, as Ray need not be here."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in _DEATHS_IN_RAY


def carry_out_all(
    subject: Subject, runs: Sequence[Run], *, hire: Hire | None, workers: int, time_limit: float | None, take: Take
) -> None:
    """Carry runs out, in the order given, and have each taken when it is over.

    Args:
        subject: the world.
        runs: which.
        hire: makes a worker; None for this process, where nothing is limited.
        workers: how many.
        time_limit: real seconds for each run, or None.
        take: called with each run and what it came to, on this thread, in the order in which they end.
    """
    if hire is None:
        for run in runs:
            take(run, carry_out(subject, run))
    else:
        _Crew(hire, subject, runs, time_limit, take).work(workers)
