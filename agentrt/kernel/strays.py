"""Strays: strands that nobody waits for, but that must have ended before all is over.

The world's own coroutines, and thinking that was stopped and still cleans up after itself. They are kept in
the order in which they came, so that whoever closes the world can tell them to end and wait until they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrt.kernel.strand import Strand

__all__ = ["Strays"]


class Strays:
    """Owner of strands that nobody else owns.

    Args:
        report: called with what one of them raised.

    Attributes:
        strands: them, in order.
    """

    __slots__ = ("_report", "_then", "strands")

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self.strands: dict[Strand, None] = {}
        self._report = report
        self._then: dict[Strand, list[Callable[[], object]]] = {}

    def take(self, strand: Strand) -> None:
        """Own a strand from now on.

        Args:
            strand: one that has not ended.
        """
        strand.owner = self
        self.strands[strand] = None

    def when_ended(self, strand: Strand, then: Callable[[], object]) -> None:
        """Call a function when one of them has ended.

        Args:
            strand: one of them.
            then: a plain function that does not raise.
        """
        self._then.setdefault(strand, []).append(then)

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """One of them ended."""
        self.strands.pop(strand, None)
        for then in self._then.pop(strand, ()):
            then()
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            self._report(f"the strand {strand.name!r} raised", error)

    def __repr__(self) -> str:
        return f"<Strays: {', '.join(strand.name for strand in self.strands) or 'none'}>"
