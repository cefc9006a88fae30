"""A name is given once in the life of a runtime, however many agents come and go, and that costs next to nothing."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import Agent, Entity, Runtime
from agentrt.runtime.names import Names

WANTED = st.one_of(
    st.sampled_from(
        ["a", "a 2", "a 3", "a 2 2", "", " ", "2", "a 02", "a-7", "a-8", "a-9", "a-11", "7", "a 999999999999999"]
    ),
    st.sampled_from(["a 1000000000000000", "a 99999999999999999999", "a\u0662", "\ud800", "a " + "9" * 5000]),
    st.text(alphabet="a 0129", max_size=6),
)


def given_before(wanted):
    """How it is meant: everything is remembered, and the least number that makes it new."""
    taken = set()
    for name in wanted:
        number, told = 2, name
        while told in taken:
            told, number = f"{name} {number}", number + 1
        taken.add(told)
        yield told


@given(st.lists(st.text(alphabet="a 129", max_size=4), max_size=60))
def test_the_least_number_that_makes_it_new(wanted):
    names = Names()
    assert [names.give(name) for name in wanted] == list(given_before(wanted))


@pytest.mark.states(
    "tools: Outside: A name is given once, however many agents come and go, and remembering that is bounded",
    source="design 2 (ours)",
)
@pytest.mark.slow
@given(st.lists(WANTED, max_size=80), st.integers(1, 30))
def test_never_twice_however_little_is_remembered(wanted, most):
    for names in (Names(), Names(most)):
        told = [names.give(name) for name in wanted]
        assert len(set(told)) == len(told)
        assert all(one == name or one.startswith(f"{name} ") for one, name in zip(told, wanted, strict=True))
        again = Names() if names._most > 30 else Names(most)
        assert [again.give(name) for name in wanted] == told


def test_runs_grow_together():
    names = Names()
    for number in (1, 9, 3, 5, 4, 2, 7, 8, 6):
        assert names.give(f"orc-{number}") == f"orc-{number}"
    assert names.give("orc-5") == "orc-5 2"
    assert len(names._runs["orc-"][0]) == 1
    assert [names.give("elf") for _ in range(4)] == ["elf", "elf 2", "elf 3", "elf 4"]


def test_two_names_of_one_hash_cost_a_number_and_nothing_else(monkeypatch):
    monkeypatch.setattr("agentrt.runtime.names._hash", lambda name: len(name))
    names = Names()
    assert [names.give(name) for name in ("aa", "bb", "ccc", "dddd")] == ["aa", "bb 2", "ccc", "dddd 2"]


@pytest.mark.states("tools: Outside: A name is given once, however many agents come and go, and remembering that ...")
@pytest.mark.slow
def test_a_hundred_thousand_that_come_and_go():
    names = Names()
    tracemalloc.start()
    try:
        for number in range(20_000):
            names.give(f"orc-{number}")
            names.give("wolf")
        assert tracemalloc.get_traced_memory()[0] < 5_000
        before = tracemalloc.get_traced_memory()[0]
        for number in range(20_000):
            names.give(f"player {number * 7919 % 20011:x}x")
        assert (tracemalloc.get_traced_memory()[0] - before) / 20_000 < 12
    finally:
        tracemalloc.stop()


def runtime_of(*names):
    runtime = Runtime(3, host="plain")
    for name in names:
        runtime.remove(runtime.add(Agent(Entity("human"), name=name)))
        runtime.step()
        runtime.step()
    assert runtime.agents == ()
    return runtime


def test_a_number_that_somebody_had_by_name_is_not_given_again():
    runtime = runtime_of("wolf", "wolf 2")
    late = [runtime.add(Agent(Entity("wolf"), name="wolf")).name for _ in range(2)]
    assert late == ["wolf 3", "wolf 4"]
    runtime.close()


def test_nobody_goes_on_with_the_random_numbers_of_another():
    runtime = Runtime(3, host="plain")
    drawn = set()
    for _ in range(60):
        agent = runtime.add(Agent(Entity("wolf"), name="wolf"))
        drawn.add(agent.random.bits())
        runtime.remove(agent)
        runtime.step()
        runtime.step()
    assert len(drawn) == 60
    runtime.close()
