"""What actions tell: hand-solved strategies, and bounds of mutual information."""

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from command_line import run_infoset
from infoset import SequenceForm, TabularPolicy, find_conventions, load
from infoset.tree.plans import random_interior

HANABI = "tiny_hanabi(game=F)"


def test_a_perfect_code_says_everything() -> None:
    """In Trade Comm with as many messages as items, both name their item: log2 3 bits each."""
    game = "trade_comm(items=3,messages=3)"
    found = find_conventions(game, infoset.solve(game, "team-exact").policy)
    assert found.bits("P1", "P2") == pytest.approx(1.584962500721156)
    assert found.bits("P2", "P1") == pytest.approx(1.584962500721156)
    for signal in found.signals:
        assert signal.bits == pytest.approx(signal.unknown_bits)
        assert all(len(signal.posterior(action)) == 1 for action in signal.actions if action in "123")


def test_a_bit_too_few() -> None:
    """Three items and two messages: the best code tells one item from the two others, (log2 3) - 2/3 bits."""
    game = "trade_comm(items=3,messages=2)"
    found = find_conventions(game, infoset.solve(game, "team-exact").policy)
    assert found.bits("P1", "P2") == pytest.approx(1.584962500721156 - 2 / 3)


def test_kuhn_poker_by_hand() -> None:
    """P1 bets with the king alone: who holds the queen then knows it, who holds the jack too."""
    form = SequenceForm.of(load("kuhn_poker"))

    def play(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {action: float((action == "bet") == (key[0] == "K")) for action in actions}

    policy = TabularPolicy.from_function(form, play)
    found = find_conventions("kuhn_poker", policy)
    first = [s for s in found.signals if s.sender == "P1" and not s.receiver_knows[0].count(" ")]
    queen, king = (next(s for s in first if card in s.receiver_knows) for card in "QK")
    assert queen.bits == pytest.approx(1.0) and queen.posterior("bet") == {"K": pytest.approx(1.0)}
    assert king.bits == pytest.approx(0.0, abs=1e-12) and king.unknown_bits == pytest.approx(1.0)


@given(st.integers(0, 2**31))
def test_nobody_learns_more_than_there_is(seed: int) -> None:
    form = SequenceForm.of(load(HANABI))
    policy = TabularPolicy.from_behaviour(form, random_interior(form, seed))
    for signal in find_conventions(HANABI, policy).signals:
        assert 0.0 <= signal.bits <= signal.unknown_bits + 1e-12
        assert sum(signal.prior) == pytest.approx(1.0)
        assert sum(signal.posterior(signal.actions[0]).values()) == pytest.approx(1.0)


def test_the_command_says_it_in_words_and_as_json(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    infoset.solve(HANABI, "team-exact", out="run")
    said = run_infoset("show", HANABI, "run", "--conventions")
    assert "P1 tells P2 0.918 bits in a game, in the mean" in said.stdout and "a2 (33.3 %) means" in said.stdout
    body = json.loads(run_infoset("show", HANABI, "run", "--conventions", "--json").stdout)
    assert body["signals"][0]["bits"] == pytest.approx(0.9182958340544896)


OUTCOMES = count(1)
HEAD = 'EFG 2 R "signals" { "P1" "P2" }\n'


def _guess(number: int, pays: list[int]) -> str:
    """P2 guesses at its information set, and the game ends."""
    ends = "\n".join(f't "" {next(OUTCOMES)} "" {{ {pay}, {pay} }}' for pay in pays)
    return f'p "" 2 {number} "" {{ "a" "b" }} 0\n{ends}\n'


@pytest.fixture
def shared_action(tmp_path) -> str:
    """Types A and B choose x or y, type C has only x; A plays x and B plays y."""
    file = tmp_path / "forced.efg"
    file.write_text(
        HEAD + 'c "" 1 "" { "A" 1/3 "B" 1/3 "C" 1/3 } 0\n'
        + 'p "" 1 1 "A" { "x" "y" } 0\n' + _guess(1, [1, 0]) + _guess(2, [1, 0])
        + 'p "" 1 2 "B" { "x" "y" } 0\n' + _guess(1, [0, 1]) + _guess(2, [0, 1])
        + 'p "" 1 3 "C" { "x" } 0\n' + _guess(1, [1, 0])
    )  # fmt: skip
    return str(file)


def test_who_has_no_choice_says_something_too(shared_action: str) -> None:
    """The action x means A or C: log2 3 - 2/3 bits."""
    form = SequenceForm.of(load(shared_action))

    def play(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        wanted = "y" if key == "B" else "x"
        return {action: float(action == (wanted if "x" in actions else "a")) for action in actions}

    found = find_conventions(shared_action, TabularPolicy.from_function(form, play))
    (signal,) = [one for one in found.signals if one.sender == "P1"]
    assert signal.bits == pytest.approx(1.584962500721156 - 2 / 3)
    assert signal.probability == pytest.approx(1.0)
    assert set(signal.posterior("x")) == {"A", "C"}


def test_actions_that_look_alike_are_one_message(tmp_path) -> None:
    """P2 cannot tell x1 from x2, so that three types and three actions say log2 3 - 2/3 bits."""
    file = tmp_path / "alike.efg"
    parts = [
        f'p "" 1 {k + 1} "{kind}" {{ "x1" "x2" "y" }} 0\n' + _guess(1, [1, 0]) + _guess(1, [1, 0]) + _guess(2, [0, 1])
        for k, kind in enumerate("ABC")
    ]
    file.write_text(HEAD + 'c "" 1 "" { "A" 1/3 "B" 1/3 "C" 1/3 } 0\n' + "".join(parts))
    form = SequenceForm.of(load(str(file)))
    plays = {"A": "x1", "B": "x2", "C": "y"}

    def play(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {action: float(action == plays.get(key, "a")) for action in actions}

    (signal,) = find_conventions(str(file), TabularPolicy.from_function(form, play)).signals
    assert signal.actions == ("x1 or x2", "y")
    assert signal.bits == pytest.approx(1.584962500721156 - 2 / 3)
