"""An agent in one line: what a list of a thousand agents shows of each.

The line costs a walk down the running branch and nothing else; only of an agent whose plan runs nothing the other
models are asked what they do.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.body.driver import TARGETS
from agentrt.body.model_views import ModelView

if TYPE_CHECKING:
    from agentrt.snapshot.agent_views import DriverView
    from agentrt.snapshot.plan_views import FrameView

__all__ = ["AgentSummary", "doing_of", "models_doing"]


class AgentSummary(NamedTuple):
    """An agent in one line.

    Attributes:
        name: the agent's.
        number: the agent's number.
        kind: of its entity; empty if that has none.
        status: what it does, for players.
        running: the path of what it runs; empty while it only thinks.
        doing: the name of the innermost running action; if there is none, the strategy that runs, or what its other
            models do.
        models: what drives it: ``plan``, ``strategies``, ``selection``, ``targets``, ``goals``, ``behavior``, names of
            other drivers.
        aborts: how many aborts there were in a row.
        waiting: whether somebody waits for a control flag of it.
        alive: whether it has not ended.
    """

    name: str
    number: int
    kind: str
    status: str
    running: str
    doing: str
    models: tuple[str, ...]
    aborts: int
    waiting: bool
    alive: bool

    def as_json(self) -> dict[str, Any]:
        """The same as a dict of plain values."""
        return {**self._asdict(), "models": list(self.models)}


def doing_of(plan: FrameView | None, drivers: Sequence[DriverView], solving: str) -> str:
    """What an agent does, in a few words, out of its snapshot.

    Args:
        plan: its plan tree.
        drivers: its other models.
        solving: the strategies that run beside the plan, in a few words.
    """
    name = ""
    frame = plan
    while frame is not None:
        elected = next((unit for unit in frame.units if unit.is_elected), None)
        if elected is None or elected.state not in ("started", "running", "finished"):
            break
        name = elected.name
        frame = next((child for child in elected.frames if child.state in ("running", "switching")), None)
    return name or solving or models_doing([(driver.rank, driver.state) for driver in drivers])


def models_doing(views: Sequence[tuple[int, Any]]) -> str:
    """What models do that act, in a few words: all but those that only choose targets.

    Args:
        views: the rank and the view of each.
    """
    words = [view.doing() for rank, view in views if isinstance(view, ModelView) and rank != TARGETS]
    return " + ".join(word for word in words if word)
