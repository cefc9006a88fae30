"""The pace: when ticks are due, what becomes of those that the machine has no time for. In virtual time, to the exact moment."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.runtime.driving import Pacer

# --- the arithmetic -----------------------------------------------------------------------------------------------------


def times(pacer, start, costs):
    """When ticks begin that cost so much, and how many are left out after each."""
    now, log = start, []
    for cost in costs:
        now += pacer.rest(now)
        began = round(now - start, 6)
        now += cost
        log.append((began, pacer.ticked(now)))
    return log


def test_the_first_tick_is_due_at_once_and_each_a_period_after_the_last():
    assert times(Pacer(0.1, 5, 50.0), 50.0, [0.0, 0.09, 0.0]) == [(0.0, 0), (0.1, 0), (0.2, 0)]


def test_a_late_tick_is_caught_up_without_a_rest():
    log = times(Pacer(0.1, 5, 0.0), 0.0, [0.35, 0.01, 0.01, 0.01, 0.01, 0.01])
    assert log == [(0.0, 0), (0.35, 0), (0.36, 0), (0.37, 0), (0.4, 0), (0.5, 0)]


def test_what_is_beyond_the_bound_is_left_out():
    # After a tick of 2 s fifteen are overdue, and one is due: two are caught up, thirteen left out.
    log = times(Pacer(0.125, 2, 0.0), 0.0, [2.0, 0.0, 0.0, 0.0, 0.0])
    assert log == [(0.0, 13), (2.0, 0), (2.0, 0), (2.0, 0), (2.125, 0)]


def test_without_a_bound_to_catch_up_the_overdue_are_left_out_at_once():
    log = times(Pacer(0.1, 0, 0.0), 0.0, [0.35, 0.0, 0.0])
    assert log == [(0.0, 2), (0.35, 0), (0.4, 0)]


def test_without_a_period_nothing_is_ever_late():
    assert times(Pacer(0.0, 5, 0.0), 0.0, [1.0, 2.0, 0.0]) == [(0.0, 0), (1.0, 0), (3.0, 0)]


@settings(max_examples=40)
@given(
    st.lists(st.floats(0, 3), min_size=1, max_size=40),
    st.floats(0.01, 1),
    st.integers(0, 6),
)
def test_ticks_and_those_left_out_fill_the_time_and_the_pace_is_never_exceeded(costs, period, catch_up):
    pacer = Pacer(period, catch_up, 0.0)
    now, due, left_out = 0.0, 0.0, 0
    for number, cost in enumerate(costs):
        rest = pacer.rest(now)
        assert rest >= 0
        now += rest
        assert now >= due - 1e-6  # never early
        assert now <= due + (catch_up + 1) * period + 1e-6  # never later than the bound, unless the tick itself is
        now += cost
        left_out += pacer.ticked(now)
        due = (number + 1 + left_out) * period
    assert left_out >= 0


# --- a runtime in virtual time ------------------------------------------------------------------------------------------


def clocked(player, runtime, ticks, costs=None):
    """Run ticks; returns the moments of the event loop's clock at which they began, and the whole duration."""
    moments = []

    async def main():
        start = player.now()
        runtime.every_tick(lambda: moments.append(round(player.now() - start, 6)))
        await runtime.run(ticks, blocking_ms=None, **(costs or {}))
        return round(player.now() - start, 6)

    return player(main), moments


def test_ticks_come_at_their_rate(play_loop):
    whole, moments = clocked(play_loop, play_loop.runtime(ticks_per_second=10), 4)
    assert moments == [0.0, 0.1, 0.2, 0.3]
    assert whole == 0.4


def test_the_speed_is_a_factor(play_loop):
    assert clocked(play_loop, play_loop.runtime(ticks_per_second=10), 3, {"speed": 2.0}) == (0.15, [0.0, 0.05, 0.1])
    assert clocked(play_loop, play_loop.runtime(ticks_per_second=10), 3, {"speed": 0.1}) == (3.0, [0.0, 1.0, 2.0])


def test_at_infinite_speed_no_time_passes_but_the_event_loop_works(play_loop):
    runtime = play_loop.runtime()
    turns = []

    async def main():
        start = play_loop.now()

        async def others():
            while len(turns) < 50:
                turns.append(runtime.tick)
                await play_loop.sleep(0)

        async def run():
            await runtime.run(100, speed=math.inf)

        await play_loop.together(run, others)
        assert play_loop.now() == start

    play_loop(main)
    assert runtime.tick == 100
    assert turns[-1] >= 10


@pytest.mark.parametrize("speed", [0, -1, math.nan])
def test_a_speed_is_above_zero(plain, speed):
    with pytest.raises(ValueError, match="speed is"):
        plain(lambda: plain.runtime().run(1, speed=speed))


def test_a_runtime_that_is_late_catches_up_and_counts_what_it_leaves_out(asyncio_player):
    """A tick that takes 1.05 s of the loop's time: ten are overdue, three are caught up."""
    runtime = asyncio_player.runtime(ticks_per_second=10)
    moments = []

    async def main():
        import asyncio

        loop = asyncio.get_running_loop()
        start = loop.now

        def tick():
            moments.append(round(loop.now - start, 6))
            if runtime.tick == 2:
                loop.now += 1.05

        runtime.every_tick(tick)
        await runtime.run(7, catch_up=3)

    asyncio_player(main)
    assert moments == [0.0, 0.1, 1.15, 1.15, 1.15, 1.15, 1.2]
    assert runtime.late_ticks == 6
    assert runtime.tick == 7


def test_a_runtime_runs_again_where_it_stopped(play, being, actions):
    runtime = play.runtime()
    agent = runtime.add(being([actions.Work]))

    async def main():
        for ticks in (1, 0, 2, 1):
            await runtime.run(ticks, speed=math.inf)
        await runtime.aclose()

    play(main)
    assert agent.entity.diary[:4] == [(1, "start"), (1, "run"), (4, "done"), (4, "stop")]
    assert runtime.tick == 5


def test_a_runtime_without_event_loop_is_paced_by_real_time(plain, monkeypatch):
    runtime = plain.runtime(ticks_per_second=10)
    clock = [100.0]
    rests = []

    def sleep(seconds):
        rests.append(round(seconds, 6))
        clock[0] += seconds

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", sleep)
    runtime.every_tick(lambda: clock.__setitem__(0, clock[0] + 0.03))
    plain(lambda: runtime.run(3, blocking_ms=None))
    assert rests == [0.07, 0.07, 0.07]


def test_a_runtime_that_was_told_to_be_plain_lets_the_event_loop_work_between_its_ticks(player_for):
    player = player_for("asyncio")
    runtime = player.runtime(host="plain", ticks_per_second=10)
    log = []

    async def main():
        async def others():
            for _ in range(3):
                log.append(("loop", round(player.now() - start, 6)))
                await player.sleep(0.1)

        start = player.now()
        runtime.every_tick(lambda: log.append(("tick", round(player.now() - start, 6))))
        await player.together(lambda: runtime.run(3), others)

    player(main)
    assert sorted(log, key=lambda entry: entry[1]) == log
    assert sorted(what for what, _ in log) == ["loop"] * 3 + ["tick"] * 3


# --- the budget ---------------------------------------------------------------------------------------------------------


def test_a_long_tick_lets_the_event_loop_work_when_its_budget_is_used_up(play_loop, being, actions):
    runtime = play_loop.runtime()
    turns, seen = [], []

    async def main():
        for number in range(400):
            runtime.add(being([actions.Work], f"being {number}"))

        async def others():
            while not seen:
                turns.append((runtime.tick, runtime.kernel.in_tick))
                await play_loop.sleep(0)

        async def run():
            await runtime.run(1, speed=math.inf, budget_ms=0.01)
            seen.append(sum(1 for agent in runtime.agents if agent.entity.diary[-1] == (1, "run")))

        await play_loop.together(others, run)
        await runtime.aclose()

    play_loop(main)
    assert (1, True) in turns
    assert seen == [400]


def test_a_budget_changes_nothing_but_the_turns(play_loop, being, actions):
    def digest(**options):
        from agentrt.kernel.trace import TraceDigest

        runtime = play_loop.runtime(seed=3)
        trace = TraceDigest(runtime.trace)
        for number in range(20):
            runtime.add(being([actions.Work], f"being {number}"))

        async def main():
            await runtime.run(20, speed=math.inf, **options)
            await runtime.aclose()

        play_loop(main)
        return trace.hexdigest()

    assert digest() == digest(budget_ms=0.001)
