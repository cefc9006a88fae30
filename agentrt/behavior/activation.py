"""Activations: the deciders that are active on one agent, from ROOT down to a behavior.

The active path is a chain: each activation knows its parent and its active child. It is what the hooks of a behavior
are called with, it keeps their block, and it is who holds the control flags of its decider. The chain is all that a
tree keeps for an agent while nothing unusual happens; activations are made and dropped as deciders come and go.

What stage an activation is in:

    CANDIDATE   it was made to ask for control flags, and is not on the path
    WAITING     the same, while the ledger keeps its place
    GRANTED     the same, and the ledger gave it what it waits for
    ACTIVATING  on the path; the coroutine of its ``activate`` has not ended
    ACTIVE      on the path; its ``deactivate`` is due
    FAILED      on the path; its ``activate`` failed, and no ``deactivate`` is due
    ENDING      cut off the path, while coroutines clean up
    ENDED       gone

``index`` is the number of the active child. While there is no child, it is the number of one that failed and was taken
down already (the group has yet to redecide), or -1 (the group has yet to begin). ``mask`` has a bit for each child that
failed in this tick.

Source: seed 002, "S07: Memory & Blocks"; "S08: Behaviors".
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrt.behavior.compile import Node
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.stimuli import Stimuli
    from agentrt.behavior.walk import Work
    from agentrt.body.driver import Body
    from agentrt.body.flags import Holder
    from agentrt.kernel.rng import Stream

__all__ = ["Activation", "Extra", "Stage"]


class Stage(Enum):
    """What becomes of an activation; the module says what each means."""

    CANDIDATE = "candidate"
    WAITING = "waiting"
    GRANTED = "granted"
    ACTIVATING = "activating"
    ACTIVE = "active"
    FAILED = "failed"
    ENDING = "ending"
    ENDED = "ended"


class Extra:
    """What most activations never need."""

    __slots__ = ("block", "dblock", "mask", "order", "work")

    def __init__(self) -> None:
        self.block: Any = None
        self.dblock: Any = None  # what its Decide left for it
        self.mask: int = 0  # see the module
        self.order: list[int] | None = None  # of a group that shuffles: the numbers of its children
        self.work: Work | None = None


class Activation:
    """A decider that is active on one agent.

    Attributes:
        memory: the agent's memory of the tree.
        node: the decider.
        parent: the activation of the group that chose it; None for ROOT.
        child: the activation of the child that is active.
        index: see the module.
        since: game seconds at which it was activated.
        stage: see the module.
        extra: what most of them never need.

    Source: seed 002, "S07: Memory & Blocks".
    """

    __slots__ = ("child", "extra", "index", "memory", "node", "parent", "since", "stage")

    def __init__(self, memory: Memory, node: Node, parent: Activation | None) -> None:
        self.memory: Memory = memory
        self.node: Node = node
        self.parent: Activation | None = parent
        self.child: Activation | None = None
        self.index: int = -1
        self.since: float = 0.0
        self.stage: Stage = Stage.CANDIDATE
        self.extra: Extra | None = None

    # --- for hooks ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the decider."""
        return self.node.name

    @property
    def block(self) -> Any:
        """Its block; None if its behavior declares none."""
        return None if self.extra is None else self.extra.block

    @property
    def dblock(self) -> Any:
        """What its Decide left for it; None if the decider declares none."""
        return None if self.extra is None else self.extra.dblock

    @property
    def agent(self) -> Any:
        """The agent: any object."""
        return self.memory.agent

    @property
    def body(self) -> Body:
        """Whom the tree drives."""
        return self.memory.require_body()

    @property
    def stimuli(self) -> Stimuli:
        """What the agent perceives."""
        return self.memory.stimuli

    @property
    def random(self) -> Stream:
        """The agent's random numbers."""
        return self.memory.random

    @property
    def time(self) -> float:
        """Game seconds of this tick."""
        return self.memory.time

    @property
    def dt(self) -> float:
        """Seconds since the last tick."""
        return self.memory.dt

    @property
    def duration(self) -> float:
        """Seconds since it was activated."""
        return self.memory.time - self.since

    @property
    def behavior_flags(self) -> int:
        """The bits that the decider hands to its behavior."""
        return self.node.behavior_flags

    @property
    def path(self) -> str:
        """Its place: the name of the memory, then the deciders from ROOT on."""
        names = [self.node.name]
        at = self.parent
        while at is not None:
            names.append(at.node.name)
            at = at.parent
        names.append(self.memory.name)
        return "/".join(reversed(names))

    def perform(self, activity: str, **args: Any) -> Awaitable[Any]:
        """Perform an activity of the agent's planner, from within a coroutine; it shares the control flags held here.

        Args:
            activity: what to perform.
            args: its arguments.
        """
        return self.body.perform(activity, args, self)

    # --- as a holder of control flags ---------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger calls it."""
        return self.path

    @property
    def runs_for(self) -> Holder | None:
        """For whom it runs: its group, and ROOT for whoever the whole tree acts for."""
        return self.body.holder if self.parent is None else self.parent

    @property
    def precedence(self) -> int:
        """Whose claims win."""
        return self.memory.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether it gives way."""
        return self.node.interruptible

    def give_way(self, flag: str, claimant: str) -> None:
        """A claim of higher precedence wants one of its flags.

        Args:
            flag: which.
            claimant: who, by name.
        """
        self.memory.give_way(self, f"gives {flag} to {claimant}")

    def flags_granted(self) -> None:
        """The ledger serves its claim; the next tick goes on from here."""
        self.stage = Stage.GRANTED

    # --- what most never need -----------------------------------------------------------------------------------------

    @property
    def mask(self) -> int:
        """A bit for each child that failed in this tick."""
        return 0 if self.extra is None else self.extra.mask

    @property
    def order(self) -> list[int] | None:
        """Of a group that shuffles: the numbers of its children."""
        return None if self.extra is None else self.extra.order

    @property
    def work(self) -> Work | None:
        """Its coroutines; None if there never was one."""
        return None if self.extra is None else self.extra.work

    def leave(self, dblock: Any) -> None:
        """Its Decide left something for it.

        Args:
            dblock: that; None for nothing.
        """
        if dblock is not None or self.extra is not None:
            self.more().dblock = dblock

    def more(self) -> Extra:
        """Room for what most never need."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    # --- along the path -----------------------------------------------------------------------------------------------

    def downward(self) -> Iterator[Activation]:
        """Itself and what is active below."""
        at: Activation | None = self
        while at is not None:
            yield at
            at = at.child

    def upward(self) -> Iterator[Activation]:
        """Itself and what is above."""
        at: Activation | None = self
        while at is not None:
            yield at
            at = at.parent

    @property
    def depth(self) -> int:
        """How many deciders are above it."""
        return sum(1 for _ in self.upward()) - 1

    def __repr__(self) -> str:
        return f"<Activation {self.path}: {self.stage.value}>"
