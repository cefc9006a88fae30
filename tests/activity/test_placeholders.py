"""Placeholders when a plan thinks: what each resolves to, nested and combined, and when it is resolved."""

from __future__ import annotations

import collections
import dataclasses

import pytest

from agentrt import (
    ARGS,
    BACK,
    CALL,
    CURRENT,
    ENTITY,
    NOT,
    OUT,
    PREV,
    Action,
    ActionArgs,
    CompoundAction,
    Entity,
    ThinkOutput,
    output,
    step,
)
from agentrt.errors import PlaceholderError

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Order:
    what: object
    count: object = 1
    note: object = dataclasses.field(default="none", init=False)


@dataclasses.dataclass(frozen=True)
class Frozen:
    what: object
    inner: object = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    what: object
    more: tuple = ()


@dataclasses.dataclass(kw_only=True)
class Checked:
    """Its ``__init__`` takes something that it does not keep, and a field of it is computed."""

    what: object
    scale: dataclasses.InitVar[int]
    key: object = dataclasses.field(init=False)

    def __post_init__(self, scale):
        self.key = self.what.upper()
        self.size = scale * 2


class Record(ActionArgs):
    what: object
    count: int = 2


def noted(note):
    made = Order(PREV.thing)
    made.note = note
    return made


class Store:
    def __init__(self):
        self.items = ["apple", "bread", "cheese"]

    def find(self, name, *, near=None):
        return f"{name} near {near}"


class Give(Action):
    """Gives a rich output."""

    does = "give"
    utility = 0.5

    class Output(ThinkOutput):
        thing: str
        count: int
        store: Store
        table: dict
        empty: list

    async def think(self, ctx, args):
        ctx.set_think_output(thing="cow", count=3, store=Store(), table={"a": 1, "b": [10, 20]}, empty=[])


class TakeArgs(ActionArgs):
    value: object


def taker(seen):
    """A step that tells what it was given."""

    class Take(Action):
        does = "take"
        utility = 0.5
        Args = TakeArgs

        async def think(self, ctx, args):
            seen.append(args.value)
            ctx.set_think_output()

    return Take


def taken(play, value):
    """What a step gets for a placeholder; the step before it gives the output above."""
    seen = []

    Take = taker(seen)

    class Plan(CompoundAction):
        does = "plan"
        utility = 0.5
        steps = [step("give", name="gift"), step("take", value=value)]

        class Args(ActionArgs):
            place: str
            flag: bool = False
            numbers: list = [1, 2, 3]

    class Root(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("plan", place="barn")]

    play.add(Root, Plan, Take, Give, entity=Entity("human", name="ada"))
    play.tick(1)
    [value] = seen
    return value


def double(value):
    return value * 2


@pytest.mark.states("001: Step declarations: Arguments of steps are values or placeholders")
@pytest.mark.states("001: Step declarations: ARGS: a field, or all of them")
@pytest.mark.states("001: Step declarations: (ours) Keyword arguments, too")
@pytest.mark.states("001: Step declarations: PREV and BACK(n); BACK(1) is PREV ...")
@pytest.mark.states(
    "001: Step declarations: (ours) OUT finds a step by its name; a placeholder that cannot resolve is an error of "
    "the class",
)
@pytest.mark.states("001: Step declarations: (ours) Placeholders are resolved inside dataclasses")
@pytest.mark.parametrize(
    ("placeholder", "value"),
    [
        (ENTITY.name, "ada"),
        (ENTITY.kind.upper(), "HUMAN"),
        (ARGS.place, "barn"),
        (ARGS.numbers[1], 2),
        (ARGS["place"], "barn"),
        (PREV.thing, "cow"),
        (BACK(1).thing, "cow"),
        (BACK(2).place, "barn"),
        (OUT["gift"].thing, "cow"),
        (OUT["gift"].count, 3),
        (PREV.store.items[0], "apple"),
        (PREV.store.items[-1], "cheese"),
        (PREV.store.find("egg"), "egg near None"),
        (PREV.store.find(PREV.thing, near=ARGS.place), "cow near barn"),
        (PREV.table["b"][1], 20),
        (PREV.table[CALL(str.lower, "A")], 1),
        (PREV.table.get("nothing", ARGS.place), "barn"),
        (CALL(double, PREV.count), 6),
        (CALL(double, 4), 8),
        (CALL(lambda: "called"), "called"),
        (CALL(len, CALL(list, PREV.thing)), 3),
        (CALL(double, [PREV.count, ARGS.place]), [3, "barn", 3, "barn"]),
        (NOT(ARGS.flag), True),
        (NOT(PREV.empty), True),
        (NOT(PREV.thing), False),
        (NOT(NOT(ARGS.flag)), False),
        (NOT(0), True),
        (CALL(double, NOT(ARGS.flag)), 2),
        ([PREV.thing, [ARGS.place, {"deep": PREV.count}]], ["cow", ["barn", {"deep": 3}]]),
        ({"a": PREV.thing, "b": (ARGS.place, 5)}, {"a": "cow", "b": ("barn", 5)}),
        ((PREV.thing, 1), ("cow", 1)),
        (Point(PREV.count, 5), Point(3, 5)),
        (CURRENT.location, None),
        (CURRENT.location_changed, False),
        (NOT(CURRENT.carrying), True),
        (CALL(int, "11", base=2), 3),
        (CALL(dict, thing=PREV.thing, place=[ARGS.place]), {"thing": "cow", "place": ["barn"]}),
        (CALL(dict, [(PREV.thing, ARGS.place)], fn=1), {"cow": "barn", "fn": 1}),
        (CALL(frozenset, [PREV.thing, 1]), frozenset({"cow", 1})),
        (Order(PREV.thing), Order("cow")),
        (Order(PREV.thing, [Order(ARGS.place, 2)]), Order("cow", [Order("barn", 2)])),
        ([Frozen(PREV.thing, {"a": Slotted(ARGS.place)})], [Frozen("cow", {"a": Slotted("barn")})]),
        (Slotted(PREV.thing, (ARGS.place, 1)), Slotted("cow", ("barn", 1))),
        (Slotted("cow", (1, {2})), Slotted("cow", (1, {2}))),
        (CALL(double, [Frozen(PREV.thing)]), [Frozen("cow"), Frozen("cow")]),
        (Record(what=PREV.thing), Record(what="cow")),
        ("a plain value", "a plain value"),
        ([1, {"a": 2}], [1, {"a": 2}]),
        (None, None),
    ],
)
def test_what_a_placeholder_resolves_to(play, placeholder, value):
    assert taken(play, placeholder) == value


@pytest.mark.states("001: Step declarations: (ours) Placeholders are resolved inside dataclasses ...")
def test_a_field_that_init_does_not_take(play):
    got = taken(play, noted(PREV.count))
    assert (got.what, got.count, got.note) == ("cow", 1, 3)


@pytest.mark.states("001: Step declarations: (ours) Placeholders are resolved inside dataclasses ...")
def test_init_is_not_called_again(play):
    """What it took and did not keep is not known any more; what it made of a placeholder is one."""
    got = taken(play, Checked(what=PREV.thing, scale=4))
    assert (got.what, got.key, got.size) == ("cow", "COW", 8)


def test_a_dataclass_is_a_fresh_one_each_time(play):
    declared = Order(PREV.thing)
    assert taken(play, declared) is not declared
    assert repr(declared.what) == "PREV.thing"


@pytest.mark.states("001: Step declarations: (ours) In sets and as keys of dicts they are an error of the class")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({PREV.thing}, "a placeholder is in a set, .*Write CALL\\(set, \\[...\\]\\), or a list."),
        ([{"deep": frozenset([1, PREV.thing])}], "a placeholder is in a frozenset, .*Write CALL\\(frozenset,"),
        ({PREV.thing: 1}, "a placeholder is, or is in, the key PREV.thing of a dict, .*Write CALL\\(dict, "),
        ([{(1, PREV.thing): 1}], "the key \\(1, PREV.thing\\) of a dict"),
        ({Frozen(PREV.thing)}, "a placeholder is in a set"),
        ({Frozen(PREV.thing): PREV.count}, "of a dict"),
        (Order({PREV.thing}), "a placeholder is in a set"),
        (CALL(len, {PREV.thing}), "a placeholder is in a set"),
        (NOT({PREV.thing: 1}), "of a dict"),
        (PREV.store.find("a", near={ARGS.place}), "a placeholder is in a set"),
    ],
)
def test_where_it_would_have_to_be_known_it_is_an_error_of_the_class(value, problem):
    with pytest.raises(PlaceholderError, match=f"^\\[ART102\\] .*Plan, step 2, argument 'value': .*{problem}"):
        type("Plan", (CompoundAction,), {"does": "top", "utility": 1, "steps": [step("a"), step("b", value=value)]})


def test_in_the_output_of_a_compound_too():
    body = {"does": "top", "utility": 1, "steps": [step("a")], "output": output(things={PREV.thing})}
    with pytest.raises(PlaceholderError, match="output, field 'things': a placeholder is in a set"):
        type("Plan", (CompoundAction,), body)


def test_what_contains_itself():
    endless = [1]
    endless.append(endless)
    type("Plan", (CompoundAction,), {"does": "top", "utility": 1, "steps": [step("b", value=endless)]})
    endless.append(ENTITY)
    with pytest.raises(PlaceholderError, match="step 1, argument 'value': a placeholder lies in something that cont"):
        type("Plan", (CompoundAction,), {"does": "top", "utility": 1, "steps": [step("b", value=endless)]})


def test_what_is_wrong_within_a_dataclass_is_found_when_the_class_is_defined():
    body = {"does": "top", "utility": 1, "steps": [step("b", value=Frozen(BACK(3).thing))]}
    with pytest.raises(PlaceholderError, match=r"step 1, argument 'value': BACK\(3\) reaches 2 before the beginning"):
        type("Plan", (CompoundAction,), body)


@pytest.mark.states("001: Step declarations: (ours) Keyword arguments, too ...")
def test_call_takes_its_function_by_position():
    with pytest.raises(TypeError):
        CALL(fn=len)


def test_its_repr_tells_the_keywords():
    assert repr(CALL(int, PREV.x, base=ARGS.base)) == "CALL(int, PREV.x, base=ARGS.base)"


def test_a_whole_output_can_be_handed_on(play):
    assert taken(play, PREV).thing == "cow"


@pytest.mark.states("001: Step declarations: ARGS: a field, or all of them ...")
def test_the_arguments_as_a_whole(play):
    assert taken(play, ARGS).place == "barn"


@pytest.mark.states("001: Step declarations: ENTITY")
def test_the_entity_itself(play):
    assert taken(play, ENTITY) is play.agents[0].entity


@pytest.mark.states("001: Step declarations: Arguments of steps are values or placeholders ...")
def test_a_constant_argument_is_the_same_object_each_time(play):
    constant = Store()
    assert taken(play, constant) is constant


def test_an_output_is_a_fresh_list_each_time(play):
    """What the steps do to a list that a placeholder made is not seen by the next plan."""
    seen = []

    class Take(Action):
        does = "take"
        utility = 0.5
        Args = TakeArgs

        async def think(self, ctx, args):
            args.value.append("mine")
            seen.append(list(args.value))
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("take", value=[ENTITY.kind])]

    play.add(Plan, Take)
    play.tick(3)
    assert seen == [["human", "mine"]] * 3


@pytest.mark.states("001: Step declarations: PREV and BACK(n); BACK(1) is PREV")
def test_back_in_a_later_step(play):
    seen = []

    Take = taker(seen)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [
            step("give"),
            step("take", value=PREV.thing),
            step("take", value=BACK(2).count),
            step("take", value=[BACK(1).value, BACK(2).value, BACK(3).thing]),
        ]

    play.add(Plan, Take, Give)
    play.tick(1)
    assert seen == ["cow", 3, [3, "cow", "cow"]]


def test_without_a_declared_output_a_steps_output_is_its_arguments(play):
    seen = []

    class Pass(Action):
        does = "pass"
        utility = 0.5

        class Args(ActionArgs):
            a: int
            b: int = 7

    class Take(Action):
        does = "take"
        utility = 0.5
        Args = TakeArgs

        async def think(self, ctx, args):
            seen.append(args.value)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("pass", a=1), step("take", value=[PREV.a, PREV.b])]

    play.add(Plan, Pass, Take)
    play.tick(1)
    assert seen == [[1, 7]]


def test_an_argument_that_is_called_name(play):
    seen = []

    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            name: str

        async def think(self, ctx, args):
            seen.append(args.name)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("take", {"name": ENTITY.kind}, name="the step's own")]

    play.add(Plan, Take)
    play.tick(1)
    assert seen == ["human"]


@pytest.mark.states("001: Step declarations: NOT is the opposite at the time of thinking")
def test_not_is_the_value_at_the_time_of_thinking(play):
    """The seed's wording: the opposite of what the argument was when the action started thinking."""
    seen = []
    flag = [False]

    class Take(Action):
        does = "take"
        utility = 0.5
        Args = TakeArgs

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()

        async def run(self, ctx, args):
            seen.append(args.value)
            await ctx.sleep(100)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("take", value=NOT(CALL(flag.__getitem__, 0)))]

    play.add(Plan, Take)
    play.tick(1)
    flag[0] = True
    play.tick(2)
    assert seen == [True]


@pytest.mark.parametrize(
    ("placeholder", "error"),
    [
        (PREV.thing.nonsense, "AttributeError: 'str' object has no attribute 'nonsense'"),
        (PREV.store.items[9], "IndexError: list index out of range"),
        (CALL(int, PREV.thing), "ValueError: invalid literal for int() with base 10: 'cow'"),
        (ARGS.place.missing_method(), "AttributeError: 'str' object has no attribute 'missing_method'"),
        (PREV.count(), "TypeError: 'int' object is not callable"),
    ],
)
def test_a_placeholder_that_raises_disables_its_compound(play, idle, placeholder, error):
    class Take(Action):
        does = "take"
        utility = 0.5
        Args = TakeArgs

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("give"), step("take", value=placeholder)]

        class Args(ActionArgs):
            place: str = "barn"

    agent = play.add(Plan, Take, Give, type("Other", (idle,), {"Args": Plan.Args}))
    play.tick(2)
    assert play.faults() == [(1, "top/Plan", "step 2 (take)", error)]
    assert agent.snapshot().running == "top/Other"


def test_an_argument_of_the_wrong_type_disables_the_compound(play, idle):
    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            value: int

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("give"), step("take", value=PREV.thing)]

    play.add(Plan, Take, Give, idle)
    play.tick(2)
    assert play.faults() == [
        (
            1,
            "top/Plan",
            "step 2 (take)",
            "ArgumentError: [ART201] activity 'take', argument 'value': takes int, not str 'cow'.",
        )
    ]


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: 2 - x,
        lambda x: x**2,
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x < 3,
        lambda x: x >= 3,
        lambda x: x % 2,
        lambda x: 7 // x,
        lambda x: x | {1},
        lambda x: ~x,
    ],
)
def test_nothing_can_be_computed_with_what_is_not_known_yet(compute):
    with pytest.raises(
        TypeError, match=r"^PREV\.x is known only when the action thinks, .* Write CALL\(function, PREV"
    ):
        compute(PREV.x)
