"""The state diagrams in docs/explanation/architecture.md are those of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "architecture.md"


def test_the_page_shows_the_tables(make_diagrams):
    text = PAGE.read_text(encoding="utf-8")
    assert make_diagrams.updated(text) == text, "run: python tools/make_diagrams.py"


def test_a_table_is_drawn_in_its_order(make_diagrams):
    assert make_diagrams.diagram({0: (1,), 1: (0, 2), 2: ()}, ("idle", "busy", "gone")) == (
        "```mermaid\nstateDiagram-v2\n    [*] --> idle\n    idle --> busy\n    busy --> idle\n    busy --> gone\n```"
    )


def test_a_page_without_its_place_is_refused(make_diagrams):
    with pytest.raises(ValueError, match="0 places for the diagram 'states of a unit'"):
        make_diagrams.updated("# Nothing here\n")
