"""What an action class declares, and the errors for what it must not: all of them at the moment of definition.

Each error names the class (with its module), where it can the step and the field, and what to write instead.
"""

from __future__ import annotations

import re
from typing import TypeVar

import pytest

from agentrt import (
    ARGS,
    BACK,
    CALL,
    OUT,
    PREV,
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Entity,
    ThinkOutput,
    output,
    step,
)
from agentrt.errors import AuthorError, DefinitionError, PlaceholderError


def define(kind, /, **body):
    """Define a class named ``Wrong`` of this module."""
    body.setdefault("does", "demo:paint")
    body.setdefault("utility", 0.5)
    return type("Wrong", (kind,), {"__module__": __name__, "__qualname__": "Wrong", **body})


SUBJECT = f"{__name__}.Wrong"
E = TypeVar("E")


# --- what is filled in ------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Leaf action, Metadata: (decided) Without a name it is the class's in words; the seed requires one",
)
@pytest.mark.states("001: Leaf action, Metadata: (decided) No arguments need no declaration")
@pytest.mark.states("001: Leaf action, Metadata: sunk_cost_boost, 0.05 by default")
@pytest.mark.states("001: Leaf action, Metadata: Equals are drawn by weight, 1 by default ...")
def test_metadata_defaults():
    class DrawAnimal(Action):
        does = "demo:paint"
        utility = 0.3

    assert DrawAnimal.name == "draw animal"
    assert DrawAnimal.sunk_cost_boost == 0.05
    assert DrawAnimal.weight == 1
    assert DrawAnimal.scheduler_priority == 1
    assert DrawAnimal.status_text_key is None
    assert DrawAnimal.spec.low == DrawAnimal.spec.high == 0.3
    assert DrawAnimal.spec.is_range is False
    assert DrawAnimal.spec.boost == 0.05
    assert DrawAnimal.spec.activity == "demo:paint"
    assert DrawAnimal.spec.subject == f"{__name__}.test_metadata_defaults.<locals>.DrawAnimal"


@pytest.mark.states("001: Leaf action: The example as a whole")
def test_metadata_as_in_the_painting_example():
    class DrawAnimal(Action):
        name = "draw an animal"
        does = "demo:paint"
        utility = (0.2, 0.4)
        sunk_cost_boost = 0.2
        weight = 1
        scheduler_priority = 4
        status_text_key = "demo:status.drawing"

        class Args(ActionArgs):
            subject: Entity
            effect: str = "draw_in_notebook"

    spec = DrawAnimal.spec
    assert (spec.name, spec.low, spec.high, spec.is_range) == ("draw an animal", 0.2, 0.4, True)
    assert (spec.boost, spec.weight) == (0.2, 1)
    assert DrawAnimal.Args.field_names() == ("subject", "effect")


@pytest.mark.parametrize("kind", [Action, CompoundAction])
def test_an_action_that_keeps_nothing_can_do_without_room_for_it(kind):
    more = {"steps": [step("demo:find")]} if kind is CompoundAction else {}
    assert not hasattr(define(kind, __slots__=(), **more)(), "__dict__")
    assert hasattr(define(kind, **more)(), "__dict__")


def test_a_class_without_does_is_a_base_class():
    class Base(Action):
        utility = 0.5

        def start(self, ctx, args):
            """Shared."""

    class Derived(Base):
        does = "demo:x"

    assert not hasattr(Base, "spec")
    assert Derived.spec.has_start
    assert Derived.name == "derived"


def test_a_derived_action_gets_a_spec_and_a_name_of_its_own():
    class First(Action):
        does = "demo:x"
        utility = 0.5

    class SecondOne(First):
        utility = (0.1, 0.9)

    assert (First.spec.name, First.spec.is_range) == ("first", False)
    assert (SecondOne.spec.name, SecondOne.spec.is_range) == ("second one", True)


@pytest.mark.states(
    "001: Leaf action, Metadata: The utility (the seed's priority) is a number from 0 to 1, or a range; required",
)
@pytest.mark.states("001: Utility: A value from 0 to 1; a number, or a range and set_utility or compose_utility")
@pytest.mark.parametrize(
    ("utility", "low", "high", "is_range"),
    [
        (0, 0.0, 0.0, False),
        (1, 1.0, 1.0, False),
        (0.25, 0.25, 0.25, False),
        ((0, 1), 0.0, 1.0, True),
        ([0.5, 0.5], 0.5, 0.5, True),
    ],
)
def test_utility_is_a_number_or_a_range(utility, low, high, is_range):
    spec = define(Action, utility=utility).spec
    assert (spec.low, spec.high, spec.is_range) == (low, high, is_range)


# --- metadata errors --------------------------------------------------------------------------------------------------

UTILITY_REMEDY = "Write a number from 0 to 1, or a pair (low, high) within that."


@pytest.mark.states("001: Leaf action, Metadata: The utility (the seed's priority) is a number from 0 to 1, or a ...")
@pytest.mark.parametrize(
    "utility",
    [-0.1, 1.1, float("nan"), float("inf"), "high", None, True, (0.4,), (0.2, 0.4, 0.6), (0.6, 0.2), (0.5, "x")],
)
def test_wrong_utility(utility):
    with pytest.raises(DefinitionError) as info:
        define(Action, utility=utility)
    assert info.value.text == f"{SUBJECT}: utility is {utility!r}. {UTILITY_REMEDY}"
    assert info.value.subject == SUBJECT
    assert info.value.code == "ART101"
    assert isinstance(info.value, AuthorError)


@pytest.mark.states("001: Leaf action, Metadata: The utility (the seed's priority) is a number from 0 to 1, or a ...")
def test_missing_utility():
    with pytest.raises(DefinitionError) as info:
        type("Wrong", (Action,), {"__module__": __name__, "__qualname__": "Wrong", "does": "demo:x"})
    assert info.value.text == f"{SUBJECT}: utility is missing. Write a number from 0 to 1, or a pair (low, high)."


@pytest.mark.states("001: Overview, Activity: It is a name, by convention `mod:verb`")
@pytest.mark.states("001: Leaf action, Metadata: does, the activity; required of whatever is learned")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"does": "two words"}, "does is 'two words'. Write an activity such as 'demo:paint'."),
        ({"does": "a/b"}, "does is 'a/b'. Write an activity such as 'demo:paint'."),
        ({"does": 5}, "does is 5. Write an activity such as 'demo:paint'."),
        ({"name": 5}, "name is 5. Write what debugging tools are to call it: a string."),
        ({"sunk_cost_boost": -0.1}, "sunk_cost_boost is -0.1. Write a number that is not negative."),
        ({"sunk_cost_boost": "x"}, "sunk_cost_boost is 'x'. Write a number that is not negative."),
        ({"weight": -1}, "weight is -1. Write a number that is not negative."),
        ({"weight": float("nan")}, "weight is nan. Write a number that is not negative."),
        ({"scheduler_priority": None}, "scheduler_priority is None. Write a number that is not negative."),
        ({"Args": dict}, "Args is <class 'dict'>. Write a nested class Args(ActionArgs)."),
        ({"Args": ThinkOutput}, f"Args is {ThinkOutput!r}. Write a nested class Args(ActionArgs)."),
        ({"Output": {"path": list}}, "Output is {'path': <class 'list'>}. Write a nested class Output(ThinkOutput)."),
        (
            {"start_thinking": lambda self, ctx, args: None},
            "start_thinking is called think here. Write 'async def think(self, ctx, args)'.",
        ),
        ({"flags": "MOVE"}, "flags is 'MOVE'. Write a set of names: flags = {MOVE}."),
        ({"flags": {1}}, "flags is {1}. Write a set of names: flags = {MOVE}."),
        (
            {"__init__": lambda self, where: None},
            "its __init__ cannot be called: missing a required argument: 'where'. It is called without arguments, for "
            "each place in a plan anew: take what it needs from the entity, or from Args.",
        ),
        (
            {"start": lambda self, args, ctx: None},
            "start takes 'args' before 'ctx'. Write start(self, ctx, args).",
        ),
    ],
)
def test_wrong_metadata(body, text):
    with pytest.raises(DefinitionError) as info:
        define(Action, **body)
    assert info.value.text == f"{SUBJECT}: {text}"


async def _asynchronous(self, ctx, args):
    """A hook that should be plain."""


def _plain(self, ctx, args):
    """A hook that should be asynchronous."""


@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_hook_that_should_be_a_coroutine(hook):
    with pytest.raises(DefinitionError) as info:
        define(Action, **{hook: _plain})
    assert info.value.text.startswith(
        f"{SUBJECT}: {hook} has the wrong kind. Make it an 'async def': async def {hook}(self, ctx, args"
    )


@pytest.mark.parametrize("hook", ["should_start_thinking", "stop_thinking", "start", "stop"])
def test_a_hook_that_should_be_plain(hook):
    with pytest.raises(DefinitionError) as info:
        define(Action, **{hook: _asynchronous})
    assert info.value.text.startswith(
        f"{SUBJECT}: {hook} has the wrong kind. Make it a plain 'def', not 'async def': def {hook}(self, "
    )


def test_compose_utility_should_be_plain():
    with pytest.raises(
        DefinitionError, match="compose_utility has the wrong kind. Make it a plain 'def', not 'async def': def"
    ):
        define(CompoundAction, steps=[step("demo:x")], compose_utility=_asynchronous)


def test_a_declared_output_that_nothing_sets():
    class Out(ThinkOutput):
        path: list

    with pytest.raises(DefinitionError) as info:
        define(Action, Output=Out)
    assert info.value.text == (
        f"{SUBJECT}: it declares an Output, but has no 'think' that could set it. "
        "Write 'async def think(self, ctx, args)', or leave Output out: the output is the arguments then."
    )


# --- compounds --------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Compound action, Methods: They have no run: it is that of each step")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"steps": []}, "it has no steps. Give it a list: steps = [step('activity'), ...]."),
        ({"steps": step("demo:x")}, "steps is step('demo:x'). Give it a list: steps = [step('activity'), ...]."),
        ({"steps": [step("demo:x"), "demo:y"]}, "step 2 is 'demo:y'. Write step('activity', ...)."),
        ({"steps": [step("")]}, "step 1 performs ''. Write an activity such as 'demo:paint'."),
        (
            {"steps": [step("demo:x"), step("two words")]},
            "step 2 performs 'two words'. Write an activity such as 'demo:paint'.",
        ),
        ({"steps": [step("demo:x", name="way"), step("demo:y", name="way")]}, "two steps are named 'way'. Rename one."),
        (
            {"steps": [step("demo:x")], "run": _asynchronous},
            "a compound action has no run of its own. Move what it does into a step, or into start.",
        ),
        ({"steps": [step("demo:x")], "output": {"a": 1}}, "output is {'a': 1}. Write output = output(field=...)."),
    ],
)
def test_wrong_compound(body, text):
    with pytest.raises(DefinitionError) as info:
        define(CompoundAction, **body)
    assert info.value.text == f"{SUBJECT}: {text}"


class Destination(ActionArgs):
    destination: Entity
    speed: float = 1.0


@pytest.mark.states("001: Step declarations: (ours) OUT finds a step by its name; a placeholder that cannot ...")
@pytest.mark.parametrize(
    ("steps", "at", "field", "text"),
    [
        (
            [step("demo:x"), step("demo:y", subject=BACK(3).subject)],
            2,
            "subject",
            "BACK(3) reaches 1 before the beginning. BACK(2) is this action's own think output; nothing lies before it.",
        ),
        (
            [step("demo:x", subject=BACK(5))],
            1,
            "subject",
            "BACK(5) reaches 4 before the beginning. BACK(1) is this action's own think output; nothing lies before it.",
        ),
        (
            [step("demo:x", speed=ARGS.sped)],
            1,
            "speed",
            "ARGS.sped is not an argument of this action. Did you mean 'speed'? "
            "Declare it in Args; declared: destination, speed.",
        ),
        (
            [step("demo:x", name="way"), step("demo:y", path=OUT["wey"].path)],
            2,
            "path",
            "OUT['wey'] names no step. Did you mean 'way'? Give the step a name: step(..., name='wey').",
        ),
        (
            [step("demo:x", path=OUT["way"].path), step("demo:y", name="way")],
            1,
            "path",
            "OUT['way'] is step 2, which has not thought yet. Refer only to earlier steps.",
        ),
        (
            [step("demo:x", path=OUT["way"].path, name="way")],
            1,
            "path",
            "OUT['way'] is step 1, which has not thought yet. Refer only to earlier steps.",
        ),
        (
            [step("demo:x", nested=[{"deep": CALL(len, BACK(2))}])],
            1,
            "nested",
            "BACK(2) reaches 1 before the beginning. BACK(1) is this action's own think output; nothing lies before it.",
        ),
    ],
)
def test_a_placeholder_that_cannot_resolve(steps, at, field, text):
    with pytest.raises(PlaceholderError) as info:
        define(CompoundAction, Args=Destination, steps=steps)
    error = info.value
    assert error.text == f"{SUBJECT}, step {at}, argument '{field}': {text}"
    assert (error.subject, error.step, error.field, error.code) == (SUBJECT, at, field, "ART102")


def test_a_placeholder_of_the_output_that_cannot_resolve():
    with pytest.raises(PlaceholderError) as info:
        define(CompoundAction, steps=[step("demo:x")], output=output(path=BACK(3).path))
    assert info.value.text == (
        f"{SUBJECT}, output, field 'path': BACK(3) reaches 1 before the beginning. "
        "BACK(2) is this action's own think output; nothing lies before it."
    )
    assert (info.value.step, info.value.field) == (0, "path")


def test_own_think_output_without_such_a_field():
    class Out(ThinkOutput):
        subject: str

    async def think(self, ctx, args):
        ctx.set_think_output(subject="x")

    with pytest.raises(DefinitionError) as info:
        define(CompoundAction, think=think, Output=Out, steps=[step("demo:x", subject=PREV.subjekt)])
    assert re.fullmatch(
        re.escape(SUBJECT) + r": a step reads 'subjekt' of this action's own think output, which has no such field\. "
        r"Did you mean 'subject'\? Declare it in .*Out; declared: subject\. PREV in the first step, and BACK\(n\) in step n, mean that output: "
        r"no step stands before\.",
        info.value.text,
    )


def test_without_own_think_element_0_is_the_arguments():
    define(CompoundAction, Args=Destination, steps=[step("demo:x", speed=PREV.speed)])
    with pytest.raises(DefinitionError, match="a step reads 'sped' of this action's own think output"):
        define(CompoundAction, Args=Destination, steps=[step("demo:x", speed=PREV.sped)])


# --- what can be known only when actions meet -------------------------------------------------------------------------


@pytest.mark.states("001: Leaf action, Metadata: All actions of an activity take the same arguments")
def test_actions_of_one_activity_take_the_same_arguments():
    class One(Action):
        does = "demo:x"
        utility = 0.5
        Args = Destination

    class Other(Action):
        does = "demo:x"
        utility = 0.5

        class Args(ActionArgs):
            destination: str
            speed: float = 1.0

    with pytest.raises(DefinitionError) as info:
        Agent(Entity("human"), actions=[One, Other])
    assert info.value.text == (
        f"{Other.spec.subject}: it performs 'demo:x' with the arguments (destination: str, speed: float = 1.0), but "
        f"{One.spec.subject} with (destination: Entity, speed: float = 1.0). All actions of one activity take the same "
        "arguments: share one Args class."
    )


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ({"a": int, "b": str}, {"b": str, "a": int}, True),
        ({"a": "int | str"}, {"a": "str | int"}, True),
        ({"a": int}, {"a": float}, False),
        ({"a": int}, {}, False),
        ({"a": int}, {"b": int}, False),
        ({"a": (int, 1)}, {"a": int}, False),
        ({"a": (int, 1)}, {"a": (int, 2)}, False),
        ({"a": (int, 1)}, {"a": (int, 1)}, True),
    ],
)
def test_what_the_same_arguments_means(one, other, fits):
    def action(fields):
        kinds = {name: kind[0] if isinstance(kind, tuple) else kind for name, kind in fields.items()}
        defaults = {name: kind[1] for name, kind in fields.items() if isinstance(kind, tuple)}
        args = type("Args", (ActionArgs,), {"__annotations__": kinds, "__module__": __name__, **defaults})
        return define(Action, Args=args)

    pair = [action(one), action(other)]
    if fits:
        Agent(Entity("human"), actions=pair)
    else:
        with pytest.raises(DefinitionError):
            Agent(Entity("human"), actions=pair)


class Finder(Action):
    does = "demo:find"
    utility = 0.5

    class Output(ThinkOutput):
        subject: str
        distance: float

    async def think(self, ctx, args):
        ctx.set_think_output(subject="cow", distance=1.0)


@pytest.mark.parametrize("wrong", [PREV.subjekt, PREV["subjekt"]])
def test_an_output_field_that_a_performer_does_not_give(wrong):
    class Painter(CompoundAction):
        does = "demo:free_time"
        utility = 0.5
        steps = [step("demo:find"), step("demo:paint", subject=wrong)]

    with pytest.raises(PlaceholderError) as info:
        Agent(Entity("human"), actions=[Painter, Finder])
    assert info.value.text == (
        f"{Painter.spec.subject}, step 1, argument 'subjekt': a later step reads it, but {Finder.spec.subject}, which "
        "performs 'demo:find', gives no such output. Did you mean 'subject'? "
        "Declare it in its Output; it gives: subject, distance."
    )


def test_a_refused_injection_changes_nothing():
    class Painter(CompoundAction):
        does = "demo:free_time"
        utility = 0.5
        steps = [step("demo:find"), step("demo:paint", subject=PREV.subjekt)]

    agent = Agent(Entity("human"), actions=[Finder])
    with pytest.raises(PlaceholderError):
        agent.inject(Painter)
    assert agent.actions == (Finder,)


@pytest.mark.states("001: Leaf action, Metadata: does, the activity; required of whatever is learned ...")
def test_an_action_without_does_cannot_be_learned():
    class Base(Action):
        utility = 0.5

    with pytest.raises(DefinitionError) as info:
        Agent(Entity("human"), actions=[Base])
    assert info.value.text == (f"{__name__}.{Base.__qualname__}: it has no 'does'. Name the activity that it performs.")


def test_what_is_not_an_action_cannot_be_learned():
    with pytest.raises(DefinitionError, match="Entity: it is not an action. Derive it from agentrt.Action."):
        Agent(Entity("human"), actions=[Entity])


class Walk(Action[E]):
    does = "demo:walk"
    utility = 0.5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"actions": Walk}, "Agent: actions is Walk. Write a list: actions=[...]."),
        ({"actions": "demo:walk"}, "Agent: actions is 'demo:walk'. Write a list: actions=[...]."),
        ({"actions": None}, "Agent: actions is None. Write a list: actions=[...]."),
        ({"packs": "demo:ai_pack:human"}, "Agent: packs is 'demo:ai_pack:human'. Write a list: packs=[...]."),
        ({"packs": {"actions": []}}, "Agent: packs is {'actions': []}. Write a list: packs=[...]."),
        ({"actions": [Walk[Entity]]}, "Walk[agentrt.body.entity.Entity] was given. Give the class itself: Walk."),
        ({"entity": Entity}, "Agent: its entity is the class agentrt.body.entity.Entity. Make one of it: Entity(...)."),
    ],
)
def test_what_an_agent_cannot_be_made_of(given, told):
    with pytest.raises(DefinitionError) as info:
        Agent(**{"entity": Entity("human"), **given})
    assert info.value.text.endswith(told)


# --- placeholders misused while defining ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "meant"), [("Arguments", "Args"), ("Params", "Args"), ("Outputs", "Output")])
def test_a_nested_class_that_nobody_reads(name, meant):
    with pytest.raises(DefinitionError, match=f"nobody reads '{name}'. Did you mean '{meant}'?"):
        define(Action, **{name: type(name, (ActionArgs,), {})})


def test_a_class_is_no_component():
    with pytest.raises(TypeError, match="^'human': the class Finder was given. Give an object of it$"):
        Entity("human", Finder)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, "1"])
def test_back_takes_a_number_of_steps(steps):
    with pytest.raises(ValueError, match="it takes a whole number of steps, from 1"):
        BACK(steps)


@pytest.mark.states("001: Step declarations: (ours) In sets and as keys of dicts they are an error of the class ...")
@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(PREV.count),
        lambda: not PREV.count,
        lambda: PREV.count == 3,
        lambda: PREV.count != 3,
        lambda: list(PREV.items),
        lambda: 3 in PREV.items,
        lambda: f"painting {PREV.subject}",
        lambda: PREV.count > 3,
        lambda: PREV.count + 1,
        lambda: PREV.count in {1, 2, 3},
        lambda: PREV.count not in {1: 2},
        lambda: {1: 2}[PREV.count],
    ],
)
def test_a_placeholder_is_no_value_yet(use):
    with pytest.raises(TypeError):
        use()


def test_the_error_for_a_comparison_says_what_to_write():
    with pytest.raises(TypeError) as info:
        bool(PREV.count == 3)
    assert str(info.value) == (
        "PREV.count is known only when the action thinks, so it cannot be compared here. Use CALL(fn, ...)."
    )


@pytest.mark.parametrize("fn", [PREV.method, 5, None, _asynchronous])
def test_call_takes_a_plain_function(fn):
    with pytest.raises(TypeError, match="takes a plain function"):
        CALL(fn, ARGS.x)


@pytest.mark.parametrize(
    ("placeholder", "text"),
    [
        (PREV.subject, "PREV.subject"),
        (BACK(3).path[0], "BACK(3).path[0]"),
        (OUT["way"].path, "OUT['way'].path"),
        (CALL(len, PREV.items), "CALL(len, PREV.items)"),
        (PREV.store.find("x", near=ARGS.place), "PREV.store.find('x', near=ARGS.place)"),
    ],
)
def test_a_placeholder_prints_as_it_is_written(placeholder, text):
    assert repr(placeholder) == text
