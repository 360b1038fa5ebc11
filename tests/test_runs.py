"""Run folders: what they hold, and what happens to broken ones."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import KUHN, form_of
from infoset import Solution, TabularPolicy, cfr, evaluate, load, plot, solve
from infoset.cli.app import app
from infoset.errors import CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset.runs import RunConfig, RunFolder

CONFIG = RunConfig(KUHN, "cfr")


def test_create_then_open(tmp_path) -> None:
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    solver = cfr().solver(form_of(KUHN))
    solver.step(3)
    folder.save_checkpoint(solver, 0.5)
    with pytest.raises(CheckpointError, match="another process is using this run"):
        RunFolder.open(tmp_path / "run")
    folder.close()
    _, config, saved = RunFolder.open(tmp_path / "run")
    assert config == CONFIG
    assert saved is not None
    assert (int(saved["iteration"]), saved["seconds"]) == (3, 0.5)


def test_points_are_not_repeated(tmp_path) -> None:
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    curve = solve(form_of(KUHN), "cfr", iterations=20).curve
    for point in (*curve, *curve):
        folder.add_point(point)
    assert RunFolder(tmp_path / "run").points() == list(curve)


def test_a_resumed_run_forgets_what_came_after_its_checkpoint(tmp_path) -> None:
    """A killed run may have noted points that its checkpoint has not reached, and half a line."""
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    for point in solve(form_of(KUHN), "cfr", iterations=20).curve:
        folder.add_point(point)
    solver = cfr().solver(form_of(KUHN))
    solver.step(7)
    folder.save_checkpoint(solver, 0.1)
    with open(tmp_path / "run" / "metrics.jsonl", "ab") as file:
        file.write(b'{"iteration": 99, "sec\xff')
    folder.close()
    again, _, saved = RunFolder.open(tmp_path / "run")
    again.go_on(saved)
    assert [point.iteration for point in again.points()] == [0, 1, 2, 3, 4, 5, 6, 7]
    again.add_point(solve(form_of(KUHN), "cfr", iterations=8).curve[-1])
    assert [point.iteration for point in again.points()][-2:] == [7, 8]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", b"{", "config.json"),
        ("config.json", b'{"game": "kuhn_poker", "method": "cfr", "schema": 9}', "run schema 9"),
        ("checkpoint.npz", b"PK junk", "not a checkpoint"),
        ("checkpoint.npz", b"", "not a checkpoint"),
    ],
)
def test_broken_folders(tmp_path, name: str, content: bytes, words: str) -> None:
    RunFolder.create(tmp_path, CONFIG).close()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        RunFolder.open(tmp_path)


def test_a_fresh_name_each_time(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [RunFolder.create(None, RunConfig("some/where/a game.efg", "dcfr(alpha=2.0)")).path for _ in range(3)]
    assert [str(p) for p in paths] == [
        "runs/a-game.efg-dcfr-alpha=2.0",
        "runs/a-game.efg-dcfr-alpha=2.0-2",
        "runs/a-game.efg-dcfr-alpha=2.0-3",
    ]


def test_an_unwritable_place_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        RunFolder.create(tmp_path / "file" / "run", CONFIG)


def test_a_checkpoint_that_would_unpack_is_refused(tmp_path: Path) -> None:
    """Checkpoints are written as they are: one that is packed is none of ours, and could fill the memory."""
    folder = RunFolder.create(tmp_path / "run", RunConfig(KUHN, "cfr"))
    arrays = {"iteration": np.array(3), "seconds": np.array(1.0), "regrets": np.zeros(10**6)}
    np.savez_compressed(folder.path / "checkpoint.npz", **arrays)
    folder.close()
    with pytest.raises(
        CheckpointError, match=r"checkpoint.npz: not a checkpoint: it unpacks to 8,000,\d+ bytes; at most"
    ):
        folder._load_checkpoint()
    folder._save_arrays("checkpoint.npz", arrays)
    saved = folder._load_checkpoint()
    assert saved is not None
    assert saved["iteration"] == 3


def test_arrays_that_were_changed_since_they_were_written_are_refused(tmp_path: Path) -> None:
    """Kernels walk them without looking at bounds."""
    folder = RunFolder.create(tmp_path / "run", RunConfig(KUHN, "cfr"))
    arrays = {"iteration": np.array(3), "seconds": np.array(1.0), "regrets": np.zeros(4)}
    folder._save_arrays("checkpoint.npz", arrays)
    with np.load(folder.path / "checkpoint.npz") as archive:
        saved = {name: archive[name] for name in archive.files}
    for changed in (
        {"regrets": np.ones(4)},
        {"regrets": np.zeros(5)},
        {"iteration": np.array(4)},
        {"more": np.zeros(1)},
    ):
        np.savez(folder.path / "checkpoint.npz", **saved | changed)
        with pytest.raises(CheckpointError, match="their checksum is another one"):
            folder._load_checkpoint()
    np.savez(folder.path / "checkpoint.npz", **arrays)
    with pytest.raises(CheckpointError, match="it has no checksum: an older version wrote it"):
        folder._load_checkpoint()
    folder.close()


def test_a_runs_folder_is_read_again_as_what_solve_returned(tmp_path) -> None:
    """The curve, the policy and all figures; nothing is evaluated again."""
    solution = solve(KUHN, "cfr", iterations=50, seed=3, out=tmp_path / "run")
    again = Solution.load(tmp_path / "run")
    assert again == solution
    assert again.policy.tables == TabularPolicy.load(tmp_path / "run").tables == solution.policy.tables
    assert again.curve == solution.curve
    assert again.plot() is not None


@pytest.mark.parametrize(
    ("game", "method"),
    [
        (KUHN, "logit"),
        (KUHN, "team-maxmin"),
        (KUHN, "belief-dag"),
        ("tiny_hanabi(game=A)", "annealing"),
        (KUHN, "mccfr"),
    ],
)
def test_solutions_of_every_kind_are_read_again(tmp_path, game: str, method: str) -> None:
    limits = {"iterations": 2000} if method == "mccfr" else {}
    if method in ("team-maxmin", "belief-dag"):
        limits = {"teams": "1,2"}
    solution = solve(game, method, out=tmp_path / "run", **limits)
    again = Solution.load(str(tmp_path / "run"))
    for field in dataclasses.fields(solution):
        if field.name != "policy":  # which may hold arrays
            assert getattr(again, field.name) == getattr(solution, field.name), field.name
    assert evaluate(game, again.policy).values == pytest.approx(evaluate(game, solution.policy).values, abs=1e-15)


def test_a_run_that_was_cut_is_read_as_its_last_checkpoint(tmp_path) -> None:
    whole = solve(KUHN, "cfr", iterations=20, out=tmp_path / "run")
    (tmp_path / "run" / "solution.json").unlink()
    cut = Solution.load(tmp_path / "run")
    assert (cut.stopped, cut.iterations, cut.players) == ("interrupted", 20, ("P1", "P2"))
    assert (cut.nash_conv, cut.values) == (whole.nash_conv, whole.values)


def test_a_resumed_run_has_the_whole_curve(tmp_path) -> None:
    begun = solve(KUHN, "cfr", iterations=20, out=tmp_path / "run")
    rest = solve(out=tmp_path / "run", resume=True, iterations=60)
    whole = solve(KUHN, "cfr", iterations=60)
    assert rest.curve[: len(begun.curve)] == begun.curve
    figures = [{point.iteration: point.nash_conv for point in one.curve} for one in (rest, whole)]
    assert figures[0] == figures[1] | {20: begun.curve[-1].nash_conv}
    assert Solution.load(tmp_path / "run") == rest


def test_what_is_no_run_and_what_is_no_table_is_said_in_one_line(tmp_path) -> None:
    solve(KUHN, "mccfr", iterations=200, out=tmp_path / "sampled")
    with pytest.raises(PolicyError, match=r"contains a policy of another kind.* read any kind"):
        TabularPolicy.load(tmp_path / "sampled")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match=r"contains no run: config.json is missing"):
        Solution.load(tmp_path / "empty")
    with pytest.raises(PolicyError, match="no such file"):
        TabularPolicy.load(tmp_path / "empty")
    (tmp_path / "sampled" / "solution.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"solution.json"):
        Solution.load(tmp_path / "sampled")


def test_a_runs_folder_stands_for_its_game_and_itself(tmp_path, monkeypatch, capsys) -> None:
    """In every verb that takes a game and a run; a game that is typed and does not fit is one line."""
    monkeypatch.chdir(tmp_path)
    solve(KUHN, "lp", out="runs/v1.5")
    solve("rock_paper_scissors", "cfr", iterations=10, out="rps")

    def say(*words: str) -> str:
        app(list(words), standalone_mode=False)
        return capsys.readouterr().out

    assert say("evaluate", "runs/v1.5", "--json") == say("evaluate", KUHN, "runs/v1.5", "--json")
    assert say("show", "runs/v1.5") == say("show", KUHN, "runs/v1.5")
    assert say("show", "runs/v1.5", "--stability") == say("show", KUHN, "runs/v1.5", "--stability")
    assert say("check", "runs/v1.5") == say("check", KUHN, "runs/v1.5")
    played = json.loads(say("match", "runs/v1.5", "random", "--games", "3", "--json"))
    assert (played["game"], [one["agent"] for one in played["agents"]]) == (KUHN, ["policy(path=runs/v1.5)", "random"])
    say("convert", "runs/v1.5", "kuhn.efg")
    assert solve("runs/v1.5", "cfr", iterations=1, out="more").game == KUHN
    assert load("runs/v1.5").name == KUHN
    for words in (
        ["evaluate", "leduc_poker", "runs/v1.5"],
        ["show", "rps", "runs/v1.5"],
        ["evaluate", "rps", "runs/v1.5"],
    ):
        with pytest.raises(PolicyError, match=f"was made for {KUHN}") as raised:
            say(*words)
        assert "\n" not in str(raised.value)
    with pytest.raises(ParameterError, match="name WHAT to evaluate after kuhn_poker"):
        say("evaluate", KUHN)


def test_a_run_that_names_python_code_does_not_run_it(tmp_path) -> None:
    RunFolder.create(tmp_path / "run", RunConfig("python:evil.py:Game", "cfr")).close()
    with pytest.raises(UnsupportedGameError, match="names Python code"):
        load(str(tmp_path / "run"))
    with pytest.raises(UnsupportedGameError, match="names Python code"):
        app(["evaluate", str(tmp_path / "run")], standalone_mode=False)


def test_curves_of_runs_share_a_picture_with_names(tmp_path, monkeypatch, capsys) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plot')")
    monkeypatch.chdir(tmp_path)
    for method in ("cfr", "cfr+"):
        solve(KUHN, method, iterations=30, out=f"runs/{method}")
    solve(KUHN, "lp", out="runs/lp")
    app(["plot", "runs/cfr", "runs/cfr+", "--out", "both.svg"], standalone_mode=False)
    assert capsys.readouterr().out == "both.svg\n"
    assert (tmp_path / "both.svg").read_bytes().startswith(b"<?xml")
    axes = plot(["runs/cfr", Solution.load("runs/cfr+")])
    assert [line.get_label() for line in axes.get_lines()] == ["runs/cfr", "runs/cfr+"]
    assert len({line.get_color() for line in axes.get_lines()}) == 2
    assert axes.get_lines()[0].get_ydata()[-1] == Solution.load("runs/cfr").exploitability
    with pytest.raises(ParameterError, match="runs/lp has no curve"):
        plot(["runs/cfr", "runs/lp"])
    with pytest.raises(ParameterError, match=r"allowed: \.png, \.svg, \.pdf"):
        plot(["runs/cfr"], "curve.txt")
    with pytest.raises(ParameterError, match="allowed: a list"):
        plot("runs/cfr")
