"""A miner in a world of blocks: ask it for diamonds, and it works out the rest.

The world is a game of its own, with the words of the field (oak log, planks, pickaxe, ore, furnace, portal) and rules
and numbers in ``data``. From below:

* ``places``, ``rules``, ``times``, ``faults`` (what everybody speaks of), ``noise``, ``terrain``, ``underworld``
  (making it), ``dimension``, ``furnace``, ``mobs``, ``server``, ``realm`` (what there is and what happens by itself);
* ``inventory``, ``vitals``, ``memory``, ``sight``, ``paths``, ``body``, ``hands``, ``legs`` (the miner: what it
  carries, how it is, what it knows, how it finds its way, what it can do), ``gatherer`` (what of that a bot on a real
  server has, too);
* ``strategies`` (how it gets what it is asked for), ``mind`` (its agent, and what it looks out for);
* ``game`` (a run of it), ``offer`` and ``report`` (what ``agentrt demo miner`` shows).

It is written on the façades of ``agentrt``. This module offers what the entry points name: ``manifest`` for strategies
and their pack, ``world`` for ``agentrt demo``. It imports nothing that needs the extra ``demo``.
"""

from __future__ import annotations

from pathlib import Path

from agentrt import Manifest
from agentrt.strategy import Strategy
from agentrt_examples.miner.offer import MinerWorld
from agentrt_examples.miner.strategies import gathering, living, making, searching, traveling

__all__ = ["manifest", "world"]

_STRATEGIES: tuple[type[Strategy], ...] = (
    gathering.LookAround,
    gathering.Approach,
    gathering.MineBlocks,
    searching.Explore,
    searching.Prospect,
    making.Craft,
    making.Smelt,
    making.Burn,
    making.MakeTool,
    making.UseStation,
    making.PlaceStation,
    traveling.PassPortal,
    living.Eat,
    living.Provision,
    living.Hunt,
    living.FetchLost,
    living.Rest,
    living.Fight,
    living.RunAway,
)

manifest = Manifest(
    "miner",
    {
        **{f"strategies:{strategy.name}": strategy for strategy in _STRATEGIES},
        "ai_pack:miner": Path(__file__).parent / "packs" / "miner.json",
    },
)

world = MinerWorld()
