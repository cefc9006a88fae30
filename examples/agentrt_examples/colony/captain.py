"""The captain: orders for soldiers, and the party that drives wolves away.

* In the evening each soldier is ordered to a post; in the morning it is relieved. The order is a task in the soldier's
  own group, the end of the watch is an event of the soldier.
* When there are wolves, a *party* is made: a task group for this occasion, with the soldiers as its members and a task
  for each wolf that a soldier can come to soon. It is destroyed when the wolves are gone.

Source: seed 001, "Personal task groups" (move orders to military units); "Ad hoc task groups" (combat parties).
"""

from __future__ import annotations

from collections.abc import Callable

from agentrt import Agent, Entity, Task, TaskGroup
from agentrt_examples.colony.acting.soldiers import RELIEVED, WATCH_KEPT, DefenseParty, posts
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.daylight import DAWN, DUSK
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = ["UNIT_CONTROL", "Captain"]

UNIT_CONTROL = "colony:task_groups:solo:unit_control"
"""The name of a soldier's personal group for orders."""

_EVERY = 5
_FIGHTERS = 2  # for each wolf
_NEAR = 24  # steps


class Captain:
    """Commands the soldiers.

    Args:
        town: the world.
        watch: has a task counted.

    Attributes:
        me: as whom tasks know the captain.
        soldiers: the agents of all soldiers.
        party: who drives wolves away; None while there are none.
        parties: how many parties there were.
    """

    def __init__(self, town: Town, watch: Callable[[Task], Task]) -> None:
        self._town = town
        self._watch = watch
        self.me = Entity("captain", name="the captain")
        self.soldiers: list[Agent] = []
        self.party: TaskGroup | None = None
        self.parties = 0

    def enlist(self, agent: Agent) -> None:
        """Have a new soldier; also in the party, if there is one.

        Args:
            agent: the soldier's.
        """
        self.soldiers.append(agent)
        soldier: Entity = agent.entity
        soldier.signal(WATCH_KEPT).connect(
            lambda _value: self._town.chronicle.note("watches kept", soldier, "kept watch")
        )
        if self.party is not None:
            self.party.add(agent)

    def order(self, agent: Agent, location: Cell) -> Task:
        """Order a soldier somewhere.

        Args:
            agent: the soldier's.
            location: where.

        Returns:
            The order; one that was given before is taken back.
        """
        group = agent.get_task_group(UNIT_CONTROL)
        for task in group.tasks:
            if task.activity == "colony:move_to":
                task.destroy()
        return self._watch(group.create_task("colony:move_to", location=location)).once().set_source(self.me).start()

    def tick(self) -> None:
        """Look around, and give orders when it is time."""
        time = self._town.daylight.time
        if time == DUSK:
            self._post_guards()
        elif time == DAWN:
            for agent in self.soldiers:
                agent.entity.signal(RELIEVED).emit()
        if self._town.clock.tick % _EVERY == 0:
            self._see_to_wolves()

    def _post_guards(self) -> None:
        places = posts(self._town)
        for number, agent in enumerate(self.soldiers):
            group = agent.get_task_group(UNIT_CONTROL)
            if places and not any(task.activity == "colony:guard" and not task.is_over for task in group.tasks):
                task = self._watch(group.create_task("colony:guard", post=places[number * 2 % len(places)])).once()
                task.set_source(self.me).set_annotation("the night's watch").start()

    def _see_to_wolves(self) -> None:
        wolves = self._town.census.find("wolf")
        if not wolves:
            if self.party is not None:
                self.party.destroy()
                self.party = None
            return
        party = self.party or self.form_party()
        hunted = {task.args["wolf"]: task for task in party.tasks if not task.is_over}
        for wolf in wolves:
            task = hunted.get(wolf)
            if not self._is_near(wolf):
                if task is not None:
                    task.destroy()
            elif task is None:
                task = self._watch(party.create_task("colony:attack", wolf=wolf)).max_workers(_FIGHTERS)
                task.set_source(wolf).set_annotation(f"{wolf.name} was seen").start()

    def _is_near(self, wolf: Entity) -> bool:
        distance, there = self._town.finder.distance, wolf[Position].location
        return any(distance(agent.entity[Position].location, there) <= _NEAR for agent in self.soldiers)

    def form_party(self, name: str = "") -> TaskGroup:
        """Make a party of all soldiers.

        Args:
            name: what to call it; a number by default.

        Returns:
            The party.
        """
        if not name:
            self.parties += 1
            name = f"colony:task_groups:party_{self.parties}"
            self._town.chronicle.note("parties formed", self.me, "formed a party")
        self.party = TaskGroup(DefenseParty, name=name)
        for agent in self.soldiers:
            self.party.add(agent)
        return self.party
