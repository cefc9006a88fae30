from __future__ import annotations

import pytest
from lands import Land

from agentrt.record import schema


@pytest.fixture
def log():
    Land.log.clear()
    Land.scripts.clear()
    yield Land.log
    Land.scripts.clear()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Journals are gone on with without a pause to see whether somebody else is there."""
    monkeypatch.setattr(schema, "_KNOCKS", (0.0,))
