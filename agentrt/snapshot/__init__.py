"""Snapshots: what an agent or a runtime is doing, as frozen, plain data. Tools and terminal views read only this.

``views`` has the shape, as data, as JSON and back; ``take`` fills it from what lives; ``explain`` puts it in words;
``offered`` has what an agent offers besides its plan.
Taking one changes nothing and keeps nothing alive but numbers and words. Paths are stable ids: the same place of a plan
has the same path in every equal run.

Source: Stonehearth, AI, the AI inspector: activities in brackets, actions beneath them, the running branch.
"""

from agentrt.body.views import ModelView, Outline
from agentrt.snapshot.explain import explain
from agentrt.snapshot.offered import ValueGroup, offered, values_by_name
from agentrt.snapshot.take import outlines, snapshot_agent, summarize
from agentrt.snapshot.views import (
    VERSION,
    AgentSnapshot,
    AgentSummary,
    DriverView,
    FlagView,
    FrameView,
    InjectionView,
    MindView,
    RuntimeSnapshot,
    TaskPlace,
    ThoughtView,
    UnitView,
)

__all__ = [
    "VERSION",
    "AgentSnapshot",
    "AgentSummary",
    "DriverView",
    "FlagView",
    "FrameView",
    "InjectionView",
    "MindView",
    "ModelView",
    "Outline",
    "RuntimeSnapshot",
    "TaskPlace",
    "ThoughtView",
    "UnitView",
    "ValueGroup",
    "explain",
    "offered",
    "outlines",
    "snapshot_agent",
    "summarize",
    "values_by_name",
]
