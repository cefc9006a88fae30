"""What the ledger of control flags is about: holders, what they hold, claims, and refusals.

The rules stand in ``flags``, beside the ledger that keeps them; here are the words that models, snapshots and tools
share with it. A ``Claim`` is the ledger's own: nobody else sees one, what tools see of it is a ``Waiting``.

Source: design section 3, control flags; seed 000, "Flags".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

__all__ = ["Claim", "Hold", "Holder", "Refusal", "Waiting"]


class Holder(Protocol):
    """Who can hold control flags: a goal of a selector, a decider of a behavior tree, a unit of a plan."""

    @property
    def flag_name(self) -> str:
        """What to call it, for people."""
        ...

    @property
    def runs_for(self) -> Holder | None:
        """For whom it runs, so that flags are shared; None for nobody."""
        ...

    @property
    def precedence(self) -> int:
        """Whose claims win: the higher one; 0 unless somebody says otherwise."""
        ...

    @property
    def is_interruptible(self) -> bool:
        """Whether it gives way to a claim of higher precedence."""
        ...

    def give_way(self, flag: str, claimant: str) -> None:
        """End, for a claim of higher precedence; release when that is done, now or later.

        Args:
            flag: what is wanted.
            claimant: who wants it, by name.
        """

    def flags_granted(self) -> None:
        """A claim that waited has its flags now. Called on the stack of whoever released them."""


class Hold(NamedTuple):
    """Who holds a flag.

    Attributes:
        owner: who claimed it.
        name: the owner's name, for people.
        since: the tick of the claim.
    """

    owner: Holder
    name: str
    since: int


class Refusal(NamedTuple):
    """Why a claim failed.

    Attributes:
        flag: the flag that stood in the way.
        claimant: who wanted it, by name.
        holder: who held it, by name.
        tick: when.
        reason: why the holder kept it, in words.
        is_final: whether waiting is no use, because the holder waits for the claimant in turn.
    """

    flag: str
    claimant: str
    holder: str
    tick: int
    reason: str
    is_final: bool = False

    def text(self) -> str:
        """The refusal in one line."""
        return f"{self.claimant} was refused {self.flag} in tick {self.tick}: held by {self.holder}, {self.reason}"


class Waiting(NamedTuple):
    """A claim that waits.

    Attributes:
        claimant: who, by name.
        flags: for what.
        since: the tick of the claim.
        precedence: of the claimant.
    """

    claimant: str
    flags: tuple[str, ...]
    since: int
    precedence: int


class Claim:
    """One claim, while the ledger decides about it or it waits.

    Args:
        flags: for what, in a fixed order.
        owner: who.
        tick: when.
        shared: others whose flags count as free.

    Attributes:
        flags: as given.
        owner: as given.
        tick: as given.
        shared: as given.
        is_told: whether the owner is to be told when it is served, because its call of ``claim`` is over.
    """

    __slots__ = ("flags", "is_told", "owner", "shared", "tick")

    def __init__(self, flags: Collection[str], owner: Holder, tick: int, shared: tuple[object, ...]) -> None:
        self.flags: tuple[str, ...] = tuple(flags)
        self.owner: Holder = owner
        self.tick: int = tick
        self.shared: tuple[object, ...] = shared
        self.is_told: bool = False

    def is_for(self, owner: object) -> bool:
        """Whether the claimant is an owner, or runs for it.

        Args:
            owner: who holds or awaits something.
        """
        link: Holder | None = self.owner
        while link is not None:
            if link is owner:
                return True
            link = link.runs_for
        return False

    def shares_with(self, owner: object) -> bool:
        """Whether an owner's flags count as free: the claimant runs for it, or it goes for the claimant.

        Args:
            owner: who holds or awaits something.
        """
        return self.is_for(owner) or any(owner is other for other in self.shared)
