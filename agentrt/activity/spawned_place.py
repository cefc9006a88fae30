"""The place of a spawned frame in the plan.

Several of one activity may hang below one unit, so each has a label of its own, given by its owner. Who performs it may
be chosen beforehand, and an abort below it may be the owner's concern alone (see ``catching``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.frame import Frame

if TYPE_CHECKING:
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.spec import ActionSpec
    from agentrt.activity.unit import Unit

__all__ = ["SpawnedPlace"]


class SpawnedPlace(Frame):
    """A frame that an action spawned.

    Args:
        owner: who manages it.
        unit: below which action it hangs.
        activity: what is to be performed.
        chosen: the one action that is to perform it; None for whatever the agent knows.
        catches: whether the owner hears of an abort below it, instead of the whole plan.

    Attributes:
        label: what paths call it.
    """

    __slots__ = ("catcher", "chosen", "label")

    def __init__(
        self, owner: SpawnedFrame, unit: Unit, activity: str, chosen: ActionSpec | None, *, catches: bool
    ) -> None:
        super().__init__(unit.frame.execution, owner, unit, activity, 0, is_bound=False)
        self.label: str = activity
        self.chosen: tuple[ActionSpec, ...] | None = None if chosen is None else (chosen,)
        self.catcher: SpawnedFrame | None = owner if catches else None

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        assert self.parent is not None
        return f"{self.parent.path()}/{self.label}"
