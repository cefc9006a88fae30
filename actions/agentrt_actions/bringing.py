"""Bringing: plans of several steps around one thing. Fetch it, carry it somewhere, bring it to a storage.

Each reserves the thing for the whole plan, so that nobody else goes for it; what is interrupted lays down what it has
picked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentrt import ARGS, OUT, PREV, ActionArgs, CompoundAction, Entity, output, step
from agentrt.activity import ChildUtilities
from agentrt_actions.protocols import Place

__all__ = ["CarryItem", "FetchItem", "StoreItem"]


class FetchItem(CompoundAction):
    """Find the best of some items, go there and pick it up.

    Source: Stonehearth, AI: "Compound action" (heal_self_action: get the item, reserve it, use it).
    """

    does = "agentrt:fetch_item"
    name = "fetch"
    utility = (0.0, 1.0)
    status_text_key = "agentrt:status.fetching"

    class Args(ActionArgs):
        """What to fetch; as for ``agentrt:find_best``.

        Attributes:
            tag: the tag under which the candidates stand.
            candidates: the candidates themselves, instead of a tag.
            filter: who counts.
            rating: how good each is; None for the nearest.
            within: the greatest cost of the path when the nearest is sought; 0 for any.
        """

        tag: str = ""
        candidates: Sequence[Entity] | None = None
        filter: Callable[[Entity], bool] | str | None = None
        rating: Callable[[Entity], float | None] | str | None = None
        within: int = 0

    steps = (
        step(
            "agentrt:find_best",
            tag=ARGS.tag,
            candidates=ARGS.candidates,
            filter=ARGS.filter,
            rating=ARGS.rating,
            within=ARGS.within,
            name="item",
        ),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["item"].entity),
        step("agentrt:pick_up", item=OUT["item"].entity),
    )
    output = output(item=OUT["item"].entity, rating=OUT["item"].rating)

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The better the item, the better."""
        return child_utilities["agentrt:find_best"]


class CarryItem(CompoundAction):
    """Bring an item to a place and lay it down there."""

    does = "agentrt:carry_item"
    name = "carry"
    utility = 1.0
    status_text_key = "agentrt:status.carrying"

    class Args(ActionArgs):
        """What, and where to.

        Attributes:
            item: the item; it has ``Located``.
            location: the place.
            reach: how many steps before the place to stop at most.
        """

        item: Entity
        location: Place
        reach: int = 0

    steps = (
        step("agentrt:reserve_entity", entity=ARGS.item),
        step("agentrt:goto_entity", entity=ARGS.item),
        step("agentrt:pick_up", item=ARGS.item),
        step("agentrt:goto_location", location=ARGS.location, reach=ARGS.reach),
        step("agentrt:put_down"),
    )


class StoreItem(CompoundAction):
    """Bring an item that is carried to the nearest storage that accepts it and that nobody else is on the way to."""

    does = "agentrt:store_item"
    name = "store item"
    utility = 1.0

    class Args(ActionArgs):
        """What to store.

        Attributes:
            item: the item; it will be carried by then.
        """

        item: Entity

    steps = (
        step("agentrt:find_storage", item=ARGS.item, name="storage"),
        step("agentrt:reserve_entity", entity=PREV.storage),
        step("agentrt:goto_entity", entity=OUT["storage"].storage),
        step("agentrt:store_carried", storage=OUT["storage"].storage),
    )
