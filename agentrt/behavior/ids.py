"""Numbers for deciders, behaviors and trees: the ``0x2d5e207`` in ``ROOT/0x2d5e207``.

A number is made of the name and of nothing else, so that it is the same in every run, on every machine and after the
tree was edited elsewhere: who searches yesterday's log finds today's decider. It has 28 bits, as the numbers in the
logs of the source have. Two names of one tree with one number are an error at initialization; a number of one's own
(``id=``) settles it, and is how the logs of another system are reproduced.

Source: seed 002, "S11: Debugging".
"""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["stable_number"]

_MASK = (1 << 28) - 1


def stable_number(kind: str, name: str) -> int:
    """The number of a thing.

    Args:
        kind: what kind of thing; a decider and a behavior of one name have different numbers.
        name: its name.
    """
    digest = blake2b(f"{kind}:{name}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") & _MASK
