"""Who has a gameplay: the agent, as strategies see it.

Strategies stand below the agent, which composes them with its other drivers; what they need of it is named here, and
no more. Tests that need no runtime give them something smaller.

Source: design section 1, the floors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentrt.activity.action import Action
    from agentrt.activity.current import StateReader
    from agentrt.activity.expected import CurrentFields
    from agentrt.activity.planner import Planner
    from agentrt.activity.search import SearchWork
    from agentrt.body.flags import FlagLedger
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.signals import Signal

__all__ = ["GameplayOwner"]


class GameplayOwner(Protocol):
    """The agent, as its gameplay sees it."""

    name: str
    entity: Any
    expected: type[CurrentFields] | None
    planner: Planner | None
    flags: FlagLedger

    @property
    def kernel(self) -> Kernel | None:
        """Who keeps its time; None while it is in no runtime."""
        ...

    @property
    def search(self) -> SearchWork | None:
        """The think budget that it shares with all others; None outside a runtime."""
        ...

    @property
    def read_state(self) -> StateReader:
        """How to read a field of the entity's state."""
        ...

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A hook of a strategy raised: report it once."""

    def require_life(self, activity: str) -> Planner:
        """Its planner; raises if it is in no runtime."""
        ...

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake of its runtime; from any thread."""

    def signal(self, name: str) -> Signal:
        """A signal of the entity."""
        ...

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, until the function that ``connect`` is given is called; from any thread."""

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have its plan know how to perform the activity of a dependency; returns how to undo that."""
        ...
