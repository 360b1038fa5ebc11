"""Grounding: reachable instances only, names that cannot confuse the grounder, long bodies split, budgets kept."""

from __future__ import annotations

import pytest

from infoset.errors import BudgetError
from infoset.gdl.grounding import Budget, ground, needed_clauses
from infoset.gdl.syntax import Term, parse_gdl

COUNTER = """
(role x) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 7 8) (legal x up) (legal x stay)
(<= (next (n ?b)) (true (n ?a)) (succ ?a ?b) (does x up)) (<= (next (n ?a)) (true (n ?a)) (does x stay))
(<= terminal (true (n 3))) (<= (goal x 100) (true (n 3))) (<= (goal x 0) (not (true (n 3)))) (base (n ?anything))
"""


def atom(text: str) -> Term:
    return parse_gdl(text).rules[0].head


def possible(text: str, relation: str) -> set[str]:
    program = ground(parse_gdl(text))
    return {str(t) for t in [*program.atoms.values(), *program.facts] if t.functor == relation}


def test_only_reachable_instances() -> None:
    """The counter never comes to 8; static relations are gone from the bodies."""
    assert possible(COUNTER, "true") == {f"(true (n {k}))" for k in range(4)}
    program = ground(parse_gdl(COUNTER))
    number = {term: k for k, term in program.atoms.items()}
    bodies = {frozenset(body) for head, body in program.rules if head == number[atom("(next (n 2))")]}
    does_up, does_stay = number[atom("(does x up)")], number[atom("(does x stay)")]
    assert bodies == {
        frozenset({number[atom("(true (n 1))")], does_up}),
        frozenset({number[atom("(true (n 2))")], does_stay}),
    }


def test_hostile_names_reach_the_grounder_as_numbers() -> None:
    """Symbols that mean something to it, or to nobody, are only symbols."""
    text = (
        '(role #external) (init (:- . %* "q")) (init (p __x)) (legal #external {1..9}) (<= terminal (true (p ?n++)))'
        "(<= (next ?x') (true ?x')) (goal #external 0)"
    )
    assert possible(text, "legal") == {"(legal #external {1..9})"}
    assert possible(text, "true") == {'(true (:- . %* "q"))', "(true (p __x))"}


def test_equality_and_distinct() -> None:
    text = (
        COUNTER
        + "(<= (same ?a ?b) (true (n ?a)) (true (n ?b)) (not (distinct ?a ?b))) (<= (other ?a ?b) (true (n ?a)) (true (n ?b)) (distinct ?a ?b))"
    )
    assert possible(text, "same") == {f"(same {k} {k})" for k in range(4)}
    assert len(possible(text, "other")) == 12


WIDE = (
    "(role x) (legal x go) (goal x 0) (<= terminal (true (c k))) "
    + " ".join(f"(init (c {k}))" for k in "abcdefghijk")
    + "(<= (all ?a) (true (c ?a)) (true (c ?b)) (true (c ?d)) (true (c ?e)) (true (c ?f)) (link ?b ?d) (link ?d ?e) (link ?e ?f))"
    + " ".join(f"(link {a} {b})" for a in "abcdefghijk" for b in "abcdefghijk")
    + "(<= (next (c ?a)) (all ?a))"
)


def test_long_bodies_are_split() -> None:
    """Five joined variables would ground to 11 to the fifth instances; four are projected away one by one."""
    assert max(len(clause.body) for clause in needed_clauses(parse_gdl(WIDE))) <= 4
    assert len(ground(parse_gdl(WIDE)).rules) < 1000


def test_negative_literals_stay_with_what_binds_them() -> None:
    """Splitting must not leave a variable that only a test holds."""
    text = "(<= (p ?a) (q ?a ?b) (r ?b ?c) (not (s ?c ?d)) (t ?d) (distinct ?b ?d) (u ?a))"
    for clause in needed_clauses(parse_gdl(text)):
        bound = {
            v for lit in clause.body if lit.positive and lit.atom.functor != "distinct" for v in lit.atom.arguments
        }
        assert {v for lit in clause.body for v in lit.atom.arguments} | set(clause.head.arguments) <= bound


GROWS = (
    "(role x) (init (n zero)) (legal x go) (<= (next (n (s ?a))) (true (n ?a))) (<= terminal (true (n end))) (goal x 0)"
)
LARGE = (
    "(role x) (legal x go) (goal x 0) terminal (<= (next (p ?a ?b ?c ?d)) (true (q ?a)) (true (q ?b)) (true (q ?c)) (true (q ?d)))"
    + "".join(f"(init (q {k}))" for k in range(100))
)


@pytest.mark.parametrize(
    ("text", "budget"), [(GROWS, Budget(seconds=1)), (LARGE, Budget(memory=200 << 20)), (LARGE, Budget(rules=10_000))]
)
def test_budgets_end_what_is_too_large(text, budget) -> None:
    """One description grounds for ever, one to a hundred million rules."""
    with pytest.raises(BudgetError, match="<text>: does not ground within"):
        ground(parse_gdl(text), budget)
