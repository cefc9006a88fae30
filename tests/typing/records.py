"""Arguments and think outputs have the fields that they declare, with their types, and no others."""

from __future__ import annotations

from typing import Any, assert_type

import agentrt as art
from agentrt.strategy import Dependency

Place = tuple[int, int]


class Paint(art.Action):
    does = "demo:paint"
    utility = 0.5

    class Args(art.ActionArgs):
        where: Place
        effect: str = "charcoal"

    class Output(art.ThinkOutput):
        subject: art.Entity

    async def think(self, ctx: art.Context, args: Args) -> None:
        assert_type(args.where, Place)
        assert_type(args.effect, str)
        assert_type(args["where"], Any)
        ctx.set_think_output(subject=ctx.entity)

    async def run(self, ctx: art.Context, args: Args) -> None:
        await ctx.execute("demo:draw", **args)
        args.wher  # wrong: attr-defined reportAttributeAccessIssue
        args.where.x  # wrong: attr-defined reportAttributeAccessIssue
        args.effect = "oil"  # wrong: misc reportAttributeAccessIssue


class PaintAgain(Paint):
    """The fields are those of the class above, too."""

    class Args(Paint.Args):
        times: int = 2

    async def run(self, ctx: art.Context, args: Any) -> None:
        mine: PaintAgain.Args = args
        assert_type(mine.where, Place)
        assert_type(mine.times, int)
        mine.time  # wrong: attr-defined reportAttributeAccessIssue


class Rest(art.Action):
    """An activity without arguments."""

    does = "demo:rest"
    utility = 0.1

    async def run(self, ctx: art.Context, args: art.ActionArgs) -> None:
        args.anything  # wrong: attr-defined reportAttributeAccessIssue


def records(guest: art.Entity) -> None:
    assert_type(Paint.Args(where=(1, 2)).where, Place)
    assert_type(Paint.Output(subject=guest).subject, art.Entity)
    Paint.Output(subject=guest).subjekt  # wrong: attr-defined reportAttributeAccessIssue
    Paint.Args(wher=(1, 2))  # wrong: call-arg reportCallIssue
    Paint.Args(where="there")  # wrong: arg-type reportArgumentType
    Paint.Args((1, 2))  # wrong: call-arg reportCallIssue
    Paint.Args()  # wrong: call-arg reportCallIssue
    PaintAgain.Args(where=(1, 2), effect="oil", times=3)


class Find(Dependency[Place]):
    what: str


def dependencies(wanted: Find) -> None:
    assert_type(Find("log").what, str)
    wanted.wat  # wrong: attr-defined reportAttributeAccessIssue
    wanted.what = "stone"  # wrong: misc reportAttributeAccessIssue
