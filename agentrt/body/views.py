"""What the views of all tick-driven models have in common, and the outline of a tree.

A driver's ``view()`` may be any dataclass. Those of the models of this library derive from ``ModelView``: they say what
is active by paths, why the rest is not, and can be written as JSON and read again, so that a tick of a recording is
explained by the same code as the present one.

An ``Outline`` is the static half: a whole tree as it was declared, with the same paths as the trace and as ``active``.
It is made once for each tree and shared; a view says by ``outline_id`` which one it belongs to.

Source: ours; Spore, behavior trees: "S11: Debugging", 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from agentrt.body.codec import View, told, view


class ModelView(View, ABC):
    """What one model is doing, as frozen, plain data. The base class of the views of this library's models."""

    __slots__ = ()

    model: ClassVar[str] = ""  # ``goals``, ``behavior`` or ``selection``

    @property
    def outline_id(self) -> str:
        """Which outline it belongs to; empty if the model has no tree."""
        return ""

    @abstractmethod
    def active(self) -> tuple[str, ...]:
        """The paths of what is active, as in the trace; of a tree from the root down."""

    @abstractmethod
    def doing(self) -> str:
        """What it does in a few words; empty if it does nothing."""

    @abstractmethod
    def lines(self) -> list[str]:
        """What it does, in words."""

    @abstractmethod
    def reasons(self) -> list[str]:
        """Why the rest of it does nothing, in words."""


@view()
class Outline(View):
    """A node of a tree as it was declared, with all below it."""

    path: str  # its place: the driver's name, then the nodes from the root on
    name: str
    kind: str  # ``kGroup``, ``kBehavior`` or ``kReference``; ``priority`` or ``leaf``
    note: str = told(missing="")  # what is to be known of it, in words: policy and checks, or condition and behavior
    children: tuple[Outline, ...] = told(default=(), sparse=True)  # the nodes below it, in order
