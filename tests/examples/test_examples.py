"""The numbered examples do what their recorded output says, and stay short.

After a change that is meant, record again: ``python examples/NN_name.py > examples/NN_name.out``.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("[0-9][0-9]_*.py"))


def recorded(path):
    return path.with_suffix(".out").read_text(encoding="utf-8")


def test_there_are_fourteen():
    assert [path.stem for path in EXAMPLES] == [
        "01_one_action",
        "02_utility_and_preemption",
        "03_compound",
        "04_packs_and_leases",
        "05_server",
        "06_task_groups",
        "07_goal_selector",
        "08_behavior_tree",
        "09_selection_tree",
        "10_four_models",
        "11_record_and_replay",
        "12_inspector",
        "13_strategies",
        "14_interruption",
    ]


@pytest.mark.states("002: S02, 1: The tree is declared statically, in a single block that shows its structure ...")
@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_was_recorded(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out == recorded(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_fewer_than_eighty_lines_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert text.startswith('"""')


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES[3:], ids=lambda path: path.stem)
def test_an_example_runs_as_a_program_with_every_warning_an_error(path):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    # How long a step took says something about the machine only; asyncio's debug mode logs what is slow, and so do we.
    slow = (
        r"Executing <.*> took [\d.]+ seconds|.* (blocked the \w+( loop)?|hangs: it has kept the thread) for [\d.]+ s .*"
    )
    said = [line for line in done.stderr.splitlines() if not re.fullmatch(slow, line)]
    assert (done.returncode, said, done.stdout) == (0, [], recorded(path))
