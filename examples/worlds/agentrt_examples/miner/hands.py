"""Hands: digging, putting down, crafting, smelting, eating, striking, passing a portal, and talking to the server.

Each act checks first, then lets its time pass, then checks what may have changed in the meantime, and only then changes
the world: so an act that is cancelled at its await has changed nothing.
"""

from __future__ import annotations

from agentrt_examples.miner.body import Body
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.furnace import Furnace
from agentrt_examples.miner.inventory import Stack
from agentrt_examples.miner.mobs import Creature
from agentrt_examples.miner.places import NEIGHBORS, Place, squared, steps_apart
from agentrt_examples.miner.rules import BLOCKS, ITEMS, RECIPES, Recipe, dig_ticks, harvests
from agentrt_examples.miner.times import CHAT_TICKS, CRAFT_TICKS, EAT_TICKS, PORTAL_TICKS, PUT_TICKS, STRIKE_TICKS

__all__ = ["Hands"]

_STRIKE = 9  # the square of the distance that a blow reaches
_TIRING = {"dig": 2, "strike": 8}


class Hands(Body):
    """A body that does things with its hands. See ``Body`` for its state."""

    __slots__ = ()

    # --- blocks -------------------------------------------------------------------------------------------------------

    async def dig(self, place: Place, tool: Stack | None = None) -> dict[str, int]:
        """Dig a block, and take what drops.

        Args:
            place: where.
            tool: what to dig with, from its inventory; None chooses the tool (see ``tool_for``).

        Returns:
            What dropped; what has no room lies on the ground then.

        Raises:
            CannotAct: it is out of reach, or nobody can dig it; or it was gone in the meantime.
        """
        block = BLOCKS[self.dimension.at(place)]
        if not block.dig:
            raise CannotAct("dig", "tool", f"nothing digs {block.name}", place)
        if not self.reaches(place):
            raise CannotAct("dig", "reach", f"{block.name} is out of reach", place)
        tool = tool or self.tool_for(block)
        kind = None if tool is None else ITEMS[tool.item]
        await self.spend("dig", dig_ticks(kind, block))
        if self.dimension.at(place) != block.number:
            raise CannotAct("dig", "blocked", f"there is no {block.name} any more", place)
        drops = self.world.draw(block.drops) if harvests(kind, block) else {}
        self.world.put(self.dimension, place, "air")
        if tool is not None and tool.left and kind is not None and kind.tool == block.tool:
            self.inventory.use(tool)
        self.vitals.exhaust(_TIRING["dig"])
        for item, count in drops.items():
            self._take(item, count, place)
        self.uncover(place)
        self.look_if_far()
        self.world.note("dug", block.name)
        self.settle()
        return drops

    def _take(self, item: str, count: int, place: Place) -> None:
        left = self.inventory.take_in(item, count)
        if left and (self.inventory.keep.get(item, ITEMS[item].keep) < 0):  # what is unwanted crumbles
            self.world.lay(self.dimension, place, item, left)

    async def put_down(self, place: Place, item: str) -> None:
        """Put a block down.

        Args:
            place: where; in air or a liquid, beside a block.
            item: what.

        Raises:
            CannotAct: it is out of reach, there is no room, nothing to hold it, or no such item.
        """
        kind = ITEMS[item].places
        if not kind or not self.inventory.count(item):
            raise CannotAct("put down", "missing", f"there is no {item} to put down", place)
        if not self.reaches(place):
            raise CannotAct("put down", "reach", "the place is out of reach", place)
        self._require_space(place)
        await self.spend("put down", PUT_TICKS)
        self._require_space(place)
        self.inventory.remove(item)
        self.world.put(self.dimension, place, kind)
        self.uncover(place)

    def _require_space(self, place: Place) -> None:
        dimension = self.dimension
        bodies = (self.place, (self.place[0], self.place[1] + 1, self.place[2]))
        if not BLOCKS[dimension.at(place)].passable or place in bodies or dimension.name_at(place) == "portal":
            raise CannotAct("put down", "space", "something is there already", place)
        beside = ((place[0] + x, place[1] + y, place[2] + z) for x, y, z in NEIGHBORS)
        if all(BLOCKS[dimension.at(other)].passable for other in beside):
            raise CannotAct("put down", "space", "there is nothing to hold it", place)

    def within_reach(self, kind: str) -> Place | None:
        """The nearest block of a kind that its hands reach; None if there is none.

        Args:
            kind: the name of the kind, a landmark.
        """
        for place in self.chart.nearest(kind, self.place, limit=4):
            if self.reaches(place) and self.dimension.name_at(place) == kind:
                return place
        return None

    # --- making things ------------------------------------------------------------------------------------------------

    async def craft(self, item: str, times: int = 1) -> None:
        """Craft something, by the first recipe for which everything is there.

        Args:
            item: what.
            times: how often.

        Raises:
            CannotAct: there is no recipe, something is missing, no table is within reach, or there is no room.
        """
        recipe = self._recipe(item)
        for _ in range(times):
            self._require(recipe)
            await self.spend("craft", CRAFT_TICKS)
            self._require(recipe)
            for need, count in recipe.needs.items():
                self.inventory.remove(need, count)
            self._take(recipe.makes, recipe.count, self.place)
            self.world.note("crafted", recipe.makes)

    def _recipe(self, item: str) -> Recipe:
        recipes = [recipe for recipe in RECIPES if recipe.makes == item]
        if not recipes:
            raise CannotAct("craft", "missing", f"there is no recipe for {item}")
        return next((recipe for recipe in recipes if self.inventory.has(recipe.needs)), recipes[0])

    def _require(self, recipe: Recipe) -> None:
        if not self.inventory.has(recipe.needs):
            needs = ", ".join(f"{count} {need}" for need, count in recipe.needs.items())
            raise CannotAct("craft", "missing", f"{recipe.makes} takes {needs}")
        if recipe.at and self.within_reach(recipe.at) is None:
            raise CannotAct("craft", "reach", f"{recipe.makes} is made at a {recipe.at}, and none is within reach")

    async def smelt(self, place: Place, item: str, count: int, fuel: str, pieces: int) -> int:
        """Smelt something, and wait for it.

        Args:
            place: where the furnace is.
            item: what.
            count: how many.
            fuel: what to burn.
            pieces: how many of that.

        Returns:
            How many pieces were taken out; less than asked for if the fuel did not last.

        Raises:
            CannotAct: no furnace is within reach, or something is missing.
        """
        self.load(place, item, count, fuel, pieces)
        taken = 0
        while True:
            furnace = self._furnace(place)
            wait = furnace.due(self.tick)
            taken += self.unload(place)
            if not wait:
                return taken
            await self.spend("smelt", wait)

    def load(self, place: Place, item: str, count: int, fuel: str, pieces: int) -> None:
        """Put something into a furnace, and go on with something else.

        Args:
            place: where the furnace is.
            item: what to smelt.
            count: how many.
            fuel: what to burn.
            pieces: how many of that; 0 if enough is in it.

        Raises:
            CannotAct: no furnace is within reach, or something is missing.
        """
        furnace = self._furnace(place)
        needs = {item: count}
        if pieces:
            needs[fuel] = needs.get(fuel, 0) + pieces
        if not self.inventory.has(needs):
            raise CannotAct("smelt", "missing", f"there is not enough {item} or {fuel}", place)
        furnace.load(self.tick, item, count, fuel, pieces)
        for need, number in needs.items():
            self.inventory.remove(need, number)

    def remaining(self, place: Place) -> int:
        """Ticks until the next piece in a furnace is done; 0 if nothing burns.

        Args:
            place: where the furnace is.

        Raises:
            CannotAct: no furnace is within reach.
        """
        return self._furnace(place).due(self.tick)

    def unload(self, place: Place) -> int:
        """Take out of a furnace what is done.

        Args:
            place: where the furnace is.

        Returns:
            How many pieces.

        Raises:
            CannotAct: no furnace is within reach.
        """
        done = self._furnace(place).take(self.tick)
        for item, count in done.items():
            self._take(item, count, self.place)
        return sum(done.values())

    def _furnace(self, place: Place) -> Furnace:
        found = self.world.furnaces.get((self.dimension.name, place))
        if found is None or not self.reaches(place):
            raise CannotAct("smelt", "reach", "there is no furnace within reach", place)
        return found

    # --- everything else ----------------------------------------------------------------------------------------------

    async def eat(self, item: str) -> None:
        """Eat something.

        Args:
            item: what.

        Raises:
            CannotAct: there is none, or it is no food.
        """
        if not ITEMS[item].food or not self.inventory.count(item):
            raise CannotAct("eat", "missing", f"there is no {item} to eat")
        await self.spend("eat", EAT_TICKS)
        self.inventory.remove(item)
        self.vitals.feed(ITEMS[item].food)
        self.world.note("ate", item)

    async def strike(self, creature: Creature) -> bool:
        """Strike a creature, with the best that it has.

        Args:
            creature: which.

        Returns:
            Whether that was its end.

        Raises:
            CannotAct: it is out of reach, or dead.
        """
        self._require_reach(creature)
        await self.spend("strike", STRIKE_TICKS)
        self._require_reach(creature)
        weapon = max(
            (stack for kind in ("sword", "axe", "pickaxe") for stack in self.inventory.tools(kind)),
            key=lambda stack: ITEMS[stack.item].damage,
            default=None,
        )
        self.vitals.exhaust(_TIRING["strike"])
        creature.health -= 1 if weapon is None else ITEMS[weapon.item].damage
        if weapon is not None:
            self.inventory.use(weapon)
        if creature.health > 0:
            return False
        self.world.fauna.remove(creature)
        self.world.note("killed", creature.kind)
        for item, count in self.world.draw(creature.rules.drops).items():
            self._take(item, count, creature.place)
        return True

    def _require_reach(self, creature: Creature) -> None:
        if creature.is_destroyed:
            raise CannotAct("strike", "missing", f"{creature.name} is dead")
        if creature.dimension is not self.dimension or squared(creature.place, self.place) > _STRIKE:
            raise CannotAct("strike", "reach", f"{creature.name} is out of reach", creature.place)

    async def enter(self, portal: Place) -> None:
        """Pass through a portal, from beside it.

        Args:
            portal: one of its blocks.

        Raises:
            CannotAct: there is none, or it is out of reach.
        """
        link = self.world.links.get((self.dimension.name, portal))
        if link is None or self.dimension.name_at(portal) != "portal":
            raise CannotAct("enter", "missing", "there is no portal", portal)
        if steps_apart(self.place, portal) > 2:
            raise CannotAct("enter", "reach", "the portal is out of reach", portal)
        await self.spend("enter", PORTAL_TICKS)
        name, place = link
        self.world.note("passed", name)
        self.move_to(place, self.world.dimensions[name])

    async def say(self, text: str) -> list[str]:
        """Say something to the server.

        Args:
            text: the command.

        Returns:
            What it answers, line by line.
        """
        await self.spend("say", CHAT_TICKS)
        return self.world.server.answer(self.name, self.inventory, text)
