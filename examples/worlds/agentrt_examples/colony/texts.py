"""The words that people read: for each status text key a phrase, for each effect a sign.

The library hands keys about and never looks inside; a game translates them. This is the colony's translation into
English: ``status_text`` is what the runtime asks. A phrase may name the arguments that the action gives, entities among
them, which are called by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["EFFECT_SIGNS", "STATUS_TEXTS", "status_text"]

STATUS_TEXTS: dict[str, str] = {
    "agentrt:status.carrying": "carrying something",
    "agentrt:status.chasing": "chasing",
    "agentrt:status.eating": "eating",
    "agentrt:status.fetching": "fetching something",
    "agentrt:status.fleeing": "running away",
    "agentrt:status.following": "following",
    "agentrt:status.idle": "standing around",
    "agentrt:status.patrolling": "patrolling",
    "agentrt:status.picking_up": "picking something up",
    "agentrt:status.resting": "resting",
    "agentrt:status.sleeping": "sleeping",
    "agentrt:status.storing": "putting something away",
    "agentrt:status.walking": "walking",
    "agentrt:status.strolling": "strolling",
    "agentrt:status.waiting": "waiting",
    "agentrt:status.wandering": "wandering",
    "colony:status.cook": "cooking",
    "colony:status.down": "lying on the ground",
    "colony:status.admiring": "admiring a picture",
    "colony:status.drawing": "drawing {subject}",
    "colony:status.drawing_landscape": "painting a landscape",
    "colony:status.eating": "eating",
    "colony:status.grazing": "grazing",
    "colony:status.harvest": "harvesting",
    "colony:status.fighting": "fighting {wolf}",
    "colony:status.glad": "glad to see {owner}",
    "colony:status.guarding": "keeping watch",
    "colony:status.hauling_meal": "hauling a meal",
    "colony:status.hauling_picture": "hanging a picture",
    "colony:status.hauling_turnip": "hauling a turnip",
    "colony:status.hauling_two_turnips": "hauling two turnips",
    "colony:status.heal": "bandaging {patient}",
    "colony:status.humming": "humming",
    "colony:status.obeying": "obeying orders",
    "colony:status.plant": "planting",
    "colony:status.posing": "posing",
    "colony:status.resting": "resting",
    "colony:status.shooting": "shooting",
    "colony:status.sick": "feeling sick",
    "colony:status.singing": "singing",
    "colony:status.sitting": "going to sit by the fire",
    "colony:status.sleeping": "sleeping",
    "colony:status.telling": "telling a story",
    "colony:status.till": "tilling",
}

EFFECT_SIGNS: dict[str, str] = {
    "aim": "+",
    "bandage": "+",
    "bite": "!",
    "cook": "~",
    "draw_in_notebook": "*",
    "eat": "%",
    "growl": "!",
    "howl": "&",
    "hum": "&",
    "reload": "-",
    "snap": "!",
    "sing": "&",
    "tell": '"',
}


def status_text(key: str, args: Mapping[str, Any]) -> str:
    """The words for a status text key.

    Args:
        key: the key.
        args: what the phrase may name.

    Returns:
        A phrase; the key itself if nobody translated it.
    """
    return STATUS_TEXTS.get(key, key).format_map({name: getattr(value, "name", value) for name, value in args.items()})
