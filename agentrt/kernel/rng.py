"""Seeded random streams, one for each agent and each named use.

Python's own generators are stable in ``random()`` only; ``choice`` and ``shuffle`` changed between versions, and one
``random.Random`` weighs 2.5 KiB, more than an idle agent may. A stream here is one 64-bit state (SplitMix64: Steele,
Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) and integer arithmetic, the same bits
everywhere.

A stream is derived from a seed and a name through BLAKE2, never from the order in which streams are asked for: adding
an agent does not change what another one draws.

All that a stream is, is its state: whoever saves that number and sets it again goes on with the very next draw.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from typing import TypeVar

from agentrt.words import repr_of

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def derive_seed(seed: int | str, name: str) -> int:
    """The seed of a named stream, from that of the whole run: a number from 0 to 2**64 - 1."""
    # The parts are framed by their length: ("1", "2:3") and ("1:2", "3") must differ.
    text = f"{len(str(seed))}:{seed}:{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


class Stream:
    """A deterministic source of random numbers.

    Args:
        seed: any whole number; only its low 64 bits count.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    @property
    def state(self) -> int:
        """Where it stands, a number from 0 to 2**64 - 1; set on another stream, that one goes on from here.

        Raises:
            ValueError: it is set to something else.
        """
        return self._state

    @state.setter
    def state(self, state: int) -> None:
        if type(state) is not int or not 0 <= state <= _MASK:  # it comes out of saved games
            raise ValueError(f"the state of a stream is {repr_of(state, 80)}: it takes a number from 0 to 2**64 - 1")
        self._state = state

    def bits(self) -> int:
        """The next 64 random bits, as a number from 0 to 2**64 - 1."""
        self._state = state = (self._state + _GOLDEN) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        return state ^ (state >> 31)

    def random(self) -> float:
        """A number from 0.0 up to, not including, 1.0."""
        return (self.bits() >> 11) * 2.0**-53

    def uniform(self, low: float, high: float) -> float:
        """A number between two bounds, in either order."""
        return low + (high - low) * self.random()

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, a limit.

        Args:
            limit: greater than 0, and at most 2**64.

        Raises:
            ValueError: the limit is out of that range.
        """
        if not 0 < limit <= _MASK + 1:
            raise ValueError(f"below({limit}): the limit must be greater than 0 and at most 2**64")
        # Numbers past the last whole multiple of the limit would make the low results likelier: draw again.
        bound = (1 << 64) - (1 << 64) % limit
        while (bits := self.bits()) >= bound:
            pass
        return bits % limit

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included.

        Raises:
            ValueError: high is less than low, or there are more than 2**64 numbers between them.
        """
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the other.

        Raises:
            IndexError: there is none.
        """
        if not items:
            raise IndexError("choice() needs at least one item")
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One of the items, each as likely as its weight says.

        Args:
            items: at least one.
            weights: one for each item, none below 0, not all 0, all finite.

        Raises:
            ValueError: the weights do not fit the items.
        """
        total = 0.0
        for weight in weights:  # not sum(): from Python 3.12 on it rounds otherwise
            total += weight
        if len(items) != len(weights) or not 0 < total < math.inf or min(weights) < 0:
            raise ValueError(f"weighted() needs a weight of 0 or more for each of {len(items)} items, not {weights!r}")
        mark = self.random() * total
        last = items[0]
        for item, weight in zip(items, weights, strict=True):
            if weight > 0:
                last = item
                mark -= weight
                if mark < 0:
                    break
        return last

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put the items into a random order, in place."""
        for index in range(len(items) - 1, 0, -1):
            other = self.below(index + 1)
            items[index], items[other] = items[other], items[index]

    def __repr__(self) -> str:
        return f"<Stream at {self._state:#018x}>"
