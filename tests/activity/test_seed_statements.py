"""Statements of the planner's source text (seed 001) that no other module shows by itself, one test each."""

from __future__ import annotations

from collections import Counter

import pytest

from agentrt import (
    ARGS,
    CALL,
    ENTITY,
    PREV,
    TOP,
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Entity,
    Manifest,
    Registry,
    Runtime,
    Signal,
    ThinkOutput,
    sleep_ticks,
    step,
)
from agentrt.errors import AgentKilled, DefinitionError
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_permanent_task
from agentrt.testing import Simulation


def running(agent):
    return agent.snapshot().running


class Idle(Action):
    does = TOP
    utility = 0.01

    async def run(self, ctx, args):
        await ctx.sleep(1000)


# --- overview ---------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Overview, Activity: It is `agentrt:top`, or another that the agent is made for (ours)")
def test_an_agent_performs_agentrt_top_unless_it_is_told_otherwise(play):
    assert TOP == "agentrt:top"
    other = type("Other", (Idle,), {"does": "other:top"})
    usual = play.sim.add(Agent(Entity("human"), name="usual", actions=[Idle, other]))
    told = play.sim.add(Agent(Entity("human"), name="told", actions=[Idle, other], top="other:top"))
    play.tick(1)
    assert (running(usual), running(told)) == ("agentrt:top/Idle", "other:top/Other")


@pytest.mark.states("001: Overview, Task group action: Different activities compete there and nowhere else, by the ...")
@pytest.mark.states("001: Comparing plans: The highest utility wins, locally for each activity ...")
@pytest.mark.states("001: Utility: It means something only among actions of the same activity")
def test_utilities_of_different_activities_are_never_compared(play, leaf, compound):
    """The step is worth 0.9 among what does ``a``; at the root its plan of 0.4 stands beside 0.5."""
    agent = play.add(
        compound("Plan", step("a"), utility=0.4, quiet=True),
        leaf("A", 0.9, does="a", quiet=True),
        leaf("B", 0.5, run=9),
    )
    play.tick(1)
    assert running(agent) == "top/B"


@pytest.mark.states("001: execute: A step is shown by the inspector before it runs, an executed activity is not")
def test_a_step_is_seen_while_its_plan_only_thinks_and_an_executed_activity_not_before_it_runs(play, leaf):
    """Why a step is the better way, where it can be one."""

    class Plan(CompoundAction):
        does = "top"
        utility = 0.9
        steps = [step("effect"), step("slow")]

    class Executes(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            await ctx.execute("effect")

    agent = play.add(
        Plan,
        Executes,
        leaf("Slow", does="slow", think=99, quiet=True),
        leaf("Effect", does="effect", run=9, quiet=True),
    )
    seen = []
    for _ in range(2):
        play.tick(1)
        seen.append([line.strip() for line in agent.explain().splitlines() if line.strip().startswith("<")])
    assert seen == [
        ["<top> running", "<effect> ready", "<slow> thinking"],
        ["<top> running", "<effect> ready", "<slow> thinking", "<effect> running"],
    ]


# --- actions ----------------------------------------------------------------------------------------------------------


class Pair(ActionArgs):
    subject: str
    times: int = 2


@pytest.mark.states(
    "001: Leaf action, Methods: All methods get the same: the context and the arguments. (decided) The entity is the "
    "context's",
)
@pytest.mark.states(
    "001: should_start_thinking: should_start_thinking is asked before any action of the activity thinks",
)
def test_every_hook_gets_the_context_of_its_action_and_the_arguments(play):
    """The seed's third one, the entity, is that of the context."""

    def seen(hook):
        def plain(self, ctx, args):
            play.note(hook, ctx.entity.name, ctx.path, args.subject, args.times)
            return True

        return plain

    class Use(Action):
        does = "use"
        utility = 0.5
        Args = Pair
        should_start_thinking = seen("should_start_thinking")
        start = seen("start")
        stop_thinking = seen("stop_thinking")
        stop = seen("stop")

        async def think(self, ctx, args):
            seen("think")(self, ctx, args)
            ctx.set_think_output()

        async def run(self, ctx, args):
            seen("run")(self, ctx, args)
            await ctx.sleep_ticks(1)

    play.add(
        type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": [step("use", subject="cow")]}),
        Use,
        entity=Entity("human", name="ada"),
    )
    play.tick(2)
    hooks = ["should_start_thinking", "think", "start", "stop_thinking", "run", "stop"]
    assert [entry[1] for entry in play.log[:6]] == hooks
    assert {entry[2:] for entry in play.log} == {("ada", "top/Plan/use/Use", "cow", 2)}


@pytest.mark.states("001: Leaf action, Methods: Each agent has its own instance of an action")
def test_every_agent_that_knows_an_action_has_an_instance_of_its_own(play):
    class Counts(Action):
        does = "top"
        utility = 0.5

        def __init__(self):
            self.runs = 0

        async def run(self, ctx, args):
            self.runs += 1
            play.note(ctx.agent.name, self.runs)
            await ctx.sleep_ticks(1)

    for name in "ab":
        play.add(Counts, name=name)
    play.tick(2)
    assert play.log == [(1, "a", 1), (1, "b", 1), (2, "a", 2), (2, "b", 2)]


@pytest.mark.states("001: Leaf action, Metadata: It is optional where nothing is passed")
@pytest.mark.states("001: set_think_output: Without fields the output is the arguments")
def test_set_think_output_without_fields_gives_the_arguments(play):
    class Pass(Action):
        does = "pass"
        utility = 0.5
        Args = Pair

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_think_output()

    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            value: object

        async def think(self, ctx, args):
            play.note(args.value)

    steps = [step("pass", subject="cow"), step("take", value=[PREV.subject, PREV.times])]
    play.add(type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": steps}), Pass, Take)
    play.tick(2)
    assert play.log == [(2, ["cow", 2])]


@pytest.mark.states("001: Making plans: A thinking action may listen to the world and change its answer ...")
def test_listeners_answer_for_an_action_whose_think_has_returned(play, leaf):
    """The seed's pattern: thinking only sets up listeners, which make the action ready and take that back."""
    possible, impossible, gate = Signal(), Signal(), Signal()

    class Listens(Action):
        does = "listens"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.listen(possible, lambda _: ctx.set_think_output())
            ctx.listen(impossible, lambda _: ctx.clear_think_output())
            ctx.set_think_output()

    class Waits(Action):
        does = "waits"
        utility = 0.5

        async def think(self, ctx, args):
            await gate.wait()
            ctx.set_think_output()

    steps = [step("listens"), step("waits")]
    play.add(type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": steps}), Listens, Waits)
    for signal in (impossible, possible, gate):
        play.tick(2)
        signal.emit()
    play.tick(1)
    listens = [(tick, event) for tick, path, event in play.trace() if path == "top/Plan/listens/Listens"]
    assert listens[:6] == [
        (1, "think"),
        (1, "ready"),
        (2, "unready"),
        (4, "ready"),
        (7, "start"),
        (7, "stop_thinking"),
    ]
    assert {repr(signal) for signal in (possible, impossible, gate)} == {"<Signal: 0 waiting, 0 connected>"}


@pytest.mark.states("001: get_debug_info_datastore: get_debug_info_datastore: for one's own debugging data, which ...")
def test_debugging_data_of_an_action_is_seen_by_tools(play, idle):
    class Counts(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.get_debug_info_datastore().update(looked_at=3, best=ctx.entity, ways=[(1, 2)])
            await ctx.sleep(1000)

    agent = play.add(Counts, idle, entity=Entity("human", name="ada"))
    play.tick(1)
    assert [unit.debug for unit in agent.snapshot().plan.units] == [
        {"looked_at": 3, "best": "ada", "ways": [[1, 2]]},
        {},
    ]


@pytest.mark.states(
    "001: stop_thinking: And when the agent finished what it did and plans anew: (decided) whoever has answered; a "
    'thought that still waits goes on, unless it asks "with each plan"',
)
def test_when_a_plan_has_ended_whatever_still_thinks_stops_and_thinks_anew(play, leaf):
    play.add(leaf("Slow", 0.9, think=50, asks="with each plan"), leaf("Short", 0.1, run=3))
    play.tick(4)
    assert [entry for entry in play.log if entry[0] == 4] == [
        (4, "Short", "run ends"),
        (4, "Slow", "stop_thinking"),
        (4, "Short", "stop"),
        (4, "Slow", "think ends"),
        (4, "Slow", "think"),
        (4, "Short", "start"),
        (4, "Short", "stop_thinking"),
        (4, "Short", "run"),
    ]


@pytest.mark.states("001: Compound action, Methods: Compounds have the methods of leaves")
def test_a_compound_has_all_the_hooks_of_a_leaf_but_run(play, leaf):
    class Plan(CompoundAction):
        does = "top"
        utility = (0.2, 0.4)
        status_text_key = "planning"
        steps = [step("a")]

        def should_start_thinking(self, ctx, args):
            play.note("should_start_thinking")
            return True

        async def think(self, ctx, args):
            play.note("think")
            ctx.set_utility(0.5)
            ctx.set_think_output()

        def start(self, ctx, args):
            play.note("start")

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

        def stop(self, ctx, args):
            play.note("stop")

    agent = play.add(Plan, leaf("A", does="a", run=1, quiet=True))
    play.tick(1)
    assert (agent.snapshot().plan.units[0].utility, agent.status_text) == (0.3, "planning")
    play.tick(1)
    assert [what for _, what in play.log[:5]] == ["should_start_thinking", "think", "start", "stop_thinking", "stop"]


@pytest.mark.states("001: Compound action, Methods: They alone have steps and compose_utility")
@pytest.mark.parametrize(
    ("attribute", "value"), [("steps", [step("a")]), ("steps", 3), ("compose_utility", lambda self, *_: 0.5)]
)
def test_what_compounds_alone_have_is_an_error_in_a_leaf(attribute, value):
    with pytest.raises(DefinitionError) as info:
        type("Leaf", (Action,), {"does": "top", "utility": 0.5, attribute: value})
    assert info.value.text.endswith(
        f"Leaf: a leaf action has no {attribute}. Derive it from CompoundAction, or call it something else."
    )


@pytest.mark.states("001: Step declarations: CALL resolves each of its arguments and calls the function with them")
def test_call_resolves_each_of_its_arguments_and_then_calls_the_function(play):
    class Found(ThinkOutput):
        thing: str

    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.set_think_output(thing="cow")

    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            value: object

        async def think(self, ctx, args):
            play.note(args.value)

    class Plan(CompoundAction):
        does = "plan"
        utility = 0.5
        Args = Pair
        steps = [step("find"), step("take", value=CALL(lambda *values: values, ENTITY.name, ARGS.times, PREV.thing, 7))]

    root = type("Root", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": [step("plan", subject="x")]})
    play.add(root, Plan, Find, Take, entity=Entity("human", name="ada"))
    play.tick(1)
    assert play.log == [(1, ("ada", 2, "cow", 7))]


# --- task groups ------------------------------------------------------------------------------------------------------


def group_of(*tasks, label="Group", utility=0.5, **metadata):
    return type(label, (TaskGroupAction,), {"does": "top", "utility": utility, "tasks": tasks, **metadata})


@pytest.mark.states(
    "001: Task group example, Metadata: A task group has the metadata of an action: name and status text",
)
def test_a_task_group_has_a_name_and_a_status_text(play, leaf):
    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.5), name="the needs", status_text_key="busy"))
    agent = play.add(leaf("Do", does="do", run=9, quiet=True))
    group.add(agent)
    play.tick(1)
    assert "* the needs: running, utility 0.5" in agent.explain()
    assert agent.status_text == "busy"


@pytest.mark.states("001: Task group example, Metadata: Its weight and its priority ...")
def test_the_priority_of_a_task_group_counts_while_it_runs(idle):
    """Whoever rests in a group of priority 4 searches four times as much as who does not."""
    found = []

    class Search(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            for _ in range(50):
                await ctx.work(1)
                found.append((ctx.clock.tick, ctx.agent.name))

    rest = type("Rest", (idle,), {"does": "rest"})
    sim = Simulation(runtime=Runtime(host="plain", think_budget=10))
    keen, other = (
        sim.add(Agent(Entity("human"), name=name, actions=[Search, rest, idle], top="top"))
        for name in ("keen", "other")
    )
    group = TaskGroup(group_of(declare_permanent_task("rest", {}, 0.5), scheduler_priority=4))
    group.add(keen)
    sim.tick(3)
    assert running(keen).endswith("/Rest")
    assert running(other).endswith("/Idle")
    assert Counter(found)[3, "keen"] == 4 * Counter(found)[3, "other"] == 8
    sim.close()


@pytest.mark.states("001: Task group example, Metadata: Its boost")
@pytest.mark.parametrize(("utility", "does"), [(0.7, "Group"), (0.71, "Rival")])
def test_the_boost_of_a_task_group(play, leaf, utility, does):
    """Its own boost, not that of what it runs: 0.5 + 0.2, after a second."""
    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.5), sunk_cost_boost=0.2))
    agent = play.add(
        leaf("Do", does="do", run=99, sunk_cost_boost=1.0, quiet=True),
        leaf("Rival", utility, think=20, run=99, quiet=True),
    )
    group.add(agent)
    play.tick(22)
    assert running(agent).split("/")[1] == does


@pytest.mark.states("001: Task group example, Metadata: Its weight and its priority")
def test_task_groups_of_the_same_utility_are_drawn_by_weight(play, leaf):
    agent = play.add(leaf("Do", does="do", run=1, quiet=True))
    for label, weight in (("Never", 0), ("Always", 1)):
        TaskGroup(group_of(declare_permanent_task("do", {}, 0.5), label=label, weight=weight)).add(agent)
    play.tick(30)
    assert {path for _, path, _ in play.trace("run") if path.count("/") == 1} == {"top/Always"}


@pytest.mark.states(
    "001: Task group example, Task declarations: declare_permanent_task: created with the group, with its arguments",
)
def test_a_permanent_task_is_there_with_its_arguments_as_soon_as_the_group_is(play):
    class Guard(Action):
        does = "guard"
        utility = 0.5

        class Args(ActionArgs):
            place: str

        async def run(self, ctx, args):
            play.note(args.place)
            await ctx.sleep_ticks(9)

    group = TaskGroup(group_of(declare_permanent_task("guard", {"place": "the gate"}, 0.5)))
    assert [(task.activity, task.args, task.state) for task in group.tasks] == [
        ("guard", {"place": "the gate"}, "started")
    ]
    group.add(play.add(Guard))
    play.tick(2)
    assert play.log == [(1, "the gate")]


@pytest.mark.states(
    "001: should_start_thinking: A filter does nothing itself: (decided) an action that has no other method is never "
    "run",
)
def test_a_filter_is_never_run_even_when_it_is_the_only_one_that_could(play, idle):
    class Allows(Action):
        does = "top"
        utility = 0.9

        def should_start_thinking(self, ctx, args):
            return True

    agent = play.add(Allows, idle)
    play.tick(2)
    assert running(agent) == "top/Idle"
    assert "allows: not possible now: it only forbids or allows" in agent.explain()


class Closed(Action):
    """A filter that says no."""

    utility = 0

    def should_start_thinking(self, ctx, args):
        return False


@pytest.mark.states("001: should_start_thinking: It blocks groups and tasks as well")
@pytest.mark.parametrize("closed", ["top", "do"])
def test_a_filter_blocks_task_groups_and_tasks_as_well(play, leaf, closed):
    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.5)))
    agent = play.add(leaf("Do", does="do", think=0, quiet=True), type("Closed", (Closed,), {"does": closed}))
    group.add(agent)
    play.tick(3)
    assert running(agent) == ""
    assert [path for _, path, _ in play.trace("think") if path.endswith("/Do")] == []


@pytest.mark.states(
    "001: Task group example, Task declarations: It follows that utility while the action runs, and so does the group",
)
def test_a_task_and_its_group_are_worth_what_is_done_for_it_while_it_runs(play, leaf):
    class Tiring(Action):
        does = "do"
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(0.8 if ctx.clock.tick == 1 else 0.1)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_utility(0.4)
            await ctx.sleep_ticks(2)
            ctx.set_utility(0.2)
            await ctx.sleep(1000)

    group = TaskGroup(group_of(declare_permanent_task("do", {}, (0.0, 0.5)), utility=(0.0, 1.0)))
    agent = play.add(Tiring, leaf("Other", 0.15, run=99, quiet=True))
    group.add(agent)
    seen = []
    for _ in range(5):
        play.tick(1)
        seen.append((running(agent).split("/")[1], agent.snapshot().plan.units[1].utility))
    assert seen[:4] == [("Group", 0.4), ("Group", 0.4), ("Group", 0.2), ("Group", 0.2)]
    assert seen[4][0] == "Other"


@pytest.mark.states("001: reject: (decided) A task counts as a compound of one step")
def test_a_task_whose_arguments_are_rejected_thinks_again_with_back_off(play, leaf, idle):
    """It is a plan of one step: there is nobody else to choose other arguments."""

    class Rejects(Action):
        does = "do"
        utility = 0.5

        async def think(self, ctx, args):
            play.note("think")
            ctx.reject("not now")

    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.5)))
    group.add(play.add(Rejects, idle))
    play.tick(40)
    assert [tick for tick, _ in play.log] == [1, 2, 3, 5, 9, 16, 29]
    assert running(play.agents[0]) == "top/Idle"


@pytest.mark.states(
    "001: Issuing tasks: (decided) What was told before an agent's first intake counts from its first thought",
)
def test_tasks_that_are_started_before_the_first_tick_make_one_round(play, leaf):
    """The better one runs at once; the other, a permanent one, is not begun and interrupted first."""
    agent = play.add(leaf("Sleep", does="sleep", run=9, quiet=True), leaf("Rest", does="rest", run=9, quiet=True))
    group = TaskGroup(group_of(declare_multiple_tasks("sleep", 0.6), declare_permanent_task("rest", {}, 0.2)))
    group.add(agent)
    group.create_task("sleep").start()
    play.tick(1)
    assert [path.rpartition("/")[2] for _, path, _ in play.trace("start")] == ["Group", "TaskAction#2", "Sleep"]
    assert play.trace("preempt") == []


@pytest.mark.states("001: Overview, Task group action: It asks several characters to perform something")
@pytest.mark.states("001: Tasks: A new task is injected into every member")
def test_a_new_task_is_given_to_every_member_and_to_nobody_else(play, leaf, idle):
    group = TaskGroup(group_of(declare_multiple_tasks("do", 0.5)))
    agents = [play.add(leaf("Do", does="do", run=9, quiet=True), idle, name=name) for name in "abc"]
    for agent in agents[:2]:
        group.add(agent)
    play.tick(1)
    assert {running(agent) for agent in agents} == {"top/Idle"}
    group.create_task("do").start()
    play.tick(1)
    under_the_group = "top/Group/tasks/TaskAction#1/do/Do"
    assert [running(agent) for agent in agents] == [under_the_group, under_the_group, "top/Idle"]


@pytest.mark.states("001: Tasks: A plain action is always an option; a task is one only when somebody says so ...")
@pytest.mark.states("001: Tasks: A plain action is done by everybody on its own; a task is shared")
def test_what_is_in_a_pack_everybody_does_on_its_own_and_a_task_is_done_by_one(play, leaf, idle):
    """Two of the limits of plain actions, and the way around them: the action is always an option, the task only once."""
    group = TaskGroup(group_of(declare_multiple_tasks("dig", 0.5), utility=0.9))
    agents = [
        play.add(
            leaf("Sing", 0.3, run=2, quiet=True), leaf("Dig", does="dig", run=2, quiet=True), name=name, entity=None
        )
        for name in "ab"
    ]
    for agent in agents:
        group.add(agent)
    play.tick(2)
    group.create_task("dig").once().start()
    play.tick(5)
    ran = {name: [(t, p.rpartition("/")[2]) for t, p, _ in play.trace("run", agent=name)] for name in "ab"}
    assert [(tick, name) for tick, name in ran["a"] if name in ("Sing", "Dig")] == [
        (1, "Sing"),
        (3, "Dig"),
        (5, "Sing"),
        (7, "Sing"),
    ]
    assert ran["b"] == [(1, "Sing"), (3, "Sing"), (5, "Sing"), (7, "Sing")]


# --- packs ------------------------------------------------------------------------------------------------------------


class Play(Idle):
    utility = 0.5


class Tag:
    def __init__(self, entity, *, text=""):
        self.text = text


async def bark(agent):
    barks = agent.entity[Tag]
    while True:
        barks.text += "!"
        await sleep_ticks(2)


REGISTRY = Registry(
    [Manifest("m", {"actions:idle": Idle, "actions:play": Play, "components:tag": Tag, "observers:bark": bark})]
)
PET_COLLAR = {
    "name": "pet collar",
    "components": {
        "m:equipment_piece": {
            "injected_ai": {
                "type": "ai_pack",
                "actions": ["m:actions:play"],
                "observers": ["m:observers:bark"],
                "components": {"m:components:tag": {"text": "rex"}},
            }
        }
    },
}


@pytest.mark.states("001: Injecting actions: An action that is registered and injected nowhere is of no use")
def test_an_action_that_is_registered_but_injected_nowhere_is_of_no_use(play):
    agent = play.sim.add(Agent(Entity("dog"), name="a", packs=[{"actions": ["m:actions:idle"]}], registry=REGISTRY))
    play.tick(3)
    assert (agent.actions, running(agent)) == ((Idle,), f"{TOP}/Idle")


@pytest.mark.states("001: Injecting actions: The example: a pet collar brings actions, observers and components")
def test_a_pet_collar_bears_actions_observers_and_components(play):
    agent = play.sim.add(Agent(Entity("dog"), name="a", packs=[{"actions": ["m:actions:idle"]}], registry=REGISTRY))
    play.tick(1)
    collar = agent.inject_from(PET_COLLAR)
    play.tick(4)
    assert (running(agent), agent.entity[Tag].text) == (f"{TOP}/Play", "rex!!")
    collar.revoke()
    play.tick(3)
    assert (running(agent), Tag in agent.entity) == (f"{TOP}/Idle", False)


@pytest.mark.states("001: Issuing tasks: Who learns the action later gets the arguments of a task that waits")
def test_what_is_learned_for_a_task_that_waits_already_gets_its_arguments(play, idle):
    """The order was given before anybody had the job, and the job brings the action."""

    class Dig(Action):
        does = "dig"
        utility = 0.5

        class Args(ActionArgs):
            where: str
            depth: int = 2

        async def run(self, ctx, args):
            play.note(args.where, args.depth)
            await ctx.sleep_ticks(9)

    group = TaskGroup(group_of(declare_multiple_tasks("dig", 0.5)))
    agent = play.add(idle)
    group.add(agent)
    group.create_task("dig", where="the north field").once().start()
    play.tick(2)
    agent.inject(Dig)
    play.tick(1)
    assert play.log == [(3, "the north field", 2)]


# --- persistence ------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Persistence: A planner in a bad state begins anew after loading")
def test_a_planner_in_a_bad_state_begins_anew_after_loading(stage):
    """The entity is saved and the agent is not: a new agent of the entity knows nothing of what went wrong."""
    entity = Entity("human", name="ada")
    broken = [True]

    class Work(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            if broken:
                ctx.abort("no tools")
            await ctx.sleep(1000)

    before = stage()
    killed = before.add(Work, entity=entity)
    before.tick(20)
    assert isinstance(killed.error, AgentKilled)
    before.close()
    broken.clear()
    after = stage()
    agent = after.add(Work, entity=entity)
    after.tick(1)
    assert (running(agent), agent.snapshot().aborts, agent.snapshot().abort_reason) == ("top/Work", 0, "")
    after.close()
