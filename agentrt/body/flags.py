"""Control flags: which parts of a body are in use, in one ledger for each agent.

A goal, a behavior or an action that declares flags takes them from the agent's ledger when it starts and gives them
back when it stops, so that two models never drive the same legs. Rules:

* A claim takes all of its flags or none.
* A flag has one holder. Who runs *for* a holder (an action that a held action executes) shares its flags.
* A refusal is remembered with its reason until the next claim of the same claimant; it is never silent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

__all__ = ["JUMP", "LOOK", "MOVE", "TARGET", "FlagLedger", "Hold", "Refusal"]

MOVE = "MOVE"
LOOK = "LOOK"
JUMP = "JUMP"
TARGET = "TARGET"


class Hold(NamedTuple):
    """Who holds a flag.

    Attributes:
        owner: the object that claimed it.
        name: the owner's name, for people.
        since: the tick of the claim.
    """

    owner: object
    name: str
    since: int


class Refusal(NamedTuple):
    """Why a claim failed.

    Attributes:
        flag: the flag that was taken.
        claimant: who wanted it, by name.
        holder: who held it, by name.
        tick: when.
    """

    flag: str
    claimant: str
    holder: str
    tick: int


class FlagLedger:
    """Who holds which control flag of one agent."""

    __slots__ = ("_holds", "_refusals")

    def __init__(self) -> None:
        self._holds: dict[str, Hold] = {}
        self._refusals: dict[str, Refusal] = {}

    def claim(
        self, flags: Collection[str], owner: object, name: str, tick: int, shared_with: Iterable[object] = ()
    ) -> Refusal | None:
        """Take flags, all or none.

        Args:
            flags: what to take, in a fixed order.
            owner: who holds them from now on.
            name: its name, for people.
            tick: now.
            shared_with: owners whose flags count as free, because the claimant runs for them.

        Returns:
            None if it was granted, else who stood in the way.
        """
        shared = list(shared_with)
        for flag in flags:
            hold = self._holds.get(flag)
            if hold is not None and hold.owner is not owner and not any(hold.owner is other for other in shared):
                refusal = Refusal(flag, name, hold.name, tick)
                self._refusals[name] = refusal
                return refusal
        self._refusals.pop(name, None)
        for flag in flags:
            if flag not in self._holds:
                self._holds[flag] = Hold(owner, name, tick)
        return None

    def release(self, owner: object) -> None:
        """Give back all that an owner holds.

        Args:
            owner: who held it.
        """
        for flag in [flag for flag, hold in self._holds.items() if hold.owner is owner]:
            del self._holds[flag]

    def holder(self, flag: str) -> Hold | None:
        """Who holds a flag, or None.

        Args:
            flag: the flag.
        """
        return self._holds.get(flag)

    def holds(self) -> dict[str, Hold]:
        """All that is held, by flag, in the order of claiming."""
        return dict(self._holds)

    def refusals(self) -> list[Refusal]:
        """The last refusal of each claimant that has not succeeded since."""
        return list(self._refusals.values())
