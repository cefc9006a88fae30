"""Goals and other models on one body: who holds a flag, who is refused and why, who gives way, who waits."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.goals import JUMP, LOOK, MOVE, TARGET, GoalSelector

worlds = load("tests/goals/worlds.py")
Noted, Runner, Other, names = worlds.Noted, worlds.Runner, worlds.Other, worlds.names


class Counted(Noted):
    """Counts how often it is asked."""

    asked = 0

    def can_use(self):
        self.asked += 1
        return super().can_use()


def states(selector):
    return {goal.name: goal.state for goal in selector.view().goals}


# --- refused ----------------------------------------------------------------------------------------------------------


def test_a_goal_holds_its_flags_in_the_ledger_while_it_runs(stage):
    selector = stage.selector()
    goal = Noted(stage, "walk", [MOVE, LOOK])
    selector.add_goal(1, goal)
    stage.tick()
    assert stage.held() == {"MOVE": "goals/walk", "LOOK": "goals/walk"}
    assert stage.body.flags.holder(MOVE).since == 1
    goal.use = False
    stage.tick(2)
    assert stage.held() == {}


@pytest.mark.states(
    "000: Ours: (ours) A flag that another model keeps: the goal is refused before it is asked, and stops nobody; by "
    "whom and why is remembered",
    source="Flags",
)
def test_what_somebody_else_holds_is_refused_before_the_goal_is_asked(stage):
    selector = stage.selector()
    goal = Counted(stage, "walk", [LOOK, MOVE])
    selector.add_goal(1, goal)
    plan = Other(stage)
    plan.claim(MOVE)
    stage.tick(5)
    assert goal.asked == 0
    assert [refusal.text() for refusal in stage.body.flags.refusals()] == [
        "goals/walk was refused MOVE in tick 5: held by plan, which came first, in tick 0, with precedence 0 against 0"
    ]
    # The trace is told when it changes, and not in every tick.
    assert stage.details("refused") == [
        (1, "goals/walk", {
            "flag": "MOVE", "holder": "plan", "reason": "which came first, in tick 0, with precedence 0 against 0",
        })
    ]  # fmt: skip
    plan.release()
    stage.tick(2)
    assert stage.log == [(7, "walk start")]
    assert stage.body.flags.refusals() == []


def test_a_refusal_is_told_again_after_the_goal_has_run(stage):
    selector = stage.selector()
    goal = Noted(stage, "walk", [MOVE])
    selector.add_goal(1, goal)
    plan = Other(stage)
    plan.claim(MOVE)
    stage.tick()
    plan.release()
    stage.tick(2)
    goal.use = False
    stage.tick(2)
    plan.claim(MOVE)
    goal.use = True
    stage.tick(2)
    assert [tick for tick, _, _ in stage.details("refused")] == [1, 7]


def reason_of(selector, name):
    return next(goal.reason for goal in selector.view().goals if goal.name == name)


@pytest.mark.states(
    "000: Ours: (ours) Why a goal does not run names who is in its way only for as long as that one is",
    source="design 7",
)
def test_a_refusal_is_a_reason_for_as_long_as_its_holder_holds(stage):
    """Who was in the way once and has gone is no reason any more, though nobody has claimed the flag since."""
    selector = stage.selector()
    walk = Noted(stage, "walk", [MOVE])
    selector.add_goal(1, walk)
    plan = Other(stage)
    plan.claim(MOVE)
    stage.tick()
    held = "MOVE is held by plan, which came first, in tick 0, with precedence 0 against 0"
    assert reason_of(selector, "walk") == held
    walk.use = False
    plan.release()
    assert reason_of(selector, "walk") == "its can_use does not say yes"
    stage.tick(2)
    plan.claim(MOVE)  # again, and nobody was refused for it
    assert reason_of(selector, "walk") == "its can_use does not say yes"
    stage.tick(2)
    assert (
        reason_of(selector, "walk") == "MOVE is held by plan, which came first, in tick 3, with precedence 0 against 0"
    )


@pytest.mark.states("000: Ours: (ours) Why a goal does not run names who is in its way only for as long as that ...")
def test_who_waited_is_a_reason_for_as_long_as_it_waits(stage):
    selector = stage.selector()
    walk = Noted(stage, "walk", [MOVE])
    selector.add_goal(1, walk)
    Other(stage).claim(LOOK)
    dancer = Other(stage, "dancer")
    dancer.claim(MOVE, LOOK, wait=True)
    stage.tick()
    assert reason_of(selector, "walk") == "MOVE is held by dancer, which has waited for it since tick 0"
    walk.use = False
    dancer.release()
    assert reason_of(selector, "walk") == "its can_use does not say yes"
    stage.tick(3)
    dancer.claim(MOVE, LOOK, wait=True)
    assert reason_of(selector, "walk") == "its can_use does not say yes"


def test_goals_without_that_flag_do_not_notice(stage):
    selector = stage.selector()
    selector.add_goal(1, Noted(stage, "gaze", [LOOK]))
    selector.add_goal(1, Noted(stage, "think"))
    Other(stage).claim(MOVE)
    stage.tick()
    assert stage.log == [(1, "gaze start"), (1, "think start")]


@pytest.mark.states("000: Ours: (ours) A flag that another model keeps: the goal is refused before it is asked ...")
def test_a_goal_that_would_replace_another_is_refused_and_that_one_goes_on(stage):
    """Nobody is stopped for somebody who cannot begin."""
    selector = stage.selector()
    selector.add_goal(5, Noted(stage, "walk", [MOVE]))
    stage.tick()
    Other(stage).claim(LOOK)
    better = Counted(stage, "chase", [MOVE, LOOK])
    selector.add_goal(1, better)
    stage.tick(4)
    assert stage.log == [(1, "walk start")]
    assert better.asked == 0


def test_it_is_refused_after_it_was_asked_if_the_flag_was_taken_meanwhile(stage):
    plan = Other(stage)

    class Sly(Counted):
        def can_use(self):
            plan.claim(MOVE)
            return super().can_use()

    selector = stage.selector()
    goal = Sly(stage, "walk", [MOVE])
    selector.add_goal(1, goal)
    stage.tick()
    assert states(selector) == {"walk": "idle"}
    stage.tick(4)
    assert (goal.asked, stage.log) == (1, [])
    assert [refusal.holder for refusal in stage.body.flags.refusals()] == ["plan"]


def test_what_somebody_else_waits_for_is_refused_before_the_goal_is_asked(stage):
    """Nobody holds MOVE; but somebody has waited for it, and for more."""
    selector = stage.selector()
    goal = Counted(stage, "walk", [MOVE])
    selector.add_goal(1, goal)
    Other(stage).claim(LOOK)
    Other(stage, "dancer").claim(MOVE, LOOK, wait=True)
    stage.tick(4)
    assert (goal.asked, stage.log) == (0, [])
    assert stage.details("refused")[0][2]["reason"] == "which has waited for it since tick 0"


@pytest.mark.states(
    "000: Usage: (decided) They share the control flags of the body, unless a selector has a ledger of its own: two "
    "selectors never move the same legs",
)
@pytest.mark.states("000: Usage: One can have more selectors, ticked by hand ...")
def test_two_selectors_of_one_body_share_its_flags(stage):
    first, second = stage.selector(name="first"), stage.selector(name="second")
    walk = Noted(stage, "walk", [MOVE])
    first.add_goal(9, walk)
    second.add_goal(1, Noted(stage, "flee", [MOVE]))
    stage.tick(3)
    assert stage.held() == {"MOVE": "first/walk"}
    walk.use = False
    stage.tick(2)
    assert stage.held() == {"MOVE": "second/flee"}
    assert stage.log == [(1, "walk start"), (5, "walk stop"), (5, "flee start")]


# --- giving way -------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "000: Ours: (ours) Goals give way to a claim of higher precedence, and others to theirs; until then they are "
    "pending",
    source="Flags",
)
def test_a_goal_gives_way_to_a_claim_of_higher_precedence(stage):
    selector = stage.selector()
    selector.add_goal(1, Noted(stage, "walk", [MOVE, LOOK]))
    stage.tick()
    reflex = Other(stage, "reflex", precedence=5)
    assert reflex.claim(MOVE) is None
    assert stage.log == [(1, "walk start"), (1, "walk stop")]
    assert stage.held() == {"MOVE": "reflex"}
    assert stage.details("stop") == [(1, "goals/walk", {"reason": "reflex takes the control flag MOVE"})]


def test_one_that_cannot_be_interrupted_does_not(stage):
    selector = stage.selector()
    goal = Noted(stage, "walk", [MOVE])
    goal.is_interruptible = False
    selector.add_goal(1, goal)
    stage.tick()
    assert Other(stage, "reflex", precedence=5).claim(MOVE).reason == "which cannot be interrupted"
    assert stage.held() == {"MOVE": "goals/walk"}


def test_a_coroutine_goal_gives_way_when_it_has_cleaned_up(stage):
    selector = stage.selector()
    selector.add_goal(1, Runner(stage, "walk", [MOVE], clean_up=2))
    stage.tick(2)
    reflex = Other(stage, "reflex", precedence=5)
    assert reflex.claim(MOVE, wait=True).reason == "which is giving way"
    stage.tick(3)
    assert stage.log[2:] == [(5, "walk is clean"), (5, "walk stop"), (5, "reflex has its flags")]


def test_a_selector_of_higher_precedence_takes_flags_away(stage):
    calm, wild = stage.selector(name="calm"), stage.selector(name="wild", precedence=1)
    calm.add_goal(1, Noted(stage, "walk", [MOVE]))
    rage = Noted(stage, "rage", [MOVE], use=False)
    wild.add_goal(9, rage)
    stage.tick()
    rage.use = True
    stage.tick(2)
    assert stage.log == [(1, "walk start"), (3, "walk stop"), (3, "rage start")]
    assert stage.details("refused") == []


# --- pending ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def waiting(stage):
    """``walk`` runs; ``chase`` waits for LOOK, which a plan of lower precedence gives up three ticks later."""

    class World:
        selector = stage.selector(precedence=1)
        walk = Noted(stage, "walk", [MOVE])
        chase = Counted(stage, "chase", [MOVE, LOOK], use=False)
        plan = Other(stage, slow=3)

    World.selector.add_goal(5, World.walk)
    World.selector.add_goal(2, World.chase)
    World.plan.claim(LOOK)
    stage.tick(2)
    World.chase.use = True
    stage.tick()
    stage.log.clear()
    assert states(World.selector) == {"walk": "running", "chase": "pending"}
    return World


@pytest.mark.states("000: Ours: (ours) Goals give way to a claim of higher precedence, and others to theirs; until ...")
def test_a_goal_waits_for_who_gives_way_and_stops_nobody_meanwhile(stage, waiting):
    """It begins in the very tick in which it has its flags."""
    stage.tick(4)
    assert stage.log == [(6, "walk stop"), (6, "chase start")]
    assert stage.held() == {"MOVE": "goals/chase", "LOOK": "goals/chase"}
    assert stage.details("refused") == [
        (3, "goals/chase", {"flag": "LOOK", "holder": "plan", "reason": "which is giving way"})
    ]


def test_it_begins_in_its_turn_if_its_flags_came_before_it(stage):
    """A driver that comes earlier in the tick lets go: the goal starts in step 3, and is ticked in step 4."""

    class Ticked(Noted):
        def tick(self):
            self.note("tick")

    plan = Other(stage, slow=10**6)
    stage.kernel.every_tick(lambda: plan.release() if stage.kernel.tick == 3 else None)
    selector = stage.selector(precedence=1)
    selector.add_goal(1, Ticked(stage, "walk", [MOVE]))
    plan.claim(MOVE)
    stage.tick()
    assert states(selector) == {"walk": "pending"}
    stage.log.clear()
    stage.tick(2)
    assert stage.log == [(3, "walk start"), (3, "walk tick")]
    plan.slow = None


def test_it_is_asked_anew_in_each_full_tick_and_when_its_flags_come(stage, waiting):
    asked = waiting.chase.asked
    stage.tick(1)
    assert waiting.chase.asked == asked
    stage.tick(1)
    assert waiting.chase.asked == asked + 1
    stage.tick(1)
    assert waiting.chase.asked == asked + 2


def test_it_is_withdrawn_if_it_cannot_be_used_any_more(stage, waiting):
    waiting.chase.use = False
    stage.tick(2)
    assert states(waiting.selector) == {"walk": "running", "chase": "idle"}
    assert stage.body.flags.waiting() == []
    stage.tick(4)
    assert stage.log == []


def test_it_does_not_begin_if_it_cannot_be_used_when_its_flags_come(stage, waiting):
    stage.tick(2)
    waiting.chase.use = False
    stage.tick(1)
    assert stage.log == []
    assert stage.held() == {"MOVE": "goals/walk"}


@pytest.mark.parametrize("flag", [MOVE, LOOK])
def test_it_is_withdrawn_if_one_of_its_flags_is_disabled(stage, waiting, flag):
    waiting.selector.disable_control_flag(flag)
    stage.tick(2)
    assert states(waiting.selector)["chase"] == "idle"


def test_it_does_not_begin_if_one_of_its_flags_is_disabled_when_they_come(stage, waiting):
    stage.tick(2)
    waiting.selector.disable_control_flag(LOOK)
    stage.tick(1)
    assert stage.log == []
    assert states(waiting.selector) == {"walk": "running", "chase": "idle"}


def test_it_is_withdrawn_if_it_is_removed(stage, waiting):
    waiting.selector.remove_goal(waiting.chase)
    assert stage.body.flags.waiting() == []
    stage.tick(4)
    assert stage.log == []


def test_it_is_withdrawn_if_it_raises(stage, waiting):
    def fail():
        raise worlds.Boom

    waiting.chase.can_use = fail
    stage.tick(2)
    assert states(waiting.selector)["chase"] == "disabled"
    assert stage.body.flags.waiting() == []


def test_a_better_goal_takes_its_place(stage, waiting):
    waiting.selector.add_goal(1, Noted(stage, "flee", [MOVE]))
    stage.tick(2)
    assert stage.log == [(5, "walk stop"), (5, "flee start")]
    assert states(waiting.selector)["chase"] == "idle"
    stage.tick(4)
    assert stage.held() == {"MOVE": "goals/flee"}


def test_a_worse_goal_does_not_overtake_it(stage, waiting):
    waiting.walk.use = False
    waiting.selector.add_goal(9, Noted(stage, "dance", [MOVE]))
    stage.tick(3)
    assert stage.log == [(5, "walk stop"), (6, "chase start")]


def test_it_notices_when_somebody_else_has_to_be_replaced(stage, waiting):
    """Whoever took the place of the goal that it would replace is replaced in that one's stead."""
    waiting.walk.use = False
    waiting.walk.cont = None
    stage.tick(2)
    assert stage.log == [(5, "walk stop")]
    stage.tick(1)
    assert stage.log[1:] == [(6, "chase start")]


def test_two_goals_that_wait_for_the_same_flag(stage):
    """The better one is not given up because the worse one was granted its flags first."""
    selector = stage.selector(precedence=1)
    Other(stage, slow=3).claim(LOOK)
    selector.add_goal(5, Noted(stage, "worse", [LOOK]))
    selector.add_goal(1, Noted(stage, "better", [LOOK]))
    stage.tick()
    assert states(selector) == {"worse": "pending", "better": "pending"}
    stage.log.clear()
    stage.tick(3)
    assert stage.log == [(4, "worse start"), (4, "worse stop"), (4, "better start")]
    assert stage.held() == {"LOOK": "goals/better"}


def test_who_waits_behind_it_does_not_drive_it_out(stage):
    selector = stage.selector(precedence=1)
    Other(stage, slow=5).claim(LOOK)
    selector.add_goal(5, Noted(stage, "gaze", [LOOK]))
    stage.tick()
    Other(stage, "later", precedence=1).claim(LOOK, wait=True)
    stage.tick(4)
    assert states(selector) == {"gaze": "pending"}
    stage.log.clear()
    stage.tick(1)
    assert stage.log == [(6, "gaze start")]


def test_one_that_was_withdrawn_may_be_pending_again_for_another_reason(stage):
    selector = stage.selector(precedence=1)
    chase = Noted(stage, "chase", [MOVE, LOOK])
    Other(stage, slow=4).claim(LOOK)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=1))
    selector.add_goal(1, chase)
    stage.tick(2)
    chase.use = False
    stage.tick(4)
    chase.use = True
    stage.tick(2)
    assert stage.log[3:] == [(8, "walk is clean"), (8, "walk stop"), (8, "chase start")]


def test_the_ledger_of_another_body_is_looked_at_anew(stage):
    """Although it has changed as often as the old one had."""
    first, second = worlds.LoneBody("first"), worlds.LoneBody("second")
    selector = GoalSelector(first)
    goal = Counted(stage, "walk", [MOVE], use=False)
    selector.add_goal(1, goal)
    selector.tick()
    first.flags.claim((LOOK,), Other(stage), 0)
    selector.tick()
    second.flags.claim((MOVE,), Other(stage, "other"), 0)
    assert first.flags.version == second.flags.version
    selector.leave("moves", lambda: None)
    selector.join(second)
    goal.use, goal.asked = True, 0
    selector.tick()
    assert [refusal.holder for refusal in second.flags.refusals()] == ["other"]
    assert (goal.asked, stage.log) == (0, [])


def test_leaving_withdraws_its_claim(stage, waiting):
    waiting.selector.leave("the end", lambda: stage.note("left"))
    assert stage.body.flags.waiting() == []
    assert stage.log == [(3, "walk stop"), (3, "left")]


def test_without_a_kernel_it_begins_at_once_when_its_flags_come(stage):
    body = worlds.LoneBody()
    selector = GoalSelector(body, precedence=1)
    plan = Other(stage)
    plan.give_way = lambda flag, claimant: None
    goal = Noted(stage, "walk", [MOVE])
    selector.add_goal(1, goal)
    body.flags.claim((MOVE,), plan, 0)
    selector.tick()
    assert states(selector) == {"walk": "pending"}
    body.flags.release(plan)
    assert stage.log == [(0, "walk start")]
    selector.remove_all_goals()


def test_who_gives_way_may_remove_the_claimant(stage):
    selector = stage.selector(precedence=1)
    goal = Noted(stage, "walk", [MOVE])
    plan = Other(stage)

    def give_way(flag, claimant):
        selector.remove_goal(goal)
        plan.release()

    plan.give_way = give_way
    plan.claim(MOVE)
    selector.add_goal(1, goal)
    stage.tick()
    assert stage.log == []
    assert stage.details("refused") == []
    assert stage.body.flags.is_free


def test_a_pending_goal_gives_way_too(stage):
    """It holds LOOK already, while the goal that it replaces cleans up."""
    selector = stage.selector()
    chase = Noted(stage, "chase", [MOVE, LOOK], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=3))
    selector.add_goal(1, chase)
    stage.tick(2)
    chase.use = True
    stage.tick()
    assert stage.held() == {"MOVE": "goals/walk", "LOOK": "goals/chase"}
    assert Other(stage, "reflex", precedence=5).claim(LOOK) is None
    assert states(selector) == {"walk": "ending", "chase": "idle"}


# --- handing over -----------------------------------------------------------------------------------------------------


@pytest.mark.states("000: Ours: (ours) Flags pass from goal to goal with nobody in between", source="Flags")
def test_flags_pass_from_goal_to_goal_with_nobody_in_between(stage):
    """A plan waits for MOVE; the goal that replaces the holder has it, the plan waits on."""
    selector = stage.selector()
    flee = Noted(stage, "flee", [MOVE], use=False)
    selector.add_goal(5, Noted(stage, "walk", [MOVE, JUMP]))
    selector.add_goal(1, flee)
    stage.tick()
    plan, hopper = Other(stage), Other(stage, "hopper")
    plan.claim(MOVE, wait=True)
    hopper.claim(JUMP, wait=True)
    flee.use = True
    stage.tick(2)
    assert stage.log == [(1, "walk start"), (3, "walk stop"), (3, "hopper has its flags"), (3, "flee start")]
    assert stage.held() == {"MOVE": "goals/flee", "JUMP": "hopper"}


def test_they_pass_on_after_a_clean_up_too(stage):
    selector = stage.selector()
    flee = Noted(stage, "flee", [MOVE], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE, JUMP], clean_up=1))
    selector.add_goal(1, flee)
    stage.tick()
    Other(stage).claim(MOVE, wait=True)
    Other(stage, "hopper").claim(JUMP, wait=True)
    flee.use = True
    stage.tick(3)
    assert stage.log[2:] == [(4, "walk is clean"), (4, "walk stop"), (4, "hopper has its flags"), (4, "flee start")]


def test_a_goal_that_just_stops_passes_nothing_on_to_those_who_come_later(stage):
    """First come, first served: the plan has waited."""
    selector = stage.selector()
    walk, dance = Noted(stage, "walk", [MOVE]), Noted(stage, "dance", [MOVE])
    selector.add_goal(5, walk)
    selector.add_goal(6, dance)
    stage.tick()
    Other(stage).claim(MOVE, wait=True)
    walk.use = False
    stage.tick(2)
    assert stage.held() == {"MOVE": "plan"}
    assert stage.log == [(1, "walk start"), (3, "walk stop"), (3, "plan has its flags")]


@pytest.mark.parametrize("somebody_waits", [False, True])
def test_while_a_goal_cleans_up_others_may_be_chosen_unless_another_model_waits(stage, somebody_waits):
    selector = stage.selector()
    walk = Runner(stage, "walk", [MOVE], clean_up=2)
    selector.add_goal(5, walk)
    selector.add_goal(6, Noted(stage, "dance", [MOVE]))
    stage.tick()
    if somebody_waits:
        Other(stage).claim(MOVE, wait=True)
    walk.use = False
    stage.tick(2)
    assert states(selector) == {"walk": "ending", "dance": "idle" if somebody_waits else "pending"}
    stage.tick(2)
    assert stage.held() == {"MOVE": "plan" if somebody_waits else "goals/dance"}


def test_one_of_its_own_that_waits_for_something_else_does_not_count(stage):
    """``hop`` waits for a plan to give JUMP up; ``dance`` may be chosen while ``walk`` cleans up all the same."""
    selector = stage.selector(precedence=1)
    walk = Runner(stage, "walk", [MOVE], clean_up=2)
    selector.add_goal(5, walk)
    selector.add_goal(6, Noted(stage, "dance", [MOVE]))
    selector.add_goal(1, Noted(stage, "hop", [JUMP]))
    Other(stage, slow=100).claim(JUMP)
    stage.tick()
    walk.use = False
    stage.tick(2)
    assert states(selector) == {"walk": "ending", "dance": "pending", "hop": "pending"}


def test_a_goal_that_replaces_two_is_asked_once_more_when_both_have_cleaned_up(stage):
    selector = stage.selector()
    chase = Counted(stage, "chase", [MOVE, LOOK], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=3))
    selector.add_goal(5, Runner(stage, "gaze", [LOOK], clean_up=1))
    selector.add_goal(1, chase)
    stage.tick(2)
    chase.use = True
    stage.tick()
    asked = chase.asked
    stage.tick()
    assert stage.log[-1] == (4, "gaze stop")
    stage.tick(2)
    assert stage.log[-1] == (6, "chase start")
    assert chase.asked == asked + 2  # by the full tick 5, and now


def test_what_is_performed_for_a_replaced_goal_makes_room_too(stage):
    """A plan that walks for a goal has taken LOOK besides; the better goal waits until it has unwound."""
    selector = stage.selector()
    walk = selector.add_goal(5, Runner(stage, "walk", [MOVE]))
    flee = Noted(stage, "flee", [MOVE, LOOK], use=False)
    selector.add_goal(1, flee)
    stage.tick()
    legs = Other(stage, "legs")
    legs.runs_for = walk
    assert legs.claim(LOOK, MOVE) is None
    assert stage.held() == {"MOVE": "goals/walk", "LOOK": "legs"}
    walk.goal.note = lambda text: (stage.note(f"walk {text}"), legs.release() if text == "is clean" else None)
    flee.use = True
    stage.tick(2)
    assert stage.log[2:] == [(3, "walk is clean"), (3, "walk stop"), (3, "flee start")]
    assert stage.held() == {"MOVE": "goals/flee", "LOOK": "goals/flee"}


def test_a_selector_that_drives_for_somebody_shares_the_flags_of_that_one(stage):
    """An action that holds MOVE has a goal selector drive the body."""
    action = Other(stage, "action")
    action.claim(MOVE)
    stage.body.holder = action
    selector = stage.selector()
    selector.add_goal(1, Noted(stage, "walk", [MOVE, TARGET]))
    stage.tick()
    assert stage.log == [(1, "walk start")]
    assert stage.held() == {"MOVE": "action", "TARGET": "goals/walk"}


@pytest.mark.states("000: Usage: (decided) They share the control flags of the body, unless a selector has a ...")
def test_a_ledger_of_its_own_concerns_nobody_else(stage):
    Other(stage).claim(MOVE)
    ledger = type(stage.body.flags)()
    selector = stage.selector(flags=ledger)
    selector.add_goal(1, Noted(stage, "walk", [MOVE]))
    stage.tick()
    assert names(selector.running_goals) == ["walk"]
    assert ledger.holder(MOVE).name == "goals/walk"
