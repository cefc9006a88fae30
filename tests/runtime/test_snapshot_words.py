"""Why, and why not, in words: of plans, with the figures that decide; always out of a snapshot that was written down."""

from __future__ import annotations

import json

import pytest
from cast import Stranger, careful

from agentrt import (
    BACK,
    MOVE,
    TOP,
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Entity,
    Runtime,
    TaskGroup,
    TaskGroupAction,
    ThinkOutput,
    declare_multiple_tasks,
    step,
)
from agentrt.agent.agent import Restart
from agentrt.snapshot import AgentSnapshot, explain
from agentrt.snapshot.take import places_of
from agentrt.testing import Simulation


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()


def told(agent):
    """The explanation, out of a snapshot that was written and read again; the first line is left out."""
    text = explain(AgentSnapshot.from_json(json.loads(json.dumps(agent.snapshot().as_json()))))
    assert explain(agent.snapshot(), places_of(agent)) == agent.explain()
    return [line.strip() for line in text.splitlines()[1:]]


def act(label, utility=0.5, *, does=TOP, think=None, ticks=100, **attributes):
    """A leaf action that is ready after some ticks of thinking, and runs for some."""
    body = {"does": does, "utility": utility, **attributes}
    if think is not None:

        async def thinking(self, ctx, args):
            await ctx.sleep_ticks(think)
            ctx.set_think_output()
            await ctx.sleep_ticks(10_000)

        body.setdefault("think", thinking)

    async def running(self, ctx, args):
        await ctx.sleep_ticks(ticks)

    body.setdefault("run", running)
    return type(label, (Action,), body)


def plan(label, *steps, does=TOP, utility=0.5, **attributes):
    return type(label, (CompoundAction,), {"does": does, "utility": utility, "steps": list(steps), **attributes})


class Human(Entity):
    is_tired = False


def add(sim, *actions, name="ada", **options):
    return sim.add(Agent(Human("human"), name=name, actions=list(actions), **options))


# --- utilities --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Overview, inspector: The inspector shows the running branch, and at each activity who competes, with "
    "utility and sunk cost",
)
def test_a_utility_against_another_one_with_sunk_cost(sim):
    agent = add(sim, act("Work", 0.42), act("Rest", (0.31, 0.9), think=0))
    sim.tick(2)
    assert told(agent) == [
        "<agentrt:top> running",
        "* work: running, utility 0.42, since tick 1, waits until tick 101, + 0.05 sunk cost from tick 11 on",
        "rest: ready, but its utility 0.31 does not beat 0.42",
    ]
    sim.tick(9)
    assert told(agent)[1:] == [
        "* work: running, utility 0.42 + 0.05 sunk cost, since tick 1, waits until tick 101",
        "rest: ready, but its utility 0.31 does not beat 0.42 + 0.05 sunk cost",
    ]


@pytest.mark.states("tools: Looking: `explain` says why this action, and why not each other one ...")
def test_a_tie_changes_nothing(sim):
    class Grows(Action):
        does = TOP
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(0.2)
            ctx.set_think_output()
            await ctx.sleep_ticks(2)
            ctx.set_utility(0.5)
            await ctx.sleep_ticks(100)

    agent = add(sim, act("Work", 0.5), Grows)
    sim.tick(4)
    assert told(agent)[2] == "grows: ready, but its utility 0.5 is a tie, and a tie changes nothing"


def test_what_could_not_win_does_not_think(sim):
    agent = add(sim, act("Work", 0.5), act("Nap", 0.3), act("Stroll", (0.1, 0.4)))
    sim.tick()
    assert told(agent)[2:] == [
        "nap: not thinking: its utility 0.3 could not beat 0.5",
        "stroll: not thinking: its utility 0.1 to 0.4 could not beat 0.5",
    ]


def test_an_output_that_later_steps_read_stays(sim):
    class Find(Action):
        does = "find"
        utility = 0.3

        class Output(ThinkOutput):
            what: str

        async def think(self, ctx, args):
            ctx.set_think_output(what="a stone")
            await ctx.sleep(100)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    class Better(Find):
        utility = 0.6

        async def think(self, ctx, args):
            await ctx.sleep(100)

    agent = add(sim, plan("Build", step("find"), step("use", what=BACK(1).what)), Find, Better, using())
    sim.tick(2)
    lines = told(agent)
    assert lines[3:5] == [
        "* find: running, utility 0.3, since tick 1, waits until tick 4",
        "better: not thinking: later steps read the output of find, which stays",
    ]
    sim.tick(2)
    assert told(agent)[2:5] == [
        "<find> finished",
        "* find: finished, utility 0.3",
        "better: not thinking: find is done",
    ]


def using():
    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            what: str

        async def run(self, ctx, args):
            await ctx.sleep(100)

    return Use


@pytest.mark.states("tools: Looking: `explain` says why this action, and why not each other one ...")
def test_a_better_action_for_a_later_step_comes_too_late(sim):
    class Carry(Action):
        does = "fetch"
        utility = 0.3

        async def think(self, ctx, args):
            ctx.CURRENT.carrying = "a log"
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    agent = add(sim, plan("Build", step("fetch"), step("put")), Carry, act("Drag", 0.9, does="fetch", think=2), put())
    sim.tick(4)
    assert told(agent)[3:5] == [
        "* carry: running, utility 0.3, since tick 1, waits until tick 2001, + 0.05 sunk cost from tick 11 on",
        "drag: ready, utility 0.9 against 0.3, but it does not take over: later steps were planned for what the "
        "elected one expects",
    ]


def put():
    return act("Put", 0.5, does="put")


def test_one_that_takes_over_when_the_other_has_stopped(sim):
    Slow = careful(5, "Slow", does=TOP, utility=0.3)

    agent = add(sim, Slow, act("Flee", 0.9, think=2))
    sim.tick(4)
    assert told(agent) == [
        "<agentrt:top> switching",
        "* slow: running, utility 0.3, since tick 1, waits until tick 8, + 0.05 sunk cost from tick 11 on",
        "flee: ready, utility 0.9: it takes over when the other has stopped",
    ]


# --- not ready, not possible ------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Looking: `explain` says why this action, and why not each other one ...")
def test_limits_and_pauses_have_their_ticks(sim):
    class Waits(Action):
        does = "wait"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.signals["bell"].wait()

    class Never(Action):
        does = "never"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.reject("there is nothing")

    limited = plan("Limited", step("wait", think_timeout=1.0), utility=0.9)
    tries = plan("Tries", step("never"), utility=0.8)
    agent = add(sim, limited, tries, act("Slow", think=50, think_timeout=0.5), Waits, Never)
    sim.tick(2)
    assert told(agent) == [
        "<agentrt:top> thinking",
        "limited: not ready since tick 1",
        "<wait> thinking, until tick 21 at most",
        "waits: not ready since tick 1",
        "tries: not ready since tick 2; it is asked again in tick 3, 1 tick from now",
        "<never> thinking",
        "never: not possible now: rejected: there is nothing",
        "slow: not ready since tick 1, waits until tick 51, has until tick 11",
    ]
    sim.tick(10)
    assert told(agent)[-1] == "slow: not possible now: it was not ready within 0.5 seconds"


def test_who_waits_for_control_flags_or_to_be_resumed_says_so(sim):
    class Suspends(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.suspend()

    agent = add(sim, Suspends)
    other = add(sim, act("Walk", flags={MOVE}), name="bob")
    other.flags.claim((MOVE,), Stranger(), 0)
    sim.tick()
    assert told(agent)[1] == "* suspends: running, utility 0.5, since tick 1, waits to be resumed"
    assert told(other)[1] == "* walk: running, utility 0.5, since tick 1, waits for the control flags MOVE"
    assert told(other)[2:] == [
        "MOVE is held by a stranger since tick 0",
        "walk waits for MOVE since tick 1",
        "walk was refused MOVE in tick 1: held by a stranger, which came first, in tick 0, with precedence 0 against 0",
    ]


@pytest.mark.states(
    "001: Overview, inspector: Steps that have not thought yet stand in it, idle; what is left over from an earlier "
    "thinking does not",
)
def test_the_step_that_a_compound_waits_for_is_told_and_the_rest_is_shown_idle(sim):
    agent = add(sim, plan("Build", step("find"), step("carry"), step("find")), act("Find", does="find", think=9))
    sim.tick()
    unit = agent.snapshot().plan.units[0]
    assert [(one.path, one.state, len(one.units)) for one in unit.frames] == [
        ("agentrt:top/Build/find", "thinking", 1),
        ("agentrt:top/Build/carry", "idle", 0),
        ("agentrt:top/Build/find#3", "idle", 0),
    ]
    assert told(agent) == [
        "<agentrt:top> thinking",
        "build: not ready since tick 1",
        "<find> thinking",
        "find: not ready since tick 1, waits until tick 10",
    ]


@pytest.mark.states("001: Overview, inspector: Steps that have not thought yet stand in it, idle; what is left ...")
def test_what_is_left_over_from_before_is_not_shown(sim):
    """A plan that thought once and lost looks like one that never did."""
    rival = plan("Rival", step("find"), utility=(0.1, 0.4))
    agent = add(sim, act("Work", 0.5, ticks=3), rival, act("Find", does="find"))
    sim.tick(1)
    first = agent.snapshot().plan.units[1]
    sim.tick(9)
    assert agent.planner.execution.root.units[1].frames
    assert agent.snapshot().plan.units[1] == first
    assert (first.state, first.frames, first.since) == ("idle", (), 0)


def test_below_what_is_not_possible_there_is_nothing(sim):
    async def rejects(self, ctx, args):
        ctx.reject("not today")

    agent = add(sim, plan("Build", step("find"), think=rejects), act("Find", does="find"), act("Rest", 0.1))
    sim.tick()
    build = agent.snapshot().plan.units[0]
    assert (build.state, build.frames) == ("impossible", ())


def test_a_step_that_thought_in_an_earlier_cycle_looks_like_one_that_never_did(sim):
    class Find(Action):
        does = "find"
        utility = 0.5

        async def think(self, ctx, args):
            if ctx.entity.is_tired:
                await ctx.sleep(100)
            ctx.set_think_output()

    agent = add(sim, plan("Build", step("find"), step("carry")), Find, act("Carry", does="carry", ticks=1))
    agent.entity.is_tired = False
    sim.tick(1)
    agent.entity.is_tired = True
    sim.tick(2)
    build = agent.planner.execution.root.units[0]
    assert build.frames[1].units
    assert [(one.state, len(one.units)) for one in agent.snapshot().plan.units[0].frames] == [
        ("thinking", 1),
        ("idle", 0),
    ]


# --- tasks ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Overview, Task action: A task action names its group and number")
def test_a_task_names_its_group_and_number(sim):
    class Chores(TaskGroupAction):
        does = TOP
        utility = (0.0, 0.3)
        tasks = (declare_multiple_tasks("eat", (0.4, 1.0)),)

    group = TaskGroup(Chores)
    agent = add(sim, act("Eat", 0.7, does="eat"))
    group.add(agent)
    group.create_task("eat").max_workers(1).start()
    sim.tick(2)
    snapshot = agent.snapshot()
    chores = snapshot.plan.units[0]
    (task,) = chores.frames[0].units
    assert (chores.kind, task.kind, task.task) == ("group", "task", ("Chores", 1, ()))
    assert (task.low, task.high, task.utility) == (0.4, 1.0, 0.82)
    assert snapshot.groups == ("Chores",)
    (view,) = sim.runtime.snapshot().groups
    assert [(one.number, one.workers) for one in view.tasks] == [(1, ("ada",))]


@pytest.mark.states(
    "tools: Looking: Tasks of one activity are told apart by their arguments, which are in their names and in "
    "`UnitView.task`",
)
def test_tasks_of_one_activity_are_told_apart_by_what_they_are_about(sim):
    class Carry(Action):
        does = "carry"
        utility = 0.7

        class Args(ActionArgs):
            what: Entity
            to: str = "home"
            past: tuple[str, ...] = ()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(100)

    class Chores(TaskGroupAction):
        does = TOP
        utility = (0.0, 0.3)
        tasks = (declare_multiple_tasks("carry", (0.4, 1.0)),)

    group = TaskGroup(Chores)
    group.add(add(sim, Carry))
    agent = add(sim, Carry, name="bob")
    group.add(agent)
    bed, log = Entity("bed", id=7), Entity("log", name="a log")
    group.create_task("carry", what=bed).max_workers(1).start()
    group.create_task("carry", what=log, to="the far end of the village", past=("the well", "the mill")).start()
    sim.tick(2)
    snapshot = AgentSnapshot.from_json(json.loads(json.dumps(agent.snapshot().as_json())))
    assert snapshot == agent.snapshot()
    first, second = snapshot.plan.units[0].frames[0].units
    assert first.task == ("Chores", 1, (("what", "bed 7"),))
    assert first.name == "task 1: carry (what: bed 7)"
    assert dict(second.task.args) == {
        "what": "a log",
        "to": "the far end of the village",
        "past": "(the well, the mill)",
    }
    assert second.name == "task 2: carry (what: a log, to: the far end of the village, past: (the well...)"
    assert any(line.startswith(f"* {second.name}: running") for line in told(agent))
    assert [unit.name for unit in sim.runtime.agents[0].snapshot().plan.units[0].frames[0].units][1] == second.name


# --- the end ----------------------------------------------------------------------------------------------------------


class Breaks(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.abort("no brush")


@pytest.mark.states("tools: Looking: An agent that was removed or killed still tells the tick ...")
def test_an_agent_that_was_killed_says_why(sim):
    agent = add(sim, Breaks)
    sim.tick(12)
    snapshot = agent.snapshot()
    assert (snapshot.is_alive, snapshot.aborts, snapshot.tick) == (False, 10, 12)
    assert told(agent)[0].startswith("[ART3")
    assert "the planner was killed after 10 aborts in a row" in told(agent)[0]


def test_when_it_plans_anew_after_it_gave_up():
    sim = Simulation(runtime=Runtime(host="plain", restart=Restart(first=1.0)))
    agent = add(sim, Breaks)
    sim.tick(12)
    assert agent.snapshot().again == 30
    assert told(agent)[-1] == "it plans anew in tick 30, 18 ticks from now"
    sim.close()


def test_an_agent_that_is_ending_says_so(sim):
    Stubborn = careful(5, "Stubborn", does=TOP, utility=0.5)

    agent = add(sim, Stubborn)
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    assert agent.snapshot().is_ending
    assert told(agent)[0] == "it was told to end, and cleans up"
    sim.tick(5)
    assert told(agent)[:1] != ["it was told to end, and cleans up"]


# --- beside the plan --------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Looking: Ids are stable: each place has one path, which is that of the trace ...")
def test_two_performances_of_one_activity_have_paths_of_their_own(sim):
    agent = add(sim, act("Idle", 0.1), act("Wave", does="wave", ticks=3))

    runtime = sim.runtime

    async def perform():
        await agent.perform("wave")

    sim.tick()
    for _ in range(2):
        runtime.kernel.spawn(perform(), "world")
    sim.tick()
    runtime.kernel.spawn(perform(), "world")
    sim.tick()
    assert [one.path for one in agent.snapshot().performances] == [
        "performed/wave",
        "performed/wave#2",
        "performed/wave#3",
    ]
    sim.tick(3)
    runtime.kernel.spawn(perform(), "world")
    sim.tick(2)
    assert [(tick, path) for tick, _, path, _ in sim.events("run", "finish") if path.startswith("performed")] == [
        (2, "performed/wave/Wave"),
        (2, "performed/wave#2/Wave"),
        (3, "performed/wave#3/Wave"),
        (5, "performed/wave/Wave"),
        (5, "performed/wave#2/Wave"),
        (6, "performed/wave#3/Wave"),
        (7, "performed/wave/Wave"),
    ]
    assert told(agent)[2] == "performed beside the plan, as performed/wave:"


# --- ids --------------------------------------------------------------------------------------------------------------


def test_two_classes_of_one_name_have_paths_of_their_own(sim):
    """Two packages may both have an ``Eat``."""
    first, second = act("Eat", 0.3, ticks=2), act("Eat", 0.6, ticks=2)
    agent = add(sim, first, second, act("Rest", 0.1))
    sim.tick()
    assert [one.path for one in agent.snapshot().plan.units] == [f"{TOP}/{name}" for name in ("Eat", "Eat#2", "Rest")]
    assert agent.snapshot().running == f"{TOP}/Eat#2"
    agent.inject(act("Sing", 0.2))
    sim.tick()
    assert agent.snapshot().running == f"{TOP}/Eat#2"  # who learns more goes on
    sim.tick(2)
    assert [path for _, _, path, _ in sim.events("run")] == [f"{TOP}/Eat#2"] * 2
    assert sim.events("abort") == []


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (0.5, "ready, but its utility 0.5 does not beat 0.5 + 0.05 sunk cost"),
        (0.52, "ready, but its utility 0.52 does not beat 0.5 + 0.05 sunk cost"),
        (0.55, "ready, but its utility 0.55 is a tie, and a tie changes nothing"),
        (0.6, "ready, utility 0.6: it does not take over now"),
    ],
)
def test_a_ready_one_is_compared_with_the_utility_and_its_boost(sim, utility, words):
    """The figures are put into a snapshot by hand; between 0.5 and 0.55 only the boost decides."""
    agent = sim.add(Agent(Entity("ann"), actions=[act("Work", 0.5), act("Rest", (0.3, 0.9), think=2)]))
    sim.tick(20)
    data = agent.snapshot().as_json()
    work, rest = data["plan"]["units"]
    assert (work["boosted"], rest["state"]) == (0.55, "ready")
    rest["utility"] = utility
    lines = explain(AgentSnapshot.from_json(data)).splitlines()
    assert f"rest: {words}" in [line.strip() for line in lines]


def test_whoever_reaches_no_higher_than_the_elected_one_does_not_think(sim):
    agent = sim.add(Agent(Entity("ann"), actions=[act("Work", 0.5), act("Rest", (0.1, 0.5), think=2)]))
    sim.tick(3)
    assert "rest: not thinking: its utility 0.1 to 0.5 could not beat 0.5" in told(agent)
