"""What a runtime logs as an error, counted and kept instead of shown.

A mistake in a mind does not end an episode: the runtime contains it, and logs it. A progress bar or a live view has no
room for a log, so whoever plays episodes collects it, and tells of it at the end: how many faults there were, and the
first one in full, since the others mostly follow from it.

Everything else that is logged under ``agentrt`` goes nowhere meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Faults", "collected_faults"]


class Faults(logging.Handler):
    """Keeps count of what is logged as an error.

    Attributes:
        count: of how many.
        first: the first one, with its traceback; empty if there is none.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.count: int = 0
        self.first: str = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take one in.

        Args:
            record: of it.
        """
        self.count += 1
        self.first = self.first or record.getMessage().replace("\\n", "\n")


@contextmanager
def collected_faults() -> Iterator[Faults]:
    """While it is open, what ``agentrt`` logs is collected and not shown."""
    logger = logging.getLogger("agentrt")
    handler, propagate = Faults(), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
