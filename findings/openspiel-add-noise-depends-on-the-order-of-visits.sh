#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: add_noise(game=...,epsilon=...,seed=...) does not fix the noise of each terminal state by the seed. It draws the
# noise when returns() of that terminal history is first asked for, and keeps it in the game object. The same history
# therefore pays differently in two game objects of one name, if another end was looked at before: payoffs of a recorded
# play cannot be checked by a new object, and two programs that walk the tree in another order solve two different games.
# Seen: the end of kuhn_poker after 0 1 0 0 pays the first player -1.0859 where it is asked first, -0.9320 where it is asked
# second.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel


def paid(histories):
    game = pyspiel.load_game("add_noise(game=kuhn_poker(),epsilon=0.1,seed=3)")
    found = {}
    for history in histories:
        state = game.new_initial_state()
        for action in history:
            state.apply_action(action)
        found[history] = state.returns()[0]
    return found


one, other = (0, 1, 0, 0), (1, 2, 0, 0)
first, second = paid([one, other]), paid([other, one])
print("asked first", first[one], "asked second", second[one])
assert abs(first[one] - second[one]) > 0.1
assert (first[one], first[other]) == (second[other], second[one])  # the noise follows the order of visits
assert paid([one, other]) == first
EOF
