#!/usr/bin/env bash
# Package:  clingo 5.8.0 from PyPI (the grounder gringo inside it), Python's clingo.Observer.
#
# Behaviour: in a program whose recursion passes through negation, gringo may write a rule over an atom before it finds
# that the atom is a fact.  The rule stays, with the atom's number in its body, and so do atoms that then can never hold.
# The observer is told the fact's symbol with atom number 0, as for every fact, so that output_atom gives no name to the
# number in the body.  The only trace of the number is a rule without a body, which looks like those that gringo emits for
# all other facts, whose numbers stand nowhere else.  A reader that takes facts from output_atom and skips rules without a
# body, as all other facts allow, holds "n(1)" below for false and "m(1)" for true.
#
# Seen: "rule [2] :- [-3]" comes before "rule [3] :- []"; the atoms are d(1) 0, n(1) 0, m(1) 2, a(p(1)) 4, does(p(1)) 5.
# No stable model holds m(1), a(p(1)) or does(p(1)), yet symbolic_atoms lists all three, none of them as a fact.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check clingo==5.8.0
cat > "$folder/late.py" <<'PYTHON'
import clingo

PROGRAM = """
d(1).
r(X) :- t(f(X)).
n(X) :- d(X), not r(X).
m(X) :- d(X), not n(X).
a(q(X)) :- r(X).
a(p(X)) :- m(X).
{ does(X) } :- a(X).
x(done) :- does(noop).
{ t(X) } :- x(X).
"""


class Listener(clingo.Observer):
    def __init__(self):
        self.rules, self.atoms = [], {}

    def rule(self, choice, head, body):
        print("rule", list(head), ":-", list(body), "(choice)" if choice else "")
        self.rules.append((tuple(head), tuple(body)))

    def output_atom(self, symbol, atom):
        print("atom", symbol, atom)
        self.atoms[str(symbol)] = atom


heard = Listener()
control = clingo.Control(["0", "--warn=none"])
control.register_observer(heard)
control.add("base", [], PROGRAM)
control.ground([("base", [])])
models = []
control.solve(on_model=lambda model: models.append(sorted(map(str, model.symbols(atoms=True)))))
listed = {str(atom.symbol): atom.is_fact for atom in control.symbolic_atoms}
print("models", models)
print("listed", listed)
late = [head[0] for head, body in heard.rules if not body and any(-head[0] in other for _, other in heard.rules)]
assert heard.atoms["n(1)"] == 0 and len(late) == 1 and late[0] not in heard.atoms.values()
assert ((heard.atoms["m(1)"],), (-late[0],)) in heard.rules
assert models == [["d(1)", "n(1)"]]
assert [listed[atom] for atom in ("n(1)", "m(1)", "a(p(1))", "does(p(1))")] == [True, False, False, False]
PYTHON
"$folder/venv/bin/python" "$folder/late.py"
echo "as described"
