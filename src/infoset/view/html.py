"""Notebook representations of games, states, strategies, figures, matches and tournaments as self-contained HTML.

Texts from outside are escaped, and long ones cut; no game is enumerated for its picture.  The colours are those of the
notebook; pictures drawn for print (trees, boards, cross tables) have a white background.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoset.base import Action, Game, State
from infoset.catalog import about
from infoset.errors import BudgetError, InfosetError, UnsupportedGameError, shorten
from infoset.formats.efg import EfgGame
from infoset.games.rules import seats
from infoset.names import action_names
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.view.action_colors import action_colors
from infoset.view.curve_svg import Curve, curve_svg
from infoset.view.guide import title_of
from infoset.view.markup import LONGEST, Html, figures, head, hue, name_cell, shown, table, tag
from infoset.view.match_text import series_rows
from infoset.view.payoff_table import equilibrium_lines, is_payoff_table, payoff_picture, payoff_table
from infoset.view.pictures import view_hook
from infoset.view.text import MAX_TREE_NODES
from infoset.view.tournament_svg import tournament_svg
from infoset.view.tournament_text import standing_rows
from infoset.view.tree_picture import tree_svg
from infoset.view.watch_page import watch_page

if TYPE_CHECKING:
    from infoset.arena.standings import Standings
    from infoset.learn.learner import Epoch
    from infoset.match.replay import Match
    from infoset.match.series import Series
    from infoset.solvers.job import Point
    from infoset.solvers.metrics import Evaluation
    from infoset.solving import Solution

ROWS = 30  # of a policy that are shown, for all players together
FIRST_ROWS = 12  # of a policy that is part of a larger view
MOVES = 12  # of a list of legal moves
COLUMNS = 8  # of a policy; where there are more moves, only the likeliest are listed
LIKELIEST = 4
PLAYERS = 64
FLOOR = 1e-17
PLAYER_HEIGHT = 660  # pixels
MOST_PAGE = 4_000_000  # letters of a page embedded in a notebook


def game_html(game: Game, sizes: Mapping[str, str], *pictures: str) -> str:
    """Return a game's name, players and known sizes as HTML, without calling its rules."""
    facts = [("players", _cut(game.players, MOVES)), *sizes.items()]
    parts = [tag("p", line)] if (line := about(game.name)) else []
    called = title_of(game)
    kind = "game" if called in ("", game.name) else f"game, {game.name}"
    payoffs = _payoffs(game) if is_payoff_table(game) else Html()
    return shown(head(called or game.name, kind), *parts, figures(facts), payoffs, *map(paper, pictures))


def efg_html(game: EfgGame) -> str:
    """Return a game of a file as HTML, with a picture of its tree where that is small."""
    small = len(game.efg.nodes) <= MAX_TREE_NODES and len((tree := GameTree.of(game)).parent) <= MAX_TREE_NODES
    return game_html(game, game.sizes(), *([tree_svg(tree)] if small else []))


def _payoffs(game: Game) -> Html:
    """Return the payoff table of a small one-shot game: best responses in bold, with its equilibria beside it."""
    payoffs = payoff_table(game)
    if payoffs is None:
        return Html()
    picture = payoff_picture(payoffs)
    rows, columns = payoffs.strategies[:2]
    across, down = payoffs.players[1], payoffs.players[0]
    blocks = []
    for one in picture["tables"]:
        top = [name_cell("th", f"{down} \\ {across}"), *(name_cell("th", name, class_="number") for name in columns)]
        body = [[name, *map(_cell_html, line)] for name, line in zip(rows, one["cells"], strict=True)]
        title = [tag("p", one["title"])] if one["title"] else []
        blocks.append(tag("div", *title, table(top, body)))
    lines = equilibrium_lines(game, payoffs)
    said = tag("div", tag("p", tag("b", lines[0])), *(tag("p", line) for line in lines[1:]))
    legend = tag("p", "Bold: a best response to the others' choices.")
    return Html(tag("div", *blocks, said, class_="sides") + legend)


def _cell_html(cell: Mapping[str, Any]) -> Html:
    paid = zip(cell["paid"], cell["best"], strict=True)
    parts = [tag("b", text, style=f"color: {hue(p)}") if best else text for p, (text, best) in enumerate(paid)]
    between = [part for k, part in enumerate(parts) for part in ((", ", part) if k else (part,))]
    return tag("td", *between, class_="number equilibrium" if all(cell["best"]) else "number")


def state_html(state: State, players: Sequence[str] | None = None) -> str:
    """Return a state as HTML: its picture, where its view draws one, each player's legal moves, and the payoffs."""
    draw = view_hook(state, "position_svg")
    pictures = [paper(draw(state))] if draw else []
    return shown(*pictures, _actions(state, players or seats(len(state.returns()))))


def _actions(state: State, players: Sequence[str]) -> Html:
    paid = state.returns()
    if state.terminal:
        rows = [[name, f"{value:+g}"] for name, value in zip(players[:PLAYERS], paid, strict=False)]
        return Html(tag("p", "The game is over.") + table(["player", "payoff"], rows))
    action_sets = [state.legal_actions(player) for player in range(len(players))]
    if not any(action_sets):
        return tag("p", _chance(state, len(players)))
    rows = [
        [name, name_cell("td", _action_set(action_set)), *([f"{value:+g}"] if any(paid) else [])]
        for name, action_set, value in zip(players[:PLAYERS], action_sets, paid, strict=False)
    ]
    return table(["player", tag("th", "moves"), *(["payoff so far"] if any(paid) else [])], rows)


def _chance(state: State, players: int) -> str:
    """Return a sentence about the chance outcomes where no player moves."""
    try:
        answers = state.chance_outcomes((None,) * players)
    except UnsupportedGameError:
        return "Chance draws one of more answers than can be listed."
    if not answers:
        return "Nobody has a choice here."
    words = action_names(tuple([answer for answer, _ in answers]))
    shares = [f"{word} {chance:.3g}" for word, (_, chance) in zip(words, answers, strict=True)]
    return f"Chance moves: {_cut(shares, MOVES)}."


def _action_set(action_set: tuple[Action, ...]) -> str:
    return _cut(action_names(action_set[:MOVES]), MOVES, len(action_set)) if action_set else "waits"


def _cut(words: Sequence[str], most: int, size: int | None = None) -> str:
    size = len(words) if size is None else size
    more = [f"… {size - most:,} more"] if size > most else []
    return ", ".join([*words[:most], *more])


def paper(svg: str) -> Html:
    """Return a picture made for print, on white."""
    return tag("div", Html(svg), class_="paper")


def policy_html(policy: TabularPolicy) -> str:
    """Return a strategy as HTML: a row per information set, a column per move, bars for probabilities.

    Only the beginning of a large one is shown.
    """
    made = policy.made_by.get("method", "")
    about = "policy" + (f" by {made}" if made else "")
    return shown(head(policy.game or "policy", about), _policy(policy, ROWS))


def _policy(policy: TabularPolicy, rows: int) -> Html:
    share = max(rows // max(len(policy.players), 1), 2)
    sides = [tag("div", *_strategy(policy, player, share)) for player in range(min(len(policy.players), PLAYERS))]
    return tag("div", *sides, class_="sides")


def _strategy(policy: TabularPolicy, player: int, rows: int) -> tuple[Html, ...]:
    """Return the rows of one player."""
    name, size = policy.players[player], len(policy.tables[player])
    first = dict(islice(policy.tables[player].items(), rows))
    actions = list(dict.fromkeys(action for row in first.values() for action in row))
    if not size:
        return ()
    if len(actions) <= COLUMNS:
        titles, cells = actions, [[_probability(row, action, actions) for action in actions] for row in first.values()]
    else:
        titles, cells = ["likeliest moves"], [[_likeliest(row, actions)] for row in first.values()]
    body = [[key, *line] for key, line in zip(first, cells, strict=True)]
    found = table([name, *(name_cell("th", title) for title in titles)], body)
    return (found, tag("p", f"… {size - rows:,} more information sets of {name}")) if size > rows else (found,)


def _probability(row: Mapping[str, float], action: str, actions: list[str]) -> Html:
    if action not in row:
        return tag("td", "", class_="chance")
    chance = row[action]
    text = f"{chance:.3f}" if 0 < chance < 1 else f"{chance:g}"
    said = tag("span", text, **({} if chance else {"class_": "none"}))
    bar = _bar([(chance, _colors(row, actions)[action])])
    return tag("td", said, bar, class_="chance", title=f"{shorten(action, LONGEST)}: {chance!r}")


def _likeliest(row: Mapping[str, float], actions: list[str]) -> Html:
    order = sorted((action for action in row if row[action]), key=lambda action: -row[action])
    said = _cut([f"{action} {row[action]:.3f}" for action in order[:LIKELIEST]], LIKELIEST, len(order))
    colors = _colors(row, actions)
    shares = [(row[action], colors[action]) for action in order]
    return tag("td", said, _bar(shares), class_="chance")


def _colors(row: Mapping[str, float], actions: list[str]) -> dict[str, str]:
    """Return the CSS colours of a row's moves, by the order of all ``actions``."""
    names = action_colors(list(row), {action: k for k, action in enumerate(actions)})
    return {action: f"var(--{name})" for action, name in zip(row, names, strict=True)}


def _bar(shares: Iterable[tuple[float, str]]) -> Html:
    """Return a bar of shares of one, one after the other; only numbers enter its styles."""
    filled = [tag("i", style=f"width:{100 * share:.4g}%;background:{color}") for share, color in shares if share]
    return tag("span", *filled, class_="bar")


def solution_html(solution: Solution) -> str:
    """Return a solution as HTML: the figures, the curve, and the beginning of the policy."""
    after = f"{solution.iterations:,} iteration{'s' * (solution.iterations != 1)}, {solution.seconds:.3g} s"
    named = islice(zip(solution.players, solution.values or (), strict=False), PLAYERS)
    facts = [(f"value of {name}", f"{value:+.6g}") for name, value in named]
    facts += _figure("exploitability", solution.exploitability) + _figure("nash_conv", solution.nash_conv)
    if solution.bound is not None:
        facts += [*_figure("bound", solution.bound), *_figure("gap", solution.gap), ("proof", solution.proof)]
    notes = [
        ("chosen because", solution.reason),
        ("not evaluated", solution.why_not),
        ("stopped", f"{solution.stopped}, after {after}"),
    ]
    parts = [tag("p", f"{key}: {text}") for key, text in notes if text]
    policy = solution.policy
    table = _policy(policy, FIRST_ROWS) if isinstance(policy, TabularPolicy) else _policy_kind(policy)
    where = [tag("p", f"run folder: {solution.folder}")] if solution.folder else []
    about = f"solved by {solution.method}"
    return shown(head(solution.game, about), figures(facts), *parts, _curve(solution.curve), table, *where)


def _policy_kind(policy: Any) -> Html:
    return tag("p", f"policy: {type(policy).__name__}, {getattr(policy, 'num_infosets', 0):,} information sets")


def _figure(name: str, value: float | None) -> list[tuple[str, str]]:
    return [] if value is None else [(name, f"{value:.4g}")]


def _curve(points: Sequence[Point]) -> Html:
    """Return the plot of exploitability against iterations, where there are at least two points."""
    known = [
        (p.iteration, max(p.exploitability, FLOOR)) for p in points if p.iteration and p.exploitability is not None
    ]
    if len(known) < 2:
        return Html()
    x, y = zip(*known, strict=True)
    return curve_svg([Curve("", x, y, hue(1))], "iterations", "exploitability", logarithmic=True)


def evaluation_html(evaluation: Evaluation) -> str:
    """Return an evaluation as HTML: the totals, then each player's value, best-response value and gain."""
    best = evaluation.best_response_values
    rows = [
        [
            name,
            f"{value:+.6g}",
            *([f"{reply:+.6g}", f"{max(reply - value, 0.0):.4g}"] if isfinite(reply) else ["–", "–"]),
        ]
        for name, value, reply in islice(zip(seats(len(best)), evaluation.values, best, strict=True), PLAYERS)
    ]
    ends = evaluation.intervals
    words = "exact" if evaluation.exact else "estimates" if ends else "lower bounds of the gains"
    margin = f" ± {evaluation.margin:.2g}" if evaluation.margin and not ends else ""
    margin = f" (95 %: {ends.nash_conv[0]:.4g} to {ends.nash_conv[1]:.4g})" if ends else margin
    facts = _figure("exploitability", evaluation.exploitability) + _figure("epsilon", evaluation.epsilon)
    facts.append(("nash_conv", f"{evaluation.nash_conv:.4g}{margin}"))
    parts = [tag("p", evaluation.reason)] if evaluation.reason else []
    titles = ["player", "value", "best response", "gain"]
    return shown(head("evaluation", words), figures(facts), table(titles, rows), *parts)


def match_html(match: Match) -> str:
    """Return a match as HTML: the agents, their payoffs, and a player to watch the game."""
    end = "" if match.over else " (left before its end)"
    facts = [("steps", f"{len(match.steps):,}{end}"), ("seed", f"{match.seed}")]
    rows = [
        [
            name,
            name_cell("td", agent),
            f"{value:+g}",
            _thought(match, player),
            str(sum(f.player == player for f in match.faults)),
        ]
        for player, (name, agent, value) in enumerate(zip(match.players, match.agents, match.returns, strict=True))
    ]
    titles = ["player", tag("th", "agent"), "payoff", "seconds a move", "faults"]
    return shown(head(match.game, "match"), figures(facts), table(titles, rows[:PLAYERS]), _player(match))


def _player(match: Match) -> Html:
    """Return the page that plays the match, isolated from the notebook.

    Where it cannot be shown, a sentence says why: the game is not available by its name, or the page is too long.
    """
    try:
        page = watch_page(match)
    except InfosetError as error:
        return tag("p", f"To watch it, give the game to infoset.watch: {error}")
    if len(page) > MOST_PAGE:
        return tag("p", "Too long to be shown here: save it, and infoset.watch makes a page of it.")
    style = f"height:{PLAYER_HEIGHT}px"
    return tag(
        "iframe", srcdoc=page, sandbox="allow-scripts", style=style, title=f"{match.game}, the game to be watched"
    )


def _thought(match: Match, player: int) -> str:
    times = [seconds for step in match.steps if (seconds := step.seconds[player]) is not None]
    return f"{sum(times) / len(times):.2g}" if times else "-"


def series_html(series: Series) -> str:
    """Return a series as HTML, with the table that the command line prints."""
    titles, *rows = series_rows(series)
    facts = [("games", f"{series.games:,}"), ("seed", str(series.seed)), ("stopped", series.stopped)]
    return shown(head(series.game, "series"), figures(facts), table(titles, rows[:PLAYERS]))


def standings_html(standings: Standings) -> str:
    """Return the cross table and the ratings as a picture; as a table where there are too many teams for a picture."""
    try:
        return shown(paper(tournament_svg(standings)))
    except BudgetError:
        titles, *rows = standing_rows(standings)
        cut = [row[:4] for row in [titles, *rows[:PLAYERS]]]
        return shown(head(standings.game, "tournament"), table(cut[0], cut[1:]))


def training_html(game: str, method: str, folder: Path, last: Epoch | None, points: Sequence[Epoch]) -> str:
    """Return a training run as HTML: the figures of its last epoch, the losses over time, the name of its agent."""
    facts = (
        [("epochs", f"{last.iteration:,}"), ("games", f"{last.games:,}"), ("states", f"{last.states:,}")]
        if last
        else []
    )
    facts += _figure("value loss", last.value_loss) + _figure("policy loss", last.policy_loss) if last else []
    measured = [p.exploitability for p in points if p.exploitability is not None]
    facts += _figure("exploitability", measured[-1]) if measured else []
    if last and last.share:
        facts.append((f"score in {last.duels} games v {last.opponent}", str(last.share)))
    curves = [
        Curve(word, [x for x, _ in found], [y for _, y in found], hue(k))
        for k, word in enumerate(("value", "policy"))
        if len(
            found := [
                (p.iteration, max(loss, FLOOR)) for p in points if (loss := getattr(p, f"{word}_loss")) is not None
            ]
        )
        > 1
    ]
    picture = curve_svg(curves, "epochs", "loss", logarithmic=True) if curves else Html()
    plays = tag("p", "plays as ", tag("code", f"trained:{folder}"))
    return shown(head(game, f"trained by {method}"), figures(facts), picture, plays)
