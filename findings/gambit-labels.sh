#!/bin/sh
# Package: pygambit 16.7.0 and 17.0.0b2 (Gambit), read_efg.
# Behaviour: labels in .efg files are checked, and the rules differ between versions. 16.7 takes printable ASCII alone,
#   17 any UTF-8 without control characters; both refuse a blank at an end and two together. Labels of information sets
#   are unique for a player and labels of nodes in the whole game, or empty; labels of players, moves and outcomes may
#   repeat. Chances must sum to exactly one: three times 0.3333333333 is refused. In titles the escape \\ is read as
#   three backslashes.
# Seen: 16.7.0 takes "plain, repeated move"; 17.0.0b2 takes "plain, letter, repeated move"; both give three backslashes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/read.py" <<'PY'
import io
import sys

import pygambit


def game(title="t", one="a", two="b", node="n", move="l", chances="1/3 1/3 1/3"):
    x, y, z = chances.split()
    return (
        f'EFG 2 R "{title}" {{ "P" }}\n""\n\nc "" 1 "" {{ "x" {x} "y" {y} "z" {z} }} 0\n'
        f'p "n" 1 1 "{one}" {{ "l" "{move}" }} 0\nt "" 1 "o" {{ 1 }}\nt "" 2 "o" {{ 2 }}\n'
        f'p "{node}" 1 2 "{two}" {{ "l" "r" }} 0\nt "" 1\nt "" 2\nt "" 1\n'
    )


cases = {
    "plain": game(one="a b", node="m", move="r"),
    "letter": game(one="\u00e9", node="m", move="r"),
    "line break": game(one="a\nb", node="m", move="r"),
    "blank at the end": game(one="a ", node="m", move="r"),
    "two blanks": game(one="a  b", node="m", move="r"),
    "repeated set": game(two="a", node="m", move="r"),
    "repeated node": game(move="r"),
    "repeated move": game(node="m"),
    "decimals": game(node="m", move="r", chances="0.3333333333 0.3333333333 0.3333333333"),
}
taken = []
for name, text in cases.items():
    try:
        pygambit.read_efg(io.StringIO(text))
    except ValueError as error:
        print(f"{name}: {str(error)[:90]}")
    else:
        taken.append(name)
title = pygambit.read_efg(io.StringIO(game(title="a\\\\b", node="m", move="r"))).title
print(pygambit.__version__, "takes", ", ".join(taken), "- backslashes:", title.count("\\"))
sys.exit(0 if ", ".join(taken) == sys.argv[1] and title.count("\\") == 3 else 1)
PY
for pair in "16.7.0:plain, repeated move" "17.0.0b2:plain, letter, repeated move"; do
    version=${pair%%:*}
    python3 -m venv "$work/$version"
    "$work/$version/bin/pip" install -q "pygambit==$version"
    "$work/$version/bin/python" "$work/read.py" "${pair#*:}"
done
