"""Available memory, and checks that data will fit before it is allocated."""

from __future__ import annotations

import re
from pathlib import Path

from infoset.errors import BudgetError

MEMORY_FILES = (
    ("/proc/meminfo", r"^MemAvailable:\s*(\d+) kB", 1024),
    ("/sys/fs/cgroup/memory.max", r"^(\d+)$", 1),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", r"^(\d+)$", 1),
)


def free_memory() -> int:
    """Return the bytes that can be allocated without swapping, within a container's limit; 4 GiB if unknown."""
    found = [4 << 30]
    for path, pattern, unit in MEMORY_FILES:
        try:
            match = re.search(pattern, Path(path).read_text(encoding="ascii"), re.MULTILINE)
        except OSError:
            continue
        if match:
            found.append(int(match[1]) * unit)
    return min(found[1:] or found)


def check_room(what: str, needed: float) -> str:
    """Return ``needed`` bytes in words.

    Raises ``BudgetError`` where they are not free; ``what`` ends with the verb: "NAME has N moves; their table takes".
    """
    if needed > (free := free_memory()):
        raise BudgetError(f"{what} {size_in_words(needed)}, where {size_in_words(free)} are free")
    return size_in_words(needed)


def size_in_words(size: float) -> str:
    """Return a number of bytes as text.

    >>> from infoset.memory import size_in_words
    >>> size_in_words(5.7e9), size_in_words(3_500_000)
    ('5.3 GiB', '3.3 MiB')
    """
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"
