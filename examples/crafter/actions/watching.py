"""Watching the bars: an observer for each need, which keeps a task up for as long as it is due."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agentrt import Agent
from examples.crafter.player import Player

__all__ = ["NEEDS", "observe_energy", "observe_food", "observe_water"]

NEEDS = "crafter:task_groups:solo:needs"


def _observer(
    activity: str, bar: str, is_due: Callable[[Player], bool]
) -> Callable[[Agent], Coroutine[Any, Any, None]]:
    """An observer that keeps a task up for as long as a need is due; it looks whenever a bar has changed."""

    async def observe(agent: Agent) -> None:
        player: Player = agent.entity
        changes = player.signal(bar)
        while True:
            while not is_due(player):
                await changes.wait()
            task = agent.get_task_group(NEEDS).create_task(activity).start()
            while is_due(player):
                await changes.wait()
            task.destroy()

    return observe


def _is_tired(player: Player) -> bool:
    return player.inventory["energy"] <= 5 or player.inventory["health"] <= 4 or player.is_dark


observe_water = _observer("crafter:drink", "drink", lambda player: player.inventory["drink"] <= 7)
observe_food = _observer("crafter:eat", "food", lambda player: player.inventory["food"] <= 6)
observe_energy = _observer("crafter:rest", "tired", _is_tired)
