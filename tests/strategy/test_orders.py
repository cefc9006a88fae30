"""Several dependencies in an order that fits, and dependencies that are solved only if that pays."""

from __future__ import annotations

import math

import pytest
from wants import Bearer, Build, Have, Know, Reach

from agentrt.errors import DependencyFailedError
from agentrt.strategy import Dependency, Order


def tried(game, what="Have"):
    return [wanted for _, _, wanted, _ in game.steps("a", "try") if wanted.startswith(what)]


@pytest.fixture
def shopping(game, way):
    """A strategy that has several things got in an order; what they cost is a table."""
    prices = {}

    def play(table, order=None, default=None):
        prices.update(table)

        async def run(self, ctx, wanted):
            return await ctx.solve_all([Have(item) for item in table], order)

        agent = game.add(
            way("Shop", Build, run=run),
            way("Get", cost=lambda ask, wanted: prices[wanted.item], ticks=1, quiet=True, gives=None),
        )
        if default is not None:
            agent.gameplay.order = default
        wish = game.solve(agent, Build())
        return wish, [label[6:-4] for label in tried(game)]

    play.prices = prices
    return play


# --- orders -----------------------------------------------------------------------------------------------------------


TABLE = {"a": 30.0, "b": 10.0, "c": 20.0, "d": 10.0}


@pytest.mark.states(
    "003: Orderless Dependencies: Where the order does not matter, dependencies are sorted by cost instead",
)
@pytest.mark.states("003: Orderless Dependencies: All of it is configured by the user ...")
@pytest.mark.parametrize(
    ("order", "expected"),
    [(Order.GIVEN, "abcd"), (Order.CHEAPEST, "bdca"), (Order.DEAREST, "acbd"), (Order.EXCEPTIONAL, "bdca")],
)
@pytest.mark.parametrize("as_default", [True, False])
def test_orders_by_cost_and_equal_ones_as_they_were_given(shopping, order, expected, as_default):
    _, order_of = shopping(TABLE, None, order) if as_default else shopping(TABLE, order)
    assert "".join(order_of) == expected


@pytest.mark.states("003: Orderless Dependencies: Easy ones come first, which looks natural")
def test_the_cheapest_comes_first_unless_the_agent_says_otherwise(shopping):
    assert "".join(shopping(TABLE)[1]) == "bdca"


@pytest.mark.states(
    "003: Orderless Dependencies: One that is exceptionally hard may come first, to get it out of the way",
)
@pytest.mark.parametrize(("price", "expected"), [(121.0, "abdc"), (120.0, "badc")])
def test_one_is_exceptional_when_it_costs_more_than_three_times_all_others(shopping, price, expected):
    assert "".join(shopping({"a": price, "b": 10.0, "c": 19.0, "d": 11.0}, Order.EXCEPTIONAL)[1]) == expected


def test_what_they_gave_comes_in_the_order_in_which_they_were_asked_for(game, way):
    async def run(self, ctx, wanted):
        return await ctx.solve_all([Know("x"), Reach("y"), Know("z")])

    async def tell(self, ctx, wanted):
        return wanted.label()

    agent = game.add(
        way("All", Build, run=run), way("Read", Know, cost=9, run=tell), way("Walk", Reach, cost=3, run=tell)
    )
    assert game.solve(agent, Build()).value == ["Know [x]", "Reach [y]", "Know [z]"]
    assert [what for _, _, what, _ in game.steps("a", "try")][1:] == ["Reach [y]", "Know [x]", "Know [z]"]


def test_the_same_dependency_twice_is_done_twice(game, way):
    async def run(self, ctx, wanted):
        return await ctx.solve_all([Know("x"), Know("x")])

    agent = game.add(way("All", Build, run=run), way("Read", Know, gives="read"))
    assert game.solve(agent, Build()).value == ["read", "read"]


def test_nothing_is_nothing(game, way):
    async def run(self, ctx, wanted):
        return await ctx.solve_all([])

    agent = game.add(way("All", Build, run=run))
    assert game.solve(agent, Build()).value == []


@pytest.mark.states("003: Orderless Dependencies: Easy ones come first, which looks natural ...")
def test_costs_are_asked_anew_after_each(game, way):
    """What was dear at first has become cheap: it comes before what was cheaper."""
    prices = {"a": 1.0, "b": 10.0, "c": 90.0}

    async def run(self, ctx, wanted):
        await ctx.solve_all([Have(item) for item in prices])

    async def get(self, ctx, wanted):
        ctx.entity.put(wanted.item)
        prices["c"] = 2.0

    agent = game.add(way("Shop", Build, run=run), way("Get", cost=lambda ask, wanted: prices[wanted.item], run=get))
    game.solve(agent, Build())
    assert tried(game) == ["Have [a, 1]", "Have [c, 1]", "Have [b, 1]"]


@pytest.mark.states("003: Optional Dependencies: Shortcuts: a condition holds already, and nothing is done ...")
def test_one_that_is_met_by_the_way_is_a_shortcut(game, way):
    async def run(self, ctx, wanted):
        return await ctx.solve_all([Have("log"), Have("stick")])

    async def get(self, ctx, wanted):
        ctx.entity.put("log")
        ctx.entity.put("stick")
        return 1

    agent = game.add(way("Shop", Build, run=run), way("Get", run=get))
    assert game.solve(agent, Build()).value == [1, 1]
    assert len(tried(game)) == 1


@pytest.mark.parametrize(("order", "before"), [(Order.CHEAPEST, ["b"]), (Order.DEAREST, []), (Order.GIVEN, [])])
def test_one_that_nobody_can_fails_the_whole(shopping, order, before):
    """The cheapest first finds it out last; the dearest first finds it out at once."""
    wish, order_of = shopping({"a": None, "b": 10.0}, order)
    assert isinstance(wish.error, DependencyFailedError)
    assert order_of == before


# --- options ----------------------------------------------------------------------------------------------------------


class Tool(Dependency[None]):
    """A tool that makes getting things faster."""

    material: str

    def is_met(self, ask):
        return ask.CURRENT.tool == self.material

    def assume(self, state):
        state.tool = self.material


class Worker(Bearer):
    def __init__(self):
        super().__init__()
        self.tool = "hand"


@pytest.fixture
def option(game, way):
    """A worker who needs so many things, and may make a tool before it; what came of it."""

    def play(count, price=20.0, fails="", limit=math.inf, **switches):
        async def run(self, ctx, wanted):
            needs = [Have("stone", count)]
            game.note("worth", await ctx.solve_if_worth(Tool("iron"), needs, limit=limit))
            await ctx.solve_all(needs)

        async def make(self, ctx, wanted):
            await ctx.sleep_ticks(2)
            if fails:
                ctx.fail(fails)
            ctx.entity.tool = wanted.material

        agent = game.add(
            way("Work", Build, run=run),
            way("Make", Tool, cost=price, run=make),
            way(
                "Dig", cost=lambda ask, wanted: wanted.count * (1.0 if ask.CURRENT.tool == "iron" else 4.0), quiet=True
            ),
            entity=Worker(),
        )
        for name, value in switches.items():
            setattr(agent.gameplay, name, value)
        game.solve(agent, Build())
        return next(what for _, who, what in game.log if who == "worth"), agent

    return play


@pytest.mark.states(
    "003: Optional Dependencies: They pay if much is to be done: the tree farm for a lot of wood, the beacon for many "
    "blocks",
)
def test_an_option_is_solved_when_what_is_to_be_done_is_cheaper_with_it(option, game):
    """Thirty stones cost 120 s by hand, and 20 s + 30 s with the tool."""
    worth, agent = option(30)
    assert worth is True
    assert game.tree(agent)[2:6] == [
        "      Option Tool [iron] - done",
        "         Make - done",
        "      Have [stone, 30] - done",
        "         Dig - done",
    ]


@pytest.mark.states(
    "003: Optional Dependencies: The cost is calculated twice, with and without it, and the smaller one selected",
)
@pytest.mark.parametrize(("count", "worth"), [(6, False), (7, True)])
def test_it_is_priced_twice_and_the_smaller_is_taken(option, game, count, worth):
    found, agent = option(count, price=19.0)  # 24 against 25 seconds; 28 against 26
    assert found is worth
    if not worth:
        assert game.tree(agent)[2] == "      Option Tool [iron] - skipped: 25 s with it, 24 s without"


@pytest.mark.states("003: Optional Dependencies: The cost is calculated twice, with and without it, and the ...")
def test_equal_is_not_worth_it(option):
    assert option(10, price=30.0)[0] is False


@pytest.mark.states("003: Optional Dependencies: If none is, or all would cost too much, it is skipped ...")
def test_a_limit_of_what_it_may_cost_by_itself(option, game):
    found, agent = option(1000, price=20.0, limit=19.0)
    assert found is False
    assert game.tree(agent)[2] == "      Option Tool [iron] - skipped: 20 s is too dear"


@pytest.mark.states("003: Optional Dependencies: The dependency list is checked for what is available and can run")
@pytest.mark.states("003: Optional Dependencies: If none is, or all would cost too much, it is skipped")
def test_an_option_that_nobody_can_is_left(option, game):
    found, agent = option(1000, price=lambda ask, wanted: ask.cannot("no iron"))
    assert found is False
    assert game.tree(agent)[2].startswith("      Option Tool [iron] - skipped")


@pytest.mark.states("003: Optional Dependencies: Optional dependencies need not be executed for the strategy to run")
def test_an_option_that_fails_costs_only_the_time(option, game):
    found, agent = option(30, fails="it broke")
    assert found is False
    assert agent.entity.bag == {"stone": 30}
    assert game.tree(agent)[2] == "      Option Tool [iron] - failed: Make failed (it broke)"


@pytest.mark.states("003: Optional Dependencies: Shortcuts: a condition holds already, and nothing is done ...")
def test_what_holds_already_is_no_work(game, way):
    async def run(self, ctx, wanted):
        ctx.entity.tool = "iron"
        return await ctx.solve_if_worth(Tool("iron"), [])

    agent = game.add(way("Work", Build, run=run), entity=Worker())
    assert game.solve(agent, Build()).value is True
    assert game.tree(agent) == ["Build [house] - done", "   Work - done"]


@pytest.mark.states("003: Optional Dependencies: Optional dependencies need not be executed for the strategy to ...")
def test_options_can_be_switched_off(option, game):
    found, agent = option(1000, takes_options=False)
    assert found is False
    assert not any("Option" in line for line in game.tree(agent))


def test_without_it_it_cannot_be_done_at_all(game, way):
    """Infinity without it, something with it: it is no option, and it is taken."""

    async def run(self, ctx, wanted):
        return await ctx.solve_if_worth(Tool("iron"), [Know("ore")])

    async def make(self, ctx, wanted):
        ctx.entity.tool = wanted.material

    agent = game.add(
        way("Work", Build, run=run),
        way("Make", Tool, cost=20, run=make),
        way("Dig", Know, cost=lambda ask, wanted: 5.0 if ask.CURRENT.tool == "iron" else None),
        entity=Worker(),
    )
    assert game.solve(agent, Build()).value is True


# --- who runs above ---------------------------------------------------------------------------------------------------


def test_what_would_need_who_asks_is_no_way(game, way):
    """The prices of a strategy that runs know who runs above it, as the decision will."""

    async def run(self, ctx, wanted):
        game.note("cost", ctx.cost(Reach("site")))
        game.note("worth", await ctx.solve_if_worth(Tool("iron"), [Reach("site")]))
        await ctx.solve_all([Reach("site"), Have("nail")])
        return "built"

    agent = game.add(
        way("House", Build, cost=3, run=run),
        way("Lift", Reach, cost=lambda ask, wanted: 1 + ask.cost(Build("house"))),  # needs a house
        way("Walk", Reach, cost=30, ticks=1, quiet=True),
        way("Forge", cost=5, quiet=True),
        way("Make", Tool, cost=1, quiet=True),
        entity=Worker(),
    )
    assert game.solve(agent, Build()).value == "built"
    assert [what for _, who, what in game.log if who == "cost"] == [30.0]
    assert tried(game) + tried(game, "Reach") == ["Have [nail, 1]", "Reach [site]"]
    order = [what for _, _, what, _ in game.steps("a", "try")]
    assert order == ["Build [house]", "Have [nail, 1]", "Reach [site]"]


@pytest.fixture
def farm(game, way):
    """The tree farm: 100 s to plant, then a log takes 2 s instead of 10; who gathers says what it costs with its farm."""

    class Farm(Dependency[None]):
        """A tree farm."""

        def is_met(self, ask):
            return ask.CURRENT.tool == "farm"

        def assume(self, state):
            state.tool = "farm"

    def estimate(ask, wanted):
        with_farm = ask.cost(Farm()) + 2.0 * wanted.count
        return min(10.0 * wanted.count, with_farm)

    async def gather(self, ctx, wanted):
        await ctx.solve_if_worth(Farm(), [wanted])
        await ctx.sleep((2.0 if ctx.entity.tool == "farm" else 10.0) * wanted.count)
        ctx.entity.bag[wanted.item] = wanted.count

    async def plant(self, ctx, wanted):
        await ctx.sleep(100)
        ctx.entity.tool = "farm"

    def play(count, rival):
        agent = game.add(
            way("Gather", cost=estimate, run=gather, patience=1e6),
            way("Plant", Farm, cost=100, run=plant, patience=1e6),
            way("Buy", cost=rival),
            entity=Worker(),
        )
        game.solve(agent, Have("log", count), ticks=20_000)
        return game.tree(agent)

    return play


def test_who_counts_on_its_own_option_is_chosen_for_it_and_takes_it(farm):
    """Sixty logs: 600 s by hand, 300 s from the market, and 220 s with a farm of one's own."""
    assert farm(60, rival=300) == [
        "Have [log, 60] - done",
        "   Gather - done",
        "      Option Farm - done",
        "         Plant - done",
    ]


def test_for_a_few_the_farm_is_left(farm):
    assert farm(5, rival=300)[2] == "      Option Farm - skipped: 110 s with it, 50 s without"
