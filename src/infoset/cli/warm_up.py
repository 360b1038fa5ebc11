"""Compile the library's kernels once, so that later commands need not wait for them."""

from time import monotonic
from typing import Annotated

import typer

from infoset.cli.options import AsJson
from infoset.cli.output import print_json, write
from infoset.cli.progress import CompilingProgress
from infoset.errors import UnknownNameError, UnsupportedSystemError


def run(
    only: Annotated[list[str] | None, typer.Argument(metavar="[WHAT]…", help="What to compile (all).")] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Processes (one per core, at most 8).")] = None,
    json_: AsJson = False,
) -> None:
    from infoset.kernel_cache import cache_folder
    from infoset.warm_up import (  # these bring Numba, which --help does not need
        compile_sets,
        listing_packages,
        recorded,
    )

    packages = listing_packages()
    known = tuple(recorded(packages).sets)
    for name in only or ():
        if name not in known:
            raise UnknownNameError("set of kernels", name, known)
    began = monotonic()
    with CompilingProgress() as progress:
        compiled = compile_sets(only or known, progress.advance, processes, packages)
    seconds, folder = monotonic() - began, cache_folder()
    if json_:
        print_json({**compiled._asdict(), "seconds": seconds, "folder": str(folder)})
    elif compiled.kernels:
        write(f"{compiled.kernels} kernels compiled in {seconds:.1f} s, cached in {folder}")
    elif not compiled.failed:
        write(f"nothing to compile: {folder} has all kernels")
    if compiled.failed:
        raise UnsupportedSystemError(f"{compiled.failed} kernels could not be compiled and cached in {folder}")
