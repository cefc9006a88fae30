"""A run that is recorded, looked at afterwards, run again without the outside, and branched: what if?

A merchant asks the outside for the price of wool, and sells when it is high. The outside is slow, dear and different
each time; the recording keeps what it said, and what came in by name.
"""

import contextlib
import tempfile
from typing import Any

import agentrt as art
from agentrt.record import Recording, branch, parse_edits, replay

asked: list[str] = []


def price_of_wool() -> int:
    asked.append("the outside")
    return (3, 4, 9, 2)[len(asked) - 1]


class Merchant:
    name = "Ada"

    def __init__(self) -> None:
        self.wool, self.delivered = 0, art.Signal()

    def take(self, sacks: int) -> None:
        self.wool += sacks
        self.delivered.emit()


class Sell(art.Action):
    does = art.TOP
    utility = (0.0, 1.0)

    async def think(self, ctx: art.Context, args: Any) -> None:
        while True:
            if not ctx.entity.wool:
                await ctx.entity.delivered.wait()
            price = await ctx.call(price_of_wool)
            ctx.set_debug_progress(f"the price is {price}")
            ctx.set_utility(price / 10)
            ctx.set_think_output()
            await ctx.sleep(1)

    async def run(self, ctx: art.Context, args: Any) -> None:
        ctx.entity.wool -= 1
        await ctx.sleep(0.2)


class Count(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx: art.Context, args: Any) -> None:
        await ctx.sleep(60)


def make(seed: int | str, host: str) -> art.Runtime:
    runtime = art.Runtime(seed, host=host)
    merchant = Merchant()
    runtime.on_input("wool", merchant.take)
    runtime.add(art.Agent(merchant, actions=[Sell, Count]))
    return runtime


path = "market.sqlite"
with contextlib.chdir(tempfile.mkdtemp()):
    runtime = make(1, "plain")
    with runtime.record(path):
        runtime.send("wool", sacks=2)
        runtime.step(3.0)
    runtime.close()
    print(f"recorded, and asked {len(asked)} times")
    with Recording(path) as recording:
        print(recording.explain("Ada", 10))
    print(replay(path, make).as_text(), f"asked {len(asked)} times in all", sep="\n")
    print(branch(path, make, at=30, edits=parse_edits([{"tick": 44, "change": 2, "value": 1}])).as_text())
