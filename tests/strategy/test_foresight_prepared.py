"""Decisions that are made in advance: whichever branch comes true, nobody is asked again; and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mines import PLAN, At, Digger, Have, Walk, mine, shop, tools, way_to

from agentrt import Runtime
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Branch
from agentrt.strategy.ask import Estimator

ORIGINAL = Estimator.offers


def asks_at_decisions(game, agent, monkeypatch):
    """How many times strategies were asked in each decision of the request."""
    solving_offers = type(agent.gameplay.estimator).offers
    found = []

    def offers(self, *args, **more):
        before = self.asked
        try:
            return solving_offers(self, *args, **more)
        finally:
            found.append(self.asked - before)

    monkeypatch.setattr(type(agent.gameplay.estimator), "offers", offers)
    return found


@pytest.mark.states(
    "003: Planning Ahead Using Probability: In times with little to do, trees for the second- and third-likeliest "
    "events are calculated",
)
@pytest.mark.states(
    "003: Planning Ahead Using Probability: Then nothing is recalculated when a less likely event occurs",
)
@pytest.mark.parametrize("thing", ["pick", "torch", "rope"])
def test_whichever_branch_comes_true_its_decisions_were_made_already(game, digger, monkeypatch, thing):
    """The likeliest, the second and the third; the place has changed meanwhile, as it was assumed."""
    agent = digger(mine(At("cave"), Have(thing)), tools(), Walk)
    found = asks_at_decisions(game, agent, monkeypatch)
    assert game.solve(agent, Have("gem")).error is None
    assert found[1:] == [0, 0]
    assert agent.gameplay.foreseen.taken >= 1


@pytest.mark.parametrize("switch", ["lookahead", "prepare_asks"])
def test_switched_off_every_decision_is_made_when_it_is_due(game, digger, monkeypatch, switch):
    agent = digger(mine(At("cave"), Have("rope")), tools(), Walk)
    setattr(agent.gameplay, switch, 0)
    found = asks_at_decisions(game, agent, monkeypatch)
    assert game.solve(agent, Have("gem")).error is None
    assert found[2] > 0
    assert agent.gameplay.foreseen.prepared == agent.gameplay.foreseen.taken == 0


@pytest.mark.states("003: Left open, looking ahead: A world that turns out as it was assumed takes over what was ...")
def test_what_was_assumed_otherwise_is_not_taken(game, digger, monkeypatch):
    """On the way to the cave the digger ends up somewhere else."""

    class Stray(Walk):
        async def run(self, ctx, wanted):
            await super().run(ctx, wanted)
            ctx.entity.go("lake")

    Stray.provides = At
    agent = digger(mine(At("cave"), Have("rope")), tools(), Stray)
    wish = game.wish(agent.gameplay.have("gem"))
    found = asks_at_decisions(game, agent, monkeypatch)
    game.tick(80)
    assert isinstance(wish.error, DependencyFailedError)
    assert agent.gameplay.foreseen.taken == 0
    assert found


def test_what_was_prepared_before_a_failure_is_asked_anew(game, digger, monkeypatch):
    """Whoever failed may be out of it, and so may be what else was thought."""

    class Lame(Walk):
        def estimate(self, ask, wanted):
            return 1.0

        async def run(self, ctx, wanted):
            ctx.fail("it is too far")

    class Jump(Walk):
        async def run(self, ctx, wanted):
            ctx.entity.go(wanted.where)

    Lame.provides = Jump.provides = At

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(6)
        await ctx.solve(At("cave"))
        await ctx.solve(Have("rope"))
        ctx.entity.put(gem=1)

    for walkers in ((Lame, Jump), (Jump,)):
        agent = digger(
            way_to("Mine", Have, lambda ask, wanted: PLAN if wanted.item == "gem" else [], run), tools(), *walkers
        )
        found = asks_at_decisions(game, agent, monkeypatch)
        assert game.solve(agent, Have("gem")).error is None
        assert (found[-1] > 0) == (len(walkers) == 2)
        monkeypatch.undo()


@pytest.mark.states("003: Left open, looking ahead: A world that turns out as it was assumed takes over what was ...")
def test_what_changed_besides_is_asked_anew(game, digger, monkeypatch):
    """The weather was read, and nobody assumed that it changes."""
    asks = []
    weather = shop("Weather", "rope", price=lambda ask, wanted: 3.0, asks=asks, reads=("place", "weather"))
    agent = digger(mine(At("cave"), Have("rope")), tools(), weather, Walk)
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(11)
    prepared = len(asks)
    agent.gameplay.prepare_asks = 0
    agent.gameplay.changed("weather")
    game.tick(60)
    assert wish.error is None
    assert wish.is_over
    assert len(asks) > prepared > 0


@pytest.mark.states("003: Heuristic Based Task Selection, 3: How long does it take to guess? What one decision may ...")
@pytest.mark.states(
    "003: Left open, looking ahead: Preparing takes what is left of a tick, and ends with the request (decided)",
    source="Planning Ahead Using Probability",
)
def test_a_tick_asks_no_more_than_it_may(game, digger):
    asks = []
    shops = [shop(f"Shop{number}", "pick", "rope", "torch", asks=asks, reads=("place",)) for number in range(40)]
    agent = digger(mine(At("cave"), Have("rope"), sleep=30), *shops, Walk)
    agent.gameplay.prepare_asks = 5
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(1)
    a_tick = []
    for _ in range(28):
        before = agent.gameplay.estimator.asked
        game.tick(1)
        a_tick.append(agent.gameplay.estimator.asked - before)
    assert max(a_tick[2:]) <= 5
    assert sum(a_tick[2:]) > 50
    wish.cancel()
    game.tick(2)


@pytest.mark.states("003: Planning Ahead Using Probability: In times with little to do, trees for the second- and ...")
@pytest.mark.states("003: Left open, looking ahead: Preparing takes what is left of a tick, and ends with the ...")
def test_it_takes_what_others_leave_of_the_think_budget(stage):
    found = []
    for budget in (None, 2):
        game = stage(runtime=Runtime(0, host="plain", think_budget=budget))
        entity = Digger()
        shops = [shop(f"Shop{number}", "pick", "rope", "torch", reads=("place",)) for number in range(10)]
        agent = game.add(mine(At("cave"), Have("rope"), sleep=30), *shops, Walk, entity=entity)
        entity.gameplay = agent.gameplay
        wish = game.wish(agent.gameplay.have("gem"))
        game.tick(6)
        found.append(agent.gameplay.estimator.asked)
        wish.cancel()
        game.tick(2)
        game.close()
        game.check()
    assert found[1] < found[0]


@pytest.mark.states("003: Left open, looking ahead: Preparing takes what is left of a tick, and ends with the ...")
def test_nothing_is_left_of_it_when_the_request_is_over(game, digger):
    agent = digger(mine(At("cave"), Have("pick")), tools(), Walk)
    for end in ("done", "cancelled", "killed"):
        wish = game.wish(agent.gameplay.have("gem"))
        game.tick(3)
        solving = agent.gameplay.running[0]
        assert solving.stack
        if end == "done":
            game.tick(60)
        elif end == "cancelled":
            wish.cancel()
        else:
            game.sim.runtime.remove(agent)
        game.tick(3)
        agent.entity.bag = {}
        assert solving.stack == []
        assert solving.foresight._timer is None
        assert game.kernel.live == 0


def test_an_agent_without_a_request_does_nothing(game, digger):
    agent = digger(mine(At("cave"), Have("pick")), tools(), Walk)
    game.tick(5)
    before = agent.gameplay.estimator.asked
    agent.gameplay.changed("place")
    game.tick(50)
    assert agent.gameplay.estimator.asked == before


@pytest.mark.states("003: Planning Ahead Using Probability: Then nothing is recalculated when a less likely event ...")
@pytest.mark.states("003: Left open, looking ahead: A decision that was made in advance is the one that would be ...")
@pytest.mark.parametrize("thing", ["pick", "rope"])
def test_preparing_changes_nothing_of_what_happens(stage, thing):
    traces = []
    for asks in (0, 1, 32):
        game = stage()
        entity = Digger()
        agent = game.add(mine(At("cave"), Have(thing)), tools(), Walk, entity=entity)
        entity.gameplay = agent.gameplay
        agent.gameplay.prepare_asks = asks
        assert game.solve(agent, Have("gem")).error is None
        game.close()
        game.check()
        traces.append([one.line() for one in game.sim.trace])
    assert traces[0] == traces[1] == traces[2]
    assert len(traces[0]) > 20


THINGS = ["torch", "rope", "pick", "coal"]
NEED = st.one_of(st.sampled_from(THINGS).map(Have), st.sampled_from(["cave", "lake"]).map(At))
BRANCH = st.builds(
    Branch,
    st.integers(1, 4).map(float),
    st.integers(0, 20).map(float),
    st.lists(NEED, max_size=3).map(tuple),
    st.sampled_from([{}, {"place": "lake"}]),
)


def helper(number, item, cost, needs, where):
    """It has one thing, dearer at one place, and needs others."""

    def foresee(ask, wanted):
        if wanted.item != item:
            return []
        own = cost + (5.0 if ask.CURRENT.place == where else 0.0)
        return [Branch(1.0, own, needs)]

    return way_to(f"Helper{number}", Have, foresee, reads=("bag", "place"))


HELPER = st.tuples(st.sampled_from(THINGS), st.integers(0, 9), st.lists(NEED, max_size=1).map(tuple), st.just("lake"))


@pytest.mark.states(
    "003: Left open, looking ahead: A decision that was made in advance is the one that would be made (ours)",
    source="Planning Ahead Using Probability",
)
@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(BRANCH, min_size=1, max_size=4),
    st.lists(NEED, max_size=4),
    st.lists(HELPER, max_size=5),
    st.sampled_from([1, 3, 32]),
)
def test_a_decision_that_was_made_in_advance_is_the_one_that_would_be_made(stage, branches, asked, helpers, asks):
    game = stage()
    entity = Digger()
    stores = shop(
        "Store", *THINGS, price=lambda ask, wanted: 9.0 if ask.CURRENT.place == "home" else 4.0, reads=("place",)
    )
    several = [helper(number, *one) for number, one in enumerate(helpers)]
    agent = game.add(mine(*asked, sleep=3, branches=branches), stores, Walk, *several, entity=entity)
    entity.gameplay = agent.gameplay
    agent.gameplay.prepare_asks = asks
    estimator = agent.gameplay.estimator
    decisions = []

    def offers(self, wanted, among=None, chain=()):
        found = ORIGINAL(self, wanted, among, chain)
        if self is estimator:
            fresh = ORIGINAL(Estimator(self.state, self.params), wanted, among, chain)
            decisions.append((found, fresh))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Estimator, "offers", offers)
        wish = game.solve(agent, Have("gem"))
    game.close()
    game.check()
    assert wish.is_over
    assert [found for found, _ in decisions] == [fresh for _, fresh in decisions]
    seen = agent.gameplay.foreseen
    assert seen.hits + seen.others + seen.misses == sum(one.event.value == "forecast" for one in game.sim.trace)
