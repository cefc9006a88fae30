"""``python -m agentrt_examples.minecraft``."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from agentrt_examples.minecraft.__main__ import main


def test_without_node_it_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(main, [])
    assert done.exit_code == 1
    assert done.output == ("Error: node is not installed: the real server needs Node.js 18 or later on the PATH\n")


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_it_collects_is_hurt_and_goes_on():
    done = subprocess.run(
        [sys.executable, "-m", "agentrt_examples.minecraft", "dirt", "1"],
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0].endswith("the bot stands at (0, 5, 0)")
    assert any(line.endswith("it carries 1 dirt") for line in said)
    assert any(line.endswith("it has 1 dirt") for line in said)
    assert "Collect [dirt, 1] - done" in said
