"""Who thinks, and waits without a strand: an entry by itself of whatever it waits for, of the queue and of the agenda.

Most that is idle in a world is thinks that wait, eight for each agent perhaps. A strand for each would be a sixth of
an idle agent, and a tenth of a think that waits for one event. So on a host that makes strands late (``steps_inline``)
the owner of a think stands for it, from the first wait on, until it ends, or until somebody needs the strand:

* *it asks for its strand itself*, in a later step (to open a scope, say). The step goes on, and the main loop, which
  took this entry out of the queue, puts it into the books of what is awaited next; a call that comes before anything
  else then puts the strand in its place there (``_move``).
* *its thinking is stopped* while it waits. The strand is made to be cancelled. If this entry was woken already, and
  stands in the queue, the strand is stepped when that comes to it, in its place (``Handover``): the order of the run
  does not depend on who has a strand, which differs between hosts.
* *the livelock guard counts its steps*: only in a tick that is suspiciously long.

What is to be kept in sync: ``stepper`` is the coroutine while it waits without a strand, or what delivers a value to
it (``Delivery``); the strand of a think that was stopped, until that has ended, or who hands over to it; absent while
nothing stands for it anywhere. Only in the last case may it begin to wait by itself: an entry that lies in the queue
for one think must not step another. An entry that left a bucket of the agenda, or a large audience, may lie there
still, and is passed over by ``waiting``, as that of a strand is.

Rejected: a thinker that is a strand itself (strands are not compiled, since hosts derive from them, and what is
compiled cannot derive from what is not; and a strand that somebody has kept would be another one later).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.kernel.strand import Strand, StrandOwner
from agentrt.kernel.traps import KEEP, Audience, Notice, Scheduler, Waiter
from agentrt.native import mypyc_attr

if TYPE_CHECKING:
    from agentrt.kernel.traps import Stepper


class ThinkersKernel(Scheduler, Protocol):
    """The kernel, as it is needed here."""

    def make_strand(self, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand: ...

    def call_next(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function before anything else in the ready queue."""

    def step(self, strand: Strand) -> None:
        """Step a strand in the place of an entry that was taken out of the queue."""


class Absent:
    """The stepper of a thinker that stands nowhere."""

    __slots__ = ()

    def send(self, _value: None, /) -> object:
        return KEEP


ABSENT: Final = Absent()


class Delivery:
    """Steps the coroutine of a thinker the next time, with what it was notified with."""

    __slots__ = ("coro", "thinker", "value")

    def __init__(self, thinker: Thinker, coro: Coroutine[Any, Any, Any], value: object) -> None:
        self.thinker: Thinker = thinker
        self.coro: Coroutine[Any, Any, Any] = coro
        self.value: object = value

    def send(self, _value: None, /) -> object:
        self.thinker.stepper = self.coro
        return self.coro.send(self.value)


class Handover:
    """Steps a strand in the place of the thinker that stands in the queue for it."""

    __slots__ = ("strand", "thinker")

    def __init__(self, thinker: Thinker, strand: Strand) -> None:
        self.thinker: Thinker = thinker
        self.strand: Strand = strand

    def send(self, _value: None, /) -> object:
        self.thinker.stepper = self.strand
        self.thinker.kernel.step(self.strand)
        return KEEP


@mypyc_attr(allow_interpreted_subclasses=True)
class Thinker:
    """See the module's text."""

    __slots__ = ("stepper", "waiting")

    def __init__(self) -> None:
        self.stepper: Stepper = ABSENT  # how its entry goes on (see the module's text)
        self.waiting: object = 0  # what that waits for, as of a strand

    # --- what it is to who has the entry ------------------------------------------------------------------------------

    @property
    def kernel(self) -> ThinkersKernel:
        raise NotImplementedError

    @property
    def name(self) -> str:
        return self.strand_name()

    @property
    def owner(self) -> Thinker:
        """Who is told when it ends."""
        return self

    @property
    def coro(self) -> Coroutine[Any, Any, Any] | None:
        """The coroutine that waits, or is stepped, without a strand; None while there is none."""
        stepper = self.stepper
        if isinstance(stepper, (Absent, Strand, Handover)):
            return None
        return stepper.coro if isinstance(stepper, Delivery) else stepper  # type: ignore[return-value]

    def notice(self, notice: Notice) -> None:
        """What it waits for was notified with a value: its next step delivers it."""
        coro = self.coro
        assert coro is not None
        self.waiting = 0
        self.stepper = Delivery(self, coro, notice.value)

    def strand(self) -> Strand:
        """Its strand, made now: its own code asks for it, or the guard that takes it out of the queue."""
        kernel, stepper = self.kernel, self.stepper
        strand = self._make_strand()
        self.stepper = ABSENT
        if isinstance(stepper, Delivery):
            strand.notice(Notice(stepper.value))
        elif kernel.current is self:
            kernel.current = strand
            self.waiting = 0
            kernel.call_next(self._move, strand)
        self.on_strand_made(strand)
        return strand

    # --- whose it is --------------------------------------------------------------------------------------------------

    def strand_name(self) -> str:
        raise NotImplementedError

    def open(self, asked: Sequence[Thinker]) -> Coroutine[Any, Any, Any] | None:
        """Its turn among those that are asked has come: its coroutine, or None if it is not to think any more."""
        raise NotImplementedError

    def waits(self, coro: Coroutine[Any, Any, Any]) -> bool:
        """Its coroutine waits after its first step: whether that needs no strand, since it stands for it itself."""
        raise NotImplementedError

    def on_strand_made(self, strand: Strand) -> None:
        """Its coroutine has a strand from now on."""
        raise NotImplementedError

    def on_strand_end(self, strand: Strand, result: object, error: BaseException | None) -> None:
        """That has ended."""
        raise NotImplementedError

    def thought_ended(self, error: BaseException | None) -> None:
        """Its coroutine ended, by itself or with an error, and had no strand."""
        raise NotImplementedError

    # --- the end of a think -------------------------------------------------------------------------------------------

    def leaving(self) -> Strand | None:
        """The strand of a think that was stopped, if it may still have to clean up."""
        stepper = self.stepper
        if isinstance(stepper, Handover):  # until the queue has come to that, the entry is not free
            return None if stepper.strand.is_done else stepper.strand
        if isinstance(stepper, Strand):
            if not stepper.is_done:
                return stepper
            self.stepper = ABSENT
        return None

    def leave(self, reason: str) -> Strand:
        """Its thinking is stopped while it waits: its strand, made now, which is cancelled when its turn comes."""
        kernel, stepper, waiting = self.kernel, self.stepper, self.waiting
        strand = self._make_strand()
        strand.within = reason
        strand.stepper = strand
        if isinstance(stepper, Delivery):
            strand.waiting = Notice(stepper.value)
            self.stepper = Handover(self, strand)
            return strand
        if isinstance(waiting, int):
            waits = kernel.agenda.leave(self, kernel.clock.tick, kernel.live)
        elif isinstance(waiting, Audience):
            self.waiting = 0
            waiting.give_up(self)
            waits = True
        else:
            assert isinstance(waiting, Waiter)
            waits = waiting.strand is self
            if waits:
                waiting.strand = None
        if waits:
            self.stepper = strand
            kernel.ready.append(strand)
        else:  # it was woken already
            self.stepper = Handover(self, strand)
        return strand

    # --- inside -------------------------------------------------------------------------------------------------------

    def _make_strand(self) -> Strand:
        coro = self.coro
        assert coro is not None
        return self.kernel.make_strand(coro, self.strand_name(), self)

    def _move(self, strand: Strand) -> None:
        """The step in which it asked for its strand is over: the strand takes its place in what it waits for."""
        waiting, kernel = self.waiting, self.kernel
        if isinstance(waiting, int):
            if waiting <= kernel.clock.tick:
                return  # it ended, gives way, or waits for what is not the kernel's
            kernel.agenda.buckets[waiting][-1] = strand
        elif isinstance(waiting, Audience):
            waiting.strands[-1] = strand
        elif isinstance(waiting, Waiter):
            waiting.strand = strand
        self.waiting = 0
        strand.waiting = waiting
