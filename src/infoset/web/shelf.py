"""What lies in the folders that the server was given: runs, policies, replays, tournaments, each by a short name.

Everything is found anew when it is asked for, since runs are written, and files deleted, while they are shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from infoset.errors import shorten
from infoset.files import POLICY
from infoset.remote.serving import Refusal

MAX_ENTRIES = 20_000  # looked at
DEPTH = 4

Kind: TypeAlias = Literal["run", "policy", "replay", "tournament"]


class Item(NamedTuple):
    """One thing on the shelf; ``name`` is its path below the folder it lies in, behind that folder's number."""

    name: str
    kind: Kind
    path: Path
    changed: float
    size: int


def items(folders: tuple[Path, ...]) -> list[Item]:
    """Everything that can be shown, the newest first."""
    found = [item for number, folder in enumerate(folders) for item in _below(folder, number)]
    return sorted(found, key=lambda item: -item.changed)


def find(folders: tuple[Path, ...], name: str, kind: Kind | None = None) -> Item:
    """By its name.  Raises ``Refusal``; a name that is not on the shelf leads nowhere."""
    for item in items(folders):
        if item.name == name and kind in (None, item.kind):
            return item
    raise Refusal(HTTPStatus.NOT_FOUND, f"no {kind or 'thing'} {shorten(name)!r} here; it may have been deleted")


def _below(folder: Path, number: int) -> Iterator[Item]:
    todo, looked = [(folder, 0)], 0
    while todo:
        at, depth = todo.pop()
        try:
            entries = sorted(os.scandir(at), key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        run = "config.json" in names and ("metrics.jsonl" in names or "checkpoint.npz" in names or POLICY in names)
        for entry in entries:
            looked += 1
            if looked > MAX_ENTRIES:
                return
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEPTH and not entry.name.startswith("."):
                        todo.append((Path(entry.path), depth + 1))
                    continue
                kind = None if run else _kind(entry.name)
                if kind is not None and entry.is_file(follow_symlinks=False):
                    yield _item(folder, number, kind, Path(entry.path))
            except OSError:
                continue
        if run:
            try:
                yield _item(folder, number, "run", at)
            except OSError:
                continue


def _kind(name: str) -> Kind | None:
    if name.endswith((".db", ".sqlite")):
        return "tournament"
    if name.endswith(".npz") and name != "checkpoint.npz":
        return "policy"
    return "replay" if name.endswith(".json") else None


def _item(folder: Path, number: int, kind: Kind, path: Path) -> Item:
    about = path.stat()
    return Item(f"{number}/{path.relative_to(folder).as_posix()}", kind, path, about.st_mtime, about.st_size)
