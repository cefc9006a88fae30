"""Dependencies in plans: steps of compounds, things to do among others, preempted, put off, and with control flags."""

from __future__ import annotations

import pytest
from cast import Idle
from wants import Build, Know, Reach

from agentrt import LOOK, MOVE, PREV, TOP, Action, CompoundAction, ThinkOutput, step
from agentrt.errors import ActivityAbortedError, ActivityImpossibleError, DependencyFailedError
from agentrt.kernel.traps import next_tick
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_task


class Settle(CompoundAction):
    """Get wood, then go to a place."""

    does = TOP
    utility = 0.5
    steps = [step("want:have", item="wood", count=2), step("want:reach", place="hill")]


def top_action(utility, run, think=None, **attributes):
    body = {"does": TOP, "utility": utility, "run": run, **attributes}
    if think is not None:
        body["think"] = think
    return type("Better", (Action,), body)


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Global Dependency Lists: A dependency is an activity of the planner, too: a step of a compound, a task of a "
    "group (ours)",
)
def test_a_dependency_is_a_step_of_a_compound(game, way):
    agent = game.add(way("Chop", ticks=2), way("Walk", Reach, ticks=3), actions=[Settle])
    game.tick(7)
    assert game.log[:4] == [(1, "Chop", "run"), (3, "Chop", "ends"), (3, "Walk", "run"), (6, "Walk", "ends")]
    assert agent.entity.bag == {"wood": 2}
    assert [tree.outcome for tree in agent.gameplay.finished[:2]] == ["done", "done"]
    assert agent.snapshot().aborts == 0


@pytest.mark.states("003: Global Dependency Lists: A dependency is an activity of the planner, too: a step of a ...")
def test_a_step_is_ready_only_while_somebody_can(game, way):
    agent = game.add(way("Walk", Reach, ticks=3), actions=[Settle, Idle])
    game.tick(3)
    assert agent.snapshot().running == "agentrt:top/Idle"
    agent.gameplay.add_strategy(way("Chop", ticks=100))
    game.tick(2)
    assert agent.snapshot().running.startswith("agentrt:top/Settle/want:have")


def test_a_step_asks_anew_when_a_topic_changes(game, way):
    tools = []
    agent = game.add(
        way("Walk", Reach),
        way("Chop", cost=lambda ask, _: 3.0 if tools else None, ticks=100, reads=("tools",)),
        actions=[Settle, Idle],
    )
    game.tick(3)
    assert agent.snapshot().running == "agentrt:top/Idle"
    tools.append("axe")
    game.tick(3)
    assert agent.snapshot().running == "agentrt:top/Idle"  # nobody said so
    agent.gameplay.changed("tools")
    game.tick(2)
    assert agent.snapshot().running.startswith("agentrt:top/Settle/want:have")


def test_taken_away_while_a_plan_runs_it_it_runs_to_its_end(game, way):
    agent = game.add(actions=[Settle, Idle])
    take_away = agent.gameplay.add_strategy(way("Chop", ticks=4), way("Walk", Reach, ticks=4))
    game.tick(2)
    take_away()
    game.tick(20)
    assert game.log == [(1, "Chop", "run"), (5, "Chop", "ends")]
    assert agent.snapshot().running == "agentrt:top/Idle"
    assert agent.snapshot().aborts == 0


def test_values_of_steps_are_bound_like_those_of_any_action(game, way):
    class Think(Action):
        does = "where"
        utility = 1.0

        class Output(ThinkOutput):
            place: str

        async def think(self, ctx, args):
            ctx.set_think_output(place="lake")

    class Go(CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("where"), step("want:reach", place=PREV.place)]

    seen = []

    async def run(self, ctx, wanted):
        seen.append(wanted.place)
        await ctx.sleep(50)

    game.add(way("Walk", Reach, run=run), actions=[Go, Think])
    game.tick(2)
    assert seen == ["lake"]


@pytest.mark.states("003: Global Dependency Lists: A dependency is an activity of the planner, too: a step of a ...")
def test_a_dependency_is_a_task_of_a_group(game, way):
    class Chores(TaskGroupAction):
        does = TOP
        utility = (0, 0.5)
        tasks = (declare_task("want:have", 0.6),)

    agent = game.add(way("Chop", ticks=2), actions=[Idle])
    group = TaskGroup(Chores)
    group.add(agent)
    done = group.create_task("want:have", item="log", count=3).once().start()
    game.tick(6)
    assert agent.entity.bag == {"log": 3}
    assert done.state == "completed"


def test_an_agent_performs_a_dependency(game, way):
    agent = game.add(way("Chop", ticks=2))
    wish = game.wish(agent.perform("want:have", item="log", count=3))
    game.tick(4)
    assert wish.error is None
    assert agent.entity.bag == {"log": 3}


def test_performing_what_fails_tells_why(game, way):
    agent = game.add(way("Chop", fails="the axe broke"))
    wish = game.wish(agent.perform("want:have", item="log"))
    game.tick(4)
    assert isinstance(wish.error, ActivityAbortedError)
    assert "Chop failed (the axe broke)" in str(wish.error)
    wish = game.wish(agent.perform("want:reach", place="x"))
    game.tick(4)
    assert isinstance(wish.error, ActivityImpossibleError)


def test_a_strategy_executes_the_activity_of_a_dependency(game, way):
    async def run(self, ctx, wanted):
        try:
            await ctx.execute("want:have", item="log", count=1)
        except ActivityAbortedError as error:
            game.note("failed", "the axe broke" in str(error))
        return "built"

    agent = game.add(way("House", Build, run=run), way("Chop", fails="the axe broke"))
    assert game.solve(agent, Build()).value == "built"
    assert (2, "failed", True) in game.log


# --- failing ----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Task Failure: In a plan a failure is no abort: it is thought again, and what failed is put off longer each "
    "time (decided)",
)
def test_what_a_plan_could_not_have_solved_is_put_off_longer_each_time(game, way):
    agent = game.add(way("Walk", Reach), way("Chop", ticks=1, fails="rotten"), actions=[Settle, Idle])
    game.tick(2000)
    runs = [tick for tick, who, what in game.log if (who, what) == ("Chop", "run")]
    assert runs == [1, 22, 63, 144, 305, 626, 1267]  # after 1, 2, 4, 8 ... seconds
    assert agent.snapshot().aborts == 0
    assert agent.snapshot().is_alive


@pytest.mark.states("003: Task Failure: In a plan a failure is no abort: it is thought again, and what failed is ...")
def test_failures_in_a_plan_never_kill_the_agent(game, way):
    agent = game.add(way("Chop", ticks=0, fails="rotten"), way("Walk", Reach), actions=[Settle])
    game.tick(3000)
    assert agent.snapshot().is_alive
    assert agent.snapshot().aborts == 0


@pytest.mark.states("003: Task Failure: In a plan a failure is no abort: it is thought again, and what failed is ...")
def test_success_forgets_how_often_it_failed(game, way):
    luck = iter([False, False, True, False, False])

    async def run(self, ctx, wanted):
        game.note("try")
        await next_tick()
        if not next(luck):
            ctx.fail("no luck")
        ctx.entity.put(wanted.item, wanted.count)

    class Get(CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("want:have", item="wood"), step("eat")]

    class Eat(Action):
        does = "eat"
        utility = 1.0

        async def run(self, ctx, args):
            ctx.entity.bag.clear()

    game.add(way("Chop", run=run), actions=[Get, Eat, Idle])
    game.tick(90)
    assert [tick for tick, _ in game.log] == [1, 22, 63, 64, 85]


# --- preemption -------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Interrupting Tasks: Interruption and preemption by the plan are one mechanism (decided) ...")
def test_a_better_action_preempts_all_that_is_solved_inner_first(game, way):
    alarm = []

    async def think(self, ctx, args):
        while True:
            ctx.set_think_output() if alarm else ctx.clear_think_output()
            await ctx.next_tick()

    async def run(self, ctx, args):
        game.note("alarm")
        alarm.clear()
        await ctx.sleep_ticks(3)

    agent = game.add(
        way("Chop", needs=[Know("how")], ticks=50),
        way("Learn", Know, needs=[Reach("school")], ticks=50),
        way("Walk", Reach, ticks=50),
        actions=[Settle, top_action(0.9, run, think)],
    )
    game.tick(5)
    alarm.append(True)
    game.tick(6)
    assert game.log == [
        (1, "Chop", "run"),
        (1, "Learn", "run"),
        (1, "Walk", "run"),
        (6, "Walk", "ends"),
        (6, "Learn", "ends"),
        (6, "Chop", "ends"),
        (6, "alarm"),
        (9, "Chop", "run"),
        (9, "Learn", "run"),
        (9, "Walk", "run"),
    ]
    assert {node.outcome for _, node in agent.gameplay.finished[0].walk()} == {"cancelled"}
    assert len(agent.gameplay.running) == 1


def test_a_request_beside_the_plan_leaves_the_plan_alone(game, way):
    agent = game.add(way("Walk", Reach, ticks=3), actions=[Idle])
    game.tick(1)
    game.solve(agent, Reach("hill"))
    assert agent.snapshot().running == "agentrt:top/Idle"
    assert [event for _, _, _, event in game.sim.events("run", agent="a", path="agentrt:top/Idle")] == ["run"]


def test_two_requests_are_solved_at_the_same_time(game, way):
    agent = game.add(way("Walk", Reach, ticks=3), way("Read", Know, ticks=5))
    first, second = game.wish(agent.gameplay.reach("hill")), game.wish(agent.gameplay.know("all"))
    game.tick(2)
    assert [one.wanted.label() for one in agent.gameplay.running] == ["Reach [hill]", "Know [all]"]
    game.tick(5)
    assert (first.until, second.until) == (4, 6)


# --- control flags ----------------------------------------------------------------------------------------------------


class Driver:
    """Another model of the agent, as the ledger sees it."""

    flag_name = "goals/panic"
    is_interruptible = True
    runs_for = None

    def __init__(self, agent, precedence=0):
        self.agent = agent
        self.precedence = precedence

    def claim(self, *flags):
        return self.agent.flags.claim(flags, self, self.agent.runtime.tick, wait=True)

    def release(self):
        self.agent.flags.release(self)

    def give_way(self, flag, claimant):
        raise AssertionError("nobody here is above it")

    def flags_granted(self):
        pass


def holds(agent):
    return {flag: holder for flag, holder, _ in agent.snapshot().flags}


@pytest.mark.states(
    "003: Ours: A strategy is an action of the planner: flags are shared along a request, waited for, taken and given "
    "back",
    source="design section 6",
)
def test_a_strategy_shares_its_flags_with_what_it_has_solved(game, way):
    agent = game.add(
        way("Chop", flags={MOVE}, needs=[Reach("tree")], ticks=2),
        way("Walk", Reach, flags={MOVE, LOOK}, ticks=2),
    )
    wish = game.wish(agent.gameplay.have("log"))
    seen = []
    for _ in range(5):
        game.tick(1)
        seen.append(sorted(holds(agent)))
    assert seen == [["LOOK", "MOVE"], ["LOOK", "MOVE"], ["MOVE"], ["MOVE"], []]
    assert wish.value == 1


@pytest.mark.states("003: Ours: A strategy is an action of the planner: flags are shared along a request, waited ...")
def test_a_strategy_waits_for_a_flag_that_somebody_else_holds(game, way):
    agent = game.add(way("Walk", Reach, flags={MOVE}, ticks=2))
    driver = Driver(agent)
    driver.claim(MOVE)
    wish = game.wish(agent.gameplay.reach("hill"))
    game.tick(10)
    assert game.log == []
    driver.release()
    game.tick(4)
    assert wish.is_over
    assert game.log == [(11, "Walk", "run"), (13, "Walk", "ends")]


@pytest.mark.states("003: Ours: A strategy is an action of the planner: flags are shared along a request, waited ...")
def test_a_flag_that_is_taken_makes_its_holder_begin_again_and_nobody_above(game, way):
    """Precedence takes the legs from the innermost one that holds them; what is above it waits."""
    agent = game.add(
        way("Chop", needs=[Reach("tree")], ticks=2),
        way("Walk", Reach, flags={MOVE}, ticks=6),
    )
    driver = Driver(agent, precedence=9)
    wish = game.wish(agent.gameplay.have("log"))
    game.tick(3)
    driver.claim(MOVE)
    game.tick(4)
    assert holds(agent) == {"MOVE": "goals/panic"}
    driver.release()
    game.tick(12)
    assert wish.value == 1
    assert game.log == [
        (1, "Chop", "run"),
        (1, "Walk", "run"),
        (4, "Walk", "ends"),
        (8, "Walk", "run"),
        (14, "Walk", "ends"),
        (16, "Chop", "ends"),
    ]
    assert game.tree(agent) == [
        "Have [log, 1] - done",
        "   Chop - done",
        "      Reach [tree] - done",
        "         Walk - cancelled: it begins again",
        "         Walk - done",
    ]


def test_a_flag_that_is_taken_from_above_makes_that_one_begin_again(game, way):
    agent = game.add(
        way("Chop", flags={MOVE}, needs=[Know("how")], ticks=2),
        way("Read", Know, ticks=6),
    )
    driver = Driver(agent, precedence=9)
    wish = game.wish(agent.gameplay.have("log"))
    game.tick(3)
    driver.claim(MOVE)
    game.tick(4)
    driver.release()
    game.tick(12)
    assert wish.value == 1
    assert [who for _, who, what in game.log if what == "run"] == ["Chop", "Read", "Chop", "Read"]


@pytest.mark.states(
    "003: Ours: Two requests that wait for each other's flags come to an end",
    source="design section 6",
)
def test_two_requests_that_want_each_others_flags_come_to_an_end(game, way):
    """Each holds one and needs the other one below: one of them gives back all that it has, and begins again."""
    agent = game.add(
        way("Chop", flags={MOVE}, needs=[Know("how")], ticks=2),
        way("Read", Know, flags={LOOK}, ticks=2),
        way("Watch", Build, flags={LOOK}, needs=[Reach("hill")], ticks=2),
        way("Walk", Reach, flags={MOVE}, ticks=2),
    )
    wishes = [game.wish(agent.gameplay.have("log")), game.wish(agent.gameplay.build())]
    game.tick(30)
    assert [(wish.until, wish.error) for wish in wishes] == [(5, None), (9, None)]
    assert game.log == [
        (1, "Chop", "run"),
        (1, "Watch", "run"),
        (1, "Watch", "ends"),  # whoever closed the circle
        (1, "Read", "run"),
        (3, "Read", "ends"),
        (3, "Watch", "run"),
        (5, "Chop", "ends"),
        (5, "Walk", "run"),
        (7, "Walk", "ends"),
        (9, "Watch", "ends"),
    ]


@pytest.mark.states("003: Ours: A strategy is an action of the planner: flags are shared along a request, waited ...")
def test_a_failure_while_a_flag_is_held_gives_it_back(game, way):
    agent = game.add(way("Walk", Reach, flags={MOVE}, ticks=2, fails="fell"), way("Ride", Reach, cost=5, ticks=3))
    game.wish(agent.gameplay.reach("hill"))
    game.tick(2)
    assert list(holds(agent)) == ["MOVE"]
    game.tick(2)
    assert holds(agent) == {}


def test_a_plan_preempted_while_a_strategy_waits_for_a_flag_leaves_nothing(game, way):
    agent = game.add(way("Chop"), way("Walk", Reach, flags={MOVE}), actions=[Settle])
    driver = Driver(agent)
    driver.claim(MOVE)
    game.tick(5)
    assert agent.snapshot().waiting != ()
    game.sim.runtime.remove(agent)
    game.tick(2)
    assert game.log[-1] == (2, "Chop", "ends")
    driver.release()


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Ours: Whoever awaits a request may go away, and an agent may end, at any time ...")
@pytest.mark.parametrize("how", ["remove", "close"])
def test_an_agent_that_ends_takes_all_that_is_solved_with_it(game, way, how):
    agent = game.add(way("Chop", needs=[Reach("tree")]), way("Walk", Reach, flags={MOVE}, ticks=50))
    wish = game.wish(agent.gameplay.have("log"))
    game.tick(3)
    if how == "remove":
        game.sim.runtime.remove(agent)
    else:
        game.close()
    game.tick(3)
    assert game.log[-2:] == [(4, "Walk", "ends"), (4, "Chop", "ends")]
    assert wish.is_over
    if wish.error is not None:
        assert isinstance(wish.error, ActivityAbortedError)
        assert not isinstance(wish.error, DependencyFailedError)
    assert agent.gameplay.finished[-1].outcome == "cancelled"
