"""The faults of an episode, counted, and kept instead of shown.

A mistake in a mind does not end an episode: the runtime contains it, and says so. A progress bar or a live view has no
room for a log, so whoever plays episodes has the log of that runtime off, counts what it tells, and shows at the end
how many faults there were and the first one in full, since the others mostly follow from it.
"""

from __future__ import annotations

import traceback

from agentrt import Fault, Runtime

__all__ = ["Faults"]


class Faults:
    """Keeps count of the faults of a runtime, whose log it takes off.

    Args:
        runtime: of the episode.

    Attributes:
        count: how many there were.
        first: the first one, with its traceback; empty if there is none.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.count: int = 0
        self.first: str = ""
        runtime.log_level = "off"
        runtime.on_fault(self._take)

    def _take(self, fault: Fault) -> None:
        self.count += 1
        if not self.first:
            where = f"{fault.path}, step {fault.tick}" if fault.path else f"step {fault.tick}"
            self.first = f"{fault.text} ({where})\n{''.join(traceback.format_exception(fault.error))}"
