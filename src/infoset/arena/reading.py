"""Read a tournament's file from outside the tournament: untrusted, never written and never locked."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from urllib.parse import quote

MAX_VALUE = 64 << 20  # bytes of one value
SECONDS = 20.0  # for all queries of one connection: a hostile file could answer endlessly
STEPS = 10_000  # instructions of SQLite's virtual machine between two checks of the time


@contextmanager
def reading(path: Path, seconds: float = SECONDS) -> Iterator[sqlite3.Connection]:
    """Open a read-only connection, also while another process writes.  Raises ``sqlite3.Error``, ``OSError``.

    A file without a ``-wal`` file beside it has no writer now and is read as immutable: otherwise SQLite would create
    files beside it, which needs write permission.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise FileNotFoundError(path)
    still = not beside(path).exists()
    where = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if still else ''}"
    with closing(sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        until = monotonic() + seconds
        connection.set_progress_handler(lambda: monotonic() > until, STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        yield connection


def beside(path: Path) -> Path:
    """Return the path of SQLite's write-ahead log, which exists while a process has the file open."""
    return path.with_name(f"{path.name}-wal")


def version(path: Path) -> str:
    """Return a text that changes whenever the file does, without opening the file."""
    seen = []
    for file in (path, beside(path)):
        try:
            about = file.stat()
            seen.append(f"{about.st_mtime_ns:x}.{about.st_size:x}")
        except OSError:
            seen.append("0")
    return "-".join(seen)


def asked(connection: sqlite3.Connection) -> str:
    """Return the tournament's configuration as JSON.  Raises ``ValueError`` where there is none."""
    row = connection.execute("SELECT config FROM tournament").fetchone()
    if row is None or not isinstance(row[0], str):
        raise ValueError("no tournament")
    return row[0]
