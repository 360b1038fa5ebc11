"""Types of kernels' arguments as data, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof, types

from infoset.kernel_types import read_type, spell_type


class Desk(NamedTuple):
    """A named tuple that a file can name."""

    rows: np.ndarray
    count: int


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (3, "int64"),
        (0.5, "float64"),
        (True, "bool"),
        (np.uint64(1), "uint64"),
        (np.zeros(3, dtype=np.int16), "int16[1C]"),
        (np.zeros((3, 2)), "float64[2C]"),
        (np.zeros((3, 2)).T, "float64[2F]"),
        (np.zeros(6)[::2], "float64[1A]"),
        (np.frombuffer(b"12345678", dtype=np.uint8), "uint8[1C]r"),
        ((1, 0.5), ["", "int64", "float64"]),
        ((1, 1), ["", "int64", "int64"]),
        (Desk(np.zeros((2, 2), dtype=np.bool_), 1), [f"{__name__}:Desk", "bool[2C]", "int64"]),
        (None, "none"),
    ],
)
def test_a_type_is_read_as_it_was_written(value: object, spelled: object) -> None:
    kind = typeof(value)
    assert spell_type(kind) == spelled
    assert read_type(spelled) == kind


def test_what_kernels_do_not_take_is_refused() -> None:
    with pytest.raises(TypeError, match="unicode_type"):
        spell_type(types.unicode_type)
