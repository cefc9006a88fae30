"""What goes wrong when somebody acts: one exception, with what, where, and a word for the reason.

An act that cannot be done raises ``CannotAct`` and changes nothing. ``reason`` is one of a few words, so that whoever
called can choose what to do instead without reading the sentence.
"""

from __future__ import annotations

from agentrt_examples.miner.places import Place

__all__ = ["CannotAct"]


class CannotAct(Exception):
    """An act that cannot be done, here and now.

    Args:
        act: what was to be done, in a word.
        reason: why not: ``reach``, ``tool``, ``space``, ``missing``, ``blocked``, ``way``, ``danger`` or ``died``.
        text: the same as a sentence.
        place: where; None if that does not matter.

    Attributes:
        act: as given.
        reason: as given.
        place: as given.
    """

    def __init__(self, act: str, reason: str, text: str, place: Place | None = None) -> None:
        where = "" if place is None else f" at {place[0]},{place[1]},{place[2]}"
        super().__init__(f"cannot {act}{where}: {text}")
        self.act = act
        self.reason = reason
        self.place = place
