"""The public surface, name by name. A name is added, renamed or removed here first, and in the changelog."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import types

import pytest

import agentrt
import agentrt.activity
import agentrt.body
import agentrt.bridges
import agentrt.drawing
import agentrt.ensembles
import agentrt.expressions
import agentrt.inspect
import agentrt.kernel
import agentrt.minds
import agentrt.rebuild
import agentrt.record
import agentrt.shards
import agentrt.snapshot
import agentrt.strategy
import agentrt.tasks
import agentrt.testing
import agentrt.testing.strategies

AGENTRT = [
    # what authors write
    "Action",
    "ActionArgs",
    "Activity",
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
    "Context",
    # bodies
    "Entity",
    "JUMP",
    "LOOK",
    "MOVE",
    "TARGET",
    # what the outside is told
    "call_key",
    # waiting
    "CancelScope",
    "Cancelled",
    "Condition",
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
    "Attachment",
    "Injection",
    "Fault",
    "Restart",
    "Runtime",
    # packs
    "Manifest",
    "Pack",
    "Registry",
    "load_pack",
    # errors
    "AgentRTError",
    "__compiled__",
    "__version__",
]

ACTIVITY = ["ChildUtilities", "CurrentFields", "ExpectedStorage", "Node", "Overlay", "SpawnedFrame"]

BODY = ["Driver", "FlagLedger", "Lease", "LeaseBook", "LoneBody", "NamedSignals", "Refusal", "WaitTimes"]

KERNEL = ["Connection", "Stream", "TraceEvent", "TraceHub", "TraceRecord"]

EXPRESSIONS = ["LONGEST_EXPRESSION", "Expression", "NamedValues", "Value"]

DRAWING = ["Drawing", "Glyph", "Mark", "Overlay", "Shape", "Tile", "Tiles", "glyphs"]

TASKS = [
    "Job",
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
]

REBUILD = [
    "restore_groups",
    "restore_leases",
    "restore_packs",
    "restore_tasks",
    "save_groups",
    "save_leases",
    "save_packs",
    "save_tasks",
]

TESTING = [
    "Simulation",
    "TraceDigest",
    # what a test claims of a trace
    "Pattern",
    "TraceMismatch",
    "between",
    "happened",
    "in_order",
    "never",
    "pairs",
    "course",
    "failed",
    "solved",
    "tried",
    # in place of what is not tested
    "AskedCall",
    "Have",
    "HookCall",
    "HookCalls",
    "StubAction",
    "StubBody",
    "StubOutside",
    "StubPlan",
    "StubService",
    "StubStrategy",
    "stub_action",
    "stub_plan",
    "stub_strategy",
    # faults at every await
    "ChaosFault",
    "ChaosReport",
    "Failure",
    "InjectedFault",
    "InvariantError",
    "Violation",
    "check_trace",
    "exhaust",
]

STRATEGIES = [
    "BehaviorCase",
    "DeciderSpec",
    "GameplayCase",
    "GoalCase",
    "GoalSpec",
    "Happening",
    "NodeSpec",
    "PackCase",
    "PlanCase",
    "SelectionCase",
    "StubActionSpec",
    "WaySpec",
    "behavior_trees",
    "conditions",
    "gameplays",
    "goal_selectors",
    "packs",
    "plans",
    "play",
    "schedules",
    "selection_trees",
]

RECORD = [
    "AgentDifference",
    "BranchReport",
    "Codec",
    "Difference",
    "Edit",
    "OtelExport",
    "PerfettoWriter",
    "PrometheusExport",
    "RecordedInput",
    "Recorder",
    "Recording",
    "Replay",
    "ReplayReport",
    "Span",
    "SpanBuilder",
    "TraceDifference",
    "Unkept",
    # runs that died
    "Durability",
    "Resumption",
    "resume",
    "branch",
    "compare_recordings",
    "export_spans",
    "load_edits",
    "parse_edits",
    "replay",
    "write_otlp",
    "write_perfetto",
]

ENSEMBLES = [
    "Contrast",
    "EnsembleReport",
    "RunGroup",
    "RunRow",
    "RunStore",
    "Summary",
    "SweepResult",
    "SweepState",
    "Trial",
    "TuneResult",
    "sweep",
    "tune",
    "write_csv",
    "write_parquet",
]

MINDS = [
    "Asked", "Attend", "Budget", "Choice", "Consider", "Conversation", "Converse", "Line", "MemoryStream", "Mind", "Minded", "Model",
    "ModelRequest", "Option", "Plan", "Reflect", "Remembered", "Said", "Scripted", "Talks", "Thought", "consider",
]  # fmt: skip

SNAPSHOT = [
    "AgentSnapshot",
    "AgentSummary",
    "DriverView",
    "FlagView",
    "FrameView",
    "InjectionView",
    "MindView",
    "ModelView",
    "Outline",
    "RuntimeSnapshot",
    "TaskPlace",
    "ThoughtView",
    "UnitView",
    "VERSION",
    "ValueGroup",
    "explain",
    "offered",
    "outlines",
    "snapshot_agent",
    "summarize",
    "values_by_name",
]

SHARDS = ["LocalShards", "Part", "PipeShards", "RayShards", "Shard", "ShardPlace", "ShardedWorld", "Shards"]

INSPECT = ["DEFAULT_PORT", "Inspector", "OneFile", "write_html"]

STRATEGY = [
    "Accuracy",
    "Ask",
    "Branch",
    "Calls",
    "Dependency",
    "Foreseen",
    "Gameplay",
    "GameplayView",
    "Interruptible",
    "Interruption",
    "NodeKind",
    "Offer",
    "OfferView",
    "Opportunity",
    "Order",
    "Outcome",
    "Params",
    "Request",
    "RequestView",
    "Strategy",
    "StrategyContext",
    "TaskNode",
    "TaskNodeView",
    "Trigger",
    "strategy",
    "tries_for",
]

BRIDGES = ["DriverAction", "PerformGoal", "attaches", "injects", "perform_behavior", "performs"]


def test_the_facade_for_authors():
    assert sorted(agentrt.__all__) == sorted(AGENTRT)
    assert len(AGENTRT) < 60  # more is a list that nobody reads


def test_what_fewer_authors_need_has_doors_of_its_own():
    assert sorted(agentrt.activity.__all__) == ACTIVITY
    assert sorted(agentrt.body.__all__) == BODY
    assert sorted(agentrt.kernel.__all__) == KERNEL
    assert sorted(agentrt.tasks.__all__) == TASKS


@pytest.mark.parametrize(("name", "door"), [("TaskGroup", "tasks"), ("Goal", "goals"), ("LeaseBook", "body")])
def test_a_name_that_stands_behind_another_door_is_told_with_its_import(name, door):
    with pytest.raises(AttributeError, match=f"^module 'agentrt' has no .* Write: from agentrt.{door} import {name}$"):
        getattr(agentrt, name)


def test_what_is_loaded_when_it_is_first_named_is_listed_before_and_found_by_all_roads():
    code = """
import sys, agentrt
assert set(agentrt.__all__) <= set(dir(agentrt))
assert "agentrt.packs" not in sys.modules
from agentrt import Pack
assert Pack is agentrt.Pack is vars(agentrt)["Pack"] and "agentrt.snapshot" not in sys.modules
names = {}
exec("from agentrt import *", names)
assert set(agentrt.__all__) <= set(names)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_is_an_error_as_of_any_module():
    with pytest.raises(AttributeError, match="^module 'agentrt' has no attribute 'Packs'$") as raised:
        agentrt.Packs  # noqa: B018
    assert (raised.value.name, raised.value.obj) == ("Packs", agentrt)  # for "Did you mean"
    with pytest.raises(ImportError, match="cannot import name 'Packs' from 'agentrt'"):
        exec("from agentrt import Packs")


def test_what_tools_look_at():
    assert sorted(agentrt.snapshot.__all__) == SNAPSHOT


def test_what_a_world_is_drawn_with():
    assert sorted(agentrt.drawing.__all__) == DRAWING


def test_what_values_are_watched_by():
    assert sorted(agentrt.expressions.__all__) == sorted(EXPRESSIONS)


def test_what_a_game_calls_after_loading():
    assert sorted(agentrt.rebuild.__all__) == REBUILD


def test_what_asks_language_models():
    assert sorted(agentrt.minds.__all__) == MINDS


def test_the_facade_for_many_runs():
    assert sorted(agentrt.ensembles.__all__) == ENSEMBLES


def test_what_joins_the_models():
    assert sorted(agentrt.bridges.__all__) == BRIDGES


def test_the_facade_for_strategies():
    assert sorted(agentrt.strategy.__all__) == STRATEGY


def test_the_facade_for_tests():
    assert sorted(agentrt.testing.__all__) == sorted(TESTING)
    assert sorted(agentrt.testing.strategies.__all__) == sorted(STRATEGIES)


def test_the_facade_for_recordings():
    assert sorted(agentrt.record.__all__) == sorted(RECORD)


def test_the_facade_for_whoever_looks():
    assert sorted(agentrt.inspect.__all__) == INSPECT


def test_the_facade_for_worlds_in_shards():
    assert sorted(agentrt.shards.__all__) == SHARDS


FACADES = [
    agentrt,
    agentrt.activity,
    agentrt.body,
    agentrt.kernel,
    agentrt.ensembles,
    agentrt.inspect,
    agentrt.record,
    agentrt.shards,
    agentrt.strategy,
    agentrt.testing,
    agentrt.testing.strategies,
]
for _name in agentrt.__all__:
    getattr(agentrt, _name)  # loads what is loaded when it is first named


@pytest.mark.parametrize("facade", FACADES, ids=lambda facade: facade.__name__)
def test_nothing_else_is_offered_by_accident(facade):
    """Whatever a façade imports it offers: no name that is not in its list, but for the modules below it."""
    below = f"{facade.__name__}."
    offered = {
        name
        for name, value in vars(facade).items()
        if not name.startswith(("_", "@"))  # pytest, whose plugin this is, puts names with @ into what it imports
        if not (isinstance(value, types.ModuleType) and value.__name__.startswith(below))
    }
    assert offered == {name for name in facade.__all__ if not name.startswith("_")}


@pytest.mark.checkout  # the compiler leaves docstrings out
def test_every_class_and_function_of_the_facades_is_documented():
    undocumented = [
        f"{facade.__name__}.{name}"
        for facade in FACADES
        for name in facade.__all__
        if isinstance(vars(facade)[name], type | types.FunctionType) and not vars(facade)[name].__doc__
    ]
    assert undocumented == []


@pytest.mark.checkout  # the compiler leaves docstrings out
def test_every_public_method_of_the_facades_is_documented():
    undocumented = [
        f"{facade.__name__}.{name}.{member}"
        for facade in FACADES
        for name in facade.__all__
        if isinstance(vars(facade)[name], type)
        for member, value in vars(vars(facade)[name]).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod))
        if not getattr(value, "__doc__", None) and not isinstance(value, type)
    ]
    assert undocumented == []


def _arguments(function):
    names = inspect.signature(function).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def _functions(facade):
    """What is called on a facade, and the docstring in which its arguments stand."""
    for name in facade.__all__:
        what = vars(facade)[name]
        if isinstance(what, types.FunctionType):
            yield name, what
        elif isinstance(what, type):
            for member, value in vars(what).items():
                function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                if isinstance(function, types.FunctionType) and not member.startswith("_"):
                    yield f"{name}.{member}", function


def test_a_section_about_arguments_names_each_of_them():
    """A docstring of a facade may do without one; where there is one, nothing is missing in it."""
    missing = [
        f"{facade.__name__}.{name}: {argument}"
        for facade in FACADES
        for name, function in _functions(facade)
        if "Args:\n" in (inspect.getdoc(function) or "")
        for argument in _arguments(inspect.unwrap(function))
        if not re.search(rf"(?m)^    (.*, )?\*{{0,2}}{argument}(, .*)?:", inspect.getdoc(function) or "")
    ]
    assert missing == []
