"""Positions as coloured text, and playback of a game in the terminal."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from infoset.match.replay import Match
from infoset.view.speed import check_speed
from infoset_pommerman import state as st
from infoset_pommerman.config import SPEED, Config
from infoset_pommerman.game import Pommerman
from infoset_pommerman.observation import Seen, teammate
from infoset_pommerman.view.film import Agent, Film, Frame
from infoset_pommerman.view.frames import film as film_of
from infoset_pommerman.view.palette import DAY

GROUND = {
    st.PASSAGE: ("  ", "meadow"), st.RIGID: ("██", "stone"), st.WOOD: ("▒▒", "wood"),
    st.EXTRA_BOMB: ("+b", "more"), st.INCR_RANGE: ("+r", "far"), st.KICK: ("+k", "boot"),
}  # fmt: skip
MOVES = {st.STOP: "·", st.UP: "↑", st.DOWN: "↓", st.LEFT: "←", st.RIGHT: "→", st.LAY: "●", None: " "}
LAST_EVENTS = 3


def position_text(film: Film, number: int) -> Text:
    """Return the position after frame ``number`` and the latest events as text.

    Two characters per cell: ``██`` wall, ``▒▒`` wood, ``●7`` a bomb with seven steps left, ``**`` flames, ``A0`` to
    ``A3`` agents, ``+b``, ``+r`` and ``+k`` the power-ups.
    """
    frame, size = film.frames[number], film.config.size
    cells = _cells(frame)
    text = Text(f"{film.game}  step {frame.step} of {film.frames[-1].step}\n")
    text.append("┌" + "──" * size + "┐\n")
    for start in range(0, size * size, size):
        text.append("│")
        for sign, color in cells[start : start + size]:
            text.append(sign, DAY[color])
        text.append("│\n")
    text.append("└" + "──" * size + "┘\n")
    for k, agent in enumerate(frame.agents):
        text.append_text(_status(film, frame, k, agent))
    lines = [(shown.step, film.tell(event)) for shown in film.frames[: number + 1] for event in shown.events]
    for step, what in lines[-LAST_EVENTS:]:
        text.append(f"{step:4}  {what}\n", "bold" if step == frame.step else "dim")
    if number == len(film.frames) - 1:
        text.append(f"{film.outcome()}\n", "bold")
    return text


def _cells(frame: Frame) -> list[tuple[str, str]]:
    """Return the text and the colour of each cell; later things cover earlier ones."""
    cells = [GROUND[value] for value in frame.ground]
    for bomb in frame.bombs:
        life = str(bomb.life) if 0 <= bomb.life < 10 else "+"
        cells[bomb.cell] = (f"●{life}", "bomb_light" if bomb.owner is None else f"agent{bomb.owner}")
    for flame in frame.flames:
        cells[flame.cell] = ("**", "flame1")
    for k, agent in enumerate(frame.agents):
        if agent.alive:
            cells[agent.cell] = (f"A{k}", f"agent{k}")
    return cells


def _status(film: Film, frame: Frame, k: int, agent: Agent) -> Text:
    line = Text().append(f"A{k} ", DAY[f"agent{k}"])
    line.append(f"{MOVES[frame.moves[k]]} {film.players[k]} {film.agents[k]:<8}  ")
    if not agent.alive:
        return line.append("dead\n", "dim")
    said = f"  says {' '.join(map(str, frame.words[k]))}" if frame.words and any(frame.words[k]) else ""
    kick = ", kicks" if agent.kick else ""
    return line.append(f"{agent.ammo} bomb{'s' * (agent.ammo != 1)}, blast {agent.blast}{kick}{said}\n")


def seen_text(seen: Seen, config: Config, player: int) -> Text:
    """Return an agent's observation as ``position_text`` draws it.

    ``░░`` is fog, and an agent that stands on a bomb is underlined.
    """
    size = config.size
    text = Text(f"step {seen.step_count}  you are ").append(f"A{player}", DAY[f"agent{player}"])
    text.append("" if st.AGENT + player in seen.alive else "  you are dead", "bold").append("\n")
    text.append("┌" + "──" * size + "┐\n")
    for start in range(0, size * size, size):
        text.append("│")
        for cell in range(start, start + size):
            sign, color = _seen_cell(seen, cell)
            on_bomb = ord(seen.board[cell]) >= st.AGENT and ord(seen.bomb_life[cell]) > 0
            text.append(sign, f"{DAY[color]}{' underline' if on_bomb else ''}")
        text.append("│\n")
    text.append("└" + "──" * size + "┘\n")
    kick = ", kicks" if seen.can_kick else ""
    text.append(f"{seen.ammo} bomb{'s' * (seen.ammo != 1)}, blast {seen.blast_strength}{kick}\n")
    text.append("alive ")
    for agent in seen.alive:
        text.append(f" A{agent - st.AGENT}", DAY[f"agent{agent - st.AGENT}"])
    mate = teammate(config, player)
    text.append(f"   with A{mate - st.AGENT}" if mate >= st.AGENT else "")
    text.append(f"   it says {' '.join(map(str, seen.message))}" if any(seen.message) else "")
    return text.append("\n")


def _seen_cell(seen: Seen, cell: int) -> tuple[str, str]:
    """Return the text and the colour of a cell in an observation."""
    item, life = ord(seen.board[cell]), ord(seen.bomb_life[cell])
    if item >= st.AGENT:
        return f"A{item - st.AGENT}", f"agent{item - st.AGENT}"
    if item == st.BOMB:
        return f"●{life if 0 < life < 10 else '+'}", "bomb_light"
    return {st.FLAMES: ("**", "flame1"), st.FOG: ("░░", "fog")}.get(item) or GROUND[item]


def show_text(
    match: Match, console: Console, step: int | None = None, speed: float | None = None, game: Pommerman | None = None
) -> None:
    """Write one position to the console, or, without ``step``, the whole game.

    On a terminal the game is played in place, ``speed`` steps a second; elsewhere its positions are written one after
    the other.  Raises ``ParameterError``, and the errors of ``film``.
    """
    check_speed(speed)
    speed = speed or SPEED
    film = film_of(match, game)
    if step is not None:
        console.print(position_text(film, film.number(step)), end="", soft_wrap=True)
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            for number in range(len(film.frames)):
                live.update(position_text(film, number), refresh=True)
                time.sleep(1 / speed)
    else:
        for number in range(len(film.frames)):
            console.print(position_text(film, number), soft_wrap=True)
