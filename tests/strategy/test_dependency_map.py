"""The dependency map: what stands in the code of strategies, read without running any of it."""

from __future__ import annotations

import json

import crafts
import pytest
from crafts import Collect, Craft, Find, Jack, Light, MineOre, Place, Rest, doze, look_around, make
from wants import Have, Know, Reach

from agentrt.strategy import Dependency, Strategy, strategy
from agentrt.strategy.tools import DependencyMap

ALL = (MineOre, look_around, make, Jack, doze)


def needs(made, *others):
    return [one.call for one in DependencyMap([made, *others]).needs[made]]


# --- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Hierarchy: Each strategy is a node in a map of dependencies")
@pytest.mark.states(
    "003: Hierarchy, the dependency map: Which strategy may call which can be drawn as a map; it is read from their "
    "code, without running them",
)
def test_the_whole_map():
    drawn = DependencyMap(ALL)
    assert drawn.strategies == ALL
    assert list(drawn.providers.items()) == [
        (Collect, (MineOre, Jack)),
        (Find, (look_around,)),
        (Craft, (make, Jack)),
        (Know, (Jack,)),
        (Rest, (doze,)),
    ]
    assert drawn.needs == {
        MineOre: (Craft, Find, Reach),  # a branch that is foreseen, a method, the run itself
        look_around: (),
        make: (Collect, Light),  # a lambda, and a function of the same package
        Jack: (Collect, Find),  # what it provides and creates, a generated call; not what it asks the type of
        doze: (),
    }
    assert (drawn.missing, drawn.roots) == ((Light, Reach), (Know, Rest))
    assert repr(drawn) == "<DependencyMap: 5 strategies for 5 dependencies>"


def test_a_generated_call_is_known_if_somebody_provides_it():
    @strategy(Rest, cost=1.0)
    async def seek(ctx, wanted):
        await ctx.gameplay.find("log")
        await ctx.agent.gameplay.collect("log")
        await ctx.gameplay.dance()

    assert needs(seek) == []
    assert needs(seek, MineOre, look_around) == ["collect", "find"]


def test_dependencies_of_a_module_inner_functions_and_base_classes():
    class Base(Strategy):
        def prepare(self):
            return [lambda: crafts.Find("log")]

    class Seek(Base):
        provides = Rest
        cost = 1.0

        @staticmethod
        def lamp():
            return Light

        async def run(self, ctx, wanted):
            async def inner():
                return {Have(one) for one in ("log", "stone")}

            return await inner()

    assert needs(Seek) == ["find", "light", "have"]


def test_functions_of_other_packages_and_names_that_lead_nowhere_are_not_followed():
    pending: type

    class Seek(Strategy):
        provides = Rest
        cost = 1.0

        async def run(self, ctx, wanted):
            unknown_name()  # noqa: F821
            return pending, crafts.nothing, crafts.recipe("log"), Dependency

        def other(self):
            return self.run

    assert needs(Seek) == []
    pending = Light
    assert needs(Seek) == ["light"]


def test_functions_that_name_each_other():
    class Loop(Strategy):
        provides = Rest
        cost = 1.0

        async def run(self, ctx, wanted):
            return even(3)

    assert needs(Loop) == ["light"]


def even(number):
    return odd(number - 1) if number else Light()


def odd(number):
    return even(number - 1)


# --- how it is drawn --------------------------------------------------------------------------------------------------

TEXT = """\
know
   jack
      collect
         mine_ore
            craft
               make
                  collect (see above)
                  light (nobody provides it)
               jack
                  collect (see above)
                  find
                     look_around
            find (see above)
            reach (nobody provides it)
         jack
            collect (see above)
            find (see above)
      find (see above)
rest
   doze"""

MERMAID = """\
flowchart TD
    d1(["collect"])
    d2(["craft"])
    d3(["find"]):::missing
    d4(["light"]):::missing
    d5(["reach"]):::missing
    s1["mine_ore"]
    d1 --> s1
    s1 -.-> d2
    s1 -.-> d3
    s1 -.-> d5
    s2["make"]
    d2 --> s2
    s2 -.-> d1
    s2 -.-> d4
    classDef missing stroke-dasharray: 4"""


@pytest.mark.states(
    "003: Packs: Some strategies depend on those above them; the map shows that without unfolding it for ever",
    source="Hierarchy",
)
def test_as_text_each_dependency_is_unfolded_once():
    assert "\n".join(DependencyMap(ALL).as_text()) == TEXT


@pytest.mark.states("003: Packs: Some strategies depend on those above them; the map shows that without unfolding ...")
def test_where_all_need_each_other_the_first_is_the_root():
    drawn = DependencyMap([MineOre, make])
    assert drawn.roots == (Collect, Craft)
    assert next(iter(drawn.as_text())) == "collect"
    assert sum(line.strip() == "craft" for line in drawn.as_text()) == 1


def test_what_only_its_own_providers_need_is_a_root():
    assert DependencyMap([Jack, look_around]).roots == (Collect, Craft, Know)


@pytest.mark.states("003: Hierarchy: Each strategy is a node in a map of dependencies ...")
def test_as_mermaid():
    assert "\n".join(DependencyMap([MineOre, make]).as_mermaid()) == MERMAID


@pytest.mark.states("003: Packs: A strategy joins the list of another by name", source="Injection Based Task Selection")
def test_as_json():
    told = DependencyMap([make, look_around]).as_json()
    assert json.loads(json.dumps(told)) == {
        "dependencies": {
            "crafts:craft": {"call": "craft", "providers": ["crafts.make"]},
            "crafts:find": {"call": "find", "providers": ["crafts.look_around"]},
        },
        "strategies": {
            "crafts.make": {
                "name": "make",
                "provides": ["crafts:craft"],
                "may_need": ["crafts:collect", "crafts:light"],
                "joins": ["MineOre.tools"],
            },
            "crafts.look_around": {
                "name": "look_around",
                "provides": ["crafts:find"],
                "may_need": [],
                "joins": [],
            },
        },
        "missing": ["crafts:collect", "crafts:light"],
    }


@pytest.mark.parametrize("form", ["as_text", "as_mermaid"])
def test_nothing_is_nothing(form):
    assert list(getattr(DependencyMap(()), form)()) == ([] if form == "as_text" else ["flowchart TD"])


def test_nothing_of_a_strategy_is_run():
    class Touchy(Strategy):
        provides = Rest
        cost = 1.0

        def __init__(self):
            raise AssertionError("it was made")

        @property
        def place(self):
            raise AssertionError("it was asked")

        async def run(self, ctx, wanted):
            return Place()

    assert needs(Touchy) == []
