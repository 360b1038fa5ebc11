"""Read thousands of damaged files of every kind, and list those that are answered badly.

``python tests/fuzz_files.py --files 10000 --seed 1 [FAMILY ...]`` (``make fuzz``) prints a line a family and exits with 1
where a file fell short.  A damaged file has to be refused by an error of the library, one short line that is not the
wording of an inner library, within ten seconds of processor time and a gigabyte of further memory; a file that is
accepted has to come back the same after it was written again.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import infoset
from infoset.arena.competition import read as read_competition
from infoset.arena.tournament import read_record, tournament
from infoset.compiled import Compiled
from infoset.errors import InfosetError
from infoset.formats.efg import EfgGame, write_efg
from infoset.formats.nfg import NfgGame, write_nfg
from infoset.match.replay import Match, replay_steps
from infoset.policies.loading import load_policy
from infoset.runs import RunFolder
from infoset.view.curves import draw_convergence
from infoset_pommerman.playground_json import read_game, write_game

CPU_SECONDS = 10
SPOTS = Path(__file__).parents[1] / "spots"
MEMORY = 1 << 30
LONGEST = 600  # characters of a message; the path is a part of it
FOREIGN = re.compile(
    r"zip\(\) arg|\[Errno|object has no|object is not|not supported between|could not convert|invalid literal"
    r"|index out of|unhashable|cannot reshape|positional argument|codec can't|NoneType|magic number|unsupported operand"
    r"|must be real|Traceback|numpy|builtins"
)
"""Wordings of Python and of inner libraries, which do not tell a user what is wrong with the file."""
NUMBERS = [
    b"0",
    b"-1",
    b"1",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"NaN",
    b"inf",
    b"99999999999999999999",
    b"1/0",
    b"9" * 400,
    b"9" * 4000,
    b"9" * 5000,
    b"-" + b"9" * 5000,
    b"0.1",
    b"2/3",
]
PIECES = [
    b"\x00",
    b"\xff\xfe",
    b"(",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b"\n",
    b" ",
    b"null",
    b"true",
    b"-",
    b"\\u0000",
    b"<=",
    b"#",
]


class TooSlow(BaseException):
    """The processor time of one file is over; no handler of errors may catch it."""


class Family(NamedTuple):
    """Files of one kind: how sound ones are made, and how one is read."""

    suffix: str
    make: Callable[[Path], list[Path]]
    read: Callable[[Path], None]
    """Reads a file and, where it is accepted, compares it with itself written and read again."""


# Damage


def damage_text(body: bytes, rng: random.Random) -> bytes:
    """Change one to four places of a file."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(body) + 1)
        kind = rng.randrange(11)
        if kind == 0:
            body = body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :]
        elif kind == 1:
            body = body[:at] + body[at + rng.randint(1, 20) :]
        elif kind == 2:
            body = body[:at]
        elif kind == 3:
            other = rng.randrange(len(body) + 1)
            body = body[:at] + body[other : other + rng.randint(1, 60)] + body[at:]
        elif kind == 9:
            body = _repeat_key(body, rng)
        elif kind == 10:
            body = _replace_value(body, rng)
        elif kind == 4:
            body = body[:at] + rng.choice(PIECES) * rng.choice([1, 1, 1, 2, 5000]) + body[at:]
        else:
            body = _replace_word(body, rng, numbers=kind < 7)
    return body


def _repeat_key(body: bytes, rng: random.Random) -> bytes:
    """Put a key of a JSON object, or an entry of a list, there once more, with its value."""
    entries = list(re.finditer(rb'"[^"\n]{1,80}"(?:: ?(?:[-\d.e]+|"[^"\n]*"|\{[^{}]*\}|\[[^][]*\]))?', body))
    if not entries:
        return body
    entry = rng.choice(entries)
    return body[: entry.start()] + entry.group() + b"," + body[entry.start() :]


def _replace_value(body: bytes, rng: random.Random) -> bytes:
    """Put a value of another type for a value of a JSON object."""
    values = list(re.finditer(rb'(?<=": )(?:[-\d.e]+|"[^"\n]*"|null)|(?<=":)(?:[-\d.e]+|"[^"\n]*"|null)', body))
    if not values:
        return body
    value = rng.choice(values)
    other = rng.choice([b"null", b"true", b"[]", b"{}", b'"x"', b"-1", b"0.5", b"[null]", b'{"a": 1, "a": 2}'])
    return body[: value.start()] + other + body[value.end() :]


def _replace_word(body: bytes, rng: random.Random, numbers: bool) -> bytes:
    """Put another number for a number, or a word of the file for another one."""
    words = list(re.finditer(rb"-?\d+(?:\.\d+)?" if numbers else rb"[A-Za-z_+-]+", body))
    if not words:
        return body
    word = rng.choice(words)
    other = rng.choice(NUMBERS) if numbers else rng.choice(words).group()
    return body[: word.start()] + other + body[word.end() :]


def damage_archive(body: bytes, rng: random.Random) -> bytes:
    """Damage an archive of arrays inside: another type, shape, number or name, a header's text, an array less."""
    if rng.random() < 0.2:
        return damage_text(body, rng)
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(arrays))
        arrays[name] = _damage_array(arrays[name], rng)
        if rng.random() < 0.1:
            arrays[rng.choice(["x", *arrays])] = arrays.pop(name)
        if not arrays:
            break
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    if rng.random() < 0.1:
        with zipfile.ZipFile(packed, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            member = rng.choice(["note.txt", name, f"{name}.npy", "x.npy"])
            archive.writestr(member, rng.choice([b"no array", b"", packed.getvalue()]))
    return packed.getvalue()


def _damage_array(array: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    kind = rng.randrange(7)
    if kind in (0, 6) and array.dtype == np.uint8 and array.size:  # a header, beside whole arrays
        damage = damage_text if kind == 0 else rng.choice([_repeat_key, _replace_value])
        return np.frombuffer(damage(array.tobytes(), rng), np.uint8)
    if kind <= 1:
        with np.errstate(all="ignore"), warnings.catch_warnings(), suppress(ValueError):  # a text is no such number
            warnings.simplefilter("ignore")
            return array.astype(
                rng.choice([np.float64, np.int8, np.uint64, np.complex128, "U3", np.bool_]), casting="unsafe"
            )
    if kind == 2:
        return array.reshape(-1)[: rng.randrange(array.size + 1)]
    if kind == 3:
        return array[None]
    if kind == 4:
        return np.concatenate([array.reshape(-1)] * 2)
    changed = array.copy()
    if changed.size and changed.dtype.kind in "iuf":
        worst = [0, 1, -1, np.nan, np.inf, -np.inf, 1e300] if changed.dtype.kind == "f" else [0, 1, 2**31 - 1, 255]
        with np.errstate(all="ignore"):
            changed.reshape(-1)[rng.randrange(changed.size)] = np.array(rng.choice(worst)).astype(changed.dtype)
    return changed


# Families


def make_policies(folder: Path) -> list[Path]:
    solved = {
        "table": infoset.solve("kuhn_poker", "lp"),
        "sampled": infoset.solve("kuhn_poker", "mccfr", iterations=100, form="sampled"),
        "products": infoset.solve("dark_hex(rows=2,columns=2)", "cfr", iterations=5, form="factored"),
        "plans": infoset.solve("kuhn_poker(players=3)", "team-maxmin", teams="1+2,3"),
        "beliefs": infoset.solve("kuhn_poker(players=3)", "belief-dag", teams="1+2,3", iterations=20),
    }
    files = [solution.policy.save(folder / f"{name}.npz") for name, solution in solved.items()]
    return [*files, solved["table"].policy.save(folder / "table.json")]


def read_policy(file: Path) -> None:
    policy = load_policy(file)
    game = next((name for name in ("dark_hex", "players=3") if name in policy.game), "")
    name = {"dark_hex": "dark_hex(rows=2,columns=2)", "players=3": "kuhn_poker(players=3)"}.get(game, "kuhn_poker")
    evaluated = infoset.evaluate(compiled(name), policy)
    again = load_policy(policy.save(file.with_name(f"again{file.suffix}")))
    assert infoset.evaluate(compiled(name), again).values == evaluated.values, (
        "written and read again it plays otherwise"
    )


@cache
def compiled(name: str) -> Compiled:
    return Compiled.of(name)


def make_runs(folder: Path) -> list[Path]:
    """Runs as one file each: the files that resuming reads, one of which is damaged."""
    files = []
    for method in ("cfr+", "mccfr"):
        run = folder / method
        infoset.solve("kuhn_poker", method, iterations=20, out=run)
        for name in ("config.json", "metrics.jsonl", "checkpoint.npz", "solution.json"):
            files.append(folder / f"{method} {name}")
            shutil.copy(run / name, files[-1])
    return files


def read_run(file: Path) -> None:
    method, name = file.parent.parent / file.stem.split()[0], file.name.split(" ", 1)[1]
    run = file.parent / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(method, run)
    shutil.copy(file, run / name)
    config = RunFolder.read_config(run)
    infoset.Solution.load(run)
    if name == "metrics.jsonl":
        draw_convergence(RunFolder(run).points(), "curve", run / "curve.png")
    if config.game == "kuhn_poker" and config.method in ("cfr+", "mccfr"):
        asked = RunFolder.read_config(method)
        gone_on = infoset.solve(None, out=run, resume=True, iterations=22, seconds=5)
        assert (gone_on.method, gone_on.seed, gone_on.start) == (asked.method, asked.seed, asked.start), (
            "other arrays than those of what config.json says were gone on with"
        )


def make_replays(folder: Path) -> list[Path]:
    games = {"kuhn_poker": 2, "goofspiel(num_cards=3)": 2, "gdl:meier": 2}
    return [
        infoset.play_match(game, ["random"] * n, seed=1).save(folder / f"{k}.json")
        for k, (game, n) in enumerate(games.items())
    ]


def read_replay(file: Path) -> None:
    match = Match.load(file)
    if ":" in match.game and not match.game.startswith("gdl:"):
        return  # another word for a game that the damage made
    replay_steps(match)
    assert Match.load(match.save(file.with_name("again.json"))) == match, "written and read again it is another game"


def make_competitions(folder: Path) -> list[Path]:
    file = folder / "cup.toml"
    file.write_text(
        'game = "kuhn_poker"\nteams = ["random", "policy=a.npz", "random=b"]\nformat = "round-robin(games=4)"\nseed = 3\n'
        "[limits]\nseconds_per_move = 0.5\nmove_limit = 10.0\nisolate = false\nmemory = 512\n"
    )
    return [file]


def read_cup(file: Path) -> None:
    read_competition(file)


def make_tournaments(folder: Path) -> list[Path]:
    file = folder / "cup.db"
    tournament("kuhn_poker", ["random", "random"], games=4, workers=1, db=file)
    return [file]


def read_tournament(file: Path) -> None:
    read_record(file)


def make_efg(folder: Path) -> list[Path]:
    for number, name in enumerate(["kuhn_poker", "matching_pennies_3p"]):
        (folder / f"{number}.efg").write_text(_as_efg(name))
    examples = Path(__file__).parents[1] / "examples"
    return [*folder.glob("*.efg"), *examples.glob("*.efg")]


def _as_efg(name: str) -> str:
    from infoset.formats.efg import game_to_efg

    return write_efg(game_to_efg(infoset.load(name)))


def read_efg(file: Path) -> None:
    game = infoset.load(str(file))
    assert isinstance(game, EfgGame)
    _come_back(game, write_efg(game.efg), file)


def make_nfg(folder: Path) -> list[Path]:
    table = folder / "pd.csv"
    table.write_text(",stay,talk\nstay,-1 -1,-3 0\ntalk,0 -3,-2 -2\n")
    game = infoset.load(str(table))
    assert isinstance(game, NfgGame)
    (folder / "pd.nfg").write_text(write_nfg(game.nfg))
    return [folder / "pd.nfg"]


def read_nfg(file: Path) -> None:
    game = infoset.load(str(file))
    assert isinstance(game, NfgGame)
    _come_back(game, write_nfg(game.nfg), file)


def make_csv(folder: Path) -> list[Path]:
    (folder / "rps.csv").write_text(",R,P,S\nR,0,-1,1\nP,1,0,-1\nS,-1,1,0\n")
    (folder / "pd.csv").write_text(",stay,talk\nstay,-1 -1,-3 0\ntalk,0 -3,-2 -2\n")
    return [folder / "rps.csv", folder / "pd.csv"]


def read_csv(file: Path) -> None:
    game = infoset.load(str(file))
    assert isinstance(game, NfgGame)
    _come_back(game, write_nfg(game.nfg), file.with_suffix(".nfg"))


def _come_back(game: Any, text: str, file: Path) -> None:
    """What is written of an accepted game is read as a game of the same size and payoffs."""
    again = file.with_name(f"again{file.suffix}")
    again.write_text(text)
    small = 2000
    one = Compiled.of(game, max_histories=small)
    other = Compiled.of(infoset.load(str(again)), max_histories=small)
    assert len(one.tree.parent) == len(other.tree.parent), "written and read again it has other histories"
    assert np.array_equal(np.sort(one.payoffs, axis=None), np.sort(other.payoffs, axis=None)), "it pays otherwise"


def make_gdl(folder: Path) -> list[Path]:
    from infoset.gdl.library import library

    names = ["kuhn_poker", "monty_hall", "blind_tic_tac_toe"]
    for name in names:
        (folder / f"{name}.gdl").write_text(library()[name].read_text())
    return sorted(folder.glob("*.gdl"))


def read_gdl(file: Path) -> None:
    game = infoset.load(str(file))
    state, rng = game.start().state, np.random.default_rng(0)
    for _ in range(6):
        if state.terminal:
            state.returns()
            return
        actions = [action_set[0] if (action_set := state.legal_actions(p)) else None for p in range(len(game.players))]
        state = state.play(actions, state.draw(actions, rng)).state


def make_names(folder: Path) -> list[Path]:
    names = [
        "holdem_river(range1='AA KQs JTs:0.5',range2='QJs AQo ATs 99',bets=[0.5,1.0,allin])",
        "holdem_turn(board=QsJh8h5d,range1='QQ+ A5s+',range2=any)",
        "holdem(bets='33%,75%; turn: 66%; river P2: 2e,a',raises='2.5x',range1='[50]AA[/50] KK',rake=0.05,cap=2)",
        "leduc_poker(ranks=3,suits=2)",
        "battleship(rows=2,columns=2,ships=[1,2],shots=2)",
        "gdl:kuhn_poker",
    ]
    for k, name in enumerate(names):
        (folder / f"{k}.name").write_text(name)
    return sorted(folder.glob("*.name"))


def read_name(file: Path) -> None:
    name = file.read_bytes().decode(errors="replace")
    if "openspiel:" not in name and "python:" not in name:
        infoset.load(name)


def make_spots(folder: Path) -> list[Path]:
    return [Path(shutil.copy(file, folder)) for file in sorted(SPOTS.glob("*.toml"))]


def read_spot(file: Path) -> None:
    game = infoset.load(str(file))
    assert infoset.load(game.name) == game
    game.start().state.chance_outcomes((None, None))


def make_playground(folder: Path) -> list[Path]:
    match = infoset.play_match("pommerman:OneVsOne-v0", ["random", "random"], seed=2)
    return [write_game(match, folder / "game.json")]


def read_playground(file: Path) -> None:
    read_game(file)


FAMILIES = {
    "policies": Family(".npz", make_policies, read_policy),
    "runs": Family("", make_runs, read_run),
    "replays": Family(".json", make_replays, read_replay),
    "competitions": Family(".toml", make_competitions, read_cup),
    "tournaments": Family(".db", make_tournaments, read_tournament),
    "efg": Family(".efg", make_efg, read_efg),
    "nfg": Family(".nfg", make_nfg, read_nfg),
    "csv": Family(".csv", make_csv, read_csv),
    "gdl": Family(".gdl", make_gdl, read_gdl),
    "names": Family(".name", make_names, read_name),
    "spots": Family(".toml", make_spots, read_spot),
    "playground": Family(".json", make_playground, read_playground),
}


# Reading


@contextmanager
def bounded() -> Iterator[None]:
    """Bound the processor time and the further memory of one file."""

    def stop(*_: object) -> None:
        raise TooSlow

    before, limits = signal.signal(signal.SIGPROF, stop), resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, limits[1]))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGPROF, before)


def find_fault(read: Callable[[Path], None], file: Path) -> tuple[bool, str]:
    """Return whether a file was accepted, and what was wrong with the answer; "" where nothing was."""
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(file)
    except InfosetError as error:
        text = str(error)
        if "\n" in text or len(text) > LONGEST:
            return False, f"the message is {len(text)} characters on {text.count(chr(10)) + 1} lines: {text[:200]!r}"
        found = FOREIGN.search(text)
        return False, f"the message speaks of {found.group()!r}: {text}" if found else ""
    except TooSlow:
        return False, f"more than {CPU_SECONDS} s of processor time"
    except Exception as error:
        return False, f"{type(error).__name__}: {str(error)[:200]}"
    return True, ""


def fuzz(name: str, files: int, seed: int, keep: Path | None = None) -> tuple[int, list[str]]:
    """Return how many of ``files`` damaged files of a family were accepted, and what was wrong with the answers."""
    family, accepted, faults = FAMILIES[name], 0, []
    with tempfile.TemporaryDirectory() as folder:
        sound = family.make(Path(folder))
        for file in sound:
            target = Path(folder) / "damaged" / file.name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(file, target)
            fine, fault = find_fault(family.read, target)
            assert (fine, fault) == (True, ""), f"a sound file is refused: {file.name}: {fault}"
        for number in range(files):
            rng = random.Random(f"{name} {seed} {number}")
            file = rng.choice(sound)
            damage = damage_archive if file.suffix == ".npz" else damage_text
            target = Path(folder) / "damaged" / file.name
            target.write_bytes(damage(file.read_bytes(), rng))
            fine, fault = find_fault(family.read, target)
            accepted += fine
            if fault:
                faults.append(f"{name} {number} ({file.name}): {fault}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(target, keep / f"{name}-{number}-{file.name}")
    return accepted, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], help="all by default")
    parser.add_argument("--files", type=int, default=10_000, help="damaged files a family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that are answered badly")
    asked = parser.parse_args()
    short = 0
    for name in asked.families or FAMILIES:
        accepted, faults = fuzz(name, asked.files, asked.seed, asked.keep)
        short += len(faults)
        print(f"{name}: {asked.files:,} files, {accepted:,} accepted, {len(faults):,} answered badly", flush=True)
        for fault in faults[:20]:
            print(f"  {fault}", flush=True)
    print(json.dumps({"files": asked.files * len(asked.families or FAMILIES), "short": short}))
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
