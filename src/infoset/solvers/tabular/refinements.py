"""Checks of solution concepts that a profile satisfies: Nash, subgame perfect, undominated, sequential, quasi-perfect.

A player's beliefs at sets that are never reached depend on which mistakes would lead there.  For two players these are
found step by step: a linear program finds the mistakes of the opponent that can be the likeliest ones while the
player's behaviour stays optimal, the next one the next likeliest, and so on, until every move of the opponent is
included.  Admitting more mistakes in a step never restricts later steps, so that no step is undone.

- *Subgame perfect* (Selten 1965): an equilibrium in each subgame.
- *Undominated*: each strategy is a best response to some mixture of full support of the opponent; for two players these
  are the equilibria that are perfect in the normal form (van Damme 1991, theorem 3.2.2).
- *Sequential* (Kreps & Wilson 1982): optimal at each information set under beliefs that are limits.
- *Quasi-perfect* (van Damme 1984): optimal at each information set also against the opponent's later mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from infoset import status
from infoset.base import BoolArray, FloatArray, LongArray
from infoset.errors import UnsupportedGameError
from infoset.solvers.metrics import evaluate_plan
from infoset.solvers.tabular.mistakes import GAINS, Mistakes, least, never_best
from infoset.solvers.tabular.profile import Profile, levels_below
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import TERMINAL
from infoset.tree.kernels import expect_up, gradient
from infoset.tree.sequence_form import SequenceForm

ROUNDING = 1e-14  # of the range of payoffs


@dataclass(frozen=True)
class Finding:
    """Whether a profile satisfies a concept, ``None`` where that is undecided, and where or why."""

    concept: str
    holds: bool | None
    about: str

    def __str__(self) -> str:
        answer = "undecided" if self.holds is None else "yes" if self.holds else "no"
        return f"{self.concept:<17} {answer:<9}  {self.about}"


@dataclass(frozen=True)
class ProfileCheck:
    """The findings on a profile by concept, from the weakest on."""

    game: str
    findings: tuple[Finding, ...]

    def __getitem__(self, concept: str) -> Finding:
        return next(one for one in self.findings if one.concept == concept)

    def __str__(self) -> str:
        return "\n".join(str(one).rstrip() for one in self.findings)


def check_strategy(form: SequenceForm, tree: GameTree, strategy: FloatArray) -> ProfileCheck:
    """Check which of five solution concepts the behaviour (S,) of all players satisfies, see ``check_profile``."""
    with status.during("checking the profile"):
        profile = Profile.of(form, tree, strategy)
        nash, dominated = _nash(profile), _decided(profile, "undominated")
        found = [nash, _subgame_perfect(profile), dominated]
        if nash.holds:
            sequential = _decided(profile, "sequential")
            stronger = _decided(profile, "quasi-perfect") if sequential.holds is not False else sequential
            found += [sequential, replace(stronger, concept="quasi-perfect")]
        else:
            found += [Finding(name, False, "no equilibrium") for name in ("sequential", "quasi-perfect")]
    return ProfileCheck(form.name, tuple(found))


def _nash(profile: Profile) -> Finding:
    found = evaluate_plan(profile.form, profile.plan)
    gains = np.subtract(found.best_response_values, found.values)
    worst = int((gains / profile.scales).argmax())
    if gains[worst] <= GAINS * profile.scales[worst]:
        return Finding("Nash", True, f"no player gains more than {max(float(gains[worst]), 0.0):.2g}")
    return Finding("Nash", False, f"{profile.form.players[worst]} gains {gains[worst]:.6g} by its best response")


# Subgames


def _subgame_perfect(profile: Profile) -> Finding:
    """Check each subgame, where smaller subgames in it have their values under the profile."""
    tree, form = profile.tree, profile.form
    roots = _roots(profile)
    count = int(roots.sum()) - 1
    value = profile.values
    region = np.arange(len(tree.parent))
    for nodes, above in levels_below(tree):
        region[nodes] = np.where(roots[nodes], nodes, region[above])
    worst = (0.0, 0, 0)
    for player in range(form.num_players):
        gains = _gains_by_region(profile, player, roots, region, value)
        node = int(gains.argmax())
        worst = max(worst, (float(gains[node] / profile.scales[player]), player, node))
    relative, player, node = worst
    if relative > GAINS:
        gain = relative * float(profile.scales[player])
        history = " ".join(map(str, tree.history(node)))
        where = f"in the subgame after {history}" if history else "in the game as a whole"
        return Finding("subgame-perfect", False, f"{form.players[player]} gains {gain:.6g} {where}")
    games = "no subgame but the game itself" if not count else f"{count:,} proper subgame{'s' * (count != 1)}"
    return Finding("subgame-perfect", True, games)


def _roots(profile: Profile) -> BoolArray:
    """Return (N,) the roots of subgames: no information set lies partly among the descendants."""
    tree, sets = profile.tree, profile.set_of
    size, entered = np.ones(len(tree.parent), dtype=np.int64), np.zeros(len(tree.parent), dtype=np.int64)
    for nodes, above in reversed(levels_below(tree)):
        np.add.at(size, above, size[nodes])
    for nodes, above in levels_below(tree):
        before = np.cumsum(size[nodes]) - size[nodes]
        entered[nodes] = entered[above] + 1 + before - before[tree.first_child[above] - nodes[0]]
    inside = sets >= 0
    least = np.full(profile.form.num_infosets, len(size))
    most = np.full(profile.form.num_infosets, -1)
    np.minimum.at(least, sets[inside], entered[inside])
    np.maximum.at(most, sets[inside], entered[inside])
    first, last = entered.copy(), entered.copy()
    first[inside], last[inside] = least[sets[inside]], most[sets[inside]]
    for nodes, above in reversed(levels_below(tree)):
        np.minimum.at(first, above, first[nodes])
        np.maximum.at(last, above, last[nodes])
    chooses = tree.graph.player[tree.position] != TERMINAL
    roots: BoolArray = (first >= entered) & (last < entered + size) & chooses & (profile.reach > 0)
    roots[0] = True
    return roots


def _gains_by_region(
    profile: Profile, player: int, roots: BoolArray, region: LongArray, value: FloatArray
) -> FloatArray:
    """Return (N,), at roots of subgames, the gain by a best response that leaves smaller subgames as they are."""
    tree, form, a = profile.tree, profile.form, profile.form.arrays
    chance, mover = profile.probabilities, tree.graph.player[tree.position]
    weight = np.ones(len(tree.parent))
    for nodes, above in levels_below(tree):
        weight[nodes] = weight[above] * np.where(mover[above] == player, 1.0, chance[nodes])
        inner = nodes[roots[nodes]]
        weight[inner] = 1.0
    ends = np.flatnonzero(mover == TERMINAL)
    inner = np.flatnonzero(roots)[1:]
    above = tree.parent[inner].astype(np.int64)
    leads = weight[above] * np.where(mover[above] == player, 1.0, chance[inner])
    where = np.concatenate([region[ends], region[above]])
    sequence = profile.sequence_at[np.concatenate([ends, inner]), player].astype(np.int64)
    paid = np.concatenate([weight[ends] * value[ends, player], leads * value[inner, player]])
    owner = form.infoset_of
    node_of = np.append(tree.infoset_node[form.tree_infoset], 0)  # any node where there is no set
    home = np.where(owner >= 0, region[node_of[owner]], -1)  # the region of each sequence
    at_sequence = np.bincount(sequence, np.where(home[sequence] == where, paid, 0.0), form.num_sequences)
    at_root = np.bincount(where, np.where(home[sequence] == where, 0.0, paid), len(tree.parent))
    for k in reversed(form.player_infosets(player)):
        first = int(a.first[k])
        best, parent = at_sequence[first : first + int(a.size[k])].max(), int(a.parent[k])
        if home[parent] == home[first]:
            at_sequence[parent] += best
        else:
            at_root[home[first]] += best
    return np.where(roots, at_root - value[:, player], 0.0)


# Beliefs


def _decided(profile: Profile, concept: str) -> Finding:
    """Check a concept; the finding is undecided where HiGHS fails."""
    try:
        return _undominated(profile) if concept == "undominated" else _rational(profile, concept)
    except UnsupportedGameError as error:
        return Finding(concept, None, str(error))


def _undominated(profile: Profile) -> Finding:
    """Check that plans are best responses to some plan of the opponent in which every sequence has weight."""
    form = profile.form
    if form.num_players != 2:
        return (
            _undecided(profile, "undominated")
            if (nash := _nash(profile)).holds
            else replace(nash, concept="undominated")
        )
    for player in range(2):
        missing = never_best(profile, player)
        if len(missing):
            about = f"{form.players[player]} has something that is never worse, and better "
            opponent = form.player_sequences(1 - player).start + int(missing[0])
            infoset = int(form.infoset_of[opponent])
            if infoset < 0:
                return Finding("undominated", False, about + "against every strategy of the other")
            where = f"where {profile.set_name(infoset)} plays {profile.action_name(opponent)}"
            return Finding("undominated", False, about + where)
    return Finding("undominated", True, "")


def _rational(profile: Profile, concept: str) -> Finding:
    """Check that behaviour is optimal at each information set, under beliefs that follow from mistakes.

    For ``quasi-perfect`` the mistakes may go on after the information set.
    """
    form, a = profile.form, profile.form.arrays
    values, infoset_values = np.zeros(form.num_sequences), np.zeros(form.num_infosets)
    for player in range(form.num_players):
        gradient(a, player, profile.plan, values)
        expect_up(a, player, profile.strategy, values, infoset_values)
    reached = profile.reached
    owner = form.infoset_of
    weight = np.append(reached, 0.0)[owner]
    gains = np.where(weight > 0, values - np.append(infoset_values, 0.0)[owner], 0.0)
    scale = np.repeat(profile.scales, np.diff(a.sequences))
    gains = np.where(gains > ROUNDING * scale, gains / np.where(weight > 0, weight, 1.0), 0.0)
    if (gains > GAINS * scale).any():
        better = int((gains / scale).argmax())
        where, action = profile.set_name(int(owner[better])), profile.action_name(better)
        return Finding(concept, False, f"{where} gains {gains[better]:.6g} by {action}")
    for unreached in np.flatnonzero(reached == 0).tolist():
        if (better_action := _never_believed(profile, unreached)) is not None:
            about = f"{profile.set_name(unreached)}: for every belief {better_action} pays more"
            return Finding(concept, False, about)
    if form.num_players != 2:
        return _undecided(profile, concept)
    for player in range(2):
        keep = concept == "quasi-perfect"
        infoset = Mistakes(profile, player, keep, rounded=True).fails()
        if infoset is not None:  # exact profiles need no allowance, which may hide a tie
            infoset = Mistakes(profile, player, keep, rounded=False).fails()
        if infoset is not None:
            why = "mistakes make" if keep else "belief makes" if infoset >= 0 else "consistent beliefs make"
            where = profile.set_name(infoset) if infoset >= 0 else form.players[player]
            return Finding(concept, False, f"{where}: no {why} best what it does")
    return Finding(concept, True, "")


def _never_believed(profile: Profile, infoset: int) -> str | None:
    """Return moves of which, under any belief, one beats the player's behaviour at a set; ``None`` for none."""
    gains = profile.gains_of(infoset) / profile.scales[int(profile.form.infoset_player[infoset])]
    if not len(gains) or (gains.max(axis=1) <= GAINS).any():  # a belief in one history supports the behaviour
        return None
    actions = np.flatnonzero(gains.max(axis=0) > GAINS)
    count = len(gains)
    found = least(
        profile.form, np.append(np.zeros(count), 1.0), A_ub=np.hstack([gains.T, -np.ones((gains.shape[1], 1))]),
        b_ub=np.zeros(gains.shape[1]), A_eq=np.append(np.ones(count), 0.0)[None], b_eq=[1.0],
        bounds=[(0, None)] * count + [(None, None)],
    )  # fmt: skip
    if found[-1] <= GAINS:
        return None
    first = int(profile.form.arrays.first[infoset])
    return " or ".join(profile.action_name(first + action) for action in actions.tolist())


def _undecided(profile: Profile, concept: str) -> Finding:
    """Return the finding for more than two players, or for one, who has no opponents whose mistakes matter."""
    n, unreached = profile.form.num_players, profile.reached == 0
    certain = np.bincount(profile.set_of[profile.set_of >= 0], minlength=len(unreached)) == 1
    open_sets = int((unreached & ~certain).sum())
    if n == 1 or (profile.strategy > 0).all() or (concept == "sequential" and not open_sets):
        return Finding(concept, True, "")
    why = f"not decided for {n} players where mistakes matter"
    if concept == "sequential":
        why += f"; {open_sets:,} set{'s are' if open_sets != 1 else ' is'} not reached"
    return Finding(concept, None, why)
