"""The foreman: what the town wants to have done, as tasks in its groups. Outside of all minds: it says what, not who.

* *Chores* are tasks without an end: to till, plant, harvest, cook, haul. Each is started while there is something to do
  and paused while there is not, and at night, when work rests. It has room for as many as there is to do. Nobody thinks
  about a task that is paused, or full.
* *Patients*: for each who is hurt there is a task to heal it, once, by one healer. It is taken back when the patient is
  well, and goes by itself when the patient does.
* *Commissions*: at dawn the trader orders a picture of an animal, to be painted twice.

The foreman counts what becomes of its tasks, and of anybody else's who asks for it (``watch``).

Source: Stonehearth, AI: "Issuing tasks"; "Town task groups".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agentrt import Entity
from agentrt.tasks import Task, TaskGroup
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.daylight import DAWN
from agentrt_examples.colony.town import Town

__all__ = ["Foreman", "Tally"]

_EVERY = 5
_MEALS = 8
_COMMISSIONS = 3  # of the one trader, however large the ground is


class _Chore(NamedTuple):
    """Something that is to be done as long as there is anything to do.

    Attributes:
        group: the group of the town.
        activity: what is to be done.
        tag: where the census lists what it is done to.
        workers: how many may do it at a time, for each part of the ground.
    """

    group: str
    activity: str
    tag: str
    workers: int


_CHORES = (
    _Chore("farming", "colony:till", "plot:bare", 3),
    _Chore("farming", "colony:plant", "plot:tilled", 3),
    _Chore("farming", "colony:harvest", "plot:ripe", 4),
    _Chore("cooking", "colony:cook", "stored:turnip", 2),
    _Chore("hauling", "colony:haul_turnip", "loose:turnip", 3),
    _Chore("hauling", "colony:haul_meal", "loose:meal", 2),
    _Chore("hauling", "colony:haul_picture", "loose:picture", 1),
)


@dataclass(slots=True)
class Tally:
    """What became of the tasks of one group.

    Attributes:
        done: how many times something was done.
        completed: how many tasks were done as often as they should.
        interrupted: how often a worker was stopped before the end.
        destroyed: how many tasks are over, completed or not.
    """

    done: int = 0
    completed: int = 0
    interrupted: int = 0
    destroyed: int = 0

    def add(self, other: Tally) -> None:
        """Count what another one counted.

        Args:
            other: stays as it is.
        """
        self.done += other.done
        self.completed += other.completed
        self.interrupted += other.interrupted
        self.destroyed += other.destroyed


def _kind(name: str) -> str:
    """The name of a group without its number: all parties are counted as one."""
    return name.rstrip("0123456789").rstrip("_")


class Foreman:
    """Issues the town's tasks.

    Args:
        town: the world.

    Attributes:
        trader: who orders pictures.
        tallies: what became of tasks, by the names of their groups; of endless ones that go on, nothing yet.
    """

    def __init__(self, town: Town) -> None:
        self._town = town
        self._parts = len(town.ground.parts)
        self.trader = Entity("trader", name="the trader")
        self._chores: dict[str, Task] = {}
        self._patients: dict[Entity, Task] = {}
        self.tallies: dict[str, Tally] = {}

    def tick(self) -> None:
        """See what there is to do."""
        town = self._town
        if town.clock.tick % _EVERY == 0:
            for chore in _CHORES:
                self._see_to(chore)
            self._see_to_patients()
        if town.daylight.time == DAWN:
            self._order_pictures()

    def watch(self, task: Task) -> Task:
        """Count what becomes of a task.

        Args:
            task: one that nobody counts yet.

        Returns:
            The task.
        """
        tally = self.tallies.setdefault(_kind(task.group.name), Tally())

        def completed(_task: Task) -> None:
            tally.completed += 1

        def interrupted(_task: Task) -> None:
            tally.interrupted += 1

        def destroyed(over: Task) -> None:
            tally.destroyed += 1
            tally.done += over.finished

        return task.notify_completed(completed).notify_interrupted(interrupted).notify_destroyed(destroyed)

    def adopt(self, task: Task) -> None:
        """Take a task as one's own that a saved game brought back.

        Args:
            task: of one of the town's groups.
        """
        self.watch(task)
        patient = task.args.get("patient")
        if patient is not None:
            self._patients[patient] = task
        elif any(chore.activity == task.activity for chore in _CHORES):
            self._chores[task.activity] = task

    def done(self, group: TaskGroup) -> int:
        """How many times something was done for a group.

        Args:
            group: one of the town's.
        """
        tally = self.tallies.get(group.name)
        return (tally.done if tally is not None else 0) + sum(task.finished for task in group.tasks)

    # --- what there is to do ------------------------------------------------------------------------------------------

    def _see_to(self, chore: _Chore) -> None:
        task = self._chores.get(chore.activity)
        is_wanted = self._is_wanted(chore)
        if task is None:
            if not is_wanted:
                return
            group = self._town.groups.get_task_group(f"colony:task_groups:{chore.group}")
            task = self._chores[chore.activity] = self.watch(group.create_task(chore.activity))
            task.set_annotation(f"while there is any {chore.tag}")
        if is_wanted:
            self._make_room(task, min(chore.workers * self._parts, self._town.census.count(chore.tag)))
            task.start()
        elif self._town.daylight.is_dark or not task.workers:
            task.pause()  # who is at it finishes, unless it is night

    def _make_room(self, task: Task, workers: int) -> None:
        """Let as many work at it as there is to do: whoever finds no room does not even think about it."""
        now = task.worker_limit
        if now is None or workers > now or workers * 2 <= now:
            # Paused and started within one tick, it is never taken from those who are at it.
            task.pause().max_workers(workers)

    def _is_wanted(self, chore: _Chore) -> bool:
        census = self._town.census
        if self._town.daylight.is_dark or not census.count(chore.tag):
            return False
        return chore.group != "cooking" or census.count("meal") < _MEALS * self._parts

    def _see_to_patients(self) -> None:
        census = self._town.census
        for patient in census.find("wounded"):
            task = self._patients.get(patient)
            if task is None or task.is_over:
                group = self._town.groups.get_task_group("colony:task_groups:healing")
                task = self.watch(group.create_task("colony:heal", patient=patient)).once().max_workers(1)
                self._patients[patient] = task.set_source(patient).set_annotation(f"{patient.name} is hurt").start()
        for patient, task in tuple(self._patients.items()):
            if task.is_over or (not census.has(patient, "wounded") and not task.workers):
                task.destroy()
                del self._patients[patient]

    def _order_pictures(self) -> None:
        group = self._town.groups.get_task_group("colony:task_groups:commissions")
        animals = sorted(self._town.census.find("animal"), key=lambda animal: -animal[Poser].photogenicity)
        ordered = [task.args["subject"] for task in group.tasks]
        wanted = [animal for animal in animals if animal not in ordered]
        for animal in wanted[: max(0, _COMMISSIONS - len(ordered))]:
            task = self.watch(group.create_task("colony:paint_commission", subject=animal)).times(2).max_workers(1)
            task.set_source(self.trader).set_annotation(f"ordered by {self.trader.name}").start()
