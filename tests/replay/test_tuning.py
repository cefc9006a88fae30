"""Scripts that change what runs: numbers of actions and goals, variables, packs; and what is wrong with one."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from modules import load

from agentrt import TOP, Action, Agent, CompoundAction, Entity, Registry, Runtime, step
from agentrt.errors import DefinitionError, EditError
from agentrt.goals import Goal, GoalSelector
from agentrt.record.branch import branch, parse_edits, script_schema
from agentrt.record.recording import Recording
from agentrt.record.replay import replay
from agentrt.selection import LeafBehavior, SelectionLibrary

of = load("tests/inspect/village.py")


class Eat(Action):
    does = TOP
    utility = 0.6

    async def run(self, ctx, args):
        await ctx.sleep_ticks(10)


class Nap(Action):
    does = TOP
    utility = (0.2, 0.5)

    async def think(self, ctx, args):
        ctx.set_utility(0.5)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(4)


class Sing(Action):
    does = TOP
    utility = 0.9

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Loud(Goal):
    name = "Loud"
    flags = {"VOICE"}

    def can_use(self):
        return True


class Quiet(Goal):
    name = "Quiet"
    flags = {"VOICE"}

    def can_use(self):
        return True


WAKING = """
<SelectionTree name="waking">
  <Variables><Variable name="IsAwake"/></Variables>
  <Priority name="root"><Leaf name="Up" condition="IsAwake"/><Leaf name="Asleep"/></Priority>
</SelectionTree>
"""


def make_inn(*, seed, host):
    runtime = Runtime(seed, host=host)
    registry = Registry()
    registry.register("mod:actions:sing", Sing)
    registry.register("mod:ai_pack:songs", {"actions": ["mod:actions:sing"]})
    for name in ("Ann", "Bob"):
        agent = runtime.add(Agent(Entity("human", name=name), name=name, actions=[Eat, Nap], registry=registry))
        selector = GoalSelector(full_ticks=True)
        selector.add_goal(1, Loud())
        selector.add_goal(2, Quiet())
        agent.attach(selector)
        tree = SelectionLibrary.from_texts({"waking.xml": WAKING})["waking"]
        agent.attach(tree.state({"Up": LeafBehavior, "Asleep": LeafBehavior}))
    return runtime


@pytest.fixture
def inn(tmp_path):
    path = tmp_path / "inn.sqlite"
    runtime = make_inn(seed=4, host="plain")
    with runtime.record(path):
        for _ in range(40):
            runtime.step()
    runtime.close()
    return path


def run_of(path, agent, first=1):
    with Recording.open(path) as recording:
        return [
            (one.tick, one.path.rpartition("/")[2])
            for one in recording.records(first, agent=agent, events=["run", "activate"])
        ]


def what_if(path, *script, at=20, ticks=None):
    made = path.with_name(f"{path.stem}-branch.sqlite")
    report = branch(path, make_inn, at=at, edits=parse_edits(list(script)), ticks=ticks, record=made)
    return report, made


def test_a_utility_of_one_agent(inn):
    report, made = what_if(inn, {"tick": 25, "set": "utility", "of": "Eat", "to": 0.1, "agent": "Ann"})
    assert run_of(inn, "Ann", 20) == [(21, "Eat"), (31, "Eat")]
    # It ran since tick 21; the nap, at 0.35, is better than what it is worth now.
    assert run_of(made, "Ann", 20) == [(21, "Eat"), (25, "Nap"), (29, "Nap"), (33, "Nap"), (37, "Nap")]
    assert run_of(made, "Bob") == run_of(inn, "Bob")
    assert (report.first.agent, report.first.tick, report.difference.untouched) == ("Ann", 25, 1)
    assert "eat: running, utility 0.6" in report.first.expected_explained
    assert "nap: running, utility 0.35" in report.first.got_explained
    assert ("action", "Nap", 0, 4) in report.difference.counts
    assert ("action", "Eat", 4, 3) in report.difference.counts
    assert "in the branch, at the end of tick 25:" in report.as_text()
    assert report.as_json()["first"]["got"].startswith("25 Ann ")


def test_the_recording_of_a_branch_is_replayed_and_branched_again(inn):
    report, made = what_if(inn, {"tick": 25, "set": "utility", "of": "eat", "to": 0.1})
    again = replay(made, make_inn)
    assert again.is_same
    assert again.digest == report.digest
    with Recording.open(made) as branched:
        assert branched.unreplayable == []
        (one,) = branched.inputs()
        assert (one.tick, one.name, one.args) == (
            25, "agentrt:set", {"number": "utility", "of": "eat", "to": 0.1, "agent": ""},
        )  # fmt: skip
    back, _ = what_if(made, {"tick": 25, "drop": "agentrt:set"})
    with Recording.open(inn) as recording:
        assert back.digest == recording.digest()


def test_a_range_keeps_the_place_in_it(inn):
    report, made = what_if(inn, {"tick": 25, "set": "utility", "of": "Nap", "to": [0.4, 1.0], "agent": "Ann"})
    assert run_of(made, "Ann", 20)[:2] == [(21, "Eat"), (25, "Nap")]
    assert "nap: running, utility 0.7" in report.first.got_explained


def test_what_thinks_below_goes_on(tmp_path):
    """A utility in a step of a compound, in the middle of the plan, and a weight and a boost that change nothing now."""
    path = tmp_path / "village.sqlite"
    runtime = of.make_village()
    with runtime.record(path):
        for _ in range(30):
            runtime.step()
    runtime.close()
    script = [
        {"tick": 12, "set": "utility", "of": "Live", "to": 0.45},
        {"tick": 12, "set": "weight", "of": "Rest", "to": 5},
        {"tick": 12, "set": "sunk_cost_boost", "of": "Eat", "to": 0},
    ]
    made = branch(path, lambda *, seed, host: of.make_village(host, seed=seed), at=10, edits=parse_edits(script))
    counts = {row[:2]: row[2:] for row in made.difference.counts}
    assert counts["action", "Eat"] == (12, 12)
    assert counts["action", "Rest"] == (12, 12)
    assert all(one == other for kind, _, one, other in made.difference.counts if kind == "trouble")


def test_a_priority_and_a_variable(inn):
    report, made = what_if(
        inn,
        {"tick": 22, "set": "priority", "of": "Quiet", "to": 0, "agent": "Bob"},
        {"tick": 24, "set": "variable", "of": "isawake", "to": True},
    )
    with Recording.open(made) as branched:
        starts = [one for one in branched.records(20, events=["start"]) if one.path == "goals/Quiet"]
    assert [(one.tick, one.agent) for one in starts] == [(22, "Bob")]
    assert run_of(made, "Ann", 22)[:1] == [(24, "Up")]
    assert ("goal", "Quiet", 0, 1) in report.difference.counts


def test_a_pack_is_given_and_taken(inn):
    report, made = what_if(
        inn,
        {"tick": 22, "inject": "mod:ai_pack:songs", "agent": "Ann"},
        {"tick": 30, "revoke": "mod:ai_pack:songs"},
    )
    sung = [tick for tick, name in run_of(made, "Ann") if name == "Sing"]
    assert sung[0] == 23  # as any injection, at the intake after it was given
    assert sung[-1] <= 30
    assert [row for row in report.difference.counts if row[:2] == ("action", "Sing")] == [
        ("action", "Sing", 0, len(sung))
    ]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"set": "utilityy", "of": "Eat", "to": 1}, "'set' is 'utilityy', and not one of .* Did you mean 'utility'"),
        ({"set": ["utility"], "of": "Eat", "to": 1}, "'set' is .*, and not one of"),
        ({"set": "utility", "to": 1}, "'of' is missing: whose utility it is"),
        ({"set": "utility", "of": "Eat"}, "'to' is missing: what the utility is to be"),
        ({"set": "utility", "of": "Eat", "to": 1.5}, "a utility is a number from 0 to 1"),
        ({"set": "utility", "of": "Eat", "to": [0.5, 0.2]}, "a utility is a number from 0 to 1"),
        ({"set": "utility", "of": "Eat", "to": True}, "a utility is a number from 0 to 1"),
        ({"set": "utility", "of": "Eat", "to": float("nan")}, "a utility is a number from 0 to 1"),
        ({"set": "weight", "of": "Eat", "to": -1}, "a weight is a number from 0 to"),
        ({"set": "weight", "of": "Eat", "to": 10**400}, "a weight is a number from 0 to"),
        ({"set": "weight", "of": "Eat", "to": float("inf")}, "a weight is a number from 0 to"),
        ({"set": "priority", "of": "Eat", "to": 1e300}, "a priority is a number from -1e"),
        ({"set": "variable", "of": "Eat", "to": 1}, "a variable is true or false, and not 1"),
        ({"set": "weight", "of": "x" * 501, "to": 1}, "'of' is missing"),
        ({"set": "weight", "of": "Eat", "to": 1, "agent": 3}, "'agent' is the name of an agent"),
        ({"set": "weight", "of": "Eat", "to": 1, "args": {}}, "a key 'args' that does not belong there"),
        ({"inject": 3}, "'inject' takes the alias of a pack"),
        ({"revoke": "", "agent": "Ann"}, "'revoke' takes the alias of a pack"),
        ({"inject": "mod:ai_pack:songs", "to": 3}, "a key 'to' that does not belong there"),
        ({"set": "stimulus", "of": "SEEN", "to": "soon"}, "a stimulus is true, false, or a number of seconds"),
        ({"set": "stimulus", "to": True}, "'of' is the name of a stimulus"),
        ({"disable": "tree", "of": "Eat"}, "'disable' is 'tree', and not one of action, goal, decider, leaf"),
        ({"force": "action"}, "'of' is the name of the action"),
        ({"free": "goal", "of": "Loud", "to": 1}, "a key 'to' that does not belong there"),
        ({"abort": "life"}, "'abort' is 'life'"),
        ({"abort": "plan", "of": "Eat"}, "a key 'of' that does not belong there"),
    ],
)
def test_a_change_that_is_wrong_by_itself_is_refused_before_anything_runs(edit, said):
    with pytest.raises(EditError, match=said) as caught:
        parse_edits([{"tick": 3, **edit}], file="script.json")
    assert str(caught.value).startswith("[ART235] script.json#/0: ")
    if edit.get("to") != [0.5, 0.2] and edit.get("to") == edit.get("to"):  # which no schema can say
        assert not SCRIPTS.is_valid([{"tick": 3, **edit}])


SCRIPTS = Draft202012Validator(json.loads(script_schema()))


@pytest.mark.parametrize(
    "edit",
    [
        {"send": "knock"},
        {"send": "knock", "args": {"who": "a king"}},
        {"drop": "knock"},
        {"drop": 2},
        {"change": "knock", "args": {}},
        {"change": 2, "value": [1]},
        {"change": 2, "error": "late"},
        {"answer": 9, "value": None},
        {"set": "utility", "of": "Eat", "to": 0.5},
        {"set": "utility", "of": "Eat", "to": [0.2, 0.5], "agent": "Ann"},
        {"set": "weight", "of": "Eat", "to": 3},
        {"set": "sunk_cost_boost", "of": "Eat", "to": 0},
        {"set": "priority", "of": "Loud", "to": -2.5},
        {"set": "variable", "of": "IsAwake", "to": False},
        {"inject": "mod:ai_pack:songs"},
        {"revoke": "mod:ai_pack:songs", "agent": "Ann"},
        {"set": "stimulus", "of": "SEEN", "to": 2.5},
        {"set": "stimulus", "of": "SEEN", "to": False, "agent": "Ann"},
        {"disable": "action", "of": "Eat"},
        {"force": "goal", "of": "Loud", "agent": "Ann"},
        {"free": "decider", "of": "AWAKE"},
        {"disable": "leaf", "of": "Up"},
        {"abort": "plan", "agent": "Ann"},
    ],
)
def test_what_can_be_written_has_a_schema(edit):
    script = [{"tick": 3, **edit}]
    assert SCRIPTS.is_valid(script)
    assert len(parse_edits(script)) == 1
    assert not SCRIPTS.is_valid([edit])
    assert not SCRIPTS.is_valid([{**script[0], "import": "os"}])


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"set": "utility", "of": "Eats", "to": 1}, "nobody has an action 'Eats', .* Did you mean 'Eat'"),
        ({"set": "utility", "of": "Eat", "to": 1, "agent": "An"}, "no agent is called 'An', .* There are: Ann, Bob"),
        ({"set": "utility", "of": "Eat", "to": [0.1, 0.2]}, "declares one number as its utility"),
        ({"set": "priority", "of": "Loudly", "to": 1}, "nobody has a goal 'Loudly', .* The goals are: Loud, Quiet"),
        ({"set": "variable", "of": "IsUp", "to": True}, "nobody has a variable 'IsUp', .* There are: IsAwake"),
        ({"inject": "mod:ai_pack:song"}, "mod:ai_pack:song"),
        ({"inject": "os:system"}, "os:system"),
        ({"revoke": "mod:ai_pack:songs"}, "nobody was given a pack 'mod:ai_pack:songs'"),
    ],
)
def test_a_change_that_finds_nothing_says_where_and_what_there_is(inn, edit, said):
    with pytest.raises(EditError, match=said) as caught:
        what_if(inn, {"tick": 22, **edit})
    assert caught.value.pointer == "/0"
    assert "in tick 22" in caught.value.problem


# --- without a recording ----------------------------------------------------------------------------------------------


class Rest(Action):
    does = "inn:rest"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Doze(Rest):
    utility = 0.4


class Lodge(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("inn:rest")]


def test_an_agent_is_tuned_alone_and_stays_so():
    runtime = Runtime(seed=1, host="plain")
    one, other = (runtime.add(Agent(Entity("guest"), name=name, actions=[Lodge, Rest, Doze])) for name in "ab")
    runtime.step()
    assert one.tune(Doze, utility=0.9, weight=3.0) == 1
    assert one.tune("doze", sunk_cost_boost=0.3) == 1
    assert one.tune("Nobody", utility=0.9) == 0
    runtime.step()
    running = [agent.snapshot().running.rpartition("/")[2] for agent in (one, other)]
    assert running == ["Doze", "Rest"]
    assert Doze.utility == 0.4
    assert Doze.spec.high == 0.4
    one.inject(Eat)  # what it knows is put together anew
    one.tune("Eat", utility=0.1)
    for _ in range(9):
        runtime.step()
    assert one.snapshot().running.rpartition("/")[2] == "Doze"
    with pytest.raises(DefinitionError, match="weight is -1"):
        one.tune("Doze", weight=-1)
    with pytest.raises(DefinitionError, match="no range"):
        one.tune("Doze", utility=(0.1, 0.2))
    runtime.close()
