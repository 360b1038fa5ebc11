"""Fixed behaviour at some information sets, around which a solver solves the rest."""

from __future__ import annotations

import numpy as np

from infoset.base import FloatArray
from infoset.errors import ParameterError, UnknownNameError, shorten
from infoset.policies.tabular import SUM_TOLERANCE
from infoset.solvers.config import Lock
from infoset.tree.sequence_form import SequenceForm


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
            first = int(form.arrays.first[k])
            where, actions = f"lock: {name} at {shorten(key)!r}", form.actions[k]
            if not isinstance(row, dict):
                raise ParameterError(
                    f"{where}: {shorten(repr(row))} is not a distribution; allowed: {{action: probability}}"
                )
            if odd := sorted(set(map(str, row)) - set(actions)):
                raise ParameterError(f"{where}: no move {odd[0]!r}; allowed: {', '.join(actions)}")
            try:
                probabilities = np.array([float(row.get(action, 0.0)) for action in actions])
            except (TypeError, ValueError, OverflowError):
                probabilities = np.array([np.nan])
            if not (probabilities >= 0).all() or abs(probabilities.sum() - 1) > SUM_TOLERANCE:
                raise ParameterError(f"{where}: {row} are no probabilities from 0 to 1 that sum to 1")
            rows[first : first + len(actions)] = probabilities / probabilities.sum()
    return rows
