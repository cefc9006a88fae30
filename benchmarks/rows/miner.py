"""Seven diamonds from empty hands, in game time: what looking ahead is good for.

The miner of the example is asked for seven diamonds in a world of a million blocks, with hostile creatures and hunger.
Ours is the strategies as they are; the peer is the same strategies in the same worlds, with three switches off: no
look-ahead, no optional dependencies, recipes collected in the order in which they are written. Neither side's code is
another. What is compared is the median over the seeds, in seconds of game time. Ours has to find them in each world:
one in which it does not makes the whole infinite, and the target is missed. For the peer such a world counts as
infinite.

``size.count`` is how many seeds there are (from 1 on), ``size.rounds`` how many diamonds are asked for; below seven it
asks for wooden pickaxes instead, which shows that it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from benchmarks.harness import Peer, Row, Side, Size, Work

__all__ = ["MINER", "game_seconds"]

_TICKS = 240_000  # more than three hours


def game_seconds(seed: int, diamonds: int, *, looks_ahead: bool) -> float:
    """How long a miner takes, in seconds of game time; infinity if it does not find them.

    Args:
        seed: of the world.
        diamonds: how many; fewer than seven ask for as many wooden pickaxes.
        looks_ahead: whether it looks ahead, takes optional dependencies, and sorts what is collected.
    """
    from agentrt.strategy import Order
    from agentrt_examples.miner.game import Game

    game = Game(seed)
    if not looks_ahead:
        gameplay = game.agent.gameplay
        gameplay.lookahead, gameplay.takes_options, gameplay.order = 0, False, Order.GIVEN
    game.ask("diamond" if diamonds >= 7 else "wooden_pickaxe", diamonds)
    is_found = game.run(_TICKS)
    ended = game.runtime.clock.now
    game.runtime.close()
    return ended if is_found else math.inf


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """The strategies as they are."""

    def work() -> float:
        taken = [game_seconds(seed, size.rounds, looks_ahead=True) for seed in range(1, size.count + 1)]
        return math.inf if math.inf in taken else median(taken)

    yield work


@contextmanager
def without(size: Size) -> Iterator[Work]:
    """The same, with the switches off."""
    yield lambda: median(game_seconds(seed, size.rounds, looks_ahead=False) for seed in range(1, size.count + 1))


MINER = Row(
    name="miner",
    what="seven diamonds from empty hands, median of the game time over the seeds",
    gauge="game seconds",
    ours=Side("agentrt", ours),
    peers=(Peer(Side("no look-ahead, options, order", without), at_least=1.2),),
    size=Size(20, 7),
    quick=Size(2, 1),
    most_repeats=1,
)
