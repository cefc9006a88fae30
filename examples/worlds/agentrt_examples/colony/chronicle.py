"""The chronicle: what happened in the colony, counted by kind and told in lines.

It is the world's own record, beside the trace of what agents think and do. Whoever listens to it gets every
entry; the colony hands each one on to the trace as a note, so that the digest of a run covers the world as
well: two runs in which the agents decided alike and the world did not would be told apart.

``KINDS`` is the closed list of what is counted, in the order of the summary; an unknown kind is a mistake and
raises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from agentrt import Entity
from agentrt_examples.colony.daylight import Clock

__all__ = ["KINDS", "Chronicle", "Entry"]

KINDS = (
    "plots tilled",
    "plots planted",
    "crops ripened",
    "crops harvested",
    "items stored",
    "goods sold",
    "meals cooked",
    "meals eaten",
    "raw food eaten",
    "nights slept",
    "bites",
    "knocked down",
    "wounds healed",
    "pictures painted",
    "wolves arrived",
    "shots fired",
    "wolves shot",
    "wolves driven off",
    "blows struck",
    "wolves slain",
    "watches kept",
    "parties formed",
    "critters caught",
    "critters born",
    "stories told",
    "songs sung",
    "eggs laid",
    "eggs robbed",
    "eggs hatched",
    "drakes arrived",
    "growls",
    "wolves bitten",
)

_KEPT = 500


class Entry(NamedTuple):
    """One thing that happened.

    Attributes:
        tick: when.
        kind: what is counted, one of ``KINDS``.
        who: the name of whom it is told.
        text: the story in one line, without the name.
    """

    tick: int
    kind: str
    who: str
    text: str


class Chronicle:
    """Counts and tells.

    Args:
        clock: of the runtime.

    Attributes:
        counts: how often each kind of ``KINDS`` happened.
        entries: the last entries, oldest first.
        listeners: called with each entry.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self.entries: deque[Entry] = deque(maxlen=_KEPT)
        self.listeners: list[Callable[[Entry], object]] = []

    def note(self, kind: str, who: Entity, text: str) -> None:
        """Something happened.

        Args:
            kind: what is counted.
            who: whom it is told of.
            text: the story in one line, without the name.

        Raises:
            KeyError: the kind is not counted.
        """
        self.counts[kind] += 1
        entry = Entry(self._clock.tick, kind, who.name, text)
        self.entries.append(entry)
        for listener in self.listeners:
            listener(entry)
