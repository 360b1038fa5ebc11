"""Configurations of every variant of the game, as frozen dataclasses under the reference's names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from infoset.errors import ParameterError, UnknownNameError
from infoset.names import check_range

PREFIX = "pommerman:"
SPEED = 6.0  # steps per second at which recorded games are shown
MAX_AGENTS = 4
LONG_FUSE = 15  # with a fuse up to this, a position always has room for the bombs, whatever agents pick up
MAX_BOMBS = 64
MAX_SIZE = 32
LAST_STEP = 30_000  # step count of the longest game
FULL_BLAST = 10  # upper limit of the blast strength where agents see the whole board
RINGS = 4
FIRST_COLLAPSE = 500


class GameType(IntEnum):
    """The types of game: who plays against whom."""

    FFA = 1
    TEAM = 2
    TEAM_RADIO = 3
    ONE_VS_ONE = 4


@dataclass(frozen=True)
class Config:
    """The parameters of a game.

    ``view`` is the number of cells that an agent sees in each direction (``None``: the whole board); it is also the
    upper limit of the blast strength, as in the reference.  ``collapses`` are the steps after which the rings of the
    board become walls, the outermost first.  Words sent by radio are from 1 to ``vocabulary``; 0 is silence.
    """

    game_type: GameType = GameType.FFA
    size: int = 11
    rigid: int = 36
    wood: int = 36
    items: int = 20
    view: int | None = None
    max_steps: int = 800
    collapses: tuple[int, ...] = ()
    fuse: int = 9
    flame_life: int = 2
    start_ammo: int = 1
    start_blast: int = 2
    start_kick: bool = False
    vocabulary: int = 8
    entry: str = "pommerman.envs.v0:Pomme"

    def __post_init__(self) -> None:
        check_range("size", self.size, 6, MAX_SIZE)
        check_range("max_steps", self.max_steps, 1, LAST_STEP)
        check_range("fuse", self.fuse, 1, 1000)
        check_range("flame_life", self.flame_life, 0, 100)
        check_range("start_ammo", self.start_ammo, 0, 10)
        check_range("start_blast", self.start_blast, 1, 10)
        if self.view is not None:
            check_range("view", self.view, 1, MAX_SIZE)
        for name in ("rigid", "wood"):
            count = getattr(self, name)
            if count < 0 or count % 2:
                raise ParameterError(f"{name}={count}: walls come in mirrored pairs; allowed: even numbers from 0")
        check_range("items", self.items, 0, self.wood)
        check_range("vocabulary", self.vocabulary, 1, 64)
        for step in self.collapses:
            if type(step) is not int or not 0 < step <= LAST_STEP:
                raise ParameterError(f"collapses={list(self.collapses)}: allowed: steps from 1 to {LAST_STEP}")
        bombs = self.num_agents * self.start_ammo + self.items
        if self.fuse > LONG_FUSE and bombs > MAX_BOMBS:
            raise ParameterError(
                f"fuse={self.fuse}: with {bombs} bombs from start_ammo and items more than {MAX_BOMBS} could lie; "
                f"allowed: a fuse up to {LONG_FUSE}, or fewer bombs"
            )

    @property
    def num_agents(self) -> int:
        return 2 if self.game_type == GameType.ONE_VS_ONE else 4

    @property
    def teams(self) -> bool:
        return self.game_type in (GameType.TEAM, GameType.TEAM_RADIO)

    @property
    def about(self) -> str:
        """One line: who plays, what they see, whether the walls close in."""
        who = {
            GameType.FFA: "everyone for themselves",
            GameType.TEAM: "two teams of two",
            GameType.TEAM_RADIO: "two teams of two with radio",
            GameType.ONE_VS_ONE: "one against one",
        }[self.game_type]
        sight = "all in view" if self.view is None else f"a view of {2 * self.view + 1} by {2 * self.view + 1} cells"
        return f"{who}, {sight}" + (", the walls close in" if self.collapses else "")

    @property
    def blast_cap(self) -> int:
        return FULL_BLAST if self.view is None else self.view


def collapse_steps(first: int, max_steps: int) -> tuple[int, ...]:
    """Return the reference's schedule of collapses: from ``first`` on, in quarters of the remaining steps."""
    return tuple(range(first, max_steps, max(1, (max_steps - first) // RINGS)))


def _collapsing(config: Config) -> Config:
    collapses = collapse_steps(FIRST_COLLAPSE, config.max_steps)
    return replace(config, collapses=collapses, entry="pommerman.envs.v1:Pomme")


_FFA = Config()
_TEAM = Config(GameType.TEAM)
_PARTIAL = replace(_TEAM, view=4)
_RADIO = replace(_PARTIAL, game_type=GameType.TEAM_RADIO, entry="pommerman.envs.v2:Pomme")

CONFIGS: dict[str, Config] = {
    "PommeFFACompetition-v0": _FFA,
    "PommeFFACompetitionFast-v0": _FFA,
    "PommeFFAFast-v0": _FFA,
    "PommeFFA-v1": _collapsing(_FFA),
    "OneVsOne-v0": Config(GameType.ONE_VS_ONE, size=8, rigid=16, wood=16, items=10),
    "PommeTeamCompetition-v0": _PARTIAL,
    "PommeTeamCompetitionFast-v0": _PARTIAL,
    "PommeTeamCompetition-v1": _collapsing(_PARTIAL),
    "PommeTeam-v0": _TEAM,
    "PommeTeamFast-v0": _TEAM,
    "PommeRadio-v2": _RADIO,
    "PommeRadioCompetition-v2": _RADIO,
}


PARAMETERS = (
    "size", "rigid", "wood", "items", "view", "max_steps", "collapses", "fuse", "flame_life", "start_ammo",
    "start_blast", "start_kick",
)  # fmt: skip
"""The fields of ``Config`` that a variant's name may change."""


def parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a variant's name with their default values."""
    return {"seed": None, "state": None, **{key: getattr(CONFIGS[name], key) for key in PARAMETERS}}


def config(name: str, **changes: Any) -> Config:
    """Return a variant by the reference's name, with the given ``PARAMETERS`` changed.

    Where walls close in, another ``max_steps`` moves the collapses as in the reference.

    Raises ``UnknownNameError`` or ``ParameterError``.

    >>> from infoset_pommerman.config import config
    >>> config("OneVsOne-v0").num_agents
    2
    """
    if name not in CONFIGS:
        raise UnknownNameError("Pommerman variant", name, CONFIGS)
    base = CONFIGS[name]
    if base.collapses and "max_steps" in changes:
        changes = {"collapses": collapse_steps(FIRST_COLLAPSE, changes["max_steps"]), **changes}
    return replace(base, **changes)
