"""A selection tree as a picture, made of the program that is evaluated: a Mermaid flowchart, or an outline for tools.

Nodes are numbered in the order of the file, so that equal programs give equal text. An arrow carries the condition that
leads along it; groups are boxes, leaves are rounded and say what they select.

Source: seed 004, "The Selection Tree".
"""

from __future__ import annotations

from agentrt.body.model_views import Outline
from agentrt.selection.program import Node, Program

__all__ = ["mermaid", "outline_of"]


def mermaid(program: Program, current: str = "") -> str:
    """Draw a program.

    Args:
        program: the program.
        current: the path of a leaf that is marked; empty for none.

    Returns:
        The text of the flowchart, without a fence.
    """
    lines = ["flowchart TD"]
    numbers: dict[Node, int] = {}
    for number, node in enumerate(program.nodes):
        numbers[node] = number
        lines.append(f"    n{number}{_shape(node)}")
        condition = f"|{_quoted(node.condition)}|" if node.condition else ""
        if node.above is not None:
            lines.append(f"    n{numbers[node.above]} -->{condition} n{number}")
        if current and node.behavior is not None and node.path == current:
            lines.append(f"    style n{number} stroke-width:4px")
    return "\n".join(lines)


def _shape(node: Node) -> str:
    if node.behavior is None:
        return f"[{_quoted(node.name)}]"
    same = node.name == node.behavior
    return f"([{_quoted(node.name if same else f'{node.name}: {node.behavior}')}])"


def _quoted(text: str) -> str:
    for mark, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("\n", " "), ("`", "#96;")):
        text = text.replace(mark, entity)
    return f'"{text}"'


def outline_of(program: Program, name: str) -> Outline:
    """The outline of a program.

    Args:
        program: the program.
        name: begins the paths: that of the state.
    """
    below: dict[Node, list[Outline]] = {}
    root = Outline(name, program.name, "priority", "")
    for node in reversed(program.nodes):  # children stand behind their parents in the file
        kind = "priority" if node.behavior is None else "leaf"
        parts = [f"if {node.condition}"] if node.condition else []
        if node.behavior is not None:
            parts.append(f"selects {node.behavior}")
        children = tuple(reversed(below.pop(node, [])))
        root = Outline(f"{name}/{node.path}", node.name, kind, ", ".join(parts), children)
        if node.above is not None:
            below.setdefault(node.above, []).append(root)
    return root
