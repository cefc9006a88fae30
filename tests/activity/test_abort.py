"""Abort: the whole plan is unwound and planned anew, in the next tick; ten in a row without progress kill the planner."""

from __future__ import annotations

import pytest

from agentrt import Action, ActionArgs, Signal, step
from agentrt.errors import AgentKilled


async def forever(self, ctx, args):
    await ctx.sleep(1000)


@pytest.mark.states("001: run: abort in run stops everything and plans from scratch")
@pytest.mark.states("001: stop: When it is aborted")
@pytest.mark.states("001: abort: abort cancels what runs and plans from scratch, (decided) in the next tick")
def test_abort_in_run_unwinds_everything_and_plans_again(play, leaf, compound):
    class Breaks(Action):
        does = "b"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.abort("the item is gone")
            raise AssertionError("not reached")

        def stop(self, ctx, args):
            play.note("Breaks", "stop")

    play.add(compound("Plan", step("a"), step("b"), step("c")), leaf("A", does="a"), Breaks, leaf("C", does="c"))
    play.tick(1)
    play.take_log()
    play.tick(3)
    assert play.log == [
        (2, "A", "run ends"),
        (3, "A", "stop"),
        (3, "Breaks", "stop"),
        (3, "C", "stop"),
        (3, "Plan", "stop"),
        (4, "Plan", "start"),
        (4, "A", "start"),
        (4, "A", "stop_thinking"),
        (4, "C", "start"),
        (4, "C", "stop_thinking"),
        (4, "Plan", "stop_thinking"),
        (4, "A", "run"),
    ]
    assert play.details("abort") == [(3, "top/Plan/b/Breaks", "abort", {"reason": "the item is gone"})]


@pytest.mark.states("001: start: In a plan each start comes before the first run, and may abort ...")
def test_abort_in_start(play, leaf, compound):
    """Who was started is stopped, the one that aborted too; who was not is not; each that thought has stopped thinking."""

    class Breaks(Action):
        does = "b"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.set_think_output()
            try:
                await ctx.sleep(1000)
            finally:
                play.note("Breaks", "think ends")

        def start(self, ctx, args):
            ctx.abort("no")

        def stop_thinking(self, ctx, args):
            play.note("Breaks", "stop_thinking")

        def stop(self, ctx, args):
            play.note("Breaks", "stop")

    play.add(compound("Plan", step("a"), step("b"), step("c")), leaf("A", does="a"), Breaks, leaf("C", does="c"))
    play.tick(1)
    assert play.log == [
        (1, "Plan", "start"),
        (1, "A", "start"),
        (1, "A", "stop_thinking"),
        (1, "Breaks", "stop_thinking"),
        (1, "Plan", "stop_thinking"),
        (1, "A", "stop"),
        (1, "Breaks", "stop"),
        (1, "C", "stop_thinking"),
        (1, "Plan", "stop"),
        (1, "Breaks", "think ends"),
    ]


def test_abort_in_think(play, leaf):
    """Even one that only thinks can abort the plan that runs."""

    class Breaks(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.abort("the world ends")

    play.add(Breaks, leaf("Runs", 0.5, run=50))
    play.tick(4)
    assert play.log == [
        (1, "Runs", "start"),
        (1, "Runs", "stop_thinking"),
        (1, "Runs", "run"),
        (3, "Runs", "run ends"),
        (3, "Runs", "stop"),
        (4, "Runs", "start"),
        (4, "Runs", "stop_thinking"),
        (4, "Runs", "run"),
    ]
    assert play.details("abort") == [(3, "top/Breaks", "abort", {"reason": "the world ends"})]


def test_abort_in_the_first_step_of_a_think_starts_nothing(play, leaf):
    """Its sibling is ready in the same round; the plan is being unwound, so it is not elected."""

    class Breaks(Action):
        does = "top"
        utility = 0.1

        async def think(self, ctx, args):
            if ctx.clock.tick == 1:
                ctx.abort("at once")

    play.add(Breaks, leaf("Ready", 0.5, run=50))
    play.tick(2)
    assert play.log == [
        (1, "Ready", "stop_thinking"),
        (2, "Ready", "start"),
        (2, "Ready", "stop_thinking"),
        (2, "Ready", "run"),
    ]


@pytest.mark.states("001: Making plans: It is asked again then ...")
@pytest.mark.parametrize("state", ["thinking", "running"])
def test_abort_in_a_callback(play, state, idle):
    signal = Signal()

    async def hook(self, ctx, args):
        ctx.listen(signal, lambda value: ctx.abort(value))
        await ctx.sleep(1000)

    hooks = {"think": hook} if state == "thinking" else {"run": hook}
    play.add(type("Listens", (Action,), {"does": "top", "utility": 0.5, **hooks}), idle)
    play.tick(2)
    signal.emit("heard")
    play.tick(2)
    assert play.details("abort") == [(2, "top/Listens", "abort", {"reason": "heard"})]
    assert play.trace("think" if state == "thinking" else "start")[-1][0] == 4


@pytest.mark.parametrize(
    ("hook", "body"),
    [
        ("stop_thinking", lambda self, ctx, args: ctx.abort("while it stops thinking")),
        ("should_start_thinking", lambda self, ctx, args: ctx.clock.tick > 1 or ctx.abort("in a filter")),
    ],
)
def test_abort_in_the_other_hooks_is_an_abort(play, leaf, hook, body):
    play.add(type("Odd", (Action,), {"does": "top", "utility": 0.1, hook: body}), leaf("Good", 0.5, run=50, quiet=True))
    play.tick(1)
    assert len(play.details("abort")) == 1


def test_abort_in_stop_does_nothing_more(play):
    class Odd(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        def stop(self, ctx, args):
            play.note("stop")
            ctx.abort("it stops already")

    play.add(Odd)
    play.tick(3)
    assert play.log == [(2, "stop"), (3, "stop")]
    assert play.trace("abort") == []


# --- ten in a row -----------------------------------------------------------------------------------------------------


def breaking(play, after=0, *, works=()):
    """Aborts after some ticks of each run, but for the runs with these numbers."""
    runs = []

    class Breaks(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            runs.append(ctx.clock.tick)
            await ctx.sleep_ticks(after)
            if len(runs) not in works:
                ctx.abort(f"abort of run {len(runs)}")

        def stop(self, ctx, args):
            play.note("stop")

    return Breaks, runs


@pytest.mark.states("001: abort: Ten aborts in a row kill the planner")
@pytest.mark.states("001: abort: It takes a reason, shown by the inspector and in errors ...")
def test_ten_aborts_kill_the_planner(play):
    breaks, runs = breaking(play)
    agent = play.add(breaks)
    play.tick(20)
    assert runs == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert len(play.log) == 10
    assert play.details("killed") == [(10, "top/Breaks", "killed", {"aborts": 10, "reason": "abort of run 10"})]
    assert not agent.is_alive
    assert isinstance(agent.error, AgentKilled)
    assert agent.error.aborts == 10
    assert agent.error.text == (
        "the planner was killed after 10 aborts in a row; the last reason: abort of run 10. Let the action check in 'think' "
        "what it aborts for, so that it is not chosen again while it cannot work. (at a, top/Breaks, tick 10)"
    )
    assert play.sim.runtime.agents == ()


@pytest.mark.states("001: abort: Ten aborts in a row kill the planner ...")
def test_nine_do_not(play):
    breaks, _runs = breaking(play, works={10})
    agent = play.add(breaks)
    play.tick(10)
    assert agent.is_alive
    assert agent.snapshot().aborts == 9
    assert agent.snapshot().abort_reason == "abort of run 9"


def test_aborts_count_however_long_the_runs_take(play):
    breaks, runs = breaking(play, after=30)
    agent = play.add(breaks)
    play.tick(400)
    assert len(runs) == 10
    assert not agent.is_alive


@pytest.mark.states("001: abort: (decided) In a row: without a plan between them that took time and was completed")
def test_a_completed_run_that_took_time_resets_the_count(play):
    breaks, runs = breaking(play, after=1, works={10, 20, 30})
    agent = play.add(breaks)
    play.sim.run_until(lambda: len(runs) == 31)
    assert agent.is_alive
    play.sim.run_until(lambda: not agent.is_alive)
    assert len(runs) == 40


@pytest.mark.states("001: abort: (decided) In a row: without a plan between them that took time and was completed ...")
def test_a_run_that_took_no_time_does_not_reset_it(play):
    breaks, runs = breaking(play, after=0, works={5, 6, 7})
    agent = play.add(breaks)
    play.tick(30)
    assert not agent.is_alive
    assert len(runs) == 13


def test_the_others_do_not_notice(stage, idle):
    """The trace of an agent beside it is the same with and without the one that is killed."""

    def worker():
        class Work(Action):
            does = "top"
            utility = (0.2, 0.8)

            async def think(self, ctx, args):
                ctx.set_utility(ctx.random.random())
                await ctx.sleep_ticks(ctx.random.below(3))
                ctx.set_think_output()

            async def run(self, ctx, args):
                await ctx.sleep_ticks(1 + ctx.random.below(4))

        return Work

    def trace(*, with_broken):
        play = stage(3)
        if with_broken:
            play.add(breaking(play)[0], name="broken")
        play.add(worker(), idle)
        play.tick(40)
        play.close()
        return [one for one in play.sim.trace if one.agent == "a"]

    assert trace(with_broken=True) == trace(with_broken=False)


def test_arguments_for_the_root_cannot_be_given(play):
    """A root activity with required arguments can never be thought: an abort each tick, then the end, not a crash."""

    class Wants(Action):
        does = "top"
        utility = 0.5

        class Args(ActionArgs):
            subject: str

    agent = play.add(Wants)
    play.tick(12)
    assert not agent.is_alive
    assert agent.error is not None
    assert "argument 'subject': is missing" in agent.error.reason
    assert len(play.faults()) >= 1


def test_an_agent_that_knows_nothing_waits(play, leaf):
    agent = play.add()
    play.tick(20)
    assert agent.is_alive
    agent.inject(leaf("A", quiet=True))
    play.tick(1)
    assert play.trace("run") == [(21, "top/A", "run")]


def test_a_cancellation_from_outside_is_an_abort(play, leaf):
    agent = play.add(leaf("A", run=50))
    play.tick(2)
    play.take_log()
    agent.planner.execution.runs[0].running.stop("by hand")
    play.tick(2)
    assert play.log == [
        (3, "A", "run ends"),
        (3, "A", "stop"),
        (4, "A", "start"),
        (4, "A", "stop_thinking"),
        (4, "A", "run"),
    ]
    assert play.details("abort") == [(3, "top/A", "abort", {"reason": "cancelled from outside"})]


def test_an_abort_during_an_abort_counts_once(play):
    signal = Signal()

    class Odd(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.listen(signal, lambda _: ctx.abort("heard"))
            try:
                await ctx.sleep_ticks(1)
                signal.emit()
                ctx.abort("mine")
            finally:
                signal.emit()

    agent = play.add(Odd)
    play.tick(2)
    assert agent.snapshot().aborts == 1
    assert play.details("abort") == [(2, "top/Odd", "abort", {"reason": "heard"})]


def test_the_planner_is_ended_while_it_unwinds(play, leaf):
    """The agent is removed in the tick of an abort: everything is stopped once, nothing is planned again."""
    breaks, runs = breaking(play, after=2)
    agent = play.add(breaks)
    play.tick(2)
    play.sim.runtime.remove(agent)
    play.tick(3)
    assert runs == [1]
    assert play.log == [(3, "stop")]
    assert play.trace("start", "stop", "removed") == [
        (1, "top/Breaks", "start"),
        (3, "top/Breaks", "stop"),
        (3, "", "removed"),
    ]
