"""A ``think`` that has returned without an output, while something that it opened may still answer for it."""

from __future__ import annotations

import pytest

from agentrt import Action, ActionArgs, CompoundAction, Signal, ThinkOutput, step


def state(agent, number=0):
    return agent.snapshot().plan.units[number].state


def asks(play, think, **body):
    async def thinks(self, ctx, args):
        think(ctx)

    async def run(self, ctx, args):
        play.note("runs")
        await ctx.sleep(100)

    def stop_thinking(self, ctx, args):
        play.note("stop_thinking")

    attributes = {"does": "top", "utility": 0.5, "think": thinks, "run": run, "stop_thinking": stop_thinking, **body}
    return type("Asks", (Action,), attributes)


@pytest.mark.states(
    "001: Making plans: (decided) A timer and a spawned activity that thinks may answer, too",
    source="start_thinking",
)
def test_a_timer_may_answer(play, idle):
    def think(ctx):
        ctx.call_later(0.1, ctx.set_think_output)

    agent = play.add(asks(play, think), idle)
    play.tick(2)
    assert "asks: not ready since tick 1, waits for a timer" in agent.explain()
    play.tick(1)
    assert play.log == [(3, "stop_thinking"), (3, "runs")]


@pytest.mark.states("001: Making plans: (decided) A timer and a spawned activity that thinks may answer, too ...")
def test_a_timer_that_rings_without_an_answer_was_the_last_hope(play, idle):
    def think(ctx):
        ctx.call_later(0.1, lambda: play.note("rings"))

    agent = play.add(asks(play, think), idle)
    play.tick(2)
    assert state(agent) == "thinking"
    play.tick(1)
    assert state(agent) == "impossible"
    assert play.log == [(3, "rings"), (3, "stop_thinking")]
    assert "asks: not possible now: it ended thinking without an output" in agent.explain()


def test_a_timer_may_be_set_anew(play, idle):
    def think(ctx):
        def look():
            play.note("looks")
            if ctx.clock.tick < 7:
                ctx.call_later(0.1, look)
            else:
                ctx.set_think_output()

        look()

    play.add(asks(play, think), idle)
    play.tick(8)
    assert play.log == [(1, "looks"), (3, "looks"), (5, "looks"), (7, "looks"), (7, "stop_thinking"), (7, "runs")]


def test_a_timer_of_a_run_ends_with_it(play):
    class Acts(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.call_later(0.05, lambda: play.note("rings"))
            ctx.call_later(0.2, lambda: play.note("never"))
            ctx.call_later(0.05, lambda: play.note("closed")).close()
            await ctx.sleep_ticks(3)
            await ctx.sleep(100) if play.sim.now > 4 else None

    play.add(Acts)
    play.tick(4)
    assert play.log == [(2, "rings")]


@pytest.mark.states("001: Making plans: (decided) A think that ends without an output, and with nothing open that ...")
def test_the_last_listener_is_closed(play, idle):
    one, other, kept = Signal(), Signal(), []

    def think(ctx):
        kept.extend(ctx.listen(signal, lambda _: play.note("heard")) for signal in (one, other))

    agent = play.add(asks(play, think), idle)
    play.tick(1)
    assert "waits for 2 listeners" in agent.explain()
    kept[0].close()
    play.tick(1)
    assert state(agent) == "thinking"
    kept[1].close()
    kept[1].close()
    play.tick(1)
    assert state(agent) == "impossible"
    assert play.log == [(3, "stop_thinking")]


@pytest.mark.states("001: Making plans: start_thinking may set up listeners and return; they answer later ...")
def test_a_listener_that_closes_itself_may_answer_after_that(play, idle):
    poses = Signal()

    def think(ctx):
        def heard(_):
            listener.close()
            ctx.set_think_output()

        listener = ctx.listen(poses, heard)

    play.add(asks(play, think), idle)
    play.tick(1)
    play.sim.runtime.post(poses.emit)
    play.tick(1)
    assert play.log == [(2, "stop_thinking"), (2, "runs")]


@pytest.mark.parametrize("word", ["reject", "abort"])
def test_a_listener_may_say_no(play, idle, word):
    poses = Signal()

    def think(ctx):
        ctx.listen(poses, lambda _: getattr(ctx, word)("it fled"))

    agent = play.add(asks(play, think), idle)
    play.tick(1)
    play.sim.runtime.post(poses.emit)
    play.tick(1)
    assert state(agent) == ("impossible" if word == "reject" else "idle")
    assert play.log == [(2, "stop_thinking")]


def test_a_limit_holds_for_it_too(play, idle):
    agent = play.add(asks(play, lambda ctx: ctx.listen(Signal(), print), think_timeout=0.1), idle)
    play.tick(3)
    assert state(agent) == "thinking"
    play.tick(1)
    assert state(agent) == "impossible"


class Thing(ThinkOutput):
    thing: str


class Found(Action):
    does = "find"
    utility = 0.5
    Output = Thing
    ticks = 3

    async def think(self, ctx, args):
        await ctx.sleep_ticks(self.ticks)
        if self.ticks < 5:
            ctx.set_think_output(thing="cow")


@pytest.mark.states("001: Making plans: (decided) A timer and a spawned activity that thinks may answer, too ...")
def test_a_spawned_frame_may_answer(play, idle):
    def think(ctx):
        frame = ctx.spawn("find")
        ctx.listen(frame.changed, lambda _: ctx.set_think_output() if frame.state == "ready" else None).close()
        ctx.listen(frame.changed, lambda _: frame.state == "ready" and ctx.set_think_output())
        frame.start_thinking()

    agent = play.add(asks(play, think), Found, idle)
    play.tick(2)
    assert "waits for a listener and an activity that it spawned" in agent.explain()
    play.tick(2)
    assert play.log == [(4, "stop_thinking"), (4, "runs")]


def test_a_spawned_frame_that_cannot_become_ready_was_the_last_hope(play, idle):
    def think(ctx):
        ctx.spawn("find").start_thinking()

    agent = play.add(asks(play, think), type("Found", (Found,), {"does": "find", "ticks": 5}), idle)
    play.tick(5)
    assert state(agent) == "thinking"
    play.tick(1)
    assert state(agent) == "impossible"
    assert play.log == [(6, "stop_thinking")]


def test_a_frame_that_was_never_told_to_think_answers_nothing(play, idle):
    agent = play.add(asks(play, lambda ctx: ctx.spawn("find")), Found, idle)
    play.tick(1)
    assert state(agent) == "impossible"


@pytest.mark.states("001: Making plans: start_thinking may set up listeners and return; they answer later ...")
def test_the_think_of_a_compound(play, idle):
    """Its steps think when it is answered for."""
    poses = Signal()

    class Seen(Action):
        does = "see"
        utility = 0.5

        class Args(ActionArgs):
            tick: int

        async def run(self, ctx, args):
            play.note("sees")
            await ctx.sleep(100)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("see", tick=1)]

        async def think(self, ctx, args):
            ctx.listen(poses, lambda _: ctx.set_think_output())

    agent = play.add(Plan, Seen, idle)
    play.tick(3)
    assert state(agent) == "thinking"
    play.sim.runtime.post(poses.emit)
    play.tick(1)
    assert play.log == [(4, "sees")]
