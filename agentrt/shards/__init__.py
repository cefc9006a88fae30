"""Worlds in shards: parts of one world, each a runtime of its own, here, in processes, or on a cluster.

This is the façade for who writes such a world and who runs one.

* ``ShardedWorld`` is a world of parts (``Part``); a part has its ``Shard``, by which agents move and messages go.
* ``Shards`` runs all of them, in places: ``LocalShards``, ``PipeShards``, ``RayShards``.
"""

from agentrt.shards.barrier import Shards
from agentrt.shards.cluster import RayShards
from agentrt.shards.pipes import PipeShards
from agentrt.shards.places import LocalShards, ShardPlace
from agentrt.shards.shard import Part, Shard, ShardedWorld

__all__ = ["LocalShards", "Part", "PipeShards", "RayShards", "Shard", "ShardPlace", "ShardedWorld", "Shards"]
