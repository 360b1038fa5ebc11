"""What lies in the folders that the page shows: found by name, known by its head, read while it is written."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

import infoset
from conftest import KUHN, PENNIES
from infoset.arena.reading import reading, version
from infoset.arena.store import TournamentConfig
from infoset.arena.tournament import read_record, tournament
from infoset.errors import CheckpointError, InfosetError, UnsupportedGameError
from infoset.remote.serving import Refusal
from infoset.runs import RunFolder
from infoset.solvers.job import Point
from infoset.web.artifacts import find, items
from infoset.web.competing import Competing
from infoset.web.curves import MAX_POINTS, Curves, Tail, spread
from infoset.web.listing import Filter, Listing
from infoset.web.metadata import HALF, read_metadata
from infoset.web.watching import Watching

BETS = "scripted(actions=[bet,bet])"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of each kind; nothing is written to it."""
    folder = tmp_path_factory.mktemp("made")
    infoset.solve(KUHN, "cfr", iterations=50, out=folder / "deep" / "run")
    policy = infoset.solve(KUHN, "lp").policy
    policy.save(folder / "table.npz")
    policy.save(folder / "table.json")
    infoset.play_match(KUHN, ["random", BETS], seed=1).save(folder / "match.json")
    tournament(KUHN, ["random", BETS], games=10, workers=1, db=folder / "games.db")
    return folder


def about(folder: Path, name: str) -> Any:
    return read_metadata(find((folder,), f"0/{name}"))


def test_everything_is_found_by_the_name_under_which_it_is_listed(made: Path) -> None:
    found = {item.name: item.kind for item in items((made, made / "deep" / "run"))}
    assert found == {
        "0/deep/run": "run", "0/table.npz": "policy", "0/table.json": "replay", "0/match.json": "replay",
        "0/games.db": "tournament", "1/.": "run",
    }  # fmt: skip
    for item in items((made, made / "deep" / "run")):
        assert find((made, made / "deep" / "run"), item.name) == item
    assert find((made,), "0/table.json", "policy").path == made / "table.json"


@pytest.mark.parametrize(
    "name",
    [
        "", "0", "0/", "1/match.json", "-1/match.json", "0/../secret.json", "0/deep/../match.json", "0//match.json", "/match.json",
        "0/./match.json", "0/link.json", "0/linked/secret.json", "0/.hidden.json", "0/.git/x.json", "0/match.json\0", "0/pipe.json",
        "0/deep/run/config.json", "0/deep/run/policy.npz", "0/deep", "0/missing.json", "0/deep\\run", "٠/match.json", "0/" + "x/" * 9000,
    ],
)  # fmt: skip
def test_a_name_that_is_not_listed_leads_nowhere(made: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    secret = tmp_path / "secret.json"
    for path in (folder / "match.json", folder / ".hidden.json", folder / ".git" / "x.json", secret):
        path.write_bytes((made / "match.json").read_bytes())
    (folder / "link.json").symlink_to(secret)
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.json")  # opening one would wait for a writer
    (folder / "deep" / "run").symlink_to(made / "deep" / "run")
    assert [item.name for item in items((folder,))] == ["0/match.json"]
    assert find((folder,), "0/match.json").kind == "replay"
    with pytest.raises(Refusal):
        find((folder,), name)


def test_heads_say_what_a_thing_is_about(made: Path) -> None:
    heads = {item.name[2:]: read_metadata(item) for item in items((made,))}
    assert {name: (head.kind, head.game, head.problem) for name, head in heads.items()} == {
        "deep/run": ("run", KUHN, ""), "table.npz": ("policy", KUHN, ""), "table.json": ("policy", KUHN, ""),
        "match.json": ("replay", KUHN, ""), "games.db": ("tournament", KUHN, ""),
    }  # fmt: skip
    assert heads["deep/run"].about == {"method": "cfr", "learns": False, "iterations": 50}
    assert heads["match.json"].about["agents"] == ["random", BETS]
    assert sum(heads["match.json"].about["returns"]) == 0
    assert heads["games.db"].about == {"teams": 2, "format": ""}
    assert {heads[name].about["method"] for name in ("table.npz", "table.json")} == {"lp"}


def test_what_is_broken_or_half_written_is_said_in_a_line(made: Path, tmp_path: Path) -> None:
    whole = (made / "match.json").read_bytes()
    steps = json.loads(whole)
    shuffled = {"steps": steps.pop("steps"), **steps}
    files = {
        "half.json": whole[: len(whole) // 2], "empty.json": b"", "list.json": b"[1, 2]", "deep.json": b"[" * 100_000,
        "shuffled.json": json.dumps(shuffled).encode(), "noise.npz": b"PK\3\4" + bytes(100), "noise.db": bytes(5000),
        "odd.json": b'{"schema":3,"game":7,"players":[],"agents":[],"returns":[],"steps":[]}',
        "nested.json": b'{"game":' + b'{"a":' * 3000 + b"1" + b"}" * 3001,
    }  # fmt: skip
    for name, body in files.items():
        (tmp_path / name).write_bytes(body)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text('{"game": "kuhn')
    (tmp_path / "run" / "metrics.jsonl").touch()
    heads = {item.name[2:]: read_metadata(item) for item in items((tmp_path,))}
    assert heads.keys() == {*files, "run"}
    assert heads["half.json"].problem == HALF
    assert heads["shuffled.json"].problem == "" and heads["shuffled.json"].game == KUHN
    assert {name for name, head in heads.items() if not head.kind} == {
        "empty.json", "list.json", "deep.json", "nested.json"
    }  # fmt: skip
    for name in ("noise.npz", "noise.db", "odd.json", "run"):
        assert heads[name].kind and heads[name].problem and "\n" not in heads[name].problem


def test_names_with_script_and_bytes_that_are_no_text(made: Path, tmp_path: Path) -> None:
    harm = "</script><img src=x onerror=alert(1)>\n\x1b[2J"
    match = infoset.Match.load(made / "match.json")
    body = json.loads((made / "match.json").read_bytes()) | {"agents": [harm * 50, "b"]}
    (tmp_path / "a<b>&.json").write_text(json.dumps(body))
    (tmp_path / os.fsdecode(b"\xff.json")).write_bytes((made / "match.json").read_bytes())
    found = Listing((tmp_path,)).page(Filter())
    assert [item["title"] for item in found["items"]] == ["a<b>&.json"]
    agents = found["items"][0]["about"]["agents"]
    assert agents[0].isprintable() and len(agents[0]) <= 200 and agents[1] == "b"
    assert match.game == found["items"][0]["game"]


def test_lists_are_filtered_and_paged_without_reading_what_is_known(tmp_path: Path) -> None:
    match = infoset.play_match(KUHN, ["random", BETS], seed=1)
    body = match.save(tmp_path / "first.json").read_bytes()
    for number in range(300):
        (tmp_path / f"{number}.json").write_bytes(body)
    infoset.play_match(PENNIES, ["random"] * 3, seed=1).save(tmp_path / "pennies.json")
    listing = Listing((tmp_path,))
    page = listing.page(Filter(kind="replay", game=KUHN, agent=BETS, offset=290, limit=20))
    assert (page["total"], len(page["items"])) == (301, 11)
    assert dict(page["games"]) == {KUHN: 301, PENNIES: 1}
    assert listing.page(Filter(text="PENNIES"))["total"] == 1
    (tmp_path / "pennies.json").unlink()
    assert listing.page(Filter(text="PENNIES"))["total"] == 0
    assert listing.first()["counts"] == {"game": 0, "run": 0, "tournament": 0, "replay": 301, "policy": 0}


# Tournaments


def test_a_tournament_is_read_while_it_is_played_and_not_touched(tmp_path: Path) -> None:
    path, seen = tmp_path / "games.db", []

    def look(_: object) -> None:
        if path.exists():
            seen.append(read_record(path).standings)

    played = tournament(KUHN, ["random", BETS], games=400, workers=1, db=path, progress=look)
    thread_seen = read_record(path).standings
    assert seen and all(standings.games <= 400 for standings in seen)
    assert (thread_seen.table, thread_seen.ratings, thread_seen.stopped) == (played.table, played.ratings, "games")
    before = path.read_bytes(), version(path)
    read_record(path)
    assert (path.read_bytes(), version(path)) == before
    assert [file.name for file in tmp_path.iterdir()] == ["games.db"]
    more = tournament(KUHN, ["random", BETS], games=410, workers=1, db=path)  # nobody was kept out
    assert more.fresh == 10 and version(path) != before[1]


def test_a_reader_sees_what_another_connection_has_written(tmp_path: Path) -> None:
    """A crash leaves the ``-wal`` behind: what is in it counts."""
    path = tmp_path / "games.db"
    tournament(KUHN, ["random", BETS], games=4, workers=1, db=path)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("DELETE FROM games WHERE number = 4")
    assert path.with_name("games.db-wal").exists()
    assert read_record(path).standings.games == 3
    assert Competing((tmp_path,)).standings("0/games.db")["running"]
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM games WHERE number = 3")
    assert read_record(path).standings.games == 3  # not committed yet, and nobody waits
    writer.execute("COMMIT")
    writer.close()
    assert not Competing((tmp_path,)).standings("0/games.db")["running"]
    with reading(path) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM games")


@pytest.mark.parametrize("format", ["double-elimination", "swiss(rounds=2)", ""])
def test_every_format_is_read_as_it_was_played(tmp_path: Path, format: str) -> None:
    teams = ["random", BETS, "scripted(actions=[pass,pass])"]
    more: dict[str, Any] = {"format": format} if format else {"games": 7}
    played = tournament(KUHN, teams, workers=1, db=tmp_path / "games.db", **more)
    found = read_record(tmp_path / "games.db").standings
    assert (found.table, found.meetings, found.ranking, found.stopped) == (
        played.table, played.meetings, played.ranking, "games"
    )  # fmt: skip
    told = Competing((tmp_path,)).standings("0/games.db")
    assert [len(row) for row in told["cells"]] == [3, 3, 3] and told["cells"][0][0] is None
    assert told["format"] == format and not (told["running"] or told["left"])


def test_a_cell_leads_to_its_games_and_they_to_their_replays(made: Path) -> None:
    competing = Competing((made,))
    told = competing.standings("0/games.db")
    first, second = told["rows"][0]["number"], told["rows"][1]["number"]
    page = competing.games("0/games.db", first, second, 0, 2, 3)
    assert (page["total"], len(page["games"])) == (10, 3)
    every = competing.games("0/games.db", first, second, 0, 0, 200)["games"]
    results = [game["result"] for game in every]
    assert (results.count("won"), results.count("lost"), results.count("tied")) == told["cells"][0][1]
    assert competing.games("0/games.db", 5, 6, 0, 0, 50)["games"] == []
    shown = json.loads(Watching((made,)).recording("0/games.db", page["games"][0]["number"]))
    assert shown["agents"] == page["games"][0]["agents"]


def hostile(sound: Path, path: Path, **changes: Any) -> Path:
    """A tournament whose file says something else."""
    shutil.copy(sound / "games.db", path)
    with sqlite3.connect(path) as connection:
        config = json.loads(connection.execute("SELECT config FROM tournament").fetchone()[0])
        connection.execute("UPDATE tournament SET config = ?", (json.dumps(config | changes),))
    return path


def test_a_tournaments_file_runs_no_code_and_takes_no_memory(made: Path, tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text(f"open({str(tmp_path / 'harmed')!r}, 'w')\n")
    name = f"python:{code}:Game"
    with pytest.raises(UnsupportedGameError):
        read_record(hostile(made, tmp_path / "a.db", game=name))
    for format in (name, f"double-elimination(decider='{name}')"):
        with pytest.raises(UnsupportedGameError):
            read_record(hostile(made, tmp_path / f"{len(format)}.db", format=format))
    assert not (tmp_path / "harmed").exists()
    with pytest.raises(CheckpointError, match="200 are read"):
        read_record(hostile(made, tmp_path / "b.db", teams=["random"] * 900))
    with pytest.raises(CheckpointError):
        read_record(hostile(made, tmp_path / "c.db", teams=["random"], format="nonsense"))


def test_a_query_without_end_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW tournament AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) "
            "SELECT max(k) AS config FROM n"
        )
    assert "interrupted" in about(tmp_path, "games.db").problem


def test_the_config_of_a_head_is_that_of_a_store(made: Path) -> None:
    fields = set(TournamentConfig.__struct_fields__)
    with reading(made / "games.db") as connection:
        assert json.loads(connection.execute("SELECT config FROM tournament").fetchone()[0]).keys() == fields


# Replays


def test_a_replay_that_names_code_or_is_broken_is_refused(made: Path, tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text(f"open({str(tmp_path / 'harmed')!r}, 'w')\n")
    match = json.loads((made / "match.json").read_bytes())
    wrong = {
        "code.json": match | {"game": f"python:{code}:Game"},
        "moves.json": match | {"steps": match["steps"][:1]},
        "unknown.json": match | {"game": "kuhn_pokerr"},
    }
    for name, body in wrong.items():
        (tmp_path / name).write_text(json.dumps(body))
        with pytest.raises(InfosetError) as caught:
            Watching((tmp_path,)).recording(f"0/{name}", 0)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "harmed").exists()
    assert json.loads(Watching((made,)).recording("0/match.json", 0))["agents"] == ["random", BETS]
    with pytest.raises(InfosetError):
        Watching((made,)).recording("0/table.npz", 0)


# Curves


def point(iteration: int) -> bytes:
    return json.dumps({"iteration": iteration, "seconds": iteration / 8, "exploitability": 1 / iteration}).encode()


def begin_run(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"game": "kuhn_poker", "method": "cfr"}')
    return folder / "metrics.jsonl"


def test_the_curve_of_a_run_is_that_of_its_folder(made: Path) -> None:
    told = Curves((made,)).curve("0/deep/run", 1000, "")
    points = RunFolder(made / "deep" / "run").points()
    assert told["columns"]["iteration"] == [p.iteration for p in points]
    assert told["columns"]["exploitability"] == pytest.approx([p.exploitability for p in points], rel=1e-6)
    assert told["columns"]["value 1"] == pytest.approx([p.values[0] for p in points if p.values], rel=1e-6)
    assert told["policy"] and told["about"]["method"] == "cfr"
    assert set(Point.__dataclass_fields__) - {"values"} <= {*told["columns"], "epsilon", "current_exploitability"}
    assert "columns" not in Curves((made,)).curve("0/deep/run", 1000, told["version"])


def test_a_curve_is_read_while_it_is_written(tmp_path: Path) -> None:
    metrics, curves = begin_run(tmp_path / "run"), Curves((tmp_path,))
    metrics.touch()
    count, looks = 3000, 30
    looked = threading.Event()

    def write() -> None:
        with open(metrics, "ab", buffering=0) as file:
            for k in range(1, count + 1):
                line = point(k) + b"\n"
                file.write(line[:20])  # a reader may come between
                if k % (count // looks) == 0:
                    looked.clear()
                    looked.wait(60)  # and does, however the threads are scheduled
                file.write(line[20:])

    thread = threading.Thread(target=write)
    thread.start()
    seen = [0]
    while seen[-1] < count and (thread.is_alive() or seen[-1] == 0 or len(seen) < 10**5):
        told = curves.curve("0/run", 1000, "")
        seen.append(told["points"])
        assert len(told["columns"].get("iteration", [])) <= 1000
        looked.set()
    thread.join()
    assert seen == sorted(seen) and len(set(seen)) > 3
    assert told["columns"]["iteration"][0] == 1 and told["columns"]["iteration"][-1] == count


def test_a_curve_that_is_cut_broken_replaced_or_deleted(tmp_path: Path) -> None:
    metrics, curves = begin_run(tmp_path / "run"), Curves((tmp_path,))
    noise = [
        b"{",
        b"[]",
        b"null",
        b'{"iteration": "7"}',
        b'{"seconds": 1}',
        b'{"iteration": NaN}',
        b"\xff\xfe",
        b"[" * 5000,
    ]
    metrics.write_bytes(b"\n".join([point(1), *noise, point(2), point(3)[:9]]))
    told = curves.curve("0/run", 1000, "")
    assert told["columns"]["iteration"] == [1, 2]
    with open(metrics, "ab") as file:
        file.write(point(3)[9:] + b"\n")
    assert curves.curve("0/run", 1000, told["version"])["columns"]["iteration"] == [1, 2, 3]
    infoset.files.replace_file(metrics, lambda file: file.write(point(9) + b"\n"))  # as a run that goes on does
    assert curves.curve("0/run", 1000, "")["columns"]["iteration"] == [9]
    huge = {"iteration": 10, "seconds": 1e999, "exploitability": 10**400, "values": ["a", 1], "x" * 1000: 1}
    with open(metrics, "ab") as file:
        file.write(json.dumps(huge).replace("Infinity", "1e999").encode() + b"\n" + b"y" * (9 << 20))
    told = curves.curve("0/run", 1000, "")
    assert told["points"] in (1, 2) and "x" * 1000 not in told["columns"]
    (tmp_path / "run" / "config.json").write_text("{")
    assert curves.curve("0/run", 1000, "")["points"] == told["points"]
    for file in (tmp_path / "run").iterdir():
        file.unlink()
    with pytest.raises(Refusal, match="deleted"):
        curves.curve("0/run", 1000, "")


def test_a_curve_of_any_length_is_kept_small(tmp_path: Path) -> None:
    metrics = begin_run(tmp_path / "run")
    metrics.write_bytes(b"".join(b'{"iteration":%d,"seconds":1}\n' % k for k in range(1, MAX_POINTS + 1001)))
    tail = Tail(metrics)
    tail.read()
    assert MAX_POINTS // 2 <= tail.count <= MAX_POINTS and tail.total == MAX_POINTS + 1000
    told = tail.thinned(1000)["iteration"]
    assert len(told) <= 1000 and told == sorted(told) and told[-1] >= MAX_POINTS
    assert all(len(spread(count, 100)) <= 100 for count in range(1, 3000, 7))
