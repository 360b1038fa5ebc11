#!/bin/sh
# Package: pygambit 16.7.0 and 17.0.0b2 (Gambit), read_gbt: the files that Gambit's window saves.
# Behaviour: a .gbt looks like XML, but the game between <efgfile> and </efgfile> is written as it is, so that labels
#   with & or < make it no XML. Version 16.7 reads it as XML all the same: "B&A" comes back as "BA", and "B<A" is
#   refused as "Not a valid XML document". Version 17 reads what stands there, and leaves "&amp;" as it is, which 16.7
#   turns into "&". A reader that takes the text between the tags gets the labels that were saved.
# Seen: 16.7.0 "BA, refused, B&A"; 17.0.0b2 "B&A, B<A, B&amp;A".
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/read.py" <<'PY'
import sys
from pathlib import Path

import pygambit

seen = []
for label in ("B&A", "B<A", "B&amp;A"):
    file = Path(sys.argv[1]) / "game.gbt"
    file.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gambit:document xmlns:gambit="http://gambit.sourceforge.net/" version="0.1">\n<game>\n<efgfile>\n'
        f'EFG 2 R "t" {{ "P" }}\n""\n\np "" 1 1 "{label}" {{ "l" "r" }} 0\n'
        't "" 1 "a" { 1 }\nt "" 2 "b" { 2 }\n</efgfile>\n</game>\n</gambit:document>\n'
    )
    try:
        text = pygambit.read_gbt(str(file)).to_efg()
    except ValueError:
        seen.append("refused")
        continue
    line = next(line for line in text.splitlines() if line.startswith("p "))
    seen.append(line.split('"')[3])
print(pygambit.__version__, ", ".join(seen))
sys.exit(0 if ", ".join(seen) == sys.argv[2] else 1)
PY
for pair in "16.7.0:BA, refused, B&A" "17.0.0b2:B&A, B<A, B&amp;A"; do
    version=${pair%%:*}
    python3 -m venv "$work/$version"
    "$work/$version/bin/pip" install -q "pygambit==$version"
    "$work/$version/bin/python" "$work/read.py" "$work" "${pair#*:}"
done
