"""Floor 3: behavior trees, static and shared, ticked from the root, with a memory for each agent.

What authors write is in ``declare``, and ``stimuli`` for what an agent perceives. From below upward: ``compile`` (the
declaration, compiled), ``memory`` (one agent), ``decide`` (who is asked and chosen), ``walk`` (a tick: what goes on,
begins and ends), ``tree``, where they meet. What shows it: ``debug`` and ``views``.

Source: Spore, behavior trees.
"""

from __future__ import annotations

from agentrt.behavior.compile import MAX_SHUFFLE_CHILDREN
from agentrt.behavior.declare import (
    PRIORITIZED_LIST,
    RANDOM,
    SCORED,
    SEQUENTIAL,
    SHUFFLE,
    Behavior,
    BehaviorDecider,
    Check,
    GroupDecider,
    GroupPolicy,
    ReferenceDecider,
    behavior,
    decider,
    group,
    reference,
)
from agentrt.behavior.memory import Activation, DebugOutput, Memory
from agentrt.behavior.stimuli import Stimuli, Stimulus
from agentrt.behavior.tree import BehaviorTree
from agentrt.behavior.views import DeciderView, StimulusView, TreeView
from agentrt.errors import RedecideLoopError

__all__ = [
    "MAX_SHUFFLE_CHILDREN",
    "PRIORITIZED_LIST",
    "RANDOM",
    "SCORED",
    "SEQUENTIAL",
    "SHUFFLE",
    "Activation",
    "Behavior",
    "BehaviorDecider",
    "BehaviorTree",
    "Check",
    "DebugOutput",
    "DeciderView",
    "GroupDecider",
    "GroupPolicy",
    "Memory",
    "RedecideLoopError",
    "ReferenceDecider",
    "Stimuli",
    "Stimulus",
    "StimulusView",
    "TreeView",
    "behavior",
    "decider",
    "group",
    "reference",
]
