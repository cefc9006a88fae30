"""The guide and the page on tasks leave nothing out: every name of the façades, every hook, every method of the context."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import agentrt
import agentrt.testing
import agentrt.testing.strategies
from agentrt import Action, CompoundAction, Context, Task, TaskGroup, TaskGroupAction
from agentrt.testing import Simulation
from agentrt.testing.until import Waiting

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = "\n".join(
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("chaos.md", "guide.md", "models.md", "packs.md", "tasks.md", "testing.md")
)


def public(cls):
    return [name for name in vars(cls) if not name.startswith("_")]


def missing(names, pattern):
    """The names that the guide does not have in any form of the pattern, in which NAME stands for the name."""
    return [name for name in names if not re.search(pattern.replace("NAME", re.escape(name)), GUIDE)]


FACADES = [agentrt, agentrt.testing, agentrt.testing.strategies]


@pytest.mark.parametrize("facade", FACADES, ids=lambda facade: facade.__name__)
def test_every_public_name_is_mentioned(facade):
    assert missing([name for name in facade.__all__ if name != "__version__"], r"\bNAME\b") == []


def test_every_member_of_the_context_is_mentioned():
    assert missing(public(Context), r"ctx\.NAME\b") == []


def test_every_hook_is_mentioned():
    hooks = [name for cls in (Action, CompoundAction) for name in public(cls) if callable(getattr(cls, name))]
    assert "think" in hooks
    assert missing(hooks, r"`NAME`|def NAME\(self|class NAME\(") == []


def test_everything_that_a_class_can_declare_is_mentioned():
    inner = ("spec", "_spec_type", "tasks")
    kinds = (Action, CompoundAction, TaskGroupAction)
    declared = [name for cls in kinds for name in cls.__annotations__ if name not in inner]
    assert "utility" in declared
    assert missing(declared, r"`NAME\b|\bNAME = ") == []


def test_what_one_does_with_a_group_and_a_task_is_mentioned():
    group = ("add", "remove", "create_task", "extend", "declare_task", "waits", "owner")
    task = ("times", "once", "max_workers", "set_annotation", "set_source", "start", "pause", "destroy", "wait")
    told = ("notify_completed", "notify_interrupted", "notify_destroyed")
    for names, cls in ((group, TaskGroup), ((*task, *told), Task)):
        assert [name for name in names if not hasattr(cls, name) and name != "owner"] == []
        assert missing(names, r"\bNAME\b") == []


def test_every_member_of_a_simulation_is_mentioned():
    members = [name for cls in (Simulation, Waiting) for name in public(cls)]
    assert "run_until_running" in members
    assert missing(members, r"\bNAME\b") == []
