"""What a being of the colony offers to whoever watches: how it is, in words of its own and from 0.0 to 1.0.

What its components keep is shown as it is (``Needs.satiety``, of 1,000); here stands what its actions think of
(``hunger``), under the names by which they say what their utilities are made of.
"""

from __future__ import annotations

from agentrt import Entity
from agentrt_examples.colony.bodies import Health, Needs, Traits
from agentrt_examples.colony.town import Town

__all__ = ["offers"]


def offers(entity: Entity) -> dict[str, object]:
    """How a being is.

    Args:
        entity: the being.
    """
    found: dict[str, object] = {}
    needs, health, traits, town = entity.get(Needs), entity.get(Health), entity.get(Traits), entity.get(Town)
    if needs is not None:
        found |= {"hunger": needs.hunger, "tiredness": needs.tiredness}
    if health is not None:
        found["health"] = health.points / health.most
    if traits is not None:
        found["thoughts"] = len(traits.thoughts)
        found["is_healer"] = "healer" in traits
        found["is_artist"] = "artist" in traits
    if town is not None:
        found["is_dark"] = town.daylight.is_dark
    return found
