"""What a plan does not try again for a while.

A plan that wants a dependency which nobody can provide would think of it in every tick, and fail each time. So after a
failure it is put off: for a second, and twice as long each time, up to about a minute; once it was solved, the next
failure counts as the first. What has been forgotten is tried at once, which costs one attempt more.

Source: design section 4: back-off, as for rejections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.dependency import Dependency

__all__ = ["Postponed"]

_MOST_TIMES: Final = 7  # doublings of a second: about a minute
_MOST_KEPT: Final = 1024


class Postponed:
    """The dependencies that one agent's plan has put off."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Dependency[Any], tuple[int, int]] = {}  # how often, until when

    def put_off(self, wanted: Dependency[Any], clock: Clock) -> None:
        """It could not be solved: do not try it again at once, and later each time.

        Args:
            wanted: the dependency.
            clock: of the runtime.
        """
        times = min(self._known.get(wanted, (0, 0))[0] + 1, _MOST_TIMES)
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[wanted] = (times, clock.tick + clock.ticks(2.0 ** (times - 1)))

    def solved(self, wanted: Dependency[Any]) -> None:
        """It was solved.

        Args:
            wanted: the dependency.
        """
        self._known.pop(wanted, None)

    def until(self, wanted: Dependency[Any]) -> int:
        """The tick from which on it may be tried again; 0 for at once.

        Args:
            wanted: the dependency.
        """
        return self._known.get(wanted, (0, 0))[1]
