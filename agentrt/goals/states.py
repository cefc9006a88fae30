"""In which states a goal of a selector can be, and which may follow which.

Two facts decide most of what a selector does, so the numbers are chosen to make each of them one comparison:

* ``state >= PENDING``: the goal is entitled to its entries in the selector's map of locked flags;
* ``state >= BUSY``: it is running, in the words of the seed (``WrappedGoal.isRunning``).

From ``start`` to ``stop`` is the way ``RUNNING``, ``ENDING``; there is no other way in or out, so the two are paired.

Source: seed 000, "WrappedGoals"; the states of coroutine goals are ours.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "ABSENT",
    "BUSY",
    "DISABLED",
    "ENDING",
    "IDLE",
    "PENDING",
    "RUNNING",
    "STATE_NAMES",
    "STATE_TABLE",
]

IDLE = 0  # not running: asked in each full tick whether it can be used, if its flags are free
ENDING = 1  # told to stop: its coroutines clean up, or its ``stop`` is being called; it holds its flags until then
DISABLED = 2  # one of its callbacks raised: it is not asked any more
ABSENT = 3  # removed, or its selector drives nobody
PENDING = 4  # chosen: it begins when its flags are free and whom it replaces has cleaned up
BUSY = 5  # running; a coroutine of its ``start`` or ``tick`` has not returned, so it is not ticked
RUNNING = 6  # running

STATE_NAMES: tuple[str, ...] = ("idle", "ending", "disabled", "absent", "pending", "busy", "running")

STATE_TABLE: Mapping[int, tuple[int, ...]] = {
    IDLE: (PENDING, DISABLED, ABSENT),
    PENDING: (IDLE, RUNNING, DISABLED, ABSENT),
    RUNNING: (BUSY, ENDING),
    BUSY: (RUNNING, ENDING),
    ENDING: (IDLE, DISABLED, ABSENT),
    DISABLED: (IDLE, ABSENT),  # idle again when the selector joins a body
    ABSENT: (IDLE,),
}
