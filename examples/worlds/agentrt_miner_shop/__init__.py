"""A plugin for the miner: it knows how to buy and sell in the shop that some servers have.

A package of its own, with an entry point of its own. It knows one word of the miner (``Collect``, what somebody wants
to have) and none of its strategies; they know nothing of it. When it is installed, its strategies are mixed into the
miner's pack, and from then on whatever anybody wants may be bought: a pickaxe that another strategy needs for diamonds,
or the diamonds themselves, whenever that takes less time than to mine them.

What there is to be had is found out by asking the server, once; a server without a shop is not asked again. Coins come
from selling what one has more of than one needs, and never what somebody has asked for.

Source: prismarine-gameplay: "Plugins" (virtual shops); "Hard Dependencies".
"""

from __future__ import annotations

from agentrt import Manifest
from agentrt_miner_shop.buying import AskPrices, BuyGoods, SellGoods

__all__ = ["manifest"]

manifest = Manifest(
    "miner_shop",
    {
        "strategies:ask_prices": AskPrices,
        "strategies:buy_goods": BuyGoods,
        "strategies:sell_goods": SellGoods,
    },
    mixins={
        "miner:ai_pack:miner": {
            "strategies": [
                "miner_shop:strategies:ask_prices",
                "miner_shop:strategies:buy_goods",
                "miner_shop:strategies:sell_goods",
            ]
        }
    },
)
