"""Everything wrong with a game in one run, its sizes, and whether it is the same as another: for games from texts.

A description in GDL is checked by its rules (``gdl.checks``) and by random plays, a file of Gambit while it is read, a
game in Python by random plays against the game model (``testing``).  A game without errors is then enumerated, which
shows what random plays missed, and counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from infoset import sizes
from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.catalog import GDL, LIBRARIES, load
from infoset.clock import Clock
from infoset.compiled import AnyGame, Compiled
from infoset.errors import (
    BudgetError,
    FormatError,
    GameRuleError,
    ImperfectRecallError,
    InfosetError,
    ParameterError,
    UnsupportedGameError,
    one_line,
)
from infoset.files import read_text
from infoset.formats.efg import parse_efg
from infoset.formats.nfg import parse_nfg
from infoset.gdl.checks import ERROR, WARNING
from infoset.gdl.checks import check as find_defects
from infoset.gdl.game import GdlGame
from infoset.gdl.library import description
from infoset.gdl.playouts import findings, random_playouts
from infoset.gdl.rules import EvaluatorWarning, GdlWarning
from infoset.gdl.syntax import parse_leniently
from infoset.gdl.tally import Playouts
from infoset.names import MAX_COUNT, check_number, check_range, format_action
from infoset.plugins import is_installed
from infoset.registry import PYTHON
from infoset.testing import find_violations
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL
from infoset.tree.isomorphism import TreeComparison, compare_trees

SECONDS = 60.0  # of random plays, and again for counting
MAX_STEPS = 10_000  # of a random play
MAX_SECONDS = 1e9
DESCRIPTIONS = (".gdl", ".kif")
READERS = {".efg": parse_efg, ".nfg": parse_nfg}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a game: an ``error`` or a ``warning``."""

    severity: str
    message: str
    """What is wrong, and what is allowed."""
    place: str = ""
    """Line and column in the text, or the history."""
    rule: str = ""
    """The rule of a description in GDL."""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place, self.severity, self.message, self.rule)))


@dataclass(frozen=True)
class GameCounts:
    """The sizes of a game; ``None`` for those that need a tree, where none fits."""

    players: tuple[str, ...]
    positions: int
    histories: float
    terminal_histories: float
    information_sets: int | None = None
    sequences: int | None = None
    """Of all players, the empty ones included; also ``None`` where a player has imperfect recall."""

    def __str__(self) -> str:
        more = [
            f", {count:,} {what}"
            for count, what in ((self.information_sets, "information sets"), (self.sequences, "sequences"))
            if count is not None
        ]
        return (
            f"{len(self.players)} players, {self.positions:,} positions, {self.histories:,.0f} histories "
            f"({self.terminal_histories:,.0f} terminal){''.join(more)}"
        )


@dataclass(frozen=True)
class GameReport:
    """Everything that was found out about a game: see ``check``."""

    game: str
    problems: tuple[Problem, ...]
    counts: GameCounts | None = None
    not_counted: str = ""
    """Why counts are missing."""
    played: Playouts | None = None
    """The statistics of random plays of a description in GDL."""
    comparison: TreeComparison | None = None
    same_as: str = ""
    """The name of the game of the comparison."""

    @property
    def valid(self) -> bool:
        """Whether there is no error."""
        return not any(problem.severity == ERROR for problem in self.problems)

    def body(self) -> dict[str, Any]:
        """Return the report as data that fits JSON."""
        found = None if self.comparison is None else {"other": self.same_as, **asdict(self.comparison)}
        errors = sum(problem.severity == ERROR for problem in self.problems)
        return {
            "game": self.game, "valid": self.valid, "errors": errors, "warnings": len(self.problems) - errors,
            "problems": [asdict(problem) for problem in self.problems],
            "counts": None if self.counts is None else asdict(self.counts), "not_counted": self.not_counted,
            "comparison": found, "playouts": None if self.played is None else asdict(self.played),
        }  # fmt: skip

    def __str__(self) -> str:
        errors = sum(problem.severity == ERROR for problem in self.problems)
        lines = [*map(str, self.problems), f"{self.game}: {errors} errors, {len(self.problems) - errors} warnings"]
        if self.counts is not None:
            lines.append(str(self.counts))
        if self.not_counted:
            lines.append(f"not counted: {self.not_counted}")
        if (found := self.comparison) is not None:
            if found.same:
                units = f", with other units of payoffs: {found.payoffs}" if found.payoffs else ""
                lines.append(f"the same as {self.same_as}{units}")
            else:
                where, there = (", ".join(words) or "the start" for words in (found.history, found.other_history))
                lines.append(f"not the same as {self.same_as}: after {where} (there {there}): {found.difference}")
        return "\n".join(lines)


@checks_arguments
def same_game(
    one: AnyGame,
    other: AnyGame,
    max_histories: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> TreeComparison:
    """Compare the trees of two games up to the names of moves and observations and the order of moves.

    The trees are the same where their histories correspond one to one such that the same player moves, with the same
    information sets, probabilities of chance and payoffs (within 1e-9); players correspond in their order.  Moves
    without a choice and successive chance moves count as one.  Payoffs may be in other units, by a positive factor and
    a constant for each player, which are reported.  Otherwise the first history is named that differs.
    Raises ``BudgetError`` for a game whose tree does not fit.

    >>> infoset.same_game("kuhn_poker", "kuhn_poker").same
    True
    >>> print(infoset.same_game("kuhn_poker", "rock_paper_scissors").difference)
    chance moves here, P1 moves there
    """
    trees: list[GameTree] = [Compiled.of(game, max_histories, progress).tree for game in (one, other)]
    return compare_trees(trees[0], trees[1], progress or (lambda count: None))


@checks_arguments
def check(
    game: str | Game,
    *,
    same_as: AnyGame | None = None,
    plays: int = 100,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
    seconds: float = SECONDS,
    max_histories: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> GameReport:
    """Report everything that is wrong with a game at once, with its sizes, and compare it with ``same_as``.

    ``game``: a file (GDL, ``.efg``, ``.nfg``), a name, ``python:FILE.py:Class`` or a game.  What is wrong with it is in
    the report and raises no error; only a name that does not exist does.  A game in Python, or in GDL, is also played
    ``plays`` times at random, of at most ``max_steps``, by ``seed``.  Random plays end after ``seconds``, and so does
    counting.  A tree of more than ``max_histories`` (3,000,000) is not compared.

    >>> report = infoset.check("kuhn_poker", same_as="kuhn_poker")
    >>> report.valid, report.counts.histories, report.comparison.same
    (True, 58.0, True)
    """
    check_range("plays", plays, 0, MAX_COUNT)
    check_range("max_steps", max_steps, 1, MAX_COUNT)
    check_range("seed", seed, 0, 2**63)
    check_number("seconds", seconds, 0.0, MAX_SECONDS)
    if max_histories is not None:
        check_range("max_histories", max_histories, 0, MAX_COUNT)
    max_histories = sizes.TREE_PREFERRED if max_histories is None else max_histories
    other = None if same_as is None else Compiled.of(same_as, max_histories, progress)  # a wrong name is found at once
    name = game if isinstance(game, str) else game.name
    problems: list[Problem] = []
    rules = _loaded(game, problems) if isinstance(game, str) else game
    played = None if rules is None else _play(rules, plays, seed, max_steps, seconds, problems)
    report = GameReport(name, tuple(problems), not_counted="there are errors", played=played)
    if rules is None or not report.valid:
        return report
    clock = Clock(monotonic() + seconds, lambda count: f"more than {count:,} positions after {seconds:g} s")

    def watch(count: int) -> None:
        clock(count)
        if progress is not None:
            progress(count)

    compiled = Compiled(rules, max_histories, watch)
    same = same_as if isinstance(same_as, str) else "" if other is None else other.name
    counts, why, found = None, "", None
    try:
        counts = _count_positions(compiled)
        counts = _count_sets(compiled, counts, problems)
        found = None if other is None else same_game(compiled, other, progress=progress)
    except GameRuleError as error:
        problems.append(Problem(ERROR, str(error)))
        why = report.not_counted
    except (BudgetError, UnsupportedGameError) as error:
        why = str(error)
        found = None if same_as is None else TreeComparison(False, f"not compared: {error}")
    return replace(report, problems=tuple(problems), counts=counts, not_counted=why, comparison=found, same_as=same)


def _loaded(name: str, problems: list[Problem]) -> Game | None:
    """Load a game, and note the problems of its text; ``None`` where there is no game."""
    suffix = Path(name).suffix.lower()
    if suffix in (*READERS, *DESCRIPTIONS) and not Path(name).is_file():
        return load(name)  # which says what is wrong with the name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GdlWarning)  # among the problems, as are the following
        warnings.simplefilter("ignore", EvaluatorWarning)
        try:
            if suffix in READERS:
                errors: list[FormatError] = []
                try:
                    READERS[suffix](read_text(Path(name)), name, errors)
                except FormatError as error:
                    errors.append(error)
                problems += map(_of_text, errors)
                return None if errors else load(name)
            if name.startswith(GDL) or suffix in DESCRIPTIONS or _is_text(name):
                return _described(name, problems)
            return load(name)
        except (FormatError, GameRuleError, UnsupportedGameError, BudgetError, ParameterError) as error:
            if isinstance(error, ParameterError) and not name.startswith(PYTHON):  # a name, not a game, is wrong
                raise
            problems.append(_of_text(error))
            return None


def _is_text(name: str) -> bool:
    """Return whether a name is that of a file that only a description in GDL can be."""
    return Path(name).suffix.lower() in ("", ".txt") and Path(name).is_file()


def _described(name: str, problems: list[Problem]) -> Game | None:
    """Check a description by its rules."""
    errors: list[FormatError] = []
    if name.startswith(GDL):
        rules = description(name.removeprefix(GDL))
    else:
        rules, errors = parse_leniently(read_text(Path(name)), name)
    problems += map(_of_text, errors)
    problems += [
        Problem(
            defect.severity, defect.message, f"{defect.file}:{defect.place.line}:{defect.place.column}", defect.rule
        )
        for defect in find_defects(rules)
        if defect.rule or not errors  # a rule that cannot be read may be one that seems to be missing
    ]
    if any(problem.severity == ERROR for problem in problems):
        return None
    return GdlGame(rules, name)


def _of_text(error: InfosetError) -> Problem:
    if not isinstance(error, FormatError):
        return Problem(ERROR, one_line(str(error), 1_000))
    where = ":".join([error.file or "<text>"] + [str(k) for k in (error.line, error.column) if k])
    return Problem(ERROR, str(error).removeprefix(f"{where}: "), where)


def _play(
    game: Game, plays: int, seed: int, max_steps: int, seconds: float, problems: list[Problem]
) -> Playouts | None:
    """Note what random plays show: of descriptions, and of games that are not ours against the game model."""
    if isinstance(game, GdlGame) and plays:
        if game.not_ground:
            problems.append(Problem(WARNING, f"{game.not_ground}; evaluated state by state, which is slower"))
        until = monotonic() + seconds
        played = random_playouts(game, plays, seed, max_steps, Clock(until))
        late = monotonic() >= until
        problems += [_found(finding, played, plays, seconds, late) for finding in findings(game, played)]
        return played
    if game.name.startswith(tuple(LIBRARIES)) or not is_installed(type(game).__module__):
        for violation in find_violations(game, plays, seed, max_steps, seconds):
            where = f"after [{', '.join(map(_words, violation.history))}]" if violation.history else "at the start"
            problems.append(Problem(ERROR, one_line(violation.message, 1_000), where))
    return None


def _found(finding: str, played: Playouts, plays: int, seconds: float, late: bool) -> Problem:
    if finding.startswith("random play ended") and late:
        finding = f"{played.plays:,} of {plays:,} random plays in {seconds:g} s: {played.stopped}"
    return Problem(ERROR if "has no legal move" in finding else WARNING, finding, "random plays")


def _words(step: object) -> str:
    actions = step if isinstance(step, tuple) else (step,)
    return " ".join(format_action(action) for action in actions if action is not None)


def _count_positions(compiled: Compiled) -> GameCounts:
    """Return the sizes that need no tree."""
    if compiled.has_vector_form:
        raise UnsupportedGameError(f"{compiled.name} is known by its cards and betting, without a list of positions")
    graph = compiled.graph
    histories = graph.count_histories()  # raises where a state can recur
    ends = float(graph.times[graph.player == TERMINAL].sum())
    return GameCounts(compiled.players, len(graph.player), histories, ends)


def _count_sets(compiled: Compiled, counts: GameCounts, problems: list[Problem]) -> GameCounts:
    """Return the sizes with those that need a tree."""
    counts = replace(counts, information_sets=len(compiled.tree.infoset_player))
    try:
        return replace(counts, sequences=compiled.form.num_sequences)
    except ImperfectRecallError as error:
        problems.append(Problem(WARNING, str(error)))
        return counts
