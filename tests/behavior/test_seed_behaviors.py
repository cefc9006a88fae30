"""Statements of the text, continued: the Subset Rule, memory, behaviors, initialization, references; by section."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.behavior import (
    SEQUENTIAL,
    SHUFFLE,
    Behavior,
    BehaviorTree,
    Check,
    RedecideLoopError,
    behavior,
    decider,
    group,
    reference,
)
from agentrt.errors import DefinitionError

parts = load("tests/behavior/parts.py")
goes_on, gives_up, ticked, asked = parts.goes_on, parts.gives_up, parts.ticked, parts.asked


# --- S05 Subset Rule --------------------------------------------------------------------------------------------------


def greedy(count):
    return tuple(group(f"G{i}")[decider(f"D{i}", goes_on, decide=lambda memory: memory.time > 1)] for i in range(count))


@pytest.mark.states("002: S05: A group whose Decide lets in more than its children do is redecided")
def test_a_group_that_accepts_more_than_its_children_is_masked_and_the_others_are_asked():
    memory = BehaviorTree(group("ROOT")[(*greedy(3), decider("REST", goes_on))]).memory()
    assert memory.tick(1.0) is True
    assert memory.active_path == ("ROOT", "REST")


@pytest.mark.states("002: S05: (ours) A tree may declare how many failures a tick may have, whichever they are")
@pytest.mark.states("002: S05: (decided) The error names the group; the next tick goes on")
def test_too_many_redecides_end_the_tick_with_an_error_that_names_the_group():
    """No behavior is ticked; the next tick goes on."""
    log = []
    tree = BehaviorTree(group("ROOT")[(*greedy(4), decider("REST", ticked(log)))], max_redecides=2)
    memory = tree.memory()
    with pytest.raises(RedecideLoopError) as caught:
        memory.tick(1.0)
    assert log == []
    assert "G0" in str(caught.value)
    assert memory.tick(1.0) is True
    assert memory.active_path == ("ROOT", "G0", "D0")


@pytest.mark.states("002: S05: (ours) A tree may declare how many failures a tick may have, whichever they are ...")
def test_as_many_redecides_as_are_allowed_are_no_error():
    log = []
    tree = BehaviorTree(group("ROOT")[(*greedy(2), decider("REST", ticked(log)))], max_redecides=2)
    memory = tree.memory()
    assert memory.tick(1.0)
    assert log == ["REST"]


# --- S07 Memory and Blocks --------------------------------------------------------------------------------------------


class Block:
    made = 0

    def __init__(self):
        Block.made += 1
        self.number = Block.made
        self.steps = 0
        self.is_disposed = False

    def dispose(self):
        assert not self.is_disposed
        self.is_disposed = True


@pytest.mark.states("002: S07: A behavior is handed a block that lives as long as it is active")
@pytest.mark.states(
    "002: S07: Blocks are made and given up as behaviors come and go, with constructors and destructors",
)
def test_a_block_lives_from_activate_to_deactivate():
    Block.made = 0
    blocks, log = [], []

    class Walk(Behavior):
        block = Block

        def activate(self, at):
            blocks.append(at.block)

        def tick(self, at):
            at.block.steps += 1
            log.append((at.block.number, at.block.steps))
            return at.block.steps < 2

        def deactivate(self, at):
            assert not at.block.is_disposed

    tree = BehaviorTree(group("ROOT", SEQUENTIAL)[decider("A", Walk), decider("B", Walk)])
    memory = tree.memory()
    for _ in range(3):
        memory.tick(0.1)
    assert log == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [one.is_disposed for one in blocks] == [True, True]


@pytest.mark.states("002: S07: Blocks are made and given up as behaviors come and go, with constructors and ...")
@pytest.mark.parametrize("answer", [False, "raise"])
def test_a_block_is_disposed_when_activate_fails(answer):
    blocks = []

    class Walk(Behavior):
        block = Block

        def activate(self, at):
            blocks.append(at.block)
            if answer:
                raise ValueError
            return False

    memory = BehaviorTree(group("ROOT")[decider("A", Walk), decider("REST", goes_on)]).memory()
    if answer:
        with pytest.warns(RuntimeWarning, match="activate raised ValueError"):
            memory.tick(0.1)
    else:
        memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert [one.is_disposed for one in blocks] == [True]


@pytest.mark.states("002: S07: The memory of an agent holds the current path ...")
def test_two_agents_have_blocks_of_their_own():
    class Count(Behavior):
        block = Block

        def tick(self, at):
            at.block.steps += 1

    tree = BehaviorTree(decider("ROOT", Count))
    ann, ben = tree.memory("ann"), tree.memory("ben")
    ann.tick(0.1)
    ann.tick(0.1)
    ben.tick(0.1)
    assert (ann.activation("ROOT").block.steps, ben.activation("ROOT").block.steps) == (2, 1)


class Found:
    what = None


@pytest.mark.states(
    "002: S04, S07: A Decide hands what it found to its behavior in a DBlock, and sets nothing on the agent",
)
@pytest.mark.states(
    "002: S07: Decide gets a DBlock to hand information to its behavior; (decided) a fresh one for each call",
)
@pytest.mark.states("002: S10: Decide is called often and should be fast; DBlocks keep work from being done twice")
def test_a_decide_hands_a_dblock_to_its_behavior():
    seen = []

    def sees(memory, dblock):
        dblock.what = memory.agent.get("prey")
        return dblock.what is not None

    tree = BehaviorTree(
        group("ROOT")[
            decider("HUNT", lambda at: seen.append(at.dblock.what), decide=sees, dblock=Found),
            decider("REST", lambda at: seen.append(at.dblock)),
        ]
    )
    memory = tree.memory({})
    memory.tick(0.1)
    memory.agent["prey"] = "mouse"
    memory.tick(0.1)
    assert seen == [None, "mouse"]


@pytest.mark.states("002: S07: Decide gets a DBlock to hand information to its behavior; (decided) a fresh one for ...")
def test_a_dblock_is_fresh_for_each_question():
    """What a refused question wrote into it does not reach the next one."""
    made = []

    def sees(memory, dblock):
        made.append(dblock.what)
        dblock.what = "something"
        return False

    tree = BehaviorTree(group("ROOT")[decider("HUNT", goes_on, decide=sees, dblock=Found), decider("REST", goes_on)])
    memory = tree.memory()
    memory.tick(0.1)
    memory.tick(0.1)
    assert made == [None, None]


# --- S08 Behaviors ----------------------------------------------------------------------------------------------------


def grouped(log, **answers):
    class Own(Behavior):
        def activate(self, at):
            log.append("G.activate")
            return answers.get("activate", True)

        def tick(self, at):
            log.append("G.tick")
            return answers.get("tick", True)

        def deactivate(self, at):
            log.append("G.deactivate")

    leaf = behavior(
        "LEAF",
        activate=lambda at: log.append(f"{at.name}.activate"),
        tick=lambda at: log.append(f"{at.name}.tick"),
        deactivate=lambda at: log.append(f"{at.name}.deactivate"),
    )
    tree = BehaviorTree(
        group("ROOT")[
            decider("URGENT", leaf, decide=lambda memory: memory.time >= 3),
            group("G", behavior=Own)[decider("A", leaf, decide=asked(log, "A", True))],
            decider("REST", leaf),
        ]
    )
    return tree.memory()


@pytest.mark.states("002: S08: A group may have a behavior that is activated, ticked and deactivated with it")
def test_a_group_can_have_a_behavior_that_goes_along_with_it():
    log = []
    memory = grouped(log)
    for _ in range(3):
        memory.tick(1.0)
    assert log == [
        *("G.activate", "G.tick", "A?", "A.activate", "A.tick"),
        *("G.tick", "A.tick"),
        *("A.deactivate", "G.deactivate", "URGENT.activate", "URGENT.tick"),
    ]


@pytest.mark.states("002: S08: False from its Activate or Tick fails the group, which makes its own group redecide")
@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        ("activate", ["G.activate", "REST.activate", "REST.tick"]),
        ("tick", ["G.activate", "G.tick", "G.deactivate", "REST.activate", "REST.tick"]),
    ],
)
def test_a_false_answer_of_a_groups_behavior_fails_the_group(hook, expected):
    log = []
    memory = grouped(log, **{hook: False})
    memory.tick(1.0)
    assert log == expected


@pytest.mark.states("002: S08: False from its Activate or Tick fails the group, which makes its own group redecide ...")
def test_a_groups_behavior_that_ends_later_takes_its_child_with_it():
    """The others of the group are not asked: the group is what failed."""
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            group("G", behavior=behavior("OWN", tick=lambda at: at.duration < 1))[
                decider("A", behavior("LEAF", tick=ticked(log), deactivate=lambda at: log.append("A ends"))),
                decider("B", ticked(log), decide=asked(log, "B")),
            ],
            decider("REST", ticked(log)),
        ]
    )
    memory = tree.memory()
    for _ in range(2):
        memory.tick(1.0)
    assert log == ["A", "A ends", "REST"]


@pytest.mark.states("002: S08: A behavior may be a state machine of its own, with its state in its block")
@pytest.mark.states("002: S10: A behavior that repeats itself loops inside")
def test_a_state_machine_inside_of_a_behavior():
    """A behavior keeps its own states in its block, and loops by itself instead of failing (S10)."""
    log = []

    class States:
        state = "walk"

    class Patrol(Behavior):
        block = States

        def tick(self, at):
            log.append(at.block.state)
            at.block.state = {"walk": "look", "look": "walk"}[at.block.state]

    memory = BehaviorTree(group("ROOT")[decider("PATROL", Patrol), decider("REST", goes_on)]).memory()
    for _ in range(4):
        memory.tick(0.1)
    assert log == ["walk", "look", "walk", "look"]
    assert memory.activation("PATROL").duration == pytest.approx(0.3)


# --- S09 Initializing and Ticking -------------------------------------------------------------------------------------


@pytest.mark.states("002: S09: A tree is initialized once, not for each agent, and says true if that went well")
@pytest.mark.states("002: S09: It counts the timers and says how many there are at the root")
def test_initialization_counts_the_timers():
    tree = BehaviorTree(
        group("ROOT")[decider("A", goes_on, every=1.0), group("G", every=2.0)["B"], decider("B", goes_on)]
    )
    assert (tree.is_initialized, tree.num_timers) == (False, 0)
    assert tree.initialize_tree_data() is True
    assert (tree.is_initialized, tree.num_timers) == (True, 2)
    assert tree.initialize_tree_data() is True


@pytest.mark.states(
    "002: S09: The first tick initializes a tree that is not, which is too late for timers. (decided) The first "
    "memory does it, and has its timers",
)
def test_a_memory_initializes_a_tree_that_is_not_and_has_its_timers():
    """There, the first tick does it, which is too late for timers; here, a memory cannot be had without them."""
    log = []
    tree = BehaviorTree(group("ROOT")[decider("A", gives_up, every=2.0, decide=asked(log, "A", True))])
    memory = tree.memory()
    assert (tree.is_initialized, tree.num_timers) == (True, 1)
    for _ in range(4):
        memory.tick(1.0)
    assert log == ["A?", "A?"]


def test_a_memory_of_a_tree_that_is_wrong_cannot_be_had():
    with pytest.raises(DefinitionError, match="NOBODY"):
        BehaviorTree(group("ROOT")["NOBODY"]).memory()


WRONG = [
    (lambda: group("ROOT", SHUFFLE)[tuple(decider(f"D{i}", goes_on) for i in range(33))], "33 children"),
    (lambda: group("ROOT")[decider("A", goes_on), decider("A", goes_on)], "two deciders are called A"),
    (lambda: group("ROOT")["NOBODY"], "NOBODY"),
    (lambda: group("ROOT")[group("G")], "G has no children"),
    (lambda: group("ROOT")[group("G")["ROOT"]], "circle"),
    (lambda: group("ROOT")[group("G")[reference("R", "G"), decider("A", goes_on)]], "R stands inside of G"),
    (lambda: group("ROOT")[reference("R", "S"), reference("S", "A"), decider("A", goes_on)], "leads to S, a reference"),
    (lambda: group("ROOT")[decider("A", goes_on, id=7), decider("B", goes_on, id=7)], "have the number 0x7"),
]


@pytest.mark.states(
    "002: S09: Initialization checks the limits of the tree, such as the number of children that can be shuffled",
)
@pytest.mark.parametrize(("make", "text"), WRONG)
def test_initialization_checks_the_tree(make, text):
    with pytest.raises(DefinitionError, match=text):
        BehaviorTree(make()).initialize_tree_data()


@pytest.mark.states("002: S09: Initialization checks the limits of the tree, such as the number of children that ...")
def test_thirty_two_children_can_be_shuffled():
    tree = BehaviorTree(group("ROOT", SHUFFLE)[tuple(decider(f"D{i}", goes_on) for i in range(32))])
    assert tree.memory().tick(0.1) is True


@pytest.mark.states("002: S06: Decision flags are passed to the tick and switch deciders on and off ...")
@pytest.mark.states("002: S09: In each tick decision flags are passed, stimuli updated, and what update returns is ...")
def test_a_decide_sees_the_words_of_its_tick():
    seen = []

    def decide(memory):
        seen.append((memory.decision_flags, memory.stimuli_flags, memory.dt, memory.time))
        return False

    memory = BehaviorTree(group("ROOT")[decider("A", goes_on, decide=decide)]).memory()
    memory.tick(0.25, 3, 5)
    memory.tick(0.5)
    memory.stimuli.add(2)
    memory.tick(0.5, time=9.0)
    assert seen == [(3, 5, 0.25, 0.25), (3, 0, 0.5, 0.75), (3, 2, 0.5, 9.0)]


# --- Note 2: reference deciders ---------------------------------------------------------------------------------------


def camp(log, **fields):
    tree = BehaviorTree(
        group("ROOT")[
            reference("WOKEN", "DRILL", stimuli=Check(all_set=1), **fields),
            decider("COOK", ticked(log), decide=lambda memory: memory.agent["hungry"]),
            group(
                "SERVE",
                decide=asked(log, "SERVE", True),
                behavior=behavior(
                    "ON_DUTY", activate=lambda at: log.append("on duty"), deactivate=lambda at: log.append("off duty")
                ),
            )[
                decider("SENTRY", ticked(log), stimuli=Check(all_clear=1)),
                decider("DRILL", ticked(log), decide=asked(log, "DRILL")),
            ],
        ]
    )
    return tree.memory({"hungry": True})


@pytest.mark.states(
    "002: note 2: A reference decider jumps from one part of the tree to another (planned there, (decided) here)",
)
def test_a_reference_jumps_to_another_part_of_the_tree():
    """The target stands at its own place then, with the priority that it has there; nobody on the way is asked."""
    log = []
    soldier = camp(log)
    soldier.tick(1.0, 0, 0)
    soldier.tick(1.0, 0, 1)
    assert soldier.active_path == ("ROOT", "SERVE", "DRILL")
    assert log == ["COOK", "on duty", "DRILL"]
    soldier.tick(1.0, 0, 0)
    assert soldier.active_path == ("ROOT", "COOK")  # it is hungry, and cooking stands before serving
    assert log[3:] == ["off duty", "COOK"]


@pytest.mark.states("002: note 2: A reference decider jumps from one part of the tree to another (planned there ...")
@pytest.mark.states(
    "002: note 2: (decided) The target's own place counts; what the two paths share stays active; a reference is "
    "passed over while its target is active or masked",
)
def test_a_jump_keeps_what_both_paths_have_in_common():
    log = []
    soldier = camp(log)
    soldier.agent["hungry"] = False
    soldier.tick(1.0, 0, 0)
    soldier.tick(1.0, 0, 1)
    soldier.tick(1.0, 0, 1)  # the target is active: the reference is not asked
    assert soldier.active_path == ("ROOT", "SERVE", "DRILL")
    assert log == ["SERVE?", "on duty", "SENTRY", "DRILL", "DRILL"]
