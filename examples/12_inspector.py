"""A server whose agents can be looked at while it runs: one line puts the inspector around the runtime.

Open the address in a browser to see the page. Here the program itself is the visitor, so that there is something to
print: it reads what the page would read, stops the world at a breakpoint, and steps it.
"""

import asyncio
import json
from typing import Any

from websockets.asyncio.client import connect

import agentrt as art
from agentrt.inspect import Inspector


class Watch(art.Action):
    does = art.TOP
    name = "watch the sea"
    utility = 0.2

    async def run(self, ctx: art.Context, args: Any) -> None:
        await ctx.sleep(600)


class LightLamp(art.Action):
    does = art.TOP
    name = "light the lamp"
    utility = 0.8

    async def think(self, ctx: art.Context, args: Any) -> None:
        await ctx.sleep(0.5)
        ctx.set_think_output()

    async def run(self, ctx: art.Context, args: Any) -> None:
        await ctx.sleep(5)


async def visit(url: str) -> None:
    async with connect(url.replace("http", "ws") + "ws") as page:

        async def say(**words: Any) -> None:
            await page.send(json.dumps(words))

        async def hear(kind: str, **wanted: Any) -> dict[str, Any]:
            async for text in page:
                message: dict[str, Any] = json.loads(text)
                if message["is"] == kind and wanted.items() <= message.items():
                    return message
            raise EOFError("the inspector has gone")

        await hear("hello")
        await say(do="break", kind="action", name="LightLamp")
        await say(do="watch", agent="Ian")
        await say(do="resume")
        state = await hear("state", paused=True, tick=11)
        print(f"tick {state['tick']}: {state['reason']}")
        print((await hear("agent", tick=11))["explain"])
        await say(do="step", ticks=3)
        state = await hear("state", tick=14)
        print(f"tick {state['tick']}: {state['reason']}")


async def main() -> None:
    runtime = art.Runtime(seed=1)
    runtime.add(art.Agent(art.Entity("keeper", name="Ian"), actions=[Watch, LightLamp]))
    async with Inspector(runtime, port=0, controls=True) as inspector, asyncio.TaskGroup() as tasks:
        inspector.pause()  # until a visitor says otherwise
        tasks.create_task(runtime.run())
        await visit(inspector.url)
        runtime.stop()


asyncio.run(main())
