"""Draw a behavior tree as a Mermaid diagram, and put that of Figure 1 into docs/tutorials/behavior.md.

The tree is the one of ``examples/08_behavior_tree.py``, so the page shows what the example runs. The diagram stands
between two marks, ``<!-- figure 1 -->`` and ``<!-- end -->``; the rest of the page is left alone. Run it after a change
of the example: ``python tools/behavior_diagram.py``. A test compares the page with what this script would write.

Deciders are drawn in the order of declaration, depth first, each once: equal trees give equal text. An edge carries the
place of the child in its group, because in a prioritized list the place is the priority.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from agentrt.behavior import BehaviorTree, GroupDecider, ReferenceDecider
from agentrt.behavior.declare import Decider
from marks import put

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "behavior.md"
EXAMPLE = ROOT / "examples" / "08_behavior_tree.py"


def diagram(tree: BehaviorTree) -> str:
    """Draw a tree: groups as boxes with their policies, behavior deciders with their behaviors, references dotted.

    Args:
        tree: an initialized tree.

    Returns:
        A fenced block, as it stands in the page.
    """
    nodes: list[str] = []
    edges: list[str] = []
    named = {one.name: one for one in _declared(tree.root)}
    for name, one in named.items():
        nodes.append(f"    {name}{_shape(one)}")
        if isinstance(one, GroupDecider):
            for place, child in enumerate(one.children):
                edges.append(f"    {name} -->|{place}| {child if isinstance(child, str) else child.name}")
        elif isinstance(one, ReferenceDecider):
            edges.append(f"    {name} -.-> {one.target if isinstance(one.target, str) else one.target.name}")
    return "\n".join(["```mermaid", "flowchart LR", *nodes, *edges, "```"])


def _declared(root: Decider) -> list[Decider]:
    """A decider and what is below it, in the order of declaration; a shared one more than once."""
    found = [root]
    for child in root.children if isinstance(root, GroupDecider) else ():
        if not isinstance(child, str):
            found += _declared(child)
    return found


def _shape(one: Decider) -> str:
    if isinstance(one, GroupDecider):
        own = f"<br/>{one.behavior.name}" if one.behavior else ""
        return f'[["{one.name}<br/>{one.policy.removeprefix("kGroup")}{own}"]]'
    if isinstance(one, ReferenceDecider):
        return f'>"{one.name}"]'
    assert one.behavior is not None
    own = "" if one.behavior.name == one.name else f"<br/>{one.behavior.name}"
    return f'("{one.name}{own}")'


def updated(page: str) -> str:
    """Put the diagram into a page.

    Args:
        page: its text.

    Returns:
        The text with a fresh diagram.

    Raises:
        ValueError: the page does not have the marks exactly once.
    """
    tree: BehaviorTree = runpy.run_path(str(EXAMPLE))["CREATURE"]
    return put(page, "diagram", "figure 1", diagram(tree) + "\n")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
