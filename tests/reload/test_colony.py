"""A running colony is edited two hundred times at random ticks: no fault, no leak, and its people go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import agentrt_examples

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_a_colony_that_is_edited_two_hundred_times_goes_on(tmp_path, seed):
    shutil.copytree(
        Path(agentrt_examples.__file__).parent,
        tmp_path / "agentrt_examples",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    done = subprocess.run(
        [sys.executable, str(HERE / "edited_colony.py"), "200", str(seed)],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["faults"] == []
    assert result["refused"] == []
    assert result["broken"] == result["kinds"]["broken"] + result["kinds"]["broken pack"]
    assert min(result["kinds"].values()) > 5
    assert result["took"] > 200
    assert result["agents"] > 15
    assert result["ran_since"] > 10
    (specs, types, modules), *_, (specs_at_end, types_at_end, modules_at_end) = result["sizes"]
    assert modules_at_end == modules
    # What runs just now keeps what it was made of.
    assert types_at_end <= types + 10
    assert specs_at_end <= specs + 20
