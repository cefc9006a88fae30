"""Staying alive: drinking, eating, resting. Tasks of the group of needs have them done, when observers say so.

How much each is worth follows from its bar: nothing while it is full, little as long as it can wait, more than any
ambition when it gets low. So utility decides, and what is urgent preempts what is not.
"""

from __future__ import annotations

from typing import Any

from agentrt import MOVE, PREV, Action, ActionArgs, CompoundAction, Context, ThinkOutput, park, step
from agentrt.errors import DependencyFailedError
from examples.crafter import legs, shelter, sites
from examples.crafter.eyes import DAY
from examples.crafter.player import Player
from examples.crafter.reach import Cell
from examples.crafter.rules import COW, RULES
from examples.crafter.shelter import Shelter
from examples.crafter.strategies.farming import eat_from
from examples.crafter.strategies.wants import Found

__all__ = [
    "Drink",
    "EatPlantNearby",
    "FindShelter",
    "Hide",
    "HuntCow",
    "LookForCows",
    "LookForWater",
    "ReachWater",
    "Rest",
    "RestInTheOpen",
    "Sip",
    "Slumber",
]

_FULL = RULES["bars"]["most"]
_RIPE = RULES["ripe_after"] + 3
_SEARCHES = 6  # places where it looks for cows before it thinks again
_A_WHILE = 4  # steps
_AGAIN = 20  # steps until it looks again for a shelter from where it stands
_CLOSE = 6  # steps: what is so near is done sooner than it must be
_CHASE = 30
_EVENING = 105  # the step of a day from which on it sees to it that it will not be hungry at night
_BLOWS = 4
_WEARY = 1  # energy at which it sleeps wherever it is
_WALK = 50  # steps that it goes for a plant that is ripe
_HOLDS_OUT = 60  # times that it looks whether it is day, or it is well
_TIRED = 3  # energy at which it goes to sleep at night
_WELL = 7  # health


def urgency(player: Player, level: int) -> float:
    """How urgent a need is, from 0 to 1: below 0.5 it can wait.

    Args:
        player: who has it; at night and in the evening it is another matter.
        level: of its bar.
    """
    if player.is_dark:  # what can wait till morning, waits
        is_bad = player.inventory["food"] == player.inventory["drink"] == 0
        return (0.7 if is_bad else 0.5, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1, 0.0)[level]
    evening = 0.1 if player.step % DAY >= _EVENING and level <= 5 else 0.0
    return min(1.0, (1.0, 0.9, 0.8, 0.65, 0.55, 0.44, 0.3, 0.2, 0.1, 0.0)[level] + evening)


class _Need(Action):
    """A need whose utility follows a bar."""

    bar = ""

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        changes = player.signal(self.bar)
        while True:
            ctx.set_utility(self.worth(player))
            ctx.set_think_output()
            await changes.wait()

    def worth(self, player: Player) -> float:
        return min(1.0, urgency(player, player.inventory[self.bar]))


class ReachWater(Action):
    """Go to the nearest water that is known."""

    does = "crafter:reach_water"
    utility = 0.9
    flags = (MOVE,)

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        if player.roughly("water") is not None:
            ctx.set_think_output()
            await park()

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        found = player.nearest("water")
        if found is None:
            ctx.abort("the water cannot be reached any more")
        await _try(player, legs.approach(player, found[0]))


class LookForWater(Action):
    """Have a strategy find water, and go there."""

    does = "crafter:reach_water"
    utility = 0.1

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        await _look_for(ctx, "water")
        found = player.nearest("water")
        if found is not None:
            await _try(player, legs.approach(player, found[0]))


class Sip(Action):
    """Drink until it is enough."""

    does = "crafter:sip"
    utility = 1.0
    flags = (MOVE,)

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        while player.inventory["drink"] < _FULL and player.atlas.is_there(player.ahead, "water"):
            await player.act("do")


class Drink(_Need, CompoundAction):
    """Go to water and drink."""

    does = "crafter:drink"
    utility = (0.0, 1.0)
    bar = "drink"
    status_text_key = "drinks"

    def worth(self, player: Player) -> float:
        level = player.inventory["drink"]
        known = player.roughly("water") if level < 7 else None
        near = 0.47 if known is not None and known <= _CLOSE else 0.0
        if known == 0 and player.is_dark:
            near = 0.7  # without a step out of its shelter
        return min(1.0, max(urgency(player, level), near))

    steps = (step("crafter:reach_water"), step("crafter:sip"))


class HuntCow(_Need):
    """Go after the nearest cow, and eat it."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
    flags = (MOVE,)
    status_text_key = "hunts a cow"

    def worth(self, player: Player) -> float:
        level = player.inventory["food"]
        found = player.nearest_cow()
        if found is None:
            return 0.0
        near = 0.46 if level <= 5 and found[1] <= _CLOSE else 0.0
        return min(1.0, max(urgency(player, level), near))

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        for _ in range(_CHASE):
            known = player.nearest_cow()
            if known is None:
                return
            if player.closest(COW) is None:
                await _try(player, legs.approach(player, known[0], lambda: player.closest(COW) is not None))
                continue
            try:
                cell = await legs.walk_up_to(player, lambda: player.closest(COW), _CHASE)
            except legs.CannotAct:
                await player.act("noop")
                continue
            await legs.strike(player, cell, _BLOWS)
            if cell not in player.atlas.creatures:
                return


class EatPlantNearby(_Need):
    """Eat from a plant that is ripe and near."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
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

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        plant = self._ripe(player)
        if plant is None:
            return
        food = player.inventory["food"]
        await _try(player, eat_from(player, plant))
        if player.inventory["food"] <= food and plant in player.atlas.plants:
            player.atlas.plants[plant] = _RIPE - 20  # it was not ripe after all


class LookForCows(_Need):
    """Go where grass is that was not seen yet."""

    does = "crafter:eat"
    utility = (0.0, 1.0)
    bar = "food"
    flags = (MOVE,)
    status_text_key = "looks for cows"

    def worth(self, player: Player) -> float:
        return min(1.0, max(0.0, urgency(player, player.inventory["food"]) - 0.05))

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        for _ in range(_SEARCHES):
            goal = sites.pasture(player.atlas, player.reach)
            if goal is None:
                break
            await _try(player, legs.go(player, goal[0], _seeing(player, goal)))
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


class FindShelter(Action):
    """Look for the nearest place to hide."""

    does = "crafter:find_shelter"
    utility = 1.0

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            place: the shelter; None if the player stands in one.
        """

        place: Shelter | None

    def __init__(self) -> None:
        self._looked = -_AGAIN
        self._place: Cell | None = None
        self._found: Shelter | None = None

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        if shelter.is_closed(player):
            ctx.set_think_output(place=None)
            await park()
        if player.step - self._looked > _AGAIN or self._place is None or _apart(self._place, player.place) > 2:
            self._looked, self._place, self._found = player.step, player.place, shelter.find(player)
        if self._found is not None:
            ctx.set_think_output(place=self._found)
            await park()


class Hide(Action):
    """Go into a shelter and close it."""

    does = "crafter:hide"
    utility = 1.0
    flags = (MOVE,)

    class Args(ActionArgs):
        """Where.

        Attributes:
            place: the shelter; None if the player is in one.
        """

        place: Shelter | None

    async def run(self, ctx: Context, args: Args) -> None:
        if args.place is not None:
            await _try(ctx.entity, shelter.close(ctx.entity, args.place))


class Slumber(Action):
    """Sleep until all energy is back, or something wakes it."""

    does = "crafter:slumber"
    utility = 1.0
    flags = (MOVE,)
    status_text_key = "sleeps"

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        if not shelter.is_closed(player) and player.inventory["energy"] > _WEARY:
            return
        waits_for_day = player.is_dark and not player.is_in_rock
        version = player.atlas.version
        for _ in range(_HOLDS_OUT):
            if player.inventory["energy"] < _FULL:
                await player.act("sleep")
                await player.wake()
            elif _is_mending(player) or (waits_for_day and player.is_dark):
                await ctx.sleep_ticks(_A_WHILE)
            else:
                break
            if player.atlas.version != version and not shelter.is_closed(player):
                break
            version = player.atlas.version


class Rest(_Need, CompoundAction):
    """Hide and sleep."""

    does = "crafter:rest"
    utility = (0.0, 1.0)
    bar = "energy"
    status_text_key = "goes to sleep"

    def worth(self, player: Player) -> float:
        bars = player.inventory
        tired = (0.95, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1, 0.0)[bars["energy"]]
        if player.is_dark:
            tired = max(tired, 0.1 if player.is_in_rock and bars["energy"] > _TIRED else 0.6)
        weak = (1.0, 0.95, 0.9, 0.8, 0.66, 0.0, 0.0, 0.0, 0.0, 0.0)[bars["health"]]
        if min(bars["food"], bars["drink"]) == 0:
            weak = 0.0  # to wait would make it worse
        return max(tired, weak)

    steps = (step("crafter:find_shelter"), step("crafter:hide", place=PREV.place), step("crafter:slumber"))


class RestInTheOpen(Action):
    """Sleep where one is: better than to drop."""

    does = "crafter:rest"
    utility = 0.3
    flags = (MOVE,)
    status_text_key = "sleeps in the open"

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        while player.inventory["energy"] > _WEARY:
            await player.signal("energy").wait()
        ctx.set_think_output()
        await park()

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        player: Player = ctx.entity
        await player.act("sleep")
        await player.wake()


def _apart(one: Cell, other: Cell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _is_mending(player: Player) -> bool:
    bars = player.inventory
    return bars["health"] < _WELL and min(bars["food"], bars["drink"]) > 1


async def _look_for(ctx: Context, material: str) -> None:
    try:
        await ctx.agent.gameplay.solve(Found(material))
    except DependencyFailedError:
        await ctx.entity.act("noop")


async def _try(player: Player, skill: Any) -> None:
    """Have a skill at work; when it cannot, lose a step and leave it at that: whoever asked for it will see."""
    try:
        await skill
    except legs.CannotAct:
        await player.act("noop")
