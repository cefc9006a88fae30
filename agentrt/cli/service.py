"""``agentrt serve``: a world that is recorded while it runs, and that comes back after a crash.

The command is two processes. The *supervisor* starts a *worker*, which is given the same command; it runs the world in
real time on asyncio and records it. When the worker dies, the supervisor starts the next one after a while, which
resumes the recording. Rules:

* The worker's standard input stays open as long as the supervisor lives. When it ends the worker ends the run between
  two ticks, closes the recording, and exits with 0: nobody is left behind who holds the file. SIGTERM does the same, to
  either of the two: it may come to the whole group at once.
* What the worker tells of itself, lines of JSON, goes to the supervisor; what the world prints goes to standard error.
* How long to wait doubles with each death, and begins anew after one that lived long enough. So many quick deaths in a
  row, and the supervisor gives up: something dies in the same tick again and again.
* Exit code 2 of a worker is an error that the next one would have too (the code is another one by now, somebody else
  writes the file), and ends the supervisor as well.
* A worker hangs if its clock has stood for so many real seconds: an action loops without end, say, or everything waits
  for a lock. It is ended by SIGABRT, on which it says where each of its threads is, and counts as one that died when
  its clock stood still. Who was paused does not hang. The clock stands as well if it says nothing any more.
* A worker that cannot record any more (a disk is full) ends: what it would go on to do would be lost.
* Being a worker is nothing that the command line can say: a worker takes over its process, and ends it.
* Health is for machines, over HTTP on loopback: one JSON object, with status 200 while the world runs and its recording
  is written, and 503 else.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from agentrt.cli.commands import DEFAULT_WORLD, play, set_option
from agentrt.cli.groups import app_option, given_app, own_world, tell, world_called
from agentrt.errors import AgentRTError, RecordingError
from agentrt.words import counted
from agentrt.worlds import checked_params, make_world

if TYPE_CHECKING:
    import asyncio

    from agentrt.runtime.intake import RunRecorder
    from agentrt.runtime.runtime import Runtime
    from agentrt.worlds import Value, World

DEFAULT_HEALTH_PORT = 8766
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # real seconds before the next worker
_QUICK = 10.0  # real seconds: a worker that ran shorter than that died quickly
_GRACE = 30.0  # real seconds in which a worker has to end
_HANGS_AFTER = 60.0  # real seconds: longer than any world takes to be made, and nobody plays in it meanwhile
_TOLD_EVERY = 0.2  # real seconds
_LAST_WORDS = 1.0  # real seconds for which they are waited for: a child of the worker may hold the pipe open
WORKER = object()  # what the context of a worker's command carries
_WORK = "from agentrt.cli import main; from agentrt.cli.service import WORKER; main(prog_name='agentrt', obj=WORKER)"


@click.command()
@click.argument("name", required=False)
@app_option
@click.option(
    "--record", "path", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="Where it is recorded.",
)  # fmt: skip
@click.option("--resume", "may_resume", is_flag=True, help="Go on with FILE, if it is there.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all that is random.")
@set_option
@click.option("--speed", type=float, default=1.0, show_default=True, help="Game seconds for each real second.")
@click.option(
    "--durability", type=click.Choice(["process", "power"]), default="process", show_default=True,
    help="What each tick survives: that this program dies, or also that the machine stops.",
)  # fmt: skip
@click.option(
    "--health-port", type=click.IntRange(0, 65535), default=DEFAULT_HEALTH_PORT, show_default=True,
    help="Where its health is told, on loopback; 0 takes any port that is free.",
)  # fmt: skip
@click.option(
    "--give-up", type=click.IntRange(1), default=5, show_default=True, help="After so many quick deaths in a row."
)
@click.option(
    "--hang-limit", type=click.FloatRange(0), default=_HANGS_AFTER, show_default=True,
    help="Real seconds for which its clock may stand before it is ended and comes back; 0 for ever.",
)  # fmt: skip
@click.pass_obj
def serve(
    role: object,
    *,
    name: str | None,
    path: Path,
    may_resume: bool,
    seed: int,
    given: dict[str, str],
    speed: float,
    durability: Literal["process", "power"],
    health_port: int,
    give_up: int,
    hang_limit: float,
) -> None:
    """Run the world NAME as a service: recorded, and resumed after a crash.

    Without NAME it is the world of your project, else the colony. It runs at its own pace in a process of its own. When
    that dies or hangs, the next one is started after 1 s, then 2, 4 and so on up to 60, and resumes the recording: what
    was recorded is kept. SIGTERM or Ctrl-C ends it between two ticks.
    """
    if not speed > 0:
        raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
    world = (None if name else own_world()) or world_called(name or DEFAULT_WORLD)
    params = checked_params(world, given)
    if role is WORKER:
        ServedRun(world, path, params, seed=seed, speed=speed, durability=durability, may_resume=may_resume).run()
        return
    if path.exists() and not may_resume:
        raise RecordingError(str(path), "there is a file already", "Go on with it: --resume. Or choose another name.")
    options: list[object] = [
        *([name] if name else []), "--record", path, "--seed", seed, "--speed", speed, "--durability", durability
    ]  # fmt: skip
    for one, value in given.items():
        options += ["--set", f"{one}={value}"]
    if app := given_app():
        options += ["--app", app]
    command = [sys.executable, "-c", _WORK, "serve", *map(str, options)]
    supervisor = Supervisor(command, may_resume=may_resume, give_up=give_up, hang_limit=hang_limit)
    with supervisor.heeding_signals(), supervisor.telling_health(health_port) as url:
        tell(f"recorded in {path}; health: {url}; Ctrl-C ends it.", err=True)
        code = supervisor.run()
    sys.exit(code)


# --- the supervisor ---------------------------------------------------------------------------------------------------


class Supervisor:
    """Starts workers, one after the other.

    Args:
        command: what starts a worker.
        may_resume: whether the first one may go on with a file that is there; the later ones do.
        give_up: after how many quick deaths in a row it gives up.
        first_wait: real seconds before the second worker is started.
        quick: real seconds; who ran shorter died quickly.
        hang_limit: real seconds for which the clock of a worker may stand before it is ended; 0 for ever.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        may_resume: bool = False,
        give_up: int = 5,
        first_wait: float = _FIRST_WAIT,
        quick: float = _QUICK,
        hang_limit: float = 0.0,
    ) -> None:
        self._command = list(command)
        self._may_resume = may_resume
        self._give_up = give_up
        self._first_wait = first_wait
        self._quick = quick
        self._hang_limit = hang_limit
        self._stopping = threading.Event()
        self._worker: subprocess.Popen[bytes] | None = None
        self._state = "starting"
        self._told: dict[str, Any] = {}  # what the worker said last
        self._running_since: float | None = None  # on the monotonic clock
        self._moved = time.monotonic()  # when its clock was first seen where it stands
        self._deaths = 0  # quick ones, in a row
        self.restarts: int = 0  # how many workers died and were followed by another one

    def stop(self) -> None:
        """End it: the worker ends the run between two ticks. Safe from any thread, and in a signal handler."""
        self._stopping.set()
        worker = self._worker
        if worker is not None and worker.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                worker.stdin.close()

    @contextlib.contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C stop it meanwhile."""
        before = {one: signal.signal(one, lambda *_: self.stop()) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def run(self) -> int:
        """Start workers until one ends by itself, it is stopped, or it gives up; returns the exit code for that."""
        while True:
            code = self._work()
            if self._stopping.is_set() or code in (0, 2):
                return code if code in (0, 2) else 1
            lived = 0.0 if self._running_since is None else time.monotonic() - self._running_since
            self._deaths = 1 if lived >= self._quick else self._deaths + 1
            died = f"died ({_exit_words(code)}) at tick {self._told.get('tick', 0)}"
            if self._deaths >= self._give_up:
                tell(f"{died}; {counted(self._deaths, 'quick death')} in a row: giving up", err=True)
                return 1
            wait = min(self._first_wait * 2 ** (self._deaths - 1), _LONGEST_WAIT)
            tell(f"{died}; again in {wait:g} s", err=True)
            self._state = "waiting"
            if self._stopping.wait(wait):
                return 0
            self.restarts += 1

    def _work(self) -> int:
        """One worker, from its start to its end; returns its exit code."""
        resuming = ["--resume"] if self._may_resume or self.restarts else []
        self._state, self._running_since, self._moved = "starting", None, time.monotonic()
        self._worker = worker = subprocess.Popen(  # noqa: S603 - our own command
            [*self._command, *resuming], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        if self._stopping.is_set():
            self.stop()
        assert worker.stdin is not None
        assert worker.stdout is not None
        hearing = threading.Thread(target=self._hear, args=(worker.stdout,), daemon=True)
        hearing.start()
        try:
            while worker.poll() is None:
                if self._stopping.wait(0.05):
                    return self._ended(worker)
                if self._hang_limit and self._stood() > self._hang_limit + self._told.get("tick_seconds", 0.0):
                    return self._end_hanging(worker)
            return worker.returncode
        finally:
            hearing.join(_LAST_WORDS)
            with contextlib.suppress(OSError):
                worker.stdin.close()

    def _ended(self, worker: subprocess.Popen[bytes]) -> int:
        """It was told to end, and does, or is killed."""
        self._state = "stopping"
        try:
            return worker.wait(_GRACE)
        except subprocess.TimeoutExpired:
            tell(f"it did not end within {_GRACE:g} s, and was killed", err=True)
            worker.kill()
            return worker.wait()

    def _stood(self) -> float:
        """For how many real seconds the worker's clock has stood."""
        return time.monotonic() - self._moved

    def _end_hanging(self, worker: subprocess.Popen[bytes]) -> int:
        tell(
            f"its clock has stood at tick {self._told.get('tick', 0)} for {self._stood():.1f} s: it is ended", err=True
        )
        if self._running_since is not None:
            self._running_since += self._stood()  # that was no life: who hangs again and again dies quickly
        if sys.platform != "win32":
            worker.send_signal(signal.SIGABRT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return worker.wait(_LAST_WORDS)
        worker.kill()
        return worker.wait()

    def _hear(self, lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    told = json.loads(line)
                    if isinstance(told, dict):
                        self._heard(told)

    def _heard(self, told: dict[str, Any]) -> None:
        before, self._told = self._told, told
        if told.get("is_paused") or any(told.get(key) != before.get(key) for key in ("tick", "state")):
            self._moved = time.monotonic()
        if told.get("state") == "running" and self._running_since is None:
            self._running_since = time.monotonic()
        if not self._stopping.is_set():
            self._state = str(told.get("state"))

    # --- health -------------------------------------------------------------------------------------------------------

    def health(self) -> dict[str, Any]:
        """How it is: what the worker told last, and how many there were."""
        worker = self._worker
        return {
            "tick": 0, "committed_tick": 0, "late_ticks": 0, "is_paused": False, **self._told, "state": self._state,
            "seconds_since_tick": round(self._stood(), 1), "restarts": self.restarts,
            "pid": None if worker is None or worker.poll() is not None else worker.pid,
        }  # fmt: skip

    @contextlib.contextmanager
    def telling_health(self, port: int) -> Iterator[str]:
        """Tell it over HTTP on loopback meanwhile; gives the address."""
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # slow to import

        supervisor = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 5.0

            def do_GET(self) -> None:
                health = supervisor.health()
                body = json.dumps(health).encode("ascii") + b"\n"
                self.send_response(200 if health["state"] == "running" else 503)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object, **_named: object) -> None:
                """Who asks is not told about."""

        try:
            server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            raise click.BadParameter(f"{port}: {error.strerror or error}", param_hint="--health-port") from None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            server.server_close()


def _exit_words(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


# --- a worker ---------------------------------------------------------------------------------------------------------


class ServedRun:
    """Runs a world in real time, records it, and tells the supervisor how far it has come."""

    def __init__(
        self, world: World, path: Path, params: Mapping[str, Value], *, seed: int, speed: float,
        durability: Literal["process", "power"], may_resume: bool,
    ) -> None:  # fmt: skip
        self._world = world
        self._params = params
        self._path = path
        self._seed = seed
        self._speed = speed
        self._durability: Literal["process", "power"] = durability
        self._may_resume = may_resume
        self._state = "resuming"
        self._runtime: Runtime | None = None
        self._recorder: RunRecorder | None = None
        self._stop: Callable[[], object] = lambda: os._exit(0)  # before it has begun nothing is lost
        self._is_stopping = False

    def run(self) -> None:
        """Run it to its end."""
        import asyncio

        faulthandler.enable()  # on SIGABRT it says where it hangs
        out = os.dup(1)
        os.dup2(2, 1)  # what the world prints is no word of ours
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C comes to the supervisor as well, which tells us
        threading.Thread(target=self._tell, args=(out,), daemon=True).start()
        threading.Thread(target=self._end_with_supervisor, daemon=True).start()
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._whole())
        self._tell_once(out)
        os._exit(0)  # threads of the world's own keep nobody waiting

    async def _whole(self) -> None:
        import asyncio

        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._stop = lambda: loop.call_soon_threadsafe(self._end, task)
        with contextlib.suppress(NotImplementedError):  # not on every system
            loop.add_signal_handler(signal.SIGTERM, self._end, task)
        if self._may_resume and self._path.exists():
            from agentrt.record.resume import resume
            from agentrt.record.schema import NOTHING_YET

            try:
                async with resume(self._path, self._make) as runtime:
                    await self._live(runtime)
                return
            except RecordingError as error:
                if error.problem != NOTHING_YET:
                    raise
                self._path.unlink()  # who made it was killed before it had a header
        runtime = self._make(seed=self._seed, host="asyncio", params=self._params)
        runtime.record(self._path, world=self._world.name, params=self._params, durability=self._durability)
        async with runtime:
            await self._live(runtime)

    def _make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        self._runtime = runtime = make_world(self._world, seed=seed, host=host, params=params)
        return runtime

    async def _live(self, runtime: Runtime) -> None:
        recorder = self._recorder = runtime.recorder
        assert recorder is not None
        self._state = "running"
        if self._is_stopping:
            return
        runtime.after_tick(lambda: runtime.stop() if recorder.has_failed else None)
        try:
            await play(self._world, runtime, self._speed)
        except AgentRTError as error:  # of the game's: the next one may fare better
            raise RuntimeError("the world ended by an error") from error
        if recorder.has_failed:
            raise RecordingError(str(self._path), f"nothing more can be written: {recorder.stopped}")

    def _end(self, task: asyncio.Task[None]) -> None:
        """Between two ticks; while it is replayed nothing is lost by an end."""
        self._is_stopping = True
        if self._state == "running" and self._runtime is not None:
            self._runtime.stop()
        else:
            task.cancel()

    def _end_with_supervisor(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(
                0, 1
            ):  # a thread within sys.stdin would abort the interpreter when the world ends by an error
                pass
        self._stop()
        time.sleep(_GRACE)
        os._exit(3)

    # --- what it tells ------------------------------------------------------------------------------------------------

    def _tell(self, out: int) -> None:
        while True:
            self._tell_once(out)
            time.sleep(_TOLD_EVERY)

    def _tell_once(self, out: int) -> None:
        runtime, recorder = self._runtime, self._recorder
        told = {
            "state": self._state,
            "tick": 0 if runtime is None else runtime.tick,
            "committed_tick": 0 if recorder is None else recorder.committed_tick,
            "late_ticks": 0 if runtime is None else runtime.late_ticks,
            "is_paused": runtime is not None and runtime.gate.is_closed,
            "tick_seconds": 0.0 if runtime is None else 1 / (runtime.clock.ticks_per_second * self._speed),
        }
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(out, json.dumps(told).encode("ascii") + b"\n")
