"""Supplies: how much will be used up, and how many tries something takes."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mines import Digger, Have, Look, shop, way_to

from agentrt import Agent
from agentrt.errors import ArgumentError
from agentrt.strategy import Branch, tries_for


def agent_of(*strategies):
    entity = Digger()
    agent = Agent(entity, name="a")
    entity.gameplay = agent.gameplay
    agent.gameplay.add_strategy(*strategies)
    return agent


def supplies(*strategies, needs, confidence=0.9):
    """What a strategy is told that it will use up for its needs."""
    found = []

    def price(ask, wanted):
        found.append(ask.supplies(*needs, confidence=confidence))
        return 1.0

    agent_of(*strategies, shop("Asker", "answer", price=price)).gameplay.cost(Have("answer"))
    return found[0]


def digging(*branches):
    return way_to("Dig", Look, branches)


# --- tries ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "probability", "confidence", "tries"),
    [
        (0, 0.5, 0.9, 0),
        (1, 1.0, 0.99, 1),
        (7, 1.0, 0.01, 7),
        (1, 0.5, 0.5, 1),
        (1, 0.5, 0.9, 4),
        (7, 0.25, 0.9, 40),
        (1, 0.9, 0.9, 1),
    ],
)
def test_tries(successes, probability, confidence, tries):
    assert tries_for(successes, probability, confidence) == tries


@pytest.mark.states(
    "003: Left open, looking ahead: How many tries something takes until it succeeded often enough (ours)",
    source="Planning Ahead Using Probability",
)
@given(st.integers(0, 6), st.sampled_from([0.1, 0.25, 0.5, 0.8, 1.0]), st.sampled_from([0.0, 0.3, 0.5, 0.9, 0.99]))
def test_tries_are_the_least_number_that_is_enough(successes, probability, confidence):
    """Computed again from the binomial distribution, with fractions."""
    chance, wanted = Fraction(probability), Fraction(confidence)

    def certain(tries):
        ways = (
            comb(tries, had) * chance**had * (1 - chance) ** (tries - had) for had in range(min(successes, tries + 1))
        )
        return 1 - sum(ways, Fraction(0))

    tries = tries_for(successes, probability, confidence)
    slack = Fraction(1, 10**9)
    assert certain(tries) >= wanted - slack
    assert tries == 0 or certain(tries - 1) < wanted + slack


def test_tries_come_to_an_end():
    assert tries_for(1, 1e-9, 0.99) == 100_000


@pytest.mark.parametrize("wrong", [(-1, 0.5, 0.9), (1, 0.0, 0.9), (1, 1.5, 0.9), (1, 0.5, 1.0), (1, float("nan"), 0.5)])
def test_tries_out_of_range(wrong):
    with pytest.raises(ArgumentError, match="tries_for"):
        tries_for(*wrong)


# --- supplies -------------------------------------------------------------------------------------------------------------


def test_what_nobody_says_to_use_is_not_there():
    assert supplies(digging(Branch()), needs=[Look()]) == {}
    assert supplies(needs=[Look()]) == {}


def test_the_least_that_is_enough_with_some_confidence():
    dig = digging(
        Branch(0.8, uses={"pick": 1}), Branch(0.15, uses={"pick": 3, "torch": 1}), Branch(0.05, uses={"pick": 9})
    )
    found = [supplies(dig, needs=[Look()], confidence=confidence) for confidence in (0.5, 0.8, 0.9, 0.96)]
    assert found == [{"pick": 1}, {"pick": 1}, {"pick": 3, "torch": 1}, {"pick": 9, "torch": 1}]


@pytest.mark.states(
    "003: Planning Ahead Using Probability: How many pickaxes to bring into a mine, from the probability of diamonds",
)
def test_how_many_pickaxes_for_seven_diamonds():
    """Each diamond is a tunnel, in a quarter of them two; a tunnel wears a third of a pickaxe."""
    tunnel = digging(Branch(0.75, uses={"pick": 1 / 3}), Branch(0.25, uses={"pick": 2 / 3}))
    mine = way_to(
        "Mine", Have, lambda ask, wanted: [Branch(needs=(Look("vein"),) * wanted.count)] * (wanted.item == "gem")
    )
    found = {
        confidence: supplies(tunnel, mine, needs=[Have("gem", 7)], confidence=confidence)
        for confidence in (0.0, 0.5, 0.9, 0.999)
    }
    assert {confidence: one["pick"] for confidence, one in found.items()} == {
        0.0: pytest.approx(7 / 3),
        0.5: pytest.approx(9 / 3),
        0.9: pytest.approx(10 / 3),
        0.999: pytest.approx(13 / 3),
    }


def test_fractions_of_a_thing_add_up_to_whole_ones():
    dig = digging(Branch(uses={"pick": 0.2}))
    assert supplies(dig, needs=[Look()] * 5) == {"pick": 1.0}


def test_what_is_met_uses_nothing_and_what_was_made_on_the_way_is_there():
    craft = way_to("Craft", Have, lambda ask, wanted: [Branch(uses={"wood": 2})] * (wanted.item == "pick"))
    mine = way_to(
        "Mine", Have, lambda ask, wanted: [Branch(needs=(Have("pick"),), uses={"food": 1})] * (wanted.item == "gem")
    )
    assert supplies(craft, mine, needs=[Have("gem"), Have("pick"), Have("gem", 2)]) == {"food": 2.0, "wood": 2.0}


def test_it_is_looked_no_further_than_the_agent_looks():
    chain = [
        way_to(
            f"S{number}",
            Have,
            lambda ask, wanted, number=number: (
                [Branch(needs=(Have(f"s{number + 1}"),), uses={f"u{number}": 1})] if wanted.item == f"s{number}" else []
            ),
        )
        for number in range(9)
    ]
    last = shop("Last", "s9", price=1.0)
    assert list(supplies(*chain, last, needs=[Have("s0")])) == ["u0", "u1", "u2"]  # below the one who asks


def test_many_different_amounts_are_made_coarser_upwards():
    wild = [digging(*(Branch(1.0, uses={"pick": 1.0 + number / 7.0}) for number in range(60)))]
    exact = 4 * (1.0 + 59 / 7.0)
    found = supplies(*wild, needs=[Look()] * 4, confidence=0.999999999)
    assert found["pick"] <= exact + 1e-6
    assert found["pick"] > exact * 0.9
    half = supplies(*wild, needs=[Look()] * 4, confidence=0.5)["pick"]
    assert 4 * (1.0 + 29.5 / 7.0) <= half < 4 * (1.0 + 31.5 / 7.0)


@pytest.mark.states("003: Left open, looking ahead: What the rest of the tree will use up, by its branches ...")
@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=4), st.integers(1, 4))
def test_supplies_are_those_of_all_that_may_happen(branches, times):
    """Computed again by going through all that may happen."""
    total = sum(share for share, _ in branches)
    outcomes = {0: Fraction(1)}
    for _ in range(times):
        after = {}
        for used, chance in outcomes.items():
            for share, uses in branches:
                after[used + uses] = after.get(used + uses, 0) + chance * Fraction(share, total)
        outcomes = after
    dig = digging(*(Branch(share, uses={"pick": uses}) for share, uses in branches))
    for confidence in (0.25, 0.75, 0.9):
        certain = Fraction(0)
        enough = []
        for used, chance in sorted(outcomes.items()):
            certain += chance
            if certain >= Fraction(confidence) - Fraction(1, 10**9):
                enough.append(used)
        assert supplies(dig, needs=[Look()] * times, confidence=confidence) == (
            {"pick": enough[0]} if enough[0] else {}
        )


def test_confidence_out_of_range(game):
    async def run(self, ctx, wanted):
        with pytest.raises(ArgumentError, match="confidence"):
            ctx.supplies(Look(), confidence=1.0)
        game.note("asked")

    agent = game.add(way_to("Dig", Look, [Branch()], run), entity=Digger())
    game.solve(agent, Look())
    assert game.take_log() == [(1, "asked")]


# --- of the rest of the tree ----------------------------------------------------------------------------------------------


@pytest.mark.states("003: Planning Ahead Using Probability: How many pickaxes to bring into a mine, from the ...")
@pytest.mark.states(
    "003: Left open, looking ahead: What the rest of the tree will use up, by its branches (decided: as far as it is "
    "looked ahead)",
    source="Planning Ahead Using Probability",
)
def test_a_strategy_is_told_what_the_rest_of_the_tree_will_use(game):
    """Packing, below the mine: what the mine still needs, and its own, and not what was done."""
    told = []

    async def pack(self, ctx, wanted):
        told.append(ctx.supplies())
        told.append(ctx.supplies(Have("gem", 2)))

    async def run(self, ctx, wanted):
        told.append(ctx.supplies())
        for need in (Have("lamp"), Look("pack"), Look("vein")):
            await ctx.solve(need)
        ctx.entity.put(gem=1)

    mine = way_to(
        "Mine",
        Have,
        lambda ask, wanted: (
            [Branch(needs=(Have("lamp"), Look("pack"), Look("vein")), uses={"food": 1})] * (wanted.item == "gem")
        ),
        run,
    )
    lamp = way_to("Lamp", Have, lambda ask, wanted: [Branch(uses={"oil": 3})] * (wanted.item == "lamp"))
    packing = way_to("Pack", Look, lambda ask, wanted: [Branch(uses={"rope": 1})] * (wanted.what == "pack"), pack)
    vein = way_to("Vein", Look, lambda ask, wanted: [Branch(uses={"pick": 0.5})] * (wanted.what == "vein"))
    entity = Digger()
    agent = game.add(mine, lamp, packing, vein, entity=entity)
    entity.gameplay = agent.gameplay
    assert game.solve(agent, Have("gem")).error is None
    assert told == [
        {"food": 1.0, "oil": 3.0, "pick": 0.5, "rope": 1.0},
        {"food": 1.0, "pick": 0.5, "rope": 1.0},
        {},  # the mine is being run for that: nobody else has gems
    ]


def test_without_look_ahead_nothing_is_known(game):
    told = []

    async def run(self, ctx, wanted):
        told.append(ctx.supplies())

    agent = game.add(way_to("Dig", Look, [Branch(uses={"pick": 1})], run), entity=Digger())
    agent.gameplay.lookahead = 0
    game.solve(agent, Look())
    assert told == [{}]
