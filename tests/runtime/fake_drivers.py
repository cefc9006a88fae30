"""A driver that writes down what it is told, and what its tests share."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentrt import TOP, Action, Agent, CancelScope, Entity, sleep_ticks
from agentrt.body.driver import Routine


@dataclass(frozen=True)
class View:
    state: str

    def lines(self):
        return [f"it is {self.state}"]


class Fake:
    """A driver. ``raises`` names the hooks that fail; ``clean_up`` is how many ticks leaving takes."""

    def __init__(self, name="fake", rank=2, log=None, *, clean_up=None, raises=(), precedence=0, when=None):
        self.name = name
        self.rank = rank
        self.precedence = precedence
        self.log = [] if log is None else log
        self.clean_up = clean_up
        self.raises = raises
        self.when = when or {}
        self.body = None
        self.routine = None
        self.then = None

    def note(self, what):
        self.log.append((self.body.kernel.tick, self.body.name, self.name, what))
        if what in self.when:
            self.when[what](self)
        if what in self.raises:
            raise ValueError(what)

    def join(self, body):
        self.body = body
        self.note("join")

    def drive(self):
        self.note("drive")
        if self.clean_up is not None and self.routine is None:
            self.routine = Routine(self.body, self.name, "run", self.work(), self.ended)

    async def work(self):
        try:
            await sleep_ticks(1_000_000)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(self.clean_up)
                self.note("clean")

    def leave(self, reason, then):
        self.then = then
        if self.routine is not None:
            self.routine.stop(reason)
            self.note("leave")
        else:
            self.note("leave")
            then()

    def ended(self, routine):
        self.routine = None
        if self.then is not None:
            self.then()

    def strands(self):
        return [] if self.routine is None else [self.routine.strand]

    def view(self):
        return View("idle" if self.routine is None else "at work")


class Rest(Action):
    """A plan that does nothing."""

    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1_000_000)


class Fail(Action):
    """A plan by which the planner gives up after ten ticks."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.abort("no luck")


def being(name="ann", drivers=(), actions=(Rest,), **options):
    return Agent(Entity(name), actions=list(actions), drivers=drivers, **options)


def driven(log, since=0):
    """Who drove whom, tick for tick."""
    return [(tick, agent, name) for tick, agent, name, what in log if what == "drive" and tick >= since]


def at_phase(runtime, phase, fn):
    """Call a function in a phase of every tick."""
    if phase == "intake":

        def again():
            fn()
            runtime.post(again)

        runtime.post(again)
        runtime.every_tick(lambda: None)
    elif phase == "every tick":
        runtime.every_tick(fn)
    elif phase == "strands":

        async def world():
            while True:
                fn()
                await sleep_ticks(1)

        runtime.spawn(world)
    elif phase in ("publish", "between"):
        runtime.after_tick(fn)


def errors(logged):
    """What was logged as an error, in short."""
    return [re.search(r"\w+ raised \w+", text).group() for level, text in logged() if level == "ERROR"]


def faults(runtime):
    records = []
    runtime.trace.listen(lambda one: records.append(one) if one.event == "fault" else None)
    return lambda: [(one.agent, one.path, dict(one.detail)["hook"]) for one in records]
