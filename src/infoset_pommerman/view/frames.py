"""Conversion of a recorded game to a film: the position after each step, and the events of the step.

Positions come from the rules, which also validate the replay.  The rules do not keep the owners of fire, so every step
is played a second time without fires and with long fuses, so that all bombs lie where they explode, and the bombs are
set off here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from infoset.base import JointAction
from infoset.catalog import load_named
from infoset.errors import UnsupportedGameError, one_line, shorten
from infoset.match.replay import Match, replay_states
from infoset_pommerman import state as st
from infoset_pommerman.config import PREFIX, Config, GameType
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.view.film import ITEMS, Agent, Blast, Bomb, Event, Film, Flame, Frame

GROUND = (st.RIGID, st.WOOD, st.EXTRA_BOMB, st.INCR_RANGE, st.KICK)
OPPOSITE = {st.UP: st.DOWN, st.DOWN: st.UP, st.LEFT: st.RIGHT, st.RIGHT: st.LEFT}
STEPS = {st.STOP: (0, 0), st.UP: (-1, 0), st.DOWN: (1, 0), st.LEFT: (0, -1), st.RIGHT: (0, 1)}
"""Rows down and columns to the right of each move."""
LONGEST_NAME = 60
SAFE_LIFE = 2  # a bomb with this life does not explode in the next step


def film(match: Match, game: Pommerman | None = None) -> Film:
    """Play a match again and return it as a film.

    ``game`` is loaded by the name in the match unless it is given.  Raises ``UnsupportedGameError`` where the match is
    of another game, and ``FormatError`` where it is not a valid play of the game.
    """
    if game is None:
        if not match.game.startswith(PREFIX):
            raise UnsupportedGameError(f"{shorten(match.game)!r} is not Pommerman; allowed: replays of {PREFIX}NAME")
        game = cast(Pommerman, load_named(match.game, "the replay"))
    states = replay_states(match, game)
    dealt = [state for state in states if isinstance(state, PommermanState)]
    first = len(states) - len(dealt)  # the steps before it, in which chance deals the board, are left out
    shots = frames(dealt, [step.actions for step in match.steps[first:]])
    for fault in match.faults:
        number = max(fault.step - first, 0)
        event = Event("fault", fault.player, what=fault.kind)
        shots[number] = shots[number]._replace(events=(*shots[number].events, event))
    last = dealt[-1]
    agents = tuple(map(_clean, match.agents))
    won = bool(last.row[st.RESULT] == st.WIN)
    return Film(_clean(match.game), last.game.config, match.players, agents, tuple(shots), last.returns(), won)


def _clean(name: str) -> str:
    """Return a name that is safe to print in a terminal, shortened to one line."""
    return one_line(name, LONGEST_NAME)


def frames(states: Sequence[PommermanState], moves: Iterable[JointAction]) -> list[Frame]:
    """Return one frame per position; ``moves`` are the joint moves between them, one fewer."""
    reel = Reel(states[0])
    for state, joint in zip(states[1:], moves, strict=True):
        reel.add(state, joint)
    return reel.frames


class Reel:
    """The frames so far of a game from ``start`` on; ``add`` appends one."""

    def __init__(self, start: PommermanState) -> None:
        self.state, self.config, row = start, start.game.config, start.row
        bombs = [Bomb(k, cell, self.owner(owner), *rest) for k, (cell, owner, *rest) in enumerate(_bombs(row))]
        self.laid = len(bombs)
        flames = tuple(Flame(cell, life) for cell, life in _flames(row, self.config.size))
        nobody = (None,) * self.config.num_agents
        agents = tuple(self.agents(row, nobody))
        self.frames = [self.frame(row, agents=agents, bombs=tuple(bombs), flames=flames, moves=nobody)]

    def owner(self, number: int) -> int | None:
        return number if 0 <= number < self.config.num_agents else None

    def frame(self, row: st.Row, **parts: Any) -> Frame:
        """Return a frame of the position in a row; ``parts`` are the fields that cannot be read from it."""
        words: tuple[tuple[int, ...], ...] = ()
        if self.config.game_type == GameType.TEAM_RADIO:
            words = tuple(map(tuple, _table(row, st.MESSAGES, self.config.num_agents, st.WORDS)))
        board, hidden = _planes(row, self.config.size)
        return Frame(int(row[st.STEP]), _ground(board), tuple(hidden.tolist()), words=words, **parts)

    def add(self, state: PommermanState, said: JointAction) -> None:
        """Append the frame of the next position and of the joint move that led to it."""
        shown, size = self.frames[-1], self.config.size
        moves = tuple(cast("int | None", move[0] if isinstance(move, tuple) else move) for move in said)
        before = self.walled(shown)
        calm = self.calm()
        opened = _ground(_planes(calm, size)[0])
        still = cast(PommermanState, PommermanState(self.state.game, calm).play_unchecked(said).state).row
        met = tuple(self.agents(still, moves, before))
        lying = self.lying(still, before)
        fire = _Fire(self.config, _ground(_planes(still, size)[0]), before)
        blasts, left = fire.spread(lying)
        bombs = tuple(bomb._replace(direction=rolls) for bomb, (*_, rolls) in zip(left, _bombs(state.row), strict=True))
        agents = tuple(self.agents(state.row, moves, before))
        events = (
            *_falls(shown, before),
            *_kicks(before, met, lying, moves, size),
            *_pick_ups(before, met, opened),
            *_burns(before, agents, met, fire),
        )
        self.state = state
        parts = {"agents": agents, "bombs": bombs, "flames": fire.flames(), "moves": moves}
        self.frames.append(self.frame(state.row, **parts, blasts=blasts, events=events))

    def agents(self, row: st.Row, moves: tuple[int | None, ...], before: Frame | None = None) -> Iterator[Agent]:
        for k, (alive, cell, ammo, blast, kick) in enumerate(_table(row, st.AGENTS, len(moves), st.AGENT_FIELDS)):
            move, facing = moves[k], before.agents[k].facing if before else st.DOWN
            yield Agent(bool(alive), cell, ammo, blast, bool(kick), move if move in OPPOSITE else facing)

    def walled(self, frame: Frame) -> Frame:
        """Return the frame with the walls closed in that are due before the next step."""
        row = self.state.walled()
        board, hidden = _planes(row, self.config.size)
        ground = _ground(board)
        alive = [bool(fields[0]) for fields in _table(row, st.AGENTS, len(frame.agents), st.AGENT_FIELDS)]
        return frame._replace(
            ground=ground,
            hidden=tuple(hidden.tolist()),
            agents=tuple(agent._replace(alive=lives) for agent, lives in zip(frame.agents, alive, strict=True)),
            bombs=tuple(bomb for bomb in frame.bombs if ground[bomb.cell] != st.RIGID),
            flames=tuple(flame for flame in frame.flames if ground[flame.cell] != st.RIGID),
        )

    def calm(self) -> st.Row:
        """Return the walled position without fire and with long fuses.

        Items under flames that end now are laid open.
        """
        row = self.state.walled()
        board, hidden = _planes(row, self.config.size)
        for cell, life in _flames(row, self.config.size):
            if life == 0:
                board[cell], hidden[cell] = hidden[cell], st.PASSAGE
        for cell, life in _flames(row, self.config.size):
            if life > 0:
                board[cell] = st.PASSAGE
        row[st.flames_at(self.config.size) :] = 0
        row[st.NUM_FLAMES] = 0
        for k in range(row[st.NUM_BOMBS]):
            row[st.BOMBS + k * st.BOMB_FIELDS + st.LIFE] = SAFE_LIFE
        return row

    def lying(self, still: st.Row, before: Frame) -> list[Bomb]:
        """Return all bombs where they would explode, new ones last, with their current fuses."""
        bombs = [bomb._replace(life=bomb.life - 1) for bomb in before.bombs]
        for k, (cell, owner, life, strength, direction) in enumerate(_bombs(still)):
            if k == len(bombs):
                bombs.append(Bomb(self.laid, cell, self.owner(owner), life, strength, direction))
                self.laid += 1
            bombs[k] = bombs[k]._replace(cell=cell, direction=direction)
        return bombs


class _Fire:
    """The fire after a step, and its owners."""

    def __init__(self, config: Config, board: tuple[int, ...], before: Frame) -> None:
        self.size, self.board, self.life = config.size, board, config.flame_life
        self.old = [flame._replace(life=flame.life - 1) for flame in before.flames if flame.life > 0]
        self.new: dict[int, Flame] = {}
        stood = {agent.cell for agent in before.agents if agent.alive} | {bomb.cell for bomb in before.bombs}
        self.lights = {flame.cell for flame in self.old} - stood  # the rules ignore fire where something stood

    def owners(self, cell: int) -> tuple[int, ...]:
        """Return the owners of the fire in a cell."""
        flames = [flame for flame in (*self.old, *self.new.values()) if flame.cell == cell]
        return tuple(sorted({owner for flame in flames for owner in flame.owners}))

    def spread(self, bombs: list[Bomb]) -> tuple[tuple[Blast, ...], list[Bomb]]:
        """Explode all bombs that are due or lit, wave after wave; return the explosions and the bombs that are left."""
        going = [bomb for bomb in bombs if bomb.life == 0 or bomb.cell in self.lights]
        blasts: list[Blast] = []
        while going:
            blasts += [Blast(bomb, self.owners(bomb.cell) if bomb.life else None) for bomb in going]
            bombs = [bomb for bomb in bombs if bomb not in going]
            for bomb in going:
                self.blast(bomb)
            going = [bomb for bomb in bombs if bomb.cell in self.new]
        return tuple(blasts), bombs

    def blast(self, bomb: Bomb) -> None:
        """Burn the bomb's cell and ``strength - 1`` cells each way, up to and including the first wood."""
        if bomb.strength > 0:
            self.burn(bomb.cell, bomb.owner)
        for direction, back in OPPOSITE.items():
            cell = bomb.cell
            for _ in range(bomb.strength - 1):
                beyond = cell_beyond(cell, direction, self.size)
                if beyond is None or self.board[beyond] == st.RIGID:
                    break
                self.burn(cell, bomb.owner, 1 << direction)
                self.burn(beyond, bomb.owner, 1 << back)
                cell = beyond
                if self.board[cell] == st.WOOD:
                    break

    def burn(self, cell: int, owner: int | None, links: int = 0) -> None:
        flame = self.new.get(cell, Flame(cell, self.life))
        owners = flame.owners if owner is None or owner in flame.owners else (*flame.owners, owner)
        self.new[cell] = flame._replace(links=flame.links | links, owners=owners)

    def flames(self) -> tuple[Flame, ...]:
        """Return the old flames, then the new ones in row-major order, as the rules keep them."""
        return (*self.old, *(self.new[cell] for cell in sorted(self.new)))


def _kicks(
    before: Frame, met: tuple[Agent, ...], lying: list[Bomb], moves: tuple[int | None, ...], size: int
) -> Iterator[Event]:
    """Yield a kick by each agent that walked up to a bomb that rolls and did not roll that way before."""
    rolled = {bomb.number: bomb.direction for bomb in before.bombs}
    for bomb in lying:
        if bomb.direction not in (st.STOP, rolled.get(bomb.number)):
            for k, agent in enumerate(met):
                facing_away = cell_beyond(agent.cell, bomb.direction, size) == bomb.cell
                if agent.alive and facing_away and moves[k] == bomb.direction:
                    yield Event("kick", k)


def _pick_ups(before: Frame, met: tuple[Agent, ...], opened: tuple[int, ...]) -> Iterator[Event]:
    for k, (agent, old) in enumerate(zip(met, before.agents, strict=True)):
        if agent.cell != old.cell and opened[agent.cell] in ITEMS:
            yield Event("item", k, what=opened[agent.cell])


def _falls(shown: Frame, walled: Frame) -> Iterator[Event]:
    """Yield the walls that closed in before a step, and the deaths that they caused."""
    if shown.ground != walled.ground:
        yield Event("walls")
    for k, (old, agent) in enumerate(zip(shown.agents, walled.agents, strict=True)):
        if old.alive and not agent.alive:
            yield Event("death", k, what="walls")


def _burns(before: Frame, agents: tuple[Agent, ...], met: tuple[Agent, ...], fire: _Fire) -> Iterator[Event]:
    for k, (old, agent) in enumerate(zip(before.agents, agents, strict=True)):
        if old.alive and not agent.alive:
            yield Event("death", k, fire.owners(met[k].cell), "fire")


def cell_beyond(cell: int, direction: int, size: int) -> int | None:
    """Return the next cell in a direction, the cell itself for Stop, and ``None`` off the board."""
    down, right = STEPS[direction]
    r, c = cell // size + down, cell % size + right
    return r * size + c if 0 <= r < size and 0 <= c < size else None


def _table(row: st.Row, start: int, count: int, fields: int) -> list[list[int]]:
    rows: list[list[int]] = row[start : start + count * fields].reshape(count, fields).tolist()
    return rows


def _bombs(row: st.Row) -> list[list[int]]:
    """Return the cell, owner, life, strength and direction of each bomb."""
    return _table(row, st.BOMBS, int(row[st.NUM_BOMBS]), st.BOMB_FIELDS)


def _flames(row: st.Row, size: int) -> list[list[int]]:
    """Return the cell and life of each flame."""
    return _table(row, st.flames_at(size), int(row[st.NUM_FLAMES]), st.FLAME_FIELDS)


def _planes(row: st.Row, size: int) -> tuple[st.Row, st.Row]:
    """Return views of the board and of the hidden items in the row."""
    cells = size * size
    return row[st.BOARD : st.BOARD + cells], row[st.BOARD + cells : st.BOARD + 2 * cells]


def _ground(board: st.Row) -> tuple[int, ...]:
    return tuple(value if value in GROUND else st.PASSAGE for value in board.tolist())
