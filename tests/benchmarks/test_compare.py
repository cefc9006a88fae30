"""Two commits in turn: who begins changes, a row that one of them lacks is said, and the other tree goes again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks.compare import Compared, checked_out, compare_row, comparison
from benchmarks.rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
WAKE = ROWS[0]


def test_who_begins_changes_with_each_turn(monkeypatch):
    here, there, order = Path("here"), Path("there"), []

    def measure(name, size, tree):
        order.append(tree.name)
        return 1.0 if tree is here else 2.0

    monkeypatch.setattr(compare, "_measure", measure)
    found = compare_row(WAKE, WAKE.quick, here, there, 3)
    assert order == ["there", "here", "here", "there", "there", "here"]
    assert (found.here, found.there, found.best, found.middle) == ([1.0] * 3, [2.0] * 3, 0.5, 0.5)


def test_the_best_turns_and_the_median_of_neighbors():
    found = Compared("wake", [3.0, 1.0, 4.0], [2.0, 2.0, 2.0])
    assert (found.best, found.middle) == (0.5, 1.5)
    assert comparison([found, Compared("new", absent="no row is called new there")], "abc") == (
        "row                    best turns  median   of abc\n"
        "wake                      0.500 x  1.500 x\n"
        "new                    no row is called new there"
    )


@pytest.fixture
def repository(tmp_path):
    """A repository of which the first commit has a row that fails."""
    root = tmp_path / "project"
    (root / "benchmarks" / "rows").mkdir(parents=True)
    (root / "benchmarks" / "__init__.py").touch()
    (root / "benchmarks" / "rows" / "__init__.py").write_text("raise RuntimeError('too old')\n")

    def git(*words):
        subprocess.run(["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return root


@pytest.mark.slow
def test_a_tree_is_checked_out_and_goes_again(repository):
    with checked_out(repository, "HEAD") as tree:
        assert (tree / "benchmarks" / "rows" / "__init__.py").exists()
        found = compare_row(WAKE, WAKE.quick, ROOT, tree, 1)
    assert not tree.exists()
    assert "it failed in tree" in found.absent
    listed = subprocess.run(
        ["git", "-C", str(repository), "worktree", "list"], capture_output=True, text=True, check=True
    )
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.slow
def test_one_tree_beside_itself():
    found = compare_row(WAKE, WAKE.quick, ROOT, ROOT, 2)
    assert found.absent is None
    assert found.best > 0
