"""``ctx.spawn``: an execution frame that its action manages by itself; and the nodes above it."""

from __future__ import annotations

from functools import partial

import pytest
from cast import caller

from agentrt import Action, ActionArgs, CompoundAction, Signal, ThinkOutput, move_on_after, step
from agentrt.errors import ActivityImpossibleError, ArgumentError, WrongStateError


class Found(ThinkOutput):
    thing: str


manager = partial(caller, name="Manager", says="done")


def finder(thing, utility, *, after=0, name="Finder", does="find"):
    async def think(self, ctx, args):
        await ctx.sleep_ticks(after)
        ctx.set_think_output(thing=thing)
        await ctx.sleep(1000)

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)

    return type(name, (Action,), {"does": does, "utility": utility, "Output": Found, "think": think, "run": run})


# --- think, run, stop -------------------------------------------------------------------------------------------------


@pytest.mark.states("001: spawn: spawn: a frame that thinks and runs as its caller says")
def test_think_run_stop_one_after_the_other(play, leaf):
    async def body(ctx):
        frame = ctx.spawn("effect")
        play.note(frame.state)
        frame.start_thinking()
        play.note(frame.state)
        await frame.ready()
        play.note(frame.state)
        await ctx.sleep_ticks(2)
        await frame.run()
        play.note(frame.state)
        await ctx.sleep_ticks(1)
        frame.stop()
        play.note(frame.state)

    play.add(manager(play, body), leaf("Effect", does="effect", think=1, run=2))
    play.tick(8)
    assert play.log == [
        (1, "idle"),
        (1, "thinking"),
        (1, "Effect", "think"),
        (2, "ready"),
        (4, "Effect", "start"),
        (4, "Effect", "stop_thinking"),
        (4, "Effect", "think ends"),
        (4, "Effect", "run"),
        (6, "Effect", "run ends"),
        (6, "finished"),
        (7, "Effect", "stop"),
        (7, "idle"),
        (7, "done"),
    ]


def test_what_it_tells(play):
    async def body(ctx):
        frame = ctx.spawn("find")
        frame.start_thinking()
        play.note(frame.activity, frame.path, frame.elected, frame.utility, frame.think_output, repr(frame))
        play.note((await frame.ready()).thing)
        play.note(frame.elected.name, frame.elected.path, frame.utility, frame.think_output.thing)
        await ctx.sleep_ticks(2)
        play.note(frame.elected.name, frame.utility, frame.think_output.thing)
        play.note((await frame.run()).thing)

    play.add(manager(play, body), finder("cow", 0.5), finder("pig", 0.9, after=1, name="Better"))
    play.tick(5)
    assert play.log == [
        (1, "find", "top/Manager/find", None, 0.0, None, "<SpawnedFrame top/Manager/find: thinking>"),
        (1, "cow"),
        (1, "finder", "top/Manager/find/Finder", 0.5, "cow"),
        (3, "better", 0.9, "pig"),
        (5, "pig"),
        (5, "done"),
    ]


def test_one_that_has_just_rejected_gives_no_output(play):
    """Not even before its frame has looked at that."""
    gone, told = Signal(), Signal()

    class Finder(Action):
        does = "find"
        utility = 0.5
        Output = Found

        async def think(self, ctx, args):
            ctx.set_think_output(thing="cow")
            await gone.wait()
            told.emit()
            ctx.reject("it ran away")

    async def body(ctx):
        frame = ctx.spawn("find")
        frame.start_thinking()
        await frame.ready()
        gone.emit()
        await told.wait()
        play.note(frame.elected.name, frame.think_output)
        frame.stop()

    play.add(manager(play, body), Finder)
    play.tick(1)
    assert play.log == [(1, "finder", None), (1, "done")]


def test_run_while_it_thinks_waits_until_it_is_ready(play):
    async def body(ctx):
        frame = ctx.spawn("find")
        frame.start_thinking()
        play.note((await frame.run()).thing)
        frame.stop()

    play.add(manager(play, body), finder("cow", 0.5, after=3))
    play.tick(6)
    assert play.log == [(6, "cow"), (6, "done")]


def test_it_can_be_used_again(play, leaf):
    async def body(ctx):
        frame = ctx.spawn("effect")
        for _ in range(2):
            frame.start_thinking()
            await frame.run()
            frame.stop()

    play.add(manager(play, body), leaf("Effect", does="effect", run=1))
    play.tick(3)
    assert [entry for entry in play.log if entry[-1] in ("run", "stop")] == [
        (1, "Effect", "run"),
        (2, "Effect", "stop"),
        (2, "Effect", "run"),
        (3, "Effect", "stop"),
    ]


def test_several_think_at_a_time_and_the_best_is_run(play):
    """What it is for: an action that compares activities, which otherwise never compete."""

    async def body(ctx):
        frames = [ctx.spawn("find", name=name) for name in ("cow", "pig", "hen")]
        for frame in frames:
            frame.start_thinking()
        for frame in frames:
            await frame.ready()
        best = max(frames, key=lambda frame: frame.utility)
        play.note([frame.path for frame in frames])
        for frame in frames:
            if frame is not best:
                frame.stop()
        play.note((await best.run()).thing)

    class Find(Action):
        does = "find"
        utility = (0.0, 1.0)
        Output = Found

        class Args(ActionArgs):
            name: str

        async def think(self, ctx, args):
            ctx.set_utility({"cow": 0.2, "pig": 0.7, "hen": 0.4}[args.name])
            ctx.set_think_output(thing=args.name)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    play.add(manager(play, body), Find)
    play.tick(2)
    assert play.log == [
        (1, ["top/Manager/find", "top/Manager/find#2", "top/Manager/find#3"]),
        (2, "pig"),
        (2, "done"),
    ]
    assert play.trace("run")[1:] == [(1, "top/Manager/find#2/Find", "run")]


def test_an_argument_of_any_name(play):
    class Effect(Action):
        does = "effect"
        utility = 0.5

        class Args(ActionArgs):
            activity: str
            args: int

        async def run(self, ctx, args):
            play.note(args.activity, args.args)

    async def body(ctx):
        await ctx.execute("effect", {"args": 1}, activity="a")
        frame = ctx.spawn("effect", {"activity": "b"}, args=2)
        frame.start_thinking()
        await frame.run()

    play.add(manager(play, body), Effect)
    play.tick(1)
    assert play.log == [(1, "a", 1), (1, "b", 2), (1, "done")]


# --- nobody can -------------------------------------------------------------------------------------------------------


async def gives_up(self, ctx, args):
    await ctx.sleep_ticks(1)


@pytest.mark.parametrize("method", ["ready", "run"])
@pytest.mark.parametrize("actions", [(), (("Unable", gives_up),)])
def test_nobody_can(play, method, actions):
    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        with pytest.raises(ActivityImpossibleError):
            await getattr(frame, method)()
        play.note(frame.state)

    made = [type(name, (Action,), {"does": "effect", "utility": 0.5, "think": think}) for name, think in actions]
    play.add(manager(play, body), *made)
    play.tick(2)
    tick = 2 if actions else 1
    assert play.log == [(tick, "thinking"), (tick, "done")]


def test_who_learns_it_later_makes_it_ready(play, leaf):
    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        await ctx.sleep_ticks(3)
        await frame.run()

    agent = play.add(manager(play, body))
    play.tick(2)
    agent.inject(leaf("Effect", does="effect", run=1, quiet=True))
    play.tick(3)
    assert play.log == [(5, "done")]


def test_arguments_that_do_not_fit(play):
    class Effect(Action):
        does = "effect"
        utility = 0.5

        class Args(ActionArgs):
            name: str

    async def body(ctx):
        frame = ctx.spawn("effect", name=5)
        with pytest.raises(ArgumentError):
            frame.start_thinking()
        play.note(frame.state)

    agent = play.add(manager(play, body), Effect)
    play.tick(1)
    assert play.log == [(1, "idle"), (1, "done")]
    assert agent.snapshot().plan.units[0].frames == ()


# --- states -----------------------------------------------------------------------------------------------------------

ERRORS = {
    "start_thinking": "SpawnedFrame.start_thinking cannot be called while it is {}. Call stop first.",
    "ready": "SpawnedFrame.ready cannot be called while it is {}. Call start_thinking first.",
    "run": "SpawnedFrame.run cannot be called while it is {}. Call start_thinking first, and run it once.",
}


async def call(frame, method):
    made = getattr(frame, method)()
    return made if made is None or not hasattr(made, "__await__") else await made


@pytest.mark.parametrize(
    ("state", "method"),
    [
        ("idle", "ready"),
        ("idle", "run"),
        ("thinking", "start_thinking"),
        ("ready", "start_thinking"),
        ("finished", "start_thinking"),
        ("finished", "ready"),
        ("finished", "run"),
    ],
)
def test_errors_in_the_wrong_state(play, leaf, state, method):
    async def body(ctx):
        frame = ctx.spawn("effect")
        if state != "idle":
            frame.start_thinking()
        if state in ("ready", "finished"):
            await frame.ready()
        if state == "finished":
            await frame.run()
        assert frame.state == state
        with pytest.raises(WrongStateError) as info:
            await call(frame, method)
        play.note(info.value.text)

    play.add(manager(play, body), leaf("Effect", does="effect", think=0, run=None, quiet=True))
    play.tick(1)
    assert play.log == [(1, ERRORS[method].format(state)), (1, "done")]


def test_stop_of_an_idle_one_is_ignored(play):
    async def body(ctx):
        ctx.spawn("effect").stop()

    play.add(manager(play, body))
    play.tick(1)
    assert play.details("ignored") == [
        (1, "top/Manager", "ignored", {"method": "SpawnedFrame.stop", "state": "running"})
    ]


def test_one_runs_at_a_time(play, leaf):
    frames = []

    async def body(ctx):
        frames.extend(ctx.spawn("effect") for _ in range(2))
        for frame in frames:
            frame.start_thinking()
        await frames[0].run()

    class Effect(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            with pytest.raises(WrongStateError) as info:
                await frames[1].run()
            play.note(info.value.text)

    play.add(manager(play, body), Effect)
    play.tick(1)
    assert play.log[0] == (
        1,
        "SpawnedFrame.run cannot be called while the action executes 'effect'. Await one activity before the next.",
    )


def test_it_runs_only_in_run_and_thinks_only_while_its_action_lives(play):
    frames = []

    class Acts(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            frames.append(ctx.spawn("effect"))
            frames[-1].start_thinking()
            with pytest.raises(WrongStateError) as info:
                await frames[-1].run()
            play.note(info.value.text)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        def stop(self, ctx, args):
            with pytest.raises(WrongStateError) as info:
                frames[-1].start_thinking()
            play.note(info.value.text)

    play.add(Acts)
    play.tick(2)
    with pytest.raises(WrongStateError, match="the thinking or run that spawned it is over. Spawn another one"):
        frames[0].start_thinking()  # its action thinks again, with frames of its own
    assert play.log[:2] == [
        (1, "SpawnedFrame.run cannot be called while its action is thinking. It works only in 'run'."),
        (
            2,
            "SpawnedFrame.start_thinking cannot be called while its action is idle. "
            "Call it in 'think', 'start' or 'run'.",
        ),
    ]


# --- spawned while thinking -------------------------------------------------------------------------------------------


def thinker(play, *, utility=0.5, ready=True, name="Thinker"):
    class Thinker(Action):
        async def think(self, ctx, args):
            self.frame = ctx.spawn("find")
            self.frame.start_thinking()
            if ready:
                play.note("found", (await self.frame.ready()).thing)
                ctx.set_utility(self.frame.utility)
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note("runs", (await self.frame.run()).thing)
            await ctx.sleep(1000)

        def stop(self, ctx, args):
            play.note(name, "stop", self.frame.state)

    return type(name, (Thinker,), {"does": "top", "utility": utility})


def test_it_is_used_in_run_when_its_action_is_elected(play):
    play.add(thinker(play, utility=(0, 1)), finder("cow", 0.4, after=2))
    play.tick(5)
    assert play.log == [(3, "found", "cow"), (5, "runs", "cow")]
    assert play.trace("start") == [(3, "top/Thinker", "start"), (3, "top/Thinker/find/Finder", "start")]


def test_it_stops_with_the_thinking_of_an_action_that_is_not_elected(play, leaf):
    agent = play.add(
        thinker(play, utility=(0, 0.5)), leaf("Best", 0.9, run=50, quiet=True), finder("cow", 0.4, after=5)
    )
    play.tick(2)
    assert play.trace("stop_thinking") == [
        (1, "top/Best", "stop_thinking"),
        (1, "top/Thinker/find/Finder", "stop_thinking"),
        (1, "top/Thinker", "stop_thinking"),
    ]
    assert agent.snapshot().plan.units[0].frames == ()
    assert agent.planner.busy_frames == 1


def test_it_stops_when_its_action_rejects_or_gives_up(play, idle):
    class Rejects(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.spawn("find").start_thinking()
            ctx.reject("no")

    class GivesUp(Action):
        does = "top"
        utility = 0.4

        async def think(self, ctx, args):
            ctx.spawn("find").start_thinking()
            raise TimeoutError

    agent = play.add(Rejects, GivesUp, idle, finder("cow", 0.4, after=5))
    play.tick(2)
    assert agent.planner.busy_frames == 1
    assert [fault[1] for fault in play.faults()] == ["top/GivesUp"]


def test_it_stops_when_its_action_refuses_to_be_started(play, idle):
    class Refuses(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            if ctx.clock.tick == 1:
                ctx.spawn("find").start_thinking()
                ctx.set_think_output()

        def start(self, ctx, args):
            ctx.reject("just taken")

    agent = play.add(Refuses, idle, finder("cow", 0.4, after=5))
    play.tick(3)
    assert agent.planner.busy_frames == 1


def test_a_compound_may_ask_whether_something_is_possible(play, leaf):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("walk"), step("find")]

        async def think(self, ctx, args):
            frame = ctx.spawn("find")
            frame.start_thinking()
            play.note(frame.path, (await frame.ready()).thing)
            ctx.set_think_output()

        def start(self, ctx, args):
            play.note("start")

    agent = play.add(Plan, leaf("Walk", does="walk", run=1, quiet=True), finder("cow", 0.4, after=1))
    play.tick(3)
    assert play.log == [(2, "top/Plan/find#2", "cow"), (3, "start")]
    assert [frame.path for frame in agent.snapshot().plan.units[0].frames] == [
        "top/Plan/walk",
        "top/Plan/find",
        "top/Plan/find#2",
    ]


# --- unwinding --------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: spawn: Its caller is responsible. (decided) What is left of it stops with the action ...")
def test_preempted_inner_first(play, leaf):
    async def body(ctx):
        ready = ctx.spawn("find")
        ready.start_thinking()
        done = ctx.spawn("effect")
        done.start_thinking()
        await done.run()
        runs = ctx.spawn("effect")
        runs.start_thinking()
        await runs.run()

    agent = play.add(
        manager(play, body, utility=0.3),
        finder("cow", 0.4),
        leaf("Effect", does="effect", run=2),
        leaf("Urgent", 0.9, think=3, run=9, quiet=True),
    )
    play.tick(4)
    assert play.trace("stop", "stop_thinking", since=4) == [
        (4, "top/Manager/effect#2/Effect", "stop"),
        (4, "top/Manager/effect/Effect", "stop"),
        (4, "top/Manager/find/Finder", "stop_thinking"),
        (4, "top/Manager", "stop"),
        (4, "top/Urgent", "stop_thinking"),
    ]
    assert play.log[-4:] == [
        (4, "Effect", "stop"),
        (4, "Cancelled"),
        (4, "Effect", "stop"),
        (4, "Manager", "stop"),
    ]
    assert agent.planner.busy_frames == 1


def test_aborted_in_a_spawned_thinking(play):
    class Breaks(Action):
        does = "effect"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.abort("no way")

    async def body(ctx):
        ctx.spawn("effect").start_thinking()
        await ctx.sleep(1000)

    play.add(manager(play, body), Breaks)
    play.tick(3)
    assert play.details("abort") == [(3, "top/Manager/effect/Breaks", "abort", {"reason": "no way"})]
    assert play.log == [(3, "Cancelled"), (3, "Manager", "stop")]


@pytest.mark.states("001: spawn: Its caller is responsible. (decided) What is left of it stops with the action")
def test_what_is_left_when_the_action_is_done_is_stopped_with_it(play, leaf):
    """An effect that lasts until the plan ends, as the stop of a step does."""

    class Acts(Action):
        does = "act"
        utility = 0.5

        async def run(self, ctx, args):
            frame = ctx.spawn("effect")
            frame.start_thinking()
            await frame.run()

        def stop(self, ctx, args):
            play.note("Acts", "stop")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("act"), step("walk")]

    agent = play.add(Plan, Acts, leaf("Effect", does="effect", run=1), leaf("Walk", does="walk", run=2, quiet=True))
    play.tick(4)
    assert play.log[3:6] == [(2, "Effect", "run ends"), (4, "Effect", "stop"), (4, "Acts", "stop")]
    play.close()
    assert agent.planner is None or agent.planner.busy_frames == 0


def test_a_deadline_of_the_callers_own_around_run(play, leaf):
    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        with move_on_after(0.1):
            await frame.run()
        play.note(frame.state)
        frame.start_thinking()
        await frame.run()

    play.add(manager(play, body), leaf("Effect", does="effect", run=5))
    play.tick(8)
    assert [entry for entry in play.log if entry[-1] != "stop_thinking"] == [
        (1, "Effect", "start"),
        (1, "Effect", "run"),
        (3, "Effect", "run ends"),
        (3, "Effect", "stop"),
        (3, "idle"),
        (3, "Effect", "start"),
        (3, "Effect", "run"),
        (8, "Effect", "run ends"),
        (8, "done"),
    ]


@pytest.mark.parametrize("at", [1, 3])
def test_stopped_from_a_callback(play, leaf, at):
    """While it thinks, and while it runs: run returns None in both cases."""
    enough = Signal()

    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        ctx.listen(enough, lambda _: frame.stop())
        play.note(await frame.run())
        play.note(frame.state)

    play.add(manager(play, body), leaf("Effect", does="effect", think=1, run=9))
    play.tick(at)
    enough.emit()
    play.tick(1)
    assert play.log[-3:] == [(at + 1, None), (at + 1, "idle"), (at + 1, "done")]
    assert (at + 1, "Effect", "stop" if at == 3 else "stop_thinking") in play.log


def test_who_waits_for_ready_hears_that_it_was_stopped(play, leaf):
    enough = Signal()

    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        ctx.listen(enough, lambda _: frame.stop())
        with pytest.raises(WrongStateError):
            await frame.ready()

    play.add(manager(play, body), leaf("Effect", does="effect", think=9, quiet=True))
    play.tick(1)
    enough.emit()
    play.tick(1)
    assert play.log == [(2, "done")]


def test_a_better_action_takes_over_in_it(play):
    async def body(ctx):
        frame = ctx.spawn("find")
        frame.start_thinking()
        play.note((await frame.run()).thing)

    play.add(manager(play, body), finder("cow", 0.4), finder("pig", 0.8, after=1, name="Better"))
    play.tick(4)
    assert play.log == [(4, "pig"), (4, "done")]
    assert play.trace("preempt") == [(2, "top/Manager/find/Finder", "preempt")]


def test_a_forgotten_action_of_a_spawned_frame(play, leaf):
    effect = leaf("Effect", does="effect", run=50, quiet=True)

    async def body(ctx):
        frame = ctx.spawn("effect")
        frame.start_thinking()
        await frame.run()

    agent = play.add(manager(play, body))
    injection = agent.inject(effect)
    play.tick(2)
    injection.revoke()
    play.tick(1)
    assert play.details("abort")[0][3] == {"reason": "the agent forgot the action 'effect' that it was running"}
    assert play.log == [(3, "Cancelled"), (3, "Manager", "stop")]


# --- nodes ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: get_parent_node: get_parent_node: activity, action, and so on up to the root")
def test_the_nodes_above_an_action(play, compound):
    told = []

    class Walk(Action):
        does = "walk"
        utility = 0.7

        async def run(self, ctx, args):
            node = ctx.get_parent_node()
            self.node = node
            while node is not None:
                told.append((node.name, node.kind, node.path, node.state, node.utility))
                node = node.get_parent_node()
            play.note(repr(self.node))
            await ctx.sleep(1000)

    play.add(compound("Plan", step("walk"), quiet=True), Walk)
    play.tick(1)
    assert told == [
        ("walk", "activity", "top/Plan/walk", "running", 0.7),
        ("plan", "compound", "top/Plan", "running", 0.5),
        ("top", "activity", "top", "running", 0.5),
    ]
    assert play.log == [(1, "<Node top/Plan/walk: activity, running, utility 0.7>")]


def test_a_node_tells_what_is_true_now(play):
    nodes = []

    class Acts(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            nodes.append(ctx.get_parent_node())
            play.note(nodes[0].state, nodes[0].utility)
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note(nodes[0].state, nodes[0].utility)
            await ctx.sleep(1000)

    play.add(Acts)
    play.tick(1)
    assert play.log == [(1, "thinking", 0.0), (1, "running", 0.5)]


@pytest.mark.states("001: get_parent_node: get_parent_node: activity, action, and so on up to the root ...")
def test_the_node_above_a_spawned_activity(play):
    class Effect(Action):
        does = "effect"
        utility = 0.5

        async def run(self, ctx, args):
            play.note(ctx.get_parent_node().get_parent_node().kind, ctx.get_parent_node().get_parent_node().path)

    async def body(ctx):
        await ctx.execute("effect")

    play.add(manager(play, body), Effect)
    play.tick(1)
    assert play.log == [(1, "leaf", "top/Manager"), (1, "done")]
