"""Places of a page that are made from the code: what stands between ``<!-- title -->`` and ``<!-- end -->``."""

from __future__ import annotations

_END = "<!-- end -->"


def put(page: str, kind: str, title: str, what: str) -> str:
    """Put something into its place; the rest of the page is left alone.

    Args:
        page: its text.
        kind: what it is, for people, such as ``"picture"``.
        title: of the place.
        what: stands there from now on; ends with a line break.

    Returns:
        The text of the page with it.

    Raises:
        ValueError: the page does not have that place exactly once.
    """
    begin = f"<!-- {title} -->\n"
    before, *parts = page.split(begin)
    if len(parts) != 1 or _END not in parts[0]:
        raise ValueError(f"the page has {len(parts)} places for the {kind} '{title}', and not one")
    return before + begin + what + _END + parts[0].partition(_END)[2]
