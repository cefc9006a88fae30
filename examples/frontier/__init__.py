"""The frontier: a map of many villages in shards, for seeing how one world runs in several places.

Caravans carry goods from village to village and cross the borders of shards; bands rob them, and they warn each other
wherever they are; rich villages pay tax to others far away. 4,000 agents by default; ``--set caravans=...`` and
``--set columns=...`` make it as large as a cluster can bear. See ``README.md`` here.
"""

from agentrt.shards import ShardedWorld
from agentrt.worlds import Parameter
from examples.frontier.chart import partition
from examples.frontier.country import Country, measure

__all__ = ["world"]

world = ShardedWorld(
    "frontier",
    Country,
    partition,
    window=10,
    summary="Caravans, villages and robbers on a map that is cut into shards.",
    parameters={
        "columns": Parameter(64, "of villages; shards are strips of them", low=2),
        "rows": Parameter(16, "of villages", low=1),
        "caravans": Parameter(3800, "that carry goods", low=1),
        "bands": Parameter(200, "that rob them", low=0),
        "road": Parameter(40, "ticks from one village to the next, and up to twice as many", low=1),
        "epoch": Parameter(0, "ticks after which each shard is rebuilt of its save; 0 for never", low=0),
    },
    measure=measure,
)
