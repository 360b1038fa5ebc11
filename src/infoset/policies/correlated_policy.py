"""Policies of players who coordinate: before a game one joint plan is drawn, and every player learns its own part.

Teams that agree beforehand play such policies (a team-maxmin equilibrium with a correlation device), and so do players
who obey a mediator (a correlated equilibrium).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, FloatArray, InformationState, LongArray
from infoset.compiled import Compiled
from infoset.errors import PolicyError
from infoset.files import DamageError, check_rows, policy_path
from infoset.names import action_names, policy_key
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.policies.tabular import SUM_TOLERANCE, TabularPolicy
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm


@dataclass(frozen=True, eq=False)
class Lottery:
    """A distribution over K plans, one of which is drawn for all members at once; lotteries are independent.

    ``plans`` (K, R): probabilities of the moves at all information sets of the members, one member after the other, its
    sets in the order of the policy's keys.
    """

    members: tuple[int, ...]
    probabilities: FloatArray
    plans: FloatArray = field(repr=False)


@dataclass(frozen=True, eq=False)
class CorrelatedPolicy:
    """A policy of players who draw plans together: every player is a member of one lottery.

    ``keys`` and ``actions``: the information sets of each player, and the moves at each.  Raises ``PolicyError`` for
    probabilities that do not sum to 1, repeated sets or moves, and lotteries that omit or repeat a player.

    >>> solution = infoset.solve("kuhn_poker(players=3)", teams="P1+P2,P3")
    >>> [lottery.members for lottery in solution.policy.lotteries]
    [(0, 1), (2,)]
    """

    game: str
    players: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...] = field(repr=False)
    actions: tuple[tuple[tuple[str, ...], ...], ...] = field(repr=False)
    lotteries: tuple[Lottery, ...]
    map_name: str = ""
    made_by: Mapping[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "members"
    """An array that identifies its files."""

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
            rows = [row for player in lottery.members for row in self.actions[player]]
            shape = len(lottery.probabilities), sum(map(len, rows))
            if lottery.plans.shape != shape or not shape[0]:
                raise PolicyError(f"plans of the shape {lottery.plans.shape}, where {shape} is needed")
            _check_probabilities(lottery, [len(row) for row in rows])

    @classmethod
    def of(
        cls, form: SequenceForm, lotteries: Sequence[tuple[tuple[int, ...], FloatArray, Sequence[FloatArray]]],
        made_by: Mapping[str, Any] | None = None,
    ) -> CorrelatedPolicy:  # fmt: skip
        """Create a policy from the members, the probabilities (K,) and the K plans (S,) of each lottery.

        A plan is given by its realisation weights.
        """
        drawn = []
        for members, probabilities, plans in lotteries:
            own = np.concatenate([_moves_of(form, player) for player in members])
            drawn.append(
                Lottery(members, np.asarray(probabilities), np.array([behaviour(form, plan)[own] for plan in plans]))
            )
        sets = [list(form.player_infosets(player)) for player in range(form.num_players)]
        keys = tuple([tuple([form.keys[k] for k in own]) for own in sets])
        actions = tuple([tuple([form.actions[k] for k in own]) for own in sets])
        return cls(form.name, form.players, keys, actions, tuple(drawn), form.map_name, made_by or {})

    @cached_property
    def begins(self) -> tuple[dict[str, tuple[Lottery, int, tuple[str, ...]]], ...]:
        """By player and key: its lottery, the index in a plan at which its row begins, and the moves there."""
        found: tuple[dict[str, tuple[Lottery, int, tuple[str, ...]]], ...] = tuple({} for _ in self.players)
        for lottery in self.lotteries:
            begin = 0
            for player in lottery.members:
                for key, actions in zip(self.keys[player], self.actions[player], strict=True):
                    found[player][key] = lottery, begin, actions
                    begin += len(actions)
        return found

    @property
    def num_infosets(self) -> int:
        """The number of information sets with a choice, of all players together."""
        return sum(map(len, self.keys))

    @property
    def about(self) -> str:
        """A description of the lotteries of several players: the members and the number of plans."""
        return "; ".join(
            f"{'+'.join(self.players[player] for player in lottery.members)} draw one of "
            f"{len(lottery.probabilities):,} plans"
            for lottery in self.lotteries
            if len(lottery.members) > 1
        )

    def table(self, drawn: Sequence[int]) -> TabularPolicy:
        """Return the policy of all players once these plans are drawn, one index per lottery."""
        number = {id(lottery): k for lottery, k in zip(self.lotteries, drawn, strict=True)}
        tables = tuple(
            {
                key: dict(
                    zip(actions, lottery.plans[number[id(lottery)], begin : begin + len(actions)].tolist(), strict=True)
                )
                for key, (lottery, begin, actions) in found.items()
            }
            for found in self.begins
        )
        return TabularPolicy(self.game, self.players, tables, self.map_name, self.made_by)

    def on(self, compiled: Compiled) -> CorrelatedPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        self.table([0] * len(self.lotteries)).on(compiled)
        return CorrelatedPlay(self)

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(
            SCHEMA, self.game, list(self.players), self.map_name, list(map(list, self.keys)),
            [[list(row) for row in rows] for rows in self.actions], dict(self.made_by),
        )  # fmt: skip
        members = [(number, player) for number, lottery in enumerate(self.lotteries) for player in lottery.members]
        arrays: dict[str, Any] = {"members": np.array(members)}
        for number, lottery in enumerate(self.lotteries):
            arrays |= {f"chances{number}": lottery.probabilities, f"plans{number}": lottery.plans}
        return write_archive(path, header, arrays, "a correlated policy")

    @classmethod
    def load(cls, path: str | Path) -> CorrelatedPolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            members = arrays["members"].reshape(-1, 2).tolist()
            lotteries = tuple(
                Lottery(
                    tuple(player for mine, player in members if mine == number),
                    np.asarray(arrays[f"chances{number}"], dtype=np.float64).ravel(),
                    np.atleast_2d(np.asarray(arrays[f"plans{number}"], dtype=np.float64)),
                )
                for number in range(1 + max(number for number, _ in members))
            )
            if not len(header.keys) == len(header.actions) == len(header.players) or any(
                len(keys) != len(rows) for keys, rows in zip(header.keys, header.actions, strict=True)
            ):
                raise DamageError("its keys and moves do not fit together")
            return cls(
                header.game, tuple(header.players), tuple(map(tuple, header.keys)),
                tuple(tuple(map(tuple, rows)) for rows in header.actions), lotteries, header.map, header.made_by,
            )  # fmt: skip


class _Header(Header):
    players: list[str]
    map: str
    keys: list[list[str]]
    actions: list[list[list[str]]]
    made_by: dict[str, Any]


class CorrelatedPlay:
    """A correlated policy in play: a table, once the plans are drawn; before, each player's own probabilities."""

    def __init__(self, policy: CorrelatedPolicy) -> None:
        self.policy = policy
        self.tables: dict[tuple[int, ...], TabularPolicy] = {}

    def draw(self, rng: np.random.Generator) -> TabularPolicy:
        """Draw a plan of each lottery.

        A lottery uses the random number of its first member, so that teams that play plans of two files, drawn from
        equal streams, do not draw in step.
        """
        points = rng.random(len(self.policy.players))
        drawn = tuple([_place(lottery.probabilities, points[lottery.members[0]]) for lottery in self.policy.lotteries])
        if drawn not in self.tables:
            self.tables[drawn] = self.policy.table(drawn)
        return self.tables[drawn]

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float] | None:
        """Return the player's probabilities for an observer who does not know the plan but the player's past moves."""
        found = self._probabilities(player, infostate, legal_actions)
        if found is None:
            return None
        weight = np.ones(len(found))
        for k, (action, _) in enumerate(infostate):
            if action is not None:
                before = self._probabilities(player, infostate[:k], (action,))
                weight = weight if before is None else weight * before[:, 0]
        lottery = next(one for one in self.policy.lotteries if player in one.members)
        weight = weight * lottery.probabilities
        total = weight.sum()
        row = weight @ found / total if total > 0 else lottery.probabilities @ found
        return [float(chance) for chance in row]

    def _probabilities(
        self, player: int, infostate: InformationState, actions: tuple[Action, ...]
    ) -> FloatArray | None:
        """Return each plan's probabilities (K, moves) at the player's information set; ``None`` where it is unknown."""
        place = self.policy.begins[player].get(policy_key(infostate, self.policy.map_name))
        if place is None:
            return None
        lottery, begin, words = place
        wanted = action_names(actions)
        if not set(wanted) <= set(words):
            return None
        return np.asarray(lottery.plans[:, [begin + words.index(word) for word in wanted]])


def _check_probabilities(lottery: Lottery, sizes: list[int]) -> None:
    """Raise ``PolicyError`` unless the plans, and the moves in rows of these sizes, have valid probabilities."""
    begins = np.cumsum([0, *sizes])[:-1]
    totals = np.add.reduceat(lottery.plans, begins, axis=1) if sizes else np.ones((1, 1))
    for found in (totals, lottery.probabilities.sum(keepdims=True)):
        if not (np.abs(found - 1) <= SUM_TOLERANCE).all():
            raise PolicyError("probabilities of moves or of plans that do not sum to 1")
    if min(lottery.plans.min(initial=0), lottery.probabilities.min()) < 0:
        raise PolicyError("negative probabilities of moves or of plans")


def _place(probabilities: FloatArray, point: float) -> int:
    """Return the index that a number from 0 to 1 draws."""
    return min(int(np.searchsorted(np.cumsum(probabilities), point, side="right")), len(probabilities) - 1)


def _moves_of(form: SequenceForm, player: int) -> LongArray:
    """Return the sequences of a player's moves, without the empty one."""
    own = form.player_sequences(player)
    return np.arange(own.start + 1, own.stop)
