"""Wait times: exact where it matters, bounded in memory, and added up in any order."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.body.budget import WaitTimes


def of(*waits):
    times = WaitTimes()
    for ticks in waits:
        times.add(ticks)
    return times


def test_nothing_was_waited_for_yet():
    times = WaitTimes()
    assert (times.count, times.total, times.longest, times.mean, times.quantile(0.5)) == (0, 0, 0, 0.0, 0)
    assert times.as_json() == {
        "count": 0,
        "total": 0,
        "mean": 0.0,
        "p50": 0,
        "p90": 0,
        "p99": 0,
        "longest": 0,
        "buckets": [],
    }


def test_the_figures():
    times = of(0, 0, 3, 5, 100)
    assert (times.count, times.total, times.longest, times.mean) == (5, 108, 100, 21.6)
    assert [times.quantile(q) for q in (0, 0.4, 0.5, 0.8, 0.81, 1)] == [0, 0, 3, 5, 100, 100]
    assert repr(times) == "<WaitTimes: 5 waits, 21.6 ticks on average, 100 the longest>"


def test_it_is_plain_data():
    data = of(0, 2, 2, 1000).as_json()
    assert json.loads(json.dumps(data)) == data
    assert data == {
        "count": 4,
        "total": 1004,
        "mean": 251.0,
        "p50": 2,
        "p90": 1000,
        "p99": 1000,
        "longest": 1000,
        "buckets": [[0, 1], [2, 2], [1000, 1]],
    }


def test_what_cannot_be_is_an_error():
    with pytest.raises(ValueError, match="a wait of -1 ticks: it cannot be negative"):
        of(-1)
    with pytest.raises(ValueError, match=r"quantile\(1\.5\): it takes a share from 0 to 1"):
        of(1).quantile(1.5)


def test_there_is_an_end_to_the_buckets():
    times = of(*(2**power + extra for power in range(60) for extra in range(0, 2**power, max(1, 2**power // 32))))
    assert len(times._buckets) <= 960
    assert times.quantile(1) == times.longest


waits = st.lists(st.integers(0, 100) | st.integers(0, 2**30), min_size=1, max_size=60)


@settings(max_examples=40)
@given(waits, st.floats(0, 1))
def test_a_quantile_is_exact_up_to_63_and_a_little_too_high_above(values, q):
    exact = sorted(values)[max(0, -int(-(q * len(values)) // 1) - 1)]
    found = of(*values).quantile(q)
    assert exact <= found <= exact + exact // 32
    if exact < 64:
        assert found == exact
