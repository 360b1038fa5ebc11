"""What solving leaves behind, of whatever kind: a policy in a file, read by what is in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from infoset.base import Policy
from infoset.compiled import Compiled
from infoset.errors import PolicyError
from infoset.files import BROKEN_ARCHIVE, POLICY, SUFFIXES, archive_names, describe_damage, no_such_path
from infoset.policies.correlated_policy import CorrelatedPolicy
from infoset.policies.factored_policy import FactoredPolicy
from infoset.policies.public_policy import PublicPolicy
from infoset.policies.sampled_policy import SampledPolicy
from infoset.policies.tabular import TabularPolicy


@runtime_checkable
class SavedPolicy(Protocol):
    """A policy as a value: which game it was made for, and how; ``on`` a game it plays."""

    @property
    def game(self) -> str: ...

    @property
    def made_by(self) -> Any: ...

    def on(self, compiled: Compiled) -> Policy:
        """What it plays there.  Raises ``PolicyError`` where it was made for another game."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write it; the file appears whole or not at all."""
        ...


def policy_file(name: str) -> Path | None:
    """The file that a name stands for: itself, or that of a run's folder; ``None`` where it is no such thing."""
    path = Path(name)
    if path.suffix in SUFFIXES and "(" not in name:
        return path
    return path / POLICY if os.path.isfile(path / POLICY) else None  # noqa: PTH113 - no error for any name


def load_policy(path: str | Path) -> SavedPolicy:
    """Read a saved policy of any kind, or that of a run's folder; nothing in the file is run.

    Raises ``PolicyError`` for a broken one.

    >>> from infoset.policies.saved import load_policy
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
    for kind in (CorrelatedPolicy, FactoredPolicy, SampledPolicy, PublicPolicy):
        if kind.mark in names:
            return kind.load(file)
    return TabularPolicy.load(file)
