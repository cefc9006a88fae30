"""Petitions: what whoever plays the colony can ask for from outside, as inputs by name.

They come in through ``runtime.send``, at an intake, as plain values: names and numbers. So a recording keeps them, a
replay hands them in again, and a branch can ask for something else. What cannot be done is refused with words; that is
reported as a fault of the input, and nothing else happens.
"""

from __future__ import annotations

from agentrt import Agent, Runtime
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.goods import Shelf
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.town import Town

__all__ = ["Petitions"]

_MOST_WOLVES = 20
_MOST_GOODS = 100


class Petitions:
    """Takes what is asked for.

    Args:
        runtime: whose inputs they are.
        town: the world.
        population: who lives there.
        captain: who commands the soldiers.
    """

    def __init__(self, runtime: Runtime, town: Town, population: Population, captain: Captain) -> None:
        self._town = town
        self._population = population
        self._captain = captain
        for name in ("wolves", "order", "wagon"):
            runtime.on_input(name, getattr(self, name))

    def wolves(self, count: int = 1) -> None:
        """Wolves come out of the woods.

        Args:
            count: how many, up to 20.
        """
        for _ in range(_bounded("count", count, _MOST_WOLVES)):
            self._population.wolf()

    def order(self, soldier: str, x: int, y: int) -> None:
        """Order a soldier somewhere.

        Args:
            soldier: its name.
            x: the column.
            y: the row.
        """
        agent = self._soldier(soldier)
        if not self._town.ground.cost((x, y)):
            raise ValueError(f"({x}, {y}) is no place where anybody can stand")
        self._captain.order(agent, (x, y))

    def wagon(self, kind: str, count: int = 1) -> None:
        """A wagon brings goods, as far as there is room for them.

        Args:
            kind: of the goods, such as ``"turnip"``.
            count: how many, up to 100.
        """
        kinds = sorted({shelf[Shelf].kind for shelf in self._town.census.find("shelf")})
        if kind not in kinds:
            raise ValueError(f"no shelf is for {kind!r}, only for {', '.join(kinds)}")
        self._town.stock(kind, _bounded("count", count, _MOST_GOODS))

    def _soldier(self, name: str) -> Agent:
        for agent in self._captain.soldiers:
            if agent.name == name:
                return agent
        raise ValueError(
            f"no soldier is called {name!r}; there are {', '.join(a.name for a in self._captain.soldiers)}"
        )


def _bounded(name: str, count: object, most: int) -> int:
    if not isinstance(count, int) or not 0 <= count <= most:
        raise ValueError(f"{name} is {count!r}: it takes a whole number from 0 to {most}")
    return count
