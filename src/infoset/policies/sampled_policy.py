"""What sampling found, as a file: an ``InfosetPolicy`` with the game that it belongs to."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from infoset.errors import PolicyError, shorten
from infoset.files import BROKEN_ARCHIVE, read_arrays, replace_file
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.policies.tabular import SCHEMA
from infoset.solvers.sampling.infoset_table import NO_ROW
from infoset.tree.graph import GameGraph
from infoset.tree.symmetry import find_symmetry
from infoset.tree.walk import Walk


class _Header(msgspec.Struct):
    schema: int
    game: str
    symmetric: bool
    fingerprint: str
    made_by: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SampledPolicy:
    """A policy on the walk of a game, over its symmetries where ``symmetric``."""

    game: str
    symmetric: bool
    fingerprint: str
    """Of the walk: a policy is numbered as that is."""
    policy: InfosetPolicy = field(repr=False)
    made_by: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, game: str, walk: Walk, policy: InfosetPolicy, made_by: dict[str, Any] | None = None) -> SampledPolicy:
        return cls(game, walk.group.order > 1, fingerprint(walk), policy, made_by or {})

    def walk(self, graph: GameGraph) -> Walk:
        """The walk of a graph that the policy belongs to.  Raises ``PolicyError`` where that is another game's."""
        walk = Walk.of(graph, find_symmetry(graph) if self.symmetric else None)
        if fingerprint(walk) != self.fingerprint:
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {graph.name} as it is here")
        return walk

    def save(self, path: Path) -> Path:
        """As ``.npz``; the file appears whole or not at all."""
        header = _Header(SCHEMA, self.game, self.symmetric, self.fingerprint, self.made_by)
        arrays = {**self.policy._asdict(), "header": np.frombuffer(msgspec.json.encode(header), dtype=np.uint8)}
        return replace_file(path, lambda file: np.savez_compressed(file, **arrays))

    @classmethod
    def load(cls, path: str | Path) -> SampledPolicy:
        """Read a saved policy; nothing in the file is run.  Raises ``PolicyError`` for a broken one."""
        try:
            arrays = read_arrays(Path(path))
            header = msgspec.json.decode(arrays.pop("header").tobytes(), type=_Header)
            policy = InfosetPolicy(
                arrays["first_child"].astype(np.int32),
                arrays["token"].astype(np.int32),
                arrays["fixing"].astype(np.int64),
                arrays["row"].astype(np.int32),
                arrays["behaviour"].astype(np.float64),
            )  # fmt: skip
            _check(policy)
        except (*BROKEN_ARCHIVE, msgspec.MsgspecError) as error:
            raise PolicyError(f"{path}: not a policy file: {shorten(str(error), 200)}") from None
        if header.schema != SCHEMA:
            raise PolicyError(f"{path}: policy schema {header.schema}; this version reads {SCHEMA}")
        return cls(header.game, header.symmetric, header.fingerprint, policy, header.made_by)


def _check(policy: InfosetPolicy) -> None:
    """Raises ``ValueError`` for arrays that kernels cannot walk."""
    states, entries = len(policy.token), len(policy.behaviour)
    if any(array.ndim != 1 for array in policy) or {len(policy.fixing), len(policy.row)} != {states}:
        raise ValueError("its arrays do not fit together")
    first, row = policy.first_child, policy.row
    if len(first) != states + 1 or (np.diff(first) < 0).any() or not 0 <= first[0] <= first[-1] <= states:
        raise ValueError("its states are no tree")
    if ((row < NO_ROW) | (row >= entries)).any() or not ((policy.behaviour >= 0) & (policy.behaviour <= 1)).all():
        raise ValueError("its rows are no chances")


def is_sampled(path: str | Path) -> bool:
    """Whether a file holds such a policy, and not a table with readable keys."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "first_child.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def fingerprint(walk: Walk) -> str:
    """Of everything by which a policy is numbered."""
    digest = hashlib.sha256()
    for array in (walk.position, walk.edge, *walk.group):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]
