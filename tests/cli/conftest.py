"""What the tests of commands share: no machine is so slow that a command says how far it has come."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentrt.cli import groups


@pytest.fixture(autouse=True)
def no_progress(monkeypatch):
    """That takes a second of real time; a test that is about it has a clock of its own."""
    monkeypatch.setattr(groups, "time", SimpleNamespace(monotonic=lambda: 0.0))
