"""Preemption: what is stopped in which order, that all of it happens in one tick, and what takes its time nevertheless."""

from __future__ import annotations

import pytest
from cast import careful

from agentrt import PREV, Action, ActionArgs, CancelScope, Event, Signal, next_tick, sleep_ticks, step


@pytest.mark.states("001: Comparing plans: A running action is interrupted by a better one")
@pytest.mark.states("001: stop: When it is interrupted; (decided) inner first, in one tick")
def test_inner_first_and_all_in_one_tick(play, leaf, compound):
    """Three levels deep: the leaf's finally blocks, every stop from the inside out, then the new start."""
    play.add(
        compound("Outer", step("first"), step("middle"), step("last"), utility=0.5),
        leaf("First", does="first"),
        compound("Middle", step("inner"), step("after"), does="middle"),
        leaf("Inner", does="inner", run=50),
        leaf("After", does="after"),
        leaf("Last", does="last"),
        leaf("Urgent", 0.9, think=5, run=9),
    )
    play.tick(5)
    play.take_log()
    play.tick(1)
    assert play.log == [
        (6, "Inner", "run ends"),
        (6, "First", "stop"),
        (6, "Inner", "stop"),
        (6, "After", "stop"),
        (6, "Middle", "stop"),
        (6, "Last", "stop"),
        (6, "Outer", "stop"),
        (6, "Urgent", "start"),
        (6, "Urgent", "stop_thinking"),
        (6, "Urgent", "think ends"),
        (6, "Urgent", "run"),
    ]


def test_a_step_is_preempted_by_another_action_for_the_same_step(play, leaf, compound):
    """Only that step changes its action; the plan around it goes on, and the steps after it stay started."""
    play.add(
        compound("Plan", step("first"), step("long"), step("last")),
        leaf("First", does="first"),
        leaf("Slow", 0.3, does="long", run=50),
        leaf("Fast", 0.6, does="long", think=4, run=2),
        leaf("Last", does="last"),
    )
    play.tick(1)
    play.take_log()
    play.tick(7)
    assert play.log[:15] == [
        (2, "First", "run ends"),
        (2, "Slow", "run"),
        (5, "Slow", "run ends"),
        (5, "Slow", "stop"),
        (5, "Fast", "start"),
        (5, "Fast", "stop_thinking"),
        (5, "Fast", "think ends"),
        (5, "Fast", "run"),
        (7, "Fast", "run ends"),
        (7, "Last", "run"),
        (8, "Last", "run ends"),
        (8, "First", "stop"),
        (8, "Fast", "stop"),
        (8, "Last", "stop"),
        (8, "Plan", "stop"),
    ]


def test_a_step_that_was_started_and_has_not_run_changes_its_action_without_a_wait(play, leaf, compound):
    play.add(
        compound("Plan", step("first"), step("later"), quiet=True),
        leaf("First", does="first", run=9, quiet=True),
        leaf("Old", 0.3, does="later"),
        leaf("New", 0.6, does="later", think=3),
    )
    play.tick(1)
    play.take_log()
    play.tick(4)
    assert play.log == [
        (4, "Old", "stop"),
        (4, "New", "start"),
        (4, "New", "stop_thinking"),
        (4, "New", "think ends"),
    ]


@pytest.mark.states(
    "001: Comparing plans: (decided) A step whose output was read by a later one, or that expects another state than "
    "the steps after it were planned for, keeps its action once the plan has started",
)
def test_a_step_whose_output_is_read_keeps_its_action(play, leaf, compound):
    """The later steps were bound to that output: a better action for the step is for the next plan."""
    play.add(
        compound("Plan", step("find"), step("use", thing=PREV.thing), quiet=True),
        leaf("Old", 0.3, does="find", think=0, run=9, output={"thing": "old"}, quiet=True),
        leaf("New", 0.6, does="find", think=3, run=9, output={"thing": "new"}, quiet=True),
        use_thing(play),
    )
    play.tick(12)
    assert play.log == [(10, "old")]
    assert play.trace("preempt") == []


def use_thing(play):
    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            thing: str

        async def run(self, ctx, args):
            play.note(args.thing)
            await ctx.sleep_ticks(9)

    return Use


def test_a_finished_step_is_not_preempted(play, leaf, compound):
    play.add(
        compound("Plan", step("first"), step("long"), quiet=True),
        leaf("First", 0.3, does="first", run=1, quiet=True),
        leaf("Better", 0.9, does="first", think=5, quiet=True, asks="with each plan"),
        leaf("Long", does="long", run=9, quiet=True),
    )
    play.tick(9)
    assert play.trace("preempt") == []
    assert play.trace("stop_thinking")[-1] == (2, "top/Plan/first/Better", "stop_thinking")


def test_preemption_while_the_preemptor_is_about_to_start_counts_for_the_best(play, leaf):
    """Two become ready in the same tick: the old one is stopped once, and the better of the two starts."""
    play.add(
        leaf("Old", 0.1, run=50),
        leaf("Good", 0.5, think=3, run=9, quiet=True),
        leaf("Best", 0.9, think=3, run=9, quiet=True),
    )
    play.tick(4)
    assert play.trace("start", "stop") == [(1, "top/Old", "start"), (4, "top/Old", "stop"), (4, "top/Best", "start")]


def test_the_successor_waits_for_clean_up_that_takes_time(play, leaf):
    """A shielded clean-up in run: three ticks. Everything else of the agent waits; the successor starts then."""

    class Careful(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            finally:
                play.note("cleaning")
                with CancelScope(shield=True):
                    await sleep_ticks(3)
                play.note("clean")

        def stop(self, ctx, args):
            play.note("stop")

    play.add(Careful, leaf("Next", 0.5, think=2, run=9))
    play.tick(9)
    assert play.log == [
        (1, "Next", "think"),
        (3, "cleaning"),
        (6, "clean"),
        (6, "stop"),
        (6, "Next", "start"),
        (6, "Next", "stop_thinking"),
        (6, "Next", "think ends"),
        (6, "Next", "run"),
    ]


def test_the_best_after_the_clean_up_takes_over_not_the_one_that_caused_it(play, leaf):
    Careful = careful(5, "Careful", does="top", utility=0.1)

    play.add(Careful, leaf("Next", 0.5, think=2, run=9, quiet=True), leaf("Better", 0.9, think=4, run=9, quiet=True))
    play.tick(9)
    assert play.trace("preempt", "start") == [
        (1, "top/Careful", "start"),
        (3, "top/Careful", "preempt"),
        (8, "top/Better", "start"),
    ]


def test_what_becomes_ready_in_a_rival_plan_during_the_clean_up_is_not_lost(play, leaf, compound):
    """The step of the rival plan answers while another rival's turn is prepared; its plan must not wait for ever."""

    Careful = careful(5, "Careful", does="top", utility=0.1)

    play.add(
        Careful,
        leaf("Next", 0.5, think=2, run=3, quiet=True),
        compound("Plan", step("x"), utility=0.9, quiet=True),
        leaf("X", does="x", think=4, run=50, quiet=True),
    )
    play.tick(9)
    assert play.trace("preempt", "ready", "start") == [
        (1, "top/Careful", "ready"),
        (1, "top/Careful", "start"),
        (3, "top/Next", "ready"),
        (3, "top/Careful", "preempt"),
        (5, "top/Plan/x/X", "ready"),
        (5, "top/Plan", "ready"),
        (8, "top/Plan", "start"),
        (8, "top/Plan/x/X", "start"),
    ]


def test_the_better_one_withdraws_during_the_clean_up(play, leaf):
    """Then the one that was stopped may come back: it thinks again, and nothing was aborted."""
    gate = Event()

    class Fickle(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()
            await ctx.sleep_ticks(1)
            ctx.clear_think_output()
            await gate.wait()

    Careful = careful(3, "Careful", does="top", utility=0.1)

    play.add(Careful, Fickle)
    play.tick(7)
    assert play.trace("preempt", "unready", "stop", "start", "abort") == [
        (1, "top/Careful", "start"),
        (3, "top/Careful", "preempt"),
        (4, "top/Fickle", "unready"),
        (6, "top/Careful", "stop"),
        (6, "top/Careful", "start"),
    ]


def test_what_the_old_one_does_in_its_stop_counts_for_who_is_best(play, leaf):
    """Who is best is asked after its ``stop``: the one that caused it is not even started."""
    freed = Signal()

    class Waits(Action):
        does = "top"
        utility = (0.05, 1.0)

        async def think(self, ctx, args):
            ctx.set_think_output()
            ctx.listen(freed, lambda _: ctx.set_utility(1.0))
            await ctx.sleep(100)

    play.add(
        leaf("Old", 0.1, run=9, quiet=True, stop=lambda self, ctx, args: freed.emit(None)),
        leaf("Better", 0.5, think=2, run=9, quiet=True),
        Waits,
    )
    play.tick(3)
    assert [(*one[:3], one[3].get("action")) for one in play.details("start", "preempt", "stop", "elect")] == [
        (1, "top", "elect", "Old"),
        (1, "top/Old", "start", None),
        (3, "top/Old", "preempt", None),
        (3, "top/Old", "stop", None),
        (3, "top", "elect", "Waits"),
        (3, "top/Waits", "start", None),
        (3, "top/Waits", "stop", None),
    ]


def test_the_better_action_of_a_step_withdraws_during_the_clean_up(play, leaf, compound):
    """The same within a running plan: the step goes on with the action that it had; the plan is not aborted."""

    class Fickle(Action):
        does = "long"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()
            await ctx.sleep_ticks(1)
            ctx.clear_think_output()
            await ctx.sleep(100)

    Careful = careful(3, "Careful", does="long", utility=0.1, runs=8)

    play.add(
        compound("Plan", step("long"), step("last"), quiet=True), Careful, Fickle, leaf("Last", does="last", quiet=True)
    )
    play.tick(18)
    assert play.trace("preempt", "unready", "stop", "start", "run", "abort")[:14] == [
        (1, "top/Plan", "start"),
        (1, "top/Plan/long/Careful", "start"),
        (1, "top/Plan/last/Last", "start"),
        (1, "top/Plan", "run"),
        (1, "top/Plan/long/Careful", "run"),
        (3, "top/Plan/long/Careful", "preempt"),
        (4, "top/Plan/long/Fickle", "unready"),
        (6, "top/Plan/long/Careful", "stop"),
        (6, "top/Plan/long/Careful", "start"),
        (6, "top/Plan/long/Careful", "run"),
        (17, "top/Plan/last/Last", "run"),
        (18, "top/Plan/long/Careful", "stop"),
        (18, "top/Plan/last/Last", "stop"),
        (18, "top/Plan", "stop"),
    ]


def test_an_outer_preemption_overtakes_an_inner_one(play, leaf, compound):
    """While a step's old action still cleans up, the whole plan is preempted: one unwinding, from the inside out."""

    Careful = careful(5, "Careful", does="long", utility=0.1)

    play.add(
        compound("Plan", step("long"), utility=0.5, quiet=True),
        Careful,
        leaf("Better", 0.5, does="long", think=2, quiet=True),
        leaf("Urgent", 0.9, think=4, run=9, quiet=True),
    )
    play.tick(9)
    assert play.trace("preempt", "stop", "start") == [
        (1, "top/Plan", "start"),
        (1, "top/Plan/long/Careful", "start"),
        (3, "top/Plan/long/Careful", "preempt"),
        (5, "top/Plan", "preempt"),
        (8, "top/Plan/long/Careful", "stop"),
        (8, "top/Plan", "stop"),
        (8, "top/Urgent", "start"),
    ]


def test_what_ends_in_the_tick_in_which_a_better_one_is_ready_has_ended(play, leaf):
    """The branch is finished; the better one has its answer, which nobody has looked at yet, and is elected next."""
    play.add(leaf("Old", 0.1, run=3, quiet=True), leaf("New", 0.5, think=3, run=9, quiet=True))
    play.tick(4)
    assert play.trace(since=4) == [
        (4, "top/New", "ready"),
        (4, "top/Old", "finish"),
        (4, "top/Old", "stop"),
        (4, "top", "complete"),
        (4, "top/Old", "ready"),
        (4, "top", "elect"),
        (4, "top/New", "start"),
        (4, "top/New", "stop_thinking"),
        (4, "top/Old", "stop_thinking"),
        (4, "top/New", "run"),
    ]


def test_what_would_have_ended_in_that_tick_is_preempted_if_its_turn_comes_later(play):
    done = Event()

    class Old(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            await done.wait()
            play.note("not reached")

    class New(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(3)
            ctx.set_think_output()
            done.set()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    play.add(Old, New)
    play.tick(4)
    assert play.log == []
    assert play.trace("finish", "preempt", "stop", "start") == [
        (1, "top/Old", "start"),
        (4, "top/Old", "preempt"),
        (4, "top/Old", "stop"),
        (4, "top/New", "start"),
    ]


def test_a_run_that_swallows_the_cancellation_and_returns(play, leaf):
    class Stubborn(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            except BaseException:
                play.note("swallowed")

        def stop(self, ctx, args):
            play.note("stop")

    play.add(Stubborn, leaf("New", 0.5, think=2, run=9, quiet=True))
    play.tick(3)
    assert play.log == [(3, "swallowed"), (3, "stop")]
    assert play.trace("start")[-1] == (3, "top/New", "start")


def test_a_run_that_awaits_after_its_cancellation_is_cancelled_again(play, leaf):
    """Cancelling is a level: each further wait outside of a shield raises too, and the strand is killed if it never ends."""

    class Endless(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            while True:
                try:
                    await next_tick()
                except BaseException:
                    """Never gives up."""

        def stop(self, ctx, args):
            play.note("stop")

    play.add(Endless, leaf("New", 0.5, think=2, run=9, quiet=True))
    play.tick(3)
    assert play.log == [(3, "stop")]
    assert play.trace("start")[-1] == (3, "top/New", "start")
    [(tick, path, hook, error)] = play.faults()
    assert (tick, path, hook) == (3, "top/Endless", "run")
    assert error.startswith("LivelockError: [ART302] took 1000 steps within one tick without time passing.")


def test_a_run_that_raises_while_it_is_stopped(play, leaf):
    class Broken(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            finally:
                raise ValueError("while cleaning up")

    play.add(Broken, leaf("New", 0.5, think=2, run=9, quiet=True))
    play.tick(3)
    assert play.trace("abort", "start")[-1] == (3, "top/New", "start")
    assert play.faults() == [(3, "top/Broken", "run", "ValueError: while cleaning up")]
