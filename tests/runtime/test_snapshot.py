"""Snapshots as data: written and read again, hostile ones, stable ids, outlines; and looking changes nothing."""

from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import TOP, Action, ActionArgs, Agent, Entity, Runtime
from agentrt.body.codec import MOST_LEVELS
from agentrt.body.views import Outline
from agentrt.errors import AgentRTError, DataFault
from agentrt.snapshot import VERSION, AgentSnapshot, RuntimeSnapshot, explain, outlines, summarize
from agentrt.snapshot.take import places_of
from agentrt.testing import Simulation
from agentrt.worlds import load_world

courses = load("tests/runtime/mixed_courses.py")
fakes = load("tests/runtime/fake_drivers.py")


def written(snapshot):
    """As it comes out of a file."""
    return json.loads(json.dumps(snapshot.as_json(), allow_nan=False))


def places(snapshot):
    """All frames and units of the plan and of the performances."""
    open_ones = [*([snapshot.plan] if snapshot.plan is not None else []), *snapshot.performances]
    while open_ones:
        frame = open_ones.pop()
        yield frame
        for unit in frame.units:
            yield unit
            open_ones.extend(unit.frames)


def live_paths(agent):
    """The path of each place that is not idle, asked of the place itself."""
    planner = agent.planner
    open_ones = [planner.execution.root, *(one.root for one in planner.performances)]
    while open_ones:
        frame = open_ones.pop()
        yield frame.path()
        for unit in frame.units:
            yield unit.path()
            if unit.state not in (0, 3):  # idle, impossible
                open_ones.extend(child for child in unit.children() if child.state)


def below(outline):
    yield outline.path
    for child in outline.children:
        yield from below(child)


def check(agent):
    """Whatever an agent does, its snapshot can be written and read, has stable ids, and is explained alike."""
    snapshot = agent.snapshot()
    data = written(snapshot)
    again = AgentSnapshot.from_json(data)
    assert written(again) == data
    assert again == snapshot
    assert explain(again) == explain(snapshot)
    assert explain(snapshot, places_of(agent)) == agent.explain()
    assert again.summary() == snapshot.summary()
    brief, whole = summarize(agent), snapshot.summary()
    assert brief._replace(doing="") == whole._replace(doing="")
    paths = [one.path for one in places(snapshot)]
    assert len(set(paths)) == len(paths), "an id is there twice"
    if agent.planner is not None:
        assert set(live_paths(agent)) <= set(paths)
        assert not snapshot.running or snapshot.running in paths
    trees = outlines(agent)
    for driver in snapshot.drivers:
        assert (driver.name in trees) == bool(driver.outline)
        if driver.outline in ("Mind@0", "ROOT"):  # after "Mind" was read anew its leaf may be one of before
            assert set(driver.active) <= set(below(trees[driver.name]))


# --- whatever happens -------------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from(courses.PHASES), st.sampled_from(courses.WORDS), st.integers(0, 999)),
    max_size=25,
)


def played(events, ticks, look):
    sim = Simulation(seed=1)
    course = courses.Course(sim.runtime, events, (0, 0, 0, 0), ticks)
    for _ in range(ticks):
        sim.tick()
        look(sim.runtime)
    sim.close()
    course.check()
    return sim.digest()


def check_all(runtime):
    for agent in runtime.agents:
        check(agent)


@pytest.mark.states(
    "tools: Looking: A snapshot is frozen, JSON-able and versioned; read again it is the same, and explains the same",
    source="design 7 (ours)",
)
@pytest.mark.slow
@given(EVENTS)
@settings(max_examples=6)
def test_an_agent_with_all_models_is_written_and_read_again_in_every_tick(events):
    watched = played(events, 12, check_all)
    assert watched == played(events, 12, lambda runtime: None)


@pytest.mark.states(
    "tools: Looking: Ids are stable: each place has one path, which is that of the trace",
    source="design 7 (ours)",
)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_same_in_long_courses(seed):
    played(courses.random_events(seed, 50), 50, check_all)


@pytest.mark.states("tools: Looking: A snapshot is frozen, JSON-able and versioned; read again it is the same, and ...")
@pytest.mark.states("tools: Looking: Looking changes nothing", source="design 7 (ours)")
@pytest.mark.slow
def test_the_colony_is_written_and_read_again_and_does_not_notice():
    digests = []
    for is_watched in (True, False):
        sim = Simulation(runtime=load_world("colony").make(seed=7, host="plain"))
        kinds = set()
        for tick in range(45):
            sim.tick()
            if is_watched and tick % 15 == 14:
                check_all(sim.runtime)
                snapshot = sim.runtime.snapshot()
                data = written(snapshot)
                assert RuntimeSnapshot.from_json(data) == snapshot
                kinds |= {driver.model for agent in snapshot.agents for driver in agent.drivers}
                assert snapshot.groups
        digests.append(sim.digest())
        sim.close()
        assert not is_watched or kinds == {"selection", "targets", "goals", "behavior"}
    assert digests[0] == digests[1]


@pytest.mark.states("002: S11, 1: The entire tree can be shown as data, too: an outline, with the paths of the ...")
def test_activations_in_the_trace_have_the_paths_of_the_outlines():
    sim = Simulation(seed=1)
    course = courses.Course(sim.runtime, courses.random_events(5, 40), ticks=40)
    known = set()
    for _ in range(40):
        sim.tick()
        for agent in sim.runtime.agents:
            for tree in outlines(agent).values():
                known.update(below(tree))
    activated = {path for _, _, path, _ in sim.events("activate", "deactivate")}
    assert len(activated) > 8
    assert activated <= known
    sim.close()
    course.check()


# --- what is left out, and what is added ------------------------------------------------------------------------------


class Thing:
    """Has no name, and its repr holds an address."""


class Hostile:
    @property
    def name(self):
        raise RuntimeError("do not look")


class Look(Action):
    does = "look"
    utility = 0.5

    class Args(ActionArgs):
        at: object
        where: object = (1, 2)
        name: str = "x" * 200

    async def run(self, ctx, args):
        ctx.get_debug_info_datastore().update(best=math.inf, worst=math.nan, seen=[Thing(), Hostile()])
        await ctx.sleep(10)


@pytest.mark.states(
    "001: Debugging methods: Arguments, debugging data and progress are shown as words, whatever they are",
)
def test_arguments_and_debugging_data_are_words_and_finite(stage):
    class Top(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("look", at=things)

    things = [Thing(), Hostile(), {"x", "y"}, {"a": 1}, [[[[1]]]], 7, 8, 9]
    agent = stage.add(Agent(Entity("human"), name="ada", actions=[Top, Look]))
    stage.tick(2)
    data = written(agent.snapshot())
    frame = data["plan"]["units"][0]["frames"][0]
    assert frame["args"] == {
        "at": "(a Thing, a Hostile, 2 elements, 1 entries, (((...))), 7, ... 8 of them)",
        "where": "(1, 2)",
        "name": "x" * 100 + "...",
    }
    assert frame["units"][0]["debug"] == {"best": "inf", "worst": "nan", "seen": ["a Thing", "a Hostile"]}
    check(agent)


@pytest.fixture
def stage():
    sim = Simulation()
    yield sim
    sim.close()


def test_a_driver_of_somebody_s_own_is_shown_with_its_own_view(stage):
    agent = stage.add(Agent(Entity("human"), name="ada", drivers=[fakes.Fake("mood")]))
    stage.tick(1)
    data = written(agent.snapshot())
    assert data["drivers"] == [
        {
            "name": "mood",
            "model": "",
            "rank": 2,
            "every": 1,
            "precedence": 0,
            "active": [],
            "outline": "",
            "state": {"state": "idle"},
            "lines": ["it is idle"],
        }
    ]
    again = AgentSnapshot.from_json(data)
    assert again.drivers[0].state == {"state": "idle"}
    assert explain(again) == agent.explain()
    assert agent.explain().splitlines()[1:] == [
        "  mood:",
        "    it is idle",
    ]
    assert summarize(agent).models == again.summary().models == ("mood",)


def test_a_driver_that_cannot_be_looked_at_takes_nobody_with_it(stage):
    class Shy(fakes.Fake):
        def view(self):
            raise LookupError("nobody looks at me")

    agent = stage.add(Agent(Entity("human"), name="ada", drivers=[Shy("shy")]))
    stage.tick(1)
    data = written(agent.snapshot())
    assert data["drivers"][0]["lines"] == ["its view raised LookupError: nobody looks at me"]
    assert summarize(agent).doing == ""
    assert outlines(agent) == {}


def test_an_agent_outside_a_runtime():
    agent = Agent(Entity("human"), name="ada", actions=[Look])
    check(agent)
    data = written(agent.snapshot())
    assert (data["plan"], data["seconds"], data["ticks_per_second"], data["is_alive"]) == (None, 0.0, 0, False)


@pytest.mark.states("tools: Looking: An agent that was removed or killed still tells the tick")
def test_an_agent_that_was_removed_still_knows_the_time():
    runtime = Runtime(0, ticks_per_second=10, host="plain")
    agent = runtime.add(Agent(Entity("human"), name="ada", actions=[Look]))
    for _ in range(7):
        runtime.step()
    runtime.remove(agent)
    runtime.step()
    snapshot = agent.snapshot()
    assert (snapshot.is_alive, snapshot.tick, snapshot.ticks_per_second, snapshot.seconds) == (False, 8, 10, 0.8)
    assert explain(snapshot).startswith("ada at tick 8")


def test_one_line_of_an_agent(stage):
    class Rest(Action):
        does = TOP
        utility = 0.5
        status_text_key = "resting"

        async def run(self, ctx, args):
            await ctx.sleep(10)

    agent = stage.add(Agent(Entity("human", id=9), name="ada", actions=[Rest]))
    stage.tick(1)
    assert summarize(agent).as_json() == {
        "name": "ada",
        "number": 9,
        "kind": "human",
        "status": "resting",
        "running": f"{TOP}/Rest",
        "doing": "rest",
        "models": ["plan"],
        "aborts": 0,
        "waiting": False,
        "alive": True,
        "utility": 0.5,
        "groups": [],
    }


def test_of_a_paused_runtime():
    runtime = Runtime(host="plain")
    runtime.gate.pause("to look")
    assert RuntimeSnapshot.from_json(written(runtime.snapshot())).is_paused
    runtime.close()


# --- hostile data -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    """The snapshot of somebody who is driven by all models, with performances and refusals."""
    sim = Simulation(seed=1)
    courses.Course(sim.runtime, courses.random_events(2, 40), ticks=40)
    seen = []
    for _ in range(40):
        sim.tick()
        seen += [written(agent.snapshot()) for agent in sim.runtime.agents]
    sim.close()
    richest = max(seen, key=lambda one: (len(one["performances"]), len(json.dumps(one))))
    assert richest["performances"]
    assert richest["drivers"]
    return richest


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**4000), 2**64])
    | st.floats()
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def spots(data, at=()):
    """Each place in a value, as the keys that lead to it."""
    yield at
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from spots(value, (*at, key))


def put(data, at, value):
    if not at:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[at[0]] = put(copy[at[0]], at[1:], value)
    return copy


@pytest.mark.states(
    "tools: Looking: Only an AgentRTError comes out of reading a snapshot, whatever stands there",
    source="design 10 (ours)",
)
@pytest.mark.slow
@given(st.data())
@settings(max_examples=80)
def test_whatever_stands_there_it_is_read_or_it_is_a_data_fault(sample, data):
    hurt = sample
    for _ in range(data.draw(st.integers(1, 3))):
        hurt = put(hurt, data.draw(st.sampled_from(list(spots(hurt)))), data.draw(JSON))
    snapshot = None
    with contextlib.suppress(DataFault):
        snapshot = AgentSnapshot.from_json(hurt)
    if snapshot is not None:
        explain(snapshot)
        snapshot.summary()
        json.dumps(snapshot.as_json(), allow_nan=False)


@pytest.mark.states("tools: Looking: Only an AgentRTError comes out of reading a snapshot, whatever stands there ...")
@given(JSON)
def test_nothing_else_comes_out_of_the_readers(value):
    for kind in (AgentSnapshot, RuntimeSnapshot, Outline):
        with pytest.raises(AgentRTError):
            kind.from_json(value)


def test_each_missing_key_is_named(sample):
    optional = {"again"}
    lists = {key for key, value in sample.items() if isinstance(value, (list, dict)) or key in ("plan", "seconds")}
    for key in sample:
        less = {name: value for name, value in sample.items() if name != key}
        if key in optional | lists:
            AgentSnapshot.from_json(less)  # an empty list, and what follows from others
        else:
            with pytest.raises(DataFault, match=f"'{key}' is missing"):
                AgentSnapshot.from_json(less)


def test_the_place_is_a_pointer(sample):
    hurt = put(sample, ("plan", "units", 0, "utility"), "much")
    with pytest.raises(DataFault) as info:
        AgentSnapshot.from_json(hurt)
    assert str(info.value) == "[ART200] #/plan/units/0/utility: here stands 'much'. Write a finite number."
    assert info.value.pointer == "/plan/units/0/utility"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "here stands nothing. Write an object."),
        ([], "here stands a list. Write an object."),
        ({}, "the key 'version' is missing. Write a whole number."),
        ({"version": 2}, f"a snapshot of version 2, and this release reads version {VERSION}"),
        ({"version": 1.5}, "here stands 1.5. Write a whole number of at most 63 bits."),
        ({"version": 10**5000}, "here stands a very large number."),
        ({"version": "a" * 99}, "..."),
    ],
)
def test_what_is_no_snapshot_says_so(value, words):
    for kind in (AgentSnapshot, RuntimeSnapshot):
        with pytest.raises(DataFault) as info:
            kind.from_json(value)
        assert words in str(info.value)


@pytest.mark.states("tools: Looking: Only an AgentRTError comes out of reading a snapshot, whatever stands there ...")
def test_depth_is_bounded(sample):
    deep = {"path": "a", "name": "a", "kind": "leaf", "note": ""}
    for _ in range(MOST_LEVELS + 1):
        deep = {**deep, "children": [deep]}
    with pytest.raises(DataFault, match="nested too deep"):
        Outline.from_json(deep)
    circle = {}
    circle["self"] = circle
    with pytest.raises(DataFault, match="nested too deep"):
        AgentSnapshot.from_json({**sample, "status_args": circle})


def test_an_outline_is_written_and_read_again():
    tree = courses.mixed.TREE.outline("mind")
    data = json.loads(json.dumps(tree.as_json()))
    assert Outline.from_json(data) == tree
    assert data["path"] == "mind/ROOT"
    assert courses.mixed.TREE.outline("mind") is tree
    for number in range(100):
        courses.mixed.TREE.outline(f"mind {number}")
    assert courses.mixed.TREE.outline("mind") == tree
