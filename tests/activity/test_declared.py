"""Activities that are declared once: what actions have of them, and what is refused where they are asked for."""

from __future__ import annotations

import pytest
from cast import Idle, caller

from agentrt import (
    ARGS,
    CURRENT,
    OUT,
    PREV,
    Action,
    ActionArgs,
    Activity,
    CompoundAction,
    ThinkOutput,
    output,
    park,
    step,
)
from agentrt.behavior import BehaviorTree, behavior, decider, group
from agentrt.errors import ActivityImpossibleError, ArgumentError, DefinitionError, NotRunningError, PlaceholderError
from agentrt.goals import Goal, GoalSelector


class PaintArgs(ActionArgs):
    where: int
    effect: str = "charcoal"


class Picture(ThinkOutput):
    of: str


PAINT = Activity("paint", PaintArgs, Picture)
GO = Activity("go", PaintArgs)
REST = Activity("rest")


class Paint(Action):
    does = PAINT
    utility = 0.5

    async def think(self, ctx, args):
        ctx.set_think_output(of=f"{args.where} in {args.effect}")


class Go(Action):
    does = GO
    utility = 0.5


# --- who performs it --------------------------------------------------------------------------------------------------


def test_an_action_has_its_arguments_and_its_output_from_there():
    assert (Paint.does, Paint.Args, Paint.Output, Paint.spec.activity) == ("paint", PaintArgs, Picture, "paint")
    assert (Go.does, Go.Args, Go.Output) == ("go", PaintArgs, None)
    assert repr(PAINT) == "Activity('paint', PaintArgs)"


def test_a_class_below_has_them_too_unless_it_performs_something_else():
    class PaintWell(Paint):
        utility = 0.7

    class Rest(Paint):
        does = "rest"
        Args = ActionArgs

    assert (PaintWell.does, PaintWell.Args, PaintWell.Output) == ("paint", PaintArgs, Picture)
    assert (Rest.does, Rest.Args) == ("rest", ActionArgs)


def test_who_thinks_below_one_that_does_not_gives_the_output():
    class Look(ThinkOutput):
        where: int

    class Stand(Action):
        does = Activity("look", PaintArgs, Look)  # its arguments have all fields
        utility = 0.5

    class Peer(Stand):
        async def think(self, ctx, args):
            ctx.set_think_output(where=1)

    assert (Stand.Output, Peer.Output) == (None, Look)


def _refused(body, bases=(Action,)):
    with pytest.raises(DefinitionError) as caught:
        type("Wrong", bases, {"__module__": "here", "utility": 0.5, **body})
    return str(caught.value).splitlines()[0]


async def _think(self, ctx, args):
    pass


class Other(ThinkOutput):
    to: str


@pytest.mark.parametrize(
    ("body", "bases", "told"),
    [
        (
            {"does": GO, "Args": type("Args", (ActionArgs,), {})},
            (Action,),
            "it has Args of its own, and performs Activity('go', PaintArgs). Leave them out: PaintArgs are the "
            "arguments of whoever performs it.",
        ),
        (
            {"does": GO, "Output": Other, "think": _think},
            (Action,),
            "it gives an output, and Activity('go', PaintArgs) is declared without one. Declare it there: "
            "Activity('go', PaintArgs, Output).",
        ),
        (
            {"does": PAINT, "Output": Other, "think": _think},
            (Action,),
            "it has an Output of its own, and performs Activity('paint', PaintArgs). Leave it out, or derive it from "
            "Picture.",
        ),
        (
            {"does": PAINT},
            (Action,),
            "it gives no 'of', which Activity('paint', PaintArgs) is declared to give. Write 'async def think(self, "
            "ctx, args)', which gives it to ctx.set_think_output.",
        ),
        (
            {"does": PAINT, "steps": [step("go")]},
            (CompoundAction,),
            "it gives no 'of', which Activity('paint', PaintArgs) is declared to give. Write output = output(of=...).",
        ),
        (
            {"does": PAINT, "steps": [step("go")], "output": output(of="it", off=1)},
            (CompoundAction,),
            "it gives 'off', which Activity('paint', PaintArgs) is not declared to give. Did you mean 'of'? Declare it "
            "in Picture; declared: of.",
        ),
        (
            {"does": GO, "steps": [step("go")], "output": output(of="it")},
            (CompoundAction,),
            "it gives an output, and Activity('go', PaintArgs) is declared without one. Declare it there: "
            "Activity('go', PaintArgs, Output).",
        ),
    ],
)
def test_an_action_that_does_not_fit_the_declaration_is_refused(body, bases, told):
    assert _refused(body, bases) == f"[ART101] here.Wrong: {told}"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("",), "Activity(''): that is no name of an activity. Write one such as 'demo:paint'."),
        (("a b",), "Activity('a b'): that is no name of an activity. Write one such as 'demo:paint'."),
        ((5,), "Activity(5): that is no name of an activity. Write one such as 'demo:paint'."),
        (("a", Picture), f"Activity('a'): args is {Picture!r}. Give a subclass of ActionArgs."),
        (("a", {"where": int}), "Activity('a'): args is {'where': <class 'int'>}. Give a subclass of ActionArgs."),
        (("a", PaintArgs, PaintArgs), f"Activity('a'): output is {PaintArgs!r}. Give a subclass of ThinkOutput."),
    ],
)
def test_what_is_no_declaration(given, told):
    with pytest.raises(DefinitionError) as caught:
        Activity(*given)
    assert str(caught.value).splitlines()[0] == f"[ART101] {told}"


# --- who asks for it --------------------------------------------------------------------------------------------------


def test_it_is_executed(play):
    async def body(ctx):
        picture = await ctx.execute(PAINT, where=3)
        play.note(type(picture), picture.of)

    play.add(caller(play, body), Paint)
    play.tick()
    assert play.log == [(1, Picture, "3 in charcoal"), (1, "returned")]


WRONG = [
    ({"wher": 3}, "'wher': is not declared. Did you mean 'where'? Declared: where, effect."),
    ({"where": 3, "color": 1}, "'color': is not declared. Declared: where, effect."),
    ({"where": "x"}, "'where': takes int, not str 'x'."),
    ({}, "'where': is missing. Give it, or declare a default for it in PaintArgs."),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_arguments_that_it_does_not_take_are_refused_whoever_performs_it(play, given, told):
    """And where nobody does."""

    async def body(ctx):
        texts = []
        for ask in (ctx.execute, ctx.agent.perform, ctx.spawn):
            with pytest.raises(ArgumentError) as caught:
                await ask(PAINT, **given)
            texts.append(str(caught.value).splitlines()[0])
        with pytest.raises(ArgumentError) as caught:
            step(PAINT, **given)
        play.note({*texts, str(caught.value).splitlines()[0]})

    play.add(caller(play, body))
    play.tick()
    assert play.log == [(1, {f"[ART201] activity 'paint', argument {told}"}), (1, "returned")]


@pytest.mark.parametrize("activity", [PAINT, "paint"])
def test_an_argument_that_is_given_by_its_place_is_refused(play, activity):
    told = "activity 'paint', argument '3': is given by its place. Give each by its name, or a dict of them."

    async def body(ctx):
        for ask in (ctx.execute, ctx.agent.perform, ctx.spawn, step):
            with pytest.raises(ArgumentError) as caught:
                await ask(activity, 3)
            play.note(caught.value.text == told)

    play.add(caller(play, body))
    play.tick()
    assert play.log == [(1, True)] * 4 + [(1, "returned")]


def test_who_asks_for_an_action_is_told_what_it_performs(play):
    told = f"{__name__}.Paint: it is a class, and no activity. Ask for 'paint', which it performs."

    async def body(ctx):
        for ask in (ctx.execute, ctx.agent.perform, ctx.spawn, step):
            with pytest.raises(DefinitionError) as caught:
                await ask(Paint, where=3)
            play.note(caught.value.text == told)

    play.add(caller(play, body))
    play.tick()
    assert play.log == [(1, True)] * 4 + [(1, "returned")]


def test_who_asks_for_what_nobody_performs_is_told_its_name(play):
    async def body(ctx):
        with pytest.raises(ActivityImpossibleError) as caught:
            await ctx.execute(REST)
        play.note("can perform 'rest' now" in str(caught.value))

    agent = play.add(caller(play, body))
    play.tick()
    assert play.log == [(1, True), (1, "returned")]
    play.sim.runtime.remove(agent)
    play.tick()
    with pytest.raises(NotRunningError, match="cannot perform 'rest'"):
        agent.perform(REST)


def test_it_is_spawned_and_performed_beside_the_plan(play):
    async def body(ctx):
        frame = ctx.spawn(PAINT, {"where": 4})
        frame.start_thinking()
        play.note((await frame.ready()).of, (await ctx.agent.perform(PAINT, where=5, effect="oil")).of)

    play.add(caller(play, body), Paint)
    play.tick()
    assert play.log == [(1, "4 in charcoal", "5 in oil"), (1, "returned")]


def _goal(ask):
    class Ask(Goal):
        def can_use(self):
            return True

        async def run(self):
            await ask(self.perform)

    selector = GoalSelector()
    selector.add_goal(1, Ask())
    return selector


def _behavior(ask):
    async def run(at):
        await ask(at.perform)

    return BehaviorTree(group("ROOT")[decider("ASK", behavior("ASK", run=run))]).memory()


@pytest.mark.parametrize("driver", [_goal, _behavior])
def test_other_models_have_it_performed(play, driver):
    async def ask(perform):
        play.note((await perform(PAINT, where=1)).of)
        with pytest.raises(ArgumentError) as caught:
            await perform(PAINT, wher=1)
        play.note(str(caught.value).splitlines()[0])
        await park()

    play.add(Paint, Idle, top="agentrt:top", drivers=[driver(ask)])
    play.tick(2)
    assert play.log == [
        (1, "1 in charcoal"),
        (
            1,
            "[ART201] activity 'paint', argument 'wher': is not declared. Did you mean 'where'? Declared: where, effect.",
        ),
    ]


# --- steps ------------------------------------------------------------------------------------------------------------


def test_the_steps_of_a_compound_and_what_it_gives(play):
    class Twice(CompoundAction):
        does = PAINT
        utility = 0.5
        steps = [
            step("draw", where=ARGS[PaintArgs].where, effect=ARGS[PaintArgs].effect),
            step(GO, {"where": PREV.where}, name="way", think_timeout=5),
        ]
        output = output(of=OUT["way"].effect)

    class Draw(Go):
        does = "draw"

    async def body(ctx):
        picture = await ctx.execute(PAINT, where=3, effect="oil")
        play.note(type(picture), picture.of)

    play.add(caller(play, body), Twice, Draw, Go)
    play.tick()
    assert play.log == [(1, Picture, "charcoal"), (1, "returned")]


def test_a_placeholder_is_nothing_that_a_step_is_refused_for():
    made = step(PAINT, where=CURRENT.location, effect=PREV.effect)
    assert (made.activity, sorted(made.args), made.name) == ("paint", ["effect", "where"], None)
    with pytest.raises(ArgumentError, match="'wher': is not declared"):
        step(PAINT, wher=PREV.where)


def test_an_activity_whose_arguments_are_called_as_what_a_step_is_told():
    class Named(ActionArgs):
        name: str
        think_timeout: int = 0

    named = Activity("call", Named)
    made = step(named, name="Ann", think_timeout=3)
    assert (made.args, made.name, made.think_timeout) == ({"name": "Ann", "think_timeout": 3}, None, None)
    made = step(named, {"name": "Ann"}, name="step", think_timeout=3)
    assert (made.args, made.name, made.think_timeout) == ({"name": "Ann"}, "step", 3)


def test_a_compound_that_gives_a_value_of_the_wrong_type(play):
    class Wrong(CompoundAction):
        does = PAINT
        utility = 0.5
        steps = [step("go", where=1)]
        output = output(of=PREV.where)

    async def body(ctx):
        with pytest.raises(ActivityImpossibleError):
            await ctx.execute(PAINT, where=3)
        play.note("impossible")

    play.add(caller(play, body), Wrong, Go)
    play.tick()
    assert play.log == [(1, "impossible"), (1, "returned")]
    [fault] = play.faults()
    assert "argument 'of': takes str, not int 1." in str(fault)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            ARGS[PaintArgs].nope,
            "ARGS[PaintArgs].nope is not an argument of this action. Declare it in Args; declared: ",
        ),
        (ARGS[Picture].of, "ARGS[Picture] are not the arguments of this action. Write ARGS[PaintArgs]."),
        (ARGS["wher"], "ARGS.wher is not an argument of this action. Did you mean 'where'?"),
        (ARGS[int], "ARGS.int is not an argument of this action. Declare it in Args; declared: where"),
        (ARGS[Picture], "ARGS[Picture] are not the arguments of this action. Write ARGS[PaintArgs]."),
    ],
)
def test_arguments_of_a_class_that_are_not_those_of_the_compound(value, told):
    with pytest.raises(PlaceholderError) as caught:
        type("Wrong", (CompoundAction,), {"does": GO, "utility": 0.5, "steps": [step("draw", where=value)]})
    assert told in str(caught.value)


def test_arguments_of_a_class_above_that_of_the_compound():
    class More(PaintArgs):
        times: int = 2

    class Again(CompoundAction):
        does = "again"
        utility = 0.5
        Args = More
        steps = [step(GO, where=ARGS[PaintArgs].where), step(GO, where=ARGS[More].times)]

    assert [one.reads for one in Again.spec.steps] == [(-1,), (-1,)]
