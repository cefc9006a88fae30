"""Control flags: claimed when an action runs, shared along a plan, given back when it ends, refused with a reason."""

from __future__ import annotations

from agentrt import LOOK, MOVE, Action, step


def holds(agent):
    return dict(agent.snapshot().flags)


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


def test_a_flag_that_somebody_else_holds(play, leaf):
    """Another model drives the legs: the action is refused, and the snapshot and the trace say by whom."""
    agent = play.add(leaf("Walk", 0.5, run=5, flags={MOVE}, quiet=True), leaf("Sit", 0.1, think=1, run=5, quiet=True))
    driver = object()
    agent.flags.claim((MOVE,), driver, "goal: panic", 0)
    play.tick(2)
    assert play.details("refused")[0][3] == {"flag": "MOVE", "holder": "goal: panic"}
    assert "walk was refused MOVE in tick" in agent.explain()
    assert "held by goal: panic" in agent.explain()
    agent.flags.release(driver)
    play.sim.run_until(lambda: holds(agent) == {"MOVE": "walk"}, limit=20)
    assert agent.snapshot().refusals == ()


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
