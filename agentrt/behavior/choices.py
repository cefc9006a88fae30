"""Choices: what asking a decider came to, when it accepts.

Usually one newcomer, to be activated below the group that asked. There are several when a group was asked that
delegates its decision to its children (the group, then the child that it would choose), and for a jump (all that is on
the way from the active path to the target); then ``base`` may be another activation than the one that asked.

Source: seed 002, "S04: How Deciders Decide", 3; note 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation

__all__ = ["Choice", "Newcomer"]


class Newcomer(NamedTuple):
    """Somebody who is to be activated.

    Attributes:
        place: its number among the children of its parent.
        at: the activation.
    """

    place: int
    at: Activation


class Choice:
    """Who is to be activated.

    Attributes:
        value: what Decide answered.
        index: the number of the child that was asked, in the group that asked.
        base: whose child the first newcomer becomes; None for ROOT.
        newcomers: from the top down.
    """

    __slots__ = ("base", "index", "newcomers", "value")

    def __init__(self, value: float, index: int, base: Activation | None, newcomers: list[Newcomer]) -> None:
        self.index: int = index
        self.value: float = value
        self.base: Activation | None = base
        self.newcomers: list[Newcomer] = newcomers

    def and_then(self, inner: Choice, value: float) -> Choice:
        """This choice of a group, together with what the group would choose.

        Args:
            inner: that. If it is a jump, it takes the place of the whole choice.
            value: what counts as the answer.
        """
        if inner.base is not self.newcomers[-1].at:
            inner.value = value
            inner.index = self.index
            return inner
        return Choice(value, self.index, self.base, self.newcomers + inner.newcomers)
