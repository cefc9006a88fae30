"""Closing a runtime: everything in it is brought to its end, however it behaves.

All agents and all coroutines of the world are told to end, and ticks are run, without a rest, until they
have. That takes one tick if nobody objects. Who may object:

* clean-up behind a shield that sleeps gets game time;
* clean-up that waits for the event loop gets real time, at the pace of one second for each second of the
  game;
* what comes while the runtime is being closed (an agent that a ``stop`` hook adds) is told to end in the next
  round.

What has not ended within the time of grace is killed, and reported with the place where it was. The ``stop``
hooks of its agent are called all the same. Calls to the outside are waited for last, so that no task of the
event loop is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentrt.errors import RunFault
from agentrt.kernel.killing import kill

if TYPE_CHECKING:
    from agentrt.kernel.strand import Strand
    from agentrt.runtime import Runtime

__all__ = ["Closer"]

_GRACE_SECONDS = 5.0
_KILL_ROUNDS = 5  # killing one coroutine may start the clean-up of the next


class Closer:
    """Closes one runtime, as often as it is asked to.

    Args:
        runtime: the runtime.
    """

    __slots__ = ("_runtime",)

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def close(self, reason: str) -> None:
        """End everything, on the caller's stack. What waits for the event loop gets no chance to end.

        Args:
            reason: why, in words.
        """
        kernel = self._runtime.kernel
        for _ in self._rounds(reason):
            kernel.step_tick()
        for _ in self._kills():
            kernel.step_tick()

    async def aclose(self, reason: str) -> None:
        """End everything. The caller shields it from cancellation.

        Args:
            reason: why, in words.
        """
        kernel = self._runtime.kernel
        host = kernel.host
        try:
            for _ in self._rounds(reason):
                await host.run_tick(kernel, None)
                foreign = [strand for strand in self._strands() if strand.state == "foreign"]
                if foreign:
                    await host.drained(kernel, foreign, kernel.clock.seconds_per_tick)
        finally:
            for _ in self._kills():
                await host.run_tick(kernel, None)
        await self._runtime.calls.settle(_GRACE_SECONDS)

    def _rounds(self, reason: str) -> Iterator[None]:
        """Tell all to end, once for each tick that it takes."""
        runtime = self._runtime
        for _ in range(runtime.clock.ticks(_GRACE_SECONDS)):
            for agent in runtime.agents:
                runtime.remove(agent, reason)
            for strand in tuple(runtime.kernel.strays.strands):
                strand.stop(reason)
            strays, generators = runtime.kernel.strays, runtime.kernel.generators
            if not runtime.agents and not strays.strands and not generators.close_open():
                return
            yield

    def _kills(self) -> Iterator[None]:
        """Kill what has not ended; after each round comes a tick, in which those that waited for it go on."""
        kernel = self._runtime.kernel
        for _ in range(_KILL_ROUNDS):
            strands = self._strands()
            if not strands:
                return
            for strand in strands:
                error = RunFault(
                    "did not end within its time when the runtime was closed; it was killed",
                    path=f"{strand.name} ({strand.where()})",
                    tick=kernel.tick,
                )
                kill(strand, error)
            yield

    def _strands(self) -> list[Strand]:
        """All that keeps the runtime from being closed, innermost first."""
        strands = list(self._runtime.kernel.strays.strands)
        for agent in self._runtime.agents:
            lent = agent.lent_strands()
            if lent:
                strands.extend(lent)  # the runs of their actions wait for these, and end by themselves then
            elif agent.planner is not None:
                executions = (*reversed(agent.planner.performances), agent.planner.execution)
                runs = (unit for execution in executions for unit in reversed(execution.runs))
                strands.extend(unit.running for unit in runs if unit.running is not None)
            strands.extend(agent.driver_strands())
            strands.extend(agent.observer_strands())
        return strands
