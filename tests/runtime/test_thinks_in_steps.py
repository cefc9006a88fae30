"""A think that takes several steps: whom a wake is for, and whose a scope is, on each host alike."""

from __future__ import annotations

import pytest

from agentrt import TOP, Action, Agent, CancelScope, Signal, move_on_after, next_tick, park


class Being:
    def __init__(self):
        self.log = []
        self.bell, self.other = Signal(), Signal()


class Short(Action):
    does = TOP
    utility = 0.2

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Watch(Action):
    does = TOP
    utility = 0.9
    asks = "with each plan"

    def note(self, ctx, what):
        ctx.entity.log.append((ctx.clock.tick, what))


def lived(play, watch, ticks, each_tick=None):
    runtime = play.runtime()
    faults = []
    runtime.on_fault(faults.append)
    being = Being()
    if each_tick is not None:
        runtime.every_tick(lambda: each_tick(being, runtime.tick))
    runtime.add(Agent(being, actions=[Short, watch]))
    play.ticks(runtime, ticks)
    assert faults == []
    return being.log


@pytest.mark.parametrize("rings", ["in the same tick", "in the next tick too"])
def test_one_that_is_stopped_after_it_was_woken_is_not_taken_for_the_one_that_thinks_now(play, rings):
    """The wake is in the ready queue when the plan ends and all are asked anew: it is for nobody any more."""

    class Woken(Watch):
        async def think(self, ctx, args):
            self.note(ctx, "begin")
            try:
                await ctx.entity.bell.wait()
                self.note(ctx, "woken")
                await ctx.entity.other.wait()
            finally:
                self.note(ctx, "end")

    def each_tick(being, tick):
        if tick == 4 or (tick == 5 and rings == "in the next tick too"):
            being.bell.emit()

    woken = [(5, "woken")] if rings == "in the next tick too" else []
    assert lived(play, Woken, 6, each_tick) == [(1, "begin"), (4, "end"), (4, "begin"), *woken, (7, "end")]


def test_a_scope_of_a_later_step_ends_that_step_and_no_other(play):
    class Scoped(Watch):
        async def think(self, ctx, args):
            await next_tick()
            with move_on_after(0.1) as scope:
                await park()
            self.note(ctx, f"caught {scope.cancelled_caught}")
            await next_tick()
            with CancelScope(shield=True):
                await next_tick()
            ctx.set_think_output()

        async def run(self, ctx, args):
            self.note(ctx, "run")
            await ctx.sleep(100)

    log = lived(play, type("Scoped", (Scoped,), {"asks": "when answered"}), 9)
    assert log == [(4, "caught True"), (6, "run")]


def test_a_scope_that_is_open_when_the_thinking_stops_is_left(play):
    """The plan ends while it waits within one: what is cancelled is that think, and the next one has none of it."""

    class Scoped(Watch):
        async def think(self, ctx, args):
            await next_tick()
            with move_on_after(100) as scope:
                try:
                    await park()
                finally:
                    self.note(ctx, f"left, cancelled {scope.cancel_called}")

    assert lived(play, Scoped, 8) == [
        (4, "left, cancelled False"),
        (7, "left, cancelled False"),
        (9, "left, cancelled False"),
    ]
