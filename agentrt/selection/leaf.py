"""Leaf behaviors: what an agent does while a leaf is selected.

A behavior is written as a class, and each callback is given the agent's own state of the tree as ``ai``, through which
it sees its entity and sets variables. The same behavior may serve any number of trees and agents: an *instance* that is
registered is shared by all of them, a *class* is made anew whenever the behavior begins, for what has to be remembered
while it lasts.

``constructor`` and the signals' methods may be coroutines, and ``run`` is one: each is a routine of its own, cancelled
before the destructor. The destructor is a plain function: what follows begins in the same moment.

A signal finds its method by name, so names of methods that no signal should reach begin with ``_``.

Source: seed 004, "Behavior Selection Tree Evaluation", constructor, destructor, ``OnSoundHeard``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.errors import DefinitionError

if TYPE_CHECKING:
    from agentrt.selection.state import SelectionState

__all__ = ["BehaviorSource", "Behaviors", "LeafBehavior", "made"]


class LeafBehavior:
    """What an agent does while a leaf is selected. All callbacks do nothing by default.

    Attributes:
        flags: the control flags that it needs; it is selected only when it can have all of them.
        is_interruptible: whether it leaves when a claim of higher precedence wants one of its flags.
        signals: the names of the signals for which the class has a method; made when the class is.

    Raises:
        DefinitionError: the destructor of a class is a coroutine, or its ``run`` is none.

    Source: seed 004, "Behavior Selection Tree Evaluation".
    """

    flags: Collection[str] = ()
    is_interruptible: bool = True
    signals: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if inspect.iscoroutinefunction(cls.destructor):
            raise DefinitionError(
                cls.__qualname__,
                "its destructor is a coroutine, and the next behavior does not wait for it.",
                "Make it a plain function; clean up what takes time in a 'finally' of 'run'.",
            )
        if not inspect.iscoroutinefunction(cls.run):
            raise DefinitionError(cls.__qualname__, "its 'run' is no coroutine.", "Write 'async def run(self, ai)'.")
        taken = dir(LeafBehavior)
        cls.signals = frozenset(
            name
            for name in dir(cls)
            if not name.startswith("_") and name not in taken and callable(getattr(cls, name, None))
        )

    def constructor(self, ai: SelectionState) -> Any:
        """The behavior begins. May be a coroutine; the behavior has begun when it has returned.

        Args:
            ai: the agent's state of the tree.
        """

    def destructor(self, ai: SelectionState) -> None:
        """The behavior ends. Called once for each constructor that returned.

        Args:
            ai: the agent's state of the tree.
        """

    async def run(self, ai: SelectionState) -> None:
        """What it does meanwhile; begins after the constructor, in the same tick. It may return; the leaf stays.

        Args:
            ai: the agent's state of the tree.
        """

    def on_signal(self, ai: SelectionState, name: str, data: Mapping[str, Any]) -> Any:
        """A signal came while the behavior is current. By default the method with the signal's name is called.

        May be a coroutine, and so may that method.

        Args:
            ai: the agent's state of the tree.
            name: of the signal.
            data: what was sent with it.

        Returns:
            Nothing, or a coroutine.
        """
        return getattr(self, name)(ai, **data) if name in self.signals else None


BehaviorSource = LeafBehavior | Callable[[], LeafBehavior]
"""An instance, which is shared; or a class or factory, called whenever the behavior begins."""

Behaviors = Mapping[str, BehaviorSource]
"""Name of a behavior -> what it is."""


def made(factory: Callable[[], object]) -> LeafBehavior:
    """The behavior that begins now.

    Raises:
        DefinitionError: what it made is no behavior.
    """
    behavior = factory()
    if not isinstance(behavior, LeafBehavior):
        name = getattr(factory, "__qualname__", repr(factory))
        raise DefinitionError(
            name, f"it made a {type(behavior).__name__}.", "Make a behavior: derive from LeafBehavior."
        )
    return behavior
