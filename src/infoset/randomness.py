"""Random words inside kernels: SplitMix64 (Steele et al. 2014) seeded from NumPy's ``SeedSequence``.

A stream is an array of one word; several streams are several such arrays, or rows of one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infoset.jit import inner_kernel, linked_kernel

Words = npt.NDArray[np.uint64]

STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
UNIT = 1.0 / (1 << 53)


def streams(seed: int, count: int) -> Words:
    """Return (count,) the first words of ``count`` independent streams."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64).astype(np.uint64)


@linked_kernel
def next_word(stream: Words) -> np.uint64:
    """Return 64 random bits."""
    stream[0] += STRIDE
    word: np.uint64 = stream[0]
    word = (word ^ (word >> np.uint64(30))) * FIRST_MIX
    word = (word ^ (word >> np.uint64(27))) * SECOND_MIX
    return word ^ (word >> np.uint64(31))


@linked_kernel
def uniform(stream: Words) -> float:
    """Return a random number in [0, 1)."""
    found: float = (next_word(stream) >> np.uint64(11)) * UNIT
    return found


@linked_kernel
def below(stream: Words, bound: int) -> np.int64:
    """Return a uniform integer in [0, bound) for 0 < bound < 2**32, without bias (Lemire 2019)."""
    size = np.uint64(bound)
    product = (next_word(stream) >> HALF) * size
    if product & LOW_HALF < size:
        unfair = (np.uint64(1 << 32) - size) % size
        while product & LOW_HALF < unfair:
            product = (next_word(stream) >> HALF) * size
    return np.int64(product >> HALF)


def generators(seed: int, count: int) -> Words:
    """Return (4, count) the states of ``count`` independent xoshiro256++ generators (Blackman and Vigna 2021)."""
    return streams(seed, 4 * count).reshape(4, count)


@inner_kernel
def next_row(state: Words, row: Words) -> None:
    """Write 64 random bits of every generator to ``row``, in the processor's vector units."""
    for w in range(len(row)):
        a, b, c, d = state[0, w], state[1, w], state[2, w], state[3, w]
        total = a + d
        row[w] = ((total << np.uint64(23)) | (total >> np.uint64(41))) + a
        c ^= a
        d ^= b
        state[1, w] = b ^ c
        state[0, w] = a ^ d
        state[2, w] = c ^ (b << np.uint64(17))
        state[3, w] = (d << np.uint64(45)) | (d >> np.uint64(19))
