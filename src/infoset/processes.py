"""Processes on different operating systems: groups, limits, cores.  All other modules use these functions.

On Linux and macOS a process may have a group of its own that ends as a whole; on Windows it is ended alone.  Memory is
limited where the system supports such a limit; macOS refuses one on addresses, and Windows has none.  The number of
processes that one starts is watched from outside, where the system lists them: Linux's own limit does not bind
administrators.
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
from pathlib import Path
from time import sleep
from typing import Any, NoReturn

import msgspec

from infoset.errors import UnsupportedSystemError

SYSTEM = os.name
ABANDONED = "left behind"  # the name of threads whose calls cannot be interrupted
CLOSING_EVENTS = getattr(select, "POLLHUP", 0) | getattr(select, "POLLERR", 0) | getattr(select, "POLLNVAL", 0)
WORDS = {"RLIMIT_AS": "memory", "RLIMIT_CPU": "time", "RLIMIT_FSIZE": "files"}
PROCESSES = Path("/proc")
TICK = 0.1  # seconds between two counts of processes


def limit_memory(size: int) -> str:
    """Limit this process to ``size`` bytes of addresses; return why that is impossible, or "" on success."""
    return _limit("RLIMIT_AS", size)


class Limits(msgspec.Struct, frozen=True):
    """Limits of a process; 0 is none.

    ``memory`` and ``files`` (the largest that it may write) are in MiB, ``cpu`` in seconds.
    """

    memory: int = 0
    cpu: int = 0
    files: int = 0
    processes: int = 0
    """The most processes, itself and all that it starts, for ``end_crowd``."""


def limit(limits: Limits) -> str:
    """Set the limits for this process and all that it starts; return what cannot be limited here, or "" on success."""
    missed = []
    for name, size in (
        ("RLIMIT_AS", limits.memory << 20), ("RLIMIT_CPU", limits.cpu),
        ("RLIMIT_FSIZE", limits.files << 20),
    ):  # fmt: skip
        if size and (why := _limit(name, size)):
            missed.append(why)
    if limits.processes and not in_session(os.getsid(0)):
        missed.append("this system cannot limit processes")
    return "; ".join(missed)


def _limit(name: str, size: int) -> str:
    what = WORDS[name]
    try:
        import resource

        resource.setrlimit(getattr(resource, name), (size, size))
    except (ImportError, AttributeError):
        return f"this system cannot limit {what}"
    except (ValueError, OSError) as error:
        return f"this system does not limit {what}: {error}"
    return ""


def end_with(file: int) -> None:
    """End this process and its group once the other end of an open socket closes, whatever they do; for a thread."""
    line = select.poll()
    line.register(file, select.POLLHUP)  # Linux always reports it, macOS only when requested
    while not any(event & CLOSING_EVENTS for _, event in line.poll()):
        sleep(0.05)  # a system may also report that there is data to read
    _kill_session(os.getpid())
    os.killpg(0, signal.SIGKILL)


def own_group() -> dict[str, Any]:
    """Return the arguments of ``Popen`` for a process that Ctrl-C does not reach and that ``end_group`` ends."""
    if hasattr(os, "killpg"):
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def in_session(leader: int) -> list[int]:
    """Return the processes of a session, also ended ones that were not waited for; none where they are not listed."""
    found = []
    numbers = [file.name for file in PROCESSES.iterdir()] if PROCESSES.is_dir() else []
    for number in map(int, filter(str.isdigit, numbers)):
        with suppress(ProcessLookupError):
            if os.getsid(number) == leader:
                found.append(number)
    return found


def end_copy(number: int) -> None:
    """End this process at once if its number is another one: it is then a copy that returned from a fork."""
    if os.getpid() != number:
        os._exit(1)


def end_group(process: subprocess.Popen[bytes]) -> int:
    """End a process at once, and where the system has groups all that it started; return its exit status."""
    _kill_group(process)
    return process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS may deny access to a process that is gone
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    _kill_session(process.pid)


def _kill_session(leader: int) -> None:
    """Kill a session, including processes in groups of their own, but not this process."""
    killed = list[int]()
    while (left := in_session(leader)) != killed:  # until no new ones appear
        for one in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL if one != os.getpid() else 0)
        killed = left


def end_crowd(process: subprocess.Popen[bytes], most: int, crowded: threading.Event) -> None:
    """Kill a process and all that it started once they are more than ``most``, and set ``crowded``; for a thread."""
    while process.returncode is None:
        if len(in_session(process.pid)) > most:
            crowded.set()
            _kill_group(process)
        sleep(TICK)


def ending(status: int) -> str:
    """Return an exit status in words."""
    return f"status {status}" if status >= 0 else f"signal {-status}"


def may_be_killed(status: int) -> bool:
    """Return whether somebody else, or the system when out of memory, may have ended it: SIGKILL, SIGTERM."""
    return status in (-9, -15)


def leave(status: int) -> NoReturn:
    """End this program without waiting for a thread left behind in compiled code, nor tearing down its state."""
    if any(thread.name == ABANDONED for thread in threading.enumerate()):
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
