"""Selection trees: a grunt and an alien share one tree from XML, and behave each in its own way.

The files are in examples/selection: what both know is in Common.xml, what they do about it is in their own. A signal
sets variables, or is told to the current behavior, which may set them; the tree is evaluated in the next tick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agentrt as art
from agentrt.selection import LeafBehavior, SelectionLibrary, SelectionState
from agentrt.testing import Simulation


class Saying(LeafBehavior):
    """Says when it begins and when it ends."""

    def constructor(self, ai: SelectionState) -> None:
        print(f"  {ai.entity.name} begins: {type(self).__name__}")

    def destructor(self, ai: SelectionState) -> None:
        print(f"  {ai.entity.name} ends:   {type(self).__name__}")


class Watch(Saying):
    pass


class Hunt(Saying):
    pass


class Listen(Saying):
    """What it hears from nearby it takes for an enemy, before it has seen one."""

    def OnSoundHeard(self, ai: SelectionState, distance: float) -> None:  # noqa: N802 - the name of the signal
        print(f"  {ai.entity.name} hears something, {distance} m away")
        if distance < 5:
            ai.set_variable("AwareOfEnemy", True)


class Drift(Saying):
    pass


class Digest(Saying):
    pass


BEHAVIORS = {
    "GruntIdle": Watch(),
    "GruntInvestigate": Listen(),
    "GruntAttack": Hunt(),
    "AlienIdle": Drift(),
    "AlienAttack": Digest(),  # and nobody has written how an alien investigates
}

library = SelectionLibrary.load(Path(__file__).parent / "selection")
sim = Simulation()
minds = []
for kind in ("grunt", "alien"):
    agent = sim.add(art.Agent(art.Entity(kind, name=f"the {kind}")))
    mind = library[kind].state(BEHAVIORS)
    agent.attach(mind)
    minds.append(mind)

sound: dict[str, Any] = {"distance": 3}
happened = ("OnPeace", "OnHearSound", "OnSoundHeard", "OnEnemySeen", "OnNoTarget")
for signal in happened:
    print(signal)
    for mind in minds:
        mind.signal(signal, **(sound if signal == "OnSoundHeard" else {}))
    sim.tick(1)  # each tree is evaluated, if a variable changed
for mind in minds:
    print("\n".join(mind.view().lines()))
sim.close()
