#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: in hanabi, observation_string does not contain the last turn, which observation_tensor does. One would expect the
# same information in two forms, and the longer text to be the finer. So states that a player reads as one in text are two in
# the tensor, and a game tree whose information sets are keyed by text is coarser than the game that networks play.
# Seen: one colour, two ranks, a card in each hand. Player 0 hints the colour and then the rank of the other's card, or first
# the rank; between these player 1 hints the colour. After the three hints the texts are equal, the tensors differ.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check "open_spiel==2.0.2"
"$home/venv/bin/python" - <<'EOF'
import pyspiel

game = pyspiel.load_game("hanabi(players=2,colors=1,ranks=2,hand_size=1,max_information_tokens=3,max_life_tokens=1)")
states = []
for hints in (("color", "rank"), ("rank", "color")):
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    moves = {state.action_to_string(number): number for number in state.legal_actions()}
    for word in (hints[0], "color", hints[1]):
        moves = {state.action_to_string(number): number for number in state.legal_actions()}
        state.apply_action(next(number for name, number in moves.items() if word in name.lower()))
    states.append(state)
for player in range(2):
    texts = [state.observation_string(player) for state in states]
    tensors = [list(state.observation_tensor(player)) for state in states]
    print(f"player {player}: equal texts: {texts[0] == texts[1]}, equal tensors: {tensors[0] == tensors[1]}")
    assert texts[0] == texts[1] and tensors[0] != tensors[1]
EOF
