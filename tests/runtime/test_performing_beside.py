"""Performances beside a plan and beside each other: preemption, learning, tasks, control flags, and any moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt import LOOK, MOVE, step
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks

performers = load("tests/runtime/performers.py")
Told = performers.Told
Fetch = performers.Fetch
Patrol = performers.Patrol
words = performers.words
Holding = performers.Holding
Scene = performers.Scene
scene = performers.scene
KNOWN = performers.KNOWN


# --- one simulation, no loop ------------------------------------------------------------------------------------------


def test_a_better_action_takes_over_inside(scene):
    class Crawl(Told):
        does = "move"
        runs = 50
        flags = {MOVE}

    class Run(Told):
        does = "move"
        utility = 0.9
        flags = {MOVE}

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()
            await ctx.sleep_ticks(1_000_000)

    scene.agent.inject(Crawl)
    scene.agent.inject(Run)
    scene.tick()
    scene.perform("move")
    scene.tick(5)
    assert words(scene.agent, "Crawl", "Run") == [
        (2, "Crawl", "start"),
        (2, "Crawl", "run"),
        (4, "Crawl", "stop"),
        (4, "Run", "start"),
        (4, "Run", "run"),
        (5, "Run", "done"),
        (5, "Run", "stop"),
    ]
    assert [what for _, what, _ in scene.log] == ["performed"]


def test_what_is_learned_meanwhile_counts(scene):
    class Jump(Told):
        does = "jump"

    class Dawdle(Told):
        does = "jump"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1_000_000)

    slow = scene.agent.inject(Dawdle)
    scene.tick()
    scene.perform("jump")
    scene.tick(3)
    assert scene.log == []
    scene.agent.inject(Jump)
    scene.tick(3)
    assert [what for _, what, _ in scene.log] == ["performed"]
    slow.revoke()


def test_what_is_forgotten_meanwhile_is_impossible(scene):
    class Dawdle(Told):
        does = "jump"

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1_000_000)

    injection = scene.agent.inject(Dawdle)
    scene.tick()
    scene.perform("jump")
    scene.tick(2)
    injection.revoke()
    scene.tick(1)
    assert [what for _, what, _ in scene.log] == ["ActivityImpossibleError"]


def test_what_is_forgotten_while_it_runs_is_unwound_and_thought_again(scene):
    class Jump(Told):
        does = "jump"
        runs = 50

    injection = scene.agent.inject(Jump)
    scene.tick()
    scene.perform("jump")
    scene.tick(2)
    injection.revoke()
    scene.tick(3)
    assert [word for *_, word in words(scene.agent, "Jump")] == ["start", "run", "stop"]
    assert [what for _, what, _ in scene.log] == ["ActivityImpossibleError"]


class Haul(Told):
    does = "haul"


class Hauling(TaskGroupAction):
    does = "work"
    utility = 0.5
    tasks = (declare_multiple_tasks("haul", 0.5),)


def test_a_task_of_a_group_is_performed(scene):
    scene.agent.inject(Haul)
    group = TaskGroup(Hauling)
    group.add(scene.agent)
    group.create_task("haul").start()
    scene.tick()
    scene.perform("work")
    scene.tick(4)
    assert [what for _, what, _ in scene.log] == ["performed"]
    assert [word for *_, word in words(scene.agent, "Haul")] == ["start", "run", "done", "stop"]
    group.destroy()


def test_a_group_without_tasks_has_nothing_to_perform_now(scene):
    group = TaskGroup(Hauling)
    group.add(scene.agent)
    scene.tick()
    scene.perform("work")
    scene.tick(1)
    assert [what for _, what, _ in scene.log] == ["ActivityImpossibleError"]
    group.destroy()


def test_an_agent_that_leaves_the_group_cannot_perform_its_tasks(scene):
    scene.agent.inject(Haul)
    group = TaskGroup(Hauling)
    group.add(scene.agent)
    group.create_task("haul").start()
    scene.tick()
    scene.perform("work")
    group.remove(scene.agent)
    scene.tick(4)
    assert [what for _, what, _ in scene.log] == ["ActivityImpossibleError"]
    group.destroy()


# --- control flags ----------------------------------------------------------------------------------------------------


def test_it_shares_the_flags_of_whom_it_is_performed_for(scene):
    scene.tick()
    goal = Holding(scene.agent)
    goal.claim(MOVE)
    scene.perform("walk", None, goal)
    scene.tick(2)
    assert scene.holds == {MOVE: "goals/Panic"}
    assert scene.agent.snapshot().performances[0].path == "goals/Panic/walk"
    scene.tick(2)
    assert scene.log[0][1] == "performed"
    assert scene.holds == {MOVE: "goals/Panic"}
    goal.end()


def test_without_a_holder_it_waits_for_flags(scene):
    scene.tick()
    goal = Holding(scene.agent)
    goal.claim(MOVE)
    scene.perform("walk")
    scene.tick(5)
    assert scene.log == []
    assert scene.agent.flags.waiting()[0].claimant == "walk"
    assert "performed beside the plan" in scene.agent.explain()
    goal.end()
    scene.tick(3)
    assert scene.log[0][1] == "performed"


def test_it_has_the_precedence_of_its_holder(scene):
    scene.tick()
    scene.perform("patrol")
    scene.tick(2)
    goal = Holding(scene.agent, precedence=1)
    scene.perform("walk", None, goal)
    scene.tick(1)
    assert scene.holds == {MOVE: "walk"}
    assert words(scene.agent, "Patrol")[-1] == (scene.sim.now, "Patrol", "stop")
    scene.tick(12)
    assert [(what) for _, what, _ in scene.log] == ["performed", "performed"]
    assert [word for *_, word in words(scene.agent, "Patrol")] == ["start", "stop", "start", "stop"]


def test_a_performance_that_gives_way_is_cancelled_while_it_waits_to_resume(scene):
    scene.tick()
    strand = scene.perform("walk")
    scene.tick()
    goal = Holding(scene.agent, precedence=1)
    goal.claim(MOVE, wait=True)
    scene.tick(1)
    assert scene.holds == {MOVE: "goals/Panic"}
    strand.stop("enough")
    scene.tick(1)
    assert scene.log[0][1] == "cancelled"
    assert scene.agent.planner.performances == ()
    goal.end()
    assert scene.agent.flags.is_free


def test_two_at_a_time_share_the_body(scene):
    scene.tick()
    scene.perform("walk")
    scene.perform("watch")
    scene.perform("walk")
    scene.tick(2)
    assert scene.holds == {MOVE: "walk", LOOK: "watch"}
    assert [frame.path for frame in scene.agent.snapshot().performances] == [
        "performed/walk",
        "performed/watch",
        "performed/walk#2",
    ]
    scene.tick(5)
    assert [(tick, what) for tick, what, _ in scene.log] == [(4, "performed"), (5, "performed"), (6, "performed")]


def test_two_that_wait_for_each_other_both_come_to_their_end(scene):
    class Guard(Fetch):
        does = "guard"
        flags = {LOOK}
        steps = [step("wait"), step("walk")]

    class March(Fetch):
        does = "march"
        flags = {MOVE}
        steps = [step("wait"), step("watch")]

    class Wait(Told):
        does = "wait"
        runs = 2

    for action in (Guard, March, Wait):
        scene.agent.inject(action)
    scene.tick()
    scene.perform("guard")
    scene.perform("march")
    scene.tick(30)
    assert [what for _, what, _ in scene.log] == ["performed", "performed"]
    assert [reason for _, _, reason in scene.refused() if "deadlock" in reason] == [
        "which waits for the claimant in turn: a deadlock"
    ]


def test_a_deadlock_that_only_its_holder_can_end_is_told_to_who_awaits_it(scene):
    """A goal has MOVE and performs what needs LOOK; the plan has LOOK and waits for MOVE: no replanning would help."""

    class Guard(Fetch):
        does = "guard"
        flags = {LOOK}
        steps = [step("walk")]

    scene.agent.inject(Guard)
    scene.tick()
    goal = Holding(scene.agent)
    goal.claim(MOVE)
    scene.perform("guard")
    scene.tick(2)
    assert [claim.claimant for claim in scene.agent.flags.waiting()] == ["walk"]
    scene.perform("watch", None, goal)
    scene.tick(2)
    assert [what for _, what, _ in scene.log] == ["ActivityAbortedError"]
    goal.end()
    scene.tick(4)
    assert [what for _, what, _ in scene.log] == ["ActivityAbortedError", "performed"]


# --- any moment -------------------------------------------------------------------------------------------------------


class Deep(Fetch):
    does = "deep"
    steps = [step("fetch"), step("slow"), step("find"), step("execute")]


class Slow(Told):
    does = "slow"
    runs = 2
    cleans = 2
    flags = {MOVE, LOOK}


class Executing(Told):
    does = "execute"

    async def run(self, ctx, args):
        self.write(ctx, "run")
        await ctx.execute("slow")
        await ctx.execute("find", what="dog")


ACTIVITIES = ("fetch", "patrol", "deep", "slow", "execute", "find", "fail", "abort", "refuse", "nothing", "walk")


class Moment:
    """Calls a function in the strands' phase of a tick, behind so many entries of the ready queue."""

    def __init__(self, kernel, tick, depth, fn):
        self.kernel = kernel
        self.depth = depth
        self.fn = fn
        kernel.call_later(tick, self.come)

    def come(self):
        if self.depth == 0:
            self.fn()
        else:
            self.depth -= 1
            self.kernel.call_soon(self.come)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(("stop", "stop", "claim", "release", "remove", "forget", "learn")),
        st.integers(1, 14),
        st.integers(0, 12),
        st.integers(0, 3),
    ),
    max_size=5,
)
WANTED = st.lists(
    st.tuples(st.sampled_from(ACTIVITIES), st.booleans(), st.integers(0, 2)),
    min_size=1,
    max_size=4,
    unique_by=lambda wanted: wanted[0],
)


@pytest.mark.slow
@given(WANTED, EVENTS)
def test_at_every_moment_hooks_are_paired_and_flags_given_back(wanted, events):
    scene = Scene([*KNOWN, Deep, Slow, Executing])
    scene.sim.runtime.kernel.on_fault = lambda text, error: scene.faults.append((text, error))
    agent, kernel = scene.agent, scene.runtime.kernel
    goals = [Holding(agent, f"goal {number}", precedence) for number, (_, _, precedence) in enumerate(wanted)]
    injections = {}
    scene.tick()

    def happen(what, which):
        goal = goals[which % len(goals)]
        if what == "stop":
            scene.strands[which % len(scene.strands)].stop("enough")
        elif what == "claim" and agent.is_alive:
            goal.claim(*((MOVE,), (LOOK,), (LOOK, MOVE))[which % 3], wait=True)
        elif what == "release":
            goal.end()
        elif what == "remove":
            scene.runtime.remove(agent)
        elif what == "learn" and which not in injections and agent.is_alive:
            injections[which] = agent.inject(type("Late", (Told,), {"does": ACTIVITIES[which], "utility": 0.8}))
        elif what == "forget" and which in injections and agent.is_alive:
            injections.pop(which).revoke()

    for (activity, is_for_goal, _), goal in zip(wanted, goals, strict=True):
        scene.perform(activity, None, goal if is_for_goal else None)
    for what, tick, depth, which in events:
        Moment(kernel, tick, depth, lambda what=what, which=which: happen(what, which))
    scene.tick(16)
    for goal in goals:
        goal.end()
    scene.tick(40)
    assert [strand.name for strand in scene.strands if not strand.is_done] == []
    for goal in goals:
        goal.end()
    scene.close()
    assert scene.faults == []
