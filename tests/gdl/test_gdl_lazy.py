"""The lazy evaluator against the slow interpreter, and where it must stop with a message."""

import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from extent import examples
from gdl_interpreter import Interpreter
from infoset.clock import Clock
from infoset.errors import BudgetError, GameRuleError
from infoset.gdl.checks import check, repair
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.playouts import findings, random_playouts
from infoset.gdl.rules import EvaluatorWarning, _Effort
from infoset.gdl.syntax import Description, Term, parse_gdl, read_gdl, to_action, to_term

BROKEN = ("BattleshipsFog", "ConnectThreeDecompositionII")
NAMES = sorted(p.stem for p in (SHARED / "games" / "gdl").glob("*.gdl") if p.stem not in BROKEN) or ["none"]
SHRUNK = {  # what the interpreter would need minutes for: long additions, many cards, large boards
    "small_dominion": [(r"\(\+\+ (1[2-9]|[2-9]\d) \d+\)", "")],
    "blackjack": [
        (r"\(succ +(2[4-9]|[3-9]\d) +\d+\)", ""),
        (r"\(rank [2-8]\)", ""),
        (r"\(suit (diamonds|clubs|hearts)\)", ""),
        (r"\?player 50\)", "?player 10)"),
        (r" 25 \?", " 5 ?"),
    ],
    "minesweeper": [(r"\(coord [345]\)", ""), (r"\(count ([5-9]|1\d|20)\)", ""), (r"\(mines 7\)", "(mines 2)")],
}


def compare(description: Description, seconds: float, seed: int = 0, steps: int = 200, least: int = 1) -> int:
    """Play at random, compare every answer of the evaluator with the interpreter's, and return the steps compared.

    There are ``least`` steps however slow the machine is, and more up to ``steps`` while ``seconds`` last.
    """
    slow, fast, rng = Interpreter(description), LazyEvaluator(description), random.Random(seed)
    assert fast.roles == tuple(map(str, slow.roles))
    end, compared = time.monotonic() + seconds, 0
    state, known = slow.start(), fast.start()
    while compared < steps and (compared < least or time.monotonic() < end):
        assert fast.facts(known) == state
        assert fast.terminal(known) == slow.terminal(state)
        goals = slow.goals(state)
        assert [sorted(fast.goals(known, k)) for k in range(len(fast.roles))] == [goals[r] for r in slow.roles]
        legal = slow.legal_actions(state)
        action_sets = [fast.legal_actions(known, k) for k in range(len(fast.roles))]
        assert [list(map(to_term, action_set)) for action_set in action_sets] == [legal[r] for r in slow.roles]
        if slow.terminal(state) or not all(action_sets):
            state, known = slow.start(), fast.start()
            continue
        moves = [rng.choice(action_set) for action_set in action_sets]
        state, percepts = slow.step(state, dict(zip(slow.roles, map(to_term, moves), strict=True)))
        known, seen = fast.step(known, moves)
        assert seen == tuple(tuple(map(to_action, sorted(percepts[r], key=str))) for r in slow.roles)
        compared += 1
    return compared


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SHRUNK])
def test_real_files(name: str, shared: Path) -> None:
    assert compare(repair(read_gdl(shared / "games" / "gdl" / f"{name}.gdl")), seconds=0.2) > 0


@pytest.mark.parametrize("name", sorted(SHRUNK))
def test_real_rules_with_less_to_count(name: str, shared: Path) -> None:
    text = (shared / "games" / "gdl" / f"{name}.gdl").read_text()
    for old, new in SHRUNK[name]:
        text, found = re.subn(old, new, text)
        assert found > 0
    assert compare(repair(parse_gdl(text)), seconds=0.5) > 0


@pytest.mark.parametrize("name", ["blackjack", "small_dominion", "twogenerals"])
def test_full_size_plays(name: str, shared: Path) -> None:
    """The files too large to ground are played to their ends, a goal for every role but perhaps chance."""
    game, rng = LazyEvaluator(repair(read_gdl(shared / "games" / "gdl" / f"{name}.gdl"))), random.Random(1)
    state, steps = game.start(), 0
    while not game.terminal(state):
        state, _ = game.step(state, [rng.choice(game.legal_actions(state, k)) for k in range(len(game.roles))])
        steps += 1
    assert 5 < steps < 100
    assert [len(game.goals(state, k)) for k, role in enumerate(game.roles) if role != "random"] == [1, 1]


GAME = """
(role x) (role random) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (goal random 0)
(legal x go) (legal x (say (f 1) 01)) (legal x 7) (<= (legal random (roll ?n)) (true (n ?n))) (legal random stay)
(<= (next (n ?m)) (true (n ?n)) (succ ?n ?m) (does x go)) (<= (next (n ?n)) (true (n ?n)) (not (does x go)))
(<= (sees x (was ?n)) (true (n ?n))) (<= (sees x ?m) (does random ?m)) (<= (sees random (twice ?n ?n)) (true (n ?n)))
(<= terminal (true (n 3))) (<= (goal x 100) (true (n 3))) (<= (goal x 0) (not (true (n 3))))
"""


def evaluator(more: str = "", memo: int = 1_000_000) -> LazyEvaluator:
    return LazyEvaluator(parse_gdl(GAME + more), memo)


def test_by_hand() -> None:
    """Moves as actions in the order of their text; percepts come from the state before the move."""
    game = evaluator()
    start = game.start()
    assert game.roles == ("x", "random")
    assert game.facts(start) == {parse_gdl("(n 0)").rules[0].head}
    assert game.legal_actions(start, 0) == (("say", ("f", 1), "01"), 7, "go")
    assert game.legal_actions(start, 1) == (("roll", 0), "stay")
    state, percepts = game.step(start, ["go", "stay"])
    assert percepts == ((("was", 0), "stay"), (("twice", 0, 0),))
    assert game.step(state, [7, ("roll", 1)]) == (state, ((("roll", 1), ("was", 1)), (("twice", 1, 1),)))
    assert not game.terminal(state)
    assert [game.goals(state, k) for k in (0, 1)] == [(0,), (0,)]
    for _ in range(2):
        state, _ = game.step(state, ["go", "stay"])
    assert game.terminal(state)
    assert game.goals(state, 0) == (100,)


def test_unknown_moves_match_nothing() -> None:
    game = evaluator("(<= (next won) (does x (open (door ?n))))")
    state, percepts = game.step(game.start(), [("open", "nothing", -1), "stay"])
    assert game.facts(state) == game.facts(game.start())
    assert percepts[0][0] == ("was", 0)
    state, _ = game.step(game.start(), [("open", ("door", 9)), ("never", "heard", ("of",))])
    assert Term("won") in game.facts(state)


@pytest.mark.parametrize("memo", [0, 10, 1_000_000])
def test_a_small_memory_gives_the_same_answers(memo: int) -> None:
    game, rng = evaluator(memo=memo), random.Random(0)
    states = [game.start()]
    for _ in range(50):
        state = rng.choice(states)
        states.append(game.step(state, [rng.choice(game.legal_actions(state, k)) for k in range(2)])[0])
        assert game.terminal(states[-1]) == any(str(fact) == "(n 3)" for fact in game.facts(states[-1]))
    assert sorted(len(game.facts(state)) for state in set(states)) == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (goal y ?v) (value y ?v)) (value y 30) (<= (goal y 0) (not (goal y 30))) (role y)",
        "(<= (goal ?r 50) (role ?r) (not (goal ?r 100)) (not (goal ?r 0)))",
        "(<= (p a ?n) (true (n ?n)) (not (p b ?n))) (<= (p b ?n) (true (n ?n)) (not (p c 0)))"
        "(<= (p c ?n) (true (n ?n)) (distinct ?n 1)) (<= (sees x ?k) (p ?k ?n))",
        "(<= (p (f ?n)) (true (n ?n)) (not (p (g ?n)))) (<= (p (g 1)) (true (n 1))) (<= (sees x ?k) (p ?k))",
    ],
)
def test_rules_are_stratified_by_their_arguments(rules: str) -> None:
    """A relation may negate itself where constants or functors tell the rules apart."""
    description = parse_gdl(GAME + rules + " (legal y wait)" * ("role y" in rules))
    assert not [d for d in check(description) if d.severity == "error"]
    assert compare(description, seconds=1, steps=10) > 0


def test_goals_stand_in_the_order_of_the_rules() -> None:
    text = "(role x) (role y) (init a) (legal x n) (legal y n) (<= terminal (true a)) (value 5) (value 3) (value 40)"
    more = "(<= (goal x 70) (true a)) (<= (goal ?r ?v) (role ?r) (value ?v)) (goal x 1) (goal y 3) (goal y 2)"
    game = LazyEvaluator(parse_gdl(text + more))
    assert game.goals(game.start(), 0) == (70, 1, 3, 5, 40)
    assert game.goals(game.start(), 1) == (2, 3, 5, 40)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("(<= (big (s ?n)) (big ?n)) (<= (big ?n) (true (n ?n))) (<= (sees x ?n) (big ?n))", "terms grow .* 's'"),
        pytest.param(
            "(<= (big (s ?n ?m)) (big ?n) (big ?m)) (big 0) (big 1) (<= (sees x ?n) (big ?n))",
            "terms grow .* 's'|big/1",
            marks=pytest.mark.slow,
        ),
        ("(<= (next (b (s ?n ?n))) (true (b ?n))) (init (b 0))", "terms grow .* 's'"),
        (
            "".join(f"(d {k})" for k in range(32))
            + "(<= (p ?a ?b ?c ?e ?f) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (true (n 0)))"
            "(<= terminal (p ?a ?b ?c ?e ?f))",
            "more than 1,000,000 ways .* d/1",
        ),
    ],
)
def test_runaway_rules_end_in_a_budget_error(rules: str, message: str) -> None:
    with pytest.raises(BudgetError, match=message) as error:
        game = evaluator(rules)
        state = game.start()
        for _ in range(300):
            assert not game.terminal(state)
            state, _ = game.step(state, ["go" if rules.startswith("(d") else 7, "stay"])
    assert "\n" not in str(error.value)


def test_too_many_facts_name_the_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.gdl.joins.MAX_FACTS", 20)
    game = evaluator("".join(f"(<= (p {k} ?n) (true (n ?n)))" for k in range(30)) + "(<= terminal (p ?n ?n))")
    with pytest.raises(BudgetError, match="more than 20 facts follow in one state, the last ones for p/2"):
        game.terminal(game.start())


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("(<= (p ?n) (not (p ?n)) (true (n ?n))) (<= (sees x ?n) (p ?n))", "not stratified"),
        ("(<= (legal x (dance ?n)) (true (n 0)))", "unsafe: variables of the head are not bound"),
        ("(<= (legal x dance) (not (true (n ?n))))", "unsafe: variables are not bound in"),
        ("(<= terminal (does x go))", "terminal must not depend on does"),
    ],
)
def test_broken_rules_are_refused(rules: str, message: str) -> None:
    with pytest.raises(GameRuleError, match=message):
        game = evaluator(rules)
        game.legal_actions(game.start(), 0)
        game.goals(game.start(), 0)


def test_a_goal_that_is_no_number_counts_as_none() -> None:
    """As in a network; where it stands in a rule's head, ``check`` refuses it."""
    game = evaluator("(<= (goal x ?n) (amount ?n)) (amount lots) (amount 7)")
    assert game.goals(game.start(), 0) == (0, 7)


def test_deep_terms_are_read_without_recursion_trouble() -> None:
    deep = "(f " * 190 + "0" + ")" * 190
    game = evaluator(f"(legal x {deep}) (<= (sees x (got ?m)) (does x ?m))")
    move = next(m for m in game.legal_actions(game.start(), 0) if isinstance(m, tuple) and m[0] == "f")
    assert str(to_term(game.step(game.start(), [move, "stay"])[1][0][0])) == f"(got {deep})"


CONSTANTS, VARIABLES = ["a", "b", "(f a)"], ["?x", "?y", "?z"]


@st.composite
def programs(draw: Callable[..., str]) -> str:
    """Layers of relations over a changing state: recursive in their own layer, negating only lower ones."""
    rules = [
        "(role x) (init (s a a)) (init (s b (f a))) (legal x a) (legal x (f b)) (goal x 0) (<= terminal (true over))"
    ]
    terms = st.sampled_from([*CONSTANTS, *VARIABLES, *VARIABLES, "(f ?x)"])
    for layer in range(3):
        for _ in range(draw(st.integers(1, 3))):
            names = ["true (s {} {})", "does x {}", *(f"p{k} {{}} {{}}" for k in range(layer + 1))]
            atoms = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
            body = [f"({atom.format(*(draw(terms) for _ in range(atom.count('{}'))))})" for atom in atoms]
            bound = sorted(v for v in VARIABLES if any(v in atom for atom in body)) or ["a"]
            known = st.sampled_from([*bound, *bound, "b"])
            if layer and draw(st.booleans()):
                body.append(f"(not (p{layer - 1} {draw(known)} {draw(known)}))")
            if draw(st.booleans()):
                body.append(f"(distinct {draw(known)} {draw(known)})")
            rules.append(f"(<= (p{layer} {draw(known)} {draw(known)}) {' '.join(draw(st.permutations(body)))})")
    rules += [f"(<= (sees x (p{k} ?x ?y)) (p{k} ?x ?y))" for k in range(3)]
    return " ".join([*rules, "(<= (next (s ?y (f ?x))) (p2 ?x ?y)) (<= (next (s ?x ?x)) (p1 ?x ?y))"])


@examples(60)
@given(programs())
def test_random_programs(text: str) -> None:
    assert compare(parse_gdl(text), seconds=0.5, steps=3) > 0


LARGE = """
(role x) (init a) (legal x go) (legal x wait) (<= (next b) (does x go)) (<= (next a) (does x wait)) (<= terminal (true b))
(goal x 1) (<= (p ?a ?b ?c ?d) (n ?a) (n ?b) (n ?c) (n ?d) (true a))
(<= (legal x other) (p ?a ?b ?c ?d) (p ?b ?c ?d ?a) (distinct ?a ?b) (true b))
""" + "".join(f"(n {k})" for k in range(31))


def test_a_clock_ends_a_long_join_and_spoils_nothing() -> None:
    """The rule is named, hours before the join would end; afterwards the same evaluator gives the answers of one that was never interrupted."""
    game, end = (
        LazyEvaluator(
            parse_gdl(
                LARGE.replace("(true b))\n", ")\n"),
            )
        ),
        0.05,
    )
    begin = time.monotonic()
    with (
        pytest.raises(BudgetError, match=r"<text>:\d+:\d+: the time limit was reached: "),
        game.until(Clock(begin + end)),
    ):
        game.legal_actions(game.start(), 0)
    assert time.monotonic() - begin < end + 60  # the join would take hours
    game = LazyEvaluator(parse_gdl(GAME))
    for work in range(0, 3000, 100):
        with suppress(BudgetError), game.until(_Effort(work)):
            game.legal_actions(game.start(), 0)
            game.step(game.start(), ["go", "stay"])
    fresh = LazyEvaluator(parse_gdl(GAME))
    assert game.legal_actions(game.start(), 0) == fresh.legal_actions(fresh.start(), 0)
    after, other = game.step(game.start(), ["go", "stay"]), fresh.step(fresh.start(), ["go", "stay"])
    assert (game.facts(after[0]), after[1]) == (fresh.facts(other[0]), other[1])


def test_what_plays_showed_before_their_clock_is_kept() -> None:
    text = GAME.replace("(<= terminal (true (n 3)))", "(<= terminal (true (n 1)))")
    with pytest.warns(EvaluatorWarning):
        game = GdlGame(parse_gdl(text), budget=Budget(rules=0))
    played = random_playouts(game, 10**9, clock=Clock(time.monotonic() + 0.2))
    assert "the time limit was reached" in played.stopped
    assert 0 < played.plays < 10**9
    assert findings(game, played)[0].startswith(f"random play ended after {played.plays:,} plays: ")


QUEENS = """
(role x) (init (at 1 1)) (init (at 4 2)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (i 1) (i 2) (i 3) (i 4) (i 5)
(<= (free ?x ?y) (i ?x) (i ?y) (not (true (at ?x ?y))) (not (true (wall ?x ?y))))
(<= (line ?x ?y ?u ?y) (succ ?x ?u) (i ?y)) (<= (line ?x ?y ?u ?y) (succ ?x ?z) (free ?z ?y) (line ?z ?y ?u ?y))
(<= (line ?x ?y ?u ?v) (succ ?x ?u) (succ ?y ?v))
(<= (line ?x ?y ?u ?v) (succ ?x ?w) (succ ?y ?z) (free ?w ?z) (line ?w ?z ?u ?v))
(<= (sight ?x ?y ?u ?v) (line ?x ?y ?u ?v)) (<= (sight ?x ?y ?u ?v) (line ?u ?v ?x ?y))
(<= (legal x (move ?x ?y ?u ?v)) (true (at ?x ?y)) (sight ?x ?y ?u ?v) (free ?u ?v))
(<= (next (at ?u ?v)) (does x (move ?x ?y ?u ?v)))
(<= (next (at ?a ?b)) (true (at ?a ?b)) (not (left ?a ?b))) (<= (left ?x ?y) (does x (move ?x ?y ?u ?v)))
(<= (next (wall ?x ?y)) (left ?x ?y)) (<= (next (wall ?x ?y)) (true (wall ?x ?y)))
(<= can (legal x ?m)) (<= terminal (not can)) (<= (goal x 1) (true (at 5 5))) (<= (goal x 0) (not (true (at 5 5))))
"""


def test_queens_that_move_by_recursion() -> None:
    """Lines that are asked from both of their ends, in states that differ in two facts from the one before."""
    assert compare(parse_gdl(QUEENS), seconds=1, steps=40, least=11) > 10
