"""The parameters of the miner's world: each changes the run, and none of them does at its default."""

from __future__ import annotations

import pytest

from agentrt.errors import ParameterError
from agentrt.testing import TraceDigest
from agentrt.worlds import make_world, measure_world
from agentrt_examples.miner import world
from agentrt_examples.miner.offer import PARAMETERS


def ran(ticks, **params):
    """The digest of a run, and what is measured of it."""
    runtime = make_world(world, seed=0, host="plain", params=params)
    digest = TraceDigest(runtime.trace)
    for _ in range(ticks):
        runtime.step()
    told = digest.hexdigest(), measure_world(world, runtime)
    runtime.close()
    return told


@pytest.mark.slow
def test_all_at_their_defaults_is_the_world_as_ever():
    assert list(PARAMETERS) == ["item", "count", "xray", "shop", "peaceful", "reserve"]
    assert ran(60, **{name: one.default for name, one in PARAMETERS.items()}) == ran(60)


@pytest.mark.slow
def test_what_it_is_asked_for_and_sees_changes_what_it_does():
    assert ran(300)[1] == {
        "outcome": "under way", "had": 0, "ticks": 300, "dug": 6, "crafted": 6, "ate": 0, "killed": 0, "struck": 0,
        "died": 0, "passed": 0, "health": 20, "food": 20, "kinds_carried": 4,
    }  # fmt: skip
    told = ran(300, item="oak_log", count=3)[1]
    assert (told["outcome"], told["had"], told["crafted"]) == ("had", 3, 0)
    assert ran(300, xray=True)[1]["dug"] == 7


@pytest.mark.slow
def test_what_the_world_is_made_with():
    runtime = make_world(world, seed=0, host="plain", params={"shop": True, "peaceful": True, "reserve": 3})
    game = runtime.game
    assert (game.world.server.has_shop, game.world.fauna.is_peaceful, game.miner.reserve) == (True, True, 3)
    runtime.game = None
    with pytest.raises(ValueError, match="this runtime is of another world"):
        measure_world(world, runtime)
    runtime.close()


def test_an_item_that_is_none_is_refused():
    with pytest.raises(ParameterError) as caught:
        make_world(world, seed=0, host="plain", params={"item": "diamnod"})
    assert caught.value.problem == "there is no item 'diamnod'"
    assert caught.value.text.endswith("Did you mean 'diamond' or 'diamond_block'?")
