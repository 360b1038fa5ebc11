"""A tabular policy as stored in its file: keys, action sets and probabilities in flat arrays.

A viewer of a policy needs no dictionaries: a million rows are read in a good half of a second.
"""

from __future__ import annotations

import gc
import threading
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import PolicyError, shorten
from infoset.files import (
    BROKEN_ARCHIVE,
    PLAIN_KINDS,
    DamageError,
    check_archive,
    check_schema,
    describe_damage,
    find_twice,
)
from infoset.policies.archive import SCHEMA
from infoset.policies.tabular import SUM_TOLERANCE, TabularPolicy

FEW = 100  # the number of keys that are searched for linearly
PIECE = 50_000  # the number of keys per piece of an index


class _Header(msgspec.Struct):
    schema: int
    game: str
    players: list[str]
    map: str
    made_by: dict[str, Any]
    keys: msgspec.Raw
    actions: msgspec.Raw


class Entry(NamedTuple):
    """An information set with the probabilities of its moves."""

    key: str
    actions: tuple[str, ...]
    probabilities: list[float]


@dataclass(eq=False)
class TableFile:
    """The rows of all players in sequence: row k has ``action_sets[action_set[k]]``, numbers from ``first[k]``.

    ``keys[p]`` are those of player p, whose rows begin at ``begin[p]``.

    >>> from infoset.policies.table_file import TableFile
    >>> table = TableFile.read(infoset.solve("kuhn_poker", "lp").policy.save("kuhn.npz"))
    >>> table.entry(1, "K bet")
    Entry(key='K bet', moves=('pass', 'bet'), probabilities=[0.0, 1.0])
    """

    game: str
    players: tuple[str, ...]
    map_name: str
    made_by: dict[str, Any]
    keys: tuple[list[str], ...] = field(repr=False)
    action_sets: list[tuple[str, ...]] = field(repr=False)
    action_set: IntArray = field(repr=False)  # (rows,)
    probabilities: FloatArray = field(repr=False)
    _looked: int = field(default=0, init=False, repr=False)

    @classmethod
    def read(cls, path: str | Path) -> TableFile:
        """Read an ``.npz`` file; no code in it is run.  Raises ``PolicyError`` for a broken one."""
        path = Path(path)
        collecting = gc.isenabled()
        gc.disable()  # a collection would traverse a million new objects again and again
        try:
            check_archive(path)
            encoded, probabilities = _unpacked(path)
            header = msgspec.json.decode(encoded, type=_Header)
            check_schema("policy", header.schema, SCHEMA)
            keys = msgspec.json.decode(header.keys, type=list[list[str]])
            rows = [_pieces(part) for part in msgspec.json.decode(header.actions, type=list[msgspec.Raw])]
            numbers = {text: k for k, text in enumerate(dict.fromkeys(chain.from_iterable(rows)))}
            action_set = np.fromiter(map(numbers.__getitem__, chain.from_iterable(rows)), dtype=np.int32)
            action_sets = [tuple(msgspec.json.decode(b"[" + text + b"]", type=list[str])) for text in numbers]
            if [len(table) for table in keys] != [len(part) for part in rows] or len(keys) != len(header.players):
                raise DamageError("its keys and moves do not fit together")
            table = cls(
                header.game,
                tuple(header.players),
                header.map,
                header.made_by,
                tuple(keys),
                action_sets,
                action_set,
                probabilities,
            )
            table.check()
        except PolicyError:
            raise
        except (*BROKEN_ARCHIVE, msgspec.MsgspecError) as error:
            raise PolicyError(f"{path.name}: not a policy file: {describe_damage(error)}") from None
        finally:
            if collecting:
                gc.enable()
        return table

    @classmethod
    def of(cls, policy: TabularPolicy) -> TableFile:
        """Create the table of a policy in memory."""
        numbers: dict[tuple[str, ...], int] = {}
        action_set, probabilities = list[int](), list[float]()
        for table in policy.tables:
            for row in table.values():
                action_set.append(numbers.setdefault(tuple(row), len(numbers)))
                probabilities.extend(row.values())
        return cls(
            policy.game, policy.players, policy.map_name, dict(policy.made_by),
            tuple(list(table) for table in policy.tables), list(numbers),
            np.array(action_set, dtype=np.int32), np.array(probabilities, dtype=np.float64),
        )  # fmt: skip

    def policy(self) -> TabularPolicy:
        """Return the table as a ``TabularPolicy``, with dictionaries."""
        tables = tuple(
            {entry.key: dict(zip(entry.actions, entry.probabilities, strict=True)) for entry in self.entries(player)}
            for player in range(len(self.players))
        )
        return TabularPolicy(self.game, self.players, tables, self.map_name, self.made_by)

    def entries(self, player: int) -> Iterator[Entry]:
        """Yield all rows of a player in the file's order."""
        for row in range(self.begin[player], self.begin[player + 1]):
            yield self.at(player, row)

    def check(self) -> None:
        """Raise ``ValueError`` for rows that are no distributions."""
        ends = self.first[1:]
        for names in (*self.keys, *self.action_sets):
            if (twice := find_twice(names)) is not None:
                raise DamageError(f"{shorten(twice)!r} occurs twice in it, as an information set or a move of one")
        if not all(self.action_sets) or len(self.probabilities) != self.first[-1]:
            raise DamageError("its moves and probabilities do not fit together")
        if not len(ends):
            return
        sums = np.add.reduceat(self.probabilities, self.first[:-1])
        inside = (self.probabilities >= 0) & (self.probabilities <= 1 + SUM_TOLERANCE)
        if not inside.all() or not (np.abs(sums - 1) <= SUM_TOLERANCE).all():
            raise DamageError("some of its rows are no distributions")

    @cached_property
    def first(self) -> LongArray:
        """(rows + 1,) the index of each row's first probability."""
        sizes = np.array([len(action_set) for action_set in self.action_sets], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(sizes[self.action_set])]).astype(np.int64)

    @cached_property
    def begin(self) -> list[int]:
        """(n + 1,) the first row of each player."""
        return [0, *np.cumsum([len(keys) for keys in self.keys]).tolist()]

    @property
    def num_infosets(self) -> int:
        """The number of rows."""
        return len(self.action_set)

    @cached_property
    def _places(self) -> list[dict[str, int] | None]:
        return [None for _ in self.keys]

    def find(self, player: int, key: str) -> int | None:
        """Return the row of an information set; ``None`` where there is none."""
        places = self._places[player]
        if places is None:
            if self._looked < FEW:
                return self._look(player, key)
            places = self.index(player)
        return places.get(key)

    def _look(self, player: int, key: str) -> int | None:
        """Return the row of one key by a linear search: for a few keys that is quicker than an index."""
        self._looked += 1
        try:
            return self.begin[player] + self.keys[player].index(key)
        except ValueError:
            return None

    def index(self, player: int) -> dict[str, int]:
        """Return the row of every key; built in pieces, so that other threads are not blocked."""
        keys, begin, places = self.keys[player], self.begin[player], dict[str, int]()
        for first in range(0, len(keys), PIECE):
            part = keys[first : first + PIECE]
            places.update(zip(part, range(begin + first, begin + first + len(part)), strict=True))
        self._places[player] = places
        return places

    def at(self, player: int, row: int) -> Entry:
        """Return the entry of a row."""
        probabilities = self.probabilities[self.first[row] : self.first[row + 1]].tolist()
        return Entry(self.keys[player][row - self.begin[player]], self.action_sets[self.action_set[row]], probabilities)

    def entry(self, player: int, key: str) -> Entry | None:
        """Return the entry of an information set; ``None`` where there is none."""
        row = self.find(player, key)
        return None if row is None else self.at(player, row)

    def probabilities_of(self, player: int, key: str, actions: Sequence[str]) -> list[float] | None:
        """Return the probabilities of these moves; ``None`` where the table does not cover the information set."""
        found = self.entry(player, key)
        if found is None or not set(found.actions) <= set(actions):
            return None
        row = dict(zip(found.actions, found.probabilities, strict=True))
        return [row.get(action, 0.0) for action in actions]

    @cached_property
    def sorted_rows(self) -> list[LongArray]:
        """The rows of each player in the order of their keys."""
        found = []
        for player, keys in enumerate(self.keys):
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
            found.append(order + self.begin[player])
        return found


def _pieces(rows: msgspec.Raw) -> list[bytes]:
    """Return the rows of a JSON list of lists of strings, as they are written, without their brackets.

    The text is split at the brackets between rows.  A string that contains such brackets is split, too, into pieces
    that are not valid JSON, since each has only one of its quotes: then the rows are parsed, which takes five times as
    long.
    """
    text = bytes(rows)
    pieces = text[2:-2].split(b"],[") if text.startswith(b'[["') and text.endswith(b'"]]') else []
    try:
        for piece in set(pieces):
            msgspec.json.decode(b"[" + piece + b"]", type=list[str])
    except msgspec.MsgspecError:
        pieces = []
    return pieces or [bytes(row)[1:-1] for row in msgspec.json.decode(text, type=list[msgspec.Raw])]


def _unpacked(path: Path) -> tuple[memoryview, FloatArray]:
    """Return the header's text and the probabilities, unpacked in parallel."""
    found: dict[str, Any] = {}

    def probabilities() -> None:
        try:
            found["chances"] = _array(path, "probabilities").astype(np.float64).ravel()
        except BaseException as error:  # raised again by the waiting thread
            found["error"] = error

    thread = threading.Thread(target=probabilities)
    thread.start()
    try:
        text = memoryview(_array(path, "header"))
    finally:
        thread.join()
    if "error" in found:
        raise found["error"]
    return text, found["chances"]


def _array(path: Path, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        raw = archive.read(f"{name}.npy")
    stream = BytesIO(raw)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(stream)
    if kind.kind not in PLAIN_KINDS or len(shape) > 1:
        raise DamageError(f"its {name} are no plain numbers")
    return np.frombuffer(raw, dtype=kind, offset=stream.tell())
