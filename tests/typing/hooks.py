"""Hooks know the entity of their agent, and their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

import agentrt as art
from agentrt.goals import Goal, GoalSelector
from agentrt.strategy import Dependency, Strategy, StrategyContext
from agentrt.testing import Simulation

Place = tuple[int, int]


@dataclass
class Body:
    """A component."""

    location: Place = (0, 0)


class Guest(art.Entity):
    """Somebody."""

    health: float = 1.0


class Wolf(art.Entity):
    """Somebody else."""

    teeth: int = 42


# --- the entity of a context ------------------------------------------------------------------------------------------


class Wait(art.Action[Guest]):
    does = art.TOP
    utility = 0.1

    async def think(self, ctx: art.Context[Guest], args: art.ActionArgs) -> None:
        assert_type(ctx.entity, Guest)
        assert_type(ctx.entity.health, float)
        assert_type(ctx.entity[Body], Body)
        assert_type(ctx.entity[Body].location, Place)
        assert_type(ctx.entity.get(Body), Body | None)
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Guest], args: art.ActionArgs) -> None:
        ctx.entity.helth  # wrong: attr-defined reportAttributeAccessIssue
        ctx.entity[Body].locaton  # wrong: attr-defined reportAttributeAccessIssue
        ctx.entity.get(Body).location  # wrong: union-attr reportOptionalMemberAccess
        ctx.entity.health = "none"  # wrong: assignment reportAttributeAccessIssue
        ctx.slep(1)  # wrong: attr-defined reportAttributeAccessIssue


class WaitHowever(art.Action):
    """An action that says nothing of its entity is for any, and nothing of it is known."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context, args: Any) -> None:
        assert_type(ctx.entity, Any)
        ctx.entity.whatever.you.like()


class WaitAsGuest(art.Action):
    """The hooks alone may say it."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Guest], args: Any) -> None:
        assert_type(ctx.entity, Guest)


class Bite(art.Action[Wolf]):
    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Guest], args: Any) -> None:  # wrong: override reportIncompatibleMethodOverride
        """Of another kind of entity than the class says."""


class WaitTwice(art.CompoundAction[Guest]):
    does = "demo:wait_twice"
    utility = 0.1
    steps = [art.step(art.TOP), art.step(art.TOP)]

    def start(self, ctx: art.Context[Guest], args: Any) -> None:
        assert_type(ctx.entity, Guest)

    def compose_utility(
        self, entity: Guest, self_utility: float, child_utilities: Any, current_activity: str | None
    ) -> float:
        return entity.health


# --- agents -----------------------------------------------------------------------------------------------------------


def agents(sim: Simulation, runtime: art.Runtime, guest: Guest, wolf: Wolf) -> None:
    agent = art.Agent(guest, name="Ann", actions=[Wait, WaitHowever, WaitAsGuest, WaitTwice])
    assert_type(agent, art.Agent[Guest])
    assert_type(agent.entity.health, float)
    assert_type(sim.add(agent), art.Agent[Guest])
    assert_type(runtime.add(agent).entity, Guest)
    agent.entity.teeth  # wrong: attr-defined reportAttributeAccessIssue
    art.Agent(wolf, actions=[Bite, WaitHowever])
    art.Agent(wolf, actins=[Bite])  # wrong: call-arg reportCallIssue


def any_agent(agent: art.Agent) -> art.Agent:
    """An agent of whatever entity."""
    assert_type(agent.entity, Any)
    several: list[art.Agent] = [agent, art.Agent(Guest("guest")), art.Agent(Wolf("wolf"))]
    of_entities: list[art.Agent[art.Entity]] = [art.Agent(Guest("guest")), art.Agent(Wolf("wolf"))]
    assert_type(of_entities[0].entity[Body], Body)
    return several[0]


# --- goals and strategies ---------------------------------------------------------------------------------------------


class Howl(Goal[Wolf]):
    def can_use(self) -> bool:
        self.entity.health  # wrong: attr-defined reportAttributeAccessIssue
        return self.entity.teeth > 0


class HowlHowever(Goal):
    def can_use(self) -> bool:
        return bool(self.entity.whatever)


def goals(selector: GoalSelector) -> None:
    selector.add_goal(1, Howl())
    selector.add_goal(2, HowlHowever())


class Find(Dependency[Place]):
    what: str


class Search(Strategy):
    provides = Find
    cost = 1.0

    async def run(self, ctx: StrategyContext[Wolf], wanted: Find) -> Place:
        assert_type(ctx.entity, Wolf)
        ctx.entity.tooth  # wrong: attr-defined reportAttributeAccessIssue
        return (0, len(wanted.what))


class SearchHowever(Strategy):
    provides = Find
    cost = 1.0

    async def run(self, ctx: StrategyContext, wanted: Find) -> Place:
        assert_type(ctx.entity, Any)
        return (0, 0)
