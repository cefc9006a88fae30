"""Watching the bars: an observer for each need, which has a task created when its bar is not full any more."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agentrt import Agent, next_tick
from examples.crafter.actions.living import DARK
from examples.crafter.player import Player

__all__ = ["NEEDS", "observe_energy", "observe_food", "observe_water"]

NEEDS = "crafter:task_groups:solo:needs"


def _observer(activity: str, is_due: Callable[[Player], bool]) -> Callable[[Agent], Coroutine[Any, Any, None]]:
    async def observe(agent: Agent) -> None:
        player: Player = agent.entity
        bars = player.signal("bars")
        while True:
            while not is_due(player):
                await bars.wait()
            group = agent.get_task_group(NEEDS)
            task = group.create_task(activity).once().start()
            await task.wait()
            await next_tick()

    return observe


def _is_tired(player: Player) -> bool:
    return player.inventory["energy"] <= 6 or player.inventory["health"] <= 3 or player.light < DARK


observe_water = _observer("crafter:drink", lambda player: player.inventory["drink"] <= 7)
observe_food = _observer("crafter:eat", lambda player: player.inventory["food"] <= 6)
observe_energy = _observer("crafter:rest", _is_tired)
