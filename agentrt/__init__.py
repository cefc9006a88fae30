"""agentrt: agents as coroutines on one shared, deterministic clock.

This is the door for people who write actions and agents. Tests have their own: ``agentrt.testing``.
"""

from agentrt.activity.action import Action, CompoundAction, output, step
from agentrt.activity.composing import ChildUtilities
from agentrt.activity.context import Context
from agentrt.activity.fields import ActionArgs, ThinkOutput
from agentrt.activity.placeholders import ARGS, BACK, CALL, CURRENT, ENTITY, NOT, OUT, PREV
from agentrt.agent import TOP, Agent, Injection
from agentrt.body.entity import Entity
from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET
from agentrt.body.leases import Lease, LeaseBook
from agentrt.errors import AgentRTError
from agentrt.kernel.rng import Stream
from agentrt.kernel.scope import Cancelled, CancelScope, fail_after, move_on_after
from agentrt.kernel.signals import Condition, Connection, Event, Queue, Signal
from agentrt.kernel.trace import Event as TraceEvent
from agentrt.kernel.trace import TraceHub, TraceRecord
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks
from agentrt.packs.loader import Pack, load_pack
from agentrt.packs.registry import Manifest, Registry
from agentrt.restart import Restart
from agentrt.runtime import Runtime
from agentrt.snapshot import AgentSnapshot, FrameView, UnitView

__all__ = [
    "ARGS",
    "BACK",
    "CALL",
    "CURRENT",
    "ENTITY",
    "JUMP",
    "LOOK",
    "MOVE",
    "NOT",
    "OUT",
    "PREV",
    "TARGET",
    "TOP",
    "Action",
    "ActionArgs",
    "Agent",
    "AgentRTError",
    "AgentSnapshot",
    "CancelScope",
    "Cancelled",
    "ChildUtilities",
    "CompoundAction",
    "Condition",
    "Connection",
    "Context",
    "Entity",
    "Event",
    "FrameView",
    "Injection",
    "Lease",
    "LeaseBook",
    "Manifest",
    "Pack",
    "Queue",
    "Registry",
    "Restart",
    "Runtime",
    "Signal",
    "Stream",
    "ThinkOutput",
    "TraceEvent",
    "TraceHub",
    "TraceRecord",
    "UnitView",
    "__version__",
    "fail_after",
    "load_pack",
    "move_on_after",
    "next_tick",
    "output",
    "park",
    "sleep",
    "sleep_ticks",
    "step",
]

__version__ = "0.1.0"
