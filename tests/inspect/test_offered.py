"""What an agent offers besides its plan: by its author's hook, of its components, of its models and of its actions."""

from __future__ import annotations

import asyncio
import enum
import json
from dataclasses import dataclass, field

import pytest
from modules import load

from agentrt import TOP, Action, Agent, Entity, Runtime, Signal
from agentrt.errors import DataFault, DefinitionError
from agentrt.expressions import NamedValues
from agentrt.inspect.pins import reading
from agentrt.snapshot import AgentSnapshot
from agentrt.snapshot.offered import MOST_GROUPS, MOST_VALUES, offered, values_by_name, values_of
from agentrt.testing import TraceDigest

of = load("tests/inspect/village.py")


class Mood(enum.Enum):
    GRIM = "grim"


@dataclass
class Mind:
    joy: float = 0.5
    mood: Mood = Mood.GRIM
    plans: list = field(default_factory=list)
    _secret: int = 3


class Needs:
    __slots__ = ("_hidden", "changed", "rest", "satiety")

    def __init__(self):
        self.satiety = 190
        self._hidden = 1
        self.changed = Signal()

    @property
    def hunger(self):
        raise AssertionError("nobody asks a property")


class Trap:
    """A component that does not want to be looked at, once the agent is made."""

    is_set = False

    def __init__(self):
        self.bait = 1

    def __getattribute__(self, name):
        if Trap.is_set:
            raise AssertionError(f"{name} was asked for")
        return object.__getattribute__(self, name)


class Eat(Action):
    does = TOP
    utility = (0.0, 1.0)
    made_of = ("hunger", "dish", "Needs.satiety", "thirst")

    async def think(self, ctx, args):
        ctx.get_debug_info_datastore()["dish"] = "soup"
        ctx.get_debug_info_datastore()["tools"] = ["spoon"]
        ctx.set_utility(0.81)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(30)


@pytest.fixture
def runtime():
    runtime = Runtime(3, host="plain")
    yield runtime
    runtime.close()


def join(runtime, *components, values=None, name="Ann"):
    agent = Agent(Entity("human", *components, name=name), actions=[Eat])
    agent.values = values
    runtime.add(agent)
    runtime.step()
    return agent


@pytest.mark.states(
    "tools: Values: Offered is what the hook of the author says, and what components keep, without asking any property"
)
def test_what_its_hook_says_and_what_its_components_keep(runtime, monkeypatch):
    hook = {"hunger": 0.81, "mind": {"joy": True, "odd": [1, 2]}, "who": Mood.GRIM, "far": float("inf")}
    agent = join(runtime, Needs(), Mind(), Trap(), values=lambda: hook)
    monkeypatch.setattr(Trap, "is_set", True)
    assert agent.snapshot().values == {
        "": {"hunger": 0.81, "who": "GRIM", "far": "inf"},
        "mind": {"joy": True, "odd": "[1, 2]"},
        "Needs": {"satiety": 190},
        "Mind": {"joy": 0.5, "mood": "GRIM"},
        "Trap": {"bait": 1},
    }


@pytest.mark.states("tools: Values: What an action kept when it thought comes before what its agent offers now")
def test_a_utility_says_what_it_is_made_of(runtime):
    """What it kept when it thought comes first, then what the agent offers now."""
    agent = join(runtime, Needs(), values=lambda: {"hunger": 0.81, "dish": "nothing"})
    (unit,) = agent.snapshot().plan.units
    assert unit.made_of == {"hunger": 0.81, "dish": "soup", "Needs.satiety": 190, "thirst": None}
    assert (
        "utility 0.81 (of hunger 0.81, dish soup, Needs.satiety 190, thirst is not offered), since" in agent.explain()
    )


@pytest.mark.parametrize("wrong", ["hunger", 3, (3,), ("",), None])
def test_made_of_is_a_list_of_names(wrong):
    with pytest.raises(DefinitionError, match=r"made_of is .* Write the names of values"):
        type("Drink", (Action,), {"does": TOP, "utility": 0.5, "made_of": wrong})


def test_it_goes_through_json(runtime):
    agent = join(runtime, Needs(), Mind(), values=lambda: {"hunger": 0.81})
    snapshot = agent.snapshot()
    assert AgentSnapshot.from_json(json.loads(json.dumps(snapshot.as_json()))) == snapshot
    with pytest.raises(DataFault):
        AgentSnapshot.from_json({**snapshot.as_json(), "values": 3})


def test_all_that_has_a_name(runtime):
    agent = join(runtime, Needs(), values=lambda: {"hunger": 0.81})
    groups = offered(agent.snapshot().as_json())
    assert [tuple(group) for group in groups] == [
        ("", "agent", {"hunger": 0.81}),
        ("Needs", "agent", {"satiety": 190}),
        ("Eat", "action", {"utility": 0.81, "dish": "soup"}),
    ]
    values = values_by_name(groups)
    assert values == {"hunger": 0.81, "Needs.satiety": 190, "Eat.utility": 0.81, "Eat.dish": "soup"}
    assert reading("hunger == Eat.utility and dish == 'soup'", NamedValues(values)).value is True


def test_models_offer_what_they_decide_by():
    view = {
        "drivers": [
            {"name": "stance", "model": "selection", "state": {"variables": [["alerted", True], ["hurt", False]]}},
            {"name": "tree", "model": "behavior", "state": {"stimuli": [{"token": "HIT", "remaining": 1.5}]}},
            {"name": "mine", "model": "", "state": {"variables": {"x": 1}}},
        ]
    }
    assert values_by_name(offered(view)) == {"stance.alerted": True, "stance.hurt": False, "tree.HIT": True}


# --- hooks of authors -------------------------------------------------------------------------------------------------


def raises(_runtime):
    raise ValueError("no values today")


def cancels(_runtime):
    raise asyncio.CancelledError


@pytest.mark.states(
    "tools: Values: A hook that raises, steps, closes or returns something else is dropped and reported"
)
@pytest.mark.parametrize(
    "hook",
    [
        raises,
        cancels,
        lambda runtime: runtime.step(),
        lambda runtime: runtime.close(),
        lambda _: None,
        lambda _: 3,
        lambda _: ["hunger"],
        lambda runtime: runtime.agents[0].step(),
    ],
)
def test_a_hook_that_fails_is_dropped_and_reported(runtime, hook, caplog):
    faults = []
    runtime.on_fault(faults.append)
    agent = join(runtime, Needs(), values=lambda: hook(runtime))
    tick = runtime.tick
    assert agent.snapshot().values in ({"Needs": {"satiety": 190}}, {"Needs": {"satiety": 190}, "": {}})
    assert agent.values is None
    assert faults[0].text == "the hook that says its values failed; it is not asked again"
    assert runtime.tick == tick
    runtime.step()
    assert agent.is_alive


def test_a_hook_may_look_at_its_agent(runtime):
    agent = join(runtime, Needs(), values=lambda: {"all": str(runtime.agents[0].snapshot().values)})
    for _ in range(2):
        assert agent.snapshot().values[""] == {"all": "{'Needs': {'satiety': 190}}"}


class Broken(dict):
    def items(self):
        yield "first", 1
        raise asyncio.CancelledError


class Nameless:
    def __repr__(self):
        raise ValueError

    __str__ = __repr__


def test_rubbish_is_put_in_words(runtime):
    agent = join(runtime, values=lambda: {1: Nameless(), "`x`": "y" * 1000, "deep": {"a": {"b": {}}}, "huge": 10**400})
    values = agent.snapshot().values
    assert values[""]["1"] == "a Nameless"
    assert values[""]["'x'"].startswith("yyy")
    assert len(values[""]["'x'"]) <= 120
    assert values["deep"] == {"a": "{'b': {}}"}
    assert isinstance(values[""]["huge"], str)
    agent.values = lambda: Broken()
    assert agent.snapshot().values[""]["first"] == 1
    assert agent.snapshot().values[""]["problem"].startswith("its values cannot be gone through")


def test_it_is_bounded(runtime):
    agent = join(runtime, values=lambda: {f"g{n}": {f"v{m}": m for m in range(500)} for n in range(500)})
    values = agent.snapshot().values
    assert len(values) == MOST_GROUPS
    assert {len(group) for group in values.values()} == {MOST_VALUES}


class Odd:
    """An entity of somebody's own."""

    def __init__(self, components):
        self.components = components


def test_entities_of_anybodys(runtime):
    def fails():
        raise asyncio.CancelledError

    for components in (fails, 3, None, {"needs": Needs()}, lambda: iter([Needs()]), [Needs()]):
        agent = Agent(Odd(components), name="odd")
        assert values_of(agent) in ({}, {"Needs": {"satiety": 190}})


@pytest.mark.parametrize(
    "view",
    [
        {},
        {"values": 3, "plan": 3, "performances": 3, "drivers": [3, {"model": "selection", "state": 3}]},
        {"values": {"": {"a": [1]}, "b": 3}, "plan": {"units": [{"action": 3, "state": "ready", "debug": 3}]}},
        {"drivers": [{"model": "selection", "state": {"variables": [1, ["a"], ["b", {}]]}, "name": None}]},
        {"drivers": [{"model": "behavior", "state": {"stimuli": [1, {}]}}]},
    ],
)
def test_a_view_may_be_anybodys(view):
    assert all(type(value) in (str, int, float, bool, type(None)) for value in values_by_name(offered(view)).values())


def test_a_view_that_is_deep_or_wide_is_bounded():
    deep: dict = {}
    for _ in range(100_000):
        deep = {"units": [{"action": "A", "state": "ready", "frames": [deep]}]}
    assert values_by_name(offered({"plan": deep})) == {"A.utility": 0.0}
    wide = {"units": [{"action": f"A{n}", "state": "ready"} for n in range(100_000)]}
    assert len(offered({"plan": wide})) == MOST_GROUPS
    while deep:  # or the interpreter would, all at once
        deep = deep["units"][0]["frames"][0]


@pytest.mark.states(
    "tools: Values: Looking changes nothing: the digest is that of a run that nobody looks at", source="design 7"
)
def test_looking_changes_nothing():
    def run(looks):
        runtime = of.make_village()
        digest = TraceDigest(runtime.trace)
        for agent in runtime.agents:
            agent.values = lambda: {"tick": runtime.tick}
        for _ in range(40):
            runtime.step()
            if looks:
                assert all(
                    values_by_name(offered(agent.snapshot().as_json()))["tick"] == runtime.tick
                    for agent in runtime.agents
                )
        runtime.close()
        return digest.hexdigest()

    assert run(True) == run(False)
