"""A strategy that is explored, with its game: from a file, or solved here.

The strategy itself can be shown at once; its public positions follow from the rules (``search.public_walk``); values
and regrets wait for the tree, which is compiled in a thread.
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

from infoset import sizes
from infoset.base import Action, CardGame, Game, InformationState
from infoset.catalog import GAMES, READERS, known_games, load
from infoset.errors import (
    BudgetError,
    InfosetError,
    PolicyError,
    UnknownNameError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.evaluation import evaluate, tabulated
from infoset.files import BROKEN_ARCHIVE, archive_names, describe_damage
from infoset.names import action_names, parse_name
from infoset.policies.loading import SavedPolicy, load_policy
from infoset.policies.table_file import TableFile
from infoset.policies.tabular import TabularPolicy
from infoset.policies.vector_policy import VectorPolicy
from infoset.remote.serving import Refusal
from infoset.solvers.job import Background
from infoset.solvers.metrics import Evaluation, evaluate_plan
from infoset.solvers.study import Study
from infoset.spots import SpotNode, SpotTree
from infoset.tree.plans import realisation
from infoset.tree.public_walk import PublicWalk
from infoset.tree.vector_walk import END_NODE
from infoset.web.artifacts import named
from infoset.web.shared_game import SharedGame

if TYPE_CHECKING:
    from infoset.solvers.config import Lock
    from infoset.solving import Solution

PATIENCE = 0.5  # seconds that a question waits
BYTES_A_ROW, BYTES_A_STUDIED_ROW = 400, 1200  # of memory, as measured on Leduc poker
MAX_NODES = 200  # of a hold'em solution that are held in memory
GAME_FILES = tuple(READERS)

Probabilities: TypeAlias = "Sequence[float] | None"

_WORKING_OUT = threading.BoundedSemaphore(2)  # sources at once, since threads share the processor


class Source:
    """A strategy and its game; everything beyond the strategy is computed when it is first asked for."""

    def __init__(self, name: str, folders: tuple[Path, ...]) -> None:
        self.name, self.folders = name, folders
        self.place: Path | None = None
        self.stamp: tuple[int, int] | None = None
        self.asked = monotonic()
        self.table: TableFile | None = None
        self.saved: Any = None
        self.solution: Solution | None = None
        self.lock: Lock = {}
        self.wish: Any = None
        """The request, where the strategy was solved here."""
        self.rules: tuple[int, int] | None = None
        """The stamp of the file of the game that was solved here, by which a change is noticed."""
        self.order: dict[str, int] = {}  # all moves, in order of first appearance
        self.working = threading.RLock()
        self._values: Values | None = None
        self._preparing: Enumeration | None = None
        self._warmed = False
        self._nodes: dict[tuple[tuple[str, ...], bool], SpotNode] = {}

    @classmethod
    def of_file(cls, name: str, folders: tuple[Path, ...], place: Path) -> Source:
        """Read a source from a file.  Raises ``PolicyError``, and ``Refusal`` where the file is gone."""
        source = cls(name, folders)
        source.place, source.stamp = place, stamp(place)
        if place.suffix != ".json" and _is_table(place):
            source._take(TableFile.read(place))
        else:
            source._take(load_policy(place))
        return source

    @classmethod
    def of_policy(cls, name: str, policy: SavedPolicy, game: Game) -> Source:
        """Return a source for a policy and a game in memory."""
        source = cls(name, ())
        source.__dict__["game"] = game
        source._take(policy)
        return source

    @classmethod
    def of_solution(cls, name: str, folders: tuple[Path, ...], solution: Solution, compiled: SharedGame) -> Source:
        """Return a source for a strategy that was solved here."""
        source = cls(name, folders)
        source.__dict__["compiled"], source.__dict__["game"] = compiled, compiled.game
        source.solution, source.lock = solution, solution.lock or {}
        source._take(solution.policy)
        return source

    def _take(self, policy: Any) -> None:
        from_file = isinstance(policy, TableFile)
        if not from_file:
            self.saved = policy
            if isinstance(policy, TabularPolicy):
                policy = TableFile.of(policy)
        if isinstance(policy, TableFile):
            self.table = policy
            for action_set in policy.action_sets:
                self.learn(action_set)
        self.game_name: str = policy.game
        self.made_by: dict[str, Any] = dict(policy.made_by)

    def learn(self, action_set: Sequence[str]) -> None:
        """Note the actions, whose order decides on their colours."""
        for action in action_set:
            self.order.setdefault(action, len(self.order))

    @property
    def temporary(self) -> bool:
        """Whether the strategy is lost with this process."""
        return self.place is None

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players."""
        return self.table.players if self.table is not None else self.game.players

    @cached_property
    def game(self) -> Game:
        """The game; raises an error of ``infoset.errors`` where it cannot be loaded."""
        beside = () if self.place is None else (self.place.parent,)
        return find_game(self.game_name, (*self.folders, *beside))

    @cached_property
    def compiled(self) -> SharedGame:
        """The compiled game and its forms."""
        return SharedGame(self.game, sizes.VALUES_SHOWN)

    @property
    def bytes(self) -> int:
        """The approximate memory use in bytes of the strategy with its values, without its game."""
        if self.is_vector:
            return int(2 * self.saved.rows.nbytes)
        rows = 0 if self.table is None else sum(len(keys) for keys in self.table.keys)
        return rows * (BYTES_A_ROW if self.study is None else BYTES_A_STUDIED_ROW)

    @cached_property
    def _plays(self) -> Any:
        return self.saved.on(self.compiled)

    def waits(self) -> str:
        """Return a line about the preparation that must come first; "" once the strategy is ready.

        A table is ready immediately, unless it is of hold'em; a sampled policy is indexed by the game's positions,
        which must be enumerated first.  Raises what the preparation raised.
        """
        if self.table is not None and not self._is_hold_em:
            return ""
        with self.working:
            if self._preparing is None:
                self._preparing = Enumeration(lambda: self.spot or self.table or self._plays, self.compiled)
        return self._preparing.waits(PATIENCE)

    @property
    def is_vector(self) -> bool:
        """Whether the strategy is one in vector form, which has no table of keys."""
        return isinstance(self.saved, VectorPolicy)

    @cached_property
    def spot(self) -> SpotTree | None:
        """The nodes of a hold'em strategy; ``None`` for other games, and where the strategy does not fit the game."""
        if not self._is_hold_em:
            return None
        if self.is_vector:
            return SpotTree.of(self.compiled, self.saved)
        try:
            return SpotTree.of(self.compiled, self.saved if self.table is None else self.table.policy())
        except InfosetError:
            return None

    @cached_property
    def _is_hold_em(self) -> bool:
        try:
            return isinstance(self.game, CardGame)
        except InfosetError:
            return False

    def spot_node(self, path: tuple[str, ...], equity: bool = False) -> SpotNode:
        """Return a node of ``spot``, of which the last ones are kept.  Raises ``UnknownNameError``."""
        assert self.spot is not None
        with self.working:
            if (path, equity) not in self._nodes:
                if len(self._nodes) >= MAX_NODES:
                    self._nodes.clear()
                self._nodes[path, equity] = self.spot.node(path, equity)
            return self._nodes[path, equity]

    def spot_ends(self, path: tuple[str, ...]) -> bool:
        """Return whether nobody acts and no card is dealt any more after a path in ``spot``."""
        assert self.spot is not None
        return self.spot.mover(path) == END_NODE

    def action_probabilities(
        self, player: int, known: InformationState, key: str, action_set: tuple[Action, ...]
    ) -> Probabilities:
        """Return the probabilities of the moves at an information set; ``None`` where the strategy has none."""
        words = action_names(action_set)
        self.learn(words)
        if self.table is not None:
            return self.table.probabilities_of(player, key, words)
        found: Probabilities = self._plays.action_probabilities(player, known, action_set)
        return found

    @cached_property
    def walk(self) -> PublicWalk:
        """The public positions; raises ``BudgetError`` where too much is hidden, ``PolicyError`` for another game."""
        if self.table is not None and len(self.table.players) != len(self.game.players):
            raise PolicyError(
                f"the policy is for {len(self.table.players)} players, {shorten(self.game_name)} has "
                f"{len(self.game.players)}"
            )
        return PublicWalk(self.game, self.action_probabilities)

    @cached_property
    def policy(self) -> TabularPolicy:
        """The whole strategy as a table; raises ``BudgetError`` where the tree does not fit, and ``PolicyError``."""
        if self.table is not None:
            return self.table.policy()
        return tabulated(self.compiled, self.saved)

    def warm(self) -> None:
        """Build in a thread the indexes that following keys needs, once something has been shown."""
        if self.table is not None and not self._warmed:
            self._warmed = True
            threading.Thread(target=_warm, args=(self.table,), daemon=True).start()

    def values(self) -> Values:
        """Return the exact values, whose computation begins with the first call."""
        with self.working:
            if self._values is None:
                self._values = Values(self)
            return self._values

    @property
    def study(self) -> Study | None:
        """The exact values, or ``None`` while they are not computed."""
        return None if self._values is None else self._values.study


def _warm(table: TableFile) -> None:
    for player in range(len(table.players)):
        table.index(player)
    assert table.sorted_rows


class Enumeration(Background[object]):
    """The enumeration of a game in a thread; ``line`` reports its progress."""

    def __init__(self, call: Callable[[], object], compiled: SharedGame) -> None:
        self.line = "building the public tree" if compiled.has_vector_form else "enumerating the game"

        def report(number: int) -> None:
            self.line = f"enumerating the game: {number:,}"

        def run() -> None:
            with compiled.making:
                compiled.progress = report
                try:
                    call()
                finally:
                    compiled.progress = None

        super().__init__(run)

    def waits(self, seconds: float) -> str:
        """Wait for at most ``seconds``; return the progress, or "" once the call is over.  Raises what it raised."""
        return "" if self.wait(monotonic() + seconds) else self.line


class Values:
    """The exact values of a strategy, computed in a thread; ``line`` reports the progress."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line, self.failed = "waiting", ""
        self.study: Study | None = None
        """The values of all actions; ``None`` for a hold'em solution, of which nodes are looked at one by one."""
        self.evaluation: Evaluation | None = None
        self.free: Evaluation | None = None  # with all players free to deviate, including locked ones
        self.infosets, self.histories = 0, 0.0
        self.number: dict[tuple[int, str], int] = {}
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            while waits := self.source.waits():
                self.line = waits
            with _WORKING_OUT:
                self._work()
        except InfosetError as error:
            self.failed = one_line(str(error), 300)
        except Exception as error:  # a bug of the server: reported, and the page goes on
            self.failed = f"internal error ({type(error).__name__})"
            raise

    def _work(self) -> None:
        self.line = "enumerating the game"
        compiled = self.source.compiled
        if self.source.is_vector:
            self.line = "working out values"
            with compiled.making:
                found = evaluate(compiled, self.source.saved)
            self.infosets, self.histories = compiled.vector.num_infosets, float(compiled.vector.num_histories)
            self.evaluation, self.free = found, found
            return
        with compiled.making:
            compiled.progress = self._report
            try:
                if not compiled.made_whole and compiled.histories > sizes.VALUES_SHOWN:
                    count = f"{compiled.histories:,.0f} histories"
                    raise BudgetError(f"{count}; values are shown of at most {sizes.VALUES_SHOWN:,}")
                form = compiled.form
            finally:
                compiled.progress = None
        self.line = "working out values"
        study = Study.of(compiled, self.source.policy, self.source.lock or None)
        owners = form.infoset_player.tolist()
        self.number = {place: k for k, place in enumerate(zip(owners, form.keys, strict=True))}
        self.infosets, self.histories = form.num_infosets, form.num_histories
        self.evaluation, self.study = study.evaluation, study
        self.free = evaluate_plan(form, realisation(form, study.behaviour))

    def _report(self, count: int) -> None:
        self.line = f"building the tree: {count:,}"


def stamp(place: Path) -> tuple[int, int]:
    """Return the stamp of a file, by which a change is noticed.  Raises ``Refusal`` where the file is gone."""
    try:
        about = place.stat()
    except OSError:
        raise Refusal(HTTPStatus.GONE, f"{place.name} was deleted; this is its last content") from None
    return about.st_mtime_ns, about.st_size


def _is_table(place: Path) -> bool:
    try:
        return archive_names(place) == {"header", "probabilities"}
    except BROKEN_ARCHIVE as error:
        raise PolicyError(f"{place.name}: not a policy file: {describe_damage(error)}") from None


def find_game(name: str, folders: tuple[Path, ...]) -> Game:
    """Return a shipped game, or one from a file in the folders, by its name in the served folders or in a policy.

    Nothing else is loaded for the page.

    Raises what ``load`` raises, and ``UnsupportedGameError`` for a game that may not be loaded.
    """
    if not name:
        raise UnsupportedGameError("the policy does not say which game it is for; its rows can be read, no more")
    if Path(name).suffix.lower() in GAME_FILES:
        item = named(folders, name)
        file = _inside((name,), folders) if item is None else item.path
        if file is None:
            raise UnsupportedGameError(
                f"the game is the file {shorten(name)}, which does not lie in the served folders"
            )
        return load(str(file))
    word = parse_name(name).word
    if word in GAMES or (word.startswith("gdl:") and word in known_games()):
        return load(name)
    file = _inside(tuple(f"{name}{suffix}" for suffix in GAME_FILES), folders)  # games from files go by their titles
    if file is None:
        raise UnknownNameError(
            "game for the page:", word, [name for name in known_games() if name in GAMES or name.startswith("gdl:")]
        )
    return load(str(file))


def rules_stamp(name: str, folders: tuple[Path, ...]) -> tuple[int, int] | None:
    """Return the stamp of a game's file; ``None`` for a shipped game, and where there is no such file."""
    if Path(name).suffix.lower() not in GAME_FILES:
        return None
    file = _inside((name,), folders)
    return None if file is None else stamp(file)


def _inside(names: tuple[str, ...], folders: tuple[Path, ...]) -> Path | None:
    """Return a file by its path, or by its name in one of the folders; ``None`` for any file outside of them."""
    for name, folder in product(names, folders):
        for path in (Path(name), folder / name, folder / Path(name).name):
            try:
                place = path.resolve()
                if any(place.is_relative_to(other) for other in folders) and place.is_file():
                    return place
            except (OSError, RuntimeError, ValueError):
                continue
    return None
