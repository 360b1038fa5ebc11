"""The one grammar of names."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoset import load
from infoset.errors import FormatError, InfosetError, ParameterError, UnknownNameError
from infoset.names import Name, information_key, parse_name

VALUES = st.recursive(
    st.integers(-99, 99)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("abcxyz 012.,()=[]", max_size=8),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)
WORDS = st.text("abcdefgh_+-", min_size=1, max_size=8).filter(lambda w: w not in ("none", "true"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kuhn_poker", Name("kuhn_poker")),
        ("kuhn_poker()", Name("kuhn_poker")),
        ("k(players=3)", Name("k", (("players", 3),))),
        ("k( a = True , b=false,c=none )", Name("k", (("a", True), ("b", False), ("c", None)))),
        ("k(a=1.5,b=-2,c=1e-3,d=word)", Name("k", (("a", 1.5), ("b", -2), ("c", 1e-3), ("d", "word")))),
        ("k(a=[1,[2,x]],b='a b')", Name("k", (("a", (1, (2, "x"))), ("b", "a b")))),
        ("t(game=goofspiel(num_cards=3))", Name("t", (("game", Name("goofspiel", (("num_cards", 3),))),))),
    ],
)
def test_reads(text: str, expected: Name) -> None:
    assert parse_name(text) == expected


@given(WORDS, st.dictionaries(WORDS, VALUES, max_size=3))
def test_a_printed_name_reads_back(word: str, parameters: dict) -> None:
    name = Name(word, tuple(parameters.items()))
    assert parse_name(str(name)) == name


@pytest.mark.parametrize(
    "text", ["", "(", "k(", "k(a", "k(a=", "k(a=1", "k(a=1 b=2)", "k(a=1))", "k(a=[1)", "k(a=1,a=2)"]
)
def test_broken_names_say_where(text: str) -> None:
    with pytest.raises(FormatError, match=r"name:1:\d+: found .*, expected"):
        parse_name(text)


@given(st.text(max_size=60))
def test_any_text_reads_or_fails_cleanly(text: str) -> None:
    with suppress(FormatError):
        parse_name(text)


def test_hostile_names_end_at_once() -> None:
    for text in ("k(a=" + "[" * 5000, "k" * 200_000):
        with pytest.raises(FormatError) as error:
            parse_name(text)
        assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("kuhn_pokr", UnknownNameError, "did you mean 'kuhn_poker'"),
        ("Kuhn_Poker", UnknownNameError, "unknown game 'Kuhn_Poker'; did you mean 'kuhn_poker'"),
        ("meier", UnknownNameError, "did you mean 'gdl:meier'"),
        ("gdl:goofspeil", UnknownNameError, "did you mean 'goofspiel'"),
        ("gdl:meier(sides=4)", UnknownNameError, "unknown parameter of gdl:meier: 'sides'; known: none"),
        ("PommeFFA-v1", UnknownNameError, "did you mean 'pommerman:PommeFFA-v1'"),
        ("PommeFFACompetition-v9", UnknownNameError, "did you mean 'pommerman:PommeFFACompetition-v0'"),
        ("kuhn_poker(player=3)", UnknownNameError, "did you mean 'players'"),
        ("kuhn_poker(players=7)", ParameterError, "players=7 is out of range; allowed: 2 to 6"),
        ("kuhn_poker(players=2.0)", ParameterError, "is not an integer"),
        ("kuhn_poker(players=true)", ParameterError, "is not an integer"),
        ("kuhn_poker(players=1e23)", ParameterError, r"players=1e\+23 is not an integer"),
        (f"kuhn_poker(players={10**23})", ParameterError, "players=1(0){23} is out of range; allowed: 2 to 6"),
        ("pommerman:OneVsOne-v0(seed=1e23)", ParameterError, r"seed=1e\+23 is not an integer"),
        (f"pommerman:OneVsOne-v0(seed={10**23})", ParameterError, "seed=1(0){23} is out of range; allowed: 0 to"),
        ("goofspiel(points_order=up)", ParameterError, "not one of random, descending, ascending"),
        ("goofspiel(imp_info=1)", ParameterError, "is not true or false"),
        ("rock_paper_scissors(payoffs=[[0,1],[1,0]])", ParameterError, "3 rows of 3"),
        ("rock_paper_scissors(payoffs=[[0,1,inf],[1,0,1],[1,1,1]])", ParameterError, "finite"),
        ("no/such.efg", FormatError, "cannot be read"),
    ],
)
def test_bad_games_are_named(name: str, kind: type[InfosetError], words: str) -> None:
    with pytest.raises(kind, match=words):
        load(name)


TOKENS = st.tuples(
    st.none() | st.integers(0, 3) | st.text('ab[]: "\\(),', max_size=3),
    st.none()
    | st.just(())
    | st.integers(0, 3)
    | st.text('ab1[]: "\\(),', max_size=3)
    | st.just("start")
    | st.tuples(st.text("a,", max_size=2)),
)


@given(st.lists(TOKENS, max_size=4), st.lists(TOKENS, max_size=4))
def test_different_information_states_have_different_keys(one: list, other: list) -> None:
    def clean(records: list) -> tuple:
        """What the model tells apart: an own move observed as nothing or as () is the same knowledge."""
        kept = [(m, () if m is not None and o is None else o) for m, o in records if (m, o) != (None, None)]
        return tuple(kept)

    if clean(one) != clean(other):
        assert information_key(clean(one)) != information_key(clean(other))


def test_keys_read_well() -> None:
    assert information_key(((None, "K"), ("pass", ()), (None, "bet"))) == "K [pass] bet"
    assert information_key((("pass", "bet"),)) == "[pass]:bet"
    assert information_key(()) == "start"
