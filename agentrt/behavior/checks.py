"""Checks of a word of flags: the preconditions that need no call of a Decide.

A word is a whole number whose bits an application names: decision flags (what the agent is: a herbivore, in a squad,
dead) and stimuli flags (what it perceives). A check has an AND part and an OR part, and each names bits that have to
be 1 and bits that have to be 0:

    all_set    each of these bits is 1      any_set    one of these bits is 1, or
    all_clear  each of these bits is 0      any_clear  one of these bits is 0

Both parts have to hold. ``check & check`` holds when both do, so that there may be several OR parts: together these
express every combination in conjunctive form. What a check says is compiled once, into a mask, a pattern and the OR
parts; ``holds`` is then two operations on integers in the usual case.

Source: seed 002, "S06: Preconditions & Stimuli".
"""

from __future__ import annotations

from enum import IntFlag

from agentrt.errors import DefinitionError

__all__ = ["Check"]


class Check:
    """A check of a word of flags.

    Args:
        all_set: bits that must all be 1.
        all_clear: bits that must all be 0.
        any_set: bits of which one being 1 is enough...
        any_clear: ...and bits of which one being 0 is enough.

    Attributes:
        mask: the bits that the AND part looks at.
        pattern: what they have to be.
        parts: the OR parts, each a pair of ``any_set`` and ``any_clear``.
        names: what the bits are called, if they were given as members of an ``enum.IntFlag``.

    Raises:
        DefinitionError: a word is negative or no whole number, or a bit has to be both 0 and 1.

    Source: seed 002, "S06: Preconditions & Stimuli".
    """

    __slots__ = ("mask", "names", "parts", "pattern")

    def __init__(self, all_set: int = 0, all_clear: int = 0, any_set: int = 0, any_clear: int = 0) -> None:
        words = {"all_set": all_set, "all_clear": all_clear, "any_set": any_set, "any_clear": any_clear}
        for name, word in words.items():
            given: object = word  # what stands there may be no number at all
            if not isinstance(given, int) or given < 0:
                raise DefinitionError("Check", f"{name} is {word!r}.", "Write bits: a whole number, 0 or greater.")
        self.mask: int = int(all_set) | int(all_clear)
        self.pattern: int = int(all_set)
        self.parts: tuple[tuple[int, int], ...] = ((int(any_set), int(any_clear)),) if any_set or any_clear else ()
        self.names: dict[int, str] = {}
        for word in words.values():
            if isinstance(word, IntFlag):
                self.names.update((member.value, member.name) for member in type(word) if member.name)
        self._require_possible(all_set, all_clear)

    def holds(self, word: int) -> bool:
        """Whether a word passes.

        Args:
            word: the flags.
        """
        if word & self.mask != self.pattern:
            return False
        for any_set, any_clear in self.parts:  # noqa: SIM110 - a generator in all() costs more than the check
            if not word & any_set and word & any_clear == any_clear:  # of an IntFlag, ~ is no complement
                return False
        return True

    def __and__(self, other: Check) -> Check:
        both = Check()
        self._require_possible(self.pattern & other.mask, self.mask & ~self.pattern & other.mask, other)
        both.mask = self.mask | other.mask
        both.pattern = self.pattern | other.pattern
        both.parts = self.parts + other.parts
        both.names = {**other.names, **self.names}
        return both

    def words(self, word: int) -> str:
        """Some bits, for people: their names, or else numbers.

        Args:
            word: the bits.
        """
        bits = (1 << place for place in range(word.bit_length()) if word >> place & 1)
        return " ".join(self.names.get(bit) or f"{bit:#x}" for bit in bits)

    def text(self) -> str:
        """What it asks for, in words; empty if it asks for nothing."""
        parts = [f"all of {self.words(self.pattern)}"] if self.pattern else []
        if self.mask & ~self.pattern:
            parts.append(f"none of {self.words(self.mask & ~self.pattern)}")
        for any_set, any_clear in self.parts:
            either = [f"one of {self.words(any_set)}"] if any_set else []
            if any_clear:
                either.append(f"not all of {self.words(any_clear)}")
            parts.append(" or ".join(either))
        return ", ".join(parts)

    def _require_possible(self, ones: int, zeros: int, other: Check | None = None) -> None:
        clash = ones & zeros if other is None else (ones & ~other.pattern) | (zeros & other.pattern)
        if clash:
            raise DefinitionError("Check", f"the bits {int(clash):#x} have to be 0 and 1 at once.", "Name them once.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Check):
            return NotImplemented
        return (self.mask, self.pattern, self.parts) == (other.mask, other.pattern, other.parts)

    def __hash__(self) -> int:
        return hash((self.mask, self.pattern, self.parts))

    def __repr__(self) -> str:
        parts = [f"all_set={self.pattern:#x}"] if self.pattern else []
        if self.mask & ~self.pattern:
            parts.append(f"all_clear={self.mask & ~self.pattern:#x}")
        for any_set, any_clear in self.parts:
            either = f"any_set={any_set:#x}, " if any_set else ""
            parts.append(f"{either}any_clear={any_clear:#x}" if any_clear else f"any_set={any_set:#x}")
        return f"<Check {'; '.join(parts) or 'of nothing'}>"
