"""Legs: walking along a way, digging and building where it says so, and finding a new way when the world is different.

Each step is checked against the world when it is made: what was believed to be rock may be a cave, and what was
believed to be ground may be lava. Then the step is refused (``blocked`` or ``danger``), the surroundings are looked at,
and the next way is found with what is known then.

An act can be cancelled at every await, and then the body stands where its last whole step has brought it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from agentrt_examples.miner.body import REACH
from agentrt_examples.miner.dimension import SOLID
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.hands import Hands
from agentrt_examples.miner.memory import UNKNOWN
from agentrt_examples.miner.paths import FALL, JUMP, STEP, SWIM, Costs, Step, Way, find_way
from agentrt_examples.miner.places import SIDES, Place, above, eyes_of, squared, steps_apart
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS, ITEMS, ItemKind
from agentrt_examples.miner.terrain import SEA

if TYPE_CHECKING:
    from agentrt_examples.miner.realm import World

__all__ = ["Miner"]

_DEEPEST_FALL = 3
_EXHAUSTING = 1
_LEGS = 80
_EDGE = 6  # blocks: whoever is nearer to the edge of the world has reached it
_SETBACKS = 8
_BUILDING = {"dirt": 1, "ember_rock": 1, "cobblestone": 16}  # from how many on it is put down: some is needed for tools
_STRIDE = 16  # so many steps, and then the ground is looked for anew
_DUG = tuple(BLOCKS[BLOCK_NUMBERS[name]] for name in ("stone", "oak_log"))  # one block for each kind of tool


@lru_cache(maxsize=256)
def _costs(tools: tuple[tuple[str, ItemKind], ...], *, can_build: bool) -> Costs:
    return Costs(dict(tools), can_build=can_build)


class Miner(Hands):
    """Somebody who walks, digs, builds and makes things. See ``Body`` for its state.

    Args:
        world: where it lives.
        name: its name.
        xray: whether it sees through rock.
    """

    __slots__ = ()

    def __init__(self, world: World, name: str = "miner", *, xray: bool = False) -> None:
        super().__init__(world, name, xray=xray)
        self.add(self, Gatherer)

    # --- ways ---------------------------------------------------------------------------------------------------------

    def costs(self) -> Costs:
        """What it costs to get through the blocks, with what it carries."""
        found = ((block.tool, self.tool_for(block)) for block in _DUG)
        tools = tuple((tool, ITEMS[stack.item]) for tool, stack in found if stack is not None)
        return _costs(tools, can_build=self._building() is not None)

    def way_to(self, goal: Place) -> Way | None:
        """The way to a place, by what it knows; or the first leg of it.

        Args:
            goal: where its feet shall be.
        """
        return find_way(self.chart, self.costs(), self.place, goal)

    def believes_free(self, place: Place) -> bool:
        """Whether a body fits into a place, as far as it knows.

        Args:
            place: in the dimension.
        """
        number = self.chart.at(place)
        return number != UNKNOWN and BLOCKS[number].passable

    def _building(self) -> str | None:
        return next((item for item, least in _BUILDING.items() if self.inventory.count(item) >= least), None)

    # --- walking ------------------------------------------------------------------------------------------------------

    async def walk(self, way: Way, until: Callable[[], bool] = bool) -> None:
        """Walk along a way.

        Args:
            way: the way; it begins where it stands.
            until: asked before each step; it stays where it is when the answer is yes.

        Raises:
            CannotAct: the world is not as it was believed.
        """
        self.way = way.steps
        try:
            for step in way.steps:
                if until():
                    return
                await self._step(step)
        finally:
            self.way = ()

    async def go(self, goal: Place, until: Callable[[], bool] = bool) -> None:
        """Go somewhere, however far it is.

        Args:
            goal: where its feet shall be.
            until: asked before each step; it stays where it is when the answer is yes.

        Raises:
            CannotAct: there is no way (``way``), or it died.
        """
        setbacks = 0
        for _ in range(_LEGS):
            if self.place == goal or until():
                return
            way = self.way_to(goal)
            if way is None:
                break
            try:
                await self.walk(way, until)
            except CannotAct as fault:
                setbacks += 1
                if fault.reason == "died" or setbacks > _SETBACKS:
                    raise
                self.look()
        if self.place != goal and not until():
            raise CannotAct("go", "way", "no way leads there", goal)

    async def travel(self, x: int, z: int, until: Callable[[], bool] = bool) -> None:
        """Go to a column, along the ground as far as that is known.

        Args:
            x: the column; the nearest one that one can go to, if it lies beyond the edge.
            z: the row.
            until: as for ``go``.

        Raises:
            CannotAct: there is no way, or it died.
        """
        x, z = self.within(x, z)
        for _ in range(_LEGS):
            if (self.place[0], self.place[2]) == (x, z) or until():
                return
            there = (x, self._ground(x, z), z)
            way = self.way_to(there)
            if way is None:
                break
            short = Way(way.steps[:_STRIDE], way.cost, is_whole=False)
            try:
                await self.walk(short, until)
            except CannotAct as fault:
                if fault.reason == "died":
                    raise
                self.look()
        if not until():
            raise CannotAct("travel", "way", f"no way leads to the column {x},{z}")

    def within(self, x: int, z: int) -> tuple[int, int]:
        """The column nearest to another one that is not at the edge of the world.

        Args:
            x: the column.
            z: the row.
        """
        size = self.chart.size
        return min(size[0] - _EDGE, max(_EDGE - 1, x)), min(size[2] - _EDGE, max(_EDGE - 1, z))

    def _ground(self, x: int, z: int) -> int:
        """Where the ground of a column is, as far as is known; else as high as where it stands."""
        known = self.chart.blocks[x, :, z].tolist()
        firm = self.costs().firm
        for y in range(len(known) - 2, 1, -1):
            if known[y] != UNKNOWN and firm[known[y]]:
                return y + 1
        return max(self.place[1], SEA + 2) if self.dimension.has_sky else self.place[1]

    async def approach(self, target: Place) -> None:
        """Go where its hands reach a block.

        Args:
            target: the block.

        Raises:
            CannotAct: there is no way, or it died.
        """
        if self.reaches(target):
            return
        self.aim = target
        try:
            for stand in self._stands(target):
                try:
                    await self.go(stand, lambda: self.reaches(target))
                except CannotAct as fault:
                    if fault.reason == "died":
                        raise
                if self.reaches(target):
                    return
        finally:
            self.aim = None
        raise CannotAct("approach", "way", "no way leads to where hands reach it", target)

    def _stands(self, target: Place) -> list[Place]:
        """Where to stand for a block, as far as is known: in its place, below it, beside it."""
        chart, firm = self.chart, self.costs().firm
        columns = [(0, 0), *SIDES]
        found = [
            (target[0] + x, target[1] - depth, target[2] + z)
            for x, z in columns
            for depth in ((0, 1, 2, 3, 4) if (x, z) == (0, 0) else (0, 1, 2))
        ]
        near = [feet for feet in found if feet[1] > 1 and squared(eyes_of(feet), target) <= REACH]
        stands = [feet for feet in near if firm[chart.at(above(feet, -1))]]
        if self._building() is not None:  # where there is no ground, some can be put down
            stands = [*stands[:3], *(feet for feet in near if feet not in stands)]
        return stands[:4]

    # --- as a gatherer ------------------------------------------------------------------------------------------------

    @property
    def stock(self) -> dict[str, int]:
        """How many it carries of each kind of item; a copy."""
        return self.inventory.counts()

    @property
    def uses(self) -> dict[str, int]:
        """How often all its tools of each kind of item can still be used, together."""
        found: dict[str, int] = {}
        for stack in self.inventory.slots:
            if stack is not None and stack.left:
                found[stack.item] = found.get(stack.item, 0) + stack.left
        return found

    @property
    def has_looked(self) -> bool:
        """Whether it has looked around where it stands: it always has, since it looks while it walks."""
        return True

    @property
    def where(self) -> str:
        """The name of the dimension that it is in."""
        return self.dimension.name

    def known(self, kind: str, limit: int = 1) -> list[Place]:
        """The blocks of a kind that it knows here, the nearest first.

        Args:
            kind: the name of the kind.
            limit: how many at most.
        """
        return self.chart.nearest(kind, self.place, limit=limit, tick=self.tick)

    def shun(self, place: Place, seconds: float) -> None:
        """Leave a place out for a while.

        Args:
            place: which.
            seconds: of game time.
        """
        self.chart.shun(place, self.tick + int(seconds * 20))

    def want(self, item: str, count: int) -> None:
        """Keep so many of an item from now on, also where it would leave them lying otherwise.

        Args:
            item: the kind of the item.
            count: how many.
        """
        if 0 <= self.inventory.keep.get(item, ITEMS[item].keep) < count:
            self.inventory.keep[item] = count

    async def look_around(self) -> None:
        """See what there is to see from where it stands; that takes no time."""
        self.look()

    async def go_to(self, place: Place) -> None:
        """Go somewhere. See ``go``.

        Args:
            place: where its feet shall be.
        """
        await self.go(place)

    async def mine(self, place: Place) -> None:
        """Dig a block within reach, with the tool that suits it. See ``dig``.

        Args:
            place: where the block is.
        """
        await self.dig(place)

    async def pick_up(self) -> None:
        """Pick up what lies around; that takes no time."""
        self.world.gather(self.dimension, self.place, self.inventory)

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self, step: Step) -> None:
        here, there = self.place, step.place
        if steps_apart(here, there) > 2 + abs(here[1] - there[1]):
            raise CannotAct("walk", "blocked", "the way does not begin here", there)
        for place in step.digs:
            if not BLOCKS[self.dimension.at(place)].passable:
                await self.dig(place)
        if there == above(here):
            await self._raise(here)
            return
        if step.builds is not None and not SOLID[self.dimension.at(step.builds)]:
            await self.put_down(step.builds, self._building_or_fail())
        fall = self._fall(there)
        landing = above(there, -fall)
        rise = landing[1] - here[1]
        ticks = JUMP if rise > 0 else STEP + FALL * max(0, -rise)
        if BLOCKS[self.dimension.at(landing)].liquid:
            ticks += SWIM
        await self.spend("walk", ticks * 2 if self.vitals.has("slowness") else ticks)
        if self.place != here:
            raise CannotAct("walk", "blocked", "it is somewhere else now", there)
        self.vitals.exhaust(_EXHAUSTING)
        self.move_to(landing)
        if fall:
            raise CannotAct("walk", "blocked", "the ground was lower than it seemed", there)

    async def _raise(self, here: Place) -> None:
        item = self._building_or_fail()
        await self.spend("climb", JUMP)
        if self.place != here:
            raise CannotAct("climb", "blocked", "it is somewhere else now", here)
        self.move_to(above(here))
        try:
            await self.put_down(here, item)
        except BaseException:
            self.move_to(here)  # cancelled in the air: it comes down again
            raise

    def _building_or_fail(self) -> str:
        item = self._building()
        if item is None:
            raise CannotAct("build", "missing", "there are no blocks to put down")
        return item

    def _fall(self, feet: Place) -> int:
        """How far it would fall.

        Raises:
            CannotAct: it does not fit there, or would be hurt.
        """
        dimension = self.dimension
        if not dimension.fits(feet):
            raise CannotAct("walk", "blocked", f"{dimension.name_at(feet)} is in the way", feet)
        depth = 0
        while not dimension.can_stand(above(feet, -depth)):
            if BLOCKS[dimension.at(above(feet, -depth))].burns:
                raise CannotAct("walk", "danger", "that is lava", feet)
            depth += 1
            if depth > _DEEPEST_FALL:
                raise CannotAct("walk", "danger", "it is too deep to fall", feet)
        if BLOCKS[dimension.at(above(feet, -depth))].burns or BLOCKS[dimension.at(above(feet))].burns:
            raise CannotAct("walk", "danger", "that is lava", feet)
        return depth
