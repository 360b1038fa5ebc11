"""``show``: a game's tree, or a strategy, as text; small games and hold'em hands also as pictures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from infoset.arguments import checks_arguments
from infoset.compiled import AnyGame, Compiled
from infoset.errors import ParameterError, UnknownNameError, shorten
from infoset.evaluation import What, check_what, policy_of, tabulated
from infoset.files import check_file, replace_file
from infoset.formats.hand_tables import check_export, save_hand_table
from infoset.games.holdem import HoldemRules
from infoset.hand_filters import select_hands
from infoset.names import NOTHING_YET
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.view.guide import title_of
from infoset.view.hand_decisions import decisions, decisions_text
from infoset.view.hand_matrix_svg import hand_matrices_svg, hand_table_svg
from infoset.view.hand_text import hand_table_text
from infoset.view.payoff_table import equilibrium_lines, payoff_picture, payoff_table
from infoset.view.pictures import picture_text
from infoset.view.text import factored_text, plans_text, policy_text, summary_text, tree_text


@checks_arguments
def show(
    game: AnyGame,
    what: What | None = None,
    *,
    svg: str | Path | None = None,
    pdf: str | Path | None = None,
    at: str | None = None,
    hands: str | None = None,
    export: str | Path | None = None,
    max_histories: int | None = None,
) -> str:
    """Show a game's tree, or a strategy (whatever ``evaluate`` takes), as text; small trees also as pictures in files.

    In an ``svg`` file a strategy of hold'em is drawn as matrices of hands, one for each decision.  With ``at`` (the
    actions before, such as ``check, bet 50``, or ``start``) one decision of it is shown with its hands, with ``hands``
    (a filter of ``hand_filters``) some of them; ``export`` writes them to a ``.csv`` or ``.json`` file.  Raises
    ``BudgetError`` for a game whose tree does not fit, ``UnknownNameError`` for a decision that does not exist, and
    what ``evaluate`` raises.

    >>> print(infoset.show("kuhn_poker", "random").splitlines()[0])
    kuhn_poker
    """
    shown = show_first(game, what, svg=svg, pdf=pdf, at=at, hands=hands, export=export, max_histories=max_histories)
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
    at: str | None = None,
    hands: str | None = None,
    export: str | Path | None = None,
    max_histories: int | None = None,
) -> Shown:
    """Do what ``show`` does, but leave writing the files to the caller."""
    for file in (svg, pdf, export):
        if file is not None:
            check_file(Path(file))
    if export is not None:
        check_export(export)
    if isinstance(what, str):
        what = check_what(what)
    compiled = Compiled.of(game, max_histories)
    if (at, hands, export) != (None, None, None):
        return _show_decision(compiled, what, at or NOTHING_YET, hands or "", svg, export)
    decided, pictures = Shown("") if what is None else _show_hands(compiled, what, svg)
    if decided:
        svg = None
    made_so = isinstance(what, FactoredPolicy) and not compiled.made_whole and compiled.histories > compiled.limit
    drawn = svg is not None or pdf is not None
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
    found = decisions(compiled.game, policy_of(what, compiled))
    text = decisions_text(compiled.game.players, found)
    if svg is None:
        return text, ()
    return text, (_writer(svg, hand_matrices_svg(compiled.game.name, found, compiled.game.players)),)


def _show_decision(
    compiled: Compiled, what: What | None, at: str, hands: str, svg: str | Path | None, export: str | Path | None
) -> Shown:
    """Show the hands of one decision, or some of them.  Raises ``ParameterError`` for other games."""
    if what is None or compiled.only_form or not isinstance(compiled.game, HoldemRules):
        raise ParameterError(f"{compiled.name}: a decision with its hands is shown of a strategy of hold'em alone")
    players = compiled.game.players
    found = {
        table.where.removeprefix("after ") or NOTHING_YET: table
        for table in decisions(compiled.game, policy_of(what, compiled))
    }
    wanted = ", ".join(" ".join(action.split()) for action in at.split(","))
    if wanted not in found:
        raise UnknownNameError("decision", wanted, found)
    every = found[wanted]
    table = every.take(select_hands(every, hands))
    if not table.hands:
        raise ParameterError(f"hands={shorten(hands)!r}: none of the {len(every.hands):,} hands here meets this")
    writers = [] if svg is None else [_writer(svg, hand_table_svg(table, players))]
    if export is not None:
        writers.append(lambda: save_hand_table(table, export))
    return Shown(hand_table_text(table, players), tuple(writers))


def _writer(file: str | Path, picture: str) -> Callable[[], object]:
    return lambda: replace_file(Path(file), lambda out: out.write(picture.encode()))
