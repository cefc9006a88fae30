"""Why an action is not possible now: in its view and in the explanation, and forgotten when it thinks again."""

from __future__ import annotations

import pytest

from agentrt import Action, ActionArgs, CompoundAction, Entity, step
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_task


def unit(view, name):
    for one in view.units:
        if one.action == name:
            return one
        for frame in one.frames:
            found = unit(frame, name)
            if found is not None:
                return found
    return None


def reason(agent, name):
    found = unit(agent.snapshot().plan, name)
    return found.state, found.reason


def never(name, think, **body):
    return type(name, (Action,), {"does": "top", "utility": 0.9, "think": think, **body})


async def rejects(self, ctx, args):
    ctx.reject("not an animal")


async def raises(self, ctx, args):
    raise LookupError("no such animal")


async def finds_nothing(self, ctx, args):
    pass


def test_each_way_of_not_being_possible(play, idle):
    class Callback(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.listen(ctx.signals["bell"], lambda _: 1 / 0)
            await ctx.signals["horn"].wait()

    class Rebels(Action):
        does = "top"
        utility = 0.8

        def start(self, ctx, args):
            ctx.reject("not today")

    agent = play.add(
        never("Rejects", rejects),
        never("Raises", raises),
        never("Nothing", finds_nothing),
        Callback,
        Rebels,
        idle,
    )
    play.tick(1)
    agent.signal("bell").emit()
    play.tick(1)
    assert reason(agent, "Rejects") == ("impossible", "rejected: not an animal")
    assert reason(agent, "Raises") == ("impossible", "think raised LookupError: no such animal")
    assert reason(agent, "Nothing") == ("impossible", "it ended thinking without an output")
    assert reason(agent, "Callback") == ("impossible", "a callback raised ZeroDivisionError: division by zero")
    assert reason(agent, "Rebels") == ("impossible", "it refused to be started: not today")
    assert reason(agent, "Idle") == ("running", "")
    assert agent.explain() == (
        "a at tick 2: top/Idle\n"
        "  <top> running\n"
        "      rejects: not possible now: rejected: not an animal\n"
        "      raises: not possible now: think raised LookupError: no such animal\n"
        "      nothing: not possible now: it ended thinking without an output\n"
        "      callback: not possible now: a callback raised ZeroDivisionError: division by zero\n"
        "      rebels: not possible now: it refused to be started: not today; it is asked again in tick 3, 1 tick from "
        "now\n"
        "    * idle: running, utility 0.01, since tick 2, waits until tick 20002"
    )
    assert len(play.faults()) == 2


def test_a_destroyed_entity(play, idle):
    cow = Entity("cow", name="bess")

    class Paint(Action):
        does = "paint"
        utility = 0.5

        class Args(ActionArgs):
            subject: Entity

        async def think(self, ctx, args):
            await ctx.sleep(100)

    plan = type("P", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": [step("paint", subject=cow)]})
    agent = play.add(plan, Paint, idle)
    play.tick(1)
    cow.destroy()
    play.tick(1)
    assert reason(agent, "Paint") == ("impossible", "rejected: the entity bess was destroyed")


def test_a_filter_that_forbids_and_one_that_allows(play):
    class Wood(Action):
        does = "top"
        utility = 0.5
        allows = True

        def should_start_thinking(self, ctx, args):
            return Wood.allows

    class Build(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    agent = play.add(Wood, Build)
    play.tick(1)
    assert reason(agent, "Wood") == ("impossible", "it only forbids or allows")
    Wood.allows = False
    play.tick(1)
    assert reason(agent, "Wood") == ("idle", "it forbids the activity")
    assert reason(agent, "Build") == ("idle", "")
    assert agent.explain() == (
        "a at tick 2: runs nothing\n  <top> thinking\n      wood: idle: it forbids the activity\n      build: idle"
    )


def test_it_is_forgotten_when_the_branch_thinks_again(play):
    class Moody(Action):
        does = "top"
        utility = 0.9
        mood = "raises"

        async def think(self, ctx, args):
            if Moody.mood == "raises":
                raise LookupError("oh")
            if Moody.mood == "ready":
                await ctx.sleep(100)

    class Tick(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    agent = play.add(Moody, Tick)
    play.tick(1)
    assert reason(agent, "Moody") == ("impossible", "think raised LookupError: oh")
    Moody.mood = "nothing"
    play.tick(1)
    assert reason(agent, "Moody") == ("impossible", "it ended thinking without an output")
    Moody.mood = "ready"
    play.tick(1)
    assert reason(agent, "Moody") == ("thinking", "")
    play.faults()


def test_who_only_finds_nothing_owns_nothing_for_it(play, idle):
    """Reasons are kept with the rare possessions of an action; most actions have none."""
    agent = play.add(never("Nothing", finds_nothing), never("Rejects", rejects), idle)
    play.tick(1)
    assert [one.extras for one in agent.planner.execution.root.units] == [None, None, None]


@pytest.mark.states("001: Executing plans: Groups and tasks stand in it like actions", source="Overview, inspector")
def test_groups_and_tasks_are_places_and_actions_like_others(play):
    class Chores(TaskGroupAction):
        does = "top"
        utility = (0.0, 0.3)
        status_text_key = "status.chores"
        tasks = (declare_task("sweep", 0.6), declare_multiple_tasks("eat", (0.4, 1.0)))

    class Sweep(Action):
        does = "sweep"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep(10)

    class Eat(Action):
        does = "eat"
        utility = 0.7

        class Args(ActionArgs):
            what: str

        async def think(self, ctx, args):
            if args.what == "a stone":
                ctx.reject("nobody eats stones")
            ctx.set_think_output()

        async def run(self, ctx, args):
            ctx.set_status_text_key("status.eating", what=args.what)
            await ctx.sleep(10)

    group = TaskGroup(Chores)
    agents = [play.add(Sweep, Eat, name=name) for name in ("ada", "bob")]
    for agent in agents:
        group.add(agent)
    group.create_task("eat", what="bread").max_workers(1).set_annotation("supper").start()
    group.create_task("eat", what="a stone").start()
    group.create_task("sweep").start()
    play.tick(2)
    ada, bob = agents
    assert [agent.status_text for agent in agents] == ["status.eating (what: bread)", "status.chores"]
    assert ada.explain().splitlines()[1:7] == [
        "  <top> running",
        "    * chores: running, utility 0.246, since tick 1",
        "        <tasks of Chores> running",
        "          * task 1: eat (what: bread): running, utility 0.82 (supper), since tick 1",
        "              <eat> running",
        "                * eat: running, utility 0.7, since tick 1, waits until tick 201",
    ]
    assert bob.explain().splitlines()[1:] == [
        "  <top> running",
        "    * chores: running, utility 0.18, since tick 1",
        "        <tasks of Chores> running",
        "            task 1: eat (what: bread): not ready since tick 1: all its places are taken (supper)",
        "            task 2: eat (what: a stone): not ready since tick 2; it is asked again in tick 3, 1 tick from now",
        "              <eat> thinking",
        "                  eat: not possible now: rejected: nobody eats stones",
        "          * task 3: sweep: running, utility 0.6, since tick 1",
        "              <sweep> running",
        "                * sweep: running, utility 0.5, since tick 1, waits until tick 201",
    ]
