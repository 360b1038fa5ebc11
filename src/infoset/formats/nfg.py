"""Gambit's normal-form files (``.nfg``), both kinds, read and written.

The format: a header, the players, and their strategies by name or by number; then payoffs, with the first player's
strategy varying fastest, or outcomes with payoffs and a number for each cell, 0 for none::

    NFG 1 R "title" { "Row" "Column" } { 2 2 }   3 3  5 0  0 5  1 1
    NFG 1 R "title" { "Row" "Column" } { { "C" "D" } { "C" "D" } } "comment"
    { { "" 3, 3 } { "" 5, 0 } { "" 0, 5 } { "" 1, 1 } }   1 2 3 4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.arguments import checks_arguments
from infoset.base import Action, Game, JointAction, Observed
from infoset.errors import FormatError, ParameterError
from infoset.files import read_text
from infoset.formats.gambit_text import Labels, Reader, distinct, plain, quote
from infoset.games.rules import Ended, NativeState, NotebookGame, seats
from infoset.tree.exact_numbers import simplest
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import LARGEST_PAYOFF
from infoset.tree.normal_form import MOST_CELLS, normal_form
from infoset.tree.sequence_form import SequenceForm

MAX_STRATEGIES = 100_000


@dataclass(frozen=True)
class Nfg:
    """The content of an ``.nfg`` file."""

    title: str
    players: tuple[str, ...]
    strategies: tuple[tuple[str, ...], ...]
    payoffs: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    """The payoffs of each cell, with the first player's strategy varying fastest."""
    comment: str = ""


class _Reader(Reader):
    def game(self) -> Nfg:
        title, players = self.title("NFG", "1"), self.names()
        strategies = self.strategies(len(players))
        comment = self.take().value if self.token.kind == "text" else ""
        cells = prod(map(len, strategies))
        if cells > MOST_CELLS:
            raise self.fail(f"a table of at most {MOST_CELLS:,} cells", f"one of {cells:,}")
        payoffs = self.outcomes(cells, len(players)) if self.accept("{") else self.payoffs(cells, len(players))
        if self.token.kind != "end":
            raise self.fail(f"nothing after the {cells} cells")
        return Nfg(title, players, strategies, tuple(payoffs), comment)

    def strategies(self, players: int) -> tuple[tuple[str, ...], ...]:
        """Read the strategies, given by name or by number."""
        found: list[tuple[str, ...]] = []
        self.expect("{")
        while not self.accept("}"):
            if self.accept("{"):
                names: list[str] = []
                while not self.accept("}"):
                    names.append(self.string("a strategy's name"))
                if not names:
                    self.complain("at least one strategy")
                found.append(distinct(tuple(names)))
            else:
                found.append(distinct(("",) * self.integer("how many strategies", 1, MAX_STRATEGIES)))
            if len(found) > players:
                raise self.fail(f"strategies of {players} players, not of more")
        if len(found) < players:
            raise self.fail(f"strategies of {players} players, not of {len(found)}")
        return tuple(found)

    def payoffs(self, cells: int, players: int) -> list[tuple[Fraction, ...]]:
        return [tuple([self.payoff() for _ in range(players)]) for _ in range(cells)]

    def payoff(self) -> Fraction:
        value = self.number("a payoff")
        self.accept(",")
        return value

    def outcomes(self, cells: int, players: int) -> list[tuple[Fraction, ...]]:
        """Read each cell's payoffs, given by the number of its outcome."""
        listed = [(Fraction(0),) * players]
        while not self.accept("}"):
            self.expect("{")
            self.string("an outcome's name")
            at = self.token.offset
            paid: list[Fraction] = []
            while not self.accept("}"):
                paid.append(self.payoff())
            if len(paid) != players:
                self.complain(f"{players}, one a player", f"{len(paid)} payoffs", at)
            listed.append(tuple(paid))
        return [listed[self.integer("an outcome's number", 0, len(listed) - 1)] for _ in range(cells)]


def parse_nfg(text: str, file: str = "", problems: list[FormatError] | None = None) -> Nfg:
    """Parse the text of an ``.nfg`` file.  Raises ``FormatError`` with line and column.

    With a list ``problems``, errors that leave the structure intact are added to it instead.
    """
    return _Reader(text, file, problems).game()


def read_nfg(path: str | Path) -> NfgGame:
    """Read an ``.nfg`` file of at most ``files.MAX_TEXT_BYTES`` bytes as a game.  Raises ``FormatError``."""
    return NfgGame(parse_nfg(read_text(Path(path)), str(path)), Path(path).stem, str(Path(path).resolve()))


def write_nfg(nfg: Nfg) -> str:
    """Return the text of an ``.nfg`` file; reading it gives the same ``Nfg`` again."""
    players = " ".join(map(quote, nfg.players))
    strategies = " ".join("{ " + " ".join(map(quote, own)) + " }" for own in nfg.strategies)
    lines = [f"NFG 1 R {quote(nfg.title)} {{ {players} }}", f"{{ {strategies} }}", quote(nfg.comment), ""]
    return "\n".join([*lines, *(" ".join(map(str, cell)) for cell in nfg.payoffs)]) + "\n"


class _Fields(NamedTuple):
    game: NfgGame


class NfgState(NativeState, _Fields):
    """The only state with legal actions: all players move at once."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"NfgState({self.game.name!r})"

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return self.game.strategies[player]

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        game = self.game
        cell = sum(place[action] * step for place, action, step in zip(game.places, actions, game.steps, strict=True))
        return Observed(Ended(tuple(map(float, game.nfg.payoffs[cell]))), (tuple(actions),) * len(actions))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.game.players)


class NfgGame(NotebookGame):
    """An ``.nfg`` file as a game: all players choose a strategy at once."""

    def __init__(self, nfg: Nfg, name: str, file: str = "") -> None:
        """Take a file's content; ``file`` is the path by which another process finds it."""
        self.nfg, self.name, self.players, self.file = nfg, name, nfg.players, file
        self.strategies: tuple[tuple[Action, ...], ...] = nfg.strategies
        self.places: list[dict[Action | None, int]] = [{s: k for k, s in enumerate(own)} for own in nfg.strategies]
        self.steps = [prod(map(len, nfg.strategies[:p])) for p in range(len(nfg.players))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NfgGame) and (self.name, self.nfg) == (other.name, other.nfg)

    def __hash__(self) -> int:
        return hash(self.name)

    def sizes(self) -> dict[str, str]:
        """Return the numbers of strategies, as shown in notebooks."""
        return {"strategies": " x ".join(str(len(own)) for own in self.strategies)}

    def start(self) -> Observed:
        return Observed(NfgState(self), (None,) * len(self.players))


@checks_arguments
def table_game(
    *payoffs: npt.ArrayLike,
    name: str = "table",
    players: Sequence[str] = (),
    strategies: Sequence[Sequence[str]] = (),
) -> NfgGame:
    """Create a simultaneous game from one payoff table per player: (K1, K2) of two, (K1, K2, K3) of three.

    A single table of two dimensions is a zero-sum game.  Players are ``P1`` … and strategies numbers where no names are
    given.  Raises ``ParameterError`` for tables that do not fit each other or hold no finite numbers.

    >>> game = infoset.table_game([[3, 0], [5, 1]], [[3, 5], [0, 1]], strategies=[("C", "D"), ("C", "D")])
    >>> infoset.solve(game, "lcp").policy.probabilities(0, "start")
    {'C': 0.0, 'D': 1.0}
    >>> round(infoset.solve(infoset.table_game([[2, -1], [-1, 1]])).values[0], 9)
    0.2
    """
    try:
        tables = [np.asarray(one, dtype=np.float64) for one in payoffs]
    except (TypeError, ValueError):
        raise ParameterError("table_game: the payoffs are no tables of numbers with rows of the same length") from None
    if len(tables) == 1 and tables[0].ndim == 2:
        tables.append(0.0 - tables[0])
    shape = tables[0].shape if tables else ()
    if len(shape) != len(tables) or any(one.shape != shape for one in tables) or 0 in shape or not shape:
        shapes = ", ".join(str(one.shape) for one in tables)
        raise ParameterError(
            f"table_game: {len(tables)} tables of shapes {shapes}; needed: one of n dimensions a player"
        )
    if not all((np.abs(one) <= LARGEST_PAYOFF).all() for one in tables):
        raise ParameterError(f"table_game: payoffs must be numbers of at most {LARGEST_PAYOFF:g} in size")
    names = tuple(tuple(own) for own in strategies) or tuple(tuple(map(str, range(1, size + 1))) for size in shape)
    seats_ = tuple(players) or seats(len(shape))
    if tuple(map(len, names)) != shape or len(seats_) != len(shape) or any(len(set(own)) < len(own) for own in names):
        raise ParameterError(
            f"table_game: names of {len(seats_)} players and {[*map(len, names)]} strategies for {shape}"
        )
    cells = product(*map(range, shape[::-1]))
    paid = tuple(tuple([simplest(float(one[cell[::-1]])) for one in tables]) for cell in cells)
    return NfgGame(Nfg(name, seats_, names, paid), name)


def game_to_nfg(game: Game, max_histories: int | None = None) -> Nfg:
    """Convert any small game to ``.nfg``: its reduced normal form; an ``.nfg`` game as it was read.

    Raises ``BudgetError`` where the table is too large, and what the sequence form raises.
    """
    if isinstance(game, NfgGame):
        return game.nfg
    tree = GameTree.of(game, max_histories)
    form = SequenceForm.of(tree)
    table = normal_form(form, tree)
    cells = product(*[range(len(own)) for own in reversed(table.strategies)])
    payoffs = [tuple(table.payoffs[cell[::-1]].tolist()) for cell in cells]
    return Nfg(game.name, form.players, tuple(distinct(own) for own in table.strategies), tuple(payoffs))


def nfg_for_gambit(nfg: Nfg, name: str, stacklevel: int = 1) -> Nfg:
    """Return ``nfg`` so that Gambit 16.7 and 17 read it, with a ``GambitWarning`` where labels had to be changed."""
    labels = Labels()
    players, strategies = labels.group(nfg.players), tuple(map(labels.group, nfg.strategies))
    title, comment = (labels.one(text, plain(text)) for text in (nfg.title, nfg.comment))
    labels.warn(name, stacklevel + 1)
    return Nfg(title, players, strategies, nfg.payoffs, comment)
