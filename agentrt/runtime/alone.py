"""Agents that run without a runtime of their own: they share one for each event loop.

So ``asyncio.gather(wolf.run(), hare.run())`` has both live on one clock, with random streams of their own.
The shared runtime is made when the first of them is run, and closed when the last has ended; nothing is left
between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.kernel.hosts.loops import current_loop, step_outside
from agentrt.runtime.runtime import Runtime

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent

__all__ = ["run_alone"]

_shared: dict[object, Runtime] = {}


async def run_alone(agent: Agent) -> None:
    """Run an agent that is in no runtime, beside the others that run like this on the same event loop.

    Raises:
        AgentKilled: its planner gave up.
    """
    await step_outside()
    loop = current_loop()
    runtime = _shared.get(loop) or Runtime()
    if loop is not None:
        _shared[loop] = runtime
    runtime.add(agent)
    is_thrown_away = False
    try:
        await runtime.run_agent(agent)
    except GeneratorExit:
        is_thrown_away = True
        raise
    finally:
        if not runtime.is_driven:
            _shared.pop(loop, None)
            if not is_thrown_away:
                await runtime.aclose("its last agent ended")
