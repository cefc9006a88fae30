"""Reading plain data of others: each question takes its kind of value, and says where another one stands."""

from __future__ import annotations

import pytest

from agentrt.body.codec import JsonObject
from agentrt.errors import DataFault

FIELDS = {
    "text": "a",
    "number": 0.5,
    "whole": 7,
    "flag": True,
    "null": None,
    "object": {"a/b": {"~": [1, (2, None)]}},
    "texts": ["a", "b"],
    "words": [["a", "b"], ("c", "d")],
    "flags": [["a", True]],
    "objects": [{"n": 1}, {"n": 2}],
}


def test_what_is_of_its_kind_is_read():
    fields = JsonObject(FIELDS)
    assert (fields.text("text"), fields.number("number"), fields.number("whole"), fields.whole("whole")) == (
        *("a", 0.5, 7, 7),
    )
    assert fields.flag("flag") is True
    assert (fields.is_null("null"), fields.is_null("missing"), fields.is_null("flag")) == (True, True, False)
    assert fields.texts("texts") == ("a", "b")
    assert fields.pairs("words", str) == (("a", "b"), ("c", "d"))
    assert fields.pairs("flags", bool) == (("a", True),)
    assert fields.each("objects", lambda one: one.whole("n")) == (1, 2)
    assert fields.names() == tuple(FIELDS)
    assert fields.plain("object") == fields.plain_object("object") == {"a/b": {"~": [1, [2, None]]}}
    assert fields.plain("object") is not FIELDS["object"]


def test_what_is_not_there_has_its_default():
    fields = JsonObject({})
    assert (fields.text("a", ""), fields.number("a", 1.5), fields.whole("a", 3), fields.flag("a", False)) == (
        *("", 1.5, 3, False),
    )
    assert (fields.texts("a"), fields.pairs("a", str), fields.each("a", str), fields.plain("a")) == ((), (), (), None)
    assert fields.plain_object("a") == {}
    for ask, wanted in (
        (fields.text, "a text"),
        (fields.number, "a number"),
        (fields.whole, "a whole number"),
        (fields.flag, "true or false"),
    ):
        with pytest.raises(DataFault) as info:
            ask("a")
        assert str(info.value) == f"[ART200] #/a: the key 'a' is missing. Write {wanted}."


@pytest.mark.parametrize(
    ("ask", "pointer", "words"),
    [
        (lambda fields: fields.text("whole"), "/whole", "here stands 7. Write a text."),
        (lambda fields: fields.number("flag"), "/flag", "here stands True. Write a finite number."),
        (lambda fields: fields.whole("number"), "/number", "here stands 0.5. Write a whole number of at most 63 bits."),
        (lambda fields: fields.flag("whole"), "/whole", "here stands 7. Write true or false."),
        (lambda fields: fields.texts("text"), "/text", "here stands 'a'. Write a list."),
        (lambda fields: fields.texts("words"), "/words/0", "here stands a list. Write a text."),
        (
            lambda fields: fields.pairs("texts", str),
            "/texts/0",
            "here stands 'a'. Write a pair that begins with a text.",
        ),
        (lambda fields: fields.pairs("words", bool), "/words/0/1", "here stands 'b'. Write true or false."),
        (lambda fields: fields.pairs("flags", str), "/flags/0/1", "here stands True. Write a text."),
        (lambda fields: fields.inner("texts"), "/texts", "here stands a list. Write an object."),
        (lambda fields: fields.each("texts", str), "/texts/0", "here stands 'a'. Write an object."),
        (lambda fields: fields.plain_object("texts"), "/texts", "here stands a list. Write an object."),
        (
            lambda fields: fields.inner("object").inner("a/b").text("~"),
            "/object/a~1b/~0",
            "here stands a list. Write a text.",
        ),
    ],
)
def test_what_is_of_another_kind_is_a_fault_with_its_place(ask, pointer, words):
    with pytest.raises(DataFault) as info:
        ask(JsonObject(FIELDS))
    assert info.value.pointer == pointer
    assert str(info.value) == f"[ART200] #{pointer}: {words}"


@pytest.mark.parametrize(
    "value", [float("inf"), float("nan"), 10**400, {1: 2}, {"a": object()}, [set()], b"bytes", {"a": [float("-inf")]}]
)
def test_what_json_does_not_know_is_not_plain(value):
    with pytest.raises(DataFault, match="values that JSON knows"):
        JsonObject({"a": value}).plain("a")


def test_keys_are_texts():
    with pytest.raises(DataFault, match="Write texts as keys"):
        JsonObject({1: 2}).names()


def test_numbers_that_no_float_can_hold_are_none():
    with pytest.raises(DataFault, match="a very large number"):
        JsonObject({"a": 10**400}).number("a")
    assert JsonObject({"a": -(2**63) + 1}).whole("a") == -(2**63) + 1
    with pytest.raises(DataFault):
        JsonObject({"a": 2**63}).whole("a")


def test_pointers_and_what_they_show_stay_short():
    key = "x" * 10_000
    with pytest.raises(DataFault) as info:
        JsonObject({key: key}).whole(key)
    assert len(str(info.value)) < 700
