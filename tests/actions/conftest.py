"""A world of rooms, made for these tests: nothing of a grid, to show that the standard actions know only their protocols.

Rooms have names; corridors join them::

    cellar - hall - kitchen - garden - meadow - hill
                  \\ attic              \\ pond (an island: no corridor)
"""

from __future__ import annotations

from collections import deque

import pytest

from agentrt import Agent, Entity, LeaseBook, Signal
from agentrt.testing import Simulation
from agentrt_actions import (
    Carrier,
    Consumable,
    Directory,
    EffectPlayer,
    Located,
    Mover,
    Path,
    PathFinder,
    Storage,
    Threats,
)

CORRIDORS = {
    "cellar": ["hall"],
    "hall": ["cellar", "kitchen", "attic"],
    "attic": ["hall"],
    "kitchen": ["hall", "garden"],
    "garden": ["kitchen", "meadow"],
    "meadow": ["garden", "hill"],
    "hill": ["meadow"],
    "pond": [],
}


class Rooms:
    """Path finder; a closed room is not entered."""

    def __init__(self):
        self.closed = []
        self.changed = Signal()
        self.blocked_steps = []

    def neighbors(self, place):
        return [room for room in CORRIDORS[place] if room not in self.closed]

    def _search(self, start):
        found = {start: (start,)}
        queue = deque([start])
        while queue:
            room = queue.popleft()
            for near in self.neighbors(room):
                if near not in found:
                    found[near] = (*found[room], near)
                    queue.append(near)
        return found

    def find(self, start, goal, *, reach=0):
        way = self._search(start).get(goal)
        if way is None:
            return None
        way = way[: max(1, len(way) - reach)]
        return Path(start, way[1:], 10 * (len(way) - 1))

    def costs(self, start, goals, *, reach=0):
        return [None if (path := self.find(start, goal, reach=reach)) is None else path.cost for goal in goals]

    def distance(self, first, second):
        path = self.find(first, second)
        return 99 if path is None else len(path.places)


class Spot:
    def __init__(self, location):
        self.location = location
        self.moved = Signal()

    def put(self, location):
        self.location = location
        self.moved.emit(location)


class Feet:
    """Two ticks a step."""

    def __init__(self, spot, rooms):
        self.spot = spot
        self.rooms = rooms

    def ticks_to(self, place):
        return 2

    def step(self, place):
        if place in self.rooms.blocked_steps or place not in self.rooms.neighbors(self.spot.location):
            return False
        self.spot.put(place)
        return True


class Pockets:
    def __init__(self, spot):
        self.spot = spot
        self.carrying = None
        self.can_pick_up = True

    def pick_up(self, item):
        if self.carrying is not None or not self.can_pick_up:
            return False
        self.carrying = item
        return True

    def put_down(self):
        item, self.carrying = self.carrying, None
        if item is not None:
            item[Located].put(self.spot.location)
        return item


class Chest:
    def __init__(self, kind):
        self.kind = kind
        self.items = []
        self.is_open = True

    def accepts(self, item):
        return item.kind == self.kind

    def store(self, item, carrier):
        if not self.is_open:
            return False
        carrier.carrying = None
        self.items.append(item)
        return True


class Cake:
    def __init__(self, item):
        self.item = item
        self.eaten_by = []

    def consume(self, consumer):
        self.eaten_by.append(consumer.name)
        consumer[Carrier].carrying = None
        self.item.destroy()


class Tags:
    def __init__(self):
        self.under = {}
        self.signals = {}

    def find(self, tag):
        return tuple(self.under.get(tag, ()))

    def changed(self, tag):
        return self.signals.setdefault(tag, Signal())

    def put(self, tag, *entities):
        self.under.setdefault(tag, []).extend(entities)
        self.changed(tag).emit()

    def take(self, tag, entity):
        self.under[tag].remove(entity)
        self.changed(tag).emit()


class Scares:
    def __init__(self):
        self.nearby = ()
        self.changed = Signal()

    def see(self, *entities):
        self.nearby = entities
        self.changed.emit()


class Played:
    def __init__(self, stage, done):
        self.stage = stage
        self.done = done

    def stop(self):
        self.stage.stopped += 1


class Stage:
    """Plays effects until the test ends them."""

    def __init__(self):
        self.playing = []
        self.stopped = 0

    def play(self, entity, effect, done):
        self.playing.append((entity.name, effect))
        self.last = Played(self, done)
        return self.last


class World:
    """A simulation with rooms, and what lives in them."""

    def __init__(self):
        self.sim = Simulation(seed=1)
        self.rooms = Rooms()
        self.tags = Tags()
        self.stage = Stage()

    @property
    def leases(self):
        return self.sim.runtime.leases

    def thing(self, kind, place, *, name=None):
        made = Entity(kind, name=name)
        made.add(Spot(place), Located)
        return made

    def chest(self, place, kind, *, name=None):
        made = self.thing("chest", place, name=name)
        made.add(Chest(kind), Storage)
        self.tags.put("storage", made)
        return made

    def cake(self, place):
        made = self.thing("cake", place)
        made.add(Cake(made), Consumable)
        return made

    def agent(self, *actions, place="hall", name="Ada", packs=()):
        entity = self.thing("person", place, name=name)
        spot = entity[Located]
        entity.add(Feet(spot, self.rooms), Mover)
        entity.add(Pockets(spot), Carrier)
        entity.add(Scares(), Threats)
        entity.add(self.rooms, PathFinder)
        entity.add(self.tags, Directory)
        entity.add(self.stage, EffectPlayer)
        entity.add(self.leases, LeaseBook)
        return self.sim.add(Agent(entity, actions=list(actions), packs=list(packs)))

    def walk(self, agent, ticks):
        """Where an agent is after each tick, without repetition."""
        seen = [agent.entity[Located].location]
        for _ in range(ticks):
            self.sim.tick()
            here = agent.entity[Located].location
            if here != seen[-1]:
                seen.append(here)
        return seen

    def aborts(self):
        return [dict(record.detail)["reason"] for record in self.sim.trace if record.event == "abort"]


@pytest.fixture
def world():
    made = World()
    yield made
    made.sim.close()
