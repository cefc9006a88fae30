"""Pets: an animal with a collar runs after its owner when it feels lonely, and stays near for a while.

The collar is a piece of equipment that bears AI: as long as the pet wears it, it has a training (a component), feels
lonely (an observer), has a personal task group, and knows how to find its owner (an action). All of that comes with the
collar and goes with it.

Source: Stonehearth, AI: "Injecting actions", pet_collar.json.
"""

from __future__ import annotations

from agentrt import ARGS, Action, ActionArgs, Agent, CompoundAction, Context, Entity, next_tick, step
from agentrt_actions import ready_while
from agentrt_examples.colony.bodies import Being, Loyalty, Needs, Position
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.town import Town

__all__ = ["PET", "BeGlad", "BeSick", "FindOwner", "Training", "observe_loneliness"]

PET = "colony:task_groups:solo:pet"
"""The name of the personal group of a pet with a collar."""

_TOGETHER = 4.0  # game seconds


class Training:
    """What a pet has learned, from its collar.

    Args:
        entity: the pet.
        patience: how many steps away its owner may be before the pet follows.

    Attributes:
        patience: as given.
    """

    __slots__ = ("patience",)

    def __init__(self, entity: Entity, patience: int = 8) -> None:
        self.patience = patience


async def observe_loneliness(agent: Agent) -> None:
    """Have a task to find the owner while the owner is far away.

    Args:
        agent: the pet's.
    """
    pet: Entity = agent.entity
    needs: Needs = pet[Needs]
    owner = pet[Loyalty].owner
    while owner is not None and not owner.is_destroyed:
        # The needs of a body change twice a second: often enough to look where the owner is.
        await needs.changed.wait()
        away = pet[Town].finder.distance(pet[Position].location, owner[Position].location)
        group = agent.get_task_group(PET)
        if away > pet[Training].patience and not group.tasks:
            task = group.create_task("colony:find_owner", owner=owner).once().set_source(owner)
            task.set_annotation(f"{owner.name} is {away} steps away").start()
            await task.wait()
            await next_tick()


class FindOwner(CompoundAction):
    """Run to the owner, and trot beside it for a while."""

    does = "colony:find_owner"
    name = "find the owner"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """Whom.

        Attributes:
            owner: the owner.
        """

        owner: Entity

    steps = (
        step("agentrt:chase_entity", target=ARGS.owner, reach=2, patience=60),
        step("colony:be_glad", owner=ARGS.owner),
        step("agentrt:follow_entity", target=ARGS.owner, distance=2, seconds=_TOGETHER),
    )

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready at once."""
        ctx.set_utility(0.8)
        ctx.set_think_output()


class BeGlad(Action):
    """Be glad to see the owner."""

    does = "colony:be_glad"
    name = "be glad"
    utility = 1.0

    Args = FindOwner.Args

    async def run(self, ctx: Context[Being], args: FindOwner.Args) -> None:
        """Wag."""
        ctx.set_status_text_key("colony:status.glad", owner=args.owner)
        await ctx.execute("agentrt:run_effect", effect="wag")


class BeSick(Action):
    """Sit down now and then while poisoned. Known only as long as the poison works."""

    does = "agentrt:top"
    name = "be sick"
    utility = (0.1, 0.7)
    status_text_key = "colony:status.sick"

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready while the poison works, the less the longer it has worked."""
        buffs: Buffs = ctx.entity[Buffs]
        needs: Needs = ctx.entity[Needs]
        await ready_while(
            ctx, [needs.changed], lambda: buffs.left("poisoned") > 0, lambda: buffs.share_left("poisoned")
        )

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Sit there; the worst passes, and something else becomes more important."""
        buffs: Buffs = ctx.entity[Buffs]
        while buffs.left("poisoned") > 0:
            ctx.set_utility(buffs.share_left("poisoned"))
            await ctx.sleep_ticks(10)
