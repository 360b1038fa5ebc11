"""What policies have in common of which players draw joint plans before a game: one lottery for all of its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from infoset.base import LongArray
from infoset.errors import PolicyError
from infoset.files import DamageError, check_rows, policy_path
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.tree.sequence_form import SequenceForm

P = TypeVar("P", bound="JointPolicy")


class AnyLottery(Protocol):
    """A distribution over the joint plans of the ``members``; lotteries are independent."""

    @property
    def members(self) -> tuple[int, ...]: ...
    @property
    def about(self) -> str:
        """What is drawn, in words that follow "draw"."""

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays of a file, by name."""

    def check(self, sizes: LongArray) -> None:
        """Raise ``PolicyError`` for arrays that do not fit; ``sizes``: the members' numbers of actions by set."""

    @classmethod
    def from_arrays(cls, members: tuple[int, ...], arrays: Mapping[str, Any]) -> AnyLottery:
        """Create a lottery from the arrays of a file."""


@dataclass(frozen=True, eq=False)
class JointPolicy:
    """A policy of players who draw plans together: every player is a member of one lottery.

    ``keys`` and ``actions``: the information sets of each player, and the actions at each.  Raises ``PolicyError`` for
    lotteries that omit or repeat a player, repeated sets or actions, and arrays that do not fit together.
    """

    game: str
    players: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...] = field(repr=False)
    actions: tuple[tuple[tuple[str, ...], ...], ...] = field(repr=False)
    lotteries: tuple[Any, ...] = field(repr=False)
    map_name: str = ""
    made_by: Mapping[str, Any] = field(default_factory=dict)

    mark: ClassVar[str]
    """An array that identifies its files."""
    kind: ClassVar[str]
    """What its files are, in words."""
    lottery_type: ClassVar[type[AnyLottery]]

    def __post_init__(self) -> None:
        seated = sorted(member for lottery in self.lotteries for member in lottery.members)
        if seated != list(range(len(self.players))):
            raise PolicyError(f"lotteries of the players {seated}: each of {len(self.players)} has to be in one")
        for keys, actions in zip(self.keys, self.actions, strict=True):
            try:
                check_rows(keys, actions)
            except DamageError as error:
                raise PolicyError(str(error)) from None
        for lottery in self.lotteries:
            sizes = [len(row) for player in lottery.members for row in self.actions[player]]
            lottery.check(np.array(sizes, dtype=np.int64))

    @classmethod
    def from_lotteries(
        cls: type[P], form: SequenceForm, lotteries: Sequence[Any], made_by: Mapping[str, Any] | None = None
    ) -> P:
        """Create a policy for a game from lotteries."""
        sets = [list(form.player_infosets(player)) for player in range(form.num_players)]
        keys = tuple([tuple([form.keys[k] for k in own]) for own in sets])
        actions = tuple([tuple([form.actions[k] for k in own]) for own in sets])
        return cls(form.name, form.players, keys, actions, tuple(lotteries), form.map_name, made_by or {})

    @property
    def num_infosets(self) -> int:
        """The number of information sets with a choice, of all players together."""
        return sum(map(len, self.keys))

    @property
    def about(self) -> str:
        """A description of the lotteries of several players: the members and what they draw."""
        return "; ".join(
            f"{'+'.join(self.players[player] for player in lottery.members)} draw {lottery.about}"
            for lottery in self.lotteries
            if len(lottery.members) > 1
        )

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(
            SCHEMA, self.game, list(self.players), self.map_name, list(map(list, self.keys)),
            [[list(row) for row in rows] for rows in self.actions], dict(self.made_by),
        )  # fmt: skip
        teams = [(number, player) for number, lottery in enumerate(self.lotteries) for player in lottery.members]
        arrays: dict[str, Any] = {self.mark: np.array(teams)}
        for number, lottery in enumerate(self.lotteries):
            arrays |= {f"{name}{number}": array for name, array in lottery.arrays.items()}
        return write_archive(path, header, arrays, self.kind)

    @classmethod
    def load(cls: type[P], path: str | Path) -> P:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            teams = arrays[cls.mark].reshape(-1, 2).tolist()
            lotteries = []
            for number in range(1 + max(number for number, _ in teams)):
                suffix = str(number)
                own = {name.removesuffix(suffix): each for name, each in arrays.items() if name.endswith(suffix)}
                members = tuple(player for mine, player in teams if mine == number)
                lotteries.append(cls.lottery_type.from_arrays(members, own))
            if not len(header.keys) == len(header.actions) == len(header.players) or any(
                len(keys) != len(rows) for keys, rows in zip(header.keys, header.actions, strict=True)
            ):
                raise DamageError("its keys and actions do not fit together")
            return cls(
                header.game, tuple(header.players), tuple(map(tuple, header.keys)),
                tuple(tuple(map(tuple, rows)) for rows in header.actions), tuple(lotteries), header.map, header.made_by,
            )  # fmt: skip


class _Header(Header):
    players: list[str]
    map: str
    keys: list[list[str]]
    actions: list[list[list[str]]]
    made_by: dict[str, Any]
