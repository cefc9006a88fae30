"""Reserving: hold a lease on an entity for as long as a plan lasts.

The lease is taken in ``start`` and given back in ``stop``. In a compound all steps are started before the
first one runs, and stopped after the last one ran or when the plan is interrupted; so one step
``agentrt:reserve_entity`` covers the whole plan, however it ends.

While it thinks it only looks: an entity that somebody else holds is rejected, so that whoever chose it
chooses again. Taking the lease while thinking would let a plan that never runs keep others away.
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, Context, Entity, Lease, LeaseBook

__all__ = ["ReserveEntity"]


class ReserveEntity(Action):
    """Reserve an entity, so that nobody else plans with it.

    Source: seed 001, "Compound action" (heal_self_action) and "AI contexts", reject().
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

    def __init__(self) -> None:
        super().__init__()
        self._lease: Lease | None = None

    async def think(self, ctx: Context, args: Args) -> None:
        """Be ready unless somebody else holds it.

        Args:
            ctx: the context.
            args: what to reserve.
        """
        if ctx.entity[LeaseBook].holder(args.entity) not in (None, ctx.agent):
            ctx.reject(f"{args.entity.name} is reserved by somebody else")
        ctx.set_think_output()

    def start(self, ctx: Context, args: Args) -> None:
        """Take the lease.

        Args:
            ctx: the context.
            args: what to reserve.
        """
        self._lease = ctx.entity[LeaseBook].acquire(args.entity, ctx.agent)
        if self._lease is None:
            ctx.reject(f"{args.entity.name} was reserved by somebody else")

    def stop(self, ctx: Context, args: Args) -> None:
        """Give it back.

        Args:
            ctx: the context.
            args: what was reserved.
        """
        if self._lease is not None:
            self._lease.release()
            self._lease = None
