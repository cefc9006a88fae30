"""Recordings that are closed at the end of a test."""

from __future__ import annotations

import logging

import pytest

from agentrt.record.recording import Recording


@pytest.fixture
def opened():
    """Opens recordings: ``opened(path)``."""
    made = []

    def opened(path, **options):
        recording = Recording.open(path, **options)
        made.append(recording)
        return recording

    yield opened
    for recording in made:
        recording.close()


@pytest.fixture
def logged(caplog):
    """What was logged: the first line of each text."""
    caplog.set_level(logging.DEBUG, logger="agentrt")
    return lambda: [record.getMessage().splitlines()[0] for record in caplog.records]
