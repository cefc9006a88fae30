"""Code that is stepped where it stands: what cannot suspend, and plain hooks.

Such code is no entry of the ready queue; this stands for the one that it never was. It is a room of its own because it
is compiled with the planner, which has it at hand all the time.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, NoReturn, Protocol

from agentrt.errors import WrongStateError
from agentrt.kernel.strand import Strand, StrandOwner, meant


class SteppedHost(Protocol):
    """The host, as it is needed here."""

    def left_open(self) -> BaseException | None: ...

    def translate(self, error: BaseException) -> BaseException: ...


class SteppingKernel(Protocol):
    """The kernel, as it is needed here."""

    @property
    def host(self) -> SteppedHost: ...

    def make_strand(self, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand: ...


class Stepped(StrandOwner, Protocol):
    """Whose code it is."""

    def strand_name(self) -> str: ...


class Inline:
    """Code that cannot suspend, while it is stepped, and whose hook is called.

    Whoever steps such code makes this ``kernel.current`` and the owner ``acting``, and puts owner and code here.
    """

    __slots__ = ("_kernel", "acting", "coro", "made", "owner", "refused", "waiting")

    def __init__(self, kernel: SteppingKernel) -> None:
        self._kernel: SteppingKernel = kernel
        # whose plain hook is being called, the innermost; None while it is nobody's. Whoever calls one sets it
        self.acting: object = None
        # what the code that was stepped could not have, for whoever knows how to wait for it; see ``leases``
        self.refused: object = None
        self.coro: Coroutine[Any, Any, Any] | None = None  # what is stepped; None between two
        # whose it is, or was; ``acting`` is somebody else while it calls a callback of another action
        self.owner: Stepped | None = None
        self.waiting: object = 0
        self.made: Strand | None = None  # the strand that was made for it, because it asked

    @property
    def name(self) -> str:
        return "nobody" if self.owner is None else self.owner.strand_name()

    @property
    def stepper(self) -> NoReturn:
        """Nobody may put it into the ready queue."""
        raise WrongStateError("Inline.stepper", "it is stepped where it stands", "Spawn a strand.")

    def strand(self) -> Strand:
        strand = self.made
        if strand is None or strand.coro is not self.coro:
            assert self.coro is not None
            strand = self.made = self._kernel.make_strand(self.coro, self.name, self.owner)
        return strand

    def ended(self, error: BaseException | None) -> BaseException | None:
        """The code has ended, with an error or without; the one to tell, which may be that it left a scope open."""
        self.coro = None
        host = self._kernel.host
        left_open = host.left_open()  # whatever it raised: the scope has to go
        error = left_open if error is None else host.translate(meant(error))
        if self.made is not None:
            strand, self.made = self.made, None
            strand.ended(None, error)
        return error
