"""The browser's modules as one script, for pages that must stand alone.

A module sees nothing of another one but what it imports: each keeps a scope of its own.  Of the ways to import and to
export, those are understood in which ours are written::

    import { make, hue as colour } from "./dom.js";
    export function mountPlayer() …            export class, export const NAME = …, A = …;

Where there is no server, modules that ask one are *replaced* by others that export the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from posixpath import dirname, join, normpath
from types import MappingProxyType
from typing import TypeAlias

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) )", re.MULTILINE)
NAMES = re.compile(r"^export (?:(?:async )?function\*?|class) ([\w$]+)", re.MULTILINE)
CONSTANTS = re.compile(r"^export (?:const|let) (.*?);$", re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(r"(?:^|, )([A-Za-z_$][\w$]*) = ")
OTHER = re.compile(r"^(import|export)\b.*", re.MULTILINE)

Replaced: TypeAlias = Mapping[str, str]
"""Modules with those that stand for them."""

NOTHING: Replaced = MappingProxyType({})


def source(name: str) -> str:
    """A file of the browser's, such as ``pommerman/board.js``."""
    return files(__package__).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def bundle(entry: str, name: str = "page", *, replaced: Replaced = NOTHING) -> str:
    """A script that does what the module ``entry`` does and keeps what that exports as the constant ``name``.

    Whoever imports a module that is ``replaced``, such as ``{"api.js": "notebook/api.js"}``, gets the other one.

    Raises ``ValueError`` where the modules import one another in a circle or in another way than is understood here.

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
    """Into ``found`` goes the module and, before it, what it imports."""
    if path in above:
        raise ValueError(f"modules import one another: {' > '.join([*above, path])}")
    if path in found:
        return
    text = source(path)
    for match in IMPORT.finditer(text):
        _collect(_target(path, match[2], replaced), (*above, path), found, replaced)
    found[path] = scoped(path, text, replaced)


def scoped(path: str, text: str, replaced: Replaced = NOTHING) -> str:
    """A module as a function that is called at once and gives what it exports.  Raises ``ValueError``."""
    exported = ", ".join(_exported(text))
    body = IMPORT.sub(lambda match: _import(match[1], _target(path, match[2], replaced)), EXPORT.sub("", text))
    if other := OTHER.search(body):
        raise ValueError(f"{path}: {other[0]!r} is a way to import or export that is not understood")
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _exported(text: str) -> Iterator[str]:
    yield from NAMES.findall(text)
    for match in CONSTANTS.finditer(text):
        yield from CONSTANT.findall(_outermost(match[1]))


def _outermost(code: str) -> str:
    """Declarations without what is inside brackets: there, too, something may be set."""
    while (shorter := re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]", "", code)) != code:
        code = shorter
    return code


def _import(names: str, target: str) -> str:
    wanted = ", ".join(name.strip().replace(" as ", ": ") for name in names.split(",") if name.strip())
    return f'const {{ {wanted} }} = modules["{target}"];\n'


def _target(path: str, module: str, replaced: Replaced) -> str:
    target = normpath(join(dirname(path), module))
    return replaced.get(target, target)
