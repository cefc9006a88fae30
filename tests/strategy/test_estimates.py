"""What a dependency would cost: look-ahead, assumed worlds, the memo, circles, branches, the budget of a decision."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mines import At, Digger, Have, Look, shop, way_to

from agentrt import Agent
from agentrt.strategy import Branch, Dependency, Strategy
from agentrt.strategy.ask import Estimator, Kept, Params, Scenario, is_as_assumed, take_over


def gameplay_of(*strategies, **bag):
    """The gameplay of an agent that is in no runtime."""
    entity = Digger(**bag)
    agent = Agent(entity, name="a")
    entity.gameplay = agent.gameplay
    agent.gameplay.add_strategy(*strategies)
    return agent.gameplay


def best(gameplay, wanted):
    return gameplay.offers(wanted)[0][:2]


def needing(name, item, *needs, cost=1.0, **attributes):
    """A strategy that has one item, for what its needs cost and its own seconds."""
    return shop(name, item, price=lambda ask, wanted: cost + ask.total(needs), reads=("bag",), **attributes)


# --- how far it is looked -------------------------------------------------------------------------------------------------


class TestLookahead:
    CHAIN = (
        needing("ByKey", "gold", Have("key"), cost=1.0),  # looks best
        shop("ByHand", "gold", price=50.0),
        needing("Smith", "key", Have("iron"), cost=1.0),
        needing("Smelter", "iron", Have("ore"), cost=1.0),
        shop("Digging", "ore", price=500.0),
    )

    @pytest.mark.states(
        "003: Heuristic Based Task Selection, 4: How far is it looked ahead? As far as is wanted; a first step that "
        "looks good is seen through",
    )
    @pytest.mark.states(
        "003: Planning Ahead Using Probability: The cost of the whole tree is estimated, so that decisions above rest "
        "on it",
    )
    @pytest.mark.parametrize(
        ("lookahead", "chosen"),
        [(0, ("by_key", 11.0)), (1, ("by_key", 12.0)), (2, ("by_key", 13.0)), (3, ("by_hand", 50.0))],
    )
    def test_a_poor_first_step_is_seen_through_when_it_is_looked_far_enough(self, lookahead, chosen):
        gameplay = gameplay_of(*self.CHAIN)
        gameplay.lookahead = lookahead
        assert best(gameplay, Have("gold")) == chosen

    def test_below_the_last_level_the_least_constant_that_is_declared_counts(self):
        gameplay = gameplay_of(needing("Smith", "key", Have("iron")), shop("Digging", "iron", price=500.0, cost=40.0))
        gameplay.lookahead = 0
        assert best(gameplay, Have("key")) == ("smith", 11.0)  # Smith says none: the dependency's own
        gameplay.add_strategy(shop("Shop", "iron", price=9.0, cost=3.0))
        assert best(gameplay, Have("key")) == ("smith", 4.0)

    def test_what_is_met_costs_nothing_and_what_nobody_has_is_impossible(self):
        gameplay = gameplay_of(shop("Shop", "axe", price=9.0), coal=1)
        costs = [gameplay.cost(Have(item)) for item in ("coal", "axe", "moon")]
        assert costs == [0.0, 9.0, inf]
        assert gameplay.cost(Look()) == inf  # there is no provider at all

    @pytest.mark.states("003: Global Dependency Lists: Equal costs keep the order ...")
    def test_of_equal_ones_the_first_that_was_loaded_is_counted_on(self):
        gameplay = gameplay_of(shop("Zoe", "axe", price=9.0), shop("Ann", "axe", price=9.0))
        assert gameplay.forecast(Have("axe")).render() == "Have [axe, 1]: 9 s by Zoe"

    @pytest.mark.states("003: Optional Dependencies: The cost is calculated twice, with and without it, and the ...")
    def test_options_are_priced_with_and_without(self):
        def price(ask, wanted):
            return ask.option(Have("axe"), [Have("log"), Have("log", 2)])

        with_axe = shop(
            "Logger", "log", price=lambda ask, wanted: 5.0 if ask.is_met(Have("axe")) else 20.0, reads=("bag",)
        )
        for axe, cost in ((4.0, 14.0), (29.0, 39.0), (30.0, 40.0), (99.0, 40.0)):
            gameplay = gameplay_of(shop("Frame", "frame", price=price), with_axe, shop("Tools", "axe", price=axe))
            assert gameplay.cost(Have("frame")) == cost


# --- assumed worlds -------------------------------------------------------------------------------------------------------


def walking(ask, wanted):
    return 7.0 if ask.CURRENT.place == "home" else 3.0


class Walk(Strategy):
    provides = At
    reads = ("place",)

    def estimate(self, ask, wanted):
        return walking(ask, wanted)

    async def run(self, ctx, wanted):
        ctx.entity.go(wanted.where)


class TestAssuming:
    @pytest.mark.states(
        "003: Planning Ahead Using Probability: Strategies are asked under the most likely state of the world at each "
        "position of the tree",
    )
    def test_each_need_is_priced_in_the_world_that_the_ones_before_leave(self):
        gameplay = gameplay_of(needing("Trip", "trip", At("hill"), At("lake"), At("lake")), Walk)
        assert gameplay.cost(Have("trip")) == 1.0 + 7.0 + 3.0 + 0.0
        assert gameplay.agent.entity.place == "home"

    @pytest.mark.states(
        "003: Left open, looking ahead: An assumed world is one in which what the needs of the likeliest branch bring "
        "about holds, too (ours)",
        source="Planning Ahead Using Probability",
    )
    def test_a_tool_that_was_made_for_one_thing_is_there_for_the_next(self):
        """What the needs of a likely branch bring about is assumed, too."""
        gameplay = gameplay_of(
            way_to(
                "MineIron",
                Have,
                lambda ask, wanted: [Branch(cost=5.0, needs=(Have("pick"),))] * (wanted.item == "iron"),
            ),
            way_to(
                "MineGold",
                Have,
                lambda ask, wanted: [Branch(cost=6.0, needs=(Have("pick"),))] * (wanted.item == "gold"),
            ),
            shop("Tools", "pick", price=100.0),
            needing("Crown", "crown", Have("iron"), Have("gold")),
        )
        assert gameplay.cost(Have("crown")) == 1.0 + (5.0 + 100.0) + 6.0

    @pytest.mark.states("003: Planning Ahead Using Probability: Strategies are asked under the most likely state ...")
    @pytest.mark.states("003: Left open, looking ahead: An assumed world is one in which what the needs of the ...")
    @pytest.mark.parametrize("is_function", [False, True])
    def test_a_branch_expects_fields_or_writes_them(self, is_function):
        def expect(state):
            state.place = "mine"
            state.bag = {**state.bag, "pick": 0}

        expected = expect if is_function else {"place": "mine", "bag": {"pick": 0}}
        gameplay = gameplay_of(
            way_to(
                "Mine",
                Have,
                lambda ask, wanted: [Branch(cost=5.0, needs=(Have("pick"),), expect=expected)] * (wanted.item == "ore"),
            ),
            shop("Tools", "pick", price=100.0),
            Walk,
            needing("Both", "both", Have("ore"), At("hill"), Have("pick")),
        )
        assert gameplay.cost(Have("both")) == 1.0 + 105.0 + 3.0 + 100.0  # away from home, and the pick is used up

    def test_a_hook_that_raises_while_assuming_is_reported_once_and_changes_nothing(self, game):
        class Odd(Dependency[None], activity="mine:odd"):
            def assume(self, state):
                state.place = "hill"
                raise ValueError("no")

        class DoOdd(Strategy):
            provides = Odd
            cost = 1.0

            async def run(self, ctx, wanted):
                pass

        agent = game.add(DoOdd, Walk, needing("Trip", "trip", Odd(), At("lake"), At("lake")), entity=Digger())
        game.tick()
        assert agent.gameplay.cost(Have("trip")) == 1.0 + 1.0 + 7.0
        assert [hook for _, hook, _ in game.faults()] == ["assume"]

    def test_questions_in_another_world(self):
        seen = {}

        def price(ask, wanted):
            there = ask.within(ask.after(At("hill")))
            elsewhere = ask.within(ask.when({"place": "lake"}, there.world))
            seen["places"] = [one.CURRENT.place for one in (ask, there, elsewhere)]
            seen["costs"] = [one.cost(At("river")) for one in (ask, there, elsewhere)]
            seen["assumed"] = [one.is_assumed for one in (ask, there, elsewhere)]
            return 1.0

        gameplay_of(shop("Map", "map", price=price), Walk).cost(Have("map"))
        assert seen == {
            "places": ["home", "hill", "lake"],
            "costs": [7.0, 3.0, 3.0],
            "assumed": [False, True, True],
        }

    def test_two_who_need_the_same_look_into_the_same_future(self):
        asks = []
        trips = [needing(f"Trip{number}", "trip", Have("boat"), Have("oar")) for number in range(20)]
        gameplay = gameplay_of(*trips, shop("Tools", "boat", "oar", price=3.0, asks=asks, reads=()))
        assert gameplay.cost(Have("trip")) == 7.0
        assert asks == [Have("boat"), Have("oar")]


# --- the memo -------------------------------------------------------------------------------------------------------------


class TestMemo:
    @pytest.mark.states(
        "003: Heuristic Based Task Selection, 3: Caching: what was found out is kept until a topic changes that it "
        "rests on",
    )
    def test_only_those_are_asked_again_who_read_what_changed(self):
        told = []

        def noted(name, topics):
            def price(ask, wanted):
                told.append(name)
                return 1.0

            return shop(name, price=price, reads=topics)

        gameplay = gameplay_of(noted("A", ("bag",)), noted("B", ("place",)), noted("C", ()), noted("D", None))
        rounds = []
        for topics in ((), ("bag",), ("place",), ("bag", "place"), ("weather",)):
            if topics:
                gameplay.changed(*topics)
            gameplay.offers(Have("axe"))
            rounds.append("".join(told))
            told.clear()
        gameplay.changed()
        gameplay.offers(Have("axe"))
        assert [*rounds, "".join(told)] == ["ABCD", "AD", "BD", "ABD", "D", "ABCD"]

    def test_what_is_read_further_down_counts_for_all_above(self):
        asks = []
        deep = shop("Deep", "c", price=lambda ask, wanted: float(ask.entity.deep), asks=asks, reads=("deep",))
        gameplay = gameplay_of(needing("A", "a", Have("b")), needing("B", "b", Have("c")), deep)
        found = []
        for depth in (5, 6, 7):
            gameplay.agent.entity.deep = depth
            gameplay.changed("deep")
            found.append((gameplay.cost(Have("a")), gameplay.cost(Have("a"))))
        assert found == [(7.0, 7.0), (8.0, 8.0), (9.0, 9.0)]
        assert asks == [Have("c")] * 3

    @pytest.mark.states("003: Heuristic Based Task Selection, 3: Caching: what was found out is kept until a topic ...")
    def test_who_says_not_what_he_reads_is_asked_once_in_a_decision(self):
        asks = []
        blind = shop("Blind", "b", price=2.0, asks=asks, reads=None)
        gameplay = gameplay_of(*(needing(f"A{number}", "a", Have("b")) for number in range(5)), blind)
        gameplay.cost(Have("a"))
        assert asks == [Have("b")]
        gameplay.cost(Have("a"))
        assert asks == [Have("b")] * 2

    def test_a_topic_can_be_told_while_being_asked(self):
        asks = []

        def price(ask, wanted):
            ask.reads("moon")
            return 1.0

        gameplay = gameplay_of(shop("Tide", "fish", price=price, asks=asks, reads=()))
        for topic in ("sun", "moon", "sun"):
            gameplay.cost(Have("fish"))
            gameplay.changed(topic)
        gameplay.cost(Have("fish"))
        assert len(asks) == 2

    def test_a_new_strategy_is_considered_at_once(self):
        gameplay = gameplay_of(needing("A", "a", Have("b")), shop("B", "b", price=9.0))
        costs = [gameplay.cost(Have("a"))]
        remove = gameplay.add_strategy(shop("Cheap", "b", price=1.0))
        costs.append(gameplay.cost(Have("a")))
        remove()
        costs.append(gameplay.cost(Have("a")))
        assert costs == [10.0, 2.0, 10.0]

    def test_what_depended_on_a_circle_holds_only_in_the_circle(self):
        """B by way of A is impossible while A is asked; B by itself is not."""
        gameplay = gameplay_of(
            needing("A", "a", Have("b")), needing("B", "b", Have("a")), shop("Shop", "a", price=30.0)
        )
        assert gameplay.cost(Have("a")) == 30.0
        assert gameplay.cost(Have("b")) == 31.0
        assert gameplay.offers(Have("a"))[:2] == [
            ("shop", 30.0, ""),
            ("a", 32.0, ""),
        ]  # by way of B, by way of the shop

    @pytest.mark.states("003: Left open, looking ahead: What is remembered is what would be found out, whatever ...")
    def test_who_is_being_run_is_left_out_there_and_nowhere_else(self):
        gameplay = gameplay_of(needing("B", "b", Have("a")), shop("Far", "a", price=30.0), shop("Near", "a", price=5.0))
        estimator = gameplay.estimator
        chain = [(gameplay.catalog.named("near"), Have("a"))]
        other = [(gameplay.catalog.named("far"), Have("a"))]
        found = []
        for running in (chain, (), other, chain, [*chain, *other], ()):
            with estimator.deciding(running):
                found.append(estimator.cost(Have("b")))
        assert found == [31.0, 6.0, 6.0, 31.0, inf, 6.0]
        before = estimator.asked
        with estimator.deciding(chain):
            estimator.cost(Have("b"))
        assert estimator.asked == before  # both are kept

    def test_what_was_priced_outside_of_a_circle_does_not_hold_in_it(self):
        """What B costs by way of A says nothing to A."""
        gameplay = gameplay_of(
            needing("A", "a", Have("b")), needing("B", "b", Have("a")), shop("Late", "b", price=90.0)
        )
        gameplay.lookahead = 6
        assert gameplay.cost(Have("b")) == 90.0
        assert gameplay.offers(Have("a"))[0][:2] == ("a", 91.0)
        gameplay = gameplay_of(needing("A", "a", Have("b")), needing("B", "b", Have("a")))
        assert gameplay.cost(Have("b")) == inf
        assert gameplay.offers(Have("a"))[0][1] == inf
        assert gameplay.offers(Have("b"))[0][1] == inf

    @pytest.mark.parametrize("lookahead", [0, 1, 2, 3])
    def test_what_needs_itself_is_impossible_however_far_it_is_looked(self, lookahead):
        gameplay = gameplay_of(needing("A", "a", Have("a", 2)))
        gameplay.lookahead = lookahead
        assert gameplay.offers(Have("a")) == [("a", inf, "nobody can provide Have [a, 2]")]
        gameplay.cost(Have("a"))
        assert gameplay.offers(Have("a")) == [("a", inf, "nobody can provide Have [a, 2]")]

    @pytest.mark.states(
        "003: Heuristic Based Task Selection, 3: How long does it take to guess? What one decision may ask is bounded",
    )
    @pytest.mark.slow
    def test_no_decision_asks_more_than_it_may(self):
        catalog = [
            needing(f"S{item}{number}", f"i{item}", Have(f"i{item + 1}"), Have(f"i{item + 2}"), cost=1.0 + number)
            for item in range(12)
            for number in range(4)
        ]
        gameplay = gameplay_of(*catalog, shop("End", *(f"i{item}" for item in range(12, 15)), price=1.0))
        gameplay.lookahead = 7
        gameplay.most_asks = 300
        estimator = gameplay.estimator
        before = estimator.asked
        cost = gameplay.cost(Have("i0"))
        assert cost < inf
        most = 300 + 7 * len(catalog)  # those that were being considered are considered to their end
        assert 300 <= estimator.asked - before <= most
        gameplay.most_asks = 10**9
        assert gameplay.cost(Have("i0")) != cost  # what was cut short was not kept
        assert estimator.asked > 2 * most

    @pytest.mark.parametrize(("most", "cost"), [(0, 10.0), (1, 1.0 + 10.0), (2, 1.0 + 1.0 + 10.0)])
    def test_beyond_what_a_decision_may_ask_needs_count_with_their_constants(self, most, cost):
        chain = [needing(f"S{item}", f"i{item}", Have(f"i{item + 1}"), cost=1.0) for item in range(4)]
        gameplay = gameplay_of(*chain, shop("End", "i4", price=500.0))
        gameplay.lookahead = 9
        gameplay.most_asks = most
        assert gameplay.cost(Have("i0")) == cost


class TestTakingOver:
    """What was found out in an assumed world, when it comes true."""

    def take(self, *kept, fields=(), versions=None):
        source, into = Scenario(), Scenario()
        for key, one in kept:
            one.keep_in(source.table(Have("a"), 1), key)
        count = take_over(source, into, fields, versions or {}, 7)
        return count, {key: [one.value for one in found] for key, found in into.table(Have("a"), 1).items()}

    @pytest.mark.states(
        "003: Left open, looking ahead: A world that turns out as it was assumed takes over what was found out in it; "
        "what changed besides is asked anew (decided)",
        source="Planning Ahead Using Probability",
    )
    def test_what_read_nothing_else_than_what_was_assumed(self):
        kept = [
            ("same", Kept(1, (("bag", 3),), frozenset(), frozenset(), 1, 1)),
            ("assumed", Kept(2, (("place", 3),), frozenset(), frozenset(), 1, 1)),
            ("other", Kept(3, (("bag", 3), ("sun", 3)), frozenset(), frozenset(), 1, 1)),
            ("unknown", Kept(4, None, frozenset(), frozenset(), 1, 1)),
        ]
        versions = {"bag": 3, "place": 4, "sun": 4}
        assert self.take(*kept, fields={"place"}, versions=versions) == (2, {"same": [1], "assumed": [2]})

    @pytest.mark.parametrize(("assumed", "fields"), [(3, {"odd", "place"}), (4, None), ("raises", None)])
    def test_a_world_comes_true_if_all_that_was_assumed_does(self, assumed, fields):
        class Odd(int):
            __hash__ = int.__hash__

            def __eq__(self, other):
                if isinstance(other, str):
                    raise ValueError("no")
                return int(self) == other

        gameplay = gameplay_of()
        gameplay.agent.entity.odd = Odd(3)
        layer = gameplay.estimator.state.layer(None)
        layer.place = "home"
        layer.odd = assumed
        found = is_as_assumed(layer, gameplay.estimator.state.layer(None))
        assert found == fields if fields is None else set(found) == fields

    def test_worlds_above_it_are_not(self):
        """Their layers hide what changes from now on."""
        kept = ("after", Kept(Scenario(), (), frozenset(), frozenset(), 1, 1))
        assert self.take(kept) == (0, {})


# --- branches -------------------------------------------------------------------------------------------------------------


class TestBranches:
    def cost(self, branches, *more, item="ore"):
        mine = way_to("Mine", Have, lambda ask, wanted: branches if wanted.item == item else [])
        gameplay = gameplay_of(mine, *more)
        return next(cost for name, cost, _ in gameplay.offers(Have(item)) if name == "mine")

    @pytest.mark.states("003: Planning Ahead Using Probability: The cost of the whole tree is estimated, so that ...")
    def test_shares_of_their_sum(self):
        assert self.cost([Branch(3, 10.0), Branch(1, 30.0), Branch(0, 999.0)]) == 15.0

    @pytest.mark.states("003: Planning Ahead Using Probability: What would come next is estimated ...")
    def test_needs_are_counted_with_their_probability(self):
        tools = shop("Tools", "pick", price=100.0)
        assert self.cost([Branch(0.75, 10.0), Branch(0.25, 10.0, (Have("pick"),))], tools) == 35.0

    @pytest.mark.states(
        "003: Left open, looking ahead: A branch that fails costs what the next strategy would cost; with nobody else "
        "it counts as tried again (decided)",
        source="Planning Ahead Using Probability",
    )
    def test_a_branch_that_fails_costs_what_the_next_best_would(self):
        failing = [Branch(0.5, 10.0), Branch(0.5, 4.0, fails=True)]
        assert self.cost(failing, shop("Shop", "ore", price=60.0), shop("Dear", "ore", price=99.0)) == 7.0 + 30.0

    @pytest.mark.states("003: Left open, looking ahead: A branch that fails costs what the next strategy would ...")
    def test_with_nobody_else_it_is_tried_until_it_succeeds(self):
        assert self.cost([Branch(0.25, 10.0), Branch(0.75, 10.0, fails=True)]) == 40.0

    @pytest.mark.states("003: Left open, looking ahead: A branch that fails costs what the next strategy would ...")
    def test_a_branch_that_needs_the_impossible_is_one_that_fails(self):
        branches = [Branch(0.5, 10.0), Branch(0.5, 4.0, (Have("moon"),))]
        assert self.cost(branches, shop("Shop", "ore", price=60.0)) == 7.0 + 30.0
        assert self.cost(branches) == 14.0

    def test_without_a_branch_that_succeeds_it_cannot(self):
        shops = (shop("Shop", "ore", price=60.0),)
        assert self.cost([Branch(1.0, 4.0, fails=True)], *shops) == inf
        assert self.cost([Branch(1.0, 4.0, (Have("moon"),))], *shops) == inf
        assert self.cost([], *shops) == inf

    def test_two_who_may_fail_fall_back_to_each_other_and_then_to_a_third(self):
        other = way_to("Other", Have, lambda ask, wanted: [Branch(0.5, 2.0), Branch(0.5, 2.0, fails=True)])
        failing = [Branch(0.5, 10.0), Branch(0.5, 10.0, fails=True)]
        # Other, asked by Mine: half of the time the shop. Mine: half of the time Other.
        assert self.cost(failing, other, shop("Shop", "ore", price=60.0)) == 10.0 + 0.5 * (2.0 + 0.5 * 60.0)

    @pytest.mark.parametrize("wrong", [Branch(1.0, -5.0), Branch(1.0, float("nan"))])
    def test_a_cost_that_is_none_is_cannot(self, wrong, game):
        agent = game.add(way_to("Mine", Have, [wrong]), entity=Digger())
        game.tick()
        assert agent.gameplay.cost(Have("ore")) == inf
        assert [hook for _, hook, _ in game.faults()] == ["estimate"]

    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            (["plain"], "TypeError: it foresees 'plain'"),
            ([Branch(float("nan"))], "ValueError: the probability of a branch is nan"),
            ([Branch(needs=("pick",))], "TypeError: a branch needs 'pick'"),
        ],
    )
    @pytest.mark.parametrize("has_estimate", [False, True])
    def test_what_is_no_branch_is_cannot(self, wrong, error, has_estimate, game):
        more = {"estimate": lambda self, ask, wanted: 3.0} if has_estimate else {}
        agent = game.add(way_to("Mine", Have, wrong, **more), entity=Digger())
        game.tick()
        assert agent.gameplay.cost(Have("ore")) == inf
        assert [one[2].startswith(error) for one in game.faults()] == [True]


# --- the memo is right ----------------------------------------------------------------------------------------------------

ITEMS = ["a", "b", "c", "d"]
STRATEGY = st.tuples(
    st.sampled_from(ITEMS),
    st.integers(0, 9),
    st.lists(st.tuples(st.sampled_from(ITEMS), st.integers(1, 2)), max_size=2),
    st.sampled_from([("bag",), ("bag", "price"), None]),
)


def _one(number, item, cost, needs, reads):
    wanted_needs = tuple(Have(need, count) for need, count in needs)

    def price(ask, wanted):
        dear = ask.entity.price if reads is None or "price" in reads else 0
        return ask.expected([Branch(2, cost + dear, wanted_needs), Branch(1, 1.0, wanted_needs[:1])])

    return shop(f"S{number}", item, price=price, reads=reads)


@pytest.mark.states("003: Heuristic Based Task Selection, 3: Caching: what was found out is kept until a topic ...")
@pytest.mark.states(
    "003: Left open, looking ahead: What is remembered is what would be found out, whatever changed, and whoever is "
    "being run (ours)",
    source="Heuristic Based Task Selection, 3",
)
@pytest.mark.slow
@given(
    st.lists(STRATEGY, min_size=1, max_size=7),
    st.lists(
        st.one_of(st.tuples(st.just("bag"), st.sampled_from(ITEMS)), st.tuples(st.just("price"), st.integers(0, 5))),
        max_size=5,
    ),
    st.integers(0, 4),
    st.lists(st.lists(st.tuples(st.integers(0, 6), st.sampled_from(ITEMS)), max_size=3), min_size=1, max_size=3),
)
def test_with_the_memo_it_is_what_it_is_without(declared, changes, lookahead, running):
    """Whatever changes, and whoever is being run above."""
    gameplay = gameplay_of(*(_one(number, *one) for number, one in enumerate(declared)))
    entity = gameplay.agent.entity
    entity.price = 0
    gameplay.lookahead = lookahead
    providers = gameplay.catalog.providers
    chains = [(), *([(providers[one % len(providers)], Have(item)) for one, item in chain] for chain in running)]
    for topic, value in [("price", 0), *changes]:
        if topic == "bag":
            entity.put(**{value: 1})
        else:
            entity.price = value
            entity.tell("price")
        for item in ITEMS:
            for chain in chains:
                fresh = Estimator(gameplay.estimator.state, Params())
                with fresh.deciding(chain), gameplay.estimator.deciding(chain):
                    assert gameplay.estimator.cost(Have(item)) == fresh.cost(Have(item))
                fresh = Estimator(gameplay.estimator.state, Params())
                assert gameplay.estimator.offers(Have(item), None, chain) == fresh.offers(Have(item), None, chain)
