"""Agents with behavior trees on each host, as the tests of the runtime have them."""

from __future__ import annotations

import pytest
from modules import load

hosts = load("tests/runtime/conftest.py")

logged = hosts.logged
play = pytest.fixture(params=hosts.HOSTS, name="play")(hosts._player)
play_loop = pytest.fixture(params=("asyncio", "trio"), name="play_loop")(hosts._player)
