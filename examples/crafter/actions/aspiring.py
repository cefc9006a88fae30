"""Aspiring: a thought about which achievement to strive for, on top of the rules of ``striving``.

It is one candidate of the plan among others. While nothing is chosen it asks, and the rules go on; what was chosen is
striven for by the strategies that do it for the rules, too. It is worth more than the other ambitions, but for one that
lies at hand and is under way, and less than stones for the night that are lacking, and than any need that has become
urgent: so a thought decides where the player is headed, and never whether it eats.

*One question for one ambition.* A need may take over ten times on the way to a diamond; the choice stands meanwhile,
and is taken up again without being asked for. It stands until it is achieved, fails, or is a day old.

What the model is told is what the player knows: its bars, what it carries, what it believes to have achieved, what it
remembers of the map, and what its strategies say that each open achievement would take from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final

from agentrt import TOP
from agentrt.minds import Choice, Consider, Option
from examples.crafter.actions.striving import lacks_stones
from examples.crafter.eyes import DAY
from examples.crafter.player import Ambition
from examples.crafter.rules import BARS, CREATURES
from examples.crafter.strategies.wants import want_for

if TYPE_CHECKING:
    from agentrt import Context
    from examples.crafter.player import Player

__all__ = ["Aspire", "costs"]

_RARELY: Final = 25  # steps from one question to the next at the least
_HOLDS: Final = DAY  # steps after which a choice that has come to nothing is thought over
_NAMES: Final = {kind: name for name, kind in CREATURES.items()}
_SIGHTS: Final = ("tree", "water", "stone", "coal", "iron", "diamond", "lava", "table", "furnace")


def costs(ctx: Context[Player]) -> dict[str, int]:
    """The open achievements that strategies see a way to, and how many steps each would take; the cheapest first."""
    player = ctx.entity
    found: dict[str, float] = {}
    for name in player.diary.open:
        if player.put_off.get(name, 0) <= player.step:
            found[name] = ctx.agent.gameplay.cost(want_for(name, player.inventory))
    return {name: round(cost) for name, cost in sorted(found.items(), key=lambda item: item[1]) if cost < inf}


class Aspire(Consider):
    """Strive for what a thought has chosen."""

    does = TOP
    name = "aspire"
    utility = (0.4, 0.49)  # an ambition is worth 0.5 at the most, when it lies at hand
    sunk_cost_boost = 0.0  # or it would not give way to stones for the night, which are worth 0.43
    system: ClassVar[str] = (
        "You play Crafter, a survival game on a map of 64 by 64 cells; 300 steps are a day. Reflexes fight back, and "
        "rules see to food, water, sleep and shelter, and to whatever is near. You decide which achievement to "
        "strive for next. An episode is scored by the achievements that it had at least once; rare ones, such as a "
        "diamond, count the most. At night zombies come; who dies achieves nothing more."
    )
    prompt: ClassVar[str] = (
        "Step {step}, which is step {hour} of day {day}; it is {light}.\n"
        "Your bars, of 9: {bars}\nYou carry: {carries}\nYou see: {creatures}\n"
        "Steps to the nearest you know of: {near}\n"
        "Achieved: {achieved}\nOpen, and about how many steps each would take from here: {takes}\n"
        "Open, and you know no way: {unknown}\nWhat to strive for now?"
    )
    max_tokens: ClassVar[int] = 150
    probes: ClassVar[bool] = False  # the strategies were asked: see ``costs``
    again: ClassVar[float] = 10.0
    patience: ClassVar[float] = 3.0

    def __init__(self) -> None:
        self._is_resumed = False  # whether the standing choice was taken up since it ran last
        self._asked = -_RARELY

    async def think(self, ctx: Context[Player], args: Any) -> None:
        """Wait until there is something to think about, or to take up again."""
        player = ctx.entity
        self._is_resumed = False
        self._weigh(ctx)
        while player.standing(_HOLDS) is None and player.step - self._asked < _RARELY:
            await player.signal("ponders").wait()
        await super().think(ctx, args)

    async def run(self, ctx: Context[Player], args: Any) -> None:
        """Strive for it; what ends by itself, well or not, is over, and what is preempted stands."""
        self._weigh(ctx)
        await super().run(ctx, args)
        ctx.entity.ambition = None

    def _weigh(self, ctx: Context[Player]) -> None:
        """Be worth less than stones for the night while there are none, and else more than what takes a dozen steps."""
        player = ctx.entity

        def weigh(_step: object) -> None:
            ctx.set_utility(0.0 if lacks_stones(player) else 1.0)

        weigh(None)
        ctx.listen(player.signal("ponders"), weigh)

    async def ask(self, ctx: Context[Player], args: Any, *asked: Any, **more: Any) -> Any:
        """Ask for a choice, unless one stands."""
        player = ctx.entity
        seen, _schema, check = asked
        stands = None if self._is_resumed else player.standing(_HOLDS)
        self._is_resumed = stands is not None and stands.name in seen["takes"]
        if stands is not None and self._is_resumed:
            return check(stands.answer)
        player.ambition = None
        self._asked = player.step
        chosen: list[Choice] = await super().ask(ctx, args, *asked, **more)
        player.ambition = Ambition(chosen[0].args["name"], chosen[0].said, player.step)
        early = (player.thinks_for or 0) - (player.step - self._asked)
        if early > 0:
            await ctx.sleep_ticks(early)
        return chosen

    def sees(self, ctx: Context[Player], args: Any) -> Mapping[str, Any]:
        """What the player knows."""
        player, takes = ctx.entity, costs(ctx)
        inventory = player.inventory
        # not ``roughly``, which keeps what it finds for the rules: to be asked must change nothing
        near = {name: player.nearest(name) for name in _SIGHTS}
        return {
            "step": player.step, "day": player.step // DAY + 1, "hour": player.step % DAY,
            "light": "dark" if player.is_dark else "light",
            "bars": {bar: inventory[bar] for bar in BARS},
            "carries": {item: count for item, count in inventory.items() if item not in BARS and count},
            "creatures": sorted({_NAMES[kind] for kind in player.atlas.creatures.values()}),
            "near": {name: found[1] for name, found in near.items() if found is not None},
            "achieved": list(player.diary.achieved), "takes": takes,
            "unknown": [name for name in player.diary.open if name not in takes],
        }  # fmt: skip

    def options(self, ctx: Context[Player], args: Any) -> Iterable[Option]:
        """The open achievements that strategies see a way to."""
        names = list(costs(ctx))
        return [Option("crafter:strive", "Have it achieved once.", name=names)] if names else []
