"""Several actions of one activity: the best that is ready runs, and a better one interrupts it.

All actions of an activity think at once. ``Graze`` has no ``think``, so it is ready at once. ``Drink`` is as good as
the sheep is thirsty. ``Flee`` waits until the dog barks.

An action that has run for half a second defends itself with 0.05 (its sunk cost), and a tie never preempts: a thirst of
0.55 does not interrupt grazing, which is worth 0.5 + 0.05 by then; 0.6 does.
"""

from __future__ import annotations

import agentrt as art


class Telling(art.Action):
    """No action yet, since it does not say what it ``does``: it tells when its subclasses start and stop."""

    seconds = 5.0

    def start(self, ctx: art.Context, args: art.ActionArgs) -> None:
        print(f"tick {ctx.clock.tick:3}  start: {self.name}")

    async def run(self, ctx: art.Context, args: art.ActionArgs) -> None:
        await ctx.sleep(self.seconds)

    def stop(self, ctx: art.Context, args: art.ActionArgs) -> None:
        print(f"tick {ctx.clock.tick:3}  stop: {self.name}")


class Graze(Telling):
    """Always possible."""

    does = art.TOP
    utility = 0.5


class Drink(Telling):
    """The thirstier, the better. It goes on watching while grazing runs, since it could become better."""

    does = art.TOP
    utility = (0.0, 1.0)
    seconds = 1.0

    async def think(self, ctx: art.Context, args: art.ActionArgs) -> None:
        while True:
            ctx.set_utility(await thirst.wait())
            ctx.set_think_output()


class Flee(Telling):
    """Better than anything, once there is a reason."""

    does = art.TOP
    utility = 0.95
    seconds = 0.5

    async def think(self, ctx: art.Context, args: art.ActionArgs) -> None:
        await bark.wait()
        ctx.set_think_output()


thirst, bark = art.Signal(), art.Signal()
WORLD = {21: (thirst, 0.55), 31: (thirst, 0.6), 40: (bark, None)}

if __name__ == "__main__":
    runtime = art.Runtime()
    sheep = runtime.add(art.Agent(art.Entity("sheep"), actions=[Graze, Drink, Flee]))
    for tick in range(1, 61):
        if tick in WORLD:
            signal, value = WORLD[tick]
            runtime.post(signal.emit, value)
        runtime.step()
        if tick in (21, 31):
            print(sheep.explain())
    runtime.close()
