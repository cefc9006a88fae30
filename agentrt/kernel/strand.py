"""A strand: one coroutine that the kernel drives.

Every think, every run and every observer is a strand. What state it is in is derived, never stored, so that it cannot
disagree with the books:

    done      its coroutine is gone
    running   the kernel steps it at this moment
    sleeping  ``waiting`` is a tick that has not come
    parked    ``waiting`` is an audience, or a waiter that still names it
    foreign   ``waiting`` is the host's: it waits for something outside the kernel
    ready     anything else; then it stands in the ready queue exactly once

``stepper`` is what the kernel sends None to, to step it. Usually it is the coroutine itself, so that a step costs one
call. While a cancellation, or the value of a notification, is to be delivered it is the strand instead; when the strand
is done it is ``_GONE``. That is how the main loop stays free of checks for states that are rare. Rejected: the bound
``send`` of the coroutine, an object of 72 bytes for each strand.

Hosts derive from it. What they replace is small: ``ordinary_stepper``, ``send``, ``notice``, ``throw`` and ``close``
(how the coroutine is entered), ``interrupt``, ``enter_scope`` and ``leave_scope`` (what a cancellation means for their
own awaits), ``ended``.
"""

from __future__ import annotations

import traceback
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.errors import WrongStateError
from agentrt.kernel.killing import kill, livelocked
from agentrt.kernel.traps import KEEP, Audience, Notice, Waiter, at_once, suspend_on

if TYPE_CHECKING:
    from agentrt.kernel.agenda import Stepper
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.scope import CancelScope

__all__ = ["Strand", "StrandOwner"]


class StrandOwner(Protocol):
    """Who wants to know when a strand ends."""

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """The strand ended.

        Args:
            strand: the strand; it is done.
            result: what its coroutine returned.
            error: what it raised, or None; a cancelled strand has the host's cancellation here.
        """


class Strand:
    """A coroutine with its state. Made by ``Kernel.spawn``.

    Attributes:
        kernel: who drives it.
        coro: the coroutine; None once it is done.
        name: for people; strands may share one.
        owner: told when it ends; None for nobody.
        stepper: how it goes on (see the module's text).
        waiting: what it waits for (see the module's text).
        scope: the innermost open cancel scope.
        stop_reason: why it was told to stop; None if it was not.
        value: what the coroutine returned.
        error: what it raised.
    """

    __slots__ = (
        "_joiners",
        "coro",
        "error",
        "kernel",
        "name",
        "owner",
        "scope",
        "stepper",
        "stop_reason",
        "value",
        "waiting",
    )

    def __init__(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> None:
        self.kernel: Kernel = kernel
        self.coro: Coroutine[Any, Any, Any] | None = coro
        self.name: str = name
        self.owner: StrandOwner | None = owner
        self.stepper: Stepper = coro
        self.waiting: object = 0
        self.scope: CancelScope | None = None
        self.stop_reason: str | None = None
        self.value: Any = None
        self.error: BaseException | None = None
        self._joiners: list[Waiter] | None = None

    # --- what it is doing ---------------------------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self.coro is None

    @property
    def state(self) -> str:
        """Its state in one word: done, running, sleeping, parked, foreign or ready."""
        waiting = self.waiting
        if self.coro is None:
            return "done"
        if self.kernel.current is self:
            return "running"
        if isinstance(waiting, int):
            return "sleeping" if waiting > self.kernel.tick else "ready"
        if isinstance(waiting, Waiter):
            return "parked" if waiting.strand is self else "ready"
        if isinstance(waiting, Audience):
            return "parked"
        return "ready" if isinstance(waiting, Notice) else "foreign"

    def strand(self) -> Strand:
        """Itself: as an entry of the ready queue it stands for its own code."""
        return self

    def where(self) -> str:
        """The file and line at which its author's code is suspended, or an empty string."""
        coro: Any = self.coro
        frame = None
        while coro is not None:
            inner = getattr(coro, "cr_frame", None) or getattr(coro, "gi_frame", None)
            if inner is None:
                break
            if frame is None or not inner.f_globals.get("__name__", "").startswith("agentrt."):
                frame = inner
            coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)
        return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"

    async def join(self) -> Any:
        """Wait until it ends.

        Returns:
            What its coroutine returned; None if it was cancelled.

        Raises:
            BaseException: what its coroutine raised.
            WrongStateError: a strand waits for its own end.
        """
        if self.coro is None:
            await at_once()
        else:
            if self.kernel.current is self:
                await at_once()
                raise WrongStateError("Strand.join", "the strand itself runs", "Join it from another one.")
            if self._joiners is None:
                self._joiners = []
            waiter = Waiter()
            self._joiners.append(waiter)
            try:
                await suspend_on(waiter)
            except BaseException:
                if self._joiners:
                    self._joiners.remove(waiter)
                raise
        error = self.error
        if error is not None and not isinstance(error, self.kernel.host.cancelled_type):
            raise error
        return self.value

    # --- cancellation -------------------------------------------------------------------------------------------------

    def stop(self, reason: str = "stopped") -> None:
        """Cancel the whole strand; it runs its ``finally`` blocks when its turn comes. A second call does nothing.

        Args:
            reason: why, in words.
        """
        if self.stop_reason is None and self.coro is not None:
            self.stop_reason = reason
            if self.pending() is not None:  # else it is shielded, and finds out when it leaves the shield
                self.interrupt()

    def pending(self) -> str | None:
        """The reason of the cancellation that its next wait will raise, or None."""
        scope = self.scope
        while scope is not None:
            if scope.cancel_called:
                return scope.reason
            if scope.shield:
                return None
            scope = scope.outer
        return self.stop_reason

    def enter_scope(self, scope: CancelScope) -> None:
        """The strand entered a scope that may already be cancelled; hosts add their own."""
        if scope.cancel_called:
            self.interrupt()

    def leave_scope(self, scope: CancelScope, error: BaseException | None) -> bool:
        """The strand leaves a scope.

        Args:
            scope: the scope; ``self.scope`` is the one around it already.
            error: what comes out of its block.

        Returns:
            Whether the scope swallows it.
        """
        outer = self.pending()
        if outer is not None:
            # A cancellation from outside was kept away by a shield, or is on its way: the next wait raises it.
            self.interrupt()
            if not scope.shield:
                return False
        return scope.cancel_called and isinstance(error, self.kernel.host.cancelled_type)

    def scope_cancelled(self, scope: CancelScope) -> None:
        """One of its open scopes was cancelled."""
        if self.pending() is not None:
            self.interrupt()

    def interrupt(self) -> None:
        """Have the pending cancellation delivered at the wait in which the strand is, or at its next one."""
        if self.coro is None:
            return
        self.stepper = self
        kernel = self.kernel
        if kernel.current is self:
            # It runs at this moment and will have suspended (or ended) when the queue comes to this entry.
            kernel.call_soon(self._interrupt_suspended)
        elif self.detach():
            kernel.ready.append(self)

    def detach(self) -> bool:
        """Take it out of the books of what it waits for on the kernel.

        Returns:
            Whether it was waiting there; then it stands nowhere now, and whoever called makes it ready or ends it.
        """
        waiting = self.waiting
        if isinstance(waiting, int):
            if waiting <= self.kernel.tick:
                return False
            self.waiting = 0
            self.kernel.agenda.forget(waiting, self.kernel.live)
            return True
        if isinstance(waiting, Waiter) and waiting.strand is self:
            waiting.strand = None
            self.waiting = 0
            return True
        if isinstance(waiting, Audience):
            self.waiting = 0
            waiting.give_up(self)
            return True
        return False

    def _interrupt_suspended(self) -> None:
        if self.coro is not None and self.stepper is self:
            if self.pending() is not None:
                self.interrupt()
            elif not isinstance(self.waiting, Notice):
                self.stepper = self.ordinary_stepper()

    def send(self, _value: None, /) -> object:
        """Step the strand while a cancellation, or what it was notified with, is to be delivered."""
        coro = self.coro
        assert coro is not None
        value = None
        notice = self.waiting
        if isinstance(notice, Notice):  # what ``take_notice`` does
            value = notice.value
            self.waiting = 0
        reason = None if self.scope is None and self.stop_reason is None else self.pending()
        if reason is None:
            self.stepper = coro
            return coro.send(value)
        host = self.kernel.host
        for _ in range(self.kernel.livelock_steps):
            command: object = coro.throw(host.cancelled(reason))
            reason = self.pending()
            if reason is None:
                # It left the scope, or waits behind a shield.
                self.stepper = coro
                return command
        return kill(self, livelocked(self))

    # --- how the coroutine is entered ---------------------------------------------------------------------------------

    def ordinary_stepper(self) -> Stepper:
        """What ``stepper`` is while nothing but None is to be sent, and nothing raised, in it."""
        assert self.coro is not None
        return self.coro

    def notice(self, notice: Notice) -> None:
        """The audience in which it waits was notified with a value: its next step delivers it.

        Args:
            notice: holds the value.
        """
        self.waiting = notice
        self.stepper = self

    def take_notice(self) -> Any:
        """The value that its next step delivers, which is then forgotten; None if there is none."""
        notice = self.waiting
        if isinstance(notice, Notice):
            self.waiting = 0
            return notice.value
        return None

    def throw(self, error: BaseException) -> object:
        """Raise an error at the await in which it is.

        Args:
            error: what to raise.

        Returns:
            The command of its next wait.
        """
        assert self.coro is not None
        command: object = self.coro.throw(error)
        return command

    def close(self) -> None:
        """Close its coroutine: ``GeneratorExit`` is raised at the await in which it is."""
        if self.coro is not None:
            self.coro.close()

    # --- the end ------------------------------------------------------------------------------------------------------

    def condemn(self, error: BaseException) -> bool:
        """It is to be killed. A host whose strands cannot be killed from outside has it end itself.

        Args:
            error: why.

        Returns:
            Whether it will end by itself.
        """
        return False

    def ended(self, result: Any, error: BaseException | None) -> None:
        """Close the books on it. Called by the kernel once.

        Args:
            result: what the coroutine returned.
            error: what it raised.
        """
        self.coro = None
        self.stepper = _GONE
        self.waiting = 0
        self.scope = None
        self.value = result
        self.error = error
        joiners = self._joiners
        if joiners is not None:
            self._joiners = None
            for waiter in joiners:
                waiter.notify()

    def __repr__(self) -> str:
        state = self.state
        if state == "sleeping":
            state = f"sleeping until tick {self.waiting}"
        if state == "done" and self.error is not None:
            state = "done: " + traceback.format_exception_only(self.error)[-1].strip()
        stop = f", told to stop: {self.stop_reason}" if self.stop_reason is not None and self.coro is not None else ""
        return f"<Strand {self.name!r}: {state}{stop}>"


class _Gone:
    """The stepper of a strand that has ended. Its entry may still stand in the ready queue: it was interrupted."""

    __slots__ = ()

    def send(self, _value: None, /) -> object:
        return KEEP


_GONE = _Gone()
