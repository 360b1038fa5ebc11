"""Random small game descriptions, stratified by construction: facts, derived relations in layers, rules of a game.

A number gives a text, always the same one.  Negation stands over negation, relations are told apart by their first
argument alone, clauses are recursive within their layer, so that a grounder cannot decide everything on the way.
"""

from __future__ import annotations

from random import Random

from infoset.gdl.checks import ERROR, check
from infoset.gdl.syntax import Description, parse_gdl

CONSTANTS = ("1", "2", "3")
TAGS = ("low", "mid", "top")
VARIABLES = ("?x", "?y", "?z")
Shape = tuple[str, int]  # a literal with {} for its arguments, and how many there are


class _Text:
    """One description being written."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(f"description {seed}")
        self.constants = CONSTANTS[: self.rng.choice((2, 2, 3))]
        self.rules: list[str] = []
        self.tags = 0

    def write(self) -> str:
        rng = self.rng
        players = ("a", "b")[: rng.choice((1, 1, 2))]
        roles = (*players, *(("random",) if rng.random() < 0.5 else ()))
        self.rules += [f"(role {role})" for role in roles]
        static = self.facts()
        static = self.layers(static, "c", rng.randrange(3))
        state: list[Shape] = [("(true (f {}))", 1), ("(true (g {} {}))", 2), ("(true h)", 0)][: rng.choice((1, 2, 3))]
        known = self.layers([*static, *state, *state], "q", rng.randint(1, 4))
        for shape, arity in state:
            inner = shape.removeprefix("(true ")[:-1]
            if arity:
                self.clause(f"(init {inner})", arity, static)
            elif rng.random() < 0.5:
                self.rules.append(f"(init {inner})")
        for role in roles:
            self.rules.append(f"(legal {role} noop)")
            for _ in range(rng.randint(1, 2)):
                self.clause(f"(legal {role} (p {{}}))", 1, known)
        moves: list[Shape] = [(f"(does {role} (p {{}}))", 1) for role in roles]
        moves += [(f"(does {role} noop)", 0) for role in players]
        played = self.layers([*known, *moves, *moves], "r", rng.randrange(3))
        for shape, arity in state:
            inner = shape.removeprefix("(true ")[:-1]
            for _ in range(rng.randint(1, 2)):
                self.clause(f"(next {inner})", arity, played)
        for player in players:
            for value in rng.sample(("0", "30", "50", "100"), rng.randint(1, 3)):
                self.clause(f"(goal {player} {value})", 0, known)
            if rng.random() < 0.7:
                self.clause(f"(sees {player} (o {{}}))", 1, played)
        for _ in range(rng.randint(1, 2)):
            self.clause("terminal", 0, known)
        order = list(self.rules)
        rng.shuffle(order)
        return "\n".join(order)

    def facts(self) -> list[Shape]:
        """A set and a relation between its members, and perhaps a term that is no constant."""
        rng = self.rng
        members = [*self.constants, *(("(s 1)",) if rng.random() < 0.2 else ())]
        self.rules += [f"(d {member})" for member in members]
        self.rules += [f"(e {one} {two})" for one in members for two in members if rng.random() < 0.4] or ["(e 1 2)"]
        return [("(d {})", 1), ("(e {} {})", 2)]

    def layers(self, below: list[Shape], name: str, count: int) -> list[Shape]:
        """More relations, each over those before it; some share a name and differ in their first argument."""
        rng, known = self.rng, list(below)
        for k in range(count):
            arity = rng.choice((0, 1, 1, 1, 2))
            shape = f"({name}{k}{' {}' * arity})"
            if rng.random() < 0.3 and self.tags < len(TAGS):
                shape, arity = f"(t {TAGS[self.tags]} {{}})", 1
                self.tags += 1
            for _ in range(rng.randint(1, 2)):
                self.clause(shape, arity, known, own=(shape, arity) if rng.random() < 0.2 else None)
            if rng.random() < 0.5:  # its complement, and perhaps the complement of that
                for _ in range(rng.choice((1, 1, 2))):
                    known.append((shape, arity))
                    self.rules.append(self.complement(shape, arity, f"(not_{name}{k}_{len(known)}{' {}' * arity})"))
                    shape = f"(not_{name}{k}_{len(known)}{' {}' * arity})"
            known.append((shape, arity))
        return known

    def complement(self, shape: str, arity: int, head: str) -> str:
        names = VARIABLES[:arity]
        if not arity:
            return f"(<= {head} (not {shape}))" if self.rng.random() < 0.5 else f"(<= {head} (d 1) (not {shape}))"
        members = " ".join(f"(d {name})" for name in names)
        return f"(<= {head.format(*names)} {members} (not {shape.format(*names)}))"

    def clause(self, head: str, arity: int, known: list[Shape], own: Shape | None = None) -> None:
        """A safe rule for a head with so many arguments."""
        rng = self.rng
        shapes = [rng.choice(known) for _ in range(rng.choice((1, 1, 2, 3)))] + [own] * (own is not None)
        body = [self.literal(*shape) for shape in shapes if shape is not None]
        bound = [name for name in VARIABLES if any(name in literal for literal in body)]
        arguments = [
            rng.choice(bound) if bound and rng.random() < 0.85 else rng.choice(self.constants) for _ in range(arity)
        ]
        for _ in range(rng.choice((0, 1, 1, 2))):
            shape, size = rng.choice(known)
            inner = shape.format(*(self.known(bound) for _ in range(size)))
            body.append(
                f"(not {inner})" if rng.random() < 0.9 else f"(or (not {inner}) (not {self.ground(known, bound)}))"
            )
        if len(bound) > 1 and rng.random() < 0.2:
            body.append(f"(distinct {bound[0]} {bound[1]})")
        rng.shuffle(body)
        self.rules.append(f"(<= {head.format(*arguments)} {' '.join(body)})")

    def literal(self, shape: str, arity: int) -> str:
        rng = self.rng
        return shape.format(
            *(rng.choice(VARIABLES[:2] if rng.random() < 0.8 else (*self.constants, "?z")) for _ in range(arity))
        )

    def known(self, bound: list[str]) -> str:
        return self.rng.choice(bound) if bound and self.rng.random() < 0.8 else self.rng.choice(self.constants)

    def ground(self, known: list[Shape], bound: list[str]) -> str:
        shape, arity = self.rng.choice(known)
        return shape.format(*(self.known(bound) for _ in range(arity)))


def random_description(seed: int) -> Description:
    """The description of a number; the next text that ``check`` finds sound where the first is not."""
    for attempt in range(100):
        description = parse_gdl(_Text(1000 * seed + attempt).write())
        if not any(defect.severity == ERROR for defect in check(description)):
            return description
    raise AssertionError(f"no sound description from {seed}")
