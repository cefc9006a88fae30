"""Draw the tree of docs/tutorials/selection.md from the files in examples/selection.

The picture stands between two marks, ``<!-- the tree of the Grunt -->`` and ``<!-- end -->``; what is between them is
replaced, the rest of the page is left alone. Run it after a change of the files: ``python
tools/selection_diagram.py``. A test compares the page with what this script would write.
"""

from __future__ import annotations

from pathlib import Path

from agentrt.selection import SelectionLibrary
from marks import put

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "selection.md"
TREES = ROOT / "examples" / "selection"


def updated(page: str) -> str:
    """Put the picture into a page.

    Args:
        page: its text.

    Returns:
        The text with a fresh picture.

    Raises:
        ValueError: the page does not have the marks exactly once.
    """
    diagram = SelectionLibrary.load(TREES)["Grunt"].diagram()
    return put(page, "picture", "the tree of the Grunt", f"```mermaid\n{diagram}\n```\n")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
