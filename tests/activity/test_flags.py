"""Control flags: claimed when an action runs, shared along a plan, given back when it ends, refused with a reason."""

from __future__ import annotations

from agentrt import LOOK, MOVE, Action, step


def holds(agent):
    return {flag: holder for flag, holder, _ in agent.snapshot().flags}


def test_a_leaf_holds_its_flags_while_it_runs(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("wait"), step("walk"), step("look"), quiet=True),
        leaf("Wait", does="wait", run=1, quiet=True),
        leaf("Walk", does="walk", run=1, flags={MOVE, LOOK}, quiet=True),
        leaf("Look", does="look", run=1, flags={LOOK}, quiet=True),
    )
    seen = []
    for _ in range(4):
        play.tick(1)
        seen.append(holds(agent))
    assert seen == [{}, {"LOOK": "walk", "MOVE": "walk"}, {"LOOK": "look"}, {}]


def test_two_steps_of_a_plan_use_the_same_flag_one_after_the_other(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("walk"), step("walk"), quiet=True),
        leaf("Walk", does="walk", run=2, flags={MOVE}, quiet=True),
    )
    play.tick(5)
    assert agent.snapshot().aborts == 0
    assert play.trace("complete") == [(5, "top", "complete")]


def test_a_plan_shares_its_flags_with_its_steps(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("walk"), step("wait"), quiet=True, flags={MOVE}),
        leaf("Walk", does="walk", run=2, flags={MOVE, LOOK}, quiet=True),
        leaf("Wait", does="wait", run=1, quiet=True),
    )
    play.tick(2)
    assert holds(agent) == {"MOVE": "plan", "LOOK": "walk"}
    play.tick(1)
    assert holds(agent) == {"MOVE": "plan"}
    assert agent.snapshot().aborts == 0


def test_an_action_shares_its_flags_with_what_it_executes(play, leaf):
    class Walk(Action):
        does = "top"
        utility = 0.5
        flags = {MOVE}

        async def run(self, ctx, args):
            await ctx.execute("step")
            await ctx.sleep(100)

    agent = play.add(Walk, leaf("Step", does="step", run=2, flags={MOVE, LOOK}, quiet=True))
    play.tick(2)
    assert holds(agent) == {"MOVE": "walk", "LOOK": "step"}
    play.tick(2)
    assert holds(agent) == {"MOVE": "walk"}


def test_a_preemption_hands_them_over(play, leaf):
    agent = play.add(
        leaf("Old", 0.1, run=50, flags={MOVE}, quiet=True), leaf("New", 0.5, think=2, run=50, flags={MOVE}, quiet=True)
    )
    play.tick(2)
    assert holds(agent) == {"MOVE": "old"}
    play.tick(1)
    assert holds(agent) == {"MOVE": "new"}
    assert agent.snapshot().refusals == ()


class Driver:
    """Another model of the agent, as the ledger sees it."""

    def __init__(self, agent, name="goals/panic", precedence=0):
        self.agent = agent
        self.flag_name = name
        self.precedence = precedence
        self.is_interruptible = True
        self.runs_for = None

    def claim(self, *flags, **options):
        return self.agent.flags.claim(flags, self, self.agent.runtime.tick, **options)

    def give_way(self, flag, claimant):
        raise AssertionError("nobody here is above it")

    def flags_granted(self):
        pass


def test_who_is_cut_off_holds_them_until_its_stop_is_over(play, leaf):
    """It may still have to bring the body to rest."""
    seen = []
    agent = play.add(
        leaf("Walk", 0.1, run=50, flags={MOVE}, quiet=True, stop=lambda self, ctx, args: seen.append(holds(agent))),
        leaf("Read", 0.9, think=2, run=50, quiet=True),
    )
    play.tick(3)
    assert (seen, holds(agent)) == ([{"MOVE": "walk"}], {})


def test_an_action_waits_for_a_flag_that_somebody_else_holds(play, leaf):
    """Another model drives the legs: the action waits, and the snapshot and the trace say for whom."""
    agent = play.add(leaf("Walk", 0.5, run=5, flags={MOVE}, quiet=True), leaf("Sit", 0.1, think=1, run=5, quiet=True))
    driver = Driver(agent)
    driver.claim(MOVE)
    play.tick(2)
    assert play.details("refused")[0][3] == {
        "flag": "MOVE",
        "holder": "goals/panic",
        "reason": "which came first, in tick 0, with precedence 0 against 0",
    }
    explained = agent.explain()
    assert "walk waits for MOVE since tick 1" in explained
    assert "walk was refused MOVE in tick 1: held by goals/panic, which came first" in explained
    play.tick(20)
    assert agent.snapshot().aborts == 0
    assert holds(agent) == {"MOVE": "goals/panic"}
    agent.flags.release(driver)
    play.tick(1)
    assert holds(agent) == {"MOVE": "walk"}
    assert agent.snapshot().refusals == ()
    assert agent.snapshot().waiting == ()


def test_a_plan_waits_with_its_first_step_until_it_has_its_flags(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("wait"), step("wait"), flags={MOVE}),
        leaf("Wait", does="wait", run=2),
    )
    driver = Driver(agent)
    driver.claim(MOVE)
    play.tick(5)
    assert [what for what in play.log if "run" in what] == []
    agent.flags.release(driver)
    play.tick(1)
    assert [what for what in play.log if "run" in what] == [(6, "Wait", "run")]
    play.tick(3)
    assert [what for what in play.log if "run" in what] == [(6, "Wait", "run"), (8, "Wait", "run")]


def test_a_better_action_takes_the_place_of_one_that_waits(play, leaf):
    agent = play.add(leaf("Walk", 0.5, run=5, flags={MOVE}, quiet=True), leaf("Sit", 0.9, think=3, run=5, quiet=True))
    driver = Driver(agent)
    driver.claim(MOVE)
    play.tick(5)
    assert agent.snapshot().running == "top/Sit"
    assert agent.snapshot().waiting == ()
    agent.flags.release(driver)
    assert holds(agent) == {}


def test_a_plan_gives_way_to_a_claim_of_higher_precedence(play, leaf, compound):
    """It unwinds in the same tick, the claim is served then, and the plan is thought again and waits."""
    agent = play.add(
        compound("Plan", step("wait"), step("walk"), flags={LOOK}),
        leaf("Wait", does="wait", run=1),
        leaf("Walk", does="walk", run=50, flags={MOVE}),
    )
    play.tick(3)
    assert holds(agent) == {"LOOK": "plan", "MOVE": "walk"}
    driver = Driver(agent, precedence=1)
    refusal = driver.claim(MOVE, wait=True)
    assert refusal.reason == "which is giving way"
    play.tick(1)
    assert holds(agent) == {"MOVE": "goals/panic"}
    assert play.trace("abort")[-1][1:] == ("top/Plan/walk/Walk", "abort")
    play.tick(3)
    assert holds(agent) == {"MOVE": "goals/panic", "LOOK": "plan"}
    assert [claim.claimant for claim in agent.snapshot().waiting] == ["walk"]
    assert agent.snapshot().aborts == 0
    agent.flags.release(driver)
    play.tick(1)
    assert holds(agent) == {"LOOK": "plan", "MOVE": "walk"}


def test_an_agent_that_is_removed_while_it_waits_leaves_nothing_behind(play, leaf):
    agent = play.add(leaf("Walk", 0.5, run=5, flags={MOVE}))
    driver = Driver(agent)
    driver.claim(MOVE)
    play.tick(2)
    play.sim.runtime.remove(agent)
    play.tick(1)
    assert agent.flags.waiting() == []
    agent.flags.release(driver)
    assert agent.flags.is_free
    assert not [what for what in play.log if "run" in what]


def test_two_that_wait_for_each_other_are_a_deadlock(play, leaf, compound):
    """A plan has LOOK and wants MOVE; who has MOVE waits for LOOK: the plan gives LOOK up and begins again."""
    agent = play.add(
        compound("Plan", step("wait"), step("walk"), flags={LOOK}),
        leaf("Wait", does="wait", run=3),
        leaf("Walk", does="walk", run=5, flags={MOVE}),
    )
    driver = Driver(agent)
    driver.claim(MOVE)
    play.tick(2)
    assert holds(agent) == {"MOVE": "goals/panic", "LOOK": "plan"}
    driver.claim(MOVE, LOOK, wait=True)
    play.tick(3)
    assert [(tick, detail["flag"], detail["reason"]) for tick, _, _, detail in play.details("refused")] == [
        (4, "MOVE", "which waits for the claimant in turn: a deadlock"),
        (5, "LOOK", "which came first, in tick 2, with precedence 0 against 0"),
    ]
    assert holds(agent) == {"MOVE": "goals/panic", "LOOK": "goals/panic"}
    play.tick(5)
    assert [claim.claimant for claim in agent.snapshot().waiting] == ["plan"]
    assert agent.snapshot().aborts == 0
    agent.flags.release(driver)


def test_an_abort_gives_them_back(play):
    class Walk(Action):
        does = "top"
        utility = 0.5
        flags = {MOVE}

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.abort("stumbled")

    agent = play.add(Walk)
    play.tick(2)
    assert holds(agent) == {}
