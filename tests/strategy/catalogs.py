"""Random catalogs of strategies, and a reference that says who is tried for what: the rules of solving, without time.

Each strategy can provide some things, needs others first, and then succeeds or fails; whatever it does changes the
prices of others. Run as a program, it prints the digests of some catalogs.
"""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple

from agentrt import Agent, Entity
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Dependency, Strategy
from agentrt.testing import Simulation

THINGS = "abc"
TOO_MANY = 250  # tries


class Thing(Dependency[str], activity="random:thing"):
    """Something to have; nobody can see whether."""

    what: str


class Plan(NamedTuple):
    """What a strategy is like.

    Attributes:
        can: what it provides.
        price: what it costs at first; None for "cannot".
        needs: what it has solved first.
        ticks: how long it takes then.
        fails: whether it fails in the end.
        spoils: whose price it changes in the end, and to what.
        tells: whether it declares what it reads.
    """

    can: str
    price: float | None
    needs: str
    ticks: int
    fails: bool
    spoils: tuple[tuple[int, float | None], ...]
    tells: bool


class Reference:
    """The rules, as straight as can be."""

    def __init__(self, plans: list[Plan]) -> None:
        self.plans = plans
        self.prices = [plan.price for plan in plans]
        self.log: list[tuple[str, str, str]] = []

    def solve(self, what: str, chain: tuple[tuple[int, str], ...] = ()) -> bool:
        failed: set[int] = set()
        while len(self.log) < TOO_MANY:
            offers = [
                (price, number)
                for number, price in enumerate(self.prices)
                if price is not None
                and what in self.plans[number].can
                and number not in failed
                and (number, what) not in chain
            ]
            if not offers:
                return False
            _, number = min(offers)
            self.log.append(("try", what, f"S{number}"))
            if self.run(self.plans[number], (*chain, (number, what))):
                self.log.append(("solved", what, f"S{number}"))
                return True
            self.log.append(("failed", what, f"S{number}"))
            failed.add(number)
        return False

    def run(self, plan: Plan, chain: tuple[tuple[int, str], ...]) -> bool:
        if not all(self.solve(need, chain) for need in plan.needs):
            return False
        for number, price in plan.spoils:
            self.prices[number] = price
        return not plan.fails


class World:
    """The same, played by an agent."""

    def __init__(self, plans: list[Plan]) -> None:
        self.sim = Simulation(seed=1)
        self.prices = [plan.price for plan in plans]
        self.agent = Agent(Entity("one"), name="a")
        self.agent.gameplay.add_strategy(*(self._strategy(number, plan) for number, plan in enumerate(plans)))
        self.sim.add(self.agent)
        self.result: Any = None
        self.ticks = 0

    def _strategy(self, number: int, plan: Plan) -> type[Strategy]:
        world = self

        def estimate(self: Strategy, ask: Any, wanted: Thing) -> float | None:
            return world.prices[number] if wanted.what in plan.can else None

        async def run(self: Strategy, ctx: Any, wanted: Thing) -> None:
            for need in plan.needs:
                await ctx.solve(Thing(need))
            await ctx.sleep_ticks(plan.ticks)
            for other, price in plan.spoils:
                world.prices[other] = price
            ctx.agent.gameplay.changed("prices")
            if plan.fails:
                ctx.fail("it does")

        body = {"provides": Thing, "estimate": estimate, "run": run}
        return type(f"S{number}", (Strategy,), {**body, "reads": ("prices",)} if plan.tells else body)

    def solve(self, what: str, most: int = 3000) -> bool:
        async def wish() -> None:
            try:
                await self.agent.gameplay.solve(Thing(what))
                self.result = True
            except DependencyFailedError:
                self.result = False

        self.result = None
        self.sim.runtime.kernel.spawn(wish(), "wish", None)
        while self.result is None and self.ticks < most:
            self.sim.tick()
            self.ticks += 1
        return bool(self.result)

    @property
    def log(self) -> list[tuple[str, str, str]]:
        found = []
        for one in self.sim.trace:
            if one.event.value in ("try", "solved", "failed"):
                detail = dict(one.detail)
                found.append((one.event.value, str(detail["wanted"])[-2], str(detail["by"])))
        return found


def draw(seed: int) -> list[Plan]:
    """A catalog."""
    chance = random.Random(seed)
    count = chance.randint(1, 6)

    def price() -> float | None:
        return chance.choice([None, 1.0, 2.0, 2.0, 5.0])

    return [
        Plan(
            "".join(thing for thing in THINGS if chance.random() < 0.6) or "a",
            price(),
            "".join(chance.choice(THINGS) for _ in range(chance.choice([0, 0, 1, 2]))),
            chance.choice([0, 0, 1, 3]),
            chance.random() < 0.5,
            tuple((chance.randrange(count), price()) for _ in range(chance.choice([0, 0, 1, 2]))),
            chance.random() < 0.5,
        )
        for _ in range(count)
    ]


def digest(seed: int) -> str:
    """The digest of a run with a catalog."""
    world = World(draw(seed))
    for what in THINGS:
        world.solve(what)
    world.sim.close()
    return world.sim.digest()


if __name__ == "__main__":
    for seed in range(int(sys.argv[1])):
        sys.stdout.write(f"{digest(seed)}\n")
