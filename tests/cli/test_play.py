"""A person plays in the terminal: whole games by keys typed into a pseudo-terminal, and games that are left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import infoset
from at_terminal import SECONDS, Key, Typist, terminal
from infoset.base import Action
from infoset.cli.app import app
from infoset.cli.play_options import PlayOptions
from infoset.cli.sitting import play as sit_down
from infoset.cli.sitting import seat_number
from infoset.cli.terminal import Terminal, find_move, option_lines
from infoset.errors import InfosetError, ParameterError, UnsupportedSystemError
from infoset.match.agents import load_agent
from infoset.match.match import play_match
from infoset.match.person import LeaveGame, Person, View
from infoset.match.replay import Match, replay_steps
from infoset.match.series import play_series

pty = pytest.importorskip("pty")
EFG = str(Path(__file__).parents[2] / "examples" / "half_street_poker.efg")
DUEL = "pommerman:OneVsOne-v0(seed=3)"
Sit = Callable[..., tuple[str, Match]]


@pytest.fixture
def sit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sit:
    """Play at a terminal; what was shown, and the last replay."""
    monkeypatch.chdir(tmp_path)

    def play(keys: Sequence[tuple[str, Key]], game: str | None = None, *agents: str, **asked: Any) -> tuple[str, Match]:
        with terminal(keys, monkeypatch) as typist:
            sit_down(PlayOptions(game, agents, **asked))
        return typist.text(), Match.load(sorted(tmp_path.glob("runs/play/*/match-*.json"))[-1])

    return play


def moves_of(match: Match, player: int) -> list[Action]:
    return [action for step in match.steps if (action := step.actions[player]) is not None]


def interrupt() -> None:
    time.sleep(0.2)  # until the program waits
    os.kill(os.getpid(), signal.SIGINT)


# Whole games


def test_kuhn_poker_against_the_equilibrium_with_hints_and_moves_taken_back(sit: Sit) -> None:
    keys = [
        ("> ", b"?\n"), ("leaves the game", b"u\n"), ("no move of yours", b"bett\n"), ("did you mean 'bet'?", b"h\n"),
        ("100.0%", b"9\n"), ("not a move here", b"pa\n"), ("P2 bets", b"u\n"), ("Taken back", b"1\n"), ("P2 bets", b"bet\n"),
    ]  # fmt: skip
    text, match = sit(keys, "kuhn_poker", seed=2, practice=True)
    assert "P2 equilibrium" in text
    assert "solved here by lp, exploitability" in text
    before, after = text.split("The complete game")
    assert "[Q]" in before
    assert "[K]" not in before, "the other's card is not shown before the end"
    assert "[K]" in after
    assert match.over
    assert match.agents == ("human", "equilibrium")
    assert moves_of(match, 0) == ["pass", "bet"], "what was taken back is no part of the game"
    replay_steps(match)


def test_leduc_poker_from_the_second_seat(sit: Sit) -> None:
    text, match = sit(
        [("> ", b"call\n"), ("the public card", b"")] + [("> ", b"c\n")] * 1, "leduc_poker", "random", seat="p2", seed=4
    )
    assert match.agents == ("random", "human")
    assert set(moves_of(match, 1)) == {"call"}
    assert "P2 is you" in text
    replay_steps(match)


def test_blind_tic_tac_toe_by_cells(sit: Sit) -> None:
    keys = [("> ", b"mark 2\n"), ("type more of it", b"2 2\n"), ("> ", b"(mark,3,3)\n"), ("> ", b"mark 1 3\n")]
    other = "scripted(actions=[[mark,1,1],[mark,2,1],[mark,3,1]])"
    text, match = sit(keys, "gdl:blind_tic_tac_toe", other, seat="x", seed=3)
    assert moves_of(match, 0) == [("mark", 2, 2), ("mark", 3, 3), ("mark", 1, 3)]
    assert match.returns == (0.0, 100.0)
    before, after = text.split("The complete game")
    assert "o mark 2 1" in after
    assert "o mark" not in before


def test_a_file_of_gambit(sit: Sit) -> None:
    text, match = sit([("> ", b"1\n")], EFG, seed=1)
    assert match.over
    assert len(moves_of(match, 0)) == 1
    assert "equilibrium" in text


def test_what_a_move_cost(sit: Sit) -> None:
    text, match = sit([("> ", b"bet\n")], "kuhn_poker", seed=2)
    assert match.steps[0].chance_outcome == "Q"
    # after a bet a king calls and a jack folds; after a pass the equilibrium loses a third on average
    assert "3  bet  cost 0.1667  (value -0.5; pass   value -0.3333)" in text


def test_pommerman_by_keyboard(sit: Sit) -> None:
    keys = [("step 0", b"\x1b[B"), ("step 2", b"d"), ("step 4", b" ")]
    text, match = sit(keys, DUEL, "stop", seconds_per_move=0.4)
    assert match.over, "it stood on its bomb"
    assert match.returns == (-1.0, 1.0)
    played = [action for action in moves_of(match, 0) if action]
    assert played == [2, 4, 5]
    assert match.seconds_per_move == 0.4
    assert not match.faults
    assert text.index("\x1b[?1049h") < text.index("\x1b[?1049l") < text.index("Agent0 -1")
    assert "░" not in text, "everything is in sight in this variant"


def test_the_terminal_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import termios

    monkeypatch.chdir(tmp_path)
    with terminal([("step 1", interrupt)], monkeypatch) as typist:
        before = termios.tcgetattr(sys.stdin.fileno())
        with pytest.raises(KeyboardInterrupt):
            sit_down(PlayOptions(DUEL, ("stop",), seconds_per_move=0.2))
        assert termios.tcgetattr(sys.stdin.fileno()) == before
    assert "\x1b[?1049l" in typist.text()
    with terminal([("step 0", b"q")], monkeypatch) as typist, pytest.raises(LeaveGame):
        before = termios.tcgetattr(sys.stdin.fileno())
        play_match(DUEL, ["human", "stop"])
    assert "\x1b[?1049l" in typist.text()


# Games that are left


def test_ctrl_d_keeps_the_game_and_resume_goes_on_with_it(sit: Sit, tmp_path: Path) -> None:
    text, left = sit([("> ", b"call\n"), ("> ", b"\x04")], "leduc_poker", "random", seed=4, seat="2")
    assert not left.over
    [file] = tmp_path.glob("runs/play/*/*.json")
    assert str(file.relative_to(tmp_path)) in text
    assert len(replay_steps(left)) == len(left.steps) + 1
    text, match = sit([("> ", b"call\n")] * 1, resume=file)
    assert "you call" in text.partition("> ")[0], "what happened is told again"
    assert match.over
    assert match.steps[: len(left.steps)] == left.steps
    assert (match.seed, match.agents) == (left.seed, left.agents)
    with pytest.raises(ParameterError, match="this game is over"):
        sit([], resume=sorted(file.parent.iterdir())[-1])
    with pytest.raises(ParameterError, match="--seat would not be used"):
        sit([], resume=file, seat="1")


def test_a_file_begins_no_agent_that_runs_code(sit: Sit, tmp_path: Path) -> None:
    match = play_match("kuhn_poker", ["random", "random"])
    for name in (
        "python:evil.py:Agent",
        "kaggle:evil.py",
        "isolated(agent=random)",
        "adaptive(models=['python:evil.py:A'])",
    ):
        left = Match(
            game="kuhn_poker", players=match.players, agents=("human", name), seed=0, seconds_per_move=None,
            returns=(0.0, 0.0), steps=match.steps[:2], over=False,
        )  # fmt: skip
        left.save(tmp_path / "left.json")
        with pytest.raises(ParameterError, match="not begun because a file says so"):
            sit([], resume=tmp_path / "left.json")


def test_ctrl_c_keeps_the_game_and_ends_with_its_status(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "infoset", "play", "kuhn_poker", "random"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)

    def interrupt_later() -> None:
        time.sleep(0.5)  # the prompt is shown just before the line editor listens: a signal between the two is lost
        process.send_signal(signal.SIGINT)

    typist = Typist(ours, [("> ", interrupt_later)])
    assert process.wait(SECONDS) == 130
    assert "infoset play --resume runs/play/kuhn_poker/match-00001.json" in typist.text()
    assert not Match.load(tmp_path / "runs/play/kuhn_poker/match-00001.json").over


def test_ctrl_c_against_a_clock_ends_at_once(sit: Sit) -> None:
    with pytest.raises(KeyboardInterrupt):
        sit([("> ", interrupt)], "kuhn_poker", "random", seconds_per_move=100_000.0)


def test_a_person_that_is_late_loses_the_move(sit: Sit) -> None:
    text, match = sit([("> ", b"")], "rock_paper_scissors", "random", seconds_per_move=0.3)
    assert "Too late" in text
    assert [fault.kind for fault in match.faults] == ["late"]


def test_a_terminal_that_is_closed_leaves_the_game(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "infoset", "play", "kuhn_poker", "random"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while b"> " not in shown:
        shown += os.read(ours, 1 << 10)
    os.close(ours)
    process.wait(SECONDS)
    assert not Match.load(tmp_path / "runs/play/kuhn_poker/match-00001.json").over


# What is typed


def test_moves_by_number_word_beginning_and_end() -> None:
    words = ("mark 1 1", "mark 2 1", "(wait)")
    typed = {"2": 1, "mark 1 1": 0, "MARK  2": 1, "2 1": 1, "w": 2, "(mark,1,1)": 0}
    assert {text: find_move(" ".join(text.split()), words) for text in typed} == typed
    assert find_move("zz", words) == "'zz' is not a move here; allowed: mark 1 1, mark 2 1, (wait)"
    assert "did you mean 'mark 2 1'" in str(find_move("merk 2 1", words))
    assert "can be mark 1 1, mark 2 1" in str(find_move("m", words))
    assert "Your move?" in str(find_move("", words))
    assert find_move("7", ("3", "5", "7")) == 2, "moves that are numbers are no places in the list"
    assert option_lines(("3", "5"), 80) == ["  3   5"]
    assert len(option_lines(tuple(f"move {k}" for k in range(40)), 80)) < 15


def test_text_of_strangers_commands_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal([], monkeypatch) as typist:
        Terminal(sys.stdout).say("a\x1b[2Jb\u202ec\x9b")
    assert typist.text() == "a?[2Jb?c?\n"


def test_what_agents_print_comes_after_the_game(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "class Loud:\n"
        "    def begin(self, game, player, rng, deadline): print('\\x1b[2Jhello')\n"
        "    def observe(self, own_move, observation): ...\n"
        "    def act(self, legal, deadline): raise ValueError('no')\n"
        "    def end(self, returns): ...\n"
    )
    text, _ = sit([("> ", b"rock\n")], "rock_paper_scissors", "python:loud.py:Loud")
    assert "An agent printed: ?[2Jhello" in text.split("it is your move")[1]
    assert "error: act: ValueError: no" in text


# Seats, refusals, hands


def test_seats_by_name_and_number() -> None:
    game = infoset.load("gdl:blind_tic_tac_toe")
    assert [seat_number(game, seat) for seat in (None, "1", "2", "x", "O")] == [0, 0, 1, 0, 1]
    for wrong in ("0", "3", "z", "-1"):
        with pytest.raises(ParameterError, match="allowed: 1 to 2, or x, o"):
            seat_number(game, wrong)


def test_several_games_and_a_wrong_number_of_agents(sit: Sit, tmp_path: Path) -> None:
    text, _ = sit([("> ", b"1\n")] * 2, "rock_paper_scissors", "scripted(actions=[Paper])", games=2)
    assert "2 games: -2 in all, -1 a game" in text
    assert len(list(tmp_path.glob("runs/play/*/*.json"))) == 2
    for agents in (("random", "random"), ("human", "random")):
        with pytest.raises(ParameterError, match="has 2 players"):
            sit([], "rock_paper_scissors", *agents)


def test_a_person_is_refused_where_nobody_sits() -> None:
    with pytest.raises(UnsupportedSystemError, match="human plays at a terminal, and standard"):
        load_agent("human")
    for refused in (
        lambda: load_agent("isolated(agent=human)"),
        lambda: infoset.tournament("kuhn_poker", ["human", "random"], games=2),
        lambda: infoset.evaluate("kuhn_poker", "human"),
    ):
        with pytest.raises(InfosetError, match="there is none"):
            refused()


def test_a_person_in_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal([("> ", b"rock\n"), ("> ", b"paper\n")], monkeypatch) as typist:
        series = play_series("rock_paper_scissors", ["human", "scripted(actions=[Scissors])"], games=2)
    assert [score.wins for score in series.agents] == [1, 1]
    assert "The game is over" in typist.text()


def test_a_person_in_a_match_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["match", "rock_paper_scissors", "human", "scripted(actions=[Scissors])", "--games", "2"]
    with terminal([("> ", b"rock\n"), ("> ", b"r\n")], monkeypatch) as typist:
        app(command, standalone_mode=False)
    assert "playing" not in typist.text(), "no bar where a person types"
    with terminal([("step 0", b"d"), ("step 1", interrupt)], monkeypatch) as typist:
        assert app(["match", DUEL, "human", "stop"], standalone_mode=False) == 130
    assert typist.text().endswith("\x1b[?1049l")


def test_a_hand_sees_what_its_player_knows_and_may_leave() -> None:
    class Noting:
        def __init__(self) -> None:
            self.told: list[View] = []

        def tell(self, view: View) -> None:
            self.told.append(view)

        def ask(self, view: View) -> Action:
            if view.infostate == self.told[-1].infostate and view.legal_actions == ("pass", "bet"):
                return "bet"
            raise LeaveGame

    hand = Noting()
    match = play_match("kuhn_poker", [Person(hand), "random"], seed=1)
    assert [view.infostate for view in hand.told][:2] == [(), ((None, match.steps[0].chance_outcome),)]
    assert hand.told[-1].returns == match.returns
    with pytest.raises(LeaveGame):
        play_match("rock_paper_scissors", [Person(hand), "random"])
