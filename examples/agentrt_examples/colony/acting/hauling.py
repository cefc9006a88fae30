"""Hauling: bring what lies about to where it belongs. Whoever is in the group of the haulers does it.

One compound for each kind of item, and not one for all: what lies nearest may have nowhere to go, and must
not keep the others from being brought home. They think ahead to the end, with ``CURRENT`` for where the
hearthling will stand and what it will carry.
"""

from __future__ import annotations

from agentrt import OUT, PREV, CompoundAction, step

__all__ = ["HaulMeal", "HaulPicture", "HaulTurnip"]


class HaulTurnip(CompoundAction):
    """Bring a turnip from the field to the stockpile."""

    does = "colony:haul_turnip"
    name = "haul a turnip"
    utility = 1.0
    status_text_key = "colony:status.hauling_turnip"
    steps = (
        step("agentrt:find_entity", tag="loose:turnip", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )


class HaulMeal(CompoundAction):
    """Bring a meal from the hearth to the counter."""

    does = "colony:haul_meal"
    name = "haul a meal"
    utility = 1.0
    status_text_key = "colony:status.hauling_meal"
    steps = (
        step("agentrt:find_entity", tag="loose:meal", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )


class HaulPicture(CompoundAction):
    """Bring a picture to the gallery."""

    does = "colony:haul_picture"
    name = "hang a picture"
    utility = 1.0
    status_text_key = "colony:status.hauling_picture"
    steps = (
        step("agentrt:find_entity", tag="loose:picture", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )
