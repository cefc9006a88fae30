"""Global parameters: what every strategy may read, at any depth, and each for itself."""

from __future__ import annotations

import pytest
from wants import Build, Know, Reach

from agentrt import ActionArgs
from agentrt.errors import ArgumentError
from agentrt.strategy import Params


class Declared(ActionArgs):
    xray: bool = False
    hunger: int = 10


@pytest.fixture
def reading(game, way):
    """Three floors of strategies, each of which notes what it reads: when asked, and when run."""

    def floor(label, provides, need):
        def estimate(ask, wanted):
            game.note(label, "asked", ask.params.get("xray"))
            return 1.0 + (ask.cost(need) if need else 0)

        async def run(self, ctx, wanted):
            game.note(label, "run", ctx.params.get("xray"))
            if need:
                await ctx.solve(need)
            await ctx.sleep_ticks(2)

        return way(label, provides, cost=estimate, run=run)

    return [floor("Top", Build, Know("how")), floor("Middle", Know, Reach("hill")), floor("Bottom", Reach, None)]


def told(game, what):
    return [(who, value) for _, who, kind, value in game.take_log() if kind == what]


@pytest.mark.states("003: Global Parameters: Global parameters are read by all strategies, at any depth")
def test_they_are_read_at_any_depth_in_run_and_in_estimates(game, reading):
    agent = game.add(*reading)
    agent.gameplay.set_params(xray=True)
    game.solve(agent, Build())
    log = game.take_log()
    assert {value for _, _, _, value in log} == {True}
    assert [who for _, who, kind, _ in log if kind == "run"] == ["Top", "Middle", "Bottom"]
    assert {who for _, who, kind, _ in log if kind == "asked"} == {"Top", "Middle", "Bottom"}


@pytest.mark.states("003: Global Parameters: They say what is expected: XRay, hunger to be ignored, and the like ...")
def test_a_request_may_have_its_own_and_others_do_not_see_them(game, reading):
    agent = game.add(*reading)
    agent.gameplay.set_params(xray=False, other=1)
    wish = game.wish(agent.gameplay.using(xray=True).build())
    game.tick(2)
    assert [one.estimator.params["other"] for one in agent.gameplay.running] == [1]
    game.tick(20)
    assert wish.is_over
    assert {value for _, value in told(game, "run")} == {True}
    assert agent.gameplay.params.xray is False
    game.solve(agent, Build())
    assert {value for _, value in told(game, "run")} == {False}


def test_a_request_may_have_its_own_when_it_is_begun(game, reading):
    agent = game.add(*reading)
    agent.gameplay.begin(Build(), xray="very")
    game.tick(20)
    assert {value for _, value in told(game, "run")} == {"very"}


@pytest.mark.states("003: Global Parameters: They do not change while something is being solved (decided)")
def test_requests_that_run_go_on_with_what_they_began_with(game, reading):
    agent = game.add(*reading)
    agent.gameplay.set_params(xray="old")
    wish = game.wish(agent.gameplay.build())
    game.tick(1)
    agent.gameplay.set_params(xray="new")
    game.tick(20)
    assert wish.is_over
    assert {value for _, value in told(game, "run")} == {"old"}


def test_what_was_estimated_under_other_parameters_is_not_mixed_up(game, way):
    def estimate(ask, wanted):
        return 5.0 if ask.params.get("xray") else 50.0

    agent = game.add(way("Look", Know, cost=estimate, reads=()), way("Read", Know, cost=20, reads=()))
    assert agent.gameplay.cost(Know("x")) == 20
    game.wish(agent.gameplay.using(xray=True).know("x"))
    game.tick(3)
    assert [who for _, who, what in game.take_log() if what == "run"] == ["Look"]
    agent.gameplay.set_params(xray=True)
    assert agent.gameplay.cost(Know("x")) == 5


@pytest.mark.states("003: Global Parameters: They say what is expected: XRay, hunger to be ignored, and the like")
def test_declared_parameters_are_typed_and_have_defaults(game, way):
    agent = game.add()
    agent.gameplay.set_params(Declared, xray=True)
    assert (agent.gameplay.params.xray, agent.gameplay.params.hunger) == (True, 10)
    with pytest.raises(ArgumentError, match="hunger"):
        agent.gameplay.set_params(Declared, hunger="much")
    with pytest.raises(ArgumentError, match="thirst"):
        agent.gameplay.using(thirst=1)
    assert agent.gameplay.params.xray is True  # as before


@pytest.mark.states("003: Global Parameters: Each strategy decides which of them it reads ...")
def test_a_parameter_that_is_not_there_says_what_to_do():
    params = Params(None, {"xray": True})
    with pytest.raises(ArgumentError, match=r"is not there: xray.*params.get\('torches'"):
        params.torches  # noqa: B018
    assert params.get("torches", 3) == 3
    assert dict(params) == {"xray": True}
    assert len(params) == 1
    assert repr(params) == "Params(xray=True)"
    with pytest.raises(AttributeError):
        params._secret  # noqa: B018


@pytest.mark.parametrize("name", ["get", "keys", "using"])
def test_a_parameter_has_not_the_name_of_a_method(game, name):
    with pytest.raises(ArgumentError, match=f"'{name}'.* has the name of a method"):
        game.add().gameplay.set_params(**{name: 1})


@pytest.mark.states("003: Global Parameters: They do not change while something is being solved (decided) ...")
def test_they_cannot_be_changed_while_something_is_solved(game, way):
    async def run(self, ctx, wanted):
        with pytest.raises(TypeError):
            ctx.params["xray"] = 1
        with pytest.raises(AttributeError):
            ctx.params.xray = 1
        return "tried"

    agent = game.add(way("Try", Know, run=run))
    agent.gameplay.set_params(xray=0)
    assert game.solve(agent, Know("x")).value == "tried"
    assert agent.gameplay.params.xray == 0


@pytest.mark.states("003: Global Parameters: Each strategy decides which of them it reads")
def test_a_strategy_that_reads_what_is_not_there_has_failed_and_no_more(game, way):
    async def run(self, ctx, wanted):
        return ctx.params.torches

    agent = game.add(way("Dark", Know, run=run), way("Read", Know, cost=9, gives="read"))
    assert game.solve(agent, Know("x")).value == "read"
    assert len(game.faults()) == 1
