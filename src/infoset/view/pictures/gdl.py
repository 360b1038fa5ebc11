"""Pictures of game descriptions: boards where facts have coordinates, else the facts by relation.

What a player sees is where all states agree that its own moves and percepts allow, while these can be listed;
beyond that, its moves and percepts themselves, on the board where they name cells.
"""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Observation, Picture, Step, Token
from infoset.gdl.game import GdlGame, GdlRules, GdlState
from infoset.match.replay import MatchStep
from infoset.view.pictures.boards import UNKNOWN, Board, Facts, boards_of, by_relation
from infoset.view.pictures.paths import Walked, path
from infoset.view.pictures.possible import possible_states
from infoset.view.pictures.words import action_words

MAX_ROWS = 60
IDLE = ("noop", "wait")


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Everything that holds."""
    state = steps[-1].state
    assert isinstance(game, GdlGame)
    assert isinstance(state, GdlState)
    return _group(_shown(game.rules, [by_relation(state.facts)], ()))


def seen(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """What certainly holds by what a player did and perceived, and these moves and percepts."""
    assert isinstance(game, GdlGame)
    rules = game.rules
    states = possible_states(rules, player, known)
    if states is None:
        parts = [_marked(board, known, legal) for board in boards_of(rules)[:1]]
    else:
        parts = _shown(rules, [by_relation(rules.evaluator.facts(state)) for state in states], legal)
    if not rules.open:
        parts.append(_told_path(game.players[player], known))
    return _group(parts)


def told(game: Game, player: int, token: Token, before: InformationState) -> str:
    """The own move and what was perceived; in a game of complete information the others' moves."""
    assert isinstance(game, GdlGame)
    observation = token[1]
    if game.rules.open and isinstance(observation, tuple):
        who = ["you" if p == player else name for p, name in enumerate(game.players)]
        played = [f"{name}: {action_words(m)}" for name, m in zip(who, observation, strict=True) if m not in IDLE]
        return "; ".join(played) or "nobody does anything"
    own, percepts = _plain(token)
    did = [] if own is None else [f"you: {action_words(own)}"]
    return "; ".join([*did, f"you see {', '.join(map(action_words, percepts)) or 'nothing'}"])


def _told_path(name: str, known: InformationState) -> Picture:
    """What the player did and perceived."""
    walked = []
    for move, percepts in map(_plain, known):
        walked += [] if move is None else [Walked(name, move)]
        walked += [Walked("", ", ".join(map(action_words, percepts)))] if percepts else []
    return path(walked)


def _plain(token: Token) -> tuple[Action | None, tuple[Observation, ...]]:
    """The move and the percepts of a token, without what says nothing: idle moves, and the moves on offer."""
    move, observation = token
    percepts = observation if isinstance(observation, tuple) else ()
    return None if move in IDLE else move, tuple([percept for percept in percepts if not _is_offer(percept)])


def _is_offer(percept: object) -> bool:
    return isinstance(percept, tuple) and percept[:1] == ("offered",)


def _shown(rules: GdlRules, worlds: list[Facts], legal: Sequence[Action]) -> list[Picture]:
    """Boards and other facts, as far as the worlds agree."""
    boards = boards_of(rules)
    grids = [board.picture(worlds) for board in boards]
    for board, grid in zip(boards, grids, strict=True):
        if board.name == boards[0].name:
            grid.update(_offers(board, legal, grid))
        else:
            grid["small"] = True
    on_boards = {name for board in boards for name in (board.name, *board.marks)}
    relations = [
        {"name": name, "rows": _rows(name, worlds)}
        for name in sorted({name for facts in worlds for name in facts} - on_boards)
    ]
    return [*grids, *([{"kind": "facts", "relations": relations}] if relations else [])]


def _rows(name: str, worlds: list[Facts]) -> list[list[str]]:
    """The facts of a relation that hold in all worlds, and ``?`` where there may be others."""
    told = [facts.get(name, set()) for facts in worlds]
    common = set.intersection(*map(set, told))
    rows = [list(fact) for fact in sorted(common, key=_order)]
    if len(rows) > MAX_ROWS:
        rows = [*rows[:MAX_ROWS], [f"… {len(rows) - MAX_ROWS} more"]]
    return rows if all(found == common for found in told) else [*rows, [UNKNOWN]]


def _order(fact: tuple[str, ...]) -> list[tuple[bool, int, str]]:
    """Numbers by size, before words."""
    return [(False, int(a), "") if a.isdecimal() and len(a) < 10 else (True, 0, a) for a in fact]


def _marked(board: Board, known: InformationState, legal: Sequence[Action]) -> Picture:
    """An unknown board with the cells that own moves named, and what was perceived then."""
    grid = board.picture([{}])
    cells = [[UNKNOWN] * len(board.columns) for _ in board.rows]
    for move, percepts in map(_plain, known):
        for row, column in board.cells(move):
            cells[row][column] = " ".join(map(action_words, percepts)) or "tried"
    grid["cells"] = cells
    return grid | _offers(board, legal, grid)


def _offers(board: Board, legal: Sequence[Action], grid: Picture) -> Picture:
    """The moves that name cells, or one line of them."""
    return board.offers(legal) or {"moves": board.drops(legal, grid["cells"])}


def _group(parts: list[Picture]) -> Picture:
    return parts[0] if len(parts) == 1 else {"kind": "group", "parts": parts}
