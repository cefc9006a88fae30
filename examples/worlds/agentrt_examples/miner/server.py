"""The server's chat: commands in, lines of text out.

Some servers sell goods for coins. What they offer is known to nobody but those who ask: ``/shop list`` and its answers
are plain text, as they are in the field, and no strategy of this package knows them. A server without a shop answers
that it knows no such command.

A purse belongs to a name. Goods go straight into the hands of whoever bought them, and only as many as fit.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentrt_examples.miner.inventory import Inventory
from agentrt_examples.miner.rules import ITEMS

__all__ = ["PRICES", "Server"]

PRICES: Mapping[str, tuple[int, int]] = {
    "oak_log": (4, 2),
    "cobblestone": (2, 1),
    "coal": (6, 3),
    "raw_iron": (14, 6),
    "iron_ingot": (20, 9),
    "iron_pickaxe": (70, 20),
    "cooked_beef": (8, 3),
    "diamond": (90, 40),
}
"""For each thing that a shop has, what it costs and what the shop pays for one."""


class Server:
    """Answers commands.

    Args:
        has_shop: whether it has a shop.

    Attributes:
        has_shop: as given.
        purses: how many coins each name has.
    """

    __slots__ = ("has_shop", "purses")

    def __init__(self, *, has_shop: bool = False) -> None:
        self.has_shop = has_shop
        self.purses: dict[str, int] = {}

    def answer(self, who: str, hands: Inventory, text: str) -> list[str]:
        """Answer a command.

        Args:
            who: who says it.
            hands: where goods come from and go to.
            text: the command, such as ``/shop buy coal 4``.

        Returns:
            Lines of text.
        """
        match text.split():
            case ["/shop", *words] if self.has_shop:
                return self._shop(who, hands, words)
            case _:
                return [f"Unknown command: {text}"]

    def _shop(self, who: str, hands: Inventory, words: list[str]) -> list[str]:
        coins = self.purses.setdefault(who, 0)
        match words:
            case ["list"]:
                return [f"{item}: buy {buy}, sell {sell}" for item, (buy, sell) in PRICES.items()]
            case ["balance"]:
                return [f"You have {coins} coins."]
            case ["buy", item, count] if item in PRICES and count.isdecimal():
                return [self._buy(who, hands, item, min(int(count), 10_000))]
            case ["sell", item, count] if item in PRICES and count.isdecimal():
                return [self._sell(who, hands, item, min(int(count), 10_000))]
            case _:
                return ["Usage: /shop list | balance | buy ITEM COUNT | sell ITEM COUNT"]

    def _buy(self, who: str, hands: Inventory, item: str, count: int) -> str:
        price = PRICES[item][0] * count
        coins = self.purses[who]
        if coins < price:
            return f"You need {price} coins and have {coins}."
        if hands.room(item) < count:
            return f"You have no room for {count} {item}."
        self.purses[who] = coins - price
        hands.take_in(item, count)
        return f"Bought {count} {item} for {price} coins."

    def _sell(self, who: str, hands: Inventory, item: str, count: int) -> str:
        if hands.count(item) < count:
            return f"You have {hands.count(item)} {item}, not {count}."
        worn = ITEMS[item].wear and any(stack.used for stack in hands.slots if stack is not None and stack.item == item)
        if worn:
            return f"The shop takes no used {item}."
        hands.remove(item, count)
        earned = PRICES[item][1] * count
        self.purses[who] += earned
        return f"Sold {count} {item} for {earned} coins."
