"""What still falls short, in tables that may only shrink."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def only_shrinks(found: Mapping[str, Collection[str]], standing: Mapping[str, int], advice: str) -> None:
    """Compare what falls short with the table of what may. Both ways: what was mended must not come back.

    Args:
        found: what falls short, under each key of the table.
        standing: how many may; 0 where nothing is said.
        advice: what to do about one that is new.
    """
    keys = sorted(found.keys() | standing.keys())
    counts = {key: (len(found.get(key, ())), standing.get(key, 0)) for key in keys}
    grown = [f"{key}: {n}, not {may}: {', '.join(found[key])}" for key, (n, may) in counts.items() if n > may]
    assert not grown, "\n".join([f"{advice} The table in the test may only shrink.", *grown])
    shrunk = [f"{key}: {n}, not {may}" for key, (n, may) in counts.items() if n < may]
    assert not shrunk, "\n".join(["Better than the table in the test says. Lower it, or take out what is 0:", *shrunk])
