"""The dependency map in docs/tutorials/strategies.md is that of the miner's strategies."""

from __future__ import annotations

from pathlib import Path

import pytest
from modules import load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "strategies.md"


@pytest.fixture(scope="module")
def tool():
    return load("tools/strategies_diagram.py")


def test_the_page_shows_the_map(tool):
    text = PAGE.read_text(encoding="utf-8")
    assert tool.updated(text) == text, "run: python tools/strategies_diagram.py"


def test_a_page_without_its_place_is_refused(tool):
    with pytest.raises(ValueError, match="0 places for the picture"):
        tool.updated("# Nothing here\n")
