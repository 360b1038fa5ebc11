"""Full disks lose no figures, killed processes leave nothing, and what a file says twice or by halves is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest

import infoset
from extent import mark_slow
from infoset import cli
from infoset.arena.competition import read as read_competition
from infoset.errors import LONGEST, CheckpointError, FormatError, InfosetError, ParameterError, PolicyError
from infoset.files import POLICY, clear_partials, create_file, lock_file, replace_file
from infoset.match.agents import load_agent
from infoset.node_locking import read_locks
from infoset.policies.loading import load_policy
from infoset.policies.table_file import TableFile
from infoset.runs import RunConfig, RunFolder, UnsavedWarning
from infoset.solvers.job import Point

resource = pytest.importorskip("resource")
HUGE = "9" * 5000


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file become larger than so many bytes, as on a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def status(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run a command, and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["infoset", *words])
    monkeypatch.setattr("warnings.showwarning", lambda *_: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsavedWarning)
        return cli.run_command()


@pytest.mark.parametrize("size", mark_slow([400, 900, 3000, 9000], {900, 9000}))
def test_figures_of_a_solve_are_printed_wherever_the_disk_is_full(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "solve", "kuhn_poker", "--method", "cfr", "--iterations", "200", "--json", "--out"
    assert status(monkeypatch, *words, str(tmp_path / "whole")) == 0
    whole = json.loads(capsys.readouterr().out)
    with full_disk(size):
        assert status(monkeypatch, *words, str(tmp_path / "run")) == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["values"], found["exploitability"]) == (whole["values"], whole["exploitability"])
    assert printed.err.splitlines()[-1].endswith("File too large")
    resumed = infoset.solve(out=tmp_path / "run", resume=True)  # there is room again
    assert resumed.values == tuple(whole["values"])
    assert [p.iteration for p in resumed.curve] == [
        p.iteration for p in infoset.Solution.load(tmp_path / "whole").curve
    ]


@pytest.mark.slow
def test_figures_of_a_training_are_printed_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    words = "train", "kuhn_poker", "--method", "resolving", "--steps", "1", "--games", "2", "--json", "--out"
    assert status(monkeypatch, *words, str(tmp_path / "whole"), "--epochs", "1") == 0
    capsys.readouterr()
    with full_disk(2000):
        assert status(monkeypatch, *words, str(tmp_path / "run"), "--epochs", "2") == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["last"]["iteration"] == 2
    assert printed.err.splitlines()[-1].endswith("checkpoint.npz: File too large")


def test_games_and_pictures_are_told_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with full_disk(1):
        games = "match", "kuhn_poker", "random", "random", "--games", "5", "--json", "--replay", str(tmp_path / "r")
        assert status(monkeypatch, *games) == 1
        assert json.loads(capsys.readouterr().out)["games"] == 1
        assert status(monkeypatch, "show", "kuhn_poker", "--svg", str(tmp_path / "x.svg")) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("kuhn_poker\n")
    assert printed.err == f"infoset: {tmp_path / 'x.svg'}: File too large\n"


@pytest.mark.slow
def test_the_games_of_a_tournament_that_are_kept_are_reported_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.db"
    words = "tournament", "kuhn_poker", "random", "random", "--games", "400", "--workers", "1", "--json", "--db"
    with full_disk(300_000):
        assert status(monkeypatch, *words, str(file)) == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert 0 < found["games"] < found["planned"] == 400
    assert "could not be saved" in printed.err.splitlines()[-1]
    assert status(monkeypatch, *words, str(file)) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 400


def test_nothing_is_left_of_what_could_not_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with full_disk(1):
        with pytest.raises(CheckpointError, match="run: cannot be written"):
            RunFolder.create(tmp_path / "run", RunConfig("kuhn_poker", "cfr"))
        with pytest.raises(CheckpointError, match="cannot be written"):
            RunFolder.create(tmp_path / "*", RunConfig("kuhn_poker", "cfr"))
        with pytest.raises(CheckpointError):
            infoset.tournament("kuhn_poker", ["random", "random"], games=2, workers=1, db=tmp_path / "t.db")
        with pytest.raises(OSError, match="File too large"):
            infoset.new_agent(tmp_path / "agent")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    infoset.new_agent(tmp_path / "agent")

    def fail(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr("os.link", fail)
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="not supported"):
        create_file(tmp_path / "new" / "config.json", b"{}")
    assert not list((tmp_path / "new").iterdir())


def test_a_point_that_does_not_fit_is_written_later(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", RunConfig("kuhn_poker", "cfr"))
    folder.add_point(Point(0, 0.0))
    before = (folder.path / "metrics.jsonl").read_bytes()
    with full_disk(len(before) + 10):
        with pytest.warns(UnsavedWarning, match=r"jsonl: File too large; the run continues"), folder.attempt(True):
            folder.add_point(Point(1, 0.1))
        assert (folder.path / "metrics.jsonl").read_bytes() == before
    folder.add_point(Point(2, 0.2))
    assert [point.iteration for point in RunFolder(folder.path).points()] == [0, 1, 2]
    folder.close()


def test_unfinished_files_of_killed_processes_go_at_the_next_write(tmp_path: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from infoset.files import replace_file\n"
        "replace_file(Path(sys.argv[1]), lambda file: (file.write(b'half'), file.flush(), os.kill(os.getpid(), 9)))"
    )
    subprocess.run([sys.executable, "-c", killed, str(tmp_path / "policy.npz")], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".partial")
    working = tmp_path / ".other.npz.1.partial"
    with working.open("wb") as file:
        assert lock_file(file.fileno())
        replace_file(tmp_path / "other.npz", lambda out: out.write(b"whole"))
        assert sorted(path.name for path in tmp_path.iterdir()) == [working.name, "other.npz"]
    clear_partials(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["other.npz"]


# What occurs twice


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved")
    infoset.solve("kuhn_poker", "cfr", iterations=20, out=folder / "run")
    infoset.convert(str(folder / "run" / POLICY), folder / "policy.json")
    return folder


def test_a_set_or_a_move_that_stands_twice_in_json_is_refused(solved: Path, tmp_path: Path) -> None:
    text = (solved / "policy.json").read_text()
    row = '"J": {\n    "pass"'
    assert row in text
    for twice, old, new in (
        ("J", row, '"J": {"pass": 1, "bet": 0}, ' + row),
        ("pass", row, '"J": {\n    "pass": 0.5,\n    "pass"'),
        ("game", '"game":', '"game": "leduc_poker", "game":'),
    ):
        (tmp_path / "p.json").write_text(text.replace(old, new, 1))
        with pytest.raises(PolicyError, match=f"the key '{twice}' occurs twice in one object"):
            load_policy(tmp_path / "p.json")


def rewrite(source: Path, target: Path, change: Callable[[dict[str, object]], object]) -> Path:
    """Change the header of an archive, and leave its arrays as they are."""
    with np.load(source) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = msgspec.json.decode(arrays["header"].tobytes())
    change(header)
    arrays["header"] = np.frombuffer(msgspec.json.encode(header), np.uint8)
    np.savez(target, **arrays)
    return target


def test_a_set_or_a_move_that_stands_twice_in_an_archive_is_refused(solved: Path, tmp_path: Path) -> None:
    def twin_set(header) -> None:
        header["keys"][0][1] = header["keys"][0][0]

    def twin_move(header) -> None:
        header["actions"][0][0] = ["pass", "pass"]

    for change in (twin_set, twin_move):
        file = rewrite(solved / "run" / POLICY, tmp_path / "p.npz", change)
        for read in (load_policy, TableFile.read):
            with pytest.raises(PolicyError, match="occurs twice"):
                read(file)
    plans = infoset.solve("kuhn_poker(players=3)", "team-maxmin", teams="1+2,3").policy.save(tmp_path / "plans.npz")
    pieces = infoset.solve("gdl:meier", "public").policy.save(tmp_path / "pieces.npz")

    def twin_key_of_a_piece(header) -> None:
        keys = next(keys for part in header["keys"] for keys in part if len(keys) > 1)
        keys[1] = keys[0]

    for source, change in ((plans, twin_set), (pieces, twin_key_of_a_piece)):
        with pytest.raises(PolicyError, match="occurs twice"):
            load_policy(rewrite(source, tmp_path / "twice.npz", change))


def test_an_array_that_stands_twice_or_is_none_or_complex_is_refused(solved: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.npz"
    body = (solved / "run" / POLICY).read_bytes()
    for member, wrong in (("header.npy", "'header' occurs twice"), ("note.txt", "no array of numbers or texts|kind")):
        file.write_bytes(body)
        with zipfile.ZipFile(file, "a") as archive:
            if member == "header.npy":
                with pytest.warns(UserWarning, match="Duplicate name"):
                    archive.writestr(member, b"no array")
            else:
                archive.writestr(member, b"no array")
        with pytest.raises(PolicyError, match=wrong):
            load_policy(file)
    with np.load(solved / "run" / POLICY) as archive:
        arrays = {name: archive[name] for name in archive.files}
    np.savez(file, header=arrays["header"], probabilities=arrays["probabilities"].astype(complex))
    for read in (load_policy, TableFile.read):
        with pytest.raises(PolicyError, match=r"no (array of|plain) numbers"):
            read(file)


def test_a_lock_or_a_player_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="lock: P1 is given twice"):
        read_locks(["P1=random", "P1=other.npz"])
    (tmp_path / "lock.json").write_text('{"P1": {"J": {"bet": 1}, "J": {"pass": 1}}}')
    with pytest.raises(FormatError, match="the key 'J' occurs twice"):
        read_locks([str(tmp_path / "lock.json")])
    with pytest.raises(ParameterError, match="lock: K bet is given twice"):
        infoset.solve("kuhn_poker", lock={"K bet": {"bet": 1.0}, ("P2", "K bet"): {"pass": 1.0}})
    with pytest.raises(ParameterError, match="lock: P1 is given twice"):
        infoset.solve("kuhn_poker", lock={0: "random", "P1": "random"})
    with pytest.raises(PolicyError, match="two players of a policy are called 'P1'"):
        infoset.TabularPolicy("g", ("P1", "P1"), ({}, {}))
    with pytest.raises(PolicyError, match="a move that is no text"):
        infoset.TabularPolicy("g", ("P1",), ({"J": {1: 1.0}},))


# Runs that were edited


@pytest.mark.parametrize(
    "field, value", [("method", '"cfr+"'), ("seed", "7"), ("start", '"random"'), ("form", '"tree"')]
)
def test_an_edited_configuration_beside_old_arrays_is_refused(
    field: str, value: str, solved: Path, tmp_path: Path
) -> None:
    for name in ("config.json", "checkpoint.npz", "metrics.jsonl", "solution.json", POLICY):
        (tmp_path / name).write_bytes((solved / "run" / name).read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    edited = config | {field: json.loads(value)}
    (tmp_path / "config.json").write_text(json.dumps(edited))
    with pytest.raises(CheckpointError, match=r"config.json is not that of the checkpoint beside it: restore .* --out"):
        infoset.solve(out=tmp_path, resume=True)
    with pytest.raises(CheckpointError, match=r"config.json is not that of the result beside it: restore .* --out"):
        infoset.Solution.load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config | {"iterations": 30}))  # how long it works may change
    assert infoset.solve(out=tmp_path, resume=True).iterations == 30


@pytest.mark.parametrize("line", ["null", "{}", '{"iteration": null, "seconds": 0}', '{"iteration": 1, "seconds": "x"}',
    f'{{"iteration": {HUGE}, "seconds": 0}}', f'{{"iteration": {HUGE[:400]}, "seconds": 0}}', "\xff"])  # fmt: skip
def test_a_line_of_a_curve_that_is_no_point_is_refused(line: str, solved: Path, tmp_path: Path) -> None:
    for name in ("config.json", "checkpoint.npz", POLICY):
        (tmp_path / name).write_bytes((solved / "run" / name).read_bytes())
    points = (solved / "run" / "metrics.jsonl").read_bytes()
    (tmp_path / "metrics.jsonl").write_bytes(line.encode("latin-1") + b"\n" + points)
    for read in (infoset.Solution.load, lambda folder: infoset.solve(out=folder, resume=True)):
        with pytest.raises(CheckpointError, match=r"metrics.jsonl:1: no point of a curve: ") as caught:
            read(tmp_path)
        assert len(str(caught.value)) < 600
    (tmp_path / "metrics.jsonl").write_bytes(points + b'{"iteration": 9')  # cut off by a kill
    assert infoset.solve(out=tmp_path, resume=True, iterations=30).iterations == 30


@pytest.mark.parametrize(
    "wrong", [{"score": 0.5, "duels": 0}, {"score": 2.0, "duels": 4}, {"start_values": [1.0]}, {"games": None}]
)
def test_an_epoch_that_cannot_be_is_refused(wrong: dict[str, object], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from infoset.learn.train import TrainingFolder

    sound = {"iteration": 1, "seconds": 1, "games": 2, "states": 3, "value_loss": 0.1, "start_values": [0.0, 0.0]}
    lines = [json.dumps(sound), json.dumps(sound | {"iteration": 2} | wrong)]
    (tmp_path / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(CheckpointError, match=r"metrics.jsonl:2: "):
        TrainingFolder(tmp_path).points()


# Huge numbers and long lines


def test_integers_of_thousands_of_digits_are_refused_in_one_line(tmp_path: Path) -> None:
    cup = f'game = "kuhn_poker"\nteams = ["random", "random"]\nseed = {HUGE}\n'
    files = {
        "cup.toml": cup, "moves.json": f"[{HUGE}]", "p.json": f'{{"schema": {HUGE}}}', "l.json": f'{{"P1": {HUGE}}}',
        "g.efg": f'EFG 2 R "" {{ "A" }} ""\np "" 1 {HUGE} "" {{ "a" }} 0\nt "" 0\n', "g.csv": f",a,b\nx,{HUGE},0\ny,0,1\n",
        "g.nfg": f'NFG 1 R "" {{ "A" "B" }} {{ 1 1 }} {HUGE} 0\n',
    }  # fmt: skip
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    reads: list[Callable[[], object]] = [
        lambda: read_competition(tmp_path / "cup.toml"),
        lambda: load_agent(f"scripted(path={tmp_path / 'moves.json'})"),
        lambda: load_policy(tmp_path / "p.json"),
        lambda: read_locks([str(tmp_path / "l.json")]),
        *[lambda name=name: infoset.load(str(tmp_path / name)) for name in ("g.efg", "g.csv", "g.nfg")],  # type: ignore[misc]
        *[lambda n=n: infoset.load(f"kuhn_poker(players={HUGE[:n]})") for n in (400, 4000, 5000)],  # type: ignore[misc]
        *[lambda n=n: infoset.solve("kuhn_poker", f"dcfr(alpha={HUGE[:n]})") for n in (400, 4000, 5000)],  # type: ignore[misc]
        *[lambda text=text: infoset.load(f"battleship(ships={text})") for text in (f'["{HUGE}"]', f"[1,{HUGE}/2]")],  # type: ignore[misc]
        *[lambda name=name: infoset.load(name) for name in (f'holdem_river(bets=["{HUGE}"])', "é" * 250, "x" * 5000)],  # type: ignore[misc]
        lambda: infoset.solve("kuhn_poker", "cfr", iterations=10**4000),
    ]
    for read in reads:
        with pytest.raises(InfosetError) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "words", [("solve", f"kuhn_poker{HUGE}"), ("solve", "kuhn_poker", "--iterations", HUGE), ("solve", f"--{HUGE}"),
    (HUGE,), ("convert", HUGE, HUGE), ("plot", HUGE), ("compete", f"{HUGE}.toml"),
    ("watch", "/".join([HUGE[:200]] * 20))], ids=lambda words: words[0][:20]
)  # fmt: skip
def test_error_lines_are_of_bounded_length(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(monkeypatch, *words) in (1, 2)
    for line in capsys.readouterr().err.splitlines():
        assert len(line) < LONGEST + 100
        assert "internal error" not in line


def test_the_end_of_a_long_message_is_kept() -> None:
    error = FormatError(f"{'x' * 5000}; allowed: at most 10")
    assert len(str(error)) == LONGEST
    assert str(error).endswith("; allowed: at most 10")
