"""Slow thoughts beside quick plans: how often they are stopped without an answer is told, and some are kept.

``Quick`` is a plan that ends every ten ticks, ``Slow`` thinks for twenty and would be better.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Entity, Signal, ThinkOutput, move_on_after, step
from agentrt.errors import DefinitionError
from agentrt.snapshot import explain
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks
from agentrt.testing import check_trace

KEPT = "when changed"


@pytest.fixture
def quick(leaf):
    def make(run=10, utility=0.5, **attributes):
        return leaf("Quick", utility, run=run, quiet=True, **attributes)

    return make


@pytest.fixture
def slow(leaf):
    def make(utility=0.9, *, asks=KEPT, think=20, run=5, name="Slow", **attributes):
        return leaf(name, utility, think=think, run=run, asks=asks, **attributes)

    return make


def unit(agent, name="slow"):
    return next(one for one in agent.snapshot().plan.units if one.name == name)


# --- nobody starves in silence ----------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Making plans: (ours) How often thinking was stopped without an answer is told, with the reason and since "
    "when",
)
def test_by_default_it_is_asked_anew_with_each_plan_and_that_is_told(play, quick, slow):
    agent = play.add(quick(), slow(asks="with each plan"))
    play.tick(35)
    assert [what for what in play.log if what[2] == "think"] == [(tick, "Slow", "think") for tick in (1, 11, 21, 31)]
    view = unit(agent)
    assert (view.restarts, view.restart_reason, view.restarts_since, view.since) == (3, "a plan ended", 1, 31)
    assert explain(agent.snapshot()) == (
        "a at tick 35: top/Quick\n"
        "  <top> running\n"
        "    * quick: running, utility 0.5, since tick 31, waits until tick 41, + 0.05 sunk cost from tick 41 on\n"
        "      slow: not ready since tick 31, waits until tick 51; stopped 3 times without an answer since tick 1, "
        "last because a plan ended"
    ).replace(", + 0.05 sunk cost from tick 41 on", "")
    assert type(agent.snapshot()).from_json(agent.snapshot().as_json()) == agent.snapshot()


@pytest.mark.states("001: Making plans: (ours) How often thinking was stopped without an answer is told, with the ...")
def test_one_that_cannot_beat_what_is_elected_is_told_too(play, quick, slow):
    agent = play.add(quick(), slow(0.4, asks="with each plan"))
    play.tick(15)
    view = unit(agent)
    assert (view.state, view.restarts, view.restarts_since) == ("idle", 2, 1)
    assert agent.explain().endswith(
        "slow: not thinking: its utility 0.4 could not beat 0.5; stopped 2 times without an answer since tick 1, "
        "last because another action was elected that it could not beat"
    )


@pytest.mark.states("001: Making plans: (ours) How often thinking was stopped without an answer is told, with the ...")
def test_an_answer_sets_the_count_back(play, quick):
    """Whatever it is: ready, or not possible now."""
    answers = iter(["late", "late", "ready", "late", "no", "late", "late"])

    class Slow(Action):
        does = "top"
        utility = (0.1, 0.9)
        asks = "with each plan"

        async def think(self, ctx, args):
            answer = next(answers)
            await ctx.sleep_ticks(20 if answer == "late" else 2)
            if answer == "ready":
                ctx.set_think_output()
                await ctx.sleep(100)

    agent = play.add(quick(), Slow)
    counts = []
    for _ in range(7):
        play.tick(9)
        counts.append(unit(agent).restarts)
        play.tick(1)
    assert counts == [0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("why", "reason"),
    [("abort", "the plan was aborted"), ("step", "the plan around it was thought again")],
)
def test_other_reasons(play, slow, why, reason):
    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            number: int

        async def think(self, ctx, args):
            ctx.set_think_output(number=1)
            await ctx.sleep_ticks(3)
            ctx.set_think_output(number=2)
            await ctx.sleep(100)

    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            number: int

        async def think(self, ctx, args):
            await ctx.sleep(100)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.9
        steps = [step("find"), step("use", number=PREV.number)]

    class Stumble(Action):
        does = "top"
        utility = 0.2

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3 if why == "abort" else 100)
            ctx.abort("a stone")

    agent = play.add(Plan, Find, Use, Stumble)
    play.tick(5)
    plan = unit(agent, "plan")
    inner = plan.frames[1].units[0]
    assert (inner.restarts, inner.restart_reason) == (1, reason)
    assert plan.restarts == (why == "abort")


# --- kept -------------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    '001: Making plans: (ours) An action that asks "when changed" keeps its thinking over the end of plans that it '
    "did not win",
)
def test_kept_it_comes_to_its_turn(play, quick, slow):
    agent = play.add(quick(), slow())
    play.tick(15)
    view = unit(agent)
    assert (view.state, view.since, view.restarts) == ("thinking", 1, 0)
    play.tick(12)
    assert play.log == [
        (1, "Slow", "think"),
        (21, "Slow", "start"),
        (21, "Slow", "stop_thinking"),
        (21, "Slow", "think ends"),
        (21, "Slow", "run"),
        (26, "Slow", "run ends"),
        (26, "Slow", "stop"),
        (26, "Slow", "think"),
    ]


@pytest.mark.states('001: Making plans: (ours) An action that asks "when changed" keeps its thinking over the end ...')
def test_one_that_is_ready_waits_for_its_turn(play, slow):
    """It cannot beat what runs; when that does not come again, it is there at once, and is not asked again."""
    days = iter([True, True, False, True])

    class Quick(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            if next(days):
                ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(10)

    agent = play.add(Quick, slow(0.4, think=4))
    play.tick(6)
    assert (unit(agent).state, unit(agent).since) == ("ready", 1)
    play.tick(22)
    assert play.log == [
        (1, "Slow", "think"),
        (21, "Slow", "start"),
        (21, "Slow", "stop_thinking"),
        (21, "Slow", "think ends"),
        (21, "Slow", "run"),
        (26, "Slow", "run ends"),
        (26, "Slow", "stop"),
        (26, "Slow", "think"),
    ]


def test_its_utility_may_change_while_it_waits(play, quick):
    class Slow(Action):
        does = "top"
        utility = (0.0, 1.0)
        asks = KEPT

        async def think(self, ctx, args):
            play.note("think")
            ctx.set_think_output()
            for value in (0.2, 0.4, 0.6):
                await ctx.sleep_ticks(7)
                ctx.set_utility(value)
            await ctx.sleep(100)

        async def run(self, ctx, args):
            play.note("run")
            await ctx.sleep(100)

    play.add(quick(), Slow)
    play.tick(30)
    assert play.log == [(1, "think"), (22, "run")]


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
@pytest.mark.parametrize("how", ["reject", "end", "raise", "listener"])
def test_one_that_says_that_it_is_not_possible_is_asked_anew_with_the_next_plan(play, quick, how):
    bell = Signal()

    class Slow(Action):
        does = "top"
        utility = 0.9
        asks = KEPT

        async def think(self, ctx, args):
            play.note("think")
            if how == "listener":
                ctx.listen(bell, lambda _: ctx.reject("no"))
            await ctx.sleep_ticks(15)
            if how == "raise":
                raise ValueError("no")
            if how == "reject":
                ctx.reject("no")
            bell.emit()

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    play.add(quick(), Slow)
    play.tick(22)
    assert play.log == [(1, "think"), (16, "stop_thinking"), (21, "think")]
    assert len(play.faults()) == (how == "raise")


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
def test_an_abort_asks_everybody_anew(play, slow):
    class Stumble(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(9)
            ctx.abort("a stone")

    play.add(Stumble, slow())
    play.tick(12)
    assert play.log[:4] == [
        (1, "Slow", "think"),
        (10, "Slow", "stop_thinking"),
        (10, "Slow", "think ends"),
        (11, "Slow", "think"),
    ]


def test_what_a_limit_is_for(play, quick, slow):
    """The time of a thought goes on as it does."""
    play.add(quick(), slow(think_timeout=0.75))
    play.tick(22)
    assert play.log[:4] == [
        (1, "Slow", "think"),
        (17, "Slow", "stop_thinking"),
        (17, "Slow", "think ends"),
        (21, "Slow", "think"),
    ]


def test_forgotten_while_it_waits(play, quick, slow):
    """Between two plans, and while another one runs: it stops, once."""
    agent = play.add(quick(run=0))
    injection = agent.inject(slow())
    play.tick(3)
    injection.revoke()
    play.tick(2)
    assert play.log == [(1, "Slow", "think"), (4, "Slow", "stop_thinking"), (4, "Slow", "think ends")]
    assert agent.planner.execution.seldom.asides == ()


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
def test_others_that_are_learned_ask_it_anew_only_where_they_belong(play, quick, slow, leaf):
    agent = play.add(quick(run=0), slow())
    play.tick(3)
    agent.inject(leaf("Elsewhere", does="elsewhere", quiet=True))
    play.tick(3)
    assert play.log == [(1, "Slow", "think")]
    agent.inject(leaf("Here", 0.1, quiet=True))
    play.tick(2)
    assert [what[2] for what in play.log] == ["think", "stop_thinking", "think ends", "think"]


# --- inside of plans --------------------------------------------------------------------------------------------------


class Number(ActionArgs):
    number: object = 0


def within(play, *, changes=(), writes=(), think=25, current=False):
    """A plan whose first step finds something with each plan, and whose second one thinks about it for long."""
    plans = []

    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            number: object

        async def think(self, ctx, args):
            plans.append(ctx.clock.tick)
            if len(plans) in writes:
                ctx.CURRENT.location = "elsewhere"
            ctx.set_think_output(number=sum(len(plans) >= change for change in changes))

    class Consider(Action):
        does = "consider"
        utility = 0.5
        asks = KEPT
        Args = Number

        async def think(self, ctx, args):
            play.note("think", args.number)
            try:
                await ctx.sleep_ticks(think)
                ctx.set_think_output()
                await ctx.sleep(100)
            finally:
                play.note("think ends")

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking", args.number)

        def start(self, ctx, args):
            play.note("start", args.number)

        async def run(self, ctx, args):
            await ctx.sleep(100)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.9
        steps = [step("find"), step("consider", number=PREV.number)]

    return [Plan, Find, Consider]


@pytest.mark.states(
    "001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is known for its place "
    "changed, it said no, or the plan was aborted",
)
def test_a_step_is_kept_while_it_is_given_the_same(play, quick):
    play.add(quick(), *within(play))
    play.tick(30)
    assert play.log == [(1, "think", 0), (26, "start", 0), (26, "stop_thinking", 0), (26, "think ends")]


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
def test_a_step_is_asked_anew_when_it_is_given_something_else(play, quick):
    play.add(quick(), *within(play, changes=[2]))
    play.tick(40)
    assert play.log == [
        (1, "think", 0),
        (11, "stop_thinking", 0),
        (11, "think ends"),
        (11, "think", 1),
        (36, "start", 1),
        (36, "stop_thinking", 1),
        (36, "think ends"),
    ]


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
@pytest.mark.parametrize("writes", [[1], [2]])
def test_a_step_is_asked_anew_when_current_was_written_before_or_is_now(play, quick, writes):
    play.add(quick(), *within(play, writes=writes))
    play.tick(12)
    assert [what[:2] for what in play.log] == [
        (1, "think"),
        (11, "stop_thinking"),
        (11, "think ends"),
        (11, "think"),
    ]


def test_values_that_cannot_be_compared_are_others(play, quick):
    class Odd:
        def __eq__(self, other):
            raise RuntimeError("never")

        __hash__ = object.__hash__

    plan, find, consider = within(play)
    find.think = lambda self, ctx, args: give(ctx)

    async def give(ctx):
        ctx.set_think_output(number=Odd())

    play.add(quick(), plan, find, consider)
    play.tick(12)
    assert [what[1] for what in play.log].count("think") == 2


def test_a_place_that_is_not_come_to_again_is_given_up_when_the_next_plan_ends(play, quick):
    plan, find, consider = within(play, think=90)
    first = []

    async def think(self, ctx, args):
        first.append(None)
        if len(first) == 1:
            ctx.set_think_output(number=0)

    find.think = think
    agent = play.add(quick(), plan, find, consider)
    play.tick(15)
    assert play.log == [(1, "think", 0)]
    assert len(agent.planner.execution.seldom.asides) == 1
    play.tick(8)
    assert play.log == [(1, "think", 0), (21, "stop_thinking", 0), (21, "think ends")]
    assert agent.planner.execution.seldom.asides == ()


def test_the_agent_ends_while_something_waits_aside(play, quick):
    plan, find, consider = within(play, think=90)
    first = []

    async def think(self, ctx, args):
        first.append(None)
        if len(first) == 1:
            ctx.set_think_output(number=0)

    find.think = think
    play.add(quick(), plan, find, consider)
    play.tick(15)
    play.close()
    assert [what[1] for what in play.log] == ["think", "stop_thinking", "think ends"]


@pytest.mark.states("001: Making plans: (ours) It is asked anew when its arguments or CURRENT are others, what is ...")
@pytest.mark.parametrize("when", ["while it thinks", "while it waits aside"])
def test_an_argument_that_dies_meanwhile(play, quick, when):
    """It has rejected its arguments, as ever; the plan is asked anew, and has something else."""
    cows = [Entity("cow", id=1), Entity("cow", id=2)]
    plan, find, consider = within(play, think=25)
    asked = []

    async def think(self, ctx, args):
        asked.append(ctx.clock.tick)
        if when == "while it waits aside" and ctx.clock.tick == 11:
            cows[0].destroy()
        ctx.set_think_output(number=next(cow for cow in cows if not cow.is_destroyed))

    find.think = think
    agent = play.add(quick(), plan, find, consider)
    play.tick(8)
    if when == "while it thinks":
        cows[0].destroy()
    play.tick(7)
    assert [what[1] for what in play.log[:3]] == ["think", "stop_thinking", "think ends"]
    assert play.log[-1][1:] == ("think", cows[1])
    assert not cows[0].destroyed._connections
    assert agent.planner.execution.seldom.asides == ()


@pytest.mark.states("001: Making plans: (ours) A compound, a task group, and what works on a task may declare it")
def test_a_compound_that_declares_it_is_kept_as_a_whole(play, quick):
    plan, find, consider = within(play, changes=[2])
    consider = type("Consider", (consider,), {"asks": "with each plan"})
    plan = type("Plan", (plan,), {"asks": KEPT})
    play.add(quick(), plan, find, consider)
    play.tick(30)
    assert play.log == [(1, "think", 0), (26, "start", 0), (26, "stop_thinking", 0), (26, "think ends")]


def test_a_compound_that_has_just_begun(play, leaf):
    """A plan ends in the very round in which a kept compound was asked: its answer is not waited for twice."""
    plan, find, consider = within(play, think=25)
    plan = type("Plan", (plan,), {"asks": KEPT})
    play.add(leaf("Quick", 0.5, run=0, quiet=True), plan, find, consider)
    play.tick(30)
    assert play.log == [(1, "think", 0), (27, "start", 0), (27, "stop_thinking", 0), (27, "think ends")]


@pytest.mark.states("001: Making plans: (ours) A compound, a task group, and what works on a task may declare it ...")
def test_in_a_task_of_a_group(play, quick):
    consider = within(play)[2]
    body = {"does": "top", "utility": 0.9, "tasks": [declare_multiple_tasks("consider", 0.5)]}
    group = TaskGroup(type("Group", (TaskGroupAction,), body))
    group.add(play.add(quick(), consider))
    task = group.create_task("consider", number=3).start()
    play.tick(25)
    assert play.log == [(1, "think", 3)]
    play.tick(3)
    assert play.log == [(1, "think", 3), (26, "start", 3), (26, "stop_thinking", 3), (26, "think ends")]
    assert task.workers == ("a",)


@pytest.mark.states("001: Making plans: (ours) A compound, a task group, and what works on a task may declare it ...")
def test_in_a_task_that_is_taken_back(play, quick):
    consider = within(play)[2]
    body = {"does": "top", "utility": 0.9, "tasks": [declare_multiple_tasks("consider", 0.5)]}
    group = TaskGroup(type("Group", (TaskGroupAction,), body))
    agent = play.add(quick(), consider)
    group.add(agent)
    task = group.create_task("consider", number=3).start()
    play.tick(15)
    task.destroy()
    play.tick(6)
    assert [what[1] for what in play.log] == ["think", "stop_thinking", "think ends"]
    assert agent.planner.execution.seldom.asides == ()


@pytest.mark.states("001: Making plans: (ours) A compound, a task group, and what works on a task may declare it ...")
def test_a_group_is_kept_as_a_whole(play, quick):
    consider = type("Consider", (within(play)[2],), {"asks": "with each plan"})
    body = {"does": "top", "utility": 0.9, "asks": KEPT, "tasks": [declare_multiple_tasks("consider", 0.5)]}
    group = TaskGroup(type("Group", (TaskGroupAction,), body))
    group.add(play.add(quick(), consider))
    group.create_task("consider", number=3).start()
    play.tick(15)
    other = group.create_task("consider", number=4).start()
    play.tick(13)
    assert [what for what in play.log if what[1] in ("think", "start")] == [
        (1, "think", 3),
        (16, "think", 4),
        (26, "start", 3),
    ]
    assert other.workers == ()


def test_below_a_frame_of_ones_own_nothing_is_kept(play):
    consider = within(play)[2]

    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            frame = ctx.spawn("consider", number=1)
            frame.start_thinking()
            with move_on_after(0.2):
                await ctx.execute("consider", number=2)

    agent = play.add(Top, consider)
    play.tick(6)
    assert [what[1] for what in play.log].count("stop_thinking") == 2
    assert agent.planner.execution.seldom.asides == ()


def test_a_filter_that_forbids_it_meanwhile(play, quick, slow):
    closed = []

    class Filter(Action):
        does = "consider"
        utility = 0.0
        Args = Number

        def should_start_thinking(self, ctx, args):
            return not closed

    plan, find, consider = within(play)
    agent = play.add(quick(), plan, find, consider, Filter)
    play.tick(5)
    closed.append(True)
    play.tick(8)
    assert [what[1] for what in play.log] == ["think", "stop_thinking", "think ends"]
    assert agent.planner.execution.seldom.asides == ()


# --- declared ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asks", ["when change", "whenchanged", "", None, True, ["when changed"]])
def test_a_word_that_there_is_not_is_an_error_of_the_class(asks):
    with pytest.raises(
        DefinitionError, match=r"Slow: asks is .* Write 'with each plan', 'when answered' or 'when changed'\.\n"
    ):
        type("Slow", (Action,), {"does": "top", "utility": 1, "asks": asks})


def test_the_error_has_a_suggestion():
    with pytest.raises(DefinitionError, match=r"asks is 'when change'\. Did you mean 'when changed'"):
        type("Slow", (Action,), {"does": "top", "utility": 1, "asks": "when change"})


def test_what_does_not_think_has_nothing_to_keep():
    assert not type("Quick", (Action,), {"does": "top", "utility": 1, "asks": KEPT}).spec.keeps
    assert type("Plan", (CompoundAction,), {"does": "top", "utility": 1, "asks": KEPT, "steps": [step("a")]}).spec.keeps


# --- in any course of events ------------------------------------------------------------------------------------------

actions = st.lists(
    st.tuples(
        st.sampled_from(["top", "inner"]),
        st.integers(0, 10),  # utility in tenths
        st.sampled_from([None, 0, 1, 3, 7, 12]),  # ticks of thinking
        st.sampled_from([0, 0, 1, 2, 5, 9]),  # ticks of running
        st.sampled_from(["with each plan", "when answered", KEPT]),
        st.sampled_from(["ready", "ready", "ready", "reject", "no", "clear"]),
    ),
    min_size=2,
    max_size=6,
)
events = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from(["destroy", "abort", "learn", "forget", "change"])), max_size=6
)


@pytest.mark.states('001: Making plans: (ours) An action that asks "when changed" keeps its thinking over the end ...')
@pytest.mark.slow
@given(actions, st.booleans(), events)
def test_everything_that_begins_ends_once(stage, drawn, is_kept_whole, happenings):  # noqa: C901 - a world in itself
    """``think`` and ``stop_thinking``, ``start`` and ``stop``: in pairs, for each instance, whatever happens."""
    made = stage()
    open_ones, wrong, cow = {}, [], Entity("cow")
    state = {"number": 0, "abort": False}

    def opened(what, action):
        if open_ones.setdefault((what, id(action)), False):
            wrong.append(f"{type(action).__name__}: {what} twice")
        open_ones[what, id(action)] = action

    def closed(what, action):
        if not open_ones.get((what, id(action))):
            wrong.append(f"{type(action).__name__}: end of {what} without a begin")
        open_ones[what, id(action)] = False

    def build(index, does, utility, think, run, asks, answer):
        async def thinking(self, ctx, args):
            opened("think", self)
            await ctx.sleep_ticks(think)
            if answer == "reject":
                ctx.reject("no")
            if answer != "no":
                ctx.set_think_output()
                await ctx.sleep_ticks(4)
            if answer == "clear":
                ctx.clear_think_output()
                await ctx.sleep_ticks(9)

        async def running(self, ctx, args):
            await ctx.sleep_ticks(run)
            if state["abort"]:
                state["abort"] = False
                ctx.abort("told to")

        body = {
            "does": does,
            "utility": utility / 10,
            "asks": asks,
            "run": running,
            "start": lambda self, ctx, args: opened("start", self),
            "stop": lambda self, ctx, args: closed("start", self),
        }
        if does == "inner":
            body["Args"] = type("Args", (ActionArgs,), {"__annotations__": {"number": object, "cow": object}})
        if think is not None:
            body["think"] = thinking
            body["stop_thinking"] = lambda self, ctx, args: (
                closed("think", self) if open_ones.get(("think", id(self))) else None
            )
        return type(f"A{index}", (Action,), body)

    class Find(Action):
        does = "find"
        utility = 0.5
        Output = type("Output", (ThinkOutput,), {"__annotations__": {"number": int}})

        async def think(self, ctx, args):
            ctx.set_think_output(number=state["number"])

    class Plan(CompoundAction):
        does = "top"
        utility = 0.7
        asks = KEPT if is_kept_whole else "with each plan"
        steps = [step("find", name="found"), step("inner", number=OUT["found"].number, cow=cow)]

    classes = [build(index, *one) for index, one in enumerate(drawn)]
    agent = made.add(Plan, Find, *classes)
    late = build(99, "top", 9, 3, 2, KEPT, "ready")
    injections = []
    for tick in range(1, 45):
        for _, what in [one for one in happenings if one[0] == tick]:
            if what == "destroy":
                cow.destroy()
            elif what == "abort":
                state["abort"] = True
            elif what == "change":
                state["number"] += 1
            elif what == "learn":
                injections.append(agent.inject(late))
            elif injections:
                injections.pop().revoke()
        if agent.is_alive:
            made.tick()
            frames = agent.planner.execution.seldom.asides
            assert all(frame.state == 0 and frame.aside for frame in frames)
            assert len(set(map(id, frames))) == len(frames)
    made.close()
    assert wrong == []
    assert [key for key, value in open_ones.items() if value] == []
    assert made.sim.runtime.kernel.live == 0
    assert not cow.destroyed._connections
    assert [str(one) for one in check_trace(made.sim.trace, agent.name)] == []


def test_a_plan_that_was_to_think_again_while_it_waits_aside(play, leaf):
    """Its arguments were rejected; when the delay is over there is nobody to ask. It ends once."""
    cow = Entity("cow")

    class Find(Action):
        does = "find"
        utility = 0.5

    class Plan(CompoundAction):
        does = "top"
        utility = 0.7
        asks = KEPT
        steps = [step("find"), step("eat", cow=cow)]

    cow.destroy()
    agent = play.add(Plan, Find, leaf("Quick", 0.1, run=0, quiet=True))
    play.tick(4)
    play.close()
    assert [str(one) for one in check_trace(play.sim.trace, agent.name)] == []


def test_one_that_was_to_think_again_and_is_given_up_has_stopped_already(play, quick, leaf, compound):
    """Its step rejects while its place is not come to; whether it is tried again there or not, it is told once."""
    found = iter([True])

    class Find(Action):
        does = "find"
        utility = 0.5

        async def think(self, ctx, args):
            if next(found, False):
                ctx.set_think_output()
            await ctx.sleep(100)

    class Refuse(Action):
        does = "refuse"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(12)
            ctx.reject("no")

    inner = compound("Inner", step("refuse"), does="inner", asks=KEPT)
    outer = compound("Outer", step("find"), step("inner"), utility=0.9, quiet=True)
    play.add(quick(), Find, Refuse, inner, outer)
    play.tick(30)
    assert play.log == [(14, "Inner", "stop_thinking")]
