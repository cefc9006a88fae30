"""The study: the same shop with more and more clerks, over many seeds."""

from __future__ import annotations

import hashlib

from agentrt.testing import TraceDigest
from agentrt.worlds import WorldReport

from mygame import make_shop
from mygame.shop import Shop


def run(seed: int, clerks: int, ticks: int) -> tuple[Shop, str]:
    """Run one shop; gives it, and the digest of all that happened in it."""
    shop = make_shop(seed, clerks=clerks)
    digest = TraceDigest(shop.runtime.trace)
    for _ in range(ticks):
        shop.runtime.step()
    digest.close()
    shop.runtime.close()
    return shop, digest.hexdigest()


def study(seeds: int, ticks: int) -> WorldReport:
    """Run all of them; the rows are means over the seeds, and the digest is one of all runs."""
    rows: list[tuple[int | float, ...]] = []
    digest = hashlib.blake2b(digest_size=16)
    for clerks in range(1, 5):
        runs = [run(seed, clerks, ticks) for seed in range(seeds)]
        measured = [shop.measures for shop, _ in runs]
        digest.update("".join(one for _, one in runs).encode())
        rows.append(
            (
                clerks,
                sum(one.served for one in measured) / seeds,
                sum(one.lost for one in measured) / seeds,
                sum(one.mean_wait for one in measured) / seeds,
            )
        )
    return WorldReport(
        digest=digest.hexdigest(),
        title=f"{seeds} seeds, {ticks} ticks each",
        columns=("clerks", "served", "lost", "seconds in line"),
        rows=tuple(rows),
    )
