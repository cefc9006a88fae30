"""Tasks on every host: one story with one literal trace, and workers that wait for the event loop when they are stopped."""

from __future__ import annotations

from agentrt import (
    TOP,
    Action,
    CancelScope,
    TaskGroup,
    TaskGroupAction,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)


class Dig(Action):
    """Cleans up for two ticks when it is stopped."""

    does = "t:dig"
    utility = (0.0, 1.0)

    async def think(self, ctx, args):
        ctx.set_utility(0.5)
        await ctx.sleep_ticks(1)
        ctx.set_think_output()

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(4)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(2)


class Guard(Action):
    does = "t:guard"
    utility = 1.0

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Stroll(Action):
    does = "t:stroll"
    utility = 1.0

    async def run(self, ctx, args):
        await ctx.sleep_ticks(50)


class Town(TaskGroupAction):
    does = TOP
    utility = (0.2, 0.8)
    tasks = (
        declare_multiple_tasks("t:dig", (0.2, 0.6)),
        declare_task("t:guard", 0.9),
        declare_permanent_task("t:stroll", {}, 0.1),
    )


def story(play, being):
    """What was traced, without thinking."""
    runtime = play.runtime(seed=3)
    lines = []
    quiet = {"think", "stop_thinking", "ready", "unready", "elect", "utility", "start", "finish", "complete"}
    runtime.trace.listen(lambda one: None if one.event in quiet else lines.append(one.line()))
    town = TaskGroup(Town, name="town")
    ann, ben = (being([Dig, Guard, Stroll], name) for name in ("ann", "ben"))
    for agent in (ann, ben):
        runtime.add(agent)
        town.add(agent)

    def tell(what):
        return lambda task: lines.append(f"{runtime.tick} task {task.number} is {what}")

    def create(activity, **options):
        task = town.create_task(activity)
        task.notify_completed(tell("completed")).notify_interrupted(tell("interrupted"))
        task.notify_destroyed(tell("destroyed"))
        for name, value in options.items():
            getattr(task, name)(value)
        return task.start()

    def at(tick, fn, *args, **options):
        runtime.kernel.call_later(tick, lambda: fn(*args, **options))

    at(2, create, "t:dig", times=1)
    at(4, create, "t:guard", max_workers=1)
    at(9, lambda: town.tasks[-1].destroy())
    at(12, runtime.remove, ann)
    play.ticks(runtime, 15)
    town.destroy()
    return lines


TRACE = """\
1 ann added
1 ben added
1 ann agentrt:top/town run
1 ann agentrt:top/town/tasks/TaskAction#1 run
1 ann agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll run
1 ben agentrt:top/town run
1 ben agentrt:top/town/tasks/TaskAction#1 run
1 ben agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll run
2 town task what='created' task=2 activity='t:dig'
2 town task what='started' task=2 activity='t:dig'
4 town task what='created' task=3 activity='t:guard'
4 town task what='started' task=3 activity='t:guard'
4 ann agentrt:top/town/tasks/TaskAction#1 preempt by='TaskAction#2' utility=0.4 against=0.1
4 ben agentrt:top/town/tasks/TaskAction#2 full
4 ann agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll stop
4 ann agentrt:top/town/tasks/TaskAction#1 stop
4 ann town task what='interrupted' task=1 activity='t:stroll'
4 ann agentrt:top/town/tasks/TaskAction#2 run
4 ann agentrt:top/town/tasks/TaskAction#2/t:dig/Dig run
5 ann agentrt:top/town/tasks/TaskAction#2 preempt by='TaskAction#3' utility=0.9 against=0.4
5 ben agentrt:top/town/tasks/TaskAction#3 full
7 ann agentrt:top/town/tasks/TaskAction#2/t:dig/Dig stop
7 ann agentrt:top/town/tasks/TaskAction#2 stop
7 ann town task what='interrupted' task=2 activity='t:dig'
7 ann agentrt:top/town/tasks/TaskAction#3 run
7 ann agentrt:top/town/tasks/TaskAction#3/t:guard/Guard run
7 task 2 is interrupted
8 ben agentrt:top/town/tasks/TaskAction#1 preempt by='TaskAction#2' utility=0.4 against=0.1
8 ben agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll stop
8 ben agentrt:top/town/tasks/TaskAction#1 stop
8 ben town task what='interrupted' task=1 activity='t:stroll'
8 ben agentrt:top/town/tasks/TaskAction#2 run
8 ben agentrt:top/town/tasks/TaskAction#2/t:dig/Dig run
9 town task what='destroyed' task=3 activity='t:guard'
10 ann agentrt:top/town/tasks/TaskAction#3 abort reason='task 3: t:guard was taken back'
10 ann agentrt:top/town/tasks/TaskAction#3/t:guard/Guard stop
10 ann agentrt:top/town/tasks/TaskAction#3 stop
10 ann town task what='interrupted' task=3 activity='t:guard'
10 ann agentrt:top/town stop
10 task 3 is interrupted
10 task 3 is destroyed
11 ann agentrt:top/town run
11 ann agentrt:top/town/tasks/TaskAction#1 run
11 ann agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll run
13 ann agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll stop
13 ann agentrt:top/town/tasks/TaskAction#1 stop
13 ann town task what='interrupted' task=1 activity='t:stroll'
13 ann agentrt:top/town stop
13 ann removed
14 ben town task what='finished' task=2 activity='t:dig'
14 town task what='completed' task=2 activity='t:dig'
14 ben agentrt:top/town/tasks/TaskAction#2/t:dig/Dig stop
14 ben agentrt:top/town/tasks/TaskAction#2 stop
14 ben agentrt:top/town stop
14 ben agentrt:top/town run
14 ben agentrt:top/town/tasks/TaskAction#1 run
14 ben agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll run
14 task 2 is completed
14 task 2 is destroyed
16 ben agentrt:top/town/tasks/TaskAction#1/t:stroll/Stroll stop
16 ben agentrt:top/town/tasks/TaskAction#1 stop
16 ben town task what='interrupted' task=1 activity='t:stroll'
16 ben agentrt:top/town stop
16 ben removed
"""


def test_one_story_one_trace(play, being):
    assert story(play, being) == TRACE.splitlines()


def test_a_worker_that_waits_for_the_event_loop_is_stopped_by_a_pause(play_loop, being):
    told = []

    class Fetch(Action):
        does = "t:guard"
        utility = 1.0

        async def run(self, ctx, args):
            try:
                await play_loop.sleep(1000)
            finally:
                told.append((ctx.clock.tick, "run ends"))

        def stop(self, ctx, args):
            told.append((ctx.clock.tick, "stop"))

    async def main():
        runtime = play_loop.runtime()
        town = TaskGroup(Town, name="town")
        town.add(runtime.add(being([Fetch], "ann")))
        task = town.create_task("t:guard").notify_interrupted(lambda _task: told.append((runtime.tick, "interrupted")))
        task.start()
        runtime.kernel.call_later(3, task.pause)
        await runtime.run(5)
        await runtime.aclose()

    play_loop(main)
    assert told == [(4, "run ends"), (4, "stop"), (4, "interrupted")]


def test_waiting_for_a_task_in_a_coroutine_of_the_host(play_loop, being):
    """``wait`` is for coroutines that the runtime steps; those may wait for the host as well."""
    told = []

    async def watch(runtime, task):
        told.append((await task.wait(), runtime.tick))
        await play_loop.sleep(0.01)
        told.append("slept")

    async def main():
        runtime = play_loop.runtime()
        town = TaskGroup(Town, name="town")
        town.add(runtime.add(being([Guard], "ann")))
        task = town.create_task("t:guard").once().start()
        runtime.spawn(watch, runtime, task)
        await runtime.run(6)
        await runtime.aclose()

    play_loop(main)
    assert told == [(True, 4), "slept"]
