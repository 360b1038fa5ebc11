"""A recorded game as data for ``page/player.js``: the picture after every step, for each viewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, cast

import msgspec

from infoset.base import Game, InformationState, Step, Teamed, own_record
from infoset.catalog import READERS, load_named
from infoset.errors import ParameterError, one_line
from infoset.match.replay import Fault, Match, MatchStep, replay_steps
from infoset.view.pictures import action_words, record_words, seen, view_hook, whole

MAX_BYTES = 24_000_000
"""The limit on the data of a page, since browsers read it whole; a longer game is cut."""
IDLE = (None, "noop")
"""Entries that are no move to report: in game descriptions, a player that is not to move says ``noop``."""
LEFT = "Left before its end"
LONGEST_NAME = 60


def recording(match: Match, game: Game | None = None) -> dict[str, Any]:
    """Return the recording of ``match``, checked by replaying it; ``game`` is loaded by its name unless given.

    A view of the game may make recordings of its own, such as ``view.pommerman.recording``.  For any other game it is
    ``{"kind": "pictures", …}`` with ``game``, ``title``, ``players``, ``agents``, ``teams`` (lists of players),
    ``returns``, ``over``, ``outcome`` and ``winners``, and ``frames``, one for the start and one per step: ``whole``,
    a picture of the complete state; ``seen``, (n,) a picture of what each player knows; ``actions``, (n,) texts;
    ``chance_outcome``, a text; ``describe_record``, (n,) what happened to each player; ``seconds``, (n,) each one's thinking time;
    ``faults``, lists of player, kind and detail.  Missing entries are ``None``.  ``note`` says where a long game is
    cut.

    Raises ``FormatError`` where the match is not a valid play of the game or the game is unknown.

    >>> from infoset.view.recording import recording
    >>> shown = recording(infoset.play_match("kuhn_poker", ["random", "random"], seed=1))
    >>> shown["kind"], len(shown["frames"]), shown["frames"][1]["seen"][0]["kind"]
    ('pictures', 5, 'table')
    """
    game = load_named(match.game, "the replay") if game is None else game
    if own := view_hook(game, "recording"):
        return cast("dict[str, Any]", own(match, game))
    steps = replay_steps(match, game)
    frames: list[dict[str, Any]] = []
    room = MAX_BYTES
    for frame in _frames(match, game, steps):
        room -= len(msgspec.json.encode(frame))
        if room < 0 and frames:
            break
        frames.append(frame)
    every = len(steps) == len(frames)
    return heading(game, match.game, match.agents) | {
        "returns": list(match.returns),
        "over": match.over,
        "outcome": outcome(match) if match.over else LEFT,
        "winners": winners(match),
        "frames": frames,
        "note": "" if every else f"the first of {len(match.steps):,}: a page with more would be too large",
    }


def start_of(recorded: dict[str, Any], step: int | None) -> int | None:
    """Return ``step`` if the recording has it.  Raises ``ParameterError`` otherwise."""
    first = recorded["frames"][0].get("step", 0)
    last = first + len(recorded["frames"]) - 1
    if step is not None and not first <= step <= last:
        raise ParameterError(f"step={step} is out of range; allowed: {first} to {last}")
    return step


def winners(match: Match) -> list[int]:
    """Return the players with the largest payoff, unless all payoffs are equal."""
    best = max(match.returns)
    return (
        []
        if not match.over or min(match.returns) == best
        else [k for k, pay in enumerate(match.returns) if pay == best]
    )


def outcome(match: Match) -> str:
    """Return the outcome of a game, in a few words."""
    best, names = winners(match), list(map(_name, match.players))
    if best:
        return f"{' and '.join(names[k] for k in best)} win{'s' * (len(best) == 1)}"
    pay = f"{match.returns[0]:+g}" if match.returns[0] else "nothing"
    return f"{names[0]} gets {pay}" if len(names) == 1 else f"Everyone gets {pay}"


class Frames:
    """A maker of the frames of a game in pictures, one after the other, also while the game goes on.

    >>> from infoset.view.recording import Frames
    >>> game = infoset.load("kuhn_poker")
    >>> Frames(game).add(game.start(), None)["seen"][0]["kind"]
    'table'
    """

    def __init__(self, game: Game) -> None:
        self.game, self.steps, self.actions = game, list[Step](), list[MatchStep]()
        self.infostate: list[InformationState] = [()] * len(game.players)

    def add(self, step: Step, played: MatchStep | None, faults: Iterable[Fault] = ()) -> dict[str, Any]:
        """Return the frame of the next step, to which ``played`` led; ``None`` for the start."""
        game, n = self.game, len(self.infostate)
        self.steps.append(step)
        if played is None:
            played = MatchStep((None,) * n, None, (None,) * n)
        else:
            self.actions.append(played)
        descriptions: list[str | None] = [None] * n
        for p in range(n):
            record = own_record(played.actions[p], step.observation(p))
            if record is not None:
                descriptions[p] = record_words(game, p, record, self.infostate[p])
                self.infostate[p] = (*self.infostate[p], record)
        return {
            "whole": whole(game, self.steps, self.actions),
            "seen": [seen(game, p, self.infostate[p]) for p in range(n)],
            "moves": [None if action in IDLE else action_words(action) for action in played.actions],
            "chance_outcome": None if played.chance_outcome is None else action_words(played.chance_outcome),
            "told": descriptions,
            "seconds": list(played.seconds),
            "faults": [[fault.player, fault.kind, one_line(fault.detail)] for fault in faults],
        }


def _frames(match: Match, game: Game, steps: list[Step]) -> Iterator[dict[str, Any]]:
    """Yield a frame for the start, then one for each step."""
    made = Frames(game)
    for number, (step, played) in enumerate(zip(steps, (None, *match.steps), strict=True)):
        yield made.add(step, played, [fault for fault in match.faults if fault.step == number])


def heading(game: Game, name: str, agents: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a recording of pictures that describe the game, without the play."""
    return {
        "kind": "pictures",
        "game": _name(name),
        "title": title_of(name),
        "players": list(map(_name, game.players)),
        "agents": list(map(_name, agents)),
        "teams": _teams(game),
    }


def _teams(game: Game) -> list[list[int]]:
    if isinstance(game, Teamed):
        return [list(team) for team in game.teams]
    return [[p] for p in range(len(game.players))]


def title_of(name: str) -> str:
    """Return a game's name as a heading: words without punctuation, a file without its folder.

    >>> from infoset.view.recording import title_of
    >>> title_of("gdl:blind_tic_tac_toe"), title_of("goofspiel(num_cards=4)"), title_of("games/Half street.efg")
    ('Blind tic tac toe', 'Goofspiel', 'Half street')
    """
    word = name if name.lower().endswith(tuple(READERS)) else name.partition("(")[0].rpartition(":")[2]
    plain = PurePath(word).stem.replace("_", " ").strip() or name
    return _name(plain[:1].upper() + plain[1:])


def _name(text: str) -> str:
    """Return a name cut to a length that cannot flood the page."""
    return one_line(text, LONGEST_NAME)
