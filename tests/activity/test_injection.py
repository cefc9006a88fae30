"""Actions that come and go while the agent thinks and runs. Every change takes effect at the next intake."""

from __future__ import annotations

import pytest

from agentrt import PREV, Action, ActionArgs, step


def states(agent):
    return [(unit.action, unit.state) for unit in agent.snapshot().plan.units]


@pytest.mark.states("001: Injecting actions: (ours) Actions come and go while the agent lives")
def test_injected_while_it_runs_something_worse(play, leaf, idle):
    agent = play.add(idle)
    play.tick(2)
    agent.inject(leaf("New", 0.5, run=9, quiet=True))
    assert states(agent) == [("Idle", "running")]
    play.tick(1)
    assert states(agent) == [("Idle", "idle"), ("New", "running")]
    assert play.trace("injected", "preempt", "start", since=2) == [
        (3, "", "injected"),
        (3, "top/Idle", "preempt"),
        (3, "top/New", "start"),
    ]


def test_injected_while_it_runs_something_better(play, leaf):
    """The newcomer could not win, so it is not even asked."""
    agent = play.add(leaf("Good", 0.9, run=50, quiet=True))
    play.tick(1)
    agent.inject(leaf("New", 0.5, run=9))
    play.tick(2)
    assert play.log == []
    assert states(agent) == [("Good", "running"), ("New", "idle")]


def test_injected_while_it_thinks(play, leaf):
    agent = play.add(leaf("Slow", 0.9, think=50, quiet=True))
    play.tick(2)
    agent.inject(leaf("New", 0.5, think=1, run=9, quiet=True))
    play.tick(2)
    assert play.trace("think", "start") == [(1, "top/Slow", "think"), (3, "top/New", "think"), (4, "top/New", "start")]


def test_injected_for_a_step_of_a_plan_that_thinks(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("a"), step("b"), quiet=True),
        leaf("A", 0.1, does="a", quiet=True),
        leaf("B", does="b", think=50, quiet=True),
    )
    play.tick(2)
    agent.inject(leaf("Better", 0.9, does="a", quiet=True))
    play.tick(1)
    assert [one[3]["action"] for one in play.details("elect")] == ["A", "Better"]
    assert play.trace("think")[-1] == (3, "top/Plan/b/B", "think")


def test_injected_for_a_running_step(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("a"), step("b"), quiet=True),
        leaf("A", 0.1, does="a", run=50, quiet=True),
        leaf("B", does="b", quiet=True),
    )
    play.tick(2)
    agent.inject(leaf("Better", 0.9, does="a", run=9, quiet=True))
    play.tick(1)
    assert play.trace("preempt", "start", since=3) == [
        (3, "top/Plan/a/A", "preempt"),
        (3, "top/Plan/a/Better", "start"),
    ]


def test_revoked_while_it_thinks(play, leaf, idle):
    agent = play.add(idle)
    injection = agent.inject(leaf("New", 0.9, think=50))
    play.tick(2)
    injection.revoke()
    play.tick(1)
    assert play.log == [(1, "New", "think"), (3, "New", "stop_thinking"), (3, "New", "think ends")]
    assert states(agent) == [("Idle", "running")]
    assert not injection.is_live


def test_revoked_while_it_is_ready(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("a"), step("b"), quiet=True),
        leaf("A", 0.1, does="a", quiet=True),
        leaf("B", does="b", think=50, quiet=True),
    )
    injection = agent.inject(leaf("Best", 0.9, does="a", quiet=True))
    play.tick(2)
    injection.revoke()
    play.tick(1)
    assert [one[3]["action"] for one in play.details("elect") if one[1] == "top/Plan/a"] == ["Best", "A"]


@pytest.mark.states("001: Overview: What an agent can do is the set of actions that it knows ...")
@pytest.mark.states("001: Injecting actions: (ours) Actions come and go while the agent lives ...")
def test_revoked_while_it_runs_aborts_the_plan_and_it_is_gone(play, leaf, idle):
    agent = play.add(idle)
    injection = agent.inject(leaf("New", 0.9, run=50))
    play.tick(2)
    play.take_log()
    injection.revoke()
    play.tick(2)
    assert play.log == [(3, "New", "run ends"), (3, "New", "stop")]
    assert play.details("abort") == [
        (3, "top/New", "abort", {"reason": "the agent forgot the action 'new' that it was running"})
    ]
    assert states(agent) == [("Idle", "running")]


def test_revoked_while_a_step_of_it_runs(play, leaf, compound, idle):
    agent = play.add(idle, leaf("A", does="a", run=50))
    injection = agent.inject(compound("Plan", step("a"), utility=0.9))
    play.tick(2)
    play.take_log()
    injection.revoke()
    play.tick(2)
    assert play.log == [(3, "A", "run ends"), (3, "A", "stop"), (3, "Plan", "stop")]
    assert states(agent) == [("Idle", "running")]


def test_revoked_while_it_is_started_as_a_later_step(play, leaf, compound):
    agent = play.add(compound("Plan", step("a"), step("b"), quiet=True), leaf("A", does="a", run=50, quiet=True))
    injection = agent.inject(leaf("B", does="b"))
    play.tick(2)
    play.take_log()
    injection.revoke()
    play.tick(1)
    assert play.log == [(3, "B", "stop")]
    assert len(play.details("abort")) == 1


def test_revoked_when_it_has_finished_the_plan_goes_on(play, leaf, compound):
    """Its stop still comes, with the plan's; then it is forgotten."""
    agent = play.add(compound("Plan", step("a"), step("b"), quiet=True), leaf("B", does="b", run=5, quiet=True))
    injection = agent.inject(leaf("A", does="a", run=1))
    play.tick(3)
    play.take_log()
    injection.revoke()
    play.tick(5)
    assert play.log == [(7, "A", "stop")]
    assert play.trace("abort") == []
    assert play.trace("complete") == [(7, "top", "complete")]


def test_revoked_while_it_is_executed(play, leaf):
    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("a")

    agent = play.add(Top)
    injection = agent.inject(leaf("A", does="a", run=50))
    play.tick(2)
    play.take_log()
    injection.revoke()
    play.tick(1)
    assert play.log == [(3, "A", "run ends"), (3, "A", "stop")]
    assert len(play.details("abort")) == 1
    play.tick(1)
    assert [fault[2] for fault in play.faults()] == ["run"]  # now nobody can perform it


def test_revoked_in_a_nested_plan_that_thinks(play, leaf, compound, idle):
    agent = play.add(
        idle,
        compound("Outer", step("inner"), utility=0.9, quiet=True),
        leaf("A", does="a", quiet=True),
        leaf("Slow", does="slow", think=50),
    )
    injection = agent.inject(compound("Inner", step("a"), step("slow"), does="inner"))
    play.tick(2)
    injection.revoke()
    play.tick(1)
    assert play.log == [
        (1, "Slow", "think"),
        (3, "Slow", "stop_thinking"),
        (3, "Inner", "stop_thinking"),
        (3, "Slow", "think ends"),
    ]


def test_what_another_injection_holds_is_kept(play, leaf):
    new = leaf("New", 0.9, run=50, quiet=True)
    agent = play.add()
    first, second = agent.inject(new), agent.inject(new)
    play.tick(2)
    first.revoke()
    play.tick(2)
    assert states(agent) == [("New", "running")]
    second.revoke()
    second.revoke()
    play.tick(2)
    assert states(agent) == []


def test_an_output_that_is_read_and_revoked(play, leaf, compound):
    """The elected finder is forgotten while the step after it thinks: the next best finder, and the step thinks again."""

    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            thing: str

        async def think(self, ctx, args):
            play.note(args.thing)
            await ctx.sleep(1000)

    agent = play.add(
        compound("Plan", step("find"), step("use", thing=PREV.thing), quiet=True),
        leaf("Old", 0.1, does="find", think=0, output={"thing": "old"}, quiet=True),
        Use,
    )
    injection = agent.inject(leaf("New", 0.9, does="find", think=0, output={"thing": "new"}, quiet=True))
    play.tick(2)
    injection.revoke()
    play.tick(1)
    assert play.log[-2:] == [(1, "new"), (3, "old")]


@pytest.mark.parametrize("running", [False, True])
def test_a_filter_that_comes_and_goes(play, leaf, compound, idle, running):
    """While the activity thinks the filter counts at once; a plan that runs is left alone until it thinks again."""

    class Closed(Action):
        does = "a"
        utility = 0.5

        def should_start_thinking(self, ctx, args):
            return False

    agent = play.add(
        compound("Plan", step("a"), utility=0.5, quiet=True),
        leaf("A", does="a", think=0 if running else 4, run=4, quiet=True),
        idle,
    )
    play.tick(2)
    injection = agent.inject(Closed)
    play.tick(6)
    ran = [path for _, path, _ in play.trace("run")]
    if running:
        assert ran == ["top/Plan", "top/Plan/a/A", "top/Idle"]
    else:
        assert ran == ["top/Idle"]
    injection.revoke()
    play.tick(5)
    assert play.trace("run")[-1][1] == "top/Plan/a/A"


def test_many_changes_in_one_intake(play, leaf, idle):
    agent = play.add(idle)
    play.tick(1)
    first = agent.inject(leaf("First", 0.5, run=50, quiet=True))
    agent.inject(leaf("Second", 0.6, run=50, quiet=True))
    first.revoke()
    play.tick(1)
    assert states(agent) == [("Idle", "idle"), ("Second", "running")]
    assert play.trace("run", since=2) == [(2, "top/Second", "run")]


def test_from_within_a_run(play, leaf):
    """An action may teach its own agent; it takes effect in the next tick."""

    class Learn(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            ctx.agent.inject(leaf("New", 0.5, run=9, quiet=True))
            await ctx.sleep(1000)

    play.add(Learn)
    play.tick(2)
    assert play.trace("run") == [(1, "top/Learn", "run"), (2, "top/New", "run")]
