"""Buffs: what is wrong with a body for a while, and the AI that comes with it.

A buff is a JSON file with a name, how many ticks it lasts, and, in place, the pack that whoever has it gets. The
component ``Buffs`` says which a body has and until when; ``Medicine`` lays them on, and takes them away when their time
is over or somebody has cured them. The AI is injected with the buff and revoked with it.

Source: Stonehearth, AI: "Injecting actions", snared_buff.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrt import Entity

if TYPE_CHECKING:
    from agentrt import Agent, Injection

__all__ = ["BUFFS", "Buffs", "Medicine"]

BUFFS: Mapping[str, Mapping[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "data" / "buffs").glob("*.json"))
}
"""The buffs that there are, by name."""


class Buffs:
    """The buffs of one body.

    Args:
        tick: tells the tick.

    Attributes:
        until: for each buff the tick in which it ends.
    """

    __slots__ = ("_tick", "until")

    def __init__(self, tick: Callable[[], int]) -> None:
        self._tick = tick
        self.until: dict[str, int] = {}

    def begin(self, name: str) -> None:
        """Have a buff from now on, or longer than before; the medicine does the rest.

        Args:
            name: one of ``BUFFS``.
        """
        self.until[name] = self._tick() + BUFFS[name]["lasts"]

    def end(self, name: str) -> None:
        """Have a buff no more.

        Args:
            name: its name.
        """
        self.until.pop(name, None)

    def left(self, name: str) -> int:
        """For how many ticks a buff still lasts; 0 without it.

        Args:
            name: its name.
        """
        return max(0, self.until.get(name, 0) - self._tick())

    def share_left(self, name: str) -> float:
        """How much of a buff's time is left, from 1.0 to 0.0.

        Args:
            name: its name.
        """
        lasts: int = BUFFS[name]["lasts"]
        return self.left(name) / lasts


class Medicine:
    """Has the AI of buffs come and go.

    Args:
        tick: tells the tick.
    """

    def __init__(self, tick: Callable[[], int]) -> None:
        self._tick = tick
        self._injected: dict[tuple[Entity, str], Injection] = {}

    def look_after(self, agents: list[Agent]) -> None:
        """Inject the AI of buffs that are new, and revoke that of those that are over.

        Args:
            agents: everybody.
        """
        tick = self._tick()
        for agent in agents:
            entity: Entity = agent.entity
            buffs = entity.get(Buffs)
            if buffs is None or not buffs.until:
                continue
            for name in [name for name, due in buffs.until.items() if due <= tick]:
                buffs.end(name)
            for name in buffs.until:
                if (entity, name) not in self._injected:
                    self._injected[entity, name] = agent.inject_from(BUFFS[name], source=f"buff: {name}")
        for entity, name in [key for key in self._injected if key[0].is_destroyed or key[1] not in key[0][Buffs].until]:
            self._injected.pop((entity, name)).revoke()
