"""Four ways to apply the rules of a game, and that they never differ: the network one state at a time and 64 plays to
a word, the lazy evaluator, and the reference interpreter.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import chisquare

import infoset
from extent import sample
from gdl_interpreter import Interpreter
from infoset.gdl import parallel, scalar
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget, ground
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.library import description, library
from infoset.gdl.playouts import findings, random_playouts
from infoset.gdl.propnet import NO_NODE, PropNet, compile_propnet
from infoset.gdl.rules import EvaluatorWarning
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Term, parse_gdl, to_action, to_term
from infoset.gdl.tally import WORD

GAMES = tuple(library())
GAMES_IN_SAMPLE = {"breakthrough": 1, "connect_four": 1}  # the reference interpreter takes seconds for one


class Position(NamedTuple):
    """Everything that the rules say of a state, and of a joint move in it (none at the end)."""

    terminal: bool
    legal: tuple[tuple[Any, ...], ...]
    goals: tuple[tuple[int, ...], ...]
    following: frozenset[Term] | None
    percepts: tuple[tuple[Any, ...], ...] | None


@cache
def library_net(name: str) -> PropNet:
    return compile_propnet(description(name), ground(description(name)))


def net_of(text: str) -> PropNet:
    return compile_propnet(parse_gdl(text), ground(parse_gdl(text)))


def by_evaluator(evaluator: Any, state: Any, moves: list[Any] | None) -> tuple[Position, Any]:
    """The position, and the next state as the evaluator writes it."""
    roles = range(len(evaluator.roles))
    terminal = evaluator.terminal(state)
    legal = tuple(evaluator.legal_actions(state, role) for role in roles)
    goals = tuple(tuple(sorted(evaluator.goals(state, role))) for role in roles)
    if moves is None:
        return Position(terminal, legal, goals, None, None), None
    after, percepts = evaluator.step(state, moves)
    return Position(terminal, legal, goals, evaluator.facts(after), percepts), after


def by_interpreter(slow: Interpreter, facts: frozenset[Term], moves: list[Any] | None) -> Position:
    """One model of state and joint move answers every question."""
    joint = None if moves is None else dict(zip(slow.roles, map(to_term, moves), strict=True))
    model = slow.model(facts, joint)

    def second(relation: str, role: Term) -> tuple[Any, ...]:
        return tuple(to_action(x) for x in sorted((x for r, x in model[relation, 2] if r == role), key=str))

    return Position(
        bool(model["terminal", 0]),
        tuple(second("legal", role) for role in slow.roles),
        tuple(tuple(sorted(second("goal", role))) for role in slow.roles),
        None if moves is None else frozenset(term for (term,) in model["next", 1]),
        None if moves is None else tuple(second("sees", role) for role in slow.roles),
    )


def compare(name: str, games: int) -> None:
    """Random games, each state of which goes through all four evaluators."""
    fast, lazy, slow = (
        ScalarEvaluator(library_net(name)),
        LazyEvaluator(description(name)),
        Interpreter(description(name)),
    )
    rng = np.random.default_rng(0)
    seen: list[tuple[frozenset[Term], list[Any] | None, Position]] = []
    for _ in range(games):
        state, other, moves = fast.start(), lazy.start(), []
        while moves is not None:
            moves = None
            if not fast.terminal(state):
                moves = [
                    m[int(rng.integers(len(m)))] for m in (fast.legal_actions(state, r) for r in range(len(fast.roles)))
                ]
            known = by_interpreter(slow, fast.facts(state), moves)
            seen.append((fast.facts(state), moves, known))
            position, after = by_evaluator(fast, state, moves)
            assert position == known
            position, other_after = by_evaluator(lazy, other, moves)
            assert position == known
            state, other = after, other_after
    compare_batch(library_net(name), seen)


class Batch(NamedTuple):
    """The results of evaluating ``k`` states with a joint move in each: arrays of truth values."""

    terminal: Any  # (k,)
    legal: Any  # (k, M)
    goals: Any  # (k, G)
    following: Any  # (k, B)
    sees: Any  # (k, P)


def evaluate_batch(net: PropNet, states: Any, moves: Any) -> Batch:
    """Evaluate ``states`` (k, B) with the joint moves ``moves`` (k, M) side by side."""
    count = len(states)
    rows = parallel.all_false(net, -(-count // WORD))
    rows[1 : 1 + len(net.base)] = _to_rows(states)
    read = net.does != NO_NODE
    rows[net.does[read]] = _to_rows(moves[:, read])
    arrays = parallel.Net.of(net)
    parallel.evaluate_gates(
        arrays.kind, arrays.first_input, arrays.inputs, arrays.loops, rows, int(net.stage_begin[0]), len(net)
    )
    bits = np.unpackbits(rows.view(np.uint8), axis=1, count=count, bitorder="little").astype(np.bool_)

    def read_off(literals: Any) -> Any:
        sequence_at = bits[literals >> 1] ^ (literals & 1).astype(np.bool_)[:, None]
        return sequence_at.T

    terminal = read_off(np.array([net.terminal], dtype=np.int32))[:, 0]
    return Batch(terminal, read_off(net.legal), read_off(net.goals), read_off(net.following), read_off(net.sees))


def _to_rows(bits: Any) -> Any:
    """Return (columns, words), one row for each column of ``bits``."""
    padded = np.zeros((bits.shape[1], -(-len(bits) // WORD) * WORD), dtype=np.uint8)
    padded[:, : len(bits)] = bits.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def compare_batch(net: PropNet, seen: list[tuple[frozenset[Term], list[Any] | None, Position]]) -> None:
    """The bit-parallel evaluation of all these positions at once."""
    states = np.array([[term in facts for term in net.base] for facts, _, _ in seen])
    role = np.searchsorted(net.first_move, np.arange(len(net.moves)), side="right") - 1
    actions = [(r, to_action(move)) for r, move in zip(role, net.moves, strict=True)]
    made = np.array([[moves is not None and moves[r] == move for r, move in actions] for _, moves, _ in seen])
    batch = evaluate_batch(net, states, made)
    percept_role = np.searchsorted(net.first_percept, np.arange(len(net.percepts)), side="right") - 1
    for k, (_, moves, known) in enumerate(seen):
        assert batch.terminal[k] == known.terminal
        assert [actions[m] for m in np.flatnonzero(batch.legal[k])] == [
            (r, m) for r, action_set in enumerate(known.legal) for m in action_set
        ]
        assert sorted(net.goal_values[batch.goals[k]]) == sorted(v for values in known.goals for v in values)
        if moves is not None:
            assert {net.base[b] for b in np.flatnonzero(batch.following[k])} == known.following
            found = [(percept_role[p], to_action(net.percepts[p])) for p in np.flatnonzero(batch.sees[k])]
            assert known.percepts is not None
            assert found == [(r, percept) for r, percepts in enumerate(known.percepts) for percept in percepts]


@pytest.mark.parametrize("name", GAMES)
def test_evaluators_agree(name: str) -> None:
    compare(name, GAMES_IN_SAMPLE.get(name, sample(3, 8)))


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_evaluators_agree_on_a_thousand_games(name: str) -> None:
    compare(name, 1000)


@pytest.mark.parametrize("name", GAMES)
def test_playouts_agree(name: str) -> None:
    """Lengths and returns of random plays, drawn by two unlike methods: within four standard errors."""
    one, other = scalar.playouts(library_net(name), 3000, seed=1), parallel.playouts(library_net(name), 30_000, seed=2)
    assert one.finished == 3000
    assert other.finished == 30_000
    pairs = [(one.length, other.length), *((one.returns[role], other.returns[role]) for role in one.returns)]
    for a, b in pairs:
        assert abs(a.value - b.value) <= 4 / 1.96 * np.hypot(a.margin, b.margin)


PATHS = """
(role x) (init (at a)) (edge a b) (edge b c) (edge c a) (edge c d) (edge e d) (node a) (node b) (node c) (node d) (node e)
(<= (legal x (cut ?a ?b)) (edge ?a ?b) (not (true (gone ?a ?b)))) (<= (next (gone ?a ?b)) (does x (cut ?a ?b)))
(<= (next (gone ?a ?b)) (true (gone ?a ?b))) (<= (next (at ?a)) (true (at ?a))) (<= (reach ?a) (true (at ?a)))
(<= (reach ?b) (reach ?a) (edge ?a ?b) (not (true (gone ?a ?b)))) (<= terminal (not (reach d)))
(<= (goal x 100) (reach c)) (<= (goal x 0) (not (reach c))) (<= (sees x (at ?a)) (reach ?a))
"""


def test_positive_cycles_are_least_fixpoints() -> None:
    """Reachability around a cycle: once the way in is cut, nodes on the cycle must not hold each other up."""
    compiled = net_of(PATHS)
    assert len(compiled.loops) == 1
    game, slow = ScalarEvaluator(compiled), Interpreter(parse_gdl(PATHS))
    rng = np.random.default_rng(1)
    seen = []
    for _ in range(50):
        state = game.start()
        while not game.terminal(state):
            moves = [game.legal_actions(state, 0)[int(rng.integers(len(game.legal_actions(state, 0))))]]
            known = by_interpreter(slow, game.facts(state), moves)
            seen.append((game.facts(state), moves, known))
            position, state = by_evaluator(game, state, moves)
            assert position == known
    compare_batch(compiled, seen)


def test_states_in_any_order() -> None:
    """The scalar evaluator jumps between unrelated states: what it remembers never shows."""
    game = ScalarEvaluator(library_net("leduc_poker"))
    rng = np.random.default_rng(2)
    states = [game.start()]
    for _ in range(200):
        state = states[int(rng.integers(len(states)))]
        if not game.terminal(state):
            action_sets = [game.legal_actions(state, role) for role in range(3)]
            states.append(
                game.step(state, [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets])[0]
            )
    fresh = ScalarEvaluator(library_net("leduc_poker"))
    for state in reversed(states):
        assert [game.legal_actions(state, r) for r in range(3)] == [fresh.legal_actions(state, r) for r in range(3)]
        assert game.state(game.facts(state)) == state


DIE = """
(role x) (role random) (init start) (<= (legal random (roll ?n)) (die ?n)) (legal x noop)
(die 1) (die 2) (die 3) (die 4) (die 5) (<= (next (shown ?n)) (does random (roll ?n)))
(<= (legal random (roll 2)) (true start)) (<= terminal (true (shown ?n)))
(<= (goal x 1) (true (shown 1))) (<= (goal x 2) (true (shown 2))) (<= (goal x 3) (true (shown 3)))
(<= (goal x 4) (true (shown 4))) (<= (goal x 5) (true (shown 5)))
"""


def test_choices_are_uniform_over_distinct_moves() -> None:
    """Five faces, one of them derived twice, which adds no weight (chi-squared, p > 0.001)."""
    compiled = net_of(DIE)
    for module, count in ((scalar, 20_000), (parallel, 1_000_000)):
        result = module.playouts(compiled, count, seed=3)
        assert list(result.goals["x"]) == [1, 2, 3, 4, 5]
        assert chisquare(list(result.goals["x"].values())).pvalue > 0.001


def test_seeds_repeat_playouts() -> None:
    for module in (scalar, parallel):
        one, same, other = (module.playouts(library_net("meier"), 500, seed=s) for s in (7, 7, 8))
        assert one == same
        assert one.length != other.length


NO_MOVE = """
(role x) (role y) (init (n 1)) (succ 1 2) (succ 2 3) (legal x go) (<= (legal y go) (not (true (n 3))))
(<= (next (n ?b)) (true (n ?a)) (succ ?a ?b)) (<= terminal (true (n 4))) (goal x 0) (goal y 0)
"""


def test_stuck_roles_are_counted_with_the_first_state() -> None:
    """y has no legal move in the third state, which is not terminal."""
    for module in (scalar, parallel):
        played = module.playouts(net_of(NO_MOVE), 5000)
        assert (played.plays, played.finished, played.unfinished) == (5000, 0, 0)
        assert (played.stuck, played.stuck_at) == ({"x": 0, "y": 5000}, {"y": "(n 3)"})


SOMETIMES = """
(role x) (init start) (legal x left) (<= (legal x right) (true start))
(<= (next a) (does x left) (true start)) (<= (next b) (does x right) (true start)) (<= (next c) (true b))
(role y) (<= (legal y go) (not (true b))) (<= terminal (true a)) (<= terminal (true c))
(<= (goal x 100) (true a)) (goal y 0)
"""


def test_plays_that_are_not_stuck_are_kept() -> None:
    """Half of the plays come to b, where y is stuck; the others end at a after one step."""
    with pytest.warns(EvaluatorWarning, match="too many rules"):
        lazily = GdlGame(parse_gdl(SOMETIMES), budget=Budget(rules=0))
    assert lazily.rules.propnet is None
    every = [module.playouts(net_of(SOMETIMES), 20_000, seed=3) for module in (scalar, parallel)]
    for played, plays in zip([*every, random_playouts(lazily, 2000)], (20_000, 20_000, 2000), strict=True):
        assert played.finished + played.stuck["y"] == played.plays == plays
        assert abs(played.stuck["y"] / plays - 1 / 2) < 0.05
        assert (played.longest, played.returns["x"].value) == (1, 100)
        assert (played.stuck["x"], played.stuck_at) == (0, {"y": "b"})
        (finding,) = [found for found in findings(lazily, played) if "legal move" in found]
        assert (
            f"y has no legal move in {played.stuck['y']:,} of {plays:,} plays, and the game is not over, first at b"
            in finding
        )


ENDLESS = """
(role x) (init home) (legal x stop) (legal x leave) (<= (next done) (does x stop) (true home))
(<= (next lost) (does x leave)) (<= (next lost) (true lost)) (<= terminal (true done))
(<= (goal x 100) (true done)) (<= (goal x 50) (true done))
"""


def test_plays_without_end_are_given_up() -> None:
    """From home one may leave and never come to an end; what was given up counts nowhere else."""
    for module in (scalar, parallel):
        result = module.playouts(net_of(ENDLESS), 1000, seed=1, max_steps=20)
        assert result.finished + result.unfinished == 1000
        assert 400 < result.unfinished < 600
        assert result.longest == 1
        assert result.returns["x"].value == 100  # the first of two goal values in the order of the rules
        assert result.several_goals["x"] == result.finished


SHARED_GATE = """
(role x) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (legal x go) (<= odd (true (n 1))) (<= odd (true (n 3)))
(<= (next (n ?b)) (true (n ?a)) (succ ?a ?b)) (<= (next seen) odd) (<= (next seen) (true seen)) (<= (sees x odd) odd)
(<= terminal (true (n 4))) (<= (goal x 10) odd) (<= (goal x 100) (not odd) (true seen)) (<= (goal x 0) (not odd) (not (true seen)))
"""


def test_what_goals_and_the_next_state_need_is_worked_out_in_every_step() -> None:
    """``odd`` decides a goal and what comes next, but no move: it must not be left for the end of a play.

    All plays are equally long, as the end of one of several would bring what the others need up to date, too.
    """
    net = net_of(SHARED_GATE)
    game, lazy = ScalarEvaluator(net), LazyEvaluator(parse_gdl(SHARED_GATE))
    state, other, steps = game.start(), lazy.start(), 0
    while not game.terminal(state):
        position, state = by_evaluator(game, state, ["go"])
        same, other = by_evaluator(lazy, other, ["go"])
        assert position == same
        steps += 1
    assert (steps, game.goals(state, 0)) == (4, (100,))
    for module in (scalar, parallel):
        assert module.playouts(net, 200).goals == {"x": {100: 200}}


def test_threads_that_ask_the_same_rules_do_not_disturb_each_other() -> None:
    """Several games of one description at once, each in a thread: they come out as one after the other."""
    game = infoset.load("gdl:blind_tic_tac_toe")

    def play(seed: int) -> tuple[float, ...]:
        return infoset.play_match(game, ["random", "random"], seed=seed).returns

    alone = [play(seed) for seed in range(60)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(play, range(60))) == alone
