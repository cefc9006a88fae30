"""How an action takes the control flags that it declares.

It holds them from the moment in which it begins to run until it stops; whatever runs below a holder shares them, and
so does a plan that is performed for a goal or a behavior with that one. If somebody else holds a flag, the action
waits in the state of running, with nothing of its own begun, until it has all of them; a better action may take its
place meanwhile, as always. If somebody of higher precedence needs them, the whole plan gives way: it unwinds, which
does not count as a failure, and is thought again in the next tick.

Rejected: aborting the plan when a flag is not free (it would be thought and aborted in every tick until it is, and
ten of those kill the planner).

Source: design section 3, control flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.waits import look_for_circle
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.spec import ActionSpec
    from agentrt.activity.unit import Unit
    from agentrt.body.flags import Holder

__all__ = ["FlagClaimant"]


class FlagClaimant:
    """A unit of a plan, as the ledger of control flags sees it. The base class of ``Unit`` alone."""

    __slots__ = ()

    frame: Frame
    spec: ActionSpec
    state: int

    @property
    def flag_name(self) -> str:
        """What the ledger calls it."""
        return self.spec.name

    @property
    def runs_for(self) -> Holder | None:
        """The unit above it; at the root, for whom the plan is performed."""
        above = self.frame.parent
        return self.frame.execution.holder if above is None else above

    @property
    def precedence(self) -> int:
        """Of its claims: that of the agent's plan, or of whom the plan is performed for."""
        execution = self.frame.execution
        return execution.planner.precedence if execution.holder is None else execution.holder.precedence

    @property
    def is_interruptible(self) -> bool:
        """True: every plan can be unwound."""
        return True

    def give_way(self, flag: str, claimant: str) -> None:
        """Somebody of higher precedence needs a flag: unwind the plan and think again.

        Args:
            flag: what is needed.
            claimant: who needs it.
        """
        self.frame.execution.replan(f"{claimant} takes the control flag {flag}", self._unit())

    def claim_flags(self) -> bool:
        """Take the flags that the action declares.

        Returns:
            Whether it has them; if not, ``begin_run`` comes when it has, or the plan is being unwound.
        """
        frame = self.frame
        planner = frame.planner
        tick = planner.kernel.clock.tick
        refusal = planner.flags.claim(self.spec.flags, self, tick, wait=True)
        if refusal is None:
            return True
        if planner.trace.on:
            self._unit().note(Event.REFUSED, flag=refusal.flag, holder=refusal.holder, reason=refusal.reason)
        self._unit().own_extras().awaits_flags = True
        if refusal.is_final:
            frame.execution.deadlocked(f"{refusal.holder} waits for the plan and holds {refusal.flag}", self._unit())
        else:
            look_for_circle(frame.execution)
        return False

    def flags_granted(self) -> None:
        """A claim that waited has its flags now."""
        self.frame.planner.kernel.call_soon(self._flags_came)  # not on the stack of whoever released them

    def _flags_came(self) -> None:
        unit = self._unit()
        extras = unit.own_extras()
        # It may have been stopped meanwhile, and even wait again.
        if extras.awaits_flags and not unit.frame.planner.flags.is_waiting(unit):
            extras.awaits_flags = False
            extras.was_kept_waiting = True
            unit.begin_run()

    def _unit(self) -> Unit:
        """Itself, under its real type."""
        return self  # type: ignore[return-value]
