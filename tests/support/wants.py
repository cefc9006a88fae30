"""What the strategies of the tests are asked for, and whoever has them: a bearer with a bag, who can be somewhere."""

from __future__ import annotations

from agentrt import Entity
from agentrt.strategy import Dependency


class Bearer(Entity):
    """An entity with a bag and a place.

    Attributes:
        bag: how many it has of each item.
        place: where it is.
    """

    def __init__(self, name="bearer"):
        super().__init__(name)
        self.bag = {}
        self.place = "home"

    def put(self, item, count=1):
        self.bag[item] = self.bag.get(item, 0) + count


class Have(Dependency[int], activity="want:have"):
    """So many of an item are in the bag."""

    item: str
    count: int = 1

    def is_met(self, ask):
        return ask.entity.bag.get(self.item, 0) >= self.count

    def met_value(self, ask):
        return ask.entity.bag[self.item]

    def guard_key(self):
        return self.item


class Reach(Dependency[str], activity="want:reach"):
    """The bearer is at a place; nobody can tell."""

    place: str


class Know(Dependency[str], activity="want:know"):
    """Something is known; a question that is answered anew each time."""

    what: str


class Build(Dependency[str], activity="want:build"):
    """A thing is built; for whoever needs one more class of dependencies."""

    what: str = "house"
