"""The data of a recorded game for all views, and its events in words."""

from __future__ import annotations

from typing import Literal, NamedTuple

from infoset.errors import ParameterError
from infoset_pommerman import state as st
from infoset_pommerman.config import Config

ITEMS = {st.EXTRA_BOMB: "another bomb", st.INCR_RANGE: "a longer blast", st.KICK: "a boot to kick with"}
FAULTS = {"illegal": "an illegal move", "late": "a late move", "error": "an error"}

Kind = Literal["death", "item", "kick", "walls", "fault"]


class Agent(NamedTuple):
    """An agent after a step; dead agents keep their cell.  ``facing`` is the direction of its last move."""

    alive: bool
    cell: int
    ammo: int
    blast: int
    kick: bool
    facing: int = st.DOWN


class Bomb(NamedTuple):
    """A bomb; ``number`` stays the same from step to step.  ``owner`` is ``None`` where no agent laid it."""

    number: int
    cell: int
    owner: int | None
    life: int
    strength: int
    direction: int


class Flame(NamedTuple):
    """Fire in a cell, ``life`` steps before its last; ``links`` has bit ``1 << direction`` set where it continues."""

    cell: int
    life: int
    links: int = 0
    owners: tuple[int, ...] = ()


class Blast(NamedTuple):
    """A bomb that exploded.  ``lit_by`` are the owners of the fire that lit it; ``None`` stands for its fuse."""

    bomb: Bomb
    lit_by: tuple[int, ...] | None


class Event(NamedTuple):
    """An event of a step.  ``by`` are the owners of the deadly fire; ``what`` is an item, or the kind of a fault."""

    kind: Kind
    agent: int | None = None
    by: tuple[int, ...] = ()
    what: int | str = ""


class Frame(NamedTuple):
    """The position after a step, and the moves and events of that step."""

    step: int
    ground: tuple[int, ...]
    """(cells,) walls, wood, and items in the open; everything else is passage."""
    hidden: tuple[int, ...]
    """(cells,) items under wood or flames."""
    agents: tuple[Agent, ...]
    bombs: tuple[Bomb, ...]
    flames: tuple[Flame, ...]
    moves: tuple[int | None, ...]
    """``None`` for dead agents, and for all agents in the first frame."""
    words: tuple[tuple[int, ...], ...] = ()
    """Each agent's words on the radio; empty where there is none."""
    blasts: tuple[Blast, ...] = ()
    events: tuple[Event, ...] = ()


class Film(NamedTuple):
    """A whole recorded game."""

    game: str
    config: Config
    players: tuple[str, ...]
    agents: tuple[str, ...]
    """The agent's name in each seat.  Like ``game`` it is read from the replay, shortened and made printable."""
    frames: tuple[Frame, ...]
    returns: tuple[float, ...]
    won: bool
    """Whether anyone won; if so, those with a positive return did."""

    def number(self, step: int | None) -> int:
        """Return the index of the frame after a step of the game; the last for ``None``.  Raises ``ParameterError``."""
        first, last = self.frames[0].step, self.frames[-1].step
        if step is not None and not first <= step <= last:
            raise ParameterError(f"step={step} is out of range; allowed: {first} to {last}")
        return (last if step is None else step) - first

    def outcome(self) -> str:
        """Return in a few words who won."""
        winners = [name for name, pay in zip(self.players, self.returns, strict=True) if self.won and pay > 0]
        if not winners:
            return "A tie"
        return f"{_listed(winners)} win{'s' * (len(winners) == 1)}"

    def tell(self, event: Event) -> str:
        """Return an event as a sentence without its full stop."""
        if event.agent is None:
            return "The walls close in"
        who = self.players[event.agent]
        match event.kind:
            case "death":
                return f"{who} {self.fate(event)}"
            case "item":
                return f"{who} finds {ITEMS[int(event.what)]}"
            case "kick":
                return f"{who} kicks a bomb"
        return f"{who}: {FAULTS[str(event.what)]}"

    def fate(self, event: Event) -> str:
        """Return what an agent died of."""
        if event.what == "walls":
            return "is crushed by the walls"
        if not event.by:
            return "burns"
        if event.by == (event.agent,):
            return "dies of its own bomb"
        others = [f"{self.players[k]}'s" for k in event.by if k != event.agent]
        return f"dies of {_listed(['its own'] * (event.agent in event.by) + others)} bomb{'s' * (len(event.by) > 1)}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])
