"""The edge of the world, and what strategies may look at."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentrt_examples.miner.strategies as strategies
from agentrt.strategy import StrategyContext
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.strategies.needs import Collect, Survive
from agentrt_miner_shop.buying import Prices
from tests.miner.conftest import GROUND, Flat

WIDTH, HEIGHT, DEPTH = 128, 64, 128
CORNERS = [(6, 6), (6, DEPTH - 7), (WIDTH - 7, 6), (WIDTH - 7, DEPTH - 7)]


@pytest.mark.parametrize(("x", "z"), CORNERS)
def test_no_way_leads_beyond_the_edge(flat, x, z):
    flat.miner.move_to((x, GROUND, z))
    for beyond in (-8, -1, 0, WIDTH - 1, WIDTH, WIDTH + 9):
        for goal in ((beyond, GROUND, z), (x, GROUND, beyond), (x, beyond if beyond < 1 else HEIGHT, z)):
            assert flat.miner.way_to(goal) is None
    ((fault, _),) = flat.do(lambda: flat.miner.go((-3, GROUND, z)))
    assert isinstance(fault, CannotAct)
    assert (fault.reason, flat.miner.place) == ("way", (x, GROUND, z))


@pytest.mark.parametrize(("x", "z"), CORNERS)
def test_traveling_ends_at_the_edge(flat, x, z):
    flat.miner.move_to((x, GROUND, z))
    flat.do(lambda: flat.miner.travel(x - 12 if x < 60 else x + 12, z))
    assert 4 <= flat.miner.place[0] < WIDTH - 4
    assert flat.miner.dimension.can_stand(flat.miner.place)


@pytest.mark.states("003: The miner: (ours) No way and no flight leads beyond the edge of the world ...")
@pytest.mark.parametrize(("x", "z"), CORNERS)
def test_running_away_stays_in_the_world(flat, x, z):
    flat.miner.move_to((x, GROUND, z))
    inward = (x + 2 if x < 60 else x - 2, GROUND, z)
    zombie = flat.world.fauna.add("zombie", flat.miner.dimension, inward)
    flat.miner.vitals.health = 2
    flat.do(lambda: flat.agent.gameplay.run_away(zombie))
    assert flat.miner.dimension.can_stand(flat.miner.place)
    assert flat.agent.gameplay.offers(Survive(zombie))


@pytest.mark.states("003: The miner: (ours) No way and no flight leads beyond the edge of the world", source="-")
@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.tuples(st.integers(-20, 150), st.integers(-20, 90), st.integers(-20, 150)), st.sampled_from(CORNERS))
def test_a_way_stays_in_the_world_wherever_it_is_to_lead(goal, corner):
    game = Flat()
    game.miner.move_to((corner[0], GROUND, corner[1]))
    way = game.miner.way_to(goal)
    for step in way.steps if way is not None else ():
        for place in (step.place, *step.digs):
            assert all(0 < at < size for at, size in zip(place, (WIDTH, HEIGHT, DEPTH), strict=True))
    game.runtime.close()


@pytest.mark.states(
    "003: The miner: Strategies know what their body has seen, and no array of the world",
    source="2.1. Hierarchy",
)
def test_strategies_look_at_no_array_of_the_world():
    """They know what the miner has seen: its memory, and not the world's blocks."""
    (folder,) = strategies.__path__
    wrong = [
        f"{path.name}:{node.lineno} {node.attr}"
        for path in sorted(Path(folder).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("blocks", "cells", "dimension", "dimensions", "sky", "world")
    ]
    assert wrong == []


@pytest.mark.states(
    "003: The miner: How many pickaxes' worth of sticks is brought follows from what the rest of the tree takes",
    source="Planning Ahead Using Probability",
)
def test_how_much_is_brought_follows_from_what_the_rest_takes(flat, monkeypatch):
    """Supplies: the worse it may go, the more sticks for pickaxes are taken along."""
    flat.miner.add(Prices({}, 0))
    brought = {}
    for uses in (0.0, 1800.0):
        monkeypatch.setattr(StrategyContext, "supplies", lambda *_, uses=uses, **__: {"pickaxe": uses})
        flat.give(iron_pickaxe=1, oak_log=30)
        request = flat.agent.gameplay.begin(Collect("diamond", 2))
        for _ in range(400):
            flat.runtime.step()
        brought[uses] = flat.miner.stock["stick"]
        request.cancel("seen enough")
        flat.runtime.step()
        for item, count in flat.miner.stock.items():
            flat.miner.inventory.remove(item, count)
        flat.miner.move_to(flat.world.spawn)
    assert brought[1800.0] >= 40 > brought[0.0] > 0
