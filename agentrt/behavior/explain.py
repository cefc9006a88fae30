"""A memory as others see it: its view, its state as text, and why the deciders that are not active are not.

The text is for a tool-tip, a console, a test:

    *0:ROOT/0x2d5e207 (kGroup, kGroupPrioritizedList 0x0) time: 34.32 [(no group behavior)] idx: 1
      *1:GUARD/0x2d5e200 (kGroup, kGroupPrioritizedList 0x1) time: 34.32 [GUARD/0x2c20c25] (0x00000000 0) idx: 3
        *3:PATROL/0x2d5e203 (kBehavior 0x0) time: 4.51 [PATROL/0x2c20c23] (0x00000000 0)

Of each decider: a star if it is active, its number among its siblings, its name and number, its kind, policy and
flags, for how many seconds it has been active, its behavior, the number and size (in fields) of the behavior's block,
and the number of the active child. Of one that is not active, what is known without an agent. Two blanks for each
level.

Why a decider is not active is found out by looking, without calling anything of an author's. Its checks are asked
again, in the order in which deciding asks them, and the first that fails is the reason. All of them but one are plain
comparisons. A Decide is never called: that of a decider whose other checks pass did not accept when it was asked, else
the decider would be active. Whether it was asked at all follows from the policy of its group.

    not_asked        its group asks nobody while a child is active
    after            it comes after the active child in a prioritized list
    disabled         a function of its author raised
    time             its Decide was called too short a time ago
    decision_flags   the check of its decision flags fails
    stimuli_flags    the check of its stimuli flags fails
    target           of a reference: its target is active
    control_flags    somebody else keeps a control flag of it, or it waits for one
    refused          its Decide did not accept

What is found is true now. A tree that drives in each fourth tick, say, may have decided on something else.

Source: ours, `agent.explain()`; Spore, behavior trees: "S06: Preconditions & Stimuli"; "S11: Debugging", 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from agentrt.behavior.declare import PRIORITIZED_LIST
from agentrt.behavior.log import behavior_label, label
from agentrt.behavior.memory import SLACK, ActivationStage
from agentrt.behavior.stimuli import token_name
from agentrt.behavior.views import AskedView, DeciderView, StimulusView, TreeView

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.declare import Check
    from agentrt.behavior.memory import Activation, Memory

__all__ = ["asked", "print_state", "view_of"]


def print_state(memory: Memory, whole_tree: bool) -> str:
    """The state as text.

    Args:
        whole_tree: whether to show those that are not active, too.
    """
    if not whole_tree:
        return "\n".join(_line(at.node, _place(at), at, depth) for depth, at in enumerate(memory.path()))
    lines: list[str] = []
    stack: list[tuple[DeciderNode, int, Activation | None, int]] = []
    if memory.tree.nodes:
        stack.append((memory.tree.nodes[0], 0, memory.root, 0))
    while stack:
        node, place, at, depth = stack.pop()
        lines.append(_line(node, place, at, depth))
        for index in reversed(range(len(node.children))):
            active = at.child if at is not None and at.index == index else None
            stack.append((node.children[index], index, active, depth + 1))
    return "\n".join(lines)


def _place(at: Activation) -> int:
    return 0 if at.parent is None else at.parent.index


def _line(node: DeciderNode, place: int, at: Activation | None, depth: int) -> str:
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


def asked(memory: Memory) -> Iterator[AskedView]:
    """The deciders that are not active, of each active group in order; ROOT itself, if it is not active."""
    if memory.root is None:
        root = memory.tree.nodes[0]
        path = memory.state.path_of(root, None)
        yield AskedView(path, root.name, *_checked(memory, root, path))
    path = memory.name
    for at in memory.path():
        path = f"{path}/{at.node.name}"
        for index, node in enumerate(at.node.children):
            if at.child is None or index != at.index:
                where = f"{path}/{node.name}"
                yield AskedView(where, node.name, *_sibling(memory, at, index, node, where))


def _sibling(memory: Memory, at: Activation, index: int, node: DeciderNode, path: str) -> tuple[str, str]:
    active = at.child
    if active is not None:
        if at.node.policy is not PRIORITIZED_LIST:
            return "not_asked", f"nobody is asked while {active.node.name} is active"
        if index > at.index:
            return "after", f"it comes after {active.node.name}"
    return _checked(memory, node, path)


def _checked(memory: Memory, node: DeciderNode, path: str) -> tuple[str, str]:
    """What the checks of a decider come to, in the order of ``decide``."""
    if memory.state.is_disabled(node):
        return "disabled", "one of its functions raised"
    if node.timer >= 0:
        again = memory.timers[node.timer] + node.every
        if again > memory.time + SLACK and not _awaits_flags(memory, path):
            return "time", f"it is asked every {node.every:g} s at most, and again at {again:.2f} s"
    if node.decision is not None and not node.decision.holds(memory.decision_flags):
        return "decision_flags", f"its decision flags do not fit: {_unfit(node.decision, int(memory.decision_flags))}"
    if node.stimuli is not None and not node.stimuli.holds(memory.stimuli_flags):
        return "stimuli_flags", f"its stimuli do not fit: {_unfit(node.stimuli, int(memory.stimuli_flags))}"
    target = node.target
    if target is not None and any(at.node is target for at in memory.path()):
        return "target", f"{target.name}, to which it leads, is active"
    return _flags_or_decide(memory, node, path)


def _flags_or_decide(memory: Memory, node: DeciderNode, path: str) -> tuple[str, str]:
    refused = memory.state.refused(path)
    if refused is not None:
        waits = " and it waits" if _awaits_flags(memory, path) else ""
        return "control_flags", f"{refused[0]} is held by {refused[1]}{waits}"
    if node.delegates:
        return "refused", "none of its children accepts"
    if node.decide is None:
        return "refused", "its checks hold, but it was not activated since"
    return "refused", "its Decide does not accept"


def _awaits_flags(memory: Memory, path: str) -> bool:
    return memory.state.has_claims and any(at.path == path for at in memory.state.rare.waiting)


def _unfit(check: Check, word: int) -> str:
    """Which bits of a word do not pass a check."""
    wrong = (word ^ check.pattern) & check.mask
    missing, unwanted = wrong & check.pattern, wrong & ~check.pattern
    parts = [f"{check.words(missing)} has to be there"] if missing else []
    if unwanted:
        parts.append(f"{check.words(unwanted)} must not be there")
    for any_set, any_clear in check.parts:
        if not word & any_set and word & any_clear == any_clear:
            either = [f"one of {check.words(any_set)} has to be there"] if any_set else []
            if any_clear:
                either.append(f"one of {check.words(any_clear)} must not be there")
            parts.append(" or ".join(either))
    return ", ".join(parts)


def view_of(memory: Memory) -> TreeView:
    """The view of a memory."""
    return TreeView(
        name=memory.name,
        tree=memory.tree.name,
        path=tuple(_decider(at) for at in memory.path()),
        asked=tuple(asked(memory)),
        stimuli=tuple(StimulusView(token_name(one.token), one.remaining) for one in memory.perceived()),
        decision_flags=int(memory.decision_flags),
        stimuli_flags=int(memory.stimuli_flags),
        disabled=memory.disabled,
        waiting=tuple(at.path for at in memory.state.rare.waiting) if memory.state.has_claims else (),
        is_cleaning_up=memory.state.is_unwinding,
        print=print_state(memory, False),
    )


def _decider(at: Activation) -> DeciderView:
    node = at.node
    return DeciderView(
        name=node.name,
        path=at.path,
        kind=node.kind,
        policy="" if node.policy is None else node.policy.value,
        index=0 if at.parent is None else at.parent.index,
        behavior=None if node.behavior is None else node.behavior.name,
        since=at.since,
        flags=node.flags,
        is_waiting=at.stage is ActivationStage.ACTIVATING,
    )
