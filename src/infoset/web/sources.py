"""A strategy that is looked at, with its game: from a file, or solved here.

What it says is told at once; its public positions follow from the rules (``search.public_walk``); values and regrets
wait for the tree, which is compiled in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from itertools import product
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from infoset.base import Action, Game, InformationState
from infoset.errors import BudgetError, InfosetError, PolicyError, UnsupportedGameError, one_line, shorten
from infoset.files import BROKEN_ARCHIVE, archive_names
from infoset.names import move_words, parse_name
from infoset.policies.table_file import TableFile
from infoset.remote.serving import Refusal
from infoset.search.public_walk import PublicWalk

if TYPE_CHECKING:
    from infoset.compiled import Compiled
    from infoset.policies.saved import SavedPolicy
    from infoset.policies.tabular import TabularPolicy
    from infoset.solvers.method import Lock
    from infoset.solvers.metrics import Evaluation
    from infoset.solvers.study import Study
    from infoset.solving import Solution

MAX_HISTORIES = 3_000_000  # of a tree that values are worked out on
PATIENCE = 0.5  # seconds that a question waits
GAME_FILES = (".efg", ".nfg", ".gbt", ".csv", ".gdl", ".kif")

Chances: TypeAlias = "Sequence[float] | None"


class Source:
    """A strategy and its game; everything beyond the strategy is worked out when it is first asked for."""

    def __init__(self, name: str, folders: tuple[Path, ...]) -> None:
        self.name, self.folders = name, folders
        self.place: Path | None = None
        self.stamp: tuple[int, int] | None = None
        self.asked = monotonic()
        self.table: TableFile | None = None
        self.saved: Any = None
        self.solution: Solution | None = None
        self.lock: Lock = {}
        self.hues: dict[str, int] = {}
        self.working = threading.RLock()
        self._values: Values | None = None
        self._preparing: Background | None = None
        self._warmed = False

    @classmethod
    def of_file(cls, name: str, folders: tuple[Path, ...], place: Path) -> Source:
        """Read a file.  Raises ``PolicyError``, and ``Refusal`` where it is gone."""
        source = cls(name, folders)
        source.place, source.stamp = place, stamp(place)
        if place.suffix != ".json" and _is_table(place):
            source._take(TableFile.read(place))
        else:
            from infoset.policies.saved import load_policy

            source._take(load_policy(place))
        return source

    @classmethod
    def of_policy(cls, name: str, policy: SavedPolicy, game: Game) -> Source:
        """What is at hand."""
        source = cls(name, ())
        source.__dict__["game"] = game
        source._take(policy)
        return source

    @classmethod
    def of_solution(cls, name: str, folders: tuple[Path, ...], solution: Solution, compiled: Compiled) -> Source:
        """What was solved here."""
        source = cls(name, folders)
        source.__dict__["compiled"], source.__dict__["game"] = compiled, compiled.game
        source.solution, source.lock = solution, solution.lock or {}
        source._take(solution.policy)
        return source

    def _take(self, policy: Any) -> None:
        from_file = isinstance(policy, TableFile)
        if not from_file:
            from infoset.policies.tabular import TabularPolicy

            self.saved = policy
            if isinstance(policy, TabularPolicy):
                policy = TableFile.of(policy)
        if isinstance(policy, TableFile):
            self.table = policy
            for menu in policy.menus:
                self._learn(menu)
        self.game_name: str = policy.game
        self.made_by: dict[str, Any] = dict(policy.made_by)

    def _learn(self, menu: Sequence[str]) -> None:
        for move in menu:
            self.hues.setdefault(move, len(self.hues))

    @property
    def temporary(self) -> bool:
        """Whether it is lost with this process."""
        return self.place is None

    @property
    def players(self) -> tuple[str, ...]:
        """Their names."""
        return self.table.players if self.table is not None else self.game.players

    @cached_property
    def game(self) -> Game:
        """Raises an error of ``infoset.errors`` where it cannot be had."""
        beside = () if self.place is None else (self.place.parent,)
        return find_game(self.game_name, (*self.folders, *beside))

    @cached_property
    def compiled(self) -> Compiled:
        """The game and its forms."""
        from infoset.compiled import Compiled

        return Compiled(self.game, MAX_HISTORIES)

    @cached_property
    def _plays(self) -> Any:
        return self.saved.on(self.compiled)

    def waits(self) -> str:
        """What it waits for before anything can be told; "" once it is ready.  Raises what getting ready raised.

        A table is ready as it is; what was sampled is numbered as the game's positions are, which must be found first.
        """
        if self.table is not None:
            return ""
        with self.working:
            if self._preparing is None:
                self._preparing = Background(lambda: self._plays, self.compiled)
        return self._preparing.waits(PATIENCE)

    def row(self, player: int, known: InformationState, key: str, menu: tuple[Action, ...]) -> Chances:
        """What it plays; ``None`` where it says nothing."""
        words = move_words(menu)
        self._learn(words)
        if self.table is not None:
            return self.table.chances_of(player, key, words)
        found: Chances = self._plays.row(player, known, menu)
        return found

    @cached_property
    def walk(self) -> PublicWalk:
        """Its public positions.  Raises ``BudgetError`` where too much is hidden, ``PolicyError`` for another game."""
        if self.table is not None and len(self.table.players) != len(self.game.players):
            raise PolicyError(
                f"the policy is for {len(self.table.players)} players, {shorten(self.game_name)} has "
                f"{len(self.game.players)}"
            )
        return PublicWalk(self.game, self.row)

    @cached_property
    def policy(self) -> TabularPolicy:
        """All of it as a table.  Raises ``BudgetError`` where the tree does not fit, ``PolicyError``."""
        if self.table is not None:
            return self.table.policy()
        from infoset.evaluation import tabulated

        return tabulated(self.compiled, self.saved)

    def warm(self) -> None:
        """Make in a thread what following keys needs, once something is seen."""
        if self.table is not None and not self._warmed:
            self._warmed = True
            threading.Thread(target=_warm, args=(self.table,), daemon=True).start()

    def values(self) -> Values:
        """Exact figures, worked out from the first time on that somebody asks."""
        with self.working:
            if self._values is None:
                self._values = Values(self)
            return self._values

    @property
    def study(self) -> Study | None:
        """Exact figures, where they are at hand."""
        return None if self._values is None else self._values.study


def _warm(table: TableFile) -> None:
    for player in range(len(table.players)):
        table.index(player)
    assert table.sorted_rows


class Background:
    """Something that lasts, in a thread; ``line`` says how far it is."""

    def __init__(self, call: Callable[[], object], compiled: Compiled) -> None:
        self.line = "enumerating the game"
        self.error: InfosetError | None = None
        self._over = threading.Event()

        def told(number: int) -> None:
            self.line = f"enumerating the game: {number:,}"

        def run() -> None:
            try:
                compiled.progress = told
                call()
            except InfosetError as error:
                self.error = error
            finally:
                compiled.progress = None
                self._over.set()

        threading.Thread(target=run, daemon=True).start()

    def waits(self, seconds: float) -> str:
        """What is still to be done after so many seconds at most.  Raises what went wrong."""
        if not self._over.wait(seconds):
            return self.line
        if self.error is not None:
            raise self.error
        return ""


class Values:
    """Exact figures of a strategy, worked out in a thread; ``line`` says how far that is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line, self.failed = "waiting", ""
        self.study: Study | None = None
        self.free: Evaluation | None = None  # with everybody free to deviate, also who keeps to something
        self.number: dict[tuple[int, str], int] = {}
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            while waits := self.source.waits():
                self.line = waits
            self._work()
        except InfosetError as error:
            self.failed = one_line(str(error), 300)
        except Exception as error:  # a fault of ours: told, and the page goes on
            self.failed = f"internal error ({type(error).__name__})"
            raise

    def _work(self) -> None:
        self.line = "enumerating the game"
        from infoset.solvers.metrics import evaluate_plan
        from infoset.solvers.study import Study
        from infoset.tree.plans import realisation

        compiled = self.source.compiled
        compiled.progress = self._told
        if not compiled.made_whole and compiled.histories > MAX_HISTORIES:
            raise BudgetError(f"{compiled.histories:,.0f} histories; values are shown of at most {MAX_HISTORIES:,}")
        form = compiled.form
        self.line = "working out values"
        study = Study.of(compiled, self.source.policy, self.source.lock or None)
        owners = form.infoset_player.tolist()
        self.number = {place: k for k, place in enumerate(zip(owners, form.keys, strict=True))}
        self.free = evaluate_plan(form, realisation(form, study.behaviour))
        self.study = study

    def _told(self, count: int) -> None:
        self.line = f"building the tree: {count:,}"


def stamp(place: Path) -> tuple[int, int]:
    """By which a change of a file is noticed.  Raises ``Refusal`` where it is gone."""
    try:
        about = place.stat()
    except OSError:
        raise Refusal(HTTPStatus.GONE, f"{place.name} was deleted; what is shown is what was read last") from None
    return about.st_mtime_ns, about.st_size


def _is_table(place: Path) -> bool:
    try:
        return archive_names(place) == {"header", "probabilities"}
    except BROKEN_ARCHIVE as error:
        raise PolicyError(f"{place.name}: not a policy file: {one_line(str(error), 200)}") from None


def find_game(name: str, folders: tuple[Path, ...]) -> Game:
    """A shipped game, or a file of rules that lies in the folders; nothing else is loaded for the page.

    Raises what ``load`` raises, and ``UnsupportedGameError`` for what it may not load.
    """
    from infoset.catalog import GAMES, known_games, load
    from infoset.errors import UnknownNameError

    if not name:
        raise UnsupportedGameError("the policy does not say which game it is for; its rows can be read, no more")
    if Path(name).suffix.lower() in GAME_FILES:
        file = _inside((name,), folders)
        if file is None:
            raise UnsupportedGameError(
                f"the game is the file {shorten(name)}, which does not lie in the served folders"
            )
        return load(str(file))
    word = parse_name(name).word
    if word in GAMES or (word.startswith("gdl:") and word in known_games()):
        return load(name)
    file = _inside(tuple(f"{name}{suffix}" for suffix in GAME_FILES), folders)  # a file's game goes by its title
    if file is None:
        raise UnknownNameError(
            "game for the page:", word, [name for name in known_games() if not name.startswith("pommerman:")]
        )
    return load(str(file))


def _inside(names: tuple[str, ...], folders: tuple[Path, ...]) -> Path | None:
    """A file by its path, or by its name in one of the folders; nothing that lies elsewhere."""
    for name, folder in product(names, folders):
        for path in (Path(name), folder / name, folder / Path(name).name):
            try:
                place = path.resolve()
                if any(place.is_relative_to(other) for other in folders) and place.is_file():
                    return place
            except (OSError, RuntimeError, ValueError):
                continue
    return None
