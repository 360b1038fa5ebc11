#!/usr/bin/env bash
# Package: open_spiel 2.0.2.
# Behaviour: dark_chess and kriegspiel have the parameters board_size and fen. For a size other than 4 and 8 they ask for a FEN of
# one's own; but the default board of the size is worked out before the parameter is read, so that loading fails with the same
# message when a FEN is passed. Smaller games have to be set up with few pieces on a board of size 4 or 8.
# Also: White, who moves first, is player 1, not player 0, whichever the board.
# Seen: size 6 with a FEN of six rows is refused by both games; sizes 4 and 8 begin from the FEN that is passed, and player 1 moves.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check open_spiel==2.0.2
"$home/venv/bin/python" - 2>/dev/null <<'EOF'
import pyspiel

SIX = "rnqknr/pppppp/6/6/PPPPPP/RNQKNR w - - 0 1"
OTHERS = ((4, "2kr/3p/P3/R1K1 w - - 0 1"), (8, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))
refused, begun = [], []
for name in ("dark_chess", "kriegspiel"):
    try:
        pyspiel.load_game(name, {"board_size": 6, "fen": SIX})
    except pyspiel.SpielError as error:
        refused.append(name)
        print(f"{name}: {error}")
    for size, fen in OTHERS:
        state = pyspiel.load_game(name, {"board_size": size, "fen": fen}).new_initial_state()
        begun.append((str(state) == fen, state.current_player()))
        print(f"{name}, size {size}: {state}, to move: player {state.current_player()}")
raise SystemExit(refused != ["dark_chess", "kriegspiel"] or begun != [(True, 1)] * 4)
EOF
