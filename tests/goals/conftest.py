"""The stage of this folder's tests, and agents on each host.

However a test leaves the stage, every goal that was started is stopped, and nothing is left.
"""

from __future__ import annotations

import pytest
from modules import load

hosts = load("tests/runtime/conftest.py")

play = pytest.fixture(params=hosts.HOSTS, name="play")(hosts._player)
play_loop = pytest.fixture(params=("asyncio", "trio"), name="play_loop")(hosts._player)


@pytest.fixture
def stage():
    stage = load("tests/goals/worlds.py").Stage()
    yield stage
    stage.close()
