"""The names of pure plans, as normal forms list them."""

from __future__ import annotations

from typing import Any

import numpy as np

from infoset import SequenceForm
from infoset.tree.normal_form import PASSED


def strategy_name(form: SequenceForm, player: int, plan: Any) -> str:
    """Return the name of a pure plan, weights (S,) 0 or 1: its action at each set, ``*`` where not reached."""
    a, actions = form.arrays, []
    for k in form.player_infosets(player):
        first = int(a.first[k])
        own = plan[first : first + int(a.size[k])]
        actions.append(form.actions[k][int(np.argmax(own))] if own.any() else PASSED)
    return "/".join(actions)
