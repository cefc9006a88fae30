"""What is near: where an entity will stand, how near something is from there, and the search for the nearest thing.

Where a search begins is not where the entity stands but where it *will* stand: ``CURRENT.location``, which the steps
before have set. Only while no step has moved it does the entity's own walking count as a change.

``Nearby`` is the search behind ``agentrt:find_entity`` and its like. In a busy world nearly all that is heard of
changes nothing about what is nearest, so it looks again only when it has to.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

from agentrt import Context, Entity, Signal
from agentrt.body import LeaseBook
from agentrt_actions.protocols import Change, Directory, Located, PathFinder, Place, Surveyor
from agentrt_actions.watching import Only, keep_looking

__all__ = ["FAR", "Nearby", "expected_location", "nearness", "own_moves", "self_reserved"]

FAR = 400
"""The cost of a path from which on nearness is 0: forty steps over open ground."""


def expected_location(ctx: Context[Entity]) -> Place:
    """Where the entity will stand when the action that thinks is run.

    Args:
        ctx: the context of an action that thinks.
    """
    # Asked of the entity itself as long as no step has changed it: CURRENT would search all its components for it.
    place: Place = ctx.CURRENT.location if ctx.CURRENT.location_changed else ctx.entity[Located].location
    return place


def nearness(cost: int) -> float:
    """How near a place is.

    Args:
        cost: the cost of the path there.

    Returns:
        From 0.0, far away, to 1.0, here.
    """
    return max(0.0, 1.0 - cost / FAR)


def own_moves(ctx: Context[Entity]) -> list[Signal]:
    """The signal of the entity's own walking, unless an earlier step of the plan decides where it will stand.

    Args:
        ctx: the context of an action that thinks.
    """
    return [] if ctx.CURRENT.location_changed else [ctx.entity[Located].moved]


def self_reserved(ctx: Context[Entity]) -> tuple[Any, ...]:
    """What earlier steps of the same plan will have reserved: another search of the plan must not find it again.

    Args:
        ctx: the context of an action that thinks.
    """
    table = ctx.CURRENT.self_reserved
    return tuple(table.values()) if table else ()


class Nearby:
    """The search for the nearest thing under a tag, as long as one action thinks.

    A look is dear, and most of what happens in a world changes nothing about what is nearest here. So what somebody
    else holds is remembered when it is passed over, and only when such a thing is given back, or what is offered is
    taken away, is the lease book worth another look. What comes farther away than what is offered is left alone. While
    nothing is offered, walking does not make anything appear; and while something is, the entity's own walking is worth
    a look after each quarter of the way there, so that what is offered is the nearest but for such a part.
    """

    __slots__ = (
        "_cost",
        "_ctx",
        "_here",
        "_leases",
        "_passed",
        "_refused",
        "_surveyor",
        "_taken",
        "offered",
        "reach",
        "reserved",
        "tag",
        "within",
    )

    def __init__(
        self, ctx: Context[Entity], tag: str, *, reach: int = 0, within: int = 0, reserved: bool = False
    ) -> None:
        self.tag = tag
        self.reach = reach
        self.within = within
        self.reserved = reserved
        self.offered: Entity | None = None
        self._cost = 0
        self._here: Place = None  # where it looked from
        self._ctx = ctx
        self._leases: LeaseBook = ctx.entity[LeaseBook]
        self._surveyor: Surveyor | None = ctx.entity.get(Surveyor)
        self._taken = self_reserved(ctx)
        self._passed: dict[Entity, None] = {}  # whom somebody else held at the last look
        self._refused: dict[Entity, None] = {}  # whom a later step rejected, until they change

    def signals(self) -> list[Signal | Only]:
        """When to look again."""
        directory: Directory = self._ctx.entity[Directory]
        return [
            Only(directory.changed(self.tag), self._change_concerns),
            Only(self._leases.changed, self._lease_concerns),
            *(Only(moved, self._move_concerns) for moved in own_moves(self._ctx)),
        ]

    def _change_concerns(self, change: Any) -> bool:
        if not isinstance(change, Change):
            self._refused.clear()
            return True
        self._refused.pop(change.entity, None)
        if change.entity is self.offered:
            return True
        if not change.is_there:
            return False
        located = change.entity.get(Located)
        if self.offered is None or located is None:
            return True
        finder: PathFinder = self._ctx.entity[PathFinder]
        return finder.distance(expected_location(self._ctx), located.location) - self.reach <= self._cost

    def _lease_concerns(self, thing: Any) -> bool:
        if self.reserved:
            return False
        if thing is self.offered:
            return self._leases.holder(thing) not in (None, self._ctx.agent)
        if not isinstance(thing, Entity) or (thing not in self._passed and thing not in self._refused):
            return False  # as nearly always: the book tells everybody of everything
        if self._leases.holder(thing) is not None:
            return False
        self._refused.pop(thing, None)
        return True

    def _move_concerns(self, place: Place) -> bool:
        if self.offered is None or self.within:
            return self.within > 0
        # Whether something else is nearer by a step or two is not worth a look at each step of a long walk.
        finder: PathFinder = self._ctx.entity[PathFinder]
        there = self.offered[Located].location
        return finder.distance(place, self._here) * 4 >= finder.distance(self._here, there)

    def accepts(self, entity: Entity) -> bool:
        """Whether an entity may be found at all."""
        ctx = self._ctx
        if entity is ctx.entity or entity.is_destroyed or entity in self._refused:
            return False
        if self._taken and any(entity is other for other in self._taken):
            return False
        if self.reserved or self._leases.holder(entity) in (None, ctx.agent):
            return True
        self._passed[entity] = None
        return False

    def look(self, accepts: Callable[[Entity], bool]) -> tuple[Entity, int] | None:
        """The nearest of those that are accepted, with the cost of the path to it."""
        ctx = self._ctx
        self._passed.clear()
        self._here = start = expected_location(ctx)
        if self._surveyor is not None:
            found = self._surveyor.nearest(self.tag, start, reach=self.reach, within=self.within, accepts=accepts)
        else:
            directory: Directory = ctx.entity[Directory]
            accepted = [entity for entity in directory.find(self.tag) if accepts(entity)]
            found = _cheapest(ctx, start, accepted, self.reach, self.within)
        if found is not None:
            self._cost = found[1]
        return found

    def watch(
        self, fields: Callable[[Entity, int], Mapping[str, Any]], accepts: Callable[[Entity], bool]
    ) -> Coroutine[Any, Any, None]:
        """Offer the nearest, and the next nearest when a later step rejects it, for as long as the action thinks.

        Args:
            fields: makes the think output of a thing and the cost of the path to it.
            accepts: whether a thing counts; asks ``self.accepts``, besides what it asks itself.
        """

        def look() -> None:
            found = self.look(accepts)
            if found is None:
                if self.offered is not None:
                    self.offered = None
                    self._ctx.clear_think_output()
                return
            self._ctx.set_utility(nearness(found[1]))
            # That the way to the same thing became longer or shorter is no reason for the whole plan to think again.
            if found[0] is not self.offered:
                self._ctx.candidates(self._choices(found, fields, accepts))

        return keep_looking(self._ctx, self.signals(), look)

    def _choices(
        self,
        found: tuple[Entity, int] | None,
        fields: Callable[[Entity, int], Mapping[str, Any]],
        accepts: Callable[[Entity], bool],
    ) -> Iterator[Mapping[str, Any]]:
        """To be asked for the next one means that the last one was rejected."""
        while found is not None:
            self.offered = found[0]
            yield fields(*found)
            self._refused[found[0]] = None
            found = self.look(accepts)
            if found is not None:
                self._ctx.set_utility(nearness(found[1]))


def _cheapest(
    ctx: Context[Entity], start: Place, entities: Sequence[Entity], reach: int, within: int
) -> tuple[Entity, int] | None:
    if not entities:
        return None
    places = [entity[Located].location for entity in entities]
    best: tuple[Entity, int] | None = None
    costs = ctx.entity[PathFinder].costs(start, places, reach=reach)
    for entity, cost in zip(entities, costs, strict=True):
        if cost is not None and (not within or cost <= within) and (best is None or cost < best[1]):
            best = (entity, cost)
    return best
