"""The public surface: exactly these names, quick to import."""

import subprocess
import sys

import infoset

HEAVY = ("numpy", "scipy", "numba", "matplotlib", "typer", "pyspiel")


def test_every_public_name_is_there_and_nothing_else() -> None:
    assert sorted(infoset.__all__) == infoset.__all__
    assert {*infoset._HOME, "errors", "testing"} == set(infoset.__all__)
    for name in infoset.__all__:
        assert getattr(infoset, name) is not None
    assert set(dir(infoset)) == {*infoset.__all__, "__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(infoset, "sovle")


def test_import_pulls_in_nothing_heavy() -> None:
    code = f"import sys, infoset; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
