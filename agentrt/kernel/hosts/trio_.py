"""The trio host: a strand is a task of trio's, and may await whatever one may.

What a strand is to trio, and what the baton is: see ``trio_strand``. Here is who hands the baton out. Rules:

* Only one task drains at a time: the one that runs a tick, or the *server*, a system task of this host that drains
  between ticks when a strand's foreign wait has ended. The tick waits for the server; the server never interrupts a
  tick.
* Draining mirrors ``Kernel.drain``, which is synchronous and cannot wait for a baton. Calls and timers are stepped in
  place.
* Whoever drains cannot be cancelled while the baton is away: a tick is always whole.
* A failure between ticks has nobody to be raised to. It is kept and raised by the next tick.
* The strands' tasks are system tasks, so that a cancelled ``runtime.run()`` can still stop its agents in the kernel's
  order. What is left when trio's main task ends is cancelled by trio; the server then drains to the end, without ticks,
  and closes what waits for a tick behind a shield.

The same kernel may go on in another ``trio.run``: all strands that had a task have ended with the run before.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import trio

from agentrt.errors import NotRunningError
from agentrt.kernel.agenda import Entry
from agentrt.kernel.hosts.plain import ASYNCIO_WORDS, Budget, describe, throw_foreign, translate_no_loop
from agentrt.kernel.hosts.trio_strand import TrioStrand, wait_for_baton
from agentrt.kernel.livelock import LivelockGuard, patience
from agentrt.kernel.strand import Strand, StrandOwner
from agentrt.kernel.traps import running

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

__all__ = ["TrioHost", "TrioStrand"]

_TAKES_REASON = "reason" in inspect.signature(trio.CancelScope.cancel).parameters


class TrioHost:
    """Strands that await trio.

    Attributes:
        stepped: the strand that has the baton, or has just given it back.
    """

    name = "trio"
    steps_inline = False
    foreign_waits: int = 0
    cancelled_type: type[BaseException] = trio.Cancelled

    def __init__(self) -> None:
        self.stepped: TrioStrand | None = None
        self._context = contextvars.copy_context()
        self._token: trio.lowlevel.TrioToken | None = None
        self._holder: trio.lowlevel.Task | None = None  # who waits for the baton to come back
        self._tasks: dict[TrioStrand, None] = {}  # strands that have a task, in the order of their first steps
        self._requested = trio.Event()  # somebody is ready between ticks
        self._served = trio.Event()
        self._serving = False
        self._quiet = False
        self._failure: BaseException | None = None
        self._watchers: list[trio.Event] = []

    # --- for the kernel -----------------------------------------------------------------------------------------------

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        """Make a strand."""
        return TrioStrand(kernel, coro, name, owner, self)

    def cancelled(self, reason: str) -> NoReturn:
        """Only trio makes its exceptions."""
        raise NotImplementedError(f"a cancellation is made by trio, and not by its host (reason: {reason})")

    def foreign(self, strand: Strand, command: object) -> None:
        """Make the await fail. The host's own strands never ask: what is not the kernel's goes to trio as it is."""
        throw_foreign(strand, describe(command), self.name)

    def translate(self, error: BaseException) -> BaseException:
        """Tell an author who called a function of asyncio's here what to do instead."""
        return translate_no_loop(error, self.name, ASYNCIO_WORDS)

    def enter(self) -> NoReturn:
        """Strands cannot be stepped synchronously here.

        Raises:
            NotRunningError: always.
        """
        raise NotRunningError(
            "the trio host cannot step a tick synchronously, because every strand is a task of trio's. Use 'await "
            "runtime.run()', or give the runtime host='plain' to step it by hand."
        )

    def leave(self) -> None:
        """Never reached."""

    # --- for its strands ----------------------------------------------------------------------------------------------

    def hand_back(self) -> None:
        """The strand that holds the baton gives it back; it goes on to its next wait before anything else runs."""
        assert self._holder is not None
        trio.lowlevel.reschedule(self._holder)

    def task_ends(self, strand: TrioStrand) -> None:
        """The task of a strand gives the baton back for the last time."""
        self._tasks.pop(strand, None)
        self.hand_back()

    def wake(self, kernel: Kernel) -> None:
        """A strand became ready. Between ticks the server steps it at once."""
        if not (self._quiet or kernel.draining or kernel.in_tick):
            self._requested.set()

    def cancel_quietly(self, scope: trio.CancelScope, reason: str) -> None:
        """Cancel a scope of trio's for the kernel: what waits for the kernel is raised in a tick, as on every host."""
        outer, self._quiet = self._quiet, True
        try:
            if _TAKES_REASON:
                scope.cancel(reason)
            else:
                scope.cancel()
        finally:
            self._quiet = outer

    def strand_ended(self) -> None:
        """A strand ended: tell who waits for that."""
        for watcher in self._watchers:
            watcher.set()

    # --- draining -----------------------------------------------------------------------------------------------------

    async def _drain(self, kernel: Kernel, slices: Budget | None) -> None:
        ready = kernel.ready
        calm = patience(kernel)
        guard: LivelockGuard | None = None
        self._holder = trio.lowlevel.current_task()
        if not kernel.in_tick:
            kernel.idle_waits.begin()
        kernel.draining = True
        try:
            while ready:
                entry = ready[0]
                condemned = isinstance(entry, TrioStrand) and entry.condemned is not None
                if guard is not None and not condemned and not guard.admit():
                    continue
                ready.popleft()
                if isinstance(entry, TrioStrand):
                    await self._step_strand(kernel, entry)
                else:
                    _step_in_place(kernel, entry)
                calm -= 1
                if calm < 0 and guard is None:
                    guard = LivelockGuard(kernel)
                if slices is not None and slices.expired():
                    await trio.lowlevel.cancel_shielded_checkpoint()
                    slices.renew()
        finally:
            kernel.draining = False

    async def _step_strand(self, kernel: Kernel, strand: TrioStrand) -> None:
        if strand.is_done:
            return
        self._tasks[strand] = None
        self.stepped = strand
        strand.take_baton()
        await wait_for_baton()
        self.stepped = None
        if strand.outcome is not None:
            value, error = strand.outcome
            strand.outcome = None
            outer, running.kernel = running.kernel, kernel
            kernel.current = strand
            try:
                kernel.end(strand, value, error)
            finally:
                kernel.current = None
                running.kernel = outer

    # --- between ticks ------------------------------------------------------------------------------------------------

    def _join_run(self, kernel: Kernel) -> None:
        token = trio.lowlevel.current_trio_token()
        if token is not self._token:
            self._token = token
            self._requested = trio.Event()
            self._serving = False
            trio.lowlevel.spawn_system_task(self._serve, kernel, name="agentrt between ticks", context=self._context)

    async def _serve(self, kernel: Kernel) -> None:
        try:
            while True:
                await self._requested.wait()
                await self._serve_once(kernel)
        except trio.Cancelled as cancelled:
            with trio.CancelScope(shield=True):  # pyright: ignore[reportCallIssue] - it reads the alias wrongly
                self._sort_ready(kernel)
                while self._tasks:
                    await self._serve_once(kernel)
                    if not self._close_parked(cancelled) and self._tasks:
                        await self._requested.wait()
            raise

    async def _serve_once(self, kernel: Kernel) -> None:
        self._requested = trio.Event()
        if kernel.in_tick or kernel.draining:
            return
        self._serving = True
        self._served = trio.Event()
        try:
            while kernel.ready:
                try:
                    await self._drain(kernel, None)
                except BaseException as error:  # kept for the next tick; trio would crash
                    if self._failure is None:
                        self._failure = error
        finally:
            self._serving = False
            self._served.set()

    def _sort_ready(self, kernel: Kernel) -> None:
        """Trio has cancelled the strands in the order of a set; they end in the order of their first steps."""
        place = {strand: number for number, strand in enumerate(self._tasks)}
        entries = sorted(kernel.ready, key=lambda entry: place.get(entry, -1))  # type: ignore[call-overload]
        kernel.ready.clear()
        kernel.ready.extend(entries)

    def _close_parked(self, error: BaseException) -> bool:
        """No tick will come any more: end what waits for one behind a shield. Returns whether there was anything."""
        parked = [strand for strand in self._tasks if strand.state in ("sleeping", "parked")]
        for strand in parked:
            strand.condemn(error)
        return bool(parked)

    # --- for the runtime ----------------------------------------------------------------------------------------------

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """Run one whole tick.

        Args:
            kernel: the kernel.
            budget: real seconds after which trio gets a turn, again and again until the tick is whole; None for no
                limit. (Every step of a strand gives trio a turn as well.)

        Raises:
            WrongStateError: a tick of this kernel runs already.
            BaseException: what failed between ticks.
        """
        if kernel.current is not None or not self._serving:
            kernel.require_between_ticks("run_tick")
        self._join_run(kernel)
        await trio.lowlevel.checkpoint()
        while self._serving:
            await self._served.wait()
        kernel.require_between_ticks("run_tick")
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        try:
            kernel.begin_tick()
            await self._drain(kernel, None if budget is None else Budget(budget))
            kernel.end_tick()
        finally:
            kernel.in_tick = False

    async def rest(self, kernel: Kernel, seconds: float) -> None:
        """Let trio work between two ticks; strands whose foreign waits end meanwhile are stepped.

        Args:
            kernel: the kernel.
            seconds: how long, in real seconds; 0 for one turn.
        """
        await trio.sleep(max(0.0, seconds))

    async def drained(self, kernel: Kernel, strands: Iterable[Strand], seconds: float) -> bool:
        """Wait until strands have ended, without ticking: for those that wait for trio.

        Args:
            kernel: the kernel.
            strands: which.
            seconds: real seconds to wait at most.

        Returns:
            Whether all have ended.
        """
        left = list(strands)
        with trio.move_on_after(seconds):
            while not all(strand.is_done for strand in left):
                watcher = trio.Event()
                self._watchers.append(watcher)
                try:
                    await watcher.wait()
                finally:
                    self._watchers.remove(watcher)
        return all(strand.is_done for strand in left)


def _step_in_place(kernel: Kernel, entry: Entry) -> None:
    """Step what is not a task of trio's: calls, timers, and strands that were made before this host was chosen."""
    outer, running.kernel = running.kernel, kernel
    kernel.current = entry
    try:
        command = entry.stepper.send(None)
    except StopIteration as stop:
        kernel.end(entry, stop.value, None)
    except BaseException as error:  # the kernel decides
        kernel.end(entry, None, error)
    else:
        if isinstance(entry, Strand):
            kernel.park_command(entry, command)
    finally:
        kernel.current = None
        running.kernel = outer
