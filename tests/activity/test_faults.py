"""Exceptions in every hook: what becomes of the action, what is reported, and that it is reported once.

In each test the hook raises ``ValueError("broken")`` and there is an action that could be run instead.
"""

from __future__ import annotations

import asyncio

import pytest

from agentrt import ARGS, CALL, PREV, Action, ActionArgs, CompoundAction, Entity, Signal, ThinkOutput, output, step
from agentrt.errors import DefinitionError

ERROR = "ValueError: broken"


def broken(*_args, **_kwargs):
    raise ValueError("broken")


async def broken_coroutine(self, ctx, args):
    raise ValueError("broken")


def better(**hooks):
    """An action that would win, with such hooks."""
    return type("Broken", (Action,), {"does": "top", "utility": 0.9, **hooks})


def outcome(play, agent):
    return [(unit.action, unit.state) for unit in agent.snapshot().plan.units]


def test_in_think(play, idle):
    """Out until the branch thinks again; the others are elected."""
    agent = play.add(better(think=broken_coroutine), idle)
    play.tick(3)
    assert play.trace()[:5] == [
        (1, "top/Broken", "think"),
        (1, "top/Idle", "ready"),
        (1, "top/Broken", "disabled"),
        (1, "top/Broken", "fault"),
        (1, "top/Broken", "stop_thinking"),
    ]
    assert outcome(play, agent) == [("Broken", "impossible"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Broken", "think", ERROR)]


def test_in_think_after_it_was_ready(play, idle):
    async def think(self, ctx, args):
        ctx.set_think_output()
        raise ValueError("broken")

    agent = play.add(better(think=think), idle)
    play.tick(2)
    assert outcome(play, agent) == [("Broken", "impossible"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Broken", "think", ERROR)]


def test_in_think_later(play, idle):
    async def think(self, ctx, args):
        await ctx.sleep_ticks(3)
        raise ValueError("broken")

    agent = play.add(better(think=think), idle)
    play.tick(5)
    assert outcome(play, agent) == [("Broken", "impossible"), ("Idle", "running")]
    assert play.faults() == [(4, "top/Broken", "think", ERROR)]


def test_in_thinks_finally_blocks(play, leaf):
    """Thinking was over already; it is reported, and that is all."""

    async def think(self, ctx, args):
        try:
            await ctx.sleep(100)
        finally:
            raise ValueError("broken")

    play.add(better(think=think, utility=0.3), leaf("Good", 0.5, think=2, run=9, quiet=True))
    play.tick(4)
    assert play.trace("run") == [(3, "top/Good", "run")]
    [(tick, _, _, error)] = play.faults()
    assert (tick, error) == (3, ERROR)


def test_it_is_tried_again_when_the_branch_thinks_again_and_logged_once(play, leaf, caplog):
    play.add(better(think=broken_coroutine), leaf("Short", 0.1, run=2, quiet=True))
    play.tick(7)
    assert play.trace("disabled") == [
        (1, "top/Broken", "disabled"),
        (3, "top/Broken", "disabled"),
        (5, "top/Broken", "disabled"),
        (7, "top/Broken", "disabled"),
    ]
    assert len(play.faults()) == 4
    assert len([record for record in caplog.records if "think raised ValueError" in record.getMessage()]) == 1


def test_in_start(play, idle):
    play.add(better(start=broken, stop=lambda self, ctx, args: play.note("stop")))
    play.tick(1)
    assert play.log == [(1, "stop")]
    assert play.details("abort") == [(1, "top/Broken", "abort", {"reason": "start raised ValueError: broken"})]
    assert play.faults() == [(1, "top/Broken", "start", ERROR)]


def test_in_run(play):
    play.add(better(run=broken_coroutine, stop=lambda self, ctx, args: play.note("stop")))
    play.tick(1)
    assert play.log == [(1, "stop")]
    assert play.details("abort") == [(1, "top/Broken", "abort", {"reason": "run raised ValueError: broken"})]
    assert play.faults() == [(1, "top/Broken", "run", ERROR)]


def test_in_stop(play, leaf, compound):
    """The other stops still come, and the plan goes on as if it had not."""
    play.add(
        compound("Plan", step("broken"), step("good")),
        type("Broken", (Action,), {"does": "broken", "utility": 0.5, "stop": broken}),
        leaf("Good", does="good"),
    )
    play.tick(2)
    play.close()
    stops = [entry for entry in play.log if entry[-1] == "stop"]
    assert stops == [(2, "Good", "stop"), (2, "Plan", "stop"), (3, "Good", "stop"), (3, "Plan", "stop")]
    assert play.trace("complete") == [(2, "top", "complete")]
    assert play.faults() == [(tick, "top/Plan/broken/Broken", "stop", ERROR) for tick in (2, 3)]


def test_in_stop_of_one_that_is_preempted(play, leaf):
    async def run(self, ctx, args):
        await ctx.sleep(100)

    play.add(better(utility=0.1, run=run, stop=broken), leaf("Good", 0.5, think=2, run=9, quiet=True))
    play.tick(3)
    assert play.trace("start")[-1] == (3, "top/Good", "start")
    assert play.faults() == [(3, "top/Broken", "stop", ERROR)]


def test_in_stop_thinking(play):
    async def run(self, ctx, args):
        await ctx.sleep(100)

    play.add(better(stop_thinking=broken, run=run))
    play.tick(1)
    assert play.trace("run") == [(1, "top/Broken", "run")]
    assert play.faults() == [(1, "top/Broken", "stop_thinking", ERROR)]


@pytest.mark.states("001: should_start_thinking: (ours) One that raises says no, and is reported")
def test_in_should_start_thinking(play, leaf):
    """A filter that cannot answer keeps its activity out, which is reported; what was asked for has another action."""

    class Plan(CompoundAction):
        does = "top"
        utility = 0.9
        steps = [step("act")]

    agent = play.add(
        Plan,
        better(does="act", should_start_thinking=broken, think=broken_coroutine),
        leaf("Good", does="act", quiet=True),
        leaf("Other", 0.1, run=1, quiet=True),
    )
    play.tick(2)
    assert play.trace("run") == [(1, "top/Other", "run"), (2, "top/Other", "run")]
    assert play.faults() == [(tick, "top/Plan/act/Broken", "should_start_thinking", ERROR) for tick in (1, 2)]
    [broken_one, good] = agent.snapshot().plan.units[0].frames[0].units
    assert broken_one.reason == f"should_start_thinking raised {ERROR}, which keeps the activity out"
    assert good.state == "idle"


@pytest.mark.states("001: should_start_thinking: (ours) One that raises says no, and is reported ...")
@pytest.mark.parametrize("error", [asyncio.CancelledError, GeneratorExit])
def test_a_filter_raises_whatever_it_likes(play, leaf, error):
    def should_start_thinking(self, ctx, args):
        raise error

    agent = play.add(better(should_start_thinking=should_start_thinking), leaf("Good", 0.1, run=9, quiet=True))
    play.tick(1)
    assert play.trace("run") == []
    assert [fault[1:3] for fault in play.faults()] == [("top/Broken", "should_start_thinking")]
    assert agent.is_alive


def test_in_compose_utility(play, leaf):
    """Its own utility counts instead."""

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good")]
        compose_utility = broken

    agent = play.add(Plan, leaf("Good", does="good", run=9, quiet=True))
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == 0.5
    assert {fault[1:] for fault in play.faults()} == {("top/Plan", "compose_utility", ERROR)}


@pytest.mark.parametrize("value", ["high", None, [1]])
def test_compose_utility_that_returns_no_number(play, leaf, value):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good")]

        def compose_utility(self, entity, self_utility, child_utilities, current_activity):
            return value

    agent = play.add(Plan, leaf("Good", does="good", run=9, quiet=True))
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == 0.5
    assert {fault[1:3] for fault in play.faults()} == {("top/Plan", "compose_utility")}


def test_in_a_called_function(play, leaf, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good"), step("bad", value=CALL(broken, PREV))]

    agent = play.add(Plan, leaf("Good", does="good", quiet=True), idle)
    play.tick(1)
    assert outcome(play, agent) == [("Plan", "impossible"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Plan", "step 2 (bad)", ERROR)]


def test_in_a_resolver_of_the_output(play, leaf, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good")]
        output = output(value=CALL(broken, PREV))

    agent = play.add(Plan, leaf("Good", does="good", quiet=True), idle)
    play.tick(1)
    assert outcome(play, agent) == [("Plan", "impossible"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Plan", "output", ERROR)]


def test_in_the_think_of_a_compound(play, leaf, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good")]

        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.sleep_ticks(2)
            raise ValueError("broken")

    agent = play.add(Plan, leaf("Good", does="good", think=9), idle)
    play.tick(3)
    assert outcome(play, agent) == [("Plan", "impossible"), ("Idle", "running")]
    assert play.log == [(1, "Good", "think"), (3, "Good", "stop_thinking"), (3, "Good", "think ends")]
    assert play.faults() == [(3, "top/Plan", "think", ERROR)]


def test_in_the_first_step_of_a_compounds_think_after_its_output(play, leaf, idle):
    """The round must not wait for an answer that will not come."""

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("good")]

        async def think(self, ctx, args):
            ctx.set_think_output()
            raise ValueError("broken")

    agent = play.add(Plan, leaf("Good", does="good"), idle)
    play.tick(2)
    assert outcome(play, agent) == [("Plan", "impossible"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Plan", "think", ERROR)]


@pytest.mark.parametrize("how", ["reject", "lose"])
def test_a_compound_that_goes_in_its_first_step_does_not_hold_up_the_round(play, leaf, idle, how):
    cow = Entity("cow")

    class Plan(CompoundAction):
        does = "sub"
        utility = 0.5
        steps = [step("good")]

        class Args(ActionArgs):
            animal: Entity

        async def think(self, ctx, args):
            ctx.set_think_output()
            if how == "reject":
                ctx.reject("not this")
            cow.destroy()

    class Top(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("sub", animal=cow)]

    play.add(Top, Plan, leaf("Good", does="good", quiet=True), idle)
    play.tick(1)
    assert play.trace("run") == [(1, "top/Idle", "run")]


def test_in_the_constructor(play, idle):
    """The class cannot be made: it is left out, reported, and the others are not concerned."""

    class Broken(Action):
        does = "top"
        utility = 0.9

        def __init__(self):
            raise ValueError("broken")

    agent = play.add(Broken, idle)
    play.tick(2)
    assert outcome(play, agent) == [("Idle", "running")]
    assert play.faults() == [(1, "top/Broken", "__init__", ERROR)]


def test_in_the_constructor_of_a_step(play, idle, compound):
    class Broken(Action):
        does = "step"
        utility = 0.9

        def __init__(self):
            raise ValueError("broken")

    agent = play.add(compound("Plan", step("step"), quiet=True), Broken, idle)
    play.tick(2)
    assert outcome(play, agent) == [("Plan", "thinking"), ("Idle", "running")]
    assert play.faults() == [(1, "top/Plan/step/Broken", "__init__", ERROR)]


def test_a_constructor_that_breaks_while_the_agent_learns(play, idle):
    class Broken(Action):
        does = "top"
        utility = 0.9

        def __init__(self):
            raise ValueError("broken")

    agent = play.add(idle)
    play.tick(1)
    agent.inject(Broken)
    play.tick(2)
    assert outcome(play, agent) == [("Idle", "running")]
    assert play.faults() == [(2, "top/Broken", "__init__", ERROR)]


@pytest.mark.parametrize("hook", ["think", "run", "start", "stop", "stop_thinking", "should_start_thinking"])
def test_a_hook_with_the_wrong_parameters(hook):
    """Found when the class is defined, so that it cannot come up in the middle of a run."""

    async def coroutine(self):
        """Takes nothing."""

    def plain(self):
        """Takes nothing."""

    with pytest.raises(DefinitionError) as caught:
        better(**{hook: coroutine if hook in ("think", "run") else plain})
    assert str(caught.value).endswith(
        f"Broken: {hook} cannot be called: too many positional arguments. Write {hook}(self, ctx, args)."
    )


@pytest.mark.parametrize("state", ["thinking", "running"])
def test_in_a_callback(play, idle, state):
    signal = Signal()

    async def hook(self, ctx, args):
        ctx.listen(signal, broken)
        if state == "thinking":
            ctx.set_utility(0)
            ctx.set_think_output()
        await ctx.sleep(1000)

    hooks = {"think": hook, "utility": (0.0, 1.0)} if state == "thinking" else {"run": hook}
    agent = play.add(better(**hooks), idle)
    play.tick(1)
    signal.emit()  # the emitter does not hear of it
    play.tick(1)
    assert play.faults() == [(1, "top/Broken", "a callback", ERROR)]
    if state == "thinking":
        assert outcome(play, agent) == [("Broken", "impossible"), ("Idle", "running")]
    else:
        assert play.details("abort") == [(1, "top/Broken", "abort", {"reason": "a callback raised ValueError: broken"})]


def test_all_listeners_hear_although_one_raises(play, idle):
    signal = Signal()

    def listener(label, callback):
        async def run(self, ctx, args):
            ctx.listen(signal, callback)
            await ctx.sleep(1000)

        return type(label, (Action,), {"does": "top", "utility": 0.5, "run": run})

    play.add(listener("Bad", broken), name="bad")
    play.add(listener("Good", lambda value: play.note(value)), name="good")
    play.tick(1)
    signal.emit("x")
    play.tick(1)
    assert play.log == [(1, "x")]
    assert len(play.faults()) == 1


def test_every_hook_at_once(play, stage, idle):
    """The worst action there is, for a while; the agent survives it as long as something else can be done."""

    class Worst(Action):
        does = "top"
        utility = (0.1, 0.9)

        class Output(ThinkOutput):
            x: int

        think = broken_coroutine
        stop_thinking = broken
        start = broken
        run = broken_coroutine
        stop = broken

    agent = play.add(Worst, idle)
    play.tick(30)
    assert agent.is_alive
    assert agent.snapshot().running == "top/Idle"
    assert [fault[2] for fault in play.faults()] == ["think", "stop_thinking"]


def test_arguments_are_checked_before_anything_thinks(play, idle):
    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            thing: str

        async def think(self, ctx, args):
            play.note("not reached")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("use", thing=ARGS.number)]

        class Args(ActionArgs):
            number: int = 5

    play.add(Plan, Use, type("Other", (idle,), {"Args": Plan.Args}))
    play.tick(1)
    assert play.log == []
    assert play.faults() == [
        (
            1,
            "top/Plan",
            "step 1 (use)",
            "ArgumentError: [ART201] activity 'use', argument 'thing': takes str, not int 5.",
        )
    ]


def test_a_filter_that_cannot_even_be_had_keeps_its_activity_out(play, leaf):
    class Broken(Action):
        does = "top"
        utility = 0.9

        def should_start_thinking(self, ctx, args):
            return True

    Broken.should_start_thinking = property(broken)
    agent = play.add(Broken, leaf("Other", 0.5))
    play.tick(1)
    assert [(path, error) for _tick, path, _hook, error in play.faults()] == [("top/Broken", ERROR)]
    assert agent.snapshot().plan.units[0].reason.startswith("should_start_thinking raised ValueError: broken")
    assert agent.planner.execution.seldom.aborts == 0
