"""Interruption by others: the planner prefers something else, or takes a control flag. It is the same machine underneath."""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt import LOOK, MOVE, Action, CompoundAction, step
from agentrt.goals import Goal, GoalSelector
from agentrt.strategy import Interruptible, Interruption, Trigger
from agentrt.strategy.solve import Incident

PAUSE, RESTART, WAIT, TREE = Interruptible.PAUSE, Interruptible.RESTART, Interruptible.WAIT, Interruptible.TREE


def _day(low=0.5):
    class Day(CompoundAction):
        does = "agentrt:top"
        utility = low
        steps = (step("want:build"),)

    return Day


def _alarm(game, ticks=4):
    class Alarm(Action):
        does = "agentrt:top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.signals["alarm"].wait()
            ctx.set_think_output()

        def start(self, ctx, args):
            game.note("alarm")

        async def run(self, ctx, args):
            await ctx.sleep_ticks(ticks)

    return Alarm


@pytest.mark.states("003: Interrupting Tasks: Interruption and preemption by the plan are one mechanism (decided)")
@pytest.mark.states(
    "003: Left open, requests: The planner's preemption unwinds a paused strategy and what is done meanwhile "
    "together, inner first",
    source="design 6; issue: one mechanism underneath",
)
@pytest.mark.parametrize("kind", [PAUSE, RESTART, WAIT, TREE])
def test_something_better_in_the_plan_unwinds_all_of_it_inner_first_and_it_begins_anew(game, way, kind):
    """Whatever the strategies support: a plan that is preempted is no interruption that they could have a say in."""
    outer = way("Outer", Build, needs=[Have("plank")], interruption=kind, flags=(LOOK,))
    saw = way("Saw", ticks=6, interruption=kind, flags=(MOVE,))
    agent = game.add(outer, saw, actions=[_day(), _alarm(game)])
    game.tick(3)
    agent.signal("alarm").emit()
    game.tick(1)
    assert game.take_log() == [
        (1, "Outer", "run"), (1, "Saw", "run"), (4, "Saw", "ends"), (4, "Outer", "ends"), (4, "alarm"),
    ]  # fmt: skip
    assert agent.flags.holds() == {}
    assert agent.gameplay.running == ()
    assert game.tree(agent)[0] == "Build [house] - cancelled"
    game.tick(12)
    assert game.log[:2] == [(8, "Outer", "run"), (8, "Saw", "run")]


@pytest.mark.states("003: Left open, requests: The planner's preemption unwinds a paused strategy and what is done ...")
@pytest.mark.parametrize("kind", [PAUSE, RESTART])
def test_something_better_in_the_plan_unwinds_what_is_dealt_with_in_between(game, way, kind):
    """What came up still has to be dealt with: it is, by itself."""
    saw = way("Saw", ticks=6, interruption=kind)
    agent = game.add(
        way("Outer", Build, needs=[Have("plank")]),
        saw,
        way("Flee", Reach, ticks=4, interruption=kind),
        actions=[_day(), _alarm(game)],
    )
    game.tick(2)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(1)
    agent.signal("alarm").emit()
    game.tick(2)
    unwound = [("Saw", "ends")] if kind is PAUSE else []
    assert [one[1:] for one in game.log if one[0] == 4] == [
        ("Flee", "ends"), *unwound, ("Outer", "ends"), ("alarm",), ("Flee", "run"),
    ]  # fmt: skip
    game.tick(4)
    assert "Reach [home] - done" in [root.render().splitlines()[0] for root in agent.gameplay.finished]


class Guard(Goal):
    """Takes a flag while it is told to."""

    def __init__(self, flag):
        self.set_flags({flag})
        self.is_wanted = False

    def can_use(self):
        return self.is_wanted

    def can_continue_to_use(self):
        return self.is_wanted


def _guard(agent, flag):
    goal = Guard(flag)
    selector = GoalSelector(precedence=10)
    selector.add_goal(1, goal)
    agent.attach(selector)
    return goal


@pytest.mark.states("003: Interrupting Tasks: Interruption and preemption by the plan are one mechanism (decided) ...")
@pytest.mark.states(
    "003: Left open, requests: A control flag that is taken unwinds its holder alone, which begins again when it can "
    "be had",
    source="design 3, control flags",
)
@pytest.mark.parametrize("kind", [PAUSE, RESTART, WAIT, TREE])
def test_a_flag_that_is_taken_unwinds_its_holder_alone_which_begins_again_when_it_can_be_had(game, way, kind):
    """A strategy that cannot be interrupted does not keep the body from who has the precedence."""
    outer = way("Outer", Build, needs=[Have("plank")], interruption=kind)
    agent = game.add(outer, way("Saw", ticks=6, interruption=kind, flags=(MOVE,)))
    goal = _guard(agent, MOVE)
    request = agent.gameplay.begin(Build())
    game.tick(4)
    assert agent.flags.holder(MOVE).name == "saw"
    goal.is_wanted = True
    game.tick(4)
    assert agent.flags.holder(MOVE).name.startswith("goals")
    goal.is_wanted = False
    game.tick(12)
    assert [(who, what) for _, who, what in game.log] == [
        ("Outer", "run"), ("Saw", "run"), ("Saw", "ends"), ("Saw", "run"), ("Saw", "ends"), ("Outer", "ends"),
    ]  # fmt: skip
    assert request.error is None
    assert request.is_done


@pytest.mark.states("003: Left open, requests: An interruption that was cut short is not lost ...")
@pytest.mark.parametrize("kind", [PAUSE, RESTART])
def test_a_flag_that_is_taken_while_it_is_dealt_with_does_not_lose_what_came_up(game, way, kind):
    saw = way("Saw", ticks=6, interruption=kind, flags=(MOVE,))
    agent = game.add(saw, way("Flee", Reach, ticks=5, flags=(MOVE,)))
    goal = _guard(agent, MOVE)
    agent.gameplay.add_trigger(Trigger(name="attack", on="attacked", solve=Reach("home")))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(2)
    goal.is_wanted = True
    game.tick(3)
    goal.is_wanted = False
    game.tick(30)
    assert request.error is None
    assert request.is_done
    fled = [tick for tick, who, what in game.log if (who, what) == ("Flee", "ends")]
    assert len(fled) == 2  # cut short, and to its end
    assert agent.gameplay.triggers.busy == ()


@pytest.mark.states("003: Left open, requests: A control flag that is taken unwinds its holder alone, which begins ...")
def test_a_strategy_above_that_loses_its_flag_has_all_below_it_unwound(game, way):
    outer = way("Outer", Build, needs=[Know("how"), Have("plank")], flags=(LOOK,), interruption=WAIT)
    agent = game.add(outer, way("Saw", ticks=6, flags=(MOVE,)), way("Read", Know, ticks=1))
    goal = _guard(agent, LOOK)
    request = agent.gameplay.begin(Build())
    game.tick(4)
    goal.is_wanted = True
    game.tick(3)
    goal.is_wanted = False
    game.tick(15)
    order = [(who, what) for _, who, what in game.log]
    assert order[:6] == [
        ("Outer", "run"), ("Read", "run"), ("Read", "ends"), ("Saw", "run"), ("Saw", "ends"), ("Outer", "ends"),
    ]  # fmt: skip
    assert order[6:] == order[:6]
    assert request.error is None


def test_two_requests_that_wait_for_each_other_s_flags_do_not_wait_for_ever(game, way):
    """The outermost that holds one of them begins again."""
    left = way("Left", Build, needs=[Know("a")], flags=(MOVE,), cost=1)
    agent = game.add(
        left,
        way("Right", Have, needs=[Reach("b")], flags=(LOOK,)),
        way("Read", Know, ticks=2, flags=(LOOK,)),
        way("Walk", Reach, ticks=2, flags=(MOVE,)),
    )
    first, second = agent.gameplay.begin(Build()), agent.gameplay.begin(Have("plank"))
    game.tick(20)
    assert (first.error, second.error) == (None, None)
    assert (first.is_done, second.is_done) == (True, True)
    assert "   Right - cancelled (expected 1 s): it begins again" in second.render().splitlines()
    assert second.solving.attempts < 5


@pytest.mark.parametrize("kind", [PAUSE, RESTART])
def test_handlings_in_two_requests_that_wait_for_each_other_s_flags_do_not_either(game, way, kind):
    agent = game.add(
        way("Left", Build, ticks=6, flags=(MOVE,), interruption=kind),
        way("Right", Have, ticks=6, flags=(LOOK,), interruption=kind),
        way("Read", Know, ticks=2, flags=(LOOK,)),
        way("Walk", Reach, ticks=2, flags=(MOVE,)),
    )
    first, second = agent.gameplay.begin(Build()), agent.gameplay.begin(Have("plank"))
    game.tick(2)
    first.solving.interruptions.add(Incident(Interruption("left"), Know("it")))
    second.solving.interruptions.add(Incident(Interruption("right"), Reach("home")))
    game.tick(30)
    assert (first.error, second.error) == (None, None)
    assert (first.is_done, second.is_done) == (True, True)
    assert first.solving.attempts + second.solving.attempts < 10
