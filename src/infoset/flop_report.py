"""Reports over flops: a spot of hold'em solved on many flops, kept flop by flop in a folder, averaged by weight."""

from __future__ import annotations

import csv
import hashlib
import inspect
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from infoset import displays
from infoset.arguments import checks_arguments, takes_fields
from infoset.base import CardGame, FloatArray
from infoset.catalog import load
from infoset.compiled import AnyGame, Compiled
from infoset.errors import CheckpointError, InfosetError, ParameterError, UnsupportedGameError, shorten
from infoset.executors import LOCAL, Where, check_executor, width
from infoset.executors import executor as open_executor
from infoset.files import (
    DamageError,
    check_folder,
    check_schema,
    clear_partials,
    create_file,
    decode_json,
    describe_damage,
    lock_file,
    replace_file,
)
from infoset.games.flops import FLOP, flop_class, flop_counts, flop_subset
from infoset.games.holdem import holdem
from infoset.games.poker_hands import Range, cards_of, hand_name, parse_range
from infoset.games.suits import DECK, IDENTITY, permute_hand
from infoset.hand_groups import group_of
from infoset.names import Name, parse_name
from infoset.runs import FRESH, claim_folder
from infoset.solvers.config import FlopReportConfig, SolveConfig
from infoset.solvers.job import Watcher
from infoset.solvers.method import check_options, parse_method
from infoset.solving import solve
from infoset.spots import SpotTree

SCHEMA = 1
SIZE = 25
"""The number of flops unless another is asked for."""
TARGET = "0.5%"
"""The exploitability of each solution unless another limit is given."""
SOLVING = ("iterations", "target", "seconds", "precision")
"""The options of ``solve`` that a report takes."""
BOARD, CHECK = "board", "check"
AFTER_CHECK = " after check"
CONFIG, FOLDER, CSV, PAGE = "report.json", "flops", "report.csv", "report.html"
"""Names in the folder of a report."""


class FlopFigures(msgspec.Struct, frozen=True):
    """The solution of the spot on one flop: payoffs and exploitability in chips, frequencies from 0 to 1."""

    flop: str
    ev: tuple[float, float]
    """The mean payoffs of P1 and P2."""
    equity: float
    """P1's share of the pot if nobody bet any more."""
    first: dict[str, float]
    """The frequencies of P1's first actions."""
    after_check: dict[str, float]
    """The frequencies of P2's actions after a check."""
    exploitability: float
    iterations: int
    seconds: float
    """The time that building, solving and evaluating took."""
    options: str = ""
    """A digest of the options of the report."""


@dataclass(frozen=True)
class FlopReport:
    """The figures of a spot on all flops of a report that are solved so far, and their weighted means.

    ``weights`` (F,) are the probabilities of the flops of ``rows`` among each other: the flop's share of all flops, or
    the weight by which it represents others, times the probability that both players hold hands of their ranges beside
    it.  ``planned`` is the number of flops asked for, without those that the ranges leave no hands beside; ``stopped``
    is ``flops`` once all are solved, else ``interrupted`` or ``running``.

    >>> spot = "holdem(pot=20,stack=20,bets='100%',raises=none,range1='AA 76s',range2='KK QJs')"
    >>> report = infoset.report_flops(spot, flops=["9s8h2d"], iterations=10)
    >>> report.rows[0].flop, list(report.mean.first)
    ('9s8h2d', ['check', 'bet 20'])
    """

    game: str
    method: str
    pot: float
    rows: tuple[FlopFigures, ...] = field(repr=False)
    weights: tuple[float, ...] = field(repr=False)
    planned: int
    stopped: str
    folder: Path | None = None

    @property
    def mean(self) -> FlopFigures | None:
        """The weighted means, with the sums of iterations and seconds; ``None`` before the first flop is solved."""
        if not self.rows:
            return None
        weights, first, second = np.array(self.weights), *self._actions

        def mean(values: Sequence[float]) -> float:
            return float(weights @ np.array(values))

        return FlopFigures(
            "mean", (mean([row.ev[0] for row in self.rows]), mean([row.ev[1] for row in self.rows])),
            mean([row.equity for row in self.rows]),
            {action: mean([row.first.get(action, 0.0) for row in self.rows]) for action in first},
            {action: mean([row.after_check.get(action, 0.0) for row in self.rows]) for action in second},
            mean([row.exploitability for row in self.rows]), sum(row.iterations for row in self.rows),
            sum(row.seconds for row in self.rows),
        )  # fmt: skip

    @property
    def _actions(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """P1's first actions and P2's after a check, on any flop."""
        first, second = (
            dict.fromkeys(a for row in self.rows for a in row.first),
            dict.fromkeys(a for row in self.rows for a in row.after_check),
        )
        return tuple(first), tuple(second)

    def columns(self, row: FlopFigures, weight: float) -> dict[str, Any]:
        """Return a row of the table by the names of columns, such as ``P1 bet 50`` and ``P2 bet 50 after check``."""
        first, second = self._actions
        return {
            "flop": row.flop, "weight": weight, "ev P1": row.ev[0], "ev P2": row.ev[1], "equity P1": row.equity,
            **{f"P1 {action}": row.first.get(action, 0.0) for action in first},
            **{f"P2 {action}{AFTER_CHECK}": row.after_check.get(action, 0.0) for action in second},
            "exploitability": row.exploitability, "iterations": row.iterations, "seconds": row.seconds,
        }  # fmt: skip

    def table(self) -> list[dict[str, Any]]:
        """Return the row of each flop, as ``columns`` does; ``pandas.DataFrame`` takes this as it is."""
        return [self.columns(row, weight) for row, weight in zip(self.rows, self.weights, strict=True)]

    def csv(self) -> str:
        """Return the table as CSV, with a line of column names."""
        text, table = StringIO(), self.table()
        if table:
            write = csv.DictWriter(text, table[0], lineterminator="\n")
            write.writeheader()
            for row in table:
                write.writerow({k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items()})
        return text.getvalue()

    @classmethod
    @checks_arguments
    def load(cls, folder: str | Path) -> FlopReport:
        """Load the report in ``folder`` as far as it has come.  Raises ``CheckpointError``."""
        opened = _Folder(Path(folder))
        return opened.report(opened.read_config(), "")

    def _repr_html_(self) -> str:
        return displays.render("flop_report", self)


@dataclass(frozen=True)
class FlopReportArguments(FlopReportConfig):
    """The arguments of ``report_flops``: what is reported, where it runs, where it is kept, and who follows it."""

    game: AnyGame | None = None
    method: str | None = None
    _: KW_ONLY
    flops: int | str | Sequence[str] | None = None
    out: str | Path | None = None
    executor: Where = LOCAL
    progress: Callable[[FlopReport], object] | None = None
    watcher: Watcher | None = None


class _StoredConfig(msgspec.Struct, frozen=True):
    """A report as ``report.json`` keeps it: by the names of the game and the method."""

    game: str
    method: str
    flops: dict[str, float]
    """The weights of the flops, without regard to the ranges."""
    iterations: int | None = None
    target: float | str | None = None
    seconds: float | None = None
    precision: str | None = None
    schema: int = SCHEMA

    def check(self) -> None:
        """Raise ``DamageError`` for a game or flops that no report has: they come from a file."""
        if parse_name(self.game).word != holdem.__name__:
            raise DamageError(f"its game {shorten(self.game)} is no spot of hold'em")
        for flop in self.flops:
            if hand_name(cards_of(flop, "flops")) != flop or len(flop) != 2 * FLOP:
                raise DamageError(f"{shorten(flop)!r} is no flop")

    @property
    def options(self) -> str:
        """A digest of all that the solution of a flop depends on."""
        asked = {name: value for name, value in msgspec.structs.asdict(self).items() if name not in ("flops", "schema")}
        return hashlib.blake2b(msgspec.json.encode(asked), digest_size=8).hexdigest()

    @property
    def solving(self) -> dict[str, Any]:
        """The arguments of ``solve`` for each flop."""
        return {"form": "vector", **{name: getattr(self, name) for name in SOLVING}}


@checks_arguments
@takes_fields(FlopReportArguments)
def report_flops(asked: FlopReportArguments) -> FlopReport:
    """Solve a hold'em spot on many flops, one after the other, and report EV and frequencies by flop and on average.

    ``game`` is a spot from the flop on, whose own flop does not matter: each flop in turn takes its place.  ``flops``
    is a number of flops that represent all of them with weights (25, 49, 85, 184 are customary, 1,755 is all of them;
    see ``games.flops``), or a list of flops, each weighted by the number of flops that it stands for.  A flop stands
    for all that differ in the names of suits alone, so that ranges may not tell suits apart.

    Each flop is solved by ``method`` to the first of ``iterations``, ``target`` and ``seconds``; where none is given,
    to an exploitability of .5 % of the pot.

    ``out`` keeps the report in a folder (``"runs/*"`` is a fresh one) with one file for each flop, written when it is
    solved, and the table as CSV and as a page.  In a folder that holds a report it goes on: options that are not given
    are those of the report, others are refused, and ``flops`` may add flops.

    ``executor`` says where flops are solved, if not one after the other in this process: ``ray`` starts Ray on this
    machine, ``ray:ADDRESS`` joins a cluster, and any executor of ``concurrent.futures`` can be given.

    ``progress`` is passed the report before the first flop and after each one, ``watcher`` follows the solution of a
    flop in this process.  Ctrl-C ends the report with the flops that are solved.  Raises ``ParameterError``,
    ``UnknownNameError``, ``UnsupportedGameError``, ``BudgetError`` or ``CheckpointError``.

    >>> spot = "holdem(pot=20,stack=20,bets='100%',raises=none,range1='AA 76s',range2='KK QJs')"
    >>> report = infoset.report_flops(spot, flops=["AsKs2h", "9s8h2d"], target="2%")
    >>> [row["flop"] for row in report.table()], report.stopped
    (['AsKs2h', '9s8h2d'], 'flops')
    """
    check_executor(asked.executor)
    if asked.progress is not None and not callable(asked.progress):
        raise ParameterError(f"progress={shorten(repr(asked.progress))} is not callable; allowed: a function")
    out = None if asked.out is None else Path(asked.out)
    existing = out is not None and (out / CONFIG).is_file()
    with _Folder.open(out) if existing and out is not None else nullcontext() as folder:
        config = _begin(asked) if folder is None else _continue(asked, folder)
        if folder is None and out is not None:
            check_folder(out.parent if out.name == FRESH else out)
        with _Folder.create(out, config) if folder is None else nullcontext(folder) as opened:
            return _Run(config, opened, asked).finish()


def _begin(asked: FlopReportArguments) -> _StoredConfig:
    """Return the configuration of a new report, once everything that it names is known to exist."""
    if asked.game is None:
        raise ParameterError("no GAME given, a spot of hold'em from the flop on, such as a .toml file")
    given = {name: getattr(asked, name) for name in SOLVING}
    if given["iterations"] is given["target"] is given["seconds"] is None:
        given["target"] = TARGET
    given["target"] = SolveConfig(**given).target
    config = _StoredConfig(
        _spot_name(asked.game), asked.method or "auto", _flops_of(SIZE if asked.flops is None else asked.flops), **given
    )
    check_options(parse_method(config.method), SolveConfig(**config.solving))
    return config


def _continue(asked: FlopReportArguments, folder: _Folder) -> _StoredConfig:
    """Return the configuration of the report in a folder; of what is given, only flops may be added to it."""
    config = folder.read_config()
    given = {name: getattr(asked, name) for name in ("method", "iterations", "seconds", "precision")}
    given["game"] = None if asked.game is None else _spot_name(asked.game)
    given["target"] = SolveConfig(target=asked.target).target
    for name, mine in given.items():
        if mine not in (None, stored := getattr(config, name)):
            raise CheckpointError(
                f"{folder.path} holds a report with {name}={shorten(str(stored))}, not {shorten(str(mine))}; choose "
                "another --out"
            )
    if asked.flops is not None and list(flops := _flops_of(asked.flops)) != list(config.flops):
        if not config.flops.keys() <= flops.keys():
            raise CheckpointError(
                f"{folder.path} holds a report over {len(config.flops)} flops that are not all among the "
                f"{len(flops)} asked for; choose another --out"
            )
        config = msgspec.structs.replace(config, flops=flops)
        folder.replace_config(config)
    return config


def _spot_name(game: AnyGame) -> str:
    """Return the name of a spot without its board.

    Raises ``UnsupportedGameError`` for other games, and for ranges that name suits.
    """
    found = Compiled.of(game).game
    name = found.name
    if not isinstance(found, CardGame) or parse_name(name).word != holdem.__name__:
        raise UnsupportedGameError(f"{shorten(name)} is no spot of hold'em from the flop on: report_flops needs one")
    if len(found.spot.board) != FLOP:
        raise UnsupportedGameError(f"a board of {len(found.spot.board)} cards: report_flops needs a spot on the flop")
    for k, own in enumerate(_ranges_of(name), 1):
        _check_suits(own, f"range{k}")
    return _name_on(name)


def _check_suits(own: Range, where: str) -> None:
    for one, other in combinations(range(len(IDENTITY)), 2):
        swap = list(IDENTITY)
        swap[one], swap[other] = other, one
        for hand, weight in own.items():
            if own.get(permute_hand(hand, tuple(swap))) != weight:
                raise UnsupportedGameError(
                    f"{where} tells suits apart ({hand_name(hand)}): a flop of a report stands for all that differ in "
                    "suits alone"
                )


def _ranges_of(name: str) -> tuple[Range, Range]:
    """Return the ranges of a spot without regard to its board."""
    defaults = inspect.signature(holdem).parameters
    given = {key: one.default for key, one in defaults.items()} | dict(parse_name(name).parameters)
    one, two = (parse_range(str(given[f"range{k}"]), (), f"range{k}", str(given["ranges"])) for k in (1, 2))
    return one, two


def _flops_of(flops: Any) -> dict[str, float]:
    """Return flops by name, each with its weight.  Raises ``ParameterError``."""
    if isinstance(flops, str) and flops.strip().isdecimal():
        flops = int(flops) if len(flops) < 10 else 10**9
    if isinstance(flops, int):
        return {hand_name(flop): weight for flop, weight in flop_subset(flops).items()}
    words = re.split(r"[\s,]+", flops.strip()) if isinstance(flops, str) else list(flops)
    found: dict[tuple[int, ...], str] = {}
    for word in words:
        cards = tuple(sorted(cards_of(word, "flops"), reverse=True))
        if len(cards) != FLOP:
            raise ParameterError(f"flops: {shorten(word)!r} has {len(cards)} cards; allowed: a number, or flops of 3")
        kind = flop_class(cards)
        if kind in found:
            raise ParameterError(f"flops: {found[kind]} and {shorten(word)} are one flop but for the names of suits")
        found[kind] = hand_name(cards)
    total = sum(flop_counts()[kind] for kind in found)
    return {name: flop_counts()[kind] / total for kind, name in found.items()}


def _weights(config: _StoredConfig) -> dict[str, float]:
    """Return the weights of the flops beside which both players can hold hands: those of the flops and the ranges."""
    one, two = _ranges_of(config.game)
    arrays = [(np.array(list(own)), np.array(list(own.values()))) for own in (one, two)]
    both = [(np.array(hand), weight * two[hand]) for hand, weight in one.items() if hand in two]
    found = {}
    for flop, weight in config.flops.items():
        cards = cards_of(flop, "flop")
        free = [own * ~np.isin(hands, cards).any(axis=1) for hands, own in arrays]
        touching = [
            np.bincount(hands.ravel(), own.repeat(2), DECK) for (hands, _), own in zip(arrays, free, strict=True)
        ]
        same = sum(product for hand, product in both if not np.isin(hand, cards).any())
        together = float(free[0].sum() * free[1].sum() - touching[0] @ touching[1] + same)
        if together * weight > 1e-12 * max(free[0].sum() * free[1].sum(), 1e-300):
            found[flop] = weight * together
    if not found:
        raise ParameterError("flops: beside none of them the ranges leave hands for both players")
    return found


def _name_on(name: str, *board: str) -> str:
    """Return the name of a spot with another board; without one, with that of every such name."""
    spot = parse_name(name)
    others = tuple((key, value) for key, value in spot.parameters if key != BOARD)
    return str(Name(spot.word, (*((BOARD, cards) for cards in board), *others)))


def _solve_flop(config: _StoredConfig, flop: str, watcher: Watcher | None = None) -> FlopFigures | None:
    """Solve the spot on one flop, in any process; ``None`` where that was interrupted."""
    began = time.monotonic()
    compiled = Compiled.of(load(_name_on(config.game, flop)))
    solution = solve(compiled, config.method, watcher=watcher, **config.solving)
    if solution.stopped == "interrupted":
        return None
    tree = SpotTree.of(compiled, solution.policy)
    first, second = tree.node(), tree.node((CHECK,))
    own, other = (group_of(table) for table in first.tables)
    answer = group_of(second.tables[1])
    return FlopFigures(
        flop, (own.ev, other.ev), own.equity, _by_action(first.tables[0].actions, own.frequencies),
        _by_action(second.tables[1].actions, answer.frequencies), solution.exploitability or 0.0, solution.iterations,
        time.monotonic() - began, config.options,
    )  # fmt: skip


def _by_action(actions: Sequence[str], frequencies: FloatArray) -> dict[str, float]:
    return dict(zip(actions, np.nan_to_num(frequencies).tolist(), strict=True))


class _Run:
    """A report in progress."""

    def __init__(self, config: _StoredConfig, folder: _Folder | None, asked: FlopReportArguments) -> None:
        self.config, self.folder, self.asked = config, folder, asked
        self.pot = float(load(config.game).spot.betting.pot)  # type: ignore[attr-defined]
        self.weights = _weights(config)
        self.done = {} if folder is None else folder.figures(config)

    def report(self, stopped: str) -> FlopReport:
        where = None if self.folder is None else self.folder.path
        return _report(self.config, self.pot, self.weights, self.done, stopped, where)

    def finish(self) -> FlopReport:
        """Solve all flops that are not solved yet."""
        left = [flop for flop in self.weights if flop not in self.done]
        here = self.asked.executor == LOCAL
        stopped = "flops"
        try:
            self._tell()
            for figures in self._here(left) if here else self._distributed(left):
                if figures is None:
                    raise KeyboardInterrupt
                if self.folder is not None:
                    self.folder.add(figures)
                self.done[figures.flop] = figures
                self._tell()
        except KeyboardInterrupt:
            stopped = "interrupted"
        report = self.report(stopped)
        if self.folder is not None:
            self.folder.save_tables(report)
        return report

    def _tell(self) -> None:
        if self.asked.progress is not None:
            self.asked.progress(self.report("running"))

    def _here(self, left: Sequence[str]) -> Iterator[FlopFigures | None]:
        for flop in left:
            yield _solve_flop(self.config, flop, self.asked.watcher)

    def _distributed(self, left: Sequence[str]) -> Iterator[FlopFigures | None]:
        """Yield the figures of flops as they come, with as many under way as the executor runs in parallel."""
        with open_executor(self.asked.executor) as opened:
            under_way: set[Future[FlopFigures | None]] = set()
            todo = iter(left)
            try:
                while True:
                    for flop in todo:
                        under_way.add(opened.submit(_solve_flop, self.config, flop))
                        if len(under_way) >= width(opened):
                            break
                    if not under_way:
                        return
                    over, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in over:
                        yield future.result()
            finally:
                for future in under_way:
                    future.cancel()


def _report(
    config: _StoredConfig, pot: float, weights: Mapping[str, float], done: Mapping[str, FlopFigures], stopped: str,
    folder: Path | None,
) -> FlopReport:  # fmt: skip
    """Return the report of the flops that are solved, in the order in which they were asked for."""
    rows = [done[flop] for flop in weights if flop in done]
    total = sum(weights[row.flop] for row in rows)
    shares = tuple(weights[row.flop] / total for row in rows)
    return FlopReport(config.game, config.method, pot, tuple(rows), shares, len(weights), stopped, folder)


class _Folder:
    """The folder of a report: ``report.json``, a file for each flop that is solved, and the table."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @classmethod
    @contextmanager
    def create(cls, path: Path | None, config: _StoredConfig) -> Iterator[_Folder | None]:
        """Make the folder of a new report and lock it; without a path nothing is kept."""
        if path is None:
            yield None
            return
        folder = cls(claim_folder(path.parent, "flops") if path.name == FRESH else path)
        try:
            create_file(folder.path / CONFIG, msgspec.json.format(msgspec.json.encode(config)))
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from None
        with folder._locked():
            yield folder

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[_Folder]:
        """Open the folder of a report to go on with it, locked against other processes."""
        folder = cls(path)
        with folder._locked():
            for place in (path, path / FOLDER):
                clear_partials(place)
            yield folder

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._lock()
        try:
            yield
        finally:
            assert self._descriptor is not None
            os.close(self._descriptor)

    def _lock(self) -> None:
        before, self._descriptor = self._descriptor, os.open(self.path / CONFIG, os.O_RDONLY)
        if before is not None:
            os.close(before)
        if not lock_file(self._descriptor):
            os.close(self._descriptor)
            raise CheckpointError(f"{self.path}: another process is using this report")

    def read_config(self) -> _StoredConfig:
        """Read the configuration of the report.  Raises ``CheckpointError``."""
        file = self.path / CONFIG
        try:
            config = decode_json(file.read_bytes(), _StoredConfig)
            check_schema("report", config.schema, SCHEMA)
            config.check()
        except FileNotFoundError:
            raise CheckpointError(f"{self.path} contains no report: {CONFIG} is missing") from None
        except (OSError, InfosetError, DamageError) as error:
            raise CheckpointError(f"{file}: {describe_damage(error)}") from None
        return config

    def replace_config(self, config: _StoredConfig) -> None:
        """Replace the configuration by one of more flops."""
        replace_file(self.path / CONFIG, lambda file: file.write(msgspec.json.format(msgspec.json.encode(config))))
        self._lock()

    def figures(self, config: _StoredConfig) -> dict[str, FlopFigures]:
        """Return the figures of all flops of the report that are solved.  Raises ``CheckpointError``."""
        found = {}
        for flop in config.flops:
            file = self._file(flop)
            try:
                figures = decode_json(file.read_bytes(), FlopFigures)
            except FileNotFoundError:
                continue
            except (OSError, DamageError) as error:
                raise CheckpointError(f"{file}: {describe_damage(error)}") from None
            if (figures.flop, figures.options) != (flop, config.options):
                raise CheckpointError(f"{file} is not of the report in {CONFIG}: its flop or options are others")
            found[flop] = figures
        return found

    def add(self, figures: FlopFigures) -> None:
        """Write the figures of one flop, in full or not at all."""
        body = msgspec.json.encode(figures)
        replace_file(self._file(figures.flop), lambda file: file.write(body))

    def _file(self, flop: str) -> Path:
        return self.path / FOLDER / f"{flop}.json"

    def save_tables(self, report: FlopReport) -> None:
        """Write the table as CSV and as a page."""
        page = displays.render("flop_report_page", report)
        for name, text in ((CSV, report.csv()), (PAGE, page)):
            replace_file(self.path / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]

    def report(self, config: _StoredConfig, stopped: str) -> FlopReport:
        """Return the report as far as it has come."""
        weights, done = _weights(config), self.figures(config)
        state = stopped or ("flops" if weights.keys() <= done.keys() else "interrupted")
        pot = float(load(config.game).spot.betting.pot)  # type: ignore[attr-defined]
        return _report(config, pot, weights, done, state, self.path)
