"""Offers: what strategies say when they are asked to provide a dependency, and who is chosen.

An offer is what people and parents see (``rank``, ``gameplay.offers``). With what the strategy foresees it is what
estimates and look-ahead work on. A parent's say (``ranked``) is checked: what it picks is something that it was
offered, or nobody would ever be tried and nobody be told why.

Source: seed 003, "Global Dependency Lists".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import ArgumentError
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.strategy import Branch

__all__ = ["Choice", "Offer", "Priced", "Rank", "check_rank", "ranked"]


class Offer(NamedTuple):
    """What a strategy said when it was asked to provide a dependency.

    Attributes:
        provider: it.
        cost: the expected game seconds; infinity if it cannot.
        reason: why it cannot; empty if it can.
        said: the game seconds that it said, before that was corrected; None if nothing was.
        circle: the circle of needs because of which it cannot, in words; empty if there is none.
    """

    provider: Provider
    cost: float
    reason: str = ""
    said: float | None = None
    circle: str = ""


Rank = Callable[[Sequence[Offer]], Iterable[Offer]]
"""How a parent has a say: from the offers of those that can, the cheapest first, to those that it will have tried."""


def check_rank(method: str, rank: object) -> None:
    """Check what was given as a parent's say.

    Args:
        method: what was called, for the error.
        rank: what was given.

    Raises:
        ArgumentError: it is no function, or one that waits.
    """
    if rank is not None and (not callable(rank) or inspect.iscoroutinefunction(rank)):
        meant = "Write a plain function: rank=lambda offers: offers[:2]."
        raise ArgumentError(method, "rank", f"takes a function of the offers, not {repr_of(rank)}. {meant}")


def ranked(rank: Rank, offers: Sequence[Offer], failed: Collection[Provider]) -> list[Offer]:
    """What a parent says to offers.

    Args:
        rank: says it.
        offers: of those that can, and of those that cannot.
        failed: who has failed already; a parent may have kept their offers.

    Returns:
        Those that are to be tried, in the parent's order, and then all others, which cannot or were left out.

    Raises:
        ArgumentError: it gave something that is no offer of anybody who was asked.
    """
    able = {offer.provider: offer for offer in offers if offer.cost < inf}
    asked = {*failed, *(offer.provider for offer in offers)}
    picked = _several(rank(tuple(able.values())))
    chosen: dict[Provider, Offer] = {}
    for one in picked:
        if not isinstance(one, Offer) or one.provider not in asked:
            raise ArgumentError(
                "ctx.solve",
                "rank",
                f"gave {repr_of(one, 200)}, which is none of the offers. Let it return a list of those that it was "
                "given: rank=lambda offers: [one for one in offers if one.cost < 20].",
            )
        if one.provider in able:
            chosen[one.provider] = able[one.provider]
    left = [offer for offer in offers if offer.provider not in chosen]
    return [*chosen.values(), *(one._replace(cost=inf, reason=one.reason or "it was left out") for one in left)]


def _several(given: object) -> list[Any]:
    """What an author's function gave as several; what is none is one that is no offer."""
    if inspect.iscoroutine(given):
        given.close()
        return [given]
    if isinstance(given, (str, bytes, Offer)) or not isinstance(given, Iterable):
        return [repr_of(given, 200) if isinstance(given, Offer) else given]
    return list(given)


class Priced(NamedTuple):
    """An offer, with what the strategy foresees.

    Attributes:
        offer: what it said.
        branches: what may come of it; empty if it does not foresee anything.
        circle: if it cannot since it needs itself, the needs from what it was asked for down to what is needed again.
    """

    offer: Offer
    branches: tuple[Branch, ...] = ()
    circle: tuple[Dependency[Any], ...] = ()


class Choice(NamedTuple):
    """What a dependency costs, and by whom.

    Attributes:
        cost: the expected game seconds; 0 if it is met, infinity if nobody can provide it.
        by: the cheapest offer; None if it is met, if nobody can, and where look-ahead ends.
        is_met: whether it holds.
        circle: if nobody can since each would need itself, the needs from it down to what is needed again.
    """

    cost: float
    by: Priced | None = None
    is_met: bool = False
    circle: tuple[Dependency[Any], ...] = ()
