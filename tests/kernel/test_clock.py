"""The clock: an integer tick, and durations that are rounded up to whole ticks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.kernel.clock import Clock


@pytest.mark.parametrize(
    ("rate", "seconds", "ticks"),
    [
        (20, 0, 0),
        (20, -5, 0),
        (20, -math.inf, 0),
        (20, 1e-12, 1),
        (20, 5e-324, 1),
        (20, 0.001, 1),
        (20, 0.05, 1),
        (20, 0.051, 2),
        (20, 0.1, 2),
        (20, 0.15, 3),
        (20, 0.3, 6),
        (20, 0.1 + 0.2, 6),
        (20, 0.7, 14),
        (20, 1, 20),
        (20, 3600, 72_000),
        (20, 1_000_000.05, 20_000_001),
        (20, 10_000_000.15, 200_000_003),
        (3, 1 / 3, 1),
        (3, 2 / 3, 2),
        (60, 1 / 60, 1),
        (60, 0.1, 6),
        (1, 0.5, 1),
        (1_000_000, 0.000001, 1),
    ],
)
def test_ticks(rate, seconds, ticks):
    assert Clock(rate).ticks(seconds) == ticks


@pytest.mark.parametrize("seconds", [math.inf, math.nan, 1e308])
def test_durations_that_never_end(seconds):
    with pytest.raises(ValueError, match="never ends: use park"):
        Clock(20).ticks(seconds)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 1_000_000), st.integers(0, 10**9))
def test_a_duration_of_whole_ticks_is_that_many_ticks(rate, ticks):
    clock = Clock(rate)
    assert clock.ticks(ticks / rate) == ticks
    assert clock.ticks(ticks * clock.seconds_per_tick) == ticks


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 1000), st.floats(1e-9, 1e6))
def test_a_duration_is_rounded_up(rate, seconds):
    ticks = Clock(rate).ticks(seconds)
    assert ticks >= 1
    assert ticks / rate >= seconds * (1 - 1e-12) - 1e-9
    assert (ticks - 1) / rate < seconds


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 1000), st.lists(st.floats(0, 1e6), min_size=2, max_size=2))
def test_a_longer_duration_never_takes_fewer_ticks(rate, durations):
    clock = Clock(rate)
    short, long = sorted(durations)
    assert clock.ticks(short) <= clock.ticks(long)


def test_now_does_not_drift():
    clock = Clock(10)
    clock.tick = 3
    assert clock.now == 0.3
    clock.tick = 10**9 + 1
    assert clock.now == 100_000_000.1


@pytest.mark.parametrize("rate", [0, -20, 1_000_001, 20.0, "20", None, True])
def test_the_rate_is_a_whole_number_in_range(rate):
    with pytest.raises(ValueError, match="ticks_per_second is"):
        Clock(rate)


def test_repr():
    clock = Clock(30)
    clock.tick = 12
    assert repr(clock) == "<Clock: tick 12, 30 ticks a second>"


def test_a_clock_can_begin_later():
    clock = Clock(20, 100)
    assert (clock.tick, clock.now, clock.begun) == (100, 5.0, 5.0)


@pytest.mark.parametrize("start", [-1, True, 1.5, "7", None, 1 << 53])
def test_a_start_that_is_no_tick_is_refused(start):
    with pytest.raises(ValueError, match="start_tick is"):
        Clock(20, start)
