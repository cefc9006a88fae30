"""Strategies: ask for a thing, and the agent works out the rest, from where it stands.

Three strategies provide what a cook may need. None knows the others: they share the dependency, and are compared by
what they expect to take. The first soup is made from nothing. For the second the pot is there, and the garden has
been eaten empty, which is found out only on the way: another way is taken.
"""

from typing import Any

import agentrt as art
from agentrt.strategy import Ask, Dependency, Strategy, StrategyContext, strategy
from agentrt.testing import Simulation


class Cook(art.Entity):
    def __init__(self) -> None:
        super().__init__("cook", name="Odo")
        self.has: dict[str, int] = {}
        self.leeks = 2


class Have(Dependency[int], activity="kitchen:have"):
    """So many of a thing are at hand."""

    thing: str
    count: int = 1

    def is_met(self, ask: Ask) -> bool:
        return ask.entity.has.get(self.thing, 0) >= self.count


class Garden(Strategy):
    """Dig out leeks."""

    provides = Have

    def estimate(self, ask: Ask, wanted: Have) -> float | None:
        return 5.0 * wanted.count if wanted.thing == "leek" else None

    async def run(self, ctx: StrategyContext, wanted: Have) -> None:
        if ctx.entity.leeks < wanted.count:
            await ctx.sleep(3)
            ctx.fail("the hares were here")
        await ctx.sleep(5.0 * wanted.count)
        ctx.entity.leeks -= wanted.count
        ctx.entity.has[wanted.thing] = wanted.count


@strategy(Have, cost=40.0)
async def neighbor(ctx: StrategyContext, wanted: Have) -> None:
    """Ask next door."""
    await ctx.sleep(40)
    ctx.entity.has[wanted.thing] = wanted.count


@strategy(Have, estimate=lambda ask, wanted: 20.0 + ask.cost(Have("leek", 2)) if wanted.thing == "soup" else None)
async def boil(ctx: StrategyContext, wanted: Have) -> None:
    """Boil a soup."""
    await ctx.solve_all([Have("pot"), Have("leek", 2)])
    ctx.entity.has["leek"] -= 2
    await ctx.sleep(20)
    ctx.entity.has["soup"] = 1


def main() -> None:
    sim = Simulation(seed=1)
    odo: Any = sim.add(art.Agent(Cook()))
    odo.gameplay.add_strategy(Garden, neighbor, boil)
    for name, seconds, reason in odo.gameplay.offers(Have("soup")):
        print(f"{name}: {reason or f'{seconds:g} s'}")
    for _ in range(2):
        request = odo.gameplay.begin(Have("soup"))
        sim.run_until(lambda: request.is_done, limit=5000)  # noqa: B023 - it is called at once
        print(request.render())
        odo.entity.has["soup"] = 0


if __name__ == "__main__":
    main()
