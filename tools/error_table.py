"""Make the table of docs/reference/errors.md from the classes in agentrt/errors.py.

It stands between the marks ``<!-- codes -->`` and ``<!-- end -->``. Run it after a change of the classes or of their
first lines: ``python tools/error_table.py``. A test compares the page with what this script would write.
"""

from __future__ import annotations

from pathlib import Path

from agentrt.errors import ERRORS
from marks import put

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "errors.md"


def updated(page: str) -> str:
    """Put the table into a page.

    Args:
        page: its text.

    Returns:
        The text with a fresh table.

    Raises:
        ValueError: the page does not have the marks of the table exactly once.
    """
    rows = ["| code | class | what it says |", "| --- | --- | --- |"]
    for code, error in ERRORS.items():
        summary = (error.__doc__ or "").partition("\n")[0].replace("``", "`")
        rows.append(f"| [`{code}`](errors/{code}.md) | `{error.__name__}` | {summary} |")
    return put(page, "table", "codes", "\n" + "\n".join(rows) + "\n\n")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
