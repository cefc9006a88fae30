"""What all tests share: hypothesis settings, a quick garbage collector, and where the data is.

Tests are deterministic: hypothesis draws the same examples in every run (``make test ARGS=--hypothesis-profile=search``
looks for new ones), and has no deadline, because a loaded machine is no bug.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]  # for the tests of our own plugin

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell starts a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "gate",
    derandomize=True,
    deadline=None,
    max_examples=70,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile("gate")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is collected here is garbage, and nothing of it need be looked at later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


_traced = set()


def _repeats(item) -> bool:
    """Whether a test covers hardly what others do not: it is marked so, draws examples, or has other parameters."""
    if item.get_closest_marker("untraced") is not None or getattr(item.obj, "is_hypothesis_test", False):
        return True
    if item.path.parent.name == "hosts":  # what they are for is the parameter
        return False
    name = item.nodeid.partition("[")[0]
    was_there = name in _traced
    _traced.add(name)
    return was_there


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test that repeats others is not traced: the gate says what the others cover.

    Who switches a tracer off switches it on: it counts the calls that it hears of.
    """
    tracer = sys.gettrace()
    if tracer is None or not _repeats(item):
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_unconfigure():
    """Whoever runs a part of the gate hears that it came to its end: code that is tested may end the process, with 0."""
    if finished := os.environ.get("AGENTRT_FINISHED"):
        Path(finished).touch()


def pytest_runtest_setup(item):
    if item.get_closest_marker("checkout") and os.environ.get("AGENTRT_COMPILED"):
        pytest.skip("an installed wheel is tested, and this shows what holds in a checkout")


@pytest.fixture(scope="module", autouse=True)
def little_garbage():
    """What is there before a module's tests is no garbage: not looking at it makes the collector quick.

    Ten thousand collected tests and their reports are a million objects, which each full collection would visit.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def ace_packs(root: Path) -> Path:
    """17 packs of a large mod, written by people who never saw this project."""
    return root / "tests" / "data" / "ace_packs"
