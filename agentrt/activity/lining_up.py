"""Waiting in line for a lease, while a plan is thought that could not have it.

An action that looks for a lease in ``think``, or acquires it in ``start``, and rejects because somebody else has it, is
asked again after a delay, as after any rejection: it may choose something else then, which is free; only an action that
does not think has nothing to choose. Besides, the unit that is to think again waits in line for what it could not have.
When it is its turn it thinks again at once, and finds the thing promised to its agent.

It keeps its place however often it is asked in vain; so those who wait for one thing get it in the order in which they
came. The place is given up when the unit is started, or does not think any more.

Source: seed 001, `reject`; design section 3, leases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.body.leases import Place, Refusal

__all__ = ["keep_place", "line_up", "restore_place"]


def line_up(unit: Unit, refusal: Refusal) -> None:
    """Have a unit wait in line for what it could not have; if it does already, it keeps its place.

    Args:
        unit: it.
        refusal: what it could not have.
    """
    extras = unit.own_extras()
    place = extras.place
    if place is not None:
        if place.is_open and place.thing is refusal.thing and place.owner is refusal.owner:
            return
        place.close()
    extras.place = refusal.book.line_up(refusal.thing, refusal.owner, unit.turn_has_come)


def keep_place(unit: Unit) -> Place | None:
    """Take a unit's place in line from it, so that it does not lose it while it stops thinking, to think again.

    Args:
        unit: it.
    """
    if unit.extras is None:
        return None
    place, unit.extras.place = unit.extras.place, None
    return place


def restore_place(unit: Unit, place: Place | None) -> None:
    """Give it back.

    Args:
        unit: it.
        place: what ``keep_place`` gave.
    """
    if place is not None:
        unit.own_extras().place = place
