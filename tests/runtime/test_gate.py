"""The gate: a runtime that is paused, stepped, sped up. What happens in its ticks stays the same."""

from __future__ import annotations

import itertools
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import Runtime
from agentrt.runtime.gate import Gate
from agentrt.testing import Simulation, TraceDigest

# --- the gate alone -----------------------------------------------------------------------------------------------------


def test_an_open_gate_admits():
    gate = Gate()
    assert [gate.admit() for _ in range(3)] == [True, True, True]
    assert repr(gate) == "<Gate: open, speed 1>"


def test_a_closed_gate_admits_what_was_asked_for_and_no_more():
    gate = Gate()
    gate.pause("lunch")
    assert not gate.admit()
    gate.step(2)
    assert repr(gate) == "<Gate: closed: lunch, 2 steps to go, speed 1>"
    assert [gate.admit() for _ in range(4)] == [True, True, False, False]
    gate.resume()
    assert gate.admit()
    assert gate.reason == ""


def test_stepping_pauses():
    gate = Gate()
    gate.step()
    assert gate.is_closed
    assert gate.reason == "stepping"
    assert [gate.admit(), gate.admit()] == [True, False]


def test_a_pause_forgets_the_steps_that_were_left():
    gate = Gate()
    gate.step(5)
    gate.pause("breakpoint")
    assert not gate.admit()


def test_whoever_attends_can_open_it():
    gate = Gate()
    gate.pause()
    asked = []

    def attend():
        asked.append(gate.is_closed)
        if len(asked) == 2:
            gate.resume()

    close = gate.attend(attend)
    assert [gate.admit(), gate.admit(), gate.admit()] == [False, True, True]
    assert asked == [True, True]  # and is not asked at an open gate
    close()
    close()
    gate.pause()
    assert not gate.admit()
    assert asked == [True, True]


def test_at_least_one_tick_is_asked_for():
    gate = Gate()
    with pytest.raises(ValueError, match=r"step\(0\): it takes a number of ticks of 1 or more"):
        gate.step(0)
    assert not gate.is_closed


@pytest.mark.parametrize("speed", [0, -1, math.nan])
def test_a_speed_is_above_zero(speed):
    gate = Gate()
    with pytest.raises(ValueError, match="it takes a number above 0"):
        gate.speed = speed
    assert gate.speed == 1.0


# --- step ---------------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Intake: What was not run while it was paused is not made up for, and does not count as late",
)
def test_a_paused_runtime_runs_no_tick_and_does_not_make_up_for_it(plain):
    runtime = plain.runtime(ticks_per_second=10)
    assert runtime.step() == 1
    runtime.gate.pause()
    assert runtime.step() == 0
    assert runtime.step(0.5) == 0
    runtime.gate.step(2)
    assert runtime.step(0.5) == 2
    runtime.gate.resume()
    assert runtime.step(0.2) == 2
    assert runtime.tick == 5


def test_a_paused_runtime_can_be_closed(plain, being, actions):
    runtime = plain.runtime()
    agent = runtime.add(being([actions.Work]))
    runtime.step()
    runtime.gate.pause()
    runtime.close()
    assert agent.entity.diary == [(1, "start"), (1, "run"), (2, "stop")]


@pytest.mark.states(
    "tools: Intake: A runtime can be paused, stepped and sped up; what happens in its ticks stays the same",
)
@given(st.lists(st.sampled_from(["pause", "resume", "step", "tick", "tick", "tick"]), max_size=40))
def test_a_run_with_pauses_has_the_same_trace(being_of, commands):
    """As many ticks as were admitted, and nothing else."""
    paused, straight = Runtime(3, host="plain"), Runtime(3, host="plain")
    digests = []
    for runtime in (paused, straight):
        digests.append(TraceDigest(runtime.trace))
        runtime.add(being_of())
    ran = sum(paused.step() if command == "tick" else getattr(paused.gate, command)() or 0 for command in commands)
    for _ in range(ran):
        straight.step()
    assert paused.tick == straight.tick == ran
    assert digests[0].hexdigest() == digests[1].hexdigest()
    paused.close()
    straight.close()


@pytest.fixture(scope="module")
def being_of():
    from agentrt import TOP, Action, Agent, Entity

    class Wait(Action):
        does = TOP
        utility = (0.1, 0.9)

        async def think(self, ctx, args):
            ctx.set_utility(ctx.random.random())
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

    class Other(Wait):
        pass

    return lambda: Agent(Entity("ann"), actions=[Wait, Other])


# --- run ----------------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Intake: A runtime can be paused, stepped and sped up; what happens in its ticks stays ...")
@pytest.mark.states("tools: Intake: What was not run while it was paused is not made up for, and does not count as ...")
def test_a_run_stands_before_the_closed_gate(play_loop):
    """Three ticks, a pause of a second, then the rest at its pace; nothing counts as late."""
    runtime = play_loop.runtime(ticks_per_second=10)
    moments = []

    async def main():
        start = play_loop.now()

        def tick():
            moments.append(round(play_loop.now() - start, 6))
            if runtime.tick == 3:
                runtime.gate.pause("enough")

        runtime.every_tick(tick)

        async def open_later():
            await play_loop.sleep(1.25)
            runtime.gate.resume()

        await play_loop.together(lambda: runtime.run(5, blocking_ms=None), open_later)

    play_loop(main)
    assert moments[:3] == [0.0, 0.1, 0.2]
    assert 1.25 <= moments[3] <= 1.27 + 1e-6  # it asks each 20 ms
    assert moments[4] == pytest.approx(moments[3] + 0.1)
    assert runtime.late_ticks == 0


def test_a_paused_run_attends_and_can_be_stepped(play_loop):
    runtime = play_loop.runtime(ticks_per_second=10)
    seen = []

    def attend():
        seen.append(runtime.tick)
        if len(seen) == 3:
            runtime.gate.step(2)
        if len(seen) == 8:
            runtime.stop()

    async def main():
        runtime.gate.pause()
        runtime.gate.attend(attend)
        await runtime.run(blocking_ms=None)

    play_loop(main)
    assert seen == [0, 0, 0, 1, 2, 2, 2, 2]


@pytest.mark.states("tools: Intake: A runtime can be paused, stepped and sped up; what happens in its ticks stays ...")
def test_the_speed_can_be_changed_while_it_runs(play_loop):
    runtime = play_loop.runtime(ticks_per_second=10)
    moments = []

    async def main():
        start = play_loop.now()

        def tick():
            moments.append(round(play_loop.now() - start, 6))
            runtime.gate.speed = {2: 4.0, 4: 0.5}.get(runtime.tick, runtime.gate.speed)

        runtime.every_tick(tick)
        await runtime.run(6, blocking_ms=None)

    play_loop(main)
    assert [round(after - before, 6) for before, after in itertools.pairwise(moments)] == [
        0.1,
        0.1,  # what is due stays due
        0.025,
        0.025,
        0.2,
    ]


def test_a_run_that_is_cancelled_while_it_is_paused_is_closed(play_loop, being, actions):
    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(being([actions.Work]))

    async def main():
        runtime.every_tick(lambda: runtime.gate.pause() if runtime.tick == 1 else None)
        assert await play_loop.cancel_after(1.0, lambda: runtime.run(blocking_ms=None))

    play_loop(main)
    assert agent.entity.diary == [(1, "start"), (1, "run"), (2, "stop")]


@pytest.mark.parametrize("main_runs", [True, False])
def test_an_agent_whose_run_is_cancelled_while_all_is_paused_ends(play_loop, being, actions, main_runs):
    """Somebody else drives and stands before the gate; whoever was cancelled is not left waiting there."""
    runtime = play_loop.runtime(ticks_per_second=10)
    ann, ben = (runtime.add(being([actions.Work], name=name)) for name in ("ann", "ben"))
    ended = []

    async def main():
        runtime.every_tick(lambda: runtime.gate.pause() if runtime.tick == 3 else None)

        async def leave():
            assert await play_loop.cancel_after(1.0, ben.run)
            ended.append((runtime.tick, ann.is_alive, runtime.gate.is_closed))
            runtime.stop()

        await play_loop.together((lambda: runtime.run(blocking_ms=None)) if main_runs else ann.run, leave)

    play_loop(main)
    assert ended == [(4, True, True)]
    assert ben.entity.diary == [(1, "start"), (1, "run"), (4, "stop")]


def test_a_simulation_at_infinite_speed_can_be_paused_from_another_thread():
    sim = Simulation()
    stopped = threading.Event()

    def pause():
        sim.runtime.gate.pause("by another thread")
        stopped.set()

    thread = threading.Thread(target=pause)
    thread.start()
    assert stopped.wait(5)
    thread.join()
    sim.tick(10)
    assert sim.now == 0
    assert math.isclose(sim.runtime.gate.speed, 1.0)
    sim.close()
