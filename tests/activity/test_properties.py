"""Properties of every run: random trees of actions that think, run, refuse, raise, abort, execute and are interfered with.

Whatever the actions do: the trace fulfills the invariants, every hook is paired, nobody else notices, the same seed gives
the same run, and nothing is left when it is over.
"""

from __future__ import annotations

import pytest
from cast import silence  # noqa: F401 - a fixture
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

import agentrt
from agentrt import Action, Agent, CompoundAction, Entity, step
from agentrt.activity.author.answering import FRESH
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.states import READY
from agentrt.testing import Simulation, check_trace

pytestmark = pytest.mark.usefixtures("silence")

worlds = load("tests/activity/worlds.py")

TICKS = 40
seeds = st.integers(0, 10**9)
EXPECTED = ("Boom", "Reject", "ActivityImpossibleError")


# --- somebody beside it -----------------------------------------------------------------------------------------------


class Stroll(Action):
    does = "top"
    utility = (0.1, 0.6)

    async def think(self, ctx, args):
        ctx.set_utility(ctx.random.random())
        await ctx.sleep_ticks(ctx.random.below(3))
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1 + ctx.random.below(4))


class Look(Action):
    does = "look"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(3))


class LookAround(CompoundAction):
    does = "top"
    utility = (0.0, 0.5)
    steps = [step("look"), step("look")]

    async def think(self, ctx, args):
        ctx.set_utility(ctx.random.random())
        ctx.set_think_output()


def play(data, *, seed=1, with_broken=True, bystander_first=False):
    """Run a world to its end.

    Returns:
        The simulation, the world, and the agent that it was drawn for.
    """
    sim = Simulation(seed)
    world = worlds.World(data)
    agent = Agent(Entity("human"), name="a", actions=world.classes, top="top")
    bystander = Agent(Entity("cat"), name="b", actions=[Stroll, LookAround, Look], top="top")
    present = [bystander, agent] if bystander_first else [agent, bystander]
    for one in present:
        if one is bystander or with_broken:
            sim.add(one)
    injections, pending = [], list(data["events"])
    for tick in range(1, TICKS + 1):
        while with_broken and pending and pending[0][0] <= tick:
            world.apply(pending.pop(0)[1], agent, injections)
        sim.tick()
    return sim, world, agent


def close(sim):
    sim.close()
    sim.runtime.kernel.drain()
    for _ in range(10):
        if not sim.runtime.kernel.live:
            break
        sim.runtime.step()


def faults(sim):
    """What was reported and is none of the errors that were drawn."""
    told = []
    for record in sim.trace:
        if record.event.value == "fault":
            detail = dict(record.detail)
            if "hook" not in detail or not str(detail["error"]).startswith(EXPECTED):
                told.append(record.line())
    return told


@pytest.mark.states("001: Overview: Many plans are considered at a time, and one of them, the best that is ready ...")
@pytest.mark.states("001: stop_thinking: stop_thinking follows every begin of thinking, before anything else but start")
@pytest.mark.states("001: stop: stop follows every start")
@pytest.mark.slow
@settings(max_examples=100)
@given(seeds, st.booleans())
def test_every_run_is_sound(seed, bystander_first):
    data = worlds.draw(seed)
    sim, world, agent = play(data, bystander_first=bystander_first)
    close(sim)
    assert [str(one) for one in check_trace(sim.trace, "a")] == []
    assert [str(one) for one in check_trace(sim.trace, "b")] == []
    assert faults(sim) == []
    assert world.ledger.errors == []
    assert world.ledger.left() == []
    assert sim.runtime.kernel.live == 0
    assert agent.flags.holds() == {}
    assert agent.planner is None or agent.planner.busy_frames == 0
    assert sum(len(entity.destroyed._connections or ()) for entity in world.entities) == 0
    assert repr(world.signal) == "<Signal: 0 waiting, 0 connected>"


@pytest.mark.slow
@settings(max_examples=30)
@given(seeds)
def test_the_same_seed_gives_the_same_run(seed):
    data = worlds.draw(seed)
    first, _, _ = play(data)
    second, _, _ = play(data)
    assert first.trace == second.trace
    assert first.digest() == second.digest()
    close(first)
    close(second)


@pytest.mark.slow
@settings(max_examples=30)
@given(seeds, st.booleans())
def test_whoever_lives_beside_it_does_not_notice(seed, bystander_first):
    data = worlds.draw(seed)
    with_it, _, _ = play(data, bystander_first=bystander_first)
    without_it, _, _ = play(data, with_broken=False)
    assert [one for one in with_it.trace if one.agent == "b"] == [one for one in without_it.trace if one.agent == "b"]
    close(with_it)
    close(without_it)


def settled_steps(unit):
    """As ``CompoundUnit.is_settled``, without a look at whether anybody has to look."""
    if unit.is_due:
        return False
    return all(
        (step := frame.active) is not None
        and step.state == READY
        and step.news is not FRESH
        and (not step.spec.steps or settled_steps(step))
        for frame in unit.frames
    )


@pytest.mark.slow
@pytest.mark.skipif(agentrt.__compiled__, reason="what is compiled is not to be watched from within")
@given(seeds)
def test_a_plan_in_which_nobody_has_to_look_has_not_changed(seed):
    asked, differ = [], []
    before = CompoundUnit.is_settled

    def is_settled(unit):
        said = before(unit)
        asked.append(said)
        if said != settled_steps(unit):
            differ.append((unit.path(), said))
        return said

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompoundUnit, "is_settled", is_settled)
        sim, _, agent = play(worlds.draw(seed))
        close(sim)
    assert differ == []
    assert agent.planner is None or asked
