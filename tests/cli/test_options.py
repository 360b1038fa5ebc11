"""Every option of every verb does what it says, or is refused: a case for each, and none without a case."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import typer

import infoset
from at_terminal import terminal
from infoset import evaluation, play_match
from infoset.arena.store import load_replay
from infoset.cli.app import app
from infoset.errors import BudgetError, InfosetError, ParameterError, UnknownNameError
from infoset.executors import RayExecutor, executor
from infoset.match.replay import Match
from infoset.match.series import game_seed
from infoset.remote.ggp_player import GgpSession

HAND = """variant = "NT"
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [200, 200]
actions = ["d dh p1 ????", "d dh p2 ????", "p2 cc", "p1 cc", "d db Td9d6h", "p1 cc", "p2 cc", "d db Qc"]
"""
AGENTS = '''
import os, time
from dataclasses import dataclass

@dataclass
class Odd:
    """Sleeps before the game or before an action, and notes which process it is."""

    begins: float = 0.0
    actions: float = 0.0

    def begin(self, game, player, rng, deadline):
        time.sleep(self.begins)
        with open("processes", "a") as file:
            file.write(f"{os.getpid()}\\n")
    def observe(self, own_action, observation): ...
    def act(self, legal_actions, deadline):
        time.sleep(self.actions)
        return legal_actions[0]
    def end(self, returns): ...

class Paired(Odd):
    """Moves once there is another process, or none has come for two minutes."""

    def act(self, legal_actions, deadline):
        for _ in range(1200):
            with open("processes") as file:
                if len(set(file.read().split())) > 1:
                    break
            time.sleep(0.1)
        return legal_actions[0]
'''
ODD = "python:agents.py:Odd"
PAIRED = "python:agents.py:Paired"
CUP = 'game = "rock_paper_scissors"\nteams = ["random", "python:agents.py:Odd"]\nformat = "swiss(rounds=2,wins=1)"\n'
NEEDS = {
    "train": "torch",
    "plot --out": "matplotlib",
    "watch --gif": "PIL",
    "watch --png": "PIL",
    "show --pdf": "matplotlib",
    "convert --street": "pokerkit",
}
UNREAD = {"serve", "mcp", "serve-agent", "ggp-player", "ggp-match", "play"}
"""Verbs that talk to others, or to a person; they have tests of their own below."""


class Said(NamedTuple):
    """What a verb left behind."""

    text: str
    folder: Path

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)

    def made(self, name: str, begins: bytes = b"") -> bool:
        return (self.folder / name).read_bytes().startswith(begins)

    @property
    def processes(self) -> set[int]:
        return set(map(int, (self.folder / "processes").read_text().split()))

    @property
    def faults(self) -> Counter[str]:
        """Of a tournament, by kind."""
        return Counter(fault["kind"] for fault in self.body["faults"] for _ in range(fault["count"]))

    @property
    def training(self) -> dict[str, Any]:
        return self.training_in("net")

    def training_in(self, folder: str) -> dict[str, Any]:
        return json.loads((self.folder / folder / "config.json").read_text())["training"]


Shown = Callable[[Said], object]
SOLVE, PLAY, MEET = (
    "solve kuhn_poker --json",
    "match kuhn_poker random random --json",
    "tournament kuhn_poker --json --workers 1",
)
TRAIN = "train leduc_poker --json --epochs 1 --games 2 --hidden 4 --out net"
BASELINE = "train kuhn_poker --method ppo --json --epochs 1 --games 4 --hidden 4 --out net"
ARCADE = "train pommerman:OneVsOne-v0 --json --epochs 1 --boards 3 --steps 4 --out net"
RUNS = "solve 'tiny_hanabi(game=F)' --method annealing --json --iterations 5"
REPORT = (
    "report-flops \"holdem(pot=20,stack=20,bets='100%',raises=none,range1='AA 76s',range2='KK QJs')\" --json"
    " --flops 9s8h2d"
)
LEARNT = f"evaluate kuhn_poker {ODD} --seconds .3 --json"
ASKED = f"evaluate kuhn_poker {ODD} --samples 2 --json"


def of_run(name: str, value: object) -> Shown:
    return lambda said: said.training[name] == value


CASES: dict[str, tuple[str | list[str], Shown]] = {
    # each: one command, or several in order, and what is true after the last
    "games --json": ("games --json", lambda s: "kuhn_poker" in str(s.body["games"])),
    "methods --json": ("methods --json", lambda s: "pcfr+" in str(s.body["methods"])),
    "agents --json": ("agents --json", lambda s: "search" in str(s.body["agents"])),
    "solve --json": (SOLVE, lambda s: s.body["game"] == "kuhn_poker"),
    "solve --method": (f"{SOLVE} --method hedge --iterations 3", lambda s: s.body["method"].startswith("hedge")),
    "solve --iterations": (f"{SOLVE} --method cfr --iterations 7", lambda s: s.body["iterations"] == 7),
    "solve --target": (f"{SOLVE} --method cfr --target .1", lambda s: s.body["stopped"] == "target"),
    "solve --seconds": (f"{SOLVE} --method cfr --seconds 0", lambda s: s.body["stopped"] == "seconds"),
    "solve --start": (
        f"{SOLVE} --method cfr --iterations 0 --start random", lambda s: abs(s.body["nash_conv"] - 11 / 12) > 1e-3
    ),
    "solve --runs": (f"{RUNS} --runs 2", lambda s: s.body["runs"]["count"] == 2),
    "solve --form": ("solve 'dark_hex(rows=2,columns=2)' --json --form factored --iterations 3", lambda s: s.body["form"] == "factored"),
    "solve --precision": (
        "solve holdem_river --json --form vector --iterations 3 --precision double",
        lambda s: s.body["bytes"] == 2 * 8 * 688,  # a regret and a share of the average for each probability
    ),
    "solve --teams": (
        "solve 'kuhn_poker(players=3)' --json --teams 1+2,3", lambda s: abs(s.body["values"][2] - 1 / 24) < 1e-9
    ),
    "solve --lock": (f"{SOLVE} --lock P1=random --target 1e-6", lambda s: abs(s.body["values"][1] - 5 / 12) < 1e-5),
    "solve --seed": (
        f"{SOLVE} --method cfr --iterations 0 --start random --seed 5",
        lambda s: s.body["nash_conv"] == drawn(5) != drawn(6),
    ),
    "solve --out": (f"{SOLVE} --iterations 3 --method cfr --out here", lambda s: s.made("here/policy.npz")),
    "solve --resume": (
        [f"{SOLVE} --method cfr --iterations 3 --out r", "solve --resume --out r --iterations 9 --json"],
        lambda s: s.body["iterations"] == 9,
    ),
    "solve --max-histories": (f"{SOLVE} --method cfr --max-histories 10", lambda s: "histories" in s.text),
    "solve --executor": (f"{RUNS} --runs 2 --executor ray", lambda s: s.body["runs"]["count"] == 2),
    "report-flops --json": (f"{REPORT} --iterations 1", lambda s: s.body["planned"] == 1),
    "report-flops --flops": (f"{REPORT},AsKs2h --iterations 1", lambda s: s.body["planned"] == 2),
    "report-flops --method": (f"{REPORT} --iterations 1 --method pcfr+", lambda s: s.body["method"] == "pcfr+"),
    "report-flops --iterations": (f"{REPORT} --iterations 3", lambda s: s.body["flops"][0]["iterations"] == 3),
    "report-flops --target": (f"{REPORT} --target 5%", lambda s: 0.2 < s.body["flops"][0]["exploitability"] <= 1.0),
    "report-flops --seconds": (f"{REPORT} --seconds 0", lambda s: s.body["flops"][0]["iterations"] == 0),
    "report-flops --precision": (
        f"{REPORT} --iterations 3 --precision double --out r", lambda s: s.made("r/report.json") and "double" in (s.folder / "r" / "report.json").read_text()
    ),
    "report-flops --out": (
        [f"{REPORT} --iterations 3 --out r", "report-flops --out r --json"], lambda s: s.made("r/flops/9s8h2d.json", b"{")
    ),
    "report-flops --executor": (f"{REPORT} --iterations 1 --executor ray", lambda s: len(s.body["flops"]) == 1),
    "train --executor": (
        [TRAIN, TRAIN.replace("--out net", "--executor ray --workers 2 --out more")],
        lambda s: s.body["last"]["value_loss"] == last_epoch(s.folder / "net")["value_loss"],
    ),
    "evaluate --executor": ("evaluate kuhn_poker random --executor rai", lambda s: "did you mean 'ray'" in s.text),
    "tournament --executor": (
        [f"{MEET} random 'scripted(actions=[bet,bet])' --games 2 --db t.db",
         f"{MEET} random 'scripted(actions=[bet,bet])' --games 4 --db t.db --executor ray"],
        lambda s: (s.body["games"], s.body["fresh"]) == (4, 2),
    ),
    "compete --executor": (
        "compete named.toml --json --executor ray", lambda s: len(s.body["meetings"]) == 2
    ),
    "train --json": (TRAIN, lambda s: s.body["last"]["iteration"] == 1),
    "train --seconds": (f"{TRAIN} --seconds 0", lambda s: s.body["last"] is None),
    "train --epochs": (TRAIN.replace("--epochs 1", "--epochs 2"), lambda s: s.body["last"]["iteration"] == 2),
    "train --out": (TRAIN, lambda s: s.made("net/config.json")),
    "train --resume": (
        [TRAIN, "train --json --resume --epochs 2 --out net"], lambda s: s.body["last"]["iteration"] == 2
    ),
    "train --method": (f"{TRAIN} --method resolving --stop-at-chance", of_run("horizon", {"steps": 1000, "stop_at_chance": True})),
    "train --seed": (f"{TRAIN} --seed 5", of_run("seed", 5)),
    "train --games": (TRAIN, lambda s: s.body["last"]["games"] == 2),
    "train --shards": (f"{TRAIN} --shards 1", of_run("shards", 1)),
    "train --workers": (
        [TRAIN, TRAIN.replace("--out net", "--workers 2 --out more")],
        lambda s: s.body["last"]["value_loss"] == last_epoch(s.folder / "net")["value_loss"],
    ),
    "train --worlds": (f"{TRAIN} --worlds 3", of_run("worlds", 3)),
    "train --steps": (f"{TRAIN} --method resolving --steps 2", of_run("horizon", {"steps": 2, "stop_at_chance": False})),
    "train --stop-at-chance": (f"{TRAIN} --method resolving --stop-at-chance", of_run("horizon", {"steps": 1000, "stop_at_chance": True})),
    "train --encoding": (f"{BASELINE} --encoding observation", of_run("encoding", "observation")),
    "train --layers": (f"{BASELINE} --layers 1", of_run("layers", 1)),
    "train --batch": (f"{BASELINE} --batch 8", of_run("batch", 8)),
    "train --entropy": (f"{BASELINE} --entropy .3", of_run("entropy", 0.3)),
    "train --preset": (f"{BASELINE.replace('kuhn_poker', 'phantom_tic_tac_toe')} --preset iig-rl --layers 1", of_run("value_weight", 0.5)),
    "train --hidden": (TRAIN, of_run("hidden", 4)),
    "train --boards": (ARCADE, of_run("boards", 3)),
    "train --opponents": (f"{ARCADE} --opponents random,self", of_run("opponents", "random,self")),
    "train --reward-shaping": (f"{ARCADE} --reward-shaping .5", of_run("reward_shaping", 0.5)),
    "train --filtered": (f"{ARCADE} --filtered", of_run("filtered", True)),
    "train --curriculum": (f"{ARCADE} --curriculum uniform", of_run("curriculum", "uniform")),
    "train --lessons": (f"{ARCADE} --lessons 7", of_run("lessons", 7)),
    "train --expert": (f"{ARCADE} --method dagger --expert stop", of_run("expert", "stop")),
    "train --initial": (
        [ARCADE, f"{ARCADE.replace('--out net', '--out more')} --initial trained:net"],
        lambda s: s.training_in("more")["initial"] == "trained:net",
    ),
    "train --rate": (f"{TRAIN} --rate .01", of_run("rate", 0.01)),
    "evaluate --json": ("evaluate kuhn_poker random --json", lambda s: round(s.body["nash_conv"], 6) == 0.916667),
    "evaluate --best-response": (
        ["evaluate kuhn_poker random --best-response b.npz", "evaluate kuhn_poker b.npz --json"],
        lambda s: s.body["exact"],
    ),
    "evaluate --seconds": (LEARNT, lambda s: not s.body["exact"]),
    "evaluate --samples": (ASKED, lambda s: s.body["intervals"] and "24 answers" in s.body["reason"]),
    "evaluate --calls": (f"{ASKED} --calls 5", lambda s: "5 answers" in s.body["reason"]),
    "evaluate --answers": (f"{ASKED} --answers a.jsonl", lambda s: s.made("a.jsonl", b'{"key":"')),
    "evaluate --workers": (
        "evaluate kuhn_poker kluss(nodes=200) --workers 2 --json", lambda s: s.body["exploitability"] < 0.02
    ),
    "evaluate --seed": (
        [f"{LEARNT} --seed 1", f"{LEARNT} --seed 2"], lambda s: not s.body["exact"]
    ),
    "evaluate --max-histories": (
        [f"{SOLVE} --method cfr --out r", "evaluate kuhn_poker r --max-histories 10 --seconds .3 --json"],
        lambda s: not s.body["exact"],
    ),
    "warm-up --processes": ("warm-up solve --processes 1", lambda s: "1 process" in s.text),
    "warm-up --json": (["warm-up solve", "warm-up solve --json"], lambda s: s.body["kernels"] == 0),
    "match --json": (PLAY, lambda s: s.body["game"] == "kuhn_poker"),
    "match --games": (f"{PLAY} --games 3", lambda s: s.body["games"] == 3),
    "match --seed": (
        f"{PLAY} --games 1 --seed 5 --replay games",
        lambda s: Match.load(s.folder / "games/match-00001.json").seed == game_seed(5, 0),
    ),
    "match --rotate": (f"{PLAY} --games 2 --rotate", lambda s: None not in s.body["agents"][0]["seat_means"]),
    "match --seconds-per-move": (
        f"match kuhn_poker '{ODD}(actions=.2)' random --games 1 --json --seconds-per-move .05",
        lambda s: s.body["agents"][0]["faults"]["late"] > 0,
    ),
    "match --start-clock": (
        f"match kuhn_poker '{ODD}(begins=.2)' random --games 1 --json --start-clock .05",
        lambda s: s.body["agents"][0]["faults"]["late"] > 0,
    ),
    "match --isolate": (
        f"match kuhn_poker {ODD} random --games 1 --isolate", lambda s: s.processes.isdisjoint({os.getpid()})
    ),
    "match --replay": (f"{PLAY} --games 1 --replay games", lambda s: Match.load(s.folder / "games/match-00001.json")),
    "tournament --json": (f"{MEET} random {ODD} --games 2", lambda s: s.body["games"] == 2),
    "tournament --games": (f"{MEET} random {ODD} --games 4", lambda s: s.body["planned"] == 4),
    "tournament --format": (
        f"{MEET} random {ODD} --format 'swiss(rounds=1,wins=1)'", lambda s: len(s.body["meetings"]) == 1
    ),
    "tournament --seed": (
        f"{MEET} random {ODD} --games 2 --seed 5 --db t.db",
        lambda s: load_replay(s.folder / "t.db", 1).seed == game_seed(5, 0),
    ),
    "tournament --workers": (
        f"{MEET} random {PAIRED} --games 8 --workers 2", lambda s: len(s.processes) == 2
    ),
    "tournament --db": (f"{MEET} random {ODD} --games 2 --db t.db", lambda s: s.made("t.db", b"SQLite")),
    "tournament --self": (
        f"{MEET} random {ODD} --games 2 --self", lambda s: any(cell["a"] == cell["b"] for cell in s.body["table"])
    ),
    "tournament --rank": (
        f"{MEET} random random --games 2 --rank elo", lambda s: s.body["rank"] == "elo"
    ),
    "tournament --slow": (
        f"{MEET} random '{ODD}(actions=.05)' --games 2 --slow .01", lambda s: s.faults["slow"] > 0
    ),
    "tournament --move-limit": (
        f"{MEET} random '{ODD}(actions=9)' --games 2 --move-limit 2", lambda s: s.faults["hung"] == 2
    ),
    "tournament --seconds-per-move": (
        f"{MEET} random '{ODD}(actions=.2)' --games 2 --seconds-per-move .05", lambda s: s.faults["late"] > 0
    ),
    "tournament --start-clock": (
        f"{MEET} random '{ODD}(begins=.2)' --games 2 --start-clock .05", lambda s: s.faults["late"] > 0
    ),
    "tournament --isolate": (
        f"{MEET} {ODD} {ODD}() --games 4 --workers 1 --isolate", lambda s: len(s.processes) > 1
    ),
    "tournament --svg": (f"{MEET} random {ODD} --games 2 --svg t.svg", lambda s: s.made("t.svg", b"<svg")),
    "tournament --replay": (
        [f"{MEET} random {ODD} --games 2 --db t.db", "tournament --db t.db --replay 1"],
        lambda s: Match.load(s.folder / "t-00001.json"),
    ),
    "tournament --out": (
        [f"{MEET} random {ODD} --games 2 --db t.db", "tournament --db t.db --replay 1 --out one.json"],
        lambda s: Match.load(s.folder / "one.json"),
    ),
    "compete --json": ("compete cup.toml --json", lambda s: len(s.body["meetings"]) == 2),
    "compete --workers": ("compete cup.toml --json --workers 1", lambda s: len(s.processes) == 1),
    "compete --db": ("compete cup.toml --db c.db", lambda s: s.made("c.db", b"SQLite")),
    "compete --svg": ("compete cup.toml --svg c.svg", lambda s: s.made("c.svg", b"<svg")),
    "watch --out": ("watch game.json --out w.html", lambda s: s.made("w.html", b"<!DOCTYPE html>")),
    "watch --step": ("watch game.json --text --step 3", lambda s: "step 3 of" in s.text),
    "watch --svg": ("watch game.json --svg w.svg", lambda s: s.made("w.svg", b"<svg")),
    "watch --gif": ("watch game.json --gif w.gif", lambda s: s.made("w.gif", b"GIF89a")),
    "watch --png": ("watch game.json --png w --step 2", lambda s: s.made("w/002.png", b"\x89PNG")),
    "watch --text": ("watch game.json --text", lambda s: "step 0 of" in s.text),
    "watch --speed": (
        "watch game.json --speed 7.25 --out w.html", lambda s: "7.25" in (s.folder / "w.html").read_text()
    ),
    "show --svg": ("show kuhn_poker --svg k.svg", lambda s: s.made("k.svg", b"<svg")),
    "show --pdf": ("show kuhn_poker --pdf k.pdf", lambda s: s.made("k.pdf", b"%PDF")),
    "show --at": (
        "show holdem_river random --at 'check,  bet 50'", lambda s: s.text.startswith("P1 after check, bet 50   board")
    ),
    "show --hands": (
        "show holdem_river random --hands 'AA, suit:s'", lambda s: "combinations 3 " in s.text and "AsAh" in s.text
    ),
    "show --export": (
        "show holdem_river random --hands AA --export aa.csv", lambda s: s.made("aa.csv", b"hand,class,weight,share,")
    ),
    "show --player": ("show holdem_river random --player P2", lambda s: s.text.startswith("P2 to begin   board")),
    "show --measure": (
        "show holdem_river random --measure equity", lambda s: "the number: equity" in s.text and "AA" in s.text
    ),
    "show --street": (
        "show holdem_river random --street --export all.csv", lambda s: s.made("all.csv", b"node,board,player,reached,")
    ),
    "show --equilibria": (
        "show rock_paper_scissors --equilibria", lambda s: "Rock 1/3, Paper 1/3, Scissors 1/3 -> 0" in s.text
    ),
    "show --pure": ("show rock_paper_scissors --pure", lambda s: "0 pure equilibria" in s.text),
    "show --json": ("show rock_paper_scissors --equilibria --json", lambda s: len(s.body["equilibria"]) == 1),
    "show --seconds": ("show rock_paper_scissors --pure --seconds 600", lambda s: "0 pure equilibria" in s.text),
    "plot --out": (
        [
            "solve kuhn_poker --method cfr --iterations 9 --out one",
            "solve kuhn_poker --method cfr+ --iterations 9 --out two",
            "plot one two --out both.svg",
        ],
        lambda s: s.made("both.svg", b"<?xml"),
    ),
    "show --stability": ("show rock_paper_scissors random --stability", lambda s: "dynamics: neutral" in s.text),
    "show --conventions": (
        "show kuhn_poker random --conventions --svg c.svg",
        lambda s: "no action tells another player anything" in s.text and s.made("c.svg", b"<svg"),
    ),
    "show --dominated": ("show rock_paper_scissors --dominated", lambda s: "no strategy is strictly dominated" in s.text),
    "show --correlated": ("show rock_paper_scissors --correlated cce", lambda s: "P1 +0, P2 +0" in s.text),
    "show --propnet": ("show gdl:monty_hall --propnet m.dot", lambda s: s.made("m.dot", b"digraph")),
    "show --max-histories": ("show kuhn_poker --max-histories 10", lambda s: "histories" in s.text),
    "check --simulate": ("check gdl:monty_hall --simulate 9", lambda s: "9 random plays" in s.text),
    "check --seed": (
        ["check gdl:meier --simulate 9 --seed 3 --json", "check gdl:meier --simulate 9 --seed 4 --json"],
        lambda s: s.body["playouts"]["finished"] == 9,
    ),
    "check --max-steps": (
        "check gdl:monty_hall --simulate 9 --max-steps 1 --json", lambda s: s.body["playouts"]["finished"] == 0
    ),
    "check --seconds": (
        "check gdl:monty_hall --simulate 9 --seconds 0 --json",
        lambda s: (s.body["playouts"]["finished"], s.body["playouts"]["stopped"]) == (0, "the time limit was reached"),
    ),
    "check --max-histories": ("check kuhn_poker random --max-histories 10", lambda s: "histories" in s.text),
    "check --same-as": ("check kuhn_poker --same-as kuhn_poker", lambda s: "the same as kuhn_poker" in s.text),
    "check --json": ("check gdl:monty_hall --json", lambda s: s.body["errors"] == 0),
    "convert --street": (
        "convert hand.phh spot.toml --street turn", lambda s: infoset.load("spot.toml").name.startswith("holdem(board=Td9d6hQc,")
    ),
    "convert --normalise": ("convert kuhn_poker k.efg --normalise", lambda s: s.made("k.efg", b"EFG 2")),
    "convert --max-histories": ("convert kuhn_poker k.efg --max-histories 10", lambda s: "histories" in s.text),
}  # fmt: skip


def drawn(seed: int) -> float:
    """NashConv of the first profile by this seed."""
    return infoset.solve("kuhn_poker", "cfr", iterations=0, start="random", seed=seed).nash_conv


def last_epoch(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])


def options() -> list[str]:
    """Every verb with each of its options."""
    verbs = typer.main.get_command(app).commands
    return [
        f"{name} {option.opts[0]}"
        for name, verb in verbs.items()
        for option in verb.params
        if option.param_type_name == "option"
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Here: slow agents, competitions and a hand of poker."""
    (tmp_path / "hand.phh").write_text(HAND)
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "cup.toml").write_text(CUP)
    (tmp_path / "named.toml").write_text(CUP.replace(ODD, "scripted(actions=[Rock])"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """Started once."""
    pytest.importorskip("ray")
    with executor("ray", 2):
        yield


def do(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a verb; its one line where it refuses."""
    capsys.readouterr()
    try:
        app(shlex.split(command), standalone_mode=False)
    except (BudgetError, UnknownNameError, typer.Exit) as error:
        return Said(str(error), folder)
    return Said(capsys.readouterr().out, folder)


def test_every_option_has_a_case() -> None:
    elsewhere = {option for option in options() if option.split()[0] in UNREAD}
    assert set(CASES) | elsewhere == set(options())
    assert elsewhere == {f"{verb} {option}" for verb, given in TALKING.items() for option in given}


LONG = {"solve --executor", "train --executor", "compete --executor"}
"""Each begins processes of Ray, some ten seconds; a tournament's is among the quick ones."""


@pytest.mark.parametrize("option", [pytest.param(o, marks=[pytest.mark.slow] * (o in LONG)) for o in CASES])
def test_an_option_does_what_it_says(
    option: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    heard: list[object] = []
    if option.endswith("--executor"):
        request.getfixturevalue("ray")
        submit = RayExecutor.submit
        monkeypatch.setattr(RayExecutor, "submit", lambda *given: (heard.append(given), submit(*given))[1])
    need = NEEDS.get(option, NEEDS.get(option.split(maxsplit=1)[0]))
    if need is not None and importlib.util.find_spec(need) is None:
        pytest.skip(f"needs {need}")
    if option.startswith("watch"):
        play_match("pommerman:PommeFFACompetition-v0", ["random"] * 4, seed=3).save(folder / "game.json")
    if option == "evaluate --seed":
        learn = evaluation.lower_bound
        monkeypatch.setattr(evaluation, "lower_bound", lambda *given: (heard.append(given[3]), learn(*given))[1])
    if option == "warm-up --processes":
        monkeypatch.setattr("infoset.warm_up.compile_sets", refuse_to_compile)
    commands, shown = CASES[option]
    commands = [commands] if isinstance(commands, str) else commands
    name = option.split()[1]
    assert any(name in command.split() for command in commands)
    said = [do(command, folder, capsys) for command in commands]
    assert shown(said[-1]), said[-1].text
    if option == "evaluate --seed":  # how much is learnt depends on the clock
        assert heard == [1, 2]
    elif name == "--seed" and len(said) > 1:
        assert said[0].text != said[1].text
    if name == "--executor" and option != "evaluate --executor":
        assert heard


def refuse_to_compile(only: list[str], progress: object, processes: int, packages: object) -> None:
    raise BudgetError(f"{processes} process")


REFUSED = {
    "tournament --db t.db --replay 1 --games 3": "--games would not be used: --replay writes a game of --db",
    "tournament kuhn_poker --db t.db --replay 1": "would not be used",
    "tournament --db t.db --replay 1 --json": "--json would not be used",
    "tournament kuhn_poker random random --out x.json": "--out is the file for --replay",
    "watch game.json --svg x.svg --speed 3": "--speed would not be used: --speed applies to a page",
    "watch game.json --png x --speed 3": "--speed would not be used",
    "watch game.json --text --step 3 --speed 3": "--speed would not be used",
    "watch kuhn.json --text --svg x.svg": "--svg would not be used: kuhn_poker is not drawn so",
    "watch kuhn.json --gif x.gif": "--gif would not be used: kuhn_poker is not drawn so",
    "watch kuhn.json --png x": "--png would not be used: kuhn_poker is not drawn so",
    "watch game.json --gif x.gif --step 3": "--step would not be used: --gif shows the whole game",
    "show kuhn_poker random --equilibria": "WHAT would not be used: --equilibria lists the equilibria of a game",
    "show kuhn_poker --correlated ce --svg x.svg": "--svg would not be used: --correlated shows a correlated equilibrium",
    "show kuhn_poker --stability": "is of a strategy of all players",
    "show kuhn_poker --conventions": "--conventions is of a strategy of all players",
    "show kuhn_poker random --conventions --stability": "would not be used",
    "show kuhn_poker random --stability --svg x.svg": "--svg would not be used",
    "show kuhn_poker --dominated --equilibria": "would not be used",
    "show kuhn_poker --correlated cf": "kind=cf is not one of ce, efce, efcce, cce",
    "show kuhn_poker random --hands AA": "kuhn_poker: a decision with its hands is shown of a strategy of hold'em alone",
    "show holdem_river --at start": "a decision with its hands is shown of a strategy of hold'em alone",
    "show holdem_river random --at start --pdf x.pdf": "--pdf would not be used: hands are drawn to --svg",
    "show holdem_river random --at check --street": "street: it goes with export",
    "show holdem_river random --measure wealth": "a matrix of 'wealth'; allowed: strategy, ev, equity, realised",
    "show holdem_river random --hands 'AA, KQs'": "no hand is in all of these; 'AA | KQs' is any",
    "show holdem_river random --hands trips": "none of the 19 hands here meets this",
    "show gdl:monty_hall random --propnet x.svg": "would not be used: --propnet draws the rules",
    "show gdl:monty_hall --propnet x.svg --max-histories 9": "--max-histories would not be used",
    "check kuhn_poker random --simulate 3": "--simulate would not be used: a strategy is checked exactly",
    "mcp --host 127.0.0.2": "--host would not be used: they are of HTTP, which --port chooses",
    "convert p.json p.npz --max-histories 9": "max_histories=9 would not be used",
    "convert game.json other.json --max-histories 9": "max_histories=9 would not be used",
    "train kuhn_poker --method self-play --steps 3": "steps",
    "train kuhn_poker --method resolving --worlds 3": "worlds",
    "evaluate kuhn_poker random --samples 3": "the probabilities are known",
    "evaluate kuhn_poker random --calls 3": "calls would not be used: it belongs to samples",
    "evaluate kuhn_poker random --answers a.jsonl": "answers and workers would not be used",
    "evaluate kuhn_poker random --workers 2": "answers and workers would not be used",
    f"evaluate kuhn_poker {ODD} --workers 2": "answers and workers would not be used",
    f"{ASKED} --workers 2": "workers and an executor would not be used with samples",
    f"{ASKED} --seconds 1": "would not be used with samples",
    f"{ASKED} --best-response b.json": "would not be used with samples",
    "evaluate kuhn_poker random --executor ray": "only the evaluation of a sampled policy",
    "solve kuhn_poker --method mccfr --iterations 3 --executor ray": "does not make one run after the other",
    f"tournament kuhn_poker random {ODD} --executor ray": "isolate them",
    "solve kuhn_poker --runs 3": "no method that auto takes for kuhn_poker has runs",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_would_not_be_used_is_refused(command: str, folder: Path) -> None:
    if command.startswith("train"):
        pytest.importorskip("torch")
    if command.endswith("ray"):
        pytest.importorskip("ray")
    if "game.json" in command:
        play_match("pommerman:PommeFFACompetition-v0", ["random"] * 4, seed=3).save(folder / "game.json")
    if "kuhn.json" in command:
        play_match("kuhn_poker", ["random"] * 2, seed=3).save(folder / "kuhn.json")
    if "p.json" in command:
        app(shlex.split("solve kuhn_poker --method cfr --iterations 1 --out run --json"), standalone_mode=False)
        app(shlex.split("convert run p.json"), standalone_mode=False)
    before = set(folder.rglob("*"))
    with pytest.raises(ParameterError, match=re.escape(REFUSED[command])):
        app(shlex.split(command), standalone_mode=False)
    assert set(folder.rglob("*")) == before


# ---------------------------------------------------------------------------------------------------------------------
# Verbs that talk to others
# ---------------------------------------------------------------------------------------------------------------------

TALKING = {
    "serve": ["--port", "--host", "--name"],
    "mcp": ["--port", "--host", "--name", "--seconds", "--max-histories", "--memory", "--tables", "--text", "--output"],
    "serve-agent": ["--game", "--allow", "--port", "--host"],
    "ggp-player": ["--port", "--host", "--agent", "--seed"],
    "play": ["--seat", "--games", "--seed", "--seconds-per-move", "--replay", "--resume", "--practice", "--hints"],
    "ggp-match": ["--start-clock", "--play-clock", "--games", "--seed", "--scramble", "--replay", "--json"],
}


def spoken(command: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A server in a process of its own, until the block ends: what it says of itself, and where it is."""
    process = subprocess.Popen(
        [sys.executable, "-m", "infoset", *shlex.split(command)], stderr=subprocess.PIPE, text=True, cwd=folder
    )
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+?:\d+", line)
        assert found, line
        yield line, found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def ask(url: str, text: str) -> str:
    with urlopen(url, text.encode(), timeout=30) as answer:
        return answer.read().decode()


def test_the_options_of_the_page(folder: Path) -> None:
    """It listens where it is told to, and goes by the names that it is given."""
    pytest.importorskip("uvicorn")
    (folder / "served").mkdir(exist_ok=True)
    for line, url in spoken("serve served --port 0 --host 127.0.0.2 --name page.example", folder):
        assert url.startswith("http://127.0.0.2:") and "token=" in line
        port = url.rpartition(":")[2]
        for name in (f"127.0.0.2:{port}", f"page.example:{port}"):
            with urlopen(Request(f"{url}/api/artifacts", headers={"Host": name}), timeout=30) as answer:
                assert answer.read() == b"[]"
        with pytest.raises(HTTPError, match="421"):
            urlopen(Request(f"{url}/api/artifacts", headers={"Host": f"other.example:{port}"}), timeout=30)


def test_the_options_of_the_mcp_server(folder: Path) -> None:
    """It listens where it is told to, and each limit is one line in an answer."""
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import StdioServerParameters

    for line, url in spoken("mcp --port 0 --host 127.0.0.2 --name page.example", folder):
        assert url.startswith("http://127.0.0.2:")
        token = line.rpartition(" ")[2].strip()
        for name, status in (("page.example", 406), ("other.example", 421)):  # 406: known, but no message
            headers = {"Host": f"{name}:{url.rpartition(':')[2]}", "Authorization": f"Bearer {token}"}
            with pytest.raises(HTTPError) as error:
                urlopen(Request(f"{url}/mcp", b"{}", {**headers, "Content-Type": "application/json"}), timeout=30)
            assert error.value.code == status
            error.value.close()
    options = shlex.split("--seconds 20 --max-histories 20 --memory 0 --tables 1 --text 9 --output 100")
    arguments = ["-m", "infoset", "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ), cwd=folder)

    async def ask() -> list[Any]:
        async with mcp.Client(server) as client:
            return [
                await client.call_tool(tool, {"game": "rock_paper_scissors", **given})
                for tool, given in (
                    ("solve", {"seconds": 21}),
                    ("convert", {"game": "kuhn_poker", "to": "efg"}),
                    ("show", {}),
                    ("solve", {"game": "", "text": "(role " * 9}),
                    ("start_table", {}),
                    ("start_table", {}),
                )
            ]

    seconds, histories, shown, text, table, no_table = asyncio.run(ask())
    assert "allowed: more than 0 to 20" in seconds.content[0].text
    assert "limit 20 moves" in histories.content[0].text
    assert shown.structured_content["cut"] and len(shown.structured_content["text"]) == 100
    assert "more than 9 characters" in text.content[0].text
    assert table.structured_content["your_turn"] and "1 tables are open" in no_table.content[0].text


def test_the_options_of_a_served_agent(folder: Path) -> None:
    pytest.importorskip("uvicorn")
    for line, url in spoken("serve-agent random --game kuhn_poker --port 0 --host 127.0.0.2", folder):
        assert line.startswith("random answers on http://127.0.0.2:")
        with pytest.raises(InfosetError, match="kuhn_poker"):
            app(["match", "leduc_poker", url, "random", "--games", "1"], standalone_mode=False)
    (folder / "coin.nfg").write_text('NFG 1 R "coin" { "A" "B" } { 2 2 }\n1 -1 -1 1 -1 1 1 -1\n')
    for allowed in ("", " --allow coin.nfg"):
        for _, url in spoken(f"serve-agent random{allowed} --port 0", folder):
            with nullcontext() if allowed else pytest.raises(InfosetError, match="game"):
                app(["match", "coin.nfg", url, "random", "--games", "1"], standalone_mode=False)
    with pytest.raises(ParameterError, match=r"--allow coin\.nfg adds none"):
        app(
            ["serve-agent", "random", "--game", "kuhn_poker", "--allow", "coin.nfg", "--port", "0"],
            standalone_mode=False,
        )


def test_the_options_of_a_ggp_player(folder: Path) -> None:
    """A server plays as a desk with its seed does, one with another seed does not; an agent that is named plays."""
    pytest.importorskip("uvicorn")
    rules = (
        "(role a) (init (n 0)) (<= (legal a (say ?x)) (w ?x)) "
        + " ".join(f"(w {k})" for k in range(40))
        + " (<= (next (n 1)) (true (n 0))) (<= terminal (true (n 1))) (goal a 0)"
    )
    messages, said = (f"(START m a ({rules}) 60 60)", "(PLAY m NIL)", "(ABORT m)"), []
    for _, url in spoken("ggp-player --port 0 --host 127.0.0.2 --agent random --seed 1", folder):
        assert url.startswith("http://127.0.0.2:")
        said.append([ask(url, text) for text in messages][1])
    for seed in (1, 2):
        with closing(GgpSession("random", seed)) as desk:
            said.append([desk.answer(text) for text in messages][1])
    assert said[0] == said[1] != said[2]


def test_the_options_of_a_ggp_match(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []

    class Player(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            heard.append(text)
            answer = b"READY" if text.upper().startswith("(START") else b"nothing"
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Player)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    command = f"ggp-match gdl:monty_hall {url} --start-clock 7 --play-clock 3 --games 2 --seed 5 --json"
    said = do(f"{command} --replay plain", folder, capsys)
    starts = [text for text in heard if text.upper().startswith("(START")]
    assert len(starts) == said.body["games"] == 2
    assert said.body["seed"] == 5
    assert all(text.endswith(" 7 3)") and "door" in text for text in starts)
    assert len(list((folder / "plain").iterdir())) == 2
    heard.clear()
    do(f"{command} --scramble", folder, capsys)
    assert not any("door" in text for text in heard if text.upper().startswith("(START"))
    server.shutdown()
    server.server_close()


RPS, LEFT = "play rock_paper_scissors random", ("> ", b"\x04")
PLAYED: dict[str, tuple[list[str], list[tuple[str, bytes]], Callable[[str, Match], object]]] = {
    # commands, what is typed at the terminal, and what is true of what was shown and of the last replay
    "--seat": ([f"{RPS} --seat P2"], [("> ", b"1\n")], lambda text, match: match.agents == ("random", "human")),
    "--games": ([f"{RPS} --games 2"], [("> ", b"1\n")] * 2, lambda text, match: "2 games:" in text),
    "--seed": ([f"{RPS} --seed 5"], [("> ", b"1\n")], lambda text, match: match.seed == game_seed(5, 0)),
    "--seconds-per-move": (
        [f"{RPS} --seconds-per-move 5"], [("> ", b"1\n")], lambda text, match: match.seconds_per_move == 5
    ),
    "--replay": ([f"{RPS} --replay here"], [("> ", b"1\n")], lambda text, match: "here/match-00001.json" in text),
    "--resume": (
        [f"{RPS} --replay left", "play --resume left/match-00001.json"], [LEFT, ("> ", b"paper\n")],
        lambda text, match: match.over and match.steps[0].actions[0] == "Paper",
    ),
    "--practice": (
        ["play kuhn_poker random --practice"], [("> ", b"h\n"), ("By the equilibrium", b"\x04")],
        lambda text, match: not match.over,
    ),
    "--hints": (
        ["solve kuhn_poker --method cfr --iterations 3 --out run", "play kuhn_poker random --practice --hints run"],
        [("> ", b"h\n"), ("By run", b"\x04")], lambda text, match: not match.over,
    ),
}  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("option", PLAYED)
def test_an_option_of_play_does_what_it_says(option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands, keys, shown = PLAYED[option]
    assert any(option in command.split() for command in commands)
    with terminal(keys, monkeypatch) as typist:
        for command in commands:
            app(shlex.split(command), standalone_mode=False)
    text = typist.text()
    replays = sorted(folder.rglob("match-*.json"), key=lambda path: path.stat().st_mtime_ns)
    assert shown(text, Match.load(replays[-1])), text


def test_every_option_of_play_has_a_case() -> None:
    assert set(PLAYED) == set(TALKING["play"])
