"""``ctx.call``: functions that run outside the game, and whose results come in at a tick's intake."""

from __future__ import annotations

import asyncio
import functools
import math
import threading

import pytest
import trio

from agentrt import TOP, Action
from agentrt.errors import ForeignAwaitError


@pytest.fixture
def caller(play, being):
    """Runs one action that calls a function, to its end; returns what came of it."""

    def call(fn, *args):
        came = {}

        class Call(Action):
            does = TOP
            utility = 0.5

            async def run(self, ctx, args_):
                runtime = ctx.agent.runtime
                came["called"] = ctx.clock.tick
                try:
                    came["value"] = await ctx.call(fn, *args)
                except Exception as error:
                    came["error"] = error
                came["back"] = ctx.clock.tick
                came["in tick"] = runtime.kernel.in_tick
                came["thread"] = threading.current_thread()
                runtime.stop()
                await ctx.sleep_ticks(1000)

        runtime = play.runtime()
        runtime.add(being([Call]))
        play(lambda: runtime.run(speed=math.inf if play.host == "plain" else 1.0))
        return came

    return call


def double(number):
    return 2 * number


async def double_async(number):
    return 2 * number


class AsyncCallable:
    async def __call__(self, number):
        return 2 * number


def fails(number):
    raise ValueError(f"no {number}")


async def fails_async(number):
    raise ValueError(f"no {number}")


@pytest.mark.parametrize(
    "fn", [double, functools.partial(double), lambda number: 2 * number], ids=["def", "partial", "lambda"]
)
def test_the_result_of_a_plain_function_comes_in_at_an_intake(caller, fn):
    came = caller(fn, 21)
    assert came["value"] == 42
    assert came["back"] > came["called"]
    assert came["in tick"]
    assert came["thread"] is threading.main_thread()


def test_a_plain_function_runs_in_a_thread_of_its_own_where_there_is_an_event_loop(caller, play):
    thread = caller(threading.current_thread)["value"]
    assert (thread is threading.main_thread()) == (play.host == "plain")


def test_without_an_event_loop_the_result_comes_in_the_next_tick(caller, play):
    if play.host == "plain":
        came = caller(double, 1)
        assert (came["called"], came["back"]) == (1, 2)


@pytest.mark.parametrize(
    "fn",
    [
        double_async,
        functools.partial(double_async),
        functools.partial(functools.partial(double_async)),
        AsyncCallable(),
        lambda number: double_async(number),
    ],
    ids=["async def", "partial", "partial of partial", "object", "lambda"],
)
def test_a_coroutine_function_runs_on_the_event_loop(caller, play, fn):
    came = caller(fn, 21)
    if play.host != "plain":
        assert came["value"] == 42
        assert came["back"] > came["called"]
        return
    error = came["error"]
    assert isinstance(error, ForeignAwaitError)
    assert error.code == "ART301"
    assert "on the plain host, where no event loop runs it" in error.text
    assert "'await runtime.run()' under asyncio or trio" in error.text
    assert came["back"] == came["called"]


def test_what_a_function_raises_is_raised_where_it_is_awaited(caller, play):
    came = caller(fails, 7)
    assert repr(came["error"]) == "ValueError('no 7')"
    assert came["back"] > came["called"]
    if play.host != "plain":
        assert repr(caller(fails_async, 7)["error"]) == "ValueError('no 7')"


def test_a_class_is_a_plain_function(caller):
    assert caller(dict, [("a", 1)])["value"] == {"a": 1}


def test_what_is_no_exception_is_delivered_too(caller, play):
    class Strange(BaseException):
        pass

    def raises():
        raise Strange

    if play.host != "plain":
        assert "was ended by Strange()" in str(caller(raises)["error"])


def test_a_call_that_somebody_else_cancels_does_not_wait_for_ever(play_loop, being):
    async def cancels_itself():
        if play_loop.host == "trio":
            with trio.CancelScope() as scope:
                scope.cancel()
                await trio.sleep(1)
            return "trio's own scopes end where they began"
        asyncio.current_task().cancel()
        await asyncio.sleep(1)
        return "never reached"

    came = []

    class Call(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                came.append(await ctx.call(cancels_itself))
            except Exception as error:
                came.append(type(error).__name__)
            ctx.agent.runtime.stop()
            await ctx.sleep_ticks(1000)

    runtime = play_loop.runtime()
    runtime.add(being([Call]))
    play_loop(runtime.run)
    assert came == [{"asyncio": "RunFault", "trio": "trio's own scopes end where they began"}[play_loop.host]]


def test_other_strands_go_on_and_results_come_in_their_own_order(play_loop, being, actions):
    log = []

    async def later(seconds):
        await play_loop.sleep(seconds)
        return seconds

    def caller(seconds):
        class Call(Action):
            does = TOP
            utility = 0.5

            async def run(self, ctx, args):
                if ctx.entity.diary:
                    await ctx.sleep_ticks(1000)
                ctx.entity.diary.append(0)
                log.append((await ctx.call(later, seconds), ctx.clock.tick))

        return Call

    runtime = play_loop.runtime(ticks_per_second=10)
    for seconds in (0.33, 0.11, 0.22, 0.11):
        runtime.add(being([caller(seconds)], f"after {seconds}"))
    worker = runtime.add(being([actions.Work], "worker"))

    async def main():
        await runtime.run(6)
        await runtime.aclose()

    play_loop(main)
    assert log == [(0.11, 3), (0.11, 3), (0.22, 4), (0.33, 5)]
    assert worker.entity.diary[:4] == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]


def test_a_call_whose_strand_is_cancelled_is_cancelled_and_waited_for_at_the_end(play_loop, being):
    log = []

    async def slow():
        try:
            await play_loop.sleep(100)
        finally:
            log.append("cancelled")
            if play_loop.host == "asyncio":
                await asyncio.sleep(0.5)
            log.append("cleaned up")

    class Call(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.call(slow)
            finally:
                log.append("strand")

    runtime = play_loop.runtime()
    runtime.add(being([Call]))
    assert play_loop(lambda: play_loop.cancel_after(0.12, runtime.run))
    assert log == ["strand", "cancelled", "cleaned up"]


def test_the_result_of_a_thread_that_nobody_waits_for_is_dropped(play_loop, being):
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def slow():
        began.set()
        may_end.wait()
        ended.set()
        return "too late"

    class Call(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.call(slow)

        def stop(self, ctx, args):
            may_end.set()

    runtime = play_loop.runtime()
    runtime.every_tick(lambda: runtime.tick == 2 and began.wait(10))  # a thread that did not begin is never run
    runtime.add(being([Call]))
    assert play_loop(lambda: play_loop.cancel_after(0.12, runtime.run))
    assert ended.wait(10)


def test_a_coroutine_of_the_world_calls_too(play):
    runtime = play.runtime()
    got = []

    async def census():
        got.append(await runtime.call(double, 21))
        runtime.stop()

    runtime.spawn(census)
    play(lambda: runtime.run(speed=math.inf if play.host == "plain" else 1.0))
    assert got == [42]
