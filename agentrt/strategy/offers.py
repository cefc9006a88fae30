"""Offers: what strategies say when they are asked to provide a dependency, and who is chosen.

Only records. An offer is what people and parents see (``rank``, ``gameplay.offers``). With what the strategy foresees
it is what estimates and look-ahead work on.

Source: seed 003, "Global Dependency Lists".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.strategy import Branch

__all__ = ["Choice", "Offer", "Priced"]


class Offer(NamedTuple):
    """What a strategy said when it was asked to provide a dependency.

    Attributes:
        provider: it.
        cost: the expected game seconds; infinity if it cannot.
        reason: why it cannot; empty if it can.
    """

    provider: Provider
    cost: float
    reason: str = ""


class Priced(NamedTuple):
    """An offer, with what the strategy foresees.

    Attributes:
        offer: what it said.
        branches: what may come of it; empty if it does not foresee anything.
    """

    offer: Offer
    branches: tuple[Branch, ...] = ()


class Choice(NamedTuple):
    """What a dependency costs, and by whom.

    Attributes:
        cost: the expected game seconds; 0 if it is met, infinity if nobody can provide it.
        by: the cheapest offer; None if it is met, if nobody can, and where look-ahead ends.
        is_met: whether it holds.
    """

    cost: float
    by: Priced | None = None
    is_met: bool = False
