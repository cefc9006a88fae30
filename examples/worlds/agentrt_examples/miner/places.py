"""Places: a block's column, height and row as plain whole numbers, and how they are compared.

A place is ``(x, y, z)``, with y upward, as the arrays of a dimension are indexed. Somebody who *stands at* a place has
their feet in it and their head one above; their eyes are in the head.

Distances are squares or sums of whole numbers: what is nearest is decided the same way on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["NEIGHBORS", "SIDES", "Place", "above", "eyes_of", "line", "squared", "steps_apart"]

Place = tuple[int, int, int]

SIDES: tuple[tuple[int, int], ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""The four ways to walk: what to add to x and to z."""

NEIGHBORS: tuple[Place, ...] = ((1, 0, 0), (0, 0, 1), (-1, 0, 0), (0, 0, -1), (0, 1, 0), (0, -1, 0))
"""The six blocks around a block: what to add to its place."""


def above(place: Place, height: int = 1) -> Place:
    """A place above another.

    Args:
        place: the other.
        height: by how many blocks; below 0 for one beneath.
    """
    return place[0], place[1] + height, place[2]


def eyes_of(feet: Place) -> Place:
    """Where the eyes of somebody are.

    Args:
        feet: where they stand.
    """
    return feet[0], feet[1] + 1, feet[2]


def squared(first: Place, second: Place) -> int:
    """The square of the distance of two places.

    Args:
        first: one.
        second: the other.
    """
    x, y, z = first[0] - second[0], first[1] - second[1], first[2] - second[2]
    return x * x + y * y + z * z


def steps_apart(first: Place, second: Place) -> int:
    """How many blocks two places are apart, without diagonals.

    Args:
        first: one.
        second: the other.
    """
    return abs(first[0] - second[0]) + abs(first[1] - second[1]) + abs(first[2] - second[2])


def line(start: Place, end: Place, *, lower: bool = False) -> Iterator[Place]:
    """The places between two places on the straight line from center to center, both ends left out.

    Args:
        start: one end.
        end: the other.
        lower: whether the block with the lower number is taken where the line passes right between two.
    """
    deltas = [end[axis] - start[axis] for axis in range(3)]
    longest = max(abs(delta) for delta in deltas)
    for at in range(1, longest):
        # Rounded to the nearest block in whole numbers.
        x, y, z = (start[axis] + (2 * deltas[axis] * at + longest - lower) // (2 * longest) for axis in range(3))
        yield x, y, z
