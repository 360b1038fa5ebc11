"""``show``: a game's tree, or a strategy, as text; small games also as pictures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from infoset.arguments import checks_arguments
from infoset.compiled import AnyGame, Compiled
from infoset.evaluation import What, check_what, policy_of, tabulated
from infoset.files import check_file, replace_file
from infoset.games.holdem import HoldemRules
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.view.guide import title_of
from infoset.view.hand_decisions import decisions, decisions_text
from infoset.view.hand_matrix_svg import hand_matrices_svg
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
    max_histories: int | None = None,
) -> str:
    """Show a game's tree, or a strategy (whatever ``evaluate`` takes), as text; small trees also as pictures in files.

    In an ``svg`` file a strategy of hold'em is drawn as matrices of hands, one for each decision.  Raises
    ``BudgetError`` for a game whose tree does not fit, and what ``evaluate`` raises.

    >>> print(infoset.show("kuhn_poker", "random").splitlines()[0])
    kuhn_poker
    """
    shown = show_first(game, what, svg=svg, pdf=pdf, max_histories=max_histories)
    shown.draw()
    return shown.text


class Shown(NamedTuple):
    """The text to show, and functions that write the requested pictures, which may fail, as on a full disk."""

    text: str
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
    max_histories: int | None = None,
) -> Shown:
    """Do what ``show`` does, but leave writing the pictures to the caller."""
    for file in (svg, pdf):
        if file is not None:
            check_file(Path(file))
    if isinstance(what, str):
        what = check_what(what)
    compiled = Compiled.of(game, max_histories)
    hands, pictures = Shown("") if what is None else _show_hands(compiled, what, svg)
    if hands:
        svg = None
    made_so = isinstance(what, FactoredPolicy) and not compiled.made_whole and compiled.histories > compiled.limit
    drawn = svg is not None or pdf is not None
    if not drawn and (made_so or compiled.works_factored):
        shown = None if what is None or hands else policy_of(what, compiled)
        return Shown(factored_text(compiled.factored, shown, hands), pictures)
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
    return Shown("\n\n".join([summary_text(tree, title), *([hands] if hands else []), text]), pictures)


def _show_payoffs(compiled: Compiled) -> str:
    """Return the payoff table of a small one-shot simultaneous game with its equilibria; empty for other games."""
    table = payoff_table(compiled.game)
    if table is None:
        return ""
    return picture_text(payoff_picture(table, lines=equilibrium_lines(compiled.game, table)))


def _show_hands(compiled: Compiled, what: What, svg: str | Path | None) -> Shown:
    """Show the decisions of a game of hands in ranges; matrices of hands replace a tree.  Empty for other games."""
    if compiled.only_form or not isinstance(compiled.game, HoldemRules):
        return Shown("")
    found = decisions(compiled.game, policy_of(what, compiled))
    text = decisions_text(compiled.game.players, found)
    if svg is None:
        return Shown(text)
    file, picture = Path(svg), hand_matrices_svg(compiled.game.name, found, compiled.game.players)
    return Shown(text, (lambda: replace_file(file, lambda out: out.write(picture.encode())),))
