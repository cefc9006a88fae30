"""An asyncio event loop in virtual time, for tests that would wait otherwise."""

from __future__ import annotations

import asyncio
import heapq


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop whose clock jumps to the next timer when there is nothing else to do."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__()

    def time(self) -> float:
        return self.now

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await super().shutdown_default_executor()  # threads end in real time: no timeout of ours

    def _run_once(self) -> None:
        timers = self._scheduled
        while timers and timers[0]._cancelled:
            self._timer_cancelled_count -= 1
            heapq.heappop(timers)._scheduled = False
        if timers and not self._ready and not self._stopping:
            events = self._selector.select(0)
            if events:
                self._process_events(events)
            else:
                self.now = max(self.now, timers[0]._when)
        super()._run_once()
