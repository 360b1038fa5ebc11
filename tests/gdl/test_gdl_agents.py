"""The handcrafted agents: what they do at a given point, and the figures known for Meier."""

from collections import Counter
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from infoset import NativeState, Observed, load, play_match, play_series
from infoset.errors import UnsupportedGameError
from infoset.games.rules import Ended, Rules
from infoset.gdl.agents import CELLS, VALUES, BlindTicTacToeAgent, MeierAgent
from infoset.testing import check_game

ROLES = ("p1", "p2")
CLAIMS = tuple(("claim", *value) for value in VALUES)
DRAWS = 4000


class _Fields(NamedTuple):
    phase: str
    mover: int
    dice: tuple[int, int] = (0, 0)
    claim: int = -1


class MeierState(NativeState, _Fields):
    """Meier with the moves and percepts of its description in GDL-II; whoever calls wins unless the claim is exact."""

    __slots__ = ()

    def legal_actions(self, player):
        if self.phase == "roll" or player != self.mover:
            return ("noop",)
        if self.phase == "claim":
            return CLAIMS[self.claim + 1 :]
        return ("you_bluff", "ask_roll") if self.claim < 20 else ("you_bluff",)

    def chance_outcomes(self, moves):
        rolls = [("roll", x, y) for x in range(1, 7) for y in range(1, 7)]
        return tuple((roll, 1 / 36) for roll in rolls) if self.phase == "roll" else ()

    def returns(self):
        return (0.0, 0.0)

    def play_unchecked(self, moves, chance_outcome=None):
        done = [("does", role, move) for role, move in zip(ROLES, moves, strict=True)]
        seen = [tuple(done)] * 2
        mover, other, move = self.mover, 1 - self.mover, moves[self.mover]
        if chance_outcome is not None:
            seen[mover] = (*done, ("my_dice", *chance_outcome[1:]))
            dice = (max(chance_outcome[1:]), min(chance_outcome[1:]))
            return Observed(MeierState("claim", mover, dice, self.claim), tuple(seen))
        if self.phase == "claim":
            return Observed(MeierState("guess", other, self.dice, CLAIMS.index(move)), tuple(seen))
        if move == "ask_roll":
            return Observed(MeierState("roll", mover, (0, 0), self.claim), tuple(seen))
        winner = other if VALUES[self.claim] == self.dice else mover
        return Observed(Ended(tuple(100.0 * (p == winner) for p in range(2))), tuple(seen))


MEIER = Rules("meier", ROLES, Observed(MeierState("roll", 0), (None, None)))


def begun(agent, action_set, seed: int = 0):
    """The agent in the first seat of a game that offers ``action_set`` at the start."""
    state = SimpleNamespace(legal_actions=lambda player: action_set)
    game = SimpleNamespace(name="stub", players=ROLES, start=lambda: SimpleNamespace(state=state))
    agent.begin(game, 0, np.random.default_rng(seed), None)
    return agent


def shares(agent, action_set) -> dict:
    """How often each move is played, as a share of many draws."""
    counts = Counter(agent.act(action_set, None) for _ in range(DRAWS))
    return {move: counts[move] / DRAWS for move in action_set}


def close(probability: float):
    return pytest.approx(probability, abs=4 * (0.25 / DRAWS) ** 0.5)


def test_the_order_of_the_dice() -> None:
    assert VALUES[:5] == ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3))
    assert VALUES[13:] == ((6, 5), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (2, 1))
    assert len(set(VALUES)) == 21


def test_meier_claims_a_good_roll_in_proportion_to_it() -> None:
    """66 is the 20th of 21 values: claimed with probability 20/21, otherwise 21, which is then certain."""
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("my_dice", 6, 6),))
    played = shares(agent, CLAIMS)
    assert played["claim", 6, 6] == close(20 / 21)
    assert played["claim", 2, 1] == close(1 / 21)


def test_meier_climbs_from_a_low_roll() -> None:
    """From value d on: d with probability (d + 1)/21, else the same from a higher value, drawn uniformly."""
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("my_dice", 1, 5),))  # as it fell, not sorted
    reached = np.zeros(21)
    reached[VALUES.index((5, 1))] = 1.0
    claimed = np.zeros(21)
    for d in range(21):
        claimed[d] = reached[d] * (d + 1) / 21
        reached[d + 1 :] += (reached[d] - claimed[d]) / max(20 - d, 1)
    assert claimed.sum() == pytest.approx(1)
    played = shares(agent, CLAIMS)
    assert [played[move] for move in CLAIMS] == [close(share) for share in claimed]


@pytest.mark.parametrize("dice", [(3, 1), (6, 5)])
def test_meier_bluffs_uniformly_when_it_must(dice: tuple[int, int]) -> None:
    """The last claim was 65; neither 31 nor 65 beats it."""
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("does", "p2", ("claim", 6, 5)), ("does", "p1", "noop")))
    agent.observe("noop", (("my_dice", *dice),))
    higher = CLAIMS[14:]
    assert shares(agent, higher) == {move: close(1 / 7) for move in higher}


def test_meier_reads_values_written_as_one_number() -> None:
    """The project's own description says 61 where the server's says 6 1."""
    action_set = tuple(("claim", 10 * high + low) for high, low in VALUES)
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("dice", 66),))
    assert shares(agent, action_set)["claim", 66] == close(20 / 21)
    agent.observe("noop", (("claim", 65),))
    assert shares(agent, ("ask_roll", "you_bluff"))["you_bluff"] == close(14 / 21)


@pytest.mark.parametrize("rank", [0, 7, 19])
def test_meier_calls_in_proportion_to_the_claim(rank: int) -> None:
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("does", "p1", "noop"), ("does", "p2", CLAIMS[rank])))
    assert shares(agent, ("ask_roll", "you_bluff"))["you_bluff"] == close((rank + 1) / 21)


def test_meier_forgets_between_games() -> None:
    agent = begun(MeierAgent(), ("noop",))
    agent.observe("noop", (("my_dice", 6, 6),))
    begun(agent, ("noop",))
    with pytest.raises(UnsupportedGameError):
        agent.act(CLAIMS, None)


@pytest.mark.parametrize(
    ("first", "second", "score"), [("random", "random", 34.9), ("random", "meier", 21.5), ("meier", "random", 65.0)]
)
def test_figures_known_for_meier(first: str, second: str, score: float) -> None:
    """The first player's score: random play against itself, and against the bot in either seat."""
    check_game(MEIER, plays=20)
    series = play_series(MEIER, [first, second], games=2000, seed=1)
    assert series.agents[0].mean == pytest.approx(score, abs=1.5 * series.agents[0].interval + 0.05)
    assert not any(sum(agent.faults.values()) for agent in series.agents)


def marks(agent, results: list[bool]) -> list:
    """The moves of one game in which the agent is told whether each mark succeeded."""
    moves: list = []
    for success in results:
        move = agent.act(tuple(cell for cell in CELLS if cell not in moves), None)
        agent.observe(move, ("ok",) if success else ())
        moves.append(move)
    return moves


def opposite(cell):
    return ("mark", 4 - cell[1], 4 - cell[2])


@pytest.mark.parametrize("seed", range(20))
def test_blind_tic_tac_toe_wins_by_the_diagonal(seed: int) -> None:
    centre, corner, third = marks(begun(BlindTicTacToeAgent(), CELLS, seed), [True, True, True])
    assert centre == ("mark", 2, 2)
    assert corner[1] in (1, 3) and corner[2] in (1, 3)
    assert third == opposite(corner)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("got", [(False, True), (True, False), (False, False)])
def test_blind_tic_tac_toe_turns_to_the_side(seed: int, got: tuple[bool, bool]) -> None:
    """Without centre and corner it goes to a neighbouring corner, then between the two if they are its own."""
    _, corner, third, fourth = marks(begun(BlindTicTacToeAgent(), CELLS, seed), [*got, True, True])
    assert third in {("mark", corner[1], 4 - corner[2]), ("mark", 4 - corner[1], corner[2])}
    if got[1]:
        assert fourth == ("mark", (corner[1] + third[1]) // 2, (corner[2] + third[2]) // 2)
    else:
        assert fourth[1] in (1, 3) and fourth[2] in (1, 3)


def test_blind_tic_tac_toe_chooses_corners_evenly_and_ends_anywhere() -> None:
    corners = Counter(marks(begun(BlindTicTacToeAgent(), CELLS, seed), [True, True])[1] for seed in range(400))
    assert set(corners) == {cell for cell in CELLS if cell[1] != 2 and cell[2] != 2}
    assert min(corners.values()) > 60
    assert sorted(marks(begun(BlindTicTacToeAgent(), CELLS), [False] * 9)) == sorted(CELLS)


def test_blind_tic_tac_toe_plays_on_after_a_move_that_was_not_its_own() -> None:
    """A referee may have executed another move; the agent goes by what was executed."""
    agent = begun(BlindTicTacToeAgent(), CELLS)
    agent.observe(("mark", 1, 2), ())
    assert agent.act(CELLS, None)[1:] in {(1, 1), (1, 3), (3, 1), (3, 3)}


@pytest.mark.parametrize("name", ["meier", "blind_tic_tac_toe"])
def test_another_game_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(UnsupportedGameError, match=rf"agent {name} is not made for kuhn_poker: P1 is offered \(\)"):
        play_match(load("kuhn_poker"), [name, "random"])


def test_a_menu_that_is_not_known_later_on() -> None:
    agent = begun(MeierAgent(), ("noop",))
    with pytest.raises(UnsupportedGameError, match=r"p1 is offered \('jump',\); known moves: noop"):
        agent.act(("jump",), None)
    agent = begun(BlindTicTacToeAgent(), CELLS)
    with pytest.raises(UnsupportedGameError, match=r"known moves: \(mark, m, n\)"):
        agent.act(("noop",), None)
