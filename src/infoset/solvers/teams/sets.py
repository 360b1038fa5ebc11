"""Sets of types as bits, and tables over all of them: subset sums and max-plus subset convolutions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import LongArray
from infoset.jit import inline_kernel, kernel

Table: TypeAlias = npt.NDArray[Any]  # int32, int64 or float64

MIN_TYPES = 2  # ``max_plus`` takes four rows at a time


@inline_kernel
def _larger(a: Any, b: Any) -> Any:
    return a if a > b else b  # unlike max, this need not care about NaN


@kernel
def max_plus(f: Table, g: Table, out: Table) -> None:
    """Compute ``out[M] = max over S in M of f[S] + g[M - S]``, the max-plus subset convolution, lane by lane.

    All tables are (2**k, lanes) with k >= 2; rows are sets as bits.  The four subsets of the two lowest elements are
    processed together: nine splits then cost eight loads.
    """
    rows, lanes = f.shape
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)  # unsigned indices need no check for negative ones
    for m in range(rows):
        for j in range(lanes):
            out[m, j] = f[m, j] + g[0, j]
    for high in range(rows >> 2):
        r0, r1, r2, r3 = out[4 * high], out[4 * high + 1], out[4 * high + 2], out[4 * high + 3]
        part = high
        while True:
            s, t = np.uint64(part << 2), np.uint64((high ^ part) << 2)
            for j in range(np.uint64(lanes)):
                f0, f1, f2, f3 = f[s, j], f[s + one, j], f[s + two, j], f[s + three, j]
                g0, g1, g2, g3 = g[t, j], g[t + one, j], g[t + two, j], g[t + three, j]
                r0[j] = _larger(r0[j], f0 + g0)
                r1[j] = _larger(r1[j], _larger(f0 + g1, f1 + g0))
                r2[j] = _larger(r2[j], _larger(f0 + g2, f2 + g0))
                r3[j] = _larger(r3[j], _larger(_larger(f0 + g3, f3 + g0), _larger(f1 + g2, f2 + g1)))
            if part == 0:
                break
            part = (part - 1) & high


def convolved(f: Table, g: Table) -> Table:
    """Return the max-plus subset convolution of two tables (2**k, lanes)."""
    out = np.empty(f.shape, dtype=f.dtype)
    max_plus(np.ascontiguousarray(f), np.ascontiguousarray(g), out)
    return out


def convolutions(parts: list[Table]) -> list[Table]:
    """Return the convolutions of the first of some tables (2**k, lanes), of the first two, and so on."""
    found = parts[:1]
    for part in parts[1:]:
        found.append(convolved(found[-1], part))
    return found


def divide(whole: int, parts: list[Table]) -> list[int]:
    """Return the subset of each of ``parts``, tables (2**k, 1), in the best partition of ``whole`` among them."""
    before, shares = convolutions(parts[:-1]), []
    for k in range(len(parts) - 1, 0, -1):
        options = subsets(whole)
        shares.append(int(options[np.argmax(before[k - 1][whole ^ options, 0] + parts[k][options, 0])]))
        whole ^= shares[-1]
    return [whole, *reversed(shares)]


def subset_sums(values: Table) -> Table:
    """Return (2**k, ...) the sum over every set of the rows of ``values`` (k, ...)."""
    sums = np.zeros((1 << len(values), *values.shape[1:]), dtype=values.dtype)
    for k, row in enumerate(values):
        sums[1 << k : 2 << k] = sums[: 1 << k] + row
    return sums


def subsets(mask: int) -> LongArray:
    """Return all subsets of a set of bits."""
    found = np.zeros(1, dtype=np.int64)
    while mask:
        found = np.concatenate([found, found | (mask & -mask)])
        mask &= mask - 1
    return found


def elements(mask: int) -> list[int]:
    """Return the elements of a set of bits."""
    return [k for k in range(mask.bit_length()) if mask >> k & 1]
