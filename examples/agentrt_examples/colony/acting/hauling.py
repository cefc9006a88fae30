"""Hauling: bring what lies about to where it belongs. Everybody does it who has nothing better to do.

One compound for each kind of item, and not one for all: what lies nearest may have nowhere to go, and must
not keep the others from being brought home. They think ahead to the end, with ``CURRENT`` for where the
hearthling will stand and what it will carry.
"""

from __future__ import annotations

from agentrt import OUT, PREV, CompoundAction, step

__all__ = ["HaulMeal", "HaulPicture", "HaulTurnip"]


class HaulTurnip(CompoundAction):
    """Bring a turnip from the field to the stockpile."""

    does = "colony:work"
    name = "haul a turnip"
    utility = 0.52
    status_text_key = "colony:status.hauling"
    steps = (
        step("agentrt:find_entity", tag="loose:turnip", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )


class HaulMeal(CompoundAction):
    """Bring a meal from the hearth to the counter."""

    does = "colony:work"
    name = "haul a meal"
    utility = 0.54
    status_text_key = "colony:status.hauling"
    steps = (
        step("agentrt:find_entity", tag="loose:meal", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )


class HaulPicture(CompoundAction):
    """Bring a picture to the gallery."""

    does = "colony:work"
    name = "hang a picture"
    utility = 0.525
    status_text_key = "colony:status.hauling"
    steps = (
        step("agentrt:find_entity", tag="loose:picture", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )
