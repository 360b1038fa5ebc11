"""Reports over flops: what is in them, and that they go on after anything that ends them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

import infoset
from command_line import INFOSET, run_infoset
from infoset import FlopReport, flop_report, report_flops
from infoset.errors import CheckpointError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.flop_report import FlopFigures, _ranges_of, _weights
from infoset.games.flops import flop_subset
from infoset.games.poker_hands import cards_of, hand_name
from infoset.spots import SpotTree

SPOT = "holdem(pot=20,stack=20,bets='100%',raises=none,range1='AA 76s',range2='KK QJs')"
FLOPS = ["AsKs2h", "9s8h2d", "QhJd5s"]
ROUGH = {"flops": FLOPS, "iterations": 5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "flops"
    report_flops(SPOT, out=path, **ROUGH)
    return path


def figures_of(report: FlopReport) -> list[FlopFigures]:
    """The rows without what no two runs have in common."""
    return [msgspec.structs.replace(row, seconds=0.0) for row in report.rows]


def without(folder: Path, path: Path, *flops: str) -> Path:
    """A copy of a report in which some flops are not solved yet."""
    (path / "flops").mkdir(parents=True)
    for file in (folder / "report.json", *(folder / "flops").iterdir()):
        if file.stem not in flops:
            (path / file.relative_to(folder)).write_bytes(file.read_bytes())
    return path


def test_each_row_is_the_solution_of_its_flop() -> None:
    seen: list[tuple[int, str]] = []
    report = report_flops(SPOT, progress=lambda so_far: seen.append((len(so_far.rows), so_far.stopped)), **ROUGH)
    assert seen == [(count, "running") for count in range(4)]
    assert (report.stopped, report.planned, report.pot) == ("flops", 3, 20)
    for flop, row in zip(FLOPS, report.rows, strict=True):
        game = infoset.load(SPOT.replace("(", f"(board={flop},"))
        solution = infoset.solve(game, form="vector", iterations=5)
        tree = SpotTree.of(game, solution.policy)
        first, answer = tree.node().tables, tree.node(["check"]).tables[1]
        assert row.flop == flop and row.iterations == 5
        assert row.ev == pytest.approx(solution.values, abs=1e-5)
        assert row.exploitability == solution.exploitability
        assert row.equity == pytest.approx(first[0].shares @ first[0].equity)
        assert row.first == pytest.approx(dict(zip(first[0].actions, first[0].shares @ first[0].strategy, strict=True)))
        assert row.after_check == pytest.approx(dict(zip(answer.actions, answer.shares @ answer.strategy, strict=True)))


def test_means_are_weighted_and_written_as_a_table(folder: Path) -> None:
    report = FlopReport.load(folder)
    mean, table = report.mean, report.table()
    assert mean is not None and sum(report.weights) == pytest.approx(1)
    assert mean.ev[0] == pytest.approx(sum(w * row.ev[0] for w, row in zip(report.weights, report.rows, strict=True)))
    assert sum(mean.first.values()) == pytest.approx(1) and sum(mean.after_check.values()) == pytest.approx(1)
    assert list(table[0]) == [
        "flop", "weight", "ev P1", "ev P2", "equity P1", "P1 check", "P1 bet 20", "P2 check after check",
        "P2 bet 20 after check", "exploitability", "iterations", "seconds",
    ]  # fmt: skip
    read = list(csv.DictReader(io.StringIO((folder / "report.csv").read_text())))
    assert [row["flop"] for row in read] == FLOPS
    for row, own in zip(read, table, strict=True):
        assert {k: float(v) for k, v in row.items() if k != "flop"} == pytest.approx(
            {k: v for k, v in own.items() if k != "flop"}, rel=1e-6
        )


def test_weights_are_the_probabilities_of_flops_given_the_ranges() -> None:
    config = flop_report._begin(flop_report.FlopReportArguments(SPOT, flops=40))
    one, two = _ranges_of(config.game)
    found = _weights(config)
    for flop, weight in flop_subset(40).items():
        together = sum(
            a * b
            for (x, a), (y, b) in product(one.items(), two.items())
            if len({*x, *y, *flop}) == 7
        )  # fmt: skip
        assert found[hand_name(flop)] == pytest.approx(weight * together)


def test_listed_flops_weigh_as_many_flops_as_they_stand_for() -> None:
    found = flop_report._flops_of("AsAhAd, Td9d6h 9s8h2c")
    assert found == {"AsAhAd": 4 / 40, "Td9d6h": 12 / 40, "9s8h2c": 24 / 40}
    assert list(flop_report._flops_of("25")) == [hand_name(flop) for flop in flop_subset(25)]


def test_flops_without_hands_are_left_out() -> None:
    spot = SPOT.replace("AA 76s", "AA")
    report = report_flops(spot, flops=["AsAhAd", "9s8h2d"], iterations=1)
    assert [row.flop for row in report.rows] == ["9s8h2d"] and report.planned == 1
    with pytest.raises(ParameterError, match="beside none of them the ranges leave hands"):
        report_flops(spot, flops=["AsAhAd"])


def test_the_default_is_half_a_per_cent_of_the_pot(tmp_path: Path) -> None:
    report = report_flops(SPOT, flops=["9s8h2d"], out=tmp_path / "new")
    assert report.rows[0].exploitability <= 0.005 * 20
    assert json.loads((tmp_path / "new" / "report.json").read_text())["target"] == "0.5%"


def test_a_report_goes_on_with_the_flops_that_are_left(folder: Path, tmp_path: Path) -> None:
    before = FlopReport.load(folder)
    path = without(folder, tmp_path / "report", "9s8h2d")
    assert FlopReport.load(path).stopped == "interrupted"
    (path / "flops" / ".9s8h2d.json.1.partial").write_bytes(b'{"flo')  # left by a process that was killed
    with patch.object(flop_report, "_solve_flop", wraps=flop_report._solve_flop) as solve:
        after = report_flops(out=path)
    assert [call.args[1] for call in solve.call_args_list] == ["9s8h2d"]
    assert figures_of(after) == figures_of(before) and after.weights == before.weights
    assert {file.name for file in (path / "flops").iterdir()} == {f"{flop}.json" for flop in FLOPS}


def test_flops_can_be_added_and_nothing_else_changed(folder: Path, tmp_path: Path) -> None:
    path = without(folder, tmp_path / "report")
    more = report_flops(SPOT, out=path, flops=[*FLOPS, "7s7h2d"])
    assert [row.flop for row in more.rows] == [*FLOPS, "7s7h2d"] and more.stopped == "flops"
    assert len(FlopReport.load(path).rows) == 4
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"iterations": 6}, "iterations=5, not 6"), ({"target": "1%"}, "target=None, not 1%"),
        ({"method": "pcfr+"}, "method=auto, not pcfr+"), ({"precision": "double"}, "precision=None, not double"),
        ({"game": SPOT.replace("76s", "75s")}, "game=holdem"), ({"flops": 25}, "over 4 flops that are not all among"),
    ]  # fmt: skip
    for given, why in refusals:
        with pytest.raises(CheckpointError, match=re.escape(why)):
            report_flops(out=path, **given)


@pytest.mark.parametrize("flops", [0, 1756, "AsKs", "", [], ["AsKs2h", "AhKh2s"], "AsAs2h", "abc", ["AsKs2hTd"]])
def test_flops_that_cannot_be_are_refused(flops: Any) -> None:
    with pytest.raises(ParameterError, match=r"flops|size=|card"):
        report_flops(SPOT, flops=flops)


def test_other_games_are_refused() -> None:
    for game, why in (
        ("kuhn_poker", "no spot of hold'em from the flop on"),
        ("holdem_turn", "no spot of hold'em from the flop on"),
        (SPOT.replace("(", "(board=Td9d6hQc,"), "a board of 4 cards"),
        (SPOT.replace("AA", "AhAd"), "range1 tells suits apart"),
        (SPOT.replace("QJs", "KhQh:0.5"), "range2 tells suits apart"),
    ):
        with pytest.raises(UnsupportedGameError, match=why):
            report_flops(game)
    with pytest.raises(ParameterError, match="no GAME given"):
        report_flops()
    with pytest.raises(ParameterError, match="not an option of lp"):
        report_flops(SPOT, method="lp")
    with pytest.raises(UnknownNameError, match="executor"):
        report_flops(SPOT, executor="cloud")
    with pytest.raises(ParameterError, match="progress"):
        report_flops(SPOT, progress=5)


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("report.json", lambda body: body[:40], "report.json"),
        ("report.json", lambda body: body.replace(b"holdem(", b"python:x.py:Y("), "is no spot of hold'em"),
        ("report.json", lambda body: body.replace(b"AsKs2h", b"../../"), "report.json"),
        ("report.json", lambda body: body.replace(b'"schema": 1', b'"schema": 9'), "report schema 9"),
        ("report.json", lambda body: body.replace(b'"iterations": 5', b'"iterations": 7'), "its flop or options"),
        ("flops/AsKs2h.json", lambda body: body[:40], "AsKs2h.json"),
        ("flops/AsKs2h.json", lambda body: body.replace(b"AsKs2h", b"AsKs3h"), "its flop or options"),
        ("flops/AsKs2h.json", lambda body: re.sub(rb'"equity":[\d.e-]+', b'"equity":"x"', body), "AsKs2h.json"),
    ],
)  # fmt: skip
def test_damaged_files_are_described(
    folder: Path, tmp_path: Path, name: str, change: Callable[[bytes], bytes], why: str
) -> None:
    path = without(folder, tmp_path / "report")
    (path / name).write_bytes(change((path / name).read_bytes()))
    with pytest.raises(CheckpointError, match=re.escape(why)):
        report_flops(out=path)
    with pytest.raises(CheckpointError, match=re.escape(why)):
        FlopReport.load(path)


def test_a_folder_in_use_or_without_a_report_is_refused(folder: Path, tmp_path: Path) -> None:
    path = without(folder, tmp_path / "report", "9s8h2d")

    def again(report: FlopReport) -> None:
        with pytest.raises(CheckpointError, match="another process is using this report"):
            report_flops(out=path)

    report_flops(out=path, progress=again)
    with pytest.raises(CheckpointError, match="contains no report"):
        FlopReport.load(tmp_path)


def test_an_executor_gives_the_same_figures(folder: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        report = report_flops(SPOT, executor=executor, **ROUGH)
    assert figures_of(report) == figures_of(FlopReport.load(folder))


def test_an_interrupted_report_keeps_what_is_there(folder: Path, tmp_path: Path) -> None:
    def stop(report: FlopReport) -> None:
        if len(report.rows) == 2:
            raise KeyboardInterrupt

    path = tmp_path / "report"
    report = report_flops(SPOT, out=path, progress=stop, **ROUGH)
    assert report.stopped == "interrupted" and len(report.rows) == 2 and report.planned == 3
    assert len((path / "report.csv").read_text().splitlines()) == 3
    with ThreadPoolExecutor(1) as executor:
        stopped = report_flops(SPOT, executor=executor, progress=stop, **ROUGH)
    assert stopped.stopped == "interrupted" and len(stopped.rows) == 2
    assert figures_of(report_flops(out=path)) == figures_of(FlopReport.load(folder))


def test_a_full_disk_loses_one_flop(tmp_path: Path, folder: Path) -> None:
    path, write = tmp_path / "report", flop_report.replace_file

    def fill(file: Path, body: Callable[[Any], object]) -> Path:
        if file.stem != FLOPS[0]:
            raise OSError(28, "No space left on device", str(file))
        return write(file, body)

    with patch.object(flop_report, "replace_file", fill), pytest.raises(OSError, match="No space left"):
        report_flops(SPOT, out=path, **ROUGH)
    assert [row.flop for row in FlopReport.load(path).rows] == FLOPS[:1]
    assert figures_of(report_flops(out=path)) == figures_of(FlopReport.load(folder))


def test_an_interrupted_solution_does_not_count(tmp_path: Path) -> None:
    from infoset.solvers.job import Watcher

    def stop(point: object) -> None:
        raise KeyboardInterrupt

    report = report_flops(SPOT, out=tmp_path / "report", watcher=Watcher(point=stop), **ROUGH)
    assert report.stopped == "interrupted" and not report.rows and report.mean is None
    assert FlopReport.load(tmp_path / "report").rows == ()


def test_the_command_line_reports_and_goes_on(tmp_path: Path) -> None:
    arguments = ("--flops", " ".join(FLOPS), "--iterations", "5")
    done = run_infoset("report-flops", SPOT, *arguments, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "3 of 3 flops by auto"
    assert done.stdout.splitlines()[-1] == f"report: {Path('runs/flops/report.html')}, {Path('runs/flops/report.csv')}"
    body = json.loads(run_infoset("report-flops", "--out", "runs/flops", "--json", cwd=tmp_path).stdout)
    assert [row["flop"] for row in body["flops"]] == FLOPS and body["stopped"] == "flops"
    assert body["mean"]["ev P1"] == pytest.approx(-body["mean"]["ev P2"], abs=1e-4)
    refused = run_infoset("report-flops", "--out", "runs/flops", "--target", "1%", cwd=tmp_path)
    assert refused.returncode == 1 and len(refused.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_report_killed_at_any_moment_is_continued(how: signal.Signals, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report"
    arguments = [*INFOSET, "report-flops", SPOT, "--flops", " ".join(FLOPS), "--iterations", "5", "--out", str(path)]
    for delay in (0.7, 2.0, 3.0, 4.0, 5.0):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        os.kill(process.pid, how)
        process.communicate()
    subprocess.run(arguments, check=True, capture_output=True)
    assert figures_of(FlopReport.load(path)) == figures_of(FlopReport.load(folder))
    assert not [file for file in path.rglob("*") if file.name.startswith(".")]


def test_the_page_is_sorted_by_its_headings(folder: Path, chromium: Any) -> None:
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto((folder / "report.html").as_uri())
    values = {row["flop"]: row["ev P1"] for row in FlopReport.load(folder).table()}
    flops = page.locator("table.flops tbody th")

    def shown() -> list[str]:
        return [flop.get_attribute("data-value") for flop in flops.all()]

    assert shown() == FLOPS
    for name, order in (
        ("EV P1", sorted(FLOPS, key=lambda flop: -values[flop])),
        ("EV P1", sorted(FLOPS, key=lambda flop: values[flop])),
        ("flop", sorted(FLOPS, key=lambda flop: cards_of(flop, "flop"), reverse=True)),
    ):
        page.get_by_role("button", name=name, exact=True).click()
        assert shown() == order
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("flop")
    assert page.locator("tfoot th").inner_text() == "mean"
    assert not wrong
    page.close()


def test_notebooks_show_a_report(folder: Path) -> None:
    report = FlopReport.load(folder)
    assert "3 flops" in report._repr_html_() and "AsKs2h" in report._repr_html_()
    assert "<script" not in report._repr_html_()


def test_the_board_of_the_spot_does_not_matter(folder: Path, tmp_path: Path) -> None:
    path = without(folder, tmp_path / "report")
    again = report_flops(SPOT.replace("(", "(board=AsAh2d,"), out=path)
    assert again.game == FlopReport.load(folder).game and "board" not in again.game
