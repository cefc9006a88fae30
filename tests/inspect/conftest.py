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
    watched.source.detach()
