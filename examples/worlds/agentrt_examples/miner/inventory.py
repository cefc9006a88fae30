"""What the miner carries: a fixed number of slots, each with a stack of one kind, or one tool with its wear.

Rules: a stack holds as many as its kind allows; tools lie alone, since each has been used another number of times. A
tool whose wear is used up is gone. Things are never made or lost here: ``take_in`` says what did not fit, ``remove``
takes all that was asked for or nothing, and what two calls exchange is equal before and after.

``keep`` is how many of a kind its owner wants to carry; more than that is not taken in (digging gives more stone than
anybody can use). The counts by kind are kept beside the slots, because strategies ask for them all the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentrt import Signal
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.rules import ITEMS, ItemKind

__all__ = ["SLOTS", "Inventory", "Stack"]

SLOTS = 36


class Stack:
    """What lies in a slot.

    Args:
        item: its kind.
        count: how many.
        used: how often a tool was used.

    Attributes:
        item: as given.
        count: as given.
        used: as given.
    """

    __slots__ = ("count", "item", "used")

    def __init__(self, item: str, count: int, used: int = 0) -> None:
        self.item = item
        self.count = count
        self.used = used

    @property
    def left(self) -> int:
        """How often a tool can still be used; 0 for what is no tool."""
        wear = ITEMS[self.item].wear
        return wear - self.used if wear else 0

    def __repr__(self) -> str:
        return f"<Stack: {self.count} {self.item}{f', {self.left} uses left' if self.left else ''}>"


class Inventory:
    """Slots with things.

    Args:
        slots: how many.

    Attributes:
        slots: what lies in each; None for an empty one.
        keep: how many of a kind are taken in at most, for kinds where that is not what the rules say.
        changed: emitted after a change.
    """

    __slots__ = ("_counts", "changed", "keep", "slots")

    def __init__(self, slots: int = SLOTS) -> None:
        self.slots: list[Stack | None] = [None] * slots
        self.keep: dict[str, int] = {}
        self.changed = Signal()
        self._counts: dict[str, int] = {}

    # --- looking ------------------------------------------------------------------------------------------------------

    def count(self, item: str) -> int:
        """How many of a kind are there.

        Args:
            item: the kind.
        """
        return self._counts.get(item, 0)

    def counts(self) -> dict[str, int]:
        """How many there are of each kind that is there, in alphabetical order."""
        return dict(sorted(self._counts.items()))

    def has(self, needs: Mapping[str, int]) -> bool:
        """Whether all of something is there.

        Args:
            needs: how many of each kind.
        """
        return all(self._counts.get(item, 0) >= count for item, count in needs.items())

    def tools(self, tool: str) -> Iterator[Stack]:
        """The tools of a kind, in the order of the slots.

        Args:
            tool: ``pickaxe``, ``axe`` or ``sword``.
        """
        for stack in self.slots:
            if stack is not None and ITEMS[stack.item].tool == tool:
                yield stack

    def uses_left(self, tool: str, tier: int = 0) -> int:
        """How often tools of a kind can still be used, all together.

        Args:
            tool: the kind.
            tier: the least tier.
        """
        return sum(stack.left for stack in self.tools(tool) if ITEMS[stack.item].tier >= tier)

    def room(self, item: str) -> int:
        """How many of a kind would still fit.

        Args:
            item: the kind.
        """
        kind = ITEMS[item]
        space = sum(
            kind.stack if stack is None else kind.stack - stack.count if stack.item == item else 0
            for stack in self.slots
        )
        most = self._most(kind)
        return space if most < 0 else max(0, min(space, most - self.count(item)))

    def _most(self, kind: ItemKind) -> int:
        return self.keep.get(kind.name, kind.keep)

    # --- changing -----------------------------------------------------------------------------------------------------

    def take_in(self, item: str, count: int, used: int = 0) -> int:
        """Put things in, as far as they fit and are wanted.

        Args:
            item: their kind.
            count: how many.
            used: how often a tool was used.

        Returns:
            How many did not fit.
        """
        kind = ITEMS[item]
        taken = left = min(count, self.room(item))
        if not taken:
            return count
        for stack in self.slots:
            if left and stack is not None and stack.item == item and stack.count < kind.stack:
                moved = min(left, kind.stack - stack.count)
                stack.count += moved
                left -= moved
        for at, stack in enumerate(self.slots):
            if left and stack is None:
                moved = min(left, kind.stack)
                self.slots[at] = Stack(item, moved, used)
                left -= moved
        self._counts[item] = self.count(item) + taken
        self.changed.emit(item)
        return count - taken

    def remove(self, item: str, count: int = 1) -> None:
        """Take things out; the tools that were used most first.

        Args:
            item: their kind.
            count: how many.

        Raises:
            CannotAct: there are not so many; nothing was taken.
        """
        if self.count(item) < count:
            raise CannotAct("take", "missing", f"there are {self.count(item)} of {count} {item}")
        slots = [at for at, stack in enumerate(self.slots) if stack is not None and stack.item == item]
        slots.sort(key=lambda at: (self._stack(at).left, self._stack(at).count))
        for at in slots:
            stack = self._stack(at)
            moved = min(count, stack.count)
            stack.count -= moved
            count -= moved
            self._count_down(item, moved)
            if not stack.count:
                self.slots[at] = None
        self.changed.emit(item)

    def use(self, tool: Stack) -> bool:
        """Use a tool once.

        Args:
            tool: one of the slots.

        Returns:
            Whether it broke.
        """
        tool.used += 1
        if tool.left > 0:
            return False
        self.slots[next(at for at, stack in enumerate(self.slots) if stack is tool)] = None
        self._count_down(tool.item, 1)
        self.changed.emit(tool.item)
        return True

    def empty(self) -> list[Stack]:
        """Take everything out.

        Returns:
            What was there, in the order of the slots.
        """
        stacks = [stack for stack in self.slots if stack is not None]
        self.slots = [None] * len(self.slots)
        self._counts.clear()
        self.changed.emit("")
        return stacks

    def _stack(self, at: int) -> Stack:
        stack = self.slots[at]
        assert stack is not None
        return stack

    def _count_down(self, item: str, count: int) -> None:
        left = self._counts[item] - count
        if left:
            self._counts[item] = left
        else:
            del self._counts[item]

    def __repr__(self) -> str:
        return f"<Inventory: {', '.join(f'{count} {item}' for item, count in self.counts().items()) or 'empty'}>"
