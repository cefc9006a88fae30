"""Overlays: what an action offers to be drawn above the world while its agent is chosen.

An action that goes, chases or looks out makes one each time, whether anybody looks or not. So it is a small object that
keeps what it was given, and is made plain data when somebody looks; the drawing itself is floors above (``drawing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal

from agentrt.errors import ENDS_PROGRAM
from agentrt.words import error_words

FARTHEST: Final = 1_000_000  # from 0, in cells: what a page can still tell apart
_MOST_POINTS: Final = 200  # of an overlay; a longer one is thinned


class Overlay(Mapping[str, Any]):
    """What is drawn above the world for the chosen agent: a way, where it wants to go, what it perceives.

    An action puts it into ``ctx.get_debug_info_datastore()``, below any key. It costs next to nothing while nobody
    looks: the places are read when somebody does. What is no pair of numbers, in a world without such places, is left
    out. If they cannot be read, why stands in their place.

    Args:
        draws: ``"path"``, ``"target"`` or ``"seen"``.
        places: pairs of numbers, in the cells of the drawing; a list that changes, or a function, for places that do.
    """

    __slots__ = ("_draws", "_places")

    def __init__(
        self, draws: Literal["path", "target", "seen"], places: Sequence[object] | Callable[[], Iterable[object]]
    ) -> None:
        self._draws = draws
        self._places = places

    def __getitem__(self, key: str) -> Any:
        if key == "draws":
            return self._draws
        if key == "points":
            try:
                return self._points()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:  # else what stands beside it could not be shown, either
                return error_words(error)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(("draws", "points"))

    def __len__(self) -> int:
        return 2

    def _points(self) -> list[list[float]]:
        places = self._places() if callable(self._places) else self._places
        pairs = [pair for pair in map(_pair, islice(places, 100 * _MOST_POINTS)) if pair is not None]
        if len(pairs) <= _MOST_POINTS:
            return pairs
        each = -(-len(pairs) // (_MOST_POINTS - 1))
        return [*pairs[::each], pairs[-1]]


def _pair(place: object) -> list[float] | None:
    if not isinstance(place, Iterable) or isinstance(place, str):
        return None
    pair = list(islice(place, 3))
    if len(pair) != 2 or not all(type(one) in (int, float) and -FARTHEST <= one <= FARTHEST for one in pair):
        return None
    return pair
