"""Everything at once, at random: requests, a plan, flags that others take, strategies that come and go, who goes away.

Nothing is said of what comes of it; but nothing may be left, no fault may be reported, everything that runs ends, and
nobody but the one who holds a flag may do what takes it.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from cast import Idle
from wants import Bearer, Build, Have, Know, Reach

from agentrt import LOOK, MOVE, TOP, Action, Agent, CompoundAction, step
from agentrt.errors import AgentRTError
from agentrt.strategy import Interruptible, Order, Strategy
from agentrt.testing import Simulation, check_trace

KINDS = (Have, Reach, Know, Build)


class Driver:
    """Another model that takes flags."""

    flag_name = "goals/other"
    is_interruptible = True
    runs_for = None

    def __init__(self, agent, precedence):
        self.agent = agent
        self.precedence = precedence

    def give_way(self, flag, claimant):
        self.agent.flags.release(self)

    def flags_granted(self):
        pass


class Dig(Action):
    does = "dig"
    utility = 1.0
    flags = {LOOK}

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(4))
        if ctx.random.random() < 0.3:
            ctx.abort("the shovel broke")


def plan(chance):
    steps = [step("want:have", item=chance.choice("xy")), step("want:reach", place=chance.choice("xy"))]
    return type("Plan", (CompoundAction,), {"does": TOP, "utility": 0.5, "steps": steps})


def need(chance):
    return chance.choice(KINDS)(chance.choice("xyz"))


def rough(chance, number, using):
    """A strategy that does a few things at random, the same in each run of a seed."""
    flags = tuple(flag for flag in (MOVE, LOOK) if chance.random() < 0.3)
    acts = [
        (chance.choice(["solve", "all", "worth", "dig", "sleep", "sleep"]), need(chance), need(chance))
        for _ in range(chance.randint(0, 3))
    ]
    ending = chance.choice([succeeds, succeeds, fails, restarts, breaks, lies])

    async def run(self, ctx, wanted):
        using.extend((flag, number) for flag in flags)
        try:
            for act, first, second in acts:
                await ACTS[act](ctx, first, second)
        finally:
            for flag in flags:
                using.remove((flag, number))
        ending(ctx, wanted)

    body = {
        "provides": tuple(kind for kind in KINDS if chance.random() < 0.5) or (Have,),
        "run": run,
        "flags": flags,
        "patience": 3.0,
        "interruption": chance.choice(list(Interruptible)),
        "cost": chance.choice([1.0, 2.0, 9.0]),
    }
    if acts and chance.random() < 0.3:
        body["estimate"] = lambda self, ask, wanted: 1.0 + ask.cost(acts[0][1])
    return type(f"Rough{number}", (Strategy,), body)


ACTS = {
    "solve": lambda ctx, first, _: ctx.solve(first),
    "all": lambda ctx, *both: ctx.solve_all(both),
    "worth": lambda ctx, first, second: ctx.solve_if_worth(first, [second]),
    "dig": lambda ctx, *_: ctx.execute("dig"),
    "sleep": lambda ctx, *_: ctx.sleep_ticks(ctx.random.below(5)),
}


def succeeds(ctx, wanted):
    if isinstance(wanted, Have):
        ctx.entity.put(wanted.item)


def fails(ctx, wanted):
    ctx.fail("it does")


def restarts(ctx, wanted):
    if ctx.random.random() < 0.5:
        ctx.fail("it does")
    ctx.restart("again")


def breaks(ctx, wanted):
    raise OSError("broken")


def lies(ctx, wanted):
    """Returns as if all were well."""


class World:
    """One agent, and whatever happens to it."""

    def __init__(self, seed):
        self.chance = chance = random.Random(seed)
        self.using = []
        self.sim = Simulation(seed=seed)
        self.agent = Agent(Bearer(), name="a", actions=[plan(chance), Dig, Idle])
        self.gameplay = self.agent.gameplay
        self.gameplay.order = chance.choice(list(Order))
        self.gameplay.lookahead = chance.choice([0, 2, 4])
        self.ways = [rough(chance, number, self.using) for number in range(chance.randint(2, 8))]
        self.loaded = {one: self.gameplay.add_strategy(one) for one in self.ways}
        self.sim.add(self.agent)
        self.driver = Driver(self.agent, chance.choice([-1, 0, 9]))
        self.strands = []
        self.requests = []
        self.events = (
            (0.10, self.somebody_wishes),
            (0.05, self.somebody_goes_away),
            (0.05, self.a_request_begins),
            (0.20, self.a_request_is_told_something),
            (0.05, self.flags_are_taken_and_given_back),
            (0.05, self.a_strategy_comes_or_goes),
            (0.05, self.the_bag_is_lost),
        )

    async def _wish(self, wanted):
        with suppress(AgentRTError):
            await self.gameplay.solve(wanted)

    def somebody_wishes(self):
        self.strands.append(self.sim.runtime.kernel.spawn(self._wish(need(self.chance)), "wish", None))

    def somebody_goes_away(self):
        if self.strands:
            self.chance.choice(self.strands).stop("no more")

    def a_request_begins(self):
        self.requests.append(self.gameplay.begin(need(self.chance)))

    def a_request_is_told_something(self):
        if self.requests:
            one = self.chance.choice(self.requests)
            self.chance.choice([one.pause, one.resume, one.restart, one.cancel])()

    def flags_are_taken_and_given_back(self):
        flags, driver = self.agent.flags, self.driver
        if flags.is_waiting(driver) or any(hold.owner is driver for hold in flags.holds().values()):
            flags.release(driver)
        else:
            flags.claim([self.chance.choice([MOVE, LOOK])], driver, self.sim.now, wait=True)

    def a_strategy_comes_or_goes(self):
        one = self.chance.choice(self.ways)
        if one in self.loaded:
            self.loaded.pop(one)()
        else:
            self.loaded[one] = self.gameplay.add_strategy(one)

    def the_bag_is_lost(self):
        self.agent.entity.bag.clear()
        self.gameplay.changed()

    def play(self, ticks=100):
        for _ in range(ticks):
            for probability, event in self.events:
                if self.chance.random() < probability:
                    event()
            self.sim.tick()
            owners = {flag: hold.owner for flag, hold in self.agent.flags.holds().items()}
            for flag, number in self.using:
                assert owners.get(flag) not in (None, self.driver), f"Rough{number} uses {flag}, which it has not"
        for one in self.requests:
            one.resume()
        self.sim.close()
        self.sim.tick(8)

    def check(self):
        assert self.sim.runtime.kernel.live == 0, self.sim.runtime.kernel
        assert self.using == []
        self.agent.flags.release(self.driver)
        assert self.agent.flags.holds() == {}
        assert {dict(one.detail)["error"] for one in self.sim.faults()} <= {"OSError: broken"}
        assert [str(one) for one in check_trace(self.sim.trace, "a")] == []
        assert self.gameplay.running == ()
        for root in self.gameplay.finished:
            assert [node for _, node in root.walk() if node.is_open] == [], root.render()


def check(seed):
    world = World(seed)
    world.play()
    world.check()
    return world


@pytest.mark.states(
    "003: Ours: Whatever comes together at random, nothing is left and nobody uses a flag that he has not",
    source="design section 6",
)
@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 40, 10))
def test_nothing_is_left_and_nothing_goes_wrong(start):
    worlds = [check(seed) for seed in range(start, start + 10)]
    assert sum(len(world.sim.events("try")) for world in worlds) > 200


@pytest.mark.slow
def test_equal_seeds_give_equal_runs():
    for seed in range(5):
        assert check(seed).sim.digest() == check(seed).sim.digest()
