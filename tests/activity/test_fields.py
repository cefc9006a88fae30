"""Typed arguments and think outputs: what is accepted, what is filled in, and what each refusal says."""

from __future__ import annotations

import collections.abc
import dataclasses
import sys
import typing
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import pytest

from agentrt import ActionArgs, Entity, ThinkOutput
from agentrt.activity.author.arguments import misfit
from agentrt.errors import ArgumentError, DataFault, DefinitionError

if typing.TYPE_CHECKING:
    from nowhere import Unknown


class Paint(ActionArgs):
    subject: Entity
    effect: str = "draw_in_notebook"
    strokes: int | None = None


COW = Entity("cow")


@pytest.mark.states("001: Leaf action, Metadata: args are typed; an optional one has a default ...")
def test_defaults_are_filled_in():
    args = Paint(subject=COW)
    assert (args.subject, args.effect, args.strokes) == (COW, "draw_in_notebook", None)
    assert repr(args) == "Paint(subject=<Entity 'cow'>, effect='draw_in_notebook', strokes=None)"
    assert dict(**args) == {"subject": COW, "effect": "draw_in_notebook", "strokes": None}
    assert list(args) == ["subject", "effect", "strokes"]
    assert args["effect"] == "draw_in_notebook"


def test_equal_records_are_equal():
    assert Paint(subject=COW) == Paint(subject=COW, strokes=None)
    assert Paint(subject=COW) != Paint(subject=COW, strokes=1)


def test_only_by_keyword():
    with pytest.raises(TypeError):
        Paint(COW)


@pytest.mark.states("001: Leaf action, Metadata: args are typed; an optional one has a default ...")
@pytest.mark.parametrize(
    ("values", "argument", "text"),
    [
        ({}, "subject", "is missing. Give it, or declare a default for it in Paint."),
        ({"subject": "cow"}, "subject", "takes Entity, not str 'cow'."),
        ({"subject": COW, "effect": 5}, "effect", "takes str, not int 5."),
        ({"subject": COW, "strokes": "x"}, "strokes", "takes int or None, not str 'x'."),
        (
            {"subject": COW, "efect": "x"},
            "efect",
            "is not declared. Did you mean 'effect'? Declared: subject, effect, strokes.",
        ),
    ],
)
def test_what_does_not_fit(values, argument, text):
    with pytest.raises(ArgumentError) as info:
        Paint.build("demo:paint", values)
    error = info.value
    assert error.text == f"activity 'demo:paint', argument '{argument}': {text}"
    assert (error.activity, error.argument, error.code) == ("demo:paint", argument, "ART201")
    assert isinstance(error, DataFault)


def test_without_an_activity_the_class_is_named():
    with pytest.raises(ArgumentError, match="activity 'Paint', argument 'subject': is missing"):
        Paint()


class Color(Enum):
    RED = 1


@runtime_checkable
class Located(Protocol):
    location: Any


class Mover(Protocol):
    def move(self) -> None: ...


class Box:
    location = (0, 0)


class Movie(typing.TypedDict):
    title: str


T = typing.TypeVar("T")
Meters = typing.NewType("Meters", int)


class Kinds(ActionArgs):
    number: float = 0
    whole: int = 0
    word: Literal["up", "down", 1] = "up"
    either: int | str | None = None
    optional: typing.Optional[Entity] = None  # noqa: UP045 - the old spelling is accepted too
    union: typing.Union[int, str] = 0  # noqa: UP007
    items: list[int] = []
    table: dict[str, int] = {}
    pair: tuple[int, int] = (0, 0)
    many: collections.abc.Sequence[str] = ()
    function: collections.abc.Callable[[int], int] = abs
    kind: type[Entity] = Entity
    color: Color = Color.RED
    anything: Any = None
    whatever: object = None
    located: Located = Box()
    mover: Mover = None  # type: ignore[assignment]
    movie: Movie = {"title": ""}
    variable: T = None  # type: ignore[valid-type]
    annotated: typing.Annotated[int, "meters"] = 0
    meters: Meters = 0
    nothing: None = None
    later: Later | None = None
    text: "str" = ""  # noqa: UP037


class Later:
    """Defined after the class that names it."""


@pytest.mark.states("001: Leaf action, Metadata: args are typed; an optional one has a default")
@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("number", 1, True),
        ("number", 1.5, True),
        ("number", "1", False),
        ("number", None, False),
        ("whole", 1.0, False),
        ("whole", 7, True),
        ("word", "down", True),
        ("word", 1, True),
        ("word", "left", False),
        ("word", True, False),
        ("word", [], False),
        ("either", 1, True),
        ("either", "x", True),
        ("either", None, True),
        ("either", 1.5, False),
        ("optional", None, True),
        ("optional", COW, True),
        ("optional", 5, False),
        ("union", "x", True),
        ("union", None, False),
        ("items", [1], True),
        ("items", ["not looked at"], True),
        ("items", (1,), False),
        ("table", {}, True),
        ("table", [], False),
        ("pair", (1, 2), True),
        ("pair", [1, 2], False),
        ("many", ["a"], True),
        ("many", {"a"}, False),
        ("function", len, True),
        ("function", 5, False),
        ("kind", Entity, True),
        ("kind", COW, False),
        ("color", Color.RED, True),
        ("color", 1, False),
        ("anything", object(), True),
        ("whatever", object(), True),
        ("located", Box(), True),
        ("located", 5, False),
        ("mover", 5, True),
        ("movie", {"title": "x"}, True),
        ("movie", 5, False),
        ("variable", 5, True),
        ("annotated", 5, True),
        ("annotated", "x", False),
        ("meters", 3, True),
        ("meters", "x", False),
        ("nothing", None, True),
        ("nothing", 0, False),
        ("later", Later(), True),
        ("later", 5, False),
        ("text", "x", True),
        ("text", 5, False),
    ],
)
def test_types(field, value, accepted):
    if accepted:
        assert getattr(Kinds(**{field: value}), field) is value
    else:
        with pytest.raises(ArgumentError) as info:
            Kinds(**{field: value})
        assert info.value.argument == field


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases of types are a statement from Python 3.12 on")
def test_an_alias_of_types_is_what_it_stands_for():
    args = type("Args", (ActionArgs,), {"__annotations__": {"where": typing.TypeAliasType("Where", int | str)}})
    assert args(where="here").where == "here"
    with pytest.raises(ArgumentError, match=r"'where': takes int or str, not float 1\.5\."):
        args(where=1.5)


def test_what_a_union_and_a_literal_say():
    with pytest.raises(ArgumentError, match=r"'either': takes int or str or None, not float 1\.5\."):
        Kinds(either=1.5)
    with pytest.raises(ArgumentError, match="'word': takes 'up' or 'down' or 1, not str 'left'."):
        Kinds(word="left")


def test_a_name_for_the_type_checker_only_accepts_anything_and_hides_no_other_field():
    class Args(ActionArgs):
        thing: Unknown
        number: int

    assert Args(thing="whatever", number=1).thing == "whatever"
    with pytest.raises(ArgumentError, match="'number': takes int, not str 'x'"):
        Args(thing="whatever", number="x")


def test_inherited_fields_keep_types_and_defaults():
    class More(Paint):
        frame: str
        effect: str = "oil"

    assert More.field_names() == ("subject", "effect", "strokes", "frame")
    args = More(subject=COW, frame="gold")
    assert (args.effect, args.strokes) == ("oil", None)
    with pytest.raises(ArgumentError, match="'strokes': takes int or None, not str 'x'"):
        More(subject=COW, frame="gold", strokes="x")


def test_a_mutable_default_is_not_shared():
    first, second = Kinds(), Kinds()
    first.items.append(1)
    first.table["a"] = 1
    assert (second.items, second.table) == ([], {})


def test_a_record_is_read_only():
    args = Paint(subject=COW)
    with pytest.raises(AttributeError) as info:
        args.effect = "x"
    assert str(info.value) == "Paint.effect is read-only: actions share it. Keep what changes on self."
    with pytest.raises(AttributeError):
        del args.effect


def test_a_default_of_the_wrong_type_is_an_error_of_the_class():
    with pytest.raises(DefinitionError) as info:

        class Wrong(ActionArgs):
            effect: str = 5

    assert info.value.text.endswith("Wrong: the default of 'effect' is 5, but it takes str. Correct one of the two.")


def test_a_field_must_not_start_with_an_underscore():
    with pytest.raises(
        DefinitionError, match="Wrong: the field '_hidden' starts with an underscore. Name it without one."
    ):

        class Wrong(ActionArgs):
            _hidden: int


def test_an_annotation_that_cannot_be_read():
    with pytest.raises(DefinitionError) as info:

        class Wrong(ActionArgs):
            path: collections.abc.Nonsense

    assert info.value.text.endswith(
        "Wrong: the type of 'path' cannot be read: AttributeError: module 'collections.abc' has no attribute 'Nonsense'. "
        "Write a type that exists."
    )


def test_an_output_is_checked_in_the_same_way():
    class Output(ThinkOutput):
        path: list
        cost: float = 1.0

    assert Output(path=[]).cost == 1.0
    with pytest.raises(ArgumentError, match="'path': takes list, not tuple"):
        Output(path=())


def test_defaults_that_hold_what_can_be_changed_are_not_shared_either():
    @dataclasses.dataclass
    class Place:
        x: int = 0

    class Walk(ActionArgs):
        way: collections.deque[int] = collections.deque()
        stops: dict[str, list[int]] = {"at": []}
        met: list[Any] = [[COW]]
        start: Place = Place()

    one, other = Walk(), Walk()
    one.stops["at"].append(1)
    one.met[0].append(2)
    one.way.append(3)
    assert (list(other.way), other.stops, other.met) == ([], {"at": []}, [[COW]])
    assert other.met[0][0] is COW, "an entity is no value: it is not doubled"
    assert one.start is other.start, "nor is anything else that may be one"


def test_what_belongs_to_the_class_is_no_field():
    class Walk(ActionArgs):
        LONGEST: typing.ClassVar[int] = 9
        SHORTEST: ClassVar = 1
        steps: int = 3

        @property
        def is_long(self):
            return self.steps > self.LONGEST

    class Run(Walk):
        LONGEST = 2
        steps: int = 3

    assert Walk.field_names() == Run.field_names() == ("steps",)
    assert (Walk.LONGEST, Walk.SHORTEST, Walk().is_long, Run().is_long) == (9, 1, False, True)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            {"effect": "oil"},
            "'effect' has no type, and so it is no field with a default. Write effect: str = 'oil'; or "
            "effect: ClassVar[str], if it is to be none.",
        ),
        ({"size": 3}, "'size' has no type, and so it is no field with a default. Write size: int = 3; or "),
        (
            {"__annotations__": {"size": "list"}, "size": dataclasses.field(default_factory=list)},
            "the default of 'size' is a dataclasses.field. Write the default itself: each record has a copy of a list",
        ),
        ({"__init__": lambda self, size: None}, "nobody calls its __init__: a record is filled in by the names"),
        ({"__post_init__": lambda self: None}, "nobody calls its __post_init__: a record is filled in by the names"),
    ],
)
def test_what_looks_like_a_part_of_a_record_and_is_none(body, told):
    with pytest.raises(DefinitionError) as info:
        type("Big", (Paint,), {"__module__": __name__, "__qualname__": "Big", **body})
    assert info.value.text.startswith(f"{__name__}.Big: {told}")


def test_names_of_methods_are_no_trap_for_fields():
    class Odd(ActionArgs):
        build: int
        open: bool = True

    odd = Odd.build("demo:x", {"build": 5})
    assert (odd.build, odd.open) == (5, True)


@pytest.mark.parametrize(
    ("hint", "value", "wanted"),
    [
        (int, 3, ""),
        (int, "3", "int"),
        (float, 3, ""),
        (int | None, None, ""),
        (int | None, "x", "int or None"),
        (Literal["a", "b"], "c", "'a' or 'b'"),
        (tuple[int, int], [1, 2], ""),
        (tuple[int, int], "12", "tuple"),
        (Any, object(), ""),
        ("Unknown", 3, ""),
        (Path, "a/b", ""),  # whoever wrote that makes one of the text
        (Fraction | None, "1/3", ""),
    ],
)
def test_what_plain_data_does_not_fit_a_hint(hint, value, wanted):
    assert misfit(hint, value) == wanted
