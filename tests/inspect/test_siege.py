"""A bit of the campaign of hostile clients; ``tools/inspector_campaign.py`` goes on for as long as one likes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from modules import load

campaigns = load("tools/inspector_campaign.py")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the besieged process looks there")
@pytest.mark.states(
    "tools: Inspector: Hostile clients run nothing, write nothing without controls, and reach nothing beside the "
    "world's folder: `tools/inspector_campaign.py`",
    source="design 10",
)
@pytest.mark.slow
def test_a_siege(monkeypatch):
    monkeypatch.setattr(sys, "path", [os.fspath(Path(__file__).parent), *sys.path])
    monkeypatch.setattr(campaigns, "IN_ONE_GO", 40)
    siege = campaigns.Siege(7, messages=400, floods=1)
    siege.run()
    assert list(siege.findings) == []
    counts = siege.counts
    assert (counts["messages"] > 250, counts["edits"], counts["requests"]) == (True, 40, 40)
    assert (counts["floods that were ended"], counts["connections that are none"]) == (1, 20)
    assert counts["edit: checked"] > 0
    assert counts["refused: bad_message"] > 50
    assert counts["refused: read_only"] > 5
