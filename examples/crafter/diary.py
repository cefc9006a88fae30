"""What the player has achieved so far, as it can tell from what it sees.

The game keeps a list of achievements and returns it after each step. The player does not read it, nor the reward that
comes with the first of each: it knows what it tried, and sees what came of it.

* What is collected, placed or made shows in the inventory. Who strikes water has drunk, thirsty or not.
* A creature dies when it has lost as much as it can bear. What was struck is followed with the eyes while that is
  possible: it moves by one cell a step at most. One that is struck and is nowhere near afterwards is dead, too; only a
  zombie may vanish by itself, as some do in every tenth step.
* A sapling was eaten when it was ripe, which the player counts, or when food rose.
* Who sleeps until all energy is back wakes by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from examples.crafter.rules import ACHIEVEMENTS, COW, RULES, SIDES, SKELETON, ZOMBIE, damage

if TYPE_CHECKING:
    from examples.crafter.atlas import Atlas
    from examples.crafter.reach import Cell

__all__ = ["Diary", "Writer"]

_PREY: Final = {ZOMBIE: ("zombie", "defeat_zombie"), SKELETON: ("skeleton", "defeat_skeleton"), COW: ("cow", "eat_cow")}
_VANISHING: Final = 10  # steps: in each step that is divisible by it a zombie may vanish


class Writer(Protocol):
    """A player, as its diary sees it: what it knows of itself in a step."""

    step: int
    inventory: dict[str, int]
    atlas: Atlas

    @property
    def ahead(self) -> Cell:
        """The cell that it faces."""
        ...


class Diary:
    """The achievements of one player.

    Attributes:
        achieved: each that was achieved, and in which step for the first time.
    """

    def __init__(self) -> None:
        self.achieved: dict[str, int] = {}
        self._victim: Cell | None = None  # where the creature is that was struck last; None: it is lost or dead
        self._struck = 0  # what it has lost

    @property
    def open(self) -> list[str]:
        """What is still to be achieved."""
        return [name for name in ACHIEVEMENTS if name not in self.achieved]

    def write_waking(self, player: Writer) -> None:
        """Write down that it woke by itself.

        Args:
            player: who did.
        """
        self._achieve("wake_up", player.step)

    def write(self, did: str, before: dict[str, int], player: Writer, around: dict[Cell, int]) -> None:
        """Write down what a step has brought.

        Args:
            did: what was done in it; ``sleep`` if it slept on, whatever it meant to do.
            before: the inventory before it.
            player: who did it, as it is now.
            around: the creatures that it saw before the step.
        """
        now = player.inventory
        kind, doing, thing = around.get(player.ahead), *did.partition("_")[::2]
        blow = kind in _PREY and did == "do"
        if blow:
            self._struck = damage(before) + (self._struck if self._victim == player.ahead else 0)
            self._victim = player.ahead
        self._follow(player, around, blow)
        if did == "do":
            if kind is None:
                self._write_use(before, player)
            elif kind == COW and now["food"] > before["food"]:
                self._achieve("eat_cow", player.step)
        elif doing == "make" and now[thing] > before.get(thing, 0):
            self._achieve(did, player.step)
        elif doing == "place":
            used = next(iter(RULES["place"][thing]["uses"]))
            if now[used] < before.get(used, 0):
                self._achieve(did, player.step)

    def _write_use(self, before: dict[str, int], player: Writer) -> None:
        """Something was struck that is no creature that moves."""
        now, step, ahead, plants = player.inventory, player.step, player.ahead, player.atlas.plants
        for item in RULES["collect"]:
            if now[item] > before.get(item, 0):
                self._achieve(f"collect_{item}", step)
        if ahead in plants:
            if now["food"] > before["food"] or plants[ahead] > RULES["ripe_after"] + 1:
                plants[ahead] = 1  # it has begun to grow again in this very step
                self._achieve("eat_plant", step)
        elif player.atlas.is_there(ahead, "water"):
            self._achieve("collect_drink", step)

    def _follow(self, player: Writer, around: dict[Cell, int], blow: bool) -> None:
        """Look where the victim has gone, and whether it still lives."""
        victim = self._victim
        if victim is None:
            return
        kind = around[victim]
        name, deed = _PREY[kind]
        now = player.atlas.creatures
        near = [cell for x, y in ((0, 0), *SIDES) if now.get(cell := (victim[0] + x, victim[1] + y)) == kind]
        must_be_dead = self._struck >= RULES["health"][name]
        is_gone = not near and (kind != ZOMBIE or player.step % _VANISHING != 0)
        if blow and (must_be_dead or is_gone):
            self._achieve(deed, player.step)
        self._victim = near[0] if len(near) == 1 and not must_be_dead else None

    def _achieve(self, name: str, step: int) -> None:
        self.achieved.setdefault(name, step)
