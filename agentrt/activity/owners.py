"""Who asks for an activity, as its frame sees it: a compound, the root of a plan, or ``ctx.execute``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame

__all__ = ["FrameOwner"]


class FrameOwner(Protocol):
    """Who asked for the activity."""

    def frame_ready(self, frame: Frame) -> None:
        """A unit is elected, or its output changed, or another one took its place; nothing was started yet."""

    def frame_unready(self, frame: Frame) -> None:
        """The elected unit withdrew and no other is ready."""

    def frame_answered(self, frame: Frame) -> None:
        """No unit is ready: the round of immediate answers is over, or one that might have become ready gave up."""

    def frame_finished(self, frame: Frame) -> None:
        """The elected unit ran to its end."""

    def frame_rejected(self, frame: Frame) -> None:
        """No unit is ready, and all rejected their arguments; called instead of ``frame_answered``."""

    def frame_utility(self, frame: Frame) -> None:
        """The utility of the elected unit changed."""
