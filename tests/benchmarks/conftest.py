"""Measuring thaws and collects all that there is; in a session of ten thousand tests that would take most of the time."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def little_garbage_in_each_test():
    gc.freeze()
