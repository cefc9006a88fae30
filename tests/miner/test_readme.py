"""The page of the miner prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from modules import load

PAGE = Path(__file__).resolve().parents[2] / "examples" / "worlds" / "agentrt_examples" / "miner" / "README.md"


@pytest.mark.slow
def test_the_code_prints_what_the_page_says():
    for block, expected, printed in load("tools/record_docs.py").run(PAGE):
        assert printed == expected, f"line {block.line}"
