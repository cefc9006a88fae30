"""What the player has achieved so far, as it can tell from what it sees.

The game keeps a list of achievements and returns it after each step. The player does not read it, nor the reward that
comes with the first of each: it knows what it tried, and sees what came of it. What is collected, placed or made shows
in the inventory; a cow was eaten when food rose after a blow at one; a creature is dead when it was struck often enough
and is not there any more; a night was slept through when it wakes with all its energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples.crafter.rules import ACHIEVEMENTS, COW, RULES, SKELETON, ZOMBIE, damage

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["Diary"]

_ENEMIES = {ZOMBIE: "zombie", SKELETON: "skeleton"}


class Diary:
    """The achievements of one player.

    Attributes:
        achieved: each that was achieved, and in which step for the first time.
    """

    def __init__(self) -> None:
        self.achieved: dict[str, int] = {}
        self._struck = 0  # what the creature ahead has lost
        self._enemy: int | None = None

    @property
    def open(self) -> list[str]:
        """What is still to be achieved."""
        return [name for name in ACHIEVEMENTS if name not in self.achieved]

    def write(self, did: str, before: dict[str, int], player: Player, was_asleep: bool, target: int | None) -> None:
        """Write down what a step has brought.

        Args:
            did: what was done in it.
            before: the inventory before it.
            player: who did it, as it is now.
            was_asleep: whether it slept before the step.
            target: the creature that it faced before the step, if any.
        """
        now, step = player.inventory, player.step
        if was_asleep:
            if not player.is_asleep and now["energy"] >= RULES["bars"]["most"] and now["health"] >= before["health"]:
                self._achieve("wake_up", step)
            return
        if did == "do":
            self._write_blow(before, player, target)
        elif did.startswith("make_"):
            if now[did[5:]] > before.get(did[5:], 0):
                self._achieve(did, step)
        elif did.startswith("place_"):
            used = "sapling" if did == "place_plant" else next(iter(RULES["place"][did[6:]]["uses"]))
            if now[used] < before.get(used, 0):
                self._achieve(did, step)

    def _write_blow(self, before: dict[str, int], player: Player, target: int | None) -> None:
        now, step = player.inventory, player.step
        for item in RULES["collect"]:
            if now[item] > before.get(item, 0):
                self._achieve(f"collect_{item}", step)
        if target in _ENEMIES:
            self._write_fight(player, target)
            return
        self._struck = 0
        if now["food"] > before["food"]:
            self._achieve("eat_cow" if target == COW else "eat_plant", step)
        elif now["drink"] > before["drink"]:
            self._achieve("collect_drink", step)

    def _write_fight(self, player: Player, target: int) -> None:
        if target != self._enemy:
            self._enemy, self._struck = target, 0
        self._struck += damage(player.inventory)
        kind = _ENEMIES[target]
        if player.atlas.creatures.get(player.ahead) != target:
            if self._struck >= RULES["health"][kind]:
                self._achieve(f"defeat_{kind}", player.step)
            self._struck = 0

    def _achieve(self, name: str, step: int) -> None:
        self.achieved.setdefault(name, step)
