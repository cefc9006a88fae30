"""Nodes: the plan tree as an action may look at it.

A node is a view of one place: an activity, or an action that could perform it. Going up, activities and actions take
turns; above the root activity there is nothing. It is read-only and holds no state of its own, so that it always tells
what is true at this moment.

Source: seed 001, "AI contexts", `get_parent_node`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.states import FRAME_NAMES, UNIT_NAMES

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["Node"]


class Node:
    """One place of a plan: an activity, or an action that could perform it."""

    __slots__ = ("_frame", "_unit")

    def __init__(self, frame: Frame, unit: Unit | None = None) -> None:
        self._frame: Frame = frame
        self._unit: Unit | None = unit  # None for the activity itself

    @property
    def name(self) -> str:
        """The activity, or what the action calls itself."""
        return self._frame.activity if self._unit is None else self._unit.spec.name

    @property
    def kind(self) -> str:
        """``activity``; for an action ``leaf``, ``compound``, ``group`` or ``task``."""
        return "activity" if self._unit is None else self._unit.spec.kind

    @property
    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        return self._frame.path() if self._unit is None else self._unit.path()

    @property
    def state(self) -> str:
        """Its state in a word, as in snapshots."""
        return FRAME_NAMES[self._frame.state] if self._unit is None else UNIT_NAMES[self._unit.state]

    @property
    def utility(self) -> float:
        """That of the action; for an activity, that of its elected action, or 0 while none is elected."""
        unit = self._frame.active if self._unit is None else self._unit
        return 0.0 if unit is None else unit.utility

    def get_parent_node(self) -> Node | None:
        """The node above it: of an action, its activity; of an activity, the action that it is a part of.

        Returns:
            The node; None above the root activity.

        Source: seed 001, `get_parent_node`.
        """
        if self._unit is not None:
            return Node(self._frame)
        parent = self._frame.parent
        return None if parent is None else Node(parent.frame, parent)

    def __repr__(self) -> str:
        return f"<Node {self.path}: {self.kind}, {self.state}, utility {self.utility:g}>"
