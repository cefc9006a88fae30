"""A compound action: a list of steps, each an activity, planned to the end before the first one runs.

It thinks first, then its steps in order. What one of them finds is its think output, and placeholders hand it to later
ones: ``PREV`` is the one before, ``BACK(2)`` two before (here the compound itself), ``OUT["name"]`` a step by its name.
What a step is expected to change goes into ``CURRENT``: the way back is planned before the walk has begun, from the
place where it will have ended.
"""

from __future__ import annotations

import agentrt as art

STREET = ["office", "well", "mill", "church"]


class FindWay(art.Action):
    """Reads in CURRENT where the walk will begin, and writes where it will end."""

    does = "post:find_way"
    utility = 1.0

    class Args(art.ActionArgs):
        to: str

    class Output(art.ThinkOutput):
        way: list[str]

    async def think(self, ctx: art.Context, args: Args) -> None:
        here, there = STREET.index(ctx.CURRENT.location or "office"), STREET.index(args.to)
        ctx.CURRENT.location = args.to
        ctx.set_think_output(way=STREET[here + 1 : there + 1] or STREET[there:here][::-1])


class Walk(art.Action):
    """Has no think: it is ready at once, and its think output is its arguments."""

    does = "post:walk"
    utility = 1.0

    class Args(art.ActionArgs):
        way: list[str]
        words: str

    async def run(self, ctx: art.Context, args: Args) -> None:
        for place in args.way:
            await ctx.sleep(0.25)
            print(f"tick {ctx.clock.tick:2}  {ctx.entity.name} is at the {place} {args.words}")


class Deliver(art.CompoundAction):
    """There and back."""

    does = art.TOP
    utility = 0.5
    steps = [
        art.step("post:find_way", to=art.PREV.place),
        art.step("post:walk", way=art.PREV.way, words=art.CALL("with a letter for {}".format, art.BACK(2).name)),
        art.step("post:find_way", to="office", name="back"),
        art.step("post:walk", way=art.OUT["back"].way, words="with an empty bag"),
    ]

    class Output(art.ThinkOutput):
        name: str
        place: str

    async def think(self, ctx: art.Context, args: art.ActionArgs) -> None:
        await ctx.sleep(0.5)  # sorts the mail
        ctx.set_think_output(name="Mr. Grain", place="mill")


if __name__ == "__main__":
    runtime = art.Runtime()
    ida = runtime.add(art.Agent(art.Entity("courier", name="Ida"), actions=[FindWay, Walk, Deliver]))
    runtime.step(1.0)  # game seconds, of 20 ticks each
    print(ida.explain())
    runtime.step(0.6)
    runtime.close()
