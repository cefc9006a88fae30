"""Control flow of strategies: what ``ctx.fail`` and ``ctx.restart`` raise. Not errors; let them pass.

As with ``ctx.abort``, they are raised in the strategy's own code and nowhere else; see ``activity.control``.
"""

from __future__ import annotations

from typing import final

from agentrt.activity.control import Flow

__all__ = ["Fail", "Restart"]


@final
class Fail(Flow):
    """The strategy cannot provide what it was run for: the next one is tried.

    Source: seed 003, "Task Failure".
    """

    method = "fail"


@final
class Restart(Flow):
    """The strategy begins again.

    Source: seed 003, "Pauseable/Cancelable Tasks".
    """

    method = "restart"
