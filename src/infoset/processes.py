"""What systems do differently with processes: groups, limits, cores.  Everything else asks here.

On Linux and macOS a process may have a group of its own that ends as a whole; on Windows it is ended alone.  Memory is
limited where the system takes such a limit; macOS refuses one on addresses, and Windows has none.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from time import sleep
from typing import Any, NoReturn

import msgspec

from infoset.errors import UnsupportedSystemError

SYSTEM = os.name
LEFT_BEHIND = "left behind"  # the name of threads whose calls cannot be broken off
GONE = getattr(select, "POLLHUP", 0) | getattr(select, "POLLERR", 0) | getattr(select, "POLLNVAL", 0)
WORDS = {"RLIMIT_AS": "memory", "RLIMIT_CPU": "time", "RLIMIT_FSIZE": "files", "RLIMIT_NPROC": "processes"}


def limit_memory(size: int) -> str:
    """Let this process have no more than ``size`` bytes of addresses; why that cannot be, or "" where it is so."""
    return _limit("RLIMIT_AS", size)


class Limits(msgspec.Struct, frozen=True):
    """Of a process; 0 is none.  ``memory`` and ``files`` (the largest that it may write) in MiB, ``cpu`` in seconds."""

    memory: int = 0
    cpu: int = 0
    files: int = 0
    processes: int = 0
    """How many its user may have, which binds no administrator."""


def limit(limits: Limits) -> str:
    """Set them for this process and all that it starts; what cannot be limited here, or "" where all is."""
    missed = []
    for name, size in (
        ("RLIMIT_AS", limits.memory << 20), ("RLIMIT_CPU", limits.cpu),
        ("RLIMIT_FSIZE", limits.files << 20), ("RLIMIT_NPROC", limits.processes),
    ):  # fmt: skip
        if size and (why := _limit(name, size)):
            missed.append(why)
    return "; ".join(missed)


def _limit(name: str, size: int) -> str:
    what = WORDS[name]
    try:
        import resource

        resource.setrlimit(getattr(resource, name), (size, size))
    except (ImportError, AttributeError):
        return f"this system has no limit of {what}"
    except (ValueError, OSError) as error:
        return f"this system does not limit {what}: {error}"
    return ""


def end_with(file: int) -> None:
    """End this process when the other end of an open socket is gone, whatever else it is doing; for a thread."""
    line = select.poll()
    line.register(file, select.POLLHUP)  # which Linux always tells and macOS only when asked
    while not any(event & GONE for _, event in line.poll()):
        sleep(0.05)  # a system may also tell that there is something to read
    os._exit(1)


def own_group() -> dict[str, Any]:
    """The arguments of ``Popen`` for a process that Ctrl-C does not reach and that ``end_group`` ends."""
    if hasattr(os, "killpg"):
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def end_group(process: subprocess.Popen[bytes]) -> int:
    """End a process at once, and where the system has groups all that it started; returns its exit status."""
    with suppress(ProcessLookupError, PermissionError):  # macOS may deny what is gone
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    return process.wait()


def leave(status: int) -> NoReturn:
    """End this program.  A thread that was left behind in compiled code is not waited for, nor its world taken down."""
    if any(thread.name == LEFT_BEHIND for thread in threading.enumerate()):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def check_shared_files(what: str) -> None:
    """Raise ``UnsupportedSystemError`` where a process cannot be given open files, as on Windows."""
    if SYSTEM == "nt":
        raise UnsupportedSystemError(
            f"{what} needs processes that share open files, as on Linux and macOS, not Windows"
        )


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
