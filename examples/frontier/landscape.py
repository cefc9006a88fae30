"""What the frontier looks like: the villages of a shard, each a cell, and who travels between them.

A shard draws its own strip, from its own left border on; where that lies in the whole map it says by ``Shard.corner``,
and the inspector puts the strips together. The ground tells which good a village makes, a dot is a caravan in the color
of what it carries, a red square is a band. One who crosses the border is drawn beyond the edge until its shard changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentrt import Runtime
from agentrt.drawing import Drawing, Mark, Tile, Tiles
from examples.frontier.chart import GOODS, Chart

__all__ = ["landscape"]

_GROUNDS: Final = {"grain": "#e6d9a8", "salt": "#d7dde0", "iron": "#cfb8a6", "cloth": "#c7d6b4"}
_LOADS: Final = {"grain": "#9a6d00", "salt": "#35607a", "iron": "#5b3a29", "cloth": "#3d6b1f"}
_EMPTY: Final = "#3b3f45"  # a caravan that carries nothing
_ROBBERS: Final = "#b3261e"
_MOST: Final = 4500  # travelers, of all shards together: the drawing of the whole map has to hold them
_APART: Final = 7  # those of one village stand in so many columns and rows


def landscape(runtime: Runtime, chart: Chart, strip: range) -> Drawing:
    """Draw one strip."""
    left, columns = strip[0] // chart.rows, len(strip) // chart.rows
    rows = ["".join(str(chart.makes((left + x) * chart.rows + y)) for x in range(columns)) for y in range(chart.rows)]
    palette = {str(number): Tile(_GROUNDS[good]) for number, good in enumerate(GOODS)}
    marks = dict(_travelers(runtime, chart, left))
    return Drawing(columns, chart.rows, Tiles(tuple(rows), palette), marks)


def _travelers(runtime: Runtime, chart: Chart, left: int) -> Iterator[tuple[str, Mark]]:
    for agent in runtime.agents[: _MOST // chart.shards]:
        traveler = agent.entity
        column, row = divmod(traveler.village, chart.rows)
        x, y = float(column), float(row)
        if traveler.road is not None:
            goal, begin, end = traveler.road
            way = min(1.0, (runtime.tick - begin) / (end - begin))
            to_column, to_row = divmod(goal, chart.rows)
            x, y = x + (to_column - column) * way, y + (to_row - row) * way
        across, down = divmod(int(agent.name.partition("-")[2]) % _APART**2, _APART)
        x, y = x + (across / (_APART - 1) - 0.5) * 0.6, y + (down / (_APART - 1) - 0.5) * 0.6
        is_band = traveler.kind == "band"
        color = _ROBBERS if is_band else _LOADS[GOODS[traveler.good]] if traveler.load else _EMPTY
        label = f"{agent.name}: {traveler.gold} gold" + (f", {GOODS[traveler.good]}" if traveler.load else "")
        place = round(x - left, 2), round(y, 2)
        yield (
            agent.name,
            Mark(*place, color=color, shape="square" if is_band else "dot", label=label, agent=agent.name, size=0.16),
        )
