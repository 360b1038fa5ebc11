"""The factored rules of games that begin with a deal: poker, where hands depend on each other by their cards alone.

The deal is asked for, not played, and each core once: moves are everybody's to see.  That no two hands have a card in
common is left to the payoffs of the ends, as products (``tree.showdowns``); the deal's chance makes up for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from infoset.base import Action, State
from infoset.errors import GameRuleError, UnsupportedGameError, shorten
from infoset.games.poker_hands import disjoint
from infoset.tree.factored_rules import Asked, Core, Edge, Event, Own
from infoset.tree.graph import CHANCE, NO_TOKEN
from infoset.tree.rule_arrays import NOTHING, Terms
from infoset.tree.showdowns import PLAYERS, Pieces, Showdown, pieces

LEAST_TOGETHER = 1e-6
DEAL = "the deal"  # the core before it


class AskedDealt(Asked):
    """A game for two, asked from its deal on."""

    def __init__(self, game: Any, progress: Callable[[int], object] | None) -> None:
        """Raises ``GameRuleError`` for other than two players."""
        super().__init__(game, progress)
        if self.n != PLAYERS:
            raise GameRuleError(f"{game.name} deals hands to {self.n} players; the factored form knows deals for two")
        self.met: dict[Hashable, Pieces] = {}
        self.edges: dict[Hashable, dict[Own, list[Edge]]] = {}

    def _begin(self, state: State) -> tuple[Hashable, tuple[Own, ...]]:
        """Everybody gets a hand; each is as likely as if the other had none, times what makes that up together.

        Raises ``UnsupportedGameError`` where nearly all of that is hands that share cards.
        """
        core, dealt = self.game.deal()
        shares = [np.array([weight for *_, weight in own]) for own in dealt]
        shares = [own / own.sum() for own in shares]
        self.fits = disjoint(*[[self.game.cards(own) for own, *_ in some] for some in dealt])
        if (together := float(shares[0] @ self.fits @ shares[1])) < LEAST_TOGETHER:
            raise UnsupportedGameError(
                f"{self.game.name}: hands that can be held at once have {together:.1g} of the weight; that products of "
                "the rest cancel out would cost the figures"
            )
        at = self.cores[DEAL] = Core([{(): 0} for _ in dealt], mover=CHANCE)
        edges: list[dict[Own, list[Edge]]] = [
            {(): [Edge(own, NOTHING, self._token(None, seen), weight)
                  for (own, seen, _), weight in zip(some, share.tolist(), strict=True)]}
            for some, share in zip(dealt, shares, strict=True)
        ]  # fmt: skip
        self._lead(at, core, 1 / together, edges)
        return DEAL, ((),) * self.n

    def _look(self, core: Hashable, at: Core) -> None:
        one = tuple([next(iter(own)) for own in at.own])
        state = self.game.join(core, one)
        movers = [p for p in range(self.n) if state.legal(p)]
        if len(movers) != 1:
            raise GameRuleError(f"{self.game.name}: behind the deal one player moves, not so at {shorten(repr(state))}")
        at.mover, at.events = movers[0], []
        menu = state.legal(at.mover)
        at.menus = dict.fromkeys(at.own[at.mover], menu)
        for k, move in enumerate(menu):
            found = self._play(state, at.mover, move)
            if found.paid is not None:
                self._end_by(core, at, k, move)
                continue
            edges = [
                {own: [Edge(own, k if p == at.mover else NOTHING, found.tokens[p], 1.0)] for own in at.own[p]}
                for p in range(self.n)
            ]
            self._lead(at, found.core, 1.0, edges)

    def _end_by(self, core: Hashable, at: Core, place: int, move: Action) -> None:
        """Where a move ends the game: hands lead to the lists that they are in."""
        rows = [tuple(own) for own in at.own]
        strength = [np.array([self.game.strength(core, own) for own in some], dtype=np.int64) for some in rows]
        showdown = self._showdown(core, at.mover, move, rows, strength)
        key = (tuple(rows), *[own.tobytes() for own in strength], showdown.kind)
        if key not in self.met:
            cards = [[self.game.cards(own) for own in some] for some in rows]
            self.met[key] = pieces(strength, cards, showdown.kind)
        found = self.met[key]
        count = len(found.sign)
        terms = Terms(np.repeat(np.arange(count, dtype=np.int32)[:, None], self.n, axis=1), showdown.paid(found))
        end = Core([{k: k for k in range(count + 1)} for _ in rows], terms=terms)
        edges = [self._listed(key, p, place if p == at.mover else NOTHING, rows[p]) for p in range(self.n)]
        at.events.append(Event(end, 1.0, edges))

    def _listed(self, key: Hashable, player: int, place: int, hands: tuple[Own, ...]) -> dict[Own, list[Edge]]:
        """The edges of a player's hands to its lists; of those that are in none to a cell that is not paid."""
        if (known := self.edges.get((key, player, place))) is None:
            found = self.met[key]
            listed = zip(hands, found.lists[player], strict=True)
            known = self.edges[key, player, place] = {
                own: [Edge(k, place, NO_TOKEN, 1.0) for k in some or [len(found.sign)]] for own, some in listed
            }
        return known

    def _showdown(
        self, core: Hashable, mover: int, move: Action, rows: list[tuple[Own, ...]], strength: list[Any]
    ) -> Showdown:
        """One pair of hands is asked of each kind: the first one stronger, both equal, the first one weaker."""
        one, two = (np.argsort(own, kind="stable") for own in strength)
        _, *equal = np.intersect1d(*strength, return_indices=True)
        pairs = [
            (one[-1], two[0]) if strength[0].max() > strength[1].min() else None,
            (equal[0][0], equal[1][0]) if len(equal[0]) else None,
            (one[0], two[-1]) if strength[0].min() < strength[1].max() else None,
        ]
        paid = [
            None if pair is None else
            self._play(self.game.join(core, (rows[0][pair[0]], rows[1][pair[1]])), mover, move).paid
            for pair in pairs
        ]  # fmt: skip
        self.payoffs |= {some for some in paid if some is not None}
        return Showdown(*paid)
