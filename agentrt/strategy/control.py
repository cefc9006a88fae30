"""Control flow of strategies: what ``ctx.fail`` and ``ctx.restart`` raise. Not errors; let them pass."""

from __future__ import annotations

from typing import Final, final

from agentrt.words import words_of

__all__ = ["Fail", "Restart"]


@final
class Fail(BaseException):
    """The strategy cannot provide what it was run for: the next one is tried.

    Attributes:
        reason: why, in words.

    Source: seed 003, "Task Failure".
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


@final
class Restart(BaseException):
    """The strategy begins again.

    Attributes:
        reason: why, in words.

    Source: seed 003, "Pauseable/Cancelable Tasks".
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)
