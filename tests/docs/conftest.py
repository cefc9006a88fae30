"""The tools that make the documentation, for the tests that compare."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load_tool(name):
    """A script of tools/ as a module; it is no package."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def record_docs():
    return load_tool("record_docs")


@pytest.fixture(scope="session")
def make_diagrams():
    return load_tool("make_diagrams")
