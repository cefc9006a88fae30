"""A clock for runs that have a limit: no machine is so slow that anything but a hang reaches it."""

from __future__ import annotations

import math
import time


class Patience:
    """Time that stands still until nothing is left of a sweep but what hangs, and flies from then on.

    It takes the place of the module ``time`` where limits are kept; the sweep tells its ``told`` how far it has come.
    """

    perf_counter = staticmethod(time.perf_counter)

    def __init__(self, hanging: int = 1) -> None:
        self._hanging = hanging
        self._left = math.inf
        self._now = 0.0

    def told(self, state) -> None:
        self._left = state.todo - state.done

    def monotonic(self) -> float:
        if self._left <= self._hanging:
            self._now += 1000.0
        return self._now
