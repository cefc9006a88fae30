"""Choosing again: ``on_reject`` and ``ctx.candidates``, and who is asked when a step rejects what it was given."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import (
    ARGS,
    BACK,
    CURRENT,
    OUT,
    PREV,
    Action,
    ActionArgs,
    CompoundAction,
    Entity,
    Signal,
    ThinkOutput,
    output,
    step,
)
from agentrt.activity.plan.compound import MOST_CHOICES


class Thing(ActionArgs):
    thing: str


class Found(ThinkOutput):
    thing: str


def chooser(play, things, *, does="find", name="Find", utility=0.5, **attributes):
    """Offers one thing after the other; notes each when it is taken out of the iterator."""

    def choices():
        for thing in things:
            play.note(name, thing)
            yield {"thing": thing}

    async def think(self, ctx, args):
        ctx.candidates(choices())

    return type(name, (Action,), {"does": does, "utility": utility, "Output": Found, "think": think, **attributes})


def user(play, *good, does="use", name="Use", utility=0.5, run=True):
    async def think(self, ctx, args):
        if args.thing not in good:
            ctx.reject(f"{args.thing} is taken")
        ctx.set_think_output()

    async def running(self, ctx, args):
        play.note(name, "has", args.thing)
        await ctx.sleep(1000)

    body = {"does": does, "utility": utility, "Args": Thing, "think": think}
    return type(name, (Action,), body | ({"run": running} if run else {}))


class FindAndUse(CompoundAction):
    does = "top"
    utility = 0.5
    steps = [step("find"), step("use", thing=PREV.thing)]


# --- candidates -------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: reject: (decided) Who chose the rejected arguments may offer others, at once")
def test_each_rejection_offers_the_next_choice_in_the_same_tick(play):
    play.add(FindAndUse, chooser(play, ["cow", "pig", "hen", "cat"]), user(play, "hen"))
    play.tick(2)
    assert play.log == [(1, "Find", "cow"), (1, "Find", "pig"), (1, "Find", "hen"), (1, "Use", "has", "hen")]
    assert play.trace("think", "stop_thinking", "reject", "reconsider", "start") == [
        (1, "top/FindAndUse", "think"),
        (1, "top/FindAndUse/find/Find", "think"),
        (1, "top/FindAndUse/use/Use", "think"),
        (1, "top/FindAndUse/use/Use", "reject"),
        (1, "top/FindAndUse/use/Use", "stop_thinking"),
        (1, "top/FindAndUse/find/Find", "reconsider"),
        (1, "top/FindAndUse/use/Use", "think"),
        (1, "top/FindAndUse/use/Use", "reject"),
        (1, "top/FindAndUse/use/Use", "stop_thinking"),
        (1, "top/FindAndUse/find/Find", "reconsider"),
        (1, "top/FindAndUse/use/Use", "think"),
        (1, "top/FindAndUse", "start"),
        (1, "top/FindAndUse/find/Find", "start"),
        (1, "top/FindAndUse/find/Find", "stop_thinking"),
        (1, "top/FindAndUse/use/Use", "start"),
        (1, "top/FindAndUse/use/Use", "stop_thinking"),
        (1, "top/FindAndUse", "stop_thinking"),
    ]
    assert play.details("reconsider")[0][3] == {"step": "use", "reason": "cow is taken"}


def test_without_a_choice_left_the_chooser_rejects_and_the_plan_thinks_again_after_the_delay(play):
    play.add(FindAndUse, chooser(play, ["cow", "pig"]), user(play, "hen"))
    play.tick(2)
    assert play.log == [
        (1, "Find", "cow"),
        (1, "Find", "pig"),
        (2, "Find", "cow"),
        (2, "Find", "pig"),
    ]
    assert play.details("reject")[2] == (
        1,
        "top/FindAndUse/find/Find",
        "reject",
        {"reason": "no candidate is left: pig is taken"},
    )


def test_the_storm_is_traced_all_the_same(stage):
    play = stage(0, ticks_per_second=1000)
    play.add(FindAndUse, chooser(play, ["cow", "pig"]), user(play, "hen"))
    play.tick(700)
    rounds = [entry[0] for entry in play.log if entry[2] == "cow"]
    assert [after - before for before, after in itertools.pairwise(rounds)] == [20, 40, 80, 160, 320]
    assert [one[3]["delay"] for one in play.details("storm")] == [0.32, 0.64]
    play.close()


def test_no_choice_at_all_is_a_rejection(play, idle):
    play.add(FindAndUse, chooser(play, []), user(play, "hen"), idle)
    play.tick(1)
    assert play.details("reject") == [(1, "top/FindAndUse/find/Find", "reject", {"reason": "there is no candidate"})]


def test_the_next_best_chooser_comes_when_one_has_no_choice_left(play):
    play.add(
        FindAndUse,
        chooser(play, ["cow", "pig"], name="Near", utility=0.9),
        chooser(play, ["hen"], name="Far", utility=0.1),
        user(play, "hen"),
    )
    play.tick(1)
    assert play.log == [(1, "Near", "cow"), (1, "Far", "hen"), (1, "Near", "pig"), (1, "Use", "has", "hen")]


def test_choices_may_be_a_list_and_think_outputs(play):
    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.candidates([{"thing": "cow"}, Found(thing="pig")])

    play.add(FindAndUse, Find, user(play, "pig"))
    play.tick(1)
    assert play.log == [(1, "Use", "has", "pig")]


def test_a_choice_that_is_none(play, idle):
    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.candidates([{"thing": "cow"}, 7])

    play.add(FindAndUse, Find, user(play, "pig"), idle)
    play.tick(1)
    assert play.faults() == [
        (
            1,
            "top/FindAndUse/find/Find",
            "candidates",
            "TypeError: candidates() was given the choice 7: each is a mapping of output fields, such as {'item': log}",
        )
    ]


@pytest.mark.parametrize("how", ["raise", "reject", "abort"])
def test_an_iterator_that_ends_otherwise(play, idle, how):
    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            def choices():
                yield {"thing": "cow"}
                if how == "raise":
                    raise ValueError("broken")
                getattr(ctx, how)("enough")

            ctx.candidates(choices())

    play.add(FindAndUse, Find, user(play, "pig"), idle)
    play.tick(1)
    if how == "raise":
        assert play.faults() == [(1, "top/FindAndUse/find/Find", "candidates", "ValueError: broken")]
        assert play.trace("disabled") == [(1, "top/FindAndUse/find/Find", "disabled")]
    else:
        assert play.details(how)[-1] == (1, "top/FindAndUse/find/Find", how, {"reason": "enough"})


def test_an_output_that_the_author_sets_forgets_the_choices(play, idle):
    changed = Signal()

    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.candidates([{"thing": "cow"}, {"thing": "pig"}])
            await changed.wait()
            ctx.set_think_output(thing="hen")
            await ctx.sleep(1000)

    class Gate(Action):
        does = "gate"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep(1000)

    class Plan(FindAndUse):
        steps = [*FindAndUse.steps, step("gate")]

    play.add(Plan, Find, user(play, "cow", "pig"), Gate, idle)
    play.tick(1)
    changed.emit()
    play.tick(1)
    assert play.trace("reconsider") == []
    assert play.details("reject") == [(2, "top/Plan/use/Use", "reject", {"reason": "hen is taken"})]


def test_choices_without_end_do_not_keep_the_tick(play):
    """The compound goes on in the next tick, with the choice at which it was; the trace has a storm."""
    play.add(FindAndUse, chooser(play, (str(number) for number in itertools.count())), user(play, "100"))
    play.tick(1)
    assert len(play.log) == MOST_CHOICES + 1
    assert play.details("storm") == [
        (1, "top/FindAndUse", "storm", {"step": "use", "reason": "too many choices in one tick"})
    ]
    play.tick(1)
    assert play.log[-1] == (2, "Use", "has", "100")
    assert [entry[2] for entry in play.log[:-1]] == [str(number) for number in range(101)]


def test_a_plan_that_puts_its_search_off_can_be_left(play, leaf):
    agent = play.add(
        FindAndUse,
        chooser(play, (str(number) for number in itertools.count())),
        user(play),
        leaf("Best", 0.9, think=1, run=50, quiet=True),
    )
    play.tick(5)
    assert agent.snapshot().running == "top/Best"
    assert play.trace("storm") == [(1, "top/FindAndUse", "storm")]


# --- on_reject --------------------------------------------------------------------------------------------------------


def asked(play, answer, *, things=("cow",), name="Find", **attributes):
    """A chooser with the hook ``on_reject``."""

    async def think(self, ctx, args):
        self.left = list(things)
        ctx.set_think_output(thing=self.left.pop(0))

    def on_reject(self, ctx, args, reason):
        play.note(name, reason)
        answer(self, ctx)

    body = {"does": "find", "utility": 0.5, "Output": Found, "think": think, "on_reject": on_reject, **attributes}
    return type(name, (Action,), body)


def another(self, ctx):
    if self.left:
        ctx.set_think_output(thing=self.left.pop(0))


@pytest.mark.states("001: reject: (decided) Who chose the rejected arguments may offer others, at once ...")
def test_the_hook_may_set_another_output(play):
    play.add(FindAndUse, asked(play, another, things=("cow", "pig", "hen")), user(play, "hen"))
    play.tick(1)
    assert play.log == [(1, "Find", "cow is taken"), (1, "Find", "pig is taken"), (1, "Use", "has", "hen")]


def test_the_hook_may_do_nothing(play):
    """Then it is as without the hook: the plan thinks again, with back-off."""
    play.add(FindAndUse, asked(play, lambda self, ctx: None), user(play, "hen"))
    play.tick(2)
    assert play.log == [(1, "Find", "cow is taken"), (2, "Find", "cow is taken")]


def test_the_hook_may_take_its_output_back_and_think_on(play, idle):
    found = Signal()

    class Find(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.set_think_output(thing="cow")
            ctx.set_think_output(thing=await found.wait())
            await ctx.sleep(1000)

        def on_reject(self, ctx, args, reason):
            ctx.clear_think_output()

    play.add(FindAndUse, Find, user(play, "hen"), idle)
    play.tick(3)
    found.emit("hen")
    play.tick(1)
    assert play.log == [(4, "Use", "has", "hen")]


@pytest.mark.parametrize("how", ["raise", "reject", "abort"])
def test_a_hook_that_ends_otherwise(play, idle, how):
    def answer(self, ctx):
        if how == "raise":
            raise ValueError("broken")
        getattr(ctx, how)("enough")

    play.add(FindAndUse, asked(play, answer), user(play, "hen"), idle)
    play.tick(1)
    if how == "raise":
        assert play.faults() == [(1, "top/FindAndUse/find/Find", "on_reject", "ValueError: broken")]
    else:
        assert play.details(how)[-1] == (1, "top/FindAndUse/find/Find", how, {"reason": "enough"})


def test_the_reasons_of_all_who_rejected(play, idle):
    actions = [user(play, "hen"), user(play, "hen", name="Same"), type("Other", (user(play, "hen"),), {})]

    class Other(actions[2]):
        async def think(self, ctx, args):
            ctx.reject("not mine")

    play.add(FindAndUse, asked(play, another), actions[0], actions[1], Other, idle)
    play.tick(1)
    assert play.log[0] == (1, "Find", "cow is taken; not mine")


def test_all_of_them_have_to_reject(play):
    """One of two can use it: nobody is asked."""
    play.add(
        FindAndUse,
        asked(play, another, things=("cow", "pig")),
        user(play, "pig", name="Fussy", utility=0.9),
        user(play, "cow", name="Easy"),
    )
    play.tick(1)
    assert play.log == [(1, "Easy", "has", "cow")]


def test_the_compound_itself_is_element_0(play):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        Output = Found
        steps = [step("note"), step("use", thing=BACK(2).thing)]

        async def think(self, ctx, args):
            self.left = ["pig", "hen"]
            ctx.set_think_output(thing="cow")

        def on_reject(self, ctx, args, reason):
            play.note("Plan", reason)
            ctx.set_think_output(thing=self.left.pop(0))

    class Note(Action):
        does = "note"
        utility = 0.5

        async def think(self, ctx, args):
            play.note("note thinks")
            ctx.set_think_output()

    play.add(Plan, Note, user(play, "hen"))
    play.tick(1)
    assert play.log == [
        (1, "note thinks"),
        (1, "Plan", "cow is taken"),
        (1, "note thinks"),
        (1, "Plan", "pig is taken"),
        (1, "note thinks"),
        (1, "Use", "has", "hen"),
    ]
    assert len(play.trace("think")) == 7


def test_candidates_of_the_compound_itself_and_when_they_are_used_up(play):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        Output = Found
        steps = [step("use", thing=PREV.thing)]

        async def think(self, ctx, args):
            play.note("think")
            ctx.candidates([{"thing": "cow"}, {"thing": "pig"}])

    play.add(Plan, user(play))
    play.tick(2)
    assert play.log == [(1, "think"), (2, "think")]
    assert [one[3]["reason"] for one in play.details("reject")] == ["cow is taken", "pig is taken"] * 2


# --- who is asked -----------------------------------------------------------------------------------------------------


def reads(*steps, **attributes):
    made = type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": list(steps), **attributes})
    return [one.reads for one in made.spec.steps], made.spec.output_reads


async def ready(self, ctx, args):
    ctx.set_think_output(thing="x")


@pytest.mark.parametrize(
    ("steps", "attributes", "expected"),
    [
        ([step("a"), step("b")], {}, ([(), ()], ())),
        ([step("a"), step("b", x=PREV.x)], {}, ([(), (1,)], ())),
        ([step("a"), step("b", x=PREV.x), step("c", x=PREV.x)], {}, ([(), (1,), (2, 1)], ())),
        ([step("a"), step("b"), step("c", x=BACK(2).x)], {}, ([(), (), (1,)], ())),
        ([step("a", name="n"), step("b"), step("c", x=[{"y": OUT["n"].x}])], {}, ([(), (), (1,)], ())),
        ([step("a"), step("b"), step("c", x=CURRENT.location)], {}, ([(), (), (2, 1, 0, -1)], ())),
        ([step("a", x=ARGS.thing), step("b", x=PREV.x)], {"Args": Thing}, ([(-1,), (1, -1)], ())),
        ([step("a", x=BACK(1).thing)], {"think": ready, "Output": Found}, ([(0, -1)], ())),
        ([step("a"), step("b", x=PREV)], {"output": output(y=PREV.x)}, ([(), (1,)], (2, 1))),
        ([step("a"), step("b")], {"output": output(y=BACK(2).x, z=1)}, ([(), ()], (1,))),
    ],
)
def test_what_a_step_depends_on_is_known_at_definition(steps, attributes, expected):
    assert reads(*steps, **attributes) == expected


def test_the_nearest_chooser_from_whom_the_arguments_came_is_asked_and_nobody_else(play):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [
            step("first"),
            step("second"),
            step("third"),
            step("use", thing=BACK(2).thing),
        ]

    play.add(
        Plan,
        chooser(play, ["a", "b"], does="first", name="First"),
        chooser(play, ["cow", "hen"], does="second", name="Second"),
        chooser(play, ["x", "y"], does="third", name="Third"),
        user(play, "hen"),
    )
    play.tick(1)
    assert play.log == [
        (1, "First", "a"),
        (1, "Second", "cow"),
        (1, "Third", "x"),
        (1, "Second", "hen"),
        (1, "Third", "x"),  # it thinks again, and so offers its first again
        (1, "Use", "has", "hen"),
    ]


def test_a_chooser_further_up_is_asked_when_the_nearer_has_nothing_else(play):
    """find -> path (which has no choice) -> use: the path is a function of what was found."""

    class Path(Action):
        does = "path"
        utility = 0.5
        Args = Thing
        Output = Found

        async def think(self, ctx, args):
            play.note("path to", args.thing)
            ctx.set_think_output(thing=f"path to {args.thing}")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("find"), step("path", thing=PREV.thing), step("use", thing=PREV.thing)]

    play.add(Plan, chooser(play, ["cow", "hen"]), Path, user(play, "path to hen"))
    play.tick(1)
    assert play.log == [
        (1, "Find", "cow"),
        (1, "path to", "cow"),
        (1, "Find", "hen"),
        (1, "path to", "hen"),
        (1, "Use", "has", "path to hen"),
    ]


def test_who_had_a_part_in_earlier_rejections_is_asked_too(play):
    """``second`` loses *a* because it does not go with ``first``'s 1, and *b* for itself. Then ``first`` is asked, although the
    step that rejected *b* does not depend on it.
    """

    class Check(Action):
        does = "check"
        utility = 0.5

        class Args(ActionArgs):
            one: str
            two: str

        async def think(self, ctx, args):
            if (args.one, args.two) == ("1", "a"):
                ctx.reject("1 and a do not go together")
            ctx.set_think_output()

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [
            step("first"),
            step("second"),
            step("use", thing=PREV.thing),
            step("check", one=BACK(3).thing, two=BACK(2).thing),
        ]

    play.add(
        Plan,
        chooser(play, ["1", "2"], does="first", name="First"),
        chooser(play, ["a", "b"], does="second", name="Second"),
        user(play, "a"),
        Check,
    )
    play.tick(1)
    assert play.log == [
        (1, "First", "1"),
        (1, "Second", "a"),
        (1, "Second", "b"),
        (1, "First", "2"),
        (1, "Second", "a"),
        (1, "Use", "has", "a"),
    ]


def test_a_chooser_inside_a_nested_plan(play):
    """The step that gave the arguments is a plan: those are asked of whose outputs its output is made."""

    class Search(CompoundAction):
        does = "search"
        utility = 0.5
        steps = [step("find"), step("note")]
        output = output(thing=BACK(2).thing)

    class Note(Action):
        does = "note"
        utility = 0.5

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("search"), step("use", thing=PREV.thing)]

    play.add(Plan, Search, Note, chooser(play, ["cow", "pig", "hen"]), user(play, "hen"))
    play.tick(1)
    assert play.log == [(1, "Find", "cow"), (1, "Find", "pig"), (1, "Find", "hen"), (1, "Use", "has", "hen")]


def test_a_nested_plan_without_another_choice_rejects_in_its_turn(play):
    class Search(CompoundAction):
        does = "search"
        utility = 0.5
        Args = Thing
        steps = [step("find")]
        output = output(thing=PREV.thing)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("place"), step("search", thing=PREV.thing), step("use", thing=PREV.thing)]

    play.add(
        Plan,
        Search,
        chooser(play, ["barn", "yard"], does="place", name="Place"),
        chooser(play, ["cow", "pig"]),
        user(play, "hen"),
    )
    play.tick(1)
    assert play.log == [
        (1, "Place", "barn"),
        (1, "Find", "cow"),
        (1, "Find", "pig"),
        (1, "Place", "yard"),
        (1, "Find", "cow"),
        (1, "Find", "pig"),
    ]
    assert (1, "top/Plan/search/Search", "reject") in play.trace("reject")


@pytest.mark.states("001: reject: (ours) Where thinking again would change nothing, a chooser further out is asked")
def test_a_step_inside_a_nested_plan_that_rejects_what_the_plan_was_given(play):
    """The seed's trap: the nested plan thinks again and again with the same arguments. The plan around it is asked."""

    class Fetch(CompoundAction):
        does = "fetch"
        utility = 0.5
        Args = Thing
        steps = [step("use", thing=ARGS.thing)]

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("find"), step("fetch", thing=PREV.thing)]

    play.add(Plan, Fetch, chooser(play, ["cow", "pig", "hen"]), user(play, "hen"))
    play.tick(1)
    assert play.log == [(1, "Find", "cow"), (1, "Find", "pig"), (1, "Find", "hen"), (1, "Use", "has", "hen")]


def test_a_nested_plan_beside_another_way_does_not_have_the_outer_choice_changed(play):
    class Fetch(CompoundAction):
        does = "fetch"
        utility = 0.9
        Args = Thing
        steps = [step("use", thing=ARGS.thing)]

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("find"), step("fetch", thing=PREV.thing)]

    class Send(Action):
        does = "fetch"
        utility = 0.1
        Args = Thing

        async def run(self, ctx, args):
            play.note("sends for", args.thing)
            await ctx.sleep(1000)

    play.add(Plan, Fetch, Send, chooser(play, ["cow", "hen"]), user(play, "hen"))
    play.tick(1)
    assert play.log == [(1, "Find", "cow"), (1, "sends for", "cow")]


def test_an_executed_plan_goes_through_its_choices_too(play):
    class Caller(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("fetch")
            play.note("fetched")
            await ctx.sleep(1000)

    class Fetch(FindAndUse):
        does = "fetch"

    play.add(Caller, Fetch, chooser(play, ["cow", "pig", "hen"]), user(play, "hen", run=False))
    play.tick(1)
    assert play.log[-1] == (1, "fetched")


def test_a_rejection_after_everything_was_ready(play):
    taken = Signal()

    class Use(Action):
        does = "use"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            ctx.set_think_output()
            if await taken.wait() == args.thing:
                ctx.reject("just taken")
            await ctx.sleep(1000)

    class Gate(Action):
        does = "gate"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(3)
            ctx.set_think_output()

    class Plan(FindAndUse):
        steps = [*FindAndUse.steps, step("gate")]

    play.add(Plan, chooser(play, ["cow", "pig"]), Use, Gate)
    play.tick(2)
    taken.emit("cow")
    play.tick(1)
    assert play.log == [(1, "Find", "cow"), (3, "Find", "pig")]


def test_the_loss_of_an_entity_is_a_rejection_too(play):
    things = [Entity("cow"), Entity("pig")]
    things[0].destroy()

    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            thing: Entity

        async def think(self, ctx, args):
            ctx.candidates({"thing": thing} for thing in things)

    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            thing: Entity

        async def run(self, ctx, args):
            play.note("has", args.thing.kind)
            await ctx.sleep(1000)

    play.add(FindAndUse, Find, Use)
    play.tick(1)
    assert play.log == [(1, "has", "pig")]


# --- all of it --------------------------------------------------------------------------------------------------------


@st.composite
def plans(draw):
    """Steps: each offers values, or none of its own; reads some steps before; rejects some combinations of what it reads."""
    steps = []
    for number in range(draw(st.integers(1, 5))):
        read = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=2)) if number else []
        size = draw(st.integers(1, 3))
        combinations = list(itertools.product(*[range(len(steps[one]["values"])) for one in read]))
        rejected = draw(st.lists(st.sampled_from(combinations), unique=True)) if read else []
        steps.append({"values": list(range(size)), "reads": read, "rejected": set(rejected)})
    return steps


def first_admissible(steps):
    """The same by the book: a nested loop over all choices."""
    for combination in itertools.product(*[one["values"] for one in steps]):
        if all(tuple(combination[read] for read in one["reads"]) not in one["rejected"] for one in steps):
            return combination
    return None


class Value(ThinkOutput):
    value: int


@pytest.mark.states("001: reject: (ours) No combination is missed, and none tried twice")
@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(plans(), st.booleans())
def test_the_first_admissible_combination_is_found_and_nothing_is_offered_twice(stage, steps, with_hook):  # noqa: C901
    play = stage(0, ticks_per_second=1000)
    chosen, offered, ran = [None] * len(steps), [], []

    def offers(number, value):
        chosen[number:] = [value] + [None] * (len(steps) - number - 1)
        offered.append((number, tuple(chosen[: number + 1])))
        return {"value": value}

    def make(number, declared):
        class Choose(Action):
            does = f"choose{number}"
            utility = 0.5
            Output = Value

            class Args(ActionArgs):
                read: list

            async def think(self, ctx, args):
                if tuple(args.read) in declared["rejected"]:
                    ctx.reject("drawn")
                self.left = iter(declared["values"])
                if with_hook:
                    ctx.set_think_output(**offers(number, next(self.left)))
                else:
                    ctx.candidates(offers(number, value) for value in self.left)

            async def run(self, ctx, args):
                ran.append((number, args.read))
                await ctx.next_tick()

        if with_hook:

            def on_reject(self, ctx, args, reason):
                value = next(self.left, None)
                if value is None:
                    ctx.reject("nothing left")
                ctx.set_think_output(**offers(number, value))

            Choose = type("Choose", (Choose,), {"on_reject": on_reject})
        return Choose

    declared = [
        step(f"choose{number}", read=[BACK(number - read).value for read in one["reads"]])
        for number, one in enumerate(steps)
    ]
    plan = type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": declared})
    play.add(plan, *[make(number, one) for number, one in enumerate(steps)])
    for _ in range(19):  # one round: the next begins 20 ms after it
        play.tick(1)
        if ran:
            break
    expected = first_admissible(steps)
    assert len(offered) == len(set(offered))
    if expected is None:
        assert ran == []
    else:
        assert tuple(chosen) == expected
    play.close()


@st.composite
def nested(draw):
    """Sizes of the choices of a, b and c, and what is rejected: b by a, c by (a, b), the last step by (a, c)."""
    sizes = [draw(st.integers(1, 3)) for _ in range(3)]
    a, b, c = (range(size) for size in sizes)
    few = [
        draw(st.sets(st.sampled_from(list(pairs)), max_size=7))
        for pairs in (a, itertools.product(a, b), itertools.product(a, c))
    ]
    return sizes, few


@pytest.mark.states("001: reject: (ours) No combination is missed, and none tried twice ...")
@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(nested())
def test_the_same_through_a_plan_within_the_plan(stage, drawn):
    """outer: a; inner(a): b(a), c(a, b), gives c; last(a, c). Rejections go out of the inner plan, and into it."""
    sizes, (bad_b, bad_c, bad_last) = drawn
    play = stage(0, ticks_per_second=1000)
    ran = []

    def make(name, names, size, bad):
        class Choose(Action):
            does = name
            utility = 0.5
            Output = Value
            Args = type("Args", (ActionArgs,), {"__annotations__": dict.fromkeys(names, int)})

            async def think(self, ctx, args):
                given = tuple(args[one] for one in names)
                if (given[0] if len(given) == 1 else given) in bad:
                    ctx.reject("drawn")
                ctx.candidates({"value": value} for value in range(size))

            async def run(self, ctx, args):
                ran.append((name, dict(args)))
                await ctx.next_tick()

        return Choose

    class Inner(CompoundAction):
        does = "inner"
        utility = 0.5
        Args = type("Args", (ActionArgs,), {"__annotations__": {"a": int}})
        steps = [step("b", a=ARGS.a), step("c", a=ARGS.a, b=PREV.value)]
        output = output(value=PREV.value)

    class Outer(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("a"), step("inner", a=PREV.value), step("last", a=BACK(2).value, c=PREV.value)]

    actions = [("a", (), sizes[0], ()), ("b", ("a",), sizes[1], bad_b), ("c", ("a", "b"), sizes[2], bad_c)]
    play.add(Outer, Inner, *[make(*one) for one in actions], make("last", ("a", "c"), 1, bad_last))
    for _ in range(19):
        play.tick(1)
        if len(ran) == 4:
            break
    admissible = [
        {"a": a, "c": c, "b": b}
        for a, b, c in itertools.product(*map(range, sizes))
        if a not in bad_b and (a, b) not in bad_c and (a, c) not in bad_last
    ]
    if admissible:
        first = admissible[0]
        assert ran[2] == ("c", {"a": first["a"], "b": first["b"]})
        assert ran[3] == ("last", {"a": first["a"], "c": first["c"]})
    else:
        assert ran == []
    play.close()
