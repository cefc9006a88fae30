"""One action: an agent that performs it again and again, driven tick by tick.

An action is a class: which activity it performs, how good it is at that, and how it runs. An agent performs the
activity ``agentrt:top`` (``TOP``) all the time: when a plan has run to its end, it thinks again.

Time is game time. Twenty ticks make a second, and nothing here waits for a real one.
"""

from __future__ import annotations

import agentrt as art


class RingBell(art.Action):
    """Ring three strokes, then rest."""

    does = art.TOP
    utility = 0.5

    def start(self, ctx: art.Context, args: art.ActionArgs) -> None:
        say(ctx, "takes the rope")

    async def run(self, ctx: art.Context, args: art.ActionArgs) -> None:
        for stroke in (1, 2, 3):
            say(ctx, f"rings, stroke {stroke}")
            await ctx.sleep(0.5)
        await ctx.sleep(1.0)

    def stop(self, ctx: art.Context, args: art.ActionArgs) -> None:
        say(ctx, "lets go of the rope")


def say(ctx: art.Context, words: str) -> None:
    print(f"tick {ctx.clock.tick:3}  {ctx.entity.name} {words}")


def main() -> None:
    runtime = art.Runtime()
    ringer = runtime.add(art.Agent(art.Entity("ringer", name="Ada"), actions=[RingBell]))
    for _ in range(70):
        runtime.step()
    print(f"running: {ringer.snapshot().running}")
    runtime.close()  # every `stop` is called, also that of an action in the middle of its run
    print(ringer)


if __name__ == "__main__":
    main()
