#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: the information-state string of goofspiel with open bids (imp_info=False, the default), where a player sees more
# than with imp_info=True, leaves out in which order the player made its own bids. Information states of a player are then of
# imperfect recall: pasts with different own moves share a string, and with it the row of a TabularPolicy and the
# information set of a best response. With imp_info=True the strings hold the own bids in order. A policy computed on
# information sets of perfect recall cannot be written to TabularPolicy without losing rows.
# Seen: with four cards in descending order, turn-based, 20 of the first player's 135 strings stand for more than one
# sequence of own bids; with imp_info=True none of 81.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel
from open_spiel.python.policy import TabularPolicy


def strings(imp_info):
    game = pyspiel.load_game_as_turn_based(f"goofspiel(num_cards=4,points_order=descending,imp_info={imp_info})")
    own, todo = {}, [(game.new_initial_state(), ())]
    while todo:
        state, bids = todo.pop()
        if state.is_terminal():
            continue
        mine = state.current_player() == 0
        if mine:
            own.setdefault(state.information_state_string(0), set()).add(bids)
        todo += [(state.child(a), (*bids, a) if mine else bids) for a in state.legal_actions()]
    rows = len(TabularPolicy(game).states_per_player[0])
    return len(own), sum(len(each) > 1 for each in own.values()), rows


found = {imp_info: strings(imp_info) for imp_info in (False, True)}
for imp_info, (count, shared, rows) in found.items():
    print(f"imp_info={imp_info}: {count} strings, {shared} of them with several sequences of own bids, {rows} rows")
assert found == {False: (135, 20, 135), True: (81, 0, 81)}
EOF
