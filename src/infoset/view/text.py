"""Games, trees and strategies as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from infoset.base import Action, Game, InformationState, Policy, own_record
from infoset.names import action_names, policy_key
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.tabular import TabularPolicy
from infoset.tree.factored_form import FactoredForm
from infoset.tree.game_tree import ROOT, GameTree
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.normal_form import plans_table
from infoset.tree.public_form import PublicForm
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.stage_form import StageForm

MAX_TREE_NODES = 400
MAX_ROWS = 200
MOST_PLANS = 40
FRACTIONS = ((10_000, 1e-12), (1_000_000, 0.0))  # the largest denominator, the tolerance
MANY_MOVES = 4
NEGLIGIBLE = 0.0005


def summary_text(tree: GameTree, title: str = "") -> str:
    """Return the size of a game in a few lines, below its name and the ``title`` that its file gives it."""
    per_player = [int((tree.infoset_player == p).sum()) for p in range(len(tree.players))]
    sets = ", ".join(f"{name} {count:,}" for name, count in zip(tree.players, per_player, strict=True))
    return (
        f"{tree.name if title in ('', tree.name) else f'{tree.name}: {title}'}\n"
        f"players            {', '.join(tree.players)}\n"
        f"histories          {len(tree.parent):,} ({tree.num_terminals:,} ends, depth {len(tree.levels) - 2})\n"
        f"information sets   {sum(per_player):,} ({sets})"
    )


def tree_text(tree: GameTree, policy: TabularPolicy | None = None) -> str:
    """Return the tree as an indented outline, with move probabilities where a policy is given."""
    if len(tree.parent) > MAX_TREE_NODES:
        return f"({len(tree.parent):,} histories: too many to draw as a tree)"
    return "\n".join(_outline(tree, policy))


def _outline(tree: GameTree, policy: TabularPolicy | None) -> Iterator[str]:
    todo: list[tuple[int, str, str, str]] = [(ROOT, "", "", "")]
    while todo:
        node, arrow, lead, rest = todo.pop()
        yield f"{lead}{arrow}{_describe(tree, node)}"
        children = list(range(int(tree.first_child[node]), int(tree.first_child[node + 1])))
        exact = tree.player(node) == CHANCE
        labels = [" ".join(branch_words(*branch, exact)) for branch in branches(tree, node, policy)]
        for child, label in reversed(list(zip(children, labels, strict=True))):
            last = child == children[-1]
            todo.append((child, f"{label} → ", rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))


def _describe(tree: GameTree, node: int) -> str:
    player = tree.player(node)
    if player == TERMINAL:
        return "(" + ", ".join(map(number_text, end_payoffs(tree, node))) + ")"
    if player == CHANCE:
        return "chance"
    return f"{tree.players[player]} at {tree.key(int(tree.infoset[node]))!r}"


def end_payoffs(tree: GameTree, node: int) -> list[float]:
    """Return every player's payoff at a terminal history."""
    payoffs: list[float] = tree.graph.payoffs[tree.graph.content[tree.position[node]]].tolist()
    return payoffs


def branches(tree: GameTree, node: int, policy: TabularPolicy | None = None) -> list[tuple[str, float | None]]:
    """Return the moves at a node, with their probabilities where these are known."""
    player, position = tree.player(node), int(tree.position[node])
    if player == TERMINAL:
        return []
    graph = tree.graph
    actions = action_names(graph.action_sets[graph.content[position]])
    if player == CHANCE:
        edges = slice(int(graph.first_edge[position]), int(graph.first_edge[position + 1]))
        return list(zip(actions, graph.probability[edges].tolist(), strict=True))
    if policy is None or len(actions) == 1:
        return [(action, None) for action in actions]
    row = policy.probabilities(player, tree.key(int(tree.infoset[node])))
    return [(action, row.get(action, 0.0)) for action in actions]


def branch_words(action: str, probability: float | None, exact: bool) -> tuple[str, ...]:
    """Return the label of an edge: the move and its probability; chance probabilities are ``exact``."""
    if probability is None:
        return (action,)
    return action, number_text(probability, fraction=True) if exact else f"{probability:.3f}"


def number_text(value: float, fraction: bool = False) -> str:
    """Return a number in its usual notation: 3, 0.25, 1/3; with ``fraction`` 1/4 as well.

    A fraction must match the value to 12 digits or, where its denominator is large, to the last bit.
    """
    short = f"{value:g}"
    if float(short) == value and (value.is_integer() or not fraction):
        return short
    for largest, tolerance in FRACTIONS:
        found = Fraction(value).limit_denominator(largest)
        if abs(float(found) - value) <= tolerance:
            return str(found)
    return short


def plans_text(form: SequenceForm, policy: CorrelatedPolicy) -> str:
    """Return the plans that each lottery draws with their probabilities, the likeliest first.

    The plans of a lottery's members are given by their moves.
    """
    lines = []
    for number, lottery in enumerate(policy.lotteries):
        who = "+".join(form.players[player] for player in lottery.members)
        count = len(lottery.probabilities)
        lines.append(f"{who}: one of {count:,} plans" if count > 1 else f"{who}: one plan")
        order = np.argsort(-lottery.probabilities, kind="stable")[:MOST_PLANS].tolist()
        drawn = [[k if n == number else 0 for n in range(len(policy.lotteries))] for k in order]
        plans = [policy.table(one).plan(form) for one in drawn]
        table = plans_table(form, lottery.members, lottery.probabilities[order].tolist(), plans)
        lines += [f"  {line}" for line in table]
        if count > MOST_PLANS:
            lines.append(f"  … and {count - MOST_PLANS:,} more")
    return "\n".join(lines)


def policy_text(game: SequenceForm | GameTree, policy: TabularPolicy) -> str:
    """Return a strategy as a table: one line per information set, a bar for the probability of each move.

    Where there are many moves, those that are hardly ever played are left out.
    """
    rows = policy.rows_on(game)
    lines: list[str] = []
    width = min(60, max((len(row.key) for row in rows), default=0))
    last = -1
    for number, row in enumerate(rows):
        if number == MAX_ROWS:
            lines.append(f"… {len(rows) - number:,} more information sets")
            break
        if row.player != last:
            lines.append(game.players[row.player])
            last = row.player
        lines.append(_row_text(row.key, width, row.actions, row.probabilities))
    return "\n".join(lines)


def _row_text(key: str, width: int, actions: Sequence[str], row: Sequence[float]) -> str:
    """Return the line of an information set with the moves that are played there."""
    played = [(a, p) for a, p in zip(actions, row, strict=True) if len(actions) <= MANY_MOVES or p >= NEGLIGIBLE]
    cells = "   ".join(f"{a} {p:.3f} {_bar(p)}" for a, p in played)
    return f"  {key:<{width}}  {cells}".rstrip()


def factored_text(factored: FactoredForm, policy: Policy | None = None, instead: str = "") -> str:
    """Return the text about a game whose histories are not listed.

    It gives the game's size, then the first information sets where a policy is given, or the text ``instead``.
    """
    rules, form = factored.rules, factored.form
    histories, ends, _ = rules.sizes
    per_player = [f"{name} {len(form.player_infosets(p)):,}" for p, name in enumerate(rules.players)]
    order = factored.group.order
    alike = f"; of those that {order} symmetries make equal one is counted" if order > 1 else ""
    lines = [
        rules.name,
        f"players            {', '.join(rules.players)}",
        f"histories          {histories:,.0f} ({ends:,.0f} ends), in factored form",
        f"cores              {len(rules.arrays.mover):,}, with private states {len(rules.arrays.action_set):,}",
        f"information sets   {form.num_infosets:,} with a choice ({', '.join(per_player)}){alike}",
        f"form               {form.nbytes / 1e6:,.0f} MB",
        "",
    ]
    if instead:
        return "\n".join([*lines, instead])
    if policy is None:
        return "\n".join([*lines, f"({histories:,.0f} histories: too many to draw as a tree)"])
    for player, name in enumerate(rules.players):
        lines.append(name)
        listed = factored.first_infosets(player, MAX_ROWS // len(rules.players))
        keys = [policy_key(known, "") for known, _ in listed]
        for key, (known, action_set) in zip(keys, listed, strict=True):
            row = policy.action_probabilities(player, known, action_set) or [1 / len(action_set)] * len(action_set)
            lines.append(_row_text(key, max(map(len, keys)), action_names(action_set), row))
        lines.append(f"… {len(form.player_infosets(player)) - len(listed):,} more information sets")
    return "\n".join(lines)


def stages_text(game: Game, form: StageForm, policy: Policy | None = None) -> str:
    """Return the size of a game whose states are solved as stages, and the strategies of its first decisions."""
    lines = [
        form.name,
        f"players            {', '.join(form.players)}",
        f"stages             {form.num_stages:,}, of {form.num_cells:,} joint actions; both players observe everything",
        "",
    ]
    if policy is None:
        return "\n".join([*lines, f"({form.num_stages:,} stages: too many to draw as a tree)"])
    for player, name in enumerate(form.players):
        lines.append(name)
        firsts = list(_first_decisions(game, player))
        keys = [policy_key(infostate, "") for infostate, _ in firsts]
        for key, (infostate, action_set) in zip(keys, firsts, strict=True):
            row = policy.action_probabilities(player, infostate, action_set) or [1 / len(action_set)] * len(action_set)
            lines.append(_row_text(key, max(map(len, keys)), action_names(action_set), row))
    return "\n".join([*lines, "… and so at every later stage"])


def _first_decisions(game: Game, player: int) -> Iterator[tuple[InformationState, tuple[Action, ...]]]:
    """Yield a player's information states and actions at the first decisions, after at most one step of chance."""
    step = game.start()
    begins = own_record(None, step.observation(player))
    past: InformationState = () if begins is None else (begins,)
    if action_set := step.state.legal_actions(player):
        yield past, action_set
        return
    nobody = (None,) * len(game.players)
    for outcome, _ in step.state.chance_outcomes(nobody):
        later = step.state.play(nobody, outcome)
        seen = own_record(None, later.observation(player))
        if action_set := later.state.legal_actions(player):
            yield past if seen is None else (*past, seen), action_set


def spot_text(name: str, form: PublicForm) -> str:
    """Return the size of a hold'em spot whose histories are not listed."""
    return "\n".join([
        name,
        f"players            {', '.join(form.players)}",
        f"histories          {form.num_histories:,.0f}, in vector form",
        f"information sets   {form.num_infosets:,} with a choice; of those that suits alone tell apart one is counted",
    ])  # fmt: skip


def _bar(probability: float, width: int = 10) -> str:
    eighths = round(probability * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)
