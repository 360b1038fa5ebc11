"""Makes docs/solvers/methods-by-game.md: every method on every kind of game, with its figures or why it is refused.

python docs/methods_by_game.py
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from infoset import evaluate, solve
from infoset.errors import InfosetError
from infoset.solvers.method import METHODS, OPTIONS, parse_method

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "solvers" / "methods-by-game.md"
FORGETFUL = """EFG 2 R "forgetful" { "A" }
c "" 1 "" { "h" 1/2 "t" 1/2 } 0
p "" 1 1 "" { "look" "away" } 0
p "" 1 3 "" { "h" "t" } 0
t "" 1 "" { 1 }
t "" 2 "" { 0 }
p "" 1 3 "" { "h" "t" } 0
t "" 3 "" { 1 }
t "" 4 "" { 0 }
p "" 1 2 "" { "look" "away" } 0
p "" 1 3 "" { "h" "t" } 0
t "" 5 "" { 0 }
t "" 6 "" { 1 }
p "" 1 3 "" { "h" "t" } 0
t "" 7 "" { 0 }
t "" 8 "" { 1 }
"""
GENERAL = """EFG 2 R "battle of the sexes" { "A" "B" }
p "" 1 1 "" { "l" "r" } 0
p "" 2 1 "" { "l" "r" } 0
t "" 1 "" { 2 1 }
t "" 2 "" { 0 0 }
p "" 2 1 "" { "l" "r" } 0
t "" 3 "" { 0 0 }
t "" 4 "" { 1 2 }
"""
KINDS = {
    "two players, zero-sum": "kuhn_poker",
    "three players": "kuhn_poker(players=3)",
    "general sum, `.efg`": "general.efg",
    "GDL": "gdl:scissors_double",
    "GDL, too large for a tree": "gdl:meier",
    "OpenSpiel": "openspiel:kuhn_poker",
    "own class": f"python:{ROOT / 'examples' / 'hide_and_seek.py'}:HideAndSeek(boxes=3)",
    "one team": "tiny_hanabi(game=F)",
    "imperfect recall, `.efg`": "forgetful.efg",
}
LITTLE = {"iterations": 100}


def cell(method: str, game: str, folder: Path) -> str:
    """The figures of a solve, checked by ``evaluate``; or why it is refused."""
    if (method, game) == ("mccfr", "gdl:meier"):  # nobody should wait for that
        return "sampled; exact figures take hours"
    takes = parse_method(method).takes
    options = LITTLE if "iterations" in takes and method != "auto" else {}
    options = {"seconds": 2.0} if method == "auto" and game == "gdl:blind_tic_tac_toe" else options
    try:
        found = solve(game, method, **options, seed=1, max_histories=1_000_000, out=folder / "*")
    except InfosetError as refusal:
        text = str(refusal).replace("|", "\\|").partition(". ")[0]
        return re.sub(r"^(gdl:|openspiel:)?[^:\s]+?(\(.*?\))?(?=:| is | has )", "the game", text).partition(": [")[0][
            :100
        ]
    again = evaluate(game, str(found.folder))
    assert max(abs(a - b) for a, b in zip(again.values, found.values, strict=True)) < 1e-9
    start = f"{found.values[0]:.4g}"
    name = "" if found.method == method else f"{found.method.partition('(')[0]}: "
    return f"{name}{start}, ε {found.exploitability:.1g}" if found.exploitability is not None else f"{name}{start}"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "forgetful.efg").write_text(FORGETFUL)
        (folder / "general.efg").write_text(GENERAL)
        where = {kind: str(folder / game) if game.endswith(".efg") else game for kind, game in KINDS.items()}
        refusals: list[str] = []
        rows = []
        for method in METHODS:
            row = []
            for kind, game in where.items():
                text = cell(method, game, folder).replace(f"{folder}/", "")
                solved = (
                    text.startswith("sampled")
                    or text[:1].isdigit()
                    or text[:1] == "-"
                    or text.partition(":")[0] in METHODS
                )
                if not solved:
                    if text not in refusals:
                        refusals.append(text)
                    text = f"[{refusals.index(text) + 1}]"
                row.append(text)
                sys.stderr.write(f"{method}, {kind}: {text}\n")
            rows.append(f"| `{method}` | {' | '.join(row)} |")
    options = [
        f"| `{m}` | {' | '.join('yes' if option in parse_method(m).takes else '' for option in OPTIONS)} |"
        for m in METHODS
    ]
    reasons = "\n".join(f"{k}. {text}" for k, text in enumerate(refusals, 1))
    PAGE.write_text(f"""# Which method for which game

This page shows the result of every method on every kind of game. `python docs/methods_by_game.py` generates it, with
100 iterations (of each run) for iterative methods and default limits otherwise. A cell shows the first player's payoff
and, after ε, the exploitability of the policy; every saved policy was evaluated again to the same figures. A number in
brackets is a refusal, listed below.

| method | {" | ".join(KINDS)} |
| --- |{" --- |" * len(KINDS)}
{chr(10).join(rows)}

{reasons}

## Which options

An option that a method does not accept is an error that lists those it does. `--seed`, `--out`, `--resume` and
`--max-histories` apply to all methods.

| method | {" | ".join(f"`--{option}`" for option in OPTIONS)} |
| --- |{" --- |" * len(OPTIONS)}
{chr(10).join(options)}
""")


if __name__ == "__main__":
    main()
