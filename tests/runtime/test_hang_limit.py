"""An agent that hangs costs its neighbors no tick: ``hang_limit`` ends the step, in every hook, on every host.

This is the one place where a test takes real time, a tenth of a second for each step that is ended.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from agentrt import TOP, Action, Agent, Entity, Runtime, Signal
from agentrt.errors import LivelockError
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import next_tick

LIMIT = 0.1
TICKS = 4


def computes():
    while True:
        sum(range(50))


async def at_once():
    pass


class Once:
    """Computes for ever, the first time that it is asked to."""

    def __init__(self, kind):
        self.kind = kind

    def hang(self, kind):
        if self.kind == kind:
            self.kind = ""
            computes()


class Bad(Action):
    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        ctx.entity.once.hang("think")
        ctx.set_think_output()

    def start(self, ctx, args):
        ctx.entity.once.hang("start")

    async def run(self, ctx, args):
        once = ctx.entity.once
        await ctx.next_tick()
        once.hang("run")
        if once.kind == "waits":
            once.kind = ""
            while True:
                await at_once()
        if once.kind == "signals":
            once.kind = ""
            never = Signal()
            while True:
                never.emit()
        if once.kind == "swallows":
            once.kind = ""
            while True:
                try:
                    sum(range(50))
                except Exception:
                    pass
        if once.kind == "blocks":
            once.kind = ""
            time.sleep(1000)  # noqa: ASYNC251
        if once.kind == "clean_up":
            try:
                await ctx.next_tick()
                ctx.abort("enough")
            finally:
                once.hang("clean_up")
        if once.kind == "stop":
            await ctx.next_tick()
            ctx.abort("enough")
        await ctx.sleep_ticks(100)

    def stop(self, ctx, args):
        ctx.entity.once.hang("stop")


class Good(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        while True:
            ctx.entity.diary.append(ctx.clock.tick)
            await ctx.next_tick()


class HangsInTick(Goal):
    def __init__(self, once):
        self.once = once

    def can_use(self):
        return True

    def tick(self):
        self.once.hang("goal")


class Being(Entity):
    def __init__(self, name, kind=""):
        super().__init__(name)
        self.diary = []
        self.once = Once(kind)


def town(runtime, kind):
    """A bad agent between two good ones; returns the diaries of the good."""
    beings = [Being("one"), Being("bad", kind), Being("two")]
    selector = GoalSelector()
    selector.add_goal(1, HangsInTick(beings[1].once))
    runtime.add(Agent(beings[0], name="one", actions=[Good]))
    runtime.add(Agent(beings[1], name="bad", actions=[Bad], drivers=[selector]))
    runtime.add(Agent(beings[2], name="two", actions=[Good]))
    once = beings[1].once
    if kind == "every_tick":
        runtime.every_tick(lambda: once.hang(kind))
    if kind == "after_tick":
        runtime.after_tick(lambda: once.hang(kind))
    if kind == "posted":
        runtime.post(once.hang, kind)
    if kind == "listener":
        rings = Signal()
        rings.connect(lambda _: once.hang(kind))
        runtime.post(rings.emit)
    if kind == "spawned":

        async def hangs():
            await next_tick()
            once.hang(kind)

        runtime.spawn(hangs)
    return beings[0].diary, beings[2].diary


KINDS = [
    "think", "start", "run", "waits", "signals", "swallows", "blocks", "clean_up", "stop", "goal", "every_tick",
    "after_tick", "posted", "listener", "spawned",
]  # fmt: skip


@pytest.mark.states(
    "tools: Hang: `hang_limit` ends it alone, in each hook and on each host; the neighbors lose no tick",
    source="design 12",
)
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hung_agent_costs_its_neighbors_no_tick(play, kind, capsys):
    runtime = play.runtime(hang_limit=LIMIT)
    faults, records = [], []
    runtime.on_fault(lambda fault: faults.append(fault))
    runtime.trace.listen(lambda record: records.append(record))
    diaries = town(runtime, kind)
    play.ticks(runtime, TICKS)
    assert diaries == (list(range(1, TICKS + 1)), list(range(1, TICKS + 1)))
    assert [type(fault.error) for fault in faults] == [LivelockError]
    error = faults[0].error
    assert __file__ in error.path
    assert "hang_limit" in str(error)
    if kind not in ("every_tick", "after_tick", "posted", "listener", "spawned"):
        assert faults[0].agent == error.agent == "bad"
    told = [dict(record.detail) for record in records if record.event is TraceEvent.FAULT]
    assert any(one.get("text") == "a step was ended by hang_limit" for one in told)


@pytest.mark.states("tools: Hang: `hang_limit` ends it alone, in each hook and on each host; the neighbors lose no ...")
@pytest.mark.skipif(
    sys.version_info < (3, 12) and threading.gettrace() is not None,
    reason="under a tracer Python 3.11 might freeze, so nothing is sent into another thread",
)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "start", "goal", "swallows", "signals"])
def test_also_outside_of_the_main_thread(play, kind):
    runtime = play.runtime(hang_limit=LIMIT)
    faults = []
    runtime.on_fault(lambda fault: faults.append(type(fault.error)))
    diaries = town(runtime, kind)
    thread = threading.Thread(target=lambda: play.ticks(runtime, TICKS))
    thread.start()
    thread.join(100)
    assert diaries == (list(range(1, TICKS + 1)), list(range(1, TICKS + 1)))
    assert faults == [LivelockError]


@pytest.mark.states("tools: Hang: A step that does not end is seen while it lasts, with agent, path, file and line ...")
def test_under_step_it_is_told_while_it_hangs(plain, capsys, caplog, monkeypatch):
    """To the log and to standard error, with agent, path, file and line, before anything else happens."""
    told = threading.Event()

    class Blocks(Bad):
        async def run(self, ctx, args):
            assert told.wait(100)  # the line
            await ctx.sleep_ticks(100)

    runtime = plain.runtime()
    monkeypatch.setattr(runtime._conductor.watch, "hanging", 0.05)
    report = runtime._reporting.report_step
    monkeypatch.setattr(runtime._conductor.watch, "_told", lambda what: (report(what), told.set()))
    runtime.add(Agent(Being("bad"), name="Ann", actions=[Blocks]))
    runtime.step()
    runtime.step()
    runtime.close()
    out = capsys.readouterr().err
    assert out.count("hangs: it has kept the thread") == 1
    assert "of agent 'Ann' at 'agentrt:top/Blocks' hangs" in out
    assert f"at {__file__}:" in out
    assert sum("hangs: it has kept the thread" in record.getMessage() for record in caplog.records) == 1


@pytest.mark.parametrize("limit", [0, -1, math.inf, math.nan, True, "1"])
def test_a_limit_is_a_number_of_seconds(limit):
    with pytest.raises(ValueError, match="hang_limit"):
        Runtime(hang_limit=limit)


def test_nobody_is_ended_if_not_asked_to(plain):
    assert plain.runtime()._conductor.watch.limit is None


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

HANGS = """
import sys
from agentrt import TOP, Action, Agent, Entity, Runtime

host, kind = sys.argv[1:3]


class Bad(Action):
    does = TOP
    utility = 0.5

    def start(self, ctx, args):
        if kind == "start":
            self.hang()

    async def run(self, ctx, args):
        await ctx.next_tick()
        self.hang()

    def hang(self):
        print("hangs", flush=True)
        while True:
            try:
                sum(range(50))
            except Exception:
                pass

    def stop(self, ctx, args):
        print("stopped", flush=True)


runtime = Runtime(host=host)
runtime.add(Agent(Entity("bad"), name="bad", actions=[Bad]))


def play():
    if host == "plain":
        while True:
            runtime.step()
    elif host == "asyncio":
        import asyncio

        asyncio.run(runtime.run(blocking_ms=None))
    else:
        import trio

        trio.run(runtime.run)
"""

DEMO = """
from agentrt.cli import __main__ as _
from agentrt.cli import main, commands


class World:
    name = "hanging"
    summary = "It hangs."

    def make(self, seed=0):
        return runtime

    def run_headless(self, **_options):
        play()

    run_live = run_headless


commands.world_called = lambda name: World()
sys.argv = ["agentrt", "demo", "hanging", "--headless"]
main()
"""


def interrupted(code, *args):
    """Run a program that hangs, press Ctrl-C once, and return its status and what it wrote."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "hangs\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=100)
        finally:
            process.kill()
    return process.returncode, out, err


@pytest.mark.states("tools: Hang: One Ctrl-C ends a program that hangs", source="design 12 (ours)")
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there, Ctrl-C is no signal that can be sent")
@pytest.mark.parametrize("kind", ["run", "start"])
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_one_interrupt_ends_a_program_that_hangs(host, kind):
    status, _, err = interrupted(textwrap.dedent(HANGS) + "\nplay()\n", host, kind)
    assert status in (1, -signal.SIGINT, 130), err
    assert "KeyboardInterrupt" in err


@pytest.mark.states("tools: Hang: One Ctrl-C ends a program that hangs ...")
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there, Ctrl-C is no signal that can be sent")
@pytest.mark.parametrize("host", ["plain", "asyncio"])
def test_one_interrupt_ends_a_demo_that_hangs(host):
    status, _, err = interrupted(HANGS + DEMO, host, "run")
    assert status != 0, err
    assert "hangs" not in err or "Traceback" not in err
