"""Installed packages add games, agents, methods, readers and views through entry points."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

import infoset
from infoset import plugins
from infoset.cli.app import app
from infoset.errors import ParameterError, PluginError, UnknownNameError

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plugin"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty folder of installed packages, which is searched as long as the test runs."""
    before = set(sys.modules)
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    plugins._installed.cache_clear()
    yield folder
    plugins._installed.cache_clear()
    for module in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]


def install(site: Path, name: str, points: str, **modules: str) -> None:
    """Write a package as an installer does: its metadata, and a file for each module."""
    metadata = site / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)


@pytest.fixture
def example(site: Path, tmp_path: Path) -> Path:
    """Install the example package, by pip where a build backend is at hand."""
    source = tmp_path / "plugin"
    shutil.copytree(EXAMPLE, source)
    if find_spec("pip") and find_spec("setuptools"):
        options = ["--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--disable-pip-version-check"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(source)], check=True
        )
    else:
        import tomllib

        groups = tomllib.loads((source / "pyproject.toml").read_text())["project"]["entry-points"]
        points = "\n".join(f"[{g}]\n" + "\n".join(f"{k} = {v}" for k, v in own.items()) for g, own in groups.items())
        install(site, "infoset-undercut", points)
        shutil.copytree(source / "src", site, dirs_exist_ok=True)
    plugins._installed.cache_clear()
    return site


def run(*words: str) -> str:
    """Return what a command prints; it must end well."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_example_shows_up_wherever_names_are_used(example: Path, tmp_path: Path) -> None:
    listed = {entry.name: entry for entry in infoset.list_games()}["undercut"]
    assert listed.parameters == {"highest": 4} and listed.about.startswith("Two numbers at once")
    assert "undercutter" in [entry.name for entry in infoset.list_agents()]
    assert "undercut(highest=4)" in run("games") and "Two numbers at once" in run("games", "undercut")
    assert infoset.solve("undercut(highest=5)", "lp").exploitability < 1e-9
    with pytest.raises(UnknownNameError, match="did you mean 'undercut'"):
        infoset.load("undercutt")
    with pytest.raises(UnknownNameError, match="parameter of undercut: 'lowest'"):
        infoset.load("undercut(lowest=2)")

    run("match", "undercut", "undercutter", "random", "--seed", "1", "--replay", str(tmp_path / "games"))
    replay = next((tmp_path / "games").glob("match-*.json"))
    assert "P1   [3]" in run("watch", str(replay), "--text", "--step", "1")
    run("watch", str(replay), "--out", str(tmp_path / "game.html"))
    assert "you choose 3, the other player" in (tmp_path / "game.html").read_text()


def test_the_example_is_offered_by_the_page(example: Path) -> None:
    pytest.importorskip("starlette")
    from infoset.web.seats import find_game, fitting, listed

    assert "undercut" in [entry["name"] for entry in listed()]
    game = find_game((), "undercut(highest=3)")
    assert "undercutter" in fitting(game)
    assert "undercutter" not in fitting(infoset.load("kuhn_poker"))


def test_methods_and_readers_come_in_the_same_way(site: Path, tmp_path: Path) -> None:
    points = "[infoset.methods]\nslow-cfr = more:slow\n[infoset.readers]\n.rps = more:read\n"
    text = "import infoset\nslow = infoset.cfr\ndef read(path):\n    return infoset.load('rock_paper_scissors')\n"
    install(site, "more", points, more=text)
    plain = infoset.solve("kuhn_poker", "cfr", iterations=5)
    assert infoset.solve("kuhn_poker", "slow-cfr", iterations=5).exploitability == plain.exploitability
    assert "slow-cfr" in [entry.name for entry in infoset.list_methods()]
    (tmp_path / "game.rps").write_text("")
    assert infoset.load(str(tmp_path / "game.rps")).name == infoset.load("rock_paper_scissors").name


BROKEN = """\
[infoset.games]
gone = no_such_module:Game
empty = half:Missing
wrong = half:wrong
failing = half:failing
kuhn_poker = half:failing
[infoset.agents]
gone = no_such_module:Agent
failing = half:failing
[infoset.methods]
gone = no_such_module:method
[infoset.families]
lost = no_such_module:FAMILY
[infoset.readers]
.gone = no_such_module:read
"""
HALF = "def wrong():\n    '''No game.'''\n    return 5\ndef failing():\n    '''Fails.'''\n    return 1 / 0\n"


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (lambda: infoset.load("gone"), "gone of the package half 1.0 cannot be imported: ModuleNotFoundError: No mod"),
        (lambda: infoset.load("empty"), "empty of the package half 1.0 cannot be imported: AttributeError: module 'h"),
        (lambda: infoset.load("lost:game"), "lost of the package half 1.0 cannot be imported: ModuleNotFoundError"),
        (lambda: infoset.load("x.gone"), ".gone of the package half 1.0 cannot be imported: ModuleNotFoundError"),
        (
            lambda: infoset.load("wrong"),
            "wrong makes an object of class int, not a game; a game needs name, players and",
        ),
        (lambda: infoset.load("failing"), "failing cannot be made: ZeroDivisionError: division by zero"),
        (lambda: infoset.load_agent("gone"), "gone of the package half 1.0 cannot be imported: ModuleNotFoundError"),
        (lambda: infoset.load_agent("failing"), "failing cannot be made: ZeroDivisionError: division by zero"),
        (lambda: infoset.solve("kuhn_poker", "gone"), "gone of the package half 1.0 cannot be imported: ModuleNot"),
    ],
)
def test_a_broken_plugin_is_refused_in_one_line(site: Path, use: Callable[[], object], line: str) -> None:
    install(site, "half", BROKEN, half=HALF)
    with pytest.raises((PluginError, ParameterError)) as caught:
        use()
    assert str(caught.value).startswith(line) and "\n" not in str(caught.value)


def test_a_broken_plugin_breaks_nothing_else(site: Path) -> None:
    install(site, "half", BROKEN, half=HALF)
    games = {entry.name: entry.about for entry in infoset.list_games()}
    assert games["gone"].startswith("gone of the package half 1.0 cannot be imported")
    assert games["lost:"].startswith("lost of the package half 1.0 cannot be imported")
    assert infoset.load("kuhn_poker").players == ("P1", "P2")  # infoset's own names take precedence
    assert {"gone", "failing"} <= {entry.name for entry in infoset.list_agents()}
    assert "gone" in [entry.name for entry in infoset.list_methods()]
    with pytest.raises(UnknownNameError, match="did you mean 'kuhn_poker'"):
        infoset.load("kuhn_pokr")


def test_plugins_are_not_looked_for_before_a_name_needs_them() -> None:
    plugins._installed.cache_clear()
    infoset.play_match(infoset.load("kuhn_poker(players=3)"), ["random"] * 3, seed=1)
    infoset.solve("kuhn_poker", "cfr", iterations=2)
    assert plugins._installed.cache_info().misses == 0
