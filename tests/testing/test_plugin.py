"""The pytest plugin, seen from outside: runs of pytest within a test, with tests of a user's."""

from __future__ import annotations

import re

import pytest

from agentrt.record import Recording
from agentrt.worlds import load_world

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def imported_before():
    """What a run of pytest within a test is the first to import, it forgets at its end; numpy cannot be imported again."""
    load_world("colony").make(seed=0, host="plain").close()


USERS = """
    import pytest
    from agentrt import TOP, Action, Agent, CancelScope, Entity, sleep_ticks
    from agentrt.testing import Simulation, stub_action, stub_plan

    def eater(name="Ann"):
        actions = [stub_plan("top", "mod:eat"), stub_action("mod:eat", takes=3)]
        return Agent(Entity("human"), name=name, actions=actions, top="top")

    def broken():
        raise ValueError("broken")
"""


@pytest.fixture
def run(pytester):
    """Run a user's tests, in this process; returns the result."""
    pytester.makeini(
        "[pytest]\nfilterwarnings = error\nasyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
    )

    def run(tests, *options):
        pytester.makepyfile("\n".join(line.removeprefix("    ") for line in (USERS + tests).splitlines()))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:pytester", *options)

    return run


def sections(result):
    """The headings and lines of what is said about failures."""
    found = {}
    lines = found[""] = []
    for line in result.outlines:
        heading = re.fullmatch(r"[-=_ ]*-[- ]?(agentrt \w+)[^-]*-+|[=_ ]+.*[=_ ]+", line)
        if heading:
            lines = found.setdefault(heading[1] or "", [])
        else:
            lines.append(line)
    return found


def recording_of(result):
    path = sections(result)["agentrt recording"][0]
    with Recording.open(path) as recording:
        return recording.meta, recording.last_tick, [record.line() for record in recording.records()]


FAILS = """
    def test_it(sim):
        sim.add(eater())
        sim.tick(3)
        assert False, "no"
"""

# --- what a failure tells ---------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: pytest plugin: a failed test shows the end of the trace and the explanations and keeps "
    "its recording",
    source="design 7",
)
def test_a_failed_test_shows_the_end_of_the_trace_and_the_explanations_and_keeps_the_recording(run):
    result = run(FAILS, "--agentrt-tail=3")
    result.assert_outcomes(failed=1)
    found = sections(result)
    result.stdout.fnmatch_lines(["*- agentrt trace: the last 3 of 12 records, tick 3, seed 0 -*"])
    assert found["agentrt trace"] == [
        "1 Ann top/Top stop_thinking",
        "1 Ann top/Top run",
        "1 Ann top/Top/mod:eat/Eat run",
    ]
    assert found["agentrt explain"][:2] == ["Ann at tick 3: top/Top/mod:eat/Eat", "  <top> running"]
    path, look, *more = found["agentrt recording"]
    assert look == f"look at it: agentrt inspect {path}"
    assert not any("replay" in line for line in more)  # no world that a command could make again
    meta, last_tick, records = recording_of(result)
    assert (meta["seed"], meta["started"], last_tick) == (0, 0, 3)
    assert records[-1] == "1 Ann top/Top/mod:eat/Eat run"


def test_what_is_shown_can_be_switched_off(run):
    result = run(FAILS, "--agentrt-tail=0", "-o", "agentrt_record=never")
    assert set(sections(result)) == {"", "agentrt explain"}


def test_the_agents_of_whom_the_trace_told_last_are_explained(run):
    result = run(
        """
    def test_it(sim):
        for number in range(9):
            sim.add(eater(f"A{number}"))
            sim.tick(1)
        assert False
        """
    )
    explained = [line for line in sections(result)["agentrt explain"] if re.match(r"A\d at", line)]
    assert [line[:2] for line in explained] == ["A2", "A5", "A8", "A0", "A1", "A3"]
    assert "and 3 more agents" in sections(result)["agentrt explain"]


def test_a_test_that_passes_keeps_nothing(run, pytester):
    result = run(FAILS.replace("assert False", "assert True"), "--agentrt-recordings=kept")
    result.assert_outcomes(passed=1)
    assert list((pytester.path / "kept").iterdir()) == []


def test_recordings_go_where_they_are_wanted_and_replace_nothing(run, pytester):
    for _ in range(2):
        run(FAILS, "--agentrt-recordings=deep/kept").assert_outcomes(failed=1)
    assert sorted(one.name for one in (pytester.path / "deep" / "kept").iterdir()) == [
        "test_it-2.sqlite",
        "test_it.sqlite",
    ]


def test_all_recordings_can_be_kept(run, pytester):
    run(FAILS.replace("assert False", "assert True"), "--agentrt-recordings=kept", "-o", "agentrt_record=all")
    assert [one.name for one in (pytester.path / "kept").iterdir()] == ["test_it.sqlite"]
    result = run(FAILS, "-o", "agentrt_record=some")
    assert "agentrt_record is one of failed, all, never" in "\n".join(result.errlines)


def test_a_recording_that_cannot_be_made_is_no_failure(run, pytester):
    (pytester.path / "kept").write_text("a file")
    own = """
    from pathlib import Path

    def test_it(agentrt_watch, monkeypatch):
        monkeypatch.setattr("agentrt.testing.plugin._free", lambda folder, name: Path("/nowhere/at/all.sqlite"))
        sim = agentrt_watch(Simulation())
        sim.tick()
        assert {}
    """
    run(own.format("True")).assert_outcomes(passed=1)
    result = run(own.format("False"))
    result.assert_outcomes(failed=1)
    assert sections(result)["agentrt recording"][0].startswith("there is none: [ART230]")


def test_a_test_that_records_by_itself_says_so(run):
    result = run(
        """
    @pytest.mark.agentrt(record=False)
    def test_it(sim, tmp_path):
        with sim.runtime.record(tmp_path / "own.sqlite"):
            sim.tick()
        """
    )
    result.assert_outcomes(passed=1)


# --- seeds and markers ------------------------------------------------------------------------------------------------

SEEDS = """
    def test_it(sim, runtime, agentrt_seed):
        assert sim.runtime is runtime
        print("seed", repr(agentrt_seed), repr(runtime.kernel.seed))

    @pytest.mark.agentrt(seed="its own")
    def test_marked(runtime, agentrt_seed):
        print("marked", repr(agentrt_seed), repr(runtime.kernel.seed))
"""


@pytest.mark.parametrize(
    ("options", "seed"), [([], "0"), (["--agentrt-seed=12"], "12"), (["--agentrt-seed", "twelve"], "'twelve'")]
)
def test_the_seed(run, options, seed):
    result = run(SEEDS, "-s", *options)
    result.assert_outcomes(passed=2)
    lines = "\n".join(result.outlines)
    assert f"seed {seed} {seed}" in lines
    assert "marked 'its own' 'its own'" in lines
    assert [line for line in result.outlines if line.startswith("agentrt:")] == [f"agentrt: {' '.join(options)}"][
        : len(options)
    ] or options[0] == "--agentrt-seed"


def test_a_random_seed_is_said_so_that_it_can_be_taken_again(run):
    seeds = []
    for _ in range(2):
        result = run(SEEDS, "-s", "--agentrt-seed=random")
        (line,) = [line for line in result.outlines if line.startswith("agentrt: --agentrt-seed=")]
        seeds.append(int(line.partition("=")[2]))
        assert f"seed {seeds[-1]} {seeds[-1]}" in "\n".join(result.outlines)
    assert seeds[0] != seeds[1]


def test_a_marker_has_options_of_the_runtime_and_the_nearest_one_counts(run):
    result = run(
        """
    pytestmark = pytest.mark.agentrt(seed=1, ticks_per_second=7)

    @pytest.mark.agentrt(seed=2, think_budget=3)
    def test_it(sim):
        clock = sim.runtime.clock
        assert (sim.runtime.kernel.seed, clock.ticks_per_second, sim.runtime.search.budget.units) == (2, 7, 3)
        """
    )
    result.assert_outcomes(passed=1)


def test_a_marker_takes_its_arguments_by_name(run):
    result = run("\n    @pytest.mark.agentrt(7)\n    def test_it(sim):\n        pass\n")
    result.assert_outcomes(errors=1)
    assert "the marker agentrt takes its arguments by name" in "\n".join(result.outlines)


def test_a_world_by_its_name_can_be_run_again(run):
    result = run(
        """
    @pytest.mark.agentrt(world="colony", seed=7)
    def test_it(sim):
        sim.tick(2)
        assert len(sim.runtime.agents) < 3
        """
    )
    result.assert_outcomes(failed=1)
    path = sections(result)["agentrt recording"][0]
    assert sections(result)["agentrt recording"][2] == f"run it again: agentrt replay {path}"
    assert recording_of(result)[0]["world"] == "colony"


# --- what a simulation must not leave ---------------------------------------------------------------------------------

FAULTS = """
    {}
    def test_it(sim):
        sim.runtime.post(broken)
        sim.tick()
        {}
"""


@pytest.mark.states("tools: Test kit and log: A fault that a test did not expect fails it")
def test_a_fault_that_nobody_expected_fails_the_test_at_its_end(run):
    result = run(FAULTS.format("", ""))
    result.assert_outcomes(passed=1, errors=1)
    text = "\n".join(result.outlines)
    assert "1 faults were reported and not expected. A test takes those that it expects by sim.faults()" in text
    assert "1 fault text='a function of the tick raised: broken' error='ValueError: broken'" in text
    assert recording_of(result)[1] == 1


@pytest.mark.parametrize(
    "where", [("", "assert [one.path for one in sim.faults()] == ['']"), ("@pytest.mark.agentrt(faults='ignore')", "")]
)
def test_a_fault_that_is_expected_does_not(run, where):
    run(FAULTS.format(*where)).assert_outcomes(passed=1)


def test_a_test_that_failed_anyway_is_not_bothered_with_faults(run):
    run(FAULTS.format("", "assert 0")).assert_outcomes(failed=1)


@pytest.mark.parametrize(("ticks", "outcome"), [(90, {"passed": 1}), (300, {"passed": 1, "errors": 1})])
def test_a_coroutine_that_does_not_end_fails_the_test(run, ticks, outcome):
    result = run(
        """
    class Clings(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks({})

    def test_it(sim):
        sim.add(Agent(Entity("human"), actions=[Clings], top="top"))
        sim.tick(2)
        """.replace("{}", str(ticks))
    )
    result.assert_outcomes(**outcome)
    assert ("it was killed" in "\n".join(result.outlines)) == ("errors" in outcome)


# --- on event loops ---------------------------------------------------------------------------------------------------

ASYNC = """
    import anyio

    log = []

    class Looks(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await anyio.sleep(0)
            log.append("ran")
            await ctx.sleep(1000)

        def stop(self, ctx, args):
            log.append("stopped")

    @pytest.mark.MARK
    async def test_it(runtime):
        runtime.add(Agent(Entity("human"), name="Ann", actions=[Looks], top="top"))
        await runtime.run(3, speed=1000)
        assert log == ["ran"]
        assert runtime.host == HOST
        FAIL

    def test_it_was_closed():
        assert log == ["ran", "stopped"]
"""


@pytest.mark.states("tools: Test kit and log: pytest plugin: a failed test shows the end of the trace and the ...")
@pytest.mark.parametrize(
    ("mark", "host", "more"),
    [
        ("asyncio", "asyncio", ""),
        ("anyio", "asyncio", "\n    @pytest.fixture\n    def anyio_backend():\n        return 'asyncio'\n"),
        ("anyio", "trio", "\n    @pytest.fixture\n    def anyio_backend():\n        return 'trio'\n"),
    ],
)
def test_a_runtime_is_closed_on_the_event_loop_of_its_test(run, mark, host, more):
    tests = ASYNC.replace("MARK", mark).replace("HOST", repr(host)) + more
    run(tests.replace("FAIL", "")).assert_outcomes(passed=2)


def test_a_failure_on_an_event_loop_explains_the_agents_before_they_end(run):
    tests = ASYNC.replace("MARK", "asyncio").replace("HOST", "'asyncio'").replace("FAIL", "assert 0")
    result = run(tests)
    result.assert_outcomes(failed=1, passed=1)
    assert sections(result)["agentrt explain"][0] == "Ann at tick 3: top/Looks"


def test_a_runtime_that_a_plain_test_leaves_is_closed(run):
    result = run(
        """
    log = []
    Eat = stub_action("top", takes=9)

    def test_it(runtime):
        runtime.add(Agent(Entity("human"), actions=[Eat], top="top"))
        runtime.step()

    def test_it_was_closed():
        Eat.calls.check_pairs()
        assert Eat.calls.count("stop") == 1
        """
    )
    result.assert_outcomes(passed=2)


# --- tests of others --------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Test kit and log: pytest plugin: a failed test shows the end of the trace and the ...")
def test_a_test_that_uses_nothing_of_it_is_left_alone(pytester):
    """In a process of its own: what is imported, and what is said."""
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = sorted(name for name in sys.modules if name.startswith(("agentrt.record", "agentrt.inspect")))
            assert ours == []
            heavy = {"agentrt.testing.watched", "agentrt.testing.strategies", "sqlite3", "structlog"}
            assert heavy & set(sys.modules) == set()

        def test_that_fails():
            assert False
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "error")
    result.assert_outcomes(passed=1, failed=1)
    assert [line for line in result.outlines if "agentrt" in line and not line.startswith("plugins:")] == []


def test_the_plugin_is_found_by_its_entry_point(pytestconfig):
    assert pytestconfig.pluginmanager.get_plugin("agentrt").__name__ == "agentrt.testing.plugin"
    assert "agentrt(seed=..., world=..." in "\n".join(pytestconfig.getini("markers"))


# --- one test, many seeds ---------------------------------------------------------------------------------------------

MANY_SEEDS = """
    @pytest.mark.seeds(5)
    def test_it(sim, agentrt_seed):
        assert sim.runtime.kernel.seed == agentrt_seed
        sim.add(eater())
        sim.tick(3)
        assert agentrt_seed % 3 != 1, "no"
"""


def test_a_test_of_many_seeds_reports_those_that_failed_with_their_recordings(run, pytester):
    result = run(MANY_SEEDS, "--agentrt-recordings=kept")
    result.assert_outcomes(passed=3, failed=2)
    kept = {}
    for path in (pytester.path / "kept").iterdir():
        with Recording.open(path) as recording:
            kept[path.name] = recording.meta["seed"]
    assert kept == {"test_it-seed-1.sqlite": 1, "test_it-seed-4.sqlite": 4}
    result.stdout.fnmatch_lines(["*= agentrt seeds =*", "*::test_it failed with the seeds 1, 4"])


def test_one_of_many_seeds_can_be_chosen(run):
    run(MANY_SEEDS, "-k", "seed-2").assert_outcomes(passed=1, deselected=4)


def test_seeds_of_a_list_with_other_parameters_and_a_runtime(run):
    result = run(
        """
    @pytest.mark.parametrize("number", [1, 2])
    @pytest.mark.seeds([7, -9, 7])
    def test_it(runtime, number):
        assert (runtime.kernel.seed, number) != (-9, 2)
        """
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*::test_it[[]2] failed with the seeds -9"])


@pytest.mark.parametrize(
    ("marker", "takes", "said"),
    [
        ("seeds(0)", "sim", "the marker seeds takes a number of them, or a list"),
        ("seeds('5')", "sim", "the marker seeds takes a number of them, or a list"),
        ("seeds(count=5)", "sim", "the marker seeds takes a number of them, or a list"),
        ("seeds([1, 'a'])", "sim", "the marker seeds takes a number of them, or a list"),
        ("seeds(5)", "tmp_path", "takes none of agentrt_seed, sim, runtime"),
        ("agentrt(seed=3)\n    @pytest.mark.seeds(5)", "sim", "leave one of them out"),
    ],
)
def test_markers_of_seeds_that_say_nothing(run, marker, takes, said):
    result = run(f"\n    @pytest.mark.{marker}\n    def test_it({takes}): pass\n")
    assert said in result.stdout.str() + result.stderr.str()
    assert "passed" not in result.stdout.str()
