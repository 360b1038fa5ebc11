"""How kernels are compiled: Numba, cached on disk under a key of every kernel's source.

Numba's own cache does not notice when a function called from another file changes, so the cache folder is
named after a hash of all files that hold kernels.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


@cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: a folder of the user's cache that can be written, or a temporary one."""
    package = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(package.rglob("*.py")):
        source = file.read_bytes()
        if b"infoset.jit import" in source:
            digest.update(source)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "infoset" / f"kernels-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"infoset-{os.getuid()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_compiled() -> bool:
    """Whether kernels were compiled on this machine before."""
    return any(cache_folder().rglob("*.nbi"))


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars: no Python objects, no interpreter lock, cached."""
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = previous


def inline_kernel(function: F) -> F:
    """A piece of a kernel: pasted into every kernel that calls it."""
    piece: F = numba.njit(inline="always", error_model="numpy")(function)
    return piece


@intrinsic  # type: ignore[untyped-decorator]
def lowest_one(typing: Any, word: Any) -> Any:
    """The index of the lowest bit that is set in a word that is not 0."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(typing: Any, word: Any) -> Any:
    """How many bits of a word are set."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return word(word), generate


def with_piece(function: F, piece: str, replacement: Callable[..., Any]) -> F:
    """``function`` with the global name ``piece`` meaning ``replacement``: one kernel a variant, one source.

    The copy has a name of its own, so that the variants do not share an entry of the cache.
    """
    names = dict(function.__globals__, **{piece: replacement})
    copy = types.FunctionType(function.__code__, names, f"{function.__name__}_{replacement.__name__}")
    copy.__qualname__ = copy.__name__
    copy.__module__ = function.__module__
    return copy  # type: ignore[return-value]
