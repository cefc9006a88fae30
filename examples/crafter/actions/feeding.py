"""Drinking and eating: from water, from cows and from its own plants."""

from __future__ import annotations

from agentrt import MOVE, Action, ActionArgs, CompoundAction, Context, park, step
from agentrt.errors import DependencyFailedError
from examples.crafter import legs, sites
from examples.crafter.actions.needs import EVENING, Need, attempt, urgency
from examples.crafter.eyes import DAY
from examples.crafter.player import Player
from examples.crafter.reach import Cell
from examples.crafter.rules import COW, RULES
from examples.crafter.strategies.farming import eat_from
from examples.crafter.strategies.wants import Found

__all__ = ["Drink", "EatPlantNearby", "HuntCow", "LookForCows", "LookForWater", "ReachWater", "Sip"]

_FULL = RULES["bars"]["most"]
_RIPE = RULES["ripe_after"] + 3
_SEARCHES = 6  # places where it looks for cows before it thinks again
_CLOSE = 6  # steps: what is so near is done sooner than it must be
_CHASE = 30
_NEARBY, _TWILIGHT = 20, 0.4  # steps that it goes in the evening and morning to eat and drink, and in how much light
_BLOWS = 4
_WALK = 50  # steps that it goes for a plant that is ripe


def _is_worth_it(player: Player, steps: int) -> bool:
    """Whether it is evening or early morning, and something so near that the player goes for it instead of hiding.

    Args:
        player: who would go.
        steps: how far it is.
    """
    return steps <= _NEARBY and player.step % DAY >= EVENING and player.light > _TWILIGHT


class ReachWater(Action):
    """Go to the nearest water that is known."""

    does = "crafter:reach_water"
    utility = 0.9
    flags = (MOVE,)

    async def think(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        if player.roughly("water") is not None:
            ctx.set_think_output()
            await park()

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        found = player.nearest("water")
        if found is None:
            ctx.abort("the water cannot be reached any more")
        await attempt(player, legs.approach(player, found[0]))


class LookForWater(Action):
    """Have a strategy find water, and go there."""

    does = "crafter:reach_water"
    utility = 0.1

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        try:
            await ctx.agent.gameplay.solve(Found("water"))
        except DependencyFailedError:
            await player.act("noop")
        found = player.nearest("water")
        if found is not None:
            await attempt(player, legs.approach(player, found[0]))


class Sip(Action):
    """Drink until it is enough."""

    does = "crafter:sip"
    utility = 1.0
    flags = (MOVE,)

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        while player.inventory["drink"] < _FULL and player.atlas.is_there(player.ahead, "water"):
            await player.act("do")


class Drink(Need, CompoundAction):
    """Go to water and drink."""

    does = "crafter:drink"
    utility = (0.0, 1.0)
    bar = "drink"
    made_of = ("drink", "is_dark")
    status_text_key = "drinks"

    def worth(self, player: Player) -> float:
        level = player.inventory["drink"]
        known = player.roughly("water") if level <= 7 else None
        near = 0.0
        if known == 0 and player.is_dark:
            near = 0.7  # without a step out of its shelter
        elif known is not None and _is_worth_it(player, known):
            near = 0.62
        elif known is not None and known <= _CLOSE and level < 7:
            near = 0.47
        return max(urgency(player, level), near)

    steps = (step("crafter:reach_water"), step("crafter:sip"))


class HuntCow(Need):
    """Go after the nearest cow, and eat it."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
    made_of = ("food", "is_dark")
    flags = (MOVE,)
    status_text_key = "hunts a cow"

    def worth(self, player: Player) -> float:
        level = player.inventory["food"]
        found = player.nearest_cow()
        if found is None:
            return 0.0
        near = 0.0
        if _is_worth_it(player, found[1]):
            near = 0.61
        elif level <= 5 and found[1] <= _CLOSE:
            near = 0.46
        return max(urgency(player, level), near)

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        for _ in range(_CHASE):
            known = player.nearest_cow()
            if known is None:
                return
            if player.closest(COW) is None:
                await attempt(player, legs.approach(player, known[0], lambda: player.closest(COW) is not None))
                continue
            try:
                cell = await legs.walk_up_to(player, lambda: player.closest(COW), _CHASE)
            except legs.CannotAct:
                await player.act("noop")
                continue
            await legs.strike(player, cell, _BLOWS)
            if cell not in player.atlas.creatures:
                return


class EatPlantNearby(Need):
    """Eat from a plant that is ripe and near."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
    made_of = ("food", "is_dark")
    flags = (MOVE,)
    status_text_key = "eats from its plant"

    @staticmethod
    def _ripe(player: Player) -> Cell | None:
        grown = [plant for plant, steps in player.atlas.plants.items() if steps >= _RIPE]
        ripe = [(player.atlas.to_plant(player.about, plant)[0], plant) for plant in grown]
        return min(ripe)[1] if ripe and min(ripe)[0] <= _WALK else None

    def worth(self, player: Player) -> float:
        if self._ripe(player) is None:
            return 0.0
        return min(1.0, urgency(player, player.inventory["food"]) + 0.02)

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        plant = self._ripe(player)
        if plant is None:
            return
        food = player.inventory["food"]
        await attempt(player, eat_from(player, plant))
        if player.inventory["food"] <= food and plant in player.atlas.plants:
            player.atlas.plants[plant] = _RIPE - 20  # it was not ripe after all


class LookForCows(Need):
    """Go where grass is that was not seen yet."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
    made_of = ("food", "is_dark")
    flags = (MOVE,)
    status_text_key = "looks for cows"

    def worth(self, player: Player) -> float:
        return max(0.0, urgency(player, player.inventory["food"]) - 0.05)

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        for _ in range(_SEARCHES):
            goal = sites.pasture(player.atlas, player.reach)
            if goal is None:
                break
            await attempt(player, legs.go(player, goal[0], _seeing(player, goal)))
            if player.closest(COW) is not None:
                return
        await player.act("noop")


def _seeing(player: Player, goal: tuple[Cell, bool]) -> legs.Until:
    """Whether a cow is seen, or that there is none at a place: new land, or such as was not looked at for long."""
    (cell, is_new), began, atlas = goal, player.step, player.atlas

    def is_seen() -> bool:
        if player.closest(COW) is not None:
            return True
        return sites.is_seen_around(atlas, cell) if is_new else bool(atlas.looked[cell] > began)

    return is_seen
