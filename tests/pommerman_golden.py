"""Recorded games of the reference environment: read from the shared folder, written as positions and back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from infoset_pommerman import state as st
from infoset_pommerman.config import Config, GameType, config

KINDS = ("ffa", "onevsone", "team", "team_full", "radio", "kick", "collapse", "stress", "rare")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def games(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / "golden" / "pommerman" / f"{kind}.jsonl.gz", "rt") as file:
        yield from map(json.loads, file)


def config_of(game: dict[str, Any]) -> Config:
    """The configuration that a recorded game was played with."""
    from dataclasses import replace

    named = config(game["env"])
    if named.size != int(game["board_size"]):  # a start state comes with the game, so no board is drawn
        named = replace(named, rigid=0, wood=0, items=0)
    return replace(
        named,
        game_type=GameType(int(game["game_type"])),
        size=int(game["board_size"]),
        max_steps=int(game["max_steps"]),
        view=None if game["agent_view_size"] is None else int(game["agent_view_size"]),
        collapses=tuple(game.get("collapses", ())),
    )


def to_row(compact: dict[str, Any], rules: Config) -> st.Row:
    """A position from the compact form of the recordings."""
    size = rules.size
    row = st.empty_rows(1, rules)[0]
    board = st.BOARD
    row[st.STEP], row[st.NUM_BOMBS], row[st.NUM_FLAMES] = compact["n"], len(compact["o"]), len(compact["f"])
    row[board : board + size * size] = [DIGITS.index(digit) for digit in compact["b"]]
    for k, alive, r, c, ammo, blast, kick in compact["a"]:
        at = st.AGENTS + k * st.AGENT_FIELDS
        row[at : at + st.AGENT_FIELDS] = (alive, r * size + c, ammo, blast, kick)
    for k, (r, c, owner, life, blast, direction) in enumerate(compact["o"]):
        at = st.BOMBS + k * st.BOMB_FIELDS
        row[at : at + st.BOMB_FIELDS] = (r * size + c, owner, life, blast, direction)
    for k, (r, c, life) in enumerate(compact["f"]):
        at = st.flames_at(size) + k * st.FLAME_FIELDS
        row[at : at + st.FLAME_FIELDS] = (r * size + c, life)
    for r, c, value in compact["i"]:
        row[board + size * size + r * size + c] = value
    for k, words in enumerate(compact.get("m", ())):
        row[st.MESSAGES + k * st.WORDS : st.MESSAGES + (k + 1) * st.WORDS] = words
    return row


def to_compact(row: st.Row, size: int, num_agents: int) -> dict[str, Any]:
    """The compact form of a position, without messages."""
    board, cells = st.BOARD, size * size
    agents = row[st.AGENTS :][: num_agents * st.AGENT_FIELDS].reshape(num_agents, -1).tolist()
    bombs = row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS).tolist()
    flames = row[st.flames_at(size) :][: row[st.NUM_FLAMES] * st.FLAME_FIELDS].reshape(-1, st.FLAME_FIELDS).tolist()
    hidden = row[board + cells : st.flames_at(size)]
    return {
        "n": int(row[st.STEP]),
        "b": "".join(DIGITS[value] for value in row[board : board + cells]),
        "a": [[k, a, *divmod(cell, size), *rest] for k, (a, cell, *rest) in enumerate(agents)],
        "o": [[*divmod(cell, size), *rest] for cell, *rest in bombs],
        "f": [[*divmod(cell, size), life] for cell, life in flames],
        "i": [[*divmod(int(cell), size), int(hidden[cell])] for cell in np.flatnonzero(hidden)],
    }
