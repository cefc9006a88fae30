"""Buying and selling: two dependencies of the plugin's own, and three strategies.

What the server said is kept with the entity that asked (``Prices``), so that estimates need not ask. Before it was
asked nobody knows whether it sells anything: then a purchase is foreseen to fail more often than not, and costs what
asking does; the next estimate knows better.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from agentrt.strategy import Branch, Dependency, Strategy
from agentrt_examples.miner.strategies.needs import Collect

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext

__all__ = ["AskPrices", "BuyGoods", "Coins", "Prices", "SellGoods"]

_CHAT = 0.5  # seconds for a command
_KEPT = 16  # of each thing that is sold
_HOPE = 0.1  # how likely it is that a server has a shop that sells it
_GUESS = 2.0  # seconds for a purchase, if it has
_OFFER = re.compile(r"(\w+): buy (\d+), sell (\d+)")
_COINS = re.compile(r"You have (\d+) coins")


class Prices:
    """What somebody knows of the server's shop; a component.

    Args:
        goods: for each thing what it costs, and what the shop pays for it; empty for a server without a shop.
        coins: how many coins one has.

    Attributes:
        goods: as given.
        coins: as given.
    """

    __slots__ = ("coins", "goods")

    def __init__(self, goods: Mapping[str, tuple[int, int]], coins: int) -> None:
        self.goods = dict(goods)
        self.coins = coins


class KnowPrices(Dependency[None], activity="miner_shop:know_prices"):
    """Know what the server sells, and for how much."""

    cost = _CHAT

    def is_met(self, ask: Ask) -> bool:
        """Whether it was asked."""
        return ask.entity.get(Prices) is not None


class Coins(Dependency[None], activity="miner_shop:coins"):
    """Have so many coins."""

    amount: int

    cost = 60.0

    def is_met(self, ask: Ask) -> bool:
        """Whether there are so many."""
        prices = ask.entity.get(Prices)
        return prices is not None and prices.coins >= self.amount

    def guard_key(self) -> object:
        """Whoever earns coins must not need coins."""
        return "coins"


class AskPrices(Strategy):
    """Ask the server."""

    provides = KnowPrices
    cost = _CHAT

    async def run(self, ctx: StrategyContext, wanted: KnowPrices) -> None:
        """Ask, and remember the answer."""
        lines = await ctx.entity.say("/shop list")
        found = [match for line in lines if (match := _OFFER.fullmatch(line)) is not None]
        goods = {match[1]: (int(match[2]), int(match[3])) for match in found}
        ctx.entity.add(Prices(goods, await balance(ctx) if goods else 0))


class BuyGoods(Strategy):
    """Buy it in the server's shop."""

    provides = Collect

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        """What it takes: coins, and before that the prices."""
        prices = ask.entity.get(Prices)
        if prices is None:
            # Nobody knows yet: most servers have no shop, and then another strategy has to do it.
            return (
                Branch(_HOPE, _CHAT + _GUESS, (KnowPrices(),), label="there is a shop"),
                Branch(1.0 - _HOPE, needs=(KnowPrices(),), fails=True, label="there is none"),
            )
        if wanted.item not in prices.goods:
            ask.cannot("the server sells none" if prices.goods else "the server has no shop")
        missing = max(1, wanted.count - ask.entity.stock.get(wanted.item, 0))
        return (Branch(cost=_CHAT, needs=(Coins(prices.goods[wanted.item][0] * missing),)),)

    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        """Buy what is missing."""
        await ctx.solve(KnowPrices())
        prices: Prices = ctx.entity[Prices]
        if wanted.item not in prices.goods:
            ctx.fail("the server sells none" if prices.goods else "the server has no shop")
        missing = wanted.count - ctx.entity.stock.get(wanted.item, 0)
        price = prices.goods[wanted.item][0] * missing
        await ctx.solve(Coins(price))
        ctx.entity.want(wanted.item, wanted.count)
        lines = await ctx.entity.say(f"/shop buy {wanted.item} {missing}")
        prices.coins = await balance(ctx)
        if not lines[0].startswith("Bought"):
            ctx.fail(lines[0])
        return wanted.count


class SellGoods(Strategy):
    """Sell what one has more of than one needs."""

    provides = Coins

    def foresee(self, ask: Ask, wanted: Coins) -> Iterable[Branch]:
        """What to sell."""
        prices = ask.entity.get(Prices)
        if prices is None or not prices.goods:
            ask.cannot("there is no shop to sell to")
        goods = spare(ask, prices)
        if prices.coins + sum(prices.goods[item][1] * count for item, count in goods.items()) < wanted.amount:
            ask.cannot("there is not enough to sell")
        return (Branch(cost=_CHAT * 2 * len(goods)),)

    async def run(self, ctx: StrategyContext, wanted: Coins) -> None:
        """Sell as much as it takes."""
        prices: Prices = ctx.entity[Prices]
        for item, count in spare(ctx.ask, prices).items():
            missing = wanted.amount - prices.coins
            if missing <= 0:
                break
            enough = min(count, ceil(missing / prices.goods[item][1]))
            await ctx.entity.say(f"/shop sell {item} {enough}")
            prices.coins = await balance(ctx)


def spare(ask: Ask, prices: Prices) -> dict[str, int]:
    """What can be sold: all but a few of each thing, and nothing that a request asks for.

    Args:
        ask: the world.
        prices: what the shop takes.
    """
    ask.reads("requests")
    requests: Any = ask.agent.gameplay.running
    asked = [one.wanted.item for one in requests if isinstance(one.wanted, Collect)]
    stock: Mapping[str, int] = ask.entity.stock
    return {item: stock[item] - _KEPT for item in prices.goods if stock.get(item, 0) > _KEPT and item not in asked}


async def balance(ctx: StrategyContext) -> int:
    """How many coins one has, as the server says.

    Args:
        ctx: of whoever asks.
    """
    (line,) = await ctx.entity.say("/shop balance")
    match = _COINS.match(line)
    return 0 if match is None else int(match[1])
