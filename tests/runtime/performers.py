"""What is performed, and from where: actions that keep a diary, drivers and worlds that perform them.

Whatever happens, each ``start`` has its ``stop``, nobody holds a flag afterwards, and nothing is left to run: ``check``.
"""

from __future__ import annotations

import re

import pytest

from agentrt import (
    LOOK,
    MOVE,
    TOP,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    CompoundAction,
    Entity,
    Manifest,
    Registry,
    ThinkOutput,
    step,
)
from agentrt.body.driver import Routine
from agentrt.errors import ActivityAbortedError, ActivityImpossibleError, ArgumentError, NotRunningError
from agentrt.testing import Simulation, check_trace


class Told(Action):
    """Writes down each hook. ``runs``, ``thinks`` and ``cleans`` are numbers of ticks."""

    does = TOP
    utility = 0.5
    thinks = 0
    runs = 1
    cleans = 0

    def write(self, ctx, word):
        ctx.entity.diary.append((ctx.clock.tick, type(self).__name__, word))

    def start(self, ctx, args):
        self.write(ctx, "start")

    async def run(self, ctx, args):
        self.write(ctx, "run")
        try:
            await ctx.sleep_ticks(self.runs)
            self.write(ctx, "done")
        finally:
            if self.cleans:
                with CancelScope(shield=True):
                    await ctx.sleep_ticks(self.cleans)

    def stop(self, ctx, args):
        self.write(ctx, "stop")


class Rest(Told):
    """The plan: it has nothing to do with anything."""

    utility = 0.1
    runs = 1_000_000


class Walk(Told):
    does = "walk"
    runs = 2
    flags = {MOVE}


class Watch(Told):
    does = "watch"
    runs = 3
    flags = {LOOK}


class Find(Told):
    does = "find"
    runs = 1

    class Args(ActionArgs):
        what: str = "ball"

    class Output(ThinkOutput):
        found: str

    async def think(self, ctx, args):
        await ctx.sleep_ticks(1)
        ctx.set_think_output(found=f"the {args.what}")
        await ctx.sleep_ticks(1_000_000)


class Fetch(CompoundAction):
    does = "fetch"
    utility = 0.5
    steps = [step("walk"), step("watch")]

    def start(self, ctx, args):
        Told.write(self, ctx, "start")

    def stop(self, ctx, args):
        Told.write(self, ctx, "stop")


class Patrol(Fetch):
    """Holds on to the legs for as long as it takes."""

    does = "patrol"
    flags = {MOVE}
    steps = [step("watch"), step("walk")]


class Failing(Told):
    does = "fail"
    flags = {MOVE}

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)
        raise ValueError("no")


class Aborting(Told):
    does = "abort"

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)
        ctx.abort("stumbled")


class Refusing(Told):
    does = "refuse"

    def start(self, ctx, args):
        super().start(ctx, args)
        ctx.reject("not today")


KNOWN = (Rest, Walk, Watch, Find, Fetch, Patrol, Failing, Aborting, Refusing)


class Person(Entity):
    def __init__(self, name="ann"):
        super().__init__(name)
        self.diary = []


def being(actions=KNOWN, **options):
    return Agent(Person(), actions=list(actions), **options)


def words(agent, *names):
    return [(tick, name, word) for tick, name, word in agent.entity.diary if not names or name in names]


def check(agent):
    """Hooks are paired, inner first; nothing is held, nothing waits, nothing is performed."""
    open_ones = []
    for _, name, word in agent.entity.diary:
        if word == "start":
            open_ones.append(name)
        elif word == "stop":
            assert name in open_ones
            open_ones.remove(name)
    assert open_ones == []
    assert agent.flags.is_free
    assert agent.planner.performances == ()
    assert agent.planner.busy_frames == 0


class Holding:
    """A goal, as the ledger sees it."""

    def __init__(self, agent, name="goals/Panic", precedence=0):
        self.agent = agent
        self.flag_name = name
        self.precedence = precedence
        self.runs_for = None
        self.is_interruptible = True
        self.asked = 0

    def claim(self, *flags, **options):
        return self.agent.flags.claim(flags, self, self.agent.runtime.tick, **options)

    def end(self):
        self.agent.flags.release(self)

    def give_way(self, flag, claimant):
        self.asked += 1
        self.end()

    def flags_granted(self):
        pass


async def outcome(log, agent, activity, *args, **more):
    """Perform something, and write down what came of it."""
    try:
        result = await agent.perform(activity, *args, **more)
    except (ActivityAbortedError, ActivityImpossibleError, NotRunningError, ArgumentError) as error:
        log.append((agent.planner.kernel.tick, type(error).__name__, getattr(error, "reason", "")))
    except BaseException as error:
        log.append((agent.planner.kernel.tick, "cancelled", ""))
        raise error
    else:
        log.append((agent.planner.kernel.tick, "performed", result))


class Asking:
    """A driver with one routine, which performs something for a holder of the driver's."""

    name = "asking"
    rank = 2
    precedence = 0

    def __init__(self, main):
        self.main = main
        self.routine = None
        self.then = None

    def join(self, body):
        self.routine = Routine(body, "asking", "run", self.main(body), self.ended)

    def drive(self):
        pass

    def leave(self, reason, then):
        if self.routine is None:
            then()
        else:
            self.then = then
            self.routine.stop(reason)

    def ended(self, routine):
        self.routine = None
        if self.then is not None:
            self.then()

    def strands(self):
        return [] if self.routine is None else [self.routine.strand]

    def view(self):
        return self

    def lines(self):
        return []


def begin(runtime, place, main):
    """An agent, and a coroutine that is given it, at one of the places."""

    async def observe(agent):
        await main(agent)

    if place == "observer":
        registry = Registry([Manifest("m", {"observers:o": observe, "ai_pack:p": {"observers": ["m:observers:o"]}})])
        return runtime.add(being(packs=["m:ai_pack:p"], registry=registry))
    if place == "driver":
        return runtime.add(being(drivers=[Asking(observe)]))
    agent = runtime.add(being())
    runtime.spawn(observe, agent)
    return agent


class Scene:
    """A simulation with one agent, and coroutines of the world."""

    def __init__(self, actions=KNOWN, **options):
        self.sim = Simulation()
        self.runtime = self.sim.runtime
        self.faults = []
        self.agent = self.sim.add(being(actions, **options))
        self.log = []
        self.strands = []

    def perform(self, activity, *args, **more):
        """Perform something in a strand of its own."""
        strand = self.runtime.kernel.spawn(outcome(self.log, self.agent, activity, *args, **more), activity)
        self.runtime.kernel.strays.take(strand)
        self.strands.append(strand)
        return strand

    def tick(self, ticks=1):
        self.sim.tick(ticks)

    @property
    def holds(self):
        return {flag: holder for flag, holder, _ in self.agent.snapshot().flags}

    def refused(self):
        return [
            (one.tick, one.path, dict(one.detail).get("reason")) for one in self.sim.trace if one.event == "refused"
        ]

    def close(self):
        self.sim.close()
        assert self.runtime.kernel.live == 0
        check(self.agent)
        names = [strand.name for strand in self.strands]
        if len(set(names)) == len(names):  # the paths of two performances of one activity are the same
            found = check_trace(map(as_root, self.sim.trace), self.agent.name)
            assert [str(one) for one in found if one.rule != "one chain"] == []


@pytest.fixture
def scene():
    made = Scene()
    yield made
    made.close()


def as_root(record):
    """A record of a performance as if its activity were the root of a plan."""
    return record._replace(path=re.sub(r"^(performed|goals/Panic|goal \d)/", "", record.path))
