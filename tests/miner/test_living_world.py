"""What happens by itself: hunger and healing, creatures of the night, death; and that nothing of it costs much."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.furnace import Furnace
from agentrt_examples.miner.mobs import ROUND
from agentrt_examples.miner.places import squared
from agentrt_examples.miner.realm import NIGHTFALL
from agentrt_examples.miner.rules import ITEMS, SMELT_FUEL
from agentrt_examples.miner.vitals import EXHAUSTED, HUNGRY, PULSE, Vitals


def test_exhaustion_makes_hungry_and_hunger_hurts():
    vitals, told = Vitals(), []
    vitals.hungry.connect(lambda food: told.append(("hungry", food)))
    vitals.hurt.connect(lambda points: told.append(("hurt", points)))
    vitals.exhaust(EXHAUSTED * 11)
    assert (vitals.food, told, vitals.is_hungry) == (9, [], False)
    vitals.exhaust(EXHAUSTED * 9)
    assert told == [("hungry", food) for food in range(HUNGRY, -1, -1)]
    for second in range(1, 200):
        vitals.pulse(second * PULSE)
    assert (vitals.health, vitals.food) == (1, 0)  # it starves, but not to death


def test_who_is_well_fed_heals():
    vitals = Vitals()
    vitals.lose(5)
    health = []
    for second in range(1, 13):
        vitals.pulse(second * PULSE)
        health.append(vitals.health)
    assert health == [15, 15, 16, 16, 16, 17, 17, 17, 18, 18, 18, 19]
    vitals.food = 13
    vitals.pulse(0)
    assert vitals.health == 19


def test_poison_hurts_for_a_while_and_does_not_kill():
    vitals, begun = Vitals(), []
    vitals.affected.connect(begun.append)
    vitals.food = 10
    vitals.affect("poison", 10 * PULSE)
    vitals.affect("poison", 5 * PULSE)  # the longer one counts
    health = []
    for second in range(1, 13):
        vitals.pulse(second * PULSE)
        health.append(vitals.health)
    assert (begun, health) == (["poison"], [20, 19, 19, 18, 18, 17, 17, 16, 16, 16, 16, 16])
    assert not vitals.has("poison")
    vitals.health = 1
    vitals.affect("poison", 99 * PULSE)
    vitals.pulse(20 * PULSE)
    vitals.pulse(21 * PULSE)
    assert vitals.health == 1


def test_slowness_doubles_the_time_of_a_step(flat):
    flat.miner.vitals.affect("slowness", 10_000)
    ((_, tick),) = flat.do(lambda: flat.miner.go(flat.beside(x=4)))
    assert tick == 1 + 4 * 10


# --- creatures ----------------------------------------------------------------------------------------------------


def run(game, ticks):
    for _ in range(ticks):
        game.runtime.step()


def test_a_zombie_comes_strikes_and_is_struck(flat):
    miner, told = flat.miner, []
    flat.runtime.remove(flat.agent)  # it would fight back
    zombie = flat.world.fauna.add("zombie", miner.dimension, flat.beside(x=6))
    flat.world.clock.tick = NIGHTFALL
    miner.signal("attacked").connect(
        lambda by: told.append((flat.runtime.tick - NIGHTFALL, by.kind, miner.vitals.health))
    )
    run(flat, 130)
    assert told == ATTACKS
    assert squared(zombie.place, miner.place) <= 3
    assert zombie in miner.creatures


def test_daylight_is_the_end_of_it(flat):
    zombie = flat.world.fauna.add("zombie", flat.miner.dimension, flat.beside(x=12))
    cow = flat.world.fauna.add("cow", flat.miner.dimension, flat.beside(x=10))
    run(flat, 2 * ROUND)
    assert (zombie.is_destroyed, cow.is_destroyed) == (True, False)


def test_who_is_far_away_is_lost(flat):
    flat.world.clock.tick = NIGHTFALL
    zombie = flat.world.fauna.add("zombie", flat.miner.dimension, flat.beside(x=6))
    run(flat, 5)
    flat.miner.move_to(flat.beside(x=-40))
    run(flat, 2 * ROUND)
    assert zombie.is_destroyed
    assert flat.world.fauna.due >= flat.runtime.tick


def test_at_night_they_come_and_torches_keep_them_away(make_flat):
    kinds = []
    for torches in (False, True):
        game = make_flat(seed=5)
        game.world.fauna.is_peaceful = False
        game.runtime.remove(game.agent)
        if torches:
            spots = [game.beside(x=x, z=z) for x in range(-14, 15, 7) for z in range(-14, 15, 7) if (x, z) != (0, 0)]
            game.put("torch", *spots)
        game.world.clock.tick = NIGHTFALL
        seen = set()
        for _ in range(1200):
            game.runtime.step()
            seen |= {one.kind for one in game.world.fauna.creatures if one.rules.is_hostile}
        kinds.append(sorted(seen))
    assert kinds[0]
    assert set(kinds[0]) <= {"spider", "zombie"}
    assert kinds[1] == []


@pytest.mark.states("003: The miner: (ours) The world makes nothing out of nothing: inventory, wear, furnaces, and ...")
def test_who_dies_leaves_everything_and_begins_anew(flat):
    miner = flat.miner
    flat.runtime.remove(flat.agent)
    spawn = miner.place
    flat.give(coal=5, iron_pickaxe=1)
    there = flat.beside(x=10)
    died = []
    miner.signal("died").connect(lambda _: died.append(flat.runtime.tick))

    async def kill():
        miner.vitals.lose(19)
        flat.world.put(miner.dimension, miner.place, "lava")

    results = flat.do(lambda: miner.go(there), kill, lambda: miner.spend("wait", 40))
    assert isinstance(results[2][0], CannotAct)
    assert results[2][0].reason == "died"
    assert (miner.place, miner.vitals.health, miner.inventory.counts(), miner.deaths) == (spawn, 20, {}, 1)
    assert len(died) == 1
    assert miner.lost == [("overworld", there, {"coal": 5, "iron_pickaxe": 1})]
    flat.world.put(miner.dimension, there, "air")
    miner.look()
    results = flat.do(lambda: miner.go(there))
    assert (results[0][0], miner.place) == (None, there)
    assert miner.inventory.counts() == {"coal": 5, "iron_pickaxe": 1}


# --- furnaces -----------------------------------------------------------------------------------------------------

FUELS = ("coal", "planks", "stick")


@pytest.mark.states("003: The miner: (ours) The world makes nothing out of nothing: inventory, wear, furnaces, and ...")
@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 4), st.sampled_from(FUELS), st.integers(0, 3)), max_size=12)
)
def test_a_furnace_makes_nothing_out_of_nothing(steps):
    furnace, tick, put_in, burned, out = Furnace(), 0, 0, 0, 0
    for wait, count, fuel, pieces in steps:
        tick += wait
        furnace.load(tick, "raw_iron", count, fuel, pieces)
        put_in += count
        burned += pieces * ITEMS[fuel].fuel
        out += furnace.take(tick).get("iron_ingot", 0)
        left = sum(ITEMS[item].fuel * count for item, count in furnace.fuel.items()) + furnace.units
        assert out + furnace.waiting == put_in
        assert burned == left + out * SMELT_FUEL
        assert furnace.due(tick) >= 0
    rest = furnace.clear(tick)
    assert rest.get("raw_iron", 0) == put_in - out - rest.get("iron_ingot", 0)


def test_a_furnace_smelts_one_thing_at_a_time():
    furnace = Furnace()
    furnace.load(0, "raw_iron", 1, "coal", 1)
    with pytest.raises(CannotAct, match="the furnace smelts raw_iron"):
        furnace.load(1, "raw_beef", 1, "coal", 1)
    with pytest.raises(CannotAct, match="dirt does not burn"):
        furnace.load(1, "raw_iron", 1, "dirt", 1)
    assert [furnace.due(tick) for tick in (0, 100, 119)] == [120, 20, 1]
    assert furnace.take(120) == {"iron_ingot": 1}


# --- speed --------------------------------------------------------------------------------------------------------


def test_a_tick_in_which_nothing_is_near_is_cheap(flat):
    flat.runtime.remove(flat.agent)
    run(flat, 100)
    start = time.process_time()
    run(flat, 4000)
    assert (time.process_time() - start) / 4000 < 200e-6  # ten microseconds on the machine of the benchmarks


ATTACKS = [(46, "zombie", 18), (73, "zombie", 16), (100, "zombie", 14), (127, "zombie", 13)]
