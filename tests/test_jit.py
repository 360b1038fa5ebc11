"""Kernels that call each other by address: the same results, nothing compiled twice, also over processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba import types

from infoset.jit import Callee, StaleKernelError, inner_kernel, kernel, linked_kernel
from infoset.kernel_cache import _digest, _serves, _sources, listing_folder
from infoset.tree.graph import longest, topological

CHAIN = """
from infoset.jit import Callee, StaleKernelError, inner_kernel, kernel, linked_kernel
from infoset.kernel_cache import _serves
from infoset.tree.graph import longest, topological

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


def run(file: Path, what: str, **settings: str) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(file.parent / "cache"), **settings}
    command = [sys.executable, "-c", PROCESS, str(file), what]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.mark.slow
def test_a_kernel_finds_those_that_other_processes_compiled(tmp_path: Path) -> None:
    """The last process compiles nothing, though what its kernel links calls others by address."""
    file = tmp_path / "chain.py"
    file.write_text(CHAIN)
    assert run(file, "leaf") == "1"
    assert run(file, "middle") == "1"
    assert run(file, "upper") == "1"
    assert run(file, "top") == f"{(3 * 5 + 1 + 3 * 5) + (3 * 5 + 1)} 1"
    assert run(file, "top") == "47 0"


@pytest.mark.slow
def test_code_for_other_settings_is_other_code(tmp_path: Path) -> None:
    """A caller must not find a callee that was compiled otherwise, under another symbol."""
    file = tmp_path / "chain.py"
    file.write_text(CHAIN)
    assert run(file, "top") == "47 4"
    for leaf in (tmp_path / "cache").rglob("infoset.chain.leaf-*"):
        leaf.unlink()
    assert run(file, "leaf", NUMBA_DEBUGINFO="1") == "1"
    assert run(file, "top") == "47 1"


@pytest.mark.slow
def test_spoilt_files_are_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "chain.py"
    file.write_text(CHAIN)
    assert run(file, "top") == "47 4"
    kept = {path.name.split("-")[0]: path for path in (tmp_path / "cache").rglob("*.kernel")}
    kept["infoset.chain.middle"].write_bytes(b"spoilt")
    assert run(file, "upper") == "0"  # what was linked is in it
    assert run(file, "middle") == "1"


def test_a_callee_that_changed_is_noticed() -> None:
    kinds = (types.Array(types.int32, 1, "C"),) * 3
    longest.compile(kinds)
    symbol = longest.overloads[kinds].fndesc.mangled_name
    Callee("infoset.tree.graph", "longest", kinds, symbol, types.int64)()
    for changed in ((symbol + "x", types.int64), (symbol, types.float64)):
        with pytest.raises(StaleKernelError, match="longest is not what a caller of it was compiled for"):
            Callee("infoset.tree.graph", "longest", kinds, *changed)()


USER = """
import numba
from infoset.tree.graph import longest

@numba.njit(cache=True)
def helper(order, first_edge, child):
    return longest(order, first_edge, child)
"""

CALLER = """
import numba
from helper import helper

@numba.njit(cache=True)
def caller(order, first_edge, child):
    return 10 * helper(order, first_edge, child)
"""


@pytest.mark.slow
def test_a_users_cached_functions_may_call_kernels(tmp_path: Path) -> None:
    """The second process links a helper that it takes from the cache, the third takes both from there."""
    (tmp_path / "helper.py").write_text(USER)
    (tmp_path / "caller.py").write_text(CALLER)
    chain = "*(np.array(row, dtype=np.int32) for row in ([0, 1, 2], [0, 1, 2, 2], [1, 2]))"
    calls = {name: f"from {name} import {name}; print({name}({chain}))" for name in ("helper", "caller")}
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": str(tmp_path / "user")}
    for name in ("helper", "caller", "caller"):
        command = [sys.executable, "-c", f"import numpy as np; {calls[name]}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert (done.returncode, done.stdout.strip()) == (0, "2" if name == "helper" else "20"), done.stderr


def test_a_constant_that_changes_is_noticed_in_the_file_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "infoset").mkdir()
    for name, text in (
        ("holding", "from infoset.jit import kernel\nfrom infoset.named import ONE\nfrom infoset import whole as w\n"),
        ("named", "ONE = 1\n"),
        ("whole", "TWO = 2\n"),
        ("other", "from infoset.named import ONE\n"),
    ):
        (tmp_path / "infoset" / f"{name}.py").write_text(text)
    assert len(_sources(tmp_path / "infoset")) == 3


def test_a_package_that_lists_its_kernels_has_a_hash_of_all_its_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "listing_package"
    package.mkdir()
    for name, text in (
        ("__init__.py", ""),
        ("kernels.json", "{}"),
        ("holding.py", "from infoset.jit import kernel\nfrom listing_package.named import ONE\n"),
        ("named.py", "ONE = 1\n"),
    ):
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import_module("listing_package")
    assert listing_folder("listing_package") == package and listing_folder("pytest") is None
    before = _digest.__wrapped__("listing_package", "holding.py")
    assert len(before) == 64
    (package / "named.py").write_text("ONE = 2\n")
    assert _digest.__wrapped__("listing_package", "holding.py") != before


def test_a_folder_that_cannot_be_written_serves_where_it_was_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right to write is simulated: who runs the tests may write everywhere."""

    def refuse(**_: object) -> None:
        raise PermissionError

    (tmp_path / "file").write_text("in which no folder can be made")
    assert not _serves(tmp_path / "file" / "below")
    assert _serves(tmp_path / "new")
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert not _serves(tmp_path / "new")
    (tmp_path / "new" / "infoset.one-0.kernel").write_bytes(b"")
    assert _serves(tmp_path / "new")


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(topological)) is topological


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
    for kind in (types.int16, types.int64, types.literal(7)):
        _double.get_call_template((kind,), {})
    assert list(_double.overloads) == [(types.int64,)]


def test_kernels_inside_can_be_called_from_python() -> None:
    """Only tests do; the product compiles no way in for them."""
    assert (_double(21), _add_one(2.5)) == (42, 3.5)
    assert not _double.from_python
