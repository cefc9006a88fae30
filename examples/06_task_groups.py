"""Task groups: a shepherd's flock gets hungry, and the town sees to it that somebody feeds it.

A task is there before anybody is; members of the town's herding group consider it, and one does what is to be done
once. Each shepherd has a personal group too; the two compete where both do the same activity, the root. Herding is
worth 0.6 at most, and 0.65 once somebody has been at it for a while.
"""

from __future__ import annotations

import agentrt as art
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_task
from agentrt.testing import Simulation


class FeedAnimals(art.Action):
    """Takes a second for each animal."""

    does = "farm:feed_pasture_animals"
    utility = 1.0
    status_text_key = "farm:status.feeding"

    class Args(art.ActionArgs):
        pasture: art.Entity
        animals: int

    async def run(self, ctx: art.Context, args: Args) -> None:
        print(f"{ctx.clock.now:5.2f} s  {ctx.entity.name} feeds {args.animals} animals of the {args.pasture.name}")
        await ctx.sleep(args.animals)


class Sleep(art.Action):
    """Takes three seconds."""

    does = "farm:sleep"
    utility = 1.0

    async def run(self, ctx: art.Context, args: art.ActionArgs) -> None:
        print(f"{ctx.clock.now:5.2f} s  {ctx.entity.name} sleeps")
        await ctx.sleep(3)


class Herding(TaskGroupAction):
    """What the town has to do about animals."""

    does = art.TOP
    utility = (0.4, 0.6)
    tasks = (declare_multiple_tasks("farm:feed_pasture_animals", (0.0, 1.0)),)


class BasicNeeds(TaskGroupAction):
    """What everybody has to do for itself: sleeping is worth 0.8 * 0.9 = 0.72."""

    does = art.TOP
    utility = (0.0, 0.9)
    tasks = (declare_task("farm:sleep", 0.8),)


sim = Simulation()
herding = TaskGroup(Herding)

for name, animals in (("hill", 2), ("meadow", 4), ("marsh", 1)):
    pasture = art.Entity("pasture", name=name)
    task = herding.create_task("farm:feed_pasture_animals", pasture=pasture, animals=animals)
    task.set_source(pasture).once()
    task.notify_completed(lambda task: print(f"{sim.runtime.clock.now:5.2f} s  the {task.source.name} is fed"))
    task.notify_interrupted(lambda task: print(f"{sim.runtime.clock.now:5.2f} s  the {task.source.name} has to wait"))
    task.start()

sim.tick(10)  # nobody is there yet
for name in ("Ada", "Ben"):
    shepherd = sim.add(art.Agent(art.Entity("shepherd", name=name), actions=[FeedAnimals, Sleep]))
    herding.add(shepherd)
own = TaskGroup(BasicNeeds, name="solo:needs", owner=shepherd)
own.add(shepherd)
sim.tick(30)
own.create_task("farm:sleep").once().start()  # Ben is tired
sim.tick(160)
print(herding.waits)
sim.close()
