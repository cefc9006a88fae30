"""Snapshots: what an agent or a runtime is doing, as frozen, plain data. Tools and terminal views read only this.

``plan_views``, ``agent_views`` and ``runtime_view`` are the shape, as data, as JSON and back; ``places`` and ``taking``
fill it from what lives; ``explaining`` puts it in words; ``summary`` is the one line that lists show. Taking one
changes nothing and keeps nothing alive but numbers and words. Paths are stable ids: the same place of a plan has the
same path in every equal run.

Source: seed 001, the AI inspector: activities in brackets, actions beneath them, the running branch.
"""

from agentrt.body.model_views import ModelView, Outline
from agentrt.snapshot.agent_views import VERSION, AgentSnapshot, DriverView, FlagView, InjectionView
from agentrt.snapshot.explaining import explain
from agentrt.snapshot.plan_views import FrameView, TaskPlace, UnitView
from agentrt.snapshot.runtime_view import RuntimeSnapshot
from agentrt.snapshot.summary import AgentSummary
from agentrt.snapshot.taking import outlines, snapshot_agent, summarize

__all__ = [
    "VERSION",
    "AgentSnapshot",
    "AgentSummary",
    "DriverView",
    "FlagView",
    "FrameView",
    "InjectionView",
    "ModelView",
    "Outline",
    "RuntimeSnapshot",
    "TaskPlace",
    "UnitView",
    "explain",
    "outlines",
    "snapshot_agent",
    "summarize",
]
