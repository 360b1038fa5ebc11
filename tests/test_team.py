"""Exact team optima: two methods against each other and against brute force, and the optimum of tiny bridge."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoset import Ended, GameTree, NativeState, Observed, SequenceForm, TabularPolicy, expected_values, load
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.solvers.team import TeamOptimum, common_payoffs, team_optimum
from infoset.solvers.team_subsets import Kinds, PublicTree, SubsetProgram, exact, max_plus, subset_sums, subsets
from random_games import RandomGame, RandomState, all_ends, best_value, menus

BRIDGE_OPTIMUM = 2647 / 126
FULL_INFORMATION = 21.317460


def attained(game: Any, optimum: TeamOptimum) -> float:
    form = SequenceForm.of(game)
    return float(expected_values(form, optimum.policy.plan(form))[0])


class PublicGame(NamedTuple):
    """Random types, prior, public tree and payoffs, all by hashes; ``unit`` 0 makes payoffs that are no fractions."""

    seed: int
    types: tuple[int, int] = (2, 2)
    depth: int = 2
    widest: int = 3
    unit: int = 4

    @property
    def name(self) -> str:
        return f"public({self.seed})"

    @property
    def players(self) -> tuple[str, ...]:
        return ("P1", "P2")

    def start(self) -> Observed:
        return Observed(PublicState(self, None, ()), (None, None))

    def random(self, *key: object) -> np.random.Generator:
        return np.random.default_rng([self.seed, *RandomGame(self.seed).noise(*key).to_bytes(4)])

    def prior(self) -> np.ndarray:
        ways = self.random("prior").integers(0, 4, self.types) + np.eye(*self.types, dtype=int)
        return ways / ways.sum()

    def mover(self, past: tuple[int, ...]) -> int | None:
        """Who moves after these public moves, ``None`` at an end."""
        ended = len(past) >= self.depth or (past and self.random("end", past).random() < 0.25)
        return None if ended else int(self.random("mover", past).integers(2))

    def moves(self, past: tuple[int, ...]) -> int:
        return int(self.random("moves", past).integers(1, self.widest + 1))

    def payoff(self, deal: tuple[int, ...], past: tuple[int, ...]) -> float:
        rng = self.random("pays", deal, past)
        return float(rng.integers(-9, 10) / self.unit if self.unit else rng.normal())


class PublicState(NamedTuple("Fields", [("game", PublicGame), ("deal", Any), ("past", Any)]), NativeState):
    @property
    def terminal(self) -> bool:
        return self.deal is not None and self.game.mover(self.past) is None

    def legal(self, player: int) -> tuple[int, ...]:
        if self.deal is None or self.game.mover(self.past) != player:
            return ()
        return tuple(range(self.game.moves(self.past)))

    def chance(self, moves: Any) -> tuple[Any, ...]:
        if self.deal is not None:
            return ()
        return tuple((f"{a}{b}", float(p)) for (a, b), p in np.ndenumerate(self.game.prior()))

    def play_unchecked(self, moves: Any, nature: Any = None) -> Observed:
        if nature is not None:
            deal = tuple(map(int, nature))
            return Observed(self._replace(deal=deal), deal)
        mover = self.game.mover(self.past)
        seen = (None, moves[mover])[:: -1 if mover else 1]
        return Observed(self._replace(past=(*self.past, moves[mover])), seen)

    def returns(self) -> tuple[float, ...]:
        return (self.game.payoff(self.deal, self.past),) * 2


def brute_force(game: PublicGame, limit: int) -> float | None:
    """Every pure plan of the player with fewer, against the other's best reply; ``None`` beyond ``limit`` plans."""
    prior = game.prior()
    plays: dict[tuple[int, ...], Any] = {}

    def walk(past: tuple[int, ...]) -> None:
        plays[past] = game.mover(past)
        if plays[past] is None:
            pays = [[game.payoff((a, b), past) for b in range(game.types[1])] for a in range(game.types[0])]
            plays[past] = prior * np.array(pays)
            return
        for move in range(game.moves(past)):
            walk((*past, move))

    walk(())
    counts = [1, 1]
    for past, mover in plays.items():
        if isinstance(mover, int):
            counts[mover] *= game.moves(past) ** game.types[mover]
    tried = int(counts[1] < counts[0])
    if counts[tried] > limit:
        return None
    sets = [
        (past, t) for past, at in plays.items() if isinstance(at, int) and at == tried for t in range(game.types[at])
    ]

    def reply(past: tuple[int, ...], there: list[int], other: int, plan: dict[Any, int]) -> float:
        at = plays[past]
        if isinstance(at, np.ndarray):
            return sum(at[t, other] if tried == 0 else at[other, t] for t in there)
        moves = range(game.moves(past))
        if at == tried:
            return sum(reply((*past, m), [t for t in there if plan[past, t] == m], other, plan) for m in moves)
        return max(reply((*past, m), there, other, plan) for m in moves)

    best = -np.inf
    for chosen in product(*[range(game.moves(past)) for past, _ in sets]):
        plan = dict(zip(sets, chosen, strict=True))
        everybody = list(range(game.types[tried]))
        best = max(best, sum(reply((), everybody, t, plan) for t in range(game.types[1 - tried])))
    return float(best)


SHAPES = [((2, 2), 3, 2), ((2, 3), 2, 3), ((3, 2), 2, 4), ((3, 3), 2, 3), ((2, 2), 2, 4), ((1, 3), 3, 2)]


@pytest.mark.parametrize("unit", [1, 6, 0], ids=["integers", "sixths", "floats"])
def test_three_ways_agree(unit: int) -> None:
    """Dynamic program, mixed-integer program and brute force on about a hundred random public games."""
    compared = 0
    for seed in range(36):
        types, depth, widest = SHAPES[seed % len(SHAPES)]
        game = PublicGame(seed, types, depth, widest, unit)
        if game.mover(()) is None or (best := brute_force(game, 150)) is None:
            continue
        tree = GameTree.of(game)
        fast, slow = team_optimum(tree, "subsets"), team_optimum(tree, "milp")
        for optimum in (fast, slow):
            assert optimum.value == pytest.approx(best, abs=1e-9), (optimum.method, game)
            assert optimum.value <= optimum.bound + 1e-12
            assert attained(tree, optimum) == pytest.approx(best, abs=1e-9)
        assert fast.bound == pytest.approx(best, abs=1e-9)
        assert slow.bound == pytest.approx(best, abs=1e-5)
        assert ("exact integers" in fast.proof) == (unit > 0)
        assert fast.bound == fast.value if unit else fast.bound > fast.value
        compared += 1
    assert compared > 33


def test_tiny_payoffs_are_not_nothing() -> None:
    tree = GameTree.of(PublicGame(3, unit=10**12))
    optimum = team_optimum(tree)
    assert optimum.value > 0
    assert optimum.value * 10**12 == pytest.approx(team_optimum(GameTree.of(PublicGame(3, unit=1))).value, rel=1e-9)


def test_bigger_games_agree() -> None:
    """Deeper trees and more types than brute force can do: the two methods."""
    for seed in range(6):
        tree = GameTree.of(PublicGame(seed, (4, 5), 3, 3, 2))
        fast, slow = team_optimum(tree), team_optimum(tree, "milp")
        assert fast.method == "subsets"
        assert fast.value == pytest.approx(slow.value, abs=1e-9)
        assert fast.value == fast.bound


class CommonState(RandomState):
    def returns(self) -> tuple[float, ...]:
        return (float(self.noise("pays") % 7 - 3),) * self.game.num_players


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_hidden_moves(seed: int) -> None:
    """The mixed-integer program on games with hidden and simultaneous moves, against all pure profiles."""
    game = RandomGame(seed, 2, 2, CommonState)
    ends = list(all_ends(game))
    own = menus(ends, 0)
    plans = [np.prod([len(m) for m in menus(ends, p).values()]) for p in range(2)]
    if plans[0] * plans[1] * len(ends) > 50_000:
        return
    best = -np.inf
    for chosen in product(*own.values()):
        rows: list[Any] = [{i: {m: float(m == c) for m in own[i]} for i, c in zip(own, chosen, strict=True)}, {}]
        best = max(best, best_value(ends, rows, 1))
    optimum = team_optimum(game, "milp")
    assert optimum.value == pytest.approx(best, abs=1e-9)
    assert attained(game, optimum) == pytest.approx(best, abs=1e-9)
    assert team_optimum(game).value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("letter", "best"), [("A", 2.25), ("B", 1), ("C", 2.5), ("D", 2.5), ("E", 10), ("F", 7 / 3)])
def test_tiny_hanabi(letter: str, best: float) -> None:
    game = load(f"tiny_hanabi(game={letter})")
    for method in ("subsets", "milp"):
        optimum = team_optimum(game, method)
        assert optimum.method == method
        assert optimum.value == pytest.approx(best, abs=1e-12)
        assert optimum.bound == pytest.approx(best, abs=1e-6)
        assert attained(game, optimum) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("items", "messages", "best"), [(2, 2, 1), (2, 3, 1), (3, 2, 5 / 9), (3, 3, 1)])
@pytest.mark.parametrize("sees", ["true", "false"])
def test_trade_comm(items: int, messages: int, sees: str, best: float) -> None:
    """The trades are named at once, so the mixed-integer program answers."""
    optimum = team_optimum(load(f"trade_comm(items={items},messages={messages},sees_message={sees})"))
    assert optimum.method == "milp"
    assert optimum.value == pytest.approx(best, abs=1e-9)
    assert optimum.bound == pytest.approx(best, abs=1e-6)


def test_cooperative_matching_pennies() -> None:
    assert team_optimum(load("cooperative_matching_pennies")).value == 1
    assert team_optimum(load("cooperative_matching_pennies(passing=2.5)")).value == 2.5


def test_seats_that_mirror_each_other_share_tables() -> None:
    """Tiny bridge has 128 public states, but what is to come depends on the last bid alone."""
    tree = GameTree.of(load("tiny_bridge"))
    public = PublicTree.of(tree, common_payoffs(tree))
    assert (public.num_decisions, public.types) == (128, (12, 12))
    program = SubsetProgram(public, 600)
    assert program.denominator == 252
    assert program.weights[public.ends[0]].dtype == np.int32
    assert len(program.kinds.all) == 8  # six bids, an opening pass, nothing yet


def test_kinds_of_a_game_without_symmetry() -> None:
    tree = GameTree.of(PublicGame(1, (2, 3), 3, 3))
    public = PublicTree.of(tree, common_payoffs(tree))
    assert len(Kinds(public, {v: public.weights[v] for v in public.ends}).all) == public.num_decisions


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_max_plus(kind: type, size: int) -> None:
    """The kernel and its twin by the definition."""
    rng = np.random.default_rng(size)
    f, g = (rng.integers(-50, 50, (1 << size, 7)).astype(kind) for _ in range(2))
    out = np.empty_like(f)
    max_plus(f, g, out)
    for m in range(1 << size):
        splits = [f[s] + g[m ^ s] for s in range(1 << size) if s & m == s]
        assert (out[m] == np.max(splits, axis=0)).all()


def test_sets_of_bits() -> None:
    assert sorted(subsets(0b1010).tolist()) == [0, 2, 8, 10]
    assert subset_sums(np.array([[1], [10], [100]])).ravel().tolist() == [0, 1, 10, 11, 100, 101, 110, 111]


def test_exact_numbers() -> None:
    whole, denominator = exact(np.array([[[1 / 3, -0.25]], [[1 / 7, 0.0]]]))
    assert (denominator, whole.tolist(), whole.dtype) == (84, [[[28, -21]], [[12, 0]]], np.int32)
    assert exact(np.array([[[3e9]]]))[0].dtype == np.int64
    for numbers in ([[[1e-9, 2e-9]]], [[[np.pi]]], [[[1 / 9973, 1 / 9967]]], [[[1e300]]]):
        same, denominator = exact(np.array(numbers))
        assert denominator == 0
        assert same.tolist() == numbers


class LateState(NamedTuple("Late", [("stage", int)]), NativeState):
    """One move, after which nature answers."""

    def legal(self, player: int) -> tuple[int, ...]:
        return (0, 1) if player == self.stage == 0 else ()

    def chance(self, moves: Any) -> tuple[Any, ...]:
        return (("x", 0.5), ("y", 0.5)) if self.stage == 0 else ()

    def play_unchecked(self, moves: Any, nature: Any = None) -> Observed:
        return Observed(Ended((float(moves[0]) * (nature == "x"),) * 2), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class Late(NamedTuple):
    name: str = "late"
    players: tuple[str, ...] = ("P1", "P2")

    def start(self) -> Observed:
        return Observed(LateState(0), (None, None))


def test_refusals() -> None:
    with pytest.raises(UnsupportedGameError, match=r"kuhn_poker is no common-payoff game: .* pays \[2.0, -2.0\]"):
        team_optimum(load("kuhn_poker"))
    with pytest.raises(UnsupportedGameError, match="moves are hidden, P2 cannot tell"):
        team_optimum(load("trade_comm"), "subsets")
    with pytest.raises(UnsupportedGameError, match=r"nature moves after \[0\]"):
        team_optimum(Late(), "subsets")
    with pytest.raises(UnsupportedGameError, match="has 3 players"):
        team_optimum(RandomGame(4, 3, 2, CommonState), "subsets")
    with pytest.raises(BudgetError, match=r"has 28 x 28 types: the dynamic program would take about .* GiB and"):
        team_optimum(load("tiny_bridge(abstracted=false)"))
    with pytest.raises(BudgetError, match="HiGHS did not prove the optimum in 1e-06 s"):
        team_optimum(load("trade_comm(items=4,messages=3)"), "milp", seconds=1e-6)
    with pytest.raises(ParameterError, match="method=best is not one of auto, subsets, milp"):
        team_optimum(load("tiny_hanabi"), "best")
    with pytest.raises(ParameterError, match="seconds=0"):
        team_optimum(load("tiny_hanabi"), seconds=0)


def test_nature_may_answer_late_for_the_other_method() -> None:
    optimum = team_optimum(Late())
    assert (optimum.method, optimum.value) == ("milp", 0.5)


@pytest.mark.slow
def test_tiny_bridge() -> None:
    """The optimum that no published method has reached or proved, from our rules."""
    game = load("tiny_bridge")
    optimum = team_optimum(game)
    assert optimum.value == optimum.bound == BRIDGE_OPTIMUM
    assert optimum.value < FULL_INFORMATION
    assert attained(game, optimum) == pytest.approx(BRIDGE_OPTIMUM, abs=1e-12)
    assert optimum.policy.num_infosets == 768


@pytest.mark.slow
def test_tiny_bridge_in_openspiel() -> None:
    """The same from OpenSpiel's rules; the policy found is played by OpenSpiel over all 420 deals."""
    pyspiel = pytest.importorskip("pyspiel")
    optimum = team_optimum(load("openspiel:tiny_bridge_2p(abstracted=true)"))
    assert optimum.value == optimum.bound == BRIDGE_OPTIMUM

    def play(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[0])
        if state.is_chance_node():
            return sum(chance * play(state.child(deal)) for deal, chance in state.chance_outcomes())
        player = state.current_player()
        moves = {state.action_to_string(player, a): a for a in state.legal_actions()}
        if len(moves) == 1:
            return play(state.child(*moves.values()))
        row = optimum.policy.probabilities(player, state.information_state_string(player))
        return sum(row[word] * play(state.child(a)) for word, a in moves.items() if row[word])

    start = pyspiel.load_game("tiny_bridge_2p(abstracted=true)").new_initial_state()
    assert play(start) == pytest.approx(BRIDGE_OPTIMUM, abs=1e-6)


def test_the_command_line_says_what_is_proved(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "infoset", "solve", "trade_comm(items=3,messages=2)", "--method"]
    done = subprocess.run(
        [*command, "team-exact", "--json", "--out", str(tmp_path)], capture_output=True, text=True, check=True
    )
    body = json.loads(done.stdout)
    assert (body["value"], body["bound"]) == (pytest.approx(5 / 9), pytest.approx(5 / 9, abs=1e-6))
    assert body["method"] == "team-exact(by=milp)"
    assert TabularPolicy.load(body["policy"]).players == ("P1", "P2")
    wrong = subprocess.run([*command, "team-exact(by=luck)"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
