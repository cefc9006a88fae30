"""Driving: who runs a runtime's ticks, at which pace, and how all of it is brought to its end.

One *baton* for each runtime: who holds it runs the ticks, everybody else waits. It is a caller of ``runtime.run()``, or
one of the callers of ``agent.run()``. Rules:

* ``runtime.run()`` gets the baton whenever it asks for it: the pace that it was told counts. Among callers of
  ``agent.run()`` it is the one that came first; it gives the baton on when its agent has ended, to the next one, in
  order of arrival, together with the pace, so that no tick comes early or late.
* Whoever is cancelled has its agents unwound before it lets the cancellation pass. If somebody else can drive, that
  takes place in the ordinary ticks; if not, nobody will ever drive again, so the whole runtime is closed.

*The pace* (``Pacer``) says when the next tick is due. It is kept by the event loop's own clock, so that a loop with a
virtual clock paces in virtual time; the times are handed in, and reach no agent. A tick that is due stays due while the
machine is late, up to a bound; what is beyond it is left out: otherwise a runtime that fell behind once would run flat
out for ever. Whether a tick may run at all says the ``gate``.

*Closing* brings everything to its end, however it behaves: all agents and all coroutines of the world are told to end,
and ticks are run, without a rest, until they have. That takes one tick if nobody objects. Clean-up behind a shield that
sleeps gets game time; clean-up that waits for the event loop gets real time, one second for each of the game; what
comes meanwhile (an agent that a ``stop`` hook adds) is told to end in the next round. What has not ended within the
time of grace is killed, and reported with the place where it was; the ``stop`` hooks of its agent are called all the
same. Calls to the outside are waited for last, so that no task of the event loop is left.

Rejected: a task of our own that drives in the background (its errors and its cancellation would be nobody's).

One module reads this one, the runtime: it is a room because baton, pace and end hold each other up, and because a
runtime is read by those who want to know what it offers, and not in which order its callers wait.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from agentrt.errors import RunFault, WrongStateError
from agentrt.kernel.hosts.loops import (
    current_library,
    drained,
    is_cancellation,
    is_foreign_cancellation,
    now,
    rest,
    shield,
)
from agentrt.kernel.hosts.watchdog import BLOCKING, HANGING, Watch, one_interrupt_is_enough
from agentrt.kernel.strand import kill
from agentrt.kernel.traps import running
from agentrt.runtime.collector import COLLECTOR
from agentrt.words import error_words, words_of

if TYPE_CHECKING:
    import anyio

    from agentrt.agent.agent import Agent
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand
    from agentrt.runtime.collector import Policy
    from agentrt.runtime.epochs import Epochs
    from agentrt.runtime.gate import Gate
    from agentrt.runtime.intake import Intake


class Pacer:
    """When the next tick is due. Its times are seconds from any start; the first tick is due at once."""

    __slots__ = ("_catch_up", "_due", "_given", "_period")

    def __init__(self, period: float, catch_up: int, now: float) -> None:
        self._given = period
        self._period = period  # real seconds from one tick to the next; 0 for no pause at all
        self._catch_up = catch_up  # how many ticks may be run in a row, without a rest, when it is late
        self._due = now

    def rest(self, now: float) -> float:
        """How many seconds there are until the next tick."""
        return max(0.0, self._due - now)

    def lateness(self, now: float) -> float:
        """How many seconds ago the next tick was due."""
        return max(0.0, now - self._due)

    def accelerate(self, speed: float) -> None:
        """Change the pace: so many times as fast as it was given."""
        self._period = self._given / speed

    def restart(self, now: float) -> None:
        """Forget what is due: the next tick is due at once. After a pause, nothing is late."""
        self._due = now

    def ticked(self, now: float) -> int:
        """A tick was run; returns how many are left out because it is too late for them."""
        self._due += self._period
        late = now - self._due
        if late <= self._catch_up * self._period:
            return 0
        if not self._period:  # nothing is ever late, and nothing can be left out
            self._due = now
            return 0
        left_out = int(late / self._period) - self._catch_up
        self._due += left_out * self._period
        return left_out


_GRACE_SECONDS = 5.0  # of game time; of real time for calls to the outside
_REBUILT = "its world is rebuilt"
_KILL_ROUNDS = 5  # killing one coroutine may start the clean-up of the next


CATCH_UP = 5
BLOCKING_MS = BLOCKING * 1000


def import_what_a_log_needs() -> None:
    """Before time matters: else the tick in which the first thing fails would wait 0.15 s for it."""
    import structlog.dev  # noqa: F401 - what renders, too


_GATE_SECONDS = 0.02  # how often who stands before the closed gate asks again


@dataclass(eq=False, slots=True)
class _Turn:
    """One caller that drives or waits until it may: of ``agent.run()``, or of ``runtime.run()`` if it has no agent."""

    agent: Agent | None  # whose end it waits for
    is_inside: bool = False  # whether it is stepped by the runtime itself: it may wait, but can never drive
    is_over: bool = False  # whether that agent has ended
    is_leaving: bool = False  # whether the caller was cancelled and waits for the end of the unwinding only
    error: Exception | None = None  # what the agent ended with
    _event: anyio.Event | None = None

    async def wait(self) -> None:
        import anyio

        self._event = anyio.Event()
        await self._event.wait()

    def wake(self) -> None:
        if self._event is not None:
            self._event.set()


class Conductor:
    """Who drives one runtime: whoever of its callers has the baton."""

    def __init__(
        self,
        kernel: Kernel,
        agents: Mapping[str, Agent],
        gate: Gate,
        intake: Intake,
        watch: Watch,
        policy: Policy,
        epochs: Epochs,
    ) -> None:
        self.late_ticks: int = 0  # how many ticks were left out because the machine could not keep up
        self.lateness: float = 0.0  # how many seconds after it was due the present tick began, or the last one
        self.watch: Watch = watch  # looks at what takes long
        self._kernel = kernel
        self._agents = agents  # in the order in which they were added
        self._gate = gate
        self._intake = intake
        self._policy: Policy = policy
        self._epochs = epochs
        self._baton: _Turn | None = None
        self._main: _Turn | None = None  # the caller of ``runtime.run()``
        self._turns: dict[_Turn, None] = {}  # the callers of ``agent.run()``, in the order in which they came
        self._of_agent: dict[Agent, list[_Turn]] = {}
        self._pacer: Pacer | None = None  # handed on with the baton
        self._is_stopping = False

    @property
    def is_driving(self) -> bool:
        """Whether somebody runs the ticks, so that nobody else may."""
        return self._baton is not None

    def stop(self) -> None:
        """Have whoever drives, or drives next, end all agents after the present tick. Safe from any thread."""
        self._is_stopping = True

    # --- the two kinds of callers -------------------------------------------------------------------------------------

    async def run(
        self,
        ticks: int | None,
        speed: float,
        catch_up: int,
        budget: float | None,
        blocking: float | None,
        begun: Callable[[], None],
    ) -> None:
        """Drive until so many ticks have run or it is told to stop. See ``Runtime.run``; here all is in seconds.

        ``begun`` is called when nothing stands against it any more, before the first tick.
        """
        self._refuse_inside("runtime.run", is_endless=ticks is None)
        if self._main is not None:
            raise WrongStateError("runtime.run", "it runs already", "Add agents to it with runtime.add(agent).")
        self._main = turn = _Turn(None)
        try:
            await self._take_baton(turn)
            import_what_a_log_needs()
            pacer = Pacer(self._kernel.clock.seconds_per_tick / speed, catch_up, now())
            begun()
            await self._pace(pacer, math.inf if ticks is None else ticks, lambda: False, budget, blocking)
        except GeneratorExit:
            raise  # the coroutine was thrown away: nothing can be awaited any more
        except BaseException as error:
            with shield():
                await self._take_baton(turn)  # it may have been cancelled while another one drove
                await self._close(_reason("the runtime was cancelled", error))
            raise
        finally:
            self._main = None  # before the baton is passed on: else it would go to this very caller
            self._pass_on(turn)

    async def run_agent(self, agent: Agent) -> None:
        """Wait until an agent has ended; drive if nobody else does. See ``Agent.run``."""
        if self._baton is None:
            self._refuse_inside("agent.run", is_endless=True)
        turn = _Turn(agent, is_inside=running.kernel is self._kernel)
        self._turns[turn] = None
        self._of_agent.setdefault(agent, []).append(turn)
        try:
            while not turn.is_over:
                await self._take_baton(turn)
                if not turn.is_over:
                    await self._drive(turn)
        except GeneratorExit:
            raise
        except BaseException as error:
            turn.is_leaving = True  # from here on no closed gate holds up the ticks in which its agent ends
            reason = _reason("agent.run() was cancelled", error)
            if not turn.is_over:
                self._intake.post(agent.end, reason)
            if turn.is_inside:
                raise  # the unwinding may wait for the very coroutine that this is
            with shield():
                await self._leave(turn, reason, others_may_drive=is_cancellation(error))
            raise
        finally:
            self._forget(turn)  # before the baton is passed on, likewise
            self._pass_on(turn)
        if turn.error is not None:
            raise turn.error

    def agent_ended(self, agent: Agent) -> None:
        for turn in self._of_agent.pop(agent, ()):
            turn.is_over = True
            turn.error = agent.error
            turn.wake()

    def _refuse_inside(self, method: str, *, is_endless: bool) -> None:
        """Whoever is stepped cannot step: it would wait for itself, and close the runtime when it found that out.

        Nor may it drive another runtime without an end where no event loop could go on meanwhile.
        """
        inside = running.kernel
        if inside is self._kernel or (inside is not None and is_endless and current_library() == "plain"):
            raise WrongStateError(method, "a tick runs", "Call it from outside, where nothing is stepped.")

    def _forget(self, turn: _Turn) -> None:
        del self._turns[turn]
        assert turn.agent is not None
        turns = self._of_agent.get(turn.agent)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._of_agent[turn.agent]

    # --- the baton ----------------------------------------------------------------------------------------------------

    async def _take_baton(self, turn: _Turn) -> None:
        """Wait until it is this caller's turn to drive, or its agent has ended."""
        # In a loop: whoever is woken looks again, since the baton may be gone by the time when it is resumed.
        while (self._baton is not None or turn.is_inside) and self._baton is not turn and not turn.is_over:
            await turn.wait()
        if self._baton is None and not turn.is_over:
            self._baton = turn

    def _pass_on(self, turn: _Turn) -> None:
        """Give the baton to who is next, if this caller has it: whoever is leaving drives only if there is no other."""
        if self._baton is not turn:
            return
        following = self._main
        if following is None:
            waiting = [one for one in self._turns if not one.is_over and not one.is_inside]
            following = next((one for one in waiting if not one.is_leaving), waiting[0] if waiting else None)
        self._baton = following  # now, and not when it wakes up: a third one could take it meanwhile
        if following is None or following.agent is None:
            self._pacer = None  # ``run`` brings a pace of its own, and after a pause with no driver nothing is late
        if following is not None:
            following.wake()

    async def _drive(self, turn: _Turn) -> None:
        """Run ticks until the agent of a caller has ended, or ``runtime.run()`` asks for the baton."""
        pacer = self._pacer
        if pacer is None:
            import_what_a_log_needs()
            pacer = self._pacer = Pacer(self._kernel.clock.seconds_per_tick, CATCH_UP, now())
        await self._pace(pacer, math.inf, lambda: turn.is_over or self._main is not None, None, BLOCKING_MS / 1000)
        if not turn.is_over:
            self._pass_on(turn)

    async def _leave(self, turn: _Turn, reason: str, *, others_may_drive: bool) -> None:
        """Wait until the agent of a cancelled caller has ended."""
        if others_may_drive:
            self._pass_on(turn)
        await self._take_baton(turn)
        if self._baton is turn:
            await self._close(reason)

    # --- ticks --------------------------------------------------------------------------------------------------------

    async def _pace(
        self, pacer: Pacer, ticks: float, is_over: Callable[[], bool], budget: float | None, blocking: float | None
    ) -> None:
        """Run ticks, each when it is due. When it was told to stop, close the runtime."""

        def is_done() -> bool:
            return self._is_stopping or is_over()

        gate = self._gate
        with self._watched(blocking), COLLECTOR.freezing(self._policy):
            while ticks > 0 and not is_done():
                await self._rest(pacer.rest(now()))
                while not is_done() and gate.is_closed and not self._is_awaited() and not gate.admit():
                    await self._rest(_GATE_SECONDS)
                    pacer.restart(now())
                pacer.accelerate(gate.pace)  # asked in each tick: it may be changed from any thread
                if not is_done():  # again: time has passed before the gate
                    self.lateness = pacer.lateness(now())
                    await self._rebuild_if_due()  # unless it was done: who drove last may have left before
                    await self._tick(budget)
                    if not self._is_stopping:
                        await self._rebuild_if_due()
                    self.late_ticks += pacer.ticked(now())
                    ticks -= 1
            if not is_done():
                await self._rest(pacer.rest(now()))  # so many ticks take so much time
        if self._is_stopping:  # out here, since ``_close`` begins a watch of its own
            await self._close("the runtime was stopped")

    async def _tick(self, budget: float | None) -> None:
        kernel = self._kernel
        try:
            await kernel.host.run_tick(kernel, budget)
        except BaseException as error:
            # Taken for our own, it would stop all agents of a server for one future that somebody cancelled.
            if not is_foreign_cancellation(error):
                raise
            kernel.report("a tick was broken off by a cancellation that concerns nobody here", error)

    def tick_now(self) -> None:
        """One tick, on the caller's stack."""
        epochs = self._epochs
        if epochs.is_on and epochs.is_due():
            self.rebuild_now()
        self._kernel.step_tick()
        if epochs.is_on and epochs.is_due() and not self._is_stopping:
            self.rebuild_now()

    def rebuild_now(self, saved: str = "") -> None:
        """Rebuild the world, on the caller's stack, of what it saves, or of what was saved."""
        with self._epochs.rebuilding(saved):
            if self._kernel.thread:  # else nothing has begun: there is nothing to end
                for _ in chain(self._rounds(_REBUILT), self._kills()):
                    self._kernel.step_tick()

    async def _rebuild_if_due(self) -> None:
        epochs = self._epochs
        if epochs.is_on and epochs.is_due():
            with shield(), epochs.rebuilding():
                await self._end_all(_REBUILT)

    def _is_awaited(self) -> bool:
        """Whether a caller that was cancelled waits for the end of its agent: it must not wait for the gate as well."""
        return any(turn.is_leaving and not turn.is_over for turn in self._turns)

    async def _rest(self, seconds: float) -> None:
        COLLECTOR.between_ticks()
        await rest(seconds)

    @contextlib.contextmanager
    def _watched(self, blocking: float | None) -> Iterator[None]:
        watch = self.watch
        watch.blocking = blocking
        watch.hanging = None if blocking is None else HANGING
        is_watched = blocking is not None or watch.limit is not None
        try:
            with one_interrupt_is_enough(watch), watch if is_watched else contextlib.nullcontext():
                yield
        finally:
            watch.end()
            watch.blocking, watch.hanging = BLOCKING, HANGING

    # --- closing ------------------------------------------------------------------------------------------------------

    async def aclose(self, reason: str) -> None:
        self.require_idle("runtime.aclose")
        reason = words_of(reason)
        self._baton = turn = _Turn(None)
        try:
            with shield():
                await self._close(reason)
        finally:
            self._pass_on(turn)

    async def _close(self, reason: str) -> None:
        """End everything. The caller shields it from cancellation."""
        self._tell_journal(reason)
        try:
            with self.watch:
                await self._end_all(reason)
                await self._intake.calls.settle(_GRACE_SECONDS)
        finally:
            self._is_stopping = False

    async def _end_all(self, reason: str) -> None:
        kernel, host = self._kernel, self._kernel.host
        try:
            for _ in self._rounds(reason):
                await host.run_tick(kernel, None)
                foreign = [strand for strand in self._strands() if strand.state == "foreign"]
                if foreign:
                    await drained(foreign, kernel.clock.seconds_per_tick)
        finally:
            for _ in self._kills():
                await host.run_tick(kernel, None)

    def close(self, reason: str) -> None:
        """End everything, on the caller's stack. What waits for the event loop gets no chance to end."""
        self.require_idle("runtime.close")
        reason = words_of(reason)
        self._tell_journal(reason)
        with self.watch:
            for _ in chain(self._rounds(reason), self._kills()):
                self._kernel.step_tick()
        self._is_stopping = False

    def _rounds(self, reason: str) -> Iterator[None]:
        """Tell all to end, once for each tick that it takes."""
        agents, kernel = self._agents, self._kernel
        strays = kernel.strays
        for _ in range(kernel.clock.ticks(_GRACE_SECONDS)):
            for agent in agents.values():
                self._intake.post(agent.end, reason)
            for strand in tuple(strays.strands):
                strand.stop(reason)
            # Generators last: what still runs may go on iterating one.
            if not agents and not strays.strands and not kernel.generators.close_open():
                return
            yield

    def _kills(self) -> Iterator[None]:
        """Kill what has not ended; after each round comes a tick, in which those that waited for it go on."""
        for _ in range(_KILL_ROUNDS):
            strands = self._strands()
            if not strands:
                return
            for strand in strands:
                error = RunFault(
                    "did not end within its time when the runtime was closed; it was killed",
                    path=f"{strand.name} ({strand.where()})",
                    tick=self._kernel.tick,
                )
                kill(strand, error)
            yield

    def _strands(self) -> list[Strand]:
        """All that keeps the runtime from being closed, innermost first."""
        strands = [strand for family in reversed(self._kernel.families) for strand in family.strands]
        strands.extend(self._kernel.strays.strands)
        for agent in self._agents.values():
            lent = agent.drivers.lent_strands()
            if lent:
                strands.extend(lent)  # the runs of their actions wait for these, and end by themselves then
            elif agent.planner is not None:
                executions = (*reversed(agent.planner.performances), agent.planner.execution)
                runs = (unit for execution in executions for unit in reversed(execution.runs))
                strands.extend(unit.running for unit in runs if unit.running is not None)
            strands.extend(agent.drivers.strands())
            strands.extend(agent.observer_strands())
        return strands

    def _tell_journal(self, reason: str) -> None:
        journal = self._intake.journal
        if journal is not None:
            self._intake.journal = None  # first: what ends from here on is no part of the run, and is not told
            journal.closing(reason)

    def require_idle(self, method: str) -> None:
        if self._baton is not None:
            who = "runtime.run()" if self._main is self._baton else "agent.run()"
            raise WrongStateError(method, f"{who} drives it", "Call runtime.stop() to end that first.")
        self._kernel.require_between_ticks(method)


def _reason(reason: str, error: BaseException) -> str:
    return reason if is_cancellation(error) else error_words(error)
