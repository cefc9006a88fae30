"""One codec for all views: what is written can be read again, and what cannot be read is said with its place."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.body.codec import JsonObject, View, told, view
from agentrt.errors import DataFault


class Offer(NamedTuple):
    who: str
    cost: float | None
    names: tuple[str, ...] = ()


def _shout(value):
    return value.upper()


def _whisper(fields):
    return fields.text("loud").lower()


def _is_of_this_version(fields):
    if fields.whole("version") != 3:
        raise DataFault("it is of another version.", pointer="/version")


@view()
class Leaf(View):
    name: str
    count: int
    share: float | None
    is_open: bool
    flags: tuple[str, ...] = ()


@view(sparse=True)
class Tree(View):
    name: str
    utility: float
    boosted: float = told(like="utility", sparse=True)
    is_elected: bool = told(sparse=True)
    kids: tuple[Branch, ...] = ()
    pairs: tuple[tuple[str, bool], ...] = ()
    args: tuple[tuple[str, str], ...] = told(default=(), by_name=True)
    offers: tuple[Offer, ...] = ()
    best: Offer | None = None
    leaf: Leaf | None = None
    debug: dict[str, Any] = dataclasses.field(default_factory=dict)
    since: int = 0
    step: int = told(default=1, when="self.since")


@view(adds=("version",), check=_is_of_this_version)
class Branch(View):
    tree: Tree
    loud: str = told(write=_shout, read=_whisper)

    @property
    def version(self) -> int:
        return 3


TEXTS = st.text(max_size=5)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
OFFERS = st.builds(Offer, TEXTS, st.none() | NUMBERS, st.tuples(TEXTS) | st.just(()))
LEAVES = st.builds(Leaf, TEXTS, st.integers(-9, 9), st.none() | NUMBERS, st.booleans(), st.tuples(TEXTS, TEXTS))
NAMED = st.dictionaries(TEXTS, TEXTS, max_size=3).map(lambda found: tuple(found.items()))


def _trees(kids):
    return st.builds(
        Tree,
        name=TEXTS,
        utility=NUMBERS,
        boosted=NUMBERS,
        is_elected=st.booleans(),
        kids=kids,
        pairs=st.lists(st.tuples(TEXTS, st.booleans()), max_size=2).map(tuple),
        args=NAMED,
        offers=st.lists(OFFERS, max_size=2).map(tuple),
        best=st.none() | OFFERS,
        leaf=st.none() | LEAVES,
        debug=st.dictionaries(TEXTS, st.integers(-9, 9), max_size=2),
        since=st.integers(1, 9),
        step=st.integers(1, 9),
    )


BRANCHES = st.builds(Branch, _trees(st.just(())), st.text("abc", max_size=3))


@given(_trees(st.lists(BRANCHES, max_size=2).map(tuple)))
def test_what_was_written_is_read_again(tree):
    assert Tree.read(JsonObject(json.loads(json.dumps(tree.as_json())))) == tree


def test_all_is_written_but_what_a_sparse_one_has_by_default():
    assert Leaf("a", 1, None, False).as_json() == {
        "name": "a",
        "count": 1,
        "share": None,
        "is_open": False,
        "flags": [],
    }
    plain = Tree(name="a", utility=0.5, boosted=0.5, is_elected=False)
    assert plain.as_json() == {"name": "a", "utility": 0.5}
    assert Tree.read(JsonObject({"name": "a", "utility": 0.5})) == plain
    rich = dataclasses.replace(plain, boosted=0.7, is_elected=True, args=(("k", "v"),), best=Offer("x", None), since=2)
    assert rich.as_json() == {
        "name": "a",
        "utility": 0.5,
        "boosted": 0.7,
        "is_elected": True,
        "args": {"k": "v"},
        "best": {"who": "x", "cost": None, "names": []},
        "since": 2,
        "step": 1,
    }


def test_what_a_class_says_of_itself():
    branch = Branch(Tree(name="a", utility=0.0, boosted=0.0, is_elected=False), "abc")
    data = branch.as_json()
    assert data == {"version": 3, "tree": {"name": "a", "utility": 0.0}, "loud": "ABC"}
    assert Branch.read(JsonObject(data)) == branch
    with pytest.raises(DataFault, match="another version"):
        Branch.read(JsonObject({**data, "version": 4}))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "#/name: the key 'name' is missing"),
        ({"name": "a"}, "#/utility: the key 'utility' is missing"),
        ({"name": 1}, "#/name: here stands 1. Write a text"),
        ({"name": "a", "utility": 1, "is_elected": 2}, "#/is_elected: here stands 2"),
        ({"name": "a", "utility": 1, "pairs": [["a", 1]]}, "#/pairs/0/1: here stands 1"),
        ({"name": "a", "utility": 1, "args": {"a": 1}}, "#/args/a: here stands 1"),
        ({"name": "a", "utility": 1, "offers": [{"who": 2}]}, "#/offers/0/who: here stands 2"),
        ({"name": "a", "utility": 1, "leaf": []}, "#/leaf: here stands a list"),
        ({"name": "a", "utility": 1, "kids": [{"version": 3, "tree": {}}]}, "#/kids/0/tree/name: the key"),
        ({"name": "a", "utility": 1, "debug": [1]}, "#/debug: here stands a list. Write an object"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(data, said):
    with pytest.raises(DataFault) as raised:
        Tree.read(JsonObject(data))
    assert said in str(raised.value)


def test_what_the_code_calls_is_no_part_of_its_signature():
    assert list(inspect.signature(Branch.as_json).parameters) == ["self"]
    assert list(inspect.signature(Branch.read).parameters) == ["fields"]


def test_a_type_that_no_codec_knows_is_told_at_the_first_use():
    @view()
    class Odd(View):
        one: set[int]

    for _ in range(2):
        with pytest.raises(TypeError, match="Odd.one: no codec for set\\[int\\]"):
            Odd({1}).as_json()
