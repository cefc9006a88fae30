"""The wolf: it comes over the edge of the world, hunts whom it sees out of doors, and goes when it had enough.

It thinks about nothing. It is a wolf.
"""

from __future__ import annotations

from typing import Final

from agentrt import MOVE, TOP, Action, ActionArgs, Agent, Context, Entity
from agentrt_actions import Located, Mover, PathFinder, walk_one
from agentrt_examples.colony.bodies import Legs, Position
from agentrt_examples.town.town import Town

__all__ = ["Prowl", "bring_wolf"]

_PACE: Final = 3
_STAYS: Final = 300  # ticks, if it catches nobody
_SEES: Final = 12
_FRIGHT: Final = -30


class Prowl(Action):
    """Hunt whom it sees out of doors, roam where it sees nobody, and leave."""

    does = TOP
    name = "prowl"
    utility = 0.5
    flags = frozenset({MOVE})

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Hunt, then leave."""
        town: Town = ctx.entity[Town]
        position, finder = ctx.entity[Position], town.wolf_finder
        until, goal = ctx.clock.tick + _STAYS, None
        while ctx.clock.tick < until:
            prey = self._prey(town, ctx.entity.name)
            if prey and town.distance(ctx.entity.name, prey) <= 1:
                self._bite(town, prey)
                break
            if prey:
                goal = town.at(prey)
            elif goal is None or goal == position.location:
                goal = (ctx.random.between(14, 25), ctx.random.between(8, 15))  # it has heard voices at the square
            path = finder.find(position.location, goal, reach=1)
            if path is None or not path.places:
                goal = None
                await ctx.next_tick()
            else:
                await walk_one(ctx, path.places[0])
        await self._leave(ctx, town)

    async def _leave(self, ctx: Context[Entity], town: Town) -> None:
        position, finder = ctx.entity[Position], town.wolf_finder
        edge = finder.nearest_edge(position.location)
        path = None if edge is None else finder.find(position.location, edge)
        for place in () if path is None else path.places:
            await walk_one(ctx, place)
        town.note("wolves left", ctx.entity.name, "is gone")
        ctx.entity.destroy()
        await ctx.next_tick()

    def _prey(self, town: Town, wolf: str) -> str:
        seen = [
            (town.distance(wolf, name), person.number, name)
            for name, person in town.people.items()
            if not town.is_indoors(name) and town.distance(wolf, name) <= _SEES
        ]
        return min(seen)[2] if seen else ""

    def _bite(self, town: Town, prey: str) -> None:
        person = town.people[prey]
        person.bites += 1
        person.feel(_FRIGHT)
        town.note("bites", prey, "was bitten by the wolf")


def bring_wolf(town: Town) -> Agent:
    """A wolf comes over the edge of the world."""
    number = town.counts.get("wolves came", 0) + 1
    body = Entity("wolf", name=f"wolf {number}")
    position = Position(town.random.choice(list(town.wolf_ground.edge())))
    body.add(position, Located)
    body.add(Legs(position, town.wolf_ground, _PACE), Mover)
    body.add(town.wolf_finder, PathFinder)
    body.add(town)
    agent = Agent(body, actions=[Prowl])
    town.bodies[body.name] = body
    town.wolves[body.name] = agent
    body.destroyed.connect(lambda _gone: _gone_from(town, agent))
    town.runtime.add(agent)
    town.note("wolves came", body.name, "came out of the woods")
    return agent


def _gone_from(town: Town, agent: Agent) -> None:
    town.wolves.pop(agent.name, None)
    town.bodies.pop(agent.name, None)
    town.runtime.remove(agent)
