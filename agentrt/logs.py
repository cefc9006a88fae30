"""The logger: one place that knows structlog.

Quiet by default: without any configuration, only warnings and worse come out, on standard error, through the standard
library's ``logging`` under the name ``agentrt``. A program that configured structlog gets the events in its own way.
"""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["get_logger"]


def get_logger(**bound: Any) -> Any:
    """A logger with values bound to it.

    Args:
        bound: what every event of it carries, such as the agent's name.

    Returns:
        A structlog logger.
    """
    import structlog  # not at the top: importing agentrt must stay quick

    if structlog.is_configured():
        return structlog.get_logger("agentrt", **bound)
    return structlog.wrap_logger(
        logging.getLogger("agentrt"),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event", "agent", "path", "tick"], drop_missing=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    ).bind(**bound)
