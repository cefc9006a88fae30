"""An endless regress, and a circle, name themselves in the first sentence of the error."""

import pytest
from wants import Build, Have, Know, Reach


def first_sentence(error):
    return str(error).partition(". ")[0]


def needs(of):
    """A strategy that has something solved which follows from what it is run for."""

    async def run(self, ctx, wanted):
        await ctx.solve(of(wanted))

    return run


def number(wanted):
    return int(wanted.values_in_order()[0])


ROUND = "[ART320] Know [0] could not be solved: an endless regress, "
NEEDS = (
    " needs deep: Know [0] needs Reach [1] needs Know [2] needs Reach [3] needs Know [4] needs Reach [5] needs ...; "
)


@pytest.mark.states(
    "003: Hard Dependencies: An endless regress and a circle name themselves (ours)",
    source="Task Failure",
)
def test_each_needs_the_other_with_ever_new_arguments(game, way):
    one = way("One", Know, run=needs(lambda wanted: Reach(str(number(wanted) + 1))))
    two = way("Two", Reach, run=needs(lambda wanted: Know(str(number(wanted) + 1))))
    wish = game.solve(game.add(one, two), Know("0"))
    said = first_sentence(wish.error)
    assert said.startswith(ROUND)
    assert NEEDS in said
    assert wish.error.circle in said
    assert len(said) < 400


def test_through_the_gameplay_it_is_one_too(game, way):
    async def run(self, ctx, wanted):
        await ctx.agent.gameplay.know(str(number(wanted) + 1))

    wish = game.solve(game.add(way("One", Know, run=run)), Know("0"), ticks=50)
    assert first_sentence(wish.error).startswith(f"{ROUND}33 needs deep: Know [0] needs Know [1] needs")


@pytest.mark.slow
def test_two_ways_at_each_level_end_and_say_so(game, way, monkeypatch):
    """So many attempts as a request may take (ten thousand is dear here), and not as many ways as there are."""
    monkeypatch.setattr("agentrt.strategy.solve.MAX_ATTEMPTS", 500)
    ways = [
        way(f"Way{count}", Know, quiet=True, run=needs(lambda wanted, count=count: Know(f"{number(wanted) + count}")))
        for count in (1, 2)
    ]
    agent = game.add(*ways)
    agent.gameplay.lookahead = 0
    wish = game.solve(agent, Know("0"), ticks=30)
    assert first_sentence(wish.error).startswith(ROUND)


@pytest.mark.states("003: Hard Dependencies: An endless regress and a circle name themselves (ours) ...")
def test_a_circle_that_is_run_into(game, way):
    one = way("One", Know, needs=[Reach("hill")])
    two = way("Two", Reach, needs=[Know("truth")])
    wish = game.solve(game.add(one, two), Know("truth"))
    assert first_sentence(wish.error) == (
        "[ART320] Know [truth] could not be solved: a circle: Know [truth] needs Reach [hill] needs Know [truth]; "
        "One failed (Reach [hill] could not be solved)"
    )
    assert wish.error.circle == "a circle: Know [truth] needs Reach [hill] needs Know [truth]"


@pytest.mark.parametrize("lookahead", [2, 4, 9])
def test_a_circle_that_is_seen_ahead(game, way, lookahead):
    one = way("One", Know, cost=lambda ask, wanted: ask.cost(Reach("hill")))
    two = way("Two", Reach, cost=lambda ask, wanted: ask.total([Build(), Know("truth")]))
    agent = game.add(one, two, way("House", Build))
    agent.gameplay.lookahead = lookahead
    wish = game.solve(agent, Know("truth"))
    assert first_sentence(wish.error) == (
        "[ART320] Know [truth] could not be solved: a circle: Know [truth] needs Reach [hill] needs Know [truth]; "
        "One cannot (nobody can provide Reach [hill])"
    )


def test_a_circle_of_one(game, way):
    wish = game.solve(game.add(way("One", Know, needs=[Know("truth")])), Know("truth"))
    assert "could not be solved: a circle: Know [truth] needs Know [truth]; " in str(wish.error)


def test_a_long_circle_is_told_shortly(game, way):
    ring = [str(number) for number in range(12)]

    def run_of(wanted):
        return Know(ring[(int(wanted.what) + 1) % len(ring)])

    wish = game.solve(game.add(way("One", Know, run=needs(run_of))), Know("0"))
    said = first_sentence(wish.error)
    assert "a circle: " in said or "an endless regress, " in said
    assert len(said) < 400


def test_where_anything_else_is_the_reason_no_circle_is_told(game, way):
    one = way("One", Have, cost=lambda ask, wanted: ask.cost(Have("plank" if wanted.item == "log" else "log")))
    chop = way("Chop", Have, cost=lambda ask, wanted: ask.cannot("no tree") if wanted.item == "log" else None)
    wish = game.solve(game.add(one, chop), Have("log"))
    assert wish.error.circle == ""
    assert "no tree" in first_sentence(wish.error)


def test_deep_but_different_is_no_regress(game, way):
    async def run(self, ctx, wanted):
        ctx.fail("deep enough" if wanted.what == "2" else await ctx.solve(Know(str(number(wanted) + 1))))

    wish = game.solve(game.add(way("One", Know, run=run)), Know("0"))
    assert wish.error.circle == ""
