"""Who carries out the runs of an ensemble: this process, processes beside it, or actors of Ray; with the same rows.

``carry_out`` is one run, wherever that is: make the world, step it, hash its trace, measure it. What goes wrong in it
is its result. A *worker* is a place where one run at a time is carried out by another process, and which can be killed.
The loop, ``Crew.carry_out``, knows nothing else of workers, so all kinds of them behave alike:

* A run that lasts longer than its limit is given up: its worker is killed and replaced. A hang inside of a tick answers
  to nothing else.
* A worker that dies (out of memory, a crash in C) is replaced, and its run is tried once more: it may have been hit by
  something else. One that dies again has its worker's death as its error.
* No other run is concerned. This is why a pool is many executors of one process each: when a process of a
  ``ProcessPoolExecutor`` dies, that whole executor is broken, nobody knows which run it was, and all begin again.
* A worker whose leader died ends, even in the middle of a run that hangs: else ``kill -9`` would leave it behind.
* Processes that a world starts and leaves behind end with their worker, since they are of its group. Those that it
  forks let go of the worker's pipes at once: by these alone its death is seen, and a child that kept them open would
  have its leader wait for ever.

In this process there is no limit: nobody could end what hangs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from agentrt.ensembles.design import Run
from agentrt.ensembles.subject import Subject, without_children
from agentrt.errors import EnsembleError, MissingExtraError
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.words import error_words, printable, repr_of, seconds
from agentrt.worlds import make_world, measure_world

if TYPE_CHECKING:
    from types import ModuleType

MOST_WORKERS: Final = 4096

_FAULTS = (TraceEvent.FAULT, TraceEvent.KILLED)
_LONGEST_LIMIT = 10_000_000  # real seconds; more overflows where it is waited for
_MOST_FRAMES = 20
_LONGEST_TRACEBACK = 8000
_TRIES = 2  # of a run whose worker dies
_DEATHS_IN_RAY = frozenset(("ActorDiedError", "ActorUnavailableError", "OutOfMemoryError", "WorkerCrashedError"))
_STARTS = 3  # workers in a row that may die before they are ready
_LONGEST_START = 60.0  # real seconds that one has to come up, if runs have a limit at all


class RunResult(NamedTuple):
    """What a run came to."""

    digest: str
    faults: int
    measures: dict[str, int | float | str]
    error: str
    seconds: float
    traceback: str = ""


# --- one run ----------------------------------------------------------------------------------------------------------


def carry_out(subject: Subject, run: Run, *, is_ours: bool = False) -> RunResult:
    """One run, on the plain host. Whatever is raised in it is its error; only Ctrl-C passes, if the process is ours."""
    begun = time.perf_counter()
    try:
        with without_children():  # they would take runs of ours as well
            digest, faults, measures = _run(subject, run)
    except BaseException as error:  # a world may end the program, and ends its run
        if is_ours and isinstance(error, KeyboardInterrupt):
            raise
        lasted = time.perf_counter() - begun
        return RunResult("", 0, {}, printable(error_words(error)), lasted, _traceback_of(error))
    return RunResult(digest, faults, measures, "", time.perf_counter() - begun)


def _traceback_of(error: BaseException) -> str:
    """Where it was raised, for people: what is nearest to that if it is long."""
    lines = "".join(traceback.format_exception(error, limit=-_MOST_FRAMES)).splitlines()
    return "\n".join(map(printable, lines))[-_LONGEST_TRACEBACK:]


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

    def begin(self, run: Run) -> Future[RunResult]:
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
        self.ready: Future[str] = self._pool.submit(prepare, subject)

    def begin(self, run: Run) -> Future[RunResult]:
        try:
            return self._pool.submit(carry_out, self._subject, run)
        except BrokenExecutor as error:  # it died while it had nothing to do
            failed: Future[RunResult] = Future()
            failed.set_exception(error)
            return failed

    def end(self) -> None:
        if self._process.done() and self._process.exception() is None:
            with contextlib.suppress(OSError):  # it has died by itself, and has left nothing behind
                _kill_group(self._process.result())
        self._pool.shutdown(cancel_futures=True)


def _kill_group(process: int) -> None:
    """End a worker and what its worlds have left behind."""
    if hasattr(os, "killpg"):
        os.killpg(process, signal.SIGKILL)
    else:
        os.kill(process, signal.SIGTERM)


def _follow_leader() -> None:
    """What a process does before all else: it ends with its leader, and leaves Ctrl-C and results to it."""
    import threading
    from multiprocessing import parent_process

    with contextlib.suppress(OSError):  # what worlds print is no result; a process may have no such streams
        os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "register_at_fork"):
        os.setpgid(0, 0)
        os.register_at_fork(after_in_child=partial(_close_all, _pipes()))
    leader = parent_process()

    def follow() -> None:
        if leader is not None:
            leader.join()
            _kill_group(os.getpid())

    threading.Thread(target=follow, daemon=True).start()


def _pipes() -> list[int]:
    """The pipes that are open, but for the three standard streams."""
    found = []
    for place in Path("/dev/fd").iterdir():
        with contextlib.suppress(OSError):  # that by which they are listed
            if int(place.name) > 2 and stat.S_ISFIFO(os.fstat(int(place.name)).st_mode):
                found.append(int(place.name))
    return found


def _close_all(files: list[int]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            os.close(file)


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
        import logging

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for telling anybody
        if address == "local":
            # Ray binds all its ports to loopback only where it believes that it cannot have other machines. It reads
            # this when it is imported; a program that has imported it before has the ports that it chose.
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        try:
            import ray
        except ModuleNotFoundError as error:
            raise MissingExtraError("ray", error.name or "ray") from error
        options: dict[str, Any] = {"address": address}
        if address == "local":
            options |= {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
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

    def begin(self, run: Run) -> Future[RunResult]:
        future: Future[RunResult] = self._hands.carry_out.remote(run).future()
        return future

    def end(self) -> None:
        self._ray.kill(self._hands)


class _Hands:
    """What runs in an actor's process."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def prepare(self) -> str:
        return prepare(self._subject)

    def carry_out(self, run: Run) -> RunResult:
        return carry_out(self._subject, run)


# --- many runs --------------------------------------------------------------------------------------------------------


class _Post:
    """A worker and what it is at: coming up, idle, or running."""

    def __init__(self, worker: Worker, time_limit: float | None) -> None:
        self.worker = worker
        self.run: Run | None = None  # under way
        self.future: Future[Any] | None = worker.ready  # of what it is at; None while it is idle
        # When it is given up, on the monotonic clock. An import may take longer than a run, and is done once.
        self.until: float | None = None if time_limit is None else time.monotonic() + max(time_limit, _LONGEST_START)

    def begin(self, run: Run, time_limit: float | None) -> None:
        self.run, self.future = run, self.worker.begin(run)
        self.until = None if time_limit is None else time.monotonic() + time_limit

    def rest(self) -> None:
        self.run = self.future = self.until = None


Take: TypeAlias = Callable[[Run, RunResult], object]


class Crew:
    """Workers of one world, for as long as it is open; or this process, where nothing is limited.

    Args:
        subject: the world.
        hire: makes a worker; None for this process.
        workers: how many there are at most.
        time_limit: real seconds for each run, or None.
    """

    def __init__(self, subject: Subject, hire: Hire | None, workers: int, time_limit: float | None) -> None:
        self._subject = subject
        self._hire = hire
        self._workers = workers
        self._time_limit = time_limit
        self._posts: list[_Post] = []
        self._waiting: deque[Run] = deque()
        self._deaths: dict[Run, int] = {}
        self._false_starts = 0

    def carry_out(self, runs: Iterable[Run], take: Take) -> None:
        """Carry runs out, in the order given, and have each taken when it is over, on this thread."""
        if self._hire is None:
            for run in runs:
                take(run, carry_out(self._subject, run, is_ours=True))
            return
        self._waiting.extend(runs)
        while self._waiting or any(post.run is not None for post in self._posts):
            self._give_work(self._hire)
            self._wait()
            for post in list(self._posts):
                if post.future is not None and post.future.done():
                    self._settle(post, post.future, take)
                elif post.until is not None and time.monotonic() >= post.until:
                    self._give_up(post, take)

    def close(self) -> None:
        """Let go of all workers, whatever they do."""
        self._waiting.clear()
        for post in list(self._posts):
            self._dismiss(post)

    def _give_work(self, hire: Hire) -> None:
        running = sum(post.run is not None for post in self._posts)
        while len(self._posts) < min(self._workers, running + len(self._waiting)):
            self._posts.append(_Post(hire(self._subject), self._time_limit))
        for post in self._posts:
            if post.future is None and self._waiting:
                post.begin(self._waiting.popleft(), self._time_limit)

    def _wait(self) -> None:
        ends = [post.until for post in self._posts if post.until is not None]
        timeout = max(0.0, min(ends) - time.monotonic()) if ends else None
        wait([post.future for post in self._posts if post.future is not None], timeout, FIRST_COMPLETED)

    def _settle(self, post: _Post, future: Future[Any], take: Take) -> None:
        """Take what a worker has done."""
        error = future.exception()
        if error is not None:
            self._dismiss(post)
            if not _is_death(error):
                raise error
            self._mourn(post.run, take)
        elif post.run is None:
            self._false_starts = 0
            self._require_same(future.result())
            post.rest()
        else:
            run = post.run
            post.rest()
            take(run, future.result())

    def _give_up(self, post: _Post, take: Take) -> None:
        """A worker has taken too long: of its run, or while it came up."""
        self._dismiss(post)
        if post.run is None:
            self._mourn(None, take)
        else:
            limit = self._time_limit or 0.0
            take(post.run, RunResult("", 0, {}, f"it did not end within {seconds(limit)} of real time", limit))

    def _mourn(self, run: Run | None, take: Take) -> None:
        """A worker has died: of its run, or while it came up."""
        if run is None:
            self._false_starts += 1
            if self._false_starts >= _STARTS:
                remedy = 'In a program of yours, call it below: if __name__ == "__main__":'
                raise EnsembleError("the workers", "they end before they have begun", remedy)
            return
        deaths = self._deaths[run] = self._deaths.get(run, 0) + 1
        if deaths < _TRIES:
            self._waiting.appendleft(run)
        else:
            take(run, RunResult("", 0, {}, f"its process died, {deaths} times", 0.0))

    def _require_same(self, code: str) -> None:
        if code != self._subject.code():
            problem = f"the code of the world is {code} there, and {self._subject.code()} here"
            raise EnsembleError("the workers", problem, "Install the same on all machines; edit nothing meanwhile.")

    def _dismiss(self, post: _Post) -> None:
        self._posts.remove(post)
        post.worker.end()


def _is_death(error: BaseException) -> bool:
    """Whether a future says that its worker is gone; Ray's errors are known by their names, as Ray need not be here."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in _DEATHS_IN_RAY


# --- who --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def crew_of(subject: Subject, *, workers: int | None, ray: str, time_limit: float | None) -> Iterator[Crew]:
    """Who carries runs out, as arguments say it: see ``sweep``."""
    if workers is not None and not (type(workers) is int and 0 <= workers <= MOST_WORKERS):
        raise EnsembleError(
            "the workers", f"{repr_of(workers, 80)} is no number of them", "Have 1 or more; 0 for none."
        )
    if time_limit is not None and not 0 < time_limit <= _LONGEST_LIMIT:
        remedy = f"Give each run more than 0 and up to {_LONGEST_LIMIT} seconds."
        raise EnsembleError("the time limit", f"{time_limit!r} is no time", remedy)
    if workers == 0 and (time_limit is not None or ray):
        remedy = "Have 1 or more workers, or leave out the time limit and Ray."
        raise EnsembleError("the workers", "there are none, and a run in this process cannot be ended", remedy)
    with contextlib.ExitStack() as stack:
        if ray:
            cluster = Cluster(ray, workers or _processors())
            stack.callback(cluster.close)
            crew = Crew(subject, cluster.hire, workers or cluster.size, time_limit)
        else:
            crew = Crew(subject, None if workers == 0 else ProcessWorker, workers or _processors(), time_limit)
        stack.callback(crew.close)
        yield crew


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
