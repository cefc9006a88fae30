"""The guide leaves nothing out: every name of the façades, every hook, every method of the context."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import agentrt
import agentrt.testing
from agentrt import Action, CompoundAction, Context
from agentrt.testing import Simulation

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")


def public(cls):
    return [name for name in vars(cls) if not name.startswith("_")]


def missing(names, pattern):
    """The names that the guide does not have in any form of the pattern, in which NAME stands for the name."""
    return [name for name in names if not re.search(pattern.replace("NAME", re.escape(name)), GUIDE)]


@pytest.mark.parametrize("facade", [agentrt, agentrt.testing], ids=lambda facade: facade.__name__)
def test_every_public_name_is_mentioned(facade):
    assert missing([name for name in facade.__all__ if name != "__version__"], r"\bNAME\b") == []


def test_every_member_of_the_context_is_mentioned():
    assert missing(public(Context), r"ctx\.NAME\b") == []


def test_every_hook_is_mentioned():
    hooks = [name for cls in (Action, CompoundAction) for name in public(cls) if callable(getattr(cls, name))]
    assert "think" in hooks
    assert missing(hooks, r"`NAME`|def NAME\(self|class NAME\(") == []


def test_everything_that_a_class_can_declare_is_mentioned():
    declared = [name for cls in (Action, CompoundAction) for name in cls.__annotations__ if name != "spec"]
    assert "utility" in declared
    assert missing(declared, r"`NAME\b|\bNAME = ") == []


def test_every_member_of_a_simulation_is_mentioned():
    assert missing(public(Simulation), r"\bNAME\b") == []
