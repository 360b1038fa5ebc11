"""Games of ``kaggle-environments`` (its environments ``open_spiel_…``): their names and what agents observe in them.

The package plays games of OpenSpiel.  A game is loaded by the name of its environment with the parameters that Kaggle
chose for it, as one of infoset's own games where that is the same game, and any game that OpenSpiel has can be observed
as there (extra ``interop``).  Everything here was compared with version 1.33.2.
"""

from __future__ import annotations

import json
import pickle
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from infoset.base import Action, Game, JointAction, State
from infoset.catalog import load
from infoset.errors import UnknownNameError, UnsupportedGameError, shorten
from infoset.formats.openspiel import OpenSpielGame, OpenSpielState, import_pyspiel, load_openspiel
from infoset.names import Name, Value, check_choice, parse_name

ENVIRONMENT = "open_spiel_"
"""The beginning of the names of Kaggle's environments."""
OBSERVATION, INFORMATION_STATE = "observation", "information_state"
SECONDS_PER_ACTION, SECONDS_PER_RUN = 3600, 172_800
OVERAGE_SECONDS = 12
SPARE_STEPS = 100  # which Kaggle adds to the longest history
NOT_READY = {"submission": -1}
"""The answer that stands for none."""
AGENT_ERROR = -2
"""The number by which an agent reports its own failure."""


class Counterpart(NamedTuple):
    """One of infoset's games that is a game of OpenSpiel."""

    word: str
    parameters: Mapping[str, str]
    """infoset's parameters by OpenSpiel's; other parameters of OpenSpiel have the values of ``fixed``."""
    fixed: Mapping[str, Value] = {}
    versions: tuple[str, str] = ("", "")
    """The values of ``gameversion`` that stand for ``abrupt=false`` and ``abrupt=true``."""


def _same(*parameters: str) -> dict[str, str]:
    return dict(zip(parameters, parameters, strict=True))


COUNTERPARTS: Mapping[str, Counterpart] = {
    "dark_hex": Counterpart(
        "dark_hex",
        {"num_rows": "rows", "num_cols": "columns", "gameversion": "abrupt"},
        {"obstype": "reveal-nothing"},
        ("cdh", "adh"),
    ),
    "goofspiel": Counterpart(
        "goofspiel",
        _same("players", "num_cards", "imp_info", "points_order", "returns_type"),
        {"egocentric": False, "num_turns": -1},
    ),
    "kuhn_poker": Counterpart("kuhn_poker", _same("players")),
    "leduc_poker": Counterpart(
        "leduc_poker", _same("players"), {"action_mapping": False, "starting_player": 0, "suit_isomorphism": False}
    ),
    "liars_dice": Counterpart("liars_dice", _same("numdice", "dice_sides", "players"), {"bidding_rule": "reset-face"}),
    "matching_pennies_3p": Counterpart("matching_pennies_3p", {}),
    "matrix_rps": Counterpart("rock_paper_scissors", {}),
    "oshi_zumo": Counterpart("oshi_zumo", _same("coins", "size", "horizon", "alesia", "min_bid")),
    "phantom_ttt": Counterpart(
        "phantom_tic_tac_toe",
        {"gameversion": "abrupt"},
        {"obstype": "reveal-nothing"},
        ("classical", "abrupt"),
    ),
}
"""infoset's games by OpenSpiel's names."""

DEFAULTS: Mapping[str, str] = {
    "capture_the_flag": "capture_the_flag(horizon=300)",
    "dots_and_boxes": "dots_and_boxes(num_rows=8,num_cols=8)",
    "go": "go(board_size=9)",
    "goofspiel": "goofspiel(num_cards=4,points_order=descending,returns_type=total_points)",
    "hanabi": "hanabi(players=2,colors=5,ranks=5,hand_size=5,max_life_tokens=3,max_information_tokens=8)",
    "havannah": "havannah(board_size=8)",
    "repeated_game": "repeated_game(stage_game=matrix_pd(),num_repetitions=100)",
    "universal_poker": (
        'universal_poker(betting=nolimit,bettingAbstraction=fullgame,blind="2 1",firstPlayer="2 1 1 1",'
        'numBoardCards="0 3 1 1",numHoleCards=2,numPlayers=2,numRanks=13,numRounds=4,numSuits=4,stack="200 200",'
        "calcOddsNumSims=1000000)"
    ),
}
"""Kaggle's parameters of a game, by OpenSpiel's name, where they are not OpenSpiel's."""

REPEATED = ("repeated_poker", "python_repeated_pokerkit")
OWN_TEXTS = ("dark_hex", "oshi_zumo")
"""Games that Kaggle describes in texts of its own, which are made here."""
OTHER_TEXTS = (
    "amazons", "backgammon", "bargaining", "breakthrough", "capture_the_flag", "checkers", "clobber", "coin_game",
    "connect_four", "dots_and_boxes", "gin_rummy", "go", "go_fish", "hanabi", "havannah", "hive", "lines_of_action",
    "mancala", "markov_soccer", "negotiation", "nine_mens_morris", "othello", "python_ant_foraging", "quoridor",
    "shogi", "snake", "ultimate_tic_tac_toe", "y",
)  # fmt: skip
"""Games that Kaggle describes in texts of its own, which are not."""


def load_kaggle(name: str) -> Game:
    """Load ``kaggle:open_spiel_NAME(…)``, given without the prefix: the game of that environment, by its parameters.

    Parameters are OpenSpiel's and take the place of Kaggle's, as ``openSpielGameParameters`` does there.  Raises
    ``UnsupportedGameError`` for repeated poker, and what ``load`` raises.

    >>> infoset.load("kaggle:open_spiel_goofspiel").name
    'goofspiel(num_cards=4,points_order=descending,returns_type=total_points)'
    """
    asked = parse_name(name)
    if not asked.word.startswith(ENVIRONMENT):
        raise UnknownNameError("environment", asked.word, [ENVIRONMENT + word for word in COUNTERPARTS])
    word = asked.word.removeprefix(ENVIRONMENT)
    if word in REPEATED:
        raise UnsupportedGameError(
            f"kaggle:{asked.word} is 100 hands of hold'em, each from before the flop; not loaded. From the flop on a "
            "single hand is a spot: holdem(…)"
        )
    given = dict(parse_name(DEFAULTS.get(word, word)).parameters) | dict(asked.parameters)
    ours = native_name(word, given)
    return load(ours) if ours else load_openspiel(spiel_text(word, given))


def native_name(word: str, given: Mapping[str, Value]) -> str:
    """Return the name of infoset's own game that is OpenSpiel's game of these parameters; "" where there is none."""
    counterpart = COUNTERPARTS.get(word)
    if counterpart is None:
        return ""
    given = dict(given)
    if word == "dark_hex" and (side := given.pop("board_size", None)) is not None:
        given = {"num_rows": side, "num_cols": side} | given
    found: list[tuple[str, Value]] = []
    for key, value in given.items():
        if key in counterpart.parameters:
            is_version = key == "gameversion" and value in counterpart.versions
            found.append((counterpart.parameters[key], value == counterpart.versions[1] if is_version else value))
        elif counterpart.fixed.get(key, value) != value or key not in counterpart.fixed:
            return ""
    return str(Name(counterpart.word, tuple(found)))


def spiel_name(game: Game) -> str:
    """Return OpenSpiel's name of a game.  Raises ``UnsupportedGameError`` for a game that OpenSpiel does not have."""
    if isinstance(game, OpenSpielGame):
        return game.name.partition(":")[2]
    own = game.name.partition("(")[0]
    word = next((word for word, each in COUNTERPARTS.items() if each.word == own), "")
    if word:
        counterpart, given = COUNTERPARTS[word], dict(parse_name(game.name).parameters)
        unknown = given.keys() - set(counterpart.parameters.values())
        if not unknown and load(game.name) == game:
            found = {key: given[own] for key, own in counterpart.parameters.items() if own in given}
            if "gameversion" in found:
                found["gameversion"] = counterpart.versions[bool(found["gameversion"])]
            return spiel_text(word, found)
    raise UnsupportedGameError(
        f"{shorten(game.name)} is not a game of kaggle-environments, which plays games of OpenSpiel; allowed: "
        f"openspiel:NAME(…), and with OpenSpiel's parameters {', '.join(each.word for each in COUNTERPARTS.values())}"
    )


def spiel_text(word: str, parameters: Mapping[str, Value]) -> str:
    """Return the name of a game as OpenSpiel reads it."""
    written = [f"{key}={spiel_text(v.word, dict(v.parameters)) if isinstance(v, Name) else v}"
               for key, v in parameters.items()]  # fmt: skip
    return f"{word}({','.join(written)})"


class Environment:
    """A game as an agent of ``kaggle-environments`` observes it: its configuration, and observations of states.

    ``observation_type`` is Kaggle's choice for the game where it is empty; ``legal_actions`` says whether observations
    list the legal actions.  Raises ``UnsupportedGameError`` for a game that OpenSpiel does not have or that Kaggle
    describes in texts of its own, and ``MissingExtraError``.
    """

    def __init__(self, game: Game, observation_type: str = "", legal_actions: bool = True) -> None:
        self.game, self.lists_actions = game, legal_actions
        name, pyspiel = spiel_name(game), import_pyspiel()
        self.serialize = pyspiel.serialize_game_and_state
        named = pyspiel.load_game(name)
        kind = named.get_type()
        self.word: str = kind.short_name
        if self.word in OTHER_TEXTS:
            raise UnsupportedGameError(
                f"{self.word}: kaggle-environments describes this game in a text of its own, which is not made here"
            )
        if getattr(game, "sampled", False):
            raise UnsupportedGameError(f"{game.name}: OpenSpiel draws the chance of this game itself")
        texts = {
            OBSERVATION: kind.provides_observation_string,
            INFORMATION_STATE: kind.provides_information_state_string,
        }
        self.observation_type = observation_type or next(word for word, has in texts.items() if has)
        check_choice("observation_type", self.observation_type, tuple(word for word, has in texts.items() if has))
        self.parameters: dict[str, Any] = named.get_parameters()
        self.spiel = pyspiel.load_game(self.word, self.parameters)
        self.has_own_text = self.word in OWN_TEXTS
        if self.has_own_text and self.observation_type != OBSERVATION:
            raise UnsupportedGameError(f"{self.word}: kaggle-environments offers observations of it only")
        self.full_name = str(self.spiel)
        self.given_name = str(named)
        if self.has_own_text:
            self.full_name = self.given_name = self.full_name.replace(self.word, f"{self.word}_proxy", 1)

    def configuration(self, path: str, seconds: float | None = None) -> dict[str, Any]:
        """Return the configuration that the agent of a file is called with; ``seconds`` is the time for an action."""
        return {
            "episodeSteps": self.spiel.max_history_length() + SPARE_STEPS,
            "actTimeout": SECONDS_PER_ACTION if seconds is None else seconds,
            "runTimeout": SECONDS_PER_RUN,
            "openSpielGameString": self.given_name,
            "openSpielGameName": self.word,
            "openSpielGameParameters": dict(self.parameters),
            "observationType": self.observation_type,
            "useOpenings": False,
            "useImage": False,
            "includeLegalActions": self.lists_actions,
            "loadPresetHands": False,
            "metadata": {},
            "strictMode": False,
            "savePrompt": True,
            "saveResponse": True,
            "freeForm": False,
            "includeGenerateReturns": False,
            "illegalMoveForfeit": True,
            "__raw_path__": path,
        }

    def setup(self) -> dict[str, Any]:
        """Return the observation with which every agent is called once before the game begins."""
        return {"remainingOverageTime": OVERAGE_SECONDS, "step": 0}

    def observation(self, spiel: Any, player: int, step: int) -> dict[str, Any]:
        """Return what ``player`` observes in a state of OpenSpiel, before the decision of number ``step``."""
        found = self.setup() | {
            "step": step,
            "observationString": self.text(spiel, player),
            "currentPlayer": spiel.current_player(),
            "playerId": player,
            "isTerminal": spiel.is_terminal(),
            "serializedGameAndState": self._serialized(spiel),
        }
        if self.lists_actions:
            numbers = spiel.legal_actions(player)
            found["legalActions"] = numbers
            # Kaggle leaves out the player, so that the texts are those of joint actions where players move at once
            found["legalActionStrings"] = [spiel.action_to_string(number) for number in numbers]
        return found

    def text(self, spiel: Any, player: int) -> str:
        """Return the text of what ``player`` observes in a state of OpenSpiel in which somebody has to move."""
        if self.observation_type == INFORMATION_STATE:
            return str(spiel.information_state_string(player))
        text = str(spiel.observation_string(player))
        if self.word == "dark_hex":
            return _dark_hex_text(text, self.parameters, spiel.current_player())
        return _oshi_zumo_text(text, self.parameters, spiel.move_number()) if self.word == "oshi_zumo" else text

    def _serialized(self, spiel: Any) -> str:
        if not self.has_own_text:
            return str(self.serialize(self.spiel, spiel))
        # a state of Kaggle's own class, which holds OpenSpiel's as its attribute
        state = b64encode(pickle.dumps({"__wrapped__": spiel})).decode()
        history = ",".join(f"{each.player}:{each.action}" for each in spiel.full_history())
        return (
            "# Automatically generated by OpenSpiel SerializeGameAndState\n[Meta]\nVersion: 1\n\n"
            f"[Game]\n{self.full_name}\n[State]\nhistory={history}\nmove_number={spiel.move_number()}\n__dict__={state}\n"
        )

    def start(self, state: State) -> Any:
        """Return OpenSpiel's initial state, where ``state`` is infoset's."""
        return state.spiel if isinstance(state, OpenSpielState) else self.spiel.new_initial_state()

    def follow(
        self, spiel: Any, state: State, actions: JointAction, chance_outcome: Action | None, after: State
    ) -> Any:
        """Return OpenSpiel's state after the step from ``state``, where it is ``spiel``, to ``after``.

        Moves and outcomes of chance are matched by their order.  Raises ``UnsupportedGameError`` where their numbers
        differ, so that the games do.
        """
        if isinstance(after, OpenSpielState):
            return after.spiel
        spiel = spiel.clone()
        moved = {p: state.legal_actions(p).index(action) for p, action in enumerate(actions) if action is not None}
        if moved:
            numbers = {p: self.numbers(spiel, p, state.legal_actions(p)) for p in moved}
            if spiel.is_simultaneous_node():
                spiel.apply_actions([numbers[p][moved[p]] for p in range(len(actions))])
            else:
                (mover,) = moved
                spiel.apply_action(numbers[mover][moved[mover]])
        if chance_outcome is not None:
            outcomes = [outcome for outcome, _ in state.chance_outcomes(actions)]
            self._check(spiel.is_chance_node() and len(outcomes) == len(spiel.chance_outcomes()))
            spiel.apply_action(spiel.chance_outcomes()[outcomes.index(chance_outcome)][0])
        return spiel

    def numbers(self, spiel: Any, player: int, legal_actions: tuple[Action, ...]) -> list[int]:
        """Return OpenSpiel's numbers of the legal actions.  Raises ``UnsupportedGameError`` where there are others."""
        found: list[int] = spiel.legal_actions(player)
        self._check(len(found) == len(legal_actions))
        return found

    def _check(self, agrees: bool) -> None:
        if not agrees:
            raise UnsupportedGameError(f"{self.game.name} and OpenSpiel's {self.full_name} have other moves or chances")


def _dark_hex_text(text: str, parameters: Mapping[str, Any], mover: int) -> str:
    return json.dumps(
        {
            "current_player": "xo"[mover],
            "is_terminal": False,
            "winner": None,
            "num_rows": parameters["num_rows"],
            "num_cols": parameters["num_cols"],
            "board": [list(row) for row in text.split("\n") if row],
        }
    )


def _oshi_zumo_text(text: str, parameters: Mapping[str, Any], turn: int) -> str:
    coins, _, field = text.strip().removeprefix("Coins: ").partition(", Field: ")
    return json.dumps(
        {
            "field": field,
            "field_size": len(field),
            "wrestler_position": field.find("W"),
            "coins": list(map(int, coins.split())),
            "current_player": "simultaneous",
            "move_number": turn,
            "is_terminal": False,
            "winner": None,
            "params": {
                "alesia": bool(parameters["alesia"]),
                "starting_coins": int(parameters["coins"]),
                "size": int(parameters["size"]),
                "horizon": int(parameters["horizon"]),
                "min_bid": int(parameters["min_bid"]),
            },
        }
    )
