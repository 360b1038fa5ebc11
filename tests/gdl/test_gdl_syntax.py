"""Reading and printing game descriptions: KIF, infix, odd and broken text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from extent import examples
from infoset.errors import FormatError
from infoset.gdl.syntax import (
    Atom,
    Description,
    Not,
    Or,
    Place,
    Rule,
    Term,
    Variable,
    atoms,
    clauses,
    parse_gdl,
    parts,
    read_gdl,
    to_action,
    to_term,
)

X, A, B = Variable("x"), Term("a"), Term("b")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("(role X)", Rule(Term("role", (Term("x"),)))),
        ("terminal", Rule(Term("terminal"))),
        ("(terminal)", Rule(Term("terminal"))),
        ("(<= terminal)", Rule(Term("terminal"))),
        ("(succ 1 01) ; a comment (", Rule(Term("succ", (Term("1"), Term("01"))))),
        ("(<= (++ ?X' a) (not (p (a))))", Rule(Term("++", (Variable("x'"), A)), (Not(Atom(Term("p", (A,)))),))),
        ("(<= a (or b (distinct ?x b)))", Rule(A, (Or((Atom(B), Atom(Term("distinct", (X, B))))),))),
        (
            "(<= (next\t(f ?x))\r\n(true;c\n(f ?x)))",
            Rule(Term("next", (Term("f", (X,)),)), (Atom(Term("true", (Term("f", (X,)),))),)),
        ),
    ],
)
def test_kif(text: str, rule: Rule) -> None:
    assert parse_gdl(text).rules == (rule,)


@pytest.mark.parametrize(
    ("infix", "kif"),
    [
        ("role(x).\np :- q.", "(role x) (<= p q)"),
        ("p(X, ?y) :- q(X) & ~r(?y, f(X)), not s % comment", "(<= (p ?x ?y) (q ?x) (not (r ?y (f ?x))) (not s))"),
        ("p :- (a | b & c) & distinct(X, 1)\nq", "(<= p (and (or a b) c) (distinct ?x 1)) q"),
        ("p(_) :- q(_, X)", "(<= (p ?_1) (q ?_2 ?x))"),
    ],
)
def test_infix_is_the_same_language(infix: str, kif: str) -> None:
    assert parse_gdl(infix) == parse_gdl(kif)


@pytest.mark.parametrize("text", ["(p Big big) (q (f ?X BIG))", "p(bIG, big). q(f(X, bIg))"])
def test_words_keep_their_case_where_it_tells_them_apart(text: str) -> None:
    """Keywords fold all the same."""
    description = parse_gdl(f"{text} (ROLE x)" if text[0] == "(" else f"{text} :- rOLE(x)")
    found = {
        part.functor
        for rule in description.rules
        for atom, _ in atoms(rule)
        for part in parts(atom)
        if isinstance(part, Term)
    }
    assert {"big", "role"} < found
    assert len({word for word in found if word.lower() == "big"}) == 3
    assert [description.spelling.write(word) for word in ("big", "x")] == ["big", "x"]


def test_places_are_kept() -> None:
    rule = parse_gdl("; first line\n\n  (<= a\n      (not b))").rules[0]
    assert rule.place == Place(3, 3)
    assert rule.body[0].place == Place(4, 7)


def test_disjunctions_and_negations_unfold() -> None:
    """not(or), not(and) and nested or in disjunctive normal form; not distinct stays, as equality."""
    text = "(<= h (or a (and b (not (or c d)))) (not (and e (not (distinct x y)))))"
    bodies = [" ".join(map(str, c.body)) for c in clauses(parse_gdl(text))]
    assert bodies == ["a (not e)", "a (distinct x y)", "b (not c) (not d) (not e)", "b (not c) (not d) (distinct x y)"]


@pytest.mark.parametrize("name", sorted(p.name for p in (SHARED / "games" / "gdl").glob("*.gdl")) or ["none"])
def test_real_files_round_trip(name: str, shared) -> None:
    description = read_gdl(shared / "games" / "gdl" / name)
    assert len(description.rules) > 15
    assert parse_gdl(str(description)) == description


TERMS = st.recursive(
    st.sampled_from(["a", "1", "++"]).map(Term) | st.sampled_from(["x", "y"]).map(Variable),
    lambda inner: st.builds(Term, st.sampled_from(["f", "<"]), st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=6,
)
ATOMS = st.builds(Term, st.sampled_from(["p", "q", "true"]), st.lists(TERMS, max_size=2).map(tuple))
FORMULAS = st.recursive(
    ATOMS.map(Atom),
    lambda inner: inner.map(Not) | st.lists(inner, min_size=1, max_size=3).map(tuple).map(Or),
    max_leaves=5,
)
RULES = st.builds(Rule, ATOMS, st.lists(FORMULAS, max_size=3).map(tuple))


@given(st.lists(RULES, max_size=4).map(tuple).map(Description))
def test_printed_rules_read_back(description: Description) -> None:
    assert parse_gdl(str(description)) == description


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("(role", "1:6", "expected a term"),
        ("(role x))", "1:9", "expected a term"),
        ("()", "1:2", "expected a name"),
        ("(?x a)", "1:2", "expected a name"),
        ("?x", "1:1", "the variable ?x, expected a relation"),
        ("a\n(<= (p) (not))", "2:9", "0 in 'not', expected one formula"),
        ("(<= p (not a b))", "1:7", "2 in 'not', expected one formula"),
        ("(<= p (or))", "1:7", "expected at least one formula"),
        ("(<= p (q ((a) b)))", "1:11", "expected a name"),
        ("p :- q(", "1:8", "expected a term"),
        ("p :- q & ", "1:10", "expected a literal"),
    ],
)
def test_broken_text_says_where(text: str, place: str, words: str) -> None:
    with pytest.raises(FormatError) as error:
        parse_gdl(text, "g.gdl")
    assert str(error.value).startswith(f"g.gdl:{place}: ")
    assert words in str(error.value)


def test_hostile_text_ends_soon(tmp_path) -> None:
    for text in (
        "(" * 10_000,
        "(f " * 10_000,
        "(<= a " + "(not " * 10_000,
        "p :- " + "~" * 10_000 + "q",
        "p :- " + "(" * 10_000,
    ):
        with pytest.raises(FormatError):
            parse_gdl(text)
    wide = "(<= p " + " ".join(f"(or a{k} b{k})" for k in range(40)) + ")"
    with pytest.raises(FormatError, match="unfold to more than"):
        clauses(parse_gdl(wide))
    (tmp_path / "big.gdl").write_bytes(b" " * (17 << 20))
    with pytest.raises(FormatError, match="at most"):
        read_gdl(tmp_path / "big.gdl")


@examples(300)
@given(st.text(st.sampled_from("()?~&|,.:-; %\npqXnotor<=_1"), max_size=60))
def test_any_text_reads_or_fails_cleanly(text: str) -> None:
    try:
        description = parse_gdl(text)
    except FormatError as error:
        assert "\n" not in str(error)
        return
    assert parse_gdl(str(description)) == description


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("noop", "noop"),
        ("(mark 1 b)", ("mark", 1, "b")),
        ("(1 01 -7 (f 0) -0 1.0)", ("1", "01", -7, ("f", 0), "-0", "1.0")),
        ("(f ٣ ² +1 1_000)", ("f", "٣", "²", "+1", "1_000")),
    ],
)
def test_terms_as_actions(text: str, action: object) -> None:
    """Only canonical integers become numbers, so that a term comes back as it was."""
    term = parse_gdl(f"(p {text})").rules[0].head.arguments[0]
    assert isinstance(term, Term)
    assert to_action(term) == action
    assert to_term(to_action(term)) == term


CONSTANTS = st.sampled_from(["a", "0", "1", "-1", "01", "-0", "1.5", "9" * 99, "9" * 5000]).map(Term)
GROUND = st.recursive(
    CONSTANTS, lambda inner: st.builds(Term, st.sampled_from("fg1"), st.lists(inner, min_size=1).map(tuple))
)


@examples(200)
@given(GROUND)
def test_actions_round_trip(term: Term) -> None:
    assert to_term(to_action(term)) == term
