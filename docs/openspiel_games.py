"""Makes docs/openspiel-games.md: every game of OpenSpiel that loads without parameters, checked by play.

python docs/openspiel_games.py            # all of them: a quarter of an hour
python docs/openspiel_games.py go chess   # these alone, printed

Each game has a process of its own, with limits of time and memory, so that none holds up the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyspiel

import infoset
from infoset.errors import InfosetError
from infoset.processes import limit_memory
from infoset.testing import check_game

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "openspiel-games.md"
PLAYS = 10
ENOUGH = 4.0  # seconds after which no other play begins
SECONDS = 400.0  # for a game, all in all
MEMORY = 4 << 30
CHANCE = {"DETERMINISTIC": "none", "EXPLICIT_STOCHASTIC": "listed", "SAMPLED_STOCHASTIC": "drawn by OpenSpiel"}
TEXTS = {True: "information states", False: "observations"}


def child(name: str) -> dict[str, Any]:
    """Check one game here: what was seen, or why it is refused."""
    limit_memory(MEMORY)
    start = time.monotonic()
    try:
        game = infoset.load(f"openspiel:{name}")
    except InfosetError as refusal:
        return {"refused": str(refusal)}
    lengths: list[float] = []
    try:
        while len(lengths) < PLAYS and (not lengths or time.monotonic() - start < ENOUGH):
            lengths.append(check_game(game, plays=1, seed=len(lengths)).mean_length)
        match = infoset.play_match(game, ["random"] * len(game.players), seed=1)
        infoset.replay_states(match)
    except InfosetError as fault:
        return {"fault": str(fault)}
    return {"players": len(game.players), "plays": len(lengths), "steps": sum(lengths) / len(lengths)}


def checked(name: str) -> dict[str, Any]:
    """The same in another process."""
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--child", name], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"fault": f"not done after {SECONDS:g} s"}
    lines = done.stdout.splitlines()
    return (
        json.loads(lines[-1]) if done.returncode == 0 and lines else {"fault": f"ended with status {done.returncode}"}
    )


def row(kind: Any, found: dict[str, Any]) -> str:
    chance = CHANCE[str(kind.chance_mode).rpartition(".")[2]]
    actions = str(kind.dynamics).rpartition(".")[2].lower().replace("_", " ")
    texts = TEXTS[bool(kind.provides_information_state_string)]
    if "plays" not in found:
        text = " ".join((found.get("refused") or found["fault"]).split()).replace("|", "\\|")
        what = "refused" if "refused" in found else "**fails**"
        return f"| `{kind.short_name}` | {actions} | {chance} | {texts} | | {what}: {text.removeprefix('openspiel:')} |"
    return (
        f"| `{kind.short_name}` | {actions} | {chance} | {texts} | {found['players']} | {found['plays']} of "
        f"{found['steps']:.4g} steps |"
    )


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        sys.stdout.write(json.dumps(child(sys.argv[2])) + "\n")
        return
    rows, counts = [], {"plays": 0, "refused": 0, "fault": 0}
    for kind in pyspiel.registered_games():
        if kind.default_loadable and kind.short_name in (sys.argv[1:] or [kind.short_name]):
            found = checked(kind.short_name)
            rows.append(row(kind, found))
            counts[next(what for what in counts if what in found)] += 1
            sys.stderr.write(rows[-1] + "\n")
    if sys.argv[1:]:
        return
    PAGE.write_text(f"""# OpenSpiel's games, one by one

This page lists every game of OpenSpiel with the result of a check. `python docs/openspiel_games.py` generates it,
here with OpenSpiel {version("open_spiel")}: each of the {len(rows)} games that it loads without parameters, as
`openspiel:NAME`. `infoset.testing.check_game` plays each up to {PLAYS} times at random (fewer after
{ENOUGH:g} s) and checks the game model's contract at every step; then a match is recorded and its replay
verified. {counts["plays"]} conform to the contract, {counts["refused"]} are rejected with a reason,
{counts["fault"]} fail.

`chance`: *listed*, with probabilities, so that a tree can be built; *drawn by OpenSpiel*, as a single outcome: such
a game is played with a seed that the replay records, and cannot be solved ([more](game-model.md#openspiel)).
`known by`: the text from which information states are made; with *observations*, all observations so far.
`bridge_uncontested_bidding` solves ten bridge deals at every end, which takes seconds each time: on a busy machine
its check may not finish in time; without other work, two plays took 77 s and conformed to the contract.

| game | moves | chance | known by | players | checked |
| --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}
""")


if __name__ == "__main__":
    main()
