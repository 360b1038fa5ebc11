"""Handcrafted agents for two games of the GDL-II literature: Meier and Blind Tic-Tac-Toe.

They are yardsticks for other agents, made as the literature describes them, and not equilibria.  The words of a game's
vocabulary that they know are listed at the top of each part; any game that uses these words will do.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.errors import UnsupportedGameError, shorten
from infoset.statistics import draw

# Meier.  A value of two dice is written as one number, 61, or as two arguments, 6 1, in either order.
NOOP = "noop"
CLAIM = "claim"  # move (CLAIM, value); percept of the other's claim: (CLAIM, value) or (DONE, role, (CLAIM, value))
CALL, ASK = "you_bluff", "ask_roll"
OWN_DICE = ("dice", "my_dice")  # percept (one of these, value)
DONE = "does"
VALUES = (
    *((high, low) for high in range(3, 7) for low in range(1, high)),
    *((die, die) for die in range(1, 7)),
    (2, 1),
)
"""The values of two dice, from the lowest to the highest: 31, 32, 41, …, 65, 11, 22, …, 66, 21."""
RANK: dict[tuple[object, ...], int] = {
    written: rank
    for rank, (high, low) in enumerate(VALUES)
    for written in ((10 * high + low,), (high, low), (low, high))
}


class MeierAgent:
    """Bluffs in proportion to its own roll and calls in proportion to the claim.

    With the i-th lowest of the 21 values (i from 0) as the claim, it calls with probability (i + 1)/21.  For a roll
    that does not beat the last claim, it claims any higher value with equal probability.  Any other roll is claimed as
    it is with probability (i + 1)/21, and otherwise replaced by any higher value, to which the same rule is applied.
    """

    name = "meier"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.role, self.game, self.rng = game.players[player], game.name, rng
        self.own: int | None = None
        self.claimed: int | None = None
        legal = game.start().state.legal_actions(player)
        if legal != (NOOP,):
            raise self._unknown(legal)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        for percept in observation if isinstance(observation, tuple) else ():
            match percept:
                case (str(name), *value) if name in OWN_DICE:
                    self.own = RANK.get(tuple(value))
                case (str(name), *value) if name == CLAIM:
                    self.claimed = RANK.get(tuple(value))
                case (str(name), _, (str(move), *value)) if (name, move) == (DONE, CLAIM):
                    self.claimed = RANK.get(tuple(value))

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return draw(legal, self.report_probabilities(legal), self.rng)

    def report_probabilities(self, legal: tuple[Action, ...]) -> list[float]:
        """Return the probability of each legal move."""
        if legal == (NOOP,):
            return [1.0]
        if CALL in legal and set(legal) <= {CALL, ASK} and self.claimed is not None:
            call = 1.0 if ASK not in legal else (self.claimed + 1) / len(VALUES)
            return [call if move == CALL else 1 - call for move in legal]
        ranks = [RANK[move[1:]] for move in legal if _is_claim(move)]  # type: ignore[index]
        if len(ranks) != len(legal) or self.own is None:
            raise self._unknown(legal)
        claims = _claims(self.own) if self.own in ranks else [1 / len(ranks)] * len(VALUES)
        return [claims[rank] for rank in ranks]

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _unknown(self, legal: tuple[Action, ...]) -> UnsupportedGameError:
        return _not_made_for(self.name, self.game, self.role, legal, f"{NOOP}, ({CLAIM}, value), {CALL}, {ASK}")


def _claims(own: int) -> list[float]:
    """Return the probability of claiming each value, with a roll that beats the last claim."""
    reached, claimed = [0.0] * len(VALUES), [0.0] * len(VALUES)
    reached[own] = 1.0
    for rank in range(own, len(VALUES)):
        claimed[rank] = reached[rank] * (rank + 1) / len(VALUES)
        higher = len(VALUES) - 1 - rank
        for above in range(rank + 1, len(VALUES)):
            reached[above] += (reached[rank] - claimed[rank]) / higher
    return claimed


def _is_claim(move: Action) -> bool:
    return isinstance(move, tuple) and move[:1] == (CLAIM,) and move[1:] in RANK


# Blind Tic-Tac-Toe: both mark a cell at once and observe only whether it is theirs
MARK = "mark"  # (MARK, row, column)
SUCCESS = "ok"  # percept: the cell is mine
SIDE = (1, 2, 3)
CELLS = tuple((MARK, m, n) for m in SIDE for n in SIDE)
CENTRE = (MARK, 2, 2)
CORNERS = tuple((MARK, m, n) for m in (1, 3) for n in (1, 3))

Cell = tuple[str, int, int]


class BlindTicTacToeAgent:
    """Takes the centre, then a random corner; then the opposite corner if it got both, else a neighbouring one.

    After that, it completes a line between two corners that it owns, else tries a random corner, else any cell.
    Anyone who knows this can exploit it.
    """

    name = "blind_tic_tac_toe"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.role, self.game, self.rng = game.players[player], game.name, rng
        self.tried: list[Cell] = []
        self.owned: set[Cell] = set()
        legal = game.start().state.legal_actions(player)
        if set(legal) != set(CELLS):
            raise self._unknown(legal)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if own_action in CELLS:
            self.tried.append(own_action)
            if isinstance(observation, tuple) and SUCCESS in observation:
                self.owned.add(own_action)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return draw(legal, self.report_probabilities(legal), self.rng)

    def report_probabilities(self, legal: tuple[Action, ...]) -> list[float]:
        """Return the probability of each legal move."""
        if not set(legal) <= set(CELLS):
            raise self._unknown(legal)
        wanted = (self._opening(), self._lines(), CORNERS, CELLS)
        cells = next(cells for some in wanted if (cells := [cell for cell in some if cell in legal]))
        return [cells.count(cell) / len(cells) for cell in legal]  # type: ignore[arg-type]

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def _opening(self) -> tuple[Cell, ...]:
        """Return the moves among which the first three moves choose."""
        if not self.tried:
            return (CENTRE,)
        if len(self.tried) == 1:
            return CORNERS
        if len(self.tried) > 2 or self.tried[1] not in CORNERS:
            return ()
        corner = self.tried[1]
        opposite = MARK, 4 - corner[1], 4 - corner[2]
        if {CENTRE, corner} <= self.owned:
            return (opposite,)
        return tuple([cell for cell in CORNERS if cell not in (corner, opposite)])

    def _lines(self) -> tuple[Cell, ...]:
        """Return the cells between two owned corners."""
        return tuple([_between(*pair) for pair in combinations(CORNERS, 2) if self.owned.issuperset(pair)])

    def _unknown(self, legal: tuple[Action, ...]) -> UnsupportedGameError:
        return _not_made_for(self.name, self.game, self.role, legal, f"({MARK}, m, n) with m and n from 1 to 3")


def _between(one: Cell, other: Cell) -> Cell:
    return MARK, (one[1] + other[1]) // 2, (one[2] + other[2]) // 2


def _not_made_for(agent: str, game: str, role: str, legal: tuple[Action, ...], infostate: str) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"agent {agent} is not made for {game}: {role} is offered {shorten(repr(legal))}; known moves: {infostate}"
    )
