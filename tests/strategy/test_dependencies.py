"""Classes of dependencies: what trees call their values, and base classes, which are no activities."""

from __future__ import annotations

import pytest

from agentrt import TOP, Agent, Entity
from agentrt.errors import DefinitionError
from agentrt.strategy import Dependency, Strategy
from agentrt.strategy.tools import DependencyMap
from agentrt.testing import Simulation


class Beside(Dependency[None]):
    kinds: tuple[str, ...]


class Trade(Dependency[None]):
    given: tuple[object, ...]
    taken: object = None


class _Deed(Dependency[None]):
    """What is done to something; each of its subclasses is a deed of its own."""

    target: str
    times: int = 1

    def is_met(self, ask):
        return self.target in ask.entity.done


class Fell(_Deed):
    """Cut it down."""


class Water(_Deed, activity="garden:water"):
    """Pour water on it."""

    cans: int = 2


class _Named(Dependency[None], activity="garden:named"):
    """It says its activity, so it is one."""


class _Known(Strategy):
    """A base class of strategies, as one of dependencies: it provides nothing."""

    cost = 1.0

    async def run(self, ctx, wanted):
        assert type(wanted).__base__ is _Deed
        await ctx.next_tick()
        ctx.entity.done.append(wanted.target)


class FellIt(_Known):
    provides = Fell


class WaterIt(_Known):
    provides = Water


class Gardener(Entity):
    __slots__ = ("done",)


@pytest.fixture
def stage():
    sim = Simulation()
    entity = Gardener("human")
    entity.done = []
    agent = sim.add(Agent(entity, name="ada", top=TOP))
    agent.inject(FellIt, WaterIt)
    sim.tick()
    yield sim, agent
    sim.close()


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        (Beside(("table",)), "Beside [table]"),
        (Beside(("table", "furnace")), "Beside [table, furnace]"),
        (Beside(()), "Beside [()]"),
        (Trade(("log",), "coin"), "Trade [log, coin]"),
        (Trade(("log", 3), 2.5), "Trade [(log, 3), 2.5]"),
        (Trade((("log", 3), ("coal",)), Entity("cow", id=3)), "Trade [((log, 3), coal), cow 3]"),
        (Fell("oak"), "Fell [oak, 1]"),
    ],
)
def test_labels_have_values_and_the_items_of_tuples(wanted, label):
    assert wanted.label() == label


# --- base classes -----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Global Dependency Lists: A class of dependencies that begins with an underscore is a base class for others: "
    "no activity, not asked for, not provided (ours)",
)
def test_a_class_with_an_underscore_is_a_base_and_its_subclasses_are_activities():
    assert (_Deed.activity, _Deed.call) == ("", "")
    assert (Fell.activity, Fell.call) == ("gameplay:fell", "fell")
    assert (Water.activity, Water.call) == ("garden:water", "water")
    assert Fell("oak").values_in_order() == ("oak", 1)
    assert Water("rose", cans=3).values_in_order() == ("rose", 1, 3)
    assert str(Water.call_signature()) == "(target: 'str', times: 'int' = 1, cans: 'int' = 2)"
    assert Fell("oak") != Water("oak")


def test_one_that_says_its_activity_is_one():
    assert (_Named.activity, _Named.call) == ("garden:named", "named")
    assert _Named().label() == "_Named"


def test_the_subclasses_are_solved_and_the_base_is_nowhere(stage):
    sim, agent = stage
    for wanted in (Fell("oak"), Water("rose")):
        agent.gameplay.begin(wanted)
    sim.tick(10)
    assert agent.entity.done == ["oak", "rose"]
    assert [one.activity for one in agent.snapshot().strategies.provided] == ["gameplay:fell", "garden:water"]
    assert {"fell", "water"} <= set(dir(agent.gameplay))
    assert "" not in dir(agent.gameplay)


def test_a_map_does_not_take_the_base_for_a_need(stage):
    drawn = DependencyMap([FellIt, WaterIt])
    assert drawn.missing == ()
    assert list(drawn.needs.values()) == [(), ()]


@pytest.mark.states("003: Global Dependency Lists: A class of dependencies that begins with an underscore is a ...")
@pytest.mark.parametrize("make", [lambda: _Deed("oak"), lambda: Dependency()])
def test_a_base_cannot_be_asked_for(make):
    with pytest.raises(DefinitionError, match="it is a base class of dependencies, and cannot be asked for"):
        make()


@pytest.mark.states("003: Global Dependency Lists: A class of dependencies that begins with an underscore is a ...")
def test_a_base_cannot_be_provided():
    with pytest.raises(DefinitionError, match="it provides _Deed, which is a base class. Name its subclasses"):

        class DoIt(_Known):
            provides = (Fell, _Deed)


def test_a_base_is_checked_as_any_other():
    with pytest.raises(DefinitionError, match="its is_met is a coroutine function"):

        class _Late(Dependency[None]):
            async def is_met(self, ask):
                return True

    with pytest.raises(DefinitionError, match="its activity is 'garden:_late'"):

        class _Later(Dependency[None], activity="garden:_late"):
            pass
