"""Artifacts: the runs, policies, replays, tournaments and files of games in the served folders, each by a short name.

Everything is looked up anew for each request, since runs are written, and files deleted, while they are shown.  An
item's contents are summarised by its metadata (``web.metadata``).  Links and hidden files are never listed: a name
leads to a plain file below a folder, or nowhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from infoset.catalog import READERS
from infoset.errors import one_line
from infoset.files import POLICY
from infoset.remote.serving import Refusal

MAX_ENTRIES = 20_000  # directory entries that are scanned at most
DEPTH = 4
CONFIG, METRICS, CHECKPOINT = "config.json", "metrics.jsonl", "checkpoint.npz"
HERE = "."

Kind: TypeAlias = Literal["run", "policy", "replay", "tournament", "game"]
SUFFIXES: dict[str, Kind] = {
    ".db": "tournament", ".sqlite": "tournament", ".npz": "policy", ".json": "replay", **dict.fromkeys(READERS, "game"),
}  # fmt: skip


class Artifact(NamedTuple):
    """An item in the served folders; ``name`` is the number of its folder, and its path below that folder."""

    name: str
    kind: Kind
    """The kind that its name suggests: a ``.json`` file counts as a replay until its head says otherwise."""
    path: Path
    changed: float
    """Seconds since 1970; for a run, the time when it was last written to."""
    size: int

    @property
    def title(self) -> str:
        """Its name where the folder is known."""
        rest = self.name.partition("/")[2]
        return self.path.name if rest == HERE else rest


def items(folders: tuple[Path, ...]) -> list[Artifact]:
    """Return all items that can be shown, the newest first."""
    found = [item for number, folder in enumerate(folders) for item in _below(folder, number)]
    return sorted(found, key=lambda item: (-item.changed, item.name))


def find(folders: tuple[Path, ...], name: str, kind: Kind | None = None) -> Artifact:
    """Return an item by its name, without scanning the rest.  Raises ``Refusal`` where it is not there."""
    item = named(folders, name)
    if item is None or not (kind in (None, item.kind) or (kind == "policy" and item.path.suffix == ".json")):
        why = f"no {kind or 'thing'} {one_line(name)!r} here; it may have been deleted"
        raise Refusal(HTTPStatus.NOT_FOUND, why)
    return item


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading; links are not followed.  Raises ``OSError``."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError(path)
    return os.fdopen(number, "rb")


def _below(folder: Path, number: int) -> Iterator[Artifact]:
    todo, looked = [(folder, 0)], 0
    while todo:
        at, depth = todo.pop()
        try:
            with os.scandir(at) as entries:
                inside = {entry.name: entry for entry in entries if _may_show(entry.name)}
        except OSError:
            continue
        looked += len(inside)
        if looked > MAX_ENTRIES:
            return
        if _is_run(inside) and (item := _item(folder, number, at)) is not None:
            yield item
        for entry in inside.values():
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEPTH:
                        todo.append((Path(entry.path), depth + 1))
                    continue
            except OSError:
                continue
            if _is_run(inside) or not _suffix_kind(entry.name):
                continue
            if (item := _item(folder, number, Path(entry.path))) is not None:
                yield item


def named(folders: tuple[Path, ...], name: str) -> Artifact | None:
    """Return the item of this name in the served folders, or ``None``."""
    first, _, rest = name.partition("/")
    if not (first.isascii() and first.isdigit() and len(first) < 6 and int(first) < len(folders)):
        return None
    folder = folders[int(first)]
    parts = [] if rest == HERE else rest.split("/")
    if len(parts) > DEPTH + 1 or not all(map(_may_show, parts)):
        return None
    path = folder
    try:
        for part in parts:
            if not stat.S_ISDIR(path.lstat().st_mode):
                return None
            path /= part
        at = path if stat.S_ISDIR(path.lstat().st_mode) else path.parent
        names = [inside.name for inside in at.iterdir()]
    except (OSError, ValueError):
        return None
    if path.is_dir() != _is_run(names):
        return None
    return _item(folder, int(first), path)


def _may_show(name: str) -> bool:
    """Return whether a file of this name may be listed: it is not hidden, and its name can be encoded."""
    try:
        name.encode()
    except UnicodeEncodeError:  # not valid text in this system's encoding
        return False
    return not name.startswith(".") and name != "" and not {"/", "\\", "\0"} & set(name)


def _is_run(names: Collection[str]) -> bool:
    return CONFIG in names and any(name in names for name in (METRICS, CHECKPOINT, POLICY))


def _suffix_kind(name: str) -> Kind | None:
    return SUFFIXES.get(Path(name).suffix.lower()) if name != CHECKPOINT else None


def _item(folder: Path, number: int, path: Path) -> Artifact | None:
    """Return the item of a run's folder or a plain file; ``None`` for anything else, or where it is gone."""
    name = f"{number}/{path.relative_to(folder).as_posix()}"
    try:
        about = path.lstat()
        if stat.S_ISDIR(about.st_mode):
            changed = max(_changed(path / file) for file in (CONFIG, METRICS, POLICY))
            return Artifact(name, "run", path, changed or about.st_mtime, 0)
    except OSError:
        return None
    kind = _suffix_kind(path.name)
    return Artifact(name, kind, path, about.st_mtime, about.st_size) if kind and stat.S_ISREG(about.st_mode) else None


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
