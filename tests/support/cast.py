"""The cast of the tests: those who merely have to be there, in any folder. What is special about a test stands in its file.

* ``Idle`` is what an agent does while there is nothing better: it runs, for very long, until somebody preempts it.
* ``QuietOwner`` owns strands that may end with an error: nobody reports it as a fault.
* ``Stranger`` holds control flags and is nobody whom an agent knows.
* ``SilentLogger`` takes everything; ``silence`` gives it to all agents of a test: their faults are in the trace.

Larger ones have files of their own beside this one: a crowd, a meadow, mines, crafts, pages of the inspector; ``hosts``
runs coroutine functions on each host; ``strands`` are good and bad ones for a bare kernel.
"""

from __future__ import annotations

import pytest

from agentrt import TOP, Action, Agent


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1000)


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
