"""A shop with clerks and customers, for headless runs over many seeds."""

from __future__ import annotations

from pathlib import Path

import agentrt as art
from agentrt.worlds import SimpleWorld

from mygame import clerk, customer
from mygame.shop import Shop

__all__ = ["make_shop", "manifest", "world"]

PACKS = Path(__file__).with_name("packs")

manifest = art.Manifest(
    "mygame",
    {
        "actions:tidy_up": clerk.TidyUp,
        "actions:serve_next": clerk.ServeNext,
        "actions:stand_in_line": customer.StandInLine,
        "ai_pack:clerk": PACKS / "clerk.json",
        "ai_pack:customer": PACKS / "customer.json",
    },
)


def make_shop(seed: int, host: str = "plain", clerks: int = 2) -> Shop:
    """Make a shop with so many clerks; customers come by themselves."""
    shop = Shop(art.Runtime(seed, host=host), world.registry)
    for number in range(clerks):
        shop.enter("clerk", f"clerk {number + 1}")
    shop.runtime.spawn(shop.customers_come)
    return shop


def make(*, seed: int, host: str) -> art.Runtime:
    """Make the shop as the commands of agentrt want it."""
    return make_shop(seed, host).runtime


world = SimpleWorld("mygame", make, summary="A shop: how many clerks does it take?", manifests=[manifest])
