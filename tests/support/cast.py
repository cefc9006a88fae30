"""The cast of the tests: those who merely have to be there, in any folder. What is special about a test stands in its file.

* ``Idle`` is what an agent does while there is nothing better: it runs, for very long, until somebody preempts it.
* ``careful`` makes actions that take their time to stop, ``caller`` one that runs what a test gives it; in ``Risky`` ones
  much goes wrong.
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

from agentrt import TOP, Action, Agent, CancelScope


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1000)


def careful(ticks, name, *, does=TOP, utility=0.1, runs=2000, cleaned=None, **hooks):
    """An action that runs for long; when it is stopped, its clean-up takes so many ticks, whatever cancels it.

    ``cleaned`` is called with its context when the clean-up is over.
    """

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(runs)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(ticks)
            if cleaned is not None:
                cleaned(ctx)

    return type(name, (Action,), {"does": does, "utility": utility, "run": run, **hooks})


def caller(play, body, *, utility=0.5, name="Caller", says="returned"):
    """An action whose run is the given coroutine function, framed by notes for the play, and goes on for long then."""

    async def run(self, ctx, args):
        try:
            await body(ctx)
            play.note(says)
        except BaseException as error:
            play.note(type(error).__name__)
            raise
        await ctx.sleep(1000)

    def stop(self, ctx, args):
        play.note(name, "stop")

    return type(name, (Action,), {"does": "top", "utility": utility, "run": run, "stop": stop})


class Risky(Action):
    """Takes a while, now and then goes wrong, and sometimes takes time to clean up. Say what it does."""

    utility = (0.1, 0.9)

    async def think(self, ctx, args):
        ctx.set_utility(ctx.random.below(5) / 4)
        await ctx.sleep_ticks(ctx.random.below(3))
        if ctx.random.below(8) == 0:
            ctx.reject("no spade")
        ctx.set_think_output()
        await ctx.sleep_ticks(1 + ctx.random.below(20))
        if ctx.random.below(2):
            ctx.clear_think_output()

    def start(self, ctx, args):
        if ctx.random.below(10) == 0:
            ctx.reject("the spade is taken")

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(ctx.random.below(6))
            if ctx.random.below(10) == 0:
                ctx.abort("stone")
            ctx.set_utility(ctx.random.below(5) / 4)
            await ctx.sleep_ticks(ctx.random.below(4))
        finally:
            if ctx.random.below(6) == 0:
                with CancelScope(shield=True):
                    await ctx.sleep_ticks(2)


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
    """What was logged, as pairs of a level and the text; not how long a loaded machine took."""
    caplog.set_level(logging.DEBUG, logger="agentrt")

    def lines():
        told = [(record.levelname, record.getMessage()) for record in caplog.records]
        return [(level, text) for level, text in told if " blocked the " not in text]

    return lines
