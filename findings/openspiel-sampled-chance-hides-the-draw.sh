#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: in games whose type says chance_mode SAMPLED_STOCHASTIC (negotiation, tarok, bridge_uncontested_bidding,
# stones_and_gems) a chance node lists one outcome with probability 1, and applying it draws the deal from a source of
# randomness that belongs to the game object. So the history, which elsewhere in OpenSpiel determines a state, does not:
# two states with equal histories hold different deals, and a clone of a state before the draw is dealt other cards than
# the state. A tree walked over chance_outcomes() is the tree of one deal, known to all. rng_seed=-1, the default, is one
# fixed seed and not a random one: a new game object always begins with the same deal.
# Seen: one outcome, [(0, 1.0)]; equal histories [0] with different item pools; the clone's pool differs, too; two new game
# objects without a seed deal alike.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel

game = pyspiel.load_game("negotiation(rng_seed=7)")
kind = game.get_type().chance_mode
one = game.new_initial_state()
outcomes, copy = one.chance_outcomes(), one.clone()
two = game.new_initial_state()
for state in (one, copy, two):
    state.apply_action(0)
print("chance mode", kind, "outcomes", outcomes)
print("histories", one.history(), copy.history(), two.history())
print("equal texts", str(one) == str(copy), str(one) == str(two))
fresh = []
for _ in range(2):
    state = pyspiel.load_game("negotiation").new_initial_state()
    state.apply_action(0)
    fresh.append(str(state))
print("two new games without a seed deal alike", fresh[0] == fresh[1])
assert kind == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC and outcomes == [(0, 1.0)]
assert one.history() == copy.history() == two.history() == [0]
assert len({str(one), str(copy), str(two)}) == 3
assert fresh[0] == fresh[1]
EOF
