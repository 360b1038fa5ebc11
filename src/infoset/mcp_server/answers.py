"""The service in a worker process: one question at a time about games, strategies and runs, answered as plain data.

Names come from a client that must not reach the files of this machine: games are shipped ones or files in the served
folders, strategies are items there or shipped agents (``web.seats``).
"""

from __future__ import annotations

import json
import os
import secrets
import time
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np

from infoset.base import Game
from infoset.catalog import about, list_games
from infoset.checking import check as check_rules
from infoset.compiled import Compiled
from infoset.errors import (
    BudgetError,
    InfosetError,
    ParameterError,
    PolicyError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.evaluation import evaluate, tabulated
from infoset.files import POLICY
from infoset.formats.conversion import GAME_TEXTS
from infoset.match.person import HUMAN
from infoset.match.replay import Match
from infoset.mcp_server.limits import ServerLimits
from infoset.names import parse_name
from infoset.policies.joint_policy import JointPolicy
from infoset.policies.loading import load_policy
from infoset.policies.tabular import TabularPolicy
from infoset.practice import EQUILIBRIUM, solve_soon
from infoset.processes import limit_memory
from infoset.registry import PYTHON
from infoset.remote.serving import Refusal
from infoset.runs import RunFolder
from infoset.solvers.job import Point, Watcher
from infoset.solvers.method import parse_method
from infoset.solving import Solution, solve
from infoset.view.bodies import entry_body, evaluation_body, solution_body
from infoset.view.guide import guide, title_of
from infoset.view.pictures import action_words
from infoset.view.showing import HandOptions, show_first
from infoset.web.artifacts import CONFIG, find, items
from infoset.web.metadata import kind_of
from infoset.web.seats import Agents, check_plain, find_game, fitting, is_paced
from infoset.web.sources import rules_stamp
from infoset.web.watching import Watching
from infoset.web.workers import News

CLIENT = "the client"  # who gave a name, in errors
MAX_GAMES = 4  # that are kept compiled
MAX_ROWS = 200  # information sets of a strategy in an answer
MAX_STEPS = 2_000  # of a replay, or of a trial game
MAX_POINTS = 200  # of a curve
MAX_CONFIG = 1 << 20
REPORTS = 0.3  # seconds between two lines about the work

Strategy = Mapping[str, Mapping[str, Mapping[str, float]]]
"""A strategy that a client gives: by player, key of the information set, and move."""


class Answers:
    """Answers questions, each of which may take a while, and reports how far the work is."""

    def __init__(self, news: News, folders: tuple[Path, ...], limits: ServerLimits) -> None:
        if limits.memory:
            limit_memory(limits.memory << 20)
        warnings.simplefilter("ignore")  # whatever matters is in an answer
        self.news, self.folders, self.limits = news, folders, limits
        self.agents = Agents(folders)
        self.watching = Watching(folders)
        self.compiled: OrderedDict[tuple[str, object], Compiled] = OrderedDict()
        self.reported = 0.0
        solve("kuhn_poker")  # loads what most answers need

    def busy(self) -> bool:
        return False

    def close(self) -> None:
        self.agents.queue.close()

    def ready(self) -> None:
        """Answer once the process has started."""

    def answer(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return the answer of a method of this class.

        Raises ``Refusal`` with errors in one line, in which the served folders go by their numbers.
        """
        try:
            return getattr(self, method)(*arguments)
        except (InfosetError, Refusal) as error:
            status = error.status if isinstance(error, Refusal) else HTTPStatus.UNPROCESSABLE_ENTITY
            raise Refusal(status, one_line(self._without_folders(str(error)), 2_000)) from None
        except MemoryError:
            why = f"more memory than the limit of {self.limits.memory:,} MiB (--memory); choose a smaller game"
            raise Refusal(HTTPStatus.INSUFFICIENT_STORAGE, why) from None

    def _without_folders(self, text: str) -> str:
        for number, folder in enumerate(self.folders):
            text = text.replace(f"{folder}{os.sep}", f"{number}/")
        return text

    # --- games

    def games(self, word: str, most: int) -> dict[str, Any]:
        """Return the games whose names or descriptions contain ``word``: shipped ones, and files in the folders."""
        found = [entry_body(entry) for entry in list_games()]
        found += [
            {"name": item.name, "parameters": {}, "about": "a file in the served folders"}
            for item in items(self.folders)
            if item.kind == "game"
        ]
        fitting_ = [body for body in found if word.lower() in f"{body['name']} {body['about']}".lower()]
        return {"games": fitting_[:most], "total": len(fitting_)}

    def describe(self, name: str) -> dict[str, Any]:
        """Return the rules of a game for people, its parameters, its size where it can be counted, and opponents."""
        game = self._game(name)
        rules = guide(name if not name[:1].isdecimal() else game.name, game)
        try:
            compiled = self._compiled(name)
            size, why = {"histories": compiled.histories, "positions": len(compiled.graph.player)}, ""
        except InfosetError as error:
            size, why = {}, self._without_folders(str(error))
        word = parse_name(name).word if not name[:1].isdecimal() else name
        entry = next((entry_body(entry) for entry in list_games() if entry.name == word), None)
        return {
            "name": name, "title": title_of(game), "about": rules.about or about(name), "players": list(game.players),
            "parameters": entry["parameters"] if entry else {},
            "rules": {title: self._without_folders(text) for title, text in rules.parts},
            "example": list(rules.example), "histories": size.get("histories"), "positions": size.get("positions"),
            "not_counted": why, "real_time": is_paced(game),
            "opponents": [EQUILIBRIUM, *fitting(game)] if not is_paced(game) else [],
        }  # fmt: skip

    def check(self, name: str, same_as: str, plays: int, seed: int) -> dict[str, Any]:
        """Return everything wrong with a game, its sizes, and how it compares with another game."""
        place = str(find(self.folders, name, "game").path) if name[:1].isdecimal() else name
        if place == name:
            self._game(name)  # raises for what must not be loaded here
        other = self._game(same_as) if same_as else None
        self._report("checking the rules")
        found = check_rules(
            place, same_as=other, plays=plays, seed=seed, max_histories=self.limits.histories, progress=self._built
        )
        body = found.body() | {"game": name}
        loaded: dict[str, Any] = json.loads(self._without_folders(json.dumps(body)))
        return loaded

    def admit(self, name: str, agents: Sequence[str]) -> dict[str, Any]:
        """Return the players of a game that can be played here by these agents, after a trial with random moves."""
        game = self._game(name)
        if is_paced(game):
            raise UnsupportedGameError(f"{game.name} is played in real time, which no client of this server can do")
        for agent in agents:
            self._check_agent(agent, game)
        rng, state = np.random.default_rng(0), game.start().state
        for _ in range(MAX_STEPS):
            if state.terminal:
                break
            legal = [state.legal_actions(player) for player in range(len(game.players))]
            chosen = [actions[int(rng.integers(len(actions)))] if actions else None for actions in legal]
            state = state.play(chosen, state.draw(chosen, rng)).state
        return {"players": list(game.players)}

    # --- strategies

    def solve(
        self, name: str, method: str, limits: dict[str, Any], seed: int | None, rows: int, save: bool
    ) -> dict[str, Any]:
        """Solve a game; ``save`` keeps the run in the first served folder, whose name is in the answer."""
        compiled = self._compiled(name)
        given = {key: value for key, value in limits.items() if value is not None}
        out = self._fresh(name) if save else None
        allowed = self.limits.seconds / 2  # the rest is for building and evaluating
        if not 0 < given.get("seconds", 1.0) <= self.limits.seconds:
            raise ParameterError(f"seconds={given['seconds']:g}; allowed: more than 0 to {self.limits.seconds:g}")
        watcher = Watcher(
            point=self._point, building=self._built, begin=lambda job, limits: self._report("solving", now=True)
        )
        if method == "auto" and not given and seed is None and out is None:
            solution = solve_soon(compiled, allowed, watcher)
        else:
            if PYTHON in method:
                raise ParameterError("method: only shipped methods are run for a client")
            check_plain(parse_name(method))
            if method == "auto" or "seconds" in parse_method(method).takes:
                given.setdefault("seconds", allowed)
            solution = solve(compiled, method, **given, seed=seed, out=out, watcher=watcher)
        return self._solved(name, compiled, solution, rows, out)

    def _solved(self, name: str, compiled: Compiled, solution: Solution, rows: int, out: Path | None) -> dict[str, Any]:
        body = solution_body(solution)
        keys = (
            "method", "reason", "iterations", "seconds", "stopped", "values", "nash_conv", "exploitability", "epsilon",
            "bound", "gap", "proof", "why_not",
        )  # fmt: skip
        policy = solution.policy
        table = _strategy(policy, rows) if isinstance(policy, TabularPolicy) else None
        sets = sum(map(len, policy.tables)) if isinstance(policy, TabularPolicy) else None
        return {key: body[key] for key in keys} | {
            "game": name, "players": list(compiled.players), "strategy": table, "information_sets": sets,
            "run": None if out is None else f"0/{out.relative_to(self.folders[0]).as_posix()}",
        }  # fmt: skip

    def evaluate(self, name: str, what: str, strategy: Strategy | None, seconds: float, seed: int) -> dict[str, Any]:
        """Evaluate an item of the served folders, a shipped agent, or a strategy that the client gives."""
        compiled = self._compiled(name)
        self._report("evaluating", now=True)
        played = self._complete(compiled, strategy) if strategy is not None else self._played(compiled, what)
        found = evaluate(compiled, played, seconds=min(seconds, self.limits.seconds / 2), seed=seed)
        body = evaluation_body(name, what if strategy is None else "the strategy given", found)
        gains = [
            best - value if isfinite(best) else None
            for value, best in zip(found.values, found.best_response_values, strict=True)
        ]
        return body | {"players": list(compiled.players), "gains": gains}

    def show(self, name: str, what: str, options: dict[str, str | None]) -> dict[str, Any]:
        """Return a game's tree or a strategy as text."""
        compiled = self._compiled(name)
        played = self._played(compiled, what) if what else None
        hands = HandOptions(options["at"], options["hands"], options["player"], options["measure"])
        text = self._without_folders(str(show_first(compiled, played, hands=hands).text))
        most = self.limits.output
        return {"game": name, "text": text[:most], "cut": len(text) > most, "characters": len(text)}

    def convert(self, name: str, what: str, kind: str) -> dict[str, Any]:
        """Return a game as .efg or .nfg, or a strategy as .json."""
        compiled = self._compiled(name)
        if what:
            if kind != "json":
                raise ParameterError(f"to={one_line(kind)}: a strategy goes to json")
            played = self._played(compiled, what)
            if isinstance(played, JointPolicy):
                raise PolicyError("correlated plans have no probabilities at each information set; json cannot hold it")
            with TemporaryDirectory() as folder:
                file = Path(folder) / "policy.json"
                tabulated(compiled, played).save(file)
                text = file.read_text(encoding="utf-8")
        elif f".{kind}" in GAME_TEXTS:
            text = GAME_TEXTS[f".{kind}"](self._game(name), self.limits.histories, True)
        else:
            raise ParameterError(f"to={one_line(kind)}: a game goes to efg or nfg")
        if len(text) > self.limits.output:
            raise BudgetError(f"a text of {len(text):,} characters; at most {self.limits.output:,} are sent (--output)")
        return {"text": text, "format": kind}

    def _played(self, compiled: Compiled, what: str) -> Any:
        """Return what a client names as a strategy: ``equilibrium``, an item in the folders, or a shipped agent."""
        if what == EQUILIBRIUM:
            return solve_soon(compiled, self.limits.seconds / 2, Watcher(building=self._built)).policy
        if what == "random":
            return what
        self._check_agent(what, compiled.game)
        place = self.agents.resolve(what)
        if what[:1].isdecimal():
            path = Path(place)
            return load_policy(path / POLICY if path.is_dir() else path)
        return place

    def _complete(self, compiled: Compiled, given: Strategy) -> TabularPolicy:
        """Return the strategy that a client gives, uniform at information sets that it leaves out."""
        form = compiled.form
        tables: list[dict[str, dict[str, float]]] = [{} for _ in form.players]
        for owner, key, actions in zip(form.infoset_player.tolist(), form.keys, form.actions, strict=True):
            tables[owner][key] = dict.fromkeys(actions, 1 / len(actions))
        for player, rows in given.items():
            if player not in form.players:
                raise PolicyError(f"no player {shorten(player)!r}; allowed: {', '.join(form.players)}")
            table = tables[form.players.index(player)]
            for key, row in rows.items():
                if key not in table:
                    close = get_close_matches(key, table, n=1, cutoff=0.5) or list(table)[:1]
                    hint = f"; one of its {len(table):,} sets is {close[0]!r}" if close else ""
                    raise PolicyError(f"no information set {shorten(key)!r} of {player}{hint}")
                if not row.keys() <= table[key].keys():
                    odd = shorten(", ".join(sorted(row.keys() - table[key].keys())))
                    raise PolicyError(f"{player} at {key!r} has no {odd}; allowed: {', '.join(table[key])}")
                table[key] = dict.fromkeys(table[key], 0.0) | dict(row)
        return TabularPolicy(compiled.name, form.players, tuple(tables), compiled.map_name, {"method": "given"})

    # --- resources

    def listing(self, most: int) -> list[dict[str, Any]]:
        """Return the runs and replays in the served folders, the newest first."""
        found = []
        for item in items(self.folders):
            if item.kind not in ("run", "replay"):
                continue
            head = self.agents.heads.of(item)
            if head.kind in ("run", "replay") and not head.problem:
                found.append({"name": item.name, "kind": head.kind, "game": self._without_folders(head.game)})
                if len(found) == most:
                    break
        return found

    def run(self, name: str) -> dict[str, Any]:
        """Return a run: its configuration, its curve and its result."""
        item = find(self.folders, name, "run")
        with (item.path / CONFIG).open("rb") as file:
            config = json.loads(file.read(MAX_CONFIG))
        folder = RunFolder(item.path)
        points = [_point_body(point) for point in folder.points()]
        step = max(1, -(-len(points) // MAX_POINTS))
        result = folder.result()
        body = {
            "name": name, "config": config, "curve": [*points[:-1:step], *points[-1:]],
            "result": None if result is None else msgspec.to_builtins(result),
        }  # fmt: skip
        loaded: dict[str, Any] = json.loads(self._without_folders(json.dumps(body, default=str)))
        return loaded

    def replay(self, name: str) -> dict[str, Any]:
        """Return a replay: what everybody did, step by step, and the payoffs."""
        item = find(self.folders, name, "replay")
        if kind_of(item) != "replay":
            raise ParameterError(f"{one_line(name)} is no replay")
        match = self.watching.match(name, 0)
        cut = len(match.steps) > MAX_STEPS
        return {
            "name": name, "game": self._without_folders(match.game), "players": list(match.players),
            "agents": list(match.agents), "seed": match.seed, "returns": list(match.returns), "over": match.over,
            "steps": _events(match)[:MAX_STEPS], "cut": cut, "faults": [msgspec.to_builtins(f) for f in match.faults],
        }  # fmt: skip

    # --- the parts

    def _check_agent(self, name: str, game: Game) -> None:
        """Raise for anything but ``equilibrium``, a shipped agent, or an item in the folders that can play the game."""
        if name == HUMAN:
            raise ParameterError("human: nobody sits at this server; name an agent")
        self.agents.check(name, game)

    def _game(self, name: str) -> Game:
        if PYTHON in name:
            raise UnsupportedGameError("games in Python are not run for a client; give a text in GDL, .efg or .nfg")
        return find_game(self.folders, name, CLIENT)

    def _compiled(self, name: str) -> Compiled:
        """Return a game that is small enough, compiled at the first question about it."""
        key = name, rules_stamp(name, self.folders) if not name[:1].isdecimal() else self._stamp(name)
        found = self.compiled.pop(key, None)
        if found is None:
            found = Compiled(self._game(name), self.limits.histories, self._built)
            if found.has_vector_form and found.vector.num_rows > self.limits.histories:
                raise BudgetError(
                    f"{found.name} has {found.vector.num_rows:,} probabilities, more than {self.limits.histories:,}, "
                    "the limit here (--max-histories)"
                )
        self.compiled[key] = found
        while len(self.compiled) > MAX_GAMES:
            self.compiled.popitem(last=False)
        found.progress = self._built
        return found

    def _stamp(self, name: str) -> tuple[int, int]:
        about_ = find(self.folders, name, "game").path.stat()
        return about_.st_mtime_ns, about_.st_size

    def _built(self, count: int) -> None:
        if count > self.limits.histories:
            raise BudgetError(
                f"more than {self.limits.histories:,} positions or histories, the limit here (--max-histories)"
            )
        self._report(f"building the game: {count:,}")

    def _point(self, at: Point) -> None:
        found = "" if at.exploitability is None else f", exploitability {at.exploitability:.3g}"
        self._report(f"iteration {at.iteration:,}{found}")

    def _report(self, line: str, now: bool = False) -> None:
        if now or time.monotonic() - self.reported > REPORTS:
            self.reported = time.monotonic()
            self.news("progress", line)

    def _fresh(self, name: str) -> Path:
        """Return the path of a new run in the first folder.  Raises ``ParameterError`` for a game from a text."""
        if name[:1].isdecimal() and int(name.partition("/")[0]) == len(self.folders) - 1:
            raise ParameterError("save: the text of this game is not kept; save it as a file in a served folder first")
        if len(self.folders) == 1:
            raise ParameterError("save: no folder is served; start the server with one, infoset mcp DIR")
        word = "".join(sign if sign.isalnum() else "-" for sign in Path(name).stem.lower())[:40].strip("-")
        return self.folders[0] / f"{word}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _strategy(policy: TabularPolicy, rows: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return the first rows of a strategy by player."""
    left, found = min(rows, MAX_ROWS), {}
    for player, table in zip(policy.players, policy.tables, strict=True):
        found[player] = {
            key: {action: round(chance, 9) for action, chance in row.items()} for key, row in list(table.items())[:left]
        }
        left -= len(found[player])
    return found


def _point_body(point: Point) -> dict[str, Any]:
    return {
        "iteration": point.iteration, "seconds": point.seconds, "exploitability": point.exploitability,
        "nash_conv": point.nash_conv,
    }  # fmt: skip


def _events(match: Match) -> list[str]:
    """Return a line for each step: who did what, and what chance answered."""
    lines = []
    for step in match.steps:
        said = [
            f"{player}: {action_words(action)}"
            for player, action in zip(match.players, step.actions, strict=True)
            if action is not None
        ]
        if step.chance_outcome is not None:
            said.append(f"chance: {action_words(step.chance_outcome)}")
        lines.append(", ".join(said))
    return lines
