"""What can be wanted: the dependencies that strategies provide and need.

They are the words in which strategies speak with each other. Costs are steps of the game, which are seconds of game
time. What ``is_met`` finds true of the world is what ``assume`` writes for look-ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agentrt.strategy import Dependency
from examples.crafter.legs import CannotAct

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from examples.crafter.player import Player

__all__ = [
    "Beside",
    "Defeated",
    "Found",
    "Have",
    "Lived",
    "Placed",
    "PlantEaten",
    "fails",
    "held",
    "want_for",
]

_Run = TypeVar("_Run", bound=Callable[..., Coroutine[Any, Any, Any]])


def held(ask: Ask, item: str) -> int:
    """How many of an item there are, or are assumed to be.

    Args:
        ask: the world.
        item: its name.
    """
    inventory: dict[str, int] = ask.CURRENT.inventory if ask.is_assumed else ask.entity.inventory
    return inventory.get(item, 0)


class Have(Dependency[int], activity="crafter:have"):
    """So many of an item are in the inventory."""

    item: str
    count: int = 1

    reads = ("stock",)
    cost = 40.0

    def is_met(self, ask: Ask) -> bool:
        return held(ask, self.item) >= self.count

    def assume(self, state: Any) -> None:
        state.inventory = {**state.inventory, self.item: max(self.count, state.inventory.get(self.item, 0))}

    def guard_key(self) -> object:
        return self.item


class Found(Dependency[None], activity="crafter:found"):
    """A cell of a material is known, and can be reached."""

    material: str

    reads = ("map", "place")
    cost = 80.0

    def is_met(self, ask: Ask) -> bool:
        player: Player = ask.entity
        return player.nearest(self.material) is not None


class Beside(Dependency[None], activity="crafter:beside"):
    """The player stands beside stations: each in one of the eight cells around it."""

    stations: tuple[str, ...]

    reads = ("map", "place")
    cost = 30.0

    def is_met(self, ask: Ask) -> bool:
        player: Player = ask.entity
        return not ask.is_assumed and all(player.is_near(station) for station in self.stations)

    def label(self) -> str:
        return f"Beside {' and '.join(self.stations)}"


class _Deed(Dependency[None]):
    """Something is done once: it stands in the diary."""

    reads = ("diary",)
    cost = 100.0

    def achievement(self) -> str:
        """The name of the achievement that it is."""
        raise NotImplementedError

    def is_met(self, ask: Ask) -> bool:
        player: Player = ask.entity
        return self.achievement() in player.diary.achieved


class Placed(_Deed, activity="crafter:placed"):
    """Something was placed: stone, table, furnace or plant."""

    thing: str

    def achievement(self) -> str:
        return f"place_{self.thing}"


class Defeated(_Deed, activity="crafter:defeated"):
    """One of a kind was defeated."""

    kind: str

    def achievement(self) -> str:
        return f"defeat_{self.kind}"


class PlantEaten(_Deed, activity="crafter:plant_eaten"):
    """A plant was eaten."""

    def achievement(self) -> str:
        return "eat_plant"


class Lived(_Deed, activity="crafter:lived"):
    """What one does to stay alive anyway: drank, ate a cow, slept until one woke."""

    name: str

    def achievement(self) -> str:
        return self.name


def want_for(achievement: str, inventory: dict[str, int]) -> Dependency[Any]:
    """What to ask for, to have something achieved.

    Args:
        achievement: its name.
        inventory: of the player.
    """
    verb, _, thing = achievement.partition("_")
    if achievement in ("collect_drink", "eat_cow", "wake_up"):
        return Lived(achievement)
    if achievement == "eat_plant":
        return PlantEaten()
    if verb == "collect":
        return Have(thing, inventory.get(thing, 0) + 1)
    if verb == "make":
        return Have(thing)
    return Placed(thing) if verb == "place" else Defeated(thing)


def fails(run: _Run) -> _Run:
    """Have a strategy fail when the body cannot do something.

    Args:
        run: of the strategy.
    """

    @wraps(run)
    async def runs(self: Any, ctx: StrategyContext, wanted: Any) -> Any:
        try:
            return await run(self, ctx, wanted)
        except CannotAct as fault:
            ctx.fail(fault.reason)

    return cast("_Run", runs)
