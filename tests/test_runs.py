"""Run folders: what they hold, and what happens to broken ones."""

from pathlib import Path

import numpy as np
import pytest

from conftest import KUHN, form_of
from infoset import cfr, solve
from infoset.errors import CheckpointError
from infoset.runs import RunConfig, RunFolder

CONFIG = RunConfig(KUHN, "cfr")


def test_create_then_open(tmp_path) -> None:
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    solver = cfr().solver(form_of(KUHN))
    solver.step(3)
    folder.save_checkpoint(solver, 0.5)
    with pytest.raises(CheckpointError, match="another process is at this run"):
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
    np.savez(folder.path / "checkpoint.npz", **arrays)
    saved = folder._load_checkpoint()
    assert saved is not None
    assert saved["iteration"] == 3
