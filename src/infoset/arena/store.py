"""Store a tournament's results in an SQLite file, one transaction for each game, so that no finished game is lost.

Tables: ``tournament`` (the configuration as JSON), ``games`` (one row for each game, with its replay), ``faults`` (one
row for each game, team and kind).
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import starmap
from pathlib import Path

import msgspec

from infoset.arena.reading import asked, reading
from infoset.arena.results import Result, TeamFault
from infoset.arena.standings import Standings
from infoset.errors import CheckpointError, ParameterError, shorten
from infoset.files import MAX_TEXT_BYTES, describe_damage, lock_file, make_folder, no_such_path
from infoset.match.replay import Match, checked
from infoset.processes import end_copy
from infoset.tree.graph import LARGEST_PAYOFF

SCHEMA = 3
READS = (1, 2, SCHEMA)  # schema 1 has no clocks; before schema 3 there are no adjusted payoffs
APPLICATION = 0x696E6673  # "infs", in the file's header
MEMORY = ":memory:"
MAX_READ = 1_000_000
"""The most games of a file whose numbers are read."""
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
    """The configuration of a tournament; it must be the same when the tournament is resumed."""

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
    """The format; empty for a round robin, which may continue with more games."""
    rank: str = ""
    """The ranking criterion; it may change, because the games stay the same."""


class UnkeptGameError(CheckpointError):
    """A finished game could not be stored, as on a full disk; ``standings`` are those of the stored games."""

    standings: Standings | None = None


class Store:
    """The file of one tournament."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.connection, self.path, self.process = connection, path, os.getpid()

    @classmethod
    @contextmanager
    def open(cls, path: Path | None, config: TournamentConfig) -> Iterator[Store]:
        """Open a new or existing tournament's file, locked against other processes; without a path, in memory.

        Raises ``CheckpointError`` for a file of another tournament or of another kind, and where another process has
        locked it.
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
        """Open a tournament's file for reading, also while it is played: nothing is written and no lock is taken.

        Raises ``CheckpointError`` for a file that is not a tournament's.
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
        """Return the configuration.  Raises ``CheckpointError`` where the file has no valid one."""
        with self._reading():
            return msgspec.json.decode(asked(self.connection), type=TournamentConfig)

    def _is_new(self) -> bool:
        return not self._one("SELECT count(*) FROM sqlite_master") and self._one("PRAGMA application_id") == 0

    def _begin(self, config: TournamentConfig, path: Path | None) -> None:
        """Write the configuration into a new file; where that fails, as on a full disk, remove the file."""
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
        """Continue this tournament, or replace its configuration where no game was played."""
        stored = config if self._one(LAST) == 0 else self.config()
        for field in msgspec.structs.fields(TournamentConfig):
            own, asked = getattr(stored, field.name), getattr(config, field.name)
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
        """Return whether the file has a column of adjusted payoffs."""
        return any(column[1] == "adjusted" for column in self.connection.execute("PRAGMA table_info(games)"))

    def numbers(self) -> list[int]:
        """Return the numbers of the games so far.  Raises ``CheckpointError`` beyond ``MAX_READ``."""
        found = [number for (number,) in self.connection.execute("SELECT number FROM games LIMIT ?", (MAX_READ + 1,))]
        if len(found) > MAX_READ:
            raise CheckpointError(f"{self.path} has more than {MAX_READ:,} games")
        if not all(isinstance(number, int) for number in found):
            raise CheckpointError(f"{self.path}: damaged entry: a game without a number")
        return found

    def seats(self) -> int:
        """Return the number of players, 0 where no game was played."""
        with self._reading():
            row = self._one("SELECT agents FROM games LIMIT 1")
            return 0 if row is None else len(msgspec.json.decode(str(row), type=tuple[str, ...]))

    def results(self, players: int) -> Iterator[Result]:
        """Yield the results of all games so far by number, checked against the number of ``players``."""
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
        """Yield all faults so far, by game."""
        yield from starmap(
            TeamFault,
            self.connection.execute("SELECT team, number, kind, count, detail FROM faults ORDER BY number, team, kind"),
        )

    def add(
        self, result: Result, faults: Sequence[TeamFault], *, seed: int, agents: Sequence[str], replay: bytes | None
    ) -> None:
        """Store one finished game: when this returns it is in the file, even if the process ends afterwards.

        A copy of the process, such as an agent's fork, writes nothing and ends.  Raises ``UnkeptGameError`` where the
        game cannot be stored, as on a full disk.
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
                f"{self.path}: game {result.number} could not be saved: {shorten(str(error), 200)}; "
                "earlier games are saved, and the same command resumes"
            ) from None

    def replay(self, number: int) -> Match:
        """Return the match of that number.  Raises ``ParameterError`` where it is not in the file or was forfeited."""
        query = "SELECT replay, forfeit, agents FROM games WHERE number = ?"
        row = self.connection.execute(query, (number,)).fetchone()
        if row is None:
            raise ParameterError(f"{self.path} has no game {number}; the last is {self._one(LAST)}")
        replay, forfeit, agents = row
        with self._reading():
            if replay is None:
                agent = msgspec.json.decode(agents)[forfeit]
                raise ParameterError(f"game {number} was forfeited by {shorten(agent)}: it cannot be replayed")
            unpack = zlib.decompressobj()
            body = unpack.decompress(replay, MAX_TEXT_BYTES)
            if not unpack.eof:
                raise ValueError(f"the replay of game {number} is cut off or too large")
            return checked(msgspec.json.decode(body, type=Match))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise errors in decoding a value of the file as ``CheckpointError`` with one line."""
        try:
            yield
        except ParameterError:
            raise
        except (msgspec.MsgspecError, zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise CheckpointError(f"{self.path}: damaged entry: {shorten(describe_damage(error), 200)}") from None

    def _one(self, query: str) -> object:
        """Return the single value of a query, ``None`` without a row."""
        row = self.connection.execute(query).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:  # a full disk may have rolled it back already
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")


def load_replay(path: Path, number: int) -> Match:
    """Load game ``number`` from a tournament's file, also while the tournament is played, without loading agents.

    Raises ``CheckpointError`` for a file that is not a tournament's, ``ParameterError`` for a game that is not in it.
    """
    with Store.read(path) as store:
        return store.replay(number)


def _text(config: TournamentConfig) -> str:
    return msgspec.json.encode(config).decode()


def _plain(value: object) -> str:
    return shorten(", ".join(map(str, value)) if isinstance(value, tuple) else str(value), 200)


@contextmanager
def _connected(path: Path | None) -> Iterator[Store]:
    """Connect to the file, and raise SQLite's errors as ``CheckpointError`` with one line."""
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
    """Lock the file against other processes; the lock ends with this process, however that ends."""
    if "\0" in str(path):
        raise CheckpointError(f"no file can be named {shorten(repr(str(path)))}")
    try:
        make_folder(path.parent)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        if not lock_file(file) or not os.path.samestat(os.fstat(file), path.stat()):  # may have been removed meanwhile
            raise CheckpointError(f"{path}: another process is at this tournament")
        yield
    finally:
        os.close(file)
