"""An agent with a seed of its own draws the same numbers wherever it lives, whatever it is called."""

from __future__ import annotations

import pytest

from agentrt import Agent, Entity, Runtime
from agentrt.errors import NotRunningError


def drawn(runtime_seed, **options):
    agent = Runtime(runtime_seed).add(Agent(Entity("human"), **options))
    return [agent.random.below(1000) for _ in range(5)]


def test_a_seed_of_its_own():
    own = drawn(1, name="ada", seed=7)
    assert own == drawn(2, name="bob", seed=7)
    assert own != drawn(1, name="ada", seed=8)
    assert own != drawn(1, name="ada")
    assert drawn(1, name="ada", seed=0) == drawn(9, seed=0)


def test_without_one_the_runtimes_seed_and_the_name_decide():
    assert drawn(1, name="ada") == drawn(1, name="ada")
    assert len({tuple(drawn(1, name="ada")), tuple(drawn(1, name="bob")), tuple(drawn(2, name="ada"))}) == 3


def test_it_begins_anew_in_each_runtime():
    agent = Agent(Entity("human"), seed=7)
    with pytest.raises(NotRunningError):
        agent.random  # noqa: B018
    assert drawn(1, seed=7) == drawn(2, seed=7)
