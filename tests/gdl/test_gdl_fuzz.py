"""Real game files, damaged at random: every one ends in a game that plays or in an error of ours.

A case is a number: the same number gives the same text.  A case that fails prints its number, a smaller text that
fails in the same way, and how to run it again: ``python tests/gdl/test_gdl_fuzz.py library 17``.
"""

import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from conftest import SHARED
from extent import sample
from infoset.errors import InfosetError
from infoset.gdl import parallel, scalar
from infoset.gdl import rules as rules_module
from infoset.gdl.checks import ERROR, check, repair
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.library import library
from infoset.gdl.rules import GdlWarning
from infoset.gdl.scalar import ScalarEvaluator
from infoset.gdl.syntax import And, Argument, Atom, Description, Formula, Not, Variable, parse_gdl

BUDGET = Budget(seconds=1.0, memory=1 << 30, rules=4_000)
PROBE_STEPS = {ScalarEvaluator: 50, LazyEvaluator: 4}  # fewer than in earnest: most of a case's time goes there
MAX_PROBE_LENGTH = 10
BUILT = 6  # one sound case in so many is grounded and played
SECONDS = 300  # what one case may take before it counts as hung
SAMPLE, EVERY = sample(50, 200), 5_000  # cases of each of the two sources: a sample, and all of them

TOKENS = re.compile(r"\s+|;[^\n]*|[()]|[^\s();]+")
KEYWORDS = (
    "role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees", "distinct", "base", "input", "percept",
    "not", "and", "or", "<=", "random",
)  # fmt: skip
HOSTILE = (
    "(", ")", "((((", "))))", "<=", "(<=", "?", "??", "?\0", "\0", "a\0b", "x" * 5_000, "?" + "v" * 5_000, ";", "%", ":-", ".",
    "~", "&", "|", ",", "-1", "0", "00", "1e9", "101", "100", "9" * 40, "0" * 12 + "7", "²", "٣", "½", "Ⅷ", "İ", "ẞ", "ΑΣ", "\u200b",
    "\u2028", "\x85", "\x1f", "\ufeff", "\U0001f3b2", "'", '"', "\\", "#", "part 0", "_", "{", "[1]", "$", "@x", "()", "(())", "(f)",
    "(not)", "(or)", "(and)", "(not (not x))", "(or x)", "(<= p)", "(<= p p)", "(<= p (not p))", "(true ?x)", "(does ?r ?m)",
    "(goal ?r ?g)", "(legal ?r ?m)", "(distinct ?x ?y)", "(not (distinct ?x ?y))", "(s (s (s ?x)))", "(next (s ?x))", "(role q)",
    "(<= (next (s ?x)) (true ?x))", "(<= (next (f ?x ?y)) (true ?x) (true ?y))", "(<= (next ?x) (true ?x))", "(role (f a))",
    "(<= (legal ?r (f ?x)) (role ?r) (true ?x))", "(<= (sees ?r ?x) (role ?r) (true ?x))", "(<= (goal ?r 7) (role ?r))",
    "(<= (n (s ?x)) (n ?x) (m ?x))", "(" * 300, "(f " * 300, "(not " * 300, "(f " * 150 + "x" + ")" * 150,
)  # fmt: skip

Edit = Callable[[list[str], Random], list[str]]


def names(records: list[str]) -> list[int]:
    """Where the names stand."""
    return [k for k, record in enumerate(records) if record[0] not in "();?" and not record.isspace()]


def variables(records: list[str]) -> list[int]:
    """Where the variables stand."""
    return [k for k, record in enumerate(records) if record[0] == "?"]


def spans(records: list[str], top: bool = False) -> list[tuple[int, int]]:
    """The parts in parentheses, with them; only the outermost if ``top``."""
    begins, found = [], []
    for k, record in enumerate(records):
        if record == "(":
            begins.append(k)
        elif record == ")" and begins:
            begin = begins.pop()
            if not top or not begins:
                found.append((begin, k + 1))
    return found


def delete(records: list[str], rng: Random) -> list[str]:
    k = rng.randrange(len(records))
    return records[:k] + records[k + 1 :]


def duplicate(records: list[str], rng: Random) -> list[str]:
    k = rng.randrange(len(records))
    return [*records[: k + 1], " ", *records[k:]]


def swap(records: list[str], rng: Random) -> list[str]:
    j, k = rng.randrange(len(records)), rng.randrange(len(records))
    records[j], records[k] = records[k], records[j]
    return records


def move_parenthesis(records: list[str], rng: Random) -> list[str]:
    found = [k for k, record in enumerate(records) if record in "()"]
    if found and rng.random() < 0.7:
        mark = records.pop(rng.choice(found))
        near = rng.randrange(len(records) + 1)
        return [*records[:near], mark, *records[near:]]
    k = rng.randrange(len(records))
    return [*records[:k], rng.choice("()"), *records[k:]]


def edit_rules(records: list[str], rng: Random) -> list[str]:
    """Leave a rule out, say it twice, or exchange it with another."""
    return _edit_spans(records, rng, spans(records, top=True))


def edit_parts(records: list[str], rng: Random) -> list[str]:
    """The same with a literal or a term."""
    return _edit_spans(records, rng, spans(records))


def _edit_spans(records: list[str], rng: Random, found: list[tuple[int, int]]) -> list[str]:
    if not found:
        return records
    begin, end = rng.choice(found)
    other_begin, other_end = rng.choice(found)
    how = rng.randrange(4)
    if how == 0:
        return records[:begin] + records[end:]
    if how == 1:
        return [*records[:other_begin], *records[begin:end], " ", *records[other_begin:]]
    if how == 2:
        return [*records[:begin], *records[other_begin:other_end], *records[end:]]
    word = rng.choice(["(not ", "(or ", "(and ", "(s ", "(true ", "(next ", "(<= ", "("])
    return [*records[:begin], word.strip(), " ", *records[begin:end], ")", *records[end:]]


def rename(records: list[str], rng: Random) -> list[str]:
    """One name by another of the file, or by a keyword."""
    found = names(records)
    if found:
        records[rng.choice(found)] = rng.choice(KEYWORDS) if rng.random() < 0.2 else records[rng.choice(found)]
    return records


def rename_everywhere(records: list[str], rng: Random) -> list[str]:
    found = names(records)
    if not found:
        return records
    old, new = records[rng.choice(found)], records[rng.choice(found)]
    return [new if record == old else record for record in records]


def exchange_variable(records: list[str], rng: Random) -> list[str]:
    """One variable by another, or by a name; or the other way round."""
    found, others = variables(records), names(records)
    if found and others:
        where = rng.choice(found if rng.random() < 0.8 else others)
        records[where] = records[rng.choice(found if rng.random() < 0.7 else others)]
    return records


def insert_hostile(records: list[str], rng: Random) -> list[str]:
    k, record = rng.randrange(len(records) + 1), rng.choice(HOSTILE)
    if rng.random() < 0.3:
        return [*records, "\n", record]
    return [*records[:k], " ", record, " ", *records[k + (rng.random() < 0.3) :]]


def truncate(records: list[str], rng: Random) -> list[str]:
    return records[: rng.randrange(len(records))]


def splice(records: list[str], rng: Random) -> list[str]:
    """The first part of this file, the last part of another."""
    other = TOKENS.findall(rng.choice(list(library().values())).read_text(encoding="utf-8"))
    if rng.random() < 0.5:
        return records[: rng.randrange(len(records))] + other[rng.randrange(len(other)) :]
    rules = [records[begin:end] for begin, end in spans(records, top=True)]
    rules += [other[begin:end] for begin, end in spans(other, top=True)]
    return [record for rule in rng.sample(rules, len(rules) // 2) for record in [*rule, "\n"]]


GENTLE: tuple[Edit, ...] = (edit_rules, edit_parts, rename, rename, rename_everywhere, exchange_variable)
ROUGH: tuple[Edit, ...] = (
    delete, duplicate, swap, move_parenthesis, insert_hostile, insert_hostile, truncate, splice,
)  # fmt: skip


@cache
def sources(which: str) -> tuple[str, ...]:
    """The texts to damage."""
    if which == "library":
        return tuple(file.read_text(encoding="utf-8") for file in library().values())
    found = sorted((SHARED / "games" / "gdl").glob("*.gdl"))
    return tuple(path.read_text(encoding="utf-8", errors="replace") for path in found)


def text_of(which: str, case: int) -> str:
    """The damaged text of a case."""
    rng = Random(f"{which} {case}")
    text = rng.choice(sources(which))
    if rng.random() < 0.08:
        text = infix(parse_gdl(text))
        for _ in range(rng.randrange(4)):
            k = rng.randrange(len(text))
            text = text[:k] + rng.choice([*"()?~&|,.:;-_X% \n", *HOSTILE, *KEYWORDS]) + text[k + rng.randrange(3) :]
        return text
    records = TOKENS.findall(text)
    rough = rng.random() < 0.4
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
        edit = rng.choice(ROUGH if rough else GENTLE)
        records = edit(records, rng) or ["("]
    return "".join(records)


def infix(description: Description) -> str:
    """The same rules in the other notation."""

    def term(argument: Argument) -> str:
        if isinstance(argument, Variable):
            return f"?{argument.name}"
        inside = ", ".join(map(term, argument.arguments))
        return f"{argument.functor}({inside})" if inside else argument.functor

    def formula(part: Formula) -> str:
        if isinstance(part, Atom):
            return term(part.term)
        if isinstance(part, Not):
            return f"~{formula(part.formula)}"
        return f"({(' & ' if isinstance(part, And) else ' | ').join(map(formula, part.parts))})"

    lines = []
    for rule in description.rules:
        body = " & ".join(map(formula, rule.body))
        lines.append(f"{term(rule.head)} :- {body}." if body else f"{term(rule.head)}.")
    return "\n".join(lines)


def try_text(text: str, build: bool, seed: int = 0) -> str:
    """How far a text comes; the name of the error that ends it, where one does.  Only ``InfosetError`` is allowed."""
    try:
        description = parse_gdl(text, "damaged.gdl")
        assert parse_gdl(str(description)) == description, "printed rules read back differently"
        defects = check(description)
        for defect in defects:
            assert "\n" not in str(defect)
            assert "damaged.gdl:" in str(defect)
        if any(defect.severity == ERROR for defect in defects):
            return "defects"
        assert not [d for d in check(repair(description)) if d.severity == ERROR]
        return play(description, seed) if build else "sound"
    except InfosetError as error:
        assert str(error)
        assert "\n" not in str(error)
        return type(error).__name__


def play(description: Description, seed: int) -> str:
    """A few steps through the interface of games, then playouts by both evaluators."""
    game = GdlGame(description, budget=BUDGET)
    rng = Random(seed)
    generator = np.random.default_rng(seed)
    state = game.start().state
    for _ in range(4):
        assert len(state.returns()) == len(game.players)
        if state.terminal or too_many_answers(game, state):
            break
        moves = [rng.choice(state.legal_actions(player)) for player in range(len(game.players))]
        answers = state.chance_outcomes(moves)
        assert not answers or abs(sum(probability for _, probability in answers) - 1) < 1e-9
        step = state.play(moves, state.draw(moves, generator))
        assert hash(step) == hash(step)
        state = step.state
    if game.rules.propnet is None:
        return "lazy"
    ends = []
    for playouts in (scalar.playouts, parallel.playouts):
        try:
            found = playouts(game.rules.propnet, 65, seed, max_steps=20)
        except InfosetError as error:
            ends.append(type(error).__name__)
        else:
            assert found.finished + found.unfinished + sum(found.stuck.values()) == 65
            ends.append("net")
    return ends[0]


def too_many_answers(game: GdlGame, state: Any) -> bool:
    """Whether chance has so many moves that listing what each leads to takes long."""
    return game.rules.random is not None and len(game.rules.legal_actions(state.key, game.rules.random)) > 500


class HangError(Exception):
    """A case took too long."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise ``HangError`` in what takes longer."""

    def ring(*_: Any) -> None:
        raise HangError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(text: str, build: bool, seed: int) -> tuple[str, str]:
    """What became of a text, and the traceback where that is not allowed."""
    try:
        with limit(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", GdlWarning)
            return try_text(text, build, seed), ""
    except Exception as error:
        return f"{type(error).__name__}", traceback.format_exc(limit=-6)


def smaller(text: str, build: bool, seed: int, seconds: float = 20.0) -> str:
    """The text with rules, then records, left out while it still fails in the same way."""
    wanted, _ = outcome(text, build, seed)
    end = time.monotonic() + seconds
    records = TOKENS.findall(text)
    size = len(records) // 2
    while size and time.monotonic() < end:
        for begin in range(0, len(records), size):
            shorter = records[:begin] + records[begin + size :]
            what, why = outcome("".join(shorter), build, seed)
            if why and what == wanted:
                records = shorter
                break
            if time.monotonic() > end:
                break
        else:
            size //= 2
    return "".join(records)


def run_case(which: str, case: int) -> str:
    text = text_of(which, case)
    build = case % BUILT == 0
    what, why = outcome(text, build, case)
    if why:
        again = f"python tests/gdl/test_gdl_fuzz.py {which} {case}"
        pytest.fail(f"{which} {case}: {why}\n{again}\nsmaller:\n{smaller(text, build, case)[:3000]}", pytrace=False)
    return what


@cache
def compile_kernels() -> None:
    """Play two games, one with a loop in its network, so that no case is charged with compiling."""
    loop = "(role x) (legal x go) (init a) (<= p q) (<= q p) (<= q (true a)) (<= terminal q) (goal x 1)"
    for text in (sources("library")[0], loop):
        game = GdlGame(parse_gdl(text))
        assert game.rules.propnet is not None
        state = game.start().state
        if not state.terminal:
            state.chance_outcomes([state.legal_actions(player)[0] for player in range(len(game.players))])
        for playouts in (scalar.playouts, parallel.playouts):
            playouts(game.rules.propnet, 65)


@pytest.fixture
def quick_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building a game looks for leaks of information by play; here a little of that must do."""
    compile_kernels()
    monkeypatch.setattr(rules_module, "PROBE_STEPS", PROBE_STEPS)
    monkeypatch.setattr(rules_module, "MAX_PROBE_LENGTH", MAX_PROBE_LENGTH)


@pytest.mark.parametrize("block", range(5))
def test_damaged_library_files(block: int, quick_probes: None) -> None:
    size = SAMPLE // 5
    for case in range(block * size, (block + 1) * size):
        run_case("library", case)


@pytest.mark.parametrize("block", range(5))
def test_damaged_real_files(block: int, quick_probes: None, shared: Path) -> None:
    size = SAMPLE // 5
    for case in range(block * size, (block + 1) * size):
        run_case("shared", case)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
@pytest.mark.parametrize("which", ["library", "shared"])
def test_ten_thousand(which: str, block: int, quick_probes: None, request: pytest.FixtureRequest) -> None:
    """About ten minutes."""
    if which == "shared":
        request.getfixturevalue("shared")
    size = EVERY // 20
    for case in range(block * size, (block + 1) * size):
        run_case(which, case)


if __name__ == "__main__":
    compile_kernels()
    rules_module.PROBE_STEPS.update(PROBE_STEPS)
    rules_module.MAX_PROBE_LENGTH = MAX_PROBE_LENGTH
    chosen = text_of(sys.argv[1], int(sys.argv[2]))
    print(chosen)
    print(*outcome(chosen, int(sys.argv[2]) % BUILT == 0, int(sys.argv[2])), sep="\n")
