"""The body of somebody in the world: where it is, how it is, what it carries, and what it knows.

A ``Body`` is an entity with signals for all that happens to it: ``attacked`` (with who did it), ``hurt`` (points),
``hungry`` (food that is left), ``affected`` (the effect), ``inventory`` (the kind that changed), ``moved`` (the place),
``seen`` (the kind of a landmark), ``dimension`` (its name), ``died``. Listening is all that a strategy needs for being
interrupted; nothing here knows of strategies.

What takes time is in ``legs`` and ``hands``. ``spend`` is how every act lets time pass: an act under which its body
died is over.

Tools: a block is dug with the fastest tool that is not *saved*. Pickaxes from the tier ``saves`` on are kept for what
needs them, as long as others are there; and when no others are there, down to the last ``reserve`` uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import Entity, sleep_ticks
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.inventory import Inventory, Stack
from agentrt_examples.miner.memory import Chart, Memory
from agentrt_examples.miner.places import NEIGHBORS, Place, above, eyes_of, squared
from agentrt_examples.miner.rules import BLOCKS, ITEMS, BlockKind, harvests
from agentrt_examples.miner.sight import has_line, look
from agentrt_examples.miner.vitals import Vitals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentrt_examples.miner.dimension import Dimension
    from agentrt_examples.miner.mobs import Creature
    from agentrt_examples.miner.paths import Step
    from agentrt_examples.miner.realm import World

__all__ = ["PACK", "REACH", "Body"]

PACK = "miner:ai_pack:miner"
"""Where its strategies come from."""

REACH = 20
"""The square of the distance from the eyes to what hands reach."""

_BURN = 4
_REMEMBERED = 3
_HARMLESS = 3  # blocks of a fall
_SIGHT = 16
_SAFE = 15 * 15
_LOOK_AFTER = 4  # blocks from where it looked around last


class Body(Entity):
    """Somebody in the world.

    Args:
        world: where it lives.
        name: its name.
        xray: whether it sees through rock.

    Attributes:
        world: as given.
        xray: as given.
        dimension: where it is.
        place: where its feet are.
        vitals: how it is.
        inventory: what it carries.
        memory: what it knows.
        creatures: where it saw which animal last.
        saves: the tier from which pickaxes are saved.
        reserve: how many uses of saved pickaxes are left for what needs them.
        deaths: how often it died.
        daylight: the height at which it was under the sky last.
        lost: what it left where it died: the dimension, the place, and how many of each item.
        way: the steps of the way that it goes; none while it does not walk. For whoever draws it.
        aim: the block that it goes to; None if to none. For whoever draws it.
    """

    __slots__ = (
        "_looked_from",
        "aim",
        "creatures",
        "daylight",
        "deaths",
        "dimension",
        "inventory",
        "lost",
        "memory",
        "place",
        "reserve",
        "saves",
        "vitals",
        "way",
        "world",
        "xray",
    )

    def __init__(self, world: World, name: str = "miner", *, xray: bool = False) -> None:
        super().__init__("miner", name=name, id=len(world.bodies) + 1, ai_packs=(PACK,))
        self.world = world
        self.xray = xray
        self.dimension: Dimension = next(iter(world.dimensions.values()))
        self.place: Place = world.spawn
        self.vitals = Vitals()
        self.inventory = Inventory()
        self.memory = Memory()
        self.creatures: dict[Creature, Place] = {}
        self.daylight = self.place[1]
        self.saves = 3
        self.reserve = 0
        self.deaths = 0
        self.lost: list[tuple[str, Place, dict[str, int]]] = []
        self.way: Sequence[Step] = ()
        self.aim: Place | None = None
        self._looked_from: Place | None = None
        self.vitals.hurt.connect(self.signal("hurt").emit)
        self.vitals.hungry.connect(self.signal("hungry").emit)
        self.vitals.affected.connect(self.signal("affected").emit)
        self.inventory.changed.connect(self.signal("inventory").emit)
        self.memory.seen.connect(self.signal("seen").emit)
        world.bodies.append(self)
        self.look()

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def chart(self) -> Chart:
        """The map of the dimension where it is."""
        return self.memory.chart(self.dimension)

    @property
    def tick(self) -> int:
        """The number of the tick."""
        return self.world.clock.tick

    def look(self) -> None:
        """Look around."""
        self._looked_from = self.place
        chart = self.chart
        for number in look(self.dimension, chart, self.place, xray=self.xray):
            self.memory.seen.emit(BLOCKS[number].name)
        if not self.dimension.has_sky or self.dimension.is_under_sky(eyes_of(self.place)):
            chart.explore(self.place[0], self.place[2])
            self.daylight = self.place[1]
        for creature in self.world.fauna.near(self, _SIGHT):
            if has_line(self.dimension, eyes_of(self.place), creature.place):
                self.creatures[creature] = creature.place
        self.creatures = {one: place for one, place in self.creatures.items() if not one.is_destroyed}

    def look_if_far(self) -> None:
        """Look around if the last look was somewhere else."""
        before = self._looked_from
        if before is None or max(abs(a - b) for a, b in zip(before, self.place, strict=True)) >= _LOOK_AFTER:
            self.look()

    def uncover(self, place: Place) -> None:
        """See what a change of a block shows: the block, its neighbors, and a hollow behind it.

        Args:
            place: where a block changed.
        """
        chart, dimension = self.chart, self.dimension
        chart.note(place, dimension.at(place))
        if not BLOCKS[dimension.at(place)].clear:
            return
        for x, y, z in NEIGHBORS:
            beside = (place[0] + x, place[1] + y, place[2] + z)
            kind = BLOCKS[dimension.at(beside)]
            if chart.note(beside, kind.number):
                if kind.landmark:
                    self.memory.seen.emit(kind.name)
                if kind.clear:
                    self._looked_from = None

    def reaches(self, place: Place) -> bool:
        """Whether its hands reach a place: near enough, and nothing stands in between.

        Args:
            place: the place.
        """
        eyes = eyes_of(self.place)
        return squared(eyes, place) <= REACH and has_line(self.dimension, eyes, place)

    @property
    def depth(self) -> int:
        """How far it stands below where it last was under the sky."""
        return max(0, self.daylight - self.place[1])

    def is_here(self, creature: Creature) -> bool:
        """Whether a creature lives, and in the same dimension.

        Args:
            creature: one that was seen.
        """
        return not creature.is_destroyed and creature.dimension is self.dimension

    def is_rid_of(self, creature: Creature) -> bool:
        """Whether somebody who attacked is dead, or lost it.

        Args:
            creature: who attacked.
        """
        return not self.is_here(creature) or squared(creature.place, self.place) > _SAFE

    def tool_for(self, block: BlockKind) -> Stack | None:
        """What it would dig a block with; None for bare hands.

        Args:
            block: the kind of the block.
        """
        fit = [tool for tool in self.inventory.tools(block.tool) if harvests(ITEMS[tool.item], block)]
        if block.tier < self.saves:
            lesser = [tool for tool in fit if ITEMS[tool.item].tier < self.saves]
            saved = self.inventory.uses_left(block.tool, self.saves)
            fit = lesser or (fit if saved > self.reserve else [])
        return max(fit, key=lambda tool: (ITEMS[tool.item].speed, -tool.left), default=None)

    # --- what happens to it -------------------------------------------------------------------------------------------

    def struck(self, by: Creature) -> None:
        """Something struck it.

        Args:
            by: what did.
        """
        self.world.note("struck", f"{by.name} strikes {self.name}")
        self.creatures[by] = by.place
        self.vitals.lose(by.rules.damage)
        if by.rules.effect:
            effect, ticks = by.rules.effect
            self.vitals.affect(effect, self.tick + ticks)
        self.signal("attacked").emit(by)
        self._die_if_dead()

    def pulse(self, tick: int) -> None:
        """A second has passed.

        Args:
            tick: now.
        """
        if BLOCKS[self.dimension.at(self.place)].burns:
            self.vitals.lose(_BURN)
        self.vitals.pulse(tick)
        self._die_if_dead()

    def move_to(self, place: Place, dimension: Dimension | None = None) -> None:
        """Be somewhere else.

        Args:
            place: where its feet are from now on.
            dimension: where that is; None for the same.
        """
        self.place = place
        if dimension is not None and dimension is not self.dimension:
            self.dimension = dimension
            self._looked_from = None
            self.signal("dimension").emit(dimension.name)
        self.look_if_far()
        if self.world.heaps:
            self.world.gather(self.dimension, place, self.inventory)
        self.signal("moved").emit(place)

    def settle(self) -> None:
        """Fall, if there is no ground under its feet any more."""
        depth, there = 0, self.place
        while not self.dimension.can_stand(there) and there[1] > 1:
            depth += 1
            there = above(there, -1)
        if depth:
            self.move_to(there)
            self.vitals.lose(max(0, depth - _HARMLESS))
            self._die_if_dead()

    def _die_if_dead(self) -> None:
        if self.vitals.health:
            return
        self.deaths += 1
        self.world.note("died", f"{self.name} died")
        left: dict[str, int] = {}
        for stack in self.inventory.empty():  # a tool that lies on the ground is as good as new again
            self.world.lay(self.dimension, self.place, stack.item, stack.count)
            left[stack.item] = left.get(stack.item, 0) + stack.count
        self.lost = [*self.lost, (self.dimension.name, self.place, left)][-_REMEMBERED:]
        self.vitals.recover()
        self.move_to(self.world.spawn, next(iter(self.world.dimensions.values())))
        self.signal("died").emit()

    async def spend(self, act: str, ticks: int) -> None:
        """Let the time of an act pass.

        Args:
            act: what is done, in a word.
            ticks: how long it takes.

        Raises:
            CannotAct: it died in the meantime.
        """
        deaths = self.deaths
        await sleep_ticks(ticks)
        if self.deaths != deaths:
            raise CannotAct(act, "died", f"{self.name} died")
