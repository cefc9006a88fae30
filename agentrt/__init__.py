"""agentrt: agents as coroutines on one shared, deterministic clock.

This is the door for people who write actions and agents. Tests have their own: ``agentrt.testing``. Here the library is
put together, too: what a lower floor needs of a higher one is handed down to it.

A program loads what it uses. What many do without (packs, shared task groups, snapshots) is loaded when it is first
named; what runs in a tick is all there before.
"""

import typing as _typing
from importlib import import_module as _import_module

from agentrt.activity import states as _states
from agentrt.activity.author.action import Action, CompoundAction, output, step
from agentrt.activity.author.arguments import ActionArgs, Activity, ThinkOutput
from agentrt.activity.author.context import Context
from agentrt.activity.author.steps import ARGS, BACK, CALL, CURRENT, ENTITY, NOT, OUT, PREV
from agentrt.agent.agent import TOP, Agent, Attachment, Restart
from agentrt.agent.faults import Fault
from agentrt.agent.knowledge import Injection
from agentrt.body.entity import Entity
from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET
from agentrt.errors import AgentRTError
from agentrt.kernel.signals import Condition, Event, Queue, Signal
from agentrt.kernel.strand import Cancelled, CancelScope, fail_after, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks
from agentrt.native import is_compiled as _is_compiled
from agentrt.runtime.intake import RunRecorder as _RunRecorder
from agentrt.runtime.intake import call_key
from agentrt.runtime.runtime import Runtime
from agentrt.runtime.runtime import makes_recorders as _makes_recorders

if _typing.TYPE_CHECKING:
    from agentrt.packs.loader import Pack, load_pack
    from agentrt.packs.registry import Manifest, Registry

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
    "Activity",
    "Agent",
    "AgentRTError",
    "Attachment",
    "CancelScope",
    "Cancelled",
    "CompoundAction",
    "Condition",
    "Context",
    "Entity",
    "Event",
    "Fault",
    "Injection",
    "Manifest",
    "Pack",
    "Queue",
    "Registry",
    "Restart",
    "Runtime",
    "Signal",
    "ThinkOutput",
    "__compiled__",
    "__version__",
    "call_key",
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

__compiled__: bool = _is_compiled(_states)


@_makes_recorders
def _recorder(*args: _typing.Any, **options: _typing.Any) -> _RunRecorder:
    from agentrt.record.recorder import Recorder  # who records needs sqlite, and most do not

    return Recorder(*args, **options)


_LATER = {
    **dict.fromkeys(("Pack", "load_pack"), "agentrt.packs.loader"),
    **dict.fromkeys(("Manifest", "Registry"), "agentrt.packs.registry"),
}
# The other doors, in the order in which a name that is not here is looked for.
_DOORS = ("tasks", "goals", "behavior", "selection", "strategy", "body", "kernel", "activity", "snapshot", "bridges")

if not _typing.TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> object:
        if name in _LATER:
            found = globals()[name] = getattr(_import_module(_LATER[name]), name)
            return found
        said = f"module 'agentrt' has no attribute {name!r}"
        for door in _DOORS if name[0] != "_" else ():
            if name in _import_module(f"agentrt.{door}").__all__:
                raise AttributeError(f"{said}. Write: from agentrt.{door} import {name}")
        raise AttributeError(said)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
