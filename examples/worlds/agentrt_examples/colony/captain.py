"""The captain: orders for soldiers, and the party that drives wolves away.

* In the evening each soldier is ordered to a post; in the morning it is relieved. The order is a task in the soldier's
  own group, the end of the watch is an event of the soldier. A watch that was broken off is over in the morning, too.
* What a soldier is to know for its stance, it is told as a signal of its selection tree: the alarm, orders, relief.
* When there are wolves, a *party* is made: a task group for this occasion, with the soldiers as its members and a task
  for each wolf that a soldier can come to soon. It is destroyed when the wolves are gone.

Source: Stonehearth, AI: "Personal task groups" (move orders to military units); "Ad hoc task groups" (combat parties).
"""

from __future__ import annotations

from collections.abc import Callable

from agentrt import Agent, Entity
from agentrt.kernel import Connection
from agentrt.tasks import Task, TaskGroup
from agentrt_actions import Place
from agentrt_examples.colony.acting.soldiers import RELIEVED, WATCH_KEPT, DefenseParty, posts
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.daylight import DAWN, DUSK
from agentrt_examples.colony.minds.perception import Perception
from agentrt_examples.colony.minds.soldiers import senses
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
        senses: what each of them perceives.
        party: who drives wolves away; None while there are none.
        parties: how many parties there were.
    """

    def __init__(self, town: Town, watch: Callable[[Task], Task]) -> None:
        self._town = town
        self._watch = watch
        self.me = Entity("captain", name="the captain")
        self.soldiers: list[Agent] = []
        self.senses: dict[Agent, Perception] = {}
        self._reports: dict[Agent, Connection] = {}
        self.party: TaskGroup | None = None
        self.parties = 0

    def enlist(self, agent: Agent) -> None:
        """Have a new soldier; also in the party, if there is one.

        Args:
            agent: the soldier's.
        """
        self.soldiers.append(agent)
        self.senses[agent] = senses(agent)
        soldier: Entity = agent.entity
        self._reports[agent] = soldier.signal(WATCH_KEPT).connect(
            lambda _value: self._town.chronicle.note("watches kept", soldier, "kept watch")
        )
        if self.party is not None:
            self.party.add(agent)
            self.senses[agent].tell("OnAlarm")

    def dismiss(self, agent: Agent) -> None:
        """Have a soldier less; nothing happens if it was none.

        Args:
            agent: who was a soldier.
        """
        if agent in self.soldiers:
            self.soldiers.remove(agent)
            self.senses.pop(agent).end()
            self._reports.pop(agent).close()
            if self.party is not None:
                self.party.remove(agent)

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
            self._relieve()
        if self._town.clock.tick % _EVERY == 0:
            self._see_to_wolves()

    def _post_guards(self) -> None:
        places = posts(self._town)
        for number, agent in enumerate(self.soldiers):
            if places and not self._watches(agent):
                self.order_watch(agent, places[number * 2 % len(places)])

    def _watches(self, agent: Agent) -> list[Task]:
        tasks = agent.get_task_group(UNIT_CONTROL).tasks
        return [task for task in tasks if task.activity == "colony:guard" and not task.is_over]

    def order_watch(self, agent: Agent, post: Place) -> Task:
        """Order a soldier to keep watch.

        Args:
            agent: the soldier's.
            post: where.

        Returns:
            The order.
        """
        self.senses[agent].tell("OnOrdered")
        task = self._watch(agent.get_task_group(UNIT_CONTROL).create_task("colony:guard", post=post)).once()
        return task.set_source(self.me).set_annotation("the night's watch").start()

    def _relieve(self) -> None:
        """The night is over: who stands at the post reports, and a watch that was broken off is forgotten."""
        for agent in self.soldiers:
            agent.entity.signal(RELIEVED).emit()
            self.senses[agent].tell("OnRelieved")
            for task in self._watches(agent):
                if not task.workers:
                    task.destroy()

    def _see_to_wolves(self) -> None:
        wolves = self._town.census.find("wolf")
        if not wolves:
            if self.party is not None:
                self.party.destroy()
                self.party = None
                self._tell_all("OnAllClear")
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
        self._tell_all("OnAlarm")
        self.party = TaskGroup(DefenseParty, name=name)
        for agent in self.soldiers:
            self.party.add(agent)
        return self.party

    def _tell_all(self, signal: str) -> None:
        for agent in self.soldiers:
            self.senses[agent].tell(signal)
