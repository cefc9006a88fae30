"""The tools that make the documentation, for the tests that compare."""

from __future__ import annotations

import pytest
from modules import load


@pytest.fixture(scope="session")
def record_docs():
    return load("tools/record_docs.py")


@pytest.fixture(scope="session")
def make_diagrams():
    return load("tools/make_diagrams.py")
