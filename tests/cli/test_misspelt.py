"""What was typed and is not there: names are corrected to what was meant, files to those that lie there."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infoset import load, load_agent, play_match
from infoset.cli.app import app
from infoset.errors import FormatError, InfosetError, UnknownNameError
from infoset.files import nearest_path
from infoset.solvers.method import METHODS

PLAYGROUND = """
from pommerman.agents import BaseAgent
class Mine(BaseAgent):
    def act(self, obs, action_space):
        return 0
"""
INDIAN = """
import infoset
class IndianPoker:
    name, players = "indian", ("P1", "P2")
    def __init__(self):
        self.kuhn = infoset.load("kuhn_poker")
    def start(self):
        return self.kuhn.start()
class Broken(IndianPoker):
    def start(self):
        return infoset.Observed(infoset.Ended((float("inf"), 0.0)), (None, None))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(PLAYGROUND)
    (tmp_path / "indian.py").write_text(INDIAN)
    (tmp_path / "runs" / "leduc_poker-dcfr").mkdir(parents=True)
    (tmp_path / "table.csv").write_text("x")
    (tmp_path / "cup.toml").write_text("x")
    return tmp_path


def said(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, InfosetError), done.output
    assert len(str(done.exception).splitlines()) == 1
    return str(done.exception)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cfr_plus", "cfr+"),
        ("CFR+", "cfr+"),
        ("cfrplus", "cfr+"),
        ("pcfr_plus", "pcfr+"),
        ("PDCFR plus", "pdcfr+"),
        ("hs_pcfr_plus", "hs-pcfr+"),
        ("linear_cfr", "linear-cfr"),
        ("backwardinduction", "backward-induction"),
        ("cfrr", "cfr"),
    ],
)
def test_a_method_in_another_spelling_is_that_method(typed: str, meant: str) -> None:
    assert str(UnknownNameError("method", typed, METHODS)) == f"unknown method {typed!r}; did you mean {meant!r}?"


def test_long_lists_are_not_printed_whole() -> None:
    for kind, error in (("agent", lambda: load_agent("zzzzzz")), ("game", lambda: load("zzzzzz"))):
        with pytest.raises(UnknownNameError, match=rf"known: .*, … \(\d+; 'infoset {kind}s' lists them\)$") as found:
            error()
        assert len(str(found.value)) < 160
    many = [f"name{k}" for k in range(100)]
    assert str(UnknownNameError("axis", "xyzw", many)).endswith("… (and 95 more)")
    assert str(UnknownNameError("axis", "xyzw", ["b", "a"])) == "unknown axis 'xyzw'; known: a, b"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("match", "kuhn_poker", "runs/leduc", "random"),
         "runs/leduc: no such file or folder; did you mean 'runs/leduc_poker-dcfr'?"),
        (("match", "kuhn_poker", "runz/leduc_poker-dcfr", "random"),
         "runz/leduc_poker-dcfr: no such file or folder; did you mean 'runs/leduc_poker-dcfr'?"),
        (("match", "kuhn_poker", "elsewhere/", "random"), "elsewhere/: no such file or folder"),
        (("tournament", "kuhn_poker", "./agnt.py", "random"), "./agnt.py: no such file or folder; did you mean 'agent.py'?"),
        (("evaluate", "kuhn_poker", "run/leduc_poker-dcfr"), "did you mean 'runs/leduc_poker-dcfr'?"),
        (("evaluate", "kuhn_poker", "policy.npz"), "policy.npz: no such file"),
        (("solve", "indian.py:IndianPoker"),
         "'indian.py:IndianPoker' is a class of a Python file: python:indian.py:IndianPoker names it"),
        (("solve", "indian.py"), "is a Python file: python:indian.py:IndianPoker or python:indian.py:Broken names a class"),
        (("check", "indian.py"), "is a Python file: python:indian.py:IndianPoker or python:indian.py:Broken names a class"),
        (("solve", "indain.py:IndianPoker"), "indain.py: no such file; did you mean 'indian.py'?"),
        (("solve", "python:indain.py:IndianPoker"), "indain.py: no such file; did you mean '"),
        (("solve", "games/mine"), "games/mine: no such file or folder"),
        (("solve", "tabel.csv"), "tabel.csv: cannot be read: no such file; did you mean '"),
        (("compete", "cups.toml"), "cups.toml: cannot be read: no such file; did you mean 'cup.toml'?"),
        (("match", "pommerman:OneVsOne-v0", "agent.py", "random"),
         "'agent.py' contains an agent of the playground: playground(path=agent.py) plays it"),
        (("match", "pommerman:OneVsOne-v0", "agent.py:Mine", "random"), "playground(path=agent.py,cls=Mine) plays it"),
        (("match", "pommerman:OneVsOne-v0", "python:agent.py:Mine", "random"),
         "playground(path=agent.py,cls=Mine) plays it"),
    ],
)  # fmt: skip
def test_what_looks_like_a_path_is_looked_for(here: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in said(*arguments)


def test_the_form_that_is_advised_plays(here: Path) -> None:
    for name in ("playground(path=agent.py)", "playground(path=agent.py,cls=Mine)"):
        match = play_match("pommerman:OneVsOne-v0", [name, "random"], seed=1)
        assert not match.faults
        assert {step.actions[0] for step in match.steps} <= {0, None}


def test_the_nearest_path(here: Path) -> None:
    assert nearest_path("runs") == ""  # it is there
    assert nearest_path("RUNS/Leduc_Poker-dcfr").lower() == "runs/leduc_poker-dcfr"
    assert nearest_path(here / "rns") == str(here / "runs")
    assert nearest_path("nothing/like/it") == ""
    assert nearest_path("a\0b") == ""
    with pytest.raises(FormatError, match="no such file or folder"):
        load_agent("~/policy")


def test_a_game_of_ones_own_is_checked_against_the_game_model(here: Path) -> None:
    done = CliRunner().invoke(app, ["check", "python:indian.py:IndianPoker", "--simulate", "20", "--json"])
    body = json.loads(done.stdout)
    assert (done.exit_code, body["errors"], body["counts"]["information_sets"]) == (0, 0, 12)
    plain = CliRunner().invoke(app, ["check", "python:indian.py:IndianPoker"])
    assert "indian.py:IndianPoker: 0 errors, 0 warnings" in plain.stdout
    broken = CliRunner().invoke(app, ["check", "python:indian.py:Broken"])
    assert broken.exit_code == 1
    assert "payoffs" in broken.stdout
