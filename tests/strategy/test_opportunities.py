"""Opportunities: what lies by the way is collected when it pays."""

from __future__ import annotations

from math import inf

import pytest
from mines import Digger, Have, Look, shop, way_to

from agentrt.errors import DefinitionError
from agentrt.strategy import Branch, Dependency, Interruptible, Opportunity, Trigger
from agentrt.strategy.gameplay import LOOK_ASKS, saved

PAUSE = Interruptible.PAUSE


def trip(*branches, seconds=4.0, ends=True, **attributes):
    """It takes a while by itself, and then needs what the first branch needs."""

    async def run(self, ctx, wanted):
        await ctx.sleep(seconds)
        for need in branches[0].needs if ends else ():
            await ctx.solve(need)
        ctx.entity.put(gem=1)

    def foresee(ask, wanted):
        return branches if wanted.item == "gem" else ()

    return way_to("Trip", Have, foresee, run, **attributes)


def coal(price=20.0, near=1.0):
    """Coal is far, but for a moment there is some by the way."""

    def costs(ask, wanted):
        missing = wanted.count - ask.CURRENT.bag.get("coal", 0)
        return missing * (near if ask.entity.is_near else price)

    return shop("Coal", "coal", price=costs, ticks=5, reads=("bag", "near"))


def by_the_way(count=1, detour=1.0, **options):
    def find(agent):
        entity = agent.entity
        return [(Have("coal", entity.bag.get("coal", 0) + count), detour)] if entity.is_near else []

    return Opportunity(name="coal by the way", find=find, every=0.5, **options)


@pytest.fixture
def digger(game):
    """Add a digger who passes some coal in the first two seconds."""

    def add(*strategies, opportunity=None, **bag):
        entity = Digger(**bag)
        entity.is_near = True
        agent = game.add(*strategies, entity=entity)
        entity.gameplay = agent.gameplay
        if opportunity is not None:
            agent.gameplay.add_opportunity(opportunity)

        def leave():
            entity.is_near = False
            entity.tell("near")

        game.kernel.call_later(40, leave)
        return agent

    return add


def taken(game):
    return [(one.tick, dict(one.detail)["wanted"]) for one in game.sim.trace if one.event.value == "try"]


NEEDS = (Have("coal", 3),)


@pytest.mark.states(
    "003: Planning Ahead Using Probability: What is readily available is collected before it is needed, so as not to "
    "come back for it",
)
def test_what_will_be_needed_is_taken_where_it_lies(game, digger):
    agent = digger(trip(Branch(needs=NEEDS), interruption=PAUSE), coal(), opportunity=by_the_way(3))
    wish = game.solve(agent, Have("gem"))
    assert wish.error is None
    assert taken(game) == [(1, "Have [gem, 1]"), (11, "Have [coal, 3]")]
    assert game.tree(agent) == [
        "Have [gem, 1] - done",
        "   Trip - done",
        "      coal by the way - done",
        "         Have [coal, 3] - done",
        "            Coal - done",
        "      Have [coal, 3] - met",
    ]


@pytest.mark.states("003: Planning Ahead Using Probability: What is readily available is collected before it is ...")
@pytest.mark.states(
    "003: Left open, looking ahead: What lies by the way is taken if what it saves later, times the probability, is "
    "more than the detour and what the interruption costs (decided)",
    source="Planning Ahead Using Probability",
)
@pytest.mark.parametrize(
    ("probability", "detour", "is_taken"),
    [(1.0, 19.0, True), (1.0, 21.0, False), (0.5, 9.0, True), (0.5, 11.0, False), (0.1, 1.9, True), (0.1, 2.1, False)],
)
def test_it_pays_if_what_it_saves_times_the_probability_is_more_than_the_detour(
    game, digger, probability, detour, is_taken
):
    """Coal is twenty seconds away later; who buys it does not know that it is near."""
    branches = [Branch(1 - probability, 1.0), Branch(probability, 1.0, (Have("coal"),))]
    far = shop("Far", "coal", price=20.0, reads=("bag",))
    agent = digger(
        trip(*branches, interruption=PAUSE, ends=False), far, opportunity=by_the_way(1, detour, again_after=99.0)
    )
    assert game.solve(agent, Have("gem")).error is None
    assert [wanted for _, wanted in taken(game)] == ["Have [gem, 1]"] + ["Have [coal, 1]"] * is_taken


@pytest.mark.states("003: Planning Ahead Using Probability: What is readily available is collected before it is ...")
def test_what_nobody_needs_later_is_left_where_it_is(game, digger):
    agent = digger(
        trip(Branch(needs=(Look(),)), ends=False), coal(), way_to("See", Look, [Branch()]), opportunity=by_the_way()
    )
    assert game.solve(agent, Have("gem")).error is None
    assert taken(game) == [(1, "Have [gem, 1]")]


def test_a_part_of_it_saves_a_part(game, digger):
    agent = digger(trip(Branch(needs=NEEDS)), coal(near=20.0))
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    wanted = [Have("coal", 1), Have("coal", 2), Have("coal", 9), Have("rope"), Look()]
    assert list(saved(agent.gameplay.triggers.table, wanted).values()) == [20.0, 40.0, 60.0, 0.0, 0.0]
    wish.cancel()
    game.tick(2)


def test_what_cannot_be_had_later_saves_everything(game, digger):
    agent = digger(trip(Branch(0.5), Branch(0.5, needs=(Have("moon"),))))
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    assert saved(agent.gameplay.triggers.table, [Have("moon")]) == {Have("moon"): inf}
    wish.cancel()
    game.tick(2)


@pytest.mark.states("003: Left open, looking ahead: What lies by the way is taken if what it saves later, times ...")
def test_who_would_begin_again_for_it_loses_what_it_has_done(game, digger):
    """After three seconds of a trip that begins again, two seconds of detour are five."""
    found = []
    for interruption in (Interruptible.RESTART, PAUSE, Interruptible.WAIT):
        agent = digger(
            trip(Branch(needs=(Have("coal"),)), seconds=8.0, interruption=interruption, ends=False),
            shop("Far", "coal", price=4.5, reads=("bag",)),
        )
        agent.name = interruption.value
        wish = game.wish(agent.gameplay.have("gem"))
        game.tick(61)
        agent.gameplay.add_opportunity(by_the_way(1, detour=2.0, again_after=99.0))
        agent.entity.is_near = True
        game.tick(10)
        agent.entity.is_near = False
        game.tick(200)
        assert wish.is_over
        found.append(agent.entity.bag.get("coal", 0))
    assert found == [0, 1, 1]


@pytest.mark.parametrize("why", ["no look-ahead", "nothing runs"])
def test_it_is_off(game, digger, why):
    agent = digger(trip(Branch(needs=NEEDS)), coal(), opportunity=by_the_way())
    if why == "no look-ahead":
        agent.gameplay.lookahead = 0
        assert game.solve(agent, Have("gem")).error is None
        assert [wanted for _, wanted in taken(game)] == ["Have [gem, 1]", "Have [coal, 3]"]
        assert taken(game)[1][0] > 80
    else:
        game.tick(60)
        assert taken(game) == []
    assert agent.gameplay.triggers.busy == ()


@pytest.mark.states("003: Left open, looking ahead: What lies by the way is taken if what it saves later, times ...")
def test_what_is_urgent_goes_before_it(game, digger):
    """An opportunity never interrupts what is done about something that came up."""
    agent = digger(
        trip(Branch(needs=NEEDS), interruption=PAUSE),
        coal(),
        way_to("See", Look, [Branch()], _slowly, interruption=PAUSE),
        opportunity=by_the_way(3),
    )
    agent.gameplay.add_trigger(Trigger(name="noise", on="noise", solve=Look()))
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(4)
    agent.entity.signal("noise").emit()
    game.tick(200)
    assert wish.error is None
    assert [wanted for _, wanted in taken(game)] == ["Have [gem, 1]", "Look", "Have [coal, 3]"]
    assert taken(game)[2][0] >= taken(game)[1][0] + 20


async def _slowly(self, ctx, wanted):
    await ctx.sleep(1.0)


def test_the_best_of_several_is_taken(game, digger):
    def find(agent):
        return [(Have("rope"), 1.0), (Have("coal"), 1.0), (Have("pick"), 1.0)]

    needs = (Have("rope"), Have("coal"), Have("pick"))
    prices = {"rope": 5.0, "coal": 9.0, "pick": 7.0}
    store = shop("Store", *prices, price=lambda ask, wanted: prices[wanted.item])
    opportunity = Opportunity(name="store", find=find, every=0.5)
    agent = digger(trip(Branch(needs=needs), interruption=PAUSE), store, opportunity=opportunity)
    assert game.solve(agent, Have("gem")).error is None
    assert [wanted for _, wanted in taken(game)[1:]] == ["Have [coal, 1]", "Have [pick, 1]", "Have [rope, 1]"]


def test_what_raises_is_reported_and_nothing_is_taken(game, digger):
    def find(agent):
        raise ValueError("no eyes")

    agent = digger(trip(Branch(needs=NEEDS)), coal(), opportunity=Opportunity(name="blind", find=find, every=2.0))
    assert game.solve(agent, Have("gem")).error is None
    assert {(hook, error) for _, hook, error in game.faults()} == {("when", "ValueError: no eyes")}


def test_a_name_is_given_once_and_can_be_removed(game, digger):
    agent = digger(trip(Branch(needs=NEEDS)), coal())
    remove = agent.gameplay.add_opportunity(by_the_way())
    with pytest.raises(DefinitionError):
        agent.gameplay.add_opportunity(by_the_way())
    remove()
    agent.gameplay.add_opportunity(by_the_way())()
    assert agent.gameplay.triggers.names == ()
    with pytest.raises(DefinitionError):
        agent.gameplay.add_opportunity(by_the_way(again_after=-1.0))


def test_what_is_needed_elsewhere_later_is_priced_as_it_will_be_there(game, digger):
    """A bush by the path: cheap while on the path, dear at the quarry, where the digger will be when it is needed."""

    async def break_stones(self, ctx, wanted):
        await ctx.sleep(2.0)
        ctx.entity.go("quarry")
        ctx.entity.put(stone=1)

    def to_the_quarry(ask, wanted):
        return [Branch(cost=2.0, expect={"place": "quarry"})] if wanted.item == "stone" else []

    def berries(ask, wanted):
        return 1.0 if ask.CURRENT.place == "home" else 50.0

    quarry = way_to("Quarry", Have, to_the_quarry, break_stones, interruption=PAUSE)
    picnic = trip(Branch(needs=(Have("stone"), Have("berry"))), seconds=0.0)
    opportunity = Opportunity(name="bush", find=lambda agent: [(Have("berry"), 1.0)], every=0.5)
    agent = digger(quarry, picnic, shop("Bush", "berry", price=berries, ticks=5), opportunity=opportunity)
    assert game.solve(agent, Have("gem")).error is None
    assert [wanted for _, wanted in taken(game)] == ["Have [gem, 1]", "Have [stone, 1]", "Have [berry, 1]"]
    assert taken(game)[2][0] < 40


# --- looking is cheap, and bounded ----------------------------------------------------------------------------------------


def dear(count):
    """A trip that needs coal and many other things, and who has them: prices have to be asked anew in between."""
    things = [f"thing {number}" for number in range(count)]
    needs = (Have("coal"), *map(Have, things))
    far = shop("Far", "coal", price=20.0, reads=("bag",))
    return trip(Branch(needs=needs), interruption=PAUSE, ends=False), far, shop("Store", *things, reads=("bag",))


def test_a_look_asks_no_more_than_it_may_and_the_next_one_gets_further(game, digger):
    """Three strategies are asked for each of 101 needs; without coal, and with it, all after the first are the same."""
    agent = digger(*dear(100))
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    agent.entity.tell("bag")
    estimator = agent.gameplay.running[0].estimator
    found = []
    for _ in range(3):
        before = estimator.asked
        [saves] = saved(agent.gameplay.triggers.table, [Have("coal")]).values()
        found.append((saves, estimator.asked - before))
    assert found == [(0.0, LOOK_ASKS + 2), (20.0, 303 - (LOOK_ASKS + 2)), (20.0, 0)]
    wish.cancel()
    game.tick(2)


def test_no_tick_asks_more_than_a_look_may_and_it_is_taken_all_the_same(game, digger):
    agent = digger(*dear(100), opportunity=by_the_way(1, again_after=99.0))
    agent.gameplay.prepare_asks = 0
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    agent.entity.tell("bag")
    estimator = agent.gameplay.running[0].estimator
    asked = []
    while not taken(game)[1:]:
        before = estimator.asked
        game.tick(1)
        asked.append(estimator.asked - before)
    assert max(asked) == LOOK_ASKS + 2
    assert taken(game) == [(1, "Have [gem, 1]"), (21, "Have [coal, 1]")]
    game.tick(200)
    assert wish.is_over
    assert wish.error is None


def test_nobody_is_asked_about_what_no_strategy_can_need(game, digger):
    asks = []
    store = shop("Store", "rope", "coal", asks=asks, reads=None)
    agent = digger(trip(Branch(needs=NEEDS)), store)
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    asks.clear()
    assert list(saved(agent.gameplay.triggers.table, [Have("rope"), Have("coal", 3)]).values()) == [0.0, 1.0]
    assert set(asks) == {Have("coal", 3)}
    wish.cancel()
    game.tick(2)


def test_what_another_strategy_would_need_counts_if_that_is_chosen_then(game, digger):
    """A rope is bought for ten seconds; with coal at hand, one is made in one."""
    made = way_to("Ropery", Have, lambda ask, wanted: [Branch(1.0, 1.0, (Have("coal"),))] * (wanted.item == "rope"))
    agent = digger(trip(Branch(needs=(Have("rope"),))), shop("Store", "rope", price=10.0, reads=("bag",)), coal(), made)
    agent.entity.is_near = False
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    assert saved(agent.gameplay.triggers.table, [Have("coal")]) == {Have("coal"): 9.0}
    wish.cancel()
    game.tick(2)


def test_of_the_same_at_several_places_the_nearest_counts(game, digger):
    opportunity = Opportunity(
        name="coal",
        find=lambda agent: [(Have("coal"), cost) for cost in (30.0, 1.0, 40.0)],
        every=0.5,
        again_after=99.0,
    )
    far = shop("Far", "coal", price=20.0, reads=("bag",))
    agent = digger(trip(Branch(needs=(Have("coal"),)), interruption=PAUSE, ends=False), far, opportunity=opportunity)
    assert game.solve(agent, Have("gem")).error is None
    assert [wanted for _, wanted in taken(game)] == ["Have [gem, 1]", "Have [coal, 1]"]


class Cart(Dependency[None], activity="mine:cart"):
    """A cart with coal in it."""

    def assume(self, state):
        state.bag = {**state.bag, "coal": 3}


def test_something_else_that_meets_what_is_needed_saves_it(game, digger):
    agent = digger(trip(Branch(needs=NEEDS)), coal(near=20.0))
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(3)
    assert saved(agent.gameplay.triggers.table, [Cart()]) == {Cart(): 60.0}
    wish.cancel()
    game.tick(2)


def test_where_it_is_about_to_be_had_anyway_nobody_is_asked_what_it_saves(game, digger):
    asks = []
    store = shop("Store", "rope", asks=asks, reads=None)
    slow = shop("Slow", "coal", price=5.0, ticks=100, reads=("bag",))
    agent = digger(trip(Branch(needs=(*NEEDS, Have("rope"), Have("coal", 5))), seconds=0.0), slow, store)
    wish = game.wish(agent.gameplay.have("gem"))
    game.tick(6)
    assert [one.wanted for one in agent.gameplay.running[0].stack] == [Have("gem"), Have("coal", 3)]
    asks.clear()
    assert saved(agent.gameplay.triggers.table, [Have("coal", 3)]) == {Have("coal", 3): 0.0}
    assert asks == [Have("rope")]
    wish.cancel()
    game.tick(2)
