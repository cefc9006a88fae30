"""Nodes: deciders as the tree runs them, compiled once and shared by all agents.

A node holds what a tick looks at, resolved as far as it can be before any agent is there: hooks without a look-up,
checks as tuples, children as nodes, the children that are of higher priority than each child. Two fields are there for
the steady path alone:

    ask    the Decide, if asking means calling it and nothing else (no precondition, no control flag, no DBlock)
    beat   what is called in each tick while the decider is active: the tick of its behavior, or, if coroutines are
           involved, the function that looks after them; None if there is nothing to call

A node is never changed after the tree was initialized.

Source: seed 002, "S10: Performance"; "S02: Design Principles", 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrt.behavior.behaviors import Behavior
    from agentrt.behavior.checks import Check
    from agentrt.behavior.deciders import GroupPolicy

__all__ = ["CALL_DECIDE_ON_REDECIDE", "DELEGATE_DECIDE_TO_CHILDREN", "Node"]

CALL_DECIDE_ON_REDECIDE = 0x1
DELEGATE_DECIDE_TO_CHILDREN = 0x2


class Node:
    """A compiled decider.

    Attributes:
        number: its place in the order of declaration, depth first; ROOT is 0.
        name: as declared.
        id: its number in logs.
        kind: ``kGroup``, ``kBehavior`` or ``kReference``.
        decider_flags: the word of its flags in logs.
        policy: of a group.
        children: of a group.
        higher: for each child, the children that are asked in each tick while it is active; ends with an empty tuple,
            for a group without an active child.
        decide: its Decide.
        ask: see above.
        dblock: the type of its DBlock.
        timer: the number of its timer, or -1.
        every: seconds between two calls of Decide.
        decision: the check of the decision flags.
        stimuli: the check of the stimuli flags.
        flags: control flags.
        interruptible: whether it gives way.
        calls_decide_on_redecide: as declared.
        delegates: as declared.
        behavior: its behavior.
        behavior_flags: bits for it.
        behavior_id: its number in logs.
        block: the type of its block.
        block_id: the number of that type in logs; 0 without one.
        activate: hook.
        tick: hook.
        deactivate: hook.
        run: hook.
        is_async: which of activate, tick and deactivate are coroutine functions.
        beat: see above.
        target: of a reference.
        way: of a reference: the children to take from ROOT down to the target, as pairs of a number and a node.
    """

    __slots__ = (
        "activate",
        "ask",
        "beat",
        "behavior",
        "behavior_flags",
        "behavior_id",
        "block",
        "block_id",
        "calls_decide_on_redecide",
        "children",
        "dblock",
        "deactivate",
        "decide",
        "decider_flags",
        "decision",
        "delegates",
        "every",
        "flags",
        "higher",
        "id",
        "interruptible",
        "is_async",
        "kind",
        "name",
        "number",
        "policy",
        "run",
        "stimuli",
        "target",
        "tick",
        "timer",
        "way",
    )

    def __init__(self, number: int, name: str, kind: str, id: int) -> None:  # noqa: A002 - the word of the log
        self.number: int = number
        self.name: str = name
        self.kind: str = kind
        self.id: int = id
        self.decider_flags: int = 0
        self.policy: GroupPolicy | None = None
        self.children: tuple[Node, ...] = ()
        self.higher: tuple[tuple[Node, ...], ...] = ((),)
        self.decide: Callable[..., float] | None = None
        self.ask: Callable[[Any], float] | None = None
        self.dblock: Callable[[], Any] | None = None
        self.timer: int = -1
        self.every: float = 0.0
        self.decision: Check | None = None
        self.stimuli: Check | None = None
        self.flags: tuple[str, ...] = ()
        self.interruptible: bool = True
        self.calls_decide_on_redecide: bool = False
        self.delegates: bool = False
        self.behavior: Behavior | None = None
        self.behavior_flags: int = 0
        self.behavior_id: int = 0
        self.block: Callable[[], Any] | None = None
        self.block_id: int = 0
        self.activate: Callable[[Any], Any] | None = None
        self.tick: Callable[[Any], Any] | None = None
        self.deactivate: Callable[[Any], Any] | None = None
        self.run: Callable[[Any], Any] | None = None
        self.is_async: frozenset[str] = frozenset()
        self.beat: Callable[[Any], Any] | None = None
        self.target: Node | None = None
        self.way: tuple[tuple[int, Node], ...] = ()

    def __repr__(self) -> str:
        return f"<Node {self.name}/{self.id:#x}>"
