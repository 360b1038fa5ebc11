"""Questions to language models: a game's rules, a player's situation and its legal actions in words."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Picture
from infoset.view.guide import guide, guide_text
from infoset.view.pictures import VIEWS, action_words, picture_text, record_words, seen

FORMAT = "End your answer with one line of its own: Action: NUMBER, where NUMBER is that of a legal action."


def rules_text(game: Game, player: int) -> str:
    """Return the rules of a game as one player is given them, and the form of an answer.

    A game without a guide is described by its file or its class.

    >>> from infoset.view.question import rules_text
    >>> rules_text(infoset.load("kuhn_poker"), 1).splitlines()[0]
    'You are P2 (player 2 of 2) in the following game.'
    """
    rules = guide(game.name, game)
    rules = rules._replace(parts=tuple((title, text) for title, text in rules.parts if title != "Source"))
    seat = f"You are {game.players[player]} (player {player + 1} of {len(game.players)}) in the following game."
    return f"{seat}\n\n{guide_text(rules)}\n\nYour goal is the largest payoff for {game.players[player]}.\n{FORMAT}"


def situation_text(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> str:
    """Return in words what a player has done and seen so far, and its legal actions, numbered from 1.

    >>> from infoset.view.question import situation_text
    >>> print(situation_text(infoset.load("kuhn_poker"), 1, ((None, "K"), (None, "bet")), ("pass", "bet")))
    So far:
    - you get a K
    - P1 bets
    <BLANKLINE>
    Your legal actions:
    1: pass
    2: bet
    """
    events = [record_words(game, player, record, infostate[:k]) for k, record in enumerate(infostate)]
    lines = ["So far:", *(f"- {words}" for words in events)] if events else ["The game begins."]
    picture = seen(game, player, infostate, legal_actions)
    if picture["kind"] == "payoffs":  # the rules of a game in normal form are its table
        lines += ["", picture_text(_without_analysis(picture))]
    words = getattr(VIEWS.of(game), "action_names", action_words)
    numbered = [f"{number}: {words(action)}" for number, action in enumerate(legal_actions, start=1)]
    return "\n".join([*lines, "", "Your legal actions:", *numbered])


def _without_analysis(picture: Picture) -> Picture:
    """Return a picture of payoffs without the marks of best responses and equilibria."""
    tables = [
        table | {"cells": [[cell | {"best": [False] * len(cell["best"])} for cell in row] for row in table["cells"]]}
        for table in picture["tables"]
    ]
    return picture | {"tables": tables, "equilibria": []}
