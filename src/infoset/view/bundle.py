"""A bundler of the browser's modules into one script, for pages without a server.

Each module keeps a scope of its own and sees of another module only what it imports.  Only the forms of import and
export that our modules use are supported::

    import { make, hue as colour } from "./dom.js";
    export function mountPlayer() …            export class, export const NAME = …, A = …;

Where there is no server, modules that call it are *replaced* by others with the same exports.  Lines that are one
comment, ``/** … */``, are left out, since pages carry a copy of the script each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath
from types import MappingProxyType
from typing import TypeAlias

from infoset.errors import PluginError
from infoset.plugins import plugins_of

PACKAGES = "packages.js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) )", re.MULTILINE)
NAMES = re.compile(r"^export (?:(?:async )?function\*?|class) ([\w$]+)", re.MULTILINE)
CONSTANTS = re.compile(r"^export (?:const|let) (.*?);$", re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(r"(?:^|, )([A-Za-z_$][\w$]*) = ")
COMMENT = re.compile(r"^ */\*\*.*\*/\n", re.MULTILINE)
OTHER = re.compile(r"^(import|export)\b.*", re.MULTILINE)

Replaced: TypeAlias = Mapping[str, str]
"""Modules and their replacements."""

NOTHING: Replaced = MappingProxyType({})


def source(name: str) -> str:
    """Return the text of a file of the page, such as ``player/deck.js``."""
    if name == PACKAGES:
        return packages_script()
    folder, _, rest = name.partition("/")
    others = page_folders() if rest else {}
    found = others[folder] / rest if folder in others else files(__package__).joinpath("page", *name.split("/"))
    return found.read_text(encoding="utf-8")


def page_folders() -> dict[str, Traversable]:
    """Return the folders of the page's files: infoset's own under an empty name, those of packages by their names."""
    found = {"": files(__package__) / "page"}
    for name, plugin in plugins_of("infoset.pages").items():
        with suppress(PluginError):
            found[name] = files(plugin.load()) / "page"
    return found


def packages_script() -> str:
    """Return the module ``packages.js``, which holds what ``page.js`` of each package exports, by its name."""
    names = [name for name in page_folders() if name]
    lines = [
        f'import {{ Seat as Seat{k}, Stage as Stage{k} }} from "./{name}/page.js";' for k, name in enumerate(names)
    ]
    parts = ", ".join(f"{name}: {{ Seat: Seat{k}, Stage: Stage{k} }}" for k, name in enumerate(names))
    return "\n".join([*lines, f"export const PACKAGES = {{ {parts} }};", ""])


def bundle(entry: str, name: str = "page", *, replaced: Replaced = NOTHING) -> str:
    """Return a script that runs the module ``entry`` and keeps its exports in the constant ``name``.

    Imports of a module that is ``replaced``, such as by ``{"api.js": "notebook/api.js"}``, get the other one.

    Raises ``ValueError`` where modules import one another in a cycle, or with an unsupported form of import or export.

    >>> from infoset.view.bundle import bundle
    >>> bundle("dom.js", "dom").startswith('const dom = (() => {')
    True
    """
    return _bundle(entry, name, tuple(replaced.items()))


@cache
def _bundle(entry: str, name: str, replaced: tuple[tuple[str, str], ...]) -> str:
    found: dict[str, str] = {}
    _collect(entry, (), found, dict(replaced))
    modules = "\n".join(f'modules["{path}"] = {text};' for path, text in found.items())
    head = f'const {name} = (() => {{\n"use strict";\nconst modules = {{}};'
    return f'{head}\n{modules}\nreturn modules["{entry}"];\n}})();\n'


def _collect(path: str, above: tuple[str, ...], found: dict[str, str], replaced: Replaced) -> None:
    """Add a module to ``found`` after the modules that it imports."""
    if path in above:
        raise ValueError(f"modules import one another: {' > '.join([*above, path])}")
    if path in found:
        return
    text = source(path)
    for match in IMPORT.finditer(text):
        _collect(_target(path, match[2], replaced), (*above, path), found, replaced)
    found[path] = scoped(path, text, replaced)


def scoped(path: str, text: str, replaced: Replaced = NOTHING) -> str:
    """Return a module as a function that is called at once and returns its exports.  Raises ``ValueError``."""
    exported = ", ".join(_exported(text))
    body = IMPORT.sub(
        lambda match: _import(match[1], _target(path, match[2], replaced)), EXPORT.sub("", COMMENT.sub("", text))
    )
    if other := OTHER.search(body):
        raise ValueError(f"{path}: {other[0]!r} is a way to import or export that is not understood")
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _exported(text: str) -> Iterator[str]:
    yield from NAMES.findall(text)
    for match in CONSTANTS.finditer(text):
        yield from CONSTANT.findall(_outermost(match[1]))


def _outermost(code: str) -> str:
    """Return declarations without the contents of brackets, which may hold assignments too."""
    while (shorter := re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]", "", code)) != code:
        code = shorter
    return code


def _import(names: str, target: str) -> str:
    wanted = ", ".join(name.strip().replace(" as ", ": ") for name in names.split(",") if name.strip())
    return f'const {{ {wanted} }} = modules["{target}"];\n'


def _target(path: str, module: str, replaced: Replaced) -> str:
    target = normpath(join(dirname(path), module))
    return replaced.get(target, target)
