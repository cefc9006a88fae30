"""The pages about actions leave nothing out: every name of the façades, every hook, every method of the context."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import agentrt
import agentrt.strategy
import agentrt.testing
import agentrt.testing.strategies
from agentrt import Action, CompoundAction, Context
from agentrt.tasks import TaskGroup, TaskGroupAction
from agentrt.testing import Simulation

DOCS = Path(__file__).resolve().parents[2] / "docs"
ABOUT_ACTIONS = "\n".join(
    (DOCS / name).read_text(encoding="utf-8")
    for name in (
        "how-to/chaos.md",
        "how-to/models.md",
        "how-to/packs.md",
        "how-to/testing.md",
        "reference/runtime.md",
        "tutorials/actions.md",
        "tutorials/plans.md",
        "tutorials/tasks.md",
    )
)
STRATEGIES = (DOCS / "tutorials" / "strategies.md").read_text(encoding="utf-8")


def public(cls):
    return [name for name in vars(cls) if not name.startswith("_")]


def missing(names, pattern):
    """The names that no page has in any form of the pattern, in which NAME stands for the name."""
    return [name for name in names if not re.search(pattern.replace("NAME", re.escape(name)), ABOUT_ACTIONS)]


FACADES = [agentrt, agentrt.testing, agentrt.testing.strategies]


@pytest.mark.parametrize("facade", FACADES, ids=lambda facade: facade.__name__)
def test_every_public_name_is_mentioned(facade):
    assert missing([name for name in facade.__all__ if name not in ("__compiled__", "__version__")], r"\bNAME\b") == []


def test_every_member_of_the_context_is_mentioned():
    assert missing(public(Context), r"ctx\.NAME\b") == []


def test_every_hook_is_mentioned():
    hooks = [name for cls in (Action, CompoundAction) for name in public(cls) if callable(getattr(cls, name))]
    assert "think" in hooks
    assert missing(hooks, r"`NAME`|def NAME\(self|class NAME\(") == []


def test_everything_that_a_class_can_declare_is_mentioned():
    inner = ("spec", "_declared_activity", "_spec_type", "tasks")
    kinds = (Action, CompoundAction, TaskGroupAction)
    declared = [name for cls in kinds for name in cls.__annotations__ if name not in inner]
    assert "utility" in declared
    assert missing(declared, r"`NAME\b|\bNAME = ") == []


class Works(TaskGroupAction):
    does = "demo:work"
    utility = 0.5
    tasks = [agentrt.tasks.declare_task("demo:dig", 0.5)]


def test_what_one_does_with_a_group_and_a_task_is_mentioned():
    group = ("add", "remove", "create_task", "extend", "declare_task", "waits", "owner")
    task = ("times", "once", "max_workers", "set_annotation", "set_source", "start", "pause", "destroy", "wait")
    told = ("notify_completed", "notify_interrupted", "notify_destroyed")
    works = TaskGroup(Works)
    for names, one in ((group, works), ((*task, *told), works.create_task("demo:dig"))):
        assert [name for name in names if not hasattr(one, name)] == []
        assert missing(names, r"\bNAME\b") == []


def test_every_member_of_a_simulation_is_mentioned():
    members = public(Simulation)
    assert "run_until_running" in members
    assert missing(members, r"\bNAME\b") == []


# --- strategies -------------------------------------------------------------------------------------------------------

WRITTEN = ("Ask", "Branch", "Opportunity", "Order", "Request", "Strategy", "StrategyContext", "Trigger")
"""Classes of which authors use every member."""

ON_GAMEPLAY = [
    "accuracy",
    "add_opportunity",
    "add_strategy",
    "add_trigger",
    "begin",
    "catalog",
    "changed",
    "changes",
    "corrects",
    "cost",
    "finished",
    "foreseen",
    "lookahead",
    "most_asks",
    "offers",
    "order",
    "params",
    "prepare_asks",
    "running",
    "set_params",
    "solve",
    "takes_options",
    "using",
]


def told(names, page=STRATEGIES):
    return [name for name in names if not re.search(rf"\b{re.escape(name)}\b", page)]


def test_every_name_about_strategies_is_mentioned():
    assert told(agentrt.strategy.__all__) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_every_member_that_authors_of_strategies_use_is_mentioned(name):
    cls = getattr(agentrt.strategy, name)
    inner = ("spec",)
    names = [one for one in (*vars(cls), *inspect.get_annotations(cls)) if not one.startswith("_")]
    assert names
    assert told([one for one in names if one not in inner]) == []


def test_what_one_does_with_a_gameplay_is_mentioned():
    gameplay = agentrt.Agent(agentrt.Entity("ann")).gameplay
    assert [name for name in ON_GAMEPLAY if name not in object.__dir__(gameplay)] == []
    assert told(ON_GAMEPLAY) == []
