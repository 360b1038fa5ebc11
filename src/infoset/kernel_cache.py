"""Compiled kernels on disk: one file for a kernel with its argument types, written in full or not at all.

Numba's own cache keeps an index file for each kernel, which processes that save at the same time overwrite for each
other; it does not notice when a function called from another file changes; and the code that it loads may call code
that is not loaded.  Here the folder is named after a hash of all sources that hold kernels or constants that they use,
and the file after everything that the code depends on.  Whatever cannot be loaded is compiled again.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config, serialize, sigutils
from numba.core.compiler import CompileResult

from infoset.files import replace_file
from infoset.kernel_types import spell_type

SETTINGS = ("OPT", "DEBUGINFO_DEFAULT", "BOUNDSCHECK", "ENABLE_AVX")
"""Settings of Numba's configuration that the code depends on."""
OURS = ("jit", "kernel_cache")
IMPORT = re.compile(rb"^from ([\w.]+) import (\w+|\()", re.M)
HERE = Path(__file__).parent
LIST = "kernels.json"
"""The file in which a package lists its kernels, so that they are compiled ahead (``warm_up``)."""


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels: in the user's cache, or a temporary one where that cannot be written.

    A folder that was filled beforehand need not be writable.
    """
    digest = hashlib.sha256(numba.__version__.encode() + b"".join(_sources(HERE)))
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "infoset" / f"kernels-{digest.hexdigest()[:16]}"
    if not _serves(folder):
        folder = Path(tempfile.gettempdir()) / f"infoset-{getpass.getuser()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def listing_folder(package: str) -> Path | None:
    """Return the folder of an imported package that lists its kernels; ``None`` for all other code."""
    places = getattr(sys.modules.get(package), "__path__", ())
    return next((Path(place) for place in places if Path(place, LIST).is_file()), None)


def _sources(*folders: Path) -> list[bytes]:
    """Return packages' files that hold kernels, and those that they import from: constants become part of the code."""
    found = {file: file.read_bytes() for folder in folders for file in sorted(folder.rglob("*.py"))}
    holding = [source for file, source in found.items() if file.stem in OURS or b"from infoset.jit import" in source]
    names = {b"/".join(match).decode().replace(".", "/") for source in holding for match in IMPORT.findall(source)}
    places = {folder.parent / name for folder in folders for name in names}
    needed = {place.with_suffix(".py") for place in places} | {place.parent.with_suffix(".py") for place in places}
    return [source for file, source in found.items() if source in holding or file in needed]


def _serves(folder: Path) -> bool:
    """Return whether kernels can be kept in a folder, or are there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return folder.is_dir() and any(folder.glob("*.kernel"))


class KernelCache:
    """The cache files of one kernel, in the form that Numba's dispatcher requests."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.source = function.__code__.co_filename

    @property
    def cache_path(self) -> str:
        """The folder of compiled kernels."""
        return str(cache_folder())

    def file(self, signature: Any, codegen: Any) -> Path:
        """Return the file for the code for these argument types and this processor."""
        settings = [str(getattr(config, name)) for name in SETTINGS]
        kinds = [_spelled(kind) for kind in sigutils.normalize_signature(signature)[0]]
        source = _digest(self.name.partition(".")[0], self.source)
        key = repr((self.name, source, kinds, codegen.magic_tuple(), sys.implementation.cache_tag, settings))
        return cache_folder() / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.kernel"

    def load_overload(self, signature: Any, target: Any) -> CompileResult | None:
        """Load the code and all that it calls by address, ready to run; None where it has to be compiled."""
        target.refresh()
        file = self.file(signature, target.codegen())
        try:
            return CompileResult._rebuild(target, *pickle.loads(file.read_bytes()))
        except Exception:  # it is missing or damaged, or calls a kernel that has changed
            return None

    def save_overload(self, signature: Any, compiled: CompileResult) -> None:
        """Save the code, if the disk has room for it."""
        if compiled.library.has_dynamic_globals or compiled.lifted:
            return
        code = serialize.dumps(compiled._reduce())
        with suppress(OSError):
            replace_file(self.file(signature, compiled.codegen), lambda file: file.write(code))

    def flush(self) -> None:
        """Do nothing: there is no index."""


@cache
def _digest(package: str, source: str) -> str:
    """Return a hash of what a kernel depends on besides infoset, which the folder's name covers."""
    if package == __name__.partition(".")[0]:
        return ""
    folder = listing_folder(package)
    with suppress(OSError):  # the source may be a cell of a notebook
        return hashlib.sha256(b"".join(_sources(HERE, folder)) if folder else Path(source).read_bytes()).hexdigest()
    return source


def _spelled(kind: Any) -> Any:
    try:
        return spell_type(kind)
    except TypeError:
        return repr(kind)
