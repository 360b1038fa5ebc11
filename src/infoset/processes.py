"""What systems do differently with processes: groups, limits, cores.  Everything else asks here.

On Linux and macOS a process may have a group of its own that ends as a whole; on Windows it is ended alone.  Memory is
limited where the system takes such a limit; macOS refuses one on addresses, and Windows has none.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

from infoset.errors import UnsupportedSystemError

SYSTEM = os.name


def limit_memory(size: int) -> str:
    """Let this process have no more than ``size`` bytes of addresses; why that cannot be, or "" where it is so."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    except (ImportError, AttributeError):
        return "this system has no limit of memory"
    except (ValueError, OSError) as error:
        return f"this system does not limit memory: {error}"
    return ""


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
