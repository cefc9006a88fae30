"""The picture in docs/tutorials/selection.md is that of the files, and the page shows the files as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from modules import load

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorials" / "selection.md"


@pytest.fixture(scope="module")
def tool():
    return load("tools/selection_diagram.py")


def test_the_page_shows_the_tree(tool):
    text = PAGE.read_text(encoding="utf-8")
    assert tool.updated(text) == text, "run: python tools/selection_diagram.py"


def test_a_page_without_its_place_is_refused(tool):
    with pytest.raises(ValueError, match="0 places for the picture"):
        tool.updated("# Nothing here\n")
