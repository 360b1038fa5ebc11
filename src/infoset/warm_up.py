"""Compiling ahead: the kernels that an agent or a solver calls, side by side in processes, before a clock runs.

Numba compiles a kernel when it is first called, one after the other.  Which kernels with which argument types are
needed for what is known beforehand: ``kernels.json`` was recorded by ``benchmarks/record_kernels.py``, a list in which
each kernel stands behind those that it calls by address.  What is not in the list, or no longer fits, is compiled when
it is called: only time is lost.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from threading import local
from typing import Any, TypeAlias

import llvmlite.binding
import msgspec

from infoset import jit, signs
from infoset.files import lock_file
from infoset.kernel_types import Spelled, read_type
from infoset.processes import usable_cores

COMPILING = "compiling, once on this machine"
FILE = Path(__file__).with_name("kernels.json")


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A kernel with argument types, and the earlier entries that it calls by their address.

    ``name`` is the kernel's in its module; or ``maker module:piece`` for one that ``maker`` makes around a piece.
    """

    module: str
    name: str
    types: tuple[Spelled, ...]
    needs: tuple[int, ...]


class Recorded(msgspec.Struct, frozen=True):
    """What is compiled for what: ``sets`` holds numbers of entries, those that are needed included."""

    entries: tuple[Entry, ...]
    sets: dict[str, tuple[int, ...]]


Progress: TypeAlias = Callable[[int, int, str], None]
"""Is told how many kernels are done, of how many, and which is the last."""


@cache
def recorded() -> Recorded:
    """The list that comes with the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recorded)


def compile_entry(number: int) -> None:
    """Have one entry of the list compiled and loaded."""
    entry = recorded().entries[number]
    find_kernel(entry.module, entry.name).compile(tuple(map(read_type, entry.types)))


def find_kernel(module: str, name: str) -> Any:
    """The kernel that an entry means."""
    name, _, piece = name.partition(" ")
    found = getattr(importlib.import_module(module), name)
    if not piece:
        return found
    module, _, name = piece.partition(":")
    return found(getattr(importlib.import_module(module), name))


def ready(*names: str) -> None:
    """Have the kernels of these sets compiled, once on a machine, and loaded: nothing is compiled on a clock.

    Compiles in as many processes as there are cores.
    """
    for name in names:
        if name not in _DONE:
            compile_sets([name])
            with signs.during(f"loading compiled code: {name}"):
                for number in recorded().sets[name]:
                    compile_entry(number)
            _DONE.add(name)


_DONE: set[str] = set()  # sets that this process has loaded


def compile_sets(names: Iterable[str], progress: Progress | None = None, processes: int | None = None) -> int:
    """Compile what these sets need and the cache does not hold.  Returns how many kernels that were.

    ``processes``: as many as there are cores, eight at most, by default.
    """
    sets = recorded().sets
    wanted = {number for name in names for number in sets[name]}
    if wanted <= _kept():
        return 0
    with nullcontext() if progress else signs.during(COMPILING), _alone():
        numbers = sorted(wanted - _kept())
        compiled = _compile_all(numbers, progress or _say, processes or min(usable_cores(), 8)) if numbers else set()
        kept = _kept() | compiled
        for name in sets:
            if kept.issuperset(sets[name]):
                _stamp(name).touch()
    return len(compiled)


def _kept() -> set[int]:
    """The entries of all sets that were compiled."""
    sets = recorded().sets
    return {number for name in sets if _stamp(name).exists() for number in sets[name]}


@contextmanager
def _alone() -> Iterator[None]:
    """One process lets compile at a time; another that comes meanwhile waits, and finds it done."""
    with (jit.cache_folder() / "compiling.lock").open("w") as file:
        while not lock_file(file.fileno()):
            time.sleep(0.1)
        yield


def _stamp(name: str) -> Path:
    """A file that says that a set of this list was compiled, on this processor and by this version of Python."""
    return jit.cache_folder() / f"{name}-{_kind()}.ready"


@cache
def _kind() -> str:
    version = hashlib.sha256(FILE.read_bytes()).hexdigest()[:8]
    return f"{version}-{llvmlite.binding.get_host_cpu_name()}-{sys.implementation.cache_tag}"


def _say(done: int, total: int, last: str) -> None:
    signs.detail(f"{COMPILING}: {done} of {total} kernels")


def _compile_all(numbers: list[int], progress: Progress, processes: int) -> set[int]:
    """Every entry behind those that it needs.  Returns those that were compiled."""
    entries, wanted = recorded().entries, set(numbers)
    order = TopologicalSorter({number: wanted.intersection(entries[number].needs) for number in numbers})
    order.prepare()
    running: dict[Future[bool], int] = {}
    compiled: set[int] = set()
    progress(0, len(numbers), "")
    with _Compilers(min(processes, len(numbers))) as compilers:
        while order.is_active():
            # Long chains first: an entry that stands late in the list waits for the most others.
            for number in sorted(order.get_ready(), reverse=True):
                running[compilers.submit(number)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                if future.result():
                    compiled.add(number)
                order.done(number)
                progress(len(compiled), len(numbers), entries[number].name)
    return compiled


class _Compilers:
    """Processes that compile one entry at a time.  What one that dies leaves undone is compiled when it is called."""

    def __init__(self, processes: int) -> None:
        self.pool = ThreadPoolExecutor(processes)
        self.mine = local()
        self.all: list[subprocess.Popen[str]] = []

    def submit(self, number: int) -> Future[bool]:
        """Whether it could be compiled, later."""
        return self.pool.submit(self._ask, number)

    def _ask(self, number: int) -> bool:
        try:
            process = getattr(self.mine, "process", None)
            if process is None:
                process = self.mine.process = _start()
                self.all.append(process)
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            return bool(process.stdout.readline() == f"{number}\n")
        except (OSError, ValueError):  # it did not start, died, or was stopped
            return False

    def __enter__(self) -> _Compilers:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.all:
            process.terminate()  # those that are not idle were interrupted: what they compile is of no use
        self.pool.shutdown(cancel_futures=True)
        for process in self.all:
            process.communicate()


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "infoset.warm_up"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _serve() -> None:
    """What a process does: numbers of entries come in, and go out when they are compiled."""
    for line in sys.stdin:
        number = int(line)
        try:
            compile_entry(number)
        except Exception:  # it no longer fits its source; it is compiled when it is called
            number = -1
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
