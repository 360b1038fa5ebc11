"""The variants of Pommerman under the reference's names, as the makers of a family of games."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoset.errors import ParameterError, shorten
from infoset.files import read_text
from infoset.names import Value, format_value, full_name
from infoset_pommerman.config import CONFIGS, PREFIX, config, parameters

if TYPE_CHECKING:
    from infoset_pommerman.game import Pommerman


def _maker(variant: str) -> Callable[..., Pommerman]:
    def make(seed: int | None = None, state: str | None = None, **changes: Value) -> Pommerman:
        """Make a game; ``state`` is the path of a state file, ``changes`` are rules other than the variant's."""
        from infoset_pommerman.game import Pommerman  # imported late: it loads compiled kernels
        from infoset_pommerman.state_json import read_state, state_text

        name = PREFIX + full_name(variant, make, **changes, seed=seed, state=state)
        for key, value, kind in (("seed", seed, "an integer"), ("view", changes.get("view"), "an integer or none")):
            if value is not None and type(value) is not int:
                raise ParameterError(f"{variant}: {key}={shorten(format_value(value))} is not {kind}")
        rules = config(variant, **changes)
        if state is None:
            return Pommerman(name, rules, seed)
        if seed is not None:
            raise ParameterError(f"{variant}: seed={seed} and state={state} both say where to begin; give one")
        row = read_state(read_text(Path(str(state))), rules, str(state))
        return Pommerman(name, rules, state=state_text(row, rules))

    make.__signature__ = signature_of(variant)  # type: ignore[attr-defined]  # names are checked against it
    make.training_method = "ppo"  # type: ignore[attr-defined]
    make.guide = partial(guide_of, variant)  # type: ignore[attr-defined]
    make.__doc__ = f"Pommerman: {CONFIGS[variant].about}."
    return make


def guide_of(variant: str) -> dict[str, str]:
    """Return the texts about a variant for people, with its numbers."""
    config = CONFIGS[variant]
    general, own = _guides()["general"], _guides()[config.game_type.name]
    sight = f"They see {2 * (config.view or 0) + 1} x {2 * (config.view or 0) + 1} cells around them."
    steps = ", ".join(map(str, config.collapses))
    numbers: dict[str, Any] = {
        **vars(config),
        "sight": "They see the whole board." if config.view is None else sight,
        "collapse": f" After the steps {steps} a ring of the board becomes wall, the outermost first." if steps else "",
    }
    joined = {key: " ".join(filter(None, (general.get(key), own.get(key)))) for key in {**general, **own}}
    texts = {key: text.format(**numbers) for key, text in joined.items()}
    return {**texts, "game": f"{PREFIX}{variant}(seed=1)"}


@cache
def _guides() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("infoset_pommerman") / "guides.toml").read_text(encoding="utf-8"))


def signature_of(variant: str) -> Signature:
    """Return the parameters of a variant's name as a signature.

    ``view`` is annotated to accept any value, as it may be none in every variant.
    """
    return Signature([
        Parameter(key, Parameter.KEYWORD_ONLY, default=value, annotation="Value" if key == "view" else Parameter.empty)
        for key, value in parameters(variant).items()
    ])  # fmt: skip


VARIANTS: Mapping[str, Callable[..., Pommerman]] = {variant: _maker(variant) for variant in CONFIGS}
"""Makers by the reference's names."""
