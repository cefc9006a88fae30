"""The ledger of control flags: its six rules, one after the other, and what it says about refusals."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET

holders = load("tests/body/flag_holders.py")


@pytest.fixture
def table():
    return holders.Table()


# --- rule 1: all or none, one holder ----------------------------------------------------------------------------------


def test_a_claim_takes_all_of_its_flags_or_none(table):
    goal, plan = table.holder("goal"), table.holder("plan")
    assert goal.claim(MOVE, LOOK) is None
    assert plan.claim(JUMP, LOOK, TARGET) is not None
    assert table.holds == {MOVE: "goal", LOOK: "goal"}


def test_nothing_is_claimed_without_flags(table):
    goal = table.holder("goal")
    assert goal.claim() is None
    assert table.ledger.is_free


def test_a_second_claim_of_a_holder_adds_to_the_first(table):
    goal = table.holder("goal")
    goal.claim(MOVE, tick=3)
    assert goal.claim(MOVE, LOOK, tick=5) is None
    assert [(flag, hold.since) for flag, hold in table.ledger.holds().items()] == [(MOVE, 3), (LOOK, 5)]
    goal.end()
    assert table.ledger.is_free


def test_who_waits_for_more_keeps_what_it_has(table):
    goal, plan = table.holder("goal"), table.holder("plan")
    goal.claim(MOVE)
    plan.claim(LOOK)
    assert goal.claim(LOOK, wait=True) is not None
    assert table.holds == {MOVE: "goal", LOOK: "plan"}
    plan.end()
    assert table.holds == {MOVE: "goal", LOOK: "goal"}


# --- rule 2: who runs for a holder shares -----------------------------------------------------------------------------


def test_who_runs_for_a_holder_shares_its_flags_link_by_link(table):
    goal = table.holder("goal")
    plan = table.holder("plan", runs_for=goal)
    step = table.holder("step", runs_for=plan)
    goal.claim(MOVE)
    assert step.claim(MOVE, LOOK) is None
    assert table.holds == {MOVE: "goal", LOOK: "step"}
    step.end()
    assert table.holds == {MOVE: "goal"}


def test_a_holder_does_not_share_what_runs_for_it_has(table):
    goal = table.holder("goal")
    step = table.holder("step", runs_for=goal)
    step.claim(LOOK, tick=2)
    refusal = goal.claim(LOOK, tick=4)
    assert refusal.text() == (
        "goal was refused LOOK in tick 4: held by step, which came first, in tick 2, with precedence 0 against 0"
    )


def test_what_one_shares_nobody_overtakes(table):
    """The step of a holder is not refused its holder's flag because of who waits for it; else nobody would go on."""
    plan, goal = table.holder("plan"), table.holder("goal")
    plan.claim(MOVE)
    goal.claim(MOVE, wait=True)
    assert table.holder("step", runs_for=plan).claim(MOVE) is None


# --- rule 3: first come, first served ---------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [0, 1, 7])
def test_a_tie_takes_nothing_away(table, held):
    goal, plan = table.holder("goal", held), table.holder("plan", held)
    goal.claim(MOVE, tick=1)
    refusal = plan.claim(MOVE, tick=4)
    assert (refusal.flag, refusal.claimant, refusal.holder, refusal.tick, refusal.is_final) == (
        (MOVE, "plan", "goal", 4, False)
    )
    assert refusal.reason == f"which came first, in tick 1, with precedence {held} against {held}"
    assert table.log == []


def test_a_higher_holder_keeps_what_it_has(table):
    table.holder("goal", 2).claim(MOVE)
    refusal = table.holder("plan", 1).claim(MOVE)
    assert refusal.reason == "which came first, in tick 0, with precedence 2 against 1"


# --- rule 4: precedence -----------------------------------------------------------------------------------------------


def test_a_higher_claim_has_a_lower_holder_give_way(table):
    table.holder("low").claim(MOVE, LOOK)
    assert table.holder("high", 1).claim(MOVE, LOOK) is None
    assert table.holds == {MOVE: "high", LOOK: "high"}
    assert table.log == [("low", "gives way", MOVE, "high")]  # told once, not once for each flag


def test_who_cannot_be_interrupted_is_not_asked(table):
    table.holder("low", is_interruptible=False).claim(MOVE)
    assert table.holder("high", 1).claim(MOVE).reason == "which cannot be interrupted"
    assert table.log == []


def test_the_flags_are_kept_for_the_claim_until_the_holder_is_done(table):
    low, high = table.holder("low", is_slow=True), table.holder("high", 2)
    third = table.holder("third", 1)
    low.claim(MOVE)
    assert high.claim(MOVE, wait=True).reason == "which is giving way"
    assert third.claim(MOVE).holder == "high"
    low.end()
    assert table.holds == {MOVE: "high"}
    assert table.log == [("low", "gives way", MOVE, "high"), ("high", "granted")]


def test_between_the_end_of_the_holder_and_the_grant_nobody_comes(table):
    """Who gives way claims anew at once: the claim that it gave way to comes first."""
    low, high = table.holder("low", is_slow=True), table.holder("high", 1)
    low.claim(MOVE)
    high.claim(MOVE, LOOK, wait=True)
    assert low.claim(LOOK).reason == "which has waited for it since tick 0"
    low.end()
    assert table.holds == {MOVE: "high", LOOK: "high"}


def test_a_claim_that_does_not_wait_interrupts_nobody_for_nothing(table):
    low, equal, high = table.holder("low"), table.holder("equal", 1), table.holder("high", 1)
    low.claim(MOVE)
    equal.claim(LOOK)
    refusal = high.claim(MOVE, LOOK)
    assert (refusal.flag, refusal.holder) == (LOOK, "equal")
    assert table.log == []
    assert table.holds == {MOVE: "low", LOOK: "equal"}


def test_a_claim_that_does_not_wait_may_interrupt_all_who_are_in_its_way(table):
    table.holder("one", is_slow=True).claim(MOVE)
    table.holder("two").claim(LOOK)
    assert table.holder("high", 1).claim(MOVE, LOOK).reason == "which is giving way"
    assert [what[0] for what in table.log] == ["one", "two"]
    assert table.holds == {MOVE: "one"}
    assert table.waiting == []


def test_who_is_handed_a_flag_that_a_higher_one_waits_for_gives_way(table):
    old, new = table.holder("old", is_slow=True), table.holder("new")
    high = table.holder("high", 1)
    old.claim(MOVE)
    high.claim(MOVE, wait=True)
    table.ledger.hand_over((MOVE,), new, 3, holders=(old,))
    assert table.log == [("old", "gives way", MOVE, "high"), ("new", "gives way", MOVE, "high"), ("high", "granted")]
    assert table.holds == {MOVE: "high"}


# --- rule 5: waiting --------------------------------------------------------------------------------------------------


def test_waiting_claims_are_served_by_precedence_and_then_in_order_of_arrival(table):
    first = table.holder("first", 9)
    first.claim(MOVE)
    for name, precedence in (("a", 0), ("b", 2), ("c", 1), ("d", 2), ("e", 0)):
        one = table.holder(name, precedence)
        one.when_granted.append(holders.Fake.end)
        one.claim(MOVE, wait=True)
    assert [name for name, _ in table.waiting] == ["b", "d", "c", "a", "e"]
    first.end()
    assert [name for name, _ in table.log] == ["b", "d", "c", "a", "e"]
    assert table.ledger.is_free


def test_nobody_of_the_same_precedence_overtakes(table):
    goal, plan = table.holder("goal"), table.holder("plan")
    goal.claim(MOVE)
    plan.claim(MOVE, LOOK, wait=True, tick=2)
    refusal = table.holder("third").claim(LOOK, tick=5)
    assert (refusal.flag, refusal.holder, refusal.reason) == (LOOK, "plan", "which has waited for it since tick 2")
    assert table.holder("high", 1).claim(LOOK) is None


def test_a_claim_waits_until_all_of_its_flags_are_free(table):
    one, two, plan = table.holder("one"), table.holder("two"), table.holder("plan")
    one.claim(MOVE)
    two.claim(LOOK)
    plan.claim(MOVE, LOOK, wait=True)
    one.end()
    assert table.holds == {LOOK: "two"}
    two.end()
    assert table.holds == {MOVE: "plan", LOOK: "plan"}


def test_a_claim_that_is_withdrawn_lets_those_behind_it_pass(table):
    goal, plan, third = table.holder("goal"), table.holder("plan"), table.holder("third")
    goal.claim(MOVE)
    plan.claim(MOVE, LOOK, wait=True)
    third.claim(LOOK, wait=True)
    plan.end()
    assert table.holds == {MOVE: "goal", LOOK: "third"}


def test_a_claim_that_is_replaced_lets_those_behind_it_pass(table):
    """A claimant has one claim; the new one stands at the end of the line."""
    goal, plan, third = table.holder("goal"), table.holder("plan"), table.holder("third")
    goal.claim(MOVE)
    plan.claim(MOVE, LOOK, wait=True)
    third.claim(LOOK, wait=True)
    assert plan.claim(LOOK, wait=True).holder == "third"
    assert table.log == [("third", "granted")]
    assert table.waiting == [("plan", (LOOK,))]


def test_a_claim_that_is_replaced_by_one_that_is_granted_lets_those_behind_it_pass(table):
    goal, plan, third = table.holder("goal"), table.holder("plan"), table.holder("third")
    goal.claim(MOVE)
    plan.claim(MOVE, LOOK, wait=True)
    third.claim(LOOK, wait=True)
    assert plan.claim(JUMP) is None
    assert table.holds == {MOVE: "goal", LOOK: "third", JUMP: "plan"}


def test_flags_handed_over_serve_who_shares_with_the_new_holder(table):
    old, new = table.holder("old"), table.holder("new")
    step = table.holder("step", runs_for=new)
    old.claim(MOVE)
    step.claim(MOVE, wait=True)
    table.ledger.hand_over((MOVE,), new, 1, holders=(old,))
    assert table.log == [("step", "granted")]


def test_who_is_handed_what_it_waits_for_waits_no_more(table):
    old, new = table.holder("old"), table.holder("new")
    old.claim(MOVE)
    new.claim(MOVE, wait=True)
    table.ledger.hand_over((MOVE,), new, 1, holders=(old,))
    old.end()
    assert table.log == []
    assert table.waiting == []
    new.end()
    assert table.ledger.is_free


def test_handing_over_takes_nothing_from_strangers(table):
    old, new, stranger = table.holder("old"), table.holder("new"), table.holder("stranger")
    old.claim(MOVE, JUMP)
    stranger.claim(LOOK)
    table.ledger.hand_over((LOOK, MOVE, TARGET), new, 4, holders=(old,))
    assert table.holds == {MOVE: "new", JUMP: "old", LOOK: "stranger", TARGET: "new"}


def test_a_replacement_counts_its_own_as_free(table):
    """Goals that replace each other: the claim of the new one is granted, and the flags pass on with nobody between."""
    old, new, other = table.holder("old"), table.holder("new"), table.holder("other")
    old.claim(MOVE)
    other.claim(MOVE, wait=True)
    assert new.claim(MOVE, LOOK, shared_with=(old,)) is None
    table.ledger.hand_over((MOVE, LOOK), new, 1, holders=(old,))
    old.end()
    assert table.holds == {MOVE: "new", LOOK: "new"}


# --- rule 6: deadlocks ------------------------------------------------------------------------------------------------


def deadlock(refusal):
    assert refusal.is_final
    assert refusal.reason == "which waits for the claimant in turn: a deadlock"
    return refusal.flag, refusal.holder


def test_two_that_wait_for_each_other(table):
    one, two = table.holder("one"), table.holder("two")
    one.claim(MOVE)
    two.claim(LOOK)
    one.claim(LOOK, wait=True)
    assert deadlock(two.claim(MOVE, wait=True)) == (MOVE, "one")
    assert table.waiting == [("one", (LOOK,))]
    two.end()
    assert table.holds == {MOVE: "one", LOOK: "one"}


def test_three_that_wait_in_a_circle(table):
    one, two, three = (table.holder(name) for name in ("one", "two", "three"))
    for holder, flag in ((one, MOVE), (two, LOOK), (three, JUMP)):
        holder.claim(flag)
    assert not one.claim(LOOK, wait=True).is_final
    assert not two.claim(JUMP, wait=True).is_final
    assert deadlock(three.claim(MOVE, wait=True)) == (MOVE, "one")


def test_it_counts_who_runs_for_whom(table):
    """Each waits with a step, and what it holds it holds as a whole."""
    goal, plan = table.holder("goal"), table.holder("plan")
    walk, look = table.holder("walk", runs_for=goal), table.holder("look", runs_for=plan)
    goal.claim(LOOK)
    plan.claim(MOVE)
    assert not walk.claim(MOVE, wait=True).is_final
    assert deadlock(look.claim(LOOK, wait=True)) == (LOOK, "goal")


def test_a_place_in_the_line_makes_a_deadlock_too(table):
    """The flag is free, but kept for somebody who waits for what the claimant holds."""
    plan, goal = table.holder("plan"), table.holder("goal")
    plan.claim(LOOK)
    goal.claim(LOOK, MOVE, wait=True)
    step = table.holder("step", runs_for=plan)
    assert deadlock(step.claim(MOVE, wait=True)) == (MOVE, "goal")


def test_three_in_a_circle_of_holds_and_places(table):
    plan, goal, tree = table.holder("plan"), table.holder("goal"), table.holder("tree")
    plan.claim(LOOK)
    tree.claim(JUMP)
    goal.claim(LOOK, MOVE, wait=True)  # waits for the plan
    tree.claim(MOVE, wait=True)  # waits for its turn after the goal
    assert deadlock(plan.claim(JUMP, wait=True)) == (JUMP, "tree")


def test_overtaking_makes_a_deadlock_too(table):
    """A higher claim stands before the step of a holder that it cannot interrupt: that holder would never end."""
    plan, tree = table.holder("plan", is_interruptible=False), table.holder("tree")
    high = table.holder("high", 1)
    plan.claim(LOOK)
    tree.claim(MOVE)
    table.holder("step", runs_for=plan).claim(MOVE, wait=True)
    tree.is_interruptible = False
    assert deadlock(high.claim(MOVE, LOOK, wait=True)) == (LOOK, "plan")
    tree.end()
    assert table.holds == {LOOK: "plan", MOVE: "step"}


def test_who_gives_way_waits_for_nobody(table):
    """It holds what the higher one wants and waits for what that one has: it ends, and that is no deadlock."""
    high, low = table.holder("high", 1), table.holder("low", is_slow=True)
    high.claim(LOOK)
    low.claim(MOVE)
    low.claim(LOOK, wait=True)
    assert high.claim(MOVE, wait=True).reason == "which is giving way"
    low.end()
    assert table.holds == {LOOK: "high", MOVE: "high"}


def test_a_deadlock_names_who_makes_it(table):
    """The first flag is held by somebody who will end; the second one by the one that waits in turn."""
    plan, goal, other = table.holder("plan"), table.holder("goal"), table.holder("other")
    other.claim(JUMP)
    goal.claim(MOVE)
    plan.claim(LOOK)
    goal.claim(LOOK, wait=True)
    assert deadlock(plan.claim(JUMP, MOVE, wait=True)) == (MOVE, "goal")


def test_a_deadlock_interrupts_nobody(table):
    plan, goal, low = table.holder("plan", 1), table.holder("goal", 1), table.holder("low")
    low.claim(JUMP)
    goal.claim(MOVE)
    plan.claim(LOOK)
    goal.claim(LOOK, wait=True)
    deadlock(plan.claim(JUMP, MOVE, wait=True))
    assert table.log == []


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_refusal_names_who_stays_and_not_who_gives_way(table):
    low, equal, high = table.holder("low", is_slow=True), table.holder("equal", 1), table.holder("high", 1)
    low.claim(MOVE)
    equal.claim(LOOK, tick=3)
    for refusal in (
        table.ledger.obstacle((MOVE, LOOK), high, 5),
        high.claim(MOVE, LOOK, tick=5, wait=True),
    ):
        assert refusal.text() == (
            "high was refused LOOK in tick 5: held by equal, which came first, in tick 3, with precedence 1 against 1"
        )


def test_an_obstacle_is_asked_for_without_any_consequence(table):
    low, high = table.holder("low"), table.holder("high", 1)
    low.claim(MOVE)
    assert table.ledger.obstacle((MOVE,), high, 1) is None
    assert table.ledger.obstacle((LOOK,), low, 1) is None
    assert table.ledger.refusals() == []
    assert table.ledger.obstacle((LOOK, MOVE), table.holder("third"), 1).holder == "low"
    assert table.log == []
    assert table.waiting == []
    assert [refusal.claimant for refusal in table.ledger.refusals()] == ["third"]


def test_a_refusal_is_remembered_until_the_claimant_has_its_flags(table):
    goal, plan = table.holder("goal"), table.holder("plan")
    goal.claim(MOVE)
    plan.claim(MOVE, tick=1)
    plan.claim(MOVE, tick=2)
    assert [refusal.tick for refusal in table.ledger.refusals()] == [2]
    goal.end()
    assert plan.claim(MOVE, tick=3) is None
    assert table.ledger.refusals() == []


def test_the_version_changes_with_every_hold_and_every_wait(table):
    goal, plan = table.holder("goal"), table.holder("plan")
    seen = [table.ledger.version]

    def changed():
        seen.append(table.ledger.version)
        return seen[-1] != seen[-2]

    goal.claim(MOVE)
    assert changed()
    plan.claim(MOVE, wait=True)
    assert changed()
    assert table.ledger.is_waiting(plan)
    plan.end()
    assert changed()
    table.ledger.hand_over((MOVE,), plan, 0, holders=(goal,))
    assert changed()
