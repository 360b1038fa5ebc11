"""The grammar of names, ``name(key=value,…)`` as in OpenSpiel, for games, methods and agents.

Values are integers, floats, ``true``/``True``, ``false``/``False``, ``none``/``None``, words, quoted strings,
lists ``[a,b]`` and names with parameters of their own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from math import isfinite
from numbers import Integral, Real
from typing import NamedTuple, TypeAlias, TypeVar

from infoset.errors import FormatError, ParameterError, UnknownNameError, shorten

Value: TypeAlias = "int | float | bool | str | tuple[Value, ...] | Name | None"
T = TypeVar("T")

MAX_LENGTH = 100_000
MAX_DEPTH = 20
MAX_COUNT = 2**53
"""The largest number of iterations and the like: a float represents all integers up to it exactly."""
NOTHING_YET = "start"
_TOKEN = re.compile(r"""\s*(?:([(),=\[\]])|"([^"]*)"|'([^']*)'|([^\s(),=\[\]"']+))""")
_PLAIN = re.compile(r"[^\s\[\](),\"\\]+")
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


class Name(NamedTuple):
    """A parsed name: the word in front and its parameters in order."""

    word: str
    parameters: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.word
        return f"{self.word}({','.join(f'{k}={format_value(v)}' for k, v in self.parameters)})"


def format_value(value: Value) -> str:
    """Return a parameter's value in a form that the grammar reads back."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, tuple):
        return f"[{','.join(map(format_value, value))}]"
    if isinstance(value, str):
        if re.fullmatch(r"[\w.:+/-]+", value) and _scalar(value) == value:
            return value
        return f"'{value}'" if '"' in value else f'"{value}"'
    return str(value).lower() if isinstance(value, bool) or value is None else repr(value)


def parse_name(text: str) -> Name:
    """Parse ``name(key=value,…)``.  Raises ``FormatError`` with the column."""
    if len(text) > MAX_LENGTH:
        raise FormatError(f"a name of {len(text)} characters; at most {MAX_LENGTH} are allowed", "name")
    parser = _Parser(text)
    name = parser.name(0)
    parser.end()
    return name


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def fail(self, expected: str) -> FormatError:
        found = self.text[self.position :].strip()[:1] or "the end"
        return FormatError(
            f"found {found!r}, expected {expected} in {shorten(self.text)!r}", "name", 1, self.position + 1
        )

    def peek(self) -> tuple[str, str]:
        """Return the next token as (punctuation, word); one of the two is empty, both are at the end."""
        match = _TOKEN.match(self.text, self.position)
        if not match:
            return "", ""
        mark, double, single, bare = match.groups()
        return mark or "", next((g for g in (double, single, bare) if g is not None), "")

    def take(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if not match:
            raise self.fail("a name")
        self.position = match.end()
        return next(g for g in match.groups() if g is not None)

    def accept(self, mark: str) -> bool:
        if self.peek()[0] == mark:
            self.take()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.fail(f"{mark!r}")

    def word(self, what: str) -> str:
        if not self.peek()[1]:
            raise self.fail(what)
        return self.take()

    def end(self) -> None:
        if self.text[self.position :].strip():
            raise self.fail("nothing more")

    def name(self, depth: int) -> Name:
        word = self.word("a name")
        return Name(word, self.parameters(depth) if self.accept("(") else ())

    def parameters(self, depth: int) -> tuple[tuple[str, Value], ...]:
        found: dict[str, Value] = {}
        while not self.accept(")"):
            if found:
                self.expect(",")
            key = self.word("a parameter's name")
            self.expect("=")
            if key in found:
                raise self.fail(f"each parameter once, {shorten(key)!r} occurs twice,")
            found[key] = self.value(depth + 1)
        return tuple(found.items())

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise self.fail(f"at most {MAX_DEPTH} levels of nesting")
        if self.accept("["):
            return self.items(depth)
        quoted = self.text[self.position :].lstrip()[:1] in ("'", '"')
        word = self.take() if quoted else self.word("a value")
        if quoted:
            return word
        if self.accept("("):
            return Name(word, self.parameters(depth))
        return _scalar(word)

    def items(self, depth: int) -> tuple[Value, ...]:
        items: list[Value] = []
        while not self.accept("]"):
            if items:
                self.expect(",")
            items.append(self.value(depth + 1))
        return tuple(items)


def _scalar(word: str) -> Value:
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    try:
        number = float(word)
    except ValueError:
        return word
    try:
        return int(word) if isfinite(number) else number  # an integer beyond all floats is read as infinite
    except ValueError:
        return number


def build(kind: str, name: Name, makers: Mapping[str, Callable[..., T]]) -> T:
    """Call the maker that ``name`` refers to with its parameters; names and types are checked first.

    Raises what ``check_parameters`` raises and ``ParameterError`` for a value out of range (the maker's own check).
    """
    check_parameters(kind, name, makers)
    return makers[name.word](**dict(name.parameters))


def check_parameters(kind: str, name: Name, makers: Mapping[str, Callable[..., object]]) -> None:
    """Raise an error for a wrong name or parameter.

    That is ``UnknownNameError`` for a name or parameter that does not exist, ``ParameterError`` for a value of the
    wrong type.
    """
    if name.word not in makers:
        raise UnknownNameError(kind, name.word, makers)
    if not name.parameters:
        return
    signature = inspect.signature(makers[name.word])
    for key, value in name.parameters:
        if key not in signature.parameters:
            raise UnknownNameError(f"parameter of {name.word}:", key, signature.parameters)
        _check_type(name.word, key, value, signature.parameters[key])


_KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "a word", tuple: "a list"}
_OPTIONAL = {f"{kind.__name__} | None": kind for kind in (int, float, str)}


def _check_type(word: str, key: str, value: Value, parameter: inspect.Parameter) -> None:
    """Raise ``ParameterError`` for a value of the wrong type.

    It must have the type of the default, or, where that is ``None``, the annotated one; an integer may stand for a
    float.  A maker that takes any ``Value`` checks it itself.
    """
    default, optional = parameter.default, _OPTIONAL.get(str(parameter.annotation))
    kind = type(default) if optional is None else optional
    free = parameter.annotation == "Value" or default is parameter.empty
    if free or (default is None and (value is None or optional is None)):
        return
    if type(value) is kind or (kind is float and type(value) is int) or (kind is tuple and isinstance(value, tuple)):
        return
    what = f"{_KINDS.get(kind, 'allowed')} (default {format_value(default)})"
    raise ParameterError(f"{word}: {key}={shorten(format_value(value))} is not {what}")


def full_name(word: str, maker: Callable[..., object], **values: Value) -> str:
    """Return the name that builds an object again: ``word`` with the parameters that differ from the defaults."""
    defaults = inspect.signature(maker).parameters
    return str(Name(word, tuple((k, v) for k, v in values.items() if v != defaults[k].default)))


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raise ``ParameterError`` unless ``value`` is an integer and ``low <= value <= high``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name}={shorten(str(value))} is not an integer; allowed: {low} to {high}")
    if not low <= value <= high:
        raise ParameterError(f"{name}={shorten(str(value))} is out of range; allowed: {low} to {high}")


def is_number(value: object) -> bool:
    """Return whether ``value`` is an integer or a float, of Python or NumPy; truth values are not numbers."""
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))


def check_number(name: str, value: float, low: float, high: float) -> None:
    """Raise ``ParameterError`` unless ``value`` is a number and ``low <= value <= high``."""
    if not is_number(value) or not low <= value <= high:
        raise ParameterError(f"{name}={shorten(str(value))}; allowed: numbers from {low:g} to {high:g}")


def check_share(name: str, value: float) -> None:
    """Raise ``ParameterError`` unless ``0 < value <= 1``."""
    if not 0.0 < value <= 1.0:
        raise ParameterError(f"{name}={value}; allowed: from more than 0 to 1")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ``ParameterError`` unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise ParameterError(f"{name}={shorten(value)} is not one of {', '.join(choices)}")


def information_key(tokens: tuple[tuple[object, object], ...]) -> str:
    """Return the readable key of an information state: observations as they are, own moves in brackets.

    ``K [pass] bet`` is a player who saw a king, passed, and then saw a bet; ``[pass]:bet`` would be one who
    saw the bet in the step of its own move.  Distinct states have distinct keys: a word that could be
    mistaken for anything else is quoted.
    """
    return " ".join(map(_token_text, tokens)) or NOTHING_YET


def policy_key(known: tuple[tuple[object, object], ...], map_name: str) -> str:
    """Return the key of an information set in policies: for a game with an information map the label last observed.

    >>> from infoset.names import policy_key
    >>> policy_key(((None, "Q against a bet"),), "labels"), policy_key(((None, "K"), ("pass", ())), "")
    ('Q against a bet', 'K [pass]')
    """
    if not map_name:
        return information_key(known)
    label = known[-1][1] if known else ""
    return label if isinstance(label, str) else format_action(label)


def _token_text(token: tuple[object, object]) -> str:
    action, observation = token
    if action is None:
        return format_action(observation)
    seen = "" if observation == () else f":{format_action(observation)}"
    return f"[{format_action(action)}]{seen}"


def action_names(action_set: tuple[object, ...]) -> tuple[str, ...]:
    """Return the moves of one action set as words: texts as they are, unless two moves would then look alike."""
    words = tuple([action if isinstance(action, str) else format_action(action) for action in action_set])
    return words if len(set(words)) == len(words) else tuple(map(format_action, action_set))


def format_action(action: object) -> str:
    """Return a move or observation as one readable word; quoted where it could be misread."""
    if isinstance(action, tuple):
        return f"({','.join(map(format_action, action))})"
    text = str(action)
    if isinstance(action, str) and (not _PLAIN.fullmatch(text) or _scalar(text) != text or text == NOTHING_YET):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return text
