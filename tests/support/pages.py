"""Worlds and commands with an inspector, for tests that look at its page. Runtimes are stepped on threads of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

from agentrt import LOOK, TOP, Action, Agent, CompoundAction, Entity, Runtime, step
from agentrt.inspect import Inspector

HOSTILE = "<img src=x onerror=alert(1)><b>Mallory</b>"


class Eat(Action):
    does = "mod:eat"
    name = "eat"
    utility = 0.5
    flags = {LOOK}

    async def think(self, ctx, args):
        ctx.set_debug_progress("at the table by the window")
        ctx.set_think_output()

    async def run(self, ctx, args):
        ctx.get_debug_info_datastore()["dish"] = "soup"
        await ctx.sleep_ticks(6)


class Rest(Action):
    does = "mod:rest"
    name = "rest"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(4)


class Feast(Action):
    does = "mod:eat"
    name = "feast"
    utility = 0.9

    async def think(self, ctx, args):
        ctx.reject("nobody is invited")


class Live(CompoundAction):
    does = TOP
    name = "live"
    utility = 0.4
    steps = [step("mod:eat"), step("mod:rest")]


def make_village(names=("Ann", "Bob", "Cyd"), seed=3):
    runtime = Runtime(seed, host="plain")
    for name in names:
        runtime.add(Agent(Entity("cat" if name == "Cyd" else "human", name=name), actions=[Live, Eat, Feast, Rest]))
    return runtime


@contextmanager
def inspected(runtime, **options):
    """A runtime that is driven on a thread of its own, with an inspector; gives the inspector."""
    ends = threading.Event()
    options.setdefault("port", 0)

    def drive():
        while not ends.is_set():
            runtime.step()
            ends.wait(0.01)

    with Inspector(runtime, **options) as inspector:
        driver = threading.Thread(target=drive, name="the world's own")
        driver.start()
        try:
            yield inspector
        finally:
            ends.set()
            driver.join()
    runtime.close()


@contextmanager
def command(*words):
    """``agentrt`` with these words as a process of its own, ended as by Ctrl-C; gives the address of its page."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agentrt.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        found = re.match(r"http://\S+", process.stdout.readline())
        assert found is not None, process.stderr.read()
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=100)
    assert process.returncode == 0, said


def fits(page, size):
    """Give the page a size; when it has taken it up, nothing may stick out at the right."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_function("width => document.documentElement.scrollWidth === width", arg=size[0])


def expect(found):
    """Playwright's, imported where there is one."""
    from playwright.sync_api import expect

    return expect(found)
