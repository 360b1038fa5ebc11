"""Compiling ahead: the kernels that an agent or a solver calls, side by side in processes, before a clock runs.

Numba compiles a kernel when it is first called, one after the other.  Which kernels with which argument types are
needed for what is known beforehand: ``kernels.json`` was recorded by ``benchmarks/record_kernels.py``, a list in which
each kernel stands behind those that it calls by address.  What is not in the list, or no longer fits, is compiled when
it is called: only time is lost.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from threading import local
from typing import TypeAlias

import llvmlite.binding
import msgspec

from infoset import signs
from infoset.jit import cache_folder
from infoset.kernel_types import Spelled, read_type

FILE = Path(__file__).with_name("kernels.json")


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A kernel with argument types, and the earlier entries that it calls by their address."""

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
    getattr(importlib.import_module(entry.module), entry.name).compile(tuple(map(read_type, entry.types)))


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

    ``processes``: as many as there are cores, by default.
    """
    missing = [name for name in names if not _stamp(name).exists()]
    numbers = sorted({number for name in missing for number in recorded().sets[name]})
    if numbers:
        with nullcontext() if progress else signs.during("compiling, once on this machine"):
            _compile_all(numbers, progress or _say, processes or os.cpu_count() or 1)
        for name in missing:
            _stamp(name).touch()
    return len(numbers)


def _stamp(name: str) -> Path:
    """A file that says that a set was compiled, on this kind of processor and by this version of Python."""
    kind = f"{llvmlite.binding.get_host_cpu_name()}-{sys.implementation.cache_tag}"
    return cache_folder() / f"{name}-{kind}.ready"


def _say(done: int, total: int, last: str) -> None:
    signs.detail(f"compiling, once on this machine: {done} of {total} kernels")


def _compile_all(numbers: list[int], progress: Progress, processes: int) -> None:
    """Every entry behind those that it needs."""
    entries, wanted = recorded().entries, set(numbers)
    order = TopologicalSorter({number: wanted.intersection(entries[number].needs) for number in numbers})
    order.prepare()
    running: dict[Future[None], int] = {}
    done = 0
    progress(0, len(numbers), "")
    with _Compilers(min(processes, len(numbers))) as compilers:
        while order.is_active():
            # Long chains first: an entry that stands late in the list waits for the most others.
            for number in sorted(order.get_ready(), reverse=True):
                running[compilers.submit(number)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                future.result()
                order.done(number)
                done += 1
                progress(done, len(numbers), entries[number].name)


class _Compilers:
    """Processes that compile one entry at a time.  What one that dies leaves undone is compiled when it is called."""

    def __init__(self, processes: int) -> None:
        self.pool = ThreadPoolExecutor(processes)
        self.mine = local()
        self.all: list[subprocess.Popen[str]] = []

    def submit(self, number: int) -> Future[None]:
        return self.pool.submit(self._ask, number)

    def _ask(self, number: int) -> None:
        process = getattr(self.mine, "process", None)
        if process is None:
            process = self.mine.process = _start()
            self.all.append(process)
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            process.stdout.readline()
        except (OSError, ValueError):  # it died, or was stopped
            pass

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
