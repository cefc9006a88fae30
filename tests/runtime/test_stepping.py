"""Driving a runtime by hand: ``step``, which host it takes, and ``close``."""

from __future__ import annotations

import asyncio
import math
import threading

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Action, Runtime, next_tick
from agentrt.errors import MissingExtraError, NotRunningError, WrongStateError
from agentrt.kernel.strand import CancelScope

# --- time -------------------------------------------------------------------------------------------------------------


def test_a_step_without_a_duration_is_one_tick():
    runtime = Runtime()
    assert runtime.step() == 1
    assert runtime.tick == 1
    assert runtime.host == "plain"


def test_a_step_with_a_duration_runs_the_ticks_that_are_full_and_keeps_the_rest():
    runtime = Runtime(ticks_per_second=20)
    assert [runtime.step(dt) for dt in (0.02, 0.02, 0.02, 0.0, 0.3, 0.04)] == [0, 0, 1, 0, 6, 1]
    assert runtime.tick == 8


def test_sixty_frames_a_second_are_twenty_ticks_a_second():
    runtime = Runtime(ticks_per_second=20)
    assert [runtime.step(1 / 60) for _ in range(9)] == [0, 0, 1, 0, 0, 1, 0, 0, 1]
    for _ in range(591):
        runtime.step(1 / 60)
    assert runtime.tick == 200


@given(st.lists(st.floats(0, 0.5), max_size=50), st.integers(1, 200))
def test_steps_lose_no_time(durations, ticks_per_second):
    runtime = Runtime(ticks_per_second=ticks_per_second)
    ran = sum(runtime.step(dt) for dt in durations)
    assert runtime.tick == ran
    assert ran == pytest.approx(sum(durations) * ticks_per_second, abs=1.001)


@pytest.mark.parametrize("dt", [-0.1, math.nan, math.inf])
def test_a_duration_is_a_number_that_is_not_negative(dt):
    runtime = Runtime()
    with pytest.raises(ValueError, match="seconds that is not negative"):
        runtime.step(dt)
    assert runtime.tick == 0


def test_a_tick_cannot_be_stepped_from_inside_a_tick(being, logged):
    class Step(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.agent.runtime.step()

    runtime = Runtime()
    runtime.add(being([Step]))
    runtime.every_tick(runtime.step)
    runtime.step()
    assert runtime.tick == 1
    assert logged()[0] == ("ERROR", logged()[0][1])
    assert "WrongStateError" in logged()[1][1]
    runtime.close()
    assert runtime.agents == ()


# --- hosts ------------------------------------------------------------------------------------------------------------


def test_an_unknown_host_is_an_error():
    with pytest.raises(ValueError, match="choose one of auto, plain, asyncio, trio"):
        Runtime(host="curio")


def test_the_host_is_the_loop_that_runs_when_the_runtime_is_first_driven():
    async def first_driven(runtime):
        assert runtime.host == "auto"
        await runtime.run(1, speed=math.inf)
        return runtime.host

    assert asyncio.run(first_driven(Runtime())) == "asyncio"
    assert trio.run(first_driven, Runtime()) == "trio"
    with pytest.raises(StopIteration, match="plain"):
        first_driven(Runtime()).send(None)


def test_a_runtime_is_stepped_inside_an_asyncio_program(being, actions):
    async def main():
        runtime = Runtime()
        agent = runtime.add(being([actions.Work]))
        for _ in range(4):
            runtime.step()
            await asyncio.sleep(0)
        assert runtime.host == "asyncio"
        await runtime.aclose()
        return agent.entity.diary[:4]

    assert asyncio.run(main()) == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]


def test_a_runtime_on_trio_cannot_be_stepped():
    async def main():
        with pytest.raises(NotRunningError, match="cannot step a tick synchronously"):
            Runtime().step()

    trio.run(main)


def test_a_runtime_that_insists_on_an_event_loop_needs_it():
    runtime = Runtime(host="asyncio")
    with pytest.raises(NotRunningError, match="on the asyncio host, as it was told, but no event loop runs here"):
        runtime.step()
    with pytest.raises(NotRunningError, match="but no event loop runs here"):
        runtime.run().send(None)
    with pytest.raises(NotRunningError, match="on the asyncio host, as it was told, but here runs trio"):
        trio.run(runtime.run)
    with pytest.raises(NotRunningError, match="on the trio host, as it was told, but here runs asyncio"):
        asyncio.run(Runtime(host="trio").run())
    with pytest.raises(NotRunningError, match="on the trio host"):
        Runtime(host="trio").close()


def test_a_runtime_without_a_loop_goes_on_in_any_if_it_was_told_to(being, actions):
    runtime = Runtime(host="plain")
    agent = runtime.add(being([actions.Work]))
    runtime.step()
    asyncio.run(runtime.run(2, speed=math.inf))
    trio.run(lambda: runtime.run(2, speed=math.inf))
    runtime.close()
    assert agent.entity.diary[:4] == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]


def test_the_host_is_not_changed_under_what_lives(being, actions):
    runtime = Runtime()
    agent = runtime.add(being([actions.Forever]))
    runtime.step()
    with pytest.raises(
        NotRunningError, match=r"on the plain host, because it was first driven there, but here runs asyn"
    ):
        asyncio.run(runtime.run(1))
    runtime.remove(agent)
    runtime.step()
    asyncio.run(runtime.run(1, speed=math.inf))
    assert runtime.host == "asyncio"
    runtime.step()
    assert runtime.host == "plain"


def test_a_runtime_goes_on_in_another_asyncio_loop(being, actions):
    runtime = Runtime()
    agent = runtime.add(being([actions.Work]))
    for _ in range(4):
        asyncio.run(runtime.run(1, speed=math.inf))
    asyncio.run(runtime.aclose())
    assert agent.entity.diary[:4] == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]


@pytest.mark.checkout
def test_without_trio_its_host_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "agentrt.kernel.hosts.trio_", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e '.\[trio\]'"):
        Runtime(host="trio")


def test_a_runtime_is_stepped_on_any_thread_in_turn(being, actions):
    runtime = Runtime()
    agent = runtime.add(being([actions.Work]))
    for _ in range(4):
        thread = threading.Thread(target=runtime.step)
        thread.start()
        thread.join()
    runtime.close()
    assert agent.entity.diary[:4] == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]


# --- the end ----------------------------------------------------------------------------------------------------------


def test_closing_gives_clean_up_game_time(being):
    class Tidy(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            finally:
                with CancelScope(shield=True):
                    await ctx.sleep(0.5)
                ctx.entity.diary.append((ctx.clock.tick, "tidy"))

        def stop(self, ctx, args):
            ctx.entity.diary.append((ctx.clock.tick, "stop"))

    runtime = Runtime(ticks_per_second=20)
    agent = runtime.add(being([Tidy]))
    runtime.step()
    runtime.close()
    assert agent.entity.diary == [(12, "tidy"), (12, "stop")]
    assert runtime.kernel.live == 0


def test_closing_kills_what_does_not_end_and_says_where_it_was(being, actions, logged):
    class Stubborn(actions.Work):
        async def run(self, ctx, args):
            with CancelScope(shield=True):
                await ctx.sleep(1000)  # here

    class StubbornThinker(actions.Work):
        utility = 0.9

        async def think(self, ctx, args):
            with CancelScope(shield=True):
                await ctx.sleep(1000)

    async def stubborn_world():
        while True:
            with CancelScope(shield=True):
                await next_tick()

    runtime = Runtime(ticks_per_second=20)
    faults = []
    runtime.on_fault(faults.append)
    agents = [runtime.add(being([Stubborn, StubbornThinker], name)) for name in "ab"]
    runtime.spawn(stubborn_world)
    runtime.step()
    runtime.close()
    assert runtime.agents == ()
    assert runtime.kernel.live == 0
    assert [agent.entity.diary for agent in agents] == [[(1, "start"), (102, "stop")]] * 2
    assert len(faults) == 5
    assert len(logged()) == 4  # the two who think are the same fault


def test_closing_ends_what_comes_while_it_closes(being, actions):
    class Mourned(actions.Work):
        def stop(self, ctx, args):
            super().stop(ctx, args)
            ctx.agent.runtime.add(mourner)
            ctx.agent.runtime.spawn(lament)

    async def lament():
        while True:
            await next_tick()

    mourner = being([actions.Forever], "mourner")
    runtime = Runtime()
    runtime.add(being([Mourned], "mourned"))
    runtime.step()
    runtime.close()
    assert runtime.agents == ()
    assert runtime.kernel.live == 0
    assert mourner.entity.diary == []
    assert mourner.has_ended.is_set


def test_closing_an_empty_runtime_runs_no_tick():
    runtime = Runtime()
    runtime.close()
    runtime.close()
    assert runtime.tick == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_in_an_action_passes_out_of_the_step_and_the_runtime_can_still_be_closed(being, actions, error):
    class Interrupted(actions.Work):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            raise error

    runtime = Runtime()
    interrupted = runtime.add(being([Interrupted], "interrupted"))
    healthy = runtime.add(being([actions.Forever], "healthy"))
    runtime.step()
    runtime.step()
    with pytest.raises(error):
        runtime.step()
    runtime.close()
    assert runtime.agents == ()
    assert runtime.kernel.live == 0
    assert interrupted.entity.diary[-1][1] == "stop"
    assert healthy.entity.diary == [(1, "start"), (1, "run"), (4, "stop")]


def test_a_runtime_is_a_context_manager(play, being, actions):
    async def main():
        async with play.runtime() as runtime:
            agent = runtime.add(being([actions.Forever]))
            await runtime.run(2, speed=math.inf)
        return agent

    agent = play(main)
    assert agent.entity.diary == [(1, "start"), (1, "run"), (3, "stop")]


def test_a_runtime_that_is_driven_is_not_stepped_or_closed(play_loop, being, actions):
    async def main():
        runtime = play_loop.runtime()

        async def meddle():
            await play_loop.sleep(0.1)
            assert runtime.is_driven
            for method, call in [("runtime.step", runtime.step), ("runtime.close", runtime.close)]:
                with pytest.raises(
                    WrongStateError, match=rf"{method} cannot be called while runtime.run\(\) drives it"
                ):
                    call()
            with pytest.raises(WrongStateError, match=r"runtime.aclose cannot be called while"):
                await runtime.aclose()
            with pytest.raises(WrongStateError, match=r"runtime.run cannot be called while it runs already"):
                await runtime.run()
            runtime.stop()

        await play_loop.together(runtime.run, meddle)
        agent = runtime.add(being([actions.Forever]))

        async def meddle_again():
            await play_loop.sleep(0.1)
            with pytest.raises(WrongStateError, match=r"runtime.step cannot be called while agent.run\(\) drives it"):
                runtime.step()
            runtime.stop()

        await play_loop.together(agent.run, meddle_again)

    play_loop(main)


def test_words_for_people(being, actions):
    runtime = Runtime()
    agent = runtime.add(being([actions.Forever]))
    runtime.step()
    assert repr(runtime) == "<Runtime: tick 1, 1 agents, plain host>"
    assert repr(agent) == "<Agent 'being': alive, knows 1 actions>"
    runtime.close()
    assert repr(agent) == "<Agent 'being': not running, knows 1 actions>"


def test_a_runtime_can_begin_after_any_tick():
    runtime = Runtime(host="plain", start_tick=1200)
    ticks = []
    runtime.after_tick(lambda: ticks.append((runtime.tick, runtime.clock.begun)))
    assert (runtime.start_tick, runtime.tick) == (1200, 1200)
    runtime.step(0.1)
    assert ticks == [(1201, 60.05), (1202, 60.1)]
    runtime.close()
