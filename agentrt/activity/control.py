"""Control flow of the planner: what ``ctx.abort`` and ``ctx.reject`` raise. Not errors; let them pass."""

from __future__ import annotations

from typing import Final, final

__all__ = ["Abort", "Reject"]


@final
class Abort(BaseException):
    """The plan cannot go on: unwind it all and plan again.

    Attributes:
        reason: why, in words.

    Source: seed 001, "AI contexts", `abort`.
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = reason
        super().__init__(reason)


@final
class Reject(BaseException):
    """The action cannot work with the arguments that it got; others might.

    Attributes:
        reason: why, in words.

    Source: seed 001, "AI contexts", `reject`.
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = reason
        super().__init__(reason)
