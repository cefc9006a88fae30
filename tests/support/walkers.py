"""Actions of people who stroll about: for tests of minds."""

from __future__ import annotations

from agentrt import TOP, Action, ActionArgs
from agentrt.minds import Consider, Option


def note(ctx, what):
    for component in ctx.entity.components():
        if hasattr(component, "note") and hasattr(component, "place"):
            component.note(what)


class Walk(Action):
    """Take a walk."""

    does = "t:walk"
    utility = 0.5

    class Args(ActionArgs):
        where: str

    async def run(self, ctx, args):
        note(ctx, f"walks to the {args.where}")
        await ctx.sleep(1)


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        note(ctx, "idles")
        await ctx.sleep(0.5)


class Flee(Action):
    """Better than all else, once there is a wolf."""

    does = TOP
    utility = 0.9
    seconds = 1

    async def think(self, ctx, args):
        await ctx.signals["wolf"].wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        note(ctx, "flees")
        await ctx.sleep(self.seconds)


class Ponder(Consider):
    """Where to go."""

    does = TOP
    utility = 0.6
    prompt = "You are {name}, at {where}."
    probes = False

    def sees(self, ctx, args):
        return {"name": ctx.entity.name, "where": "home"}

    def options(self, ctx, args):
        return [Option("t:walk", where=["pond", "mill"])]
