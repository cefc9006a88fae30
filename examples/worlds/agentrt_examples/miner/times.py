"""How long acts take, in ticks: what hands need, and what strategies reckon with.

Apart from the acts themselves, so that strategies are loaded without the libraries that the world needs.
"""

from __future__ import annotations

__all__ = ["CHAT_TICKS", "CRAFT_TICKS", "EAT_TICKS", "PORTAL_TICKS", "PUT_TICKS", "RATE", "STRIKE_TICKS"]

RATE = 20
"""Ticks in a second."""

CRAFT_TICKS = 8
"""For crafting once."""

EAT_TICKS = 24
"""For eating one thing."""

PORTAL_TICKS = 60
"""For passing a portal."""

PUT_TICKS = 4
"""For putting a block down."""

STRIKE_TICKS = 10
"""For a blow."""

CHAT_TICKS = 10
"""For saying something to the server, and reading the answer."""
