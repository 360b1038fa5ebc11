"""The command line as a user meets it, in a process of its own where that matters."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import infoset
from command_line import INFOSET
from command_line import run_infoset as run
from infoset import SequenceForm, TabularPolicy, load, play_match, realisation
from infoset.runs import RunFolder
from infoset.tree.plans import uniform


def test_solve_prints_one_json_object(tmp_path: Path) -> None:
    done = run("solve", "kuhn_poker", "--method", "pcfr+", "--target", "1e-9", "--json", cwd=tmp_path)
    body = json.loads(done.stdout)
    assert set(body) == {
        "game", "method", "reason", "iterations", "seconds", "building_seconds", "evaluating_seconds", "stopped", "values", "nash_conv", "exploitability", "epsilon",
        "bound", "gap", "proof", "seed", "start", "policy", "folder", "why_not", "runs",
    }  # fmt: skip
    assert body["values"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-8)
    assert body["stopped"] == "target"
    folder = (tmp_path / body["policy"]).parent
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "metrics.jsonl", "checkpoint.npz", "policy.npz", "solution.json", "convergence.png"}

    again = run("evaluate", "kuhn_poker", str(tmp_path / body["policy"]), "--json", cwd=tmp_path)
    figures = json.loads(again.stdout)
    assert set(figures) == {
        "game", "of", "nash_conv", "exploitability", "epsilon", "margin", "values", "best_response_values",
        "intervals", "exact", "reason",
    }  # fmt: skip
    assert figures["nash_conv"] == pytest.approx(body["nash_conv"], abs=1e-12)

    table = run("show", "kuhn_poker", str(tmp_path / body["policy"]), "--svg", str(tmp_path / "k.svg"))
    assert "K [pass] bet" in table.stdout
    assert (tmp_path / "k.svg").read_text().startswith("<svg")


def test_a_game_is_converted_as_it_is(tmp_path: Path) -> None:
    target = infoset.convert(infoset.load("kuhn_poker"), tmp_path / "kuhn.efg")
    assert infoset.solve(str(target), "lp").values[0] == pytest.approx(-1 / 18)
    with pytest.raises(infoset.errors.FormatError, match="kuhn_poker cannot be converted to"):
        infoset.convert(infoset.load("kuhn_poker"), tmp_path / "kuhn.json")


def test_convert(tmp_path: Path) -> None:
    assert run("convert", "kuhn_poker", str(tmp_path / "k.efg")).returncode == 0
    body = json.loads(run("solve", str(tmp_path / "k.efg"), "--method", "lp", "--json", cwd=tmp_path).stdout)
    assert body["values"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-9)
    policy = tmp_path / body["policy"]
    assert run("convert", str(policy), str(tmp_path / "p.json")).returncode == 0
    assert TabularPolicy.load(tmp_path / "p.json") == TabularPolicy.load(policy)


def test_games_lists_every_name() -> None:
    from infoset.catalog import GAMES
    from infoset.gdl.library import library
    from infoset_pommerman.config import CONFIGS

    names = {game["name"] for game in json.loads(run("games", "--json").stdout)["games"]}
    assert names == {*GAMES, *(f"gdl:{name}" for name in library()), *(f"pommerman:{name}" for name in CONFIGS)}
    assert "kuhn_poker(players=2,cards=0)" in run("games").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "kuhn_pokr"], "did you mean 'kuhn_poker'"),
        (["solve", "kuhn_poker", "--method", "cfrr"], "unknown method"),
        (["solve", "kuhn_poker", "--iterations", "-3"], "iterations=-3 is out of range"),
        (["solve", "kuhn_poker(players=3)", "--method", "lp"], "has 3 players"),
        (["solve", "leduc_poker", "--method", "lp", "--max-histories", "1000"], "--max-histories"),
        (["solve"], "no GAME given"),
        (["solve", "--resume"], "--resume needs --out"),
        (["solve", "--resume", "--out", "nowhere"], "contains no run"),
        (["evaluate", "kuhn_poker", "missing.npz"], "missing.npz: no such file"),
        (["show", "no.efg"], "cannot be read"),
        (["show", "leduc_poker", "--svg", "x.svg"], "a picture holds"),
        (
            ["convert", "kuhn_poker", "x.txt"],
            "infoset: kuhn_poker: cannot be converted to 'x.txt'; a game goes to .efg",
        ),
    ],
)
def test_errors_are_one_line_and_leave_nothing(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
    assert len(lines) == 1
    assert words in lines[0]
    assert not list(tmp_path.rglob("*"))


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    assert run("solve", "kuhn_poker", "--iterations", "5", "--out", str(tmp_path / "r")).returncode == 0
    second = run("solve", "kuhn_poker", "--iterations", "5", "--out", str(tmp_path / "r"))
    assert second.returncode == 1
    assert "--resume" in second.stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_killed_and_resumed_equals_uninterrupted(tmp_path: Path, how: signal.Signals) -> None:
    """Ctrl-C or kill -9 in the middle; the resumed run gives the same policy as one that ran through."""
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    command = [*INFOSET, "solve", "leduc_poker", "--method", "dcfr", "--seconds", "60", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (folder / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, how)
    process.wait(timeout=60)
    opened, config, saved = RunFolder.open(folder)
    opened.close()
    assert config.game == "leduc_poker"
    assert saved is not None
    total = str(int(saved["iteration"]) + 500)
    assert run("solve", "--resume", "--out", str(folder), "--iterations", total).returncode == 0
    assert run("solve", "leduc_poker", "--method", "dcfr", "--iterations", total, "--out", str(whole)).returncode == 0
    one, other = (TabularPolicy.load(path / "policy.npz") for path in (folder, whole))
    assert one.tables == other.tables


VERBS_THAT_PRINT = [
    ["--help"], ["--version"], ["games"], ["games", "--json"], ["show", "leduc_poker"], ["check", "gdl:meier"],
    ["solve", "kuhn_poker", "--method", "lp"], ["solve", "kuhn_poker", "--method", "lp", "--json"],
    ["evaluate", "kuhn_poker", "policy.json"], ["match", "kuhn_poker", "random", "random", "--games", "3"],
    ["tournament", "kuhn_poker", "random", "policy(path=policy.json)", "--games", "2", "--workers", "1"],
    ["train", "kuhn_poker", "--epochs", "1", "--games", "2"], ["watch", "game.json", "--text"],
    ["watch", "game.json"], ["watch", "kuhn.json"], ["watch", "kuhn.json", "--text"],
]  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a policy and a recorded game."""
    folder = tmp_path_factory.mktemp("finished")
    form = SequenceForm.of(load("kuhn_poker"))
    TabularPolicy.from_plan(form, realisation(form, uniform(form))).save(folder / "policy.json")
    play_match("pommerman:OneVsOne-v0", ["stop", "stop"]).save(folder / "game.json")
    play_match("kuhn_poker", ["random", "random"]).save(folder / "kuhn.json")
    return folder


@pytest.mark.parametrize("arguments", VERBS_THAT_PRINT, ids=" ".join)
def test_a_reader_that_leaves_is_no_error(finished: Path, arguments: list[str]) -> None:
    """As in ``infoset show leduc_poker | head``: status 0, and nothing on stderr, wherever the pipe breaks."""
    ours, theirs = os.pipe()
    os.close(ours)
    with suppress(BrokenPipeError), os.fdopen(theirs, "w") as left:
        done = run(*arguments, cwd=finished, stdout=left)
    lines = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
    assert (done.returncode, lines) == (0, [])


def test_what_a_verb_found_counts_also_where_nobody_reads_on(tmp_path: Path) -> None:
    (tmp_path / "bad.gdl").write_text("(role x) (<= (legal x ?a) (true b))" * 300)
    ours, theirs = os.pipe()
    os.close(ours)
    command = [*INFOSET, "check", str(tmp_path / "bad.gdl")]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, "")


HANGING = """
class Hanging:
    def begin(self, game, player, rng, deadline): print("noise")
    def observe(self, own_action, observation): ...
    def act(self, legal_actions, deadline):
        while {hangs}: pass
        return legal_actions[0]
    def end(self, returns): ...
"""


def test_an_agent_that_hangs_is_noticed_and_interrupted(tmp_path: Path) -> None:
    """Before the first game is over, with nothing but lines on stderr."""
    (tmp_path / "agent.py").write_text(HANGING.format(hangs=True))
    command = [*INFOSET, "match", "kuhn_poker", "python:agent.py:Hanging", "random"]
    quick = {**os.environ, "INFOSET_PATIENCE": "0.2"}
    with subprocess.Popen(command, cwd=tmp_path, env=quick, stderr=subprocess.PIPE, text=True) as process:
        said = iter(process.stderr.readline, "")
        assert any("playing the first game" in line for line in said)
        process.send_signal(signal.SIGINT)
        assert list(said)[-1] == "infoset: interrupted\n"
    assert process.returncode == 130


def test_what_agents_print_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HANGING.format(hangs=False))
    done = run("match", "kuhn_poker", "python:agent.py:Hanging", "random", "--games", "2", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["games"] == 2
    assert "noise" in done.stderr


def test_the_version() -> None:
    assert run("--version").stdout == f"infoset {infoset.__version__}\n"


def test_an_odd_end_stays_one_line(monkeypatch, capsys) -> None:
    """A bug of ours is reported in one line too."""
    from infoset import cli

    def explode() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("infoset.cli.app.app", explode)
    assert cli.run_command() == 1
    assert capsys.readouterr().err == "infoset: internal error (RuntimeError: boom); INFOSET_DEBUG=1 shows where\n"


def test_check_simulates_random_play() -> None:
    """Lengths and goals with intervals, the same with the same seed."""
    arguments = ("check", "gdl:meier", "--simulate", "20000", "--seed", "3", "--json")
    result = json.loads(run(*arguments).stdout)
    assert result["errors"] == 0
    assert result["playouts"]["finished"] == 20000
    assert result["playouts"]["returns"]["p1"]["value"] == pytest.approx(34.9, abs=1.5)
    assert json.loads(run(*arguments).stdout) == result
    assert "p2               mean goal" in run("check", "gdl:meier", "--simulate", "100").stdout


def test_described_games_are_solved_and_played_from_files(tmp_path) -> None:
    from infoset.gdl.library import library

    path = tmp_path / "coins.gdl"
    path.write_text(library()["scissors_double"].read_text(encoding="utf-8"), encoding="utf-8")
    solved = json.loads(run("solve", str(path), "--method", "lp", "--out", str(tmp_path / "run"), "--json").stdout)
    assert solved["values"] == pytest.approx([50, 50])
    played = json.loads(run("match", str(path), "random", "random", "--games", "20", "--json").stdout)
    assert played["games"] == 20


def test_repairs_are_said_on_the_command_line(tmp_path) -> None:
    path = tmp_path / "twice.gdl"
    path.write_text("(role x) (init a) (init a) (legal x go) (<= terminal (true a)) (goal x 7)", encoding="utf-8")
    result = run("solve", str(path), "--out", str(tmp_path / "run"))
    assert "the rule is repeated; remove one copy" in result.stderr
    assert "Traceback" not in result.stderr


def test_teams_train_with_more_than_they_may_know(tmp_path: Path) -> None:
    """Many trainings in one command; the policy that is saved is worth what was printed."""
    game, folder = "trade_comm(items=2,messages=2)", tmp_path / "run"

    def command(parameters: str) -> list[str]:
        return ["solve", game, "--method", f"progressive-hiding({parameters})"]

    done = run(*command("learner=ftrl(eta=1),penalty=1:5"), "--runs", "20", "--out", str(folder), "--json")
    body = json.loads(done.stdout)
    runs = body["runs"]
    assert (runs["count"], body["iterations"], runs["best"]) == (20, 4000, pytest.approx(1.0, abs=1e-3))
    assert runs["quantile_10"] <= runs["mean"] <= runs["best"]
    assert body["bound"] == 1.0
    assert runs["share_optimal"] > 0.8
    figures = json.loads(run("evaluate", game, body["policy"], "--json").stdout)
    assert figures["values"] == body["values"] == pytest.approx([runs["best"]] * 2, abs=1e-9)
    assert "already contains a run" in run(*command(""), "--out", str(folder)).stderr
    for wrong, message in (
        ("relax=recal", "did you mean 'recall'?"),
        ("penalty=high", "penalty=high; allowed: a number from 0, two as 20:60, or a list of them, [0.5,1,2]"),
        ("penalty=-1", "penalty=-1; allowed: a number from 0"),
    ):
        refused = run(*command(wrong))
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert message in refused.stderr
    tried = json.loads(run(*command("penalty=[0.05,2]"), "--runs", "3", "--json").stdout)
    settings = [f"progressive-hiding(penalty={penalty})" for penalty in ("2", "0.05")]
    assert (tried["chosen"], list(tried["settings"]), tried["runs"]["count"]) == (settings[0], settings, 3)
    printed = run("solve", game, "--method", "progressive-hiding", "--seed", "1").stdout
    assert printed.count("on average by progressive-hiding(relax=") == 6
    relaxed = json.loads(run("solve", game, "--method", "information-relaxation", "--runs", "3", "--json").stdout)
    assert relaxed["runs"]["best"] <= relaxed["bound"] == pytest.approx(1.0)
    sweeps = ("--method", "annealing", "--iterations", "100", "--runs", "4")
    annealed = json.loads(run("solve", game, *sweeps, "--json").stdout)
    assert (annealed["values"], annealed["runs"]["count"]) == ([1.0, 1.0], 4)
    refused = run("solve", "kuhn_poker", "--method", "information-relaxation")
    assert "kuhn_poker: information relaxation is for one team; its players are paid differently" in refused.stderr


def test_sampling_solves_saves_resumes_and_is_evaluated(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = run("solve", "kuhn_poker", "--method", "mccfr", "--iterations", "2000", "--out", str(folder), "--json")
    body = json.loads(done.stdout)
    assert (body["iterations"], body["infosets"]) == (2000, 12)
    assert body["exploitability"] < 0.1
    same = json.loads(run("solve", "--resume", "--out", str(folder), "--json").stdout)  # to its own limits
    assert (same["iterations"], same["exploitability"]) == (2000, body["exploitability"])
    again = run("solve", "--resume", "--method", "mccfr", "--iterations", "20000", "--out", str(folder), "--json")
    assert json.loads(again.stdout)["exploitability"] < body["exploitability"]
    wrong = run("solve", "kuhn_poker", "--method", "mccfr(explor=1)", "--out", str(tmp_path / "other"))
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "did you mean 'explore'?" in wrong.stderr


def test_an_agent_that_searches_is_evaluated_without_the_extra_for_learning(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from infoset.cli.app import app; "
        "app(['evaluate', 'kuhn_poker', 'search(method=kluss, nodes=200)', '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert json.loads(done.stdout)["exploitability"] < 0.01


def test_the_options_of_verbs_are_known_without_slow_imports() -> None:
    """What ``--help`` needs of each verb brings neither compiled code nor an extra."""
    code = (
        "import importlib, sys\nfrom infoset.cli.app import VERBS\n"
        "for verb in VERBS: importlib.import_module('infoset.cli.' + verb.replace('-', '_'))\n"
        "print(sorted({'numba', 'scipy', 'torch', 'matplotlib', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
