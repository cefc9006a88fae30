"""Draw the tree of docs/selection.md from the files in examples/selection.

The picture stands between two marks, ``<!-- the tree of the Grunt -->`` and ``<!-- end -->``; what is between them is
replaced, the rest of the page is left alone. Run it after a change of the files: ``python
tools/selection_diagram.py``. A test compares the page with what this script would write.
"""

from __future__ import annotations

from pathlib import Path

from agentrt.selection import SelectionLibrary

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "selection.md"
TREES = ROOT / "examples" / "selection"
BEGIN = "<!-- the tree of the Grunt -->\n"
END = "<!-- end -->"


def updated(page: str) -> str:
    """Put the picture into a page.

    Args:
        page: its text.

    Returns:
        The text with a fresh picture.

    Raises:
        ValueError: the page does not have the marks exactly once.
    """
    before, *parts = page.split(BEGIN)
    if len(parts) != 1 or END not in parts[0]:
        raise ValueError(f"the page has {len(parts)} places for the picture, and not one")
    diagram = SelectionLibrary.load(TREES)["Grunt"].diagram()
    return f"{before}{BEGIN}```mermaid\n{diagram}\n```\n{END}{parts[0].partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
