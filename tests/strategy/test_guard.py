"""The recursion guard: strategies that would need themselves, in estimates and while they run; and how deep it may go."""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt.errors import DependencyFailedError
from agentrt.strategy import Dependency


class Tool(Dependency[str]):
    """A tool of some material; another material is another thing."""

    material: str


class Grow(Dependency[int]):
    """A number to be reached; every number is another one."""

    number: int


@pytest.mark.states("003: Hierarchy: A strategy is not asked to provide what it is being run to provide (ours)")
def test_a_strategy_that_needs_itself_cannot_and_the_next_is_tried(game, way):
    async def run(self, ctx, wanted):
        await ctx.solve(wanted)

    agent = game.add(way("Snake", Know, cost=1, run=run), way("Read", Know, cost=50, gives="read"))
    wish = game.solve(agent, Know("truth"))
    assert wish.value is None  # the snake waited for what another one found out
    assert game.tree(agent) == [
        "Know [truth] - done",
        "   Snake - done",
        "      Know [truth] - done",
        "         Read - done",
    ]
    assert agent.gameplay.finished[-1].children[0].children[0].offers == (
        ("Read", 50.0, ""),
        ("Snake", None, "it would need itself"),
    )


def test_a_strategy_that_needs_itself_alone_fails_at_once(game, way):
    async def run(self, ctx, wanted):
        await ctx.solve(wanted)

    agent = game.add(way("Snake", Know, cost=1, run=run))
    wish = game.solve(agent, Know("truth"))
    assert wish.error.reason == "Snake failed (Know [truth] could not be solved)"
    assert "Snake cannot (it would need itself)" in wish.error.story
    assert wish.until == wish.since + 1


@pytest.mark.states("003: Hierarchy: A strategy is not asked to provide what it is being run to provide (ours) ...")
def test_two_that_need_each_other(game, way):
    agent = game.add(
        way("Smith", Tool, cost=1, needs=lambda wanted: [Reach("forge")]),
        way("Porter", Reach, cost=1, needs=lambda wanted: [Tool("iron")]),
    )
    wish = game.solve(agent, Tool("iron"))
    assert wish.error.story.splitlines()[1:] == [
        "   Smith - failed in 0 s (expected 1 s): Reach [forge] could not be solved",
        "      Reach [forge] - failed in 0 s: Porter failed (Tool [iron] could not be solved)",
        "         Porter - failed in 0 s (expected 1 s): Tool [iron] could not be solved",
        "            Tool [iron] - failed in 0 s: Smith cannot (it would need itself)",
    ]


@pytest.mark.states("003: Hierarchy: Nodes may depend on those above them, and make new tasks recursively ...")
def test_the_same_strategy_may_run_below_itself_for_something_else(game, way):
    better = {"diamond": "iron", "iron": "wood"}
    agent = game.add(
        way("Smith", Tool, needs=lambda wanted: [Tool(better[wanted.material])] if wanted.material in better else [])
    )
    assert game.solve(agent, Tool("diamond")).error is None
    assert game.tree(agent) == [
        "Tool [diamond] - done",
        "   Smith - done",
        "      Tool [iron] - done",
        "         Smith - done",
        "            Tool [wood] - done",
        "               Smith - done",
    ]


@pytest.mark.states("003: Hierarchy: A strategy is not asked to provide what it is being run to provide (ours) ...")
def test_an_amount_is_no_way_around_the_guard(game, way):
    """Its guard key leaves the amount out: who makes logs must not need a log more, and so on for ever."""
    agent = game.add(
        way("Grow", cost=1, needs=lambda wanted: [Have(wanted.item, wanted.count + 1)]),
        way("Buy", cost=50),
    )
    assert game.solve(agent, Have("log")).error is None
    assert game.tree(agent) == [
        "Have [log, 1] - done",
        "   Grow - done",
        "      Have [log, 2] - done",
        "         Buy - done",
    ]


# --- requests within requests -----------------------------------------------------------------------------------------


def through_the_agent(ctx, wanted):
    return ctx.agent.gameplay.solve(wanted)


def through_a_plan(ctx, wanted):
    return ctx.execute(type(wanted).activity, **dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True)))


def beside_the_plan(ctx, wanted):
    return ctx.agent.perform(
        type(wanted).activity, **dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
    )


@pytest.mark.states("003: Hierarchy: Nor by a request within the request, which shares its bounds (ours)")
@pytest.mark.parametrize("ask", [through_the_agent, through_a_plan, beside_the_plan])
def test_a_request_of_a_strategy_is_no_way_around_the_guard(game, way, ask):
    async def run(self, ctx, wanted):
        await ask(ctx, wanted)
        return "asked"

    agent = game.add(way("Snake", Know, cost=1, run=run), way("Read", Know, cost=50))
    assert game.solve(agent, Know("truth")).value == "asked"
    assert game.steps("a", "try") == [(1, "try", "Know [truth]", "Snake"), (1, "try", "Know [truth]", "Read")]


@pytest.mark.states("003: Hierarchy: Nor by a request within the request, which shares its bounds (ours) ...")
@pytest.mark.parametrize("ask", [through_the_agent, through_a_plan, beside_the_plan])
def test_requests_that_grow_for_ever_come_to_an_end(game, way, ask):
    async def run(self, ctx, wanted):
        await ask(ctx, Grow(wanted.number + 1))

    agent = game.add(way("Up", Grow, cost=1, run=run))
    wish = game.solve(agent, Grow(0))
    assert isinstance(wish.error, DependencyFailedError)
    assert len(game.steps("a", "try")) == 33
    assert agent.gameplay.running == ()


@pytest.mark.states("003: Hierarchy: Nor by a request within the request, which shares its bounds (ours) ...")
@pytest.mark.untraced
def test_a_storm_of_requests_within_requests_is_spread_over_ticks_too(game, way):
    async def run(self, ctx, wanted):
        await ctx.agent.gameplay.grow(wanted.number + 1)

    agent = game.add(*(way(f"Up{letter}", Grow, cost=1, run=run) for letter in "ab"))
    wish = game.wish(agent.gameplay.grow(0))
    game.tick(10)
    ticks = [tick for tick, *_ in game.steps("a", "try")]
    assert max(ticks.count(tick) for tick in set(ticks)) == 32
    wish.cancel()
    game.tick(2)
    assert agent.gameplay.running == ()


def test_a_request_that_a_strategy_only_begins_is_bound_to_it_no_longer_than_it_runs(game, way):
    begun = []

    async def run(self, ctx, wanted):
        begun.append(ctx.agent.gameplay.begin(Know("truth")))
        await ctx.sleep_ticks(2)

    agent = game.add(way("Starter", Build, cost=1, run=run), way("Ask", Know, cost=1, needs=[Build()]))
    game.solve(agent, Build())
    game.tick(10)
    assert isinstance(begun[0].error, DependencyFailedError)  # a house was being built then
    for one in begun[1:]:
        one.cancel()


def test_one_request_that_begins_the_next_is_no_nesting(game, way):
    async def run(self, ctx, wanted):
        if wanted.number < 100:
            ctx.agent.gameplay.begin(Grow(wanted.number + 1))
        return wanted.number

    agent = game.add(way("Up", Grow, cost=1, run=run))
    agent.gameplay.begin(Grow(0))
    game.tick(150)
    assert len(game.steps("a", "solved")) == 101


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Hierarchy: A strategy is not asked to provide what it is being run to provide (ours) ...")
def test_in_estimates_a_circle_costs_infinity(game, way):
    asked = []

    def estimate(label, base, need):
        def cost(ask, wanted):
            asked.append(label)
            return base + ask.cost(need)

        return cost

    agent = game.add(
        way("Smith", Tool, cost=estimate("Smith", 1, Reach("forge"))),
        way("Porter", Reach, cost=estimate("Porter", 1, Tool("iron"))),
        way("Ride", Reach, cost=40),
    )
    gameplay = agent.gameplay
    assert gameplay.cost(Tool("iron")) == 41
    assert gameplay.cost(Reach("forge")) == 40
    assert gameplay.offers(Reach("forge")) == [("ride", 40.0, ""), ("porter", 42.0, "")]
    assert len(asked) < 12
    take = gameplay.catalog
    take.remove(take.named("ride").spec.cls)
    gameplay.changed()
    assert gameplay.cost(Tool("iron")) == float("inf")
    assert gameplay.offers(Tool("iron")) == [("smith", float("inf"), "nobody can provide Reach [forge]")]


def test_what_is_run_above_costs_infinity_in_estimates_below(game, way):
    """While the smith runs, who would need a smith for the way to the forge is no way."""
    agent = game.add(
        way("Smith", Tool, cost=1, needs=[Reach("forge")]),
        way("Ride", Reach, cost=lambda ask, _: 2 + ask.cost(Tool("iron"))),
        way("Walk", Reach, cost=500),
    )
    assert game.solve(agent, Tool("iron")).error is None
    forge = agent.gameplay.finished[-1].children[0].children[0]
    assert forge.offers == (("Walk", 500.0, ""), ("Ride", None, "nobody can provide Tool [iron]"))


@pytest.mark.states("003: Hierarchy: It goes on until the given task is complete, or has clearly failed ...")
def test_growing_for_ever_ends_at_the_depth_limit_with_a_clear_failure(game, way):
    agent = game.add(way("Up", Grow, ticks=0, cost=1, needs=lambda wanted: [Grow(wanted.number + 1)], quiet=True))
    wish = game.solve(agent, Grow(0))
    assert isinstance(wish.error, DependencyFailedError)
    assert "nested" in wish.error.story
    assert len(str(wish.error)) < 2000
    assert len(wish.error.story.splitlines()) == 81
    game.tick(20)
    assert game.solve(agent, Grow(0)).error is not None  # nothing is broken after it
    game.faults()


@pytest.mark.states("003: Task Failure: It corrects its course all the time, whatever comes, and gets out of dead ...")
def test_growing_for_ever_is_given_up_for_another_way(game, way):
    agent = game.add(
        way("Up", Grow, ticks=0, cost=1, needs=lambda wanted: [Grow(wanted.number + 1)], quiet=True),
        way("Jump", Grow, cost=2, quiet=True),
    )
    wish = game.solve(agent, Grow(0))
    assert wish.error is None
    game.faults()


@pytest.mark.states("003: Heuristic Based Task Selection, 4: How far is it looked ahead? As far as is wanted; a ...")
def test_estimates_that_grow_for_ever_end_where_look_ahead_does(game, way):
    agent = game.add(way("Up", Grow, cost=lambda ask, wanted: 1 + ask.cost(Grow(wanted.number + 1))))
    gameplay = agent.gameplay
    assert gameplay.cost(Grow(0)) == gameplay.lookahead + Grow.cost
    gameplay.lookahead = 40
    assert gameplay.cost(Grow(0)) == 40 + Grow.cost


@pytest.mark.states("003: Heuristic Based Task Selection, 4: How far is it looked ahead? As far as is wanted; a ...")
@pytest.mark.parametrize("depth", [10_000])
def test_a_look_ahead_that_is_too_deep_for_the_stack_says_cannot(game, way, depth):
    agent = game.add(way("Up", Grow, cost=lambda ask, wanted: 1 + ask.cost(Grow(wanted.number + 1))))
    agent.gameplay.lookahead = depth
    assert agent.gameplay.cost(Grow(0)) == float("inf")
    assert any("RecursionError" in error for _, _, error in game.faults())
    agent.gameplay.lookahead = 4
    agent.gameplay.changed()
    assert agent.gameplay.cost(Grow(0)) == 14


@pytest.mark.states("003: Heuristic Based Task Selection, 1: It does not get stuck, nor execute what makes no ...")
def test_strategies_that_fail_each_other_in_turn_come_to_an_end(game, way):
    """Each has two ways below, down to the ninth floor; the bound on attempts is not needed, but there."""
    names = "ab"
    ways = [
        way(
            f"Way{name}",
            Build,
            ticks=0,
            cost=1,
            quiet=True,
            needs=lambda wanted: [Build(wanted.what[1:])] if len(wanted.what) > 1 else [Know("nothing")],
        )
        for name in names
    ]
    agent = game.add(*ways)
    wish = game.solve(agent, Build("x" * 7))
    assert isinstance(wish.error, DependencyFailedError)
    assert agent.gameplay.finished[-1].outcome == "failed"


@pytest.mark.states(
    "003: Hierarchy: Attempts that take no time are spread over ticks, so that nobody else waits (ours)",
)
@pytest.mark.slow
def test_a_storm_of_attempts_is_spread_over_ticks(game, way):
    """Two ways at each of many floors, all in vain: thousands of attempts that take no time, some of them in each tick."""

    def needs(wanted):
        return [Grow(wanted.number + 1)] if wanted.number < 9 else [Know("nothing")]

    agent = game.add(*(way(f"Up{letter}", Grow, ticks=0, cost=1, quiet=True, needs=needs) for letter in "abc"))
    wish = game.wish(agent.gameplay.grow(0))
    game.tick(10)
    assert not wish.is_over
    ticks = [tick for tick, *_ in game.steps("a", "try")]
    assert {tick: ticks.count(tick) for tick in set(ticks)} == dict.fromkeys(range(1, 11), 32)
    wish.cancel()
    game.tick(2)
    assert agent.gameplay.running == ()


@pytest.mark.states("003: Hierarchy: It goes on until the given task is complete, or has clearly failed ...")
def test_a_request_has_a_bound_on_its_attempts(game, way, monkeypatch):
    monkeypatch.setattr("agentrt.strategy.solve.MAX_ATTEMPTS", 20)
    again = []

    async def run(self, ctx, wanted):
        again.append(game.sim.now)
        ctx.restart("once more")

    agent = game.add(way("Sisyphus", Reach, run=run))
    wish = game.solve(agent, Reach("top"))
    assert wish.error.reason == "Sisyphus failed (the request has taken 20 attempts)"
    assert again == list(range(1, 21))
    tried = [event for _, event, _, _ in game.steps("a", "try", "failed")]
    assert tried == ["try"] * 21 + ["failed"]  # what is refused is in the trace as well
