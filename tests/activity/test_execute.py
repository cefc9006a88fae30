"""``ctx.execute``: an activity thought and run from within a run."""

from __future__ import annotations

import pytest
from cast import caller, careful

from agentrt import (
    Action,
    ActionArgs,
    Agent,
    CompoundAction,
    Entity,
    Event,
    Runtime,
    ThinkOutput,
    move_on_after,
    step,
)
from agentrt.activity.plan.tree import MAX_EXECUTED
from agentrt.errors import ActivityImpossibleError, ArgumentError, WrongStateError
from agentrt.strategy.solve import Pausable


def cleaning(play, ticks, *, does="effect", **hooks):
    """An action that notes when its clean-up is over, which takes so many ticks."""
    return careful(ticks, "Careful", does=does, utility=0.5, cleaned=lambda ctx: play.note("clean"), **hooks)


@pytest.mark.states("001: run: execute in run performs an activity and goes on")
@pytest.mark.states("001: execute: execute thinks and runs at once")
def test_success(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body), leaf("Effect", does="effect", run=2))
    play.tick(3)
    assert play.log == [
        (1, "Effect", "start"),
        (1, "Effect", "stop_thinking"),
        (1, "Effect", "run"),
        (3, "Effect", "run ends"),
        (3, "Effect", "stop"),
        (3, "returned"),
    ]
    assert play.trace() == [
        (1, "top/Caller", "ready"),
        (1, "top", "elect"),
        (1, "top/Caller", "start"),
        (1, "top/Caller", "stop_thinking"),
        (1, "top/Caller", "run"),
        (1, "top/Caller/effect/Effect", "ready"),
        (1, "top/Caller/effect", "elect"),
        (1, "top/Caller/effect/Effect", "start"),
        (1, "top/Caller/effect/Effect", "stop_thinking"),
        (1, "top/Caller/effect/Effect", "run"),
        (3, "top/Caller/effect/Effect", "finish"),
        (3, "top/Caller/effect/Effect", "stop"),
    ]


def test_it_returns_the_think_output_of_the_one_that_did_it(play):
    class Find(Action):
        does = "find"
        utility = 0.5

        class Args(ActionArgs):
            kind: str

        class Output(ThinkOutput):
            thing: str

        async def think(self, ctx, args):
            ctx.set_think_output(thing=f"a {args.kind}")

    async def body(ctx):
        play.note((await ctx.execute("find", kind="cow")).thing)

    play.add(caller(play, body), Find)
    play.tick(1)
    assert play.log == [(1, "a cow"), (1, "returned")]


@pytest.mark.states(
    "001: execute: (decided) Thinking may take time; if nobody can, the caller is told with an error that it may catch",
)
def test_thinking_may_take_time(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body), leaf("Effect", does="effect", think=3, run=2, quiet=True))
    play.tick(6)
    assert play.log == [(6, "returned")]


def test_the_best_of_those_that_answer_at_once_does_it(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    play.add(
        caller(play, body),
        leaf("Slow", 0.9, does="effect", think=9),
        leaf("Good", 0.6, does="effect"),
        leaf("Bad", 0.2, does="effect"),
    )
    play.tick(2)
    assert [entry for entry in play.log if entry[-1] == "start"] == [(1, "Good", "start")]


def test_it_may_be_taken_over_by_a_better_one(play, leaf):
    """An executed activity is an activity: the output is that of the one that finished it."""

    class Fast(Action):
        does = "effect"
        utility = 0.9

        class Output(ThinkOutput):
            by: str

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output(by="fast")

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Slow(Action):
        does = "effect"
        utility = 0.5

        class Output(ThinkOutput):
            by: str

        async def think(self, ctx, args):
            ctx.set_think_output(by="slow")

        async def run(self, ctx, args):
            await ctx.sleep_ticks(50)

    async def body(ctx):
        play.note((await ctx.execute("effect")).by)

    play.add(caller(play, body), Slow, Fast)
    play.tick(4)
    assert play.log == [(4, "fast"), (4, "returned")]
    assert play.trace("preempt") == [(3, "top/Caller/effect/Slow", "preempt")]


def test_a_plan_can_be_executed(play, leaf, compound):
    async def body(ctx):
        await ctx.execute("both")

    play.add(
        caller(play, body),
        compound("Both", step("a"), step("b"), does="both", quiet=True),
        leaf("A", does="a", run=1, quiet=True),
        leaf("B", does="b", run=2, quiet=True),
    )
    play.tick(4)
    assert play.log == [(4, "returned")]


def test_nested(play, leaf):
    """An executed action executes another: one stack, three deep."""

    class Middle(Action):
        does = "middle"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("inner")
            play.note("middle goes on")
            await ctx.sleep_ticks(1)

    async def body(ctx):
        await ctx.execute("middle")

    agent = play.add(caller(play, body), Middle, leaf("Inner", does="inner", run=2, quiet=True))
    play.tick(1)
    assert agent.snapshot().running == "top/Caller/middle/Middle/inner/Inner"
    play.tick(3)
    assert play.log == [(3, "middle goes on"), (4, "returned")]


def test_one_after_the_other(play, leaf):
    async def body(ctx):
        for _ in range(3):
            await ctx.execute("effect")

    play.add(caller(play, body), leaf("Effect", does="effect", run=1))
    play.tick(4)
    assert [entry for entry in play.log if entry[-1] == "run"] == [
        (1, "Effect", "run"),
        (2, "Effect", "run"),
        (3, "Effect", "run"),
    ]
    assert play.log[-1] == (4, "returned")


# --- nobody can -------------------------------------------------------------------------------------------------------


def failing(play, *actions, ticks=1):
    async def body(ctx):
        try:
            await ctx.execute("effect")
        except ActivityImpossibleError as error:
            play.note(error.activity)

    play.add(caller(play, body), *actions)
    play.tick(ticks)
    return play.log


TEXT = (
    "no action that this agent knows can perform 'effect' now. Catch this error, inject an action that does it, or make it "
    "a step of a compound action, whose thinking waits until one is ready. (at a, top/Caller, tick 1)"
)


@pytest.mark.states("001: execute: (decided) Thinking may take time; if nobody can, the caller is told with an ...")
def test_nobody_knows_it(play):
    async def body(ctx):
        try:
            await ctx.execute("effect")
        except ActivityImpossibleError as error:
            play.note(error.text)

    play.add(caller(play, body))
    play.tick(1)
    assert play.log == [(1, TEXT), (1, "returned")]


async def gives_up(self, ctx, args):
    """Ends without an output."""


async def gives_up_later(self, ctx, args):
    await ctx.sleep_ticks(2)


async def rejects(self, ctx, args):
    ctx.reject("not this")


async def raises(self, ctx, args):
    raise ValueError("no")


def refuses(self, ctx, args):
    ctx.reject("just taken")


@pytest.mark.parametrize(
    ("hooks", "tick"),
    [({"think": gives_up}, 1), ({"think": gives_up_later}, 3), ({"think": rejects}, 1), ({"start": refuses}, 1)],
)
def test_nobody_can(play, hooks, tick):
    log = failing(play, type("Effect", (Action,), {"does": "effect", "utility": 0.5, **hooks}), ticks=tick)
    assert log == [(tick, "effect"), (tick, "returned")]


def test_nobody_can_because_it_raised(play):
    log = failing(play, type("Effect", (Action,), {"does": "effect", "utility": 0.5, "think": raises}))
    assert log == [(1, "effect"), (1, "returned")]
    assert play.faults() == [(1, "top/Caller/effect/Effect", "think", "ValueError: no")]


def test_nobody_can_because_a_filter_forbids_it(play, leaf):
    class Filter(Action):
        does = "effect"
        utility = 0.5

        def should_start_thinking(self, ctx, args):
            return False

    assert failing(play, Filter, leaf("Effect", does="effect", quiet=True)) == [(1, "effect"), (1, "returned")]


def test_nobody_can_because_a_plan_misses_a_step(play, compound):
    """The plan would wait for ever for somebody who can do its step; the caller is told instead."""
    assert failing(play, compound("Plan", step("unknown"), does="effect", quiet=True)) == [
        (1, "effect"),
        (1, "returned"),
    ]


def test_nobody_can_because_the_step_of_a_plan_gives_up_later(play, compound):
    unable = type("Unable", (Action,), {"does": "a", "utility": 0.5, "think": gives_up_later})
    log = failing(play, compound("Plan", step("a"), does="effect", quiet=True), unable, ticks=3)
    assert log == [(3, "effect"), (3, "returned")]


def test_who_still_thinks_is_waited_for(play, leaf):
    unable = type("Unable", (Action,), {"does": "effect", "utility": 0.9, "think": gives_up})
    assert failing(play, unable, leaf("Late", does="effect", think=4, quiet=True), ticks=6) == [(6, "returned")]


def test_uncaught_it_aborts_the_plan_with_its_cause(play):
    async def body(ctx):
        await ctx.execute("effect")

    agent = play.add(caller(play, body))
    play.tick(1)
    assert play.log == [(1, "ActivityImpossibleError"), (1, "Caller", "stop")]
    assert agent.snapshot().abort_reason.startswith(
        "run raised ActivityImpossibleError: [ART304] no action that this agent"
    )
    assert len(play.faults()) == 1


def test_arguments_that_do_not_fit(play):
    class Effect(Action):
        does = "effect"
        utility = 0.5

        class Args(ActionArgs):
            name: str

    async def body(ctx):
        try:
            await ctx.execute("effect", name=5)
        except ArgumentError as error:
            play.note(error.text)

    play.add(caller(play, body), Effect)
    play.tick(1)
    assert play.log == [(1, "activity 'effect', argument 'name': takes str, not int 5."), (1, "returned")]


def test_it_works_only_in_run(play):
    class Wrong(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            try:
                await ctx.execute("effect")
            except WrongStateError as error:
                play.note(error.text)

    play.add(Wrong)
    play.tick(1)
    assert play.log == [
        (1, "execute cannot be called while the action is thinking. It works only in 'run'; use a step otherwise.")
    ]


def test_a_second_one_at_the_same_time_is_an_error(play, leaf):
    """One action does one thing; two at once would be two leaves."""
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        await ctx.execute("effect")

    class Other(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await contexts[0].execute("effect")
            except WrongStateError as error:
                play.note(error.text)

    play.add(caller(play, body), Other)
    play.tick(1)
    assert play.log == [
        (1, "execute cannot be called while the action executes 'effect'. Await one activity before the next."),
        (1, "returned"),
    ]


# --- interrupted ------------------------------------------------------------------------------------------------------


def test_preempted_while_executing(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    play.add(
        caller(play, body, utility=0.3), leaf("Effect", does="effect", run=50), leaf("Urgent", 0.9, think=3, run=9)
    )
    play.tick(4)
    assert play.log[-8:] == [
        (4, "Effect", "run ends"),
        (4, "Effect", "stop"),
        (4, "Cancelled"),
        (4, "Caller", "stop"),
        (4, "Urgent", "start"),
        (4, "Urgent", "stop_thinking"),
        (4, "Urgent", "think ends"),
        (4, "Urgent", "run"),
    ]


def test_preempted_while_the_executed_activity_thinks(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    play.add(
        caller(play, body, utility=0.3),
        leaf("Effect", does="effect", think=50),
        leaf("Urgent", 0.9, think=3, run=9, quiet=True),
    )
    play.tick(4)
    assert play.log == [
        (1, "Effect", "think"),
        (4, "Effect", "stop_thinking"),
        (4, "Effect", "think ends"),
        (4, "Cancelled"),
        (4, "Caller", "stop"),
    ]


def test_preempted_with_clean_up_inside(play, leaf):
    """The inner one cleans up for three ticks; only then the outer one hears of it."""

    Careful = cleaning(play, 3, stop=lambda self, ctx, args: play.note("inner stop"))

    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body, utility=0.3), Careful, leaf("Urgent", 0.9, think=3, run=9, quiet=True))
    play.tick(7)
    assert play.log == [(7, "clean"), (7, "inner stop"), (7, "Cancelled"), (7, "Caller", "stop")]
    assert play.trace("start")[-1] == (7, "top/Urgent", "start")


def test_aborted_from_inside(play):
    class Breaks(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.abort("it is gone")

        def stop(self, ctx, args):
            play.note("inner stop")

    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body), Breaks)
    play.tick(2)
    assert play.log == [(2, "inner stop"), (2, "Cancelled"), (2, "Caller", "stop")]
    assert play.details("abort") == [(2, "top/Caller/effect/Breaks", "abort", {"reason": "it is gone"})]


def test_an_exception_inside_is_an_abort_not_the_callers_exception(play):
    class Breaks(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            raise ValueError("broken")

    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body), Breaks)
    play.tick(1)
    assert play.log == [(1, "Cancelled"), (1, "Caller", "stop")]
    assert play.faults() == [(1, "top/Caller/effect/Breaks", "run", "ValueError: broken")]


def test_a_deadline_of_the_callers_own_around_it(play, leaf):
    """The executed activity is unwound, inside out, before the caller goes on behind its scope; no abort."""

    async def body(ctx):
        with move_on_after(0.15) as scope:
            await ctx.execute("effect")
        play.note("moved on", scope.cancelled_caught)
        await ctx.execute("other")

    play.add(caller(play, body), leaf("Effect", does="effect", run=50), leaf("Other", does="other", run=1))
    play.tick(5)
    assert [entry for entry in play.log if entry[-1] != "stop_thinking"] == [
        (1, "Effect", "start"),
        (1, "Effect", "run"),
        (4, "Effect", "run ends"),
        (4, "Effect", "stop"),
        (4, "moved on", True),
        (4, "Other", "start"),
        (4, "Other", "run"),
        (5, "Other", "run ends"),
        (5, "Other", "stop"),
        (5, "returned"),
    ]
    assert play.trace("abort") == []


def test_a_deadline_while_it_still_thinks(play, leaf):
    async def body(ctx):
        with move_on_after(0.15):
            await ctx.execute("effect")
        play.note("moved on")

    play.add(caller(play, body), leaf("Effect", does="effect", think=50))
    play.tick(4)
    assert play.log == [
        (1, "Effect", "think"),
        (4, "Effect", "stop_thinking"),
        (4, "moved on"),
        (4, "returned"),
        (4, "Effect", "think ends"),
    ]


def test_a_deadline_with_clean_up_inside(play):
    Careful = cleaning(play, 3, stop=lambda self, ctx, args: play.note("inner stop"))

    async def body(ctx):
        with move_on_after(0.1):
            await ctx.execute("effect")
        play.note("moved on")

    play.add(caller(play, body), Careful)
    play.tick(6)
    assert play.log == [(6, "clean"), (6, "inner stop"), (6, "moved on"), (6, "returned")]


def test_a_deadline_during_a_preemption_does_not_let_the_caller_escape(play, leaf):
    """The plan is being preempted, and the inner one still cleans up, when the caller's own deadline comes."""

    Careful = cleaning(play, 5, stop=lambda self, ctx, args: play.note("inner stop"))

    async def body(ctx):
        with move_on_after(0.2):
            await ctx.execute("effect")
        play.note("escaped")
        await ctx.sleep_ticks(1)

    play.add(caller(play, body, utility=0.3), Careful, leaf("Urgent", 0.9, think=2, run=9, quiet=True))
    play.tick(9)
    assert [entry for entry in play.log if entry[1] != "escaped"] == [
        (8, "clean"),
        (8, "inner stop"),
        (8, "Cancelled"),
        (8, "Caller", "stop"),
    ]
    assert play.trace("start")[-1] == (8, "top/Urgent", "start")


def test_two_deadlines_around_nested_activities(play):
    """The inner caller gives up; while its activity cleans up, the outer caller gives up too. Nobody waits for ever."""

    Careful = cleaning(play, 4, does="inner")

    class Middle(Action):
        does = "middle"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                with move_on_after(0.1):
                    await ctx.execute("inner")
                play.note("middle went on")
                await ctx.sleep(100)
            finally:
                play.note("middle ends")

        def stop(self, ctx, args):
            play.note("middle stop")

    async def body(ctx):
        with move_on_after(0.2):
            await ctx.execute("middle")
        play.note("moved on")

    play.add(caller(play, body), Middle, Careful)
    play.tick(7)
    assert play.log == [(7, "clean"), (7, "middle ends"), (7, "middle stop"), (7, "moved on"), (7, "returned")]


def test_cancelled_from_outside_while_executing(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    agent = play.add(caller(play, body), leaf("Effect", does="effect", run=50, quiet=True))
    play.tick(2)
    agent.planner.execution.runs[0].running.stop("by hand")
    play.tick(1)
    assert play.log == [(3, "Cancelled"), (3, "Caller", "stop")]
    assert play.details("abort") == [(3, "top/Caller", "abort", {"reason": "cancelled from outside"})]


def test_a_loop_of_activities_that_take_no_time_is_found(play, idle, monkeypatch):
    """It is the author's endless loop; the tick ends all the same, and the loop's plan is aborted."""
    monkeypatch.setattr("agentrt.kernel.kernel.patience", lambda self: 100)

    class Effect(Action):
        does = "effect"
        utility = 0.5

    async def body(ctx):
        while True:
            await ctx.execute("effect")

    play.add(caller(play, body), Effect)
    other = play.add(type("Other", (idle,), {}), name="other")
    play.sim.runtime.kernel.livelock_steps = 200
    play.tick(2)
    assert other.is_alive
    assert {entry[1] for entry in play.log} >= {"LivelockError"}
    assert play.trace("abort")[0] == (1, "top/Caller", "abort")
    assert play.faults()[0][3].startswith("LivelockError: [ART302]")


def test_the_frame_is_in_the_snapshot_while_it_lasts(play, leaf):
    async def body(ctx):
        await ctx.execute("effect")

    agent = play.add(caller(play, body), leaf("Effect", does="effect", run=3, quiet=True))
    play.tick(2)
    [unit] = agent.snapshot().plan.units
    [frame] = unit.frames
    assert (frame.activity, frame.path, frame.state) == ("effect", "top/Caller/effect", "running")
    play.tick(3)
    [unit] = agent.snapshot().plan.units
    assert unit.frames == ()


def test_an_event_from_the_world_reaches_both(play, leaf):
    """The inner one waits for the world; nothing of it is polled."""
    done = Event()

    class Effect(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            await done.wait()

    async def body(ctx):
        await ctx.execute("effect")

    play.add(caller(play, body), Effect)
    play.tick(5)
    done.set()
    play.tick(1)
    assert play.log == [(6, "returned")]


def test_a_compound_cannot_execute_but_its_leaf_can(play, leaf):
    class Run(Action):
        does = "run"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("effect")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("run"), step("effect")]

    play.add(Plan, Run, leaf("Effect", does="effect", run=1, quiet=True))
    play.tick(3)
    assert play.trace("run")[:4] == [
        (1, "top/Plan", "run"),
        (1, "top/Plan/run/Run", "run"),
        (1, "top/Plan/run/Run/effect/Effect", "run"),
        (2, "top/Plan/effect/Effect", "run"),
    ]


def test_a_loop_that_executes_without_end_is_ended_however_many_others_there_are():
    """The kernel's guard has the more patience the more strands there are; each of these steps is a dear one."""

    class Nothing(Action):
        does = "nothing"
        utility = 1.0

        async def run(self, ctx, args):
            pass

    class Loop(Action):
        does = "top"
        utility = 0.5
        counts = []

        async def run(self, ctx, args):
            self.counts.append(0)
            while True:
                try:
                    await ctx.execute("nothing")
                except Exception:
                    continue  # as careless as can be
                self.counts[-1] += 1

    class Idle(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1000)

    runtime = Runtime(host="plain")
    faults = []
    runtime.on_fault(faults.append)
    looping = runtime.add(Agent(Entity("h"), name="looping", actions=[Loop, Nothing], top="top"))
    for _ in range(300):
        runtime.add(Agent(Entity("h"), actions=[Idle], top="top"))
    runtime.kernel.livelock_steps = 100  # long before the guard begins to count
    runtime.step()
    assert [type(one.error).__name__ for one in faults] == ["LivelockError"]
    assert 0 < Loop.counts[0] <= MAX_EXECUTED * runtime.kernel.livelock_steps
    runtime.step()
    assert len(Loop.counts) == 2  # its plan was aborted, and made anew
    assert looping.is_alive
    runtime.close()


def test_many_activities_may_be_executed_in_a_tick(play):
    class Nothing(Action):
        does = "nothing"
        utility = 1.0

        async def run(self, ctx, args):
            pass

    class Often(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            for _ in range(1500):
                await ctx.execute("nothing")
            play.note("done")
            await ctx.sleep_ticks(100)

    play.add(Often, Nothing)
    play.tick()
    assert play.log == [(1, "done")]


def test_who_has_failed_and_stands_still_has_nothing_run_for_it(play, leaf):
    """It is over for who awaited it, though he hears of it later: what becomes possible meanwhile is not begun."""
    held = []

    async def body(ctx):
        held.append(Pausable(ctx.execute("effect")))
        with pytest.raises(ActivityImpossibleError):
            await held[0]

    class Doubtful(Action):
        does = "effect"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)  # and finds nothing

    agent = play.add(caller(play, body), Doubtful)
    play.tick(2)
    held[0].hold()  # as somebody has a strategy stand still
    play.tick(2)
    agent.inject(leaf("Effect", does="effect", run=2))
    play.tick(2)
    frame = agent.planner.execution.root.active.running_child()
    assert (play.log, frame.active.path()) == ([], "top/Caller/effect/Effect")
    held[0].go_on()
    play.tick(2)
    assert play.log == [(7, "Effect", "stop_thinking"), (7, "returned")]
    assert agent.planner.busy_frames == 1
