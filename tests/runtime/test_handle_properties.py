"""Whatever is called through whichever context, at whatever moment: hooks come in pairs, and nobody else is harmed.

Two agents do the same things. Contexts of the first are kept, of all its thinkings and runs, and at random moments (of a
posted function, of a function of every tick, of a strand, of a hook of the second agent, between two ticks) a random method
is called through a random one of them. The second agent's trace must be what it is when nothing is called, and all hosts
must tell the same story.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import TOP, Action, Agent, CancelScope, CompoundAction, Entity, Signal, next_tick, step

CALLS = {
    "abort": lambda ctx: ctx.abort("gone"),
    "reject": lambda ctx: ctx.reject("no"),
    "set_think_output": lambda ctx: ctx.set_think_output(),
    "clear_think_output": lambda ctx: ctx.clear_think_output(),
    "set_utility": lambda ctx: ctx.set_utility(1.0),
    "candidates": lambda ctx: ctx.candidates([]),
    "resume": lambda ctx: ctx.resume("early"),
}
PHASES = ("posted", "driver", "strand", "hook", "between", "listener")
TICKS = 14

moments = st.lists(
    st.tuples(st.integers(1, TICKS - 2), st.sampled_from(PHASES), st.sampled_from(sorted(CALLS)), st.integers(0, 30)),
    min_size=1,
    max_size=6,
)


class Stage:
    """One run."""

    def __init__(self, player, calls):
        self.runtime = player.runtime(seed=0)
        self.calls = list(calls)
        self.kept = []
        self.raised = []
        self.faults = []
        self.records = []
        self.hooks = {}  # (agent, number of the instance) to the instance and what was called
        self.numbers = {}
        self.bell = Signal()
        self.runtime.on_fault(self.faults.append)
        self.runtime.trace.listen(self.records.append)

    def trace(self, agent):
        return [record.line() for record in self.records if record.agent == agent]

    def hook(self, action, ctx, name):
        agent = ctx.agent.name
        number = self.numbers.setdefault(id(action), len(self.numbers))
        self.hooks.setdefault((agent, number), (action, []))[1].append(name)
        if agent == "a" and not any(ctx is one for one in self.kept):
            self.kept.append(ctx)
        if agent == "b":
            self.now("hook")

    def now(self, phase):
        for one in [one for one in self.calls if one[:2] == (self.runtime.tick, phase)]:
            self.calls.remove(one)
            if not self.kept:
                continue
            try:
                CALLS[one[2]](self.kept[one[3] % len(self.kept)])
            except BaseException as error:
                self.raised.append((one, error))


def noting(stage, does, utility, takes, shield):
    class Does(Action):
        async def think(self, ctx, args):
            stage.hook(self, ctx, "think")
            try:
                await ctx.sleep_ticks(takes % 2)
                ctx.set_think_output()
                await Signal().wait()
            finally:
                if shield:
                    with CancelScope(shield=True):
                        await ctx.sleep_ticks(2)
                stage.hook(self, ctx, "left")

        def start(self, ctx, args):
            stage.hook(self, ctx, "start")

        def stop_thinking(self, ctx, args):
            stage.hook(self, ctx, "stop_thinking")

        async def run(self, ctx, args):
            await ctx.sleep_ticks(takes)
            if takes > 2:
                await ctx.suspend()

        def stop(self, ctx, args):
            stage.hook(self, ctx, "stop")

    return type(f"Does{takes}", (Does,), {"does": does, "utility": utility})


def live(player, calls):
    stage = Stage(player, calls)
    runtime = stage.runtime
    actions = [
        noting(stage, TOP, (0.2, 0.7), 3, False),
        noting(stage, "one", (0.2, 0.5), 1, True),
        noting(stage, "two", (0.2, 0.5), 2, False),
        type("Plan", (CompoundAction,), {"does": TOP, "utility": 0.5, "steps": [step("one"), step("two")]}),
    ]
    for name in "ab":
        runtime.add(Agent(Entity("being"), name=name, actions=actions))
    stage.bell.connect(lambda _: stage.now("listener"))
    runtime.kernel.every_tick(lambda: (stage.now("driver"), stage.bell.emit()))

    async def stranger():
        while True:
            await next_tick()
            stage.now("strand")

    runtime.spawn(stranger)

    async def main():
        for _ in range(TICKS):
            runtime.post(stage.now, "posted")
            await runtime.run(1, speed=math.inf, blocking_ms=None)
            stage.now("between")
        for agent in runtime.agents:
            runtime.remove(agent)
        await runtime.run(5, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    player(main)
    return stage


def pairs(told):
    """How the hooks of one instance must follow each other."""
    thinking = started = inside = 0
    for name in told:
        if name == "think":
            assert not inside, told  # two thinks of one instance at a time
            thinking += 1
            inside += 1
        elif name == "left":
            inside -= 1
        elif name == "start":
            started += 1
        elif name == "stop_thinking":
            thinking -= 1
        else:
            started -= 1
        assert {thinking, started, inside} <= {0, 1}, told
    assert (thinking, started, inside) == (0, 0, 0), told


quiet = {}


@pytest.mark.states("001: AI contexts: (decided) A context belongs to one thinking and one run; what comes through ...")
@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(moments)
def test_pairs_and_neighbors_on_all_hosts(player_for, calls):
    if not quiet:
        quiet["b"] = live(player_for("plain"), []).trace("b")
    stories = []
    for host in ("plain", "asyncio", "trio"):
        lived = live(player_for(host), calls)
        assert lived.raised == []
        assert lived.faults == []
        for _, told in lived.hooks.values():
            pairs(matched(told))
        assert lived.trace("b") == quiet["b"]
        assert lived.runtime.kernel.live == 0
        stories.append(lived.trace("a"))
    assert stories[1] == stories[0]
    assert stories[2] == stories[0]


def matched(told):
    """Without the stop_thinking of one that was stopped while it waited for its first step."""
    found, thinking = [], 0
    for name in told:
        if name == "think":
            thinking = 1
        elif name == "stop_thinking":
            if not thinking:
                continue
            thinking = 0
        found.append(name)
    return found
