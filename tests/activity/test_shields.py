"""What is executed behind a shield: nothing goes on in a plan that unwinds, so who awaits it is told, and not left."""

from __future__ import annotations

import pytest

from agentrt import Action, CancelScope, sleep_ticks
from agentrt.errors import ActivityAbortedError


def long(play):
    class Long(Action):
        does = "long"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(100)

        def stop(self, ctx, args):
            play.note("Long", "stop")

    return Long


def guard(play, where, *, is_caught):
    """An action that executes something behind a shield: in its work, or in its clean-up."""

    async def execute(ctx):
        with CancelScope(shield=True):
            try:
                await ctx.execute("long")
            except ActivityAbortedError as error:
                play.note("Guard", error.activity, error.reason)
                if not is_caught:
                    raise
            await sleep_ticks(2)  # a clean-up may still take its time
            play.note("Guard", "clean")

    class Guard(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            if where == "work":
                await execute(ctx)
            try:
                await ctx.sleep_ticks(100)
            finally:
                await execute(ctx)

        def stop(self, ctx, args):
            play.note("Guard", "stop")

    return Guard


def better(play, at):
    class Better(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(at)
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note("Better", "run")
            await ctx.sleep_ticks(1000)

    return Better


def end(play, how, where, *, is_caught):
    actions = [guard(play, where, is_caught=is_caught), long(play)]
    agent = play.add(*actions, *([better(play, 4)] if how == "preempted" else []))
    play.tick(5)
    if how == "removed":
        play.sim.runtime.remove(agent)
    play.tick(12)
    return [one[1:] for one in play.log]


@pytest.mark.parametrize("how", ["preempted", "removed"])
@pytest.mark.parametrize("where", ["work", "cleanup"])
def test_it_is_told_and_its_clean_up_goes_on(play, where, how):
    log = end(play, how, where, is_caught=True)
    told = [one for one in log if one[:2] == ("Guard", "long")]
    assert told
    assert log.index(told[0]) < log.index(("Guard", "clean")) < log.index(("Guard", "stop"))
    assert (("Better", "run") in log) == (how == "preempted")
    assert (("Long", "stop") in log) == (where == "work")  # nothing is begun any more
    assert play.faults() == []


@pytest.mark.parametrize("how", ["preempted", "removed"])
@pytest.mark.parametrize("where", ["work", "cleanup"])
def test_that_it_does_not_catch_the_error_is_no_fault(play, where, how):
    log = end(play, how, where, is_caught=False)
    assert ("Guard", "stop") in log
    assert ("Guard", "clean") not in log
    assert play.faults() == []


def test_whoever_has_the_frame_spawned_by_itself_is_told_too(play):
    class Guard(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            frame = ctx.spawn("long")
            frame.start_thinking()
            with CancelScope(shield=True):
                await frame.ready()
                with pytest.raises(ActivityAbortedError):
                    await frame.run()
            play.note("told")
            await ctx.sleep_ticks(100)

    agent = play.add(Guard, long(play))
    play.tick(3)
    play.sim.runtime.remove(agent)
    play.tick(1)
    assert play.log == [(4, "Long", "stop"), (4, "told")]


def test_one_that_is_not_shielded_is_cancelled_as_always(play):
    class Open(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.execute("long")
            except ActivityAbortedError:
                play.note("told")
            except BaseException as error:
                play.note(type(error).__name__)
                raise

    agent = play.add(Open, long(play))
    play.tick(3)
    play.sim.runtime.remove(agent)
    play.tick(1)
    assert play.log == [(4, "Long", "stop"), (4, "Cancelled")]
