"""Several waits, and tasks of the event loop, in actions on every host: whoever ends takes along what belongs to it."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from agentrt import TOP, Action, Agent, CancelScope, Entity, next_tick
from agentrt.kernel.strand import current_strand


class Count(Action):
    """Takes some ticks."""

    does = "count"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


def agent_of(body, *actions, name="ann"):
    """An agent that does one thing, and notes what became of it."""

    class Do(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                note(ctx, await body(ctx))
                await ctx.sleep(1000)
            except BaseException:
                note(ctx, "cancelled")
                raise

        def stop(self, ctx, args):
            note(ctx, "stop")

    return Agent(Entity(name, diary := []), name=name, actions=[Do, *actions]), diary


def note(ctx, what):
    ctx.entity[list].append((ctx.clock.tick, what))


async def branch(ctx, name, ticks, leave=0):
    try:
        await ctx.sleep_ticks(ticks)
        return name
    finally:
        if leave:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(leave)
        note(ctx, f"{name} ends")


async def plain_function(value):
    return value


def test_calls_activities_and_waits_together(play):
    async def body(ctx):
        which, _ = await ctx.first(branch(ctx, "a", 99), ctx.execute("count"))
        name, _ = await ctx.all(branch(ctx, "b", 2), ctx.agent.perform("count"))
        return which, name

    agent, diary = agent_of(body, Count)
    runtime = play.runtime()
    runtime.add(agent)
    play.ticks(runtime, 9)
    assert diary == [(4, "a ends"), (6, "b ends"), (7, (1, "b")), (10, "cancelled"), (10, "stop")]


def test_a_call_is_one_of_several(play_loop):
    async def body(ctx):
        return await ctx.all(ctx.call(plain_function, 7), branch(ctx, "a", 1))

    async def main():
        agent, diary = agent_of(body)
        runtime = play_loop.runtime()
        runtime.add(agent)
        await runtime.run(5, speed=float("inf"), blocking_ms=None)
        await runtime.aclose()
        return [what for _, what in diary]

    assert play_loop(main) == ["a ends", [7, "a"], "cancelled", "stop"]


@pytest.mark.parametrize("way", ["group", "forgotten"])
def test_a_runtime_that_is_closed_ends_the_tasks_of_an_action_before_its_stop(play_loop, way):
    async def body(ctx):
        note(ctx, current_strand().root.name)
        if way == "group" or play_loop.host == "trio":
            async with anyio.create_task_group() as group:
                group.start_soon(branch, ctx, "a", 99)
                group.start_soon(branch, ctx, "b", 99)
        else:
            tasks.append(asyncio.create_task(branch(ctx, "a", 99)))
            tasks.append(asyncio.create_task(branch(ctx, "b", 99)))
            await ctx.sleep(1000)

    tasks = []

    async def main():
        agent, diary = agent_of(body)
        runtime = play_loop.runtime()
        runtime.add(agent)
        await runtime.run(3, speed=float("inf"), blocking_ms=None)
        await runtime.aclose()
        assert runtime.kernel.live == 0
        return [what for _, what in diary]

    ends = play_loop(main)
    assert ends[0] == "do"
    assert sorted(ends[1:4]) == sorted(["a ends", "b ends", "cancelled"])
    assert ends[4:] == ["stop"]


def test_what_an_action_forgets_is_a_fault_of_its_runtime(asyncio_player):
    async def body(ctx):
        asyncio.get_running_loop().create_task(branch(ctx, "a", 99), name="a")
        await ctx.next_tick()

    class Forget(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await body(ctx)

    async def main():
        faults = []
        runtime = asyncio_player.runtime()
        runtime.on_fault(lambda fault: faults.append((fault.tick, str(fault.error)[:62])))
        runtime.add(Agent(Entity("ann", diary := []), actions=[Forget]))
        await runtime.run(2, speed=float("inf"), blocking_ms=None)
        await runtime.aclose()
        return diary[:1], faults[:1]

    diary, faults = asyncio_player(main)
    assert diary == [(2, "a ends")]
    assert faults == [(2, "[ART314] ended before tasks that it had made: a. They waited f")]


def test_an_activity_may_be_executed_in_a_task_of_the_action(play_loop):
    async def body(ctx):
        found = []

        async def child():
            found.append(await ctx.execute("count") is not None)
            await next_tick()

        async with anyio.create_task_group() as group:
            group.start_soon(child)
        return found

    async def main():
        agent, diary = agent_of(body, Count)
        runtime = play_loop.runtime()
        runtime.add(agent)
        await runtime.run(9, speed=float("inf"), blocking_ms=None)
        await runtime.aclose()
        return diary[0]

    assert play_loop(main) == (5, [True])


def test_a_task_that_was_made_outside_is_told_what_to_do(play_loop):
    async def body(ctx):
        contexts.append(ctx)
        await ctx.sleep(1000)

    contexts = []

    async def outside(told):
        with pytest.raises(RuntimeError if play_loop.host == "asyncio" else Exception, match="ART105"):
            await contexts[0].signals["bell"].wait()
        with pytest.raises(Exception, match="ART105"):
            await contexts[0].sleep(1)
        told.append(True)

    async def main():
        agent, _ = agent_of(body)
        runtime = play_loop.runtime()
        runtime.add(agent)
        await runtime.run(2, speed=float("inf"), blocking_ms=None)
        told = []
        async with anyio.create_task_group() as group:
            group.start_soon(outside, told)
        await runtime.aclose()
        return told

    assert play_loop(main) == [True]
