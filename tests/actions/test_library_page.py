"""docs/reference/library.md says what the actions and packs say: one row for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from modules import load

import agentrt_actions
import agentrt_packs

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "library.md"


@pytest.fixture(scope="module")
def library_tables():
    return load("tools/library_tables.py")


def test_the_page_is_what_the_tool_would_write(library_tables):
    text = PAGE.read_text(encoding="utf-8")
    assert library_tables.updated(text) == text, "run: python tools/library_tables.py"


def test_every_action_pack_group_and_observer_has_a_row(library_tables):
    tables = library_tables.tables()
    actions = [alias for alias in agentrt_actions.manifest.aliases if alias.startswith("actions:")]
    others = [alias for alias in agentrt_actions.manifest.aliases if not alias.startswith("actions:")]
    assert len(tables["actions"]) == 2 + len(actions)
    assert len(tables["packs"]) == 2 + len(agentrt_packs.manifest.aliases)
    assert [row.split("`")[1] for row in tables["groups"][2:]] == sorted(
        (f"agentrt:{alias}" for alias in others), key=lambda alias: (not alias.startswith("agentrt:task"), alias)
    )


def test_needs_are_read_through_functions_and_steps(library_tables):
    rows = {row.split("`")[3]: row for row in library_tables.tables()["actions"][2:]}
    assert "| `Carrier` | `carrying` |" in rows["PutDown"]
    assert "| `Located`, `Mover`, `PathFinder` | `movement` |" in rows["GotoEntity"]
    assert "`Surveyor` (if any)" in rows["FindEntity"]
    assert "| - | `core` |" in rows["Wait"]


def test_a_page_without_its_place_is_refused(library_tables):
    with pytest.raises(ValueError, match="0 places for the table 'actions'"):
        library_tables.updated("# Nothing here\n")
