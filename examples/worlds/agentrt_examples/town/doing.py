"""What the people of the town do by rules: nothing here asks a model, or waits for one.

Utilities at ``agentrt:top``, from the most urgent down; those with a star think by a model, see ``thinking``:

==============  ========  =============================================================================
action          utility   when
==============  ========  =============================================================================
escape          0.95      a wolf is near
sleep           0.85      at night, or dead tired
go to a party   0.80      it is time for one that one gives, or wants to see
listen *        0.78      somebody speaks to one
party talk *    0.77      at a party, about with whom to talk
celebrate       0.75      one is at a party
plan a party *  0.68      one made up one's mind to give one
eat             0.66      hungry
work            0.60      in working hours
free time *     0.50      otherwise, by day
ponder *        0.30      much happened since the last time
stroll          0.10      always
==============  ========  =============================================================================

So whatever a thought takes, and whether it comes at all, there is something to do meanwhile. Whoever talks is not drawn
away by what can wait; a wolf cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentrt import MOVE, TOP, Action, ActionArgs, Context, Entity
from agentrt_actions import ready_while, walk_one, walk_path
from agentrt_examples.colony.bodies import Fear, Legs, Position
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.town.chart import PLACES
from agentrt_examples.town.hours import HOUR, hour_of, is_night
from agentrt_examples.town.people import Person
from agentrt_examples.town.town import Town

__all__ = [
    "RULES", "RUN", "WALK", "Celebrate", "Eat", "Escape", "GoToParty", "Sleep", "Stroll", "Work", "goto",
    "is_free_time", "person_of", "town_of",
]  # fmt: skip

WALK, RUN = 4, 3
"""Ticks of a step over grass, walking and running."""

_HUNGRY, _STARVING = 0.6, 0.92
_TIRED, _DEAD_TIRED, _RESTED = 0.2, 0.97, 0.1
_HOUSES: Final = tuple(cells[0] for name, cells in PLACES.items() if name not in ("square", "well", "farm"))
_HAUNTS: Final = ("square", "well", "inn")
_WORKS: Final = HOUR // 3
_EATS: Final = HOUR // 4
_EARLY: Final = HOUR // 2  # how much before a party one sets out


def town_of(ctx: Context[Entity]) -> Town:
    """The town of who acts."""
    town: Town = ctx.entity[Town]
    return town


def person_of(ctx: Context[Entity]) -> Person:
    """What is peculiar to who acts."""
    person: Person = ctx.entity[Person]
    return person


def is_free_time(person: Person, tick: int) -> bool:
    """Whether it is day, and somebody does not have to work."""
    return not is_night(tick) and not person.job.goes_on(hour_of(tick))


async def goto(ctx: Context[Entity], place: Cell) -> None:
    """Walk to a cell."""
    path = town_of(ctx).finder.find(ctx.entity[Position].location, place)
    if path is None:
        ctx.abort(f"no path leads to {place}")
    await walk_path(ctx, path)


def _talks(ctx: Context[Entity]) -> bool:
    return not town_of(ctx).talks.is_free(ctx.agent)


async def _ready(ctx: Context[Entity], holds: Callable[[Person, int], bool], can_wait: bool = True) -> None:
    """Be ready while something holds; what can wait is not ready while one talks."""
    town, person = town_of(ctx), person_of(ctx)

    def look() -> bool:
        return holds(person, ctx.clock.tick) and not (can_wait and _talks(ctx))

    await ready_while(ctx, [person.changed, town.talks.changed], look)


class Escape(Action):
    """Run from a wolf: into the nearest house that one reaches before it, or just away."""

    does = TOP
    name = "escape"
    utility = 0.95
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready while one sees a wolf."""
        fear: Fear = ctx.entity[Fear]
        await ready_while(ctx, [fear.changed], lambda: bool(fear.nearby))

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Take to one's heels."""
        person_of(ctx).doing = "runs from the wolf"
        ctx.entity[Legs].pace = RUN
        town_of(ctx).note("escapes", ctx.entity.name, "runs from the wolf")

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Run, and hide until it is gone."""
        town, fear = town_of(ctx), ctx.entity[Fear]
        while fear.nearby:
            place = self._safest(ctx, fear.nearby[0][Position].location)
            if town.is_indoors(ctx.entity.name) or place is None:
                person_of(ctx).doing = "hides from the wolf"
                await ctx.next_tick()
            else:
                await walk_one(ctx, place)

    def stop(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Walk again."""
        ctx.entity[Legs].pace = WALK

    def _safest(self, ctx: Context[Entity], wolf: Cell) -> Cell | None:
        finder, here = town_of(ctx).finder, ctx.entity[Position].location
        ways = finder.costs(here, _HOUSES)
        known = [
            (cost, place)
            for cost, place in zip(ways, _HOUSES, strict=True)
            if cost is not None and finder.distance(here, place) < finder.distance(wolf, place)
        ]
        if known:
            path = finder.find(here, min(known)[1])
            if path is not None and path.places:
                return path.places[0]  # type: ignore[no-any-return]
        around: list[Cell] = list(finder.neighbors(here))
        return max(around, key=lambda cell: (finder.distance(cell, wolf), cell), default=None)


class Sleep(Action):
    """Go to bed, and sleep until morning."""

    does = TOP
    name = "sleep"
    utility = 0.85
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready at night, and when one can hardly stand."""
        await _ready(ctx, lambda one, tick: one.rest > (_TIRED if is_night(tick) else _DEAD_TIRED))

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Call it a day."""
        person_of(ctx).doing = "goes to bed"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Sleep."""
        person = person_of(ctx)
        await goto(ctx, person.bed)
        person.is_asleep, person.doing = True, "sleeps"
        while person.rest > _RESTED or is_night(ctx.clock.tick):
            await person.changed.wait()
        town_of(ctx).note("nights slept", person.name, "slept well")

    def stop(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Wake up."""
        person_of(ctx).is_asleep = False


class Eat(Action):
    """Eat a loaf of bread at home or at the inn; berries, when there is no bread."""

    does = TOP
    name = "eat"
    utility = 0.66
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready when hungry."""
        person = person_of(ctx)
        await _ready(ctx, lambda one, _: one.hunger > _HUNGRY, can_wait=person.hunger < _STARVING)

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Smell it."""
        person_of(ctx).doing = "is hungry"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Eat."""
        town, person = town_of(ctx), person_of(ctx)
        tables = [person.bed, town.spot("inn", person.number)]
        costs = town.finder.costs(ctx.entity[Position].location, tables)
        await goto(ctx, min(zip(costs, tables, strict=True), key=lambda one: one[0] or 0)[1])
        person.doing = "eats"
        await ctx.sleep_ticks(_EATS)
        if town.take("bread"):
            person.need(hunger=-700)
            town.note("loaves eaten", person.name, "ate bread")
        else:
            person.need(hunger=-350)
            person.feel(-5)
            town.note("berries eaten", person.name, "ate berries, for want of bread")
        person.meals += 1


class Work(Action):
    """Go to work, and work for a while."""

    does = TOP
    name = "work"
    utility = 0.6
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready in working hours."""
        await _ready(ctx, lambda one, tick: one.job.goes_on(hour_of(tick)))

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Roll up one's sleeves."""
        person = person_of(ctx)
        person.doing = f"works as a {person.who.job}"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Work."""
        town, person = town_of(ctx), person_of(ctx)
        spots = PLACES[person.job.place]
        await goto(ctx, spots[ctx.random.below(len(spots))])
        if person.who.job == "carrier":  # the water is wanted somewhere
            await ctx.sleep_ticks(_EATS // 2)
            await goto(ctx, ctx.random.choice(_HOUSES))
        await ctx.sleep_ticks(_WORKS)
        town.make(person)


class GoToParty(Action):
    """Go to a party that one gives or wants to see, past whoever wants to talk."""

    does = TOP
    name = "go to the party"
    utility = 0.8
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready when it is time, and one is not there."""

        def is_time(person: Person, tick: int) -> bool:
            party = person.party
            is_away = party is not None and person.name not in party.came
            return is_away and party is not None and party.tick - _EARLY <= tick < party.end

        await _ready(ctx, is_time)

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Put on the good clothes."""
        person_of(ctx).doing = "goes to the party"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Walk, and wait until it begins."""
        town, person = town_of(ctx), person_of(ctx)
        party = person.party
        if party is None:
            return
        await goto(ctx, town.spot(party.place, person.number))
        while ctx.clock.tick < party.tick:
            await person.changed.wait()
        town.arrive(person)


class Celebrate(Action):
    """Dance at a party, until it is over."""

    does = TOP
    name = "celebrate"
    utility = 0.75
    sunk_cost_boost = 0.0  # else nobody who dances would stop to talk
    flags = frozenset({MOVE})

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready while one is there."""

        def is_there(person: Person, tick: int) -> bool:
            party = person.party
            return party is not None and person.name in party.came and tick < party.end

        await _ready(ctx, is_there)

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Take the floor."""
        person_of(ctx).doing = "celebrates"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Dance."""
        person = person_of(ctx)
        party = person.party
        if party is None:
            return
        spots = PLACES[party.place]
        while ctx.clock.tick < party.end:
            await goto(ctx, spots[ctx.random.below(len(spots))])
            await ctx.sleep_ticks(ctx.random.between(10, 30))
            person.need(company=-30)


class Stroll(Action):
    """Go somewhere, and look around. Always possible, so that nobody is ever without something to do."""

    does = TOP
    name = "stroll"
    utility = 0.1
    flags = frozenset({MOVE})

    def start(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Take one's hat."""
        person_of(ctx).doing = "strolls"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Walk a little, and stand a little."""
        person = person_of(ctx)
        spots: tuple[Cell, ...] = PLACES[ctx.random.choice((*_HAUNTS, person.job.place))]
        if is_night(ctx.clock.tick):
            spots = (person.bed,)  # who cannot sleep stays at home
        await goto(ctx, spots[ctx.random.below(len(spots))])
        await ctx.sleep_ticks(ctx.random.between(10, 40))


RULES: Final[tuple[type[Action], ...]] = (Escape, Sleep, GoToParty, Celebrate, Eat, Work, Stroll)
"""All of them."""
