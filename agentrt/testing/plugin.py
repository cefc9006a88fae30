"""The pytest plugin: fixtures, a seed for all tests, and what a failed test of agents has to tell.

pytest finds it by the entry point ``agentrt`` of the group ``pytest11``. When a test fails that used one of its
fixtures, its report gets three sections: the newest records of the trace, the explanation of the agents, and where the
recording of the run lies. Recordings of tests that passed are thrown away.

Rules:

* A test that uses none of the fixtures is not touched, and nothing of agentrt beyond this module is imported for it.
* The seed is that of the marker ``@pytest.mark.agentrt(seed=7)``; else that of ``--agentrt-seed``; else 0. A test with
  literal traces marks its seed, the others are to pass with any.
* ``sim`` fails a test that leaves a fault it did not take (``sim.faults()``). An error in a hook is survived by its
  agent, and a coroutine that does not end is killed; in a test that is a finding. ``@pytest.mark.agentrt(faults=
  "ignore")`` switches it off.
* ``@pytest.mark.seeds(50)`` makes fifty tests of one, a seed each: they are chosen, repeated and distributed one by one
  as any others, and each that fails has its own recording. The end of the report says which seeds failed. A marker
  ``agentrt(seed=...)`` would contradict it, and a test that has nothing of the seed would be the same fifty times: both
  are refused.
* What is *watched* is listened to from the moment it is made; nothing of that can be seen in the run. A recording that
  cannot be made is no reason for a test to fail: the section says why there is none.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from agentrt.errors import ENDS_PROGRAM, AgentRTError
from agentrt.words import error_words, printable, printable_lines

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.kernel.trace import TraceRecord
    from agentrt.runtime.intake import RunRecorder
    from agentrt.runtime.runtime import Runtime
    from agentrt.testing.simulation import Simulation


T = TypeVar("T")

_WATCHED: pytest.StashKey[list[_Watched]] = pytest.StashKey()
_FAILED: pytest.StashKey[bool] = pytest.StashKey()
_MARKER = (
    "agentrt(seed=..., world=..., params=..., faults='fail', record=True, **options): for the fixtures 'sim' and "
    "'runtime': the seed; the name of a world and its parameters; whether faults that are left fail the test; False "
    "for a test that records by itself; other arguments of Runtime"
)
_SEEDS_MARKER = "seeds(count): run the test with that many seeds, from 0 on, or with those of a list or a range"
_SEEDED = ("agentrt_seed", "sim", "runtime")  # fixtures that the seed comes in by
_SEED_IN_NAME = re.compile(r"\[(.*-)?seed-(-?\d+)(-.*)?\]$")
_MOST_SEEDS = 100_000
_KEPT = ("failed", "all", "never")
_TOLD = 6  # how many agents are explained
_COMMIT_EVERY = 10_000  # ticks: what a test writes is looked at when it has ended, and a commit costs more than a tick


# --- what can be said on the command line -----------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("agentrt")
    group.addoption(
        "--agentrt-seed", default="0", metavar="SEED", help="the seed of 'sim' and 'runtime', or the word random"
    )
    group.addoption(
        "--agentrt-tail", type=int, default=40, metavar="N", help="how many records of the trace a failed test shows"
    )
    group.addoption(
        "--agentrt-recordings",
        metavar="DIR",
        help="where recordings of failed tests are kept; a temporary folder by default",
    )
    parser.addini("agentrt_record", f"which recordings of tests are kept: {', '.join(_KEPT)}", default="failed")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; choose the seed, if none is wanted in particular."""
    config.addinivalue_line("markers", _MARKER)
    config.addinivalue_line("markers", _SEEDS_MARKER)
    if config.getini("agentrt_record") not in _KEPT:
        raise pytest.UsageError(f"agentrt_record is one of {', '.join(_KEPT)}")
    if config.getoption("--agentrt-seed") == "random":
        import random

        config.option.agentrt_seed = str(random.randrange(2**32))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say the seed, if it is not the usual one."""
    seed = config.getoption("--agentrt-seed")
    return [] if seed == "0" else [printable(f"agentrt: --agentrt-seed={seed}")]


# --- one test, many seeds ---------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that is marked so becomes one for each seed."""
    marker = metafunc.definition.get_closest_marker("seeds")
    if marker is None:
        return
    seeds = _seeds_of(marker)
    name = metafunc.definition.nodeid
    if "seed" in _marked(metafunc.definition):
        raise pytest.UsageError(f"{name} is marked with seeds(...) and with agentrt(seed=...): leave one of them out")
    if not any(fixture in metafunc.fixturenames for fixture in _SEEDED):
        raise pytest.UsageError(f"{name} is marked with seeds(...) and takes none of {', '.join(_SEEDED)}")
    # A parameter goes before the fixture of its name, for whatever asks for it.
    metafunc.fixturenames.append("agentrt_seed")
    metafunc.parametrize("agentrt_seed", seeds, ids=[f"seed-{seed}" for seed in seeds])


def _seeds_of(marker: pytest.Mark) -> list[int]:
    given = marker.args[0] if len(marker.args) == 1 and not marker.kwargs else None
    seeds = range(given) if type(given) is int else given if isinstance(given, list | tuple | range) else ()
    if not 0 < len(seeds) <= _MOST_SEEDS or any(type(seed) is not int for seed in seeds):
        raise pytest.UsageError("the marker seeds takes a number of them, or a list: seeds(50), seeds([3, 17])")
    return list(dict.fromkeys(seeds))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which seeds of a test failed, in one line for each test."""
    failed: dict[str, list[str]] = {}
    for report in terminalreporter.getreports("failed"):
        told = _SEED_IN_NAME.search(report.nodeid)
        if told is not None:
            others = "-".join(part.strip("-") for part in (told[1], told[3]) if part)
            name = report.nodeid[: told.start()] + (f"[{others}]" if others else "")
            failed.setdefault(name, []).append(told[2])
    if failed:
        terminalreporter.section("agentrt seeds")
        for name, seeds in failed.items():
            terminalreporter.line(printable(f"{name} failed with the seeds {', '.join(dict.fromkeys(seeds))}"))


# --- fixtures ---------------------------------------------------------------------------------------------------------


def _marked(node: Any) -> dict[str, Any]:
    """What the markers of a test say, the nearest one first."""
    said: dict[str, Any] = {}
    for marker in node.iter_markers("agentrt"):
        if marker.args:
            raise pytest.UsageError("the marker agentrt takes its arguments by name: agentrt(seed=7)")
        said = {**marker.kwargs, **said}
    return said


@pytest.fixture
def agentrt_seed(request: pytest.FixtureRequest) -> int | str:
    """The seed of this test's simulation or runtime."""
    wanted = str(request.config.getoption("--agentrt-seed"))
    marked: int | str = _marked(request.node).get("seed", int(wanted) if wanted.isdecimal() else wanted)
    return marked


@pytest.fixture
def agentrt_watch(request: pytest.FixtureRequest) -> Callable[[T], T]:
    """A function that takes a simulation or a runtime, and gives it back: from then on a failure tells of it."""
    node = request.node
    config = request.config
    watched = node.stash.setdefault(_WATCHED, [])
    tail: Any = config.getoption("--agentrt-tail")
    marked = _marked(node)
    records = marked.get("record", True) and config.getini("agentrt_record") != "never"

    def watch(what: T) -> T:
        given: Any = what
        one = _Watched(getattr(given, "runtime", given), tail)
        watched.append(one)
        if records:
            one.record(_free(_folder(request), node.name), marked.get("world", ""), marked.get("params"))
        return what

    return watch


@pytest.fixture
def sim(
    request: pytest.FixtureRequest, agentrt_seed: int | str, agentrt_watch: Callable[[Any], Any]
) -> Iterator[Simulation]:
    """A simulation, from its first tick."""
    from agentrt.testing.simulation import Simulation

    made = Simulation(runtime=_make(request, agentrt_seed, "plain"))
    agentrt_watch(made)
    yield made
    made.close()
    if not request.node.stash.get(_FAILED, False) and _marked(request.node).get("faults", "fail") == "fail":
        _require_no_fault(made)


@pytest.fixture
def runtime(
    request: pytest.FixtureRequest, agentrt_seed: int | str, agentrt_watch: Callable[[Any], Any]
) -> Iterator[Runtime]:
    """A runtime, to be driven by the test; the one of ``sim``, if the test uses both."""
    if "sim" in request.fixturenames:
        yield request.getfixturevalue("sim").runtime
        return
    made: Runtime = agentrt_watch(_make(request, agentrt_seed, "auto"))
    node: Any = request.node
    if inspect.iscoroutinefunction(getattr(node, "obj", None)):
        node.obj = _closing(node.obj, made, node.stash[_WATCHED])
    yield made
    if made.host in ("auto", "plain"):
        made.close()


def _make(request: pytest.FixtureRequest, seed: int | str, host: str) -> Runtime:
    options = _marked(request.node)
    for ours in ("seed", "faults", "record"):
        options.pop(ours, None)
    world, params = options.pop("world", ""), options.pop("params", None)
    if world:
        from agentrt.worlds import load_world, make_world

        return make_world(load_world(world), seed=int(seed), host=options.pop("host", host), params=params)
    from agentrt.runtime.runtime import Runtime

    return Runtime(seed, **{"host": host, **options})


def _closing(test: Callable[..., Any], runtime: Runtime, watched: list[_Watched]) -> Callable[..., Any]:
    """The same test; at its end the runtime is closed, while the event loop is there."""

    @functools.wraps(test)
    async def closing(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        try:
            await test(*args, **kwargs)
        except BaseException:
            for one in watched:
                one.explain_now()
            raise
        finally:
            if not runtime.is_driven:
                await runtime.aclose()

    return closing


def _require_no_fault(made: Simulation) -> None:
    faults = made.faults()
    if faults:
        lines = "\n".join(f"  {record.line()}" for record in faults)
        pytest.fail(
            f"{len(faults)} faults were reported and not expected. A test takes those that it expects by sim.faults(), "
            f"or is marked agentrt(faults='ignore'):\n{lines}",
            pytrace=False,
        )


def _folder(request: pytest.FixtureRequest) -> Path:
    wanted = request.config.getoption("--agentrt-recordings")
    if wanted:
        folder = Path(wanted)
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    folder = factory.getbasetemp() / "agentrt"
    folder.mkdir(exist_ok=True)
    return folder


def _free(folder: Path, name: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "-", name)[:80].strip("-") or "test"
    number = 1
    path = folder / f"{stem}.sqlite"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.sqlite"
    return path


# --- reports ----------------------------------------------------------------------------------------------------------


class _Watched:
    """A runtime of a test: its newest records, and its recording."""

    def __init__(self, runtime: Runtime, tail: int) -> None:
        self.runtime = runtime
        self._recording: Path | None = None  # where it lies; None if there is none
        self._recorder: RunRecorder | None = None
        self._problem = ""  # why there is no recording
        self._world = ""
        self._told: list[str] = []
        self._count = 0
        self._tail: deque[TraceRecord] = deque(maxlen=max(tail, 0))
        self._close: Callable[[], None] = runtime.trace.listen(self._take)

    def _take(self, record: TraceRecord) -> None:
        self._count += 1
        self._tail.append(record)

    def record(self, path: Path, world: str, params: Mapping[str, Any] | None) -> None:
        """Write a recording from now on, of a world that has a name, or of one that only the test can make."""
        try:
            self._recorder = self.runtime.record(path, world=world, params=params, commit_every=_COMMIT_EVERY)
        except (AgentRTError, OSError) as error:
            self._problem = str(error)
        else:
            self._recording = path
            self._world = world

    def finish(self, *, keep: bool) -> None:
        self._close()
        if self._recorder is not None:
            self._recorder.close()
        if self._recording is not None and not keep:
            for suffix in ("", "-wal", "-shm"):
                self._recording.with_name(self._recording.name + suffix).unlink(missing_ok=True)

    def sections(self) -> Iterator[tuple[str, str]]:
        """What happened, as pairs of a heading and a text."""
        tick, seed = self.runtime.tick, self.runtime.kernel.seed
        heading = f"agentrt trace: the last {len(self._tail)} of {self._count} records, tick {tick}, seed {seed!r}"
        recording = [f"there is none: {self._problem}"] if self._problem else []
        if self._recording is not None:
            recording = [str(self._recording), f"look at it: agentrt inspect {self._recording}"]
            recording += [f"run it again: agentrt replay {self._recording}"] if self._world else []
        for head, lines in (
            (heading, [record.line() for record in self._tail]),
            (f"agentrt explain: tick {tick}", self._told or self._explanations()),
            ("agentrt recording", recording),
        ):
            if lines:
                yield printable(head), printable_lines("\n".join(lines))

    def explain_now(self) -> None:
        """Keep what the agents do: they will have ended when somebody asks."""
        self._told = self._explanations()

    def _explanations(self) -> list[str]:
        """Of those agents of whom the trace told last."""
        agents = {agent.name: agent for agent in self.runtime.agents}
        newest = dict.fromkeys([*(record.agent for record in reversed(self._tail)), *agents])
        chosen = [agents[name] for name in newest if name in agents][:_TOLD]
        more = len(agents) - len(chosen)
        return [_explained(agent) for agent in chosen] + ([f"and {more} more agents"] if more else [])


def _explained(agent: Agent) -> str:
    try:
        return agent.explain()
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # a report must come out, whatever an author's view raised
        return f"{agent!r}: explaining it raised {error_words(error)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the sections to the report of a test that failed; at the end of a test, let go of what was watched."""
    report = yield
    watched = item.stash.get(_WATCHED, None)
    if watched is None:
        return report
    if report.failed:
        item.stash[_FAILED] = True
        for one in watched:
            report.sections += one.sections()
    if call.when == "teardown":
        keeps = item.config.getini("agentrt_record")
        for one in watched:
            one.finish(keep=keeps == "all" or item.stash.get(_FAILED, False))
        watched.clear()
    return report
