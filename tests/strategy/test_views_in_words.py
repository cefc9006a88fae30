"""Explanations of what is solved: why this strategy, why not the others, what is foreseen, what came up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from looked_at import Carve, Chop, Stage, again, beg, trade

from agentrt import Action
from agentrt.snapshot.explain import solving_lines
from agentrt.strategy import Branch, Dependency, Interruptible, Strategy, Trigger
from agentrt.strategy.views import RequestView, TaskNodeView
from agentrt.testing import Have, stub_strategy
from agentrt.words import seconds


@pytest.fixture
def stage(request):
    made = []

    def make(*args, **options):
        made.append(Stage(*args, **options))
        return made[-1]

    yield make
    for one in made:
        one.sim.close()


@pytest.mark.states(
    "003: Views: `explain()` says why this strategy and why not the others: what failed and why, who cannot and why, "
    "what the others would cost",
    source="Global Dependency Lists; design 7",
)
def test_why_this_strategy_and_why_not_the_others(stage):
    assert stage(Chop, Carve, beg, trade).ask(Have("spoon"), ticks=3).words() == [
        "  asked for Have [spoon, 1], since tick 1, 4 attempts so far:",
        "    <Have [spoon, 1]>, since tick 1",
        "        Beg: failed: nobody gave any",
        "      * Carve: running, since tick 1, expected to take 3 s",
        "          <Have [log, 1]>, since tick 1",
        "              Beg: failed: nobody gave any",
        "            * Chop Tree: running, since tick 1, expected to take 4 s",
        "              Trade: not tried: expected to take 90 s against 4 s",
        "              Carve: cannot: log cannot be carved",
        "        Trade: not tried: expected to take 90 s against 3 s",
        "        Chop Tree: cannot: it says that it cannot",
    ]


class Wash(Action):
    does = "stub:wash"
    utility = 1.0

    async def run(self, ctx, args):
        await ctx.sleep_ticks(9)


class Cook(Strategy):
    """Foresees that it takes salt, and fire if it is cold; and that fire takes wood."""

    provides = Have

    def foresee(self, ask, wanted):
        if wanted.item == "soup":
            return [Branch(3, 7.0, (Have("salt"), Have("pot"))), Branch(1, 9.0, (Have("fire"),))]
        return [Branch(1, 2.0, (Have("wood"),))] if wanted.item in ("fire", "pot") else ()

    async def run(self, ctx, wanted):
        await ctx.execute("stub:wash")
        await ctx.solve(Have("salt"))
        await ctx.solve(Have("pot"))


Fetch = stub_strategy(cost=lambda ask, wanted: 2.5 if wanted.item in ("salt", "wood") else None, takes=9, label="Fetch")


@pytest.mark.states(
    "003: Views: Of a strategy that looks ahead only the direct children are shown, planned, those of other branches "
    "as conditional, with how likely they are",
    source='"Task Tree", "Planning Ahead Using Probability"',
)
def test_what_is_foreseen_and_what_is_executed(stage):
    game = stage(Cook, Fetch, actions=[Wash]).ask(Have("soup"))
    assert game.words()[2:] == [
        "      * Cook: running, since tick 1, expected to take 13.9 s",
        "          executes <stub:wash>, since tick 1",
        "          foreseen: Have [salt, 1] (2.5 s), Have [pot, 1] (4.5 s), perhaps Have [fire, 1] (25 %)",
        "        Fetch: cannot: it says that it cannot",
        "    expected from there:",
        "      Have [soup, 1]: 13.9 s by Cook",
        "         Have [salt, 1]: 2.5 s by Fetch, 75 %",
        "         Have [pot, 1]: 4.5 s by Cook, 75 %",
        "            Have [wood, 1]: 2.5 s by Fetch, 75 %",
        "         * Have [fire, 1]: 25 %",
    ]
    cook = game.view.requests[0].tree.children[0]
    assert [(one.label, one.outcome, one.cost, one.probability, one.is_conditional) for one in cook.children] == [
        ("Have [salt, 1]", "planned", 2.5, 1.0, False),
        ("Have [pot, 1]", "planned", 4.5, 1.0, False),
        ("Have [fire, 1]", "planned", None, 0.25, True),
        ("stub:wash", "running", None, 1.0, False),
    ]


def test_a_forecast_that_says_no_more_than_what_comes_next_is_not_told(stage):
    class Light(Cook):
        async def run(self, ctx, wanted):
            await ctx.execute("stub:wash")

    game = stage(Light, Fetch, actions=[Wash]).ask(Have("fire"))
    assert len(game.view.requests[0].forecast) == 2
    words = game.words()
    assert any("foreseen: Have [wood, 1] (2.5 s)" in line for line in words)
    assert not any("expected from there" in line for line in words)


@pytest.mark.states(
    "003: Views: The estimate stands beside what really happened",
    source="Planning Ahead Using Probability",
)
def test_what_was_foreseen_is_counted_beside_what_strategies_took(stage):
    game = stage(Cook, Fetch, actions=[Wash]).ask(Have("soup"), ticks=25)
    view = game.view
    assert (view.foresight.hits, view.foresight.misses) == (2, 0)
    assert [(one.strategy, one.count, one.expected, one.actual) for one in view.accuracy] == [("fetch", 1, 2.5, 0.45)]
    again(game.agent.snapshot())


@pytest.mark.states("003: Views: A node is called the same in every tick, while others come, go and are forgotten ...")
def test_a_place_stays_while_expectations_come_and_go(stage):
    game = stage(Cook, Fetch, actions=[Wash]).ask(Have("soup"))
    places = {}
    for _ in range(60):
        game.sim.tick()
        trees = [*(one.tree for one in game.view.requests), *game.view.finished]
        for node in (node for tree in trees for node in tree.walk() if node.began):
            key = (node.kind, node.label, node.began)
            assert places.setdefault(key, node.place) == node.place
    assert len(set(places.values())) == len(places) > 5


@pytest.mark.states(
    "003: Views: It is said what is interrupted by what, and what came up and has to wait",
    source="Interrupting Tasks",
)
@pytest.mark.parametrize("interruption", [Interruptible.PAUSE, Interruptible.RESTART])
def test_what_is_interrupted_by_what(stage, interruption):
    Flee = type("Flee", (Dependency,), {"__module__": __name__, "__qualname__": "Flee"}, activity="stub:flee")
    game = stage(stub_strategy(takes=30, label="Stroll", interruption=interruption), stub_strategy(Flee, takes=5))
    game.agent.gameplay.add_trigger(Trigger(name="attacked", on="attacked", solve=Flee()))
    game.ask(Have("log"))
    game.agent.signal("attacked").emit("wolf")
    game.sim.tick(2)
    words = game.words()
    assert any("interrupted by attacked, since tick" in line for line in words)
    assert any("<Flee>" in line for line in words)
    assert any("* Stroll: paused" in line for line in words)
    assert game.view.requests[0].handled == ("attacked",)


@pytest.mark.states(
    "003: Views: A request that a strategy makes through its agent says who asked for it",
    source="Hierarchy; design 7",
)
def test_who_asked_for_it_beside_what_it_is_run_for(stage):
    class Delegate(Strategy):
        provides = Have

        def estimate(self, ask, wanted):
            return 1.0 if wanted.item == "house" else None

        async def run(self, ctx, wanted):
            await ctx.agent.gameplay.solve(Have("log"))

    game = stage(Delegate, Chop).ask(Have("house"))
    again(game.agent.snapshot())
    assert [(one.wanted, one.asked_by) for one in game.view.requests] == [
        ("Have [house, 1]", ""), ("Have [log, 1]", "Delegate"),
    ]  # fmt: skip
    told = [line for line in game.agent.explain().splitlines() if "asked for" in line]
    assert told[1] == "  asked for Have [log, 1] by Delegate, since tick 1, 1 attempt so far:"


def test_what_was_asked_for_last(stage):
    game = stage(beg, stub_strategy(takes=10, cost=5.0, label="Make")).ask(Have("log"), ticks=13)
    assert game.words() == ["  last asked for Have [log, 1]: done in tick 11 after 0.5 s"]
    game.agent.entity.goods.clear()
    game.agent.gameplay.add_strategy(trade)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (2.54321, "2.54 s"), (999.4, "999 s"), (999.6, "1000 s"), (3230.8, "3231 s"), (1e9, "1000000000 s")],
)
def test_costs_for_people(value, text):
    assert seconds(value) == text


def test_while_something_is_solved_nothing_is_said_of_what_is_over(stage):
    game = stage(Chop).ask(Have("log"), ticks=30).ask(Have("log", 5))
    assert len(game.view.finished) == 1
    assert sum("asked for" in line for line in game.agent.explain().splitlines()) == 1


def test_of_two_that_are_under_way_the_later_one_is_told(stage):
    view = stage(Chop).view
    running = [TaskNodeView("strategy", label, "running", f"1.{number}") for number, label in enumerate("AB")]
    tree = TaskNodeView("dependency", "Have [log, 1]", "running", "1", children=tuple(running))
    request = RequestView("Have [log, 1]", 1, (), tree)
    assert list(solving_lines(replace(view, requests=(request,)), 20)) == [
        "  asked for Have [log, 1], 1 attempt so far:",
        "    <Have [log, 1]>",
        "      * B: running",
    ]


def test_long_lists_are_cut(stage):
    names = [chr(ord("A") + number) * 2 for number in range(15)]
    many = [stub_strategy(cost=number + 1.0, takes=9, label=name) for number, name in enumerate(names)]
    words = stage(*many).ask(Have("log")).words()
    assert len(words) == 12
    assert words[-1] == "        and 6 more"
