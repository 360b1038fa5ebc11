"""Sets of cells as one bit mask per row of the board: bit c of word r is the cell in row r, column c.

A set is an array (size,) of ``uint32``; boards have at most 32 columns.
"""

from __future__ import annotations

import numpy as np

from infoset.jit import count_ones, inline_kernel, linked_kernel

ONE = np.uint32(1)


@inline_kernel
def contains(cells, cell, size):
    """Return whether ``cell`` is in the set."""
    return (cells[cell // size] >> np.uint32(cell % size)) & ONE


@inline_kernel
def add(cells, cell, size):
    """Add ``cell`` to the set."""
    cells[cell // size] |= ONE << np.uint32(cell % size)


@inline_kernel
def remove(cells, cell, size):
    """Remove ``cell`` from the set."""
    cells[cell // size] &= ~(ONE << np.uint32(cell % size))


@inline_kernel
def clear(cells, size):
    """Remove all cells from the set."""
    for r in range(size):
        cells[r] = np.uint32(0)


@inline_kernel
def row_of_neighbours(cells, r, size):
    """Return row ``r`` of a set together with all neighbours of its cells; bits beyond the last column may be set."""
    word = cells[r]
    word |= (word << ONE) | (word >> ONE)
    if r > 0:
        word |= cells[r - 1]
    if r + 1 < size:
        word |= cells[r + 1]
    return word


@linked_kernel
def count(cells, size):
    """Return the number of cells in the set."""
    total = np.int64(0)
    for r in range(size):
        total += np.int64(count_ones(cells[r]))
    return total
