"""Hauling: bring what lies about to where it belongs. Whoever is in the group of the haulers does it.

One compound for each kind of item, and not one for all: what lies nearest may have nowhere to go, and must
not keep the others from being brought home. They think ahead to the end, with ``CURRENT`` for where the
hearthling will stand and what it will carry.

Laborers have a backpack. They take two turnips at once, if there is a second one near the first: the plan knows
from ``CURRENT.storage`` that the first will be in the backpack by the time when it is to be unpacked.
"""

from __future__ import annotations

from agentrt import OUT, PREV, ActionArgs, CompoundAction, Context, step
from agentrt_examples.colony.bodies import Being
from agentrt_examples.colony.goods import Backpack

__all__ = ["HaulMeal", "HaulPicture", "HaulTurnip", "HaulTwoTurnips"]

_NEAR = 100  # what the way from the first to the second costs at most: ten steps over grass


class HaulTurnip(CompoundAction):
    """Bring a turnip from the field to the stockpile."""

    does = "colony:haul_turnip"
    name = "haul a turnip"
    utility = 0.9
    status_text_key = "colony:status.hauling_turnip"
    steps = (
        step("agentrt:find_entity", tag="loose:turnip", name="item"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
        step("agentrt:store_item", item=OUT["item"].entity),
    )


class HaulTwoTurnips(CompoundAction):
    """Bring two turnips from the field to the stockpile, one of them in the backpack."""

    does = "colony:haul_turnip"
    name = "haul two turnips"
    utility = 1.0
    status_text_key = "colony:status.hauling_two_turnips"
    steps = (
        step("agentrt:find_entity", tag="loose:turnip", name="first"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["first"].entity),
        step("agentrt:pick_up", item=OUT["first"].entity),
        step("agentrt:stow_carried"),
        step("agentrt:find_entity", tag="loose:turnip", within=_NEAR, name="second"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["second"].entity),
        step("agentrt:pick_up", item=OUT["second"].entity),
        step("agentrt:store_item", item=OUT["second"].entity),
        step("agentrt:unpack_item", item=OUT["first"].entity),
        step("agentrt:store_item", item=OUT["first"].entity),
    )

    def __init__(self) -> None:
        super().__init__()
        self._backpack: Backpack | None = None

    def start(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Take the backpack along."""
        # Whoever loses the job in the middle of it loses the backpack before ``stop``.
        self._backpack = ctx.entity[Backpack]

    def stop(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Lay down what was not stored."""
        if self._backpack is not None:
            self._backpack.empty()
            self._backpack = None


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
