"""The states of a unit and of a frame, as tables.

A *frame* performs one activity at one place of a plan; its *units* are the actions that could. Each table lists, for
each state, the states that may follow it. ``Unit.move`` and ``Frame.move`` are the way to change a state; only the two
changes that every think makes, from idle to thinking and from there to ready, are made in their places, where the old
state is looked at anyway. A change that is not in the table is a bug of ours, raises, and changes nothing. The diagrams
in the documentation are made from these tables.

States are plain integers, and the tables are compiled into bit masks: a transition is checked in one shift. An ``Enum``
hashes in Python code, and a think cycle makes twenty transitions.

Source: Stonehearth, AI, the state machine of an AI action; the frame's is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentrt.errors import InternalError

# --- units ------------------------------------------------------------------------------------------------------------

IDLE: Final = 0  # not considered: never asked, or its thinking was stopped
THINKING: Final = 1  # asked, no answer yet
READY: Final = 2  # has an output; may go on watching
IMPOSSIBLE: Final = 3  # ended thinking without an output, rejected, raised, or refused to start: out for now
STARTED: Final = 4  # elected; ``start`` was called
RUNNING: Final = 5  # ``run`` is under way
FINISHED: Final = 6  # ``run`` returned; ``stop`` comes when the plan around it is done

UNIT_NAMES: Final = ("idle", "thinking", "ready", "impossible", "started", "running", "finished")

UNIT_TABLE: Final[Mapping[int, tuple[int, ...]]] = {
    IDLE: (THINKING, READY),
    THINKING: (READY, IMPOSSIBLE, IDLE),
    READY: (THINKING, IMPOSSIBLE, STARTED, IDLE),
    IMPOSSIBLE: (IDLE,),
    STARTED: (RUNNING, IMPOSSIBLE, IDLE),
    RUNNING: (FINISHED, IDLE),
    FINISHED: (IDLE,),
}

# --- frames: the first three and the last mean the same as for units --------------------------------------------------

SWITCHING: Final = 7  # a better action is to take over; the old one unwinds

FRAME_NAMES: Final = ("idle", "thinking", "ready", "", "started", "running", "finished", "switching")

FRAME_TABLE: Final[Mapping[int, tuple[int, ...]]] = {
    IDLE: (THINKING,),
    THINKING: (READY, IDLE),
    READY: (THINKING, STARTED, IDLE),
    STARTED: (RUNNING, SWITCHING, THINKING, READY, IDLE),
    RUNNING: (FINISHED, SWITCHING, IDLE),
    SWITCHING: (READY, THINKING, IDLE),
    FINISHED: (IDLE,),
}


def compile_table(table: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """For each state, the states that may follow as a bit mask."""
    masks = [0] * (max(table) + 1)
    for state, nexts in table.items():
        for following in nexts:
            masks[state] |= 1 << following
    return tuple(masks)


UNIT_MASKS: Final = compile_table(UNIT_TABLE)
FRAME_MASKS: Final = compile_table(FRAME_TABLE)


def illegal(what: str, names: tuple[str, ...], old: int, new: int) -> InternalError:
    """The error for a change that is not in the table; ``what`` it is about, in words."""
    return InternalError(f"{what} cannot go from {names[old]} to {names[new]}.")
