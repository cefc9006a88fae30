"""Eating, sleeping, resting: the tasks of each hearthling's own group of basic needs, and who issues them.

``SoloBasicNeeds`` is the seed's example of a task group, with figures of our own, since here needs compete with work at
the root: many tasks to eat, each with what is to be eaten; one to sleep; and a permanent one to rest when injured.
Within the group they compete with each other; the best of them is what the group is worth at the root.

Tasks come from *observers*, one for each need, that watch the body as long as the hearthling lives. Whoever is hungry
gets a task to eat a meal; whoever starves a second one, to eat a raw turnip: now both compete, and the meal wins as
long as there is one. A task is taken back when its need is gone.

How urgent a need is decides how good its task is, so the actions watch it for as long as they think.

Source: Stonehearth, AI: "Task group example"; "Personal task groups"; "Injecting actions", Observers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentrt import (
    ARGS,
    OUT,
    PREV,
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Context,
    Entity,
    ThinkOutput,
    next_tick,
    step,
)
from agentrt.body import LeaseBook
from agentrt.tasks import TaskGroupAction, declare_multiple_tasks, declare_permanent_task, declare_task
from agentrt_actions import PathFinder, expected_location, ready_while
from agentrt_examples.colony.bodies import FULL, Being, Health, Needs, Position, Traits
from agentrt_examples.colony.town import Town

__all__ = [
    "BASIC_NEEDS",
    "ChooseBed",
    "Eat",
    "Rest",
    "RestInBed",
    "Sleep",
    "SleepInBed",
    "SoloBasicNeeds",
    "observe_hunger",
    "observe_sleepiness",
    "observe_starvation",
]

BASIC_NEEDS = "colony:task_groups:solo:basic_needs"
"""The name of the personal group."""

_HUNGRY = 0.45
_STARVING = 0.7
_TIRED = 0.6
_TIRED_AT_NIGHT = 0.3
_AWAKE = FULL - 50
_RAW = 0.6  # how good raw food is, compared with a meal


class SoloBasicNeeds(TaskGroupAction):
    """Eat, sleep, rest when injured.

    Source: Stonehearth, AI: "Task group example".
    """

    does = "agentrt:top"
    name = "basic needs"
    utility = (0.0, 0.9)
    tasks = (
        declare_task("colony:sleep", (0.1, 0.97)),
        declare_multiple_tasks("colony:eat", (0.2, 1.0)),
        declare_permanent_task("colony:rest_when_injured", {}, 0.68),
    )


# --- observers --------------------------------------------------------------------------------------------------------


async def observe_hunger(agent: Agent) -> None:
    """Have a task to eat a meal while the agent is hungry.

    Args:
        agent: whose hunger.
    """
    needs: Needs = agent.entity[Needs]
    await _keep_task(agent, "colony:eat", {"food": "meal"}, lambda: needs.hunger >= _HUNGRY)


async def observe_starvation(agent: Agent) -> None:
    """Have a task to eat whatever there is while the agent starves.

    Args:
        agent: whose hunger.
    """
    needs: Needs = agent.entity[Needs]
    await _keep_task(agent, "colony:eat", {"food": "turnip"}, lambda: needs.hunger >= _STARVING)


async def observe_sleepiness(agent: Agent) -> None:
    """Have a task to sleep while the agent is tired; at night sooner than by day.

    Args:
        agent: who is tired.
    """
    needs: Needs = agent.entity[Needs]
    daylight = agent.entity[Town].daylight

    def is_tired() -> bool:
        # Who sleeps is not tired any more long before it has slept enough.
        return needs.asleep or needs.tiredness >= (_TIRED_AT_NIGHT if daylight.is_dark else _TIRED)

    await _keep_task(agent, "colony:sleep", {}, is_tired)


async def _keep_task(agent: Agent, activity: str, args: dict[str, str], is_needed: Callable[[], bool]) -> None:
    needs: Needs = agent.entity[Needs]
    group = agent.get_task_group(BASIC_NEEDS)
    while True:
        while not is_needed():
            await needs.changed.wait()
        # A saved game may have brought the task back already.
        task = next((one for one in group.tasks if one.activity == activity and one.args == args), None)
        if task is None or task.is_over:
            task = group.create_task(activity, args).once().set_source(agent.entity)
            task.set_annotation(activity.rpartition(":")[2]).start()
        while is_needed() and not task.is_over:
            await needs.changed.wait()
        task.destroy()
        await task.wait()
        await next_tick()


# --- eating -----------------------------------------------------------------------------------------------------------


class Eat(CompoundAction):
    """Get something to eat, and eat it."""

    does = "colony:eat"
    name = "eat"
    status_text_key = "colony:status.eating"
    utility = (0.0, 1.0)
    made_of = ("hunger",)

    class Args(ActionArgs):
        """What.

        Attributes:
            food: the tag under which it stands.
        """

        food: str = "meal"

    steps = (
        step("agentrt:find_entity", tag=ARGS.food, name="food"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["food"].entity),
        step("agentrt:pick_up", item=OUT["food"].entity),
        step("agentrt:run_effect", effect="eat"),
        step("agentrt:consume_carried"),
    )

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready at once, the more eager the hungrier."""
        needs: Needs = ctx.entity[Needs]
        worth = 1.0 if args.food == "meal" else _RAW
        await ready_while(ctx, [needs.changed], lambda: True, lambda: needs.hunger * worth)


# --- sleeping ---------------------------------------------------------------------------------------------------------


class Sleep(CompoundAction):
    """Go to bed and sleep."""

    does = "colony:sleep"
    name = "sleep"
    utility = (0.0, 1.0)
    made_of = ("tiredness", "is_dark")
    steps = (
        step("colony:choose_bed", name="choice"),
        step("agentrt:reserve_entity", entity=PREV.bed),
        step("agentrt:goto_entity", entity=OUT["choice"].bed),
        step("colony:sleep_in_bed"),
    )

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready at once, the more eager the more tired."""
        needs: Needs = ctx.entity[Needs]
        daylight = ctx.entity[Town].daylight

        def urgency() -> float:
            return min(1.0, needs.tiredness + (0.3 if daylight.is_dark else 0.0))

        await ready_while(ctx, [needs.changed], lambda: True, urgency)


class ChooseBed(Action):
    """Choose a bed: one's own first, then the others, the nearest first. Who is refused one is offered the next."""

    does = "colony:choose_bed"
    name = "choose a bed"
    utility = 1.0

    class Output(ThinkOutput):
        """What was chosen.

        Attributes:
            bed: the bed.
        """

        bed: Entity

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Offer all that are free, one after the other."""
        town: Town = ctx.entity[Town]
        leases: LeaseBook = ctx.entity[LeaseBook]
        finder: PathFinder = ctx.entity[PathFinder]
        here = expected_location(ctx)
        own = ctx.entity[Traits].home

        def choices() -> Iterator[dict[str, Entity]]:
            beds = [bed for bed in town.census.find("bed") if leases.holder(bed) in (None, ctx.agent)]
            beds.sort(key=lambda bed: (bed[Position].location != own, finder.distance(here, bed[Position].location)))
            return ({"bed": bed} for bed in beds)

        ctx.candidates(choices())


class SleepInBed(Action):
    """Sleep, until wide awake."""

    does = "colony:sleep_in_bed"
    name = "sleep in bed"
    utility = 1.0
    status_text_key = "colony:status.sleeping"

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Sleep."""
        needs = ctx.entity[Needs]
        needs.asleep = True
        while needs.rest < _AWAKE:
            await needs.changed.wait()
        ctx.entity[Traits].add_thought("slept well")
        ctx.entity[Town].chronicle.note("nights slept", ctx.entity, "slept well")

    def stop(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Wake up."""
        ctx.entity[Needs].asleep = False


# --- resting ----------------------------------------------------------------------------------------------------------


class Rest(CompoundAction):
    """Lie in bed when badly hurt.

    Source: Stonehearth, AI: "Task group example", rest_when_injured.
    """

    does = "colony:rest_when_injured"
    name = "rest when hurt"
    utility = 1.0
    steps = (
        step("agentrt:find_entity", tag="bed", name="bed"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["bed"].entity),
        step("colony:rest_in_bed"),
    )

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready when less than half is left."""
        health = ctx.entity[Health]
        await ready_while(ctx, [health.changed], lambda: health.points * 2 < health.most)


class RestInBed(Action):
    """Lie in bed, until the worst is over."""

    does = "colony:rest_in_bed"
    name = "rest in bed"
    utility = 1.0
    status_text_key = "colony:status.resting"

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Rest."""
        health = ctx.entity[Health]
        ctx.entity[Needs].asleep = True
        while health.is_hurt:
            await health.changed.wait()

    def stop(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Get up."""
        ctx.entity[Needs].asleep = False
