"""Names that meet nothing are refused, with what may be meant, as soon as anybody can know."""

import pytest
from wants import Bearer, Build, Have, Know, Reach

from agentrt import Agent
from agentrt.errors import ArgumentError, DefinitionError
from agentrt.strategy import Dependency, Strategy, Trigger, strategy
from agentrt.strategy.ask import near

# --- among and rank -----------------------------------------------------------------------------------------------------


def asks(game, way, **options):
    """What ``ctx.solve`` raised, with these words of a parent."""
    caught = []

    async def run(self, ctx, wanted):
        given = {name: value(ctx) if name == "among" and callable(value) else value for name, value in options.items()}
        try:
            return await ctx.solve(Know("x"), **given)
        except ArgumentError as error:
            caught.append(error.text)

    joins = way("Coal", Know, injects=("Top.fuels",))
    agent = game.add(way("Top", Build, run=run), joins, way("Walk", Reach))
    wish = game.solve(agent, Build())
    return caught[0] if caught else wish.error


@pytest.mark.states(
    "003: Hard Dependencies: Names that meet nothing are refused, with what may be meant (ours)",
    source="Plugins",
)
@pytest.mark.parametrize(
    ("among", "words"),
    [
        ("Top.fuel", "'Top.fuel' is a list that nobody joins. Did you mean 'Top.fuels'?"),
        ("Tpo.fuels", "Did you mean 'Top.fuels'?"),
        (["coal"], "has 'coal', which is no strategy. Write the class: Coal."),
        (["cola"], "has 'cola', which is no strategy. Did you mean 'coal'?"),
        ([3], "has 3, which is no strategy."),
        ([Strategy], "Strategy"),
        (3, "takes a list of strategies, not 3. Write [Mine]."),
        (lambda ctx: ctx.agent.gameplay.catalog.named("coal").spec.cls, "takes a list of strategies, not "),
        (
            lambda ctx: [ctx.agent.gameplay.catalog.named("walk").spec.cls],
            "has walk, which provides Reach and not Know.",
        ),
    ],
)
def test_among(game, way, among, words):
    assert words.lower() in asks(game, way, among=among).lower()


def test_a_list_that_nobody_has_joined_is_empty(game, way):
    assert "Top failed (Know [x] could not be solved)" in str(asks(game, way, among="Kitchen.stoves"))


async def later(offers):
    return offers


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        ("cheapest", "takes a function of the offers, not 'cheapest'"),
        (later, "takes a function of the offers, not <function later"),
        (lambda offers: later(offers), "which is none of the offers"),
        (lambda offers: None, "gave None, which is none of the offers"),
        (lambda offers: offers[0], "which is none of the offers"),
        (lambda offers: [one.provider for one in offers], "which is none of the offers"),
        (lambda offers: ["coal"], "gave 'coal', which is none of the offers"),
    ],
)
def test_rank(game, way, rank, words):
    assert words in asks(game, way, rank=rank)


def test_a_rank_may_give_an_iterator_and_offers_that_it_changed(game, way):
    assert asks(game, way, rank=lambda offers: (one._replace(cost=0.5) for one in offers)) is None


# --- topics -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reads", ["bag", ("bag", 3), ("",), 3, b"bag", [None]])
def test_what_is_read_are_words(reads):
    with pytest.raises(DefinitionError, match="reads"):
        strategy(Know, cost=1.0, reads=reads)(later_run)
    with pytest.raises(DefinitionError, match="reads"):
        type("Odd", (Dependency,), {"reads": reads, "__annotations__": {}})


async def later_run(ctx, wanted):
    """Does nothing."""


@pytest.mark.parametrize("slip", ["bga", "bags", "plac", "placf", "strategie", "requestz"])
def test_what_is_read_is_called_nearly_as_a_field_or_what_the_library_tells(slip):
    agent = Agent(Bearer())
    with pytest.raises(DefinitionError, match=rf"the topic '{slip}' is nothing that changes. Did you mean '"):
        agent.gameplay.add_strategy(strategy(Know, cost=1.0, reads=(slip,))(later_run))
    assert agent.gameplay.catalog.providers == ()
    agent.gameplay.add_topics(slip)
    agent.gameplay.add_strategy(strategy(Know, cost=1.0, reads=(slip,))(later_run))


def test_a_dependency_reads_too():
    class Odd(Dependency[None], activity="want:odd"):
        reads = ("placf",)

    with pytest.raises(DefinitionError, match="Did you mean 'place'"):
        Agent(Bearer()).gameplay.add_strategy(strategy(Odd, cost=1.0)(later_run))


def test_what_is_read_while_asking(game, way):
    def cost(ask, wanted):
        ask.reads("placf")
        return 1.0

    agent = game.add(way("A", Know, cost=cost))
    assert "Did you mean 'place'?" in str(game.solve(agent, Know("x")).error)
    assert len(game.faults()) == 1


@pytest.mark.states("003: Hard Dependencies: Names that meet nothing are refused, with what may be meant (ours) ...")
def test_what_changes_is_called_nearly_as_what_is_read(game, way):
    agent = game.add(way("A", Know, reads=("weather", "bag")))
    for slip in ("weatherr", "waether", "weathers"):
        with pytest.raises(ArgumentError, match=rf"'{slip}'.* is a topic that nobody reads. Did you mean 'weather'\?"):
            agent.gameplay.changed(slip)
    agent.gameplay.changed("weather", "bag", "something else", "requests")
    with pytest.raises(ArgumentError, match="takes words, not 3"):
        agent.gameplay.changed(3)
    with pytest.raises(ArgumentError, match="takes words, not"):
        agent.gameplay.changed(["bag"])


def test_words_that_differ_in_digits_are_meant():
    assert near("tool2", ["tool1", "tool"]) == []
    assert near("stokc", ["stock", "stack", "block"]) == ["stock"]
    assert near("invetnroy", ["inventory"]) == ["inventory"]
    assert near("ab", ["ac"]) == []


# --- triggers and names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "its 'name' is ''"),
        ({"name": 3}, "its 'name' is 3"),
        ({"on": 3}, "its 'on' is 3"),
        ({"on": "", "when": "hungry"}, "its 'when' is 'hungry'"),
        ({"on": "", "when": later}, "its 'when' is <function later"),
        ({"solve": "flee"}, "its 'solve' is 'flee'"),
        ({"solve": None}, "its 'solve' is None"),
        ({"solve": later}, "its 'solve' is <function later"),
        ({"every": "1"}, "its 'every' is '1'"),
        ({"again_after": None}, "its 'again_after' is None"),
        ({"priority": "high"}, "its 'priority' is 'high'"),
        ({"priority": float("nan")}, "its 'priority' is nan"),
        ({"priority": True}, "its 'priority' is True"),
    ],
)
def test_triggers(wrong, words):
    with pytest.raises(DefinitionError) as caught:
        Trigger(**{"name": "t", "on": "howl", "solve": Reach("home"), **wrong})
    assert words in str(caught.value)


def test_a_trigger_on_a_signal_that_is_called_otherwise():
    agent = Agent(Bearer())
    agent.signal("attacked")
    with pytest.raises(DefinitionError, match="nothing of the entity is called 'atacked'. Did you mean 'attacked'?"):
        agent.gameplay.add_trigger(Trigger(name="t", on="atacked", solve=Reach("home")))
    with pytest.raises(DefinitionError, match="Did you mean 'destroyed'"):
        agent.gameplay.add_trigger(Trigger(name="t", on="destroyedd", solve=Reach("home")))
    agent.gameplay.add_trigger(Trigger(name="t", on="hungry", solve=Reach("home")))
    with pytest.raises(DefinitionError, match="it is none"):
        agent.gameplay.add_trigger(Reach("home"))


def test_a_trigger_that_gives_no_dependency_is_reported(game, way):
    agent = game.add(way("A", Know))
    agent.gameplay.add_trigger(Trigger(name="t", on="howl", solve=lambda value: "flee"))
    game.tick()
    agent.entity.signal("howl").emit(1)
    game.tick(2)
    [(_, hook, error)] = game.faults()
    assert hook == "solve"
    assert "takes a dependency, not 'flee'" in error


def test_a_strategy_of_a_function_may_have_a_name():
    @strategy(Have, name="dig_deep", cost=1.0)
    async def mine(ctx, wanted):
        """Digs."""

    agent = Agent(Bearer())
    agent.gameplay.add_strategy(mine)
    assert (mine.spec.name, mine.spec.label) == ("dig_deep", "Dig Deep")
    assert agent.gameplay.dig_deep.__doc__ == "Digs."
    for wrong in ("dig deep", "", 3):
        with pytest.raises(DefinitionError, match="its name is"):
            strategy(Have, name=wrong, cost=1.0)(later_run)
