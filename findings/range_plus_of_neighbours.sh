#!/bin/sh
# Packages: eval7 0.1.10 and poker 0.30.0 (PyPI), ranges of hold'em hands written as text.
#
# Behaviour: a plus behind two neighbouring ranks adds nothing.  "T9s+" is T9s alone in both packages, because the plus
# raises the lower card up to the one below the higher.  postflop-solver (Rust; src/range.rs, by its own
# test `range_from_str`) reads the same text as the ladder T9s, JTs, QJs, KQs, AKs, so that a range copied from one
# program to the other silently loses or gains hands: 4 combinations against 20.
# A ladder that is written out, "T9s-54s", is refused by both packages ("Top card mismatch"; "Invalid token"), so that
# the ladder has to be listed hand by hand there.
#
# Output seen:
#   eval7 T9s+ 4 combinations ['T9']
#   eval7 T8s+ 8 combinations ['T8', 'T9']
#   eval7 T9s-54s refused
#   poker T9s+ ['T9s']
#   poker T8s+ ['T8s', 'T9s']
#   poker T9s-54s refused
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check eval7==0.1.10 poker==0.30.0 setuptools==75.8.0
cat > "$folder/look.py" <<'PYTHON'
import sys

import eval7
from poker.hand import Range

seen = []
for text in ("T9s+", "T8s+", "T9s-54s"):
    try:
        hands = [hand for hand, weight in eval7.HandRange(text).hands]
        kinds = sorted({"".join(sorted((str(card)[0] for card in hand), key="AKQJT98765432".index)) for hand in hands})
        seen.append(f"eval7 {text} {len(hands)} combinations {kinds}")
    except Exception:
        seen.append(f"eval7 {text} refused")
for text in ("T9s+", "T8s+", "T9s-54s"):
    try:
        seen.append(f"poker {text} {[str(hand) for hand in Range(text).hands]}")
    except ValueError:
        seen.append(f"poker {text} refused")
print("\n".join(seen))
expected = [
    "eval7 T9s+ 4 combinations ['T9']",
    "eval7 T8s+ 8 combinations ['T8', 'T9']",
    "eval7 T9s-54s refused",
    "poker T9s+ ['T9s']",
    "poker T8s+ ['T8s', 'T9s']",
    "poker T9s-54s refused",
]
sys.exit(seen != expected)
PYTHON
"$folder/venv/bin/python" "$folder/look.py"
