"""The state of a tree on one agent, as text: for a tool-tip, a console, a test.

    *0:ROOT/0x2d5e207 (kGroup, kGroupPrioritizedList 0x0) time: 34.32 [(no group behavior)] idx: 1
      *1:GUARD/0x2d5e200 (kGroup, kGroupPrioritizedList 0x1) time: 34.32 [GUARD/0x2c20c25] (0x00000000 0) idx: 3
        *3:PATROL/0x2d5e203 (kBehavior 0x0) time: 4.51 [PATROL/0x2c20c23] (0x00000000 0)

Of each decider: a star if it is active, its number among its siblings, its name and number, its kind, policy and
flags, for how many seconds it has been active, its behavior, the number and size (in fields) of the behavior's block,
and the number of the active child. Of one that is not active, what is known without an agent. Two blanks for each
level.

Source: seed 002, "S11: Debugging", 1.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from agentrt.behavior.debugging import behavior_label, label

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.nodes import Node
    from agentrt.behavior.state import TreeState

__all__ = ["print_state"]


def print_state(memory: TreeState, whole_tree: bool) -> str:
    """The state as text.

    Args:
        memory: of the agent.
        whole_tree: whether to show those that are not active, too.
    """
    if not whole_tree:
        return "\n".join(_line(at.node, _place(at), at, depth) for depth, at in enumerate(memory.path()))
    lines: list[str] = []
    stack: list[tuple[Node, int, Activation | None, int]] = []
    if memory.nodes:
        stack.append((memory.nodes[0], 0, memory.root, 0))
    while stack:
        node, place, at, depth = stack.pop()
        lines.append(_line(node, place, at, depth))
        for index in reversed(range(len(node.children))):
            active = at.child if at is not None and at.index == index else None
            stack.append((node.children[index], index, active, depth + 1))
    return "\n".join(lines)


def _place(at: Activation) -> int:
    return 0 if at.parent is None else at.parent.index


def _line(node: Node, place: int, at: Activation | None, depth: int) -> str:
    kind = node.kind if node.policy is None else f"{node.kind}, {node.policy}"
    star = " " if at is None else "*"
    parts = [f"{'  ' * depth}{star}{place}:{label(node)} ({kind} {node.decider_flags:#x})"]
    if at is not None:
        parts.append(f"time: {at.duration:.2f}")
    if node.behavior is not None:
        parts.append(f"[{behavior_label(node)}]")
        if at is not None:
            parts.append(f"(0x{node.block_id:08x} {_size(at.block)})")
    elif node.target is not None:
        parts.append(f"[-> {label(node.target)}]")
    else:
        parts.append("[(no group behavior)]")
    if at is not None and node.children:
        parts.append(f"idx: {at.index if at.child is not None else -1}")
    return " ".join(parts)


def _size(block: Any) -> int:
    """How many fields a block has."""
    if block is None:
        return 0
    if is_dataclass(block):
        return len(fields(block))
    return len(getattr(block, "__dict__", ())) + len(getattr(type(block), "__slots__", ()))
