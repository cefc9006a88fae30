"""Reserving: hold a lease on an entity, or on a part of what several can use, for as long as a plan lasts.

The lease is taken in ``start`` and given back in ``stop``. In a compound all steps are started before the
first one runs, and stopped after the last one ran or when the plan is interrupted; so one step
``agentrt:reserve_entity`` covers the whole plan, however it ends.

While it thinks it only looks: an entity that somebody else holds is rejected, so that whoever chose it
chooses again. Taking the lease while thinking would let a plan that never runs keep others away.

What a plan will have reserved stands in ``CURRENT.self_reserved`` and ``CURRENT.self_region_reserved``, so that a later
search of the same plan does not find it again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from agentrt import Action, ActionArgs, Context, Entity, ThinkOutput
from agentrt.body import Lease, LeaseBook
from agentrt_actions.nearby import expected_location
from agentrt_actions.protocols import PathFinder, Place
from agentrt_actions.things import Region, RegionPart
from agentrt_actions.watching import Only, keep_looking

__all__ = ["ReserveEntity", "ReserveEntityDestination", "entity_key"]


def entity_key(entity: Entity) -> Hashable:
    """Under what an entity stands in the tables of CURRENT: its id; itself, if it has none."""
    return entity if entity.id is None else entity.id


class _Reserving(Action):
    """What both ways of reserving share: the lease is taken when the plan starts, and given back when it stops."""

    def __init__(self) -> None:
        super().__init__()
        self._lease: Lease | None = None

    def _take(self, ctx: Context[Entity], thing: object, name: str) -> None:
        self._lease = ctx.entity[LeaseBook].acquire(thing, ctx.agent)
        if self._lease is None:
            ctx.reject(f"{name} was reserved by somebody else")

    def stop(self, ctx: Context[Entity], args: Any) -> None:
        """Give it back."""
        if self._lease is not None:
            self._lease.release()
            self._lease = None


class ReserveEntity(_Reserving):
    """Reserve an entity, so that nobody else plans with it.

    Source: Stonehearth, AI: "Compound action" (heal_self_action) and "AI contexts", reject(); "step declarations",
    CURRENT.self_reserved.
    """

    does = "agentrt:reserve_entity"
    name = "reserve entity"
    utility = 1.0

    class Args(ActionArgs):
        """What to reserve.

        Attributes:
            entity: the entity.
        """

        entity: Entity

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready unless somebody else holds it."""
        if not ctx.entity[LeaseBook].can_acquire(args.entity, ctx.agent):
            ctx.reject(f"{args.entity.name} is reserved by somebody else")
        ctx.CURRENT.self_reserved[entity_key(args.entity)] = args.entity
        ctx.set_think_output()

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Take the lease."""
        self._take(ctx, args.entity, args.entity.name)


class ReserveEntityDestination(_Reserving):
    """Reserve the nearest free part of an entity that several can use: a seat, a cell of a field.

    While it thinks, another part takes the place of one that somebody else reserved; when none is left it rejects the
    entity.

    Source: Stonehearth, AI: "step declarations", CURRENT.self_region_reserved (reserve_entity_destination).
    """

    does = "agentrt:reserve_entity_destination"
    name = "reserve destination"
    utility = 1.0

    class Args(ActionArgs):
        """What to reserve.

        Attributes:
            entity: the entity; it has a ``Region``.
            key: the key of one part; None for the nearest.
        """

        entity: Entity
        key: Any = None

    class Output(ThinkOutput):
        """What will be reserved.

        Attributes:
            key: tells the part from the others.
            offset: where it lies within the entity.
            location: where to stand to use it.
        """

        key: Any
        offset: Any
        location: Place

    def __init__(self) -> None:
        super().__init__()
        self._part: RegionPart | None = None

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Choose a part, and another one when it is taken."""
        region: Region = args.entity[Region]
        table = ctx.CURRENT.self_region_reserved
        own = dict(table.get(entity_key(args.entity), {}))
        self._part = None

        def look() -> None:
            part = self._nearest_free(ctx, args, own)
            if part is None:
                ctx.reject(f"no part of {args.entity.name} is free")
            if part is not self._part:
                self._part = part
                table[entity_key(args.entity)] = {**own, part.key: part.offset}
                ctx.set_think_output(key=part.key, offset=part.offset, location=part.location)

        leases: LeaseBook = ctx.entity[LeaseBook]
        own_parts = Only(leases.changed, lambda thing: any(thing is part for part in region.parts))
        await keep_looking(ctx, [region.changed, own_parts], look)

    def _nearest_free(self, ctx: Context[Entity], args: Args, own: dict[Hashable, Any]) -> RegionPart | None:
        leases: LeaseBook = ctx.entity[LeaseBook]
        region: Region = args.entity[Region]
        free = [
            part
            for part in region.parts
            if part.key not in own
            and (args.key is None or part.key == args.key)
            and leases.holder(part) in (None, ctx.agent)
        ]
        if not free or self._part in free:
            return self._part if free else None
        finder: PathFinder = ctx.entity[PathFinder]
        costs = finder.costs(expected_location(ctx), [part.location for part in free])
        known = [(cost, index) for index, cost in enumerate(costs) if cost is not None]
        return free[min(known)[1]] if known else None

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Take the lease."""
        assert self._part is not None  # it was ready with one
        self._take(ctx, self._part, f"the part of {args.entity.name}")
