"""Files that cannot be written: one line that names the file, and nothing lost that was computed."""

import errno
import json
import os
import re
import sys
from pathlib import Path

import pytest

from infoset import cli
from infoset.errors import CheckpointError
from infoset.files import create_file, make_folder, replace_file
from infoset.runs import RunConfig, RunFolder
from infoset.solvers.job import Point

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full(*_) -> None:
    raise FULL


def command(monkeypatch, *arguments: str) -> int:
    """The exit status of ``infoset …``."""
    monkeypatch.setattr(sys, "argv", ["infoset", *arguments])
    monkeypatch.setattr("warnings.showwarning", lambda *_: None)
    return cli.run_command()


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_replaces_none_also_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", no_link)
    path = tmp_path / "run" / "config.json"
    create_file(path, b"first")
    with pytest.raises(FileExistsError):
        create_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_names_the_file_and_keeps_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space left on device") as caught:
        replace_file(path, full)
    assert caught.value.filename == str(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["policy.npz"]


def test_an_error_without_a_number_is_about_the_file_too(tmp_path: Path) -> None:
    def short(_) -> None:
        raise OSError("100 requested and 7 written")  # as NumPy says it

    with pytest.raises(OSError, match="100 requested and 7 written") as caught:
        replace_file(tmp_path / "a", short)
    assert caught.value.filename == str(tmp_path / "a")


def test_no_temporary_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=re.escape(str(tmp_path / "folder"))) as caught:
        replace_file(tmp_path / "folder", lambda file: file.write(b""))
    assert "partial" not in str(caught.value)
    with pytest.raises(OSError, match="File name too long") as caught:
        replace_file(tmp_path / ("x" * 250), lambda file: file.write(b""))
    assert "partial" not in str(caught.value)


def test_a_file_where_a_folder_must_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "in" / "it"):
        with pytest.raises(NotADirectoryError, match="there is a file where a folder is needed") as caught:
            make_folder(path)
        assert caught.value.filename == str(tmp_path / "file")
    with pytest.raises(CheckpointError, match=r"file: cannot be written: there is a file where a folder is needed$"):
        RunFolder.create(tmp_path / "file", RunConfig("kuhn_poker", "cfr"))


def test_out_of_an_ordinary_file(tmp_path: Path, monkeypatch, capsys) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert command(monkeypatch, "match", "kuhn_poker", "random", "random", "--games", "1", "--replay", str(file)) == 1
    assert capsys.readouterr().err == f"infoset: {file}: cannot be written: {file} is a file, not a folder\n"
    assert file.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_point_that_does_not_fit_names_its_file(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", RunConfig("kuhn_poker", "cfr"))
    (folder.path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        folder.add_point(Point(1, 0.1, 1.0, 0.5, 0.5, 0.5))
    assert caught.value.filename == str(folder.path / "metrics.jsonl")
    folder.close()


def test_games_that_are_over_are_reported_when_the_disk_is_full(tmp_path: Path, monkeypatch, capsys) -> None:
    from infoset.match.replay import Match

    save, saved = Match.save, []

    def third_fails(self, path):
        saved.append(path)
        if len(saved) == 3:
            return replace_file(path, full)
        return save(self, path)

    monkeypatch.setattr(Match, "save", third_fails)
    where = str(tmp_path / "games")
    assert (
        command(monkeypatch, "match", "kuhn_poker", "random", "random", "--games", "9", "--replay", where, "--json")
        == 1
    )
    printed = capsys.readouterr()
    assert json.loads(printed.out)["games"] == 3  # the third is over, too
    assert printed.err == f"infoset: {saved[2]}: No space left on device\n"


@pytest.mark.filterwarnings("always::infoset.runs.UnsavedWarning")  # which the command line prints
def test_figures_are_shown_when_the_policy_cannot_be_kept(monkeypatch, capsys, tmp_path: Path) -> None:
    def full_disk(folder, policy) -> None:
        replace_file(folder.path / "policy.npz", full)

    monkeypatch.setattr(RunFolder, "save_policy", full_disk)
    where = str(tmp_path / "run")
    assert command(monkeypatch, "solve", "kuhn_poker", "--method", "lp", "--out", where) == 1
    printed = capsys.readouterr()
    assert "exploitability   " in printed.out
    assert "policy.npz: No space left on device" in printed.err
