"""What answers where no language model does: the same in every run of a seed, without a network.

It is a stand-in, and no rival of one: a pure function of what was asked, in a dozen lines. It goes for what is rare: of
the achievements that are open and can be had within half a day, the one that stands first in a list that was written
down by hand, whose order is that of the tools that lead to a diamond. So one sees what a thought does to a player, and
what it would cost, before a model is paid for it.
"""

from __future__ import annotations

from typing import Any, Final

from agentrt.minds import Asked, Scripted

__all__ = ["answer", "scripted"]

_WITHIN: Final = 150  # steps: what takes longer is too far to set one's heart on
_DEAREST: Final = (
    "collect_diamond", "make_iron_pickaxe", "make_iron_sword", "collect_iron", "place_furnace", "collect_coal",
    "make_stone_pickaxe", "eat_plant", "place_plant", "collect_sapling", "defeat_skeleton", "make_stone_sword",
    "collect_stone", "make_wood_pickaxe", "place_table", "collect_wood",
)  # fmt: skip


def scripted() -> Scripted:
    """The stand-in, as a mind takes it."""
    return Scripted(answer, latency=1.0, name="stand-in")


def answer(asked: Asked) -> dict[str, Any]:
    """Choose the dearest achievement that is near enough, or else the nearest."""
    takes: dict[str, int] = dict(asked.seen["takes"])
    dear = [name for name in _DEAREST if takes.get(name, _WITHIN + 1) <= _WITHIN]
    chosen = dear[0] if dear else next(iter(takes))
    why = "it is worth the way" if dear else "nothing else is near"
    return {"activity": "crafter:strive", "args": {"name": chosen}, "why": f"{why}: {takes[chosen]} steps"}
