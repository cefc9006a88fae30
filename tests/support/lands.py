"""A world in shards for tests: lands that do in each tick what a test says, and write down what they hear."""

from __future__ import annotations

import agentrt as art
from agentrt.shards import ShardedWorld


class One(art.Entity):
    stopped = None


class Idle(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1000)

    def stop(self, ctx, args):
        ctx.entity.stopped = ctx.clock.tick


class Land:
    """A part that does in each tick what a test says, and writes down what it hears."""

    scripts: dict = {}  # by shard and tick
    log: list = []

    def __init__(self, shard, part, *, seed, host, params):
        self.shard = shard
        self.runtime = art.Runtime(seed, host=host)
        self.runtime.on_input("hear", self.hear)
        self.runtime.every_tick(self.act)
        for name in part:
            self.runtime.add(self.agent(name))

    def agent(self, name):
        return art.Agent(One("one", name=name), actions=[Idle])

    def act(self):
        script = self.scripts.get((self.shard.number, self.runtime.tick))
        if script is not None:
            script(self)

    def note(self, *what):
        self.log.append((self.runtime.tick, self.shard.number, *what))

    def hear(self, **what):
        self.note("hears", *what.values())

    def export(self, agent):
        self.note("exports", agent.name, agent.entity.stopped)
        return {"tuple": (1, 2)}

    def adopt(self, name, state):
        self.note("adopts", name, state)
        return self.agent(name)

    def halo(self):
        return {(self.shard.number + 1) % self.shard.shards: self.runtime.tick} if self.shard.shards > 1 else {}


def make_world(part=Land, window=3, partition=lambda shards, params: [["a", "b"], ["c"], []][:shards], **options):
    return ShardedWorld("lands", part, partition, window=window, **options)
