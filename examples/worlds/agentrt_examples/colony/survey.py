"""The survey: which entity under a tag is the nearest, without asking for the way to each of them.

The ground is divided into blocks of eight by eight cells; for each tag that somebody asked for, the survey knows who
stands in which block. It looks at the block of the asker, then at the blocks around it, ring by ring, and stops when
nothing in the next ring can be nearer than what it has: a path is never cheaper than its length in steps of the
cheapest ground. So the answer is exact, and costs what the neighborhood costs, not the world.

Of equally near ones the one is taken that came first under the tag, as if all had been compared in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from agentrt import Entity
from agentrt.kernel import Connection
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.census import Census
from agentrt_examples.colony.terrain import Cell, Ground

if TYPE_CHECKING:
    from agentrt_examples.colony.paths import GridPathFinder

__all__ = ["Survey"]

_BLOCK = 8
_FEW = 12


class _Blocks:
    """Who of one tag stands in which block. The census tells who comes and goes, positions tell who moves."""

    __slots__ = ("_at", "_connections", "inside")

    def __init__(self) -> None:
        self.inside: dict[Cell, dict[Entity, Cell]] = {}
        self._at: dict[Entity, Cell] = {}
        self._connections: dict[Entity, Connection] = {}

    def came(self, entity: Entity) -> None:
        """An entity was put under the tag."""
        position = entity[Position]
        self._enter(entity, position.location)
        self._connections[entity] = position.moved.connect(lambda cell: self._move(entity, cell))

    def went(self, entity: Entity) -> None:
        """An entity was taken from the tag."""
        self._connections.pop(entity).close()
        self._leave(entity)

    def _move(self, entity: Entity, cell: Cell) -> None:
        block = self._at[entity]
        if block == (cell[0] // _BLOCK, cell[1] // _BLOCK):
            self.inside[block][entity] = cell
        else:
            self._leave(entity)
            self._enter(entity, cell)

    def _enter(self, entity: Entity, cell: Cell) -> None:
        block = self._at[entity] = (cell[0] // _BLOCK, cell[1] // _BLOCK)
        self.inside.setdefault(block, {})[entity] = cell

    def _leave(self, entity: Entity) -> None:
        block = self._at.pop(entity)
        del self.inside[block][entity]
        if not self.inside[block]:
            del self.inside[block]


class Survey:
    """Answers which is nearest.

    Args:
        census: what there is.
        finder: paths.
        ground: where.
    """

    __slots__ = ("_around", "_blocks", "_census", "_cheapest", "_finder", "_size")

    def __init__(self, census: Census, finder: GridPathFinder, ground: Ground) -> None:
        self._census = census
        self._finder = finder
        self._cheapest = ground.cheapest
        self._size = (ground.width - 1) // _BLOCK + 1, (ground.height - 1) // _BLOCK + 1
        self._blocks: dict[str, _Blocks] = {}
        self._around: dict[Cell, list[list[Cell]]] = {}

    def nearest(
        self,
        tag: str,
        start: Cell,
        *,
        reach: int = 0,
        within: int = 0,
        accepts: Callable[[Entity], bool],
    ) -> tuple[Entity, int] | None:
        """The nearest entity under a tag.

        Args:
            tag: the tag.
            start: from where.
            reach: how many steps before it the path may end.
            within: the greatest cost of the path; 0 for any.
            accepts: whether an entity comes into question.

        Returns:
            The entity and what the path to it costs; None if there is none.
        """
        entries = self._census.entries(tag)
        best: tuple[int, int, Entity] | None = None
        for steps, cell, entity in self._candidates(tag, start):
            least = (steps - reach) * self._cheapest
            if (best is not None and least > best[0]) or (within and least > within):
                break
            if not accepts(entity):
                continue
            cost = self._finder.cost(start, cell, reach=reach)
            if cost is None or (within and cost > within):
                continue
            if best is None or (cost, entries[entity]) < best[:2]:
                best = (cost, entries[entity], entity)
        return None if best is None else (best[2], best[0])

    def _candidates(self, tag: str, start: Cell) -> Iterable[tuple[int, Cell, Entity]]:
        """Who stands under the tag and where, with how many steps it is away at least, the nearest first."""
        left = self._census.count(tag)
        if not left:
            return ()
        inside = (self._blocks.get(tag) or self._index(tag)).inside
        if left <= _FEW:
            return sorted(_away(inside.values(), start), key=_steps)
        return self._by_rings(inside, left, start)

    def _by_rings(
        self, inside: dict[Cell, dict[Entity, Cell]], left: int, start: Cell
    ) -> Iterator[tuple[int, Cell, Entity]]:
        """The same, looking no farther than is asked for."""
        waiting: list[tuple[int, Cell, Entity]] = []
        for ring, around in enumerate(self._rings((start[0] // _BLOCK, start[1] // _BLOCK))):
            found = _away([inside[block] for block in around if block in inside], start)
            if found:
                left -= len(found)
                waiting += found
                waiting.sort(key=_steps)
            # Whoever stands farther out is more steps away than that.
            sure = ring * _BLOCK if left else _EVERYWHERE
            ready = 0
            while ready < len(waiting) and waiting[ready][0] <= sure:
                yield waiting[ready]
                ready += 1
            if not left:
                return
            del waiting[:ready]

    def _rings(self, block: Cell) -> list[list[Cell]]:
        """The blocks of the ground by how many blocks they are away from one, each ring in one order."""
        rings = self._around.get(block)
        if rings is None:
            across, down = self._size
            rings = [[] for _ in range(max(across, down))]
            for column in range(across):
                for row in range(down):
                    rings[max(abs(column - block[0]), abs(row - block[1]))].append((column, row))
            self._around[block] = rings
        return rings

    def _index(self, tag: str) -> _Blocks:
        blocks = self._blocks[tag] = _Blocks()
        for entity in self._census.entries(tag):
            blocks.came(entity)
        self._census.watch(tag, blocks)
        return blocks


_EVERYWHERE = 1 << 30


_steps = itemgetter(0)  # of a candidate


def _away(blocks: Iterable[dict[Entity, Cell]], start: Cell) -> list[tuple[int, Cell, Entity]]:
    column, row = start
    return [
        (abs(cell[0] - column) + abs(cell[1] - row), cell, entity) for block in blocks for entity, cell in block.items()
    ]
