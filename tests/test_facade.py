"""The public surface, name by name. A name is added, renamed or removed here first, and in the changelog."""

from __future__ import annotations

import types

import pytest

import agentrt
import agentrt.bridges
import agentrt.rebuild
import agentrt.testing

AGENTRT = [
    # what authors write
    "Action",
    "ActionArgs",
    "CompoundAction",
    "ThinkOutput",
    "TOP",
    "output",
    "step",
    # placeholders
    "ARGS",
    "BACK",
    "CALL",
    "CURRENT",
    "ENTITY",
    "NOT",
    "OUT",
    "PREV",
    # what the hooks are given
    "ChildUtilities",
    "Context",
    "CurrentFields",
    "ExpectedStorage",
    "NamedSignals",
    "Node",
    "SpawnedFrame",
    # task groups
    "Task",
    "TaskDeclaration",
    "TaskGroup",
    "TaskGroupAction",
    "TaskGroupView",
    "TaskGroups",
    "TaskState",
    "TaskView",
    "declare_multiple_tasks",
    "declare_permanent_task",
    "declare_task",
    # bodies
    "Entity",
    "JUMP",
    "LOOK",
    "Lease",
    "LeaseBook",
    "MOVE",
    "TARGET",
    # several models on one body
    "Attachment",
    "Driver",
    "DriverView",
    "FlagLedger",
    "FlagView",
    "LoneBody",
    "Refusal",
    # waiting
    "CancelScope",
    "Cancelled",
    "Condition",
    "Connection",
    "Event",
    "Queue",
    "Signal",
    "fail_after",
    "move_on_after",
    "next_tick",
    "park",
    "sleep",
    "sleep_ticks",
    # living
    "Agent",
    "Injection",
    "Job",
    "Restart",
    "Runtime",
    "Stream",
    # packs
    "Manifest",
    "Pack",
    "Registry",
    "load_pack",
    # seeing
    "AgentSnapshot",
    "FrameView",
    "RuntimeSnapshot",
    "TraceEvent",
    "TraceHub",
    "TraceRecord",
    "UnitView",
    "WaitTimes",
    # errors
    "AgentRTError",
    "__version__",
]

REBUILD = ["restore_groups", "restore_packs", "restore_tasks", "save_groups", "save_packs", "save_tasks"]

TESTING = ["Simulation", "TraceDigest"]

BRIDGES = ["DriverAction", "PerformGoal", "attaches", "injects", "perform_behavior", "performs"]


def test_the_facade_for_authors():
    assert sorted(agentrt.__all__) == sorted(AGENTRT)


def test_what_a_game_calls_after_loading():
    assert sorted(agentrt.rebuild.__all__) == REBUILD


def test_what_joins_the_models():
    assert sorted(agentrt.bridges.__all__) == BRIDGES


def test_the_facade_for_tests():
    assert sorted(agentrt.testing.__all__) == sorted(TESTING)


@pytest.mark.parametrize("facade", [agentrt, agentrt.testing], ids=lambda facade: facade.__name__)
def test_nothing_else_is_offered_by_accident(facade):
    """Whatever a façade imports it offers: no name that is not in its list, but for the modules below it."""
    below = f"{facade.__name__}."
    offered = {
        name
        for name, value in vars(facade).items()
        if not name.startswith("_")
        if not (isinstance(value, types.ModuleType) and value.__name__.startswith(below))
    }
    assert offered == {name for name in facade.__all__ if not name.startswith("_")}


def test_every_class_and_function_of_the_facades_is_documented():
    undocumented = [
        f"{facade.__name__}.{name}"
        for facade in (agentrt, agentrt.testing)
        for name in facade.__all__
        if isinstance(vars(facade)[name], type | types.FunctionType) and not vars(facade)[name].__doc__
    ]
    assert undocumented == []


def test_every_public_method_of_the_facades_is_documented():
    undocumented = [
        f"{facade.__name__}.{name}.{member}"
        for facade in (agentrt, agentrt.testing)
        for name in facade.__all__
        if isinstance(vars(facade)[name], type)
        for member, value in vars(vars(facade)[name]).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod))
        if not getattr(value, "__doc__", None) and not isinstance(value, type)
    ]
    assert undocumented == []
