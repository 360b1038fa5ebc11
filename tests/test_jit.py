"""Kernels that call each other by address: the same results, nothing compiled twice, also over processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from infoset.jit import inner_kernel, kernel, linked_kernel

CHAIN = """
from infoset.jit import inner_kernel, kernel, linked_kernel

@inner_kernel
def leaf(x):
    return 3 * x

@linked_kernel
def middle(x):
    return leaf(x) + 1

@inner_kernel
def upper(x):
    return middle(x) + leaf(x)

@kernel
def top(x):
    return upper(x) + middle(x)
"""

PROCESS = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("infoset.chain", sys.argv[1])
chain = sys.modules["infoset.chain"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(chain)
from numba import types
if sys.argv[2] == "top":
    print(chain.top(5), end=" ")
else:
    getattr(chain, sys.argv[2]).compile((types.int64,))
print(sum(sum(k.stats.cache_misses.values()) for k in (chain.leaf, chain.middle, chain.upper, chain.top)))
"""


def run(file: Path, what: str) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(file.parent / "cache")}
    command = [sys.executable, "-c", PROCESS, str(file), what]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


def test_a_kernel_finds_those_that_other_processes_compiled(tmp_path: Path) -> None:
    """The last process compiles nothing, though what its kernel links calls others by address."""
    file = tmp_path / "chain.py"
    file.write_text(CHAIN)
    assert run(file, "leaf") == "1"
    assert run(file, "middle") == "1"
    assert run(file, "upper") == "1"
    assert run(file, "top") == f"{(3 * 5 + 1 + 3 * 5) + (3 * 5 + 1)} 1"
    assert run(file, "top") == "47 0"


@inner_kernel
def _double(x):  # type: ignore[no-untyped-def]
    return 2 * x


@linked_kernel
def _add_one(x):  # type: ignore[no-untyped-def]
    return x + 1


@kernel
def _sum_of_doubles(small, wide):  # type: ignore[no-untyped-def]
    return _double(small[0]) + _double(wide[0]) + _double(7) + _double(np.int64(len(small))) + _add_one(0.5)


def test_one_kernel_serves_all_widths_of_integers() -> None:
    found = _sum_of_doubles(np.array([1, 2], dtype=np.int16), np.array([3], dtype=np.int64))
    assert found == 2 * (1 + 3 + 7 + 2) + 1.5
    assert [str(kind) for kinds in _double.overloads for kind in kinds] == ["int64"]


def test_kernels_inside_can_be_called_from_python() -> None:
    """Only tests do; the product compiles no way in for them."""
    assert (_double(21), _add_one(2.5)) == (42, 3.5)
    assert not _double.from_python
