"""Smooth noise in whole numbers: hills and caverns that are the same on every machine.

*Value noise*: a lattice of random numbers, one for each corner of a cell, and between the corners a smooth passage. The
numbers of the lattice are a hash of the corner and a seed (multiplications and shifts of 32 bits, as in Bob Jenkins'
and Thomas Wang's integer hashes), so that a whole array is made at once and no number is drawn one by one.

There is not one float in it: weights are 256ths, and a division is a shift. Libraries of gradient noise count in
floats, and what they give may differ in the last digit between hosts; here it decides where a diamond lies.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

__all__ = ["Whole", "noise"]

Whole = NDArray[numpy.int64]
"""An array of whole numbers."""

_TOP = 1 << 16


def _hashed(seed: int, corners: list[Whole]) -> Whole:
    """A number from 0 to 65,535 for each corner."""
    mixed = numpy.full(numpy.broadcast_shapes(*(one.shape for one in corners)), seed & 0xFFFFFFFF, dtype=numpy.uint32)
    for factor, corner in zip((0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D), corners, strict=False):
        mixed ^= corner.astype(numpy.uint32) * numpy.uint32(factor)
        mixed ^= mixed >> numpy.uint32(15)
        mixed *= numpy.uint32(0x2C1B3C6D)
        mixed ^= mixed >> numpy.uint32(12)
    return (mixed & numpy.uint32(_TOP - 1)).astype(numpy.int64)


def noise(seed: int, shape: tuple[int, ...], cell: int) -> Whole:
    """Noise over an array.

    Args:
        seed: another seed gives another noise.
        shape: of the array; two or three axes.
        cell: how far the corners of the lattice are apart, in blocks.

    Returns:
        Numbers from 0 to 65,535.
    """
    axes = len(shape)
    lattice = [-(-size // cell) + 2 for size in shape]
    grids = [
        numpy.arange(size, dtype=numpy.int64).reshape([-1 if axis == at else 1 for at in range(axes)])
        for axis, size in enumerate(lattice)
    ]
    values = _hashed(seed, grids)
    for axis, size in enumerate(shape):
        where = numpy.arange(size, dtype=numpy.int64)
        low = where // cell
        weight = (where % cell) * 256 // cell
        weight = (weight * weight * (768 - 2 * weight)) >> 16  # 3w^2 - 2w^3
        weight = weight.reshape([-1 if axis == at else 1 for at in range(axes)])
        first, second = values.take(low, axis=axis), values.take(low + 1, axis=axis)
        values = (first * (256 - weight) + second * weight) >> 8
    return values
