"""Strategies from packs: by alias, at the intake, as long as one injection names them; saved games name them again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wants import Bearer, Build, Have, Know, Reach

from agentrt import TOP, Action, ActionArgs, Agent, Entity, Manifest, Registry
from agentrt.errors import (
    DefinitionError,
    DependencyFailedError,
    RebuildError,
    UnknownAliasError,
    UnknownDependencyError,
)
from agentrt.rebuild import restore_packs, save_packs
from agentrt.strategy import Dependency, Strategy, strategy
from agentrt.testing import Simulation


@strategy(Have, cost=5.0)
async def mine(ctx, wanted):
    await ctx.sleep_ticks(2)
    ctx.entity.put(wanted.item, wanted.count)
    return wanted.count


@strategy(Have, cost=2.0)
async def buy(ctx, wanted):
    await ctx.gameplay.reach("shop")
    ctx.entity.put(wanted.item, wanted.count)
    return wanted.count


@strategy(Reach, cost=1.0)
async def walk(ctx, wanted):
    await ctx.sleep_ticks(1)
    return wanted.place


class Base(Strategy):
    """It provides nothing: a base class for others."""


def registry():
    things = {
        "strategies:mine": mine,
        "strategies:buy": buy,
        "strategies:walk": walk,
        "strategies:base": Base,
        "strategies:no": 7,
        "ai_pack:miner": {"strategies": ["m:strategies:mine"]},
        "ai_pack:walker": {"strategies": ["m:strategies:walk"]},
        "ai_pack:buyer": {"strategies": ["m:strategies:buy"], "ai_packs": ["m:ai_pack:walker"]},
    }
    return Registry([Manifest("m", things)])


def make(*packs, table=None):
    return Agent(Bearer(), packs=list(packs), registry=table or registry())


def names(agent):
    return [one.spec.name for one in agent.gameplay.catalog.providers]


# --- what a pack gives ------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Goals: Players give it strategies of their own, for ways that nobody thought of ...")
@pytest.mark.states(
    "003: Packs: Developers add strategies of their own as plugins: a class, a function, a package through an entry "
    "point, a pack",
    source="Plugins; design 6",
)
def test_a_pack_and_what_it_requires_load_strategies_when_the_agent_is_made():
    agent = make("m:ai_pack:buyer")
    assert names(agent) == ["walk", "buy"]
    assert agent.gameplay.cost(Have("log")) == 2.0


@pytest.mark.states("003: Hard Dependencies: A strategy that was loaded later is considered by those that were ...")
@pytest.mark.states(
    "003: Packs: A plugin that is loaded at run time is considered by the strategies that were there, and considers "
    "them",
    source='"Hard Dependencies", "Global Dependency Lists"',
)
def test_at_the_next_intake_old_strategies_consider_new_ones_and_the_other_way_round(game):
    agent = game.sim.add(make("m:ai_pack:miner"))
    game.agents.append(agent)
    game.tick()
    injection = agent.inject("m:ai_pack:buyer")
    assert (repr(injection), names(agent)) == ("<Injection of 0 actions and 2 strategies: code>", ["mine"])
    game.tick()
    assert names(agent) == ["mine", "walk", "buy"]
    assert game.solve(agent, Have("log")).value == 1
    assert game.tree(agent) == [
        "Have [log, 1] - done",
        "   Buy - done",
        "      Reach [shop] - done",
        "         Walk - done",
    ]
    injection.revoke()
    assert names(agent) == ["mine", "walk", "buy"]
    game.tick()
    assert names(agent) == ["mine"]
    assert game.solve(agent, Have("stone")).value == 1
    assert game.tree(agent) == ["Have [stone, 1] - done", "   Mine - done"]


@pytest.mark.states("003: Goals: What somebody wrote once is used by every other bot ...")
@pytest.mark.states(
    "003: Packs: What was loaded can be taken away; one that runs then runs to its end",
    source="Plugins",
)
def test_one_that_runs_when_its_pack_is_revoked_runs_to_its_end(game):
    agent = game.sim.add(make())
    game.agents.append(agent)
    injection = agent.inject("m:ai_pack:miner")
    game.tick(2)
    wish = game.wish(agent.gameplay.have("log"))
    game.tick()
    injection.revoke()
    game.tick()
    assert names(agent) == []
    with pytest.raises(UnknownDependencyError):
        agent.gameplay.have("log")
    game.tick(3)
    assert wish.value == 1
    assert isinstance(game.solve(agent, Have("stone")).error, DependencyFailedError)


def test_it_stays_as_long_as_one_injection_or_code_names_it():
    agent = make()
    first, second = agent.inject("m:ai_pack:miner"), agent.inject({"strategies": ["m:strategies:mine"]})
    first.revoke()
    assert names(agent) == ["mine"]
    remove = agent.gameplay.add_strategy(mine)
    second.revoke()
    assert names(agent) == ["mine"]
    remove()
    assert (names(agent), agent.actions) == ([], ())


@pytest.mark.states("003: Packs: Developers add strategies of their own as plugins: a class, a function, a package ...")
def test_a_class_is_injected_like_an_action():
    agent = make()
    injection = agent.inject(walk, mine)
    assert names(agent) == ["walk", "mine"]
    injection.revoke()
    assert names(agent) == []
    assert names(Agent(Bearer(), packs=[mine])) == ["mine"]


def test_everything_that_is_installed_is_one_pack():
    table = Registry([Manifest("m", {"strategies:mine": mine, "strategies:walk": walk})])
    assert names(make({"strategies": list(table.aliases("strategies"))}, table=table)) == ["mine", "walk"]


def test_a_mixin_adds_strategies_to_a_pack_of_another_mod_or_puts_them_in_the_place_of_its_own():
    def learn(rule):
        table = registry()
        mixin = {"strategies": ["m:strategies:walk"], "mixintypes": {"strategies": rule}}
        table.add(Manifest("shop", mixins={"m:ai_pack:miner": mixin}))
        return names(make("m:ai_pack:miner", table=table))

    assert learn("append") == ["mine", "walk"]
    assert learn("override") == ["walk"]


def test_the_trace_and_the_snapshot_say_what_was_taught(game):
    agent = game.sim.add(make())
    game.agents.append(agent)
    agent.inject("m:ai_pack:buyer", source="a shop opened")
    game.tick()
    told = [dict(one.detail) for one in game.sim.trace if one.event == "injected"]
    assert told[0] == {"source": "a shop opened", "actions": 0, "strategies": 2}
    assert ("a shop opened", 0, ("walk", "buy")) in agent.snapshot().injections


def test_an_observer_and_a_plan_find_them(game):
    """What comes with a pack is there when its observer begins."""

    class Fetch(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            game.note(await ctx.agent.gameplay.have("log", 2))
            await ctx.sleep(60)

    table = registry()
    table.register("m:actions:fetch", Fetch)
    pack = {"actions": ["m:actions:fetch"], "strategies": ["m:strategies:mine"]}
    game.agents.append(game.sim.add(make(pack, table=table)))
    game.tick(5)
    assert game.log == [(3, 2)]


# --- what does not fit ------------------------------------------------------------------------------------------------


class Rent(ActionArgs):
    """Other arguments than those of ``Have``."""

    days: int


class RentIt(Action):
    does = "want:have"
    utility = 0.5
    Args = Rent


@strategy(Have, cost=1.0)
async def steal(ctx, wanted):
    return None


steal.spec.name = steal.name = "mine"  # as another mod's strategy may be called


class Thing(Dependency[int], activity="other:have"):
    """Another mod's dependency whose call has the name of ours."""


@strategy(Thing, cost=1.0)
async def make_thing(ctx, wanted):
    return None


@strategy(Know, cost=1.0)
async def solve(ctx, wanted):
    return None


class Order(Dependency[None]):
    """Its call has the name of an attribute."""


@strategy(Order, cost=1.0)
async def give_orders(ctx, wanted):
    return None


@strategy(Thing, Have, cost=1.0)
async def two_things(ctx, wanted):
    return None


@strategy(Know, cost=1.0)
async def know(ctx, wanted):
    return None


class Broken(Strategy):
    provides = Know
    cost = 1.0

    def __init__(self):
        raise RuntimeError("no")

    async def run(self, ctx, wanted):
        return None


@pytest.mark.states(
    "003: Plugins, proper error handling: A mistake in a plugin is an error of loading it, and nothing has changed "
    "then",
)
@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ({"strategies": ["m:strategies:no"]}, DefinitionError, "m:strategies:no: it names 7. Register a class derived"),
        ({"strategies": ["m:strategies:dig"]}, UnknownAliasError, "nobody registered 'm:strategies:dig'"),
        ({"strategies": ["m:strategies:base"]}, DefinitionError, "Base: it is no strategy. Subclass Strategy and say"),
        (steal, DefinitionError, "mine is called 'mine', too. Give it a 'name' of its own."),
        (make_thing, DefinitionError, "Thing and Have are both called 'have'."),
        (solve, DefinitionError, "its call would be 'agent.gameplay.solve', which is something else."),
        (give_orders, DefinitionError, "its call would be 'agent.gameplay.order', which is something else."),
        (two_things, DefinitionError, "Thing and Have are both called 'have'."),
        (Broken, DefinitionError, "it cannot be made: RuntimeError: no. Give it no arguments."),
        (Entity, DefinitionError, "Entity: it is not an action."),
    ],
)
@pytest.mark.parametrize("runs", [False, True])
def test_a_mistake_is_an_error_of_inject_and_nothing_has_changed(what, error, text, runs):
    sim = Simulation()
    agent = make("m:ai_pack:miner")
    if runs:
        sim.add(agent)
        sim.tick()
    before = (agent.injections, agent.actions)
    with pytest.raises(error) as caught:
        agent.inject(what, walk)
    assert text in str(caught.value)
    sim.tick(2)
    assert (agent.injections, agent.actions) == before
    assert names(agent) == ["mine"]
    sim.close()
    assert [one for one in sim.trace if one.event == "fault"] == []


@pytest.mark.states("003: Plugins, proper error handling: A mistake in a plugin is an error of loading it, and ...")
@pytest.mark.parametrize(
    "load", [lambda agent: agent.inject(walk, mine), lambda agent: agent.gameplay.add_strategy(walk, mine)]
)
@pytest.mark.parametrize("runs", [False, True])
def test_what_is_provided_must_fit_what_the_agent_can_do(load, runs):
    sim = Simulation()
    agent = Agent(Bearer(), actions=[RentIt])
    if runs:
        sim.add(agent)
        sim.tick()
    with pytest.raises(DefinitionError, match="All actions of one activity take the same arguments"):
        load(agent)
    sim.tick(2)
    assert (names(agent), agent.actions, len(agent.injections)) == ([], (RentIt,), 1)
    sim.close()


def test_two_dependencies_of_one_strategy_need_two_calls():
    with pytest.raises(DefinitionError, match="Thing and Have are both called 'have'"):
        make(two_things)


def test_a_name_that_code_still_holds_is_not_free_when_its_pack_is_revoked():
    sim = Simulation()
    agent = sim.add(make())
    injection = agent.inject(mine)
    agent.gameplay.add_strategy(mine)
    sim.tick()
    injection.revoke()
    with pytest.raises(DefinitionError, match="mine is called 'mine', too"):
        agent.inject(steal)
    sim.close()


def test_one_that_takes_the_name_of_one_that_was_revoked_before_the_intake_is_taken():
    sim = Simulation()
    agent = sim.add(make())
    injection = agent.inject(mine)
    sim.tick()
    injection.revoke()
    agent.inject(steal)
    sim.tick()
    assert [one.spec.cls for one in agent.gameplay.catalog.providers] == [steal]
    sim.close()


# --- saved games ------------------------------------------------------------------------------------------------------


def test_a_saved_game_names_the_packs_and_the_strategies():
    table = registry()
    agent = make("m:ai_pack:miner", table=table)
    agent.inject("m:ai_pack:walker", buy, source="the shop")
    saved = json.loads(json.dumps(save_packs(agent)))
    assert saved == [{"source": "the shop", "packs": ["m:ai_pack:walker", {"strategies": ["m:strategies:buy"]}]}]
    again = make("m:ai_pack:miner", table=table)
    restore_packs(again, saved)
    assert names(again) == names(agent) == ["mine", "walk", "buy"]


def test_what_code_loaded_is_not_saved_and_what_nobody_registered_cannot_be():
    agent = make()
    agent.gameplay.add_strategy(mine)
    assert save_packs(agent) == []
    agent.inject(know)
    with pytest.raises(DefinitionError, match="know: it was injected, but nobody registered it"):
        save_packs(agent)


def test_a_strategy_that_is_gone_is_told_with_its_place():
    with pytest.raises(RebuildError, match="nobody registered 'm:strategies:dig'"):
        restore_packs(make(), [{"source": "x", "packs": [{"strategies": ["m:strategies:dig"]}]}])


# --- in any order -----------------------------------------------------------------------------------------------------

CHOICES = {"miner": {"mine"}, "walker": {"walk"}, "buyer": {"walk", "buy"}}


@pytest.mark.states("003: Packs: What was loaded can be taken away; one that runs then runs to its end ...")
@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["inject", "revoke", "tick"]), st.integers(0, 8)), max_size=14),
    st.integers(0, 6),
)
def test_in_whatever_order_packs_come_and_go_the_agent_has_what_the_live_ones_name(program, joins):
    sim = Simulation()
    agent = make()
    live = []
    for number, (kind, choice) in enumerate(program):
        if number == joins:
            sim.add(agent)
        if kind == "inject":
            name = list(CHOICES)[choice % 3]
            live.append((name, agent.inject(f"m:ai_pack:{name}")))
        elif kind == "revoke" and live:
            live.pop(choice % len(live))[1].revoke()
        else:
            sim.tick(choice % 3 + 1)
    sim.tick(3)
    wanted = {one for name, _ in live for one in CHOICES[name]}
    assert set(names(agent)) == wanted
    activities = [action.spec.activity for action in agent.actions]
    calls = {"have": {"mine", "buy"}, "reach": {"walk"}}
    assert sorted(activities) == [f"want:{call}" for call, by in calls.items() if by & wanted]
    for _, injection in live:
        injection.revoke()
    sim.tick(3)
    assert (names(agent), agent.actions) == ([], ())
    sim.close()
    assert [one for one in sim.trace if one.event == "fault"] == []


@pytest.mark.states("003: Injection Based Task Selection: Two plugins that cannot see each other need no bridge ...")
@pytest.mark.states("003: Global Dependency Lists: Lists are global: any strategy adds itself to one, any refers ...")
@pytest.mark.states(
    "003: Packs: Two plugins need not know each other: a class of dependencies is all that they share",
    source="Global Dependency Lists",
)
def test_two_packs_that_bring_each_other_what_they_need_do_not_know_each_other(game):
    """Build is provided by one mod with what another mod provides; the dependency is all that they share."""

    @strategy(Build, cost=1.0)
    async def put_up(ctx, wanted):
        await ctx.gameplay.have("log", 3)
        return wanted.what

    table = registry()
    table.add(Manifest("b", {"strategies:put_up": put_up, "ai_pack:builder": {"strategies": ["b:strategies:put_up"]}}))
    agent = game.sim.add(make("b:ai_pack:builder", "m:ai_pack:miner", table=table))
    game.agents.append(agent)
    assert game.solve(agent, Build("hut")).value == "hut"
    assert agent.entity.bag == {"log": 3}
