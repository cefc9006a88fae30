"""The words that people read: for each status text key a phrase, for each effect a sign.

The library hands keys about and never looks inside; a game translates them. This is the colony's translation
into English.
"""

from __future__ import annotations

__all__ = ["EFFECT_SIGNS", "STATUS_TEXTS", "status_text"]

STATUS_TEXTS: dict[str, str] = {
    "agentrt:status.chasing": "chasing",
    "agentrt:status.fleeing": "running away",
    "agentrt:status.idle": "standing around",
    "agentrt:status.picking_up": "picking something up",
    "agentrt:status.storing": "putting something away",
    "agentrt:status.walking": "walking",
    "agentrt:status.wandering": "wandering",
    "colony:status.biting": "biting",
    "colony:status.cook": "cooking",
    "colony:status.down": "lying on the ground",
    "colony:status.drawing": "drawing an animal",
    "colony:status.drawing_landscape": "painting a landscape",
    "colony:status.eating": "eating",
    "colony:status.grazing": "grazing",
    "colony:status.harvest": "harvesting",
    "colony:status.hauling": "hauling",
    "colony:status.heal": "bandaging",
    "colony:status.hunting": "hunting",
    "colony:status.leaving": "leaving",
    "colony:status.plant": "planting",
    "colony:status.posing": "posing",
    "colony:status.resting": "resting",
    "colony:status.shooting": "shooting",
    "colony:status.sleeping": "sleeping",
    "colony:status.till": "tilling",
}

EFFECT_SIGNS: dict[str, str] = {
    "aim": "+",
    "bandage": "+",
    "bite": "!",
    "cook": "~",
    "draw_in_notebook": "*",
    "eat": "%",
    "reload": "-",
}


def status_text(key: str | None) -> str:
    """The words for a status text key.

    Args:
        key: the key; None for nothing to tell.

    Returns:
        A phrase; the key itself if nobody translated it.
    """
    return "" if key is None else STATUS_TEXTS.get(key, key)
