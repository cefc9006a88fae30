"""Two small worlds, made for these tests; the standard actions know only their protocols, and so nothing of either.

In the one, rooms have names, and corridors join them::

    cellar - hall - kitchen - garden - meadow - hill
                  \\ attic              \\ pond (an island: no corridor)

The other is a grid of nine columns and five rows; a cell is ``(column, row)``, ``#`` is a wall::

    . . . . # . . . .
    . . . . # . . . .
    . . . . . . . . .
    . . . . # . . . .
    . . . . # . . . .
"""

from __future__ import annotations

from collections import deque

import pytest

import agentrt_actions
import agentrt_packs
from agentrt import Action, Agent, Entity, Registry, Signal
from agentrt.body import LeaseBook
from agentrt.testing import Simulation
from agentrt_actions import (
    Backpacker,
    Carrier,
    Change,
    Consumable,
    Directory,
    EffectPlayer,
    Finder,
    Located,
    Mover,
    Needs,
    Path,
    PathFinder,
    Region,
    RegionPart,
    Sleeper,
    Storage,
    Threats,
)

STANDARD = Registry([agentrt_actions.manifest, agentrt_packs.manifest])

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


class Grid(Rooms):
    """The grid."""

    columns, rows = 9, 5

    def __init__(self):
        super().__init__()
        self.closed = [(4, row) for row in (0, 1, 3, 4)]

    def neighbors(self, place):
        column, row = place
        around = [(column, row - 1), (column + 1, row), (column, row + 1), (column - 1, row)]
        return [(x, y) for x, y in around if 0 <= x < self.columns and 0 <= y < self.rows and (x, y) not in self.closed]

    def distance(self, first, second):
        return abs(first[0] - second[0]) + abs(first[1] - second[1])


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


class Rucksack:
    """Room for two."""

    capacity = 2

    def __init__(self, pockets):
        self.pockets = pockets
        self.items = {}

    @property
    def storage(self):
        return self

    @property
    def full(self):
        return len(self.items) >= self.capacity

    def stow(self):
        item = self.pockets.carrying
        if item is None or self.full:
            return False
        self.pockets.carrying = None
        self.items[item] = item
        return True

    def unpack(self, item):
        if item not in self.items or self.pockets.carrying is not None:
            return False
        self.pockets.carrying = self.items.pop(item)
        return True


class Bench:
    """So many seats, each a cell of its own."""

    def __init__(self, *cells):
        self.parts = [RegionPart(number, (number, 0), cell) for number, cell in enumerate(cells)]
        self.changed = Signal()


class Body:
    """Needs that change when a test says so."""

    def __init__(self):
        self.levels = {}
        self.changed = Signal()
        self.lies_on = None

    def urgency(self, need):
        return self.levels.get(need, 0.0)

    def feel(self, **levels):
        self.levels.update(levels)
        self.changed.emit()

    def lie_down(self, place):
        self.lies_on = "the ground" if place is None else place.name

    def get_up(self):
        self.lies_on = None


class Fidgets:
    def __init__(self, **weights):
        self.idle_effects = weights


class Tags:
    """Says who changed, or, when a test wants it so, only that something did."""

    def __init__(self):
        self.under = {}
        self.signals = {}
        self.says_who = False

    def find(self, tag):
        return tuple(self.under.get(tag, ()))

    def changed(self, tag):
        return self.signals.setdefault(tag, Signal())

    def put(self, tag, *entities):
        self.under.setdefault(tag, []).extend(entities)
        for entity in entities:
            self.tell(tag, entity, True)

    def take(self, tag, entity):
        self.under[tag].remove(entity)
        self.tell(tag, entity, False)

    def tell(self, tag, entity, is_there=True):
        self.changed(tag).emit(Change(entity, is_there) if self.says_who else None)


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
        if self.done is not None:
            self.done = None
            self.stage.stopped += 1

    def end(self):
        if self.done is not None:
            done, self.done = self.done, None
            done()


class Stage:
    """Plays effects until the test ends them, or for so many ticks."""

    def __init__(self, sim):
        self.sim = sim
        self.playing = []
        self.stopped = 0
        self.ticks = 0

    def play(self, entity, effect, done):
        self.playing.append((entity.name, effect))
        self.last = played = Played(self, done)
        if self.ticks:
            self.sim.runtime.kernel.call_later(self.ticks, played.end)
        return played


class World:
    """A simulation with places, and what lives in them."""

    def __init__(self, rooms):
        self.sim = Simulation(seed=1)
        self.rooms = rooms
        self.tags = Tags()
        self.stage = Stage(self.sim)
        self.finder = Finder()

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

    def bench(self, *cells):
        made = self.thing("bench", cells[0])
        made.add(Bench(*cells), Region)
        return made

    def agent(self, *actions, place="hall", name="Ada", packs=()):
        entity = self.thing("person", place, name=name)
        spot = entity[Located]
        entity.add(Feet(spot, self.rooms), Mover)
        pockets = entity.add(Pockets(spot), Carrier)
        entity.add(Rucksack(pockets), Backpacker)
        entity.add(Body(), Needs, Sleeper)
        entity.add(self.finder)
        entity.add(Scares(), Threats)
        entity.add(self.rooms, PathFinder)
        entity.add(self.tags, Directory)
        entity.add(self.stage, EffectPlayer)
        entity.add(self.leases, LeaseBook)
        return self.sim.add(Agent(entity, actions=list(actions), packs=list(packs), registry=STANDARD))

    def walk(self, agent, ticks):
        """Where an agent is after each tick, without repetition."""
        return [place for _, place in self.steps(agent, ticks)]

    def steps(self, agent, ticks):
        """As ``walk``, with the tick of each step."""
        seen = [(self.sim.now, agent.entity[Located].location)]
        for _ in range(ticks):
            self.sim.tick()
            here = agent.entity[Located].location
            if here != seen[-1][1]:
                seen.append((self.sim.now, here))
        return seen

    def told(self, *events, agent=None):
        """The trace as (tick, action, event); with its agent too unless there is only one."""
        return [
            (record.tick, record.path.split("/")[-1], record.event.value)
            for record in self.sim.trace
            if record.event.value in events and (agent is None or record.agent == agent)
        ]

    def alarm_at(self, tick):
        """An action that is better than all others from a tick on, and then runs for good."""

        class Alarm(Action):
            does = "agentrt:top"
            utility = 1.0

            async def think(self, ctx, args):
                await ctx.sleep_ticks(max(0, tick - ctx.clock.tick))
                ctx.set_think_output()

            async def run(self, ctx, args):
                await ctx.sleep(1000)

        return Alarm

    def aborts(self):
        return [dict(record.detail)["reason"] for record in self.sim.trace if record.event == "abort"]


@pytest.fixture
def world():
    made = World(Rooms())
    yield made
    made.sim.close()


@pytest.fixture
def grid():
    made = World(Grid())
    yield made
    made.sim.close()


@pytest.fixture
def new_grid():
    """Makes as many worlds as a test wants."""
    made = []

    def make():
        made.append(World(Grid()))
        return made[-1]

    yield make
    for world in made:
        world.sim.close()
