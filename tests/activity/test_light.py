"""A place of leaves of which nothing rare is declared goes the same way whether anybody watches or not.

The loops that pass by what such a place cannot have are taken only while nobody listens to the trace. So each program is
lived twice, once with a listener, and what its actions saw and how all of them stood after each tick is the same.
"""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import (
    PREV,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    CompoundAction,
    Entity,
    Runtime,
    Signal,
    ThinkOutput,
    park,
    step,
)
from agentrt.activity.states import UNIT_NAMES
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_task

TICKS = 8


class World:
    """What the actions of one agent share."""

    def __init__(self):
        self.log = []
        self.kept = {}  # the contexts of actions, by their names: of a thinking that may be over
        self.bell = Signal()
        self.agent = None
        self.taught = []  # how the agent knows each of its actions


def _say(world, number, ctx, what, value):
    """Do what is drawn for a think."""
    if what == "forget":
        world.taught[value % len(world.taught)].revoke()
    elif what == "learn":
        world.taught.append(world.agent.inject(world.actions[value % len(world.actions)]))
    elif what == "abort" and world.log.count("abort") < 4:
        world.log.append("abort")
        ctx.abort("drawn")
    elif what == "raise":
        raise ValueError(value)
    elif what == "keep":
        world.kept[number] = ctx
    elif what == "ring":
        world.bell.emit()
    elif what.endswith("others"):
        _say_of_others(world.kept.get(value), number, what)
    else:
        _answer(world, ctx, what, value)


def _answer(world, ctx, what, value):
    if what == "answer":
        ctx.set_think_output(mark=value)
    elif what == "utility":
        ctx.set_utility(value)
    elif what == "take back":
        ctx.clear_think_output()
    elif what == "reject":
        ctx.reject("drawn")
    elif what == "listen":
        ctx.listen(world.bell, lambda _rung: (ctx.set_utility(1.0), ctx.set_think_output(mark=-1)))
    elif what == "sink":
        ctx.listen(world.bell, lambda _rung: ctx.set_utility(0.1))
    elif what == "look":
        world.log.append([(one.action, one.state, one.utility) for one in world.agent.snapshot().plan.units])
    elif what == "watch":
        world.agent.runtime.trace.listen(lambda _record: None)


def _say_of_others(ctx, number, what):
    """Say it through a context that another one has kept."""
    if ctx is None:
        return
    if what == "of others":
        ctx.set_utility(0.5)
        ctx.set_think_output(mark=number)
    elif what == "rate others":
        ctx.set_utility(0.1)
    elif what == "take back of others":
        ctx.clear_think_output()


def _action(world, number, plan):
    span, acts, ticks, *waits = plan

    class Light(Action):
        does = "top"
        utility = span

        class Output(ThinkOutput):
            mark: int

        async def think(self, ctx, args):
            world.log.append((ctx.clock.tick, number, "think"))
            for act in acts:
                _say(world, number, ctx, *act)

        def stop(self, ctx, args):
            world.log.append((ctx.clock.tick, number, "stop"))

    async def patient(self, ctx, args):
        world.log.append((ctx.clock.tick, number, "think"))
        await ctx.sleep_ticks(waits[0])
        for act in acts:
            _say(world, number, ctx, *act)

    async def at_once(self, ctx, args):
        world.log.append((ctx.clock.tick, number, "run"))

    async def slowly(self, ctx, args):
        world.log.append((ctx.clock.tick, number, "run"))
        await ctx.sleep_ticks(ticks)

    thinks = {"think": patient} if any(waits) else {}
    return type(f"Light{number}", (Light,), {"run": slowly if ticks else at_once, **thinks})


def lived(plans, *, is_watched, host="plain"):
    """What the actions saw, how each stood at the end of each tick, and what went wrong."""
    if host == "plain":
        runtime = Runtime(5, host="plain")
        told = _live(runtime, plans, is_watched)
        runtime.close()
    else:
        runtime, told = asyncio.run(_live_in_a_loop(plans, is_watched))
    assert runtime.kernel.live == 0
    return told


async def _live_in_a_loop(plans, is_watched):
    runtime = Runtime(5, host="asyncio")
    told = _live(runtime, plans, is_watched)
    await runtime.aclose()
    return runtime, told


def _runtime(is_watched):
    runtime = Runtime(host="plain")
    if is_watched:
        runtime.trace.listen(lambda _record: None)
    return runtime


def _live(runtime, plans, is_watched):
    world, faults = World(), []
    runtime.on_fault(lambda fault: faults.append((runtime.tick, fault.text, repr(fault.error))))
    if is_watched:
        runtime.trace.listen(lambda _record: None)
    world.actions = [_action(world, *one) for one in enumerate(plans)]
    world.agent = Agent(Entity("human"), name="a", top="top")
    world.taught = [world.agent.inject(one) for one in world.actions]
    runtime.add(world.agent)
    root = world.agent.planner.execution.root
    for tick in range(TICKS):
        if tick % 3 == 2:
            runtime.post(world.bell.emit)
        runtime.step()
        stand = [(unit.spec.label, UNIT_NAMES[unit.state], unit.utility, unit.given()) for unit in root.units]
        marks = [(*one, mark and getattr(mark, "mark", None)) for *one, mark in stand]
        world.log.append((root.state, marks, repr(world.bell)))
    assert not [text for _tick, text, error in faults if "ValueError" not in error and "WrongState" not in error]
    return world.log, faults


ACTS = st.one_of(
    st.tuples(st.just("answer"), st.integers(0, 3)),
    st.tuples(st.just("answer"), st.integers(0, 3)),
    st.tuples(st.just("utility"), st.sampled_from([0.0, 0.5, 1.0])),
    st.tuples(st.sampled_from(["take back", "reject", "abort", "raise", "listen", "keep", "keep", "ring"]), st.none()),
    st.tuples(st.sampled_from(["sink", "look", "watch", "ring", "ring"]), st.none()),
    st.tuples(
        st.sampled_from(["of others", "rate others", "take back of others", "forget", "learn"]), st.integers(0, 3)
    ),
)
PLANS = st.tuples(
    st.sampled_from([(0.0, 1.0), (0.2, 1.0), (0.7, 0.9)]),
    st.lists(ACTS, max_size=4),
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from([0, 0, 0, 1, 2]),
)


@pytest.mark.slow
@given(st.lists(PLANS, min_size=1, max_size=4))
def test_programs_are_lived_the_same_whether_anybody_watches_or_not_and_on_asyncio(plans):
    told = lived(plans, is_watched=False)
    assert told == lived(plans, is_watched=True)
    assert told == lived(plans, is_watched=False, host="asyncio")


ANSWERS = [("answer", 1)]


@pytest.mark.parametrize(
    "plans",
    [
        [((0.4, 1.0), ANSWERS, 0), ((0.4, 1.0), ANSWERS, 0), ((0.4, 1.0), ANSWERS, 1), ((0.2, 0.7), ANSWERS, 0)],
        [((0.0, 1.0), [("utility", 0.5), *ANSWERS], 1), ((0.0, 1.0), [("listen", None), *ANSWERS], 0)],
        [((0.5, 1.0), [("of others", 1), *ANSWERS], 1), ((0.0, 1.0), [("keep", None), *ANSWERS], 0)],
        [((0.0, 1.0), [("utility", 1.0), *ANSWERS], 2), ((0.0, 1.0), [("listen", None)], 0)],
        [((0.0, 1.0), [("keep", None), *ANSWERS], 0), ((0.7, 0.9), [("of others", 0), *ANSWERS], 1)],
        [((0.0, 1.0), [("forget", 1), *ANSWERS], 0), ((0.7, 0.9), ANSWERS, 1), ((0.2, 0.7), [("learn", 1)], 0)],
        [((0.0, 1.0), [("abort", None)], 0), ((0.7, 0.9), ANSWERS, 0)],
        [((0.0, 1.0), [("listen", None), *ANSWERS], 1, 1), ((0.4, 1.0), ANSWERS, 0), ((0.5, 1.0), ANSWERS, 2, 2)],
        [
            ((0.0, 1.0), [("keep", None), ("utility", 1.0), *ANSWERS], 1),
            ((0.7, 0.9), [("rate others", 0), *ANSWERS], 1),
        ],
        [((0.0, 1.0), [("keep", None), ("listen", None)], 1), ((0.2, 0.7), [("of others", 0), *ANSWERS], 1)],
        [((0.7, 0.9), [("keep", None), *ANSWERS], 1), ((0.2, 0.7), [("take back of others", 0), *ANSWERS], 1)],
        [((0.0, 1.0), [("listen", None)], 1), ((0.2, 0.7), [("ring", None), *ANSWERS], 1)],
        [((0.0, 1.0), [("utility", 1.0), ("sink", None), *ANSWERS], 1), ((0.5, 0.6), [("ring", None), *ANSWERS], 1)],
        [((0.0, 1.0), [("listen", None)], 1), ((0.2, 0.7), [("watch", None), ("ring", None), *ANSWERS], 1)],
        [((0.0, 1.0), [("look", None), *ANSWERS], 0), ((0.2, 0.7), [("look", None), *ANSWERS], 0)],
        [((0.0, 1.0), [("raise", 1)], 0), ((0.7, 0.9), [*ANSWERS, ("reject", None)], 0), ((0.2, 0.7), ANSWERS, 1)],
    ],
    ids=[
        "equals",
        "a loser that listens",
        "a loser that is kept",
        "a later answer",
        "a context of before",
        "forgotten in the round",
        "abort",
        "waits",
        "made worse by the next",
        "answered for by the next",
        "taken back by the next",
        "answers by itself while the next is asked",
        "sinks by itself while the next is asked",
        "somebody begins to watch",
        "somebody looks",
        "out",
    ],
)
def test_a_place_goes_the_same_way_whether_anybody_watches_or_not(plans):
    log, faults = lived(plans, is_watched=False)
    assert (log, faults) == lived(plans, is_watched=True)
    assert any(isinstance(one, tuple) and "run" in one for one in log) or "abort" in log


def test_a_think_that_somebody_has_replaced_waits_for_the_end_of_the_one_before():
    """Its class was read when it was made, and says that it cannot suspend: the place finds out that it can."""
    told = []

    class Short(Action):
        does = "top"
        utility = 0.3

        async def think(self, ctx, args):
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Replaced(Short):
        utility = 0.9
        asks = "with each plan"

    async def think(self, ctx, args):
        told.append((ctx.clock.tick, "begins"))
        try:
            await park()
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(3)
            told.append((ctx.clock.tick, "has cleaned up"))

    Replaced.think = think
    runtime = Runtime(host="plain")
    runtime.add(Agent(Entity("human"), name="a", top="top", actions=[Short, Replaced]))
    for _ in range(12):
        runtime.step()
    runtime.close()
    assert told[:5] == [(1, "begins"), (5, "has cleaned up"), (5, "begins"), (9, "has cleaned up"), (9, "begins")]


@pytest.mark.parametrize("is_watched", [False, True])
def test_who_was_not_asked_yet_when_its_place_is_stopped_in_the_round_is_not_asked(is_watched):
    told, rings = [], Signal()

    class First(Action):
        does = "inner"
        utility = 0.5

        async def think(self, ctx, args):
            told.append((ctx.clock.tick, "first"))
            if len(told) == 1:
                rings.emit()  # its compound hears that, and raises
            ctx.set_think_output()

    class Second(First):
        utility = 0.9

        async def think(self, ctx, args):
            told.append((ctx.clock.tick, "second"))

    class Outer(CompoundAction):
        does = "top"
        utility = 0.5
        steps = (step("inner"),)

        async def think(self, ctx, args):
            ctx.listen(rings, self.hear)
            ctx.set_think_output()

        def hear(self, _rung):
            raise ValueError("heard")

    faults = []
    runtime = Runtime(host="plain")
    runtime.on_fault(lambda fault: faults.append(fault.text))
    if is_watched:
        runtime.trace.listen(lambda _record: None)
    agent = Agent(Entity("human"), name="a", top="top", actions=[Outer, First, Second])
    runtime.add(agent)
    for _ in range(3):
        runtime.step()
    assert told == [(1, "first")]
    assert faults == ["a callback raised ValueError"]
    assert agent.planner.busy_frames == 1
    runtime.close()
    assert runtime.kernel.live == 0


@pytest.mark.parametrize("is_watched", [False, True])
def test_who_joins_a_task_group_while_it_is_asked_goes_on_with_all_that_it_knows(is_watched):
    told = []

    class Chores(TaskGroupAction):
        does = "top"
        utility = (0.0, 0.1)
        tasks = (declare_task("sweep", 0.5),)

    class Joins(Action):
        does = "top"
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            told.append((ctx.clock.tick, "joins"))
            if len(told) == 1:
                group.add(agent)
            ctx.set_utility(0.4)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Better(Joins):
        async def think(self, ctx, args):
            told.append((ctx.clock.tick, "better"))
            ctx.set_utility(0.9)
            ctx.set_think_output()

        async def run(self, ctx, args):
            told.append((ctx.clock.tick, "runs"))
            await ctx.sleep_ticks(1)

    runtime = _runtime(is_watched)
    group = TaskGroup(Chores)
    agent = Agent(Entity("human"), name="a", top="top", actions=[Joins, Better])
    runtime.add(agent)
    for _ in range(2):
        runtime.step()
    assert told == [(1, "joins"), (1, "better"), (1, "runs"), (2, "joins"), (2, "better"), (2, "runs")]
    runtime.close()
    assert runtime.kernel.live == 0


@pytest.mark.parametrize("is_watched", [False, True])
def test_a_step_whose_best_action_is_taken_back_in_the_round_gives_what_the_next_best_gave(is_watched):
    kept, told = [], []

    class Best(Action):
        does = "inner"
        utility = 0.9

        class Output(ThinkOutput):
            mark: int

        async def think(self, ctx, args):
            kept.append(ctx)
            ctx.set_think_output(mark=1)

    class Next(Best):
        utility = 0.5

        async def think(self, ctx, args):
            kept[-1].clear_think_output()
            ctx.set_think_output(mark=2)

    class Reads(Action):
        does = "read"
        utility = 0.5

        class Args(ActionArgs):
            mark: int

        async def think(self, ctx, args):
            told.append(args.mark)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await park()

    class Outer(CompoundAction):
        does = "top"
        utility = 0.5
        steps = (step("inner"), step("read", mark=PREV.mark))

    runtime = _runtime(is_watched)
    runtime.add(Agent(Entity("human"), name="a", top="top", actions=[Outer, Best, Next, Reads]))
    runtime.step()
    runtime.close()
    assert told == [2]


@pytest.mark.parametrize("is_watched", [False, True])
@pytest.mark.parametrize("is_first", [False, True])
def test_who_answers_in_a_call_is_compared_with_who_is_asked(is_first, is_watched):
    """Its class was given another ``think``, a plain function, which its place finds out when it asks."""
    told, kept = [], []

    class High(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.set_think_output()

        async def run(self, ctx, args):
            told.append(type(self).__name__)
            await park()

    class Low(High):
        utility = 0.3

        async def think(self, ctx, args):
            if kept:
                kept.pop().set_think_output()
            ctx.set_think_output()

    High.think = lambda self, ctx, args: kept.append(ctx) if is_first else ctx.set_think_output()
    runtime = _runtime(is_watched)
    runtime.add(Agent(Entity("human"), name="a", top="top", actions=[High, Low]))
    runtime.step()
    runtime.close()
    assert told == ["High"]


@pytest.mark.parametrize("is_watched", [False, True])
def test_who_is_asked_after_an_argument_was_destroyed_has_rejected_it(is_watched):
    told, thing = [], Entity("thing")

    class First(Action):
        does = "inner"
        utility = 0.4

        class Args(ActionArgs):
            thing: Entity

        async def think(self, ctx, args):
            told.append(type(self).__name__)
            if not args.thing.is_destroyed:
                args.thing.destroy()
            ctx.set_think_output()

        async def run(self, ctx, args):
            told.append("runs")

    class Second(First):
        utility = 0.9

    class Outer(CompoundAction):
        does = "top"
        utility = 0.5
        steps = (step("inner", thing=thing),)

    runtime = _runtime(is_watched)
    agent = Agent(Entity("human"), name="a", top="top", actions=[Outer, First, Second])
    runtime.add(agent)
    runtime.step()
    assert told == ["First"]
    assert agent.explain().count("the entity thing was destroyed") == 2
    runtime.close()
