"""Tasks and plans under rough treatment: odd orders, bad input, hooks and callbacks that fail or meddle."""

from __future__ import annotations

import asyncio
import copy

import pytest
from cast import careful

from agentrt import (
    TOP,
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Entity,
    Manifest,
    Registry,
    Runtime,
    Signal,
    park,
    step,
)
from agentrt.errors import ComponentError, DefinitionError, NotRunningError, RebuildError, TaskError, WrongStateError
from agentrt.rebuild import restore_groups, save_groups
from agentrt.tasks import TaskGroup, TaskGroupAction, TaskGroups, declare_multiple_tasks
from agentrt.testing import Simulation


class Dig(Action):
    does = "dig"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Works(TaskGroupAction):
    does = TOP
    utility = 0.5
    tasks = (declare_multiple_tasks("dig", (0.2, 1.0)),)


def crew(sim, *names, actions=(Dig,), group=Works):
    made = TaskGroup(group, name="works")
    for name in names:
        made.add(sim.add(Agent(Entity("dwarf"), name=name, actions=list(actions))))
    return made


def told(task, log):
    task.notify_completed(lambda one: log.append(("completed", one.number)))
    task.notify_interrupted(lambda one: log.append(("interrupted", one.number)))
    return task.notify_destroyed(lambda one: log.append(("destroyed", one.number)))


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()
    assert made.runtime.kernel.live == 0


def faults(sim):
    return [dict(one.detail) for one in sim.trace if one.event.value == "fault"]


# --- limits that change while somebody works --------------------------------------------------------------------------


@pytest.mark.states("001: Issuing tasks: Completed is told once, also after a pause (ours)")
def test_who_finishes_in_the_tick_of_a_pause_completes_the_task(sim):
    class DigAndPause(Dig):
        does = "dig"

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            task.pause()

    log = []
    group = crew(sim, "a", actions=[DigAndPause])
    task = told(group.create_task("dig").once(), log).start()
    sim.tick(4)
    assert (task.state, task.remaining, task.finished) == ("completed", 0, 1)
    assert log == [("completed", 1), ("destroyed", 1)]


def test_fewer_times_than_workers_have_all_stop_and_one_begin_again(sim):
    log = []
    group = crew(sim, "a", "b", "c")
    task = told(group.create_task("dig").times(5), log).start()
    sim.tick()
    assert task.workers == ("a", "b", "c")
    task.pause().times(1).start()
    sim.tick()
    assert log == [("interrupted", 1)] * 3
    sim.tick(10)
    assert (len(task.workers), task.remaining, task.finished) == (0, 0, 1)
    assert log[3:] == [("completed", 1), ("destroyed", 1)]


def test_fewer_workers_than_there_are(sim):
    group = crew(sim, "a", "b", "c")
    task = group.create_task("dig").start()
    sim.tick()
    task.pause().max_workers(1).start()
    sim.tick(3)
    assert len(task.workers) == 1


def test_a_place_is_not_kept_by_a_task_that_lost_while_the_old_plan_cleaned_up(sim):
    """Its place was taken before the unwinding began; then another task of the group became the better one."""
    tuned, pitch = Signal(), {"A": 0.5, "B": 0.4}

    Doze = careful(5, "Doze", does=TOP, utility=0.1)

    class Tune(Action):
        does = "tune"
        utility = (0.0, 1.0)

        class Args(ActionArgs):
            key: str

        async def think(self, ctx, args):
            while True:
                ctx.set_utility(pitch[args.key])
                ctx.set_think_output()
                await tuned.wait()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(50)

    class Band(TaskGroupAction):
        does = TOP
        utility = (0.3, 0.9)
        tasks = (declare_multiple_tasks("tune", (0.0, 1.0)),)

    group = crew(sim, "a", actions=[Doze, Tune], group=Band)
    sim.tick(2)
    first, second = (group.create_task("tune", key=key).once().start() for key in "AB")
    sim.tick()
    assert (len(first.working), len(second.working)) == (1, 0)
    assert "band: ready, utility 0.6: it takes over when the other has stopped" in group.members[0].explain()
    pitch["B"] = 0.9
    sim.runtime.post(tuned.emit)
    sim.tick(10)
    assert (first.working, second.workers) == ([], ("a",))
    group.add(sim.add(Agent(Entity("dwarf"), name="b", actions=[Doze, Tune])))
    sim.tick(10)
    assert first.workers == ("b",)


# --- callbacks --------------------------------------------------------------------------------------------------------


def test_without_a_runtime_all_are_told_even_if_one_raises():
    log = []
    group = TaskGroup(Works)
    tasks = [told(group.create_task("dig").notify_destroyed(lambda _: 1 / 0), log).start() for _ in range(3)]
    with pytest.raises(ExceptionGroup) as raised:
        group.destroy()
    assert [type(one) for one in raised.value.exceptions] == [ZeroDivisionError] * 3
    assert log == [("destroyed", 1), ("destroyed", 2), ("destroyed", 3)]
    assert [task.state for task in tasks] == ["destroyed"] * 3


def test_a_callback_of_a_group_that_is_destroyed_cannot_add_to_it():
    group = TaskGroup(Works)
    made = []
    group.create_task("dig").notify_destroyed(lambda _: made.append(group.create_task("dig"))).start()
    with pytest.raises(WrongStateError, match="is destroyed"):
        group.destroy()
    assert (made, group.tasks) == ([], ())


def test_a_callback_may_destroy_the_group_and_all_that_is_in_it(sim):
    log = []
    group = crew(sim, "a", "b")
    told(group.create_task("dig").once(), log).notify_completed(lambda _: group.destroy()).start()
    other = told(group.create_task("dig"), log).start()
    sim.tick(8)
    assert log == [("completed", 1), ("destroyed", 1), ("interrupted", 2), ("interrupted", 2), ("destroyed", 2)]
    assert (other.units, other.working, group.members, faults(sim)) == ([], [], (), [])


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activity", [5, None, ["dig"]])
def test_an_activity_that_is_no_text(activity):
    with pytest.raises(TaskError, match="is not declared there"):
        TaskGroup(Works).create_task(activity)


def test_arguments_that_are_no_mapping():
    with pytest.raises(TypeError, match=r"create_task\('dig', \[1\]\): the arguments are a mapping"):
        TaskGroup(Works).create_task("dig", [1])


def test_a_callback_that_cannot_be_called():
    with pytest.raises(TypeError, match=r"notify_completed\(None\): it takes a function"):
        TaskGroup(Works).create_task("dig").notify_completed(None)


def test_waiting_in_a_coroutine_that_no_runtime_steps():
    async def main():
        with pytest.raises(NotRunningError, match="only inside an action or another coroutine that a runtime steps"):
            await TaskGroup(Works).create_task("dig").wait()

    asyncio.run(main())


def test_arguments_that_do_not_fit_what_is_learned_later(sim):
    """Nobody could say so when the task was created; the agent learns the rest all the same."""

    class Orders(TaskGroupAction):
        does = TOP
        utility = 0.5
        tasks = (declare_multiple_tasks("brew", 0.5),)

    class Brew(Action):
        does = "brew"
        utility = 1.0

        async def run(self, ctx, args):
            await ctx.sleep(1)

    group = crew(sim, "a", actions=[], group=Orders)
    group.create_task("brew", hops=3).start()
    group.create_task("brew").start()
    sim.tick()
    group.members[0].inject(Brew)
    sim.tick()
    assert [one["hook"] for one in faults(sim)] == ["step 1 (brew)"]
    assert group.members[0].snapshot().running.endswith("TaskAction#2/brew/Brew")


def test_a_task_group_is_not_taught_as_an_action():
    with pytest.raises(DefinitionError, match="Make a TaskGroup of a task group action and add the agent to it"):
        Agent(Entity("dwarf"), actions=[Works])


def test_a_factory_that_returns_no_component():
    registry = Registry([Manifest("t", {"components:nothing": lambda entity: None})])
    with pytest.raises(ComponentError, match="cannot be made: the factory returned None"):
        Agent(Entity("dwarf"), packs=[{"components": ["t:components:nothing"]}], registry=registry)


def test_a_job_that_cannot_be_given_leaves_nothing():
    document = {"task_groups": {f"t:task_groups:{name}": {"does": TOP, "utility": 0.5} for name in ("one", "two")}}
    town = TaskGroups(document)
    agent = Agent(Entity("dwarf"), name="a", actions=[Dig])
    TaskGroup(Works, name="t:task_groups:two").add(agent)
    description = {"abilities": {"injected_ai": {}}, "task_groups": ["t:task_groups:one", "t:task_groups:two"]}
    with pytest.raises(WrongStateError, match="another group called t:task_groups:two"):
        town.employ(agent, description)
    assert [group.members for group in town] == [(), ()]
    assert len(agent.injections) == 1


@pytest.mark.parametrize("utility", [None, [], [0.5], [0.1, 0.2, 0.3], "x", 10**400])
def test_a_saved_extension_with_a_broken_utility(utility):
    group = TaskGroup(Works)
    group.declare_task("brew", 0.5)
    saved = save_groups(group)
    saved["Works"]["extensions"][0][0]["utility"] = utility
    with pytest.raises(RebuildError) as raised:
        restore_groups(TaskGroup(Works), saved, [])
    assert raised.value.pointer.startswith("/Works/extensions/0")


# --- aborts from odd places -------------------------------------------------------------------------------------------


class Sulk(Action):
    """Loses, and aborts when it is told so."""

    does = TOP
    utility = (0.1, 0.9)
    until = 1

    async def think(self, ctx, args):
        ctx.set_think_output()
        await ctx.sleep(100)

    def stop_thinking(self, ctx, args):
        if ctx.clock.tick <= self.until:
            ctx.abort("offended")


class Endless(Action):
    does = TOP
    utility = 0.95

    async def run(self, ctx, args):
        await ctx.sleep(1000)


def test_a_loser_that_aborts_while_the_winner_starts(sim):
    agent = sim.add(Agent(Entity("dwarf"), name="a", actions=[Sulk, Endless]))
    sim.tick(3)
    assert sim.events("abort", "start", "run", "stop") == [
        (1, "a", "agentrt:top/Endless", "start"),
        (1, "a", "agentrt:top/Sulk", "abort"),
        (1, "a", "agentrt:top/Endless", "stop"),
        (2, "a", "agentrt:top/Endless", "start"),
        (2, "a", "agentrt:top/Endless", "run"),
    ]
    sim.runtime.remove(agent)
    sim.tick()
    assert not agent.is_alive


def test_a_loser_that_aborts_between_two_steps(sim):
    class Fade(Action):
        does = "one"
        utility = (0.0, 0.5)

        async def think(self, ctx, args):
            ctx.set_utility(1)
            ctx.set_think_output()

        async def run(self, ctx, args):
            ctx.set_utility(0)
            await ctx.sleep_ticks(1)

    class SulkOne(Sulk):
        does = "one"
        until = 2
        asks = "with each plan"

        async def think(self, ctx, args):
            await ctx.sleep(100)

    class EndlessTwo(Endless):
        does = "two"

    class Both(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("one"), step("two"))

    agent = sim.add(Agent(Entity("dwarf"), name="a", actions=[Both, Fade, SulkOne, EndlessTwo]))
    sim.tick(2)
    assert [one for one in sim.events("abort", "run") if one[0] == 2] == [
        (2, "a", "agentrt:top/Both/one/SulkOne", "abort")
    ]
    sim.tick(3)
    assert agent.snapshot().running == "agentrt:top/Both/two/EndlessTwo"
    sim.runtime.remove(agent)
    sim.tick()
    assert not agent.is_alive


# --- equal runs -------------------------------------------------------------------------------------------------------


def test_what_failed_is_called_by_its_name_and_not_by_its_address(sim):
    def broken():
        raise ValueError("broken")

    sim.runtime.post(broken)
    sim.runtime.kernel.call_soon(broken)
    sim.tick()
    assert [one["text"].partition(": ")[2].rpartition(".")[2] for one in faults(sim)] == ["broken", "broken"]


def test_a_time_limit_ends_at_the_same_moment_on_all_hosts(play, being):
    """The limit counts from the begin of thinking, not from the first step of the coroutine, whose order differs."""
    lines = []

    class Slow(Action):
        does = TOP
        utility = 0.5
        think_timeout = 0.1

        async def think(self, ctx, args):
            await ctx.sleep(100)

    class Watch(Action):
        does = TOP
        utility = 0.2

        async def think(self, ctx, args):
            await ctx.sleep_ticks(3)
            lines.append(f"{ctx.clock.tick} woke")
            await ctx.sleep(100)

    runtime = play.runtime()
    runtime.trace.listen(lambda one: lines.append(f"{one.tick} {one.event}") if one.event == "timeout" else None)
    runtime.add(being([Watch], "a"))
    runtime.add(being([Slow], "b"))
    play.ticks(runtime, 5)
    assert lines == ["4 timeout", "4 woke"]


def test_many_tasks_cost_in_proportion(sim):
    """One more task among many: what is done for each of them is small and done once."""
    group = crew(sim, "a")
    for _ in range(300):
        group.create_task("dig").start()
    sim.tick()
    sim.tick(2)
    group.create_task("dig").start()
    looked = []
    unit_type = next(type(unit) for task in group.tasks for unit in task.units)  # of so many, a few are asked
    original = unit_type.expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_type, "expected", lambda unit: looked.append(unit) or original(unit), raising=False)
        sim.tick()
    assert len(looked) < 30


def test_tasks_that_are_over_are_forgotten(sim):
    group = crew(sim, "a", "b")
    thing = Entity("thing")
    for _ in range(50):
        group.create_task("dig").once().set_source(thing).start()
        sim.tick(6)
    assert (group.tasks, group._tasks, group.specs) == ((), [], ())
    assert sim.runtime.kernel.live <= 2


@pytest.mark.parametrize("method", ["step", "close"])
def test_a_runtime_is_not_driven_from_inside_and_nothing_changes(sim, method):
    told = []

    class Meddle(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                getattr(ctx.agent.runtime, method)()
            except WrongStateError as error:
                told.append(str(error))
            await ctx.sleep(100)

    agent = sim.add(Agent(Entity("dwarf"), name="a", actions=[Meddle]))
    sim.tick(3)
    assert told == [
        f"[ART104] runtime.{method} cannot be called while a tick runs. Call it from outside, where nothing is stepped."
    ]
    assert agent.is_alive


# --- what people are told ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [0, -1, 1.5, True, "x"])
def test_a_budget_that_is_no_number_of_units(units):
    with pytest.raises(ValueError, match="a whole number, at least 1 in each tick"):
        Runtime(think_budget=units)


def test_who_was_too_slow_is_not_said_to_have_found_nothing(sim):
    class Slow(Action):
        does = TOP
        utility = 0.5
        think_timeout = 0.1

        async def think(self, ctx, args):
            await ctx.sleep(100)

    agent = sim.add(Agent(Entity("dwarf"), name="a", actions=[Slow]))
    sim.tick(4)
    assert "slow: not possible now: it was not ready within 0.1 seconds" in agent.explain()


def test_a_group_without_tasks_says_so(sim):
    group = crew(sim, "a")
    sim.tick()
    assert "<tasks of works> thinking: no task is started" in group.members[0].explain()


@pytest.mark.states("001: Tasks: All members of a group act in one runtime (ours)")
def test_the_members_of_a_group_act_in_one_runtime(sim):
    group = crew(sim, "a")
    late = Agent(Entity("dwarf"), name="b", actions=[Dig])
    group.add(late)
    with pytest.raises(WrongStateError, match="runtime.add cannot be called while members of works act in another"):
        Runtime().add(late)
    assert sim.add(late).name == "b"


def test_current_is_not_copied(sim):
    told = []

    class Keeps(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            for way in (copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="CURRENT cannot be copied"):
                    way(ctx.CURRENT)
                told.append(way.__name__)

    sim.add(Agent(Entity("dwarf"), name="a", actions=[Keeps]))
    sim.tick()
    assert told == ["copy", "deepcopy"]


@pytest.mark.parametrize("is_watched", [False, True])
def test_a_ready_task_that_loses_lets_go_of_who_would_do_it(is_watched):
    """Whether anybody watches or not: else its place in the plan would think on, and could not be thought again."""
    seen = []

    class Scrub(Action):
        does = "scrub"
        utility = 0.5

        async def think(self, ctx, args):
            seen.append((ctx.clock.tick, "think"))
            try:
                ctx.set_think_output()
                await park()
            finally:
                seen.append((ctx.clock.tick, "left"))

        async def run(self, ctx, args):
            await ctx.sleep_ticks(30)

    class Scrubbing(TaskGroupAction):
        does = TOP
        utility = 0.5
        tasks = (declare_multiple_tasks("scrub", 0.5),)

    class Doze(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    runtime, faults = Runtime(host="plain"), []
    runtime.on_fault(faults.append)
    if is_watched:
        runtime.trace.listen(lambda _record: None)
    agent = runtime.add(Agent(Entity("dwarf"), actions=[Doze, Scrub]))
    group = TaskGroup(Scrubbing, name="scrubbing")
    group.add(agent)
    for _ in range(2):
        group.create_task("scrub").start()
    for _ in range(6):
        runtime.step()
    assert (faults, seen) == (
        [],
        [(1, "think"), (1, "think"), (1, "left"), (1, "left"), (6, "think"), (6, "think"), (6, "left"), (6, "left")],
    )
    runtime.close()
    runtime.step()
    assert runtime.kernel.live == 0
