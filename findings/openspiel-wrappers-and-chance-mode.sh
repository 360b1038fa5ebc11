#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: whether a wrapped game samples its chance cannot be read from one place. The registry says SAMPLED_STOCHASTIC
# of misere, zerosum, start_at, cached_tree and others whatever they wrap. A made misere game says what its inner game says.
# A made coop_to_1p game says EXPLICIT_STOCHASTIC even where its inner game samples; one has to look at the type of the inner
# game in get_parameters().
# Seen: misere of kuhn_poker EXPLICIT, registered SAMPLED; misere of bridge_uncontested_bidding SAMPLED; coop_to_1p of
# bridge_uncontested_bidding EXPLICIT, with a chance node of one outcome that leads to different deals.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel

mode = pyspiel.GameType.ChanceMode
registered = {kind.short_name: kind.chance_mode for kind in pyspiel.registered_games()}
inner = "bridge_uncontested_bidding"
kuhn = pyspiel.load_game("misere(game=kuhn_poker())").get_type().chance_mode
misere = pyspiel.load_game(f"misere(game={inner}())").get_type().chance_mode
game = pyspiel.load_game(f"coop_to_1p(game={inner}())")
coop = game.get_type().chance_mode
texts = set()
for _ in range(5):
    state = game.new_initial_state()
    assert state.chance_outcomes() == [(0, 1.0)]
    state.apply_action(0)
    texts.add(str(state))
print("registered: misere", registered["misere"], "inner game", registered[inner])
print("made: misere of kuhn_poker", kuhn, "misere of the inner game", misere, "coop_to_1p of it", coop)
print("different states behind the one outcome of coop_to_1p:", len(texts), "of 5")
assert registered["misere"] == registered[inner] == misere == mode.SAMPLED_STOCHASTIC
assert kuhn == coop == mode.EXPLICIT_STOCHASTIC
assert len(texts) > 1
EOF
