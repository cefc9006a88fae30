"""Goals: a wolf strolls, looks about, hunts what it has chosen, and runs from fire; then somebody puts it on a leash.

Selectors decide in every second tick, the one for targets first. Hunting is a coroutine, which cleans up when it ends.
"""

from __future__ import annotations

import agentrt as art
from agentrt.goals import LOOK, MOVE, TARGET, TARGETS, Goal, GoalSelector
from agentrt.testing import Simulation


class Wolf:
    name = "wolf"
    smells_sheep = sees_fire = has_target = False


class Told(Goal):
    sign = ""  # what makes it possible; nothing: it always is

    def can_use(self) -> bool:
        return getattr(self.entity, self.sign, True)

    def tell(self, what: str) -> None:
        print(f"tick {sim.now:2}  {self.name} {what}")

    def start(self) -> None:
        self.tell("starts")

    def stop(self) -> None:
        self.tell("stops")


class Stroll(Told):
    flags = {MOVE}


class Gaze(Told):
    flags = {LOOK}


class Hunt(Told):
    flags = {MOVE, LOOK}
    sign = "has_target"

    async def run(self) -> None:
        try:
            await art.sleep_ticks(100)
        finally:
            self.tell("spits out wool")


class Panic(Told):
    flags = {MOVE}
    sign = "sees_fire"


class ChooseSheep(Told):
    flags = {TARGET}
    sign = "smells_sheep"

    def tick(self) -> None:
        self.entity.has_target = True


sim, wolf = Simulation(), Wolf()
goals, targets = GoalSelector(), GoalSelector(name="targets", rank=TARGETS)
for priority, goal in ((7, Stroll()), (8, Gaze()), (3, Hunt()), (1, Panic())):
    goals.add_goal(priority, goal)
targets.add_goal(2, ChooseSheep())
agent = sim.add(art.Agent(wolf, drivers=[goals, targets]))
for sign in ("smells_sheep", "sees_fire"):
    sim.tick(4)
    setattr(wolf, sign, True)
sim.tick(6)
print(agent.explain())
goals.disable_control_flag(MOVE)  # the leash
sim.tick(4)
sim.close()
