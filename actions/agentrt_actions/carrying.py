"""Carrying: pick up, put down, store, stow, consume. One thing at a time, in two hands.

Hands are empty between plans: what a plan picked up and did not use is laid down when the plan ends, by
``PickUp.stop``, however it ends. So a plan that is thought while another one runs counts on empty hands, and
what it would interrupt lays its burden down first.

``CURRENT.carrying`` says, while a plan is thought, what the entity will carry by then: a step that picks up
asks for empty hands, a step that stores asks for the item. Plans that do not fit together are never ready, so
they never fail. ``CURRENT.storage`` says the same of the backpack, for those who have one.

The plans that are made of these are in the module ``bringing``.
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, Context, Entity
from agentrt_actions.protocols import Located, PathFinder
from agentrt_actions.things import Backpacker, Carrier, Consumable, Storage

__all__ = [
    "ConsumeCarried",
    "DropCarrying",
    "PickUp",
    "PutDown",
    "StoreCarried",
    "StowCarried",
    "UnpackItem",
    "expected_carrying",
    "within_reach",
]


def expected_carrying(ctx: Context[Entity]) -> Entity | None:
    """What the entity will carry when the action that thinks is run; nothing, unless an earlier step picks it up.

    Args:
        ctx: the context of an action that thinks.
    """
    carried: Entity | None = ctx.CURRENT.carrying if ctx.CURRENT.carrying_changed else None
    return carried


def within_reach(ctx: Context[Entity], entity: Entity, reach: int = 1) -> bool:
    """Whether an entity is so near that hands can reach it.

    Args:
        ctx: the context.
        entity: the entity; it has ``Located``.
        reach: how many steps the hands reach.
    """
    finder: PathFinder = ctx.entity[PathFinder]
    return finder.distance(ctx.entity[Located].location, entity[Located].location) <= reach


class PickUp(Action):
    """Take an item into the hands, and lay it down at the end of the plan if it was not used.

    Source: Stonehearth, AI: "step declarations", CURRENT.carrying; ai.CURRENT (a pickup action modifies the expected
    state).
    """

    does = "agentrt:pick_up"
    name = "pick up"
    utility = 1.0
    status_text_key = "agentrt:status.picking_up"

    class Args(ActionArgs):
        """What to pick up.

        Attributes:
            item: the item; it has ``Located``.
        """

        item: Entity

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready if the hands will be empty."""
        if expected_carrying(ctx) is None:
            ctx.CURRENT.carrying = args.item
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Take it."""
        await ctx.next_tick()
        if not within_reach(ctx, args.item) or not ctx.entity[Carrier].pick_up(args.item):
            ctx.abort(f"{args.item.name} could not be picked up")

    def stop(self, ctx: Context[Entity], args: Args) -> None:
        """Lay it down if it is still carried."""
        carrier = ctx.entity[Carrier]
        if carrier.carrying is args.item:
            carrier.put_down()


class PutDown(Action):
    """Lay down what is carried."""

    does = "agentrt:put_down"
    name = "put down"
    utility = 1.0

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready if something will be carried."""
        if expected_carrying(ctx) is not None:
            ctx.CURRENT.carrying = None
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Lay it down."""
        await ctx.next_tick()
        ctx.entity[Carrier].put_down()


class DropCarrying(Action):
    """Let go of whatever is carried, at once; nothing happens with empty hands.

    For plans that need free hands and do not know what the hands hold.
    """

    does = "agentrt:drop_carrying"
    name = "drop"
    utility = 1.0

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready; the hands will be empty."""
        ctx.CURRENT.carrying = None
        ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Let go."""
        ctx.entity[Carrier].put_down()


class StoreCarried(Action):
    """Put what is carried into a storage within reach."""

    does = "agentrt:store_carried"
    name = "store"
    utility = 1.0
    status_text_key = "agentrt:status.storing"

    class Args(ActionArgs):
        """Where to.

        Attributes:
            storage: an entity with ``Storage``.
        """

        storage: Entity

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready if something will be carried that the storage accepts."""
        item = expected_carrying(ctx)
        if item is not None and args.storage[Storage].accepts(item):
            ctx.CURRENT.carrying = None
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Store it."""
        await ctx.next_tick()
        carrier = ctx.entity[Carrier]
        item = carrier.carrying
        if item is None or not within_reach(ctx, args.storage) or not args.storage[Storage].store(item, carrier):
            ctx.abort(f"nothing could be stored in {args.storage.name}")


class ConsumeCarried(Action):
    """Use up what is carried: eat it, drink it, take it."""

    does = "agentrt:consume_carried"
    name = "consume"
    utility = 1.0

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready if something will be carried that can be used up."""
        item = expected_carrying(ctx)
        if item is not None and item.get(Consumable) is not None:
            ctx.CURRENT.carrying = None
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Use it up."""
        await ctx.next_tick()
        item = ctx.entity[Carrier].carrying
        if item is None:
            ctx.abort("there is nothing in the hands to consume")
        item[Consumable].consume(ctx.entity)


class StowCarried(Action):
    """Put what is carried into one's own backpack.

    Source: Stonehearth, AI: "step declarations", CURRENT.storage.
    """

    does = "agentrt:stow_carried"
    name = "stow"
    utility = 1.0

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready if something will be carried and there will be room."""
        item = expected_carrying(ctx)
        if item is not None and ctx.CURRENT.storage.add_item(item):
            ctx.CURRENT.carrying = None
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Stow it."""
        await ctx.next_tick()
        if not ctx.entity[Backpacker].stow():
            ctx.abort("the backpack took nothing")


class UnpackItem(Action):
    """Take an item out of one's own backpack, and put it back at the end of the plan if it was not used.

    Source: Stonehearth, AI: "step declarations", CURRENT.storage.
    """

    does = "agentrt:unpack_item"
    name = "unpack"
    utility = 1.0

    class Args(ActionArgs):
        """What to unpack.

        Attributes:
            item: the item.
        """

        item: Entity

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready if the item will be in the backpack and the hands will be empty."""
        storage = ctx.CURRENT.storage
        if expected_carrying(ctx) is None and any(item is args.item for item in storage.items.values()):
            storage.remove_item(args.item)
            ctx.CURRENT.carrying = args.item
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Take it."""
        await ctx.next_tick()
        if not ctx.entity[Backpacker].unpack(args.item):
            ctx.abort(f"{args.item.name} could not be unpacked")

    def stop(self, ctx: Context[Entity], args: Args) -> None:
        """Put it back if it is still carried; if there is no room any more, lay it down."""
        carrier: Carrier = ctx.entity[Carrier]
        if carrier.carrying is args.item and not ctx.entity[Backpacker].stow():
            carrier.put_down()
