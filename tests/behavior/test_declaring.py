"""Declarations: what they accept, what they refuse, and with which words."""

from __future__ import annotations

import functools

import pytest

from agentrt.behavior import (
    MAX_SHUFFLE_CHILDREN,
    SHUFFLE,
    Behavior,
    BehaviorTree,
    Check,
    GroupPolicy,
    behavior,
    decider,
    group,
    reference,
)
from agentrt.errors import DefinitionError, WrongStateError


def idle(at):
    return True


def problem(root):
    with pytest.raises(DefinitionError) as caught:
        BehaviorTree(root).initialize_tree_data()
    assert caught.value.subject == "behavior tree " + root.name
    return str(caught.value)


# --- the shape --------------------------------------------------------------------------------------------------------


def test_it_is_declared_in_one_block_and_may_share_deciders():
    fight = decider("FIGHT", idle)
    tree = BehaviorTree(
        group("ROOT")[
            decider("FLEE", idle),
            group("GUARD")[fight, "REST"],
            fight,
            group("IDLE")[decider("REST", idle)],
        ]
    )
    assert tree.deciders == ()
    assert tree.initialize_tree_data() is True
    assert tree.initialize_tree_data() is True
    assert tree.deciders == ("ROOT", "FLEE", "GUARD", "FIGHT", "REST", "IDLE")
    rest = tree.node("REST")
    assert rest is tree.node("GUARD").children[1]
    assert rest is tree.node("IDLE").children[0]
    assert repr(tree) == "<BehaviorTree ROOT: 6 deciders>"


def test_one_declaration_may_serve_two_trees():
    root = group("ROOT")[decider("A", idle)]
    one, other = BehaviorTree(root), BehaviorTree(root, name="other")
    one.initialize_tree_data()
    other.initialize_tree_data()
    assert one.node("A") is not other.node("A")
    assert (one.node("A").id, one.node("A").name) == (other.node("A").id, other.node("A").name)
    assert one.id != other.id


def test_a_single_behavior_decider_is_a_tree():
    memory = BehaviorTree(decider("ROOT", idle)).memory()
    assert memory.tick(0.1) is True
    assert memory.active_path == ("ROOT",)
    assert memory.behavior == "IDLE"


@pytest.mark.states("002: Ours: A tree may be deeper than Python's stack (ours)", source="S10")
def test_a_tree_deeper_than_pythons_stack():
    root = decider("LEAF", idle)
    for number in range(1100):
        root = group(f"G{number}")[root]
    memory = BehaviorTree(root).memory()
    assert memory.tick(0.1) is True
    assert len(memory.active_path) == 1101
    memory.tick(0.1)
    assert memory.debug_print_state().count("\n") == 1100
    assert memory.debug_print_state(whole_tree=True) == memory.debug_print_state()


def test_children_are_given_once():
    root = group("ROOT")[decider("A", idle)]
    with pytest.raises(WrongStateError, match="it has its children already"):
        root[decider("B", idle)]


@pytest.mark.parametrize(
    ("root", "words"),
    [
        (group("ROOT"), "group ROOT has no children: write them in brackets after it"),
        (group("ROOT")["FLIGHT", decider("FLEE", idle), decider("FIGHT", idle)], "group ROOT names FLIGHT, which is"),
        (group("ROOT")[decider("A", idle), decider("A", idle)], "two deciders are called A"),
        (group("ROOT")[decider("A", idle), "A"], "group ROOT has A twice"),
        (group("ROOT")[group("A")[group("B")["A"]]], "A -> B -> A is a circle: only a reference may lead back"),
        (group("ROOT")["ROOT"], "ROOT -> ROOT is a circle"),
        (group("ROOT", SHUFFLE)[tuple(decider(f"D{n}", idle) for n in range(33))], "shuffles 33 children: at most 32"),
        (group("ROOT")[reference("R", "NOBODY"), decider("A", idle)], "reference R names NOBODY, which is not in"),
        (group("ROOT")[reference("R", decider("A", idle)), decider("B", idle)], "reference R names A, which is not in"),
        (group("ROOT")[reference("R", "S"), reference("S", "A"), decider("A", idle)], "R leads to S, a reference"),
        (group("ROOT")[group("G")[reference("R", "G"), decider("A", idle)]], "R stands inside of G"),
        (reference("ROOT", "ROOT"), "its root ROOT is a reference"),
        (group("ROOT")[decider("A", idle, id=5), decider("B", idle, id=5)], "deciders A and B have the number 0x5"),
        (
            group("ROOT")[decider("A", behavior("X", id=5)), decider("B", behavior("Y", id=5))],
            "behaviors X and Y have the number 0x5",
        ),
    ],
)
def test_what_is_wrong_with_the_shape(root, words):
    assert words in problem(root)


def test_it_tells_near_names_and_all_problems_at_once():
    text = problem(group("ROOT")["FLIGHT", decider("FIGHT", idle), "REST"])
    assert "FLIGHT, which is not in the tree. Did you mean 'FIGHT'?" in text
    assert "REST, which is not in the tree" in text


def test_the_largest_group_that_can_be_shuffled():
    root = group("ROOT", SHUFFLE)[tuple(decider(f"D{n}", idle) for n in range(MAX_SHUFFLE_CHILDREN))]
    assert BehaviorTree(root).initialize_tree_data()


def test_a_tree_that_is_wrong_has_no_memories():
    with pytest.raises(DefinitionError, match="has no children"):
        BehaviorTree(group("ROOT")).memory()


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: group(""), "its name is no name"),
        (lambda: group("A/B"), "its name is no name"),
        (lambda: group(7), "its name is no name"),
        (lambda: group("A", "kGroupBest"), "there is no policy 'kGroupBest'. Write one of: kGroupPrioritizedList, "),
        (lambda: group("A", every=0), "every=0"),
        (lambda: group("A", every="soon"), "every='soon'"),
        (lambda: group("A", every=float("nan")), "every=nan"),
        (lambda: group("A", decide=1.0), "decide=1.0"),
        (lambda: group("A", decision=7), "decision=7"),
        (lambda: group("A", stimuli=7), "stimuli=7"),
        (lambda: group("A")[7], "its child 7 is no decider"),
        (lambda: decider("A", None), "it has no behavior"),
        (lambda: decider("A", 7), "7 is no behavior"),
        (lambda: decider("A", int), "<class 'int'> is no behavior"),
        (lambda: reference("A", 7), "its target is 7"),
        (lambda: BehaviorTree("ROOT"), "its root is 'ROOT'"),
        (lambda: BehaviorTree(group("ROOT")["A"], max_redecides=0), "max_redecides=0"),
        (lambda: Check(all_set=-1), "all_set is -1"),
        (lambda: Check(all_set=0.5), "all_set is 0.5"),
        (lambda: Check(all_set=3, all_clear=2), "the bits 0x2 have to be 0 and 1 at once"),
        (lambda: Check(all_set=3) & Check(all_clear=2), "the bits 0x2 have to be 0 and 1 at once"),
        (lambda: Check(all_clear=2) & Check(all_set=3), "the bits 0x2 have to be 0 and 1 at once"),
    ],
)
def test_what_an_argument_may_not_be(make, words):
    with pytest.raises(DefinitionError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize("policy", list(GroupPolicy))
def test_a_policy_may_be_named_as_in_the_log(policy):
    assert group("G", policy.value).policy is policy


def test_hooks_have_to_be_functions():
    class Odd(Behavior):
        tick = 7

    class NotAsync(Behavior):
        def run(self, at):
            return None

    with pytest.raises(DefinitionError, match="its tick is 7"):
        BehaviorTree(decider("ROOT", Odd)).initialize_tree_data()
    with pytest.raises(DefinitionError, match="its run is no coroutine function"):
        BehaviorTree(decider("ROOT", NotAsync)).initialize_tree_data()


# --- behaviors --------------------------------------------------------------------------------------------------------


def test_how_behaviors_are_called():
    class IdleWalk(Behavior):
        pass

    class Named(Behavior):
        name = "OTHER"

    def walk_home(at):
        return True

    async def sleep(at):
        return None

    class Functor:
        def __call__(self, at):
            return True

    given = {
        "IDLE_WALK": IdleWalk,
        "OTHER": Named(),
        "GIVEN": Named("GIVEN"),
        "WALK_HOME": walk_home,
        "SLEEP": sleep,
        "FUNCTOR": Functor(),
        "PARTIAL": functools.partial(walk_home),
    }
    for name, one in given.items():
        assert decider("A", one).behavior.name == name
    assert decider("A", sleep).behavior.run is sleep
    assert decider("A", walk_home).behavior.tick is walk_home
    assert repr(Named()) == "<Behavior OTHER>"


def test_flags_are_those_of_the_decider_and_of_its_behavior():
    class Walk(Behavior):
        flags = {"MOVE"}

    assert decider("A", Walk, flags={"LOOK"}).flags == ("LOOK", "MOVE")
    assert decider("A", Walk, flags="LOOK").flags == ("LOOK", "MOVE")
    assert group("A", behavior=Walk).flags == ("MOVE",)


def test_numbers_are_made_of_names():
    def numbers():
        tree = BehaviorTree(group("ROOT")[decider("FLEE", idle), decider("FIGHT", idle, id=0x2D5E201)])
        tree.initialize_tree_data()
        return {node.name: (node.id, node.behavior_id) for node in tree.nodes}

    assert numbers() == numbers()
    assert numbers()["FIGHT"][0] == 0x2D5E201
    assert numbers()["FLEE"][1] == numbers()["FIGHT"][1]
    assert all(0 < number < 1 << 28 for pair in numbers().values() for number in pair[:1])


def test_a_decider_is_asked_for_by_name():
    tree = BehaviorTree(group("ROOT")[decider("FLEE", idle)])
    with pytest.raises(WrongStateError, match="not initialized"):
        tree.node("FLEE")
    tree.initialize_tree_data()
    with pytest.raises(DefinitionError, match="no decider 'FLED'. Did you mean 'FLEE'"):
        tree.node("FLED")


@pytest.mark.parametrize("made", [lambda: group("a"), lambda: decider("a", idle), lambda: reference("a", "b")])
def test_a_misspelt_attribute_of_a_decider_is_told(made):
    with pytest.raises(AttributeError, match="is_interruptible"):
        made().is_interruptible = False
