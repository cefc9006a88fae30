"""A mill that is rebuilt in epochs: millers share one stone, ask the outside for prices, come and go.

Run as a program it goes on from a save that it reads, and prints the digest: ``python mill.py HOST TICKS DIGEST``.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys

import trio

from agentrt import TOP, Action, Agent, Runtime, Signal
from agentrt.kernel.trace import TraceDigest
from agentrt.rebuild import restore_leases, save_leases

EVERY = 50


def price(sacks):
    return 3 + sacks % 5


class Grind(Action):
    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        leases = ctx.agent.runtime.leases
        while True:
            if leases.can_acquire(ctx.entity.mill.stone, ctx.agent):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await leases.changed.wait()

    async def run(self, ctx, args):
        lease = await ctx.agent.runtime.leases.take(ctx.entity.mill.stone, ctx.agent)
        try:
            await ctx.sleep_ticks(2 + ctx.random.below(5))
            ctx.entity.sacks += 1
            if ctx.entity.sacks % 2 and ctx.entity.mill.asks:
                ctx.entity.coins += await ctx.call(price, ctx.entity.sacks)
        finally:
            lease.release()


class Rest(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3 + ctx.random.below(9))


class Stone:
    pass


class Miller:
    def __init__(self, name, mill, sacks=0, coins=0):
        self.name = name
        self.mill = mill
        self.sacks = sacks
        self.coins = coins
        self.destroyed = Signal()
        self.is_destroyed = False


class Mill:
    """All of the world: the game of one runtime."""

    def __init__(self, runtime, wind=0, asks=True):
        self.runtime = runtime
        self.asks = asks
        self.stone = Stone()
        self.wind = wind
        self.millers = []
        self.random = runtime.stream("wind")
        runtime.game = self
        runtime.on_input("wind", self.blow)
        runtime.every_tick(self.tick)

    def join(self, miller):
        self.millers.append(miller)
        return self.runtime.add(Agent(miller, actions=[Grind, Rest]))

    def blow(self, strength=1):
        self.wind += strength
        self.runtime.note("wind", strength=strength)

    def tick(self):
        tick = self.runtime.tick
        self.wind = max(0, self.wind - self.random.below(2))
        if tick % 40 == 13:
            self.join(Miller("apprentice", self))
        if tick % 40 == 39:
            gone = self.millers.pop()
            gone.is_destroyed = True
            gone.destroyed.emit(gone)


def save(runtime):
    mill = runtime.game
    agents = {agent.entity: agent for agent in runtime.agents}
    return {
        "wind": mill.wind,
        "asks": mill.asks,
        "millers": [
            [agents[one].name, one.sacks, one.coins, save_leases(agents[one], lambda thing: "the stone")]
            for one in mill.millers
            if one in agents
        ],
    }


def load(runtime, saved):
    mill = Mill(runtime, saved["wind"], saved["asks"])
    for name, sacks, coins, leases in saved["millers"]:
        agent = mill.join(Miller(name, mill, sacks, coins))
        restore_leases(agent, leases, lambda _: mill.stone)


def make(*, seed, host, every=EVERY, save=save, load=load, asks=True, declares=True):
    runtime = Runtime(seed, host=host)
    mill = Mill(runtime, asks=asks)
    for name in ("Ann", "Bob", "Cem"):
        mill.join(Miller(name, mill))
    if declares:
        runtime.rebuild_every(every, save, load)
    return runtime


def windy(runtime):
    """An input now and then, also before the first tick after an epoch, and after a save."""
    if runtime.tick % 25 in (0, 7):
        runtime.send("wind", strength=runtime.tick % 3)


def drive(runtime, last, between=windy):
    """Run it on its host up to a tick, and close it."""

    async def main():
        while runtime.tick < last:
            between(runtime)
            await runtime.run(1, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    if runtime.host == "plain":
        while runtime.tick < last:
            between(runtime)
            runtime.step()
        runtime.close()
    elif runtime.host == "trio":
        trio.run(main)
    else:
        asyncio.run(main())


def digest_of(runtime, last, before=""):
    """Run it up to a tick, and give the digest there."""
    digest = TraceDigest(runtime.trace, before)

    def look():
        if runtime.tick == last:
            digest.close()

    runtime.after_tick(look)
    if before:
        runtime.restore(json.load(sys.stdin))
    drive(runtime, last)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest_of(make(seed=3, host=sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
