"""What can be looked at: views, the decision log and its mask, checks of flags, stimuli."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.behavior import BehaviorTree, Check, Memory, Stimuli, behavior, decider, group
from agentrt.body.driver import LoneBody
from agentrt.errors import DefinitionError

worlds = load("tests/behavior/worlds.py")
leaf, branch, Creature, memory_of = worlds.leaf, worlds.branch, worlds.Creature, worlds.memory_of


def play(creature, *children):
    return memory_of(BehaviorTree(group("ROOT")[children]), creature)


# --- looking ----------------------------------------------------------------------------------------------------------


def test_the_view_is_plain_and_has_lines():
    creature = Creature("G", "A")
    memory, _ = play(creature, branch("G", flags={"MOVE"})[leaf("A"),])
    assert memory.view().lines() == ["not active"]
    memory.stimuli.add(2, timeout=1.0)
    memory.stimuli.add(4)
    memory.tick(0.1, 3)
    creature.raises.add("A.tick")
    memory.tick(0.1)
    view = memory.view()
    assert [one.name for one in view.path] == ["ROOT"]
    assert (view.name, view.tree, view.decision_flags, view.disabled) == ("tree", "ROOT", 3, ("tree/ROOT/G/A",))
    assert view.lines() == ["ROOT", "perceives 0x2 for 1.00 s", "perceives 0x4", "disabled: tree/ROOT/G/A"]
    memory.enable("A")
    creature.raises.clear()
    memory.tick(0.1)
    assert memory.view().lines()[:3] == ["ROOT", "  G [G], with MOVE", "    A [A]"]
    assert memory.behavior == "A"
    assert memory.activation("G").duration == 0
    assert memory.activation("B") is None
    assert repr(memory.activation("A")) == "<Activation tree/ROOT/G/A: active>"
    assert repr(memory) == "<Memory tree of ROOT: ROOT/G/A>"


def test_a_log_function_that_raises_is_dropped_and_reported():
    creature = Creature()
    memory, reports = play(creature, leaf("A", decide=None))

    def broken(line):
        raise ValueError("no")

    memory.tree.debug_output.level, memory.tree.debug_output.function = 5, broken
    assert memory.tick(0.1)
    assert [(path, hook) for path, hook, _ in reports] == [("tree", "debug_output")]
    assert memory.tree.debug_output.function is None
    assert memory.active_path == ("ROOT", "A")


def test_the_log_can_be_masked_by_memory_and_by_number():
    tree = BehaviorTree(group("ROOT")[decider("A", lambda at: True)])
    log = []
    tree.debug_output.level, tree.debug_output.function = 1, log.append
    memories = [tree.memory(body=LoneBody(None, f"b{number}", number)) for number in (1, 2, 3)]
    for mask in (memories[0], 2):
        tree.debug_output.agent = mask
        for memory in memories:
            memory.tick(0.1)
            memory.leave("again", lambda: None)
            memory.join(LoneBody(None, "again", memories.index(memory) + 1))
    assert [line.split()[1] for line in log] == ["0x00000001", "0x00000002"]


# --- checks and stimuli -----------------------------------------------------------------------------------------------


def test_checks_hold_as_they_are_written():
    check = Check(all_set=0b0001, all_clear=0b0010, any_set=0b0100, any_clear=0b1000)
    passed = [word for word in range(16) if check.holds(word)]
    assert passed == [0b0001, 0b0101, 0b1101]
    assert Check().holds(0)
    both = Check(any_set=0b0011) & Check(any_set=0b1100)
    assert [word for word in range(16) if both.holds(word)] == [5, 6, 7, 9, 10, 11, 13, 14, 15]
    assert Check(all_set=1) & Check(all_clear=2) == Check(all_set=1, all_clear=2)
    assert len({Check(all_set=1), Check(all_set=1), Check(any_set=1)}) == 2
    assert Check(all_set=1) != 1
    assert repr(check) == "<Check all_set=0x1; all_clear=0x2; any_set=0x4, any_clear=0x8>"
    assert repr(Check()) == "<Check of nothing>"


def test_stimuli_come_and_go():
    log = []
    stimuli = Stimuli(lambda token, is_on: log.append((token, is_on)))
    stimuli.add(1, "first", timeout=0.3)
    stimuli.add(2)
    stimuli.add(1, "again", timeout=0.2)
    assert stimuli.all_flags == 3
    assert (stimuli.data(1), stimuli.data(4)) == ("again", None)
    assert [one.token for one in stimuli] == [1, 2]
    assert stimuli.update(0.1) == 3
    assert stimuli.get(1).remaining == pytest.approx(0.1)
    assert stimuli.update(0.1) == 2
    assert (1 in stimuli, 2 in stimuli, len(stimuli)) == (False, True, 1)
    stimuli.remove(1)
    stimuli.clear()
    assert log == [(1, True), (2, True), (1, False), (2, False)]
    assert repr(stimuli) == "<Stimuli: none>"


@pytest.mark.parametrize("token", [0, 3, -1, "HIT", 1.0])
def test_a_token_is_one_bit(token):
    with pytest.raises(DefinitionError, match="a token is one bit"):
        Stimuli().add(token)


def test_a_timeout_is_a_number_of_seconds():
    with pytest.raises(DefinitionError, match="its timeout is -1"):
        Stimuli().add(1, timeout=-1)
    stimuli = Stimuli()
    stimuli.add(1, timeout=0)
    assert stimuli.all_flags == 1
    assert stimuli.update(0.0) == 0


def test_a_stimulus_that_comes_during_a_tick_counts_in_it():
    tree = BehaviorTree(
        group("ROOT", behavior=behavior("PERCEIVE", tick=lambda at: at.stimuli.add(4)))[
            decider("FLEE", lambda at: True, stimuli=Check(all_set=4)), decider("REST", lambda at: True)
        ]
    )
    memory = tree.memory()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "FLEE")
    memory = tree.memory()
    memory.tick(0.1, 0, memory.stimuli.update(0.1))  # a word that is handed in stays as it is
    assert memory.active_path == ("ROOT", "REST")


def test_what_belongs_to_the_machine_is_not_on_a_memory_but_in_one_place():
    assert [name for name in dir(Memory) if not name.startswith("_")] == [
        *("activation", "active_path", "agent", "behavior", "body", "debug_print_state", "decision_flags"),
        *("delegate_decide_to_children", "disabled", "drive", "dt", "enable", "given_to", "join", "leave", "name"),
        *("outline", "path", "perceived", "precedence", "random", "rank", "reloaded", "root", "state"),
        *("steer", "stimuli", "stimuli_flags", "strands", "tick", "time", "timers", "tree", "view", "view_type"),
    ]
