"""Every method on every kind of game solves or is refused in one line; every verb takes what every other makes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import infoset
from command_line import run_infoset as run
from infoset import SequenceForm, TabularPolicy, evaluate, load, solve
from infoset.arena.tournament import tournament
from infoset.cli.app import app
from infoset.errors import InfosetError, ParameterError, UnsupportedGameError
from infoset.evaluation import tabulated
from infoset.match.agents import AGENTS
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.loading import load_policy
from infoset.solvers.config import OPTIONS, SolveConfig
from infoset.solvers.method import METHODS, check_options, parse_method

ROOT = Path(__file__).resolve().parents[2]
OWN = '''
"""A game and an agent of one's own."""

from dataclasses import dataclass

from infoset import Ended, NativeState, Observed


@dataclass(frozen=True)
class Guess(NativeState):
    """The first player hides a coin in one of ``boxes``, the second one guesses."""

    boxes: int
    hidden: int | None = None

    mover = property(lambda self: 0 if self.hidden is None else 1)

    def legal_actions(self, player):
        return tuple(range(self.boxes)) if player == self.mover else ()

    def returns(self):
        return (0.0, 0.0)

    def play_unchecked(self, actions, chance_outcome=None):
        if self.hidden is None:
            return Observed(Guess(self.boxes, actions[0]), ("hid", "hidden"))
        won = float(actions[1] == self.hidden)
        return Observed(Ended((-won, won)), ("over", "over"))


@dataclass(frozen=True)
class Hiding:
    boxes: int = 2
    players = ("hider", "seeker")

    @property
    def name(self):
        return f"hiding{self.boxes}"

    def start(self):
        return Observed(Guess(self.boxes), (None, None))


@dataclass
class First:
    """Plays the action of its number."""

    number: int = 0

    def begin(self, game, player, rng, deadline): ...
    def observe(self, own_action, observation): ...
    def act(self, legal_actions, deadline): return legal_actions[self.number]
    def end(self, returns): ...
    def report_probabilities(self, legal_actions): return [float(k == self.number) for k in range(len(legal_actions))]
'''
KINDS = {
    "native, two players, zero-sum": "kuhn_poker",
    "native, three players": "kuhn_poker(players=3)",
    "native, general sum": "efg:general",
    "native, one team": "tiny_hanabi(game=F)",
    "Gambit file": "efg:zero",
    "GDL": "gdl:scissors_double",
    "OpenSpiel": "openspiel:kuhn_poker",
    "own class": "python:own.py:Hiding(boxes=3)",
    "imperfect recall": "efg:forgetful",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a game of one's own and Gambit files."""
    (tmp_path / "own.py").write_text(OWN)
    for name, payoffs in (("zero", ("1 -1", "-1 1")), ("general", ("2 1", "0 0"))):
        (tmp_path / f"{name}.efg").write_text(
            f'EFG 2 R "{name}" {{ "A" "B" }}\np "" 1 1 "" {{ "l" "r" }} 0\n'
            + "".join(
                f'p "" 2 1 "" {{ "l" "r" }} 0\n'
                f't "" {1 + 2 * k} "" {{ {payoffs[k]} }}\nt "" {2 + 2 * k} "" {{ {payoffs[1 - k]} }}\n'
                for k in range(2)
            )
        )
    (tmp_path / "forgetful.efg").write_text(
        'EFG 2 R "forgetful" { "A" }\nc "" 1 "" { "h" 1/2 "t" 1/2 } 0\n'
        + "".join(
            f'p "" 1 {k + 1} "" {{ "look" "away" }} 0\n'
            + "".join(
                f'p "" 1 3 "" {{ "h" "t" }} 0\nt "" {4 * k + 2 * j + 1} "" {{ {1 - k} }}\nt "" {4 * k + 2 * j + 2} "" {{ {k} }}\n'
                for j in range(2)
            )
            for k in range(2)
        )
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(kind: str) -> str:
    name = KINDS[kind]
    if name.startswith("openspiel:"):
        pytest.importorskip("pyspiel")
    return f"{name[4:]}.efg" if name.startswith("efg:") else name


ZERO_SUM = {"native, two players, zero-sum", "Gambit file", "GDL", "OpenSpiel", "own class"}
TEAM, FORGETS = "native, one team", "imperfect recall"
FOR = {
    "annealing": {TEAM},
    "auto": set(KINDS),
    "backward-induction": {"GDL"},  # in all others somebody is in doubt
    "belief-dag": set(),  # nobody says who plays together
    "correlated": set(KINDS) - {FORGETS},
    "information-relaxation": {TEAM, FORGETS},
    "lcp": ZERO_SUM | {TEAM, "native, general sum"},
    "lp": ZERO_SUM,
    "progressive-hiding": set(KINDS),
    "public": set(),  # none of these has a position that is common knowledge
    "team-exact": {TEAM, FORGETS},
    "team-maxmin": set(),  # nobody says who plays together
}
"""Which kinds of game a method solves; all others, all but those in which somebody forgets."""


def solves(method: str, kind: str) -> bool:
    return kind in FOR.get(method, set(KINDS) - {FORGETS})


def limited(method: str) -> dict[str, int]:
    """Little work, by an option that the method has."""
    takes = parse_method(method).takes
    return {"iterations": 20} if "iterations" in takes and method != "auto" else {}


LONG = {("correlated", "native, three players")}  # seven seconds


@pytest.mark.parametrize(
    ("method", "kind"),
    [pytest.param(*case, marks=[pytest.mark.slow] * (case in LONG)) for case in product(METHODS, KINDS)],
)
def test_every_method_solves_or_refuses_every_kind_of_game(
    method: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is solved is kept, evaluated to the same figures, tabulated, played and gone on with."""
    monkeypatch.setattr("infoset.view.curves.draw_convergence", lambda *_: None)  # pictures take most of the time
    game = named(kind)
    if not solves(method, kind):
        with pytest.raises(InfosetError) as refusal:
            solve(game, method, **limited(method), seed=1, out=folder / "run")
        assert "\n" not in str(refusal.value)
        assert not (folder / "run").exists()
        return
    found = solve(game, method, **limited(method), seed=1, out=folder / "run")
    saved = load_policy(folder / "run")
    again = evaluate(game, str(folder / "run"))
    assert again.values == pytest.approx(found.values, abs=1e-9)
    if found.nash_conv is not None:
        assert again.nash_conv == pytest.approx(found.nash_conv, abs=1e-9)
    if not isinstance(saved, CorrelatedPolicy):  # whose tables of each player by itself are another profile
        table = tabulated(game, saved)
        table.save(folder / "table.json")
        same = evaluate(game, "table.json")
        assert same.values == pytest.approx(found.values, abs=1e-9)
    players = len(load(game).players)
    series = infoset.play_series(game, [str(folder / "run"), *["random"] * (players - 1)], games=3, seed=1)
    assert series.games == 3
    assert not any(series.agents[0].faults.values())
    resumed = solve(game, out=folder / "run", resume=True)
    assert (resumed.method, resumed.values) == (found.method, pytest.approx(found.values, abs=1e-9))


@pytest.mark.parametrize("method", METHODS)
def test_every_option_is_used_or_refused(method: str) -> None:
    values = {
        "iterations": 3,
        "target": 0.5,
        "seconds": 1.0,
        "start": "random",
        "runs": 2,
        "lock": {"P1": {}},
        "form": "tree",
        "teams": "P1,P2",
        "precision": "double",
    }
    assert set(values) == set(OPTIONS)
    chosen = parse_method(method)
    for name, value in values.items():
        options = SolveConfig(**{name: value})
        if name in chosen.takes:
            check_options(chosen, options)
        else:
            with pytest.raises(
                ParameterError, match=rf"{name} is not an option of {re.escape(method)}; it takes: .*seed"
            ):
                check_options(chosen, options)


OPTION_SHOWS = {
    # an option, a method, and what must be different for it
    "iterations": ("cfr", {"iterations": 7}, lambda s: s.iterations == 7),
    "target": ("cfr", {"target": 0.1}, lambda s: s.stopped == "target" and s.exploitability <= 0.1),
    "seconds": ("cfr", {"seconds": 0.0}, lambda s: s.stopped == "seconds"),
    "start": ("cfr", {"start": "random", "iterations": 0}, lambda s: abs(s.nash_conv - 11 / 12) > 1e-3),
    "teams": ("team-maxmin", {"teams": "1,2"}, lambda s: s.stopped == "exact" and abs(s.values[0] + 1 / 18) < 1e-9),
    "lock": ("cfr", {"lock": {"P1": "random"}}, lambda s: abs(s.values[1] - 5 / 12) < 1e-2),
    "target, sampled": ("mccfr", {"target": 0.05, "seconds": 60.0}, lambda s: s.exploitability <= 0.05),
    "runs, sampled": ("mccfr", {"runs": 3, "iterations": 30}, lambda s: s.iterations == 30),
    "iterations, sampled": ("mccfr", {"iterations": 30}, lambda s: s.iterations == 30),
    "seconds, sampled": ("mccfr", {"seconds": 0.2}, lambda s: s.stopped == "seconds"),
}


@pytest.mark.parametrize("option", OPTION_SHOWS)
def test_options_do_what_they_say(option: str) -> None:
    method, options, shown = OPTION_SHOWS[option]
    assert shown(solve("kuhn_poker", method, **options))


@pytest.mark.parametrize("method", ["annealing", "progressive-hiding(penalty=2)", "information-relaxation"])
def test_options_of_runs(method: str) -> None:
    found = solve("tiny_hanabi(game=F)", method, runs=3, iterations=5, seed=2)
    assert len(found.runs) == 3
    assert found.values[0] == pytest.approx(max(found.runs))
    cut = solve("tiny_hanabi(game=F)", method, runs=10**6, seconds=0.3)
    assert cut.stopped == "seconds"
    assert cut.values is not None


def test_uniform_play_of_kuhn() -> None:
    """11/24, by whatever names it."""
    uniform = TabularPolicy.uniform(SequenceForm.of(load("kuhn_poker")))
    for what in ("random", lambda key, actions: dict.fromkeys(actions, 0.5), uniform):
        found = evaluate("kuhn_poker", what)
        assert (found.exploitability, found.nash_conv) == (pytest.approx(11 / 24), pytest.approx(11 / 12))


GOOFSPIEL = "goofspiel(num_cards=4,imp_info=true,points_order=descending)"


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", GOOFSPIEL])
def test_the_tree_search_is_nearly_an_equilibrium(game: str) -> None:
    assert evaluate(game, "search(method=tree)").exploitability < 1e-3


def test_a_sampled_policy_is_worth_what_openspiel_says() -> None:
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    found = solve("leduc_poker", "mccfr", iterations=3000, seed=1)
    table = tabulated("leduc_poker", found.policy)
    import pyspiel

    game = pyspiel.load_game("leduc_poker")
    theirs = exploitability.nash_conv(game, infoset.export_policy(table, load("leduc_poker"), game))
    assert evaluate("leduc_poker", found.policy).nash_conv == pytest.approx(theirs, abs=1e-9)


def test_a_tree_or_a_form_in_place_of_a_game() -> None:
    """What needs no more than these takes them; what does says so in a line."""
    tree = infoset.GameTree.of(load("kuhn_poker"))
    form = SequenceForm.of(tree)
    uniform = TabularPolicy.uniform(form)
    for given in (tree, form):
        for what in ("random", uniform, lambda key, actions: dict.fromkeys(actions, 0.5), uniform.plan(form)):
            assert evaluate(given, what).nash_conv == pytest.approx(11 / 12)
        with pytest.raises(UnsupportedGameError, match="alone; this needs the game itself"):
            evaluate(given, "search(method=tree)")
    assert solve(tree, "progressive-hiding", iterations=5).iterations == 5
    for method in ("progressive-hiding", "mccfr", "public", "team-exact"):
        with pytest.raises(UnsupportedGameError, match="kuhn_poker is given as a sequence form alone"):
            solve(form, method)


def test_the_best_response_is_saved_and_worth_what_it_says(folder: Path) -> None:
    app(["evaluate", "kuhn_poker", "random", "--best-response", "reply.npz"], standalone_mode=False)
    reply, form = load_policy("reply.npz"), SequenceForm.of(load("kuhn_poker"))
    uniform = TabularPolicy.uniform(form)
    for player, best in enumerate((0.5, 5 / 12)):
        tables = tuple((reply if p == player else uniform).tables[p] for p in range(2))
        mixed = TabularPolicy("kuhn_poker", ("P1", "P2"), tables)
        assert evaluate("kuhn_poker", mixed).values[player] == pytest.approx(best)


def test_the_best_response_to_what_was_sampled_is_a_sampled_policy(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("infoset.sizes.SAMPLES_EVALUATED", 0)  # which would put it on the tree
    met = solve("leduc_poker", "mccfr", iterations=300, seed=1).policy
    found = evaluate("leduc_poker", met, respond=True)
    reply = load_policy(found.best_response.save(tmp_path / "reply.npz"))
    mine, best = tabulated("leduc_poker", met), tabulated("leduc_poker", reply)
    for player in range(2):
        mixed = replace(mine, tables=tuple((best if p == player else mine).tables[p] for p in range(2)))
        assert evaluate("leduc_poker", mixed).values[player] == pytest.approx(found.best_response_values[player])


def test_the_best_response_to_public_pieces_is_a_policy_in_pieces(tmp_path: Path) -> None:
    sound = solve("gdl:meier", "public").policy
    even = [{key: dict.fromkeys(row, 1 / len(row)) for key, row in piece.tables[0].items()} for piece in sound.pieces]
    pieces = [replace(piece, tables=(row, piece.tables[1])) for piece, row in zip(sound.pieces, even, strict=True)]
    poor = replace(sound, pieces=tuple(pieces))
    found = evaluate("gdl:meier", poor, respond=True)
    assert found.nash_conv > 10
    reply = load_policy(found.best_response.save(tmp_path / "reply.npz"))
    for player in range(2):
        pieces = [
            replace(piece, tables=tuple((best if p == player else piece).tables[p] for p in range(2)))
            for piece, best in zip(poor.pieces, reply.pieces, strict=True)
        ]
        mixed = evaluate("gdl:meier", replace(poor, pieces=tuple(pieces)))
        assert mixed.values[player] == pytest.approx(found.best_response_values[player])


def test_a_best_response_that_its_file_cannot_hold_is_not_lost(folder: Path, capsys) -> None:
    solve("gdl:meier", "public").policy.save("meier.npz")
    app(["evaluate", "gdl:meier", "meier.npz", "--best-response", "reply.json"], standalone_mode=False)
    assert "allowed: .npz; saved as reply.npz" in capsys.readouterr().err
    assert load_policy("reply.npz").made_by == {"method": "best-response"}


class Silent:
    """Plays at random and tells nobody how."""

    def begin(self, game, player, rng, deadline) -> None:
        self.rng = rng

    def observe(self, own_action, observation) -> None: ...

    def act(self, legal_actions, deadline):
        return legal_actions[int(self.rng.integers(len(legal_actions)))]

    def end(self, returns) -> None: ...


def test_what_cannot_be_exact_is_a_lower_bound_with_its_interval() -> None:
    """Random play that does not report its action probabilities: 11/12 is what best responses gain."""
    found = evaluate("kuhn_poker", Silent(), seconds=4.0, seed=1)
    assert not found.exact
    assert "does not report its action probabilities" in found.reason
    assert 0.3 < found.nash_conv < 11 / 12 + 2 * found.margin
    assert found.margin > 0


def test_a_player_that_forgets_has_values_only(folder: Path) -> None:
    found = evaluate("forgetful.efg", "random")
    assert found.values == (pytest.approx(0.5),)
    assert np.isnan(found.nash_conv)
    assert "values alone" in found.reason


def test_own_games_and_agents_everywhere(folder: Path) -> None:
    game, agent = "python:own.py:Hiding(boxes=3)", "python:own.py:First(number=1)"
    assert solve(game, "lp").values == pytest.approx((-1 / 3, 1 / 3))
    assert evaluate(game, agent).best_response_values == (0.0, 1.0)

    done = run("match", game, agent, "random", "--games", "3", "--replay", "games")
    assert done.returncode == 0, done.stderr
    replay = json.loads((folder / "games" / "match-00001.json").read_text())
    assert replay["game"].startswith("python:")
    assert replay["game"].endswith("own.py:Hiding(boxes=3)")
    done = run("tournament", game, agent, "random", "--games", "4", "--workers", "2", "--db", "t.db", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 4
    for wrong, words in (
        (["solve", "python:own.py:Hidden"], "did you mean 'Hiding'?"),
        (["solve", "python:none.py:Hiding"], "none.py: no such file"),
        (["solve", "python:own.py:Hiding(box=2)"], "unknown parameter"),
        (["solve", "python:own.py:First"], "not a game; a game needs name, players and start"),
        (
            ["match", game, "python:own.py:Hiding", "random"],
            "class Hiding of own.py is not an agent: it lacks begin, observe, act, end",
        ),
    ):
        refused = run(*wrong)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr
        assert words in refused.stderr


BOT = """
class Bot:
    def begin(self, *arguments): ...
    def act(self, *arguments): ...
class Needs(Bot):
    def __init__(self, x): ...
def number(): return 3
def raises(): raise ValueError("one\\ntwo")
"""
BROKEN = "1 / 0\nclass Bot: ...\n"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("bots/broken.py", "'bots/broken.py' is a Python file: python:bots/broken.py:Bot plays a class of it"),
        ("broken", "'broken' is a folder: python:broken/bot.py:Bot plays a class of it"),
        ("bots/empty.py", "'bots/empty.py' is a Python file without a class; python:FILE.py:Class plays one"),
        ("python:bots/bot.py", "a Python file: python:bots/bot.py:Bot or python:bots/bot.py:Needs names a class of it"),
        ("python:broken:Bot", "'broken' is a folder: python:broken/bot.py:Bot names a class of it"),
        ("python:bots", "'bots' is a folder: "),
        ("python:bot", "found 'python:bot', expected python:FILE.py:Class or python:package.module:Class"),
        ("127.0.0.1:18072", "unknown agent '127.0.0.1:18072'; did you mean 'http://127.0.0.1:18072'?"),
        ("python:bots/bot.py:Bot", "class Bot of bots/bot.py is not an agent: it lacks observe, end"),
        (
            "python:bots/bot.py:number",
            "number of bots/bot.py makes an object of class int, not an agent: it lacks begin",
        ),
        ("python:bots/bot.py:Needs", "python:bots/bot.py:Needs cannot be made: TypeError: Needs.__init__() missing 1"),
        ("python:bots/bot.py:raises", "python:bots/bot.py:raises cannot be made: ValueError: one two"),
        ("b" * 5000, "unknown agent 'bbb"),
    ],
)
def test_an_agent_that_was_named_wrongly(folder: Path, agent: str, words: str) -> None:
    """Files are named, not run: the first one could not be."""
    files = {"bots/broken.py": BROKEN, "bots/bot.py": BOT, "bots/empty.py": "", "broken/bot.py": BROKEN}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.raises(InfosetError) as refused:
        infoset.play_match("kuhn_poker", [agent, "random"])
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_agent_that_cannot_be_made_ends_a_tournament_with_one_line(folder: Path) -> None:
    (folder / "bot.py").write_text(BOT)
    with pytest.raises(InfosetError, match=r"^python:.*bot\.py:Needs cannot be made: TypeError: [^\n]*$"):
        tournament("kuhn_poker", ["python:bot.py:Needs", "random"], games=2, workers=1)


def test_an_object_of_ones_own_has_a_name(folder: Path) -> None:
    """A replay says by which name its game is loaded; its code is run only where the user names it."""
    game = load("python:own.py:Hiding(boxes=2)")
    match = infoset.play_match(game, ["random", "random"], seed=1)
    assert match.game == f"python:{folder / 'own.py'}:Hiding(boxes=2)"
    assert infoset.replay_states(match, game)[-1].terminal
    with pytest.raises(UnsupportedGameError, match=r"names Python code, .*; it is run only where you name it yourself"):
        infoset.replay_states(match)
    solve(game, "cfr", iterations=3, out="run")
    with pytest.raises(UnsupportedGameError, match="names Python code"):
        solve(out="run", resume=True)
    assert solve(game, out="run", resume=True, iterations=5).iterations == 5


def test_objects_meet_in_a_tournament(folder: Path) -> None:
    """By the names of their classes where those have one; else here."""
    game, first = load("python:own.py:Hiding(boxes=2)"), infoset.load_agent("python:own.py:First(number=1)")

    class Nameless(Silent):
        """Stands in no module."""

    named_too = infoset.tournament(game, [first, "random"], games=6, seed=1, workers=1)
    here = infoset.tournament(game, [first, Nameless()], games=6, seed=1)
    assert (named_too.games, here.games) == (6, 6)
    assert here.teams == (f"python:{folder / 'own.py'}:First(number=1)", "Nameless")
    with_names = infoset.tournament("kuhn_poker", ["random", Nameless()], games=4, seed=1)
    assert with_names.stopped == "games"


def test_a_policy_for_another_game_is_refused_before_a_match_begins(folder: Path) -> None:
    path = solve("leduc_poker", "cfr", iterations=1).policy.save("leduc.npz")
    with pytest.raises(UnsupportedGameError, match="the policy was made for leduc_poker, this is kuhn_poker"):
        infoset.play_series("kuhn_poker", [str(path), "random"], games=3)
    with pytest.raises(UnsupportedGameError, match="is for 2 players"):
        infoset.play_series("kuhn_poker(players=3)", [str(path), "random", "random"], games=3)


@dataclass
class Case:
    game: str
    method: str
    why: str


@pytest.mark.parametrize(
    "case",
    [
        Case("kuhn_poker", "lp", "two players, a constant sum"),
        Case("kuhn_poker(players=3)", "logit", "a path to an equilibrium"),
        Case("general.efg", "lcp", "no constant sum"),
        Case("goofspiel(num_cards=4)", "backward-induction", "both players observe everything"),
        Case("goofspiel(num_cards=4,imp_info=true)", "pdcfr+", "after 100 iterations"),
        Case("gdl:meier", "public", "common knowledge"),
        Case("tiny_bridge", "team-exact", "always paid the same"),
        Case("forgetful.efg", "team-exact", "imperfect recall"),
    ],
    ids=lambda case: case.game,
)
def test_auto_looks_at_the_game(case: Case, folder: Path) -> None:
    from infoset.compiled import Compiled
    from infoset.solvers.choose import choose

    found = choose(Compiled.of(case.game), SolveConfig())
    assert case.why in found.why
    assert found.method.name == case.method or case.game == "kuhn_poker(players=3)"


def test_auto_takes_the_best_of_three() -> None:
    """DCFR on Leduc poker, PDCFR+ on goofspiel, as the page on update rules has it."""
    assert solve("leduc_poker", iterations=1).method == "dcfr"
    assert solve(GOOFSPIEL, iterations=1).method == "pdcfr+"


def test_auto_solves_meier_exactly() -> None:
    assert solve("gdl:meier").values[0] == pytest.approx(64.793900916, abs=1e-8)


def test_lists_come_from_the_registries(capsys: pytest.CaptureFixture[str]) -> None:
    for verb, registry in (("methods", METHODS), ("agents", AGENTS)):
        app([verb, "--json"], standalone_mode=False)
        entries = json.loads(capsys.readouterr().out)[verb]
        assert [entry["name"] for entry in entries] == sorted(registry)
        assert all(entry["about"] for entry in entries)
        app([verb], standalone_mode=False)
        listed = capsys.readouterr().out
        assert all(f"\n{name}" in f"\n{listed}" for name in registry)


METHOD = '''
import infoset

def follow(root, parent, first, last, worth, values, strategy, memory, parameters):
    for q in range(first, last):
        strategy[q] = 1 / (last - first)

def mine():
    """Plays uniformly for ever."""
    return infoset.Method("mine", follow, lambda t: t[:, None] ** 0)
'''


def test_one_file_and_one_line_make_something_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method, a game, an agent and a way to search, each from its place in a registry."""
    from infoset.catalog import GAMES
    from infoset.search import agent as search

    (folder / "one_line.py").write_text(OWN + METHOD)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(METHODS.homes, "mine", "one_line:mine")
    monkeypatch.setitem(GAMES.homes, "hiding", "one_line:Hiding")
    monkeypatch.setitem(AGENTS.homes, "first", "one_line:First")
    monkeypatch.setitem(search.WAYS, "mine", lambda planner, graph: (infoset.load_agent("random"), "at random"))
    assert solve("hiding(boxes=3)", "mine", iterations=2).values == pytest.approx((-1 / 3, 1 / 3))
    assert evaluate("hiding", "first(number=1)").best_response_values == (0.0, 1.0)
    assert infoset.play_match("hiding", ["search(method=mine)", "first"], seed=1).agents == ("search", "First")
    assert solve("kuhn_poker", "python:one_line.py:mine", iterations=1).nash_conv == pytest.approx(11 / 12)
    assert "mine" in [entry.name for entry in infoset.list_methods()]


def test_a_function_is_asked_by_the_keys_that_policies_have() -> None:
    """Of a game whose information sets have labels of their own, by those."""
    asked = set()

    def choose(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        asked.add(key)
        return {actions[0]: 1.0}

    game = "examples/half_street_poker.efg"
    infoset.evaluate(str(Path(__file__).parents[2] / game), choose)
    tables = infoset.solve(str(Path(__file__).parents[2] / game), "lp").policy.tables
    assert asked == {key for table in tables for key in table}


@pytest.mark.parametrize("agent", ["is-mcts(nodes=20)", "flat-mc(nodes=20)", "search(method=per-world)"])
def test_agents_that_search_are_evaluated(agent: str) -> None:
    """Exactly where they tell their probabilities, else by responses that are learnt and played; never as policies."""
    found = evaluate("kuhn_poker", agent, seconds=0.5)
    assert found.exact or "does not report its action probabilities" in found.reason
    assert sum(found.values) == pytest.approx(0, abs=1e-9)
