"""What chaos finds: the library and its users are broken on purpose, and the report says where. Sound worlds are sound."""

from __future__ import annotations

import pytest
from modules import load
from players import HOSTS

from agentrt import MOVE, TOP, Action, Agent, Entity, sleep_ticks
from agentrt.activity.plan import tree
from agentrt.activity.plan.tree import Extras, Planner, Unit
from agentrt.body.flags import FlagLedger
from agentrt.errors import InternalError, InvariantError
from agentrt.kernel.trace import TraceEvent, TraceHub
from agentrt.strategy.ask import TaskNode
from agentrt.strategy.solve import RequestTable
from agentrt.testing import ChaosFault, ChaosReport, Simulation, exhaust
from agentrt.testing.chaos import MOMENTS

worlds = load("tests/chaos/worlds.py")


@pytest.fixture(autouse=True)
def silence(caplog):
    caplog.set_level("CRITICAL")


def rules(report):
    return {violation.rule for failure in report.failures for violation in failure.violations}


def texts(report):
    return [violation.text for failure in report.failures for violation in failure.violations]


# --- sound ones ---------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Faults: Whatever goes wrong at any await of any kind of strand: what begins ends, in pairs, and nothing "
    "is left",
    source="design 2, 7",
)
@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kind", worlds.KINDS)
def test_every_await_of_every_kind_of_strand_may_go_wrong(kind, host):
    moments = MOMENTS if host == "plain" else ("soon",)
    report = exhaust(worlds.KINDS[kind], ticks=4, host=host, moments=moments)
    assert report.check().runs > 10
    assert report.faults["cancel"]
    assert report.faults["raise"]


@pytest.mark.states(
    "tools: Faults: Agents beside the one that is hit act to the letter as they do without the fault",
    source="design 7",
)
@pytest.mark.slow
@pytest.mark.parametrize(("host", "every"), [("plain", 1), ("asyncio", 4), ("trio", 4)])
def test_those_beside_the_one_that_is_hit_do_not_notice(host, every):
    report = exhaust(worlds.walkers("ann", "bob", "eve"), ticks=8, host=host, every=every, are_apart=True)
    report.check()
    assert sum(report.faults.values()) > 20


def test_the_runs_points_and_faults_are_counted():
    report = exhaust(worlds.walkers("ann"), ticks=3, faults=["cancel", "delay"])
    # three points: a think, the beginning of the run, its first await; and one where it cleans up at the end
    assert str(report).startswith("9 runs, ")
    assert report.faults == {"cancel": 4, "delay": 4}
    assert str(report).endswith("8 faults (4 cancel, 4 delay), 0 failures")


def test_only_some_points():
    every_second = exhaust(worlds.walkers("ann"), ticks=3, faults=["cancel"], every=2)
    assert every_second.runs == 3
    one = exhaust(worlds.walkers("ann"), ticks=3, only=[(2, ChaosFault("remove", "intake"))])
    assert one.runs == 2
    assert one.faults == {"remove": 1}


@pytest.mark.parametrize("more", [{"faults": ["explode"]}, {"faults": []}, {"moments": ["never"]}, {"moments": []}])
def test_what_is_no_fault_or_no_moment_is_an_error(more):
    with pytest.raises(ValueError, match="choose from"):
        exhaust(worlds.walkers("ann"), ticks=3, **more)


def test_what_happens_before_a_tick():
    ticks = []

    def scenario(runtime):
        worlds.walkers("ann")(runtime)
        return ticks.append

    exhaust(scenario, ticks=3, only=[])
    assert ticks == [1, 2, 3]


# --- users' mistakes ----------------------------------------------------------------------------------------------------


class Greedy(worlds.Walk):
    """Gives its lease back only if all goes well."""

    async def run(self, ctx, args):
        lease = ctx.agent.runtime.leases.acquire(self, ctx.agent)
        await ctx.sleep_ticks(1)
        lease.release()


class Stubborn(worlds.Walk):
    """Does not end when it is told to."""

    async def run(self, ctx, args):
        while True:
            try:
                await ctx.sleep_ticks(1)
            except BaseException:
                pass


def of(*actions):
    return lambda runtime: runtime.add(Agent(Entity("ann"), actions=list(actions))) and None


def test_a_lease_that_is_not_given_back():
    report = exhaust(of(Greedy), ticks=4, faults=["cancel"])
    assert "nothing left" in rules(report)
    assert "Lease" in texts(report)[0]


def test_a_coroutine_that_will_not_end_is_found_even_without_a_fault():
    report = exhaust(of(Stubborn), ticks=3)
    assert report.runs == 1
    assert report.failures[0].faults == ()
    assert any("abandoned" in text for text in texts(report))


class Selfish(Action):
    """Everybody looks at what one of them does."""

    does = TOP
    utility = 0.5
    busy = 0

    async def run(self, ctx, args):
        type(self).busy += 1
        try:
            await ctx.sleep_ticks(1 + type(self).busy)
        finally:
            type(self).busy -= 1


def test_those_who_should_be_apart_and_are_not():
    def scenario(runtime):
        Selfish.busy = 0
        for name in ("ann", "bob"):
            runtime.add(Agent(Entity(name), actions=[Selfish]))

    report = exhaust(scenario, ticks=8, faults=["cancel"], are_apart=True)
    assert rules(report) == {"beside"}
    assert "it should act as without the fault: expected '" in texts(report)[0]
    assert exhaust(scenario, ticks=8, faults=["cancel"]).is_sound


# --- mistakes of ours ---------------------------------------------------------------------------------------------------


def without(monkeypatch, event):
    """As if a record of that kind were forgotten."""
    tell = TraceHub.tell
    monkeypatch.setattr(
        TraceHub, "tell", lambda hub, *where: where[3] is event or tell(hub, *where)
    )  # tick, agent, path, and then the event


@pytest.mark.checkout  # what is compiled cannot be broken from outside
@pytest.mark.states("tools: Faults: What is violated is told with the seed, the point and the end of the trace ...")
@pytest.mark.parametrize(
    ("event", "kind", "rule"),
    [
        (TraceEvent.STOP_THINKING, "plan", "think pairs"),
        (TraceEvent.THINK, "plan", "think pairs"),
        (TraceEvent.STOP, "plan", "all closed"),
        (TraceEvent.START, "plan", "order"),
        (TraceEvent.RUN, "plan", "order"),
        (TraceEvent.START, "goal", "start pairs"),
        (TraceEvent.STOP, "goal", "all closed"),
        (TraceEvent.ACTIVATE, "behavior", "active pairs"),
        (TraceEvent.DEACTIVATE, "leaf", "all closed"),
        (TraceEvent.TRY, "strategy", "one attempt"),
    ],
)
def test_a_pair_that_is_broken(monkeypatch, event, kind, rule):
    without(monkeypatch, event)
    assert rule in rules(exhaust(worlds.KINDS[kind], ticks=6, faults=["remove"]))


def test_flags_that_are_not_given_back(monkeypatch):
    release = FlagLedger.release
    monkeypatch.setattr(FlagLedger, "release", lambda *args: None)

    class Legs(worlds.Walk):
        flags = {MOVE}

    report = exhaust(of(Legs), ticks=4, faults=["remove"])
    assert any(text.startswith("control flags: {'MOVE'") for text in texts(report))
    monkeypatch.setattr(FlagLedger, "release", release)
    assert exhaust(of(Legs), ticks=4, faults=["remove"]).is_sound


@pytest.mark.states("003: Views: When an agent has ended no request is being solved, and every node of its trees ...")
def test_requests_that_do_not_end(monkeypatch):
    ended = RequestTable.ended
    monkeypatch.setattr(RequestTable, "ended", lambda *args: None)
    report = exhaust(worlds.KINDS["strategy"], ticks=6, faults=["remove"])
    assert "a request is still being solved: Get [all]" in texts(report)
    monkeypatch.setattr(RequestTable, "ended", ended)
    end = TaskNode.end
    monkeypatch.setattr(TaskNode, "end", lambda self, *args: self.parent is None or end(self, *args))
    report = exhaust(worlds.KINDS["strategy"], ticks=6, faults=["remove"])
    assert any(
        text.startswith("of a request that is over, a node is open: <TaskNode dependency") for text in texts(report)
    )
    monkeypatch.setattr(TaskNode, "end", end)
    assert exhaust(worlds.KINDS["strategy"], ticks=6, faults=["remove"]).is_sound


class Listening(worlds.Walk):
    def start(self, ctx, args):
        ctx.listen(ctx.signals["bell"], lambda value: None)


@pytest.mark.checkout  # what is compiled cannot be broken from outside
def test_a_listener_that_is_left(monkeypatch):
    assert exhaust(of(Listening), ticks=4, faults=["cancel"]).is_sound
    monkeypatch.setattr(Extras, "stopped", lambda self: None)
    report = exhaust(of(Listening), ticks=4, faults=["cancel"])
    assert any(text.startswith("a connection is still open: ") for text in texts(report))


@pytest.mark.checkout  # what is compiled cannot be broken from outside
def test_thinking_that_nobody_stops(monkeypatch):
    class Brooding(worlds.Walk):
        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.sleep_ticks(100)

    assert exhaust(of(Brooding), ticks=4, faults=["remove"]).is_sound
    monkeypatch.setattr(Planner, "dismiss", lambda self, strand: None)
    report = exhaust(of(Brooding), ticks=4, faults=["remove"])
    assert any("strands have not ended" in text for text in texts(report))


@pytest.mark.checkout  # what is compiled cannot be broken from outside
def test_a_unit_that_is_not_stopped(monkeypatch):
    monkeypatch.setattr(Unit, "stop", lambda self, state=0: None)
    report = exhaust(worlds.with_plan, ticks=4, faults=["remove"])
    assert "all closed" in rules(report)


@pytest.mark.checkout  # what is compiled cannot be broken from outside
def test_a_bug_of_ours_that_a_hook_hides(monkeypatch):
    def call(unit, hook):
        unit.frame.planner.fault(unit, hook, InternalError("it cannot be."))

    monkeypatch.setattr(tree, "_call", call)

    class Stopping(worlds.Walk):
        def stop(self, ctx, args):
            pass

    report = exhaust(of(Stopping), ticks=4, faults=["cancel"])
    assert rules(report) == {"no bug of ours"}


# --- the report ---------------------------------------------------------------------------------------------------------


class Careless(Action):
    """Gives its lease back when it is done or cancelled, and not when its await fails."""

    does = TOP
    utility = 0.5
    name = "careless"

    async def run(self, ctx, args):
        lease = ctx.agent.runtime.leases.acquire(ctx.agent.entity.tool, ctx.agent)
        try:
            await ctx.sleep_ticks(1)
        except Exception:
            raise
        except BaseException:
            lease.release()
            raise
        lease.release()


class Tooled(Entity):
    def __init__(self):
        super().__init__("ann")
        self.tool = Entity("saw")


def careless(runtime):
    runtime.add(Agent(Tooled(), actions=[Careless]))


@pytest.mark.states(
    "tools: Faults: What is violated is told with the seed, the point and the end of the trace, and can be played "
    "again alone",
    source="design 7",
)
def test_what_a_failure_tells():
    report = exhaust(careless, ticks=1, faults=["cancel", "raise"], seed=7)
    (failure,) = report.failures
    told = str(failure).splitlines()
    assert told[:4] == [
        "careless, seed 7, plain host",
        "  point 2 (tick 1, ann, 'careless', await 1): raise, soon",
        "  violated: tick 2: nothing left: <Lease of <Entity 'saw'> for <Agent 'ann': not running, knows 1 actions>: held>",
        "  the last records:",
    ]
    again = exhaust(careless, ticks=1, seed=7, only=[(point.number, fault) for point, fault in failure.faults])
    assert [str(one) for one in again.failures] == [str(failure)]
    with pytest.raises(InvariantError, match=r"ART312.*Play the point again") as caught:
        report.check()
    assert caught.value.failures == (str(failure),)


def test_it_stops_after_ten_failures():
    report = exhaust(careless, ticks=40, faults=["raise"])
    assert len(report.failures) == 10
    with pytest.raises(InvariantError, match="and 5 more runs"):
        report.check()


def test_a_long_run_tells_its_last_faults():
    sim = Simulation(seed=3)
    careless(sim.runtime)
    report = sim.chaos(5, ticks=60, rate=0.4, faults=["cancel", "raise"])
    (failure,) = report.failures
    assert len(failure.faults) > 5
    assert str(failure).splitlines()[:2] == [
        "chaos, seed 5, plain host",
        f"  ({len(failure.faults) - 5} faults before these)",
    ]


def test_equal_seeds_equal_reports():
    def report(seed):
        sim = Simulation(seed=3)
        worlds.walkers("ann", "bob")(sim.runtime)
        return sim.chaos(seed, ticks=60, rate=0.2), sim.digest()

    first, second, other = report(1), report(1), report(2)
    assert str(first[0]) == str(second[0])
    assert first[1] == second[1] != other[1]


def test_an_empty_report_is_sound():
    assert ChaosReport().check().is_sound
    assert str(ChaosReport()) == "0 runs, 0 await points, 0 trace records, 0 faults (none), 0 failures"


def test_who_was_there_before_is_not_asked_for_the_beginning():
    sim = Simulation(seed=3)
    worlds.walkers("ann")(sim.runtime)
    sim.tick(3)
    sim.runtime.spawn(sleep_ticks, 5)
    sim.chaos(1, ticks=10, rate=0.5).check()
