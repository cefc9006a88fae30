"""Solving one dependency: who is asked, who is tried, in which order, and what comes of it; literal traces."""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt.errors import DependencyFailedError
from agentrt.kernel.traps import next_tick


@pytest.mark.states("003: Goals: The knowledge of how to do things lies in the strategies, and the agent decides ...")
@pytest.mark.states(
    "003: Plugins: A plugin extends one abstract class and overrides its run, a coroutine in place of a callback "
    "(decided)",
)
@pytest.mark.states("003: Heuristic Based Task Selection: Which task suits best at that time is decided by heuristics")
@pytest.mark.states("003: Global Dependency Lists: The others are sorted by cost, and the best is executed")
def test_the_cheapest_is_tried_and_what_it_returns_is_the_value(game, way):
    agent = game.add(way("Dear", cost=5, gives=50), way("Cheap", cost=2, ticks=3, gives=20), way("Middle", cost=3))
    wish = game.solve(agent, Have("log", 2))
    assert wish.value == 20
    assert game.log == [(1, "Cheap", "run"), (4, "Cheap", "ends")]
    assert game.steps() == [(1, "try", "Have [log, 2]", "Cheap"), (4, "solved", "Have [log, 2]", "Cheap")]
    assert game.tree(agent) == ["Have [log, 2] - done", "   Cheap - done"]


@pytest.mark.states("003: Global Dependency Lists: Equal costs keep the order of loading (decided)")
def test_equal_costs_are_tried_in_the_order_of_loading(game, way):
    ways = [way(name, cost=2, fails="no luck") for name in ("Zoe", "Ann", "Max")]
    agent = game.add(*ways)
    assert isinstance(game.solve(agent, Have("log")).error, DependencyFailedError)
    assert [who for _, who, what in game.log if what == "run"] == ["Zoe", "Ann", "Max"]


@pytest.mark.states("003: Infinite State Machine Approach: A strategy is a state that calls others as they are needed")
@pytest.mark.states("003: Hierarchy: When a child is done, its parent goes on")
def test_children_are_solved_in_their_strategy_which_goes_on_with_what_they_gave(game, way):
    async def run(self, ctx, wanted):
        where = await ctx.solve(Know("where"))
        game.note("told", where)
        there = await ctx.solve(Reach(where))
        game.note("arrived", there)
        return f"house at {there}"

    agent = game.add(
        way("Settle", Build, run=run),
        way("Remember", Know, ticks=2, gives="hill"),
        way("Walk", Reach, ticks=4, gives="top"),
    )
    assert game.solve(agent, Build()).value == "house at top"
    assert game.log == [
        (1, "Remember", "run"),
        (3, "Remember", "ends"),
        (3, "told", "hill"),
        (3, "Walk", "run"),
        (7, "Walk", "ends"),
        (7, "arrived", "top"),
    ]
    assert game.steps() == [
        (1, "try", "Build [house]", "Settle"),
        (1, "try", "Know [where]", "Remember"),
        (3, "solved", "Know [where]", "Remember"),
        (3, "try", "Reach [hill]", "Walk"),
        (7, "solved", "Reach [hill]", "Walk"),
        (7, "solved", "Build [house]", "Settle"),
    ]
    assert game.tree(agent) == [
        "Build [house] - done",
        "   Settle - done",
        "      Know [where] - done",
        "         Remember - done",
        "      Reach [hill] - done",
        "         Walk - done",
    ]


@pytest.mark.states("003: Hierarchy: A node calls any of those below it, any number of times, until it is done")
@pytest.mark.states("003: Plugins: In it strategies are made and executed with parameters of their own")
def test_a_child_may_be_solved_any_number_of_times(game, way):
    agent = game.add(way("Tour", Build, needs=[Reach("a"), Reach("b"), Reach("a")]), way("Walk", Reach, ticks=1))
    game.solve(agent, Build())
    assert game.steps("a", "solved") == [
        (2, "solved", "Reach [a]", "Walk"),
        (3, "solved", "Reach [b]", "Walk"),
        (4, "solved", "Reach [a]", "Walk"),
        (5, "solved", "Build [house]", "Tour"),
    ]


# --- failure ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Task Failure: When a task fails, the path is corrected")
@pytest.mark.states("003: Task Failure: The parent tries the next one that is available in that list")
@pytest.mark.states("003: Task Tree: New tasks are added when one fails and another way is taken")
def test_on_failure_the_next_best_is_tried(game, way):
    agent = game.add(
        way("Last", cost=9, gives=9),
        way("First", cost=1, fails="it broke"),
        way("Second", cost=2, ticks=2, fails="lost"),
    )
    assert game.solve(agent, Have("log")).value == 9
    assert game.steps() == [
        (1, "try", "Have [log, 1]", "First"),
        (2, "failed", "Have [log, 1]", "First"),
        (2, "try", "Have [log, 1]", "Second"),
        (4, "failed", "Have [log, 1]", "Second"),
        (4, "try", "Have [log, 1]", "Last"),
        (5, "solved", "Have [log, 1]", "Last"),
    ]
    assert game.tree(agent) == [
        "Have [log, 1] - done",
        "   First - failed: it broke",
        "   Second - failed: lost",
        "   Last - done",
    ]


@pytest.mark.states("003: Task Failure: With fresh estimates (decided)")
def test_the_next_best_is_found_by_fresh_estimates(game, way):
    """When the first has failed, the dearest of the others has become the cheapest, and another one impossible."""
    prices = {"one": 1.0, "two": 2.0, "three": 3.0}

    async def spoil(self, ctx, wanted):
        prices.update(two=30.0, three=0.4, four=0.5)
        ctx.fail("spoiled")

    agent = game.add(
        way("One", cost=lambda ask, _: prices["one"], run=spoil),
        way("Two", cost=lambda ask, _: prices["two"], gives=2),
        way("Three", cost=lambda ask, _: prices["three"], fails="no", reads=("never told",)),
        way("Four", cost=lambda ask, _: prices.get("four"), fails="no"),
    )
    assert game.solve(agent, Have("log")).value == 2
    assert [(what, by) for _, what, _, by in game.steps("a", "try", "failed", "solved")] == [
        ("try", "One"),
        ("failed", "One"),
        ("try", "Three"),  # whatever it said that it reads: a failure may mean anything
        ("failed", "Three"),
        ("try", "Four"),
        ("failed", "Four"),
        ("try", "Two"),
        ("solved", "Two"),
    ]


@pytest.mark.states("003: Task Failure: The parent tries the next one that is available in that list ...")
def test_who_has_failed_is_not_tried_again_for_the_same_need_but_for_the_next(game, way):
    luck = iter([False, True])

    async def gamble(self, ctx, wanted):
        await next_tick()
        if not next(luck):
            ctx.fail("bad luck")
        return "won"

    async def twice(self, ctx, wanted):
        return [await ctx.solve(Know("first")), await ctx.solve(Know("second"))]

    agent = game.add(
        way("Gamble", Know, cost=1, run=gamble),
        way("Study", Know, cost=5, gives="learned"),
        way("Both", Build, run=twice),
    )
    assert game.solve(agent, Build()).value == ["learned", "won"]


@pytest.mark.states("003: Task Failure: If all fail, the parent has failed, and so on up the chain")
@pytest.mark.states(
    "003: Task Failure: Whoever asked gets an error with the whole story, and what was raised at the bottom as its "
    "cause (ours)",
)
def test_a_failure_goes_up_the_chain_and_tells_the_whole_story(game, way):
    agent = game.add(
        way("Forge", Build, cost=5, needs=[Have("iron")]),
        way("Trade", Build, cost=9, needs=[Reach("market")]),
        way("Mine", cost=3, needs=[Reach("mine")], ticks=0),
        way("Beg", cost=lambda ask, _: ask.cannot("nobody is near")),
        way("Walk", Reach, ticks=2, fails="the bridge is down"),
    )
    wish = game.solve(agent, Build("sword"))
    error = wish.error
    assert isinstance(error, DependencyFailedError)
    assert error.code == "ART320"
    assert error.wanted == Build("sword")
    assert error.reason == (
        "Forge failed (Have [iron, 1] could not be solved); Trade failed (Reach [market] could not be solved)"
    )
    assert error.story.splitlines() == [
        "Build [sword] - failed in 0.2 s: " + error.reason,
        "   Forge - failed in 0.1 s (expected 5 s): Have [iron, 1] could not be solved",
        "      Have [iron, 1] - failed in 0.1 s: Mine failed (Reach [mine] could not be solved); "
        "Beg cannot (nobody is near)",
        "         Mine - failed in 0.1 s (expected 3 s): Reach [mine] could not be solved",
        "            Reach [mine] - failed in 0.1 s: Walk failed (the bridge is down)",
        "               Walk - failed in 0.1 s (expected 1 s): the bridge is down",
        "   Trade - failed in 0.1 s (expected 9 s): Reach [market] could not be solved",
        "      Reach [market] - failed in 0.1 s: Walk failed (the bridge is down)",
        "         Walk - failed in 0.1 s (expected 1 s): the bridge is down",
    ]
    assert error.story in error.__notes__
    assert error.tick == 5
    assert error.agent == "a"
    assert error.__cause__ is None  # nobody raised anything else


@pytest.mark.states("003: Task Failure: Whoever asked gets an error with the whole story, and what was raised at ...")
def test_the_cause_of_a_failure_is_what_was_raised_at_the_bottom(game, way):
    async def run(self, ctx, wanted):
        raise OSError("no connection")

    agent = game.add(way("Forge", Build, needs=[Have("iron")]), way("Mail", run=run))
    error = game.solve(agent, Build()).error
    assert isinstance(error, DependencyFailedError)
    assert isinstance(error.__cause__, OSError)
    assert [hook for _, hook, _ in game.faults()] == ["run"]


@pytest.mark.states("003: Task Failure: It tells its parent")
def test_a_parent_may_catch_the_failure_and_do_something_else(game, way):
    async def run(self, ctx, wanted):
        try:
            await ctx.solve(Have("iron"))
        except DependencyFailedError as failure:
            game.note("no iron", failure.reason)
        await ctx.solve(Reach("market"))
        return "wooden"

    agent = game.add(way("Forge", Build, run=run), way("Mine", fails="empty"), way("Walk", Reach))
    assert game.solve(agent, Build()).value == "wooden"
    assert (2, "no iron", "Mine failed (empty)") in game.log


def test_nobody_provides_it(game, way):
    agent = game.add(way("Walk", Reach))
    wish = game.solve(agent, Have("log"))
    assert wish.error.reason == "no strategy provides it"
    assert wish.until == wish.since + 1
    assert game.tree(agent) == ["Have [log, 1] - failed: no strategy provides it"]


@pytest.mark.states("003: Global Dependency Lists: Who needs something goes through the list and tests all in it")
@pytest.mark.states("003: Global Dependency Lists: Strategies that report that they cannot are skipped")
def test_nobody_can(game, way):
    agent = game.add(way("Silent", cost=lambda ask, _: None), way("Telling", cost=lambda ask, _: ask.cannot("no tool")))
    wish = game.solve(agent, Have("log"))
    assert wish.error.reason == "Silent cannot (it says that it cannot); Telling cannot (no tool)"
    assert game.log == []
    assert agent.gameplay.finished[-1].offers == (
        ("Silent", None, "it says that it cannot"),
        ("Telling", None, "no tool"),
    )


# --- conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Hierarchy: Which strategies are called depends on the needs at that moment")
@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: It begins anew from the world as it is: what was done already is not done again",
)
@pytest.mark.states("003: Optional Dependencies: Shortcuts: a condition holds already, and nothing is done")
def test_what_holds_already_is_a_shortcut(game, way):
    agent = game.add(way("Chop"))
    agent.entity.bag["log"] = 5
    wish = game.solve(agent, Have("log", 3))
    assert wish.value == 5
    assert game.log == []
    assert game.steps() == [(1, "solved", "Have [log, 3]", "")]
    assert game.tree(agent) == ["Have [log, 3] - met"]


@pytest.mark.states("003: Infinite State Machine Approach: Tasks are made and run while others run, so that it ...")
def test_a_shortcut_of_a_child_becomes_true_meanwhile(game, way):
    async def run(self, ctx, wanted):
        await ctx.solve(Have("stick"))
        ctx.entity.put("log")  # by the way
        return await ctx.solve(Have("log"))

    agent = game.add(way("Plan", Build, run=run), way("Chop"))
    assert game.solve(agent, Build()).value == 1
    assert game.tree(agent)[-1] == "      Have [log, 1] - met"


@pytest.mark.states("003: Heuristic Based Task Selection, 1: How do we know that what is executed solves the ...")
def test_who_returns_though_it_does_not_hold_has_failed(game, way):
    async def claims(self, ctx, wanted):
        await next_tick()
        return 7

    agent = game.add(way("Liar", cost=1, run=claims), way("Chop", cost=2))
    assert game.solve(agent, Have("log")).value == 1
    assert game.tree(agent) == [
        "Have [log, 1] - done",
        "   Liar - failed: it returned, but what it was run for does not hold",
        "   Chop - done",
    ]


@pytest.mark.states("003: Heuristic Based Task Selection, 1: How do we know that what is executed solves the ...")
def test_without_a_condition_strategies_are_believed(game, way):
    agent = game.add(way("Claim", Reach, gives="there", ticks=0))
    assert game.solve(agent, Reach("moon")).value == "there"


def test_a_condition_that_raises_does_not_hold_and_is_logged_once(game, way, caplog):
    class Odd(Have, activity="want:odd"):
        def is_met(self, ask):
            raise RuntimeError("who knows")

    agent = game.add(way("Try", Odd))
    assert isinstance(game.solve(agent, Odd("log")).error, DependencyFailedError)
    assert {hook for _, hook, _ in game.faults()} == {"is_met"}
    assert sum("who knows" in one.getMessage() for one in caplog.records) == 1


def test_a_value_of_what_holds_that_raises_is_none_and_is_reported(game, way):
    class Odd(Have, activity="want:odd2"):
        def is_met(self, ask):
            return True

        def met_value(self, ask):
            raise RuntimeError("no value")

    agent = game.add(way("Try", Odd))
    wish = game.solve(agent, Odd("log"))
    assert (wish.value, wish.error) == (None, None)
    assert [hook for _, hook, _ in game.faults()] == ["met_value"]


@pytest.mark.states("003: Task Tree: It is executed from top to bottom; a task is finished when all below it are")
@pytest.mark.parametrize("ticks", [0, 1, 7])
def test_the_tree_tells_when_it_was(game, way, ticks):
    agent = game.add(way("Walk", Reach, ticks=ticks))
    game.tick(3)
    game.solve(agent, Reach("hill"))
    root = agent.gameplay.finished[-1]
    assert [(node.began, node.ended) for _, node in root.walk()] == [(4, 4 + ticks), (4, 4 + ticks)]
