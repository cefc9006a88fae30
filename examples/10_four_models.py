"""One agent, four models: a selection tree, a goal selector, a behavior tree and the planner, on one body.

The selection tree says what kind of thing the watchman does. In peace its leaf gives him a pack, and his planner makes
him patrol; at the sound of a horn its leaf attaches a behavior tree instead. Ducking is a reflex: a goal, above both.
Who has his legs is decided in one place, the ledger of control flags.
"""

from typing import Any

import agentrt as art
from agentrt.behavior import Activation, Behavior, BehaviorTree, decider, group
from agentrt.bridges import attaches, injects
from agentrt.goals import Goal, GoalSelector
from agentrt.selection import SelectionLibrary
from agentrt.testing import Simulation


def say(text: str) -> None:
    print(f"{sim.runtime.clock.now:4.2f} s  {text}")


class Patrol(art.Action):
    does = art.TOP
    utility = 0.5
    flags = {art.MOVE}

    async def run(self, ctx: art.Context, args: Any) -> None:
        say("plan:  he patrols")
        await ctx.sleep(600)


class Duck(Goal):
    flags = {art.MOVE}

    def can_use(self) -> bool:
        return stones.is_set

    async def run(self) -> None:
        say("goal:  he ducks")
        await art.sleep(0.3)  # or anything else that his host can wait for
        stones.clear()


async def shout(at: Activation) -> None:
    say("tree:  he shouts")
    await art.sleep(0.2)


class Charge(Behavior):
    flags = (art.MOVE,)

    def activate(self, at: Activation) -> None:
        say("tree:  he charges")


ALARM = BehaviorTree(group("ALARM")[decider("SHOUT", shout, flags=(art.LOOK,), every=60.0), decider("CHARGE", Charge)])
WATCHMAN = """<SelectionTree name="Watchman">
  <Variables><Variable name="Alarm"/></Variables>
  <SignalVariables><Signal name="OnHorn" variable="Alarm" value="true"/></SignalVariables>
  <Priority name="Root"><Leaf name="Battle" condition="Alarm"/><Leaf name="Peace"/></Priority>
</SelectionTree>"""

behaviors = {"Battle": attaches(ALARM.memory, precedence=1), "Peace": injects(Patrol)}
selection = SelectionLibrary.from_texts({"Watchman.xml": WATCHMAN})["Watchman"].state(behaviors=behaviors)
stones = art.Event()
reflexes = GoalSelector(precedence=2)
reflexes.add_goal(1, Duck())

sim = Simulation(seed=1)
agent = sim.add(art.Agent(art.Entity("watchman", name="Tom"), drivers=[selection, reflexes]))
sim.tick(4)
stones.set()  # the first stones
sim.tick(12)
selection.signal("OnHorn")
sim.tick(7)
stones.set()
sim.tick(4)
print(agent.explain())
sim.close()
