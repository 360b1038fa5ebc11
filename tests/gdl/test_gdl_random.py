"""Random descriptions: whatever evaluates the rules says what the plain interpreter says.

A case is a number: the same number gives the same text.  ``python tests/gdl/test_gdl_random.py 17`` prints one and compares.
"""

from __future__ import annotations

import sys
import warnings
from random import Random

import pytest

from extent import sample
from gdl_interpreter import Interpreter
from gdl_random import random_description
from infoset.gdl import grounder
from infoset.gdl import rules as rules_module
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget, GroundProgram, _read, _Writer, ground, needed_clauses
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.lazy_propnet import GroundSource
from infoset.gdl.propnet import compile_propnet
from infoset.gdl.rules import GdlWarning
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import Description, Term, parse_gdl
from infoset.tree.rules_source import build_lazy_graph
from lazy_graphs import ask_all
from test_gdl_evaluators import Position, by_evaluator, by_interpreter, compare_batch

SAMPLE, EVERY, BLOCKS = sample(60, 200), 6_000, 4  # descriptions of the sample, of the slow test, and parts of each
LISTED = 20  # of so many descriptions one has all its positions compared
MOST_STATES = 60  # joint moves of the games whose positions are compared

State = frozenset[Term]


def ground_here(description: Description, budget: Budget | None = None) -> GroundProgram:
    """What ``ground`` returns, by a grounder in this process: it saves a tenth of a second each."""
    writer = _Writer()
    program = writer.program(list(needed_clauses(description)))
    return _read(b"".join(grounder.ground_text(program, 1_000_000)), writer)


def compare_plays(description: Description, seed: int, plays: int = 2, steps: int = 4) -> None:
    """A few random plays, every state of them through all four evaluators."""
    slow, net = Interpreter(description), compile_propnet(description, ground_here(description))
    fast, lazy, rng = ScalarEvaluator(net), LazyEvaluator(description), Random(seed)
    seen: list[tuple[State, list[object] | None, Position]] = []
    for _ in range(plays):
        facts, state, other = slow.start(), fast.start(), lazy.start()
        assert fast.facts(state) == lazy.facts(other) == facts
        for _ in range(steps):
            known = by_interpreter(slow, facts, None)
            moves = None if known.terminal else [rng.choice(action_set) for action_set in known.legal]
            known = known if moves is None else by_interpreter(slow, facts, moves)
            seen.append((facts, moves, known))
            found, state = by_evaluator(fast, state, moves)
            assert found == known, "one state at a time"
            found, other = by_evaluator(lazy, other, moves)
            assert found == known, "only what is asked for"
            if known.following is None:
                break
            facts = known.following
    compare_batch(net, seen)


def compare_positions(description: Description) -> bool:
    """All states, if they are few: those that compiled code lists, those that it grows, and the interpreter's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GdlWarning)
        game = GdlGame(description)
    expected = states(Interpreter(game.rules.description), MOST_STATES)
    if expected is None:
        return False
    facts, graph = game.rules.evaluator.facts, build_lazy_graph(game)
    source = ask_all(graph).source
    assert isinstance(source, GroundSource)
    table = source.interned.states.table(source.width)
    assert {facts(row.tobytes()) for row in table} == expected
    positions = game.positions(lambda *_: None)
    if positions is not None:
        assert positions.facts is not None
        assert {facts(row.tobytes()) for row in positions.facts.holds} == expected
    return True


def states(slow: Interpreter, most: int) -> set[State] | None:
    """Every state that can be reached; ``None`` where that takes more than so many joint moves."""
    found = {slow.start()}
    todo, left = list(found), most
    while todo:
        state = todo.pop()
        if slow.terminal(state):
            continue
        joint: list[dict[Term, Term]] = [{}]
        for role, action_set in slow.legal_actions(state).items():
            joint = [{**moves, role: move} for moves in joint for move in action_set]
        left -= len(joint)
        if left < 0:
            return None
        fresh = {slow.step(state, moves)[0] for moves in joint} - found
        found |= fresh
        todo += fresh
    return found


def run_case(case: int) -> None:
    description = random_description(case)
    try:
        compare_plays(description, case)
        if case % LISTED == 0:
            compare_positions(description)
    except Exception as error:
        pytest.fail(
            f"python tests/gdl/test_gdl_random.py {case}\n{type(error).__name__}: {error}\n{description}", pytrace=False
        )


@pytest.fixture
def grounds_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are ground in this process, and look for leaks of information for a moment only."""
    monkeypatch.setattr(rules_module, "ground", ground_here)
    monkeypatch.setattr(rules_module, "PROBE_STEPS", dict.fromkeys(rules_module.PROBE_STEPS, 20))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_descriptions(block: int, grounds_here: None) -> None:
    size = SAMPLE // BLOCKS
    for case in range(block * size, (block + 1) * size):
        run_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_thousands_of_random_descriptions(block: int, grounds_here: None) -> None:
    """About a minute each."""
    size = EVERY // BLOCKS
    for case in range(SAMPLE + block * size, SAMPLE + (block + 1) * size):
        run_case(case)


LATE = """
(role a) (d 1) (d 2) (init start) (legal a noop) (<= (legal a (p ?x)) (m ?x)) (<= (legal a (q ?x)) (r ?x))
(<= (r ?x) (true (f ?x))) (<= (n ?x) (d ?x) (not (r ?x))) (<= (m ?x) (d ?x) (not (n ?x)))
(<= (next done) (does a noop)) (<= terminal (true done)) (<= (goal a 0) (m ?x)) (<= (goal a 100) (n 1))
"""


@pytest.mark.parametrize("more", ["", "(role random) (<= (next (f ?x)) (does random (p ?x)) (m ?x))"])
def test_facts_that_the_grounder_finds_late(more: str) -> None:
    """Nothing ever makes f, so r never holds, n always does and m never: nobody may play p, and a wins.

    The grounder has written rules over n before it knows.
    """
    description = parse_gdl(LATE + more)
    for game in (ScalarEvaluator(compile_propnet(description, ground(description))), LazyEvaluator(description)):
        state = game.start()
        assert (game.legal_actions(state, 0), game.goals(state, 0)) == (("noop",), (100,))  # type: ignore[arg-type]


def test_a_state_in_which_nothing_holds_that_any_rule_reads() -> None:
    """The start is empty, and rules for the next state need what no state changes."""
    text = "(role a) (legal a noop) (goal a 0) (e 1) (<= (q ?x) (e ?x)) (<= terminal (true (f 1)))"
    game = LazyEvaluator(parse_gdl(f"{text} (<= (next (f ?x)) (does a noop) (q ?x))"))
    assert game.facts(game.step(game.start(), ["noop"])[0]) == {Term("f", (Term("1"),))}


def test_the_same_number_gives_the_same_text() -> None:
    assert str(random_description(5)) == str(random_description(5)) != str(random_description(6))


if __name__ == "__main__":
    chosen = random_description(int(sys.argv[1]))
    print(chosen)
    rules_module.ground = ground_here  # type: ignore[assignment]
    compare_plays(chosen, int(sys.argv[1]))
    print(compare_positions(chosen))
