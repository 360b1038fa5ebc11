"""A wrong argument is refused before anything slow begins: no game is loaded, no agent compiles, no file is left."""

import re
from pathlib import Path

import pytest

from infoset import catalog, load, play_match, warm_up
from infoset.cli.app import app
from infoset.errors import InfosetError

SLOW = "slow_game"


def slow_game() -> None:
    raise AssertionError("something slow began before the refusal")


@pytest.fixture(autouse=True)
def nothing_slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A game that may not be loaded, an agent that may not be made, and a folder with a file and a replay."""

    def too_early(*_: object, **__: object) -> None:
        raise AssertionError("something slow began before the refusal")

    monkeypatch.setitem(catalog.GAMES.homes, SLOW, "test_refusals:slow_game")
    monkeypatch.setattr(warm_up, "_DONE", set())
    monkeypatch.setattr(warm_up, "compile_sets", too_early)
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("{}")
    Path("old").mkdir()
    Path("old/config.json").write_text("{}")


TEAM = ["solve", SLOW, "--method", "progressive-hiding"]
REFUSED = [
    (["solve", SLOW, "--method", "cfrr"], "did you mean 'cfr'"),
    (["solve", SLOW, "--method", "dcfr(alpha=x)"], "alpha=x is not a number"),
    (["solve", SLOW, "--start", "randm"], "start=randm is not one of uniform, random"),
    (["solve", SLOW, "--seed", str(2**70)], "is out of range; allowed: 0 to 9223372036854775808"),
    (["solve", SLOW, "--iterations", "-1"], "iterations=-1 is out of range"),
    (["solve", SLOW, "--iterations", str(10**23)], "iterations=1(0){23} is out of range; allowed: 0 to"),
    (["solve", SLOW, "--target", "-1"], "target=-1; allowed: numbers from 0 up"),
    (["solve", SLOW, "--seconds", "nan"], "seconds=nan is out of range"),
    (["solve", SLOW, "--out", "file"], "file: cannot be written: file is a file, not a folder"),
    (["solve", SLOW, "--out", "file/run"], "file/run: cannot be written: file is a file, not a folder"),
    (["solve", SLOW, "--out", "old"], "old already contains a run"),
    (["solve", SLOW, "--method", "mccfr", "--iterations", "-1"], "iterations=-1 is out of range"),
    (["solve", SLOW, "--method", "mccfr", "--iterations", str(10**23)], "iterations=1(0){23} is out of range"),
    (["solve", SLOW, "--method", "mccfr", "--seconds", "-1"], "seconds=-1.0 is out of range"),
    (["solve", SLOW, "--method", "mccfr(explor=1)"], "did you mean 'explore'"),
    (["solve", SLOW, "--method", "mccfr(iterations=1e23)"], "unknown parameter of mccfr: 'iterations'"),
    (["solve", SLOW, "--method", "mccfr", "--runs", "300"], "runs=300 is out of range; allowed: 1 to 256"),
    (["solve", SLOW, "--method", "mccfr(explore=7)"], "explore=7; allowed: from more than 0 to 1"),
    (["solve", SLOW, "--method", "mccfr(explore=much)"], "explore=much is not a number"),
    (["solve", SLOW, "--method", "mccfr(sampling=x)"], "sampling=x is not one of external, outcome"),
    (["solve", SLOW, "--method", "mccfr", "--out", "file"], "file: cannot be written"),
    (["solve", SLOW, "--method", "mccfr", "--out", "old"], "old already contains a run"),
    (["solve", SLOW, "--method", "annealing(sweep=1)"], "unknown parameter of annealing"),
    (["solve", SLOW, "--method", "annealing", "--iterations", "0"], "iterations=0 is out of range"),
    (["solve", SLOW, "--method", "annealing", "--runs", str(10**8)], "runs=100000000 is out of range"),
    (["solve", SLOW, "--method", "annealing", "--out", "file"], "file: cannot be written"),
    (["solve", SLOW, "--method", "team-exact(by=x)"], "by=x is not one of auto, subsets, milp"),
    (["solve", SLOW, "--method", "team-exact", "--out", "file"], "file: cannot be written"),
    ([*TEAM[:3], "progressive-hiding(relax=recal)"], "did you mean 'recall'"),
    ([*TEAM[:3], "progressive-hiding(penalty=x)"], "penalty=x; allowed"),
    ([*TEAM[:3], "progressive-hiding(penalty=[1,-1])"], r"penalty=\[1,-1\]; allowed: a number from 0"),
    ([*TEAM[:3], "progressive-hiding(penalty=balanced(begin=1))"], "unknown parameter of balanced: 'begin'"),
    ([*TEAM[:3], "progressive-hiding(penalty=balanced(start=-1))"], "start=-1; allowed: numbers from 0 to"),
    ([*TEAM, "--iterations", "0"], "iterations=0 is out of range; allowed: 1 to"),
    ([*TEAM, "--runs", str(10**8)], "runs=100000000 is out of range"),
    ([*TEAM, "--out", "file"], "file: cannot be written"),
    (["solve", SLOW, "--method", "information-relaxation(penalty=-1)"], "penalty=-1; allowed"),
    (["evaluate", SLOW, "missing.npz"], "missing.npz: no such file"),
    (["evaluate", SLOW, "serch"], "did you mean 'search'"),
    (["evaluate", SLOW, "search(method=x)"], "method=x is not one of auto"),
    (["match", SLOW, "random", "--games", "-1"], "games=-1 is out of range"),
    (["match", SLOW, "random", "--seconds-per-move", "-1"], "seconds_per_move=-1.0 is out of range"),
    (["match", SLOW, "random", "--replay", "file"], "file: cannot be written"),
    (["match", "kuhn_poker", "search"], "has 2 players .*, not 1: name one agent for each"),
    (["match", "kuhn_poker", "search", "serch"], "did you mean 'search'"),
    (["match", "kuhn_poker", "search", "search(worlds=0)"], "worlds=0 is out of range"),
    (["match", "kuhn_poker", "search", "policy(path=missing.npz)"], "missing.npz: no such file"),
    (["match", "kuhn_poker", "search", "policy"], "path is missing"),
    (["match", "kuhn_poker", "champion", "random"], "agent champion is made for pommerman:NAME, not for kuhn_poker"),
    (["tournament", "kuhn_poker", "dypm(level=0)", "random"], r"agent dypm\(level=0\) is made for pommerman:NAME"),
    (["match", "pommerman", "simple"], "unknown game 'pommerman'; known: pommerman:OneVsOne-v0, pommerman:PommeFFA"),
    (["match", "kuhn_pokr", "search", "search"], "did you mean 'kuhn_poker'"),
    (["tournament", SLOW, "random", "random", "--db", "file/x.db"], "file/x.db: cannot be written"),
    (["tournament", SLOW, "random", "random", "--svg", "old"], "old: cannot be written: it is a folder"),
    (["tournament", "kuhn_poker", "search", "serch"], "did you mean 'search'"),
    (["tournament", "kuhn_poker", "search", "policy(path=missing.npz)"], "missing.npz: no such file"),
    (["tournament", "kuhn_poker", "search"], "1 team; a tournament needs 2 to 1000; one is enough with --self"),
    (["tournament", "kuhn_poker", "search", "random+random"], "has 2 members"),
    (["tournament", "kuhn_poker", "search", "random", "--games", "-1"], "games=-1 is out of range"),
    (["tournament", "kuhn_poker", "search", "random", "--move-limit", "-1"], "move_limit=-1.0 is out of range"),
    (["show", SLOW, "missing.npz"], "missing.npz: no such file"),
    (["show", SLOW, "--svg", "old"], "old: cannot be written: it is a folder"),
    (["show", SLOW, "--svg", "file/x.svg"], "file/x.svg: cannot be written"),
    (["show", SLOW, "--propnet", "file/x.svg"], "file/x.svg: cannot be written"),
    (["convert", SLOW, "x.txt"], "a game goes to .efg"),
    (["convert", SLOW, "file/x.efg"], "file/x.efg: cannot be written"),
    (["watch", "missing.json"], "missing.json"),
    (["watch", "file", "--speed", "0"], "speed=0.0 is out of range"),
    (["watch", "file", "--svg", "old"], "old: cannot be written: it is a folder"),
]
TRAINING = [
    (["train", SLOW, "--method", "x"], "--method=x is not one of .*self-play, resolving"),
    (["train", SLOW, "--rate", "2"], "rate=2.0; allowed"),
    (["train", SLOW, "--steps", "2"], "--steps is not an option of --method self-play"),
    (["train", SLOW, "--hidden", str(10**9)], "hidden=1000000000 is out of range"),
    (["train", SLOW, "--out", "file"], "file: cannot be written"),
    (["train", SLOW, "--out", "old"], "old already contains a run"),
    (["match", "kuhn_poker", "search", "trained:nowhere"], "nowhere is neither a folder nor a file"),
]


def refuse(arguments: list[str], words: str) -> None:
    before = sorted(Path().rglob("*"))
    with pytest.raises(InfosetError) as refusal:
        app(arguments, standalone_mode=False)
    assert re.search(words, str(refusal.value)), str(refusal.value)
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=lambda value: " ".join(value)[:60])
def test_what_is_wrong_is_said_first(arguments: list[str], words: str) -> None:
    refuse(arguments, words)


@pytest.mark.parametrize(("arguments", "words"), TRAINING, ids=lambda value: " ".join(value)[:60])
def test_what_is_wrong_with_a_training_is_said_first(arguments: list[str], words: str) -> None:
    pytest.importorskip("torch")
    refuse(arguments, words)


def test_too_many_plays_are_refused_before_the_rules_are_grounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from infoset.gdl import game

    monkeypatch.setattr(game, "GdlGame", None)
    for option in ("--simulate", "--max-steps"):
        with pytest.raises(Exception, match=r"less than or equal to 1000000000000|range"):
            app(["check", "gdl:meier", option, str(10**13)], standalone_mode=False)


def test_a_folder_that_may_not_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.files.os.access", lambda path, mode: False)
    refuse(["solve", SLOW, "--out", "runs/new"], "runs/new: cannot be written: no permission to write to .")
    refuse(["convert", SLOW, "x.efg"], "x.efg: cannot be written: no permission to write to .")


def test_the_slow_things_are_noticed() -> None:
    """The tests above could fail."""
    with pytest.raises(AssertionError, match="something slow"):
        load(SLOW)
    with pytest.raises(AssertionError, match="something slow"):
        play_match("kuhn_poker", ["search", "search"])
