"""Compilation ahead of time: the kernels of an agent or a solver, in parallel processes, before a clock runs.

Numba compiles a kernel when it is first called, one after the other.  The kernels and argument types that each use
needs are known beforehand: the ``kernels.json`` of a package was recorded by ``benchmarks/record_kernels.py``, a list
in which each kernel follows those that it calls by address.  A kernel that is not in the list, or no longer fits, is
compiled when it is called: only time is lost.
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
from importlib.resources import files
from queue import SimpleQueue
from typing import Any, NamedTuple, Self, TypeAlias

import msgspec
from numba.core import config

from infoset import status
from infoset.files import lock_file
from infoset.jit import find_kernel
from infoset.kernel_cache import LIST, cache_folder
from infoset.kernel_types import Spelled, read_type
from infoset.plugins import plugins_of
from infoset.processes import usable_cores

COMPILING = "compiling, once on this machine"
LONGEST_WAIT = 600.0  # seconds to wait for another process that compiles: it may have been stopped
OWN = ("infoset",)


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


Packages: TypeAlias = tuple[str, ...]
Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of kernels done, their total number, and the name of the last one."""


@cache
def recorded(packages: Packages = OWN) -> Recorded:
    """Return the lists that come with these packages, as one."""
    entries: list[Entry] = []
    sets: dict[str, tuple[int, ...]] = {}
    for package in packages:
        found = msgspec.json.decode((files(package) / LIST).read_bytes(), type=Recorded)
        first = len(entries)
        entries += [
            msgspec.structs.replace(entry, needs=tuple([first + need for need in entry.needs]))
            for entry in found.entries
        ]
        sets |= {name: tuple([first + number for number in numbers]) for name, numbers in found.sets.items()}
    return Recorded(tuple(entries), sets)


def listing_packages() -> tuple[str, ...]:
    """Return infoset and all packages of plug-ins that list their kernels."""
    return (*OWN, *sorted({found.place for found in plugins_of("infoset.kernels").values()}))


def compile_entry(entry: Entry) -> None:
    """Compile and load one entry of the list."""
    find_kernel(entry.module, entry.name).compile(_types(entry))


def _types(entry: Entry) -> tuple[Any, ...]:
    return tuple(map(read_type, entry.types))


def ready(*names: str, package: str = "infoset") -> None:
    """Compile the kernels of these sets, once per machine, and load them, so that nothing is compiled on a clock.

    ``package`` is the one whose list holds the sets.  Compiles in as many processes as there are cores, eight at most.
    A kernel that fails here is compiled when it is called.
    """
    for name in names if not config.DISABLE_JIT else ():
        if name not in _DONE:
            known = recorded((package,))
            with suppress(OSError):
                compile_sets([name], packages=(package,))
            with status.during(f"loading compiled code: {name}"):
                for number in known.sets[name]:
                    with suppress(Exception):
                        compile_entry(known.entries[number])
            _DONE.add(name)


_DONE: set[str] = set()  # the sets that this process has loaded


class Compiled(NamedTuple):
    """The number of kernels that were compiled, and the number that could not be."""

    kernels: int
    failed: int


def compile_sets(
    names: Iterable[str], progress: Progress | None = None, processes: int | None = None, packages: Packages = OWN
) -> Compiled:
    """Compile the kernels that these sets need and the cache does not hold.

    ``packages`` are those whose lists hold the sets.  ``processes``: by default one per core, eight at most.  Raises
    ``OSError`` where none can be started.
    """
    wanted = {number for name in names for number in recorded(packages).sets[name]}
    if config.DISABLE_JIT or not _missing(wanted, packages):
        return Compiled(0, 0)
    with nullcontext() if progress else status.during(COMPILING), _alone():
        numbers = _missing(wanted, packages)
        if numbers:
            _compile_all(numbers, packages, progress or _say, processes or min(usable_cores(), 8))
    failed = len(_missing(numbers, packages))
    return Compiled(len(numbers) - failed, failed)


def _missing(numbers: Iterable[int], packages: Packages) -> list[int]:
    """Return the entries among these that the cache does not hold."""
    entries = recorded(packages).entries
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


def _compile_all(numbers: list[int], packages: Packages, progress: Progress, processes: int) -> None:
    """Compile every entry after those that it needs."""
    entries, wanted = recorded(packages).entries, set(numbers)
    order = TopologicalSorter({number: wanted.intersection(entries[number].needs) for number in numbers})
    order.prepare()
    running: dict[Future[None], int] = {}
    done = 0
    progress(0, len(numbers), "")
    with _Compilers(min(processes, len(numbers)), packages) as compilers:
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

    def __init__(self, count: int, packages: Packages) -> None:
        self.processes: list[subprocess.Popen[str]] = []
        self.idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self.pool = ThreadPoolExecutor(count)
        try:
            for _ in range(count):
                self.processes.append(_start(packages))
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


def _start(packages: Packages) -> subprocess.Popen[str]:
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("no interpreter that could be started beside this one is known")
    paths = (path for path in sys.path if isinstance(path, str) and path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "infoset.warm_up", *packages],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _serve() -> None:
    """Serve as a compiling process: read numbers of entries, compile them, and write the numbers back."""
    known = recorded(tuple(sys.argv[1:]))
    _DONE.update(known.sets)  # others wait for this process, so it must not start compilers itself
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other output must not be read as an answer
    for line in sys.stdin:
        with suppress(Exception):  # an entry that no longer fits its source is compiled when it is called
            compile_entry(known.entries[int(line)])
        answers.write(line)
        answers.flush()


if __name__ == "__main__":
    _serve()
