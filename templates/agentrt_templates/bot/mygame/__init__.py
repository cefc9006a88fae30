"""A bot that plays a game of somebody else's by strategies, and a cat that plays along by goals."""

from __future__ import annotations

from pathlib import Path

import agentrt as art
from agentrt.goals import GoalSelector
from agentrt.worlds import SimpleWorld

from mygame import cat, collector
from mygame.grid import Grid
from mygame.session import Player, connect

__all__ = ["manifest", "world"]

PACKS = Path(__file__).with_name("packs")

manifest = art.Manifest(
    "mygame",
    {
        "actions:collect_gems": collector.CollectGems,
        "strategies:gather": collector.Gather,
        "strategies:make_pick": collector.MakePick,
        "ai_pack:collector": PACKS / "collector.json",
    },
)


def make(*, seed: int, host: str) -> art.Runtime:
    """Make a game with a collector and a cat in it; each tick is one step of the game."""
    runtime = art.Runtime(seed, host=host, ticks_per_second=5)
    players = [Player("collector", name="Bo"), Player("cat", name="Tom")]
    connect(runtime, Grid(seed), players)
    bo, tom = players
    runtime.add(art.Agent(bo, packs=["mygame:ai_pack:collector"], registry=world.registry))
    goals = GoalSelector()
    goals.add_goal(1, cat.KeepAway(bo))
    goals.add_goal(2, cat.Prowl(runtime.stream("prowl")))
    runtime.add(art.Agent(tom, drivers=[goals]))
    return runtime


world = SimpleWorld("mygame", make, summary="A bot is asked for gems.", manifests=[manifest])
