"""Striving: the open achievements, each a task; the cheaper one is to have, the more it is worth now.

What it takes is what its strategies say. So what lies by the way is done first, and what was far away comes to its turn
when the player happens to be near. An achievement that failed is left alone for a while.
"""

from __future__ import annotations

from math import inf
from typing import Any

from agentrt import MOVE, TOP, Action, ActionArgs, Agent, Context
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Dependency
from agentrt.tasks import Task
from examples.crafter import legs
from examples.crafter.eyes import DAY
from examples.crafter.player import Player
from examples.crafter.rules import RULES
from examples.crafter.strategies.farming import Fenced, fenced
from examples.crafter.strategies.wants import Have, want_for

__all__ = ["AMBITIONS", "Idle", "StockUp", "Strive", "TendFarm", "lacks_stones", "observe_ambitions"]

AMBITIONS = "crafter:task_groups:solo:ambitions"
_HALF = 100.0  # steps: what takes so long is worth half
_NOON = 85  # the step of a day from which on it thinks of the night
_STONES = 7
_PLANTS = 3
_ABLE = 4  # health, food and drink that it takes to think of farming
_STANDS = 10  # steps that it stands about before it thinks again
_HOME = 8  # steps
_BACK_OFF = 60  # steps
_SOON, _FRESH = 10, 150  # steps for which a cost is good enough: the longer, the more it is


class Strive(Action):
    """Achieve something, by whatever strategies are the cheapest."""

    does = "crafter:strive"
    utility = (0.0, 1.0)
    made_of = ("cost",)

    class Args(ActionArgs):
        """What.

        Attributes:
            name: of the achievement.
        """

        name: str

    def __init__(self) -> None:
        self._cost = inf
        self._asked = self._keeps = 0.0
        self._stock = self._finds = -1

    async def think(self, ctx: Context[Player], args: Args) -> None:
        player = ctx.entity
        while True:
            age = player.step - self._asked
            is_same, finds = player.stock == self._stock, player.atlas.finds
            if age >= (self._keeps if is_same else self._keeps / 2) or (age >= _SOON and finds != self._finds):
                self._cost = ctx.agent.gameplay.cost(want_for(args.name, player.inventory))
                self._asked, self._stock, self._finds = player.step, player.stock, finds
                self._keeps = min(_FRESH, max(_SOON, self._cost))
            cost = self._cost if player.step >= player.put_off.get(args.name, 0) else inf
            if cost < inf:
                ctx.get_debug_info_datastore()["cost"] = cost
                ctx.set_utility(_HALF / (_HALF + cost))
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await player.signal("ponders").wait()

    async def run(self, ctx: Context[Player], args: Args) -> None:
        player = ctx.entity
        ctx.set_status_text_key(f"wants to {args.name.replace('_', ' ')}")
        try:
            await ctx.agent.gameplay.solve(want_for(args.name, player.inventory))
        except DependencyFailedError as error:
            ctx.set_debug_progress(error.story)
            player.put_off[args.name] = player.step + _BACK_OFF * (1 + player.failures.get(args.name, 0))
            player.failures[args.name] = player.failures.get(args.name, 0) + 1
            await player.act("noop")


class _Chore(Action):
    """Something that is worth doing now and then, by whatever strategies; left alone for a while if it fails."""

    key = ""  # under which it is put off

    async def think(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        while True:
            if player.put_off.get(self.key, 0) <= player.step and self.is_due(player):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await player.signal("ponders").wait()

    def is_due(self, player: Player) -> bool:
        raise NotImplementedError

    def wanted(self, player: Player) -> Dependency[Any]:
        raise NotImplementedError

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        try:
            await ctx.agent.gameplay.solve(self.wanted(player))
        except DependencyFailedError as error:
            ctx.set_debug_progress(error.story)
            player.put_off[self.key] = player.step + _BACK_OFF
            await player.act("noop")


class TendFarm(_Chore):
    """See to it that some plants grow, fenced in: cows get rare."""

    does = TOP
    utility = 0.2
    status_text_key = "tends its plants"
    key = "farm"

    def is_due(self, player: Player) -> bool:
        bars = player.inventory
        is_able = player.has("stone_pickaxe") and min(bars["health"], bars["food"], bars["drink"]) >= _ABLE
        return is_able and not player.is_dark and len(fenced(player)) < _PLANTS

    def wanted(self, player: Player) -> Dependency[Any]:
        return Fenced(min(_PLANTS, len(fenced(player)) + 1))


class StockUp(_Chore):
    """Have stones at hand before it gets dark: with six of them there is a shelter anywhere."""

    does = TOP
    utility = 0.43
    status_text_key = "fetches stones for the night"
    key = "stones"

    def is_due(self, player: Player) -> bool:
        return lacks_stones(player)

    def wanted(self, player: Player) -> Dependency[Any]:
        return Have("stone", _STONES)


def lacks_stones(player: Player) -> bool:
    """Whether it is past noon, and there are no stones for the night.

    Args:
        player: who has none.
    """
    is_day = player.step % DAY >= _NOON and not player.is_dark
    return is_day and player.has("wood_pickaxe") and not player.has("stone", _STONES - 1)


class Idle(Action):
    """Stand about, for want of anything better."""

    does = TOP
    utility = 0.01
    flags = (MOVE,)
    status_text_key = "stands about"

    async def run(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        plants = fenced(player)
        if plants:
            cells = player.atlas.around(plants[0], player.reach, _HOME)
            if cells and cells[0] != player.place and player.reach.steps[cells[0]] > _HOME:
                try:
                    await legs.go(player, cells[0])
                except legs.CannotAct as fault:
                    ctx.set_debug_progress(fault.reason)
        await ctx.sleep_ticks(_STANDS)


async def observe_ambitions(agent: Agent) -> None:
    """Have a task for each achievement that is open and in sight: what it builds on was achieved.

    Args:
        agent: who has them.
    """
    player: Player = agent.entity
    group = agent.get_task_group(AMBITIONS)
    achieved = player.diary.achieved
    tasks: dict[str, Task] = {}
    while player.diary.open:
        for name in [name for name in tasks if name in achieved]:
            tasks.pop(name).destroy()
        for name in player.diary.open:
            if name not in tasks and RULES["after"].get(name, name) in (name, *achieved):
                tasks[name] = group.create_task("crafter:strive", name=name).start()
        await player.signal("achieved").wait()
    for task in tasks.values():
        task.destroy()
