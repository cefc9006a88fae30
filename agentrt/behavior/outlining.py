"""The outline of a tree: all of its deciders as they were declared, for tools that show more than the active path.

A tree is a DAG, and an outline is a tree: a decider that stands at several places is there several times, each time
with another path. So there is a bound on how many are shown (``MOST_NODES``), and one on how deep: what would lie
below is left out, and the last one says so.

Source: seed 002, "S11: Debugging", 1: "either the active deciders or the entire tree".
"""

from __future__ import annotations

from agentrt.behavior.nodes import Node
from agentrt.body.model_views import Outline

__all__ = ["MOST_LEVELS", "MOST_NODES", "outline_of"]

MOST_NODES = 2000
MOST_LEVELS = 60


def outline_of(root: Node, name: str) -> Outline:
    """The outline of a tree.

    Args:
        root: the compiled ROOT.
        name: begins the paths: the memory's.
    """
    left = MOST_NODES - 1

    def outlined(node: Node, above: str, level: int) -> Outline:
        nonlocal left
        path = f"{above}/{node.name}"
        note = _note(node)
        left -= len(node.children)
        if node.children and (level >= MOST_LEVELS or left < 0):
            left += len(node.children)
            return Outline(path, node.name, node.kind, f"{note}; what lies below is left out")
        return Outline(path, node.name, node.kind, note, tuple(outlined(one, path, level + 1) for one in node.children))

    return outlined(root, name, 0)


def _note(node: Node) -> str:
    """What is to be known of a decider without any agent."""
    parts: list[str] = [] if node.policy is None else [node.policy.value]
    if node.behavior is not None:
        parts.append(f"behavior {node.behavior.name}")
    if node.target is not None:
        parts.append(f"leads to {node.target.name}")
    if node.timer >= 0:
        parts.append(f"every {node.every:g} s")
    for what, check in (("decision flags", node.decision), ("stimuli", node.stimuli)):
        if check is not None:
            parts.append(f"{what}: {check.text()}")
    if node.flags:
        parts.append(f"with {', '.join(node.flags)}")
    if node.delegates:
        parts.append("its children decide")
    return "; ".join(parts)
