#!/bin/sh
# Package: pygambit 16.7.0 (Gambit), nash.lp_solve, nash.lcp_solve and nash.enummixed_solve with rational=False.
# Behaviour: solving in floats, the unit of payoffs decides what comes back.
#   A 2 x 2 zero-sum game in whole numbers is solved by all three; the same game in millionths, as amounts of money may
#   be, is answered by lp_solve with a pure profile, from which a player gains two thirds of the range of payoffs, and by
#   lcp_solve with such a profile beside the equilibrium. In billionths all three give a pure profile alone. Nothing is
#   raised or warned of. lp_solve with rational=True gives the equilibrium in all units.
# Seen, the most that a player gains from each profile, in units of payoffs: unit 1: all three [0]; unit 1e-06: lp [2],
#   lcp [3, 0], enummixed [0]; unit 1e-09: all three [3]; lp in fractions [0] in every unit.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "pygambit==16.7.0" "numpy==2.2.6"
"$work/venv/bin/python" - <<'PY'
import sys
from fractions import Fraction

import numpy as np
import pygambit

table = np.array([[2, -1], [-1, 1]])  # its one equilibrium: 2/5 and 3/5 for both
seen = {}
for unit in (Fraction(1), Fraction(1, 10**6), Fraction(1, 10**9)):
    game = pygambit.Game.from_arrays(table * unit, -table * unit)
    for name, rational in (("lp", True), ("lp", False), ("lcp", False), ("enummixed", False)):
        solve = getattr(pygambit.nash, f"{name}_solve")
        gains = []
        for profile in solve(game, rational=rational).equilibria:
            row, column = (np.array([float(profile[s]) for s in player.strategies]) for player in game.players)
            value = row @ table @ column
            gains.append(round(float(max((table @ column).max() - value, value - (row @ table).min())), 6))
        seen[float(unit), name, rational] = gains
        print(f"unit {float(unit):g}: {name}{' in fractions' * rational}: the most that a player gains, in units: {gains}")
right = all(seen[unit, "lp", True] == [0] for unit in (1.0, 1e-6, 1e-9))
right &= all(seen[1.0, name, False] == [0] for name in ("lp", "lcp", "enummixed"))
wrong = len(seen[1e-6, "lp", False]) == 1 and seen[1e-6, "lp", False][0] > 0.5
wrong &= sorted(gain > 0.5 for gain in seen[1e-6, "lcp", False]) == [False, True]
wrong &= all(len(seen[1e-9, name, False]) == 1 and seen[1e-9, name, False][0] > 0.5 for name in ("lp", "lcp", "enummixed"))
sys.exit(0 if right and wrong else 1)
PY
