"""Helper functions for agents of the playground."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.files import replace_file
from infoset.names import check_range
from infoset_pommerman.config import MAX_AGENTS, Config, GameType
from infoset_pommerman.game import MAX_SEED, Pommerman, PommermanState
from infoset_pommerman.playground.constants import Action, InvalidAction, Item, Result
from infoset_pommerman.state import BOARD

Position: TypeAlias = tuple[int, int]
Board: TypeAlias = Any
"""An array (n, n) of cell values."""

AGENTS = (Item.Agent0, Item.Agent1, Item.Agent2, Item.Agent3)
POWERUPS = (Item.ExtraBomb, Item.IncrRange, Item.Kick)
WALLS = (Item.Rigid, Item.Wood)
MOVES = {Action.Stop: (0, 0), Action.Up: (-1, 0), Action.Down: (1, 0), Action.Left: (0, -1), Action.Right: (0, 1)}
MERGED = "game_state.json"


def make_board(size: int, num_rigid: int = 0, num_wood: int = 0, num_agents: int = 4) -> npt.NDArray[np.uint8]:
    """Return a board (size, size) with its agents, drawn as in the reference; raise ``ParameterError`` if none fits."""
    kind = GameType.FFA if num_agents == MAX_AGENTS else GameType.ONE_VS_ONE
    game = Pommerman("make_board", Config(kind, size, num_rigid, num_wood, items=0))
    state = game.deal(int(np.random.randint(MAX_SEED))).state
    assert isinstance(state, PommermanState)
    return state.row[BOARD : BOARD + size * size].reshape(size, size).astype(np.uint8)


def make_items(board: Board, num_items: int) -> dict[Position, int]:
    """Return ``num_items`` items under random wooden walls; raise ``ParameterError`` where there are too few."""
    wood = np.argwhere(np.asarray(board) == Item.Wood)
    check_range("num_items", num_items, 0, len(wood))
    chosen = np.random.permutation(len(wood))[:num_items]
    return {(int(r), int(c)): int(np.random.choice(POWERUPS)) for r, c in wood[chosen]}


def inaccessible_passages(board: Board, agent_positions: Sequence[Position]) -> list[Position]:
    """Return the passages that the last of these agents cannot reach through anything but rigid walls."""
    seen, front = set(), [tuple(agent_positions[-1])]
    while front:
        row, column = front.pop()
        for cell in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if cell not in seen and position_on_board(board, cell) and not position_is_rigid(board, cell):
                seen.add(cell)
                front.append(cell)
    passages = np.argwhere(np.asarray(board) == Item.Passage)
    return [(int(r), int(c)) for r, c in passages if (r, c) not in seen]


def position_on_board(board: Board, position: Position) -> bool:
    """Return whether ``position`` lies on the board."""
    row, column = position
    return 0 <= row < len(board) and 0 <= column < len(board[0])


def position_in_items(board: Board, position: Position, items: Iterable[int]) -> bool:
    """Return whether the cell has one of these values."""
    return int(board[position]) in [int(item) for item in items]


def position_is_passage(board: Board, position: Position) -> bool:
    """Return whether there is a passage at ``position``."""
    return position_in_items(board, position, (Item.Passage,))


def position_is_rigid(board: Board, position: Position) -> bool:
    """Return whether there is a rigid wall at ``position``."""
    return position_in_items(board, position, (Item.Rigid,))


def position_is_wood(board: Board, position: Position) -> bool:
    """Return whether there is a wooden wall at ``position``."""
    return position_in_items(board, position, (Item.Wood,))


def position_is_wall(board: Board, position: Position) -> bool:
    """Return whether there is a rigid or wooden wall at ``position``."""
    return position_in_items(board, position, WALLS)


def position_is_flames(board: Board, position: Position) -> bool:
    """Return whether there are flames at ``position``."""
    return position_in_items(board, position, (Item.Flames,))


def position_is_fog(board: Board, position: Position) -> bool:
    """Return whether ``position`` is hidden by fog."""
    return position_in_items(board, position, (Item.Fog,))


def position_is_powerup(board: Board, position: Position) -> bool:
    """Return whether there is a power-up at ``position``."""
    return position_in_items(board, position, POWERUPS)


def position_is_agent(board: Board, position: Position) -> bool:
    """Return whether there is an agent at ``position``."""
    return position_in_items(board, position, AGENTS)


def position_is_enemy(board: Board, position: Position, enemies: Iterable[int]) -> bool:
    """Return whether there is one of ``enemies`` at ``position``."""
    return position_in_items(board, position, enemies)


def position_is_passable(board: Board, position: Position, enemies: Iterable[int]) -> bool:
    """Return whether an agent can walk there: on a passage, an item, or an agent that is no enemy."""
    walkable = position_in_items(board, position, (Item.Passage, *POWERUPS, *AGENTS))
    return walkable and not position_is_enemy(board, position, enemies)


def position_is_bomb(bombs: Iterable[Any], position: Position) -> bool:
    """Return whether one of ``bombs``, which have a ``position``, is there; on the board an agent may hide it."""
    return any(tuple(bomb.position) == tuple(position) for bomb in bombs)


def is_valid_direction(
    board: Board, position: Position, direction: int, invalid_values: Sequence[int] | None = None
) -> bool:
    """Return whether a step leads to a cell of the board that has none of ``invalid_values`` (walls).

    Raises ``InvalidAction`` for invalid directions.
    """
    target = get_next_position(position, direction)
    if direction == Action.Stop:
        return True
    walls = WALLS if invalid_values is None else invalid_values
    return position_on_board(board, target) and not position_in_items(board, target, walls)


def get_next_position(position: Position, direction: int) -> Position:
    """Return the cell where a step leads; raise ``InvalidAction`` for invalid directions."""
    for action, (down, right) in MOVES.items():
        if direction == action:
            return position[0] + down, position[1] + right
    raise InvalidAction(f"{direction!r} is no direction; allowed: Stop, Up, Down, Left, Right")


def get_direction(position: Position, next_position: Position) -> Action:
    """Return the direction of the step from one cell to a neighbour; raise ``InvalidAction`` for other cells."""
    for action in MOVES:
        if get_next_position(position, action) == tuple(next_position) and action != Action.Stop:
            return action
    raise InvalidAction(f"{next_position} is no neighbour of {position}")


def agent_value(id_: int) -> int:
    """Return the value of an agent's cell on the board."""
    return int(Item.Agent0) + id_


def make_np_float(feature: Any) -> npt.NDArray[np.float32]:
    """Return ``feature`` as an array of float32."""
    return np.array(feature).astype(np.float32)


class PommermanJSONEncoder(json.JSONEncoder):
    """Encodes arrays as lists, NumPy's numbers as numbers, and agents, bombs and flames by their ``to_json``.

    Enumerations are integers and need no conversion.
    """

    def default(self, o: Any) -> Any:
        if isinstance(o, np.ndarray | np.generic):
            return o.tolist()
        return o.to_json() if hasattr(o, "to_json") else super().default(o)


def join_json_state(
    record_json_dir: str | Path, agents: Sequence[str], finished_at: str, config: str, info: Mapping[str, Any]
) -> None:
    """Replace the states that ``save_json`` wrote by one ``game_state.json`` that holds them in their order."""
    folder, result = Path(record_json_dir), Result(info["result"])
    files = sorted((path for path in folder.glob("*.json") if path.stem.isdigit()), key=lambda path: int(path.stem))
    merged: dict[str, Any] = {
        "agents": list(agents),
        "config": config,
        "finished_at": finished_at,
        "result": {"id": int(result), "name": result.name},
        "state": [json.loads(path.read_text(encoding="utf-8")) for path in files],
    }
    if "winners" in info:
        merged["winners"] = info["winners"]
    text = json.dumps(merged, sort_keys=True, indent=4)
    replace_file(folder / MERGED, lambda file: file.write(text.encode()))
    for path in files:
        path.unlink()
