"""What is given by mistake is an error that says what to write, where it is given."""

from __future__ import annotations

import copy

import pytest
from wants import Build, Have

from agentrt import Agent
from agentrt.errors import ArgumentError
from agentrt.strategy import Dependency, Order


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("lookahead", -1, "argument 'lookahead': takes a whole number, 0 or more, not -1"),
        ("lookahead", "4", "argument 'lookahead': takes a whole number, 0 or more, not '4'"),
        ("lookahead", True, "argument 'lookahead': takes a whole number, 0 or more, not True"),
        ("most_asks", 1.5, "argument 'most_asks': takes a whole number, 0 or more, not 1.5"),
        ("prepare_asks", None, "argument 'prepare_asks': takes a whole number, 0 or more, not None"),
        ("order", "cheapest", "argument 'order': takes Order.CHEAPEST or another Order, not 'cheapest'"),
        ("takes_options", 0, "argument 'takes_options': takes True or False, not 0"),
        ("takes_option", False, "argument 'takes_option': is no setting. Did you mean 'takes_options'?"),
    ],
)
def test_a_setting_is_checked_when_it_is_set(game, name, value, words):
    gameplay = game.add().gameplay
    names = ("lookahead", "most_asks", "prepare_asks", "takes_options", "corrects", "order")
    before = [getattr(gameplay, one) for one in names]
    with pytest.raises(ArgumentError) as caught:
        setattr(gameplay, name, value)
    assert words in str(caught.value)
    assert [getattr(gameplay, one) for one in names] == before


@pytest.mark.parametrize("name", ["running", "catalog", "estimator", "cost", "solve", "anything"])
def test_nothing_else_can_be_set(game, name):
    gameplay = game.add().gameplay
    before = gameplay.running
    with pytest.raises(ArgumentError, match=f"argument '{name}': is no setting."):
        setattr(gameplay, name, ())
    assert gameplay.running is before


def test_what_is_set_is_what_is_read(game):
    gameplay = game.add().gameplay
    gameplay.lookahead, gameplay.most_asks, gameplay.prepare_asks = 1, 20, 3
    gameplay.takes_options, gameplay.corrects, gameplay.order = False, True, Order.DEAREST
    state = gameplay.estimator.state
    assert (state.lookahead, state.most_asks, state.prepare_asks) == (1, 20, 3)
    assert (state.takes_options, state.corrects, state.order) == (False, True, Order.DEAREST)
    assert (gameplay.lookahead, gameplay.corrects, gameplay.order) == (1, True, Order.DEAREST)


@pytest.mark.parametrize("given", [Have, "log", None])
@pytest.mark.parametrize("method", ["begin", "cost", "offers", "forecast"])
def test_what_is_no_dependency_is_refused_by_the_gameplay(game, method, given):
    with pytest.raises(ArgumentError, match=f"'gameplay.{method}'.*takes a dependency, not "):
        getattr(game.add().gameplay, method)(given)


def test_a_class_of_dependencies_wants_its_values(game):
    with pytest.raises(ArgumentError, match=r"Give it its values: Have\(\.\.\.\)\."):
        game.add().gameplay.begin(Have)


@pytest.mark.parametrize(
    "call",
    [
        lambda ctx: ctx.solve(Have),
        lambda ctx: ctx.solve_all([Have("log"), "log"]),
        lambda ctx: ctx.solve_if_worth(Have("axe"), Have),
        lambda ctx: ctx.solve_if_worth("axe", []),
        lambda ctx: ctx.solve_if_worth(Have("axe"), Have("log")),
    ],
)
def test_and_by_the_context_where_it_is_a_failure_that_says_so(game, way, call):
    async def run(self, ctx, wanted):
        await call(ctx)

    wish = game.solve(game.add(way("Work", Build, run=run)), Build())
    assert "takes a dependency, not" in str(wish.error) or "takes a list of dependencies" in str(wish.error)
    assert [hook for _, hook, _ in game.faults()] == ["run"]


def test_in_an_estimate_it_is_reported_and_means_that_it_cannot(game, way):
    agent = game.add(way("Work", Build, cost=lambda ask, wanted: ask.cost("log")))
    (offer,) = agent.gameplay.offers(Build())
    assert offer[1] == float("inf")
    assert "takes a dependency, not 'log'" in offer[2]
    assert [hook for _, hook, _ in game.faults()] == ["estimate"]


def test_a_strategy_that_returns_nothing_gives_what_is_given_when_it_is_met(game, way):
    class Count(Dependency[int]):
        """So many of them."""

        def is_met(self, ask):
            return bool(ask.entity.bag)

        def met_value(self, ask):
            return len(ask.entity.bag)

    async def run(self, ctx, wanted):
        ctx.entity.bag["log"] = 1

    assert game.solve(game.add(way("Work", Count, cost=1, run=run)), Count()).value == 1


def test_its_parts_are_set_once_and_an_agent_is_copied_with_its_gameplay():
    agent = Agent(None, name="a")
    gameplay = agent.gameplay
    with pytest.raises(ArgumentError, match="'agent': is no setting"):
        gameplay.agent = None
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del gameplay.catalog
    assert repr(copy.copy(gameplay)) == repr(gameplay)
    assert copy.deepcopy(agent).gameplay is not gameplay
