"""The verbs of the command line as Python functions; ``solve``, ``evaluate`` and others stand in their own modules.

Each verb is a function that returns what the command prints or writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infoset import displays
from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.catalog import GDL, game_entries, load, load_named, name_of
from infoset.compiled import AnyGame, Compiled, check_is_game
from infoset.errors import CheckpointError, FormatError, InfosetError, ParameterError, UnsupportedGameError, shorten
from infoset.evaluation import What, check_what, policy_of, tabulated
from infoset.executors import LOCAL, Where, check_executor
from infoset.files import MAX_TEXT_BYTES, SUFFIXES, DamageError, check_file, decode_json, replace_file
from infoset.match.agents import AGENTS
from infoset.match.replay import Match
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.policies.loading import load_policy, policy_file
from infoset.policies.tabular import TabularPolicy
from infoset.registry import Entry
from infoset.solvers.job import Point, Watcher
from infoset.solvers.method import METHODS, OPTIONS, parse_method
from infoset.solving import Solution

if TYPE_CHECKING:
    from infoset.gdl.checks import Defect
    from infoset.solvers.tabular.refinements import ProfileCheck
    from infoset.solvers.tabular.stability import Stability

RECORDS = {"state", "blob"}  # keys that identify a recording of Pommerman's reference


def list_games() -> list[Entry]:
    """List the games that are known by name, with their parameters and a line about each.

    >>> [entry.name for entry in infoset.list_games()][:2]
    ['battleship', 'cooperative_matching_pennies']
    """
    return game_entries()


def list_methods() -> list[Entry]:
    """List the methods of ``solve``, with their parameters and a line about each, then the options that it takes.

    >>> next(entry.parameters for entry in infoset.list_methods() if entry.name == "team-exact")
    {'by': 'auto'}
    """
    entries = []
    for entry in METHODS.entries():
        try:
            method = parse_method(entry.name)
        except InfosetError:
            entries.append(entry)  # of a plug-in that is broken, or has to be given parameters
            continue
        takes = ", ".join(option for option in OPTIONS if option in method.takes)
        entries.append(entry._replace(about=f"{entry.about}\n    options: {takes or 'none'}"))
    return entries


def list_agents() -> list[Entry]:
    """List the agents that are known by name, with their parameters and a line about each.

    >>> [entry.name for entry in infoset.list_agents() if entry.about.startswith("Any game")]
    ['adaptive', 'search']
    """
    return AGENTS.entries()


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
    from infoset.view.guide import title_of
    from infoset.view.text import factored_text, plans_text, policy_text, summary_text, tree_text

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
        from infoset.view.tree_picture import tree_picture

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
    from infoset.view.payoff_table import equilibrium_lines, payoff_picture, payoff_table
    from infoset.view.pictures import picture_text

    table = payoff_table(compiled.game)
    if table is None:
        return ""
    return picture_text(payoff_picture(table, lines=equilibrium_lines(compiled.game, table)))


def _show_hands(compiled: Compiled, what: What, svg: str | Path | None) -> Shown:
    """Show the decisions of a game of hands in ranges; matrices of hands replace a tree.  Empty for other games."""
    from infoset.games.holdem import HoldemRules

    if compiled.only_form or not isinstance(compiled.game, HoldemRules):
        return Shown("")
    from infoset.view.hand_decisions import decisions, decisions_text
    from infoset.view.hand_matrix_svg import hand_matrix_svg

    found = decisions(compiled.game, policy_of(what, compiled))
    text = decisions_text(compiled.game.players, found)
    if svg is None:
        return Shown(text)
    file, picture = Path(svg), hand_matrix_svg(compiled.game, found)
    return Shown(text, (lambda: replace_file(file, lambda out: out.write(picture.encode())),))


@checks_arguments
def plot(runs: Sequence[str | Path | Solution], out: str | Path | None = None, *, axes: Any = None) -> Any:
    """Plot the convergence curves of several runs together, each with its name; return the axes of matplotlib.

    ``runs`` are folders or solutions.  The curves show the exploitability of each average profile by iteration, or
    where that is unknown the value of the best policy so far.  With ``out`` the picture goes to that file (``.png``,
    ``.svg`` or ``.pdf``).  Raises ``ParameterError`` for a run without such a curve, ``CheckpointError`` for a folder
    without a run, ``MissingExtraError`` without matplotlib.

    >>> runs = [infoset.solve("kuhn_poker", method, iterations=50) for method in ("cfr", "cfr+")]
    >>> axes = infoset.plot(runs, "curves.svg")
    """
    from infoset.view.curves import draw_curves, plot_curves

    curves: dict[str, Sequence[Point]] = {}
    found = [run if isinstance(run, Solution) else Solution.load(run) for run in runs]
    games = {solution.game for solution in found}
    for solution in found:
        word = f"{solution.game} by {solution.method}" if solution.folder is None else str(solution.folder)
        curves[next(name for k in count(1) if (name := word if k == 1 else f"{word} ({k})") not in curves)] = (
            solution.curve
        )
    title = games.pop() if len(games) == 1 else f"{len(games)} games"
    return plot_curves(curves, title, axes) if out is None else draw_curves(curves, title, Path(out), axes)


def show_stability(game: AnyGame, what: What | None, max_histories: int | None = None) -> Stability:
    """Test whether a profile (whatever ``evaluate`` takes) is a rest point of replicator dynamics, and a stable one.

    >>> infoset.verbs.show_stability("rock_paper_scissors", "random").verdict
    'neutral'
    """
    from infoset.solvers.tabular.stability import stability

    if what is None:
        raise ParameterError("--stability is of a strategy of all players: name one after the game, as in GAME random")
    compiled = Compiled.of(game, max_histories)
    policy = tabulated(compiled, check_what(what) if isinstance(what, str) else what)
    return stability(compiled.form, policy.behaviour(compiled.form))


@checks_arguments
def check_profile(game: AnyGame, what: What, max_histories: int | None = None) -> ProfileCheck:
    """Check which of five solution concepts a strategy of all players (whatever ``evaluate`` takes) satisfies.

    Gains below 1e-6 of the payoff range do not count.  With more than two players, beliefs at sets that are never
    reached are not decided.  Raises ``BudgetError`` for a game whose tree does not fit, ``UnsupportedGameError`` for
    plans that are drawn for several players together.

    >>> print(infoset.check_profile("rock_paper_scissors", "random"))
    Nash              yes        no player gains more than 0
    subgame-perfect   yes        no subgame but the game itself
    undominated       yes
    sequential        yes
    quasi-perfect     yes
    """
    from infoset.solvers.tabular.refinements import check_strategy

    compiled = Compiled.of(game, max_histories)
    form = compiled.form
    what = check_what(what) if isinstance(what, str) else what
    if isinstance(what, CorrelatedPolicy):
        raise UnsupportedGameError(f"{what.about}; these concepts need players who choose independently. Try evaluate")
    return check_strategy(form, compiled.tree, tabulated(compiled, what).behaviour(form))


def show_propnet(name: str, file: str | Path) -> str:
    """Write the rules of a game in GDL as a propositional network; return its size in a line.

    The file is Graphviz DOT text (``.dot``, ``.gv``) or, where Graphviz is installed, a picture (``.svg``, ``.png``,
    ``.pdf``).  Raises ``ParameterError`` for another suffix, ``UnsupportedGameError`` for other games, for rules that
    are too large to ground and for pictures of large networks, ``UnsupportedSystemError`` for a picture without
    Graphviz.

    >>> infoset.verbs.show_propnet("gdl:monty_hall", "monty_hall.dot")
    'gdl:monty_hall: 13 propositions, 12 moves, 23 gates (play 4, goals 4, next 12, sees 3), 0 loops'
    """
    from infoset.gdl.game import GdlGame
    from infoset.view.propnet_dot import propnet_summary, write_propnet

    game = load(name)
    if not isinstance(game, GdlGame):
        raise UnsupportedGameError(f"{game.name} is not described in GDL; --propnet needs a .gdl file or gdl:NAME")
    net = game.rules.propnet
    if net is None:
        raise UnsupportedGameError(f"the rules of {game.name} are too large to ground, so it has no network to draw")
    write_propnet(net, game.name, Path(file))
    return f"{game.name}: {propnet_summary(net)}"


@checks_arguments
def check(file: str) -> list[Defect]:
    """Return the defects of a game description: a file, or ``gdl:NAME``.  Raises ``FormatError``.

    >>> infoset.check("gdl:meier")
    []
    """
    from infoset.gdl.checks import check as find_defects
    from infoset.gdl.library import description
    from infoset.gdl.syntax import read_gdl

    return find_defects(description(file.removeprefix(GDL)) if file.startswith(GDL) else read_gdl(file))


@checks_arguments
def convert(
    source: str | Path | Game, target: str | Path, *, max_histories: int | None = None, normalise: bool = False
) -> Path:
    """Convert a game, a policy or a replay to the file format of ``target``.

    A game goes to .efg or .nfg (its reduced normal form), a policy to .npz or .json, a replay of Pommerman to the
    reference's game_state.json and back.

    Games are given by name, by file, or as objects.  The content of a .json file is recognised by its keys: "state" or
    "blob" is the reference's, "steps" a replay, anything else a policy.  Labels are written so that Gambit accepts
    them, with a ``GambitWarning`` where some had to be changed.  ``normalise``: chance probabilities in an .efg file
    that sum to one only approximately become the fractions that were meant; without it such a game does not go to .efg.
    Raises ``FormatError`` for anything else.

    >>> infoset.convert("kuhn_poker", "kuhn.efg").name
    'kuhn.efg'
    """
    target = Path(target)
    check_file(target)
    if not isinstance(source, (str, Path)):
        check_is_game(source)
        if target.suffix not in GAME_TEXTS:
            raise FormatError(
                f"{source.name} cannot be converted to {target.name!r}; a game goes to .efg or .nfg", "game"
            )
        return _write_game(source, target, max_histories, normalise)
    source = str(source)
    if normalise and target.suffix != ".efg":
        raise ParameterError("normalise=True applies to .efg files only")
    keys = json_keys(source) & {*RECORDS, "steps"}
    if keys and target.suffix == ".json":
        _refuse_limit(max_histories)
        from infoset.match.playground_json import write_game

        match = read_match(source)
        if "steps" in keys:
            write_game(match, target)
        else:
            match.save(target)
    elif policy_file(source) is not None and not keys and target.suffix in SUFFIXES:
        _convert_policy(source, target, max_histories)
    elif target.suffix in GAME_TEXTS and not keys:
        _write_game(load(source), target, max_histories, normalise)
    else:
        raise FormatError(
            f"cannot be converted to {target.name!r}; a game goes to .efg or .nfg, a policy to .npz or .json, a replay "
            "to the reference's game_state.json and back",
            source,
        )
    return target


def _write_game(game: Game, target: Path, max_histories: int | None, normalise: bool) -> Path:
    text = GAME_TEXTS[target.suffix](game, max_histories, normalise)
    return replace_file(target, lambda file: file.write(text.encode()))


def _efg_text(game: Game, max_histories: int | None, normalise: bool) -> str:
    from infoset.formats.efg import efg_for_gambit, game_to_efg, write_efg

    return write_efg(efg_for_gambit(game_to_efg(game, max_histories), game.name, normalise, stacklevel=4))


def _nfg_text(game: Game, max_histories: int | None, normalise: bool) -> str:
    from infoset.formats.nfg import game_to_nfg, nfg_for_gambit, write_nfg

    return write_nfg(nfg_for_gambit(game_to_nfg(game, max_histories), game.name, stacklevel=4))


GAME_TEXTS = {".efg": _efg_text, ".nfg": _nfg_text}


def _convert_policy(source: str, target: Path, max_histories: int | None) -> None:
    """Convert any saved policy; one without readable keys gets them from the game that it was made for."""
    policy = load_policy(source)
    if isinstance(policy, CorrelatedPolicy) and target.suffix == ".json":
        raise FormatError("correlated plans are saved as .npz only", source)
    if not isinstance(policy, TabularPolicy) and target.suffix == ".json":
        policy = tabulated(load_named(policy.game, source), policy, max_histories)
    else:
        _refuse_limit(max_histories)
    policy.save(target)


def _refuse_limit(max_histories: int | None) -> None:
    if max_histories is not None:
        raise ParameterError(f"max_histories={max_histories} would not be used: this conversion builds no tree")


def read_match(path: str) -> Match:
    """Read a replay, or a recording of Pommerman's reference.  Raises ``FormatError``."""
    if not json_keys(path) & RECORDS:
        return Match.load(path)
    from infoset.match.playground_json import read_game

    return read_game(path)


def json_keys(path: str) -> set[str]:
    """Return the keys of the object in a .json file of at most ``MAX_TEXT_BYTES``; no keys for other files."""
    import msgspec

    file = Path(path)
    if file.suffix != ".json" or not file.is_file() or file.stat().st_size > MAX_TEXT_BYTES:
        return set()
    try:
        return set(decode_json(file.read_bytes(), dict[str, msgspec.Raw]))
    except (OSError, DamageError) as error:
        raise FormatError(f"no JSON object: {shorten(str(error))}", path) from None


@checks_arguments
def watch(
    replay: str | Path, out: str | Path | None = None, *, step: int | None = None, speed: float | None = None
) -> Path:
    """Write a page that plays a recorded game; return its path, by default beside the replay.

    The page begins at ``step`` and plays ``speed`` steps a second (None: 6 in Pommerman, else 1).  Raises
    ``FormatError`` for a file that is no recording of a game, ``ParameterError`` for a step that it does not have.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> infoset.watch(match.save("match.json")).name
    'match.html'
    """
    from infoset.view.watch_page import watch_page

    page = watch_page(read_match(str(replay)), step=step, speed=speed)
    target = Path(replay).with_suffix(".html") if out is None else Path(out)
    return replace_file(target, lambda file: file.write(page.encode()))


@dataclass(frozen=True)
class TrainingRun:
    """The result of ``train``: the run's folder, which plays as ``trained:DIR``, and the last ``Epoch`` of its curve.

    >>> training = infoset.train("gdl:scissors_double", epochs=1, games=2, out="learnt")
    >>> training.folder.name, training.last.iteration
    ('learnt', 1)
    """

    folder: Path
    game: str
    method: str
    last: Any

    def points(self) -> list[Any]:
        """Return the curve: an ``Epoch`` for each that was trained, as the folder holds it."""
        from infoset.learn.train import TrainingFolder

        return TrainingFolder(self.folder).points()

    def plot(self, axes: Any = None) -> Any:
        """Plot the losses and the estimated value of the start, on two axes of matplotlib (extra ``plot``).

        Raises ``ParameterError`` for a training of fewer than two epochs, and ``MissingExtraError``.
        """
        return displays.draw("learning", self.points(), f"{self.game}: {self.method}", axes)

    def _repr_html_(self) -> str:
        return displays.render("training", self.game, self.method, self.folder, self.last, self.points())


@checks_arguments
def train(
    game: str | Game | None = None,
    *,
    seconds: float = 600.0,
    epochs: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    workers: int = 1,
    executor: Where = LOCAL,
    watcher: Watcher | None = None,
    **parameters: Any,
) -> TrainingRun:
    """Train a network (extra ``learn``) for a number of seconds or epochs in all; ``trained:DIR`` plays it.

    ``parameters``: ``method`` (``self-play``, ``resolving``, ``tree-search``; of Pommerman ``ppo``, ``a2c``, ``dqn`` or
    ``dagger``) and its fields, as the command line has them: those of ``Training``, ``PublicTraining``,
    ``TreeTraining``, ``PpoTraining`` …; the default method is ``ppo`` in Pommerman, else ``self-play`` where all
    positions are soon listed, else ``tree-search``.  ``out`` is the folder, a fresh one under ``runs/`` by default;
    ``resume`` continues the training there.  Ctrl-C ends it without loss.  ``workers`` processes of this machine, or of
    the cluster that ``executor`` names (``ray``, ``ray:ADDRESS``), play the games, at most one for each of the
    ``parts``; their number changes no result.

    Raises ``ParameterError``, ``CheckpointError``, ``BudgetError`` and ``MissingExtraError``.

    >>> infoset.train("gdl:scissors_double", epochs=1, games=2, out="learning").method
    'self-play'
    """
    if resume and out is None:
        raise CheckpointError("--resume needs --out DIR, the folder of the training to continue")
    if not resume and game is None:
        raise ParameterError("no GAME given; 'infoset games' lists the names")
    if resume and parameters:
        raise CheckpointError(f"--{next(iter(parameters))} can be given only when a training begins, not with --resume")
    check_executor(executor)
    from infoset.learn import running  # brings torch

    watcher = watcher or Watcher()
    name = None if game is None else name_of(game)
    if resume:
        folder, config = running.resume(Path(str(out)), name, seconds, epochs, workers, watcher, executor)
    else:
        where = None if out is None else Path(out)
        folder, config = running.begin(str(name), parameters, where, seconds, epochs, workers, watcher, executor)
    points = folder.points()
    folder.close()
    training = TrainingRun(folder.path, config.game, config.method, points[-1] if points else None)
    watcher.solved(training)
    if folder.failed is not None:
        raise folder.failed
    return training
