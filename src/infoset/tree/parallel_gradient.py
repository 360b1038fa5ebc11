"""The gradient of a large factored form in two threads, each of which adds up the payoffs of half of the blocks.

The halves are always combined in the same order, on one core as on two, so the result does not depend on timing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from infoset.base import FloatArray
from infoset.tree.kernels import add_blocks, add_in_parallel
from infoset.tree.sequence_form import FormArrays


class ParallelGradient:
    """The blocks of a form, split in two.

    >>> import numpy as np
    >>> from infoset.compiled import Compiled
    >>> from infoset.tree.parallel_gradient import ParallelGradient
    >>> form = Compiled.of("dark_hex(rows=2,columns=2)").factored.form
    >>> values = np.zeros(form.num_sequences)
    >>> ParallelGradient(form.arrays).gradient(0, np.ones(form.num_sequences), values)
    >>> round(float(values.sum()), 2)
    -30.0
    """

    def __init__(self, arrays: FormArrays) -> None:
        self.arrays = arrays
        block, number = add_in_parallel(arrays)
        self.block, self.number = int(block), int(number)
        self.second = np.zeros(int(arrays.sequences[-1]))

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    def gradient(self, player: int, plan: FloatArray, values: FloatArray) -> None:
        """Write the gradient of ``player``, like the kernel ``gradient``."""
        a, own = self.arrays, slice(int(self.arrays.sequences[player]), int(self.arrays.sequences[player + 1]))
        shared = plan * a.shares if len(a.shares) else plan
        values[own] = self.second[own] = 0.0
        successors = self._thread.submit(
            add_blocks, a, player, shared, self.second, self.block, len(a.blocks), self.number
        )  # fmt: skip
        add_blocks(a, player, shared, values, 0, self.block, 0)
        successors.result()
        values[own] += self.second[own]
        if len(a.shares):
            values[own] *= a.shares[own]
