"""Plug-ins: what installed packages add to infoset through their entry points in the groups ``infoset.…``.

An entry point is a name and the place of an object, ``module:attribute``.  Names are read from the metadata of the
installed packages, once per process and only when a name is sought that infoset itself does not have; a package is
imported when one of its objects is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from infoset.errors import MissingExtraError, PluginError
from infoset.interruption import running_foreign_code

GROUPS = "infoset."
"""The common beginning of the names of all groups."""


class Plugin(NamedTuple):
    """One entry point: an object that an installed package provides under a name."""

    group: str
    name: str
    place: str
    """``module:attribute``, or a module alone."""
    package: str
    """The name and version of the package."""

    def load(self) -> Any:
        """Import and return the object.  Raises ``PluginError``, in one line, or ``MissingExtraError``."""
        module, _, attribute = self.place.partition(":")
        what = f"{self.name} of the package {self.package}"

        def convert(error: BaseException, why: str) -> BaseException:
            failed = PluginError(f"{what} cannot be imported: {why}")
            return error if isinstance(error, MissingExtraError) else failed

        with running_foreign_code(convert):
            found = import_module(module)
            return getattr(found, attribute) if attribute else found


def plugins_of(group: str) -> dict[str, Plugin]:
    """Return the entry points of a group by name."""
    return _installed().get(group, {})


def is_installed(module: str) -> bool:
    """Return whether a module belongs to infoset or to the package of a plug-in."""
    own = module.partition(".")[0]
    return own == "infoset" or any(
        own == found.place.partition(":")[0].partition(".")[0]
        for plugins in _installed().values()
        for found in plugins.values()
    )


@cache
def _installed() -> dict[str, dict[str, Plugin]]:
    """Read all entry points for infoset by group and name; of equal names in a group the first package's counts."""
    from importlib.metadata import distributions  # takes longer than the rest of ``import infoset``

    packages: dict[str, list[Plugin]] = {}
    for package in distributions():
        if f"[{GROUPS}" not in (package.read_text("entry_points.txt") or ""):
            continue
        label = f"{package.name} {package.version}"
        own = [Plugin(e.group, e.name, e.value.replace(" ", ""), label) for e in package.entry_points]
        packages.setdefault(package.name, own)  # the first one found is the one that is imported
    found: dict[str, dict[str, Plugin]] = {}
    for name in sorted(packages, key=lambda name: (name != "infoset", name)):
        for plugin in packages[name]:
            found.setdefault(plugin.group, {}).setdefault(plugin.name, plugin)
    return found
