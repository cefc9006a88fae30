"""The world of the miner: its dimensions, who and what is in them, and what happens by itself.

``World`` owns the blocks, the creatures, the furnaces, what lies on the ground, the links between portals and the time
of day. It has one entrance for time, ``tick``, which looks at one number when nothing is due. It knows no agent.

All chance comes from streams with names of their own (terrain, drops, creatures), so that what one of them draws does
not change what another one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from agentrt.kernel import Stream
from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.furnace import Furnace
from agentrt_examples.miner.mobs import Clock, Fauna, Prey
from agentrt_examples.miner.places import Place, squared
from agentrt_examples.miner.rules import BLOCK_NUMBERS, Drop
from agentrt_examples.miner.server import Server
from agentrt_examples.miner.terrain import SEA, Grown, grow_overworld
from agentrt_examples.miner.underworld import LAKES, build_portal, grow_nether
from agentrt_examples.miner.vitals import PULSE

if TYPE_CHECKING:
    from agentrt_examples.miner.inventory import Inventory

__all__ = ["DAY", "NIGHTFALL", "Inhabitant", "World"]

DAY = 12_000
"""Ticks from morning to morning."""

NIGHTFALL = 8_000
"""The tick of the day at which it gets dark."""

_Gate = tuple[str, Place]


class Inhabitant(Prey, Protocol):
    """Somebody who acts in the world, as the world sees it."""

    def pulse(self, tick: int) -> None:
        """A second has passed."""


class World:
    """Everything but the agents.

    Args:
        clock: tells the tick.
        stream: gives a random stream for a name.
        has_shop: whether the server has a shop.
        overworld: another overworld than the one that grows from the seed.

    Attributes:
        clock: as given.
        dimensions: by name; the first is where everybody begins.
        spawn: where everybody begins.
        fauna: the creatures.
        bodies: who acts here.
        furnaces: by dimension and place.
        heaps: what lies on the ground, by dimension and place.
        links: where each portal block leads to.
        server: answers commands.
        note: called with a word and a sentence when something happened.
    """

    __slots__ = (
        "_drops",
        "_next_pulse",
        "bodies",
        "clock",
        "dimensions",
        "due",
        "fauna",
        "furnaces",
        "heaps",
        "links",
        "note",
        "server",
        "spawn",
    )

    def __init__(
        self,
        clock: Clock,
        stream: Callable[[str], Stream],
        *,
        has_shop: bool = False,
        overworld: Grown | None = None,
    ) -> None:
        self.clock = clock
        self._drops = stream("drops")
        overworld, nether = overworld or grow_overworld(stream("overworld")), grow_nether(stream("nether"))
        self.dimensions: dict[str, Dimension] = {one.dimension.name: one.dimension for one in (overworld, nether)}
        self.bodies: list[Inhabitant] = []
        self.furnaces: dict[_Gate, Furnace] = {}
        self.heaps: dict[_Gate, dict[str, int]] = {}
        self.links: dict[_Gate, _Gate] = {}
        self.server = Server(has_shop=has_shop)
        self.note: Callable[[str, str], object] = _nothing
        self.fauna = Fauna(self, stream("creatures"))
        self.spawn = self._find_spawn(overworld.dimension)
        self._link_portals(stream("portals"))
        for kind, place in overworld.animals:
            if overworld.dimension.can_stand(place):  # nobody is left within the walls of a portal
                self.fauna.add(kind, overworld.dimension, place)
        self.due = 0
        self._next_pulse = PULSE

    # --- making -------------------------------------------------------------------------------------------------------

    def _find_spawn(self, dimension: Dimension) -> Place:
        """The place on dry ground that is the nearest to the middle."""
        middle_x, middle_z = dimension.size[0] // 2, dimension.size[2] // 2
        columns = sorted(
            ((x - middle_x) ** 2 + (z - middle_z) ** 2, x, z)
            for x in range(middle_x - 30, middle_x + 31)
            for z in range(middle_z - 30, middle_z + 31)
        )
        grass = BLOCK_NUMBERS["grass"]
        for _, x, z in columns:
            feet = (x, dimension.surface(x, z), z)
            if feet[1] > SEA + 1 and dimension.at((x, feet[1] - 1, z)) == grass and dimension.can_stand(feet):
                return feet
        return middle_x, dimension.surface(middle_x, middle_z), middle_z

    def _link_portals(self, random: Stream) -> None:
        first, second = self.dimensions.values()
        x, z = (
            self.spawn[0] + random.between(14, 24) * (1, -1)[random.below(2)],
            self.spawn[2] + random.between(-20, 20),
        )
        ground = max(first.surface(column, row) for column in range(x - 1, x + 5) for row in range(z - 2, z + 3))
        here = build_portal(first, (x, min(ground, SEA + 12) - 1, z))
        x, z = random.between(20, 40), random.between(20, 40)
        there = build_portal(second, (x, LAKES + 4, z))
        for one, other in ((here, there), (there, here)):
            names = (first.name, second.name) if one is here else (second.name, first.name)
            for place in one:
                self.links[names[0], place] = (names[1], other[0])

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def is_night(self) -> bool:
        """Whether the sky is dark."""
        return self.clock.tick % DAY >= NIGHTFALL

    def is_dark(self, dimension: Dimension, place: Place) -> bool:
        """Whether there is no daylight at a place.

        Args:
            dimension: where.
            place: the place.
        """
        return self.is_night or not dimension.is_under_sky(place)

    # --- changing -----------------------------------------------------------------------------------------------------

    def put(self, dimension: Dimension, place: Place, kind: str) -> None:
        """Put a block somewhere.

        Args:
            dimension: where.
            place: the place.
            kind: the name of its kind.
        """
        dimension.put(place, BLOCK_NUMBERS[kind])
        key = (dimension.name, place)
        if kind == "furnace":
            self.furnaces[key] = Furnace()
        elif key in self.furnaces:
            for item, count in self.furnaces.pop(key).clear(self.clock.tick).items():
                self.lay(dimension, place, item, count)

    def draw(self, drops: Iterable[Drop]) -> dict[str, int]:
        """Draw what drops.

        Args:
            drops: what may.

        Returns:
            How many of each item.
        """
        found: dict[str, int] = {}
        for drop in drops:
            if drop.chance >= 1000 or self._drops.below(1000) < drop.chance:
                count = drop.least if drop.least == drop.most else self._drops.between(drop.least, drop.most)
                found[drop.item] = found.get(drop.item, 0) + count
        return found

    def lay(self, dimension: Dimension, place: Place, item: str, count: int) -> None:
        """Lay something onto the ground.

        Args:
            dimension: where.
            place: the place.
            item: its kind.
            count: how many.
        """
        heap = self.heaps.setdefault((dimension.name, place), {})
        heap[item] = heap.get(item, 0) + count

    def gather(self, dimension: Dimension, around: Place, hands: Inventory) -> None:
        """Pick up what lies near a place, as far as it fits and is wanted.

        Args:
            dimension: where.
            around: near which place.
            hands: who picks it up.
        """
        near = [key for key in self.heaps if key[0] == dimension.name and squared(key[1], around) <= 6]
        for key in near:
            heap = self.heaps.pop(key)
            left = {item: hands.take_in(item, count) for item, count in heap.items()}
            if any(left.values()):
                self.heaps[key] = {item: count for item, count in left.items() if count}

    # --- time ---------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Let happen what is due."""
        tick = self.clock.tick
        if tick < self.due:
            return
        if tick >= self._next_pulse:
            self._next_pulse = tick + PULSE
            for body in self.bodies:
                body.pulse(tick)
        if tick >= self.fauna.due:
            self.fauna.tick(tick)
        self.due = min(self._next_pulse, self.fauna.due)


def _nothing(_word: str, _text: str) -> None:
    pass
