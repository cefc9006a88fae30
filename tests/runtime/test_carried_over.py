"""A thought that waits when a plan has run to its end goes on waiting, on each host alike: what nobody has to declare.

``Potter`` is a plan that ends every four ticks; whoever needs longer to make up its mind would never come to it.
"""

from __future__ import annotations

import pytest

from agentrt import BACK, PREV, TOP, Action, ActionArgs, Agent, CompoundAction, Event, Signal, ThinkOutput, step
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks


class Being:
    def __init__(self):
        self.log = []
        self.bell = Signal()
        self.location = "home"


class Potter(Action):
    does = TOP
    utility = 0.3

    async def run(self, ctx, args):
        await ctx.sleep_ticks(4)


class Slow(Action):
    does = TOP
    utility = (0.2, 0.9)

    def note(self, ctx, what):
        ctx.entity.log.append((ctx.clock.tick, what))

    async def think(self, ctx, args):
        self.note(ctx, "think")
        ctx.set_utility(1)
        try:
            await self.consider(ctx)
            ctx.set_think_output()
        finally:
            self.note(ctx, "think ends")

    async def consider(self, ctx):
        await ctx.sleep_ticks(10)

    def stop_thinking(self, ctx, args):
        self.note(ctx, "stop_thinking")

    async def run(self, ctx, args):
        self.note(ctx, "run")
        await ctx.sleep_ticks(1000)


def lived(play, actions, ticks, then=None, groups=()):
    """An agent that lives for some ticks; what ``then`` is done in the eighth."""
    runtime = play.runtime()
    faults = []
    runtime.on_fault(faults.append)
    being = Being()
    agent = runtime.add(Agent(being, actions=actions))
    for group in groups:
        group.add(agent)
    runtime.every_tick(lambda: then(being, agent) if then and runtime.tick == 8 else None)
    play.ticks(runtime, ticks)
    assert faults == []
    return being, agent


def made(slow, **attributes):
    return type(slow.__name__, (slow,), attributes)


@pytest.mark.states(
    "001: Making plans: (decided) A thought that still waits when a plan has run to its end goes on waiting"
)
def test_it_comes_to_its_answer(play):
    being, _agent = lived(play, [Potter, Slow], 12)
    assert being.log == [(1, "think"), (11, "think ends"), (11, "stop_thinking"), (11, "run")]


@pytest.mark.states("001: Making plans: (decided) What explains an agent says since when a thought waits")
def test_what_explains_it_says_since_when_it_waits(play):
    said = []
    lived(play, [Potter, Slow], 9, lambda _, agent: said.extend((agent.explain(), agent.snapshot().plan.units[1])))
    text, view = said
    assert "slow: not ready since tick 1, waits until tick 11" in text
    assert (view.state, view.since, view.restarts) == ("thinking", 1, 0)


@pytest.mark.states(
    "001: Making plans: (decided) It is asked anew if it has answered, has asked CURRENT for anything, could not beat what "
    'was elected, or asks "with each plan"',
)
def test_with_each_plan(play):
    being, _agent = lived(play, [Potter, made(Slow, asks="with each plan")], 12)
    assert [tick for tick, what in being.log if what == "think"] == [1, 5, 9]
    assert (5, "stop_thinking") in being.log


@pytest.mark.states("001: Making plans: (decided) It is asked anew if it has answered, has asked CURRENT for ...")
def test_one_that_has_answered_is_asked_anew(play):
    """It is worth less than what runs, and its answer was for the world of that plan."""

    async def consider(self, ctx):
        ctx.set_utility(0)

    async def think(self, ctx, args):
        await Slow.think(self, ctx, args)
        await ctx.sleep_ticks(1000)  # goes on watching

    being, _agent = lived(play, [Potter, made(Slow, consider=consider, think=think)], 10)
    assert [tick for tick, what in being.log if what == "think"] == [1, 5, 9]


@pytest.mark.states("001: Making plans: (decided) It is asked anew if it has answered, has asked CURRENT for ...")
def test_one_that_takes_its_answer_back_waits_again(play):
    async def think(self, ctx, args):
        self.note(ctx, "think")
        ctx.set_think_output()
        await ctx.sleep_ticks(1)
        ctx.clear_think_output()
        ctx.set_utility(1)
        await ctx.sleep_ticks(8)
        ctx.set_think_output()

    being, _agent = lived(play, [Potter, made(Slow, think=think)], 11)
    assert being.log == [(1, "think"), (10, "stop_thinking"), (10, "run")]


@pytest.mark.states("001: Making plans: (decided) It is asked anew if it has answered, has asked CURRENT for ...")
def test_one_that_could_not_beat_what_was_elected_is_asked_anew(play):
    class Proud(Potter):
        utility = 0.95

    being, _agent = lived(play, [Proud, Slow], 10)
    assert [what for what in being.log if what[1] == "think"] == [(1, "think"), (5, "think"), (9, "think")]


@pytest.mark.states("001: Making plans: (decided) It is asked anew if it has answered, has asked CURRENT for ...")
@pytest.mark.parametrize("does", ["writes", "reads"])
def test_one_that_has_a_world_of_its_own_is_asked_anew(play, does):
    """What it expects would be another's, once somebody else has acted. To read CURRENT makes it its own, too."""

    async def consider(self, ctx):
        if does == "writes":
            ctx.CURRENT.location = "away"
        else:
            assert ctx.CURRENT.location == "home"
        await ctx.sleep_ticks(10)

    being, _agent = lived(play, [Potter, made(Slow, consider=consider)], 10)
    assert [tick for tick, what in being.log if what == "think"] == [1, 5, 9]


@pytest.mark.states("001: Making plans: (decided) A thought that still waits when a plan has run to its end ...")
def test_one_that_listens_waits_too(play):
    async def think(self, ctx, args):
        self.note(ctx, "think")
        ctx.listen(ctx.entity.bell, lambda _value: ctx.set_think_output())

    slow = made(Slow, think=think, utility=0.9)
    being, _agent = lived(play, [Potter, slow], 9, lambda being, _: being.bell.emit())
    assert being.log == [(1, "think"), (8, "stop_thinking"), (8, "run")]


@pytest.mark.states("001: Making plans: (decided) A thought that still waits when a plan has run to its end ...")
def test_in_a_step_that_is_given_the_same(play):
    """The plan around it is thought anew; the step is not, until it is given something else."""
    found = iter([3, 3, 4, 4, 4, 4])

    class Find(Action):
        does = "x:find"
        utility = 0.5

        class Output(ThinkOutput):
            number: int

        async def think(self, ctx, args):
            ctx.set_think_output(number=next(found))

    class Consider(Slow):
        does = "x:consider"

        class Args(ActionArgs):
            number: int

    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:find"), step("x:consider", number=PREV.number))

    being, _agent = lived(play, [Potter, Plan, Find, Consider], 19)
    assert being.log == [
        (1, "think"),
        (9, "stop_thinking"),
        (9, "think ends"),
        (9, "think"),
        (19, "think ends"),
        (19, "stop_thinking"),
        (19, "run"),
    ]


@pytest.mark.states("001: Making plans: (decided) A thought that still waits when a plan has run to its end ...")
def test_a_compound_that_has_asked_no_step_yet(play):
    class Do(Action):
        does = "x:do"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.entity.log.append((ctx.clock.tick, "do"))
            await ctx.sleep_ticks(100)

    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:do"),)

        async def think(self, ctx, args):
            ctx.entity.log.append((ctx.clock.tick, "think"))
            await ctx.sleep_ticks(10)
            ctx.set_think_output()

    being, _agent = lived(play, [Potter, Plan, Do], 12)
    assert being.log == [(1, "think"), (11, "do")]


@pytest.mark.states("001: Making plans: (decided) A thought that still waits when a plan has run to its end ...")
def test_slow_calls_are_heard_though_plans_end(play):
    """What it is for: an answer from outside takes several plans."""

    async def consider(self, ctx):
        for _ in range(3):
            await ctx.sleep_ticks(3)

    being, _agent = lived(play, [Potter, made(Slow, consider=consider)], 11)
    assert being.log[-1] == (10, "run")


@pytest.mark.parametrize("period", [2, 4, 5])
def test_an_answer_of_the_very_tick_in_which_the_plan_ends_is_heard(play, period):
    """Nobody has compared it with anything yet; thrown away, it would be thrown away each time."""
    slow = made(Slow, consider=lambda self, ctx: ctx.sleep_ticks(20))

    async def run(self, ctx, args):
        await ctx.sleep_ticks(period)

    being, _agent = lived(play, [made(Potter, run=run), slow], 22)
    assert being.log[-1] == (21, "run")


def test_so_is_that_of_a_step(play):
    class Consider(Slow):
        does = "x:consider"

        async def consider(self, ctx):
            await ctx.sleep_ticks(20)

    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:consider"),)

    being, _agent = lived(play, [Potter, Plan, Consider], 22)
    assert being.log[-1] == (21, "run")


class Dawdle(Potter):
    """It ends a little later in the tick: who has answered in it has told the place, and nobody else yet."""

    async def run(self, ctx, args):
        await ctx.sleep_ticks(5)
        turn = Event()
        ctx.agent.runtime.kernel.call_soon(turn.set)
        await turn.wait()

    def stop(self, ctx, args):
        ctx.entity.location = f"after {ctx.clock.tick}"


class Ponder(Slow):
    does = "x:ponder"
    run = Action.run

    async def consider(self, ctx):
        await ctx.sleep_ticks(17)
        await ctx.sleep_ticks(3)  # in the tick in which both are due, the plan that ends is first


class Go(Action):
    does = "x:go"
    utility = 0.5

    class Args(ActionArgs):
        where: str

    async def run(self, ctx, args):
        ctx.entity.log.append((ctx.clock.tick, f"go {args.where}"))
        await ctx.sleep_ticks(1000)


def look_in(how):
    """An action that says where it is, as it is or as it is expected to be."""

    class Look(Action):
        does = "x:look"
        utility = 0.5

        class Output(ThinkOutput):
            where: str

        async def think(self, ctx, args):
            ctx.set_think_output(where=(ctx.CURRENT if how == "CURRENT" else ctx.entity).location)

    return Look


@pytest.mark.parametrize("how", ["CURRENT", "entity"])
def test_of_a_plan_that_is_ready_in_the_very_tick_the_newest_steps_go_on_and_those_before_them_are_asked(play, how):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:look"), step("x:ponder"), step("x:go", where=BACK(2).where))

    being, _agent = lived(play, [Dawdle, Plan, look_in(how), Ponder, Go], 22)
    assert [what for what in being.log if what[1] == "think"] == [(1, "think")]
    assert being.log[-1] == (21, "go after 21")


def test_in_a_plan_of_a_plan(play):
    class Inner(CompoundAction):
        does = "x:inner"
        utility = 0.5
        steps = (step("x:ponder"),)

    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:look"), step("x:inner"), step("x:go", where=BACK(2).where))

    being, _agent = lived(play, [Dawdle, Plan, Inner, look_in("entity"), Ponder, Go], 22)
    assert [what for what in being.log if what[1] == "think"] == [(1, "think")]
    assert being.log[-1] == (21, "go after 21")


def test_a_plan_whose_own_answer_is_new_goes_on_with_its_steps(play):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:look"), step("x:go", where=PREV.where))

        async def think(self, ctx, args):
            ctx.entity.log.append((ctx.clock.tick, "think"))
            await Ponder.consider(self, ctx)
            ctx.set_think_output()

    being, _agent = lived(play, [Dawdle, Plan, look_in("entity"), Go], 22)
    assert [what for what in being.log if what[1] == "think"] == [(1, "think")]


@pytest.mark.parametrize("tasks", [1, 20])
def test_so_does_who_does_a_task(play, tasks):
    """Else the task would be thought of for ever, beside a plan whose periods meet with its own."""

    class Dig(Slow):
        does = "x:dig"

        async def consider(self, ctx):
            await ctx.sleep_ticks(1)
            await ctx.sleep_ticks(4)

    class Crew(TaskGroupAction):
        does = TOP
        utility = 0.9
        tasks = (declare_multiple_tasks("x:dig", 0.5),)

    group = TaskGroup(Crew, name="crew")
    for _ in range(tasks):
        group.create_task("x:dig").start()
    being, _agent = lived(play, [Dawdle, Dig], 24, groups=[group])
    assert (6, "run") in being.log


@pytest.mark.parametrize(("asks", "runs"), [("when answered", False), ("when changed", True)])
def test_two_slow_thoughts_one_after_the_other(play, asks, runs):
    """A compound's own and its step's: it has to be kept as a whole."""

    class Do(Slow):
        does = "x:do"

    class Plan(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("x:do"),)

        async def think(self, ctx, args):
            await ctx.sleep_ticks(10)
            ctx.set_think_output()

    being, _agent = lived(play, [Potter, made(Plan, asks=asks), Do], 40)
    assert ((21, "run") in being.log) is runs
