"""Random game trees with information sets, written as Gambit's ``.efg`` text: small, of any sum, with perfect recall."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from infoset.formats.efg import EfgGame, parse_efg

CHANCE_PLAYER = 0


@dataclass
class Node:
    """A node; ``player`` is counted from 1, ``CHANCE_PLAYER`` for chance, -1 at an end."""

    own: dict[int, tuple[tuple[int, int], ...]]
    """Each player's own choices so far, as pairs of an information set and a move."""
    player: int = -1
    infoset: int = 0
    children: list[Node] = field(default_factory=list)


def random_tree(seed: int, players: int, actions: int = 16, integers: bool = False) -> EfgGame:
    """Return a game whose players have about ``actions`` moves together at their information sets.

    Ends grow into decisions of two or three moves, one after the other; a decision joins an information set of its
    player with equal own choices before it where one is found and a coin says so.  Payoffs are drawn evenly from
    [-10, 10], to three decimals or, with ``integers``, whole, which makes ties likely.
    """
    rng = random.Random(f"tree {seed} {players} {actions}")
    root = Node(dict.fromkeys(range(1, players + 1), ()))
    ends, sets, count, chance_nodes = [root], list[tuple[int, int, tuple[tuple[int, int], ...]]](), 0, 0
    while count < actions:
        node = ends.pop(rng.randrange(len(ends)))
        if node is not root and rng.random() < 0.15:
            chance_nodes += 1
            node.player, node.infoset, size = CHANCE_PLAYER, chance_nodes, 2
        else:
            node.player = rng.randint(1, players)
            own = node.own[node.player]
            fits = [k for k, (player, _, past) in enumerate(sets) if (player, past) == (node.player, own)]
            if fits and rng.random() < 0.7:
                node.infoset = rng.choice(fits)
            else:
                node.infoset = len(sets)
                sets.append((node.player, rng.choice((2, 2, 2, 3)), own))
                count += sets[-1][1]
            size = sets[node.infoset][1]
        for action in range(size):
            own = dict(node.own)
            if node.player > 0:
                own[node.player] = (*own[node.player], (node.infoset, action))
            node.children.append(Node(own))
        ends += node.children
    lines = ['EFG 2 R "random" { ' + " ".join(f'"P{player}"' for player in range(1, players + 1)) + " }"]
    outcome = 0

    def write(node: Node) -> None:
        nonlocal outcome
        names = [f'"{chr(ord("a") + k)}"' for k in range(len(node.children))]
        if node.player < 0:
            outcome += 1
            paid = [rng.randint(-10, 10) if integers else round(rng.uniform(-10, 10), 3) for _ in range(players)]
            lines.append(f't "" {outcome} "" {{ {" ".join(map(str, paid))} }}')
        elif node.player == CHANCE_PLAYER:
            first = rng.randint(1, 9)
            lines.append(f'c "" {node.infoset} "" {{ {names[0]} {first}/10 {names[1]} {10 - first}/10 }} 0')
        else:
            lines.append(f'p "" {node.player} {node.infoset + 1} "s{node.infoset}" {{ {" ".join(names)} }} 0')
        for child in node.children:
            write(child)

    write(root)
    return EfgGame(parse_efg("\n".join(lines)), f"random tree {seed} of {players}")
