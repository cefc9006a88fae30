"""Outlooks: what is expected of an attempt that runs, from where it is.

A strategy foresees branches before it begins. With each dependency that it asks for, some of them become impossible:
those can still come true that foresaw most of what was asked for. What is left of them, and how likely each is against
the others, is what forecasts, supplies, opportunities and preparing work on.

Source: seed 003, "Planning Ahead Using Probability".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.strategy.forecast import Foreseen, remaining

if TYPE_CHECKING:
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.strategy import Branch

__all__ = ["Outlook"]


class Outlook:
    """What is expected of one attempt that runs.

    Args:
        attempt: it.

    Attributes:
        attempt: as given.
        branches: what its strategy foresees, the likeliest first.
        done: what it has had solved, or has solved at this moment.
        forecast: the path that is expected; None if it foresees nothing.
    """

    __slots__ = ("attempt", "branches", "done", "forecast")

    def __init__(self, attempt: Attempt) -> None:
        self.attempt: Attempt = attempt
        self.branches: list[Branch] = []
        self.done: list[Dependency[Any]] = []
        self.forecast: Foreseen | None = None

    @property
    def open(self) -> list[Branch]:
        """The branches that can still come true, the likeliest first: those that foresaw most of what was done."""
        fits = [len(one.needs) - len(remaining(one, self.done)) for one in self.branches]
        most = max(fits, default=0)
        return [one for one, fit in zip(self.branches, fits, strict=True) if fit == most]

    def left(self, rank: int = 0) -> tuple[Branch | None, list[Dependency[Any]]]:
        """A branch that can still come true, and what is left of it.

        Args:
            rank: 0 for the likeliest.
        """
        branches = self.open
        if rank >= len(branches):
            return None, []
        return branches[rank], remaining(branches[rank], self.done)

    def shares(self) -> list[tuple[Branch, list[Dependency[Any]]]]:
        """The branches that can still come true, each with what is left of it."""
        return [(one, remaining(one, self.done)) for one in self.open]

    def __repr__(self) -> str:
        return f"<Outlook of {self.attempt!r}: {len(self.open)} of {len(self.branches)} branches>"
