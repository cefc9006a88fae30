"""Properties of tasks and groups: random crews, whose tasks are created, started, paused and destroyed, whose members come
and go, and whose actions take time, are interrupted, aborted, rejected and refuse.

Whatever happens: the trace of each member fulfills the invariants of a plan; what a task tells comes in order and as often
as it should; nobody works on what is not to be done, and never more than there may be; nothing is left when all is over.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from cast import Risky, silence  # noqa: F401 - silence is a fixture
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Action, Agent, CompoundAction, Entity, step
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_permanent_task, declare_task
from agentrt.testing import Simulation, check_trace

pytestmark = pytest.mark.usefixtures("silence")

TICKS = 50


class Dig(Risky):
    does = "dig"


class Scrape(Action):
    does = "dig"
    utility = 0.3

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Carry(Action):
    does = "carry"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(5))


class Haul(CompoundAction):
    does = "haul"
    utility = 0.6
    steps = (step("carry"), step("work"), step("carry"))


class Stroll(Action):
    does = "top"
    utility = (0.0, 0.7)

    async def think(self, ctx, args):
        ctx.set_utility(ctx.random.below(5) / 4)
        await ctx.sleep_ticks(ctx.random.below(6))
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1 + ctx.random.below(4))


class Deep(CompoundAction):
    does = "top"
    utility = (0.0, 0.5)
    steps = (step("work"), step("carry"))

    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        return child_utilities["work"]


class Town(TaskGroupAction):
    does = "top"
    utility = (0.1, 0.8)
    tasks = (declare_multiple_tasks("dig", (0.2, 0.9)), declare_task("carry", 0.5), declare_multiple_tasks("haul", 0.4))


class Gang(TaskGroupAction):
    does = "work"
    utility = (0.2, 0.6)
    tasks = (declare_multiple_tasks("dig", 0.5), declare_permanent_task("carry", {}, (0.0, 0.3)))

    def compose_utility(self, entity, task_utility):
        return 1.0 - task_utility


ACTIONS = (Dig, Scrape, Carry, Haul, Stroll, Deep)


class World:
    """A crew and its groups, driven by a seeded generator; it checks what must hold after each tick."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.sim = Simulation(seed)
        self.agents = [
            Agent(Entity("human"), name="abcd"[number], actions=self.random.sample(ACTIONS, 5), top="top")
            for number in range(self.random.randint(1, 4))
        ]
        self.groups = [TaskGroup(Town, name="town"), TaskGroup(Gang, name="gang"), TaskGroup(Town, name="party")]
        self.tasks = []
        self.told = {}
        self.extensions = []
        for agent in self.agents:
            if self.random.random() < 0.7:
                self.sim.add(agent)
            for group in self.groups:
                if self.random.random() < 0.6:
                    group.add(agent)

    def run(self):
        for _ in range(TICKS):
            for _ in range(self.random.choice([0, 0, 1, 1, 2])):
                self.do(self.random.choice(self.OPS))
            self.sim.tick()
            self.check()

    def close(self):
        self.sim.close()
        self.sim.runtime.kernel.drain()
        for _ in range(10):
            if not self.sim.runtime.kernel.live:
                break
            self.sim.runtime.step()

    OPS = ("create", "create", "create", "start", "start", "pause", "destroy", "join", "leave", "add", "remove", "extend", "revoke")  # fmt: skip

    def do(self, what):
        random = self.random
        group = random.choice(self.groups)
        agent = random.choice(self.agents)
        open_tasks = [task for task in self.tasks if not task.is_over]
        if what == "create":
            activity = random.choice([one.activity for one in group.declarations])
            taken = any(task.activity == activity for task in group.tasks)
            declaration = next(one for one in group.declarations if one.activity == activity)
            if declaration.is_multiple or not taken:
                self.create(group, activity)
        elif what in ("start", "pause", "destroy") and open_tasks:
            getattr(random.choice(open_tasks), what)()
        elif what == "join":
            if not any(other.name == group.name for other in agent.task_groups):
                group.add(agent)
        elif what == "leave":
            group.remove(agent)
        elif what == "add" and agent.runtime is None:
            self.sim.add(agent)
        elif what == "remove" and random.random() < 0.3:
            self.sim.runtime.remove(agent)
        elif what == "extend" and not group.extensions and group.action is Town:
            self.extensions.append(group.declare_multiple_tasks("work", (0.1, 0.9)))
        elif what == "revoke" and self.extensions:
            self.extensions.pop().revoke()

    def create(self, group, activity):
        random = self.random
        task = group.create_task(activity)
        if random.random() < 0.6:
            task.times(random.randint(1, 3))
        if random.random() < 0.5:
            task.max_workers(random.randint(1, 2))
        told = self.told[task] = []
        task.notify_completed(lambda _task: told.append("completed"))
        task.notify_interrupted(lambda _task: told.append("interrupted"))
        task.notify_destroyed(lambda _task: told.append("destroyed"))
        if random.random() < 0.8:
            task.start()
        self.tasks.append(task)

    def check(self):
        for task in self.tasks:
            limits = [limit for limit in (task.worker_limit, task.remaining) if limit is not None and not task.is_over]
            if limits:
                assert len(task.working) <= min(limits), task
            told = self.told[task]
            assert told.count("completed") == (task.state == "completed"), task
            assert "destroyed" not in told[:-1], told
            if told and told[-1] == "destroyed":
                assert task.is_over
                assert not task.working

    def settle(self):
        """Everybody leaves, everything is destroyed."""
        for group in self.groups:
            group.destroy()
        self.sim.tick(5)
        self.check()


seeds = st.integers(0, 10**9)


def faults(world):
    return [one for one in world.sim.trace if one.event.value == "fault"]


@pytest.mark.slow
@given(seeds)
@settings(max_examples=100, deadline=None)
def test_every_crew_is_sound(seed):
    world = World(seed)
    world.run()
    world.settle()
    for task in world.tasks:
        assert world.told[task][-1:] == ["destroyed"], task
        assert task.units == [], task
        if task.state == "completed":
            assert task.remaining == 0
    world.close()
    assert world.sim.runtime.kernel.live == 0
    assert faults(world) == []
    for agent in world.agents:
        assert [str(one) for one in check_trace(world.sim.trace, agent.name)] == []
        if agent.planner is not None:
            assert agent.planner.group_places == ()
            assert agent.planner.busy_frames == 0


@pytest.mark.slow
@given(seeds)
@settings(max_examples=60, deadline=None)
def test_work_that_began_was_finished_or_interrupted(seed):
    """For each task: whoever began finished it, was interrupted, was refused in the same moment, or still works."""
    world = World(seed)
    world.run()
    world.settle()
    world.close()
    began, ended = Counter(), Counter()
    for one in world.sim.trace:
        label = one.path.rpartition("/")[2]
        if label.startswith("TaskAction#"):
            group = one.path.split("/")[-3]
            if one.event.value == "run":
                began[group, int(label[11:])] += 1
        elif one.event.value == "task":
            detail = dict(one.detail)
            if detail["what"] == "finished":
                ended[one.path, detail["task"]] += 1
    for task in world.tasks:
        key = task.group.name, task.number
        told = world.told[task].count("interrupted")
        assert task.finished == ended[key]
        assert began[key] <= task.finished + told, task


@pytest.mark.slow
@given(seeds)
@settings(max_examples=25, deadline=None)
def test_the_same_seed_gives_the_same_run(seed):
    first, second = World(seed), World(seed)
    for world in (first, second):
        world.run()
        world.close()
    assert first.sim.trace == second.sim.trace
