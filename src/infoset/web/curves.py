"""Learning curves of runs for the page, read incrementally from files that may still be written."""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from math import isfinite, nan
from pathlib import Path
from threading import Lock
from time import time
from typing import Any

import msgspec

from infoset.files import POLICY
from infoset.web.artifacts import METRICS, Artifact, find, open_plain
from infoset.web.metadata import MetadataCache

SERIES = (
    "iteration", "seconds", "exploitability", "nash_conv", "epsilon", "current_exploitability",
    "score", "value_loss", "policy_loss", "games", "states",
)  # fmt: skip
LISTS = ("values", "start_values")
MAX_PLAYERS = 8
MOST = 1000  # points of a curve that are sent
MAX_POINTS = 200_000  # that are kept; beyond that every second one is dropped
CHUNK = 4 << 20
MAX_CACHED = 64  # curves


class Curves:
    """Answers about the curves of the runs in the served folders."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders, self.heads = folders, MetadataCache()
        self._tails: OrderedDict[str, Tail] = OrderedDict()
        self._lock = Lock()

    def curve(self, name: str, most: int, seen: str) -> dict[str, Any]:
        """Return at most ``most`` points of a curve, ``NaN`` as null; no points where nothing is newer than ``seen``.

        Raises ``Refusal`` for a run that does not exist (any more).
        """
        item = find(self.folders, name, "run")
        tail = self._tail(item)
        tail.read()
        answer: dict[str, Any] = {"name": name, "version": tail.version, "age": max(0.0, time() - item.changed)}
        if seen == tail.version:
            return answer
        head = self.heads.of(item)
        answer |= {"title": item.title, "game": head.game, "about": head.about, "problem": head.problem}
        answer |= {"points": tail.count, "policy": _is_plain(item.path / POLICY)}
        return answer | {"columns": tail.thinned(max(2, min(most, MOST)))}

    def _tail(self, item: Artifact) -> Tail:
        with self._lock:
            tail = self._tails.setdefault(item.name, Tail(item.path / METRICS))
            self._tails.move_to_end(item.name)
            if len(self._tails) > MAX_CACHED:
                self._tails.popitem(last=False)
            return tail


class Tail:
    """A curve that grows: the points read so far, and the offset in the file up to which they were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self.edition = 0
        self._begin((0, 0))

    def _begin(self, file: tuple[int, int]) -> None:
        self.file, self.offset, self.total, self.every = file, 0, 0, 1
        self.columns: dict[str, array[float]] = {"iteration": array("d")}
        self.edition += 1

    @property
    def version(self) -> str:
        """A text that changes whenever the curve does."""
        return f"{self.file[1]:x}.{self.edition}.{self.total}"

    @property
    def count(self) -> int:
        """The number of points that are kept."""
        return len(self.columns["iteration"])

    def read(self) -> None:
        """Read on to the last complete line; start over if it is another file, or shorter than it was."""
        with self._lock:
            try:
                with open_plain(self.path) as file:
                    about = os.fstat(file.fileno())
                    if (about.st_dev, about.st_ino) != self.file or about.st_size < self.offset:
                        self._begin((about.st_dev, about.st_ino))
                    file.seek(self.offset)
                    while chunk := file.read(CHUNK):
                        whole = chunk.rfind(b"\n") + 1
                        if not whole and len(chunk) < CHUNK:
                            break  # the line is still being written
                        self.offset += whole or len(chunk)  # a line longer than a chunk is skipped
                        file.seek(self.offset)
                        for line in chunk[:whole].splitlines():
                            self._add(line)
            except FileNotFoundError:  # not written yet, or deleted
                if self.offset:
                    self._begin((0, 0))
            except OSError:
                return

    def _add(self, line: bytes) -> None:
        try:
            point = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return
        row = {name: value for name, value in _values(point) if isfinite(value)}
        if "iteration" not in row:
            return
        self.total += 1
        if self.total % self.every:
            return
        for name in row.keys() - self.columns.keys():
            self.columns[name] = array("d", [nan]) * self.count
        for name, column in self.columns.items():
            column.append(row.get(name, nan))
        if self.count >= MAX_POINTS:
            self.every *= 2
            self.columns = {name: column[1::2] for name, column in self.columns.items()}

    def thinned(self, most: int) -> dict[str, list[float | None]]:
        """Return the columns that are not empty, at ``most`` points at most.

        Half of the points are evenly spaced in time, half in the logarithm of time.  Those with an exploitability are
        among them where they are few, as in trainings.
        """
        with self._lock:
            measured = [k for k, value in enumerate(self.columns.get("exploitability", ())) if isfinite(value)]
            few = measured if len(measured) <= most // 2 else []
            chosen = sorted({*spread(self.count, most - len(few)), *few}) if few else spread(self.count, most)
            rows = {name: [column[k] for k in chosen] for name, column in self.columns.items()}
        known = {name: row for name, row in rows.items() if any(map(isfinite, row))}
        return {
            name: [float(f"{value:.7g}") if isfinite(value) else None for value in row] for name, row in known.items()
        }


def spread(count: int, most: int) -> list[int]:
    """Return at most ``most`` of the numbers below ``count``, with the first and the last, denser at the beginning.

    >>> spread(5, 10), spread(1000, 6)
    ([0, 1, 2, 3, 4], [0, 31, 500, 999])
    """
    if count <= most:
        return list(range(count))
    half = most // 2
    even = {round(k * (count - 1) / (half - 1)) for k in range(half)} if half > 1 else {0, count - 1}
    growing = {round(count ** (k / (half - 1))) - 1 for k in range(half)} if half > 1 else set()
    return sorted(even | growing)


def _values(point: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the known series, and the entries of lists by player as ``value 1``, ``value 2``, …."""
    for name in SERIES:
        yield name, _number(point.get(name))
    for name in LISTS:
        values = point.get(name)
        for k, value in enumerate(values[:MAX_PLAYERS] if isinstance(values, list) else ()):
            yield f"value {k + 1}", _number(value)


def _number(value: object) -> float:
    """Return a value as a float where it is a finite number, else NaN."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 < value < 1e300:
        return float(value)
    return nan


def _is_plain(path: Path) -> bool:
    try:
        with open_plain(path):
            return True
    except OSError:
        return False
