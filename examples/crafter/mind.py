"""The mind of the player: an agent with a plan, strategies and reflexes on one body.

* Its plan (``actions``) elects between needs and ambitions, which are tasks of two personal task groups: needs are
  worth more the lower a bar is, ambitions the less they take.
* Strategies (``strategies``) work out what an ambition takes, and do it.
* Reflexes (``reflexes``), a goal selector, come before both.
* Thoughts (``actions.aspiring``), where there is a model or a script to ask, choose among the ambitions.

All of it is named in packs; ``packs/player.json`` is what the player bears, with ``packs/thoughts.json`` if it thinks.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentrt import Agent, Manifest, Registry
from examples.crafter.actions import aspiring, feeding, resting, striving, watching
from examples.crafter.reflexes import make_reflexes
from examples.crafter.strategies import achieving, farming, fighting, gathering, making

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["REGISTRY", "make_mind"]

_PACK_NAMES = ("player", "living", "striving", "crafts", "thoughts")
_PACKS = Path(__file__).parent / "packs"

_ACTIONS = (
    feeding.Drink,
    feeding.ReachWater,
    feeding.LookForWater,
    feeding.Sip,
    feeding.EatPlantNearby,
    feeding.HuntCow,
    feeding.LookForCows,
    resting.Rest,
    resting.FindShelter,
    resting.Hide,
    resting.Slumber,
    resting.RestInTheOpen,
    striving.Strive,
    striving.TendFarm,
    striving.StockUp,
    striving.Idle,
    aspiring.Aspire,
)
_STRATEGIES = (
    achieving.PlaceOne,
    achieving.LiveThroughIt,
    farming.PlantSapling,
    farming.EatPlant,
    farming.Fence,
    fighting.Defeat,
    gathering.Gather,
    gathering.PickSapling,
    gathering.Explore,
    making.Make,
    making.GoToStations,
    making.SetUpStation,
)


def _alias(name: str) -> str:
    return name.replace(" ", "_")


MANIFEST: Final = Manifest(
    "crafter",
    {
        **{f"actions:{_alias(action.name)}": action for action in _ACTIONS},
        **{f"strategies:{strategy.name}": strategy for strategy in _STRATEGIES},
        "observers:water": watching.observe_water,
        "observers:food": watching.observe_food,
        "observers:energy": watching.observe_energy,
        "observers:ambitions": striving.observe_ambitions,
        "task_groups:solo:needs": _PACKS / "task_groups.json",
        "task_groups:solo:ambitions": _PACKS / "task_groups.json",
        **{f"ai_pack:{name}": _PACKS / f"{name}.json" for name in _PACK_NAMES},
    },
)
REGISTRY: Final = Registry([MANIFEST])


def make_mind(player: Player) -> Agent:
    """Make the agent of a player.

    Args:
        player: its body.
    """
    thoughts = () if player.thinks_for is None else ("crafter:ai_pack:thoughts",)
    packs = ("crafter:ai_pack:player", *thoughts)
    agent = Agent(player, name="player", packs=packs, registry=REGISTRY, drivers=[make_reflexes(player)])
    agent.values = player.offers
    agent.gameplay.prepare_asks = 0  # each step changes what estimates rest on: what is prepared would never be taken
    player.signal("news").connect(lambda topics: agent.gameplay.changed(*topics))
    return agent
