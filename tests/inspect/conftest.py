"""A small world that is looked at; see ``village``."""

from __future__ import annotations

import pytest
from modules import load

of = load("tests/inspect/village.py")


@pytest.fixture
def village():
    runtime = of.make_village()
    yield runtime
    runtime.close()


@pytest.fixture
def watched(village):
    watched = of.Watched(village)
    yield watched
    watched.close()


@pytest.fixture
def keeping(village):
    """The same, and its last 40 ticks are kept."""
    keeping = of.Watched(village, past=40)
    yield keeping
    keeping.close()
