"""Fixed behaviour at some information sets, around which a solver solves the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from infoset.base import BoolArray, FloatArray
from infoset.errors import ParameterError, UnknownNameError, shorten
from infoset.games.poker_hands import RANKS, SUITS, cards_of, hand_name
from infoset.games.suits import SuitPermutation, permute_hand
from infoset.policies.tabular import SUM_TOLERANCE
from infoset.policies.vector_policy import records_of
from infoset.solvers.config import Lock
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.vector_form import VectorForm

CARDS = re.compile(f"([{RANKS}][{SUITS}]){{1,2}}")


def locked_rows(form: SequenceForm, lock: Lock) -> FloatArray:
    """Return behaviour (S,) at the sets of ``lock``, as given but scaled to sum to one; -1 at the free sets.

    Raises ``ParameterError`` for what is not a distribution, ``UnknownNameError`` for players or information sets
    that the game does not have.
    """
    rows = np.full(form.num_sequences, -1.0)
    for name, table in lock.items():
        if name not in form.players:
            raise UnknownNameError("player", name, form.players)
        own = form.player_infosets(form.players.index(name))
        numbers = {form.keys[k]: k for k in own}
        for key, row in table.items():
            if key not in numbers:
                raise UnknownNameError(f"information set of {name}", key, numbers)
            k = numbers[key]
            first, actions = int(form.arrays.first[k]), form.actions[k]
            rows[first : first + len(actions)] = _probabilities(f"lock: {name} at {shorten(key)!r}", row, actions)
    return rows


def locked_hands(form: VectorForm, lock: Lock) -> tuple[FloatArray, BoolArray]:
    """Return the probabilities (rows,) of a vector form that a lock fixes, and which rows (rows,) it fixes.

    Raises what ``locked_rows`` raises, and ``ParameterError`` where hands and cards that suits alone tell apart are not
    locked alike.
    """
    fixed, locked = np.zeros(form.num_rows), np.zeros(form.num_rows, dtype=np.bool_)
    for name, table in lock.items():
        if name not in form.players:
            raise UnknownNameError("player", name, form.players)
        player = form.players.index(name)
        for key, row in table.items():
            place = form.find(player, records_of(key))
            if place is None:
                raise UnknownNameError(f"information set of {name}", key, ())
            nodes = form.streets[int(form.arrays.kind[place.board])].nodes
            actions = tuple([nodes[child].action for child in place.node.children])
            rows = slice(place.row, place.row + place.num_actions * place.step, place.step)
            fixed[rows] = _probabilities(f"lock: {name} at {shorten(key)!r}", row, actions)
            locked[rows] = True
        if not locked[form.rows_of_player(player)].all():
            _check_symmetry(form, name, table)
    return fixed, locked


def _check_symmetry(form: VectorForm, name: str, table: Mapping[str, Mapping[str, float]]) -> None:
    """Raise ``ParameterError`` where an information set is locked and its image by a permutation of suits is not so."""
    for key, row in table.items():
        for permutation in form.deal.symmetries[1:]:
            image = " ".join([_permuted(word, permutation) for word in key.split(" ")])
            if table.get(image) != row:
                raise ParameterError(
                    f"lock: {name} is locked at {shorten(key)!r} and not so at {shorten(image)!r}, which suits alone "
                    "tell apart; lock both alike"
                )


def _permuted(word: str, permutation: SuitPermutation) -> str:
    """Return a word of a key with the suits of its cards permuted."""
    if not CARDS.fullmatch(word):
        return word
    return hand_name(permute_hand(cards_of(word, "cards"), permutation))


def _probabilities(where: str, row: object, actions: tuple[str, ...]) -> FloatArray:
    """Return (A,) the probabilities of a row, scaled to sum to one.  Raises ``ParameterError``."""
    if not isinstance(row, dict):
        raise ParameterError(f"{where}: {shorten(repr(row))} is not a distribution; allowed: {{action: probability}}")
    if odd := sorted(set(map(str, row)) - set(actions)):
        raise ParameterError(f"{where}: no move {odd[0]!r}; allowed: {', '.join(actions)}")
    try:
        probabilities = np.array([float(row.get(action, 0.0)) for action in actions])
    except (TypeError, ValueError, OverflowError):
        probabilities = np.array([np.nan])
    if not (probabilities >= 0).all() or abs(probabilities.sum() - 1) > SUM_TOLERANCE:
        raise ParameterError(f"{where}: {row} are no probabilities from 0 to 1 that sum to 1")
    return np.asarray(probabilities / probabilities.sum())
