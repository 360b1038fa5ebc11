"""Pictures of game descriptions: boards where facts have coordinates, else the facts by relation.

A player sees the facts on which all states agree that are consistent with its own moves and percepts, while these
states can be listed; otherwise its moves and percepts themselves, on the board where they name cells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

from infoset.base import Action, Game, InformationState, Observation, ObservationRecord, Picture, Step
from infoset.gdl.game import GdlGame
from infoset.gdl.rules import GdlRules, GdlState
from infoset.match.replay import MatchStep
from infoset.view.pictures.boards import UNKNOWN, Fact, Facts, boards_of, by_relation
from infoset.view.pictures.paths import Walked, path
from infoset.view.pictures.possible import possible_states
from infoset.view.pictures.words import action_words

MAX_ROWS = 60
IDLE = ("noop", "wait")


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of all facts that hold in the last state."""
    state = steps[-1].state
    assert isinstance(game, GdlGame)
    assert isinstance(state, GdlState)
    return _group(_laid(game, _shown(game.rules, by_relation(state.facts), by_relation([]), ())))


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of the facts that are certain given a player's moves and percepts, and of those themselves."""
    assert isinstance(game, GdlGame)
    rules = game.rules
    states = possible_states(rules, player, infostate)
    if states is None:
        parts = _tried(rules, infostate, legal_actions)
    else:
        worlds = [rules.evaluator.facts(state) for state in _offering(rules, player, states, legal_actions)]
        certain, possible = frozenset.intersection(*worlds), frozenset.union(*worlds)
        parts = _shown(rules, by_relation(certain), by_relation(possible - certain), legal_actions)
    if not rules.open:
        parts.append(_describe_path(game.players[player], infostate))
    return _group(_laid(game, parts))


HEXAGONS = re.compile(r"(?<![a-z])hex(?![a-z])", re.IGNORECASE)


def _laid(game: Game, parts: list[Picture]) -> list[Picture]:
    """Lay out the boards of Hex games in hexagons, since their descriptions do not distinguish them from squares."""
    for part in parts if HEXAGONS.search(Path(game.name).stem) else ():
        if part["kind"] == "grid":
            part["hexagons"] = 1 if part["rows"] == sorted(part["rows"]) else -1  # row 1 at the top, or at the bottom
    return parts


def _offering(
    rules: GdlRules, player: int, states: frozenset[Hashable], legal_actions: Sequence[Action]
) -> Collection[Hashable]:
    """Return those states in which the player has exactly these legal moves; all states where it has none to make."""
    seat = rules.seats[player]
    return [state for state in states
            if legal_actions and rules.evaluator.legal_actions(state, seat) == tuple(legal_actions)
            and not rules.evaluator.terminal(state)] or states  # fmt: skip


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return in words the own move and percepts; in a game of complete information the moves of the others."""
    assert isinstance(game, GdlGame)
    observation = record[1]
    if game.rules.open and isinstance(observation, tuple):
        who = ["you" if p == player else name for p, name in enumerate(game.players)]
        played = [f"{name}: {action_words(m)}" for name, m in zip(who, observation, strict=True) if m not in IDLE]
        return "; ".join(played) or "nobody does anything"
    own, percepts = _plain(record)
    did = [] if own is None else [f"you: {action_words(own)}"]
    return "; ".join([*did, f"you see {', '.join(map(action_words, percepts)) or 'nothing'}"])


def _describe_path(name: str, infostate: InformationState) -> Picture:
    """Return the path of the player's moves and percepts."""
    walked = []
    for action, percepts in map(_plain, infostate):
        walked += [] if action is None else [Walked(name, action)]
        walked += [Walked("", ", ".join(map(action_words, percepts)))] if percepts else []
    return path(walked)


def _plain(record: ObservationRecord) -> tuple[Action | None, tuple[Observation, ...]]:
    """Return the move and the percepts of a record without the uninformative ones: idle moves, and offered moves."""
    action, observation = record
    percepts = observation if isinstance(observation, tuple) else ()
    return None if action in IDLE else action, tuple([percept for percept in percepts if not _is_offer(percept)])


def _is_offer(percept: object) -> bool:
    return isinstance(percept, tuple) and percept[:1] == ("offered",)


def _shown(rules: GdlRules, certain: Facts, doubtful: Facts, legal_actions: Sequence[Action]) -> list[Picture]:
    """Return the boards and the other facts: the certain ones, and where others are possible."""
    grids = [board.picture(certain, doubtful) for board in boards_of(rules)]
    _offer(rules, grids, legal_actions)
    boards = {name for board in boards_of(rules) for name in (board.name, *board.marks)}
    names = sorted({*certain, *doubtful} - boards)
    relations = [{"name": name, "rows": _rows(certain[name], name in doubtful)} for name in names]
    return [*grids, *([{"kind": "facts", "relations": relations}] if relations else [])]


def _offer(rules: GdlRules, grids: list[Picture], legal_actions: Sequence[Action]) -> None:
    """Add the moves that name cells, or a line of them, to the first board, or to the first of each role.

    The other boards are marked as small.
    """
    boards = boards_of(rules)
    for board, grid in zip(boards, grids, strict=True):
        if board.name == boards[0].name:
            grid.update(board.offers(legal_actions) or {"moves": board.drops(legal_actions, grid["cells"])})
        else:
            grid["small"] = True


def _rows(facts: set[Fact], doubtful: bool) -> list[list[str]]:
    """Return the facts of a relation in order, with ``?`` where there may be others."""
    rows = [list(fact) for fact in sorted(facts, key=_order)]
    if len(rows) > MAX_ROWS:
        rows = [*rows[:MAX_ROWS], [f"… {len(rows) - MAX_ROWS} more"]]
    return [*rows, [UNKNOWN]] if doubtful else rows


def _order(fact: tuple[str, ...]) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts numbers by size before words."""
    return [(False, int(a), "") if a.isdecimal() and len(a) < 10 else (True, 0, a) for a in fact]


def _tried(rules: GdlRules, infostate: InformationState, legal_actions: Sequence[Action]) -> list[Picture]:
    """Return boards on which only the cells named by the player's own moves are known, with the percepts received."""
    grids = [board.picture(by_relation([]), by_relation([])) for board in boards_of(rules)]
    for board, grid in zip(boards_of(rules), grids, strict=True):
        cells = grid["cells"] = [[UNKNOWN] * len(board.columns) for _ in board.rows]
        for action, percepts in map(_plain, infostate):
            for row, column in board.cells(action) if grid is grids[0] else ():
                cells[row][column] = " ".join(map(action_words, percepts)) or "tried"
    _offer(rules, grids, legal_actions)
    return grids


def _group(parts: list[Picture]) -> Picture:
    return parts[0] if len(parts) == 1 else {"kind": "group", "parts": parts}
