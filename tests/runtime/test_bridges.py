"""Bridges: an action that hands the body to another model, goals and behaviors that perform, leaves that switch."""

from __future__ import annotations

import pytest
from cast import Idle

from agentrt import LOOK, MOVE, TOP, Action, ActionArgs, Agent, Entity, sleep_ticks
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.bridges import DriverAction, PerformGoal, attaches, injects, perform_behavior, performs
from agentrt.goals import TARGETS, Goal, GoalSelector
from agentrt.rebuild import save_packs
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.testing import Simulation

LOG = []


@pytest.fixture(autouse=True)
def log():
    LOG.clear()
    return LOG


@pytest.fixture
def sim():
    made = Simulation(seed=3)
    yield made
    made.close()
    assert made.runtime.kernel.live == 0
    assert made.events("fault") == []


def note(body, *what):
    LOG.append((body.kernel.tick, *what))


class Walk(Action):
    does = "test:walk"
    utility = 0.5
    flags = {MOVE}

    class Args(ActionArgs):
        ticks: int = 2

    def start(self, ctx, args):
        note(ctx.agent, "walk starts")

    async def run(self, ctx, args):
        note(ctx.agent, "walks")
        await ctx.sleep_ticks(args.ticks)

    def stop(self, ctx, args):
        note(ctx.agent, "walk stops")


# --- an action that hands the body on ---------------------------------------------------------------------------------


class Swing(Behavior):
    flags = (MOVE,)

    def activate(self, at):
        note(at.body, "swing")

    def deactivate(self, at):
        note(at.body, "swing ends")

    async def run(self, at):
        try:
            await sleep_ticks(3)
            note(at.body, "hit")
        finally:
            note(at.body, "lowers the sword")


def has_enemy(memory):
    return memory.agent.enemies > 0


FIGHT = BehaviorTree(
    group("FIGHT")[
        decider("SWING", Swing, decide=has_enemy),
        decider("WATCH", lambda at: None, decide=has_enemy),
    ]
)


class Fight(DriverAction):
    does = TOP
    utility = 0.5
    flags = {MOVE}

    async def think(self, ctx, args):
        while True:
            if ctx.entity.enemies:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.next_tick()

    def make_driver(self, ctx, args):
        return FIGHT.memory(name="fight")

    def goes_on(self, ctx, driver):
        return ctx.entity.enemies > 0

    def stop(self, ctx, args):
        note(ctx.agent, "fight stops")


class Soldier(Entity):
    enemies = 0


def test_an_action_ticks_a_behavior_tree_and_shares_its_flags(sim):
    """The behavior claims MOVE, which the action holds: it runs for the action."""
    soldier = Soldier("soldier", name="ann")
    agent = sim.add(Agent(soldier, actions=[Idle, Fight]))
    sim.tick(2)
    soldier.enemies = 1
    sim.tick(1)
    assert LOG == [(3, "swing")]
    assert [(flag, holder) for flag, holder, _ in agent.snapshot().flags] == [("MOVE", "fight")]
    sim.tick(3)
    assert LOG == [(3, "swing"), (6, "hit"), (6, "lowers the sword"), (6, "swing ends")]
    soldier.enemies = 0
    sim.tick(1)
    assert LOG[4:] == [(7, "fight stops")]
    assert agent.snapshot().flags == ()


def test_the_tree_of_an_action_cleans_up_before_what_preempts_it_starts(sim):
    class Flee(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.signals["scared"].wait()
            ctx.set_think_output()

        def start(self, ctx, args):
            note(ctx.agent, "flees")

        async def run(self, ctx, args):
            await ctx.sleep(1)

    soldier = Soldier("soldier", name="ann")
    soldier.enemies = 1
    sim.add(Agent(soldier, actions=[Idle, Fight, Flee]))
    sim.tick(2)
    sim.runtime.post(soldier.signal("scared").emit)
    sim.tick(1)
    assert LOG[1:] == [(3, "lowers the sword"), (3, "swing ends"), (3, "fight stops"), (3, "flees")]


def test_what_the_tree_of_an_action_does_is_in_the_snapshot(sim):
    soldier = Soldier("soldier", name="ann")
    soldier.enemies = 1
    agent = sim.add(Agent(soldier, actions=[Idle, Fight]))
    sim.tick(2)
    unit = next(unit for unit in agent.snapshot().plan.units if unit.action == "Fight")
    assert "SWING" in unit.debug["fight"]


def test_a_plan_that_gives_way_takes_its_tree_along(sim):
    class Panic(Goal):
        flags = {MOVE}

        def can_use(self):
            return self.body.kernel.tick >= 2

        def start(self):
            note(self.body, "panics")

    selector = GoalSelector(precedence=1)
    selector.add_goal(1, Panic())
    soldier = Soldier("soldier", name="ann")
    soldier.enemies = 1
    agent = sim.add(Agent(soldier, actions=[Idle, Fight], drivers=[selector]))
    sim.tick(5)
    assert LOG[1:] == [(2, "lowers the sword"), (2, "swing ends"), (2, "fight stops"), (2, "panics")]
    assert [(flag, holder) for flag, holder, _ in agent.snapshot().flags] == [("MOVE", "goals/Panic")]


def test_a_tree_that_cannot_settle_costs_the_action_a_tick_and_nothing_else():
    sim = Simulation(seed=3)
    broken = BehaviorTree(
        group("ROOT")[decider("A", lambda at: False), decider("B", lambda at: False), decider("C", lambda at: None)],
        max_redecides=1,
    )

    class Try(DriverAction):
        does = TOP
        utility = 0.5

        def make_driver(self, ctx, args):
            return broken.memory()

    agent = sim.add(Agent(Entity("a"), actions=[Try], name="a"))
    sim.tick(3)
    assert agent.snapshot().aborts == 0
    assert agent.snapshot().running == "agentrt:top/Try"
    faults = [(one.tick, one.path) for one in sim.trace if one.event == "fault"]
    assert faults == [(1, "tree"), (2, "tree"), (3, "tree")]
    sim.close()


# --- goals and behaviors that perform -----------------------------------------------------------------------------------


def test_a_goal_performs_an_activity_and_shares_its_flags(sim):
    selector = GoalSelector()
    selector.add_goal(1, PerformGoal("test:walk", {"ticks": 3}, flags={MOVE}, when=lambda entity: entity.enemies))
    soldier = Soldier("soldier", name="ann")
    agent = sim.add(Agent(soldier, actions=[Idle, Walk], drivers=[selector]))
    sim.tick(2)
    soldier.enemies = 1
    sim.tick(3)
    assert LOG == [(4, "walk starts"), (4, "walks")]
    assert [(flag, holder) for flag, holder, _ in agent.snapshot().flags] == [("MOVE", "goals/Perform test:walk")]
    assert [frame.path for frame in agent.snapshot().performances] == ["goals/Perform test:walk/test:walk"]
    soldier.enemies = 0
    sim.tick(3)
    assert LOG[2:] == [(6, "walk stops")]
    assert agent.snapshot().flags == ()


def test_a_goal_that_is_stopped_unwinds_what_it_performs(sim):
    selector = GoalSelector()
    goal = PerformGoal("test:walk", {"ticks": 100}, flags={MOVE})
    selector.add_goal(1, goal)
    sim.add(Agent(Entity("a"), actions=[Idle, Walk], drivers=[selector]))
    sim.tick(2)
    sim.runtime.post(selector.remove_goal, goal)
    sim.tick(1)
    assert LOG == [(1, "walk starts"), (1, "walks"), (3, "walk stops")]


def test_an_activity_that_nobody_can_perform_is_tried_again_after_a_second(sim):
    selector = GoalSelector()
    selector.add_goal(1, PerformGoal("test:walk"))
    agent = sim.add(Agent(Entity("a"), actions=[Idle], drivers=[selector]))
    sim.tick(5)
    starts = [one.tick for one in sim.trace if one.event == "start" and one.path.startswith("goals")]
    assert starts == [1]
    agent.inject(Walk)
    sim.tick(25)
    starts = [one.tick for one in sim.trace if one.event == "start" and one.path == "goals/Perform test:walk"]
    assert len(starts) > 1
    assert starts[1] - starts[0] >= 20
    assert (starts[1], "walks") in LOG


def test_a_behavior_performs_an_activity(sim):
    tree = BehaviorTree(
        group("ROOT")[
            decider("GO", perform_behavior("test:walk", {"ticks": 2}, flags=(MOVE, LOOK)), every=1000.0),
            decider("REST", lambda at: None),
        ]
    )
    tree.initialize_tree_data()
    memory = tree.memory()
    agent = sim.add(Agent(Entity("a"), actions=[Idle, Walk], drivers=[memory]))
    sim.tick(1)
    assert memory.active_path == ("ROOT", "GO")
    assert {flag: holder for flag, holder, _ in agent.snapshot().flags} == {
        "MOVE": "tree/ROOT/GO",
        "LOOK": "tree/ROOT/GO",
    }
    sim.tick(3)
    assert LOG == [(1, "walk starts"), (1, "walks"), (3, "walk stops")]
    assert memory.active_path == ("ROOT", "REST")


# --- leaves of a selection tree -------------------------------------------------------------------------------------------

GRUNT = """
<SelectionTree name="Grunt">
  <Variables><Variable name="Alert"/></Variables>
  <SignalVariables>
    <Signal name="OnAlarm" variable="Alert" value="true"/>
    <Signal name="OnCalm" variable="Alert" value="false"/>
  </SignalVariables>
  <Priority name="Root">
    <Leaf name="Fight" condition="Alert"/>
    <Leaf name="Idle"/>
  </Priority>
</SelectionTree>
"""


def grunt(behaviors):
    return SelectionLibrary.from_texts({"Grunt.xml": GRUNT})["Grunt"].state(behaviors=behaviors)


def test_a_leaf_gives_the_agent_a_pack_while_it_is_selected(sim):
    class Strike(Action):
        does = TOP
        utility = 0.9

        async def run(self, ctx, args):
            note(ctx.agent, "strikes")
            await ctx.sleep(100)

        def stop(self, ctx, args):
            note(ctx.agent, "lowers")

    state = grunt({"Fight": injects(Strike), "Idle": injects()})
    agent = sim.add(Agent(Entity("a"), actions=[Idle], drivers=[state]))
    sim.tick(2)
    state.signal("OnAlarm")
    sim.tick(2)
    assert LOG == [(4, "strikes")]
    assert save_packs(agent) == []
    state.signal("OnCalm")
    sim.tick(2)
    assert LOG[1:] == [(6, "lowers")]
    assert Strike not in agent.actions


def test_a_leaf_attaches_a_driver_while_it_is_selected(sim):
    tree = BehaviorTree(group("ROOT")[decider("SWING", Swing)])
    state = grunt({"Fight": attaches(tree.memory, precedence=2), "Idle": injects()})
    agent = sim.add(Agent(Entity("a"), actions=[Idle], drivers=[state]))
    sim.tick(2)
    assert [one.driver.name for one in agent.attachments] == ["selection"]
    state.signal("OnAlarm")
    sim.tick(2)
    assert [(one.driver.name, one.driver.precedence) for one in agent.attachments] == [("selection", 0), ("tree", 2)]
    assert LOG == [(4, "swing")]
    state.signal("OnCalm")
    sim.tick(2)
    assert LOG[1:] == [(6, "lowers the sword"), (6, "swing ends")]
    assert [one.driver.name for one in agent.attachments] == ["selection"]


def test_a_leaf_performs_an_activity_again_and_again(sim):
    state = grunt({"Fight": performs("test:walk"), "Idle": injects()})
    sim.add(Agent(Entity("a"), actions=[Idle, Walk], drivers=[state]))
    state.signal("OnAlarm")
    sim.tick(7)
    state.signal("OnCalm")
    sim.tick(2)
    assert LOG == [
        (1, "walk starts"),
        (1, "walks"),
        (3, "walk stops"),
        (4, "walk starts"),
        (4, "walks"),
        (6, "walk stops"),
        (7, "walk starts"),
        (7, "walks"),
        (8, "walk stops"),
    ]


def test_all_four_models_drive_one_agent_in_their_order(sim):
    """Selection, targets, goals, tree, then the plan; in one tick."""
    order = []

    class Choose(Goal):
        def __init__(self, name):
            self.name = name

        def can_use(self):
            order.append(self.name)
            return False

    class Plan(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            order.append("plan")
            await ctx.sleep(100)

    goals, targets = GoalSelector(), GoalSelector(name="targets", rank=TARGETS)
    goals.add_goal(1, Choose("goal"))
    targets.add_goal(1, Choose("target"))
    tree = BehaviorTree(group("ROOT")[decider("T", lambda at: None, decide=lambda memory: order.append("tree") or 1.0)])

    class Idling(LeafBehavior):
        def constructor(self, ai):
            order.append("selection")

    state = grunt({"Idle": Idling, "Fight": Idling})
    sim.add(Agent(Entity("a"), actions=[Plan], drivers=[tree.memory(), goals, targets, state]))
    sim.tick(1)
    assert order == ["selection", "target", "goal", "tree", "plan"]
