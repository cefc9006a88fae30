"""A name is given once in the life of a runtime, however many agents come and go, and that costs next to nothing."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import Agent, Entity, Runtime
from agentrt.errors import RebuildError, WrongStateError
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


@given(st.lists(st.tuples(WANTED, st.booleans()), max_size=40), st.lists(WANTED, max_size=20), st.integers(1, 60))
def test_a_book_that_was_saved_goes_on_like_the_one_that_was_not(before, after, most):
    names, restored = Names(most), Names(most)
    for name, returns in before:
        (names.take if returns else names.give)(name)
    restored.restore(json.loads(json.dumps(names.save())))
    assert [restored.give(name) for name in after] == [names.give(name) for name in after]
    assert restored.save() == names.save()


def test_who_returns_is_called_as_before_and_nobody_else_is():
    names = Names()
    assert [names.take("a0"), names.give("a0"), names.take("a0 2"), names.take("a0"), names.give("a0")] == [
        "a0", "a0 2", "a0 2", "a0", "a0 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "saved",
    [
        None,
        {},
        {"hashes": "x", "runs": {}, "highest": 1},
        {"hashes": [2, 1], "runs": {}, "highest": 1},
        {"hashes": [-1], "runs": {}, "highest": 1},
        {"hashes": [1 << 64], "runs": {}, "highest": 1},
        {"hashes": [], "runs": {"a": [[5], [4]]}, "highest": 1},
        {"hashes": [], "runs": {"a": [[1, 2], [3, 4]]}, "highest": 1},
        {"hashes": [], "runs": {"a": [[1], []]}, "highest": 1},
        {"hashes": [], "runs": [], "highest": 1},
        {"hashes": [], "runs": {}, "highest": 0},
        {"hashes": [], "runs": {}, "highest": True},
    ],
)
def test_what_is_no_saved_book_is_refused_and_changes_nothing(saved):
    names = Names()
    names.give("a")
    with pytest.raises(RebuildError) as caught:
        names.restore(saved)
    assert str(caught.value) == "[ART207] the saved names: this is nothing that Names.save gave."
    assert names.give("a") == "a 2"


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


def test_an_agent_that_returns_has_its_name_again():
    runtime = Runtime(3, host="plain")
    first = runtime.add(Agent(Entity("mouse", name="a0")))
    with pytest.raises(WrongStateError, match="another agent is called 'a0'"):
        runtime.add(Agent(Entity("mouse", name="a0")), returns=True)
    runtime.remove(first)
    runtime.step()
    assert runtime.add(Agent(Entity("mouse", name="a0")), returns=True).name == "a0"
    second = runtime.add(Agent(Entity("mouse", name="a0")))
    assert second.name == "a0 2"
    runtime.remove(second)
    runtime.step()
    assert runtime.add(second, returns=True).name == "a0 2"  # the same object, as it was called here
    runtime.close()


def test_a_runtime_that_is_given_its_book_gives_no_name_of_before():
    before = runtime_of("wolf", "wolf")
    after = Runtime(3, host="plain")
    after.names.restore(before.names.save())
    names = [
        after.add(Agent(Entity("mouse", name=name)), returns=known).name
        for name, known in (("wolf", True), ("wolf", False), ("hare", False))
    ]
    assert names == ["wolf", "wolf 3", "hare"]
    before.close()
    after.close()
