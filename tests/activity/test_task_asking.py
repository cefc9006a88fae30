"""Of many tasks, a member is asked about a few: those that could be the best. Who is elected stays the same."""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

import pytest
from cast import silence  # noqa: F401 - a fixture
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentrt import Action, ActionArgs, Agent, Entity
from agentrt.activity.tasks import group as task_groups
from agentrt.activity.tasks.group import WINDOW
from agentrt.body.codec import JsonObject
from agentrt.snapshot.views import FrameView
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_task
from agentrt.testing import Simulation, check_trace

pytestmark = pytest.mark.usefixtures("silence")


class Fixed(Action):
    does = "fixed"
    utility = 1.0

    class Args(ActionArgs):
        wait: int = 0

    async def think(self, ctx, args):
        if args.wait < 0:
            await ctx.signals["go"].wait()
        await ctx.sleep_ticks(max(0, args.wait))
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Rated(Action):
    """What it is worth, when it says so, and what becomes of it, as the task says."""

    does = "rated"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        worth: float
        wait: int = 0
        then: str = "ready"
        takes: int = 3

    async def think(self, ctx, args):
        ctx.set_utility(args.worth)
        await ctx.sleep_ticks(args.wait)
        if args.then == "nothing":
            return
        if args.then == "reject":
            ctx.reject("no")
        if args.then == "raise":
            raise ValueError("no")
        ctx.set_think_output()
        if args.then == "withdraw":
            await ctx.sleep_ticks(2)
            ctx.clear_think_output()
            await ctx.sleep_ticks(50)

    def start(self, ctx, args):
        if args.then == "refuse":
            ctx.reject("not now")

    async def run(self, ctx, args):
        await ctx.sleep_ticks(args.takes)
        if args.then == "abort":
            ctx.abort("no")


class Also(Rated):
    does = "also"


class Works(TaskGroupAction):
    does = "top"
    utility = (0.0, 0.8)
    tasks = (
        declare_multiple_tasks("fixed", 0.35),
        declare_multiple_tasks("rated", (0.1, 0.9)),
        declare_multiple_tasks("also", (0.3, 0.6)),
        declare_multiple_tasks("unknown", 0.95),
        declare_task("single", 0.1),
    )


def crew(members=1, seed=0, actions=(Fixed, Rated, Also)):
    sim = Simulation(seed)
    group = TaskGroup(Works, name="works")
    agents = [
        sim.add(Agent(Entity("human"), name=f"m{number}", actions=actions, top="top")) for number in range(members)
    ]
    for agent in agents:
        group.add(agent)
    return sim, group, agents


def doing(agent):
    """The number of the task that it does; 0 for none."""
    _, found, rest = agent.snapshot().running.partition("/TaskAction#")
    return int(rest.partition("/")[0]) if found else 0


def asked(sim, since=0):
    """How many tasks were asked, for each tick."""
    return Counter(
        one.tick
        for one in sim.trace
        if one.event.value == "think" and "TaskAction#" in one.path.rpartition("/")[2] and one.tick >= since
    )


# --- who is elected ---------------------------------------------------------------------------------------------------

FATES = ("ready", "ready", "ready", "withdraw", "nothing", "reject", "raise")

wishes = st.lists(
    st.tuples(
        st.sampled_from(("rated", "rated", "also")),
        st.integers(0, 3),
        st.sampled_from(FATES),
        st.integers(1, 6),
        st.integers(0, 12),  # when it is created
    ),
    min_size=WINDOW + 1,
    max_size=60,
)


def course(tasks, order, members, window):
    """What each member does in each tick; and how many tasks were asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_groups, "WINDOW", window)
        sim, group, agents = crew(members)
        seen = []
        for tick in range(24):
            for number, (activity, wait, then, takes, when) in enumerate(tasks):
                if tick == (0 if number <= WINDOW else when):
                    worth = order[number] / 61  # no two are worth the same, so nothing is drawn
                    group.create_task(activity, worth=worth, wait=wait, then=then, takes=takes).once().start()
            sim.tick()
            seen.append([doing(agent) for agent in agents])
        number = sum(asked(sim).values())
        group.destroy()
        sim.tick(2)
        sim.close()
        for agent in agents:
            assert [str(one) for one in check_trace(sim.trace, agent.name)] == []
            assert agent.planner.busy_frames == 0
        return seen, number


@pytest.mark.states(
    "001: Tasks: (decided) Of many tasks those are asked that could be the best, and the same are elected; of equals "
    "those that are asked are drawn",
    source="Comparing plans; Issuing tasks",
)
@pytest.mark.slow
@given(wishes, st.permutations(range(60)))
@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_the_same_are_elected_as_if_all_were_asked(tasks, order):
    few, _ = course(tasks, order, 1, WINDOW)
    everybody, _ = course(tasks, order, 1, 10**6)
    assert few == everybody


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_same_work_is_begun_first_by_several_members(seed):
    """Who of several members is first to come for the best task is a matter of how long they think."""
    random = Random(seed)
    tasks = [(random.choice(("rated", "also")), 0, "ready", 5, 0) for _ in range(30)]
    order = random.sample(range(60), 60)
    few, _ = course(tasks, order, 4, WINDOW)
    everybody, _ = course(tasks, order, 4, 10**6)
    assert [sorted(now) for now in few[:5]] == [sorted(now) for now in everybody[:5]]


@pytest.mark.states("001: Tasks: (decided) Of many tasks those are asked that could be the best, and the same are ...")
@pytest.mark.slow
@pytest.mark.parametrize("is_ready", [lambda number: True, lambda number: number % 3 == 0], ids=["all", "some"])
def test_of_equals_each_that_is_ready_can_win_and_is_as_likely(is_ready):
    won = Counter()
    for seed in range(600):
        sim, group, (agent,) = crew(seed=seed)
        for number in range(1, 25):
            group.create_task("fixed", wait=0 if is_ready(number) else -1).start()
        sim.tick()
        won[doing(agent)] += 1
        sim.close()
    able = [number for number in range(1, 25) if is_ready(number)]
    assert sorted(won) == able
    even = 600 / len(able)
    assert all(even / 2.2 < count < even * 1.8 for count in won.values()), won


def test_an_equal_of_another_declaration_can_win_too():
    won = set()
    for seed in range(40):
        sim, group, (agent,) = crew(seed=seed)
        for _ in range(12):
            group.create_task("rated", worth=0.3125).start()  # 0.35 as well
            group.create_task("fixed").start()
        sim.tick()
        won.add(doing(agent) % 2)
        sim.close()
    assert won == {0, 1}


# --- how many are asked -----------------------------------------------------------------------------------------------


@pytest.mark.states("001: Tasks: (decided) Of many tasks those are asked that could be the best, and the same are ...")
@pytest.mark.parametrize("many", [100, 1000])
def test_equals_are_asked_a_window_at_a_time(many):
    sim, group, agents = crew(10)
    for _ in range(many):
        group.create_task("fixed").once().start()
    sim.tick(4)
    assert len({doing(agent) for agent in agents}) == 10
    assert set(asked(sim)) == {1, 4}
    assert max(asked(sim).values()) <= 10 * WINDOW * 2
    sim.close()


def test_so_many_as_a_window_are_all_asked():
    sim, group, _ = crew()
    for _ in range(WINDOW):
        group.create_task("fixed").start()
    sim.tick()
    assert asked(sim) == {1: WINDOW}
    sim.close()


def test_who_waits_makes_room_for_the_next_and_preempts_when_it_is_better():
    sim, group, (agent,) = crew()
    for _ in range(30):
        group.create_task("rated", worth=1.0, wait=1, takes=40).start()
    late = group.create_task("fixed").start()
    sim.tick()
    assert (doing(agent), sum(asked(sim).values())) == (late.number, 31)
    sim.tick(1)
    assert 1 <= doing(agent) <= 30
    sim.close()


@pytest.mark.states("001: Tasks: (decided) Of many tasks those are asked that could be the best, and the same are ...")
@pytest.mark.slow
def test_what_is_asked_in_a_tick_has_a_bound_and_the_best_is_found():
    sim, group, agents = crew(8)
    for number in range(1000):
        group.create_task("rated", worth=(number * 7919 % 1000) / 1000, takes=1000).once().start()
    sim.tick(20)
    counts = asked(sim)
    assert max(counts.values()) <= task_groups.MOST_ASKED + 8 * WINDOW  # who is interrupted begins with a window
    worths = sorted(group.tasks[doing(agent) - 1].args["worth"] for agent in agents)
    assert worths == [0.992, 0.993, 0.994, 0.995, 0.996, 0.997, 0.998, 0.999]
    assert all(len(agent.planner.group_places[0].frames[0].units) <= 10 * WINDOW for agent in agents)
    sim.close()


@pytest.mark.slow
def test_what_was_let_go_of_is_taken_back_when_the_better_is_gone():
    sim, group, (agent,) = crew()
    for number in range(200):
        group.create_task("rated", worth=number / 200, takes=100).start()
    sim.tick(2)
    for number in range(200, 150, -1):
        assert doing(agent) == number
        group.tasks[number - 1].destroy()
        sim.tick(2)  # its plan is unwound, and made anew
    assert doing(agent) == 150
    sim.close()


def test_tasks_without_room_are_not_asked_until_they_have_it():
    sim, group, (first, second) = crew(2)
    for _ in range(20):
        group.create_task("rated", worth=1.0, takes=5).max_workers(1).start()
    sim.tick()
    done = doing(first)
    assert done != doing(second)
    for task in group.tasks:
        if task.number not in (done, doing(second)):
            task.destroy()
    lone = next(task for task in group.tasks if task.number == done)
    sim.tick(1)
    assert {doing(first), doing(second)} == {one.number for one in group.tasks}
    lone.destroy()
    sim.tick(1)
    assert sorted([doing(first), doing(second)]) == [0, group.tasks[0].number]
    sim.close()


def test_nobody_is_asked_to_do_what_they_do_not_know():
    sim, group, (agent,) = crew()
    for _ in range(50):
        group.create_task("unknown").start()
    able = group.create_task("fixed").start()
    sim.tick(2)
    assert doing(agent) == able.number
    assert sum(asked(sim).values()) <= WINDOW

    class Learned(Fixed):
        does = "unknown"

    agent.inject(Learned)
    sim.tick(1)
    assert doing(agent) <= 50  # 0.95 beats 0.35
    sim.close()


def test_tasks_that_come_and_go_while_it_works():
    sim, group, (agent,) = crew()
    for number in range(40):
        group.create_task("rated", worth=number / 100, takes=100).start()
    sim.tick()
    assert doing(agent) == 40
    better = group.create_task("rated", worth=0.9, takes=100).start()
    sim.tick()
    assert doing(agent) == better.number
    better.pause()
    sim.tick()
    assert doing(agent) == 0
    sim.tick()
    assert doing(agent) == 40
    better.start()
    sim.tick()
    assert doing(agent) == better.number
    for task in group.tasks[5:]:
        task.destroy()
    sim.tick(2)
    assert doing(agent) == 5  # so few that all are asked
    sim.close()


def test_many_become_few_and_many_again():
    sim, group, (agent,) = crew()
    for _ in range(20):
        group.create_task("rated", worth=0.5, takes=4).start()
    sim.tick()
    for task in group.tasks[5:]:
        task.destroy()
    sim.tick(5)
    working = doing(agent)
    assert working <= 5
    for _ in range(20):
        group.create_task("rated", worth=0.3, takes=4).start()
    told = []
    group.tasks[working - 1].notify_interrupted(told.append)
    sim.tick()
    assert told == []
    sim.tick(20)
    assert doing(agent) <= 5
    sim.close()


# --- what is told -----------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Issuing tasks: (ours) What a task costs does not depend on how many there are; views say ...")
def test_views_and_the_trace_say_who_is_not_asked_and_why():
    sim, group, (agent,) = crew()
    for _ in range(950):
        group.create_task("fixed").start()
    for _ in range(3):
        group.create_task("unknown").start()
    sim.tick()
    frame = agent.snapshot().plan.units[0].frames[0]
    assert (frame.unasked, frame.unasked_reason) == (
        945,
        "3 are beyond what the agent knows, 942 could not be better than 0.35",
    )
    assert frame == FrameView.read(JsonObject(frame.as_json()))
    assert "945 more tasks are not asked: 3 are beyond what the agent knows, 942 could not be" in agent.explain()
    elections = [one for one in sim.trace if one.event.value == "elect" and one.path.endswith("/tasks")]
    assert dict(elections[-1].detail)["unasked"] == 945
    sim.close()


# --- what it costs ----------------------------------------------------------------------------------------------------


def calls_of(work):
    """How many calls of functions a piece of work makes: the same in every run."""
    count = 0

    def profile(_frame, event, _arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def lives(many, how):
    """Tasks are created, and end in one way, with members who look on."""
    sim, group, _ = crew(3)

    def work():
        tasks = [group.create_task("fixed").start() for _ in range(many)]
        sim.tick()
        for number, task in enumerate(tasks):
            getattr(task, how)()
            if number % 10 == 0:
                sim.tick()
        sim.tick()

    count = calls_of(work)
    sim.close()
    return count / many


@pytest.mark.states(
    "001: Issuing tasks: (ours) What a task costs does not depend on how many there are; views say how many are not "
    "asked, and why",
)
@pytest.mark.slow
@pytest.mark.parametrize("how", ["destroy", "pause"])
def test_the_life_of_a_task_costs_the_same_among_many(how):
    assert lives(800, how) < 1.5 * lives(200, how)


def finished(many):
    """Tasks are done, one after the other."""
    sim, group, _ = crew(3)
    for _ in range(many):
        group.create_task("fixed").once().start()
    sim.tick(3)
    count = calls_of(lambda: sim.tick(60))
    assert many - len(group.tasks) == 60
    sim.close()
    return count


@pytest.mark.states("001: Issuing tasks: (ours) What a task costs does not depend on how many there are; views say ...")
@pytest.mark.slow
def test_work_costs_the_same_among_many():
    assert finished(1600) < 1.3 * finished(400)
