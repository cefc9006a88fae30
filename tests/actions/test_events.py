"""Events: waiting for them, triggering them, giving up because of them."""

from __future__ import annotations

from agentrt import OUT, TOP, Action, CompoundAction, step
from agentrt_actions import AbortOnEventTriggered, FindEntity, TriggerEvent, Wait, WaitForEvent

EVENTS = (FindEntity, WaitForEvent, TriggerEvent, AbortOnEventTriggered, Wait)


def plans(grid, *declared, name="Ada"):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.5
        steps = declared

    return grid.agent(Plan, *EVENTS, place=(0, 0), name=name)


def a_bell(grid):
    bell = grid.thing("bell", (1, 0), name="bell")
    grid.tags.put("bell", bell)
    bell.destroyed.connect(lambda gone: grid.tags.take("bell", gone))
    return bell


FIND = step("agentrt:find_entity", tag="bell", name="bell")
BELL = OUT["bell"].entity


def test_waiting_ends_in_the_tick_of_the_event(grid):
    bell = a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung"))
    grid.sim.tick(5)
    assert grid.told("complete") == []
    bell.signal("lit").emit()
    grid.sim.tick(2)
    assert grid.told("complete") == []
    grid.sim.runtime.post(bell.signal("rung").emit)
    grid.sim.tick()
    assert grid.told("complete") == [(8, "agentrt:top", "complete")]


def test_without_a_source_the_event_is_ones_own(grid):
    agent = plans(grid, step("agentrt:wait_for_event", event="greeted"))
    grid.sim.tick(2)
    grid.sim.runtime.post(agent.entity.signal("greeted").emit)
    grid.sim.tick()
    assert [tick for tick, *_ in grid.told("complete")] == [3]


def test_a_filter_looks_at_the_value(grid):
    bell = a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung", filter=lambda times: times == 3))
    for times in (1, 2, 3):
        grid.sim.tick()
        grid.sim.runtime.post(bell.signal("rung").emit, times)
    grid.sim.tick()
    assert [tick for tick, *_ in grid.told("complete")] == [4]


def test_the_time_is_over_and_the_plan_goes_on(grid):
    a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung", timeout=0.5))
    grid.sim.tick(11)
    assert grid.told("complete", "abort") == [(11, "agentrt:top", "complete")]


def test_the_time_is_over_and_the_plan_is_aborted(grid):
    a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung", timeout=0.5, required=True))
    grid.sim.tick(11)
    assert grid.aborts() == ["the event 'rung' did not come within 0.5 seconds"]


def test_a_source_that_is_destroyed_aborts(grid):
    bell = a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung", timeout=5))
    grid.sim.tick(2)
    bell.destroy()
    grid.sim.tick()
    assert grid.aborts() == ["bell was destroyed while its event 'rung' was awaited"]


def test_destruction_is_an_event_too(grid):
    bell = a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="destroyed"))
    grid.sim.tick(2)
    bell.destroy()
    grid.sim.tick()
    assert grid.told("complete", "abort") == [(3, "agentrt:top", "complete")]


def test_an_event_during_an_earlier_step_counts(grid):
    plans(
        grid,
        step("agentrt:trigger_event", event="knocked", value=1),
        step("agentrt:wait", seconds=0.1),
        step("agentrt:wait_for_event", event="knocked"),
    )
    grid.sim.tick(3)
    assert [tick for tick, *_ in grid.told("complete")] == [3]


def test_one_agent_wakes_another_in_the_same_tick(grid):
    a_bell(grid)
    plans(grid, FIND, step("agentrt:wait_for_event", source=BELL, event="rung"), name="Ada")
    plans(
        grid,
        FIND,
        step("agentrt:wait", seconds=0.2),
        step("agentrt:trigger_event", source=BELL, event="rung"),
        step("agentrt:wait", seconds=9),
        name="Bea",
    )
    grid.sim.tick(6)
    assert grid.told("finish", agent="Bea")[-1] == (5, "TriggerEvent", "finish")
    assert grid.told("complete", agent="Ada") == [(5, "agentrt:top", "complete")]


def test_an_event_aborts_the_plan_from_its_start_to_its_end(grid):
    agent = plans(
        grid,
        step("agentrt:wait", seconds=0.2),
        step("agentrt:abort_on_event_triggered", event="hit", filter=lambda harm: harm > 5),
        step("agentrt:wait", seconds=0.2),
    )
    hit = agent.entity.signal("hit")
    grid.sim.tick(2)
    grid.sim.runtime.post(hit.emit, 3)
    grid.sim.tick()
    assert grid.aborts() == []
    grid.sim.runtime.post(hit.emit, 9)  # during the first step
    grid.sim.tick()
    assert grid.aborts() == ["the event 'hit' was triggered"]
    grid.sim.tick(7)
    assert grid.told("run")[-1][:2] == (9, "Wait")
    grid.sim.runtime.post(hit.emit, 9)  # during the last
    grid.sim.tick()
    assert grid.told("abort") == [(4, "AbortOnEventTriggered", "abort"), (12, "AbortOnEventTriggered", "abort")]
    assert "1 connected" not in repr(hit)


def test_a_filter_that_raises_aborts_the_plan_and_is_reported(grid):
    class Idle(Action):
        does = TOP
        utility = 0.1

        async def run(self, ctx, args):
            await ctx.sleep(9)

    agent = plans(grid, step("agentrt:wait_for_event", event="hit", filter=lambda harm: harm["much"]))
    agent.inject(Idle)
    grid.sim.tick(2)
    grid.sim.runtime.post(agent.entity.signal("hit").emit, {})
    grid.sim.tick()
    assert grid.aborts() == ["a callback raised KeyError: 'much'"]
