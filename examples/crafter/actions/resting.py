"""Resting: in a shelter if there is time for one, else where one is."""

from __future__ import annotations

from agentrt import MOVE, PREV, Action, ActionArgs, CompoundAction, Context, ThinkOutput, park, step
from examples.crafter import shelter
from examples.crafter.actions.needs import Need, attempt
from examples.crafter.player import Player
from examples.crafter.reach import Cell, apart
from examples.crafter.rules import RULES
from examples.crafter.shelter import Shelter

__all__ = ["FindShelter", "Hide", "Rest", "RestInTheOpen", "Slumber"]

_FULL = RULES["bars"]["most"]
_A_WHILE = 4  # steps
_AGAIN = 20  # steps until it looks again for a shelter from where it stands
_WEARY = 1  # energy at which it sleeps wherever it is
_HOLDS_OUT = 60  # times that it looks whether it is day, or it is well
_TIRED = 3  # energy at which it goes to sleep at night
_WELL = 7  # health


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

    async def think(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        if shelter.is_closed(player):
            ctx.set_think_output(place=None)
            await park()
        if player.step - self._looked > _AGAIN or self._place is None or apart(self._place, player.place) > 2:
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

    async def run(self, ctx: Context[Player], args: Args) -> None:
        if args.place is not None:
            await attempt(ctx.entity, shelter.close(ctx.entity, args.place))


class Slumber(Action):
    """Sleep until all energy is back, or something wakes it."""

    does = "crafter:slumber"
    utility = 1.0
    flags = (MOVE,)
    status_text_key = "sleeps"

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        if not shelter.is_closed(player) and player.inventory["energy"] > _WEARY:
            return
        waits_for_day = player.is_dark and not player.is_in_rock
        version, health = player.atlas.version, player.inventory["health"]
        for _ in range(_HOLDS_OUT):
            if player.inventory["health"] < health:
                await attempt(player, shelter.close_to_arrows(player))
                version = player.atlas.version
            health = player.inventory["health"]
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


class Rest(Need, CompoundAction):
    """Hide and sleep."""

    does = "crafter:rest"
    utility = (0.0, 1.0)
    bar = "tired"
    made_of = ("energy", "health", "is_dark")
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

    async def think(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        while player.inventory["energy"] > _WEARY:
            await player.signal("energy").wait()
        ctx.set_think_output()
        await park()

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        await player.act("sleep")
        await player.wake()


def _is_mending(player: Player) -> bool:
    bars = player.inventory
    return bars["health"] < _WELL and min(bars["food"], bars["drink"]) > 1
