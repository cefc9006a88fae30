"""The public surface for whoever writes goals, name by name; and docs/tutorials/goals.md leaves nothing of it out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from facades import offered

import agentrt.goals
from agentrt.body.driver import Driver
from agentrt.goals import Goal, GoalSelector, GoalSelectorView, GoalView, WrappedGoal

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "goals.md").read_text(encoding="utf-8")
NAMES = [
    "GOALS",
    "Goal",
    "GoalSelector",
    "GoalSelectorView",
    "GoalView",
    "JUMP",
    "LOOK",
    "MOVE",
    "TARGET",
    "TARGETS",
    "WrappedGoal",
]


def public(cls):
    return [name for name in vars(cls) if not name.startswith("_")]


def test_the_facade_for_goals():
    assert sorted(agentrt.goals.__all__) == NAMES


def test_nothing_else_is_offered_by_accident():
    assert offered(agentrt.goals) == set(NAMES)


@pytest.mark.parametrize("cls", [Goal, GoalSelector, GoalSelectorView, GoalView, WrappedGoal])
def test_everything_is_documented(cls):
    assert cls.__doc__
    undocumented = [
        name
        for name in public(cls)
        if (callable(getattr(cls, name)) or isinstance(vars(cls)[name], property)) and not vars(cls)[name].__doc__
    ]
    assert undocumented == []


def test_a_selector_is_a_driver():
    selector: Driver = GoalSelector()
    members = [name for name in vars(Driver) if not name.startswith("_")] + list(Driver.__annotations__)
    assert [name for name in members if not hasattr(selector, name)] == []


def test_what_an_author_writes_and_calls_is_on_the_page():
    written = ["flags", "is_interruptible", "requires_update_every_tick", "can_use", "can_continue_to_use"]
    written += ["start", "tick", "stop", "run", "entity", "body", "set_flags", "perform"]
    called = ["add_goal", "remove_goal", "remove_all_goals", "disable_control_flag", "enable_control_flag"]
    called += ["set_control_flag", "tick_running_goals", "ai_step", "drive", "available_goals", "running_goals"]
    called += ["locked_flags", "disabled_flags", "view"]
    for names, cls in ((written, Goal), (called, GoalSelector)):
        assert [name for name in names if not hasattr(cls, name)] == []
        assert [name for name in names if not re.search(rf"\b{name}\b", PAGE)] == []
    assert [name for name in ("GoalView", "WrappedGoal", "TARGETS") if name not in PAGE] == []


def test_what_belongs_to_the_machine_is_not_on_what_authors_hold():
    assert [name for name in dir(GoalSelector) if not name.startswith("_")] == [
        *("add_goal", "ai_step", "available_goals", "body", "disable_control_flag", "disabled_flags", "drive"),
        *("enable_control_flag", "find", "full_ticks", "given_to", "is_away", "join", "leave", "ledger"),
        *("locked_flags", "name", "precedence", "rank", "reloaded", "remove_all_goals", "remove_goal", "running_goals"),
        *("set_control_flag", "steer", "strands", "tick", "tick_running_goals", "ticks", "view", "view_type"),
    ]
    assert [name for name in dir(WrappedGoal) if not name.startswith("_")] == [
        *("body", "can_be_replaced_by", "flag_name", "flags", "flags_granted", "give_way", "goal"),
        *("is_interruptible", "is_running", "name", "precedence", "priority", "requires_update_every_tick"),
        *("runs_for", "selector", "since", "state"),
    ]
