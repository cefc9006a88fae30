"""Thinking: all actions of an activity at once, the round of immediate answers, who is ready later, and how it ends."""

from __future__ import annotations

import pytest

from agentrt import Action, ActionArgs, CancelScope, CompoundAction, Event, Signal, ThinkOutput, step
from agentrt.errors import ArgumentError, WrongStateError


@pytest.mark.states(
    "001: Overview: Many plans are considered at a time, and one of them, the best that is ready, is executed",
)
@pytest.mark.states("001: Making plans: All actions of an activity are asked to think together")
def test_all_actions_think_at_once_and_the_first_answers_make_a_round(play, leaf):
    """A is slow, B and C answer at once: the better of those two runs, and A goes on thinking if it could beat it."""
    play.add(leaf("A", 0.9, think=2), leaf("B", 0.3, think=0), leaf("C", 0.5, think=0, run=9))
    play.tick(3)
    assert play.trace() == [
        (1, "top/A", "think"),
        (1, "top/B", "think"),
        (1, "top/C", "think"),
        (1, "top/B", "ready"),
        (1, "top/C", "ready"),
        (1, "top", "elect"),
        (1, "top/C", "start"),
        (1, "top/C", "stop_thinking"),
        (1, "top/B", "stop_thinking"),
        (1, "top/C", "run"),
        (3, "top/A", "ready"),
        (3, "top/C", "preempt"),
        (3, "top/C", "stop"),
        (3, "top", "elect"),
        (3, "top/A", "start"),
        (3, "top/A", "stop_thinking"),
        (3, "top/A", "run"),
    ]
    assert play.details("elect") == [
        (1, "top", "elect", {"action": "C", "utility": 0.5, "ready": "B 0.3, C 0.5"}),
        (3, "top", "elect", {"action": "A", "utility": 0.9, "ready": "A 0.9"}),
    ]


@pytest.mark.states("001: Overview, Leaf action: A leaf action is a run of its own")
@pytest.mark.states("001: stop_thinking: For the elected one it comes after start")
@pytest.mark.states("001: start: start comes when it is elected")
@pytest.mark.states("001: stop: When it has finished")
def test_the_hooks_come_in_the_order_of_the_seed(play, leaf):
    """start, then stop_thinking; the think's own finally blocks end before its run begins."""
    play.add(leaf("A", think=1, run=2))
    play.tick(4)
    assert play.log == [
        (1, "A", "think"),
        (2, "A", "start"),
        (2, "A", "stop_thinking"),
        (2, "A", "think ends"),
        (2, "A", "run"),
        (4, "A", "run ends"),
        (4, "A", "stop"),
        (4, "A", "think"),
    ]


@pytest.mark.states("001: start_thinking: Ready only with set_think_output, or at once without a think")
def test_an_action_without_think_is_ready_at_once_and_its_output_is_its_arguments(play):
    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            subject: str

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            play.note(await ctx.execute("use", subject="cow"))
            await ctx.sleep(100)

    play.add(Top, Use)
    play.tick(3)
    [(tick, output)] = play.log
    assert (tick, output.subject) == (2, "cow")


@pytest.mark.states("001: Comparing plans: The highest utility wins, locally for each activity")
def test_nothing_is_elected_before_the_round_is_over(play, leaf):
    """The last to answer at once is as good a candidate as the first."""
    play.add(leaf("Early", 0.4, think=0), leaf("Slow", 0.6, think=9), leaf("Late", 0.5, think=0))
    play.tick(1)
    assert play.trace("elect", "start", "run") == [
        (1, "top", "elect"),
        (1, "top/Late", "start"),
        (1, "top/Late", "run"),
    ]


@pytest.mark.states(
    "001: Comparing plans: (decided) It is elected at once, that is when all immediate answers of the round are "
    "there, in the same tick",
)
def test_a_compound_belongs_to_the_round_when_all_its_steps_answer_at_once(play, leaf, compound):
    deep = compound("Deep", step("b"), does="a", utility=0.9)
    play.add(
        leaf("Simple", 0.5),
        compound("Wide", step("a"), step("c"), utility=0.7),
        deep,
        leaf("B", does="b", think=0),
        leaf("C", does="c", think=0),
    )
    play.tick(1)
    assert play.details("elect")[-1] == (
        1,
        "top",
        "elect",
        {"action": "Wide", "utility": 0.7, "ready": "Simple 0.5, Wide 0.7"},
    )
    assert play.trace("start", "preempt")[0] == (1, "top/Wide", "start")


@pytest.mark.states("001: Comparing plans: (decided) It is elected at once, that is when all immediate answers of ...")
def test_a_compound_whose_step_waits_does_not_hold_up_the_round(play, leaf, compound):
    play.add(leaf("Simple", 0.5, run=9), compound("Slow", step("a"), utility=0.7), leaf("A", does="a", think=3))
    play.tick(4)
    assert play.trace("elect", "preempt") == [
        (1, "top", "elect"),
        (4, "top/Slow/a", "elect"),
        (4, "top/Simple", "preempt"),
        (4, "top", "elect"),
    ]


@pytest.mark.states("001: Making plans: An action may become ready later")
def test_nothing_ready_means_waiting_for_whoever_is_ready_first(play, leaf):
    play.add(leaf("A", 0.9, think=3), leaf("B", 0.2, think=2, run=9))
    play.tick(4)
    assert play.trace("elect", "start", "stop") == [
        (3, "top", "elect"),
        (3, "top/B", "start"),
        (4, "top/B", "stop"),
        (4, "top", "elect"),
        (4, "top/A", "start"),
    ]


@pytest.mark.states("001: Making plans: An action is not asked again before its branch has ended or was aborted")
@pytest.mark.states(
    "001: Making plans: (decided) A think that ends without an output, and with nothing open that may answer, means: "
    "not possible now",
)
@pytest.mark.states("001: start_thinking: Ready only with set_think_output, or at once without a think ...")
def test_thinking_that_ends_without_an_output_means_not_now(play, idle):
    """The branch has to be thought again before the action is asked again; its thinking is over in every respect."""
    signal = Signal()

    class Never(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            play.note("think")
            ctx.listen(signal, lambda _: play.note("heard")).close()

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    agent = play.add(Never, idle)
    play.tick(20)
    signal.emit()
    assert play.log == [(1, "think"), (1, "stop_thinking")]
    assert play.trace()[:3] == [(1, "top/Never", "think"), (1, "top/Idle", "ready"), (1, "top/Never", "stop_thinking")]
    assert agent.snapshot().plan.units[0].state == "impossible"


@pytest.mark.states("001: Overview, Activity: An agent tries all the time to perform one root activity")
@pytest.mark.states("001: Making plans: It is asked again then")
def test_it_is_asked_again_when_the_branch_thinks_again(play):
    class Later(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            play.note("think")
            if ctx.clock.tick > 5:
                ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    class Short(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    play.add(Later, Short)
    play.tick(8)
    assert play.log == [(1, "think"), (4, "think"), (7, "think")]
    assert play.trace("run") == [(1, "top/Short", "run"), (4, "top/Short", "run"), (7, "top/Later", "run")]


@pytest.mark.states("001: start_thinking: The output may come at once or as the result of an event")
@pytest.mark.states("001: clear_think_output: clear_think_output takes it back, and the action thinks on")
def test_output_can_be_taken_back_and_given_again(play, idle):
    """Whatever is ready less than a tick was never a candidate, for nobody looked."""
    gate = Event()

    class Moody(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.set_think_output()
            ctx.clear_think_output()
            ctx.clear_think_output()
            await gate.wait()
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    play.add(Moody, idle)
    play.tick(3)
    gate.set()
    play.tick(1)
    assert play.trace() == [
        (1, "top/Moody", "think"),
        (1, "top/Idle", "ready"),
        (1, "top/Moody", "ready"),
        (1, "top/Moody", "unready"),
        (1, "top", "elect"),
        (1, "top/Idle", "start"),
        (1, "top/Idle", "stop_thinking"),
        (1, "top/Idle", "run"),
        (4, "top/Moody", "ready"),
        (4, "top/Idle", "preempt"),
        (4, "top/Idle", "stop"),
        (4, "top", "elect"),
        (4, "top/Moody", "start"),
        (4, "top/Moody", "stop_thinking"),
        (4, "top/Moody", "run"),
    ]


def test_ready_and_ended_stays_ready(play, leaf):
    """A think may return after its output; the action stays a candidate."""

    class Quick(Action):
        does = "step"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.set_think_output()

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    class Both(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("step"), step("slow")]

    play.add(Both, Quick, leaf("Slow", does="slow", think=4, quiet=True))
    play.tick(5)
    assert play.log == [(5, "stop_thinking")]
    assert play.trace("start") == [
        (5, "top/Both", "start"),
        (5, "top/Both/step/Quick", "start"),
        (5, "top/Both/slow/Slow", "start"),
    ]


@pytest.mark.states("001: Making plans: A thinking action may listen to the world and change its answer")
@pytest.mark.states("001: start_thinking: The output may come at once or as the result of an event ...")
def test_a_listener_may_answer_for_the_think(play, idle):
    """The seed's own pattern: listen while thinking, and be ready in the callback."""
    signal = Signal()

    class Pose(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.listen(signal, lambda _: ctx.set_think_output())
            await Signal().wait()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    play.add(Pose, idle)
    play.tick(3)
    signal.emit()
    play.tick(1)
    assert play.trace("ready", "run") == [
        (1, "top/Idle", "ready"),
        (1, "top/Idle", "run"),
        (3, "top/Pose", "ready"),
        (4, "top/Pose", "run"),
    ]
    assert repr(signal) == "<Signal: 0 waiting, 0 connected>"


@pytest.mark.states("001: stop_thinking: Listeners can be closed there. (ours) What ctx.listen opened is closed ...")
def test_what_was_opened_while_thinking_is_closed_when_it_stops(play, leaf):
    signal, other = Signal(), Signal()

    class Watch(Action):
        does = "top"
        utility = 0.3

        async def think(self, ctx, args):
            ctx.listen(signal, lambda _: None)
            ctx.set_think_output()
            with CancelScope(5):
                await other.wait()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    play.add(Watch, leaf("Better", 0.9, think=2, quiet=True))
    play.tick(2)
    assert (repr(signal), repr(other)) == ("<Signal: 0 waiting, 0 connected>", "<Signal: 0 waiting, 0 connected>")


@pytest.mark.states("001: stop_thinking: It comes too when a better one was elected")
def test_a_loser_that_is_stopped_runs_its_finally_blocks(play, leaf):
    play.add(leaf("Loser", 0.2, think=50), leaf("Winner", 0.8, think=3, run=9))
    play.tick(4)
    assert play.log == [
        (1, "Loser", "think"),
        (1, "Winner", "think"),
        (4, "Winner", "start"),
        (4, "Winner", "stop_thinking"),
        (4, "Loser", "stop_thinking"),
        (4, "Winner", "think ends"),
        (4, "Loser", "think ends"),
        (4, "Winner", "run"),
    ]


# --- misuse -----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: set_think_output: It is for thinking only. (decided) Ours may be repeated while ready: the output is "
    "replaced",
)
def test_set_think_output_is_for_thinking(play):
    class Wrong(Action):
        does = "top"
        utility = 0.5

        def start(self, ctx, args):
            for method in (ctx.set_think_output, ctx.clear_think_output):
                with pytest.raises(WrongStateError) as info:
                    method()
                play.note(info.value.text)

        async def run(self, ctx, args):
            with pytest.raises(WrongStateError) as info:
                ctx.set_think_output()
            play.note(info.value.text)
            await ctx.sleep(100)

    play.add(Wrong)
    play.tick(1)
    assert play.log == [
        (
            1,
            "set_think_output cannot be called while the action is started. Call it in 'think', before the action is run.",
        ),
        (
            1,
            "clear_think_output cannot be called while the action is started. Call ctx.abort(reason) if it cannot go on.",
        ),
        (
            1,
            "set_think_output cannot be called while the action is running. Call it in 'think', before the action is run.",
        ),
    ]


@pytest.mark.states("001: Leaf action, Metadata: think_output declares what set_think_output takes")
@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {},
            "activity 'top (think output)', argument 'path': is missing. Give it, or declare a default for it in {output}.",
        ),
        ({"path": 5}, "activity 'top (think output)', argument 'path': takes list, not int 5."),
        (
            {"path": [], "pth": 1},
            "activity 'top (think output)', argument 'pth': is not declared. Did you mean 'path'? Declared: path.",
        ),
    ],
)
def test_an_output_that_does_not_fit_disables_the_action(play, idle, fields, text):
    class Wrong(Action):
        does = "top"
        utility = 0.9

        class Output(ThinkOutput):
            path: list

        async def think(self, ctx, args):
            ctx.set_think_output(**fields)

    play.add(Wrong, idle)
    play.tick(3)
    assert play.trace("disabled", "run") == [(1, "top/Wrong", "disabled"), (1, "top/Idle", "run")]
    assert play.faults() == [
        (1, "top/Wrong", "think", f"ArgumentError: [ART201] {text.format(output=Wrong.Output.__qualname__)}")
    ]


@pytest.mark.states("001: Leaf action, Metadata: Undeclared output is an error")
def test_an_output_that_was_not_declared(play, idle):
    class Wrong(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            with pytest.raises(ArgumentError) as info:
                ctx.set_think_output(path=[])
            play.note(info.value.text)

    play.add(Wrong, idle)
    play.tick(1)
    assert play.log == [
        (
            1,
            f"activity 'top', argument 'path': is given to set_think_output by {Wrong.spec.subject}, which declares no "
            "Output. Add a nested class Output(ThinkOutput) with it.",
        )
    ]


# --- filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: should_start_thinking: One that says no blocks all actions of the activity")
def test_one_filter_that_says_no_blocks_all_actions_of_the_activity(play, leaf, compound, idle):
    """The carpenter's example: the general action is blocked when the filter does not like the arguments."""

    class Filter(Action):
        does = "fabricate"
        utility = 0.1

        class Args(ActionArgs):
            material: str

        def should_start_thinking(self, ctx, args):
            play.note("asked", args.material)
            return args.material == "wood"

        async def think(self, ctx, args):
            """Never possible itself."""

    class Fabricate(Action):
        does = "fabricate"
        utility = 0.5
        Args = Filter.Args

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    play.add(
        compound("Stone", step("fabricate", material="stone"), utility=0.9),
        compound("Wood", step("fabricate", material="wood"), utility=0.5),
        Fabricate,
        Filter,
        idle,
    )
    play.tick(1)
    assert [entry[1:] for entry in play.log][:2] == [("asked", "stone"), ("asked", "wood")]
    assert play.trace("blocked", "run") == [
        (1, "top/Stone/fabricate/Filter", "blocked"),
        (1, "top/Wood", "run"),
        (1, "top/Wood/fabricate/Fabricate", "run"),
    ]


def test_a_filter_sees_the_expected_state(play, compound, idle):
    class Move(Action):
        does = "move"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.CURRENT.location = (9, 9)
            ctx.set_think_output()

    class Near(Action):
        does = "use"
        utility = 0.5

        def should_start_thinking(self, ctx, args):
            play.note(ctx.CURRENT.location)
            return True

    play.add(compound("Go", step("move"), step("use"), quiet=True), Move, Near, idle)
    play.tick(1)
    assert play.log[0] == (1, (9, 9))


def test_a_blocked_root_waits_for_new_knowledge(play, leaf):
    class Closed(Action):
        does = "top"
        utility = 0.5

        def should_start_thinking(self, ctx, args):
            return False

    agent = play.add(leaf("A", quiet=True), Closed)
    play.tick(5)
    assert play.trace() == [(1, "top/Closed", "blocked")]
    agent.inject(leaf("B", 0.9, quiet=True))
    play.tick(1)
    assert play.trace(since=6)[1:] == [(6, "top/Closed", "blocked")]
