"""The memory of one agent: faults, blocks, DBlocks, delegation, jumps, giving up, and what can be looked at."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from modules import load

from agentrt.behavior import (
    RANDOM,
    SCORED,
    SEQUENTIAL,
    Behavior,
    BehaviorTree,
    GroupPolicy,
    RedecideLoopError,
    behavior,
    decider,
    group,
    reference,
    walk,
)
from agentrt.body.driver import BEHAVIOR, LoneBody
from agentrt.errors import NotRunningError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.rng import Stream

worlds = load("tests/behavior/worlds.py")
leaf, branch, Creature, memory_of = worlds.leaf, worlds.branch, worlds.Creature, worlds.memory_of

LEVELS = pytest.mark.parametrize("level", [0, 5])  # the steady path, and walks in full


def play(creature, *children, level=0, **options):
    tree = BehaviorTree(group("ROOT")[children], **options)
    tree.debug_output.level, tree.debug_output.function = level, lambda line: None
    return memory_of(tree, creature)


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "002: S04, S08: A function that raises disables its decider for that agent, is reported once, and changes nothing "
    "else (ours)",
)
@LEVELS
def test_a_decide_that_raises_is_reported_once_and_not_called_again(level):
    creature = Creature()
    memory, reports = play(creature, leaf("A"), leaf("B"), leaf("C"), leaf("D", decide=None), level=level)
    memory.tick(0.1)
    creature.asked.clear()
    creature.raises.add("B.decide")
    for _ in range(3):
        assert memory.tick(0.1)
    assert creature.asked == ["A", "B", "C"] + ["A", "C"] * 2
    assert [(path, hook, str(error)) for path, hook, error in reports] == [("tree/ROOT/B", "decide", "B.decide")]
    assert memory.disabled == ("tree/ROOT/B",)
    assert memory.active_path == ("ROOT", "D")
    creature.raises.clear()
    creature.wants.add("B")
    memory.enable("B")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "B")


@LEVELS
def test_who_takes_over_after_a_decide_that_raised(level):
    creature = Creature()
    memory, _ = play(creature, leaf("A"), leaf("B"), leaf("C", decide=None), level=level)
    memory.tick(0.1)
    creature.raises.add("A.decide")
    creature.wants.add("B")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "B")


@LEVELS
@pytest.mark.parametrize(
    ("hook", "log"),
    [
        ("activate", ["A activate", "B activate", "B tick"]),
        ("tick", ["A activate", "A tick", "A deactivate", "B activate", "B tick"]),
    ],
)
def test_a_hook_that_raises_fails_its_decider(level, hook, log):
    creature = Creature("A")
    creature.raises.add(f"A.{hook}")
    memory, reports = play(creature, leaf("A"), leaf("B", decide=None), level=level)
    memory.tick(0.1)
    memory.tick(0.1)
    assert creature.log == [*log, "B tick"]
    assert [(path, what) for path, what, _ in reports] == [("tree/ROOT/A", hook)]


@LEVELS
def test_a_tick_that_raises_later(level):
    creature = Creature("A")
    memory, reports = play(creature, leaf("A"), leaf("B", decide=None), level=level)
    memory.tick(0.1)
    creature.raises.add("A.tick")
    assert memory.tick(0.1) is True
    assert memory.active_path == ("ROOT", "B")
    assert len(reports) == 1


def test_who_is_disabled_is_left_out_of_the_steady_path_and_costs_no_walk(monkeypatch):
    creature = Creature()
    memory, _ = play(creature, leaf("A"), leaf("B"), branch("G")[leaf("C"), leaf("D", decide=None)])
    creature.wants.add("G")
    memory.tick(0.1)
    creature.raises.update(("A.decide", "C.decide"))
    memory.tick(0.1)
    assert memory.disabled == ("tree/ROOT/A", "tree/ROOT/G/C")
    creature.asked.clear()
    with monkeypatch.context() as patch:
        patch.setattr(walk, "Walk", None)
        assert memory.tick(0.1)
        assert memory.tick(0.1)
    assert creature.asked == ["B", "B"]
    creature.wants.add("B")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "B")


def test_a_deactivate_that_raises_stops_nothing():
    creature = Creature("A")
    creature.raises.add("A.deactivate")
    memory, reports = play(creature, leaf("B"), leaf("A"))
    memory.tick(0.1)
    creature.wants.add("B")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "B")
    assert [(path, hook) for path, hook, _ in reports] == [("tree/ROOT/A", "deactivate")]
    assert memory.disabled == ("tree/ROOT/A",)


def test_an_answer_that_is_no_number_is_a_fault():
    memory, reports = play(Creature(), leaf("A", decide=lambda memory: None), leaf("B", decide=None))
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "B")
    assert [(path, hook, type(error)) for path, hook, error in reports] == [("tree/ROOT/A", "decide", TypeError)]


@pytest.mark.states("002: S04, S08: A function that raises disables its decider for that agent, is reported once ...")
def test_a_fault_of_one_agent_is_not_that_of_another():
    tree = BehaviorTree(group("ROOT")[leaf("A"), leaf("B", decide=None)])
    ann, ben = Creature("A", name="ann"), Creature("A", name="ben")
    ann.raises.add("A.tick")
    memories = [memory_of(tree, one)[0] for one in (ann, ben)]
    for _ in range(2):
        for memory in memories:
            memory.tick(0.1)
    assert [memory.active_path for memory in memories] == [("ROOT", "B"), ("ROOT", "A")]


def test_what_is_no_exception_comes_through_and_leaves_the_memory_usable():
    def interrupted(at):
        raise KeyboardInterrupt

    creature = Creature()
    memory, _ = play(creature, decider("A", interrupted))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            memory.tick(0.1)


# --- blocks -----------------------------------------------------------------------------------------------------------


def test_blocks_are_made_for_each_activation_and_disposed_of_after_deactivate():
    log = []

    class Block:
        def __init__(self):
            self.count = 0
            log.append("made")

        def dispose(self):
            log.append(f"disposed at {self.count}")

    class Counts(Behavior):
        block = Block

        def activate(self, at):
            return at.agent != "fails"

        def tick(self, at):
            at.block.count += 1
            return at.block.count < 2

        def deactivate(self, at):
            log.append(f"deactivated at {at.block.count}")

    tree = BehaviorTree(group("ROOT")[decider("COUNTS", Counts), decider("REST", lambda at: True)])
    memory = tree.memory()
    memory.tick(0.1)
    memory.tick(0.1)
    assert log == ["made", "deactivated at 2", "disposed at 2"]
    log.clear()
    tree.memory("fails").tick(0.1)
    assert log == ["made", "disposed at 0"]


def test_a_block_that_cannot_be_made_or_disposed_of():
    class Bad:
        def __init__(self):
            raise ValueError("made")

    class Worse:
        def dispose(self):
            raise ValueError("disposed")

    tree = BehaviorTree(
        group("ROOT")[
            decider("BAD", behavior("BAD", block=Bad)),
            decider("WORSE", behavior("WORSE", block=Worse, tick=lambda at: False)),
            decider("REST", lambda at: True),
        ]
    )
    memory, reports = memory_of(tree, Creature())
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert [(path, hook) for path, hook, _ in reports] == [("tree/ROOT/BAD", "block"), ("tree/ROOT/WORSE", "dispose")]


def test_a_block_of_which_not_even_its_dispose_can_be_asked_for():
    class Worst:
        @property
        def dispose(self):
            raise ValueError("asked for")

    tree = BehaviorTree(
        group("ROOT")[
            decider("WORST", behavior("WORST", block=Worst, tick=lambda at: False, flags={"MOVE"})),
            decider("REST", lambda at: True),
        ]
    )
    memory, reports = memory_of(tree, Creature())
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert [(path, hook) for path, hook, _ in reports] == [("tree/ROOT/WORST", "dispose")]
    assert memory.body.flags.holder("MOVE") is None  # what comes after it in the taking down was done


def test_a_dblock_goes_from_decide_to_behavior():
    @dataclass
    class Sight:
        enemy: str = ""

    made = []

    def sees(memory, sight):
        made.append(sight)
        sight.enemy = memory.agent.enemy
        return bool(sight.enemy)

    creature = Creature()
    creature.enemy = ""
    seen = []

    def fight(at):
        seen.append(at.dblock.enemy)
        return True

    tree = BehaviorTree(
        group("ROOT")[decider("FIGHT", fight, decide=sees, dblock=Sight), decider("REST", lambda at: True)]
    )
    memory, _ = memory_of(tree, creature)
    memory.tick(0.1)
    creature.enemy = "wolf"
    memory.tick(0.1)
    memory.tick(0.1)
    assert seen == ["wolf", "wolf"]
    assert len(made) == 2
    assert made[0] is not made[1]


def test_a_jump_hands_its_dblock_to_a_target_that_has_none():
    def sees(memory, sight):
        sight.append("wolf")
        return 1.0

    seen = []
    tree = BehaviorTree(
        group("ROOT")[
            reference("R", "FIGHT", decide=sees, dblock=list),
            group("ARMS", decide=lambda memory: False)[decider("FIGHT", lambda at: seen.append(at.dblock))],
        ]
    )
    memory = tree.memory()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "ARMS", "FIGHT")
    assert seen == [["wolf"]]


# --- delegation -------------------------------------------------------------------------------------------------------


@LEVELS
def test_the_function_that_delegates_remembers_whom_it_chose(level):
    creature = Creature("B")

    def half(memory):
        return 0.5 * memory.delegate_decide_to_children()

    memory, _ = play(
        creature,
        group("G", decide=half)[leaf("A"), leaf("B"), leaf("C")],
        leaf("REST", decide=None),
        level=level,
    )
    creature.wants.clear()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    creature.asked.clear()
    creature.wants.add("B")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "G", "B")
    assert creature.asked == ["A", "B"]


def test_a_scored_group_compares_what_its_children_delegate():
    creature = Creature()
    creature.scores = {"A": 0.2, "B": 0.9, "C": 0.8}

    def score(name):
        return lambda memory: memory.agent.scores[name]

    def scored(name):
        return decider(name, lambda at: True, decide=score(name))

    tree = BehaviorTree(
        group("ROOT", SCORED)[
            group("G", SCORED, decide=lambda memory: 0.8 * memory.delegate_decide_to_children())[
                scored("A"), scored("B")
            ],
            scored("C"),
        ]
    )
    memory, _ = memory_of(tree, creature)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "C")  # 0.72 against 0.8


def test_delegation_outside_of_a_decide_is_an_error():
    def act(at):
        at.memory.delegate_decide_to_children()

    memory, reports = play(
        Creature(), decider("A", act), leaf("B", decide=lambda memory: memory.delegate_decide_to_children())
    )
    memory.tick(0.1)
    assert [(hook, type(error)) for _, hook, error in reports] == [
        ("tick", WrongStateError),
        ("decide", WrongStateError),
    ]


def test_a_redecide_can_delegate():
    creature = Creature("G", "A", "B")
    memory, _ = play(
        creature,
        group("G", decide=lambda memory: memory.delegate_decide_to_children(), call_decide_on_redecide=True)[
            leaf("A"), leaf("B")
        ],
        leaf("REST", decide=None),
    )
    memory.tick(0.1)
    creature.asked.clear()
    creature.fails.add("A.tick")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "G", "B")
    assert creature.asked == ["B"]


@LEVELS
@pytest.mark.parametrize("policy", GroupPolicy)
def test_a_redecide_can_delegate_twice(policy, level):
    def more_than_half(memory):
        return memory.delegate_decide_to_children() > 0.5 and memory.delegate_decide_to_children()

    creature = Creature("A", "B")
    memory, _ = play(
        creature,
        group("G", policy, decide=more_than_half, call_decide_on_redecide=True)[leaf("A"), leaf("B")],
        leaf("REST", decide=None),
        level=level,
    )
    memory.tick(0.1)
    first = memory.active_path[-1]
    (other,) = {"A", "B"} - {first}
    if policy is SEQUENTIAL:
        assert (first, other) == ("A", "B")
    group_at = memory.activation("G")
    creature.asked.clear()
    creature.fails.add(f"{first}.tick")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "G", other)
    assert memory.activation("G") is group_at
    assert creature.asked == [other] * 2  # who failed is masked in both


def test_a_policy_that_nothing_chooses_by_is_told_at_once():
    tree = BehaviorTree(group("ROOT")[leaf("A", decide=None)])
    memory, _ = memory_of(tree, Creature())
    tree.nodes[0].policy = "kGroupNewest"
    with pytest.raises(NotImplementedError, match="kGroupNewest"):
        memory.tick(0.1)


@LEVELS
def test_groups_in_between_tick_when_a_reference_jumps_within_them(level):
    creature = Creature("G", "A")
    memory, _ = play(
        creature,
        reference("R", "B", decide=lambda memory: "R" in memory.agent.wants),
        branch("G")[leaf("A"), leaf("B")],
        leaf("REST", decide=None),
        level=level,
    )
    memory.tick(0.1)
    creature.taken()
    creature.wants.add("R")
    memory.tick(0.1)
    assert creature.taken() == ["G tick", "A deactivate", "B activate", "B tick"]
    creature.wants -= {"R", "G"}
    creature.fails.add("B.tick")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "G", "A")
    creature.wants.add("R")
    creature.fails = {"G.tick"}
    creature.taken()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert creature.taken() == ["G tick", "A deactivate", "G deactivate", "REST activate", "REST tick"]


@LEVELS
def test_root_stays_when_nobody_accepts(level):
    creature = Creature("ROOT")
    tree = BehaviorTree(branch("ROOT")[leaf("A"), leaf("B")])
    tree.debug_output.level, tree.debug_output.function = level, lambda line: None
    memory, _ = memory_of(tree, creature)
    assert [memory.tick(0.1) for _ in range(2)] == [False, False]
    assert memory.active_path == ("ROOT",)
    assert creature.log == ["ROOT activate", "ROOT tick", "ROOT tick"]


# --- giving up --------------------------------------------------------------------------------------------------------


def test_the_guard_names_the_group_and_the_next_tick_goes_on():
    creature = Creature("G")
    tree = BehaviorTree(
        group("ROOT")[branch("G")[leaf("A")], leaf("B"), leaf("REST", decide=None)],
        max_redecides=1,
    )
    memory, _ = memory_of(tree, creature)
    creature.fails.add("B.tick")
    creature.wants.add("B")
    with pytest.raises(RedecideLoopError) as caught:
        memory.tick(0.1)
    assert (caught.value.group, caught.value.tree, caught.value.count, caught.value.code) == ("G", "ROOT", 2, "ART309")
    assert memory.active_path == ("ROOT",)
    creature.wants.clear()
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")


def test_references_that_lead_to_each_other_are_stopped():
    fails = behavior("FAILS", tick=lambda at: False)
    tree = BehaviorTree(
        group("ROOT")[
            group("A")[decider("X", fails), reference("TO_Y", "Y")],
            group("B")[decider("Y", fails), reference("TO_X", "X")],
        ],
        max_redecides=20,
    )
    memory = tree.memory()
    with pytest.raises(RedecideLoopError) as caught:
        memory.tick(0.1)
    assert caught.value.count == 21


# --- driving ----------------------------------------------------------------------------------------------------------


def test_it_cannot_tick_itself():
    memory, reports = play(Creature(), decider("A", lambda at: at.memory.tick(0.1)))
    memory.tick(0.1)
    assert [(hook, type(error)) for _, hook, error in reports] == [("tick", WrongStateError)]
    assert memory.time == 0.1


def test_leaving_takes_all_down_leaf_first_and_tells():
    creature = Creature("G", "A")
    memory, _ = play(creature, branch("G")[leaf("A"),])
    told = []
    memory.tick(0.1)
    creature.taken()
    memory.leave("over", lambda: told.append(memory.active_path))
    assert creature.taken() == ["A deactivate", "G deactivate"]
    assert told == [()]
    memory.join(LoneBody(creature))
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "G", "A")


def test_leaving_in_the_middle_of_a_tick_waits_for_its_end():
    told = []

    def act(at):
        at.memory.leave("over", lambda: told.append("left"))
        told.append("ticked")

    memory, _ = play(Creature(), decider("A", act))
    memory.tick(0.1)
    assert told == ["ticked", "left"]
    assert memory.active_path == ()


def test_a_driver_updates_flags_stimuli_and_time():
    kernel = Kernel(ticks_per_second=10)
    body = LoneBody("wolf", "wolf", kernel=kernel)
    seen = []

    def decide(memory):
        seen.append((memory.time, round(memory.dt, 6), memory.decision_flags, memory.stimuli_flags))
        return False

    tree = BehaviorTree(group("ROOT")[decider("A", lambda at: True, decide=decide)])
    memory = tree.memory(decision_flags=lambda agent: len(agent))
    assert memory.rank == BEHAVIOR
    kernel.step_tick()
    memory.join(body)
    memory.stimuli.add(8, timeout=0.25)
    for _ in range(3):
        kernel.step_tick()
        memory.drive()
    assert seen == [(0.2, 0.1, 4, 8), (0.3, 0.1, 4, 8), (0.4, 0.1, 4, 0)]


def test_driving_reports_what_a_tick_by_hand_raises():
    kernel = Kernel()
    reports = []
    body = LoneBody(None, "wolf", kernel=kernel, report=lambda *report: reports.append(report))
    fails = behavior("FAILS", tick=lambda at: False)
    tree = BehaviorTree(group("ROOT")[decider("A", fails), decider("B", fails)], max_redecides=1)

    def broken(agent):
        raise ValueError("no")

    memory = tree.memory(body=body, decision_flags=broken)
    memory.drive()
    assert [(path, hook, type(error)) for path, hook, error in reports] == [
        ("tree", "decision_flags", ValueError),
        ("tree", "tick", RedecideLoopError),
    ]


def test_what_it_needs_to_be_driven():
    tree = BehaviorTree(decider("ROOT", lambda at: True))
    memory = tree.memory()
    with pytest.raises(NotRunningError, match="drives nobody"):
        memory.drive()
    memory.join(LoneBody())
    with pytest.raises(NotRunningError, match="call memory.tick"):
        memory.drive()
    memory.tick(0.1)
    with pytest.raises(WrongStateError, match="it drives body"):
        memory.join(LoneBody())


def test_random_groups_draw_from_the_stream_they_are_given():
    def path(seed):
        tree = BehaviorTree(group("ROOT", RANDOM)[tuple(decider(f"D{n}", lambda at: False) for n in range(6))])
        memory = tree.memory(stream=Stream(seed))
        log = []
        tree.debug_output.level, tree.debug_output.function = 1, log.append
        memory.tick(0.1)
        return [line.rpartition(" ")[2].partition("/")[0] for line in log]

    assert sorted(path(1)) == [f"D{n}" for n in range(6)]
    assert path(1) == path(1) != path(2)


def test_a_sequence_ends_and_begins_anew():
    creature = Creature("S", "A", "B", "C")
    memory, _ = play(creature, branch("S", SEQUENTIAL)[leaf("A"), leaf("B"), leaf("C")], leaf("REST", decide=None))
    paths = []
    for fails in ("", "A.tick", "B.tick", "C.tick"):
        creature.fails = {fails}
        memory.tick(0.1)
        paths.append(memory.active_path[-1])
    assert paths == ["A", "B", "C", "REST"]
    creature.fails = set()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "S", "A")
