"""Battleship, as in OpenSpiel: players place ships in secret, in turn, and then shoot at them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, State, Writes
from infoset.errors import ParameterError, shorten
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules
from infoset.games.tensors import INFORMATION_STATE, has_recall, layout
from infoset.names import Value, check_range, format_value, full_name

PLAYERS = 2
RESULTS = WATER, HIT, SUNK = "water", "hit", "sunk"
ACROSS, DOWN = "across", "down"
MOST_CELLS = 36
MOST_SHIPS = 6
MARKS = {WATER: "~", HIT: "×", SUNK: "#"}

Fleet = tuple[int, ...]  # the bit mask of each ship's cells


class Board(NamedTuple):
    """The constants of a game."""

    rows: int
    columns: int
    ships: tuple[int, ...]  # their lengths, in the order in which they are placed
    shots: int  # the number of each player's shots
    repeats: bool


class _Fields(NamedTuple):
    board: Board
    fleets: tuple[Fleet, Fleet]
    fired: tuple[int, int]  # the bit masks of the cells at which each player shot
    turn: int  # the number of moves so far


class BattleshipState(NativeState, _Fields):
    """The fleets placed so far, and the shots."""

    __slots__ = ()

    @property
    def mover(self) -> int:
        """The player to move: players alternate, first placing ships and then shooting."""
        return self.turn % PLAYERS

    @property
    def placing(self) -> bool:
        return self.turn < PLAYERS * len(self.board.ships)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover:
            return ()
        if self.placing:
            return tuple(placements(self.board, self.fleets[player]))
        fired = 0 if self.board.repeats else self.fired[player]
        return tuple([cell for cell, bit in bits(self.board).items() if not fired & bit])

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        action, other = actions[self.mover], 1 - self.mover
        if self.placing:
            fleet = (*self.fleets[self.mover], placements(self.board, self.fleets[self.mover])[action])
            fleets = (fleet, self.fleets[1]) if self.mover == 0 else (self.fleets[0], fleet)
            return Observed(self._replace(fleets=fleets, turn=self.turn + 1), (None, None))
        bit = bits(self.board)[cast("tuple[int, int]", action)]
        fired = [*self.fired]
        fired[self.mover] |= bit
        state = self._replace(fired=(fired[0], fired[1]), turn=self.turn + 1)
        seen = (state.result(self.mover, bit), action) if self.mover == 0 else (action, state.result(self.mover, bit))
        board = self.board
        last = PLAYERS * (len(board.ships) + board.shots)
        lost = [state.sunk(1 - p) for p in range(PLAYERS)]
        if state.turn == last or len(lost[1 - other]) == len(board.ships):
            paid = float(len(lost[0]) - len(lost[1]))
            return Observed(Ended((paid, -paid)), seen)
        return Observed(state, seen)

    def result(self, shooter: int, bit: int) -> str:
        """Return the result of a shot that has been fired."""
        for ship in self.fleets[1 - shooter]:
            if ship & bit:
                return SUNK if ship & ~self.fired[shooter] == 0 else HIT
        return WATER

    def sunk(self, player: int) -> tuple[int, ...]:
        """Return the numbers of a player's sunk ships."""
        return tuple([k for k, ship in enumerate(self.fleets[player]) if ship & ~self.fired[1 - player] == 0])

    def hit(self, player: int) -> int:
        """Return the bit mask of the cells of a player's ships that were hit."""
        return sum(ship & self.fired[1 - player] for ship in self.fleets[player])

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class BattleshipRules(ShownRules):
    """The game in factored form: the private parts are the fleets, the core is the shots and their results."""

    def split(self, state: State) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """Split a state into the turn, the shots and their results, and the fleets."""
        if not isinstance(state, BattleshipState):
            return ("end", state.returns()), ((), ())
        found = tuple([(state.hit(p), state.sunk(p)) for p in range(PLAYERS)])
        return (state.turn, state.fired, found), state.fleets

    def join(self, core: tuple[int, tuple[int, int], Any], own: tuple[Fleet, Fleet]) -> BattleshipState:
        """Return the state with this core and these fleets."""
        return BattleshipState(cast(BattleshipState, self.first.state).board, own, core[1], core[0])

    def tensor_encoder(self, kind: str) -> BattleshipEncoder:
        """Return the encoder of OpenSpiel's tensor: the player's ships, all shots, and the results of its own ones."""
        has_recall(self.name, kind, allowed=(INFORMATION_STATE,))
        return BattleshipEncoder(cast(BattleshipState, self.first.state).board)


class BattleshipEncoder:
    """The player, and by turn its ships and all shots with their cells, and the results of its own shots.

    Actions are the cells, then ships across and down from each cell.  The memo is the number of records.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        cells = tuple(bits(board))
        self.actions: tuple[Action, ...] = (
            *cells, *[(ACROSS, *cell) for cell in cells], *[(DOWN, *cell) for cell in cells]
        )  # fmt: skip
        cell = {"row": board.rows, "column": board.columns}
        self.in_ship, ship = layout(way=2, **cell)
        self.in_shot, shot = layout(player=PLAYERS, **cell, result=len(RESULTS))
        turns = {"ships": ship * len(board.ships), "shots": shot * PLAYERS * board.shots}
        self.at, size = layout(over=1, player=PLAYERS, mover=PLAYERS, **turns)
        self.ship, self.shot = ship, shot
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[int, Writes]:
        """Show the player, who is also the one to move wherever it is asked."""
        return 0, ((self.at["player"] + player, 1.0), (self.at["mover"] + player, 1.0))

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        """Show a ship or a shot."""
        action, seen = record
        if memo < len(self.board.ships):
            way, row, column = cast("tuple[str, int, int]", action)
            parts, begin = self.in_ship, self.at["ships"] + memo * self.ship
            shown = [parts["way"] + (way == DOWN)]
        else:
            shooter = 1 - player if action is None else player
            row, column = cast("tuple[int, int]", seen if action is None else action)
            parts, begin = self.in_shot, self.at["shots"] + (memo - len(self.board.ships)) * self.shot
            shown = [parts["player"] + shooter]
            if action is not None:
                shown.append(parts["result"] + RESULTS.index(str(seen)))
        shown += [parts["row"] + row - 1, parts["column"] + column - 1]
        return memo + 1, tuple([(begin + k, 1.0) for k in shown])


@cache
def bits(board: Board) -> dict[tuple[int, int], int]:
    """Return the bit of each cell, row by row."""
    cells = [(r, c) for r in range(1, board.rows + 1) for c in range(1, board.columns + 1)]
    return {cell: 1 << k for k, cell in enumerate(cells)}


@lru_cache(maxsize=1 << 16)
def placements(board: Board, fleet: Fleet) -> dict[Any, int]:
    """Return the moves that place the next ship and leave room for the others, with the ship's cells."""
    taken, length = sum(fleet), board.ships[len(fleet)]
    found: dict[Any, int] = {}
    for way in (ACROSS, DOWN) if length > 1 else (ACROSS,):
        for row, column in bits(board):
            ship = _cells(board, way, row, column, length)
            if ship and not ship & taken and (len(fleet) + 1 == len(board.ships) or placements(board, (*fleet, ship))):
                found[way, row, column] = ship
    return found


def _cells(board: Board, way: str, row: int, column: int, length: int) -> int:
    """Return the bit mask of a ship's cells; 0 where it would leave the board."""
    steps = range(length)
    cells = [(row, column + k) if way == ACROSS else (row + k, column) for k in steps]
    return sum(bits(board)[cell] for cell in cells) if all(cell in bits(board) for cell in cells) else 0


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw both seas as these players together know them."""
    board = cast(BattleshipState, rules.first.state).board
    seas: list[dict[Any, str]] = [{}, {}]
    for player, own in enumerate(infostate):
        for action, seen in own or ():
            if isinstance(action, tuple) and len(action) == 3:
                cells = _cells(board, str(action[0]), action[1], action[2], board.ships[_placed(own, action)])  # type: ignore[arg-type]
                seas[player] |= {cell: "o" for cell, bit in bits(board).items() if bit & cells}
            elif action is not None:
                seas[1 - player][action] = MARKS[str(seen)]
    for player, own in enumerate(infostate):
        for action, seen in own or ():
            if action is None:
                there = seas[player].get(seen, "")
                seas[player][seen] = "×" if there in ("o", "×") else there if there == "#" else "~"
    parts = [_sea(rules.players[p], board, sea) for p, sea in enumerate(seas)]
    return {"kind": "group", "parts": parts}


def _placed(infostate: InformationState | None, action: Action) -> int:
    """Return the number of the ship that was placed by this move."""
    return [record[0] for record in infostate or ()].index(action)


def _sea(title: str, board: Board, marks: dict[Any, str]) -> Picture:
    rows, columns = range(1, board.rows + 1), range(1, board.columns + 1)
    cells = [[marks.get((r, c), "") for c in columns] for r in rows]
    return {
        "kind": "grid", "title": title, "rows": list(map(str, rows)), "columns": list(map(str, columns)),
        "cells": cells, "moves": {},
    }  # fmt: skip


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a ship or a shot of the player with its result, or a shot of the opponent."""
    action, seen = record
    if action is None:
        row, column = cast("tuple[int, int]", seen)
        return f"{rules.players[1 - player]} shoots at {row},{column}"
    if isinstance(action, tuple) and len(action) == 3:
        return f"you place a ship {action[0]} from {action[1]},{action[2]}"
    row, column = cast("tuple[int, int]", action)
    return f"you shoot at {row},{column}: {seen}"


def battleship(
    rows: int = 2, columns: int = 3, ships: Value = 2, shots: int = 3, repeats: bool = False
) -> BattleshipRules:
    """Battleship: a player gets a point for each ship that it sinks; ``ships``: one length or a list of them.

    ``repeats``: whether a cell may be shot at again.
    """
    check_range("battleship: rows", rows, 1, MOST_CELLS)
    check_range("battleship: columns", columns, 1, MOST_CELLS // rows)
    check_range("battleship: shots", shots, 1, MOST_CELLS)
    lengths: list[int] = []
    for length in ships if isinstance(ships, tuple) else (ships,):
        if not isinstance(length, int) or isinstance(length, bool):
            raise ParameterError(
                f"battleship: ships={shorten(format_value(ships))} is not a length or a list of lengths"
            )
        check_range("battleship: ships", length, 1, MOST_CELLS)
        lengths.append(length)
    check_range("battleship: number of ships", len(lengths), 1, MOST_SHIPS)
    if not repeats:
        check_range("battleship: shots without repeats", shots, 1, rows * columns)
    board = Board(rows, columns, tuple(lengths), shots, repeats)
    if not placements(board, ()):
        raise ParameterError(
            f"battleship: ships of lengths {shorten(str(lengths))} find no room on {rows} x {columns} cells"
        )
    name = full_name("battleship", battleship, rows=rows, columns=columns, ships=ships, shots=shots, repeats=repeats)
    first = Observed(BattleshipState(board, ((), ()), (0, 0), 0), (None, None))
    return BattleshipRules(name, seats(PLAYERS), first, Look(picture, describe_record))
