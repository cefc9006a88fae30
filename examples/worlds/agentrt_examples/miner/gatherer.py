"""What finding, going and mining ask of a body: the one door between those strategies and whoever carries them out.

The simulated miner has it, and so has a bot on a real server: the same strategies drive both. It names no array, no
tick and no furnace. What is known (``known``, ``stock``, ``place``) answers at once; what acts is awaited and raises
``CannotAct``, of which ``reason`` says why in a word.

An entity that has all this offers it under this protocol: ``entity[Gatherer]``.

Source: prismarine-gameplay: "1. Goals" (a higher-level interface to a bot's own).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agentrt import Signal
from agentrt_examples.miner.places import Place

__all__ = ["Gatherer"]


@runtime_checkable
class Gatherer(Protocol):
    """Somebody who goes about, mines blocks, and keeps what drops."""

    @property
    def place(self) -> Place:
        """Where its feet are."""
        ...

    @property
    def stock(self) -> dict[str, int]:
        """How many it carries of each kind of item; a copy."""
        ...

    @property
    def has_looked(self) -> bool:
        """Whether it has looked around where it stands, so that looking again shows nothing new."""
        ...

    def known(self, kind: str, limit: int = 1) -> list[Place]:
        """The blocks of a kind that it knows, the nearest first; what is shunned is left out.

        Args:
            kind: the name of the kind.
            limit: how many at most.
        """
        ...

    def shun(self, place: Place, seconds: float) -> None:
        """Leave a place out for a while.

        Args:
            place: which.
            seconds: of game time.
        """
        ...

    def want(self, item: str, count: int) -> None:
        """Keep so many of an item from now on, also where it would leave them lying otherwise.

        Args:
            item: the kind of the item.
            count: how many.
        """
        ...

    def reaches(self, place: Place) -> bool:
        """Whether its hands reach a block.

        Args:
            place: where the block is.
        """
        ...

    async def look_around(self) -> None:
        """See what there is to see from where it stands."""
        ...

    async def go_to(self, place: Place) -> None:
        """Go somewhere.

        Args:
            place: where its feet shall be.

        Raises:
            CannotAct: there is no way, or something else prevented it.
        """
        ...

    async def approach(self, target: Place) -> None:
        """Go where its hands reach a block.

        Args:
            target: where the block is.

        Raises:
            CannotAct: there is no way, or something else prevented it.
        """
        ...

    async def mine(self, place: Place) -> None:
        """Dig a block within reach, with the tool that suits it.

        Args:
            place: where the block is.

        Raises:
            CannotAct: it is out of reach or gone, or cannot be dug.
        """
        ...

    async def pick_up(self) -> None:
        """Pick up what lies around."""
        ...

    def signal(self, name: str) -> Signal:
        """What happens to it: ``hurt``, ``inventory``, ``died`` and whatever else it tells.

        Args:
            name: what happens.
        """
        ...
