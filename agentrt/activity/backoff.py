"""How long to wait before asking again what has just said no.

Rejected arguments and refused starts are asked again after 20 ms of game time; each repeat waits twice as long, up to 2 s. A
no that repeats more than a few times is a storm, which the trace tells.

Source: seed 001, "AI contexts", `reject`; the doubling is ours.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FIRST_DELAY", "LONGEST_DELAY", "is_storm", "longer"]

FIRST_DELAY: Final = 0.02
"""Game seconds before the first repeat."""

LONGEST_DELAY: Final = 2.0
"""Game seconds between repeats at most."""

_STORM: Final = 4  # how many times the delay was doubled before repeats are a storm


def longer(delay: float) -> float:
    """The delay after a delay.

    Args:
        delay: game seconds.
    """
    return min(delay * 2, LONGEST_DELAY)


def is_storm(delay: float) -> bool:
    """Whether repeats with this delay are a storm.

    Args:
        delay: game seconds.
    """
    return delay >= FIRST_DELAY * 2**_STORM
