"""Floor 3: behavior trees, static and shared, ticked from the root, with a memory for each agent.

What authors write: ``deciders`` and ``behaviors`` (the declaration), ``checks`` and ``stimuli`` (preconditions),
``tree``. What runs it: ``compiling`` and ``nodes`` (the declaration, compiled), ``memory`` and ``state`` (one agent),
``walking`` with ``asking`` and ``choosing`` (a tick that changes something), ``unwinding`` and ``routines`` (ends, and
coroutines), ``claiming`` (control flags). What shows it: ``debugging``, ``printing``, ``views``.

Source: seed 002.
"""

from __future__ import annotations

from agentrt.behavior.activation import Activation
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
from agentrt.behavior.log import DebugOutput
from agentrt.behavior.memory import Memory
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
