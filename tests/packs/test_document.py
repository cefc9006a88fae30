"""Documents: strict, bounded, and nothing but InvalidPackError comes out."""

from __future__ import annotations

import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import AgentRTError, InvalidPackError
from agentrt.packs import document
from agentrt.packs.document import MAX_BYTES, MAX_DEPTH, MAX_ENTRIES, copy_inline, lines_of, parse, read

MIB = 1 << 20


def refusal(data):
    with pytest.raises(InvalidPackError) as caught:
        parse(data, "x.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "[ART202] x.json:1: is not JSON: Expecting value, in column 1."),
        (b'{\n  "actions": [,]\n}', "[ART202] x.json:2: is not JSON: Expecting value, in column 15."),
        (b'{"a": 1} x', "[ART202] x.json:1: is not JSON: Extra data, in column 10."),
        (b"\xef\xbb\xbf{}", "[ART202] x.json: starts with a byte order mark. Save it as UTF-8 without one."),
        ("{}".encode("utf-16"), "[ART202] x.json: is written in UTF-16 or UTF-32, or is not text. Save it as UTF-8."),
        (
            "{}".encode("utf-16-le"),
            "[ART202] x.json: is written in UTF-16 or UTF-32, or is not text. Save it as UTF-8.",
        ),
        (
            "{}".encode("utf-32-be"),
            "[ART202] x.json: is written in UTF-16 or UTF-32, or is not text. Save it as UTF-8.",
        ),
        (b'{"a": "\xe4"}', "[ART202] x.json: is not UTF-8: byte 7 cannot stand there. Save it as UTF-8."),
        (b'{"_x": NaN}', "[ART202] x.json: is not a document that can be taken: NaN is no JSON number."),
        (b'{"_x": -Infinity}', "[ART202] x.json: is not a document that can be taken: -Infinity is no JSON number."),
        (b'{"_x": 1e999}', "[ART202] x.json: is not a document that can be taken: the number 1e999 is out of range."),
    ],
)
def test_refusals(data, text):
    assert refusal(data) == text


def test_huge_numbers_are_refused():
    assert "is out of range" in refusal(b'{"_x": ' + b"9" * 5000 + b"}")
    assert "is out of range" in refusal(b'{"_x": 1.' + b"9" * 5000 + b"}")


def test_duplicate_keys_are_found_with_their_place():
    found = parse(b'{"a": 1, "_x": [{"b": 1, "b": 2}, {"b": 1, "b": 2, "b": 3}], "a": 2}')
    assert [(problem.path, problem.text) for problem in found.problems] == [
        (("_x", 0, "b"), "the key 'b' stands here more than once. Keep one of them."),
        (("_x", 1, "b"), "the key 'b' stands here more than once. Keep one of them."),
        (("a",), "the key 'a' stands here more than once. Keep one of them."),
    ]


def test_the_bounds_are_exact():
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert parse(deep).problems == ()
    assert "is nested deeper than 64 levels" in refusal(b"[" + deep + b"]")
    wide = b"[" + b",".join([b"1"] * MAX_ENTRIES) + b"]"
    assert len(parse(wide).value) == MAX_ENTRIES
    assert "holds more than 10000 values" in refusal(wide[:-1] + b",1]")
    assert parse(b'"' + b"x" * (MAX_BYTES - 2) + b'"').problems == ()
    assert "is larger than 1 MiB" in refusal(b'"' + b"x" * (MAX_BYTES - 1) + b'"')


def test_brackets_and_commas_in_strings_do_not_count():
    text = '["' + '[{,\\"' * 20_000 + '"]'
    assert parse(text.encode()).value == ['[{,"' * 20_000]


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"[" * MIB,
        b'{"a":' * (MIB // 5),
        b'"' * MIB,
        b'"' + b'\\"' * (MIB // 2 - 1),
        b"\\" * MIB,
        b'"' + b"\\" * (MIB - 1),
        b"9" * MIB,
        b'{"_x":' + b"9" * (MIB - 8) + b"}",
        b"{" + b",".join(b'"k%d":1,"k%d":2' % (n, n) for n in range(4900)) + b"}",
        b'{"actions":[' + b",".join([b'"' + b"x" * 95 + b'"'] * 9900) + b"]}",
        b"\xff" * MIB,
        b"\0" * MIB,
        b" " * MIB,
        b'{"' + b"a" * (MIB - 10) + b'":1}',
    ],
    ids=range(14),
)
def test_hostile_input_is_refused_or_read_in_linear_time(data):
    from agentrt.packs import schema
    from agentrt.packs.loader import _from_value

    def load(data):
        document = parse(data)
        schema.check(document, schema.PACK)
        return _from_value(document.value, "", "x.json", "", (), lines_of(document.text))

    started = time.process_time()
    with pytest.raises(AgentRTError) as caught:
        load(data)
    assert time.process_time() - started < 3
    assert len(str(caught.value)) < 20_000


@given(st.binary(max_size=200))
def test_any_bytes(data):
    try:
        parse(data)
    except InvalidPackError as error:
        assert str(error).startswith("[ART202]")  # noqa: PT017


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(JSON)
def test_valid_json_is_read_as_python_reads_it(value):
    try:
        text = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        text = json.dumps(value).encode()
    assert parse(text).value == json.loads(text)
    assert parse(text).problems == ()


def test_reading_files(tmp_path):
    with pytest.raises(
        InvalidPackError, match=r"x\.json: does not exist, or is not a regular file\. Name a JSON file\."
    ):
        read(tmp_path / "x.json")
    with pytest.raises(InvalidPackError, match="is a folder. Name a JSON file"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InvalidPackError, match="is not a regular file"):
        read(tmp_path / "pipe.json")
    (tmp_path / "large.json").write_bytes(b" " * (MAX_BYTES + 5))
    with pytest.raises(InvalidPackError, match="is larger than 1 MiB"):
        read(tmp_path / "large.json")


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    file = tmp_path / "x.json"
    file.write_text("{}")

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(file), "open", refuse)
    with pytest.raises(InvalidPackError, match=r"cannot be read: Permission denied\."):
        read(file)


def test_inline_packs_are_copied():
    mine = {"actions": ["a:actions:x"], "_x": (1, 2.5, None, True)}
    copied = copy_inline(mine).value
    mine["actions"].append("a:actions:y")
    assert copied == {"actions": ["a:actions:x"], "_x": [1, 2.5, None, True]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"_x": {1, 2}}, "holds a set, which JSON cannot say. Use dicts, lists and strings."),
        ({"_x": {1: 2}}, "has a key that is a int. Keys are strings."),
        ({"_x": float("nan")}, "holds nan, which JSON cannot say."),
        ({"_x": 1 << 70}, "holds a number of more than 64 bits."),
        ({"_x": [None] * 10_000}, "holds more than 10000 values. Split it into packs that require each other."),
        ({"_x": "x" * (MAX_BYTES + 1)}, "is larger than 1 MiB. A pack lists names; split it into packs that require"),
    ],
)
def test_inline_refusals(value, text):
    with pytest.raises(InvalidPackError) as caught:
        copy_inline(value, "buff.json")
    assert str(caught.value).startswith(f"[ART202] buff.json: {text}")


def test_an_inline_pack_that_holds_itself():
    value = {}
    value["_x"] = value
    with pytest.raises(InvalidPackError, match="is nested deeper than 64 levels"):
        copy_inline(value)


def test_bounds_are_the_documented_ones():
    assert (document.MAX_BYTES, document.MAX_DEPTH, document.MAX_ENTRIES) == (1_048_576, 64, 10_000)


# --- lines ------------------------------------------------------------------------------------------------------------


def test_the_line_of_each_key_and_item():
    text = """{
  "actions": [
    "m:actions:a", "m:actions:b",
    "m:actions:c"
  ],

  "components": {
    "m:components:\\n{[\\"c": {"deep": [1.5e3, {}, [[]], true]}
  },
  "actions": []
}"""
    name = 'm:components:\n{["c'
    assert lines_of(text) == {
        (): 1,
        ("actions",): 2,
        ("actions", 0): 3,
        ("actions", 1): 3,
        ("actions", 2): 4,
        ("components",): 7,
        ("components", name): 8,
        ("components", name, "deep"): 8,
        ("components", name, "deep", 0): 8,
        ("components", name, "deep", 1): 8,
        ("components", name, "deep", 2): 8,
        ("components", name, "deep", 2, 0): 8,
        ("components", name, "deep", 3): 8,
    }
    assert lines_of("") == {}


LINES = st.sampled_from(["", " ", "\n", "\n\n", "\r\n  ", " \n\t"])
VALUES = st.recursive(
    st.one_of(st.text(max_size=4), st.integers(-9, 9), st.booleans(), st.none(), st.sampled_from([0.5, 1e30])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
)


@given(VALUES, st.data())
def test_the_lines_are_those_where_the_keys_and_items_were_written(value, data):
    written = []
    expected = {}

    def write(piece):
        written.extend((data.draw(LINES), piece))

    def put(value, path):
        opener = {dict: "{", list: "["}.get(type(value))
        write(opener or json.dumps(value))
        expected.setdefault(path, "".join(written).count("\n") + 1)
        if isinstance(value, dict):
            for number, (key, item) in enumerate(value.items()):
                if number:
                    write(",")
                write(json.dumps(key))
                expected[*path, key] = "".join(written).count("\n") + 1
                write(":")
                put(item, (*path, key))
            write("}")
        elif isinstance(value, list):
            for number, item in enumerate(value):
                if number:
                    write(",")
                put(item, (*path, number))
            write("]")

    put(value, ())
    text = "".join(written)
    assert parse(text.encode()).value == value
    assert lines_of(text) == expected


def test_lines_are_found_in_a_time_that_grows_with_the_text():
    text = '{"actions": [' + ",\n".join(['"m:actions:a"'] * (MAX_ENTRIES - 10)) + "]}"
    start = time.process_time()
    assert lines_of(text)["actions", MAX_ENTRIES - 11] == MAX_ENTRIES - 10
    assert time.process_time() - start < 1
