"""The linter for game descriptions: every condition broken once, real files, repairs."""

import json

import pytest

from command_line import run_infoset as run
from infoset.gdl.checks import ERROR, WARNING, check, repair
from infoset.gdl.library import description, library
from infoset.gdl.syntax import parse_gdl, read_gdl

SOUND = """
(role x) (role random) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal ?r wait) (role ?r))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (sees x (step ?n)) (does random wait) (next (step ?n)))
(<= terminal (true (step 3)))
(goal x 50)
"""


def messages(extra: str, base: str = SOUND, severity: str = ERROR) -> list[str]:
    return [d.message for d in check(parse_gdl(base + extra)) if d.severity == severity]


def test_a_sound_description_has_no_defects() -> None:
    assert check(parse_gdl(SOUND)) == []


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("(<= p (not q)) (<= q p)", "not stratified: p depends on its own negation"),
        ("(<= (p ?x) (role x))", "unsafe: ?x is bound by no positive atom of the body"),
        ("(<= p (role x) (not (q ?y)))", "unsafe: ?y is bound by no positive atom of the body"),
        ("(<= p (distinct ?x a))", "unsafe: ?x is bound by no positive atom of the body"),
        ("(n a) (<= (n ?x) (m ?x)) (<= (m ?x) (n ?x))", None),
        ("(<= (n (s ?x)) (n ?x))", "recursion without bound: ?x in (n ?x) may grow around the cycle"),
        ("(<= (n ?x) (n (s ?x)))", "recursion without bound: ?x in (n (s ?x)) may grow around the cycle"),
        ("(legal x)", "legal takes 2 arguments, not 1"),
        ("(<= p (does x))", "does takes 2 arguments, not 1"),
        ("(true (step 1))", "true cannot be defined by a rule"),
        ("(<= (does x wait) (true (step 1)))", "does cannot be defined by a rule"),
        ("(<= (role y) (succ 1 2))", "roles are facts"),
        ("(goal x 101)", "the goal 101 is not a number from 0 to 100"),
        ("(goal x best)", "the goal best is not a number from 0 to 100"),
        ("(<= p (init (step 1)))", "init is not allowed in a body"),
        ("(<= terminal (does x wait))", "terminal must not depend on does"),
        ("(<= p (does x wait)) (<= (legal x ?r) (role ?r) p)", "legal must not depend on does"),
        ("(<= (init (step ?n)) (true (step ?n)))", "init must not depend on true"),
    ],
)
def test_each_condition(extra: str, message: str | None) -> None:
    assert messages(extra) == ([] if message is None else [message])


@pytest.mark.parametrize("keyword", ["role", "legal", "terminal", "goal"])
def test_what_must_be_there(keyword: str) -> None:
    kept = [str(rule) for rule in parse_gdl(SOUND).rules if rule.head.functor != keyword]
    assert f"no rule for {keyword}" in messages("", "(q)".join(kept).replace("terminal(q)", "(terminal)(q)"))


@pytest.mark.parametrize(
    ("extra", "exact", "message"),
    [
        ("(succ Big big)", True, "Big and big differ only in case and are two words"),
        ("(<= (larger ?x) (succ ?x 1)) (<= (Larger ?x) (larger ?x))", True, "larger and Larger differ only in case"),
        ("(<= (p ?n ?N) (succ ?n ?N))", True, "?n and ?N differ only in case and are two words"),
        ("(<= (p ?x) (Succ ?x 1))", False, "succ and Succ differ only in case and are read as one word"),
        ("(<= (p ?N) (succ ?n 1))", False, "?N and ?n differ only in case and are read as one word"),
        ("(<= (p ?N) (succ ?N 1)) (<= (q ?n) (succ ?n 1))", False, None),  # in different rules
        ("(succ Big 1) (<= (Big ?x) (succ ?x Big))", False, None),  # a constant and a relation
        ("(<= (P ?x) (TRUE (step ?x)) (Not (SUCC ?x 1)) (not (SUCC 1 ?x)))".replace("SUCC", "succ"), False, None),
    ],
)
def test_words_that_differ_only_in_case(extra: str, exact: bool, message: str | None) -> None:
    """They are two words if both mean something by themselves; either way it is said, with the place."""
    description = parse_gdl(SOUND + extra)
    found = [d for d in check(description) if "in case" in d.message]
    assert description.spelling.exact == exact
    assert [d.severity for d in found] == ([WARNING] if message else [])
    assert all(d.message.startswith(message or "") and d.place.line == SOUND.count("\n") + 1 for d in found)
    assert repair(description).spelling == description.spelling
    assert parse_gdl(str(description)) == description


def test_all_defects_at_once_with_places() -> None:
    text = SOUND + "(<= (p ?x) (role x))\n(goal x 700)\n(legal x)\n"
    errors = [d for d in check(parse_gdl(text)) if d.severity == ERROR]
    found = [(d.place.line, d.message.split(":")[0].split()[0]) for d in errors]
    assert found == [(8, "unsafe"), (9, "the"), (10, "legal")]


def test_goals_told_apart_are_stratified() -> None:
    assert messages("(<= (goal x 0) (not (goal x 100)))") == []
    assert messages("(<= (goal x 0) (not (goal x ?v)) (succ ?v 2))") == [
        "not stratified: goal depends on its own negation"
    ]


def test_repairs_are_offered_and_mend() -> None:
    broken = SOUND + "(<= (legal ?p noop) (distinct ?p random) (true (step 1)))\n(role x)\n(base (step ?n))\n"
    description = parse_gdl(broken)
    warnings = [d.message for d in check(description) if d.severity == WARNING]
    assert warnings == [
        "read as (<= (legal ?p noop) (role ?p) (distinct ?p random) (true (step 1)))",
        "the rule is repeated; remove one copy",
        "a declaration with variables is only a hint; it is left out",
    ]
    assert check(repair(description)) == []
    assert check(description)[0].severity == ERROR


BROKEN = {"BattleshipsFog.gdl": 6, "ConnectThreeDecompositionII.gdl": 2}


def test_real_files(shared) -> None:
    """Two files are known to be broken: unsafe rules, and a keyword where none may stand."""
    found = {}
    for path in sorted((shared / "games" / "gdl").glob("*.gdl")):
        errors = [d for d in check(read_gdl(path)) if d.severity == ERROR]
        if errors:
            found[path.name] = len(errors)
    assert found == BROKEN


def test_the_command(tmp_path) -> None:
    (tmp_path / "sound.gdl").write_text(SOUND)
    (tmp_path / "broken.gdl").write_text(SOUND + "(legal x)")
    assert run("check", str(tmp_path / "sound.gdl")).returncode == 0
    done = run("check", str(tmp_path / "broken.gdl"))
    assert done.returncode == 1
    assert "broken.gdl:8:1: error: legal takes 2 arguments, not 1: (legal x)" in done.stdout
    body = json.loads(run("check", str(tmp_path / "broken.gdl"), "--json").stdout)
    assert (body["errors"], len(body["problems"])) == (1, 1)
    (tmp_path / "cut.gdl").write_text("(role")
    assert "cut.gdl:1:6: error: found the end of the text" in run("check", str(tmp_path / "cut.gdl")).stdout


def test_connectives_without_parentheses_are_doubted() -> None:
    """``(<= terminal not open)`` reads as two facts, neither of which is what was meant."""
    text = "(role x) (init a) (legal x go) (goal x 0) (<= terminal not open)"
    defects = [d for d in check(parse_gdl(text)) if "'not' is read as a fact" in d.message]
    assert [d.severity for d in defects] == [WARNING]


@pytest.mark.parametrize(
    ("extra", "line", "message"),
    [
        ("(<= (see x ok) (does x wait))", 8, "see/2 is defined but never used; did you mean sees/2?"),
        ("(<= (sees x ok) (ture (step 1)))", 8, "ture/1 is used but never defined, so it never holds; did you mean true/1?"),
        ("(row a)\n(<= (sees x ?r) (rwo ?r))", 9, "rwo/1 is used but never defined, so it never holds; did you mean row/1?"),
        ("(row a)\n(<= (sees x ?r) (rwo ?r))", 8, "row/1 is defined but never used; did you mean rwo/1?"),
        ("(<= (sees x ok) (succ 1 2 3))", 8, "succ/3 is used but never defined, so it never holds; did you mean succ/2?"),
        ("(unused 1)", 8, "unused/1 is defined but never used"),
    ],
)  # fmt: skip
def test_words_that_have_no_other_side(extra: str, line: int, message: str) -> None:
    found = [d for d in check(parse_gdl(SOUND + extra, "game.gdl")) if d.message == message]
    assert [(d.severity, d.place.line, bool(d.rule)) for d in found] == [(WARNING, line, True)]


def test_each_lone_word_is_told_once() -> None:
    extra = "(<= (sees x ok) (rwo 1)) (<= (sees x no) (rwo 2)) (rest 1) (rest 2)"
    assert len(messages(extra, severity=WARNING)) == 2


def test_keywords_declarations_and_viewers_words_are_no_lone_words() -> None:
    extra = "(base (step 1)) (input x wait) (<= (sees_xml x ?t) (true (step ?t))) (<= (next ?f) (true ?f))"
    assert messages(extra, severity=WARNING) == []


def test_a_file_full_of_lone_words_is_checked_soon() -> None:
    rules = "".join(f"(<= (sees x ok) (word{k}x {k}))" for k in range(5000))
    assert len(messages(rules, severity=WARNING)) == 5000


DOUBTS = {
    "blackjack.gdl": ["action/1 is defined but never used"],
    "mastermind448.gdl": ["number/1 is defined but never used"],
    "minesweeper.gdl": [
        "the word 'not' is read as a fact; write (not …)",
        "action/1 is defined but never used",
        "greaterhan/2 is defined but never used",
    ],
    "rockpaperscissors.gdl": ["action/1 is defined but never used"],
}


def test_no_false_alarms_on_real_files(shared) -> None:
    """Every word that is doubted in them is one that the file really never uses."""
    found = {}
    for path in sorted((shared / "games" / "gdl").glob("*.gdl")):
        doubts = [d.message for d in check(read_gdl(path)) if d.severity == WARNING and "read as (" not in d.message]
        if doubts:
            found[path.name] = doubts
    assert found == DOUBTS


def test_nothing_is_doubted_in_the_library() -> None:
    assert {name: found for name in library() if (found := check(description(name)))} == {}
