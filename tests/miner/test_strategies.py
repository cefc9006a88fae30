"""What the miner works out by itself: small wishes, step by step, and what is done when something comes up."""

from __future__ import annotations

import pytest

from agentrt import sleep_ticks
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Order
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.mind import by_the_way
from agentrt_examples.miner.places import above
from agentrt_examples.miner.realm import NIGHTFALL
from agentrt_examples.miner.strategies.gathering import MineBlocks
from agentrt_examples.miner.strategies.needs import Carry, Collect, Feed, Find, Fuel, Recover, Station, Survive, Tool
from agentrt_examples.miner.strategies.searching import Explore, Prospect


def plant(flat, x, z, height=4):
    """A tree without leaves."""
    flat.put("oak_log", *(above(flat.beside(x=x, z=z), level) for level in range(height)))


def grove(flat, trees=4):
    for number in range(trees):
        plant(flat, 3 + 2 * number, 2)


def solved(game):
    """What was tried and what came of it, from the tree of the last request: indented labels."""
    (root,) = game.agent.gameplay.finished[-1:]
    return [f"{'  ' * depth}{node.label}: {node.outcome}" for depth, node in root.walk()]


def wish(game, wanted, limit=20_000):
    """Solve something; what it gave."""
    ((value, _),) = game.do(lambda: game.agent.gameplay.solve(wanted), limit=limit)
    if isinstance(value, Exception):
        raise value
    return value


@pytest.fixture
def flat(make_flat):
    """Flat ground, and a miner who knows that there is no shop."""
    game = make_flat()
    from agentrt_miner_shop.buying import Prices

    game.miner.add(Prices({}, 0))
    return game


# --- getting things -----------------------------------------------------------------------------------------------


def test_planks_come_from_logs_and_logs_from_trees(flat):
    plant(flat, 4, 0)
    assert wish(flat, Collect("planks", 6)) == 8
    assert solved(flat) == [
        "Collect [planks, 6]: done",
        "  Craft: done",
        "    Collect [oak_log, 2]: done",
        "      Mine Blocks: done",
        "        Option Tool [axe, 1, 2]: skipped",
        "        Find [oak_log]: met",
        "        Find [oak_log]: met",
    ]
    assert flat.miner.inventory.counts() == {"planks": 8}
    assert flat.runtime.tick == PLANKS


@pytest.mark.states("003: Highly Reusable Strategies: Strategies are configured, so that fewer of them do more")
def test_a_wooden_pickaxe_from_nothing(flat):
    grove(flat)
    wish(flat, Collect("wooden_pickaxe"))
    assert flat.miner.inventory.count("wooden_pickaxe") == 1
    assert flat.miner.known("crafting_table") != []


@pytest.mark.states("003: Goals: Asked for diamonds it knows where to look, what tools that takes, how to make ...")
@pytest.mark.states("003: Highly Reusable Strategies: Strategies are configured, so that fewer of them do more ...")
@pytest.mark.slow
def test_a_stone_pickaxe_needs_a_wooden_one_first(flat):
    grove(flat)
    wish(flat, Tool("pickaxe", 2))
    assert flat.miner.inventory.counts()["stone_pickaxe"] == 1
    lines = [line.strip() for line in solved(flat)]
    assert "Collect [wooden_pickaxe, 1]: done" in lines
    assert lines.index("Collect [wooden_pickaxe, 1]: done") < lines.index("Find [stone]: done")


def test_iron_is_smelted_with_what_burns(flat):
    grove(flat)
    flat.give(stone_pickaxe=2, crafting_table=1, cobblestone=16)
    flat.put("iron_ore", *(flat.beside(x=-3, z=z) for z in range(3)))
    assert wish(flat, Collect("iron_ingot", 2)) >= 2
    assert flat.miner.known("furnace") != []


@pytest.mark.states("003: Hierarchy: Any number of strategies can be added, and the tree may be much bigger ...")
@pytest.mark.slow
def test_an_iron_pickaxe_in_the_world_of_a_seed():
    game = Game(9)
    game.ask("iron_pickaxe", 1)
    assert game.run(30_000)
    assert game.miner.inventory.count("iron_pickaxe") == 1
    game.runtime.close()


@pytest.mark.states("003: Hierarchy: Which strategies are called depends on the needs at that moment ...")
def test_what_is_there_already_takes_no_time(flat):
    flat.give(diamond=7)
    assert wish(flat, Collect("diamond", 7)) == 7
    assert solved(flat) == ["Collect [diamond, 7]: met"]


@pytest.mark.states("003: Hierarchy: Any node can be where it begins ...")
def test_any_node_can_be_asked_for(flat):
    grove(flat)
    flat.give(planks=8, coal=1, raw_beef=1)
    gameplay = flat.agent.gameplay
    results = flat.do(
        lambda: gameplay.station("crafting_table"),
        lambda: gameplay.find("oak_log"),
        lambda: gameplay.fuel(8),
        lambda: gameplay.feed(),
        lambda: gameplay.be("overworld"),
        lambda: gameplay.mine_blocks("oak_log", 1),
    )
    values = [value for value, _ in results]
    trees = [(flat.world.spawn[0] + 3 + 2 * number, flat.world.spawn[2] + 2) for number in range(4)]
    assert flat.miner.dimension.name_at(values[0]) == "crafting_table"
    assert (values[1][0], values[1][2]) in trees
    assert values[2:5] == [("coal", 1), None, None]
    assert values[5] == 1


@pytest.mark.states("003: Task Failure: If all fail, the parent has failed, and so on up the chain ...")
def test_what_nobody_can_provide_is_said_with_the_whole_story(flat):
    with pytest.raises(DependencyFailedError) as caught:
        wish(flat, Collect("obsidian"))
    story = str(caught.value)
    assert "Collect [obsidian, 1] could not be solved" in story
    assert "there is no recipe for it" in story


@pytest.mark.states(
    "003: The miner: A diamond pickaxe is made of diamonds that are owned only if they are spendable",
    source="Optional Dependencies",
)
def test_what_is_asked_for_is_not_used_up(flat):
    """Three diamonds make a pickaxe; but not for somebody who collects diamonds."""
    flat.give(diamond=3, stick=4, crafting_table=1)
    costs = {}
    costs["idle"] = flat.agent.gameplay.cost(Collect("diamond_pickaxe"))

    async def look():
        await sleep_ticks(5)
        costs["while collecting diamonds"] = flat.agent.gameplay.cost(Collect("diamond_pickaxe"))

    flat.runtime.step()
    flat.runtime.spawn(look, name="look")
    flat.runtime.spawn(_ignore, flat, Collect("diamond", 7), name="wish")
    for _ in range(10):
        flat.runtime.step()
    assert costs["idle"] < 5
    assert costs["while collecting diamonds"] == float("inf")


async def _ignore(game, wanted):
    await game.agent.gameplay.solve(wanted)


# --- choosing -----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Goals: The knowledge of how to do things lies in the strategies, and the agent decides for itself how to do "
    "them",
)
def test_the_cheapest_way_is_taken(flat):
    flat.give(diamond_block=1, iron_pickaxe=1)
    flat.put("diamond_ore", flat.beside(x=9))
    offers = flat.agent.gameplay.offers(Collect("diamond", 1))
    assert [name for name, _, reason in offers if not reason] == ["craft", "mine_blocks"]
    assert wish(flat, Collect("diamond", 1)) == 9
    assert flat.miner.dimension.name_at(flat.beside(x=9)) == "diamond_ore"


@pytest.mark.states("003: Injection Based Task Selection: Parent and child understand each other's role: the ...")
def test_fuel_is_whatever_is_had_the_soonest(flat):
    flat.give(planks=4, coal=1)
    assert wish(flat, Fuel(8)) == ("coal", 1)
    assert wish(flat, Fuel(4)) == ("coal", 1)
    flat.miner.inventory.remove("coal")
    assert wish(flat, Fuel(4)) == ("planks", 3)


@pytest.mark.states("003: Orderless Dependencies: Where the order does not matter, dependencies are sorted by cost ...")
@pytest.mark.states(
    "003: The miner: What is collected for a recipe is sorted by cost; which order is configurable",
    source="Orderless Dependencies",
)
def test_recipes_are_collected_in_the_order_of_their_cost(flat):
    grove(flat)
    orders = {}
    flat.give(planks=2, stone_pickaxe=1)
    for order in (Order.CHEAPEST, Order.DEAREST):
        flat.agent.gameplay.order = order
        flat.runtime.spawn(_ignore, flat, Collect("stone_axe"), name="wish")
        flat.runtime.step()
        flat.runtime.step()
        (solving,) = flat.agent.gameplay.running
        orders[order] = [node.label for _, node in solving.root.walk() if node.label.startswith("Collect")][1]
        solving_root = solving.root
        for _ in range(20_000):
            if not solving_root.is_open:
                break
            flat.runtime.step()
        flat.miner.inventory.remove("stone_axe")
        flat.give(planks=2)
    assert orders == {Order.CHEAPEST: "Collect [stick, 2]", Order.DEAREST: "Collect [cobblestone, 3]"}


@pytest.mark.states("003: Optional Dependencies: They pay if much is to be done: the tree farm for a lot of wood ...")
@pytest.mark.states(
    "003: The miner: Sticks and a table are brought into the mine when that is expected to save more than it costs",
    source="Planning Ahead Using Probability",
)
@pytest.mark.slow
def test_sticks_and_a_table_are_taken_along_when_that_pays(flat):
    """Priced with and without: on the surface, beside trees, for a long search; and not when options are off."""
    grove(flat, trees=6)
    flat.give(iron_pickaxe=1)
    taken = {}
    for takes in (True, False):
        flat.agent.gameplay.takes_options = takes
        request = flat.agent.gameplay.begin(Collect("diamond", 2))
        for _ in range(2500):
            flat.runtime.step()
        taken[takes] = "crafting_table" in flat.miner.stock
        request.cancel("seen enough")
        flat.runtime.step()
        for item, count in flat.miner.inventory.counts().items():
            flat.miner.inventory.remove(item, count)
        flat.miner.move_to(flat.world.spawn)
        flat.give(iron_pickaxe=1)
    assert taken == {True: True, False: False}


@pytest.mark.states("003: Task Tree: What children bring adds tasks: blocks that were found are mined, and when ...")
def test_searching_says_what_it_cannot(flat):
    ask = flat.agent.gameplay
    reasons = {name: reason for name, _, reason in ask.offers(Find("diamond_ore"))}
    assert reasons["explore"] == "diamond_ore is not found on the surface"
    assert reasons["prospect"] == ""
    reasons = {name: reason for name, _, reason in ask.offers(Find("oak_log"))}
    assert reasons["prospect"] == "oak_log does not lie in the rock"
    assert (Explore.provides, Prospect.provides, MineBlocks.provides) == (Find, Find, Collect)


# --- what comes up ------------------------------------------------------------------------------------------------


def interruptions(game):
    (root,) = game.agent.gameplay.finished[-1:]
    return [f"{node.label}: {node.outcome}" for _, node in root.walk() if node.kind == "interruption"]


@pytest.mark.states(
    "003: Interrupting Tasks: Situations make the agent stop what it does for a while: attacked, hurt, an effect, "
    "hunger",
)
@pytest.mark.states(
    "003: The miner: Being attacked, hunger, a wound and an effect are dealt with by triggers of the agent; no "
    "strategy mentions them",
    source="2.5.2. Interrupting Tasks",
)
def test_an_attack_is_fought_off_and_the_work_goes_on(flat):
    flat.runtime.clock.tick = NIGHTFALL
    flat.give(stone_sword=1, stone_pickaxe=1)
    zombie = flat.world.fauna.add("zombie", flat.miner.dimension, flat.beside(x=3))
    assert wish(flat, Collect("cobblestone", 5)) == 5
    assert zombie.is_destroyed
    assert interruptions(flat) == ["attacked: done"]


def test_who_would_lose_runs_away(flat):
    flat.runtime.clock.tick = NIGHTFALL
    flat.miner.vitals.health = 7
    flat.give(cooked_beef=4)
    zombie = flat.world.fauna.add("zombie", flat.miner.dimension, flat.beside(x=2))
    offers = {name: reason for name, _, reason in flat.agent.gameplay.offers(Survive(zombie))}
    assert offers == {"fight": "zombie 1 would win", "run_away": ""}
    flat.do(lambda: flat.agent.gameplay.solve(Survive(zombie)))
    assert flat.miner.is_rid_of(zombie)
    assert flat.miner.deaths == 0


@pytest.mark.states("003: Interrupting Tasks: Situations make the agent stop what it does for a while: attacked ...")
@pytest.mark.states("003: The miner: Being attacked, hunger, a wound and an effect are dealt with by triggers of ...")
def test_hunger_interrupts_and_is_stilled(flat):
    flat.give(stone_pickaxe=1, raw_pork=1, cooked_beef=1)
    flat.miner.vitals.food = 9
    flat.miner.vitals.exhaustion = 395
    assert wish(flat, Collect("cobblestone", 8)) == 8
    assert interruptions(flat) == ["hungry: done"]
    assert flat.miner.inventory.counts()["raw_pork"] == 1  # the better one was eaten
    assert flat.miner.vitals.food == 16


def test_food_is_hunted_when_there_is_none(flat):
    cow = flat.world.fauna.add("cow", flat.miner.dimension, flat.beside(x=8))
    flat.miner.look()
    flat.miner.vitals.food = 5
    wish(flat, Feed())
    assert cow.is_destroyed
    assert flat.miner.vitals.food > 8


@pytest.mark.states("003: Interrupting Tasks: Situations make the agent stop what it does for a while: attacked ...")
@pytest.mark.states("003: The miner: Being attacked, hunger, a wound and an effect are dealt with by triggers of ...")
def test_poison_is_waited_for_to_end(flat):
    flat.give(stone_pickaxe=1)
    spider = flat.world.fauna.add("spider", flat.miner.dimension, flat.beside(x=60))

    async def bite():
        await sleep_ticks(30)
        flat.miner.struck(spider)

    flat.runtime.spawn(bite, name="bite")
    assert wish(flat, Collect("cobblestone", 4)) == 4
    assert interruptions(flat) == ["an effect: done"]  # the spider itself is far away


@pytest.mark.states("003: Interrupting Tasks: Situations make the agent stop what it does for a while: attacked ...")
@pytest.mark.states("003: The miner: Being attacked, hunger, a wound and an effect are dealt with by triggers of ...")
def test_a_wound_is_rested(flat):
    flat.give(cooked_beef=3)
    flat.miner.vitals.health = 7
    flat.miner.vitals.food = 12
    wish(flat, Recover(9))
    assert flat.miner.vitals.health == 9
    assert flat.miner.inventory.counts() == {"cooked_beef": 2}


@pytest.mark.states(
    "003: The miner: A strategy that can stand still goes on where it was (smelting)",
    source="Pauseable/Cancelable Tasks",
)
def test_smelting_goes_on_under_an_attack(flat):
    flat.runtime.clock.tick = NIGHTFALL
    flat.give(stone_sword=1, raw_iron=3, coal=1, furnace=1)
    flat.world.fauna.add("zombie", flat.miner.dimension, flat.beside(x=5))
    assert wish(flat, Collect("iron_ingot", 3)) == 3
    assert flat.runtime.tick - NIGHTFALL < 3 * 120 + 60  # three pieces, and the way back to the furnace
    assert interruptions(flat) == ["attacked: done"]


def test_what_was_lost_is_fetched(flat):
    there = flat.beside(x=10)
    flat.give(diamond=7, iron_pickaxe=1)
    flat.do(lambda: flat.miner.go(there))
    flat.miner.vitals.health = 1
    flat.world.put(flat.miner.dimension, flat.miner.place, "lava")
    for _ in range(40):
        flat.runtime.step()
    flat.world.put(flat.miner.dimension, there, "air")
    assert flat.miner.deaths == 1
    flat.miner.look()
    assert wish(flat, Collect("diamond", 7)) == 7
    assert solved(flat)[1] == "  Fetch Lost: done"
    assert (flat.miner.place, flat.miner.lost) == (there, [])


def test_a_station_is_used_where_it_stands_or_put_down(flat):
    table = flat.beside(x=9)
    flat.put("crafting_table", table)
    assert wish(flat, Station("crafting_table")) == table
    assert solved(flat)[1] == "  Use Station: done"
    flat.miner.move_to(flat.beside(x=-60))
    flat.give(planks=4)
    assert wish(flat, Station("crafting_table")) != table
    assert solved(flat)[1] == "  Place Station: done"


def test_provisions_are_whatever_is_had_the_soonest(flat):
    flat.give(raw_beef=1)
    assert flat.agent.gameplay.cost(Carry(3)) == 0
    flat.world.fauna.add("pig", flat.miner.dimension, flat.beside(x=6))
    flat.miner.look()
    wish(flat, Carry(6))
    assert flat.miner.inventory.counts()["raw_pork"] >= 1


# --- by the way ---------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: The miner: What lies by the way and will be needed is collected, and only with look-ahead",
    source="Planning Ahead Using Probability",
)
def test_what_lies_by_the_way_is_offered_with_its_detour(flat):
    flat.put("coal_ore", flat.beside(x=3))
    flat.put("oak_log", flat.beside(z=2))
    flat.put("iron_ore", flat.beside(x=-3))
    assert list(by_the_way(flat.agent)) == [(Collect("oak_log", 1), 2 * 2 * 0.3 + 48 / 20)]  # ore takes a pickaxe
    flat.give(stone_pickaxe=1, coal=2)
    flat.miner.move_to(flat.beside(z=-4))
    assert list(by_the_way(flat.agent)) == []
    flat.miner.move_to(flat.beside(z=4))
    assert [wanted for wanted, _ in by_the_way(flat.agent)] == [
        Collect("oak_log", 1),
        Collect("raw_iron", 1),
        Collect("coal", 3),
    ]


@pytest.mark.states("003: The miner: What lies by the way and will be needed is collected, and only with ...")
@pytest.mark.slow
def test_what_will_be_needed_is_taken_by_the_way_and_not_without_look_ahead():
    taken = {}
    for lookahead in (4, 0):
        game = Game(2)
        game.agent.gameplay.lookahead = lookahead
        trace = []
        game.runtime.trace.listen(trace.append)
        game.ask("iron_pickaxe", 1)
        game.run(6_000)
        taken[lookahead] = sum(
            record.event == "interrupted" and dict(record.detail)["by"] == "by the way" for record in trace
        )
        game.runtime.close()
    assert taken[4] > 0
    assert taken[0] == 0


PLANKS = 113
