"""``show``: a game's tree, or a strategy, as text; small games and hold'em hands also as pictures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from infoset import sizes
from infoset.arguments import checks_arguments
from infoset.compiled import AnyGame, Compiled
from infoset.errors import ParameterError, UnknownNameError, shorten
from infoset.evaluation import What, check_what, policy_of, tabulated
from infoset.files import check_file, replace_file
from infoset.formats.hand_tables import check_export, save_hand_table, save_hand_tables
from infoset.games.holdem import HoldemRules
from infoset.hand_filters import select_hands
from infoset.names import NOTHING_YET
from infoset.policies.belief_policy import BeliefPolicy
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.policies.stage_policy import StagePolicy
from infoset.spots import SpotTree
from infoset.tree.vector_form import VectorForm
from infoset.tree.vector_walk import CHANCE_NODE
from infoset.view.card_strip import card_strip_svg
from infoset.view.guide import title_of
from infoset.view.hand_decisions import decisions_text, node_text
from infoset.view.hand_matrix_svg import hand_matrices_svg, hand_table_svg
from infoset.view.payoff_table import equilibrium_lines, payoff_picture, payoff_table
from infoset.view.pictures import picture_text
from infoset.view.text import factored_text, plans_text, policy_text, spot_text, stages_text, summary_text, tree_text


class HandOptions(NamedTuple):
    """The choice of a node of a hold'em solution, and of what is shown there."""

    at: str | None = None
    """The actions and cards before, such as ``check, bet 75, call, Qc``, or ``start``."""
    hands: str | None = None
    """A filter of ``hand_filters``."""
    player: str | None = None
    """Whose hands are shown; by default those of the player who acts, or the first player's."""
    measure: str | None = None
    """What the matrix shows, one of ``hand_cells.MEASURES``."""
    export: str | Path | None = None
    """A ``.csv`` or ``.json`` file."""
    street: bool = False
    """Whether all decisions from the node on until the next card are exported."""


NO_OPTIONS = HandOptions()


@checks_arguments
def show(
    game: AnyGame,
    what: What | None = None,
    *,
    svg: str | Path | None = None,
    pdf: str | Path | None = None,
    at: str | None = None,
    hands: str | None = None,
    player: str | None = None,
    measure: str | None = None,
    export: str | Path | None = None,
    street: bool = False,
    max_histories: int | None = None,
) -> str:
    """Show a game's tree, or a strategy (whatever ``evaluate`` takes), as text; small trees also as pictures in files.

    In an ``svg`` file a strategy of hold'em is drawn as matrices of hands, one for each decision.  With ``at`` (the
    actions and cards before, such as ``check, bet 75, call, Qc``, or ``start``) one node of it is shown: the hands of
    the player who acts, or of ``player``, with their ``measure`` (``strategy``, ``ev``, ``equity`` or ``realised``), or
    with ``hands`` (a filter of ``hand_filters``) some of them, and what each card changes that may be dealt next.
    ``export`` writes the hands to a ``.csv`` or ``.json`` file, with ``street`` those of all decisions until the next
    card.  Raises ``BudgetError`` for a game whose tree does not fit, ``UnknownNameError`` for a node that does not
    exist, and what ``evaluate`` raises.

    >>> print(infoset.show("kuhn_poker", "random").splitlines()[0])
    kuhn_poker
    """
    options = HandOptions(at, hands, player, measure, export, street)
    shown = show_first(game, what, svg=svg, pdf=pdf, hands=options, max_histories=max_histories)
    shown.draw()
    return str(shown.text)


class Shown(NamedTuple):
    """The text to show, and functions that write the requested files, which may fail, as on a full disk."""

    text: str | Text
    """Text with colours for a terminal where it is ``Text``."""
    pictures: tuple[Callable[[], object], ...] = ()

    def draw(self) -> None:
        """Write the pictures."""
        for write in self.pictures:
            write()


def show_first(
    game: AnyGame,
    what: What | None = None,
    *,
    svg: str | Path | None = None,
    pdf: str | Path | None = None,
    hands: HandOptions = NO_OPTIONS,
    max_histories: int | None = None,
) -> Shown:
    """Do what ``show`` does, but leave writing the files to the caller."""
    _check_files(svg, pdf, hands.export)
    if isinstance(what, str):
        what = check_what(what)
    compiled = Compiled.of(game, max_histories)
    if hands != NO_OPTIONS:
        return _show_node(compiled, what, hands, svg)
    decided, pictures = ("", ()) if what is None else _show_hands(compiled, what, svg)
    if (decided or svg is None) and pdf is None and compiled.better_in_vector_form:
        form = compiled.vector
        assert isinstance(form, VectorForm)  # as of every game of cards
        return Shown("\n\n".join(filter(None, (spot_text(compiled.name, form), decided))), pictures)
    if decided:
        svg = None
    made_so = isinstance(what, FactoredPolicy) and not compiled.made_whole and compiled.histories > compiled.limit
    drawn = svg is not None or pdf is not None
    if not drawn and _is_shown_by_stages(compiled, what):
        plays = what.on(compiled) if isinstance(what, StagePolicy) else None
        return Shown(stages_text(compiled.game, compiled.stages, plays))
    if not drawn and (made_so or compiled.works_factored):
        shown = None if what is None or decided else policy_of(what, compiled)
        return Shown(factored_text(compiled.factored, shown, decided), pictures)
    policy = None if what is None else tabulated(compiled, what)
    tree = compiled.tree
    payoffs = "" if drawn or compiled.only_form else _show_payoffs(compiled)
    text = payoffs or tree_text(tree)
    if policy is not None:
        played = policy_text(tree if compiled.forgets else compiled.form, policy)
        text = "\n\n".join(filter(None, (payoffs, played)))
    if isinstance(what, CorrelatedPolicy):
        text = f"{plans_text(compiled.form, what)}\n\neach player's own probabilities\n\n{text}"
    if isinstance(what, BeliefPolicy):
        text = f"{what.about}\n\neach player's own probabilities, where the team's plan can lead\n\n{text}"
    if drawn:
        from infoset.view.tree_picture import tree_picture  # brings SciPy

        picture = tree_picture(tree, policy)
        if svg is not None:
            tree_svg = Path(svg)
            pictures += (lambda: replace_file(tree_svg, lambda file: file.write(picture.svg().encode())),)
        if pdf is not None:
            tree_pdf = Path(pdf)
            pictures += (lambda: picture.save_pdf(tree_pdf),)
    title = "" if compiled.only_form else title_of(compiled.game)
    return Shown("\n\n".join([summary_text(tree, title), *([decided] if decided else []), text]), pictures)


def _is_shown_by_stages(compiled: Compiled, what: What | None) -> bool:
    """Return whether a game, or a policy by stages, is shown by its stages: where a tree would be large."""
    if not (what is None or isinstance(what, StagePolicy)) or compiled.made_whole or not compiled.describes_stages:
        return False
    return compiled.stages.num_cells > sizes.STAGES_AS_TREE


def _check_files(svg: str | Path | None, pdf: str | Path | None, export: str | Path | None) -> None:
    """Raise an error for a file that cannot be written, before any work is done."""
    for file in (svg, pdf, export):
        if file is not None:
            check_file(Path(file))
    if export is not None:
        check_export(export)


def _show_payoffs(compiled: Compiled) -> str:
    """Return the payoff table of a small one-shot simultaneous game with its equilibria; empty for other games."""
    table = payoff_table(compiled.game)
    if table is None:
        return ""
    return picture_text(payoff_picture(table, lines=equilibrium_lines(compiled.game, table)))


def _show_hands(compiled: Compiled, what: What, svg: str | Path | None) -> tuple[str, tuple[Callable[[], object], ...]]:
    """Show the decisions of a game of hands in ranges; matrices of hands replace a tree.  Empty for other games."""
    if compiled.only_form or not isinstance(compiled.game, HoldemRules):
        return "", ()
    tree = SpotTree.of(compiled, what)
    found = [node.tables[node.mover] for node in tree.decisions(equity=False)]
    text = decisions_text(compiled.game.players, found)
    if svg is None:
        return text, ()
    return text, (_writer(svg, hand_matrices_svg(compiled.game.name, found, compiled.game.players)),)


def _show_node(compiled: Compiled, what: What | None, options: HandOptions, svg: str | Path | None) -> Shown:
    """Show the hands of a node, or some of them.  Raises ``ParameterError`` for other games."""
    if what is None or compiled.only_form or not isinstance(compiled.game, HoldemRules):
        raise ParameterError(f"{compiled.name}: a decision with its hands is shown of a strategy of hold'em alone")
    if options.street and options.export is None:
        raise ParameterError("street: it goes with export, to write all decisions of a street")
    players, tree = compiled.game.players, SpotTree.of(compiled, what)
    words = [" ".join(word.split()) for word in (options.at or NOTHING_YET).split(",")]
    path = [] if words == [NOTHING_YET] else words
    node = tree.node(path)
    number = max(node.mover, 0) if options.player is None else _number_of(options.player, players)
    every = node.tables[number]
    table = every.take(select_hands(every, options.hands or ""))
    if not table.hands:
        raise ParameterError(
            f"hands={shorten(options.hands or '')!r}: none of the {len(every.hands):,} hands here meets this"
        )
    next_cards = tree.next_cards(path) if node.mover == CHANCE_NODE else ()
    text = node_text(table, node.tables[1 - number], players, options.measure or "strategy", next_cards)
    writers = []
    if svg is not None:
        picture = card_strip_svg(next_cards[number], players) if next_cards else hand_table_svg(table, players)
        writers.append(_writer(svg, picture))
    if (file := options.export) is not None:
        if options.street:
            tables = [one.tables[one.mover] for one in tree.decisions(path)]
            chosen = [one.take(select_hands(one, options.hands or "")) for one in tables]
            writers.append(lambda: save_hand_tables(chosen, file))
        else:
            writers.append(lambda: save_hand_table(table, file))
    return Shown(text, tuple(writers))


def _number_of(player: str, players: tuple[str, ...]) -> int:
    """Return the number of a player, given by its name or by its number from 1."""
    named = dict(zip(map(str, range(1, len(players) + 1)), players, strict=True)).get(player, player)
    if named not in players:
        raise UnknownNameError("player", player, players)
    return players.index(named)


def _writer(file: str | Path, picture: str) -> Callable[[], object]:
    return lambda: replace_file(Path(file), lambda out: out.write(picture.encode()))
