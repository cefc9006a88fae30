"""What a compound makes of its steps: their utilities as it sees them, the state that it expects, its think output.

Source: seed 001, "Compound action example", "Step declarations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from agentrt.activity.fields import ThinkOutput
from agentrt.errors import did_you_mean
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.compound import CompoundUnit
    from agentrt.activity.current import Current
    from agentrt.activity.frame import Frame

__all__ = ["ChildUtilities", "expected_after", "think_output"]


class ChildUtilities:
    """The utilities of a compound's steps, by activity name or by number from 1.

    A step without an elected action has utility 0. ``child_utilities[step]`` raises ``LookupError`` if there is no such
    step: a misspelt one would count as 0 for ever, and nobody would notice. ``get`` asks without obligation.
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
            if step == frame.activity or (step == frame.index and step is not True):
                return default if frame.active is None else frame.active.utility
        return default

    def __getitem__(self, step: str | int) -> float:
        for frame in self._frames:
            if step == frame.activity or (step == frame.index and step is not True):
                return 0.0 if frame.active is None else frame.active.utility
        activities = [frame.activity for frame in self._frames]
        hint = did_you_mean(step, activities) if isinstance(step, str) else ""
        raise LookupError(f"child_utilities[{repr_of(step, 80)}] names no step.{hint} It has: {self._known()}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)  # what Python asks of anything
        raise AttributeError(f"child_utilities.{name}: ask for a step by its activity, {self._known()}")

    def _known(self) -> str:
        return ", ".join(f"{frame.activity!r} ({frame.index})" for frame in self._frames) or "no step that has thought"


def expected_after(frames: list[Frame], own: Current | None) -> Current | None:
    """The state that is expected after the steps of a compound.

    Args:
        frames: the steps; those without an elected action change nothing.
        own: the state that is expected before the first.

    Returns:
        The topmost layer; None while nobody touched it.
    """
    for frame in reversed(frames):
        if frame.active is not None:
            return frame.active.expected()
    return own


def think_output(unit: CompoundUnit) -> Any:
    """What a compound gives when all its steps are ready: the fields that it declares, else its arguments.

    Args:
        unit: the compound.

    Raises:
        Exception: what a placeholder raised.
    """
    declared = unit.spec.output
    if declared is None:
        return unit.frame.args
    return ThinkOutput.open(
        {field: constant if resolve is None else resolve(unit) for field, resolve, constant in declared}
    )
