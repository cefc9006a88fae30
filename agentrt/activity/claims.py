"""How an action takes the control flags that it declares.

A leaf holds its flags while it runs, a compound from its start to its stop; whatever runs below a holder shares
them. If somebody else holds one, the plan is aborted: it was planned for a body that is not free.

Source: design section 3, control flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit

__all__ = ["claim_flags"]


def claim_flags(unit: Unit) -> bool:
    """Take the flags of an action from the agent's ledger.

    Args:
        unit: the action.

    Returns:
        Whether it has them; if not, the plan is being aborted.
    """
    frame = unit.frame
    planner = frame.planner
    name = unit.spec.name
    refusal = planner.flags.claim(unit.spec.flags, unit, name, planner.kernel.clock.tick, frame.ancestors())
    if refusal is None:
        return True
    if planner.trace.on:
        unit.note(Event.REFUSED, flag=refusal.flag, holder=refusal.holder)
    frame.execution.abort(f"the control flag {refusal.flag} is held by {refusal.holder}", unit)
    return False
