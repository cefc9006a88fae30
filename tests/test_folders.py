"""Which files below a folder are its author's: one rule for checks of packs, of trees and of projects, and for reload."""

from __future__ import annotations

import pytest

from agentrt.errors import InvalidPackError
from agentrt.folders import files_below, is_below
from agentrt.packs.closure import find_files
from agentrt.selection.library import check_path

SHOWN = ("a.json", "dist/b.json", "game/build/c.JSON", "game/sites/d.json")
PASSED = (
    ".a.json", ".venv/b.json", "build/lib/c.json", "game/__pycache__/d.json", "node_modules/x/e.json",
    "venv/lib/python3/site-packages/f.json",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name in (*SHOWN, *PASSED, "a.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    (tmp_path / "dist/b.json").unlink()
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def test_what_tools_and_builds_have_left_is_passed_over(folder):
    shown = [name for name in SHOWN if not name.startswith("dist")]
    assert [file.relative_to(folder).as_posix() for file in files_below(folder, ".json")] == shown
    assert [name for name in (*SHOWN, *PASSED) if is_below(folder, folder / name)] == shown
    assert not is_below(folder / "game", folder / "a.json")
    assert not is_below(folder, folder)


def test_a_build_lies_beside_a_project(folder):
    (folder / "pyproject.toml").unlink()
    assert is_below(folder, folder / "build/lib/c.json")
    assert is_below(folder, folder / "dist/b.json")  # whether it is there or not


def test_packs_and_trees_are_found_by_this_rule(folder):
    assert [file.name for file in find_files([folder])] == ["a.json", "c.JSON", "d.json"]
    assert find_files([folder / ".a.json"]) == (folder / ".a.json",)  # what is named is meant
    for file in files_below(folder, ".json"):
        file.unlink()
    with pytest.raises(InvalidPackError, match="there is no"):
        find_files([folder])
    (folder / ".venv" / "tree.xml").write_text("<broken")
    assert [problem.text for problem in check_path(folder).problems] == [
        "there is no *.xml file in this folder. Name the folder of the trees."
    ]
