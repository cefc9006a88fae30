"""Whole worlds to look at, carried by the wheel: see ``agentrt_examples.colony``.

What they bring is in the registry of nobody who does not ask for it; their own agents are given ``everything()``.
"""

from __future__ import annotations

from functools import cache

from agentrt import Registry

__all__ = ["everything"]


@cache
def everything() -> Registry:
    """What the packs of these worlds' agents can name: all that is installed, and what these worlds bring."""
    return Registry.discover(strict=False, examples=True)
