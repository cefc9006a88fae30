"""Names that are given once, for as long as a runtime lives.

A trace, a recording and a random stream hang on an agent's name, so a name is never given to a second agent, also when
the first one has long gone: whoever asks for it then gets the least number that makes it new (``wolf``, ``wolf 2``).
What was given must be remembered, and a runtime that lives for a year sees many agents come and go. So:

* Names that differ in a number at their end are runs: ``orc-1`` to ``orc-90000`` are two numbers.
* Any other name is eight bytes, a part of its hash. Two names with equal ones are one name here: the second gets a
  number that it would not have needed, which is the same in every run.
* There is an end to both. Beyond it nothing new is remembered, and every newcomer gets a number that is
  higher than all that any name had, so that none can be given twice.

The book can be saved as plain JSON and restored: a game that goes on from a save gives no name a second time either.
Whoever returns *takes* his name, given or not: that is the runtime's business, which knows who lives.

What remains: a runtime in which some half a million names of no run were given puts a number behind each new name from
then on, and keeps some 10 MB.

Rejected: forgetting the oldest names (an old stream would go on under a new agent); a number for everybody (nobody
could be found by the name that was asked for); Python's own hash (it differs from run to run).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from agentrt.errors import RebuildError

_MOST = 1 << 20  # of either kind, hashes and runs
_DIGITS = 15  # a longer number is part of the name
_NUMBERED = re.compile(rf"(.*?)([1-9][0-9]{{0,{_DIGITS - 1}}})", re.DOTALL)


class Names:
    """The names that were given in one runtime; it remembers so many hashes and so many runs at most."""

    __slots__ = ("_hashes", "_highest", "_most", "_runs", "_sizes")

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._hashes: dict[int, array[int]] = {}  # by their low byte, so that inserting one moves few others; sorted
        self._runs: dict[str, tuple[array[int], array[int]]] = {}  # first and last numbers of each, ascending
        self._sizes = [0, 0]  # hashes, runs
        self._highest = 1

    def give(self, wanted: str) -> str:
        """Give a name: the one that is wanted if nobody ever had it, else with a number."""
        if max(self._sizes) >= self._most:
            self._highest += 1
            return f"{wanted} {self._highest}"
        name, number = wanted, 2
        while (end := self._end_of_given(name)) is not None:
            number = number if name is wanted else max(number, end) + 1
            name = f"{wanted} {number}"
        self._remember(name)
        return name

    def take(self, name: str) -> str:
        """Give a name as it is to whoever had it before: it is remembered, whether it was given already or not."""
        if max(self._sizes) < self._most and self._end_of_given(name) is None:
            self._remember(name)
        elif len(digits := _number_of_ours(name)) <= _DIGITS:
            self._highest = max(self._highest, int(digits or "0"))
        return name

    def save(self) -> dict[str, Any]:
        """All of it, as plain JSON."""
        runs = {base: [list(firsts), list(lasts)] for base, (firsts, lasts) in self._runs.items()}
        hashes = sorted(mark for marks in self._hashes.values() for mark in marks)
        return {"hashes": hashes, "runs": runs, "highest": self._highest}

    def restore(self, saved: object) -> None:
        """Become what was saved; what was given meanwhile is forgotten.

        Raises:
            RebuildError: it is nothing that ``save`` gave; nothing is changed then.
        """
        try:
            hashes, runs, highest = _read(saved if isinstance(saved, dict) else {})
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            raise RebuildError("the saved names", "this is nothing that Names.save gave.") from None
        self._hashes, self._runs, self._highest = hashes, runs, highest
        self._sizes = [sum(map(len, hashes.values())), sum(len(firsts) for firsts, _ in runs.values())]

    def _end_of_given(self, name: str) -> int | None:
        """None for a name that can be given; else the last number of its run, or its own, or 0."""
        if len(_number_of_ours(name)) > _DIGITS:
            return 0
        base, number = _parts(name)
        run = self._runs.get(base) if number else None
        if run is not None:
            place = bisect_right(run[0], number) - 1
            if place >= 0 and number <= run[1][place]:
                return run[1][place]
        return number if self._has(_hash(name)) else None

    def _remember(self, name: str) -> None:
        self._highest = max(self._highest, int(_number_of_ours(name) or "0"))
        base, number = _parts(name)
        if not number:
            self._keep(_hash(name))
        elif base in self._runs:
            self._extend(self._runs[base], number)
        else:
            family = _hash(f"{base}#")
            if self._has(family):  # the second name of its kind: from here on they are runs
                self._runs[base] = (array("Q", [number]), array("Q", [number]))
                self._sizes[1] += 1
            else:
                self._keep(family)
                self._keep(_hash(name))

    def _extend(self, run: tuple[array[int], array[int]], number: int) -> None:
        firsts, lasts = run
        place = bisect_left(firsts, number)
        joins_before = place > 0 and lasts[place - 1] == number - 1
        joins_after = place < len(firsts) and firsts[place] == number + 1
        if joins_before and joins_after:
            lasts[place - 1] = lasts[place]
            del firsts[place], lasts[place]
            self._sizes[1] -= 1
        elif joins_before:
            lasts[place - 1] = number
        elif joins_after:
            firsts[place] = number
        else:
            firsts.insert(place, number)
            lasts.insert(place, number)
            self._sizes[1] += 1

    def _has(self, mark: int) -> bool:
        marks = self._hashes.get(mark & 0xFF, ())
        place = bisect_left(marks, mark)
        return place < len(marks) and marks[place] == mark

    def _keep(self, mark: int) -> None:
        insort(self._hashes.setdefault(mark & 0xFF, array("Q")), mark)
        self._sizes[0] += 1

    def __repr__(self) -> str:
        hashes, runs = self._sizes
        return f"<Names: {hashes} hashes, {runs} runs, highest number {self._highest}>"


def _read(saved: dict[str, Any]) -> tuple[dict[int, array[int]], dict[str, tuple[array[int], array[int]]], int]:
    """What ``save`` gave, looked at: each list has to be as the search in it needs it."""
    hashes: dict[int, array[int]] = {}
    marks = array("Q", saved["hashes"])
    for mark in marks:
        hashes.setdefault(mark & 0xFF, array("Q")).append(mark)
    runs = {base: (array("Q", firsts), array("Q", lasts)) for base, (firsts, lasts) in saved["runs"].items()}
    ends = [end for firsts, lasts in runs.values() for end in _ascending(firsts, lasts)]
    highest = saved["highest"]
    if not _rises(marks) or not all(ends) or type(highest) is not int or highest < 1:
        raise ValueError("not in order")
    return hashes, runs, highest


def _rises(numbers: Sequence[int]) -> bool:
    return all(one < following for one, following in pairwise(numbers))


def _ascending(firsts: array[int], lasts: array[int]) -> Iterator[bool]:
    """Whether the runs of a base are apart and in order, one after the other."""
    before = 0
    for first, last in zip(firsts, lasts, strict=True):
        yield before < first <= last < 10**_DIGITS
        before = last


def _parts(name: str) -> tuple[str, int]:
    """A name without the number at its end, and that number; 0 if it has none."""
    match = _NUMBERED.fullmatch(name)
    return (name, 0) if match is None else (match[1], int(match[2]))


def _number_of_ours(name: str) -> str:
    """The digits behind the last space, where this puts its numbers; empty if there is something else.

    With more digits than ``_DIGITS`` nobody is given such a name as he wants it. So the numbers beyond the end can grow
    for ever, and never meet one that was asked for.
    """
    digits = name.rpartition(" ")[2]
    return digits if " " in name and digits.isascii() and digits.isdigit() and digits[0] != "0" else ""


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
