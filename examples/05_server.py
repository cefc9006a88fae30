"""An agent inside an asyncio server: commands come in over TCP, and a better plan interrupts what it does.

The runtime is one task of the server. Each connection gets a dog of its own, but never touches it: it posts what it
was sent, and the runtime takes that in at its next tick. While the dog patrols, ``Fetch`` goes on thinking: it waits
for an order. Nothing is better than fetching, so what it took from the queue is always carried out.
"""

from __future__ import annotations

import asyncio

import agentrt as art


class Act(art.Action):
    does = "dog:act"
    utility = 1.0

    class Args(art.ActionArgs):
        words: str
        seconds: float = 1.0

    async def run(self, ctx: art.Context, args: Args) -> None:
        ctx.entity[asyncio.StreamWriter].write(f"the dog {args.words}\n".encode())
        await ctx.sleep(args.seconds)


class Patrol(art.CompoundAction):
    does = art.TOP
    utility = 0.2
    steps = [art.step("dog:act", words="trots to the gate"), art.step("dog:act", words="watches", seconds=3600)]


class Fetch(art.CompoundAction):
    does = art.TOP
    utility = 0.8
    steps = [
        art.step("dog:act", words=art.CALL("runs for the {}".format, art.PREV.thing)),
        art.step("dog:act", words=art.CALL("brings the {}".format, art.BACK(2).thing)),
    ]

    class Output(art.ThinkOutput):
        thing: str

    async def think(self, ctx: art.Context, args: art.ActionArgs) -> None:
        ctx.set_think_output(thing=await ctx.entity[art.Queue].get())


async def serve(runtime: art.Runtime, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    orders: art.Queue[str] = art.Queue()
    dog = runtime.add(art.Agent(art.Entity("dog", orders, writer), actions=[Act, Patrol, Fetch]))
    async for line in reader:
        runtime.post(orders.put_nowait, line.decode().strip())
    runtime.remove(dog)
    writer.close()


async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for line in reader:
        print(line.decode().strip())
        if b"watches" in line:
            print("> ball, stick")
            writer.write(b"ball\nstick\n")
        elif b"brings the stick" in line:
            break
    writer.close()


async def main() -> None:
    runtime = art.Runtime()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(runtime.run(speed=50))  # fifty game seconds in each real one
        async with await asyncio.start_server(lambda *ends: serve(runtime, *ends), "127.0.0.1", 0) as server:
            await play(*await asyncio.open_connection(*server.sockets[0].getsockname()))
        runtime.stop()


if __name__ == "__main__":
    asyncio.run(main())
