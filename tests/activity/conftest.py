"""A stage for planner tests: one simulation, agents on it, a log of what the actions noted, and a clean end.

Every test that uses ``play`` ends with four claims, besides its own: all agents left, no strand is left, no thing was
reported that the test did not take with ``faults()``, and the trace fulfills the invariants.
"""

from __future__ import annotations

import pytest

from agentrt import Action, Agent, CompoundAction, Entity, ThinkOutput
from agentrt.testing import Simulation, check_trace

TOP = "top"


class Play:
    """A simulation under observation.

    Attributes:
        sim: the simulation.
        log: what was noted, as tuples that start with the tick.
        agents: what was added, in order.
    """

    def __init__(self, seed=0, **options):
        self.sim = Simulation(seed, **options)
        self.log = []
        self.agents = []
        self.taken = []  # faults that the test expected

    def add(self, *actions, name="a", entity=None, top=TOP, **options):
        agent = Agent(entity or Entity("human"), name=name, actions=list(actions), top=top, **options)
        self.agents.append(agent)
        return self.sim.add(agent)

    def note(self, *what):
        self.log.append((self.sim.now, *what))

    def tick(self, ticks=1):
        self.sim.tick(ticks)
        return self

    def trace(self, *kinds, agent="a", since=0):
        """(tick, path, event) of one agent; without thinking about thinking when kinds are named."""
        return [
            (tick, path, event)
            for tick, who, path, event in self.sim.events(*kinds)
            if who == agent and tick >= since and event != "added"
        ]

    def details(self, *kinds, agent="a"):
        """(tick, path, event, detail) of one agent."""
        return [
            (one.tick, one.path, one.event.value, dict(one.detail))
            for one in self.sim.trace
            if one.agent == agent and one.event.value in kinds
        ]

    def faults(self):
        """(tick, path, hook, error) of what was reported since the last call; taking them makes them expected."""
        new = [one for one in self.sim.trace if one.event.value == "fault" and one not in self.taken]
        self.taken.extend(new)
        return [
            (one.tick, one.path, dict(one.detail).get("hook", dict(one.detail).get("text")), dict(one.detail)["error"])
            for one in new
        ]

    def take_log(self):
        log, self.log = self.log, []
        return log

    def close(self):
        self.sim.close()


@pytest.fixture(scope="session")
def stage():
    """The class, for tests that need several simulations, or one for each example of hypothesis."""
    return Play


@pytest.fixture
def play():
    made = Play()
    yield made
    made.close()
    kernel = made.sim.runtime.kernel
    if kernel.live:
        made.tick(5)  # clean-up of thinking that takes its time
    assert kernel.live == 0, kernel
    assert made.faults() == []
    for agent in made.agents:
        assert [str(one) for one in check_trace(made.sim.trace, agent.name)] == []
        assert agent.flags.holds() == {}


@pytest.fixture
def leaf(play):
    """Make a leaf action that notes its hooks.

    ``think`` is None for no hook, or for how many ticks it thinks before it is ready; ``run`` likewise.
    """

    def make(label, utility=0.5, *, does=TOP, think=None, run=1, output=None, quiet=False, **attributes):
        note = (lambda *_: None) if quiet else play.note
        body = {"does": does, "utility": utility, **attributes}
        if output is not None:
            body["Output"] = type("Output", (ThinkOutput,), {"__annotations__": dict.fromkeys(output, object)})
        if think is not None:

            async def thinking(self, ctx, args):
                note(label, "think")
                try:
                    await ctx.sleep_ticks(think)
                    ctx.set_think_output(**(output or {}))
                    await ctx.sleep_ticks(1_000_000)
                finally:
                    note(label, "think ends")

            body.setdefault("think", thinking)
        if run is not None:

            async def running(self, ctx, args):
                note(label, "run")
                try:
                    await ctx.sleep_ticks(run)
                finally:
                    note(label, "run ends")

            body.setdefault("run", running)
        body.setdefault("start", lambda self, ctx, args: note(label, "start"))
        body.setdefault("stop", lambda self, ctx, args: note(label, "stop"))
        body.setdefault("stop_thinking", lambda self, ctx, args: note(label, "stop_thinking"))
        return type(label, (Action,), body)

    return make


@pytest.fixture
def compound(play):
    """Make a compound action that notes its hooks."""

    def make(label, *steps, utility=0.5, does=TOP, quiet=False, **attributes):
        note = (lambda *_: None) if quiet else play.note
        body = {"does": does, "utility": utility, "steps": list(steps), **attributes}
        body.setdefault("start", lambda self, ctx, args: note(label, "start"))
        body.setdefault("stop", lambda self, ctx, args: note(label, "stop"))
        body.setdefault("stop_thinking", lambda self, ctx, args: note(label, "stop_thinking"))
        return type(label, (CompoundAction,), body)

    return make


@pytest.fixture
def idle():
    """An action that is always possible, worth little, and never ends."""

    class Idle(Action):
        does = TOP
        utility = 0.01

        async def run(self, ctx, args):
            while True:
                await ctx.sleep(1000)

    return Idle
