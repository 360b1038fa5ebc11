"""Compilation ahead of time: the kernels of an agent or a solver, in parallel processes, before a clock runs.

Numba compiles a kernel when it is first called, one after the other.  The kernels and argument types that each use
needs are known beforehand: ``kernels.json`` was recorded by ``benchmarks/record_kernels.py``, a list in which
each kernel follows those that it calls by address.  A kernel that is not in the list, or no longer fits, is compiled
when it is called: only time is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Self, TypeAlias

import msgspec
from numba.core import config

from infoset import status
from infoset.files import lock_file
from infoset.jit import find_kernel
from infoset.kernel_cache import cache_folder
from infoset.kernel_types import Spelled, read_type
from infoset.processes import usable_cores

COMPILING = "compiling, once on this machine"
LONGEST_WAIT = 600.0  # seconds to wait for another process that compiles: it may have been stopped
FILE = Path(__file__).with_name("kernels.json")


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A kernel with argument types, and the earlier entries that it calls by their address.

    ``name`` is the kernel's name in its module, or ``maker module:piece`` for one that ``maker`` makes around a piece.
    """

    module: str
    name: str
    types: tuple[Spelled, ...]
    needs: tuple[int, ...]


class Recorded(msgspec.Struct, frozen=True):
    """The recorded list: ``sets`` holds for each use the numbers of its entries, including those that they need."""

    entries: tuple[Entry, ...]
    sets: dict[str, tuple[int, ...]]


Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of kernels done, their total number, and the name of the last one."""


@cache
def recorded() -> Recorded:
    """Return the list that comes with the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recorded)


def compile_entry(number: int) -> None:
    """Compile and load one entry of the list."""
    entry = recorded().entries[number]
    find_kernel(entry.module, entry.name).compile(_types(entry))


def _types(entry: Entry) -> tuple[Any, ...]:
    return tuple(map(read_type, entry.types))


def ready(*names: str) -> None:
    """Compile the kernels of these sets, once per machine, and load them, so that nothing is compiled on a clock.

    Compiles in as many processes as there are cores, eight at most.  A kernel that fails here is compiled when it is
    called.
    """
    for name in names if not config.DISABLE_JIT else ():
        if name not in _DONE:
            with suppress(OSError):
                compile_sets([name])
            with status.during(f"loading compiled code: {name}"):
                for number in recorded().sets[name]:
                    with suppress(Exception):
                        compile_entry(number)
            _DONE.add(name)


_DONE: set[str] = set()  # the sets that this process has loaded


class Compiled(NamedTuple):
    """The number of kernels that were compiled, and the number that could not be."""

    kernels: int
    failed: int


def compile_sets(names: Iterable[str], progress: Progress | None = None, processes: int | None = None) -> Compiled:
    """Compile the kernels that these sets need and the cache does not hold.

    ``processes``: by default one per core, eight at most.  Raises ``OSError`` where none can be started.
    """
    wanted = {number for name in names for number in recorded().sets[name]}
    if config.DISABLE_JIT or not _missing(wanted):
        return Compiled(0, 0)
    with nullcontext() if progress else status.during(COMPILING), _alone():
        numbers = _missing(wanted)
        if numbers:
            _compile_all(numbers, progress or _say, processes or min(usable_cores(), 8))
    failed = len(_missing(numbers))
    return Compiled(len(numbers) - failed, failed)


def _missing(numbers: Iterable[int]) -> list[int]:
    """Return the entries among these that the cache does not hold."""
    entries = recorded().entries
    return [
        k for k in sorted(numbers) if not find_kernel(entries[k].module, entries[k].name).is_cached(_types(entries[k]))
    ]


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time run compilers; another one waits meanwhile, and then finds the work done."""
    with ExitStack() as stack:
        with suppress(OSError):  # the folder may be read-only, or the system have no locks
            file = stack.enter_context((cache_folder() / "compiling.lock").open("w"))
            end = time.monotonic() + LONGEST_WAIT
            while not lock_file(file.fileno()) and time.monotonic() < end:
                time.sleep(0.1)
        yield


def _say(done: int, total: int, last: str) -> None:
    status.detail(f"{COMPILING}: {done} of {total} kernels")


def _compile_all(numbers: list[int], progress: Progress, processes: int) -> None:
    """Compile every entry after those that it needs."""
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
    """Processes that compile one entry at a time.  An entry left by one that dies is compiled when it is called."""

    def __init__(self, count: int) -> None:
        self.processes: list[subprocess.Popen[str]] = []
        self.idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self.pool = ThreadPoolExecutor(count)
        try:
            for _ in range(count):
                self.processes.append(_start())
                self.idle.put(self.processes[-1])
        except BaseException:
            self.__exit__()
            raise

    def submit(self, number: int) -> Future[None]:
        return self.pool.submit(self._ask, number)

    def _ask(self, number: int) -> None:
        process = self.idle.get()
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError, ValueError):  # the process died, or was stopped
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            process.stdout.readline()
        self.idle.put(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.terminate()  # those that are not idle were interrupted: their work is of no use
        self.pool.shutdown(cancel_futures=True)
        for process in self.processes:
            process.communicate()


def _start() -> subprocess.Popen[str]:
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("no interpreter that could be started beside this one is known")
    paths = (path for path in sys.path if isinstance(path, str) and path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "infoset.warm_up"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _serve() -> None:
    """Serve as a compiling process: read numbers of entries, compile them, and write the numbers back."""
    _DONE.update(recorded().sets)  # others wait for this process, so it must not start compilers itself
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other output must not be read as an answer
    for line in sys.stdin:
        with suppress(Exception):  # an entry that no longer fits its source is compiled when it is called
            compile_entry(int(line))
        answers.write(line)
        answers.flush()


if __name__ == "__main__":
    _serve()
