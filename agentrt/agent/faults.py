"""Faults: failures that nobody handled, and who is told of them.

A fault ends at most what failed: a hook, a strand, a function of the tick. The runtime goes on, and says so in three
places, of which none is needed for the others:

* the trace has a record of it, each time, since it is part of the run;
* the log has it in full the first time. What comes again from the same place is counted, and told in one line when it
  has come 10, 100, 1000 times: a function that is called in every tick would else fill a disk with one mistake;
* whoever asked (``runtime.on_fault``) is told each time, also while the log is off: counting is up to them.

The same place is: the same words, the same type of error, raised on the same way through the same lines. What the error
says does not count, since it often names what differs each time. Places are forgotten again, the oldest first, when
there are too many, so that a run of a year does not grow by its mistakes.

Rejected: the log alone, filtered by who wants to count (it is text by then, has to be kept off the screen, and its
level decides what is found); a fault as an exception out of ``runtime.step`` (one bad agent would stop the world).

Source: ours; Stonehearth, AI: "Debugging methods".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.kernel import Callbacks

_MOST_PLACES = 1000
_MOST_FRAMES = 16  # of a way; the outermost ones, so that a recursion is the same however deep it went


class Fault(NamedTuple):
    """A failure that nobody handled."""

    text: str  # what failed, in words, such as ``"run raised KeyError"``
    error: BaseException  # what was raised; its traceback is ``error.__traceback__``
    tick: int  # in which tick; 0 before the first
    agent: str = ""  # the name of the agent; empty for what is nobody's, such as a function of the tick
    path: str = ""  # the place in the agent; empty likewise


class FaultHub(Callbacks[Callable[[Fault], object]]):
    """Who is told of the faults of one runtime."""

    __slots__ = ("_report",)

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        super().__init__()
        self._report = report  # called with what a listener raised, after that listener was dropped

    def tell(self, fault: Fault) -> None:
        """Tell the listeners, in the order in which they came; one that was taken out meanwhile is passed over."""
        for key, callback in tuple(self._functions.items()):
            if key not in self._functions:
                continue
            try:
                callback(fault)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._functions.pop(key, None)
                self._report("a function of on_fault raised and was dropped", error)


class Repeats:
    """Counts faults by where they come from."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], list[int]] = {}

    def count(self, text: str, error: BaseException, tick: int) -> tuple[int, int]:
        """Count one more; how many of its kind there were, with this one, and the tick of the first."""
        key = _place(text, error)
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST_PLACES:
                del self._seen[next(iter(self._seen))]
            seen = self._seen[key] = [0, tick]
        seen[0] += 1
        return seen[0], seen[1]


def _place(text: str, error: BaseException) -> tuple[object, ...]:
    """Where a fault comes from. Names and numbers of lines: frames would keep alive all that they hold."""
    way: list[object] = [text, type(error)]
    place = error.__traceback__
    while place is not None and len(way) < 2 + 2 * _MOST_FRAMES:
        way += (place.tb_frame.f_code.co_filename, place.tb_lineno)
        place = place.tb_next
    return tuple(way)
