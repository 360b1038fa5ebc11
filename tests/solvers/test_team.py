"""Exact team optima: two methods against each other and against brute force, and the optimum of tiny bridge."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run_infoset
from extent import examples
from infoset import (
    Ended,
    GameTree,
    NativeState,
    Observed,
    SequenceForm,
    Solution,
    TabularPolicy,
    expected_values,
    load,
    solve,
)
from infoset.errors import BudgetError, ParameterError, UnsupportedGameError
from infoset.solvers.teams.joint import JointActions
from infoset.solvers.teams.optimum import TeamOptimum, common_payoffs, team_optimum
from infoset.solvers.teams.public_tree import PublicTree
from infoset.solvers.teams.sets import convolutions, divide, elements, max_plus, subset_sums, subsets
from infoset.solvers.teams.subsets import JointKind, Kinds, SubsetProgram, exact
from openspiel_play import value_in_openspiel
from random_games import RandomGame, RandomState, action_sets, all_ends, best_value

BRIDGE_OPTIMUM = 2647 / 126
FULL_INFORMATION = 21.317460


def attained(game: Any, optimum: TeamOptimum) -> float:
    form = SequenceForm.of(game)
    return float(expected_values(form, optimum.policy.plan(form))[0])


class PublicGame(NamedTuple):
    """Random types, prior, public tree and payoffs, all by hashes; ``unit`` 0 makes payoffs that are no fractions.

    With probability ``joint`` both players move at a public state, neither seeing the other's move.
    """

    seed: int
    types: tuple[int, int] = (2, 2)
    depth: int = 2
    widest: int = 3
    unit: int = 4
    joint: float = 0.0

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

    @cache  # noqa: B019
    def movers(self, past: tuple[Any, ...]) -> tuple[int, ...]:
        """Who moves after these joint moves, nobody at an end."""
        if len(past) >= self.depth or (past and self.random("end", past).random() < 0.25):
            return ()
        both = self.random("joint", past).random() < self.joint
        return (0, 1) if both else (int(self.random("mover", past).integers(2)),)

    @cache  # noqa: B019
    def actions(self, past: tuple[Any, ...], player: int) -> tuple[Any, ...]:
        """What a player may do, ``None`` for one who does not move."""
        if player not in self.movers(past):
            return (None,)
        return tuple(range(self.random("moves", past, player).integers(1, self.widest + 1)))

    def payoff(self, deal: tuple[int, ...], past: tuple[Any, ...]) -> float:
        rng = self.random("pays", deal, past)
        return float(rng.integers(-9, 10) / self.unit if self.unit else rng.normal())


class PublicState(NamedTuple("Fields", [("game", PublicGame), ("deal", Any), ("past", Any)]), NativeState):
    @property
    def terminal(self) -> bool:
        return self.deal is not None and not self.game.movers(self.past)

    def legal_actions(self, player: int) -> tuple[int, ...]:
        if self.deal is None or player not in self.game.movers(self.past):
            return ()
        return self.game.actions(self.past, player)

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        if self.deal is not None:
            return ()
        return tuple((f"{a} {b}", float(p)) for (a, b), p in np.ndenumerate(self.game.prior()))

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        if chance_outcome is not None:
            deal = tuple(map(int, chance_outcome.split()))
            return Observed(self._replace(deal=deal), deal)
        return Observed(self._replace(past=(*self.past, tuple(actions))), (actions[1], actions[0]))

    def returns(self) -> tuple[float, ...]:
        return (self.game.payoff(self.deal, self.past),) * 2


def brute_force(game: PublicGame, limit: int) -> float | None:
    """Every pure plan of the player with fewer, against the other's best reply; ``None`` beyond ``limit`` plans."""
    prior = game.prior()
    movers: dict[Any, tuple[int, ...]] = {}
    weights: dict[Any, np.ndarray] = {}

    def walk(past: tuple[Any, ...]) -> None:
        if game.movers(past):
            movers[past] = game.movers(past)
            for actions in product(game.actions(past, 0), game.actions(past, 1)):
                walk((*past, actions))
        else:
            pays = [[game.payoff((a, b), past) for b in range(game.types[1])] for a in range(game.types[0])]
            weights[past] = prior * np.array(pays)

    walk(())
    sets = [[(past, t) for past, at in movers.items() if p in at for t in range(game.types[p])] for p in range(2)]
    action_sets = [[game.actions(past, player) for past, _ in sets[player]] for player in range(2)]
    counts = [np.prod([float(len(action_set)) for action_set in action_sets[player]]) for player in range(2)]
    tried = int(counts[1] < counts[0])
    if counts[tried] > limit:
        return None

    def reply(past: tuple[Any, ...], there: list[int], other: int, plan: dict[Any, int]) -> float:
        if past in weights:
            return sum((weights[past] if tried == 0 else weights[past].T)[t, other] for t in there)
        best = -np.inf
        for answer in game.actions(past, 1 - tried):
            total = 0.0
            for action in game.actions(past, tried):
                left = [t for t in there if plan.get((past, t)) == action]
                total += reply((*past, (action, answer)[:: -1 if tried else 1]), left, other, plan)
            best = max(best, total)
        return best

    best = -np.inf
    for chosen in product(*action_sets[tried]):
        plan = dict(zip(sets[tried], chosen, strict=True))
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
        if (best := brute_force(game, 150)) is None:
            continue
        tree = GameTree.of(game)
        fast, slow = team_optimum(tree, "subsets"), team_optimum(tree, "milp")
        for optimum in (fast, slow, team_optimum(tree, "beliefs")):
            assert optimum.value == pytest.approx(best, abs=1e-9), (optimum.method, game)
            assert optimum.value <= optimum.bound + 1e-12
            assert attained(tree, optimum) == pytest.approx(best, abs=1e-9)
        assert fast.bound == pytest.approx(best, abs=1e-9)
        assert slow.bound == pytest.approx(best, abs=1e-5)
        assert ("exact integers" in fast.proof) == (unit > 0)
        assert fast.bound == fast.value if unit else fast.bound > fast.value
        compared += 1
    assert compared > 33


@examples(30)
@given(st.integers(0, 10**6), st.sampled_from(SHAPES), st.sampled_from([1, 6, 0]))
def test_simultaneous_moves(seed: int, shape: Any, unit: int) -> None:
    """The same where both players often move at once."""
    game = PublicGame(seed, *shape, unit, joint=0.7)
    tree = GameTree.of(game)
    fast = team_optimum(tree, "subsets")
    best = brute_force(game, 100)
    if best is None:
        best = team_optimum(tree, "milp").value
    assert fast.value == pytest.approx(best, abs=1e-9)
    assert attained(tree, fast) == pytest.approx(best, abs=1e-9)
    assert fast.value == fast.bound if unit else fast.value < fast.bound < fast.value + 1e-9


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


@examples(40)
@given(st.integers(0, 10**6))
def test_hidden_moves(seed: int) -> None:
    """The mixed-integer program on games with hidden and simultaneous moves, against all pure profiles."""
    game = RandomGame(seed, 2, 2, CommonState)
    ends = list(all_ends(game))
    own = action_sets(ends, 0)
    plans = [np.prod([len(m) for m in action_sets(ends, p).values()]) for p in range(2)]
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
    beliefs = team_optimum(game, "beliefs")
    assert attained(game, beliefs) == pytest.approx(best, abs=1e-9)
    assert best - 1e-9 <= beliefs.bound <= best + 1e-9


@pytest.mark.parametrize(("letter", "best"), [("A", 2.25), ("B", 1), ("C", 2.5), ("D", 2.5), ("E", 10), ("F", 7 / 3)])
def test_tiny_hanabi(letter: str, best: float) -> None:
    game = load(f"tiny_hanabi(game={letter})")
    for method in ("subsets", "milp", "beliefs"):
        optimum = team_optimum(game, method)
        assert optimum.method == method
        assert optimum.value == pytest.approx(best, abs=1e-12)
        assert optimum.bound == pytest.approx(best, abs=1e-6)
        assert attained(game, optimum) == pytest.approx(best, abs=1e-12)


def partitions(n: int, parts: int, largest: int | None = None) -> list[list[int]]:
    """The ways to write ``n`` as a sum of at most so many positive numbers, the largest first."""
    if n == 0:
        return [[]]
    highest = min(n, largest or n)
    return [[k, *rest] for k in range(highest, 0, -1) if parts for rest in partitions(n - k, parts - 1, k)]


def best_trade(items: int, messages: int) -> float:
    """Trade Comm's optimum: after a pair of messages sent by a and b items, min(a, b) of the a b deals can be won."""
    groups = partitions(items, messages)
    return max(sum(max(sum(min(a, b) for b in other) for other in groups) for a in one) for one in groups) / items**2


@pytest.mark.parametrize(("items", "messages", "best"), [(2, 2, 1), (2, 3, 1), (3, 2, 5 / 9), (3, 3, 1)])
@pytest.mark.parametrize("sees", ["true", "false"])
def test_trade_comm(items: int, messages: int, sees: str, best: float) -> None:
    """Published optima; the trades are named at once and the messages, unless one is seen, are as good as that."""
    game = load(f"trade_comm(items={items},messages={messages},sees_message={sees})")
    assert best_trade(items, messages) == best
    assert team_optimum(game).method == "subsets"
    for method in ("subsets", "milp", "beliefs"):
        optimum = team_optimum(game, method)
        assert optimum.value == pytest.approx(best, abs=1e-9)
        assert optimum.bound == pytest.approx(best, abs=1e-6)
        assert attained(game, optimum) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("items", "messages"), [(4, 2), (4, 3), (5, 3), (6, 2)])
@pytest.mark.parametrize("sees", ["true", "false"])
def test_larger_trade_comm(items: int, messages: int, sees: str) -> None:
    optimum = team_optimum(load(f"trade_comm(items={items},messages={messages},sees_message={sees})"), "subsets")
    assert optimum.value == optimum.bound == best_trade(items, messages)


def test_trades_of_items_that_one_does_not_hold_are_not_tried() -> None:
    """Nine trades, but an item's holder can win with three of them; four public states of trades are one kind."""
    tree = GameTree.of(load("trade_comm"))
    program = SubsetProgram(PublicTree.of(tree, common_payoffs(tree)), 600)
    trades, messages = program.kinds.all
    assert isinstance(trades, JointKind)
    assert isinstance(messages, JointKind)
    assert [action_set.tolist() for action_set in program.joint[0].action_sets] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert [action_set.tolist() for action_set in program.joint[1].action_sets] == [[0, 1]] * 3


@pytest.mark.parametrize(("types", "leader"), [((2, 5), 0), ((5, 2), 1)])
def test_the_player_with_fewer_prescriptions_leads(types: tuple[int, int], leader: int) -> None:
    tree = GameTree.of(PublicGame(14, types, 1, 2, joint=1.0))
    public = PublicTree.of(tree, common_payoffs(tree))
    assert public.movers[0] == (0, 1)
    assert Kinds(public, {v: public.weights[v] for v in public.ends}).seer[0] == leader


@examples(15)
@given(st.integers(0, 10**6), st.sampled_from([(2, 2), (3, 2), (2, 3)]), st.integers(1, 3), st.integers(1, 3))
def test_joint_moves(seed: int, types: tuple[int, int], actions: int, replies: int) -> None:
    """Prescriptions and their best replies against all pairs of prescriptions, for every pair of sets."""
    rng = np.random.default_rng(seed)
    names: Any = [0, 1, "x", "y"]  # two that end the game, two that do not
    behind = [[names[k] for k in rng.integers(0, 4, replies)] for _ in range(actions)]
    ends = [rng.integers(-9, 10, types) for _ in range(2)]
    follow = {name: rng.integers(-9, 10, (1 << types[1], 1 << types[0])) for name in "xy"}
    for table in follow.values():
        table[0] = table[:, 0] = 0  # what follows earns nothing where nobody is left
    joint = JointActions(types, behind, ends, np.dtype(np.int64))
    with ThreadPoolExecutor(2) as pool:
        values, best = joint.table(follow, pool)

    def earned(mine: int, others: int, lead: Any, reply: Any) -> float:
        total = 0
        for a, b in product(range(actions), range(replies)):
            one = [m for m in elements(mine) if lead[m] == a]
            two = [m for m in elements(others) if reply[m] == b]
            name = behind[a][b]
            if isinstance(name, int):
                total += ends[name][np.ix_(one, two)].sum()
            else:
                total += follow[name][sum(1 << m for m in two), sum(1 << m for m in one)]
        return total

    leads, answers = (list(product(range(n), repeat=count)) for n, count in zip((actions, replies), types, strict=True))
    for mine, others in np.ndindex(values.shape):
        assert values[mine, others] == max(earned(mine, others, f, g) for f in leads for g in answers)
        if mine and others:
            lead, reply = joint.choose(follow, int(best[mine, others]), mine, others)
            assert earned(mine, others, lead, reply) == values[mine, others]


def test_too_many_prescriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mixed-integer program is then tried on a small game."""
    monkeypatch.setattr("infoset.solvers.teams.subsets.SPLITS_PER_SECOND", 10.0)
    with pytest.raises(BudgetError, match=r"has 3 x 3 types: the dynamic program would take about .* or 600 s"):
        team_optimum(load("trade_comm"), "subsets")
    optimum = team_optimum(load("trade_comm"))
    assert (optimum.method, optimum.value) == ("milp", pytest.approx(5 / 9))


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


def test_dividing_a_set() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.integers(-9, 10, (16, 1)) for _ in range(3)]
    shares = divide(13, parts)
    assert (shares[0] | shares[1] | shares[2], sum(shares)) == (13, 13)
    assert sum(part[share, 0] for part, share in zip(parts, shares, strict=True)) == convolutions(parts)[-1][13, 0]


def test_sets_of_bits() -> None:
    assert elements(0b1010) == [1, 3]
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
    """One move, after which chance answers."""

    def legal_actions(self, player: int) -> tuple[int, ...]:
        return (0, 1) if player == self.stage == 0 else ()

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        return (("x", 0.5), ("y", 0.5)) if self.stage == 0 else ()

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        return Observed(Ended((float(actions[0]) * (chance_outcome == "x"),) * 2), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class BlindState(NamedTuple("Blind", [("past", str)]), NativeState):
    """P1 moves, then P2 twice, and nobody ever sees anything."""

    def legal_actions(self, player: int) -> tuple[int, ...]:
        return (0, 1) if player == (0, 1, 1)[len(self.past)] else ()

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        return ()

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        past = self.past + "".join(str(action) for action in actions if action is not None)
        return Observed(Ended((float(past == "101"),) * 2) if len(past) == 3 else BlindState(past), (None, None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class Blind(NamedTuple):
    name: str = "blind"
    players: tuple[str, ...] = ("P1", "P2")

    def start(self) -> Observed:
        return Observed(BlindState(""), (None, None))


class Late(NamedTuple):
    name: str = "late"
    players: tuple[str, ...] = ("P1", "P2")

    def start(self) -> Observed:
        return Observed(LateState(0), (None, None))


def test_refusals() -> None:
    with pytest.raises(UnsupportedGameError, match=r"kuhn_poker is no common-payoff game: .* pays \[2.0, -2.0\]"):
        team_optimum(load("kuhn_poker"))
    with pytest.raises(UnsupportedGameError, match=r"moves stay hidden, P2 cannot tell \[0, 0\] from \[1, 0\]"):
        team_optimum(Blind(), "subsets")
    with pytest.raises(UnsupportedGameError, match=r"chance moves after \[0\]"):
        team_optimum(Late(), "subsets")
    with pytest.raises(UnsupportedGameError, match="has 3 players"):
        team_optimum(RandomGame(4, 3, 2, CommonState), "subsets")
    with pytest.raises(BudgetError, match=r"has 2 x 40 types; at most 32 a player are tried"):
        team_optimum(PublicGame(1, (2, 40), 1, 2, joint=1.0), "subsets")
    with pytest.raises(BudgetError, match=r"has 28 x 28 types: the dynamic program would take about .* GiB and"):
        team_optimum(load("tiny_bridge(abstracted=false)"))
    with pytest.raises(BudgetError, match="HiGHS did not prove the optimum in 1e-06 s"):
        team_optimum(load("trade_comm(items=4,messages=3)"), "milp", seconds=1e-6)
    with pytest.raises(ParameterError, match="method=best is not one of auto, subsets, milp"):
        team_optimum(load("tiny_hanabi"), "best")
    with pytest.raises(ParameterError, match="seconds=0"):
        team_optimum(load("tiny_hanabi"), seconds=0)


@pytest.mark.parametrize(
    ("parameters", "best"),
    [("colors=1,ranks=2,hand=1", 2), ("colors=1,ranks=2,hand=2", 1.5), ("colors=1,ranks=3,hand=1", 7 / 3)],
)
def test_small_hanabi(parameters: str, best: float) -> None:
    """Two players, one token, one life.

    The second value by hand: the deal takes all four cards, so that each plays once.  If P2 has the 2, P1 plays either
    of its 1s, and which one tells P2 where the 2 is: two points.  If P1 has it, it hints, and P2 plays a 1: one point.
    """
    optimum = team_optimum(load(f"hanabi(players=2,{parameters},info=1,lives=1)"), "beliefs")
    assert optimum.value == pytest.approx(best, abs=1e-12) and optimum.bound == pytest.approx(best, abs=1e-9)
    if best <= 2:  # the other method takes minutes for more cards
        assert team_optimum(load(f"hanabi(players=2,{parameters},info=1,lives=1)"), "milp").value == pytest.approx(best)


def test_a_proof_by_beliefs_is_saved(tmp_path: Path) -> None:
    solve(load("tiny_hanabi(game=F)"), "team-exact(by=beliefs)", out=tmp_path / "run")
    assert Solution.load(tmp_path / "run").bound == pytest.approx(7 / 3)


@pytest.mark.parametrize(("game", "best"), [(Late(), 0.5), (Blind(), 1.0)])
def test_what_does_not_fit_is_left_to_the_other_method(game: Any, best: float) -> None:
    optimum = team_optimum(game)
    assert (optimum.method, optimum.value) == ("milp", best)


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
    pytest.importorskip("pyspiel")
    name = "tiny_bridge_2p(abstracted=true)"
    optimum = team_optimum(load(f"openspiel:{name}"))
    assert optimum.value == optimum.bound == BRIDGE_OPTIMUM
    assert value_in_openspiel(name, optimum.policy) == pytest.approx(BRIDGE_OPTIMUM, abs=1e-6)


def test_the_command_line_says_what_is_proved(tmp_path: Path) -> None:
    command = ("solve", "trade_comm(items=3,messages=2)", "--method")
    done = run_infoset(*command, "team-exact", "--json", "--out", str(tmp_path))
    body = json.loads(done.stdout)
    assert body["values"] == pytest.approx([5 / 9, 5 / 9])
    assert (body["bound"], body["gap"]) == (pytest.approx(5 / 9, abs=1e-6), pytest.approx(0, abs=1e-6))
    assert body["method"] == "team-exact"
    assert body["proof"].startswith("dynamic program")
    assert TabularPolicy.load(body["policy"]).players == ("P1", "P2")
    wrong = run_infoset(*command, "team-exact(by=luck)")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
