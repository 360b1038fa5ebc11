#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: in dark_hex with obstype=reveal-nothing, information_state_string contains the number of all moves so far, the
# opponent's failed ones included, but information_state_tensor does not show it. One would expect the same information in two
# forms, as in phantom_ttt, whose strings have no such count. So a tabular policy keyed by strings is finer than any network
# that reads tensors, and a best response over strings may use what a network cannot see.
# Seen: on a board of 2 by 2 player 0 moves, then player 1 does, in the second history after a try that fails. Player 0's
# tensors are equal, its strings differ in the count (2 and 3); in phantom_ttt the strings are equal, too.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel

found = {}
for name in ("dark_hex(num_rows=2,num_cols=2,obstype=reveal-nothing)", "phantom_ttt(obstype=reveal-nothing)"):
    game, states = pyspiel.load_game(name), []
    for moves in ((0, 1), (0, 0, 1)):
        state = game.new_initial_state()
        for move in moves:
            state.apply_action(move)
        assert state.current_player() == 0
        states.append(state)
    strings = [state.information_state_string(0) for state in states]
    tensors = [list(state.information_state_tensor(0)) for state in states]
    found[name.partition("(")[0]] = strings[0] == strings[1], tensors[0] == tensors[1]
    print(name, *map(repr, strings), "equal tensors:", tensors[0] == tensors[1])
assert found == {"dark_hex": (False, True), "phantom_ttt": (True, True)}
EOF
