"""Basic needs: eat, sleep, rest when injured; and the task group that has them compete.

How urgent a need is says the component ``Needs``, under the names ``hunger``, ``sleep`` and ``recovery``. The observers
issue the tasks: one to sleep when the body is tired, one to eat when it is hungry. Recovery needs no observer, since
its task is permanent, and its action is ready while there is something to recover from.

``BasicNeeds`` is the seed's example to the letter: sleep at 0.6, eat from 0.4 to 1.0 by how good the meal is, rest when
injured at 0.2, all of them within 0 and 0.3 at the root.

Source: Stonehearth, AI: "Task group example"; "Tasks", "Personal task groups".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrt import ARGS, OUT, PREV, Action, ActionArgs, Agent, CompoundAction, Context, Entity, next_tick, step
from agentrt.activity import ChildUtilities
from agentrt.tasks import TaskGroupAction, declare_multiple_tasks, declare_permanent_task, declare_task
from agentrt_actions.things import Needs, Sleeper
from agentrt_actions.watching import ready_while

__all__ = [
    "BASIC_NEEDS",
    "BasicNeeds",
    "Eat",
    "LieDown",
    "RestWhenInjured",
    "SleepInBed",
    "SleepOnGround",
    "observe_hunger",
    "observe_sleepiness",
]

BASIC_NEEDS = "agentrt:task_groups:solo:basic_needs"
"""The name of each agent's personal task group of basic needs."""

HUNGRY = 0.4
"""How urgent hunger is when the observer issues a task to eat."""

TIRED = 0.6
"""How urgent sleep is when the observer issues a task to sleep."""


class BasicNeeds(TaskGroupAction):
    """Eat, sleep and recover.

    Source: Stonehearth, AI: "Task group example".
    """

    does = "agentrt:top"
    name = "basic needs"
    utility = (0.0, 0.3)
    tasks = (
        declare_task("agentrt:sleep", 0.6),
        declare_multiple_tasks("agentrt:eat", (0.4, 1.0)),
        declare_permanent_task("agentrt:rest_when_injured", {}, 0.2),
    )


async def observe_sleepiness(agent: Agent) -> None:
    """Have the agent sleep whenever it is tired.

    Args:
        agent: the agent; its entity has ``Needs``.

    Source: Stonehearth, AI: "Task group example" (sleepiness_observer).
    """
    await _observe(agent, "sleep", TIRED, "agentrt:sleep")


async def observe_hunger(agent: Agent) -> None:
    """Have the agent eat whenever it is hungry.

    Args:
        agent: the agent; its entity has ``Needs``.

    Source: Stonehearth, AI: "Task group example" (the consumption component).
    """
    await _observe(agent, "hunger", HUNGRY, "agentrt:eat")


async def _observe(agent: Agent, need: str, threshold: float, activity: str) -> None:
    needs: Needs | None = agent.entity.get(Needs)
    while needs is not None:
        while needs.urgency(need) < threshold:
            await needs.changed.wait()
        group = agent.get_task_group(BASIC_NEEDS)
        task = next((task for task in group.tasks if task.activity == activity), None)  # somebody else's will do
        if task is None:
            task = group.create_task(activity).once()
            task.set_annotation(f"{need} is urgent").set_source(agent.entity).start()
        await task.wait()
        await next_tick()


class Eat(CompoundAction):
    """Fetch something to eat and eat it. The better the food, the better.

    Source: Stonehearth, AI: "Task group example" (stonehearth:eat).
    """

    does = "agentrt:eat"
    name = "eat"
    utility = (0.0, 1.0)
    status_text_key = "agentrt:status.eating"

    class Args(ActionArgs):
        """What to eat.

        Attributes:
            food: the tag under which food stands.
            filter: what counts; as for ``agentrt:find_best``.
            rating: how good it is; None for the nearest.
            seconds: how many game seconds a meal takes.
        """

        food: str = "food"
        filter: Callable[[Entity], bool] | str | None = None
        rating: Callable[[Entity], float | None] | str | None = None
        seconds: float = 2.0

    steps = (
        step("agentrt:fetch_item", tag=ARGS.food, filter=ARGS.filter, rating=ARGS.rating),
        step("agentrt:wait", seconds=ARGS.seconds),
        step("agentrt:consume_carried"),
    )

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The better the food, the better."""
        return child_utilities["agentrt:fetch_item"]


class SleepInBed(CompoundAction):
    """Sleep in the nearest bed that is free. Beds stand under the tag ``bed``."""

    does = "agentrt:sleep"
    name = "sleep in bed"
    utility = 0.8
    status_text_key = "agentrt:status.sleeping"
    steps = (
        step("agentrt:find_entity", tag="bed", name="bed"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["bed"].entity),
        step("agentrt:lie_down", need="sleep", place=OUT["bed"].entity),
    )


class SleepOnGround(CompoundAction):
    """Sleep where one stands, for want of a bed."""

    does = "agentrt:sleep"
    name = "sleep on the ground"
    utility = 0.2
    status_text_key = "agentrt:status.sleeping"
    steps = (step("agentrt:lie_down", need="sleep"),)


class RestWhenInjured(CompoundAction):
    """Rest in the nearest bed that is free, while there is something to recover from.

    Source: Stonehearth, AI: "Task group example" (stonehearth:rest_when_injured).
    """

    does = "agentrt:rest_when_injured"
    name = "rest when injured"
    utility = 1.0
    status_text_key = "agentrt:status.resting"
    steps = (
        step("agentrt:find_entity", tag="bed", name="bed"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["bed"].entity),
        step("agentrt:lie_down", need="recovery", place=OUT["bed"].entity),
    )

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready while recovery is needed."""
        needs: Needs = ctx.entity[Needs]
        await ready_while(ctx, [needs.changed], lambda: needs.urgency("recovery") > 0.0)


class LieDown(Action):
    """Lie until a need is satisfied. When the bed is destroyed the plan is aborted."""

    does = "agentrt:lie_down"
    name = "lie down"
    utility = 1.0

    class Args(ActionArgs):
        """Where, and until when.

        Attributes:
            need: the need, as ``Needs`` names it.
            place: the bed; None for the ground.
        """

        need: str
        place: Entity | None = None

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Lie."""
        needs: Needs = ctx.entity[Needs]
        place = args.place
        if place is not None:
            if place.is_destroyed:
                ctx.abort(f"{place.name} was destroyed")

            def lost(_gone: Any) -> None:
                ctx.abort(f"{place.name} was destroyed")

            ctx.listen(place.destroyed, lost)
        ctx.entity[Sleeper].lie_down(place)
        while needs.urgency(args.need) > 0.0:
            await needs.changed.wait()

    def stop(self, ctx: Context[Entity], args: Args) -> None:
        """Get up."""
        ctx.entity[Sleeper].get_up()
