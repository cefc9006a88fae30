"""The public surface of ``agentrt.behavior``, name by name; and docs/tutorials/behavior.md leaves no policy out."""

from __future__ import annotations

import types
from pathlib import Path

import pytest
from facades import offered
from modules import load

from agentrt import behavior
from agentrt.behavior import GroupPolicy
from agentrt.body.driver import Driver

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "behavior.md").read_text(encoding="utf-8")
NAMES = [
    "Activation",
    "Behavior",
    "BehaviorDecider",
    "BehaviorTree",
    "Check",
    "DebugOutput",
    "DeciderView",
    "GroupDecider",
    "GroupPolicy",
    "MAX_SHUFFLE_CHILDREN",
    "Memory",
    "PRIORITIZED_LIST",
    "RANDOM",
    "RedecideLoopError",
    "ReferenceDecider",
    "SCORED",
    "SEQUENTIAL",
    "SHUFFLE",
    "Stimuli",
    "Stimulus",
    "StimulusView",
    "TreeView",
    "behavior",
    "decider",
    "group",
    "reference",
]


def test_the_facade_for_authors():
    assert sorted(behavior.__all__) == NAMES


def test_nothing_else_is_offered_by_accident():
    assert offered(behavior) == set(NAMES)


def test_everything_public_is_documented():
    undocumented = [
        f"{name}.{member}"
        for name in NAMES
        if isinstance(getattr(behavior, name), type)
        for member, value in vars(getattr(behavior, name)).items()
        if not member.startswith("_") and isinstance(value, types.FunctionType | property | classmethod)
        if not getattr(value, "__doc__", None)
    ]
    assert undocumented == []


def test_a_memory_is_a_driver():
    wanted = [name for name in vars(Driver) if not name.startswith("_")] + list(Driver.__annotations__)
    memory = behavior.BehaviorTree(behavior.group("ROOT")[behavior.decider("A", lambda at: True)]).memory()
    assert [name for name in wanted if not hasattr(memory, name)] == []


@pytest.mark.parametrize("policy", GroupPolicy)
def test_each_policy_is_in_the_tutorial_and_in_the_test_of_its_words(policy):
    """What a new policy needs besides its code."""
    assert f"\n| `{policy.name}` |" in PAGE
    assert getattr(behavior, policy.name) is policy
    assert policy in [one for _, one in load("tests/behavior/test_guard.py").AS_TEXT]


def test_what_belongs_to_the_machine_is_not_on_what_authors_hold():
    assert [name for name in dir(behavior.BehaviorTree) if not name.startswith("_")] == [
        *("deciders", "initialize_tree_data", "is_initialized", "memory", "node", "outline", "take_over", "uses"),
    ]
    assert [name for name in dir(behavior.Activation) if not name.startswith("_")] == [
        *("agent", "behavior_flags", "block", "body", "child", "dblock", "depth", "downward", "dt", "duration"),
        *("extra", "flag_name", "flags_granted", "give_way", "index", "is_interruptible", "leave", "memory"),
        *("more", "name", "node", "parent", "path", "perform", "precedence", "random", "runs_for", "since"),
        *("stage", "stimuli", "time", "upward"),
    ]
