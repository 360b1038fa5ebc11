"""The results of a tournament in an SQLite file: one transaction a game, so that nothing that is over is lost.

Tables: ``tournament`` (what is played, as JSON), ``games`` (a row a game, with its replay), ``faults`` (a row for each
game, team and kind).
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from infoset.arena.reading import asked, reading
from infoset.errors import CheckpointError, ParameterError, shorten
from infoset.files import MAX_TEXT_BYTES, lock_file, make_folder, no_such_path
from infoset.match.replay import Match, checked
from infoset.processes import end_copy
from infoset.tree.graph import LARGEST_PAYOFF

if TYPE_CHECKING:
    from infoset.arena.tournament import Standings

SCHEMA = 3
READS = (1, 2, SCHEMA)  # in a file of schema 1 no clock runs; before 3 payoffs are as they were played
APPLICATION = 0x696E6673  # "infs", in the file's header
MEMORY = ":memory:"
MAX_READ = 1_000_000
"""Games of a file that is looked at."""
LAST = "SELECT coalesce(max(number), 0) FROM games"
TABLES = (
    "CREATE TABLE tournament (config TEXT NOT NULL)",
    """CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    seed INTEGER NOT NULL,
    agents TEXT NOT NULL,  -- a JSON list, by seat
    returns TEXT,          -- a JSON list, by seat; NULL where the game was forfeited
    forfeit INTEGER,       -- the seat that forfeited it, or NULL
    replay BLOB,           -- the match as JSON, compressed by zlib; NULL where the game was forfeited
    adjusted TEXT          -- a JSON list, by seat: returns without their luck; NULL where that is not known
)""",
    """CREATE TABLE faults (
    number INTEGER NOT NULL,
    team TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (number, team, kind)
)""",
)


class TournamentConfig(msgspec.Struct, frozen=True):
    """What a tournament is; one that is gone on with must be the same."""

    game: str
    teams: tuple[str, ...]
    seed: int
    self_matches: bool
    slow: float
    move_limit: float
    seconds_per_move: float | None = None
    start_clock: float | None = None
    isolate: bool = False
    memory: int | None = None
    format: str = ""
    """Of any but a round robin, which may go on with more games."""
    rank: str = ""
    """What the teams are ranked by: the games are the same, so that it may change."""


class UnkeptGameError(CheckpointError):
    """A game that is over could not be kept, as on a full disk; ``standings`` are of those that were."""

    standings: Standings | None = None


@dataclass(frozen=True)
class Result:
    """How one game ended: with ``returns`` (n,), or forfeited by the seat ``forfeit``."""

    number: int
    returns: tuple[float, ...] | None
    forfeit: int | None
    adjusted: tuple[float, ...] | None = None
    """(n,) ``returns`` without their luck (``control.Controls``), where that is known."""


@dataclass(frozen=True)
class TeamFault:
    """What one team did wrong in one game: the kind of fault, how often, and an example.

    ``illegal`` and ``error`` are those of matches.  ``hung`` and ``died`` forfeit the game.  ``slow`` are decisions
    over the limit, which stand; ``unknown`` are choices that a policy does not know and made at random.
    """

    team: str
    game: int
    """The game's number."""
    kind: str
    count: int
    detail: str


class Store:
    """One tournament's file."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.connection, self.path, self.process = connection, path, os.getpid()

    @classmethod
    @contextmanager
    def open(cls, path: Path | None, config: TournamentConfig) -> Iterator[Store]:
        """The file of a tournament, new or gone on with, kept from other processes; without a path, in memory.

        Raises ``CheckpointError`` for another tournament's file, for one that is none, and where another process is
        at it.
        """
        with nullcontext() if path is None else _locked(path), _connected(path) as store:
            if store._is_new():
                store._begin(config, path)
            else:
                store._check_kind()
                store._take_over(config)
            yield store

    @classmethod
    @contextmanager
    def read(cls, path: Path) -> Iterator[Store]:
        """A tournament's file to be looked at, also while it is played: nothing is written, nobody is kept out.

        Raises ``CheckpointError`` for a file that is no tournament's.
        """
        try:
            with reading(path) as connection:
                store = cls(connection, str(path))
                store._check_kind()
                yield store
        except FileNotFoundError:
            raise CheckpointError(f"{path}: {no_such_path(path)}") from None
        except (OSError, sqlite3.Error) as error:
            raise CheckpointError(f"{path}: {shorten(str(error), 200)}") from None

    def config(self) -> TournamentConfig:
        """What is played.  Raises ``CheckpointError`` where the file does not say it."""
        with self._reading():
            return msgspec.json.decode(asked(self.connection), type=TournamentConfig)

    def _is_new(self) -> bool:
        return not self._one("SELECT count(*) FROM sqlite_master") and self._one("PRAGMA application_id") == 0

    def _begin(self, config: TournamentConfig, path: Path | None) -> None:
        """Write what is played into a new file; where that fails, as on a full disk, no file is left."""
        try:
            self.connection.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                self.connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self.connection.execute(f"PRAGMA user_version = {SCHEMA}")
                for table in TABLES:
                    self.connection.execute(table)
                self.connection.execute("INSERT INTO tournament VALUES (?)", (_text(config),))
        except sqlite3.Error:
            self.connection.close()
            for file in () if path is None else (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                file.unlink(missing_ok=True)
            raise

    def _check_kind(self) -> None:
        if self._one("PRAGMA application_id") != APPLICATION:
            raise CheckpointError(f"{self.path} is no tournament's database; choose another --db")
        schema = self._one("PRAGMA user_version")
        if schema not in READS:
            raise CheckpointError(f"{self.path}: database schema {schema}; this version reads {SCHEMA}")

    def _take_over(self, config: TournamentConfig) -> None:
        """Go on with this tournament, or begin another where not one game was played."""
        held = config if self._one(LAST) == 0 else self.config()
        for field in msgspec.structs.fields(TournamentConfig):
            own, asked = getattr(held, field.name), getattr(config, field.name)
            if own != asked and field.name != "rank":
                raise CheckpointError(
                    f"{self.path} holds a tournament with {field.name}={_plain(own)}, not {_plain(asked)}; "
                    "choose another --db"
                )
        with self._transaction():
            if not self._adjusts():
                self.connection.execute("ALTER TABLE games ADD COLUMN adjusted TEXT")
            self.connection.execute(f"PRAGMA user_version = {SCHEMA}")
            self.connection.execute("UPDATE tournament SET config = ?", (_text(config),))

    def _adjusts(self) -> bool:
        """Whether the file holds payoffs without their luck."""
        return any(column[1] == "adjusted" for column in self.connection.execute("PRAGMA table_info(games)"))

    def numbers(self) -> list[int]:
        """Those of the games so far.  Raises ``CheckpointError`` beyond ``MAX_READ``."""
        found = [number for (number,) in self.connection.execute("SELECT number FROM games LIMIT ?", (MAX_READ + 1,))]
        if len(found) > MAX_READ:
            raise CheckpointError(f"{self.path} holds more than {MAX_READ:,} games")
        return found

    def seats(self) -> int:
        """How many players the game has, 0 where none was played."""
        with self._reading():
            row = self._one("SELECT agents FROM games LIMIT 1")
            return 0 if row is None else len(msgspec.json.decode(str(row), type=tuple[str, ...]))

    def results(self, players: int) -> Iterator[Result]:
        """All games so far by number, of a game for so many players."""
        adjusted = "adjusted" if self._adjusts() else "NULL"
        rows = self.connection.execute(f"SELECT number, returns, forfeit, {adjusted} FROM games ORDER BY number")
        for number, text, forfeit, without in rows:
            with self._reading():
                returns, luckless = (
                    None if found is None else msgspec.json.decode(found, type=tuple[float, ...])
                    for found in (text, without)
                )
                if (len(returns) != players) if returns is not None else forfeit not in range(players):
                    raise ValueError(f"the result of game {number}")
                if luckless is not None and (returns is None or len(luckless) != players):
                    raise ValueError(f"the adjusted result of game {number}")
                if any(abs(paid) > LARGEST_PAYOFF for paid in (*(returns or ()), *(luckless or ()))):
                    raise ValueError(f"the result of game {number} is above {LARGEST_PAYOFF:g} in size")
            yield Result(number, returns, forfeit, luckless)

    def faults(self) -> Iterator[TeamFault]:
        """All faults so far by game."""
        yield from starmap(
            TeamFault,
            self.connection.execute("SELECT team, number, kind, count, detail FROM faults ORDER BY number, team, kind"),
        )

    def add(
        self, result: Result, faults: Sequence[TeamFault], *, seed: int, agents: Sequence[str], replay: bytes | None
    ) -> None:
        """One game that is over: it is in the file when this returns, whatever happens to the process then.

        A copy of the process, as an agent makes it by a fork, writes nothing and ends.  Raises ``UnkeptGameError``
        where it cannot be, as on a full disk.
        """
        end_copy(self.process)
        returns = None if result.returns is None else json.dumps(result.returns)
        adjusted = None if result.adjusted is None else json.dumps(result.adjusted)
        row = (result.number, seed, json.dumps(agents), returns, result.forfeit, replay, adjusted)
        noted = [(fault.game, fault.team, fault.kind, fault.count, fault.detail) for fault in faults]
        try:
            with self._transaction():
                self.connection.execute("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                self.connection.executemany("INSERT INTO faults VALUES (?, ?, ?, ?, ?)", noted)
        except sqlite3.Error as error:
            raise UnkeptGameError(
                f"{self.path}: game {result.number} could not be kept: {shorten(str(error), 200)}; "
                "those before it are, and the same command goes on"
            ) from None

    def replay(self, number: int) -> Match:
        """The game of that number.  Raises ``ParameterError`` for one that is not there, or was forfeited."""
        query = "SELECT replay, forfeit, agents FROM games WHERE number = ?"
        row = self.connection.execute(query, (number,)).fetchone()
        if row is None:
            raise ParameterError(f"{self.path} holds no game {number}; the last is {self._one(LAST)}")
        replay, forfeit, agents = row
        with self._reading():
            if replay is None:
                agent = msgspec.json.decode(agents)[forfeit]
                raise ParameterError(f"game {number} was forfeited by {shorten(agent)}: there is nothing to replay")
            unpack = zlib.decompressobj()
            body = unpack.decompress(replay, MAX_TEXT_BYTES)
            if not unpack.eof:
                raise ValueError(f"the replay of game {number} is cut off or too large")
            return checked(msgspec.json.decode(body, type=Match))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What is wrong with a value that the file holds, as one line."""
        try:
            yield
        except ParameterError:
            raise
        except (msgspec.MsgspecError, zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise CheckpointError(f"{self.path}: a broken entry: {shorten(str(error), 200)}") from None

    def _one(self, query: str) -> object:
        """The one value that a query gives."""
        row = self.connection.execute(query).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:  # a full disk may have ended it
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")


def load_replay(path: Path, number: int) -> Match:
    """Game ``number`` of a tournament's file, also while the tournament goes on.  No agent is loaded for it.

    Raises ``CheckpointError`` for a file that is no tournament's, ``ParameterError`` for a game that is not in it.
    """
    with Store.read(path) as store:
        return store.replay(number)


def _text(config: TournamentConfig) -> str:
    return msgspec.json.encode(config).decode()


def _plain(value: object) -> str:
    return shorten(", ".join(map(str, value)) if isinstance(value, tuple) else str(value), 200)


@contextmanager
def _connected(path: Path | None) -> Iterator[Store]:
    """What SQLite says is wrong with the file as one line."""
    name = MEMORY if path is None else str(path)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = NORMAL")
            yield Store(connection, name)
    except sqlite3.Error as error:
        raise CheckpointError(f"{name}: {shorten(str(error), 200)}") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out until the end of this one, however it ends."""
    if "\0" in str(path):
        raise CheckpointError(f"no file can be named {shorten(repr(str(path)))}")
    try:
        make_folder(path.parent)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        if not lock_file(file) or not os.path.samestat(os.fstat(file), path.stat()):  # it may have been removed
            raise CheckpointError(f"{path}: another process is at this tournament")
        yield
    finally:
        os.close(file)
