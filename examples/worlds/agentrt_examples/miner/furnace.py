"""Furnaces: what lies in one, and what has become of it by now.

A furnace does nothing tick by tick. It knows when it was last looked at, and how long it has burned since follows from
the tick: so a hundred of them cost nothing, and each goes on while nobody is there.

Fuel is burned piece by piece: a piece is taken when the one before it is used up, and there is something to smelt.
"""

from __future__ import annotations

from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.rules import ITEMS, SMELT_FUEL, SMELT_TICKS, SMELTS

__all__ = ["Furnace"]


class Furnace:
    """One furnace.

    Attributes:
        raw: what it smelts; empty for nothing.
        waiting: how many of it are left.
        done: what is ready, by item.
        fuel: what it burns, by item.
        units: units of fuel that burn already.
    """

    __slots__ = ("_begun", "done", "fuel", "raw", "units", "waiting")

    def __init__(self) -> None:
        self.raw = ""
        self.waiting = 0
        self.done: dict[str, int] = {}
        self.fuel: dict[str, int] = {}
        self.units = 0
        self._begun = 0

    def load(self, tick: int, item: str, count: int, fuel: str, pieces: int) -> None:
        """Put something in.

        Args:
            tick: now.
            item: what to smelt.
            count: how many.
            fuel: what to burn.
            pieces: how many of that.

        Raises:
            CannotAct: it smelts something else, or nothing becomes of that, or that does not burn.
        """
        self._catch_up(tick)
        if item not in SMELTS:
            raise CannotAct("smelt", "missing", f"nothing becomes of {item}")
        if pieces and not ITEMS[fuel].fuel:
            raise CannotAct("smelt", "missing", f"{fuel} does not burn")
        if self.waiting and self.raw != item:
            raise CannotAct("smelt", "blocked", f"the furnace smelts {self.raw}")
        if not self._burns:
            self._begun = tick
        self.raw = item
        self.waiting += count
        if pieces:
            self.fuel[fuel] = self.fuel.get(fuel, 0) + pieces

    @property
    def _burns(self) -> bool:
        return bool(self.waiting) and (self.units >= SMELT_FUEL or bool(self.fuel))

    def due(self, tick: int) -> int:
        """Ticks until the next piece is done; 0 if nothing burns.

        Args:
            tick: now.
        """
        self._catch_up(tick)
        return self._begun + SMELT_TICKS - tick if self._burns else 0

    def take(self, tick: int) -> dict[str, int]:
        """Take out what is done.

        Args:
            tick: now.
        """
        self._catch_up(tick)
        done, self.done = self.done, {}
        return done

    def clear(self, tick: int) -> dict[str, int]:
        """Take out all that is in it.

        Args:
            tick: now.
        """
        found = self.take(tick)
        for item, count in ((self.raw, self.waiting), *self.fuel.items()):
            if count:
                found[item] = found.get(item, 0) + count
        self.waiting = 0
        self.fuel = {}
        return found

    def _catch_up(self, tick: int) -> None:
        while self._burns and tick - self._begun >= SMELT_TICKS:
            while self.units < SMELT_FUEL and self.fuel:
                item = next(iter(self.fuel))
                self.units += ITEMS[item].fuel
                self.fuel[item] -= 1
                if not self.fuel[item]:
                    del self.fuel[item]
            if self.units < SMELT_FUEL:
                return
            self.units -= SMELT_FUEL
            self.waiting -= 1
            made = SMELTS[self.raw]
            self.done[made] = self.done.get(made, 0) + 1
            self._begun += SMELT_TICKS
