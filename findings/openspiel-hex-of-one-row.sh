#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: hex and dark_hex accept num_rows=1, where a single stone of the player who joins top and bottom joins both
# sides at once. It does not win: a stone is marked as joined to one side only when it is placed, so the game goes on until the
# board is full, and then is_terminal() is still False, with no legal actions. One would expect the first move to win, as on any
# other board that is won by a line across.
# Seen: in hex(num_rows=1,num_cols=3): after the first move is_terminal() is False; after three moves the board is full,
# is_terminal() is False and legal_actions() is empty.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check open_spiel==2.0.2
"$home/venv/bin/python" - <<'EOF'
import pyspiel

state = pyspiel.load_game("hex(num_rows=1,num_cols=3)").new_initial_state()
seen = []
for move in range(3):
    state.apply_action(move)
    seen.append((state.is_terminal(), len(state.legal_actions())))
    print(f"after {move + 1} moves: terminal {seen[-1][0]}, legal actions {seen[-1][1]}")
raise SystemExit(seen[0][0] or seen[-1] != (False, 0))
EOF
