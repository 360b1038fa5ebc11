"""Descriptions that are broken, hostile or odd: each ends in a message that says where, or in a game that plays."""

import re
import sys
import time
import warnings
from pathlib import Path

import pytest

from infoset import cli, load
from infoset.errors import BudgetError, FormatError, GameRuleError, IllegalActionError
from infoset.gdl import parallel, scalar
from infoset.gdl.checks import ERROR, check
from infoset.gdl.game import GdlGame
from infoset.gdl.grounding import Budget, ground
from infoset.gdl.playouts import random_playouts
from infoset.gdl.propnet import PropNet, compile_propnet
from infoset.gdl.rules import GdlWarning
from infoset.gdl.syntax import parse_gdl, read_gdl

pytestmark = pytest.mark.filterwarnings("ignore::infoset.gdl.rules.EvaluatorWarning")
SHORT = Budget(seconds=0.7, memory=1 << 30, rules=20_000)
PLAYOUTS = [scalar.playouts, parallel.playouts]

COUNTER = """
(role x) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal x go) (true (step ?n)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 3)))
"""
"""A game of two steps for one player; what it is worth is left out."""

ONE_STEP = "(init a) (<= (next b) (true a)) (<= terminal (true b))"


def game_of(text: str, budget: Budget = SHORT) -> GdlGame:
    return GdlGame(parse_gdl(text, "bad.gdl"), budget=budget)


def net_of(text: str) -> PropNet:
    """The network alone: making a game looks for defects by play."""
    description = parse_gdl(text, "bad.gdl")
    return compile_propnet(description, ground(description))


def errors_of(text: str) -> list[str]:
    return [str(defect) for defect in check(parse_gdl(text, "bad.gdl")) if defect.severity == ERROR]


def end_of(game: GdlGame, most: int = 10):
    """The state at the end when everyone always makes the first move."""
    state = game.start().state
    for _ in range(most):
        if state.terminal:
            return state
        moves = [state.legal_actions(player)[0] for player in range(len(game.players))]
        answers = state.chance_outcomes(moves)
        state = state.play(moves, answers[0][0] if answers else None).state
    raise AssertionError(f"no end within {most} steps")


# Characters


@pytest.mark.parametrize(
    "text", ["\n" * 300_000, "; a comment\n" * 30_000, " \t\r\n" * 100_000, ";" * 300_000, "%\n" * 100_000]
)
def test_text_with_nothing_in_it_is_read_at_once(text: str) -> None:
    """Eight times the text takes about eight times as long on any machine; by the square of its length it took 64 times."""
    assert len(parse_gdl(text.replace("%", ";")).rules) == 0

    def seconds(text: str) -> float:
        spent = []
        for _ in range(3):
            begin = time.process_time()
            parse_gdl(text.replace("%", ";"))
            parse_gdl(text)
            spent.append(time.process_time() - begin)
        return min(spent)

    assert seconds(text) < 32 * seconds(text[: len(text) // 8]) + 0.05


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("p(??) :- q.", "1:3"),
        ("p(a;b) :- q.", "1:4"),
        ("p :- q : r.", "1:8"),
        ("p :- or(a, b).", "1:6"),
        ("p :- ~and(a).", "1:7"),
        ("<=(a, b) :- q.", "1:1"),
        ("p(a <= b) :- q.", "1:5"),
    ],
)
def test_infix_text_that_would_mean_something_else_in_kif(text: str, place: str) -> None:
    with pytest.raises(FormatError, match=f"{place}: found"):
        parse_gdl(text)


@pytest.mark.parametrize(
    "name", ["\0", "a\0b", "x" * 100_000, "\u200b", "İ", "ΑΣ", "²", "'", '"', "\\", "{x}", "%", "#", "-1", "part"]
)
def test_any_name_will_do(name: str) -> None:
    """A name may hold every character but white space, parentheses and semicolons; it reaches the moves unharmed."""
    game = game_of(f"(role x) (legal x {name}) (goal x 5) {ONE_STEP} (<= (sees x ({name} ?m)) (does x ?m))")
    (move,) = game.start().state.legal_actions(0)
    assert str(move) == name.lower()
    assert game.start().state.play((move,)).observation(0) == ((name.lower(), move),)


# Large and deep


def facts(count: int) -> str:
    return COUNTER + "(goal x 50)" + "".join(f"(pair {k} {k + 1})\n" for k in range(count))


def seconds(text: str) -> float:
    begin = time.process_time()
    assert not [d for d in check(parse_gdl(text)) if d.severity == ERROR]
    return time.process_time() - begin


def test_reading_takes_time_in_proportion() -> None:
    """Eight times the facts take about eight times as long; a quadratic step would take 64 times as long."""
    seconds(facts(500))
    assert seconds(facts(12_000)) < 24 * seconds(facts(1_500)) + 1


@pytest.mark.slow
def test_ten_megabytes_of_facts(tmp_path: Path) -> None:
    text = facts(540_000)
    assert len(text) > 10_000_000
    (tmp_path / "big.gdl").write_text(text)
    description = read_gdl(tmp_path / "big.gdl")
    assert len(description.rules) > 540_000
    assert check(description) == []
    assert end_of(GdlGame(description, budget=SHORT)).returns() == (50.0,)


def test_a_long_chain_of_relations() -> None:
    """What depends on what is found without going through every pair of relations."""
    chain = "".join(f"(<= p{k} p{k + 1} (not q{k + 1})) (<= q{k} q{k + 1})" for k in range(4_000))
    begin = time.process_time()
    assert errors_of(COUNTER + "(goal x 50)" + chain) == []
    assert time.process_time() - begin < 8


def test_many_negated_goals() -> None:
    """Telling rules apart by their arguments stays quick where hundreds of them negate each other."""
    ladder = "".join(f"(<= (goal x {k}) (not (goal x {k + 1})))" for k in range(100)) + "(goal x 100)"
    many = "".join(f"(<= (p {k}) (not (p {k + 1})))" for k in range(2_000))
    begin = time.process_time()
    assert errors_of(COUNTER + ladder + many) == []
    assert errors_of(COUNTER + ladder + many + "(<= (p 2000) (p 0))")[0].startswith("bad.gdl:6:")
    assert time.process_time() - begin < 8


@pytest.mark.filterwarnings("ignore:.*is defined but never used:infoset.gdl.rules.GdlWarning")
def test_one_rule_with_thousands_of_literals() -> None:
    wide = "(<= (p ?x0) " + " ".join(f"(q ?x{k} ?x{k + 1})" for k in range(3_000)) + ") (q a a)"
    assert end_of(game_of(COUNTER + "(goal x 50)" + wide)).returns() == (50.0,)
    unsafe = "(<= (p " + " ".join(f"?x{k}" for k in range(2_000)) + ") (q a))"
    messages = errors_of(COUNTER + "(goal x 50)" + unsafe)
    assert len(messages) == 2_000
    assert max(map(len, messages)) < 3_000


def test_a_huge_disjunctive_normal_form() -> None:
    many = "(<= p " + "(or a b) " * 40 + ")"
    long = "(<= p " + "(or a b) " * 16 + "(q) " * 1_000 + ")"
    for text in (many, long):
        with pytest.raises(FormatError, match=r"bad\.gdl:6:12: disjunctions unfold to more than"):
            game_of(COUNTER + "(goal x 1) " + text)


@pytest.mark.parametrize("text", ["(" * 10_000, "(role x) (init " + "(f " * 10_000, "(<= p " + "(not " * 10_000])
def test_ten_thousand_parentheses(text: str, tmp_path: Path) -> None:
    (tmp_path / "deep.gdl").write_text(text)
    with pytest.raises(FormatError, match=r"deep\.gdl:1:\d+: found"):
        load(str(tmp_path / "deep.gdl"))


def test_moves_of_fifty_levels() -> None:
    deep = "(f " * 50 + "a" + ")" * 50
    game = game_of(f"(role x) {ONE_STEP} (legal x {deep}) (goal x 5) (<= (sees x ?m) (does x ?m))")
    (move,) = game.start().state.legal_actions(0)
    step = game.start().state.play((move,))
    assert step.observation(0) == (move,)
    assert step.state.terminal


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_description_with_many_propositions(count: int) -> None:
    text = "(role x) (legal x go) (goal x 1) (<= (next ?f) (true ?f)) (<= terminal (true (c 0)))"
    text += "".join(f"(init (c {k}))" for k in range(count))
    begin = time.process_time()
    description = parse_gdl(text)
    net = compile_propnet(description, ground(description, Budget(seconds=60)))
    assert len(net.base) == count
    assert scalar.playouts(net, 3).longest == 0
    assert time.process_time() - begin < 90


# Without end


GROWING = {
    "one new term a step": "(<= (next (f ?x)) (true ?x))",
    "all pairs": "(<= (next (f ?x ?y)) (true ?x) (true ?y)) (<= (next ?x) (true ?x))",
    "moves": "(<= (legal x (f ?m)) (true (last ?m))) (<= (next (last ?m)) (does x ?m)) (init (last a))",
    "percepts": "(<= (sees x (f ?p)) (true ?p)) (<= (next (g ?p)) (true ?p))",
    "terms that double": "(p0 a) (init (d a)) (<= (next (d (f ?x ?x))) (true (d ?x)))",
    "a table of all triples": "(<= (p ?a ?b ?c) (n ?a) (n ?b) (n ?c)) (<= (next (q ?a ?b)) (p ?a ?b ?c))"
    + "".join(f"(n {k})" for k in range(60)),
}


@pytest.mark.filterwarnings("ignore:.*is defined but never used:infoset.gdl.rules.GdlWarning")
@pytest.mark.parametrize("rules", GROWING.values(), ids=GROWING)
def test_rules_that_ground_for_ever(rules: str) -> None:
    """The grounder is cut off; the game is then played state by state, or refused with a reason."""
    begin = time.process_time()
    try:
        game = game_of("(role x) (legal x go) (init a) (goal x 1) (<= terminal (true never))" + rules)
    except BudgetError as error:
        assert "grow beyond" in str(error) or "more than" in str(error)
    else:
        state = game.start().state
        for _ in range(3):
            assert not state.terminal
            state = state.play((state.legal_actions(0)[0],)).state
    assert time.process_time() - begin < 60


NUMBERS = "".join(f"(n {k})" for k in range(101))
BLOWING_UP = {
    "a join": ("(<= (legal x (go ?a ?b ?c ?d)) (n ?a) (n ?b) (n ?c) (n ?d))", "more than 1,000,000 ways to match"),
    "recursion": ("(<= (next (f ?x)) (true ?x))", "terms grow beyond 200 levels"),
    "a cycle": (
        "(<= (e ?a ?b ?c) (n ?a) (n ?b) (n ?c) (e 0 0 0)) (e 0 0 0) (<= (sees x (ok ?c)) (e ?a ?b ?c))",
        "more than 1,0",
    ),
}


@pytest.mark.parametrize("name", [pytest.param("a join", marks=pytest.mark.slow), "recursion", "a cycle"])
def test_rules_that_blow_up_are_named_with_their_place(name: str) -> None:
    rule, words = BLOWING_UP[name]
    text = f"(role x) (init a) (legal x go) (goal x 1)\n(<= terminal (true b)) (<= b (n 1))\n{NUMBERS}\n{rule}"
    with pytest.warns(UserWarning, match="b/0 is defined but never used"), pytest.raises(BudgetError) as error:
        state = GdlGame(parse_gdl(text, "blow.gdl"), budget=Budget(rules=1000)).start().state
        for _ in range(300):
            state = state.play((state.legal_actions(0)[0],)).state
    assert re.match(r"blow\.gdl:4:1: " + words, str(error.value))
    assert f": {rule.partition(' (e 0 0 0) (')[0]}" in str(error.value)


def test_a_game_without_init_starts_with_nothing() -> None:
    """It is doubted, and plays the same in each evaluator."""
    text = "(role x) (legal x go) (<= (next done) (does x go)) (<= terminal (true done)) (goal x 7)"
    for budget in (Budget(), Budget(rules=0)):
        with pytest.warns(GdlWarning, match=r"bad\.gdl:1:1: warning: no rule for init; the game starts with the empty"):
            game = game_of(text, budget)
        assert (game.rules.propnet is None) == (budget.rules == 0)
        assert game.start().state.facts == frozenset()
        assert end_of(game).returns() == (7.0,)
        played = random_playouts(game, 10)
        assert (played.finished, played.longest) == (10, 1)
    assert [playouts(net_of(text), 10).finished for playouts in PLAYOUTS] == [10, 10]


def test_the_empty_state_has_a_name() -> None:
    text = "(role x) (<= (legal x go) (true a)) (<= (next a) (true b)) (<= (next b) (true a)) (<= terminal (true b)) (goal x 7)"
    with pytest.warns(GdlWarning, match="no rule for init"):
        game = game_of(text)
    with pytest.raises(GameRuleError, match="x has no legal move, and the game is not over, at the empty state"):
        game.start().state.legal_actions(0)
    assert random_playouts(game, 10).stuck_at == {"x": "the empty state"}


def test_static_terms_that_grow_are_refused() -> None:
    """Where the rules alone, without a state, yield terms without end, whoever asks what needs them is told."""
    wide = "(p0 a)" + "".join(f"(<= (p{k + 1} (f ?x ?x)) (p{k} ?x))" for k in range(40)) + "(<= (goal x 1) (p40 ?x))"
    with pytest.raises(BudgetError, match="terms grow beyond"):
        game_of(COUNTER + wide).start().state.returns()
    deep = "(p0 a)" + "".join(f"(<= (p{k + 1} {'(f ' * 150}?x{')' * 150}) (p{k} ?x))" for k in range(9))
    with pytest.raises(BudgetError, match="terms grow beyond"):
        game_of(COUNTER + deep + "(<= (goal x 1) (p9 ?x))").start().state.returns()


@pytest.mark.parametrize("playouts", PLAYOUTS)
def test_a_game_without_end(playouts) -> None:
    text = "(role x) (legal x go) (init a) (goal x 1) (<= (next a) (true a)) (<= terminal (true b))"
    found = playouts(net_of(text), 100, max_steps=50)
    assert (found.finished, found.unfinished) == (0, 100)
    assert not game_of(text).start().state.play(("go",)).state.terminal


# Against the rules of the language


@pytest.mark.parametrize(
    ("rules", "place", "words"),
    [
        ("(role x) (<= (legal x ?m) (true a)) (goal x 1)", "1:10", "unsafe: ?m is bound by no positive atom"),
        ("(role x) (legal ?r go) (goal x 1)", "1:10", "unsafe: ?r is bound by no positive atom"),
        ("(legal x go) (goal x 1)", "1:1", "no rule for role"),
        ("(role ?r) (legal x go) (goal x 1)", "1:1", "roles are facts"),
        ("(role x) (legal x go) (goal x 101)", "1:23", "the goal 101 is not a number from 0 to 100"),
        ("(role x) (legal x go) (goal x ²)", "1:23", "the goal ² is not a number from 0 to 100"),
        ("(role x) (legal x go) (goal x 00000000000000007)", "1:23", "is not a number from 0 to 100"),
        ("(role x) (legal x go) (goal x 1) (<= p (not q)) (<= q p)", "1:45", "not stratified: p depends on its own"),
        ("(role x) (legal x go) (goal x 1) (<= p (not p))", "1:45", "not stratified: p depends on its own negation"),
    ],
)
def test_what_is_refused_with_its_place(rules: str, place: str, words: str) -> None:
    with pytest.raises(FormatError) as error:
        game_of(f"{rules} {ONE_STEP}")
    assert str(error.value).startswith(f"bad.gdl:{place}: ")
    assert words in str(error.value)


def test_negation_around_a_cycle_of_ground_atoms() -> None:
    """Where nobody has checked the rules, the network finds the cycle."""
    text = "(role x) (legal x go) (goal x 1) (init a) (<= (p ?x) (true ?x) (not (q ?x))) (<= (q ?x) (p ?x))"
    with pytest.raises(FormatError, match=r"bad\.gdl: not stratified: \(\w a\) depends on its own negation"):
        net_of(text + "(<= terminal (q a))")


@pytest.mark.parametrize("role", ["role", "true", "terminal", "next", "not", "or", "distinct", "1", "(f a)"])
def test_roles_may_have_any_name(role: str) -> None:
    game = game_of(f"(role {role}) (legal {role} {role}) (goal {role} 7) {ONE_STEP}")
    assert game.players == (role,)
    assert end_of(game).returns() == (7.0,)


def test_a_role_that_stands_twice_is_one_role() -> None:
    with pytest.warns(UserWarning, match="the rule is repeated"):
        game = game_of(f"(role x) (legal x go) (role x) (goal x 7) {ONE_STEP}")
    assert game.players == ("x",)


# Against the rules of play


@pytest.mark.parametrize("playouts", PLAYOUTS)
def test_two_goal_values(playouts) -> None:
    """The rule that stands first counts; playouts say how often it happened."""
    text = COUNTER + "(<= (goal x 70) (true (step 3))) (goal x 30)"
    assert end_of(game_of(text)).returns() == (70.0,)
    found = playouts(net_of(text), 70)
    assert found.several_goals == {"x": 70}
    assert found.returns["x"].value == 70


@pytest.mark.parametrize("playouts", PLAYOUTS)
def test_a_missing_goal_value(playouts) -> None:
    """It counts as 0, and playouts say how often it happened."""
    text = COUNTER + "(<= (goal x 70) (true (step 1)))"
    assert end_of(game_of(text)).returns() == (0.0,)
    found = playouts(net_of(text), 70)
    assert found.without_goal == {"x": 70}
    assert found.returns["x"].value == 0


def test_goals_from_tables_that_are_no_numbers() -> None:
    """Values that a rule computes are only known in play; what is not a number is no goal."""
    table = "".join(f"(worth {value})" for value in ("²", "1e3", "-3", "best", "9" * 40, "77"))
    assert end_of(game_of(COUNTER + "(<= (goal x ?v) (worth ?v))" + table)).returns() == (77.0,)


STUCK = (
    "(role x) (role y) (legal x go) (<= (legal y go) (true a)) (goal x 1) (goal y 1) (<= (next b) (true a)) (init a)"
)


def test_a_role_without_a_move() -> None:
    """The message names the role and the state, whoever meets it first."""
    text = STUCK + "(<= terminal (true c))"
    words = "y has no legal move, and the game is not over, at b"
    for playouts in PLAYOUTS:
        assert playouts(net_of(text), 10).stuck_at == {"y": "b"}
    with pytest.raises(GameRuleError, match=words):
        end_of(game_of(text))


def test_a_role_without_a_move_where_no_fact_holds() -> None:
    """The state has no text of its own; the message does not break off before it."""
    text = STUCK.replace("(<= (next b) (true a))", "") + "(<= terminal (true c))"
    words = "y has no legal move, and the game is not over, at the empty state$"
    for playouts in PLAYOUTS:
        assert playouts(net_of(text), 10).stuck_at == {"y": "the empty state"}
    with pytest.raises(GameRuleError, match=words):
        end_of(game_of(text))


def test_nature_without_a_move() -> None:
    text = STUCK.replace("role y", "role random").replace(" y ", " random ") + "(<= terminal (true c))"
    with pytest.raises(GameRuleError, match="random has no legal move, and the game is not over, at b"):
        end_of(game_of(text))


@pytest.mark.parametrize("move", ["gone", ("go", 1), ("no", ("such", "functor")), 7, "", None])
def test_a_move_that_is_not_on_offer(move: object) -> None:
    state = game_of(COUNTER + "(goal x 50)").start().state
    with pytest.raises(IllegalActionError, match="player 0 cannot play"):
        state.play((move,))
    with pytest.raises(IllegalActionError, match="a joint move has 1 entries"):
        state.play(())
    with pytest.raises(IllegalActionError, match="chance cannot choose"):
        state.play(("go",), "luck")


@pytest.mark.parametrize("playouts", PLAYOUTS)
def test_a_game_that_is_over_at_the_start(playouts) -> None:
    text = "(role x) (init a) (legal x go) terminal (goal x 42)"
    state = game_of(text).start().state
    assert state.terminal
    assert state.legal_actions(0) == ()
    assert state.returns() == (42.0,)
    with pytest.raises(IllegalActionError, match="the game is over"):
        state.play(("go",))
    found = playouts(net_of(text), 70)
    assert (found.finished, found.longest, found.returns["x"].value) == (70, 0, 42)


@pytest.mark.parametrize("playouts", PLAYOUTS)
def test_nature_alone(playouts) -> None:
    """A description may have no players; there is nothing to win, and nothing breaks."""
    text = f"(role random) (legal random go) (legal random wait) (goal random 3) {ONE_STEP}"
    game = game_of(text)
    assert game.players == ()
    assert end_of(game).returns() == ()
    assert playouts(net_of(text), 70).finished == 70


# The command line


BAD_FILES = {
    "empty": "",
    "cut off": "(role x) (init",
    "unbalanced": "(role x))",
    "nothing but comments": "; a game\n" * 1_000,
    "not text": "\x00\xff\x00(((",
    "no roles": f"(legal x go) (goal x 1) {ONE_STEP}",
    "not stratified": f"(role x) (legal x go) (goal x 1) (<= p (not p)) {ONE_STEP}",
    "stuck": STUCK + "(<= terminal (true c))",
    "chance alone": f"(role random) (legal random go) (goal random 3) {ONE_STEP}",
    "over at once": "(role x) (role y) (init a) (legal x go) (legal y go) terminal (goal x 42) (goal y 1)",
    "no end": "(role x) (role y) (init a) (next a) (legal x go) (legal y go) (<= terminal (true b)) (goal x 1) (goal y 1)",
    "no goal": f"(role x) (role y) (legal x go) (legal y go) (<= (goal x 1) (true a)) (goal y 1) {ONE_STEP}",
    "terms that grow": "(role x) (role y) (init a) (legal x go) (legal y go) (<= (next (f ?x)) (true ?x))"
    "(<= terminal (true b)) (goal x 1) (goal y 1)",
}


@pytest.mark.parametrize("command", ["check", "solve", "match"])
@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_commands_never_show_a_traceback(
    command: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what is wrong, where something is; nothing that happens counts as a bug of ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(GdlGame.__init__, "__defaults__", ("", SHORT))  # nobody waits ten seconds for the grounder
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command line replaces it
    (tmp_path / "bad.gdl").write_text(text)
    arguments = {
        "check": ["--simulate", "20", "--max-steps", "100"],
        "solve": ["--iterations", "3"],
        "match": ["random", "random"],
    }
    monkeypatch.setattr(sys, "argv", ["infoset", command, "bad.gdl", *arguments[command]])
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        status = cli.run_command()
    shown = capsys.readouterr()
    print(command, status, shown.err[-300:], shown.out[-300:])
    said = [line for line in shown.err.splitlines() if line.startswith("infoset: ")]
    assert len([line for line in said if "evaluated state by state" not in line]) <= 1
    assert len(said) <= 2
    assert status in (0, 1)
    assert "internal error" not in shown.err
    assert "Traceback" not in shown.err + shown.out
