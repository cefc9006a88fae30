"""What hands do: each act with its time, its effect, and what is said when it cannot be done."""

from __future__ import annotations

import pytest

from agentrt import CancelScope, sleep_ticks
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.rules import ITEMS


def reasons(results):
    return [(fault.act, fault.reason) if isinstance(fault, CannotAct) else fault for fault, _ in results]


def ticks(results):
    """How long each act took."""
    return [
        after - before
        for before, after in zip([1, *(tick for _, tick in results)], [tick for _, tick in results], strict=False)
    ]


def test_digging_takes_its_time_and_wears_the_tool(flat):
    miner = flat.miner
    places = [flat.beside(x=1, y=-1), flat.beside(x=-1, y=-1), flat.beside(x=1, y=-2), flat.beside(x=-1, y=-2)]
    flat.give(stone_pickaxe=1)
    results = flat.do(*(lambda place=place: miner.dig(place) for place in places))
    assert [result for result, _ in results] == [{"dirt": 1}, {"dirt": 1}, {"cobblestone": 1}, {"cobblestone": 1}]
    assert ticks(results) == [14, 14, 25, 25]
    assert miner.inventory.counts() == {"cobblestone": 2, "dirt": 2, "stone_pickaxe": 1}
    assert miner.uses == {"stone_pickaxe": 88}  # grass is dug by hand


def test_without_the_tool_nothing_drops(flat):
    flat.put("iron_ore", flat.beside(x=1), flat.beside(x=-1))
    flat.give(wooden_pickaxe=1)
    results = flat.do(lambda: flat.miner.dig(flat.beside(x=1)), lambda: flat.miner.dig(flat.beside(x=-1)))
    assert [result for result, _ in results] == [{}, {}]
    assert ticks(results) == [260, 260]
    assert flat.miner.uses == {"wooden_pickaxe": 40}


def test_better_pickaxes_are_saved_for_what_needs_them(flat):
    miner = flat.miner
    flat.give(iron_pickaxe=1, stone_pickaxe=1)
    kinds = ("stone", "iron_ore", "diamond_ore")
    from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS

    blocks = [BLOCKS[BLOCK_NUMBERS[kind]] for kind in kinds]
    assert [miner.tool_for(block).item for block in blocks] == ["stone_pickaxe", "stone_pickaxe", "iron_pickaxe"]
    miner.inventory.remove("stone_pickaxe")
    assert [miner.tool_for(block).item for block in blocks] == ["iron_pickaxe"] * 3
    miner.reserve = 180  # as many as are left
    assert [getattr(miner.tool_for(block), "item", None) for block in blocks] == [None, None, "iron_pickaxe"]


def test_what_cannot_be_dug(flat):
    miner = flat.miner
    flat.put("stone", flat.beside(x=2), flat.beside(x=2, y=1), flat.beside(x=2, y=2))
    flat.put("oak_log", flat.beside(x=3), flat.beside(x=6))
    acts = [flat.beside(x=3), flat.beside(x=6), (flat.beside()[0], 0, flat.beside()[2]), flat.beside(x=1)]
    results = flat.do(*(lambda place=place: miner.dig(place) for place in acts))
    assert reasons(results) == [("dig", "reach"), ("dig", "reach"), ("dig", "tool"), ("dig", "tool")]
    assert ticks(results) == [0, 0, 0, 0]


def test_a_block_that_goes_while_it_is_dug(flat):
    log = flat.beside(x=1)
    flat.put("oak_log", log)

    async def take_it():
        await sleep_ticks(5)
        flat.world.put(flat.miner.dimension, log, "air")

    flat.runtime.spawn(take_it, name="thief")
    assert reasons(flat.do(lambda: flat.miner.dig(log))) == [("dig", "blocked")]
    assert flat.miner.inventory.counts() == {}


@pytest.mark.states("003: The miner: (ours) An act that is cancelled has changed nothing", source="-")
def test_an_act_that_is_cancelled_has_changed_nothing(flat):
    log = flat.beside(x=1)
    flat.put("oak_log", log)
    flat.give(stone_axe=1)
    scope = CancelScope()

    async def dig():
        with scope:
            await flat.miner.dig(log)

    async def interrupt():
        await sleep_ticks(3)
        scope.cancel("enough")

    flat.runtime.spawn(interrupt, name="interrupt")
    flat.do(dig)
    assert scope.cancelled_caught
    assert flat.miner.dimension.name_at(log) == "oak_log"
    assert flat.miner.uses == {"stone_axe": 90}


def test_who_digs_the_ground_away_falls(flat):
    miner = flat.miner
    x, y, z = miner.place
    for depth in range(2, 8):
        flat.world.put(miner.dimension, (x, y - depth, z), "air")
    flat.do(lambda: miner.dig((x, y - 1, z)))
    assert miner.place == (x, y - 7, z)
    assert miner.vitals.health == 20 - (7 - 3)


def test_putting_down(flat):
    miner = flat.miner
    flat.give(dirt=5, stick=1)
    here = miner.place
    acts = [
        (flat.beside(x=1), "dirt"),
        (flat.beside(x=1), "dirt"),  # there is one
        (flat.beside(x=2, y=2), "dirt"),  # nothing holds it
        (here, "dirt"),  # one stands there oneself
        (flat.beside(x=-1), "stick"),
        (flat.beside(x=8), "dirt"),
    ]
    results = flat.do(*(lambda act=act: miner.put_down(*act) for act in acts))
    assert reasons(results) == [
        None,
        ("put down", "space"),
        ("put down", "space"),
        ("put down", "space"),
        ("put down", "missing"),
        ("put down", "reach"),
    ]
    assert ticks(results)[0] == 4
    assert (miner.inventory.count("dirt"), miner.dimension.name_at(flat.beside(x=1))) == (4, "dirt")


def test_crafting(flat):
    miner = flat.miner
    flat.give(oak_log=2)
    results = flat.do(
        lambda: miner.craft("planks", 2),
        lambda: miner.craft("stick"),
        lambda: miner.craft("wooden_pickaxe"),
        lambda: miner.craft("diamond_pickaxe"),
        lambda: miner.craft("apple"),
        lambda: miner.craft("planks"),
    )
    assert reasons(results) == [
        None,
        None,
        ("craft", "reach"),
        ("craft", "missing"),
        ("craft", "missing"),
        ("craft", "missing"),
    ]
    assert ticks(results)[:2] == [16, 8]
    assert miner.inventory.counts() == {"planks": 6, "stick": 4}
    flat.put("crafting_table", flat.beside(x=1))
    flat.do(lambda: miner.craft("wooden_pickaxe"))
    assert miner.inventory.counts() == {"planks": 3, "stick": 2, "wooden_pickaxe": 1}
    assert "wooden_pickaxe is made at a crafting_table" in str(results[2][0])


def test_smelting(flat):
    miner = flat.miner
    furnace = flat.beside(x=1)
    flat.put("furnace", furnace)
    flat.give(raw_iron=3, coal=2, planks=1)
    results = flat.do(
        lambda: miner.smelt(furnace, "raw_iron", 2, "planks", 1),  # three units: enough for one
        lambda: miner.smelt(furnace, "raw_iron", 1, "coal", 1),
        lambda: miner.smelt(furnace, "raw_iron", 1, "coal", 1),
        lambda: miner.smelt(flat.beside(x=2), "raw_iron", 1, "coal", 1),
        lambda: miner.smelt(furnace, "coal", 1, "coal", 0),
    )
    assert [result if isinstance(result, int) else result.reason for result, _ in results] == [
        1,
        2,
        "missing",
        "reach",
        "missing",
    ]
    assert ticks(results)[:2] == [120, 240]
    assert miner.inventory.counts() == {"coal": 1, "iron_ingot": 3}


def test_a_furnace_goes_on_while_nobody_is_there(flat):
    miner = flat.miner
    furnace = flat.beside(x=1)
    flat.put("furnace", furnace)
    flat.give(raw_iron=3, coal=1)

    async def load():
        miner.load(furnace, "raw_iron", 3, "coal", 1)

    async def unload():
        return miner.unload(furnace)

    there, here = flat.beside(x=-20), miner.place
    results = flat.do(load, lambda: miner.go(there), unload, lambda: miner.go(here), unload)
    assert [getattr(result, "reason", result) for result, _ in results] == [None, None, "reach", None, 1]
    assert (miner.inventory.counts(), miner.remaining(furnace)) == ({"iron_ingot": 1}, 1 + 240 - results[-1][1])
    flat.world.put(miner.dimension, furnace, "air")  # whoever takes a furnace away finds what was in it
    flat.do(lambda: miner.pick_up())
    assert miner.inventory.counts() == {"iron_ingot": 1, "raw_iron": 2}


def test_eating(flat):
    miner = flat.miner
    flat.give(cooked_beef=1, apple=1, stick=1)
    miner.vitals.food = 10
    results = flat.do(*(lambda item=item: miner.eat(item) for item in ("cooked_beef", "apple", "apple", "stick")))
    assert reasons(results) == [None, None, ("eat", "missing"), ("eat", "missing")]
    assert ticks(results) == [24, 24, 0, 0]
    assert miner.vitals.food == 20


def test_striking(flat):
    miner = flat.miner
    cow = flat.world.fauna.add("cow", miner.dimension, flat.beside(x=1))
    far = flat.world.fauna.add("cow", miner.dimension, flat.beside(x=5))
    flat.give(stone_sword=1)
    results = flat.do(*(lambda one=one: miner.strike(one) for one in (cow, cow, cow, far)))
    assert [getattr(result, "reason", result) for result, _ in results] == [False, True, "missing", "reach"]
    assert miner.inventory.count("raw_beef") in (1, 2, 3)
    assert miner.uses == {"stone_sword": ITEMS["stone_sword"].wear - 2}
    assert cow.is_destroyed


def test_a_portal_leads_to_the_other_dimension_and_back(flat):
    miner = flat.miner
    portal = next(place for name, place in flat.world.links if name == "overworld")
    entered = []
    miner.signal("dimension").connect(entered.append)
    far = flat.do(lambda: miner.enter(portal))
    miner.move_to(portal)
    there = flat.do(lambda: miner.enter(portal))
    assert (reasons(far), reasons(there), miner.where) == ([("enter", "reach")], [None], "nether")
    assert miner.dimension.can_stand(miner.place)
    flat.do(lambda: miner.enter(miner.place))
    assert (miner.where, entered) == ("overworld", ["nether", "overworld"])
    assert reasons(flat.do(lambda: miner.enter((5, 5, 5)))) == [("enter", "missing")]


@pytest.mark.parametrize("has_shop", [True, False])
def test_the_server_answers(make_flat, has_shop):
    game = make_flat(has_shop=has_shop)
    game.give(cobblestone=10, iron_pickaxe=1)
    game.miner.inventory.use(next(iter(game.miner.inventory.tools("pickaxe"))))
    lines = [
        "/shop sell cobblestone 10",
        "/shop buy coal 1",
        "/shop buy coal 2",
        "/shop sell iron_pickaxe 1",
        "/shop sell coal 1",
        "/shop balance",
        "/shop give coal",
        "/help",
    ]
    answers = [result for result, _ in game.do(*(lambda line=line: game.miner.say(line) for line in lines))]
    if not has_shop:
        assert answers == [[f"Unknown command: {line}"] for line in lines]
        return
    assert answers == [
        ["Sold 10 cobblestone for 10 coins."],
        ["Bought 1 coal for 6 coins."],
        ["You need 12 coins and have 4."],
        ["The shop takes no used iron_pickaxe."],
        ["Sold 1 coal for 3 coins."],
        ["You have 7 coins."],
        ["Usage: /shop list | balance | buy ITEM COUNT | sell ITEM COUNT"],
        ["Unknown command: /help"],
    ]
    assert "diamond: buy 90, sell 40" in game.do(lambda: game.miner.say("/shop list"))[0][0]
