"""Who is considered: open lists, lists that strategies join by name, a parent's say, loading while something is solved."""

from __future__ import annotations

import inspect

import pytest
from wants import Build, Have, Know, Reach

from agentrt.errors import ArgumentError, DefinitionError, DependencyFailedError, UnknownDependencyError
from agentrt.strategy import Dependency, Interruptible, Strategy, strategy

# --- plugins ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Goals: Players give it strategies of their own, for ways that nobody thought of")
@pytest.mark.states(
    "003: Hard Dependencies: A strategy that was loaded later is considered by those that were there before",
)
def test_an_old_strategy_considers_one_that_was_loaded_later(game, way):
    agent = game.add(way("Forge", Build, needs=[Have("iron")]), way("Mine", cost=30, ticks=2))
    game.solve(agent, Build())
    assert ("try", "Mine") in [(event, by) for _, event, _, by in game.steps()]
    agent.entity.bag.clear()
    game.take_log()
    agent.gameplay.add_strategy(way("Farm", cost=20, ticks=2))
    game.solve(agent, Build())
    assert [who for _, who, what in game.take_log() if what == "run"] == ["Forge", "Farm"]


@pytest.mark.states("003: Plugins: Developers add strategies of their own on top of those that are there")
@pytest.mark.states("003: Hard Dependencies: New strategies call existing ones")
def test_a_new_strategy_calls_old_ones(game, way):
    agent = game.add(way("Walk", Reach, gives="there"))
    agent.gameplay.add_strategy(way("Shop", needs=[Reach("market")]))
    game.solve(agent, Have("log"))
    assert [who for _, who, what in game.log if what == "run"] == ["Shop", "Walk"]


@pytest.mark.states("003: Injection Based Task Selection: Two plugins that cannot see each other need no bridge")
@pytest.mark.states("003: Global Dependency Lists: Lists are global: any strategy adds itself to one, any refers to it")
@pytest.mark.states("003: Global Dependency Lists: Plugins need not be made for each other, and no list is kept twice")
def test_two_plugins_that_do_not_know_each_other_meet_in_one_list(game, way):
    """One brings a strategy that needs, the other one that provides; both know the dependency only."""
    agent = game.add()
    agent.gameplay.add_strategy(way("Carve", Build, needs=[Have("wood")]))
    take_away = agent.gameplay.add_strategy(way("Chop"))
    assert game.solve(agent, Build()).error is None
    agent.entity.bag.clear()
    take_away()
    assert "no strategy provides it" in game.solve(agent, Build()).error.story


@pytest.mark.states("003: Plugins: It is loaded by one call, while the agent runs, too")
def test_loaded_while_it_is_solved_it_is_tried_next(game, way):
    agent = game.add(way("First", cost=1, ticks=3, fails="no"), way("Second", cost=9))
    wish = game.wish(agent.gameplay.solve(Have("log")))
    game.tick(2)
    agent.gameplay.add_strategy(way("Late", cost=2))
    game.tick(5)
    assert wish.value == 1
    assert [who for _, who, what in game.log if what == "run"] == ["First", "Late"]


@pytest.mark.states("003: Plugins: And can be taken away again (ours)")
def test_taken_away_while_it_runs_it_runs_to_its_end(game, way):
    agent = game.add(way("Slow", cost=9, ticks=1))
    take_away = agent.gameplay.add_strategy(way("Quick", cost=1, ticks=4))
    wish = game.wish(agent.gameplay.solve(Have("log")))
    game.tick(2)
    take_away()
    game.tick(5)
    assert wish.value == 1
    assert game.log == [(1, "Quick", "run"), (5, "Quick", "ends")]


@pytest.mark.states("003: Plugins: And can be taken away again (ours) ...")
def test_taken_away_before_its_turn_it_is_not_tried(game, way):
    agent = game.add(way("First", cost=1, ticks=3, fails="no"), way("Third", cost=9))
    take_away = agent.gameplay.add_strategy(way("Second", cost=2))
    wish = game.wish(agent.gameplay.solve(Have("log")))
    game.tick(2)
    take_away()
    take_away()  # twice is once
    game.tick(5)
    assert wish.value == 1
    assert [who for _, who, what in game.log if what == "run"] == ["First", "Third"]


def test_a_strategy_may_load_and_take_away_strategies_while_it_runs(game, way):
    late = way("Late", cost=2)

    async def run(self, ctx, wanted):
        ctx.agent.gameplay.add_strategy(late)
        own = ctx.agent.gameplay.catalog
        own.remove(type(self))
        own.remove(type(self))  # nobody has it any more
        ctx.fail("I am not here")

    agent = game.add(way("Odd", run=run))
    wish = game.solve(agent, Have("log"))
    assert wish.value == 1
    assert agent.gameplay.catalog.named("odd") is None


@pytest.mark.states("003: Plugins: And can be taken away again (ours) ...")
def test_what_two_packs_load_stays_until_both_let_go(game, way):
    walk = way("Walk", Reach)
    agent = game.add(walk)
    second = agent.gameplay.add_strategy(walk)
    second()
    assert game.solve(agent, Reach("hill")).error is None
    assert len(agent.gameplay.catalog.providers) == 1


@pytest.mark.states("003: Plugins: It is loaded by one call, while the agent runs, too ...")
def test_all_or_none_are_loaded(game, way):
    agent = game.add()

    class Nothing:
        pass

    with pytest.raises(DefinitionError, match="no strategy"):
        agent.gameplay.add_strategy(way("Walk", Reach), Nothing)
    assert agent.gameplay.catalog.providers == ()
    with pytest.raises(DefinitionError, match="is called 'walk', too"):
        agent.gameplay.add_strategy(way("Walk", Reach), way("Walk", Know))
    assert agent.gameplay.catalog.providers == ()


def test_a_strategy_that_cannot_be_made_is_not_loaded(game, way):
    def fails(self):
        raise RuntimeError("no memory")

    agent = game.add()
    with pytest.raises(DefinitionError, match=r"cannot be made: RuntimeError: no memory"):
        agent.gameplay.add_strategy(way("Heavy", Reach, __init__=fails))
    assert agent.gameplay.catalog.providers == ()


@pytest.mark.states("003: Highly Reusable Strategies: Strategies are configured, so that fewer of them do more ...")
@pytest.mark.states("003: Global Dependency Lists: One strategy reports that it can fulfill several dependencies")
def test_one_strategy_may_provide_several_dependencies(game, way):
    agent = game.add(way("Wizard", Reach, Know, gives="done"))
    assert game.solve(agent, Reach("moon")).value == "done"
    assert game.solve(agent, Know("all")).value == "done"


# --- lists that strategies join by name -------------------------------------------------------------------------------


@pytest.mark.states("003: Injection Based Task Selection: A strategy has lists that others inject themselves into")
def test_an_injection_list_has_who_joined_it(game, way):
    async def smelt(self, ctx, wanted):
        return await ctx.solve(Have("fuel"), among="Smelt.fuels")

    agent = game.add(
        way("Smelt", Build, run=smelt),
        way("Stone", cost=1),
        way("Coal", cost=5, gives=5, injects=("Smelt.fuels",)),
        way("Lava", cost=7, gives=7, injects=("Smelt.fuels", "other")),
        way("Walk", Reach, cost=0, injects=("Smelt.fuels",)),  # provides something else
    )
    assert game.solve(agent, Build()).value == 5
    assert agent.gameplay.finished[-1].children[0].children[0].offers == (("Coal", 5.0, ""), ("Lava", 7.0, ""))


@pytest.mark.states("003: Injection Based Task Selection: A strategy has lists that others inject themselves into ...")
def test_an_injection_list_that_nobody_joined_is_empty(game, way):
    async def smelt(self, ctx, wanted):
        await ctx.solve(Have("fuel"), among="Smelt.fuels")

    agent = game.add(way("Smelt", Build, run=smelt), way("Stone"))
    assert "no strategy provides it" in game.solve(agent, Build()).error.story


@pytest.mark.states("003: Hard Dependencies: A strategy that always calls the same children can still do so")
def test_a_parent_names_who_may_provide_it(game, way):
    cheap, dear, absent = way("Cheap", cost=1, fails="x"), way("Dear", cost=9), way("Absent", cost=0)

    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), among=[dear, absent])

    agent = game.add(way("Parent", Build, run=run), cheap, dear)
    game.solve(agent, Build())
    assert [who for _, who, what in game.log if what == "run"] == ["Dear"]


@pytest.mark.states(
    "003: Injection Based Task Selection: Parent and child understand each other's role: the parent has a say in who "
    "is tried, and in which order",
)
def test_a_parent_orders_the_offers_and_leaves_some_out(game, way):
    seen = []

    def rank(offers):
        seen.append([(one.provider.spec.name, one.cost) for one in offers])
        return [one for one in reversed(offers) if one.provider.spec.name != "dirty"]

    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), rank=rank)

    agent = game.add(
        way("Parent", Build, run=run),
        way("Cheap", cost=1),
        way("Dirty", cost=2),
        way("Dear", cost=3, fails="x"),
        way("Unable", cost=lambda ask, _: None),
    )
    game.solve(agent, Build())
    assert [who for _, who, what in game.log if what == "run"] == ["Parent", "Dear", "Cheap"][1:]
    assert seen == [[("cheap", 1.0), ("dirty", 2.0), ("dear", 3.0)], [("cheap", 1.0), ("dirty", 2.0)]]


@pytest.mark.states("003: Injection Based Task Selection: Parent and child understand each other's role: the ...")
def test_a_rank_that_raises_fails_the_parent(game, way):
    def rank(offers):
        raise RuntimeError("no idea")

    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), rank=rank)

    agent = game.add(way("Parent", Build, run=run), way("Chop"))
    assert "it raised RuntimeError: no idea" in game.solve(agent, Build()).error.story
    assert [hook for _, hook, _ in game.faults()] == ["run"]


@pytest.mark.states("003: Injection Based Task Selection: Parent and child understand each other's role: the ...")
@pytest.mark.parametrize("odd", [lambda offers: [], lambda offers: offers[:1] * 2])
def test_a_rank_that_gives_nobody_or_one_twice_comes_to_an_end(game, way, odd):
    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), rank=odd)

    agent = game.add(way("Parent", Build, run=run), way("Chop", fails="x"))
    assert isinstance(game.solve(agent, Build()).error, DependencyFailedError)


def test_a_rank_that_gives_those_who_have_failed_is_not_listened_to(game, way):
    kept = []

    def rank(offers):
        kept.extend(offers)
        return kept

    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), rank=rank)

    agent = game.add(way("Parent", Build, run=run), way("Bad", cost=1, fails="x"), way("Good", cost=2, fails="y"))
    wish = game.solve(agent, Build())
    assert isinstance(wish.error, DependencyFailedError)
    assert [who for _, who, what in game.log if what == "run"] == ["Bad", "Good"]


def test_a_rank_that_leaves_all_out_is_told_in_the_failure(game, way):
    async def run(self, ctx, wanted):
        return await ctx.solve(Have("log"), rank=lambda offers: [])

    agent = game.add(way("Parent", Build, run=run), way("Chop"))
    assert "Chop cannot (it was left out)" in game.solve(agent, Build()).error.story


# --- generated calls --------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Hierarchy: Each task can be run by the developer with one call")
def test_one_call_for_each_dependency_and_each_strategy(game, way):
    agent = game.add(way("Chop"), way("Walk", Reach), way("Wizard", Reach, Know))
    calls = [name for name in dir(agent.gameplay) if name in ("have", "reach", "know", "chop", "walk", "wizard")]
    assert sorted(calls) == ["chop", "have", "know", "reach", "walk", "wizard"]
    with pytest.raises(UnknownDependencyError, match="Did you mean 'reach'"):
        agent.gameplay.raech("hill")
    assert not hasattr(agent.gameplay, "build")


@pytest.mark.states("003: Plugins: A call is made for it on the gameplay, by its name, which takes what it takes")
def test_a_call_has_the_signature_and_the_text_of_what_it_stands_for(game, way):
    agent = game.add(way("Chop", __doc__="Chop a tree."))
    have = agent.gameplay.have
    assert str(inspect.signature(have)) == "(item: 'str', count: 'int' = 1)"
    assert have.__doc__ == inspect.getdoc(Have)
    assert have.__name__ == "have"
    assert agent.gameplay.chop.__doc__ == "Chop a tree."


@pytest.mark.states("003: Plugins: A call is made for it on the gameplay, by its name, which takes what it takes ...")
def test_a_call_checks_its_values_at_once(game, way):
    class Know2(Dependency[str]):
        what: list

    agent = game.add(way("Chop"))
    with pytest.raises(ArgumentError, match="item"):
        agent.gameplay.have()
    with pytest.raises(ArgumentError, match="count"):
        agent.gameplay.have("log", "many")
    with pytest.raises(ArgumentError, match="one value too many"):
        agent.gameplay.have("log", 1, 2)
    with pytest.raises(ArgumentError, match="given twice"):
        agent.gameplay.have("log", item="log")
    with pytest.raises(ArgumentError, match="cannot be hashed"):
        Know2(["a list"])


@pytest.mark.states("003: Plugins: A call is made for it on the gameplay, by its name, which takes what it takes ...")
def test_calls_by_values_by_name_and_by_the_dependency_itself(game, way):
    agent = game.add(way("Chop"))
    for number, awaitable in enumerate(
        [
            agent.gameplay.have("log", 1),
            agent.gameplay.have(item="log", count=2),
            agent.gameplay.have(Have("log", 3)),
            agent.gameplay.solve(Have("log", 4)),
        ],
        1,
    ):
        agent.entity.bag.clear()
        wish = game.wish(awaitable)
        game.tick(2)
        assert wish.value == number


@pytest.mark.states("003: Hierarchy: Any node can be where it begins")
def test_any_node_can_be_the_entry_point(game, way):
    agent = game.add(
        way("Forge", Build, cost=1, needs=[Have("iron")]),
        way("Assemble", Build, cost=9),
        way("Mine", needs=[Reach("mine")]),
        way("Walk", Reach),
    )
    for call, names in (
        (lambda: agent.gameplay.build(), ["Forge", "Mine", "Walk"]),
        (lambda: agent.gameplay.assemble(), ["Assemble"]),
        (lambda: agent.gameplay.have("iron"), ["Mine", "Walk"]),
        (lambda: agent.gameplay.mine("iron", 1), ["Mine", "Walk"]),
        (lambda: agent.gameplay.reach("mine"), ["Walk"]),
    ):
        game.take_log()
        agent.entity.bag.clear()
        wish = game.wish(call())
        game.tick(6)
        assert wish.error is None
        assert [who for _, who, what in game.log if what == "run"] == names


@pytest.mark.states("003: Hard Dependencies: A strategy that always calls the same children can still do so ...")
def test_the_call_of_a_strategy_tries_nobody_else(game, way):
    agent = game.add(way("Bad", cost=5, fails="x"), way("Good", cost=1))
    wish = game.wish(agent.gameplay.bad("log"))
    game.tick(3)
    assert wish.error.reason == "Bad failed (x)"


@pytest.mark.states("003: Global Dependency Lists: One strategy reports that it can fulfill several dependencies ...")
def test_the_call_of_a_strategy_of_several_takes_the_dependency_itself(game, way):
    agent = game.add(way("Wizard", Reach, Know, gives="done"))
    with pytest.raises(ArgumentError, match="Reach or Know"):
        agent.gameplay.wizard("moon")
    assert game.solve(agent, Know("x")).value == "done"
    wish = game.wish(agent.gameplay.wizard(Reach("moon")))
    game.tick(3)
    assert wish.value == "done"


@pytest.mark.states(
    "003: Infinite State Machine Approach: Strategies are written with the same calls that they help to make",
)
def test_strategies_have_the_calls_too(game, way):
    async def run(self, ctx, wanted):
        return await ctx.gameplay.have("log", count=3) + await ctx.gameplay.chop("twig", 2)

    agent = game.add(way("Make", Build, run=run), way("Chop"))
    assert game.solve(agent, Build()).value == 5


def test_two_dependencies_may_not_have_the_same_call(game, way):
    class Have2(Dependency[int], activity="mine:have"):
        item: str

    agent = game.add(way("Chop"))
    with pytest.raises(DefinitionError, match="both called 'have'"):
        agent.gameplay.add_strategy(way("Chop2", Have2))


async def waiting(*args):
    """A hook that could wait."""


# --- definitions ------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Goals: A task and a strategy are the same thing; here a strategy is what is written, an attempt is what "
    "runs (decided)",
)
@pytest.mark.states("003: Plugins: Or it is a decorated coroutine function (ours)")
def test_a_strategy_by_decorator_is_one_by_class(game):
    @strategy(Reach, cost=3.0, interruption=Interruptible.PAUSE, flags=["MOVE"])
    async def walk(ctx, wanted):
        """Walk there."""
        return f"at {wanted.place}"

    assert issubclass(walk, Strategy)
    assert (walk.name, walk.spec.label, walk.__doc__, walk.cost) == ("walk", "Walk", "Walk there.", 3.0)
    agent = game.add(walk)
    assert game.solve(agent, Reach("hill")).value == "at hill"


@pytest.mark.states("003: Plugins: A plugin extends one abstract class and overrides its run, a coroutine in place ...")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"provides": int}, "it provides <class 'int'>"),
        ({"provides": [Reach, "know"]}, "it provides 'know'"),
        ({"run": Strategy.run}, "it has no 'run'"),
        ({"cost": None}, "nothing says what it costs"),
        ({"cost": -1}, "its cost is -1"),
        ({"cost": float("nan")}, "its cost is nan"),
        ({"cost": 1e12}, "its cost is 1000000000000"),
        ({"cost": "cheap"}, "its cost is 'cheap'"),
        ({"patience": -3}, "its patience is -3"),
        ({"reads": "bag"}, "its reads are one text"),
        ({"flags": "MOVE"}, "its flags are one text"),
        ({"injects": "list"}, "its injects are one text"),
        ({"interruption": "never"}, "its interruption is 'never'"),
        ({"name": "not a name"}, "its name is 'not a name'"),
        ({"run": lambda self, ctx, wanted: None}, "run has the wrong kind. Make it an 'async def'"),
        ({"estimate": waiting}, "estimate has the wrong kind. Make it a plain"),
        ({"foresee": waiting}, "foresee has the wrong kind. Make it a plain"),
        ({"interrupted": waiting}, "interrupted has the wrong kind. Make it a plain"),
        ({"estimate": lambda self: 1.0}, "estimate cannot be called: too many positional arguments"),
    ],
)
def test_what_is_wrong_is_said_where_it_is_defined(way, body, message):
    with pytest.raises(DefinitionError, match=message):
        way("Wrong", Reach, **body)


@pytest.mark.parametrize("field", ["is_met", "label", "values_in_order"])
def test_a_field_of_a_dependency_has_no_name_of_a_method(field):
    with pytest.raises(DefinitionError, match="name of a method"):
        type("Odd", (Dependency,), {"__annotations__": {field: str}})


@pytest.mark.states("003: Plugins: Or it is a decorated coroutine function (ours) ...")
def test_what_is_wrong_is_said_by_the_decorator_too():
    with pytest.raises(DefinitionError, match="run has the wrong kind"):

        @strategy(Reach, cost=1)
        def walk(ctx, wanted):
            pass

    with pytest.raises(DefinitionError, match=r"run cannot be called: .* Write run\(ctx, wanted\)"):

        @strategy(Reach, cost=1)
        async def run(ctx):
            pass


@pytest.mark.parametrize("hook", ["is_met", "met_value", "assume", "guard_key", "label"])
def test_the_hooks_of_a_dependency_do_not_wait(hook):
    with pytest.raises(DefinitionError, match=f"its {hook} is a coroutine function"):
        type("Odd", (Dependency,), {hook: waiting})


def test_a_dependency_has_a_name_among_activities():
    class MineOre(Dependency[None]):
        ore: str

    assert (MineOre.activity, MineOre.call, MineOre("coal").label()) == (
        "gameplay:mine_ore",
        "mine_ore",
        "Mine Ore [coal]",
    )
    with pytest.raises(DefinitionError, match="its activity is"):
        type("Odd", (Dependency,), {}, activity="no colon")
    assert MineOre("coal") == MineOre("coal") != MineOre("iron")
    assert len({MineOre("coal"), MineOre("coal"), MineOre("iron")}) == 2
