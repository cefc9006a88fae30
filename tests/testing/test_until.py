"""Running until something is the case, and what is said when it never is."""

from __future__ import annotations

import pytest

from agentrt import TOP, Agent, Entity, Runtime
from agentrt.behavior import BehaviorTree, behavior, decider, group
from agentrt.errors import SimulationTimeout
from agentrt.goals import Goal, GoalSelector
from agentrt.testing import Pattern, Simulation, stub_action, stub_plan


def eater(name="Ann", **more):
    actions = [
        stub_plan("top", "mod:cook", "mod:eat"),
        stub_action("mod:cook", takes=2),
        stub_action("mod:eat", takes=3),
    ]
    return Agent(Entity("human"), name=name, actions=actions, top="top", **more)


@pytest.fixture
def world(sim):
    sim.add(eater())
    return sim


def text_of(call, *args, **options):
    with pytest.raises(SimulationTimeout) as info:
        call(*args, **options)
    return str(info.value).splitlines()


# --- running ----------------------------------------------------------------------------------------------------------


def test_until_it_runs(world):
    assert world.run_until_running("Ann", "mod:cook") == 1
    assert world.run_until_running("Ann", "mod:eat") == 2
    assert (world.now, world.run_until_running("Ann", "mod:eat")) == (3, 0)  # it does


@pytest.mark.parametrize(
    "what", ["Eat", "mod:eat", "mod:eat/Eat", "/top/Top/mod:eat", "**/Eat", stub_action("x", label="Eat")]
)
def test_a_thing_is_named_by_a_path_or_a_class(world, what):
    agent = world.agent("Ann")
    assert world.run_until_running(agent, what) == 3


def test_what_is_above_runs_too(world):
    assert world.run_until_running("Ann", "Top") == 1
    assert world.run_until_running("Ann", "top") == 0


def test_what_was_started_and_waits_for_its_turn_does_not_run(world):
    world.tick()
    assert world.events("start", path="Eat") == [(1, "Ann", "top/Top/mod:eat/Eat", "start")]
    assert world.run_until_running("Ann", "Eat") == 2


@pytest.mark.states(
    "tools: Test kit and log: Run-until helpers with a clear timeout: what was waited for, why it is not so, the end "
    "of the trace",
)
def test_what_never_runs(world):
    assert text_of(world.run_until_running, "Ann", "mod:drink", limit=3) == [
        "[ART307] waited for 'Ann' to run 'mod:drink': it did not come within 3 ticks (at tick 3).",
        *world.agent("Ann").explain().splitlines(),
        "the newest records:",
        *(f"  {record.line()}" for record in world.trace[-12:]),
    ]


def test_an_error_tells_of_the_agent_that_it_is_about(world):
    world.add(eater("Bob"))
    lines = text_of(world.run_until_running, "Bob", "mod:drink", limit=1)
    assert [line for line in lines if " at tick " in line and "ART" not in line] == [
        "Bob at tick 1: top/Top/mod:cook/Cook"
    ]


def test_who_there_is_not(world):
    with pytest.raises(LookupError, match="no agent is called 'Bob' at tick 0; there is: Ann"):
        world.run_until_running("Bob", "Eat")
    with pytest.raises(LookupError, match="there is: nobody"):
        Simulation().agent("Bob")
    with pytest.raises(LookupError, match=r"no agent is called \['Ann'\] at tick 0; there is: Ann"):
        world.agent(["Ann"])
    with pytest.raises(SimulationTimeout, match=r"waited for .*\['Ann'\]"):
        world.run_until_event("start", agent=["Ann"], limit=1)


class Panic(Goal):
    def can_use(self):
        return self.body.kernel.tick >= 5


def drivers():
    goals = GoalSelector()
    goals.add_goal(1, Panic())
    late = decider("LATE", behavior("ACTS", tick=lambda at: True), decide=lambda memory: float(memory.agent.is_ready))
    tree = BehaviorTree(group("ROOT")[late, decider("IDLE", behavior("WAITS", tick=lambda at: True))])
    return goals, tree.memory()


@pytest.mark.states("tools: Test kit and log: Run-until helpers with a clear timeout: what was waited for, why it ...")
def test_the_other_models_run_things_too(sim):
    class Body(Entity):
        __slots__ = ("is_ready",)

    entity = Body("human")
    entity.is_ready = False
    sim.add(Agent(entity, name="Ann", drivers=drivers(), actions=[stub_action(TOP, takes=None, label="Idle")]))
    sim.tick()
    assert sim.run_until_running("Ann", "Idle") == 0
    assert sim.run_until_running("Ann", "goals/Panic") in (4, 5)
    assert sim.run_until_running("Ann", "IDLE") == 0
    entity.is_ready = True
    assert sim.run_until_running("Ann", "tree/ROOT/LATE") == 1


def test_what_is_performed_beside_the_plan_runs(sim):
    agent = sim.add(Agent(Entity("human"), name="Ann", actions=[stub_action("mod:wave", takes=5)]))

    async def world():
        await agent.perform("mod:wave")

    sim.runtime.spawn(world)
    assert sim.run_until_running("Ann", "mod:wave") > 0
    assert agent.snapshot().running == ""
    assert sim.run_until_idle("Ann") == 5


# --- events -----------------------------------------------------------------------------------------------------------


def test_until_something_happens_anew(world):
    world.tick(3)
    assert world.run_until_event("start", agent="Ann", path="Eat").tick == 6
    assert world.run_until_event(Pattern("complete")).line() == "11 Ann top complete ticks=5"
    assert world.run_until_event("run", tick=lambda tick: tick > 12).tick == 13


def test_what_does_not_happen(world):
    lines = text_of(world.run_until_event, "abort", agent="Ann", limit=2)
    assert lines[0] == "[ART307] waited for <abort agent='Ann'>: it did not come within 2 ticks (at tick 2)."
    assert lines[1] == "Ann at tick 2: top/Top/mod:cook/Cook"
    with pytest.raises(SimulationTimeout) as info:
        world.run_until_event("abort", limit=1)
    error = info.value
    assert (error.awaited, error.limit, error.tick, len(error.agents), len(error.tail)) == (
        "waited for <abort>",
        1,
        3,
        1,
        12,
    )


def test_waiting_leaves_no_listener(world):
    listeners = dict(world.runtime.trace._listeners)
    world.run_until_event("start")
    with pytest.raises(SimulationTimeout):
        world.run_until_event("abort", limit=1)
    with pytest.raises(SimulationTimeout):
        world.run_until_quiet(limit=1)
    assert world.runtime.trace._listeners == listeners


# --- idle, quiet, ended -----------------------------------------------------------------------------------------------


def test_until_nothing_runs(sim):
    once = stub_action("top", takes=4, thinks=2, fails=[None, "no more"], fails_in="think")
    sim.add(Agent(Entity("human"), name="Ann", actions=[once], top="top"))
    sim.add(eater("Bob"))
    assert sim.run_until_idle("Ann") == 0
    sim.run_until_running("Ann", "top")
    assert sim.run_until_idle("Ann") == 4
    assert text_of(sim.run_until_idle, limit=4)[0] == (
        "[ART307] waited for all agents to run nothing: it did not come within 4 ticks (at tick 11)."
    )
    assert text_of(sim.run_until_idle, "Bob", limit=1)[0].startswith("[ART307] waited for 'Bob' to run nothing:")


def test_until_it_is_quiet(sim):
    sim.add(Agent(Entity("human"), actions=[stub_action(TOP, takes=30)]))
    assert sim.run_until_quiet(10) == 11  # one tick with records, ten without
    assert sim.run_until_quiet(10) == 10
    assert text_of(sim.run_until_quiet, 40, 100)[0].startswith("[ART307] waited for 40 ticks without a record:")


def test_until_an_agent_ended(world):
    agent = world.agent("Ann")
    world.tick(2)
    world.runtime.remove(agent)
    assert (world.run_until_ended("Ann"), agent.is_alive) == (1, False)
    assert world.run_until_ended(agent) == 0
    assert text_of(world.run_until_ended, world.add(eater("Bob")), limit=2)[0].startswith(
        "[ART307] waited for 'Bob' to end:"
    )


def test_a_closed_gate_is_said(world):
    world.runtime.gate.pause("a breakpoint")
    lines = text_of(world.run_until, lambda: world.now > 3, limit=2)
    assert lines[1] == "the gate of the runtime is closed, so that no tick runs: a breakpoint"


# --- what a simulation tells ------------------------------------------------------------------------------------------


def test_events_of_somebody_somewhere_since_some_time(world):
    world.add(eater("Bob"))
    world.tick(7)
    assert world.events("run", agent="Bob", path="mod:*/*", since=2) == [
        (3, "Bob", "top/Top/mod:eat/Eat", "run"),
        (6, "Bob", "top/Top/mod:cook/Cook", "run"),
    ]
    assert world.events("abort") == []
    assert len(world.events()) == len(world.trace)


def test_faults_are_taken_once(sim):
    sim.runtime.post(lambda: 1 / 0)
    sim.tick()
    assert [fault.tick for fault in sim.faults()] == [1]
    assert sim.faults() == []


@pytest.mark.states("tools: Test kit and log: Run-until helpers with a clear timeout: what was waited for, why it ...")
def test_watching_for_things_changes_nothing():
    def digest(wait):
        sim = Simulation(runtime=Runtime(3, host="plain"))
        sim.add(eater())
        wait(sim)
        sim.tick(20 - sim.now)
        sim.close()
        return sim.digest()

    def waits(sim):
        sim.run_until_running("Ann", "Eat")
        sim.run_until_event("stop")
        with pytest.raises(SimulationTimeout):
            sim.run_until_idle(limit=2)

    assert digest(waits) == digest(lambda sim: None)
