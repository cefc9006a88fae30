"""A batch: coroutines that are started together, and of which most may end in their first step.

Making a strand costs more than the first step of a think that knows its answer at once. Where the host allows it
(``steps_inline``), a batch is one entry of the ready queue that takes the first step of each coroutine in turn, and a
strand is made only for one that suspends, or asks for its strand (to open a cancel scope, say). Where it does not,
each coroutine is a strand from the beginning. The order of steps is the same: those strands would stand in the queue
one behind the other, where the batch stands.

Rule: a member that was withdrawn before its turn (``open`` gives None) is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.strand import meant
from agentrt.kernel.traps import KEEP, Audience

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

__all__ = ["Batch", "BatchMember"]


class BatchMember(Protocol):
    """Who has a coroutine to start."""

    def open(self, batch: Batch) -> Coroutine[Any, Any, Any] | None:
        """Its turn has come: give the coroutine, or None if it does not want to start any more."""

    def strand_name(self) -> str:
        """What to call its strand."""
        ...

    def on_strand_made(self, strand: Strand) -> None:
        """Its coroutine has a strand from now on."""

    def on_strand_end(self, strand: Strand | None, result: Any, error: BaseException | None) -> None:
        """Its coroutine ended; it may never have had a strand."""


class Batch:
    """Coroutines that are started together."""

    __slots__ = ("_kernel", "_left", "_strand", "_then", "coro", "member", "members", "waiting")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.members: list[BatchMember] = []  # in order; append to it before ``launch``
        self.waiting: object = 0
        self._then: tuple[Callable[..., object], tuple[Any, ...]] | None = None
        # the coroutine that makes its first step at this moment, or was the last to
        self.coro: Coroutine[Any, Any, Any] | None = None
        self.member: BatchMember | None = None  # the one whose turn it is; None before the first and after the last
        self._strand: Strand | None = None
        self._left: Iterator[BatchMember] | None = None  # who has not made the first step yet

    @property
    def name(self) -> str:
        """What it starts, for people."""
        return f"the batch of {self.members[0].strand_name()}" if self.members else "an empty batch"

    def launch(self, then: Callable[..., object] | None = None, *args: Any) -> None:
        """Put it into the ready queue.

        Args:
            then: called when each member has made its first step.
        """
        kernel = self._kernel
        if kernel.host.steps_inline:
            if then is not None:
                self._then = (then, args)
            kernel.ready.append(self)
            return
        for member in self.members:
            try:
                coro = member.open(self)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                kernel.report(f"{member.strand_name()!r} could not be started", fault)
                continue
            if coro is not None:
                member.on_strand_made(kernel.spawn(coro, member.strand_name(), member))
        if then is not None:
            kernel.call_soon(then, *args)

    @property
    def stepper(self) -> Batch:
        """Itself."""
        return self

    def send(self, _value: None) -> object:
        """Take the first steps."""
        if self._left is None:
            self._left = iter(self.members)
        try:
            self._start(self._left)
            self.member = None
            if self._then is not None:
                then, self._then = self._then, None
                self._kernel.guarded(*then)
        except BaseException:
            # What ``on_fault`` raised, or an interruption of the program: the others go on when the kernel does.
            self._strand = None
            self._kernel.ready.appendleft(self)
            raise
        return KEEP

    def _start(self, members: Iterator[BatchMember]) -> None:
        kernel = self._kernel
        for member in members:
            try:
                self.coro = coro = member.open(self)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                kernel.report(f"{member.strand_name()!r} could not be started", fault)
                continue
            if coro is None:
                continue
            self.member = member
            try:
                command = coro.send(None)
            except StopIteration as stop:
                if self._strand is None:
                    try:
                        member.on_strand_end(None, stop.value, None)
                    except ENDS_PROGRAM:
                        raise
                    except BaseException as fault:
                        self._report_owner(fault)
                else:
                    self._ended(stop.value, None)
            except BaseException as error:  # told to the member
                self._ended(None, error)
            else:
                strand = self.strand()
                self._strand = None
                kernel.current = self
                if command.__class__ is Audience:  # as nearly always; ``park_command`` does the same
                    command.strands.append(strand)
                    strand.waiting = command
                else:
                    kernel.park_command(strand, command)

    def strand(self) -> Strand:
        """The strand of the member that makes its first step at this moment."""
        strand = self._strand
        if strand is None:
            assert self.coro is not None
            assert self.member is not None
            kernel = self._kernel
            strand = self._strand = kernel.host.strand(kernel, self.coro, self.member.strand_name(), self.member)
            kernel.live += 1
            kernel.current = strand  # first: the member may stop it, and it runs or is on its way into a wait
            self.member.on_strand_made(strand)
        return strand

    def _ended(self, result: Any, error: BaseException | None) -> None:
        kernel = self._kernel
        strand, self._strand = self._strand, None
        kernel.current = self
        if strand is not None:
            kernel.end(strand, result, error)
            return
        if error is not None:
            error = kernel.host.translate(meant(error))
        assert self.member is not None
        try:
            self.member.on_strand_end(None, result, error)
        except ENDS_PROGRAM:
            raise
        except BaseException as fault:
            self._report_owner(fault)
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error

    def _report_owner(self, fault: BaseException) -> None:
        assert self.member is not None
        self._kernel.report(f"the owner of {self.member.strand_name()!r} raised when it ended", fault)
