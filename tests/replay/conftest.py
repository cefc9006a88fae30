"""Recordings of a yard, and nobody who may call the outside any more once they are made."""

from __future__ import annotations

import math

import pytest
from modules import load
from players import asyncio_player, play  # noqa: F401 - fixtures

from agentrt.record.recording import Recording

yard = load("tests/replay/yard.py")


@pytest.fixture(autouse=True)
def outside():
    yard.outside.calls = 0
    yard.outside.shut = False
    yield yard.outside
    yard.outside.shut = False


@pytest.fixture
def record(tmp_path):
    """Records a run of a yard; from then on the outside is shut."""
    made = []

    def record(make=None, ticks=40, *, host="plain", between=None, seed=3, speed=math.inf, **options):
        path = tmp_path / f"run{len(made)}.sqlite"
        runtime = (make or yard.Yard())(seed=seed, host=host)
        runtime.record(path, **options)
        yard.drive(runtime, ticks, between=between, speed=speed)
        recording = Recording.open(path)
        made.append(recording)
        yard.outside.shut = True
        return recording

    yield record
    for recording in made:
        recording.close()
