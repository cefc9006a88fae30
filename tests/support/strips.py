"""A world in shards for tests: walkers on a ring of fields, cut into strips. They wander, greet and are greeted.

Each walker counts its steps, and the greetings that it was given; each strip counts what was called out over its
borders. So whatever is lost on the way shows in sums.
"""

from __future__ import annotations

import agentrt as art
from agentrt.shards import Shard, ShardedWorld
from agentrt.worlds import Parameter

FIELDS = 8  # of each strip


class Walk(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        walker, strip = ctx.entity, ctx.entity.strip
        await ctx.sleep_ticks(1 + ctx.random.below(strip.pause))
        walker.steps += 1
        walker.field = (walker.field + (1 if ctx.random.random() < 0.7 else -1)) % (FIELDS * strip.shard.shards)
        there = walker.field // FIELDS
        strip.shard.move(ctx.agent, there)
        if ctx.random.random() < 0.3:
            strip.shard.send("greet", to=f"w{ctx.random.below(strip.walkers)}", by=ctx.agent.name)
        if there != strip.shard.number:
            strip.shard.send("call out", to=there, delay=strip.shard.window + ctx.random.below(5), who=ctx.agent.name)


class Walker(art.Entity):
    def __init__(self, name, strip, field):
        super().__init__("walker", name=name)
        self.strip, self.field = strip, field
        self.steps = self.greeted = 0


class Strip:
    def __init__(self, shard: Shard, part, *, seed, host, params):
        self.shard = shard
        self.walkers, self.pause = params["walkers"], params["pause"]
        self.runtime = art.Runtime(seed, host=host)
        self.called = 0
        self.heard = []
        self.listen()
        for number in part:
            self.runtime.add(self.walker(f"w{number}", shard.number * FIELDS + number % FIELDS))
        self.runtime.rebuild_every(params["epoch"], self.save, self.load)

    def listen(self):
        self.runtime.on_input("greet", self.greet)
        self.runtime.on_input("call out", self.call_out)

    def save(self, runtime):
        return {"called": self.called, "walkers": [[agent.name, self.export(agent)] for agent in runtime.agents]}

    def load(self, runtime, saved):
        self.called, self.heard = saved["called"], []
        self.listen()
        for name, state in saved["walkers"]:
            runtime.add(self.adopt(name, state))

    def walker(self, name, field):
        return art.Agent(Walker(name, self, field), actions=[Walk])

    def greet(self, to, by):
        walker = self.runtime.find(to).entity
        walker.greeted += 1
        self.heard.append((self.runtime.tick, to, by))

    def call_out(self, who):
        self.called += 1

    def export(self, agent):
        walker = agent.entity
        return {"field": walker.field, "steps": walker.steps, "greeted": walker.greeted}

    def adopt(self, name, state):
        agent = self.walker(name, state["field"])
        agent.entity.steps, agent.entity.greeted = state["steps"], state["greeted"]
        return agent

    def halo(self):
        me, all_of_them = self.shard.number, self.shard.shards
        edge = sum(agent.entity.field % FIELDS in (0, FIELDS - 1) for agent in self.runtime.agents)
        return {(me + side) % all_of_them: [me, edge] for side in (-1, 1) if all_of_them > 1}


def partition(shards, params):
    return [range(shard, params["walkers"], shards) for shard in range(shards)]


def measure(runtime):
    strip = runtime.game
    walkers = [agent.entity for agent in runtime.agents]
    return {
        "walkers": len(walkers),
        "steps": sum(walker.steps for walker in walkers),
        "greeted": sum(walker.greeted for walker in walkers),
        "called": strip.called,
        "halo": str(sorted(strip.shard.halo.items())),
    }


world = ShardedWorld(
    "strips",
    Strip,
    partition,
    window=4,
    summary="Walkers on a ring of fields.",
    parameters={
        "walkers": Parameter(40, low=1),
        "pause": Parameter(12, low=1),
        "epoch": Parameter(0, "ticks after which each strip is rebuilt; 0 for never", low=0),
    },
    measure=measure,
)
