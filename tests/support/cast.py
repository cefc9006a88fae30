"""The cast of the tests: those who merely have to be there, in any folder. What is special about a test stands in its file.

* ``Idle`` is what an agent does while there is nothing better: it runs, for very long, until somebody preempts it.
* ``Being`` is an entity with a diary, into which its actions write.
* ``QuietOwner`` owns strands that may end with an error: nobody reports it as a fault.
* ``Stranger`` holds control flags and is nobody whom an agent knows.
* ``SilentLogger`` takes everything; ``silence`` gives it to all agents of a test: their faults are in the trace.
* ``logged`` is what the library has logged in a test.

Larger ones have files of their own beside this one: a crowd, a meadow, mines, crafts, pages of the inspector; ``players``
run coroutine functions on each host; ``strands`` are good and bad ones for a bare kernel.
"""

from __future__ import annotations

import logging

import pytest

from agentrt import TOP, Action, Agent


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1000)


class Being:
    """An entity with a diary: tuples of a tick and words."""

    def __init__(self, name="being"):
        self.name = name
        self.diary = []


class QuietOwner:
    def on_strand_end(self, strand, result, error):
        pass


class Stranger:
    flag_name = "a stranger"
    runs_for = None
    precedence = 0
    is_interruptible = True

    def give_way(self, flag, claimant):
        raise AssertionError

    def flags_granted(self):
        raise AssertionError


class SilentLogger:
    def __getattr__(self, name):
        return lambda *args, **kwargs: None


@pytest.fixture
def silence(monkeypatch):
    """What is reported is in the trace; formatting a thousand tracebacks is not what is tested."""
    monkeypatch.setattr(Agent, "logger", lambda self, path: SilentLogger())


@pytest.fixture
def logged(caplog):
    """What was logged, as pairs of a level and the first line of the text; not how long a loaded machine took."""
    caplog.set_level(logging.DEBUG, logger="agentrt")

    def lines():
        told = [(record.levelname, record.getMessage().splitlines()[0]) for record in caplog.records]
        return [(level, text) for level, text in told if "blocked the event loop" not in text]

    return lines
