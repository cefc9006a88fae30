"""After a wait the choice is made anew: what holds then, what everybody says then, and patience with it."""

import pytest
from wants import Build, Have, Know, Reach

from agentrt.errors import DependencyFailedError
from agentrt.strategy import Interruptible, Interruption
from agentrt.strategy.solve import Incident

RESTART, PAUSE, TREE = Interruptible.RESTART, Interruptible.PAUSE, Interruptible.TREE


def attack(agent, wanted=None, which=-1, **options):
    agent.gameplay.running[which].interruptions.add(
        Incident(Interruption("attack"), wanted or Reach("home"), **options)
    )


def runs(game):
    return [(tick, who) for tick, who, what in game.log if what == "run"]


class Said:
    """What strategies say in turn: a number each, which a test changes."""

    def __init__(self, **costs):
        self.costs = costs

    def __call__(self, name):
        return lambda ask, wanted: self.costs[name]


@pytest.mark.states(
    "003: Hard Dependencies: After an interruption the choice is made anew with what holds then",
    source="Interrupting Tasks",
)
@pytest.mark.parametrize("supports", [RESTART, TREE])
def test_another_one_is_the_cheapest_after_an_interruption(game, way, supports):
    said = Said(A=1.0, B=5.0)
    a = way("A", Know, cost=said("A"), ticks=10, interruption=supports)
    agent = game.add(a, way("B", Know, cost=said("B"), ticks=2), way("Flee", Reach, ticks=3))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(3)
    attack(agent)
    said.costs.update(A=9.0)
    game.tick(12)
    assert wish.error is None
    assert runs(game) == [(1, "A"), (4, "Flee"), (7, "B")]


def test_the_one_that_was_interrupted_cannot_any_more(game, way):
    said = Said(A=1.0, B=5.0)
    agent = game.add(
        way("A", Know, cost=said("A"), ticks=10), way("B", Know, cost=said("B"), ticks=2), way("Flee", Reach, ticks=3)
    )
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(3)
    attack(agent)
    said.costs.update(A=None, B=None)
    game.tick(8)
    assert isinstance(wish.error, DependencyFailedError)
    assert wish.error.reason == "A cannot (it says that it cannot); B cannot (it says that it cannot)"
    assert runs(game) == [(1, "A"), (4, "Flee")]


def test_begun_again_by_itself_it_is_chosen_anew_too(game, way):
    said = Said(A=1.0, B=5.0)

    async def again(self, ctx, wanted):
        game.note("A", "run")
        said.costs.update(A=9.0)
        ctx.restart()

    agent = game.add(way("A", Know, cost=said("A"), run=again), way("B", Know, cost=said("B")))
    assert game.solve(agent, Know("x")).error is None
    assert runs(game) == [(1, "A"), (2, "B")]


def test_a_parent_ranks_again_what_is_offered_then(game, way):
    ranks = []

    async def run(self, ctx, wanted):
        return await ctx.solve(Know("x"), rank=lambda offers: ranks.append([one.cost for one in offers]) or offers)

    said = Said(A=1.0, B=5.0)
    agent = game.add(
        way("Top", Build, run=run),
        way("A", Know, cost=said("A"), ticks=5),
        way("B", Know, cost=said("B")),
        way("Flee", Reach),
    )
    game.wish(agent.gameplay.build())
    game.tick(2)
    attack(agent)
    said.costs.update(A=7.0)
    game.tick(9)
    assert ranks == [[1.0, 5.0], [5.0, 7.0]]


@pytest.mark.states("003: Hard Dependencies: After an interruption the choice is made anew with what holds then ...")
def test_patience_comes_from_what_it_says_when_it_begins_again(game, way):
    """It says ten seconds at first, so that it might hang for a hundred; and a second then, for a minute."""
    said = Said(A=10.0)
    agent = game.add(way("A", Know, cost=said("A"), ticks=5000, interruption=RESTART), way("Flee", Reach))
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(3)
    attack(agent)
    said.costs.update(A=1.0)
    game.tick(1200)
    assert wish.error is None
    assert not wish.is_over
    game.tick(6)
    assert "it ran for more than 60 s by itself" in wish.error.reason


def test_what_it_was_interrupted_counts_on_although_others_are_tried_between(game, way):
    said, seen = Said(A=1.0, B=5.0), []

    async def run(self, ctx, wanted):
        seen.append(ctx.interruptions)
        await ctx.sleep_ticks(10)

    agent = game.add(
        way("A", Know, cost=said("A"), run=run), way("B", Know, cost=said("B"), ticks=9), way("Flee", Reach)
    )
    game.wish(agent.gameplay.know("x"))
    for cost in (9.0, 1.0):
        game.tick(2)
        attack(agent)
        said.costs.update(A=cost)
        game.tick(3)
    assert seen == [0, 1]


# --- met by somebody else -----------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Hard Dependencies: What somebody else has met meanwhile is not provided twice",
    source="Task Failure",
)
def test_two_requests_for_the_same_provide_it_once(game, way):
    agent = game.add(way("Carve", Have, ticks=4, flags=("MOVE",)))
    one, two = (game.wish(agent.gameplay.have("plank")) for _ in range(2))
    game.tick(12)
    assert (one.is_over, two.is_over, one.error, two.error) == (True, True, None, None)
    assert runs(game) == [(1, "Carve")]
    assert agent.entity.bag["plank"] == 1
    assert game.tree(agent) == [
        "Have [plank, 1] - met",
        "   Carve - skipped: it had to wait, and is not the best any more",
    ]


def test_within_one_tick_it_is_provided_once(game, way):
    agent = game.add(way("Carve", Have, ticks=0, flags=("MOVE",)))
    for _ in range(40):
        game.wish(agent.gameplay.have("plank"))
    game.tick(3)
    assert len(runs(game)) == 1


def test_who_waited_for_flags_is_asked_again_before_it_begins(game, way):
    said = Said(A=1.0, B=5.0)
    agent = game.add(
        way("Walk", Reach, ticks=5, flags=("MOVE",)),
        way("A", Know, cost=said("A"), flags=("MOVE",)),
        way("B", Know, cost=said("B")),
    )
    game.wish(agent.gameplay.reach("hill"))
    game.tick(1)
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(2)
    said.costs.update(A=None)
    game.tick(6)
    assert wish.error is None
    assert runs(game) == [(1, "Walk"), (6, "B")]


def test_patience_after_a_wait_for_flags_is_from_what_it_says_then(game, way):
    said = Said(A=1.0)
    agent = game.add(
        way("Walk", Reach, ticks=5, flags=("MOVE",)), way("A", Know, cost=said("A"), ticks=1300, flags=("MOVE",))
    )
    game.wish(agent.gameplay.reach("hill"))
    game.tick(1)
    wish = game.wish(agent.gameplay.know("x"))
    game.tick(2)
    said.costs.update(A=70.0)
    game.tick(1320)
    assert (wish.is_over, wish.error) == (True, None)
    assert agent.gameplay.finished[-1].children[0].cost == 70.0


def test_met_while_the_one_before_failed(game, way):
    async def run(self, ctx, wanted):
        game.note("A", "run")
        await ctx.sleep_ticks(2)
        ctx.entity.put(wanted.item)
        raise ValueError("after it was done")

    agent = game.add(way("A", Have, run=run), way("B", Have, cost=2.0))
    wish = game.solve(agent, Have("plank"))
    assert (wish.error, runs(game)) == (None, [(1, "A")])
    assert game.tree(agent)[0] == "Have [plank, 1] - met"
    game.faults()


def test_met_by_what_came_up_it_is_done_by_that(game, way):
    agent = game.add(way("Carve", Have, ticks=6))

    async def gift(self, ctx, wanted):
        ctx.entity.put("plank")

    agent.gameplay.add_strategy(way("Gift", Know, run=gift))
    wish = game.wish(agent.gameplay.have("plank"))
    game.tick(2)
    attack(agent, Know("gift"))
    game.tick(4)
    assert (wish.is_over, wish.error) == (True, None)
    assert runs(game) == [(1, "Carve")]
    assert agent.entity.bag["plank"] == 1
