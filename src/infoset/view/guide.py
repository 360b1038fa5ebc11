"""The rules of a game, written for people: the same text on the command line and on the page.

The texts about named games are in ``games/guides.toml``, and those about games in GDL in the headers of their files.
Examples are played through the rules whenever they are shown, so they cannot be illegal.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple, TypeAlias, cast

from infoset.base import Action, CardGame, Game
from infoset.catalog import GAMES, GDL, about, is_spot, known_games, load, maker_of
from infoset.errors import IllegalActionError, one_line, shorten
from infoset.files import read_text
from infoset.formats.efg import EfgGame
from infoset.formats.nfg import NfgGame
from infoset.formats.openspiel import OpenSpielGame
from infoset.games.poker_hands import card_name
from infoset.gdl.game import GdlGame
from infoset.gdl.library import gdl_title, library
from infoset.names import format_value
from infoset.registry import parameters_of
from infoset.view.pictures import VIEWS
from infoset.view.pictures.words import action_words

TITLES = {
    "goal": "Goal", "setup": "Setup", "rules": "Rules", "turns": "Turn order", "payoffs": "Stakes",
    "parameters": "Parameters", "source": "Source",
}  # fmt: skip
MAX_TEXT = 4000  # letters of the comment in a file from elsewhere
MAX_STEPS = 500  # of an example
WIDTH = 96
CHANCE = "chance"

Texts: TypeAlias = "dict[str, str]"


class Guide(NamedTuple):
    """The texts about a game for people."""

    name: str
    about: str
    """One line, or an empty text."""
    parts: tuple[tuple[str, str], ...]
    """Titles with their texts, where there are any: goal, setup, turn order, stakes, parameters, source."""
    example: tuple[str, ...]
    """The events of an example step by step, and the payoffs."""
    note: str
    """The point of the example."""


def guide(name: str, game: Game | None = None) -> Guide:
    """Return the guide to a game by its name; ``game`` is used where it is loaded already.

    Raises what ``load`` raises.

    >>> from infoset.view.guide import guide
    >>> guide("kuhn_poker").example[:2]
    ('chance: J', 'chance: Q')
    """
    if is_spot(name):
        game = load(name) if game is None else game
        name = game.name
    word = name.partition("(")[0]
    if word not in known_games() or isinstance(game, (EfgGame, NfgGame)):  # games that are named by their files
        return _stranger(name, load(name) if game is None else game)
    if game is None and name != word:
        load(name)  # raises where the parameters are wrong
    texts = _texts(word)
    if not texts:
        return _stranger(name, load(name) if game is None else game)
    played = texts.get("game", word)
    example = (*(() if played == word else (f"{played}:",)), *_example(load(played), texts["example"]))
    return Guide(name, about(word), _parts(texts), example, texts.get("note", ""))


def _texts(word: str) -> Texts:
    """Return the texts about a named game; none about the game of a plug-in whose maker has no ``guide``."""
    if word not in GAMES.homes and not word.startswith(GDL):
        rules_of_game = getattr(maker_of(word), "guide", None)
        return cast("Texts", rules_of_game()) if rules_of_game else {}
    own = _data().get(word, {})
    if word.startswith(GDL):
        return {**gdl_header(library()[word.removeprefix(GDL)].read_text(encoding="utf-8")), **own}
    values = ", ".join(f"{key}={format_value(value)}" for key, value in parameters_of(GAMES[word]).items())
    return {**own, "parameters": f"{own['parameters']} Unless given: {values}."} if "parameters" in own else own


@cache
def _data() -> dict[str, Texts]:
    text = (files("infoset.games") / "guides.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def gdl_header(text: str) -> Texts:
    r"""Return the texts in the comments at the head of a game description, in the order of the shipped files.

    They are a line about the game, its rules, and, after ``Goals:`` and ``Source:``, its payoffs and its origin.

    >>> from infoset.view.guide import gdl_header
    >>> gdl_header("; Coin.\n;\n; Guess it.  Goals: 100 or 0.  Source: traditional.\n(role p)")["source"]
    'traditional.'
    """
    lines = text.splitlines()
    head = next((list(group) for comment, group in groupby(lines, _is_comment) if comment), [])
    if not lines or not head or lines[0] != head[0]:
        return {}
    body = " ".join(" ".join(line.lstrip("; ") for line in head[1:]).split())
    rest, _, source = body.partition("Source: ")
    rules, _, payoffs = rest.partition("Goals: ")
    found = {"about": head[0].lstrip("; ").strip(), "rules": rules, "payoffs": payoffs, "source": source}
    return {key: value.strip() for key, value in found.items() if value.strip()}


def _is_comment(line: str) -> bool:
    return line.startswith(";")


def _parts(texts: Texts) -> tuple[tuple[str, str], ...]:
    return tuple((title, texts[key]) for key, title in TITLES.items() if texts.get(key))


def title_of(game: Game) -> str:
    """Return the title in a game's file, or a hold'em spot in short; "" for other games, and files without a title."""
    if isinstance(game, CardGame):
        board, betting = " ".join(map(card_name, game.spot.board)), game.spot.betting
        return f"{board}, pot {betting.pot:,}, stacks {betting.stack:,}"
    if isinstance(game, EfgGame):
        return game.efg.title.strip()
    if isinstance(game, NfgGame):
        return game.nfg.title.strip()
    if isinstance(game, GdlGame) and not game.name.startswith(GDL) and Path(game.name).is_file():
        return gdl_title(read_text(Path(game.name)))
    return ""


def _stranger(name: str, game: Game) -> Guide:
    """Return the guide to a game that is not shipped: by its file's title and comments, or by its class."""
    texts: Texts = {"goal": "Each player wants as large a payoff as it can get."}
    head = ""
    players = ", ".join(game.players)
    if isinstance(game, EfgGame):
        head, said = title_of(game), game.efg.comment
        texts["turns"] = f"Players: {players}. Moves, probabilities and payoffs are those of the game tree in the file."
    elif isinstance(game, NfgGame):
        head, said = title_of(game), game.nfg.comment
        sizes = ", ".join(f"{who} {len(own)}" for who, own in zip(game.players, game.strategies, strict=True))
        texts["turns"] = f"All choose at once, once. Strategies: {sizes}; the table of payoffs is that of the file."
    elif isinstance(game, GdlGame):
        found = gdl_header(read_text(Path(game.name))) if Path(game.name).is_file() else {}
        head, said = found.pop("about", ""), ""
        texts = {**texts, "turns": f"Roles: {players}. The rules are those of the description.", **found}
    elif isinstance(game, OpenSpielGame):
        head, said = f"{game.spiel.get_type().long_name}, a game of OpenSpiel.", ""
        texts["turns"] = f"Players: {players}."
    else:
        ours = type(game).__module__.partition(".")[0] == "infoset"  # whose docstrings address programmers
        head, _, said = ("" if ours else type(game).__doc__ or "").strip().partition("\n\n")
        texts["turns"] = f"Players: {players}."
    if said.strip():
        texts["rules"] = shorten(" ".join(said.split()), MAX_TEXT)
    source = getattr(game, "file", "") or (game.name if isinstance(game, GdlGame) else "")
    if source:
        texts.setdefault("source", f"the file {Path(source).name}")
    return Guide(name, one_line(head, 300), _parts(texts), (), "")


def _example(game: Game, text: str) -> Iterator[str]:
    """Play an example through the rules and yield its events.

    Raises ``IllegalActionError`` for words that are no legal move.
    """
    words = [word.strip() for word in text.split(";")]
    state = game.start().state
    for _ in range(MAX_STEPS):
        if state.terminal or not words:
            break
        joint: list[Action | None] = []
        for player, who in enumerate(game.players):
            action_set = state.legal_actions(player)
            chosen = (
                action_set[0] if len(action_set) == 1 else _take(game, who, action_set, words) if action_set else None
            )
            joint.append(chosen)
            if len(action_set) > 1:
                yield f"{who}: {_words(game, chosen)}"
        answers = tuple([answer for answer, _ in state.chance_outcomes(joint)])
        chance_outcome = answers[0] if len(answers) == 1 else _take(game, CHANCE, answers, words) if answers else None
        if len(answers) > 1:
            yield f"{CHANCE}: {action_words(chance_outcome)}"
        state = state.play(joint, chance_outcome).state
    if words:
        raise IllegalActionError(f"{game.name}: the game is over before {words[0]!r}")
    if state.terminal:
        paid = zip(game.players, state.returns(), strict=True)
        yield f"the end: {', '.join(f'{who} {value:+g}'.replace('-', '−') for who, value in paid)}"
    else:
        yield "… and so on"


def _take(game: Game, who: str, action_set: tuple[Action, ...], words: list[str]) -> Action:
    """Return the move that the next words name, and consume them."""
    for action in action_set if words else ():
        if words[0] in (_words(game, action), action_words(action)):
            del words[0]
            return action
    given = words[0] if words else "nothing"
    raise IllegalActionError(f"{game.name}: {who} cannot choose {given!r}; allowed: {shorten(str(action_set), 200)}")


def _words(game: Game, action: Action | None) -> str:
    return getattr(VIEWS.of(game), "action_names", action_words)(action)


def guide_text(rules_of_game: Guide) -> str:
    """Return a guide as plain text, wrapped at ``WIDTH`` letters."""
    lines = [rules_of_game.name, *([rules_of_game.about] if rules_of_game.about else [])]
    for title, text in rules_of_game.parts:
        lines += ["", title, *_indented(text)]
    if rules_of_game.example:
        lines += ["", "Example", *(f"  {step}" for step in rules_of_game.example), *_indented(rules_of_game.note)]
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
