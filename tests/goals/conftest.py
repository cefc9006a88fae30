"""The stage of this folder's tests, and agents on each host.

However a test leaves the stage, every goal that was started is stopped, and nothing is left.
"""

from __future__ import annotations

import pytest
from modules import load
from players import play, play_loop  # noqa: F401 - fixtures


@pytest.fixture
def stage():
    stage = load("tests/goals/worlds.py").Stage()
    yield stage
    stage.close()
