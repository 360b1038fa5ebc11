"""``infoset solve --method mccfr``: games whose positions fit while their histories do not."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoset import signs
from infoset.catalog import load
from infoset.cli.building import within
from infoset.cli.progress import SamplingProgress
from infoset.errors import CheckpointError
from infoset.names import build, check_choice, check_range, check_share, parse_name
from infoset.warm_up import ready

if TYPE_CHECKING:
    from infoset.runs import RunConfig, SamplingFolder
    from infoset.solvers.belief_response import PolicyEvaluation
    from infoset.solvers.mccfr import Mccfr
    from infoset.solvers.pooled_mccfr import PooledMccfr
    from infoset.tree.walk import Walk

MCCFR = "mccfr"
EXTERNAL, OUTCOME = "external", "outcome"
CHUNK_SECONDS = 1.0
CHECKPOINT_SECONDS = 60.0  # its arrays can be hundreds of megabytes
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Sampler:
    """How to sample: what ``mccfr(…)`` may say."""

    explore: float | None = None
    """The chance that a traversal tries all moves; of outcome sampling, the share of uniform draws."""
    sampling: str = EXTERNAL
    """Or ``outcome``: one play an iteration."""
    runs: int = 2
    """Independent ones, a thread each."""

    def __post_init__(self) -> None:
        from infoset.solvers.pooled_mccfr import MOST_RUNS

        check_choice("sampling", self.sampling, (EXTERNAL, OUTCOME))
        check_range("runs", self.runs, 1, MOST_RUNS)
        if self.explore is not None:
            check_share("explore", self.explore)

    def start(self, walk: Walk, seed: int) -> PooledMccfr:
        """A run at its beginning."""
        from infoset.solvers.mccfr import Mccfr
        from infoset.solvers.outcome_sampling import EXPLORATION, OutcomeMccfr
        from infoset.solvers.pooled_mccfr import PooledMccfr

        def one(seed: int) -> Mccfr:
            if self.sampling == EXTERNAL:
                return Mccfr(walk, seed, explore=self.explore)
            return OutcomeMccfr(walk, seed, exploration=EXPLORATION if self.explore is None else self.explore)

        return PooledMccfr(one, seed, self.runs)


def is_sampling(method: str | None, resumed: Path | None = None) -> bool:
    """Whether a method is the one here, or, where none is given, that of the run in a folder."""
    if method is None and resumed is not None:
        from infoset.runs import RunFolder

        method = RunFolder.read_config(resumed).method
    return method is not None and parse_name(method).word == MCCFR


def solve_by_sampling(
    game: str | None, method: str | None, iterations: int | None, seconds: float | None, seed: int, out: Path | None,
    resume: bool,
) -> dict[str, Any]:  # fmt: skip
    """Sample, save the policy, and say exactly how good it is.

    The method is ``mccfr`` with the parameters of ``Sampler``.
    """
    from infoset.runs import RunConfig, SamplingFolder
    from infoset.solvers.solve import Limits
    from infoset.tree.graph import explore as explore_game
    from infoset.tree.symmetry import find_symmetry
    from infoset.tree.walk import Walk

    saved = None
    if resume:
        if out is None:
            raise CheckpointError("--resume needs --out DIR, the folder of the run to go on with")
        folder, config, saved = SamplingFolder.open(out)
        for given, own in ((game, config.game), (method, config.method), (seed or None, config.seed)):
            if given not in (None, own):
                raise CheckpointError(
                    f"{out} holds a run of {config.game} by {config.method} with seed {config.seed}, not {given}"
                )
    else:
        assert game is not None
        SamplingFolder.check_free(out)
        config = RunConfig(game, method or MCCFR, seed=seed, iterations=iterations, seconds=seconds)
    Limits(iterations, None, seconds)
    sampler = build("method", parse_name(config.method), {MCCFR: Sampler})
    if seconds is None and iterations is None:
        seconds, iterations = config.seconds, config.iterations
    seconds = DEFAULT_SECONDS if seconds is None and iterations is None else seconds
    with SamplingProgress(seconds or 0.0) as progress:
        graph = explore_game(load(config.game), progress=within(seconds, progress.exploring))
        walk = Walk.of(graph, find_symmetry(graph))

        work, first = [sampler.start(walk, config.seed) for _ in range(2)]
        ready("sampling")
        first.step(1)  # loads the compiled code, or compiles it, before the clock runs
        if saved:
            work.restore(saved)
        if not resume:
            folder = SamplingFolder.create(out, config)
        spent = _sample(work, folder, iterations, seconds, float(saved["seconds"]) if saved else 0.0, progress)
        return _evaluated(walk, work, folder, config, spent, progress)


def _sample(
    work: PooledMccfr, folder: SamplingFolder, iterations: int | None, seconds: float | None, before: float,
    progress: SamplingProgress,
) -> float:  # fmt: skip
    """Until the clock or the count ends it, or an interruption; returns the seconds spent in all."""
    from infoset.solvers.solve import interrupts

    began = noted = time.monotonic()
    spent = before
    with interrupts() as stop:
        while (
            not stop.is_set()
            and (seconds is None or spent < seconds)
            and (iterations is None or work.iteration < iterations)
        ):
            left = None if iterations is None else min(iterations - work.iteration, _chunk(work, spent))
            work.run(left, min(CHUNK_SECONDS, seconds - spent) if seconds is not None else CHUNK_SECONDS)
            spent = before + time.monotonic() - began
            progress.advance(work.iteration, work.num_infosets, spent)
            if time.monotonic() - noted > CHECKPOINT_SECONDS:
                folder.save_checkpoint(work, spent)
                noted = time.monotonic()
    folder.save_checkpoint(work, spent)
    return spent


def _chunk(work: PooledMccfr, spent: float) -> int:
    """Iterations of about a second."""
    return max(1, int(work.iteration / spent)) if spent > 0 else 1


def _evaluated(
    walk: Walk, work: PooledMccfr, folder: SamplingFolder, config: RunConfig, spent: float, progress: SamplingProgress
) -> dict[str, Any]:
    from infoset.solvers.belief_response import PolicyEvaluation
    from infoset.solvers.infoset_policy import NO_ROW
    from infoset.solvers.mccfr import RARE
    from infoset.solvers.sampled_policy import SampledPolicy

    policy = work.policy(RARE)
    about = {"method": config.method, "iterations": work.iteration}
    path = SampledPolicy.of(config.game, walk, policy, about).save(folder.path / "policy.npz")
    body = {
        "game": config.game, "method": config.method, "iterations": work.iteration, "seconds": spent,
        "infosets": int((policy.row != NO_ROW).sum()), "bytes": work.nbytes, "symmetries": walk.group.order,
        "policy": str(path), "folder": str(folder.path),
    }  # fmt: skip
    evaluation = PolicyEvaluation(walk, policy)
    if not _evaluate(evaluation, folder, progress):
        return body
    found = evaluation.result
    return body | {
        "values": found.values, "exploitability": found.exploitability, "nash_conv": found.nash_conv,
    }  # fmt: skip


def _evaluate(evaluation: PolicyEvaluation, folder: SamplingFolder, progress: SamplingProgress) -> bool:
    """Go on with what an earlier call left of the same evaluation; whether nothing interrupted it before its end."""
    from infoset.solvers.solve import interrupts

    if saved := folder.load_evaluation():
        with suppress(CheckpointError):  # of another policy, after more sampling
            evaluation.restore(saved)
    noted = time.monotonic()
    with interrupts() as stop, signs.during("evaluating exactly"):
        while not evaluation.step():
            progress.evaluating(evaluation.share)
            signs.detail(f"exactly, {evaluation.share:.1%} done")
            if stop.is_set() or time.monotonic() - noted > CHECKPOINT_SECONDS:
                folder.save_evaluation(evaluation)
                noted = time.monotonic()
            if stop.is_set():
                return False
    folder.forget_evaluation()
    return True


def sampling_text(body: dict[str, Any]) -> str:
    """The figures as lines."""
    each = body["bytes"] / max(body["infosets"], 1)
    lines = [
        f"{body['game']} by {body['method']}, {body['symmetries']} symmetries",
        f"stopped          after {body['iterations']:,} iterations, {body['seconds']:.3g} s",
        f"sets             {body['infosets']:,}, {each:,.0f} bytes each",
    ]
    if "values" in body:
        lines += [
            f"values           {', '.join(f'{value:+.9g}' for value in body['values'])}",
            f"exploitability   {body['exploitability']:.4g}, exactly",
            f"nash_conv        {body['nash_conv']:.4g}",
        ]
    else:
        lines.append(f"not evaluated    'infoset solve --resume --out {body['folder']}' goes on with it")
    return "\n".join([*lines, f"run folder       {body['folder']}"])
