"""A selector, statement by statement of the seed: priorities, flags, full and partial ticks, goals that come and go."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.body.driver import LoneBody
from agentrt.body.flags import FlagLedger
from agentrt.errors import WrongStateError
from agentrt.goals import GOALS, JUMP, LOOK, MOVE, TARGET, TARGETS, Goal, GoalSelector

worlds = load("tests/goals/worlds.py")
Scripted, names, locked = worlds.Scripted, worlds.names, worlds.locked


@pytest.fixture
def calls():
    return []


@pytest.fixture
def selector():
    return GoalSelector()


@pytest.mark.states("000: Usage: One can have more selectors, ticked by hand")
@pytest.mark.states("000: Operation: Four steps, each a loop over the goals: stop, unlock, start, tick")
@pytest.mark.states("000: Operation 4: Step 4: every running goal is ticked, also one that just started")
def test_the_order_of_a_full_tick(selector, calls):
    """Stop, unlock, start, tick: each a pass over all goals, in the order of adding."""
    selector.add_goal(3, Scripted("a", [MOVE], calls, cont=False))
    selector.add_goal(2, Scripted("b", [LOOK], calls))
    selector.add_goal(1, Scripted("c", [MOVE], calls, use=False))
    selector.tick()
    calls.clear()
    selector.tick()
    assert calls == [
        "canContinue a=0", "stop a", "canUse b=1",
        "canUse a=1", "start a", "canUse c=0",
        "tick a", "tick b",
    ]  # fmt: skip


@pytest.mark.states("000: Priorities: It does not change the order of checking and ticking")
@pytest.mark.states("000: Goal Iteration: Iteration is in the order of insertion")
def test_the_priority_does_not_change_the_order(selector, calls):
    for priority, name in ((9, "nine"), (1, "one"), (5, "five")):
        selector.add_goal(priority, Scripted(name, (), calls))
    selector.tick()
    assert calls == [
        "canUse nine=1", "start nine", "canUse one=1", "start one", "canUse five=1", "start five",
        "tick nine", "tick one", "tick five",
    ]  # fmt: skip


@pytest.mark.states("000: Priorities, Operation: Equal numbers: who runs goes on")
def test_a_goal_of_equal_priority_replaces_nobody(selector, calls):
    selector.add_goal(1, Scripted("a", [MOVE], calls))
    selector.add_goal(1, Scripted("b", [MOVE], calls))
    selector.tick()
    assert names(selector.running_goals) == ["a"]
    assert "canUse b=1" not in calls


@pytest.mark.states("000: Flags: First purpose: a goal does not start while another one with one of its flags runs")
@pytest.mark.states(
    "000: Operation: Step 3: not running, no disabled flag, replaceable holders, in this order; then it is asked",
    source="Operation 3, Flowchart: Step-3",
)
def test_flags_are_tested_before_can_use(selector, calls):
    selector.add_goal(1, Scripted("a", [MOVE], calls, interruptible=False))
    selector.add_goal(0, Scripted("b", [MOVE], calls))
    selector.tick()
    assert calls == ["canUse a=1", "start a", "tick a"]


@pytest.mark.states(
    "000: Operation: All holders of its flags have to be interruptible and of a higher number",
    source="Operation 3, Flowchart: goalCanBeReplacedForAllFlags, canBeReplacedBy",
)
def test_all_holders_have_to_be_replaceable(selector, calls):
    selector.add_goal(5, Scripted("legs", [MOVE], calls))
    selector.add_goal(1, Scripted("eyes", [LOOK], calls))
    selector.add_goal(3, Scripted("both", [MOVE, LOOK], calls))
    selector.tick()
    assert names(selector.running_goals) == ["legs", "eyes"]


@pytest.mark.states("000: Operation: All holders of its flags have to be interruptible and of a higher number ...")
@pytest.mark.parametrize("first", ["more important", "not interruptible"])
@pytest.mark.parametrize("at", [0, 1])
def test_one_holder_that_is_not_replaceable_is_enough(selector, calls, first, at):
    """Whichever flag it holds, and whether it is its number or that it cannot be interrupted."""
    flags = [MOVE, LOOK] if at == 0 else [LOOK, MOVE]
    priority = 1 if first == "more important" else 5
    selector.add_goal(priority, Scripted("blocker", [MOVE], calls, interruptible=first != "not interruptible"))
    selector.add_goal(5, Scripted("other", [LOOK], calls))
    selector.add_goal(3, Scripted("both", flags, calls))
    selector.tick()
    assert names(selector.running_goals) == ["blocker", "other"]


@pytest.mark.states(
    "000: Operation: A goal that was stopped in step 3 keeps its other entries until step 2 of the next full tick "
    "(the flowchart; the prose speaks of running goals alone)",
    source="Flowchart: Step-2, Step-3",
)
def test_what_a_replaced_goal_had_locked_besides_stays_locked_until_the_next_full_tick(selector, calls):
    """As the flowchart has it: the map is cleaned in step 2 alone."""
    selector.add_goal(5, Scripted("walk", [MOVE, LOOK], calls))
    selector.add_goal(1, Scripted("jump", [MOVE], calls, use=False))
    selector.add_goal(7, Scripted("gaze", [LOOK], calls))
    selector.tick()
    selector.find(selector.available_goals[1].goal).goal.answers["use"] = True
    selector.tick()
    assert names(selector.running_goals) == ["jump"]
    assert locked(selector) == {"MOVE": "jump", "LOOK": "walk"}
    selector.tick()
    assert names(selector.running_goals) == ["jump", "gaze"]
    assert locked(selector) == {"MOVE": "jump", "LOOK": "gaze"}


@pytest.mark.states(
    "000: Flags: Second purpose: a flag can be disabled; running goals with it are stopped and no new ones are run",
)
@pytest.mark.states("000: Operation 1: Step 1: a running goal with a disabled flag is stopped, and not asked")
def test_a_disabled_flag_stops_goals_in_the_next_full_tick(selector, calls):
    selector.add_goal(1, Scripted("walk", [MOVE], calls))
    selector.add_goal(2, Scripted("gaze", [LOOK], calls))
    selector.tick()
    selector.disable_control_flag(MOVE)
    assert names(selector.running_goals) == ["walk", "gaze"]
    calls.clear()
    selector.tick()
    assert calls == ["stop walk", "canUse gaze=1", "tick gaze"]
    assert selector.disabled_flags == (MOVE,)


@pytest.mark.states("000: Flags: A flag is enabled again; that restarts nothing at once")
def test_enabling_a_flag_restarts_nothing_by_itself(selector, calls):
    selector.add_goal(1, Scripted("walk", [MOVE], calls))
    selector.set_control_flag(MOVE, False)
    selector.tick()
    selector.set_control_flag(MOVE, True)
    assert calls == []
    assert selector.running_goals == ()
    selector.tick()
    assert calls == ["canUse walk=1", "start walk", "tick walk"]


@pytest.mark.states("000: Flags: Disabling is no count: disabled twice, enabled once")
def test_disabling_twice_is_enabled_once(selector, calls):
    selector.add_goal(1, Scripted("walk", [MOVE], calls))
    selector.disable_control_flag(MOVE)
    selector.disable_control_flag(MOVE)
    selector.enable_control_flag(MOVE)
    selector.tick()
    assert names(selector.running_goals) == ["walk"]


@pytest.mark.states("000: Flags: (ours) Any other word is a flag, too")
def test_a_flag_of_ones_own(selector, calls):
    selector.add_goal(5, Scripted("glide", ["WINGS"], calls))
    selector.add_goal(1, Scripted("flap", ["WINGS"], calls))
    selector.tick()
    assert names(selector.running_goals) == ["flap"]
    selector.disable_control_flag("WINGS")
    selector.tick()
    assert selector.running_goals == ()


# --- full and partial ticks -------------------------------------------------------------------------------------------


@pytest.mark.states(
    "000: Operation: The first tick is full, then full and partial ones take turns",
    source="Operation, Flowchart: serverAiStep",
)
@pytest.mark.states(
    "000: Operation: A tick is partial if the count of ticks plus the id is odd, except the first",
    source="Flowchart: serverAiStep",
)
@pytest.mark.parametrize(("number", "kinds"), [(0, "FpFpFp"), (1, "FFpFpF"), (2, "FpFpFp"), (7, "FFpFpF")])
def test_the_first_tick_is_full_then_parity_decides(number, kinds, calls):
    """With an even number the second tick is partial, with an odd one the third is."""
    selector = GoalSelector(LoneBody(number=number))
    selector.add_goal(1, Scripted("a", [], calls, every_tick=True))
    seen = []
    for _ in kinds:
        calls.clear()
        selector.ai_step()
        seen.append("F" if calls[0].startswith("canUse") else "p")
    assert "".join(seen) == kinds


@pytest.mark.states(
    "000: Operation: (ours) With full ticks asked for, each tick of its body is a full one; by default they take turns",
    source="Operation, Flowchart: serverAiStep",
)
@pytest.mark.parametrize("number", [0, 1])
def test_with_full_ticks_it_decides_in_each_tick(number):
    """The same three answers, once a tick: in turn, they are heard every second tick; with full ticks, each is."""
    heard = {}
    for full_ticks in (False, True):
        stage = worlds.Stage(number)
        selector = stage.selector(full_ticks=full_ticks)
        goal = worlds.Noted(stage, "flee", [MOVE], use=False)
        selector.add_goal(1, goal)
        for use in (False, True, False, True, True, False, False):
            goal.use = use
            stage.tick()
        stage.close()
        heard[full_ticks] = stage.log
    assert heard[True] == [(2, "flee start"), (3, "flee stop"), (4, "flee start"), (6, "flee stop")]
    assert heard[False] == (
        [(5, "flee start"), (7, "flee stop")] if number == 0 else [(2, "flee start"), (6, "flee stop")]
    )


@pytest.mark.states("000: Operation: (ours) With full ticks asked for, each tick of its body is a full one; by ...")
def test_with_full_ticks_all_goals_are_ticked_in_each(calls):
    selector = GoalSelector(LoneBody(number=1), full_ticks=True)
    selector.add_goal(1, Scripted("seldom", [], calls))
    for _ in range(3):
        selector.ai_step()
    assert calls == [
        "canUse seldom=1", "start seldom", "tick seldom",
        "canUse seldom=1", "tick seldom",
        "canUse seldom=1", "tick seldom",
    ]  # fmt: skip
    assert selector.full_ticks
    assert not GoalSelector().full_ticks


def test_full_ticks_stay_when_it_joins_again(calls):
    selector = GoalSelector(LoneBody(), full_ticks=True)
    selector.add_goal(1, Scripted("a", [], calls, use=False))
    selector.drive()
    selector.leave("it changes bodies", lambda: None)
    selector.join(LoneBody(number=1))
    calls.clear()
    selector.drive()
    selector.drive()
    assert calls == ["canUse a=0", "canUse a=0"]


@pytest.mark.states(
    "000: Operation: A partial tick ticks those that require an update every tick, and does nothing else",
    source="Operation, Flowchart: tickRunningGoals",
)
def test_a_partial_tick_ticks_those_that_ask_for_it(selector, calls):
    selector.add_goal(1, Scripted("often", [], calls, every_tick=True))
    selector.add_goal(1, Scripted("seldom", [], calls))
    selector.tick()
    calls.clear()
    selector.tick_running_goals()
    assert calls == ["tick often"]
    selector.tick_running_goals(tick_all=True)
    assert calls == ["tick often", "tick often", "tick seldom"]


@pytest.mark.states(
    "000: Flowchart: Interruptible, and every tick: asked of the goal each time; (ours) a value, a property or a "
    "method",
)
def test_what_a_goal_says_of_itself_may_be_a_value_a_property_or_a_method(selector, calls):
    class AsProperty(Scripted):
        is_interruptible = property(lambda self: self.calm, lambda self, value: None)
        requires_update_every_tick = property(lambda self: self.calm, lambda self, value: None)

    class AsMethod(Scripted):
        def __init__(self, *args):
            super().__init__(*args)
            del self.is_interruptible
            del self.requires_update_every_tick

        def is_interruptible(self):
            return self.calm

        def requires_update_every_tick(self):
            return self.calm

    for kind in (AsProperty, AsMethod):
        wrapped = selector.add_goal(5, kind("a", [MOVE], calls))
        for calm in (True, False, 1, 0):
            wrapped.goal.calm = calm
            assert wrapped.is_interruptible is bool(calm)
            assert wrapped.requires_update_every_tick is bool(calm)


# --- goals come and go ------------------------------------------------------------------------------------------------


@pytest.mark.states("000: Priorities: A goal is added with a number, its priority")
@pytest.mark.states(
    "000: WrappedGoals: A goal is wrapped; the wrapper has the priority and whether it runs, and passes on what the "
    "selector asks",
)
def test_add_goal_gives_the_wrapped_goal(selector):
    goal = Scripted("a", [MOVE])
    wrapped = selector.add_goal(4, goal)
    assert (wrapped.goal, wrapped.priority, wrapped.flags, wrapped.is_running) == (goal, 4, (MOVE,), False)
    assert selector.available_goals == (wrapped,)
    assert selector.find(goal) is wrapped
    assert repr(wrapped) == "<WrappedGoal a: priority 4, idle>"


@pytest.mark.states("000: Goal Iteration: What is added later comes last")
def test_a_goal_that_is_added_later_comes_last(selector, calls):
    selector.add_goal(5, Scripted("a", [], calls, use=False))
    selector.tick()
    selector.add_goal(0, Scripted("b", [], calls, use=False))
    calls.clear()
    selector.tick()
    assert calls == ["canUse a=0", "canUse b=0"]


@pytest.mark.states("000: Adding and Removing Goals: Removing is by identity, and stops a goal that runs")
def test_removing_stops_and_is_by_identity(selector, calls):
    one, twin = Scripted("a", [MOVE], calls), Scripted("a", [LOOK], calls)
    selector.add_goal(1, one)
    selector.add_goal(1, twin)
    selector.tick()
    calls.clear()
    selector.remove_goal(one)
    assert calls == ["stop a"]
    assert [wrapped.goal for wrapped in selector.available_goals] == [twin]
    selector.remove_goal(one)
    assert calls == ["stop a"]


@pytest.mark.states("000: Adding and Removing Goals: (ours) Many can be removed by a predicate; they are stopped, too")
def test_removing_many_stops_them(selector, calls):
    for name in ("a", "b", "c"):
        selector.add_goal(1, Scripted(name, [], calls))
    selector.tick()
    calls.clear()
    selector.remove_all_goals(lambda goal: goal.name != "b")
    assert calls == ["stop a", "stop c"]
    assert names(selector.available_goals) == ["b"]
    selector.remove_all_goals()
    assert selector.available_goals == ()


@pytest.mark.states("000: WrappedGoals: (decided) Two goals of one name are told apart: the second is `Name#2`")
def test_two_goals_of_one_name_have_paths_of_their_own(selector):
    first, second, third = (selector.add_goal(1, Scripted("tempt")) for _ in range(3))
    assert names((first, second, third)) == ["tempt", "tempt#2", "tempt#3"]
    selector.remove_goal(second.goal)
    assert selector.add_goal(1, Scripted("tempt")).flag_name == "goals/tempt#2"


@pytest.mark.states("000: Adding and Removing Goals: (decided) A goal is in one selector at a time")
def test_a_goal_belongs_to_one_selector(selector):
    goal = Scripted("a")
    selector.add_goal(1, goal)
    with pytest.raises(WrongStateError, match="is in a selector"):
        selector.add_goal(2, goal)
    with pytest.raises(WrongStateError, match="is in a selector"):
        GoalSelector().add_goal(2, goal)
    selector.remove_goal(goal)
    GoalSelector().add_goal(2, goal)


class Meddler(Scripted):
    """A goal that calls a function in one of its callbacks."""

    def __init__(self, name, calls, when, meddle, **script):
        super().__init__(name, [MOVE], calls, **script)
        self.when = when
        self.meddle = meddle

    def do(self, call):
        super().do(call)
        if call == self.when:
            self.meddle(self)

    def ask(self, call, script):
        if script == self.when:
            self.meddle(self)
        return super().ask(call, script)


@pytest.mark.states(
    "000: Adding and Removing Goals: (decided) Both are safe in any callback: who is removed is not looked at any "
    "more, who is added is from the next pass on",
)
@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("use", ["canUse a=1", "canUse b=1", "start b", "tick b"]),
        ("start", ["canUse a=1", "start a", "stop a", "canUse b=1", "start b", "tick b"]),
        ("tick", ["canUse a=1", "start a", "canUse b=1", "start b", "tick a", "stop a", "tick b"]),
        ("continue", ["stop a", "canContinue a=1", "canUse b=1", "tick b"]),
        ("stop", ["canContinue a=0", "stop a", "canUse b=1", "tick b"]),
    ],
)
def test_a_goal_may_remove_itself_in_any_callback(selector, calls, when, expected):
    goal = Meddler("a", calls, None, lambda goal: selector.remove_goal(goal), cont=when != "stop")
    selector.add_goal(1, goal)
    selector.add_goal(1, Scripted("b", [LOOK], calls))
    if when in ("continue", "stop"):
        selector.tick()
        calls.clear()
    goal.when = when
    selector.tick()
    assert calls == expected
    assert names(selector.available_goals) == ["b"]
    assert selector.ledger.holder(MOVE) is None


@pytest.mark.states("000: Adding and Removing Goals: (decided) Both are safe in any callback: who is removed is ...")
def test_a_goal_may_remove_the_next_one(selector, calls):
    victim = Scripted("b", [LOOK], calls)
    selector.add_goal(1, Meddler("a", calls, "tick", lambda goal: selector.remove_goal(victim)))
    selector.add_goal(1, victim)
    selector.tick()
    assert calls == ["canUse a=1", "start a", "canUse b=1", "start b", "tick a", "stop b"]


@pytest.mark.states("000: Adding and Removing Goals: (decided) Both are safe in any callback: who is removed is ...")
def test_a_goal_that_does_not_run_and_is_removed_in_a_pass_is_not_asked_in_it(selector, calls):
    victim = Scripted("b", [LOOK], calls)
    selector.add_goal(1, Meddler("a", calls, "start", lambda goal: selector.remove_goal(victim)))
    selector.add_goal(1, victim)
    selector.tick()
    assert calls == ["canUse a=1", "start a", "tick a"]


@pytest.mark.states("000: Adding and Removing Goals: (decided) Both are safe in any callback: who is removed is ...")
def test_a_goal_that_is_added_in_a_pass_is_looked_at_from_the_next_pass_on(selector, calls):
    added = []

    def add(goal):
        if not added:
            added.append(Scripted("b", [LOOK], calls))
            selector.add_goal(1, added[0])

    selector.add_goal(1, Meddler("a", calls, "continue", add, cont=True))
    selector.tick()
    calls.clear()
    selector.tick()
    assert calls == ["canContinue a=1", "canUse b=1", "start b", "tick a", "tick b"]


def test_a_goal_that_is_stopped_may_remove_the_one_that_replaces_it(selector, calls):
    better = Scripted("b", [MOVE], calls, use=False)
    selector.add_goal(5, Meddler("a", calls, "stop", lambda goal: selector.remove_goal(better)))
    selector.add_goal(1, better)
    selector.tick()
    better.answers["use"] = True
    calls.clear()
    selector.tick()
    assert calls == ["canUse a=1", "canUse b=1", "stop a"]
    assert selector.ledger.is_free
    selector.tick()
    assert names(selector.running_goals) == ["a"]


def test_a_goal_may_end_everything(selector, calls):
    left = []
    selector.add_goal(1, Scripted("a", [LOOK], calls))
    selector.add_goal(1, Meddler("b", calls, "start", lambda goal: selector.leave("the end", lambda: left.append(1))))
    selector.add_goal(1, Scripted("c", [], calls))
    selector.tick()
    assert calls == ["canUse a=1", "start a", "canUse b=1", "start b", "stop a", "stop b"]
    assert left == [1]


# --- more than one selector, and the body -----------------------------------------------------------------------------


@pytest.mark.states("000: Usage: A mob has a primary selector and one for targets; both are the same kind of thing")
def test_a_body_has_several_selectors(calls):
    body = LoneBody("wolf")
    primary, targets = GoalSelector(body), GoalSelector(body, name="targets", rank=TARGETS)
    assert (primary.rank, targets.rank) == (GOALS, TARGETS)
    primary.add_goal(1, Scripted("bite", [MOVE], calls))
    targets.add_goal(1, Scripted("choose", [TARGET], calls))
    for selector in (targets, primary):
        selector.ai_step()
    assert calls == ["canUse choose=1", "start choose", "tick choose", "canUse bite=1", "start bite", "tick bite"]


@pytest.mark.states("000: Usage: Goals of one selector have no direct impact on those of another")
def test_goals_of_one_selector_do_not_concern_another_one_with_a_ledger_of_its_own(calls):
    body = LoneBody()
    first, second = GoalSelector(body), GoalSelector(body, name="second", flags=FlagLedger())
    first.add_goal(1, Scripted("a", [MOVE], calls))
    second.add_goal(9, Scripted("b", [MOVE], calls))
    first.tick()
    second.tick()
    assert (names(first.running_goals), names(second.running_goals)) == (["a"], ["b"])


def test_a_goal_knows_whom_it_drives():
    body = LoneBody("wolf")
    selector = GoalSelector(body)
    goal = Scripted("a")
    with pytest.raises(WrongStateError, match="the goal is in no selector"):
        _ = goal.body
    selector.add_goal(1, goal)
    assert (goal.body, goal.entity) == (body, "wolf")


@pytest.mark.states(
    "000: Operation: (decided) The count is the selector's own, and begins anew when it leaves a body",
    source="Flowchart: serverAiStep",
)
@pytest.mark.states("000: Ours: (ours) A selector leaves its body in order, and can join another one ...")
def test_a_selector_leaves_and_joins_again(calls):
    selector = GoalSelector(LoneBody("first"))
    selector.add_goal(1, Scripted("a", [MOVE], calls))
    selector.add_goal(1, Scripted("b", [LOOK], calls, use=worlds.BOOM))
    with pytest.warns(RuntimeWarning, match="goals/b: can_use raised Boom"):
        selector.drive()
    with pytest.raises(WrongStateError, match="its goals run"):
        selector.join(LoneBody("second"))
    selector.leave("enough", lambda: calls.append("left"))
    assert calls[-2:] == ["stop a", "left"]
    assert selector.ticks == 0
    second = LoneBody("second")
    selector.join(second)
    assert [goal.state for goal in selector.view().goals] == ["idle", "idle"]
    selector.available_goals[1].goal.answers["use"] = True
    selector.drive()
    assert second.flags.holder(LOOK).name == "goals/b"
    assert selector.available_goals[0].goal.entity == "second"


def test_what_is_added_while_it_is_away_waits(selector, calls):
    selector.leave("away", lambda: None)
    selector.add_goal(1, Scripted("a", [], calls))
    selector.tick()
    assert calls == []
    selector.join(LoneBody())
    selector.tick()
    assert calls == ["canUse a=1", "start a", "tick a"]


def test_the_view_says_what_it_does(selector):
    selector.add_goal(1, Scripted("walk", [MOVE]))
    selector.add_goal(2, Scripted("gaze", [LOOK]))
    selector.add_goal(3, Scripted("idle", use=False))
    selector.disable_control_flag(LOOK)
    assert selector.view().lines() == ["disabled: LOOK"]
    selector.ai_step()
    view = selector.view()
    assert view.lines() == ["walk: running, priority 1, MOVE", "disabled: LOOK"]
    assert (view.ticks, view.locked, view.disabled) == (1, (("MOVE", "walk"),), ("LOOK",))
    assert [goal.is_running for goal in view.goals] == [True, False, False]
    assert repr(selector) == "<GoalSelector 'goals': 3 goals, running: walk>"
    assert GoalSelector().view().lines() == ["no goal runs"]


def test_a_goal_without_anything_but_can_use(selector):
    class Idle(Goal):
        def can_use(self):
            return True

    selector.add_goal(1, Idle())
    selector.tick()
    selector.tick()
    assert names(selector.running_goals) == ["Idle"]
    selector.remove_all_goals()
    assert selector.running_goals == ()


@pytest.mark.states("000: Flags: (decided) They are taken in a fixed order: as given in a sequence; of a set, the ...")
@pytest.mark.states("000: Operation 3, Flowchart: The holders are stopped, each once, before the newcomer starts")
def test_a_look_at_the_flags_of_a_jump(selector, calls):
    """LeapAtTarget takes JUMP and MOVE from two goals at once, in the order of its own flags."""
    selector.add_goal(3, Scripted("leap", [JUMP, MOVE], calls, use=False))
    selector.add_goal(5, Scripted("walk", [MOVE], calls))
    selector.add_goal(6, Scripted("hop", [JUMP], calls))
    selector.tick()
    selector.available_goals[0].goal.answers["use"] = True
    calls.clear()
    selector.tick()
    assert calls == [
        "canUse walk=1", "canUse hop=1", "canUse leap=1", "stop hop", "stop walk", "start leap", "tick leap",
    ]  # fmt: skip
