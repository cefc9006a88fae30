"""``ctx.first`` and ``ctx.all``: several waits of one action, each in a coroutine that belongs to it."""

from __future__ import annotations

import pytest
from cast import caller

from agentrt import Action, ActionArgs, CancelScope, CompoundAction, Queue, Signal, ThinkOutput, step
from agentrt.activity.performances import MAX_NESTED
from agentrt.body.leases import LeaseBook
from agentrt.errors import ActivityRecursionError, NotRunningError, WrongStateError


class Count(Action):
    """Takes some ticks, and says so."""

    does = "count"
    utility = 0.5

    class Args(ActionArgs):
        ticks: int = 1

    class Output(ThinkOutput):
        counted: int

    async def think(self, ctx, args):
        ctx.set_think_output(counted=args.ticks)

    async def run(self, ctx, args):
        await ctx.sleep_ticks(args.ticks)


# --- activities -------------------------------------------------------------------------------------------------------


def test_an_activity_that_takes_too_long_is_unwound_before_the_action_goes_on(play, leaf):
    async def body(ctx):
        play.note(await ctx.first(ctx.execute("effect"), ctx.sleep_ticks(3)))
        play.note(await ctx.first(ctx.execute("effect"), ctx.sleep_ticks(9)))

    play.add(caller(play, body), leaf("Effect", does="effect", run=5))
    play.tick(10)
    assert play.log == [
        (1, "Effect", "start"),
        (1, "Effect", "stop_thinking"),
        (1, "Effect", "run"),
        (4, "Effect", "run ends"),
        (4, "Effect", "stop"),
        (4, (1, None)),
        (4, "Effect", "start"),
        (4, "Effect", "stop_thinking"),
        (4, "Effect", "run"),
        (9, "Effect", "run ends"),
        (9, "Effect", "stop"),
        (9, (0, ActionArgs())),
        (9, "returned"),
    ]


def test_an_action_executes_one_activity_at_a_time(play):
    async def body(ctx):
        with pytest.raises(WrongStateError, match="the action executes 'count'"):
            await ctx.all(ctx.execute("count", ticks=3), ctx.execute("count", ticks=2))

    play.add(caller(play, body), Count)
    play.tick(2)
    assert play.log == [(1, "returned")]


def test_performances_and_waits_go_on_beside_each_other(play):
    async def body(ctx):
        bell = ctx.signals["bell"]
        agent = ctx.agent
        found = await ctx.all(agent.perform("count", ticks=2), agent.perform("count", ticks=4), bell.wait())
        play.note([getattr(one, "counted", one) for one in found])

    agent = play.add(caller(play, body), Count)
    play.tick(2)
    play.sim.runtime.post(agent.entity.signal("bell").emit, "ding")
    play.tick(5)
    assert play.log == [(5, [2, 4, "ding"]), (5, "returned")]


def test_performances_of_actions_that_perform_themselves_have_an_end(play):
    class Endless(Action):
        does = "endless"
        utility = 0.5

        async def run(self, ctx, args):
            depths.append(1)
            try:
                await ctx.all(ctx.agent.perform("endless"))
            except ActivityRecursionError:
                depths.append("enough")

    depths = []

    async def body(ctx):
        await ctx.agent.perform("endless")

    play.add(caller(play, body), Endless)
    play.tick(1)
    assert depths == [1] * (MAX_NESTED - 1) + ["enough"]
    assert play.log == [(1, "returned")]


# --- the action ends --------------------------------------------------------------------------------------------------


def test_a_better_plan_unwinds_branches_before_the_action_stops(play):
    class Better(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(3)
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note("better")
            await ctx.sleep(1000)

    async def body(ctx):
        async def branch(name, leave):
            try:
                await ctx.sleep(1000)
            finally:
                with CancelScope(shield=True):
                    await ctx.sleep_ticks(leave)
                play.note(name)

        await ctx.all(branch("a", 2), branch("b", 1), ctx.execute("count", ticks=1000))

    play.add(caller(play, body), Count, Better)
    play.tick(8)
    assert play.log == [(5, "b"), (6, "a"), (6, "Cancelled"), (6, "Caller", "stop"), (6, "better")]
    assert play.trace("stop") == [
        (4, "top/Caller/count/Count", "stop"),
        (6, "top/Caller", "stop"),
    ]


def test_behind_a_shield_an_executed_activity_is_unwound_and_the_branch_is_told(play):
    async def body(ctx):
        with CancelScope(shield=True):
            try:
                await ctx.first(ctx.execute("count", ticks=1000), ctx.sleep(1000))
            except BaseException as error:
                play.note(type(error).__name__)
                raise

    agent = play.add(caller(play, body), Count)
    play.tick(2)
    agent.end("by a test")
    play.tick(3)
    assert play.log == [(3, "ActivityAbortedError"), (3, "ActivityAbortedError"), (3, "Caller", "stop")]


@pytest.mark.parametrize("way", ["first", "all"])
def test_abort_in_a_branch_is_the_actions_own(play, way):
    async def body(ctx):
        async def gives_up():
            await ctx.sleep_ticks(1)
            ctx.abort("the door is locked")

        async def other():
            try:
                await ctx.sleep(1000)
            finally:
                play.note("the other has ended")

        await getattr(ctx, way)(other(), gives_up())

    play.add(caller(play, body))
    play.tick(2)
    assert play.log == [(2, "the other has ended"), (2, "Abort"), (2, "Caller", "stop")]
    assert [detail["reason"] for _, _, _, detail in play.details("abort")] == ["the door is locked"]


# --- thinking ---------------------------------------------------------------------------------------------------------


def test_thinking_waits_for_several_things_and_answers_in_a_branch(play):
    class Thoughtful(Action):
        does = "top"
        utility = (0.1, 0.9)

        async def think(self, ctx, args):
            async def answers():
                await ctx.sleep_ticks(2)
                ctx.set_utility(1)
                ctx.set_think_output()

            play.note(await ctx.all(answers(), ctx.first(ctx.sleep(1), ctx.sleep_ticks(3))))

        async def run(self, ctx, args):
            play.note("runs")
            await ctx.sleep(1000)

    play.add(Thoughtful)
    play.tick(6)
    assert play.log == [(3, "runs")]


def test_reject_in_a_branch_ends_the_thinking(play):
    class Choosy(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            async def refuses():
                await ctx.sleep_ticks(1)
                ctx.reject("not today")

            async def other():
                try:
                    await ctx.sleep(1000)
                finally:
                    play.note("the other has ended")

            await ctx.all(other(), refuses())

    play.add(Choosy)
    play.tick(2)
    assert play.log == [(2, "the other has ended")]
    assert [detail["reason"] for _, _, _, detail in play.details("reject")] == ["not today"]


# --- whose they are ---------------------------------------------------------------------------------------------------


def test_branches_suspend_once_at_a_time_and_are_resumed_like_the_action(play):
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        with pytest.raises(WrongStateError, match="the action is suspended"):
            await ctx.all(ctx.suspend(), ctx.suspend())
        play.note(await ctx.first(ctx.suspend(), ctx.sleep(1000)))

    play.add(caller(play, body))
    play.tick(2)
    play.sim.runtime.post(lambda: contexts[0].resume("now"))
    play.tick(1)
    assert play.log == [(3, (0, "now")), (3, "returned")]


def test_a_wait_that_is_made_outside_says_what_to_write(play):
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        await ctx.sleep(1000)

    play.add(caller(play, body))
    play.tick(1)
    (ctx,) = contexts
    for wait in (ctx.next_tick, lambda: ctx.sleep(1), lambda: ctx.sleep_ticks(1)):
        with pytest.raises(NotRunningError, match=r"^\[ART105\] a task waits for the runtime that was made outside"):
            wait()


def test_what_is_waited_for_stands_in_the_snapshot(play):
    async def body(ctx):
        await ctx.all(Signal().wait(), Queue().get())

    agent = play.add(caller(play, body))
    play.tick(2)
    assert agent.snapshot().plan.units[0].waits == "for something to happen"


@pytest.mark.parametrize("in_branch", [False, True])
def test_a_thing_that_a_branch_could_not_have_is_lined_up_for(play, in_branch):
    book = LeaseBook()

    class Take(Action):
        does = "take"
        utility = 0.5

        async def think(self, ctx, args):
            async def asks():
                if not book.can_acquire("spade", ctx.agent):
                    ctx.reject("somebody has it")

            await ctx.next_tick()
            await (ctx.all(asks()) if in_branch else asks())
            ctx.set_think_output()

        def start(self, ctx, args):
            self.lease = book.acquire("spade", ctx.agent)

        async def run(self, ctx, args):
            play.note(ctx.agent.name)
            await ctx.sleep_ticks(13)
            self.lease.release()
            await ctx.sleep(1000)

    class Dig(CompoundAction):
        does = "top"
        utility = 0.5
        steps = (step("take"),)

    play.add(Take, Dig, name="a")
    play.tick(3)
    play.add(Take, Dig, name="b")
    play.tick(20)
    assert play.log == [(2, "a"), (16, "b")]  # in the tick after the release, since it thinks for one
