"""Random streams: literal values, the same on every Python and machine; sound distributions; independence of names."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.kernel.kernel import Kernel
from agentrt.kernel.rng import Stream, derive_seed

SEED = 18337197200114603171  # derive_seed(7, "agent 1")


# --- literal values ---------------------------------------------------------------------------------------------------


def test_bits_are_those_of_the_published_generator():
    stream = Stream(1234567)
    assert [stream.bits() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    stream = Stream(0)
    assert [stream.bits() for _ in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize(
    ("seed", "name", "derived"),
    [
        (0, "", 13470882077621299921),
        (7, "agent 1", SEED),
        ("7", "agent 1", SEED),
        (7, "agent 2", 8496443711275147226),
        ("a:b", "c", 12206659383103451319),
        ("a", "b:c", 515950964947152917),
    ],
)
def test_derived_seeds(seed, name, derived):
    assert derive_seed(seed, name) == derived


@pytest.mark.parametrize(
    ("draw", "values"),
    [
        (lambda s: s.random(), [0.2518958859096556, 0.4448184269850296, 0.18351382316775455]),
        (lambda s: s.uniform(-1, 3), [0.007583543638622459, 0.7792737079401184, -0.2659447073289818]),
        (lambda s: s.below(10), [9, 6, 5, 9, 0, 1, 8, 8, 9, 3, 2, 5]),
        (lambda s: s.between(-2, 2), [2, -1, -2, 2, -2, -1, 1, 1, 2, 1, 0, -2]),
        (lambda s: s.choice("abcd"), list("dcbbcbcaddcb")),
        (lambda s: s.weighted("abc", [1, 0.5, 2.5]), list("bcaabbcccccc")),
    ],
    ids=["random", "uniform", "below", "between", "choice", "weighted"],
)
def test_draws(draw, values):
    stream = Stream(SEED)
    assert [draw(stream) for _ in values] == values


def test_shuffle():
    stream, items = Stream(SEED), list(range(10))
    stream.shuffle(items)
    assert items == [5, 4, 6, 2, 7, 0, 3, 1, 8, 9]
    assert repr(stream) == "<Stream at 0x8e6e173862bcb160>"


def test_weights_are_added_up_one_after_the_other():
    """``sum`` adds floats otherwise from Python 3.12 on, so it must not decide here."""
    seen = []

    class Watched(float):
        def __radd__(self, other):
            seen.append(other)
            return other + float(self)

    Stream(SEED).weighted("abc", [Watched(0.1), Watched(0.2), Watched(0.3)])
    assert seen == [0.0, 0.1, 0.1 + 0.2]


# --- distributions ----------------------------------------------------------------------------------------------------


def chi_square(counts, expected):
    return sum((count - wanted) ** 2 / wanted for count, wanted in zip(counts, expected, strict=True))


@pytest.mark.parametrize("limit", [2, 3, 7, 10])
def test_below_is_even(limit):
    stream, draws = Stream(1), 7000
    counts = [0] * limit
    for _ in range(draws):
        counts[stream.below(limit)] += 1
    assert chi_square(counts, [draws / limit] * limit) < 2.5 * limit + 8


def test_random_is_even_and_uncorrelated():
    stream = Stream(2)
    draws = [stream.random() for _ in range(7000)]
    counts = [0] * 10
    for draw in draws:
        counts[int(draw * 10)] += 1
    assert chi_square(counts, [700] * 10) < 30
    pairs = sum((a - 0.5) * (b - 0.5) for a, b in pairwise(draws)) / len(draws)
    assert abs(pairs * 12) < 0.05


def test_weighted_follows_the_weights():
    stream, draws = Stream(3), 6000
    counts = {"a": 0, "b": 0, "c": 0, "d": 0}
    for _ in range(draws):
        counts[stream.weighted("abcd", [1, 0, 2, 3])] += 1
    assert counts["b"] == 0
    assert chi_square([counts["a"], counts["c"], counts["d"]], [1000, 2000, 3000]) < 15


def test_shuffles_are_even():
    stream, draws = Stream(4), 6000
    counts = {}
    for _ in range(draws):
        items = [0, 1, 2]
        stream.shuffle(items)
        counts[tuple(items)] = counts.get(tuple(items), 0) + 1
    assert len(counts) == 6
    assert chi_square(counts.values(), [1000] * 6) < 20


def test_neighboring_seeds_and_names_give_unrelated_streams():
    firsts = [Kernel(seed=seed).stream(f"agent {agent}").random() for seed in range(30) for agent in range(30)]
    assert len(set(firsts)) == 900
    counts = [0] * 9
    for first in firsts:
        counts[int(first * 9)] += 1
    assert chi_square(counts, [100] * 9) < 28


# --- independence -----------------------------------------------------------------------------------------------------


def test_what_one_stream_draws_does_not_change_another():
    kernel = Kernel(seed=7)
    alone = Kernel(seed=7).stream("agent 1")
    others = [kernel.stream(f"agent {number}") for number in (3, 2)]
    mixed = kernel.stream("agent 1")
    values = []
    for _ in range(10):
        for other in others:
            other.bits()
        values.append(mixed.bits())
    assert values == [alone.bits() for _ in range(10)]


def test_the_same_name_gives_the_same_numbers_again():
    kernel = Kernel(seed="text")
    assert [kernel.stream("x").bits() for _ in range(2)] == [Kernel(seed="text").stream("x").bits()] * 2
    assert kernel.stream("x").bits() != kernel.stream("y").bits()
    assert kernel.stream("x").bits() != Kernel(seed="other").stream("x").bits()


def test_any_text_is_a_name():
    assert len({derive_seed(0, name) for name in ("", "ä", "\ud800", "\\ud800", "\x00", "名")}) == 6


def test_only_the_low_64_bits_of_a_seed_count():
    assert Stream(2**64 + 5).bits() == Stream(5).bits() == Stream(5 - 2**64).bits()


# --- bounds -----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.integers(), st.integers(1, 2**64))
def test_below_stays_below(seed, limit):
    assert 0 <= Stream(seed).below(limit) < limit


@settings(deadline=None, max_examples=50)
@given(st.integers(), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_uniform_stays_between(seed, low, high):
    assert min(low, high) <= Stream(seed).uniform(low, high) <= max(low, high)


@settings(deadline=None, max_examples=50)
@given(st.integers(), st.lists(st.floats(0, 1e300) | st.integers(0, 10), min_size=1, max_size=8))
def test_weighted_never_takes_what_weighs_nothing(seed, weights):
    total = sum(Fraction(weight) for weight in weights)
    if total == 0 or total > 1e300:
        return
    assert weights[Stream(seed).weighted(range(len(weights)), weights)] > 0


@settings(deadline=None, max_examples=50)
@given(st.integers(), st.lists(st.integers(), max_size=20))
def test_shuffle_keeps_the_items(seed, items):
    shuffled = list(items)
    Stream(seed).shuffle(shuffled)
    assert sorted(shuffled) == sorted(items)


def test_random_never_reaches_one():
    class Top(Stream):
        def bits(self):
            return 2**64 - 1

    assert Top(0).random() == 1 - 2**-53
    assert Top(0).weighted("ab", [1, 1]) == "b"


def test_below_draws_again_past_the_last_whole_multiple():
    class Scripted(Stream):
        def bits(self):
            return script.pop(0)

    script = [2**64 - 1, 2**64 - 2, 2**64 - 3]  # 2**64 is one more than a multiple of 3
    assert Scripted(0).below(3) == 2
    assert script == [2**64 - 3]


@pytest.mark.parametrize("limit", [0, -1, 2**64 + 1, 2**70])
def test_below_needs_a_limit_that_it_can_reach(limit):
    with pytest.raises(ValueError, match="greater than 0 and at most"):
        Stream(0).below(limit)


def test_below_of_all_64_bits():
    assert Stream(0).below(2**64) == 0xE220A8397B1DCDAF


@pytest.mark.parametrize(
    ("items", "weights"),
    [
        ("", []),
        ("ab", [1]),
        ("ab", [0, 0]),
        ("ab", [-1, 2]),
        ("ab", [math.nan, 1]),
        ("ab", [math.inf, 1]),
        ("ab", [1e308, 1e308]),
    ],
)
def test_weights_that_do_not_fit(items, weights):
    with pytest.raises(ValueError, match=r"weighted\(\) needs"):
        Stream(0).weighted(items, weights)


def test_choosing_from_nothing():
    with pytest.raises(IndexError, match="at least one item"):
        Stream(0).choice([])
    with pytest.raises(ValueError, match="limit"):
        Stream(0).between(2, 1)


def test_a_stream_goes_on_where_another_one_stood():
    one, other = Stream(7), Stream(0)
    one.bits()
    other.state = one.state
    assert one.state == 0x9E3779B97F4A7C1C
    assert [other.bits() for _ in range(3)] == [one.bits() for _ in range(3)]


@pytest.mark.parametrize("state", [-1, 1 << 64, True, 1.0, "7", None])
def test_a_state_that_is_none_is_refused(state):
    stream = Stream(7)
    with pytest.raises(ValueError, match="it takes a number from 0"):
        stream.state = state
    assert stream.state == 7
