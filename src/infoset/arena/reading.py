"""A tournament's file as whoever does not play it reads it: never written, never locked, whatever it holds."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from urllib.parse import quote

MAX_VALUE = 64 << 20  # bytes of one value
SECONDS = 20.0  # for all that is asked of one connection: a hostile file could answer without end
STEPS = 10_000  # of SQLite's machine between two looks at the clock


@contextmanager
def reading(path: Path, seconds: float = SECONDS) -> Iterator[sqlite3.Connection]:
    """A connection that reads, also while another process writes.  Raises ``sqlite3.Error``, ``OSError``.

    A file without its ``-wal`` beside it is one at which nobody writes now, and is read as it stands: SQLite would make
    files beside it, and ask to be allowed to.
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
    """Where SQLite keeps what is not in the file yet, as long as somebody is at it."""
    return path.with_name(f"{path.name}-wal")


def version(path: Path) -> str:
    """What changes whenever the file does, without opening it."""
    seen = []
    for file in (path, beside(path)):
        try:
            about = file.stat()
            seen.append(f"{about.st_mtime_ns:x}.{about.st_size:x}")
        except OSError:
            seen.append("0")
    return "-".join(seen)


def asked(connection: sqlite3.Connection) -> str:
    """What is played, as JSON.  Raises ``ValueError`` where there is none."""
    row = connection.execute("SELECT config FROM tournament").fetchone()
    if row is None or not isinstance(row[0], str):
        raise ValueError("no tournament")
    return row[0]
