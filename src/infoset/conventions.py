"""What the moves of a strategy say: which action means which hidden information, and how many bits others learn.

A move of one player, the *sender*, is a signal to another, the *receiver*, who sees it (Lewis 1969).  What the receiver
learns is the mutual information of the action and what the sender knows, given what the receiver knew before.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, LongArray
from infoset.compiled import AnyGame, Compiled
from infoset.evaluation import What, check_what, tabulated
from infoset.names import NOTHING_YET, action_names
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL

POSSIBLE = 1e-9  # smaller probabilities are rounding errors and count as zero
MANY = 12  # signals that are shown as text
CERTAIN = 0.995
NOTHING_SEEN = -1  # in place of an information state

_Situation: TypeAlias = tuple[int, int, int, int]
"""The sender, the receiver, the receiver's information state, and how many moves the sender made before."""


@dataclass(frozen=True)
class Signal:
    """The actions by which a sender tells something to a receiver, in one situation of the receiver."""

    sender: str
    receiver: str
    receiver_knows: tuple[str, ...]
    """What the receiver knows before; several where it makes no difference."""
    probability: float
    """Of such a situation in a game."""
    sender_knows: tuple[str, ...]
    """What the sender may know there, H possibilities."""
    prior: tuple[float, ...]
    """(H,) their probabilities for the receiver."""
    actions: tuple[str, ...]
    """What the receiver can tell apart: actions, or several of them, joined by "or"."""
    strategy: tuple[tuple[float, ...], ...]
    """(H, A) the probabilities of the actions."""
    bits: float
    """What the receiver learns in the mean, in bits."""
    unknown_bits: float
    """The entropy of what the sender knows: ``bits`` cannot be more."""

    def posterior(self, action: str) -> dict[str, float]:
        """Return what the receiver believes after an action that is played there: probabilities above zero."""
        column = np.array(self.prior) * np.array(self.strategy)[:, self.actions.index(action)]
        share = column / column.sum()
        return {h: float(p) for h, p in zip(self.sender_knows, share, strict=True) if p > POSSIBLE}

    def __str__(self) -> str:
        known = " or ".join(self.receiver_knows)
        lines = [
            f"{self.sender} to {self.receiver}, who knows {known}: {self.bits:.2f} of {self.unknown_bits:.2f} bits, "
            f"in {100 * self.probability:.3g} % of games"
        ]
        for k, action in enumerate(self.actions):
            played = float(np.array(self.prior) @ np.array(self.strategy)[:, k])
            if played <= POSSIBLE:
                continue
            means = sorted(self.posterior(action).items(), key=lambda item: -item[1])
            words = " or ".join(h if p > CERTAIN else f"{h} ({100 * p:.0f} %)" for h, p in means)
            lines.append(f"  {action} ({100 * played:.3g} %) means {words}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Conventions:
    """The signals of a strategy, the most informative ones first."""

    game: str
    signals: tuple[Signal, ...]

    def bits(self, sender: str, receiver: str) -> float:
        """Return the bits that a player tells another in a game, in the mean."""
        return sum(s.probability * s.bits for s in self.signals if (s.sender, s.receiver) == (sender, receiver))

    def body(self) -> dict[str, Any]:
        """Return the signals as JSON."""
        return {"game": self.game, "signals": [asdict(signal) for signal in self.signals]}

    def __str__(self) -> str:
        telling = [signal for signal in self.signals if signal.bits > POSSIBLE]
        pairs = dict.fromkeys((signal.sender, signal.receiver) for signal in telling)
        lines = [f"{a} tells {b} {self.bits(a, b):.3f} bits in a game, in the mean" for a, b in pairs]
        lines += ["", *map(str, telling[:MANY])]
        if len(telling) > MANY:
            lines.append(f"and {len(telling) - MANY:,} more; --json lists them all")
        return "\n".join(lines) if telling else "no action tells another player anything"


@checks_arguments
def find_conventions(game: AnyGame, what: What) -> Conventions:
    """Find what the actions of a strategy (whatever ``evaluate`` takes) tell the players who see them.

    Actions after which a receiver may next observe exactly the same count as one, as do those that it does not see.  Of
    teams that draw a joint plan before the game, it is what actions tell who does not know the plan.  Raises
    ``BudgetError`` where the game's tree does not fit, and what ``evaluate`` raises.

    >>> solution = infoset.solve("tiny_hanabi(game=F)", "team-exact")
    >>> found = infoset.find_conventions("tiny_hanabi(game=F)", solution.policy)
    >>> print(found.signals[0].sender, round(found.bits("P1", "P2"), 2))
    P1 0.92
    """
    compiled = Compiled.of(game)
    policy = tabulated(compiled, check_what(what) if isinstance(what, str) else what)
    tree = compiled.tree
    knows, reach = _information(tree), _reach(tree, policy)
    possible: dict[_Situation, dict[int, float]] = {}
    seen: dict[_Situation, dict[str, set[int]]] = {}
    for receiver in range(len(tree.players)):
        next_states = _NextStates(tree, knows[:, receiver])
        for v in np.flatnonzero((tree.infoset >= 0) & (reach > POSSIBLE)).tolist():
            sender, infoset = tree.player(v), int(tree.infoset[v])
            if sender == receiver:
                continue
            key = (sender, receiver, int(knows[v, receiver]), _moves_made(tree, infoset))
            known = possible.setdefault(key, {})
            known[infoset] = known.get(infoset, 0.0) + float(reach[v])
            after = seen.setdefault(key, {})
            for k, name in enumerate(action_names(tree.action_set(infoset))):
                after.setdefault(name, set()).update(next_states.of(int(tree.first_child[v]) + k))
    signals: dict[Any, Signal] = {}
    for key in sorted(possible):
        messages: dict[frozenset[int], list[str]] = {}
        for name, states in seen[key].items():
            messages.setdefault(frozenset(states), []).append(name)
        if len(messages) < 2:
            continue
        signal = _signal(tree, policy, key, possible[key], list(messages.values()))
        same = (key[:2], signal.sender_knows, signal.actions, signal.strategy, *np.round(signal.prior, 9))
        if (before := signals.get(same)) is not None:
            states_of = before.receiver_knows + signal.receiver_knows
            signal = replace(before, receiver_knows=states_of, probability=before.probability + signal.probability)
        signals[same] = signal
    ordered = sorted(signals.values(), key=lambda s: (-round(s.probability * s.bits, 9), s.sender, s.receiver_knows))
    return Conventions(compiled.name, tuple(ordered))


def _signal(
    tree: GameTree, policy: TabularPolicy, key: _Situation, possible: dict[int, float], messages: list[list[str]]
) -> Signal:  # fmt: skip
    sender, receiver, state, _ = key
    infosets, total = sorted(possible, key=tree.key), sum(possible.values())
    actions = tuple(" or ".join(names) for names in messages)
    rows = [_row(tree, policy, s) for s in infosets]
    strategy = np.array([[sum(row.get(name, 0.0) for name in names) for names in messages] for row in rows])
    prior = np.array([possible[s] for s in infosets]) / total
    played = prior @ strategy
    ratio = np.divide(strategy, played, out=np.ones_like(strategy), where=strategy > POSSIBLE)
    bits = float((prior[:, None] * strategy * np.log2(ratio)).sum())
    entropy = float(-(prior * np.log2(prior)).sum())
    return Signal(
        tree.players[sender], tree.players[receiver], (tree.states.key(state) or NOTHING_YET,), total,
        tuple(tree.key(s) for s in infosets), tuple(prior.tolist()), actions,
        tuple(map(tuple, strategy.tolist())), max(0.0, bits), max(0.0, entropy),
    )  # fmt: skip


def _moves_made(tree: GameTree, infoset: int) -> int:
    """Return how many moves the player of an information set made before it."""
    return sum(action is not None for action, _ in tree.states.state(int(tree.infoset_state[infoset])))


class _NextStates:
    """The information states in which a receiver may next observe something, from its states ``knows`` (N,)."""

    def __init__(self, tree: GameTree, knows: LongArray) -> None:
        self.tree, self.knows = tree, knows
        self.found: dict[int, frozenset[int]] = {}

    def of(self, node: int) -> frozenset[int]:
        """Return the states after an action that leads to ``node``; NOTHING_SEEN stands for the end of the game."""
        if node not in self.found:
            first, last = int(self.tree.first_child[node]), int(self.tree.first_child[node + 1])
            if self.knows[node] != self.knows[self.tree.parent[node]]:
                states = frozenset([int(self.knows[node])])
            elif first == last:
                states = frozenset([NOTHING_SEEN])
            else:
                states = frozenset().union(*[self.of(child) for child in range(first, last)])
            self.found[node] = states
        return self.found[node]


def _information(tree: GameTree) -> LongArray:
    """Return (N, n) every player's information state at all nodes."""
    graph, n = tree.graph, len(tree.players)
    knows = np.zeros((len(tree.parent), n), dtype=np.int64)
    knows[ROOT] = np.arange(n)
    for begin, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        nodes = np.arange(begin, end, dtype=np.int32)
        alive = graph.player[tree.position[nodes]] != TERMINAL
        knows[nodes] = knows[tree.parent[nodes]]
        nodes = nodes[alive]
        knows[nodes] = tree.states.successors(knows[tree.parent[nodes]], graph.record[tree.edges(nodes)])
    return knows


def _row(tree: GameTree, policy: TabularPolicy, infoset: int) -> dict[str, float]:
    """Return the probabilities of all actions of an information set; policies leave out those without a choice."""
    names = action_names(tree.action_set(infoset))
    if len(names) == 1:
        return {names[0]: 1.0}
    row = policy.probabilities(int(tree.infoset_player[infoset]), tree.key(infoset))
    return {name: row.get(name, 0.0) for name in names}


def _reach(tree: GameTree, policy: TabularPolicy) -> FloatArray:
    """Return (N,) the probabilities of all nodes under a policy."""
    graph, reach = tree.graph, np.ones(len(tree.parent))
    rows = [_row(tree, policy, s) for s in range(len(tree.infoset_player))]
    behaviour = [[row[name] for name in action_names(tree.action_set(s))] for s, row in enumerate(rows)]
    nodes = np.arange(1, len(tree.parent), dtype=np.int32)
    chance = graph.player[tree.position[tree.parent[nodes]]] == CHANCE
    probability = np.where(chance, graph.probability[tree.edges(nodes)], 1.0)
    for k, v in enumerate(nodes.tolist()):
        above = int(tree.parent[v])
        if tree.infoset[above] >= 0:
            probability[k] = behaviour[int(tree.infoset[above])][v - int(tree.first_child[above])]
        reach[v] = reach[above] * probability[k]
    return reach
