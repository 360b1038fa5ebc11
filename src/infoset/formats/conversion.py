"""``convert``: a game, a policy, a replay or a hand history in another file format."""

from __future__ import annotations

from pathlib import Path

from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.catalog import HAND, SPOT, load, load_named
from infoset.compiled import check_is_game
from infoset.errors import FormatError, ParameterError, shorten
from infoset.evaluation import tabulated
from infoset.files import SUFFIXES, check_file, replace_file
from infoset.formats.efg import efg_for_gambit, game_to_efg, write_efg
from infoset.formats.nfg import game_to_nfg, nfg_for_gambit, write_nfg
from infoset.formats.phh import read_spot
from infoset.formats.replays import REPLAY, json_keys, read_match, recording_of, writer_for
from infoset.formats.spot_file import spot_text
from infoset.formats.submission import export_submission
from infoset.games.bet_sizes import STREETS
from infoset.policies.joint_policy import JointPolicy
from infoset.policies.loading import load_policy, policy_file
from infoset.policies.tabular import TabularPolicy


@checks_arguments
def convert(
    source: str | Path | Game, target: str | Path, *, max_histories: int | None = None, normalise: bool = False,
    street: str | None = None,
) -> Path:  # fmt: skip
    """Convert a game, a policy, a replay or a hand history to the file format of ``target``.

    A game goes to .efg or .nfg (its reduced normal form), a policy to .npz, .json or a submission to Kaggle (.py), a
    replay of Pommerman to the reference's game_state.json and back, a hand of poker (.phh) to the spot with which a
    ``street`` begins (.toml): the flop, the turn or the river, by default the flop.

    Games are given by name, by file, or as objects.  The content of a .json file is recognised by its keys: "state" or
    "blob" is the reference's, "steps" a replay, anything else a policy.  Labels are written so that Gambit accepts
    them, with a ``GambitWarning`` where some had to be changed.  ``normalise``: chance probabilities in an .efg file
    that sum to one only approximately become the fractions that were meant; without it such a game does not go to .efg.
    Raises ``FormatError`` for anything else, and for a hand without such a spot; ``MissingExtraError`` for a hand where
    the extra ``poker``, for a submission where ``interop`` is not installed; and what ``export_submission`` raises.

    >>> infoset.convert("kuhn_poker", "kuhn.efg").name
    'kuhn.efg'
    """
    target = Path(target)
    check_file(target)
    is_hand = isinstance(source, (str, Path)) and Path(source).suffix == HAND and target.suffix == SPOT
    if street is not None and not is_hand:
        raise ParameterError(f"street={shorten(street)!r} applies to hand histories only: FILE{HAND} to FILE{SPOT}")
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
    if is_hand:
        _refuse_limit(max_histories)
        text = spot_text(read_spot(source, street or STREETS[0]), Path(source).name)
        return replace_file(target, lambda file: file.write(text.encode()))
    keys = json_keys(source)
    is_replay, is_recording = REPLAY in keys, recording_of(keys) is not None
    if (is_replay or is_recording) and target.suffix == ".json":
        _refuse_limit(max_histories)
        match = read_match(source)
        if is_replay:
            writer_for(match).write_game(match, target)
        else:
            match.save(target)
    elif policy_file(source) is not None and not (is_replay or is_recording) and target.suffix in SUFFIXES:
        _convert_policy(source, target, max_histories)
    elif policy_file(source) is not None and not (is_replay or is_recording) and target.suffix == SUBMISSION:
        _refuse_limit(max_histories)
        policy = load_policy(source)
        export_submission(policy, load_named(policy.game, source), target)
    elif target.suffix in GAME_TEXTS and not (is_replay or is_recording):
        _write_game(load(source), target, max_histories, normalise)
    else:
        raise FormatError(
            f"cannot be converted to {target.name!r}; a game goes to .efg or .nfg, a policy to .npz, .json or .py, a "
            f"replay to the reference's game_state.json and back, a hand of poker ({HAND}) to {SPOT}",
            source,
        )
    return target


def _write_game(game: Game, target: Path, max_histories: int | None, normalise: bool) -> Path:
    text = GAME_TEXTS[target.suffix](game, max_histories, normalise)
    return replace_file(target, lambda file: file.write(text.encode()))


def _efg_text(game: Game, max_histories: int | None, normalise: bool) -> str:
    return write_efg(efg_for_gambit(game_to_efg(game, max_histories), game.name, normalise, stacklevel=4))


def _nfg_text(game: Game, max_histories: int | None, normalise: bool) -> str:
    return write_nfg(nfg_for_gambit(game_to_nfg(game, max_histories), game.name, stacklevel=4))


SUBMISSION = ".py"
GAME_TEXTS = {".efg": _efg_text, ".nfg": _nfg_text}


def _convert_policy(source: str, target: Path, max_histories: int | None) -> None:
    """Convert any saved policy; one without readable keys gets them from the game that it was made for."""
    policy = load_policy(source)
    if isinstance(policy, JointPolicy) and target.suffix == ".json":
        raise FormatError("correlated plans are saved as .npz only", source)
    if not isinstance(policy, TabularPolicy) and target.suffix == ".json":
        policy = tabulated(load_named(policy.game, source), policy, max_histories)
    else:
        _refuse_limit(max_histories)
    policy.save(target)


def _refuse_limit(max_histories: int | None) -> None:
    if max_histories is not None:
        raise ParameterError(f"max_histories={max_histories} would not be used: this conversion builds no tree")
