"""Conversions of trees and product forms: any tree as a product form, and a product form's map on a tree."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import Action
from infoset.errors import GameRuleError, ParameterError
from infoset.games.product_form import PASS, Answers, Chance, Past, ProductForm, Stage
from infoset.names import format_action
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.information import TreeMap, custom


@checks_arguments
def product_form_of(tree: GameTree) -> ProductForm:
    """Return a finite game as axes in the order of its tree: at each depth one for chance and one for each mover.

    They are named by depth and player, as in ``3:P1``, chance axes by the depth alone.  The movers may differ between
    the histories of one depth: on the axes of the others, and on all after the end, ``PASS`` is the only choice.  The
    tree of the form is this tree again, node by node, with the same keys, except that a move named ``PASS`` that is the
    only one somewhere is skipped too.

    Raises ``ParameterError`` where two players, ``GameRuleError`` where two of a player's sets, have the same name.

    >>> form = infoset.product_form_of(infoset.GameTree.of(infoset.load("kuhn_poker")))
    >>> form.names
    ('0', '1', '2:P1', '3:P2', '4:P1')
    """
    play = _Play(tree)
    axes: list[Chance | Stage] = []
    for depth, (begin, end) in enumerate(zip(tree.levels[:-1], tree.levels[1:], strict=True)):
        movers = np.unique(tree.graph.player[tree.position[begin:end]])
        for mover in movers[movers != TERMINAL].tolist():
            name = play.axis(depth, mover)
            if mover == CHANCE:
                axes.append(Chance(name, play.answers(depth)))
            else:
                axes.append(Stage(name, tree.players[mover], play.actions(mover), play.key(depth, mover)))
    return ProductForm(tree.name, tree.players, tuple(axes), play.payoffs)


class _Play:
    """The functions of the axes: what the tree has at the node that the values chosen so far lead to."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.mover: list[int] = tree.graph.player[tree.position].tolist()
        keys = [tree.key(infoset) for infoset in range(len(tree.infoset_player))]
        self.sets = {at: infoset for infoset, at in enumerate(zip(tree.infoset_player.tolist(), keys, strict=True))}
        if len(self.sets) < len(keys):
            raise GameRuleError(f"{tree.name}: two information sets of one player have the same label")

    def axis(self, depth: int, mover: int) -> str:
        return str(depth) if mover == CHANCE else f"{depth}:{self.tree.players[mover]}"

    def node(self, past: Past, depth: int) -> int:
        """Return the node at ``depth`` that the values before it lead to, or an end on the way."""
        node = ROOT
        for level in range(depth):
            if self.mover[node] == TERMINAL:
                break
            value = past[self.axis(level, self.mover[node])]
            node = int(self.tree.first_child[node]) + _action_set(self.tree, node).index(value)
        return node

    def answers(self, depth: int) -> Callable[[Past], Answers]:
        def answers(past: Past) -> Answers:
            node, tree = self.node(past, depth), self.tree
            if self.mover[node] != CHANCE:
                return (PASS,)
            edges = tree.edges(np.arange(tree.first_child[node], tree.first_child[node + 1]))
            return dict(zip(_action_set(self.tree, node), tree.graph.probability[edges].tolist(), strict=True))

        return answers

    def key(self, depth: int, mover: int) -> Callable[[Past], Action]:
        """Return the function for the key of the mover's information set; ``()`` where it does not move."""

        def key(past: Past) -> Action:
            node = self.node(past, depth)
            return self.tree.key(int(self.tree.infoset[node])) if self.mover[node] == mover else ()

        return key

    def actions(self, mover: int) -> Callable[[Action], tuple[Action, ...]]:
        def actions(key: Action) -> tuple[Action, ...]:
            return (PASS,) if key == () else self.tree.action_set(self.sets[mover, str(key)])

        return actions

    def payoffs(self, history: Past) -> list[float]:
        end, graph = self.node(history, len(self.tree.levels)), self.tree.graph
        paid: list[float] = graph.payoffs[graph.content[self.tree.position[end]]].tolist()
        return paid


def stated_map(tree: GameTree, name: str, players: Collection[int], form: ProductForm) -> TreeMap:
    """Return the observations of the stages of ``form`` as a map on the tree of a form with the same other rules.

    With ``form.seeing(…)`` this states the relaxations of "Progressive hiding" by the names of axes.  Raises
    ``ParameterError`` for the tree of another game.

    >>> from infoset.tree.product_form import stated_map
    >>> form = infoset.product_form_of(infoset.GameTree.of(infoset.load("kuhn_poker")))
    >>> stated_map(infoset.GameTree.of(form), "same", (0, 1), form).size
    12
    """
    seats, states = range(len(form.players)), [form.start().state]
    for node in range(len(tree.parent)):
        mover, state = tree.player(node), states[node]
        action_set = () if mover == TERMINAL else _action_set(tree, node)
        listed = state.chance_outcomes((None,) * len(seats)) if mover == CHANCE else ()
        if tree.players != form.players or action_set != (
            tuple([a for a, _ in listed]) or state.legal_actions(max(mover, 0))
        ):
            history = " ".join(map(format_action, tree.history(node)))
            raise ParameterError(
                f"{tree.name} is no tree of {form.name}: after [{history}] another action set is on offer"
            )
        for action in action_set:
            actions = [action if seat == mover else None for seat in seats]
            states.append(state.play(actions, action if mover == CHANCE else None).state)
    return custom(tree, name, players, lambda node: form.key(states[node], tree.player(node)))


def _action_set(tree: GameTree, node: int) -> tuple[Action, ...]:
    return tree.graph.action_sets[int(tree.graph.content[tree.position[node]])]
