"""Make the state diagrams of docs/explanation/architecture.md from the tables in agentrt/activity.

Each diagram stands between two marks, ``<!-- states of a unit -->`` and ``<!-- end -->``; what is between them is
replaced, the rest of the page is left alone. Run it after a change of the tables: ``python tools/make_diagrams.py``. A
test compares the page with what this script would write.

Transitions are drawn in the order of the tables, so that equal tables give equal text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentrt.activity.states import FRAME_NAMES, FRAME_TABLE, IDLE, UNIT_NAMES, UNIT_TABLE
from agentrt.activity.tasks.group import TASK_TABLE
from marks import put

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "architecture.md"
_TASK_NAMES = tuple(TASK_TABLE)

DIAGRAMS: Mapping[str, tuple[Mapping[int, tuple[int, ...]], tuple[str, ...]]] = {
    "states of a unit": (UNIT_TABLE, UNIT_NAMES),
    "states of a frame": (FRAME_TABLE, FRAME_NAMES),
    "states of a task": (
        {_TASK_NAMES.index(state): tuple(map(_TASK_NAMES.index, nexts)) for state, nexts in TASK_TABLE.items()},
        _TASK_NAMES,
    ),
}


def diagram(table: Mapping[int, tuple[int, ...]], names: tuple[str, ...]) -> str:
    """Draw a table as a Mermaid state diagram.

    Args:
        table: each state, and the states that may follow it.
        names: the names of the states.

    Returns:
        A fenced block, as it stands in the page.
    """
    edges = [f"    [*] --> {names[IDLE]}"]
    edges += [f"    {names[state]} --> {names[following]}" for state, nexts in table.items() for following in nexts]
    return "\n".join(["```mermaid", "stateDiagram-v2", *edges, "```"])


def updated(page: str) -> str:
    """Put the diagrams into a page.

    Args:
        page: its text.

    Returns:
        The text with fresh diagrams.

    Raises:
        ValueError: the page does not have the marks of a diagram exactly once.
    """
    for title, (table, names) in DIAGRAMS.items():
        page = put(page, "diagram", title, diagram(table, names) + "\n")
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
