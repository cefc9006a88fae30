"""The program: an asyncio loop of one's own, in which the runtime is one task.

Nothing out here touches an agent. What happens outside is sent to the runtime, which takes it in at its next tick; so a
recording has it, and a replay can send it again.
"""

from __future__ import annotations

import asyncio

import agentrt as art
from agentrt.kernel import TraceEvent, TraceRecord


async def play(runtime: art.Runtime, speed: float = 1.0) -> None:
    """Run the meadow until it is stopped, and let it thunder meanwhile."""
    runtime.trace.listen(show)
    async with asyncio.TaskGroup() as tasks:
        storms = tasks.create_task(thunder(runtime, every=10 / speed))
        await runtime.run(speed=speed)
        storms.cancel()


async def thunder(runtime: art.Runtime, every: float) -> None:
    """Stands for whatever else your program does: it waits for the network, for a window, for its users."""
    while True:
        await asyncio.sleep(every)
        print("thunder!")
        runtime.send("thunder")


def show(record: TraceRecord) -> None:
    """Whoever watches is told of everything that happens, and changes nothing."""
    if record.event in (TraceEvent.RUN, TraceEvent.PROGRESS):
        print(record.line())
