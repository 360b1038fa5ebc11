#!/bin/sh
# Package: nashpy 0.0.43, Game.vertex_enumeration.
# Behaviour: a constant added to all payoffs changes no equilibrium, but it does change what vertex enumeration returns.
#   The labels of vertices are read off with numpy.isclose and its default tolerances, too wide beside a constant of a
#   million: a 2 x 2 game with one equilibrium, in whole numbers that floats hold exactly, comes back with nine profiles,
#   eight of which are no equilibria. support_enumeration and lemke_howson return the one. Nothing is raised or warned of.
# Seen: "constant 1000000: vertices: 9 found, from 8 of which a player gains"; with constant 0, and by the others, 1 and 0.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "nashpy==0.0.43" "numpy==2.2.6"
"$work/venv/bin/python" - <<'PY'
import sys

import nashpy
import numpy as np

table = np.array([[2, -1], [-1, 1]])  # its one equilibrium: 2/5 and 3/5 for both
seen = {}
for constant in (0, 10**6):
    game = nashpy.Game(table + constant, -table + constant)
    found = {
        "vertices": list(game.vertex_enumeration()),
        "supports": list(game.support_enumeration()),
        "lemke_howson": [game.lemke_howson(initial_dropped_label=0)],
    }
    for name, profiles in found.items():
        gains = []
        for row, column in profiles:
            value = row @ table @ column
            gains.append(max((table @ column).max() - value, value - (row @ table).min()))
        seen[constant, name] = len(gains), sum(gain > 1e-3 for gain in gains)
        print(f"constant {constant}: {name}: {len(gains)} found, from {seen[constant, name][1]} of which a player gains")
good = all(seen[constant, name] == (1, 0) for constant in (0, 10**6) for name in ("supports", "lemke_howson"))
sys.exit(0 if good and seen[0, "vertices"] == (1, 0) and seen[10**6, "vertices"] == (9, 8) else 1)
PY
