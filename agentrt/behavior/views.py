"""What a tree does on one agent, as plain values: for snapshots, the inspector, and whoever asks why.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentrt.behavior.stimuli import token_name

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.state import TreeState

__all__ = ["DeciderView", "StimulusView", "TreeView", "view_of"]


@dataclass(frozen=True, slots=True)
class DeciderView:
    """A decider that is active.

    Attributes:
        name: its name.
        kind: ``kGroup`` or ``kBehavior``.
        policy: of a group; an empty string for a behavior decider.
        index: its number among its siblings.
        behavior: the name of its behavior, or None.
        since: game seconds at which it was activated.
        flags: the control flags that it holds or shares.
        is_waiting: whether a coroutine of its ``activate`` has not ended.
    """

    name: str
    kind: str
    policy: str
    index: int
    behavior: str | None
    since: float
    flags: tuple[str, ...]
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class StimulusView:
    """A stimulus that is there.

    Attributes:
        token: its name.
        remaining: seconds until it is gone; None if it stays.
    """

    token: str
    remaining: float | None


@dataclass(frozen=True, slots=True)
class TreeView:
    """What a tree does on one agent.

    Attributes:
        name: of the memory.
        tree: of the tree.
        path: the active deciders, from ROOT down.
        stimuli: in the order in which they came.
        decision_flags: the word of the last tick.
        disabled: the paths at which deciders were disabled for this agent.
        waiting: the paths of those that wait for control flags.
        is_cleaning_up: whether coroutines of what was deactivated have not ended.
    """

    name: str
    tree: str
    path: tuple[DeciderView, ...]
    stimuli: tuple[StimulusView, ...]
    decision_flags: int
    disabled: tuple[str, ...]
    waiting: tuple[str, ...]
    is_cleaning_up: bool

    def lines(self) -> list[str]:
        """The view as text: a line for each active decider, indented, then what else there is to say."""
        lines = ["cleaning up"] if self.is_cleaning_up else []
        for depth, one in enumerate(self.path):
            text = f"{'  ' * depth}{one.name}"
            if one.behavior is not None:
                text += f" [{one.behavior}]"
            if one.is_waiting:
                text += ", activating"
            if one.flags:
                text += f", with {', '.join(one.flags)}"
            lines.append(text)
        for stimulus in self.stimuli:
            left = "" if stimulus.remaining is None else f" for {stimulus.remaining:.2f} s"
            lines.append(f"perceives {stimulus.token}{left}")
        lines += [f"waits for control flags: {path}" for path in self.waiting]
        lines += [f"disabled: {path}" for path in self.disabled]
        return lines or ["not active"]


def view_of(memory: TreeState) -> TreeView:
    """The view of a memory.

    Args:
        memory: the memory.
    """
    return TreeView(
        name=memory.name,
        tree=memory.tree.name,
        path=tuple(_decider(at) for at in memory.path()),
        stimuli=tuple(StimulusView(token_name(one.token), one.remaining) for one in memory.perceived()),
        decision_flags=int(memory.decision_flags),
        disabled=memory.disabled,
        waiting=tuple(at.path for at in memory.rare.waiting) if memory.has_claims else (),
        is_cleaning_up=memory.is_unwinding,
    )


def _decider(at: Activation) -> DeciderView:
    node = at.node
    return DeciderView(
        name=node.name,
        kind=node.kind,
        policy="" if node.policy is None else node.policy.value,
        index=0 if at.parent is None else at.parent.index,
        behavior=None if node.behavior is None else node.behavior.name,
        since=at.since,
        flags=node.flags,
        is_waiting=at.stage.value == "activating",
    )
