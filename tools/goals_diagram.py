"""Make the pictures of docs/tutorials/goals.md: the states of a goal, and who takes what from whom in an example.

Each picture stands between two marks, ``<!-- states of a goal -->`` and ``<!-- end -->``; what is between them is
replaced, the rest of the page is left alone. Run it after a change: ``python tools/goals_diagram.py``. A test compares
the page with what this script would write.
"""

from __future__ import annotations

import contextlib
import io
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

from agentrt.goals import GoalSelector
from agentrt.goals.selector import IDLE, STATE_NAMES, STATE_TABLE
from marks import put

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "goals.md"
EXAMPLE = ROOT / "examples" / "07_goal_selector.py"


def states() -> str:
    """The states of a goal as a Mermaid state diagram, from the table that the library checks."""
    edges = [f"    [*] --> {STATE_NAMES[IDLE]}"]
    edges += [
        f"    {STATE_NAMES[state]} --> {STATE_NAMES[after]}" for state, nexts in STATE_TABLE.items() for after in nexts
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", *edges, "```"])


def replacements(selector: GoalSelector) -> str:
    """Which goal of a selector takes flags from which, as a Mermaid flowchart.

    Args:
        selector: its goals, in the order in which they were added.

    Returns:
        A fenced block: a box for each goal, and an arrow to each one that it replaces, with the flags that it takes.
    """
    goals = selector.available_goals
    boxes = [
        f'    {number}["{goal.name}<br/>priority {goal.priority}<br/>{", ".join(goal.flags) or "no flags"}"]'
        for number, goal in enumerate(goals)
    ]
    arrows = []
    for number, goal in enumerate(goals):
        for other_number, other in enumerate(goals):
            shared = [flag for flag in goal.flags if flag in other.flags]
            if shared and other.can_be_replaced_by(goal):
                arrows.append(f"    {number} -- {', '.join(shared)} --> {other_number}")
    return "\n".join(["```mermaid", "flowchart LR", *boxes, *arrows, "```"])


def of_the_example() -> str:
    """``replacements`` of the selector in the numbered example."""
    with contextlib.redirect_stdout(io.StringIO()):
        selector: GoalSelector = runpy.run_path(str(EXAMPLE))["goals"]
    return replacements(selector)


PICTURES: Mapping[str, Callable[[], str]] = {
    "states of a goal": states,
    "the wolf's goals": of_the_example,
}


def updated(page: str) -> str:
    """Put the pictures into a page.

    Args:
        page: its text.

    Returns:
        The text with fresh pictures.

    Raises:
        ValueError: the page does not have the marks of a picture exactly once.
    """
    for title, draw in PICTURES.items():
        page = put(page, "picture", title, draw() + "\n")
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
