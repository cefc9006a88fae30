"""How a compound sees the utilities of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame

__all__ = ["ChildUtilities"]


class ChildUtilities:
    """The utilities of a compound's steps, by activity name or by number from 1.

    A step without an elected action has utility 0.
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames

    def get(self, step: str | int, default: float = 0.0) -> float:
        """The utility of a step.

        Args:
            step: the activity (the first step that performs it), or the step's number from 1.
            default: what to return when there is no such step, or nothing is elected in it.
        """
        for frame in self._frames:
            if step in (frame.activity, frame.index):
                return default if frame.active is None else frame.active.utility
        return default

    def __getitem__(self, step: str | int) -> float:
        return self.get(step)
