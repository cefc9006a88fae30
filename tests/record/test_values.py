"""Values in a recording: written and read again they are the same, or it is said that they are not."""

from __future__ import annotations

import builtins
import json
import math
from collections import namedtuple
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.errors import AgentKilled, RecordingError, RunFault, UnknownAliasError
from agentrt.record import Codec
from agentrt.record.values import Codecs, Unkept


@dataclass
class Money:
    units: int


MONEY = Codec("money", Money, lambda money: [money.units], lambda units: Money(*units))


def there_and_back(value, *codecs):
    text, problem = Codecs(codecs).write(value)
    assert problem == ""
    return Codecs(codecs).read(text, "file")


def same(one, other):
    """Equal, and of the same types, all the way down; nan is nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        is_same = one == other and math.copysign(1, one) == math.copysign(1, other)
        return is_same or (one != one and other != other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    return one == other


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(alphabet=st.characters(), max_size=8),
    st.binary(max_size=8),
)
keys = st.one_of(
    st.text(max_size=3), st.just("$"), st.integers(), st.booleans(), st.tuples(st.integers(), st.text(max_size=2))
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(st.integers(), max_size=4),
        st.frozensets(st.text(max_size=3), max_size=4),
        inner.map(lambda value: bytearray(b"x") if value is None else value),
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(values)
def test_a_value_comes_back_with_its_types(value):
    assert same(there_and_back(value), value)


@settings(max_examples=50)
@given(values)
def test_equal_values_have_equal_texts_and_are_ascii(value):
    text, _ = Codecs().write(value)
    assert text.isascii()
    assert Codecs().write(there_and_back(value))[0] == text


def test_half_of_a_surrogate_pair_is_a_text_too():
    assert there_and_back("\ud800!") == "\ud800!"


@settings(max_examples=50)
@given(st.lists(st.text(max_size=5), min_size=2, unique=True))
def test_a_set_is_written_in_the_order_of_its_texts(words):
    forth, back = set(), set()
    for word in words:
        forth.add(word)
    for word in reversed(words):
        back.add(word)
    assert Codecs().write(forth) == Codecs().write(back)


def test_types_of_ones_own_go_by_codecs():
    value = {"paid": (Money(3), [Money(0)])}
    assert there_and_back(value, MONEY) == value


def test_without_the_codec_the_reader_says_which_one_it_needs():
    text, _ = Codecs([MONEY]).write([Money(3)])
    with pytest.raises(
        RecordingError, match=r"it needs the codec 'money': hand it in, codecs=\[Codec\('money', ...\)\]"
    ):
        Codecs().read(text, "file")


@pytest.mark.parametrize(
    "codecs",
    [
        [MONEY, MONEY],
        [MONEY, MONEY._replace(name="cash")],
        [MONEY._replace(type=int), MONEY],
        [MONEY._replace(name="")],
    ],
)
def test_names_and_types_of_codecs_are_given_once(codecs):
    with pytest.raises(ValueError, match="names and types are given once"):
        Codecs(codecs)


Point = namedtuple("Point", "x y")


class Color(int):
    pass


ring = []
ring.append(ring)


@pytest.mark.parametrize(
    ("value", "name", "reason"),
    [
        (Money(1), "Money", "Money: it is no plain value, and there is no codec for its type"),
        ([Point(1, 2)], "list", "Point: it is no plain value"),
        ({"c": Color(3)}, "dict", "Color: it is no plain value"),
        (ring, "list", "list: it lies deeper than 48 levels"),
        (10**5000, "int", "writing it raised ValueError: Exceeds the limit"),
        ("x" * (16 * 1024 * 1024), "str", "it is longer than 16777216 characters"),
    ],
    ids=["object", "named tuple", "subclass", "ring", "digits", "long"],
)
def test_what_cannot_be_kept_is_written_as_such(value, name, reason):
    text, problem = Codecs().write(value)
    assert problem.startswith(reason)
    kept = Codecs().read(text, "file")
    assert type(kept) is Unkept
    assert kept.type_name == name
    assert kept.reason.startswith(reason)


def test_an_encode_that_raises_makes_an_unkept_value():
    bad = MONEY._replace(encode=lambda money: money.cents)
    assert (
        Codecs([bad]).write(Money(1))[1] == "writing it raised AttributeError: 'Money' object has no attribute 'cents'"
    )


# --- errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no", 3),
        KeyError(("a", b"b")),
        TimeoutError(),
        FileNotFoundError(2, "No such file", "map.txt"),
        ConnectionResetError(104, "reset"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_python_come_back(error):
    back = there_and_back(error)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.args == error.args


def test_a_group_of_errors_comes_back():
    back = there_and_back(ExceptionGroup("two", [ValueError(1), KeyError("x")]))
    assert (back.message, list(map(repr, back.exceptions))) == ("two", ["ValueError(1)", "KeyError('x')"])


@pytest.mark.parametrize(
    "error",
    [
        RunFault("it fell", agent="ann", path="top/Walk", tick=3),
        UnknownAliasError("woods:wulf", ("woods:wolf",)),
        AgentKilled(10, "no luck", agent="ann", path="top", tick=7),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_agentrt_come_back_with_their_fields(error):
    back = there_and_back(error)
    assert type(back) is type(error)
    fields = {name: value for name, value in vars(error).items() if name != "__notes__"}
    assert (str(back), vars(back)) == (str(error), fields)


class Own(ValueError):
    pass


Own.__name__ = "ValueError"


@pytest.mark.parametrize("error", [Own("x"), KeyboardInterrupt(), SystemExit(3)], ids=["own", "keyboard", "exit"])
def test_other_errors_are_not_kept(error):
    assert "it is no error of Python's own" in Codecs().write(error)[1]


def test_an_error_of_ones_own_goes_by_a_codec():
    codec = Codec("own", Own, lambda error: list(error.args), lambda args: Own(*args))
    assert type(there_and_back(Own("x"), codec)) is Own


# --- hostile texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"$": "pickle", "v": "x"}',
        '{"$": ["list"], "v": 1}',
        '{"$": "float", "v": "1e9"}',
        '{"$": "float"}',
        '{"$": "tuple", "v": 3}',
        '{"$": "bytes", "v": "!!"}',
        '{"$": "bytes", "v": 3}',
        '{"$": "dict", "v": [[[], 1]]}',
        '{"$": "dict", "v": [1]}',
        '{"$": "set", "v": [[1]]}',
        '{"$": "raised", "name": "eval", "v": []}',
        '{"$": "raised", "name": "SystemExit", "v": []}',
        '{"$": "raised", "name": "UnicodeDecodeError", "v": []}',
        '{"$": "error", "name": "AgentRTErrors", "text": "", "fields": {}}',
        '{"$": "error", "name": "RunFault", "text": "", "fields": []}',
        '{"$": "codec", "name": ["x"], "v": 1}',
        '{"$": "unkept"}',
        "[" * 200_000,
        "[" * 200 + "]" * 200,
        "1" * 5000,
    ],
    ids=lambda text: text[:30],
)
def test_a_text_that_nobody_wrote_is_a_recording_error(text):
    with pytest.raises(RecordingError, match=r"file: a value cannot be read"):
        Codecs([MONEY]).read(text, "file")


def test_fields_of_an_error_are_fields_and_nothing_else():
    data = {"$": "error", "name": "RunFault", "text": "t", "fields": {"__class__": 1, "_x": 2, "a b": 3, "tick": 4}}
    assert vars(Codecs().read(json.dumps(data), "file")) == {"tick": 4}


@pytest.mark.states(
    "tools: Recording: No class but errors of Python and of agentrt is ever made from a file; no pickle, no import "
    "path",
)
def test_no_class_of_python_that_is_no_error_is_ever_made():
    names = [name for name in vars(builtins) if not name.startswith("_")]
    for name in names:
        text = json.dumps({"$": "raised", "name": name, "v": ["x"]})
        try:
            made = Codecs().read(text, "file")
        except RecordingError:
            continue
        assert isinstance(made, Exception)
