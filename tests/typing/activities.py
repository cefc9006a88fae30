"""An activity that is declared once is known wherever it is asked for; one that is a name goes on working."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, assert_type

import agentrt as art
from agentrt.behavior import Activation
from agentrt.goals import Goal
from agentrt.selection import LeafBehavior, SelectionState
from agentrt.strategy import Dependency, Strategy, StrategyContext

Place = tuple[int, int]


class PaintArgs(art.ActionArgs):
    where: Place
    effect: str = "charcoal"


class Picture(art.ThinkOutput):
    subject: art.Entity


PAINT = art.Activity("demo:paint", PaintArgs, Picture)
GO = art.Activity("demo:go", PaintArgs)
REST = art.Activity("demo:rest")
LOOK = art.Activity("demo:look", output=Picture)


# --- who performs it --------------------------------------------------------------------------------------------------


class Paint(art.Action):
    does = PAINT
    utility = 0.5

    async def think(self, ctx: art.Context[art.Entity], args: PaintArgs) -> None:
        ctx.set_think_output(subject=ctx.entity)

    async def run(self, ctx: art.Context, args: PaintArgs) -> None:
        picture = await ctx.execute(PAINT, where=(1, 2))
        assert_type(picture, Picture)
        assert_type(picture.subject, art.Entity)
        assert_type(await ctx.execute(PAINT, where=(1, 2), effect="oil"), Picture)
        assert_type(await ctx.execute(GO, where=(1, 2)), PaintArgs)
        assert_type(await ctx.execute(REST), art.ActionArgs)
        assert_type(await ctx.execute(LOOK), Picture)
        assert_type(await ctx.execute("demo:paint", where=(1, 2)), Any)
        assert_type(await ctx.execute("demo:paint", {"where": (1, 2)}), Any)
        await ctx.execute(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue
        await ctx.execute(PAINT, where="there")  # wrong: call-overload reportArgumentType,reportCallIssue
        await ctx.execute(PAINT)  # wrong: call-overload reportCallIssue
        await ctx.execute(PAINT, {"where": (1, 2)})  # wrong: call-overload reportCallIssue
        await ctx.execute(REST, where=(1, 2))  # wrong: call-overload reportCallIssue
        picture.subjekt  # wrong: attr-defined reportAttributeAccessIssue
        (await ctx.execute(GO, where=(1, 2))).wher  # wrong: attr-defined reportAttributeAccessIssue

    def start(self, ctx: art.Context, args: PaintArgs) -> None:
        ctx.spawn(PAINT, where=(1, 2)).start_thinking()
        ctx.spawn("demo:paint", where=(1, 2)).start_thinking()
        ctx.spawn(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue


# --- who asks for it --------------------------------------------------------------------------------------------------


class PaintAndRest(art.CompoundAction):
    does = "demo:free_time"
    utility = 0.5
    steps = [
        art.step(PAINT, where=(1, 2)),
        art.step(PAINT, where=art.CALL(tuple, [1, 2]), effect=art.CURRENT.effect),
        art.step(PAINT, {"where": (1, 2)}, name="again", think_timeout=5),
        art.step(GO, where=art.OUT["again"].subject.location),
        art.step("demo:paint", where=art.PREV.where, name="once_more"),
        art.step(REST),
    ]


def steps() -> None:
    """These are refused when they are made, too."""
    art.step(PAINT, wher=art.PREV.where)  # wrong: call-overload reportCallIssue
    art.step(PAINT, where="there")  # wrong: call-overload reportArgumentType,reportCallIssue
    art.step(PAINT)  # wrong: call-overload reportCallIssue
    art.step(REST, where=(1, 2))  # wrong: call-overload reportCallIssue
    art.step(5)  # wrong: call-overload reportArgumentType,reportCallIssue


async def perform(agent: art.Agent) -> None:
    assert_type(agent.perform(PAINT, where=(1, 2)), Awaitable[Picture])
    assert_type(agent.perform("demo:paint", where=(1, 2)), Awaitable[Any])
    assert_type((await agent.perform(PAINT, where=(1, 2))).subject, art.Entity)
    agent.perform(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue


class PaintGoal(Goal):
    def can_use(self) -> bool:
        return True

    async def run(self) -> None:
        assert_type(await self.perform(PAINT, where=(1, 2)), Picture)
        assert_type(await self.perform("demo:paint", where=(1, 2)), Any)
        await self.perform(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue


async def behave(at: Activation) -> None:
    assert_type(await at.perform(PAINT, where=(1, 2)), Picture)
    assert_type(await at.perform("demo:paint", where=(1, 2)), Any)
    await at.perform(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue


class PaintLeaf(LeafBehavior):
    async def run(self, ai: SelectionState) -> None:
        assert_type(await ai.perform(PAINT, where=(1, 2)), Picture)
        assert_type(await ai.perform("demo:paint", where=(1, 2)), Any)
        await ai.perform(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue


class Find(Dependency[Place]):
    what: str


class Search(Strategy):
    provides = Find
    cost = 1.0

    async def run(self, ctx: StrategyContext, wanted: Find) -> Place:
        assert_type(await ctx.execute(PAINT, where=(1, 2)), Picture)
        await ctx.execute(PAINT, wher=(1, 2))  # wrong: call-overload reportCallIssue
        return (0, 0)


# --- what is declared -------------------------------------------------------------------------------------------------


def declarations() -> None:
    art.Activity("demo:paint", PaintArgs, PaintArgs)  # wrong: type-var reportArgumentType
    art.Activity("demo:paint", Picture)  # wrong: type-var reportArgumentType
    art.Activity(5)  # wrong: call-overload reportArgumentType


# --- the arguments of a compound --------------------------------------------------------------------------------------


class PaintTwice(art.CompoundAction):
    does = GO
    utility = 0.5
    steps = [
        art.step(PAINT, where=art.ARGS[PaintArgs].where, effect=art.ARGS[PaintArgs].effect),
        art.step(PAINT, where=art.ARGS.where),
        art.step("demo:paint", where=art.ARGS[PaintArgs].where),
        art.step("demo:paint", where=art.ARGS["where"]),
    ]


def arguments() -> None:
    assert_type(art.ARGS[PaintArgs].where, Place)
    assert_type(art.ARGS.where, Any)
    art.ARGS[PaintArgs].nope  # wrong: attr-defined reportAttributeAccessIssue
    art.step(PAINT, where=art.ARGS[PaintArgs].effect)  # wrong: call-overload reportArgumentType,reportCallIssue
