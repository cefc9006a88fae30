"""Bearers of AI: the entity's own list, equipment, buffs, jobs; counted together, and taken off while the agent acts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from cast import Idle
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Agent, Entity, Manifest, Registry, load_pack
from agentrt.errors import DefinitionError, InvalidPackError, UnknownAliasError
from agentrt.testing import Simulation


class Play(Idle):
    utility = 0.5


class Limp(Idle):
    utility = 0.9


class Collar:
    def __init__(self, entity):
        self.entity = entity


REGISTRY = Registry(
    [
        Manifest(
            "m",
            {
                "actions:idle": Idle,
                "actions:play": Play,
                "actions:limp": Limp,
                "components:collar": Collar,
                "ai_pack:core": {"actions": ["m:actions:idle"]},
                "ai_pack:play": {"actions": ["m:actions:play"]},
                "ai_pack:limp": {"actions": ["m:actions:limp"]},
            },
        )
    ]
)


class Piece:
    """An equipment piece."""

    def __init__(self, ai):
        self.injected_ai = ai


def make(entity=None):
    return Agent(entity or Entity("dog"), registry=REGISTRY)


def names(agent):
    return [action.__name__ for action in agent.actions]


# --- the entity's own list --------------------------------------------------------------------------------------------


@pytest.mark.states("001: Overview: What it knows is given by packs")
@pytest.mark.states("001: Writing actions: Actions are registered in a manifest and injected by packs ...")
@pytest.mark.states("001: Injecting actions: Packs list actions ...")
def test_an_agent_takes_what_its_entity_lists():
    agent = make(Entity("dog", ai_packs=["m:ai_pack:core", {"actions": ["m:actions:play"]}]))
    assert names(agent) == ["Idle", "Play"]
    assert [(one.source, one.is_live) for one in agent.injections] == [("entity data", True)]


@pytest.mark.states("001: Injecting actions: An entity lists packs in its entity data")
@pytest.mark.parametrize(
    "entity",
    [
        SimpleNamespace(ai_packs=("m:ai_pack:core",)),
        SimpleNamespace(entity_data={"m:ai_packs": ["m:ai_pack:core"], "m:other": 7}),
        SimpleNamespace(entity_data={"ai_packs": {"packs": ["m:ai_pack:core"]}}),
        SimpleNamespace(ai_packs=[load_pack({"actions": ["m:actions:idle"]})], entity_data=None),
    ],
)
def test_where_an_entity_of_any_type_lists_them(entity):
    assert names(make(entity)) == ["Idle"]


def test_the_attribute_comes_first_then_the_data_in_its_order():
    entity = SimpleNamespace(
        ai_packs=["m:ai_pack:limp"], entity_data={"b:ai_packs": ["m:ai_pack:play"], "a:ai_packs": ["m:ai_pack:core"]}
    )
    assert names(make(entity)) == ["Limp", "Play", "Idle"]


def test_an_entity_that_lists_none():
    assert make(Entity("dog")).injections == ()
    assert make(object()).injections == ()


def test_what_an_agent_is_given_comes_after_its_entitys_list():
    agent = Agent(Entity("dog", ai_packs=["m:ai_pack:play"]), packs=["m:ai_pack:core"], registry=REGISTRY)
    assert names(agent) == ["Play", "Idle"]


@pytest.mark.parametrize(
    ("entity", "text"),
    [
        (
            SimpleNamespace(name="rex", ai_packs="m:ai_pack:core"),
            "rex.ai_packs: it is 'm:ai_pack:core'. Write a list of packs: their aliases, or packs written in place.",
        ),
        (
            SimpleNamespace(entity_data={"m:ai_packs": {"pack": []}}),
            "simplenamespace.entity_data['m:ai_packs']: it is {'pack': []}. Write a list of packs: their aliases, or packs "
            "written in place.",
        ),
        (
            SimpleNamespace(name="rex", ai_packs=[7]),
            "rex.ai_packs: it lists 7. Write the alias of a pack, or a pack in place.",
        ),
    ],
)
def test_a_list_that_is_none(entity, text):
    with pytest.raises(DefinitionError) as caught:
        make(entity)
    assert caught.value.text == text


def test_a_single_alias_given_to_an_entity_is_a_list_of_one():
    assert Entity("dog", ai_packs="m:ai_pack:core").ai_packs == ("m:ai_pack:core",)


# --- what it wears ----------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Injecting actions: Equipment pieces bear a pack in place under injected_ai")
@pytest.mark.parametrize(
    "bearer",
    [
        SimpleNamespace(injected_ai="m:ai_pack:play"),
        {"injected_ai": {"actions": ["m:actions:play"]}},
        {"injected_ai": ["m:ai_pack:play", {"components": ["m:components:collar"]}]},
        Entity("collar", Piece({"actions": ["m:actions:play"]})),
        {"components": {"stonehearth:equipment_piece": {"injected_ai": "m:ai_pack:play"}}},
        Piece(load_pack({"actions": ["m:actions:play"]})),
    ],
)
def test_what_bears_ai(bearer):
    agent = make()
    injection = agent.inject_from(bearer)
    assert names(agent) == ["Play"]
    assert injection.bearer is bearer
    injection.revoke()
    assert names(agent) == []
    assert Collar not in agent.entity


def test_what_it_is_called():
    agent = make()
    assert agent.inject_from({"name": "pet collar", "injected_ai": "m:ai_pack:play"}).source == "pet collar"
    assert agent.inject_from(Piece("m:ai_pack:play")).source == "piece"
    assert agent.inject_from(Piece("m:ai_pack:play"), source="buff: snared").source == "buff: snared"


def test_what_bears_none():
    with pytest.raises(DefinitionError) as caught:
        make().inject_from(Entity("stone"))
    assert caught.value.text == (
        "stone: this Entity bears no AI. Give it 'injected_ai', as an attribute, a key or on a component: a pack in place, "
        "or the alias of one."
    )
    with pytest.raises(
        DefinitionError, match=r"its injected_ai is 7\. Write the alias of a pack, or a pack in place\."
    ):
        make().inject_from(Piece(7))


def test_a_pack_that_is_wrong():
    agent = make()
    with pytest.raises(UnknownAliasError):
        agent.inject_from(Piece("m:ai_pack:pley"))
    with pytest.raises(InvalidPackError):
        agent.inject_from(Piece({"action": []}))
    assert agent.injections == ()


@pytest.mark.states("001: Injecting actions: Buffs bear AI as well; the example: snared")
def test_taken_off_while_the_agent_does_what_it_taught():
    """A buff ends: what the agent did because of it is unwound, and it goes on with what it still knows."""
    sim = Simulation()
    agent = sim.add(make(Entity("dog", ai_packs=["m:ai_pack:core"])))
    sim.tick()
    collar = agent.inject_from({"name": "pet collar", "injected_ai": "m:ai_pack:play"})
    sim.tick()
    buff = agent.inject_from({"name": "snared", "injected_ai": {"actions": ["m:actions:limp"]}})
    sim.tick()
    buff.revoke()
    sim.tick(2)
    collar.revoke()
    sim.tick(2)
    sim.close()
    assert [(tick, path) for tick, _, path, _ in sim.events("start")] == [
        (1, f"{TOP}/Idle"),
        (2, f"{TOP}/Play"),
        (3, f"{TOP}/Limp"),
        (5, f"{TOP}/Play"),
        (7, f"{TOP}/Idle"),
    ]
    assert [(one.tick, dict(one.detail)["source"]) for one in sim.trace if one.event == "revoked"] == [
        (4, "snared"),
        (6, "pet collar"),
    ]


@pytest.mark.states("001: Injecting actions: (ours) What several bearers give stays until the last is gone")
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=12))
def test_bearers_are_counted_together(program):
    """Whatever is put on and taken off, an action is known as long as one bearer has it."""
    bearers = [
        Piece("m:ai_pack:core"),
        Piece("m:ai_pack:play"),
        Piece({"ai_packs": ["m:ai_pack:core", "m:ai_pack:limp"]}),
    ]
    agent = make(Entity("dog", ai_packs=["m:ai_pack:play"]))
    worn = []
    for puts_on, choice in program:
        if puts_on:
            worn.append((choice % 3, agent.inject_from(bearers[choice % 3])))
        elif worn:
            worn.pop(choice % len(worn))[1].revoke()
    wearing = {number for number, _ in worn}
    expected = {"Play"} | ({"Idle"} if wearing & {0, 2} else set()) | ({"Limp"} if 2 in wearing else set())
    assert set(names(agent)) == expected
