"""Comparing two recordings: where they part, and how they differ from there on.

As long as the digests of both are the same, tick by tick, nothing is read. From the first tick on where they are not,
or where one has none, the records of both are compared: see ``differences``. Only ticks that both have are compared,
and the header says nothing: two recordings of one run are the same wherever and whenever they were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import RecordingError
from agentrt.record.differences import TraceComparison, TraceDifference

if TYPE_CHECKING:
    from agentrt.record.recording import Recording

__all__ = ["compare_recordings"]


def compare_recordings(one: Recording, other: Recording) -> TraceDifference:
    """Compare the traces of two recordings in the ticks that both have.

    Args:
        one: a recording.
        other: another one.

    Returns:
        How they differ.

    Raises:
        RecordingError: they have no tick in common, or one is broken.
    """
    first = max(one.first_tick, other.first_tick)
    last = min(one.last_tick, other.last_tick)
    if first > last:
        raise RecordingError(
            other.where,
            f"it has no tick in common with {one.where}: ticks {other.first_tick} to {other.last_tick} here, "
            f"{one.first_tick} to {one.last_tick} there",
            "Compare recordings of the same ticks.",
        )
    names = (one.path.name, other.path.name) if one.path.name != other.path.name else (str(one.path), str(other.path))
    comparison = TraceComparison(names)
    for tick in range(_first_to_read(one, other, first, last), last + 1):
        comparison.feed(tick, one.batch(tick), other.batch(tick))
    return comparison.result(one.agents(last), other.agents(last), ticks=(first, last))


def _first_to_read(one: Recording, other: Recording, first: int, last: int) -> int:
    """The first tick at whose end the digests differ, or of which one has none."""
    there = other.digests(first, last)
    tick = first
    for here in one.digests(first, last):
        if here[0] != tick or here != next(there, None):
            break
        tick += 1
    return tick
