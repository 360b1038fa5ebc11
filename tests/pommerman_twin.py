"""A slow twin of the Pommerman rules, written to be read: lists of agents, bombs and flames on a board of cells.

It follows the published rules in their own order and shares nothing with the fast rules but the parameters and, for
``from_row`` and ``to_row``, the layout of a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infoset.pommerman import state as st
from infoset.pommerman.config import Config, GameType

PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, INCR_RANGE, KICK, NOBODY, AGENT = range(11)
WALLS, ITEMS = (RIGID, WOOD), (EXTRA_BOMB, INCR_RANGE, KICK)
STOP, LAY = 0, 5
WAYS = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}
CEILING = 10  # of ammo
RUNNING, WIN, TIE = range(3)
TEAMS = ({0, 2}, {1, 3})

Cell = tuple[int, int]


@dataclass
class Agent:
    number: int
    alive: bool
    cell: Cell
    ammo: int
    blast: int
    can_kick: bool
    message: tuple[int, int] = (0, 0)

    def gain_ammo(self) -> None:
        self.ammo = min(self.ammo + 1, CEILING)


@dataclass
class Bomb:
    cell: Cell
    owner: int
    life: int
    blast: int
    direction: int = 0


@dataclass
class Flame:
    cell: Cell
    life: int


@dataclass
class State:
    """A position and how the step that led to it was judged; ``board`` has its cells in row-major order."""

    step: int
    board: dict[Cell, int]
    agents: list[Agent]
    bombs: list[Bomb] = field(default_factory=list)
    flames: list[Flame] = field(default_factory=list)
    hidden: dict[Cell, int] = field(default_factory=dict)
    rewards: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    result: int = RUNNING

    @property
    def alive(self) -> set[int]:
        return {agent.number for agent in self.agents if agent.alive}


@dataclass(eq=False)
class Mover:
    """An agent or a bomb on its way; ``partner`` is the bomb that an agent kicks, or the kicker of a bomb."""

    thing: Agent | Bomb
    want: Cell
    partner: Mover | None = None

    @property
    def own(self) -> Cell:
        return self.thing.cell

    @property
    def moving(self) -> bool:
        return self.want != self.own

    def turn_back(self, wanted: Counter[Cell]) -> None:
        """Cells that were wanted stay wanted."""
        self.want = self.own
        wanted[self.own] += 1


def next_cell(cell: Cell, direction: int) -> Cell:
    return cell[0] + WAYS[direction][0], cell[1] + WAYS[direction][1]


def step(state: State, rules: Config, actions: Sequence[int], words: Sequence[Sequence[int]]) -> None:
    """One step in place, up to and with the judgement; walls close in after it."""
    burn(state)
    players = [agent for agent in state.agents if agent.alive]
    for agent in state.agents:
        agent.message = (int(words[agent.number][0]), int(words[agent.number][1])) if agent.alive else (0, 0)
    acts = {agent.number: int(actions[agent.number]) for agent in players}
    walkers = [Mover(agent, intent(state, rules, agent, acts[agent.number])) for agent in players]
    rollers = [Mover(bomb, roll(state, bomb)) for bomb in state.bombs]
    cross(walkers, rollers)
    agents_at, bombs_at = Counter(w.want for w in walkers), Counter(b.want for b in rollers)
    part(walkers, rollers, agents_at, bombs_at)
    if meet(state, acts, walkers, rollers, agents_at, bombs_at):
        part_again(walkers, rollers, agents_at, bombs_at)
    commit(state, rules, walkers, rollers)
    redraw(state, rules, explode(state))
    for agent in players:
        agent.alive = state.board[agent.cell] != FLAMES
        if agent.alive:
            state.board[agent.cell] = AGENT + agent.number
    state.step += 1
    judge(state, rules)


def burn(state: State) -> None:
    """4.1: flames that end show what they hid; then every other flame is drawn again."""
    burning = []
    for flame in state.flames:
        if flame.life == 0:
            state.board[flame.cell] = state.hidden.pop(flame.cell, PASSAGE)
        else:
            flame.life -= 1
            burning.append(flame)
    state.flames = burning
    for flame in burning:
        state.board[flame.cell] = FLAMES


def intent(state: State, rules: Config, agent: Agent, act: int) -> Cell:
    """4.2: where an agent wants to be; a bomb that it lays is there at once."""
    state.board[agent.cell] = PASSAGE
    if act in WAYS:
        target = next_cell(agent.cell, act)
        free = target in state.board and state.board[target] not in WALLS
        return target if free else agent.cell
    if act == LAY:
        if agent.ammo > 0 and all(bomb.cell != agent.cell for bomb in state.bombs):
            agent.ammo -= 1
            state.bombs.append(Bomb(agent.cell, agent.number, rules.fuse + 1, agent.blast))
    elif act != STOP:
        raise ValueError(f"no such move: {act}")
    return agent.cell


def roll(state: State, bomb: Bomb) -> Cell:
    """4.3: where a bomb wants to be."""
    state.board[bomb.cell] = PASSAGE
    if bomb.direction:
        target = next_cell(bomb.cell, bomb.direction)
        if target in state.board and state.board[target] not in WALLS + ITEMS:
            return target
    return bomb.cell


def cross(walkers: list[Mover], rollers: list[Mover]) -> None:
    """4.4: who meets another on an edge turns back; an edge stays with the first that wanted it."""
    first: dict[frozenset[Cell], Mover] = {}
    for mover in walkers + rollers:
        if not mover.moving:
            continue
        other = first.setdefault(frozenset((mover.own, mover.want)), mover)
        if other is not mover:
            mover.want = mover.own
            if type(other.thing) is type(mover.thing):
                other.want = other.own


def part(walkers: list[Mover], rollers: list[Mover], agents_at: Counter[Cell], bombs_at: Counter[Cell]) -> None:
    """4.5: nobody enters a cell that several agents or several bombs want."""
    changed = True
    while changed:
        changed = False
        for movers, wanted in ((walkers, agents_at), (rollers, bombs_at)):
            for mover in movers:
                if mover.moving and (agents_at[mover.want] > 1 or bombs_at[mover.want] > 1):
                    mover.turn_back(wanted)
                    changed = True


def meet(
    state: State,
    acts: dict[int, int],
    walkers: list[Mover],
    rollers: list[Mover],
    agents_at: Counter[Cell],
    bombs_at: Counter[Cell],
) -> bool:
    """4.6: bombs that meet agents are kicked or send both back; whether anything happened."""
    bombs_to: list[tuple[Mover, Cell]] = []
    agents_to: list[tuple[Mover, Cell]] = []
    for roller in rollers:
        place = roller.want
        walker = next((w for w in walkers if w.want == place), None)
        if walker is None:
            continue
        if not walker.moving:
            if roller.moving:
                bombs_to.append((roller, roller.own))
            continue
        act = acts[walker.thing.number]
        target = next_cell(place, act)
        if walker.thing.can_kick and kickable(state, target, agents_at, bombs_at):
            bombs_at[place] = 0
            bombs_to.append((roller, target))
            roller.partner, walker.partner = walker, roller
            roller.thing.direction = act
        else:
            bombs_to.append((roller, roller.own))
            agents_to.append((walker, walker.own))
    for actions, wanted in ((bombs_to, bombs_at), (agents_to, agents_at)):
        for mover, cell in actions:
            mover.want = cell
            wanted[cell] += 1
    return bool(bombs_to or agents_to)


def kickable(state: State, target: Cell, agents_at: Counter[Cell], bombs_at: Counter[Cell]) -> bool:
    """Whether a bomb can be kicked to a cell."""
    if target not in state.board or agents_at[target] or bombs_at[target]:
        return False
    return state.board[target] not in WALLS + ITEMS


def part_again(walkers: list[Mover], rollers: list[Mover], agents_at: Counter[Cell], bombs_at: Counter[Cell]) -> None:
    """4.7: after kicks no agent enters a bomb's cell and no bomb an agent's; kicks are undone where they must be."""
    changed = True
    while changed:
        changed = False
        for walker in walkers:
            if walker.moving and (agents_at[walker.want] > 1 or bombs_at[walker.want] != 0):
                if walker.partner:
                    walker.partner.turn_back(bombs_at)
                    unlink(walker)
                walker.turn_back(agents_at)
                changed = True
        for roller in rollers:
            if not roller.moving and not roller.partner:
                continue
            if bombs_at[roller.want] > 1 or agents_at[roller.want] != 0:
                roller.turn_back(bombs_at)
                if roller.partner:
                    roller.partner.turn_back(agents_at)
                    unlink(roller)
                changed = True


def unlink(mover: Mover) -> None:
    assert mover.partner is not None
    mover.partner.partner = None
    mover.partner = None


def commit(state: State, rules: Config, walkers: list[Mover], rollers: list[Mover]) -> None:
    """4.8: everyone goes where they want; agents take what lies there."""
    for roller in rollers:
        if not roller.moving and not roller.partner:
            roller.thing.direction = 0
        roller.thing.cell = roller.want
    for walker in walkers:
        if walker.moving:
            walker.thing.cell = walker.want
            take(walker.thing, state.board[walker.want], rules)


def take(agent: Agent, item: int, rules: Config) -> None:
    if item == EXTRA_BOMB:
        agent.gain_ammo()
    elif item == INCR_RANGE:
        agent.blast = min(agent.blast + 1, rules.blast_cap)
    elif item == KICK:
        agent.can_kick = True


def explode(state: State) -> set[Cell]:
    """4.9: bombs that are due or stand in fire go off, and those that their blasts reach; the cells that are hit."""
    going = []
    for bomb in state.bombs:
        bomb.life -= 1
        if bomb.life == 0 or state.board[bomb.cell] == FLAMES:
            going.append(bomb)
    hit: set[Cell] = set()
    while going:
        for bomb in going:
            state.agents[bomb.owner].gain_ammo()
            hit |= blast(state, bomb)
        state.bombs = [bomb for bomb in state.bombs if not any(bomb is gone for gone in going)]
        going = [bomb for bomb in state.bombs if bomb.cell in hit]
    return hit


def blast(state: State, bomb: Bomb) -> set[Cell]:
    """The cells that one explosion hits."""
    hit = {bomb.cell} if bomb.blast > 0 else set()
    for direction in WAYS:
        cell = bomb.cell
        for _ in range(bomb.blast - 1):
            cell = next_cell(cell, direction)
            if state.board.get(cell, RIGID) == RIGID:
                break
            hit.add(cell)
            if state.board[cell] == WOOD:
                break
    return hit


def redraw(state: State, rules: Config, hit: set[Cell]) -> None:
    """4.10."""
    for bomb in state.bombs:
        state.board[bomb.cell] = BOMB
    state.flames += [Flame(cell, rules.flame_life) for cell in sorted(hit)]
    for flame in state.flames:
        state.board[flame.cell] = FLAMES


def close_in(state: State, rules: Config) -> None:
    """4.12: rings of the board become walls if it is time."""
    for ring, when in enumerate(rules.collapses):
        if state.step == when:
            inner = range(ring, rules.size - ring)
            for cell in state.board:
                if cell[0] in inner and cell[1] in inner and {*cell} & {ring, rules.size - 1 - ring}:
                    wall(state, cell)


def wall(state: State, cell: Cell) -> None:
    if state.board[cell] >= AGENT:
        state.agents[state.board[cell] - AGENT].alive = False
    for bomb in state.bombs:
        if bomb.cell == cell:
            state.agents[bomb.owner].gain_ammo()
    state.bombs = [bomb for bomb in state.bombs if bomb.cell != cell]
    if state.board[cell] == FLAMES:
        state.flames = [flame for flame in state.flames if flame.cell != cell]
    state.hidden.pop(cell, None)
    state.board[cell] = RIGID


def judge(state: State, rules: Config) -> None:
    """5: rewards in every step, and how the game ended if it did."""
    everyone = range(len(state.agents))
    late = state.step >= rules.max_steps
    side = winners(state, rules)
    if side:
        rewards = [1 if k in side else -1 for k in everyone]
    elif late or (rules.teams and not state.alive):
        rewards = [-1 for _ in everyone]
    elif rules.game_type == GameType.FFA:
        rewards = [0 if k in state.alive else -1 for k in everyone]
    else:
        rewards = [0 for _ in everyone]
    state.rewards = rewards + [0] * (4 - len(rewards))
    over = late or len(state.alive) <= 1 or (rules.teams and state.alive in TEAMS)
    state.result = (WIN if side else TIE) if over else RUNNING


def winners(state: State, rules: Config) -> set[int]:
    """Who has won by being left: one agent, or agents of one team and with them its dead."""
    if rules.teams:
        return next((team for team in TEAMS if state.alive and state.alive <= team), set())
    return state.alive if len(state.alive) == 1 else set()


def observe(state: State, rules: Config, k: int) -> dict[str, Any]:
    """6: what agent ``k`` sees, with the reference's keys."""
    me = state.agents[k]
    seen = {cell for cell in state.board if rules.view is None or distance(cell, me.cell) <= rules.view}
    found: dict[str, Any] = {
        "alive": [AGENT + number for number in sorted(state.alive)],
        "board": picture({cell: state.board[cell] if cell in seen else FOG for cell in state.board}, rules.size, np.uint8),
        "game_type": int(rules.game_type),
        "game_env": rules.entry,
        "position": me.cell,
        "blast_strength": me.blast,
        "can_kick": me.can_kick,
        "ammo": me.ammo,
        "teammate": AGENT + (k + 2) % 4 if rules.teams else NOBODY,
        "enemies": [AGENT + other.number for other in state.agents if (other.number - k) % 2 or (not rules.teams and other is not me)],
        "step_count": state.step,
    }  # fmt: skip
    if rules.teams:
        found["enemies"].append(NOBODY)
    maps = {
        "bomb_blast_strength": {bomb.cell: bomb.blast for bomb in state.bombs},
        "bomb_life": {bomb.cell: bomb.life for bomb in state.bombs},
        "bomb_moving_direction": {bomb.cell: bomb.direction for bomb in state.bombs},
        "flame_life": {flame.cell: flame.life + 1 for flame in state.flames},
    }
    for name, values in maps.items():
        found[name] = picture({cell: values[cell] for cell in seen & values.keys()}, rules.size, np.float64)
    if rules.game_type == GameType.TEAM_RADIO:
        found["message"] = state.agents[(k + 2) % 4].message
    return found


def distance(one: Cell, other: Cell) -> int:
    """How many moves a king needs."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def picture(values: dict[Cell, int], size: int, dtype: type) -> np.ndarray:
    board = np.zeros((size, size), dtype)
    for cell, value in values.items():
        board[cell] = value
    return board


def from_row(row: st.Row, rules: Config) -> State:
    """A position of the fast rules."""
    size, values = rules.size, row.tolist()
    cells = [(r, c) for r in range(size) for c in range(size)]
    board, hidden = st.BOARD, st.BOARD + size * size

    def records(at: int, fields: int, count: int) -> list[list[int]]:
        return [values[at + k * fields : at + (k + 1) * fields] for k in range(count)]

    said = records(st.MESSAGES, st.WORDS, rules.num_agents)
    agents = [
        Agent(k, bool(alive), cells[cell], ammo, blast, bool(kick), (said[k][0], said[k][1]))
        for k, (alive, cell, ammo, blast, kick) in enumerate(records(st.AGENTS, st.AGENT_FIELDS, rules.num_agents))
    ]
    bombs = [Bomb(cells[cell], *rest) for cell, *rest in records(st.BOMBS, st.BOMB_FIELDS, values[st.NUM_BOMBS])]
    flames = [
        Flame(cells[cell], life) for cell, life in records(st.flames_at(size), st.FLAME_FIELDS, values[st.NUM_FLAMES])
    ]
    return State(
        step=values[st.STEP],
        board=dict(zip(cells, values[board:hidden], strict=True)),
        agents=agents,
        bombs=bombs,
        flames=flames,
        hidden={cell: value for cell, value in zip(cells, values[hidden : st.flames_at(size)], strict=True) if value},
        rewards=values[st.REWARDS : st.AGENTS],
        result=values[st.RESULT],
    )


def to_row(state: State, rules: Config) -> st.Row:
    """A position for the fast rules; what it does not use is 0."""
    size = rules.size
    row = st.empty_rows(1, rules)[0]

    def write(at: int, *values: int) -> None:
        row[at : at + len(values)] = values

    def number(cell: Cell) -> int:
        return cell[0] * size + cell[1]

    write(st.STEP, state.step, len(state.bombs), len(state.flames), state.result, *state.rewards)
    for k, a in enumerate(state.agents):
        write(st.AGENTS + k * st.AGENT_FIELDS, a.alive, number(a.cell), a.ammo, a.blast, a.can_kick)
        write(st.MESSAGES + k * st.WORDS, *a.message)
    for k, b in enumerate(state.bombs):
        write(st.BOMBS + k * st.BOMB_FIELDS, number(b.cell), b.owner, b.life, b.blast, b.direction)
    for k, f in enumerate(state.flames):
        write(st.flames_at(size) + k * st.FLAME_FIELDS, number(f.cell), f.life)
    write(st.BOARD, *state.board.values())
    for cell, value in state.hidden.items():
        row[st.BOARD + size * size + number(cell)] = value
    return row
