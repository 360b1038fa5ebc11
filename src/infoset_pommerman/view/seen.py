"""One agent's view of Pommerman as a picture, made only of its own moves and observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from infoset.base import Action, InformationState
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.observation import LOW_BITS, Seen
from infoset_pommerman.view.film import ITEMS
from infoset_pommerman.view.frames import OPPOSITE, STEPS, cell_beyond

GROUND = (st.RIGID, st.WOOD, *ITEMS)
UNSEEN: dict[str, Any] = {"kind": "facts", "relations": []}
"""The picture before the board is dealt."""


def picture(config: Config, player: int, known: InformationState) -> dict[str, Any]:
    """Return the last position that ``player`` observed, as a key frame with ``fog`` (see ``recording``).

    Hidden information about others (their equipment, and their cells in the fog) is ``None``.  Bombs have no owner's
    colour, and the page matches them from frame to frame.

    >>> from infoset_pommerman.view.seen import picture
    >>> game = infoset.load("pommerman:PommeTeamCompetition-v0(seed=1)")
    >>> shown = picture(game.config, 0, ((None, game.start().observation(0)),))
    >>> shown["me"], len(shown["fog"]), [agent[1] for agent in shown["a"]]
    (0, 85, [12, None, None, None])
    """
    looks = _looks(known)
    now = next(looks, None)
    if now is None:
        return UNSEEN
    before = next(looks, None)
    size, cells = config.size, list(map(ord, now.board))
    move = known[-1][0]
    moves: list[Action | None] = [None] * config.num_agents
    moves[player] = move[0] if isinstance(move, tuple) else move
    packed = {
        "fog": [cell for cell, value in enumerate(cells) if value == st.FOG],
        "g": [number for cell, value in enumerate(cells) if value in GROUND for number in (cell, value)],
        "a": [_agent(config, k, player, now, before, known) for k in range(config.num_agents)],
        "b": list(_bombs(now)),
        "f": list(_flames(now, size)),
        "m": moves if move is not None else [],
        "w": _words(config, player, now, move),
    }
    head = {"kind": "pommerman", "key": 1, "size": size, "me": player, "step": now.step_count}
    return head | {key: value for key, value in packed.items() if value}


def _looks(known: InformationState) -> Iterator[Seen]:
    """Yield the observations, the last one first."""
    for _, observation in reversed(known):
        if observation:
            yield Seen(*cast("tuple[Any, ...]", observation))


def _agent(config: Config, k: int, me: int, now: Seen, before: Seen | None, known: InformationState) -> list[Any]:
    alive = int(st.AGENT + k in now.alive)
    if k == me:
        facing = next((move for move, _ in map(_walk, reversed(known)) if move in OPPOSITE), st.DOWN)
        row, column = now.position
        return [alive, row * config.size + column, now.ammo, now.blast_strength, now.can_kick, facing]
    cell = _place(now, k)
    was = None if before is None else _place(before, k)
    walked = [
        way for way in OPPOSITE if None not in (was, cell) and cell_beyond(cast(int, was), way, config.size) == cell
    ]
    return [alive, cell, None, None, None, walked[0] if walked else st.DOWN]


def _walk(record: tuple[Action | None, object]) -> tuple[Action | None, object]:
    move, seen = record
    return (move[0] if isinstance(move, tuple) else move), seen


def _place(seen: Seen, k: int) -> int | None:
    """Return the cell in which another agent is seen, or ``None``."""
    found = seen.board.find(chr(st.AGENT + k))
    return None if found < 0 else found


def _bombs(seen: Seen) -> Iterator[list[Any]]:
    """Yield number, cell, owner, life, strength of each bomb in view; the owners are not observed."""
    places = [cell for cell, strength in enumerate(seen.bomb_blast_strength) if ord(strength)]
    for number, cell in enumerate(places):
        life = ord(seen.bomb_life[cell])
        signed = life - LOW_BITS - 1 if life > LOW_BITS // 2 else life
        yield [number, cell, None, signed, ord(seen.bomb_blast_strength[cell])]


def _flames(seen: Seen, size: int) -> Iterator[list[int]]:
    """Yield cell, life and links of each flame; neighbouring flames of equal life are taken for one fire."""
    lives = list(map(ord, seen.flame_life))
    for cell, life in enumerate(lives):
        if life:
            beside = {way: cell_beyond(cell, way, size) for way in STEPS if way != st.STOP}
            links = sum(1 << way for way, other in beside.items() if other is not None and lives[other] == life)
            yield [cell, life - 1, links]


def _words(config: Config, player: int, now: Seen, move: Action | None) -> list[list[int]]:
    """Return the player's own words and those it heard; an empty list without a radio."""
    if not now.message:
        return []
    words = [[0, 0] for _ in range(config.num_agents)]
    words[(player + 2) % MAX_AGENTS] = list(now.message)
    if isinstance(move, tuple):
        words[player] = [cast(int, word) for word in move[1:]]
    return words
