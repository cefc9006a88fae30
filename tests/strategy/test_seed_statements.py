"""What the seed tells of strategies as a whole, in small worlds: its map, its tree, its questions, its examples.

Source: seed 003.
"""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt.strategy import Branch, Dependency, Order, strategy
from agentrt.strategy.ask import MOST_CHILDREN

# --- the map of dependencies ------------------------------------------------------------------------------------------


class FindResource(Dependency[None]):
    item: str

    def is_met(self, ask):
        return ask.entity.bag.get(self.item, 0) > 0


class GetRecipeResources(Dependency[None]):
    item: str


class MineBlock(Dependency[None]):
    block: str


RECIPES = {"pickaxe": ("stick", "plank"), "stick": ("plank",), "plank": ("log",)}


@strategy(FindResource, estimate=lambda ask, wanted: None if wanted.item not in RECIPES else 1)
async def craft(ctx, wanted):
    await ctx.solve(GetRecipeResources(wanted.item))
    await ctx.next_tick()
    for part in RECIPES[wanted.item]:
        ctx.entity.put(part, -1)
    ctx.entity.put(wanted.item)


@strategy(GetRecipeResources, cost=5)
async def gather_recipe(ctx, wanted):
    parts = RECIPES[wanted.item]
    while missing := [part for part in parts if not ctx.entity.bag.get(part)]:
        await ctx.solve(FindResource(missing[0]))


@strategy(FindResource, estimate=lambda ask, wanted: 5 if wanted.item == "log" else None)
async def mine(ctx, wanted):
    await ctx.solve(MineBlock(wanted.item))
    ctx.entity.put(wanted.item)


@strategy(MineBlock, cost=3)
async def dig(ctx, wanted):
    await ctx.sleep_ticks(2)


@pytest.mark.states(
    "003: Infinite State Machine Approach: Tasks are made and run while others run, so that it adapts to where it is",
)
@pytest.mark.states("003: Hierarchy: Nodes may depend on those above them, and make new tasks recursively")
@pytest.mark.states(
    "003: Hierarchy: A state machine is made from the map, the task and the surroundings while it is executed, of any "
    "size",
)
@pytest.mark.states("003: Task Tree: It is generated while it is executed, from what is known then")
def test_each_node_makes_new_ones_as_it_needs_them_though_they_depend_on_those_above(game):
    """Find Resource needs Get Recipe Resources, which needs Find Resource: the graph is made while it is executed."""
    agent = game.add(craft, gather_recipe, mine, dig)
    wish = game.wish(agent.gameplay.find_resource("pickaxe"))
    sizes = []
    while not wish.is_over:
        game.tick()
        sizes.append(sum(1 for root in agent.gameplay.running for _ in root.root.walk()))
    assert wish.error is None
    assert agent.entity.bag == {"pickaxe": 1, "stick": 0, "plank": 0, "log": 0}
    assert sizes[0] < sizes[-2]
    assert game.tree(agent)[:9] == [
        "Find Resource [pickaxe] - done",
        "   Craft - done",
        "      Get Recipe Resources [pickaxe] - done",
        "         Gather Recipe - done",
        "            Find Resource [stick] - done",
        "               Craft - done",
        "                  Get Recipe Resources [stick] - done",
        "                     Gather Recipe - done",
        "                        Find Resource [plank] - done",
    ]


@pytest.mark.states("003: Goals: A task is run by one call, without naming the operations that it takes")
@pytest.mark.states("003: Hierarchy: Each task can be run by the developer with one call ...")
def test_any_node_of_the_map_is_an_entry_point_with_one_call(game):
    agent = game.add(craft, gather_recipe, mine, dig)
    for call in (
        lambda: agent.gameplay.mine_block("stone"),
        lambda: agent.gameplay.get_recipe_resources("plank"),
        lambda: agent.gameplay.find_resource("stick"),
    ):
        wish = game.wish(call())
        game.tick(40)
        assert wish.is_over
        assert wish.error is None


@pytest.mark.states("003: Infinite State Machine Approach: It acts at once, without any search beforehand")
@pytest.mark.states(
    "003: Hierarchy: What is to be done is not known before that step: it knows that it will get ores, not where",
)
def test_nothing_is_searched_before_it_is_done(game, way):
    """Without look-ahead a decision asks only those who provide the very thing, when it is due."""
    asked = []

    def estimate(label):
        def cost(ask, wanted):
            asked.append((game.sim.now, label))
            return 1.0

        return cost

    agent = game.add(
        way("House", Build, cost=estimate("House"), needs=[Know("how"), Reach("site")]),
        way("Read", Know, cost=estimate("Read"), ticks=3),
        way("Walk", Reach, cost=estimate("Walk"), ticks=3),
    )
    agent.gameplay.lookahead = 0
    game.solve(agent, Build())
    assert asked == [(1, "House"), (1, "Read"), (4, "Walk")]


# --- the tree of tasks ------------------------------------------------------------------------------------------------


class CollectResource(Dependency[None]):
    item: str
    count: int

    def label(self):
        return f"Collect Resource [{self.count} {self.item}s]"


class GetSources(Dependency[None]):
    item: str


class FindBlocksNearby(Dependency[None]):
    blocks: tuple

    def label(self):
        return f"Find Blocks Nearby [{', '.join(self.blocks)}]"


class GetNaturalLocation(Dependency[None]):
    block: str


def collecting(ask, wanted):
    near = FindBlocksNearby(("Diamond Ore", "Diamond Block"))
    return [
        Branch(0.7, needs=(GetSources("Diamond"), near)),
        Branch(0.2, needs=(GetSources("Diamond"), near, GetNaturalLocation("Diamond Ore"))),
        Branch(0.1, needs=(GetSources("Diamond"), near, GetNaturalLocation("Diamond Block"))),
    ]


@pytest.mark.states("003: Task Tree: What is to be done is rendered as a tree")
@pytest.mark.states("003: Task Tree: Some are executed on a condition only, and marked with a star")
@pytest.mark.states(
    "003: Task Tree: Ahead, only direct children of the given task are seen, and nodes are added as it goes on",
)
@pytest.mark.states(
    "003: Task Tree: What children bring adds tasks: blocks that were found are mined, and when none was, its natural "
    "location is asked for",
)
@pytest.mark.parametrize("are_near", [True, False])
def test_the_sample_of_the_seed(game, way, are_near):
    async def run(self, ctx, wanted):
        await ctx.solve(GetSources("Diamond"))
        await ctx.solve(FindBlocksNearby(("Diamond Ore", "Diamond Block")))
        if not are_near:
            await ctx.solve(GetNaturalLocation("Diamond Ore"))

    agent = game.add(
        way("Collecting", CollectResource, cost=None, foresee=lambda self, *args: collecting(*args), run=run),
        way("Sources", GetSources, ticks=2),
        way("Looking", FindBlocksNearby, ticks=2),
        way("Knowing", GetNaturalLocation, ticks=2),
    )
    wish = game.wish(agent.gameplay.collect_resource("Diamond", 7))
    game.tick(2)
    assert agent.gameplay.running[0].root.render().splitlines() == [
        "Collect Resource [7 Diamonds] - running",
        "   Collecting - running",
        "      Get Sources [Diamond] - running",
        "         Sources - running",
        "      Find Blocks Nearby [Diamond Ore, Diamond Block]",
        "      * Get Natural Location [Diamond Ore]",
        "      * Get Natural Location [Diamond Block]",
    ]
    game.tick(8)
    assert wish.is_over
    lines = [line for line in game.tree(agent) if "Natural" in line]
    if are_near:
        assert lines == [
            "      * Get Natural Location [Diamond Ore] - skipped",
            "      * Get Natural Location [Diamond Block] - skipped",
        ]
    else:  # which branch it is, is known now
        assert lines == ["      Get Natural Location [Diamond Ore] - done"]


@pytest.mark.states("003: Hierarchy: A node calls any of those below it, any number of times, until it is done ...")
@pytest.mark.states("003: Task Tree: Or in a loop, for all blocks nearby")
def test_a_loop_over_all_blocks_nearby_grows_the_tree_and_the_oldest_are_counted(game, way):
    async def run(self, ctx, wanted):
        for number in range(100):
            await ctx.solve(MineBlock(f"ore {number}"))

    agent = game.add(way("All", Build, run=run), dig)
    game.solve(agent, Build())
    strategy_node = agent.gameplay.finished[-1].children[0]
    assert len(strategy_node.children) == MOST_CHILDREN
    assert strategy_node.forgotten == 100 - MOST_CHILDREN
    assert [line for line in game.tree(agent) if "earlier" in line] == [f"      ... {100 - MOST_CHILDREN} earlier"]


# --- the questions ----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Heuristic Based Task Selection, 1: How do we know that what is executed solves the problem? What was asked "
    "for has to hold when it returns",
)
def test_question_1_what_is_done_solves_what_was_asked_for(game, way):
    """Whatever a strategy claims, what it was run for has to hold; else the next one is tried."""
    agent = game.add(way("Dance", ticks=1, cost=0.1, run=nothing), way("Chop", cost=90))
    assert game.solve(agent, Have("log")).value == 1


async def nothing(self, ctx, wanted):
    await ctx.next_tick()


@pytest.mark.states(
    "003: Heuristic Based Task Selection, 2: How is a heuristic guessed, on one scale for all? It is the game seconds "
    "that are to be expected (decided)",
)
def test_question_2_one_scale_for_all_and_who_is_far_off_is_told(game, way):
    """Costs are game seconds. One who counts otherwise is preferred, but what it took stands beside it."""
    agent = game.add(way("Honest", cost=1.0, ticks=20), way("Unfair", cost=0.1, ticks=40))
    game.solve(agent, Have("log"))
    assert agent.gameplay.finished[-1].render(20).splitlines()[1] == "   Unfair - done in 2 s (expected 0.1 s)"


@pytest.mark.states(
    "003: Heuristic Based Task Selection, 5: Who determines it? Each strategy its own, and asks for what it needs "
    "without knowing who provides that",
)
def test_question_5_each_tells_its_own_cost_and_asks_for_what_it_needs(game, way):
    """Nobody knows how another one works: the sum is right nevertheless, and changes when a better child comes."""
    agent = game.add(
        way("House", Build, cost=lambda ask, _: 10 + ask.cost(Have("wood")) + ask.cost(Reach("site"))),
        way("Chop", cost=lambda ask, _: 5 + ask.cost(Reach("forest"))),
        way("Walk", Reach, cost=7),
    )
    assert agent.gameplay.cost(Build()) == 10 + (5 + 7) + 7
    agent.gameplay.add_strategy(way("Ride", Reach, cost=2))
    assert agent.gameplay.cost(Build()) == 10 + (5 + 2) + 2


# --- its examples -----------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Goals: It takes the surroundings into account: in the other dimension it returns first ...")
@pytest.mark.states("003: Goals: Unless what it needs was placed nearby: then it takes that first, if it can ...")
def test_in_the_other_dimension_it_returns_first_unless_what_it_needs_is_near(game, way):
    here = []

    class Dimension(Dependency[None]):
        name: str

        def is_met(self, ask):
            return ask.entity.place == self.name

    async def travel(self, ctx, wanted):
        await ctx.sleep_ticks(5)
        ctx.entity.place = wanted.name

    agent = game.add(
        way("TakeNear", cost=lambda ask, _: 2.0 if here else ask.cannot("none is near")),
        way(
            "Mine",
            cost=lambda ask, _: 60 + ask.cost(Dimension("overworld")),
            needs=[Dimension("overworld")],
        ),
        way("Portal", Dimension, cost=30, run=travel),
    )
    agent.entity.place = "nether"
    here.append("diamond block")
    game.solve(agent, Have("diamond"))
    assert agent.entity.place == "nether"
    here.clear()
    agent.entity.bag.clear()
    game.solve(agent, Have("diamond"))
    assert agent.entity.place == "overworld"
    assert [who for _, who, what in game.log if what == "run"] == ["TakeNear", "Mine"]


@pytest.mark.states(
    "003: Goals: The iron farm: what was given is considered whenever iron is collected, and taken where it pays",
)
def test_a_strategy_of_ones_own_is_taken_into_account(game, way):
    """The iron farm: whoever collects iron considers it, and takes it where it pays."""
    agent = game.add(way("Cave", cost=lambda ask, wanted: 20.0 * wanted.count))
    agent.gameplay.add_strategy(way("IronFarm", cost=lambda ask, wanted: 100.0 + wanted.count))
    game.solve(agent, Have("iron", 2))
    agent.entity.bag.clear()
    game.solve(agent, Have("iron", 64))
    assert [who for _, who, what in game.log if what == "run"] == ["Cave", "IronFarm"]


@pytest.mark.states("003: Task Failure: When a task fails, the path is corrected ...")
def test_a_pickaxe_breaks_and_another_way_is_found(game, way):
    """The child tells its parent, the parent makes a new one and goes on where it was."""
    pickaxes = ["worn", "new", "newer"]

    async def mining(self, ctx, wanted):
        got = 0
        while got < wanted.count:
            if not ctx.entity.bag.get("pickaxe"):
                await ctx.solve(Have("pickaxe"))
            await ctx.next_tick()
            got += 1
            if got % 3 == 0:
                ctx.entity.bag["pickaxe"] = 0
                game.note(pickaxes.pop(0), "broke")
        ctx.entity.put(wanted.item, got)
        return got

    agent = game.add(
        way("Mine", cost=lambda ask, wanted: 5.0 if wanted.item == "diamond" else None, run=mining),
        way("Smith", cost=lambda ask, wanted: 5.0 if wanted.item == "pickaxe" else None, quiet=True),
    )
    assert game.solve(agent, Have("diamond", 7)).value == 7
    assert [who for _, who, what in game.log if what == "broke"] == ["worn", "new"]


@pytest.mark.states(
    "003: Orderless Dependencies: Nobody cuts the wood for sticks before he has the diamonds: the dearest first",
)
@pytest.mark.states("003: Orderless Dependencies: All of it is configured by the user")
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.GIVEN, ["dia", "log", "coal"]),
        (Order.CHEAPEST, ["log", "coal", "dia"]),
        (Order.DEAREST, ["dia", "coal", "log"]),
        (Order.EXCEPTIONAL, ["dia", "log", "coal"]),
    ],
)
def test_what_has_no_order_is_sorted_as_the_user_wishes(game, way, order, expected):
    prices = {"dia": 300.0, "log": 5.0, "coal": 12.0}

    async def run(self, ctx, wanted):
        await ctx.solve_all([Have(item) for item in prices])

    agent = game.add(
        way("Make", Build, run=run), way("Get", cost=lambda ask, wanted: prices[wanted.item], ticks=1, quiet=True)
    )
    agent.gameplay.order = order
    game.solve(agent, Build())
    assert [what for _, event, what, _ in game.steps("a", "try") if "Have" in what] == [
        f"Have [{item}, 1]" for item in expected
    ]
