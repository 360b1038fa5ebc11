"""Policies in files, of any kind: a file is read according to its content."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from infoset.base import Policy
from infoset.compiled import Compiled
from infoset.errors import PolicyError
from infoset.files import BROKEN_ARCHIVE, POLICY, SUFFIXES, archive_names, describe_damage, no_such_path
from infoset.policies.belief_policy import BeliefPolicy
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.policies.public_policy import PublicPolicy
from infoset.policies.sampled_policy import SampledPolicy
from infoset.policies.stage_policy import StagePolicy
from infoset.policies.tabular import TabularPolicy
from infoset.policies.vector_policy import VectorPolicy


@runtime_checkable
class SavedPolicy(Protocol):
    """A policy as a value, with the game it was made for and how it was made; ``on`` returns it in play on a game."""

    @property
    def game(self) -> str: ...

    @property
    def made_by(self) -> Any: ...

    def on(self, compiled: Compiled) -> Policy:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write the policy to a file, in full or not at all."""
        ...


def policy_file(name: str) -> Path | None:
    """Return the policy file that a name refers to: itself, or that of a run's folder; ``None`` for other names."""
    path = Path(name)
    if path.suffix in SUFFIXES and "(" not in name:
        return path
    return path / POLICY if os.path.isfile(path / POLICY) else None  # noqa: PTH113 - no error for any name


def load_policy(path: str | Path) -> SavedPolicy:
    """Read a saved policy of any kind, or that of a run's folder; no code in the file is run.

    Raises ``PolicyError`` for a broken one.

    >>> from infoset.policies.loading import load_policy
    >>> solution = infoset.solve("kuhn_poker", "lp")
    >>> load_policy(solution.policy.save("kuhn.npz")).game
    'kuhn_poker'
    """
    file = policy_file(str(path)) or Path(path)
    if not file.is_file():
        raise PolicyError(f"{path}: {no_such_path(path)}")
    if file.suffix == ".json":
        return TabularPolicy.load(file)
    try:
        names = archive_names(file)
    except BROKEN_ARCHIVE as error:
        raise PolicyError(f"{path}: not a policy file: {describe_damage(error)}") from None
    for kind in (
        BeliefPolicy,
        CorrelatedPolicy,
        FactoredPolicy,
        SampledPolicy,
        PublicPolicy,
        StagePolicy,
        VectorPolicy,
    ):
        if kind.mark in names:
            return kind.load(file)
    return TabularPolicy.load(file)
