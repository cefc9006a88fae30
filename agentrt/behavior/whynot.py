"""Why the deciders that are not active are not: found out by looking, without calling anything of an author's.

The checks of a decider are asked again, in the order in which deciding asks them, and the first that fails is the
reason. All of them but one are plain comparisons. A Decide is never called: that of a decider whose other checks pass
did not accept when it was asked, else the decider would be active. Whether it was asked at all follows from the policy
of its group.

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

Source: design section 7, `agent.explain()`; seed 002, "S06: Preconditions & Stimuli".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentrt.behavior.asking import SLACK
from agentrt.behavior.deciders import PRIORITIZED_LIST
from agentrt.body.reading import Fields

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.checks import Check
    from agentrt.behavior.nodes import Node
    from agentrt.behavior.state import TreeState

__all__ = ["AskedView", "asked"]


@dataclass(frozen=True, slots=True)
class AskedView:
    """A decider that is not active, though its group is.

    Attributes:
        path: its place.
        name: its name.
        verdict: why not, as one of the words above.
        reason: the same in words.
    """

    path: str
    name: str
    verdict: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {"path": self.path, "name": self.name, "verdict": self.verdict, "reason": self.reason}

    @classmethod
    def read(cls, fields: Fields) -> AskedView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(fields.text("path"), fields.text("name"), fields.text("verdict"), fields.text("reason"))


def asked(memory: TreeState) -> Iterator[AskedView]:
    """The deciders that are not active, of each active group in order; ROOT itself, if it is not active.

    Args:
        memory: of the agent.
    """
    if memory.root is None:
        root = memory.nodes[0]
        path = memory.path_of(root, None)
        yield AskedView(path, root.name, *_checked(memory, root, path))
    path = memory.name
    for at in memory.path():
        path = f"{path}/{at.node.name}"
        for index, node in enumerate(at.node.children):
            if at.child is None or index != at.index:
                where = f"{path}/{node.name}"
                yield AskedView(where, node.name, *_sibling(memory, at, index, node, where))


def _sibling(memory: TreeState, at: Activation, index: int, node: Node, path: str) -> tuple[str, str]:
    active = at.child
    if active is not None:
        if at.node.policy is not PRIORITIZED_LIST:
            return "not_asked", f"nobody is asked while {active.node.name} is active"
        if index > at.index:
            return "after", f"it comes after {active.node.name}"
    return _checked(memory, node, path)


def _checked(memory: TreeState, node: Node, path: str) -> tuple[str, str]:
    """What the checks of a decider come to, in the order of ``asking``."""
    if memory.is_disabled(node):
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


def _flags_or_decide(memory: TreeState, node: Node, path: str) -> tuple[str, str]:
    refused = memory.refused(path)
    if refused is not None:
        waits = " and it waits" if _awaits_flags(memory, path) else ""
        return "control_flags", f"{refused[0]} is held by {refused[1]}{waits}"
    if node.delegates:
        return "refused", "none of its children accepts"
    if node.decide is None:
        return "refused", "its checks hold, but it was not activated since"
    return "refused", "its Decide does not accept"


def _awaits_flags(memory: TreeState, path: str) -> bool:
    return memory.has_claims and any(at.path == path for at in memory.rare.waiting)


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
