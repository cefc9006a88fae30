"""How a run ends: told to stop, or cancelled. Every ``stop`` hook runs, clean-up is waited for, nothing is left.

That nothing is left (strands, tasks of the event loop, calls, warnings) is checked after each test by its player.
"""

from __future__ import annotations

import asyncio
import gc
import math
import threading
import weakref

import pytest

from agentrt import TOP, Action, Agent, CancelScope, CompoundAction, Entity, step
from agentrt.errors import RunFault

# --- stop ---------------------------------------------------------------------------------------------------------------


def test_a_runtime_is_stopped_from_inside_a_tick(play, being, actions):
    runtime = play.runtime()
    agents = [runtime.add(being([actions.Forever], name)) for name in "ab"]
    runtime.every_tick(lambda: runtime.tick == 3 and runtime.stop())
    play(lambda: runtime.run(speed=math.inf))
    assert [agent.entity.diary for agent in agents] == [[(1, "start"), (1, "run"), (4, "stop")]] * 2
    assert runtime.tick == 4


def test_a_runtime_is_stopped_from_another_task(play_loop, being, actions):
    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(being([actions.Forever]))

    async def stop():
        await play_loop.sleep(0.25)
        runtime.stop()

    play_loop(lambda: play_loop.together(runtime.run, stop))
    assert agent.entity.diary == [(1, "start"), (1, "run"), (4, "stop")]


def test_a_runtime_is_stopped_from_another_thread(play_loop, being, actions):
    runtime = play_loop.runtime()
    agent = runtime.add(being([actions.Forever]))
    started = threading.Event()

    def stop():
        started.wait()
        runtime.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    runtime.after_tick(started.set)
    play_loop(lambda: runtime.run(speed=math.inf, blocking_ms=None))
    thread.join()
    assert agent.entity.diary[-1][1] == "stop"


@pytest.mark.states("tools: Faults: Who swallows a cancellation gets it again at the next wait, of the event loop ...")
@pytest.mark.parametrize("swallowed", [1, 2])
def test_an_action_that_swallows_its_cancellation_ends_at_its_next_wait(play_loop, swallowed):
    """A wait of the event loop, that is; one that cleans up is left alone."""
    log = []

    class Stubborn(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            for _ in range(swallowed):
                try:
                    await play_loop.sleep(1000)
                except BaseException:
                    log.append((ctx.clock.tick, "swallowed"))
            await play_loop.sleep(1000)
            log.append((ctx.clock.tick, "not reached"))

        def stop(self, ctx, args):
            log.append((ctx.clock.tick, "stop"))

    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(Agent(Entity("a"), actions=[Stubborn]))
    runtime.every_tick(lambda: runtime.tick == 3 and runtime.remove(agent))
    play_loop(agent.run)
    assert log[:swallowed] == [(4, "swallowed")] * swallowed
    assert log[swallowed:] == [(log[-1][0], "stop")]
    assert log[-1][0] in (4, 5)


def test_a_stop_that_comes_before_the_run_is_not_lost(play_loop, being, actions):
    runtime = play_loop.runtime()
    agent = runtime.add(being([actions.Forever]))

    async def main():
        runtime.stop()
        await runtime.run()
        assert not agent.is_alive
        runtime.add(being([actions.Forever]))
        await runtime.run(2, speed=math.inf)  # that was for the run before
        await runtime.aclose()

    play_loop(main)
    assert runtime.tick == 4


# --- cancellation -------------------------------------------------------------------------------------------------------


class Nested(CompoundAction):
    """A compound whose second step runs when the cancellation comes; that one executes an activity."""

    does = TOP
    utility = 0.6
    steps = [step("t:first"), step("t:second")]

    def start(self, ctx, args):
        note(ctx, "compound starts")

    def stop(self, ctx, args):
        note(ctx, "compound stops")


class First(Action):
    does = "t:first"
    utility = 0.5

    def start(self, ctx, args):
        note(ctx, "first starts")

    def stop(self, ctx, args):
        note(ctx, "first stops")


class Second(Action):
    does = "t:second"
    utility = 0.5

    def start(self, ctx, args):
        note(ctx, "second starts")

    async def run(self, ctx, args):
        try:
            await ctx.execute("t:inner")
        finally:
            note(ctx, "second cleans up")

    def stop(self, ctx, args):
        note(ctx, "second stops")


class Inner(Action):
    does = "t:inner"
    utility = 0.5

    async def run(self, ctx, args):
        try:
            await ctx.sleep(1000)
        finally:
            note(ctx, "inner cleans up")
            with CancelScope(shield=True):
                await ctx.sleep(0.1)
            note(ctx, "inner has cleaned up")

    def stop(self, ctx, args):
        note(ctx, "inner stops")


class Thinker(Action):
    does = TOP
    utility = 0.9

    async def think(self, ctx, args):
        try:
            await ctx.sleep(1000)
        finally:
            note(ctx, "thinker cleans up")
            with CancelScope(shield=True):
                await ctx.sleep(0.2)
            note(ctx, "thinker has cleaned up")

    def stop_thinking(self, ctx, args):
        note(ctx, "thinker stops thinking")


def note(ctx, words):
    ctx.entity.diary.append((ctx.clock.tick, words))


NESTED = [Nested, First, Second, Inner, Thinker]
WHOLE = [
    (1, "compound starts"),
    (1, "first starts"),
    (1, "second starts"),
    (4, "inner cleans up"),
    (6, "inner has cleaned up"),
    (6, "inner stops"),
    (6, "second cleans up"),
    (6, "first stops"),
    (6, "second stops"),
    (6, "compound stops"),
    (6, "thinker stops thinking"),
    (6, "thinker cleans up"),
    (10, "thinker has cleaned up"),
]


def test_when_a_run_is_cancelled_everything_is_unwound_first(play_loop, being, actions):
    runtime = play_loop.runtime(ticks_per_second=20)
    log = []
    agents = [being(NESTED, "nested"), being([actions.Forever], "other")]
    for agent in agents:
        agent.entity.diary = log if agent.name == "nested" else agent.entity.diary
        runtime.add(agent)
    assert play_loop(lambda: play_loop.cancel_after(0.12, runtime.run))
    assert log == WHOLE
    assert agents[1].entity.diary == [(1, "start"), (1, "run"), (4, "stop")]
    gone = [weakref.ref(agent) for agent in agents]
    del agent, agents
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_when_an_agent_that_runs_alone_is_cancelled_everything_is_unwound_first(play_loop, being):
    agent = being(NESTED)
    assert play_loop(lambda: play_loop.cancel_after(0.12, agent.run))  # noqa: F821 - it runs before the del
    assert agent.entity.diary == WHOLE
    assert not agent.is_alive
    gone = weakref.ref(agent)
    del agent
    gc.collect()
    assert gone() is None


def test_clean_up_that_awaits_the_event_loop_is_waited_for(asyncio_player, being):
    class Connected(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await asyncio.sleep(1000)
            finally:
                note(ctx, "closing")
                await asyncio.sleep(0.3)
                await ctx.entity.farewell
                await asyncio.sleep(0.3)
                note(ctx, "closed")

        def stop(self, ctx, args):
            note(ctx, "stop")

    class Thinks(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(0.5)
                note(ctx, "thought")

    async def main():
        loop = asyncio.get_running_loop()
        agent = being([Connected, Thinks])
        agent.entity.farewell = loop.create_future()
        loop.call_later(0.7, agent.entity.farewell.set_result, None)
        start = loop.time()
        assert await asyncio_player.cancel_after(0.12, agent.run)
        assert 0.9 < loop.time() - start < 1.5
        return [words for _, words in agent.entity.diary]

    assert asyncio_player(main) == ["closing", "closed", "stop", "thought"]


def test_clean_up_that_never_ends_is_killed_after_the_time_of_grace(play_loop, being, logged):
    class Hangs(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.sleep(1000)
            finally:
                with CancelScope(shield=True):
                    await play_loop.sleep(1000)

        def stop(self, ctx, args):
            note(ctx, "stop")

    runtime = play_loop.runtime()
    agent = runtime.add(being([Hangs]))

    async def main():
        start = play_loop.now()
        assert await play_loop.cancel_after(0.1, runtime.run)
        return play_loop.now() - start

    assert play_loop(main) == pytest.approx(5.1, abs=0.2)
    assert "RunFault" in str(logged())
    assert agent.entity.diary[-1][1] == "stop"


def test_a_second_cancellation_during_the_clean_up_kills_what_is_left(asyncio_player, being, logged):
    class Hangs(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(1000)

        def stop(self, ctx, args):
            note(ctx, "stop")

    async def main():
        loop = asyncio.get_running_loop()
        runtime = asyncio_player.runtime()
        agent = runtime.add(being([Hangs]))
        task = loop.create_task(runtime.run())
        start = loop.time()
        loop.call_later(0.1, task.cancel)
        loop.call_later(1.1, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert loop.time() - start == pytest.approx(1.1)
        return agent.entity.diary[-1][1]

    assert asyncio_player(main) == "stop"
    assert "RunFault" in str(logged())


def test_a_run_that_is_cancelled_in_the_middle_of_a_tick_finishes_the_tick(play_loop, being, actions):
    runtime = play_loop.runtime()

    async def main():
        for number in range(300):
            runtime.add(being([actions.Forever], f"being {number}"))
        agents = runtime.agents
        budget = {"speed": math.inf, "budget_ms": 0.001}
        done = []

        async def run():
            try:
                await runtime.run(**budget)
            finally:
                done.append(runtime.tick)

        if play_loop.host == "trio":
            import trio

            with trio.CancelScope() as scope:
                runtime.kernel.every_tick(lambda: runtime.tick == 2 and scope.cancel())
                await run()
        else:
            task = asyncio.get_running_loop().create_task(run())
            runtime.kernel.every_tick(lambda: runtime.tick == 2 and task.cancel())
            with pytest.raises(asyncio.CancelledError):
                await task
        assert done == [3]
        assert all(agent.entity.diary == [(1, "start"), (1, "run"), (3, "stop")] for agent in agents)

    play_loop(main)


def test_a_run_that_is_cancelled_before_it_began_runs_nothing(play_loop, being, actions):
    runtime = play_loop.runtime()
    agent = runtime.add(being([actions.Forever]))

    async def main():
        assert await play_loop.cancel_after(0, runtime.run)

    play_loop(main)
    assert agent.runtime is None or agent.entity.diary == []
    if agent.runtime is not None:  # asyncio cancels a task before its first step
        play_loop(runtime.aclose)


@pytest.mark.parametrize("what", ["runtime", "agent"])
def test_a_run_whose_coroutine_is_thrown_away_raises_no_second_error(asyncio_player, being, actions, what):
    runtime = asyncio_player.runtime()
    agent = runtime.add(being([actions.Forever]))

    async def main():
        coro = runtime.run() if what == "runtime" else agent.run()
        coro.send(None)
        coro.send(None)  # it rests after its first tick
        assert runtime.is_driven
        coro.close()
        assert not runtime.is_driven
        await runtime.aclose()
        return agent.entity.diary[-1][1]

    assert asyncio_player(main) == "stop"


def test_a_strand_that_interrupts_the_program_ends_the_run(player_for, being, actions):
    class Interrupts(actions.Work):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            raise SystemExit(3)

    player = player_for("asyncio")
    runtime = player.runtime()
    agents = [runtime.add(being([actions.Forever], "a")), runtime.add(being([Interrupts], "b"))]

    async def main():
        with pytest.raises(SystemExit):
            await runtime.run(speed=math.inf)

    player(main)
    assert [agent.entity.diary[-1][1] for agent in agents] == ["stop", "stop"]
    player.check()


def test_entities_may_be_destroyed_while_the_runtime_is_closed(play, being, actions):
    class Guard(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep(100)

        def stop(self, ctx, args):
            ctx.entity.destroy()

    runtime = play.runtime()
    agent = runtime.add(Agent(Entity("guard"), actions=[Guard]))
    play.ticks(runtime, 2)
    assert agent.entity.is_destroyed


def test_a_killed_coroutine_is_told_so(plain, being, actions):
    seen = []

    class Stubborn(actions.Work):
        async def run(self, ctx, args):
            try:
                with CancelScope(shield=True):
                    await ctx.sleep(1000)
            except RunFault as error:
                seen.append(error.text)
                raise

    runtime = plain.runtime()
    runtime.add(being([Stubborn]))
    plain.ticks(runtime, 1)
    assert seen[0].startswith("did not end within its time when the runtime was closed; it was killed (at stubborn (")
