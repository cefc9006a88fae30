"""The state of an agent: when the tree is evaluated, what is called in which order, who sets variables and when it counts."""

# ruff: noqa: N802 - methods are named after signals
from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.body.driver import SELECTION, LoneBody
from agentrt.errors import DefinitionError, UnknownVariableError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.selection import LeafBehavior, Phase, SelectionLibrary

ALL = '<Leaf name="C" condition="c"/><Leaf name="B" condition="b"/><Leaf name="A"/>'


@pytest.fixture
def abc(tree_of):
    return tree_of(f'<Priority name="R">{ALL}</Priority>', "a b c")


@pytest.fixture
def grunt(examples):
    return SelectionLibrary.load(examples)["Grunt"]


# --- the order of callbacks -------------------------------------------------------------------------------------------


@pytest.mark.states("004: Overview: A tree is a set of rules that keeps an agent in a valid behavior at all times")
@pytest.mark.states(
    "004: Overview: The Grunt: idle by default, investigates what it hears, attacks what it sees, falls back when "
    "there is no target",
)
@pytest.mark.states("004: Overview: The game sends event signals when the perception changes")
@pytest.mark.states("004: Signal Variables: A signal that is received sets declared variables")
@pytest.mark.states(
    "004: Evaluation: If it is another, the destructor of the current one is called, then it changes, then the "
    "constructor of the new one is called",
)
def test_the_grunt_by_its_signals(grunt, state_of, log):
    state = state_of(grunt)
    assert (state.behavior, state.leaf, state.phase) == (None, "", "none")
    for signal in (None, "OnHearSound", "OnEnemySeen", "OnHearSound", "OnNoTarget", "OnNoTarget"):
        if signal:
            state.signal(signal)
        state.drive()
        log.append(state.leaf)
    root = "Root/CommonRoot"
    assert log == [
        ("constructor", "GruntIdle"),
        f"{root}/Idle",
        ("destructor", "GruntIdle"),
        ("constructor", "GruntInvestigate"),
        f"{root}/Investigate",
        ("destructor", "GruntInvestigate"),
        ("constructor", "GruntAttack"),
        f"{root}/Combat/Attack",
        f"{root}/Combat/Attack",
        ("destructor", "GruntAttack"),
        ("constructor", "GruntIdle"),
        f"{root}/Idle",
        f"{root}/Idle",
    ]


@pytest.mark.states("004: Selection Variables: They are turned on and off from outside")
@pytest.mark.states(
    "004: Evaluation: On each update the tree is evaluated with the agent's variables; only if one changed (decided)",
)
@pytest.mark.states("004: Evaluation: The game itself sets a variable")
def test_nothing_is_evaluated_while_nothing_changes(abc, state_of, monkeypatch):
    state = state_of(abc)
    state.drive()
    asked = []
    monkeypatch.setattr(type(state._stage), "decide", lambda stage: asked.append(stage.ai))
    for _ in range(5):
        state.drive()
    state.set_variable("a", False)  # as it was
    state.drive()
    assert (asked, state.is_stale) == ([], False)
    state.set_variable("a", True)
    assert state.is_stale
    state.drive()
    assert asked == [state]


@pytest.mark.states("004: Evaluation: If the selected behavior is the current one, nothing happens")
def test_a_variable_that_changes_nothing_calls_nothing(abc, state_of, log):
    state = state_of(abc)
    state.drive()
    state.set_variable("a", True)
    state.drive()
    state.set_variable("b", True)
    state.set_variable("B", False)
    state.drive()
    assert log == [("constructor", "A")]


@pytest.mark.states("004: Signal Variables: One signal may set several variables")
def test_a_signal_that_sets_two_variables_is_one_change(tree_of, state_of, log):
    signals = '<Signal name="S" variable="b" value="true"/><Signal name="S" variable="c" value="true"/>'
    state = state_of(tree_of(f'<Priority name="R">{ALL}</Priority>', "b c", signals))
    state.drive()
    state.signal("S")
    state.drive()
    assert log == [("constructor", "A"), ("destructor", "A"), ("constructor", "C")]


@pytest.mark.states("004: Evaluation: What is compared is the behavior after translation, not the leaf (decided)")
def test_the_same_behavior_at_another_leaf_is_the_same_behavior(tree_of, state_of, log):
    """What counts is the behavior that is selected, after translation."""
    root = '<Priority name="R"><Leaf name="X" condition="a"/><Leaf name="Y" condition="b"/><Leaf name="Z"/></Priority>'
    maps = '<Map node="X" target="Same"/><Map node="Z" target="Same"/>'
    state = state_of(tree_of(root, "a b", maps=maps))
    state.drive()
    assert state.leaf == "R/Z"
    state.set_variable("a", True)
    state.drive()
    assert (state.leaf, state.behavior) == ("R/X", "Same")
    assert log == [("constructor", "Same")]


@pytest.mark.states(
    '004: Concept and anatomy: Without one, "No Behavior" is shown; the same for no selected leaf, and for a leaf '
    "whose behavior nobody registered (decided)",
)
def test_none_may_be_selected(tree_of, state_of, log):
    state = state_of(tree_of('<Leaf name="A" condition="a"/>', "a"))
    state.drive()
    assert (log, state.behavior) == ([], None)
    state.set_variable("a", True)
    state.drive()
    state.set_variable("a", False)
    state.drive()
    assert log == [("constructor", "A"), ("destructor", "A")]
    assert state.view().behavior == "No Behavior"


# --- who sets variables -----------------------------------------------------------------------------------------------


@pytest.mark.states("004: Selection Variables: They are turned on and off by behaviors")
@pytest.mark.states("004: Evaluation: A signal is processed as the signal variables say, and then received by the ...")
@pytest.mark.states(
    "004: Evaluation: The example: Investigate hears a sound from less than 5 away and makes the enemy known; the "
    "next update attacks",
)
def test_the_current_behavior_receives_a_signal_and_sets_a_variable(grunt, state_of, log):
    """The example of the seed: a sound from nearby makes the enemy known before anybody has seen him."""

    class Investigate(LeafBehavior):
        def OnSoundHeard(self, ai, distance):
            log.append((ai.entity, distance))
            if distance < 5:
                ai.set_variable("AwareOfEnemy", True)

    state = state_of(grunt, {"GruntInvestigate": Investigate()})
    state.drive()
    assert state.signal("OnSoundHeard", distance=1) is False  # Idle does not listen
    state.signal("OnHearSound")
    state.drive()
    log.clear()
    assert state.signal("OnSoundHeard", distance=8)
    state.drive()
    assert state.behavior == "GruntInvestigate"
    assert state.signal("OnSoundHeard", distance=3)
    assert state.behavior == "GruntInvestigate"  # until the next update
    state.drive()
    assert state.behavior == "GruntAttack"
    assert log == [("entity", 8), ("entity", 3), ("constructor", "GruntAttack")]


@pytest.mark.states(
    "004: Signal Variables: They are set in the order of the file; a value may be an expression, over what those "
    "before it left (decided)",
)
@pytest.mark.states(
    "004: Evaluation: A signal is processed as the signal variables say, and then received by the current behavior, "
    "which may set variables",
)
def test_signal_variables_come_first_and_one_after_the_other(tree_of, state_of):
    signals = (
        '<Signal name="S" variable="a" value="!a"/><Signal name="S" variable="b" value="a and !c"/>'
        '<Signal name="S" variable="c" value="true"/>'
    )
    seen = []

    class A(LeafBehavior):
        def S(self, ai):
            seen.append(ai.variables)

    state = state_of(tree_of('<Leaf name="A"/>', "a b c", signals), {"A": A})
    state.drive()
    state.signal("S")
    state.signal("S")
    assert seen == [{"a": True, "b": True, "c": True}, {"a": False, "b": False, "c": True}]


@pytest.mark.states("004: Signal Variables: Names of signals count exactly (decided) ...")
def test_signals_are_told_to_nobody_between_behaviors_and_names_count_exactly(abc, state_of, log):
    class A(LeafBehavior):
        def Hit(self, ai):
            log.append("Hit")

        def _helper(self, ai):
            log.append("helper")

    state = state_of(abc, {"A": A})
    assert state.signal("Hit") is False
    state.drive()
    assert [state.signal(name) for name in ("hit", "Hit", "_helper", "constructor", "__init__", "signals")] == [
        False, True, False, False, False, False,
    ]  # fmt: skip
    assert log == ["Hit"]


def test_a_behavior_may_take_all_signals(abc, state_of, log):
    class A(LeafBehavior):
        def on_signal(self, ai, name, data):
            log.append((name, dict(data)))

    state = state_of(abc, {"A": A()})
    state.drive()
    assert state.signal("Anything", name="x", ai=1)
    assert log == [("Anything", {"name": "x", "ai": 1})]


@pytest.mark.states("004: Selection Variables: They are turned on and off by behaviors ...")
@pytest.mark.states("004: Evaluation: Who follows was decided before the destructor; one decision for each update ...")
def test_variables_that_callbacks_set_count_at_the_next_update(abc, state_of, log, writing):
    """One decision for each update: behaviors that select each other in turn do not hang it."""

    class Flip(writing):
        def __init__(self, name, value):
            super().__init__(name, log)
            self.value = value

        def constructor(self, ai):
            super().constructor(ai)
            ai.set_variable("b", self.value)

    state = state_of(abc, {"A": Flip("A", True), "B": Flip("B", False)})
    for _ in range(3):
        state.drive()
        log.append(state.is_stale)
    assert log == [
        ("constructor", "A"), True,
        ("destructor", "A"), ("constructor", "B"), True,
        ("destructor", "B"), ("constructor", "A"), True,
    ]  # fmt: skip


@pytest.mark.states(
    "004: Evaluation: Who follows was decided before the destructor; one decision for each update (decided)",
)
def test_who_follows_was_decided_before_the_destructor(abc, state_of, log, writing):
    class A(writing):
        def destructor(self, ai):
            super().destructor(ai)
            ai.set_variable("c", True)

    state = state_of(abc, {"A": A("A", log)})
    state.drive()
    state.set_variable("b", True)
    state.drive()
    assert state.behavior == "B"
    state.drive()
    assert log == [
        ("constructor", "A"), ("destructor", "A"), ("constructor", "B"), ("destructor", "B"), ("constructor", "C"),
    ]  # fmt: skip


@pytest.mark.states("004: Overview: Each agent is associated with a tree, and several may use the same one")
@pytest.mark.states(
    "004: Evaluation: A tree is not copied for each agent; an agent has a copy of the variables, which are its whole "
    "state",
)
def test_each_agent_has_variables_of_its_own(abc, log, writing):
    shared = writing("A", log)
    one, two = (abc.state({"A": shared}, body=LoneBody()) for _ in range(2))
    one.set_variable("a", True)
    assert (one.is_set("A"), two.is_set("a")) == (True, False)
    one.drive()
    two.drive()
    assert one.current is two.current is shared


@pytest.mark.states(
    "004: Evaluation: A behavior, too, may be shared by all agents; or be made anew whenever it begins (ours)",
)
def test_a_class_is_made_anew_whenever_it_begins_and_an_instance_is_kept(abc, body):
    made = []

    class A(LeafBehavior):
        def __init__(self):
            made.append(self)

    state = abc.state({"A": A, "B": LeafBehavior(), "C": lambda: A()}, body=body)
    for name, value in (("b", False), ("b", True), ("b", False), ("c", True)):
        state.set_variable(name, value)
        state.drive()
    assert len(made) == 3
    assert state.current is made[-1]


@pytest.mark.states("004: Overview: It selects between behaviors; what they do is their own business")
@pytest.mark.states('004: Concept and anatomy: Without one, "No Behavior" is shown; the same for no selected leaf ...')
def test_a_leaf_whose_behavior_nobody_registered(abc, body):
    state = abc.state({}, body=body)
    state.drive()
    assert (state.leaf, state.behavior, state.current, state.phase) == ("R/A", "A", None, Phase.ACTIVE)
    assert abc.missing({"B": LeafBehavior}) == ("C", "A")
    assert state.view().lines() == [
        "Grunt: R/A selects A (No Behavior: none is registered under this name)",
        "  true: nothing",
    ]
    assert state.signal("S") is False
    state.set_variable("b", True)
    state.drive()
    assert state.behavior == "B"


# --- a driver of a body -----------------------------------------------------------------------------------------------


def test_it_is_a_driver(abc, body):
    state = abc.state(name="mind", precedence=3)
    assert (state.name, state.rank, state.precedence) == ("mind", SELECTION, 3)
    for use in (state.drive, lambda: state.body, lambda: state.entity):
        with pytest.raises(WrongStateError, match="it drives nobody"):
            use()
    state.set_variable("b", True)  # that needs nobody
    state.join(body)
    with pytest.raises(WrongStateError, match="it drives a body"):
        state.join(LoneBody())
    state.drive()
    assert (state.behavior, state.entity, state.body, state.strands()) == ("B", "entity", body, [])


def test_leaving_destructs_and_joining_begins_again(abc, state_of, body, log):
    state = state_of(abc)
    state.leave("early", lambda: log.append("left"))
    assert log == ["left"]
    state.join(body)
    state.set_variable("b", True)
    state.drive()
    state.leave("done", lambda: log.append("left"))
    assert state.behavior is None
    state.leave("again", lambda: log.append("again"))
    state.join(body)
    state.drive()
    assert log == [
        "left", ("constructor", "B"), ("destructor", "B"), "left", "again", ("constructor", "B"),
    ]  # fmt: skip


def test_a_callback_may_have_it_leave(abc, state_of, log, writing):
    class A(writing):
        def constructor(self, ai):
            super().constructor(ai)
            ai.leave("enough", lambda: log.append("left"))
            log.append("still here")

    class B(writing):
        def Off(self, ai):
            ai.leave("enough", lambda: log.append("left"))
            ai.leave("indeed", lambda: log.append("left, too"))
            log.append("still here")

    state = state_of(abc, {"A": A("A", log), "B": B("B", log)})
    state.drive()
    assert log == [("constructor", "A"), "still here", ("destructor", "A"), "left"]
    log.clear()
    state.join(LoneBody())
    state.set_variable("b", True)
    state.drive()
    state.signal("Off")
    assert log == [("constructor", "B"), "still here", ("destructor", "B"), "left", "left, too"]


def test_a_callback_that_drives_waits_until_it_has_returned(abc, state_of, log, writing):
    class A(writing):
        def Now(self, ai):
            ai.set_variable("b", True)
            ai.drive()
            log.append(ai.behavior)

    state = state_of(abc, {"A": A("A", log)})
    state.drive()
    state.signal("Now")
    assert log == [("constructor", "A"), "A", ("destructor", "A"), ("constructor", "B")]


@pytest.mark.states("004: Evaluation: Variables and changes of behavior are in the trace (ours)")
def test_the_trace(grunt, log, writing):
    kernel = Kernel()
    records = []
    kernel.trace.listen(records.append)
    state = grunt.state({"GruntIdle": LeafBehavior()}, body=LoneBody(name="bob", kernel=kernel))
    state.drive()
    state.drive()
    state.signal("OnEnemySeen")
    state.signal("OnEnemySeen")
    state.set_variable("AwareOfSound", True)
    state.drive()
    state.leave("the end", lambda: None)
    assert [(one.agent, one.path, str(one.event), dict(one.detail)) for one in records] == [
        ("bob", "selection/Root/CommonRoot/Idle", "activate", {"behavior": "GruntIdle"}),
        ("bob", "selection", "variable", {"variable": "AwareOfEnemy", "value": True, "signal": "OnEnemySeen"}),
        ("bob", "selection", "variable", {"variable": "AwareOfSound", "value": True, "signal": None}),
        ("bob", "selection/Root/CommonRoot/Idle", "deactivate", {"reason": "another one is selected"}),
        (
            "bob",
            "selection/Root/CommonRoot/Combat/Attack",
            "activate",
            {"behavior": "GruntAttack", "registered": False},
        ),
        ("bob", "selection/Root/CommonRoot/Combat/Attack", "deactivate", {"reason": "the end"}),
    ]


def test_the_view_is_plain_values_and_words(grunt, state_of):
    state = state_of(grunt, name="mind")
    assert state.view().lines() == ["Grunt: No Behavior", "  true: nothing"]
    state.signal("OnHearSound")
    state.drive()
    view = state.view()
    assert view.lines() == [
        "Grunt: Root/CommonRoot/Investigate selects GruntInvestigate",
        "  true: AwareOfSound",
    ]
    assert view.reasons() == ["not mind/Root/CommonRoot/Combat: AwareOfEnemy does not hold: AwareOfEnemy is false"]
    assert view.active() == ("mind/Root", "mind/Root/CommonRoot", "mind/Root/CommonRoot/Investigate")
    assert (view.doing(), view.outline_id) == ("GruntInvestigate", "Grunt@0")
    assert json.loads(json.dumps(view.as_json())) == {
        "name": "mind",
        "tree": "Grunt",
        "leaf": "Root/CommonRoot/Investigate",
        "behavior": "GruntInvestigate",
        "is_registered": True,
        "phase": "active",
        "variables": [["AwareOfSound", True], ["AwareOfEnemy", False]],
        "flags": [],
        "waits_for": "",
        "out": [],
        "routines": [],
        "failed": [
            {
                "path": "mind/Root/CommonRoot/Combat",
                "condition": "AwareOfEnemy",
                "because": "AwareOfEnemy is false",
            }
        ],
        "version": 0,
    }
    assert repr(state) == "<SelectionState Grunt: Root/CommonRoot/Investigate, active>"


# --- names, values, saving --------------------------------------------------------------------------------------------


@pytest.mark.states(
    "004: Selection Variables: One that is not declared cannot be set or asked for; in the compatible mode it is "
    "false (decided)",
)
def test_a_variable_that_is_not_declared(grunt):
    state = grunt.state()
    for use in (
        lambda: state.set_variable("AwareOfSoud", True),
        lambda: state.is_set("AwareOfSoud"),
        lambda: grunt.select(AwareOfSoud=True),
    ):
        with pytest.raises(UnknownVariableError) as caught:
            use()
        assert str(caught.value) == (
            "[ART223] the selection tree 'Grunt' declares no variable 'AwareOfSoud'. Did you mean 'AwareOfSound' or "
            "'AwareOfEnemy'? Declared: AwareOfSound, AwareOfEnemy. Add it to its <Variables>."
        )


@pytest.mark.states("004: Selection Variables: They are turned on and off from outside ...")
def test_setting_says_whether_it_was_different(grunt):
    state = grunt.state()
    assert [state.set_variable("awareofsound", value) for value in (False, True, 1, 0)] == [
        False, True, False, True,
    ]  # fmt: skip
    assert state.variables == {"AwareOfSound": False, "AwareOfEnemy": False}


@pytest.mark.states("004: Evaluation: A tree is not copied for each agent; an agent has a copy of the variables ...")
def test_saving_and_loading(abc, state_of, log):
    state = state_of(abc)
    state.set_variable("b", True)
    saved = json.loads(json.dumps(state.save()))
    assert saved == {"tree": "Grunt", "variables": {"a": False, "b": True, "c": False}}
    saved["variables"]["gone"] = True
    other = abc.state()
    other.set_variable("a", True)
    other.restore(saved)
    assert other.variables == state.variables


@pytest.mark.parametrize("wrong", ["GruntIdle", 3, None])
def test_a_behavior_has_to_be_one(abc, wrong):
    with pytest.raises(DefinitionError, match=r"behaviors\['A'\]: it is a"):
        abc.state({"A": wrong})


def test_how_a_behavior_is_defined():
    with pytest.raises(DefinitionError, match="its destructor is a coroutine"):

        class Late(LeafBehavior):
            async def destructor(self, ai):
                pass

    with pytest.raises(DefinitionError, match="its 'run' is no coroutine"):

        class Plain(LeafBehavior):
            def run(self, ai):
                pass

    class Base(LeafBehavior):
        def OnHit(self, ai):
            pass

    class Derived(Base):
        OnMiss = 3

        def OnSeen(self, ai):
            pass

    assert Derived.signals == {"OnHit", "OnSeen"}


@pytest.mark.states("004: Evaluation: A tree is not copied for each agent; an agent has a copy of the variables ...")
def test_an_idle_state_is_small(abc):
    state = abc.state({})
    assert sys.getsizeof(state) <= 220
    assert not hasattr(state, "__dict__")


@pytest.mark.states("004: Selection Variables: They are declared in a section of their own, and are true or false")
@pytest.mark.slow
@given(values=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=20))
def test_bits_are_the_variables(values):
    declared = "".join(f'<Variable name="{name}" default="{name in "bd"}"/>' for name in "abcd")
    text = f'<SelectionTree><Variables>{declared}</Variables><Leaf name="L"/></SelectionTree>'
    state = SelectionLibrary.from_texts({"t.xml": text})["t"].state()
    expected = {name: name in "bd" for name in "abcd"}
    for name, value in values:
        assert state.set_variable(name, value) is (expected[name] != value)
        expected[name] = value
        assert state.variables == expected
        assert all(state.is_set(name) is value for name, value in expected.items())
