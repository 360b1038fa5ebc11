#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: str(game) is a name that load_game takes back for most games, also for misere and cached_tree, but not for all
# wrappers. restricted_nash_response(game=kuhn_poker()) calls itself rnr_kuhn_poker(players=2), which is no registered game;
# normal_form_extensive_game(game=kuhn_poker()) calls itself normal_form_extensive_game(), which lacks its inner game. Whoever
# stores games by str(game) or game.serialize() must keep the text that the game was loaded by.
# Seen: of four wrappers of kuhn_poker the names of two are loaded again, those of the other two are refused.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel

again = {}
for word in ("misere", "cached_tree", "restricted_nash_response", "normal_form_extensive_game"):
    name = str(pyspiel.load_game(f"{word}(game=kuhn_poker())"))
    try:
        again[name] = str(pyspiel.load_game(name)) == name
    except pyspiel.SpielError as error:
        again[name] = str(error).splitlines()[0].partition(".")[0]
    print(name, again[name])
assert again == {
    "misere(game=kuhn_poker())": True,
    "cached_tree(game=kuhn_poker(players=2))": True,
    "rnr_kuhn_poker(players=2)": "Unknown game 'rnr_kuhn_poker'",
    "normal_form_extensive_game()": "Missing parameter game",
}
EOF
