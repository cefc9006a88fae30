"""The carrier of a strategy: the ``Action`` that the planner runs for it.

There is one for each strategy and dependency, made when it is first needed and kept with the strategy. It performs the
activity of the dependency, and has the name, the control flags and the status text of the strategy, so that ledgers,
traces, snapshots and people see the strategy and not the machinery. It has nothing of its own: whose frame it runs in,
an attempt, runs the author's coroutine.

Source: design section 6, "A strategy is an action".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity.action import Action

if TYPE_CHECKING:
    from agentrt.activity.context import Context
    from agentrt.activity.spec import ActionSpec
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.strategy import StrategySpec

__all__ = ["carrier_of"]


class _Carrier(Action):
    """The action that carries a strategy."""

    async def run(self, ctx: Context, args: Any) -> None:
        unit: Any = ctx.holder
        await unit.frame.owner.carry(unit, args)


def carrier_of(spec: StrategySpec, wanted: type[Dependency[Any]]) -> ActionSpec:
    """What carries a strategy for one of its dependencies.

    Args:
        spec: the strategy.
        wanted: the class of the dependency.
    """
    found = spec.carriers.get(wanted)
    if found is None:
        cls = spec.cls
        declared = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "does": wanted.activity,
            "name": cls.name.replace("_", " "),
            "utility": 1.0,
            "flags": tuple(cls.flags),
            "status_text_key": cls.status_text_key,
            "Args": wanted,
        }
        made: type[Action] = type(cls.__name__, (_Carrier,), declared)
        found = spec.carriers[wanted] = made.spec
    return found
