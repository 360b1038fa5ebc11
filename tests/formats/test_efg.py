"""Gambit's .efg: real files, hand-made ones, broken and hostile ones."""

import re
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SMALL_GAMES, form_of
from extent import examples
from infoset import GameTree, NativeState, Observed, SequenceForm, TabularPolicy, evaluate, load, solve
from infoset.errors import FormatError, GameRuleError, ImperfectRecallError, ParameterError
from infoset.formats.efg import EfgGame, game_to_efg, parse_efg, read_efg, write_efg
from infoset.match.series import play_series
from infoset.solvers.method import METHODS, parse_method
from infoset.solvers.tabular.solver import TabularMethod
from infoset.testing import check_game
from infoset.tree.exact_numbers import exact_chance_probabilities
from infoset.tree.plans import realisation, uniform
from infoset.view.curves import draw_convergence

ODD = r"""
EFG 2 R "Odd \"but\" legal" { "Ann" "" } "a comment"

c "root" 1 "deal" { "x" 1/3 "x" 2/3 } 1 "paid at once" { 1.5, -1 }
p "" 1 7 "" { "" "" } 0
t "" 2 "win" { 1/3 -1/3 }
p "" 2 1 "same name" { "l" "r" } 3 { 10, 20 }
t "" 2
t "" 0
p "" 1 7 1
t "" 4 "e\d" { 1e2, -1.25 }
p "" 2 2 "same name" { "only" } 0
t "" 0
"""


def test_odd_but_legal() -> None:
    """Inner payoffs add up, numbers are exact, unnamed and repeated moves get names, labels may repeat."""
    efg = parse_efg(ODD)
    assert efg.title == 'Odd "but" legal'
    assert efg.players == ("Ann", "")
    assert efg.outcomes[3].name == r"e\d"
    game = EfgGame(efg, "odd")
    first = game.start().state
    assert [action for action, _ in first.chance_outcomes((None, None))] == ["x", "x'2"]
    second = first.play((None, None), "x").state
    assert second.legal_actions(0) == ("1", "2")
    assert game.paid[2] == (Fraction(3, 2) + Fraction(1, 3), -1 - Fraction(1, 3))
    ends = [game.paid[node] for node, below in enumerate(game.children) if not below]
    assert ends[1] == (Fraction(3, 2) + 10 + Fraction(1, 3), -1 + 20 - Fraction(1, 3))
    assert ends[3] == (Fraction(3, 2) * 2 + 100, -2 - Fraction(5, 4))
    assert parse_efg(write_efg(efg)) == efg
    assert GameTree.of(game).num_terminals == 5


def test_every_real_file_loads_and_round_trips(shared) -> None:
    files = sorted((shared / "games" / "efg").glob("*.efg"))
    assert len(files) == 59
    for path in files:
        game = read_efg(path)
        assert parse_efg(write_efg(game.efg)) == game.efg
        tree = GameTree.of(game)
        assert len(tree.parent) == len(game.efg.nodes)
        check_game(game, plays=5)


def test_gambit_reads_the_same_payoffs(shared) -> None:
    """Expected payoffs of the uniform profile, by Gambit itself where it is installed."""
    pygambit = pytest.importorskip("pygambit")
    for path in sorted((shared / "games" / "efg").glob("*.efg")):
        try:
            theirs = pygambit.read_efg(str(path))
        except ValueError:  # Gambit 16.7 refuses four of these for repeated labels
            continue
        try:
            form = SequenceForm.of(load(str(path)))
        except ImperfectRecallError:
            assert not theirs.is_perfect_recall
            continue
        ours = evaluate(form, realisation(form, uniform(form))).values
        expected = [float(theirs.mixed_behavior_profile().payoff(player)) for player in theirs.players]
        assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", [g for g in SMALL_GAMES if g != "leduc_poker"])
def test_any_game_goes_to_efg_and_back(name: str) -> None:
    """The same information sets, the same payoffs of one random-ish profile."""
    form = form_of(name)
    efg = game_to_efg(load(name))
    assert parse_efg(write_efg(efg)) == efg
    again = EfgGame(efg, "again")
    other = SequenceForm.of(again)
    assert (form.num_histories, form.num_infosets) == (other.num_histories, other.num_infosets)
    assert form.constant_sum == pytest.approx(other.constant_sum)
    for strategies in (uniform,):
        one = evaluate(form, realisation(form, strategies(form)))
        two = evaluate(other, realisation(other, strategies(other)))
        assert one.values == pytest.approx(two.values)
        assert one.best_response_values == pytest.approx(two.best_response_values)


def test_imperfect_recall_names_the_set() -> None:
    """The absent-minded driver passes one set twice."""
    driver = 'EFG 2 R "driver" { "D" } p "" 1 1 "road" { "exit" "on" } 0 t "" 1 "" { 0 } p "" 1 1 0 t "" 2 "" { 4 } t "" 3 "" { 1 }'
    game = EfgGame(parse_efg(driver), "driver")
    check_game(game)
    assert len(GameTree.of(game).parent) == 5
    with pytest.raises(ImperfectRecallError, match=r"'road': it has the histories \[\] and \['on'\]"):
        SequenceForm.of(game)


HEAD = 'EFG 2 R "t" { "a" "b" }\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "expected the header"),
        ('EFG 1 R "t" { "a" }', 1, "format version 2"),
        ('EFG 2 R "t" { "a"', 1, "a player's name"),
        (HEAD + 't "" 1 "" { 1 }', 2, "1 payoffs, expected 2"),
        (HEAD + 't "" 1 "" { 1, nan }', 2, "a payoff, a finite number"),
        (HEAD + 't "" 1 "" { 1, 1/0 }', 2, "denominator"),
        (HEAD + 't "" 1 "" { 1, 1e999 }', 2, "exponent of at most"),
        (HEAD + 't "" 5', 2, "payoffs in braces"),
        (HEAD + 't "" 0 "" { 1, 2 }', 2, "outcome 0"),
        ('EFG 2 R "t" { } t "" 0', 1, "at least one player"),
        (HEAD + 'c "" 1 "" { "x" .333333 "y" .333333 "z" .333333 } 0', 2, "sum to 0.999999"),
        (HEAD + 'p "" 3 1 "" { "x" } 0', 2, "a player from 1 to 2"),
        (HEAD + 'p "" 1 1 "" { } 0', 2, "at least one move"),
        (HEAD + 'p "" 1 1 0', 2, "moves in braces"),
        (HEAD + 'p "" 1 1 "" { "x" } 0', 2, "1 still missing"),
        (HEAD + 'p "" 1 1 "" { "x" } 0\np "" 1 1 "" { "y" } 0\nt "" 0', 3, "other moves of information set 1"),
        (HEAD + 'c "" 1 "" { "x" 1/2 "y" 1/3 } 0', 2, "sum to 0.833333"),
        (HEAD + 'c "" 1 "" { "x" 3/2 "y" -1/2 } 0', 2, "from 0 up"),
        (HEAD + 't "" 0\nt "" 0', 3, "nothing after the last node"),
        (HEAD + 't "unclosed 0', 2, "a closing quote"),
        (HEAD + 't "" 1 "" { 1, 2', 2, "a payoff"),
        (HEAD + "x 1", 2, "a node"),
    ],
)
def test_broken_files_say_where(text: str, line: int, words: str) -> None:
    with pytest.raises(FormatError) as error:
        parse_efg(text, "game.efg")
    assert words in str(error.value)
    assert re.match(rf"game\.efg:{line}:\d+: found .*, expected ", str(error.value))
    assert "\n" not in str(error.value)


@examples(300)
@given(st.data())
def test_random_damage_never_crashes(data: st.DataObject) -> None:
    text = ODD
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", '"', "{", "}", "0", "-", "p", "c", "1/2", "\x00"]))
            + text[at + cut :]
        )
    try:
        efg = parse_efg(text)
    except FormatError:
        return
    assert parse_efg(write_efg(efg)) == efg


def test_hostile_files_end_soon(tmp_path) -> None:
    nested = tmp_path / "nested.efg"
    nested.write_bytes(b"{" * (100 << 20))
    with pytest.raises(FormatError, match="at most"):
        read_efg(nested)
    for text in (
        HEAD + "{" * 10**6,
        HEAD + 't "' + "x" * 10**6,
        HEAD + 't "" 1 "" { ' + "9" * 10**6,
        HEAD + 'p "" 1 1000000000000 0',
    ):
        with pytest.raises(FormatError):
            parse_efg(text)


def test_deep_trees_need_no_recursion() -> None:
    depth = 3000
    text = HEAD + "".join(f'p "" 1 {k} "" {{ "x" "y" }} 0 t "" 0\n' for k in range(1, depth)) + 't "" 1 "" { 1, 2 }'
    game = EfgGame(parse_efg(text), "deep")
    assert SequenceForm.of(game).num_infosets == depth - 1


def test_integer_moves_keep_their_names(tmp_path) -> None:
    """A policy of the native game fits the game written as a file and read again."""
    path = tmp_path / "goof.efg"
    path.write_text(write_efg(game_to_efg(load("goofspiel(num_cards=3)"))))
    form, again = form_of("goofspiel(num_cards=3)"), SequenceForm.of(load(str(path)))
    policy = TabularPolicy.uniform(form)
    assert evaluate(again, policy.plan(again)).nash_conv == pytest.approx(evaluate(form, policy.plan(form)).nash_conv)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=7).filter(any))
def test_chance_sums_to_exactly_one_when_written(weights: list[int]) -> None:
    total = sum(weights)
    exact = exact_chance_probabilities([w / total for w in weights])
    assert exact == tuple(Fraction(w, total) for w in weights)


def matching(size: str) -> str:
    return f"""EFG 2 R "matching" {{ "A" "B" }}
p "" 1 1 "" {{ "l" "r" }} 0
p "" 2 1 "" {{ "l" "r" }} 0
t "" 1 "" {{ {size}, -{size} }}
t "" 2 "" {{ -{size}, {size} }}
p "" 2 1 0
t "" 2
t "" 1
"""


@pytest.mark.parametrize("method", [name for name in METHODS if isinstance(parse_method(name), TabularMethod)])
def test_the_largest_payoffs_are_solved_without_a_warning(method: str, tmp_path: Path) -> None:
    """Every figure is a number, and the curve can be drawn; a method may refuse such a game."""
    game = EfgGame(parse_efg(matching("1e100")), "matching")
    try:
        asked = {"iterations": 2000, "start": "random"}
        takes = parse_method(method).takes
        solution = solve(game, method, **{name: value for name, value in asked.items() if name in takes})
    except ParameterError:
        assert method == "sfrd"
        return
    assert all(map(isfinite, (*solution.values, solution.nash_conv)))
    assert max(map(abs, solution.values)) <= solution.nash_conv + 1e90 < 1e99
    draw_convergence(solution.curve, "matching", tmp_path / "curve.png")


def test_matches_for_the_largest_payoffs_have_an_interval() -> None:
    series = play_series(EfgGame(parse_efg(matching("1e100")), "matching"), ["random", "random"], games=20)
    assert all(agent.interval is not None and isfinite(agent.interval) for agent in series.agents)


def test_larger_payoffs_are_refused_with_their_place() -> None:
    with pytest.raises(FormatError, match=r"m\.efg:4:13: found '1e300', expected a payoff of at most 1e\+100 in size"):
        parse_efg(matching("1e300"), "m.efg")


class _Rich(NamedTuple):
    over: bool = False


class RichState(NativeState, _Rich):
    @property
    def terminal(self) -> bool:
        return self.over

    def legal_actions(self, player: int) -> tuple[str, ...]:
        return () if self.over else ("end",)

    def play_unchecked(self, actions, chance_outcome=None) -> Observed:
        return Observed(RichState(True), (None,))

    def returns(self) -> tuple[float, ...]:
        return (-1e300,)


class RichGame:
    name, players = "rich", ("P1",)

    def start(self) -> Observed:
        return Observed(RichState(), (None,))


def test_larger_payoffs_of_native_games_are_refused_too() -> None:
    with pytest.raises(GameRuleError, match=r"rich: of the payoffs \(-1e\+300,\) some are beyond 1e\+100 in size"):
        GameTree.of(RichGame())
