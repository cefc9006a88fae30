"""A runtime: agents on one clock, and three ways to drive it.

* ``await runtime.run()`` paces itself against the wall clock, on asyncio or trio.
* ``runtime.step(dt)`` is synchronous, for whoever owns the loop.
* ``await agent.run()`` joins a runtime that is under way, or makes one.

Rules: an agent is added and removed between ticks, at an intake; inputs are posted (``post``), from any thread; the host is
chosen when the runtime is first driven, from the event loop that runs then. When ``run`` is cancelled, all agents are
stopped in the order in which they were added, every ``stop`` runs, and only then is the cancellation passed on.

The wall clock is read here and in the hosts only, to decide how long to rest; it never reaches an agent.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.body.leases import LeaseBook
from agentrt.calls import call_outside
from agentrt.errors import NotRunningError, RunFault, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.trace import Event, TraceRecord

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.rng import Stream
    from agentrt.kernel.strand import Strand
    from agentrt.kernel.trace import TraceHub

__all__ = ["HOSTS", "Runtime"]

HOSTS = ("auto", "plain", "asyncio", "trio")

_GRACE_SECONDS = 5.0  # how long clean-up may take when a runtime is closed: game time, and again real time


class Runtime:
    """Agents on one clock.

    Args:
        seed: of every random stream.
        ticks_per_second: how many ticks make one second of game time.
        host: ``"auto"`` takes the event loop that runs when the runtime is first driven, or none; ``"plain"``,
            ``"asyncio"`` or ``"trio"`` insist.

    Attributes:
        kernel: the scheduler.
        leases: who has reserved what.
        host: the name of the host; ``"auto"`` until it is chosen.
        late_ticks: how many ticks ``run`` has left out because the machine could not keep up.
    """

    def __init__(self, seed: int | str = 0, *, ticks_per_second: int = 20, host: str = "auto") -> None:
        if host not in HOSTS:
            raise ValueError(f"host is {host!r}: choose one of {', '.join(HOSTS)}")
        self.kernel = Kernel(seed, ticks_per_second)
        self.kernel.on_fault = self._fault
        self.leases = LeaseBook()
        self.host = "auto"
        self.late_ticks = 0
        self._agents: dict[str, Agent] = {}
        self._strands: dict[Strand, None] = {}
        self._enders: dict[Agent, list[Callable[[], object]]] = {}
        self._carry = 0.0
        self._is_running = False
        self._stopping = False
        if host != "auto":
            self._take_host(host)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def agents(self) -> tuple[Agent, ...]:
        """The agents, in the order in which they were added."""
        return tuple(self._agents.values())

    @property
    def tick(self) -> int:
        """The number of the tick that runs, or of the last one that ran."""
        return self.kernel.tick

    @property
    def clock(self) -> Clock:
        """The clock."""
        return self.kernel.clock

    @property
    def trace(self) -> TraceHub:
        """Where records of what happens are handed out."""
        return self.kernel.trace

    def stream(self, name: str) -> Stream:
        """A random stream of its own for a name; the same name gives the same numbers again.

        Args:
            name: what it is for.
        """
        return self.kernel.stream(name)

    def add(self, agent: Agent) -> Agent:
        """Add an agent; it begins to think at the next intake.

        Args:
            agent: one that is in no runtime.

        Returns:
            The agent; if its name was taken, it has a number now.

        Raises:
            WrongStateError: it is in a runtime already.
        """
        if agent.runtime is not None:
            raise WrongStateError("runtime.add", f"{agent.name!r} is in a runtime", "Remove it there first.")
        name, number = agent.name, 2
        while name in self._agents:
            name = f"{agent.name} {number}"
            number += 1
        self._agents[name] = agent
        agent.join(self, name)
        return agent

    def remove(self, agent: Agent, reason: str = "removed") -> None:
        """Remove an agent at the next intake; what it runs is stopped, every ``stop`` is called.

        Args:
            agent: one of its agents; nothing happens for another.
            reason: why, in words.
        """
        if agent.runtime is self and agent.planner is not None:
            self.post(agent.planner.execution.end, reason)

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake. Safe from any thread.

        Args:
            fn: a plain function, such as ``signal.emit``.
            args: what to call it with.
        """
        self.kernel.post(fn, *args)

    def every_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function once in every tick, before the agents.

        Args:
            fn: a plain function.

        Returns:
            A function that ends it.
        """
        return self.kernel.every_tick(fn)

    def after_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function at the end of every tick; it must not change the run.

        Args:
            fn: a plain function.

        Returns:
            A function that ends it.
        """
        return self.kernel.after_tick(fn)

    def spawn(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any, name: str = "") -> None:
        """Start a coroutine of the world's own at the next intake; it is stopped when the runtime is closed.

        Args:
            function: a coroutine function.
            args: what to call it with.
            name: for people; the function's by default.
        """

        def begin() -> None:
            label = name or getattr(function, "__qualname__", "strand")
            self._strands[self.kernel.spawn(function(*args), label, self)] = None

        self.post(begin)

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """A coroutine of the world's own ended."""
        self._strands.pop(strand, None)
        if error is not None and not isinstance(error, self.kernel.host.cancelled_type):
            self._fault(f"the coroutine {strand.name!r} raised", error)

    def call(self, fn: Callable[..., Any], *args: Any) -> Awaitable[Any]:
        """Call something outside the game; see ``Context.call``. Await it in a coroutine that the runtime steps.

        Args:
            fn: a coroutine function or a plain function.
            args: what to call it with.
        """
        return call_outside(self.kernel, fn, args)

    # --- the host -----------------------------------------------------------------------------------------------------

    def _take_host(self, name: str) -> None:
        self.host = name
        if name == "asyncio":
            from agentrt.kernel.hosts.asyncio_ import AsyncioHost

            self.kernel.host = AsyncioHost()
        elif name == "trio":
            try:
                from agentrt.kernel.hosts.trio_ import TrioHost
            except ModuleNotFoundError as error:
                raise NotRunningError("the trio host needs trio: pip install 'agentrt[trio]'") from error
            self.kernel.host = TrioHost()

    def _choose_host(self) -> None:
        if self.host == "auto":
            self._take_host(_current_library())

    # --- driving ------------------------------------------------------------------------------------------------------

    def step(self, dt: float | None = None) -> int:
        """Run ticks now, on the caller's stack.

        Args:
            dt: game seconds that passed; as many ticks run as they make, and the rest is kept for the next call. None
                runs one tick.

        Returns:
            How many ticks ran.

        Raises:
            NotRunningError: the host is trio, which cannot be stepped synchronously.
            WrongStateError: ``run`` is under way.
        """
        self._choose_host()
        if self._is_running:
            raise WrongStateError("runtime.step", "runtime.run() drives it", "Use one of the two.")
        if dt is None:
            self.kernel.step_tick()
            return 1
        if not dt >= 0 or math.isinf(dt):
            raise ValueError(f"step({dt!r}): it takes a number of seconds that is not negative")
        self._carry += dt * self.clock.ticks_per_second
        ticks = int(self._carry + 1e-9)
        self._carry = max(0.0, self._carry - ticks)
        for _ in range(ticks):
            self.kernel.step_tick()
        return ticks

    async def run(
        self,
        ticks: int | None = None,
        *,
        speed: float = 1.0,
        catch_up: int = 5,
        budget_ms: float | None = None,
        blocking_ms: float | None = 100.0,
    ) -> None:
        """Run tick after tick, paced by the wall clock.

        Args:
            ticks: how many; None runs until ``stop`` or cancellation.
            speed: game seconds for each real second; ``math.inf`` does not wait.
            catch_up: how many ticks it may run in a row without a rest when it is late; what is beyond is left out.
            budget_ms: real milliseconds after which a long tick lets the event loop work before it goes on.
            blocking_ms: real milliseconds after which a single step is reported as blocking the loop; None for never.

        Raises:
            NotRunningError: no event loop runs, or another one than before.
            WrongStateError: it is run or stepped already.
        """
        self._choose_host()
        if self._is_running:
            raise WrongStateError("runtime.run", "it runs already", "Add agents to it with runtime.add(agent).")
        if not speed > 0:
            raise ValueError(f"speed is {speed!r}: it takes a number above 0, or math.inf")
        self._is_running = True
        self._stopping = False
        guard = self._watch(blocking_ms)
        try:
            await self._pace(ticks, speed, catch_up, None if budget_ms is None else budget_ms / 1000)
        except BaseException:
            import anyio

            with anyio.CancelScope(shield=True):
                await self._close("the runtime was cancelled")
            raise
        finally:
            if guard is not None:
                guard.stop()
            self._is_running = False
        if self._stopping:
            await self._close("the runtime was stopped")

    async def _pace(self, ticks: int | None, speed: float, catch_up: int, budget: float | None) -> None:
        host, kernel = self.kernel.host, self.kernel
        period = self.clock.seconds_per_tick / speed
        due = time.monotonic()
        left = math.inf if ticks is None else ticks
        while left > 0 and not self._stopping:
            await host.run_tick(kernel, budget)
            left -= 1
            due += period
            now = time.monotonic()
            if now - due > catch_up * period:
                if period > 0:
                    behind = int((now - due) / period) - catch_up
                    self.late_ticks += behind
                    due += behind * period
                else:
                    due = now
            await host.rest(kernel, due - now)

    def stop(self) -> None:
        """End ``run`` after the present tick; agents are stopped. Safe from any thread."""
        self._stopping = True

    def close(self, reason: str = "the runtime was closed") -> None:
        """Stop all agents and coroutines now, on the caller's stack. For runtimes that are driven by ``step``.

        Args:
            reason: why, in words.
        """
        if self._is_running:
            raise WrongStateError("runtime.close", "runtime.run() drives it", "Call runtime.stop().")
        self._end_all(reason)
        for _ in range(self.clock.ticks(_GRACE_SECONDS)):
            if self._is_empty():
                return
            self.kernel.step_tick()
        self._kill_rest()

    async def _close(self, reason: str) -> None:
        kernel = self.kernel
        self._end_all(reason)
        for _ in range(self.clock.ticks(_GRACE_SECONDS)):
            if self._is_empty():
                return
            await kernel.host.run_tick(kernel, None)
            foreign = [strand for strand in self._all_strands() if strand.state == "foreign"]
            if foreign and not await kernel.host.drained(kernel, foreign, _GRACE_SECONDS):
                break
        self._kill_rest()

    def _end_all(self, reason: str) -> None:
        for agent in self.agents:
            self.remove(agent, reason)
        for strand in tuple(self._strands):
            self.post(strand.stop, reason)

    def _is_empty(self) -> bool:
        return not self._agents and not self._strands

    def _all_strands(self) -> list[Strand]:
        strands = list(self._strands)
        for agent in self.agents:
            if agent.planner is not None:
                strands.extend(unit.running for unit in agent.planner.execution.runs if unit.running is not None)
        return strands

    def _kill_rest(self) -> None:
        for strand in self._all_strands():
            error = RunFault(
                "did not end within its time when the runtime was closed; it was killed",
                path=f"{strand.name} ({strand.where()})",
                tick=self.tick,
            )
            self.kernel.kill(strand, error)
        self.kernel.drain()

    # --- agents that run alone ----------------------------------------------------------------------------------------

    async def run_agent(self, agent: Agent) -> None:
        """Wait until an agent has ended, driving the runtime if nobody else does. See ``Agent.run``.

        Args:
            agent: one of its agents.
        """
        import anyio

        ended = anyio.Event()
        drives = not self._is_running
        self._enders.setdefault(agent, []).append(self.stop if drives else ended.set)
        try:
            if agent.error is not None:
                return
            if drives:
                await self.run()
            else:
                await ended.wait()
        except BaseException:
            self.remove(agent, "agent.run() was cancelled")
            raise

    def agent_ended(self, agent: Agent) -> None:
        """An agent was removed or killed; called by the agent."""
        self._agents.pop(agent.name, None)
        agent.runtime = None
        if agent.has_ended is not None:
            agent.has_ended.set()
        for ender in self._enders.pop(agent, ()):
            ender()

    # --- faults -------------------------------------------------------------------------------------------------------

    def _fault(self, text: str, error: BaseException) -> None:
        from agentrt.logs import get_logger

        if self.trace.on:
            detail = (("text", text), ("error", f"{type(error).__name__}: {error}"))
            self.trace.emit(TraceRecord(self.tick, "", "", Event.FAULT, detail))
        get_logger(tick=self.tick).error(text, exc_info=error)

    def _watch(self, blocking_ms: float | None) -> Any:
        if blocking_ms is None:
            return None
        from agentrt.kernel.hosts.watchdog import BlockingGuard

        guard = BlockingGuard(self.kernel, blocking_ms / 1000, self._blocking)
        guard.start()
        return guard

    def _blocking(self, report: Any) -> None:
        from agentrt.logs import get_logger

        get_logger(tick=self.tick).warning(str(report))

    def __repr__(self) -> str:
        return f"<Runtime: tick {self.tick}, {len(self._agents)} agents, {self.host} host>"


def _current_library() -> str:
    """Which event loop runs on this thread: asyncio, trio or plain."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return "trio"
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:
        return "asyncio"
    return "plain"
