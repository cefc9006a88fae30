"""What a memory seldom needs: made when it is needed, so that an idle agent does not pay for it.

Source: design section 9 (memory of an idle agent).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.choices import Choice
    from agentrt.behavior.unwinding import Unwinding
    from agentrt.behavior.walking import Walk
    from agentrt.body.driver import Routine
    from agentrt.kernel.rng import Stream

__all__ = ["Rare"]


class Rare:
    """What a memory seldom needs.

    Attributes:
        delegated: what the children of a group answered that delegated its Decide to them: an activation of the group,
            and whom it would choose.
        redeciding: the group whose Decide is called because a child failed.
        stream: its random numbers.
        update_flags: computes the decision flags in each tick, when the tree drives an agent.
        disabled: the deciders that are out for this agent: their numbers, with the path at which each raised.
        refused: for whom a control flag is kept by somebody foreign: its path, with the flag and the holder.
        waiting: who waits for control flags, or was granted them since.
        renewed: those of them who were asked in this tick.
        is_settling: whether what had to wait for the end of a tick is being done.
        giving: who is to give way at the end of the tick, with the reason.
        left: the entity of the body that it left last, which is not its agent any more when it joins another one.
        leaving: that the memory is to leave its body at the end of the tick: the reason, and whom to tell.
        unwinding: what is being taken down while coroutines clean up.
        walk: the walk that waits for it.
        routines: the coroutines that have not ended, in the order in which they began.
    """

    __slots__ = (
        "delegated",
        "disabled",
        "giving",
        "is_settling",
        "leaving",
        "left",
        "redeciding",
        "refused",
        "renewed",
        "routines",
        "stream",
        "unwinding",
        "update_flags",
        "waiting",
        "walk",
    )

    def __init__(self) -> None:
        self.delegated: tuple[Activation, Choice | None] | None = None
        self.redeciding: Activation | None = None
        self.stream: Stream | None = None
        self.update_flags: Callable[[Any], int] | None = None
        self.disabled: dict[int, str] = {}
        self.refused: dict[str, tuple[str, str]] = {}
        self.waiting: list[Activation] = []
        self.renewed: list[Activation] = []
        self.is_settling: bool = False
        self.giving: list[tuple[Activation, str]] = []
        self.leaving: tuple[str, Callable[[], object]] | None = None
        self.left: Any = None
        self.unwinding: Unwinding | None = None
        self.walk: Walk | None = None
        self.routines: list[Routine] = []

    @property
    def is_quiet(self) -> bool:
        """Whether nothing in it keeps a tick from being an ordinary one."""
        return not (self.disabled or self.waiting or self.giving or self.leaving or self.unwinding)
