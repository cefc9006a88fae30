"""Interruption: what comes up is declared once for the agent; each strategy says what it supports, and no more.

A smith melts iron, which must not be left alone, and then forges a nail, at which he can stop at any moment. A customer
comes during each: one waits for the iron, the other only for the smith to look up.
"""

from typing import Any

import agentrt as art
from agentrt.strategy import Dependency, Interruptible, Interruption, Strategy, StrategyContext, Trigger, strategy
from agentrt.testing import Simulation


class Nail(Dependency[str], activity="smithy:nail"):
    """A nail is made."""


class Iron(Dependency[str], activity="smithy:iron"):
    """There is hot iron."""


class Serve(Dependency[None], activity="smithy:serve"):
    """Somebody is served."""

    who: str


class Smelt(Strategy):
    provides = Iron
    cost = 10.0
    interruption = Interruptible.WAIT

    async def run(self, ctx: StrategyContext, wanted: Iron) -> str:
        await ctx.sleep(10)
        return "iron"


class Forge(Strategy):
    provides = Nail
    cost = 20.0
    interruption = Interruptible.PAUSE
    hits = 0

    async def run(self, ctx: StrategyContext, wanted: Nail) -> str:
        iron = await ctx.solve(Iron())
        for self.hits in range(1, 6):
            await ctx.sleep(2)
        return f"a nail of {iron}, {self.hits} hits"

    def interrupted(self, ctx: StrategyContext, interruption: Interruption) -> None:
        print(f"tick {ctx.clock.tick}: {interruption.value} has gone, {self.hits} hits so far")


@strategy(Serve, cost=3.0)
async def greet(ctx: StrategyContext, wanted: Serve) -> None:
    """Have a word with somebody."""
    print(f"tick {ctx.clock.tick}: good day, {wanted.who}")
    await ctx.sleep(3)


def main() -> None:
    sim = Simulation(seed=1)
    smith: Any = sim.add(art.Agent(art.Entity("smith", name="Will")))
    smith.gameplay.add_strategy(Smelt, Forge, greet)
    smith.gameplay.add_trigger(Trigger(name="customer", on="bell", solve=Serve))
    request = smith.gameplay.begin(Nail())
    for who, after in (("Ada", 100), ("Ben", 180)):
        sim.tick(after)
        print(f"tick {sim.now}: the bell rings for {who}")
        smith.entity.signal("bell").emit(who)
    sim.run_until(lambda: request.is_done)
    print(request.value)
    print(request.render())


if __name__ == "__main__":
    main()
